//! The run of a budget stage: a policy divides one budget between sampling new candidates and refining
//! existing ones.
//!
//! A pull gets its number when it is chosen; the number is part of every path, as a round is (`update#7`). A
//! choice depends only on pulls that were chosen earlier and have ended. So neither the number of jobs nor
//! the order of replies changes anything. Wall time, if it is limited, comes from the record.

use super::policy::{Account, Arm, Bandit, Kind, UNKNOWN_VALUE};
use super::{BudgetArms, BudgetStage};
use crate::beam::{Entry, call_path, label_in_round};
use crate::report::{BudgetReport, FailedSample, StageReport, TaskUsage};
use crate::services::{Keep, lock};
use crate::stages::Stage;
use crate::stages::interface::{StageContext, StageResult, has_judge, verdict_of};
use crate::stages::rounds::{
    Order, Rated, Series, SeriesEnd, add_all, forget, report, run_series, writer_of,
};
use planforge_contract::{Failure, FailureClass, Price};
use planforge_diagnostics::SourceId;
use planforge_llm::{Mode, derive_u64};
use planforge_pddl::ast::{Domain, Parsed, Problem, TypedName};
use planforge_pddl::random::Random;
use planforge_pddl::{parse_domain, parse_problem, print_domain, print_typed_list};
use planforge_planning::CountingLimits;
use planforge_planning::equivalence::are_equivalent;
use planforge_record::{BudgetCost, BudgetEnd, Event, TaskVerdict};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// After so many pulls in a row that spent nothing of what is limited, the search ends: it would go on for ever.
const MOST_FREE_PULLS: u32 = 16;
/// The arm of what came in, in the record.
const ENTERED: &str = "entered";
/// The arm of new samples, in the record.
const NEW: &str = "new";

/// Runs a budget stage.
pub(super) fn run(
    context: &StageContext<'_>,
    stage: &BudgetStage,
    beam: Vec<Entry>,
) -> Result<StageResult, Failure> {
    let inner = stage.sample.iter().chain(&stage.round).chain(&stage.judge).map(report).collect();
    let beam = beam.into_iter().map(|entry| forget(&stage.forget, entry)).collect();
    let search = Search {
        context,
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
fn prices(context: &StageContext<'_>, stage: &BudgetStage) -> BTreeMap<String, Price> {
    let inside = stage.sample.iter().chain(&stage.round).chain(&stage.judge);
    let models = inside.flat_map(Stage::models);
    let price = |name: &str| context.run.prices.get(name).copied().unwrap_or_default();
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
    context: &'a StageContext<'a>,
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
        if self.context.run.stopping() {
            return Ok(Some(Stop::Interrupted));
        }
        let pulls = self.decide();
        if pulls.is_empty() {
            let end = if self.bandit.has_open_arm() { BudgetEnd::Spent } else { BudgetEnd::NothingLeft };
            return Ok(Some(Stop::Ended(end)));
        }
        let timer = self.timer();
        let this = &*self;
        let ended = this.context.run.pool.drive(&pulls, |pull| this.pull(pull));
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
            let mut random = Random::new(derive_u64(self.context.run.seed, "budget", &path));
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
        let metered = self.context.with_own_usage();
        let writer = self.writer();
        let content = |stage: &Stage, beam: &[Entry]| writer == Some(stage.label()) && self.is_content(beam);
        let series = run_series(&metered, pull.number, stages, beam, content)?;
        let usage = std::mem::take(&mut *lock(&metered.task.usage));
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
        let accepts = |entry: &Entry| {
            let stages = || before.iter().copied();
            has_judge(stages(), entry) && verdict_of(stages(), entry) == TaskVerdict::Accepted
        };
        before.iter().any(|stage| stage.definition().decides()) && beam.iter().all(accepts)
    }

    /// Records the results of concurrent pulls, in the order of their numbers.
    fn settle(&mut self, ended: Vec<(Pull, Pulled)>, since: Duration) -> Result<Option<Stop>, Failure> {
        for (_, pulled) in &ended {
            let mut usage = lock(&self.context.task.usage);
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
            SeriesEnd::Candidates(children) => {
                children.into_iter().map(|child| self.candidates.rate(child)).collect()
            }
            SeriesEnd::Enough => {
                self.bandit.close(pull.arm);
                Vec::new()
            }
            SeriesEnd::NoCandidates(reasons) => {
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
        self.context.run.recorder.event(Event::BudgetPulled {
            task: self.context.name().to_owned(),
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
        self.context.run.recorder.event(Event::BudgetSpent {
            task: self.context.name().to_owned(),
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
        candidate.path(self.context.name())
    }

    /// The path of a pull in the record.
    fn pull_path(&self, pull: u32) -> String {
        call_path(self.context.name(), &label_in_round(&self.stage.label, Some(pull)), &[])
    }

    /// Time at the beginning of pulls, where it counts.
    fn timer(&self) -> Duration {
        self.context.run.services.llm.clock().now()
    }

    /// Wall time of the pulls that began with that number: an effect, so that a run that goes on and a replay decide by the time
    /// that was recorded.
    fn seconds(&self, since: Duration, first: u32) -> Result<f64, Failure> {
        if !self.account.is_timed() {
            return Ok(0.0);
        }
        let path = self.pull_path(first);
        let name = "budget.seconds";
        let measure = || match self.context.run.services.mode {
            Mode::Replay => {
                let message = format!("the record does not hold the time of the pulls at {path}");
                Err(Failure::new(FailureClass::ReplayMiss, "pipeline.replay-miss", message)
                    .help("replay a run that was made with this pipeline and these tasks"))
            }
            _ => Ok(self.timer().saturating_sub(since).as_secs_f64()),
        };
        self.context.run.recorder.effect(
            name,
            &path,
            &self.stage.budget.seconds,
            |_: &f64| Keep::Timed,
            measure,
        )
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
    let made = matches!(pulled.series.end, SeriesEnd::Candidates(_) | SeriesEnd::Enough);
    !made && pulled.series.failed.iter().any(|failed| failed.failure.class == FailureClass::Budget)
}

/// The judged candidates of one task.
pub(super) struct Candidates<'a> {
    stage: &'a BudgetStage,
    /// In the order in which they came, without copies.
    rated: Vec<Rated>,
    /// In the order of the bandit's numbers.
    arms: Vec<RefineArm>,
    /// Number of values outside of the stage's range.
    pub(super) outside: u32,
}

/// An arm that refines.
struct RefineArm {
    /// Index of the candidate that the next pull refines.
    candidate: usize,
    /// The best value of the arm so far, 0 to 1.
    best: f64,
}

impl<'a> Candidates<'a> {
    pub(super) const fn new(stage: &'a BudgetStage) -> Self {
        Self { stage, rated: Vec::new(), arms: Vec::new(), outside: 0 }
    }

    pub(super) const fn len(&self) -> usize {
        self.rated.len()
    }

    /// True if the judges accepted a candidate.
    pub(super) fn has_accepted(&self) -> bool {
        self.rated.iter().any(|candidate| candidate.accepted)
    }

    /// The best so far; ties go to the earlier.
    pub(super) fn best(&self) -> Option<&Rated> {
        self.rated.iter().min_by(|a, b| a.compare(b, self.stage.order))
    }

    /// The scaled value of the best so far, 0 to 1.
    pub(super) fn best_value(&self) -> f64 {
        self.best().map_or(0.0, |best| self.scaled_value(best))
    }

    /// The best candidates, as many as the stage keeps.
    pub(super) fn kept(&self) -> Vec<Entry> {
        let mut ranked: Vec<&Rated> = self.rated.iter().collect();
        ranked.sort_by(|a, b| a.compare(b, self.stage.order));
        let kept = ranked.into_iter().take(self.stage.keep as usize).enumerate();
        kept.map(|(place, rated)| Entry { place, ..rated.entry.clone() }).collect()
    }

    /// The candidate that the next pull of a refining arm starts from.
    pub(super) fn of_arm(&self, arm: usize) -> Option<&Rated> {
        self.arms.get(arm).and_then(|arm| self.rated.get(arm.candidate))
    }

    /// The best value of the branch that a pull refines; `None` if candidates are the arms.
    pub(super) fn branch_best(&self, arm: Arm) -> Option<f64> {
        match (self.stage.arms, arm) {
            (BudgetArms::Branches, Arm::Candidate(index)) => self.arms.get(index).map(|branch| branch.best),
            _ => None,
        }
    }

    /// Keeps the reasons of a failed refinement for the candidate's next one.
    pub(super) fn keep_reasons(&mut self, arm: Arm, reasons: Vec<String>) {
        if let Arm::Candidate(index) = arm
            && let Some(arm) = self.arms.get(index)
            && let Some(candidate) = self.rated.get_mut(arm.candidate)
        {
            candidate.entry.unusable = reasons;
        }
    }

    /// Compares a judged candidate's results with the stage's range, without adding it.
    pub(super) fn rate(&mut self, mut entry: Entry) -> Rated {
        // Only the judges decide: what else judged it did so in order to write it.
        entry.discount_results(|label| self.stage.judge.iter().any(|judge| judge.label() == label));
        entry.unusable.clear();
        let accepted = has_judge(&self.stage.judge, &entry)
            && verdict_of(&self.stage.judge, &entry) == TaskVerdict::Accepted;
        let value = entry.metric(&self.stage.by);
        let [low, high] = self.range();
        self.outside += u32::from(value.is_some_and(|value| value < low || value > high));
        Rated { entry, accepted, value }
    }

    /// Adds a candidate of a pull. One that equals an earlier one takes its place if it was judged better. A new one is an arm of its
    /// own, or it continues its branch if it `leads` the candidates of its pull. What `entered` and has no value is refined only where
    /// nothing can be sampled.
    pub(super) fn add(&mut self, child: Rated, bandit: &mut Bandit, arm: Arm, entered: bool, leads: bool) {
        let order = self.stage.order;
        let value = self.scaled_value(&child);
        let known = child.value.is_some();
        let same = |other: &Rated| match self.stage.arms {
            BudgetArms::Candidates => is_copy(&other.entry, &child.entry),
            BudgetArms::Branches => is_equal(&other.entry, &child.entry),
        };
        let copy = self.rated.iter().position(same);
        let index = copy.unwrap_or(self.rated.len());
        match self.rated.get_mut(index) {
            None => self.rated.push(child),
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
                        bandit.revalue(branch, state.best);
                    }
                }
            }
            _ if copy.is_some() => {}
            (arms, _) => {
                let open = !entered || known || self.stage.sample.is_empty();
                let unknown = arms == BudgetArms::Branches && !known;
                bandit.add(if unknown { UNKNOWN_VALUE } else { value }, open && !self.stage.round.is_empty());
                self.arms.push(RefineArm { candidate: index, best: value });
            }
        }
    }

    /// A candidate's value on the way from the worst, 0, to the best, 1; what has none is worth nothing.
    pub(super) fn scaled_value(&self, rated: &Rated) -> f64 {
        if rated.accepted {
            return 1.0;
        }
        let [low, high] = self.range();
        let up = rated.value.map(|value| ((value - low) / (high - low)).clamp(0.0, 1.0));
        match self.stage.order {
            Order::Highest => up.unwrap_or(0.0),
            Order::Lowest => up.map_or(0.0, |up| 1.0 - up),
        }
    }

    fn range(&self) -> [f64; 2] {
        self.stage.range.unwrap_or([0.0, 1.0])
    }
}

/// Most pairs of objects that a comparison tries. No object is renamed, so few are needed.
const MAX_CHOICES: u64 = 10_000;
/// Limits on the work of a comparison: counts, so that it ends alike on every machine.
const LIMITS: CountingLimits = CountingLimits { polls: 100_000, bytes: 1 << 28 };

/// True if two candidates have the same texts, and the same plan if there is one.
pub(super) fn is_copy(a: &Entry, b: &Entry) -> bool {
    let (one, other) = (&a.candidate, &b.candidate);
    one.domain == other.domain && one.problem == other.problem && steps(a) == steps(b)
}

/// True if two candidates have the same domain apart from layout, comments and letter case, the same problem by
/// [`same_problem`], and the same plan if there is one.
pub(super) fn is_equal(a: &Entry, b: &Entry) -> bool {
    let (one, other) = (&a.candidate, &b.candidate);
    let pair = |a: &Option<String>, b: &Option<String>, same: fn(&str, &str) -> bool| match (a, b) {
        (Some(a), Some(b)) => a == b || same(a, b),
        (a, b) => a == b,
    };
    pair(&one.domain, &other.domain, same_domain)
        && pair(&one.problem, &other.problem, same_problem)
        && steps(a) == steps(b)
}

fn steps(entry: &Entry) -> Option<Vec<String>> {
    entry.candidate.plan.as_ref().and_then(|plan| plan.best()).map(|plan| plan.steps.clone())
}

fn readable<T>(parsed: Parsed<T>) -> Option<T> {
    (!parsed.has_errors()).then_some(parsed.value)
}

fn same_domain(a: &str, b: &str) -> bool {
    let read = |text| readable(parse_domain(text, SourceId(0))).map(|d| print_domain(&d).to_lowercase());
    read(a).is_some_and(|a| Some(a) == read(b))
}

/// True if two problems have the same objects and types, the same initial state, the same goal and the same metric under the same
/// names: order, repetitions and the problems' names make no difference. Texts with errors equal nothing.
fn same_problem(a: &str, b: &str) -> bool {
    let read = |text| readable(parse_problem(text, SourceId(0)));
    let (Some(a), Some(b)) = (read(a), read(b)) else { return false };
    let objects = |problem: &Problem| -> BTreeSet<String> {
        let one = |object: &TypedName| print_typed_list(std::slice::from_ref(object)).to_lowercase();
        problem.objects.iter().map(one).collect()
    };
    // Constants are never renamed.
    let fixed = Domain { constants: a.objects.clone(), ..Domain::default() };
    objects(&a) == objects(&b)
        && are_equivalent(&fixed, &a, &b, MAX_CHOICES, &mut LIMITS.clone()) == Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROBLEM: &str = "(define (problem one) (:domain d) (:objects a b - room k - key)
      (:init (at k a) (open a b) (open b a)) (:goal (and (at k b) (not (open a b)))))";

    fn entry(domain: Option<&str>, problem: &str) -> Entry {
        let mut entry = Entry::default();
        entry.candidate.domain = domain.map(str::to_owned);
        entry.candidate.problem = Some(problem.to_owned());
        entry
    }

    fn equal(other: &str) -> bool {
        is_equal(&entry(None, PROBLEM), &entry(None, other))
    }

    #[test]
    fn problems_in_other_words_are_equal_and_others_are_not() {
        let other = "; a comment\n(DEFINE (problem two) (:domain e) (:objects k - key b a - room)
          (:init (open b a) (at K a) (open a b) (at k a)) (:goal (and (not (open a b)) (at k b))))";
        assert!(equal(PROBLEM) && equal(other));
        let changes = [
            ("(at k b)", "(at k a)"),
            ("(open b a)", "(open b b)"),
            ("(not (open a b))", "(open a b)"),
            ("a b - room", "a b c - room"),
            ("k - key", "k - room"),
            // The same up to the names of the rooms, which mean something in the environment.
            (
                "(:init (at k a) (open a b) (open b a)) (:goal (and (at k b) (not (open a b))))",
                "(:init (at k b) (open a b) (open b a)) (:goal (and (at k a) (not (open b a))))",
            ),
            ("(:goal", "(:gaol"),
        ];
        for (from, to) in changes {
            assert!(PROBLEM.contains(from) && !equal(&PROBLEM.replace(from, to)), "{to}");
        }
    }

    #[test]
    fn domains_are_equal_apart_from_layout() {
        let domain =
            "(define (domain d) (:predicates (at ?x)) (:action go :parameters (?x) :effect (at ?x)))";
        let spaced = domain.replace(" (", "\n  (").replace("at", "AT");
        let with = |domain| entry(Some(domain), PROBLEM);
        assert!(is_equal(&with(domain), &with(&spaced)) && !is_copy(&with(domain), &with(&spaced)));
        let other = domain.replace("go", "walk");
        assert!(!is_equal(&with(domain), &with(&other)));
        assert!(!is_equal(&with(domain), &entry(None, PROBLEM)));
    }
}
