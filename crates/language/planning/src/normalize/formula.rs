//! Conditions and numeric expressions: names resolved, implications and negations pushed inwards.

use super::symbols::undefined_name;
use super::{Normalizer, Scope};
use crate::lifted::{Formula, LiftedAtom, LiftedExpr, Term};
use planforge_diagnostics::Span;
use planforge_pddl::ast::{self, ArithmeticOp, CompareOp, Condition, NumericExpr};
use planforge_pddl::{Name, Number};

impl Normalizer {
    /// The condition, or its negation, in negation normal form.
    pub(crate) fn formula(&mut self, condition: &Condition, negated: bool, scope: &mut Scope) -> Formula {
        match condition {
            Condition::And(parts, span) => self.junction(parts, !negated, negated, *span, scope),
            Condition::Or(parts, span) => self.junction(parts, negated, negated, *span, scope),
            Condition::Not(inner, _) => self.formula(inner, !negated, scope),
            Condition::Imply(premise, conclusion, span) => {
                let parts =
                    vec![self.formula(premise, !negated, scope), self.formula(conclusion, negated, scope)];
                if negated { Formula::And(parts) } else { Formula::Or(parts, *span) }
            }
            Condition::Exists(q) => self.quantified_formula(q, !negated, negated, scope),
            Condition::Forall(q) => self.quantified_formula(q, negated, negated, scope),
            Condition::Atom(atom) => match self.atom(atom, scope) {
                Some(lifted) => Formula::Literal { atom: lifted, negated, span: atom.span },
                None => Formula::truth(),
            },
            Condition::Equal(left, right, span) => match (self.term(left, scope), self.term(right, scope)) {
                (Some(left), Some(right)) => Formula::Equal { left, right, negated, span: *span },
                _ => Formula::truth(),
            },
            Condition::Compare(comparison) => self.comparison(comparison, negated, scope),
            Condition::Preference(p) => {
                self.note_unsupported("a preference", scope.place(p.span));
                Formula::truth()
            }
            Condition::Timed(_, _, span) => {
                self.note_unsupported("a timed condition", scope.place(*span));
                Formula::truth()
            }
            Condition::Trajectory(t) => {
                self.note_unsupported("a trajectory constraint", scope.place(t.span));
                Formula::truth()
            }
        }
    }

    fn junction(
        &mut self,
        parts: &[Condition],
        conjunction: bool,
        negated: bool,
        span: Span,
        scope: &mut Scope,
    ) -> Formula {
        let mut flat = Vec::with_capacity(parts.len());
        for part in parts {
            match self.formula(part, negated, scope) {
                Formula::And(inner) if conjunction => flat.extend(inner),
                Formula::Or(inner, _) if !conjunction => flat.extend(inner),
                other => flat.push(other),
            }
        }
        if conjunction { Formula::And(flat) } else { Formula::Or(flat, span) }
    }

    fn quantified_formula(
        &mut self,
        q: &ast::Quantified<Condition>,
        exists: bool,
        negated: bool,
        scope: &mut Scope,
    ) -> Formula {
        let outer = scope.names.len();
        let variables = self.variables(&q.parameters, scope);
        let body = Box::new(self.formula(&q.body, negated, scope));
        scope.names.truncate(outer);
        if exists {
            Formula::Exists(variables, body, q.span)
        } else {
            Formula::Forall(variables, body, q.span)
        }
    }

    fn comparison(&mut self, c: &ast::Comparison, negated: bool, scope: &mut Scope) -> Formula {
        let (Some(left), Some(right)) = (self.expression(&c.left, scope), self.expression(&c.right, scope))
        else {
            return Formula::truth();
        };
        let compare = |comparison, left, right| Formula::Compare { comparison, left, right, span: c.span };
        let comparison = match (c.op, negated) {
            (CompareOp::Less, false) | (CompareOp::GreaterEqual, true) => CompareOp::Less,
            (CompareOp::LessEqual, false) | (CompareOp::Greater, true) => CompareOp::LessEqual,
            (CompareOp::Greater, false) | (CompareOp::LessEqual, true) => CompareOp::Greater,
            (CompareOp::GreaterEqual, false) | (CompareOp::Less, true) => CompareOp::GreaterEqual,
            (CompareOp::Equal, false) => CompareOp::Equal,
            (CompareOp::Equal, true) => {
                let less = compare(CompareOp::Less, left.clone(), right.clone());
                return Formula::Or(vec![less, compare(CompareOp::Greater, left, right)], c.span);
            }
        };
        compare(comparison, left, right)
    }

    /// An atom with its names resolved; `None` after an error was reported.
    pub(crate) fn atom(&mut self, atom: &ast::Atom, scope: &Scope) -> Option<LiftedAtom> {
        let args = self.terms(&atom.args, scope);
        let Some(predicate) = self.tables.predicate(&atom.predicate) else {
            self.diagnostics.push(undefined_name("predicate", &atom.predicate, scope.text));
            return None;
        };
        let arity = self.tables.predicates[predicate as usize].arity;
        self.check_arity("predicate", &atom.predicate, atom.args.len(), arity, scope, atom.span)?;
        Some(LiftedAtom { predicate, args: args? })
    }

    /// A function term with its names resolved.
    pub(crate) fn fluent(&mut self, fluent: &ast::Fluent, scope: &Scope) -> Option<LiftedAtom> {
        let args = self.terms(&fluent.args, scope);
        let Some(function) = self.tables.function(&fluent.function) else {
            self.diagnostics.push(undefined_name("function", &fluent.function, scope.text));
            return None;
        };
        let arity = self.tables.function_arity[function as usize];
        self.check_arity("function", &fluent.function, fluent.args.len(), arity, scope, fluent.span)?;
        Some(LiftedAtom { predicate: function, args: args? })
    }

    fn check_arity(
        &mut self,
        kind: &str,
        name: &Name,
        given: usize,
        declared: usize,
        scope: &Scope,
        span: Span,
    ) -> Option<()> {
        if given == declared {
            return Some(());
        }
        let message = format!("the {kind} {name} takes {declared} arguments, here it has {given}");
        self.error("planning.arity", message, scope.place(span), "");
        None
    }

    fn terms(&mut self, args: &[ast::Term], scope: &Scope) -> Option<Box<[Term]>> {
        let terms: Vec<Option<Term>> = args.iter().map(|t| self.term(t, scope)).collect();
        terms.into_iter().collect()
    }

    fn term(&mut self, term: &ast::Term, scope: &Scope) -> Option<Term> {
        let (kind, found) = match term {
            ast::Term::Variable(name) => {
                let slot = scope.names.iter().rev().find(|(n, _)| n == name.key());
                ("variable", slot.map(|(_, slot)| Term::Slot(*slot)))
            }
            ast::Term::Constant(name) => ("object", self.tables.object(name).map(Term::Object)),
        };
        if found.is_none() {
            self.diagnostics.push(undefined_name(kind, term.name(), scope.text));
        }
        found
    }

    /// A numeric expression; `None` after an error or an unsupported construct was noted.
    pub(crate) fn expression(&mut self, expr: &NumericExpr, scope: &Scope) -> Option<LiftedExpr> {
        match expr {
            NumericExpr::Number(value, _) => Some(LiftedExpr::Constant(*value)),
            NumericExpr::Fluent(fluent) => self.fluent(fluent, scope).map(LiftedExpr::Function),
            NumericExpr::Arithmetic(op, args, _) => {
                let args: Vec<Option<LiftedExpr>> = args.iter().map(|a| self.expression(a, scope)).collect();
                let mut args = args.into_iter().collect::<Option<Vec<_>>>()?;
                if args.len() == 1 && *op == ArithmeticOp::Subtract {
                    args.insert(0, LiftedExpr::Constant(Number::ZERO));
                }
                operation(*op, args)
            }
            NumericExpr::Duration(span) | NumericExpr::ElapsedTime(span) => {
                self.note_unsupported("a duration", scope.place(*span));
                None
            }
            NumericExpr::TotalTime(_) => Some(LiftedExpr::Steps),
            NumericExpr::IsViolated(_, span) => {
                self.note_unsupported("a preference", scope.place(*span));
                None
            }
        }
    }
}

/// Operands above this are grouped, so that the depth of a long sum is logarithmic.
const GROUP: usize = 16;

/// An operation on one or more operands, from left to right. Only sums and products have more than two: their order does
/// not matter, as arithmetic is exact.
fn operation(op: ArithmeticOp, mut operands: Vec<LiftedExpr>) -> Option<LiftedExpr> {
    while operands.len() > GROUP {
        let mut groups = Vec::with_capacity(operands.len().div_ceil(GROUP));
        let mut rest = operands.into_iter();
        while let Some(first) = rest.next() {
            groups.push(rest.by_ref().take(GROUP - 1).fold(first, |sum, next| binary(op, sum, next)));
        }
        operands = groups;
    }
    operands.into_iter().reduce(|sum, next| binary(op, sum, next))
}

/// An operation, folded where both sides are numbers.
fn binary(op: ArithmeticOp, left: LiftedExpr, right: LiftedExpr) -> LiftedExpr {
    match (&left, &right) {
        (LiftedExpr::Constant(a), LiftedExpr::Constant(b)) => LiftedExpr::Constant(op.apply(*a, *b)),
        _ => LiftedExpr::Binary(op, Box::new((left, right))),
    }
}
