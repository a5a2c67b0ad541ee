//! Trees to text that clingo reads, and that [`super::parse`] reads as the same tree.

use super::ast::{
    Aggregate, AggregateElement, Atom, ChoiceElement, Head, Literal, Program, Relation, Rule, Statement,
    StatementKind, Term,
};
use std::fmt::{self, Display, Formatter, Write};

/// Writes the items with a separator between them.
fn join<T: Display>(f: &mut Formatter<'_>, items: &[T], separator: &str) -> fmt::Result {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            f.write_str(separator)?;
        }
        item.fmt(f)?;
    }
    Ok(())
}

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.statements.iter().try_for_each(|statement| writeln!(f, "{statement}"))
    }
}

impl Display for Statement {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)
    }
}

impl Display for StatementKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rule(rule) => rule.fmt(f),
            Self::Directive { text, .. } => f.write_str(text),
        }
    }
}

impl Display for Rule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.head.fmt(f)?;
        let is_constraint = matches!(self.head, Head::Constraint);
        if !self.body.is_empty() || is_constraint {
            f.write_str(if is_constraint { ":- " } else { " :- " })?;
            body(f, &self.body)?;
        }
        f.write_str(".")
    }
}

/// Ends conditional literals with a semicolon, since a comma would continue the condition.
fn body(f: &mut Formatter<'_>, literals: &[Literal]) -> fmt::Result {
    for (index, literal) in literals.iter().enumerate() {
        if index > 0 {
            let after_condition = matches!(literals[index - 1], Literal::Conditional { .. });
            f.write_str(if after_condition { "; " } else { ", " })?;
        }
        literal.fmt(f)?;
    }
    Ok(())
}

impl Display for Head {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Atom(atom) => atom.fmt(f),
            Self::Choice { lower, elements, upper } => {
                if let Some(lower) = lower {
                    write!(f, "{lower} ")?;
                }
                f.write_str("{ ")?;
                join(f, elements, "; ")?;
                f.write_str(" }")?;
                upper.iter().try_for_each(|upper| write!(f, " {upper}"))
            }
            Self::Constraint => Ok(()),
        }
    }
}

/// ` : condition`, nothing for an empty one.
fn condition(f: &mut Formatter<'_>, literals: &[Literal]) -> fmt::Result {
    if literals.is_empty() {
        return Ok(());
    }
    f.write_str(" : ")?;
    join(f, literals, ", ")
}

impl Display for ChoiceElement {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.atom.fmt(f)?;
        condition(f, &self.condition)
    }
}

impl Display for Literal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Atom { negated, atom } => {
                f.write_str(if *negated { "not " } else { "" })?;
                atom.fmt(f)
            }
            Self::Comparison { left, relation, right, .. } => write!(f, "{left} {relation} {right}"),
            Self::Conditional { literal, condition } => {
                write!(f, "{literal} : ")?;
                join(f, condition, ", ")
            }
            Self::Aggregate(aggregate) => aggregate.fmt(f),
        }
    }
}

impl Display for Aggregate {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(if self.negated { "not " } else { "" })?;
        if let Some((term, relation)) = &self.left {
            write!(f, "{term} {relation} ")?;
        }
        write!(f, "#{} {{ ", self.function)?;
        join(f, &self.elements, "; ")?;
        f.write_str(" }")?;
        self.right.iter().try_for_each(|(relation, term)| write!(f, " {relation} {term}"))
    }
}

impl Display for AggregateElement {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        join(f, &self.terms, ", ")?;
        condition(f, &self.condition)
    }
}

impl Display for Atom {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        arguments(f, &self.arguments)
    }
}

fn arguments(f: &mut Formatter<'_>, terms: &[Term]) -> fmt::Result {
    if terms.is_empty() {
        return Ok(());
    }
    f.write_str("(")?;
    join(f, terms, ", ")?;
    f.write_str(")")
}

impl Display for Relation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Equal => "=",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
        })
    }
}

/// Precedence of a term; a term that binds looser than its context is put in parentheses.
fn strength(term: &Term) -> u8 {
    match term {
        Term::Interval(..) => 0,
        Term::Binary { operator, .. } => binary_strength(operator),
        Term::Minus(_) => 4,
        // A negative number is written with the sign of `Minus`.
        Term::Number(number) if *number < 0 => 4,
        _ => 5,
    }
}

/// `+`, `-`: 1; `*`, `/`, `\`: 2; `**`: 3.
pub(super) fn binary_strength(operator: &str) -> u8 {
    match operator {
        "+" | "-" => 1,
        "**" => 3,
        _ => 2,
    }
}

fn at_least(f: &mut Formatter<'_>, term: &Term, least: u8) -> fmt::Result {
    if strength(term) < least { write!(f, "({term})") } else { term.fmt(f) }
}

impl Display for Term {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => quoted(f, text),
            Self::Variable(name) => f.write_str(name),
            Self::Anonymous => f.write_str("_"),
            Self::Function { name, arguments: terms } if name.is_empty() => {
                f.write_str("(")?;
                join(f, terms, ", ")?;
                // With one term and no comma these would be mere parentheses.
                f.write_str(if terms.len() == 1 { ",)" } else { ")" })
            }
            Self::Function { name, arguments: terms } => {
                f.write_str(name)?;
                arguments(f, terms)
            }
            Self::External { name, arguments: terms } => {
                write!(f, "@{name}(")?;
                join(f, terms, ", ")?;
                f.write_str(")")
            }
            Self::Minus(term) => {
                f.write_str("-")?;
                // `-5` is the number, so a sign before a literal number keeps its parentheses.
                let least = if matches!(**term, Self::Number(_)) { 6 } else { 4 };
                at_least(f, term, least)
            }
            Self::Binary { operator, left, right } => {
                let own = binary_strength(operator);
                let to_the_right = operator == "**";
                at_least(f, left, own + u8::from(to_the_right))?;
                write!(f, " {operator} ")?;
                at_least(f, right, own + u8::from(!to_the_right))
            }
            Self::Interval(from, to) => {
                at_least(f, from, 1)?;
                f.write_str("..")?;
                at_least(f, to, 1)
            }
        }
    }
}

fn quoted(f: &mut Formatter<'_>, text: &str) -> fmt::Result {
    f.write_char('"')?;
    for c in text.chars() {
        match c {
            '\n' => f.write_str("\\n")?,
            '"' | '\\' => write!(f, "\\{c}")?,
            c => f.write_char(c)?,
        }
    }
    f.write_char('"')
}
