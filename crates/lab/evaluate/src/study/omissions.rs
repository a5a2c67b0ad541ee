//! The rate at which a planner finds no plan after random omissions (exploration-walk paper, Section 4.2 and
//! Fig. 2a).
//!
//! A domain loses k terms (top-level conjuncts of preconditions and effects), each set of k being equally
//! likely; a planner then works on the suite's own problems. *Not found* is every outcome without a plan. A
//! search that a limit ended is open, so each figure is a pair: with such tasks counted as found, and as not
//! found.

use super::{StudyBudget, StudySuite, Watch, run_all, stream};
use crate::chart::{Panel, Series, Style, svg};
use crate::statistics::{Mean, mean};
use crate::sums::Artefact;
use crate::table::{Align, Table};
use planforge_contract::Failure;
use planforge_pddl::ast::Domain;
use planforge_pddl::mutate::{KeepPolicy, Omissions};
use planforge_planning::{GroundLimits, PlanOptions, SearchOutcome, plan};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The specification of the study.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OmissionsSpec {
    /// The seed of all draws.
    pub seed: u64,
    /// The largest number of terms removed; the study goes from 0 up to it.
    pub most: usize,
    /// Damaged domains for each number.
    pub draws: usize,
    /// Problems of each suite.
    pub tasks: usize,
    /// True if a removal leaves at least one term in each list.
    pub keep_one: bool,
    /// The evaluation limit of a search: nodes generated.
    pub max_nodes: u64,
    /// The evaluation limit of grounding: instances of actions, and as many atoms.
    pub max_instances: usize,
    /// The evaluation limit on the bytes that grounding and search ask for.
    pub max_bytes: u64,
}

impl Default for OmissionsSpec {
    fn default() -> Self {
        Self {
            seed: 42,
            most: 10,
            draws: 100,
            tasks: 5,
            keep_one: true,
            max_nodes: 10_000,
            max_instances: 100_000,
            max_bytes: 1 << 30,
        }
    }
}

/// Counts of planning outcomes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcomes {
    /// A plan (for the damaged domain; the true one may refuse it).
    pub found: u64,
    /// It was proven that there is none.
    pub unsolvable: u64,
    /// An evaluation limit was reached.
    pub limit: u64,
    /// The planner refused the task.
    pub refused: u64,
}

impl Outcomes {
    /// All tasks.
    pub fn all(&self) -> u64 {
        self.found + self.unsolvable + self.limit + self.refused
    }

    fn add(&mut self, other: &Self) {
        self.found += other.found;
        self.unsolvable += other.unsolvable;
        self.limit += other.limit;
        self.refused += other.refused;
    }

    /// The share of tasks without a plan, with limits counted as found.
    fn low(&self) -> f64 {
        (self.unsolvable + self.refused) as f64 / self.all().max(1) as f64
    }

    /// The same with limits counted as not found.
    fn high(&self) -> f64 {
        (self.all() - self.found) as f64 / self.all().max(1) as f64
    }
}

/// One suite after a number of omissions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OmissionsPoint {
    /// Terms removed.
    pub omitted: usize,
    /// Planner outcomes over all draws and tasks.
    pub outcomes: Outcomes,
    /// Plan-not-found rate over the draws, tasks at a limit counted as found.
    pub low: Mean,
    /// Plan-not-found rate over the draws, tasks at a limit counted as not found.
    pub high: Mean,
}

/// One suite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OmissionsCurve {
    pub suite: String,
    /// Its problems in the study.
    pub tasks: Vec<String>,
    /// Terms of its domain.
    pub terms: usize,
    /// The most terms that can be removed.
    pub most: usize,
    /// By number of terms removed; numbers that cannot be removed are left out.
    pub points: Vec<OmissionsPoint>,
}

/// The mean over suites after a number of omissions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OmissionsMean {
    /// Terms removed.
    pub omitted: usize,
    /// Mean of the suites' lower rates, each suite weighing the same.
    pub low: Mean,
    /// Mean of the suites' upper rates.
    pub high: Mean,
}

/// The result of the study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OmissionsStudy {
    /// Version of this document, 1.
    pub schema: u32,
    /// The specification.
    pub spec: OmissionsSpec,
    /// By suite.
    pub suites: Vec<OmissionsCurve>,
    /// Over all suites.
    pub mean: Vec<OmissionsMean>,
}

/// A damaged domain of a suite that planning has to be done for once, however often it was drawn.
struct OmissionWork<'a> {
    suite: &'a StudySuite,
    domain: Domain,
}

/// The draws of one suite: for each number of omissions the indices of their [`OmissionWork`].
struct Drawn {
    terms: usize,
    most: usize,
    draws: Vec<Vec<usize>>,
}

/// Runs the study.
///
/// # Errors
/// `study.cancelled`, `study.threads`.
pub fn omissions(
    suites: &[StudySuite],
    spec: &OmissionsSpec,
    threads: usize,
    watch: &Watch,
) -> Result<OmissionsStudy, Failure> {
    let mut work = Vec::new();
    let drawn: Vec<Drawn> = suites.iter().map(|suite| draw(suite, spec, &mut work)).collect();
    let outcomes = run_all(&work, threads, watch, |item| evaluate(item, spec, watch))?;
    let curves: Vec<OmissionsCurve> =
        suites.iter().zip(&drawn).map(|(suite, drawn)| curve(suite, drawn, &outcomes, spec)).collect();
    let mean = (0..=spec.most).filter_map(|omitted| over_suites(&curves, omitted)).collect();
    Ok(OmissionsStudy { schema: 1, spec: spec.clone(), suites: curves, mean })
}

fn draw<'a>(suite: &'a StudySuite, spec: &OmissionsSpec, work: &mut Vec<OmissionWork<'a>>) -> Drawn {
    let keep = if spec.keep_one { KeepPolicy::OneInEachList } else { KeepPolicy::Nothing };
    let omissions = Omissions::new(&suite.domain, keep);
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut draws = Vec::new();
    for k in 0..=spec.most.min(omissions.most()) {
        let draw_one = |number: usize| {
            let damaged =
                omissions.draw(k, &mut stream(spec.seed, &suite.name, &[k as u64, number as u64]))?;
            let removed: Vec<String> = damaged.omitted.iter().map(ToString::to_string).collect();
            let index = *known.entry(removed.join("\n")).or_insert_with(|| {
                work.push(OmissionWork { suite, domain: damaged.domain });
                work.len() - 1
            });
            Some(index)
        };
        draws.push((0..spec.draws).filter_map(draw_one).collect());
    }
    Drawn { terms: omissions.terms(), most: omissions.most(), draws }
}

fn evaluate(work: &OmissionWork<'_>, spec: &OmissionsSpec, watch: &Watch) -> Outcomes {
    let options = PlanOptions {
        max_nodes: spec.max_nodes,
        ground: GroundLimits {
            instances: spec.max_instances,
            atoms: spec.max_instances,
            ..GroundLimits::default()
        },
        ..PlanOptions::default()
    };
    let mut outcomes = Outcomes::default();
    for task in work.suite.tasks.iter().take(spec.tasks) {
        let mut budget = StudyBudget::new(watch, spec.max_bytes);
        let found = plan(&work.domain, &task.problem, &options, &mut budget).map(|result| result.outcome);
        match found {
            Ok(SearchOutcome::Plan(_)) => outcomes.found += 1,
            Ok(SearchOutcome::ProvenUnsolvable(_)) => outcomes.unsolvable += 1,
            Ok(SearchOutcome::Exhausted | SearchOutcome::LimitReached(_)) => outcomes.limit += 1,
            Ok(SearchOutcome::Unsupported(_)) | Err(_) => outcomes.refused += 1,
        }
    }
    outcomes
}

fn curve(suite: &StudySuite, drawn: &Drawn, outcomes: &[Outcomes], spec: &OmissionsSpec) -> OmissionsCurve {
    let points = drawn.draws.iter().enumerate().filter_map(|(omitted, draws)| {
        let of_draws: Vec<Outcomes> = draws.iter().filter_map(|&i| outcomes.get(i).copied()).collect();
        let mut sum = Outcomes::default();
        of_draws.iter().for_each(|o| sum.add(o));
        let low = mean(&of_draws.iter().map(Outcomes::low).collect::<Vec<_>>())?;
        let high = mean(&of_draws.iter().map(Outcomes::high).collect::<Vec<_>>())?;
        Some(OmissionsPoint { omitted, outcomes: sum, low, high })
    });
    OmissionsCurve {
        suite: suite.name.clone(),
        tasks: suite.tasks.iter().take(spec.tasks).map(|t| t.stem.clone()).collect(),
        terms: drawn.terms,
        most: drawn.most,
        points: points.collect(),
    }
}

fn over_suites(curves: &[OmissionsCurve], omitted: usize) -> Option<OmissionsMean> {
    let points = || curves.iter().filter_map(|c| c.points.iter().find(|p| p.omitted == omitted));
    let low = mean(&points().map(|p| p.low.mean).collect::<Vec<_>>())?;
    let high = mean(&points().map(|p| p.high.mean).collect::<Vec<_>>())?;
    Some(OmissionsMean { omitted, low, high })
}

impl OmissionsStudy {
    /// The study's files: CSV, text, JSON and the figure.
    ///
    /// # Errors
    /// `study.plot`: the figure cannot be drawn.
    pub fn artefacts(&self) -> Result<Vec<Artefact>, Failure> {
        Ok(vec![
            Artefact::new("omissions.csv", self.csv()),
            Artefact::new("omissions.md", self.markdown()),
            Artefact::json("omissions.json", self)?,
            Artefact::new("omissions.svg", svg(&[self.figure()], 1)),
        ])
    }

    /// One line a suite and number of omissions.
    pub fn csv(&self) -> String {
        let words = ["suite"].map(|name| (name, Align::Left));
        let numbers = [
            "omitted",
            "draws",
            "tasks",
            "found",
            "unsolvable",
            "limit",
            "refused",
            "not_found_low",
            "not_found_low_se",
            "not_found_high",
            "not_found_high_se",
        ];
        let mut table = Table::new(words.into_iter().chain(numbers.map(|name| (name, Align::Right))));
        for curve in &self.suites {
            for point in &curve.points {
                let o = &point.outcomes;
                let counts = [point.omitted as u64, point.low.n as u64, curve.tasks.len() as u64];
                let outcomes = [o.found, o.unsolvable, o.limit, o.refused];
                let rates = [point.low, point.high].map(|m| [Some(m.mean), m.standard_error]);
                let mut row = vec![curve.suite.clone()];
                row.extend(counts.iter().chain(&outcomes).map(ToString::to_string));
                row.extend(rates.iter().flatten().map(|r| r.map_or(String::new(), |r| format!("{r:.4}"))));
                table.row(row);
            }
        }
        table.csv()
    }

    /// The plan-not-found rates as in Fig. 2a: a row a suite, a column a number of omissions.
    pub fn table(&self) -> Table {
        let numbers = (0..=self.spec.most).map(|k| (k.to_string(), Align::Right));
        let mut table = Table::new([("suite".to_owned(), Align::Left)].into_iter().chain(numbers));
        for curve in &self.suites {
            let cell = |k: usize| curve.points.iter().find(|p| p.omitted == k).map(|p| (p.low, p.high));
            table.row(self.row(&curve.suite, cell));
        }
        table.row(self.row("mean", |k| self.mean.iter().find(|m| m.omitted == k).map(|m| (m.low, m.high))));
        // A suite that cannot lose so many terms is not in the mean.
        let counted = |k: usize| self.mean.iter().find(|m| m.omitted == k).map_or(0, |m| m.low.n).to_string();
        table.row(["suites in it".to_owned()].into_iter().chain((0..=self.spec.most).map(counted)));
        table
    }

    fn row(&self, name: &str, cell: impl Fn(usize) -> Option<(Mean, Mean)>) -> Vec<String> {
        let cells = (0..=self.spec.most).map(|k| match cell(k) {
            Some((low, high)) => band(low.mean, high.mean),
            None => "-".to_owned(),
        });
        [name.to_owned()].into_iter().chain(cells).collect()
    }

    /// The table with remarks.
    pub fn markdown(&self) -> String {
        let spec = &self.spec;
        let keep = if spec.keep_one { "leaves at least one term in each list" } else { "may empty a list" };
        format!(
            "Plan-not-found rate after k random omissions (exploration-walk paper, Fig. 2a). {} draws for each k (seed {}), the \
             first {} problems of each suite; a removal {keep}. Greedy search, at most {} nodes, {} ground instances and {} MiB. \
             Two figures in a cell: tasks at a limit counted as found, and as not found; `-`: so many terms cannot be removed.\n\n{}",
            spec.draws,
            spec.seed,
            spec.tasks,
            spec.max_nodes,
            spec.max_instances,
            spec.max_bytes >> 20,
            self.table().markdown()
        )
    }

    fn figure(&self) -> Panel {
        let series = |style, label, points: Vec<(usize, f64, f64)>| Series {
            label,
            style,
            points: points.iter().map(|&(k, low, high)| (k as f64, f64::midpoint(low, high))).collect(),
            band: points
                .iter()
                .filter(|_| points.iter().any(|(_, low, high)| high > low))
                .map(|&(k, low, high)| (k as f64, low, high))
                .collect(),
            errors: Vec::new(),
        };
        let of_suite = |curve: &OmissionsCurve| {
            let points = curve.points.iter().map(|p| (p.omitted, p.low.mean, p.high.mean)).collect();
            series(Style::Grey, None, points)
        };
        let of_mean = self.mean.iter().map(|m| (m.omitted, m.low.mean, m.high.mean)).collect();
        let label = "mean over suites".to_owned();
        let mean = series(Style::Red, Some(label), of_mean);
        Panel {
            title: "Plan not found after random omissions".to_owned(),
            x_label: "terms removed".to_owned(),
            y_label: "plan-not-found rate".to_owned(),
            x: (0.0, self.spec.most.max(1) as f64),
            y: (0.0, 1.0),
            series: self.suites.iter().map(of_suite).chain([mean]).collect(),
            legend_right: false,
        }
    }
}

/// One figure where both ends read the same, otherwise both.
fn band(low: f64, high: f64) -> String {
    let (low, high) = (format!("{low:.2}"), format!("{high:.2}"));
    if low == high { low } else { format!("{low}-{high}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::load_suites;
    use std::path::Path;

    fn garden() -> Vec<StudySuite> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/suites/garden");
        load_suites(&[path], 2).unwrap()
    }

    fn small() -> OmissionsSpec {
        OmissionsSpec { most: 4, draws: 12, tasks: 2, ..OmissionsSpec::default() }
    }

    #[test]
    fn an_undamaged_domain_is_solved_and_damage_costs_plans() {
        let study = omissions(&garden(), &small(), 2, &Watch::default()).unwrap();
        let points = &study.suites[0].points;
        assert_eq!(points.len(), 5);
        assert_eq!((points[0].outcomes.found, points[0].outcomes.all()), (24, 24));
        assert_eq!((points[0].low.mean, points[0].high.mean), (0.0, 0.0));
        let lost: f64 = points[1..].iter().map(|p| p.low.mean).sum();
        assert!(lost > 0.0, "some omission must leave no plan: {points:?}");
        assert!(points.iter().all(|p| p.low.mean <= p.high.mean && p.outcomes.all() == 24));
        assert_eq!(study.mean.len(), 5);
    }

    #[test]
    fn limits_widen_the_band_and_give_no_verdict() {
        let spec = OmissionsSpec { max_nodes: 1, most: 0, ..small() };
        let study = omissions(&garden(), &spec, 1, &Watch::default()).unwrap();
        let point = &study.suites[0].points[0];
        assert_eq!(point.outcomes.limit, point.outcomes.all(), "{point:?}");
        assert_eq!((point.low.mean, point.high.mean), (0.0, 1.0));
        assert!(study.markdown().contains("0.00-1.00"));
    }

    #[test]
    fn the_number_of_threads_changes_nothing() {
        let suites = garden();
        let one = omissions(&suites, &small(), 1, &Watch::default()).unwrap();
        let four = omissions(&suites, &small(), 4, &Watch::default()).unwrap();
        assert_eq!(one, four);
        assert_eq!(one.artefacts().unwrap(), four.artefacts().unwrap());
        let other = OmissionsSpec { seed: 43, ..small() };
        assert_ne!(omissions(&suites, &other, 1, &Watch::default()).unwrap().suites, one.suites);
    }

    #[test]
    fn each_file_says_the_same() {
        let study = omissions(&garden(), &small(), 2, &Watch::default()).unwrap();
        let files = study.artefacts().unwrap();
        let names: Vec<&str> = files.iter().map(|f| f.name.as_str()).collect();
        assert_eq!(names, ["omissions.csv", "omissions.md", "omissions.json", "omissions.svg"]);
        assert_eq!(files[0].contents.lines().count(), 6, "{}", files[0].contents);
        assert!(files[0].contents.starts_with("suite,omitted,draws,tasks,found,"));
        assert!(files[1].contents.contains("| garden       |"), "{}", files[1].contents);
        assert!(files[1].contents.contains("| suites in it |    1 |"), "{}", files[1].contents);
        let read: OmissionsStudy = serde_json::from_str(&files[2].contents).unwrap();
        assert_eq!(read.suites[0].points.len(), study.suites[0].points.len());
        assert!(files[3].contents.contains("plan-not-found rate"));
    }
}
