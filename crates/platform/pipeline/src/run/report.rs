//! What a run came to. The same journal gives the same bytes, whatever the machine and the number of jobs.

use crate::stages::budget::BudgetLimits;
use planforge_contract::{
    AppliedFix, BudgetCost, BudgetEnd, Candidate, Failure, Price, ReportedDiagnostic, SamplePath,
    TaskVerdict, Usage,
};
use planforge_obfuscate::Renaming;
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
    /// Questions that ended without an answer, after all attempts.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failed: u64,
    /// Estimate for questions whose tokens the server did not count, those without an answer included.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub estimated_prompt_tokens: u64,
    /// Estimate for replies whose tokens the server did not count.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub estimated_completion_tokens: u64,
    /// Replies that are word for word another reply to the same question, as a server that ignores seeds gives them for samples.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub copies: u64,
}

const fn is_zero(number: &u64) -> bool {
    *number == 0
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

    /// Adds an estimate of what the server did not count.
    pub fn estimate(&mut self, usage: &Usage, prompt_tokens: u64, completion_tokens: u64) {
        if usage.prompt_tokens.is_none() {
            self.estimated_prompt_tokens += prompt_tokens;
        }
        if usage.completion_tokens.is_none() {
            self.estimated_completion_tokens += completion_tokens;
        }
    }

    /// Adds one question that ended without an answer. The server may have read it.
    pub fn count_failed(&mut self, prompt_tokens: u64) {
        self.failed += 1;
        self.estimated_prompt_tokens += prompt_tokens;
    }

    /// Tokens of questions and of replies, estimates included.
    pub const fn tokens(&self) -> (u64, u64) {
        (
            self.prompt_tokens + self.estimated_prompt_tokens,
            self.completion_tokens + self.estimated_completion_tokens,
        )
    }

    /// Adds all that another counted.
    pub fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.replies += other.replies;
        self.prompt_tokens += other.prompt_tokens;
        self.completion_tokens += other.completion_tokens;
        self.unmetered += other.unmetered;
        self.failed += other.failed;
        self.estimated_prompt_tokens += other.estimated_prompt_tokens;
        self.estimated_completion_tokens += other.estimated_completion_tokens;
        self.copies += other.copies;
    }
}

/// What a search under a budget came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BudgetReport {
    /// The policy: `thompson`, `ucb` or `uniform`.
    pub policy: String,
    /// What could be spent.
    pub limits: BudgetLimits,
    /// What was spent.
    pub spent: BudgetCost,
    /// Why it ended.
    pub end: BudgetEnd,
    /// Pulls that sampled a new candidate.
    pub samples: u32,
    /// Pulls that refined a candidate.
    pub refinements: u32,
    /// Candidates that came in or were made, without copies.
    pub candidates: usize,
    /// The best, as it is returned; absent where no pull came to anything.
    pub best: Option<SamplePath>,
    /// Its value of the stage's metric.
    pub best_value: Option<f64>,
    /// Values of the metric that lay outside of the stage's range and counted as its end.
    pub outside: u32,
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StageReport {
    /// The stage's label.
    pub label: String,
    /// translate, verify, select, plan, refine, budget or fan_out. The stages inside of a refine or budget stage follow it, each
    /// once for all rounds and candidates.
    pub kind: String,
    /// Candidates that went in.
    pub entered: usize,
    /// Candidates that came out.
    pub left: usize,
    /// How often each decision or planner's outcome was given. `skipped` counts candidates not planned for.
    pub outcomes: BTreeMap<String, usize>,
    /// By what the groups of a select stage were really compared: metric -> how many groups.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub compared: BTreeMap<String, usize>,
    /// What broke.
    pub failed: Vec<FailedSample>,
    /// What a budget stage spent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetReport>,
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
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
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
    /// The names that the run used instead of those in this report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renaming: Option<Renaming>,
    /// Names of the reference that the candidate has although its writer was told others: a sign that it remembers them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recalled: Vec<String>,
    /// Language-model use by `[llm.NAME]` table.
    pub usage: BTreeMap<String, TaskUsage>,
    /// Questions that one `[llm.NAME]` table left to another one of the role, recorded ones included.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moved: Vec<Moved>,
}

/// Questions of one task that a table did not answer and the next one was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moved {
    /// The `[llm.NAME]` table that did not answer.
    pub llm: String,
    /// The one that was asked next.
    pub to: String,
    /// The code of the failure, for example `llm.rate-limited` or `llm.budget`.
    pub code: String,
    /// How many questions; of one that asks for several samples, some may have been answered all the same.
    pub questions: u64,
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
    /// The prices that the pipeline file states, by `[llm.NAME]` table. A model that is not there has no stated price: what its answers
    /// cost is unknown.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub prices: BTreeMap<String, Price>,
}

impl Moved {
    /// Each way once, by name.
    pub fn summed<'a>(all: impl IntoIterator<Item = &'a Self>) -> Vec<Self> {
        let mut sums: BTreeMap<[&str; 3], u64> = BTreeMap::new();
        for Self { llm, to, code, questions } in all {
            *sums.entry([llm, to, code]).or_default() += questions;
        }
        let one = |([llm, to, code], questions): ([&str; 3], u64)| Self {
            llm: llm.to_owned(),
            to: to.to_owned(),
            code: code.to_owned(),
            questions,
        };
        sums.into_iter().map(one).collect()
    }
}

impl RunReport {
    /// [`TaskReport::moved`] over all tasks.
    pub fn moved(&self) -> Vec<Moved> {
        Moved::summed(self.tasks.iter().flat_map(|task| &task.moved))
    }

    /// How many tasks ended with each verdict; tasks without one are counted as `none`.
    pub fn verdicts(&self) -> BTreeMap<&'static str, usize> {
        let mut counts = BTreeMap::new();
        for task in &self.tasks {
            *counts.entry(task.verdict.as_ref().map_or("none", TaskVerdict::name)).or_insert(0) += 1;
        }
        counts
    }
}
