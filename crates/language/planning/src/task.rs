//! The ground task: facts as numbers, operators over them, axioms, numeric variables and costs. Made by
//! [`crate::ground`], read by the simulator and by every search.

use planforge_diagnostics::Span;
use planforge_pddl::Number;
use planforge_pddl::ast::{ArithmeticOp, AssignOp, CompareOp};
use std::sync::Arc;

/// A ground atom that can change, by number. Facts below [`GroundTask::basic_facts`] are changed by operators, the others
/// are derived by axioms.
pub type Fact = u32;
/// A numeric variable (a ground function term) by number.
pub type NumVar = u32;
/// Index of an object in [`Symbols::objects`].
pub type ObjectId = u32;

/// Names by index, with the case of the files.
#[derive(Debug, Clone, Default)]
pub struct Symbols {
    /// Names of objects and constants.
    pub objects: Vec<String>,
    /// Predicates; those the normaliser invents start with `@`.
    pub predicates: Vec<String>,
    /// Names of functions.
    pub functions: Vec<String>,
    /// Names of action schemas.
    pub actions: Vec<String>,
}

impl Symbols {
    /// Formats a term as `(name arg1 arg2)`.
    fn term(&self, name: &str, args: &[ObjectId]) -> String {
        let mut out = format!("({name}");
        for &arg in args {
            out.push(' ');
            out.push_str(&self.objects[arg as usize]);
        }
        out.push(')');
        out
    }

    /// An atom as PDDL writes it.
    pub fn atom(&self, atom: &Atom) -> String {
        self.term(&self.predicates[atom.predicate as usize], &atom.args)
    }

    /// A ground function term as PDDL writes it.
    pub fn function_term(&self, atom: &Atom) -> String {
        self.term(&self.functions[atom.predicate as usize], &atom.args)
    }

    /// An atom with a question mark for each argument that is not given.
    pub(crate) fn pattern(&self, predicate: u32, pattern: &[Option<ObjectId>]) -> String {
        let mut text = format!("({}", self.predicates[predicate as usize]);
        for argument in pattern {
            text.push(' ');
            text.push_str(argument.map_or("?", |o| self.objects[o as usize].as_str()));
        }
        text.push(')');
        text
    }

    /// A plan step as planners write it.
    pub fn step(&self, step: &GroundAction) -> String {
        self.term(&self.actions[step.action as usize], &step.args)
    }
}

/// A ground atom (or, with a function's number, a ground function term).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Atom {
    /// Index into [`Symbols::predicates`] (or [`Symbols::functions`]).
    pub predicate: u32,
    /// Indices of the objects.
    pub args: Box<[ObjectId]>,
}

/// An action schema with its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroundAction {
    /// Index of the schema in [`Symbols::actions`].
    pub action: u32,
    /// The arguments in the schema's order.
    pub args: Box<[ObjectId]>,
}

/// A ground numeric expression.
#[derive(Debug, Clone, PartialEq)]
pub enum NumExpr {
    /// A constant.
    Constant(Number),
    /// The value of a variable, undefined where nothing has set it.
    Variable(NumVar),
    /// The number of steps so far; in metrics only, and undefined elsewhere.
    Steps,
    /// An operation on two expressions.
    Binary(ArithmeticOp, Box<(NumExpr, NumExpr)>),
}

impl NumExpr {
    /// The value under the variables' values.
    pub fn value(&self, numbers: &[Number]) -> Number {
        match self {
            NumExpr::Constant(c) => *c,
            NumExpr::Variable(v) => numbers[*v as usize],
            NumExpr::Steps => Number::UNDEFINED,
            NumExpr::Binary(op, sides) => op.apply(sides.0.value(numbers), sides.1.value(numbers)),
        }
    }

    /// The expression with a variable in place of the number of steps.
    pub(crate) fn with_steps(&self, variable: NumVar) -> NumExpr {
        match self {
            NumExpr::Steps => NumExpr::Variable(variable),
            NumExpr::Constant(_) | NumExpr::Variable(_) => self.clone(),
            NumExpr::Binary(op, sides) => {
                let sides = (sides.0.with_steps(variable), sides.1.with_steps(variable));
                NumExpr::Binary(*op, Box::new(sides))
            }
        }
    }

    /// Returns true if the number of steps is part of the expression.
    pub(crate) fn counts_steps(&self) -> bool {
        match self {
            NumExpr::Constant(_) | NumExpr::Variable(_) => false,
            NumExpr::Steps => true,
            NumExpr::Binary(_, sides) => sides.0.counts_steps() || sides.1.counts_steps(),
        }
    }

    /// Calls `f` with each variable, as often as it occurs.
    pub(crate) fn for_each_variable(&self, f: &mut impl FnMut(NumVar)) {
        match self {
            NumExpr::Constant(_) | NumExpr::Steps => {}
            NumExpr::Variable(variable) => f(*variable),
            NumExpr::Binary(_, sides) => {
                sides.0.for_each_variable(f);
                sides.1.for_each_variable(f);
            }
        }
    }
}

/// A ground numeric condition.
#[derive(Debug, Clone, PartialEq)]
pub struct NumCondition {
    /// The operator.
    pub comparison: CompareOp,
    /// Left side.
    pub left: NumExpr,
    /// Right side.
    pub right: NumExpr,
    /// Place in the domain (or, for a goal, in the problem).
    pub span: Span,
}

impl NumCondition {
    /// Returns true if the condition holds under the variables' values.
    #[inline]
    pub fn holds(&self, numbers: &[Number]) -> bool {
        self.comparison.holds(self.left.value(numbers), self.right.value(numbers))
    }
}

/// A conjunction of literals and numeric conditions.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Condition {
    /// Facts that must hold, ascending.
    pub positive: Box<[Fact]>,
    /// Facts that must not hold, ascending.
    pub negative: Box<[Fact]>,
    /// Numeric comparisons that must hold.
    pub numeric: Box<[NumCondition]>,
}

impl Condition {
    /// Returns true if the condition holds in a state.
    #[inline]
    pub fn holds(&self, facts: &[u64], numbers: &[Number]) -> bool {
        self.positive.iter().all(|&f| crate::bits::get(facts, f))
            && self.negative.iter().all(|&f| !crate::bits::get(facts, f))
            && self.numeric.iter().all(|c| c.holds(numbers))
    }

    /// Returns true if the condition is empty, so that it holds in every state.
    pub fn is_trivial(&self) -> bool {
        self.positive.is_empty() && self.negative.is_empty() && self.numeric.is_empty()
    }
}

/// An effect that takes place where its condition holds in the state before the step.
#[derive(Debug, Clone, PartialEq)]
pub struct ConditionalEffect {
    /// Condition in the state before the step.
    pub condition: Condition,
    /// Facts that become true.
    pub add: Box<[Fact]>,
    /// Facts made false, unless the same step makes them true.
    pub delete: Box<[Fact]>,
}

/// A numeric effect. Its value is computed in the state before the step.
#[derive(Debug, Clone, PartialEq)]
pub struct NumEffect {
    /// Condition in the state before the step.
    pub condition: Condition,
    /// The variable that changes.
    pub variable: NumVar,
    /// The kind of change.
    pub op: AssignOp,
    /// The new value or the amount.
    pub value: NumExpr,
    /// True if the variable counts from 0 where it has no value yet.
    pub from_zero: bool,
}

impl NumEffect {
    /// The value after the effect, which adds to `now`; undefined where the effect has no value. Amounts are computed in
    /// the state before the step.
    pub fn apply(&self, now: Number, before: &[Number]) -> Number {
        let old = if self.from_zero && now.is_undefined() { Number::ZERO } else { now };
        self.op.apply(old, self.value.value(before))
    }
}

/// One way to execute a ground action. A ground action whose precondition is a disjunction has one operator a disjunct; they
/// share [`Operator::action`].
#[derive(Debug, Clone, PartialEq)]
pub struct Operator {
    /// Index into [`GroundTask::actions`].
    pub action: u32,
    /// Condition for the operator to be applicable.
    pub precondition: Condition,
    /// Facts made true in any case, ascending.
    pub add: Box<[Fact]>,
    /// Facts made false in any case and not made true, ascending.
    pub delete: Box<[Fact]>,
    /// Effects under a further condition.
    pub conditional: Box<[ConditionalEffect]>,
    /// Numeric effects, without those that change only the plan's cost.
    pub numeric: Box<[NumEffect]>,
    /// Effects on variables that only a metric over states reads ([`GroundTask::metric`]). The simulator leaves them out.
    pub metric: Box<[NumEffect]>,
    /// True if a numeric effect may have no value, or two of them may contradict each other. The operator is not
    /// applicable then.
    pub partial: bool,
    /// Amount added to the metric, times [`GroundTask::cost_scale`]; 1 for every operator without a metric.
    pub cost: u64,
}

/// `head` holds where the condition does, within stratum `stratum`.
#[derive(Debug, Clone, PartialEq)]
pub struct Axiom {
    /// The derived fact that the axiom adds.
    pub head: Fact,
    /// Literals; a negative one is basic or of a lower stratum.
    pub condition: Condition,
    /// Evaluated in ascending order.
    pub stratum: u32,
}

/// An unsupported construct and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsupported {
    /// The construct, as a noun phrase.
    pub what: String,
    /// Place of the construct.
    pub place: SourcePlace,
}

impl Unsupported {
    /// The constructs, each once.
    pub fn names(constructs: &[Unsupported]) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for construct in constructs {
            if !names.contains(&construct.what.as_str()) {
                names.push(&construct.what);
            }
        }
        names
    }
}

/// A span and the text it is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SourcePlace {
    /// The text that contains the span.
    pub text: TaskText,
    /// Bytes in the text.
    pub span: Span,
}

/// The texts of a planning task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TaskText {
    /// The domain file.
    Domain,
    /// The problem file.
    Problem,
    /// The plan file.
    Plan,
}

/// A ground planning task.
#[derive(Debug, Clone)]
pub struct GroundTask {
    /// Names of the objects, predicates, functions and actions.
    pub symbols: Arc<Symbols>,
    /// Atom of each fact. Facts that never change are left out.
    pub facts: Vec<Atom>,
    /// Facts below this number are basic, the others derived.
    pub basic_facts: usize,
    /// Function term of each numeric variable.
    pub variables: Vec<Atom>,
    /// The ground actions that are reachable under delete relaxation.
    pub actions: Vec<GroundAction>,
    /// The operators that execute the ground actions.
    pub operators: Vec<Operator>,
    /// Rules of derived facts, by stratum.
    pub axioms: Vec<Axiom>,
    /// Basic facts that hold initially.
    pub init: Vec<Fact>,
    /// Initial values of the numeric variables.
    pub init_numbers: Vec<Number>,
    /// Condition on the last state of a plan.
    pub goal: Condition,
    /// True if delete relaxation shows that the goal cannot be reached.
    pub goal_unreachable: bool,
    /// Costs are integers in units of `1 / cost_scale` of the metric.
    pub cost_scale: u64,
    /// Value of the metric in the initial state.
    pub metric_start: Number,
    /// True if higher values of the metric are better. Costs are then amounts by which it falls.
    pub maximize: bool,
    /// Why costs could not be made integers; [`Operator::cost`] is then 1. `None` if they could.
    pub cost_unsupported: Option<Unsupported>,
    /// The metric where it is not a sum of step costs, but a function of the last state.
    pub metric: Option<StateMetric>,
    /// The first numeric condition, or effect that has no value in some states. Searches for plans execute them; searches for several
    /// plans and comparisons do not.
    pub numeric_condition: Option<Unsupported>,
}

/// A metric over the numeric variables of the last state.
#[derive(Debug, Clone)]
pub struct StateMetric {
    /// The expression to be minimised or, with [`GroundTask::maximize`], maximised.
    pub expr: NumExpr,
    /// Initial values of variables that only the metric reads, where they count from 0 without being set.
    pub start: Vec<(NumVar, Number)>,
}

impl GroundTask {
    /// Machine words of a state's facts.
    pub fn words(&self) -> usize {
        crate::bits::words_for(self.facts.len())
    }

    /// The metric's value after steps of this total cost; `None` where it is unknown or undefined.
    pub fn metric_value(&self, cost: u128) -> Option<Number> {
        if self.cost_unsupported.is_some() {
            return None;
        }
        let total = Number::fraction(i128::try_from(cost).ok()?, i128::from(self.cost_scale));
        let value = if self.maximize { self.metric_start - total } else { self.metric_start + total };
        (!value.is_undefined()).then_some(value)
    }

    /// Returns true if an operator has conditional effects.
    pub fn has_conditional_effects(&self) -> bool {
        self.operators.iter().any(|o| !o.conditional.is_empty())
    }
}

impl TaskText {
    /// The source id that diagnostics of this crate use for the text: 0 the domain, 1 the problem, 2 the plan.
    pub const fn source(self) -> planforge_diagnostics::SourceId {
        planforge_diagnostics::SourceId(match self {
            TaskText::Domain => 0,
            TaskText::Problem => 1,
            TaskText::Plan => 2,
        })
    }
}
