//! Checks of terms: arguments, types, counts, maps, numeric functions and sides of comparisons.

use super::fragment::Fragment;
use crate::codes::reader as code;
use crate::syntax::ast::{Atom, Term};
use planforge_diagnostics::Span;

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
