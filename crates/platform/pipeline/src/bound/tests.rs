use super::*;
use crate::config::Pipeline;
use planforge_contract::RequestCount::{ForAllSamples, Samples};
use planforge_contract::{Capabilities, Declared, OptionCondition, PluginKind};
use serde_json::{Value, json};

fn info(id: &str) -> Option<PluginInfo> {
    let always = |count: RequestCount| vec![RequestBound { count, condition: None }];
    let (role, requests, schema): (&str, Vec<RequestBound>, Value) = match id {
        "writer" => {
            let none = OptionCondition::new("mode", &["none"]);
            let more = OptionCondition::new("mode", &["two", "three"]);
            let repaired = ForAllSamples(2) + Samples * RequestCount::option("repairs");
            let bounds = vec![
                RequestBound { count: 0.into(), condition: Some(none) },
                RequestBound { count: repaired, condition: Some(more) },
                RequestBound { count: ForAllSamples(1), condition: None },
            ];
            let schema = json!({"properties": {"repairs": {"default": 3}, "mode": {"default": "one"}}});
            ("writer", bounds, schema)
        }
        "actions" => ("writer", always(Samples * RequestCount::Actions), json!({})),
        "critic" => ("critic", always(1.into()), json!({})),
        "silent" => ("critic", Vec::new(), json!({})),
        "walker" => ("", Vec::new(), json!({})),
        _ => return None,
    };
    Some(PluginInfo {
        id: id.to_owned(),
        kind: PluginKind::Verifier,
        version: String::new(),
        contract: 1,
        about: String::new(),
        capabilities: Capabilities { requests, ..Capabilities::default() },
        roles: if role.is_empty() { Vec::new() } else { vec![Declared::new(role, "")] },
        metrics: Vec::new(),
        measures: Vec::new(),
        options_schema: schema,
        secrets: Vec::new(),
        files: Vec::new(),
        folders: Vec::new(),
        suites: Vec::new(),
        servers: Vec::new(),
        commands: Vec::new(),
        max_concurrency: 0,
    })
}

fn bounds(stages: Value) -> TaskBounds {
    let pipeline: Pipeline = serde_json::from_value(json!({"schema": 1, "stage": stages})).unwrap();
    question_bounds(&pipeline.stages, &info, 5)
}

fn write(label: &str, n: u32) -> Value {
    json!({"do": "translate", "label": label, "use": "writer", "n": n, "roles": {"writer": "main"}})
}

fn critic(label: &str) -> Value {
    json!({"do": "verify", "label": label, "use": "critic", "roles": {"critic": "critic"}})
}

fn counts(bounds: &[QuestionBound]) -> Vec<(&str, Option<u64>, Option<u64>)> {
    bounds.iter().map(|b| (b.stage.as_str(), b.questions, b.replies)).collect()
}

#[test]
fn samples_candidates_and_selections_multiply_as_the_runner_does() {
    let keep = |keep: u32, by: Option<&str>| match by {
        Some(label) => json!({"do": "select", "label": "s", "by": "x.y", "keep": keep, "group_by": label}),
        None => json!({"do": "select", "label": "s", "by": "x.y", "keep": keep}),
    };
    let found = bounds(json!([
        write("a", 3),
        write("b", 4),
        keep(2, Some("a")),
        critic("c"),
        keep(2, None),
        write("d", 1)
    ]));
    // 3 children, 12 grandchildren, the best two of each of three groups, and the best two of all.
    let expected =
        [("a", Some(1), Some(3)), ("b", Some(3), Some(12)), ("c", Some(6), Some(6)), ("d", Some(2), Some(2))];
    assert_eq!(counts(&found.each), expected);
    assert_eq!(found.each[1].before, Some(3), "each of b's questions has a reply before it");
    assert_eq!(found.each[0].times(10).replies, Some(30));
}

#[test]
fn a_plugin_says_how_many_questions_a_call_asks() {
    let with = |options: Value| {
        let mut stage = write("a", 4);
        stage["options"] = options;
        let found = bounds(json!([stage]));
        (found.each[0].questions, found.each[0].replies)
    };
    assert_eq!(with(json!({})), (Some(1), Some(4)));
    assert_eq!(with(json!({"mode": "two"})), (Some(2 + 12), Some(8 + 12)), "the option's default counts");
    assert_eq!(with(json!({"mode": "three", "repairs": 0})), (Some(2), Some(8)));
    assert_eq!(with(json!({"mode": "none"})), (Some(0), Some(0)));
    let actions =
        json!({"do": "translate", "label": "a", "use": "actions", "n": 2, "roles": {"writer": "main"}});
    assert_eq!(counts(&bounds(json!([actions])).each), [("a", Some(10), Some(10))]);
    // Who asks no model is not in it, and who does not say leaves no bound.
    let walk = json!({"do": "verify", "label": "w", "use": "walker"});
    assert!(bounds(json!([walk])).each.is_empty());
    let silent = json!({"do": "verify", "label": "v", "use": "silent", "roles": {"critic": "critic"}});
    let found = bounds(json!([silent]));
    assert_eq!(found.each[0].questions, None);
    assert!(found.each[0].why.contains("`silent`"));
}

#[test]
fn rounds_go_on_from_one_candidate_each() {
    let refine = json!({
        "do": "refine", "label": "refine", "rounds": 3, "by": "c.errors",
        "round": [critic("before"), write("edit", 5), critic("after")],
    });
    let found = bounds(json!([write("a", 2), refine, critic("last")]));
    let expected = [
        ("a", Some(1), Some(2)),
        ("before", Some(2 * 3), Some(6)),
        ("edit", Some(2 * 3), Some(30)),
        ("after", Some(2 * 3 * 5), Some(30)),
        ("last", Some(2), Some(2)),
    ];
    assert_eq!(counts(&found.each), expected);
    // Two candidates with one reply before the first round, two before the second, three before the third.
    assert_eq!(found.each[2].before, Some(2 * (1 + 2 + 3)));
}

#[test]
fn a_budget_bounds_questions_up_to_its_last_pulls() {
    let budget = |limits: Value| {
        json!({
            "do": "budget", "label": "search", "by": "c.errors", "width": 2, "budget": limits,
            "sample": [write("new", 3)], "round": [critic("look"), write("edit", 1)], "judge": [critic("c")],
        })
    };
    let found = bounds(json!([budget(json!({"calls": 40, "tokens": 1000}))]));
    // A sample asks 1 + 3 questions, a refinement 1 + 1 + 1; what came in is judged once.
    assert_eq!(found.each.len(), 1);
    assert_eq!((found.each[0].questions, found.each[0].tokens), (Some(39 + 2 * 4), Some(1000)));
    assert_eq!(found.each[0].replies, Some(47 * 3));
    assert_eq!(found.each[0].models, ["critic", "main"]);
    let unlimited = bounds(json!([budget(json!({"tokens": 1000}))]));
    assert_eq!((unlimited.each[0].questions, unlimited.each[0].tokens), (None, Some(1000)));
    assert!(unlimited.each[0].why.contains("`search`"));
}

#[test]
fn before_a_fan_out_the_lead_alone_is_asked_about() {
    let fan_out = json!({"do": "fan_out", "label": "others"});
    let found = bounds(json!([write("domain", 3), fan_out, write("problem", 2)]));
    assert_eq!(counts(&found.lead), [("domain", Some(1), Some(3))]);
    assert_eq!(counts(&found.each), [("problem", Some(3), Some(6))], "three survivors each");
}
