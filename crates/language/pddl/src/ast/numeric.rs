//! Numbers: expressions, comparisons and assignments (PDDL 2.1).

use super::Fluent;
use crate::name::Name;
use crate::number::Number;
use planforge_diagnostics::Span;

/// A numeric expression, such as `(+ (distance ?a ?b) 1)`.
#[derive(Debug, Clone, PartialEq)]
pub enum NumericExpr {
    /// A literal.
    Number(Number, Span),
    /// The value of a numeric function.
    Fluent(Fluent),
    /// `+ - * /` over its arguments: `-` has one or two, `/` two, the others two or more.
    Arithmetic(ArithmeticOp, Vec<NumericExpr>, Span),
    /// `?duration` of a durative action.
    Duration(Span),
    /// `#t`: time since the start of a durative action, for continuous effects.
    ElapsedTime(Span),
    /// `total-time`, in a metric.
    TotalTime(Span),
    /// `(is-violated NAME)`, in a metric.
    IsViolated(Name, Span),
}

impl NumericExpr {
    /// The expression with its parentheses.
    pub fn span(&self) -> Span {
        match self {
            NumericExpr::Fluent(f) => f.span,
            NumericExpr::Number(_, span)
            | NumericExpr::Arithmetic(_, _, span)
            | NumericExpr::Duration(span)
            | NumericExpr::ElapsedTime(span)
            | NumericExpr::TotalTime(span)
            | NumericExpr::IsViolated(_, span) => *span,
        }
    }
}

/// A comparison of two numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The operator.
    pub op: CompareOp,
    /// Left side.
    pub left: NumericExpr,
    /// Right side.
    pub right: NumericExpr,
    /// The comparison with its parentheses.
    pub span: Span,
}

/// Comparison operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CompareOp {
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `=`
    Equal,
    /// `>=`
    GreaterEqual,
    /// `>`
    Greater,
}

impl CompareOp {
    /// Compares two values. An undefined value makes every comparison false.
    #[inline]
    pub fn holds(self, a: Number, b: Number) -> bool {
        a.compare(b).is_some_and(|order| match self {
            CompareOp::Less => order.is_lt(),
            CompareOp::LessEqual => order.is_le(),
            CompareOp::Equal => order.is_eq(),
            CompareOp::GreaterEqual => order.is_ge(),
            CompareOp::Greater => order.is_gt(),
        })
    }

    /// The operator in PDDL syntax.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Equal => "=",
            Self::GreaterEqual => ">=",
            Self::Greater => ">",
        }
    }
}

/// Arithmetic operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ArithmeticOp {
    /// `+`
    Add,
    /// `-`, of one argument the negation
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
}

impl ArithmeticOp {
    /// Applies the operator. The result is undefined if a side is, or on division by zero.
    #[inline]
    pub fn apply(self, a: Number, b: Number) -> Number {
        match self {
            ArithmeticOp::Add => a + b,
            ArithmeticOp::Subtract => a - b,
            ArithmeticOp::Multiply => a * b,
            ArithmeticOp::Divide => a / b,
        }
    }

    /// The operator in PDDL syntax.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
        }
    }
}

/// A change of a numeric fluent.
#[derive(Debug, Clone, PartialEq)]
pub struct Assignment {
    /// The kind of change.
    pub op: AssignOp,
    /// The fluent that changes.
    pub fluent: Fluent,
    /// The new value or the amount.
    pub value: NumericExpr,
    /// The effect with its parentheses.
    pub span: Span,
}

/// Ways a numeric fluent changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AssignOp {
    /// `assign`
    Assign,
    /// `increase`
    Increase,
    /// `decrease`
    Decrease,
    /// `scale-up`
    ScaleUp,
    /// `scale-down`
    ScaleDown,
}

impl AssignOp {
    /// Returns the new value of a fluent that was `old`. Scaling down by zero is undefined.
    #[inline]
    pub fn apply(self, old: Number, value: Number) -> Number {
        match self {
            AssignOp::Assign => value,
            AssignOp::Increase => old + value,
            AssignOp::Decrease => old - value,
            AssignOp::ScaleUp => old * value,
            AssignOp::ScaleDown => old / value,
        }
    }

    /// Returns true for changes by an amount, which one step may make several times to one fluent.
    pub const fn is_additive(self) -> bool {
        matches!(self, AssignOp::Increase | AssignOp::Decrease)
    }

    /// The operator in PDDL syntax.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Assign => "assign",
            Self::Increase => "increase",
            Self::Decrease => "decrease",
            Self::ScaleUp => "scale-up",
            Self::ScaleDown => "scale-down",
        }
    }
}
