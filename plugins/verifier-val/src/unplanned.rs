//! The assessment of a candidate without a plan: an explanation of why none was found.

use crate::assessments::{finish, missing, pddl_feedback};
use crate::options::PlanVerifierOptions;
use planforge_contract::api::Host;
use planforge_contract::{Assessment, Decision, PlanOutcome, ReportedSeverity, UndecidedReason};
use planforge_planning::{Explanation, ReasonKind, normalize, why_unsolvable};
use planforge_plugin_common::judging::Deadline;
use planforge_plugin_sdk::checked::{Checked, Texts, check};
use planforge_plugin_sdk::feedback::{self, NoPlan, Quote};
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
        // Relaxation shows it, whatever the planner came to.
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
