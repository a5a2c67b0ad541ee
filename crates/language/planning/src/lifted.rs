//! The normalised task before grounding: names resolved to numbers, conditions in negation normal form, effects
//! flattened. Validation executes it directly; grounding instantiates it.

use crate::task::{Atom, ObjectId, SourcePlace, Symbols, TaskText, Unsupported};
use planforge_diagnostics::Span;
use planforge_pddl::ast::{ArithmeticOp, AssignOp, CompareOp};
use std::sync::Arc;

/// An argument: a slot of the binding or an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Term {
    /// The object bound to that slot.
    Slot(u32),
    /// That object.
    Object(ObjectId),
}

impl Term {
    /// The object under a binding.
    #[inline]
    pub fn object(self, binding: &[ObjectId]) -> ObjectId {
        match self {
            Term::Slot(slot) => binding[slot as usize],
            Term::Object(object) => object,
        }
    }
}

/// A predicate or function applied to terms.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LiftedAtom {
    /// Index of the predicate (or function).
    pub predicate: u32,
    /// Arguments.
    pub args: Box<[Term]>,
}

impl LiftedAtom {
    /// The ground atom under a binding.
    pub fn instantiate(&self, binding: &[ObjectId]) -> Atom {
        Atom { predicate: self.predicate, args: self.args.iter().map(|t| t.object(binding)).collect() }
    }
}

/// A variable: its slot and the objects of its type.
#[derive(Debug, Clone)]
pub struct Variable {
    /// As written, with its question mark.
    pub name: String,
    /// Position in the binding.
    pub slot: u32,
    /// The objects it ranges over, ascending.
    pub objects: Arc<[ObjectId]>,
    /// Its type as written, for messages.
    pub type_name: String,
}

/// A numeric expression over a binding.
#[derive(Debug, Clone, PartialEq)]
pub enum LiftedExpr {
    /// A number.
    Constant(f64),
    /// The number of steps so far: what `total-time` means without durations. In metrics only.
    Steps,
    /// A function term.
    Function(LiftedAtom),
    /// An operation.
    Binary(ArithmeticOp, Box<(LiftedExpr, LiftedExpr)>),
}

/// A condition in negation normal form.
#[derive(Debug, Clone)]
pub enum Formula {
    /// A conjunction; true when empty.
    And(Vec<Formula>),
    /// A disjunction; false when empty.
    Or(Vec<Formula>, Span),
    /// An atom or its negation.
    Literal {
        /// The atom.
        atom: LiftedAtom,
        /// Whether it must not hold.
        negated: bool,
        /// Where.
        span: Span,
    },
    /// Two terms are (or are not) the same object.
    Equal {
        /// One term.
        left: Term,
        /// The other.
        right: Term,
        /// Whether they must differ.
        negated: bool,
        /// Where.
        span: Span,
    },
    /// A numeric comparison.
    Compare {
        /// How.
        comparison: CompareOp,
        /// Left side.
        left: LiftedExpr,
        /// Right side.
        right: LiftedExpr,
        /// Where.
        span: Span,
    },
    /// For some binding of the variables.
    Exists(Vec<Variable>, Box<Formula>, Span),
    /// For every binding of the variables.
    Forall(Vec<Variable>, Box<Formula>, Span),
}

impl Formula {
    /// The empty conjunction.
    pub fn truth() -> Self {
        Formula::And(Vec::new())
    }

    /// Whether it is the empty conjunction.
    pub fn is_truth(&self) -> bool {
        matches!(self, Formula::And(parts) if parts.is_empty())
    }

    /// Calls `f` on every literal.
    pub fn for_each_literal(&self, f: &mut impl FnMut(&LiftedAtom, bool, Span)) {
        match self {
            Formula::And(parts) | Formula::Or(parts, _) => parts.iter().for_each(|p| p.for_each_literal(f)),
            Formula::Literal { atom, negated, span } => f(atom, *negated, *span),
            Formula::Exists(_, body, _) | Formula::Forall(_, body, _) => body.for_each_literal(f),
            Formula::Equal { .. } | Formula::Compare { .. } => {}
        }
    }
}

/// One change.
#[derive(Debug, Clone)]
pub enum EffectChange {
    /// The atom becomes true.
    Add(LiftedAtom),
    /// The atom becomes false.
    Delete(LiftedAtom),
    /// A number changes.
    Numeric(AssignOp, LiftedAtom, LiftedExpr),
}

/// Changes that share their quantified variables and condition.
#[derive(Debug, Clone)]
pub struct EffectGroup {
    /// Variables of enclosing `forall`s.
    pub variables: Vec<Variable>,
    /// Conjunction of the enclosing `when`s.
    pub condition: Formula,
    /// What changes, with its place.
    pub changes: Vec<(EffectChange, Span)>,
}

impl EffectGroup {
    /// Whether it takes place once, in any state.
    pub fn is_plain(&self) -> bool {
        self.variables.is_empty() && self.condition.is_truth()
    }
}

/// An action schema.
#[derive(Debug, Clone)]
pub struct ActionSchema {
    /// Parameters, then the `:vars` of PDDL 1.2. Slot `i` is variable `i`.
    pub variables: Vec<Variable>,
    /// How many of them plans name.
    pub parameters: usize,
    /// Slots used in all, quantified variables included.
    pub slots: usize,
    /// The precondition.
    pub precondition: Formula,
    /// The effects.
    pub effects: Vec<EffectGroup>,
    /// The definition.
    pub span: Span,
}

/// A rule of a derived predicate.
#[derive(Debug, Clone)]
pub struct DerivedRule {
    /// The predicate derived.
    pub predicate: u32,
    /// Its variables; slot `i` is argument `i`.
    pub variables: Vec<Variable>,
    /// Slots used in all.
    pub slots: usize,
    /// When it holds.
    pub body: Formula,
    /// Rules of lower strata are evaluated first.
    pub stratum: u32,
    /// The definition.
    pub span: Span,
}

/// A declared predicate.
#[derive(Debug, Clone)]
pub struct Predicate {
    /// Number of arguments.
    pub arity: usize,
    /// Objects that each argument ranges over.
    pub arguments: Vec<Arc<[ObjectId]>>,
    /// Whether rules define it.
    pub derived: bool,
    /// Whether an effect changes it or a rule defines it.
    pub fluent: bool,
    /// The declaration.
    pub span: Span,
}

/// What a plan costs.
#[derive(Debug, Clone)]
pub enum Metric {
    /// The number of steps: the problem has no metric.
    Steps,
    /// The value of an expression over the last state, and whether more is better.
    Value {
        /// The expression.
        expr: LiftedExpr,
        /// Whether more is better.
        maximize: bool,
        /// Where.
        span: Span,
    },
}

/// A domain and a problem with every name resolved.
#[derive(Debug, Clone)]
pub struct LiftedTask {
    /// Names by number.
    pub symbols: Arc<Symbols>,
    /// Predicates by number.
    pub predicates: Vec<Predicate>,
    /// Number of arguments of each function.
    pub function_arity: Vec<usize>,
    /// Whether an effect changes the function.
    pub function_fluent: Vec<bool>,
    /// Action schemas by number.
    pub schemas: Vec<ActionSchema>,
    /// Rules, ascending by stratum.
    pub rules: Vec<DerivedRule>,
    /// Atoms that hold initially.
    pub init: Vec<Atom>,
    /// Function terms with an initial value.
    pub init_numbers: Vec<(Atom, f64)>,
    /// The goal.
    pub goal: Formula,
    /// Slots that the goal's quantifiers use.
    pub goal_slots: usize,
    /// What a plan costs.
    pub metric: Metric,
    /// Constructs that neither validation nor search handles.
    pub unsupported: Vec<Unsupported>,
    /// Types each object was declared with, for messages.
    pub object_types: Vec<String>,
}

impl SourcePlace {
    /// A place in the domain.
    pub fn domain(span: Span) -> Self {
        SourcePlace { text: TaskText::Domain, span }
    }
    /// A place in the problem.
    pub fn problem(span: Span) -> Self {
        SourcePlace { text: TaskText::Problem, span }
    }
}
