//! The tree of a program. Each statement and atom has its place in the source.

use planforge_diagnostics::Span;

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
