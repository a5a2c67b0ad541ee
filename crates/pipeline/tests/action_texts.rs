//! Actions in words, and the examples of other domains.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

use planforge_contract::{ActionDescription, ActionExample, PredicateDescription};
use planforge_pipeline::{DescriptionClass, GivenSpec, Pipeline, Suite, load_suite, task_view};
use serde_json::json;
use std::path::{Path, PathBuf};

fn suites() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/suites")
}

fn grippers() -> Suite {
    load_suite(&suites().join("grippers")).suite.unwrap()
}

fn material<T: serde::de::DeserializeOwned>(suite: &Suite, class: DescriptionClass, name: &str) -> T {
    let given = GivenSpec { actions: Some(class), ..GivenSpec::default() };
    let view = task_view(suite, &suite.tasks[0], &given, None).unwrap();
    assert!(view.given.domain.is_none() && view.given.problem.is_none());
    serde_json::from_str(&view.materials[name]).unwrap()
}

fn text(suite: &Suite, class: DescriptionClass, action: &str) -> String {
    let all: Vec<ActionDescription> = material(suite, class, "actions");
    all.into_iter().find(|a| a.name == action).unwrap().text
}

#[test]
fn the_three_classes_are_made_from_the_sentences() {
    let suite = grippers();
    let base = text(&suite, DescriptionClass::Base, "grasp");
    assert_eq!(
        base,
        "The action \"grasp\" is done with a robot r, a gripper of a robot g, a ball b and a room place."
    );
    let flipped = text(&suite, DescriptionClass::Flipped, "grasp");
    let told = ", if b lies in place and gripper g of r is empty.";
    assert_eq!(flipped, format!("{}{told}", base.trim_end_matches('.')));
    let random = text(&suite, DescriptionClass::Random, "grasp");
    assert_eq!(random, text(&suite, DescriptionClass::Random, "grasp"), "the draw is the same each time");
    assert_ne!(random, base, "two literals are told");
    let go = text(&suite, DescriptionClass::Flipped, "go");
    assert!(go.ends_with(", if r is in from."), "{go}");
}

#[test]
fn predicates_are_declared_and_told_and_the_header_has_no_action() {
    let suite = grippers();
    let declared: Vec<PredicateDescription> = material(&suite, DescriptionClass::Base, "predicates.declared");
    assert_eq!(declared[0].declaration, "(robot-in ?r - robot ?place - room)");
    assert_eq!(declared[0].text, "r is in place");
    assert_eq!(declared.len(), 4);
    let given = GivenSpec { actions: Some(DescriptionClass::Base), ..GivenSpec::default() };
    let header = task_view(&suite, &suite.tasks[0], &given, None).unwrap().materials["domain.header"].clone();
    assert!(header.contains(":predicates") && !header.contains(":action"), "{header}");
}

#[test]
fn written_texts_come_first_and_mistakes_have_their_place() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["domain.pddl", "domain.nl", "p01.nl", "p01.pddl", "sentences.toml"] {
        std::fs::copy(suites().join("grippers").join(name), folder.path().join(name)).unwrap();
    }
    let write = |text: &str| std::fs::write(folder.path().join("actions.toml"), text).unwrap();
    write(
        "[actions]\nGO = \"A robot goes.\"\ngrasp = { base = \"It grasps.\", flipped = \"It grasps what lies there.\" }\n",
    );
    let suite = load_suite(folder.path()).suite.unwrap();
    assert_eq!(text(&suite, DescriptionClass::Base, "go"), "A robot goes.");
    assert_eq!(text(&suite, DescriptionClass::Flipped, "go"), "A robot goes, if r is in from.");
    assert_eq!(text(&suite, DescriptionClass::Flipped, "grasp"), "It grasps what lies there.");
    write("[actions]\ngro = \"x\"\ngrasp = 3\n");
    let found = load_suite(folder.path()).diagnostics;
    let lines: Vec<&str> = found.iter().map(|d| d.message.as_str()).collect();
    assert_eq!(found.iter().filter(|d| d.code == "suite.actions" && d.is_error()).count(), 2, "{lines:?}");
}

#[test]
fn examples_come_from_other_suites_alone() {
    let pipeline: Pipeline = serde_json::from_value(json!({
        "schema": 1,
        "given": { "actions": "base", "action_examples": ["grippers", "miconic"] },
        "stage": [],
    }))
    .unwrap();
    let tasks = planforge_pipeline::run_tasks(&pipeline, &[grippers()], &suites()).unwrap();
    let examples: Vec<ActionExample> =
        serde_json::from_str(&tasks[0].view.materials["example.actions"]).unwrap();
    assert_eq!(examples.len(), 4);
    assert!(examples.iter().all(|e| e.suite == "miconic" && e.pddl.starts_with("(:action")));
}

#[test]
fn without_the_predicates_nothing_that_is_made_of_them_is_given() {
    let suite = load_suite(&suites().join("grippers")).suite.unwrap();
    let given =
        GivenSpec { actions: Some(DescriptionClass::Base), predicates: false, ..GivenSpec::default() };
    let materials = task_view(&suite, &suite.tasks[0], &given, None).unwrap().materials;
    assert!(!materials.contains_key("predicates.declared"));
    assert!(materials["domain.header"].contains(":types"));
    for name in ["robot-in", "ball-in", "(empty", "(holds", "(:action"] {
        assert!(materials.values().all(|text| !text.contains(name)), "{name}");
    }
}

/// A literal without a sentence is told by its predicate's name.
#[test]
fn a_description_that_would_name_a_withheld_predicate_is_refused() {
    let mut suite = grippers();
    let given = |class, predicates| GivenSpec { actions: Some(class), predicates, ..GivenSpec::default() };
    let refused = |suite: &Suite, given: &GivenSpec| {
        let found = task_view(suite, &suite.tasks[0], given, None).err().unwrap_or_default();
        found.iter().map(|d| d.code.to_string()).collect::<Vec<_>>()
    };
    assert!(
        refused(&suite, &given(DescriptionClass::Flipped, false)).is_empty(),
        "there is a sentence for all"
    );
    suite.sentences.remove("robot-in");
    assert_eq!(refused(&suite, &given(DescriptionClass::Flipped, false)), vec!["suite.no-sentence"; 1]);
    assert!(refused(&suite, &given(DescriptionClass::Flipped, true)).is_empty());
    assert!(refused(&suite, &given(DescriptionClass::Base, false)).is_empty());
}

/// The suites that examples come from where actions are asked for of grippers as it reads after a change, in a suite called `balls`.
fn examples_for(change: impl Fn(&str) -> String) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("suite.toml"), "schema = 1\nname = \"balls\"\n").unwrap();
    for name in ["domain.nl", "p01.nl", "p01.pddl", "domain.pddl"] {
        let text = std::fs::read_to_string(suites().join("grippers").join(name)).unwrap();
        std::fs::write(folder.path().join(name), change(&text)).unwrap();
    }
    let loaded = load_suite(folder.path());
    let suite = loaded.suite.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    let pipeline: Pipeline = serde_json::from_value(json!({
        "schema": 1,
        "given": { "actions": "base", "action_examples": ["grippers", "miconic"] },
        "stage": [],
    }))
    .unwrap();
    let tasks = planforge_pipeline::run_tasks(&pipeline, &[suite], &suites()).unwrap();
    let examples: Vec<ActionExample> =
        serde_json::from_str(&tasks[0].view.materials["example.actions"]).unwrap();
    let mut from: Vec<String> = examples.into_iter().map(|example| example.suite).collect();
    from.dedup();
    from
}

#[test]
fn a_domain_under_another_suite_s_name_is_no_example_of_its_own() {
    assert_eq!(examples_for(str::to_owned), ["miconic"], "the domain is called the same");
    let renamed = |text: &str| {
        text.replace("(domain grippers)", "(domain balls)").replace(":domain grippers", ":domain balls")
    };
    assert_eq!(examples_for(renamed), ["miconic"], "its actions read the same");
    // Other names throughout make another domain, as far as anybody can tell.
    let names = [("robot-in", "at"), ("ball-in", "lies"), ("holds", "has"), ("(empty ", "(free ")];
    let other = |text: &str| names.iter().fold(renamed(text), |text, (from, to)| text.replace(from, to));
    assert_eq!(examples_for(other), ["grippers", "miconic"]);
}
