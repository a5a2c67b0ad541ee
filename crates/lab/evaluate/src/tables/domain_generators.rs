//! The domain-generators paper's Table 1 and Fig. 2 to 5: replies by result class, domain and action,
//! description class, model size and round of corrective re-prompting, with their action reconstruction
//! errors.
//!
//! Undecided replies, replies that never came and replies that no stage judged have separate rows, which the
//! paper lacks.

mod figures;
#[cfg(test)]
mod tests;
mod text;

pub use figures::{ClassFigures, class_figures};

use crate::results::{
    CellClasses, CellResult, CellState, Change, Column, ComparisonRule, Counts, Evaluation, ExactCount,
    ExactResult, Group, Histogram, Reading, ReplyClass, Suspect, Tally, add, of_group,
};
use crate::statistics::{Interval, bootstrap, share_interval, wilson};
use crate::table::{Align, Table};
use crate::tables::marked_name;
use serde::Serialize;
use std::collections::BTreeMap;

/// Confidence of every interval.
const CONFIDENCE: f64 = 0.95;
/// Samples of the bootstrap over actions.
const RESAMPLES: usize = 1000;

/// Options of the table.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClassSettings {
    /// Other names for pipelines.
    pub methods: BTreeMap<String, String>,
    /// Sizes of models.
    pub sizes: Sizes,
    /// The reconstruction error that is shown.
    pub reading: Reading,
}

/// A line of the table: a class, or the sum of a primary class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassRow {
    /// The paper's word, or `Undecided`, `Failed`, `NotJudged`, `Fits`.
    pub name: &'static str,
    /// Its primary class.
    pub group: Group,
    /// True if it is the sum of a primary class.
    pub sum: bool,
    /// Replies.
    pub count: u64,
    /// In per cent of all requested replies.
    pub percent: f64,
    /// Wilson's 95 % interval in per cent with replies as independent trials. Replies to one action are not
    /// independent.
    pub prompts: Interval,
    /// Wilson's 95 % interval in per cent with actions as trials: it extends to actions outside the study.
    pub actions: Interval,
    /// The 95 % bootstrap interval over actions, in per cent; absent for one action.
    pub bootstrap: Option<Interval>,
}

/// One domain.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SuiteClasses {
    /// The suite's name.
    pub suite: String,
    pub actions: Vec<Tally>,
    /// Samples by the class of the domain with all their actions.
    pub whole: Counts,
}

/// A suspect and where it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ListedSuspect {
    pub suite: String,
    /// The run's seed.
    pub seed: u64,
    #[serde(flatten)]
    pub suspect: Suspect,
}

/// A model, a method and a description class.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ClassColumn {
    /// The models of the pipeline.
    pub model: String,
    /// The method's name.
    pub method: String,
    pub pipeline: String,
    /// The detail of descriptions; absent if the pipeline gives no actions in words.
    pub description: Option<String>,
    /// True if a model is simulated.
    pub simulated: bool,
    /// Billions of parameters, where they are known.
    pub size: Option<f64>,
    /// The stage that classified.
    pub stage: String,
    /// The refine stage whose rounds are shown.
    pub refine: Option<String>,
    /// True if the table counts what rounds left, not replies as they came.
    pub after_rounds: bool,
    /// Runs: one a suite and seed.
    pub runs: usize,
    /// Runs that are not finished, or whose journal cannot be read. What they lack is in no figure.
    pub runs_open: usize,
    /// Requested replies.
    pub replies: u64,
    /// The lines of the table.
    pub rows: Vec<ClassRow>,
    /// The same with parameters by position, as in the paper; empty if no reply changes its class.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub positional: Vec<ClassRow>,
    /// The same for whole domains, with domains as trials; empty if no stage classified them.
    pub whole: Vec<ClassRow>,
    /// Samples that the lines of whole domains are made of.
    pub samples: u64,
    /// The rules of comparison.
    pub settings: Vec<ComparisonRule>,
    /// By domain.
    pub suites: Vec<SuiteClasses>,
    /// The exact comparison beside the class; empty if it was not requested.
    pub exact: BTreeMap<ReplyClass, BTreeMap<ExactResult, ExactCount>>,
    /// Equivalent by plans and not known to be equal: different ones first, then by falling error.
    pub suspects: Vec<ListedSuspect>,
    /// Suspects beyond those that are listed.
    pub suspects_left_out: u64,
    /// By round, the lines of the table for the replies that went into rounds.
    pub rounds: Vec<Vec<ClassRow>>,
    /// From round 0 to the last.
    pub changes: Vec<Change>,
    /// By run, its suite and the classes of its replies after each round.
    #[serde(skip)]
    lines: Vec<(String, Vec<BTreeMap<String, Counts>>)>,
}

/// The whole table.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Classes {
    /// Version of this document, 1.
    pub schema: u32,
    /// The reconstruction error in texts and figures.
    pub reading: Reading,
    /// The columns, in the order in which they come.
    pub columns: Vec<ClassColumn>,
}

impl Classes {
    /// Puts evaluations together. Pipelines in which no stage classifies actions have no column.
    ///
    /// # Errors
    /// In words: a suite that is evaluated twice under one model, method and description class, or a size for a model that there
    /// is not.
    pub fn new(evaluations: &[&Evaluation], settings: &ClassSettings) -> Result<Self, String> {
        let mut table = Self { schema: 1, reading: settings.reading, columns: Vec::new() };
        let mut models: Vec<String> = evaluations
            .iter()
            .flat_map(|e| &e.columns)
            .flat_map(|column| [column.model_name(), column.judges.models.join(" + ")])
            .collect();
        models.dedup();
        if let Some(name) = settings.sizes.keys().find(|name| !models.contains(name)) {
            return Err(format!("no model is called `{name}`; there are {}", models.join(", ")));
        }
        for evaluation in evaluations {
            for column in &evaluation.columns {
                let cells: Vec<&CellResult> =
                    evaluation.cells.iter().filter(|cell| column.holds(&cell.key)).collect();
                table.take(column, &cells, settings)?;
            }
        }
        for column in &mut table.columns {
            column.finish(settings.reading);
        }
        Ok(table)
    }

    /// True if any reply was classified, failed or was not judged.
    pub fn is_measured(&self) -> bool {
        self.columns.iter().any(|column| column.replies > 0)
    }

    fn take(
        &mut self,
        column: &Column,
        cells: &[&CellResult],
        settings: &ClassSettings,
    ) -> Result<(), String> {
        let Some(stages) = column.judges.classes.as_ref().filter(|_| !cells.is_empty()) else {
            return Ok(());
        };
        let model = column.model_name();
        let asked = column.judges.models.join(" + ");
        let new = ClassColumn {
            // The matrix's name may lack the size that the model's own name has.
            size: size_of(&model, &settings.sizes).or_else(|| size_of(&asked, &settings.sizes)),
            method: settings.methods.get(&column.pipeline).unwrap_or(&column.pipeline).clone(),
            model,
            pipeline: column.pipeline.clone(),
            description: stages.description.clone(),
            simulated: column.judges.simulated,
            stage: stages.judge.clone(),
            refine: stages.refine.clone(),
            after_rounds: stages.after_rounds,
            ..ClassColumn::default()
        };
        let key = |c: &ClassColumn| (c.model.clone(), c.method.clone(), c.description.clone());
        let at = self.columns.iter().position(|known| key(known) == key(&new)).unwrap_or(self.columns.len());
        if at == self.columns.len() {
            self.columns.push(new);
        }
        let Some(place) = self.columns.get_mut(at) else { return Ok(()) };
        let known: Vec<String> = place.suites.iter().map(|suite| suite.suite.clone()).collect();
        if let Some(cell) = cells.iter().find(|cell| known.contains(&cell.key.suite)) {
            return Err(format!("suite `{}` is there twice under {}", cell.key.suite, place.words()));
        }
        cells.iter().for_each(|cell| place.add(cell));
        Ok(())
    }
}

impl ClassColumn {
    /// Model, method and description class in words.
    fn words(&self) -> String {
        let parts = [Some(&self.model), Some(&self.method), self.description.as_ref()];
        let parts: Vec<&str> =
            parts.into_iter().flatten().map(String::as_str).filter(|p| !p.is_empty()).collect();
        parts.join(", ")
    }

    /// The line of a name.
    pub fn row(&self, name: &str) -> Option<&ClassRow> {
        self.rows.iter().find(|row| row.name == name)
    }

    /// The counts of all actions.
    fn counts(&self) -> Counts {
        let mut all = Counts::new();
        self.suites.iter().flat_map(|suite| &suite.actions).for_each(|tally| add(&mut all, &tally.counts));
        all
    }

    fn add(&mut self, cell: &CellResult) {
        self.runs += 1;
        self.runs_open += usize::from(cell.state == CellState::Unfinished || cell.classes.is_none());
        let at = self.suites.iter().position(|suite| suite.suite == cell.key.suite);
        let at = at.unwrap_or_else(|| {
            self.suites.push(SuiteClasses { suite: cell.key.suite.clone(), ..SuiteClasses::default() });
            self.suites.len() - 1
        });
        let (Some(classes), Some(suite)) = (&cell.classes, self.suites.get_mut(at)) else { return };
        suite.take(classes);
        for setting in &classes.settings {
            if !self.settings.contains(setting) {
                self.settings.push(setting.clone());
            }
        }
        for (fate, answers) in &classes.exact {
            for (answer, counted) in answers {
                let own = self.exact.entry(*fate).or_default().entry(*answer).or_default();
                own.replies += counted.replies;
                for (reading, histogram) in &counted.errors {
                    let own = own.errors.entry(*reading).or_default();
                    histogram.iter().for_each(|(error, n)| *own.entry(*error).or_default() += n);
                }
            }
        }
        let listed = |suspect: &Suspect| ListedSuspect {
            suite: cell.key.suite.clone(),
            seed: cell.key.seed,
            suspect: suspect.clone(),
        };
        self.suspects.extend(classes.suspects.iter().map(listed));
        self.suspects_left_out += classes.suspects_left_out;
        self.take_rounds(cell, classes);
    }

    fn take_rounds(&mut self, cell: &CellResult, classes: &CellClasses) {
        if !classes.rounds.is_empty() {
            self.lines.push((cell.key.suite.clone(), classes.rounds.clone()));
        }
        for change in &classes.changes {
            let same = |known: &&mut Change| (known.from, known.to) == (change.from, change.to);
            match self.changes.iter_mut().find(same) {
                Some(known) => known.replies += change.replies,
                None => self.changes.push(change.clone()),
            }
        }
    }

    /// The lines of the table after each round. A run whose rounds ended early keeps its last classes.
    fn after_rounds(&self) -> Vec<Vec<ClassRow>> {
        let last = self.lines.iter().map(|(_, rounds)| rounds.len()).max().unwrap_or(0);
        let after = |round: usize| {
            let mut clusters: BTreeMap<(&str, &str), Counts> = BTreeMap::new();
            for (suite, rounds) in &self.lines {
                let Some(actions) = rounds.get(round).or(rounds.last()) else { continue };
                for (action, counts) in actions {
                    add(clusters.entry((suite, action)).or_default(), counts);
                }
            }
            rows(&clusters.values().collect::<Vec<_>>())
        };
        (0..last).map(after).collect()
    }

    /// Everything that needs all cells.
    fn finish(&mut self, reading: Reading) {
        let clusters: Vec<&Counts> =
            self.suites.iter().flat_map(|suite| &suite.actions).map(|tally| &tally.counts).collect();
        self.rows = rows(&clusters);
        let tallies = || self.suites.iter().flat_map(|suite| &suite.actions);
        if tallies().any(|tally| !tally.positional.is_empty()) {
            let counts: Vec<Counts> = tallies().map(Tally::by_position).collect();
            self.positional = rows(&counts.iter().collect::<Vec<_>>());
        }
        self.replies = clusters.iter().flat_map(|counts| counts.values()).sum();
        let whole: Vec<&Counts> =
            self.suites.iter().map(|suite| &suite.whole).filter(|counts| !counts.is_empty()).collect();
        self.samples = whole.iter().flat_map(|counts| counts.values()).sum();
        self.whole = if whole.is_empty() { Vec::new() } else { rows(&whole) };
        self.rounds = self.after_rounds();
        self.settings.sort();
        self.changes.sort_by_key(|change| (change.from, change.to));
        self.suspects.sort_by_key(|listed| {
            let error = listed.suspect.error(reading);
            (listed.suspect.exact, std::cmp::Reverse(error.unwrap_or(0)))
        });
    }
}

impl SuiteClasses {
    fn take(&mut self, classes: &CellClasses) {
        for tally in &classes.actions {
            match self.actions.iter_mut().find(|known| known.action.eq_ignore_ascii_case(&tally.action)) {
                Some(known) => known.add(tally),
                None => self.actions.push(tally.clone()),
            }
        }
        add(&mut self.whole, &classes.whole);
    }
}

/// The lines of the table for replies in clusters, each cluster an action.
fn rows(clusters: &[&Counts]) -> Vec<ClassRow> {
    let mut all = Vec::new();
    for group in Group::ALL {
        let members: Vec<ReplyClass> = ReplyClass::members(group).collect();
        all.push(row(group.row(), group, true, clusters, |counts| of_group(counts, group)));
        // A primary class of one is its own sum.
        if members.len() > 1 {
            for fate in members {
                let of = |counts: &Counts| counts.get(&fate).copied().unwrap_or(0);
                all.push(row(fate.name(), group, false, clusters, of));
            }
        }
    }
    all
}

fn row(
    name: &'static str,
    group: Group,
    sum: bool,
    clusters: &[&Counts],
    of: impl Fn(&Counts) -> u64,
) -> ClassRow {
    let pairs = clusters.iter().map(|counts| (of(counts), counts.values().sum::<u64>()));
    let pairs: Vec<(u64, u64)> = pairs.filter(|(_, all)| *all > 0).collect();
    let (count, all) = pairs.iter().fold((0, 0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1));
    let share = |pairs: &[(u64, u64)]| {
        let (count, all) = pairs.iter().fold((0, 0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1));
        count as f64 / all.max(1) as f64
    };
    let percent = |interval: Interval| Interval { low: 100.0 * interval.low, high: 100.0 * interval.high };
    let own = share(&pairs);
    let drawn = (pairs.len() > 1).then(|| bootstrap(&pairs, CONFIDENCE, RESAMPLES, 0, share)).flatten();
    ClassRow {
        name,
        group,
        sum,
        count,
        percent: 100.0 * own,
        prompts: percent(wilson(count, all, CONFIDENCE)),
        actions: percent(share_interval(own, pairs.len() as f64, CONFIDENCE)),
        bootstrap: drawn.map(percent),
    }
}

/// Billions of parameters by the model's name, as the user states them.
pub type Sizes = BTreeMap<String, f64>;

/// The size of a model in billions of parameters: as stated, else from its name (`7b`, `1.5B`, `350m`).
/// Absent for a name with two sizes or a product such as `8x7b`.
pub fn size_of(model: &str, stated: &Sizes) -> Option<f64> {
    if let Some(size) = stated.get(model) {
        return Some(*size);
    }
    let words = model.split(|c: char| !(c.is_alphanumeric() || c == '.'));
    let mut found: Vec<f64> = words.filter_map(read).collect();
    found.dedup();
    match found.as_slice() {
        [one] => Some(*one),
        _ => None,
    }
}

/// `7b`, `1.5B`, `350m`.
fn read(word: &str) -> Option<f64> {
    let word = word.trim_matches('.');
    let unit = word.chars().next_back()?;
    let of_a_billion = match unit.to_ascii_lowercase() {
        'b' => 1.0,
        'm' => 1000.0,
        _ => return None,
    };
    let number = word.get(..word.len() - unit.len_utf8())?;
    let plain = number.starts_with(|c: char| c.is_ascii_digit())
        && number.chars().all(|c| c.is_ascii_digit() || c == '.');
    let size: f64 = number.parse().ok().filter(|_| plain)?;
    (size.is_finite() && size > 0.0).then_some(size / of_a_billion)
}

impl Classes {
    /// A column's name: its model, and the parts that distinguish it from others.
    fn name(&self, column: &ClassColumn) -> String {
        let differs = |of: fn(&ClassColumn) -> &str| self.columns.iter().any(|other| of(other) != of(column));
        let description = |c: &ClassColumn| c.description.clone().unwrap_or_default();
        let mut parts = vec![column.model.clone()];
        if column.model.is_empty() || differs(|c| &c.method) {
            parts.push(column.method.clone());
        }
        if self.columns.iter().any(|other| description(other) != description(column)) {
            parts.push(description(column));
        }
        parts.retain(|part| !part.is_empty());
        marked_name(&parts.join(" "), column.simulated)
    }

    /// The domains of all columns, each once.
    fn suites(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for suite in self.columns.iter().flat_map(|column| &column.suites) {
            if !names.contains(&suite.suite) {
                names.push(suite.suite.clone());
            }
        }
        names
    }
}

impl ClassColumn {
    fn tally(&self, suite: &str, action: &str) -> Option<&Tally> {
        let own = self.suites.iter().find(|own| own.suite == suite)?;
        own.actions.iter().find(|tally| tally.action.eq_ignore_ascii_case(action))
    }

    /// The errors of a primary class over all actions.
    fn histogram(&self, reading: Reading, group: Group) -> Histogram {
        let mut all = Histogram::new();
        for tally in self.suites.iter().flat_map(|suite| &suite.actions) {
            for (_, own) in
                tally.errors.get(&reading).into_iter().flatten().filter(|(fate, _)| fate.group() == group)
            {
                own.iter().for_each(|(error, n)| *all.entry(*error).or_default() += n);
            }
        }
        all
    }
}

impl Classes {
    /// True unless the action's text equals the reference's; known differences are always listed.
    fn is_worth_a_look(&self, listed: &ListedSuspect) -> bool {
        listed.suspect.exact == ExactResult::Different || listed.suspect.error(self.reading) != Some(0)
    }

    /// Equivalent by plans and not known to be equal, over all columns.
    fn suspects(
        &self,
        most: usize,
        wanted: impl Fn(&ListedSuspect) -> bool,
        name: impl Fn(&ClassColumn) -> String,
    ) -> Table {
        let mut listed: Vec<(&ClassColumn, &ListedSuspect)> = self
            .columns
            .iter()
            .flat_map(|column| column.suspects.iter().map(move |one| (column, one)))
            .filter(|(_, listed)| wanted(listed))
            .collect();
        listed.sort_by_key(|(_, one)| {
            (one.suspect.exact, std::cmp::Reverse(one.suspect.error(self.reading).unwrap_or(0)))
        });
        let header = [
            "method",
            "domain",
            "action",
            "exactly",
            "ARE name",
            "ARE position",
            "ARE least",
            "replies",
            "seed",
            "shortest difference",
            "reply",
        ];
        let mut table = Table::new(header.map(|name| (name, Align::Left)));
        for (column, one) in listed.into_iter().take(most) {
            let suspect = &one.suspect;
            let error = |reading| suspect.error(reading).map_or("-".to_owned(), |error| error.to_string());
            let [by_name, by_position, least] = Reading::ALL.map(error);
            let difference = suspect.difference.as_ref().map_or("-".to_owned(), |difference| {
                format!("{} ({}, {} one)", difference.steps.join(" "), difference.kind, difference.by)
            });
            table.row([
                name(column),
                one.suite.clone(),
                suspect.action.clone(),
                suspect.exact.name().to_owned(),
                by_name,
                by_position,
                least,
                suspect.times.to_string(),
                one.seed.to_string(),
                difference,
                suspect.path.clone(),
            ]);
        }
        table
    }
}
