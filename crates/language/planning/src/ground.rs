//! Lifted task to ground task: relaxed reachability by joins, then operators, conditional effects and axioms for
//! the rules that fired.

mod expand;
mod join;
mod metric;
mod rules;

pub(crate) use expand::{Ground, junction};
pub(crate) use metric::{Linear, functions_deciding};
pub(crate) use rules::{Query, queries};

use crate::lifted::{
    EffectChange, EffectGroup, Formula, LiftedTask, Metric, SoftCondition, SoftPlace, Variable,
};
use crate::resources::{ResourceLimits, StopReason, check};
use crate::satisfy::Work;
use crate::task::{
    Axiom, Condition, ConditionalEffect, Fact, GroundAction, GroundTask, NumEffect, ObjectId, Operator,
    SourcePlace, Unsupported,
};
use expand::{Conjunction, Expander, FactRef, Facts};
use join::Reached;
use metric::{CostModel, Definedness, NumericEffects, functions_read};
use planforge_diagnostics::Span;
use planforge_pddl::Number;
use planforge_pddl::ast::AssignOp;
use rules::{Origin, RuleSet};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use std::sync::Arc;

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
    Ok(ground_with(task, &Wanted::default(), limits, resources)?.0)
}

/// Formulas to expand with a task, and amounts to convert to the unit of its costs.
#[derive(Default)]
pub(crate) struct Wanted<'w> {
    /// Conditions with the bindings of their variables.
    pub(crate) conditions: Vec<(&'w Formula, Vec<ObjectId>)>,
    /// Preferred conditions of actions, each with the index of an amount.
    pub(crate) preferred: Vec<(&'w SoftCondition, usize)>,
    /// Amounts of the metric, from 0 up.
    pub(crate) amounts: Vec<Number>,
}

/// What was [`Wanted`].
pub(crate) struct Expanded {
    pub(crate) conditions: Vec<Ground>,
    /// For each operator its preferred conditions with the indices of their amounts.
    pub(crate) preferred: Vec<Vec<(Ground, usize)>>,
    /// The amounts as costs of operators.
    pub(crate) amounts: Vec<u64>,
}

/// Grounds a task and expands further formulas over its facts.
///
/// # Errors
/// Those of [`ground`].
pub(crate) fn ground_with(
    task: &LiftedTask,
    wanted: &Wanted<'_>,
    limits: GroundLimits,
    resources: &mut dyn ResourceLimits,
) -> Result<(GroundTask, Expanded), StopReason> {
    let task = &*rules::miniscope(task);
    let set = rules::rule_set(task);
    let reached = reach(task, &set, limits, resources)?;
    let deletable = deletable(task, &set, &reached);
    let Reached { tables, firings } = reached;
    let mut facts = expand::Facts::new(task, tables, &deletable);
    assemble(task, &set, wanted, &mut facts, firings, limits.formula_parts, resources)
}

/// Called with a binding.
type OnBinding<'f> = dyn FnMut(&mut [ObjectId], &mut dyn ResourceLimits) -> Result<(), StopReason> + 'f;

/// Calls `f` with every binding of the variables.
///
/// # Errors
/// Those of `f`, and the limit that ended the work.
pub(crate) fn for_each_binding(
    variables: &[Variable],
    binding: &mut [ObjectId],
    resources: &mut dyn ResourceLimits,
    f: &mut OnBinding<'_>,
) -> Result<(), StopReason> {
    let Some((first, rest)) = variables.split_first() else {
        check(resources.poll())?;
        return f(binding, resources);
    };
    for &object in first.objects.iter() {
        binding[first.slot as usize] = object;
        for_each_binding(rest, binding, resources, f)?;
    }
    Ok(())
}

/// Variables of an action, rule or quantifier. Joins and expansions descend once for each.
pub(crate) const MAX_VARIABLES: usize = 1000;

/// Computes the fixpoint of delete relaxation.
fn reach(
    task: &LiftedTask,
    set: &RuleSet<'_>,
    limits: GroundLimits,
    resources: &mut dyn ResourceLimits,
) -> Result<Reached, StopReason> {
    if set.rules.iter().any(|rule| rule.variables.len() > MAX_VARIABLES) {
        return Err(StopReason::Grounding);
    }
    let input =
        join::PlanInput { fluent: &set.fluent, domains: &set.domains, objects: task.symbols.objects.len() };
    let caps = join::Caps { firings: limits.instances, atoms: limits.atoms };
    join::Engine::new(&set.rules, &input, &task.init, caps).run(resources)
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
        let reached = reach(task, &set, limits, resources)?;
        let mut applicable = vec![false; task.schemas.len()];
        for (origin, firings) in set.origins.iter().zip(&reached.firings) {
            if let Origin::Action(schema) = origin {
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

/// An operator with numeric effects that may affect only the cost.
struct Draft {
    action: u32,
    condition: Condition,
    add: Vec<Fact>,
    delete: Vec<Fact>,
    conditional: Vec<ConditionalEffect>,
    numeric: NumericParts,
    preferred: Vec<(Ground, usize)>,
}

/// Numeric effects with their places. Consecutive operators with equal ones share them: most actions of a schema cost the same, and one
/// effect takes as much memory as the rest of an operator.
type NumericParts = Rc<Vec<(NumEffect, Span)>>;

/// Estimated bytes of a condition with what it belongs to.
fn condition_bytes(condition: &Condition) -> u64 {
    let facts = condition.positive.len() + condition.negative.len();
    (160 + 4 * facts + 160 * condition.numeric.len()) as u64
}

/// Identity of a draft within its action: variables, positive and negative precondition.
type SeenKey = (Box<[ObjectId]>, Box<[Fact]>, Box<[Fact]>);

/// State of building the operators.
struct Assembly<'a, 'f> {
    task: &'a LiftedTask,
    set: &'a RuleSet<'a>,
    wanted: &'a Wanted<'a>,
    expander: Expander<'f>,
    actions: Vec<GroundAction>,
    /// Numbers of the actions of schemas in `repeats`.
    action_ids: FxHashMap<GroundAction, u32>,
    /// For each schema, true if several firings may have the same action: it has several rules, or variables beside its parameters.
    repeats: Vec<bool>,
    drafts: Vec<Draft>,
    /// Numeric effects of the last draft.
    last_numeric: NumericParts,
    /// Drafts by schema and all its variables, for schemas with conditional effects.
    by_binding: FxHashMap<(usize, Box<[ObjectId]>), Vec<usize>>,
    seen: FxHashSet<SeenKey>,
    axioms: Vec<Axiom>,
    top_stratum: u32,
    numeric_condition: Option<Unsupported>,
}

/// For each reached atom, true if some effect deletes it.
fn deletable(task: &LiftedTask, set: &RuleSet<'_>, reached: &Reached) -> Vec<Vec<bool>> {
    let mut marks: Vec<Vec<bool>> = reached.tables.iter().map(|t| vec![false; t.len()]).collect();
    for (r, rule) in set.rules.iter().enumerate() {
        let groups: Vec<&EffectGroup> = match set.origins[r] {
            Origin::Action(s) => task.schemas[s].effects.iter().filter(|g| g.is_plain()).collect(),
            Origin::Effect(s, g) => vec![&task.schemas[s].effects[g]],
            Origin::Derived(_) => continue,
        };
        let deleted: Vec<_> = groups
            .iter()
            .flat_map(|g| &g.changes)
            .filter_map(|(c, _)| if let EffectChange::Delete(atom) = c { Some(atom) } else { None })
            .collect();
        let mut cells = Vec::new();
        for_each_firing(rule, &reached.firings[r], |binding| {
            for atom in &deleted {
                cells.clear();
                cells.extend(atom.args.iter().map(|term| term.object(binding)));
                if let Some(row) = reached.tables[atom.predicate as usize].find(&cells) {
                    marks[atom.predicate as usize][row as usize] = true;
                }
            }
        });
    }
    marks
}

fn for_each_firing(rule: &join::JoinRule<'_>, firings: &[ObjectId], mut f: impl FnMut(&mut [ObjectId])) {
    let mut binding = vec![ObjectId::MAX; rule.slots];
    if rule.variables.is_empty() {
        // A firing without variables leaves nothing to record; the count is kept by a marker instead.
        if !firings.is_empty() {
            f(&mut binding);
        }
        return;
    }
    for values in firings.chunks_exact(rule.variables.len()) {
        for (variable, value) in rule.variables.iter().zip(values) {
            binding[variable.slot as usize] = *value;
        }
        f(&mut binding);
    }
}

/// Builds the ground task.
fn assemble(
    task: &LiftedTask,
    set: &RuleSet<'_>,
    wanted: &Wanted<'_>,
    facts: &mut Facts,
    firings: Vec<Vec<ObjectId>>,
    part_cap: usize,
    resources: &mut dyn ResourceLimits,
) -> Result<(GroundTask, Expanded), StopReason> {
    let top_stratum = task.rules.iter().map(|r| r.stratum + 1).max().unwrap_or(0);
    let mut has_rule = vec![false; task.schemas.len()];
    let mut repeats = has_rule.clone();
    for (rule, origin) in set.rules.iter().zip(&set.origins) {
        if let Origin::Action(schema) = *origin {
            let has_more = rule.variables.len() > task.schemas[schema].parameters;
            repeats[schema] |= has_more || std::mem::replace(&mut has_rule[schema], true);
        }
    }
    let mut assembly = Assembly {
        repeats,
        task,
        set,
        wanted,
        expander: Expander::new(facts, part_cap),
        actions: Vec::new(),
        action_ids: FxHashMap::default(),
        drafts: Vec::new(),
        last_numeric: NumericParts::default(),
        by_binding: FxHashMap::default(),
        seen: FxHashSet::default(),
        axioms: Vec::new(),
        top_stratum,
        numeric_condition: None,
    };
    // Firings are freed rule by rule: in large tasks they take as much memory as the operators.
    for (r, (rule, firings)) in set.rules.iter().zip(firings).enumerate() {
        let mut outcome = Ok(());
        for_each_firing(rule, &firings, |binding| {
            if outcome.is_ok() {
                outcome = assembly.firing(r, binding, resources);
            }
        });
        outcome?;
    }
    assembly.finish(resources)
}

impl Assembly<'_, '_> {
    fn firing(
        &mut self,
        r: usize,
        binding: &mut [ObjectId],
        resources: &mut dyn ResourceLimits,
    ) -> Result<(), StopReason> {
        let ground = self.condition(r, binding, resources)?;
        match self.set.origins[r] {
            Origin::Action(schema) => self.action(schema, &ground, binding, resources),
            Origin::Effect(schema, group) => {
                self.conditional_effect(schema, group, &ground, binding, resources)
            }
            Origin::Derived(rule) => {
                let rule = &self.task.rules[rule];
                let args: Vec<ObjectId> = rule.variables.iter().map(|v| binding[v.slot as usize]).collect();
                if let FactRef::Fact(head) = self.expander.facts.find(rule.predicate, &args) {
                    for conjunction in self.expander.disjuncts(&ground, rule.stratum) {
                        if let Some(condition) = self.read_condition(conjunction, SourcePlace::domain) {
                            check(resources.charge(condition_bytes(&condition)))?;
                            self.axioms.push(Axiom { head, condition, stratum: rule.stratum });
                        }
                    }
                }
                Ok(())
            }
        }
    }

    /// The condition of a firing, simplified.
    fn condition(
        &mut self,
        r: usize,
        binding: &mut [ObjectId],
        resources: &mut dyn ResourceLimits,
    ) -> Result<Ground, StopReason> {
        let query = &self.set.queries[r];
        self.expander.start();
        let mut parts = Vec::with_capacity(query.atoms.len() + query.checks.len());
        for atom in &query.atoms {
            match self.expander.facts.lookup(atom, binding) {
                FactRef::Always => {}
                FactRef::Never => return Ok(Ground::False),
                FactRef::Fact(fact) => parts.push(Ground::Literal(fact, false)),
            }
        }
        for formula in query.checks.iter().chain(&query.rest) {
            match self.expander.expand(formula, binding, resources)? {
                Ground::True => {}
                Ground::False => return Ok(Ground::False),
                other => parts.push(other),
            }
        }
        Ok(Ground::And(parts))
    }

    /// The conjunction as a condition; the first numeric condition is noted.
    fn read_condition(
        &mut self,
        conjunction: Conjunction,
        place: impl Fn(Span) -> SourcePlace,
    ) -> Option<Condition> {
        if let Some(first) = conjunction.numeric.first() {
            let place = place(first.span);
            self.numeric_condition
                .get_or_insert_with(|| Unsupported { what: "a numeric condition".to_owned(), place });
        }
        conjunction.into_condition()
    }

    fn action(
        &mut self,
        schema: usize,
        ground: &Ground,
        binding: &mut [ObjectId],
        resources: &mut dyn ResourceLimits,
    ) -> Result<(), StopReason> {
        let shape = &self.task.schemas[schema];
        let values: Box<[ObjectId]> = shape.variables.iter().map(|v| binding[v.slot as usize]).collect();
        let preferred = self.preferred(schema, binding, resources)?;
        let mut own = None;
        for conjunction in self.expander.disjuncts(ground, self.top_stratum) {
            let Some(condition) = self.read_condition(conjunction, SourcePlace::domain) else { continue };
            let fresh = self.actions.len() as u32;
            let named = || GroundAction { action: schema as u32, args: values[..shape.parameters].into() };
            let action = match self.repeats[schema] {
                true => *self.action_ids.entry(named()).or_insert(fresh),
                false => *own.get_or_insert(fresh),
            };
            if action == fresh {
                self.actions.push(named());
            } else if condition.numeric.is_empty() {
                let mut key = values.to_vec();
                key.push(action);
                if !self.seen.insert((key.into(), condition.positive.clone(), condition.negative.clone())) {
                    continue;
                }
            }
            let mut draft = Draft {
                action,
                condition,
                add: Vec::new(),
                delete: Vec::new(),
                conditional: Vec::new(),
                numeric: NumericParts::default(),
                preferred: preferred.clone(),
            };
            let mut numeric = Vec::new();
            for group in shape.effects.iter().filter(|g| g.is_plain()) {
                numeric.extend(self.changes(
                    group,
                    &Condition::default(),
                    binding,
                    &mut draft.add,
                    &mut draft.delete,
                ));
            }
            if numeric != *self.last_numeric {
                check(resources.charge(size_of_val(numeric.as_slice()) as u64))?;
                self.last_numeric = Rc::new(numeric);
            }
            draft.numeric = Rc::clone(&self.last_numeric);
            if shape.effects.iter().any(|g| !g.is_plain()) {
                self.by_binding.entry((schema, values.clone())).or_default().push(self.drafts.len());
            }
            let size = 160 + 4 * (draft.add.len() + draft.delete.len() + draft.condition.positive.len());
            self.drafts.push(draft);
            if self.drafts.len().is_multiple_of(256) {
                check(resources.charge(256 * size as u64))?;
                check(resources.poll())?;
            }
        }
        Ok(())
    }

    /// The preferred conditions of an action.
    fn preferred(
        &mut self,
        schema: usize,
        binding: &[ObjectId],
        resources: &mut dyn ResourceLimits,
    ) -> Result<Vec<(Ground, usize)>, StopReason> {
        let mut found = Vec::new();
        for (soft, amount) in &self.wanted.preferred {
            if !matches!(soft.place, SoftPlace::Action { schema: own, .. } if own as usize == schema) {
                continue;
            }
            let mut own = vec![ObjectId::MAX; soft.slots];
            let shared = own.len().min(binding.len());
            own[..shared].copy_from_slice(&binding[..shared]);
            for_each_binding(&soft.variables, &mut own, resources, &mut |own, resources| {
                self.expander.start();
                found.push((self.expander.expand(&soft.condition, own, resources)?, *amount));
                Ok(())
            })?;
        }
        Ok(found)
    }

    /// Sorts the changes of a group into added and deleted facts; the numeric ones are returned.
    fn changes(
        &mut self,
        group: &EffectGroup,
        condition: &Condition,
        binding: &[ObjectId],
        add: &mut Vec<Fact>,
        delete: &mut Vec<Fact>,
    ) -> Vec<(NumEffect, Span)> {
        let mut numeric = Vec::new();
        for (change, span) in &group.changes {
            match change {
                EffectChange::Add(atom) => {
                    if let FactRef::Fact(fact) = self.expander.facts.lookup(atom, binding) {
                        add.push(fact);
                    }
                }
                EffectChange::Delete(atom) => {
                    if let FactRef::Fact(fact) = self.expander.facts.lookup(atom, binding) {
                        delete.push(fact);
                    }
                }
                EffectChange::Numeric(op, target, value) => {
                    let variable = self.expander.facts.variable(&target.instantiate(binding));
                    let value = self.expander.number(value, binding);
                    let from_zero = self.task.counts_from_zero(target.predicate)
                        && op.is_additive()
                        && self.expander.facts.initial_number(variable).is_undefined();
                    let condition = condition.clone();
                    numeric.push((NumEffect { condition, variable, op: *op, value, from_zero }, *span));
                }
            }
        }
        numeric
    }

    fn conditional_effect(
        &mut self,
        schema: usize,
        group: usize,
        ground: &Ground,
        binding: &mut [ObjectId],
        resources: &mut dyn ResourceLimits,
    ) -> Result<(), StopReason> {
        let shape = &self.task.schemas[schema];
        let values: Box<[ObjectId]> = shape.variables.iter().map(|v| binding[v.slot as usize]).collect();
        let Some(drafts) = self.by_binding.get(&(schema, values)).cloned() else { return Ok(()) };
        let group = &shape.effects[group];
        let once = group.changes.iter().any(|(c, _)| matches!(c, EffectChange::Numeric(..)));
        let conjunctions = if once {
            self.expander.single(ground, self.top_stratum).into_iter().collect()
        } else {
            self.expander.disjuncts(ground, self.top_stratum)
        };
        for conjunction in conjunctions {
            let Some(condition) = self.read_condition(conjunction, SourcePlace::domain) else { continue };
            let (mut add, mut delete) = (Vec::new(), Vec::new());
            let numeric = self.changes(group, &condition, binding, &mut add, &mut delete);
            let changes = 4 * (add.len() + delete.len()) + 160 * numeric.len();
            let bytes = condition_bytes(&condition) + changes as u64;
            check(resources.charge(bytes.saturating_mul(drafts.len() as u64)))?;
            for &d in &drafts {
                self.drafts[d].attach(&condition, &add, &delete, &numeric);
            }
        }
        Ok(())
    }

    fn finish(mut self, resources: &mut dyn ResourceLimits) -> Result<(GroundTask, Expanded), StopReason> {
        let task = self.task;
        (self.action_ids, self.by_binding, self.seen) = Default::default();
        let mut conditions = Vec::with_capacity(self.wanted.conditions.len());
        for (formula, binding) in &self.wanted.conditions {
            self.expander.start();
            conditions.push(self.expander.expand(formula, &mut binding.clone(), resources)?);
        }
        let mut goal_binding = vec![ObjectId::MAX; task.goal_slots];
        self.expander.start();
        let ground = self.expander.expand(&task.goal, &mut goal_binding, resources)?;
        let single = self.expander.single(&ground, self.top_stratum);
        let goal = single.and_then(|c| self.read_condition(c, SourcePlace::problem));
        self.expander.facts.start_cost_counter(task);
        let metric = match &task.metric {
            Metric::Value { expr, .. } => Some(self.expander.number(expr, &[])),
            Metric::Steps => None,
        };
        let numeric = NumericEffects::new(task, self.expander.facts);
        let mut costs = CostModel::new(task, metric.as_ref(), &numeric);
        let mut drafts = self.drafts;
        let mut partial = Vec::with_capacity(drafts.len());
        let mut last: Option<(NumericParts, Definedness)> = None;
        drafts.retain(|draft| {
            let defined = match &last {
                Some((effects, defined)) if Rc::ptr_eq(effects, &draft.numeric) => *defined,
                _ => numeric.of_operator(&draft.numeric),
            };
            last = Some((Rc::clone(&draft.numeric), defined));
            if defined == Definedness::Sometimes {
                let span = draft.numeric.first().map_or(Span::default(), |(_, span)| *span);
                let what = "a numeric effect that has no value in some states".to_owned();
                self.numeric_condition.get_or_insert(Unsupported { what, place: SourcePlace::domain(span) });
            }
            if defined != Definedness::Never {
                partial.push(defined == Definedness::Sometimes);
            }
            defined != Definedness::Never
        });
        // An effect that has no value in some states keeps its action from being applicable.
        let terms = &self.expander.facts.variable_terms;
        let mut read = functions_read(task);
        let partial_drafts = drafts.iter().zip(&partial).filter(|(_, partial)| **partial);
        for (effect, _) in partial_drafts.flat_map(|(draft, _)| draft.numeric.iter()) {
            effect.value.for_each_variable(&mut |v| {
                read.insert(terms[v as usize].predicate);
            });
            if effect.op != AssignOp::Assign && !effect.from_zero {
                read.insert(terms[effect.variable as usize].predicate);
            }
        }
        for condition in &conditions {
            condition.for_each_leaf(&mut |leaf| {
                let Ground::Number(comparison) = leaf else { return };
                for side in [&comparison.left, &comparison.right] {
                    side.for_each_variable(&mut |v| _ = read.insert(terms[v as usize].predicate));
                }
            });
        }
        let read = metric::read_for(task, read);
        let preferred = drafts.iter_mut().map(|draft| std::mem::take(&mut draft.preferred)).collect();
        let mut values: Vec<Number> = drafts.iter().map(|draft| costs.cost(&draft.numeric)).collect();
        values.extend(&self.wanted.amounts);
        let (cost_scale, mut integers) = costs.integers(&values);
        let amounts = integers.split_off(drafts.len());
        let metric_start = costs.start(task, metric.as_ref(), self.expander.facts);
        let over_states = metric.filter(|_| costs.unsupported.is_some());
        let of_metric = metric::functions_of_metric(task, self.expander.facts, over_states.as_ref());
        let operators: Vec<Operator> = drafts
            .into_iter()
            .zip(integers.into_iter().zip(partial))
            .map(|(draft, (cost, partial))| {
                let function = |v: u32| terms[v as usize].predicate;
                let keep = |v| read.contains(&function(v));
                draft.finish(cost, partial, keep, |v| of_metric.contains(&function(v)))
            })
            .collect();
        let mut axioms = self.axioms;
        axioms.extend(self.expander.axioms);
        if let Some(c) = axioms.iter().flat_map(|a| a.condition.numeric.iter()).next() {
            let place = SourcePlace::domain(c.span);
            self.numeric_condition
                .get_or_insert_with(|| Unsupported { what: "a numeric condition".to_owned(), place });
        }
        axioms.sort_by_key(|a| a.stratum);
        let facts = self.expander.facts;
        let mut symbols = (*task.symbols).clone();
        facts.name_invented(&mut symbols);
        let init = task
            .init
            .iter()
            .filter_map(|a| match facts.find(a.predicate, &a.args) {
                FactRef::Fact(fact) => Some(fact),
                FactRef::Always | FactRef::Never => None,
            })
            .collect();
        let ground = GroundTask {
            symbols: Arc::new(symbols),
            basic_facts: facts.basic,
            facts: std::mem::take(&mut facts.atoms),
            variables: facts.variable_terms.clone(),
            actions: self.actions,
            operators,
            axioms,
            init,
            init_numbers: facts.initial_numbers(),
            goal_unreachable: goal.is_none(),
            goal: goal.unwrap_or_default(),
            cost_scale,
            metric_start,
            maximize: matches!(task.metric, Metric::Value { maximize: true, .. }),
            cost_unsupported: costs.unsupported,
            metric: over_states.map(|expr| metric::over_states(task, facts, expr, &read)),
            numeric_condition: self.numeric_condition,
        };
        Ok((ground, Expanded { conditions, preferred, amounts }))
    }
}

impl Draft {
    /// Adds a conditional effect, simplified under the precondition.
    fn attach(
        &mut self,
        condition: &Condition,
        add: &[Fact],
        delete: &[Fact],
        numeric: &[(NumEffect, Span)],
    ) {
        let clash = |a: &[Fact], b: &[Fact]| a.iter().any(|f| b.binary_search(f).is_ok());
        let own = &self.condition;
        if clash(&condition.positive, &own.negative) || clash(&condition.negative, &own.positive) {
            return;
        }
        let left =
            |a: &[Fact], b: &[Fact]| a.iter().copied().filter(|f| b.binary_search(f).is_err()).collect();
        let condition = Condition {
            positive: left(&condition.positive, &own.positive),
            negative: left(&condition.negative, &own.negative),
            numeric: condition.numeric.clone(),
        };
        for (effect, span) in numeric {
            let effect = NumEffect { condition: condition.clone(), ..effect.clone() };
            Rc::make_mut(&mut self.numeric).push((effect, *span));
        }
        if add.is_empty() && delete.is_empty() {
            return;
        }
        if condition.is_trivial() {
            self.add.extend_from_slice(add);
            self.delete.extend_from_slice(delete);
        } else {
            self.conditional.push(ConditionalEffect { condition, add: add.into(), delete: delete.into() });
        }
    }

    /// The operator with the numeric effects that matter; all of them if they may keep it from being applicable.
    /// Those that only the metric reads are apart.
    fn finish(
        mut self,
        cost: u64,
        partial: bool,
        keep: impl Fn(u32) -> bool,
        metric: impl Fn(u32) -> bool,
    ) -> Operator {
        let tidy = |list: &mut Vec<Fact>| {
            list.sort_unstable();
            list.dedup();
        };
        tidy(&mut self.add);
        tidy(&mut self.delete);
        self.delete.retain(|f| self.add.binary_search(f).is_err());
        let effects = |kept: &dyn Fn(u32) -> bool| {
            self.numeric.iter().filter(|(e, _)| kept(e.variable)).map(|(e, _)| e.clone()).collect()
        };
        Operator {
            action: self.action,
            precondition: self.condition,
            add: self.add.into(),
            delete: self.delete.into(),
            conditional: self.conditional.into(),
            metric: effects(&|v| !partial && !keep(v) && metric(v)),
            numeric: effects(&|v| partial || keep(v)),
            partial,
            cost,
        }
    }
}
