//! From the atoms of an answer to the supports of each.

use super::{Derivations, Support};
use crate::ground::{Id, Node, Store};
use crate::naming::Naming;
use crate::pattern::{Pattern, Slots};
use crate::program::walk::premises;
use crate::program::{Record, Table, Twin};
use crate::syntax::ast::{Atom, Head, Rule, Term};
use crate::syntax::parse_ground_term;
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

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
            crate::program::walk::visit_term(term, &mut |term| {
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
    pub(super) fn fixpoint(&self, counts: &dyn Fn(&Support) -> bool) -> Vec<Option<(u32, u32)>> {
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
