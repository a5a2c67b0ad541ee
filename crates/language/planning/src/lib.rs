//! Classical planning on PDDL trees: normalise, ground, simulate, validate, walk, search. Pure: no input or output, no clock,
//! no threads; limits come through [`ResourceLimits`], and so does a second thread for the two parts of a search.

#![warn(missing_docs)]

mod axioms;
mod bits;
pub mod claims;
mod codes;
mod csr;
pub mod equivalence;
pub mod graph;
mod ground;
pub mod lifted;
mod normalize;
mod plan;
mod plan_file;
mod resources;
pub mod result_class;
mod satisfy;
mod search;
mod simulate;
mod solve;
pub mod task;
mod temporal;
mod top_k;
mod unsolvable;
mod validate;
pub mod walk;
mod weights;
mod wishes;

pub use codes::CODES;
pub use ground::{GroundLimits, ground};
pub use normalize::normalize;
pub use plan::{Plan, PlanOptions, PlanResult, SearchOutcome, StepTimes};
pub use plan_file::{FileStep, MAX_PLAN_STEPS, PlanFile, PlanToken, parse_plan};
pub use resources::{CountingLimits, Poll, ResourceLimits, SearchPart, StopReason, Unlimited};
pub use search::{Algorithm, SearchStatistics};
pub use simulate::{Simulator, State};
pub use solve::{plan, plan_with_progress};
pub use top_k::{QualityBound, TopKEnd, TopKOptions, TopKOutcome, TopKResult, top_k};
pub use unsolvable::{Explanation, Reason, ReasonKind, why_unsolvable};
pub use validate::{
    FailedCondition, FailingStep, GoalAlong, Phase, PreferenceResult, Schedule, ScheduledStep, TimedLiteral,
    TraceStep, ValidationDecision, ValidationOptions, ValidationReport, Validator, validate,
};
pub use walk::plan_model;
