//! The run of a budget stage: a policy divides one budget between sampling new candidates and refining
//! existing ones.
//!
//! A pull gets its number when it is chosen; the number is part of every path, as a round is (`update#7`). A
//! choice depends only on pulls that were chosen earlier and have ended. So neither the number of jobs nor
//! the order of replies changes anything. Wall time, if it is limited, comes from the record.

use super::bandit::{Arm, Bandit, Kind, UNKNOWN_VALUE};
use super::config::{BudgetArms, BudgetStage};
use super::copies::{is_copy, is_equal};
use super::spending::Account;
use crate::front::price_of;
use crate::run::beam::Entry;
use crate::run::context::{Context, TaskRun};
use crate::run::path::{call_path, candidate_path, label_in_round};
use crate::run::recorder::Keep;
use crate::run::report::{BudgetReport, FailedSample, StageReport, TaskUsage};
use crate::run::series::{self, Series, SeriesEnd, add_all, report};
use crate::run::step::StageResult;
use crate::run::sync::lock;
use crate::run::verdict::verdict_of;
use crate::stages::Stage;
use crate::stages::order::Order;
use crate::stages::refine::forget;
use crate::stages::round::writer_of;
use planforge_contract::{Failure, FailureClass, Price};
use planforge_llm::{Mode, derive_u64};
use planforge_pddl::random::Random;
use planforge_record::{BudgetCost, BudgetEnd, Event, TaskVerdict};
use std::cmp::Ordering;
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
        candidates: Vec::new(),
        arms: Vec::new(),
        reports: inner,
        failed: Vec::new(),
        pulls: 0,
        counts: [0; 2],
        outside: 0,
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

/// A candidate that was judged.
struct Rated {
    entry: Entry,
    path: String,
    /// Every judging stage accepted it.
    accepted: bool,
    /// The metric, as it is.
    value: Option<f64>,
}

impl Rated {
    /// The better comes first: one that is accepted, then by the metric; ties go to the earlier.
    fn compare(&self, other: &Self, order: Order) -> Ordering {
        other.accepted.cmp(&self.accepted).then_with(|| order.compare(self.value, other.value))
    }
}

/// An arm that refines.
struct RefineArm {
    /// Index of the candidate that the next pull refines.
    candidate: usize,
    /// The best value of the arm so far, 0 to 1.
    best: f64,
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
    /// In the order in which they came.
    candidates: Vec<Rated>,
    /// In the order of the bandit's numbers.
    arms: Vec<RefineArm>,
    /// Of the stages inside.
    reports: Vec<StageReport>,
    failed: Vec<FailedSample>,
    /// Number of started pulls.
    pulls: u32,
    /// Samples and refinements that ended.
    counts: [u32; 2],
    outside: u32,
    /// Pulls in a row that spent nothing.
    free: u32,
}

impl Search<'_> {
    fn run(mut self) -> Result<StageResult, Failure> {
        let mut stop = self.enter()?;
        while stop.is_none() {
            stop = match self.has_accepted() {
                true => Some(Stop::Ended(BudgetEnd::Accepted)),
                false => self.turn()?,
            };
        }
        match stop {
            Some(Stop::Parked) => {
                Ok(StageResult { inner: self.reports, parked: true, ..StageResult::default() })
            }
            Some(Stop::Interrupted) => {
                Ok(StageResult { inner: self.reports, interrupted: true, ..StageResult::default() })
            }
            Some(Stop::Missing) => {
                Ok(StageResult { inner: self.reports, failed: self.failed, ..StageResult::default() })
            }
            Some(Stop::Ended(end)) => self.finish(end),
            None => self.finish(BudgetEnd::Spent),
        }
    }

    fn has_accepted(&self) -> bool {
        self.candidates.iter().any(|candidate| candidate.accepted)
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
            let path = self.path_of(number);
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
                    let candidate = self.arms.get(index).and_then(|arm| self.candidates.get(arm.candidate));
                    candidate.map(|candidate| (candidate.entry.clone(), candidate.path.clone()))
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
                let path = self.path_of(first);
                self.failed = vec![FailedSample { path, failure }];
                return Ok(Some(Stop::Missing));
            }
            seconds => seconds?,
        };
        // Time passes for all of them at once: each pays its part of it.
        let share = seconds / ended.len().max(1) as f64;
        // All of them were decided before any had ended, and are measured against the best of that time.
        let best = self.best().map_or(0.0, |best| self.scale_value(best.value, best.accepted));
        let mut capped = false;
        for (pull, pulled) in ended {
            capped |= is_capped(&pulled);
            let cost = self.account.cost(&pulled.usage, share);
            self.one(&pull, pulled, &cost, best)?;
        }
        Ok(match (capped, self.free >= MOST_FREE_PULLS) {
            _ if self.has_accepted() => None,
            (true, _) => Some(Stop::Ended(BudgetEnd::Capped)),
            (false, true) => Some(Stop::Ended(BudgetEnd::Stalled)),
            (false, false) => None,
        })
    }

    /// Takes note of one pull.
    fn one(&mut self, pull: &Pull, pulled: Pulled, cost: &BudgetCost, best: f64) -> Result<(), Failure> {
        let entered = pull.number == 0;
        add_all(&mut self.reports, pulled.series.reports);
        self.failed.extend(pulled.series.failed);
        self.account.charge((!entered).then(|| pull.arm.kind()), cost);
        if !entered {
            self.free = if self.account.is_free(cost) { self.free + 1 } else { 0 };
            self.counts[usize::from(pull.arm.kind() == Kind::Refine)] += 1;
        }
        let children: Vec<Rated> = match pulled.series.end {
            SeriesEnd::Left(children) => children.into_iter().map(|child| self.rate(child)).collect(),
            SeriesEnd::Enough => {
                self.bandit.close(pull.arm);
                Vec::new()
            }
            SeriesEnd::Lost(reasons) => {
                self.heed(pull.arm, reasons);
                Vec::new()
            }
            SeriesEnd::Parked | SeriesEnd::Interrupted => Vec::new(),
        };
        let made: Vec<String> = children.iter().map(|child| child.path.clone()).collect();
        let mut ranked: Vec<&Rated> = children.iter().collect();
        ranked.sort_by(|a, b| a.compare(b, self.stage.order));
        let first = ranked.first().map(|child| (child.value, child.accepted));
        let (value, accepted) = first.unwrap_or((None, false));
        let scaled = first.map(|(value, accepted)| self.scale_value(value, accepted));
        let best = self.branch(pull.arm).map_or(best, |branch| branch.best);
        let reward = if entered { 0.0 } else { scaled.map_or(0.0, |value| progress(best, value)) };
        if !entered {
            self.bandit.learn(pull.arm, reward, scaled);
        }
        let first = ranked.first().map(|child| child.path.clone());
        for child in children {
            let leads = first.as_ref() == Some(&child.path);
            self.join(child, entered, pull.arm, leads);
        }
        let leader = self.best();
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
            best: leader.map(|rated| rated.path.clone()),
            best_value: leader.and_then(|rated| rated.value),
        })
    }

    /// Keeps the reasons of a failed refinement for the candidate's next one.
    fn heed(&mut self, arm: Arm, reasons: Vec<String>) {
        if let Arm::Candidate(index) = arm
            && let Some(arm) = self.arms.get(index)
            && let Some(candidate) = self.candidates.get_mut(arm.candidate)
        {
            candidate.entry.unusable = reasons;
        }
    }

    fn rate(&mut self, mut entry: Entry) -> Rated {
        // Only the judges decide: what else judged it did so in order to write it.
        entry.discount_results(|label| self.stage.judge.iter().any(|judge| judge.label() == label));
        entry.unusable.clear();
        let accepted = verdict_of(&self.stage.judge, &entry) == TaskVerdict::Accepted;
        let value = entry.metric(&self.stage.by);
        let [low, high] = self.range();
        self.outside += u32::from(value.is_some_and(|value| value < low || value > high));
        let path = candidate_path(&self.task.task.name, &entry.candidate.lineage);
        Rated { entry, path, accepted, value }
    }

    /// The branch that a pull refines; `None` if candidates are the arms.
    fn branch(&self, arm: Arm) -> Option<&RefineArm> {
        match (self.stage.arms, arm) {
            (BudgetArms::Branches, Arm::Candidate(index)) => self.arms.get(index),
            _ => None,
        }
    }

    /// Adds a candidate. One that equals an earlier one takes its place if it was judged better. A new one is an arm of its own,
    /// or it continues its branch if it `leads` the candidates of its pull. What came in and has no value is refined only where
    /// nothing can be sampled.
    fn join(&mut self, child: Rated, entered: bool, arm: Arm, leads: bool) {
        let order = self.stage.order;
        let value = self.scale_value(child.value, child.accepted);
        let known = child.value.is_some();
        let same = |other: &Rated| match self.stage.arms {
            BudgetArms::Candidates => is_copy(&other.entry, &child.entry),
            BudgetArms::Branches => is_equal(&other.entry, &child.entry),
        };
        let copy = self.candidates.iter().position(same);
        let index = copy.unwrap_or(self.candidates.len());
        match self.candidates.get_mut(index) {
            None => self.candidates.push(child),
            Some(other) if child.compare(other, order).is_lt() => *other = child,
            Some(_) => {}
        }
        match (self.stage.arms, arm) {
            (BudgetArms::Branches, Arm::Candidate(branch)) => {
                if let Some(state) = self.arms.get_mut(branch) {
                    state.best = state.best.max(value);
                    if leads {
                        state.candidate = index;
                    }
                    if known {
                        self.bandit.revalue(branch, state.best);
                    }
                }
            }
            _ if copy.is_some() => {}
            (arms, _) => {
                let open = !entered || known || self.stage.sample.is_empty();
                let unknown = arms == BudgetArms::Branches && !known;
                self.bandit
                    .add(if unknown { UNKNOWN_VALUE } else { value }, open && !self.stage.round.is_empty());
                self.arms.push(RefineArm { candidate: index, best: value });
            }
        }
    }

    /// The best so far; ties go to the earlier.
    fn best(&self) -> Option<&Rated> {
        self.candidates_by_rank().into_iter().next()
    }

    fn candidates_by_rank(&self) -> Vec<&Rated> {
        let mut ranked: Vec<&Rated> = self.candidates.iter().collect();
        ranked.sort_by(|a, b| a.compare(b, self.stage.order));
        ranked
    }

    fn range(&self) -> [f64; 2] {
        self.stage.range.unwrap_or([0.0, 1.0])
    }

    /// A value on the way from the worst, 0, to the best, 1; what has none is worth nothing.
    fn scale_value(&self, value: Option<f64>, accepted: bool) -> f64 {
        if accepted {
            return 1.0;
        }
        let [low, high] = self.range();
        let up = value.map(|value| ((value - low) / (high - low)).clamp(0.0, 1.0));
        match self.stage.order {
            Order::Highest => up.unwrap_or(0.0),
            Order::Lowest => up.map_or(0.0, |up| 1.0 - up),
        }
    }

    fn finish(self, end: BudgetEnd) -> Result<StageResult, Failure> {
        let best = self.best().map(|best| (best.path.clone(), best.value));
        let (best, best_value) = best.map_or((None, None), |(path, value)| (Some(path), value));
        self.context.recorder.event(Event::BudgetSpent {
            task: self.task.task.name.clone(),
            stage: self.stage.label.clone(),
            end,
            pulls: self.pulls,
            spent: self.account.spent,
            best: best.clone(),
        })?;
        let kept: Vec<Entry> = self
            .candidates_by_rank()
            .into_iter()
            .take(self.stage.keep as usize)
            .enumerate()
            .map(|(place, rated)| Entry { place, ..rated.entry.clone() })
            .collect();
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
            outside: self.outside,
        };
        let mut step = StageResult { inner: self.reports, budget: Some(report), ..StageResult::default() };
        step.outcomes.insert(end.name().to_owned(), 1);
        step.outcomes.insert("pulls".to_owned(), self.pulls as usize);
        if kept.is_empty() {
            step.failed = self.failed;
        }
        step.beam = kept;
        Ok(step)
    }

    /// The path of a pull in the record.
    fn path_of(&self, pull: u32) -> String {
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
        let path = self.path_of(first);
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
