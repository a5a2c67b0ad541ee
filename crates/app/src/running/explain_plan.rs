//! `planforge run --explain-plan MODEL`: a model explains each accepted plan in plain language, the last step
//! of LLM+P. The text is for people: it changes no candidate and no verdict. It is recorded and replayed like
//! every other reply.

use planforge_contract::api::{Host, LogLevel};
use planforge_contract::{Failure, FailureClass, Outcome, PlanOutcome};
use planforge_llm::CallSite;
use planforge_pipeline::{RunReport, RunState, RunTask, Services};
use planforge_planners::llm::{EXPLAINER, explain_request, explanation};
use planforge_record::TaskVerdict;
use std::collections::BTreeMap;

/// Task name -> the plan in words, or why there is none.
pub(crate) type ExplainedPlans = BTreeMap<String, Outcome<String>>;

/// Requests an explanation of every accepted plan that has steps, in task order. The tokens count towards the
/// task. An interruption marks the report as interrupted, a deferred reply as parked, so that resuming the
/// run requests the rest.
pub(crate) fn explain_plans(
    services: &Services,
    model: &str,
    report: &mut RunReport,
    tasks: &[RunTask],
) -> ExplainedPlans {
    let host = Asking { services };
    let mut explained = ExplainedPlans::new();
    for (ended, task) in report.tasks.iter_mut().zip(tasks) {
        let plan = ended.candidate.as_ref().and_then(|c| c.plan.as_ref()).and_then(PlanOutcome::best);
        if let (Some(TaskVerdict::Accepted | TaskVerdict::Planned { .. }), Some(plan)) =
            (&ended.verdict, plan)
        {
            let site = CallSite {
                path: format!("{}/explain-plan", ended.task),
                call: 0,
                role: EXPLAINER.to_owned(),
            };
            let words: Result<String, Failure> = explain_request(&task.view, plan)
                .and_then(|request| Ok(services.llm.complete(model, request, &site, &host)?))
                .and_then(|replies| {
                    ended
                        .usage
                        .entry(model.to_owned())
                        .or_default()
                        .count(&replies.usage, replies.replies.len());
                    replies.replies.first().map_or_else(|| Ok(String::new()), explanation)
                });
            if words.as_ref().is_err_and(|failure| failure.is_deferred()) {
                report.state = RunState::Parked;
                continue;
            }
            if words.as_ref().is_err_and(|failure| failure.class == FailureClass::Cancelled) {
                report.state = RunState::Interrupted;
                break;
            }
            explained.insert(ended.task.clone(), words.into());
        }
    }
    explained
}

struct Asking<'a> {
    services: &'a Services,
}

impl Host for Asking<'_> {
    // A provider's log and progress have no place here: the run's record is closed.
    fn log(&self, _level: LogLevel, _message: &str) {}
    fn progress(&self, _done: u64, _total: u64, _what: &str) {}
    fn cancelled(&self) -> bool {
        (self.services.cancelled)()
    }
    fn remaining_ms(&self) -> Option<u64> {
        None
    }
}
