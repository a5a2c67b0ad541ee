//! The initial state and the goal.

use super::objects::OrderKey;
use super::{Compiler, Entry, Section};
use crate::materialized::{Fact, call};
use crate::syntax::ast::Term;
use planforge_diagnostics::{Diagnostic, Span};
use planforge_pddl::ast::{
    Atom, CompareOp, Comparison, Condition, Fluent, InitElement, Metric, MetricDirection, NumericExpr,
    Problem,
};
use planforge_pddl::{
    Name, Number as Exact, nearest, print_atom, print_condition, print_init, print_numeric,
};
use std::collections::BTreeMap;
use std::collections::btree_map;

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

// Numbers: initial values, bounds in the goal, the metric, and what of PDDL a problem has to require for them.

/// A numeric function's initial value.
pub(super) struct Number {
    pub(super) fluent: Fluent,
    pub(super) value: Exact,
    pub(super) atoms: Vec<u32>,
}

impl Compiler<'_> {
    /// Initial values by function in the domain's order, each once.
    pub(super) fn values(&mut self) -> Vec<Number> {
        let mut found: BTreeMap<OrderKey, Number> = BTreeMap::new();
        for given in &self.input.materialized.values {
            let value = self.number(&given.value, given.atom);
            let fluent = self.fluent(&given.function, given.atom);
            let (Some(value), Some((place, fluent))) = (value, fluent) else { continue };
            match found.entry(place) {
                btree_map::Entry::Vacant(entry) => {
                    entry.insert(Number { fluent, value, atoms: vec![given.atom] });
                }
                btree_map::Entry::Occupied(mut entry) if entry.get().value == value => {
                    entry.get_mut().atoms.push(given.atom);
                }
                btree_map::Entry::Occupied(entry) => {
                    let number = entry.get();
                    let first = number.atoms.first().copied().unwrap_or_default();
                    self.report(format!("value {first}"), |compiler| {
                        let message = format!(
                            "`{}` is given two values: {} and {value}",
                            print_numeric(&NumericExpr::Fluent(fluent)),
                            number.value
                        );
                        let diagnostic = Diagnostic::error("asp.contradictory-init", message);
                        let diagnostic = compiler.with_origins(diagnostic, given.atom);
                        compiler
                            .with_other_origin(diagnostic, first, "the first one")
                            .help("take one of them back")
                    });
                }
            }
        }
        found.into_values().collect()
    }

    /// Bounds on numbers in the goal, in the answer's order of their texts.
    pub(super) fn comparisons(&mut self) -> Vec<(Condition, Vec<u32>)> {
        let mut found: Vec<(String, Condition, Vec<u32>)> = Vec::new();
        for bound in &self.input.materialized.comparisons {
            let op = match &bound.relation {
                Term::Text(op) => relation(op),
                _ => None,
            };
            let left = self.expression(&bound.left, bound.atom);
            let right = self.expression(&bound.right, bound.atom);
            let Some(op) = op else {
                self.report(format!("relation {}", bound.relation), |compiler| {
                    let message =
                        format!("`{}` does not compare two numbers", compiler.print_atom_text(bound.atom));
                    compiler
                        .with_origins(Diagnostic::error("asp.not-a-number", message), bound.atom)
                        .help("PDDL compares with <, <=, =, >= and >")
                });
                continue;
            };
            let (Some(left), Some(right)) = (left, right) else { continue };
            let span = Span::default();
            let condition = Condition::Compare(Comparison { op, left, right, span });
            found.push((planforge_pddl::print_condition(&condition), condition, vec![bound.atom]));
        }
        found.sort_by(|a, b| planforge_pddl::natural(&a.0, &b.0));
        found.into_iter().map(|(_, condition, atoms)| (condition, atoms)).collect()
    }

    pub(super) fn metric(&mut self) -> (Option<Metric>, Vec<Entry>) {
        let mut found: Option<(Metric, Vec<u32>)> = None;
        for given in &self.input.materialized.metrics {
            let direction = match call(&given.direction) {
                Some(("minimize", [])) => Some(MetricDirection::Minimize),
                Some(("maximize", [])) => Some(MetricDirection::Maximize),
                _ => None,
            };
            let Some(direction) = direction else {
                self.report(format!("direction {}", given.direction), |compiler| {
                    let written = compiler.print_atom_text(given.atom);
                    let message = format!("`{written}` says neither `minimize` nor `maximize`");
                    compiler
                        .with_origins(Diagnostic::error("asp.metric", message), given.atom)
                        .help("write `metric(minimize, total_cost).`")
                });
                continue;
            };
            let Some(expr) = self.expression(&given.quantity, given.atom) else { continue };
            let metric = Metric { direction, expr, span: Span::default() };
            match &mut found {
                None => {
                    self.first_value(&metric, given.atom);
                    found = Some((metric, vec![given.atom]));
                }
                Some((first, atoms)) if *first == metric => atoms.push(given.atom),
                Some(_) => {
                    self.report("second metric".to_owned(), |compiler| {
                        let message =
                            format!("`{}` is a second metric", compiler.print_atom_text(given.atom));
                        let diagnostic = Diagnostic::error("asp.metric", message).help("a problem has one");
                        compiler.with_origins(diagnostic, given.atom)
                    });
                }
            }
        }
        let entries = found.iter().map(|(metric, atoms)| Entry {
            section: Section::Metric,
            pddl: print_metric(metric),
            atoms: atoms.clone(),
        });
        let entries = entries.collect();
        (found.map(|(metric, _)| metric), entries)
    }

    /// A metric over a function that starts without a value measures nothing.
    fn first_value(&mut self, metric: &Metric, atom: u32) {
        let NumericExpr::Fluent(fluent) = &metric.expr else { return };
        let given = self.input.materialized.values.iter().any(|value| {
            call(&value.function).is_some_and(|(name, _)| {
                self.spelling.function(name).is_some_and(|(_, declared)| declared.name == fluent.function)
            })
        });
        if !given {
            self.report("first value".to_owned(), |compiler| {
                let written = super::mangle(&fluent.function);
                let message = format!("the metric is over `{}`, which has no initial value", fluent.function);
                compiler
                    .with_origins(Diagnostic::warning("asp.no-initial-value", message), atom)
                    .help(format!("say so in the knowledge file: `init({written} = 0).`"))
            });
        }
    }

    /// Requirements of the problem that the domain does not declare.
    pub(super) fn requirements(&self, problem: &Problem) -> Vec<Name> {
        let declared = |any: &[&str]| {
            self.input.domain.requirements.iter().any(|requirement| any.contains(&requirement.key()))
        };
        let goal = problem.goal.as_ref().map_or(&[][..], Condition::conjuncts);
        let mut fluents: Vec<&Fluent> = problem.init.iter().filter_map(value_of).collect();
        for part in goal {
            if let Condition::Compare(comparison) = part {
                fluents.extend([&comparison.left, &comparison.right].into_iter().filter_map(fluent_of));
            }
        }
        fluents.extend(problem.metric.iter().filter_map(|metric| fluent_of(&metric.expr)));
        let mut needed = Vec::new();
        if goal.iter().any(|part| matches!(part, Condition::Not(..)))
            && !declared(&[":negative-preconditions", ":adl", ":ucpop"])
        {
            needed.push(Name::synthetic(":negative-preconditions"));
        }
        let costs_alone = fluents.iter().all(|fluent| fluent.function.is("total-cost"));
        if !fluents.is_empty() && !declared(&[":numeric-fluents", ":fluents"]) {
            if !costs_alone {
                needed.push(Name::synthetic(":numeric-fluents"));
            } else if !declared(&[":action-costs"]) {
                needed.push(Name::synthetic(":action-costs"));
            }
        }
        needed
    }

    fn expression(&mut self, term: &Term, atom: u32) -> Option<NumericExpr> {
        let span = Span::default();
        match term {
            Term::Function { name, arguments } if name == "total_time" && arguments.is_empty() => {
                Some(NumericExpr::TotalTime(span))
            }
            Term::Function { .. } => self.fluent(term, atom).map(|(_, fluent)| NumericExpr::Fluent(fluent)),
            _ => self.number(term, atom).map(|value| NumericExpr::Number(value, span)),
        }
    }

    fn fluent(&mut self, term: &Term, atom: u32) -> Option<(OrderKey, Fluent)> {
        let declared = call(term).and_then(|(name, _)| self.spelling.function(name));
        let (Some((declaration, declared)), Some((_, arguments))) = (declared, call(term)) else {
            let name = call(term).map_or_else(|| term.to_string(), |(name, _)| name.to_owned());
            self.report(format!("function {name}"), |compiler| {
                let written = compiler.print_atom_text(atom);
                let message = format!("`{name}` in `{written}` is not a numeric function of the domain");
                let diagnostic = Diagnostic::error("asp.unknown-function", message);
                compiler.with_origins(diagnostic, atom).help(
                    match nearest(&name, compiler.spelling.functions()) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => "use a function of the domain's `:functions`".to_owned(),
                    },
                )
            });
            return None;
        };
        let (args, objects) =
            self.arguments(&declared.name, &declared.parameters, arguments, atom, "function")?;
        let function = declared.name.at(Span::default());
        Some((OrderKey { declaration, objects }, Fluent { function, args, span: Span::default() }))
    }

    fn number(&mut self, term: &Term, atom: u32) -> Option<Exact> {
        let number = match term {
            Term::Number(n) => Some(Exact::integer(i128::from(*n))),
            // Programs have whole numbers only, so a fraction is written as a text.
            Term::Text(text) => Exact::parse(text).filter(|value| value.to_f64().is_finite()),
            _ => None,
        };
        if number.is_none() {
            self.report(format!("number {term}"), |compiler| {
                let message = format!("`{term}` in `{}` is not a number", compiler.print_atom_text(atom));
                compiler
                    .with_origins(Diagnostic::error("asp.not-a-number", message), atom)
                    .help("write `init(distance(a, b) = 3)`, and a fraction as a text: `\"2.5\"`")
            });
        }
        number
    }
}

fn value_of(element: &InitElement) -> Option<&Fluent> {
    match element {
        InitElement::Value(fluent, ..) => Some(fluent),
        _ => None,
    }
}

fn fluent_of(expr: &NumericExpr) -> Option<&Fluent> {
    match expr {
        NumericExpr::Fluent(fluent) => Some(fluent),
        _ => None,
    }
}

fn relation(text: &str) -> Option<CompareOp> {
    Some(match text {
        "<" => CompareOp::Less,
        "<=" => CompareOp::LessEqual,
        "=" => CompareOp::Equal,
        ">=" => CompareOp::GreaterEqual,
        ">" => CompareOp::Greater,
        _ => return None,
    })
}

/// `minimize (total-cost)`.
fn print_metric(metric: &Metric) -> String {
    let direction = match metric.direction {
        MetricDirection::Minimize => "minimize",
        MetricDirection::Maximize => "maximize",
    };
    format!("{direction} {}", print_numeric(&metric.expr))
}
