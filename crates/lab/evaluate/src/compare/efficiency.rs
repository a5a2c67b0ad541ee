//! The cost of success: successes per call, per 1000 tokens and per second.

use super::observe::{Observation, Observed, TaskCost};
use super::pairs::{Clusters, Pair};
use super::{Estimate, Settings};
use crate::results::CountsAs;
use serde::Serialize;

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
    let all = PRICES.iter().map(|price| one(*price, pairs, clusters, settings));
    all.filter(|one| one.pairs > 0).collect()
}

fn one((per, price): Price, pairs: &[Pair<'_>], clusters: &Clusters, settings: &Settings) -> Efficiency {
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
