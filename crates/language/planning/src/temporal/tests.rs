//! The search with time beneath the planner, which validates its plans.

use super::model::Model;
use super::search::{Search, SearchEnd};
use super::snap::SnapTask;
use crate::axioms::AxiomEvaluator;
use crate::resources::LimitWatch;
use crate::search::SearchStatistics;
use crate::{GroundLimits, Unlimited, ground, normalize};
use planforge_diagnostics::SourceId;
use planforge_pddl::{parse_domain, parse_problem};

#[test]
fn a_refused_goal_state_is_expanded_further() {
    let domain = "(define (domain d) (:requirements :durative-actions) (:predicates (a) (b))
      (:durative-action one :parameters () :duration (= ?duration 1) :effect (at end (a)))
      (:durative-action two :parameters () :duration (= ?duration 1) :condition (at start (a))
        :effect (at end (b))))";
    let problem = "(define (problem x) (:domain d) (:init) (:goal (a)))";
    let domain = parse_domain(domain, SourceId(0)).value;
    let problem = parse_problem(problem, SourceId(1)).value;
    let snap = SnapTask::new(&normalize(&domain, &problem).unwrap());
    let task = ground(&snap.lifted, GroundLimits::default(), &mut Unlimited).unwrap();
    let model = Model::new(&snap, &task, &[], &mut Unlimited).unwrap();
    let axioms = AxiomEvaluator::new(&model.moves_task);
    let mut limits = Unlimited;
    let mut watch = LimitWatch::new(&mut limits, 10_000);
    let mut search = Search::new(&model, &axioms, &mut watch).unwrap();
    let mut steps_of_next = |search: &mut Search<'_>| {
        let end = search.run(&task, None, u64::MAX, &mut watch, &mut SearchStatistics::default());
        match end.unwrap() {
            SearchEnd::Plan(steps, _) => Some(steps.len()),
            SearchEnd::Exhausted => None,
            SearchEnd::Paused => panic!(),
        }
    };
    assert_eq!(steps_of_next(&mut search), Some(1));
    search.refuse();
    assert_eq!(steps_of_next(&mut search), Some(2));
}
