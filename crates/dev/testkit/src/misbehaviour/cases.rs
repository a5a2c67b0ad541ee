//! The ways in which a scripted server misbehaves.

use super::encoding::{percent_encode, quotes_as_entities, to_base64};
use super::{ATTEMPTS, Expected, KEY, Misbehaviour};
use crate::scripted::Scripted;
use planforge_plugin_sdk::testing::{AnswerEnd, AnswerPart, ServiceInterface};
use serde_json::{Value, json};
use std::time::{Duration, SystemTime};

/// Everything that servers of an interface are known to do, and more.
pub fn all_misbehaviours(interface: ServiceInterface) -> Vec<Misbehaviour> {
    let mut all = failing();
    all.extend(cut_short(interface));
    all.extend(no_completions(interface));
    all.extend(telling_the_key(interface).into_iter().map(|case| Misbehaviour { tells_key: true, ..case }));
    all
}

/// Error statuses and busy servers.
fn failing() -> Vec<Misbehaviour> {
    use Expected::{Fails, Recovers};
    let busy = || Scripted::error(429, "rate_limit", "scripted: too many requests");
    vec![
        Misbehaviour::new("429 without Retry-After", Recovers(2, "rate-limited"), move |_, _, _| busy()),
        Misbehaviour::new("429 with Retry-After in seconds", Recovers(1, "rate-limited"), move |_, _, _| {
            busy().header("Retry-After", "1")
        })
        .waits_ms(1000),
        Misbehaviour::new("429 with Retry-After as a date", Recovers(1, "rate-limited"), move |_, _, _| {
            busy().header(
                "Retry-After",
                &httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(3600)),
            )
        })
        // However busy the machine is, the hour is longer than the longest wait.
        .set(&["llm.main.max_backoff_ms=1000"])
        .waits_ms(1000),
        Misbehaviour::new(
            "429 for ever",
            Fails("llm.rate-limited", "rate-limited", ATTEMPTS),
            move |_, _, _| busy(),
        ),
        Misbehaviour::new("500", Recovers(1, "server"), move |_, _, _| {
            Scripted::error(500, "oops", "scripted: broken")
        }),
        Misbehaviour::new("500 for ever", Fails("llm.server", "server", ATTEMPTS), move |_, _, _| {
            Scripted::raw(500, "oops")
        }),
        Misbehaviour::new("503 with a page of 10 MB", Recovers(1, "server"), move |_, _, _| {
            Scripted::raw(503, "<p>busy</p>".repeat(1 << 20))
        }),
        Misbehaviour::new(
            "400, the request is refused",
            Fails("llm.bad-request", "bad-request", 1),
            move |_, _, _| Scripted::error(400, "invalid", "scripted: unknown field"),
        ),
        Misbehaviour::new("an error object with status 200", Recovers(1, "server"), move |_, _, _| {
            Scripted::raw(200, r#"{"error":{"code":502,"message":"scripted: upstream"}}"#)
        }),
        Misbehaviour::new(
            "a redirect to another host",
            Fails("llm.not-found", "not-found", 1),
            move |_, _, elsewhere| {
                Scripted::raw(307, "").header("location", &format!("{elsewhere}/chat/completions"))
            },
        ),
    ]
}

/// Answers that end too early, too late or never.
fn cut_short(interface: ServiceInterface) -> Vec<Misbehaviour> {
    use Expected::{Accepted, Fails, Recovers};
    let and_so_on = |bytes: usize| "and so on, ".repeat(bytes / 11);
    // What follows the reading of a reply is the same for all interfaces.
    let (large, bytes) = match interface {
        ServiceInterface::ChatCompletions => ("a reply of 10 MB", 10_000_000),
        _ => ("a reply of 1 MB", 1_000_000),
    };
    vec![
        Misbehaviour::new("closed before the headers", Recovers(1, "connection"), move |_, _, _| {
            Scripted::drop_connection()
        }),
        Misbehaviour::new(
            "closed in the middle of the headers",
            Recovers(1, "connection"),
            move |_, _, _| Scripted::bytes("HTTP/1.1 200 OK\r\ncontent-ty"),
        ),
        Misbehaviour::new(
            "closed in the middle of the body",
            Recovers(2, "connection"),
            move |_, right, _| interface.text(right).half_body(),
        ),
        Misbehaviour::new(
            "closed for ever",
            Fails("llm.connection", "connection", ATTEMPTS),
            move |_, _, _| Scripted::drop_connection(),
        ),
        Misbehaviour::new(
            "half of the JSON as a whole body",
            Recovers(1, "connection"),
            move |_, right, _| half_json(interface, right),
        ),
        Misbehaviour::new(
            "half of the JSON for ever",
            Fails("llm.connection", "connection", ATTEMPTS),
            move |_, right, _| half_json(interface, right),
        ),
        Misbehaviour::new("no answer", Recovers(1, "timeout"), move |_, _, _| Scripted::stall()).times_out(),
        Misbehaviour::new("no answer for ever", Fails("llm.timeout", "timeout", ATTEMPTS), move |_, _, _| {
            Scripted::stall()
        })
        .times_out(),
        Misbehaviour::new("a byte now and then", Recovers(1, "timeout"), move |_, right, _| {
            interface.text(right).drip(Duration::from_millis(200))
        })
        .times_out(),
        Misbehaviour::new("no HTTP at all", Recovers(1, "connection"), move |_, _, _| {
            Scripted::bytes("SSH-2.0-scripted\r\n")
        }),
        Misbehaviour::new("headers without end", Recovers(1, "connection"), move |_, _, _| {
            Scripted::bytes(format!("HTTP/1.1 200 OK\r\n{}", "x-more: and more\r\n".repeat(200_000)))
        }),
        Misbehaviour::new(large, Accepted, move |_, right, _| {
            interface.text(&format!("{right}\n{}", and_so_on(bytes)))
        }),
        Misbehaviour::new(
            "a reply of 10 MB where 2 MB are accepted",
            Fails("llm.malformed", "malformed", 1),
            move |_, right, _| interface.text(&format!("{right}\n{}", and_so_on(10_000_000))),
        )
        .set(&["llm.main.max_body_mb=2"]),
    ]
}

/// Answers that are something else.
fn no_completions(interface: ServiceInterface) -> Vec<Misbehaviour> {
    use Expected::{Accepted, Fails};
    let list = match interface {
        ServiceInterface::ChatCompletions => "choices",
        ServiceInterface::Responses => "output",
        ServiceInterface::Messages => "content",
        ServiceInterface::GenerateContent => "candidates",
    };
    // An empty list is a reply without text in some interfaces.
    let none = match interface {
        ServiceInterface::ChatCompletions | ServiceInterface::GenerateContent => json!([]),
        ServiceInterface::Responses | ServiceInterface::Messages => Value::Null,
    };
    vec![
        Misbehaviour::new(
            "a web page with status 200",
            Fails("llm.malformed", "malformed", 1),
            move |_, _, _| {
                Scripted::raw(200, "<html><body>Please log in</body></html>")
                    .header("content-type", "text/html")
            },
        ),
        Misbehaviour::new("the right JSON as text/plain", Accepted, move |_, right, _| {
            interface.text(right).header("content-type", "text/plain")
        }),
        Misbehaviour::new(
            "bytes of gzip that were not requested",
            Fails("llm.malformed", "malformed", 1),
            move |_, _, _| {
                let bytes: Vec<u8> = [0x1f, 0x8b, 8, 0].into_iter().chain([0; 4096]).collect();
                Scripted::raw(200, bytes).header("content-encoding", "gzip")
            },
        ),
        Misbehaviour::new("another JSON document", Fails("llm.malformed", "malformed", 1), move |_, _, _| {
            Scripted::raw(200, r#"{"status":"ok"}"#)
        }),
        Misbehaviour::new("no replies", Fails("llm.malformed", "malformed", 1), move |_, _, _| {
            Scripted::raw(200, json!({"model": "m", list: none}).to_string())
        }),
        Misbehaviour::new("a reply without content", Fails("reply.no-pddl", "", 1), move |_, _, _| {
            interface.answer(&[], AnswerEnd::Done)
        }),
        Misbehaviour::new("a refusal", Fails("reply.filtered", "", 1), move |_, _, _| {
            interface.refusal("I cannot help with parcels.")
        }),
        Misbehaviour::new("a reply cut off by its filter", Fails("reply.filtered", "", 1), move |_, _, _| {
            interface.answer(&[], AnswerEnd::Filtered)
        }),
    ]
}

/// Replies that contain the key.
fn telling_the_key(interface: ServiceInterface) -> Vec<Misbehaviour> {
    use Expected::{Accepted, Fails};
    let refused = |text: &str| Scripted::error(401, "invalid_key", text);
    let authentication = Fails("llm.authentication", "authentication", 1);
    let mut all = vec![
        Misbehaviour::new("401 with the key in its message", authentication, move |request, _, _| {
            refused(&format!("wrong key: Bearer {}", interface.key(request)))
        }),
        Misbehaviour::new("401 with the key in a header", authentication, move |request, _, _| {
            refused("wrong key").header("x-echo", &interface.key(request))
        }),
        Misbehaviour::new(
            "401 with the key where the message is cut",
            authentication,
            move |request, _, _| {
                let key = interface.key(request);
                refused(&format!("{}{key}", ".".repeat(600 - KEY.len() / 2)))
            },
        ),
        Misbehaviour::new(
            "401 with a page that has the key in a URL and in base64",
            authentication,
            move |request, _, _| {
                let key = interface.key(request);
                let page = format!(
                    "<a href=\"?key={}\">{}</a> {}",
                    percent_encode(&key),
                    to_base64(&key),
                    quotes_as_entities(&key)
                );
                Scripted::raw(401, page).header("content-type", "text/html")
            },
        ),
        Misbehaviour::new("the key in a reply", Accepted, move |request, right, _| {
            interface.text(&format!("; Bearer {}\n{right}", interface.key(request)))
        }),
        Misbehaviour::new(
            "the key in a reply, escaped letter by letter",
            Accepted,
            move |request, right, _| {
                let key: String =
                    interface.key(request).chars().map(|c| format!("\\u{:04x}", c as u32)).collect();
                let text = AnswerPart::Text(format!("{right}; KEY"));
                let body = interface.answer_body(&[text], AnswerEnd::Done).to_string();
                Scripted::raw(200, body.replace("KEY", &key))
            },
        ),
    ];
    if interface == ServiceInterface::ChatCompletions {
        all.push(Misbehaviour::new("the key in tokens of a reply", Accepted, move |request, right, _| {
            let key = interface.key(request);
            let tokens: Vec<Value> = key
                .as_bytes()
                .chunks(5)
                .map(|part| json!({"token": String::from_utf8_lossy(part), "logprob": -0.5}))
                .collect();
            let content = format!("{right}\n; {key}");
            let choice = json!({"index": 0, "finish_reason": "stop", "message": {"content": content},
                "logprobs": {"content": tokens}});
            Scripted::raw(200, json!({"model": key, "choices": [choice]}).to_string())
        }));
    }
    all
}

fn half_json(interface: ServiceInterface, right: &str) -> Scripted {
    let body = interface.answer_body(&[AnswerPart::Text(right.to_owned())], AnswerEnd::Done).to_string();
    Scripted::raw(200, &body.as_bytes()[..body.len() / 2])
}
