//! The reachability rules of a task: one for each disjunct of an action's precondition, of a conditional effect and
//! of a derived predicate's body.

use super::plan::{Check, JoinRule};
use super::query::{Query, queries};
use crate::lifted::{EffectChange, EffectGroup, Formula, LiftedAtom, LiftedTask, Term, Variable};

/// Origin of a rule.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Origin {
    /// The precondition of an action schema.
    Action(usize),
    /// A conditional or quantified effect: schema and group.
    Effect(usize, usize),
    /// A rule of a derived predicate.
    Derived(usize),
}

/// The rules with their origins, and the auxiliary predicates.
pub(crate) struct RuleSet<'a> {
    pub(crate) rules: Vec<JoinRule<'a>>,
    pub(crate) origins: Vec<Origin>,
    pub(crate) queries: Vec<Query<'a>>,
    /// Objects each argument ranges over: predicates of the task, then one predicate an action schema.
    pub(crate) domains: Vec<Vec<usize>>,
    pub(crate) fluent: Vec<bool>,
}

/// Builds the rules of a task.
pub(crate) fn rule_set(task: &LiftedTask) -> RuleSet<'_> {
    let mut set = RuleSet {
        rules: Vec::new(),
        origins: Vec::new(),
        queries: Vec::new(),
        domains: task.predicates.iter().map(|p| p.arguments.iter().map(|a| a.len()).collect()).collect(),
        fluent: task.predicates.iter().map(|p| p.fluent).collect(),
    };
    for schema in &task.schemas {
        set.domains.push(schema.variables.iter().map(|v| v.objects.len()).collect());
        set.fluent.push(true);
    }
    for (number, schema) in task.schemas.iter().enumerate() {
        let own = LiftedAtom {
            predicate: (task.predicates.len() + number) as u32,
            args: schema.variables.iter().map(|v| Term::Slot(v.slot)).collect(),
        };
        let mut heads: Vec<LiftedAtom> = Vec::new();
        for group in schema.effects.iter().filter(|g| g.is_plain()) {
            heads.extend(added_atoms(group));
        }
        if schema.effects.iter().any(|g| !g.is_plain()) {
            heads.push(own.clone());
        }
        for query in queries(&schema.precondition, true) {
            let variables = schema.variables.iter().collect();
            set.push(task, Origin::Action(number), schema.slots, variables, None, query, heads.clone());
        }
        for (g, group) in schema.effects.iter().enumerate().filter(|(_, g)| !g.is_plain()) {
            let once = group.changes.iter().any(|(c, _)| matches!(c, EffectChange::Numeric(..)));
            for query in queries(&group.condition, !once) {
                let variables = schema.variables.iter().chain(&group.variables).collect();
                let origin = Origin::Effect(number, g);
                set.push(
                    task,
                    origin,
                    schema.slots,
                    variables,
                    Some(own.clone()),
                    query,
                    added_atoms(group).collect(),
                );
            }
        }
    }
    for (number, rule) in task.rules.iter().enumerate() {
        let args = rule.variables.iter().map(|v| Term::Slot(v.slot)).collect();
        let head = LiftedAtom { predicate: rule.predicate, args };
        for query in queries(&rule.body, true) {
            let variables = rule.variables.iter().collect();
            set.push(task, Origin::Derived(number), rule.slots, variables, None, query, vec![head.clone()]);
        }
    }
    set
}

fn added_atoms(group: &EffectGroup) -> impl Iterator<Item = LiftedAtom> + '_ {
    group.changes.iter().filter_map(|(change, _)| match change {
        EffectChange::Add(atom) => Some(atom.clone()),
        EffectChange::Delete(_) | EffectChange::Numeric(..) => None,
    })
}

impl<'a> RuleSet<'a> {
    #[allow(clippy::too_many_arguments, reason = "one call a kind of rule, each with all parts at hand")]
    fn push(
        &mut self,
        task: &LiftedTask,
        origin: Origin,
        slots: usize,
        mut variables: Vec<&'a Variable>,
        guard: Option<LiftedAtom>,
        query: Query<'a>,
        heads: Vec<LiftedAtom>,
    ) {
        variables.extend(&query.variables);
        let body = guard.into_iter().chain(query.atoms.iter().map(|a| (*a).clone())).collect();
        let checks = query
            .checks
            .iter()
            .filter_map(|check| match check {
                Formula::Equal { left, right, negated, .. } => {
                    Some(Check::Equal { left: *left, right: *right, negated: *negated })
                }
                Formula::Literal { atom, .. } if !task.predicates[atom.predicate as usize].fluent => {
                    Some(Check::Absent(atom.clone()))
                }
                _ => None,
            })
            .collect();
        self.rules.push(JoinRule { slots, variables, body, checks, heads });
        self.origins.push(origin);
        self.queries.push(query);
    }
}
