//! Numeric effects that can fail: an effect without a value keeps its action from being applicable, and so do two
//! effects of one step that contradict each other. The same rules are in [`crate::validate`].

use super::facts::Facts;
use crate::lifted::{EffectChange, LiftedTask};
use crate::task::{NumEffect, NumExpr, NumVar};
use planforge_diagnostics::Span;
use planforge_pddl::ast::{ArithmeticOp, AssignOp};
use rustc_hash::{FxHashMap, FxHashSet};

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
        let changes = task.schemas.iter().flat_map(|s| &s.effects).flat_map(|g| &g.changes);
        let assigned = changes.filter_map(|(change, _)| match change {
            EffectChange::Numeric(AssignOp::Assign, target, _) => Some(target.predicate),
            _ => None,
        });
        NumericEffects { task, facts, assigned: assigned.collect() }
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
    pub(crate) fn is_never_defined(&self, metric: &NumExpr) -> bool {
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
