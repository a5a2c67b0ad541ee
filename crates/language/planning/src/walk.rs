//! Exploration walks: similarity of the behaviour of two models of one task, measured by executing random
//! walks of each on the other (Mahdavi et al. 2024, Definition 1 and Eq. 2).
//!
//! * [`Model`]: a domain and a problem ready to walk in, under STRIPS semantics or without ground no-ops ([`Semantics`]).
//! * [`sample_direction`] draws walks of one model and executes them on the other; [`exact_direction`] computes the
//!   expectation, for small state spaces.
//! * [`WalkScore`] combines both directions over the problems of a domain; [`interval`](mod@interval) bounds the error of a sampled score.
//! * [`race`] draws walks for several candidates until the best is decided, under bounds that hold at any time.
//! * [`exact_goals`] and [`sample_goals`] compare the goals, which the walk score does not see.
//! * [`counterexample`] finds the shortest walk that one model executes and the other refuses, [`counterexamples`] one of each
//!   refused action schema.
//!
//! Pure like the rest of the crate: randomness is derived from a seed, limits from
//! [`ResourceLimits`](crate::ResourceLimits).

mod beta;
mod counterexample;
mod drawn;
mod exact;
mod goals;
pub mod interval;
mod lifted;
mod link;
mod model;
mod race;
mod sample;
mod score;
mod sequence;
mod space;
mod step;

pub use counterexample::{
    Counterexample, CounterexampleLimits, CounterexampleOutcome, counterexample, counterexamples, minimise,
};
pub use drawn::{DrawnWalks, WalkExecution};
pub use exact::{ExactDirection, ExactError, ExactLength, SchemaShare, exact_direction};
pub use goals::{
    DirectionGoals, GoalDifference, GoalPlan, GoalSampleSpec, exact_goals, goal_agreement, goal_plan,
    sample_goals,
};
pub use interval::ScoreInterval;
pub use link::{ExecutedSteps, FailingWalk, Refusal, execute_steps};
pub(crate) use model::changes_nothing;
pub use model::{GroundingMethod, Model, ModelError, ModelOptions};
pub use race::{CandidateState, ModelPair, RaceResult, RaceSpec, Racer, race};
pub use sample::{
    DeadEnds, DirectionSample, DirectionSampler, DrawOutcome, LengthSample, SampleSpec, SchemaCount,
    WalkPolicy, sample_direction, sample_walks,
};
pub use score::{TaskDirections, WalkDirection, WalkScore, harmonic_mean};
pub use sequence::ConfidenceSequence;
pub use step::{ActionId, NamedStep, Semantics};
