//! Plan files, read and validated against a small task.

use super::show;
use planforge_diagnostics::{SourceId, SourceMap};
use planforge_pddl::{parse_domain, parse_problem};
use planforge_planning::{CountingLimits, PlanFile, ValidationDecision, Validator, normalize, parse_plan};
use std::fmt::Write;
use std::sync::OnceLock;

const DOMAIN: &str = "(define (domain lamps) (:requirements :strips :typing :conditional-effects)
  (:types lamp) (:constants hall - lamp)
  (:predicates (lit ?l - lamp) (broken ?l - lamp) (done))
  (:action switch :parameters (?l - lamp)
    :precondition (and) :effect (and (when (not (broken ?l)) (lit ?l))))
  (:action pair :parameters (?a ?b - lamp) :precondition (and (lit ?a) (lit ?b)) :effect (done))
  (:action wait :parameters () :precondition (and) :effect (and)))";
const PROBLEM: &str = "(define (problem two) (:domain lamps) (:objects desk - lamp)
  (:init (broken desk)) (:goal (lit hall)))";

/// Limits of each validation, which end at the same place on every machine.
fn limits() -> CountingLimits {
    CountingLimits { polls: 10_000_000, bytes: 256 << 20 }
}

fn validator() -> &'static Validator {
    static VALIDATOR: OnceLock<Validator> = OnceLock::new();
    VALIDATOR.get_or_init(|| {
        let domain = parse_domain(DOMAIN, SourceId(0)).value;
        let problem = parse_problem(PROBLEM, SourceId(1)).value;
        Validator::new(normalize(&domain, &problem).expect("the task is right"))
    })
}

/// A plan's steps as a planner would write them.
fn written(plan: &PlanFile) -> String {
    let mut text = String::new();
    for step in &plan.steps {
        let args: String = step.args.iter().fold(String::new(), |all, a| all + " " + &a.text);
        let _ = writeln!(text, "({}{args})", step.name.text);
    }
    text
}

/// Reads and validates. A plan of steps in parentheses that is written out again has the same steps and verdict.
pub fn plan_file(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let plan = parse_plan(text, SourceId(2));
    for step in &plan.steps {
        assert!(text.get(step.span.range()).is_some(), "a step is no slice of its file");
        for word in std::iter::once(&step.name).chain(&step.args) {
            assert_eq!(text.get(word.span.range()), Some(word.text.as_str()), "a word is not its slice");
        }
    }
    let mut sources = SourceMap::single("domain", DOMAIN);
    sources.add("problem", PROBLEM);
    sources.add("plan", text);
    show(&plan.diagnostics, &sources);
    let report = validator().validate(&plan, &mut limits());
    show(&report.diagnostics, &sources);
    if report.decision == ValidationDecision::Valid {
        assert!(report.failing_step.is_none() && report.missing_goals.is_empty());
    }

    // Steps without parentheses are guesses at prose, and prose may hold parentheses anywhere.
    if plan.steps.iter().any(|s| s.bare) {
        return;
    }
    let out = written(&plan);
    let again = parse_plan(&out, SourceId(2));
    assert_eq!(written(&again), out, "a written plan reads differently");
    if plan.diagnostics.is_empty() && plan.steps.iter().all(|s| s.duration.is_none()) {
        assert_eq!(validator().validate(&again, &mut limits()).decision, report.decision, "{out}");
    }
}
