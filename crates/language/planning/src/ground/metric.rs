//! Numeric effects and costs of operators.
//!
//! [`CostModel`] computes how much each operator adds to the metric, as integers. [`NumericEffects`] knows which effects can fail: an
//! effect without a value keeps its action from being applicable, and so do two effects of one step that contradict each other.
//! The same rules are in [`crate::validate`].

use super::expand::Facts;
use crate::lifted::{EffectChange, Formula, LiftedAtom, LiftedExpr, LiftedTask, Metric, Term, Variable};
use crate::task::{Atom, NumEffect, NumExpr, NumVar, ObjectId, SourcePlace, StateMetric, Unsupported};
use planforge_diagnostics::Span;
use planforge_pddl::Number;
use planforge_pddl::ast::{ArithmeticOp, AssignOp};
use rustc_hash::{FxHashMap, FxHashSet};

/// Contribution of numeric effects to the metric.
pub(crate) struct CostModel {
    coefficients: Option<FxHashMap<NumVar, Number>>,
    /// Constant cost of each step.
    per_step: Number,
    pub(crate) unsupported: Option<Unsupported>,
}

impl CostModel {
    /// `expr` is the ground metric of `task`, where it has one.
    pub(crate) fn new(task: &LiftedTask, expr: Option<&NumExpr>, numeric: &NumericEffects<'_>) -> Self {
        let (Metric::Value { maximize, span, .. }, Some(expr)) = (&task.metric, expr) else {
            return CostModel { coefficients: None, per_step: Number::ONE, unsupported: None };
        };
        let fault = if numeric.is_never_defined(expr) {
            "a metric that has no value in any state"
        } else if let Some(linear) = Linear::new(expr, if *maximize { -Number::ONE } else { Number::ONE }) {
            let Linear { coefficients, per_step, .. } = linear;
            return CostModel { coefficients: Some(coefficients), per_step, unsupported: None };
        } else {
            "a metric that is not linear"
        };
        let mut model = CostModel { coefficients: None, per_step: Number::ONE, unsupported: None };
        model.refuse(fault, SourcePlace::problem(*span));
        model
    }

    fn refuse(&mut self, what: &str, place: SourcePlace) {
        self.unsupported.get_or_insert_with(|| Unsupported { what: what.to_owned(), place });
    }

    /// Returns the amount that an operator with these numeric effects adds to the metric; 1 if steps are
    /// counted.
    pub(crate) fn cost(&mut self, effects: &[(NumEffect, Span)]) -> Number {
        let Some(coefficients) = &self.coefficients else { return Number::ONE };
        let mut cost = self.per_step;
        let mut fault = None;
        for (effect, span) in effects {
            let Some(&coefficient) = coefficients.get(&effect.variable) else { continue };
            let value = match (&effect.value, effect.op) {
                (NumExpr::Constant(c), _) if c.is_undefined() => {
                    fault = fault.or(Some(("a cost that the initial state gives no value", *span)));
                    continue;
                }
                (NumExpr::Constant(c), AssignOp::Increase) => *c,
                (NumExpr::Constant(c), AssignOp::Decrease) => -*c,
                _ => {
                    fault = fault.or(Some(("a cost that depends on the state", *span)));
                    continue;
                }
            };
            if !effect.condition.is_trivial() && !value.is_zero() {
                fault = fault.or(Some(("a cost under a condition", *span)));
            }
            cost = cost + coefficient * value;
        }
        if cost.is_negative() {
            let span = effects.first().map_or(Span::default(), |e| e.1);
            fault = fault.or(Some(("an action that makes the metric better", span)));
        }
        if let Some((what, span)) = fault {
            self.refuse(what, SourcePlace::domain(span));
        }
        cost
    }

    /// The costs as integers and their scale; all 1 where that is not possible.
    pub(crate) fn integers(&mut self, costs: &[Number]) -> (u64, Vec<u64>) {
        if self.unsupported.is_none() {
            if let Some(integers) = to_integers(costs) {
                return integers;
            }
            self.refuse(
                "costs that are not 64-bit integers over one denominator",
                SourcePlace::domain(Span::default()),
            );
        }
        (1, vec![1; costs.len()])
    }

    /// Value of the metric in the initial state.
    pub(crate) fn start(&self, task: &LiftedTask, expr: Option<&NumExpr>, facts: &Facts) -> Number {
        expr.filter(|_| self.coefficients.is_some()).map_or(Number::ZERO, |expr| initial(expr, task, facts))
    }
}

fn initial(expr: &NumExpr, task: &LiftedTask, facts: &Facts) -> Number {
    match expr {
        NumExpr::Constant(c) => *c,
        NumExpr::Steps => Number::ZERO,
        NumExpr::Variable(variable) => {
            let value = facts.initial_number(*variable);
            let function = facts.variable_terms[*variable as usize].predicate;
            if value.is_undefined() && task.counts_from_zero(function) { Number::ZERO } else { value }
        }
        NumExpr::Binary(op, sides) => {
            op.apply(initial(&sides.0, task, facts), initial(&sides.1, task, facts))
        }
    }
}

/// Multiplies by the least common denominator.
fn to_integers(costs: &[Number]) -> Option<(u64, Vec<u64>)> {
    let mut scale = Number::ONE;
    for cost in costs {
        let denominator = Number::integer((*cost * scale).parts()?.1);
        scale = scale * denominator;
        // Refused early, so that the products above stay exact.
        u64::try_from(scale.parts()?.0).ok()?;
    }
    let scaled = |cost: &Number| match (*cost * scale).parts()? {
        (value, 1) => u64::try_from(value).ok(),
        _ => None,
    };
    Some((u64::try_from(scale.parts()?.0).ok()?, costs.iter().map(scaled).collect::<Option<_>>()?))
}

/// A linear expression: a sum of variables with factors, of a constant and of the number of steps with a factor.
pub(crate) struct Linear {
    pub(crate) coefficients: FxHashMap<NumVar, Number>,
    pub(crate) constant: Number,
    per_step: Number,
}

impl Linear {
    /// `factor * expr`; `None` if the expression is not linear.
    pub(crate) fn new(expr: &NumExpr, factor: Number) -> Option<Self> {
        let mut linear =
            Linear { coefficients: FxHashMap::default(), constant: Number::ZERO, per_step: Number::ZERO };
        linear.add(expr, factor).then_some(linear)
    }

    /// Adds `factor * expr`. Returns true if the expression is linear.
    pub(crate) fn add(&mut self, expr: &NumExpr, factor: Number) -> bool {
        match expr {
            NumExpr::Constant(c) => {
                self.constant = self.constant + factor * *c;
                true
            }
            NumExpr::Steps => {
                self.per_step = self.per_step + factor;
                true
            }
            NumExpr::Variable(v) => {
                let coefficient = self.coefficients.entry(*v).or_insert(Number::ZERO);
                *coefficient = *coefficient + factor;
                true
            }
            NumExpr::Binary(op, sides) => match (op, &sides.0, &sides.1) {
                (ArithmeticOp::Add, a, b) => self.add(a, factor) && self.add(b, factor),
                (ArithmeticOp::Subtract, a, b) => self.add(a, factor) && self.add(b, -factor),
                (ArithmeticOp::Multiply, NumExpr::Constant(c), x)
                | (ArithmeticOp::Multiply, x, NumExpr::Constant(c)) => self.add(x, factor * *c),
                (ArithmeticOp::Divide, x, NumExpr::Constant(c)) if !c.is_zero() => self.add(x, factor / *c),
                _ => false,
            },
        }
    }
}

/// Functions whose value can matter for what holds or is reached: the others only count costs.
pub(super) fn functions_read(task: &LiftedTask) -> FxHashSet<u32> {
    let mut read = FxHashSet::default();
    let groups = || task.schemas.iter().flat_map(|s| &s.effects);
    for formula in task.schemas.iter().map(|s| &s.precondition).chain(groups().map(|g| &g.condition)) {
        in_formula(formula, &mut read);
    }
    task.rules.iter().for_each(|r| in_formula(&r.body, &mut read));
    in_formula(&task.goal, &mut read);
    read_for(task, read)
}

/// [`functions_read`], and those that decide whether the effects of an action have values.
pub(crate) fn functions_deciding(task: &LiftedTask) -> FxHashSet<u32> {
    let mut read = functions_read(task);
    let assigned = functions_assigned(task);
    let mut add = |function: u32| {
        // Initial values that never change need no place in a state.
        if task.function_fluent[function as usize] {
            read.insert(function);
        }
    };
    for schema in &task.schemas {
        for group in &schema.effects {
            let variables: Vec<&Variable> = schema.variables.iter().chain(&group.variables).collect();
            for (change, _) in &group.changes {
                let EffectChange::Numeric(op, target, value) = change else { continue };
                let counts = |function| task.counts_from_zero(function);
                let gets_value = |term: &LiftedAtom| {
                    (assigned.contains(&term.predicate) || counts(term.predicate))
                        && !has_initial_values(task, term, &variables)
                };
                let mut needed = |term: &LiftedAtom| {
                    if gets_value(term) {
                        add(term.predicate);
                    }
                };
                value.for_each_function(&mut needed);
                if *op != AssignOp::Assign && !(op.is_additive() && counts(target.predicate)) {
                    needed(target);
                }
                let mut in_divisor =
                    |divisor: &LiftedExpr| divisor.for_each_function(&mut |t| add(t.predicate));
                for_each_divisor(value, &mut in_divisor);
                if *op == AssignOp::ScaleDown {
                    in_divisor(value);
                }
            }
        }
    }
    read_for(task, read)
}

/// Functions that some effect assigns.
fn functions_assigned(task: &LiftedTask) -> FxHashSet<u32> {
    let changes = task.schemas.iter().flat_map(|s| &s.effects).flat_map(|g| &g.changes);
    let assigned = changes.filter_map(|(change, _)| match change {
        EffectChange::Numeric(AssignOp::Assign, target, _) => Some(target.predicate),
        _ => None,
    });
    assigned.collect()
}

/// Returns true if a function term has an initial value under every binding of the variables.
fn has_initial_values(task: &LiftedTask, term: &LiftedAtom, variables: &[&Variable]) -> bool {
    let mut slots: Vec<u32> = term
        .args
        .iter()
        .filter_map(|arg| if let Term::Slot(slot) = arg { Some(*slot) } else { None })
        .collect();
    slots.sort_unstable();
    slots.dedup();
    let objects = |slot: u32| variables.iter().find(|v| v.slot == slot).map_or(&[][..], |v| &*v.objects);
    let bindings = slots.iter().fold(1, |all: u128, &slot| all.saturating_mul(objects(slot).len() as u128));
    let matches = |atom: &Atom| {
        let mut bound: FxHashMap<u32, ObjectId> = FxHashMap::default();
        atom.predicate == term.predicate
            && term.args.iter().zip(&atom.args).all(|(arg, &object)| match *arg {
                Term::Object(own) => own == object,
                Term::Slot(slot) => {
                    *bound.entry(slot).or_insert(object) == object && objects(slot).contains(&object)
                }
            })
    };
    let values = task.init_numbers.iter().map(|(atom, _)| atom).filter(|atom| matches(atom));
    values.collect::<FxHashSet<_>>().len() as u128 == bindings
}

fn for_each_divisor(expr: &LiftedExpr, f: &mut impl FnMut(&LiftedExpr)) {
    if let LiftedExpr::Binary(op, sides) = expr {
        if *op == ArithmeticOp::Divide {
            f(&sides.1);
        }
        for_each_divisor(&sides.0, f);
        for_each_divisor(&sides.1, f);
    }
}

/// Adds the functions that effects on these read.
pub(super) fn read_for(task: &LiftedTask, mut read: FxHashSet<u32>) -> FxHashSet<u32> {
    loop {
        let before = read.len();
        for (change, _) in task.schemas.iter().flat_map(|s| &s.effects).flat_map(|g| &g.changes) {
            if let EffectChange::Numeric(_, target, value) = change
                && read.contains(&target.predicate)
            {
                in_expr(value, &mut read);
            }
        }
        if read.len() == before {
            return read;
        }
    }
}

/// Functions whose value can matter for the value of a metric over states.
pub(super) fn functions_of_metric(
    task: &LiftedTask,
    facts: &Facts,
    metric: Option<&NumExpr>,
) -> FxHashSet<u32> {
    let mut read = FxHashSet::default();
    if let Some(expr) = metric {
        expr.for_each_variable(&mut |variable| {
            read.insert(facts.variable_terms[variable as usize].predicate);
        });
    }
    read_for(task, read)
}

/// The metric as a function of the last state. `read` are the functions that conditions depend on.
pub(super) fn over_states(
    task: &LiftedTask,
    facts: &Facts,
    expr: NumExpr,
    read: &FxHashSet<u32>,
) -> StateMetric {
    let starts_at_zero = |v: &NumVar| {
        let function = facts.variable_terms[*v as usize].predicate;
        !read.contains(&function)
            && task.counts_from_zero(function)
            && facts.initial_number(*v).is_undefined()
    };
    let variables = 0..facts.variable_terms.len() as NumVar;
    StateMetric { start: variables.filter(starts_at_zero).map(|v| (v, Number::ZERO)).collect(), expr }
}

fn in_formula(formula: &Formula, read: &mut FxHashSet<u32>) {
    match formula {
        Formula::And(parts) | Formula::Or(parts, _) => parts.iter().for_each(|p| in_formula(p, read)),
        Formula::Exists(_, body, _) | Formula::Forall(_, body, _) => in_formula(body, read),
        Formula::Compare { left, right, .. } => {
            in_expr(left, read);
            in_expr(right, read);
        }
        Formula::Literal { .. } | Formula::Equal { .. } => {}
    }
}

fn in_expr(expr: &LiftedExpr, read: &mut FxHashSet<u32>) {
    expr.for_each_function(&mut |term| {
        read.insert(term.predicate);
    });
}

/// States in which something has a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Definedness {
    /// Every reachable state. A variable with a value keeps one, because no applicable action takes it away.
    Always,
    /// It depends on the state.
    Sometimes,
    /// No state.
    Never,
}

/// Numeric effects on one variable in one operator.
#[derive(Default)]
struct Changes {
    all: u32,
    /// Those without a condition.
    plain: u32,
    /// True if one of them is not an increase or decrease.
    exclusive: bool,
    /// True if one without a condition is not.
    exclusive_plain: bool,
}

/// Decides which effects have values.
pub(crate) struct NumericEffects<'a> {
    task: &'a LiftedTask,
    facts: &'a Facts,
    /// Functions that some effect assigns.
    assigned: FxHashSet<u32>,
}

impl<'a> NumericEffects<'a> {
    pub(crate) fn new(task: &'a LiftedTask, facts: &'a Facts) -> Self {
        NumericEffects { task, facts, assigned: functions_assigned(task) }
    }

    /// States in which all effects of an operator have values and agree, if it is applicable otherwise.
    pub(crate) fn of_operator(&self, effects: &[(NumEffect, Span)]) -> Definedness {
        let mut worst = Definedness::Always;
        let mut changes: FxHashMap<NumVar, Changes> = FxHashMap::default();
        for (effect, _) in effects {
            let plain = effect.condition.is_trivial();
            let own = self.of_effect(effect);
            worst = worst.max(if plain { own } else { own.min(Definedness::Sometimes) });
            let of = changes.entry(effect.variable).or_default();
            of.all += 1;
            of.plain += u32::from(plain);
            of.exclusive |= !effect.op.is_additive();
            of.exclusive_plain |= plain && !effect.op.is_additive();
        }
        for of in changes.values() {
            if of.exclusive_plain && of.plain > 1 {
                worst = Definedness::Never;
            } else if of.exclusive && of.all > 1 {
                worst = worst.max(Definedness::Sometimes);
            }
        }
        worst
    }

    /// Returns true if a metric has no value in any reachable state.
    fn is_never_defined(&self, metric: &NumExpr) -> bool {
        match metric {
            // Has a value in metrics alone.
            NumExpr::Steps => false,
            NumExpr::Binary(op, sides) => {
                self.is_never_defined(&sides.0)
                    || self.is_never_defined(&sides.1)
                    || (*op == ArithmeticOp::Divide && divisor(&sides.1) == Definedness::Never)
            }
            NumExpr::Constant(_) | NumExpr::Variable(_) => self.of_value(metric) == Definedness::Never,
        }
    }

    fn of_effect(&self, effect: &NumEffect) -> Definedness {
        let value = self.of_value(&effect.value);
        let old = || if effect.from_zero { Definedness::Always } else { self.of_variable(effect.variable) };
        match effect.op {
            AssignOp::Assign => value,
            AssignOp::Increase | AssignOp::Decrease | AssignOp::ScaleUp => value.max(old()),
            AssignOp::ScaleDown => value.max(old()).max(divisor(&effect.value)),
        }
    }

    fn of_variable(&self, variable: NumVar) -> Definedness {
        let function = self.facts.variable_terms[variable as usize].predicate;
        if !self.facts.initial_number(variable).is_undefined() {
            Definedness::Always
        } else if self.assigned.contains(&function) || self.task.counts_from_zero(function) {
            Definedness::Sometimes
        } else {
            Definedness::Never
        }
    }

    fn of_value(&self, value: &NumExpr) -> Definedness {
        match value {
            NumExpr::Constant(c) if c.is_undefined() => Definedness::Never,
            NumExpr::Constant(_) => Definedness::Always,
            NumExpr::Variable(variable) => self.of_variable(*variable),
            NumExpr::Steps => Definedness::Never,
            NumExpr::Binary(op, sides) => {
                let both = self.of_value(&sides.0).max(self.of_value(&sides.1));
                if *op == ArithmeticOp::Divide { both.max(divisor(&sides.1)) } else { both }
            }
        }
    }
}

/// States in which a value is not 0.
fn divisor(value: &NumExpr) -> Definedness {
    match value {
        NumExpr::Constant(c) if c.is_zero() => Definedness::Never,
        NumExpr::Constant(_) => Definedness::Always,
        _ => Definedness::Sometimes,
    }
}
