//! Comparison of two runs or evaluations on the same tasks: which side solves more, at what cost, and with
//! what confidence.
//!
//! [`Observed`] is one side: the tasks of one pipeline's runs, with costs and samples from their records.
//! [`compare`] pairs them by suite, task and seed and returns a [`Comparison`]. Tasks of one side alone are
//! listed. A task that is undecided, not comparable, failed or not run is neither right nor wrong: its pair
//! is in no test, is counted and listed, and [`Bounds`] give the result if all of them were counted one way
//! or the other.
//!
//! Runs of one task under several seeds are not independent trials, so tests flip the signs of whole tasks
//! and intervals draw whole tasks ([`Cluster`]). A is the first side, B the second; every difference is B
//! less A.

mod at_k;
mod figures;
mod observe;
mod pairs;
mod ranking;
mod tables;
#[cfg(test)]
mod tests;

pub use at_k::{AtK, AtKSide, Estimator, SampleComparison};
pub use figures::{Bounds, Efficiency, Extreme, MetricComparison, OpenPair, Settled, Spent, Success, Wall};
pub use observe::{
    Observation, Observed, RunParts, Sample, SampleAnswer, SampleGroup, Sessions, TaskCost, TaskKey,
    unfinished_where_not_ended,
};
pub use pairs::{PairBy, PairKey, Question, UnpairedRun};
pub(crate) use ranking::{PairTest, side_of, test_pairs};
pub use ranking::{RankedMethod, Ranking};
pub(crate) use tables::{count, p_equation};

use crate::statistics::{Interval, holm};
use pairs::{Clusters, Pair};
use serde::{Deserialize, Serialize};

/// The unit that the bootstrap draws and the tests flip as a whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cluster {
    /// The runs of one task.
    #[default]
    Task,
    /// All tasks of a suite. With one domain for all of them, their outcomes depend on each other.
    Suite,
}

impl Cluster {
    /// The word used in text.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Suite => "suite",
        }
    }
}

/// Options of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Settings {
    /// The criterion of success.
    pub question: Question,
    /// The unit of the bootstrap and the tests.
    pub cluster: Cluster,
    /// The rule that pairs runs.
    pub pair_by: PairBy,
    /// Confidence of intervals, strictly between 0 and 1.
    pub confidence: f64,
    /// Samples that the bootstrap draws.
    pub resamples: usize,
    /// The bootstrap's seed.
    pub seed: u64,
    /// The stage whose samples Pass@k and Best@k are about; the last one that drew several where it is absent.
    pub samples_of: Option<String>,
    /// The verify stage that decides whether a sample is right; absent for the stage that answers the
    /// question.
    pub judge: Option<String>,
    /// The metric of Best@k, `LABEL.NAME`; the walk score where it is absent.
    pub metric: Option<String>,
    /// The values of k; 1, 2, 4, ... and the number of samples where it is empty.
    pub k: Vec<usize>,
}

impl Settings {
    /// The name of the unit that is drawn and flipped as a whole.
    pub const fn unit(&self) -> &'static str {
        match (self.question, self.cluster) {
            (Question::Classes, Cluster::Task) => "action",
            (_, cluster) => cluster.name(),
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            question: Question::Solved,
            cluster: Cluster::Task,
            pair_by: PairBy::Seed,
            confidence: 0.95,
            resamples: 2000,
            seed: 1,
            samples_of: None,
            judge: None,
            metric: None,
            k: Vec::new(),
        }
    }
}

/// A figure with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// Its interval by the bootstrap; absent for fewer than two clusters, where the figure is not defined in some draw, and where it is the same
    /// in every draw: clusters that do not differ do not show how much others would.
    pub interval: Option<Interval>,
}

/// One side, for a reader.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Side {
    /// The path on the command line.
    pub name: String,
    pub pipeline: String,
    /// The models that it asks.
    pub models: Vec<String>,
    /// True if a model is simulated: its figures do not describe a language model.
    pub simulated: bool,
    pub runs: usize,
    /// Their tasks, paired or not.
    pub tasks: usize,
    /// The stage that answers the question; absent where the task's verdict does.
    pub judged_by: Option<String>,
    /// Wall time of the runs.
    pub wall: Wall,
}

/// The hypotheses that were corrected together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Correction {
    /// `Holm`.
    pub method: &'static str,
    /// The hypotheses, in order.
    pub family: Vec<String>,
}

/// The whole comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Version of this document, 1.
    pub schema: u32,
    /// The first side.
    pub a: Side,
    /// The second side.
    pub b: Side,
    /// The options of the comparison.
    pub settings: Settings,
    /// Pairs: runs of one task on both sides.
    pub pairs: usize,
    /// Clusters among them.
    pub clusters: usize,
    /// Runs that only A has.
    pub only_a: Vec<UnpairedRun>,
    /// Runs that only B has.
    pub only_b: Vec<UnpairedRun>,
    /// Pairs of one name whose files, or whose in-context examples, differ: whether that matters the reader has to judge.
    pub other_content: Vec<PairKey>,
    pub success: Success,
    /// Walk score, plans, calls, tokens, time.
    pub metrics: Vec<MetricComparison>,
    /// Success per call, token and second.
    pub efficiency: Vec<Efficiency>,
    /// Pass@k and Best@k.
    pub samples: Vec<SampleComparison>,
    /// The correction of p-values for several tests.
    pub correction: Correction,
    /// Remarks for a reader.
    pub notes: Vec<String>,
}

/// The reason why there is nothing to compare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoComparison {
    /// A side has a run of a task twice: which, and on which side.
    Twice(String),
    /// No run of a task is on both sides: what each has alone.
    NothingPaired {
        /// A's.
        a: Vec<PairKey>,
        /// B's.
        b: Vec<PairKey>,
        /// True if pairing by task alone would pair something.
        by_task: bool,
    },
    /// A side has no stage that answers the question: the side's name.
    NotAsked(String),
}

/// Compares two sides.
///
/// # Errors
/// [`NoComparison`].
pub fn compare(a: &Observed, b: &Observed, settings: &Settings) -> Result<Comparison, NoComparison> {
    let paired = pairs::pair(a, b, settings)?;
    for (side, pick) in [(a, true), (b, false)] {
        let asked =
            |pair: &Pair<'_>| settings.question.is_asked(if pick { &pair.a.result } else { &pair.b.result });
        if !paired.pairs.iter().any(asked) {
            return Err(NoComparison::NotAsked(side.name.clone()));
        }
    }
    let pairs = &paired.pairs;
    let clusters = Clusters::of(pairs, settings);
    let mut success = figures::success(pairs, &clusters, settings);
    let mut metrics = figures::metrics(pairs, &clusters, settings);
    let correction = correct(&mut success, &mut metrics);
    Ok(Comparison {
        schema: 1,
        a: side(a, settings),
        b: side(b, settings),
        settings: settings.clone(),
        pairs: pairs.len(),
        clusters: clusters.len(),
        other_content: paired.other_content(),
        success,
        metrics,
        efficiency: figures::efficiency(pairs, &clusters, settings),
        samples: at_k::at_k(a, b, pairs, settings),
        correction,
        notes: notes(a, b, &clusters, settings),
        only_a: paired.only_a,
        only_b: paired.only_b,
    })
}

fn side(side: &Observed, settings: &Settings) -> Side {
    Side {
        name: side.name.clone(),
        pipeline: side.pipeline.clone(),
        models: side.judges.models.clone(),
        simulated: side.judges.simulated,
        runs: side.runs,
        tasks: side.observations.len(),
        judged_by: settings.question.stage(&side.judges).cloned(),
        wall: Wall::of(side),
    }
}

/// One family: success, and the sign test of every metric in which some cluster differs.
fn correct(success: &mut Success, metrics: &mut [MetricComparison]) -> Correction {
    let mut family = Vec::new();
    let mut values = Vec::new();
    if let Some(p) = success.p {
        family.push("success".to_owned());
        values.push(p);
    }
    for metric in metrics.iter() {
        if let Some(p) = metric.p {
            family.push(metric.name.to_owned());
            values.push(p);
        }
    }
    let mut adjusted = holm(&values).into_iter();
    if success.p.is_some() {
        success.p_adjusted = adjusted.next();
    }
    for metric in metrics.iter_mut().filter(|metric| metric.p.is_some()) {
        metric.p_adjusted = adjusted.next();
    }
    Correction { method: "Holm", family }
}

/// Below this the percentile bootstrap is known to be too narrow.
const FEW_CLUSTERS: usize = 10;

fn notes(a: &Observed, b: &Observed, clusters: &Clusters, settings: &Settings) -> Vec<String> {
    let mut notes = Vec::new();
    for (letter, side) in [("A", a), ("B", b)] {
        let mut note = |text: String| notes.push(format!("{letter}: {text}"));
        if side.judges.simulated {
            note("a model is simulated; its figures do not describe a language model".to_owned());
        }
        if side.sessions.replayed > 0 {
            note(format!(
                "{} of {} sessions replayed a record: waiting for models is that of the recording, \
                 wall time that of the replay",
                side.sessions.replayed, side.sessions.sessions
            ));
        }
        let by_task = settings.cluster == Cluster::Task && settings.question != Question::Classes;
        if by_task && side.judges.one_domain_a_suite() {
            note(
                "the pipeline writes one domain for all tasks of a suite, so their outcomes depend on each other: see --cluster suite"
                    .to_owned(),
            );
        }
        let unmetered: u64 =
            side.observations.iter().filter_map(|seen| seen.cost.as_ref()).map(|cost| cost.unmetered).sum();
        if unmetered > 0 {
            note(format!(
                "{unmetered} answers came without a full count of tokens; the tokens of their tasks are unknown"
            ));
        }
        side.notes.iter().cloned().for_each(&mut note);
    }
    if clusters.len() < FEW_CLUSTERS {
        notes.push(format!(
            "{} {}s: intervals by the bootstrap are too narrow for fewer than {FEW_CLUSTERS}",
            clusters.len(),
            settings.unit()
        ));
    }
    notes
}
