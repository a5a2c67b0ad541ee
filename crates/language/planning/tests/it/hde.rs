//! Heuristic domain equivalence: by hand, and against plans enumerated by a brute-force interpreter.

use crate::support::{Features, random_task, read};
use planforge_diagnostics::SourceId;
use planforge_pddl::ast::{Domain, Problem};
use planforge_pddl::mutate::{MutationKind, all_mutations};
use planforge_planning::equivalence::ComparedSide;
use planforge_planning::equivalence::domains::{ComparisonVerdict, EquivalenceLimits, compare_domains};
use planforge_planning::equivalence::hde::{
    HdeClass, HdeDifference, HdeOptions, HdeOutcome, HdeReference, HdeReferenceErrorKind, HdeResult, HdeRule,
};
use planforge_planning::walk::{ModelError, Refusal, Semantics};
use planforge_planning::{
    CountingLimits, StopReason, TopKOptions, TopKOutcome, Unlimited, parse_plan, top_k, validate,
};
use std::num::NonZeroUsize;

/// A lamp in each of two rooms, and somebody who walks between them.
const LAMPS: &str = "(define (domain lamps) (:requirements :typing :negative-preconditions) (:types room)
  (:predicates (in ?r - room) (lit ?r - room) (door ?a ?b - room))
  (:action walk :parameters (?a ?b - room) :precondition (and (in ?a) (door ?a ?b))
    :effect (and (not (in ?a)) (in ?b)))
  (:action light :parameters (?r - room) :precondition (in ?r) :effect (lit ?r)))";

/// Both lamps on, from the first room: the only plan of three steps is (light a) (walk a b) (light b).
const BOTH: &str = "(define (problem both) (:domain lamps) (:objects a b - room)
  (:init (in a) (door a b) (door b a)) (:goal (and (lit a) (lit b))))";

/// One step is enough.
const ONE: &str =
    "(define (problem one) (:domain lamps) (:objects a b - room) (:init (in a) (door a b) (door b a))
  (:goal (lit a)))";

fn options(k: usize, rule: HdeRule) -> HdeOptions {
    HdeOptions { k: NonZeroUsize::new(k).unwrap(), rule, ..HdeOptions::default() }
}

fn edit_domain(edits: &[(&str, &str)]) -> String {
    let mut text = LAMPS.to_owned();
    for (from, to) in edits {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    text
}

fn parse(domain: &str, problems: &[&str]) -> (Domain, Vec<Problem>) {
    let read: Vec<(Domain, Problem)> = problems.iter().map(|p| read(domain, p)).collect();
    (read[0].0.clone(), read.into_iter().map(|r| r.1).collect())
}

fn hde(options: &HdeOptions, problems: &[&str], edits: &[(&str, &str)]) -> HdeResult {
    let (domain, tasks) = parse(LAMPS, problems);
    let tasks: Vec<&Problem> = tasks.iter().collect();
    let reference = HdeReference::new(&domain, &tasks, options, &mut Unlimited).unwrap();
    let (candidate, _) = parse(&edit_domain(edits), problems);
    reference.compare(&candidate, &mut Unlimited).unwrap()
}

fn difference(hde: HdeResult) -> (usize, HdeDifference) {
    match hde.outcome {
        HdeOutcome::Different { problem, difference } => (problem, difference),
        other => panic!("{other:?}"),
    }
}

fn texts(plan: &[planforge_planning::walk::NamedStep]) -> Vec<String> {
    plan.iter().map(ToString::to_string).collect()
}

#[test]
fn the_same_domain_passes_under_both_rules_and_every_plan_is_counted() {
    for rule in [HdeRule::Definition, HdeRule::ReferenceCode] {
        let found = hde(&options(7, rule), &[BOTH, ONE], &[]);
        assert!(matches!(found.outcome, HdeOutcome::Equivalent), "{found:?}");
        assert_eq!((found.plans, found.shared), (vec![[7, 7], [7, 7]], 28));
    }
}

#[test]
fn a_new_plan_that_the_old_domain_refuses_is_reported_with_its_step() {
    // Without the precondition the lamp of the other room is lit from here: two plans of two steps.
    let edit = [("(?r - room) :precondition (in ?r)", "(?r - room) :precondition ()")];
    for rule in [HdeRule::Definition, HdeRule::ReferenceCode] {
        let found = hde(&options(2, rule), &[ONE, BOTH], &edit);
        let plans = found.plans.clone();
        let (problem, found) = difference(found);
        // Of `one` the two cheapest plans are the same: to light the lamp, and to light it twice.
        assert_eq!((problem, found.class(), plans), (1, HdeClass::NPApp, vec![[2, 2], [2, 2]]));
        let HdeDifference::NewPlanFails(plan) = found else { panic!("{found:?}") };
        assert_eq!(
            (plan.rank, texts(&plan.steps)),
            (0, vec!["(light a)".to_owned(), "(light b)".to_owned()])
        );
        assert_eq!(plan.failing, Some((1, Refusal::NotApplicable)));
        assert!(plan.conditions.len() == 1 && plan.conditions[0].contains("(in b)"), "{plan:?}");
    }
}

#[test]
fn an_old_plan_that_the_new_domain_refuses_is_reported_with_its_step() {
    // Walking turns the lamp off: the only cheapest plan of `both` no longer reaches the goal, and is no plan in the new domain.
    let edit = [("(and (not (in ?a)) (in ?b))", "(and (not (in ?a)) (in ?b) (not (lit ?a)))")];
    let found = hde(&options(1, HdeRule::Definition), &[ONE], &edit);
    assert!(matches!(found.outcome, HdeOutcome::Equivalent), "{found:?}");
    // Nothing lights both lamps any more.
    let (problem, found) = difference(hde(&options(1, HdeRule::Definition), &[ONE, BOTH], &edit));
    assert_eq!((problem, found.class()), (1, HdeClass::NoPlan));
    // Lighting takes a lamp that is off: every new plan is an old one, and not the other way round.
    let edit =
        [("(?r - room) :precondition (in ?r)", "(?r - room) :precondition (and (in ?r) (not (lit ?r)))")];
    let (_, found) = difference(hde(&options(3, HdeRule::Definition), &[BOTH], &edit));
    assert_eq!(found.class(), HdeClass::OPApp);
    let HdeDifference::OldPlanFails(plan) = found else { panic!("{found:?}") };
    assert_eq!(texts(&plan.steps), ["(light a)", "(light a)", "(walk a b)", "(light b)"]);
    assert_eq!(plan.failing, Some((1, Refusal::NotApplicable)));
    // Every step is executed, and the goal does not hold: a lamp needs power, which only walking switches on.
    let edit = [
        ("(lit ?r - room)", "(lit ?r - room) (power)"),
        ("(in ?b)))", "(in ?b) (power)))"),
        (":effect (lit ?r)", ":effect (when (power) (lit ?r))"),
    ];
    let (_, found) = difference(hde(&options(1, HdeRule::Definition), &[ONE], &edit));
    let HdeDifference::OldPlanFails(plan) = found else { panic!("{found:?}") };
    assert_eq!((texts(&plan.steps), plan.failing), (vec!["(light a)".to_owned()], None));
    assert!(plan.conditions.len() == 1 && plan.conditions[0].contains("(lit a)"), "{:?}", plan.conditions);
}

#[test]
fn another_number_of_plans_is_a_difference_to_the_code_alone() {
    // Without doors only one room can be visited: `one` has the plans (light a), (light a) (light a), ... in both; a lamp that
    // can be lit once has one plan.
    let closed =
        "(define (problem closed) (:domain lamps) (:objects a b - room) (:init (in a)) (:goal (lit a)))";
    let once =
        [("(?r - room) :precondition (in ?r)", "(?r - room) :precondition (and (in ?r) (not (lit ?r)))")];
    let (_, found) = difference(hde(&options(5, HdeRule::ReferenceCode), &[closed], &once));
    assert!(matches!(found, HdeDifference::Number { reference: 5, candidate: 1 }), "{found:?}");
    assert_eq!(found.class(), HdeClass::OPApp);
    let (_, found) = difference(hde(&options(5, HdeRule::Definition), &[closed], &once));
    let HdeDifference::OldPlanFails(plan) = found else { panic!("{found:?}") };
    assert_eq!(plan.rank, 1);
}

#[test]
fn a_limit_is_never_reported_as_no_plan() {
    let few = HdeOptions { max_nodes: 5, ..options(5, HdeRule::Definition) };
    // Of the empty problem the reference finds its first plan at once; with a limit of a few nodes the rest stays open.
    let done = "(define (problem done) (:domain lamps) (:objects a b - room) (:init (in a) (lit a) (door a b) (door b a))
      (:goal (lit a)))";
    let found = hde(&few, &[done], &[]);
    let HdeOutcome::Undecided { problem: 0, side: ComparedSide::First, stopped: StopReason::Nodes } =
        found.outcome
    else {
        panic!("{found:?}")
    };
    let (domain, tasks) = parse(LAMPS, &[BOTH]);
    let error = HdeReference::new(&domain, &[&tasks[0]], &few, &mut Unlimited).unwrap_err();
    assert!(matches!(error.why, HdeReferenceErrorKind::Limit(StopReason::Nodes)), "{error:?}");
    // However early the budget ends, the domain itself is never called another one.
    let (domain, tasks) = parse(LAMPS, &[BOTH]);
    let reference =
        HdeReference::new(&domain, &[&tasks[0]], &options(3, HdeRule::ReferenceCode), &mut Unlimited)
            .unwrap();
    let mut ends = [0; 3];
    for polls in 0..2000 {
        let outcome = reference.compare(&domain, &mut CountingLimits { polls, bytes: u64::MAX });
        ends[match outcome.map(|hde| hde.outcome) {
            Err(not) => {
                assert!(matches!(not.error, ModelError::Limit(StopReason::Time)), "{not:?}");
                0
            }
            Ok(HdeOutcome::Undecided {
                problem: 0,
                side: ComparedSide::Second,
                stopped: StopReason::Time,
            }) => 1,
            Ok(HdeOutcome::Equivalent) => 2,
            other => panic!("{polls}: {other:?}"),
        }] += 1;
    }
    assert!(ends[1] > 0 && ends[2] > 0, "{ends:?}");
}

#[test]
fn problems_without_a_model_or_plan_are_not_compared() {
    let never =
        "(define (problem never) (:domain lamps) (:objects a b - room) (:init (in a)) (:goal (lit b)))";
    let (domain, tasks) = parse(LAMPS, &[ONE, never]);
    let all: Vec<&Problem> = tasks.iter().collect();
    let error = HdeReference::new(&domain, &all, &HdeOptions::default(), &mut Unlimited).unwrap_err();
    assert_eq!(error.problem, 1);
    assert!(matches!(error.why, HdeReferenceErrorKind::Unsolvable(_)), "{error:?}");
    let reference = HdeReference::new(&domain, &all[..1], &HdeOptions::default(), &mut Unlimited).unwrap();
    let (candidate, _) = parse(&edit_domain(&[("(lit ?r - room)", "(bright ?r - room)")]), &[ONE]);
    let error = reference.compare(&candidate, &mut Unlimited).unwrap_err();
    assert_eq!(error.side, ComparedSide::Second);
    assert!(matches!(error.error, ModelError::Invalid(_)), "{error:?}");
}

/// The plans of a task, as text; none where there is none.
fn plans(domain: &Domain, problem: &Problem, k: usize) -> Vec<String> {
    let options = TopKOptions {
        semantics: Semantics::GroundNoOpsDropped,
        ..TopKOptions::new(NonZeroUsize::new(k).unwrap())
    };
    match top_k(domain, problem, &options, &mut Unlimited).unwrap().outcome {
        TopKOutcome::Plans { plans, .. } => plans.iter().map(|p| p.step_texts().join("\n")).collect(),
        TopKOutcome::ProvenUnsolvable(_) => Vec::new(),
        other => panic!("{other:?}"),
    }
}

/// The class and the rank of the first plan that fails, with every plan validated on the lifted task.
fn by_validation(
    domains: [&Domain; 2],
    problem: &Problem,
    k: usize,
    rule: HdeRule,
) -> Option<(HdeClass, Option<usize>)> {
    let [old, new] = domains.map(|domain| plans(domain, problem, k));
    if new.is_empty() {
        return Some((HdeClass::NoPlan, None));
    }
    if rule == HdeRule::ReferenceCode && old.len() != new.len() {
        return Some((HdeClass::OPApp, None));
    }
    let fails = |domain: &Domain, plan: &String| {
        !validate(domain, problem, &parse_plan(plan, SourceId(2)), &mut Unlimited).unwrap().is_valid()
    };
    let new_fails = |rank: usize| fails(domains[0], new.get(rank)?).then_some((HdeClass::NPApp, Some(rank)));
    let old_fails = |rank: usize| fails(domains[1], old.get(rank)?).then_some((HdeClass::OPApp, Some(rank)));
    match rule {
        HdeRule::Definition => (0..k).find_map(new_fails).or_else(|| (0..k).find_map(old_fails)),
        HdeRule::ReferenceCode => (0..k).find_map(|rank| new_fails(rank).or_else(|| old_fails(rank))),
    }
}

#[test]
fn both_rules_agree_with_validating_every_plan() {
    let features = Features { adl: false, derived: false, costs: false };
    let kinds = [MutationKind::Omission, MutationKind::Negation, MutationKind::Addition];
    let (mut seen, mut equal) = ([0; 4], 0);
    for seed in 0..60 {
        let (domain, problem) = random_task(seed, features);
        let (domain, problem) = read(&domain, &problem);
        for rule in [HdeRule::Definition, HdeRule::ReferenceCode] {
            let options = options(6, rule);
            let Ok(reference) = HdeReference::new(&domain, &[&problem], &options, &mut Unlimited) else {
                continue;
            };
            let all = kinds.into_iter().flat_map(|kind| all_mutations(&domain, kind).into_iter().step_by(7));
            for mutant in all.map(|m| m.apply(&domain)) {
                let Ok(found) = reference.compare(&mutant, &mut Unlimited) else { continue };
                let got = match &found.outcome {
                    HdeOutcome::Equivalent => None,
                    HdeOutcome::Undecided { .. } => panic!("{found:?}"),
                    HdeOutcome::Different { difference, .. } => Some(match difference {
                        HdeDifference::NoPlan(_) => (HdeClass::NoPlan, None),
                        HdeDifference::Number { .. } => (HdeClass::OPApp, None),
                        HdeDifference::NewPlanFails(plan) => (HdeClass::NPApp, Some(plan.rank)),
                        HdeDifference::OldPlanFails(plan) => (HdeClass::OPApp, Some(plan.rank)),
                    }),
                };
                assert_eq!(got, by_validation([&domain, &mutant], &problem, 6, rule), "{seed} {rule:?}");
                seen[got.map_or(3, |g| g.0 as usize)] += 1;
                let limits = EquivalenceLimits { max_pairs: 5_000, ..EquivalenceLimits::default() };
                let exact =
                    compare_domains([&domain, &mutant], [&problem, &problem], &limits, &mut Unlimited);
                if exact.is_ok_and(|e| e.verdict() == ComparisonVerdict::Equal) {
                    equal += 1;
                    assert!(got.is_none() || rule == HdeRule::ReferenceCode, "{seed}: {found:?}");
                }
            }
        }
    }
    assert!(seen.iter().all(|&n| n > 5) && equal > 10, "{seen:?} {equal}");
}
