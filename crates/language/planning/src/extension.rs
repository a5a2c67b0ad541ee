//! Parts of a task beyond classical planning with numbers: durative actions (PDDL 2.1 level 3), timed initial literals (2.2),
//! preferences and trajectory constraints (3.0). Validation executes them; grounding and search refuse a task that has them.

use crate::lifted::{ActionSchema, Formula, LiftedAtom, LiftedExpr, Variable};
use crate::task::SourcePlace;
use planforge_diagnostics::Span;
use planforge_pddl::Number;
use planforge_pddl::ast::{CompareOp, TrajectoryOp};

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

    /// Returns true for a classical task.
    pub const fn is_empty(&self) -> bool {
        !self.has_time() && self.preferences.is_empty() && self.constraints.is_empty()
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
