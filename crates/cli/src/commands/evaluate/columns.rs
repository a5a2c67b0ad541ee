//! The columns: pipeline files, checked before anything is run, and the stages of each that decide.

use crate::args::EvaluateArgs;
use crate::commands::Context;
use crate::exit::Exit;
use crate::inputs::read_text;
use crate::session;
use planforge_diagnostics::SourceMap;
use planforge_evaluate::evaluation::{ClassStages, Judges, Matrix};
use planforge_pipeline::{StageKind, Texts};
use std::path::PathBuf;

/// A column.
pub(super) struct PipelineFile {
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) text: String,
    pub(super) judges: Judges,
    pub(super) texts: Texts,
}

/// Reads and checks the pipelines; the mistakes of all of them are printed.
pub(super) fn pipelines(
    context: &Context,
    args: &EvaluateArgs,
    matrix: &Matrix,
) -> Result<Vec<PipelineFile>, Exit> {
    let mut read: Vec<PipelineFile> = Vec::new();
    let mut bad = None;
    for (path, name) in matrix.pipelines.iter().zip(matrix.pipeline_names()) {
        let shown = path.display().to_string();
        let checked = read_text(path)
            .map_err(|diagnostic| {
                context.output.diagnostics(&[*diagnostic], &SourceMap::single(shown.clone(), ""));
                Exit::Input
            })
            .and_then(|text| Ok((session::check(context, &text, &shown, &matrix.set)?, text)));
        match checked {
            Ok((checked, text)) => {
                let simulated = |id: &str| {
                    checked
                        .registry
                        .info(id)
                        .is_ok_and(|info| info.capabilities.iter().any(|c| c == "simulated"))
                };
                let mut judges = Judges::of(&checked.pipeline.config, simulated);
                if let Some(label) = &args.accuracy_by {
                    judges.equivalent = verify_stage(&checked.pipeline.config, label);
                }
                if let Some(label) = &args.classes_by {
                    judges.classes = ClassStages::of(&checked.pipeline.config, Some(label));
                }
                let texts = checked.pipeline.config.given.texts();
                read.push(PipelineFile { name, path: path.clone(), text, judges, texts });
            }
            Err(exit) => bad = Some(exit),
        }
    }
    if let Some(exit) = bad {
        return Err(exit);
    }
    if let Some(label) =
        args.accuracy_by.as_ref().filter(|_| read.iter().all(|p| p.judges.equivalent.is_none()))
    {
        context.output.note(&format!("error: --accuracy-by: no pipeline has a verify stage `{label}`"));
        return Err(Exit::Usage);
    }
    let classified = |p: &PipelineFile| p.judges.classes.is_some();
    if let Some(label) = args.classes_by.as_ref().filter(|_| !read.iter().any(classified)) {
        context
            .output
            .note(&format!("error: --classes-by: no pipeline has a stage `{label}` of verifier-classes"));
        return Err(Exit::Usage);
    }
    Ok(read)
}

fn verify_stage(pipeline: &planforge_pipeline::Pipeline, label: &str) -> Option<String> {
    let stage = pipeline.all_stages().find(|s| s.label() == label && s.kind() == StageKind::Verify);
    stage.map(|stage| stage.label().to_owned())
}
