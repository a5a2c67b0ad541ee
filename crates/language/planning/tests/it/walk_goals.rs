//! Goal agreement: its values on goals that are too strong, too weak or out of reach, computed and sampled.

use planforge_pddl::mutate::{ProblemPart, problem_mutants};
use planforge_planning::walk::{
    DirectionGoals, ExactError, GoalPlan, GoalSampleSpec, GroundingMethod, Model, ModelOptions, NamedStep,
    exact_goals, goal_agreement, goal_plan, interval, sample_goals,
};
use planforge_planning::{CountingLimits, StopReason, Unlimited};

/// A lamp in each of two rooms.
const DOMAIN: &str = "(define (domain lamps) (:requirements :strips :negative-preconditions)
  (:predicates (lit ?l) (lamp ?l))
  (:action press :parameters (?l) :precondition (and (lamp ?l) (not (lit ?l))) :effect (lit ?l))
  (:action release :parameters (?l) :precondition (lit ?l) :effect (not (lit ?l))))";

fn problem(goal: &str) -> String {
    format!("(define (problem two) (:domain lamps) (:objects a b) (:init (lamp a) (lamp b)) (:goal {goal}))")
}

fn model(goal: &str) -> Model {
    Model::from_texts(DOMAIN, &problem(goal), &ModelOptions::default(), &mut Unlimited).unwrap()
}

fn plan(model: &Model) -> Vec<NamedStep> {
    match goal_plan(model, 1000, &mut Unlimited).unwrap() {
        GoalPlan::Plan(steps) => steps,
        other => panic!("{other:?}"),
    }
}

fn one_way(source: &Model, target: &Model, t_max: u32) -> DirectionGoals {
    exact_goals(source, target, &plan(source), t_max, 10_000, &mut Unlimited).unwrap().unwrap()
}

#[test]
fn a_goal_that_is_too_strong_shows_one_way_and_one_that_is_too_weak_the_other() {
    let (both, one) = (model("(and (lit a) (lit b))"), model("(lit a)"));
    // Without further steps: the plan for both lamps lights a, the plan for a does not light b.
    assert_eq!(one_way(&both, &one, 0).agreement, 1.0);
    let found = one_way(&one, &both, 0);
    assert_eq!(found.agreement, 0.0);
    let difference = found.difference.unwrap();
    assert_eq!((difference.steps.len(), difference.source_holds, difference.executed), (1, true, 1));
    // With one step at most: from {a, b} either lamp goes out, and where b does, only the weaker goal holds. Of N = 0 and N = 1,
    // each with 1/2: both goals hold with 1/2, one alone with 1/4.
    let found = one_way(&both, &one, 1);
    assert!((found.agreement - 2.0 / 3.0).abs() < 1e-12, "{found:?}");
    let difference = found.difference.unwrap();
    assert_eq!((difference.steps.len(), difference.source_holds), (3, false));
    assert_eq!(difference.steps[2].to_string(), "(release b)");
    // From {a}: N = 0 the weaker goal alone; N = 1 both goals with 1/4 (b pressed), none with 1/4 (a released).
    assert!((one_way(&one, &both, 1).agreement - 1.0 / 3.0).abs() < 1e-12);
    assert_eq!(goal_agreement([Some(2.0 / 3.0), Some(1.0 / 3.0)]), Some(4.0 / 9.0));
}

#[test]
fn goals_in_other_words_agree_exactly() {
    let (reference, other) =
        (model("(and (lit a) (lit b))"), model("(forall (?l) (imply (lamp ?l) (lit ?l)))"));
    for (source, target) in [(&reference, &other), (&other, &reference), (&reference, &reference)] {
        let found = one_way(source, target, 10);
        assert_eq!((found.agreement, found.difference), (1.0, None));
    }
}

#[test]
fn a_goal_out_of_reach_has_no_plan_and_agrees_with_none() {
    let (both, none) = (model("(and (lit a) (lit b))"), model("(and (lit a) (not (lamp a)))"));
    assert_eq!(goal_plan(&none, 1000, &mut Unlimited).unwrap(), GoalPlan::Unsolvable);
    assert_eq!(one_way(&both, &none, 3).agreement, 0.0);
    assert_eq!(goal_agreement([Some(0.0), None]), Some(0.0));
    assert_eq!(goal_agreement([Some(0.5), None]), None);
    assert_eq!(goal_agreement([None, None]), None);
    // The plan of another goal is not one of this.
    assert_eq!(exact_goals(&none, &both, &plan(&both), 3, 100, &mut Unlimited), Ok(None));
}

#[test]
fn a_plan_that_the_other_side_refuses_agrees_nowhere() {
    let dark = "(define (problem two) (:domain lamps) (:objects a b) (:init (lamp a)) (:goal (and (lit a) (lit b))))";
    let dark = Model::from_texts(DOMAIN, dark, &ModelOptions::default(), &mut Unlimited).unwrap();
    let both = model("(and (lit a) (lit b))");
    let spec = GoalSampleSpec { t_max: 5, walks: 10, seed: 1 };
    let sampled = sample_goals(&both, &dark, &plan(&both), &spec, &mut Unlimited).unwrap().unwrap();
    for found in [one_way(&both, &dark, 5), sampled] {
        assert_eq!(found.agreement, 0.0);
        let difference = found.difference.unwrap();
        assert!(difference.executed < difference.steps.len() && difference.source_holds);
    }
}

#[test]
fn sampled_agreement_estimates_the_computed_one_and_needs_no_grounding() {
    let (mut compared, mut partial) = (0, 0);
    for name in ["blocks", "parcels", "miconic", "hiking"] {
        let (domain, original) = crate::support::read_task(&crate::support::suite(name), 1);
        let build = |problem, method| {
            Model::new(&domain, problem, &ModelOptions { method, ..Default::default() }, &mut Unlimited)
                .unwrap()
        };
        let reference = build(&original, GroundingMethod::Ground);
        let own = plan(&reference);
        for mutant in problem_mutants(&domain, &original, ProblemPart::Goal).iter().step_by(3).take(8) {
            let other = build(&mutant.problem, GroundingMethod::Ground);
            let exact = exact_goals(&reference, &other, &own, 6, 200_000, &mut Unlimited).unwrap().unwrap();
            let spec = GoalSampleSpec { t_max: 6, walks: 400, seed: 5 };
            let sampled = sample_goals(&reference, &other, &own, &spec, &mut Unlimited).unwrap().unwrap();
            let (both, counted) = (sampled.both.unwrap(), sampled.counted.unwrap());
            let bounds = interval::clopper_pearson(both, counted, 1e-6);
            assert!(bounds.contains(exact.agreement), "{name}, {mutant}: {exact:?} {sampled:?}");
            let lifted = build(&mutant.problem, GroundingMethod::Lifted);
            let again = sample_goals(&reference, &lifted, &own, &spec, &mut Unlimited).unwrap().unwrap();
            assert_eq!(again, sampled, "{name}, {mutant}");
            compared += 1;
            partial += usize::from(exact.agreement > 0.0 && exact.agreement < 1.0);
        }
    }
    assert!(compared >= 15 && partial >= 2, "{partial} of {compared}");
}

#[test]
fn limits_end_the_comparison() {
    let (both, one) = (model("(and (lit a) (lit b))"), model("(lit a)"));
    let few = exact_goals(&both, &one, &plan(&both), 5, 2, &mut Unlimited);
    assert!(matches!(few, Err(ExactError::Pairs { limit: 2, .. })), "{few:?}");
    let mut none = CountingLimits { polls: 0, bytes: u64::MAX };
    let stopped = exact_goals(&both, &one, &plan(&both), 5, 100, &mut none);
    assert!(matches!(stopped, Err(ExactError::Stopped(StopReason::Time))), "{stopped:?}");
    let GoalPlan::NotFound(why) = goal_plan(&both, 1, &mut Unlimited).unwrap() else { panic!("one node") };
    assert!(why.contains("1 search nodes"), "{why}");
}
