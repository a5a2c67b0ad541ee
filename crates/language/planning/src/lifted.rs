//! The normalised task before grounding: names resolved to numbers, conditions in negation normal form, effects
//! flattened. Validation executes it directly; grounding instantiates it. An [`Extension`] has what grounding does not handle: durative
//! actions (PDDL 2.1 level 3), timed initial literals (2.2), preferences and trajectory constraints (3.0).

use crate::task::{Atom, ObjectId, SourcePlace, Symbols, TaskText, Unsupported};
use planforge_diagnostics::Span;
use planforge_pddl::Number;
use planforge_pddl::ast::{ArithmeticOp, AssignOp, CompareOp, TrajectoryOp};
use std::fmt;
use std::sync::Arc;

/// An argument: a slot of the binding or an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Term {
    /// The object bound to that slot.
    Slot(u32),
    /// A fixed object.
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
    /// Arguments, one for each parameter of the predicate or function.
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
    /// A constant.
    Constant(Number),
    /// `total-time`: the number of steps so far, or the time of the last happening of a plan with times. In metrics only.
    Steps,
    /// `?duration` of a durative action.
    Duration,
    /// Violations of the preferences of a name, by its index. In metrics only.
    Violations(u32),
    /// The value of a function term.
    Function(LiftedAtom),
    /// An operation on two expressions.
    Binary(ArithmeticOp, Box<(LiftedExpr, LiftedExpr)>),
}

impl LiftedExpr {
    /// Calls `f` on every function term.
    pub(crate) fn for_each_function(&self, f: &mut impl FnMut(&LiftedAtom)) {
        match self {
            LiftedExpr::Constant(_)
            | LiftedExpr::Steps
            | LiftedExpr::Duration
            | LiftedExpr::Violations(_) => {}
            LiftedExpr::Function(term) => f(term),
            LiftedExpr::Binary(_, sides) => {
                sides.0.for_each_function(f);
                sides.1.for_each_function(f);
            }
        }
    }
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
        /// True if the atom must not hold.
        negated: bool,
        /// Place in the source text.
        span: Span,
    },
    /// Two terms are (or are not) the same object.
    Equal {
        /// The first term.
        left: Term,
        /// The second term.
        right: Term,
        /// True if the terms must differ.
        negated: bool,
        /// Place in the source text.
        span: Span,
    },
    /// A comparison of two numbers.
    Compare {
        /// The operator.
        comparison: CompareOp,
        /// Left side.
        left: LiftedExpr,
        /// Right side.
        right: LiftedExpr,
        /// Place in the source text.
        span: Span,
    },
    /// For some binding of the variables.
    Exists(Vec<Variable>, Box<Formula>, Span),
    /// For every binding of the variables.
    Forall(Vec<Variable>, Box<Formula>, Span),
}

impl Formula {
    /// Returns the empty conjunction, which is always true.
    pub fn truth() -> Self {
        Formula::And(Vec::new())
    }

    /// Returns true for the empty conjunction.
    pub fn is_truth(&self) -> bool {
        matches!(self, Formula::And(parts) if parts.is_empty())
    }

    /// Returns true if the condition compares numbers.
    pub(crate) fn has_comparison(&self) -> bool {
        match self {
            Formula::And(parts) | Formula::Or(parts, _) => parts.iter().any(Formula::has_comparison),
            Formula::Exists(_, body, _) | Formula::Forall(_, body, _) => body.has_comparison(),
            Formula::Compare { .. } => true,
            Formula::Literal { .. } | Formula::Equal { .. } => false,
        }
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

/// A single change of the state.
#[derive(Debug, Clone)]
pub enum EffectChange {
    /// The atom becomes true.
    Add(LiftedAtom),
    /// The atom becomes false.
    Delete(LiftedAtom),
    /// The value of a function term changes.
    Numeric(AssignOp, LiftedAtom, LiftedExpr),
}

/// Changes that share their quantified variables and condition.
#[derive(Debug, Clone)]
pub struct EffectGroup {
    /// Variables of enclosing `forall`s.
    pub variables: Vec<Variable>,
    /// Conjunction of the enclosing `when`s.
    pub condition: Formula,
    /// Changes, each with its place in the domain.
    pub changes: Vec<(EffectChange, Span)>,
}

impl EffectGroup {
    /// Returns true if the group has neither variables nor a condition, so that it takes place once in any
    /// state.
    pub fn is_plain(&self) -> bool {
        self.variables.is_empty() && self.condition.is_truth()
    }
}

/// An action schema with resolved names.
#[derive(Debug, Clone)]
pub struct ActionSchema {
    /// Parameters, then the `:vars` of PDDL 1.2. Slot `i` is variable `i`.
    pub variables: Vec<Variable>,
    /// Number of leading variables that are parameters, and so appear in plans.
    pub parameters: usize,
    /// Slots used in all, quantified variables included.
    pub slots: usize,
    /// Condition for the action to be applicable.
    pub precondition: Formula,
    /// Effects, grouped by variables and condition.
    pub effects: Vec<EffectGroup>,
    /// The definition in the domain.
    pub span: Span,
}

/// A rule of a derived predicate.
#[derive(Debug, Clone)]
pub struct DerivedRule {
    /// The derived predicate.
    pub predicate: u32,
    /// Its variables; slot `i` is argument `i`.
    pub variables: Vec<Variable>,
    /// Slots used in all.
    pub slots: usize,
    /// Condition under which the head holds.
    pub body: Formula,
    /// Rules of lower strata are evaluated first.
    pub stratum: u32,
    /// The definition in the domain.
    pub span: Span,
}

/// A declared predicate.
#[derive(Debug, Clone)]
pub struct Predicate {
    /// Number of arguments.
    pub arity: usize,
    /// Objects that each argument ranges over.
    pub arguments: Vec<Arc<[ObjectId]>>,
    /// True if rules define the predicate.
    pub derived: bool,
    /// True if an effect changes the predicate or a rule defines it.
    pub fluent: bool,
    /// The declaration in the domain.
    pub span: Span,
}

/// Cost of a plan.
#[derive(Debug, Clone)]
pub enum Metric {
    /// The number of steps: the problem has no metric.
    Steps,
    /// The value of an expression over the last state, and whether more is better.
    Value {
        /// The expression, evaluated in the last state.
        expr: LiftedExpr,
        /// True if higher values are better.
        maximize: bool,
        /// Place in the problem.
        span: Span,
    },
}

/// Names of what [`crate::plan`] compiles away and the other searches do not handle.
pub(crate) const PREFERENCE: &str = "a preference";
/// See [`PREFERENCE`].
pub(crate) const CONSTRAINTS: &str = "a trajectory constraint";

impl Unsupported {
    /// Returns true for preferences and trajectory constraints.
    pub(crate) fn is_wish(&self) -> bool {
        self.what == PREFERENCE || self.what == CONSTRAINTS
    }
}

/// Everything of a task that classical planning does not have.
#[derive(Debug, Clone, Default)]
pub struct Extension {
    /// Durative action schemas. The first has the number after the last instantaneous schema.
    pub durative: Vec<DurativeSchema>,
    /// Timed initial literals, ascending by time.
    pub timed: Vec<TimedChange>,
    /// Preferences in the order of the texts: those of the domain's actions and constraints, then those of the problem.
    pub preferences: Vec<Preference>,
    /// Names of preferences, each once, as `is-violated` has them.
    pub preference_names: Vec<String>,
    /// Conditions of preferences on one state: in the goal and in preconditions.
    pub soft_conditions: Vec<SoftCondition>,
    /// Trajectory constraints, those of preferences included.
    pub constraints: Vec<Constraint>,
}

impl Extension {
    /// Returns true if the task has durative actions or timed initial literals, so that its plans have times.
    pub const fn has_time(&self) -> bool {
        !self.durative.is_empty() || !self.timed.is_empty()
    }

    /// Returns true if the task has preferences or trajectory constraints.
    pub const fn has_wishes(&self) -> bool {
        !self.preferences.is_empty() || !self.constraints.is_empty()
    }

    /// Returns true for a classical task.
    pub const fn is_empty(&self) -> bool {
        !self.has_time() && !self.has_wishes()
    }
}

/// A durative action as its two ends, its invariant and the bounds of its duration. All share one binding.
#[derive(Debug, Clone)]
pub struct DurativeSchema {
    /// Condition and effects at the start.
    pub start: ActionSchema,
    /// Condition and effects at the end.
    pub end: ActionSchema,
    /// Condition that holds between start and end, both excluded.
    pub invariant: Formula,
    /// Comparisons that the duration satisfies.
    pub bounds: Vec<DurationBound>,
}

/// A comparison with the duration on its left side.
#[derive(Debug, Clone)]
pub struct DurationBound {
    /// True if the value is that at the end.
    pub at_end: bool,
    /// The operator.
    pub comparison: CompareOp,
    /// Right side.
    pub value: LiftedExpr,
    /// Place in the domain.
    pub span: Span,
}

/// A timed initial literal.
#[derive(Debug, Clone)]
pub struct TimedChange {
    /// Time from the start of the plan.
    pub time: Number,
    /// The change.
    pub change: TimedEffect,
    /// Place in the problem.
    pub span: Span,
}

/// Change of a timed initial literal.
#[derive(Debug, Clone)]
pub enum TimedEffect {
    /// The atom becomes true.
    Add(LiftedAtom),
    /// The atom becomes false.
    Delete(LiftedAtom),
    /// The function term gets a value.
    Set(LiftedAtom, Number),
}

/// A preference of the texts.
#[derive(Debug, Clone)]
pub struct Preference {
    /// Index of its name in [`Extension::preference_names`]; `None` if it has no name.
    pub name: Option<u32>,
    /// The preference with its parentheses.
    pub place: SourcePlace,
}

/// Place of a preference on one state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SoftPlace {
    /// In the goal.
    Goal,
    /// In the condition of an action, by the number of its schema.
    Action {
        /// Number of the schema.
        schema: u32,
        /// True for the end of a durative action.
        at_end: bool,
    },
}

/// A preferred condition on one state. Each binding of the variables under which it does not hold is a violation.
#[derive(Debug, Clone)]
pub struct SoftCondition {
    /// Index of the preference.
    pub preference: u32,
    /// State that it is about.
    pub place: SoftPlace,
    /// Variables of the enclosing `forall`s.
    pub variables: Vec<Variable>,
    /// Slots used in all.
    pub slots: usize,
    /// The condition.
    pub condition: Formula,
}

/// A trajectory constraint, or a preference for one. Each binding of the variables is an instance.
#[derive(Debug, Clone)]
pub struct Constraint {
    /// Index of the preference; `None` for a constraint that a valid plan satisfies.
    pub preference: Option<u32>,
    /// Variables of the `forall`s around a preference; none for a constraint that a valid plan satisfies.
    pub variables: Vec<Variable>,
    /// Slots used in all.
    pub slots: usize,
    /// An instance is satisfied if all of its parts are.
    pub parts: Vec<TrajectoryPart>,
}

/// A trajectory operator with its conditions, for every binding of its variables.
#[derive(Debug, Clone)]
pub struct TrajectoryPart {
    /// Variables of the `forall`s around the operator, below a preference.
    pub variables: Vec<Variable>,
    /// The operator.
    pub operator: TrajectoryKind,
    /// Its times: none, one or two.
    pub times: Vec<Number>,
    /// Its conditions, one or two.
    pub conditions: Vec<Formula>,
    /// The constraint with its parentheses.
    pub place: SourcePlace,
}

/// Kind of a trajectory constraint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrajectoryKind {
    /// `at end`
    AtEnd,
    /// Another operator.
    Over(TrajectoryOp),
}

impl TrajectoryKind {
    /// The operator in PDDL syntax.
    pub fn as_str(self) -> &'static str {
        match self {
            TrajectoryKind::AtEnd => "at end",
            TrajectoryKind::Over(operator) => operator.as_str(),
        }
    }
}

/// A domain and a problem with every name resolved.
#[derive(Debug, Clone)]
pub struct LiftedTask {
    /// Names of objects, predicates, functions and actions.
    pub symbols: Arc<Symbols>,
    /// Predicates, by index.
    pub predicates: Vec<Predicate>,
    /// Number of arguments of each function.
    pub function_arity: Vec<usize>,
    /// For each function, true if an effect changes it.
    pub function_fluent: Vec<bool>,
    /// Action schemas by number.
    pub schemas: Vec<ActionSchema>,
    /// Rules, ascending by stratum.
    pub rules: Vec<DerivedRule>,
    /// Atoms that hold initially.
    pub init: Vec<Atom>,
    /// Function terms with an initial value.
    pub init_numbers: Vec<(Atom, Number)>,
    /// Condition on the last state of a plan.
    pub goal: Formula,
    /// Slots that the goal's quantifiers use.
    pub goal_slots: usize,
    /// Cost of a plan.
    pub metric: Metric,
    /// Constructs that grounding and search do not handle.
    pub unsupported: Vec<Unsupported>,
    /// Those of them that validation does not execute either.
    pub unexecuted: Vec<Unsupported>,
    /// Durative actions, timed literals, preferences and trajectory constraints; empty for a classical task.
    pub extension: Extension,
    /// Types each object was declared with, for messages.
    pub object_types: Vec<String>,
}

/// An action, rule or goal by the combinations of objects that its variables have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConstructSize {
    /// The construct, as a noun phrase.
    pub what: String,
    /// Place of its definition.
    pub place: SourcePlace,
    /// Combinations of objects for its variables, those of the quantifier with the most included; at most `u128::MAX`.
    pub combinations: u128,
}

impl fmt::Display for ConstructSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.combinations {
            u128::MAX => write!(f, "{} has more than 10^38 combinations of objects", self.what),
            exact => write!(f, "{} has {exact} combinations of objects", self.what),
        }
    }
}

/// Combinations of objects for variables, at most `u128::MAX`.
fn combinations(variables: &[Variable]) -> u128 {
    variables.iter().fold(1, |all, variable| all.saturating_mul(variable.objects.len() as u128))
}

impl Formula {
    /// Combinations of objects for the variables of the nested quantifiers that have the most.
    fn combinations(&self) -> u128 {
        match self {
            Formula::And(parts) | Formula::Or(parts, _) => {
                parts.iter().map(Formula::combinations).max().unwrap_or(1)
            }
            Formula::Exists(variables, body, _) | Formula::Forall(variables, body, _) => {
                combinations(variables).saturating_mul(body.combinations())
            }
            Formula::Literal { .. } | Formula::Equal { .. } | Formula::Compare { .. } => 1,
        }
    }
}

impl LiftedTask {
    /// The schema of a number; of a durative action, the one of its start.
    pub fn schema(&self, number: u32) -> &ActionSchema {
        match self.durative(number) {
            Some(durative) => &durative.start,
            None => &self.schemas[number as usize],
        }
    }

    /// The durative action of a number; `None` for an instantaneous one.
    pub fn durative(&self, number: u32) -> Option<&DurativeSchema> {
        let index = (number as usize).checked_sub(self.schemas.len())?;
        self.extension.durative.get(index)
    }

    /// The construct with the most combinations of objects: the likely reason where grounding reaches a limit.
    pub fn largest_construct(&self) -> ConstructSize {
        let actions = self.schemas.iter().zip(&self.symbols.actions).map(|(schema, name)| {
            let effects = schema
                .effects
                .iter()
                .map(|group| combinations(&group.variables).saturating_mul(group.condition.combinations()));
            let inner = effects.chain([schema.precondition.combinations()]).max().unwrap_or(1);
            let combinations = combinations(&schema.variables).saturating_mul(inner);
            ConstructSize {
                what: format!("the action {name}"),
                place: SourcePlace::domain(schema.span),
                combinations,
            }
        });
        let rules = self.rules.iter().map(|rule| {
            let name = &self.symbols.predicates[rule.predicate as usize];
            let combinations = combinations(&rule.variables).saturating_mul(rule.body.combinations());
            ConstructSize {
                what: format!("the rule of {name}"),
                place: SourcePlace::domain(rule.span),
                combinations,
            }
        });
        let goal = ConstructSize {
            what: "the goal".to_owned(),
            place: SourcePlace::problem(Span::default()),
            combinations: self.goal.combinations(),
        };
        let larger = |a: ConstructSize, b: ConstructSize| if b.combinations > a.combinations { b } else { a };
        actions.chain(rules).fold(goal, larger)
    }

    /// Returns true for the cost counter, which counts from 0 where the problem forgot to set it, as in every planner.
    pub(crate) fn counts_from_zero(&self, function: u32) -> bool {
        self.symbols.functions[function as usize].eq_ignore_ascii_case("total-cost")
    }
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
