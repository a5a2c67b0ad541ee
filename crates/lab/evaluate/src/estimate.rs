//! Estimates of an evaluation's requests and cost, before any request is sent.
//!
//! Three kinds of figures are never mixed. *Certain*: paid requests, which come from records, and requests
//! that can be sent now, which a re-execution over the records has rendered in full. *At most*: all further
//! requests, bounded by the pipeline's file ([`planforge_pipeline::question_bounds`]). *Estimated*: tokens
//! and their cost. Tokens of a request that can be sent now are estimated from its text. Later requests are
//! taken to be as long as the longest of the first ones, plus one reply for each earlier one. A reply is
//! taken to have `reply_tokens` tokens, or `max_tokens` if that is less.

use crate::results::CellKey;
use crate::table::{Align, Table};
use planforge_contract::Price;
use planforge_pipeline::{Cost, QuestionBound, TaskUsage, dollars};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Tokens that a chat template adds to a turn, as caps on tokens take them.
const TURN_TOKENS: u64 = 16;

/// Assumptions of an estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Assumptions {
    /// Tokens of a reply.
    pub reply_tokens: u64,
    /// Seconds of a request.
    pub request_seconds: u64,
    /// Requests that run at a time.
    pub jobs: u64,
}

impl Assumptions {
    /// Tokens of a reply, unless they are stated.
    pub const REPLY_TOKENS: u64 = 1000;
    /// Seconds of a request, unless they are stated.
    pub const REQUEST_SECONDS: u64 = 10;
}

/// One `[llm.NAME]` table, as far as it matters here.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelFacts {
    /// The price, where it is stated.
    pub price: Price,
    /// Most tokens of a reply.
    pub max_tokens: Option<u64>,
    /// Most replies of one request: each further request pays for the question's tokens again.
    pub replies_a_request: Option<u64>,
    /// Most requests of a run.
    pub max_calls: Option<u64>,
    /// Most tokens of a run.
    pub max_total_tokens: Option<u64>,
    /// Most US dollars of a run.
    pub max_cost_usd: Option<f64>,
}

/// A request that can be sent now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadyRequest {
    /// The model table of the request.
    pub llm: String,
    /// Replies that the request asks for.
    pub replies: u64,
    /// Requests that it takes.
    pub requests: u64,
    /// Tokens of all its requests, estimated from their texts.
    pub prompt_tokens: u64,
}

/// Progress of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Progress {
    /// Nothing of it is recorded.
    New,
    /// It has a record, or a cassette answers some of its questions.
    Begun,
    /// It has its report and is only read.
    Finished,
}

impl Progress {
    /// The word used in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Begun => "begun",
            Self::Finished => "finished",
        }
    }
}

/// Facts about a cell.
#[derive(Debug, Clone, PartialEq)]
pub struct CellFacts {
    pub key: CellKey,
    /// Number of tasks.
    pub tasks: usize,
    /// Progress of the cell.
    pub progress: Progress,
    /// Use that records answer, by model table.
    pub paid: BTreeMap<String, TaskUsage>,
    /// Requests that can be sent now.
    pub ready: Vec<ReadyRequest>,
    /// The bounds of all tasks together, what is paid for included.
    pub bounds: Vec<QuestionBound>,
    /// The models.
    pub models: BTreeMap<String, ModelFacts>,
}

/// Use that is paid for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct PaidUse {
    /// Questions that were answered.
    pub calls: u64,
    /// Their replies.
    pub replies: u64,
    /// Tokens of questions; estimated where a server did not count them.
    pub prompt_tokens: u64,
    /// Tokens of replies; estimated where a server did not count them.
    pub completion_tokens: u64,
    /// The known cost.
    pub cost: Cost,
}

/// Questions to come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct FutureUse {
    /// Questions; absent where nothing bounds them.
    pub calls: Option<u64>,
    /// Replies; absent where nothing bounds them.
    pub replies: Option<u64>,
    /// Estimated tokens of requests; absent if nothing bounds them or there is no request to estimate from.
    pub estimated_prompt_tokens: Option<u64>,
    /// Tokens of replies, estimated.
    pub estimated_completion_tokens: Option<u64>,
    /// Tokens of replies at most; absent where a model has no `max_tokens`, or nothing bounds the replies.
    pub most_completion_tokens: Option<u64>,
    /// US dollars for the estimated tokens; absent where a price is unknown, or the tokens are.
    pub estimated_usd: Option<f64>,
}

/// One cell, estimated.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CellEstimate {
    /// The cell.
    #[serde(flatten)]
    pub key: CellKey,
    /// Number of tasks.
    pub tasks: usize,
    /// Progress of the cell.
    pub progress: Progress,
    /// Use that is paid for.
    pub paid: PaidUse,
    /// Requests that can be sent now; the numbers of requests and replies are certain.
    pub now: FutureUse,
    /// Upper bound on all further requests. Tokens and cost are estimates of that bound.
    pub most: FutureUse,
    /// Tables without a stated price: what they cost is unknown.
    pub unpriced: Vec<String>,
    /// Tables without `max_tokens`: the length of their replies has no bound.
    pub endless: Vec<String>,
    /// The reason why there is no bound on questions; empty where there is one.
    pub unbounded: Vec<String>,
}

/// An evaluation, estimated.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Estimate {
    /// Version of this document, 1.
    pub schema: u32,
    /// Assumptions of the estimate.
    pub assumptions: Assumptions,
    pub cells: Vec<CellEstimate>,
    /// All of them together.
    pub total: Total,
    /// Seconds that all further requests take at most, as assumed; absent where nothing bounds the requests.
    pub most_seconds: Option<u64>,
}

/// All cells together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Total {
    pub cells: usize,
    /// Their tasks.
    pub tasks: usize,
    /// Use that is paid for.
    pub paid: PaidUse,
    /// Requests that can be sent now.
    pub now: FutureUse,
    /// Upper bound on all further requests.
    pub most: FutureUse,
}

impl Estimate {
    /// Estimates every cell.
    pub fn new(cells: &[CellFacts], assumptions: Assumptions) -> Self {
        let cells: Vec<CellEstimate> = cells.iter().map(|cell| cell.estimate(assumptions)).collect();
        let zero = FutureUse::nothing();
        let mut total = Total { cells: cells.len(), now: zero, most: zero, ..Total::default() };
        for cell in &cells {
            total.tasks += cell.tasks;
            total.paid.add(&cell.paid);
            total.now = total.now.plus(&cell.now);
            total.most = total.most.plus(&cell.most);
        }
        let Assumptions { request_seconds, jobs, .. } = assumptions;
        let seconds = |calls: u64| calls.saturating_mul(request_seconds).div_ceil(jobs.max(1));
        Self { schema: 1, assumptions, cells, total, most_seconds: total.most.calls.map(seconds) }
    }

    /// Requests, cost and time at most, in one sentence.
    pub fn answer(&self) -> String {
        let most = &self.total.most;
        let requests = match most.calls {
            Some(0) => return "No request is left to send.".to_owned(),
            Some(1) => "At most 1 request".to_owned(),
            Some(calls) => format!("At most {calls} requests"),
            None => "Requests without a bound".to_owned(),
        };
        let cost = most
            .estimated_usd
            .map_or("at an unknown cost".to_owned(), |usd| format!("for about {} at most", dollars(usd)));
        let Assumptions { request_seconds, jobs, .. } = self.assumptions;
        let time = self.most_seconds.map_or("in an unknown time".to_owned(), |seconds| {
            format!(
                "in about {} at most ({request_seconds} s a request, {jobs} at a time)",
                duration(seconds)
            )
        });
        format!("{requests}, {cost}, {time}.")
    }
}

/// `12 s`, `3 min 20 s`, `2 h 5 min`.
fn duration(seconds: u64) -> String {
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

impl PaidUse {
    fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.replies += other.replies;
        self.prompt_tokens += other.prompt_tokens;
        self.completion_tokens += other.completion_tokens;
        self.cost.add(&other.cost);
    }
}

impl FutureUse {
    /// No question at all.
    pub const fn nothing() -> Self {
        Self {
            calls: Some(0),
            replies: Some(0),
            estimated_prompt_tokens: Some(0),
            estimated_completion_tokens: Some(0),
            most_completion_tokens: Some(0),
            estimated_usd: Some(0.0),
        }
    }

    /// Both together; what is unknown of one is unknown of the sum.
    fn plus(&self, other: &Self) -> Self {
        let sum = |a: Option<u64>, b: Option<u64>| Some(a?.saturating_add(b?));
        Self {
            calls: sum(self.calls, other.calls),
            replies: sum(self.replies, other.replies),
            estimated_prompt_tokens: sum(self.estimated_prompt_tokens, other.estimated_prompt_tokens),
            estimated_completion_tokens: sum(
                self.estimated_completion_tokens,
                other.estimated_completion_tokens,
            ),
            most_completion_tokens: sum(self.most_completion_tokens, other.most_completion_tokens),
            estimated_usd: self.estimated_usd.zip(other.estimated_usd).map(|(a, b)| a + b),
        }
    }

    /// The smaller of each, where the other is known.
    fn cap_at(&self, most: &Self) -> Self {
        let least = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        Self {
            calls: least(self.calls, most.calls),
            replies: self.replies,
            estimated_prompt_tokens: least(self.estimated_prompt_tokens, most.estimated_prompt_tokens),
            estimated_completion_tokens: least(
                self.estimated_completion_tokens,
                most.estimated_completion_tokens,
            ),
            most_completion_tokens: least(self.most_completion_tokens, most.most_completion_tokens),
            estimated_usd: match (self.estimated_usd, most.estimated_usd) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            },
        }
    }

    /// No less than what is certain.
    fn at_least(&self, now: &Self) -> Self {
        let most = |a: Option<u64>, b: Option<u64>| a.map(|a| a.max(b.unwrap_or(0)));
        Self {
            calls: most(self.calls, now.calls),
            replies: most(self.replies, now.replies),
            estimated_prompt_tokens: most(self.estimated_prompt_tokens, now.estimated_prompt_tokens),
            estimated_completion_tokens: most(
                self.estimated_completion_tokens,
                now.estimated_completion_tokens,
            ),
            most_completion_tokens: most(self.most_completion_tokens, now.most_completion_tokens),
            estimated_usd: self.estimated_usd.map(|usd| usd.max(now.estimated_usd.unwrap_or(0.0))),
        }
    }
}

impl CellFacts {
    fn estimate(&self, assumptions: Assumptions) -> CellEstimate {
        let paid = self.paid();
        let now = self.now(assumptions);
        let finished = self.progress == Progress::Finished;
        let most = if finished { FutureUse::nothing() } else { self.most(&paid, &now, assumptions) };
        let asked: BTreeSet<&String> = match finished {
            true => BTreeSet::new(),
            false => self
                .bounds
                .iter()
                .flat_map(|bound| &bound.models)
                .chain(self.ready.iter().map(|ready| &ready.llm))
                .collect(),
        };
        let without = |lacks: &dyn Fn(&ModelFacts) -> bool| {
            let lacking = asked.iter().filter(|name| self.models.get(**name).is_none_or(lacks));
            lacking.map(|name| (*name).clone()).collect()
        };
        let whys = self.bounds.iter().map(|bound| bound.why.clone()).filter(|why| !why.is_empty());
        CellEstimate {
            key: self.key.clone(),
            tasks: self.tasks,
            progress: self.progress,
            paid,
            now,
            unpriced: without(&|model| model.price.prompt.is_none() || model.price.completion.is_none()),
            endless: without(&|model| model.max_tokens.is_none()),
            unbounded: if most.calls.is_none() { whys.collect() } else { Vec::new() },
            most,
        }
    }

    fn paid(&self) -> PaidUse {
        let mut paid = PaidUse::default();
        for (name, usage) in &self.paid {
            let (prompt_tokens, completion_tokens) = usage.tokens();
            paid.add(&PaidUse {
                calls: usage.calls,
                replies: usage.replies,
                prompt_tokens,
                completion_tokens,
                cost: Cost::of_model(usage, self.models.get(name).map(|model| &model.price)),
            });
        }
        paid
    }

    fn now(&self, assumptions: Assumptions) -> FutureUse {
        self.ready.iter().fold(FutureUse::nothing(), |sum, ready| {
            let model = self.models.get(&ready.llm).cloned().unwrap_or_default();
            let completion = ready.replies.saturating_mul(reply_tokens(&model, assumptions));
            sum.plus(&FutureUse {
                calls: Some(1),
                replies: Some(ready.replies),
                estimated_prompt_tokens: Some(ready.prompt_tokens),
                estimated_completion_tokens: Some(completion),
                most_completion_tokens: model.max_tokens.map(|most| most.saturating_mul(ready.replies)),
                estimated_usd: usd(&model.price, ready.prompt_tokens, completion),
            })
        })
    }

    /// The bounds of the file, less what is paid for, under the caps of the tables.
    fn most(&self, paid: &PaidUse, now: &FutureUse, assumptions: Assumptions) -> FutureUse {
        let all = self.bounds.iter().fold(FutureUse::nothing(), |sum, bound| {
            let of = self.of_bound(bound, assumptions);
            let limits = FutureUse {
                estimated_prompt_tokens: bound.tokens,
                estimated_completion_tokens: bound.tokens,
                estimated_usd: bound.usd.filter(|_| of.estimated_usd.is_some() || bound.questions.is_none()),
                ..FutureUse::default()
            };
            sum.plus(&of.cap_at(&limits))
        });
        let capped = all.cap_at(&self.caps());
        // The share of all requests that is not paid for yet.
        let left = |all: Option<u64>, paid: u64| all.map(|all| all.saturating_sub(paid));
        let calls = left(capped.calls, paid.calls);
        let share = match (capped.calls, calls) {
            (Some(all), Some(left)) if all > 0 => left as f64 / all as f64,
            _ => 1.0,
        };
        let part = |tokens: Option<u64>| tokens.map(|tokens| (tokens as f64 * share).round() as u64);
        let rest = FutureUse {
            calls,
            replies: left(capped.replies, paid.replies),
            estimated_prompt_tokens: part(capped.estimated_prompt_tokens),
            estimated_completion_tokens: part(capped.estimated_completion_tokens),
            most_completion_tokens: part(capped.most_completion_tokens),
            estimated_usd: capped.estimated_usd.map(|usd| usd * share),
        };
        rest.at_least(now)
    }

    /// The sum of the caps of the tables, if every table that may be used has one.
    fn caps(&self) -> FutureUse {
        let names: BTreeSet<&String> = self.bounds.iter().flat_map(|bound| &bound.models).collect();
        let sum = |of: fn(&ModelFacts) -> Option<u64>| {
            names.iter().try_fold(0_u64, |sum, name| Some(sum.saturating_add(of(self.models.get(*name)?)?)))
        };
        let tokens = sum(|model| model.max_total_tokens);
        let usd = names.iter().try_fold(0.0, |sum, name| Some(sum + self.models.get(*name)?.max_cost_usd?));
        if names.is_empty() {
            return FutureUse::default();
        }
        FutureUse {
            calls: sum(|model| model.max_calls),
            replies: None,
            estimated_prompt_tokens: tokens,
            estimated_completion_tokens: tokens,
            most_completion_tokens: tokens,
            estimated_usd: usd,
        }
    }

    fn of_bound(&self, bound: &QuestionBound, assumptions: Assumptions) -> FutureUse {
        let models: Vec<ModelFacts> =
            bound.models.iter().map(|name| self.models.get(name).cloned().unwrap_or_default()).collect();
        // Of several possible models, the one with the longest replies, and the dearest.
        let reply = models.iter().map(|model| reply_tokens(model, assumptions)).max().unwrap_or(0);
        let longest = models.iter().try_fold(0, |most: u64, model| Some(most.max(model.max_tokens?)));
        let prompt = bound.questions.zip(bound.replies).zip(bound.before).and_then(
            |((questions, replies), before)| {
                if questions == 0 {
                    return Some(0);
                }
                let first = self.longest_question()?;
                let one = questions.saturating_mul(first);
                let grown = one.saturating_add(before.saturating_mul(reply.saturating_add(TURN_TOKENS)));
                // A server with fewer replies per request reads the prompt once per request.
                let each = replies.div_ceil(questions).max(1);
                let requests =
                    models.iter().map(|m| m.replies_a_request.map_or(1, |n| each.div_ceil(n.max(1))));
                Some(grown.saturating_mul(requests.max().unwrap_or(1)))
            },
        );
        let completion = bound.replies.map(|replies| replies.saturating_mul(reply));
        let usd = prompt.zip(completion).and_then(|(prompt, completion)| {
            models
                .iter()
                .try_fold(0.0_f64, |most, model| Some(most.max(usd(&model.price, prompt, completion)?)))
        });
        FutureUse {
            calls: bound.questions,
            replies: bound.replies,
            estimated_prompt_tokens: prompt,
            estimated_completion_tokens: completion,
            most_completion_tokens: bound
                .replies
                .zip(longest)
                .map(|(replies, most)| replies.saturating_mul(most)),
            estimated_usd: usd,
        }
    }

    /// Tokens of the longest request that can be sent now; without one, of the mean of past requests.
    fn longest_question(&self) -> Option<u64> {
        let ready = self.ready.iter().map(|ready| ready.prompt_tokens / ready.requests.max(1)).max();
        ready.or_else(|| {
            let calls: u64 = self.paid.values().map(|usage| usage.calls).sum();
            let tokens: u64 = self.paid.values().map(|usage| usage.tokens().0).sum();
            (calls > 0).then(|| tokens.div_ceil(calls))
        })
    }
}

fn reply_tokens(model: &ModelFacts, assumptions: Assumptions) -> u64 {
    model.max_tokens.map_or(assumptions.reply_tokens, |most| most.min(assumptions.reply_tokens))
}

/// US dollars for so many tokens, where both prices are stated.
fn usd(price: &Price, prompt_tokens: u64, completion_tokens: u64) -> Option<f64> {
    let usage = TaskUsage { calls: 1, prompt_tokens, completion_tokens, ..TaskUsage::default() };
    Cost::of_model(&usage, Some(price)).usd()
}

/// The text for an unknown or unbounded number.
const UNKNOWN: &str = "?";

impl Estimate {
    /// The table, and below it what is not known and what was taken for granted.
    pub fn text(&self) -> String {
        let mut text = self.table().text();
        for note in self.notes() {
            text.push_str(&format!("\n{note}\n"));
        }
        text
    }

    /// A line a cell, and one for all of them.
    pub fn table(&self) -> Table {
        let words = ["suite", "pipeline", "seed", "cell"].map(|name| (name, Align::Left));
        let numbers = [
            "tasks",
            "paid calls",
            "paid",
            "calls now",
            "~tokens in",
            "~cost",
            "calls <=",
            "replies <=",
            "~tokens in <=",
            "~tokens out <=",
            "~cost <=",
        ];
        let mut table = Table::new(words.into_iter().chain(numbers.map(|name| (name, Align::Right))));
        for cell in &self.cells {
            table.row(cell.line());
        }
        if self.cells.len() > 1 {
            table.row(self.total.line());
        }
        table
    }

    /// Remarks beside the figures.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = vec![
            "Certain: replies that are paid for, and calls that can be made now. At most (<=): further calls and replies, by the pipeline \
             file; retries are not included. Estimated (~): tokens and cost."
                .to_owned(),
        ];
        let reply = self.assumptions.reply_tokens;
        notes.push(format!(
            "Estimates: a token for three bytes and 16 a turn; a later request is as long as the longest first one and all replies before \
             it; a reply has {reply} tokens (--reply-tokens), or max_tokens if that is less."
        ));
        let unpriced = self.named(|cell| &cell.unpriced);
        if !unpriced.is_empty() {
            notes.push(format!(
                "price unknown: {} (a key `price = {{ prompt = ..., completion = ... }}` of the table states it; unknown is not free)",
                unpriced.join(", ")
            ));
        }
        let endless = self.named(|cell| &cell.endless);
        if !endless.is_empty() {
            notes.push(format!(
                "replies without a bound on their length: {} (no `max_tokens`)",
                endless.join(", ")
            ));
        } else if let Some(most) = self.total.most.most_completion_tokens.filter(|most| *most > 0) {
            notes.push(format!("Replies cannot be longer than {most} tokens in all (`max_tokens`)."));
        }
        let whys: BTreeSet<&String> = self.cells.iter().flat_map(|cell| &cell.unbounded).collect();
        notes.extend(whys.into_iter().map(|why| format!("no bound on calls: {why}")));
        notes
    }

    fn named(&self, of: fn(&CellEstimate) -> &Vec<String>) -> Vec<String> {
        let name = |cell: &CellEstimate, llm: &String| format!("llm.{llm} of {}", cell.key.column());
        let all: BTreeSet<String> =
            self.cells.iter().flat_map(|cell| of(cell).iter().map(move |llm| name(cell, llm))).collect();
        all.into_iter().collect()
    }
}

impl CellEstimate {
    fn line(&self) -> Vec<String> {
        let key = &self.key;
        let names = [key.suite.clone(), key.column(), key.seed.to_string(), self.progress.name().to_owned()];
        let nothing_left = self.progress == Progress::Finished;
        let figures = figures(&self.paid, &self.now, &self.most, nothing_left);
        names.into_iter().chain([self.tasks.to_string()]).chain(figures).collect()
    }
}

impl Total {
    fn line(&self) -> Vec<String> {
        let names = ["all", "", "", ""].map(str::to_owned);
        let figures = figures(&self.paid, &self.now, &self.most, false);
        names.into_iter().chain([self.tasks.to_string()]).chain(figures).collect()
    }
}

fn figures(paid: &PaidUse, now: &FutureUse, most: &FutureUse, nothing_left: bool) -> Vec<String> {
    let count = |count: Option<u64>| count.map_or(UNKNOWN.to_owned(), |count| count.to_string());
    let usd = |usd: Option<f64>| usd.map_or(UNKNOWN.to_owned(), dollars);
    let spent = if paid.calls == 0 { "-".to_owned() } else { paid.cost.text() };
    let mut figures = vec![paid.calls.to_string(), spent];
    if nothing_left {
        figures.extend(["0", "0", "-", "0", "0", "0", "0", "-"].map(str::to_owned));
        return figures;
    }
    figures.extend([count(now.calls), count(now.estimated_prompt_tokens), usd(now.estimated_usd)]);
    figures.extend([count(most.calls), count(most.replies)]);
    figures.extend([most.estimated_prompt_tokens, most.estimated_completion_tokens].map(count));
    figures.push(usd(most.estimated_usd));
    figures
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(seed: u64) -> CellKey {
        CellKey { suite: "garden".to_owned(), pipeline: "bon".to_owned(), model: String::new(), seed }
    }

    fn priced(max_tokens: Option<u64>) -> ModelFacts {
        let price = Price { prompt: Some(2.0), completion: Some(8.0), ..Price::default() };
        ModelFacts { price, max_tokens, ..ModelFacts::default() }
    }

    fn bound(questions: u64, replies: u64, before: u64) -> QuestionBound {
        QuestionBound {
            stage: "s".to_owned(),
            models: vec!["main".to_owned()],
            questions: Some(questions),
            replies: Some(replies),
            before: Some(before),
            ..QuestionBound::default()
        }
    }

    fn cell(seed: u64) -> CellFacts {
        let ready = ReadyRequest { llm: "main".to_owned(), replies: 4, requests: 1, prompt_tokens: 1_000 };
        CellFacts {
            key: key(seed),
            tasks: 2,
            progress: Progress::New,
            paid: BTreeMap::new(),
            ready: vec![ready.clone(), ReadyRequest { prompt_tokens: 600, ..ready }],
            bounds: vec![bound(2, 8, 0), bound(16, 16, 16)],
            models: BTreeMap::from([("main".to_owned(), priced(Some(300)))]),
        }
    }

    fn close(usd: Option<f64>, expected: f64) -> bool {
        usd.is_some_and(|usd| (usd - expected).abs() < 1e-9)
    }

    const ASSUMED: Assumptions = Assumptions { reply_tokens: 500, request_seconds: 10, jobs: 4 };

    #[test]
    fn certain_largest_and_estimated_figures_are_separate() {
        let estimate = Estimate::new(&[cell(1), cell(2)], ASSUMED);
        let one = &estimate.cells[0];
        assert_eq!((one.now.calls, one.now.replies), (Some(2), Some(8)));
        assert_eq!(one.now.estimated_prompt_tokens, Some(1_600));
        // max_tokens is less than what is assumed, and it is a bound as well.
        assert_eq!(
            (one.now.estimated_completion_tokens, one.now.most_completion_tokens),
            (Some(2_400), Some(2_400))
        );
        assert!(close(one.now.estimated_usd, (2.0 * 1_600.0 + 8.0 * 2_400.0) / 1e6));
        assert_eq!((one.most.calls, one.most.replies), (Some(18), Some(24)));
        // Each question is as long as the longest first one; those of the second stage have a reply before them.
        assert_eq!(one.most.estimated_prompt_tokens, Some(18 * 1_000 + 16 * (300 + 16)));
        assert_eq!(one.most.most_completion_tokens, Some(24 * 300));
        assert!(one.unpriced.is_empty() && one.endless.is_empty() && one.unbounded.is_empty());
        assert_eq!((estimate.total.cells, estimate.total.tasks, estimate.total.most.calls), (2, 4, Some(36)));
        let text = estimate.text();
        assert!(text.contains("all ") && text.contains('$') && text.contains("500 tokens"), "{text}");
        let answer = estimate.answer();
        assert!(answer.starts_with("At most 36 requests, for about $0."), "{answer}");
        assert!(
            answer.ends_with(" at most, in about 1 min 30 s at most (10 s a request, 4 at a time)."),
            "{answer}"
        );
    }

    #[test]
    fn unknown_figures_are_question_marks_with_a_reason() {
        let mut facts = cell(1);
        facts.models.insert("main".to_owned(), ModelFacts::default());
        facts.bounds[1] =
            QuestionBound { why: "`x` does not say".to_owned(), questions: None, ..bound(0, 0, 0) };
        let estimate = Estimate::new(&[facts], ASSUMED);
        let one = &estimate.cells[0];
        assert_eq!((one.now.estimated_usd, one.most.estimated_usd), (None, None));
        assert_eq!((one.most.calls, one.most.most_completion_tokens), (None, None));
        assert_eq!(one.now.estimated_completion_tokens, Some(8 * 500), "what is assumed, without a bound");
        let text = estimate.text();
        for word in
            ["price unknown: llm.main of bon", "no `max_tokens`", "no bound on calls: `x` does not say", "?"]
        {
            assert!(text.contains(word), "{word}: {text}");
        }
        assert!(!text.contains('$'), "{text}");
        assert_eq!(estimate.answer(), "Requests without a bound, at an unknown cost, in an unknown time.");
    }

    #[test]
    fn paid_requests_are_not_paid_again() {
        let mut facts = cell(1);
        facts.progress = Progress::Begun;
        let usage = TaskUsage {
            calls: 9,
            replies: 12,
            prompt_tokens: 9_000,
            completion_tokens: 3_000,
            ..TaskUsage::default()
        };
        facts.paid.insert("main".to_owned(), usage);
        let begun = Estimate::new(&[facts.clone()], ASSUMED);
        let one = &begun.cells[0];
        assert_eq!((one.paid.calls, one.most.calls, one.most.replies), (9, Some(9), Some(12)));
        assert!(close(one.paid.cost.usd(), (2.0 * 9_000.0 + 8.0 * 3_000.0) / 1e6));
        let all = Estimate::new(&[cell(1)], ASSUMED).cells[0].most.estimated_prompt_tokens.unwrap();
        assert_eq!(one.most.estimated_prompt_tokens, Some(all / 2), "half of the questions are left");
        facts.progress = Progress::Finished;
        facts.ready.clear();
        let finished = Estimate::new(&[facts], ASSUMED);
        assert_eq!(finished.cells[0].most, FutureUse::nothing());
        assert_eq!(finished.answer(), "No request is left to send.");
        assert!(finished.text().contains("finished"));
    }

    #[test]
    fn caps_and_budgets_bound_what_the_stages_do_not() {
        let mut facts = cell(1);
        let model = ModelFacts { max_calls: Some(10), max_cost_usd: Some(0.01), ..priced(Some(300)) };
        facts.models.insert("main".to_owned(), model);
        let capped = Estimate::new(&[facts.clone()], ASSUMED);
        assert_eq!(capped.cells[0].most.calls, Some(10));
        assert!(close(capped.cells[0].most.estimated_usd, 0.0224));
        assert!(
            capped.cells[0].now.estimated_usd > Some(0.01),
            "what is certain is never less than a cap lets"
        );
        // A budget of tokens bounds tokens, and not the number of questions.
        facts.models.insert("main".to_owned(), priced(None));
        facts.bounds[1] = QuestionBound {
            questions: None,
            replies: None,
            before: None,
            tokens: Some(50_000),
            ..bound(0, 0, 0)
        };
        let budget = Estimate::new(&[facts], ASSUMED);
        assert_eq!(budget.cells[0].most.calls, None);
        assert_eq!(budget.cells[0].most.estimated_prompt_tokens, Some(2_000 + 50_000));
    }

    #[test]
    fn a_server_with_one_reply_a_request_reads_the_prompt_each_time() {
        let mut facts = cell(1);
        facts.bounds.truncate(1);
        let model = ModelFacts { replies_a_request: Some(1), ..priced(Some(300)) };
        facts.models.insert("main".to_owned(), model);
        let estimate = Estimate::new(&[facts], ASSUMED);
        assert_eq!(estimate.cells[0].most.estimated_prompt_tokens, Some(2 * 1_000 * 4));
    }
}
