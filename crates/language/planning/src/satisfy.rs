//! Evaluates formulas without enumerating bindings where that is possible.
//!
//! A quantifier asks for a binding of its variables under which its body (or the negation of it) holds. The body is
//! split into conjuncts and these into groups that share no variable, which are decided one by one; variables that do
//! not occur cost nothing. Within a group, literals that are true of few atoms bind their variables to these atoms;
//! only what is left is enumerated over the objects. A dead end returns to the last choice that it depends on.
//! Nothing here recurses over the number of variables or conjuncts, and every choice polls the limits.

use crate::lifted::{Formula, LiftedAtom, LiftedExpr, Term, Variable};
use crate::resources::{ResourceLimits, StopReason, check};
use crate::task::ObjectId;
use planforge_pddl::ast::CompareOp;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::BTreeSet;

/// Called with each binding until it returns false.
pub(crate) type Visitor<'v> = dyn FnMut(&mut [ObjectId], &mut Work<'_>) -> Result<bool, Cut> + 'v;

/// Arguments of an atom.
pub(crate) type Args = SmallVec<[ObjectId; 6]>;

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

/// Literals that are compared to find the next choice.
const WINDOW: usize = 64;

/// Choices between two polls.
pub(crate) const POLL: u32 = 256;

/// Polls the limits while formulas are evaluated.
pub(crate) struct Work<'w> {
    resources: &'w mut dyn ResourceLimits,
    calls: u32,
}

impl<'w> Work<'w> {
    pub(crate) fn new(resources: &'w mut dyn ResourceLimits) -> Self {
        Work { resources, calls: 0 }
    }

    /// Called for every choice.
    #[inline]
    pub(crate) fn tick(&mut self) -> Result<(), StopReason> {
        self.calls = self.calls.wrapping_add(1);
        if self.calls.is_multiple_of(POLL) { check(self.resources.poll()) } else { Ok(()) }
    }

    /// Charges bytes.
    pub(crate) fn charge(&mut self, bytes: u64) -> Result<(), StopReason> {
        check(self.resources.charge(bytes))
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
type Goal<'f> = (&'f Formula, bool);

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

/// All bindings of the variables under which the formula holds, in lexicographic order, one after the other.
pub(crate) fn all<I: Interpretation + ?Sized>(
    facts: &I,
    variables: &[Variable],
    formula: &Formula,
    binding: &mut [ObjectId],
    work: &mut Work<'_>,
) -> Result<Vec<Args>, Cut> {
    if variables.is_empty() {
        return Ok(if holds(facts, formula, binding, work)? { vec![Args::new()] } else { Vec::new() });
    }
    let mut found = Vec::new();
    let own: Vec<&Variable> = variables.iter().collect();
    let parts = conjuncts(formula).iter().map(|part| (part, true)).collect();
    let project: Vec<u32> = variables.iter().map(|v| v.slot).collect();
    Search::new(own, parts, &project, None, facts, binding).run(facts, binding, work, &mut |b, work| {
        work.charge(16 + 4 * variables.len() as u64)?;
        found.push(variables.iter().map(|v| b[v.slot as usize]).collect::<Args>());
        Ok(true)
    })?;
    found.sort_unstable();
    Ok(found)
}

/// The parts of a conjunction; any other formula is one part.
pub(crate) fn conjuncts(formula: &Formula) -> &[Formula] {
    match formula {
        Formula::And(parts) => parts,
        single => std::slice::from_ref(single),
    }
}

/// Calls `f` with every slot of a formula, those of its own quantifiers included.
fn for_each_slot(formula: &Formula, f: &mut impl FnMut(u32)) {
    let mut term = |t: &Term| {
        if let Term::Slot(slot) = t {
            f(*slot);
        }
    };
    match formula {
        Formula::And(parts) | Formula::Or(parts, _) => parts.iter().for_each(|p| for_each_slot(p, f)),
        Formula::Literal { atom, .. } => atom.args.iter().for_each(term),
        Formula::Equal { left, right, .. } => {
            term(left);
            term(right);
        }
        Formula::Compare { left, right, .. } => {
            left.for_each_function(&mut |atom| atom.args.iter().for_each(&mut term));
            right.for_each_function(&mut |atom| atom.args.iter().for_each(&mut term));
        }
        Formula::Exists(_, body, _) | Formula::Forall(_, body, _) => for_each_slot(body, f),
    }
}

/// The open variables of a formula, as indices into `open`, which is sorted by slot.
pub(crate) fn occurring(formula: &Formula, open: &[&Variable]) -> Vec<u32> {
    let mut list = Vec::new();
    for_each_slot(formula, &mut |slot| {
        if let Ok(at) = open.binary_search_by_key(&slot, |v| v.slot) {
            list.push(at as u32);
        }
    });
    list.sort_unstable();
    list.dedup();
    list
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
    let mut groups = Groups::new(open.len());
    let mut rest = Vec::new();
    for (formula, wanted) in parts {
        let variables = occurring(formula, &open);
        if variables.is_empty() {
            work.tick()?;
            if holds(facts, formula, binding, work)? != wanted {
                return Ok(false);
            }
        } else {
            groups.join(&variables);
            rest.push(((formula, wanted), variables[0]));
        }
    }
    let mut members: FxHashMap<u32, (Vec<&'f Variable>, Vec<Goal<'f>>)> = FxHashMap::default();
    let mut order = Vec::new();
    for (goal, variable) in rest {
        let group = groups.find(variable);
        members
            .entry(group)
            .or_insert_with(|| {
                order.push(group);
                Default::default()
            })
            .1
            .push(goal);
    }
    for (index, variable) in open.iter().enumerate() {
        if let Some(group) = members.get_mut(&groups.find(index as u32)) {
            group.0.push(variable);
        }
    }
    for group in order {
        let Some((variables, goals)) = members.remove(&group) else { continue };
        if !group_satisfiable(facts, variables, goals, binding, work)? {
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

/// Variables that conjuncts connect.
pub(crate) struct Groups {
    parent: Vec<u32>,
}

impl Groups {
    pub(crate) fn new(count: usize) -> Self {
        Groups { parent: (0..count as u32).collect() }
    }

    pub(crate) fn find(&mut self, mut of: u32) -> u32 {
        while self.parent[of as usize] != of {
            let next = self.parent[of as usize];
            self.parent[of as usize] = self.parent[next as usize];
            of = next;
        }
        of
    }

    pub(crate) fn join(&mut self, all: &[u32]) {
        for pair in all.windows(2) {
            let (a, b) = (self.find(pair[0]), self.find(pair[1]));
            self.parent[a as usize] = b;
        }
    }
}

/// Rows that stand in for those of one conjunct's predicate.
#[derive(Clone, Copy)]
pub(crate) struct Substitute<'r> {
    /// Index of the conjunct.
    pub(crate) part: usize,
    pub(crate) rows: &'r [Args],
}

/// Source of a level's bindings.
enum Source<'f> {
    /// The atoms of a literal.
    Rows { atom: &'f LiftedAtom, part: usize },
    /// The objects of one variable.
    Objects,
}

/// One choice of the search.
struct Level<'f> {
    source: Source<'f>,
    /// Variables that it binds.
    binds: Vec<&'f Variable>,
    /// Columns of the atom that are bound before.
    key: Vec<usize>,
    /// Parts to test then, by index.
    tests: Vec<usize>,
    /// Earlier levels on which its failures depend.
    parents: Vec<usize>,
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
        let mut by_size: Vec<u32> = (0..open.len() as u32).rev().collect();
        by_size.sort_by_key(|&v| std::cmp::Reverse(open[v as usize].objects.len()));
        let mut planner = SearchPlanner {
            by_size,
            level_of: vec![None; open.len()],
            waiting: parts.iter().map(|(formula, _)| occurring(formula, &open)).collect(),
            users: vec![Vec::new(); open.len()],
            open,
            levels: Vec::new(),
            closed: Vec::new(),
        };
        planner.plan(&parts, substitute, facts, binding);
        let SearchPlanner { level_of, open, levels, closed, .. } = planner;
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
        let result = self.explore(facts, binding, work, found);
        for variable in self.levels.iter().flat_map(|l| &l.binds) {
            binding[variable.slot as usize] = ObjectId::MAX;
        }
        result
    }

    fn explore<'r, I: Interpretation + ?Sized>(
        &self,
        facts: &'r I,
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
        let mut progress: Vec<Progress<'r>> = self.levels.iter().map(|_| Progress::default()).collect();
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
                work.charge(16 * rows.len() as u64)?;
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

/// Orders the choices of a search.
struct SearchPlanner<'f> {
    open: Vec<&'f Variable>,
    /// Level that binds each open variable.
    level_of: Vec<Option<usize>>,
    /// Open variables of each part.
    waiting: Vec<Vec<u32>>,
    /// Parts that each open variable occurs in.
    users: Vec<Vec<u32>>,
    levels: Vec<Level<'f>>,
    closed: Vec<usize>,
    /// Open variables, those with the fewest objects last.
    by_size: Vec<u32>,
}

impl<'f> SearchPlanner<'f> {
    fn plan<I: Interpretation + ?Sized>(
        &mut self,
        parts: &[Goal<'f>],
        substitute: Option<Substitute<'_>>,
        facts: &I,
        binding: &[ObjectId],
    ) {
        // Open variables of each part that no level binds yet.
        let mut missing: Vec<usize> = self.waiting.iter().map(Vec::len).collect();
        for (part, variables) in self.waiting.iter().enumerate() {
            variables.iter().for_each(|&v| self.users[v as usize].push(part as u32));
            if variables.is_empty() {
                self.closed.push(part);
            }
        }
        // Literals that bind their variables to atoms, with the number of these.
        let mut sources: Vec<(usize, &'f LiftedAtom, usize)> = Vec::new();
        for (part, (formula, wanted)) in parts.iter().enumerate() {
            if let Formula::Literal { atom, negated, .. } = formula
                && *negated != *wanted
                && missing[part] > 0
            {
                // The new atoms first: a join with them is what a substitute is for.
                if substitute.is_some_and(|s| s.part == part) {
                    sources.insert(0, (part, atom, 0));
                } else {
                    sources.push((part, atom, facts.row_count(atom.predicate)));
                }
            }
        }
        while let Some(next) = self.next_source(&mut sources, &missing, binding) {
            let level = self.levels.len();
            let variables: Vec<u32> = match next {
                Ok((part, _)) => {
                    let open = |v: &u32| self.level_of[*v as usize].is_none();
                    self.waiting[part].iter().copied().filter(open).collect()
                }
                Err(variable) => vec![variable],
            };
            let mut tests = Vec::new();
            let mut parents = BTreeSet::new();
            let earlier = |v: u32, parents: &mut BTreeSet<usize>, level_of: &[Option<usize>]| {
                parents.extend(level_of[v as usize]);
            };
            let mut key = Vec::new();
            let source = match next {
                Ok((part, atom)) => {
                    let is_open = |term: &Term| match term {
                        Term::Slot(slot) => {
                            let at = self.open.binary_search_by_key(slot, |v| v.slot);
                            at.is_ok_and(|at| self.level_of[at].is_none())
                        }
                        Term::Object(_) => false,
                    };
                    key = (0..atom.args.len()).filter(|&c| !is_open(&atom.args[c])).collect();
                    self.waiting[part].iter().for_each(|&v| earlier(v, &mut parents, &self.level_of));
                    Source::Rows { atom, part }
                }
                Err(_) => Source::Objects,
            };
            for &variable in &variables {
                for &part in &self.users[variable as usize] {
                    missing[part as usize] -= 1;
                    let part = part as usize;
                    if missing[part] == 0 && !matches!(source, Source::Rows { part: own, .. } if own == part)
                    {
                        tests.push(part);
                        self.waiting[part].iter().for_each(|&v| earlier(v, &mut parents, &self.level_of));
                    }
                }
            }
            for &variable in &variables {
                self.level_of[variable as usize] = Some(level);
            }
            let binds = variables.iter().map(|&v| self.open[v as usize]).collect();
            self.levels.push(Level { source, binds, key, tests, parents: parents.into_iter().collect() });
        }
    }

    /// The literal with the fewest atoms to try, or else the open variable with the fewest objects.
    fn next_source(
        &mut self,
        sources: &mut Vec<(usize, &'f LiftedAtom, usize)>,
        missing: &[usize],
        binding: &[ObjectId],
    ) -> Option<Result<(usize, &'f LiftedAtom), u32>> {
        // Literals whose variables other levels bind have become tests.
        let mut at = 0;
        while at < sources.len().min(WINDOW) {
            if missing[sources[at].0] > 0 {
                at += 1;
            } else {
                sources.swap_remove(at);
            }
        }
        let cost = |&(part, atom, rows): &(usize, &LiftedAtom, usize)| {
            let arity = atom.args.len().max(1) as f64;
            let bound = |t: &&Term| match t {
                Term::Slot(slot) => match self.open.binary_search_by_key(slot, |v| v.slot) {
                    Ok(at) => self.level_of[at].is_some(),
                    Err(_) => binding[*slot as usize] != ObjectId::MAX,
                },
                Term::Object(_) => true,
            };
            let bound = atom.args.iter().filter(bound).count() as f64;
            ((rows as f64).powf(1.0 - bound / arity), part)
        };
        let costs = sources.iter().take(WINDOW).map(cost).enumerate();
        let best = costs.min_by(|(_, a), (_, b)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))).map(|(at, _)| at);
        if let Some(best) = best {
            let (part, atom, _) = sources.swap_remove(best);
            return Some(Ok((part, atom)));
        }
        while let Some(variable) = self.by_size.pop() {
            if self.level_of[variable as usize].is_none() {
                return Some(Err(variable));
            }
        }
        None
    }
}
