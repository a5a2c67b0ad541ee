//! Criteria of success, runs of one task on both sides, and rules that pair them.

use super::observe::{Observation, Observed};
use super::{Cluster, Estimate, NoComparison, Settings};
use crate::results::{CountsAs, Judges, OpenReason, TaskResult, counts_as, counts_as_solved};
use crate::statistics::{Interval, bootstrap};
use planforge_pddl::natural;
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::collections::BTreeMap;

/// A pair, or one that found no partner.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct PairKey {
    pub suite: String,
    pub task: String,
    /// A's seed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed_a: Option<u64>,
    /// B's seed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed_b: Option<u64>,
    /// True if the numbers are those of replies for one action, and not seeds.
    #[serde(skip)]
    pub of_replies: bool,
}

impl PairKey {
    /// `blocks.p01, seed 42`, with both seeds where they differ.
    pub fn label(&self) -> String {
        let word = if self.of_replies { "reply" } else { "seed" };
        let seed = match (self.seed_a, self.seed_b) {
            (Some(a), Some(b)) if a != b => format!("seeds {a} and {b}"),
            (Some(seed), _) | (None, Some(seed)) => format!("{word} {seed}"),
            (None, None) => String::new(),
        };
        format!("{}.{}, {seed}", self.suite, self.task)
    }
}

/// A run of a task that is on one side alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnpairedRun {
    #[serde(flatten)]
    pub key: PairKey,
    /// `yes`, `no`, or the reason why it is open.
    pub answer: &'static str,
}

/// Two runs of one task.
pub(super) struct Pair<'a> {
    pub(super) key: PairKey,
    pub(super) a: &'a Observation,
    pub(super) b: &'a Observation,
}

/// Pairs, and runs without a partner.
pub(super) struct Paired<'a> {
    pub(super) pairs: Vec<Pair<'a>>,
    pub(super) only_a: Vec<UnpairedRun>,
    pub(super) only_b: Vec<UnpairedRun>,
}

impl Paired<'_> {
    /// Pairs whose tasks were read from different files.
    pub(super) fn other_content(&self) -> Vec<PairKey> {
        let differs = |pair: &&Pair<'_>| matches!((&pair.a.sha256, &pair.b.sha256), (Some(a), Some(b)) if a != b && !a.is_empty() && !b.is_empty());
        self.pairs.iter().filter(differs).map(|pair| pair.key.clone()).collect()
    }
}

type ByTask<'a> = BTreeMap<(&'a str, &'a str), BTreeMap<u64, &'a Observation>>;

fn by_task<'a>(side: &'a Observed) -> Result<ByTask<'a>, NoComparison> {
    let mut tasks = ByTask::new();
    for seen in &side.observations {
        let runs = tasks.entry((&seen.key.suite, &seen.key.task)).or_default();
        if runs.insert(seen.key.seed, seen).is_some() {
            let key = &seen.key;
            let message = format!("{}: {}.{}, seed {}", side.name, key.suite, key.task, key.seed);
            return Err(NoComparison::Twice(message));
        }
    }
    Ok(tasks)
}

/// Pairs the runs, in the order of suites, tasks and seeds.
pub(super) fn pair<'a>(
    a: &'a Observed,
    b: &'a Observed,
    settings: &Settings,
) -> Result<Paired<'a>, NoComparison> {
    let (in_a, in_b) = (by_task(a)?, by_task(b)?);
    let mut paired = Paired { pairs: Vec::new(), only_a: Vec::new(), only_b: Vec::new() };
    let nothing = BTreeMap::new();
    let mut tasks: Vec<(&str, &str)> = in_a.keys().chain(in_b.keys()).copied().collect();
    tasks.sort_by(|x, y| x.0.cmp(y.0).then_with(|| natural(x.1, y.1)));
    tasks.dedup();
    let mut shared = false;
    for task in tasks {
        let (runs_a, runs_b) = (in_a.get(&task).unwrap_or(&nothing), in_b.get(&task).unwrap_or(&nothing));
        shared |= !runs_a.is_empty() && !runs_b.is_empty();
        paired.task(runs_a, runs_b, settings);
    }
    if paired.pairs.is_empty() {
        let keys = |lonely: Vec<UnpairedRun>| lonely.into_iter().map(|one| one.key).collect();
        let (a, b) = (keys(paired.only_a), keys(paired.only_b));
        return Err(NoComparison::NothingPaired {
            a,
            b,
            by_task: shared && settings.pair_by == PairBy::Seed,
        });
    }
    Ok(paired)
}

impl<'a> Paired<'a> {
    fn task(
        &mut self,
        runs_a: &BTreeMap<u64, &'a Observation>,
        runs_b: &BTreeMap<u64, &'a Observation>,
        settings: &Settings,
    ) {
        let key = |seen: &Observation, seed_a: Option<u64>, seed_b: Option<u64>| PairKey {
            suite: seen.key.suite.clone(),
            task: seen.key.task.clone(),
            seed_a,
            seed_b,
            of_replies: settings.question == Question::Classes,
        };
        let mut met_a: Vec<u64> = Vec::new();
        let mut met_b: Vec<u64> = Vec::new();
        let partners: Vec<(&'a Observation, &'a Observation)> = match settings.pair_by {
            PairBy::Seed => runs_a.iter().filter_map(|(seed, a)| Some((*a, *runs_b.get(seed)?))).collect(),
            PairBy::Task => runs_a.values().copied().zip(runs_b.values().copied()).collect(),
        };
        for (a, b) in partners {
            met_a.push(a.key.seed);
            met_b.push(b.key.seed);
            self.pairs.push(Pair { key: key(a, Some(a.key.seed), Some(b.key.seed)), a, b });
        }
        let answer = |seen: &Observation| word(settings.question.answer(&seen.result));
        for (seed, seen) in runs_a.iter().filter(|(seed, _)| !met_a.contains(seed)) {
            self.only_a.push(UnpairedRun { key: key(seen, Some(*seed), None), answer: answer(seen) });
        }
        for (seed, seen) in runs_b.iter().filter(|(seed, _)| !met_b.contains(seed)) {
            self.only_b.push(UnpairedRun { key: key(seen, None, Some(*seed)), answer: answer(seen) });
        }
    }
}

/// Units that belong together: for each cluster the places of its members.
pub(super) struct Clusters {
    members: Vec<Vec<usize>>,
}

impl Clusters {
    pub(super) fn of(pairs: &[Pair<'_>], settings: &Settings) -> Self {
        Self::by(pairs.iter().map(|pair| (pair.key.suite.as_str(), pair.key.task.as_str())), settings.cluster)
    }

    /// Of units with their suite and task.
    pub(super) fn by<'k>(keys: impl Iterator<Item = (&'k str, &'k str)>, cluster: Cluster) -> Self {
        let mut members: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
        for (place, (suite, task)) in keys.enumerate() {
            let key = match cluster {
                Cluster::Task => (suite, task),
                Cluster::Suite => (suite, ""),
            };
            members.entry(key).or_default().push(place);
        }
        Self { members: members.into_values().collect() }
    }

    /// Those with at least one of these members, and of each these members alone.
    pub(super) fn only(&self, keep: impl Fn(usize) -> bool) -> Self {
        let of = |members: &Vec<usize>| members.iter().copied().filter(|at| keep(*at)).collect::<Vec<_>>();
        Self { members: self.members.iter().map(of).filter(|members| !members.is_empty()).collect() }
    }

    pub(super) fn len(&self) -> usize {
        self.members.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[usize]> {
        self.members.iter().map(Vec::as_slice)
    }

    /// Every member.
    pub(super) fn all(&self) -> Vec<usize> {
        self.members.concat()
    }

    /// A figure of all members, with the percentile bootstrap over clusters: whole clusters are drawn, with all members each. Nothing where the
    /// figure itself is not defined.
    pub(super) fn estimate(
        &self,
        settings: &Settings,
        figure: impl Fn(&[usize]) -> Option<f64>,
    ) -> Option<Estimate> {
        let value = figure(&self.all()).filter(|value| value.is_finite())?;
        Some(Estimate { value, interval: self.interval(settings, figure) })
    }

    fn interval(&self, settings: &Settings, figure: impl Fn(&[usize]) -> Option<f64>) -> Option<Interval> {
        // Draws of a single cluster are all equal, so there is no interval.
        if self.len() < 2 {
            return None;
        }
        let undefined = Cell::new(false);
        let clusters: Vec<usize> = (0..self.len()).collect();
        let drawn = |sample: &[usize]| {
            let members: Vec<usize> =
                sample.iter().filter_map(|at| self.members.get(*at)).flatten().copied().collect();
            let value = figure(&members).filter(|value| value.is_finite());
            undefined.set(undefined.get() || value.is_none());
            value.unwrap_or(0.0)
        };
        let interval = bootstrap(&clusters, settings.confidence, settings.resamples, settings.seed, drawn);
        // A figure that is equal in every draw has an unknown variance, not none.
        interval.filter(|interval| !undefined.get() && interval.low < interval.high)
    }
}

/// The criterion of success.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Question {
    /// The task is solved: by the environment's word on the plan where the pipeline asks it, else by the task's verdict.
    #[default]
    Solved,
    /// The problem is the reference problem.
    Problem,
    /// The problem is valid PDDL.
    Valid,
    /// VAL's Parser accepts what was written.
    Val,
    /// planforge's reader accepts the domain.
    FrontEnd,
    /// The walk score is 1.
    Walk,
    /// The domain is the reference domain.
    Domain,
    /// A reply's action behaves as the reference's. Its observations are replies for actions ([`super::Observed::by_action`]).
    Classes,
}

impl Question {
    /// The meaning of a yes, in a few words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Solved => "solved",
            Self::Problem => "problem is the reference",
            Self::Valid => "problem is valid PDDL",
            Self::Val => "accepted by VAL's Parser",
            Self::FrontEnd => "accepted by planforge's reader",
            Self::Walk => "walk score 1",
            Self::Domain => "domain is the reference",
            Self::Classes => "action is equivalent",
        }
    }

    /// True if some stage answers it for this task.
    pub(super) fn is_asked(self, task: &TaskResult) -> bool {
        match self {
            Self::Solved => true,
            Self::Problem | Self::Classes => task.problem.is_some(),
            Self::Valid => task.valid.is_some(),
            Self::Val => task.domain.val.is_some(),
            Self::FrontEnd => task.domain.front_end.is_some(),
            Self::Walk => task.domain.walk.is_some(),
            Self::Domain => task.domain.same.is_some(),
        }
    }

    /// The answer for a task.
    pub(super) fn answer(self, task: &TaskResult) -> CountsAs {
        match self {
            Self::Solved => counts_as_solved(task),
            Self::Problem | Self::Classes => counts_as(task.problem),
            Self::Valid => counts_as(task.valid),
            Self::Val => counts_as(task.domain.val),
            Self::FrontEnd => counts_as(task.domain.front_end),
            Self::Walk => counts_as(task.domain.walk),
            Self::Domain => counts_as(task.domain.same),
        }
    }

    /// The stage that answers it.
    pub(super) fn stage(self, judges: &Judges) -> Option<&String> {
        match self {
            Self::Solved => judges.solved_by.as_ref(),
            Self::Problem => judges.equivalent.as_ref(),
            Self::Valid => judges.valid.as_ref(),
            Self::Val => judges.val.as_ref(),
            Self::FrontEnd => judges.reads.as_ref(),
            Self::Walk => judges.walk.as_ref(),
            Self::Domain => judges.same_domain.as_ref(),
            Self::Classes => judges.classes.as_ref().map(|stages| &stages.judge),
        }
    }
}

/// An answer as a word.
pub(super) fn word(answer: CountsAs) -> &'static str {
    match answer {
        CountsAs::For => "yes",
        CountsAs::Against => "no",
        CountsAs::Open(why) => why_word(why),
    }
}

/// The reason why nobody knows, as a word.
pub(super) fn why_word(why: OpenReason) -> &'static str {
    OpenReason::ALL.iter().find(|(known, ..)| *known == why).map_or("open", |(.., word)| word)
}

/// The rule that pairs runs of one task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PairBy {
    /// By their seed.
    #[default]
    Seed,
    /// In the order of their seeds, whatever these are: the first with the first. Seeds of different runs have nothing in common, so
    /// which of them meet is arbitrary; that they share a task is not.
    Task,
}
