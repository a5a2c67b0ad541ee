//! Counts of judgements.

use super::CalibrationSpec;
use super::mutants::{Mutant, MutantKind};
use super::verifier::{JudgedMutant, Judgement, Label, ShownBy};
use crate::statistics::{Confusion, Interval, wilson};
use crate::study::StudySuite;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// Judgements on labelled mutants.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Verdicts against labels; equal is good.
    pub verdicts: Confusion,
    /// Mutants that it could not tell.
    pub undecided: u64,
    /// Mutants that it broke on.
    pub failed: u64,
}

impl Tally {
    fn add(&mut self, label: &Label, judgement: &Judgement) {
        let verdicts = &mut self.verdicts;
        let count = match (label, judgement) {
            (Label::Undecided(_), _) => return,
            (_, Judgement::Undecided(_)) => &mut self.undecided,
            (_, Judgement::Failed(_)) => &mut self.failed,
            (Label::Equal, Judgement::Accepts) => &mut verdicts.good_accepted,
            (Label::Equal, Judgement::Rejects) => &mut verdicts.good_rejected,
            (Label::Different { .. }, Judgement::Accepts) => &mut verdicts.bad_accepted,
            (Label::Different { .. }, Judgement::Rejects) => &mut verdicts.bad_rejected,
        };
        *count += 1;
    }

    /// Different mutants that it accepts, of those that it has a verdict on.
    pub fn false_accepts(&self) -> (u64, u64) {
        (self.verdicts.bad_accepted, self.verdicts.bad_accepted + self.verdicts.bad_rejected)
    }

    /// Equal mutants that it rejects, of those that it has a verdict on.
    pub fn false_rejects(&self) -> (u64, u64) {
        (self.verdicts.good_rejected, self.verdicts.good_accepted + self.verdicts.good_rejected)
    }
}

/// Time for the judgements of one verifier, all mutants together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    pub judgements: usize,
    /// The median, in milliseconds.
    pub median_ms: f64,
    /// The mean, in milliseconds.
    pub mean_ms: f64,
    /// The sum, in seconds.
    pub total_s: f64,
}

impl Cost {
    fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let Some(&upper) = times.get(times.len() / 2) else { return Self::default() };
        let lower = times[(times.len() - 1) / 2];
        let total: f64 = times.iter().map(Duration::as_secs_f64).sum();
        Self {
            judgements: times.len(),
            median_ms: (lower + upper).as_secs_f64() * 500.0,
            mean_ms: total * 1000.0 / times.len() as f64,
            total_s: total,
        }
    }
}

/// Figures of one verifier.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    pub verifier: String,
    /// The plugin and options, or the command, that ask the same question elsewhere.
    pub elsewhere: String,
    /// Its judgements.
    pub tally: Tally,
    /// Wilson's interval of the share of different mutants that it accepts.
    pub false_accept_interval: Interval,
    /// Wilson's interval of the share of equal mutants that it rejects.
    pub false_reject_interval: Interval,
    /// Cohen's kappa of its verdicts and the labels.
    pub kappa: Option<f64>,
    /// Kappa's interval.
    pub kappa_interval: Option<Interval>,
    /// Its cost: reading and grounding of the mutant included, work on the reference excluded.
    pub cost: Cost,
}

/// One kind of mutant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindRow {
    pub kind: MutantKind,
    /// Mutants that are equal to their reference.
    pub equal: u64,
    /// Mutants that are different.
    pub different: u64,
    /// Mutants whose comparison was left open.
    pub undecided: u64,
    /// By verifier, in the order of [`Calibration::verifiers`].
    pub tallies: Vec<Tally>,
}

/// Different mutants by what shows the difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DifferenceRow {
    /// The kind of difference.
    pub by: ShownBy,
    /// True if it takes more steps than the longest walk has.
    pub beyond_walks: bool,
    pub mutants: u64,
    /// By verifier, in the order of [`Calibration::verifiers`].
    pub tallies: Vec<Tally>,
}

/// One mutant with all judgements of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MutantRow {
    pub suite: String,
    /// Its number in the suite.
    pub number: usize,
    /// The kind of the mutant.
    pub kind: MutantKind,
    /// The change, in words.
    pub change: String,
    /// The label.
    pub label: Label,
    /// By verifier.
    pub judgements: BTreeMap<String, Judgement>,
}

/// A suite's part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuiteRow {
    pub suite: String,
    /// The problems that labels and verifiers rest on.
    pub problems: Vec<String>,
    pub mutants: u64,
}

/// Judgements of an external verifier, such as a model, on some of the mutants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherJudgements {
    /// Its name in tables.
    pub name: String,
    /// The name of the external verifier.
    pub elsewhere: String,
    /// Index of the mutant, the judgement, and its time.
    pub judgements: Vec<(usize, Judgement, Duration)>,
}

/// A calibration: what every verifier is worth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Version of this document, 1.
    pub schema: u32,
    /// The specification.
    pub spec: CalibrationSpec,
    /// By suite.
    pub suites: Vec<SuiteRow>,
    /// Mutants that are equal to their reference, different, and left open.
    pub labels: [u64; 3],
    /// Cost of the labels.
    pub label_cost: Cost,
    pub verifiers: Vec<Figures>,
    /// By kind, in the order of the specification; kinds without a mutant are left out.
    pub kinds: Vec<KindRow>,
    /// By what shows the difference; rows without a mutant are left out.
    pub differences: Vec<DifferenceRow>,
    /// Every mutant.
    pub mutants: Vec<MutantRow>,
}

/// One verifier's judgements, by mutant.
struct Column {
    name: String,
    elsewhere: String,
    said: BTreeMap<usize, (Judgement, Duration)>,
}

impl Calibration {
    /// Counts. `judged` belongs to `mutants` one by one.
    pub fn new(
        suites: &[StudySuite],
        mutants: &[Mutant],
        judged: &[JudgedMutant],
        others: &[OtherJudgements],
        spec: &CalibrationSpec,
    ) -> Self {
        let columns = columns(judged, others, spec);
        let labels = |word: &str| judged.iter().filter(|j| j.label.word() == word).count() as u64;
        Self {
            schema: 1,
            spec: spec.clone(),
            suites: suites
                .iter()
                .enumerate()
                .map(|(index, suite)| suite_row(index, suite, mutants))
                .collect(),
            labels: ["equal", "different", "undecided"].map(labels),
            label_cost: Cost::of(judged.iter().map(|j| j.label_time).collect()),
            verifiers: columns.iter().map(|column| figures(column, judged, spec)).collect(),
            kinds: spec.kinds.iter().filter_map(|&kind| kind_row(kind, mutants, judged, &columns)).collect(),
            differences: difference_rows(judged, &columns, spec),
            mutants: (0..mutants.len().min(judged.len()))
                .map(|i| MutantRow {
                    suite: suites.get(mutants[i].suite).map(|s| s.name.clone()).unwrap_or_default(),
                    number: mutants[i].number,
                    kind: mutants[i].kind,
                    change: mutants[i].change.clone(),
                    label: judged[i].label.clone(),
                    judgements: columns
                        .iter()
                        .filter_map(|c| Some((c.name.clone(), c.said.get(&i)?.0.clone())))
                        .collect(),
                })
                .collect(),
        }
    }

    /// Rewrites that the comparison found to be different: never, unless planforge itself is wrong.
    pub fn broken_rewrites(&self) -> Vec<&MutantRow> {
        let broken = |m: &&MutantRow| m.kind.is_rewrite() && matches!(m.label, Label::Different { .. });
        self.mutants.iter().filter(broken).collect()
    }
}

fn columns(judged: &[JudgedMutant], others: &[OtherJudgements], spec: &CalibrationSpec) -> Vec<Column> {
    let own = spec.verifiers().into_iter().enumerate().map(|(number, verifier)| Column {
        name: verifier.name(),
        elsewhere: verifier.elsewhere(spec.t_max),
        said: judged
            .iter()
            .enumerate()
            .filter_map(|(i, j)| Some((i, j.judgements.get(number)?.clone())))
            .collect(),
    });
    let others = others.iter().map(|other| Column {
        name: other.name.clone(),
        elsewhere: other.elsewhere.clone(),
        said: other.judgements.iter().map(|(i, j, time)| (*i, (j.clone(), *time))).collect(),
    });
    own.chain(others).collect()
}

fn suite_row(index: usize, suite: &StudySuite, mutants: &[Mutant]) -> SuiteRow {
    SuiteRow {
        suite: suite.name.clone(),
        problems: suite.tasks.iter().map(|t| t.stem.clone()).collect(),
        mutants: mutants.iter().filter(|m| m.suite == index).count() as u64,
    }
}

fn tally<'j>(column: &Column, judged: impl Iterator<Item = (usize, &'j JudgedMutant)>) -> Tally {
    let mut tally = Tally::default();
    for (i, judged) in judged {
        if let Some((judgement, _)) = column.said.get(&i) {
            tally.add(&judged.label, judgement);
        }
    }
    tally
}

fn figures(column: &Column, judged: &[JudgedMutant], spec: &CalibrationSpec) -> Figures {
    let tally = tally(column, judged.iter().enumerate());
    let interval = |(hits, of): (u64, u64)| wilson(hits, of, spec.confidence);
    Figures {
        verifier: column.name.clone(),
        elsewhere: column.elsewhere.clone(),
        tally,
        false_accept_interval: interval(tally.false_accepts()),
        false_reject_interval: interval(tally.false_rejects()),
        kappa: tally.verdicts.kappa(),
        kappa_interval: tally.verdicts.kappa_interval(spec.confidence),
        cost: Cost::of(column.said.values().map(|(_, time)| *time).collect()),
    }
}

fn kind_row(
    kind: MutantKind,
    mutants: &[Mutant],
    judged: &[JudgedMutant],
    columns: &[Column],
) -> Option<KindRow> {
    let own = || mutants.iter().zip(judged).enumerate().filter(|(_, (m, _))| m.kind == kind);
    let count = |word: &str| own().filter(|(_, (_, j))| j.label.word() == word).count() as u64;
    own().next()?;
    Some(KindRow {
        kind,
        equal: count("equal"),
        different: count("different"),
        undecided: count("undecided"),
        tallies: columns.iter().map(|column| tally(column, own().map(|(i, (_, j))| (i, j)))).collect(),
    })
}

fn difference_rows(
    judged: &[JudgedMutant],
    columns: &[Column],
    spec: &CalibrationSpec,
) -> Vec<DifferenceRow> {
    let place = |label: &Label| match label {
        Label::Different { by, steps } => Some((*by, *steps > spec.t_max as usize)),
        _ => None,
    };
    let mut places: Vec<(ShownBy, bool)> = judged.iter().filter_map(|j| place(&j.label)).collect();
    let all = places.clone();
    places.sort_unstable();
    places.dedup();
    let row = |at: (ShownBy, bool)| DifferenceRow {
        by: at.0,
        beyond_walks: at.1,
        mutants: all.iter().filter(|p| **p == at).count() as u64,
        tallies: columns
            .iter()
            .map(|c| tally(c, judged.iter().enumerate().filter(|(_, j)| place(&j.label) == Some(at))))
            .collect(),
    };
    places.into_iter().map(row).collect()
}
