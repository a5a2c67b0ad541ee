//! Checks that statements belong to the intermediate representation (paper, section 3.2): known heads, known
//! predicates, flat objects.

use super::report::Report;
use super::signature::Signature;
use crate::codes::reader as code;
use crate::syntax::ast::{Aggregate, Atom, Head, Literal, Relation, Rule, Term};
use planforge_diagnostics::Span;

/// Checks statements against a signature.
pub(super) struct Fragment<'a> {
    pub(super) signature: &'a Signature,
    pub(super) report: &'a mut Report,
}

/// The most conditions of a rule, those inside #count included.
const MAX_CONDITIONS: usize = 100;

fn conditions(literals: &[Literal]) -> usize {
    let of = |literal: &Literal| match literal {
        Literal::Aggregate(aggregate) => {
            aggregate.elements.iter().map(|e| 1 + conditions(&e.condition)).sum()
        }
        _ => 1,
    };
    literals.iter().map(of).sum()
}

/// The context of a fact.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Position {
    /// `init`, or else `goal`.
    is_init: bool,
    span: Span,
}

impl Fragment<'_> {
    pub(super) fn refuse(
        &mut self,
        code: &'static str,
        message: String,
        span: Span,
        help: impl Into<String>,
    ) {
        self.report.refuse(code, message, span, help);
    }

    /// The rules for one written rule, with `init` around predicates without a state; empty if something was
    /// refused.
    pub(super) fn rule(&mut self, mut rule: Rule, span: Span) -> Vec<Rule> {
        let refused = self.report.refusals.count();
        if conditions(&rule.body) > MAX_CONDITIONS {
            let message = format!("a rule has at most {MAX_CONDITIONS} conditions");
            self.refuse(code::FRAGMENT, message, span, "write several rules");
            return Vec::new();
        }
        let heads = self.head(&rule.head, span);
        for literal in &mut rule.body {
            self.literal(literal);
        }
        if self.report.refusals.count() > refused {
            return Vec::new();
        }
        heads.into_iter().map(|atom| Rule { head: Head::Atom(atom), body: rule.body.clone() }).collect()
    }

    fn head(&mut self, head: &Head, span: Span) -> Vec<Atom> {
        match head {
            Head::Choice { .. } => {
                let help = "write what holds as facts; what is not known is left out";
                self.refuse(
                    code::CHOICE,
                    "a description of a task leaves nothing to choose".to_owned(),
                    span,
                    help,
                );
                Vec::new()
            }
            Head::Constraint => {
                let help = "write what must hold at the end with `goal(...)`, and `goal(not p(X))` for what must not";
                let message = "a constraint says nothing of the task's facts".to_owned();
                self.refuse(code::CONSTRAINT, message, span, help);
                Vec::new()
            }
            Head::Atom(atom) => self.head_atom(atom),
        }
    }

    fn head_atom(&mut self, atom: &Atom) -> Vec<Atom> {
        match (atom.name.as_str(), atom.arguments.len()) {
            ("init" | "goal", 2..) => {
                let facts = self.facts(atom);
                let message =
                    format!("`{}` with {} arguments is read as that many statements", atom.name, facts.len());
                self.report.note(code::SPLIT, message, atom.span);
                facts
            }
            ("init" | "goal", 1)
                if is_conjunction(&atom.arguments[0]) && self.signature.arity("and").is_none() =>
            {
                let message =
                    format!("the facts joined by `and` inside `{}` are read as one each", atom.name);
                self.report.note(code::SPLIT, message, atom.span);
                let mut joined = atom.clone();
                if let Some(Term::Function { arguments, .. }) = atom.arguments.first() {
                    joined.arguments = arguments.clone();
                }
                self.facts(&joined)
            }
            ("metric", 2) => {
                self.metric(atom);
                vec![atom.clone()]
            }
            _ => {
                let mut atom = atom.clone();
                let refused = self.report.refusals.count();
                let was_bare = self.atom(&mut atom);
                if was_bare && self.report.refusals.count() == refused {
                    let message = format!("`{}` is read as part of the initial state", atom.arguments[0]);
                    self.report.note(code::BARE, message, atom.span);
                }
                vec![atom]
            }
        }
    }

    /// One atom for each argument of `init` or `goal`.
    fn facts(&mut self, atom: &Atom) -> Vec<Atom> {
        let mut found = Vec::with_capacity(atom.arguments.len());
        for argument in &atom.arguments {
            let mut one = Atom { arguments: vec![argument.clone()], ..atom.clone() };
            self.atom(&mut one);
            found.push(one);
        }
        found
    }

    /// Checks an atom of a head or a condition. A predicate without a state gets `init` around it; whether it did.
    fn atom(&mut self, atom: &mut Atom) -> bool {
        self.type_as_predicate(atom);
        self.name_numbers(atom);
        let span = atom.span;
        let at = |is_init| Position { is_init, span };
        match (atom.name.as_str(), atom.arguments.as_slice()) {
            ("object", [object, ty]) => {
                self.argument("object", 0, object, span);
                self.ty(ty, span);
            }
            ("cardinality", [ty, count]) => {
                self.ty(ty, span);
                self.count(count, span);
            }
            (state @ ("init" | "goal"), [fact]) => self.fact(fact, at(state == "init")),
            (name @ ("object" | "cardinality" | "init" | "goal" | "metric"), arguments) => {
                let wanted = if matches!(name, "init" | "goal") { 1 } else { 2 };
                self.wrong_arity(name, wanted, arguments.len(), span);
            }
            _ => {
                let fact = Term::Function {
                    name: atom.name.clone(),
                    arguments: std::mem::take(&mut atom.arguments),
                };
                self.fact(&fact, at(true));
                atom.name = "init".to_owned();
                atom.arguments = vec![fact];
                return true;
            }
        }
        false
    }

    /// Reads `shot(X)` and `init(shot(X))` as `object(X, shot)` if there is no such predicate.
    fn type_as_predicate(&mut self, atom: &mut Atom) {
        let (name, arguments) = match (atom.name.as_str(), atom.arguments.as_slice()) {
            ("init", [Term::Function { name, arguments }]) => (name.as_str(), arguments.as_slice()),
            (name, arguments) => (name, arguments),
        };
        let [object] = arguments else { return };
        if self.signature.arity(name).is_some() || !self.signature.has_type(name) || name == "object" {
            return;
        }
        let meant = Atom {
            name: "object".to_owned(),
            arguments: vec![object.clone(), Term::Function { name: name.to_owned(), arguments: Vec::new() }],
            span: atom.span,
        };
        let message = format!("the type `{name}` is no predicate: `{meant}` is read");
        self.report.note(code::TYPE_AS_PREDICATE, message, atom.span);
        *atom = meant;
    }

    /// Replaces numbers by the objects that they number, where the knowledge file names a type's objects by number.
    fn name_numbers(&mut self, atom: &mut Atom) {
        let span = atom.span;
        match (atom.name.as_str(), atom.arguments.as_mut_slice()) {
            ("object", [object, ty]) => {
                if let (Term::Number(number), Some(ty)) = (&*object, ty.as_constant())
                    && let Some(name) = self.signature.object_of_type(ty, *number)
                {
                    *object = self.numbered_object(object, name, span);
                }
            }
            ("init" | "goal", facts) => facts.iter_mut().for_each(|fact| self.name_numbers_in(fact, span)),
            (name, arguments) => self.name_arguments(name, arguments, span),
        }
    }

    fn name_numbers_in(&mut self, fact: &mut Term, span: Span) {
        if let Term::Function { name, arguments } = fact {
            self.name_arguments(name, arguments, span);
        }
    }

    fn name_arguments(&mut self, name: &str, arguments: &mut [Term], span: Span) {
        for (at, argument) in arguments.iter_mut().enumerate() {
            match argument {
                Term::Number(number) => {
                    if let Some(object) = self.signature.numbered_object(name, at, *number) {
                        *argument = self.numbered_object(argument, object, span);
                    }
                }
                inner => self.name_numbers_in(inner, span),
            }
        }
    }

    fn numbered_object(&mut self, number: &Term, name: String, span: Span) -> Term {
        let message = format!("`{number}` is read as the object `{name}`");
        self.report.note(code::NUMBER_NAME, message, span);
        Term::Function { name, arguments: Vec::new() }
    }

    pub(super) fn wrong_arity(&mut self, name: &str, wanted: usize, found: usize, span: Span) {
        let message = format!("`{name}` has {wanted} {}, found {found}", plural(wanted));
        self.refuse(code::ARITY, message, span, "add or remove arguments");
    }

    /// Checks the argument of `init` or `goal`.
    fn fact(&mut self, fact: &Term, at: Position) {
        let Term::Function { name, arguments } = fact else {
            let message = format!("`{fact}` is no fact");
            let help = "a fact is a predicate with its objects: `init(clear(b1))`";
            return self.refuse(code::FRAGMENT, message, at.span, help);
        };
        match (name.as_str(), arguments.as_slice()) {
            ("neg", [Term::Function { name: inner, .. }])
                if matches!(inner.as_str(), "neg" | "map" | "value" | "compare") =>
            {
                let message = format!("`{inner}` cannot be negated");
                self.refuse(code::FRAGMENT, message, at.span, "negate one predicate of the domain");
            }
            ("neg", [inner]) => self.fact(inner, at),
            ("map", [one, predicate, other]) => self.map(one, predicate, other, at.span),
            ("value", [function, value]) if at.is_init => {
                self.function(function, at.span);
                self.value(value, at.span);
            }
            ("compare", [Term::Text(sign), left, right]) if !at.is_init => {
                if !matches!(sign.as_str(), "=" | "<" | "<=" | ">" | ">=") {
                    let message = format!("`{sign}` is no relation between numbers");
                    self.refuse(code::FRAGMENT, message, at.span, "the relations are =, <, <=, > and >=");
                }
                for side in [left, right] {
                    if !matches!(side, Term::Number(_) | Term::Text(_) | Term::Variable(_)) {
                        self.function(side, at.span);
                    }
                }
            }
            (word @ ("map" | "neg"), _) if self.signature.arity(word).is_none() => {
                let wanted = if word == "map" { 3 } else { 1 };
                self.wrong_arity(word, wanted, arguments.len(), at.span);
            }
            (word @ ("init" | "goal" | "object" | "cardinality"), _)
                if self.signature.arity(word).is_none() =>
            {
                let message = format!("`{word}` stands inside no other predicate");
                let help = "write it as a statement or condition of its own";
                self.refuse(code::FRAGMENT, message, at.span, help);
            }
            _ => self.predicate(name, arguments, at.span),
        }
    }

    fn predicate(&mut self, name: &str, arguments: &[Term], span: Span) {
        let Some(arity) = self.signature.arity(name) else {
            return self.unknown_predicate(name, span);
        };
        if arity != arguments.len() {
            return self.wrong_arity(name, arity, arguments.len(), span);
        }
        for (at, argument) in arguments.iter().enumerate() {
            self.argument(name, at, argument, span);
        }
    }

    pub(super) fn unknown_predicate(&mut self, name: &str, span: Span) {
        if name.is_empty() {
            let help = "a fact is a predicate with its objects: `init(clear(b1))`";
            return self.refuse(code::FRAGMENT, "a tuple is no fact".to_owned(), span, help);
        }
        let message = format!("there is no predicate `{name}`");
        let help = if self.signature.functions.contains_key(name) {
            format!("`{name}` is a numeric function: write `init({name} = 0)`")
        } else {
            let signature = self.signature;
            let heads = ["init", "goal", "object", "cardinality", "map"];
            let known = signature.all_predicates().chain(heads);
            self.report.suggestion("predicates", name, known)
        };
        self.refuse(code::UNKNOWN_PREDICATE, message, span, help);
    }

    fn literal(&mut self, literal: &mut Literal) {
        match literal {
            Literal::Atom { atom, .. } => {
                self.atom(atom);
            }
            Literal::Comparison { left, relation, right, span } => {
                let is_order = !matches!(relation, Relation::Equal | Relation::NotEqual);
                for side in [left, right] {
                    match side {
                        Term::Function { name, arguments }
                            if is_order && arguments.is_empty() && !name.is_empty() =>
                        {
                            let message = format!("`{name}` is a name, and only numbers are less or greater");
                            let help = "compare variables that stand for numbers, or names with `=` and `!=`";
                            self.refuse(code::FRAGMENT, message, *span, help);
                        }
                        side => self.side(side, *span),
                    }
                }
            }
            Literal::Conditional { literal, .. } => {
                let span = span_of(literal);
                let help = "write a rule for the condition, or count with #count";
                let message = "a condition with `:` is not part of the representation".to_owned();
                self.refuse(code::FRAGMENT, message, span, help);
            }
            Literal::Aggregate(aggregate) => self.aggregate(aggregate),
        }
    }

    fn aggregate(&mut self, aggregate: &mut Aggregate) {
        if aggregate.function != "count" {
            let message = format!("`#{}` is not part of the representation", aggregate.function);
            self.refuse(code::FRAGMENT, message, aggregate.span, "of the aggregates only #count may be used");
        }
        let guards = aggregate.left.iter().map(|(term, _)| term);
        for guard in guards.chain(aggregate.right.iter().map(|(_, term)| term)) {
            self.side(guard, aggregate.span);
        }
        for element in &mut aggregate.elements {
            for term in &element.terms {
                self.side(term, aggregate.span);
            }
            for literal in &mut element.condition {
                self.literal(literal);
            }
        }
    }
}

fn is_conjunction(term: &Term) -> bool {
    matches!(term, Term::Function { name, arguments } if name == "and" && !arguments.is_empty())
}

fn span_of(literal: &Literal) -> Span {
    match literal {
        Literal::Atom { atom, .. } => atom.span,
        Literal::Comparison { span, .. } => *span,
        Literal::Conditional { literal, .. } => span_of(literal),
        Literal::Aggregate(aggregate) => aggregate.span,
    }
}

fn plural(arguments: usize) -> &'static str {
    if arguments == 1 { "argument" } else { "arguments" }
}

// Checks of terms: arguments, types, counts, maps, numeric functions and sides of comparisons.

impl Fragment<'_> {
    /// Checks an argument of a predicate: an object, or a number if the declaration allows it.
    pub(super) fn argument(&mut self, predicate: &str, at: usize, term: &Term, span: Span) {
        let is_number = self.signature.is_number(predicate, at);
        match term {
            Term::Variable(_) | Term::Anonymous => {}
            Term::Function { name, arguments } if arguments.is_empty() && !name.is_empty() => {}
            Term::External { .. } => self.external(term, span),
            Term::Number(_) | Term::Minus(_) | Term::Binary { .. } | Term::Interval(..) => {
                if is_number {
                    self.arithmetic(term, span);
                } else if matches!(term, Term::Interval(..)) {
                    let message = format!("`{term}` stands where `{predicate}` has an object");
                    let help = "write one statement for each object; numbers alone can be counted through";
                    self.refuse(code::INTERVAL, message, span, help);
                } else {
                    let message = format!("`{term}` is a number, and `{predicate}` is about objects");
                    self.refuse(code::FRAGMENT, message, span, "names of objects begin with a letter");
                }
            }
            Term::Function { .. } | Term::Text(_) => {
                let message = format!("`{term}` is no object");
                let help = "an object is a name: lower-case letters, digits and `_`";
                self.refuse(code::FRAGMENT, message, span, help);
            }
        }
    }

    /// Arithmetic over numbers and variables.
    fn arithmetic(&mut self, term: &Term, span: Span) {
        match term {
            Term::Number(_) | Term::Variable(_) => {}
            Term::Minus(inner) => self.arithmetic(inner, span),
            Term::Binary { left, right, .. } | Term::Interval(left, right) => {
                self.arithmetic(left, span);
                self.arithmetic(right, span);
            }
            Term::External { .. } => self.external(term, span),
            Term::Anonymous | Term::Text(_) | Term::Function { .. } => {
                let message = format!("`{term}` is no number");
                self.refuse(
                    code::FRAGMENT,
                    message,
                    span,
                    "only numbers and variables can be calculated with",
                );
            }
        }
    }

    fn external(&mut self, term: &Term, span: Span) {
        let Term::External { name, .. } = term else { return };
        let help = "write names of objects; objects that a count asks for are made without being named";
        self.refuse(code::EXTERNAL, format!("`@{name}` calls a function outside the program"), span, help);
    }

    pub(super) fn ty(&mut self, term: &Term, span: Span) {
        match term {
            Term::Variable(_) | Term::Anonymous => {}
            Term::Function { name, arguments } if arguments.is_empty() && !name.is_empty() => {
                if !self.signature.has_type(name) {
                    let signature = self.signature;
                    let help = self.report.suggestion("types", name, signature.all_types());
                    self.refuse(code::UNKNOWN_TYPE, format!("there is no type `{name}`"), span, help);
                }
            }
            Term::External { .. } => self.external(term, span),
            other => {
                let message = format!("`{other}` is no type");
                self.refuse(code::FRAGMENT, message, span, "a type is a name: `cardinality(shot, 3)`");
            }
        }
    }

    pub(super) fn count(&mut self, term: &Term, span: Span) {
        match term {
            Term::Anonymous => {}
            Term::Interval(..) => {
                let help = "write the number of objects: `cardinality(shot, 3)`";
                self.refuse(code::FRAGMENT, "a count is one number".to_owned(), span, help);
            }
            term => self.arithmetic(term, span),
        }
    }

    pub(super) fn map(&mut self, one: &Term, predicate: &Term, other: &Term, span: Span) {
        self.ty(one, span);
        self.ty(other, span);
        match predicate {
            Term::Variable(_) | Term::Anonymous => {}
            Term::Function { name, arguments } if arguments.is_empty() && !name.is_empty() => {
                match self.signature.arity(name) {
                    Some(2) => {}
                    Some(arity) => {
                        let message =
                            format!("`map` pairs by a predicate with 2 arguments, and `{name}` has {arity}");
                        self.refuse(code::ARITY, message, span, "name a predicate between the two types");
                    }
                    None => self.unknown_predicate(name, span),
                }
            }
            other => {
                let message = format!("`{other}` is no predicate");
                self.refuse(code::FRAGMENT, message, span, "the form is `map(TYPE, PREDICATE, TYPE)`");
            }
        }
    }

    /// A numeric function with its arguments.
    pub(super) fn function(&mut self, term: &Term, span: Span) {
        let Term::Function { name, arguments } = term else {
            let message = format!("`{term}` is no numeric function");
            return self.refuse(code::FRAGMENT, message, span, "the form is `init(fuel(truck1) = 5)`");
        };
        match self.signature.functions.get(name.as_str()) {
            Some(arity) if *arity == arguments.len() => {
                for (at, argument) in arguments.iter().enumerate() {
                    self.argument("a function", at, argument, span);
                }
            }
            Some(arity) => self.wrong_arity(name, *arity, arguments.len(), span),
            None => {
                let message = format!("the domain has no numeric function `{name}`");
                let signature = self.signature;
                let known = signature.functions.keys().map(String::as_str);
                let help = if signature.functions.is_empty() {
                    "the domain has no numeric functions, so leave the statement out".to_owned()
                } else {
                    self.report.suggestion("functions", name, known)
                };
                self.refuse(code::UNKNOWN_PREDICATE, message, span, help);
            }
        }
    }

    /// A number, in quotes where it has decimals.
    pub(super) fn value(&mut self, term: &Term, span: Span) {
        match term {
            Term::Text(text) if text.parse::<f64>().is_ok_and(f64::is_finite) => {}
            Term::Anonymous => {}
            term => self.arithmetic(term, span),
        }
    }

    pub(super) fn metric(&mut self, atom: &Atom) {
        let is_direction = matches!(&atom.arguments[0],
            Term::Function { name, arguments } if arguments.is_empty() && matches!(name.as_str(), "minimize" | "maximize"));
        if !is_direction {
            let message = format!("`{}` is no direction of a metric", atom.arguments[0]);
            self.refuse(code::FRAGMENT, message, atom.span, "write `minimize` or `maximize`");
        }
        let is_time = matches!(&atom.arguments[1], Term::Function { name, arguments } if arguments.is_empty() && name == "total_time");
        if !is_time {
            self.function(&atom.arguments[1], atom.span);
        }
    }

    /// A side of a comparison: an object, a number or arithmetic.
    pub(super) fn side(&mut self, term: &Term, span: Span) {
        match term {
            Term::Function { name, arguments } if arguments.is_empty() && !name.is_empty() => {}
            Term::Anonymous => {
                let help = "give the variable a name that stands in another condition, too";
                self.refuse(code::UNSAFE, "`_` in a comparison is bound by nothing".to_owned(), span, help);
            }
            term => self.arithmetic(term, span),
        }
    }
}
