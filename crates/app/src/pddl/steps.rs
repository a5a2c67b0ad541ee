//! The states along a plan, for a front that shows one after the other.

use super::Sentences;
use super::validate::verdict;
use crate::context::Context;
use crate::inputs::{Inputs, Source};
use crate::limits::RequestLimits;
use planforge_contract::ReportedDiagnostic;
use planforge_evaluate::gantt;
use planforge_planning::task::Symbols;
use planforge_planning::{FailedCondition, ValidationOptions, ValidationReport};
use planforge_plugin_common::telling::{ToldPlan, tell_plan};
use serde::Serialize;
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
    /// The initial state, then the state after each step that was executed.
    pub states: Vec<StateAfter>,
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

/// A state, and the step that led to it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StateAfter {
    /// The step as PDDL; absent for the initial state.
    pub step: Option<String>,
    /// Its time, in a plan with times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<f64>,
    /// Facts that became true.
    pub added: Vec<String>,
    /// Facts that became false.
    pub removed: Vec<String>,
    /// Facts, sorted, without derived ones; values of functions that a step changed as `(= (f a) 3)`.
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
        add_states(report, &mut result);
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

/// Adds the states of the executed steps, up to the limits.
fn add_states(report: &ValidationReport, result: &mut StepsResult) {
    let symbols: &Symbols = &report.symbols;
    let mut facts: BTreeSet<String> = report.initial.iter().map(|atom| symbols.atom(atom)).collect();
    let mut kept = facts.len();
    let list = |facts: &BTreeSet<String>| facts.iter().cloned().collect();
    result.states.push(StateAfter {
        step: None,
        time: None,
        added: Vec::new(),
        removed: Vec::new(),
        facts: list(&facts),
    });
    for (number, step) in report.trace.iter().enumerate() {
        let mut added: Vec<String> = step.added.iter().map(|atom| symbols.atom(atom)).collect();
        let mut removed: Vec<String> = step.deleted.iter().map(|atom| symbols.atom(atom)).collect();
        for (term, value) in &step.numbers {
            let start = format!("(= {} ", symbols.function_term(term));
            removed.extend(facts.iter().filter(|fact| fact.starts_with(&start)).cloned());
            added.push(format!("{start}{value})"));
        }
        for fact in &removed {
            facts.remove(fact);
        }
        facts.extend(added.iter().cloned());
        kept += facts.len();
        if result.states.len() >= MOST_STATES || kept > MOST_FACTS {
            result.left_out = report.trace.len() - number;
            return;
        }
        result.states.push(StateAfter {
            step: Some(symbols.step(&step.action)),
            time: step.moment.as_ref().map(|(time, _)| time.to_f64()),
            added,
            removed,
            facts: list(&facts),
        });
    }
}
