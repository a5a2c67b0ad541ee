//! Parts that all assessments share, the state trace as JSON, and the assessment of a candidate without a plan: an explanation of why none was found.

use crate::options::PlanVerifierOptions;
use planforge_contract::api::Host;
use planforge_contract::{Assessment, Decision, PlanOutcome, ReportedSeverity, UndecidedReason};
use planforge_planning::{
    Explanation, FailedCondition, ReasonKind, ValidationReport, normalize, why_unsolvable,
};
use planforge_plugin_common::judging::Deadline;
use planforge_plugin_sdk::checked::{Checked, Texts, check};
use planforge_plugin_sdk::feedback::{self, NoPlan, Quote};
use serde_json::{Value, json};
use std::time::Duration;

/// Undecided: a missing plan is not a wrong plan. The feedback has the planner's answer and, from the
/// candidate's own texts, why the goal is unreachable.
pub(crate) fn judge(
    host: &dyn Host,
    options: &PlanVerifierOptions,
    texts: Texts<'_>,
    outcome: Option<&PlanOutcome>,
) -> Assessment {
    let Some(outcome) = outcome else { return missing("there is no plan to judge: the candidate has none") };
    let mut assessment =
        missing(format!("there is no plan to judge: the planner answered {}", outcome.name()));
    if texts.domain.is_none() || texts.problem.is_none() {
        return assessment;
    }
    let checked = check(texts, "");
    if checked.count(ReportedSeverity::Error) > 0 {
        assessment.feedback = pddl_feedback(&checked);
        return finish(assessment, &checked);
    }
    // At most half of the time that the host leaves.
    let half = host.remaining_ms().map(|ms| Duration::from_millis(ms / 2));
    let mut budget = options.limits.deadline_within(host, half.unwrap_or(Duration::MAX));
    let explanation = explain(&mut budget, &checked);
    if let Some(reason) = budget.stop_reason() {
        // The reasons would not be the same the next time: a limit, which the record keeps.
        let message = format!("{reason} ended the search for an explanation");
        assessment.decision = Decision::Undecided { reason: UndecidedReason::Limit, message };
    }
    let unreachable = explanation.reasons.iter().any(|r| r.kind == ReasonKind::UnreachableGoal);
    let constructs;
    let why = match outcome {
        // The reasons show it, whatever the planner came to.
        _ if unreachable => NoPlan::Unreachable,
        PlanOutcome::ProvenUnsolvable { .. } => NoPlan::Proven,
        PlanOutcome::LimitReached { message, .. } => NoPlan::Limit(message),
        PlanOutcome::Unsupported { diagnostics } => {
            let messages: Vec<&str> = diagnostics.iter().map(|d| d.message.as_str()).collect();
            constructs = messages.join("; ");
            NoPlan::Unsupported(&constructs)
        }
        PlanOutcome::Exhausted { .. } | PlanOutcome::Unreadable { .. } | PlanOutcome::Plan { .. } => {
            NoPlan::Exhausted
        }
    };
    assessment.feedback = vec![feedback::no_plan(why, &reasons(&checked, &explanation))];
    finish(assessment, &checked)
}

fn explain(budget: &mut Deadline<'_>, checked: &Checked) -> Explanation {
    let (Some(domain), Some(problem)) = (&checked.domain, &checked.problem) else {
        return Explanation::default();
    };
    match normalize(domain, problem) {
        Ok(task) if task.unsupported.is_empty() => why_unsolvable(&task, budget),
        _ => Explanation::default(),
    }
}

/// The reasons with the lines they are about.
fn reasons(checked: &Checked, explanation: &Explanation) -> Vec<(String, Option<Quote>)> {
    let one = |r: &planforge_planning::Reason| {
        (r.message.clone(), checked.quote(r.place.text.source(), r.place.span))
    };
    explanation.reasons.iter().map(one).collect()
}

/// Most atoms of the initial state.
const MOST_ATOMS: usize = 1000;
/// Most steps of a trace.
const MOST_STEPS: usize = 500;

/// The course of a validation: the initial state, the changes of each step, and where and why it stopped.
///
/// `initial` and `trace` are cut at 1000 atoms and 500 steps; `initial_left_out` and `trace_left_out` count
/// the missing entries.
pub(crate) fn of(report: &ValidationReport) -> Value {
    let symbols = &report.symbols;
    let atoms =
        |list: &[planforge_planning::task::Atom]| list.iter().map(|a| symbols.atom(a)).collect::<Vec<_>>();
    let initial = &report.initial[..report.initial.len().min(MOST_ATOMS)];
    let trace: Vec<Value> = report
        .trace
        .iter()
        .take(MOST_STEPS)
        .map(|step| {
            let numbers: Vec<String> = step
                .numbers
                .iter()
                .map(|(term, value)| format!("(= {} {value})", symbols.function_term(term)))
                .collect();
            json!({
                "step": symbols.step(&step.action),
                "added": atoms(&step.added),
                "deleted": atoms(&step.deleted),
                "numbers": numbers,
            })
        })
        .collect();
    json!({
        "initial": atoms(initial),
        "initial_left_out": report.initial.len() - initial.len(),
        "trace_left_out": report.trace.len() - trace.len(),
        "trace": trace,
        "failing_step": report.failing_step.as_ref().map(|f| json!({
            "number": f.index + 1,
            "step": f.text,
            "conditions": f.conditions.iter().map(condition).collect::<Vec<_>>(),
        })),
        "missing_goals": report.missing_goals.iter().map(condition).collect::<Vec<_>>(),
    })
}

fn condition(failed: &FailedCondition) -> Value {
    json!({ "condition": failed.text, "why": failed.why, "needs": failed.remedy })
}

/// Undecided because a text or plan is missing.
pub(crate) fn missing(message: impl Into<String>) -> Assessment {
    let message = message.into();
    let decision = Decision::Undecided { reason: UndecidedReason::MissingInput, message: message.clone() };
    Assessment::new(decision, message)
}

pub(crate) fn count(n: usize, what: &str) -> String {
    match n {
        0 => format!("no {what}s"),
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    }
}

pub(crate) fn pddl_feedback(checked: &Checked) -> Vec<String> {
    ["domain", "problem"].into_iter().filter_map(|what| feedback::pddl(checked, what)).collect()
}

/// Adds the diagnostics and the metrics about them.
pub(crate) fn finish(mut assessment: Assessment, checked: &Checked) -> Assessment {
    let errors = checked.count(ReportedSeverity::Error) as f64;
    assessment.metrics.insert("errors".into(), errors);
    assessment.metrics.insert("clean".into(), 1.0 / (1.0 + errors));
    assessment.metrics.insert("warnings".into(), checked.count(ReportedSeverity::Warning) as f64);
    assessment.diagnostics.clone_from(&checked.diagnostics);
    assessment
}
