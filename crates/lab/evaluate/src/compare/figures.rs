//! Comparisons of the pairs: success, its cost, and figures of a task that are not yes or no.

use super::observe::{Observation, Observed, TaskCost};
use super::pairs::{Clusters, Pair, PairKey, Question, why_word, word};
use super::{Estimate, Settings};
use crate::results::{CountsAs, OpenReason, TaskResult};
use crate::statistics::{Interval, McNemar, Pairs, mcnemar, sign_flip, sign_test};
use planforge_planning::walk::harmonic_mean;
use serde::Serialize;

/// A pair in which both sides have an answer, and not the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Settled {
    #[serde(flatten)]
    pub key: PairKey,
    /// `a` or `b`: who alone succeeded.
    pub only: &'static str,
    /// The objection against the other side.
    pub why: String,
}

/// A pair with an open answer on one side or both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OpenPair {
    #[serde(flatten)]
    pub key: PairKey,
    /// `yes`, `no`, or the reason why it is open.
    pub a: &'static str,
    /// The same of B.
    pub b: &'static str,
    /// In words, for a person: of the side or the sides that are open.
    pub why: String,
}

/// The result if every open answer were counted the same way.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Extreme {
    /// The difference over all pairs.
    pub difference: f64,
    /// The p-value of the test.
    pub p: f64,
}

/// Both ends of what open answers could change.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bounds {
    /// Open answers of A count as success, those of B do not.
    pub for_a: Extreme,
    /// Open answers of B count as success, those of A do not.
    pub for_b: Extreme,
}

/// Success of both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Success {
    /// The criterion of success.
    pub question: Question,
    /// Both succeed.
    pub both: u64,
    /// A alone does.
    pub only_a: u64,
    /// B alone does.
    pub only_b: u64,
    /// Neither does.
    pub neither: u64,
    /// Pairs with an open answer, which are in no test.
    pub open: u64,
    /// By side and by why.
    pub open_a: Vec<(OpenReason, usize)>,
    /// The same of B.
    pub open_b: Vec<(OpenReason, usize)>,
    /// A's share of success among the pairs that are decided.
    pub rate_a: Option<f64>,
    /// B's.
    pub rate_b: Option<f64>,
    /// B's share less A's, with the bootstrap over clusters.
    pub difference: Option<Estimate>,
    /// Newcombe's interval (method 10) of the same difference; absent where clusters have several pairs, which are not independent.
    pub newcombe: Option<Interval>,
    /// True if every cluster has one pair, so that pairs count as independent.
    pub independent: bool,
    /// The p-value: exact, two-sided, flipping the signs of whole clusters. With one pair a cluster it is McNemar's exact test. Absent where no
    /// pair is decided.
    pub p: Option<f64>,
    /// After correction for all tests of the comparison.
    pub p_adjusted: Option<f64>,
    /// McNemar's test over pairs. Too sure of itself where they are not independent.
    pub mcnemar: McNemar,
    /// The odds ratio of B against A in discordant pairs; absent where A alone never succeeds.
    pub odds_ratio: Option<f64>,
    /// Cohen's g: how far B's share of the discordant pairs is from one half, -0.5 to 0.5; absent where no pair is discordant.
    pub cohens_g: Option<f64>,
    /// The possible effect of open pairs; absent without any.
    pub bounds: Option<Bounds>,
    /// The discordant pairs.
    pub discordant: Vec<Settled>,
    pub open_pairs: Vec<OpenPair>,
}

/// Success of both sides: the exact test, the paired difference, and the effect of open pairs.
pub(super) fn success(pairs: &[Pair<'_>], clusters: &Clusters, settings: &Settings) -> Success {
    let answers: Vec<(CountsAs, CountsAs)> = pairs
        .iter()
        .map(|pair| (settings.question.answer(&pair.a.result), settings.question.answer(&pair.b.result)))
        .collect();
    let count = |wanted| answers.iter().filter(|answer| **answer == wanted).count() as u64;
    let table = Pairs {
        both: count((CountsAs::For, CountsAs::For)),
        only_first: count((CountsAs::For, CountsAs::Against)),
        only_second: count((CountsAs::Against, CountsAs::For)),
        neither: count((CountsAs::Against, CountsAs::Against)),
    };
    // 1 if B alone succeeds, -1 if A alone does; absent for open pairs.
    let ahead = |at: usize| {
        let (a, b) = answers.get(at)?;
        Some(yes(*b)? - yes(*a)?)
    };
    let decided = clusters.only(|at| ahead(at).is_some());
    let total = table.total();
    let share = |n: u64| (total > 0).then(|| n as f64 / total as f64);
    let independent = decided.iter().all(|members| members.len() <= 1);
    let discordant = table.only_first + table.only_second;
    Success {
        question: settings.question,
        both: table.both,
        only_a: table.only_first,
        only_b: table.only_second,
        neither: table.neither,
        open: answers.len() as u64 - total,
        open_a: count_open(answers.iter().map(|answer| answer.0)),
        open_b: count_open(answers.iter().map(|answer| answer.1)),
        rate_a: share(table.both + table.only_first),
        rate_b: share(table.both + table.only_second),
        difference: decided
            .estimate(settings, |members| mean(members.iter().filter_map(|at| ahead(*at)).map(|x| x as f64))),
        newcombe: table.difference_interval(settings.confidence).filter(|_| independent),
        independent,
        p: (total > 0).then(|| sign_flip_p_value(&decided, |at| ahead(at).unwrap_or(0))),
        p_adjusted: None,
        mcnemar: mcnemar(table.only_first, table.only_second),
        odds_ratio: (table.only_first > 0).then(|| table.only_second as f64 / table.only_first as f64),
        cohens_g: (discordant > 0).then(|| table.only_second as f64 / discordant as f64 - 0.5),
        bounds: (total < answers.len() as u64).then(|| bounds(&answers, clusters)),
        discordant: pairs
            .iter()
            .zip(&answers)
            .filter_map(|(pair, answer)| settle_pair(pair, *answer))
            .collect(),
        open_pairs: pairs
            .iter()
            .zip(&answers)
            .filter_map(|(pair, answer)| open_pair(pair, *answer))
            .collect(),
    }
}

/// The p-value of the test of success, and how many pairs more B alone wins than A alone; `None` if no pair is decided.
pub(super) fn success_test(
    pairs: &[Pair<'_>],
    clusters: &Clusters,
    settings: &Settings,
) -> Option<(f64, i64)> {
    let answer = |result: &TaskResult| yes(settings.question.answer(result));
    let leads: Vec<Option<i64>> =
        pairs.iter().map(|pair| Some(answer(&pair.b.result)? - answer(&pair.a.result)?)).collect();
    let lead = |at: usize| leads.get(at).copied().flatten();
    let decided = clusters.only(|at| lead(at).is_some());
    let p = (decided.len() > 0).then(|| sign_flip_p_value(&decided, |at| lead(at).unwrap_or(0)))?;
    Some((p, leads.iter().flatten().sum()))
}

fn yes(answer: CountsAs) -> Option<i64> {
    match answer {
        CountsAs::For => Some(1),
        CountsAs::Against => Some(0),
        CountsAs::Open(_) => None,
    }
}

pub(super) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut n) = (0.0, 0_u64);
    for value in values {
        sum += value;
        n += 1;
    }
    (n > 0).then(|| sum / n as f64)
}

fn sign_flip_p_value(clusters: &Clusters, ahead: impl Fn(usize) -> i64) -> f64 {
    let sums: Vec<i64> = clusters.iter().map(|members| members.iter().map(|at| ahead(*at)).sum()).collect();
    sign_flip(&sums)
}

fn bounds(answers: &[(CountsAs, CountsAs)], clusters: &Clusters) -> Bounds {
    let extreme = |open_a: i64, open_b: i64| {
        let ahead = |at: usize| {
            answers.get(at).map_or(0, |(a, b)| yes(*b).unwrap_or(open_b) - yes(*a).unwrap_or(open_a))
        };
        let sum: i64 = (0..answers.len()).map(ahead).sum();
        Extreme {
            difference: sum as f64 / answers.len().max(1) as f64,
            p: sign_flip_p_value(clusters, ahead),
        }
    };
    Bounds { for_a: extreme(1, 0), for_b: extreme(0, 1) }
}

fn count_open(answers: impl Iterator<Item = CountsAs>) -> Vec<(OpenReason, usize)> {
    let all: Vec<CountsAs> = answers.collect();
    let count = |why| all.iter().filter(|answer| **answer == CountsAs::Open(why)).count();
    OpenReason::ALL.iter().map(|(why, ..)| (*why, count(*why))).filter(|(_, n)| *n > 0).collect()
}

fn settle_pair(pair: &Pair<'_>, answer: (CountsAs, CountsAs)) -> Option<Settled> {
    let (only, other) = match answer {
        (CountsAs::For, CountsAs::Against) => ("a", &pair.b.result),
        (CountsAs::Against, CountsAs::For) => ("b", &pair.a.result),
        _ => return None,
    };
    Some(Settled { key: pair.key.clone(), only, why: other.why.clone() })
}

fn open_pair(pair: &Pair<'_>, answer: (CountsAs, CountsAs)) -> Option<OpenPair> {
    let why = |letter: &str, answer: CountsAs, task: &TaskResult| match answer {
        CountsAs::Open(why) if task.why.is_empty() => Some(format!("{letter}: {}", why_word(why))),
        CountsAs::Open(_) => Some(format!("{letter}: {}", task.why)),
        _ => None,
    };
    let said: Vec<String> = [why("A", answer.0, &pair.a.result), why("B", answer.1, &pair.b.result)]
        .into_iter()
        .flatten()
        .collect();
    (!said.is_empty()).then(|| OpenPair {
        key: pair.key.clone(),
        a: word(answer.0),
        b: word(answer.1),
        why: said.join("; "),
    })
}

/// Use of one side on the pairs of a figure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Spent {
    /// Tasks that succeeded.
    pub successes: u64,
    /// Undecided tasks. Their cost counts all the same.
    pub open: u64,
    /// Calls, thousands of tokens, or seconds.
    pub spent: f64,
    /// Successes over what was spent, all pairs together; absent where nothing was spent.
    pub rate: Option<Estimate>,
    /// The rate if every open task were a success.
    pub rate_if_open: Option<f64>,
}

/// Success for what was spent, over the pairs of which it is known on both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Efficiency {
    /// `call`, `1000 tokens`, `second waiting for models`.
    pub per: &'static str,
    /// Pairs of which both sides are known.
    pub pairs: usize,
    /// Pairs of which a side is not.
    pub missing: usize,
    /// A's.
    pub a: Spent,
    /// B's.
    pub b: Spent,
    /// B's rate over A's.
    pub ratio: Option<Estimate>,
}

type Price = (&'static str, fn(&TaskCost) -> Option<f64>);

const PRICES: [Price; 4] = [
    ("call", |cost| Some(cost.calls as f64)),
    ("1000 tokens", |cost| Some(cost.tokens()? as f64 / 1000.0)),
    ("US dollar", TaskCost::usd),
    ("second waiting for models", |cost| Some(cost.waiting_s)),
];

/// Every price that is known of some pair.
pub(super) fn efficiency(pairs: &[Pair<'_>], clusters: &Clusters, settings: &Settings) -> Vec<Efficiency> {
    let all = PRICES.iter().map(|price| compare_price(*price, pairs, clusters, settings));
    all.filter(|one| one.pairs > 0).collect()
}

fn compare_price(
    (per, price): Price,
    pairs: &[Pair<'_>],
    clusters: &Clusters,
    settings: &Settings,
) -> Efficiency {
    let spent = |seen: &Observation| seen.cost.as_ref().and_then(price);
    let known: Vec<Option<(f64, f64)>> =
        pairs.iter().map(|pair| Some((spent(pair.a)?, spent(pair.b)?))).collect();
    let own = clusters.only(|at| known.get(at).is_some_and(Option::is_some));
    let known = &known;
    let side = |pick_a: bool| {
        let answer = move |at: usize| {
            let pair = pairs.get(at)?;
            Some(settings.question.answer(if pick_a { &pair.a.result } else { &pair.b.result }))
        };
        let cost = move |at: usize| {
            let (a, b) = known.get(at).copied().flatten().unwrap_or_default();
            if pick_a { a } else { b }
        };
        move |members: &[usize], wanted: fn(CountsAs) -> bool| {
            let count = members.iter().filter(|at| answer(**at).is_some_and(wanted)).count();
            (count as u64, members.iter().map(|at| cost(*at)).sum::<f64>())
        }
    };
    let success = |counts| counts == CountsAs::For;
    let rate = |(count, spent): (u64, f64)| (spent > 0.0).then(|| count as f64 / spent);
    let all = own.all();
    let spent = |pick_a: bool| {
        let of = side(pick_a);
        let (successes, spent) = of(&all, success);
        let (open, _) = of(&all, |counts| matches!(counts, CountsAs::Open(_)));
        Spent {
            successes,
            open,
            spent,
            rate: own.estimate(settings, |members| rate(of(members, success))),
            rate_if_open: rate((successes + open, spent)),
        }
    };
    let (of_a, of_b) = (side(true), side(false));
    Efficiency {
        per,
        pairs: all.len(),
        missing: pairs.len() - all.len(),
        a: spent(true),
        b: spent(false),
        ratio: own.estimate(settings, |members| {
            Some(rate(of_b(members, success))? / rate(of_a(members, success))?)
        }),
    }
}

/// Wall time of a side's runs, all their tasks together, paired or not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Wall {
    pub sessions: usize,
    /// Those that replayed a record: their time is that of the replay.
    pub replayed: usize,
    /// Those whose end is not recorded, so that their time is unknown.
    pub without_end: usize,
    /// Wall time of the others, in seconds.
    pub seconds: f64,
    /// Tasks solved over wall time; absent where the time of a session is unknown, or none was read, or it is below the second to which it is recorded.
    pub solved_per_second: Option<f64>,
}

impl Wall {
    pub(super) fn of(side: &Observed) -> Self {
        let sessions = &side.sessions;
        let solved = side
            .observations
            .iter()
            .filter(|seen| super::Question::Solved.answer(&seen.result) == CountsAs::For)
            .count();
        let known = sessions.sessions > 0 && sessions.without_end == 0 && sessions.wall_s > 0.0;
        Self {
            sessions: sessions.sessions,
            replayed: sessions.replayed,
            without_end: sessions.without_end,
            seconds: sessions.wall_s,
            solved_per_second: known.then(|| solved as f64 / sessions.wall_s),
        }
    }
}

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
    let all = all.map(|figure| compare_figure(figure, pairs, clusters, settings));
    all.filter(|metric| metric.pairs > 0).collect()
}

fn compare_figure(
    figure: &Figure,
    pairs: &[Pair<'_>],
    clusters: &Clusters,
    settings: &Settings,
) -> MetricComparison {
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
