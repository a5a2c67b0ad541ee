//! Numbers, numeric fluents and arithmetic; terms and atoms.

use super::TreeReader;
use crate::ast::{ArithmeticOp, Atom, Fluent, NumericExpr, Term};
use crate::keywords::OPERATORS;
use crate::number::Number;
use crate::sexpr::{Children, NodeId};
use planforge_diagnostics::{Diagnostic, Edit};

/// Returns true if a word has the form of a number.
pub(super) fn is_number(word: &str) -> bool {
    let digits = word.strip_prefix(['-', '+']).unwrap_or(word);
    digits.strip_prefix('.').unwrap_or(digits).starts_with(|c: char| c.is_ascii_digit())
        && word.parse::<f64>().is_ok()
}

impl<'a, 't> TreeReader<'a, 't> {
    /// The value of a number; one too large for a 64-bit float is reported.
    pub(super) fn number(&mut self, id: NodeId) -> Option<Number> {
        let word = self.tree.atom(id).filter(|w| is_number(w));
        let value = word.and_then(Number::parse);
        match value {
            Some(value) if value.to_f64().is_finite() => return Some(value),
            Some(_) => self.error("pddl.bad-number", "this number is too large", self.tree.span(id)),
            None => self.error("pddl.bad-number", "a number is expected here", self.tree.span(id)),
        }
        None
    }

    pub(super) fn term(&mut self, id: NodeId) -> Term {
        let name = self.name(id);
        if name.as_str().starts_with('?') { Term::Variable(name) } else { Term::Constant(name) }
    }

    /// The arguments of an atom: names and variables. A list among them is reported and left out, and so is a type.
    pub(super) fn terms(&mut self, mut rest: Children<'a, 't>, of: &str) -> Vec<Term> {
        let mut args = Vec::with_capacity(4);
        while let Some(id) = rest.next() {
            if self.tree.atom(id) == Some("-") && !args.is_empty() {
                self.typed_argument(id, rest.next(), of);
            } else if self.tree.is_list(id) {
                let help = format!(
                    "arguments are names; is a closing parenthesis missing before this in `({of} ...`?"
                );
                let message = format!("a list among the arguments of `{of}`");
                self.error_help("pddl.unexpected-list", message, self.head_span(id), help);
            } else {
                args.push(self.term(id));
            }
        }
        args
    }

    /// Reports `- type` after an argument, as in a declaration.
    fn typed_argument(&mut self, dash: NodeId, ty: Option<NodeId>, of: &str) {
        let span = ty.map_or(self.tree.span(dash), |ty| self.tree.span(dash).to(self.tree.span(ty)));
        let message = format!("a type among the arguments of `{of}`");
        let edit = Edit { source: self.sink.source, span, replacement: String::new() };
        let diagnostic = Diagnostic::error("pddl.typed-argument", message)
            .at(self.sink.source, span, "")
            .help("types stand where variables are declared, in `:parameters` and `:predicates`; an atom only names them")
            .fix("remove the type", vec![edit]);
        self.sink.push(diagnostic);
    }

    /// `(predicate term ...)`, the list and its head already known to be one.
    pub(super) fn atom_list(&mut self, list: NodeId, head: NodeId) -> Option<Atom> {
        let predicate = self.name(head);
        // `(define` starts a definition at any depth, so that a missing parenthesis does not include the next one.
        if predicate.as_str().starts_with(['?', ':']) || predicate.is("define") {
            let message = format!("`{predicate}` cannot be a predicate");
            self.error("pddl.bad-predicate", message, predicate.span);
            return None;
        }
        let mut rest = self.tree.children(list);
        rest.next();
        let args = self.terms(rest, predicate.as_str());
        Some(Atom { predicate, args, span: self.tree.span(list) })
    }

    /// A word where a list is expected: reported, and read as a predicate without arguments if it can be one.
    pub(super) fn bare_word(&mut self, id: NodeId, what: &str) -> Option<Atom> {
        let span = self.tree.span(id);
        let predicate = self.name(id);
        let word = predicate.as_str();
        let help = format!("write `({word})` if it is a predicate without arguments");
        self.error_help("pddl.expected-list", format!("`{word}` is not {what}"), span, help);
        // An operator without its list is not a predicate; printed as one it would be read as an operator again.
        let operator = predicate.is("define") || OPERATORS.contains(&predicate.key());
        let can_be = word.starts_with(|c: char| c.is_alphabetic()) && !operator;
        can_be.then_some(Atom { predicate, args: Vec::new(), span })
    }

    /// Reads a numeric expression.
    pub(super) fn numeric(&mut self, id: NodeId) -> Option<NumericExpr> {
        let span = self.tree.span(id);
        if let Some(word) = self.tree.atom(id) {
            if is_number(word) {
                return self.number(id).map(|value| NumericExpr::Number(value, span));
            }
            return match word.to_ascii_lowercase().as_str() {
                "?duration" => Some(NumericExpr::Duration(span)),
                "#t" => Some(NumericExpr::ElapsedTime(span)),
                "total-time" => Some(NumericExpr::TotalTime(span)),
                lower if lower.starts_with(['?', ':']) => {
                    self.error("pddl.bad-number", format!("`{word}` is not a number"), span);
                    None
                }
                _ => {
                    let function = self.name(id);
                    Some(NumericExpr::Fluent(Fluent { function, args: Vec::new(), span }))
                }
            };
        }
        let mut rest = self.tree.children(id);
        let Some(head) = rest.next() else {
            self.error("pddl.missing-value", "a numeric expression is expected here", span);
            return None;
        };
        let operator = match self.tree.atom(head) {
            Some("+") => ArithmeticOp::Add,
            Some("-") => ArithmeticOp::Subtract,
            Some("*") => ArithmeticOp::Multiply,
            Some("/") => ArithmeticOp::Divide,
            _ => return self.numeric_term(id, head),
        };
        let args: Vec<_> = rest.filter_map(|arg| self.numeric(arg)).collect();
        let given = rest.count();
        let fits = match operator {
            ArithmeticOp::Subtract => (1..=2).contains(&given),
            ArithmeticOp::Divide => given == 2,
            ArithmeticOp::Add | ArithmeticOp::Multiply => given >= 2,
        };
        if !fits {
            let message = format!("`{}` cannot have {given} arguments", self.tree.text(head));
            self.error("pddl.operator-arity", message, span);
        }
        // An argument that could not be read must not silently change the value.
        (fits && args.len() == given).then_some(NumericExpr::Arithmetic(operator, args, span))
    }

    /// Reads a list that is not arithmetic: a fluent, `(total-time)`, `(is-violated p)` or a number in
    /// parentheses.
    fn numeric_term(&mut self, list: NodeId, head: NodeId) -> Option<NumericExpr> {
        let span = self.tree.span(list);
        let mut rest = self.tree.children(list);
        rest.next();
        let Some(word) = self.tree.atom(head) else {
            self.error("pddl.unexpected-list", "a list stands where a function's name belongs", span);
            return None;
        };
        if is_number(word) && rest.peek().is_none() {
            self.warning("pddl.parenthesised-number", "a number needs no parentheses", span);
            return self.number(head).map(|value| NumericExpr::Number(value, span));
        }
        let function = self.name(head);
        match function.key() {
            "total-time" if rest.peek().is_none() => Some(NumericExpr::TotalTime(span)),
            "is-violated" => {
                let Some(name) = rest.next().filter(|id| !self.tree.is_list(*id)) else {
                    self.error("pddl.missing-name", "`is-violated` names no preference", span);
                    return None;
                };
                let name = self.name(name);
                self.expect_end(rest, "`is-violated`");
                Some(NumericExpr::IsViolated(name, span))
            }
            key if key.starts_with(['?', ':']) => {
                self.error("pddl.bad-predicate", format!("`{function}` cannot be a function"), function.span);
                None
            }
            _ => {
                let args = self.terms(rest, function.as_str());
                Some(NumericExpr::Fluent(Fluent { function, args, span }))
            }
        }
    }

    /// The numeric fluent that an effect or an initial value is about.
    pub(super) fn fluent(&mut self, id: NodeId) -> Option<Fluent> {
        match self.numeric(id)? {
            NumericExpr::Fluent(fluent) => Some(fluent),
            other => {
                self.error("pddl.expected-fluent", "a numeric function is expected here", other.span());
                None
            }
        }
    }
}
