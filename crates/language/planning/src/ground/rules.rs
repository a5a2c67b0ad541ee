//! The reachability rules of a task: one for each disjunct of an action's precondition, of a conditional effect and
//! of a derived predicate's body. A disjunct is a [`Query`]: positive atoms to join, cheap checks, and what is left for later.
//!
//! Before that, [`miniscope`] narrows quantifiers: variables that do not occur are dropped, and parts that share no variable are
//! quantified on their own. A quantifier over k variables of n objects then has n instances where each part has one of them, not n^k.

use super::join::{Check, JoinRule};
use crate::lifted::{EffectChange, EffectGroup, Formula, LiftedAtom, LiftedTask, Term, Variable};
use crate::satisfy::{group_by_variables, occurring};
use planforge_diagnostics::Span;
use std::borrow::Cow;

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

/// Disjuncts beyond this stay formulas and are split after grounding.
const MAX_DISJUNCTS: usize = 16;

/// One disjunct of a condition.
#[derive(Debug, Clone, Default)]
pub(crate) struct Query<'a> {
    /// Existential variables, bound like parameters.
    pub(crate) variables: Vec<&'a Variable>,
    /// The positive atoms.
    pub(crate) atoms: Vec<&'a LiftedAtom>,
    /// The same as formulas.
    pub(crate) literals: Vec<&'a Formula>,
    /// Negative literals and (in)equalities: [`Formula::Literal`] and [`Formula::Equal`] only.
    pub(crate) checks: Vec<&'a Formula>,
    /// Parts that only instantiation can expand.
    pub(crate) rest: Vec<&'a Formula>,
}

impl<'a> Query<'a> {
    fn merge(&self, other: &Query<'a>) -> Query<'a> {
        let mut all = self.clone();
        all.variables.extend(&other.variables);
        all.atoms.extend(&other.atoms);
        all.literals.extend(&other.literals);
        all.checks.extend(&other.checks);
        all.rest.extend(&other.rest);
        all
    }
}

/// The disjuncts of a condition. With `split` unset there is exactly one, and disjunctions and existential parts are in
/// its `rest`: for effects that may take place only once, however many ways their condition holds.
pub(crate) fn queries(formula: &Formula, split: bool) -> Vec<Query<'_>> {
    match formula {
        Formula::And(parts) => {
            let mut all = vec![Query::default()];
            for part in parts {
                let choices = queries(part, split);
                if choices.len() > 1 && all.len() * choices.len() > MAX_DISJUNCTS {
                    all.iter_mut().for_each(|q| q.rest.push(part));
                } else {
                    all = all.iter().flat_map(|q| choices.iter().map(move |c| q.merge(c))).collect();
                }
            }
            all
        }
        Formula::Or(parts, _) if split => {
            let all: Vec<Query<'_>> = parts.iter().flat_map(|p| queries(p, split)).collect();
            if all.len() > MAX_DISJUNCTS {
                vec![Query { rest: vec![formula], ..Query::default() }]
            } else {
                all
            }
        }
        Formula::Exists(variables, body, _) if split => {
            let mut all = queries(body, split);
            for query in &mut all {
                query.variables.extend(variables);
            }
            all
        }
        Formula::Literal { atom, negated: false, .. } => {
            vec![Query { atoms: vec![atom], literals: vec![formula], ..Query::default() }]
        }
        Formula::Literal { .. } | Formula::Equal { .. } => {
            vec![Query { checks: vec![formula], ..Query::default() }]
        }
        Formula::Or(..) | Formula::Exists(..) | Formula::Forall(..) | Formula::Compare { .. } => {
            vec![Query { rest: vec![formula], ..Query::default() }]
        }
    }
}

/// The task with narrow quantifiers.
pub(crate) fn miniscope(task: &LiftedTask) -> Cow<'_, LiftedTask> {
    let groups = task.schemas.iter().flat_map(|s| &s.effects);
    let conditions = task.schemas.iter().map(|s| &s.precondition).chain(groups.map(|g| &g.condition));
    let mut all = conditions.chain(task.rules.iter().map(|r| &r.body)).chain([&task.goal]);
    if !all.any(can_be_narrowed) {
        return Cow::Borrowed(task);
    }
    let mut task = task.clone();
    let narrow = |formula: &mut Formula| {
        if can_be_narrowed(formula) {
            *formula = narrowed(formula);
        }
    };
    for schema in &mut task.schemas {
        narrow(&mut schema.precondition);
        schema.effects.iter_mut().for_each(|group| narrow(&mut group.condition));
    }
    task.rules.iter_mut().for_each(|rule| narrow(&mut rule.body));
    narrow(&mut task.goal);
    Cow::Owned(task)
}

/// Returns true if a quantifier has several variables, and one does not occur in some part of its body.
fn can_be_narrowed(formula: &Formula) -> bool {
    match formula {
        Formula::And(parts) | Formula::Or(parts, _) => parts.iter().any(can_be_narrowed),
        Formula::Exists(variables, body, _) | Formula::Forall(variables, body, _) => {
            let parts = match &**body {
                Formula::And(parts) | Formula::Or(parts, _) => parts.as_slice(),
                single => std::slice::from_ref(single),
            };
            let open: Vec<&Variable> = variables.iter().collect();
            parts.iter().any(|part| occurring(part, &open).len() < open.len()) && !open.is_empty()
                || can_be_narrowed(body)
        }
        Formula::Literal { .. } | Formula::Equal { .. } | Formula::Compare { .. } => false,
    }
}

fn narrowed(formula: &Formula) -> Formula {
    match formula {
        Formula::And(parts) => Formula::And(parts.iter().map(narrowed).collect()),
        Formula::Or(parts, span) => Formula::Or(parts.iter().map(narrowed).collect(), *span),
        Formula::Exists(variables, body, span) => quantified(true, variables, narrowed(body), *span),
        Formula::Forall(variables, body, span) => quantified(false, variables, narrowed(body), *span),
        other => other.clone(),
    }
}

/// The quantified formula, its quantifier moved inwards by one step.
fn quantified(exists: bool, variables: &[Variable], body: Formula, span: Span) -> Formula {
    let junction = |parts: Vec<Formula>, conjunction: bool| {
        if conjunction { Formula::And(parts) } else { Formula::Or(parts, span) }
    };
    let quantifier = |variables: Vec<Variable>, body: Formula| match (variables.is_empty(), exists) {
        (true, _) => body,
        (false, true) => Formula::Exists(variables, Box::new(body), span),
        (false, false) => Formula::Forall(variables, Box::new(body), span),
    };
    if variables.iter().any(|v| v.objects.is_empty()) {
        return junction(Vec::new(), !exists);
    }
    let open: Vec<&Variable> = variables.iter().collect();
    let of = |list: Vec<u32>| -> Vec<Variable> {
        list.into_iter().map(|v| variables[v as usize].clone()).collect()
    };
    match body {
        // The quantifier distributes over its own junction.
        Formula::Or(parts, _) if exists => {
            let one = |part: Formula| quantified(exists, &of(occurring(&part, &open)), part, span);
            Formula::Or(parts.into_iter().map(one).collect(), span)
        }
        Formula::And(parts) if !exists => {
            let one = |part: Formula| quantified(exists, &of(occurring(&part, &open)), part, span);
            Formula::And(parts.into_iter().map(one).collect())
        }
        // Over the other one it is split by the variables that parts share.
        Formula::And(parts) | Formula::Or(parts, _) => {
            let with_variables = parts.into_iter().map(|part| {
                let variables = occurring(&part, &open);
                (part, variables)
            });
            let (closed, rest): (Vec<_>, Vec<_>) = with_variables.partition(|(_, list)| list.is_empty());
            let mut done: Vec<Formula> = closed.into_iter().map(|(part, _)| part).collect();
            for mut group in group_by_variables(rest, open.len()) {
                let body = match group.parts.len() {
                    1 => group.parts.pop().unwrap_or(Formula::And(Vec::new())),
                    _ => junction(group.parts, exists),
                };
                done.push(quantifier(of(group.variables), body));
            }
            match done.len() {
                1 => done.pop().unwrap_or(Formula::And(Vec::new())),
                _ => junction(done, exists),
            }
        }
        body => quantifier(of(occurring(&body, &open)), body),
    }
}
