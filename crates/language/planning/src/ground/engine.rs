//! Relaxed reachability as a Datalog fixpoint: rules fire for every binding under which all their positive atoms are
//! reachable. Semi-naive: an atom, once found, is joined with the atoms found before it, through indexes; static
//! atoms are there from the start and never trigger.

use super::plan::{Check, Engines, JoinPlan, JoinRule, Match, PlanInput, plan_joins};
use super::table::Table;
use crate::resources::{ResourceLimits, StopReason, check};
use crate::task::{Atom, ObjectId};
use std::collections::VecDeque;

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
