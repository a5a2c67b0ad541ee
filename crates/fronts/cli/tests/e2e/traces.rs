//! `planforge runs export`: the JSON encoding of OTLP, from a recorded run.

use super::support::{Run, example_text, ran, right_reply};
use planforge_testkit::{Scripted, ScriptedServer};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

fn export(run: &Path, more: &[&str]) -> String {
    let mut args = vec!["runs", "export", run.to_str().unwrap()];
    args.extend(more);
    let ran = ran(args);
    ran.expect(0);
    ran.stdout
}

fn is_hex(value: &Value, digits: usize) -> bool {
    let text = value.as_str().unwrap();
    text.len() == digits
        && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
        && text.bytes().any(|b| b != b'0')
}

fn nanos(span: &Value, field: &str) -> u64 {
    span[field].as_str().unwrap().parse().unwrap()
}

/// Attributes by key, each a value of one of the kinds of OTLP.
fn attributes(span: &Value) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    for attribute in span["attributes"].as_array().unwrap() {
        let value = attribute["value"].as_object().unwrap();
        assert_eq!(value.len(), 1, "{attribute}");
        let (kind, inner) = value.iter().next().unwrap();
        match kind.as_str() {
            "stringValue" => assert!(inner.is_string()),
            "intValue" => assert!(inner.as_str().unwrap().parse::<i64>().is_ok(), "{attribute}"),
            "doubleValue" => assert!(inner.is_number()),
            "arrayValue" => assert!(inner["values"].is_array()),
            _ => panic!("{attribute}"),
        }
        let key = attribute["key"].as_str().unwrap().to_owned();
        assert!(found.insert(key, inner.clone()).is_none(), "{attribute} is there twice");
    }
    found
}

/// Checks the rules of the encoding; returns the spans.
fn spans(text: &str) -> Vec<Value> {
    let document: Value = serde_json::from_str(text).unwrap();
    let resource = &document["resourceSpans"][0];
    let scope = &resource["scopeSpans"][0];
    for place in [resource, scope] {
        assert_eq!(place["schemaUrl"], "https://opentelemetry.io/schemas/1.41.0");
    }
    assert_eq!(attributes(&resource["resource"])["service.name"], "planforge");
    let spans = scope["spans"].as_array().unwrap().clone();
    let by_id: BTreeMap<&str, &Value> =
        spans.iter().map(|span| (span["spanId"].as_str().unwrap(), span)).collect();
    assert_eq!(by_id.len(), spans.len(), "identifiers are unique");
    for span in &spans {
        assert!(is_hex(&span["traceId"], 32) && is_hex(&span["spanId"], 16), "{span}");
        assert_eq!(span["traceId"], spans[0]["traceId"]);
        assert!((1..=5).contains(&span["kind"].as_u64().unwrap()));
        attributes(span);
        let (start, end) = (nanos(span, "startTimeUnixNano"), nanos(span, "endTimeUnixNano"));
        assert!(start <= end && start > 1_700_000_000_000_000_000, "{span}");
        match span.get("parentSpanId") {
            None => assert_eq!(span["spanId"], spans[0]["spanId"], "one span has no parent"),
            Some(parent) => {
                let parent = by_id[parent.as_str().unwrap()];
                assert!(
                    nanos(parent, "startTimeUnixNano") <= start && end <= nanos(parent, "endTimeUnixNano"),
                    "{span}"
                );
            }
        }
    }
    spans
}

#[test]
fn a_run_is_exported_as_spans_that_follow_the_encoding() {
    let server = ScriptedServer::matching(|request| match request.number {
        0 => Scripted::error(500, "x", "busy").header("retry-after", "0"),
        _ => right_reply(request),
    })
    .unwrap();
    let run = Run::new("llm-p.toml", &server.base_url()).set("llm.main.max_attempts", "2");
    let mut run = run.task("parcels", "p01").task("parcels", "p02");
    run.go().expect(0);
    let folder = run.folder();
    let text = export(&folder, &[]);
    assert_eq!(text, export(&folder, &[]), "two exports are equal");
    let found = spans(&text);
    let named = |name: &str| {
        found.iter().filter(|span| span["name"].as_str().unwrap().starts_with(name)).collect::<Vec<_>>()
    };
    assert_eq!((named("planforge run").len(), named("task ").len()), (1, 2));
    let requests = named("chat ");
    assert_eq!(requests.len(), 2);
    let mut attempts = Vec::new();
    for request in requests {
        let attributes = attributes(request);
        assert_eq!((&request["kind"], &attributes["gen_ai.operation.name"]), (&3.into(), &"chat".into()));
        assert_eq!(attributes["gen_ai.provider.name"], "openai");
        assert_eq!(attributes["gen_ai.response.model"], "scripted-model");
        let usage =
            ["input", "output"].map(|kind| attributes[&format!("gen_ai.usage.{kind}_tokens")].clone());
        assert_eq!(usage, ["10", "5"]);
        assert!(!attributes.contains_key("gen_ai.input.messages"));
        attempts.push(attributes["planforge.attempts"].as_str().unwrap().to_owned());
    }
    attempts.sort();
    assert_eq!(attempts, ["1", "2"]);
    let story = example_text("parcels", "p01.nl");
    let line = story.lines().next().unwrap();
    assert!(!text.contains(line), "prompts are left out");
    let file = folder.parent().unwrap().join("trace.json");
    export(&folder, &["--content", "--out", file.to_str().unwrap()]);
    let with_content = std::fs::read_to_string(&file).unwrap();
    spans(&with_content);
    assert!(with_content.contains(line) && with_content.contains("(define (problem"));
    // Under its name in other tools.
    let ran = ran(["export", "otlp", folder.to_str().unwrap()]);
    ran.expect(0).says(&["runs export"]);
    assert_eq!(ran.stdout, text);
}
