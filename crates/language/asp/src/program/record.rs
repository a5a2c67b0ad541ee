//! Records of the rule instances that applied.
//!
//! A conclusion does not identify its rule: two rules may conclude the same. So each rule gets a twin, a
//! predicate of the rule's variables that the reasoner derives together with the conclusion; `_by7(shot5)`
//! means that rule 7 applied to shot5. Facts need none, and the instances of a rule with one plain condition
//! are the atoms that match it.

use super::TableRule;
use crate::pattern::{Id, Node, Pattern, Slots, Store, is_plain};
use crate::stages::{Census, SolveJob, StageInput};
use crate::syntax::ast::{Atom, ChoiceElement, Head, Literal, Relation, Rule, Term, atom, variable};
use crate::syntax::walk::{premises, visit_term, visit_terms};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::smallvec;
use std::fmt::Write as _;

/// The way in which the instances of one rule are recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    /// The rule is left out: nothing derives one of its conditions.
    LeftOut,
    /// The stages pass its conclusions in.
    Given,
    /// A fact applies once.
    Fact,
    /// A rule with one plain condition: by the atoms that match it.
    Matched,
    /// By the atoms of a twin.
    Twin(Twin),
    /// A constraint, by the atoms of a twin.
    Constraint(Twin),
    /// A choice: for each element, by the atoms of a twin.
    Choice(Vec<Twin>),
}

/// The twin of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Twin {
    /// Name of its predicate.
    pub name: String,
    /// The variables that are its arguments.
    pub variables: Vec<String>,
    /// The rule in its recorded form: every unnamed argument and every interval of a condition has a
    /// variable.
    pub rule: Rule,
}

/// Decides how a rule is recorded.
pub(super) fn record(rule: &Rule, number: usize) -> Record {
    match &rule.head {
        Head::Atom(_) if rule.body.is_empty() => Record::Fact,
        Head::Atom(_) if is_matched(rule) => Record::Matched,
        Head::Atom(_) => Record::Twin(twin(rule, format!("_by{number}"), None)),
        Head::Constraint => Record::Constraint(twin(rule, format!("_bad{number}"), None)),
        Head::Choice { elements, .. } => Record::Choice(
            elements
                .iter()
                .enumerate()
                .map(|(at, element)| twin(rule, format!("_by{number}e{at}"), Some(element)))
                .collect(),
        ),
    }
}

fn is_matched(rule: &Rule) -> bool {
    match rule.body.as_slice() {
        [Literal::Atom { negated: false, atom }] => atom.arguments.iter().all(is_plain),
        _ => false,
    }
}

/// A rule whose conditions name everything; of a choice, one element with its condition as a part of the body.
fn twin(rule: &Rule, name: String, element: Option<&ChoiceElement>) -> Twin {
    let mut rule = rule.clone();
    if let Some(element) = element {
        rule.body.extend(element.condition.iter().cloned());
        rule.head = Head::Atom(element.atom.clone());
    }
    name_everything(&mut rule);
    let variables = global_variables(&rule.body);
    Twin { name, variables, rule }
}

/// Gives a variable to every `_` and every interval of a positive condition.
fn name_everything(rule: &mut Rule) {
    let mut taken = Vec::new();
    visit_terms(rule, &mut |term| {
        if let Term::Variable(name) = term {
            taken.push(name.clone());
        }
    });
    let mut next = 0;
    let mut fresh = || {
        loop {
            next += 1;
            let name = format!("V{next}");
            if !taken.contains(&name) {
                return name;
            }
        }
    };
    let mut ranges = Vec::new();
    for literal in &mut rule.body {
        if let Literal::Atom { negated: false, atom } = literal {
            for argument in &mut atom.arguments {
                name_term(argument, &mut fresh, &mut ranges);
            }
        }
    }
    rule.body.extend(ranges);
}

fn name_term(term: &mut Term, fresh: &mut dyn FnMut() -> String, ranges: &mut Vec<Literal>) {
    match term {
        Term::Anonymous => *term = Term::Variable(fresh()),
        Term::Interval(..) => {
            let name = variable(&fresh());
            let right = std::mem::replace(term, name.clone());
            let (relation, span) = (Relation::Equal, planforge_diagnostics::Span::default());
            ranges.push(Literal::Comparison { left: name, relation, right, span });
        }
        Term::Function { arguments, .. } => {
            arguments.iter_mut().for_each(|argument| name_term(argument, fresh, ranges));
        }
        _ => {}
    }
}

/// The variables that have one value in an instance of the rule, in the order of the text.
fn global_variables(body: &[Literal]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut add = |term: &Term| {
        visit_term(term, &mut |term| {
            if let Term::Variable(name) = term
                && !found.contains(name)
            {
                found.push(name.clone());
            }
        });
    };
    for literal in body {
        match literal {
            Literal::Atom { negated: false, atom } => atom.arguments.iter().for_each(&mut add),
            Literal::Comparison { left, right, .. } => {
                add(left);
                add(right);
            }
            Literal::Aggregate(aggregate) => {
                aggregate.left.iter().for_each(|(term, _)| add(term));
                aggregate.right.iter().for_each(|(_, term)| add(term));
            }
            // Their variables are bound by the conditions above.
            Literal::Atom { negated: true, .. } | Literal::Conditional { .. } => {}
        }
    }
    found
}

impl Twin {
    /// The variables as terms.
    pub(super) fn arguments(&self) -> Vec<Term> {
        self.variables.iter().map(|name| variable(name)).collect()
    }

    /// The atom for an instance.
    pub(super) fn atom(&self) -> Atom {
        atom(&self.name, self.arguments(), Default::default())
    }

    fn rule(&self) -> Rule {
        Rule { head: Head::Atom(self.atom()), body: self.rule.body.clone() }
    }

    /// `_bad7(_, _)`: any instance.
    pub(super) fn any(&self) -> Atom {
        atom(&self.name, vec![Term::Anonymous; self.variables.len()], Default::default())
    }
}

/// Writes a rule for the reasoner, with its twin where it has one. Without `recorded` only constraints have twins.
pub(super) fn write(rule: &Rule, record: &Record, recorded: bool, out: &mut String) {
    // Writing to a string cannot fail.
    let _ = match record {
        Record::LeftOut | Record::Given => Ok(()),
        Record::Constraint(twin) => writeln!(out, "{}", twin.rule()),
        Record::Twin(twin) if recorded => {
            let head = Rule {
                head: rule.head.clone(),
                body: vec![Literal::Atom { negated: false, atom: twin.atom() }],
            };
            writeln!(out, "{}\n{head}", twin.rule())
        }
        Record::Choice(twins) if recorded => twins
            .iter()
            .try_for_each(|twin| {
                let mut chosen = twin.rule();
                if let Head::Atom(atom) = &twin.rule.head {
                    chosen.body.push(Literal::Atom { negated: false, atom: atom.clone() });
                }
                writeln!(out, "{chosen}")
            })
            .and_then(|()| writeln!(out, "{rule}")),
        _ => writeln!(out, "{rule}"),
    };
}

// Predicts the result of the stages without the reasoner.
//
// A run of the reasoner takes a millisecond before it reads a fact, and a task with counts takes two runs:
// one to find the named objects, one with the others made. Objects are nearly always named by a fact or a
// plain rule. This part applies those, without negation, comparisons or arithmetic. The prediction is only
// input of the first run, which has to confirm it; otherwise the stages start without it.

/// Atoms that are followed before the guess is given up.
const MOST_ATOMS: usize = 5_000;
/// The most atoms to match with conditions before the prediction is given up.
const MOST_STEPS: usize = 50_000;
/// Stages that are gone through.
const MOST_ROUNDS: u32 = 8;

/// A predicate with its number of arguments, and the name of the function in a single argument.
type Signature = (u32, usize, Option<u32>);

/// A rule whose conditions are plain atoms.
struct PlainRule {
    head: Pattern,
    body: Vec<(Signature, Pattern)>,
    variables: usize,
}

struct Guesser<'a> {
    job: &'a SolveJob,
    store: Store,
    rules: Vec<PlainRule>,
    /// Conditions of rules, by the key of the atom that they match.
    waiting: FxHashMap<Signature, Vec<(usize, usize)>>,
    facts: Vec<Id>,
    known: FxHashSet<Id>,
    by_signature: FxHashMap<Signature, Vec<Id>>,
    fresh: Vec<Id>,
    steps: usize,
}

/// The guess for a program; none where following its plain rules takes too long or meets something unusual.
pub(super) fn guess(rules: &[TableRule], job: &SolveJob) -> Option<StageInput> {
    let mut guesser = Guesser {
        job,
        store: Store::default(),
        rules: Vec::new(),
        waiting: FxHashMap::default(),
        facts: Vec::new(),
        known: FxHashSet::default(),
        by_signature: FxHashMap::default(),
        fresh: Vec::new(),
        steps: 0,
    };
    for entry in rules {
        match &entry.record {
            Record::Fact => guesser.fact(&entry.rule)?,
            Record::Matched | Record::Twin(_) => guesser.plain_rule(&entry.rule),
            _ => {}
        }
    }
    let mut given = StageInput::default();
    for _ in 0..MOST_ROUNDS {
        guesser.follow(&given)?;
        let next = job.next(&given, &guesser.census()?).ok()?;
        if next == given {
            return Some(given);
        }
        given = next;
    }
    None
}

impl Guesser<'_> {
    fn fact(&mut self, rule: &Rule) -> Option<()> {
        let Head::Atom(head) = &rule.head else { return Some(()) };
        let pattern = Pattern::of(&term(head), &[], &mut self.store);
        self.facts.extend(pattern.values(&Slots::new(), &mut self.store, &self.job.naming));
        (self.facts.len() <= MOST_ATOMS).then_some(())
    }

    fn plain_rule(&mut self, rule: &Rule) {
        let Head::Atom(head) = &rule.head else { return };
        let is_plain = |literal: &Literal| match literal {
            Literal::Atom { negated: false, atom } => atom.arguments.iter().all(is_plain),
            _ => false,
        };
        if !rule.body.iter().all(is_plain) {
            return;
        }
        let mut variables: Vec<String> = Vec::new();
        for argument in premises(rule).flat_map(|atom| &atom.arguments) {
            visit_term(argument, &mut |term| {
                if let Term::Variable(name) = term
                    && !variables.contains(name)
                {
                    variables.push(name.clone());
                }
            });
        }
        let number = self.rules.len();
        let mut body = Vec::new();
        for (at, atom) in premises(rule).enumerate() {
            let signature = self.signature_of(atom);
            self.waiting.entry(signature).or_default().push((number, at));
            body.push((signature, Pattern::of(&term(atom), &variables, &mut self.store)));
        }
        let head = Pattern::of(&term(head), &variables, &mut self.store);
        self.rules.push(PlainRule { head, body, variables: variables.len() });
    }

    fn signature_of(&mut self, atom: &Atom) -> Signature {
        let inner = match atom.arguments.as_slice() {
            [Term::Function { name, .. }] => Some(self.store.name(name)),
            _ => None,
        };
        (self.store.name(&atom.name), atom.arguments.len(), inner)
    }

    /// The keys of an atom.
    fn signatures(&self, id: Id) -> Vec<Signature> {
        let Some((name, arguments)) = self.store.call(id) else { return Vec::new() };
        let mut found = vec![(name, arguments.len(), None)];
        if let [content] = arguments
            && let Some((inner, _)) = self.store.call(*content)
        {
            found.push((name, arguments.len(), Some(inner)));
        }
        found
    }

    fn add(&mut self, id: Id) {
        if self.known.insert(id) {
            self.fresh.push(id);
            for signature in self.signatures(id) {
                self.by_signature.entry(signature).or_default().push(id);
            }
        }
    }

    /// Everything that plain rules conclude from the facts and what a stage is given.
    fn follow(&mut self, given: &StageInput) -> Option<()> {
        self.known.clear();
        self.by_signature.clear();
        for fact in self.facts.clone() {
            self.add(fact);
        }
        for atom in given.atoms() {
            let atom = self.store.intern(&atom)?;
            self.add(atom);
        }
        let rules = std::mem::take(&mut self.rules);
        while let Some(id) = self.fresh.pop() {
            if self.known.len() > MOST_ATOMS {
                return None;
            }
            for signature in self.signatures(id) {
                for (rule, at) in self.waiting.get(&signature).cloned().unwrap_or_default() {
                    let rule = &rules[rule];
                    let mut slots: Slots = smallvec![None; rule.variables];
                    if rule.body[at].1.matches(id, &self.store, &mut slots) {
                        self.join(rule, 0, at, &slots)?;
                    }
                }
            }
        }
        self.rules = rules;
        Some(())
    }

    /// The conclusions of a rule, with the conditions from `from` on to be met and the one at `met` met already.
    fn join(&mut self, rule: &PlainRule, from: usize, met: usize, slots: &Slots) -> Option<()> {
        if from == met {
            return self.join(rule, from + 1, met, slots);
        }
        let Some((signature, pattern)) = rule.body.get(from) else {
            for id in rule.head.values(slots, &mut self.store, &self.job.naming) {
                self.add(id);
            }
            return (self.known.len() <= MOST_ATOMS).then_some(());
        };
        for id in self.by_signature.get(signature).cloned().unwrap_or_default() {
            self.steps += 1;
            if self.steps > MOST_STEPS {
                return None;
            }
            let mut slots = slots.clone();
            if pattern.matches(id, &self.store, &mut slots) {
                self.join(rule, from + 1, met, &slots)?;
            }
        }
        Some(())
    }

    /// The objects so far. None where one of them is a term and no name.
    fn census(&self) -> Option<Census> {
        let mut census = Census::default();
        for id in &self.known {
            let Some((name, arguments)) = self.store.call(*id) else { continue };
            match (self.store.name_text(name), arguments) {
                ("object", [object, ty]) => {
                    census.members.entry(self.print_term(*ty)?).or_default().push(self.print_term(*object)?);
                }
                ("cardinality", [ty, count]) => {
                    if let Node::Number(count) = self.store.node(*count) {
                        census.counts.insert(self.print_term(*ty)?, *count);
                    }
                }
                ("mapped", [_, one, _, other]) => {
                    census.mapped.extend([self.print_term(*one)?, self.print_term(*other)?]);
                }
                _ => {}
            }
        }
        for (ty, count) in &census.counts {
            let missing = count - census.members.get(ty).map_or(0, Vec::len) as i64;
            if missing > 0 {
                census.missing.insert(ty.clone(), missing);
            }
        }
        Some(census)
    }

    fn print_term(&self, id: Id) -> Option<String> {
        match self.store.node(id) {
            Node::Number(number) => Some(number.to_string()),
            Node::Function { name, arguments } if arguments.is_empty() => {
                Some(self.store.name_text(*name).to_owned())
            }
            _ => None,
        }
    }
}

fn term(atom: &Atom) -> Term {
    Term::Function { name: atom.name.clone(), arguments: atom.arguments.clone() }
}
