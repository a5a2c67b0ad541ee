//! The relaxation of a task with numbers. Propositions are facts, negations of facts, and comparisons `f(x) >= c` of the numeric conditions; a
//! comparison is reached by applying an action as often as its distance from `c` needs (subgoaling, as in h_hbd and h_mrp of ENHSP).
//!
//! Comparisons are decided exactly where floats are close. The change of a function by an operator is a constant, whose sign is exact, or it depends on the
//! state and then counts as possible in any case. So a goal that the relaxation does not reach cannot be reached.

use crate::csr::Csr;
use crate::ground::Linear;
use crate::search::space::NONE;
use crate::task::{Condition, Fact, GroundTask, NumCondition, NumEffect, NumExpr, NumVar};
use planforge_pddl::Number;
use planforge_pddl::ast::{ArithmeticOp, AssignOp, CompareOp};
use rustc_hash::FxHashMap;

/// A function of the numeric variables.
pub(super) struct Function {
    /// Variables with their factors, ascending; empty if the function is not linear.
    terms: Vec<(NumVar, Number)>,
    floats: Vec<(NumVar, f64)>,
    /// The function itself if it is not linear.
    expr: Option<NumExpr>,
}

impl Function {
    /// The value, and the sum of the absolute summands: a measure of the rounding error.
    pub(super) fn value(&self, numbers: &[f64]) -> (f64, f64) {
        match &self.expr {
            Some(expr) => (float(expr, numbers), f64::INFINITY),
            None => self.floats.iter().fold((0.0, 0.0), |(sum, size), &(v, factor)| {
                let part = factor * numbers[v as usize];
                (sum + part, size + part.abs())
            }),
        }
    }

    fn variables(&self) -> Vec<NumVar> {
        let mut variables: Vec<NumVar> = self.terms.iter().map(|t| t.0).collect();
        if let Some(expr) = &self.expr {
            expr.for_each_variable(&mut |v| variables.push(v));
        }
        variables.sort_unstable();
        variables.dedup();
        variables
    }
}

/// The value of an expression in floats; NaN where it is undefined.
pub(super) fn float(expr: &NumExpr, numbers: &[f64]) -> f64 {
    match expr {
        NumExpr::Constant(c) => c.to_f64(),
        NumExpr::Variable(v) => numbers[*v as usize],
        NumExpr::Steps => f64::NAN,
        NumExpr::Binary(op, sides) => {
            let (a, b) = (float(&sides.0, numbers), float(&sides.1, numbers));
            match op {
                ArithmeticOp::Add => a + b,
                ArithmeticOp::Subtract => a - b,
                ArithmeticOp::Multiply => a * b,
                ArithmeticOp::Divide if b == 0.0 => f64::NAN,
                ArithmeticOp::Divide => a / b,
            }
        }
    }
}

/// `function >= bound`, or `>`.
pub(super) struct Comparison {
    pub(super) function: u32,
    /// The bound in floats.
    limit: f64,
    /// The bound, or a little more where the bound itself does not suffice: the distance to be covered.
    pub(super) bound: f64,
    left: NumExpr,
    right: NumExpr,
    operator: CompareOp,
}

impl Comparison {
    /// `level` and `size` are the value of the function.
    pub(super) fn holds(&self, (level, size): (f64, f64), numbers: &[Number]) -> bool {
        let distance = level - self.limit;
        if distance.abs() > 1e-9 * (size + self.limit.abs()) {
            return distance > 0.0;
        }
        let (left, right) = (self.left.value(numbers), self.right.value(numbers));
        left.is_inexact() || right.is_inexact() || self.operator.holds(left, right)
    }
}

/// The change of a function by a relaxed operator.
pub(super) struct Affect {
    /// The relaxed operator.
    pub(super) row: u32,
    pub(super) function: u32,
    /// The constant change; NaN if it depends on the state.
    pub(super) delta: f64,
    /// The value after the operator, where that is the same in every state; NaN otherwise.
    pub(super) target: f64,
    /// The highest bound on the function in the operator's own condition.
    pub(super) need: f64,
}

/// The relaxed task.
pub(super) struct Relaxed {
    pub(super) propositions: usize,
    pub(super) truth: u32,
    pub(super) goal: u32,
    /// Propositions from here on are comparisons.
    pub(super) first_comparison: u32,
    pub(super) comparisons: Vec<Comparison>,
    pub(super) functions: Vec<Function>,
    /// Function to its comparisons.
    pub(super) comparisons_of: Csr,
    /// For each function the highest bound of the goal, or minus infinity.
    pub(super) goal_bound: Vec<f64>,
    pub(super) preconditions: Csr,
    pub(super) effects: Csr,
    pub(super) needed_by: Csr,
    /// The task's operator behind each relaxed operator; [`NONE`] for axioms and the goal.
    pub(super) origin: Vec<u32>,
    /// For each relaxed operator where its entries of `affects` start, and at the end their number.
    pub(super) affect_starts: Vec<u32>,
    pub(super) affects: Vec<Affect>,
    /// Function to its entries of `affects`.
    pub(super) affects_on: Csr,
    /// For each relaxed operator its numeric effects, by index in the task's operator.
    numeric: Csr,
    negation: Vec<u32>,
    negated: Vec<Fact>,
}

impl Relaxed {
    pub(super) fn new(task: &GroundTask) -> Self {
        Builder::new(task).build(task)
    }

    pub(super) fn rows(&self) -> usize {
        self.origin.len()
    }

    pub(super) fn affects_of(&self, row: u32) -> std::ops::Range<usize> {
        self.affect_starts[row as usize] as usize..self.affect_starts[row as usize + 1] as usize
    }

    /// Calls `f` with each proposition about facts that a state makes true.
    pub(super) fn for_each_true(&self, facts: &[u64], mut f: impl FnMut(u32)) {
        crate::bits::ones(facts).for_each(&mut f);
        for &fact in &self.negated {
            if !crate::bits::get(facts, fact) {
                f(self.negation[fact as usize]);
            }
        }
        f(self.truth);
    }

    /// The change of a function by a relaxed operator in a state; NaN where a value is missing. `numbers` is the state, and the same after the call.
    pub(super) fn change(&self, task: &GroundTask, row: u32, function: u32, numbers: &mut [f64]) -> f64 {
        let operator = &task.operators[self.origin[row as usize] as usize];
        let effects = self.numeric.row(row as usize);
        let function = &self.functions[function as usize];
        let changed = |numbers: &[f64], effect: &NumEffect| {
            let old = numbers[effect.variable as usize];
            let old = if old.is_nan() && effect.from_zero { 0.0 } else { old };
            let amount = float(&effect.value, numbers);
            match effect.op {
                AssignOp::Assign => amount,
                AssignOp::Increase => old + amount,
                AssignOp::Decrease => old - amount,
                AssignOp::ScaleUp => old * amount,
                AssignOp::ScaleDown => old / amount,
            }
        };
        let effects = effects.iter().map(|&e| &operator.numeric[e as usize]);
        if function.expr.is_none() {
            let factor = |v: NumVar| {
                function.floats.binary_search_by_key(&v, |t| t.0).map_or(0.0, |i| function.floats[i].1)
            };
            return effects
                .map(|e| (factor(e.variable), e))
                .filter(|(factor, _)| *factor != 0.0)
                .map(|(factor, e)| factor * (changed(numbers, e) - numbers[e.variable as usize]))
                .sum();
        }
        let before = function.value(numbers).0;
        let new: Vec<(NumVar, f64)> = effects.map(|e| (e.variable, changed(numbers, e))).collect();
        let old: Vec<f64> = new.iter().map(|(v, _)| numbers[*v as usize]).collect();
        new.iter().for_each(|&(v, value)| numbers[v as usize] = value);
        let after = function.value(numbers).0;
        new.iter().zip(old).rev().for_each(|(&(v, _), value)| numbers[v as usize] = value);
        after - before
    }

    pub(super) fn bytes(&self) -> u64 {
        self.preconditions.bytes()
            + self.effects.bytes()
            + self.needed_by.bytes()
            + 100 * (self.origin.len() + self.comparisons.len() + self.functions.len()) as u64
            + 40 * self.affects.len() as u64
    }
}

/// Identity of a function: its variables with their factors, or its text.
#[derive(PartialEq, Eq, Hash)]
enum FunctionKey {
    Linear(Vec<(NumVar, Number)>),
    Text(String),
}

struct Builder {
    relaxed: Relaxed,
    basic: usize,
    function_ids: FxHashMap<FunctionKey, u32>,
    comparison_ids: FxHashMap<(u32, Number, bool), u32>,
    /// Preconditions of each relaxed operator and its numeric effects.
    rows: Vec<(Vec<u32>, Vec<u32>)>,
}

impl Builder {
    fn new(task: &GroundTask) -> Self {
        let facts = task.facts.len();
        let mut relaxed = Relaxed {
            propositions: facts,
            truth: 0,
            goal: 0,
            first_comparison: 0,
            comparisons: Vec::new(),
            functions: Vec::new(),
            comparisons_of: Csr::new(),
            goal_bound: Vec::new(),
            preconditions: Csr::new(),
            effects: Csr::new(),
            needed_by: Csr::new(),
            origin: Vec::new(),
            affect_starts: vec![0],
            affects: Vec::new(),
            affects_on: Csr::new(),
            numeric: Csr::new(),
            negation: vec![NONE; facts],
            negated: Vec::new(),
        };
        let conditions = task
            .operators
            .iter()
            .flat_map(|o| {
                std::iter::once(&o.precondition)
                    .chain(o.conditional.iter().map(|c| &c.condition))
                    .chain(o.numeric.iter().map(|e| &e.condition))
            })
            .chain(task.axioms.iter().map(|a| &a.condition))
            .chain(std::iter::once(&task.goal));
        for &fact in conditions.flat_map(|c| c.negative.iter()) {
            if (fact as usize) < task.basic_facts && relaxed.negation[fact as usize] == NONE {
                relaxed.negation[fact as usize] = relaxed.propositions as u32;
                relaxed.negated.push(fact);
                relaxed.propositions += 1;
            }
        }
        relaxed.truth = relaxed.propositions as u32;
        relaxed.goal = relaxed.truth + 1;
        relaxed.first_comparison = relaxed.truth + 2;
        Builder {
            relaxed,
            basic: task.basic_facts,
            function_ids: FxHashMap::default(),
            comparison_ids: FxHashMap::default(),
            rows: Vec::new(),
        }
    }

    fn build(mut self, task: &GroundTask) -> Relaxed {
        for (o, operator) in task.operators.iter().enumerate() {
            let base = &operator.precondition;
            let plain: Vec<u32> = (0..operator.numeric.len() as u32)
                .filter(|&e| operator.numeric[e as usize].condition.is_trivial())
                .collect();
            self.push(&[base], &operator.add, &operator.delete, o as u32, plain);
            for effect in &operator.conditional {
                self.push(&[base, &effect.condition], &effect.add, &effect.delete, o as u32, Vec::new());
            }
            for (e, effect) in operator.numeric.iter().enumerate() {
                if !effect.condition.is_trivial() {
                    self.push(&[base, &effect.condition], &[], &[], o as u32, vec![e as u32]);
                }
            }
        }
        for axiom in &task.axioms {
            self.push(&[&axiom.condition], &[axiom.head], &[], NONE, Vec::new());
        }
        let reached = self.relaxed.goal;
        self.push(&[&task.goal], &[reached], &[], NONE, Vec::new());
        self.finish(task)
    }

    fn push(
        &mut self,
        conditions: &[&Condition],
        add: &[Fact],
        delete: &[Fact],
        origin: u32,
        numeric: Vec<u32>,
    ) {
        let mut pre: Vec<u32> = Vec::new();
        for condition in conditions {
            pre.extend(condition.positive.iter());
            let basic = condition.negative.iter().filter(|f| (**f as usize) < self.basic);
            pre.extend(basic.map(|&f| self.relaxed.negation[f as usize]));
            for comparison in &condition.numeric {
                self.comparisons(comparison, &mut pre);
            }
        }
        pre.sort_unstable();
        pre.dedup();
        let relaxed = &mut self.relaxed;
        let deleted = delete.iter().map(|&f| relaxed.negation.get(f as usize).copied().unwrap_or(NONE));
        let mut effects: Vec<u32> = add.iter().copied().chain(deleted.filter(|&p| p != NONE)).collect();
        effects.retain(|p| !pre.contains(p));
        if effects.is_empty() && numeric.is_empty() {
            return;
        }
        if pre.is_empty() {
            pre.push(relaxed.truth);
        }
        relaxed.effects.push_row(&effects);
        relaxed.origin.push(origin);
        self.rows.push((pre, numeric));
    }

    /// Adds the propositions of a numeric condition to `pre`.
    fn comparisons(&mut self, condition: &NumCondition, pre: &mut Vec<u32>) {
        let sides: &[(CompareOp, bool)] = match condition.comparison {
            CompareOp::Less => &[(CompareOp::Less, true)],
            CompareOp::LessEqual => &[(CompareOp::LessEqual, true)],
            CompareOp::Equal => &[(CompareOp::GreaterEqual, false), (CompareOp::LessEqual, true)],
            CompareOp::GreaterEqual => &[(CompareOp::GreaterEqual, false)],
            CompareOp::Greater => &[(CompareOp::Greater, false)],
        };
        for &(operator, flipped) in sides {
            let (function, bound) = self.function(condition, flipped);
            let strict = matches!(operator, CompareOp::Less | CompareOp::Greater);
            let relaxed = &mut self.relaxed;
            let fresh = relaxed.comparisons.len() as u32;
            let id = *self.comparison_ids.entry((function, bound, strict)).or_insert(fresh);
            if id == fresh {
                let bound = bound.to_f64();
                relaxed.comparisons.push(Comparison {
                    function,
                    limit: bound,
                    bound: if strict { bound + 1e-6 * bound.abs().max(1.0) } else { bound },
                    left: condition.left.clone(),
                    right: condition.right.clone(),
                    operator,
                });
            }
            pre.push(relaxed.first_comparison + id);
        }
    }

    /// The function that must be at least the bound.
    fn function(&mut self, condition: &NumCondition, flipped: bool) -> (u32, Number) {
        let sign = if flipped { -Number::ONE } else { Number::ONE };
        let is_exact = |n: &Number| n.parts().is_some();
        let linear = Linear::new(&condition.left, sign)
            .and_then(|mut linear| linear.add(&condition.right, -sign).then_some(linear))
            // A variable with the factor 0 still decides whether there is a value.
            .filter(|l| {
                is_exact(&l.constant) && l.coefficients.values().all(|c| is_exact(c) && !c.is_zero())
            });
        let mut bound = Number::ZERO;
        let (key, expr) = match linear {
            Some(linear) => {
                let mut terms: Vec<(NumVar, Number)> = linear.coefficients.into_iter().collect();
                terms.sort_unstable_by_key(|t| t.0);
                let unit = match terms.first() {
                    Some((_, factor)) if factor.is_negative() => -*factor,
                    Some((_, factor)) => *factor,
                    None => Number::ONE,
                };
                terms.iter_mut().for_each(|t| t.1 = t.1 / unit);
                bound = -linear.constant / unit;
                (FunctionKey::Linear(terms), None)
            }
            None => {
                let (left, right) = (condition.left.clone(), condition.right.clone());
                let sides = if flipped { (right, left) } else { (left, right) };
                let expr = NumExpr::Binary(ArithmeticOp::Subtract, Box::new(sides));
                (FunctionKey::Text(format!("{expr:?}")), Some(expr))
            }
        };
        if let Some(&id) = self.function_ids.get(&key) {
            return (id, bound);
        }
        let id = self.relaxed.functions.len() as u32;
        let terms = if let FunctionKey::Linear(terms) = &key { terms.clone() } else { Vec::new() };
        let floats = terms.iter().map(|(v, factor)| (*v, factor.to_f64())).collect();
        self.relaxed.functions.push(Function { terms, floats, expr });
        self.function_ids.insert(key, id);
        (id, bound)
    }

    fn finish(mut self, task: &GroundTask) -> Relaxed {
        let relaxed = &mut self.relaxed;
        let mut functions_of: Vec<Vec<u32>> = vec![Vec::new(); task.variables.len()];
        for (f, function) in relaxed.functions.iter().enumerate() {
            for variable in function.variables() {
                functions_of[variable as usize].push(f as u32);
            }
        }
        for (row, (pre, numeric)) in self.rows.iter().enumerate() {
            let effects: Vec<&NumEffect> = match relaxed.origin[row] {
                NONE => Vec::new(),
                origin => {
                    numeric.iter().map(|&e| &task.operators[origin as usize].numeric[e as usize]).collect()
                }
            };
            let mut affected: Vec<u32> =
                effects.iter().flat_map(|e| functions_of[e.variable as usize].iter().copied()).collect();
            affected.sort_unstable();
            affected.dedup();
            for function in affected {
                let shape = &relaxed.functions[function as usize];
                let (delta, target) = effect_on(shape, &effects, task);
                if delta == 0.0 {
                    continue;
                }
                let own = pre.iter().filter_map(|p| p.checked_sub(relaxed.first_comparison));
                let need = own
                    .map(|c| &relaxed.comparisons[c as usize])
                    .filter(|c| c.function == function)
                    .fold(f64::NEG_INFINITY, |need, c| need.max(c.bound));
                relaxed.affects.push(Affect { row: row as u32, function, delta, target, need });
            }
            relaxed.affect_starts.push(relaxed.affects.len() as u32);
            relaxed.preconditions.push_row(pre);
            relaxed.numeric.push_row(numeric);
        }
        let of: Vec<[u32; 1]> = relaxed.comparisons.iter().map(|c| [c.function]).collect();
        relaxed.comparisons_of =
            Csr::from_rows(of.iter().map(<[u32; 1]>::as_slice)).transpose(relaxed.functions.len());
        let on: Vec<[u32; 1]> = relaxed.affects.iter().map(|a| [a.function]).collect();
        relaxed.affects_on =
            Csr::from_rows(on.iter().map(<[u32; 1]>::as_slice)).transpose(relaxed.functions.len());
        relaxed.goal_bound = vec![f64::NEG_INFINITY; relaxed.functions.len()];
        // The goal is the last relaxed operator.
        if let Some((pre, _)) = self.rows.last() {
            for c in pre.iter().filter_map(|p| p.checked_sub(relaxed.first_comparison)) {
                let comparison = &relaxed.comparisons[c as usize];
                let bound = &mut relaxed.goal_bound[comparison.function as usize];
                *bound = bound.max(comparison.bound);
            }
        }
        relaxed.propositions = relaxed.first_comparison as usize + relaxed.comparisons.len();
        relaxed.needed_by = relaxed.preconditions.transpose(relaxed.propositions);
        self.relaxed
    }
}

/// The constant change of a function by effects, and its value after them: each NaN where it depends on the state.
fn effect_on(function: &Function, effects: &[&NumEffect], task: &GroundTask) -> (f64, f64) {
    const UNKNOWN: (f64, f64) = (f64::NAN, f64::NAN);
    if function.expr.is_some() {
        return UNKNOWN;
    }
    let mut delta = Number::ZERO;
    for effect in effects {
        let Ok(term) = function.terms.binary_search_by_key(&effect.variable, |t| t.0) else { continue };
        let factor = function.terms[term].1;
        match (effect.op, &effect.value) {
            (AssignOp::Increase, NumExpr::Constant(c)) => delta = delta + factor * *c,
            (AssignOp::Decrease, NumExpr::Constant(c)) => delta = delta - factor * *c,
            (AssignOp::Assign, NumExpr::Constant(c)) if function.terms.len() == 1 => {
                return (f64::NAN, (factor * *c).to_f64());
            }
            _ => return UNKNOWN,
        }
    }
    let is_defined = function.terms.iter().all(|(v, _)| !task.init_numbers[*v as usize].is_undefined());
    if delta.parts().is_none() || !is_defined { UNKNOWN } else { (delta.to_f64(), f64::NAN) }
}
