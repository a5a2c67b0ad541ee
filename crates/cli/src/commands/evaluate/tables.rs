//! The tables of an evaluation in each layout, with the columns of other evaluations.

use super::AreReading;
use super::Layout;
use super::TableArgs;
use super::read_evaluation;
use crate::context::Context;
use crate::exit::Exit;
use crate::files::write;
use crate::outcome::{WITHOUT_ANSWER, counts};
use planforge_contract::Failure;
use planforge_diagnostics::render::escape;
use planforge_diagnostics::{Diagnostic, SourceMap};
use planforge_evaluate::results::{CellState, Column, Evaluation, Reading, TaskOutcome};
use planforge_evaluate::tables::{
    Accuracy, ClassSettings, Classes, Methods, Plans, Scaling, class_figures, curve_files, curves,
};
use planforge_evaluate::{Artefact, wrapped};
use planforge_model_api::batch::Wave;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// The tables other than that of [`Evaluation`], with the columns of other evaluations.
struct Tables {
    accuracy: Accuracy,
    scaling: Scaling,
    plans: Plans,
    classes: Classes,
    methods: Methods,
}

impl Tables {
    fn new(context: &Context, args: &TableArgs, own: &Evaluation) -> Result<Self, Exit> {
        let others = others(context, args)?;
        let all: Vec<&Evaluation> = std::iter::once(own).chain(&others).collect();
        let methods: BTreeMap<String, String> = args.method.iter().cloned().collect();
        let known = |name: &str| all.iter().flat_map(|e| &e.columns).any(|column| column.pipeline == name);
        if let Some(name) = methods.keys().find(|name| !known(name)) {
            return Err(context.usage_error(format!("--method: there is no pipeline `{name}`"), None));
        }
        let refused = |option: &str, message: String, help: &'static str| {
            let diagnostic = Diagnostic::error("evaluate.matrix", format!("{option}: {message}")).help(help);
            context.output.diagnostics(&[diagnostic], &SourceMap::default());
            Exit::Usage
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
                context.output.note(&format!("warning: {name}.*: made without --also: {message}"));
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

    /// The tables on standard output; as JSON with what waits.
    fn print(&self, context: &Context, args: &TableArgs, evaluation: &Evaluation, waits: Option<&Wave>) {
        let output = &context.output;
        let print = |text: &str| output.result(&wrapped(text));
        if !args.json && !args.markdown {
            print(&match args.layout {
                Layout::Classes => classes_sentence(&self.classes),
                // Its text begins with the sentences of the methods.
                Layout::Methods => String::new(),
                _ => solved_sentence(evaluation),
            });
        }
        match (args.layout, args.json, args.markdown) {
            (Layout::Walks, true, _) => output.json(&with(evaluation, waits)),
            (Layout::Walks, false, _) => print(&evaluation.text()),
            (Layout::Accuracy, true, _) => output.json(&with(&self.accuracy, waits)),
            (Layout::Accuracy, false, true) => output.result(&self.accuracy.markdown()),
            (Layout::Accuracy, false, false) => print(&self.accuracy.text()),
            (Layout::Scaling, true, _) => output.json(&with(&self.scaling, waits)),
            (Layout::Scaling, false, true) => output.result(&self.scaling.markdown()),
            (Layout::Scaling, false, false) => print(&self.scaling.text()),
            (Layout::Plans, true, _) => output.json(&with(&self.plans, waits)),
            (Layout::Plans, false, true) => output.result(&self.plans.markdown()),
            (Layout::Plans, false, false) => print(&self.plans.text()),
            (Layout::Classes, true, _) => output.json(&with(&self.classes, waits)),
            (Layout::Classes, false, true) => output.result(&self.classes.markdown()),
            (Layout::Classes, false, false) => print(&self.classes.text()),
            (Layout::Methods, true, _) => output.json(&with(&self.methods, waits)),
            (Layout::Methods, false, true) => output.result(&self.methods.markdown()),
            (Layout::Methods, false, false) => print(&self.methods.text()),
        }
    }
}

/// Tasks solved by each pipeline over all seeds, those without an answer, and unfinished cells.
fn solved_sentence(evaluation: &Evaluation) -> String {
    let share = |column: &Column| {
        let cells = evaluation.cells.iter().filter(|cell| column.holds(&cell.key));
        let outcomes: Vec<TaskOutcome> =
            cells.flat_map(|cell| &cell.tasks).map(|task| task.outcome).collect();
        let solved = outcomes.iter().filter(|outcome| **outcome == TaskOutcome::Solved).count();
        let open = counts(&outcomes, &WITHOUT_ANSWER).map_or_else(String::new, |open| format!(" ({open})"));
        format!("{} {solved} of {}{open}", escape(&column.name()), outcomes.len())
    };
    let shares: Vec<String> = evaluation.columns.iter().map(share).collect();
    let open = evaluation.cells.iter().filter(|cell| cell.state == CellState::Unfinished).count();
    let open = match open {
        0 => String::new(),
        n => format!("; {n} of {} cells not finished", evaluation.cells.len()),
    };
    format!("Tasks solved: {}{open}.\n\n", shares.join(", "))
}

fn classes_sentence(classes: &Classes) -> String {
    let replies: u64 = classes.columns.iter().map(|column| column.replies).sum();
    let columns = classes.columns.len();
    let noun = if columns == 1 { "column" } else { "columns" };
    format!("Classified replies: {replies} in {columns} {noun}.\n\n")
}

/// Writes every table and figure and prints the chosen one.
pub(super) fn publish(
    context: &Context,
    out: &Path,
    args: &TableArgs,
    evaluation: &Evaluation,
    waits: Option<&Wave>,
) -> Result<(), Exit> {
    let tables = Tables::new(context, args, evaluation)?;
    let mut files = tables.files(evaluation).map_err(|failure| context.print_failure(&failure))?;
    files.push(Artefact::sums(&files));
    for file in files {
        write(context, &out.join(&file.name), file.contents.as_bytes())?;
    }
    if let Some(folder) = &args.curves {
        let curves = curves(evaluation);
        if curves.is_empty() {
            context.output.note("warning: --curves: no task has samples or rounds, so there are no curves");
        }
        for file in curve_files(&curves).map_err(|failure| context.print_failure(&failure))? {
            write(context, &folder.join(&file.name), file.contents.as_bytes())?;
        }
    }
    if let Some(folder) = &args.figures {
        let figures = class_figures(&tables.classes).map_err(|failure| context.print_failure(&failure))?;
        for note in &figures.notes {
            context.output.note(&format!("warning: --figures: {note}"));
        }
        for file in figures.files {
            write(context, &folder.join(&file.name), file.contents.as_bytes())?;
        }
    }
    tables.print(context, args, evaluation, waits);
    Ok(())
}

/// A document with what waits, where something does.
fn with(document: &impl Serialize, waits: Option<&Wave>) -> Value {
    let mut value = json!(document);
    if let Some(wave) = waits {
        value["pending"] = json!(wave);
    }
    value
}

/// The evaluations whose columns are added.
fn others(context: &Context, args: &TableArgs) -> Result<Vec<Evaluation>, Exit> {
    args.also.iter().map(|folder| read_evaluation(context, folder)).collect()
}

/// The options about result classes.
fn class_settings(args: &TableArgs, methods: BTreeMap<String, String>) -> ClassSettings {
    ClassSettings {
        methods,
        sizes: args.model_size.iter().cloned().collect(),
        reading: match args.are {
            AreReading::Name => Reading::ByName,
            AreReading::Position => Reading::ByPosition,
            AreReading::Least => Reading::Least,
        },
    }
}
