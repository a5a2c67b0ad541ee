//! What a run came to. The same journal gives the same bytes, whatever the machine and the number of jobs.

use planforge_contract::{
    AppliedFix, Candidate, Failure, ReportedDiagnostic, SamplePath, TaskVerdict, Usage,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How a session of a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunState {
    /// Every task has a verdict.
    Finished,
    /// It was interrupted; `planforge run --resume RUN` goes on with it.
    Interrupted,
    /// Answers are pending (batch mode); resuming the run asks for them.
    Parked,
}

impl RunState {
    /// The word used in events.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Interrupted => "interrupted",
            Self::Parked => "parked",
        }
    }
}

/// Language-model use of one task under one `[llm.NAME]` table, recorded replies included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskUsage {
    /// Questions that were answered.
    pub calls: u64,
    /// Replies that came: a question may ask for several.
    #[serde(default)]
    pub replies: u64,
    /// Tokens of the questions, where the server counted them.
    pub prompt_tokens: u64,
    /// Tokens of the answers, where the server counted them.
    pub completion_tokens: u64,
    /// Questions of which the server did not say all tokens; the sums are then too low.
    pub unmetered: u64,
}

impl TaskUsage {
    /// Adds one answered question.
    pub fn count(&mut self, usage: &Usage, replies: usize) {
        self.calls += 1;
        self.replies += replies as u64;
        self.prompt_tokens += usage.prompt_tokens.unwrap_or(0);
        self.completion_tokens += usage.completion_tokens.unwrap_or(0);
        if usage.prompt_tokens.is_none() || usage.completion_tokens.is_none() {
            self.unmetered += 1;
        }
    }
}

/// A sample that came to nothing, or a call on a candidate that broke.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedSample {
    /// Its sample path.
    pub path: SamplePath,
    /// What broke.
    pub failure: Failure,
}

/// One stage of one task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageReport {
    /// The stage's label.
    pub label: String,
    /// translate, verify, select, plan, refine or fan_out. The stages of a refine stage's rounds follow it, each once for all
    /// rounds and candidates.
    pub kind: String,
    /// Candidates that went in.
    pub entered: usize,
    /// Candidates that came out.
    pub left: usize,
    /// How often each decision or planner's outcome was given. `skipped` counts candidates not planned for.
    pub outcomes: BTreeMap<String, usize>,
    /// What broke.
    pub failed: Vec<FailedSample>,
}

/// One translation on the way to the surviving candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Written {
    /// The stage's label, with `#ROUND` in a refine stage.
    pub stage: String,
    /// The candidate's path after it.
    pub path: SamplePath,
    /// The model's reply as it came.
    pub raw_reply: String,
    /// Fixes applied to the text.
    pub fixes: Vec<AppliedFix>,
    /// What reading the reply had to say.
    pub diagnostics: Vec<ReportedDiagnostic>,
}

/// One task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskReport {
    /// The task's name in the record.
    pub task: String,
    /// The suite's name.
    pub suite: String,
    /// The task's stem in the suite.
    pub stem: String,
    /// How it ended; absent where it did not: the session was interrupted or waits for answers.
    pub verdict: Option<TaskVerdict>,
    /// The candidate that the verdict is about, with domain, problem, plan and assessments; absent where the beam was empty.
    pub candidate: Option<Candidate>,
    /// The candidate's path.
    pub path: Option<SamplePath>,
    /// How the candidate was written, oldest first.
    pub written: Vec<Written>,
    /// The stages, in order.
    pub stages: Vec<StageReport>,
    /// Language-model use by `[llm.NAME]` table.
    pub usage: BTreeMap<String, TaskUsage>,
}

/// A run, or the part of it that one session brought to an end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunReport {
    /// Version of this document, 1.
    pub schema: u32,
    /// How the session ended.
    pub state: RunState,
    /// The tasks, in order.
    pub tasks: Vec<TaskReport>,
}

impl RunReport {
    /// How many tasks ended with each verdict; tasks without one are counted as `none`.
    pub fn verdicts(&self) -> BTreeMap<&'static str, usize> {
        let mut counts = BTreeMap::new();
        for task in &self.tasks {
            *counts.entry(task.verdict.as_ref().map_or("none", TaskVerdict::name)).or_insert(0) += 1;
        }
        counts
    }
}
