//! Durative actions, timed literals, preferences and trajectory constraints to an [`Extension`].
//!
//! `and` and `forall` are opened from outside until a time, a preference or a trajectory operator is reached. One that stands below
//! `or`, `not`, `imply` or `exists` has no meaning here and is reported as unsupported.

use super::{Normalizer, Scope};
use crate::lifted::{
    ActionSchema, CONSTRAINTS, Constraint, DurationBound, DurativeSchema, Formula, PREFERENCE, Preference,
    SoftCondition, SoftPlace, TimedChange, TimedEffect, TrajectoryKind, TrajectoryPart, Variable,
};
use crate::task::{SourcePlace, TaskText};
use planforge_diagnostics::Span;
use planforge_pddl::Number;
use planforge_pddl::ast::{
    self, Assignment, CompareOp, Condition, Effect, InitElement, NumericExpr, Quantified, TimeSpecifier,
    TypedName,
};

/// A part of a condition below `and`, `forall`, times and preferences.
pub(super) struct Part<'c> {
    /// Variables of the `forall`s around a preference, or around the part if it has none.
    outer: Vec<&'c TypedName>,
    /// Variables of the `forall`s inside the preference.
    inner: Vec<&'c TypedName>,
    time: Option<TimeSpecifier>,
    preference: Option<&'c ast::Preference>,
    condition: &'c Condition,
}

/// Enclosing constructs during the traversal of a condition.
#[derive(Clone, Default)]
struct Around<'c> {
    outer: Vec<&'c TypedName>,
    inner: Vec<&'c TypedName>,
    time: Option<TimeSpecifier>,
    preference: Option<&'c ast::Preference>,
}

/// Returns true if the condition has a time, a preference or a trajectory operator outside of `or`, `not`, `imply` and `exists`.
fn is_extended(condition: &Condition) -> bool {
    match condition {
        Condition::And(parts, _) => parts.iter().any(is_extended),
        Condition::Forall(q) => is_extended(&q.body),
        Condition::Preference(_) | Condition::Timed(..) | Condition::Trajectory(_) => true,
        _ => false,
    }
}

/// The parts of a condition. A part without times and preferences inside is not opened further.
fn parts(condition: &Condition) -> Vec<Part<'_>> {
    let mut found = Vec::new();
    collect(condition, &Around::default(), &mut found);
    found
}

fn collect<'c>(condition: &'c Condition, around: &Around<'c>, found: &mut Vec<Part<'c>>) {
    let open = |around: &Around<'c>, body: &'c Condition, found: &mut Vec<Part<'c>>| {
        if is_extended(body) || matches!(body, Condition::And(..)) {
            return collect(body, around, found);
        }
        let Around { outer, inner, time, preference } = around.clone();
        found.push(Part { outer, inner, time, preference, condition: body });
    };
    match condition {
        Condition::And(list, _) => list.iter().for_each(|part| open(around, part, found)),
        Condition::Forall(q) if is_extended(&q.body) => {
            let mut around = around.clone();
            let variables = if around.preference.is_some() { &mut around.inner } else { &mut around.outer };
            variables.extend(&q.parameters);
            open(&around, &q.body, found);
        }
        Condition::Timed(time, body, _) if around.time.is_none() => {
            let around = Around { time: Some(*time), ..around.clone() };
            // A conjunction at one time stays one condition, unless a preference is inside.
            if is_extended(body) {
                return collect(body, &around, found);
            }
            let Around { outer, inner, time, preference } = around;
            found.push(Part { outer, inner, time, preference, condition: body });
        }
        Condition::Preference(preference) if around.preference.is_none() => {
            let around = Around { preference: Some(preference), ..around.clone() };
            if is_extended(&preference.condition) {
                return collect(&preference.condition, &around, found);
            }
            let Around { outer, inner, time, preference } = around;
            if let Some(inside) = preference {
                found.push(Part { outer, inner, time, preference, condition: &inside.condition });
            }
        }
        other => {
            let Around { outer, inner, time, preference } = around.clone();
            found.push(Part { outer, inner, time, preference, condition: other });
        }
    }
}

impl Normalizer {
    /// A condition that may contain preferences: its hard part. The preferences are recorded with their place.
    pub(super) fn hard_part(
        &mut self,
        condition: &Condition,
        place: SoftPlace,
        scope: &mut Scope,
    ) -> Formula {
        if !is_extended(condition) {
            return self.formula(condition, false, scope);
        }
        let mut hard = Vec::new();
        for part in parts(condition) {
            if part.time.is_some() {
                self.note_unsupported("a timed condition", scope.place(part.condition.span()));
                continue;
            }
            match part.preference {
                None => hard.push(self.quantified_part(&part, scope)),
                Some(_) => self.soft_condition(&part, place, scope),
            }
        }
        Formula::And(hard)
    }

    /// The part with the variables of its `forall`s.
    fn quantified_part(&mut self, part: &Part<'_>, scope: &mut Scope) -> Formula {
        if part.outer.is_empty() && part.inner.is_empty() {
            return self.formula(part.condition, false, scope);
        }
        let outer = scope.names.len();
        let names: Vec<TypedName> = part.outer.iter().chain(&part.inner).map(|v| (*v).clone()).collect();
        let variables = self.variables(&names, scope);
        let body = Box::new(self.formula(part.condition, false, scope));
        scope.names.truncate(outer);
        Formula::Forall(variables, body, part.condition.span())
    }

    fn soft_condition(&mut self, part: &Part<'_>, place: SoftPlace, scope: &mut Scope) {
        let Some(preference) = part.preference else { return };
        let preference = self.preference(preference, scope.text);
        let names = scope.names.len();
        let outer: Vec<TypedName> = part.outer.iter().map(|v| (*v).clone()).collect();
        let variables = self.variables(&outer, scope);
        let inner = Part { outer: Vec::new(), inner: part.inner.clone(), time: None, ..*part };
        let condition = self.quantified_part(&inner, scope);
        scope.names.truncate(names);
        // The slots of the scope may still grow; the caller's binding has them all.
        let slots = scope.slots;
        // Several parts of one preference are one condition.
        if let Some(last) = self.extension.soft_conditions.last_mut().filter(|c| c.preference == preference) {
            if last.place == place && last.variables.is_empty() && variables.is_empty() {
                last.slots = slots;
                let before = std::mem::replace(&mut last.condition, Formula::truth());
                last.condition = Formula::And(vec![before, condition]);
            } else {
                let place = scope.place(part.condition.span());
                self.note_unsupported("a preference about several times", place);
            }
            return;
        }
        self.extension.soft_conditions.push(SoftCondition { preference, place, variables, slots, condition });
    }

    /// The number of a preference; a new one if it was not met before.
    fn preference(&mut self, preference: &ast::Preference, text: TaskText) -> u32 {
        let place = SourcePlace { text, span: preference.span };
        let known = self.extension.preferences.iter().position(|p| p.place == place);
        if let Some(known) = known {
            return known as u32;
        }
        // One names them all.
        if self.extension.preferences.is_empty() {
            self.note_unplanned(PREFERENCE, place);
        }
        let name = preference.name.as_ref().map(|name| self.preference_name(name.as_str()));
        self.extension.preferences.push(Preference { name, place });
        self.extension.preferences.len() as u32 - 1
    }

    /// The number of a preference's name.
    fn preference_name(&mut self, name: &str) -> u32 {
        let names = &mut self.extension.preference_names;
        let known = names.iter().position(|known| known.eq_ignore_ascii_case(name));
        known.unwrap_or_else(|| {
            names.push(name.to_owned());
            names.len() - 1
        }) as u32
    }

    /// The number of a name that a preference has.
    pub(super) fn known_preference_name(&self, name: &str) -> Option<u32> {
        let names = &self.extension.preference_names;
        names.iter().position(|known| known.eq_ignore_ascii_case(name)).map(|known| known as u32)
    }

    /// Reads the trajectory constraints of a text.
    pub(super) fn constraints(&mut self, constraints: &Condition, text: TaskText) {
        self.note_unplanned(CONSTRAINTS, SourcePlace { text, span: constraints.span() });
        for part in parts(constraints) {
            self.constraint(&part, text);
        }
    }

    fn constraint(&mut self, part: &Part<'_>, text: TaskText) {
        let place = SourcePlace { text, span: part.condition.span() };
        let (operator, times, conditions): (_, &[Number], &[Condition]) = match (part.condition, part.time) {
            (Condition::Trajectory(t), None) => (TrajectoryKind::Over(t.op), &t.times, &t.conditions),
            (condition, Some(TimeSpecifier::End)) => {
                (TrajectoryKind::AtEnd, &[], std::slice::from_ref(condition))
            }
            _ => {
                self.note_unsupported("a constraint without a trajectory operator", place);
                return;
            }
        };
        if times.iter().any(|time| time.is_inexact()) {
            self.note_unsupported("a time beyond exact arithmetic", place);
            return;
        }
        let preference = part.preference.map(|preference| self.preference(preference, text));
        // Further parts of a preference join the first: together they are one instance.
        let joined = preference.is_some()
            && self.extension.constraints.last().is_some_and(|c| c.preference == preference);
        let (outer, inner) = match preference {
            Some(_) => (part.outer.clone(), part.inner.clone()),
            None => (Vec::new(), [&part.outer[..], &part.inner].concat()),
        };
        let own = |list: &[&TypedName]| list.iter().map(|v| (*v).clone()).collect::<Vec<_>>();
        let mut scope = Scope::new(text);
        let mut variables = Vec::new();
        match self.extension.constraints.last().filter(|_| joined) {
            Some(first) => {
                scope.slots = first.slots;
                let slots = first.variables.iter().map(|v| v.slot);
                scope.names.extend(outer.iter().map(|v| v.name.key().to_owned()).zip(slots));
            }
            None => variables = self.variables(&own(&outer), &mut scope),
        }
        let inner = self.variables(&own(&inner), &mut scope);
        let conditions = conditions.iter().map(|c| self.formula(c, false, &mut scope)).collect();
        let read = TrajectoryPart { variables: inner, operator, times: times.to_vec(), conditions, place };
        match self.extension.constraints.last_mut().filter(|_| joined) {
            Some(first) => {
                first.slots = scope.slots;
                first.parts.push(read);
            }
            None => {
                let parts = vec![read];
                self.extension.constraints.push(Constraint {
                    preference,
                    variables,
                    slots: scope.slots,
                    parts,
                });
            }
        }
    }

    /// Records a timed initial literal.
    pub(super) fn timed_literal(&mut self, time: Number, element: &InitElement, span: Span) {
        let place = SourcePlace::problem(span);
        self.note_unplanned("a timed initial literal", place);
        if time.is_inexact() {
            self.note_unsupported("a time beyond exact arithmetic", place);
            return;
        }
        if time.is_negative() {
            let message = format!("a timed literal cannot happen at {time}: the plan starts at 0");
            self.error("planning.timed-past", message, place, "write a time from 0 on, or a plain literal");
            return;
        }
        let scope = Scope::new(TaskText::Problem);
        let change = match element {
            InitElement::Atom(atom) => self.changed_atom(atom, &scope).map(TimedEffect::Add),
            InitElement::Not(atom, _) => self.changed_atom(atom, &scope).map(TimedEffect::Delete),
            InitElement::Value(fluent, value, _) => {
                self.fluent(fluent, &scope).map(|term| TimedEffect::Set(term, *value))
            }
            InitElement::Timed { .. } => None,
        };
        if let Some(change) = change {
            self.extension.timed.push(TimedChange { time, change, span });
        }
    }

    /// A durative action; `number` is that of its schema.
    pub(super) fn durative(&mut self, action: &ast::DurativeAction, number: u32) -> DurativeSchema {
        self.note_unplanned("a durative action", SourcePlace::domain(action.span));
        let mut scope = Scope { durative: true, ..Scope::new(TaskText::Domain) };
        let variables = self.variables(&action.parameters, &mut scope);
        let bounds = self.bounds(action.duration.as_ref(), &mut scope);
        let mut conditions = [Vec::new(), Vec::new(), Vec::new()];
        for part in action.condition.iter().flat_map(parts) {
            let place = scope.place(part.condition.span());
            let Some(time) = part.time else {
                self.note_unsupported("a condition of a durative action without a time", place);
                continue;
            };
            let list = match time {
                TimeSpecifier::Start => 0,
                TimeSpecifier::OverAll => 1,
                TimeSpecifier::End => 2,
            };
            if part.preference.is_none() {
                let formula = self.quantified_part(&part, &mut scope);
                conditions[list].push(formula);
            } else if time == TimeSpecifier::OverAll {
                self.note_unsupported("a preference over all of a durative action", place);
            } else {
                let at_end = time == TimeSpecifier::End;
                self.soft_condition(&part, SoftPlace::Action { schema: number, at_end }, &mut scope);
            }
        }
        let effect = action.effect.as_ref();
        let mut effects = |normalizer: &mut Self, time| {
            let own = effect.and_then(|effect| normalizer.effect_at(effect, time, &scope));
            own.map(|own| normalizer.effects(&own, &mut scope)).unwrap_or_default()
        };
        let at_start = effects(self, TimeSpecifier::Start);
        let at_end = effects(self, TimeSpecifier::End);
        let [start, invariant, end] = conditions.map(Formula::And);
        let parameters = variables.len();
        let schema = |precondition, effects, variables: Vec<Variable>| ActionSchema {
            variables,
            parameters,
            slots: scope.slots,
            precondition,
            effects,
            span: action.span,
        };
        DurativeSchema {
            start: schema(start, at_start, variables.clone()),
            end: schema(end, at_end, variables),
            invariant,
            bounds,
        }
    }

    fn bounds(&mut self, duration: Option<&Condition>, scope: &mut Scope) -> Vec<DurationBound> {
        let mut bounds = Vec::new();
        for part in duration.iter().flat_map(|duration| duration.conjuncts()) {
            let (at_end, inner) = match part {
                Condition::Timed(time, inner, _) => (*time == TimeSpecifier::End, &**inner),
                plain => (false, plain),
            };
            match inner {
                Condition::Compare(c) if matches!(c.left, NumericExpr::Duration(_)) => {
                    if let Some(value) = self.expression(&c.right, scope) {
                        bounds.push(DurationBound { at_end, comparison: c.op, value, span: c.span });
                    }
                }
                other if other.is_empty() => {}
                other => self.note_unsupported("a duration of this form", scope.place(other.span())),
            }
        }
        bounds
    }

    /// The parts of an effect at the start or the end, without their times.
    fn effect_at(&mut self, effect: &Effect, time: TimeSpecifier, scope: &Scope) -> Option<Effect> {
        match effect {
            Effect::And(parts, span) => {
                let own: Vec<Effect> =
                    parts.iter().filter_map(|part| self.effect_at(part, time, scope)).collect();
                (!own.is_empty()).then_some(Effect::And(own, *span))
            }
            Effect::Forall(q) => {
                let body = Box::new(self.effect_at(&q.body, time, scope)?);
                Some(Effect::Forall(Quantified { parameters: q.parameters.clone(), body, span: q.span }))
            }
            Effect::When(condition, body, span) => {
                let body = Box::new(self.effect_at(body, time, scope)?);
                match condition_at(condition, time) {
                    Some(own) => Some(Effect::When(Box::new(own), body, *span)),
                    None => {
                        let what = "an effect under a condition of another time";
                        self.note_unsupported(what, scope.place(*span));
                        None
                    }
                }
            }
            Effect::Timed(own, body, _) => (*own == time).then(|| (**body).clone()),
            Effect::Assign(Assignment { span, .. }) | Effect::Delete(_, span) => {
                // Reported once, not for both ends.
                if time == TimeSpecifier::Start {
                    self.note_unsupported("a change over time (continuous effect)", scope.place(*span));
                }
                None
            }
            Effect::Add(atom) => {
                if time == TimeSpecifier::Start {
                    self.note_unsupported("an effect without a time", scope.place(atom.span));
                }
                None
            }
        }
    }
}

/// The condition of an effect without its times; `None` if one of them is another time.
fn condition_at(condition: &Condition, time: TimeSpecifier) -> Option<Condition> {
    match condition {
        Condition::And(parts, span) => {
            let own = parts.iter().map(|part| condition_at(part, time)).collect::<Option<Vec<_>>>();
            Some(Condition::And(own?, *span))
        }
        Condition::Timed(own, inner, _) => (*own == time).then(|| (**inner).clone()),
        _ => None,
    }
}

impl DurationBound {
    /// Returns true if a duration satisfies the bound, where values that differ by no more than `tolerance` count as equal.
    pub(crate) fn admits(&self, duration: Number, value: Number, tolerance: Number) -> bool {
        let (least, most) = (value - tolerance, value + tolerance);
        match self.comparison {
            CompareOp::Equal => {
                CompareOp::GreaterEqual.holds(duration, least) && CompareOp::LessEqual.holds(duration, most)
            }
            CompareOp::LessEqual => CompareOp::LessEqual.holds(duration, most),
            CompareOp::GreaterEqual => CompareOp::GreaterEqual.holds(duration, least),
            CompareOp::Less => CompareOp::Less.holds(duration, most),
            CompareOp::Greater => CompareOp::Greater.holds(duration, least),
        }
    }
}
