//! The stages of one round.

use super::Stage;
use super::definition::Writes;

/// The position of the stage of a round that writes: the first that writes candidates or, where there is none, the first that writes plans.
pub(crate) fn writer_of(round: &[Stage]) -> Option<usize> {
    let first = |what| round.iter().position(|stage| stage.definition().writes() == Some(what));
    first(Writes::Candidate).or_else(|| first(Writes::Plan))
}
