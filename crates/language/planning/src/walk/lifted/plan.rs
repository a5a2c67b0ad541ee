//! Join plans for the ground actions of a schema: an order of joins for each disjunct of its precondition,
//! the most selective atom first, then the parameters that no atom binds.
//!
//! A [`Relation`] has the true atoms of one predicate, indexed by some of their columns. Rows are sorted, so that the order in
//! which a join visits them depends on the state alone.

use super::{Lifted, for_ever, row};
use crate::bits;
use crate::ground::{Query, queries};
use crate::lifted::{
    ActionSchema, EffectChange, EffectGroup, Formula, LiftedAtom, LiftedTask, Term, Variable,
};
use crate::resources::StopReason;
use crate::satisfy::{Cut, Work, conjuncts, first, for_each_slot, holds};
use crate::task::ObjectId;
use crate::validate::world::{Args, World};
use planforge_diagnostics::Span;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The relations of all predicates.
#[derive(Debug)]
pub(crate) struct Tables {
    relations: Vec<Relation>,
}

impl Tables {
    pub(crate) fn new(task: &LiftedTask) -> Self {
        Tables { relations: task.predicates.iter().map(|_| Relation::default()).collect() }
    }

    pub(crate) fn insert(&mut self, predicate: u32, row: &Args) {
        self.relations[predicate as usize].insert(row);
    }

    pub(crate) fn remove(&mut self, predicate: u32, row: &Args) {
        self.relations[predicate as usize].remove(row);
    }

    pub(crate) fn fill<'r>(&mut self, predicate: u32, rows: impl Iterator<Item = &'r Args>) {
        self.relations[predicate as usize].fill(rows);
    }
}

/// Relation between a cell of a row and the binding.
#[derive(Debug)]
enum Cell {
    Same(Term),
    /// It becomes the slot's object, which must be in the set.
    Bind(u32, Arc<[u64]>),
}

#[derive(Debug)]
enum JoinStep {
    /// Extends the binding by the rows of an atom.
    Join { predicate: u32, index: usize, key: Vec<Term>, cells: Vec<Cell>, checks: Vec<Formula> },
    /// Extends it by the objects of a type.
    Each { slot: u32, objects: Arc<[ObjectId]>, checks: Vec<Formula> },
}

/// One disjunct of a schema's precondition.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) schema: usize,
    slots: usize,
    /// Checks without any variable.
    first: Vec<Formula>,
    steps: Vec<JoinStep>,
    /// True if one ground action may be found several times.
    pub(crate) repeats: bool,
    /// Variables besides the schema's own.
    extra: Vec<Variable>,
    /// The whole disjunct.
    whole: Formula,
    positive: Vec<LiftedAtom>,
    negative: Vec<LiftedAtom>,
    /// True if some ground action may change nothing, according to the predicates.
    may_change_nothing: bool,
}

/// The plans of all schemas.
pub(crate) fn plans<T>(task: &LiftedTask, world: &World<T>, tables: &mut Tables) -> Vec<Plan>
where
    T: std::ops::Deref<Target = LiftedTask>,
{
    let mut all = Vec::new();
    for (number, schema) in task.schemas.iter().enumerate() {
        let disjuncts = queries(&schema.precondition, true);
        let several = disjuncts.len() > 1;
        for query in disjuncts {
            let repeats = several || !query.variables.is_empty();
            let rows = |p: u32| world.rows(p).len();
            let words = bits::words_for(task.symbols.objects.len());
            let mut plan = Planner::new(schema, &query, words).plan(number, query, repeats, &rows, tables);
            plan.may_change_nothing = plan.may_change_nothing(task, schema);
            all.push(plan);
        }
    }
    all
}

struct Planner<'a> {
    variables: Vec<&'a Variable>,
    bound: Vec<bool>,
    checks: Vec<&'a Formula>,
    words: usize,
}

impl<'a> Planner<'a> {
    fn new(schema: &'a ActionSchema, query: &Query<'a>, words: usize) -> Self {
        let variables = schema.variables.iter().chain(query.variables.iter().copied()).collect();
        let checks = query.checks.iter().chain(&query.rest).copied().collect();
        Planner { variables, bound: vec![false; schema.slots], checks, words }
    }

    fn plan(
        mut self,
        schema: usize,
        query: Query<'a>,
        repeats: bool,
        rows: &impl Fn(u32) -> usize,
        tables: &mut Tables,
    ) -> Plan {
        let first = self.ready();
        let mut open = query.atoms.clone();
        let mut steps = Vec::new();
        while !open.is_empty() {
            let cost = |atom: &LiftedAtom| self.cost(atom, rows);
            let best = (0..open.len()).min_by(|&a, &b| cost(open[a]).total_cmp(&cost(open[b]))).unwrap_or(0);
            let atom = open.remove(best);
            let columns: Vec<usize> =
                (0..atom.args.len()).filter(|&c| self.is_bound(&atom.args[c])).collect();
            let key = columns.iter().map(|&c| atom.args[c]).collect();
            let index = tables.relations[atom.predicate as usize].index_on(columns);
            let cells = atom.args.iter().map(|&t| self.cell(t)).collect();
            let checks = self.ready();
            steps.push(JoinStep::Join { predicate: atom.predicate, index, key, cells, checks });
        }
        for variable in self.variables.clone() {
            if !self.bound[variable.slot as usize] {
                self.bound[variable.slot as usize] = true;
                let checks = self.ready();
                steps.push(JoinStep::Each {
                    slot: variable.slot,
                    objects: Arc::clone(&variable.objects),
                    checks,
                });
            }
        }
        let literal = |wanted: bool| {
            let of = move |f: &&Formula| match f {
                Formula::Literal { atom, negated, .. } if *negated == wanted => Some(atom.clone()),
                _ => None,
            };
            query.checks.iter().filter_map(of).collect::<Vec<_>>()
        };
        let atoms = query.atoms.iter().map(|&a| a.clone());
        let as_formula = |atom: LiftedAtom| Formula::Literal { atom, negated: false, span: Span::default() };
        Plan {
            schema,
            slots: self.bound.len(),
            first,
            steps,
            repeats,
            extra: query.variables.iter().map(|&v| v.clone()).collect(),
            whole: Formula::And(
                atoms
                    .clone()
                    .map(as_formula)
                    .chain(query.checks.iter().chain(&query.rest).map(|&f| f.clone()))
                    .collect(),
            ),
            positive: atoms.collect(),
            negative: literal(true),
            may_change_nothing: true,
        }
    }

    fn is_bound(&self, term: &Term) -> bool {
        match term {
            Term::Slot(slot) => self.bound[*slot as usize],
            Term::Object(_) => true,
        }
    }

    /// Estimates the number of rows: each bound column divides them by the number of objects of its type, or
    /// by its root if there are more objects than rows.
    fn cost(&self, atom: &LiftedAtom, rows: &impl Fn(u32) -> usize) -> f64 {
        let count = rows(atom.predicate).max(1) as f64;
        let bound = atom.args.iter().filter(|t| self.is_bound(t)).count();
        if bound == atom.args.len() { 0.0 } else { count.powf(1.0 - bound as f64 / atom.args.len() as f64) }
    }

    fn cell(&mut self, term: Term) -> Cell {
        match term {
            Term::Slot(slot) if !self.bound[slot as usize] => {
                self.bound[slot as usize] = true;
                let mut allowed = vec![0u64; self.words];
                for variable in self.variables.iter().filter(|v| v.slot == slot) {
                    variable.objects.iter().for_each(|&o| bits::set(&mut allowed, o));
                }
                Cell::Bind(slot, allowed.into())
            }
            bound => Cell::Same(bound),
        }
    }

    /// Removes and returns the checks whose variables are all bound.
    fn ready(&mut self) -> Vec<Formula> {
        let bound = &self.bound;
        let own: Vec<u32> = self.variables.iter().map(|v| v.slot).collect();
        // Slots of quantified variables inside the formula are its own business.
        let free = |slot: u32| own.contains(&slot) && !bound[slot as usize];
        let (now, later) = std::mem::take(&mut self.checks).into_iter().partition(|f| !mentions(f, &free));
        self.checks = later;
        let now: Vec<&Formula> = now;
        now.into_iter().cloned().collect()
    }
}

/// Returns true if a formula has a slot for which `is` holds.
fn mentions(formula: &Formula, is: &impl Fn(u32) -> bool) -> bool {
    let mut found = false;
    for_each_slot(formula, &mut |slot| found |= is(slot));
    found
}

/// A join under way.
struct Join<'j, 'w, T, F> {
    plan: &'j Plan,
    tables: &'j Tables,
    world: &'j World<T>,
    work: &'j mut Work<'w>,
    found: &'j mut F,
}

impl Plan {
    /// Returns true if every predicate that the schema adds is in the precondition or an effect's condition,
    /// or never deleted; and likewise for those it deletes, which may be added again or never added.
    fn may_change_nothing(&self, task: &LiftedTask, schema: &ActionSchema) -> bool {
        let all = || task.schemas.iter().flat_map(|s| &s.effects).flat_map(|g| &g.changes).map(|(c, _)| c);
        let named = |atoms: &[LiftedAtom], p: u32| atoms.iter().any(|a| a.predicate == p);
        let conditions = |p: u32, wanted: bool| {
            schema.effects.iter().any(|group| {
                let mut found = false;
                group.condition.for_each_literal(&mut |a, negated, _| {
                    found |= a.predicate == p && negated == wanted;
                });
                found
            })
        };
        let adds = |c: &EffectChange, p: u32| matches!(c, EffectChange::Add(a) if a.predicate == p);
        let deletes = |c: &EffectChange, p: u32| matches!(c, EffectChange::Delete(a) if a.predicate == p);
        // A conditional effect may contradict the precondition instead; whether it does is for each ground action.
        schema.effects.iter().filter(|g| g.is_plain()).flat_map(|g| &g.changes).all(
            |(change, _)| match change {
                EffectChange::Add(a) => {
                    let p = a.predicate;
                    named(&self.positive, p) || conditions(p, false) || !all().any(|c| deletes(c, p))
                }
                EffectChange::Delete(a) => {
                    let p = a.predicate;
                    let again = schema.effects.iter().flat_map(|g| &g.changes).any(|(c, _)| adds(c, p));
                    named(&self.negative, p) || conditions(p, true) || again || !all().any(|c| adds(c, p))
                }
                EffectChange::Numeric(..) => true,
            },
        )
    }

    /// Calls `found` with every binding under which the disjunct holds, until it answers `false`; whether it never did.
    ///
    /// # Errors
    /// The limit that ended the join.
    pub(crate) fn join<T, F>(
        &self,
        tables: &Tables,
        world: &World<T>,
        work: &mut Work<'_>,
        found: &mut F,
    ) -> Result<bool, Cut>
    where
        T: std::ops::Deref<Target = LiftedTask>,
        F: FnMut(&mut [ObjectId], &mut Work<'_>) -> Result<bool, Cut>,
    {
        if self.steps.len() > crate::ground::MAX_VARIABLES {
            return Err(Cut::Limit(StopReason::Grounding));
        }
        let view = world.view_of_samples();
        let mut binding = vec![ObjectId::MAX; self.slots];
        for check in &self.first {
            if !holds(&view, check, &mut binding, work)? {
                return Ok(true);
            }
        }
        Join { plan: self, tables, world, work, found }.extend(0, &mut binding)
    }

    /// Returns true if the disjunct holds under a binding of the schema's own variables, with `also` for some
    /// binding of its others.
    pub(crate) fn holds<T>(
        &self,
        world: &World<T>,
        binding: &mut [ObjectId],
        work: &mut Work<'_>,
        also: &mut impl FnMut(&mut [ObjectId], &mut Work<'_>) -> Result<bool, Cut>,
    ) -> Result<bool, Cut>
    where
        T: std::ops::Deref<Target = LiftedTask>,
    {
        let view = world.view_of_samples();
        let mut found = false;
        first(&view, &self.extra, (&self.whole, true), binding, work, &mut |b, work| {
            found |= also(b, work)?;
            Ok(!found)
        })?;
        Ok(found)
    }

    /// Returns true if the disjunct and the effects show that the ground action changes no state in which
    /// this disjunct holds (see [`Semantics::GroundNoOpsDropped`](crate::walk::Semantics)).
    pub(crate) fn changes_nothing<T>(
        &self,
        lifted: &Lifted,
        world: &World<T>,
        binding: &mut [ObjectId],
        work: &mut Work<'_>,
    ) -> Result<bool, Cut>
    where
        T: std::ops::Deref<Target = LiftedTask>,
    {
        if !self.may_change_nothing {
            return Ok(false);
        }
        let view = world.view_of_samples();
        let rows = |atoms: &[LiftedAtom], b: &[ObjectId]| -> Vec<(u32, Args)> {
            atoms.iter().map(|a| (a.predicate, row(a, b))).collect()
        };
        let (positive, negative) = (rows(&self.positive, binding), rows(&self.negative, binding));
        let schema = &lifted.task.schemas[self.schema];
        let mut plain_adds = Vec::new();
        for group in schema.effects.iter().filter(|g| g.is_plain()) {
            plain_adds.extend(group.changes.iter().filter_map(|(c, _)| match c {
                EffectChange::Add(atom) => Some((atom.predicate, row(atom, binding))),
                _ => None,
            }));
        }
        let changes = |group: &EffectGroup, b: &mut [ObjectId], work: &mut Work<'_>| {
            let (mut held, mut absent) = (positive.clone(), negative.clone());
            for part in conjuncts(&group.condition) {
                match part {
                    Formula::Literal { atom, negated, .. } => {
                        let fact = (atom.predicate, row(atom, b));
                        let (own, other) = if *negated { (&mut absent, &held) } else { (&mut held, &absent) };
                        let fluent = lifted.task.predicates[atom.predicate as usize].fluent;
                        if other.contains(&fact) || (!fluent && !holds(&view, part, b, work)?) {
                            return Ok(false);
                        }
                        own.push(fact);
                    }
                    Formula::Equal { .. } if !holds(&view, part, b, work)? => return Ok(false),
                    _ => {}
                }
            }
            let adds: Vec<(u32, Args)> = group
                .changes
                .iter()
                .filter_map(|(c, _)| match c {
                    EffectChange::Add(atom) => Some((atom.predicate, row(atom, b))),
                    _ => None,
                })
                .collect();
            Ok::<bool, Cut>(group.changes.iter().any(|(change, _)| match change {
                EffectChange::Add(atom) => {
                    let fact = (atom.predicate, row(atom, b));
                    !held.contains(&fact) && !for_ever(lifted, &atom.instantiate(b), true)
                }
                EffectChange::Delete(atom) => {
                    let fact = (atom.predicate, row(atom, b));
                    !absent.contains(&fact)
                        && !adds.contains(&fact)
                        && !plain_adds.contains(&fact)
                        && !for_ever(lifted, &atom.instantiate(b), false)
                }
                EffectChange::Numeric(_, target, _) => lifted.read.contains(&target.predicate),
            }))
        };
        let everywhere = Formula::truth();
        let mut found = false;
        for group in &schema.effects {
            first(&view, &group.variables, (&everywhere, true), binding, work, &mut |b, work| {
                found = changes(group, b, work)?;
                Ok(!found)
            })?;
            if found {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl<T, F> Join<'_, '_, T, F>
where
    T: std::ops::Deref<Target = LiftedTask>,
    F: FnMut(&mut [ObjectId], &mut Work<'_>) -> Result<bool, Cut>,
{
    fn extend(&mut self, depth: usize, binding: &mut [ObjectId]) -> Result<bool, Cut> {
        let plan = self.plan;
        match plan.steps.get(depth) {
            None => (self.found)(binding, self.work),
            Some(JoinStep::Join { predicate, index, key, cells, checks }) => {
                let tables = self.tables;
                let key: Args = key.iter().map(|t| t.object(binding)).collect();
                for row in tables.relations[*predicate as usize].rows(*index, &key) {
                    self.work.tick()?;
                    let fits = cells.iter().zip(row).all(|(cell, &object)| match cell {
                        Cell::Same(term) => term.object(binding) == object,
                        Cell::Bind(slot, allowed) => {
                            binding[*slot as usize] = object;
                            bits::get(allowed, object)
                        }
                    });
                    if fits && !self.go_on(depth, checks, binding)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Some(JoinStep::Each { slot, objects, checks }) => {
                for &object in objects.iter() {
                    self.work.tick()?;
                    binding[*slot as usize] = object;
                    if !self.go_on(depth, checks, binding)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
        }
    }

    fn go_on(&mut self, depth: usize, checks: &[Formula], binding: &mut [ObjectId]) -> Result<bool, Cut> {
        let view = self.world.view_of_samples();
        for check in checks {
            if !holds(&view, check, binding, self.work)? {
                return Ok(true);
            }
        }
        self.extend(depth + 1, binding)
    }
}

/// The indexes of one predicate.
#[derive(Debug, Default)]
struct Relation {
    indexes: Vec<Index>,
}

#[derive(Debug)]
struct Index {
    columns: Vec<usize>,
    rows: FxHashMap<Args, Vec<Args>>,
}

impl Index {
    fn key(&self, row: &Args) -> Args {
        self.columns.iter().map(|&c| row[c]).collect()
    }
}

impl Relation {
    /// The number of the index on these columns, made where it is missing.
    pub(crate) fn index_on(&mut self, columns: Vec<usize>) -> usize {
        if let Some(found) = self.indexes.iter().position(|i| i.columns == columns) {
            return found;
        }
        self.indexes.push(Index { columns, rows: FxHashMap::default() });
        self.indexes.len() - 1
    }

    pub(crate) fn insert(&mut self, row: &Args) {
        for index in &mut self.indexes {
            let rows = index.rows.entry(index.key(row)).or_default();
            if let Err(at) = rows.binary_search(row) {
                rows.insert(at, row.clone());
            }
        }
    }

    pub(crate) fn remove(&mut self, row: &Args) {
        for index in &mut self.indexes {
            let key = index.key(row);
            if let Some(rows) = index.rows.get_mut(&key)
                && let Ok(at) = rows.binary_search(row)
            {
                rows.remove(at);
            }
        }
    }

    /// Replaces all rows.
    pub(crate) fn fill<'r>(&mut self, rows: impl Iterator<Item = &'r Args>) {
        if self.indexes.is_empty() {
            return;
        }
        let mut sorted: Vec<&Args> = rows.collect();
        sorted.sort_unstable();
        for index in &mut self.indexes {
            index.rows.clear();
            for row in &sorted {
                index.rows.entry(index.key(row)).or_default().push((*row).clone());
            }
        }
    }

    /// The rows with these values in the index's columns, ascending.
    pub(crate) fn rows(&self, index: usize, key: &Args) -> &[Args] {
        self.indexes[index].rows.get(key).map_or(&[], Vec::as_slice)
    }
}
