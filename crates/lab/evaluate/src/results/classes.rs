//! Result classes of the actions that models wrote (domain-generators paper), counted from the journal of a run.
//!
//! One reply is one task, sample and action. Every sample counts, not only the candidate that a pipeline returns: the paper's percentages
//! are over all prompts.
//!
//! A run's journal is read event by event. Evidence is read once and dropped; a candidate keeps a few bytes for
//! each action.

use super::judges::ClassStages;
use planforge_contract::{Classification, DomainDifference, Failure, FailureClass, ResultClasses};
use planforge_planning::result_class::{ResultClass, ResultGroup};
use planforge_record::{Event, Journal, SamplePath};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The most suspects of a run that are listed.
const MOST_SUSPECTS: usize = 200;

/// The kept part of one classification.
#[derive(Debug, Clone, PartialEq)]
struct KeptClassification {
    /// Place of the action in the run's list.
    action: usize,
    fate: ReplyClass,
    /// The class by position, if it is another.
    positional: Option<ReplyClass>,
    errors: [Option<u64>; 3],
    exact: ExactResult,
    /// Kept for suspects alone.
    difference: Option<Box<DomainDifference>>,
}

/// The kept part of one candidate's evidence.
#[derive(Debug, Clone, Default, PartialEq)]
struct KeptEvidence {
    actions: Vec<KeptClassification>,
    whole: Option<ReplyClass>,
    /// By place in the run's list, how many classifications were made so.
    settings: BTreeMap<usize, u64>,
}

/// The rounds of one candidate: by number, what the round left.
type Line = BTreeMap<u32, SamplePath>;

/// Everything that a pass over the journal keeps.
struct ClassReader<'a> {
    journal: &'a dyn Journal,
    stages: &'a ClassStages,
    actions: Vec<String>,
    settings: Vec<ComparisonRule>,
    /// The last word on a candidate: of the judge, by task and path, and of any stage that classifies.
    judged: BTreeMap<(String, SamplePath), KeptEvidence>,
    any: HashMap<SamplePath, KeptEvidence>,
    /// By task: the samples of the first writer that came, and the calls that broke, by stage and descent.
    made: BTreeSet<(String, String)>,
    broke: BTreeSet<(String, String, String)>,
    lines: BTreeMap<(String, SamplePath), Line>,
}

/// The part of an assessment that is read here.
#[derive(Deserialize)]
struct Evidence {
    #[serde(default)]
    evidence: Option<ResultClasses>,
}

impl CellClasses {
    /// Reads a run. `reference` are the actions of the reference domain, in its order: a reply that never came is missed for each of
    /// them.
    ///
    /// # Errors
    /// `record.*`: a blob is missing or holds another document, or evidence names a class that there is not.
    pub fn read(journal: &dyn Journal, stages: &ClassStages, reference: &[String]) -> Result<Self, Failure> {
        let mut reader = ClassReader {
            journal,
            stages,
            actions: Vec::new(),
            settings: Vec::new(),
            judged: BTreeMap::new(),
            any: HashMap::new(),
            made: BTreeSet::new(),
            broke: BTreeSet::new(),
            lines: BTreeMap::new(),
        };
        let wanted = |name: &&String| {
            stages.only.is_empty() || stages.only.iter().any(|only| only.eq_ignore_ascii_case(name))
        };
        for name in reference.iter().filter(wanted) {
            reader.action(name);
        }
        for event in journal.events() {
            reader.take(event)?;
        }
        Ok(reader.into_counts())
    }
}

impl ClassReader<'_> {
    fn take(&mut self, event: Event) -> Result<(), Failure> {
        match event {
            Event::CandidateMade { task, path, .. } => {
                if let Some((stage, descent)) = place(&path, &task) {
                    self.broke.remove(&(task.clone(), stage.to_owned(), descent.to_owned()));
                    let first = !descent.contains('.') && self.stages.writers.iter().any(|w| w == stage);
                    if first {
                        let descent = descent.to_owned();
                        self.made.insert((task, descent));
                    }
                }
            }
            Event::SampleFailed { task, path, .. } => {
                if let Some((stage, descent)) = place(&path, &task) {
                    let (stage, descent) = (stage.to_owned(), descent.to_owned());
                    self.broke.insert((task, stage, descent));
                }
            }
            Event::Assessed { task, stage, path, assessment, .. } if self.stages.all.contains(&stage) => {
                let judged = self.read_evidence(&assessment)?;
                // What another task begins with behind a fan-out was judged where it was written.
                let Some((_, descent)) = place(&path, &task).filter(|(_, descent)| *descent != "-") else {
                    self.any.insert(path, judged);
                    return Ok(());
                };
                if stage == self.stages.judge {
                    self.broke.remove(&(task.clone(), stage, descent.to_owned()));
                    self.judged.insert((task, path.clone()), judged.clone());
                }
                if self.stages.refine.is_some() {
                    self.any.insert(path, judged);
                }
            }
            Event::RoundFinished { task, stage, path, round, best, best_so_far, .. }
                if self.stages.refine.as_ref() == Some(&stage) =>
            {
                let left = if self.stages.keeps_best { best_so_far.or(best) } else { best };
                let line = self.lines.entry((task, path)).or_default();
                if let Some(left) = left {
                    line.insert(round, left);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Reads an assessment.
    fn read_evidence(&mut self, blob: &str) -> Result<KeptEvidence, Failure> {
        let bytes = self.journal.get(blob).map_err(Failure::from)?;
        let read: Evidence = planforge_contract::read_json(&bytes).map_err(|error| other(blob, &error))?;
        let Some(evidence) = read.evidence.filter(|evidence| !evidence.actions.is_empty()) else {
            // A verifier that has nothing to say of any action could not look.
            let undecided = |action| KeptClassification {
                action,
                fate: ReplyClass::Class(ResultClass::Undecided),
                positional: None,
                errors: [None; 3],
                exact: ExactResult::NotAsked,
                difference: None,
            };
            let actions = (0..self.actions.len()).map(undecided).collect();
            return Ok(KeptEvidence { actions, ..KeptEvidence::default() });
        };
        let mut judged = KeptEvidence::default();
        for one in &evidence.actions {
            if let Some(heuristic) = &one.heuristic {
                let setting = ComparisonRule {
                    rule: heuristic.rule.clone(),
                    k: heuristic.k,
                    problems: evidence.problems,
                    semantics: heuristic.semantics.clone(),
                };
                let at = place_of(&mut self.settings, setting);
                *judged.settings.entry(at).or_default() += 1;
            }
            let seen = self.read_classification(blob, one)?;
            judged.actions.push(seen);
        }
        judged.whole = evidence.domain.map(|domain| fate(blob, &domain.class)).transpose()?;
        Ok(judged)
    }

    fn read_classification(
        &mut self,
        blob: &str,
        one: &Classification,
    ) -> Result<KeptClassification, Failure> {
        let positional = one.positional.as_deref().map(|class| fate(blob, class)).transpose()?;
        let fate = fate(blob, &one.class)?;
        let exact = one.exact.as_ref();
        let answer = match exact.map(|exact| exact.decision.as_str()) {
            Some("equal") => ExactResult::Equal,
            Some("different") => ExactResult::Different,
            Some(_) => ExactResult::Undecided,
            None => ExactResult::NotAsked,
        };
        let error = one.reconstruction_error.as_ref();
        let suspect = fate.group() == Group::Equivalent && answer == ExactResult::Different;
        Ok(KeptClassification {
            action: self.action(&one.name),
            fate,
            positional,
            errors: [
                error.and_then(|error| error.by_name),
                error.and_then(|error| error.by_position),
                error.and_then(|error| error.least),
            ],
            exact: answer,
            difference: exact.filter(|_| suspect).and_then(|exact| exact.difference.clone()).map(Box::new),
        })
    }

    /// The place of an action; PDDL does not tell upper case from lower.
    fn action(&mut self, name: &str) -> usize {
        match self.actions.iter().position(|known| known.eq_ignore_ascii_case(name)) {
            Some(at) => at,
            None => {
                self.actions.push(name.to_owned());
                self.actions.len() - 1
            }
        }
    }

    /// Counts what was kept.
    fn into_counts(mut self) -> CellClasses {
        if self.stages.in_rounds {
            let left = self.lines.iter().map(|((task, root), line)| (task.clone(), last(root, line)));
            let left: Vec<(String, SamplePath)> = left.collect();
            let known = |key: (String, SamplePath)| Some((key.clone(), self.any.get(&key.1)?.clone()));
            self.judged = left.into_iter().filter_map(known).collect();
        }
        let mut cell = CellClasses { stage: self.stages.judge.clone(), ..CellClasses::default() };
        cell.actions.resize_with(self.actions.len(), Default::default);
        for (tally, name) in cell.actions.iter_mut().zip(&self.actions) {
            tally.action.clone_from(name);
        }
        let mut settings: BTreeSet<usize> = BTreeSet::new();
        for ((_, path), judged) in &self.judged {
            settings.extend(judged.settings.keys());
            for seen in &judged.actions {
                count(&mut cell, seen, path);
            }
            if let Some(fate) = judged.whole {
                *cell.whole.entry(fate).or_default() += 1;
            }
        }
        cell.settings = settings.into_iter().filter_map(|at| self.settings.get(at).cloned()).collect();
        // Evidence names the requested actions; without evidence the reference does.
        if cell.actions.iter().any(|tally| !tally.counts.is_empty()) {
            cell.actions.retain(|tally| !tally.counts.is_empty());
        }
        self.without_class(&mut cell);
        self.rounds(&mut cell);
        rank(&mut cell);
        cell
    }

    /// Samples that broke on the way to the judge, and those that came and were not classified.
    fn without_class(&self, cell: &mut CellClasses) {
        let before =
            |stage: &str| stage == self.stages.judge || self.stages.writers.iter().any(|w| w == stage);
        let broke: Vec<&(String, String, String)> =
            self.broke.iter().filter(|(_, stage, _)| before(stage)).collect();
        let sample = |descent: &str| descent.split('.').next().unwrap_or_default().to_owned();
        let mut known: BTreeSet<(String, String)> =
            broke.iter().map(|(task, _, descent)| (task.clone(), sample(descent))).collect();
        for (task, path) in self.judged.keys() {
            known.extend(place(path, task).map(|(_, descent)| (task.clone(), sample(descent))));
        }
        cell.failed_samples = broke.len() as u64;
        cell.unjudged_samples = self.made.difference(&known).count() as u64;
        let whole = !cell.whole.is_empty();
        for (fate, samples) in
            [(ReplyClass::Failed, cell.failed_samples), (ReplyClass::NotJudged, cell.unjudged_samples)]
        {
            if samples == 0 {
                continue;
            }
            for tally in &mut cell.actions {
                *tally.counts.entry(fate).or_default() += samples;
            }
            if whole {
                *cell.whole.entry(fate).or_default() += samples;
            }
        }
    }

    /// Counts the classes of the candidates that went into rounds, after each round.
    fn rounds(&self, cell: &mut CellClasses) {
        let Some(rounds) = self.lines.values().filter_map(|line| line.keys().next_back()).max() else {
            return;
        };
        cell.rounds = vec![BTreeMap::new(); *rounds as usize + 1];
        let asked: Vec<String> = cell.actions.iter().map(|tally| tally.action.clone()).collect();
        let mut changes: BTreeMap<(Group, Group), u64> = BTreeMap::new();
        for ((_, root), line) in &self.lines {
            let after = |round: u32| line.range(..=round).next_back().map_or(root, |(_, path)| path);
            for (round, counts) in (0..=*rounds).zip(&mut cell.rounds) {
                for (action, fate) in self.fates(after(round), &asked) {
                    let counts: &mut Counts = counts.entry(action.to_owned()).or_default();
                    *counts.entry(fate).or_default() += 1;
                }
            }
            let (from, to) = (self.fates(root, &asked), self.fates(after(*rounds), &asked));
            for ((_, from), (_, to)) in from.into_iter().zip(to) {
                *changes.entry((from.group(), to.group())).or_default() += 1;
            }
        }
        cell.changes =
            changes.into_iter().map(|((from, to), replies)| Change { from, to, replies }).collect();
    }

    /// The class of each action of a candidate, in the order of the names.
    fn fates<'n>(&self, path: &str, names: &'n [String]) -> Vec<(&'n str, ReplyClass)> {
        let judged = self.any.get(path);
        let fate = |name: &String| {
            let at = self.actions.iter().position(|known| known == name)?;
            Some(judged?.actions.iter().find(|seen| seen.action == at)?.fate)
        };
        names.iter().map(|name| (name.as_str(), fate(name).unwrap_or(ReplyClass::NotJudged))).collect()
    }
}

fn last(root: &SamplePath, line: &Line) -> SamplePath {
    line.values().next_back().unwrap_or(root).clone()
}

fn count(cell: &mut CellClasses, seen: &KeptClassification, path: &str) {
    let Some(tally) = cell.actions.get_mut(seen.action) else { return };
    *tally.counts.entry(seen.fate).or_default() += 1;
    if let Some(positional) = seen.positional {
        *tally.positional.entry(seen.fate).or_default().entry(positional).or_default() += 1;
    }
    for reading in Reading::ALL {
        let Some(error) = seen.errors.get(reading.index()).copied().flatten() else { continue };
        let histogram = tally.errors.entry(reading).or_default().entry(seen.fate).or_default();
        *histogram.entry(error).or_default() += 1;
    }
    let fits = matches!(seen.fate.group(), Group::Different | Group::Equivalent | Group::Undecided);
    if fits {
        let own = cell.exact.entry(seen.fate).or_default().entry(seen.exact).or_default();
        own.replies += 1;
        for reading in Reading::ALL {
            let Some(error) = seen.errors.get(reading.index()).copied().flatten() else { continue };
            *own.errors.entry(reading).or_default().entry(error).or_default() += 1;
        }
    }
    if seen.fate.group() == Group::Equivalent && seen.exact != ExactResult::Equal {
        let suspect = Suspect {
            action: tally.action.clone(),
            exact: seen.exact,
            errors: seen.errors,
            difference: seen.difference.as_deref().cloned(),
            times: 1,
            path: path.to_owned(),
        };
        match cell.suspects.iter_mut().find(|known| known.is_like(&suspect)) {
            Some(known) => known.times += 1,
            None => cell.suspects.push(suspect),
        }
    }
}

/// Sorts different replies first, then by falling error, and keeps the first of them. Without exact
/// comparisons there is no such table.
fn rank(cell: &mut CellClasses) {
    if cell.exact.values().flat_map(BTreeMap::keys).all(|exact| *exact == ExactResult::NotAsked) {
        cell.exact.clear();
    }
    let highest = |suspect: &Suspect| {
        let error = suspect.error(Reading::ByPosition).or(suspect.error(Reading::ByName));
        std::cmp::Reverse(error.unwrap_or(0))
    };
    cell.suspects.sort_by(|a, b| (a.exact, highest(a), &a.path).cmp(&(b.exact, highest(b), &b.path)));
    let kept = cell.suspects.len().min(MOST_SUSPECTS);
    cell.suspects_left_out = cell.suspects.drain(kept..).map(|suspect| suspect.times).sum();
}

/// The stage (with its round) and the descent in a sample path.
fn place<'p>(path: &'p str, task: &str) -> Option<(&'p str, &'p str)> {
    path.strip_prefix(task)?.strip_prefix('/')?.split_once('/')
}

fn place_of<T: PartialEq>(all: &mut Vec<T>, one: T) -> usize {
    match all.iter().position(|known| *known == one) {
        Some(at) => at,
        None => {
            all.push(one);
            all.len() - 1
        }
    }
}

fn fate(blob: &str, class: &str) -> Result<ReplyClass, Failure> {
    let known =
        ReplyClass::of(class).filter(|fate| !matches!(fate, ReplyClass::Failed | ReplyClass::NotJudged));
    known.ok_or_else(|| other(blob, &format!("`{class}` is not a result class")))
}

fn other(blob: &str, why: &dyn std::fmt::Display) -> Failure {
    let message = format!("blob {blob} does not hold the document that the journal names: {why}");
    Failure::new(FailureClass::System, "record.corrupt", message)
}

/// Replies by class.
pub type Counts = BTreeMap<ReplyClass, u64>;
/// Numbers of replies by error.
pub type Histogram = BTreeMap<u64, u64>;

/// The replies for one action.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    pub action: String,
    /// Replies by class.
    pub counts: Counts,
    /// Action reconstruction errors, where an action could be read: by reading, and by class.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub errors: BTreeMap<Reading, BTreeMap<ReplyClass, Histogram>>,
    /// Replies that are in another class by the positions of parameters: by class, their classes by position.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub positional: BTreeMap<ReplyClass, Counts>,
}

impl Tally {
    pub fn replies(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Replies by the class that they have with parameters by position, as in the paper.
    pub fn by_position(&self) -> Counts {
        let mut counts = self.counts.clone();
        for (graded, classes) in &self.positional {
            let own = counts.entry(*graded).or_default();
            *own = own.saturating_sub(classes.values().sum());
            add(&mut counts, classes);
        }
        counts.retain(|_, n| *n > 0);
        counts
    }

    /// Adds another's.
    pub fn add(&mut self, other: &Self) {
        add(&mut self.counts, &other.counts);
        for (graded, classes) in &other.positional {
            add(self.positional.entry(*graded).or_default(), classes);
        }
        for (reading, classes) in &other.errors {
            let own = self.errors.entry(*reading).or_default();
            for (fate, histogram) in classes {
                let own = own.entry(*fate).or_default();
                histogram.iter().for_each(|(error, n)| *own.entry(*error).or_default() += n);
            }
        }
    }
}

pub(crate) fn add(counts: &mut Counts, other: &Counts) {
    other.iter().for_each(|(fate, n)| *counts.entry(*fate).or_default() += n);
}

/// The replies of a primary class.
pub(crate) fn of_group(counts: &Counts, group: Group) -> u64 {
    counts.iter().filter(|(fate, _)| fate.group() == group).map(|(_, n)| n).sum()
}

/// The rule and size of a comparison of plans.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ComparisonRule {
    /// The rule: `definition` or `reference-code`.
    pub rule: String,
    /// Plans requested for each problem.
    pub k: u64,
    pub problems: u64,
    /// The ground actions that plans consist of.
    pub semantics: String,
}

/// The result of the exact comparison for a reply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExactResult {
    /// The same behaviour over the whole reachable space of the problems.
    Equal,
    /// Another.
    Different,
    /// A limit was reached.
    Undecided,
    /// No exact comparison was requested.
    #[default]
    NotAsked,
}

impl ExactResult {
    pub const ALL: [Self; 4] = [Self::Equal, Self::Different, Self::Undecided, Self::NotAsked];

    /// The words of tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::Different => "different",
            Self::Undecided => "undecided",
            Self::NotAsked => "not asked",
        }
    }
}

/// Replies of one class by the result of the exact comparison.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExactCount {
    pub replies: u64,
    /// Their action reconstruction errors, by reading.
    pub errors: BTreeMap<Reading, Histogram>,
}

/// A reply that is equivalent by its plans and not known to be equal. Identical replies are one entry.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suspect {
    pub action: String,
    /// The result of the exact comparison.
    pub exact: ExactResult,
    /// The action reconstruction errors, in the order of [`Reading::ALL`].
    pub errors: [Option<u64>; 3],
    /// For a different one: the shortest sequence that shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<DomainDifference>,
    /// Replies that are alike in all of this.
    pub times: u64,
    /// The path of the first of them in the record.
    pub path: String,
}

impl Suspect {
    pub(crate) fn error(&self, reading: Reading) -> Option<u64> {
        self.errors.get(reading.index()).copied().flatten()
    }

    fn is_like(&self, other: &Self) -> bool {
        (&self.action, self.exact, self.errors, &self.difference)
            == (&other.action, other.exact, other.errors, &other.difference)
    }
}

/// Replies whose class changed from the first round to the last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The primary class as the reply came.
    pub from: Group,
    /// The primary class after the last round.
    pub to: Group,
    /// Number of replies.
    pub replies: u64,
}

/// One run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellClasses {
    /// The stage that classified.
    pub stage: String,
    /// By action, in the order of the reference domain.
    pub actions: Vec<Tally>,
    /// Samples by the class of the domain with all their actions; empty if no stage classified it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub whole: Counts,
    /// The rules of comparison. More than one if the run mixes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<ComparisonRule>,
    /// The exact comparison beside the class, for actions that fit; empty if it was not requested.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub exact: BTreeMap<ReplyClass, BTreeMap<ExactResult, ExactCount>>,
    /// Equivalent by plans and not known to be equal: different ones first, then by falling error.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suspects: Vec<Suspect>,
    /// Suspects beyond those that are listed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub suspects_left_out: u64,
    /// For round 0 (the first replies), 1, ...: by action, the classes of the replies that went into rounds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<BTreeMap<String, Counts>>,
    /// From round 0 to the last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// Samples that failed before the judge or at it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failed_samples: u64,
    /// Samples that came and were not classified.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unjudged_samples: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The class of one reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ReplyClass {
    /// A class of the paper, or undecided.
    Class(ResultClass),
    /// It fits the domain; its behaviour was not compared.
    Fits,
    /// It never came, or the judging call failed: its class is unknown.
    Failed,
    /// It came, and no stage classified it: a selection dropped it, or the run has not reached it.
    NotJudged,
}

/// The groups of figures and sums: the paper's primary classes, and the groups outside them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    /// The reply cannot be read.
    Syntax,
    /// It can be read and does not fit the domain.
    Semantic,
    /// It fits and behaves differently.
    Different,
    /// It behaves the same as far as it was compared.
    Equivalent,
    /// It fits; its behaviour was not compared.
    Fits,
    /// A limit was reached before a decision.
    Undecided,
    /// No reply, no judgement.
    Failed,
}

impl ReplyClass {
    /// All, in the order of Table 1, followed by what the paper has no row for.
    pub const ALL: [Self; 15] = [
        Self::Class(ResultClass::NoPddl),
        Self::Class(ResultClass::PError),
        Self::Class(ResultClass::UToken),
        Self::Class(ResultClass::PAError),
        Self::Class(ResultClass::NError),
        Self::Class(ResultClass::TError),
        Self::Class(ResultClass::BPError),
        Self::Class(ResultClass::NoPlan),
        Self::Class(ResultClass::NPApp),
        Self::Class(ResultClass::OPApp),
        Self::Class(ResultClass::Equivalent),
        Self::Fits,
        Self::Class(ResultClass::Undecided),
        Self::Failed,
        Self::NotJudged,
    ];

    /// The word of the evidence, and of tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Class(class) => class.name(),
            Self::Fits => "Fits",
            Self::Failed => "Failed",
            Self::NotJudged => "NotJudged",
        }
    }

    /// The class with this name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|fate| fate.name() == name)
    }

    /// The primary class.
    pub const fn group(self) -> Group {
        match self {
            Self::Class(class) => match class.group() {
                ResultGroup::Syntax => Group::Syntax,
                ResultGroup::Semantic => Group::Semantic,
                ResultGroup::Different => Group::Different,
                ResultGroup::Equivalent => Group::Equivalent,
                ResultGroup::Undecided => Group::Undecided,
            },
            Self::Fits => Group::Fits,
            Self::Failed | Self::NotJudged => Group::Failed,
        }
    }

    /// Those of a primary class, in the order of the table.
    pub fn members(group: Group) -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(move |fate| fate.group() == group)
    }
}

impl Group {
    /// All, in the order of the table.
    pub const ALL: [Self; 7] = [
        Self::Syntax,
        Self::Semantic,
        Self::Different,
        Self::Equivalent,
        Self::Fits,
        Self::Undecided,
        Self::Failed,
    ];

    /// The words of legends.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Syntax => "syntax error",
            Self::Semantic => "semantic error",
            Self::Different => "different domain",
            Self::Equivalent => "equivalent",
            Self::Fits => "fits, behaviour not looked at",
            Self::Undecided => "undecided",
            Self::Failed => "no reply or no judgement",
        }
    }

    /// The row of Table 1.
    pub const fn row(self) -> &'static str {
        match self {
            Self::Syntax => "Syntax",
            Self::Semantic => "Semantics",
            Self::Different => "Diff",
            Self::Equivalent => "Equiv",
            Self::Fits => "Fits",
            Self::Undecided => "Undecided",
            Self::Failed => "NoClass",
        }
    }
}

impl Serialize for ReplyClass {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for ReplyClass {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::of(&name).ok_or_else(|| serde::de::Error::custom(format!("`{name}` is not a result class")))
    }
}

/// The kind of action reconstruction error.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reading {
    /// A variable is the one of the same name: the paper's definition read literally.
    ByName,
    /// A parameter is the one at the same place, as the paper's code counts: the default, for its Fig. 5 was made so.
    #[default]
    ByPosition,
    /// The least over bijections between parameters of the same type.
    Least,
}

impl Reading {
    pub const ALL: [Self; 3] = [Self::ByName, Self::ByPosition, Self::Least];

    /// The words of tables and figures.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ByName => "by variable name",
            Self::ByPosition => "by parameter position",
            Self::Least => "least over type-respecting bijections of parameters",
        }
    }

    /// The place of its figure among three.
    pub(crate) const fn index(self) -> usize {
        match self {
            Self::ByName => 0,
            Self::ByPosition => 1,
            Self::Least => 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_result_class_has_one_row_and_parses_from_its_name() {
        for class in ResultClass::ALL {
            let rows = ReplyClass::ALL.into_iter().filter(|fate| *fate == ReplyClass::Class(class)).count();
            assert_eq!((rows, ReplyClass::of(class.name())), (1, Some(ReplyClass::Class(class))));
        }
        let grouped: usize = Group::ALL.into_iter().map(|group| ReplyClass::members(group).count()).sum();
        assert_eq!(grouped, ReplyClass::ALL.len());
        assert_eq!(ReplyClass::of("Wrong"), None);
        let text = serde_json::to_string(&ReplyClass::ALL).unwrap();
        assert_eq!(serde_json::from_str::<Vec<ReplyClass>>(&text).unwrap(), ReplyClass::ALL);
    }
}
