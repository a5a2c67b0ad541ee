//! Exit codes in blocks: 0 good, 10s a negative verdict, 20s a limit or no decision, 30s an error.
//!
//! The blocks let a script tell "the plan is wrong" from "nothing was shown" from "something broke" without reading text.

use planforge_contract::{Failure, FailureClass, LimitKind, PlanOutcome};
use planforge_pipeline::{RunReport, RunState, TaskReport};
use planforge_planning::StopReason;
use planforge_record::TaskVerdict;

/// The exit code of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Exit {
    Good = 0,
    Negative = 10,
    Unusable = 11,
    Undecided = 20,
    TimeLimit = 21,
    MemoryLimit = 22,
    NodeLimit = 23,
    Exhausted = 24,
    Budget = 25,
    Pending = 26,
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

/// The exit codes in `--help`; a test compares it with the enum.
pub(crate) const TABLE: &[(Exit, &str)] = &[
    (Exit::Good, "good: a plan, valid, no errors; every task of a run reached a verdict"),
    (
        Exit::Negative,
        "a negative verdict: invalid, proven unsolvable, errors, different; runs: --fail-on negative",
    ),
    (Exit::Unusable, "no reply could be used: refused, without PDDL, or cut off (raise `max_tokens`)"),
    (Exit::Undecided, "not decided: a construct that is not supported, or an input is missing"),
    (Exit::TimeLimit, "the time limit was reached"),
    (Exit::MemoryLimit, "the memory limit was reached"),
    (Exit::NodeLimit, "the limit on search nodes or on the size of the ground task was reached"),
    (Exit::Exhausted, "the search ended without a plan and without a proof"),
    (Exit::Budget, "a cap on calls, tokens or cost was reached"),
    (Exit::Pending, "requests wait for replies in batch files; the run continues when they are there"),
    (Exit::Interrupted, "interrupted or not finished; the record is complete and can be resumed"),
    (Exit::Usage, "the command line is wrong"),
    (Exit::Input, "a file cannot be read, or is not what it should be"),
    (Exit::Pipeline, "the pipeline file has mistakes"),
    (Exit::Plugin, "a plugin is missing, cannot be loaded or broke"),
    (Exit::Provider, "the language model's server failed after all retries"),
    (Exit::ReplayMiss, "replay: the record does not hold what was asked"),
    (Exit::System, "files, processes or the operating system failed"),
    (Exit::Panic, "a bug in planforge; please report it"),
];

/// The end of `planforge --help`.
pub(crate) fn help() -> String {
    let codes: String =
        TABLE.iter().map(|(exit, about)| format!("  {:>2}  {about}\n", *exit as u8)).collect();
    format!("Start with `planforge demo`: it needs no key and no network.\n\nExit codes:\n{codes}")
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// The code for something that broke.
pub(crate) fn of_failure(failure: &Failure) -> Exit {
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
        | "cli.no-requests" => Exit::Input,
        "evaluate.other" | "evaluate.twice" | "new.kind" | "new.name" | "new.sdk" | "new.exists" => {
            Exit::Usage
        }
        "cli.batch-table" => Exit::Pipeline,
        "record.own-file" | "cli.consent" | "cli.config" => Exit::Usage,
        "batch.io" | "batch.locked" => Exit::System,
        "host.worker-memory" => Exit::MemoryLimit,
        _ => of_class(failure.class),
    }
}

fn of_class(class: FailureClass) -> Exit {
    match class {
        FailureClass::Plugin | FailureClass::Request => Exit::Plugin,
        FailureClass::Provider | FailureClass::ContextOverflow => Exit::Provider,
        FailureClass::Reply => Exit::Unusable,
        FailureClass::Budget => Exit::Budget,
        FailureClass::Limit => Exit::TimeLimit,
        FailureClass::Deferred => Exit::Pending,
        FailureClass::Cancelled => Exit::Interrupted,
        FailureClass::ReplayMiss => Exit::ReplayMiss,
        FailureClass::System => Exit::System,
    }
}

/// The code for what ended a piece of work.
pub(crate) fn of_stop(reason: StopReason) -> Exit {
    match reason {
        StopReason::Time => Exit::TimeLimit,
        StopReason::Memory => Exit::MemoryLimit,
        StopReason::Nodes | StopReason::Grounding => Exit::NodeLimit,
        StopReason::Cancelled => Exit::Interrupted,
    }
}

/// The code for a limit.
pub(crate) fn of_limit(limit: LimitKind) -> Exit {
    match limit {
        LimitKind::Time => Exit::TimeLimit,
        LimitKind::Memory => Exit::MemoryLimit,
        LimitKind::Nodes | LimitKind::Grounding => Exit::NodeLimit,
        LimitKind::Cancelled => Exit::Interrupted,
    }
}

/// 0 if every task was judged; otherwise what kept the first one from it. Tasks without a usable reply are answered, but
/// not judged: they count if nothing else does.
pub(crate) fn of_report(report: &RunReport, negative_counts: bool) -> Exit {
    match report.state {
        RunState::Finished => {}
        RunState::Interrupted => return Exit::Interrupted,
        RunState::Parked => return Exit::Pending,
    }
    let (mut negative, mut unusable) = (false, false);
    for task in &report.tasks {
        match &task.verdict {
            Some(TaskVerdict::Accepted) => {}
            Some(TaskVerdict::Rejected { .. } | TaskVerdict::Unsolvable { .. }) => negative = true,
            Some(TaskVerdict::Unusable { .. }) => unusable = true,
            Some(TaskVerdict::Undecided { .. }) => return of_undecided(task),
            Some(TaskVerdict::Failed { failure, .. }) => return of_failure(failure),
            None => return Exit::Interrupted,
        }
    }
    match (negative && negative_counts, unusable) {
        (true, _) => Exit::Negative,
        (false, true) => Exit::Unusable,
        (false, false) => Exit::Good,
    }
}

/// The exit code of an undecided task: a cap, a planner's limit, or no decision.
fn of_undecided(task: &TaskReport) -> Exit {
    let failures = task.stages.iter().flat_map(|stage| &stage.failed).map(|failed| &failed.failure);
    if failures.into_iter().any(|failure| failure.class == FailureClass::Budget) {
        return Exit::Budget;
    }
    match task.candidate.as_ref().and_then(|candidate| candidate.plan.as_ref()) {
        Some(PlanOutcome::LimitReached { limit, .. }) => of_limit(*limit),
        Some(PlanOutcome::Exhausted { .. }) => Exit::Exhausted,
        _ => Exit::Undecided,
    }
}
