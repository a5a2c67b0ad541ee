//! The result of one task, read from a run's report.

use super::baseline::is_empty_domain;
use super::curve::TaskCurve;
use super::judges::Judges;
use super::outcome::{DomainOutcome, ProblemOutcome, TaskOutcome};
use super::replies::PlanTries;
use planforge_contract::{Decision, Failure, FailureClass};
use planforge_pipeline::{Cost, TaskReport, TaskUsage};
use planforge_planning::walk::harmonic_mean;
use planforge_record::TaskVerdict;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One task of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskResult {
    /// The task's stem.
    pub task: String,
    /// The outcome.
    pub outcome: TaskOutcome,
    /// The reason why it is not solved, for a person; empty where it is.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// The run's own verdict, in the word of reports; absent where there is none yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// The stage that the verdict comes from; absent where every stage accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    /// Verdicts on all candidates that were left at the end, if there were several: verdict -> number.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub candidates: BTreeMap<String, usize>,
    /// Use of models.
    #[serde(default)]
    pub usage: TaskUsage,
    /// Equality of its problem with the reference problem; absent if no stage compares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<ProblemOutcome>,
    /// Validity of its problem as PDDL; absent if no stage checks it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid: Option<ProblemOutcome>,
    /// True if its plan is a plan of the reference under other names: the problem is the reference under a
    /// renaming, and the plan is right for it. The environment has the reference's names alone and may have
    /// rejected it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub solved_renamed: bool,
    /// Share of the reference's walks that the written model executes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_to_candidate: Option<f64>,
    /// Share of the written model's walks that the reference executes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidate_to_reference: Option<f64>,
    /// Answers about the written domain.
    #[serde(default, skip_serializing_if = "DomainOutcome::is_empty")]
    pub domain: DomainOutcome,
    /// True if its domain was written from another task of the suite.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub held_back: bool,
    /// The plans that were judged, where the run's journal was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plans: Option<PlanTries>,
    /// Success over samples and rounds, where the run's journal was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curve: Option<TaskCurve>,
    /// The known cost; absent if it was not computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// Seconds of its questions to models, one after another, where the run's journal was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
}

impl TaskResult {
    /// The result of a task that no run has reached.
    pub fn unfinished(task: &str, judges: &Judges) -> Self {
        let unfinished = |label: &Option<String>| label.as_ref().map(|_| ProblemOutcome::Unfinished);
        Self {
            task: task.to_owned(),
            outcome: TaskOutcome::Unfinished,
            why: String::new(),
            verdict: None,
            stage: None,
            candidates: BTreeMap::new(),
            usage: TaskUsage::default(),
            problem: unfinished(&judges.equivalent),
            valid: unfinished(&judges.valid),
            solved_renamed: false,
            reference_to_candidate: None,
            candidate_to_reference: None,
            domain: DomainOutcome {
                val: unfinished(&judges.val),
                front_end: unfinished(&judges.reads),
                walk: unfinished(&judges.walk),
                same: unfinished(&judges.same_domain),
                empty: false,
            },
            held_back: false,
            plans: None,
            curve: None,
            cost: Some(Cost::default()),
            seconds: None,
        }
    }

    /// The number of candidates that were left at the end and the number of those that are accepted, if there were several. With an
    /// accepted one the task counts for pass@k.
    pub fn accepted_candidates(&self) -> Option<(usize, usize)> {
        let all = self.candidates.values().sum();
        (all > 0).then(|| (all, self.candidates.get("accepted").copied().unwrap_or(0)))
    }

    /// US dollars for all its requests; absent if a part is unknown.
    pub fn cost_usd(&self) -> Option<f64> {
        self.cost?.usd()
    }
}

pub(super) fn task_result(task: &TaskReport, judges: &Judges) -> TaskResult {
    let (outcome, why) = outcome(task, judges);
    let mut usage = TaskUsage::default();
    task.usage.values().for_each(|model| usage.add(model));
    let directions = walk_directions(task, judges);
    TaskResult {
        task: task.stem.clone(),
        outcome,
        why,
        verdict: task.verdict.as_ref().map(|verdict| verdict.name().to_owned()),
        stage: task.verdict.as_ref().and_then(|verdict| stage_of(verdict).map(str::to_owned)),
        candidates: task.candidates.clone(),
        usage,
        problem: problem(task, judges.equivalent.as_ref()),
        valid: problem(task, judges.valid.as_ref()),
        solved_renamed: [&judges.equivalent, &judges.own_plan]
            .iter()
            .all(|label| problem(task, label.as_ref()) == Some(ProblemOutcome::Equivalent)),
        reference_to_candidate: directions.map(|d| d.0),
        candidate_to_reference: directions.map(|d| d.1),
        domain: domain(task, judges, directions),
        held_back: is_held_back(task, judges),
        plans: None,
        curve: None,
        cost: None,
        seconds: None,
    }
}

fn stage_of(verdict: &TaskVerdict) -> Option<&str> {
    match verdict {
        TaskVerdict::Accepted => None,
        TaskVerdict::Rejected { stage, .. }
        | TaskVerdict::Unsolvable { stage, .. }
        | TaskVerdict::Undecided { stage, .. }
        | TaskVerdict::Unusable { stage, .. }
        | TaskVerdict::Failed { stage, .. } => Some(stage),
    }
}

/// The answers of the stages about the surviving candidate's domain.
fn domain(task: &TaskReport, judges: &Judges, directions: Option<(f64, f64)>) -> DomainOutcome {
    let yes = |is: bool| if is { ProblemOutcome::Equivalent } else { ProblemOutcome::Different };
    let said = |label: &Option<String>| {
        task.candidate.as_ref().and_then(|candidate| candidate.assessments.get(label.as_ref()?))
    };
    let known = |outcome: Option<ProblemOutcome>, by_metric: Option<bool>| {
        // A stage that judges otherwise (a threshold, VAL in the own reader's place) has the figure among its metrics.
        outcome.map(|outcome| by_metric.filter(|_| task.verdict.is_some()).map_or(outcome, yes))
    };
    let own = said(&judges.reads).and_then(|assessment| {
        let metric = |name: &str| assessment.metrics.get(name).copied();
        metric("front_end_accepts")
            .map(|accepts| accepts > 0.5)
            .or(metric("errors").map(|errors| errors < 0.5))
    });
    let (val, front_end) =
        (problem(task, judges.val.as_ref()), known(problem(task, judges.reads.as_ref()), own));
    let accepted = || [val, front_end].contains(&Some(ProblemOutcome::Equivalent));
    let said_empty = [&judges.val, &judges.reads]
        .into_iter()
        .filter_map(said)
        .any(|assessment| assessment.metrics.get("empty").is_some_and(|empty| *empty > 0.5));
    // A recorded answer of VAL may be older than the metric, so the text decides too.
    let empty = said_empty || accepted() && written_without_effects(task);
    let parsed = |outcome: Option<ProblemOutcome>| match outcome {
        Some(ProblemOutcome::Equivalent) if empty => Some(ProblemOutcome::Different),
        other => other,
    };
    DomainOutcome {
        val: parsed(val),
        front_end: parsed(front_end),
        empty,
        walk: known(problem(task, judges.walk.as_ref()), directions.map(|d| harmonic_mean(d.0, d.1) >= 1.0)),
        same: problem(task, judges.same_domain.as_ref()),
    }
}

/// True if the task started behind the fan-out stage, with the domain of another task, or ended there because that task left none.
fn is_held_back(task: &TaskReport, judges: &Judges) -> bool {
    let Some(fan_out) = &judges.fan_out else { return false };
    task.stages.first().map_or(task.verdict.is_some(), |first| first.label == *fan_out)
}

/// True if the surviving candidate has a domain, and none of its actions has an effect.
fn written_without_effects(task: &TaskReport) -> bool {
    let text = task.candidate.as_ref().and_then(|candidate| candidate.domain.as_deref());
    text.is_some_and(is_empty_domain)
}

/// The decision of the judging stage on the surviving candidate; without one, the outcome of the task's
/// verdict.
fn outcome(task: &TaskReport, judges: &Judges) -> (TaskOutcome, String) {
    let assessments = task.candidate.as_ref().map(|candidate| &candidate.assessments);
    let judged = judges.solved_by.as_ref().and_then(|label| assessments?.get(label));
    let decision = judged.map(|assessment| &assessment.decision);
    match (decision, &task.verdict) {
        (_, None) => (TaskOutcome::Unfinished, String::new()),
        (Some(Decision::Accepted), _) => (TaskOutcome::Solved, String::new()),
        (Some(Decision::Rejected), _) => {
            (TaskOutcome::NotSolved, judged.map(|a| a.summary.clone()).unwrap_or_default())
        }
        // The verdict names the missing input of the judgement, for example a plan.
        (Some(Decision::Undecided { .. } | Decision::NotComparable { .. }) | None, Some(verdict)) => {
            of_verdict(verdict, judges)
        }
    }
}

fn of_verdict(verdict: &TaskVerdict, judges: &Judges) -> (TaskOutcome, String) {
    let why = match verdict {
        // Every stage accepted, but without a decision of the judging stage the plan is unproven.
        TaskVerdict::Accepted if judges.solved_by.is_some() => {
            return (TaskOutcome::Undecided, "no stage judged the plan".to_owned());
        }
        TaskVerdict::Accepted => String::new(),
        TaskVerdict::Rejected { stage, message }
        | TaskVerdict::Unsolvable { stage, message }
        | TaskVerdict::Undecided { stage, message } => {
            format!("{} at `{stage}`: {message}", verdict.name())
        }
        TaskVerdict::Unusable { stage, failure } => format!("no usable reply at `{stage}`: {failure}"),
        TaskVerdict::Failed { stage, failure } => format!("failed at `{stage}`: {failure}"),
    };
    (TaskOutcome::of(Some(verdict)), why)
}

/// The answer of a stage about the surviving candidate's problem; absent without such a stage.
fn problem(task: &TaskReport, label: Option<&String>) -> Option<ProblemOutcome> {
    let label = label?;
    let Some(verdict) = &task.verdict else { return Some(ProblemOutcome::Unfinished) };
    let unusable = |failure: &Failure| failure.class == FailureClass::Reply;
    let assessment = task.candidate.as_ref().and_then(|candidate| candidate.assessments.get(label));
    Some(match (assessment.map(|assessment| &assessment.decision), verdict) {
        (Some(Decision::Accepted), _) => ProblemOutcome::Equivalent,
        (Some(Decision::Rejected), _) => ProblemOutcome::Different,
        (Some(Decision::NotComparable { .. }), _) => ProblemOutcome::NotComparable,
        (Some(Decision::Undecided { .. }), _) => ProblemOutcome::Undecided,
        // A record of an earlier version: no sample of the task could be used.
        (None, TaskVerdict::Failed { failure, .. }) if task.candidate.is_none() && unusable(failure) => {
            ProblemOutcome::Missing
        }
        (None, TaskVerdict::Unusable { .. }) => ProblemOutcome::Missing,
        (None, TaskVerdict::Failed { .. }) => ProblemOutcome::Failed,
        // A measurement that broke decides nothing, and the task goes on.
        (None, _) if task.stages.iter().any(|stage| stage.label == *label && !stage.failed.is_empty()) => {
            ProblemOutcome::Failed
        }
        (None, _) => ProblemOutcome::Undecided,
    })
}

/// Both directions of the walk metric for the surviving candidate.
fn walk_directions(task: &TaskReport, judges: &Judges) -> Option<(f64, f64)> {
    let assessments = &task.candidate.as_ref()?.assessments;
    let metrics = &assessments.get(judges.walk.as_ref()?)?.metrics;
    Some((*metrics.get("reference_to_candidate")?, *metrics.get("candidate_to_reference")?))
}
