//! The contents of a folder (one run, or the cells of an evaluation, finished or not), and the texts, templates and sentences of its tasks, from the
//! folders of their suites if these still exist.

use planforge_contract::{Failure, FailureClass};
use planforge_evaluate::matrix::Matrix;
use planforge_evaluate::results::{CellKey, CellResult, TaskOutcome};
use planforge_evaluate::sums::is_unchanged;
use planforge_evaluate::tables::Methods;
use planforge_pipeline::load_leniently;
use planforge_plugin_sdk::wording::Wording;
use planforge_record::{MAX_RECORD_BYTES, read_regular, read_regular_text};
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

/// One source of a report.
pub(crate) struct Source {
    pub(crate) kind: &'static str,
    pub(crate) title: String,
    pub(crate) cells: Vec<CellSource>,
    /// Tables that the evaluation wrote as text.
    pub(crate) tables: Vec<(String, String)>,
    /// The methods of each evaluation.
    pub(crate) methods: Vec<MethodsSource>,
    pub(crate) warnings: Vec<String>,
}

/// A run, or a cell that no run was made for.
pub(crate) struct CellSource {
    pub(crate) key: CellKey,
    /// The run folder; absent where there is none.
    pub(crate) folder: Option<PathBuf>,
    /// The result in the evaluation.
    pub(crate) result: Option<CellResult>,
    /// Number of tasks it is to have, where no run was made for it yet.
    pub(crate) planned: usize,
}

/// The tables that an evaluation writes as text, in the order in which they are shown.
const TABLES: [(&str, &str); 5] = [
    ("Walks (Table 2)", "evaluation.txt"),
    ("Accuracy of problems", "accuracy.txt"),
    ("Test-time scaling", "scaling.txt"),
    ("Plans", "plans.txt"),
    ("Actions by result class", "classes.txt"),
];

/// `methods.json` and the figure `methods.svg`.
pub(crate) struct MethodsSource {
    pub(crate) methods: Methods,
    pub(crate) figure: Option<String>,
}

/// As much of `evaluation.json` as a report needs.
#[derive(Deserialize)]
struct Evaluation {
    #[serde(default)]
    cells: Vec<CellResult>,
}

/// The part of `run.json` that names a run.
#[derive(Deserialize, Default)]
struct Manifest {
    #[serde(default)]
    seed: u64,
    #[serde(default)]
    tasks: Vec<Used>,
    #[serde(default)]
    config: Config,
}

#[derive(Deserialize, Default)]
struct Config {
    #[serde(default)]
    path: String,
}

#[derive(Deserialize)]
struct Used {
    name: String,
}

impl Source {
    /// Looks into several folders; one that is named twice counts once. Runs of the same name are told apart by their folders.
    ///
    /// # Errors
    /// As for [`Source::open`].
    pub(crate) fn open_all(paths: &[PathBuf]) -> Result<Self, Failure> {
        let mut known = Vec::new();
        let mut all: Option<Self> = None;
        for path in paths {
            let place = path.canonicalize().unwrap_or_else(|_| path.clone());
            if known.contains(&place) {
                continue;
            }
            known.push(place);
            let mut source = Self::open(path)?;
            let Some(all) = &mut all else {
                all = Some(source);
                continue;
            };
            for cell in &mut source.cells {
                if all.cells.iter().any(|known| known.key == cell.key) {
                    cell.key.pipeline = format!("{} {}", cell.key.pipeline, path.display());
                }
            }
            all.kind = "evaluation";
            all.title = format!("{}, {}", all.title, source.title);
            all.cells.append(&mut source.cells);
            all.tables.extend(
                source.tables.into_iter().map(|(name, text)| (format!("{name}, {}", source.title), text)),
            );
            all.methods.append(&mut source.methods);
            all.warnings.append(&mut source.warnings);
        }
        all.ok_or_else(|| Failure::new(FailureClass::Request, "report.nothing", "no folder is named"))
    }

    /// Looks into a folder.
    ///
    /// # Errors
    /// `report.nothing` where it is neither a run nor an evaluation, `record.io` where it cannot be read.
    fn open(path: &Path) -> Result<Self, Failure> {
        if path.join("run.json").is_file() {
            return Self::run(path);
        }
        if path.join("matrix.json").is_file() || path.join("cells").is_dir() {
            return Self::evaluation(path);
        }
        let message = format!("{} is neither a run folder nor the folder of an evaluation", path.display());
        Err(Failure::new(FailureClass::Request, "report.nothing", message).help(
            "name a run (it has a run.json) or what `planforge evaluate --out` named (it has a matrix.json)",
        ))
    }

    fn run(path: &Path) -> Result<Self, Failure> {
        let manifest: Manifest = json(&path.join("run.json"))?;
        let mut suites: Vec<&str> = Vec::new();
        for used in &manifest.tasks {
            let suite = used.name.rsplit_once('.').map_or(used.name.as_str(), |(suite, _)| suite);
            if !suites.contains(&suite) {
                suites.push(suite);
            }
        }
        let pipeline = Path::new(&manifest.config.path).file_stem().unwrap_or_default().to_string_lossy();
        let key = CellKey {
            suite: suites.join(", "),
            pipeline: pipeline.into_owned(),
            model: String::new(),
            seed: manifest.seed,
        };
        let cell = CellSource { key, folder: Some(path.to_owned()), result: None, planned: 0 };
        Ok(Self {
            kind: "run",
            title: name(path),
            cells: vec![cell],
            tables: Vec::new(),
            methods: Vec::new(),
            warnings: Vec::new(),
        })
    }

    fn evaluation(path: &Path) -> Result<Self, Failure> {
        let mut source = Self {
            kind: "evaluation",
            title: name(path),
            cells: Vec::new(),
            tables: Vec::new(),
            methods: Vec::new(),
            warnings: Vec::new(),
        };
        let mut cells: BTreeMap<CellKey, CellSource> = BTreeMap::new();
        let mut order = Vec::new();
        for (key, planned) in planned_cells(&path.join("matrix.json"), &mut source.warnings) {
            order.push(key.clone());
            cells.insert(key.clone(), CellSource { key, folder: None, result: None, planned });
        }
        let file = path.join("evaluation.json");
        if file.is_file() {
            let read = read(&file);
            if let Ok(bytes) = &read
                && !is_unchanged(path, "evaluation.json", bytes)?
            {
                let shown = file.display();
                source
                    .warnings
                    .push(format!("{shown} has no recorded hash, so changes to it cannot be noticed"));
            }
            match read.and_then(|bytes| parse::<Evaluation>(&file, &bytes)) {
                Ok(evaluation) => {
                    for result in evaluation.cells {
                        let key = result.key.clone();
                        let cell = cells.entry(key.clone()).or_insert_with(|| {
                            order.push(key.clone());
                            CellSource { key, folder: None, result: None, planned: 0 }
                        });
                        cell.result = Some(result);
                    }
                }
                Err(failure) => source.warnings.push(failure.to_string()),
            }
        }
        for (key, folder) in runs(&path.join("cells"))? {
            cells
                .entry(key.clone())
                .or_insert_with(|| {
                    order.push(key.clone());
                    CellSource { key, folder: None, result: None, planned: 0 }
                })
                .folder = Some(folder);
        }
        source.cells = order.into_iter().filter_map(|key| cells.remove(&key)).collect();
        if source.cells.is_empty() {
            let none = "the evaluation has no cell yet: nothing was run";
            source.warnings.push(none.to_owned());
        }
        let file = path.join("methods.json");
        if file.is_file() {
            match read(&file).and_then(|bytes| parse::<Methods>(&file, &bytes)) {
                Ok(methods) => source.methods.push(MethodsSource {
                    methods,
                    figure: read_regular_text(&path.join("methods.svg"), MAX_RECORD_BYTES).ok(),
                }),
                Err(failure) => source.warnings.push(failure.to_string()),
            }
        }
        for (title, file) in TABLES {
            if let Ok(text) = read_regular_text(&path.join(file), MAX_RECORD_BYTES) {
                source.tables.push((title.to_owned(), text));
            }
        }
        Ok(source)
    }
}

impl CellSource {
    /// The outcome of each task in the evaluation, with the reason.
    pub(crate) fn outcomes(&self) -> HashMap<&str, (TaskOutcome, &str)> {
        let tasks = self.result.iter().flat_map(|result| &result.tasks);
        tasks.map(|task| (task.task.as_str(), (task.outcome, task.why.as_str()))).collect()
    }
}

/// The planned cells of an evaluation in the order of its table, with numbers of tasks. The name of a suite
/// comes from its folder; without the folder it comes from its runs.
fn planned_cells(file: &Path, warnings: &mut Vec<String>) -> Vec<(CellKey, usize)> {
    if !file.is_file() {
        return Vec::new();
    }
    let matrix = match json::<Matrix>(file) {
        Ok(matrix) => matrix.in_folder(file.parent().unwrap_or(Path::new(""))),
        Err(failure) => {
            warnings.push(failure.to_string());
            return Vec::new();
        }
    };
    let mut cells = Vec::new();
    for folder in &matrix.suites {
        let Some(suite) = load_leniently(folder).suite else {
            warnings.push(format!(
                "{} is not there any more: of this suite only runs are shown",
                folder.display()
            ));
            continue;
        };
        let tasks = suite.tasks.len().min(matrix.tasks.unwrap_or(usize::MAX));
        for pipeline in matrix.pipeline_names() {
            for model in matrix.models_of(&pipeline) {
                for &seed in &matrix.seeds {
                    let (suite, pipeline, model) = (suite.name.clone(), pipeline.clone(), model.name.clone());
                    cells.push((CellKey { suite, pipeline, model, seed }, tasks));
                }
            }
        }
    }
    cells
}

/// The runs below `cells/SUITE/PIPELINE[@MODEL]/SEED`, by name and number.
fn runs(cells: &Path) -> Result<Vec<(CellKey, PathBuf)>, Failure> {
    let mut found = Vec::new();
    for suite in folders(cells)? {
        for column in folders(&suite)? {
            let column_name = name(&column);
            let (pipeline, model) = column_name.split_once('@').unwrap_or((&column_name, ""));
            for seed in folders(&column)? {
                let Ok(number) = name(&seed).parse() else { continue };
                if seed.join("run.json").is_file() {
                    let key = CellKey {
                        suite: name(&suite),
                        pipeline: pipeline.to_owned(),
                        model: model.to_owned(),
                        seed: number,
                    };
                    found.push((key, seed));
                }
            }
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(found)
}

fn folders(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let listed = fs::read_dir(path).and_then(|entries| {
        entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<PathBuf>>>()
    });
    let mut listed = listed.map_err(|error| {
        let message = format!("{} cannot be listed: {error}", path.display());
        Failure::new(FailureClass::System, "record.io", message)
    })?;
    listed.retain(|path| path.is_dir());
    listed.sort();
    Ok(listed)
}

fn name(path: &Path) -> String {
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    whole.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, Failure> {
    parse(path, &read(path)?)
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    read_regular(path, MAX_RECORD_BYTES).map_err(|error| {
        Failure::new(FailureClass::System, "record.io", format!("{} cannot be read: {error}", path.display()))
    })
}

fn parse<T: serde::de::DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<T, Failure> {
    planforge_contract::read_json(bytes).map_err(|error| {
        let message = format!("{} is not what it should be: {error}", path.display());
        Failure::new(FailureClass::System, "record.corrupt", message)
    })
}

/// The texts of suites, each folder read once.
#[derive(Default)]
pub(crate) struct SuiteTexts {
    known: HashMap<PathBuf, Option<Read>>,
}

struct Read {
    domain: String,
    tasks: HashMap<String, String>,
    showing: Showing,
}

/// Picture and wording of the plans of a suite.
#[derive(Clone, Default)]
pub(crate) struct Showing {
    /// The template that draws states (picture.toml).
    pub(crate) picture: Option<String>,
    /// The wording of facts (sentences.toml).
    pub(crate) wording: Wording,
}

impl SuiteTexts {
    /// Picture and wording of its plans; names alone if the folder is gone.
    pub(crate) fn showing(&mut self, suite: &Path) -> Showing {
        self.read(suite).as_ref().map(|read| read.showing.clone()).unwrap_or_default()
    }

    fn read(&mut self, suite: &Path) -> &Option<Read> {
        self.known.entry(suite.to_owned()).or_insert_with(|| {
            let suite = load_leniently(suite).suite?;
            let tasks = suite.tasks.iter().map(|task| (task.stem.clone(), task.text.clone())).collect();
            let showing = Showing { picture: suite.picture, wording: Wording::new(&suite.sentences) };
            Some(Read { domain: suite.domain_text, tasks, showing })
        })
    }

    /// The description of the domain and of the task.
    pub(crate) fn of(&mut self, suite: &Path, stem: &str) -> Vec<(String, String)> {
        let Some(read) = self.read(suite) else { return Vec::new() };
        let task = read.tasks.get(stem).cloned().unwrap_or_default();
        [("The task", task), ("The domain", read.domain.clone())]
            .into_iter()
            .filter(|(_, text)| !text.trim().is_empty())
            .map(|(name, text)| (name.to_owned(), text))
            .collect()
    }
}
