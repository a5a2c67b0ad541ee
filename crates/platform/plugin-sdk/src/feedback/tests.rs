//! Every text as a snapshot: they are what a model learns from.

use super::*;
use crate::checked::{Texts, check};
use planforge_contract::{Edits, ReportedDiagnostic};

fn strings(list: &[&str]) -> Vec<String> {
    list.iter().map(|s| (*s).to_owned()).collect()
}

fn description(sentences: &[&str]) -> StateDescription {
    StateDescription { sentences: strings(sentences), atoms: Vec::new() }
}

fn hot() -> Vec<Unmet> {
    vec![
        Unmet {
            remedy: "(hot), which boil can add".into(),
            why: "(hot) is false since step 1 (pour blue)".into(),
            quote: Some(Quote { file: "domain".into(), line: 12, text: "(hot)".into() }),
        },
        Unmet { remedy: "two different objects".into(), why: "both are the same object".into(), quote: None },
    ]
}

fn failing(steps: &[&str], by: RefusedBy, why: Refused, state: Option<&StateDescription>) -> String {
    walk(&FailingWalk { steps: &strings(steps), by, why: &why, state })
}

#[test]
fn failing_walks() {
    let state = description(&["The kettle is hot.", "The cup blue is not clean.", "The tray is empty."]);
    let steps = ["(boil)", "(pour blue)"];
    let environment = RefusedBy::Environment;
    let candidate = RefusedBy::Candidate;
    let arity = Refused::Arity { action: "pour".into(), takes: 1, given: 2 };
    let ty = Refused::WrongType { object: "blue".into(), is: "cup".into(), asked: "kettle".into() };
    let texts = [
        failing(&steps, environment, Refused::Withheld, Some(&state)),
        failing(&steps[1..], environment, Refused::Withheld, Some(&state)),
        failing(&steps, candidate, Refused::Conditions(hot()), Some(&state)),
        failing(&steps[1..], candidate, Refused::Conditions(Vec::new()), None),
        failing(&steps, candidate, Refused::NoAction("pour".into()), Some(&state)),
        failing(&steps, environment, Refused::NoAction("pour".into()), None),
        failing(&steps, candidate, arity, None),
        failing(&steps, candidate, Refused::NoObject("blue".into()), None),
        failing(&steps, candidate, ty, None),
        failing(&steps, environment, Refused::NoEffect, None),
        no_first_action(Some(("(boil)", &hot())), Some(&state)),
        no_first_action(None, None),
    ];
    insta::assert_snapshot!(texts.join("\n\n---\n\n"));
}

#[test]
fn plans() {
    let state = description(&["The kettle is cold."]);
    let tried = |steps: &[&str], executed, state, written| {
        Environment { steps: &strings(steps), executed, violates: false, state, written }.text()
    };
    let reason = |text: &str, quote: Option<(u32, &str)>| {
        let quote = quote.map(|(line, text)| Quote { file: "problem".into(), line, text: text.into() });
        (text.to_owned(), quote)
    };
    let reasons = [
        reason("the goal (served red) can never become true", Some((5, "(served red))))"))),
        reason("no action adds (clean red), and it does not hold initially", None),
    ];
    let texts = [
        step(4, "(pour blue)", &hot()),
        goal_missed(&hot()),
        tried(&["(boil)", "(pour red)"], 1, Some(&state), true),
        tried(&["(pour red)"], 0, Some(&state), false),
        tried(&["(boil)", "(pour red)"], 2, Some(&state), true),
        tried(&["(boil)"], 1, None, true),
        tried(&[], 0, None, true),
        no_plan(NoPlan::Unreachable, &reasons),
        no_plan(NoPlan::Proven, &[]),
        no_plan(NoPlan::Exhausted, &reasons[..1]),
        no_plan(NoPlan::Limit("the time limit was reached before a plan was found"), &[]),
        no_plan(NoPlan::Unsupported("durative actions"), &[]),
    ];
    insta::assert_snapshot!(texts.join("\n\n---\n\n"));
}

#[test]
fn texts_and_edits() {
    let domain = "(define (domain kitchen)\n  (:predicates (hot))\n  (:action boil\n    :parameters ()\n    :effect (hott)))";
    let checked = check(Texts { domain: Some(domain), problem: None }, "");
    let edits = |applied, refused| not_edited(Edits { applied, refused });
    assert_eq!((edits(1, 2), edits(1, 0)), (None, None));
    let texts = [
        pddl(&checked, "domain").unwrap(),
        lines("The plan has lines that are no steps.".into(), &[]),
        no_effect(&strings(&["wait"])),
        no_effect(&strings(&["wait", "boil", "pour"])),
        edits(0, 0).unwrap(),
        edits(0, 1).unwrap(),
        edits(0, 3).unwrap(),
        not_shared("action", &strings(&["boil ()", "pour (?c - cup)"])),
        not_shared("object", &strings(&["blue - cup"])),
    ];
    assert_eq!(pddl(&checked, "problem"), None);
    insta::assert_snapshot!(texts.join("\n\n---\n\n"));
}

#[test]
fn replies_that_are_wrong_or_of_no_use() {
    let found = |severity, message: &str, help: &[&str]| ReportedDiagnostic {
        code: "x.y".into(),
        severity,
        message: message.into(),
        file: "reply".into(),
        line: 1,
        column: 1,
        start: 0,
        end: 0,
        help: strings(help),
    };
    use planforge_contract::ReportedSeverity::{Advice, Error, Warning};
    assert_eq!(reply(&[found(Advice, "a comment was left out", &[])]), None);
    let texts = [
        reply(&[
            found(Error, "there is no action `fly`", &["its actions are `go` and `take`"]),
            found(Warning, "`go` was modified twice", &[]),
            found(Advice, "a comment was left out", &[]),
        ])
        .unwrap(),
        unusable(&strings(&["the reply holds no domain", "the reply was cut off"])),
    ];
    insta::assert_snapshot!(texts.join("\n\n---\n\n"));
}

#[test]
fn what_is_long_is_cut_and_says_so() {
    let many: Vec<Unmet> = (0..13).flat_map(|_| hot()).collect();
    assert!(step(1, "(a)", &many).ends_with("There are 16 more."));
    let sentences: Vec<String> = (0..45).map(|n| format!("Fact {n}.")).collect();
    let state = StateDescription { sentences, atoms: Vec::new() };
    let text = failing(&["(a)"], RefusedBy::Environment, Refused::Withheld, Some(&state));
    assert!(text.ends_with("- Fact 39.\n- and 5 more."), "{text}");
    let atoms = StateDescription { sentences: vec![], atoms: strings(&["(hot)"]) };
    let text = failing(&["(a)"], RefusedBy::Environment, Refused::Withheld, Some(&atoms));
    assert!(text.ends_with("- (hot)"), "atoms stand in for sentences: {text}");
    let found: Vec<ReportedDiagnostic> = Vec::new();
    assert_eq!(lines("Opening.".into(), &found), "Opening.");
}
