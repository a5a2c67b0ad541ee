//! Mistakes in numbers, times and weights.

use super::terms::{part_at, sites, sites_of};
use super::{Edit, MutationKind, Part, ProblemPart, TermList};
use crate::ast::{
    AssignOp, CompareOp, Condition, Domain, Effect, Fluent, FunctionDecl, InitElement, NumericExpr, Problem,
    TimeSpecifier,
};
use crate::name::Name;
use crate::number::Number;
use crate::print;
use planforge_diagnostics::Span;

/// Part of a tree that a mistake replaces.
enum Slot<'a> {
    Number(&'a mut Number),
    Function(&'a mut Fluent),
    Comparison(&'a mut CompareOp),
    Change(&'a mut AssignOp),
    /// The time of a timed literal or of a constraint.
    Time(&'a mut Number),
    /// The moment of a condition, or of an effect (`true`).
    Moment(&'a mut TimeSpecifier, bool),
}

/// What a mistake puts into a slot.
#[derive(Clone)]
enum Replacement {
    Number(Number),
    Function(Name),
    Comparison(CompareOp),
    Change(AssignOp),
    Moment(TimeSpecifier),
}

impl Slot<'_> {
    /// The replacements that are mistakes.
    fn replacements(&self, functions: &[FunctionDecl]) -> Vec<Replacement> {
        match self {
            Slot::Number(number) | Slot::Time(number) => {
                other_numbers(**number).into_iter().map(Replacement::Number).collect()
            }
            Slot::Function(fluent) => {
                other_functions(fluent, functions).into_iter().map(Replacement::Function).collect()
            }
            Slot::Comparison(comparison) => {
                let others: &[CompareOp] = match comparison {
                    CompareOp::Less => &[CompareOp::Greater, CompareOp::LessEqual],
                    CompareOp::LessEqual => &[CompareOp::GreaterEqual, CompareOp::Less],
                    CompareOp::Equal => &[],
                    CompareOp::GreaterEqual => &[CompareOp::LessEqual, CompareOp::Greater],
                    CompareOp::Greater => &[CompareOp::Less, CompareOp::GreaterEqual],
                };
                others.iter().copied().map(Replacement::Comparison).collect()
            }
            Slot::Change(change) => vec![Replacement::Change(match change {
                AssignOp::Assign | AssignOp::Decrease => AssignOp::Increase,
                AssignOp::Increase => AssignOp::Decrease,
                AssignOp::ScaleUp => AssignOp::ScaleDown,
                AssignOp::ScaleDown => AssignOp::ScaleUp,
            })],
            Slot::Moment(moment, is_effect) => {
                let others: &[TimeSpecifier] = match (moment, is_effect) {
                    (TimeSpecifier::Start, false) => &[TimeSpecifier::OverAll, TimeSpecifier::End],
                    (TimeSpecifier::Start, true) => &[TimeSpecifier::End],
                    (TimeSpecifier::OverAll | TimeSpecifier::End, _) => &[TimeSpecifier::Start],
                };
                others.iter().copied().map(Replacement::Moment).collect()
            }
        }
    }

    fn set(self, replacement: &Replacement) {
        match (self, replacement) {
            (Slot::Number(slot) | Slot::Time(slot), Replacement::Number(new)) => *slot = *new,
            (Slot::Function(slot), Replacement::Function(new)) => slot.function = new.clone(),
            (Slot::Comparison(slot), Replacement::Comparison(new)) => *slot = *new,
            (Slot::Change(slot), Replacement::Change(new)) => *slot = *new,
            (Slot::Moment(slot, _), Replacement::Moment(new)) => *slot = *new,
            _ => {}
        }
    }
}

/// Twice the number, one more, and one less where that is above 0.
fn other_numbers(number: Number) -> Vec<Number> {
    let mut others = vec![number + number, number + Number::ONE];
    if CompareOp::Greater.holds(number, Number::ONE) {
        others.push(number - Number::ONE);
    }
    others.retain(|other| other.parts().is_some() && *other != number);
    others.dedup();
    others
}

/// The other functions with the same types of parameters.
fn other_functions(fluent: &Fluent, functions: &[FunctionDecl]) -> Vec<Name> {
    let is_cost = |name: &Name| name.is("total-cost");
    let Some(own) = functions.iter().find(|f| f.name == fluent.function && !is_cost(&f.name)) else {
        return Vec::new();
    };
    let types = |f: &FunctionDecl| -> Vec<_> {
        f.parameters.iter().map(|p| p.ty.as_ref().map(|ty| ty.alternatives.clone())).collect()
    };
    let others = functions.iter().filter(|f| f.name != own.name && !is_cost(&f.name));
    others.filter(|f| types(f) == types(own)).map(|f| f.name.clone()).collect()
}

type Visit<'a> = dyn FnMut(Slot<'_>) + 'a;

fn visit_condition(condition: &mut Condition, f: &mut Visit<'_>) {
    match condition {
        Condition::And(parts, _) | Condition::Or(parts, _) => {
            parts.iter_mut().for_each(|part| visit_condition(part, f))
        }
        Condition::Not(inner, _) => visit_condition(inner, f),
        Condition::Imply(a, b, _) => {
            visit_condition(a, f);
            visit_condition(b, f);
        }
        Condition::Exists(q) | Condition::Forall(q) => visit_condition(&mut q.body, f),
        Condition::Compare(comparison) => {
            f(Slot::Comparison(&mut comparison.op));
            visit_numeric(&mut comparison.left, f);
            visit_numeric(&mut comparison.right, f);
        }
        Condition::Preference(preference) => visit_condition(&mut preference.condition, f),
        Condition::Timed(moment, inner, _) => {
            f(Slot::Moment(moment, false));
            visit_condition(inner, f);
        }
        Condition::Trajectory(trajectory) => {
            trajectory.times.iter_mut().for_each(|time| f(Slot::Time(time)));
            trajectory.conditions.iter_mut().for_each(|part| visit_condition(part, f));
        }
        Condition::Atom(_) | Condition::Equal(..) => {}
    }
}

fn visit_effect(effect: &mut Effect, f: &mut Visit<'_>) {
    match effect {
        Effect::And(parts, _) => parts.iter_mut().for_each(|part| visit_effect(part, f)),
        Effect::Forall(q) => visit_effect(&mut q.body, f),
        Effect::When(condition, inner, _) => {
            visit_condition(condition, f);
            visit_effect(inner, f);
        }
        Effect::Timed(moment, inner, _) => {
            f(Slot::Moment(moment, true));
            visit_effect(inner, f);
        }
        Effect::Assign(assignment) if !assignment.fluent.function.is("total-cost") => {
            f(Slot::Change(&mut assignment.op));
            f(Slot::Function(&mut assignment.fluent));
            visit_numeric(&mut assignment.value, f);
        }
        Effect::Assign(_) | Effect::Add(_) | Effect::Delete(..) => {}
    }
}

fn visit_numeric(expr: &mut NumericExpr, f: &mut Visit<'_>) {
    match expr {
        NumericExpr::Number(number, _) => f(Slot::Number(number)),
        NumericExpr::Fluent(fluent) => f(Slot::Function(fluent)),
        NumericExpr::Arithmetic(_, parts, _) => parts.iter_mut().for_each(|part| visit_numeric(part, f)),
        NumericExpr::Duration(_)
        | NumericExpr::ElapsedTime(_)
        | NumericExpr::TotalTime(_)
        | NumericExpr::IsViolated(..) => {}
    }
}

fn visit_init(element: &mut InitElement, f: &mut Visit<'_>) {
    match element {
        InitElement::Value(fluent, number, _) if !fluent.function.is("total-cost") => f(Slot::Number(number)),
        InitElement::Timed { time, element, .. } => {
            f(Slot::Time(time));
            visit_init(element, f);
        }
        InitElement::Atom(_) | InitElement::Not(..) | InitElement::Value(..) => {}
    }
}

/// Returns true if a mistake of that kind replaces the slot.
fn is_of(slot: &Slot<'_>, kind: MutationKind) -> bool {
    match kind {
        MutationKind::Number => !matches!(slot, Slot::Time(_) | Slot::Moment(..)),
        MutationKind::Time => matches!(slot, Slot::Time(_) | Slot::Moment(..)),
        _ => false,
    }
}

/// Returns true if a mistake replaces the slot of a constraint on a duration.
fn is_of_duration(slot: &Slot<'_>) -> bool {
    matches!(slot, Slot::Number(_) | Slot::Function(_))
}

/// The part with one wanted slot replaced, in every way.
fn changed<T: Clone>(
    part: &T,
    functions: &[FunctionDecl],
    wanted: &dyn Fn(&Slot<'_>) -> bool,
    visit: fn(&mut T, &mut Visit<'_>),
) -> Vec<T> {
    let mut replacements: Vec<(usize, Replacement)> = Vec::new();
    let mut slots = 0;
    visit(&mut part.clone(), &mut |slot| {
        if wanted(&slot) {
            replacements.extend(slot.replacements(functions).into_iter().map(|new| (slots, new)));
        }
        slots += 1;
    });
    let with = |(at, new): (usize, Replacement)| {
        let mut part = part.clone();
        let mut slots = 0;
        visit(&mut part, &mut |slot| {
            if slots == at {
                slot.set(&new);
            }
            slots += 1;
        });
        part
    };
    replacements.into_iter().map(with).collect()
}

/// The mistakes of a kind in numbers and times of the actions.
pub(super) fn edits(domain: &Domain, kind: MutationKind) -> Vec<Edit> {
    let wanted = |slot: &Slot<'_>| is_of(slot, kind);
    let functions = &domain.functions;
    let mut edits = Vec::new();
    for site in sites(domain) {
        let parts = match part_at(domain, site) {
            Some(Part::Condition(condition)) => {
                let all = changed(&condition, functions, &wanted, visit_condition);
                all.into_iter().map(Part::Condition).collect()
            }
            Some(Part::Effect(effect)) => {
                let all = changed(&effect, functions, &wanted, visit_effect);
                all.into_iter().map(Part::Effect).collect()
            }
            None => Vec::new(),
        };
        edits.extend(parts.into_iter().map(|part: Part| Edit::Replace(site, part)));
    }
    if kind == MutationKind::Time {
        let all = domain.actions.len()..domain.actions.len() + domain.durative_actions.len();
        for site in all.flat_map(|action| sites_of(domain, action, TermList::Duration)) {
            let Some(Part::Condition(condition)) = part_at(domain, site) else { continue };
            let all = changed(&condition, functions, &is_of_duration, visit_condition);
            edits.extend(all.into_iter().map(|new| Edit::Replace(site, Part::Condition(new))));
        }
    }
    edits
}

/// A mistake in a number, a time or a weight of a problem.
#[derive(Debug, Clone, PartialEq)]
pub struct QuantityMistake {
    /// The part with the mistake.
    pub part: ProblemPart,
    /// What is replaced, as PDDL on one line.
    pub before: String,
    /// What stands there instead, as PDDL on one line.
    pub after: String,
    change: Change,
}

/// What a mistake replaces: an element of the initial state, a conjunct of the goal or of the constraints, or the metric.
#[derive(Debug, Clone, PartialEq)]
enum Change {
    Init(usize, InitElement),
    Conjunct(usize, Condition),
    Metric(NumericExpr),
}

impl QuantityMistake {
    /// The problem with the mistake. It must be the problem for which the mistake was listed. Spans are those of the original.
    pub fn apply(&self, problem: &Problem) -> Problem {
        let mut mutated = problem.clone();
        match &self.change {
            Change::Init(index, new) => mutated.init[*index] = new.clone(),
            Change::Metric(new) => mutated.metric.iter_mut().for_each(|metric| metric.expr = new.clone()),
            Change::Conjunct(index, new) => {
                let is_goal = self.part == ProblemPart::Goal;
                let place = if is_goal { &mut mutated.goal } else { &mut mutated.constraints };
                let mut all = super::problem::conjuncts(place).to_vec();
                all[*index] = new.clone();
                *place = Some(Condition::And(all, Span::default()));
            }
        }
        mutated
    }
}

impl std::fmt::Display for QuantityMistake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        super::problem::write_change(f, self.part, Some(&self.before), Some(&self.after))
    }
}

/// Lists every mistake of a kind in a problem's numbers, times or weights, in the order of the text: a number twice as high, one higher or one
/// lower, another function with the same types of parameters, and a comparison the other way round or with the other strictness.
///
/// [`MutationKind::Number`] is for values of the initial state and for conditions of the goal and of constraints, [`MutationKind::Time`] for
/// the times of timed initial literals and of constraints, [`MutationKind::Weight`] for the metric of a problem with preferences. Other
/// kinds have none. A mistake may be harmless. The list grows with the numbers of the problem; [`QuantityMistake::apply`] makes one problem.
pub fn quantity_mistakes(domain: &Domain, problem: &Problem, kind: MutationKind) -> Vec<QuantityMistake> {
    let functions = &domain.functions;
    let wanted = |slot: &Slot<'_>| is_of(slot, kind);
    let mut mistakes = Vec::new();
    let mut add = |part, [before, after]: [String; 2], change| {
        mistakes.push(QuantityMistake { part, before, after, change });
    };
    for (index, element) in problem.init.iter().enumerate() {
        for new in changed(element, functions, &wanted, visit_init) {
            add(ProblemPart::Init, [element, &new].map(print::print_init), Change::Init(index, new));
        }
    }
    for part in [ProblemPart::Goal, ProblemPart::Constraints] {
        let is_goal = part == ProblemPart::Goal;
        let conjuncts = super::problem::conjuncts(if is_goal { &problem.goal } else { &problem.constraints });
        for (index, condition) in conjuncts.iter().enumerate() {
            for new in changed(condition, functions, &wanted, visit_condition) {
                add(part, [condition, &new].map(print::print_condition), Change::Conjunct(index, new));
            }
        }
    }
    if kind == MutationKind::Weight
        && let Some(metric) = problem.metric.as_ref().filter(|metric| has_violations(&metric.expr))
    {
        let is_number = |slot: &Slot<'_>| matches!(slot, Slot::Number(_));
        for new in changed(&metric.expr, functions, &is_number, visit_numeric) {
            add(ProblemPart::Metric, [&metric.expr, &new].map(print::print_numeric), Change::Metric(new));
        }
    }
    mistakes
}

fn has_violations(expr: &NumericExpr) -> bool {
    match expr {
        NumericExpr::IsViolated(..) => true,
        NumericExpr::Arithmetic(_, parts, _) => parts.iter().any(has_violations),
        _ => false,
    }
}
