//! Conditions, effects, expressions and typed lists as lists and words ([`Doc`]), laid out within a width.

use crate::ast::{
    Atom, Condition, Effect, Fluent, InitElement, NumericExpr, Quantified, Term, TimeSpecifier, Trajectory,
    TypeRef, TypedName,
};
use crate::name::Name;
use crate::number::Number;
use std::fmt::Write;

pub(super) fn name(name: &Name) -> Doc {
    Doc::word(name.as_str())
}

/// A finite number without an exponent, which PDDL does not have.
fn number(value: Number) -> Doc {
    Doc::word(value.to_string())
}

pub(super) fn type_ref(ty: &TypeRef) -> Doc {
    match ty.alternatives.as_slice() {
        [single] => name(single),
        several => Doc::with_head("either", several.iter().map(name)),
    }
}

/// The groups of a typed list, each the names that share a type. Untyped names in front of typed ones are given the
/// type they have anyway, as the list would otherwise give them the next.
pub(super) fn typed_groups(list: &[TypedName]) -> Vec<Vec<Doc>> {
    let mut groups = Vec::new();
    let mut rest = list;
    while let Some(first) = rest.first() {
        let same = |entry: &&TypedName| match (&entry.ty, &first.ty) {
            (Some(a), Some(b)) => a.alternatives == b.alternatives,
            (a, b) => a.is_none() && b.is_none(),
        };
        let count = rest.iter().take_while(same).count();
        let (group, after) = rest.split_at(count);
        let mut docs: Vec<Doc> = group.iter().map(|entry| name(&entry.name)).collect();
        match &first.ty {
            Some(ty) => docs.extend([Doc::word("-"), type_ref(ty)]),
            None if !after.is_empty() => docs.extend([Doc::word("-"), Doc::word("object")]),
            None => {}
        }
        groups.push(docs);
        rest = after;
    }
    groups
}

pub(super) fn parameters(list: &[TypedName]) -> Doc {
    Doc::list(typed_groups(list).into_iter().flatten().collect())
}

pub(super) fn declaration(head: &Name, list: &[TypedName]) -> Doc {
    Doc::with_head(head.as_str(), typed_groups(list).into_iter().flatten())
}

fn term(term: &Term) -> Doc {
    name(term.name())
}

pub(super) fn atom(atom: &Atom) -> Doc {
    Doc::with_head(atom.predicate.as_str(), atom.args.iter().map(term))
}

fn fluent(fluent: &Fluent) -> Doc {
    Doc::with_head(fluent.function.as_str(), fluent.args.iter().map(term))
}

fn quantified_doc<T>(quantifier: &str, q: &Quantified<T>, body: impl Fn(&T) -> Doc) -> Doc {
    Doc::with_head(quantifier, [parameters(&q.parameters), body(&q.body)])
}

fn timed_doc(time: TimeSpecifier, body: Doc) -> Doc {
    let (head, when) = match time {
        TimeSpecifier::Start => ("at", "start"),
        TimeSpecifier::End => ("at", "end"),
        TimeSpecifier::OverAll => ("over", "all"),
    };
    Doc::with_head(head, [Doc::word(when), body])
}

pub(super) fn condition(c: &Condition) -> Doc {
    match c {
        Condition::And(parts, _) => Doc::with_head("and", parts.iter().map(condition)),
        Condition::Or(parts, _) => Doc::with_head("or", parts.iter().map(condition)),
        Condition::Not(inner, _) => Doc::with_head("not", [condition(inner)]),
        Condition::Imply(a, b, _) => Doc::with_head("imply", [condition(a), condition(b)]),
        Condition::Exists(q) => quantified_doc("exists", q, condition),
        Condition::Forall(q) => quantified_doc("forall", q, condition),
        Condition::Atom(a) => atom(a),
        Condition::Equal(a, b, _) => Doc::with_head("=", [term(a), term(b)]),
        Condition::Compare(c) => Doc::with_head(c.op.as_str(), [numeric(&c.left), numeric(&c.right)]),
        Condition::Preference(p) => {
            Doc::with_head("preference", p.name.iter().map(name).chain([condition(&p.condition)]))
        }
        Condition::Timed(time, inner, _) => timed_doc(*time, condition(inner)),
        Condition::Trajectory(t) => trajectory(t),
    }
}

fn trajectory(t: &Trajectory) -> Doc {
    let times = t.times.iter().map(|time| number(*time));
    Doc::with_head(t.op.as_str(), times.chain(t.conditions.iter().map(condition)))
}

pub(super) fn numeric(expr: &NumericExpr) -> Doc {
    match expr {
        NumericExpr::Number(value, _) => number(*value),
        NumericExpr::Fluent(f) => fluent(f),
        NumericExpr::Arithmetic(op, args, _) => Doc::with_head(op.as_str(), args.iter().map(numeric)),
        NumericExpr::Duration(_) => Doc::word("?duration"),
        NumericExpr::ElapsedTime(_) => Doc::word("#t"),
        NumericExpr::TotalTime(_) => Doc::with_head("total-time", []),
        NumericExpr::IsViolated(preference, _) => Doc::with_head("is-violated", [name(preference)]),
    }
}

pub(super) fn effect(e: &Effect) -> Doc {
    match e {
        Effect::And(parts, _) => Doc::with_head("and", parts.iter().map(effect)),
        Effect::Forall(q) => quantified_doc("forall", q, effect),
        Effect::When(c, inner, _) => Doc::with_head("when", [condition(c), effect(inner)]),
        Effect::Add(a) => atom(a),
        Effect::Delete(a, _) => Doc::with_head("not", [atom(a)]),
        Effect::Assign(a) => Doc::with_head(a.op.as_str(), [fluent(&a.fluent), numeric(&a.value)]),
        Effect::Timed(time, inner, _) => timed_doc(*time, effect(inner)),
    }
}

pub(super) fn init(element: &InitElement) -> Doc {
    match element {
        InitElement::Atom(a) => atom(a),
        InitElement::Not(a, _) => Doc::with_head("not", [atom(a)]),
        InitElement::Value(f, value, _) => Doc::with_head("=", [fluent(f), number(*value)]),
        InitElement::Timed { time, element, .. } => Doc::with_head("at", [number(*time), init(element)]),
    }
}

/// Columns a line may take before a list is broken.
const WIDTH: usize = 100;

/// A list or an atom to print.
#[derive(Debug, Clone)]
pub(super) enum Doc {
    /// A single word.
    Word(String),
    /// A list and the columns it takes on one line.
    List(Vec<Doc>, usize),
}

impl Doc {
    pub(super) fn word(text: impl Into<String>) -> Self {
        Doc::Word(text.into())
    }

    pub(super) fn list(items: Vec<Doc>) -> Self {
        let inner: usize = items.iter().map(Doc::width).sum();
        let width = inner + items.len().saturating_sub(1) + 2;
        Doc::List(items, width)
    }

    /// Creates `(head items...)`.
    pub(super) fn with_head(head: &str, items: impl IntoIterator<Item = Doc>) -> Self {
        Doc::list(std::iter::once(Doc::word(head)).chain(items).collect())
    }

    fn width(&self) -> usize {
        match self {
            Doc::Word(word) => word.chars().count(),
            Doc::List(_, width) => *width,
        }
    }

    /// Formats the document on one line.
    pub(super) fn flat(&self) -> String {
        let mut out = String::with_capacity(self.width());
        self.write_flat(&mut out);
        out
    }

    fn write_flat(&self, out: &mut String) {
        match self {
            Doc::Word(word) => out.push_str(word),
            Doc::List(items, _) => {
                out.push('(');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(' ');
                    }
                    item.write_flat(out);
                }
                out.push(')');
            }
        }
    }

    /// From column `column` on, broken where it does not fit.
    pub(super) fn write(&self, column: usize, out: &mut String) {
        let Doc::List(items, width) = self else { return self.write_flat(out) };
        if column + width <= WIDTH {
            return self.write_flat(out);
        }
        out.push('(');
        // The words in front stay on the first line, as does a quantifier's list of variables.
        let words = items.iter().take_while(|item| matches!(item, Doc::Word(_))).count();
        let conjunction = matches!(items.first(), Some(Doc::Word(w)) if w == "and" || w == "or");
        let kept =
            if conjunction || words == 0 { words } else { (words + 1).min(items.len() - 1).max(words) };
        let mut at = column + 1;
        for (index, item) in items.iter().enumerate() {
            if index > 0 && index < kept {
                out.push(' ');
                at += 1;
            } else if index > 0 {
                let _ = write!(out, "\n{:1$}", "", column + 2);
                at = column + 2;
            }
            item.write(at, out);
            at += item.width();
        }
        out.push(')');
    }
}
