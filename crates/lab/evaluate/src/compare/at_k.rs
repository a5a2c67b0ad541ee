//! Pass@k and Best@k: estimates for the best of k samples, over the samples of a stage and over the runs of a
//! task.

use super::figures::mean;
use super::observe::{Observation, Observed};
use super::pairs::{Clusters, Pair};
use super::{Cluster, Estimate, Settings};
use crate::history::{MadeCandidate, TaskHistory};
use crate::results::{CountsAs, Judges};
use crate::statistics::{best_at_k, pass_at_k};
use planforge_contract::{Decision, FailureClass, PlanOutcome};
use planforge_planning::walk::harmonic_mean;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

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

/// The answer of one stage for one sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SampleAnswer {
    /// It is right.
    Yes,
    /// It is wrong.
    No,
    /// The stage judged the sample without a decision.
    Open,
}

/// One sample.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sample {
    /// Answers of stages, by label.
    pub answers: BTreeMap<String, SampleAnswer>,
    /// Its metrics as `LABEL.NAME`.
    pub values: BTreeMap<String, f64>,
    /// Wrong where the judge itself has no word on it: another stage rejected it, its task was proven to have no plan or could not be read, or
    /// the reply held nothing usable. The last is an answer, not a breakage: the same reply would come again.
    pub wrong: bool,
    /// The reply held nothing usable.
    pub unusable: bool,
    /// Something broke in making it.
    pub broke: bool,
    /// It is word for word another sample of the group, as a server that ignores seeds gives them.
    pub copy: bool,
}

impl Sample {
    /// The answer of a judge; absent if the judge never saw the sample and nothing else settles it.
    pub fn answer(&self, judge: &str) -> Option<SampleAnswer> {
        match self.answers.get(judge) {
            Some(SampleAnswer::Yes) => Some(SampleAnswer::Yes),
            Some(SampleAnswer::No) => Some(SampleAnswer::No),
            _ if self.wrong => Some(SampleAnswer::No),
            _ if self.broke => Some(SampleAnswer::Open),
            said => said.copied(),
        }
    }
}

/// Samples of one question: the children that one stage made of one candidate. Where each candidate has one child, those of the nearest
/// ancestor that has several.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SampleGroup {
    /// The label of the stage.
    pub stage: String,
    pub samples: Vec<Sample>,
}

/// The groups of every stage outside refinement, in the order in which the stages came.
pub(super) fn groups(task: &TaskHistory, judges: &Judges, rejecting: &[String]) -> Vec<SampleGroup> {
    let mut stages: Vec<&str> = Vec::new();
    for made in task.candidates.iter().filter(|made| outside_rounds(made)) {
        if !stages.contains(&made.stage.as_str()) {
            stages.push(&made.stage);
        }
    }
    let mut writers: BTreeSet<&str> = stages.iter().copied().collect();
    writers.extend(judges.writers.iter().map(String::as_str));
    let of = |stage: &&str| groups_of_stage(task, stage, &writers, rejecting);
    stages.iter().flat_map(of).collect()
}

fn outside_rounds(made: &MadeCandidate) -> bool {
    !made.candidate.lineage.is_empty() && made.candidate.lineage.iter().all(|step| !step.stage.contains('#'))
}

fn numbers(made: &MadeCandidate) -> Vec<u32> {
    made.candidate.lineage.iter().map(|step| step.sample).collect()
}

fn groups_of_stage(
    task: &TaskHistory,
    stage: &str,
    writers: &BTreeSet<&str>,
    rejecting: &[String],
) -> Vec<SampleGroup> {
    let own: Vec<(Vec<u32>, &MadeCandidate)> = task
        .candidates
        .iter()
        .filter(|made| made.stage == stage && outside_rounds(made))
        .map(|made| (numbers(made), made))
        .collect();
    let Some(depth) = own.iter().map(|(numbers, _)| numbers.len()).max() else { return Vec::new() };
    // Unusable samples, of this stage and of those before it.
    let lost: Vec<(Vec<u32>, bool)> = task
        .failed
        .iter()
        .filter_map(|(path, failure)| {
            let (label, place) = path.strip_prefix(&task.task)?.strip_prefix('/')?.split_once('/')?;
            let known = task.candidates.iter().any(|made| made.path == *path);
            let place: Option<Vec<u32>> = place.split('.').map(|number| number.parse().ok()).collect();
            let place = place.filter(|place| !known && writers.contains(label) && place.len() <= depth)?;
            Some((place, failure.class == FailureClass::Reply))
        })
        .collect();
    let shared = branching(depth, &own, &lost);
    let mut groups: BTreeMap<&[u32], SampleGroup> = BTreeMap::new();
    let mut replies: BTreeSet<(&[u32], &str)> = BTreeSet::new();
    for (numbers, made) in &own {
        let key = numbers.get(..shared).unwrap_or_default();
        let mut sample = sample(task, numbers, made, rejecting);
        let reply = made.patch.raw_reply.as_str();
        sample.copy = !reply.is_empty() && !replies.insert((key, reply));
        groups.entry(key).or_default().samples.push(sample);
    }
    for (place, unusable) in lost.iter().filter(|(place, _)| place.len() > shared) {
        let sample = Sample { wrong: *unusable, unusable: *unusable, broke: !unusable, ..Sample::default() };
        groups.entry(place.get(..shared).unwrap_or_default()).or_default().samples.push(sample);
    }
    groups.into_values().map(|group| SampleGroup { stage: stage.to_owned(), ..group }).collect()
}

/// Number of steps of descent the samples of one group share: as many as leave some group with more than one
/// sample.
fn branching(depth: usize, own: &[(Vec<u32>, &MadeCandidate)], lost: &[(Vec<u32>, bool)]) -> usize {
    let several = |shared: usize| {
        let mut seen: BTreeSet<&[u32]> = BTreeSet::new();
        let places = own.iter().map(|(numbers, _)| numbers).chain(lost.iter().map(|(place, _)| place));
        let mut places = places.filter(|place| place.len() > shared);
        places.any(|place| !seen.insert(place.get(..shared).unwrap_or_default()))
    };
    (0..depth).rev().find(|shared| several(*shared)).unwrap_or(depth.saturating_sub(1))
}

fn sample(task: &TaskHistory, numbers: &[u32], made: &MadeCandidate, rejecting: &[String]) -> Sample {
    let mut sample = Sample::default();
    for (label, assessment) in &made.assessments {
        let answer = match assessment.decision {
            Decision::Accepted => SampleAnswer::Yes,
            Decision::Rejected => SampleAnswer::No,
            Decision::Undecided { .. } | Decision::NotComparable { .. } => SampleAnswer::Open,
        };
        sample.wrong |= answer == SampleAnswer::No && rejecting.contains(label);
        sample.answers.insert(label.clone(), answer);
        let values = assessment.metrics.iter().map(|(name, value)| (format!("{label}.{name}"), *value));
        sample.values.extend(values);
    }
    let hopeless = |plan: &PlanOutcome| {
        matches!(plan, PlanOutcome::ProvenUnsolvable { .. } | PlanOutcome::Unreadable { .. })
    };
    sample.wrong |= made.plans.values().any(hopeless);
    // A call on the candidate that broke has the candidate's place behind the stage's label.
    let place: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    let place = place.join(".");
    for (path, _) in &task.failed {
        let of_task = path.strip_prefix(&task.task).and_then(|rest| rest.strip_prefix('/'));
        if let Some((label, _)) = of_task.and_then(|rest| rest.split_once('/')).filter(|(_, at)| *at == place)
            && label != made.stage
        {
            sample.answers.entry(label.to_owned()).or_insert(SampleAnswer::Open);
        }
    }
    sample
}
