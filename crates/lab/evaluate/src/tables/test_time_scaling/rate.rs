//! Shares of tasks with intervals, by criterion, and their differences to a base method.

use crate::results::{CellResult, CountsAs, OpenReason, TaskResult, counts_as, counts_as_solved};
use crate::statistics::{Interval, bootstrap_mean, mean, share_interval};
use serde::Serialize;
use std::collections::BTreeMap;

/// Confidence of every interval.
const CONFIDENCE: f64 = 0.95;
/// Samples of the bootstrap of a difference.
const RESAMPLES: usize = 2000;

/// A share of tasks, in per cent: averaged over the seeds of a domain first, over the domains last.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rate {
    /// The share.
    pub percent: f64,
    /// The share if every open task counted for it.
    pub percent_if_open: f64,
    /// Wilson's 95 % interval of `percent`, with domains as trials: runs of one domain under several seeds are one trial.
    pub interval: Interval,
    pub domains: usize,
    /// Tasks over all domains and seeds.
    pub tasks: usize,
    /// Open tasks, by what left them open.
    pub open: Vec<(OpenReason, usize)>,
    /// The difference to the base method in percentage points; absent for the base itself and if the base has
    /// no figure.
    pub delta: Option<Delta>,
    pub by_domain: BTreeMap<String, f64>,
}

/// A difference to the base method over the domains that both have.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Delta {
    /// Percentage points.
    pub points: f64,
    /// The 95 % bootstrap interval of the paired differences; a point where no domain differs from another.
    pub interval: Option<Interval>,
    /// Domains that both have.
    pub domains: usize,
}

/// A criterion for written domains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Criterion {
    /// VAL's Parser accepts it: the paper's success rate.
    Val,
    /// planforge's reader finds no error.
    FrontEnd,
    /// The walk score is 1.
    Walk,
    /// It is the reference domain.
    Same,
    /// The task's plan is valid.
    Plan,
}

impl Criterion {
    /// All of them, in the order of the tables.
    pub const ALL: [Self; 5] = [Self::Val, Self::FrontEnd, Self::Walk, Self::Same, Self::Plan];

    /// The title of its table.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Val => "% of domains that VAL's Parser accepts (the paper's success rate)",
            Self::FrontEnd => "% of domains in which planforge finds no error",
            Self::Walk => "% of domains whose walk score is 1",
            Self::Same => "% of domains that are the reference domain",
            Self::Plan => "% of tasks whose plan is valid",
        }
    }

    pub(super) const fn column(self) -> &'static str {
        match self {
            Self::Val => "val",
            Self::FrontEnd => "front_end",
            Self::Walk => "walk_1",
            Self::Same => "same_domain",
            Self::Plan => "plan_valid",
        }
    }

    /// The answer of a task; absent if no stage gives one.
    pub(super) fn of(self, task: &TaskResult) -> Option<CountsAs> {
        let outcome = match self {
            Self::Val => task.domain.val,
            Self::FrontEnd => task.domain.front_end,
            Self::Walk => task.domain.walk,
            Self::Same => task.domain.same,
            Self::Plan => return Some(counts_as_solved(task)),
        };
        outcome.map(|outcome| counts_as(Some(outcome)))
    }
}

impl Delta {
    pub(super) fn of(rate: &Rate, base: &Rate) -> Option<Self> {
        let shared =
            rate.by_domain.iter().filter_map(|(domain, own)| Some(own - base.by_domain.get(domain)?));
        let differences: Vec<f64> = shared.collect();
        Some(Self {
            points: mean(&differences)?.mean,
            interval: bootstrap_mean(&differences, CONFIDENCE, RESAMPLES, 0),
            domains: differences.len(),
        })
    }
}

impl Rate {
    /// Of cells of one method; nothing where a task has no answer at all.
    pub(super) fn of(cells: &[&CellResult], count: impl Fn(&TaskResult) -> Option<CountsAs>) -> Option<Self> {
        let mut domains: BTreeMap<&str, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
        let mut open: BTreeMap<&'static str, (OpenReason, usize)> = BTreeMap::new();
        let mut tasks = 0;
        for cell in cells {
            for task in &cell.tasks {
                let counts = count(task)?;
                tasks += 1;
                let (low, high) = match counts {
                    CountsAs::For => (100.0, 100.0),
                    CountsAs::Against => (0.0, 0.0),
                    CountsAs::Open(why) => {
                        let name = OpenReason::ALL
                            .iter()
                            .find(|(known, ..)| *known == why)
                            .map_or("", |(_, letter, _)| letter);
                        open.entry(name).or_insert((why, 0)).1 += 1;
                        (0.0, 100.0)
                    }
                };
                let domain = domains.entry(&cell.key.suite).or_default();
                domain.0.push(low);
                domain.1.push(high);
            }
        }
        let average = |values: &[f64]| mean(values).map_or(0.0, |m| m.mean);
        let by_domain: BTreeMap<String, f64> =
            domains.iter().map(|(name, (low, _))| ((*name).to_owned(), average(low))).collect();
        let high: Vec<f64> = domains.values().map(|(_, high)| average(high)).collect();
        let percent = mean(&by_domain.values().copied().collect::<Vec<_>>())?.mean;
        let share = share_interval(percent / 100.0, by_domain.len() as f64, CONFIDENCE);
        Some(Self {
            percent,
            percent_if_open: average(&high),
            interval: Interval { low: 100.0 * share.low, high: 100.0 * share.high },
            domains: by_domain.len(),
            tasks,
            open: open.into_values().collect(),
            delta: None,
            by_domain,
        })
    }
}
