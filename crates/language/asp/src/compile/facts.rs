//! The initial state and the goal.

use super::arguments::OrderKey;
use super::numbers::Number;
use super::{Compiler, Entry, Section};
use crate::materialized::{Fact, call};
use planforge_diagnostics::{Diagnostic, Span};
use planforge_pddl::ast::{Atom, Condition, InitElement};
use planforge_pddl::{nearest, print_atom, print_condition, print_init};

/// A fact of the domain with its position.
struct Resolved {
    place: OrderKey,
    atom: Atom,
    negated: bool,
    atoms: Vec<u32>,
}

/// The result of compiling a fact.
enum CompiledFact {
    Fact(Resolved),
    /// The fact belongs to the intermediate representation alone.
    Dropped,
    /// The fact is wrong, and the mistake is reported.
    Refused,
}

impl Compiler<'_> {
    /// The initial state: facts by predicate, then numbers. What does not hold is left out, as PDDL takes it so.
    pub(super) fn init(&mut self) -> (Vec<InitElement>, Vec<Entry>) {
        let (facts, _) = self.facts(&self.input.materialized.init, "initial state", "asp.contradictory-init");
        let mut elements = Vec::new();
        let mut entries = Vec::new();
        let mut push = |element: InitElement, atoms: Vec<u32>| {
            entries.push(Entry { section: Section::Init, pddl: print_init(&element), atoms });
            elements.push(element);
        };
        for fact in facts.into_iter().filter(|fact| !fact.negated) {
            push(InitElement::Atom(fact.atom), fact.atoms);
        }
        for Number { fluent, value, atoms } in self.values() {
            push(InitElement::Value(fluent, value, Span::default()), atoms);
        }
        (elements, entries)
    }

    /// The parts of the goal: positive facts by predicate, negative facts, then bounds on numbers.
    pub(super) fn goal(&mut self) -> (Vec<Condition>, Vec<Entry>) {
        let (facts, refused) = self.facts(&self.input.materialized.goal, "goal", "asp.contradictory-goal");
        let mut parts: Vec<(Condition, Vec<u32>)> = facts
            .into_iter()
            .map(|fact| {
                let condition = Condition::Atom(fact.atom);
                let condition = match fact.negated {
                    true => Condition::Not(Box::new(condition), Span::default()),
                    false => condition,
                };
                (condition, fact.atoms)
            })
            .collect();
        parts.extend(self.comparisons());
        if parts.is_empty() && !refused && self.input.materialized.comparisons.is_empty() {
            self.empty_goal();
        }
        let entries = parts
            .iter()
            .map(|(part, atoms)| Entry {
                section: Section::Goal,
                pddl: print_condition(part),
                atoms: atoms.clone(),
            })
            .collect();
        (parts.into_iter().map(|(part, _)| part).collect(), entries)
    }

    fn empty_goal(&mut self) {
        let goal = &self.input.materialized.goal;
        let (message, first) = match goal.first() {
            None => ("the text says nothing about the goal", None),
            Some(fact) => ("nothing of the goal is part of the PDDL", Some(fact.atom)),
        };
        self.report("empty goal".to_owned(), |compiler| {
            let diagnostic = Diagnostic::error("asp.empty-goal", message).help(
                "a goal is `goal(PREDICATE(OBJECTS)).` with a predicate of the domain; without one every plan would do",
            );
            match first {
                Some(atom) => compiler.with_origins(diagnostic, atom),
                None => diagnostic,
            }
        });
    }

    /// Facts of the domain among these, sorted, each once; and whether any was refused.
    fn facts(&mut self, facts: &[Fact], of: &str, contradiction: &'static str) -> (Vec<Resolved>, bool) {
        let mut resolved: Vec<Resolved> = Vec::with_capacity(facts.len());
        let mut refused = false;
        for fact in facts {
            match self.fact(fact) {
                CompiledFact::Fact(fact) => resolved.push(fact),
                CompiledFact::Dropped => {}
                CompiledFact::Refused => refused = true,
            }
        }
        resolved.sort_by(|a, b| a.place.cmp(&b.place).then(a.negated.cmp(&b.negated)));
        let mut kept: Vec<Resolved> = Vec::with_capacity(resolved.len());
        for fact in resolved {
            match kept.last_mut() {
                Some(last) if last.place == fact.place && last.negated == fact.negated => {
                    last.atoms.extend(fact.atoms)
                }
                Some(last) if last.place == fact.place => {
                    self.contradiction(last, &fact, of, contradiction);
                    kept.push(fact);
                }
                _ => kept.push(fact),
            }
        }
        (kept, refused)
    }

    /// Reports a fact that is stated both positively and negatively.
    fn contradiction(&mut self, positive: &Resolved, negative: &Resolved, of: &str, code: &'static str) {
        let (Some(&yes), Some(&no)) = (positive.atoms.first(), negative.atoms.first()) else { return };
        self.report(format!("{code} {yes}"), |compiler| {
            let fact = print_atom(&positive.atom);
            let message = format!("the {of} says that `{fact}` holds and that it does not");
            let diagnostic = compiler.with_origins(Diagnostic::error(code, message), yes);
            compiler.with_other_origin(diagnostic, no, "says that it does not").help("take one of them back")
        });
    }

    /// A fact with the domain's names.
    fn fact(&mut self, fact: &Fact) -> CompiledFact {
        let Some((name, arguments)) = call(&fact.fact).filter(|(name, _)| !name.is_empty()) else {
            self.report(format!("fact {}", fact.fact), |compiler| {
                let message =
                    format!("`{}` in `{}` is no fact", fact.fact, compiler.print_atom_text(fact.atom));
                compiler
                    .with_origins(Diagnostic::error("asp.not-a-fact", message), fact.atom)
                    .help("write a predicate with its objects: `init(on(a, b))`")
            });
            return CompiledFact::Refused;
        };
        let Some((declaration, declared)) = self.spelling.predicate(name) else {
            if name == "map" || self.input.ir_only.predicates.contains(name) {
                return CompiledFact::Dropped;
            }
            self.unknown_predicate(name, fact);
            return CompiledFact::Refused;
        };
        let args = self.arguments(&declared.name, &declared.parameters, arguments, fact.atom, "predicate");
        let Some((args, objects)) = args else { return CompiledFact::Refused };
        let atom = Atom { predicate: declared.name.at(Span::default()), args, span: Span::default() };
        CompiledFact::Fact(Resolved {
            place: OrderKey { declaration, objects },
            atom,
            negated: fact.negated,
            atoms: vec![fact.atom],
        })
    }

    fn unknown_predicate(&mut self, name: &str, fact: &Fact) {
        self.report(format!("predicate {name}"), |compiler| {
            let written = compiler.print_atom_text(fact.atom);
            let message = format!("`{name}` in `{written}` is not a predicate of the domain");
            let ir_only = compiler.input.ir_only.predicates.iter().map(String::as_str);
            let help = match nearest(name, compiler.spelling.predicates().chain(ir_only)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!(
                    "use a predicate of the domain; one of the representation alone is declared in the knowledge file: \
                     `ir_predicate({name}(TYPES), \"what it says\").`"
                ),
            };
            compiler.with_origins(Diagnostic::error("asp.unknown-predicate", message), fact.atom).help(help)
        });
    }
}
