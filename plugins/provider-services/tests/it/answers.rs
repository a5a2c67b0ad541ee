//! What every interface has in common: the same table of answers, on each of them.

use planforge_contract::api::Provider;
use planforge_contract::{
    CompletionRequest, CompletionResult, FinishReason, FixPolicy, Message, ProviderFailureClass, Reply,
};
use planforge_plugin_sdk::reply::{WantedPddl, read_reply};
use planforge_plugin_sdk::testing::{AnswerEnd, AnswerPart, ServiceInterface};
use planforge_plugin_sdk::{Plugin, Secrets};
use planforge_provider_services::anthropic::Anthropic;
use planforge_provider_services::gemini::Gemini;
use planforge_provider_services::openai::{OpenAi, OpenAiOptions};
use planforge_testkit::{Scripted, ScriptedServer, SilentHost};
use serde_json::{Value, json};

/// The provider's result for a body of status 200.
fn result(interface: ServiceInterface, body: impl Into<Vec<u8>>) -> CompletionResult {
    let server = ScriptedServer::in_order(vec![Scripted::raw(200, body)]).unwrap();
    let base_url = server.base_url();
    let options = json!({"base_url": base_url, "timeout_s": 300.0});
    let open_ai = |interface: &str| {
        let table = json!({"base_url": base_url, "interface": interface, "timeout_s": 300.0});
        let options: OpenAiOptions = serde_json::from_value(table).unwrap();
        OpenAi::new(options, None).unwrap()
    };
    let provider: Box<dyn Provider> = match interface {
        ServiceInterface::ChatCompletions => Box::new(open_ai("chat")),
        ServiceInterface::Responses => Box::new(open_ai("responses")),
        ServiceInterface::Messages => Box::new(
            Anthropic::create(serde_json::from_value(options).unwrap(), &Secrets::default()).unwrap(),
        ),
        ServiceInterface::GenerateContent => {
            Box::new(Gemini::create(serde_json::from_value(options).unwrap(), &Secrets::default()).unwrap())
        }
    };
    let mut request = CompletionRequest {
        model: "m".into(),
        messages: vec![Message::user("go on")],
        ..CompletionRequest::default()
    };
    request.sampling.max_tokens = Some(64);
    provider.complete(&SilentHost::default(), &request).unwrap()
}

fn body(interface: ServiceInterface, text: &str) -> Value {
    interface.answer_body(&[AnswerPart::Text(text.to_owned())], AnswerEnd::Done)
}

fn reply(interface: ServiceInterface, body: impl Into<Vec<u8>>) -> Reply {
    match result(interface, body) {
        CompletionResult::Replies(replies) if replies.replies.len() == 1 => replies.replies[0].clone(),
        other => panic!("{interface:?}: {other:?}"),
    }
}

#[test]
fn a_byte_order_mark_before_a_body_is_skipped() {
    for interface in ServiceInterface::ALL {
        let marked = format!("\u{feff}{}", body(interface, "(and)"));
        assert_eq!(reply(interface, marked).content, "(and)", "{interface:?}");
    }
}

/// The body of an answer with this text, whose end has this reason.
fn ended(interface: ServiceInterface, text: &str, reason: &str) -> Value {
    let mut body = body(interface, text);
    let place = match interface {
        ServiceInterface::ChatCompletions => "/choices/0/finish_reason",
        ServiceInterface::Messages => "/stop_reason",
        ServiceInterface::GenerateContent => "/candidates/0/finishReason",
        ServiceInterface::Responses => {
            body["status"] = json!("incomplete");
            body["incomplete_details"] = json!({"reason": null});
            "/incomplete_details/reason"
        }
    };
    *body.pointer_mut(place).unwrap() = json!(reason);
    body
}

const DOMAIN: &str = "(define (domain d) (:predicates (p)) (:action a :parameters () :effect (p)))";

#[test]
fn each_reason_for_the_end_of_a_reply_means_the_same_on_every_interface() {
    use FinishReason::{ContentFilter, Length, Other, Stop};
    for interface in ServiceInterface::ALL {
        for (reason, finish, stated) in [
            ("stop", Stop, None),
            ("end_turn", Stop, None),
            ("length", Length, None),
            ("max_tokens", Length, None),
            ("model_context_window_exceeded", Length, None),
            ("sensitive", ContentFilter, None),
            ("safety", ContentFilter, None),
            ("content_filter", ContentFilter, None),
            ("blocked", ContentFilter, None),
            ("", Other, None),
            ("null", Other, None),
            ("full_moon", Other, Some("full_moon")),
        ] {
            for reason in [reason.to_owned(), reason.to_uppercase()] {
                let read = reply(interface, ended(interface, DOMAIN, &reason).to_string());
                assert_eq!((read.content.as_str(), read.finish), (DOMAIN, finish), "{interface:?} {reason}");
                let same = |stated: &str| read.stated_finish.as_deref().unwrap().eq_ignore_ascii_case(stated);
                assert_eq!(read.stated_finish.is_some(), stated.is_some(), "{interface:?} {reason}");
                assert!(stated.is_none_or(same), "{interface:?} {reason}: {:?}", read.stated_finish);
            }
        }
        for reason in ["insufficient_system_resource", "network_error", "overloaded"] {
            match result(interface, ended(interface, "(define", reason).to_string()) {
                CompletionResult::ProviderFailure(failure) => {
                    assert_eq!(failure.class, ProviderFailureClass::Server, "{interface:?} {reason}");
                    assert!(failure.class.is_transient() && failure.message.contains(reason), "{failure:?}");
                }
                other => panic!("{interface:?} {reason}: {other:?}"),
            }
        }
    }
}

#[test]
fn an_unknown_reason_is_shown_where_there_is_no_pddl_and_changes_no_good_reply() {
    for interface in ServiceInterface::ALL {
        let read = |text: &str, reason: &str| {
            let reply = reply(interface, ended(interface, text, reason).to_string());
            read_reply(&reply, WantedPddl::Domain, FixPolicy::None)
        };
        assert_eq!(read(DOMAIN, "full_moon").unwrap(), read(DOMAIN, "stop").unwrap(), "{interface:?}");
        let failure = read("Sorry.", "full_moon").unwrap_err();
        assert_eq!(failure.code, "reply.no-pddl");
        assert_eq!(
            failure.message, "the reply holds no PDDL domain; the server ended it with `full_moon`",
            "{interface:?}"
        );
    }
}

#[test]
fn an_outage_of_one_choice_leaves_the_others() {
    let choice = |index: u64, reason: &str| json!({"index": index, "message": {"content": format!("{index}")}, "finish_reason": reason});
    let two =
        |reasons: [&str; 2]| json!({"choices": [choice(0, reasons[0]), choice(1, reasons[1])]}).to_string();
    let read = reply(ServiceInterface::ChatCompletions, two(["network_error", "stop"]));
    assert_eq!(read.content, "1");
    let CompletionResult::ProviderFailure(failure) =
        result(ServiceInterface::ChatCompletions, two(["network_error", "overloaded"]))
    else {
        panic!("both are lost");
    };
    assert_eq!(failure.message, "the server ended the reply with `network_error`, an outage");
    // An error object inside a choice has the cause.
    let error = json!({"code": 429, "message": "slow down"});
    let body = json!({"choices": [{"index": 0, "finish_reason": "error", "error": error, "message": {"content": ""}}]});
    let CompletionResult::ProviderFailure(failure) =
        result(ServiceInterface::ChatCompletions, body.to_string())
    else {
        panic!("an error");
    };
    assert_eq!(failure.class, ProviderFailureClass::RateLimited);
}

/// The name of the list of replies in a body, and the place of the tokens.
fn list_and_usage(interface: ServiceInterface) -> (&'static str, &'static str) {
    match interface {
        ServiceInterface::ChatCompletions => ("choices", "usage"),
        ServiceInterface::Responses => ("output", "usage"),
        ServiceInterface::Messages => ("content", "usage"),
        ServiceInterface::GenerateContent => ("candidates", "usageMetadata"),
    }
}

#[test]
fn the_tokens_of_every_unusable_answer_are_counted() {
    for interface in ServiceInterface::ALL {
        let (list, usage) = list_and_usage(interface);
        let with = |change: &dyn Fn(&mut Value)| {
            let mut body = body(interface, "(and)");
            change(&mut body);
            body
        };
        let mut bodies = vec![
            ("no list", with(&|body| drop(body.as_object_mut().unwrap().remove(list)))),
            ("a list that is null", with(&|body| body[list] = Value::Null)),
            ("an error", with(&|body| body["error"] = json!({"code": 502, "message": "upstream"}))),
            ("an outage", ended(interface, "(and)", "network_error")),
        ];
        // A response and a message without items are replies without a text.
        if matches!(interface, ServiceInterface::ChatCompletions | ServiceInterface::GenerateContent) {
            bodies.push(("an empty list", with(&|body| body[list] = json!([]))));
        }
        if interface == ServiceInterface::ChatCompletions {
            bodies.push(("no message", with(&|body| body[list] = json!([{"index": 0}]))));
        }
        if interface == ServiceInterface::Responses {
            bodies.push(("a failed response", with(&|body| body["status"] = json!("failed"))));
        }
        for (case, body) in bodies {
            let failure = match result(interface, body.to_string()) {
                CompletionResult::ProviderFailure(failure) => failure,
                other => panic!("{interface:?}, {case}: {other:?}"),
            };
            assert_eq!(failure.usage.as_deref(), Some(&interface.answer_usage()), "{interface:?}, {case}");
            let mut free = body;
            free.as_object_mut().unwrap().remove(usage);
            match result(interface, free.to_string()) {
                CompletionResult::ProviderFailure(failure) => assert_eq!(failure.usage, None, "{case}"),
                other => panic!("{interface:?}, {case}: {other:?}"),
            }
        }
    }
    // The refusal in place of an answer is a reply, and has its tokens too.
    let refused = json!({"error": {"code": "content_filter", "message": "no"}, "usage": {"prompt_tokens": 4000, "completion_tokens": 241}});
    let CompletionResult::Replies(replies) = result(ServiceInterface::ChatCompletions, refused.to_string())
    else {
        panic!("a refusal");
    };
    assert_eq!((replies.usage.prompt_tokens, replies.usage.completion_tokens), (Some(4000), Some(241)));
}
