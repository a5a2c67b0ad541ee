//! Lifted task to ground task: relaxed reachability by joins, then instantiation of what was reached.

mod assemble;
mod expand;
mod join;
mod metric;
mod rules;

pub(crate) use metric::functions_read;
pub(crate) use rules::{Query, queries};

use crate::lifted::LiftedTask;
use crate::resources::{ResourceLimits, StopReason};
use crate::satisfy::Work;
use crate::task::{GroundTask, ObjectId};

/// Caps on grounding. A text from a model may need more ground atoms than fit into memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroundLimits {
    /// Instances of actions, conditional effects and rules.
    pub instances: usize,
    /// Most reachable atoms.
    pub atoms: usize,
    /// Formula nodes expanded (quantifiers over objects).
    pub formula_parts: usize,
}

impl Default for GroundLimits {
    fn default() -> Self {
        GroundLimits { instances: 5_000_000, atoms: 5_000_000, formula_parts: 50_000_000 }
    }
}

/// Grounds a task.
///
/// # Errors
/// The limit that ended the work: the budget's, or [`StopReason::Grounding`] for those of `limits`.
pub fn ground(
    task: &LiftedTask,
    limits: GroundLimits,
    resources: &mut dyn ResourceLimits,
) -> Result<GroundTask, StopReason> {
    let task = &*rules::miniscope(task);
    let set = rules::rule_set(task);
    check_variables(&set)?;
    let input =
        join::PlanInput { fluent: &set.fluent, domains: &set.domains, objects: task.symbols.objects.len() };
    let caps = join::Caps { firings: limits.instances, atoms: limits.atoms };
    let reached = join::Engine::new(&set.rules, &input, &task.init, caps).run(resources)?;
    let deletable = assemble::deletable(task, &set, &reached);
    let join::Reached { tables, firings } = reached;
    let mut facts = expand::Facts::new(task, tables, &deletable);
    assemble::assemble(task, &set, &mut facts, &firings, limits.formula_parts, resources)
}

/// Variables of an action, rule or quantifier. Joins and expansions descend once for each.
pub(crate) const MAX_VARIABLES: usize = 1000;

fn check_variables(set: &rules::RuleSet<'_>) -> Result<(), StopReason> {
    let fits = set.rules.iter().all(|rule| rule.variables.len() <= MAX_VARIABLES);
    if fits { Ok(()) } else { Err(StopReason::Grounding) }
}

/// Atoms reachable in the delete relaxation, and which action schemas are ever applicable in it.
pub(crate) struct Reachability {
    tables: Vec<join::Table>,
    applicable: Vec<bool>,
}

impl Reachability {
    /// Computes the fixpoint of delete relaxation.
    pub(crate) fn new(
        task: &LiftedTask,
        limits: GroundLimits,
        resources: &mut dyn ResourceLimits,
    ) -> Result<Self, StopReason> {
        let task = &*rules::miniscope(task);
        let set = rules::rule_set(task);
        check_variables(&set)?;
        let input = join::PlanInput {
            fluent: &set.fluent,
            domains: &set.domains,
            objects: task.symbols.objects.len(),
        };
        let caps = join::Caps { firings: limits.instances, atoms: limits.atoms };
        let reached = join::Engine::new(&set.rules, &input, &task.init, caps).run(resources)?;
        let mut applicable = vec![false; task.schemas.len()];
        for (origin, firings) in set.origins.iter().zip(&reached.firings) {
            if let rules::Origin::Action(schema) = origin {
                applicable[*schema] |= !firings.is_empty();
            }
        }
        Ok(Reachability { tables: reached.tables, applicable })
    }

    /// Returns true if some ground action of the schema is reachable.
    pub(crate) fn is_applicable(&self, schema: usize) -> bool {
        self.applicable[schema]
    }

    /// Returns true if the atom is reachable.
    pub(crate) fn contains(&self, predicate: u32, args: &[ObjectId]) -> bool {
        self.tables[predicate as usize].find(args).is_some()
    }

    /// Number of reachable atoms of a predicate.
    pub(crate) fn row_count(&self, predicate: u32) -> usize {
        self.tables[predicate as usize].len()
    }

    /// Arguments of the reachable atoms of a predicate.
    pub(crate) fn rows(&self, predicate: u32) -> Vec<&[ObjectId]> {
        let table = &self.tables[predicate as usize];
        (0..table.len() as u32).map(|row| table.row(row)).collect()
    }

    /// Returns true if a reachable atom of the predicate has these arguments. `None` stands for any object.
    pub(crate) fn matches(
        &self,
        predicate: u32,
        pattern: &[Option<ObjectId>],
        work: &mut Work<'_>,
    ) -> Result<bool, StopReason> {
        let table = &self.tables[predicate as usize];
        for row in 0..table.len() as u32 {
            work.tick()?;
            if table.row(row).iter().zip(pattern).all(|(cell, wanted)| wanted.is_none_or(|w| w == *cell)) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
