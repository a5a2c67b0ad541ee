//! Execution by happenings: the ends of durative actions, instantaneous actions and timed literals at their times (PDDL 2.1, Definitions
//! 11 to 20; PDDL 2.2 for timed literals).
//!
//! All actions at one time are one happening. Their conditions are tested and their effects computed in the state before it. Two of them
//! must not interfere: neither changes what the other one needs or prefers, and only amounts may change one number together. Actions that
//! interfere must be `epsilon` apart. The condition over all of a durative action holds in every state between its ends. Timed
//! literals after the last step take place before the goal is tested.

use super::schedule::PlannedStep;
use super::trajectory::Monitors;
use super::{
    APPLY_BYTES, Cause, Execution, Explainer, FailedCondition, FailingStep, MAX_REPORTED, Phase,
    PreferenceResult, Schedule, ScheduledStep, TimedLiteral, ValidationReport, bind, step_text,
};
use crate::lifted::{
    ActionSchema, DurationBound, EffectChange, Formula, LiftedAtom, LiftedExpr, LiftedTask, Metric,
    SoftCondition, SoftPlace, Term, TimedEffect, Variable,
};
use crate::plan_file::{FileStep, PlanFile};
use crate::satisfy::{Args, Cut, Work, first};
use crate::task::{GroundAction, ObjectId, SourcePlace, TaskText};
use crate::validate::world::StepChanges;
use crate::weights::Weights;
use planforge_diagnostics::Diagnostic;
use planforge_pddl::Number;
use planforge_pddl::ast::CompareOp;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Ordering;
use std::collections::hash_map::Entry;
use std::hash::Hash;

/// The steps of a plan with their times.
struct Timeline<'p> {
    steps: Vec<PlannedStep<'p>>,
    epsilon: Number,
}

/// What happens at a time.
#[derive(Clone, Copy)]
enum Event {
    /// Index of a timed literal.
    Timed(usize),
    /// Number of a step and its part.
    Step(usize, Phase),
}

/// A simple action of a happening, with what it reads and changes.
struct Snap<'t> {
    time: Number,
    event: Event,
    /// `None` for a timed literal.
    schema: Option<&'t ActionSchema>,
    /// Values of the bounds of the duration that are tested here.
    bounds: Vec<&'t LiftedExpr>,
    /// Preferred conditions that are tested here.
    soft: Vec<&'t SoftCondition>,
    binding: Vec<ObjectId>,
    changes: StepChanges,
}

/// Estimated bytes of a predicate that derived atoms depend on.
const DERIVED_INPUT_BYTES: u64 = 8;

/// Predicates and numbers that derived atoms depend on, by the derived predicate.
struct DerivedInputs {
    predicates: Vec<FxHashSet<u32>>,
    numbers: Vec<bool>,
}

impl DerivedInputs {
    fn new(task: &LiftedTask, work: &mut Work<'_>) -> Result<Self, Cut> {
        let count = task.predicates.len();
        let mut read: Vec<FxHashSet<u32>> = vec![FxHashSet::default(); count];
        let mut compares = vec![false; count];
        for rule in &task.rules {
            work.tick()?;
            let head = rule.predicate as usize;
            compares[head] |= rule.body.has_comparison();
            rule.body.for_each_literal(&mut |atom, _, _| {
                read[head].insert(atom.predicate);
            });
        }
        let mut inputs =
            DerivedInputs { predicates: vec![FxHashSet::default(); count], numbers: compares.clone() };
        for (head, direct) in read.iter().enumerate() {
            let mut all = FxHashSet::default();
            let mut open: Vec<u32> = direct.iter().copied().collect();
            while let Some(predicate) = open.pop() {
                work.tick()?;
                if all.insert(predicate) {
                    inputs.numbers[head] |= compares[predicate as usize];
                    for &next in &read[predicate as usize] {
                        work.tick()?;
                        open.extend((!all.contains(&next)).then_some(next));
                    }
                }
            }
            work.charge(all.len() as u64 * DERIVED_INPUT_BYTES)?;
            inputs.predicates[head] = all;
        }
        Ok(inputs)
    }
}

impl<'t> Execution<'t> {
    /// Executes a plan by its times and reports its verdict.
    pub(super) fn run_timed(
        &mut self,
        file: &PlanFile,
        steps: &[Option<GroundAction>],
        epsilon: Number,
        report: &mut ValidationReport,
        work: &mut Work<'_>,
    ) -> Result<(), Cut> {
        let inexact = |step: &FileStep| {
            let start = step.time.unwrap_or(Number::ZERO);
            let duration = step.duration.unwrap_or(Number::ZERO);
            start.is_inexact() || duration.is_inexact() || (start + duration).is_inexact()
        };
        if file.steps.iter().any(inexact) {
            return Err(Cut::Inexact);
        }
        let Some(steps) = self.planned(file, steps, report) else {
            self.finish(report);
            return Ok(());
        };
        let plan = Timeline { steps, epsilon };
        let makespan = plan.steps.iter().map(PlannedStep::end).fold(Number::ZERO, larger);
        if self.task.extension.has_time() || super::schedule::is_concurrent(file) {
            report.schedule = Some(self.schedule(&plan, makespan));
        }
        self.report_overlaps(&plan.steps, report);
        let mut violations = vec![0; self.task.extension.preferences.len()];
        let mut monitors = Monitors::new(&self.task.extension, work)?;
        if !self.happen_all(&plan, &mut monitors, &mut violations, report, work)? {
            self.world.time = makespan;
            self.finish(report);
            return Ok(());
        }
        self.world.time = makespan;
        self.check_goal(report, work)?;
        if !self.task.rules.is_empty() {
            self.world.close(work)?;
        }
        self.count_soft(SoftPlace::Goal, None, &mut violations, work)?;
        let explainer =
            Explainer { task: self.task, world: &self.world, text: TaskText::Problem, changed_by: &|_| None };
        let violated = monitors.finish(&explainer, &mut violations);
        for violation in violated.iter().take(MAX_REPORTED) {
            let place = violation.part.place;
            let message = format!("the constraint {} is violated: {}", violation.text, violation.why);
            report.diagnostics.push(
                Diagnostic::error("plan.constraint", message)
                    .at(place.text.source(), place.span, "the constraint")
                    .help("change the plan so that its states satisfy the constraint"),
            );
        }
        let more = violated.len().saturating_sub(MAX_REPORTED);
        if more > 0 {
            let message = format!("{more} more instances of constraints are violated");
            let help = "the first ones are listed before this one";
            report.diagnostics.push(Diagnostic::error("plan.constraint", message).help(help));
        }
        self.report_preferences(&violations, report);
        self.finish(report);
        Ok(())
    }

    fn schedule(&self, plan: &Timeline<'_>, makespan: Number) -> Schedule {
        let symbols = &self.task.symbols;
        let step = |(index, step): (usize, &PlannedStep<'_>)| {
            let (text, start, duration) = (symbols.step(step.action), step.start, step.duration);
            ScheduledStep { index, text, start, duration }
        };
        let timed = self.task.extension.timed.iter().map(|timed| {
            let text = match &timed.change {
                TimedEffect::Add(atom) => symbols.atom(&atom.instantiate(&[])),
                TimedEffect::Delete(atom) => format!("(not {})", symbols.atom(&atom.instantiate(&[]))),
                TimedEffect::Set(term, value) => {
                    format!("(= {} {value})", symbols.function_term(&term.instantiate(&[])))
                }
            };
            TimedLiteral { time: timed.time, text }
        });
        Schedule {
            steps: plan.steps.iter().enumerate().map(step).collect(),
            timed: timed.collect(),
            makespan,
            epsilon: plan.epsilon,
        }
    }

    /// Warns about copies of one durative action that overlap.
    fn report_overlaps(&self, planned: &[PlannedStep<'_>], report: &mut ValidationReport) {
        let mut last: FxHashMap<&GroundAction, usize> = FxHashMap::default();
        let mut reported = 0;
        for (index, step) in planned.iter().enumerate().filter(|(_, step)| step.duration.is_some()) {
            let Some(earlier) = last.insert(step.action, index) else { continue };
            if CompareOp::Less.holds(step.start, planned[earlier].end()) && reported < MAX_REPORTED {
                reported += 1;
                let text = step_text(step.file);
                report.diagnostics.push(
                    Diagnostic::warning("plan.overlap", format!("two copies of {text} overlap"))
                        .at(TaskText::Plan.source(), step.file.span, "starts before the other one ends")
                        .also(TaskText::Plan.source(), planned[earlier].file.span, "the other one")
                        .help("many planners and executors do not allow it; let one end first"),
                );
            }
        }
    }

    fn report_preferences(&mut self, violations: &[u64], report: &mut ValidationReport) {
        let extension = &self.task.extension;
        let weights = Weights::of(self.task).filter(|weights| matches!(weights.rest, Metric::Value { .. }));
        for ((index, preference), &violations) in (0..).zip(&extension.preferences).zip(violations) {
            let cost = weights
                .as_ref()
                .map(|weights| weights.of_preference(self.task, index) * Number::integer(violations.into()));
            if let Some(name) = preference.name {
                self.world.violations[name as usize] += violations;
            }
            let name = preference.name.map(|name| extension.preference_names[name as usize].clone());
            report.preferences.push(PreferenceResult { name, place: preference.place, violations, cost });
        }
    }

    /// Executes all happenings; false after a failure, which is reported.
    fn happen_all(
        &mut self,
        plan: &Timeline<'_>,
        monitors: &mut Monitors<'t>,
        violations: &mut [u64],
        report: &mut ValidationReport,
        work: &mut Work<'_>,
    ) -> Result<bool, Cut> {
        let inputs = DerivedInputs::new(self.task, work)?;
        let closes = !self.task.rules.is_empty();
        let events = events(self.task, &plan.steps);
        let mut active: Vec<usize> = Vec::new();
        let mut recent: Vec<Snap<'t>> = Vec::new();
        if closes && !monitors.is_empty() {
            self.world.close(work)?;
        }
        monitors.observe(&self.world, Number::ZERO, work)?;
        let mut at = 0;
        while let Some(&(time, _)) = events.get(at) {
            let same = events[at..].iter().take_while(|(other, _)| *other == time).count();
            let group = &events[at..at + same];
            at += same;
            let held = work.held();
            if closes {
                self.world.close(work)?;
            }
            let mut snaps = Vec::with_capacity(group.len());
            for &(_, event) in group {
                work.tick()?;
                let Some(snap) = self.snap(event, time, plan, violations, report, work)? else {
                    return Ok(false);
                };
                match snaps.last_mut() {
                    // Timed literals at one time are one event: what they make false is made false first.
                    Some(Snap { schema: None, changes, .. }) if snap.schema.is_none() => {
                        changes.added.extend(snap.changes.added);
                        changes.deleted.extend(snap.changes.deleted);
                        changes.numbers.extend(snap.changes.numbers);
                        changes.replaced.extend(snap.changes.replaced);
                    }
                    _ => snaps.push(snap),
                }
            }
            if recent.iter().any(|snap| (time - snap.time).is_inexact()) {
                return Err(Cut::Inexact);
            }
            recent.retain(|snap| CompareOp::Less.holds(time - snap.time, plan.epsilon));
            if self.report_interference(&snaps, &recent, &inputs, plan, report, work)? {
                return Ok(false);
            }
            let executed = self.trace.len();
            self.apply_all(&mut snaps, plan, work)?;
            work.release_to(held);
            self.charge_trace(executed, work)?;
            for snap in &snaps {
                match snap.event {
                    Event::Step(step, Phase::End) => active.retain(|other| *other != step),
                    Event::Step(step, Phase::Start) if plan.steps[step].end() != time => active.push(step),
                    _ => {}
                }
            }
            if closes {
                self.world.close(work)?;
            }
            for &step in &active {
                if !self.check_invariant(step, time, plan, report, work)? {
                    return Ok(false);
                }
            }
            monitors.observe(&self.world, time, work)?;
            recent.append(&mut snaps);
        }
        Ok(true)
    }

    /// The schema of a part of a step.
    fn schema_of(&self, action: &GroundAction, phase: Phase) -> &'t ActionSchema {
        let task: &'t LiftedTask = self.task;
        match (phase, task.durative(action.action)) {
            (Phase::End, Some(durative)) => &durative.end,
            _ => task.schema(action.action),
        }
    }

    /// Tests the conditions of an event and computes its effects; `None` after a failure, which is reported.
    fn snap(
        &mut self,
        event: Event,
        time: Number,
        plan: &Timeline<'_>,
        violations: &mut [u64],
        report: &mut ValidationReport,
        work: &mut Work<'_>,
    ) -> Result<Option<Snap<'t>>, Cut> {
        let task: &'t LiftedTask = self.task;
        let (index, phase) = match event {
            Event::Step(index, phase) => (index, phase),
            Event::Timed(index) => {
                let mut changes = StepChanges::default();
                match &task.extension.timed[index].change {
                    TimedEffect::Add(atom) => changes.added.push(ground(atom)),
                    TimedEffect::Delete(atom) => changes.deleted.push(ground(atom)),
                    TimedEffect::Set(term, value) => {
                        let (function, args) = ground(term);
                        changes.replaced.insert((function, args.clone()));
                        changes.numbers.push((function, args, *value));
                    }
                }
                let (bounds, soft, binding) = (Vec::new(), Vec::new(), Vec::new());
                return Ok(Some(Snap { time, event, schema: None, bounds, soft, binding, changes }));
            }
        };
        let step = &plan.steps[index];
        let schema = self.schema_of(step.action, phase);
        let mut binding = bind(schema, step.action);
        self.world.duration = step.duration.unwrap_or(Number::UNDEFINED);
        let at_end = phase == Phase::End;
        let mut bounds = Vec::new();
        for bound in task.durative(step.action.action).iter().flat_map(|durative| &durative.bounds) {
            if bound.at_end != at_end {
                continue;
            }
            bounds.push(&bound.value);
            let value = self.world.value(&bound.value, &binding);
            if [value, value + plan.epsilon, value - plan.epsilon].into_iter().any(Number::is_inexact) {
                return Err(Cut::Inexact);
            }
            if !bound.admits(self.world.duration, value, plan.epsilon) {
                let failed = self.failed_bound(bound, value, &binding);
                let opening =
                    format!("the duration of step {} {} is not allowed", index + 1, self.texts[index]);
                self.report_failures("plan.duration", &opening, (index, step), vec![failed], report);
                return Ok(None);
            }
        }
        let derives = !task.rules.is_empty();
        if let Some(failures) = self.unmet_precondition(schema, derives, &mut binding, work)? {
            let opening = format!("{} is not applicable", self.event_text(event, time));
            self.report_failures("plan.precondition", &opening, (index, step), failures, report);
            return Ok(None);
        }
        let place = SoftPlace::Action { schema: step.action.action, at_end };
        let soft: Vec<&SoftCondition> =
            task.extension.soft_conditions.iter().filter(|soft| soft.place == place).collect();
        if !soft.is_empty() {
            self.count_soft(place, Some(&binding), violations, work)?;
        }
        let changes = self.world.changes(schema, &self.world.view(), &mut binding, work)?;
        if !changes.bad.is_empty() {
            let failures = changes.bad.iter().map(|bad| self.bad_change(bad)).collect();
            let opening = format!("{} is not applicable", self.event_text(event, time));
            self.report_failures("plan.precondition", &opening, (index, step), failures, report);
            return Ok(None);
        }
        Ok(Some(Snap { time, event, schema: Some(schema), bounds, soft, binding, changes }))
    }

    /// The event in words, with its time: `the end of step 3 (mend f1) at 5`.
    fn event_text(&self, event: Event, time: Number) -> String {
        match event {
            Event::Timed(_) => format!("the timed literal at {time}"),
            Event::Step(index, phase) => {
                let part = match phase {
                    Phase::Whole => "",
                    Phase::Start => "the start of ",
                    Phase::End => "the end of ",
                };
                format!("{part}step {} {} at {time}", index + 1, self.texts[index])
            }
        }
    }

    /// Reports the conditions that a step fails for. `opening` begins each message.
    fn report_failures(
        &self,
        code: &'static str,
        opening: &str,
        (index, step): (usize, &PlannedStep<'_>),
        conditions: Vec<FailedCondition>,
        report: &mut ValidationReport,
    ) {
        for condition in conditions.iter().take(MAX_REPORTED) {
            report.diagnostics.push(
                Diagnostic::error(code, format!("{opening}: {}", condition.why))
                    .at(TaskText::Plan.source(), step.file.span, format!("needs {}", condition.text))
                    .also(condition.place.text.source(), condition.place.span, "the condition")
                    .help(format!("it needs {}", condition.remedy)),
            );
        }
        report.failing_step = Some(FailingStep { index, text: self.texts[index].clone(), conditions });
    }

    /// The bound that a duration does not satisfy, `value` being its right side.
    fn failed_bound(&self, bound: &DurationBound, value: Number, binding: &[ObjectId]) -> FailedCondition {
        let explainer =
            Explainer { task: self.task, world: &self.world, text: TaskText::Domain, changed_by: &|_| None };
        let text = explainer.expression(&bound.value, binding);
        let (duration, operator) = (self.world.duration, bound.comparison.as_str());
        let (why, remedy) = if value.is_undefined() {
            (format!("{text} has no value"), "initial values for the functions of the duration".to_owned())
        } else {
            let now = match bound.value {
                LiftedExpr::Constant(_) => String::new(),
                _ => format!(", and {text} is {value}"),
            };
            (format!("the duration is {duration}{now}"), format!("a duration {operator} {value}"))
        };
        FailedCondition {
            text: format!("({operator} ?duration {text})"),
            place: SourcePlace::domain(bound.span),
            why,
            remedy,
            atom: None,
            negated: false,
            changed_by: None,
        }
    }

    /// Counts the violations of the preferences at a place. `binding` has the arguments of the action.
    fn count_soft(
        &mut self,
        place: SoftPlace,
        binding: Option<&[ObjectId]>,
        violations: &mut [u64],
        work: &mut Work<'_>,
    ) -> Result<(), Cut> {
        for soft in self.task.extension.soft_conditions.iter().filter(|soft| soft.place == place) {
            let mut own = vec![ObjectId::MAX; soft.slots];
            if let Some(binding) = binding {
                let shared = own.len().min(binding.len());
                own[..shared].copy_from_slice(&binding[..shared]);
            }
            let count = &mut violations[soft.preference as usize];
            let view = self.world.view();
            first(&view, &soft.variables, (&soft.condition, false), &mut own, work, &mut |_, _| {
                *count += 1;
                Ok(true)
            })?;
        }
        Ok(())
    }

    /// Tests the condition over all of a step; false if it does not hold, which is reported.
    fn check_invariant(
        &mut self,
        index: usize,
        time: Number,
        plan: &Timeline<'_>,
        report: &mut ValidationReport,
        work: &mut Work<'_>,
    ) -> Result<bool, Cut> {
        let step = &plan.steps[index];
        let Some(durative) = self.task.durative(step.action.action) else { return Ok(true) };
        work.tick()?;
        if durative.invariant.is_truth() {
            return Ok(true);
        }
        self.world.duration = step.duration.unwrap_or(Number::UNDEFINED);
        let mut binding = bind(&durative.start, step.action);
        if self.world.holds(&durative.invariant, &mut binding, work)? {
            return Ok(true);
        }
        let failures = self.explainer_failures(&durative.invariant, TaskText::Domain, &mut binding, work)?;
        let text = &self.texts[index];
        let opening = format!("a condition over all of step {} {text} fails after {time}", index + 1);
        self.report_failures("plan.over-all", &opening, (index, step), failures, report);
        Ok(false)
    }

    /// Applies the changes of a happening, which do not interfere.
    fn apply_all(
        &mut self,
        snaps: &mut [Snap<'t>],
        plan: &Timeline<'_>,
        work: &mut Work<'_>,
    ) -> Result<(), Cut> {
        let before = shared_numbers(self, snaps);
        for snap in snaps.iter_mut() {
            let mut changes = StepChanges {
                added: snap.changes.added.clone(),
                deleted: snap.changes.deleted.clone(),
                numbers: snap.changes.numbers.clone(),
                ..StepChanges::default()
            };
            self.add_amounts(&mut changes, &before);
            let changed = changes.added.len() + changes.deleted.len() + changes.numbers.len();
            work.charge(changed as u64 * APPLY_BYTES)?;
            let cause = self.causes.len();
            let text = self.event_text(snap.event, snap.time);
            let step = match snap.event {
                Event::Timed(_) => None,
                Event::Step(index, phase) => Some((index, phase)),
            };
            self.causes.push(Cause { step: step.map(|(index, _)| index), text });
            let applied = self.apply(cause, changes);
            // The trace has steps only; timed literals are in the schedule.
            if let Some((index, phase)) = step {
                let moment = Some((snap.time, phase));
                self.trace.push(applied.by(plan.steps[index].action, index, moment));
            }
        }
        Ok(())
    }

    /// Adds to the numbers of a step what other steps of the happening added before it.
    fn add_amounts(&self, changes: &mut StepChanges, before: &FxHashMap<(u32, Args), Number>) {
        if before.is_empty() {
            return;
        }
        let mut last: Vec<(u32, Args, Number)> = Vec::with_capacity(changes.numbers.len());
        let mut places: FxHashMap<(u32, Args), usize> = FxHashMap::default();
        for (function, args, value) in changes.numbers.drain(..) {
            match places.entry((function, args.clone())) {
                Entry::Occupied(place) => last[*place.get()].2 = value,
                Entry::Vacant(place) => {
                    place.insert(last.len());
                    last.push((function, args, value));
                }
            }
        }
        for (function, args, value) in &mut last {
            if let Some(&old) = before.get(&(*function, args.clone())) {
                let now = self.number_or_start(*function, args);
                if now != old {
                    *value = *value + (now - old);
                }
            }
        }
        changes.numbers = last;
    }

    /// The value of a function term, 0 for a cost counter that has none.
    fn number_or_start(&self, function: u32, args: &Args) -> Number {
        let value = self.world.view().number(function, args);
        if value.is_undefined() && self.task.counts_from_zero(function) { Number::ZERO } else { value }
    }

    /// Reports two events that interfere; false if there are none.
    fn report_interference(
        &self,
        snaps: &[Snap<'t>],
        recent: &[Snap<'t>],
        inputs: &DerivedInputs,
        plan: &Timeline<'_>,
        report: &mut ValidationReport,
        work: &mut Work<'_>,
    ) -> Result<bool, Cut> {
        for (number, later) in snaps.iter().enumerate() {
            for earlier in recent.iter().chain(&snaps[..number]) {
                work.tick()?;
                let Some(what) = self.interference(earlier, later, inputs, work)? else { continue };
                let place = |event: Event| match event {
                    Event::Step(step, _) => (TaskText::Plan, plan.steps[step].file.span),
                    Event::Timed(index) => (TaskText::Problem, self.task.extension.timed[index].span),
                };
                let (main, other) = match later.event {
                    Event::Step(..) => (later, earlier),
                    Event::Timed(_) => (earlier, later),
                };
                let ((text, span), (other_text, other_span)) = (place(main.event), place(other.event));
                let message = format!(
                    "{} and {} interfere: {what}",
                    self.event_text(earlier.event, earlier.time),
                    self.event_text(later.event, later.time)
                );
                report.diagnostics.push(
                    Diagnostic::error("plan.interference", message)
                        .at(text.source(), span, "")
                        .also(other_text.source(), other_span, "interferes")
                        .help(format!("let at least {} pass between them", plan.epsilon)),
                );
                if let Event::Step(index, _) = main.event {
                    let text = self.texts[index].clone();
                    report.failing_step = Some(FailingStep { index, text, conditions: Vec::new() });
                }
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What two events cannot both need or change, as a clause.
    fn interference(
        &self,
        a: &Snap<'t>,
        b: &Snap<'t>,
        inputs: &DerivedInputs,
        work: &mut Work<'_>,
    ) -> Result<Option<String>, Cut> {
        if a.schema.is_none() && b.schema.is_none() {
            return Ok(None);
        }
        let symbols = &self.task.symbols;
        let atom = |fact: &(u32, Args)| {
            symbols.atom(&crate::task::Atom { predicate: fact.0, args: fact.1.as_slice().into() })
        };
        let term = |function: u32, args: &Args| {
            symbols.function_term(&crate::task::Atom { predicate: function, args: args.as_slice().into() })
        };
        for (one, other) in [(a, b), (b, a)] {
            let deleted = collect_set(other.changes.deleted.iter(), work)?;
            for fact in &one.changes.added {
                work.tick()?;
                if deleted.contains(fact) {
                    return Ok(Some(format!("one makes {} true, the other one makes it false", atom(fact))));
                }
            }
            let numbers = other.changes.numbers.iter().map(|(function, args, _)| (*function, args));
            let numbers = collect_set(numbers, work)?;
            for (function, args, _) in &one.changes.numbers {
                work.tick()?;
                let key = (*function, args.clone());
                let both = numbers.contains(&(*function, args));
                if both && (one.changes.replaced.contains(&key) || other.changes.replaced.contains(&key)) {
                    let text = term(*function, args);
                    return Ok(Some(format!("both change {text}, and not only by amounts")));
                }
                let reader =
                    Reader { inputs, binding: &other.binding, wanted: Wanted::Number(*function, args) };
                if reader.snap(other) {
                    let text = term(*function, args);
                    return Ok(Some(format!("one changes {text}, which the other one needs")));
                }
            }
            for fact in one.changes.added.iter().chain(&one.changes.deleted) {
                work.tick()?;
                let reader =
                    Reader { inputs, binding: &other.binding, wanted: Wanted::Fact(fact.0, &fact.1) };
                if reader.snap(other) {
                    return Ok(Some(format!("one changes {}, which the other one needs", atom(fact))));
                }
            }
        }
        Ok(None)
    }
}

/// The happenings of a plan in order, those of one time together.
fn events(task: &LiftedTask, planned: &[PlannedStep<'_>]) -> Vec<(Number, Event)> {
    let mut events: Vec<(Number, Event)> = Vec::with_capacity(2 * planned.len());
    events.extend(task.extension.timed.iter().enumerate().map(|(i, timed)| (timed.time, Event::Timed(i))));
    for (index, step) in planned.iter().enumerate() {
        match step.duration {
            None => events.push((step.start, Event::Step(index, Phase::Whole))),
            Some(_) => {
                events.push((step.start, Event::Step(index, Phase::Start)));
                events.push((step.end(), Event::Step(index, Phase::End)));
            }
        }
    }
    events.sort_by(|a, b| a.0.compare(b.0).unwrap_or(Ordering::Equal));
    events
}

/// A set of keys; each counts as work.
fn collect_set<K: Hash + Eq>(
    keys: impl Iterator<Item = K>,
    work: &mut Work<'_>,
) -> Result<FxHashSet<K>, Cut> {
    let mut set = FxHashSet::default();
    for key in keys {
        work.tick()?;
        set.insert(key);
    }
    Ok(set)
}

fn larger(a: Number, b: Number) -> Number {
    if CompareOp::Less.holds(a, b) { b } else { a }
}

fn ground(atom: &LiftedAtom) -> (u32, Args) {
    (atom.predicate, super::args_of(atom, &[]))
}

/// Values before the happening of the numbers that several of its events change.
fn shared_numbers(execution: &Execution<'_>, snaps: &[Snap<'_>]) -> FxHashMap<(u32, Args), Number> {
    let mut values = FxHashMap::default();
    if snaps.len() > 1 {
        for (function, args, _) in snaps.iter().flat_map(|snap| &snap.changes.numbers) {
            values.insert((*function, args.clone()), execution.number_or_start(*function, args));
        }
    }
    values
}

/// An atom or number that is looked for in conditions.
#[derive(Clone, Copy)]
enum Wanted<'w> {
    Fact(u32, &'w Args),
    Number(u32, &'w Args),
}

/// Finds whether conditions and amounts of an action mention an atom or number, under the action's binding and any objects for the
/// variables of quantifiers.
struct Reader<'r> {
    inputs: &'r DerivedInputs,
    binding: &'r [ObjectId],
    wanted: Wanted<'r>,
}

impl<'r> Reader<'r> {
    fn snap(&self, snap: &'r Snap<'_>) -> bool {
        let Some(schema) = snap.schema else { return false };
        let mut scope: Vec<&'r Variable> = Vec::new();
        if self.formula(&schema.precondition, &mut scope)
            || snap.bounds.iter().any(|e| self.expression(e, &scope))
        {
            return true;
        }
        let preferred = snap.soft.iter().any(|soft| {
            scope.clear();
            scope.extend(&soft.variables);
            self.formula(&soft.condition, &mut scope)
        });
        preferred
            || schema.effects.iter().any(|group| {
                scope.clear();
                scope.extend(&group.variables);
                self.formula(&group.condition, &mut scope)
                    || group.changes.iter().any(|(change, _)| match change {
                        EffectChange::Numeric(_, _, amount) => self.expression(amount, &scope),
                        EffectChange::Add(_) | EffectChange::Delete(_) => false,
                    })
            })
    }

    fn formula(&self, formula: &'r Formula, scope: &mut Vec<&'r Variable>) -> bool {
        match formula {
            Formula::And(parts) | Formula::Or(parts, _) => parts.iter().any(|part| self.formula(part, scope)),
            Formula::Literal { atom, .. } => match self.wanted {
                Wanted::Fact(predicate, args) => {
                    predicate == atom.predicate && self.matches(&atom.args, args, scope)
                        || self.inputs.predicates[atom.predicate as usize].contains(&predicate)
                }
                Wanted::Number(..) => self.inputs.numbers[atom.predicate as usize],
            },
            Formula::Equal { .. } => false,
            Formula::Compare { left, right, .. } => {
                self.expression(left, scope) || self.expression(right, scope)
            }
            Formula::Exists(variables, body, _) | Formula::Forall(variables, body, _) => {
                let outer = scope.len();
                scope.extend(variables);
                let found = self.formula(body, scope);
                scope.truncate(outer);
                found
            }
        }
    }

    fn expression(&self, expression: &LiftedExpr, scope: &[&Variable]) -> bool {
        let Wanted::Number(function, args) = self.wanted else { return false };
        let mut found = false;
        expression.for_each_function(&mut |term| {
            found |= term.predicate == function && self.matches(&term.args, args, scope);
        });
        found
    }

    /// Returns true if some objects for the variables in scope make the terms equal to the row.
    fn matches(&self, terms: &[Term], row: &Args, scope: &[&Variable]) -> bool {
        let mut chosen: Vec<(u32, ObjectId)> = Vec::new();
        terms.iter().zip(row).all(|(term, &object)| match term {
            Term::Object(fixed) => *fixed == object,
            Term::Slot(slot) => match scope.iter().rev().find(|variable| variable.slot == *slot) {
                None => self.binding[*slot as usize] == object,
                Some(variable) => match chosen.iter().find(|(known, _)| known == slot) {
                    Some((_, earlier)) => *earlier == object,
                    None => {
                        chosen.push((*slot, object));
                        variable.objects.binary_search(&object).is_ok()
                    }
                },
            },
        })
    }
}
