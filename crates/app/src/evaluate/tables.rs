//! The tables of an evaluation in each layout, with the columns of other evaluations.

use super::{Layout, TableRequest, read_evaluation};
use crate::context::Context;
use crate::error::Error;
use crate::files::write;
use crate::status::Status;
use planforge_contract::Failure;
use planforge_diagnostics::{Diagnostic, SourceMap};
use planforge_evaluate::Artefact;
use planforge_evaluate::results::Evaluation;
use planforge_evaluate::tables::{
    Accuracy, ClassSettings, Classes, Methods, Plans, Scaling, class_figures, curve_files, curves, ladder,
    ladder_files,
};
use std::collections::BTreeMap;
use std::path::Path;

/// The tables other than that of [`Evaluation`], with the columns of other evaluations.
#[derive(Debug, Clone)]
pub struct Tables {
    /// Problems equal to the reference problem.
    pub accuracy: Accuracy,
    /// Domains written, by method and criterion.
    pub scaling: Scaling,
    /// Plan accuracy by domain.
    pub plans: Plans,
    /// Result classes of actions.
    pub classes: Classes,
    /// Methods in sentences.
    pub methods: Methods,
}

impl Tables {
    fn new(context: &Context, args: &TableRequest, own: &Evaluation) -> Result<Self, Error> {
        let others = others(context, args)?;
        let all: Vec<&Evaluation> = std::iter::once(own).chain(&others).collect();
        let methods: BTreeMap<String, String> = args.methods.iter().cloned().collect();
        let known = |name: &str| all.iter().flat_map(|e| &e.columns).any(|column| column.pipeline == name);
        if let Some(name) = methods.keys().find(|name| !known(name)) {
            return Err(Error::usage(format!("--method: there is no pipeline `{name}`"), None));
        }
        let refused = |option: &str, message: String, help: &'static str| {
            let diagnostic = Diagnostic::error("evaluate.matrix", format!("{option}: {message}")).help(help);
            Error::findings(Status::Usage, vec![diagnostic], SourceMap::default())
        };
        let beside =
            "evaluations that stand beside each other differ in the model, the pipeline or the suite";
        let place =
            "give the pipelines different methods with --method, or evaluate them into different folders";
        // What one layout cannot show side by side, another can: only the requested layout is refused.
        let left_out = |layout: Layout, message: &str| {
            let left_out = args.layout != layout && !others.is_empty();
            if left_out {
                let name = layout.name();
                context.warn(format!("{name}.*: made without --also: {message}"));
            }
            left_out
        };
        let accuracy = match Accuracy::new(&all) {
            Err(message) if left_out(Layout::Accuracy, &message) => Accuracy::new(&[own]),
            other => other,
        };
        let scaling = match Scaling::new(&all, &methods, args.base.as_deref()) {
            Err(message) if left_out(Layout::Scaling, &message) => Scaling::new(&[own], &methods, None),
            other => other,
        };
        let settings = class_settings(args, methods.clone());
        let classes = match Classes::new(&all, &settings) {
            Err(message) if left_out(Layout::Classes, &message) => Classes::new(&[own], &settings),
            other => other,
        };
        Ok(Self {
            accuracy: accuracy.map_err(|message| refused("--also", message, beside))?,
            scaling: scaling.map_err(|message| refused("--method, --base", message, place))?,
            plans: Plans::new(&all, &methods),
            classes: classes.map_err(|message| refused("--also, --model-size", message, beside))?,
            methods: Methods::new(&all),
        })
    }

    /// Everything that goes into the output folder.
    fn files(&self, evaluation: &Evaluation) -> Result<Vec<Artefact>, Failure> {
        let mut files = evaluation.artefacts()?;
        if self.accuracy.is_measured() {
            files.extend(self.accuracy.artefacts()?);
        }
        files.extend(self.scaling.artefacts()?);
        files.extend(self.plans.artefacts()?);
        files.extend(self.methods.artefacts()?);
        if self.classes.is_measured() {
            files.extend(self.classes.artefacts()?);
        }
        Ok(files)
    }
}

/// Writes every table and figure.
pub(super) fn publish(
    context: &Context,
    out: &Path,
    args: &TableRequest,
    evaluation: &Evaluation,
) -> Result<Tables, Error> {
    let tables = Tables::new(context, args, evaluation)?;
    let mut files = tables.files(evaluation)?;
    files.push(Artefact::sums(&files));
    for file in files {
        write(&out.join(&file.name), file.contents.as_bytes())?;
    }
    if let Some(folder) = args.curves.as_ref().map(|folder| context.path(folder)) {
        let curves = curves(evaluation);
        let ladder = ladder(evaluation);
        if curves.is_empty() && ladder.is_empty() {
            context.warn(
                "--curves: no task has samples, rounds or an axis of the ladder, so there are no curves",
            );
        }
        for file in curve_files(&curves)?.into_iter().chain(ladder_files(&ladder)?) {
            write(&folder.join(&file.name), file.contents.as_bytes())?;
        }
    }
    if let Some(folder) = args.figures.as_ref().map(|folder| context.path(folder)) {
        let figures = class_figures(&tables.classes)?;
        for note in &figures.notes {
            context.warn(format!("--figures: {note}"));
        }
        for file in figures.files {
            write(&folder.join(&file.name), file.contents.as_bytes())?;
        }
    }
    Ok(tables)
}

/// The evaluations whose columns are added.
fn others(context: &Context, args: &TableRequest) -> Result<Vec<Evaluation>, Error> {
    args.also.iter().map(|folder| read_evaluation(context, &context.path(folder))).collect()
}

/// The options about result classes.
fn class_settings(args: &TableRequest, methods: BTreeMap<String, String>) -> ClassSettings {
    ClassSettings { methods, sizes: args.model_sizes.iter().cloned().collect(), reading: args.are }
}
