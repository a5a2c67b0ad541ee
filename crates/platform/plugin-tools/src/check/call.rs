//! One call of a plugin of any kind with its host and sample inputs, and its answer in a form that can be compared.

use planforge_contract::api::{Environment, EnvironmentAnswer, EnvironmentCall, Host, LogLevel, Planner};
use planforge_contract::{
    ActionDescription, ActionExample, ActionInterface, ActionSignature, Candidate, CompletionRequest,
    CompletionResult, Document, EnvironmentInfo, EnvironmentOpen, EnvironmentPlan, EnvironmentVerdict,
    ExecutionReport, Failure, FailureClass, FinishReason, Message, Outcome, PlanDocument, PlanOutcome,
    PlanRequest, PluginKind, PredicateDescription, Replies, Reply, Sampling, SearchStatistics, Sequences,
    StateDescription, StateQuery, Tags, TaskView, TranslateRequest, TranslateResponse, TypedName, Usage,
    VerifyRequest, VerifyResponse, WalkSpec, Walks, decode, encode,
};
use planforge_plugin_host::{Instance, RawInstance};
use planforge_plugin_sdk::testing::ask_environment;
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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

/// Point at which the run of a check is interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interruption {
    Never,
    BeforeTheCall,
    /// When the plugin first asks for something.
    AtTheFirstQuestion,
}

/// Answers a plugin's questions, always in the same way.
pub(crate) struct CheckHost {
    pub(crate) environment: Option<Arc<dyn Environment>>,
    pub(crate) planner: Option<Arc<dyn Planner>>,
    /// The content of every reply; if absent, a good reply.
    pub(crate) reply: Option<String>,
    pub(crate) interruption: Interruption,
    pub(crate) timeout_ms: u64,
    pub(crate) interrupted: AtomicBool,
}

impl CheckHost {
    /// Refuses questions of an interrupted run, as a run does.
    fn check_interruption(&self) -> Result<(), Failure> {
        if self.interruption == Interruption::AtTheFirstQuestion {
            self.interrupted.store(true, Ordering::Relaxed);
        }
        if self.cancelled() {
            return Err(Failure::new(FailureClass::Cancelled, "host.cancelled", "the run was interrupted"));
        }
        Ok(())
    }
}

impl Host for CheckHost {
    fn complete(&self, _role: &str, request: CompletionRequest) -> Result<Replies, Failure> {
        self.check_interruption()?;
        let content = self.reply.clone().unwrap_or_else(|| {
            // Replies depend on the request, so that mixed-up answers are seen.
            let size: usize = request.messages.iter().map(|message| message.content.len()).sum();
            reply(&request.tags.artefact, &format!("To {size} bytes with seed {:?}.", request.sampling.seed))
        });
        let n = request.sampling.n.unwrap_or(1) as usize;
        let replies = vec![Reply::new(content, FinishReason::Stop); n];
        Ok(Replies { replies, usage: Usage::default(), model: "scripted".to_owned(), raw: String::new() })
    }

    fn environment(&self, call: EnvironmentCall) -> Result<EnvironmentAnswer, Failure> {
        self.check_interruption()?;
        match &self.environment {
            Some(environment) => ask_environment(environment.as_ref(), self, &environment_open(), call),
            None => Err(Failure::new(FailureClass::Request, "host.no-environment", "no environment is open")),
        }
    }

    fn plan(&self, label: &str, request: PlanRequest) -> Result<PlanOutcome, Failure> {
        self.check_interruption()?;
        match &self.planner {
            Some(planner) => planner.plan(self, &request),
            None => {
                let text = format!("no plan stage has the label `{label}`");
                Err(Failure::new(FailureClass::Request, "host.no-planner", text))
            }
        }
    }

    fn log(&self, _level: LogLevel, _message: &str) {}

    fn progress(&self, _done: u64, _total: u64, _what: &str) {}

    fn cancelled(&self) -> bool {
        self.interruption == Interruption::BeforeTheCall || self.interrupted.load(Ordering::Relaxed)
    }

    fn remaining_ms(&self) -> Option<u64> {
        Some(self.timeout_ms)
    }
}

pub(crate) const DOMAIN: &str = "(define (domain lamps)
  (:requirements :strips :typing)
  (:types lamp)
  (:predicates (off ?l - lamp) (on ?l - lamp))
  (:action switch-on
    :parameters (?l - lamp)
    :precondition (off ?l)
    :effect (and (on ?l) (not (off ?l)))))
";

const DOMAIN_TEXT: &str = "There are lamps. A lamp that is off can be switched on.";
const LAMPS: [&str; 4] = ["hall", "attic", "cellar", "porch"];

/// The problem with the first lamps in its goal.
pub(crate) fn problem(lamps: usize) -> String {
    let facts = |predicate: &str, count: usize| {
        LAMPS.iter().take(count).map(|lamp| format!("({predicate} {lamp})")).collect::<Vec<_>>().join(" ")
    };
    let (objects, init) = (LAMPS.join(" "), facts("off", LAMPS.len()));
    let goal = facts("on", lamps);
    format!(
        "(define (problem lamps-{lamps})\n  (:domain lamps)\n  (:objects {objects} - lamp)\n  (:init {init})\n  (:goal (and {goal})))\n"
    )
}

/// The steps that switch on the first lamps.
pub(crate) fn steps(lamps: usize) -> Vec<String> {
    LAMPS.iter().take(lamps).map(|lamp| format!("(switch-on {lamp})")).collect()
}

pub(crate) fn environment_open() -> EnvironmentOpen {
    EnvironmentOpen {
        suite: "plugin-check".to_owned(),
        task: "p01".to_owned(),
        domain: Some(DOMAIN.to_owned()),
        problem: Some(problem(LAMPS.len())),
        ..EnvironmentOpen::default()
    }
}

fn task(number: usize) -> TaskView {
    let names = LAMPS.join(", ");
    let typed = |name: &str| TypedName { name: name.to_owned(), type_name: "lamp".to_owned() };
    let mut task = TaskView {
        suite: "plugin-check".to_owned(),
        task: format!("p{number:02}"),
        domain_text: DOMAIN_TEXT.to_owned(),
        task_text: format!("Request {number}. The lamps {names} are off. In the end all should be on."),
        action_interface: Some(ActionInterface {
            actions: vec![ActionSignature { name: "switch-on".to_owned(), parameters: vec![typed("l")] }],
            objects: LAMPS.map(typed).to_vec(),
            types: Vec::new(),
        }),
        ..TaskView::default()
    };
    task.given.domain = Some(DOMAIN.to_owned());
    task.given.problem = Some(problem(LAMPS.len()));
    let described = ActionDescription { name: "switch-on".to_owned(), text: DOMAIN_TEXT.to_owned() };
    let predicates = ["off", "on"].map(|name| PredicateDescription {
        declaration: format!("({name} ?l - lamp)"),
        text: format!("The lamp is {name}."),
    });
    let materials = &mut task.materials;
    materials.example.text = Some(DOMAIN_TEXT.to_owned());
    materials.example.problem = Some(problem(1));
    materials.example.plan = Some(steps(1).join("\n"));
    materials.example.ir = Some("off(hall).".to_owned());
    materials.example.domain_text = Some(DOMAIN_TEXT.to_owned());
    materials.example.domain = Some(DOMAIN.to_owned());
    materials.actions.header = DOMAIN.split("  (:action").next().map(|header| format!("{header})"));
    materials.actions.described = Some(vec![described.clone()]);
    let example = ActionExample {
        suite: "lamps".to_owned(),
        action: described,
        predicates: predicates.to_vec(),
        pddl: "(:action switch-on :parameters (?l - lamp) :precondition (off ?l) :effect (on ?l))".to_owned(),
    };
    materials.actions.examples = Some(vec![example; 3]);
    task
}

fn plan_of(steps: Vec<String>) -> PlanOutcome {
    let plan = PlanDocument { steps, ..PlanDocument::default() };
    PlanOutcome::Plan { plans: vec![plan], optimal: false, statistics: SearchStatistics::default() }
}

fn candidate(domain: &str, problem: String, steps: Option<Vec<String>>) -> Candidate {
    Candidate {
        domain: Some(domain.to_owned()),
        problem: Some(problem),
        plan: steps.map(plan_of),
        ..Candidate::default()
    }
}

fn environment(open: EnvironmentOpen, steps: Vec<String>, seed: u64) -> Call {
    let calls = vec![
        EnvironmentCall::Describe,
        EnvironmentCall::Walks(WalkSpec { lengths: vec![2, 3], seed, ..WalkSpec::default() }),
        EnvironmentCall::Execute(Sequences { sequences: vec![steps.clone(), Vec::new()] }),
        EnvironmentCall::Validate(EnvironmentPlan { steps: steps.clone() }),
        EnvironmentCall::DescribeState(StateQuery { actions: steps, focus: None }),
    ];
    Call::Environment(Box::new(open), calls)
}

fn completion(content: String) -> Call {
    let tags = Tags::of(&task(0), "problem");
    let messages = vec![Message::user(content)];
    let model = "scripted".to_owned();
    let sampling = Sampling { max_tokens: Some(1000), ..Sampling::default() };
    let request = CompletionRequest { model, messages, sampling, tags, ..CompletionRequest::default() };
    Call::Complete(Box::new(request))
}

/// A valid request; other numbers give other requests.
pub(crate) fn request(kind: PluginKind, number: usize) -> Call {
    let seed = number as u64;
    let some = number % (LAMPS.len() + 1);
    match kind {
        PluginKind::Provider => completion(format!("Request {number}: which lamps are on?")),
        PluginKind::Translator => {
            let candidate = candidate(DOMAIN, problem(LAMPS.len()), None);
            let request =
                TranslateRequest { task: task(number), candidate, n: 1, seed, ..Default::default() };
            Call::Translate(Box::new(request))
        }
        PluginKind::Verifier => {
            let whole = problem(LAMPS.len());
            let candidates = vec![
                candidate(DOMAIN, whole.clone(), Some(steps(some))),
                candidate(DOMAIN, whole.clone(), Some(steps(LAMPS.len()))),
                candidate(DOMAIN, whole, None),
            ];
            verify(candidates, number)
        }
        PluginKind::Planner => plan(DOMAIN, problem(some.max(1)), number),
        PluginKind::Environment => environment(environment_open(), steps(some), seed),
    }
}

fn verify(candidates: Vec<Candidate>, number: usize) -> Call {
    let request = VerifyRequest { task: task(number), candidates, seed: number as u64, ..Default::default() };
    Call::Verify(Box::new(request))
}

fn plan(domain: &str, problem: String, number: usize) -> Call {
    let (domain, seed) = (domain.to_owned(), number as u64);
    let request = PlanRequest { domain, problem, k: 1, seed, task: task(number), ..Default::default() };
    Call::Plan(Box::new(request))
}

/// Requests in which one text after the other is hostile.
pub(crate) fn hostile_requests(kind: PluginKind, text: &str) -> Vec<Call> {
    let whole = || problem(LAMPS.len());
    match kind {
        PluginKind::Provider => vec![completion(text.to_owned())],
        PluginKind::Translator => {
            let mut request = TranslateRequest { task: task(0), n: 1, ..Default::default() };
            request.candidate = candidate(text, text.to_owned(), None);
            request.task.task_text = text.to_owned();
            vec![Call::Translate(Box::new(request))]
        }
        PluginKind::Verifier => {
            let candidates = vec![
                candidate(text, whole(), Some(steps(LAMPS.len()))),
                candidate(DOMAIN, text.to_owned(), Some(steps(LAMPS.len()))),
                candidate(DOMAIN, whole(), Some(vec![text.to_owned()])),
            ];
            vec![verify(candidates, 0)]
        }
        PluginKind::Planner => vec![plan(text, whole(), 0), plan(DOMAIN, text.to_owned(), 0)],
        PluginKind::Environment => {
            let with_domain = EnvironmentOpen { domain: Some(text.to_owned()), ..environment_open() };
            let with_problem = EnvironmentOpen { problem: Some(text.to_owned()), ..environment_open() };
            let describe = |open| Call::Environment(Box::new(open), vec![EnvironmentCall::Describe]);
            let with_steps = environment(environment_open(), vec![text.to_owned()], 0);
            vec![describe(with_domain), describe(with_problem), with_steps]
        }
    }
}

/// A reply that holds what a request of that artefact asks for. Other notes give other replies.
pub(crate) fn reply(artefact: &str, note: &str) -> String {
    let (domain, whole) = (DOMAIN, problem(LAMPS.len()));
    match artefact {
        "domain" => format!("{note}\n\n```pddl\n{domain}```\n"),
        "problem" => format!("{note}\n\n```pddl\n{whole}```\n"),
        "plan" => format!("{note}\n\n{}\n", steps(LAMPS.len()).join("\n")),
        _ => format!("{note}\n\n```pddl\n{domain}```\n\n```pddl\n{whole}```\n"),
    }
}

/// Parentheses of the deep hostile text.
const DEPTH: usize = 100_000;

/// A domain of at least so many bytes.
pub(crate) fn large_text(bytes: usize) -> String {
    let mut text = DOMAIN.to_owned();
    while text.len() < bytes {
        text.push_str(
            "  (:action switch-on :parameters (?l - lamp) :precondition (off ?l) :effect (on ?l))\n",
        );
    }
    text
}

pub(crate) fn invalid_text() -> String {
    format!("{}(:action ?? :parameters (switch-on :effect", DOMAIN.replace("(off ?l - lamp)", "(off ?l - "))
}

pub(crate) fn deep_text() -> String {
    let (open, close) = ("(and ".repeat(DEPTH), ")".repeat(DEPTH));
    DOMAIN.replace(":precondition (off ?l)", &format!(":precondition {open}(off ?l){close}"))
}

pub(crate) fn control_text() -> String {
    DOMAIN.replace("lamp", "la\u{0}\u{1}\u{7}\u{1b}[31m\u{202e}\u{2028}\u{feff}\u{10ffff}\r\nmp")
}
