//! Events of a run's journal: a closed set, appended in order.
//!
//! An effect (a completion, a planner's answer that depended on time) is looked up by key before it is made
//! and is complete once its event is on disk. Texts lie in blobs, named by their SHA-256 in lower-case
//! hexadecimal.

use planforge_contract::{Failure, Message, ProviderFailure, Usage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The SHA-256 of a blob in the run folder, 64 lower-case hexadecimal digits.
pub type BlobId = String;

/// Place in a run: `task/stage/lineage/call/sample`. Fixed before dispatch, so it never depends on timing.
pub type SamplePath = String;

/// Outcome of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub enum TaskVerdict {
    /// A candidate went through every stage and every verify stage accepted it.
    Accepted,
    /// No stage objects, and nothing has judged the PDDL, because the task has no reference. The candidate has a plan that is valid in its own
    /// PDDL.
    Planned {
        /// The labels of the stages that did not judge it.
        not_judged: Vec<String>,
    },
    /// As [`Self::Planned`], without a plan in PDDL of its own: a domain or a problem alone, or a plan without PDDL.
    Written {
        /// The labels of the stages that did not judge it.
        not_judged: Vec<String>,
    },
    /// The best candidate was rejected at this stage.
    Rejected {
        /// The label of the stage.
        stage: String,
        /// For a person.
        message: String,
    },
    /// The candidate's own task was proven to have no plan.
    Unsolvable {
        /// The label of the plan stage.
        stage: String,
        /// Explanation for a person.
        message: String,
    },
    /// A limit, an unsupported construct or a missing input: neither right nor wrong was shown.
    Undecided {
        /// The label of the stage.
        stage: String,
        /// For a person.
        message: String,
    },
    /// The model answered, and no reply could be used: refusals, replies without PDDL, replies cut off.
    Unusable {
        /// The label of the stage.
        stage: String,
        /// The reason why the first reply could not be used.
        failure: Failure,
    },
    /// Something broke.
    Failed {
        /// The label of the stage.
        stage: String,
        /// The failure.
        failure: Failure,
    },
}

impl TaskVerdict {
    /// The word used in JSON and tables.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Planned { .. } => "planned",
            Self::Written { .. } => "written",
            Self::Rejected { .. } => "rejected",
            Self::Unsolvable { .. } => "unsolvable",
            Self::Undecided { .. } => "undecided",
            Self::Unusable { .. } => "unusable",
            Self::Failed { .. } => "failed",
        }
    }

    /// The reason why nothing has judged the candidate: the task has no reference. `None` for other verdicts.
    pub fn not_judged_reason(&self) -> Option<String> {
        let (Self::Planned { not_judged } | Self::Written { not_judged }) = self else { return None };
        let labels: Vec<String> = not_judged.iter().map(|label| format!("`{label}`")).collect();
        let by = if labels.is_empty() { String::new() } else { format!(" by {}", labels.join(", ")) };
        Some(format!("not judged{by}: this task has no reference"))
    }
}

/// Input of the next round of a refine stage (h and f of Algorithm 1, exploration-walk paper).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RoundHistory {
    /// The candidate that the next round goes on from.
    pub path: SamplePath,
    /// Its conversation.
    pub conversation: Vec<Message>,
    /// Feedback on it in the next request to the writer. Feedback of the stages before the writer is added to
    /// it.
    pub feedback: Vec<String>,
    /// Feedback on it for the stages before the writer, by their labels. Empty if they get none.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub told: BTreeMap<String, Vec<String>>,
    /// The verify stages' own conversations about it, by their labels.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub conversations: BTreeMap<String, Vec<Message>>,
}

/// By what a select stage compared the members of one group.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SelectedGroup {
    /// The path of the candidate that its members share as an ancestor; the task's first candidate where the task is the group.
    pub group: SamplePath,
    /// The metric.
    pub by: String,
    /// Number of members.
    pub members: u32,
    /// Number of members without a value of the metric, which came last.
    pub without_value: u32,
}

/// A request to a model and how it ended. Its documents are blobs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompletionEvent {
    /// SHA-256 of the canonical request, a colon, and the sample path.
    pub key: String,
    /// The sample path.
    pub path: SamplePath,
    /// The role that asked.
    pub role: String,
    /// The `[llm.NAME]` table that was asked: a role may have several. Empty in records of versions that did not say it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub llm: String,
    /// The canonical request.
    pub request: BlobId,
    /// The [`planforge_contract::CompletionResult`] as JSON; absent where the call ended in `failure`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<BlobId>,
    /// Final, non-transient failure, recorded so that replay ends the same way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<ProviderFailure>,
    /// Tokens used.
    #[serde(default)]
    pub usage: Usage,
    /// HTTP attempts made.
    pub attempts: u32,
    /// Wall time of all attempts, in milliseconds.
    pub elapsed_ms: u64,
}

/// One line of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// A process began to work on the run.
    SessionStarted {
        /// RFC 3339, UTC.
        at: String,
        /// `live`, `resume` or `replay`.
        mode: String,
    },
    /// Work on a task began.
    TaskStarted {
        /// The task's name.
        task: String,
    },
    /// Work on a stage of a task began.
    StageStarted {
        /// The task's name.
        task: String,
        /// The stage's label.
        stage: String,
        /// Number of candidates that entered the stage.
        candidates: u32,
    },
    /// An effect was made. Looked up by `key` in resume and replay.
    Completion(CompletionEvent),
    /// One attempt failed and is tried again.
    Retry {
        /// The sample path.
        path: SamplePath,
        /// Number of the attempt, from 1.
        attempt: u32,
        /// The failure.
        failure: ProviderFailure,
        /// Wait before the next attempt, in milliseconds.
        wait_ms: u64,
    },
    /// The outcome of a call that may depend on time or memory (a planner, a verifier with limits, a child process).
    Effect {
        /// SHA-256 of the request, a colon, and the sample path.
        key: String,
        /// The sample path.
        path: SamplePath,
        /// The plugin's id and the called method.
        call: String,
        /// The answer document as JSON.
        result: BlobId,
        /// True if the outcome depended on time or memory; others are recomputed in replay.
        timed: bool,
        /// Wall time, in milliseconds.
        elapsed_ms: u64,
    },
    /// A candidate came to be.
    CandidateMade {
        /// The task's name.
        task: String,
        /// The candidate's path.
        path: SamplePath,
        /// The [`planforge_contract::Candidate`] as JSON.
        candidate: BlobId,
        /// The [`planforge_contract::CandidatePatch`] as JSON, raw reply and fixes included.
        patch: BlobId,
    },
    /// A sample broke; it stays out of the beam.
    SampleFailed {
        /// The task's name.
        task: String,
        /// The candidate's path.
        path: SamplePath,
        /// The failure.
        failure: Failure,
    },
    /// A verifier judged a candidate.
    Assessed {
        /// The task's name.
        task: String,
        /// The stage's label.
        stage: String,
        /// The candidate's path.
        path: SamplePath,
        /// The [`planforge_contract::Assessment`] as JSON.
        assessment: BlobId,
        /// accepted, rejected, undecided, not-comparable.
        decision: String,
    },
    /// A select stage kept these.
    Selected {
        /// The task's name.
        task: String,
        /// The stage's label.
        stage: String,
        /// Paths of the candidates kept, best first.
        kept: Vec<SamplePath>,
        /// The metric by which each group was compared. Empty in records of older versions.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        groups: Vec<SelectedGroup>,
    },
    /// A round of a refine stage ended.
    RoundFinished {
        /// The task's name.
        task: String,
        /// The label of the refine stage.
        stage: String,
        /// The path of the candidate that is refined, as it came in.
        path: SamplePath,
        /// Number of the round, from 1.
        round: u32,
        /// The round's best child, or what came into it where the stages before the writer accepted that; absent where no sample of
        /// the round came to anything.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        best: Option<SamplePath>,
        /// The child's value of the metric that rounds are compared by.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<f64>,
        /// True if every judging stage of the round accepted it.
        accepted: bool,
        /// The best of all rounds so far; absent where rounds are compared by nothing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        best_so_far: Option<SamplePath>,
        /// Input of the next round, [`RoundHistory`] as JSON.
        history: BlobId,
    },
    /// A budget stage pulled an arm: it sampled a new candidate, or refined one once.
    BudgetPulled {
        /// The task's name.
        task: String,
        /// The label of the budget stage.
        stage: String,
        /// Number of the pull, from 1, as in sample paths. 0 is the assessment of the entered candidates.
        pull: u32,
        /// `new`, `entered`, or the path of the candidate that was refined.
        arm: String,
        /// The candidates that came of it, in the order of their samples.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        made: Vec<SamplePath>,
        /// The best of them by the stage's metric, as the metric says it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<f64>,
        /// Reward for the policy, 0 to 1.
        #[serde(default)]
        reward: f64,
        /// True if every judging stage accepted one of them.
        #[serde(default)]
        accepted: bool,
        /// Cost of the pull.
        #[serde(default)]
        cost: BudgetCost,
        /// Total cost so far.
        #[serde(default)]
        spent: BudgetCost,
        /// The best candidate so far.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        best: Option<SamplePath>,
        /// Its value of the stage's metric.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        best_value: Option<f64>,
    },
    /// A budget stage ended.
    BudgetSpent {
        /// The task's name.
        task: String,
        /// The label of the budget stage.
        stage: String,
        /// Reason.
        end: BudgetEnd,
        /// Number of pulls.
        #[serde(default)]
        pulls: u32,
        /// Total cost.
        #[serde(default)]
        spent: BudgetCost,
        /// The best candidate; absent where no pull came to anything.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        best: Option<SamplePath>,
    },
    /// A planner answered.
    Planned {
        /// The task's name.
        task: String,
        /// The stage's label.
        stage: String,
        /// The candidate's path.
        path: SamplePath,
        /// The [`planforge_contract::PlanOutcome`] as JSON.
        outcome: BlobId,
        /// [`planforge_contract::PlanOutcome::name`].
        name: String,
    },
    /// A task ended.
    TaskFinished {
        /// The task's name.
        task: String,
        /// Outcome.
        verdict: TaskVerdict,
    },
    /// A plugin had something to say, or the host about a task.
    Log {
        /// The plugin's id; `planforge` for the host.
        plugin: String,
        /// `debug`, `info`, `warn`.
        level: String,
        /// The text; the host has redacted secrets.
        message: String,
    },
    /// The report of a finished run is about to be written to `report.json`. Absent in records of versions that did not
    /// record it.
    ReportSaved {
        /// SHA-256 of the file.
        sha256: String,
    },
    /// The process stopped working on the run in good order.
    SessionFinished {
        /// RFC 3339, UTC.
        at: String,
        /// `finished`, `interrupted` or `parked`.
        state: String,
    },
}

planforge_contract::documents! {
    Event = "event" @ 1;
    RoundHistory = "round-history" @ 1;
}

/// Cost of a search. Unknown figures are absent, never 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct BudgetCost {
    /// Requests to language models that succeeded or failed in the end; one request may return several replies.
    pub calls: u64,
    /// Tokens of requests and replies, as servers counted them and estimated where they did not.
    pub tokens: u64,
    /// Number of estimated tokens among them: one for every three bytes, and 16 for each turn of a request.
    #[serde(skip_serializing_if = "is_zero")]
    pub estimated_tokens: u64,
    /// US dollars by the prices of the `[llm]` tables; absent where one of them has no price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub money: Option<f64>,
    /// Seconds of wall time; absent where time is not limited, for then it decides nothing and is not recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
}

const fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Reason for the end of a search under a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BudgetEnd {
    /// Every judging stage accepted a candidate.
    Accepted,
    /// The rest of the budget does not pay for another pull.
    Spent,
    /// No new candidate can be sampled, and none is left that could be refined.
    NothingLeft,
    /// Several pulls in a row spent nothing of what is limited: it would never end.
    Stalled,
    /// A cap of an `[llm]` table was reached before the budget was spent.
    Capped,
}

impl BudgetEnd {
    /// The word used in JSON and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Spent => "spent",
            Self::NothingLeft => "nothing-left",
            Self::Stalled => "stalled",
            Self::Capped => "capped",
        }
    }
}
