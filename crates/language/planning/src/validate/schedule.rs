//! Times of a plan's steps.

use super::{Execution, FailingStep, MAX_REPORTED, ValidationReport, step_text};
use crate::lifted::LiftedTask;
use crate::plan_file::{FileStep, PlanFile};
use crate::task::{GroundAction, TaskText};
use planforge_diagnostics::Diagnostic;
use planforge_pddl::Number;

/// Part of an action that happens at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// An instantaneous action.
    Whole,
    /// The start of a durative action.
    Start,
    /// The end of a durative action.
    End,
}

/// Times of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    /// The steps, ascending by their start.
    pub steps: Vec<ScheduledStep>,
    /// Timed initial literals with their times, ascending.
    pub timed: Vec<TimedLiteral>,
    /// End of the last step.
    pub makespan: Number,
    /// Least time between happenings that interfere.
    pub epsilon: Number,
}

/// A step and its times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduledStep {
    /// Its number in the plan, from 0.
    pub index: usize,
    /// The step as text.
    pub text: String,
    /// Time of its start.
    pub start: Number,
    /// Its duration; `None` for an instantaneous action.
    pub duration: Option<Number>,
}

impl ScheduledStep {
    /// Time of its end.
    pub fn end(&self) -> Number {
        self.start + self.duration.unwrap_or(Number::ZERO)
    }
}

/// A timed initial literal of the problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimedLiteral {
    /// Its time.
    pub time: Number,
    /// The literal as PDDL.
    pub text: String,
}

/// Returns true if all steps have times and two of them the same.
pub(super) fn is_concurrent(plan: &PlanFile) -> bool {
    plan.steps.iter().all(|step| step.time.is_some())
        && plan.steps.windows(2).any(|pair| pair[0].time == pair[1].time)
}

/// A step with its action and times.
pub(super) struct PlannedStep<'p> {
    pub(super) action: &'p GroundAction,
    pub(super) file: &'p FileStep,
    pub(super) start: Number,
    /// `None` for an instantaneous action.
    pub(super) duration: Option<Number>,
}

impl PlannedStep<'_> {
    pub(super) fn end(&self) -> Number {
        self.start + self.duration.unwrap_or(Number::ZERO)
    }
}

impl Execution<'_> {
    /// The steps with their times; `None` if a step cannot be executed at any time, which is then reported.
    pub(super) fn planned<'p>(
        &self,
        plan: &'p PlanFile,
        steps: &'p [Option<GroundAction>],
        report: &mut ValidationReport,
    ) -> Option<Vec<PlannedStep<'p>>> {
        let by_times = !plan.steps.is_empty() && plan.steps.iter().all(|step| step.time.is_some());
        let mut planned = Vec::with_capacity(steps.len());
        let mut failing = None;
        let mut faults = Vec::new();
        for (index, (file, action)) in plan.steps.iter().zip(steps).enumerate() {
            let order = Number::integer(index as i128 + 1);
            let start = if by_times { file.time.unwrap_or(order) } else { order };
            let found = action.as_ref().map(|action| (action, times_of(self.task, file, action, by_times)));
            match found {
                Some((action, Ok(duration))) => planned.push(PlannedStep { action, file, start, duration }),
                other => {
                    failing.get_or_insert(index);
                    faults.extend(other.and_then(|(_, duration)| duration.err()));
                }
            }
        }
        let instantaneous = |step: &&PlannedStep<'_>| step.duration.is_none() && step.file.duration.is_some();
        if let Some(step) = planned.iter().find(instantaneous).filter(|_| self.task.extension.has_time()) {
            let message = "the plan gives an instantaneous action a duration";
            report.diagnostics.push(
                Diagnostic::warning("plan.duration-ignored", message)
                    .at(TaskText::Plan.source(), step.file.span, "")
                    .help("it is executed at its time"),
            );
        }
        let Some(index) = failing else { return Some(planned) };
        let more = faults.len().saturating_sub(MAX_REPORTED);
        report.diagnostics.extend(faults.into_iter().take(MAX_REPORTED).map(|fault| *fault));
        if more > 0 {
            let message = format!("{more} more steps have no usable time or duration");
            report
                .diagnostics
                .push(Diagnostic::error("plan.duration", message).help("correct the first ones"));
        }
        let text = step_text(&plan.steps[index]);
        report.failing_step = Some(FailingStep { index, text, conditions: Vec::new() });
        None
    }
}

/// The duration of a step, `None` for an instantaneous action; or what is wrong with its times.
fn times_of(
    task: &LiftedTask,
    step: &FileStep,
    action: &GroundAction,
    by_times: bool,
) -> Result<Option<Number>, Box<Diagnostic>> {
    let text = step_text(step);
    let fault = |code: &'static str, message: String, help: &str| {
        Box::new(Diagnostic::error(code, message).at(TaskText::Plan.source(), step.span, "").help(help))
    };
    let form = "write `TIME: (action argument ...) [DURATION]`";
    if task.durative(action.action).is_none() {
        return Ok(None);
    }
    if !by_times {
        let message = format!("{text} has a duration, and not every step of the plan has a time");
        return Err(fault("plan.duration", message, form));
    }
    match step.duration {
        None => Err(fault("plan.duration", format!("{text} is without its duration"), form)),
        Some(duration) if duration.is_negative() => {
            Err(fault("plan.duration", format!("{text} has the negative duration {duration}"), form))
        }
        Some(duration) => Ok(Some(duration)),
    }
}
