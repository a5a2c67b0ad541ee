//! Comparison of trees without their spans.

use crate::ast::*;
use crate::name::Name;
use planforge_diagnostics::Span;

/// Trees that can forget where they were read.
pub trait StripSpans {
    /// Sets every span to the empty default and clears the list of sections.
    fn strip_spans(&mut self);

    /// Returns true if both have the same content, regardless of spans. Names compare without regard to case.
    fn eq_ignoring_spans(&self, other: &Self) -> bool
    where
        Self: Clone + PartialEq,
    {
        let (mut a, mut b) = (self.clone(), other.clone());
        a.strip_spans();
        b.strip_spans();
        a == b
    }
}

impl StripSpans for Span {
    fn strip_spans(&mut self) {
        *self = Span::default();
    }
}
impl StripSpans for Name {
    fn strip_spans(&mut self) {
        self.span = Span::default();
    }
}
impl<T: StripSpans> StripSpans for Box<T> {
    fn strip_spans(&mut self) {
        (**self).strip_spans();
    }
}
impl<T: StripSpans> StripSpans for Vec<T> {
    fn strip_spans(&mut self) {
        self.iter_mut().for_each(T::strip_spans);
    }
}
impl<T: StripSpans> StripSpans for Option<T> {
    fn strip_spans(&mut self) {
        self.iter_mut().for_each(T::strip_spans);
    }
}
impl<A: smallvec::Array> StripSpans for smallvec::SmallVec<A>
where
    A::Item: StripSpans,
{
    fn strip_spans(&mut self) {
        self.iter_mut().for_each(StripSpans::strip_spans);
    }
}

/// Implements the trait for a struct by its fields that hold spans.
macro_rules! strip_fields {
    ($($ty:ty { $($field:ident),* })*) => {
        $(impl StripSpans for $ty {
            fn strip_spans(&mut self) {
                $(self.$field.strip_spans();)*
            }
        })*
    };
}

strip_fields! {
    TypeRef { alternatives, span }
    TypedName { name, ty }
    PredicateDecl { name, parameters, span }
    FunctionDecl { name, parameters, ty, span }
    Action { name, parameters, vars, precondition, effect, span }
    DurativeAction { name, parameters, duration, condition, effect, span }
    Derived { predicate, parameters, condition, span }
    Atom { predicate, args, span }
    Fluent { function, args, span }
    Comparison { left, right, span }
    Preference { name, condition, span }
    Trajectory { conditions, span }
    Assignment { fluent, value, span }
    Metric { expr, span }
}

impl<T: StripSpans> StripSpans for Quantified<T> {
    fn strip_spans(&mut self) {
        self.parameters.strip_spans();
        self.body.strip_spans();
        self.span.strip_spans();
    }
}

impl StripSpans for Term {
    fn strip_spans(&mut self) {
        match self {
            Term::Variable(name) | Term::Constant(name) => name.strip_spans(),
        }
    }
}

impl StripSpans for Condition {
    fn strip_spans(&mut self) {
        match self {
            Condition::And(parts, span) | Condition::Or(parts, span) => {
                parts.strip_spans();
                span.strip_spans();
            }
            Condition::Not(inner, span) | Condition::Timed(_, inner, span) => {
                inner.strip_spans();
                span.strip_spans();
            }
            Condition::Imply(a, b, span) => {
                a.strip_spans();
                b.strip_spans();
                span.strip_spans();
            }
            Condition::Exists(q) | Condition::Forall(q) => q.strip_spans(),
            Condition::Atom(atom) => atom.strip_spans(),
            Condition::Equal(a, b, span) => {
                a.strip_spans();
                b.strip_spans();
                span.strip_spans();
            }
            Condition::Compare(c) => c.strip_spans(),
            Condition::Preference(p) => p.strip_spans(),
            Condition::Trajectory(t) => t.strip_spans(),
        }
    }
}

impl StripSpans for NumericExpr {
    fn strip_spans(&mut self) {
        match self {
            NumericExpr::Fluent(f) => f.strip_spans(),
            NumericExpr::Arithmetic(_, args, span) => {
                args.strip_spans();
                span.strip_spans();
            }
            NumericExpr::IsViolated(name, span) => {
                name.strip_spans();
                span.strip_spans();
            }
            NumericExpr::Number(_, span)
            | NumericExpr::Duration(span)
            | NumericExpr::ElapsedTime(span)
            | NumericExpr::TotalTime(span) => span.strip_spans(),
        }
    }
}

impl StripSpans for Effect {
    fn strip_spans(&mut self) {
        match self {
            Effect::And(parts, span) => {
                parts.strip_spans();
                span.strip_spans();
            }
            Effect::Forall(q) => q.strip_spans(),
            Effect::When(condition, effect, span) => {
                condition.strip_spans();
                effect.strip_spans();
                span.strip_spans();
            }
            Effect::Add(atom) => atom.strip_spans(),
            Effect::Delete(atom, span) => {
                atom.strip_spans();
                span.strip_spans();
            }
            Effect::Assign(a) => a.strip_spans(),
            Effect::Timed(_, inner, span) => {
                inner.strip_spans();
                span.strip_spans();
            }
        }
    }
}

impl StripSpans for InitElement {
    fn strip_spans(&mut self) {
        match self {
            InitElement::Atom(atom) => atom.strip_spans(),
            InitElement::Not(atom, span) => {
                atom.strip_spans();
                span.strip_spans();
            }
            InitElement::Value(fluent, _, span) => {
                fluent.strip_spans();
                span.strip_spans();
            }
            InitElement::Timed { element, span, .. } => {
                element.strip_spans();
                span.strip_spans();
            }
        }
    }
}

impl StripSpans for Domain {
    fn strip_spans(&mut self) {
        self.name.strip_spans();
        self.requirements.strip_spans();
        self.types.strip_spans();
        self.constants.strip_spans();
        self.predicates.strip_spans();
        self.functions.strip_spans();
        self.actions.strip_spans();
        self.durative_actions.strip_spans();
        self.derived.strip_spans();
        self.constraints.strip_spans();
        self.sections.clear();
        self.span.strip_spans();
    }
}

impl StripSpans for Problem {
    fn strip_spans(&mut self) {
        self.name.strip_spans();
        self.domain_name.strip_spans();
        self.requirements.strip_spans();
        self.objects.strip_spans();
        self.init.strip_spans();
        self.goal.strip_spans();
        self.constraints.strip_spans();
        self.metric.strip_spans();
        self.situation.strip_spans();
        self.sections.clear();
        self.span.strip_spans();
    }
}
