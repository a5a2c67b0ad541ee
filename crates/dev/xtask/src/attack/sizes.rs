//! Texts of pathological sizes through the `planforge` command: no signal, no panic, and an end within the limits.

use super::command::{Ended, run_planforge};
use super::context::Context;
use super::table::Row;
use std::fs;

/// Repetitions at scale 1; never fewer than a hundredth of it.
const SIZE: usize = 50_000;

struct Text {
    name: &'static str,
    domain: String,
    problem: String,
    plan: String,
}

const DOMAIN: &str = "(define (domain d) (:requirements :adl :fluents :derived-predicates)
 (:predicates (p) (q ?x) (e ?x ?y)) (:functions (f) (total-cost))
 (:action a :parameters () :precondition (and) :effect (p))
 (:action b :parameters (?x) :precondition (p) :effect (q ?x)))";

fn domain_with(section: &str) -> String {
    DOMAIN.strip_suffix(')').unwrap_or(DOMAIN).to_owned() + section + ")"
}

fn problem(objects: &str, init: &str, rest: &str) -> String {
    format!("(define (problem x) (:domain d) (:objects {objects}) (:init {init}) {rest})")
}

fn texts(size: usize) -> Vec<Text> {
    let small = || problem("o", "(= (f) 1)", "(:goal (p))");
    let of_domain = |name, section: String| Text {
        name,
        domain: domain_with(&section),
        problem: small(),
        plan: "(a)".to_owned(),
    };
    let of_problem =
        |name, text: String| Text { name, domain: DOMAIN.to_owned(), problem: text, plan: "(a)".to_owned() };
    let each = |piece: &str, count: usize| -> String {
        (0..count).map(|n| piece.replace('#', &n.to_string()).replace('%', &(n + 1).to_string())).collect()
    };
    let nested = |open: &str, inner: &str| open.repeat(size) + inner + &")".repeat(size);
    let action = |condition: &str, effect: &str| {
        format!("(:action c :parameters () :precondition {condition} :effect {effect})")
    };
    let many = size / 5 * 16;
    let twelve = each("o# ", 12);
    let variables = "(?a ?b ?c ?d ?e ?f ?g ?h ?i ?j)";
    vec![
        of_problem("repeated goals", problem("o", "", &"(:goal (p))".repeat(size))),
        of_problem(
            "repeated initial states",
            problem("o", "", &("(:init (p))".repeat(size) + "(:goal (p))")),
        ),
        of_domain("repeated predicates", each("(:predicates (p#))", size)),
        of_domain("repeated actions", "(:action a :parameters () :effect (p))".repeat(size)),
        of_domain("a sum of many terms", action(&format!("(> (+ {}) 3)", "(f) ".repeat(size)), "(p)")),
        of_domain(
            "a product of many terms",
            action("(and)", &format!("(assign (f) (* {}))", "(f) ".repeat(size))),
        ),
        of_problem(
            "a metric of many terms",
            problem("o", "(= (f) 1)", &format!("(:goal (p)) (:metric minimize (+ {}))", "(f) ".repeat(size))),
        ),
        of_problem("nested conjunctions", problem("o", "", &format!("(:goal {})", nested("(and ", "(p)")))),
        of_problem("nested negations", problem("o", "", &format!("(:goal {})", nested("(not ", "(p)")))),
        of_problem(
            "nested quantifiers",
            problem("o", "", &format!("(:goal {})", nested("(forall (?x) ", "(p)"))),
        ),
        of_domain("nested effects", action("(and)", &nested("(when (p) ", "(p)"))),
        of_domain("nested sums", action(&format!("(> {} 1)", nested("(+ (f) ", "1")), "(p)")),
        of_domain("a wide disjunction", action(&format!("(or {})", "(not (p))".repeat(size)), "(p)")),
        of_domain("many effects", action("(and)", &format!("(and {})", "(when (p) (not (p)))".repeat(size)))),
        of_domain("types in a circle", format!("(:types {}t{many} - t0)", each("t# - t% ", many))),
        of_domain("types in a long chain", format!("(:types {})", each("t# - t% ", size))),
        of_domain("a chain of derived predicates", each("(:derived (d#) (d%))", size)),
        of_problem(
            "many objects",
            problem(&each("o# ", size), &each("(q o#)", size), "(:goal (forall (?x) (q ?x)))"),
        ),
        of_problem(
            "a tautology over ten variables",
            problem(&twelve, "", &format!("(:goal (forall {variables} (or (e ?a ?j) (not (e ?a ?j)))))")),
        ),
        of_problem(
            "a quantifier over ten variables",
            problem(
                &twelve,
                "",
                &format!(
                    "(:goal (forall {variables} (or (e ?a ?b) (e ?c ?d) (e ?e ?f) (e ?g ?h) (not (e ?i ?j)))))"
                ),
            ),
        ),
        Text {
            problem: problem(&twelve, "", "(:goal (e o1 o2))"),
            ..of_domain(
                "an action with ten parameters",
                format!(
                    "(:action c :parameters {variables} :precondition (and (q ?a) (q ?j)) :effect (e ?a ?j))"
                ),
            )
        },
        Text { plan: "(a)\n".repeat(size), ..of_problem("a long plan", small()) },
        Text { plan: "(".repeat(size), ..of_problem("a plan of parentheses", small()) },
    ]
}

pub(crate) fn run(context: &Context) -> Result<Row, String> {
    let mut row = Row::default();
    let size = context.scaled(SIZE).max(SIZE / 100);
    let files = ["size-domain.pddl", "size-problem.pddl", "size-plan"].map(|name| context.scratch.join(name));
    for text in texts(size) {
        for (file, content) in files.iter().zip([&text.domain, &text.problem, &text.plan]) {
            fs::write(file, content).map_err(|e| format!("{}: {e}", file.display()))?;
        }
        let [domain, problem, plan] = files.each_ref().map(|file| file.display().to_string());
        let limits = ["--time-limit", "10", "--memory-limit", "1000"];
        let calls: [Vec<&str>; 4] = [
            vec!["pddl", "validate", &domain, &problem],
            vec!["pddl", "validate", &domain, &problem, &plan],
            [&["pddl", "plan", &domain, &problem][..], &limits].concat(),
            [&["pddl", "plan", &domain, &problem, "--top-k", "3"][..], &limits].concat(),
        ];
        for call in calls {
            let what = format!("{}, {}", text.name, call[1..].join(" "));
            let differences = match run_planforge(context, &call)? {
                Ended::Code(code, stderr) => match outcome(code) {
                    Some(outcome) => {
                        row.count(outcome);
                        Vec::new()
                    }
                    None => vec![format!("exit code {code}: {stderr}")],
                },
                Ended::Signal => vec!["ended by a signal".to_owned()],
                Ended::TooLate => vec!["did not end".to_owned()],
            };
            row.record(&what, &differences);
        }
    }
    Ok(row)
}

/// The kind of an exit code; `None` for bugs and failures of the system.
fn outcome(code: i32) -> Option<&'static str> {
    match code {
        0 => Some("accepted or planned"),
        10 => Some("rejected or proven unsolvable"),
        20..=24 => Some("undecided, with the limit or the reason"),
        31 => Some("refused as input"),
        _ => None,
    }
}
