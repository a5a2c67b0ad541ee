//! One candidate's assessment.

use crate::check::{Checked, Texts, check};
use crate::codes;
use crate::evidence;
use crate::feedback;
use crate::options::{Against, Options, What};
use planforge_contract::api::{EnvironmentAnswer, EnvironmentCall, Host};
use planforge_contract::{
    Assessment, Candidate, Decision, EnvironmentPlan, EnvironmentVerdict, Failure, FailureClass,
    PlanDocument, PlanOutcome, ReportedDiagnostic, ReportedSeverity, TaskView, UndecidedReason,
};
use planforge_diagnostics::SourceId;
use planforge_planning::{ValidationReport, parse_plan, validate};

const PLAN: SourceId = SourceId(2);

/// Judges one candidate as the options say.
pub(crate) fn judge(
    host: &dyn Host,
    options: &Options,
    task: &TaskView,
    candidate: &Candidate,
) -> Result<Assessment, Failure> {
    if host.cancelled() {
        return Err(Failure::new(FailureClass::Cancelled, codes::CANCELLED, "the run was interrupted"));
    }
    let plan = candidate.plan.as_ref().and_then(PlanOutcome::best);
    let about_plan = match options.what {
        What::Pddl => false,
        What::Plan => true,
        What::Auto => plan.is_some(),
    };
    match (about_plan, plan) {
        (false, _) => Ok(judge_pddl(Texts::of(candidate, &task.given))),
        (true, None) => Ok(no_plan(candidate.plan.as_ref())),
        (true, Some(plan)) if options.against == Against::Environment => {
            let written = candidate.domain.is_some() || candidate.problem.is_some();
            in_environment(host, plan, written)
        }
        (true, Some(plan)) => Ok(judge_plan(Texts::of(candidate, &task.given), plan)),
    }
}

fn missing(message: impl Into<String>) -> Assessment {
    let message = message.into();
    let decision = Decision::Undecided { reason: UndecidedReason::MissingInput, message: message.clone() };
    Assessment::new(decision, message)
}

fn no_plan(outcome: Option<&PlanOutcome>) -> Assessment {
    match outcome {
        Some(outcome) => {
            missing(format!("there is no plan to judge: the planner answered {}", outcome.name()))
        }
        None => missing("there is no plan to judge: the candidate has none"),
    }
}

/// Judges domain and problem alone.
fn judge_pddl(texts: Texts<'_>) -> Assessment {
    if texts.domain.is_none() && texts.problem.is_none() {
        return missing("there is neither a domain nor a problem to judge");
    }
    let checked = check(texts, "");
    let rejected = checked.count(ReportedSeverity::Error) > 0;
    let decision = if rejected { Decision::Rejected } else { Decision::Accepted };
    let mut assessment = Assessment::new(decision, pddl_summary(&checked));
    assessment.feedback = pddl_feedback(&checked);
    finish(assessment, checked)
}

/// Judges a plan by the candidate's own domain and problem.
fn judge_plan(texts: Texts<'_>, plan: &PlanDocument) -> Assessment {
    if texts.domain.is_none() || texts.problem.is_none() {
        let what = if texts.domain.is_none() { "domain" } else { "problem" };
        return missing(format!("the plan cannot be judged: the candidate has no {what}"));
    }
    let text = plan.to_ipc();
    let mut checked = check(texts, &text);
    if checked.count(ReportedSeverity::Error) > 0 {
        let mut assessment = Assessment::new(Decision::Rejected, pddl_summary(&checked));
        assessment.feedback = pddl_feedback(&checked);
        return finish(assessment, checked);
    }
    let (Some(domain), Some(problem)) = (&checked.domain, &checked.problem) else {
        return missing("the plan cannot be judged: a text is missing");
    };
    let report = match validate(domain, problem, &parse_plan(&text, PLAN)) {
        Ok(report) => report,
        Err(errors) => {
            let errors = checked.report(&errors);
            checked.diagnostics.extend(errors);
            let mut assessment = Assessment::new(Decision::Rejected, pddl_summary(&checked));
            assessment.feedback = pddl_feedback(&checked);
            return finish(assessment, checked);
        }
    };
    let found = checked.report(&report.diagnostics);
    let mut assessment = Assessment::new(decision(&report), plan_summary(&report));
    if assessment.decision == Decision::Rejected {
        assessment.feedback = vec![feedback::plan(&checked, &report, &found)];
    }
    assessment.evidence = evidence::of(&report);
    assessment.metrics.insert("steps".into(), report.steps as f64);
    assessment.metrics.insert("executed".into(), report.trace.len() as f64);
    if let (Decision::Accepted, Some(cost)) = (&assessment.decision, report.cost) {
        assessment.metrics.insert("cost".into(), cost);
    }
    checked.diagnostics.extend(found);
    finish(assessment, checked)
}

fn decision(report: &ValidationReport) -> Decision {
    match &report.decision {
        planforge_planning::Decision::Valid => Decision::Accepted,
        planforge_planning::Decision::Invalid => Decision::Rejected,
        planforge_planning::Decision::Unsupported(constructs) => {
            let what: Vec<&str> = constructs.iter().map(|c| c.what.as_str()).collect();
            Decision::Undecided {
                reason: UndecidedReason::Unsupported,
                message: format!("validation does not execute {}", what.join(", ")),
            }
        }
    }
}

fn pddl_summary(checked: &Checked) -> String {
    let (errors, warnings) =
        (checked.count(ReportedSeverity::Error), checked.count(ReportedSeverity::Warning));
    format!("The PDDL has {} and {}.", count(errors, "error"), count(warnings, "warning"))
}

fn count(n: usize, what: &str) -> String {
    match n {
        0 => format!("no {what}s"),
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    }
}

fn plan_summary(report: &ValidationReport) -> String {
    match (&report.decision, &report.failing_step, report.cost) {
        (planforge_planning::Decision::Valid, _, Some(cost)) => {
            format!("The plan is valid: {}, cost {cost}.", count(report.steps, "step"))
        }
        (planforge_planning::Decision::Valid, _, None) => {
            format!("The plan is valid: {}.", count(report.steps, "step"))
        }
        (planforge_planning::Decision::Unsupported(_), ..) => {
            "The plan was not judged: it or its task uses what validation does not execute.".to_owned()
        }
        (_, Some(failing), _) => {
            format!("The plan is not valid: step {} {} cannot be executed.", failing.index + 1, failing.text)
        }
        (_, None, _) if report.missing_goals.is_empty() => {
            "The plan is not valid: it has lines that are no steps.".to_owned()
        }
        (_, None, _) => "The plan is not valid: the goal does not hold at its end.".to_owned(),
    }
}

fn pddl_feedback(checked: &Checked) -> Vec<String> {
    ["domain", "problem"].into_iter().filter_map(|what| feedback::pddl(checked, what)).collect()
}

/// Adds what every assessment has.
fn finish(mut assessment: Assessment, checked: Checked) -> Assessment {
    assessment.metrics.insert("errors".into(), checked.count(ReportedSeverity::Error) as f64);
    assessment.metrics.insert("warnings".into(), checked.count(ReportedSeverity::Warning) as f64);
    assessment.diagnostics = checked.diagnostics;
    assessment
}

/// Judges a plan in the task's environment. What the environment says about its model goes into the evidence alone.
fn in_environment(host: &dyn Host, plan: &PlanDocument, written: bool) -> Result<Assessment, Failure> {
    let call = EnvironmentCall::Validate(EnvironmentPlan { steps: plan.steps.clone() });
    let EnvironmentAnswer::Validate(verdict) = host.environment(call)? else {
        let message = "the environment was asked to judge a plan and answered another question";
        return Err(Failure::new(FailureClass::Plugin, codes::ANSWER, message));
    };
    let executed = verdict.executed as usize;
    let mut assessment = match (verdict.valid, plan.steps.get(executed)) {
        (true, _) => {
            let summary = format!("The environment accepts the plan: {}.", count(plan.steps.len(), "step"));
            Assessment::new(Decision::Accepted, summary)
        }
        (false, Some(step)) => {
            let number = executed + 1;
            let mut assessment = Assessment::new(
                Decision::Rejected,
                format!("The environment refuses step {number} {step} of the plan."),
            );
            assessment.feedback = vec![feedback::refused(number, step, written)];
            let message = format!("the environment refuses step {number} {step}");
            assessment.diagnostics = vec![in_plan(plan, executed, codes::REFUSED, message)];
            assessment
        }
        (false, None) => {
            let summary = "The environment executes the plan, and its goal does not hold at the end.";
            let mut assessment = Assessment::new(Decision::Rejected, summary);
            assessment.feedback = vec![feedback::goal_missed(plan.steps.len(), written)];
            let message = "the goal of the environment does not hold after the plan".to_owned();
            let last = plan.steps.len().saturating_sub(1);
            assessment.diagnostics = vec![in_plan(plan, last, codes::GOAL, message)];
            assessment
        }
    };
    assessment.metrics.insert("steps".into(), plan.steps.len() as f64);
    assessment.metrics.insert("executed".into(), f64::from(verdict.executed));
    assessment.metrics.insert("errors".into(), assessment.diagnostics.len() as f64);
    assessment.evidence = environment_evidence(&verdict);
    Ok(assessment)
}

fn environment_evidence(verdict: &EnvironmentVerdict) -> serde_json::Value {
    serde_json::json!({
        "executed": verdict.executed,
        "reasons": verdict.reasons,
        "diagnostics": verdict.diagnostics,
    })
}

/// An error at a step of the plan, which stands one step a line.
fn in_plan(plan: &PlanDocument, step: usize, code: &str, message: String) -> ReportedDiagnostic {
    let before: usize = plan.steps.iter().take(step).map(|s| s.len() + 1).sum();
    let length = plan.steps.get(step).map_or(0, String::len);
    ReportedDiagnostic {
        code: code.to_owned(),
        severity: ReportedSeverity::Error,
        message,
        file: "plan".to_owned(),
        line: u32::try_from(step + 1).unwrap_or(u32::MAX),
        column: 1,
        start: u32::try_from(before).unwrap_or(u32::MAX),
        end: u32::try_from(before + length).unwrap_or(u32::MAX),
        help: Vec::new(),
    }
}
