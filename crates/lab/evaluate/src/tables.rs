//! The papers' tables and figures as layouts of an [`Evaluation`](crate::results::Evaluation).

mod domain_generators;
mod exploration_walks;
mod junit;
mod test_time_scaling;
mod translate_infer_compile;

pub use domain_generators::{
    ClassColumn, ClassFigures, ClassRow, ClassSettings, Classes, ListedSuspect, Sizes, SuiteClasses,
    class_figures, size_of,
};
pub use junit::junit;
pub use test_time_scaling::{
    Criterion, Curve, CurvePoint, Delta, Plans, PlansCell, PlansRow, Rate, Scaling, ScalingCell, ScalingRow,
    curve_files, curves,
};
pub use translate_infer_compile::{Accuracy, AccuracyCell, AccuracyColumn, Share};
