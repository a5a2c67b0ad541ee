//! Relaxed reachability as a Datalog fixpoint: rules fire for every binding under which all their positive atoms are
//! reachable. Semi-naive: an atom, once found, is joined with the atoms found before it, through indexes; static
//! atoms are there from the start and never trigger.
//!
//! A [`JoinPlan`] belongs to a rule and an atom that can trigger it: the order of the other atoms and the index used for each,
//! the most selective first. A [`Table`] has rows without duplicates, and indexes on some of their columns.

use crate::lifted::{LiftedAtom, Term, Variable};
use crate::resources::{ResourceLimits, StopReason, check};
use crate::task::{Atom, ObjectId};
use rustc_hash::{FxHashMap, FxHasher};
use std::collections::VecDeque;
use std::hash::Hasher;
use std::sync::Arc;

/// Reachable atoms and rule firings.
pub(crate) struct Reached {
    /// One table a predicate, those of [`Engine::new`] first.
    pub(crate) tables: Vec<Table>,
    /// For each rule its firings, one after the other, as values of its variables.
    pub(crate) firings: Vec<Vec<ObjectId>>,
}

/// Caps on what grounding may make.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Caps {
    pub(crate) firings: usize,
    pub(crate) atoms: usize,
}

/// The fixpoint under construction.
pub(crate) struct Engine<'a> {
    rules: &'a [JoinRule<'a>],
    tables: Vec<Table>,
    plans: Engines,
    queue: VecDeque<(u32, u32)>,
    firings: Vec<Vec<ObjectId>>,
    caps: Caps,
    fired: usize,
    atoms: usize,
    /// Firings of the join under way.
    found: Vec<(u32, Vec<ObjectId>)>,
}

impl<'a> Engine<'a> {
    /// Predicates are those of `input`.
    pub(crate) fn new(rules: &'a [JoinRule<'a>], input: &PlanInput<'_>, init: &[Atom], caps: Caps) -> Self {
        let fluent = input.fluent;
        let mut tables: Vec<Table> = input.domains.iter().map(|d| Table::new(d.len())).collect();
        let mut queue = VecDeque::new();
        for atom in init {
            if let Some(row) = tables[atom.predicate as usize].insert(&atom.args)
                && fluent[atom.predicate as usize]
            {
                queue.push_back((atom.predicate, row));
            }
        }
        let plans = plan_joins(rules, &mut tables, input);
        for (table, fluent) in tables.iter_mut().zip(fluent) {
            if !fluent {
                (0..table.len()).for_each(|_| table.show_next());
            }
        }
        let firings = rules.iter().map(|_| Vec::new()).collect();
        Engine { rules, tables, plans, queue, firings, caps, fired: 0, atoms: 0, found: Vec::new() }
    }

    /// Runs to the fixpoint.
    pub(crate) fn run(mut self, resources: &mut dyn ResourceLimits) -> Result<Reached, StopReason> {
        for plan in 0..self.plans.initial.len() {
            let mut found = std::mem::take(&mut self.found);
            let join = Join::new(&self, &self.plans.initial[plan], u32::MAX);
            join.start(None, &mut found, resources)?;
            self.found = found;
            self.take_found(resources)?;
        }
        while let Some((predicate, row)) = self.queue.pop_front() {
            self.tables[predicate as usize].show_next();
            for plan in 0..self.plans.triggered[predicate as usize].len() {
                let mut found = std::mem::take(&mut self.found);
                let join = Join::new(&self, &self.plans.triggered[predicate as usize][plan], row);
                join.start(Some((predicate, row)), &mut found, resources)?;
                self.found = found;
            }
            self.take_found(resources)?;
        }
        Ok(Reached { tables: self.tables, firings: self.firings })
    }

    /// Records the firings found and queues their heads.
    fn take_found(&mut self, resources: &mut dyn ResourceLimits) -> Result<(), StopReason> {
        let mut bytes = 0;
        let mut cells = Vec::new();
        for (rule, binding) in std::mem::take(&mut self.found) {
            self.fired += 1;
            if self.fired.is_multiple_of(4096) {
                check(resources.poll())?;
            }
            let shape = &self.rules[rule as usize];
            let firing = &mut self.firings[rule as usize];
            firing.extend(shape.variables.iter().map(|v| binding[v.slot as usize]));
            if shape.variables.is_empty() && firing.is_empty() {
                firing.push(0);
            }
            bytes += 4 * shape.variables.len() as u64;
            for head in &shape.heads {
                cells.clear();
                cells.extend(head.args.iter().map(|t| t.object(&binding)));
                let table = &mut self.tables[head.predicate as usize];
                if let Some(row) = table.insert(&cells) {
                    bytes += table.bytes_per_row();
                    self.atoms += 1;
                    self.queue.push_back((head.predicate, row));
                }
            }
        }
        if self.fired > self.caps.firings || self.atoms > self.caps.atoms {
            return Err(StopReason::Grounding);
        }
        if bytes > 0 { check(resources.charge(bytes)) } else { Ok(()) }
    }
}

/// One join: a trigger row (or none) extended over the other atoms of a rule.
struct Join<'e> {
    tables: &'e [Table],
    plan: &'e JoinPlan,
    trigger_row: u32,
    slots: usize,
    limit: usize,
    calls: std::cell::Cell<u32>,
}

impl<'e> Join<'e> {
    fn new(engine: &'e Engine<'_>, plan: &'e JoinPlan, trigger_row: u32) -> Self {
        let slots = engine.rules[plan.rule as usize].slots;
        let limit = engine.caps.firings.saturating_sub(engine.fired);
        Join { tables: &engine.tables, plan, trigger_row, slots, limit, calls: std::cell::Cell::new(0) }
    }

    /// Polls the resource limits at intervals. A join may try many rows without a result.
    fn tick(&self, resources: &mut dyn ResourceLimits) -> Result<(), StopReason> {
        let calls = self.calls.get().wrapping_add(1);
        self.calls.set(calls);
        if calls.is_multiple_of(4096) { check(resources.poll()) } else { Ok(()) }
    }

    fn start(
        &self,
        trigger: Option<(u32, u32)>,
        found: &mut Vec<(u32, Vec<ObjectId>)>,
        resources: &mut dyn ResourceLimits,
    ) -> Result<(), StopReason> {
        let mut binding = vec![ObjectId::MAX; self.slots];
        if let Some((predicate, row)) = trigger
            && !self.bind(&self.plan.trigger, self.tables[predicate as usize].row(row), &mut binding)
        {
            return Ok(());
        }
        if self.pass(&self.plan.first_checks, &binding) {
            self.extend(0, &mut binding, found, resources)?;
        }
        Ok(())
    }

    fn bind(&self, matches: &[Match], row: &[ObjectId], binding: &mut [ObjectId]) -> bool {
        matches.iter().zip(row).all(|(m, &cell)| match m {
            Match::Same(term) => term.object(binding) == cell,
            Match::Bind(slot, allowed) => {
                binding[*slot as usize] = cell;
                crate::bits::get(allowed, cell)
            }
        })
    }

    fn pass(&self, checks: &[Check], binding: &[ObjectId]) -> bool {
        checks.iter().all(|c| match c {
            Check::Equal { left, right, negated } => {
                (left.object(binding) == right.object(binding)) != *negated
            }
            Check::Absent(atom) => {
                let mut cells = smallvec::SmallVec::<[ObjectId; 8]>::new();
                cells.extend(atom.args.iter().map(|t| t.object(binding)));
                self.tables[atom.predicate as usize].find(&cells).is_none()
            }
        })
    }

    fn extend(
        &self,
        depth: usize,
        binding: &mut [ObjectId],
        found: &mut Vec<(u32, Vec<ObjectId>)>,
        resources: &mut dyn ResourceLimits,
    ) -> Result<(), StopReason> {
        self.tick(resources)?;
        let mut depth = depth;
        let (step, table, key) = loop {
            let Some(step) = self.plan.steps.get(depth) else {
                return self.enumerate(0, binding, found, resources);
            };
            let table = &self.tables[step.predicate as usize];
            let key: smallvec::SmallVec<[ObjectId; 8]> = step.key.iter().map(|t| t.object(binding)).collect();
            if step.key.len() < step.matches.len() {
                break (step, table, key);
            }
            // An atom without open variables is a test: no descent for it.
            let row = table.candidates(step.index, key.iter().copied()).next();
            match row {
                Some(row) if !(step.exclude_trigger && row == self.trigger_row) => depth += 1,
                _ => return Ok(()),
            }
            if !self.pass(&step.checks, binding) {
                return Ok(());
            }
        };
        for row in table.candidates(step.index, key.iter().copied()) {
            if step.exclude_trigger && row == self.trigger_row {
                continue;
            }
            if self.bind(&step.matches, table.row(row), binding) && self.pass(&step.checks, binding) {
                self.extend(depth + 1, binding, found, resources)?;
            }
        }
        Ok(())
    }

    /// Binds the variables that no atom mentions.
    fn enumerate(
        &self,
        depth: usize,
        binding: &mut [ObjectId],
        found: &mut Vec<(u32, Vec<ObjectId>)>,
        resources: &mut dyn ResourceLimits,
    ) -> Result<(), StopReason> {
        let Some(free) = self.plan.free.get(depth) else {
            if found.len() >= self.limit {
                return Err(StopReason::Grounding);
            }
            if found.len() % 256 == 255 {
                check(resources.charge(256 * (24 + 4 * binding.len() as u64)))?;
            }
            found.push((self.plan.rule, binding.to_vec()));
            return Ok(());
        };
        for &object in free.objects.iter() {
            binding[free.slot as usize] = object;
            self.tick(resources)?;
            if self.pass(&free.checks, binding) {
                self.enumerate(depth + 1, binding, found, resources)?;
            }
        }
        Ok(())
    }
}

/// A rule: for every binding of `variables` with all of `body` reached and all of `checks` true, `heads` are reached.
#[derive(Debug)]
pub(crate) struct JoinRule<'a> {
    /// Size of a binding.
    pub(crate) slots: usize,
    /// All variables, in the order a firing lists them.
    pub(crate) variables: Vec<&'a Variable>,
    pub(crate) body: Vec<LiftedAtom>,
    pub(crate) checks: Vec<Check>,
    pub(crate) heads: Vec<LiftedAtom>,
}

/// A test on a binding.
#[derive(Debug, Clone)]
pub(crate) enum Check {
    /// The terms are the same object, or differ.
    Equal { left: Term, right: Term, negated: bool },
    /// The atom, of a static predicate, does not hold.
    Absent(LiftedAtom),
}

/// Relation between a cell of a row and the binding.
#[derive(Debug, Clone)]
pub(crate) enum Match {
    /// It must be this.
    Same(Term),
    /// It becomes the slot's object, which must be in the set.
    Bind(u32, Arc<[u64]>),
}

/// The next atom of a join.
#[derive(Debug)]
pub(crate) struct JoinStep {
    pub(crate) predicate: u32,
    pub(crate) index: usize,
    pub(crate) key: Vec<Term>,
    pub(crate) matches: Vec<Match>,
    pub(crate) checks: Vec<Check>,
    /// True if the trigger's row was already used here: the atom precedes the trigger in the rule.
    exclude_trigger: bool,
}

/// A variable that no atom binds.
#[derive(Debug)]
struct FreeVariable {
    pub(crate) slot: u32,
    pub(crate) objects: Arc<[ObjectId]>,
    pub(crate) checks: Vec<Check>,
}

/// Join plan of a rule for one trigger.
#[derive(Debug)]
struct JoinPlan {
    pub(crate) rule: u32,
    trigger: Vec<Match>,
    first_checks: Vec<Check>,
    pub(crate) steps: Vec<JoinStep>,
    pub(crate) free: Vec<FreeVariable>,
}

/// All join plans.
#[derive(Debug)]
struct Engines {
    /// Rules without a fluent atom: joined once.
    pub(crate) initial: Vec<JoinPlan>,
    /// For each predicate the plans that one of its atoms triggers.
    triggered: Vec<Vec<JoinPlan>>,
}

/// Properties of the predicates that are known before the fixpoint.
pub(crate) struct PlanInput<'a> {
    pub(crate) fluent: &'a [bool],
    /// Objects each argument ranges over.
    pub(crate) domains: &'a [Vec<usize>],
    /// Number of objects.
    pub(crate) objects: usize,
}

/// Plans the joins of all rules and makes the indexes they need.
fn plan_joins(rules: &[JoinRule<'_>], tables: &mut [Table], input: &PlanInput<'_>) -> Engines {
    let estimates = Estimates::new(tables, input);
    let mut engines = Engines { initial: Vec::new(), triggered: tables.iter().map(|_| Vec::new()).collect() };
    for (number, rule) in rules.iter().enumerate() {
        let triggers: Vec<usize> =
            (0..rule.body.len()).filter(|&i| input.fluent[rule.body[i].predicate as usize]).collect();
        if triggers.is_empty() {
            engines.initial.push(Planner::new(number, rule, tables, &estimates).plan(None));
        }
        for trigger in triggers {
            let plan = Planner::new(number, rule, tables, &estimates).plan(Some(trigger));
            engines.triggered[rule.body[trigger].predicate as usize].push(plan);
        }
    }
    engines
}

/// Expected numbers of rows and values.
struct Estimates {
    rows: Vec<f64>,
    distinct: Vec<Vec<f64>>,
    object_words: usize,
}

impl Estimates {
    fn new(tables: &[Table], input: &PlanInput<'_>) -> Self {
        let mut rows = Vec::new();
        let mut distinct = Vec::new();
        for (i, table) in tables.iter().enumerate() {
            let domain = &input.domains[i];
            if input.fluent[i] {
                rows.push(domain.iter().map(|&d| d.max(1) as f64).product());
                distinct.push(domain.iter().map(|&d| d.max(1) as f64).collect());
            } else {
                rows.push(table.len() as f64);
                distinct.push((0..domain.len()).map(|c| table.distinct(c).max(1) as f64).collect());
            }
        }
        Estimates { rows, distinct, object_words: crate::bits::words_for(input.objects) }
    }
}

/// Planning of one join.
struct Planner<'p, 'a> {
    number: usize,
    rule: &'p JoinRule<'a>,
    tables: &'p mut [Table],
    estimates: &'p Estimates,
    bound: Vec<bool>,
    checks: Vec<Check>,
}

impl<'p, 'a> Planner<'p, 'a> {
    fn new(number: usize, rule: &'p JoinRule<'a>, tables: &'p mut [Table], estimates: &'p Estimates) -> Self {
        let bound = vec![false; rule.slots];
        Planner { number, rule, tables, estimates, bound, checks: rule.checks.clone() }
    }

    fn plan(mut self, trigger: Option<usize>) -> JoinPlan {
        let trigger_matches = trigger.map(|t| self.matches(&self.rule.body[t])).unwrap_or_default();
        let first_checks = self.ready_checks();
        let mut open: Vec<usize> = (0..self.rule.body.len()).filter(|i| Some(*i) != trigger).collect();
        let mut steps = Vec::new();
        while !open.is_empty() {
            let best = self.most_selective(&open);
            let atom = &self.rule.body[open[best]];
            let columns: Vec<usize> = (0..atom.args.len()).filter(|&c| self.is_bound(atom.args[c])).collect();
            let key = columns.iter().map(|&c| atom.args[c]).collect();
            let index = self.tables[atom.predicate as usize].index_on(columns);
            let matches = self.matches(atom);
            let exclude_trigger =
                trigger.is_some_and(|t| open[best] < t && self.rule.body[t].predicate == atom.predicate);
            let checks = self.ready_checks();
            steps.push(JoinStep { predicate: atom.predicate, index, key, matches, checks, exclude_trigger });
            open.remove(best);
        }
        let mut free = Vec::new();
        for variable in &self.rule.variables {
            if !self.bound[variable.slot as usize] {
                self.bound[variable.slot as usize] = true;
                let checks = self.ready_checks();
                free.push(FreeVariable {
                    slot: variable.slot,
                    objects: Arc::clone(&variable.objects),
                    checks,
                });
            }
        }
        JoinPlan { rule: self.number as u32, trigger: trigger_matches, first_checks, steps, free }
    }

    fn is_bound(&self, term: Term) -> bool {
        match term {
            Term::Slot(slot) => self.bound[slot as usize],
            Term::Object(_) => true,
        }
    }

    /// Position in `open` of the atom expected to match fewest rows.
    fn most_selective(&self, open: &[usize]) -> usize {
        let expected = |i: usize| {
            let atom = &self.rule.body[i];
            let p = atom.predicate as usize;
            let mut rows = self.estimates.rows[p];
            for (column, &term) in atom.args.iter().enumerate() {
                if self.is_bound(term) {
                    rows /= self.estimates.distinct[p][column];
                }
            }
            rows
        };
        (0..open.len()).min_by(|&a, &b| expected(open[a]).total_cmp(&expected(open[b]))).unwrap_or(0)
    }

    /// Relates the atom's cells to the binding, then marks its variables as bound.
    fn matches(&mut self, atom: &LiftedAtom) -> Vec<Match> {
        atom.args
            .iter()
            .map(|&term| match term {
                Term::Slot(slot) if !self.bound[slot as usize] => {
                    self.bound[slot as usize] = true;
                    Match::Bind(slot, self.allowed_objects(slot))
                }
                _ => Match::Same(term),
            })
            .collect()
    }

    fn allowed_objects(&self, slot: u32) -> Arc<[u64]> {
        let objects = self.rule.variables.iter().find(|v| v.slot == slot).map(|v| &v.objects);
        let mut set = vec![0u64; self.estimates.object_words];
        for &object in objects.into_iter().flat_map(|o| o.iter()) {
            crate::bits::set(&mut set, object);
        }
        set.into()
    }

    fn ready_checks(&mut self) -> Vec<Check> {
        let bound = &self.bound;
        let is_bound = |t: &Term| match t {
            Term::Slot(slot) => bound[*slot as usize],
            Term::Object(_) => true,
        };
        let ready = |c: &Check| match c {
            Check::Equal { left, right, .. } => is_bound(left) && is_bound(right),
            Check::Absent(atom) => atom.args.iter().all(is_bound),
        };
        let (now, later) = std::mem::take(&mut self.checks).into_iter().partition(ready);
        self.checks = later;
        now
    }
}

const NONE: u32 = u32::MAX;

/// The rows of one predicate in the order they were found.
#[derive(Debug, Default)]
pub(crate) struct Table {
    arity: usize,
    cells: Vec<ObjectId>,
    count: u32,
    /// Rows below this are visible to joins.
    pub(crate) visible: u32,
    first: FxHashMap<u64, u32>,
    next: Vec<u32>,
    indexes: Vec<Index>,
}

/// Rows by the values in some columns.
#[derive(Debug, Default)]
struct Index {
    columns: Vec<usize>,
    first: FxHashMap<u64, u32>,
    next: Vec<u32>,
}

fn hash(values: impl Iterator<Item = ObjectId>) -> u64 {
    let mut hasher = FxHasher::default();
    values.for_each(|v| hasher.write_u32(v));
    hasher.finish()
}

impl Table {
    pub(crate) fn new(arity: usize) -> Self {
        Table { arity, ..Table::default() }
    }

    pub(crate) fn len(&self) -> usize {
        self.count as usize
    }

    pub(crate) fn row(&self, row: u32) -> &[ObjectId] {
        let start = row as usize * self.arity;
        &self.cells[start..start + self.arity]
    }

    /// The number of a row with these cells.
    pub(crate) fn find(&self, cells: &[ObjectId]) -> Option<u32> {
        let mut row = *self.first.get(&hash(cells.iter().copied()))?;
        while row != NONE {
            if self.row(row) == cells {
                return Some(row);
            }
            row = self.next[row as usize];
        }
        None
    }

    /// Adds a row; `None` where it was there already.
    pub(crate) fn insert(&mut self, cells: &[ObjectId]) -> Option<u32> {
        if self.find(cells).is_some() {
            return None;
        }
        let row = self.count;
        self.cells.extend_from_slice(cells);
        self.count += 1;
        let previous = self.first.insert(hash(cells.iter().copied()), row).unwrap_or(NONE);
        self.next.push(previous);
        Some(row)
    }

    /// The number of an index on these columns, made where it is missing. Only before any row is shown.
    pub(crate) fn index_on(&mut self, columns: Vec<usize>) -> usize {
        if let Some(found) = self.indexes.iter().position(|i| i.columns == columns) {
            return found;
        }
        self.indexes.push(Index { columns, ..Index::default() });
        self.indexes.len() - 1
    }

    /// Makes the next row visible to joins.
    fn show_next(&mut self) {
        let row = self.visible;
        self.visible += 1;
        let start = row as usize * self.arity;
        let cells = &self.cells[start..start + self.arity];
        for index in &mut self.indexes {
            let key = hash(index.columns.iter().map(|&c| cells[c]));
            let previous = index.first.insert(key, row).unwrap_or(NONE);
            index.next.push(previous);
        }
    }

    /// Visible rows that may have these values in the index's columns (a hash collision gives others too), latest first.
    pub(crate) fn candidates(
        &self,
        index: usize,
        values: impl Iterator<Item = ObjectId>,
    ) -> impl Iterator<Item = u32> + '_ {
        let index = &self.indexes[index];
        let mut row = index.first.get(&hash(values)).copied().unwrap_or(NONE);
        std::iter::from_fn(move || {
            let current = row;
            row = *index.next.get(current as usize)?;
            Some(current)
        })
    }

    /// Different values in a column.
    fn distinct(&self, column: usize) -> usize {
        let mut values: Vec<ObjectId> = (0..self.count).map(|r| self.row(r)[column]).collect();
        values.sort_unstable();
        values.dedup();
        values.len()
    }

    fn bytes_per_row(&self) -> u64 {
        4 * self.arity as u64 + 24 + 20 * self.indexes.len() as u64
    }
}
