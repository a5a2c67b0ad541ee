//! Exploration walks: how alike two models of one task behave, by executing random walks of each on the other
//! (Mahdavi et al. 2024, Definition 1 and Eq. 2).
//!
//! * [`Model`]: a domain and a problem ready to walk in, under STRIPS semantics or without ground no-ops ([`Semantics`]).
//! * [`sample_direction`] draws walks of one model and executes them on the other; [`exact_direction`] computes the
//!   expectation instead, where it fits.
//! * [`Score`] combines both directions over the problems of a domain; [`interval`](mod@interval) says how far a sampled one may be off.
//! * [`race`] draws walks for several candidates until the best is decided, under bounds that hold at every look.
//! * [`counterexample`] finds the shortest walk that one model executes and the other refuses.
//!
//! Pure like the rest of the crate: randomness comes from a seed, limits from a [`Budget`](crate::Budget).

mod beta;
mod counterexample;
mod drawn;
mod exact;
pub mod interval;
mod lifted;
mod link;
mod model;
mod race;
mod sample;
mod score;
mod sequence;
mod space;

pub use counterexample::{Counterexample, Search, SearchLimits, counterexample, minimise};
pub use drawn::{DrawnWalks, Execution};
pub use exact::{ExactDirection, ExactError, ExactLength, SchemaShare, exact_direction};
pub use interval::Interval;
pub use link::{FailingWalk, Refusal, Replay, Step, replay};
pub(crate) use model::changes_nothing;
pub use model::{ActionId, Method, Model, ModelError, ModelOptions, Semantics};
pub use race::{CandidateState, Pair, RaceResult, RaceSpec, Racer, race};
pub use sample::{
    DeadEnds, DirectionSample, DirectionSampler, LengthSample, SampleSpec, SchemaCount, WalkPolicy, Walked,
    sample_direction, sample_walks,
};
pub use score::{Direction, Score, TaskDirections, harmonic_mean};
pub use sequence::Sequence;
