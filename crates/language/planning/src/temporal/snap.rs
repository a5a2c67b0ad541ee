//! The task without time: each durative action as two instantaneous ones, its start and its end, and each time of timed literals as one more.
//!
//! A fact says that an action is running. The bounds of a duration are numeric conditions of the two ends on a number `@duration`, which the
//! search sets before it executes an end. The condition over all is the precondition of a third schema without effects.

use crate::lifted::{
    ActionSchema, Constraint, DurationBound, DurativeSchema, EffectChange, EffectGroup, Extension, Formula,
    LiftedAtom, LiftedExpr, LiftedTask, Metric, Predicate, Term, TimedChange, TimedEffect, TrajectoryKind,
    TrajectoryPart, Variable,
};
use crate::task::{Atom, Symbols};
use planforge_diagnostics::Span;
use planforge_pddl::Number;
use planforge_pddl::ast::{AssignOp, CompareOp, TrajectoryOp};
use std::sync::Arc;

/// Part of the timed task that a schema of the task without time stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// An instantaneous action.
    Whole,
    /// The start of the durative action with this index.
    Start(usize),
    /// Its end.
    End(usize),
    /// Its condition over all.
    Invariant(usize),
    /// The timed literals with the time of this index.
    Timed(usize),
}

/// The task without time.
pub(super) struct SnapTask {
    pub(super) lifted: LiftedTask,
    /// By schema. Actions keep their numbers; the start of a durative action has the number of the action.
    pub(super) parts: Vec<Part>,
    /// The function whose value is the duration.
    pub(super) duration: u32,
    /// By schema: the condition that it has in the timed task, with the facts about running actions.
    pub(super) own: Vec<Formula>,
    /// Times of timed literals, ascending, each once. Those at which a constraint begins or ends to count are among them.
    pub(super) times: Vec<Number>,
    /// The constraints that a plan satisfies, without times: facts that timed literals delete are part of their conditions. That the second
    /// condition of `always-within` comes in time is left to validation.
    pub(super) constraints: Vec<Constraint>,
}

impl SnapTask {
    /// Splits the durative actions of a task. Preferences are left out.
    pub(super) fn new(task: &LiftedTask) -> Self {
        let mut symbols = Symbols::clone(&task.symbols);
        let mut builder = Builder {
            predicates: task.predicates.clone(),
            names: std::mem::take(&mut symbols.predicates),
            duration: task.function_arity.len() as u32,
            init: task.init.clone(),
        };
        symbols.functions.push("@duration".to_owned());
        let mut clocks = Clocks { builder: &mut builder, timed: task.extension.timed.clone() };
        let hard = task.extension.constraints.iter().filter(|constraint| constraint.preference.is_none());
        let constraints = hard.map(|constraint| clocks.constraint(constraint)).collect();
        let timed = clocks.timed;
        let mut schemas = task.schemas.clone();
        let mut parts = vec![Part::Whole; schemas.len()];
        let mut own: Vec<Formula> = schemas.iter().map(|schema| schema.precondition.clone()).collect();
        symbols.actions.truncate(schemas.len() + task.extension.durative.len());
        let (mut ends, mut invariants) = (Vec::new(), Vec::new());
        for (index, durative) in task.extension.durative.iter().enumerate() {
            let running = builder.running(&durative.start.variables);
            let atom = |negated| literal(running.clone(), negated);
            let change = |change| EffectGroup {
                variables: Vec::new(),
                condition: Formula::truth(),
                changes: vec![(change, Span::default())],
            };
            let mut start = builder.snap(&durative.start, &durative.bounds, false);
            start.precondition = and(start.precondition, atom(true));
            own.push(start.precondition.clone());
            let lasting = builder.lasting(&durative.invariant, &durative.start.effects);
            start.precondition = and(start.precondition, Formula::And(lasting));
            start.effects.push(change(EffectChange::Add(running.clone())));
            let mut end = builder.snap(&durative.end, &durative.bounds, true);
            end.precondition = and(atom(false), end.precondition);
            end.effects.push(change(EffectChange::Delete(running.clone())));
            if !durative.invariant.is_truth() {
                let precondition = and(atom(false), builder.formula(&durative.invariant));
                let schema = ActionSchema { precondition, effects: Vec::new(), ..durative.start.clone() };
                invariants.push((schema, Part::Invariant(index)));
            }
            schemas.push(start);
            parts.push(Part::Start(index));
            ends.push((end, Part::End(index)));
        }
        let (timed, times) = builder.timed(timed);
        for (schema, part) in ends.into_iter().chain(invariants).chain(timed) {
            symbols.actions.push(format!("@{part:?}"));
            own.push(schema.precondition.clone());
            schemas.push(schema);
            parts.push(part);
        }
        symbols.predicates = builder.names;
        // Costs of the events; times and preferences cost nothing.
        let metric = match &task.metric {
            Metric::Value { expr, maximize, span } => {
                Metric::Value { expr: costs(expr), maximize: *maximize, span: *span }
            }
            Metric::Steps => {
                let expr = LiftedExpr::Constant(Number::ZERO);
                Metric::Value { expr, maximize: false, span: Span::default() }
            }
        };
        let mut lifted = LiftedTask {
            symbols: Arc::new(symbols),
            predicates: builder.predicates,
            schemas,
            init: builder.init,
            metric,
            unsupported: Vec::new(),
            extension: Extension::default(),
            ..task.clone()
        };
        lifted.function_arity.push(0);
        lifted.function_fluent.push(true);
        lifted.init_numbers.push((Atom { predicate: builder.duration, args: Box::default() }, Number::ZERO));
        SnapTask { lifted, parts, duration: builder.duration, own, times, constraints }
    }
}

/// Returns true if the condition over all of an action is tested in every plan: it has none, or the action cannot end when it starts.
pub(super) fn tests_invariant(task: &LiftedTask, schema: &DurativeSchema) -> bool {
    let is_long = |value: Number| CompareOp::Greater.holds(value, Number::fraction(1, 1000));
    let lasts = |bound: &DurationBound| {
        let is_lower =
            matches!(bound.comparison, CompareOp::Equal | CompareOp::Greater | CompareOp::GreaterEqual);
        is_lower
            && match &bound.value {
                LiftedExpr::Constant(value) => is_long(*value),
                LiftedExpr::Function(term) if !task.function_fluent[term.predicate as usize] => {
                    let values =
                        task.init_numbers.iter().filter(|(atom, _)| atom.predicate == term.predicate);
                    values.into_iter().all(|(_, value)| is_long(*value))
                }
                _ => false,
            }
    };
    is_trivial(&schema.invariant) || schema.bounds.iter().any(lasts)
}

fn is_trivial(formula: &Formula) -> bool {
    matches!(formula, Formula::And(parts) if parts.iter().all(is_trivial))
}

/// The metric without times and preferences.
fn costs(expr: &LiftedExpr) -> LiftedExpr {
    match expr {
        LiftedExpr::Steps | LiftedExpr::Violations(_) => LiftedExpr::Constant(Number::ZERO),
        LiftedExpr::Binary(op, sides) => {
            LiftedExpr::Binary(*op, Box::new((costs(&sides.0), costs(&sides.1))))
        }
        other => other.clone(),
    }
}

fn literal(atom: LiftedAtom, negated: bool) -> Formula {
    Formula::Literal { atom, negated, span: Span::default() }
}

fn and(a: Formula, b: Formula) -> Formula {
    let mut parts = Vec::new();
    for formula in [a, b] {
        match formula {
            Formula::And(inner) => parts.extend(inner),
            other => parts.push(other),
        }
    }
    Formula::And(parts)
}

/// Constraints with times as ones without, and the timed literals of the facts that say that a time is not reached.
struct Clocks<'b> {
    builder: &'b mut Builder,
    timed: Vec<TimedChange>,
}

impl Clocks<'_> {
    fn constraint(&mut self, constraint: &Constraint) -> Constraint {
        let mut constraint = constraint.clone();
        let mut at_end = Vec::new();
        let or = |parts| Formula::Or(parts, Span::default());
        for part in &mut constraint.parts {
            let TrajectoryKind::Over(operator) = part.operator else { continue };
            let times = std::mem::take(&mut part.times);
            // The last state lasts for ever: where the plan ends before the time, the condition holds in it.
            let mut holds_at_end_after = |before: &LiftedAtom| {
                let conditions = part.conditions.iter().cloned().chain([literal(before.clone(), true)]);
                let conditions = vec![or(conditions.collect())];
                at_end.push(TrajectoryPart { operator: TrajectoryKind::AtEnd, conditions, ..part.clone() });
            };
            let (simple, guards) = match (operator, times.as_slice()) {
                (TrajectoryOp::AlwaysWithin, _) => (TrajectoryOp::SometimeAfter, Vec::new()),
                (TrajectoryOp::Within, [until]) => {
                    // A state at the time itself counts.
                    let after = *until + Number::fraction(1, 1000);
                    (TrajectoryOp::Sometime, vec![literal(self.before(after), false)])
                }
                (TrajectoryOp::HoldAfter, [from]) => {
                    let before = self.before(*from);
                    holds_at_end_after(&before);
                    (TrajectoryOp::Always, vec![literal(before, false)])
                }
                (TrajectoryOp::HoldDuring, [from, to]) => {
                    let before = self.before(*from);
                    holds_at_end_after(&before);
                    (TrajectoryOp::Always, vec![literal(before, false), literal(self.before(*to), true)])
                }
                _ => continue,
            };
            part.operator = TrajectoryKind::Over(simple);
            if simple != TrajectoryOp::SometimeAfter {
                let condition = part.conditions.iter().cloned().chain(guards).collect();
                let is_all = simple == TrajectoryOp::Sometime;
                part.conditions = vec![if is_all { Formula::And(condition) } else { or(condition) }];
            }
        }
        constraint.parts.extend(at_end);
        constraint
    }

    /// A fact that holds until a time.
    fn before(&mut self, time: Number) -> LiftedAtom {
        let fact = self.builder.running(&[]);
        let change = TimedEffect::Delete(fact.clone());
        match CompareOp::Less.holds(Number::ZERO, time) {
            true => {
                self.builder.init.push(fact.instantiate(&[]));
                self.timed.push(TimedChange { time, change, span: Span::default() });
            }
            false => self.builder.predicates.last_mut().into_iter().for_each(|own| own.fluent = false),
        }
        fact
    }
}

/// State of splitting a task.
struct Builder {
    predicates: Vec<Predicate>,
    names: Vec<String>,
    duration: u32,
    init: Vec<Atom>,
}

impl Builder {
    /// A new predicate about such variables, as an atom of them.
    fn running(&mut self, variables: &[Variable]) -> LiftedAtom {
        let predicate = self.predicates.len() as u32;
        self.predicates.push(Predicate {
            arity: variables.len(),
            arguments: variables.iter().map(|v| Arc::clone(&v.objects)).collect(),
            derived: false,
            fluent: true,
            span: Span::default(),
        });
        self.names.push(format!("@fact-{predicate}"));
        LiftedAtom { predicate, args: variables.iter().map(|v| Term::Slot(v.slot)).collect() }
    }

    /// An end of a durative action with the bounds that are tested at it.
    fn snap(&self, schema: &ActionSchema, bounds: &[DurationBound], at_end: bool) -> ActionSchema {
        let own = bounds.iter().filter(|bound| bound.at_end == at_end).map(|bound| Formula::Compare {
            comparison: bound.comparison,
            left: LiftedExpr::Function(self.duration_term()),
            right: self.expression(&bound.value),
            span: bound.span,
        });
        let precondition = and(self.formula(&schema.precondition), Formula::And(own.collect()));
        let effects = schema.effects.iter().map(|group| EffectGroup {
            variables: group.variables.clone(),
            condition: self.formula(&group.condition),
            changes: group.changes.iter().map(|(c, span)| (self.change(c), *span)).collect(),
        });
        ActionSchema { precondition, effects: effects.collect(), ..schema.clone() }
    }

    /// Literals of a condition over all that the start of the action cannot make true: they hold before it.
    fn lasting(&self, invariant: &Formula, effects: &[EffectGroup]) -> Vec<Formula> {
        match invariant {
            Formula::And(parts) => parts.iter().flat_map(|part| self.lasting(part, effects)).collect(),
            Formula::Literal { atom, negated, .. } if !self.predicates[atom.predicate as usize].derived => {
                let gives = |change: &EffectChange| match change {
                    EffectChange::Add(other) => !negated && other.predicate == atom.predicate,
                    EffectChange::Delete(other) => *negated && other.predicate == atom.predicate,
                    EffectChange::Numeric(..) => false,
                };
                let given = effects.iter().flat_map(|group| &group.changes).any(|(change, _)| gives(change));
                if given { Vec::new() } else { vec![invariant.clone()] }
            }
            Formula::Equal { .. } => vec![invariant.clone()],
            _ => Vec::new(),
        }
    }

    fn change(&self, change: &EffectChange) -> EffectChange {
        match change {
            EffectChange::Numeric(op, target, value) => {
                EffectChange::Numeric(*op, target.clone(), self.expression(value))
            }
            other => other.clone(),
        }
    }

    fn duration_term(&self) -> LiftedAtom {
        LiftedAtom { predicate: self.duration, args: Box::default() }
    }

    /// The expression with the number `@duration` for `?duration`.
    fn expression(&self, expr: &LiftedExpr) -> LiftedExpr {
        match expr {
            LiftedExpr::Duration => LiftedExpr::Function(self.duration_term()),
            LiftedExpr::Binary(op, sides) => {
                LiftedExpr::Binary(*op, Box::new((self.expression(&sides.0), self.expression(&sides.1))))
            }
            other => other.clone(),
        }
    }

    fn formula(&self, formula: &Formula) -> Formula {
        let all = |parts: &[Formula]| parts.iter().map(|part| self.formula(part)).collect();
        match formula {
            Formula::And(parts) => Formula::And(all(parts)),
            Formula::Or(parts, span) => Formula::Or(all(parts), *span),
            Formula::Exists(variables, body, span) => {
                Formula::Exists(variables.clone(), Box::new(self.formula(body)), *span)
            }
            Formula::Forall(variables, body, span) => {
                Formula::Forall(variables.clone(), Box::new(self.formula(body)), *span)
            }
            Formula::Compare { comparison, left, right, span } => Formula::Compare {
                comparison: *comparison,
                left: self.expression(left),
                right: self.expression(right),
                span: *span,
            },
            Formula::Literal { .. } | Formula::Equal { .. } => formula.clone(),
        }
    }

    /// A schema for each time of timed literals. A fact says that they have not happened yet.
    fn timed(&mut self, mut timed: Vec<TimedChange>) -> (Vec<(ActionSchema, Part)>, Vec<Number>) {
        let (mut schemas, mut times) = (Vec::new(), Vec::<Number>::new());
        timed.sort_by(|a, b| a.time.compare(b.time).unwrap_or(std::cmp::Ordering::Equal));
        for same in timed.chunk_by(|a, b| a.time == b.time) {
            let pending = self.running(&[]);
            self.init.push(pending.instantiate(&[]));
            let mut changes = vec![(EffectChange::Delete(pending.clone()), Span::default())];
            changes.extend(same.iter().map(|timed| {
                let change = match &timed.change {
                    TimedEffect::Add(atom) => EffectChange::Add(atom.clone()),
                    TimedEffect::Delete(atom) => EffectChange::Delete(atom.clone()),
                    TimedEffect::Set(term, value) => {
                        EffectChange::Numeric(AssignOp::Assign, term.clone(), LiftedExpr::Constant(*value))
                    }
                };
                (change, timed.span)
            }));
            let effects = vec![EffectGroup { variables: Vec::new(), condition: Formula::truth(), changes }];
            let schema = ActionSchema {
                variables: Vec::new(),
                parameters: 0,
                slots: 0,
                precondition: literal(pending, false),
                effects,
                span: Span::default(),
            };
            schemas.push((schema, Part::Timed(times.len())));
            times.extend(same.first().map(|timed| timed.time));
        }
        self.init.sort();
        (schemas, times)
    }
}
