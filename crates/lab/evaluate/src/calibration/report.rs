//! Counts of judgements, and the tables and charts over them.

use super::judge::{JudgedMutant, Judgement, Label, ShownBy};
use super::{CalibrationSpec, Mutant, MutantKind};
use crate::chart::{IntervalPoint, RowPanel, rows_svg};
use crate::statistics::{Confusion, Interval, wilson};
use crate::study::StudySuite;
use crate::sums::Artefact;
use crate::table::{Align, Table};
use planforge_contract::Failure;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

impl Calibration {
    /// The calibration's files: CSV by verifier, by kind and by mutant, text, JSON and the figure.
    ///
    /// # Errors
    /// `study.plot`: the figure cannot be drawn.
    pub fn artefacts(&self) -> Result<Vec<Artefact>, Failure> {
        Ok(vec![
            Artefact::new("calibration.csv", self.csv()),
            Artefact::new("calibration-kinds.csv", self.kinds_csv()),
            Artefact::new("calibration-mutants.csv", self.mutants_csv()),
            Artefact::new("calibration.md", self.markdown()),
            Artefact::json("calibration.json", self)?,
            Artefact::new("calibration.svg", self.figure()),
        ])
    }

    /// Tables with remarks, for a terminal.
    pub fn text(&self) -> String {
        self.render_sections(Table::text)
    }

    /// The same as Markdown.
    pub fn markdown(&self) -> String {
        self.render_sections(Table::markdown)
    }

    fn render_sections(&self, form: impl Fn(&Table) -> String) -> String {
        let mut out = self.introduction();
        out.push_str(&form(&self.verifier_table()));
        out.push_str("\nFalse accepts by kind: different mutants that the verifier accepts, of those it has a verdict on.\n\n");
        out.push_str(&form(&self.kind_table(Tally::false_accepts, |row| row.different > 0)));
        out.push_str("\nThe same by what shows the difference on the first problem that does.\n\n");
        out.push_str(&form(&self.difference_table()));
        let rejects = self
            .kind_table(Tally::false_rejects, |row| row.tallies.iter().any(|t| t.verdicts.good_rejected > 0));
        if rejects.is_empty() {
            out.push_str("\nNo verifier rejects a mutant that is equal to its reference.\n");
        } else {
            out.push_str(
                "\nFalse rejects by kind, where there are any: equal mutants that the verifier rejects, of those it has a verdict on.\n\n",
            );
            out.push_str(&form(&rejects));
        }
        out
    }

    fn introduction(&self) -> String {
        let [equal, different, undecided] = self.labels;
        let spec = &self.spec;
        let mut out = format!(
            "{} mutants of {} domains (seed {}): {equal} equal, {different} different, {undecided} left open and in no figure. A label is the \
             verdict of the exact comparison over all reachable pairs of states, at most {} of them, of each problem:\n",
            self.mutants.len(),
            self.suites.len(),
            spec.seed,
            spec.max_pairs,
        );
        for suite in &self.suites {
            let _ = write!(out, "{} ({}; {}), ", suite.suite, suite.problems.join(" "), suite.mutants);
        }
        out.truncate(out.trim_end_matches(", ").len());
        let _ = write!(
            out,
            ".\nIntervals are at {} %. Cost is the time of a judgement with what belongs to the reference made before; the labels took {} ms \
             in the median, {} s together.\n\n",
            spec.confidence * 100.0,
            significant(self.label_cost.median_ms),
            significant(self.label_cost.total_s),
        );
        let reasons = self.open_reasons();
        if !reasons.is_empty() {
            out.push_str("Left open because:\n");
            reasons.iter().for_each(|(why, count)| {
                let _ = writeln!(out, "* {why}: {count}");
            });
            out.push('\n');
        }
        out
    }

    /// The reason why labels are open, without how far the comparison got.
    fn open_reasons(&self) -> BTreeMap<String, usize> {
        let mut reasons = BTreeMap::new();
        for mutant in &self.mutants {
            if let Label::Undecided(why) = &mutant.label {
                let short = why.split(';').next().unwrap_or(why).to_owned();
                *reasons.entry(short).or_insert(0) += 1;
            }
        }
        reasons
    }

    /// A row a verifier.
    pub fn verifier_table(&self) -> Table {
        let mut table = Table::new([
            ("verifier", Align::Left),
            ("false accepts", Align::Right),
            ("share", Align::Right),
            ("false rejects", Align::Right),
            ("share", Align::Right),
            ("undecided", Align::Right),
            ("failed", Align::Right),
            ("kappa", Align::Right),
            ("median ms", Align::Right),
            ("mean ms", Align::Right),
            ("total s", Align::Right),
        ]);
        for v in &self.verifiers {
            let accepts = v.tally.false_accepts();
            let rejects = v.tally.false_rejects();
            table.row([
                v.verifier.clone(),
                of(accepts),
                percent(accepts, v.false_accept_interval),
                of(rejects),
                percent(rejects, v.false_reject_interval),
                v.tally.undecided.to_string(),
                v.tally.failed.to_string(),
                kappa(v),
                significant(v.cost.median_ms),
                significant(v.cost.mean_ms),
                significant(v.cost.total_s),
            ]);
        }
        table
    }

    /// A row for each way in which a difference shows, with each verifier's false accepts.
    fn difference_table(&self) -> Table {
        let first = [("difference".to_owned(), Align::Left), ("mutants".to_owned(), Align::Right)];
        let verifiers = self.verifiers.iter().map(|v| (v.verifier.clone(), Align::Right));
        let mut table = Table::new(first.into_iter().chain(verifiers));
        for row in &self.differences {
            let what = match row.by {
                ShownBy::Refusal => "a step refused",
                ShownBy::Goal => "the goal alone",
                ShownBy::Cost => "costs alone",
            };
            let steps = self.spec.t_max;
            let after = if row.beyond_walks {
                format!("after more than {steps} steps")
            } else {
                format!("within {steps} steps")
            };
            let figures = row.tallies.iter().map(|tally| of(tally.false_accepts()));
            table.row([format!("{what}, {after}"), row.mutants.to_string()].into_iter().chain(figures));
        }
        table
    }

    /// A row a kind, with one figure for each verifier.
    fn kind_table(
        &self,
        figure: impl Fn(&Tally) -> (u64, u64),
        wanted: impl Fn(&super::KindRow) -> bool,
    ) -> Table {
        let labels = ["equal", "different", "open"].map(|name| (name.to_owned(), Align::Right));
        let verifiers = self.verifiers.iter().map(|v| (v.verifier.clone(), Align::Right));
        let columns = [("kind".to_owned(), Align::Left)].into_iter().chain(labels).chain(verifiers);
        let mut table = Table::new(columns);
        for row in self.kinds.iter().filter(|row| wanted(row)) {
            let counts = [row.equal, row.different, row.undecided].map(|n| n.to_string());
            let figures = row.tallies.iter().map(|tally| of(figure(tally)));
            table.row([row.kind.to_string()].into_iter().chain(counts).chain(figures));
        }
        table
    }

    /// One line a verifier.
    pub fn csv(&self) -> String {
        let words = ["verifier", "asked_elsewhere_as"].map(|name| (name, Align::Left));
        let numbers = [
            "equal_accepted",
            "equal_rejected",
            "different_accepted",
            "different_rejected",
            "undecided",
            "failed",
            "false_accept_rate",
            "false_accept_low",
            "false_accept_high",
            "false_reject_rate",
            "false_reject_low",
            "false_reject_high",
            "kappa",
            "kappa_low",
            "kappa_high",
            "median_ms",
            "mean_ms",
            "total_s",
        ];
        let mut table = Table::new(words.into_iter().chain(numbers.map(|name| (name, Align::Right))));
        for v in &self.verifiers {
            let t = &v.tally;
            let c = &t.verdicts;
            let counts =
                [c.good_accepted, c.good_rejected, c.bad_accepted, c.bad_rejected, t.undecided, t.failed];
            let rates =
                [(t.false_accepts(), v.false_accept_interval), (t.false_rejects(), v.false_reject_interval)];
            let rates = rates.into_iter().flat_map(|((hits, all), interval)| {
                let share = (all > 0).then(|| hits as f64 / all as f64);
                [share, Some(interval.low), Some(interval.high)]
            });
            let kappa = [v.kappa, v.kappa_interval.map(|i| i.low), v.kappa_interval.map(|i| i.high)];
            let costs = [v.cost.median_ms, v.cost.mean_ms, v.cost.total_s].map(|c| format!("{c:.6}"));
            let figures = rates.chain(kappa).map(|f| f.map_or(String::new(), |f| format!("{f:.6}")));
            let row = [v.verifier.clone(), v.elsewhere.clone()].into_iter();
            table.row(row.chain(counts.map(|n| n.to_string())).chain(figures).chain(costs));
        }
        table.csv()
    }

    /// One line a kind and verifier.
    pub fn kinds_csv(&self) -> String {
        let words = ["kind", "verifier"].map(|name| (name, Align::Left));
        let numbers = [
            "equal",
            "different",
            "open",
            "equal_accepted",
            "equal_rejected",
            "different_accepted",
            "different_rejected",
            "undecided",
            "failed",
        ];
        let mut table = Table::new(words.into_iter().chain(numbers.map(|name| (name, Align::Right))));
        for row in &self.kinds {
            for (verifier, t) in self.verifiers.iter().zip(&row.tallies) {
                let c = &t.verdicts;
                let counts = [
                    row.equal,
                    row.different,
                    row.undecided,
                    c.good_accepted,
                    c.good_rejected,
                    c.bad_accepted,
                    c.bad_rejected,
                    t.undecided,
                    t.failed,
                ];
                let words = [row.kind.to_string(), verifier.verifier.clone()].into_iter();
                table.row(words.chain(counts.map(|n| n.to_string())));
            }
        }
        table.csv()
    }

    /// One line a mutant, with its label and every judgement on it.
    pub fn mutants_csv(&self) -> String {
        let words =
            ["suite", "number", "kind", "change", "label", "shown_by", "steps_to_difference", "why_open"]
                .map(str::to_owned);
        let verifiers = self.verifiers.iter().map(|v| v.verifier.clone());
        let mut table = Table::new(words.into_iter().chain(verifiers).map(|name| (name, Align::Left)));
        for mutant in &self.mutants {
            let none = String::new;
            let (by, steps, why) = match &mutant.label {
                Label::Equal => (none(), none(), none()),
                Label::Different { by, steps } => {
                    (format!("{by:?}").to_lowercase(), steps.to_string(), none())
                }
                Label::Undecided(why) => (none(), none(), why.clone()),
            };
            let words = [
                mutant.suite.clone(),
                mutant.number.to_string(),
                mutant.kind.to_string(),
                mutant.change.clone(),
                mutant.label.word().to_owned(),
                by,
                steps,
                why,
            ];
            let said = self.verifiers.iter().map(|v| judgement(mutant, &v.verifier));
            table.row(words.into_iter().chain(said));
        }
        table.csv()
    }

    /// Rates, kappa and cost, a row a verifier.
    fn figure(&self) -> String {
        let estimate = |value: Option<f64>, interval: Option<Interval>| {
            let interval = interval.unwrap_or(Interval { low: value?, high: value? });
            Some(IntervalPoint { value: value?, low: interval.low, high: interval.high })
        };
        let share = |(hits, all): (u64, u64)| (all > 0).then(|| hits as f64 / all as f64);
        let panel = |title: &str, x: (f64, f64), powers: bool, points: Vec<Option<IntervalPoint>>| RowPanel {
            title: title.to_owned(),
            x,
            powers,
            points,
        };
        let costs: Vec<Option<f64>> = self
            .verifiers
            .iter()
            .map(|v| (v.cost.median_ms > 0.0).then(|| v.cost.median_ms.log10()))
            .collect();
        let low = costs.iter().flatten().copied().fold(0.0, f64::min).floor();
        let high = costs.iter().flatten().copied().fold(1.0, f64::max).ceil();
        let of =
            |f: &dyn Fn(&Figures) -> Option<IntervalPoint>| self.verifiers.iter().map(f).collect::<Vec<_>>();
        let accepts = of(&|v| estimate(share(v.tally.false_accepts()), Some(v.false_accept_interval)));
        let rejects = of(&|v| estimate(share(v.tally.false_rejects()), Some(v.false_reject_interval)));
        let kappas = of(&|v| estimate(v.kappa, v.kappa_interval));
        let least = kappas.iter().flatten().map(|k| k.low).fold(0.0, f64::min);
        let panels = [
            panel("accepts a different domain", (0.0, 1.0), false, accepts),
            panel("rejects an equal one", (0.0, 1.0), false, rejects),
            panel("Cohen's kappa", (least, 1.0), false, kappas),
            panel("median ms", (low, high), true, costs.iter().map(|&c| estimate(c, None)).collect()),
        ];
        let names: Vec<String> = self.verifiers.iter().map(|v| v.verifier.clone()).collect();
        rows_svg(&names, &panels)
    }
}

fn judgement(mutant: &MutantRow, verifier: &str) -> String {
    match mutant.judgements.get(verifier) {
        None => String::new(),
        Some(Judgement::Accepts) => "accepts".to_owned(),
        Some(Judgement::Rejects) => "rejects".to_owned(),
        Some(Judgement::Undecided(why)) => format!("undecided: {why}"),
        Some(Judgement::Failed(why)) => format!("failed: {why}"),
    }
}

fn of((hits, all): (u64, u64)) -> String {
    if all == 0 { "-".to_owned() } else { format!("{hits}/{all}") }
}

fn percent((hits, all): (u64, u64), interval: Interval) -> String {
    if all == 0 {
        return "-".to_owned();
    }
    let share = hits as f64 / all as f64;
    format!("{:.1} % ({:.1}-{:.1})", share * 100.0, interval.low * 100.0, interval.high * 100.0)
}

fn kappa(figures: &Figures) -> String {
    match (figures.kappa, figures.kappa_interval) {
        (Some(kappa), Some(interval)) => format!("{kappa:.3} ({:.3}-{:.3})", interval.low, interval.high),
        _ => "-".to_owned(),
    }
}

/// Three significant digits, without an exponent.
fn significant(value: f64) -> String {
    let digits = if value >= 100.0 {
        0
    } else if value >= 10.0 {
        1
    } else if value >= 1.0 {
        2
    } else {
        3
    };
    format!("{value:.digits$}")
}

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
