//! Success of both sides: the exact test, the paired difference, and the effect of open pairs.

use super::pairs::{Clusters, Pair, PairKey};
use super::question::{Question, why_word, word};
use super::{Estimate, Settings};
use crate::results::CountsAs;
use crate::results::{OpenReason, TaskResult};
use crate::statistics::{Interval, McNemar, Pairs, mcnemar, sign_flip};
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
