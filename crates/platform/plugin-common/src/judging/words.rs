//! Options of comparisons, as pipeline files and the command line spell them.

use planforge_planning::equivalence::hde;
use planforge_planning::walk;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The rule for legal ground actions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Semantics {
    /// Every ground action whose precondition holds.
    #[default]
    Strips,
    /// As `strips`, without ground actions that cannot change any state, which planners on the Fast Downward translator drop.
    GroundNoOpsDropped,
}

impl Semantics {
    /// The value in options.
    pub const fn name(self) -> &'static str {
        match self {
            Semantics::Strips => "strips",
            Semantics::GroundNoOpsDropped => "ground-no-ops-dropped",
        }
    }
}

impl From<Semantics> for walk::Semantics {
    fn from(word: Semantics) -> Self {
        match word {
            Semantics::Strips => walk::Semantics::Strips,
            Semantics::GroundNoOpsDropped => walk::Semantics::GroundNoOpsDropped,
        }
    }
}

impl From<walk::Semantics> for Semantics {
    fn from(semantics: walk::Semantics) -> Self {
        match semantics {
            walk::Semantics::Strips => Semantics::Strips,
            walk::Semantics::GroundNoOpsDropped => Semantics::GroundNoOpsDropped,
        }
    }
}

/// The rule for plans in heuristic domain equivalence.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// Every plan of either list must be a plan of the other domain.
    #[default]
    Definition,
    /// As the paper's code counts: different numbers of plans are a difference, and the lists are gone through in pairs.
    ReferenceCode,
}

impl Rule {
    /// The value in options.
    pub const fn name(self) -> &'static str {
        match self {
            Rule::Definition => "definition",
            Rule::ReferenceCode => "reference-code",
        }
    }
}

impl From<Rule> for hde::HdeRule {
    fn from(word: Rule) -> Self {
        match word {
            Rule::Definition => hde::HdeRule::Definition,
            Rule::ReferenceCode => hde::HdeRule::ReferenceCode,
        }
    }
}

impl From<hde::HdeRule> for Rule {
    fn from(rule: hde::HdeRule) -> Self {
        match rule {
            hde::HdeRule::Definition => Rule::Definition,
            hde::HdeRule::ReferenceCode => Rule::ReferenceCode,
        }
    }
}
