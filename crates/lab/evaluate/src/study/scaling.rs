//! Test-time scaling: the effect of further samples, further rounds and a larger budget (test-time-scaling
//! paper, Fig. 3 to 5), with a simulated model.
//!
//! A sweep is a pipeline file and the values of one of its keys. The command runs every value over tasks and
//! seeds and passes the outcomes to this module. The figures compare ways to spend tokens under stated error
//! rates; they do not describe any language model.

use crate::chart::{Panel, Series, Style, svg};
use crate::statistics::{Interval, bootstrap_mean, mean};
use crate::sums::Artefact;
use crate::table::{Align, Table};
use planforge_contract::Failure;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Confidence of every interval of the study.
pub const CONFIDENCE: f64 = 0.95;
/// Resamples of a bootstrap.
const RESAMPLES: usize = 5_000;

/// One value of a sweep on one task with one seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScalingRun {
    /// The sweep's label.
    pub sweep: String,
    pub value: u64,
    pub suite: String,
    /// The task's stem.
    pub task: String,
    /// The run's seed.
    pub seed: u64,
    /// The returned candidate's walk score, by the last stage; 0 where it has none, as then no walk agrees.
    pub score: f64,
    /// True if its domain behaves as the reference on the task's problem; absent where that was not decided.
    pub equal: Option<bool>,
    /// True if a plan was found for it and is one in the environment.
    pub valid: bool,
    /// The model's calls.
    pub calls: u64,
    /// The model's tokens, questions and replies.
    pub tokens: u64,
    /// The failure of the run, if it failed; such a run is in no figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broke: Option<String>,
}

impl ScalingRun {
    /// Right in everything that was decided: every walk agrees, the domain is not different, and the plan is valid.
    pub fn is_success(&self) -> bool {
        self.score >= 1.0 && self.equal != Some(false) && self.valid
    }
}

/// The result of one value of a sweep. Intervals are bootstrapped over seeds: each seed's mean over all tasks
/// is one observation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    pub value: u64,
    /// Runs that ended without a failure.
    pub runs: usize,
    /// Runs that broke.
    pub broke: usize,
    /// Share of successes.
    pub success: f64,
    pub success_interval: Interval,
    /// Mean walk score.
    pub score: f64,
    pub score_interval: Interval,
    /// Domains that behave as the reference, that do not, and those of which neither was decided.
    pub equal: [usize; 3],
    /// Runs with a valid plan.
    pub valid: usize,
    /// Mean number of calls.
    pub calls: f64,
    /// Mean number of tokens.
    pub tokens: f64,
}

/// One sweep with its points.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SweepResult {
    pub sweep: Sweep,
    /// In the order of the values.
    pub points: Vec<Point>,
}

/// The study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScalingStudy {
    /// Version of this document, 1.
    pub schema: u32,
    /// Whose replies they are.
    pub model: String,
    /// Confidence of the intervals.
    pub confidence: f64,
    pub suites: Vec<String>,
    pub seeds: Vec<u64>,
    /// In the order of the spec.
    pub sweeps: Vec<SweepResult>,
    /// Every run, by sweep, value, suite, task and seed.
    pub runs: Vec<ScalingRun>,
}

impl ScalingStudy {
    /// The figures of some runs.
    pub fn new(model: &str, spec: &ScalingSpec, mut runs: Vec<ScalingRun>, seed: u64) -> Self {
        let place = |run: &ScalingRun| spec.sweeps.iter().position(|sweep| sweep.label == run.sweep);
        runs.sort_by(|a, b| {
            (place(a), a.value, &a.suite, &a.task, a.seed).cmp(&(
                place(b),
                b.value,
                &b.suite,
                &b.task,
                b.seed,
            ))
        });
        let sweeps = spec.sweeps.iter().map(|sweep| SweepResult {
            sweep: sweep.clone(),
            points: sweep.points().iter().map(|point| figures(point, &runs, seed)).collect(),
        });
        Self {
            schema: 1,
            model: model.to_owned(),
            confidence: CONFIDENCE,
            suites: unique(runs.iter().map(|run| run.suite.clone())),
            seeds: unique(runs.iter().map(|run| run.seed)),
            sweeps: sweeps.collect(),
            runs,
        }
    }

    /// One row a point.
    pub fn table(&self) -> Table {
        let mut table = Table::new([
            ("method", Align::Left),
            ("", Align::Left),
            ("value", Align::Right),
            ("runs", Align::Right),
            ("broke", Align::Right),
            ("success", Align::Right),
            ("95 % interval", Align::Right),
            ("walk score", Align::Right),
            ("95 % interval", Align::Right),
            ("equal", Align::Right),
            ("different", Align::Right),
            ("open", Align::Right),
            ("plan valid", Align::Right),
            ("calls", Align::Right),
            ("tokens", Align::Right),
        ]);
        for (result, point) in self.points() {
            let [equal, different, open] = point.equal;
            table.row([
                result.sweep.label.clone(),
                result.sweep.of.letter().to_owned(),
                point.value.to_string(),
                point.runs.to_string(),
                point.broke.to_string(),
                format!("{:.1} %", 100.0 * point.success),
                percent(point.success_interval),
                format!("{:.3}", point.score),
                format!("{:.3} to {:.3}", point.score_interval.low, point.score_interval.high),
                equal.to_string(),
                different.to_string(),
                open.to_string(),
                point.valid.to_string(),
                format!("{:.1}", point.calls),
                format!("{:.0}", point.tokens),
            ]);
        }
        table
    }

    fn points(&self) -> impl Iterator<Item = (&SweepResult, &Point)> {
        self.sweeps.iter().flat_map(|result| result.points.iter().map(move |point| (result, point)))
    }

    /// Successes by suite at the largest value of each sweep.
    fn by_suite(&self) -> Table {
        let last = |result: &SweepResult| result.points.last().map_or(0, |point| point.value);
        let mut columns = vec![("suite".to_owned(), Align::Left)];
        for result in &self.sweeps {
            let title = format!("{}, {} = {}", result.sweep.label, result.sweep.of.letter(), last(result));
            columns.push((title, Align::Right));
        }
        let mut table = Table::new(columns);
        for suite in &self.suites {
            let mut row = vec![suite.clone()];
            for result in &self.sweeps {
                let value = last(result);
                let runs: Vec<&ScalingRun> = self
                    .runs
                    .iter()
                    .filter(|r| r.suite == *suite && r.sweep == result.sweep.label && r.value == value)
                    .filter(|r| r.broke.is_none())
                    .collect();
                row.push(format!("{} of {}", runs.iter().filter(|r| r.is_success()).count(), runs.len()));
            }
            table.row(row);
        }
        table
    }

    fn every_run(&self) -> Table {
        let names = [
            "sweep", "value", "suite", "task", "seed", "success", "score", "equal", "valid", "calls",
            "tokens", "broke",
        ];
        let mut table = Table::new(names.map(|name| (name, Align::Left)));
        for r in &self.runs {
            table.row([
                r.sweep.clone(),
                r.value.to_string(),
                r.suite.clone(),
                r.task.clone(),
                r.seed.to_string(),
                r.is_success().to_string(),
                r.score.to_string(),
                r.equal.map_or("open".to_owned(), |equal| equal.to_string()),
                r.valid.to_string(),
                r.calls.to_string(),
                r.tokens.to_string(),
                r.broke.clone().unwrap_or_default(),
            ]);
        }
        table
    }

    fn page(&self) -> String {
        format!(
            "Every reply in this study is simulated by {}: the figures compare ways to spend tokens under its stated error rates and say\n\
             nothing about a language model. {} suites, {} seeds.\n\n\
             {}\n\
             * *success*: the returned domain agrees with the environment on every walk, is not shown to behave otherwise than the reference on\n\
             \x20 the task's problem, and the plan found with it is valid in the environment.\n\
             * *95 % interval*: bootstrap over seeds; the mean over all tasks is one observation.\n\
             * *equal*, *different*, *open*: the exact comparison of the domain with the reference; open is what its limit left undecided, or\n\
             \x20 what cannot be compared.\n\
             * *calls*, *tokens*: means of what was asked of models, critics included.\n\
             * *broke*: runs that are in no figure.\n\n\
             Successes by suite, at the largest value of each line:\n\n\
             {}",
            self.model,
            self.suites.len(),
            self.seeds.len(),
            self.table().markdown(),
            self.by_suite().markdown()
        )
    }

    /// Success and walk score of the sweeps of one kind, over their values.
    fn figure(&self, of: Swept) -> String {
        let shown: Vec<&SweepResult> = self.sweeps.iter().filter(|result| result.sweep.of == of).collect();
        let scale = if of == Swept::Budget { 1000.0 } else { 1.0 };
        let at = |point: &Point| point.value as f64 / scale;
        let panels = [
            panel("Success", "share of runs", of.axis(), &shown, at, |p| (p.success, p.success_interval)),
            panel("Walk score", "mean", of.axis(), &shown, at, |p| (p.score, p.score_interval)),
        ];
        svg(&panels, 2)
    }

    /// Success of all sweeps over the tokens that they used: a panel for each kind, all with the same axes.
    fn by_tokens(&self) -> String {
        let kinds: BTreeSet<Swept> = self.sweeps.iter().map(|result| result.sweep.of).collect();
        let at = |point: &Point| point.tokens / 1000.0;
        let of = |p: &Point| (p.success, p.success_interval);
        let panel_of = |kind: &Swept| {
            let shown: Vec<&SweepResult> = self.sweeps.iter().filter(|r| r.sweep.of == *kind).collect();
            panel(kind.title(), "success", "thousand tokens, mean of a run", &shown, at, of)
        };
        let mut panels: Vec<Panel> = kinds.iter().map(panel_of).collect();
        let most = panels.iter().fold((0.0, 0.0), |(x, y): (f64, f64), p| (x.max(p.x.1), y.max(p.y.1)));
        for panel in &mut panels {
            (panel.x.1, panel.y.1) = most;
        }
        svg(&panels, panels.len())
    }

    /// `scaling.csv` (every run), `scaling.json`, `scaling.md` (the tables), and figures: `scaling-samples.svg`, `scaling-rounds.svg` and
    /// `scaling-budget.svg` where there are such sweeps, and `scaling-tokens.svg`.
    ///
    /// # Errors
    /// `study.plot`: a figure cannot be drawn, or the study has no JSON form.
    pub fn artefacts(&self) -> Result<Vec<Artefact>, Failure> {
        let mut files = vec![
            Artefact::new("scaling.csv", self.every_run().csv()),
            Artefact::json("scaling.json", self)?,
            Artefact::new("scaling.md", self.page()),
            Artefact::new("scaling-tokens.svg", self.by_tokens()),
        ];
        let kinds: BTreeSet<Swept> = self.sweeps.iter().map(|result| result.sweep.of).collect();
        for of in kinds {
            let name = match of {
                Swept::Samples => "scaling-samples.svg",
                Swept::Rounds => "scaling-rounds.svg",
                Swept::Budget => "scaling-budget.svg",
            };
            files.push(Artefact::new(name, self.figure(of)));
        }
        Ok(files)
    }
}

fn percent(interval: Interval) -> String {
    format!("{:.1} to {:.1}", 100.0 * interval.low, 100.0 * interval.high)
}

fn unique<T: Ord>(items: impl Iterator<Item = T>) -> Vec<T> {
    items.collect::<BTreeSet<T>>().into_iter().collect()
}

fn panel(
    title: &str,
    y_label: &str,
    x_label: &str,
    shown: &[&SweepResult],
    at: impl Fn(&Point) -> f64,
    of: impl Fn(&Point) -> (f64, Interval),
) -> Panel {
    let series = shown.iter().enumerate().map(|(number, result)| Series {
        label: Some(result.sweep.label.clone()),
        style: Style::Number(number),
        points: result.points.iter().map(|point| (at(point), of(point).0)).collect(),
        band: result.points.iter().map(|point| (at(point), of(point).1.low, of(point).1.high)).collect(),
        errors: Vec::new(),
    });
    let series: Vec<Series> = series.collect();
    let most = series.iter().flat_map(|s| &s.points).map(|point| point.0).fold(0.0, f64::max);
    Panel {
        title: title.to_owned(),
        x_label: x_label.to_owned(),
        y_label: y_label.to_owned(),
        // A range of no extent cannot be drawn.
        x: (0.0, if most > 0.0 { 1.02 * most } else { 1.0 }),
        // Room for the legend above what is drawn.
        y: (0.0, 1.0 + 0.06 * (series.len() as f64 + 1.0)),
        series,
        legend_right: false,
    }
}

fn figures(point: &PointSpec, all: &[ScalingRun], seed: u64) -> Point {
    let mine = || all.iter().filter(|run| run.sweep == point.sweep && run.value == point.value);
    let runs: Vec<&ScalingRun> = mine().filter(|run| run.broke.is_none()).collect();
    let average = |values: Vec<f64>| mean(&values).map_or(0.0, |m| m.mean);
    let over_seeds = |figure: &dyn Fn(&ScalingRun) -> f64| {
        let mut by_seed: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for run in &runs {
            by_seed.entry(run.seed).or_default().push(figure(run));
        }
        let observed: Vec<f64> = by_seed.into_values().map(average).collect();
        let unknown = Interval { low: 0.0, high: 1.0 };
        let interval = bootstrap_mean(&observed, CONFIDENCE, RESAMPLES, seed).unwrap_or(unknown);
        (average(runs.iter().map(|run| figure(run)).collect()), interval)
    };
    let (success, success_interval) = over_seeds(&|run| f64::from(u8::from(run.is_success())));
    let (score, score_interval) = over_seeds(&|run| run.score);
    let equal = |wanted: Option<bool>| runs.iter().filter(|run| run.equal == wanted).count();
    Point {
        value: point.value,
        runs: runs.len(),
        broke: mine().count() - runs.len(),
        success,
        success_interval,
        score,
        score_interval,
        equal: [equal(Some(true)), equal(Some(false)), equal(None)],
        valid: runs.iter().filter(|run| run.valid).count(),
        calls: average(runs.iter().map(|run| run.calls as f64).collect()),
        tokens: average(runs.iter().map(|run| run.tokens as f64).collect()),
    }
}

/// The sweeps of a study: a TOML file of `[[sweep]]` tables.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScalingSpec {
    /// The sweeps, in the order of tables and legends.
    #[serde(rename = "sweep")]
    pub sweeps: Vec<Sweep>,
}

/// One line of a figure: a pipeline at several values of one key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sweep {
    /// Its name in tables and legends.
    pub label: String,
    /// The kind of its values, which selects its figure.
    pub of: Swept,
    /// The pipeline file, relative to the spec.
    pub pipeline: String,
    /// The key that takes the values, as `--set` names it.
    pub key: String,
    /// The values, ascending.
    pub values: Vec<u64>,
    /// Further `KEY=VALUE`, the same at every value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<String>,
    /// The pipeline for the value 0, if the swept pipeline cannot have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zero: Option<Zero>,
}

/// The point of a sweep at 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Zero {
    /// The pipeline file, relative to the spec.
    pub pipeline: String,
    /// `KEY=VALUE`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<String>,
}

/// The kind of a sweep's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Swept {
    /// Numbers of samples, N (Fig. 3).
    Samples,
    /// Numbers of rounds, T (Fig. 4 and 5).
    Rounds,
    Budget,
}

impl Swept {
    /// Below the x axis.
    const fn axis(self) -> &'static str {
        match self {
            Self::Samples => "N, samples",
            Self::Rounds => "T, rounds",
            Self::Budget => "budget, thousand tokens",
        }
    }
    /// Above a panel.
    const fn title(self) -> &'static str {
        match self {
            Self::Samples => "Fixed N",
            Self::Rounds => "Fixed T",
            Self::Budget => "Budget",
        }
    }
    /// In the table.
    const fn letter(self) -> &'static str {
        match self {
            Self::Samples => "N",
            Self::Rounds => "T",
            Self::Budget => "B",
        }
    }
}

/// One value of a sweep, to be run.
#[derive(Debug, Clone, PartialEq)]
pub struct PointSpec {
    /// The sweep's label.
    pub sweep: String,
    pub value: u64,
    /// The pipeline file, relative to the spec.
    pub pipeline: String,
    /// `KEY=VALUE`.
    pub set: Vec<String>,
}

impl ScalingSpec {
    /// Reads a specification.
    ///
    /// # Errors
    /// Invalid TOML, an unknown table, or every mistake that no run would show, one sentence each.
    pub fn read(text: &str) -> Result<Self, Vec<String>> {
        let spec: Self = toml::from_str(text).map_err(|error| vec![error.to_string()])?;
        spec.check().map(|()| spec)
    }

    fn check(&self) -> Result<(), Vec<String>> {
        let mut wrong = Vec::new();
        let mut labels = BTreeSet::new();
        for sweep in &self.sweeps {
            let label = &sweep.label;
            if !labels.insert(label) {
                wrong.push(format!("two sweeps are called `{label}`"));
            }
            if sweep.values.is_empty() && sweep.zero.is_none() {
                wrong.push(format!("the sweep `{label}` has no values"));
            }
            let ascends = sweep.values.is_sorted_by(|a, b| a < b);
            if !ascends || (sweep.zero.is_some() && sweep.values.first() == Some(&0)) {
                wrong.push(format!("the values of `{label}` must ascend, each once"));
            }
        }
        if self.sweeps.is_empty() {
            wrong.push("no [[sweep]] table".to_owned());
        }
        if wrong.is_empty() { Ok(()) } else { Err(wrong) }
    }

    /// All values of all sweeps, in order.
    pub fn points(&self) -> Vec<PointSpec> {
        self.sweeps.iter().flat_map(Sweep::points).collect()
    }
}

impl Sweep {
    fn points(&self) -> Vec<PointSpec> {
        let zero = self.zero.iter().map(|zero| (0, &zero.pipeline, zero.set.clone()));
        let values = self.values.iter().map(|value| {
            let swept = format!("{}={value}", self.key);
            (*value, &self.pipeline, self.set.iter().cloned().chain([swept]).collect())
        });
        let all = zero.chain(values);
        all.map(|(value, pipeline, set)| PointSpec {
            sweep: self.label.clone(),
            value,
            pipeline: pipeline.clone(),
            set,
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPEC: &str = r#"
[[sweep]]
label = "best of N"
of = "samples"
pipeline = "bon.toml"
key = "stage.domain.n"
values = [1, 8]
[[sweep]]
label = "rounds"
of = "rounds"
pipeline = "ivml.toml"
key = "stage.ivml.rounds"
values = [2]
set = ["stage.domain.n=8"]
zero = { pipeline = "bon.toml", set = ["stage.domain.n=8"] }
[[sweep]]
label = "budget"
of = "budget"
pipeline = "budget.toml"
key = "stage.search.budget.tokens"
values = [4000]
"#;

    fn run(sweep: &str, value: u64, suite: &str, seed: u64, right: bool) -> ScalingRun {
        ScalingRun {
            sweep: sweep.into(),
            value,
            suite: suite.into(),
            task: "p01".into(),
            seed,
            score: if right { 1.0 } else { 0.5 },
            equal: Some(right),
            valid: true,
            calls: value,
            tokens: 1000 * (value + 1),
            broke: None,
        }
    }

    fn study() -> ScalingStudy {
        let spec = ScalingSpec::read(SPEC).unwrap();
        let mut runs = Vec::new();
        for point in spec.points() {
            for seed in 0..10 {
                runs.push(run(&point.sweep, point.value, "parcels", seed, true));
                runs.push(run(&point.sweep, point.value, "garden", seed, seed % 2 == 0));
            }
        }
        let broke = Some("the server is down".to_owned());
        runs.push(ScalingRun { broke, ..run("best of N", 1, "garden", 99, false) });
        ScalingStudy::new("a simulation", &spec, runs, 7)
    }

    #[test]
    fn a_spec_is_a_list_of_points_and_its_mistakes_are_reported_together() {
        let spec = ScalingSpec::read(SPEC).unwrap();
        let points: Vec<(String, u64, String)> =
            spec.points().into_iter().map(|p| (p.pipeline, p.value, p.set.join(" "))).collect();
        let point = |pipeline: &str, value, set: &str| (pipeline.to_owned(), value, set.to_owned());
        assert_eq!(
            points,
            [
                point("bon.toml", 1, "stage.domain.n=1"),
                point("bon.toml", 8, "stage.domain.n=8"),
                point("bon.toml", 0, "stage.domain.n=8"),
                point("ivml.toml", 2, "stage.domain.n=8 stage.ivml.rounds=2"),
                point("budget.toml", 4000, "stage.search.budget.tokens=4000"),
            ]
        );
        let wrong = SPEC.replace("\"rounds\"\nof", "\"best of N\"\nof").replace("[1, 8]", "[8, 1]");
        assert_eq!(ScalingSpec::read(&wrong).unwrap_err().len(), 2);
        for wrong in ["", "sweep = []", &SPEC.replace("values", "valeus")] {
            assert_eq!(ScalingSpec::read(wrong).unwrap_err().len(), 1, "{wrong}");
        }
    }

    #[test]
    fn figures_are_means_and_intervals_are_over_seeds() {
        let study = study();
        let point = &study.sweeps[0].points[0];
        assert_eq!((point.runs, point.broke, point.valid), (20, 1, 20));
        assert_eq!((point.success, point.score, point.equal), (0.75, 0.875, [15, 5, 0]));
        // Seeds observe 1 and 1/2 in turn: a standard error of 0.25 / sqrt(10), about 0.08.
        let interval = point.success_interval;
        assert!((interval.low - 0.6).abs() < 0.04 && (interval.high - 0.9).abs() < 0.04, "{interval:?}");
        assert_eq!(point.tokens, 2000.0);
        let zero = &study.sweeps[1].points[0];
        assert_eq!((zero.value, zero.runs), (0, 20));
    }

    #[test]
    fn success_needs_every_decision() {
        let right = run("s", 1, "x", 1, true);
        assert!(right.is_success());
        assert!(ScalingRun { equal: None, ..right.clone() }.is_success());
        assert!(!ScalingRun { equal: Some(false), ..right.clone() }.is_success());
        assert!(!ScalingRun { valid: false, ..right.clone() }.is_success());
        assert!(!ScalingRun { score: 0.999, ..right }.is_success());
    }

    #[test]
    fn the_files_hold_every_run_and_state_that_it_is_simulated() {
        let files = study().artefacts().unwrap();
        let names: Vec<&str> = files.iter().map(|f| f.name.as_str()).collect();
        let figures =
            ["scaling-tokens.svg", "scaling-samples.svg", "scaling-rounds.svg", "scaling-budget.svg"];
        assert_eq!(names[..3], ["scaling.csv", "scaling.json", "scaling.md"]);
        assert_eq!(names[3..], figures);
        assert_eq!(files[0].contents.lines().count(), 102);
        assert!(files[2].contents.contains("simulated by a simulation"));
        assert!(files[2].contents.contains("| garden  |"), "{}", files[2].contents);
        assert!(files[3].contents.contains("best of N") && files[3].contents.starts_with("<svg"));
        let read: ScalingStudy = serde_json::from_str(&files[1].contents).unwrap();
        assert_eq!(read, study());
        assert_eq!(study().artefacts().unwrap(), files, "the same study, the same bytes");
    }
}
