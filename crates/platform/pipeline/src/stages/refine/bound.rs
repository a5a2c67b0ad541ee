//! The most requests of a refine stage.

use super::config::RefineStage;
use crate::bound::{BeamBound, BoundWalk};

/// Every round goes on from one candidate, and one is returned.
pub(super) fn bound(stage: &RefineStage, walk: &mut BoundWalk<'_>, beam: BeamBound) -> BeamBound {
    let writer = stage.writer().unwrap_or(0);
    let mut before = beam.before;
    for _ in 0..stage.rounds {
        let mut inside = BeamBound { width: 1, before };
        for (position, inner) in stage.round.iter().enumerate() {
            let after = walk.stage(inner, inside, beam.width);
            // Stages before the writer leave one candidate.
            inside = if position < writer { BeamBound { width: 1, ..after } } else { after };
        }
        before = inside.before;
    }
    walk.merge();
    BeamBound { width: beam.width, before }
}
