//! Parts of the goal that hold after each step of a plan.

use super::render::Explainer;
use super::world::{Args, World};
use super::{TraceStep, Validator};
use crate::lifted::Formula;
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
    pub fn goal_along(&self, trace: &[TraceStep]) -> GoalAlong {
        let task = self.task();
        let parts = match &task.goal {
            Formula::And(parts) => parts.as_slice(),
            single => std::slice::from_ref(single),
        };
        let mut world = World::initial(task);
        let mut binding = vec![ObjectId::MAX; task.goal_slots];
        let mut look = |world: &World<_>| parts.iter().map(|part| world.holds(part, &mut binding)).collect();
        let mut holds: Vec<Vec<bool>> = vec![look(&world)];
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
            world.close();
            holds.push(look(&world));
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
        GoalAlong { parts: parts.iter().map(|part| explainer.formula(part, &binding)).collect(), holds }
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
        let along = validator.goal_along(&report.trace);
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
