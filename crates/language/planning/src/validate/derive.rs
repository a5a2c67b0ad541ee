//! Derived atoms of a state, on demand and by strata, and the view of a state that formulas are evaluated over.
//!
//! [`Demand`] derives the atoms that a condition asks for. Rules are followed from the question back to the facts, and each question is
//! answered once (tabling), so a transitive closure is walked only from the objects that a step names. [`close`] evaluates rules
//! by strata, each atom joined with the others when it is new (semi-naive), and only strata whose inputs changed.

use crate::ground::{Query, queries};
use crate::lifted::{DerivedRule, Formula, LiftedAtom, LiftedExpr, LiftedTask, Term, Variable};
use crate::satisfy::{Args, Cut, Interpretation, Search, Substitute, Work, args_bytes, holds};
use crate::task::ObjectId;
use planforge_pddl::Number;
use planforge_pddl::ast::CompareOp;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::collections::hash_map::Entry;
use std::rc::Rc;

/// Stands for an argument that is asked for.
const OPEN: ObjectId = ObjectId::MAX;

/// Columns of an atom that are bound.
type Bound = SmallVec<[bool; 6]>;

/// The rules of a task for questions about single atoms.
pub(super) struct Demand<'t> {
    disjuncts: Vec<Disjunct<'t>>,
    /// For each predicate, true if its atoms are derived by questions. The rules of other derived predicates never depend
    /// on these.
    on_demand: Vec<bool>,
    /// The disjuncts of each predicate.
    by_head: Vec<Vec<u32>>,
    /// Predicates that occur in rules.
    read: Vec<bool>,
    reads_numbers: bool,
}

/// One disjunct of a rule's body.
struct Disjunct<'t> {
    rule: &'t DerivedRule,
    query: Query<'t>,
    /// The parts other than positive atoms.
    checks: Vec<(&'t Formula, bool)>,
    /// The variables by slot, those of quantifiers in `checks` aside.
    variables: Vec<Option<&'t Variable>>,
}

impl<'t> Demand<'t> {
    /// Prepares the rules. Left out are predicates that no step changes, which are derived once, and those that a rule uses
    /// in a negation or below a quantifier, which must be complete before.
    pub(super) fn new(task: &'t LiftedTask) -> Self {
        let disjuncts: Vec<Disjunct<'t>> = task
            .rules
            .iter()
            .flat_map(|rule| queries(&rule.body, true).into_iter().map(move |query| (rule, query)))
            .map(|(rule, query)| Disjunct::new(rule, query))
            .collect();
        let mut on_demand = changed_by_steps(task);
        for (formula, _) in disjuncts.iter().flat_map(|d| &d.checks) {
            formula.for_each_literal(&mut |atom, _, _| on_demand[atom.predicate as usize] = false);
        }
        // What a complete predicate depends on is complete, too.
        let mut settled = false;
        while !settled {
            settled = true;
            for rule in &task.rules {
                if !on_demand[rule.predicate as usize] {
                    rule.body.for_each_literal(&mut |atom, _, _| {
                        settled &= !std::mem::replace(&mut on_demand[atom.predicate as usize], false);
                    });
                }
            }
        }
        let mut by_head = vec![Vec::new(); task.predicates.len()];
        for (disjunct, number) in disjuncts.iter().zip(0..) {
            by_head[disjunct.rule.predicate as usize].push(number);
        }
        let mut read = vec![false; task.predicates.len()];
        for rule in &task.rules {
            rule.body.for_each_literal(&mut |atom, _, _| read[atom.predicate as usize] = true);
        }
        let reads_numbers = task.rules.iter().any(|rule| rule.body.has_comparison());
        Demand { disjuncts, on_demand, by_head, read, reads_numbers }
    }

    pub(super) fn on_demand(&self) -> &[bool] {
        &self.on_demand
    }

    /// Returns true if a rule reads one of the changed predicates, or a number.
    pub(super) fn reads(&self, changed: &[bool], numbers_changed: bool) -> bool {
        numbers_changed && self.reads_numbers
            || changed.iter().zip(&self.read).any(|(changed, read)| *changed && *read)
    }

    /// Appends the questions of a condition, atoms with [`OPEN`] for what is not bound; false if one of them leaves
    /// everything open.
    pub(super) fn questions(
        &self,
        condition: &Formula,
        binding: &[ObjectId],
        questions: &mut Vec<(u32, Args)>,
    ) -> bool {
        let mut narrow = true;
        condition.for_each_literal(&mut |atom, _, _| {
            if self.on_demand[atom.predicate as usize] {
                let args = args_of(atom, binding);
                narrow &= args.is_empty() || args.iter().any(|&a| a != OPEN);
                questions.push((atom.predicate, args));
            }
        });
        narrow
    }

    /// The atoms that answer the questions, and others that were derived on the way. The facts of all other predicates are
    /// complete.
    pub(super) fn answers(
        &self,
        questions: Vec<(u32, Args)>,
        state: &View<'_>,
        work: &mut Work<'_>,
    ) -> Result<Vec<(u32, Args)>, Cut> {
        let mut tables = Tables {
            demand: self,
            state,
            questions: Vec::new(),
            numbers: FxHashMap::default(),
            known: FxHashSet::default(),
            indices: FxHashMap::default(),
            orders: FxHashMap::default(),
            stack: Vec::new(),
        };
        for (predicate, pattern) in questions {
            tables.question(predicate, pattern, work)?;
        }
        while let Some(derivation) = tables.stack.pop() {
            work.tick()?;
            tables.advance(derivation, work)?;
        }
        let predicate = |question: u32| tables.questions[question as usize].predicate;
        Ok(tables.known.iter().map(|(question, args)| (predicate(*question), args.clone())).collect())
    }
}

/// For each predicate, true if it is derived and a step can change what it is derived from.
fn changed_by_steps(task: &LiftedTask) -> Vec<bool> {
    let derived = |predicate: u32| task.predicates[predicate as usize].derived;
    let mut changed = vec![false; task.predicates.len()];
    loop {
        let mut settled = true;
        for rule in task.rules.iter() {
            let mut moves = rule.body.has_comparison();
            rule.body.for_each_literal(&mut |atom, _, _| {
                let fluent = task.predicates[atom.predicate as usize].fluent && !derived(atom.predicate);
                moves |= fluent || changed[atom.predicate as usize];
            });
            settled &= !moves || std::mem::replace(&mut changed[rule.predicate as usize], true);
        }
        if settled {
            return changed;
        }
    }
}

impl<'t> Disjunct<'t> {
    fn new(rule: &'t DerivedRule, query: Query<'t>) -> Self {
        let mut variables = vec![None; rule.slots];
        for variable in rule.variables.iter().chain(query.variables.iter().copied()) {
            variables[variable.slot as usize] = Some(variable);
        }
        let checks = query.checks.iter().chain(&query.rest).map(|part| (*part, true)).collect();
        Disjunct { rule, query, checks, variables }
    }

    /// Binds a slot; false if the object is not of the variable's type or the slot has another one.
    fn bind(&self, slot: u32, object: ObjectId, binding: &mut [ObjectId]) -> bool {
        let place = &mut binding[slot as usize];
        if *place == OPEN {
            *place = object;
            return self.variables[slot as usize].is_none_or(|v| v.objects.binary_search(&object).is_ok());
        }
        *place == object
    }

    /// Binds the open arguments of an atom to a row; false if the row does not match.
    fn bind_row(&self, atom: &LiftedAtom, row: &[ObjectId], binding: &mut [ObjectId]) -> bool {
        atom.args.iter().zip(row).all(|(term, &object)| match term {
            Term::Slot(slot) => self.bind(*slot, object, binding),
            Term::Object(fixed) => *fixed == object,
        })
    }

    /// The order in which the positive atoms are joined, given the bound columns of the head: next is an atom without open
    /// variables, else one with a bound argument, facts before derived atoms.
    fn order(&self, head: &[bool], on_demand: &[bool]) -> Rc<[usize]> {
        let mut bound = vec![false; self.rule.slots];
        bound[..head.len()].copy_from_slice(head);
        let mut left: Vec<usize> = (0..self.query.atoms.len()).collect();
        let mut order = Vec::with_capacity(left.len());
        while !left.is_empty() {
            let open = |term: &&Term| matches!(term, Term::Slot(slot) if !bound[*slot as usize]);
            let rank = |at: &usize| {
                let atom = self.query.atoms[*at];
                let unbound = atom.args.iter().filter(open).count();
                let all_open = unbound > 0 && unbound == atom.args.len();
                (unbound > 0, all_open, on_demand[atom.predicate as usize], unbound)
            };
            let place = (0..left.len()).min_by_key(|&place| rank(&left[place])).unwrap_or_default();
            let next = left.remove(place);
            for term in &self.query.atoms[next].args {
                if let Term::Slot(slot) = term {
                    bound[*slot as usize] = true;
                }
            }
            order.push(next);
        }
        order.into()
    }
}

/// A question, and the derivations that wait for its answers.
struct Question {
    predicate: u32,
    /// True if no argument is open, so that one answer is all.
    ground: bool,
    answers: Vec<Args>,
    waiting: Vec<Derivation>,
}

/// A disjunct of which the first atoms are joined.
#[derive(Clone)]
struct Derivation {
    /// The question that it answers.
    question: u32,
    disjunct: u32,
    order: Rc<[usize]>,
    /// Number of atoms joined.
    joined: usize,
    binding: Args,
}

/// Rows of a predicate by the values of their bound columns.
type Rows<'v> = Rc<FxHashMap<Args, Vec<&'v Args>>>;

/// Questions and answers of one state.
struct Tables<'d, 't, 'v> {
    demand: &'d Demand<'t>,
    state: &'d View<'v>,
    questions: Vec<Question>,
    numbers: FxHashMap<(u32, Args), u32>,
    /// Answers, each with the number of its question.
    known: FxHashSet<(u32, Args)>,
    indices: FxHashMap<(u32, Bound), Rows<'v>>,
    orders: FxHashMap<(u32, Bound), Rc<[usize]>>,
    stack: Vec<Derivation>,
}

impl<'v> Tables<'_, '_, 'v> {
    /// The number of a question. A new one starts its derivations.
    fn question(&mut self, predicate: u32, pattern: Args, work: &mut Work<'_>) -> Result<u32, Cut> {
        let next = self.questions.len() as u32;
        let number = match self.numbers.entry((predicate, pattern.clone())) {
            Entry::Occupied(known) => return Ok(*known.get()),
            Entry::Vacant(place) => *place.insert(next),
        };
        work.charge(128 + 8 * pattern.len() as u64)?;
        let bound: Bound = pattern.iter().map(|&object| object != OPEN).collect();
        let ground = bound.iter().all(|&bound| bound);
        self.questions.push(Question { predicate, ground, answers: Vec::new(), waiting: Vec::new() });
        let demand = self.demand;
        for &disjunct in &demand.by_head[predicate as usize] {
            let body = &demand.disjuncts[disjunct as usize];
            let mut binding: Args = SmallVec::from_elem(OPEN, body.rule.slots);
            let mut given = (0..).zip(&pattern).filter(|(_, object)| **object != OPEN);
            if given.all(|(slot, &object)| body.bind(slot, object, &mut binding)) {
                let order = self.orders.entry((disjunct, bound.clone()));
                let order = Rc::clone(order.or_insert_with(|| body.order(&bound, &demand.on_demand)));
                self.stack.push(Derivation { question: number, disjunct, order, joined: 0, binding });
            }
        }
        Ok(number)
    }

    /// Joins a derivation's next atom.
    fn advance(&mut self, mut derivation: Derivation, work: &mut Work<'_>) -> Result<(), Cut> {
        let question = &self.questions[derivation.question as usize];
        if question.ground && !question.answers.is_empty() {
            return Ok(());
        }
        let Some(&next) = derivation.order.get(derivation.joined) else {
            return self.conclude(derivation, work);
        };
        derivation.joined += 1;
        let atom = self.demand.disjuncts[derivation.disjunct as usize].query.atoms[next];
        let pattern = args_of(atom, &derivation.binding);
        if self.demand.on_demand[atom.predicate as usize] {
            let number = self.question(atom.predicate, pattern, work)? as usize;
            for at in 0..self.questions[number].answers.len() {
                let row = self.questions[number].answers[at].clone();
                self.resume(&derivation, &row, work)?;
            }
            self.questions[number].waiting.push(derivation);
        } else if pattern.contains(&OPEN) {
            let bound: Bound = pattern.iter().map(|&object| object != OPEN).collect();
            let key: Args = pattern.iter().copied().filter(|&object| object != OPEN).collect();
            let rows = self.rows(atom.predicate, bound, work)?;
            for row in rows.get(&key).into_iter().flatten() {
                self.resume(&derivation, row, work)?;
            }
        } else if self.state.facts[atom.predicate as usize].contains(&pattern) {
            self.stack.push(derivation);
        }
        Ok(())
    }

    /// Continues a derivation with a row for the atom that it joined last.
    fn resume(&mut self, derivation: &Derivation, row: &[ObjectId], work: &mut Work<'_>) -> Result<(), Cut> {
        work.tick()?;
        let body = &self.demand.disjuncts[derivation.disjunct as usize];
        let atom = body.query.atoms[derivation.order[derivation.joined - 1]];
        let mut next = derivation.clone();
        if body.bind_row(atom, row, &mut next.binding) {
            self.stack.push(next);
        }
        Ok(())
    }

    /// Checks what is left of a body whose atoms are joined, and answers.
    fn conclude(&mut self, derivation: Derivation, work: &mut Work<'_>) -> Result<(), Cut> {
        let body = &self.demand.disjuncts[derivation.disjunct as usize];
        let Derivation { question, mut binding, .. } = derivation;
        let open: Vec<&Variable> =
            body.variables.iter().flatten().filter(|v| binding[v.slot as usize] == OPEN).copied().collect();
        let arity = body.rule.variables.len();
        if open.is_empty() {
            for (formula, _) in &body.checks {
                if !holds(self.state, formula, &mut binding, work)? {
                    return Ok(());
                }
            }
            return self.answer(question, &binding[..arity], work);
        }
        let project: Vec<u32> = (0..arity as u32).collect();
        let mut heads: Vec<Args> = Vec::new();
        let search = Search::new(open, body.checks.clone(), &project, None, self.state, &binding);
        search.run(self.state, &mut binding, work, &mut |binding, work| {
            work.charge(args_bytes(arity))?;
            heads.push(Args::from_slice(&binding[..arity]));
            Ok(true)
        })?;
        heads.iter().try_for_each(|head| self.answer(question, head, work))
    }

    fn answer(&mut self, question: u32, head: &[ObjectId], work: &mut Work<'_>) -> Result<(), Cut> {
        let head = Args::from_slice(head);
        if !self.known.insert((question, head.clone())) {
            return Ok(());
        }
        work.charge(2 * args_bytes(head.len()))?;
        let number = question as usize;
        self.questions[number].answers.push(head.clone());
        for at in 0..self.questions[number].waiting.len() {
            let waiting = self.questions[number].waiting[at].clone();
            self.resume(&waiting, &head, work)?;
        }
        Ok(())
    }

    fn rows(&mut self, predicate: u32, bound: Bound, work: &mut Work<'_>) -> Result<Rows<'v>, Cut> {
        match self.indices.entry((predicate, bound)) {
            Entry::Occupied(known) => Ok(Rc::clone(known.get())),
            Entry::Vacant(place) => {
                let mut rows: FxHashMap<Args, Vec<&'v Args>> = FxHashMap::default();
                let facts: &'v [FxHashSet<Args>] = self.state.facts;
                for row in &facts[predicate as usize] {
                    work.tick()?;
                    let key = row.iter().zip(&place.key().1).filter(|(_, bound)| **bound);
                    rows.entry(key.map(|(&object, _)| object).collect()).or_default().push(row);
                }
                work.charge(64 * facts[predicate as usize].len() as u64)?;
                Ok(Rc::clone(place.insert(Rc::new(rows))))
            }
        }
    }
}

/// One disjunct of a rule's body.
struct ForwardDisjunct<'r> {
    rule: &'r DerivedRule,
    query: Query<'r>,
    /// The positive atoms as formulas come first in `parts`.
    parts: Vec<(&'r Formula, bool)>,
    /// Parts that are atoms of the same stratum.
    recursive: Vec<(usize, u32)>,
    /// True if such atoms also occur where a join does not see them: below a quantifier or in a long disjunction.
    hidden: bool,
}

/// Brings the derived atoms of `facts` up to date, those of predicates in `skip` aside, which no other rule uses. `changed` marks
/// the predicates whose atoms changed; derived ones are added.
pub(super) fn close(
    rules: &[DerivedRule],
    skip: &[bool],
    facts: &mut [FxHashSet<Args>],
    state: &View<'_>,
    changed: &mut [bool],
    numbers_changed: bool,
    work: &mut Work<'_>,
) -> Result<(), Cut> {
    let mut rest = rules;
    while let Some(first) = rest.first() {
        let end = rest.iter().take_while(|r| r.stratum == first.stratum).count();
        let (stratum, later) = rest.split_at(end);
        rest = later;
        let stratum: Vec<&DerivedRule> =
            stratum.iter().filter(|r| !skip.get(r.predicate as usize).is_some_and(|&skip| skip)).collect();
        let heads: FxHashSet<u32> = stratum.iter().map(|r| r.predicate).collect();
        let mut stale = heads.iter().any(|&p| changed[p as usize]);
        for rule in &stratum {
            rule.body.for_each_literal(&mut |atom, _, _| stale |= changed[atom.predicate as usize]);
            stale |= numbers_changed && rule.body.has_comparison();
        }
        if stale {
            let mut before: Vec<(u32, FxHashSet<Args>)> = Vec::with_capacity(heads.len());
            for &predicate in &heads {
                // Marked until the stratum is complete, so that a cut does not leave half of it as a result.
                changed[predicate as usize] = true;
                before.push((predicate, std::mem::take(&mut facts[predicate as usize])));
            }
            derive_stratum(&stratum, &heads, facts, state, work)?;
            for (predicate, old) in before {
                changed[predicate as usize] = old != facts[predicate as usize];
            }
        }
    }
    Ok(())
}

fn derive_stratum(
    stratum: &[&DerivedRule],
    heads: &FxHashSet<u32>,
    facts: &mut [FxHashSet<Args>],
    state: &View<'_>,
    work: &mut Work<'_>,
) -> Result<(), Cut> {
    let disjuncts: Vec<ForwardDisjunct<'_>> = stratum
        .iter()
        .flat_map(|rule| queries(&rule.body, true).into_iter().map(move |query| (*rule, query)))
        .map(|(rule, query)| ForwardDisjunct::new(rule, query, heads))
        .collect();
    let mut fresh: FxHashMap<u32, Vec<Args>> = FxHashMap::default();
    let mut found: Vec<(u32, Args)> = Vec::new();
    for disjunct in &disjuncts {
        disjunct.consequences(None, facts, state, &mut found, work)?;
    }
    loop {
        for (predicate, args) in found.drain(..) {
            work.tick()?;
            if facts[predicate as usize].insert(args.clone()) {
                // In the state and in the list of new atoms.
                work.charge(2 * args_bytes(args.len()))?;
                fresh.entry(predicate).or_default().push(args);
            }
        }
        if fresh.is_empty() {
            return Ok(());
        }
        let delta = std::mem::take(&mut fresh);
        for disjunct in &disjuncts {
            if disjunct.hidden {
                disjunct.consequences(None, facts, state, &mut found, work)?;
                continue;
            }
            for &(part, predicate) in &disjunct.recursive {
                if let Some(rows) = delta.get(&predicate) {
                    disjunct.consequences(Some(Substitute { part, rows }), facts, state, &mut found, work)?;
                }
            }
        }
    }
}

impl<'r> ForwardDisjunct<'r> {
    fn new(rule: &'r DerivedRule, query: Query<'r>, heads: &FxHashSet<u32>) -> Self {
        let mut parts: Vec<(&'r Formula, bool)> = Vec::new();
        let mut recursive = Vec::new();
        let mut hidden = false;
        for atom in &query.literals {
            if let Formula::Literal { atom, .. } = atom
                && heads.contains(&atom.predicate)
            {
                recursive.push((parts.len(), atom.predicate));
            }
            parts.push((atom, true));
        }
        for part in query.checks.iter().chain(&query.rest) {
            part.for_each_literal(&mut |atom, _, _| hidden |= heads.contains(&atom.predicate));
            parts.push((part, true));
        }
        ForwardDisjunct { rule, query, parts, recursive, hidden }
    }

    /// Appends the heads that follow and are not known yet.
    fn consequences(
        &self,
        substitute: Option<Substitute<'_>>,
        facts: &[FxHashSet<Args>],
        state: &View<'_>,
        found: &mut Vec<(u32, Args)>,
        work: &mut Work<'_>,
    ) -> Result<(), Cut> {
        let view = View { facts, ..*state };
        let mut binding = vec![ObjectId::MAX; self.rule.slots];
        let open = self.rule.variables.iter().chain(self.query.variables.iter().copied()).collect();
        let project: Vec<u32> = self.rule.variables.iter().map(|v| v.slot).collect();
        let search = Search::new(open, self.parts.clone(), &project, substitute, &view, &binding);
        search.run(&view, &mut binding, work, &mut |b, work| {
            let args: Args = project.iter().map(|&slot| b[slot as usize]).collect();
            if !facts[self.rule.predicate as usize].contains(&args) {
                work.charge(args_bytes(args.len()))?;
                found.push((self.rule.predicate, args));
            }
            Ok(true)
        })
    }
}

/// The arguments of an atom under a binding.
pub(crate) fn args_of(atom: &LiftedAtom, binding: &[ObjectId]) -> Args {
    atom.args.iter().map(|t| t.object(binding)).collect()
}

/// The parts of a state that formulas depend on.
#[derive(Clone, Copy)]
pub(crate) struct View<'v> {
    pub(crate) facts: &'v [FxHashSet<Args>],
    pub(super) numbers: &'v FxHashMap<(u32, Args), Number>,
    /// Time of the state: the number of steps, or that of the last happening of a plan with times.
    pub(super) time: Number,
    /// `?duration` of the action whose conditions are evaluated.
    pub(super) duration: Number,
    /// Violations by the name of preferences.
    pub(super) violations: &'v [u64],
    /// True if inexact numbers decide nothing.
    pub(super) exact: bool,
}

impl View<'_> {
    pub(super) fn number(&self, function: u32, args: &Args) -> Number {
        self.numbers.get(&(function, args.clone())).copied().unwrap_or(Number::UNDEFINED)
    }

    pub(super) fn value(&self, expr: &LiftedExpr, binding: &[ObjectId]) -> Number {
        match expr {
            LiftedExpr::Constant(c) => *c,
            LiftedExpr::Steps => self.time,
            LiftedExpr::Duration => self.duration,
            LiftedExpr::Violations(name) => {
                self.violations.get(*name as usize).map_or(Number::UNDEFINED, |&n| Number::integer(n.into()))
            }
            LiftedExpr::Function(term) => self.number(term.predicate, &args_of(term, binding)),
            LiftedExpr::Binary(op, sides) => {
                op.apply(self.value(&sides.0, binding), self.value(&sides.1, binding))
            }
        }
    }
}

impl Interpretation for View<'_> {
    fn literal(&self, atom: &LiftedAtom, negated: bool, binding: &[ObjectId]) -> bool {
        self.facts[atom.predicate as usize].contains(&args_of(atom, binding)) != negated
    }

    fn compare(
        &self,
        comparison: CompareOp,
        left: &LiftedExpr,
        right: &LiftedExpr,
        binding: &[ObjectId],
    ) -> Result<bool, Cut> {
        let (left, right) = (self.value(left, binding), self.value(right, binding));
        if self.exact && (left.is_inexact() || right.is_inexact()) {
            return Err(Cut::Inexact);
        }
        Ok(comparison.holds(left, right))
    }

    fn row_count(&self, predicate: u32) -> usize {
        self.facts[predicate as usize].len()
    }

    fn rows(&self, predicate: u32) -> Vec<&[ObjectId]> {
        self.facts[predicate as usize].iter().map(|args| args.as_slice()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalize::normalize;
    use crate::resources::Unlimited;
    use crate::validate::world::World;
    use planforge_diagnostics::SourceId;
    use planforge_pddl::{parse_domain, parse_problem};
    use proptest::prelude::*;

    const OBJECTS: usize = 5;

    const RULES: [&str; 7] = [
        "(:derived (above ?x ?y) (or (on ?x ?y) (exists (?z) (and (on ?x ?z) (above ?z ?y)))))",
        "(:derived (above ?x ?y) (or (on ?x ?y) (exists (?z) (and (above ?x ?z) (above ?z ?y)))))",
        "(:derived (above ?x ?y) (on ?x ?y)) (:derived (above ?x ?y) (exists (?z) (and (above ?x ?z) (on ?z ?y))))",
        "(:derived (above ?x ?y) (and (on ?x ?y) (not (wet ?x)))) (:derived (above ?x ?y) (exists (?z) (and (above ?z ?x) (not (= ?x ?y)))))",
        "(:derived (lone ?x) (and (not (wet ?x)) (forall (?y) (not (on ?x ?y))))) (:derived (above ?x ?y) (and (lone ?y) (on ?x ?y)))
         (:derived (above ?x ?y) (exists (?z) (and (lone ?z) (above ?y ?z) (wet ?x))))",
        "(:derived (odd ?x ?y) (on ?x ?y)) (:derived (odd ?x ?y) (exists (?z) (and (on ?x ?z) (even ?z ?y))))
         (:derived (even ?x ?y) (exists (?z) (and (odd ?x ?z) (on ?z ?y)))) (:derived (above ?x ?y) (and (odd ?x ?y) (even ?y ?x)))",
        "(:derived (above ?x - flat ?y) (or (on ?x ?y) (above ?y ?x) (exists (?z - flat) (and (on ?z ?z) (above ?z a)))))",
    ];

    proptest! {
        #[test]
        fn questions_are_answered_as_by_the_complete_state(
            rules in 0..RULES.len(),
            edges in proptest::collection::vec((0..OBJECTS, 0..OBJECTS), 0..9),
            wet in proptest::collection::vec(0..OBJECTS, 0..3),
        ) {
            let name = |n: usize| ["a", "b", "c", "d", "e"][n];
            let domain = format!(
                "(define (domain t) (:requirements :adl :derived-predicates) (:types flat - object) (:constants a)
                   (:predicates (on ?x ?y) (wet ?x) (above ?x ?y) (lone ?x) (odd ?x ?y) (even ?x ?y)) {}
                   (:action cut :parameters (?x ?y) :effect (and (not (on ?x ?y)) (wet ?x))))",
                RULES[rules]
            );
            let on: String = edges.iter().map(|(x, y)| format!("(on {} {})", name(*x), name(*y))).collect();
            let wet: String = wet.iter().map(|x| format!("(wet {})", name(*x))).collect();
            let problem =
                format!("(define (problem p) (:domain t) (:objects b c d - flat e) (:init {on} {wet}) (:goal (wet a)))");
            let domain = parse_domain(&domain, SourceId(0)).value;
            let task = normalize(&domain, &parse_problem(&problem, SourceId(1)).value).unwrap();
            let demand = Demand::new(&task);
            let mut limits = Unlimited;
            let mut work = Work::new(&mut limits);
            let mut complete = World::initial(&task);
            complete.close(&mut work).unwrap();
            let asked: Vec<u32> = (0..).zip(demand.on_demand()).filter(|(_, asked)| **asked).map(|(p, _)| p).collect();
            prop_assert!(!asked.is_empty());
            for predicate in asked {
                let arity = task.predicates[predicate as usize].arity;
                for pattern in patterns(arity) {
                    let matches = |row: &Args| row.iter().zip(&pattern).all(|(a, b)| *b == OPEN || a == b);
                    let mut expected: Vec<Args> =
                        complete.rows(predicate).iter().filter(|row| matches(row)).cloned().collect();
                    let mut partial = World::initial(&task);
                    partial.derive(demand.on_demand(), &mut work).unwrap();
                    let question = vec![(predicate, pattern.clone())];
                    let found = demand.answers(question, &partial.view(), &mut work).unwrap();
                    let mut found: Vec<Args> =
                        found.into_iter().filter(|(p, row)| *p == predicate && matches(row)).map(|(_, row)| row).collect();
                    expected.sort_unstable();
                    found.sort_unstable();
                    found.dedup();
                    prop_assert_eq!(found, expected, "{} {:?}", predicate, pattern);
                }
            }
        }
    }

    /// Every combination of objects and open places.
    fn patterns(arity: usize) -> Vec<Args> {
        (0..arity).fold(vec![Args::new()], |all, _| {
            let next = (0..OBJECTS as ObjectId).chain([OPEN]);
            next.flat_map(|object| {
                all.iter().map(move |start| start.iter().copied().chain([object]).collect())
            })
            .collect()
        })
    }
}
