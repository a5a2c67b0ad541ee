//! The typed tree of a domain and of a problem.
//!
//! The reader always returns a tree. Parts that a faulty text lacks are `None` or empty, and a diagnostic
//! reports them. Every node has the span of the text it was read from. Equality compares spans; call
//! `strip_spans` on both sides (see [`crate::StripSpans`]) to compare the content alone.

use crate::name::Name;
use crate::number::Number;
use planforge_diagnostics::Span;
use smallvec::SmallVec;

/// Result of reading a text: always a value, together with all findings.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed<T> {
    /// The readable parts of the definition.
    pub value: T,
    /// Findings about the syntax, in the order of the text.
    pub diagnostics: Vec<planforge_diagnostics::Diagnostic>,
}

impl<T> Parsed<T> {
    /// Returns true if part of the text could not be read.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(planforge_diagnostics::Diagnostic::is_error)
    }
}

/// One section of a definition, in the order of the text: `(:predicates ...)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// The keyword with its colon.
    pub keyword: Name,
    /// From its opening to its closing parenthesis.
    pub span: Span,
}

/// A planning domain as a typed tree.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Domain {
    /// The name in `(domain NAME)`.
    pub name: Option<Name>,
    /// Declared requirements with their colons, as written and in order.
    pub requirements: Vec<Name>,
    /// Declared types; `ty` is the parent. A type may be declared several times, under several parents.
    pub types: Vec<TypedName>,
    /// Objects that every problem of the domain has.
    pub constants: Vec<TypedName>,
    /// Declared predicates, in the order of the text.
    pub predicates: Vec<PredicateDecl>,
    /// Declared numeric functions, in the order of the text.
    pub functions: Vec<FunctionDecl>,
    /// Instantaneous action schemas, in the order of the text.
    pub actions: Vec<Action>,
    /// Durative action schemas (PDDL 2.1).
    pub durative_actions: Vec<DurativeAction>,
    /// Derived predicates (PDDL 2.2), and the axioms of PDDL 1.2.
    pub derived: Vec<Derived>,
    /// Trajectory constraints (PDDL 3.0).
    pub constraints: Option<Condition>,
    /// The sections in the order of the text; empty in a tree that was not read.
    pub sections: Vec<Section>,
    /// From `(define` to its closing parenthesis.
    pub span: Span,
}

/// A planning problem as a typed tree.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Problem {
    /// The name in `(problem NAME)`.
    pub name: Option<Name>,
    /// The name in `(:domain NAME)`.
    pub domain_name: Option<Name>,
    /// Requirements that the problem declares.
    pub requirements: Vec<Name>,
    /// The objects, without the domain's constants.
    pub objects: Vec<TypedName>,
    /// The initial state, in order.
    pub init: Vec<InitElement>,
    /// Condition on the last state of a plan.
    pub goal: Option<Condition>,
    /// Trajectory constraints and preferences (PDDL 3.0).
    pub constraints: Option<Condition>,
    /// The quantity that a plan should minimise or maximise.
    pub metric: Option<Metric>,
    /// `(:situation NAME)` of PDDL 1.2; read and kept, without meaning here.
    pub situation: Option<Name>,
    /// `(:length ...)` of PDDL 1.2; read and kept, without meaning here.
    pub length: Option<Length>,
    /// The sections in the order of the text; empty in a tree that was not read.
    pub sections: Vec<Section>,
    /// From `(define` to its closing parenthesis.
    pub span: Span,
}

/// A type: one name, or `(either a b)`.
#[derive(Debug, Clone, PartialEq)]
pub struct TypeRef {
    /// The alternatives; one for a plain type, never none.
    pub alternatives: SmallVec<[Name; 1]>,
    /// The type as written.
    pub span: Span,
}

impl TypeRef {
    /// Returns the reference to a single type.
    pub fn single(name: Name) -> Self {
        let span = name.span;
        Self { alternatives: SmallVec::from_iter([name]), span }
    }
    /// Returns true for `(either ...)` with several alternatives.
    pub fn is_either(&self) -> bool {
        self.alternatives.len() > 1
    }
}

/// An entry of a typed list: a type and its parent, an object, a constant, a parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct TypedName {
    /// The name; a variable keeps its question mark.
    pub name: Name,
    /// The type after the dash; `None` means `object`.
    pub ty: Option<TypeRef>,
}

/// A predicate with its parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct PredicateDecl {
    /// Name of the predicate.
    pub name: Name,
    /// Parameters with their types.
    pub parameters: Vec<TypedName>,
    /// The declaration with its parentheses.
    pub span: Span,
}

/// A numeric function with its parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionDecl {
    /// Name of the function.
    pub name: Name,
    /// Parameters with their types.
    pub parameters: Vec<TypedName>,
    /// The type after the dash, usually `number`.
    pub ty: Option<TypeRef>,
    /// The declaration with its parentheses.
    pub span: Span,
}

/// An instantaneous action schema.
#[derive(Debug, Clone, PartialEq)]
pub struct Action {
    /// The action's name; empty when the text forgot it.
    pub name: Name,
    /// The parameters, in the order plans name them.
    pub parameters: Vec<TypedName>,
    /// `:vars` of PDDL 1.2: bound by the precondition like parameters, but not named in plans.
    pub vars: Vec<TypedName>,
    /// The precondition; `None` when there is none, which means true.
    pub precondition: Option<Condition>,
    /// Changes made by the action.
    pub effect: Option<Effect>,
    /// The whole definition with its parentheses.
    pub span: Span,
}

/// A durative action schema.
#[derive(Debug, Clone, PartialEq)]
pub struct DurativeAction {
    /// The action's name; empty when the text forgot it.
    pub name: Name,
    /// The parameters, in the order plans name them.
    pub parameters: Vec<TypedName>,
    /// The duration constraint: comparisons with [`NumericExpr::Duration`] on one side.
    pub duration: Option<Condition>,
    /// The condition, made of [`Condition::Timed`] parts.
    pub condition: Option<Condition>,
    /// The effect, made of [`Effect::Timed`] parts.
    pub effect: Option<Effect>,
    /// The whole definition with its parentheses.
    pub span: Span,
}

/// A derived predicate's rule: the head holds where the condition does.
#[derive(Debug, Clone, PartialEq)]
pub struct Derived {
    /// The derived predicate.
    pub predicate: Name,
    /// The head's variables. A type may be missing here although the predicate's declaration has one.
    pub parameters: Vec<TypedName>,
    /// The body; `None` when it could not be read.
    pub condition: Option<Condition>,
    /// The whole rule with its parentheses.
    pub span: Span,
}

/// An argument of an atom or a numeric fluent.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Term {
    /// A variable, with its question mark.
    Variable(Name),
    /// An object or constant.
    Constant(Name),
}

impl Term {
    /// The name in either case.
    pub fn name(&self) -> &Name {
        match self {
            Term::Variable(name) | Term::Constant(name) => name,
        }
    }
    /// Returns the term's place in the text.
    pub fn span(&self) -> Span {
        self.name().span
    }
    /// Returns true for a variable.
    pub fn is_variable(&self) -> bool {
        matches!(self, Term::Variable(_))
    }
}

/// A predicate applied to terms.
#[derive(Debug, Clone, PartialEq)]
pub struct Atom {
    /// Name of the predicate.
    pub predicate: Name,
    /// Arguments, in order.
    pub args: Vec<Term>,
    /// The atom with its parentheses.
    pub span: Span,
}

/// A numeric function applied to terms.
#[derive(Debug, Clone, PartialEq)]
pub struct Fluent {
    /// Name of the function.
    pub function: Name,
    /// Arguments, in order.
    pub args: Vec<Term>,
    /// The term with its parentheses.
    pub span: Span,
}

/// Quantified variables and their scope.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantified<T> {
    /// The variables bound here.
    pub parameters: Vec<TypedName>,
    /// The scope of the variables.
    pub body: Box<T>,
    /// The whole expression with its parentheses.
    pub span: Span,
}

/// A precondition, goal, duration constraint, rule body or trajectory constraint.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// All of them; true when empty. `()` is read as the empty conjunction.
    And(Vec<Condition>, Span),
    /// One of them; false when empty.
    Or(Vec<Condition>, Span),
    /// The negation of a condition.
    Not(Box<Condition>, Span),
    /// An implication: premise, then conclusion.
    Imply(Box<Condition>, Box<Condition>, Span),
    /// True for some binding of the variables.
    Exists(Quantified<Condition>),
    /// True for every binding of the variables.
    Forall(Quantified<Condition>),
    /// An atom that must hold.
    Atom(Atom),
    /// Two terms are the same object.
    Equal(Term, Term, Span),
    /// A comparison of two numbers.
    Compare(Comparison),
    /// A soft condition (PDDL 3.0).
    Preference(Preference),
    /// A condition of a durative action with its time; `at end` also occurs in trajectory constraints.
    Timed(TimeSpecifier, Box<Condition>, Span),
    /// A trajectory constraint (PDDL 3.0).
    Trajectory(Trajectory),
}

impl Condition {
    /// The expression with its parentheses.
    pub fn span(&self) -> Span {
        match self {
            Condition::And(_, span)
            | Condition::Or(_, span)
            | Condition::Not(_, span)
            | Condition::Imply(_, _, span)
            | Condition::Equal(_, _, span)
            | Condition::Timed(_, _, span) => *span,
            Condition::Exists(q) | Condition::Forall(q) => q.span,
            Condition::Atom(atom) => atom.span,
            Condition::Compare(c) => c.span,
            Condition::Preference(p) => p.span,
            Condition::Trajectory(t) => t.span,
        }
    }

    /// The parts of the outermost conjunction; the condition itself when it is none.
    pub fn conjuncts(&self) -> &[Condition] {
        match self {
            Condition::And(parts, _) => parts,
            other => std::slice::from_ref(other),
        }
    }

    /// Returns true for the empty conjunction.
    pub fn is_empty(&self) -> bool {
        matches!(self, Condition::And(parts, _) if parts.is_empty())
    }
}

/// A soft condition (PDDL 3).
#[derive(Debug, Clone, PartialEq)]
pub struct Preference {
    /// Its name, as `is-violated` counts it.
    pub name: Option<Name>,
    /// The preferred condition.
    pub condition: Box<Condition>,
    /// The whole expression with its parentheses.
    pub span: Span,
}

/// Time at which a part of a durative action applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TimeSpecifier {
    /// `at start`
    Start,
    /// `over all`; conditions only.
    OverAll,
    /// `at end`
    End,
}

/// A constraint on the states a plan passes.
#[derive(Debug, Clone, PartialEq)]
pub struct Trajectory {
    /// Kind of the constraint.
    pub op: TrajectoryOp,
    /// The times in its head: none, one or two, as the operator has it.
    pub times: Vec<Number>,
    /// The conditions, one or two, as the operator has it.
    pub conditions: Vec<Condition>,
    /// The whole expression with its parentheses.
    pub span: Span,
}

/// Trajectory operators of PDDL 3.0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TrajectoryOp {
    /// `always`
    Always,
    /// `sometime`
    Sometime,
    /// `within T`
    Within,
    /// `at-most-once`
    AtMostOnce,
    /// `sometime-after`: two conditions
    SometimeAfter,
    /// `sometime-before`: two conditions
    SometimeBefore,
    /// `always-within T`: two conditions
    AlwaysWithin,
    /// `hold-during T T`
    HoldDuring,
    /// `hold-after T`
    HoldAfter,
}

/// An effect, possibly compound.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// All of the effects.
    And(Vec<Effect>, Span),
    /// The effect for every binding of the variables.
    Forall(Quantified<Effect>),
    /// An effect under a condition.
    When(Box<Condition>, Box<Effect>, Span),
    /// The atom becomes true.
    Add(Atom),
    /// The atom becomes false; the span is that of `(not ...)`.
    Delete(Atom, Span),
    /// A numeric fluent changes.
    Assign(Assignment),
    /// An effect of a durative action with its time, `at start` or `at end`.
    Timed(TimeSpecifier, Box<Effect>, Span),
}

impl Domain {
    /// Returns true if no action has an effect. Such a domain, for example a copy of a template, can be read
    /// without an error and describes nothing.
    pub fn is_without_effects(&self) -> bool {
        let effects = self.actions.iter().map(|action| &action.effect);
        let timed = self.durative_actions.iter().map(|action| &action.effect);
        effects.chain(timed).flatten().all(Effect::changes_nothing)
    }
}

impl Effect {
    /// Returns true if it contains neither a literal nor an assignment.
    pub fn changes_nothing(&self) -> bool {
        match self {
            Effect::And(parts, _) => parts.iter().all(Effect::changes_nothing),
            Effect::Forall(quantified) => quantified.body.changes_nothing(),
            Effect::When(_, effect, _) | Effect::Timed(_, effect, _) => effect.changes_nothing(),
            Effect::Add(_) | Effect::Delete(..) | Effect::Assign(_) => false,
        }
    }

    /// The expression with its parentheses.
    pub fn span(&self) -> Span {
        match self {
            Effect::And(_, span)
            | Effect::When(_, _, span)
            | Effect::Delete(_, span)
            | Effect::Timed(_, _, span) => *span,
            Effect::Forall(q) => q.span,
            Effect::Add(atom) => atom.span,
            Effect::Assign(a) => a.span,
        }
    }

    /// The parts of the outermost conjunction; the effect itself when it is none.
    pub fn conjuncts(&self) -> &[Effect] {
        match self {
            Effect::And(parts, _) => parts,
            other => std::slice::from_ref(other),
        }
    }
}

/// An entry of the initial state.
#[derive(Debug, Clone, PartialEq)]
pub enum InitElement {
    /// The atom holds. Its arguments are constants unless a diagnostic reports otherwise.
    Atom(Atom),
    /// The atom explicitly does not hold; the span is that of `(not ...)`.
    Not(Atom, Span),
    /// The fluent has this value.
    Value(Fluent, Number, Span),
    /// A timed initial literal (PDDL 2.2): true or false (`negated`) from `time` on, or a value that is set then.
    Timed {
        /// Time of the plan at which the entry takes effect.
        time: Number,
        /// The entry itself; never timed.
        element: Box<InitElement>,
        /// The entry with its parentheses.
        span: Span,
    },
}

impl InitElement {
    /// The entry with its parentheses.
    pub fn span(&self) -> Span {
        match self {
            InitElement::Atom(atom) => atom.span,
            InitElement::Not(_, span) | InitElement::Value(_, _, span) => *span,
            InitElement::Timed { span, .. } => *span,
        }
    }
}

/// Quantity that a plan should optimise.
#[derive(Debug, Clone, PartialEq)]
pub struct Metric {
    /// Direction of the optimisation.
    pub direction: MetricDirection,
    /// The quantity, evaluated in the last state.
    pub expr: NumericExpr,
    /// The section with its parentheses.
    pub span: Span,
}

/// Direction of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MetricDirection {
    /// Smaller values are better.
    Minimize,
    /// Larger values are better.
    Maximize,
}

/// Plan lengths that a PDDL 1.2 problem promises.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Length {
    /// `(:serial N)`
    pub serial: Option<u64>,
    /// `(:parallel N)`
    pub parallel: Option<u64>,
}

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
