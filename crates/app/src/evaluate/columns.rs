//! The columns: pipeline files, each with each of the matrix's models, checked before anything is run; the stages of each that decide; and
//! overrides of the models that do not fit, collected so that one mistake is reported once.

use super::TableRequest;
use crate::context::Context;
use crate::error::Error;
use crate::files::read_named_text;
use crate::pipelines::loaded::{LoadedPipeline, PluginsAndPrices, RegistryCatalogue};
use crate::pipelines::prepare::known_secrets;
use crate::status::Status;
use planforge_diagnostics::{Diagnostic, SourceMap};
use planforge_evaluate::matrix::{Matrix, MatrixModel};
use planforge_evaluate::results::{CellKey, ClassStages, Judges, PluginFacts};
use planforge_pipeline::{StageKind, Texts};
use secrecy::SecretString;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A column of the table: a pipeline file with a model.
pub(super) struct ColumnFile {
    /// `PIPELINE`, or `PIPELINE@MODEL`.
    pub(super) name: String,
    pub(super) pipeline: String,
    /// Empty for the pipeline's own models.
    pub(super) model: String,
    /// The overrides of the matrix, and those of the model after them.
    pub(super) set: Vec<String>,
    pub(super) path: PathBuf,
    pub(super) text: String,
    pub(super) judges: Judges,
    pub(super) texts: Texts,
    /// Secrets that must not reach files shared by the columns.
    pub(super) secrets: Vec<SecretString>,
}

impl ColumnFile {
    /// The cell of this column for a suite and a seed.
    pub(super) fn key(&self, suite: &str, seed: u64) -> CellKey {
        let (pipeline, model) = (self.pipeline.clone(), self.model.clone());
        CellKey { suite: suite.to_owned(), pipeline, model, seed }
    }
}

/// Reads and checks the pipelines.
///
/// # Errors
/// The mistakes of all of them.
pub(super) fn columns(
    context: &Context,
    args: &TableRequest,
    matrix: &Matrix,
    plugins: &PluginsAndPrices,
) -> Result<Vec<ColumnFile>, Error> {
    let mut read: Vec<ColumnFile> = Vec::new();
    let mut wrong: Vec<Error> = Vec::new();
    let mut misfits = Misfits::default();
    for (path, pipeline) in matrix.pipelines.iter().zip(matrix.pipeline_names()) {
        let text = match read_named_text(path) {
            Ok(text) => text,
            Err(error) => {
                wrong.push(error);
                continue;
            }
        };
        let matrix = &matrix.for_pipeline(&pipeline);
        let mut printed = Vec::new();
        for model in &matrix.models_of(&pipeline) {
            if !misfits.of_tables(matrix, model, &pipeline, &text).is_empty() {
                continue;
            }
            let checked = check(
                (context, plugins),
                matrix,
                model,
                (path, &pipeline, &text),
                &mut printed,
                &mut misfits,
            );
            let checked = match checked {
                Ok(checked) => checked,
                Err(error) => {
                    wrong.push(error);
                    continue;
                }
            };
            let key = CellKey {
                suite: String::new(),
                pipeline: pipeline.clone(),
                model: model.name.clone(),
                seed: 0,
            };
            read.push(ColumnFile {
                name: key.column(),
                pipeline: key.pipeline,
                model: key.model,
                set: matrix.set.iter().chain(&model.set).cloned().collect(),
                path: path.clone(),
                text: text.clone(),
                judges: judges(args, &checked),
                texts: checked.pipeline.config.given.texts(),
                secrets: known_secrets(context, &checked.pipeline.config, &checked.registry),
            });
        }
    }
    let misfits = misfits.diagnostics();
    if !misfits.is_empty() {
        wrong.push(Error::findings(Status::Pipeline, misfits, SourceMap::default()));
    }
    // The last mistake names the status.
    let status = wrong.last().map(|error| error.status);
    if let (Some(error), Some(status)) = (Error::join(wrong), status) {
        return Err(error.with_status(status));
    }
    check_stage_labels(args, &read)?;
    Ok(read)
}

/// Checks a pipeline with a model. What the model's overrides make wrong is kept for one message about all pipelines; the rest is reported, the
/// same for several models once.
fn check(
    (context, plugins): (&Context, &PluginsAndPrices),
    matrix: &Matrix,
    model: &MatrixModel,
    (path, pipeline, text): (&Path, &str, &str),
    printed: &mut Vec<Diagnostic>,
    misfits: &mut Misfits,
) -> Result<LoadedPipeline, Error> {
    let (registry, prices) = (Arc::clone(&plugins.registry), plugins.prices.unused());
    let set: Vec<String> = matrix.set.iter().chain(&model.set).cloned().collect();
    let name = path.display().to_string();
    let catalogue = RegistryCatalogue { registry: &registry, prices: &prices };
    let checked = planforge_pipeline::check(text, &name, &catalogue, &set);
    let mut own = Vec::new();
    for diagnostic in checked.diagnostics {
        let source = diagnostic.primary().map_or(0, |label| label.source.0 as usize);
        // Source 0 is the file, and each override has one after it.
        match source.checked_sub(1 + matrix.set.len()).and_then(|at| model.set.get(at)) {
            Some(argument) if diagnostic.is_error() => {
                misfits.add(argument, &diagnostic.message, diagnostic.help.first(), &model.name, pipeline);
            }
            _ if printed.contains(&diagnostic) => {}
            _ => {
                printed.push(diagnostic.clone());
                own.push(diagnostic);
            }
        }
    }
    match checked.pipeline {
        Some(pipeline) => {
            context.findings(&own, &checked.sources);
            Ok(LoadedPipeline { registry, pipeline, listed_prices: prices.into_used() })
        }
        None if own.is_empty() => Err(Error::of_status(Status::Pipeline)),
        None => Err(Error::findings(Status::Pipeline, own, checked.sources)),
    }
}

fn judges(args: &TableRequest, checked: &LoadedPipeline) -> Judges {
    let config = &checked.pipeline.config;
    let plugins = |id: &str| checked.registry.info(id).ok().map(|info| PluginFacts::of(&info));
    let mut judges = Judges::of(config, plugins);
    if let Some(label) = &args.accuracy_by {
        judges.equivalent = verify_stage(config, label);
    }
    if let Some(label) = &args.classes_by {
        judges.classes = ClassStages::of(config, plugins, label);
    }
    judges
}

/// Refuses a stage label that no pipeline has.
fn check_stage_labels(args: &TableRequest, read: &[ColumnFile]) -> Result<(), Error> {
    let none = |has: fn(&Judges) -> bool| !read.iter().any(|column| has(&column.judges));
    if let Some(label) = args.accuracy_by.as_ref().filter(|_| none(|judges| judges.equivalent.is_some())) {
        let message = format!("--accuracy-by: no pipeline has a verify stage `{label}`");
        return Err(Error::usage(message, None));
    }
    if let Some(label) = args.classes_by.as_ref().filter(|_| none(|judges| judges.classes.is_some())) {
        let message = format!("--classes-by: no pipeline has a stage `{label}` that classifies actions");
        return Err(Error::usage(message, None));
    }
    Ok(())
}

fn verify_stage(pipeline: &planforge_pipeline::Pipeline, label: &str) -> Option<String> {
    let stage = pipeline.all_stages().find(|s| s.label() == label && s.kind() == StageKind::Verify);
    stage.map(|stage| stage.label().to_owned())
}

/// The models and pipelines of one wrong override.
#[derive(Debug, Default)]
struct Misfit {
    models: BTreeSet<String>,
    pipelines: BTreeSet<String>,
    /// The existing tables or keys.
    help: BTreeSet<String>,
}

/// By key and what is wrong with it.
#[derive(Debug, Default)]
pub(super) struct Misfits(BTreeMap<(String, String), Misfit>);

impl Misfits {
    /// Notes an override that a pipeline does not take.
    pub(super) fn add(
        &mut self,
        argument: &str,
        message: &str,
        help: Option<&String>,
        model: &str,
        pipeline: &str,
    ) {
        let key = argument.split_once('=').map_or(argument, |(key, _)| key).trim();
        let misfit = self.0.entry((key.to_owned(), message.to_owned())).or_default();
        misfit.models.insert(format!("`{model}`"));
        misfit.pipelines.insert(format!("`{pipeline}`"));
        misfit.help.extend(help.cloned());
    }

    /// Collects overrides that would create a model table or environment which the pipeline file does not
    /// have, as nothing would use it. Returns the wrong overrides.
    pub(super) fn of_tables(
        &mut self,
        matrix: &Matrix,
        model: &MatrixModel,
        pipeline: &str,
        text: &str,
    ) -> Vec<String> {
        // An unreadable file is reported when it is checked.
        let Ok(file) = toml::from_str::<toml::Table>(text) else { return Vec::new() };
        let set = |path: &[&str]| {
            matrix.set.iter().any(|argument| {
                let key = argument.split_once('=').map_or("", |(key, _)| key);
                path.iter().copied().eq(key.split('.').map(str::trim).take(path.len()))
            })
        };
        let models: BTreeSet<&str> = file
            .get("llm")
            .and_then(toml::Value::as_table)
            .map(|tables| tables.keys().map(String::as_str).collect())
            .unwrap_or_default();
        let mut wrong = Vec::new();
        for argument in &model.set {
            let key = argument.split_once('=').map_or("", |(key, _)| key);
            let path: Vec<&str> = key.split('.').map(str::trim).collect();
            let (message, help) = match path.as_slice() {
                ["llm", name, ..] if !models.contains(name) && !set(&["llm", name]) => {
                    let known: Vec<String> = models.iter().map(|name| format!("[llm.{name}]")).collect();
                    let known = if known.is_empty() { "no model".to_owned() } else { known.join(", ") };
                    (format!("there is no [llm.{name}]"), format!("`{pipeline}` has {known}"))
                }
                ["environment", ..] if !file.contains_key("environment") && !set(&["environment"]) => {
                    ("there is no [environment]".to_owned(), format!("`{pipeline}` has none"))
                }
                _ => continue,
            };
            self.add(argument, &message, Some(&help), &model.name, pipeline);
            wrong.push(argument.clone());
        }
        wrong
    }

    /// One diagnostic for each key and what is wrong with it.
    pub(super) fn diagnostics(self) -> Vec<Diagnostic> {
        let listed = |names: BTreeSet<String>| names.into_iter().collect::<Vec<_>>().join(", ");
        let each = self.0.into_iter().map(|((key, message), misfit)| {
            let models = if misfit.models.len() == 1 { "the model" } else { "the models" };
            let pipelines = if misfit.pipelines.len() == 1 { "the pipeline" } else { "the pipelines" };
            let text = format!(
                "{models} {} of the matrix set `{key}`, and in {pipelines} {} {message}",
                listed(misfit.models),
                listed(misfit.pipelines)
            );
            let help = misfit
                .help
                .into_iter()
                .fold(String::new(), |all, one| if all.is_empty() { one } else { format!("{all}; {one}") });
            let diagnostic = Diagnostic::error("evaluate.model", text);
            if help.is_empty() { diagnostic } else { diagnostic.help(help) }
        });
        each.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(name: &str, set: &[&str]) -> MatrixModel {
        MatrixModel {
            name: name.to_owned(),
            set: set.iter().map(|s| (*s).to_owned()).collect(),
            ..MatrixModel::default()
        }
    }

    #[test]
    fn a_missing_table_is_reported_once_for_all_models_and_pipelines() {
        let matrix = Matrix { set: vec!["llm.given.model=x".to_owned()], ..Matrix::default() };
        let (small, large) = (
            model("small", &["llm.main.model=s"]),
            model("large", &["llm.main.model=l", "llm.given.seed=1"]),
        );
        let text = "schema = 1\n[llm.writer]\nuse = \"provider-openai\"\n";
        let mut misfits = Misfits::default();
        for model in [&small, &large] {
            for pipeline in ["a", "b"] {
                assert_eq!(misfits.of_tables(&matrix, model, pipeline, text).len(), 1);
            }
        }
        assert!(misfits.of_tables(&matrix, &small, "c", "[llm.main]\n").is_empty());
        let found = misfits.diagnostics();
        assert_eq!(found.len(), 1, "{found:?}");
        for word in ["`large`, `small`", "`llm.main.model`", "`a`, `b`", "[llm.main]"] {
            assert!(found[0].message.contains(word), "{word}: {}", found[0].message);
        }
        assert!(found[0].help[0].contains("[llm.writer]"), "{:?}", found[0].help);
    }

    #[test]
    fn an_override_does_not_create_an_environment() {
        let mut misfits = Misfits::default();
        let other = model("m", &["environment.options.x=1"]);
        assert_eq!(misfits.of_tables(&Matrix::default(), &other, "a", "schema = 1\n").len(), 1);
        assert!(
            misfits.of_tables(&Matrix::default(), &other, "a", "[environment]\nuse = \"e\"\n").is_empty()
        );
        assert_eq!(misfits.diagnostics().len(), 1);
    }
}
