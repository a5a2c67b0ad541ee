//! Trajectory constraints of PDDL 3.0 along the states of a plan.
//!
//! The states are S0 at time 0 and the one after each happening, at its time. A state lasts until the next happening, the last one for
//! ever. `hold-during u v` and `hold-after u` speak about every state that lasts into their interval, `[u, v)` or from `u` on; the other
//! operators are those of the language's definition (Gerevini et al., Deterministic planning in the fifth IPC, 2009, Figure 2).

use super::render::Explainer;
use super::world::World;
use crate::lifted::{Constraint, Extension, Formula, LiftedTask, TrajectoryKind, TrajectoryPart, Variable};
use crate::satisfy::{Cut, Work};
use crate::task::ObjectId;
use planforge_pddl::Number;
use planforge_pddl::ast::{CompareOp, TrajectoryOp};

/// The constraints of a task along a plan.
pub(super) struct Monitors<'t> {
    instances: Vec<Instance<'t>>,
}

/// A constraint under one binding of its variables.
struct Instance<'t> {
    constraint: &'t Constraint,
    parts: Vec<Monitor<'t>>,
}

/// An operator under one binding of all variables.
struct Monitor<'t> {
    part: &'t TrajectoryPart,
    binding: Vec<ObjectId>,
    /// True once the condition held (`sometime`, `within`, `at-most-once`), or the second one of `sometime-before`.
    seen: bool,
    /// True if the condition held in the last state.
    held: bool,
    /// Time of the last state.
    last: Number,
    /// Time of the earliest state that still needs the second condition.
    pending: Option<Number>,
    /// Reason for the violation.
    broken: Option<String>,
}

/// A constraint that a valid plan satisfies, and does not.
pub(super) struct Violation<'t> {
    pub(super) part: &'t TrajectoryPart,
    /// The constraint as PDDL.
    pub(super) text: String,
    /// Reason as a clause.
    pub(super) why: String,
}

/// Estimated bytes of a monitor.
const MONITOR_BYTES: u64 = 160;

impl<'t> Monitors<'t> {
    /// All instances of the constraints.
    pub(super) fn new(extension: &'t Extension, work: &mut Work<'_>) -> Result<Self, Cut> {
        let mut instances = Vec::new();
        for constraint in &extension.constraints {
            let mut binding = vec![ObjectId::MAX; constraint.slots];
            let mut outer = Vec::new();
            for_each_binding(&constraint.variables, &mut binding, work, &mut |b| outer.push(b.to_vec()))?;
            for mut binding in outer {
                let mut parts = Vec::new();
                for part in &constraint.parts {
                    for_each_binding(&part.variables, &mut binding, work, &mut |b| {
                        parts.push(Monitor::new(part, b.to_vec()));
                    })?;
                }
                work.charge(parts.len() as u64 * (MONITOR_BYTES + 4 * constraint.slots as u64))?;
                instances.push(Instance { constraint, parts });
            }
        }
        Ok(Monitors { instances })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.instances.is_empty()
    }

    /// Takes the state after the happening at a time. Derived atoms are up to date.
    pub(super) fn observe(
        &mut self,
        world: &World<&LiftedTask>,
        time: Number,
        work: &mut Work<'_>,
    ) -> Result<(), Cut> {
        for monitor in self.instances.iter_mut().flat_map(|instance| &mut instance.parts) {
            if monitor.broken.is_none() {
                work.tick()?;
                monitor.observe(world, time, work)?;
            }
        }
        Ok(())
    }

    /// Ends the plan. Returns the violated constraints; those of preferences are counted by preference.
    pub(super) fn finish(&mut self, explainer: &Explainer<'_>, violations: &mut [u64]) -> Vec<Violation<'t>> {
        let mut violated = Vec::new();
        for instance in &mut self.instances {
            instance.parts.iter_mut().for_each(Monitor::finish);
            let broken = instance.parts.iter().filter_map(|m| m.broken.as_ref().map(|why| (m, why)));
            match instance.constraint.preference {
                Some(preference) => violations[preference as usize] += u64::from(broken.count() > 0),
                None => violated.extend(broken.map(|(monitor, why)| Violation {
                    part: monitor.part,
                    text: monitor.text(explainer),
                    why: why.clone(),
                })),
            }
        }
        violated
    }
}

/// Calls `f` with every binding of the variables.
fn for_each_binding(
    variables: &[Variable],
    binding: &mut [ObjectId],
    work: &mut Work<'_>,
    f: &mut dyn FnMut(&[ObjectId]),
) -> Result<(), Cut> {
    let Some((first, rest)) = variables.split_first() else {
        work.charge(4 * binding.len() as u64)?;
        f(binding);
        return Ok(());
    };
    for &object in first.objects.iter() {
        work.tick()?;
        binding[first.slot as usize] = object;
        for_each_binding(rest, binding, work, f)?;
    }
    Ok(())
}

impl<'t> Monitor<'t> {
    fn new(part: &'t TrajectoryPart, binding: Vec<ObjectId>) -> Self {
        let last = Number::UNDEFINED;
        Monitor { part, binding, seen: false, held: false, last, pending: None, broken: None }
    }

    fn time(&self, index: usize) -> Number {
        self.part.times.get(index).copied().unwrap_or(Number::UNDEFINED)
    }

    fn holds(
        &mut self,
        condition: usize,
        world: &World<&LiftedTask>,
        work: &mut Work<'_>,
    ) -> Result<bool, Cut> {
        match self.part.conditions.get(condition) {
            Some(condition) => world.holds(condition, &mut self.binding, work),
            None => Ok(true),
        }
    }

    fn observe(&mut self, world: &World<&LiftedTask>, time: Number, work: &mut Work<'_>) -> Result<(), Cut> {
        let before = |a, b| CompareOp::Less.holds(a, b);
        let until = |a, b| CompareOp::LessEqual.holds(a, b);
        let holds = self.holds(0, world, work)?;
        let TrajectoryKind::Over(operator) = self.part.operator else {
            self.held = holds;
            return Ok(());
        };
        match operator {
            TrajectoryOp::Always if !holds => self.broken = Some(format!("it is false at {time}")),
            TrajectoryOp::Always => {}
            TrajectoryOp::Sometime => self.seen |= holds,
            TrajectoryOp::Within => self.seen |= holds && until(time, self.time(0)),
            TrajectoryOp::AtMostOnce => {
                if holds && !self.held && self.seen {
                    self.broken = Some(format!("it is true again at {time}"));
                }
                self.seen |= holds;
            }
            TrajectoryOp::SometimeAfter | TrajectoryOp::AlwaysWithin => {
                if self.holds(1, world, work)? {
                    let most = (operator == TrajectoryOp::AlwaysWithin).then(|| self.time(0));
                    let late = |since: &Number| most.is_some_and(|most| !until(time - *since, most));
                    if let Some(since) = self.pending.take().filter(late) {
                        self.broken = Some(format!(
                            "the first condition is true at {since}, the second one not before {time}"
                        ));
                    }
                } else if holds {
                    self.pending.get_or_insert(time);
                }
            }
            TrajectoryOp::SometimeBefore => {
                if holds && !self.seen {
                    self.broken =
                        Some(format!("the first condition is true at {time}, the second one never before"));
                }
                self.seen |= self.holds(1, world, work)?;
            }
            TrajectoryOp::HoldDuring => {
                let (from, to) = (self.time(0), self.time(1));
                self.interval_began(from, time);
                if until(from, time) && before(time, to) && !holds {
                    self.broken = Some(format!("it is false at {time}"));
                }
            }
            TrajectoryOp::HoldAfter => {
                let from = self.time(0);
                self.interval_began(from, time);
                if until(from, time) && !holds {
                    self.broken = Some(format!("it is false at {time}"));
                }
            }
        }
        (self.held, self.last) = (holds, time);
        Ok(())
    }

    /// Checks the last state where the interval begins before `next`, the time of the next state.
    fn interval_began(&mut self, from: Number, next: Number) {
        let lasts = CompareOp::LessEqual.holds(self.last, from) && CompareOp::Less.holds(from, next);
        if lasts && !self.held {
            self.broken = Some(format!("it is false at {from}"));
        }
    }

    fn finish(&mut self) {
        if self.broken.is_some() {
            return;
        }
        let from = self.time(0);
        let why = match self.part.operator {
            TrajectoryKind::AtEnd => (!self.held).then(|| "it is false at the end".to_owned()),
            TrajectoryKind::Over(operator) => match operator {
                TrajectoryOp::Sometime => (!self.seen).then(|| "it is never true".to_owned()),
                TrajectoryOp::Within => (!self.seen).then(|| format!("it is not true by {from}")),
                TrajectoryOp::SometimeAfter | TrajectoryOp::AlwaysWithin => self.pending.map(|since| {
                    format!("the first condition is true at {since}, the second one never after")
                }),
                TrajectoryOp::HoldDuring | TrajectoryOp::HoldAfter => {
                    let lasts = CompareOp::LessEqual.holds(self.last, from);
                    (lasts && !self.held).then(|| format!("it is false at {from}"))
                }
                TrajectoryOp::Always | TrajectoryOp::AtMostOnce | TrajectoryOp::SometimeBefore => None,
            },
        };
        self.broken = why;
    }

    /// The operator with its times and conditions as PDDL.
    fn text(&self, explainer: &Explainer<'_>) -> String {
        let times = self.part.times.iter().map(|time| format!(" {time}"));
        let condition = |condition: &Formula| format!(" {}", explainer.formula(condition, &self.binding));
        let rest: String = times.chain(self.part.conditions.iter().map(condition)).collect();
        format!("({}{rest})", self.part.operator.as_str())
    }
}
