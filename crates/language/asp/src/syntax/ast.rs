//! The tree of a program. Each statement and atom has its place in the source.

use planforge_diagnostics::Span;
use std::fmt::{self, Display, Formatter, Write};

/// A program: its statements in the order of the text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Program {
    pub statements: Vec<Statement>,
}

/// One statement up to its dot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    pub kind: StatementKind,
    /// From its first character to its dot.
    pub span: Span,
}

/// The kinds of statements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StatementKind {
    /// A fact, rule, choice or constraint.
    Rule(Rule),
    /// `#name ... .`: any directive, kept as written. The name excludes the hash sign.
    Directive {
        /// `show`, `const`, `include`, `script`, ...
        name: String,
        /// The whole statement as written.
        text: String,
    },
}

/// `head :- body.`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    pub head: Head,
    /// From what; empty in a fact.
    pub body: Vec<Literal>,
}

/// The head of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Head {
    Atom(Atom),
    /// `lower { atom : condition; ... } upper`.
    Choice {
        /// Lower bound.
        lower: Option<Term>,
        elements: Vec<ChoiceElement>,
        /// At most so many.
        upper: Option<Term>,
    },
    /// None: the body must not hold.
    Constraint,
}

/// One element of a choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChoiceElement {
    pub atom: Atom,
    pub condition: Vec<Literal>,
}

/// One condition of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Literal {
    /// `p(X)`, `not p(X)`.
    Atom {
        /// True behind `not`.
        negated: bool,
        atom: Atom,
    },
    /// `X < Y`, `X = 1..N`; `not X < Y` is written as its opposite.
    Comparison { left: Term, relation: Relation, right: Term, span: Span },
    /// `p(X) : q(X), r(X)`: for all that satisfy the condition.
    Conditional { literal: Box<Literal>, condition: Vec<Literal> },
    /// `N < #count { X : p(X) } < M`.
    Aggregate(Aggregate),
}

/// `left R1 #function { terms : condition; ... } R2 right`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Aggregate {
    /// True behind `not`.
    pub negated: bool,
    /// `count`, `sum`, `sum+`, `min` or `max`.
    pub function: String,
    pub elements: Vec<AggregateElement>,
    /// The guard on its left, as written: `N <`.
    pub left: Option<(Term, Relation)>,
    /// The guard on its right: `< M`.
    pub right: Option<(Relation, Term)>,
    pub span: Span,
}

/// One element of an aggregate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AggregateElement {
    /// The tuple that is counted.
    pub terms: Vec<Term>,
    pub condition: Vec<Literal>,
}

/// `name(arguments)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Atom {
    pub name: String,
    pub arguments: Vec<Term>,
    pub span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are the relations")]
pub enum Relation {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Term {
    /// `42`.
    Number(i64),
    /// `"text"`, without its quotes and escapes.
    Text(String),
    /// `X`.
    Variable(String),
    /// `_`.
    Anonymous,
    /// `shot1`, `on(b1, b2)`, and a tuple where the name is empty.
    Function {
        /// The name; empty for a tuple.
        name: String,
        arguments: Vec<Term>,
    },
    /// `@id(T, N)`.
    External {
        /// The name, without the at sign.
        name: String,
        arguments: Vec<Term>,
    },
    /// `-X`.
    Minus(Box<Term>),
    /// `N - 1`; the operator is `+`, `-`, `*`, `/`, `\` or `**`.
    Binary { operator: String, left: Box<Term>, right: Box<Term> },
    /// `1..N`.
    Interval(Box<Term>, Box<Term>),
}

impl Term {
    /// Name of a constant: a function without arguments that is not a tuple.
    pub fn as_constant(&self) -> Option<&str> {
        match self {
            Self::Function { name, arguments } if arguments.is_empty() && !name.is_empty() => Some(name),
            _ => None,
        }
    }
}

// Trees to text that clingo reads, and that `parse` reads as the same tree.

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

// Short ways to write trees.

/// A constant.
pub fn constant(name: &str) -> Term {
    function(name, Vec::new())
}

pub(crate) fn variable(name: &str) -> Term {
    Term::Variable(name.to_owned())
}

/// A function term; without arguments a constant.
pub fn function(name: &str, arguments: Vec<Term>) -> Term {
    Term::Function { name: name.to_owned(), arguments }
}

pub(crate) fn atom(name: &str, arguments: Vec<Term>, span: Span) -> Atom {
    Atom { name: name.to_owned(), arguments, span }
}

pub(crate) fn rule(head: Atom, body: Vec<Atom>) -> Rule {
    let body = body.into_iter().map(|atom| Literal::Atom { negated: false, atom }).collect();
    Rule { head: Head::Atom(head), body }
}
