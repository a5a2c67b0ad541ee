//! The run of a budget stage: a policy divides one budget between sampling new candidates and refining
//! existing ones.
//!
//! A pull gets its number when it is chosen; the number is part of every path, as a round is (`update#7`). A
//! choice depends only on pulls that were chosen earlier and have ended. So neither the number of jobs nor
//! the order of replies changes anything. Wall time, if it is limited, comes from the record.

use super::bandit::{Arm, Bandit, Kind};
use super::candidates::Candidates;
use super::config::BudgetStage;
use super::spending::Account;
use crate::front::price_of;
use crate::run::beam::Entry;
use crate::run::context::{Context, TaskRun};
use crate::run::path::{call_path, label_in_round};
use crate::run::recorder::Keep;
use crate::run::report::{BudgetReport, FailedSample, StageReport, TaskUsage};
use crate::run::series::{self, Series, SeriesEnd, add_all, report};
use crate::run::step::StageResult;
use crate::run::sync::lock;
use crate::run::verdict::verdict_of;
use crate::stages::Stage;
use crate::stages::rated::Rated;
use crate::stages::refine::forget;
use crate::stages::round::writer_of;
use planforge_contract::{Failure, FailureClass, Price};
use planforge_llm::{Mode, derive_u64};
use planforge_pddl::random::Random;
use planforge_record::{BudgetCost, BudgetEnd, Event, TaskVerdict};
use std::collections::BTreeMap;
use std::time::Duration;

/// After so many pulls in a row that spent nothing of what is limited, the search ends: it would go on for ever.
const MOST_FREE_PULLS: u32 = 16;
/// The arm of what came in, in the record.
const ENTERED: &str = "entered";
/// The arm of new samples, in the record.
const NEW: &str = "new";

/// Runs a budget stage.
pub(super) fn run(
    context: &Context<'_>,
    task: &TaskRun<'_>,
    stage: &BudgetStage,
    beam: Vec<Entry>,
) -> Result<StageResult, Failure> {
    let inner = stage.sample.iter().chain(&stage.round).chain(&stage.judge).map(report).collect();
    let beam = beam.into_iter().map(|entry| forget(&stage.forget, entry)).collect();
    let search = Search {
        context,
        task,
        stage,
        account: Account::new(stage.budget, prices(context, stage)),
        bandit: Bandit::new(stage.policy, !stage.sample.is_empty()),
        origins: beam,
        candidates: Candidates::new(stage),
        reports: inner,
        failed: Vec::new(),
        pulls: 0,
        counts: [0; 2],
        free: 0,
    };
    search.run()
}

/// The prices of the models that are paid from the budget.
fn prices(context: &Context<'_>, stage: &BudgetStage) -> BTreeMap<String, Price> {
    let inside = stage.sample.iter().chain(&stage.round).chain(&stage.judge);
    let models = inside.flat_map(Stage::models);
    let price = |name: &str| context.pipeline.llm.get(name).map(price_of).unwrap_or_default();
    models.map(|name| (name.to_owned(), price(name))).collect()
}

/// One pull, decided.
struct Pull {
    number: u32,
    arm: Arm,
    /// The candidate that its stages start with.
    from: Entry,
    /// The arm's name in the record.
    name: String,
}

/// The result of a pull.
struct Pulled {
    series: Series,
    usage: BTreeMap<String, TaskUsage>,
}

/// Reasons for making no further pull.
enum Stop {
    Ended(BudgetEnd),
    /// A replay that does not find what it needs ends without a candidate.
    Missing,
    Parked,
    Interrupted,
}

/// The search of one task.
struct Search<'a> {
    context: &'a Context<'a>,
    task: &'a TaskRun<'a>,
    stage: &'a BudgetStage,
    account: Account,
    bandit: Bandit,
    /// The candidates that entered: new ones are made from them in turn.
    origins: Vec<Entry>,
    candidates: Candidates<'a>,
    /// Of the stages inside.
    reports: Vec<StageReport>,
    failed: Vec<FailedSample>,
    /// Number of started pulls.
    pulls: u32,
    /// Samples and refinements that ended.
    counts: [u32; 2],
    /// Pulls in a row that spent nothing.
    free: u32,
}

impl Search<'_> {
    fn run(mut self) -> Result<StageResult, Failure> {
        let mut stop = self.enter()?;
        let stop = loop {
            stop = match stop {
                Some(stop) => break stop,
                None if self.candidates.has_accepted() => break Stop::Ended(BudgetEnd::Accepted),
                None => self.turn()?,
            };
        };
        let result = StageResult::default();
        match stop {
            Stop::Parked => Ok(StageResult { inner: self.reports, parked: true, ..result }),
            Stop::Interrupted => Ok(StageResult { inner: self.reports, interrupted: true, ..result }),
            Stop::Missing => Ok(StageResult { inner: self.reports, failed: self.failed, ..result }),
            Stop::Ended(end) => self.finish(end),
        }
    }

    /// Judges the candidates that entered and were written by an earlier stage; they compete with the others.
    /// If nothing can be sampled, all entered candidates do.
    fn enter(&mut self) -> Result<Option<Stop>, Failure> {
        let samples = !self.stage.sample.is_empty();
        let written = |entry: &&Entry| !samples || !entry.candidate.lineage.is_empty();
        let entered: Vec<Entry> = self.origins.iter().filter(written).cloned().collect();
        if entered.is_empty() {
            return Ok(None);
        }
        let from = entered.first().cloned().unwrap_or_default();
        let pull = Pull { number: 0, arm: Arm::New, from, name: ENTERED.to_owned() };
        let timer = self.timer();
        let judged = self.series(&pull, &self.stage.judge, entered)?;
        self.settle(vec![(pull, judged)], timer)
    }

    /// Decides and makes as many pulls as stand side by side.
    fn turn(&mut self) -> Result<Option<Stop>, Failure> {
        if self.context.stopping() {
            return Ok(Some(Stop::Interrupted));
        }
        let pulls = self.decide();
        if pulls.is_empty() {
            let end = if self.bandit.has_open_arm() { BudgetEnd::Spent } else { BudgetEnd::NothingLeft };
            return Ok(Some(Stop::Ended(end)));
        }
        let timer = self.timer();
        let this = &*self;
        let ended = this.context.pool.drive(&pulls, |pull| this.pull(pull));
        let mut both = Vec::new();
        for (pull, pulled) in pulls.into_iter().zip(ended) {
            both.push((pull, pulled?));
        }
        self.settle(both, timer)
    }

    fn decide(&mut self) -> Vec<Pull> {
        let mut kinds = Vec::new();
        let mut pulls = Vec::new();
        for _ in 0..self.stage.width {
            let number = self.pulls + 1;
            let path = self.pull_path(number);
            let mut random = Random::new(derive_u64(self.context.pipeline.seed, "budget", &path));
            let offer = self.account.offer(&kinds);
            let Some(arm) = self.bandit.choose(&offer, &mut random) else { break };
            let found = match arm {
                // New candidates are made from what came in, in turn.
                Arm::New => {
                    let taken = kinds.iter().filter(|kind| **kind == Kind::Sample).count();
                    let turn = self.counts[0] as usize + taken;
                    let origin = turn.checked_rem(self.origins.len()).and_then(|at| self.origins.get(at));
                    origin.map(|origin| (origin.clone(), NEW.to_owned()))
                }
                Arm::Candidate(index) => {
                    let candidate = self.candidates.of_arm(index);
                    candidate.map(|candidate| (candidate.entry.clone(), self.path_of(candidate)))
                }
            };
            let Some((from, name)) = found else { break };
            self.pulls = number;
            kinds.push(arm.kind());
            pulls.push(Pull { number, arm, from, name });
        }
        pulls
    }

    fn pull(&self, pull: &Pull) -> Result<Pulled, Failure> {
        let beam = vec![pull.from.clone()];
        let writers = match pull.arm {
            Arm::New => &self.stage.sample,
            Arm::Candidate(_) => &self.stage.round,
        };
        self.series(pull, writers.iter().chain(&self.stage.judge), beam)
    }

    /// Runs the stages of a pull, up to the writer of a round if the judges before it accept the candidate
    /// unchanged. Its usage is counted by itself.
    fn series<'s>(
        &self,
        pull: &Pull,
        stages: impl IntoIterator<Item = &'s Stage>,
        beam: Vec<Entry>,
    ) -> Result<Pulled, Failure> {
        let metered = self.task.with_own_usage();
        let writer = self.writer();
        let content = |stage: &Stage, beam: &[Entry]| writer == Some(stage.label()) && self.is_content(beam);
        let series = series::run(self.context, &metered, pull.number, stages, beam, content)?;
        let usage = std::mem::take(&mut *lock(&metered.usage));
        Ok(Pulled { series, usage })
    }

    /// The label of what writes in a round.
    fn writer(&self) -> Option<&str> {
        let writer = writer_of(&self.stage.round).and_then(|at| self.stage.round.get(at));
        writer.map(Stage::label)
    }

    /// True if there are judges before the writer of a round and all accept the candidate unchanged.
    fn is_content(&self, beam: &[Entry]) -> bool {
        let writer = self.writer();
        let before: Vec<&Stage> =
            self.stage.round.iter().take_while(|stage| Some(stage.label()) != writer).collect();
        let accepts = |entry: &Entry| verdict_of(before.iter().copied(), entry) == TaskVerdict::Accepted;
        before.iter().any(|stage| stage.definition().decides()) && beam.iter().all(accepts)
    }

    /// Records the results of concurrent pulls, in the order of their numbers.
    fn settle(&mut self, ended: Vec<(Pull, Pulled)>, since: Duration) -> Result<Option<Stop>, Failure> {
        for (_, pulled) in &ended {
            let mut usage = lock(&self.task.usage);
            for (model, used) in &pulled.usage {
                usage.entry(model.clone()).or_default().add(used);
            }
        }
        if ended.iter().any(|(_, pulled)| matches!(pulled.series.end, SeriesEnd::Interrupted)) {
            return Ok(Some(Stop::Interrupted));
        }
        if ended.iter().any(|(_, pulled)| matches!(pulled.series.end, SeriesEnd::Parked)) {
            return Ok(Some(Stop::Parked));
        }
        let first = ended.first().map_or(0, |(pull, _)| pull.number);
        let misses = |(_, pulled): &(Pull, Pulled)| {
            pulled.series.failed.iter().any(|failed| failed.failure.class == FailureClass::ReplayMiss)
        };
        if ended.iter().any(misses) {
            self.failed = ended.into_iter().flat_map(|(_, pulled)| pulled.series.failed).collect();
            return Ok(Some(Stop::Missing));
        }
        let seconds = match self.seconds(since, first) {
            Err(failure) if failure.class == FailureClass::ReplayMiss => {
                let path = self.pull_path(first);
                self.failed = vec![FailedSample { path, failure }];
                return Ok(Some(Stop::Missing));
            }
            seconds => seconds?,
        };
        // Time passes for all of them at once: each pays its part of it.
        let share = seconds / ended.len().max(1) as f64;
        // All of them were decided before any had ended, and are measured against the best of that time.
        let best = self.candidates.best_value();
        let mut capped = false;
        for (pull, pulled) in ended {
            capped |= is_capped(&pulled);
            let cost = self.account.cost(&pulled.usage, share);
            self.record_pull(&pull, pulled, &cost, best)?;
        }
        Ok(match (capped, self.free >= MOST_FREE_PULLS) {
            _ if self.candidates.has_accepted() => None,
            (true, _) => Some(Stop::Ended(BudgetEnd::Capped)),
            (false, true) => Some(Stop::Ended(BudgetEnd::Stalled)),
            (false, false) => None,
        })
    }

    /// Records the result of one pull. `best` is the best value at the time of the choice.
    fn record_pull(
        &mut self,
        pull: &Pull,
        pulled: Pulled,
        cost: &BudgetCost,
        best: f64,
    ) -> Result<(), Failure> {
        let entered = pull.number == 0;
        add_all(&mut self.reports, pulled.series.reports);
        self.failed.extend(pulled.series.failed);
        self.account.charge((!entered).then(|| pull.arm.kind()), cost);
        if !entered {
            self.free = if self.account.is_free(cost) { self.free + 1 } else { 0 };
            self.counts[usize::from(pull.arm.kind() == Kind::Refine)] += 1;
        }
        let children: Vec<Rated> = match pulled.series.end {
            SeriesEnd::Left(children) => {
                children.into_iter().map(|child| self.candidates.rate(child)).collect()
            }
            SeriesEnd::Enough => {
                self.bandit.close(pull.arm);
                Vec::new()
            }
            SeriesEnd::Lost(reasons) => {
                self.candidates.keep_reasons(pull.arm, reasons);
                Vec::new()
            }
            SeriesEnd::Parked | SeriesEnd::Interrupted => Vec::new(),
        };
        let made: Vec<String> = children.iter().map(|child| self.path_of(child)).collect();
        let order = self.stage.order;
        let leader = children.iter().enumerate().min_by(|(_, a), (_, b)| a.compare(b, order));
        let scaled = leader.map(|(_, leader)| self.candidates.scaled_value(leader));
        let best = self.candidates.branch_best(pull.arm).unwrap_or(best);
        let reward = if entered { 0.0 } else { scaled.map_or(0.0, |value| progress(best, value)) };
        if !entered {
            self.bandit.learn(pull.arm, reward, scaled);
        }
        let value = leader.and_then(|(_, leader)| leader.value);
        let accepted = leader.is_some_and(|(_, leader)| leader.accepted);
        let first = leader.map(|(index, _)| index);
        for (index, child) in children.into_iter().enumerate() {
            self.candidates.add(child, &mut self.bandit, pull.arm, entered, first == Some(index));
        }
        let best = self.candidates.best();
        self.context.recorder.event(Event::BudgetPulled {
            task: self.task.task.name.clone(),
            stage: self.stage.label.clone(),
            pull: pull.number,
            arm: pull.name.clone(),
            made,
            value,
            reward,
            accepted,
            cost: *cost,
            spent: self.account.spent,
            best: best.map(|rated| self.path_of(rated)),
            best_value: best.and_then(|rated| rated.value),
        })
    }

    fn finish(self, end: BudgetEnd) -> Result<StageResult, Failure> {
        let best = self.candidates.best().map(|best| self.path_of(best));
        let best_value = self.candidates.best().and_then(|best| best.value);
        self.context.recorder.event(Event::BudgetSpent {
            task: self.task.task.name.clone(),
            stage: self.stage.label.clone(),
            end,
            pulls: self.pulls,
            spent: self.account.spent,
            best: best.clone(),
        })?;
        let [samples, refinements] = self.counts;
        let report = BudgetReport {
            policy: self.stage.policy.name().to_owned(),
            limits: self.stage.budget,
            spent: self.account.spent,
            end,
            samples,
            refinements,
            candidates: self.candidates.len(),
            best,
            best_value,
            outside: self.candidates.outside,
        };
        let mut step = StageResult { inner: self.reports, budget: Some(report), ..StageResult::default() };
        step.outcomes.insert(end.name().to_owned(), 1);
        step.outcomes.insert("pulls".to_owned(), self.pulls as usize);
        step.beam = self.candidates.kept();
        if step.beam.is_empty() {
            step.failed = self.failed;
        }
        Ok(step)
    }

    /// The path of a candidate in the record.
    fn path_of(&self, candidate: &Rated) -> String {
        candidate.path(&self.task.task.name)
    }

    /// The path of a pull in the record.
    fn pull_path(&self, pull: u32) -> String {
        call_path(&self.task.task.name, &label_in_round(&self.stage.label, Some(pull)), &[])
    }

    /// Time at the beginning of pulls, where it counts.
    fn timer(&self) -> Duration {
        self.context.services.llm.clock().now()
    }

    /// Wall time of the pulls that began with that number: an effect, so that a run that goes on and a replay decide by the time
    /// that was recorded.
    fn seconds(&self, since: Duration, first: u32) -> Result<f64, Failure> {
        if !self.account.is_timed() {
            return Ok(0.0);
        }
        let path = self.pull_path(first);
        let name = "budget.seconds";
        let measure = || match self.context.services.mode {
            Mode::Replay => {
                let message = format!("the record does not hold the time of the pulls at {path}");
                Err(Failure::new(FailureClass::ReplayMiss, "pipeline.replay-miss", message)
                    .help("replay a run that was made with this pipeline and these tasks"))
            }
            _ => Ok(self.timer().saturating_sub(since).as_secs_f64()),
        };
        self.context.recorder.effect(name, &path, &self.stage.budget.seconds, |_: &f64| Keep::Timed, measure)
    }
}

/// Share of the way from the best value so far to the best possible value: 0 to 1.
fn progress(best: f64, value: f64) -> f64 {
    if value >= 1.0 {
        return 1.0;
    }
    if value <= best { 0.0 } else { (value - best) / (1.0 - best) }
}

/// True if a spending cap of a model table stopped all requests of a pull.
fn is_capped(pulled: &Pulled) -> bool {
    let made = matches!(pulled.series.end, SeriesEnd::Left(_) | SeriesEnd::Enough);
    !made && pulled.series.failed.iter().any(|failed| failed.failure.class == FailureClass::Budget)
}
