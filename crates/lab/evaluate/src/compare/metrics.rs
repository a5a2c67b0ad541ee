//! Figures of a task that are not yes or no: walk score, plan, calls, tokens, time.

use super::observe::Observation;
use super::pairs::{Clusters, Pair};
use super::question::Question;
use super::success::mean;
use super::{Estimate, Settings};
use crate::results::CountsAs;
use crate::statistics::sign_test;
use planforge_planning::walk::harmonic_mean;
use serde::Serialize;

/// A figure of both sides over the pairs that have it on both.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MetricComparison {
    /// The name of the metric.
    pub name: &'static str,
    /// True if more is better.
    pub more_is_better: bool,
    /// Pairs that have it on both sides.
    pub pairs: usize,
    /// Clusters among them.
    pub clusters: usize,
    /// Pairs in which A alone lacks it.
    pub missing_a: usize,
    /// Pairs in which B alone lacks it.
    pub missing_b: usize,
    /// Pairs in which both lack it.
    pub missing_both: usize,
    /// A's mean over the pairs.
    pub mean_a: Option<f64>,
    /// B's.
    pub mean_b: Option<f64>,
    /// Mean of B less mean of A.
    pub difference: Option<Estimate>,
    /// Mean of B over mean of A; absent for the walk score, and where A's mean is 0.
    pub ratio: Option<Estimate>,
    /// Clusters in which B's mean is higher.
    pub b_higher: u64,
    /// Clusters in which A's mean is higher.
    pub a_higher: u64,
    /// Clusters in which both are the same.
    pub ties: u64,
    /// The effect size: the share of clusters in which B is better, ties counting half.
    pub b_better: Option<f64>,
    /// The exact two-sided sign test over clusters, without ties; absent where there is nothing else.
    pub p: Option<f64>,
    /// After correction for all tests of the comparison.
    pub p_adjusted: Option<f64>,
}

struct Figure {
    name: &'static str,
    more_is_better: bool,
    ratio: bool,
    /// True if it is compared only where both sides solve the task: a wrong plan is no cheaper plan.
    of_solved: bool,
    of: fn(&Observation) -> Option<f64>,
}

const COST: &str = "plan cost";

const FIGURES: [Figure; 8] = [
    // Of one task; over a cell the paper averages the directions first (Eq. 2).
    Figure { name: "walk score", more_is_better: true, ratio: false, of_solved: false, of: walk },
    Figure {
        name: "plan steps",
        more_is_better: false,
        ratio: true,
        of_solved: true,
        of: |seen| Some(seen.plan?.0 as f64),
    },
    Figure { name: COST, more_is_better: false, ratio: true, of_solved: true, of: |seen| seen.plan?.1 },
    Figure {
        name: "calls",
        more_is_better: false,
        ratio: true,
        of_solved: false,
        of: |seen| Some(seen.cost?.calls as f64),
    },
    Figure {
        name: "tokens",
        more_is_better: false,
        ratio: true,
        of_solved: false,
        of: |seen| Some(seen.cost?.tokens()? as f64),
    },
    Figure {
        name: "tokens written",
        more_is_better: false,
        ratio: true,
        of_solved: false,
        of: |seen| Some(seen.cost?.written()? as f64),
    },
    Figure {
        name: "US dollars",
        more_is_better: false,
        ratio: true,
        of_solved: false,
        of: |seen| seen.cost?.usd(),
    },
    Figure {
        name: "seconds waiting for models",
        more_is_better: false,
        ratio: true,
        of_solved: false,
        of: |seen| Some(seen.cost?.waiting_s),
    },
];

fn walk(seen: &Observation) -> Option<f64> {
    let task = &seen.result;
    Some(harmonic_mean(task.reference_to_candidate?, task.candidate_to_reference?))
}

/// Every figure that some pair has on both sides. The cost of plans is left out where it is the number of steps everywhere.
pub(super) fn metrics(pairs: &[Pair<'_>], clusters: &Clusters, settings: &Settings) -> Vec<MetricComparison> {
    let all = FIGURES.iter().filter(|figure| {
        // Where every step costs 1 the cost is the number of steps, and no second figure.
        let unit = |seen: &Observation| {
            seen.plan.is_none_or(|(steps, cost)| cost.is_none_or(|cost| cost == steps as f64))
        };
        figure.name != COST || !pairs.iter().all(|pair| unit(pair.a) && unit(pair.b))
    });
    let all = all.map(|figure| one(figure, pairs, clusters, settings));
    all.filter(|metric| metric.pairs > 0).collect()
}

fn one(figure: &Figure, pairs: &[Pair<'_>], clusters: &Clusters, settings: &Settings) -> MetricComparison {
    let solved =
        |seen: &&Observation| !figure.of_solved || Question::Solved.answer(&seen.result) == CountsAs::For;
    let of = |seen: &Observation| Some(seen).filter(solved).and_then(figure.of);
    let values: Vec<(Option<f64>, Option<f64>)> = pairs.iter().map(|pair| (of(pair.a), of(pair.b))).collect();
    let missing =
        |a: bool, b: bool| values.iter().filter(|v| (v.0.is_none(), v.1.is_none()) == (a, b)).count();
    let known = |at: usize| values.get(at).and_then(|v| Some((v.0?, v.1?)));
    let own = clusters.only(|at| known(at).is_some());
    let mean_of = |members: &[usize], side: fn((f64, f64)) -> f64| {
        mean(members.iter().filter_map(|at| known(*at)).map(side))
    };
    let a: fn((f64, f64)) -> f64 = |values| values.0;
    let b: fn((f64, f64)) -> f64 = |values| values.1;
    let mut signs = [0_u64; 3];
    for members in own.iter() {
        let (Some(mean_a), Some(mean_b)) = (mean_of(members, a), mean_of(members, b)) else { continue };
        signs[match mean_b.partial_cmp(&mean_a) {
            Some(std::cmp::Ordering::Greater) => 0,
            Some(std::cmp::Ordering::Less) => 1,
            _ => 2,
        }] += 1;
    }
    let [b_higher, a_higher, ties] = signs;
    let better = if figure.more_is_better { b_higher } else { a_higher };
    let all = own.all();
    let any = own.len() > 0;
    MetricComparison {
        name: figure.name,
        more_is_better: figure.more_is_better,
        pairs: all.len(),
        clusters: own.len(),
        missing_a: missing(true, false),
        missing_b: missing(false, true),
        missing_both: missing(true, true),
        mean_a: mean_of(&all, a),
        mean_b: mean_of(&all, b),
        difference: own.estimate(settings, |members| {
            mean(members.iter().filter_map(|at| known(*at)).map(|(a, b)| b - a))
        }),
        ratio: if figure.ratio {
            own.estimate(settings, |members| Some(mean_of(members, b)? / mean_of(members, a)?))
        } else {
            None
        },
        b_higher,
        a_higher,
        ties,
        b_better: any.then(|| (better as f64 + ties as f64 / 2.0) / own.len() as f64),
        p: (b_higher + a_higher > 0).then(|| sign_test(b_higher, a_higher)),
        p_adjusted: None,
    }
}
