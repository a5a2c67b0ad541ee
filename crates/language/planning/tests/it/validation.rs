//! Plan files in all supported forms, and the validator's findings about wrong plans.

use crate::support::read;
use planforge_diagnostics::SourceId;
use planforge_planning::{
    Algorithm, CODES, PlanOptions, SearchOutcome, Unlimited, ValidationDecision, ValidationReport,
    parse_plan, plan, validate,
};

const DOMAIN: &str = "(define (domain cups) (:requirements :typing) (:types cup table - object)
 (:predicates (on ?c - cup ?t - table) (full ?c - cup) (free ?t - table) (held ?c - cup) (hand))
 (:action lift :parameters (?c - cup ?t - table) :precondition (and (on ?c ?t) (hand))
  :effect (and (held ?c) (not (hand)) (not (on ?c ?t)) (free ?t)))
 (:action put :parameters (?c - cup ?t - table) :precondition (and (held ?c) (free ?t))
  :effect (and (on ?c ?t) (hand) (not (held ?c)) (not (free ?t))))
 (:action turn :parameters (?c - cup) :precondition (held ?c) :effect (and (not (held ?c)) (held ?c))))";
const PROBLEM: &str =
    "(define (problem one) (:domain cups) (:objects red blue - cup left right middle - table)
 (:init (on red left) (on blue right) (free middle) (hand)) (:goal (and (on red right) (on blue left))))";
const GOOD: [&str; 6] = [
    "lift red left",
    "put red middle",
    "lift blue right",
    "put blue left",
    "lift red middle",
    "put red right",
];

fn check(plan: &str) -> ValidationReport {
    let (domain, problem) = read(DOMAIN, PROBLEM);
    let report = validate(&domain, &problem, &parse_plan(plan, SourceId(2)), &mut Unlimited).unwrap();
    for diagnostic in &report.diagnostics {
        assert!(CODES.iter().any(|c| c.code == diagnostic.code), "{} is not explained", diagnostic.code);
    }
    let errors = report.diagnostics.iter().any(|d| d.is_error());
    assert_eq!(errors, report.decision == ValidationDecision::Invalid);
    report
}

fn lines(form: impl Fn(usize, &str) -> String) -> String {
    GOOD.iter().enumerate().map(|(i, s)| form(i, s) + "\n").collect()
}

#[test]
fn plans_are_read_in_every_form() {
    let forms = [
        lines(|_, s| format!("({s})")),
        lines(|_, s| format!("( {}  )   ; a comment", s.to_uppercase())),
        lines(|i, s| format!("{i}.001: ({s}) [1.0]")) + "; cost = 6 (unit cost)\n",
        lines(|i, s| format!("{i}: ({s})")).lines().rev().collect::<Vec<_>>().join("\r\n"),
        lines(|_, s| s.to_owned()),
        lines(|i, s| format!("{}. ({s})", i + 1)),
        lines(|i, s| format!("step {i}: {s}")),
        lines(|_, s| format!("- ({s}")),
        lines(|_, s| {
            let words: Vec<&str> = s.split(' ').collect();
            format!("{}({})", words[0], words[1..].join(", "))
        }),
        format!("```\n{}\n```\n", lines(|_, s| format!("({s})"))),
        GOOD.map(|s| format!("({s})")).join(" "),
    ];
    // The fourth has its lines in reverse: times decide, not lines.
    for form in &forms {
        let report = check(form);
        assert_eq!(report.steps, 6, "{form}\n{:?}", report.diagnostics);
        assert_eq!(report.decision, ValidationDecision::Valid, "{form}\n{:?}", report.diagnostics);
        assert_eq!(report.cost, Some(6.0));
    }
}

#[test]
fn every_fault_of_a_plan_file_is_reported_with_its_place() {
    let plan = "Here is the plan\n(lift red left)\n(lft red left)\n(put red)\n(put rde middle)\n(put left red)\n(put (red) middle)\n3:\n";
    let report = check(plan);
    assert_eq!(report.decision, ValidationDecision::Invalid);
    let mut seen: Vec<(u32, &str, &str)> = report
        .diagnostics
        .iter()
        .map(|d| {
            let span = d.primary().unwrap().span;
            (span.start, d.code.as_ref(), &plan[span.range()])
        })
        .collect();
    seen.sort();
    let seen: Vec<(&str, &str)> = seen.into_iter().map(|(_, c, t)| (c, t)).collect();
    let expected = [
        ("plan.garbage", "Here is the plan"),
        ("plan.unknown-action", "lft"),
        ("plan.arity", "(put red)"),
        ("plan.unknown-object", "rde"),
        ("plan.type-mismatch", "left"),
        ("plan.type-mismatch", "red"),
        ("plan.garbage", "(put "),
        ("plan.garbage", ":"),
    ];
    assert_eq!(seen, expected);
    let help: Vec<&String> = report.diagnostics.iter().flat_map(|d| &d.help).collect();
    assert!(
        help.iter().any(|h| *h == "did you mean lift?") && help.iter().any(|h| *h == "did you mean red?")
    );
}

#[test]
fn the_failing_step_lists_all_conditions_and_what_changed_them() {
    let report = check("(lift red left)\n(put red middle)\n(lift blue right)\n(put red middle)\n");
    let failing = report.failing_step.as_ref().unwrap();
    assert_eq!((failing.index, failing.text.as_str()), (3, "(put red middle)"));
    let texts: Vec<&str> = failing.conditions.iter().map(|c| c.text.as_str()).collect();
    assert_eq!(texts, ["(held red)", "(free middle)"]);
    assert_eq!(failing.conditions[0].changed_by, Some(1));
    assert_eq!(failing.conditions[0].why, "(held red) is false since step 2 (put red middle)");
    assert_eq!(failing.conditions[0].remedy, "(held red), which lift, turn can add");
    assert_eq!(&DOMAIN[failing.conditions[1].place.span.range()], "(free ?t)");
    assert_eq!(report.trace.len(), 3);
    let state = report.state_after(3);
    let state: Vec<String> = state.iter().map(|a| report.symbols.atom(a)).collect();
    assert_eq!(state, ["(on red middle)", "(free left)", "(free right)", "(held blue)"]);
}

#[test]
fn missing_goals_are_listed_at_the_end() {
    let report = check("(lift red left)\n(put red left)\n");
    assert_eq!(report.decision, ValidationDecision::Invalid);
    let missing: Vec<&str> = report.missing_goals.iter().map(|c| c.text.as_str()).collect();
    assert_eq!(missing, ["(on red right)", "(on blue left)"]);
    assert!(report.failing_step.is_none());
    assert_eq!(&PROBLEM[report.missing_goals[0].place.span.range()], "(on red right)");
}

#[test]
fn an_atom_deleted_and_added_in_one_step_holds() {
    let plan = "(lift red left)\n(turn red)\n(put red middle)\n(lift blue right)\n(put blue left)\n(lift red middle)\n(put red right)\n";
    assert_eq!(check(plan).decision, ValidationDecision::Valid);
}

#[test]
fn steps_at_one_time_are_tested_in_the_state_before_them() {
    let report = check("0: (lift red left)\n0: (put red middle)\n");
    assert_eq!(report.decision, ValidationDecision::Invalid);
    assert_eq!(
        report.diagnostics[0].message,
        "step 2 (put red middle) at 0 is not applicable: (held red) is false from the start"
    );
}

#[test]
fn each_strange_plan_file_gives_one_clear_answer() {
    assert_eq!(check("").missing_goals.len(), 2);
    assert_eq!(check("; only a comment\n\n").steps, 0);
    for garbage in [
        "\0\u{1}\u{fffd}",
        "((((((",
        ")))",
        "[1]",
        "(",
        "()",
        "0.5: ",
        "1.",
        "- ",
        "é(",
        "(lift red left) trailing",
    ] {
        let report = check(garbage);
        assert_eq!(report.decision, ValidationDecision::Invalid, "{garbage:?}");
        assert!(!report.diagnostics.is_empty());
    }
}

#[test]
fn an_unset_cost_counter_costs_nothing_in_the_planner_and_in_the_validator() {
    const CHANGED: &str = "(:action b :parameters () :effect (and (p) (increase (total-cost) 1)))";
    for (other_action, metric, cost) in [
        (CHANGED, "(total-cost)", 0.0),
        // Nothing sets the counter, and nothing changes it.
        ("", "(total-cost)", 0.0),
        ("", "(+ 2 (* 3 (total-cost)))", 2.0),
    ] {
        let domain = format!(
            "(define (domain d) (:predicates (p)) (:functions (total-cost))
              (:action a :parameters () :effect (p)) {other_action})"
        );
        let problem =
            format!("(define (problem x) (:domain d) (:init) (:goal (p)) (:metric minimize {metric}))");
        let (domain, problem) = read(&domain, &problem);
        let options = PlanOptions { algorithm: Algorithm::AStar, ..PlanOptions::default() };
        let SearchOutcome::Plan(found) = plan(&domain, &problem, &options, &mut Unlimited).unwrap().outcome
        else {
            panic!("the task has a plan")
        };
        let report = validate(&domain, &problem, &parse_plan("(a)", SourceId(2)), &mut Unlimited).unwrap();
        assert_eq!((found.cost, report.cost), (Some(cost), Some(cost)), "{other_action} {metric}");
    }
}

#[test]
fn a_metric_without_a_value_is_called_that_and_has_none_in_the_validator() {
    let price = "(:action b :parameters () :effect (increase (changed) 1))";
    for metric in ["(price)", "(* 2 (price))", "(+ (total-cost) (price))", "(/ (total-cost) 0)", "(changed)"]
    {
        let (domain, problem) = read(
            &format!(
                "(define (domain d) (:predicates (p)) (:functions (total-cost) (price) (changed))
                  (:action a :parameters () :effect (and (p) (increase (total-cost) 1))) {price})"
            ),
            &format!("(define (problem x) (:domain d) (:init) (:goal (p)) (:metric minimize {metric}))"),
        );
        let options = PlanOptions { algorithm: Algorithm::AStar, ..PlanOptions::default() };
        let outcome = plan(&domain, &problem, &options, &mut Unlimited).unwrap().outcome;
        let SearchOutcome::Unsupported(why) = outcome else { panic!("{metric}: {outcome:?}") };
        assert_eq!(why[0].what, "a metric that has no value in any state", "{metric}");
        let report = validate(&domain, &problem, &parse_plan("(a)", SourceId(2)), &mut Unlimited).unwrap();
        assert_eq!((report.decision, report.cost), (ValidationDecision::Valid, None), "{metric}");
    }
}
