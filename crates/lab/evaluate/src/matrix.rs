//! The matrix of an evaluation, from a TOML file or the command line.

mod models;
mod seeds;
mod select;

pub use models::MatrixModel;
pub use seeds::parse_seeds;
pub use select::{Axes, Filter, Selection, Shard, UnmatchedFilter};

use planforge_diagnostics::{Diagnostic, SourceMap, Span};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

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
    /// The models that every pipeline is run with. Where there are none, each asks its own.
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
    models: models::Tables,
    seeds: Seeds,
    tasks: Option<usize>,
    #[serde(default)]
    levels: Vec<u8>,
    #[serde(default)]
    set: Vec<String>,
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
        let here = |paths: Vec<PathBuf>| paths.into_iter().map(|path| folder.join(path)).collect();
        let matrix = Self {
            suites: here(file.matrix.suites),
            pipelines: here(file.matrix.pipelines),
            models: models::in_order(file.matrix.models),
            seeds,
            tasks: file.matrix.tasks,
            levels: file.matrix.levels,
            set: file.matrix.set,
            add_ons: here(file.matrix.add_ons),
        };
        let seeds_told = !wrong.is_empty();
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
        let wrong = self.mistakes();
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
        wrong.extend(models::mistakes(&self.models));
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
}
