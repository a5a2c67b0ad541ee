//! The walk metric by the number of terms in which two domains differ (exploration-walk paper, Section 4.3,
//! Fig. 2b and Fig. 4).
//!
//! Both domains of a pair are damaged: each has lost 6 or 7 of the true domain's terms, chosen so that they
//! differ in exactly d terms, all such pairs being equally likely. A pair's score is Eq. 2 over the suite's
//! problems.

use super::{StudyBudget, StudySuite, Watch, run_all, stream};
use crate::chart::{Panel, Series, Style, svg};
use crate::statistics::{Correlation, Mean, correlation, mean};
use crate::sums::Artefact;
use crate::table::{Align, Table};
use planforge_contract::Failure;
use planforge_pddl::ast::{Domain, Problem};
use planforge_pddl::mutate::{KeepPolicy, Omissions, PairSampler};
use planforge_pddl::random::Random;
use planforge_planning::GroundLimits;
use planforge_planning::walk::{
    DeadEnds, GroundingMethod, Model, ModelError, ModelOptions, SampleSpec, Semantics, TaskDirections,
    WalkPolicy, WalkScore, sample_direction,
};
use serde::{Deserialize, Serialize};

/// The specification of the study.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CorrelationSpec {
    /// The seed of all draws.
    pub seed: u64,
    /// The largest difference; the study goes from 1 up to it.
    pub most: usize,
    /// Pairs for each difference.
    pub pairs: usize,
    /// Problems of each suite.
    pub tasks: usize,
    /// The fewest and the most terms that a domain of a pair has lost.
    pub lost: (usize, usize),
    /// The metric.
    pub metric: WalkMetric,
    /// The longest walk.
    pub t_max: u32,
    /// Walks of each length, direction and problem.
    pub walks_per_length: u32,
    /// The evaluation limit of grounding: instances of actions, and as many atoms.
    pub max_instances: usize,
    /// The evaluation limit on the bytes that grounding and walking ask for.
    pub max_bytes: u64,
}

impl Default for CorrelationSpec {
    fn default() -> Self {
        Self {
            seed: 42,
            most: 12,
            pairs: 100,
            tasks: 5,
            lost: (6, 7),
            metric: WalkMetric::ReferenceCode,
            t_max: 10,
            walks_per_length: 5,
            max_instances: 500_000,
            max_bytes: 1 << 30,
        }
    }
}

/// The variant of the metric: the paper's, or that of its code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WalkMetric {
    /// As the paper's code: ground actions that change nothing are illegal, a walk ends at a dead end.
    ReferenceCode,
    /// As Definition 1: STRIPS semantics, walks of exactly their length.
    Definition,
}

impl WalkMetric {
    fn semantics(self) -> Semantics {
        match self {
            Self::ReferenceCode => Semantics::GroundNoOpsDropped,
            Self::Definition => Semantics::Strips,
        }
    }
    fn dead_ends(self) -> DeadEnds {
        match self {
            Self::ReferenceCode => DeadEnds::Truncate,
            Self::Definition => DeadEnds::CONDITION,
        }
    }
    /// The name in options and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ReferenceCode => "reference-code",
            Self::Definition => "definition",
        }
    }
}

/// The pairs of one suite that differ in one number of terms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CorrelationPoint {
    /// Terms in which the two domains of a pair differ.
    pub difference: usize,
    /// The score over the pairs that have one; absent where none has.
    pub score: Option<Mean>,
    /// Pairs whose score is not defined: one side has no applicable action in some problem.
    pub undefined: usize,
    /// Pairs for which an evaluation limit was reached.
    pub limit: usize,
    /// Pairs with constructs that are not walked in.
    pub refused: usize,
    /// The scores by pair.
    pub scores: Vec<f64>,
}

/// One suite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CorrelationCurve {
    pub suite: String,
    /// Its problems in the study.
    pub tasks: Vec<String>,
    /// Terms of its domain.
    pub terms: usize,
    /// By difference; differences that no pair has are left out.
    pub points: Vec<CorrelationPoint>,
    /// Rank correlation of difference and score over all pairs.
    pub over_pairs: Correlation,
    /// Rank correlation of difference and mean score.
    pub over_means: Correlation,
}

/// The result of the study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CorrelationStudy {
    /// Version of this document, 1.
    pub schema: u32,
    /// The specification.
    pub spec: CorrelationSpec,
    /// By suite.
    pub suites: Vec<CorrelationCurve>,
}

/// A pair to be drawn and scored.
struct PairWork<'a> {
    suite: &'a StudySuite,
    difference: usize,
    number: usize,
    /// One for each way in which the terms lost can be divided.
    samplers: &'a [PairSampler<'a>],
}

/// The result of a pair.
#[derive(Clone, Copy)]
enum Scored {
    Score(f64),
    Undefined,
    Limit,
    Refused,
}

/// Runs the study.
///
/// # Errors
/// `study.cancelled`, `study.threads`.
pub fn ew_correlation(
    suites: &[StudySuite],
    spec: &CorrelationSpec,
    threads: usize,
    watch: &Watch,
) -> Result<CorrelationStudy, Failure> {
    let omissions: Vec<Omissions<'_>> =
        suites.iter().map(|suite| Omissions::new(&suite.domain, KeepPolicy::OneInEachList)).collect();
    let samplers: Vec<Vec<Vec<PairSampler<'_>>>> = omissions
        .iter()
        .map(|omissions| {
            (1..=spec.most).map(|difference| all_samplers(omissions, spec, difference)).collect()
        })
        .collect();
    let mut work = Vec::new();
    for (suite, samplers) in suites.iter().zip(&samplers) {
        for (difference, samplers) in (1..).zip(samplers).filter(|(_, samplers)| !samplers.is_empty()) {
            work.extend((0..spec.pairs).map(|number| PairWork { suite, difference, number, samplers }));
        }
    }
    let scored = run_all(&work, threads, watch, |item| score(item, spec, watch))?;
    let done: Vec<(&PairWork<'_>, Scored)> = work.iter().zip(scored).collect();
    let curves = suites.iter().zip(&omissions).map(|(suite, omissions)| {
        let own: Vec<_> = done.iter().filter(|(work, _)| work.suite.name == suite.name).copied().collect();
        curve(suite, omissions.terms(), &own, spec)
    });
    Ok(CorrelationStudy { schema: 1, spec: spec.clone(), suites: curves.collect() })
}

/// For each way to divide the losses in which such a difference is possible. The score is symmetric, so the first domain
/// never loses more than the second.
fn all_samplers<'a>(
    omissions: &'a Omissions<'a>,
    spec: &CorrelationSpec,
    difference: usize,
) -> Vec<PairSampler<'a>> {
    let (fewest, most) = spec.lost;
    (fewest..=most)
        .flat_map(|first| (first..=most).map(move |second| (first, second)))
        .filter_map(|(first, second)| omissions.sampler(first, second, difference))
        .collect()
}

fn score(work: &PairWork<'_>, spec: &CorrelationSpec, watch: &Watch) -> Scored {
    let place = [work.difference as u64, work.number as u64];
    let mut random = stream(spec.seed, &work.suite.name, &place);
    let Some(sampler) = random.pick(work.samplers) else { return Scored::Undefined };
    let (first, second) = sampler.draw(&mut random);
    let mut tasks = Vec::new();
    for task in work.suite.tasks.iter().take(spec.tasks) {
        match directions(&first.domain, &second.domain, &task.problem, spec, &mut random, watch) {
            Ok(directions) => tasks.push(directions),
            Err(ModelError::Limit(_)) => return Scored::Limit,
            Err(ModelError::Invalid(_) | ModelError::Unsupported(_)) => return Scored::Refused,
        }
    }
    WalkScore::combine(&tasks).score.map_or(Scored::Undefined, Scored::Score)
}

fn directions(
    first: &Domain,
    second: &Domain,
    problem: &Problem,
    spec: &CorrelationSpec,
    random: &mut Random,
    watch: &Watch,
) -> Result<TaskDirections, ModelError> {
    let options = ModelOptions {
        semantics: spec.metric.semantics(),
        ground: GroundLimits {
            instances: spec.max_instances,
            atoms: spec.max_instances,
            ..GroundLimits::default()
        },
        // Damage makes many actions applicable at once; listing them anew in each state takes longer than grounding once.
        method: GroundingMethod::Ground,
    };
    let mut budget = StudyBudget::new(watch, spec.max_bytes);
    let first = Model::new(first, problem, &options, &mut budget)?;
    let second = Model::new(second, problem, &options, &mut budget)?;
    let mut one_sided = |source: &Model, target: &Model| {
        let sample = SampleSpec {
            t_max: spec.t_max,
            walks_per_length: spec.walks_per_length,
            seed: random.next_u64(),
            dead_ends: spec.metric.dead_ends(),
            policy: WalkPolicy::Uniform,
        };
        let sampled = sample_direction(source, target, &sample, &mut budget).map_err(ModelError::Limit)?;
        Ok(sampled.and_then(|sample| sample.score()))
    };
    Ok(TaskDirections {
        reference_to_candidate: one_sided(&first, &second)?,
        candidate_to_reference: one_sided(&second, &first)?,
    })
}

fn curve(
    suite: &StudySuite,
    terms: usize,
    done: &[(&PairWork<'_>, Scored)],
    spec: &CorrelationSpec,
) -> CorrelationCurve {
    let points: Vec<CorrelationPoint> =
        (1..=spec.most).filter_map(|difference| point(done, difference)).collect();
    let x = |point: &CorrelationPoint| point.difference as f64;
    let pairs: Vec<(f64, f64)> =
        points.iter().flat_map(|p| p.scores.iter().map(move |&score| (x(p), score))).collect();
    let means: Vec<(f64, f64)> = points.iter().filter_map(|p| Some((x(p), p.score?.mean))).collect();
    CorrelationCurve {
        suite: suite.name.clone(),
        tasks: suite.tasks.iter().take(spec.tasks).map(|t| t.stem.clone()).collect(),
        terms,
        points,
        over_pairs: correlation(&pairs),
        over_means: correlation(&means),
    }
}

fn point(done: &[(&PairWork<'_>, Scored)], difference: usize) -> Option<CorrelationPoint> {
    let mut point =
        CorrelationPoint { difference, score: None, undefined: 0, limit: 0, refused: 0, scores: Vec::new() };
    for (_, scored) in done.iter().filter(|(work, _)| work.difference == difference) {
        match scored {
            Scored::Score(score) => point.scores.push(*score),
            Scored::Undefined => point.undefined += 1,
            Scored::Limit => point.limit += 1,
            Scored::Refused => point.refused += 1,
        }
    }
    point.score = mean(&point.scores);
    (point.scores.len() + point.not_scored() > 0).then_some(point)
}

impl CorrelationPoint {
    /// Pairs without a score, for whatever reason.
    pub fn not_scored(&self) -> usize {
        self.undefined + self.limit + self.refused
    }
}

impl CorrelationStudy {
    /// The study's files: CSV by difference and by pair, text, JSON, a figure of some suites (Fig. 2b; at most six, the first where
    /// `shown` names none) and one of all (Fig. 4).
    ///
    /// # Errors
    /// `study.plot`: a figure cannot be drawn.
    pub fn artefacts(&self, shown: &[String]) -> Result<Vec<Artefact>, Failure> {
        let panels: Vec<Panel> = self.suites.iter().map(|curve| self.panel(curve)).collect();
        Ok(vec![
            Artefact::new("ew-correlation.csv", self.csv()),
            Artefact::new("ew-correlation-pairs.csv", self.pairs_csv()),
            Artefact::new("ew-correlation.md", self.markdown()),
            Artefact::json("ew-correlation.json", self)?,
            Artefact::new("ew-correlation.svg", svg(&[self.figure(shown)], 1)),
            Artefact::new("ew-correlation-all.svg", svg(&panels, 3)),
        ])
    }

    /// One line a suite and difference.
    pub fn csv(&self) -> String {
        let columns =
            ["difference", "pairs", "mean_score", "standard_error", "undefined", "limit", "refused"]
                .map(|name| (name, Align::Right));
        let mut table = Table::new([("suite", Align::Left)].into_iter().chain(columns));
        for (curve, point) in self.suites.iter().flat_map(|c| c.points.iter().map(move |p| (c, p))) {
            let figure = |value: Option<f64>| value.map_or(String::new(), |v| format!("{v:.6}"));
            table.row([
                curve.suite.clone(),
                point.difference.to_string(),
                point.scores.len().to_string(),
                figure(point.score.map(|s| s.mean)),
                figure(point.score.and_then(|s| s.standard_error)),
                point.undefined.to_string(),
                point.limit.to_string(),
                point.refused.to_string(),
            ]);
        }
        table.csv()
    }

    /// One line a pair that has a score.
    pub fn pairs_csv(&self) -> String {
        let mut table =
            Table::new([("suite", Align::Left), ("difference", Align::Right), ("score", Align::Right)]);
        for (curve, point) in self.suites.iter().flat_map(|c| c.points.iter().map(move |p| (c, p))) {
            for score in &point.scores {
                table.row([curve.suite.clone(), point.difference.to_string(), format!("{score:.6}")]);
            }
        }
        table.csv()
    }

    /// Mean scores, a row a suite and a column a difference, with the rank correlations.
    pub fn table(&self) -> Table {
        let differences = (1..=self.spec.most).map(|d| (d.to_string(), Align::Right));
        let coefficients = ["rho", "tau", "rho of means", "not scored"].map(|n| (n.to_owned(), Align::Right));
        let mut table = Table::new(
            [("suite".to_owned(), Align::Left)].into_iter().chain(differences).chain(coefficients),
        );
        for curve in &self.suites {
            let figure = |value: Option<f64>| value.map_or("-".to_owned(), |v| format!("{v:.2}"));
            let at = |d: usize| curve.points.iter().find(|p| p.difference == d).and_then(|p| p.score);
            let mut row = vec![curve.suite.clone()];
            row.extend((1..=self.spec.most).map(|d| figure(at(d).map(|s| s.mean))));
            row.extend(
                [curve.over_pairs.spearman, curve.over_pairs.kendall, curve.over_means.spearman].map(figure),
            );
            row.push(curve.points.iter().map(CorrelationPoint::not_scored).sum::<usize>().to_string());
            table.row(row);
        }
        table
    }

    /// The table with remarks.
    pub fn markdown(&self) -> String {
        let spec = &self.spec;
        format!(
            "Mean walk score of pairs of damaged domains by the number of terms in which they differ (exploration-walk paper, \
             Fig. 2b and 4). {} pairs for each difference (seed {}); each domain of a pair has lost {} to {} terms, at least one is \
             left in each list. Metric: {}, {} walks of each length 1 to {} a direction, Eq. 2 over the first {} problems. `rho` and \
             `tau`: Spearman's and Kendall's rank correlation of difference and score over all pairs; `rho of means`: of the row. \
             `-`: no such pair. `not scored`: pairs whose score is not defined or for which a limit was reached ({} ground instances, {} MiB).\n\n{}",
            spec.pairs,
            spec.seed,
            spec.lost.0,
            spec.lost.1,
            spec.metric.name(),
            spec.walks_per_length,
            spec.t_max,
            spec.tasks,
            spec.max_instances,
            spec.max_bytes >> 20,
            self.table().markdown()
        )
    }

    fn figure(&self, shown: &[String]) -> Panel {
        let chosen = self.suites.iter().filter(|c| !c.points.is_empty());
        let chosen = chosen.filter(|c| shown.is_empty() || shown.contains(&c.suite)).take(6);
        let series = chosen.enumerate().map(|(number, curve)| Series {
            label: Some(curve.suite.clone()),
            style: Style::Number(number),
            ..line(curve)
        });
        Panel {
            title: "Walk score and difference of domains".to_owned(),
            series: series.collect(),
            ..self.frame()
        }
    }

    fn panel(&self, curve: &CorrelationCurve) -> Panel {
        let rho = curve.over_pairs.spearman.map_or("no pairs".to_owned(), |rho| format!("rho {rho:.2}"));
        Panel {
            title: format!("{} ({rho})", curve.suite),
            series: vec![Series { style: Style::Number(0), ..line(curve) }],
            ..self.frame()
        }
    }

    fn frame(&self) -> Panel {
        Panel {
            x_label: "terms that differ".to_owned(),
            y_label: "mean walk score".to_owned(),
            x: (0.0, self.spec.most as f64 + 1.0),
            y: (0.0, 1.0),
            legend_right: true,
            ..Panel::default()
        }
    }
}

/// Means with their standard errors.
fn line(curve: &CorrelationCurve) -> Series {
    let scored = || curve.points.iter().filter_map(|p| Some((p.difference as f64, p.score?)));
    Series {
        points: scored().map(|(x, score)| (x, score.mean)).collect(),
        errors: scored().map(|(_, score)| score.standard_error.unwrap_or(0.0)).collect(),
        ..Series::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::load_suites;
    use std::path::Path;

    fn suites() -> Vec<StudySuite> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/suites");
        load_suites(&[folder.join("garden"), folder.join("parcels")], 1).unwrap()
    }

    fn small() -> CorrelationSpec {
        CorrelationSpec { most: 4, pairs: 30, tasks: 1, lost: (2, 3), ..CorrelationSpec::default() }
    }

    #[test]
    fn the_score_falls_with_the_difference() {
        let study = ew_correlation(&suites(), &small(), 2, &Watch::default()).unwrap();
        for curve in &study.suites {
            assert_eq!(curve.points.len(), 4, "{}", curve.suite);
            for point in &curve.points {
                assert_eq!(point.scores.len() + point.not_scored(), 30);
                assert!(point.scores.iter().all(|s| (0.0..=1.0).contains(s)));
            }
            assert!(curve.over_pairs.spearman.unwrap() < 0.0, "{}: {:?}", curve.suite, curve.over_pairs);
            let means: Vec<f64> = curve.points.iter().map(|p| p.score.unwrap().mean).collect();
            assert!(means[0] > means[3], "{}: {means:?}", curve.suite);
        }
    }

    #[test]
    fn both_metrics_run_and_the_number_of_threads_changes_nothing() {
        let suites = suites();
        let one = ew_correlation(&suites, &small(), 1, &Watch::default()).unwrap();
        assert_eq!(ew_correlation(&suites, &small(), 4, &Watch::default()).unwrap(), one);
        let spec = CorrelationSpec { metric: WalkMetric::Definition, ..small() };
        let other = ew_correlation(&suites, &spec, 2, &Watch::default()).unwrap();
        assert!(other.markdown().contains("Metric: definition"));
        assert_ne!(other.suites, one.suites, "the two readings differ on suites with dead ends or no-ops");
    }

    #[test]
    fn a_limit_gives_no_score() {
        let spec = CorrelationSpec { max_instances: 1, pairs: 2, ..small() };
        let study = ew_correlation(&suites()[..1], &spec, 1, &Watch::default()).unwrap();
        let point = &study.suites[0].points[0];
        assert_eq!((point.score, point.limit), (None, 2));
        assert_eq!(study.suites[0].over_pairs, Correlation::default());
    }

    #[test]
    fn differences_that_no_pair_has_are_left_out() {
        let spec = CorrelationSpec { lost: (2, 2), pairs: 3, most: 5, ..small() };
        let study = ew_correlation(&suites()[..1], &spec, 1, &Watch::default()).unwrap();
        let found: Vec<usize> = study.suites[0].points.iter().map(|p| p.difference).collect();
        assert_eq!(found, [2, 4], "two losses of two terms differ in an even number, at most four");
        let files = study.artefacts(&[]).unwrap();
        assert_eq!(files.len(), 6);
        assert!(files[2].contents.contains("| garden |"), "{}", files[2].contents);
        assert_eq!(files[1].contents.lines().count(), 7);
        assert!(files[5].contents.contains("garden (rho"));
    }
}
