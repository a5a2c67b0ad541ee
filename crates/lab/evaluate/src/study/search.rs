//! Search strategies compared at the same number of replies: a chain, restarted chains, a tree, and a tree
//! whose candidates race.
//!
//! Each strategy is a pipeline file; the command runs it over tasks and seeds with a simulated model and
//! passes the outcomes to this module. The figures show how well a strategy searches under a stated error
//! rate; they do not describe any language model.

use crate::statistics::{Interval, bootstrap_mean, mean, wilson};
use crate::sums::Artefact;
use crate::table::{Align, Table};
use planforge_contract::Failure;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Confidence of every interval of the study.
pub const CONFIDENCE: f64 = 0.95;
/// Resamples of a bootstrap.
const RESAMPLES: usize = 10_000;

/// One strategy on one task with one seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchRun {
    /// The strategy: the pipeline file's name.
    pub strategy: String,
    pub suite: String,
    /// The task's stem.
    pub task: String,
    /// The run's seed.
    pub seed: u64,
    /// The verdict of the run; runs with `failed` are not outcomes of a strategy and are counted apart.
    pub verdict: String,
    /// True if the returned candidate behaves exactly as the environment: the last stage accepted it.
    pub solved: bool,
    /// The returned candidate's walk score by the last stage, 0 to 1; 0 where it has none, as then no walk agrees.
    pub score: f64,
    /// Replies of the model.
    pub replies: u64,
    /// Requests for these replies.
    pub requests: u64,
    /// Walks drawn on the way, without those of the last stage.
    pub walks: u64,
}

impl SearchRun {
    fn has_failed(&self) -> bool {
        self.verdict == "failed"
    }
}

/// The result of a strategy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Strategy {
    pub name: String,
    /// Runs that ended without a failure.
    pub runs: usize,
    /// Runs that broke, which are in no figure.
    pub failed: usize,
    /// Runs that returned a candidate which behaves exactly as the environment.
    pub solved: usize,
    /// Wilson's interval of their share.
    pub solved_interval: Interval,
    /// The mean walk score of what was returned.
    pub score: f64,
    /// Its interval, by bootstrap over runs.
    pub score_interval: Interval,
    /// The mean difference of the score to the first strategy's on the same task and seed; absent for the first.
    pub difference: Option<f64>,
    /// Its interval, by bootstrap over the pairs.
    pub difference_interval: Option<Interval>,
    /// Mean number of replies.
    pub replies: f64,
    /// The most replies of a run.
    pub most_replies: u64,
    /// Mean number of requests.
    pub requests: f64,
    /// Runs solved for every hundred replies.
    pub solved_per_100_replies: f64,
    /// Mean number of walks.
    pub walks: f64,
}

/// The study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchStudy {
    /// Version of this document, 1.
    pub schema: u32,
    /// Whose replies they are.
    pub model: String,
    /// Confidence of the intervals.
    pub confidence: f64,
    /// The strategies, in the order given.
    pub strategies: Vec<Strategy>,
    /// Every run, by strategy, suite, task and seed.
    pub runs: Vec<SearchRun>,
}

impl SearchStudy {
    /// The figures of some runs. `order` names the strategies; the first is what the others are compared with.
    pub fn new(model: &str, order: &[String], mut runs: Vec<SearchRun>, seed: u64) -> Self {
        let place = |run: &SearchRun| order.iter().position(|name| *name == run.strategy);
        runs.sort_by(|a, b| {
            (place(a), &a.suite, &a.task, a.seed).cmp(&(place(b), &b.suite, &b.task, b.seed))
        });
        let strategies = order.iter().map(|name| strategy(name, order.first(), &runs, seed)).collect();
        Self { schema: 1, model: model.to_owned(), confidence: CONFIDENCE, strategies, runs }
    }

    /// One row a strategy.
    pub fn table(&self) -> Table {
        let mut table = Table::new([
            ("strategy", Align::Left),
            ("runs", Align::Right),
            ("failed", Align::Right),
            ("solved", Align::Right),
            ("95 % interval", Align::Right),
            ("walk score", Align::Right),
            ("95 % interval", Align::Right),
            ("difference to the first", Align::Right),
            ("95 % interval", Align::Right),
            ("replies", Align::Right),
            ("most", Align::Right),
            ("requests", Align::Right),
            ("solved per 100 replies", Align::Right),
            ("walks", Align::Right),
        ]);
        for s in &self.strategies {
            let share = s.solved as f64 / s.runs.max(1) as f64;
            table.row([
                s.name.clone(),
                s.runs.to_string(),
                s.failed.to_string(),
                format!("{:.1} %", 100.0 * share),
                format!("{:.1} to {:.1}", 100.0 * s.solved_interval.low, 100.0 * s.solved_interval.high),
                format!("{:.3}", s.score),
                interval(Some(s.score_interval), false),
                s.difference.map_or("-".to_owned(), |d| format!("{d:+.3}")),
                interval(s.difference_interval, true),
                format!("{:.1}", s.replies),
                s.most_replies.to_string(),
                format!("{:.1}", s.requests),
                format!("{:.2}", s.solved_per_100_replies),
                format!("{:.0}", s.walks),
            ]);
        }
        table
    }

    /// One row a suite: what was solved and the mean score, strategy by strategy.
    pub fn by_suite(&self) -> Table {
        let mut columns = vec![("suite".to_owned(), Align::Left)];
        for s in &self.strategies {
            columns.push((format!("{}: solved", s.name), Align::Right));
            columns.push(("walk score".to_owned(), Align::Right));
        }
        let mut table = Table::new(columns);
        let suites: BTreeSet<&str> = self.runs.iter().map(|r| r.suite.as_str()).collect();
        for suite in suites {
            let mut row = vec![suite.to_owned()];
            for s in &self.strategies {
                let runs =
                    self.runs.iter().filter(|r| r.suite == suite && r.strategy == s.name && !r.has_failed());
                let runs: Vec<&SearchRun> = runs.collect();
                let scores: Vec<f64> = runs.iter().map(|r| r.score).collect();
                row.push(format!("{} of {}", runs.iter().filter(|r| r.solved).count(), runs.len()));
                row.push(mean(&scores).map_or("-".to_owned(), |m| format!("{:.3}", m.mean)));
            }
            table.row(row);
        }
        table
    }

    /// Every run, for other tools.
    fn every_run(&self) -> Table {
        let names = [
            "strategy", "suite", "task", "seed", "verdict", "solved", "score", "replies", "requests", "walks",
        ];
        let mut table = Table::new(names.map(|name| (name, Align::Left)));
        for r in &self.runs {
            table.row([
                r.strategy.clone(),
                r.suite.clone(),
                r.task.clone(),
                r.seed.to_string(),
                r.verdict.clone(),
                r.solved.to_string(),
                r.score.to_string(),
                r.replies.to_string(),
                r.requests.to_string(),
                r.walks.to_string(),
            ]);
        }
        table
    }

    /// The tables as Markdown, and what every figure means.
    fn page(&self) -> String {
        format!(
            "Every reply in this study is simulated by {}: the figures compare ways to search under its stated error rates and say\n\
             nothing about a language model.\n\n\
             {}\n\
             * *solved*: runs whose returned candidate behaves exactly as the environment, with Wilson's interval.\n\
             * *walk score*: mean score of what was returned, with the bootstrap interval over runs.\n\
             * *difference*: of the score to the first strategy's on the same task and seed, with the bootstrap interval over pairs.\n\
             * *replies*, *most*: the mean and the largest number of the model's replies in a run.\n\
             * *requests*: mean number of requests for these replies; a request may ask for several.\n\
             * *solved per 100 replies*: runs solved for every hundred replies of all runs.\n\
             * *walks*: mean number of exploration walks drawn to choose and to give feedback.\n\
             * *failed*: runs that broke; they are in no figure.\n\n\
             {}",
            self.model,
            self.table().markdown(),
            self.by_suite().markdown()
        )
    }

    /// `search.csv` (every run), `search.json`, `search.md` (the tables).
    ///
    /// # Errors
    /// `study.plot`: the study has no JSON form.
    pub fn artefacts(&self) -> Result<Vec<Artefact>, Failure> {
        Ok(vec![
            Artefact::new("search.csv", self.every_run().csv()),
            Artefact::json("search.json", self)?,
            Artefact::new("search.md", self.page()),
        ])
    }
}

fn interval(interval: Option<Interval>, signed: bool) -> String {
    match interval {
        None => "-".to_owned(),
        Some(i) if signed => format!("{:+.3} to {:+.3}", i.low, i.high),
        Some(i) => format!("{:.3} to {:.3}", i.low, i.high),
    }
}

fn strategy(name: &str, first: Option<&String>, all: &[SearchRun], seed: u64) -> Strategy {
    let mine = || all.iter().filter(|r| r.strategy == name);
    let runs: Vec<&SearchRun> = mine().filter(|r| !r.has_failed()).collect();
    let solved = runs.iter().filter(|r| r.solved).count();
    let scores: Vec<f64> = runs.iter().map(|r| r.score).collect();
    let average = |values: Vec<f64>| mean(&values).map_or(0.0, |m| m.mean);
    let differences: Vec<f64> = match first {
        Some(first) if first != name => differences(first, all, &runs),
        _ => Vec::new(),
    };
    let unknown = Interval { low: 0.0, high: 1.0 };
    Strategy {
        name: name.to_owned(),
        runs: runs.len(),
        failed: mine().count() - runs.len(),
        solved,
        solved_interval: wilson(solved as u64, runs.len() as u64, CONFIDENCE),
        score: average(scores.clone()),
        score_interval: bootstrap_mean(&scores, CONFIDENCE, RESAMPLES, seed).unwrap_or(unknown),
        difference: mean(&differences).map(|m| m.mean),
        difference_interval: bootstrap_mean(&differences, CONFIDENCE, RESAMPLES, seed),
        replies: average(runs.iter().map(|r| r.replies as f64).collect()),
        most_replies: runs.iter().map(|r| r.replies).max().unwrap_or(0),
        requests: average(runs.iter().map(|r| r.requests as f64).collect()),
        solved_per_100_replies: per_100(solved, runs.iter().map(|r| r.replies).sum()),
        walks: average(runs.iter().map(|r| r.walks as f64).collect()),
    }
}

/// Runs solved for every hundred replies; 0 without replies.
fn per_100(solved: usize, replies: u64) -> f64 {
    100.0 * solved as f64 / replies.max(1) as f64
}

/// The score less the first strategy's on the same task and seed, if both runs ended.
fn differences(first: &str, all: &[SearchRun], runs: &[&SearchRun]) -> Vec<f64> {
    let key = |r: &SearchRun| (r.suite.clone(), r.task.clone(), r.seed);
    let others: BTreeMap<_, f64> =
        all.iter().filter(|r| r.strategy == first && !r.has_failed()).map(|r| (key(r), r.score)).collect();
    runs.iter().filter_map(|r| Some(r.score - others.get(&key(r))?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(strategy: &str, suite: &str, seed: u64, score: f64) -> SearchRun {
        SearchRun {
            strategy: strategy.into(),
            suite: suite.into(),
            task: "p01".into(),
            seed,
            verdict: if score < 1.0 { "rejected" } else { "accepted" }.into(),
            solved: score >= 1.0,
            score,
            replies: 10 + seed,
            requests: 3,
            walks: 100,
        }
    }

    fn study() -> SearchStudy {
        let mut runs = Vec::new();
        for seed in 0..20 {
            let low = if seed % 2 == 0 { 1.0 } else { 0.5 };
            runs.push(run("tree", "parcels", seed, 1.0));
            runs.push(run("chain", "parcels", seed, low));
        }
        let broken = SearchRun { verdict: "failed".into(), ..run("tree", "garden", 1, 0.0) };
        runs.push(broken);
        SearchStudy::new("a simulation", &["chain".into(), "tree".into()], runs, 7)
    }

    #[test]
    fn figures_are_means_with_intervals_and_failures_are_in_none() {
        let study = study();
        let [chain, tree] = &study.strategies[..] else { panic!("two strategies") };
        assert_eq!((chain.runs, chain.solved, chain.failed, chain.most_replies), (20, 10, 0, 29));
        assert_eq!((chain.score, chain.difference), (0.75, None));
        // The standard error is 0.25 / sqrt(20), about 0.056.
        assert!(
            (chain.score_interval.low - 0.64).abs() < 0.03 && (chain.score_interval.high - 0.86).abs() < 0.03
        );
        assert_eq!((tree.runs, tree.failed, tree.score), (20, 1, 1.0));
        assert_eq!(tree.difference, Some(0.25));
        let between = tree.difference_interval.unwrap();
        assert!(between.low > 0.1 && between.high < 0.4, "{between:?}");
        assert_eq!((chain.replies, chain.requests), (19.5, 3.0));
        // Ten of twenty runs with 390 replies together.
        assert!((chain.solved_per_100_replies - 1000.0 / 390.0).abs() < 1e-12);
        assert_eq!(study.runs[0].strategy, "chain", "in the order given");
    }

    #[test]
    fn the_files_hold_every_run_and_state_that_it_is_simulated() {
        let files = study().artefacts().unwrap();
        let names: Vec<&str> = files.iter().map(|f| f.name.as_str()).collect();
        assert_eq!(names, ["search.csv", "search.json", "search.md"]);
        assert_eq!(files[0].contents.lines().count(), 42);
        assert!(files[0].contents.contains("\ntree,garden,p01,1,failed,false,0,11,3,100\n"));
        assert!(files[2].contents.contains("simulated by a simulation"));
        assert!(files[2].contents.contains("| chain    |   20 |"), "{}", files[2].contents);
        assert!(files[2].contents.contains("| garden  |"), "{}", files[2].contents);
        let read: SearchStudy = serde_json::from_str(&files[1].contents).unwrap();
        assert_eq!(read, study());
    }
}
