//! The papers' tables and figures as layouts of an [`Evaluation`](crate::results::Evaluation).

mod domain_generators;
mod exploration_walks;
mod junit;
mod methods;
mod test_time_scaling;
mod translate_infer_compile;

pub use domain_generators::{
    ClassColumn, ClassFigures, ClassRow, ClassSettings, Classes, ListedSuspect, Sizes, SuiteClasses,
    class_figures, size_of,
};
pub use junit::junit;
pub use methods::{Group, MethodResult, Methods, OPEN, Success};
pub use test_time_scaling::{
    Criterion, Curve, CurvePoint, Delta, Plans, PlansCell, PlansRow, Rate, Scaling, ScalingCell, ScalingRow,
    curve_files, curves,
};
pub use translate_infer_compile::{Accuracy, AccuracyCell, AccuracyColumn, Share};

use planforge_pipeline::{Cost, TaskUsage};

/// A method's name in a table, with a mark if a model is simulated.
fn marked_name(name: &str, simulated: bool) -> String {
    format!("{name}{}", if simulated { " (simulated)" } else { "" })
}

/// A method's name in a table: behind its model if the `models` of the table differ.
fn name_with_model<'m>(
    models: impl IntoIterator<Item = &'m str>,
    model: &str,
    method: &str,
    simulated: bool,
) -> String {
    let several = models.into_iter().any(|other| other != model);
    let model = if several { format!("{model}: ") } else { String::new() };
    marked_name(&format!("{model}{method}"), simulated)
}

/// The reason why a cost is not known.
fn why_unknown(usage: &TaskUsage, cost: &Cost) -> &'static str {
    match (usage.unmetered > 0, cost.priced > 0 || cost.known_usd > 0.0) {
        (_, false) if usage.unmetered < usage.calls => "the model has no stated price",
        (true, _) => "the server did not count all tokens",
        (false, _) => "some calls ended without an answer, or have no stated price",
    }
}
