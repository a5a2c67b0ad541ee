//! Judges a plan in the task's environment. Statements about its model go to the evidence only; the feedback
//! has the state in which a plan ended or was stopped.

use crate::codes;
use crate::options::PlanVerifierOptions;
use crate::renaming::{self, Renaming};
use crate::unplanned::count;
use planforge_contract::api::{EnvironmentAnswer, EnvironmentCall, Host};
use planforge_contract::{
    Assessment, Candidate, Decision, EnvironmentPlan, EnvironmentVerdict, Failure, FailureClass,
    PlanDocument, ReportedDiagnostic, ReportedSeverity, StateDescription, StateQuery, TaskView,
    UndecidedReason,
};
use planforge_plugin_common::judging::blame::Trial;
use planforge_plugin_sdk::checked::{Texts, check};
use planforge_plugin_sdk::feedback;

/// The code of `environment-pddl` for a reference that it does not simulate.
const UNSUPPORTED: &str = "environment.unsupported";

/// Judges a plan in the task's environment. If it refuses the plan, the plan is judged again under the
/// environment's names. Undecided and without a verdict if a limit ended the environment's work or it does not simulate its reference.
pub(crate) fn judge(
    host: &dyn Host,
    options: &PlanVerifierOptions,
    task: &TaskView,
    candidate: &Candidate,
    plan: &PlanDocument,
) -> Result<(Assessment, Option<EnvironmentVerdict>), Failure> {
    match judge_within(host, options, task, candidate, plan) {
        Ok((assessment, verdict)) => Ok((assessment, Some(verdict))),
        Err(failure) => {
            let reason = match failure.class {
                FailureClass::Limit => UndecidedReason::Limit,
                _ if failure.code == UNSUPPORTED => UndecidedReason::Unsupported,
                _ => return Err(failure),
            };
            let message = format!("the environment did not judge the plan: {}", failure.message);
            let decision = Decision::Undecided { reason, message: message.clone() };
            Ok((Assessment::new(decision, message), None))
        }
    }
}

fn judge_within(
    host: &dyn Host,
    options: &PlanVerifierOptions,
    task: &TaskView,
    candidate: &Candidate,
    plan: &PlanDocument,
) -> Result<(Assessment, EnvironmentVerdict), Failure> {
    let verdict = validate(host, plan)?;
    if verdict.valid {
        return judge_verdict(host, candidate, plan, verdict);
    }
    match renaming::find(host, options, task, candidate, plan)? {
        Renaming::Found(renamed) => {
            let other = validate(host, &renamed.plan)?;
            if !other.valid {
                return judge_verdict(host, candidate, plan, verdict);
            }
            let (mut assessment, other) = judge_verdict(host, candidate, &renamed.plan, other)?;
            assessment.summary = renamed_summary(plan, renamed.renamed);
            assessment.evidence["renaming"] = renamed.evidence;
            Ok((assessment, other))
        }
        Renaming::Limit(message) => {
            let reason = UndecidedReason::Limit;
            let message = format!("the plan may be valid under the environment's names: {message}");
            let decision = Decision::Undecided { reason, message: message.clone() };
            let mut assessment = Assessment::new(decision, message);
            assessment.evidence = evidence(&verdict);
            Ok((assessment, verdict))
        }
        Renaming::None(why) => {
            let (mut assessment, verdict) = judge_verdict(host, candidate, plan, verdict)?;
            if options.blame {
                assessment.feedback.extend(blame(host, options, task, candidate, plan, &verdict)?);
            }
            if let Some(why) = why {
                assessment.evidence["renaming"] = why.into();
            }
            Ok((assessment, verdict))
        }
    }
}

/// The text that names the side of the candidate which is probably at fault for a refused plan, if that was decided.
fn blame(
    host: &dyn Host,
    options: &PlanVerifierOptions,
    task: &TaskView,
    candidate: &Candidate,
    plan: &PlanDocument,
    verdict: &EnvironmentVerdict,
) -> Result<Option<String>, Failure> {
    let checked = check(Texts::of(candidate, &task.given), "");
    let (Some(domain), Some(problem)) = (&checked.domain, &checked.problem) else { return Ok(None) };
    let executed = verdict.executed as usize;
    if !verdict.violations.is_empty() {
        // The trial below has no constraints.
        return Ok(None);
    }
    let goal = (executed == plan.steps.len()).then_some(false);
    let trial = Trial { steps: plan.steps.clone(), executed, goal };
    let mut deadline = options.limits.deadline(host, 1);
    let found = planforge_plugin_common::judging::blame::blame(host, domain, problem, &trial, &mut deadline)?;
    Ok(found.map(|blame| feedback::blame(blame.domain, blame.problem)))
}

fn validate(host: &dyn Host, plan: &PlanDocument) -> Result<EnvironmentVerdict, Failure> {
    let call = EnvironmentCall::Validate(EnvironmentPlan { steps: plan.timed_steps() });
    match host.environment(call)? {
        EnvironmentAnswer::Validate(verdict) => Ok(verdict),
        _ => Err(other_answer()),
    }
}

fn renamed_summary(plan: &PlanDocument, (objects, actions): (usize, usize)) -> String {
    let steps = count(plan.steps.len(), "step");
    let renamed: Vec<String> = [(objects, "object"), (actions, "action")]
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, what)| count(number, what))
        .collect();
    format!("The environment accepts the plan: {steps}, with {} renamed.", renamed.join(" and "))
}

fn judge_verdict(
    host: &dyn Host,
    candidate: &Candidate,
    plan: &PlanDocument,
    verdict: EnvironmentVerdict,
) -> Result<(Assessment, EnvironmentVerdict), Failure> {
    // PDDL of the candidate may be at fault.
    let written = candidate.domain.is_some() || candidate.problem.is_some();
    let executed = verdict.executed as usize;
    let violates = !verdict.violations.is_empty();
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
            let message = format!("the environment refuses step {number} {step}");
            assessment.diagnostics = vec![in_plan(plan, executed, codes::REFUSED, message)];
            assessment
        }
        (false, None) => {
            let (summary, message, code) = if violates {
                (
                    "The environment executes the plan, and it violates a constraint of the task.",
                    "the plan violates a constraint of the environment's task",
                    codes::VIOLATION,
                )
            } else {
                (
                    "The environment executes the plan, and its goal does not hold at the end.",
                    "the goal of the environment does not hold after the plan",
                    codes::GOAL,
                )
            };
            let mut assessment = Assessment::new(Decision::Rejected, summary);
            let last = plan.steps.len().saturating_sub(1);
            assessment.diagnostics = vec![in_plan(plan, last, code, message.to_owned())];
            assessment
        }
    };
    assessment.evidence = evidence(&verdict);
    if !verdict.valid {
        let state = state_after(host, plan, executed)?;
        assessment.feedback = vec![
            feedback::Environment {
                steps: &plan.steps,
                executed,
                violates,
                state: state.as_ref().ok(),
                written,
            }
            .text(),
        ];
        if let Err(failure) = state {
            assessment.evidence["state"] = format!("{} [{}]", failure.message, failure.code).into();
        }
    }
    assessment.metrics.insert("steps".into(), plan.steps.len() as f64);
    assessment.metrics.insert("executed".into(), f64::from(verdict.executed));
    assessment.metrics.insert("errors".into(), assessment.diagnostics.len() as f64);
    Ok((assessment, verdict))
}

/// The state after the executed steps. If the environment describes no states, the verdict does not change;
/// its failure is returned for the evidence.
fn state_after(
    host: &dyn Host,
    plan: &PlanDocument,
    executed: usize,
) -> Result<Result<StateDescription, Failure>, Failure> {
    let query = StateQuery {
        actions: plan.steps.iter().take(executed).cloned().collect(),
        focus: plan.steps.get(executed).cloned(),
    };
    match host.environment(EnvironmentCall::DescribeState(query)) {
        Ok(EnvironmentAnswer::DescribeState(state)) => Ok(Ok(state)),
        Ok(_) => Err(other_answer()),
        // An interruption is not the environment's answer.
        Err(failure) if failure.class == FailureClass::Cancelled => Err(failure),
        Err(failure) => Ok(Err(failure)),
    }
}

pub(crate) fn other_answer() -> Failure {
    let message = "the environment's answer is of the wrong kind";
    Failure::new(FailureClass::Plugin, codes::ANSWER, message)
}

fn evidence(verdict: &EnvironmentVerdict) -> serde_json::Value {
    serde_json::json!({
        "executed": verdict.executed,
        "reasons": verdict.reasons,
        "diagnostics": verdict.diagnostics,
    })
}

/// An error at a step of the plan, which has one step a line.
pub(crate) fn in_plan(plan: &PlanDocument, step: usize, code: &str, message: String) -> ReportedDiagnostic {
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
