//! The contents of a folder: runs, evaluations, tasks in words, pipeline files and suites, for a front that shows a folder.

use super::{ListedRun, StoredRun, listed};
use crate::context::Context;
use planforge_evaluate::matrix::Matrix;
use planforge_record::{MAX_RECORD_BYTES, RunFolder, RunManifest, read_regular_text};
use serde::{Deserialize, Serialize};
use std::fs::Metadata;
use std::path::{Path, PathBuf};

/// Folders below the one that is named, at most.
const MOST_DEPTH: usize = 5;
/// Most files and folders that are looked at.
const MOST_ENTRIES: usize = 50_000;
/// Largest pipeline file that is looked into.
const MOST_BYTES: u64 = 1 << 20;

/// The contents of a folder. Paths are relative to the folder of the context.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Survey {
    /// Run folders, newest first.
    pub runs: Vec<PlacedRun>,
    /// Evaluations.
    pub evaluations: Vec<ListedEvaluation>,
    /// Tasks in words, newest first.
    pub tasks: Vec<ListedTask>,
    /// Pipeline files.
    pub pipelines: Vec<ListedPipeline>,
    /// Matrix files of evaluations.
    pub matrices: Vec<PathBuf>,
    /// Suites.
    pub suites: Vec<PathBuf>,
    /// True if the folder has more than is looked at.
    pub is_incomplete: bool,
}

/// A run with its folder.
#[derive(Debug, Clone, Serialize)]
pub struct PlacedRun {
    /// The run folder.
    pub path: PathBuf,
    /// The run.
    #[serde(flatten)]
    pub run: ListedRun,
}

/// An evaluation in a list.
#[derive(Debug, Clone, Serialize)]
pub struct ListedEvaluation {
    /// Its folder.
    pub path: PathBuf,
    /// Cells of its matrix, or those with a run where these are more.
    pub cells: usize,
    /// Of these, cells whose run has ended.
    pub finished: usize,
    /// True if a process writes one of them now.
    pub in_progress: bool,
}

/// A task in words in a list.
#[derive(Debug, Clone, Serialize)]
pub struct ListedTask {
    /// Its folder.
    pub path: PathBuf,
    /// The beginning of its text.
    pub line: String,
    /// True if it has an answer.
    pub answered: bool,
    /// Time of its first run, UTC; empty without one.
    pub created_at: String,
}

/// A pipeline file in a list.
#[derive(Debug, Clone, Serialize)]
pub struct ListedPipeline {
    /// The file.
    pub path: PathBuf,
    /// Its description of itself (`about`); may be empty.
    pub about: String,
}

#[derive(Deserialize)]
struct PipelineFile {
    #[serde(default)]
    about: String,
    #[expect(dead_code, reason = "a file without stages is not a pipeline")]
    stage: Vec<toml::Table>,
}

#[derive(Deserialize)]
struct MatrixFile {
    #[expect(dead_code, reason = "a file without it is not a matrix")]
    matrix: MatrixLists,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "a table without them is not that of a matrix")]
struct MatrixLists {
    suites: Vec<String>,
    pipelines: Vec<toml::Value>,
}

/// Looks into a folder and the folders below it. Hidden folders and the insides of runs are passed over, and no link is followed.
pub fn survey(context: &Context, folder: &Path) -> Survey {
    let mut walk = Walk { context, survey: Survey::default(), entries: 0 };
    walk.folder(folder, 0);
    let mut survey = walk.survey;
    survey.runs.sort_by(|a, b| (&b.run.created_at, &b.path).cmp(&(&a.run.created_at, &a.path)));
    survey.tasks.sort_by(|a, b| (&b.created_at, &a.path).cmp(&(&a.created_at, &b.path)));
    survey.evaluations.sort_by(|a, b| a.path.cmp(&b.path));
    survey.pipelines.sort_by(|a, b| a.path.cmp(&b.path));
    survey.matrices.sort();
    survey.suites.sort();
    survey
}

struct Walk<'c> {
    context: &'c Context,
    survey: Survey,
    entries: usize,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &Path, depth: usize) {
        let place = self.context.path(folder);
        let is = |name: &str, is_kind: fn(&Metadata) -> bool| {
            place.join(name).symlink_metadata().is_ok_and(|found| is_kind(&found))
        };
        let has = |name: &str| is(name, Metadata::is_file);
        if has("run.json") {
            if let Ok(manifest) = RunManifest::read(&place.join("run.json")) {
                let run = listed(&StoredRun { folder: place, manifest });
                self.survey.runs.push(PlacedRun { path: folder.to_owned(), run });
            }
            return;
        }
        if has("matrix.json") || is("cells", Metadata::is_dir) {
            self.survey.evaluations.push(evaluation(folder, &place));
            return;
        }
        if has("task.nl") && (is("runs", Metadata::is_dir) || has("models.json")) {
            self.survey.tasks.push(task(folder, &place));
            return;
        }
        if has("domain.nl") || has("suite.toml") {
            self.survey.suites.push(folder.to_owned());
        }
        for entry in std::fs::read_dir(&place).into_iter().flatten().flatten() {
            self.entries += 1;
            if self.entries > MOST_ENTRIES {
                self.survey.is_incomplete = true;
                return;
            }
            let (name, Ok(kind)) = (entry.file_name(), entry.file_type()) else { continue };
            let Some(name) = name.to_str().filter(|name| !name.starts_with('.')) else { continue };
            let path = folder.join(name);
            if kind.is_dir() && depth >= MOST_DEPTH {
                self.survey.is_incomplete = true;
            } else if kind.is_dir() && !["node_modules", "target"].contains(&name) {
                self.folder(&path, depth + 1);
            } else if kind.is_file() && name.ends_with(".toml") {
                self.file(path, &entry.path());
            }
        }
    }

    /// A file may be a pipeline, a matrix or neither.
    fn file(&mut self, path: PathBuf, place: &Path) {
        let text = read_regular_text(place, MOST_BYTES).unwrap_or_default();
        if text.contains("[[stage]]") {
            if let Ok(PipelineFile { about, .. }) = toml::from_str(&text) {
                self.survey.pipelines.push(ListedPipeline { path, about });
            }
        } else if text.contains("[matrix]") && toml::from_str::<MatrixFile>(&text).is_ok() {
            self.survey.matrices.push(path);
        }
    }
}

fn evaluation(folder: &Path, place: &Path) -> ListedEvaluation {
    let mut listed = ListedEvaluation { path: folder.to_owned(), cells: 0, finished: 0, in_progress: false };
    let inner = |place: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
        let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        folders.map(|entry| entry.path()).collect()
    };
    let columns = inner(&place.join("cells")).into_iter().flat_map(|suite| inner(&suite));
    let mut started = 0;
    for run in columns.flat_map(|column| inner(&column)).filter(|run| run.join("run.json").is_file()) {
        started += 1;
        listed.finished += usize::from(run.join("report.json").is_file());
        listed.in_progress |= RunFolder::is_in_progress(&run).unwrap_or(false);
    }
    listed.cells = started.max(planned_cells(place));
    listed
}

/// Cells of the matrix of an evaluation; 0 if it cannot be read.
fn planned_cells(place: &Path) -> usize {
    let text = read_regular_text(&place.join("matrix.json"), MAX_RECORD_BYTES).unwrap_or_default();
    let matrix: Option<Matrix> = serde_json::from_str(&text).ok();
    let columns = |of: &Matrix| -> usize {
        of.pipeline_names().iter().map(|pipeline| of.models_of(pipeline).len()).sum()
    };
    matrix.map_or(0, |of| of.suites.len() * columns(&of) * of.seeds.len())
}

fn task(folder: &Path, place: &Path) -> ListedTask {
    let text = read_regular_text(&place.join("task.nl"), MAX_RECORD_BYTES).unwrap_or_default();
    let first = super::stored_runs(&place.join("runs")).pop();
    ListedTask {
        path: folder.to_owned(),
        line: first_words(&text),
        answered: place.join("answer").is_dir(),
        created_at: first.map(|run| run.manifest.created_at).unwrap_or_default(),
    }
}

/// The beginning of a text, on one line.
fn first_words(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().take(20).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_s_pipelines_suites_and_tasks_are_found_and_hidden_ones_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let file = |path: &str, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let pipeline = "schema = 1\nabout = \"one call\"\n[[stage]]\ndo = \"translate\"\n";
        file("methods/one.toml", pipeline);
        file(".hidden/two.toml", pipeline);
        file("methods/other.toml", "[package]\nname = \"x\"\n");
        file("methods/all.toml", "[matrix]\nsuites = [\"../suites/boxes\"]\npipelines = [\"one.toml\"]\n");
        file("methods/size.toml", "[matrix]\nrows = 3\n");
        file("suites/boxes/domain.nl", "Boxes.");
        file("bakery/task.nl", "Bake  two\ncakes.");
        file("bakery/models.json", "[]");
        let matrix = r#"{"suites": ["a", "b"], "pipelines": ["p.toml"], "models": [{"name": "m"}, {"name": "n"}], "seeds": [1, 2, 3]}"#;
        file("study/matrix.json", matrix);
        file("study/cells/a/p@m/1/run.json", "{}");
        file("study/cells/a/p@m/1/report.json", "{}");
        let context = Context { folder: folder.path().to_owned(), ..Context::default() };
        let found = survey(&context, Path::new(""));
        let pipelines: Vec<_> =
            found.pipelines.iter().map(|one| (one.path.clone(), one.about.as_str())).collect();
        assert_eq!(pipelines, [(PathBuf::from("methods/one.toml"), "one call")]);
        assert_eq!(found.matrices, [PathBuf::from("methods/all.toml")]);
        assert_eq!(found.suites, [PathBuf::from("suites/boxes")]);
        assert_eq!(found.tasks[0].line, "Bake two cakes.");
        let study = &found.evaluations[0];
        assert_eq!(study.path, PathBuf::from("study"));
        assert_eq!((study.cells, study.finished), (12, 1), "cells that have not begun count");
        assert!(found.runs.is_empty() && !found.is_incomplete);
    }
}
