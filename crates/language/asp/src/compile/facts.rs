//! The initial state and the goal.

use super::numbers::Number;
use super::{Compiler, Entry, Section};
use crate::materialized::{Fact, call};
use crate::syntax::ast::Term;
use planforge_diagnostics::{Diagnostic, Span};
use planforge_pddl::ast::{self, Atom, Condition, InitElement, TypedName};
use planforge_pddl::{Name, TypeFit, nearest, print_atom, print_condition, print_init};
use smallvec::SmallVec;

/// A fact of the domain, with where it stands among the others.
struct Resolved {
    place: Place,
    atom: Atom,
    negated: bool,
    atoms: Vec<u32>,
}

/// Where a fact or number stands: by the declaration of its predicate or function, then by its objects as people count.
#[derive(PartialEq, Eq, PartialOrd, Ord, Hash, Clone)]
pub(super) struct Place {
    pub(super) declaration: usize,
    pub(super) objects: Ranks,
}

/// Objects by [`super::objects::Object::rank`].
pub(super) type Ranks = SmallVec<[u32; 4]>;

/// What became of a fact of the answer.
enum Read {
    Fact(Resolved),
    /// It belongs to the intermediate representation alone.
    Dropped,
    /// Something is wrong with it, and told.
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

    /// The parts of the goal: facts by predicate, what must not hold behind what must, then bounds on numbers.
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
                Some(atom) => compiler.placed(diagnostic, atom),
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
                Read::Fact(fact) => resolved.push(fact),
                Read::Dropped => {}
                Read::Refused => refused = true,
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

    /// A fact that is said to hold, and said not to.
    fn contradiction(&mut self, positive: &Resolved, negative: &Resolved, of: &str, code: &'static str) {
        let (Some(&yes), Some(&no)) = (positive.atoms.first(), negative.atoms.first()) else { return };
        self.report(format!("{code} {yes}"), |compiler| {
            let fact = print_atom(&positive.atom);
            let message = format!("the {of} says that `{fact}` holds and that it does not");
            let diagnostic = compiler.placed(Diagnostic::error(code, message), yes);
            compiler.also(diagnostic, no, "says that it does not").help("take one of them back")
        });
    }

    /// A fact with the domain's names.
    fn fact(&mut self, fact: &Fact) -> Read {
        let Some((name, arguments)) = call(&fact.fact).filter(|(name, _)| !name.is_empty()) else {
            self.report(format!("fact {}", fact.fact), |compiler| {
                let message = format!("`{}` in `{}` is no fact", fact.fact, compiler.written(fact.atom));
                compiler
                    .placed(Diagnostic::error("asp.not-a-fact", message), fact.atom)
                    .help("write a predicate with its objects: `init(on(a, b))`")
            });
            return Read::Refused;
        };
        let Some((declaration, declared)) = self.spelling.predicate(name) else {
            if name == "map" || self.input.ir_only.predicates.contains(name) {
                return Read::Dropped;
            }
            self.unknown_predicate(name, fact);
            return Read::Refused;
        };
        let args = self.arguments(&declared.name, &declared.parameters, arguments, fact.atom, "predicate");
        let Some((args, objects)) = args else { return Read::Refused };
        let atom = Atom { predicate: declared.name.at(Span::default()), args, span: Span::default() };
        Read::Fact(Resolved {
            place: Place { declaration, objects },
            atom,
            negated: fact.negated,
            atoms: vec![fact.atom],
        })
    }

    fn unknown_predicate(&mut self, name: &str, fact: &Fact) {
        self.report(format!("predicate {name}"), |compiler| {
            let written = compiler.written(fact.atom);
            let message = format!("`{name}` in `{written}` is not a predicate of the domain");
            let ir_only = compiler.input.ir_only.predicates.iter().map(String::as_str);
            let help = match nearest(name, compiler.spelling.predicates().chain(ir_only)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!(
                    "use a predicate of the domain; one of the representation alone is declared in the knowledge file: \
                     `ir_predicate({name}(TYPES), \"what it says\").`"
                ),
            };
            compiler.placed(Diagnostic::error("asp.unknown-predicate", message), fact.atom).help(help)
        });
    }

    /// Arguments as PDDL writes them, and their ranks, checked for their number and types.
    pub(super) fn arguments(
        &mut self,
        declared: &Name,
        parameters: &[TypedName],
        arguments: &[Term],
        atom: u32,
        what: &str,
    ) -> Option<(Vec<ast::Term>, Ranks)> {
        if parameters.len() != arguments.len() {
            self.report(format!("arity {declared} {}", arguments.len()), |compiler| {
                let message = format!(
                    "the {what} `{declared}` has {} argument(s), but `{}` gives it {}",
                    parameters.len(),
                    compiler.written(atom),
                    arguments.len()
                );
                compiler
                    .placed(Diagnostic::error("asp.arity", message), atom)
                    .help(format!("the domain declares it as `{}`", shape(declared, parameters)))
            });
            return None;
        }
        let mut args = Vec::with_capacity(arguments.len());
        let mut ranks = Ranks::new();
        let mut wrong = false;
        for (position, (argument, parameter)) in arguments.iter().zip(parameters).enumerate() {
            let Some(object) = self.object(argument, atom) else {
                wrong = true;
                continue;
            };
            let (name, types) = (object.name.clone(), object.types.clone());
            ranks.push(object.rank);
            let wanted = self.types.resolve(parameter.ty.as_ref());
            if wanted.is_some_and(|wanted| self.types.fit(&types, &wanted) == TypeFit::Never) {
                wrong = true;
                let given: Vec<String> =
                    types.iter().map(|id| format!("`{}`", self.types.name(*id))).collect();
                let given = given.join(" or ");
                self.report(format!("type of {declared} {position} {given}"), |compiler| {
                    let message = format!(
                        "`{name}` is a {given}, but argument {} of `{declared}` in `{}` is for another type",
                        position + 1,
                        compiler.written(atom)
                    );
                    compiler
                        .placed(Diagnostic::error("asp.wrong-type", message), atom)
                        .help(format!("the domain declares it as `{}`", shape(declared, parameters)))
                });
            }
            args.push(ast::Term::Constant(name));
        }
        (!wrong).then_some((args, ranks))
    }
}

/// `(on ?x - block ?y - block)`.
fn shape(name: &Name, parameters: &[TypedName]) -> String {
    let list = planforge_pddl::print_typed_list(parameters);
    match list.is_empty() {
        true => format!("({name})"),
        false => format!("({name} {list})"),
    }
}
