//! The tree of a program. Each statement and atom has its place in the source.

use planforge_diagnostics::Span;

/// A program: its statements in the order of the text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Program {
    /// The statements.
    pub statements: Vec<Statement>,
}

/// One statement up to its dot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// What it says.
    pub kind: StatementKind,
    /// From its first character to its dot.
    pub span: Span,
}

/// The kinds of statements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StatementKind {
    /// A fact, rule, choice or constraint.
    Rule(Rule),
    /// `#name ... .`: anything with a hash sign in front, kept as it is written. The name has no hash sign.
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
    /// What follows.
    pub head: Head,
    /// From what; empty in a fact.
    pub body: Vec<Literal>,
}

/// The head of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Head {
    /// One atom.
    Atom(Atom),
    /// `lower { atom : condition; ... } upper`.
    Choice {
        /// At least so many.
        lower: Option<Term>,
        /// What may be chosen.
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
    /// The atom.
    pub atom: Atom,
    /// When it may be chosen.
    pub condition: Vec<Literal>,
}

/// One condition of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Literal {
    /// `p(X)`, `not p(X)`.
    Atom {
        /// Whether `not` stands before it.
        negated: bool,
        /// The atom.
        atom: Atom,
    },
    /// `X < Y`, `X = 1..N`; `not X < Y` is written as its opposite.
    Comparison {
        /// Left side.
        left: Term,
        /// The relation.
        relation: Relation,
        /// Right side.
        right: Term,
        /// Where it stands.
        span: Span,
    },
    /// `p(X) : q(X), r(X)`: for all that satisfy the condition.
    Conditional {
        /// The literal.
        literal: Box<Literal>,
        /// The condition.
        condition: Vec<Literal>,
    },
    /// `N < #count { X : p(X) } < M`.
    Aggregate(Aggregate),
}

/// `left R1 #function { terms : condition; ... } R2 right`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Aggregate {
    /// Whether `not` stands before it.
    pub negated: bool,
    /// `count`, `sum`, `sum+`, `min` or `max`.
    pub function: String,
    /// What it ranges over.
    pub elements: Vec<AggregateElement>,
    /// The guard on its left, as written: `N <`.
    pub left: Option<(Term, Relation)>,
    /// The guard on its right: `< M`.
    pub right: Option<(Relation, Term)>,
    /// Where it stands.
    pub span: Span,
}

/// One element of an aggregate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AggregateElement {
    /// The tuple that is counted.
    pub terms: Vec<Term>,
    /// When.
    pub condition: Vec<Literal>,
}

/// `name(arguments)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Atom {
    /// The predicate.
    pub name: String,
    /// Its arguments.
    pub arguments: Vec<Term>,
    /// Where it stands.
    pub span: Span,
}

/// Relations between terms.
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

/// A term.
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
        /// The arguments.
        arguments: Vec<Term>,
    },
    /// `@id(T, N)`.
    External {
        /// The name, without the at sign.
        name: String,
        /// The arguments.
        arguments: Vec<Term>,
    },
    /// `-X`.
    Minus(Box<Term>),
    /// `N - 1`; the operator is `+`, `-`, `*`, `/`, `\` or `**`.
    Binary {
        /// The operator.
        operator: String,
        /// Left side.
        left: Box<Term>,
        /// Right side.
        right: Box<Term>,
    },
    /// `1..N`.
    Interval(Box<Term>, Box<Term>),
}

impl Term {
    /// The name of a constant: a function without arguments that is no tuple.
    pub fn as_constant(&self) -> Option<&str> {
        match self {
            Self::Function { name, arguments } if arguments.is_empty() && !name.is_empty() => Some(name),
            _ => None,
        }
    }
}
