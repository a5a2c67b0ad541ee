//! Evaluates formulas without enumerating bindings where that is possible.
//!
//! A quantifier asks for a binding of its variables under which its body (or the negation of it) holds. The body is
//! split into conjuncts and these into groups that share no variable, which are decided one by one; variables that do
//! not occur cost nothing. Within a group, literals that are true of few atoms bind their variables to these atoms;
//! only what is left is enumerated over the objects. A dead end returns to the last choice that it depends on.
//! Nothing here recurses over the number of variables or conjuncts, and every choice polls the limits.

mod order;

pub(crate) use order::{conjuncts, for_each_slot, group_by_variables, occurring};

use crate::lifted::{Formula, LiftedAtom, LiftedExpr, Term, Variable};
use crate::resources::{ResourceLimits, StopReason, check, check_memory};
use crate::task::ObjectId;
use order::{Level, Order, Source, order_levels};
use planforge_diagnostics::Span;
use planforge_pddl::ast::CompareOp;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::collections::BTreeSet;

/// Decides a formula whose free variables are bound.
pub(crate) fn holds<I: Interpretation + ?Sized>(
    facts: &I,
    formula: &Formula,
    binding: &mut [ObjectId],
    work: &mut Work<'_>,
) -> Result<bool, Cut> {
    match formula {
        Formula::And(parts) => {
            for part in parts {
                if !holds(facts, part, binding, work)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        Formula::Or(parts, _) => {
            for part in parts {
                if holds(facts, part, binding, work)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        Formula::Literal { atom, negated, .. } => Ok(facts.literal(atom, *negated, binding)),
        Formula::Equal { left, right, negated, .. } => {
            Ok((left.object(binding) == right.object(binding)) != *negated)
        }
        Formula::Compare { comparison, left, right, .. } => facts.compare(*comparison, left, right, binding),
        Formula::Exists(variables, body, _) => some(facts, variables, (body, true), binding, work),
        Formula::Forall(variables, body, _) => Ok(!some(facts, variables, (body, false), binding, work)?),
    }
}

/// Returns true if some binding of the variables gives the formula the wanted truth value.
pub(crate) fn some<I: Interpretation + ?Sized>(
    facts: &I,
    variables: &[Variable],
    goal: Goal<'_>,
    binding: &mut [ObjectId],
    work: &mut Work<'_>,
) -> Result<bool, Cut> {
    satisfiable(facts, variables.iter().collect(), vec![goal], binding, work)
}

/// Calls `found` with the bindings that give the formula the wanted truth value, in lexicographic order, until it returns
/// false. The last binding stays.
pub(crate) fn first<I: Interpretation + ?Sized>(
    facts: &I,
    variables: &[Variable],
    goal: Goal<'_>,
    binding: &mut [ObjectId],
    work: &mut Work<'_>,
    found: &mut Visitor<'_>,
) -> Result<(), Cut> {
    // Index of the object chosen for each variable of the prefix.
    let mut prefix: Vec<usize> = Vec::with_capacity(variables.len());
    let mut next = 0;
    if !some(facts, variables, goal, binding, work)? {
        return Ok(());
    }
    loop {
        if prefix.len() == variables.len() {
            if !found(binding, work)? {
                return Ok(());
            }
        } else {
            let variable = &variables[prefix.len()];
            let mut chosen = None;
            while let Some(&object) = variable.objects.get(next) {
                work.tick()?;
                binding[variable.slot as usize] = object;
                if some(facts, &variables[prefix.len() + 1..], goal, binding, work)? {
                    chosen = Some(next);
                    break;
                }
                next += 1;
            }
            if let Some(index) = chosen {
                prefix.push(index);
                next = 0;
                continue;
            }
            binding[variable.slot as usize] = ObjectId::MAX;
        }
        let Some(last) = prefix.pop() else { return Ok(()) };
        next = last + 1;
    }
}

/// The values of the variables in `wanted` (slots) in the bindings under which the formula holds: each combination once, ascending.
///
/// Parts of the formula that share no variable are solved one by one, and parts without a wanted variable only need one solution. So
/// the work is that of the largest part, and the memory that of the result.
pub(crate) fn project<I: Interpretation + ?Sized>(
    facts: &I,
    variables: &[Variable],
    wanted: &[u32],
    formula: &Formula,
    binding: &mut [ObjectId],
    work: &mut Work<'_>,
) -> Result<Vec<Args>, Cut> {
    if variables.is_empty() {
        return Ok(if holds(facts, formula, binding, work)? { vec![Args::new()] } else { Vec::new() });
    }
    if variables.iter().any(|v| v.objects.is_empty()) {
        return Ok(Vec::new());
    }
    let mut open: Vec<&Variable> = variables.iter().collect();
    open.sort_unstable_by_key(|v| v.slot);
    let mut parts = Vec::new();
    // A part that is not decided exactly does not matter if another has no solution.
    let mut inexact = false;
    for part in conjuncts(formula) {
        let occurring = occurring(part, &open);
        if occurring.is_empty() {
            if put_off(holds(facts, part, binding, work), &mut inexact)? == Some(false) {
                return Ok(Vec::new());
            }
        } else {
            parts.push(((part, true), occurring));
        }
    }
    let mut free: Vec<u32> = wanted.to_vec();
    // Solutions of the parts with wanted variables: the slots and their values.
    let mut factors: Vec<(Vec<u32>, Vec<Args>)> = Vec::new();
    for group in group_by_variables(parts, open.len()) {
        let own: Vec<&Variable> = group.variables.iter().map(|&v| open[v as usize]).collect();
        free.retain(|slot| own.iter().all(|v| v.slot != *slot));
        let slots: Vec<u32> = wanted.iter().copied().filter(|s| own.iter().any(|v| v.slot == *s)).collect();
        if slots.is_empty() {
            let satisfiable = group_satisfiable(facts, own, group.parts, binding, work);
            if put_off(satisfiable, &mut inexact)? == Some(false) {
                return Ok(Vec::new());
            }
            continue;
        }
        let held = work.held();
        match put_off(solutions(facts, own, group.parts, &slots, binding, work), &mut inexact)? {
            None => work.release_to(held),
            Some(found) if found.is_empty() => return Ok(Vec::new()),
            Some(found) => factors.push((slots, found)),
        }
    }
    if inexact {
        return Err(Cut::Inexact);
    }
    for slot in free {
        let objects = variables.iter().filter(|v| v.slot == slot).flat_map(|v| v.objects.iter());
        factors.push((vec![slot], objects.map(|&object| Args::from_slice(&[object])).collect()));
    }
    combine(factors, wanted, work)
}

/// Turns [`Cut::Inexact`] into `None` and notes it.
fn put_off<T>(result: Result<T, Cut>, inexact: &mut bool) -> Result<Option<T>, Cut> {
    match result {
        Err(Cut::Inexact) => {
            *inexact = true;
            Ok(None)
        }
        other => other.map(Some),
    }
}

/// The different values of some slots among the solutions of connected parts.
fn solutions<I: Interpretation + ?Sized>(
    facts: &I,
    open: Vec<&Variable>,
    parts: Vec<Goal<'_>>,
    slots: &[u32],
    binding: &mut [ObjectId],
    work: &mut Work<'_>,
) -> Result<Vec<Args>, Cut> {
    // With all variables among the slots no solution comes twice.
    let distinct = open.len() == slots.len();
    let mut seen: FxHashSet<Args> = FxHashSet::default();
    let mut found: Vec<Args> = Vec::new();
    let bytes = args_bytes(slots.len()) * if distinct { 1 } else { 2 };
    Search::new(open, parts, slots, None, facts, binding).run(facts, binding, work, &mut |b, work| {
        let values: Args = slots.iter().map(|&slot| b[slot as usize]).collect();
        if distinct || seen.insert(values.clone()) {
            work.charge(bytes)?;
            found.push(values);
        }
        Ok(true)
    })?;
    Ok(found)
}

/// Every combination of the factors' solutions, with the values in the order of `wanted`, ascending.
fn combine(
    mut factors: Vec<(Vec<u32>, Vec<Args>)>,
    wanted: &[u32],
    work: &mut Work<'_>,
) -> Result<Vec<Args>, Cut> {
    if let [(slots, found)] = factors.as_mut_slice()
        && slots == wanted
    {
        found.sort_unstable();
        return Ok(std::mem::take(found));
    }
    let count = factors.iter().fold(1u64, |count, (_, found)| count.saturating_mul(found.len() as u64));
    work.charge_matches(count, args_bytes(wanted.len()))?;
    let place = |slot: &u32| wanted.iter().position(|w| w == slot).unwrap_or_default();
    let places: Vec<Vec<usize>> =
        factors.iter().map(|(slots, _)| slots.iter().map(place).collect()).collect();
    let mut all: Vec<Args> = vec![Args::from_elem(ObjectId::MAX, wanted.len())];
    for ((_, found), places) in factors.iter().zip(places) {
        let mut next = Vec::with_capacity(all.len() * found.len());
        for start in &all {
            for values in found {
                work.tick()?;
                let mut combined = start.clone();
                places.iter().zip(values).for_each(|(&at, &object)| combined[at] = object);
                next.push(combined);
            }
        }
        all = next;
    }
    all.sort_unstable();
    Ok(all)
}

/// Estimated bytes of a list entry with so many arguments, the list's spare room included.
pub(crate) const fn args_bytes(arguments: usize) -> u64 {
    let heap = if arguments > INLINE_ARGUMENTS { 16 + 4 * arguments } else { 0 };
    (2 * size_of::<Args>() + heap) as u64
}

fn satisfiable<'f, I: Interpretation + ?Sized>(
    facts: &I,
    mut open: Vec<&'f Variable>,
    mut todo: Vec<Goal<'f>>,
    binding: &mut [ObjectId],
    work: &mut Work<'_>,
) -> Result<bool, Cut> {
    let mut parts: Vec<Goal<'f>> = Vec::new();
    todo.reverse();
    while let Some((formula, wanted)) = todo.pop() {
        match (formula, wanted) {
            (Formula::And(inner), true) | (Formula::Or(inner, _), false) => {
                todo.extend(inner.iter().rev().map(|part| (part, wanted)));
            }
            (Formula::Exists(variables, body, _), true) | (Formula::Forall(variables, body, _), false) => {
                open.extend(variables);
                todo.push((body, wanted));
            }
            part => parts.push(part),
        }
    }
    if open.iter().any(|v| v.objects.is_empty()) {
        return Ok(false);
    }
    open.sort_unstable_by_key(|v| v.slot);
    // Parts without open variables first: they may decide everything.
    let mut rest = Vec::new();
    for (formula, wanted) in parts {
        let variables = occurring(formula, &open);
        if variables.is_empty() {
            work.tick()?;
            if holds(facts, formula, binding, work)? != wanted {
                return Ok(false);
            }
        } else {
            rest.push(((formula, wanted), variables));
        }
    }
    for group in group_by_variables(rest, open.len()) {
        let variables = group.variables.iter().map(|&v| open[v as usize]).collect();
        if !group_satisfiable(facts, variables, group.parts, binding, work)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn group_satisfiable<I: Interpretation + ?Sized>(
    facts: &I,
    variables: Vec<&Variable>,
    goals: Vec<Goal<'_>>,
    binding: &mut [ObjectId],
    work: &mut Work<'_>,
) -> Result<bool, Cut> {
    if let [(Formula::Or(parts, _), true) | (Formula::And(parts), false)] = goals.as_slice() {
        for part in parts {
            if satisfiable(facts, variables.clone(), vec![(part, goals[0].1)], binding, work)? {
                return Ok(true);
            }
        }
        return Ok(false);
    }
    let mut found = false;
    Search::new(variables, goals, &[], None, facts, binding).run(facts, binding, work, &mut |_, _| {
        found = true;
        Ok(false)
    })?;
    Ok(found)
}

/// Search for bindings under which all parts have their wanted truth value.
pub(crate) struct Search<'f> {
    parts: Vec<Goal<'f>>,
    levels: Vec<Level<'f>>,
    /// Parts without open variables.
    closed: Vec<usize>,
    /// The last level that binds a variable of interest; solutions that differ in later ones are the same.
    last_of_interest: Option<usize>,
    substitute: Option<Substitute<'f>>,
    empty: bool,
}

/// State of a level during the search.
#[derive(Default)]
struct Progress<'r> {
    rows: Option<Vec<&'r [ObjectId]>>,
    /// Rows by the columns that are bound before.
    index: FxHashMap<Args, Vec<u32>>,
    /// The present key of the index, if there are bound columns.
    bucket: Option<Args>,
    next: usize,
    /// Earlier levels on which failures below depend.
    conflicts: BTreeSet<usize>,
    /// True once a solution was found below.
    solved: bool,
    /// Bytes that rows and index were counted with.
    bytes: u64,
}

impl<'f> Search<'f> {
    /// Plans a search over open variables, of which those with the slots in `project` are of interest.
    pub(crate) fn new<I: Interpretation + ?Sized>(
        mut open: Vec<&'f Variable>,
        parts: Vec<Goal<'f>>,
        project: &[u32],
        substitute: Option<Substitute<'f>>,
        facts: &I,
        binding: &[ObjectId],
    ) -> Self {
        open.sort_unstable_by_key(|v| v.slot);
        let empty = open.iter().any(|v| v.objects.is_empty());
        let Order { levels, closed, level_of } = order_levels(&open, &parts, substitute, facts, binding);
        let of_interest = |(at, v): (usize, &&Variable)| {
            if project.contains(&v.slot) { level_of[at] } else { None }
        };
        let last_of_interest = open.iter().enumerate().filter_map(of_interest).max();
        Search { parts, levels, closed, last_of_interest, substitute, empty }
    }

    /// Calls `found` with each solution until it returns false. Solutions that agree on the variables of interest may occur
    /// several times. The open variables are unbound afterwards.
    pub(crate) fn run<'r, I: Interpretation + ?Sized>(
        &self,
        facts: &'r I,
        binding: &mut [ObjectId],
        work: &mut Work<'_>,
        found: &mut Visitor<'_>,
    ) -> Result<(), Cut>
    where
        'f: 'r,
    {
        if self.empty || !self.pass(&self.closed, facts, binding, work)? {
            return Ok(());
        }
        let mut progress: Vec<Progress<'r>> = self.levels.iter().map(|_| Progress::default()).collect();
        let result = self.explore(facts, &mut progress, binding, work, found);
        work.release(progress.iter().map(|p| p.bytes).sum());
        for variable in self.levels.iter().flat_map(|l| &l.binds) {
            binding[variable.slot as usize] = ObjectId::MAX;
        }
        result
    }

    fn explore<'r, I: Interpretation + ?Sized>(
        &self,
        facts: &'r I,
        progress: &mut [Progress<'r>],
        binding: &mut [ObjectId],
        work: &mut Work<'_>,
        found: &mut Visitor<'_>,
    ) -> Result<(), Cut>
    where
        'f: 'r,
    {
        if self.levels.is_empty() {
            return found(binding, work).map(drop);
        }
        let mut depth = 0;
        self.enter(0, facts, binding, &mut progress[0], work)?;
        loop {
            if self.advance(depth, facts, binding, &mut progress[depth], work)? {
                if depth + 1 < self.levels.len() {
                    depth += 1;
                    self.enter(depth, facts, binding, &mut progress[depth], work)?;
                    continue;
                }
                if !found(binding, work)? {
                    return Ok(());
                }
                let Some(back) = self.last_of_interest else { return Ok(()) };
                progress[..=back].iter_mut().for_each(|p| p.solved = true);
                depth = back;
                continue;
            }
            // A dead end. What no choice in between has a part in is skipped.
            let mut conflicts = std::mem::take(&mut progress[depth].conflicts);
            let target = if progress[depth].solved {
                depth.checked_sub(1)
            } else {
                conflicts.extend(&self.levels[depth].parents);
                conflicts.pop_last()
            };
            let Some(target) = target else { return Ok(()) };
            progress[target].conflicts.append(&mut conflicts);
            depth = target;
        }
    }

    /// Starts a level under the binding of the earlier ones.
    fn enter<'r, I: Interpretation + ?Sized>(
        &self,
        depth: usize,
        facts: &'r I,
        binding: &[ObjectId],
        progress: &mut Progress<'r>,
        work: &mut Work<'_>,
    ) -> Result<(), Cut>
    where
        'f: 'r,
    {
        let level = &self.levels[depth];
        progress.next = 0;
        progress.conflicts.clear();
        progress.solved = false;
        let Source::Rows { atom, part } = level.source else { return Ok(()) };
        let rows = match &mut progress.rows {
            Some(rows) => rows,
            none => {
                let rows: Vec<&'r [ObjectId]> = match self.substitute {
                    Some(substitute) if substitute.part == part => {
                        substitute.rows.iter().map(|r| r.as_slice()).collect()
                    }
                    _ => facts.rows(atom.predicate),
                };
                progress.bytes = rows.len() as u64 * if level.key.is_empty() { 16 } else { 112 };
                work.charge(progress.bytes)?;
                if !level.key.is_empty() {
                    for (number, row) in rows.iter().enumerate() {
                        work.tick()?;
                        let key = level.key.iter().map(|&c| row[c]).collect();
                        progress.index.entry(key).or_default().push(number as u32);
                    }
                }
                none.insert(rows)
            }
        };
        if !level.key.is_empty() && !rows.is_empty() {
            progress.bucket = Some(level.key.iter().map(|&c| atom.args[c].object(binding)).collect());
        }
        Ok(())
    }

    /// Binds a level's variables to its next choice that passes the tests; false if there is none.
    fn advance<I: Interpretation + ?Sized>(
        &self,
        depth: usize,
        facts: &I,
        binding: &mut [ObjectId],
        progress: &mut Progress<'_>,
        work: &mut Work<'_>,
    ) -> Result<bool, Cut> {
        let level = &self.levels[depth];
        loop {
            work.tick()?;
            let at = progress.next;
            progress.next += 1;
            match level.source {
                Source::Objects => {
                    let Some(&object) = level.binds[0].objects.get(at) else { return Ok(false) };
                    binding[level.binds[0].slot as usize] = object;
                }
                Source::Rows { atom, .. } => {
                    let row = match &progress.bucket {
                        Some(key) => progress.index.get(key).and_then(|b| b.get(at)).map(|&r| r as usize),
                        None => Some(at),
                    };
                    let rows = progress.rows.as_deref().unwrap_or_default();
                    let Some(row) = row.and_then(|row| rows.get(row)) else { return Ok(false) };
                    if !bind_row(atom, row, &level.binds, binding) {
                        continue;
                    }
                }
            }
            if self.pass(&level.tests, facts, binding, work)? {
                return Ok(true);
            }
        }
    }

    fn pass<I: Interpretation + ?Sized>(
        &self,
        tests: &[usize],
        facts: &I,
        binding: &mut [ObjectId],
        work: &mut Work<'_>,
    ) -> Result<bool, Cut> {
        for &test in tests {
            // The rows that stand in for a predicate are a subset of it.
            if let Some(substitute) = self.substitute
                && substitute.part == test
                && let Formula::Literal { atom, .. } = self.parts[test].0
            {
                let args: Args = atom.args.iter().map(|t| t.object(binding)).collect();
                if !substitute.rows.contains(&args) {
                    return Ok(false);
                }
                continue;
            }
            let (formula, wanted) = self.parts[test];
            if holds(facts, formula, binding, work)? != wanted {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Binds the variables to a row; false if the row does not match the atom or a type.
fn bind_row(atom: &LiftedAtom, row: &[ObjectId], binds: &[&Variable], binding: &mut [ObjectId]) -> bool {
    for variable in binds {
        binding[variable.slot as usize] = ObjectId::MAX;
    }
    for (term, &object) in atom.args.iter().zip(row) {
        match term {
            Term::Slot(slot) if binding[*slot as usize] == ObjectId::MAX => {
                binding[*slot as usize] = object;
            }
            term if term.object(binding) != object => return false,
            _ => {}
        }
    }
    binds.iter().all(|v| v.objects.binary_search(&binding[v.slot as usize]).is_ok())
}

/// Called with each binding until it returns false.
type Visitor<'v> = dyn FnMut(&mut [ObjectId], &mut Work<'_>) -> Result<bool, Cut> + 'v;

/// Arguments of an atom.
pub(crate) type Args = SmallVec<[ObjectId; INLINE_ARGUMENTS]>;

/// Arguments that an atom has without a memory block of its own.
const INLINE_ARGUMENTS: usize = 6;

/// Reason why a formula was not decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    Limit(StopReason),
    /// A comparison depends on a number that exact arithmetic does not have.
    Inexact,
}

impl From<StopReason> for Cut {
    fn from(reason: StopReason) -> Self {
        Cut::Limit(reason)
    }
}

/// Choices between two polls.
pub(crate) const POLL: u32 = 256;

/// Polls the limits while formulas are evaluated, and counts the bytes that evaluation holds, which are free when it ends.
pub(crate) struct Work<'w> {
    resources: &'w mut dyn ResourceLimits,
    calls: u32,
    /// Bytes held now.
    held: u64,
    /// Bytes that the limits were charged.
    charged: u64,
    /// Place of what is evaluated, if it is worth naming.
    place: Option<Span>,
    /// Combinations of objects that the limits have no room for.
    matches: Option<u64>,
}

impl<'w> Work<'w> {
    pub(crate) fn new(resources: &'w mut dyn ResourceLimits) -> Self {
        Work { resources, calls: 0, held: 0, charged: 0, place: None, matches: None }
    }

    /// Called for every choice.
    #[inline]
    pub(crate) fn tick(&mut self) -> Result<(), StopReason> {
        self.calls = self.calls.wrapping_add(1);
        if self.calls.is_multiple_of(POLL) { check(self.resources.poll()) } else { Ok(()) }
    }

    /// Counts bytes as held. The limits are charged what goes beyond the most that was held before.
    pub(crate) fn charge(&mut self, bytes: u64) -> Result<(), StopReason> {
        let held = self.held.saturating_add(bytes);
        if held > self.charged {
            check_memory(self.resources.charge(held - self.charged))?;
            self.charged = held;
        }
        self.held = held;
        Ok(())
    }

    /// Counts so many matches of a condition, each of so many bytes, before they are listed.
    pub(crate) fn charge_matches(&mut self, matches: u64, bytes: u64) -> Result<(), StopReason> {
        self.charge(matches.saturating_mul(bytes)).inspect_err(|_| self.matches = Some(matches))
    }

    /// Frees bytes that were counted as held.
    pub(crate) fn release(&mut self, bytes: u64) {
        self.held = self.held.saturating_sub(bytes);
    }

    /// Bytes held now, for [`Work::release_to`].
    pub(crate) const fn held(&self) -> u64 {
        self.held
    }

    /// Frees what was counted since `held` was read.
    pub(crate) fn release_to(&mut self, held: u64) {
        self.held = held;
    }

    /// Sets the place of what is evaluated next.
    pub(crate) fn evaluate(&mut self, place: Option<Span>) {
        self.place = place;
    }

    /// Place of what was evaluated last.
    pub(crate) const fn place(&self) -> Option<Span> {
        self.place
    }

    /// Matches of the condition that ended the work, if they were counted before they were listed.
    pub(crate) const fn matches_without_room(&self) -> Option<u64> {
        self.matches
    }
}

impl Drop for Work<'_> {
    fn drop(&mut self) {
        self.resources.release(self.charged);
    }
}

/// Truth of literals and comparisons.
pub(crate) trait Interpretation {
    /// Returns true if the literal holds. Its variables are bound.
    fn literal(&self, atom: &LiftedAtom, negated: bool, binding: &[ObjectId]) -> bool;

    /// Returns true if the comparison holds. Its variables are bound.
    fn compare(
        &self,
        comparison: CompareOp,
        left: &LiftedExpr,
        right: &LiftedExpr,
        binding: &[ObjectId],
    ) -> Result<bool, Cut>;

    /// Number of rows of a predicate.
    fn row_count(&self, predicate: u32) -> usize;

    /// The arguments of at least all atoms of which a positive literal is true or a negative one is false.
    fn rows(&self, predicate: u32) -> Vec<&[ObjectId]>;
}

/// A formula and the truth value that is asked for.
pub(crate) type Goal<'f> = (&'f Formula, bool);

/// Rows that stand in for those of one conjunct's predicate.
#[derive(Clone, Copy)]
pub(crate) struct Substitute<'r> {
    /// Index of the conjunct.
    pub(crate) part: usize,
    pub(crate) rows: &'r [Args],
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lifted::{ActionSchema, EffectChange};
    use crate::normalize::normalize;
    use crate::resources::Unlimited;
    use crate::validate::args_of;
    use crate::validate::world::World;
    use planforge_diagnostics::SourceId;
    use planforge_pddl::{parse_domain, parse_problem};
    use proptest::prelude::*;

    const OBJECTS: usize = 4;

    type Facts = BTreeSet<(u32, Args)>;

    /// The facts that effects add and delete, found by trying every combination of objects.
    fn expand(schema: &ActionSchema, facts: &impl Interpretation, work: &mut Work<'_>) -> [Facts; 2] {
        let mut changed = [Facts::new(), Facts::new()];
        for group in &schema.effects {
            let mut binding = vec![ObjectId::MAX; schema.slots];
            let count = group.variables.iter().map(|v| v.objects.len()).product::<usize>();
            for number in 0..count {
                let mut rest = number;
                for variable in &group.variables {
                    binding[variable.slot as usize] = variable.objects[rest % variable.objects.len()];
                    rest /= variable.objects.len();
                }
                if holds(facts, &group.condition, &mut binding, work).unwrap() {
                    for (change, _) in &group.changes {
                        let (side, atom) = match change {
                            EffectChange::Add(atom) => (0, atom),
                            EffectChange::Delete(atom) => (1, atom),
                            EffectChange::Numeric(..) => continue,
                        };
                        changed[side].insert((atom.predicate, args_of(atom, &binding)));
                    }
                }
            }
        }
        changed
    }

    const CONDITIONS: [&str; 15] = [
        "(p ?x)",
        "(p ?y)",
        "(p ?z)",
        "(not (p ?x))",
        "(r ?x ?y)",
        "(r ?y ?z)",
        "(not (r ?z ?w))",
        "(r ?w ?w)",
        "(= ?x ?y)",
        "(not (= ?z ?w))",
        "(or (p ?x) (r ?y ?w))",
        "(exists (?u) (and (r ?x ?u) (p ?u)))",
        "(forall (?u) (or (r ?u ?z) (p ?u)))",
        "(p a)",
        "(< (n ?x) (n ?w))",
    ];

    const CHANGES: [&str; 8] = [
        "(q ?x)",
        "(not (q ?y))",
        "(t ?x ?y)",
        "(t ?w ?z)",
        "(not (t ?z ?x))",
        "(q a)",
        "(t ?y ?y)",
        "(not (r ?x ?w))",
    ];

    const NUMBERS: &str = "(= (n a) 2) (= (n b) 1) (= (n c) 1) (= (n d) 3)";

    proptest! {
        #[test]
        fn effects_change_what_trying_every_combination_of_objects_changes(
            conditions in proptest::collection::vec(0..CONDITIONS.len(), 0..5),
            changes in proptest::collection::vec(0..CHANGES.len(), 1..4),
            ones in proptest::collection::vec(0..OBJECTS, 0..4),
            twos in proptest::collection::vec((0..OBJECTS, 0..OBJECTS), 0..8),
        ) {
            let name = |n: usize| ["a", "b", "c", "d"][n];
            let all = |texts: &[&str], picked: &[usize]| picked.iter().map(|&n| texts[n]).collect::<String>();
            let domain = format!(
                "(define (domain t) (:requirements :adl) (:types flat - object) (:constants a - flat)
                   (:predicates (p ?x) (r ?x ?y) (q ?x) (t ?x ?y)) (:functions (n ?x))
                   (:action do :parameters () :effect
                     (forall (?x ?y ?z - flat ?w) (when (and {}) (and {})))))",
                all(&CONDITIONS, &conditions),
                all(&CHANGES, &changes)
            );
            let ones: String = ones.iter().map(|&x| format!("(p {})", name(x))).collect();
            let twos: String = twos.iter().map(|&(x, y)| format!("(r {} {})", name(x), name(y))).collect();
            let problem =
                format!("(define (problem o) (:domain t) (:objects b - flat c d) (:init {ones} {twos} {NUMBERS}) (:goal (p a)))");
            let domain = parse_domain(&domain, SourceId(0)).value;
            let task = normalize(&domain, &parse_problem(&problem, SourceId(1)).value).unwrap();
            let schema = &task.schemas[0];
            let world = World::initial(&task);
            let mut limits = Unlimited;
            let mut work = Work::new(&mut limits);
            let expected = expand(schema, &world.view(), &mut work);
            let mut binding = vec![ObjectId::MAX; schema.slots];
            let found = world.changes(schema, &world.view(), &mut binding, &mut work).unwrap();
            prop_assert_eq!(found.added.into_iter().collect::<Facts>(), expected[0].clone());
            prop_assert_eq!(found.deleted.into_iter().collect::<Facts>(), expected[1].clone());
        }
    }

    #[test]
    fn bytes_that_were_freed_are_not_charged_again() {
        let mut limits = crate::CountingLimits { polls: 0, bytes: 100 };
        let mut work = Work::new(&mut limits);
        for _ in 0..10 {
            let held = work.held();
            work.charge(60).unwrap();
            work.charge(40).unwrap();
            work.release_to(held);
        }
        work.charge(60).unwrap();
        assert_eq!(work.charge(41), Err(StopReason::Memory));
        drop(work);
        assert_eq!(limits.charge(100), crate::Poll::Continue);
    }
}
