//! The report of a run. The same journal gives the same bytes, whatever the machine and the number of jobs.
//!
//! Costs are stated as far as prices and counts are known. Unknown costs are counted and are never 0.

use planforge_contract::{AppliedFix, Candidate, Failure, Price, ReportedDiagnostic, Usage};
use planforge_obfuscate::Renaming;
use planforge_record::{BudgetCost, BudgetEnd, SamplePath, TaskVerdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The end of a session of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunState {
    /// Every task has a verdict.
    Finished,
    /// It was interrupted; `planforge run --resume RUN` continues it.
    Interrupted,
    /// Requests are pending (batch mode); a resumed run reads their replies.
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
    /// Replies received: a request may ask for several.
    #[serde(default)]
    pub replies: u64,
    /// Tokens of the questions, where the server counted them.
    pub prompt_tokens: u64,
    /// Tokens of the answers, where the server counted them.
    pub completion_tokens: u64,
    /// The part of `prompt_tokens` that was read from a cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_tokens: u64,
    /// The part of `prompt_tokens` that was written to a cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write_tokens: u64,
    /// The part of `completion_tokens` that is reasoning.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reasoning_tokens: u64,
    /// Requests beyond the first of each question: retries, and repetitions for samples that were missing.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub further_requests: u64,
    /// Questions whose tokens the server did not count in full, retries included; the sums are then too low.
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
        self.cached_tokens += usage.cached_tokens.unwrap_or(0);
        self.cache_write_tokens += usage.cache_write_tokens.unwrap_or(0);
        self.reasoning_tokens += usage.reasoning_tokens.unwrap_or(0);
        self.further_requests += usage.requests.unwrap_or(1).saturating_sub(1);
        if !usage.is_metered() {
            self.unmetered += 1;
        }
    }

    /// Number of requests that were sent, those without an answer and retries included.
    pub const fn requests(&self) -> u64 {
        self.calls + self.failed + self.further_requests
    }

    /// All tokens, estimates included.
    pub fn priced_tokens(&self) -> Usage {
        let (prompt, completion) = self.tokens();
        Usage {
            prompt_tokens: Some(prompt),
            completion_tokens: Some(completion),
            cached_tokens: Some(self.cached_tokens),
            cache_write_tokens: Some(self.cache_write_tokens),
            reasoning_tokens: Some(self.reasoning_tokens),
            ..Usage::default()
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

    /// Adds one question that ended without an answer after so many requests. The server may have read it.
    pub fn count_failed(&mut self, prompt_tokens: u64, requests: u64) {
        self.failed += 1;
        self.further_requests += requests.saturating_sub(1);
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
        self.cached_tokens += other.cached_tokens;
        self.cache_write_tokens += other.cache_write_tokens;
        self.reasoning_tokens += other.reasoning_tokens;
        self.further_requests += other.further_requests;
        self.unmetered += other.unmetered;
        self.failed += other.failed;
        self.estimated_prompt_tokens += other.estimated_prompt_tokens;
        self.estimated_completion_tokens += other.estimated_completion_tokens;
        self.copies += other.copies;
    }
}

/// The budget for one task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BudgetLimits {
    /// Requests to language models; one request may return several replies.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub calls: Option<u64>,
    /// Tokens of requests and replies, as servers count them. What a server does not count is estimated: a token for every
    /// three bytes, and 16 for each turn of a request.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub tokens: Option<u64>,
    /// Seconds of wall time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.001, max = 1000000.0))]
    pub seconds: Option<f64>,
    /// US dollars; every model that is asked needs its `price`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.000001, max = 1000000.0))]
    pub money: Option<f64>,
}

/// The report of a budget stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BudgetReport {
    /// The policy: `thompson`, `ucb` or `uniform`.
    pub policy: String,
    /// The budget.
    pub limits: BudgetLimits,
    /// The use of it.
    pub spent: BudgetCost,
    /// The reason for its end.
    pub end: BudgetEnd,
    /// Pulls that sampled a new candidate.
    pub samples: u32,
    /// Pulls that refined a candidate.
    pub refinements: u32,
    /// Candidates that entered or were made, without copies.
    pub candidates: usize,
    /// The best, as it is returned; absent if no pull made a candidate.
    pub best: Option<SamplePath>,
    /// Its value of the stage's metric.
    pub best_value: Option<f64>,
    /// Values of the metric that lay outside of the stage's range and counted as its end.
    pub outside: u32,
}

/// A sample without a result, or a broken call on a candidate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedSample {
    pub path: SamplePath,
    pub failure: Failure,
}

/// One stage of one task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StageReport {
    pub label: String,
    /// translate, verify, select, plan, refine, budget or fan_out. The stages inside of a refine or budget stage follow it, each
    /// once for all rounds and candidates.
    pub kind: String,
    /// True for a verify stage that only measures: it has no part in the verdict.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub measure: bool,
    /// Candidates that went in.
    pub entered: usize,
    /// Candidates after the stage.
    pub left: usize,
    /// Count of each decision or planner's outcome. `skipped` counts candidates not planned for.
    pub outcomes: BTreeMap<String, usize>,
    /// By what the groups of a select stage were really compared: metric -> how many groups.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub compared: BTreeMap<String, usize>,
    /// Samples and calls that broke.
    pub failed: Vec<FailedSample>,
    /// The report of a budget stage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetReport>,
}

/// One translation on the way to the surviving candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Translation {
    /// The stage's label, with `#ROUND` in a refine stage.
    pub stage: String,
    /// The candidate's path after it.
    pub path: SamplePath,
    /// The model's unchanged reply.
    pub raw_reply: String,
    /// Fixes applied to the text.
    pub fixes: Vec<AppliedFix>,
    /// Diagnostics of reading the reply.
    pub diagnostics: Vec<ReportedDiagnostic>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TaskReport {
    /// The task's name in the record.
    pub task: String,
    pub suite: String,
    /// The task's stem in the suite.
    pub stem: String,
    /// The verdict; absent if the session was interrupted or the task waits for replies.
    pub verdict: Option<TaskVerdict>,
    /// The candidate that the verdict is about, with domain, problem, plan and assessments; absent where the beam was empty.
    pub candidate: Option<Candidate>,
    pub path: Option<SamplePath>,
    /// Translations that made the candidate, oldest first.
    pub written: Vec<Translation>,
    /// Verdicts on all candidates that were left at the end, if there were several: verdict -> number. With an accepted one the
    /// task counts for pass@k. The task's verdict is that of one of them, chosen without the reference.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub candidates: BTreeMap<String, usize>,
    /// These candidates, in beam order. They are not written: a replay of the record makes them again.
    #[serde(skip)]
    pub beam: Vec<Candidate>,
    /// The stages, in order.
    pub stages: Vec<StageReport>,
    /// Parts of the reference that the pipeline would be given and the task does not have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_given: Vec<String>,
    /// The names that the run used instead of those in this report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renaming: Option<Renaming>,
    /// Names of the reference in the candidate although its writer was given others: a sign that the model
    /// remembers them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recalled: Vec<String>,
    /// Language-model use by `[llm.NAME]` table.
    pub usage: BTreeMap<String, TaskUsage>,
    /// Questions that one `[llm.NAME]` table left to another one of the role, recorded ones included.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moved: Vec<ModelFallback>,
}

/// Requests of one task that a table did not answer and that went to the next one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelFallback {
    /// The `[llm.NAME]` table that did not answer.
    pub llm: String,
    /// The table that was asked next.
    pub to: String,
    /// The code of the failure, for example `llm.rate-limited` or `llm.budget`.
    pub code: String,
    /// Number of requests. Some samples of a request may have been answered.
    pub questions: u64,
}

/// The report of a run, or of the part that one session finished.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunReport {
    /// Version of this document, 1.
    pub schema: u32,
    /// The end of the session.
    pub state: RunState,
    /// The tasks, in order.
    pub tasks: Vec<TaskReport>,
    /// The prices that the pipeline file states, by `[llm.NAME]` table. A model that is not there has no stated price: what its answers
    /// cost is unknown.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub prices: BTreeMap<String, Price>,
}

impl ModelFallback {
    /// Each way once, by name.
    pub fn sum_by_tables<'a>(all: impl IntoIterator<Item = &'a Self>) -> Vec<Self> {
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
    pub fn fallbacks(&self) -> Vec<ModelFallback> {
        ModelFallback::sum_by_tables(self.tasks.iter().flat_map(|task| &task.moved))
    }
}

/// US dollars for some use of models.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// US dollars for all that is known: tokens that servers counted, of models whose prices are stated.
    pub known_usd: f64,
    /// Questions whose whole cost is in `known_usd`.
    pub priced: u64,
    /// Questions whose cost is not in it, or only in part: the model has no stated price, the server did not count all tokens, or
    /// the question ended without an answer, for which a server may charge or not.
    pub unpriced: u64,
}

impl Cost {
    /// The cost of one model's use. It is known in part if only the price of tokens of a cache is missing.
    pub fn of_model(usage: &TaskUsage, price: Option<&Price>) -> Self {
        let counted = Usage {
            prompt_tokens: Some(usage.prompt_tokens),
            completion_tokens: Some(usage.completion_tokens),
            ..usage.priced_tokens()
        };
        let known = |cost: Option<f64>| cost.filter(|cost| cost.is_finite());
        match known(price.and_then(|price| price.cost(&counted))) {
            Some(known_usd) => Self {
                known_usd,
                priced: usage.calls.saturating_sub(usage.unmetered),
                unpriced: usage.unmetered + usage.failed,
            },
            None => Self {
                known_usd: known(price.and_then(|price| price.known_cost(&counted))).unwrap_or(0.0),
                priced: 0,
                unpriced: usage.calls + usage.failed,
            },
        }
    }

    /// The cost of a task's use of all models. `prices` by `[llm.NAME]` table, as [`RunReport::prices`] has them.
    pub fn of(usage: &BTreeMap<String, TaskUsage>, prices: &BTreeMap<String, Price>) -> Self {
        let mut sum = Self::default();
        for (name, usage) in usage {
            sum.add(&Self::of_model(usage, prices.get(name)));
        }
        sum
    }

    /// Adds another.
    pub fn add(&mut self, other: &Self) {
        self.known_usd += other.known_usd;
        self.priced += other.priced;
        self.unpriced += other.unpriced;
    }

    /// US dollars for all of it; absent if a part is unknown. Without requests it is 0.
    pub fn usd(&self) -> Option<f64> {
        (self.unpriced == 0).then_some(self.known_usd)
    }

    /// For a table: `$0.012` where all of it is known, `>= $0.012` where a part is, `?` where nothing is.
    pub fn text(&self) -> String {
        match (self.unpriced, self.priced) {
            (0, _) => dollars(self.known_usd),
            (_, 0) if self.known_usd <= 0.0 => "?".to_owned(),
            _ => format!(">= {}", dollars(self.known_usd)),
        }
    }
}

/// US dollars for a person: whole cents from one dollar on, two significant digits below, so that a small cost does not read as none.
pub fn dollars(usd: f64) -> String {
    match usd {
        0.0 => "$0".to_owned(),
        usd if usd >= 0.995 => format!("${usd:.2}"),
        usd => {
            let digits = (1.0 - usd.log10().floor()).clamp(2.0, 20.0) as usize;
            format!("${usd:.digits$}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(calls: u64, unmetered: u64, failed: u64) -> TaskUsage {
        TaskUsage {
            calls,
            unmetered,
            failed,
            prompt_tokens: 1_000_000,
            completion_tokens: 500_000,
            ..TaskUsage::default()
        }
    }

    #[test]
    fn an_unknown_cost_is_counted_and_never_free() {
        let price = Price { prompt: Some(2.0), completion: Some(8.0), ..Price::default() };
        let prices = BTreeMap::from([("main".to_owned(), price)]);
        let of = |entries: &[(&str, TaskUsage)]| {
            let usage = entries.iter().map(|(name, usage)| ((*name).to_owned(), *usage)).collect();
            Cost::of(&usage, &prices)
        };
        let known = of(&[("main", usage(3, 0, 0))]);
        assert_eq!((known.usd(), known.text().as_str()), (Some(6.0), "$6.00"));
        // A second model without a price, a count that is missing, and a question that ended without an answer.
        let mixed = of(&[("main", usage(3, 0, 0)), ("critic", usage(2, 0, 0))]);
        assert_eq!((mixed.usd(), mixed.priced, mixed.unpriced), (None, 3, 2));
        assert_eq!(mixed.text(), ">= $6.00");
        assert_eq!(of(&[("main", usage(3, 1, 1))]).unpriced, 2);
        assert_eq!(of(&[("critic", usage(2, 0, 1))]).text(), "?");
        // A stated price of nothing is free, half a price is none, and nothing asked costs nothing.
        let free = Price { prompt: Some(0.0), completion: Some(0.0), ..Price::default() };
        assert_eq!(Cost::of_model(&usage(1, 0, 0), Some(&free)).text(), "$0");
        let cached = TaskUsage { cached_tokens: 500_000, ..usage(1, 0, 0) };
        assert_eq!(Cost::of_model(&cached, Some(&price)).text(), ">= $5.00");
        assert_eq!(Cost::of_model(&cached, Some(&Price { cached: Some(0.5), ..price })).usd(), Some(5.25));
        let half = Price { prompt: Some(2.0), completion: None, ..Price::default() };
        assert_eq!(Cost::of_model(&usage(1, 0, 0), Some(&half)).usd(), None);
        assert_eq!(of(&[]).usd(), Some(0.0));
    }

    #[test]
    fn a_small_cost_does_not_read_as_none() {
        let shown = [0.0, 0.000_012, 0.003, 0.0123, 0.5, 0.999, 3.5, 120.0].map(dollars);
        assert_eq!(shown, ["$0", "$0.000012", "$0.0030", "$0.012", "$0.50", "$1.00", "$3.50", "$120.00"]);
    }
}
