//! Derivations of the atoms of an answer.
//!
//! Every instance of a rule that applied is a *support* of the atom it concludes. An atom's derivation is the
//! support with the fewest steps: the least fixpoint over the supports reaches the atom with it first, so no
//! atom explains itself. Negated conditions and counts are taken from the answer.

use crate::names::Naming;
use crate::pattern::{Id, Node, Pattern, Slots, Store};
use crate::program::{Origin, Record, Table, Twin};
use crate::syntax::ast::{Atom, Head, Literal, Rule, Term};
use crate::syntax::parse_ground_term;
use crate::syntax::walk::{literals, premises, substitute_literal};
use planforge_diagnostics::{SourceId, Span};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use std::collections::VecDeque;

/// An instance of a rule that applied.
#[derive(Debug, Clone)]
struct Support {
    rule: u32,
    head: u32,
    premises: SmallVec<[u32; 3]>,
    /// For a rule with a twin: which element of a choice, and the values of its variables.
    instance: Option<(u32, Id)>,
}

/// The derivation of an atom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Derivation {
    /// Index of the rule in [`Table::rules`].
    pub rule: u32,
    /// The atoms that the rule needed; each is derived in fewer steps.
    pub premises: Vec<u32>,
    /// Negated conditions and counts of the rule, as text.
    pub absent: Vec<String>,
    /// Number of further supports that do not depend on the atom itself.
    pub others: u32,
    /// Length of the longest chain of rules; 1 for a fact.
    pub steps: u32,
}

/// The derivations of an answer's atoms. Atoms are named by number; those of
/// [`Materialized::atoms`](crate::Materialized::atoms) come first, in the same order.
#[derive(Debug)]
pub struct Derivations<'a> {
    table: &'a Table,
    store: Store,
    /// The term of each atom.
    atoms: Vec<Id>,
    supports: Vec<Support>,
    /// The supports of each atom, in the order of the rules.
    by_head: Vec<SmallVec<[u32; 2]>>,
    /// The supports that need each atom.
    by_premise: Vec<Vec<u32>>,
    /// The support and the number of steps of each atom's derivation.
    chosen: Vec<Option<(u32, u32)>>,
    /// Violated constraints: the rule, what it needed, and its instance.
    violations: Vec<Support>,
}

/// An instance of a constraint of the knowledge file that is violated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Violation {
    /// Index of the constraint in [`Table::rules`].
    pub(crate) rule: u32,
    /// The atoms that it needed.
    pub(crate) premises: Vec<u32>,
    /// The variables that it names, with their values.
    pub(crate) values: Vec<(String, Term)>,
}

impl<'a> Derivations<'a> {
    pub fn len(&self) -> usize {
        self.atoms.len()
    }

    pub fn is_empty(&self) -> bool {
        self.atoms.is_empty()
    }

    /// The rules that the derivations are made of.
    pub fn table(&self) -> &'a Table {
        self.table
    }

    /// An atom as a term.
    pub fn term(&self, atom: u32) -> Option<Term> {
        self.atoms.get(atom as usize).map(|id| self.store.term(*id))
    }

    /// The number of an atom.
    pub fn find(&self, atom: &Term) -> Option<u32> {
        (0..self.atoms.len() as u32).find(|at| self.store.term(self.atoms[*at as usize]) == *atom)
    }

    /// Returns the derivation of an atom. `None` for an unknown index, and for atoms that only choices in a
    /// circle support.
    pub fn derivation(&self, atom: u32) -> Option<Derivation> {
        let (support, steps) = (*self.chosen.get(atom as usize)?)?;
        let support = &self.supports[support as usize];
        let mut premises: Vec<u32> = Vec::new();
        for premise in &support.premises {
            if !premises.contains(premise) {
                premises.push(*premise);
            }
        }
        Some(Derivation {
            rule: support.rule,
            premises,
            absent: self.absent(support),
            others: self.others(atom),
            steps,
        })
    }

    /// Conditions of a support's rule other than its premises, with the values of its variables.
    fn absent(&self, support: &Support) -> Vec<String> {
        let Some((twin, values)) = self.instance(support) else { return Vec::new() };
        let value = |name: &str| {
            let at = twin.variables.iter().position(|variable| variable == name)?;
            values.get(at).map(|id| self.store.term(*id))
        };
        let is_shown = |literal: &&Literal| match literal {
            Literal::Atom { negated, .. } => *negated,
            Literal::Comparison { .. } => false,
            Literal::Conditional { .. } | Literal::Aggregate(_) => true,
        };
        twin.rule.body.iter().filter(is_shown).map(|l| substitute_literal(l, &value).to_string()).collect()
    }

    fn instance(&self, support: &Support) -> Option<(&'a Twin, &[Id])> {
        let (element, id) = support.instance?;
        let twin = match &self.table.rules[support.rule as usize].record {
            Record::Twin(twin) | Record::Constraint(twin) => twin,
            Record::Choice(twins) => twins.get(element as usize)?,
            _ => return None,
        };
        Some((twin, self.store.call(id)?.1))
    }

    /// Supports of an atom, other than its derivation's, whose premises are derived without it.
    fn others(&self, atom: u32) -> u32 {
        let Some((chosen, steps)) = self.chosen[atom as usize] else { return 0 };
        let others = self.by_head[atom as usize].iter().filter(|support| **support != chosen);
        let through_itself = |support: &&u32| {
            self.supports[**support as usize]
                .premises
                .iter()
                .any(|premise| self.rests_on(*premise, atom, steps))
        };
        others.filter(|support| !through_itself(support)).count() as u32
    }

    /// True if the derivation of `premise` uses `atom`, whose derivation has `steps` steps.
    fn rests_on(&self, premise: u32, atom: u32, steps: u32) -> bool {
        let mut open = vec![premise];
        let mut seen = vec![premise];
        while let Some(at) = open.pop() {
            if at == atom {
                return true;
            }
            // Without a derivation it cannot be another way; with fewer steps it cannot go through the atom.
            let Some((support, depth)) = self.chosen[at as usize] else { return true };
            if depth <= steps {
                continue;
            }
            for next in &self.supports[support as usize].premises {
                if !seen.contains(next) {
                    seen.push(*next);
                    open.push(*next);
                }
            }
        }
        false
    }

    pub(crate) fn violations(&self) -> impl Iterator<Item = Violation> {
        self.violations.iter().map(|support| {
            let (variables, values) = match self.instance(support) {
                Some((twin, values)) => (twin.variables.as_slice(), values),
                None => ([].as_slice(), [].as_slice()),
            };
            let written = &self.table.rules[support.rule as usize].rule;
            let named = variables.iter().zip(values).filter(|(variable, _)| names(written, variable));
            Violation {
                rule: support.rule,
                premises: support.premises.to_vec(),
                values: named.map(|(variable, value)| (variable.clone(), self.store.term(*value))).collect(),
            }
        })
    }

    /// Objects of a type, with the atoms that state the type.
    pub(crate) fn members(&self, ty: &str) -> Vec<(String, u32)> {
        let member = |atom: u32| match self.term(atom) {
            Some(Term::Function { name, arguments }) => match (name.as_str(), arguments.as_slice()) {
                ("object", [object, of]) if of.to_string() == ty => Some((object.to_string(), atom)),
                _ => None,
            },
            _ => None,
        };
        (0..self.atoms.len() as u32).filter_map(member).collect()
    }

    /// The rules of an atom's derivation, the nearest first, each once.
    pub fn rules(&self, atom: u32) -> Vec<u32> {
        let mut found = Vec::new();
        let mut seen = vec![atom];
        let mut open = VecDeque::from([atom]);
        while let Some(at) = open.pop_front() {
            let Some(Some((support, _))) = self.chosen.get(at as usize) else { continue };
            let support = &self.supports[*support as usize];
            if !found.contains(&support.rule) {
                found.push(support.rule);
            }
            for premise in &support.premises {
                if !seen.contains(premise) {
                    seen.push(*premise);
                    open.push_back(*premise);
                }
            }
        }
        found
    }

    /// The lines of the representation and of the knowledge file in an atom's derivation, the nearest first.
    pub fn places(&self, atom: u32) -> Vec<(SourceId, Span)> {
        let written = |rule: &u32| {
            let rule = &self.table.rules[*rule as usize];
            let is_written = matches!(rule.origin, Origin::Text | Origin::Knowledge);
            rule.id.filter(|_| is_written).map(|id| (id, rule.span))
        };
        self.rules(atom).iter().filter_map(written).collect()
    }

    /// The line of the representation that an atom rests on, the nearest one.
    pub(crate) fn text_place(&self, atom: u32) -> Option<(SourceId, Span)> {
        let is_text = |rule: &&u32| self.table.rules[**rule as usize].origin == Origin::Text;
        let rules = self.rules(atom);
        let rule = &self.table.rules[*rules.iter().find(is_text)? as usize];
        rule.id.map(|id| (id, rule.span))
    }
}

/// True if the rule, as written, has a variable of this name.
fn names(rule: &crate::syntax::ast::Rule, variable: &str) -> bool {
    let mut found = false;
    crate::syntax::walk::visit_terms(rule, &mut |term| {
        found |= matches!(term, Term::Variable(name) if name == variable);
    });
    found
}

// From the atoms of an answer to the supports of each.

/// A predicate, and the predicate inside it where it is a state's.
type Signature = (u32, usize, Option<(u32, usize)>);

struct AnswerReader<'a> {
    table: &'a Table,
    naming: &'a Naming,
    store: Store,
    atoms: Vec<Id>,
    number: FxHashMap<Id, u32>,
    by_signature: FxHashMap<Signature, Vec<u32>>,
    /// The instances of each twin.
    twins: FxHashMap<u32, Vec<Id>>,
    supports: Vec<Support>,
    violations: Vec<Support>,
}

/// Reads an answer as [`crate::stages`] returns it. Skips everything but ground atoms.
pub(crate) fn read<'a>(table: &'a Table, naming: &Naming, answer: &[String]) -> Derivations<'a> {
    let mut reader = AnswerReader {
        table,
        naming,
        store: Store::default(),
        atoms: Vec::new(),
        number: FxHashMap::default(),
        by_signature: FxHashMap::default(),
        twins: FxHashMap::default(),
        supports: Vec::new(),
        violations: Vec::new(),
    };
    reader.atoms(answer);
    for rule in 0..table.rules.len() as u32 {
        reader.rule(rule);
    }
    let AnswerReader { store, atoms, supports, violations, .. } = reader;
    let mut derivations = Derivations {
        table,
        store,
        by_head: vec![SmallVec::new(); atoms.len()],
        by_premise: vec![Vec::new(); atoms.len()],
        chosen: vec![None; atoms.len()],
        atoms,
        supports,
        violations,
    };
    derivations.derive();
    derivations
}

impl AnswerReader<'_> {
    /// The answer's atoms: those that make a problem first, as [`crate::Materialized`] has them.
    fn atoms(&mut self, answer: &[String]) {
        let mut others = Vec::new();
        for atom in answer {
            let Some(Term::Function { name, arguments }) = parse_ground_term(atom) else { continue };
            let makes_problem = matches!(
                (name.as_str(), arguments.len()),
                ("object", 2) | ("init", 1) | ("goal", 1) | ("metric", 2)
            );
            let is_twin = name.starts_with('_');
            let Some(id) = self.store.intern(&Term::Function { name, arguments }) else { continue };
            if is_twin {
                if let Some((name, _)) = self.store.call(id) {
                    self.twins.entry(name).or_default().push(id);
                }
            } else if makes_problem {
                self.add_atom(id);
            } else {
                others.push(id);
            }
        }
        others.into_iter().for_each(|id| self.add_atom(id));
    }

    fn add_atom(&mut self, id: Id) {
        let number = self.atoms.len() as u32;
        self.atoms.push(id);
        self.number.insert(id, number);
        for signature in self.signatures(id) {
            self.by_signature.entry(signature).or_default().push(number);
        }
    }

    /// The keys of an atom: its predicate, and for a state also the inner predicate.
    fn signatures(&self, id: Id) -> SmallVec<[Signature; 2]> {
        let Some((name, arguments)) = self.store.call(id) else { return SmallVec::new() };
        let mut found: SmallVec<[Signature; 2]> = smallvec![(name, arguments.len(), None)];
        if let [content] = arguments
            && let Some((inner, inside)) = self.store.call(*content)
        {
            found.push((name, arguments.len(), Some((inner, inside.len()))));
        }
        found
    }

    fn candidates(&mut self, atom: &Atom) -> Vec<u32> {
        let inner = match atom.arguments.as_slice() {
            [Term::Function { name, arguments }] => Some((self.store.name(name), arguments.len())),
            _ => None,
        };
        let signature = (self.store.name(&atom.name), atom.arguments.len(), inner);
        self.by_signature.get(&signature).cloned().unwrap_or_default()
    }

    fn rule(&mut self, number: u32) {
        let table = self.table;
        let entry = &table.rules[number as usize];
        match &entry.record {
            Record::LeftOut => {}
            Record::Given => self.add_passed_in_supports(number, &entry.rule),
            Record::Fact => {
                let Some(head) = head(&entry.rule) else { return };
                let head = self.pattern(head, &[]);
                self.support(number, &head, &Slots::new(), SmallVec::new(), None);
            }
            Record::Matched => self.add_matched_supports(number, &entry.rule),
            Record::Twin(twin) => self.twin(number, 0, twin, false),
            Record::Constraint(twin) => self.twin(number, 0, twin, true),
            Record::Choice(twins) => {
                for (element, twin) in (0..).zip(twins) {
                    self.twin(number, element, twin, false);
                }
            }
        }
    }

    fn pattern(&mut self, atom: &Atom, variables: &[String]) -> Pattern {
        let term = Term::Function { name: atom.name.clone(), arguments: atom.arguments.clone() };
        Pattern::of(&term, variables, &mut self.store)
    }

    /// Adds a support for every value of the head that the answer has.
    fn support(
        &mut self,
        rule: u32,
        head: &Pattern,
        slots: &Slots,
        premises: SmallVec<[u32; 3]>,
        instance: Option<(u32, Id)>,
    ) {
        for value in head.values(slots, &mut self.store, self.naming) {
            if let Some(&head) = self.number.get(&value) {
                self.supports.push(Support { rule, head, premises: premises.clone(), instance });
            }
        }
    }

    fn add_matched_supports(&mut self, number: u32, rule: &Rule) {
        let (Some(head), Some(body)) = (head(rule), premises(rule).next()) else { return };
        let mut variables = Vec::new();
        for term in &body.arguments {
            crate::syntax::walk::visit_term(term, &mut |term| {
                if let Term::Variable(name) = term
                    && !variables.contains(name)
                {
                    variables.push(name.clone());
                }
            });
        }
        let (head, pattern) = (self.pattern(head, &variables), self.pattern(body, &variables));
        for premise in self.candidates(body) {
            let mut slots: Slots = smallvec![None; variables.len()];
            if pattern.matches(self.atoms[premise as usize], &self.store, &mut slots) {
                self.support(number, &head, &slots, smallvec![premise], None);
            }
        }
    }

    fn twin(&mut self, number: u32, element: u32, twin: &Twin, violated: bool) {
        let name = self.store.name(&twin.name);
        let instances = self.twins.remove(&name).unwrap_or_default();
        if instances.is_empty() {
            return;
        }
        let head = head(&twin.rule).map(|head| self.pattern(head, &twin.variables));
        let body: Vec<Pattern> =
            premises(&twin.rule).map(|atom| self.pattern(atom, &twin.variables)).collect();
        for id in instances {
            let Some((_, values)) = self.store.call(id) else { continue };
            let slots: Slots = values.iter().map(|value| Some(*value)).collect();
            let mut premises: SmallVec<[u32; 3]> = SmallVec::new();
            for pattern in &body {
                let values = pattern.values(&slots, &mut self.store, self.naming);
                premises.extend(values.iter().filter_map(|value| self.number.get(value)).copied());
            }
            let instance = Some((element, id));
            match &head {
                Some(head) if !violated => self.support(number, head, &slots, premises, instance),
                _ => self.violations.push(Support { rule: number, head: 0, premises, instance }),
            }
        }
    }

    /// Adds supports for an atom that the stages passed in: it follows from the result of the previous stage.
    fn add_passed_in_supports(&mut self, number: u32, rule: &Rule) {
        let Some(head) = head(rule) else { return };
        for atom in self.candidates(head) {
            let Some((_, arguments)) = self.store.call(self.atoms[atom as usize]) else { continue };
            let arguments: SmallVec<[Id; 3]> = SmallVec::from_slice(arguments);
            let premises = match (head.name.as_str(), arguments.as_slice()) {
                ("generated", [ty, _, count]) => self.find_atom("cardinality", [*ty, *count]),
                ("index", [ty, _, object]) => self.find_atom("object", [*object, *ty]),
                ("amount", [ty, _]) => self.members(*ty),
                _ => SmallVec::new(),
            };
            self.supports.push(Support { rule: number, head: atom, premises, instance: None });
        }
    }

    fn find_atom(&mut self, name: &str, arguments: [Id; 2]) -> SmallVec<[u32; 3]> {
        let name = self.store.name(name);
        let id = self.store.add(Node::Function { name, arguments: SmallVec::from_slice(&arguments) });
        self.number.get(&id).copied().into_iter().collect()
    }

    fn members(&mut self, ty: Id) -> SmallVec<[u32; 3]> {
        let object = self.store.name("object");
        let all = self.by_signature.get(&(object, 2, None)).map(Vec::as_slice).unwrap_or_default();
        let is_member = |atom: &&u32| {
            self.store.call(self.atoms[**atom as usize]).is_some_and(|(_, arguments)| arguments[1] == ty)
        };
        all.iter().filter(is_member).copied().collect()
    }
}

fn head(rule: &Rule) -> Option<&Atom> {
    match &rule.head {
        Head::Atom(atom) => Some(atom),
        _ => None,
    }
}

impl Derivations<'_> {
    /// Computes the least fixpoint over the supports, level by level. An atom's derivation is the first
    /// support, in the order of the rules, among those with the fewest steps.
    fn derive(&mut self) {
        for (at, support) in (0..).zip(&self.supports) {
            self.by_head[support.head as usize].push(at);
            for premise in &support.premises {
                self.by_premise[*premise as usize].push(at);
            }
        }
        self.chosen = self.fixpoint(&|_| true);
    }

    /// The support and number of steps by which each atom is reached with the supports that `counts` lets through.
    fn fixpoint(&self, counts: &dyn Fn(&Support) -> bool) -> Vec<Option<(u32, u32)>> {
        let mut reached = vec![None; self.atoms.len()];
        let mut lacking: Vec<u32> = self.supports.iter().map(|s| s.premises.len() as u32).collect();
        let mut ready: Vec<u32> =
            (0..).zip(&self.supports).filter(|(_, s)| s.premises.is_empty()).map(|(at, _)| at).collect();
        let mut steps = 1;
        while !ready.is_empty() {
            let mut fresh = Vec::new();
            for at in ready.drain(..) {
                let support = &self.supports[at as usize];
                if reached[support.head as usize].is_none() && counts(support) {
                    reached[support.head as usize] = Some((at, steps));
                    fresh.push(support.head);
                }
            }
            for atom in fresh {
                for support in &self.by_premise[atom as usize] {
                    lacking[*support as usize] -= 1;
                    if lacking[*support as usize] == 0 {
                        ready.push(*support);
                    }
                }
            }
            ready.sort_unstable();
            steps += 1;
        }
        reached
    }
}

// Lines of the representation that change nothing.

/// The most supports to follow; after that, further lines are not examined.
const MOST_WORK: usize = 20_000_000;

/// The reason why a line changes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Idle {
    /// Its conditions never hold.
    NeverApplies,
    /// Its conclusion follows from the other lines.
    Follows,
    /// The problem has no part for its conclusion, and none follows from it.
    NotCompiled,
}

impl Derivations<'_> {
    /// The rules of the representation that do not change the problem. `is_compiled` is true for atoms with a
    /// part in the problem.
    ///
    /// A line is idle if everything that is compiled can be derived without it. If a rule counts or negates
    /// an atom that only this line supports, the answer without the line is unknown, and the line does not
    /// count as idle. Neither do the last lines of a program of thousands that takes too long to search. A
    /// line that names a counted object is not idle, although an object of the same name would be made
    /// instead.
    pub fn idle(&self, is_compiled: &dyn Fn(u32) -> bool) -> Vec<(u32, Idle)> {
        let sensitive = self.sensitive();
        let rules = (0..).zip(&self.table.rules).filter(|(_, rule)| rule.origin == Origin::Text);
        let mut heads: Vec<Vec<u32>> = vec![Vec::new(); self.table.rules.len()];
        for support in &self.supports {
            heads[support.rule as usize].push(support.head);
        }
        let mut work = 0;
        let idle = |(number, rule): (u32, &crate::program::TableRule)| {
            if matches!(rule.record, Record::Constraint(_) | Record::Choice(_)) {
                return None;
            }
            let heads = &heads[number as usize];
            if heads.is_empty() {
                return Some((number, Idle::NeverApplies));
            }
            // Most lines are the only ones that say a part of the problem; these need no further look.
            if heads.iter().any(|head| is_compiled(*head) && self.by_head[*head as usize].len() == 1) {
                return None;
            }
            work += self.supports.len();
            if work > MOST_WORK {
                return None;
            }
            self.without(number, is_compiled, &sensitive).map(|reason| (number, reason))
        };
        rules.filter_map(idle).collect()
    }

    fn without(&self, rule: u32, is_compiled: &dyn Fn(u32) -> bool, sensitive: &[&Atom]) -> Option<Idle> {
        let reached = self.fixpoint(&|support| support.rule != rule);
        let lost: Vec<u32> = (0..self.atoms.len() as u32)
            .filter(|at| self.chosen[*at as usize].is_some() && reached[*at as usize].is_none())
            .collect();
        if lost.is_empty() {
            return Some(Idle::Follows);
        }
        let matters = |atom: &u32| {
            is_compiled(*atom) || {
                let term = self.store.term(self.atoms[*atom as usize]);
                sensitive.iter().any(|pattern| may_be(pattern, &term))
            }
        };
        // There are as many objects as are counted, or there would be a conflict; without the line as well, where nothing else is lost.
        let is_count = matches!(&self.table.rules[rule as usize].rule.head, Head::Atom(head) if head.name == "cardinality");
        let reason = if is_count { Idle::Follows } else { Idle::NotCompiled };
        (!lost.iter().any(matters)).then_some(reason)
    }

    /// Atoms that rules of the program count or negate.
    fn sensitive(&self) -> Vec<&Atom> {
        let used = self.table.rules.iter().filter(|rule| rule.record != Record::LeftOut);
        used.flat_map(|entry| {
            let positive: Vec<*const Atom> = premises(&entry.rule).map(std::ptr::from_ref).collect();
            conditions(&entry.rule).filter(move |atom| !positive.contains(&std::ptr::from_ref(*atom)))
        })
        .collect()
    }
}

fn conditions(rule: &Rule) -> impl Iterator<Item = &Atom> {
    literals(rule).into_iter().filter_map(|literal| match literal {
        Literal::Atom { atom, .. } => Some(atom),
        _ => None,
    })
}

/// True if a ground atom may be an instance of an atom; variables and operations match anything.
fn may_be(atom: &Atom, ground: &Term) -> bool {
    let Term::Function { name, arguments } = ground else { return false };
    *name == atom.name && all_may_be(&atom.arguments, arguments)
}

fn all_may_be(terms: &[Term], ground: &[Term]) -> bool {
    terms.len() == ground.len() && terms.iter().zip(ground).all(|(term, ground)| term_may_be(term, ground))
}

fn term_may_be(term: &Term, ground: &Term) -> bool {
    match (term, ground) {
        (Term::Number(_) | Term::Text(_), _) => term == ground,
        (Term::Function { name, arguments }, Term::Function { name: other, arguments: given }) => {
            name == other && all_may_be(arguments, given)
        }
        (Term::Function { .. }, _) => false,
        _ => true,
    }
}
