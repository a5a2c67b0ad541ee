//! Roles with several models: what a file may say, and that runs with orders, weights, failures and caps are as repeatable as others.

use crate::common::*;
use planforge_diagnostics::{Diagnostic, Severity};
use planforge_pipeline::*;
use planforge_record::{CompletionEvent, Event, Journal, TaskVerdict};
use std::collections::BTreeSet;
use std::sync::Arc;

const HEAD: &str = concat!(
    toml!(schema = 1 seed = 7),
    model!(main "first"),
    model!(other "second"),
    model!(third "second"),
);

fn file(writer: &str) -> String {
    let stages = concat!(
        stage!(translate "problem" use = "translator-direct" n = 5 roles = { writer = WRITER }),
        stage!(verify "first" use = "verifier-val"),
        stage!(translate "again" use = "translator-direct" n = 3 roles = { writer = ["other", "main", "third"] } feedback = ["first"]),
        stage!(verify "ew" use = "verifier-val"),
    );
    format!("{HEAD}{}", stages.replace("WRITER", writer))
}

const WEIGHTS: &str = "{ main = 3, other = 1.5, third = 1 }";

fn found(writer: &str) -> Vec<Diagnostic> {
    check(&file(writer), "test.toml", &Scripted, &[]).diagnostics
}

fn codes_and_places(writer: &str) -> Vec<(String, String)> {
    let text = file(writer);
    let at = |d: &Diagnostic| text[d.primary().unwrap().span.range()].to_owned();
    found(writer).iter().map(|d| (d.code.to_string(), at(d))).collect()
}

#[test]
fn a_name_a_list_and_weights_are_read() {
    let read = |writer: &str| {
        let pipeline = good(&file(writer)).config;
        pipeline.stages[0].roles().unwrap()["writer"].clone()
    };
    assert_eq!(read("\"main\""), RoleModels::One("main".into()));
    assert_eq!(read("[\"third\", \"main\"]"), RoleModels::Order(vec!["third".into(), "main".into()]));
    let RoleModels::Weights(weights) = read(WEIGHTS) else { panic!() };
    assert_eq!(weights["main"], 3.0);
    assert_eq!(
        good(&file(WEIGHTS)).config.stages[0].models().collect::<Vec<_>>(),
        ["main", "other", "third"]
    );
    // A pipeline goes through JSON, as run folders and schemas see it, and stays what it is.
    let pipeline = good(&file(WEIGHTS)).config;
    let json = serde_json::to_string(&pipeline).unwrap();
    assert_eq!(serde_json::from_str::<Pipeline>(&json).unwrap(), pipeline);
}

#[test]
fn every_mistake_in_a_role_is_told_at_once_and_at_its_place() {
    let own = |code: &str, at: &str| (code.to_owned(), at.to_owned());
    assert_eq!(
        codes_and_places(r#"["mian", "other", 3, "other"]"#),
        [
            own("pipeline.unknown-llm", "\"mian\""),
            own("pipeline.type", "3"),
            own("pipeline.role-models", "\"other\"")
        ]
    );
    assert_eq!(
        codes_and_places(r#"{ mian = 1, main = 0, other = -2, third = "2" }"#),
        [
            own("pipeline.unknown-llm", "mian"),
            own("pipeline.range", "0"),
            own("pipeline.range", "-2"),
            own("pipeline.type", "\"2\"")
        ]
    );
    assert_eq!(codes_and_places("{ main = inf, other = nan }").len(), 2);
    assert_eq!(codes_and_places("[]"), [own("pipeline.role-models", "[]")]);
    assert_eq!(codes_and_places("{}"), [own("pipeline.role-models", "{}")]);
    assert_eq!(codes_and_places("true"), [own("pipeline.type", "true")]);
    for lone in ["[\"main\"]", "{ main = 2 }"] {
        let [warning] = &found(lone)[..] else { panic!("{:?}", found(lone)) };
        assert_eq!((&*warning.code, warning.severity), ("pipeline.role-models", Severity::Warning));
        assert_eq!(
            good(&file(lone)).config.stages[0].roles().unwrap()["writer"],
            RoleModels::One("main".into())
        );
    }
    assert!(found(WEIGHTS).is_empty(), "{:?}", found(WEIGHTS));
}

#[test]
fn likelihoods_of_several_models_are_not_compared_without_a_warning() {
    let select = "[[stage]]\ndo = \"select\"\nby = \"candidate.log_likelihood\"\n";
    let text = format!("{}{select}", file(WEIGHTS));
    let checked = check(&text, "test.toml", &Scripted, &[]);
    let [warning] = &checked.diagnostics[..] else { panic!("{:?}", checked.diagnostics) };
    assert_eq!((&*warning.code, warning.severity), ("pipeline.mixed-likelihood", Severity::Warning));
    assert_eq!(&text[warning.primary().unwrap().span.range()], "\"candidate.log_likelihood\"");
    assert!(warning.message.contains("`problem` are those of several models"), "{}", warning.message);
    let by_metric = text.replace("candidate.log_likelihood", "ew.score");
    assert!(check(&by_metric, "test.toml", &Scripted, &[]).diagnostics.is_empty());
}

#[test]
fn a_price_that_a_budget_in_money_needs_is_asked_of_every_model_of_a_role() {
    let text = format!(
        "{HEAD}{}",
        concat!(
            stage!(budget "search" by = "score.score" budget = { money = 1.0 }),
            sample!(translate "domain" use = "translator-direct" roles = { writer = { main = 1, other = 1 } }),
            judge!(verify "score" use = "verifier-val"),
        )
    );
    let checked = check(&text, "test.toml", &Scripted, &[]);
    let missing = |name: &str| {
        let of = format!("[llm.{name}] does not state both its prices");
        checked.diagnostics.iter().any(|d| d.code == "pipeline.budget-price" && d.message.contains(&of))
    };
    assert!(missing("main") && missing("other"), "{:?}", checked.diagnostics);
}

/// A bench whose first model refuses most of what it is asked.
fn bench(writer: &str) -> Bench {
    let mut bench = Bench::new(&file(writer));
    bench.provider =
        Arc::new(ScriptedProvider { refuses: Some(("first", 40)), ..ScriptedProvider::default() });
    bench
}

/// Tables that replied.
fn tables_that_replied(journal: &impl Journal) -> BTreeSet<String> {
    let told = |event: Event| match event {
        Event::Completion(CompletionEvent { llm, result: Some(_), .. }) => Some(llm),
        _ => None,
    };
    journal.events().into_iter().filter_map(told).collect()
}

#[test]
fn jobs_and_replays_change_nothing_about_weights_orders_and_failures() {
    for writer in [WEIGHTS, r#"["main", "other"]"#] {
        let (report, journal) = jobs_and_replays_change_nothing(|| bench(writer), &tasks(8), &[16, 16]);
        assert_eq!(report.state, RunState::Finished);
        let moved: u64 = report.fallbacks().iter().map(|moved| moved.questions).sum();
        assert!(moved > 1, "nothing to compare: {:?}", report.fallbacks());
        assert!(report.fallbacks().iter().all(|m| m.llm == "main" && m.code == "llm.bad-request"));
        assert!(tables_that_replied(journal.as_ref()).len() > 1);
        // Each table has its own account, failures included.
        let usage = |name: &str| {
            report
                .tasks
                .iter()
                .filter_map(|t| t.usage.get(name))
                .fold((0, 0), |(a, b), u| (a + u.calls, b + u.failed))
        };
        assert_eq!(usage("main").1, moved);
        assert!(usage("other").0 > 0 && usage("other").1 == 0);
    }
}

#[test]
fn a_crash_after_any_event_of_a_run_with_weights_loses_nothing() {
    let events = crashes_lose_nothing(|| Bench::new(&file(WEIGHTS)), &tasks(1));
    assert!(events.len() > 30, "{}", events.len());
}

#[test]
fn a_cap_moves_on_and_the_last_one_s_leaves_the_task_undecided() {
    let capped = |writer: &str| {
        let text = file(writer).replace("model = \"first\"", "model = \"first\"\nmax_calls = 1");
        text.replace(
            "[llm.other]\nuse = \"provider-openai\"",
            "[llm.other]\nuse = \"provider-openai\"\nmax_calls = 1",
        )
    };
    let stages = |text: &str| {
        text.split("[[stage]]\ndo = \"translate\"\nlabel = \"again\"").next().unwrap().to_owned()
    };
    let text = stages(&capped(r#"["main", "other"]"#));
    let bench = Bench::new(&text);
    let (report, journal) = bench.run(&tasks(3), 1);
    assert_eq!(
        tables_that_replied(journal.as_ref()),
        BTreeSet::from(["main".to_owned(), "other".to_owned()])
    );
    let [moved] = &report.fallbacks()[..] else { panic!("{:?}", report.fallbacks()) };
    assert_eq!((moved.llm.as_str(), moved.to.as_str(), moved.code.as_str()), ("main", "other", "llm.budget"));
    assert_eq!(moved.questions, 2);
    let Some(TaskVerdict::Undecided { message, .. }) = &report.tasks[2].verdict else {
        panic!("{:?}", report.tasks[2].verdict)
    };
    assert!(
        message.contains("`max_calls` of `other`") && message.contains("before it: `main` [llm.budget]"),
        "{message}"
    );
    assert_eq!(bytes(&bench.replay(&journal, &tasks(3)).0), bytes(&report));
}
