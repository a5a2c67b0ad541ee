//! Classical planning on PDDL trees: normalise, ground, simulate, validate, search. Pure: no input or output, no clock,
//! no threads; limits come through [`Budget`].

mod axioms;
mod bits;
mod budget;
mod csr;
mod ground;
pub mod lifted;
mod normalize;
mod search;
mod simulate;
mod solve;
mod successors;
pub mod task;
mod unsolvable;

pub use budget::{Budget, CountingBudget, Poll, StopReason, Unlimited};
pub use ground::{GroundLimits, ground};
pub use normalize::normalize;
pub use search::SearchStatistics;
pub use simulate::{Simulator, State};
pub use solve::{Algorithm, Plan, PlanOptions, PlanOutcome, PlanResult, plan};
pub use unsolvable::{Explanation, why_unsolvable};
