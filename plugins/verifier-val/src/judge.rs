//! The assessment of one candidate.

use crate::options::{Against, Backend, PddlParser, PlanVerifierOptions, What};
use crate::unplanned::{count, finish, missing, pddl_feedback};
use crate::{claims, codes, environment, parser, unplanned, val};
use planforge_contract::api::Host;
use planforge_contract::{
    Assessment, Candidate, Decision, Failure, FailureClass, PlanDocument, PlanOutcome, ReportedDiagnostic,
    ReportedSeverity, TaskView, UndecidedReason,
};
use planforge_diagnostics::{Diagnostic, SourceId, Span};
use planforge_pddl::ast::Domain;
use planforge_planning::{
    FailedCondition, ValidationOptions, ValidationReport, Validator, normalize, parse_plan,
};
use planforge_plugin_sdk::checked::{Checked, Texts, check};
use planforge_plugin_sdk::feedback::{self, Unmet};
use std::collections::BTreeSet;

const PLAN: SourceId = SourceId(2);

/// Judges one candidate with the checks that the options select.
pub(crate) fn judge(
    host: &dyn Host,
    options: &PlanVerifierOptions,
    task: &TaskView,
    candidate: &Candidate,
) -> Result<Assessment, Failure> {
    if host.cancelled() {
        return Err(Failure::new(FailureClass::Cancelled, codes::CANCELLED, "the run was interrupted"));
    }
    let plan = candidate.plan.as_ref().and_then(PlanOutcome::best);
    let about_plan = match options.what {
        What::Pddl | What::Domain => false,
        What::Plan => true,
        What::Auto => plan.is_some(),
    };
    match (about_plan, plan) {
        (false, _) => {
            let mut texts = Texts::of(candidate, &task.given);
            if options.what == What::Domain {
                texts.problem = None;
            }
            let written = candidate.domain.as_deref().is_some_and(|text| !text.trim().is_empty());
            judge_pddl(host, options, texts, written)
        }
        (true, None) => {
            Ok(unplanned::judge(host, options, Texts::of(candidate, &task.given), candidate.plan.as_ref()))
        }
        (true, Some(plan)) if options.against == Against::Environment => {
            let (mut assessment, verdict) = environment::judge(host, options, task, candidate, plan)?;
            if let Some(verdict) = verdict.filter(|_| options.claims) {
                claims::by_environment(host, options, candidate, plan, &verdict, &mut assessment)?;
            }
            Ok(assessment)
        }
        (true, Some(plan)) => {
            let (mut assessment, checked) =
                judge_plan(host, options, Texts::of(candidate, &task.given), plan)?;
            if let Some(checked) = checked.filter(|_| options.claims) {
                claims::by_candidate(host, options, task, candidate, plan, &checked, &mut assessment)?;
            }
            Ok(assessment)
        }
    }
}

/// Judges domain and problem without a plan. A domain that was written and has no effects is rejected as
/// empty, whatever the parser decides.
fn judge_pddl(
    host: &dyn Host,
    options: &PlanVerifierOptions,
    texts: Texts<'_>,
    written: bool,
) -> Result<Assessment, Failure> {
    if texts.domain.is_none() && texts.problem.is_none() {
        let what = if options.what == What::Domain { "no domain" } else { "neither a domain nor a problem" };
        return Ok(missing(format!("there is {what} to judge")));
    }
    let mut checked = check(texts, "");
    let domain = checked.domain.as_ref().filter(|_| written);
    let empty = domain.filter(|domain| domain.is_without_effects()).map(empty_domain);
    let is_empty = empty.is_some();
    // A text with errors may lack effects because of them, and is rejected for them.
    let readable = checked.count(ReportedSeverity::Error) == 0;
    if readable {
        checked.diagnostics.extend(checked.report(empty.as_slice()));
    }
    let rejected = checked.count(ReportedSeverity::Error) > 0;
    let decision = if rejected { Decision::Rejected } else { Decision::Accepted };
    let mut assessment = Assessment::new(decision, pddl_summary(&checked));
    assessment.feedback = pddl_feedback(&checked);
    if options.parser == PddlParser::Val {
        assessment = parser::decide(assessment, parser::ask(host, options, texts)?);
    }
    if is_empty && (readable || assessment.decision == Decision::Accepted) {
        assessment.metrics.insert("empty".into(), 1.0);
        if assessment.decision == Decision::Accepted {
            assessment.decision = Decision::Rejected;
            assessment.feedback = pddl_feedback(&checked);
        }
        assessment.summary = format!("The domain is empty: no action has an effect. {}", assessment.summary);
    }
    Ok(finish(assessment, &checked))
}

fn empty_domain(domain: &Domain) -> Diagnostic {
    let place = domain.name.as_ref().map_or(Span::empty(0), |name| name.span);
    Diagnostic::error(codes::EMPTY, "the domain is empty: no action has an effect")
        .at(SourceId(0), place, "")
        .help("give each action its precondition and its effect")
}

/// Judges a plan by the candidate's own domain and problem.
fn judge_plan(
    host: &dyn Host,
    options: &PlanVerifierOptions,
    texts: Texts<'_>,
    plan: &PlanDocument,
) -> Result<(Assessment, Option<Checked>), Failure> {
    let (Some(domain_text), Some(problem_text)) = (texts.domain, texts.problem) else {
        let what = if texts.domain.is_none() { "domain" } else { "problem" };
        return Ok((missing(format!("the plan cannot be judged: the candidate has no {what}")), None));
    };
    let text = plan.to_ipc();
    let mut checked = check(texts, &text);
    if checked.count(ReportedSeverity::Error) > 0 {
        return Ok((reject_with_errors(checked), None));
    }
    let (Some(domain), Some(problem)) = (&checked.domain, &checked.problem) else {
        return Ok((missing("the plan cannot be judged: a text is missing"), None));
    };
    let report = match normalize(domain, problem) {
        Ok(task) => {
            let mut deadline = options.limits.deadline(host, 1);
            let options = ValidationOptions { time: true, ..ValidationOptions::default() };
            Validator::new(task).validate_with(&parse_plan(&text, PLAN), &options, &mut deadline)
        }
        Err(errors) => {
            let errors = checked.report(&errors);
            checked.diagnostics.extend(errors);
            return Ok((reject_with_errors(checked), None));
        }
    };
    let found = checked.report(&report.diagnostics);
    let mut assessment = Assessment::new(decision(&report), plan_summary(&report));
    if assessment.decision == Decision::Rejected {
        assessment.feedback = vec![plan_feedback(&checked, &report, &found)];
    }
    assessment.evidence = unplanned::of(&report);
    assessment.metrics.insert("steps".into(), report.steps as f64);
    // A durative action is in the trace twice.
    let executed: BTreeSet<usize> = report.trace.iter().map(|step| step.index).collect();
    assessment.metrics.insert("executed".into(), executed.len() as f64);
    if let (Decision::Accepted, Some(cost)) = (&assessment.decision, report.cost) {
        assessment.metrics.insert("cost".into(), cost);
    }
    if options.backend == Backend::Val {
        let has_times = !domain.durative_actions.is_empty() || report.schedule.is_some();
        let answer = val::ask(host, options, domain_text, problem_text, &text, has_times)?;
        assessment = val::decide(assessment, answer);
    }
    checked.diagnostics.extend(found);
    Ok((finish(assessment, &checked), Some(checked)))
}

/// A task or plan with errors is rejected for them.
fn reject_with_errors(checked: Checked) -> Assessment {
    let mut assessment = Assessment::new(Decision::Rejected, pddl_summary(&checked));
    assessment.feedback = pddl_feedback(&checked);
    finish(assessment, &checked)
}

fn decision(report: &ValidationReport) -> Decision {
    match &report.decision {
        planforge_planning::ValidationDecision::Valid => Decision::Accepted,
        planforge_planning::ValidationDecision::Invalid => Decision::Rejected,
        planforge_planning::ValidationDecision::LimitReached(reason) => Decision::Undecided {
            reason: UndecidedReason::Limit,
            message: format!("{reason} ended the validation of the plan"),
        },
        planforge_planning::ValidationDecision::Unsupported(constructs) => {
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

fn plan_summary(report: &ValidationReport) -> String {
    match (&report.decision, &report.failing_step, report.cost) {
        (planforge_planning::ValidationDecision::Valid, _, Some(cost)) => {
            format!("The plan is valid: {}, cost {cost}.", count(report.steps, "step"))
        }
        (planforge_planning::ValidationDecision::Valid, _, None) => {
            format!("The plan is valid: {}.", count(report.steps, "step"))
        }
        (planforge_planning::ValidationDecision::LimitReached(reason), ..) => {
            format!("The plan was not judged: {reason} ended its validation.")
        }
        (planforge_planning::ValidationDecision::Unsupported(_), ..) => {
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

/// Feedback about a plan, by the candidate's own domain and problem. `found`: the report's diagnostics with
/// places.
fn plan_feedback(checked: &Checked, report: &ValidationReport, found: &[ReportedDiagnostic]) -> String {
    let Some(failing) = &report.failing_step else {
        return match report.missing_goals.is_empty() {
            true if found.iter().any(|d| d.code == "plan.constraint") => {
                feedback::lines("The plan violates constraints of the task.".to_owned(), found)
            }
            true => feedback::lines("The plan has lines that are no steps.".to_owned(), found),
            false => feedback::goal_missed(&unmet(checked, &report.missing_goals)),
        };
    };
    let number = failing.index + 1;
    if failing.conditions.is_empty() {
        let opening = format!("Step {number} of the plan, {}, cannot be executed.", failing.text);
        return feedback::lines(opening, found);
    }
    feedback::step(number, &failing.text, &unmet(checked, &failing.conditions))
}

fn unmet(checked: &Checked, conditions: &[FailedCondition]) -> Vec<Unmet> {
    let one = |c: &FailedCondition| Unmet {
        remedy: c.remedy.clone(),
        why: c.why.clone(),
        quote: checked.quote(c.place.text.source(), c.place.span),
    };
    conditions.iter().map(one).collect()
}
