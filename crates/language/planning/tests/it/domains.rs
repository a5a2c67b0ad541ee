//! Domains compared by the product of their models: by hand, against a brute-force interpreter, on our suites.

use crate::support::{Features, Interpreter, TextState, random_task, read, read_task, suites};
use planforge_diagnostics::SourceId;
use planforge_pddl::ast::{Condition, Domain, Effect, Problem};
use planforge_pddl::mutate::{
    MutationKind, RewriteKind, all_mutations, apply_mutations, apply_mutations_to_problem, random_mutations,
    random_rewrite,
};
use planforge_pddl::random::Random;
use planforge_pddl::{print_domain, print_problem};
use planforge_planning::equivalence::ComparedSide;
use planforge_planning::equivalence::domains::{
    Behaviour, ComparisonVerdict, Costs, DifferenceKind, DomainComparison, EquivalenceLimits, SearchEnd,
    compare_domains, overall_verdict,
};
use planforge_planning::walk::{NamedStep, Refusal, Semantics};
use planforge_planning::{CountingLimits, StopReason, Unlimited, ValidationDecision, parse_plan, validate};
use std::collections::{BTreeSet, VecDeque};

fn compare(domains: [&Domain; 2], problems: [&Problem; 2]) -> DomainComparison {
    compare_domains(domains, problems, &EquivalenceLimits::default(), &mut Unlimited).unwrap()
}

/// The effects of a rover that carries a sample from one of two places to the other.
const ROVER: &str = "(define (domain rover) (:requirements :typing) (:types place sample)
  (:predicates (at ?p - place) (lies ?s - sample ?p - place) (has ?s - sample) (empty) (road ?a ?b - place))
  (:action drive :parameters (?from ?to - place) :precondition (and (at ?from) (road ?from ?to))
    :effect (and (at ?to) (not (at ?from))))
  (:action take :parameters (?s - sample ?p - place) :precondition (and (at ?p) (lies ?s ?p) (empty))
    :effect (and (has ?s) (not (lies ?s ?p)) (not (empty))))
  (:action drop :parameters (?s - sample ?p - place) :precondition (and (at ?p) (has ?s))
    :effect (and (lies ?s ?p) (empty) (not (has ?s)))))";

const TASK: &str = "(define (problem one) (:domain rover) (:objects a b - place s t - sample)
  (:init (at a) (lies s a) (lies t b) (empty) (road a b) (road b a)) (:goal (and (lies s b) (lies t a))))";

fn rover(edits: &[(&str, &str)]) -> DomainComparison {
    rover_on(TASK, edits, &EquivalenceLimits::default())
}

fn rover_on(task: &str, edits: &[(&str, &str)], limits: &EquivalenceLimits) -> DomainComparison {
    let mut changed = ROVER.to_owned();
    for (from, to) in edits {
        assert!(changed.contains(from), "{from}");
        changed = changed.replace(from, to);
    }
    let (first, problem) = read(ROVER, task);
    let (second, other) = read(&changed, task);
    compare_domains([&first, &second], [&problem, &other], limits, &mut Unlimited).unwrap()
}

fn steps(list: &[NamedStep]) -> Vec<String> {
    list.iter().map(ToString::to_string).collect()
}

fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(ToString::to_string).collect()
}

#[test]
fn a_dropped_precondition_shows_after_the_shortest_sequence_that_needs_it() {
    let found = rover(&[("(lies ?s ?p) (empty))", "(lies ?s ?p))")]);
    assert_eq!(found.verdict(), ComparisonVerdict::Different);
    assert_eq!((found.shown_after(), &found.costs), (Some(3), &Costs::NotAsked));
    let Behaviour::Different(found) = found.behaviour else { panic!("{found:?}") };
    // Of the sequences of three steps the first by name.
    assert_eq!(steps(&found.steps), words(&["(take s a)", "(drive a b)", "(take t b)"]));
    let DifferenceKind::Refused { by, refusal, conditions } = found.kind else { panic!("{:?}", found.kind) };
    assert_eq!((by, refusal), (ComparedSide::First, Refusal::NotApplicable));
    assert!(
        conditions.len() == 1 && conditions[0].starts_with("(empty) is false since step 1"),
        "{conditions:?}"
    );
}

#[test]
fn irrelevant_changes_are_not_differences() {
    // Names of parameters, order and repetition give the same ground task, so nothing is searched.
    let found = rover(&[
        ("(and (at ?p) (has ?s))", "(and (has ?s) (at ?p) (at ?p))"),
        (
            "(?from ?to - place) :precondition (and (at ?from) (road ?from ?to))",
            "(?x ?y - place) :precondition (and (road ?x ?y) (at ?x))",
        ),
        ("(and (at ?to) (not (at ?from)))", "(and (not (at ?x)) (at ?y))"),
    ]);
    assert_eq!(found.behaviour, Behaviour::Equal { same_model: true });
    // A static predicate added as an effect, where it holds already.
    let found = rover(&[("(at ?to) (not", "(at ?to) (road ?from ?to) (not")]);
    assert_eq!(found.behaviour, Behaviour::Equal { same_model: true });
    // A precondition that the others imply: told by the search alone.
    let found = rover(&[
        ("(has ?s))\n", "(has ?s) (not (empty)))\n"),
        (":typing", ":typing :negative-preconditions"),
    ]);
    assert_eq!((found.behaviour, found.pairs), (Behaviour::Equal { same_model: false }, 16));
    // A fact that nothing depends on.
    let found = rover(&[
        ("(empty) (road", "(empty) (seen ?p - place) (road"),
        ("(at ?to) (not", "(at ?to) (seen ?to) (not"),
    ]);
    assert_eq!(found.behaviour, Behaviour::Equal { same_model: true });
    // An action that is never applicable, and one that is there under another name and number of arguments.
    let found = rover(&[
        (
            "(:action drop",
            "(:action fly :parameters (?p - place) :precondition (and (empty) (not (empty)))
        :effect (at ?p)) (:action drop",
        ),
        (":typing", ":typing :negative-preconditions"),
    ]);
    assert_eq!(found.verdict(), ComparisonVerdict::Equal);
}

#[test]
fn states_over_different_predicates_compare_by_applicable_actions() {
    let renamed = |text: &str| text.replace("(empty)", "(free)").replace("(has ", "(holds ");
    let (first, problem) = read(ROVER, TASK);
    let (second, other) = read(&renamed(ROVER), &renamed(TASK));
    let found = compare([&first, &second], [&problem, &other]);
    assert_eq!((found.verdict(), found.pairs), (ComparisonVerdict::Equal, 16));
}

#[test]
fn parameters_in_another_order_are_other_actions() {
    let found = rover(&[(
        "(?s - sample ?p - place) :precondition (and (at ?p) (lies",
        "(?p - place ?s - sample) :precondition (and (at ?p) (lies",
    )]);
    let Behaviour::Different(found) = found.behaviour else { panic!("{found:?}") };
    assert_eq!(steps(&found.steps), words(&["(take a s)"]));
    let DifferenceKind::Refused { by: ComparedSide::First, refusal: Refusal::WrongType { .. }, .. } =
        found.kind
    else {
        panic!("{:?}", found.kind)
    };
}

#[test]
fn a_missing_action_differs_once_the_other_can_execute_it() {
    let found = rover(&[("(:action drop", "(:action put")]);
    let Behaviour::Different(found) = found.behaviour else { panic!("{found:?}") };
    assert_eq!(steps(&found.steps), words(&["(take s a)", "(drop s a)"]));
    let unknown = Refusal::UnknownAction { name: "drop".to_owned() };
    assert_eq!(
        found.kind,
        DifferenceKind::Refused { by: ComparedSide::Second, refusal: unknown, conditions: Vec::new() }
    );
}

#[test]
fn goals_may_differ_where_every_sequence_is_executed_by_both() {
    // A dropped sample cannot be taken again, and no condition reads its place: only the goal differs.
    let task = TASK.replace("(lies t b) ", "").replace("(lies t a)", "(at b)").replace("(road b a)", "");
    let found = rover_on(
        &task,
        &[("(lies ?s ?p) (empty) (not (has ?s))", "(not (has ?s))")],
        &EquivalenceLimits::default(),
    );
    let Behaviour::Different(found) = found.behaviour else { panic!("{found:?}") };
    assert_eq!(steps(&found.steps), words(&["(take s a)", "(drive a b)", "(drop s b)"]));
    let DifferenceKind::Goal { holds_in: ComparedSide::First, conditions } = found.kind else {
        panic!("{:?}", found.kind)
    };
    assert!(conditions.len() == 1 && conditions[0].starts_with("(lies s b) "), "{conditions:?}");
}

#[test]
fn costs_differ_on_their_own() {
    let priced = |cost: &str| {
        ROVER
            .replace(":typing", ":typing :action-costs")
            .replace("(road ?a ?b - place))", "(road ?a ?b - place)) (:functions (total-cost) - number)")
            .replace(
                "(empty) (not (has ?s))",
                &format!("(empty) (not (has ?s)) (increase (total-cost) {cost})"),
            )
    };
    let task = TASK.replace("(empty)", "(empty) (= (total-cost) 0)");
    let metric = task.replace("(lies t a))))", "(lies t a))) (:metric minimize (total-cost)))");
    let run = |cost: &str, task: &str| {
        let (first, problem) = read(&priced("2"), task);
        let (second, _) = read(&priced(cost), task);
        compare([&first, &second], [&problem, &problem])
    };
    let found = run("3", &metric);
    assert_eq!(
        (found.verdict(), &found.behaviour),
        (ComparisonVerdict::Different, &Behaviour::Equal { same_model: false })
    );
    let Costs::Different(cost) = found.costs else { panic!("{:?}", found.costs) };
    assert_eq!((steps(&cost.steps), cost.costs), (words(&["(take s a)", "(drop s a)"]), [2.0, 3.0]));
    assert_eq!(
        (run("2", &metric).costs, run("2.0", &metric).verdict()),
        (Costs::Equal, ComparisonVerdict::Equal)
    );
    assert_eq!(run("3", &task).costs, Costs::NotAsked);
}

#[test]
fn limits_leave_the_question_open_and_report_the_settled_length() {
    let edit = [("(lies ?s ?p) (empty))", "(lies ?s ?p))")];
    let at =
        |max_depth| rover_on(TASK, &edit, &EquivalenceLimits { max_depth, ..EquivalenceLimits::default() });
    for steps in 0..3 {
        let open = Behaviour::EqualUpTo { steps, end: SearchEnd::Depth };
        assert_eq!((at(Some(steps)).verdict(), at(Some(steps)).behaviour), (ComparisonVerdict::Open, open));
    }
    assert_eq!(at(Some(3)).shown_after(), Some(3));
    let few = rover_on(TASK, &edit, &EquivalenceLimits { max_pairs: 3, ..EquivalenceLimits::default() });
    assert_eq!(few.behaviour, Behaviour::EqualUpTo { steps: 1, end: SearchEnd::Pairs });
    let (domain, problem) = read(ROVER, TASK);
    let (other, _) = read(&ROVER.replace("(lies ?s ?p) (empty))", "(lies ?s ?p))"), TASK);
    let mut none = CountingLimits { polls: 0, bytes: u64::MAX };
    let stopped = compare_domains([&domain, &other], [&problem; 2], &EquivalenceLimits::default(), &mut none);
    match stopped {
        Ok(found) => assert_eq!(
            found.behaviour,
            Behaviour::EqualUpTo { steps: 0, end: SearchEnd::Stopped(StopReason::Time) }
        ),
        Err(error) => assert!(error.error.to_string().contains("time limit"), "{error:?}"),
    }
}

#[test]
fn no_ops_are_legal_under_one_of_the_two_readings() {
    // Staying where one is changes nothing.
    let task = TASK.replace("(road a b)", "(road a a) (road a b)");
    let edit = [
        ("(road ?from ?to))\n", "(road ?from ?to) (not (= ?from ?to)))\n"),
        (":typing", ":typing :negative-preconditions :equality"),
    ];
    let strips = rover_on(&task, &edit, &EquivalenceLimits::default());
    assert_eq!(strips.shown_after(), Some(1));
    let dropped =
        EquivalenceLimits { semantics: Semantics::GroundNoOpsDropped, ..EquivalenceLimits::default() };
    assert_eq!(rover_on(&task, &edit, &dropped).verdict(), ComparisonVerdict::Equal);
}

#[test]
fn a_domain_that_does_not_fit_the_problem_gives_no_verdict() {
    let (first, problem) = read(ROVER, TASK);
    let (second, _) = read(&ROVER.replace("(empty)", "(free)"), TASK);
    let error =
        compare_domains([&first, &second], [&problem; 2], &EquivalenceLimits::default(), &mut Unlimited);
    assert_eq!(error.unwrap_err().side, ComparedSide::Second);
}

/// Result of brute force: the first difference in behaviour, the first in cost, and true if everything was
/// visited.
#[derive(Debug, PartialEq)]
struct Expected {
    behaviour: Option<(Vec<String>, &'static str)>,
    cost: Option<Vec<String>>,
}

/// Executes both texts side by side. `None` beyond `cap` pairs.
fn brute_force(models: [&Interpreter<'_>; 2], priced: bool, cap: usize) -> Option<Expected> {
    let start = [models[0].initial.clone(), models[1].initial.clone()];
    let goals = |pair: &[TextState; 2]| [models[0].is_goal(&pair[0]), models[1].is_goal(&pair[1])];
    let mut expected = Expected { behaviour: None, cost: None };
    let differ = |path: &[String], pair: &[TextState; 2]| match goals(pair) {
        [true, false] => Some((path.to_vec(), "goal first")),
        [false, true] => Some((path.to_vec(), "goal second")),
        _ => None,
    };
    expected.behaviour = differ(&[], &start);
    let mut met = BTreeSet::from([start.clone()]);
    let mut open = VecDeque::from([(start, Vec::new())]);
    while let (Some((pair, path)), None) = (open.pop_front(), &expected.behaviour) {
        if met.len() > cap {
            return None;
        }
        let next = [models[0].successors(&pair[0]), models[1].successors(&pair[1])];
        let actions: BTreeSet<&String> = next[0].keys().chain(next[1].keys()).collect();
        for action in actions {
            let longer: Vec<String> = path.iter().chain([action]).cloned().collect();
            let (a, b) = match (next[0].get(action), next[1].get(action)) {
                (Some(a), Some(b)) => (a, b),
                (None, _) => {
                    expected.behaviour = Some((longer, "refused first"));
                    break;
                }
                (_, None) => {
                    expected.behaviour = Some((longer, "refused second"));
                    break;
                }
            };
            if priced && a.1 != b.1 && expected.cost.is_none() {
                expected.cost = Some(longer.clone());
            }
            let reached = [a.0.clone(), b.0.clone()];
            if met.insert(reached.clone()) {
                expected.behaviour = differ(&longer, &reached);
                open.push_back((reached, longer));
                if expected.behaviour.is_some() {
                    break;
                }
            }
        }
    }
    Some(expected)
}

fn summary(found: &DomainComparison) -> Expected {
    let behaviour = match &found.behaviour {
        Behaviour::Different(d) => {
            let kind = match d.kind {
                DifferenceKind::Refused { by: ComparedSide::First, .. } => "refused first",
                DifferenceKind::Refused { by: ComparedSide::Second, .. } => "refused second",
                DifferenceKind::Goal { holds_in: ComparedSide::First, .. } => "goal first",
                DifferenceKind::Goal { holds_in: ComparedSide::Second, .. } => "goal second",
            };
            Some((steps(&d.steps), kind))
        }
        Behaviour::Equal { .. } => None,
        Behaviour::EqualUpTo { .. } => panic!("no limit was set: {found:?}"),
    };
    let cost = match &found.costs {
        Costs::Different(cost) => Some(steps(&cost.steps)),
        Costs::Equal | Costs::NotAsked => None,
        Costs::NotCompared { what, .. } => panic!("{what}"),
    };
    Expected { behaviour, cost }
}

fn mirror(expected: Expected) -> Expected {
    let turned = |kind| match kind {
        "refused first" => "refused second",
        "refused second" => "refused first",
        "goal first" => "goal second",
        _ => "goal first",
    };
    Expected { behaviour: expected.behaviour.map(|(steps, kind)| (steps, turned(kind))), ..expected }
}

#[test]
fn random_domains_compare_as_brute_force_says_and_the_same_both_ways() {
    let kinds: Vec<(MutationKind, f64)> = MutationKind::CLASSICAL.map(|kind| (kind, 1.0)).to_vec();
    let [mut equal, mut refused, mut goal, mut cost] = [0; 4];
    for seed in 0..150 {
        let features = Features { adl: seed % 2 == 0, derived: seed % 3 == 0, costs: seed % 5 < 2 };
        let (domain, problem_text) = random_task(seed, features);
        let (first, problem) = read(&domain, &problem_text);
        let mutations = random_mutations(&first, &kinds, 1 + seed as usize % 2, &mut Random::new(seed));
        let (dearer, _) = read(&domain.replace("(total-cost) 2)", "(total-cost) 3)"), &problem_text);
        let second = apply_mutations(&dearer, &mutations);
        let other = apply_mutations_to_problem(&problem, &mutations);
        let models = [Interpreter::new(&first, &problem), Interpreter::new(&second, &other)];
        let Some(expected) = brute_force([&models[0], &models[1]], features.costs, 150) else { continue };
        let found = compare([&first, &second], [&problem, &other]);
        assert_eq!(summary(&found), expected, "seed {seed}: {mutations:?}");
        let back = compare([&second, &first], [&other, &problem]);
        assert_eq!(summary(&back), mirror(summary(&found)), "seed {seed}");
        assert_eq!(back.pairs, found.pairs);
        equal += usize::from(found.verdict() == ComparisonVerdict::Equal);
        cost += usize::from(expected.cost.is_some());
        match expected.behaviour {
            Some((_, kind)) if kind.starts_with("goal") => goal += 1,
            Some(_) => refused += 1,
            None => {}
        }
    }
    println!("{equal} equal, {refused} refused, {goal} goals, {cost} costs");
    assert!(equal >= 10 && refused >= 20 && goal >= 3 && cost >= 3);
}

/// Conjunctions turned round and their first part repeated, actions turned round.
fn reorder(domain: &Domain) -> Domain {
    let mut other = domain.clone();
    other.actions.reverse();
    for action in &mut other.actions {
        if let Some(Condition::And(parts, _)) = &mut action.precondition {
            parts.reverse();
            parts.extend(parts.first().cloned());
        }
        if let Some(Effect::And(parts, _)) = &mut action.effect {
            parts.reverse();
        }
    }
    other
}

#[test]
fn every_suite_domain_equals_its_reordered_copy_without_a_search() {
    let all = suites();
    assert!(all.len() >= 14);
    for suite in all {
        let numbers = (1..=5).filter(|n| suite.join(format!("p{n:02}.pddl")).is_file());
        assert!(numbers.clone().next().is_some(), "{}", suite.display());
        for number in numbers {
            let (domain, problem) = read_task(&suite, number);
            let found = [
                compare([&domain, &domain], [&problem; 2]),
                compare([&domain, &reorder(&domain)], [&problem; 2]),
            ];
            for one in &found {
                assert_eq!(one.behaviour, Behaviour::Equal { same_model: true }, "{:?}", problem.name);
            }
            assert_eq!(overall_verdict(&found), ComparisonVerdict::Equal);
        }
    }
}

/// Confirms a difference with the validator, which does not use grounding.
fn confirm(domains: [&Domain; 2], problem: &Problem, found: &DomainComparison) {
    let Behaviour::Different(difference) = &found.behaviour else { return };
    let plan = |steps: &[NamedStep]| {
        let text: String = steps.iter().map(|s| format!("{s}\n")).collect();
        parse_plan(&text, SourceId(2))
    };
    let reports = domains.map(|d| validate(d, problem, &plan(&difference.steps), &mut Unlimited).unwrap());
    let failing = reports.each_ref().map(|r| r.failing_step.as_ref().map(|s| s.index));
    let last = difference.steps.len().checked_sub(1);
    match &difference.kind {
        DifferenceKind::Refused { by: ComparedSide::First, conditions, refusal } => {
            assert_eq!(failing, [last, None]);
            // A wider type accepts objects that the other refuses.
            assert_eq!(conditions.is_empty(), *refusal != Refusal::NotApplicable);
        }
        DifferenceKind::Refused { by: ComparedSide::Second, .. } => assert_eq!(failing, [None, last]),
        DifferenceKind::Goal { holds_in, .. } => {
            let valid = reports.map(|r| r.decision == ValidationDecision::Valid);
            assert_eq!(valid, [*holds_in == ComparedSide::First, *holds_in == ComparedSide::Second]);
        }
    }
}

#[test]
fn every_single_mutant_of_two_suites_gets_a_verdict_and_every_difference_is_confirmed() {
    for suite in ["blocks", "garden"] {
        let (domain, problem) = read_task(&crate::support::suite(suite), 1);
        let mut counts = [0; 3];
        for kind in MutationKind::CLASSICAL.into_iter().filter(|k| *k != MutationKind::PredicateArgument) {
            for mutation in all_mutations(&domain, kind) {
                let mutant = mutation.apply(&domain);
                let found = compare([&domain, &mutant], [&problem; 2]);
                confirm([&domain, &mutant], &problem, &found);
                counts[found.verdict() as usize] += 1;
            }
        }
        println!("{suite}: {} equal, {} different, {} open", counts[0], counts[1], counts[2]);
        assert!(counts[0] > 0 && counts[1] > 20 && counts[2] == 0, "{suite}: {counts:?}");
    }
}

#[test]
fn every_rewrite_of_a_suite_s_domain_is_equal_to_it() {
    for suite in ["blocks", "garden", "parcels", "movie"] {
        let (domain, problem) = read_task(&crate::support::suite(suite), 1);
        for kind in RewriteKind::ALL {
            for seed in 0..6 {
                let Some(rewrite) = random_rewrite(&domain, kind, &mut Random::new(seed)) else { continue };
                let (written, _) = read(&print_domain(&rewrite.domain), &print_problem(&problem));
                let found = compare([&domain, &written], [&problem; 2]);
                assert_eq!(found.verdict(), ComparisonVerdict::Equal, "{suite}: {rewrite}");
            }
        }
    }
}

#[test]
fn every_rewrite_of_a_random_domain_is_equal_to_it() {
    let mut made = 0;
    for seed in 0..60 {
        let features = Features { adl: seed % 2 == 0, derived: seed % 3 == 0, costs: seed % 5 < 2 };
        let (domain, problem) = random_task(seed, features);
        let (domain, problem) = read(&domain, &problem);
        let mut rewritten = domain.clone();
        let mut random = Random::new(seed);
        // One after the other, so that they meet each other's forms.
        for kind in RewriteKind::ALL.into_iter().cycle().skip(seed as usize).take(8) {
            let Some(rewrite) = random_rewrite(&rewritten, kind, &mut random) else { continue };
            let (written, _) = read(&print_domain(&rewrite.domain), &print_problem(&problem));
            let found = compare([&domain, &written], [&problem; 2]);
            assert_eq!(
                found.verdict(),
                ComparisonVerdict::Equal,
                "seed {seed}: {rewrite}\n{}",
                print_domain(&rewrite.domain)
            );
            rewritten = rewrite.domain;
            made += 1;
        }
    }
    assert!(made > 200, "{made}");
}
