//! The columns: pipeline files, each with each of the matrix's models, checked before anything is run; and the stages of each that decide.

use super::TableArgs;
use super::overrides::Misfits;
use crate::catalogue::RegistryCatalogue;
use crate::context::Context;
use crate::exit::Exit;
use crate::inputs::read_text;
use crate::pipeline::{LoadedPipeline, PluginsAndPrices};
use crate::prepare::known_secrets;
use planforge_diagnostics::{Diagnostic, SourceMap};
use planforge_evaluate::matrix::{Matrix, MatrixModel};
use planforge_evaluate::results::{CellKey, ClassStages, Judges, PluginFacts};
use planforge_pipeline::{StageKind, Texts};
use secrecy::SecretString;
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

/// Reads and checks the pipelines; the mistakes of all of them are printed.
pub(super) fn columns(
    context: &Context,
    args: &TableArgs,
    matrix: &Matrix,
    plugins: &PluginsAndPrices,
) -> Result<Vec<ColumnFile>, Exit> {
    let own = MatrixModel::default();
    let models: Vec<&MatrixModel> =
        if matrix.models.is_empty() { vec![&own] } else { matrix.models.iter().collect() };
    let mut read: Vec<ColumnFile> = Vec::new();
    let mut bad = None;
    let mut misfits = Misfits::default();
    for (path, pipeline) in matrix.pipelines.iter().zip(matrix.pipeline_names()) {
        let text = match read_text(path) {
            Ok(text) => text,
            Err(diagnostic) => {
                let shown = path.display().to_string();
                context.output.diagnostics(&[*diagnostic], &SourceMap::single(shown, ""));
                bad = Some(Exit::Input);
                continue;
            }
        };
        let mut printed = Vec::new();
        for model in &models {
            if !misfits.of_tables(matrix, model, &pipeline, &text).is_empty() {
                continue;
            }
            let Some(checked) = check(
                (context, plugins),
                matrix,
                model,
                (path, &pipeline, &text),
                &mut printed,
                &mut misfits,
            ) else {
                bad = Some(Exit::Pipeline);
                continue;
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
                secrets: known_secrets(&checked.pipeline.config, &checked.registry),
            });
        }
    }
    let misfits = misfits.diagnostics();
    if !misfits.is_empty() {
        context.output.diagnostics(&misfits, &SourceMap::default());
        bad = Some(Exit::Pipeline);
    }
    bad.map_or(Ok(()), Err)?;
    check_stage_labels(context, args, &read)?;
    Ok(read)
}

/// Checks a pipeline with a model. What the model's overrides make wrong is kept for one message about all pipelines; the rest is printed, the
/// same for several models once.
fn check(
    (context, plugins): (&Context, &PluginsAndPrices),
    matrix: &Matrix,
    model: &MatrixModel,
    (path, pipeline, text): (&Path, &str, &str),
    printed: &mut Vec<Diagnostic>,
    misfits: &mut Misfits,
) -> Option<LoadedPipeline> {
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
    context.output.diagnostics(&own, &checked.sources);
    checked.pipeline.map(|pipeline| LoadedPipeline { registry, pipeline, listed_prices: prices.into_used() })
}

fn judges(args: &TableArgs, checked: &LoadedPipeline) -> Judges {
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
fn check_stage_labels(context: &Context, args: &TableArgs, read: &[ColumnFile]) -> Result<(), Exit> {
    let none = |has: fn(&Judges) -> bool| !read.iter().any(|column| has(&column.judges));
    if let Some(label) = args.accuracy_by.as_ref().filter(|_| none(|judges| judges.equivalent.is_some())) {
        let message = format!("--accuracy-by: no pipeline has a verify stage `{label}`");
        return Err(context.usage_error(message, None));
    }
    if let Some(label) = args.classes_by.as_ref().filter(|_| none(|judges| judges.classes.is_some())) {
        let message = format!("--classes-by: no pipeline has a stage `{label}` that classifies actions");
        return Err(context.usage_error(message, None));
    }
    Ok(())
}

fn verify_stage(pipeline: &planforge_pipeline::Pipeline, label: &str) -> Option<String> {
    let stage = pipeline.all_stages().find(|s| s.label() == label && s.kind() == StageKind::Verify);
    stage.map(|stage| stage.label().to_owned())
}
