//! Status codes in blocks: 0 good, 10s a negative verdict, 20s a limit or no decision, 30s an error.
//!
//! The blocks let a script tell "the plan is wrong" from "nothing was shown" from "something broke" without reading text.

use planforge_contract::{Failure, FailureClass, LimitKind, PlanOutcome};
use planforge_pipeline::{RunReport, RunState, TaskReport};
use planforge_planning::StopReason;
use planforge_record::TaskVerdict;

/// The status that a use case ends with. Its number is the exit code of the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Status {
    Good = 0,
    Negative = 10,
    Unusable = 11,
    NotATask = 12,
    Undecided = 20,
    TimeLimit = 21,
    MemoryLimit = 22,
    NodeLimit = 23,
    Exhausted = 24,
    Budget = 25,
    Pending = 26,
    NeedsAnswers = 27,
    Interrupted = 29,
    Usage = 30,
    Input = 31,
    Pipeline = 32,
    Plugin = 33,
    Provider = 34,
    ReplayMiss = 35,
    System = 36,
    Panic = 39,
}

/// Every status with its meaning; a test compares it with the enum.
pub const STATUSES: &[(Status, &str)] = &[
    (Status::Good, "good: a plan, valid, no errors; every task of a run reached a verdict"),
    (
        Status::Negative,
        "a negative verdict: invalid, proven unsolvable, errors, different; runs: --fail-on negative",
    ),
    (Status::Unusable, "no reply could be used: refused, without PDDL, or cut off (raise `max_tokens`)"),
    (Status::NotATask, "solve: the text asks for no plan, or contradicts itself"),
    (Status::Undecided, "not decided: a construct that is not supported, or an input is missing"),
    (Status::TimeLimit, "the time limit was reached"),
    (Status::MemoryLimit, "the memory limit was reached"),
    (Status::NodeLimit, "the limit on search nodes or on the size of the ground task was reached"),
    (Status::Exhausted, "the search ended without a plan and without a proof"),
    (Status::Budget, "a cap on calls, tokens or cost was reached"),
    (Status::Pending, "requests wait for replies in batch files; the run continues when they are there"),
    (Status::NeedsAnswers, "solve: questions wait for answers in questions.toml"),
    (Status::Interrupted, "interrupted or not finished; the record is complete and can be resumed"),
    (Status::Usage, "the command line is wrong"),
    (Status::Input, "a file cannot be read, or is not what it should be"),
    (Status::Pipeline, "the pipeline file has mistakes"),
    (Status::Plugin, "a plugin is missing, cannot be loaded or broke"),
    (Status::Provider, "the language model's server failed after all retries"),
    (Status::ReplayMiss, "replay: the record does not hold what was asked"),
    (Status::System, "files, processes or the operating system failed"),
    (Status::Panic, "a bug in planforge; please report it"),
];

/// The code for something that broke.
pub(crate) fn of_failure(failure: &Failure) -> Status {
    match failure.code.as_str() {
        // The files named are not what they should be; whoever read them is not to blame.
        "record.not-a-run"
        | "record.not-a-cassette"
        | "record.version"
        | "record.corrupt"
        | "record.blob-missing"
        | "record.blob-corrupt"
        | "record.report-changed"
        | "evaluate.changed"
        | "batch.changed"
        | "batch.state"
        | "batch.ambiguous"
        | "cli.no-requests" => Status::Input,
        "evaluate.other" | "evaluate.twice" | "new.kind" | "new.name" | "new.sdk" | "new.exists" => {
            Status::Usage
        }
        "cli.batch-table" => Status::Pipeline,
        "record.own-file" | "cli.consent" | "cli.config" => Status::Usage,
        "batch.io" | "batch.locked" => Status::System,
        "host.worker-memory" => Status::MemoryLimit,
        _ => of_class(failure.class),
    }
}

fn of_class(class: FailureClass) -> Status {
    match class {
        FailureClass::Plugin | FailureClass::Request => Status::Plugin,
        FailureClass::Provider | FailureClass::ContextOverflow => Status::Provider,
        FailureClass::Reply => Status::Unusable,
        FailureClass::Budget => Status::Budget,
        FailureClass::Limit => Status::TimeLimit,
        FailureClass::Deferred => Status::Pending,
        FailureClass::Cancelled => Status::Interrupted,
        FailureClass::ReplayMiss => Status::ReplayMiss,
        FailureClass::System => Status::System,
    }
}

/// The code for what ended a piece of work.
pub(crate) fn of_stop(reason: StopReason) -> Status {
    match reason {
        StopReason::Time => Status::TimeLimit,
        StopReason::Memory => Status::MemoryLimit,
        StopReason::Nodes | StopReason::Grounding => Status::NodeLimit,
        StopReason::Cancelled => Status::Interrupted,
    }
}

/// The code for a limit.
pub(crate) fn of_limit(limit: LimitKind) -> Status {
    match limit {
        LimitKind::Time => Status::TimeLimit,
        LimitKind::Memory => Status::MemoryLimit,
        LimitKind::Nodes | LimitKind::Grounding => Status::NodeLimit,
        LimitKind::Cancelled => Status::Interrupted,
    }
}

/// 0 if every task was judged; otherwise what kept the first one from it. Tasks without a usable reply are answered, but
/// not judged: they count if nothing else does.
pub(crate) fn of_report(report: &RunReport, negative_counts: bool) -> Status {
    match report.state {
        RunState::Finished => {}
        RunState::Interrupted => return Status::Interrupted,
        RunState::Parked => return Status::Pending,
    }
    let (mut negative, mut unusable) = (false, false);
    for task in &report.tasks {
        match &task.verdict {
            Some(TaskVerdict::Accepted | TaskVerdict::Planned { .. } | TaskVerdict::Written { .. }) => {}
            Some(TaskVerdict::Rejected { .. } | TaskVerdict::Unsolvable { .. }) => negative = true,
            Some(TaskVerdict::Unusable { .. }) => unusable = true,
            Some(TaskVerdict::Undecided { .. }) => return of_undecided(task),
            Some(TaskVerdict::Failed { failure, .. }) => return of_failure(failure),
            None => return Status::Interrupted,
        }
    }
    match (negative && negative_counts, unusable) {
        (true, _) => Status::Negative,
        (false, true) => Status::Unusable,
        (false, false) => Status::Good,
    }
}

/// The exit code of an undecided task: a cap, a planner's limit, or no decision.
fn of_undecided(task: &TaskReport) -> Status {
    let failures = task.stages.iter().flat_map(|stage| &stage.failed).map(|failed| &failed.failure);
    if failures.into_iter().any(|failure| failure.class == FailureClass::Budget) {
        return Status::Budget;
    }
    match task.candidate.as_ref().and_then(|candidate| candidate.plan.as_ref()) {
        Some(PlanOutcome::LimitReached { limit, .. }) => of_limit(*limit),
        Some(PlanOutcome::Exhausted { .. }) => Status::Exhausted,
        _ => Status::Undecided,
    }
}
