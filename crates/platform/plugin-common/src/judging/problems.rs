//! Results of problem comparisons as documents of the contract.

use crate::judging::reports::{EquivalentDifference, EquivalentWitness};
use planforge_planning::equivalence::ComparedSide;
use planforge_planning::equivalence::ProblemDifference;
use planforge_planning::equivalence::goals::Witness;

/// The differences of two problems, and the renaming under which they are found.
pub fn difference(found: ProblemDifference) -> (EquivalentDifference, Vec<(String, String)>) {
    let listed = EquivalentDifference {
        missing_objects: found.missing_objects,
        extra_objects: found.extra_objects,
        missing_facts: found.missing_facts,
        extra_facts: found.extra_facts,
        minimal: found.minimal,
    };
    (listed, found.renaming)
}

/// A reachable state that satisfies one goal and not the other.
pub fn witness(found: Witness) -> EquivalentWitness {
    let satisfies = match found.satisfies {
        ComparedSide::First => "first",
        ComparedSide::Second => "second",
    };
    EquivalentWitness {
        satisfies: satisfies.to_owned(),
        steps: found.steps,
        facts: found.facts,
        renaming: found.renaming,
    }
}
