//! The states along a plan, for a front that shows one after the other.

use super::Sentences;
use super::validate::verdict;
use crate::context::Context;
use crate::inputs::{Inputs, Source};
use crate::limits::RequestLimits;
use planforge_contract::ReportedDiagnostic;
use planforge_evaluate::gantt;
use planforge_pddl::Number;
use planforge_planning::{
    FailedCondition, Phase, Schedule, TimedLiteral, TraceStep, ValidationDecision, ValidationOptions,
    ValidationReport, normalize,
};
use planforge_plugin_common::telling::{ToldPlan, tell_plan};
use serde::Serialize;
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// Most states that are returned.
const MOST_STATES: usize = 1000;
/// Most facts of all states together.
const MOST_FACTS: usize = 200_000;

/// A task and a plan.
#[derive(Debug, Clone)]
pub struct StepsRequest {
    /// The domain.
    pub domain: Source,
    /// The problem.
    pub problem: Source,
    /// The plan.
    pub plan: Source,
    /// The sentences of facts.
    pub sentences: Sentences,
    /// Limits on executing the plan.
    pub limits: RequestLimits,
}

/// The states along a plan.
#[derive(Debug, Clone, Default, Serialize)]
pub struct StepsResult {
    /// accepted, rejected or undecided.
    pub decision: &'static str,
    /// The initial state, then the state after each change: a step that was executed, the start or the end of one with a duration, or
    /// the timed literals of one moment. Timed literals between the last executed part of a failing step and its failure are not shown.
    pub states: Vec<StateAfter>,
    /// Derived predicates, whose facts no state lists.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub derived: Vec<String>,
    /// States that a limit left out.
    pub left_out: usize,
    /// Objects and constants with their types.
    pub objects: Vec<TypedObject>,
    /// The goal as PDDL.
    pub goal: String,
    /// The first step that could not be executed, with the conditions that did not hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failing: Option<FailingStep>,
    /// Parts of the goal that do not hold at the end, and why.
    pub missing: Vec<String>,
    /// The chart of a plan with times, as SVG.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gantt: Option<String>,
    /// The plan in sentences; absent for a plan with times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words: Option<ToldPlan>,
    /// Findings about the texts and the plan.
    pub diagnostics: Vec<ReportedDiagnostic>,
}

/// A state, and the change that led to it.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct StateAfter {
    /// The step as PDDL; absent for the initial state and for timed literals.
    pub step: Option<String>,
    /// Its number in the plan, by time, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<usize>,
    /// `start` or `end` of a step with a duration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<&'static str>,
    /// Time of the change, in a plan with times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<f64>,
    /// Facts that became true.
    pub added: Vec<String>,
    /// Facts that became false.
    pub removed: Vec<String>,
    /// Facts, sorted, without derived ones; a number is the fact `(= (f a) 3)`.
    pub facts: Vec<String>,
}

/// An object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TypedObject {
    /// Its name.
    pub name: String,
    /// Its type; `object` without one, several joined by `or`.
    #[serde(rename = "type")]
    pub ty: String,
}

/// A step that could not be executed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FailingStep {
    /// Its number in the plan, from 1.
    pub number: usize,
    /// The step.
    pub step: String,
    /// The conditions that did not hold, and why.
    pub conditions: Vec<String>,
}

/// Executes a plan and returns its states. Texts that cannot be used have no state.
pub fn steps(context: &Context, request: &StepsRequest) -> StepsResult {
    let mut limits = request.limits.start(context);
    let mut inputs = Inputs::read(context, &request.domain, Some(&request.problem));
    let (source, text) = inputs.load_plan(context, &request.plan);
    let usable = text.filter(|_| !inputs.unreadable);
    let options = ValidationOptions { time: true, ..ValidationOptions::default() };
    let report = usable.and_then(|text| inputs.texts.validate_plan(source, &text, &options, &mut limits));
    let mut result =
        StepsResult { decision: "undecided", objects: objects(&inputs), ..StepsResult::default() };
    if let Some(report) = &report {
        (_, result.decision) = verdict(&inputs, Some(report));
        add_states(report, initial_facts(&inputs, report), &mut result);
        result.failing = report.failing_step.as_ref().map(|failing| FailingStep {
            number: failing.index + 1,
            step: failing.text.clone(),
            conditions: failing.conditions.iter().map(reason).collect(),
        });
        result.missing = report.missing_goals.iter().map(reason).collect();
        result.gantt = report.schedule.as_ref().map(gantt::svg);
        if report.schedule.is_none() {
            let wording = request.sentences.read(context, &request.domain, &mut inputs);
            result.words = Some(tell_plan(report, &wording));
        }
    }
    let derived = inputs.texts.domain.iter().flat_map(|domain| &domain.derived);
    result.derived = derived.map(|rule| rule.predicate.key().to_owned()).collect();
    result.derived.sort();
    result.derived.dedup();
    if let Some(goal) = inputs.texts.problem.as_ref().and_then(|problem| problem.goal.as_ref()) {
        result.goal = planforge_pddl::print_condition(goal);
    }
    result.diagnostics = inputs.into_findings_of_result().reported();
    result
}

fn reason(failed: &FailedCondition) -> String {
    format!("{}: {}", failed.text, failed.why)
}

fn objects(inputs: &Inputs) -> Vec<TypedObject> {
    let constants = inputs.texts.domain.iter().flat_map(|domain| &domain.constants);
    let objects = inputs.texts.problem.iter().flat_map(|problem| &problem.objects);
    let typed = constants.chain(objects).map(|one| {
        let types: Vec<&str> = one.ty.iter().flat_map(|ty| &ty.alternatives).map(|ty| ty.key()).collect();
        let ty = if types.is_empty() { "object".to_owned() } else { types.join(" or ") };
        TypedObject { name: one.name.key().to_owned(), ty }
    });
    typed.collect()
}

/// The states of an execution up to the limits, and how many are left out.
pub(super) fn states_along(inputs: &Inputs, report: &ValidationReport) -> (Vec<StateAfter>, usize) {
    let mut result = StepsResult::default();
    add_states(report, initial_facts(inputs, report), &mut result);
    (result.states, result.left_out)
}

/// Facts and numbers of the initial state.
fn initial_facts(inputs: &Inputs, report: &ValidationReport) -> BTreeSet<String> {
    let mut facts: BTreeSet<String> = report.initial.iter().map(|atom| report.symbols.atom(atom)).collect();
    if let (Some(domain), Some(problem)) = (&inputs.texts.domain, &inputs.texts.problem)
        && let Ok(task) = normalize(domain, problem)
    {
        let numbers = task.init_numbers.iter();
        facts.extend(numbers.map(|(term, value)| number_fact(&task.symbols.function_term(term), *value)));
    }
    facts
}

fn number_fact(term: &str, value: Number) -> String {
    format!("(= {term} {value})")
}

/// A change of the state.
enum Change<'r> {
    Step(&'r TraceStep),
    /// Timed literals of one moment.
    Timed(&'r [TimedLiteral]),
}

/// The changes of a plan in order. Timed literals come before the steps of their moment, as in the validation.
fn changes(report: &ValidationReport) -> Vec<Change<'_>> {
    let timed = report.schedule.as_ref().map_or(&[][..], |schedule| took_place(schedule, report));
    let mut groups = timed.chunk_by(|a, b| a.time == b.time).peekable();
    let mut changes = Vec::with_capacity(report.trace.len());
    for step in &report.trace {
        if let Some((time, _)) = step.moment {
            while let Some(group) = groups.next_if(|group| !is_less(time, group[0].time)) {
                changes.push(Change::Timed(group));
            }
        }
        changes.push(Change::Step(step));
    }
    changes.extend(groups.map(Change::Timed));
    changes
}

fn is_less(a: Number, b: Number) -> bool {
    a.compare(b).is_some_and(Ordering::is_lt)
}

/// The timed literals before the failure or the limit that ended the execution; all of them if nothing did.
fn took_place<'r>(schedule: &'r Schedule, report: &ValidationReport) -> &'r [TimedLiteral] {
    let failing = report.failing_step.as_ref().map(|failing| failing.index);
    let not_begun = schedule
        .steps
        .iter()
        .find(|step| failing == Some(step.index) && report.trace.iter().all(|done| done.index != step.index));
    let last = report.trace.last().and_then(|step| step.moment).map(|(time, _)| time);
    let is_decided = matches!(report.decision, ValidationDecision::Valid | ValidationDecision::Invalid);
    let count = schedule.timed.iter().take_while(|literal| match (not_begun, failing) {
        (Some(step), _) => is_less(literal.time, step.start),
        (None, None) if is_decided => true,
        (None, _) => last.is_some_and(|last| !is_less(last, literal.time)),
    });
    &schedule.timed[..count.count()]
}

/// Adds the states after all changes, up to the limits.
fn add_states(report: &ValidationReport, mut facts: BTreeSet<String>, result: &mut StepsResult) {
    let mut kept = facts.len();
    let list = |facts: &BTreeSet<String>| facts.iter().cloned().collect();
    result.states.push(StateAfter { facts: list(&facts), ..StateAfter::default() });
    let changes = changes(report);
    for (number, change) in changes.iter().enumerate() {
        let mut state = match change {
            Change::Step(step) => after_step(report, step, &facts),
            Change::Timed(literals) => after_literals(literals, &facts),
        };
        for fact in &state.removed {
            facts.remove(fact);
        }
        facts.extend(state.added.iter().cloned());
        kept += facts.len();
        if result.states.len() >= MOST_STATES || kept > MOST_FACTS {
            result.left_out = changes.len() - number;
            return;
        }
        state.facts = list(&facts);
        result.states.push(state);
    }
}

/// A step and its changes of the facts before it.
fn after_step(report: &ValidationReport, step: &TraceStep, facts: &BTreeSet<String>) -> StateAfter {
    let symbols = &report.symbols;
    let mut state = StateAfter {
        step: Some(symbols.step(&step.action)),
        number: Some(step.index + 1),
        part: step.moment.and_then(|(_, phase)| match phase {
            Phase::Whole => None,
            Phase::Start => Some("start"),
            Phase::End => Some("end"),
        }),
        time: step.moment.map(|(time, _)| time.to_f64()),
        added: step.added.iter().map(|atom| symbols.atom(atom)).collect(),
        removed: step.deleted.iter().map(|atom| symbols.atom(atom)).collect(),
        facts: Vec::new(),
    };
    for (term, value) in &step.numbers {
        set_number(&mut state, facts, &number_fact(&symbols.function_term(term), *value));
    }
    state
}

/// The changes of timed literals of one moment. A literal that is made false and true is true.
fn after_literals(literals: &[TimedLiteral], facts: &BTreeSet<String>) -> StateAfter {
    let mut state =
        StateAfter { time: literals.first().map(|literal| literal.time.to_f64()), ..StateAfter::default() };
    for TimedLiteral { text, .. } in literals {
        if text.starts_with("(= ") {
            set_number(&mut state, facts, text);
        } else if let Some(atom) = text.strip_prefix("(not ").and_then(|text| text.strip_suffix(')')) {
            state.removed.extend(facts.get(atom).cloned());
        } else if !facts.contains(text) {
            state.added.push(text.clone());
        }
    }
    state.removed.retain(|fact| !literals.iter().any(|literal| literal.text == *fact));
    state
}

/// A number has one value: the one of before is removed.
fn set_number(state: &mut StateAfter, facts: &BTreeSet<String>, fact: &str) {
    // `(= (f a) `, up to the value.
    let term = fact.rfind(' ').map_or(fact, |end| &fact[..=end]);
    state.removed.extend(facts.iter().filter(|known| known.starts_with(term) && *known != fact).cloned());
    if !facts.contains(fact) {
        state.added.push(fact.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOMAIN: &str = "(define (domain d)
        (:requirements :typing :durative-actions :numeric-fluents :timed-initial-literals :derived-predicates)
        (:types door)
        (:predicates (open ?d - door) (passed ?d - door) (near ?d - door) (free))
        (:functions (used))
        (:derived (free) (exists (?d - door) (open ?d)))
        (:durative-action pass :parameters (?d - door) :duration (= ?duration 3)
            :condition (and (at start (near ?d)) (over all (open ?d)))
            :effect (and (at start (not (near ?d))) (at end (passed ?d)) (at end (increase (used) 2)))))";
    const PROBLEM: &str = "(define (problem p) (:domain d) (:objects a b - door)
        (:init (near a) (= (used) 1) (at 2 (open a)) (at 2 (open b)) (at 9 (not (open a))))
        (:goal (passed a)))";

    fn steps_of(plan: &str) -> StepsResult {
        let request = StepsRequest {
            domain: Source::text("domain", DOMAIN),
            problem: Source::text("problem", PROBLEM),
            plan: Source::text("plan", plan),
            sentences: Sentences::BesideDomain,
            limits: RequestLimits { seconds: None, memory_bytes: 1 << 28 },
        };
        steps(&Context::default(), &request)
    }

    /// Time, step with its part, and changes of each state.
    fn lines(result: &StepsResult) -> Vec<String> {
        let line = |state: &StateAfter| {
            let (time, part) = (state.time.unwrap_or(-1.0), state.part.unwrap_or_default());
            let step = state.step.as_deref().unwrap_or_default();
            format!("{time} {step}{part} +{} -{}", state.added.concat(), state.removed.concat())
        };
        result.states.iter().map(line).collect()
    }

    #[test]
    fn a_state_has_numbers_and_timed_literals_and_a_step_with_a_duration_has_two_parts() {
        let result = steps_of("3: (pass a) [3]");
        assert_eq!(
            (result.decision, lines(&result)),
            (
                "accepted",
                [
                    "-1  + -",
                    "2  +(open a)(open b) -",
                    "3 (pass a)start + -(near a)",
                    "6 (pass a)end +(passed a)(= (used) 3) -(= (used) 1)",
                    "9  + -(open a)",
                ]
                .map(str::to_owned)
                .to_vec()
            )
        );
        assert_eq!(result.states[0].facts, ["(= (used) 1)", "(near a)"]);
        assert_eq!(result.states[4].facts, ["(= (used) 3)", "(open b)", "(passed a)"]);
        let numbers: Vec<Option<usize>> = result.states.iter().map(|state| state.number).collect();
        assert_eq!(numbers, [None, None, Some(1), Some(1), None]);
        assert_eq!(result.derived, ["free"]);
    }

    #[test]
    fn what_would_happen_after_a_failure_is_not_shown() {
        let not_begun = steps_of("3: (pass b) [3]");
        assert_eq!(
            (not_begun.decision, lines(&not_begun)),
            ("rejected", vec!["-1  + -".to_owned(), "2  +(open a)(open b) -".to_owned()])
        );
        let begun = steps_of("1: (pass a) [3]");
        assert_eq!(
            (begun.decision, lines(&begun)),
            ("rejected", vec!["-1  + -".to_owned(), "1 (pass a)start + -(near a)".to_owned()])
        );
    }
}
