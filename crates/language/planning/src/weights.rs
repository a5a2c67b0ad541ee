//! A metric as a sum: what each violation of a preference adds to it, and the rest.

use crate::lifted::{LiftedExpr, LiftedTask, Metric};
use planforge_pddl::Number;
use planforge_pddl::ast::ArithmeticOp;
use std::borrow::Cow;

/// A metric that is linear in the violations of preferences.
pub(crate) struct Weights {
    /// The metric of a plan without violations.
    pub(crate) rest: Metric,
    /// Amount that one violation of each name adds to the metric.
    pub(crate) by_name: Vec<Number>,
}

impl Weights {
    /// Splits the metric of a task; `None` if it is not linear in the violations.
    pub(crate) fn of(task: &LiftedTask) -> Option<Self> {
        let mut by_name = vec![Number::ZERO; task.extension.preference_names.len()];
        let rest = match &task.metric {
            Metric::Steps => Metric::Steps,
            Metric::Value { expr, maximize, span } => {
                let expr = split(expr, Number::ONE, task, &mut by_name)?.into_owned();
                Metric::Value { expr, maximize: *maximize, span: *span }
            }
        };
        Some(Weights { rest, by_name })
    }

    /// By preference, how much worse one violation makes the metric.
    pub(crate) fn amounts(&self, task: &LiftedTask) -> Vec<Number> {
        let maximize = matches!(task.metric, Metric::Value { maximize: true, .. });
        let worse = |weight: Number| if maximize { -weight } else { weight };
        (0..task.extension.preferences.len() as u32)
            .map(|preference| worse(self.of_preference(task, preference)))
            .collect()
    }

    /// Amount that one violation of a preference adds to the metric.
    pub(crate) fn of_preference(&self, task: &LiftedTask, preference: u32) -> Number {
        let name = task.extension.preferences[preference as usize].name;
        name.map_or(Number::ZERO, |name| self.by_name[name as usize])
    }
}

/// The expression without violations. Their factors are added to the weights.
fn split<'e>(
    expr: &'e LiftedExpr,
    factor: Number,
    task: &LiftedTask,
    weights: &mut [Number],
) -> Option<Cow<'e, LiftedExpr>> {
    let sides = match expr {
        LiftedExpr::Violations(name) => {
            let weight = &mut weights[*name as usize];
            *weight = *weight + factor;
            return Some(Cow::Owned(LiftedExpr::Constant(Number::ZERO)));
        }
        LiftedExpr::Constant(_) | LiftedExpr::Steps | LiftedExpr::Duration | LiftedExpr::Function(_) => {
            return Some(Cow::Borrowed(expr));
        }
        LiftedExpr::Binary(_, sides) if !has_violations(&sides.0) && !has_violations(&sides.1) => {
            return Some(Cow::Borrowed(expr));
        }
        LiftedExpr::Binary(op, sides) => (*op, &sides.0, &sides.1),
    };
    let (op, left, right) = sides;
    let (left_factor, right_factor) = match op {
        ArithmeticOp::Add => (factor, factor),
        ArithmeticOp::Subtract => (factor, -factor),
        ArithmeticOp::Multiply => match (constant(left, task), constant(right, task)) {
            (Some(left), _) => (Number::ZERO, factor * left),
            (_, Some(right)) => (factor * right, Number::ZERO),
            (None, None) => return None,
        },
        ArithmeticOp::Divide => {
            let divisor = constant(right, task).filter(|divisor| !divisor.is_zero())?;
            (factor / divisor, Number::ZERO)
        }
    };
    let left = split(left, left_factor, task, weights)?.into_owned();
    let right = split(right, right_factor, task, weights)?.into_owned();
    Some(Cow::Owned(LiftedExpr::Binary(op, Box::new((left, right)))))
}

fn has_violations(expr: &LiftedExpr) -> bool {
    match expr {
        LiftedExpr::Violations(_) => true,
        LiftedExpr::Constant(_) | LiftedExpr::Steps | LiftedExpr::Duration | LiftedExpr::Function(_) => false,
        LiftedExpr::Binary(_, sides) => has_violations(&sides.0) || has_violations(&sides.1),
    }
}

/// The value of an expression that no step changes.
fn constant(expr: &LiftedExpr, task: &LiftedTask) -> Option<Number> {
    let value = match expr {
        LiftedExpr::Constant(value) => *value,
        LiftedExpr::Steps | LiftedExpr::Duration | LiftedExpr::Violations(_) => return None,
        LiftedExpr::Function(term) => {
            if task.function_fluent[term.predicate as usize] {
                return None;
            }
            // A metric has no variables.
            let atom = term.instantiate(&[]);
            task.init_numbers.iter().rev().find(|(known, _)| *known == atom)?.1
        }
        LiftedExpr::Binary(op, sides) => op.apply(constant(&sides.0, task)?, constant(&sides.1, task)?),
    };
    (!value.is_undefined() && !value.is_inexact()).then_some(value)
}
