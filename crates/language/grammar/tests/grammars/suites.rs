//! Problems, actions, plans and objects.

use crate::corpus::{
    Folder, MUTANTS, action_errors, action_mutants, folders, layouts, problem_errors, problem_mutants,
};
use planforge_diagnostics::SourceId;
use planforge_grammar::{
    ActionHead, Grammar, action_grammar, objects_grammar, parameters_grammar, plan_grammar, problem_grammar,
};
use planforge_pddl::random::Random;
use planforge_pddl::{parse_domain, print_action};
use std::collections::BTreeMap;
use std::path::Path;

fn suites() -> Vec<Folder> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/suites");
    let suites = folders(&root, false);
    assert!(suites.len() >= 15, "{}", suites.len());
    suites
}

/// Counts of mutants by kind: rejected, all.
type Counts = BTreeMap<&'static str, (usize, usize)>;

fn count_rejected(grammar: &Grammar, mutants: Vec<(&'static str, String)>, counts: &mut Counts) {
    for (kind, text) in mutants {
        let count = counts.entry(kind).or_default();
        count.1 += 1;
        if grammar.accepts(&text) {
            panic!("{kind} accepted: {text}");
        }
        count.0 += 1;
    }
}

fn assert_accepts(grammar: &Grammar, text: &str, what: &str) {
    if !grammar.accepts(text) {
        let (read, rest) = text.split_at(grammar.accepted_prefix(text));
        panic!("{what}: {read}<HERE>{rest}");
    }
}

#[test]
fn problem_grammars_accept_every_reference_and_reject_mutants() {
    let (mut accepted, mut counts) = (0, Counts::new());
    for suite in suites() {
        for (name, text, problem) in &suite.problems {
            let grammar = problem_grammar(&suite.domain, Some(&problem.objects));
            let open = problem_grammar(&suite.domain, None);
            for layout in layouts(text).iter().chain([text]) {
                assert_accepts(&grammar, layout, name);
                assert_accepts(&open, layout, name);
                accepted += 1;
            }
            let mutants = problem_mutants(&suite.domain, problem, &mut Random::new(1));
            count_rejected(&grammar, mutants, &mut counts);
        }
    }
    assert!(accepted >= 400, "{accepted}");
    assert!(MUTANTS.iter().all(|kind| counts[kind].1 >= 50), "{counts:?}");
}

#[test]
fn action_grammars_accept_every_reference_and_reject_mutants() {
    let (mut accepted, mut counts) = (0, Counts::new());
    for suite in suites() {
        for action in &suite.domain.actions {
            let grammar = action_grammar(&suite.domain, ActionHead::Interface(action));
            let open = action_grammar(&suite.domain, ActionHead::Named(action.name.as_str()));
            let text = print_action(action);
            for layout in layouts(&text).iter().chain([&text]) {
                assert_accepts(&grammar, layout, &suite.name);
                assert_accepts(&open, layout, &suite.name);
                accepted += 1;
            }
            count_rejected(&grammar, action_mutants(&suite.domain, action, &mut Random::new(1)), &mut counts);
        }
    }
    assert!(accepted >= 400, "{accepted}");
    assert!(MUTANTS.iter().all(|kind| counts[kind].1 >= 20), "{counts:?}");
}

#[test]
fn random_problems_have_no_error_of_a_guaranteed_kind() {
    for suite in suites() {
        let (_, _, problem) = &suite.problems[0];
        let grammar = problem_grammar(&suite.domain, Some(&problem.objects));
        for n in 0..200 {
            let text = grammar.derive(&mut Random::stream(7, n), 12);
            if n < 5 {
                assert!(grammar.accepts(&text), "{text}");
            }
            let errors = problem_errors(&suite.domain, &text);
            assert_eq!(errors, Vec::<String>::new(), "{}: {text}", suite.name);
        }
    }
}

#[test]
fn random_actions_have_no_error_of_a_guaranteed_kind() {
    for suite in suites() {
        let grammars: Vec<Grammar> = suite
            .domain
            .actions
            .iter()
            .map(|action| action_grammar(&suite.domain, ActionHead::Interface(action)))
            .collect();
        for n in 0..200 {
            let text = grammars[n as usize % grammars.len()].derive(&mut Random::stream(7, n), 10);
            let errors = action_errors(&suite.domain, &text);
            assert_eq!(errors, Vec::<String>::new(), "{}: {text}", suite.name);
        }
    }
}

#[test]
fn plan_grammars_accept_the_plans_of_the_suites() {
    let mut accepted = 0;
    for suite in suites() {
        for (name, _, problem) in &suite.problems {
            let plan = Path::new(&suite.name).join(name.replace(".pddl", ".sol"));
            let Ok(plan) = std::fs::read_to_string(plan) else { continue };
            let plan: Vec<&str> = plan.lines().filter(|line| !line.starts_with(';')).collect();
            let grammar = plan_grammar(&suite.domain, Some(&problem.objects));
            assert_accepts(&grammar, &plan.join("\n"), name);
            assert!(!grammar.accepts(&format!(
                "{}\n({} zz-undeclared)",
                plan.join("\n"),
                suite.domain.actions[0].name
            )));
            accepted += 1;
        }
    }
    assert!(accepted >= 15, "{accepted}");
}

#[test]
fn objects_are_of_declared_types() {
    let suite = suites().into_iter().find(|s| s.name.ends_with("tyres")).unwrap();
    let grammar = objects_grammar(&suite.domain);
    assert!(grammar.accepts("(:objects w1 w2 - wheel\n  b - boot)"));
    assert!(!grammar.accepts("(:objects w1 - whel)"));
    assert!(!grammar.accepts("(:objects w1 - wheel - boot)"));
    assert!(!grammar.accepts("(:objects w1 - wheel b)"), "a type is not left out where the domain has types");
    let untyped = parse_domain("(define (domain d) (:predicates (p ?x)))", SourceId(0)).value;
    assert!(objects_grammar(&untyped).accepts("(:objects a b)"));
}

#[test]
fn parameters_have_declared_types_and_the_action_ends_behind_them() {
    let suite = suites().into_iter().find(|s| s.name.ends_with("tyres")).unwrap();
    let grammar = parameters_grammar(&suite.domain, Some("lift"));
    for accepted in
        ["(:action lift :parameters (?w ?v - wheel\n ?b - boot))", "(:action lift :parameters ())"]
    {
        assert!(grammar.accepts(accepted), "{accepted}");
    }
    for refused in [
        "(:action lower :parameters ())",
        "(:action lift :parameters (?w - whel))",
        "(:action lift :parameters (?w))",
        "(:action lift :parameters (w - wheel))",
        "(:action lift :parameters () :effect (and))",
    ] {
        assert!(!grammar.accepts(refused), "{refused}");
    }
}
