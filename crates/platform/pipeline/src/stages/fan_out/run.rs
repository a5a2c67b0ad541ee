//! The run of a fan-out stage: the lead task of each suite runs alone up to the stage, the suite's other tasks start from its survivors.

use super::config::FanOutStage;
use crate::run::beam::Entry;
use crate::run::context::Context;
use crate::run::report::{RunState, TaskReport};
use crate::run::services::RunTask;
use crate::run::step::StageResult;
use crate::run::sync::lock;
use crate::run::task::{Driver, Progressed, Start, TaskResult};
use planforge_contract::{Failure, FailureClass};
use planforge_record::TaskVerdict;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Runs all tasks; the results are in their order.
pub(super) fn run_tasks(
    context: &Context<'_>,
    at: usize,
    stage: &FanOutStage,
    tasks: &[RunTask],
) -> Vec<TaskResult> {
    let groups = groups(stage, tasks);
    let ended = context.pool.drive(&groups, |group| one_suite(context, at, stage, tasks, group));
    let mut ended: Vec<(usize, TaskResult)> = ended.into_iter().flatten().collect();
    ended.sort_by_key(|(index, _)| *index);
    ended.into_iter().map(|(_, ended)| ended).collect()
}

/// The tasks of each suite, the lead first.
fn groups(stage: &FanOutStage, tasks: &[RunTask]) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, task) in tasks.iter().enumerate() {
        groups.entry(&task.reference.suite).or_default().push(index);
    }
    let is_lead = |index: usize| {
        let stem = tasks.get(index).map(|task| task.view.task.as_str());
        stem.is_some_and(|stem| stage.lead.as_deref() == Some(stem))
    };
    let mut groups: Vec<Vec<usize>> = groups.into_values().collect();
    for group in &mut groups {
        // Where the named task is not in the run, its first task leads.
        group.sort_by_key(|index| (!is_lead(*index), *index));
    }
    groups.sort_by_key(|group| group.iter().min().copied());
    groups
}

fn one_suite(
    context: &Context<'_>,
    at: usize,
    stage: &FanOutStage,
    tasks: &[RunTask],
    group: &[usize],
) -> Vec<(usize, TaskResult)> {
    let of = |index: &usize| tasks.get(*index).map(|task| (*index, task));
    let Some((lead, task)) = group.first().and_then(of) else { return Vec::new() };
    let others: Vec<(usize, &RunTask)> = group.iter().skip(1).filter_map(of).collect();
    match Driver::new(context, task).until(at) {
        Ok(Progressed::Reached(driver, beam)) => {
            let starts = starts(task, &beam);
            let lead_on = Mutex::new(Some((driver, beam)));
            let mut members: Vec<Member<'_, '_>> = vec![Member::Lead(lead, &lead_on)];
            members.extend(others.into_iter().map(|(index, task)| Member::Other(index, task)));
            let ended = context.pool.drive(&members, |member| match member {
                Member::Lead(index, driver) => {
                    let driver = lock(driver).take();
                    driver.map(|(driver, beam)| (*index, driver.after(at, beam)))
                }
                Member::Other(index, other) => {
                    let start = match starts.is_empty() {
                        true => Start::Ended(no_domain(stage, task)),
                        false => Start::From(starts.clone()),
                    };
                    Some((*index, Driver::new(context, other).behind(at, start)))
                }
            });
            ended.into_iter().flatten().collect()
        }
        Ok(Progressed::Ended(report, state)) => {
            let start = left_behind(stage, task, &report, state);
            let mut ended: Vec<(usize, TaskResult)> = others
                .into_iter()
                .map(|(index, other)| (index, Driver::new(context, other).behind(at, start.clone())))
                .collect();
            ended.push((lead, Ok((*report, state))));
            ended
        }
        Err(failure) => group.iter().map(|index| (*index, Err(failure.clone()))).collect(),
    }
}

/// A task of the suite. The lead's driver is taken once.
enum Member<'m, 'c> {
    Lead(usize, &'m Mutex<Option<(Driver<'c>, Vec<Entry>)>>),
    Other(usize, &'c RunTask),
}

/// The start of the other tasks: each survivor's domain, with the lead's text and problem as materials.
fn starts(lead: &RunTask, beam: &[Entry]) -> Vec<Entry> {
    let start = |entry: &Entry| {
        let mut start = Entry::default();
        start.candidate.domain = Some(entry.candidate.domain.clone()?);
        start.lead.text = Some(lead.view.task_text.clone()).filter(|text| !text.is_empty());
        start.lead.problem.clone_from(&entry.candidate.problem);
        Some(start)
    };
    beam.iter().filter_map(start).collect()
}

/// Passes the lead's candidates on. Their verdicts come from the stages behind.
pub(super) fn pass_lead(mut beam: Vec<Entry>) -> StageResult {
    let mut step = StageResult::default();
    for entry in &mut beam {
        entry.discount_results(|_| false);
        step.count("lead");
    }
    step.beam = beam;
    step
}

/// The start of the other tasks if the lead has ended. Its verdict does not apply to them, so none is
/// rejected for it.
fn left_behind(stage: &FanOutStage, lead: &RunTask, report: &TaskReport, state: RunState) -> Start {
    let label = stage.label.clone();
    match (state, &report.verdict) {
        (RunState::Finished, Some(TaskVerdict::Failed { failure, .. })) => {
            let message = format!("the lead task `{}` left no candidate: {}", lead.name, failure.message);
            let failure = Failure::new(failure.class, "pipeline.lead", message);
            Start::Ended(TaskVerdict::Failed { stage: label, failure })
        }
        (RunState::Finished, Some(TaskVerdict::Unusable { failure, .. })) => {
            let message = format!("the lead task `{}` left no candidate: {}", lead.name, failure.message);
            let failure = Failure::new(failure.class, "pipeline.lead", message);
            Start::Ended(TaskVerdict::Unusable { stage: label, failure })
        }
        (RunState::Finished, _) => {
            let message = format!("the lead task `{}` left no candidate", lead.name);
            Start::Ended(TaskVerdict::Undecided { stage: label, message })
        }
        (state, _) => Start::Waits(state),
    }
}

fn no_domain(stage: &FanOutStage, lead: &RunTask) -> TaskVerdict {
    let message = format!("no candidate of the lead task `{}` has a domain", lead.name);
    let failure = Failure::new(FailureClass::Reply, "pipeline.lead", message);
    TaskVerdict::Unusable { stage: stage.label.clone(), failure }
}
