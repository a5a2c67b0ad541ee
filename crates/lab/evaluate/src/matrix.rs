//! A matrix: pipelines, suites, models and seeds, and the choice of cells from it.

use crate::results::CellKey;
use planforge_diagnostics::{Diagnostic, SourceMap, Span};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use toml::Spanned;
use wildmatch::WildMatch;

/// The schema number of matrix files that this version reads.
pub const MATRIX_SCHEMA: u32 = 1;

/// The levels of texts (`planforge suite paraphrase --level`); level 1 is a suite as it is.
const LEVELS: std::ops::RangeInclusive<u8> = 1..=4;

/// Suites x pipelines x models x seeds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Matrix {
    /// Suite folders: the rows. In an output folder's matrix, those inside it are relative to it.
    pub suites: Vec<PathBuf>,
    /// Pipeline files: the columns, one for each of the models where there are any.
    pub pipelines: Vec<PathBuf>,
    /// The models that pipelines are run with. A pipeline that none of them is for asks its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<MatrixModel>,
    /// Run seeds.
    pub seeds: Vec<u64>,
    /// At most so many tasks of each suite, the first by name; all where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks: Option<usize>,
    /// Levels of the texts that every suite is evaluated at; only the suites as they are if it is empty. An output folder's matrix has none: its
    /// suites are those that were written at the levels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<u8>,
    /// `key=value` for every pipeline, as in `planforge run --set`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<String>,
    /// `key=value` for one pipeline, by its name; they come after those for every pipeline and before those of a model.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pipeline_set: BTreeMap<String, Vec<String>>,
    /// Folders whose files replace those of suites, as in `planforge run --add-on`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub add_ons: Vec<PathBuf>,
}

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    schema: u32,
    matrix: Table,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    suites: Vec<PathBuf>,
    pipelines: Vec<PathBuf>,
    #[serde(default)]
    models: Tables,
    seeds: Seeds,
    tasks: Option<usize>,
    #[serde(default)]
    levels: Vec<u8>,
    #[serde(default)]
    set: Vec<String>,
    #[serde(default)]
    pipeline_set: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    add_ons: Vec<PathBuf>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Seeds {
    List(Vec<u64>),
    Text(String),
}

impl Matrix {
    /// Reads a matrix file. Its paths are relative to `folder`, the file's own.
    ///
    /// # Errors
    /// `evaluate.matrix`: the first thing that makes the file unreadable, or everything that is wrong with its values.
    pub fn parse(text: &str, name: &str, folder: &Path) -> Result<Self, (Vec<Diagnostic>, SourceMap)> {
        let sources = SourceMap::single(name, text);
        let file: File = match toml::from_str(text) {
            Ok(file) => file,
            Err(error) => {
                let span = error.span().map_or(Span::empty(0), |range| {
                    Span::new(offset(range.start), offset(range.end.max(range.start)))
                });
                let diagnostic = Diagnostic::error("evaluate.matrix", error.message().to_owned())
                    .at(planforge_diagnostics::SourceId(0), span, "")
                    .help("`planforge explain evaluate.matrix` shows a whole matrix file");
                let shown = planforge_pipeline::hide_keys_near_errors(text, &[span]);
                return Err((vec![diagnostic], SourceMap::single(name, shown)));
            }
        };
        let mut wrong = Vec::new();
        if file.schema != MATRIX_SCHEMA {
            wrong.push(format!("this version reads matrices of schema {MATRIX_SCHEMA}, not {}", file.schema));
        }
        let seeds = match file.matrix.seeds {
            Seeds::List(seeds) => seeds,
            Seeds::Text(text) => parse_seeds(&text).unwrap_or_else(|message| {
                wrong.push(message);
                Vec::new()
            }),
        };
        let without_pipelines = models_without_pipelines(&file.matrix.models);
        let here = |paths: Vec<PathBuf>| paths.into_iter().map(|path| folder.join(path)).collect();
        let matrix = Self {
            suites: here(file.matrix.suites),
            pipelines: here(file.matrix.pipelines),
            models: in_order(file.matrix.models),
            seeds,
            tasks: file.matrix.tasks,
            levels: file.matrix.levels,
            set: file.matrix.set,
            pipeline_set: file.matrix.pipeline_set,
            add_ons: here(file.matrix.add_ons),
        };
        let seeds_told = !wrong.is_empty();
        wrong.extend(without_pipelines);
        wrong.extend(matrix.unknown_pipelines());
        wrong.extend(matrix.mistakes().into_iter().filter(|m| !(seeds_told && m.contains("no seed"))));
        if wrong.is_empty() {
            Ok(matrix)
        } else {
            Err((wrong.into_iter().map(diagnostic).collect(), sources))
        }
    }

    /// Everything that is wrong with the values.
    ///
    /// # Errors
    /// `evaluate.matrix`, one each.
    pub fn check(&self) -> Result<(), Vec<Diagnostic>> {
        let wrong: Vec<String> = self.mistakes().into_iter().chain(self.unknown_pipelines()).collect();
        if wrong.is_empty() { Ok(()) } else { Err(wrong.into_iter().map(diagnostic).collect()) }
    }

    fn mistakes(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        for (what, empty) in [
            ("suite", self.suites.is_empty()),
            ("pipeline", self.pipelines.is_empty()),
            ("seed", self.seeds.is_empty()),
        ] {
            if empty {
                wrong.push(format!("no {what} to evaluate"));
            }
        }
        if self.tasks == Some(0) {
            wrong.push("`tasks` is 0, so there would be nothing to run".to_owned());
        }
        for (index, level) in self.levels.iter().enumerate() {
            if !LEVELS.contains(level) {
                wrong.push(format!(
                    "there is no level {level}; levels are {} to {}",
                    LEVELS.start(),
                    LEVELS.end()
                ));
            }
            if self.levels[..index].contains(level) {
                wrong.push(format!("the level {level} is listed twice"));
            }
        }
        let names: Vec<String> = self.pipelines.iter().map(|path| pipeline_name(path)).collect();
        for (index, name) in names.iter().enumerate() {
            if names[..index].contains(name) {
                wrong.push(format!("two pipelines have the name `{name}`; columns need different names"));
            }
        }
        wrong.extend(mistakes(&self.models));
        for (index, seed) in self.seeds.iter().enumerate() {
            // An override of the pipeline file states it, and TOML has no larger integers.
            if i64::try_from(*seed).is_err() {
                wrong.push(format!("the seed {seed} is above {}", i64::MAX));
            }
            if self.seeds[..index].contains(seed) {
                wrong.push(format!("the seed {seed} is listed twice"));
            }
        }
        wrong
    }

    /// Overrides and models for a pipeline that the matrix does not have.
    fn unknown_pipelines(&self) -> Vec<String> {
        let names = self.pipeline_names();
        let of_set = self.pipeline_set.keys().map(|name| ("`pipeline_set`".to_owned(), name));
        let of_models = self.models.iter().flat_map(|model| {
            model.pipelines.iter().map(|name| (format!("the model `{}`", model.name), name))
        });
        let unknown = of_set.chain(of_models).filter(|(_, name)| !names.contains(name));
        unknown.map(|(place, name)| format!("{place}: there is no pipeline `{name}`")).collect()
    }

    /// The models of a pipeline: those that are for it or for every pipeline, else its own, which has no name and changes nothing.
    #[must_use]
    pub fn models_of(&self, pipeline: &str) -> Vec<MatrixModel> {
        let is_for = |model: &&MatrixModel| {
            model.pipelines.is_empty() || model.pipelines.iter().any(|name| name == pipeline)
        };
        let models: Vec<MatrixModel> = self.models.iter().filter(is_for).cloned().collect();
        if models.is_empty() { vec![MatrixModel::default()] } else { models }
    }

    /// The matrix with the overrides of one pipeline among those for every pipeline.
    #[must_use]
    pub fn for_pipeline(&self, name: &str) -> Self {
        let mut own = self.clone();
        own.set.extend(self.pipeline_set.get(name).into_iter().flatten().cloned());
        own
    }

    /// The columns' names: the pipeline files' names without `.toml`.
    pub fn pipeline_names(&self) -> Vec<String> {
        self.pipelines.iter().map(|path| pipeline_name(path)).collect()
    }

    /// The matrix of the output folder `out`, with the paths of suites inside it completed.
    #[must_use]
    pub fn in_folder(mut self, out: &Path) -> Self {
        self.suites.iter_mut().for_each(|suite| *suite = out.join(&*suite));
        self
    }
}

fn pipeline_name(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn diagnostic(message: String) -> Diagnostic {
    Diagnostic::error("evaluate.matrix", message)
        .help("`planforge explain evaluate.matrix` shows a whole matrix file")
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// The axis of a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Axis {
    Suite,
    Pipeline,
    Model,
    Seed,
    Task,
}

impl Axis {
    const ALL: [(&'static str, Self); 5] = [
        ("suite", Self::Suite),
        ("pipeline", Self::Pipeline),
        ("model", Self::Model),
        ("seed", Self::Seed),
        ("task", Self::Task),
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Suite => "suite",
            Self::Pipeline => "pipeline",
            Self::Model => "model",
            Self::Seed => "seed",
            Self::Task => "task",
        }
    }
}

/// `suite=a,b`, `task=p0*` or `seed=42-43`: any of several values of an axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter {
    axis: Axis,
    patterns: Vec<Pattern>,
}

#[derive(Debug, Clone, PartialEq)]
enum Pattern {
    Glob(WildMatch),
    Seeds { text: String, seeds: Vec<u64> },
}

impl Pattern {
    fn matches(&self, value: &str) -> bool {
        match self {
            Self::Glob(glob) => glob.matches(value),
            Self::Seeds { seeds, .. } => value.parse().is_ok_and(|seed| seeds.contains(&seed)),
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Glob(glob) => glob.to_string(),
            Self::Seeds { text, .. } => text.clone(),
        }
    }
}

impl Filter {
    /// Reads a filter.
    ///
    /// # Errors
    /// The mistake, in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let names: Vec<&str> = Axis::ALL.iter().map(|(name, _)| *name).collect();
        let (name, values) =
            text.split_once('=').ok_or("write AXIS=VALUES, such as suite=garden,parcels or task=p0*")?;
        let Some((_, axis)) = Axis::ALL.iter().find(|(known, _)| *known == name.trim()) else {
            let near = nearest(name.trim(), &names).map(|near| format!(", did you mean `{near}`?"));
            let near = near.unwrap_or_else(|| format!("; there are {}", names.join(", ")));
            return Err(format!("unknown axis `{}`{near}", name.trim()));
        };
        let values: Vec<&str> = values.split(',').map(str::trim).collect();
        if values.contains(&"") {
            return Err(format!("`{text}` names an empty value"));
        }
        let pattern = |value: &&str| match axis {
            Axis::Seed => Ok(Pattern::Seeds { text: (*value).to_owned(), seeds: parse_seeds(value)? }),
            _ => Ok(Pattern::Glob(WildMatch::new(value))),
        };
        let patterns = values.iter().map(pattern).collect::<Result<_, String>>()?;
        Ok(Self { axis: *axis, patterns })
    }

    fn matches(&self, value: &str) -> bool {
        self.patterns.iter().any(|pattern| pattern.matches(value))
    }
}

/// Part I of N: every N-th cell of the matrix, from the I-th on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Number of the part, from 1.
    pub part: usize,
    /// Of how many.
    pub of: usize,
}

impl Shard {
    /// Reads `I/N`.
    ///
    /// # Errors
    /// The mistake, in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.trim().parse::<usize>().ok();
        let (part, of) = text.split_once('/').ok_or("write I/N, such as 1/8")?;
        match (number(part), number(of)) {
            (Some(part), Some(of)) if part >= 1 && part <= of => Ok(Self { part, of }),
            (Some(part), Some(of)) => {
                Err(format!("part {part} of {of} is out of range: parts are numbered from 1 to N"))
            }
            _ => Err("write I/N with whole numbers, such as 1/8".to_owned()),
        }
    }

    /// True if the cell at this place of the matrix, counted from 0, belongs to it.
    pub const fn has(self, place: usize) -> bool {
        place % self.of + 1 == self.part
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.part, self.of)
    }
}

/// The selected part of a matrix.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Selection {
    /// A cell or task is run where, on every axis that these name, one of them matches.
    pub only: Vec<Filter>,
    /// And where none of these matches.
    pub except: Vec<Filter>,
    /// And where the cell belongs to this part.
    pub shard: Option<Shard>,
}

/// The names that a matrix has on its axes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Axes {
    /// The suites, each with its tasks.
    pub suites: Vec<(String, Vec<String>)>,
    pub pipelines: Vec<String>,
    /// The models of the matrix.
    pub models: Vec<String>,
    pub seeds: Vec<u64>,
}

impl Axes {
    fn names(&self, axis: Axis) -> Vec<String> {
        match axis {
            Axis::Suite => self.suites.iter().map(|(name, _)| name.clone()).collect(),
            Axis::Pipeline => self.pipelines.clone(),
            Axis::Model => self.models.clone(),
            Axis::Seed => self.seeds.iter().map(u64::to_string).collect(),
            Axis::Task => {
                let mut all: Vec<String> = self.suites.iter().flat_map(|(_, tasks)| tasks.clone()).collect();
                all.sort();
                all.dedup();
                all
            }
        }
    }
}

/// A filter's value that nothing of the matrix matches, or filters that leave nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnmatchedFilter {
    message: String,
    help: String,
}

impl UnmatchedFilter {
    /// The message for the user.
    pub fn diagnostic(&self) -> Diagnostic {
        Diagnostic::error("evaluate.filter", self.message.clone()).help(self.help.clone())
    }
}

impl Selection {
    /// True if any task is left out of a cell that is run.
    pub fn filters_tasks(&self) -> bool {
        self.only.iter().chain(&self.except).any(|filter| filter.axis == Axis::Task)
    }

    /// True if everything is selected.
    pub fn is_whole(&self) -> bool {
        self.only.is_empty() && self.except.is_empty() && self.shard.is_none()
    }

    /// True if the cell at this place of the matrix, counted from 0, is run.
    pub fn takes_cell(&self, place: usize, key: &CellKey) -> bool {
        let is_left_out = !self.except.is_empty()
            && self.except.iter().all(|filter| filter.axis != Axis::Task)
            && match_cell(&self.except, key);
        self.shard.is_none_or(|shard| shard.has(place)) && match_cell(&self.only, key) && !is_left_out
    }

    /// True if a task of a cell is run. A name without a level stands for the task at every level.
    pub fn takes_task(&self, key: &CellKey, task: &str) -> bool {
        let is_left_out = self.except.iter().any(|filter| filter.axis == Axis::Task)
            && match_cell(&self.except, key)
            && match_task(&self.except, task);
        match_task(&self.only, task) && !is_left_out
    }

    /// Every value that nothing of the matrix matches: a filter that was misspelt must not run something else.
    pub fn mistakes(&self, axes: &Axes) -> Vec<UnmatchedFilter> {
        let mut found = Vec::new();
        for (option, filter) in
            self.only.iter().map(|f| ("--only", f)).chain(self.except.iter().map(|f| ("--except", f)))
        {
            let names = axes.names(filter.axis);
            let matches = |pattern: &Pattern, name: &String| {
                pattern.matches(name)
                    || filter.axis == Axis::Task
                        && without_level(name).is_some_and(|name| pattern.matches(name))
            };
            for pattern in filter.patterns.iter().filter(|p| !names.iter().any(|name| matches(p, name))) {
                found.push(no_match(option, filter.axis, &pattern.text(), &names));
            }
        }
        found
    }
}

/// True if the filters of each axis match, or there are none.
fn match_cell(filters: &[Filter], key: &CellKey) -> bool {
    let matches = |axis, value: &str| match_axis(filters, axis, |filter| filter.matches(value));
    matches(Axis::Suite, &key.suite)
        && matches(Axis::Pipeline, &key.pipeline)
        && matches(Axis::Model, &key.model)
        && matches(Axis::Seed, &key.seed.to_string())
}

fn match_task(filters: &[Filter], task: &str) -> bool {
    let base = without_level(task);
    match_axis(filters, Axis::Task, |filter| {
        filter.matches(task) || base.is_some_and(|name| filter.matches(name))
    })
}

/// `p01` of `p01-L2`; `None` for a name without a level.
fn without_level(task: &str) -> Option<&str> {
    let (name, level) = task.rsplit_once("-L")?;
    level.bytes().all(|b| b.is_ascii_digit()).then_some(name)
}

/// Values of one axis are alternatives.
fn match_axis(filters: &[Filter], axis: Axis, matches: impl FnMut(&Filter) -> bool) -> bool {
    let mut of_axis = filters.iter().filter(|filter| filter.axis == axis).peekable();
    of_axis.peek().is_none() || of_axis.any(matches)
}

fn no_match(option: &str, axis: Axis, pattern: &str, names: &[String]) -> UnmatchedFilter {
    let what = axis.name();
    let message = format!("{option} {what}={pattern} matches no {what} of the matrix");
    let all: Vec<&str> = names.iter().map(String::as_str).collect();
    let help = match nearest(pattern, &all) {
        Some(near) => format!("did you mean `{near}`?"),
        None if all.is_empty() => format!("the matrix has no {what}s"),
        None => {
            let listed: Vec<String> = all.iter().take(20).map(|name| format!("`{name}`")).collect();
            let more = if all.len() > 20 { ", ..." } else { "" };
            format!("there are {}{more}", listed.join(", "))
        }
    };
    UnmatchedFilter { message, help }
}

/// The nearest of the names, if one is near enough to have been meant.
fn nearest<'a>(name: &str, names: &[&'a str]) -> Option<&'a str> {
    let limit = (name.chars().count() / 3).max(1);
    let distances = names.iter().map(|known| (strsim::damerau_levenshtein(name, known), *known));
    distances.filter(|(distance, _)| *distance <= limit).min().map(|(_, known)| known)
}

/// Longest name of a model: it is part of a folder's name.
const LONGEST_NAME: usize = 64;

/// A model that pipelines are run with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatrixModel {
    /// Its name in tables and folders: `PIPELINE@NAME`.
    pub name: String,
    /// `key=value` for each of its pipelines, after those of the matrix, as in `planforge run --set`. Empty for the pipelines' own models.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<String>,
    /// The names of its pipelines; every pipeline if it is empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pipelines: Vec<String>,
}

/// `[matrix.models.NAME]` as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    #[serde(default)]
    set: Vec<String>,
    pipelines: Option<Vec<String>>,
}

/// The tables by name, with their places.
type Tables = BTreeMap<Spanned<String>, Settings>;

/// The models in the order of the file.
fn in_order(tables: Tables) -> Vec<MatrixModel> {
    let mut all: Vec<(usize, MatrixModel)> = tables
        .into_iter()
        .map(|(name, Settings { set, pipelines })| {
            let pipelines = pipelines.unwrap_or_default();
            (name.span().start, MatrixModel { name: name.into_inner(), set, pipelines })
        })
        .collect();
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, model)| model).collect()
}

/// Models for no pipeline.
fn models_without_pipelines(tables: &Tables) -> Vec<String> {
    let none = tables.iter().filter(|(_, table)| table.pipelines.as_ref().is_some_and(Vec::is_empty));
    none.map(|(name, _)| {
        format!(
            "the model `{}` is for no pipeline: leave `pipelines` out, and it is for every pipeline",
            name.get_ref()
        )
    })
    .collect()
}

/// Mistakes in the models. No name has an `@`, so no two columns have the same name.
fn mistakes(models: &[MatrixModel]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (index, MatrixModel { name, set, .. }) in models.iter().enumerate() {
        if !is_safe(name) {
            wrong.push(format!(
                "the model `{name}` must be called by letters, digits, `.`, `_` and `-` alone, not begin with a dot, and have at most \
                 {LONGEST_NAME} characters: it is part of a folder's name"
            ));
        }
        // Some file systems do not tell capitals from small letters.
        if models[..index].iter().any(|known| known.name.eq_ignore_ascii_case(name)) {
            wrong.push(format!("two models are called `{name}`; columns need different names"));
        }
        for argument in set {
            match argument.split_once('=') {
                None => wrong.push(format!("the model `{name}` sets `{argument}`, which has no `=`")),
                Some((key, _)) if key.trim() == "seed" => {
                    wrong.push(format!("the model `{name}` sets the seed; `seeds` of the matrix do that"));
                }
                Some(_) => {}
            }
        }
    }
    wrong
}

fn is_safe(name: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    (1..=LONGEST_NAME).contains(&name.len()) && !name.starts_with('.') && name.chars().all(letter)
}

/// Reads `42`, `42-45` or `1,3,42-45`.
///
/// # Errors
/// The mistake, in words.
pub fn parse_seeds(text: &str) -> Result<Vec<u64>, String> {
    let wrong = |part: &str| format!("`{part}` is neither a seed nor a range of seeds such as 42-45");
    let mut seeds = Vec::new();
    for part in text.split(',').map(str::trim) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        match (first.trim().parse::<u64>(), last.trim().parse::<u64>()) {
            (Ok(first), Ok(last)) if first <= last && last - first < 1000 => seeds.extend(first..=last),
            (Ok(first), Ok(last)) if first <= last => {
                return Err(format!("`{part}` is more than 1000 seeds"));
            }
            _ => return Err(wrong(part)),
        }
    }
    Ok(seeds)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "schema = 1
[matrix]
suites = [\"suites/garden\", \"/elsewhere/parcels\"]
pipelines = [\"llm-p.toml\", \"more/pd-tree.toml\"]
seeds = \"42-45\"
tasks = 10
levels = [1, 3]
set = [\"llm.main.model=large\"]
add_ons = [\"add-ons\"]
";

    fn messages(text: &str) -> Vec<String> {
        let (diagnostics, _) = Matrix::parse(text, "matrix.toml", Path::new("")).unwrap_err();
        assert!(diagnostics.iter().all(|d| d.code == "evaluate.matrix" && !d.help.is_empty()));
        diagnostics.into_iter().map(|d| d.message).collect()
    }

    #[test]
    fn paths_in_a_matrix_file_are_relative_to_it() {
        let matrix = Matrix::parse(FILE, "matrix.toml", Path::new("here")).unwrap();
        assert_eq!(matrix.suites, [PathBuf::from("here/suites/garden"), PathBuf::from("/elsewhere/parcels")]);
        assert_eq!(matrix.pipeline_names(), ["llm-p", "pd-tree"]);
        assert_eq!((matrix.seeds, matrix.tasks), (vec![42, 43, 44, 45], Some(10)));
        assert_eq!(matrix.levels, [1, 3]);
        assert_eq!(matrix.set, ["llm.main.model=large"]);
        assert_eq!(matrix.add_ons, [PathBuf::from("here/add-ons")]);
    }

    #[test]
    fn all_mistakes_in_a_matrix_are_reported_together() {
        let text = FILE
            .replace("\"42-45\"", "[7, 7]")
            .replace("tasks = 10", "tasks = 0")
            .replace("[1, 3]", "[3, 3, 5]")
            .replace("more/pd-tree.toml", "more/llm-p.toml")
            .replace("\"suites/garden\", \"/elsewhere/parcels\"", "");
        let found = messages(&text);
        assert_eq!(found.len(), 6, "{found:?}");
        for word in ["no suite", "seed 7", "`tasks`", "`llm-p`", "level 3 is listed twice", "no level 5"] {
            assert!(found.iter().any(|m| m.contains(word)), "{word}: {found:?}");
        }
        assert_eq!(messages(&FILE.replace("42-45", "45-42")).len(), 1);
        assert!(messages(&FILE.replace("42-45", "18446744073709551615"))[0].contains("is above"));
        assert!(messages(&FILE.replace("schema = 1", "schema = 2"))[0].contains("schema 1"));
    }

    #[test]
    fn errors_in_a_matrix_point_at_their_place() {
        let (diagnostics, sources) =
            Matrix::parse(&FILE.replace("tasks", "task"), "matrix.toml", Path::new("")).unwrap_err();
        let text = planforge_diagnostics::render::text(&diagnostics[0], &sources, false);
        assert!(text.contains("matrix.toml:6") && text.contains("task"), "{text}");
    }

    #[test]
    fn seeds_are_numbers_and_ranges() {
        assert_eq!(parse_seeds("42").unwrap(), [42]);
        assert_eq!(parse_seeds("1, 3,42-44").unwrap(), [1, 3, 42, 43, 44]);
        for wrong in ["", "a", "5-4", "1,,2", "1-", "0-18446744073709551615"] {
            assert!(parse_seeds(wrong).is_err(), "{wrong}");
        }
    }

    fn filters(texts: &[&str]) -> Vec<Filter> {
        texts.iter().map(|text| Filter::parse(text).unwrap()).collect()
    }

    fn axes() -> Axes {
        let tasks = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
        Axes {
            suites: vec![
                ("garden".to_owned(), tasks(&["p01", "p02"])),
                ("parcels".to_owned(), tasks(&["p01", "p11"])),
            ],
            pipelines: tasks(&["llm-p", "pd-tree"]),
            models: tasks(&["small", "large"]),
            seeds: vec![42, 43, 44],
        }
    }

    /// The cells of the matrix in its order.
    fn cells() -> Vec<CellKey> {
        let axes = axes();
        let mut all = Vec::new();
        for (suite, _) in &axes.suites {
            for (pipeline, model) in
                axes.pipelines.iter().flat_map(|p| axes.models.iter().map(move |m| (p, m)))
            {
                all.extend(axes.seeds.iter().map(|&seed| CellKey {
                    suite: suite.clone(),
                    pipeline: pipeline.clone(),
                    model: model.clone(),
                    seed,
                }));
            }
        }
        all
    }

    fn taken(selection: &Selection) -> usize {
        cells().iter().enumerate().filter(|(place, key)| selection.takes_cell(*place, key)).count()
    }

    #[test]
    fn filters_intersect_across_axes_and_unite_within_one() {
        let only = |texts: &[&str]| Selection { only: filters(texts), ..Selection::default() };
        assert_eq!(taken(&Selection::default()), 24);
        assert_eq!(taken(&only(&["suite=garden,parcels"])), 24);
        assert_eq!(taken(&only(&["suite=g*", "seed=42-43"])), 8);
        assert_eq!(taken(&only(&["seed=42", "seed=44"])), 16);
        assert_eq!(taken(&only(&["pipeline=pd-???e", "model=large", "seed=43"])), 2);
        // As --only does, --except means the cells and tasks that match on all axes.
        let except = Selection {
            only: filters(&["suite=garden"]),
            except: filters(&["model=small", "seed=44"]),
            shard: None,
        };
        assert_eq!(taken(&except), 10);
        let key = &cells()[0];
        let tasks = Selection { only: filters(&["task=p0*"]), except: filters(&["task=p02"]), shard: None };
        assert!(tasks.filters_tasks() && !except.filters_tasks());
        let names = ["p01", "p02", "p02-L3", "p11", "p01-L2"];
        assert_eq!(names.map(|task| tasks.takes_task(key, task)), [true, false, false, false, true]);
        let of_others = Selection {
            except: filters(&["task=p02", &format!("seed={}", key.seed + 1)]),
            ..Selection::default()
        };
        assert!(of_others.takes_cell(0, key) && of_others.takes_task(key, "p02"));
        let other = CellKey { seed: key.seed + 1, ..key.clone() };
        assert!(of_others.takes_cell(0, &other) && !of_others.takes_task(&other, "p02"));
    }

    #[test]
    fn a_name_without_a_level_is_known_where_all_tasks_have_levels() {
        let names = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
        let suites = vec![("garden".to_owned(), names(&["p01-L2", "p01-L3", "p02-L2", "p02-L3"]))];
        let axes = Axes { suites, ..axes() };
        let only = |filter: &str| Selection { only: filters(&[filter]), ..Selection::default() };
        assert_eq!(only("task=p01").mistakes(&axes), []);
        assert_eq!(only("task=p01-L3,p0?").mistakes(&axes), []);
        assert_eq!(only("task=p01,p03").mistakes(&axes).len(), 1);
        assert_eq!(only("suite=garden-L2").mistakes(&axes).len(), 1);
    }

    #[test]
    fn every_cell_belongs_to_one_shard() {
        for of in [1, 2, 5, 24, 40] {
            let shards =
                (1..=of).map(|part| Selection { shard: Some(Shard { part, of }), ..Selection::default() });
            assert_eq!(shards.map(|shard| taken(&shard)).sum::<usize>(), 24, "{of}");
        }
        assert_eq!(Shard::parse("2/3"), Ok(Shard { part: 2, of: 3 }));
        for wrong in ["0/3", "4/3", "3", "a/3", "1/0", "-1/2", ""] {
            assert!(Shard::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_filter_without_a_match_is_an_error_with_a_suggestion() {
        let selection = Selection {
            only: filters(&["suite=gardn,parcels", "task=q*"]),
            except: filters(&["seed=50-51"]),
            shard: None,
        };
        let found: Vec<String> =
            selection.mistakes(&axes()).iter().map(|m| format!("{}; {}", m.message, m.help)).collect();
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[0].contains("suite=gardn") && found[0].contains("did you mean `garden`?"), "{found:?}");
        assert!(found[1].contains("task=q*") && found[1].contains("`p01`, `p02`, `p11`"), "{found:?}");
        assert!(found[2].contains("--except seed=50-51") && found[2].contains("`42`"), "{found:?}");
        assert!(selection.mistakes(&axes())[0].diagnostic().code == "evaluate.filter");
        for (wrong, word) in [
            ("suit=a", "did you mean `suite`?"),
            ("a", "AXIS=VALUES"),
            ("seed=x", "`x`"),
            ("task=a,", "empty"),
        ] {
            assert!(Filter::parse(wrong).unwrap_err().contains(word), "{wrong}");
        }
    }

    const MODELS_FILE: &str = "schema = 1
[matrix]
suites = [\"garden\"]
pipelines = [\"llm-p.toml\", \"bon.toml\"]
seeds = [1]
[matrix.models.small]
set = [\"llm.main.model=s\"]
[matrix.models.\"Large-2.5\"]
set = [\"llm.main.model=l\", \"llm.main.base_url=http://127.0.0.1/v1?a=b\"]
[matrix.models.as_they_are]
";

    #[test]
    fn models_come_in_the_order_of_the_file() {
        let matrix = Matrix::parse(MODELS_FILE, "matrix.toml", Path::new("")).unwrap();
        let names: Vec<&str> = matrix.models.iter().map(|model| model.name.as_str()).collect();
        assert_eq!(names, ["small", "Large-2.5", "as_they_are"]);
        assert_eq!(matrix.models[1].set[1], "llm.main.base_url=http://127.0.0.1/v1?a=b");
        let text = serde_json::to_string(&matrix).unwrap();
        assert_eq!(serde_json::from_str::<Matrix>(&text).unwrap(), matrix);
    }

    #[test]
    fn model_names_are_valid_folder_names_and_all_mistakes_are_reported() {
        let text = MODELS_FILE
            .replace("models.small", "models.\"../up\"")
            .replace("\"Large-2.5\"", "large")
            .replace("as_they_are", "LARGE")
            .replace("llm.main.model=l", "seed=3")
            .replace("llm.main.model=s", "llm.main.model");
        let found = messages(&text);
        assert_eq!(found.len(), 4, "{found:?}");
        for word in ["`../up` must be called", "two models are called `LARGE`", "sets the seed", "has no `=`"]
        {
            assert!(found.iter().any(|m| m.contains(word)), "{word}: {found:?}");
        }
        assert!(messages(&MODELS_FILE.replace("models.small", "models.\"a@b\""))[0].contains("`a@b`"));
        assert!(
            messages(&MODELS_FILE.replace("[matrix.models.small]\nset", "[matrix.models.small]\nsets"))[0]
                .contains("sets")
        );
    }

    #[test]
    fn one_pipeline_can_have_its_own_overrides() {
        let text = |name: &str| {
            format!(
                "schema = 1\n[matrix]\nsuites = [\"s\"]\npipelines = [\"a.toml\", \"b.toml\"]\nseeds = [1]\nset = [\"x=1\"]\n\
                 [matrix.pipeline_set]\n{name} = [\"stage.ivml.rounds=1\"]\n"
            )
        };
        let matrix = Matrix::parse(&text("b"), "m.toml", Path::new("")).unwrap();
        assert_eq!(matrix.for_pipeline("a").set, ["x=1"]);
        assert_eq!(matrix.for_pipeline("b").set, ["x=1", "stage.ivml.rounds=1"]);
        let (found, _) = Matrix::parse(&text("c"), "m.toml", Path::new("")).unwrap_err();
        assert_eq!(found[0].message, "`pipeline_set`: there is no pipeline `c`");
    }

    #[test]
    fn a_model_for_some_pipelines_is_no_column_of_others() {
        let text = |name: &str| {
            format!(
                "schema = 1\n[matrix]\nsuites = [\"s\"]\npipelines = [\"a.toml\", \"b.toml\", \"c.toml\"]\nseeds = [1]\n\
                 [matrix.models.x]\npipelines = [\"a\", \"b\"]\n[matrix.models.y]\npipelines = [\"{name}\"]\n"
            )
        };
        let matrix = Matrix::parse(&text("a"), "m.toml", Path::new("")).unwrap();
        let names = |pipeline| -> Vec<String> {
            matrix.models_of(pipeline).into_iter().map(|model| model.name).collect()
        };
        assert_eq!(["a", "b", "c"].map(names), [vec!["x", "y"], vec!["x"], vec![""]]);
        let stored: Matrix = serde_json::from_str(&serde_json::to_string(&matrix).unwrap()).unwrap();
        assert_eq!(stored, matrix);
        let (found, _) = Matrix::parse(&text("d"), "m.toml", Path::new("")).unwrap_err();
        assert_eq!(found[0].message, "the model `y`: there is no pipeline `d`");
        let (found, _) =
            Matrix::parse(&text("a").replace("[\"a\"]", "[]"), "m.toml", Path::new("")).unwrap_err();
        assert_eq!(
            found[0].message,
            "the model `y` is for no pipeline: leave `pipelines` out, and it is for every pipeline"
        );
    }

    #[test]
    fn columns_have_different_names() {
        let text =
            MODELS_FILE.replace("bon.toml", "llm-p@x.toml").replace("[matrix.models.as_they_are]\n", "");
        assert!(
            Matrix::parse(&text, "matrix.toml", Path::new("")).is_ok(),
            "llm-p@x@small is nobody else's name"
        );
    }
}
