//! Parts of the goal that hold after each step of a plan.

use super::render::Explainer;
use super::world::{Args, World};
use super::{TraceStep, Validator, mentions_derived};
use crate::resources::{ResourceLimits, StopReason};
use crate::satisfy::{Cut, Work, conjuncts, holds};
use crate::task::{Atom, ObjectId, TaskText};

/// The parts of a goal, and which of them hold along a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoalAlong {
    /// The parts of the goal's outermost conjunction as PDDL; any other goal is one part.
    pub parts: Vec<String>,
    /// After 0, 1, 2, ... steps, for each part whether it holds.
    pub holds: Vec<Vec<bool>>,
}

impl Validator {
    /// Evaluates the goal in each state along executed steps (see [`super::ValidationReport::trace`]), the
    /// initial state first.
    ///
    /// # Errors
    /// The limit that ended the evaluation.
    pub fn goal_along(
        &self,
        trace: &[TraceStep],
        resources: &mut dyn ResourceLimits,
    ) -> Result<GoalAlong, StopReason> {
        let mut work = Work::new(resources);
        let task = self.task();
        let parts = conjuncts(&task.goal);
        let mut world = World::initial(task);
        let mut binding = vec![ObjectId::MAX; task.goal_slots];
        let derives = mentions_derived(task, &task.goal);
        let mut look = |world: &mut World<_>| -> Result<Vec<bool>, Cut> {
            if derives {
                world.close(&mut work)?;
            }
            let view = world.view_of_samples();
            parts.iter().map(|part| holds(&view, part, &mut binding, &mut work)).collect()
        };
        // Inexact numbers are compared as they are, so that only a limit cuts.
        let reason = |cut| match cut {
            Cut::Limit(reason) => reason,
            Cut::Inexact => StopReason::Nodes,
        };
        let mut held = vec![look(&mut world).map_err(reason)?];
        for step in trace {
            for atom in &step.deleted {
                world.remove(atom.predicate, &Args::from_slice(&atom.args));
            }
            for atom in &step.added {
                world.insert(atom.predicate, Args::from_slice(&atom.args));
            }
            for (term, value) in &step.numbers {
                world.set_number(term.predicate, Args::from_slice(&term.args), *value);
            }
            world.steps += 1;
            held.push(look(&mut world).map_err(reason)?);
        }
        let (changed_by, steps) = (|_: &Atom| None, |_: usize| String::new());
        let explainer = Explainer {
            task,
            world: &world,
            text: TaskText::Problem,
            changed_by: &changed_by,
            steps: &steps,
        };
        let binding = vec![ObjectId::MAX; task.goal_slots];
        let parts = parts.iter().map(|part| explainer.formula(part, &binding)).collect();
        Ok(GoalAlong { parts, holds: held })
    }
}

#[cfg(test)]
mod tests {
    use crate::{normalize, parse_plan};
    use planforge_diagnostics::SourceId;
    use planforge_pddl::{parse_domain, parse_problem};

    #[test]
    fn parts_of_the_goal_are_reported_after_each_step() {
        let domain = "(define (domain lamps) (:requirements :typing :negative-preconditions :derived-predicates :fluents) (:types lamp)
        (:predicates (lit ?l - lamp) (dark)) (:functions (uses))
        (:derived (dark) (not (exists (?l - lamp) (lit ?l))))
        (:action toggle-on :parameters (?l - lamp) :precondition (not (lit ?l)) :effect (and (lit ?l) (increase (uses) 1)))
        (:action toggle-off :parameters (?l - lamp) :precondition (lit ?l) :effect (not (lit ?l))))";
        let problem = "(define (problem two) (:domain lamps) (:objects a b - lamp) (:init (= (uses) 0))
        (:goal (and (lit a) (not (dark)) (>= (uses) 2))))";
        let domain = parse_domain(domain, SourceId(0)).value;
        let problem = parse_problem(problem, SourceId(1)).value;
        let validator = super::Validator::new(normalize(&domain, &problem).unwrap());
        let plan = parse_plan("(toggle-on a)\n(toggle-off a)\n(toggle-on b)\n(toggle-on a)\n", SourceId(2));
        let report = validator.validate(&plan);
        assert!(report.is_valid());
        let along = validator.goal_along(&report.trace, &mut crate::Unlimited).unwrap();
        assert_eq!(along.parts, ["(lit a)", "(not (dark))", "(>= (uses) 2)"]);
        let held: Vec<String> = along
            .holds
            .iter()
            .map(|parts| parts.iter().map(|held| if *held { '1' } else { '0' }).collect())
            .collect();
        assert_eq!(held, ["000", "110", "000", "011", "111"]);
        assert_eq!(along.holds.last().map(|parts| parts.iter().all(|held| *held)), Some(report.is_valid()));
    }
}
