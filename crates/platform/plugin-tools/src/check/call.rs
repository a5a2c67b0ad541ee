//! One call of a plugin of any kind, and its answer in a form that can be compared.

use planforge_contract::api::{EnvironmentCall, Host};
use planforge_contract::{
    CompletionRequest, CompletionResult, Document, EnvironmentInfo, EnvironmentOpen, EnvironmentVerdict,
    ExecutionReport, Failure, FailureClass, Outcome, PlanOutcome, PlanRequest, StateDescription,
    TranslateRequest, TranslateResponse, VerifyRequest, VerifyResponse, Walks, decode, encode,
};
use planforge_plugin_host::{Instance, RawInstance};
use planforge_plugin_sdk::testing::ask_environment;
use serde::Serialize;
use serde_json::Value;

/// A request to a plugin of one kind.
#[derive(Debug, Clone)]
pub(crate) enum Call {
    Complete(Box<CompletionRequest>),
    Translate(Box<TranslateRequest>),
    Verify(Box<VerifyRequest>),
    Plan(Box<PlanRequest>),
    /// Several calls on one task.
    Environment(Box<EnvironmentOpen>, Vec<EnvironmentCall>),
}

/// The parts of an answer: one per candidate, sample, or call of an environment.
pub(crate) type Answer = Vec<Result<Value, Failure>>;

fn part<T: Serialize>(value: &T) -> Result<Value, Failure> {
    serde_json::to_value(value).map_err(|e| unreadable(&e))
}

fn unreadable(error: &dyn std::fmt::Display) -> Failure {
    Failure::new(FailureClass::Plugin, "plugin.document", error.to_string())
}

fn parts<T: Serialize>(results: Vec<Outcome<T>>) -> Answer {
    results.into_iter().map(|one| one.into_result().and_then(|value| part(&value))).collect()
}

impl Call {
    /// Calls the instance.
    pub(crate) fn ask(&self, instance: &Instance, host: &dyn Host) -> Answer {
        match (self, instance) {
            (Self::Complete(request), Instance::Provider(plugin)) => {
                vec![plugin.complete(host, request).and_then(|result| part(&result))]
            }
            (Self::Translate(request), Instance::Translator(plugin)) => {
                plugin.translate(host, request).map_or_else(|e| vec![Err(e)], |r| parts(r.samples))
            }
            (Self::Verify(request), Instance::Verifier(plugin)) => {
                plugin.verify(host, request).map_or_else(|e| vec![Err(e)], |r| parts(r.results))
            }
            (Self::Plan(request), Instance::Planner(plugin)) => {
                vec![plugin.plan(host, request).and_then(|outcome| part(&outcome))]
            }
            (Self::Environment(open, calls), Instance::Environment(plugin)) => calls
                .iter()
                .map(|call| {
                    ask_environment(plugin.as_ref(), host, open, call.clone())
                        .and_then(|answer| part(&answer))
                })
                .collect(),
            _ => vec![Err(Failure::new(
                FailureClass::Request,
                "plugin.kind",
                "the instance is of another kind",
            ))],
        }
    }

    /// Calls the instance with fields that the documents do not have.
    pub(crate) fn ask_with_unknown_fields(&self, instance: &RawInstance, host: &dyn Host) -> Answer {
        match self {
            Self::Complete(request) => {
                vec![raw::<CompletionResult>(instance, host, "complete", &[document(request.as_ref())])]
            }
            Self::Translate(request) => {
                let response = raw_document::<TranslateResponse>(
                    instance,
                    host,
                    "translate",
                    &[document(request.as_ref())],
                );
                response.map_or_else(|e| vec![Err(e)], |r| parts(r.samples))
            }
            Self::Verify(request) => {
                let response =
                    raw_document::<VerifyResponse>(instance, host, "verify", &[document(request.as_ref())]);
                response.map_or_else(|e| vec![Err(e)], |r| parts(r.results))
            }
            Self::Plan(request) => {
                vec![raw::<PlanOutcome>(instance, host, "plan", &[document(request.as_ref())])]
            }
            Self::Environment(open, calls) => {
                let open = document(open.as_ref());
                let ask = |call: &EnvironmentCall| {
                    let open = open.clone();
                    match call {
                        EnvironmentCall::Describe => {
                            tagged::<EnvironmentInfo>(instance, host, "describe", &[open])
                        }
                        EnvironmentCall::Walks(spec) => {
                            tagged::<Walks>(instance, host, "walks", &[open, document(spec)])
                        }
                        EnvironmentCall::Execute(sequences) => {
                            tagged::<ExecutionReport>(instance, host, "execute", &[open, document(sequences)])
                        }
                        EnvironmentCall::Validate(plan) => {
                            tagged::<EnvironmentVerdict>(instance, host, "validate", &[open, document(plan)])
                        }
                        EnvironmentCall::DescribeState(query) => {
                            let inputs = [open, document(query)];
                            tagged::<StateDescription>(instance, host, "describe-state", &inputs)
                        }
                    }
                };
                calls.iter().map(ask).collect()
            }
        }
    }
}

/// A document in its envelope, with unknown fields in the body and in its direct parts.
fn document<T: Document>(body: &T) -> Result<String, Failure> {
    let text = encode(body).map_err(|e| unreadable(&e))?;
    let mut document: Value = serde_json::from_str(&text).map_err(|e| unreadable(&e))?;
    if let Some(body) = document.get_mut("body") {
        for part in ["task", "candidate", "limits", "sampling"] {
            body.get_mut(part).into_iter().for_each(add_unknown_fields);
        }
        body.get_mut("candidates")
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
            .for_each(add_unknown_fields);
        add_unknown_fields(body);
    }
    Ok(document.to_string())
}

fn add_unknown_fields(value: &mut Value) {
    if let Some(object) = value.as_object_mut() {
        object.insert("planforge-unknown".to_owned(), serde_json::json!({"of": ["next year", 1, null]}));
        object.insert("\u{1b}[31m".to_owned(), Value::Null);
    }
}

fn raw_document<T: Document>(
    instance: &RawInstance,
    host: &dyn Host,
    method: &str,
    inputs: &[Result<String, Failure>],
) -> Result<T, Failure> {
    let inputs = inputs.iter().cloned().collect::<Result<Vec<_>, _>>()?;
    let text = instance.call(host, method, inputs)?;
    decode::<T>(&text).map_err(|e| unreadable(&e))
}

fn raw<T: Document>(
    instance: &RawInstance,
    host: &dyn Host,
    method: &str,
    inputs: &[Result<String, Failure>],
) -> Result<Value, Failure> {
    raw_document::<T>(instance, host, method, inputs).and_then(|value| part(&value))
}

/// As [`raw`], with the tag that tells apart the answers of an environment.
fn tagged<T: Document>(
    instance: &RawInstance,
    host: &dyn Host,
    method: &str,
    inputs: &[Result<String, Failure>],
) -> Result<Value, Failure> {
    let mut value = raw::<T>(instance, host, method, inputs)?;
    if let Some(object) = value.as_object_mut() {
        object.insert("method".to_owned(), method.into());
    }
    Ok(value)
}
