//! The ways in which a scripted server misbehaves.

use super::encoding::{percent_encode, quotes_as_entities, to_base64};
use super::{ATTEMPTS, Expected, KEY, Misbehaviour};
use crate::scripted::{Choice, Scripted, ScriptedRequest};
use serde_json::{Value, json};
use std::time::{Duration, SystemTime};

/// Everything that servers are known to do, and more.
pub fn all_misbehaviours() -> Vec<Misbehaviour> {
    let mut all = failing();
    all.extend(cut_short());
    all.extend(no_completions());
    all.extend(telling_the_key().into_iter().map(|case| Misbehaviour { tells_key: true, ..case }));
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
            busy().header("Retry-After", &httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(3)))
        })
        .waits_ms(1000),
        Misbehaviour::new(
            "429 for ever",
            Fails("llm.rate-limited", "rate-limited", ATTEMPTS),
            move |_, _, _| busy(),
        ),
        Misbehaviour::new("500", Recovers(1, "server"), |_, _, _| {
            Scripted::error(500, "oops", "scripted: broken")
        }),
        Misbehaviour::new("500 for ever", Fails("llm.server", "server", ATTEMPTS), |_, _, _| {
            Scripted::raw(500, "oops")
        }),
        Misbehaviour::new("503 with a page of 10 MB", Recovers(1, "server"), |_, _, _| {
            Scripted::raw(503, "<p>busy</p>".repeat(1 << 20))
        }),
        Misbehaviour::new(
            "400, the request is refused",
            Fails("llm.bad-request", "bad-request", 1),
            |_, _, _| Scripted::error(400, "invalid", "scripted: unknown field"),
        ),
        Misbehaviour::new("an error object with status 200", Recovers(1, "server"), |_, _, _| {
            Scripted::raw(200, r#"{"error":{"code":502,"message":"scripted: upstream"}}"#)
        }),
        Misbehaviour::new(
            "a redirect to another host",
            Fails("llm.not-found", "not-found", 1),
            |_, _, elsewhere| {
                Scripted::raw(307, "").header("location", &format!("{elsewhere}/chat/completions"))
            },
        ),
    ]
}

/// Answers that end too early, too late or never.
fn cut_short() -> Vec<Misbehaviour> {
    use Expected::{Accepted, Fails, Recovers};
    vec![
        Misbehaviour::new("closed before the headers", Recovers(1, "connection"), |_, _, _| {
            Scripted::drop_connection()
        }),
        Misbehaviour::new("closed in the middle of the headers", Recovers(1, "connection"), |_, _, _| {
            Scripted::bytes("HTTP/1.1 200 OK\r\ncontent-ty")
        }),
        Misbehaviour::new("closed in the middle of the body", Recovers(2, "connection"), |_, right, _| {
            Scripted::replies(&[right]).half_body()
        }),
        Misbehaviour::new("closed for ever", Fails("llm.connection", "connection", ATTEMPTS), |_, _, _| {
            Scripted::drop_connection()
        }),
        Misbehaviour::new("half of the JSON as a whole body", Recovers(1, "connection"), |_, right, _| {
            half_json(right)
        }),
        Misbehaviour::new(
            "half of the JSON for ever",
            Fails("llm.connection", "connection", ATTEMPTS),
            |_, right, _| half_json(right),
        ),
        Misbehaviour::new("no answer", Recovers(1, "timeout"), |_, _, _| Scripted::stall()).times_out(),
        Misbehaviour::new("no answer for ever", Fails("llm.timeout", "timeout", ATTEMPTS), |_, _, _| {
            Scripted::stall()
        })
        .times_out(),
        Misbehaviour::new("a byte now and then", Recovers(1, "timeout"), |_, right, _| {
            Scripted::replies(&[right]).drip(Duration::from_millis(200))
        })
        .times_out(),
        Misbehaviour::new("no HTTP at all", Recovers(1, "connection"), |_, _, _| {
            Scripted::bytes("SSH-2.0-scripted\r\n")
        }),
        Misbehaviour::new("headers without end", Recovers(1, "connection"), |_, _, _| {
            Scripted::bytes(format!("HTTP/1.1 200 OK\r\n{}", "x-more: and more\r\n".repeat(200_000)))
        }),
        Misbehaviour::new("a reply of 10 MB", Accepted, |_, right, _| {
            Scripted::replies(&[&format!("{right}\n{}", "and so on, ".repeat(10_000_000 / 11))])
        }),
        Misbehaviour::new(
            "a reply of 10 MB where 2 MB are accepted",
            Fails("llm.malformed", "malformed", 1),
            |_, right, _| {
                Scripted::replies(&[&format!("{right}\n{}", "and so on, ".repeat(10_000_000 / 11))])
            },
        )
        .set(&["llm.main.max_body_mb=2"]),
    ]
}

/// Answers that are something else.
fn no_completions() -> Vec<Misbehaviour> {
    use Expected::{Accepted, Fails};
    let choices = |choices: Value| Scripted::raw(200, json!({"model": "m", "choices": choices}).to_string());
    vec![
        Misbehaviour::new("a web page with status 200", Fails("llm.malformed", "malformed", 1), |_, _, _| {
            Scripted::raw(200, "<html><body>Please log in</body></html>").header("content-type", "text/html")
        }),
        Misbehaviour::new("the right JSON as text/plain", Accepted, |_, right, _| {
            Scripted::replies(&[right]).header("content-type", "text/plain")
        }),
        Misbehaviour::new(
            "bytes of gzip that were not requested",
            Fails("llm.malformed", "malformed", 1),
            |_, _, _| {
                let bytes: Vec<u8> = [0x1f, 0x8b, 8, 0].into_iter().chain([0; 4096]).collect();
                Scripted::raw(200, bytes).header("content-encoding", "gzip")
            },
        ),
        Misbehaviour::new("another JSON document", Fails("llm.malformed", "malformed", 1), |_, _, _| {
            Scripted::raw(200, r#"{"status":"ok"}"#)
        }),
        Misbehaviour::new("empty choices", Fails("llm.malformed", "malformed", 1), move |_, _, _| {
            choices(json!([]))
        }),
        Misbehaviour::new("a choice without content", Fails("reply.no-pddl", "", 1), move |_, _, _| {
            choices(json!([{"index": 0, "finish_reason": "stop", "message": {"content": null}}]))
        }),
        Misbehaviour::new("a refusal", Fails("reply.filtered", "", 1), move |_, _, _| {
            let message = json!({"content": null, "refusal": "I cannot help with parcels."});
            choices(json!([{"index": 0, "finish_reason": "stop", "message": message}]))
        }),
        Misbehaviour::new("a reply cut off by its filter", Fails("reply.filtered", "", 1), |_, _, _| {
            Scripted::choices(&[Choice::new("").finish("content_filter")])
        }),
    ]
}

/// Replies that contain the key.
fn telling_the_key() -> Vec<Misbehaviour> {
    use Expected::{Accepted, Fails};
    let refused = |text: &str| Scripted::error(401, "invalid_key", text);
    let authentication = Fails("llm.authentication", "authentication", 1);
    vec![
        Misbehaviour::new("401 with the key in its message", authentication, move |request, _, _| {
            refused(&format!("wrong key: {}", authorization(request)))
        }),
        Misbehaviour::new("401 with the key in a header", authentication, move |request, _, _| {
            refused("wrong key").header("x-echo", &authorization(request))
        }),
        Misbehaviour::new(
            "401 with the key where the message is cut",
            authentication,
            move |request, _, _| {
                let key = authorization(request).replace("Bearer ", "");
                refused(&format!("{}{key}", ".".repeat(600 - KEY.len() / 2)))
            },
        ),
        Misbehaviour::new(
            "401 with a page that has the key in a URL and in base64",
            authentication,
            |request, _, _| {
                let key = authorization(request).replace("Bearer ", "");
                let page = format!(
                    "<a href=\"?key={}\">{}</a> {}",
                    percent_encode(&key),
                    to_base64(&key),
                    quotes_as_entities(&key)
                );
                Scripted::raw(401, page).header("content-type", "text/html")
            },
        ),
        Misbehaviour::new("the key in a reply", Accepted, |request, right, _| {
            Scripted::replies(&[&format!("; {}\n{right}", authorization(request))])
        }),
        Misbehaviour::new("the key in a reply, escaped letter by letter", Accepted, |request, right, _| {
            let key: String =
                authorization(request).chars().map(|c| format!("\\u{:04x}", c as u32)).collect();
            let content = json!(format!("{right}; KEY")).to_string().replace("KEY", &key);
            let message = format!("{{\"role\":\"assistant\",\"content\":{content}}}");
            Scripted::raw(
                200,
                format!("{{\"choices\":[{{\"finish_reason\":\"stop\",\"message\":{message}}}]}}"),
            )
        }),
        Misbehaviour::new("the key in tokens of a reply", Accepted, |request, right, _| {
            let key = authorization(request).replace("Bearer ", "");
            let tokens: Vec<Value> = key
                .as_bytes()
                .chunks(5)
                .map(|part| json!({"token": String::from_utf8_lossy(part), "logprob": -0.5}))
                .collect();
            let content = format!("{right}\n; {key}");
            let choice = json!({"index": 0, "finish_reason": "stop", "message": {"content": content},
                "logprobs": {"content": tokens}});
            Scripted::raw(200, json!({"model": key, "choices": [choice]}).to_string())
        }),
    ]
}

fn half_json(right: &str) -> Scripted {
    let body = json!({"choices": [{"index": 0, "finish_reason": "stop", "message": {"content": right}}]})
        .to_string();
    Scripted::raw(200, &body.as_bytes()[..body.len() / 2])
}

fn authorization(request: &ScriptedRequest) -> String {
    request.header("authorization").unwrap_or("none").to_owned()
}
