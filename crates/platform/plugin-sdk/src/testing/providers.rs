//! The requirements on every provider that speaks a published interface, checked against a scripted server of that interface.
//!
//! ```no_run
//! # use planforge_plugin_sdk::{prelude::*, testing::{provider_conformance, ServiceInterface}};
//! # fn my_provider(base_url: &str) -> Result<std::sync::Arc<dyn Provider>, Failure> { unimplemented!() }
//! assert_eq!(provider_conformance(ServiceInterface::Messages, &my_provider), Ok(()));
//! ```

use super::TestHost;
use super::scripted::{Scripted, ScriptedRequest, ScriptedServer};
use super::service::{ANSWER_MODEL, AnswerEnd, AnswerPart, ServiceError, ServiceInterface};
use planforge_contract::api::Provider;
use planforge_contract::{
    CompletionRequest, CompletionResult, Failure, FailureClass, FinishReason, Message,
    ProviderFailureClass as Class, Replies, Reply, ReplySchema, Sampling,
};
use serde_json::{Value, json};
use std::sync::Arc;

/// Creates the provider under test for a server at this address.
pub type CreateProvider<'a> = dyn Fn(&str) -> Result<Arc<dyn Provider>, Failure> + 'a;

/// The code of the failure for a setting that the service lacks.
const UNSUPPORTED: &str = "provider.unsupported";

/// Checks the requirements on every provider. Each exchange is one request, with no field that the interface does not have; each answer is
/// read as the service means it; each error has its class. A setting of a request that the service lacks may be refused with
/// `provider.unsupported` before anything is sent. Reports all violations.
///
/// # Errors
/// One sentence per violation.
pub fn provider_conformance(
    interface: ServiceInterface,
    create: &CreateProvider<'_>,
) -> Result<(), Vec<String>> {
    let mut checks = Checks { interface, create, found: Vec::new() };
    checks.requests();
    checks.answers();
    checks.refusals();
    checks.errors();
    checks.broken_answers();
    checks.interrupt();
    if checks.found.is_empty() { Ok(()) } else { Err(checks.found) }
}

struct Checks<'a> {
    interface: ServiceInterface,
    create: &'a CreateProvider<'a>,
    found: Vec<String>,
}

/// The result of one call, and the requests that the server got.
struct Exchange {
    result: Result<CompletionResult, Failure>,
    requests: Vec<ScriptedRequest>,
}

fn text(text: &str) -> AnswerPart {
    AnswerPart::Text(text.to_owned())
}

fn question() -> CompletionRequest {
    CompletionRequest {
        model: "scripted-model".to_owned(),
        messages: vec![
            Message::system("be brief"),
            Message::user("hello"),
            Message::assistant("(:action"),
            Message::user("go on"),
        ],
        sampling: Sampling { max_tokens: Some(64), ..Sampling::default() },
        ..CompletionRequest::default()
    }
}

fn plan_schema() -> ReplySchema {
    let schema = json!({
        "type": "object", "properties": {"plan": {"type": "string"}}, "required": ["plan"],
        "additionalProperties": false
    });
    ReplySchema { name: "plan".to_owned(), schema: schema.as_object().cloned().unwrap_or_default() }
}

impl Checks<'_> {
    fn add(&mut self, case: &str, problem: impl std::fmt::Display) {
        self.found.push(format!("{case}: {problem}"));
    }

    /// One call, answered with the same answer however often the provider asks.
    fn exchange(&mut self, case: &str, answer: Scripted, request: &CompletionRequest) -> Option<Exchange> {
        self.exchange_with(case, &TestHost::new(), answer, request)
    }

    fn exchange_with(
        &mut self,
        case: &str,
        host: &TestHost,
        answer: Scripted,
        request: &CompletionRequest,
    ) -> Option<Exchange> {
        let server = match ScriptedServer::matching(move |_| answer.clone()) {
            Ok(server) => server,
            Err(error) => {
                self.add(case, format!("the scripted server cannot be started: {error}"));
                return None;
            }
        };
        let provider = match (self.create)(&server.base_url()) {
            Ok(provider) => provider,
            Err(failure) => {
                self.add(case, format!("the provider cannot be created: {failure}"));
                return None;
            }
        };
        let result = provider.complete(host, request);
        let requests = server.requests();
        for request in &requests {
            for violation in self.interface.request_violations(request) {
                self.add(case, violation);
            }
        }
        Some(Exchange { result, requests })
    }

    /// The replies of a call that must have some, after exactly one request.
    fn replies(&mut self, case: &str, answer: Scripted, request: &CompletionRequest) -> Option<Replies> {
        let Exchange { result, requests } = self.exchange(case, answer, request)?;
        if requests.len() != 1 {
            self.add(case, format!("{} requests instead of one", requests.len()));
        }
        match result {
            Ok(CompletionResult::Replies(replies)) if !replies.replies.is_empty() => Some(replies),
            other => {
                self.add(case, format!("the result is {other:?} instead of replies"));
                None
            }
        }
    }

    fn reply(&mut self, case: &str, answer: Scripted) -> Option<Reply> {
        let replies = self.replies(case, answer, &question())?;
        replies.replies.into_iter().next()
    }

    /// Each setting of a request is sent in the interface's form, or refused before anything is sent.
    fn requests(&mut self) {
        type Change = fn(&mut CompletionRequest);
        let settings: [(&str, Change); 9] = [
            ("a request", |_| {}),
            ("a request with a temperature", |r| r.sampling.temperature = Some(0.5)),
            ("a request with `top_p`", |r| r.sampling.top_p = Some(0.9)),
            ("a request with a text that ends the reply", |r| r.sampling.stop = vec!["END".to_owned()]),
            ("a request with a seed", |r| r.sampling.seed = Some(2_147_483_647)),
            ("a request for several replies", |r| r.sampling.n = Some(2)),
            ("a request for log-probabilities", |r| r.sampling.logprobs = Some(true)),
            ("a request with a schema", |r| r.schema = Some(plan_schema())),
            ("a request without `max_tokens`", |r| r.sampling.max_tokens = None),
        ];
        for (case, change) in settings {
            let mut request = question();
            change(&mut request);
            let answer = self.interface.text("{\"plan\": \"(and)\"}");
            let Some(Exchange { result, requests }) = self.exchange(case, answer, &request) else { continue };
            match (result, requests.as_slice()) {
                (Ok(CompletionResult::Replies(_)), [sent]) => self.check_sent(case, sent),
                (Err(failure), []) if failure.code == UNSUPPORTED && case != "a request" => {
                    if failure.help.is_none() {
                        self.add(case, "the refusal names no way out");
                    }
                }
                (result, requests) => {
                    self.add(case, format!("{} requests, and the result is {result:?}", requests.len()));
                }
            }
        }
    }

    fn check_sent(&mut self, case: &str, sent: &ScriptedRequest) {
        if self.interface.question(sent) != "go on" {
            self.add(case, format!("the last turn is `{}`", self.interface.question(sent)));
        }
        for turn in ["be brief", "hello", "(:action"] {
            if !sent.body.contains(turn) {
                self.add(case, format!("the turn `{turn}` is missing"));
            }
        }
        if sent.json().get("stream").is_some_and(|stream| *stream != Value::Bool(false)) {
            self.add(case, "the answer is requested as a stream");
        }
    }

    /// Texts, parts, calls, reasoning, ends and tokens of answers.
    fn answers(&mut self) {
        use AnswerEnd::{Done, Filtered, MaxTokens};
        use FinishReason as F;
        let call = |arguments: Value| vec![AnswerPart::Call(arguments)];
        let thought = || AnswerPart::Thought("hmm".to_owned());
        let cases = [
            ("a text", vec![text("(and)")], Done, "(and)", F::Stop),
            ("a text in several parts", vec![text("(and"), text(")")], Done, "(and)", F::Stop),
            ("a text behind reasoning", vec![thought(), text("(and)")], Done, "(and)", F::Stop),
            (
                "a text beside a part of an unknown kind",
                vec![AnswerPart::Unknown, text("(and)")],
                Done,
                "(and)",
                F::Stop,
            ),
            ("a call with one text", call(json!({"pddl": "(and)"})), Done, "(and)", F::Stop),
            (
                "a call with several arguments",
                call(json!({"a": 1, "b": "x"})),
                Done,
                "{\"a\":1,\"b\":\"x\"}",
                F::Stop,
            ),
            ("a text that the token limit cut off", vec![text("(an")], MaxTokens, "(an", F::Length),
            ("a text that the filter ended", vec![text("(an")], Filtered, "(an", F::ContentFilter),
            ("no text", Vec::new(), Done, "", F::Stop),
            ("no text before the token limit", vec![thought()], MaxTokens, "", F::Length),
        ];
        for (case, parts, end, content, finish) in cases {
            let body = self.interface.answer_body(&parts, end).to_string();
            let answer = Scripted::raw(200, body.clone());
            let Some(replies) = self.replies(case, answer, &question()) else { continue };
            let Some(reply) = replies.replies.first() else { continue };
            if (reply.content.as_str(), reply.finish) != (content, finish) {
                self.add(case, format!("read as `{}`, {:?}", reply.content, reply.finish));
            }
            let wanted = parts.contains(&thought()).then_some("hmm");
            if reply.thought.as_deref() != wanted {
                self.add(case, format!("the thought is {:?} instead of {wanted:?}", reply.thought));
            }
            if reply.refusal.is_some() {
                self.add(case, "read as a refusal");
            }
            if replies.usage != self.interface.answer_usage() {
                self.add(case, format!("the tokens are {:?}", replies.usage));
            }
            if replies.model != ANSWER_MODEL {
                self.add(case, format!("the model is `{}`", replies.model));
            }
            if replies.raw != body {
                self.add(case, "the raw body is not kept whole");
            }
        }
    }

    /// A refusal is a reply with its reason, not a failure.
    fn refusals(&mut self) {
        let case = "a refusal";
        let reason = "I cannot help with parcels.";
        let Some(reply) = self.reply(case, self.interface.refusal(reason)) else { return };
        if reply.finish != FinishReason::ContentFilter {
            self.add(case, format!("it ends with {:?}", reply.finish));
        }
        if !reply.refusal.as_deref().is_some_and(|refusal| refusal.contains(reason)) {
            self.add(case, format!("its reason is {:?}", reply.refusal));
        }
    }

    /// Errors of the service have their class, status and waiting time. A provider never repeats a request.
    fn errors(&mut self) {
        for (error, class) in [
            (ServiceError::Invalid, Class::BadRequest),
            (ServiceError::TooLong, Class::ContextOverflow),
            (ServiceError::Key, Class::Authentication),
            (ServiceError::NoModel, Class::NotFound),
            (ServiceError::RateLimit, Class::RateLimited),
            (ServiceError::Broken, Class::Server),
            (ServiceError::Overloaded, Class::Server),
        ] {
            let case = format!("the error {error:?}");
            let message = match error {
                ServiceError::TooLong => {
                    "the prompt is too long: it exceeds the maximum number of tokens allowed"
                }
                _ => "scripted reason",
            };
            let answer = self.interface.error(error, message);
            let Some(failure) = self.failure(&case, answer) else { continue };
            if failure.class != class {
                self.add(&case, format!("its class is {:?} instead of {class:?}", failure.class));
            }
            if failure.status.is_none() || !failure.message.contains(message) {
                self.add(&case, format!("status {:?}, message `{}`", failure.status, failure.message));
            }
            let wanted = (error == ServiceError::RateLimit).then_some(2_000);
            if failure.retry_after_ms != wanted {
                self.add(&case, format!("the waiting time is {:?}", failure.retry_after_ms));
            }
        }
    }

    /// Answers that are not whole, or something else.
    fn broken_answers(&mut self) {
        let page = Scripted::raw(200, "<html>Please log in</html>");
        let whole = self.interface.text("(and)");
        for (case, answer, class) in [
            ("a connection that closes", Scripted::drop_connection(), Class::Connection),
            ("a body that ends in the middle", whole.half_body(), Class::Connection),
            ("a web page", page, Class::Malformed),
            ("another JSON document", Scripted::raw(200, "{\"status\":\"ok\"}"), Class::Malformed),
            ("a JSON text", Scripted::raw(200, "\"ok\""), Class::Malformed),
        ] {
            let Some(failure) = self.failure(case, answer) else { continue };
            if failure.class != class {
                self.add(case, format!("its class is {:?} instead of {class:?}", failure.class));
            }
        }
    }

    fn failure(&mut self, case: &str, answer: Scripted) -> Option<planforge_contract::ProviderFailure> {
        let Exchange { result, requests } = self.exchange(case, answer, &question())?;
        if requests.len() != 1 {
            self.add(case, format!("{} requests instead of one", requests.len()));
        }
        match result {
            Ok(CompletionResult::ProviderFailure(failure)) => Some(failure),
            other => {
                self.add(case, format!("the result is {other:?} instead of a failure of the service"));
                None
            }
        }
    }

    /// A call of an interrupted run ends without the answer.
    fn interrupt(&mut self) {
        let case = "an interrupted run";
        let host = TestHost::new();
        host.cancel();
        let Some(exchange) = self.exchange_with(case, &host, Scripted::stall(), &question()) else { return };
        match exchange.result {
            Err(failure) if failure.class == FailureClass::Cancelled => {}
            other => {
                self.add(case, format!("the result is {other:?} instead of a failure of class Cancelled"))
            }
        }
    }
}
