//! Pass@k and Best@k: estimates for the best of k samples, over the samples of a stage and over the runs of a
//! task.

use super::figures::mean;
use super::observe::{Observation, Observed, Sample, SampleAnswer, SampleGroup};
use super::pairs::{Clusters, Pair};
use super::{Cluster, Estimate, Settings};
use crate::results::CountsAs;
use crate::statistics::{best_at_k, pass_at_k};
use planforge_planning::walk::harmonic_mean;
use serde::Serialize;
use std::collections::BTreeMap;

/// The estimated quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Estimator {
    /// The probability that one of k samples is right.
    #[serde(rename = "pass@k")]
    Pass,
    /// The expected best value of k samples.
    #[serde(rename = "best@k")]
    Best,
}

/// One side at one k: the mean over pairs, or over tasks where the samples are runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AtKSide {
    /// With open samples counted as wrong.
    pub value: f64,
    /// With open samples counted as right. The same for Best@k, which leaves out tasks with open samples.
    pub if_open: f64,
    /// Units with at least k samples, which are in the mean.
    pub units: usize,
}

/// Both sides at one k.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AtK {
    /// Number of samples, k.
    pub k: usize,
    /// A; absent where it has no k samples.
    pub a: Option<AtKSide>,
    pub b: Option<AtKSide>,
    /// B's less A's where both have k samples, open samples counted as wrong.
    pub difference: Option<Estimate>,
}

/// One estimator over one kind of samples.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SampleComparison {
    /// The estimated quantity.
    pub estimator: Estimator,
    /// The kind of samples on A's side: `samples of STAGE`, or `runs` under several seeds.
    pub over_a: String,
    /// The same of B.
    pub over_b: String,
    /// The stage or metric that judges samples on A's side.
    pub judged_by_a: String,
    /// The same of B.
    pub judged_by_b: String,
    /// The reason why A has no figures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub absent_a: Option<String>,
    /// The reason why B has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub absent_b: Option<String>,
    /// Samples of A that equal another of the same request word for word: they are not new draws.
    pub copies_a: usize,
    /// The same of B.
    pub copies_b: usize,
    /// The figures, by ascending k.
    pub at: Vec<AtK>,
}

/// Samples of one question.
#[derive(Clone)]
enum Drawn {
    /// Numbers of all, right and open samples.
    Marks { n: usize, right: usize, open: usize },
    /// Their values.
    Values(Vec<f64>),
}

impl Drawn {
    fn n(&self) -> usize {
        match self {
            Self::Marks { n, .. } => *n,
            Self::Values(values) => values.len(),
        }
    }

    fn at(&self, k: usize) -> Option<(f64, f64)> {
        match self {
            Self::Marks { n, right, open } => {
                Some((pass_at_k(*n, *right, k)?, pass_at_k(*n, right + open, k)?))
            }
            Self::Values(values) => best_at_k(values, k).map(|value| (value, value)),
        }
    }
}

/// One side: for each unit the groups that it has.
struct Units {
    over: String,
    judged_by: String,
    units: Vec<Vec<Drawn>>,
    copies: usize,
    absent: Option<String>,
}

pub(super) fn at_k(
    a: &Observed,
    b: &Observed,
    pairs: &[Pair<'_>],
    settings: &Settings,
) -> Vec<SampleComparison> {
    let mut all = Vec::new();
    let by_pair = Clusters::of(pairs, settings);
    for estimator in [Estimator::Pass, Estimator::Best] {
        let in_a: Vec<&Observation> = pairs.iter().map(|pair| pair.a).collect();
        let in_b: Vec<&Observation> = pairs.iter().map(|pair| pair.b).collect();
        let sides =
            [units_of_stage(a, &in_a, estimator, settings), units_of_stage(b, &in_b, estimator, settings)];
        all.push(comparison(estimator, sides, &by_pair, settings));
    }
    let tasks = Clusters::by(
        pairs.iter().map(|pair| (pair.key.suite.as_str(), pair.key.task.as_str())),
        Cluster::Task,
    );
    if tasks.iter().any(|runs| runs.len() > 1) {
        let name = |runs: &[usize]| runs.first().and_then(|at| pairs.get(*at)).map(|pair| &pair.key);
        let names = tasks.iter().filter_map(name).map(|key| (key.suite.as_str(), key.task.as_str()));
        let by_task = Clusters::by(names, settings.cluster);
        for estimator in [Estimator::Pass, Estimator::Best] {
            let side = |pick_a: bool| of_runs(pairs, &tasks, pick_a, estimator, settings);
            all.push(comparison(estimator, [side(true), side(false)], &by_task, settings));
        }
    }
    all
}

/// The samples of one stage, of each of these runs.
fn units_of_stage(
    side: &Observed,
    seen: &[&Observation],
    estimator: Estimator,
    settings: &Settings,
) -> Units {
    let metric =
        settings.metric.clone().or_else(|| side.judges.walk.as_ref().map(|label| format!("{label}.score")));
    let judge = settings.judge.clone().or_else(|| settings.question.stage(&side.judges).cloned());
    let judged_by = match estimator {
        Estimator::Pass => judge.clone(),
        Estimator::Best => metric.clone(),
    };
    let mut units = Units {
        over: "samples".to_owned(),
        judged_by: judged_by.clone().unwrap_or_default(),
        units: vec![Vec::new(); seen.len()],
        copies: 0,
        absent: None,
    };
    let Some(by) = judged_by else {
        units.absent = Some(match estimator {
            Estimator::Pass => {
                "no verify stage answers the question for a sample; name one with --judge".to_owned()
            }
            Estimator::Best => "no stage measures walks; name a metric with --metric LABEL.NAME".to_owned(),
        });
        return units;
    };
    let Some(stage) = settings.samples_of.clone().or_else(|| widest(seen)) else {
        units.absent = Some("no stage outside refinement drew more than one sample of anything".to_owned());
        return units;
    };
    units.over = format!("samples of `{stage}`");
    let own = |seen: &Observation| -> Vec<SampleGroup> {
        seen.samples.iter().filter(|group| group.stage == stage).cloned().collect()
    };
    let groups: Vec<Vec<SampleGroup>> = seen.iter().map(|seen| own(seen)).collect();
    let samples = || groups.iter().flatten().flat_map(|group| &group.samples);
    if samples().next().is_none() {
        units.absent = Some(format!("the record has no samples of `{stage}`"));
        return units;
    }
    units.copies = samples().filter(|sample| sample.copy).count();
    let floor = settings.metric.is_none();
    let known = |sample: &Sample| match estimator {
        Estimator::Pass => sample.answer(&by).is_some(),
        Estimator::Best => value(sample, &by, floor).is_some(),
    };
    let (all, judged) = (samples().count(), samples().filter(|sample| known(sample)).count());
    if judged < all {
        units.absent = Some(match estimator {
            Estimator::Pass => format!("`{by}` judged {judged} of {all} samples of `{stage}`"),
            Estimator::Best => format!("{judged} of {all} samples of `{stage}` have a value of `{by}`"),
        });
        return units;
    }
    let drawn = |group: &SampleGroup| match estimator {
        Estimator::Pass => {
            let count = |wanted| group.samples.iter().filter(|s| s.answer(&by) == Some(wanted)).count();
            Drawn::Marks {
                n: group.samples.len(),
                right: count(SampleAnswer::Yes),
                open: count(SampleAnswer::Open),
            }
        }
        Estimator::Best => {
            Drawn::Values(group.samples.iter().filter_map(|sample| value(sample, &by, floor)).collect())
        }
    };
    units.units = groups.iter().map(|groups| groups.iter().map(drawn).collect()).collect();
    units
}

/// A sample's value. A reply without a usable text has walk score 0. Other metrics have no known lowest
/// value.
fn value(sample: &Sample, metric: &str, floor: bool) -> Option<f64> {
    let value = sample.values.get(metric).copied().filter(|value| value.is_finite());
    value.or((floor && sample.unusable).then_some(0.0))
}

/// The last stage that drew more than one sample of something.
fn widest(seen: &[&Observation]) -> Option<String> {
    let several = |seen: &&&Observation| seen.samples.iter().any(|group| group.samples.len() > 1);
    let groups = seen.iter().find(several).map(|seen| &seen.samples)?;
    groups.iter().rev().find(|group| group.samples.len() > 1).map(|group| group.stage.clone())
}

/// The runs of each task under several seeds.
fn of_runs(
    pairs: &[Pair<'_>],
    tasks: &Clusters,
    pick_a: bool,
    estimator: Estimator,
    settings: &Settings,
) -> Units {
    let run = |at: &usize| pairs.get(*at).map(|pair| if pick_a { pair.a } else { pair.b });
    let walk = |seen: &Observation| {
        Some(harmonic_mean(seen.result.reference_to_candidate?, seen.result.candidate_to_reference?))
    };
    let drawn = |runs: &[usize]| {
        let runs: Vec<&Observation> = runs.iter().filter_map(run).collect();
        match estimator {
            Estimator::Pass => {
                let count = |wanted: fn(CountsAs) -> bool| {
                    runs.iter().filter(|seen| wanted(settings.question.answer(&seen.result))).count()
                };
                let right = count(|answer| answer == CountsAs::For);
                let open = count(|answer| matches!(answer, CountsAs::Open(_)));
                vec![Drawn::Marks { n: runs.len(), right, open }]
            }
            Estimator::Best => {
                let values: Vec<f64> = runs.iter().filter_map(|seen| walk(seen)).collect();
                if values.len() == runs.len() { vec![Drawn::Values(values)] } else { Vec::new() }
            }
        }
    };
    let units: Vec<Vec<Drawn>> = tasks.iter().map(drawn).collect();
    let absent =
        units.iter().all(Vec::is_empty).then(|| "no task has a walk score in all of its runs".to_owned());
    let judged_by = match estimator {
        Estimator::Pass => settings.question.name().to_owned(),
        Estimator::Best => "walk score".to_owned(),
    };
    Units { over: "runs".to_owned(), judged_by, units, copies: 0, absent }
}

fn comparison(
    estimator: Estimator,
    [a, b]: [Units; 2],
    clusters: &Clusters,
    settings: &Settings,
) -> SampleComparison {
    let at = ks(&[&a, &b], settings).into_iter().filter_map(|k| {
        let (in_a, in_b) = (values(&a, k), values(&b, k));
        let both = |at: usize| Some((in_a.get(&at)?.0, in_b.get(&at)?.0));
        let own = clusters.only(|at| both(at).is_some());
        let difference = own.estimate(settings, |members| {
            mean(members.iter().filter_map(|at| both(*at)).map(|(a, b)| b - a))
        });
        let at = AtK { k, a: one_side(&in_a), b: one_side(&in_b), difference };
        (at.a.is_some() || at.b.is_some()).then_some(at)
    });
    SampleComparison {
        estimator,
        at: at.collect(),
        over_a: a.over,
        over_b: b.over,
        judged_by_a: a.judged_by,
        judged_by_b: b.judged_by,
        absent_a: a.absent,
        absent_b: b.absent,
        copies_a: a.copies,
        copies_b: b.copies,
    }
}

/// Each unit's mean over its groups, by the unit's place; those with a group of fewer than k samples are left out.
fn values(units: &Units, k: usize) -> BTreeMap<usize, (f64, f64)> {
    let one = |groups: &Vec<Drawn>| {
        let values: Option<Vec<(f64, f64)>> = groups.iter().map(|group| group.at(k)).collect();
        let values = values?;
        Some((mean(values.iter().map(|v| v.0))?, mean(values.iter().map(|v| v.1))?))
    };
    units.units.iter().enumerate().filter_map(|(at, groups)| Some((at, one(groups)?))).collect()
}

fn one_side(values: &BTreeMap<usize, (f64, f64)>) -> Option<AtKSide> {
    Some(AtKSide {
        value: mean(values.values().map(|v| v.0))?,
        if_open: mean(values.values().map(|v| v.1))?,
        units: values.len(),
    })
}

/// The values of k: the requested ones, else the powers of 2 and the largest number of samples of a unit.
fn ks(sides: &[&Units], settings: &Settings) -> Vec<usize> {
    let mut ks = settings.k.clone();
    if ks.is_empty() {
        let most = |units: &&Units| units.units.iter().flatten().map(Drawn::n).max().unwrap_or(0);
        let all: Vec<usize> = sides.iter().map(most).collect();
        let highest = all.iter().copied().max().unwrap_or(0);
        ks = std::iter::successors(Some(1_usize), |k| k.checked_mul(2))
            .take_while(|k| *k <= highest)
            .collect();
        ks.extend(all.into_iter().filter(|n| *n > 0));
    }
    ks.sort_unstable();
    ks.dedup();
    ks
}
