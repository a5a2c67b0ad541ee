//! The options of the plugin.

use crate::classes::codes;
use planforge_contract::{Failure, FailureClass};
use planforge_planning::equivalence::domains::EquivalenceLimits;
use planforge_planning::equivalence::hde::HdeOptions;
use planforge_planning::result_class::BadPreconditionRule;
use planforge_plugin_common::judging::{JudgingLimits, Rule, Semantics};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;

/// The rule for bad preconditions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BadPrecondition {
    /// A construct whose requirement the domain neither declares nor uses itself, such as a negated condition.
    #[default]
    Requirement,
    /// A negated precondition, whatever the domain declares.
    Negation,
    /// A delete effect whose atom the precondition does not contain.
    UnguardedDelete,
}

impl From<BadPrecondition> for BadPreconditionRule {
    fn from(rule: BadPrecondition) -> Self {
        match rule {
            BadPrecondition::Requirement => Self::Requirement,
            BadPrecondition::Negation => Self::Negation,
            BadPrecondition::UnguardedDelete => Self::UnguardedDelete,
        }
    }
}

/// Options of `verifier-classes`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ClassVerifierOptions {
    /// Plans of each problem, in either domain: 10 as in the paper's text; its code uses 100.
    #[schemars(range(min = 1, max = 100_000))]
    pub k: usize,
    /// The comparison of plans: `definition` or `reference-code`.
    pub rule: Rule,
    /// The actions that have a bad precondition (BPError): `requirement` (the default), `negation` (the paper's
    /// definition) or `unguarded-delete` (where the paper's planner stops).
    pub bad_precondition: BadPrecondition,
    /// The ground actions of plans: `ground-no-ops-dropped` (the default, as the paper's planner has it) or
    /// `strips`. Plans are executed under STRIPS semantics.
    pub semantics: Semantics,
    /// Most search nodes for the plans of one problem in one domain.
    #[schemars(range(min = 1))]
    pub max_nodes: u64,
    /// Compares plans. With `false` only classes of syntax and semantics are determined (`Fits` without
    /// either), from the domain's declarations that the pipeline gives, and the environment is not used.
    pub behaviour: bool,
    /// Classifies the domain in which every action is the written one, too.
    pub whole: bool,
    /// Compares every action that fits exactly, too: by every sequence of ground actions.
    pub exact: bool,
    /// With `exact`, most pairs of states for one problem.
    #[schemars(range(min = 1))]
    pub max_states: u64,
    /// Limits on the comparisons. What they cut is `Undecided`.
    pub limits: JudgingLimits,
}

impl Default for ClassVerifierOptions {
    fn default() -> Self {
        Self {
            k: 10,
            rule: Rule::default(),
            bad_precondition: BadPrecondition::default(),
            semantics: Semantics::GroundNoOpsDropped,
            max_nodes: 1_000_000,
            behaviour: true,
            whole: true,
            exact: false,
            max_states: 100_000,
            limits: JudgingLimits::default(),
        }
    }
}

impl ClassVerifierOptions {
    /// Checks what the schema cannot express.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let wrong = |message: &str, help: &str| {
            Err(Failure::new(FailureClass::Request, codes::OPTIONS, message).help(help))
        };
        if !(1..=100_000).contains(&self.k) {
            return wrong("`k` is from 1 to 100000", "10 is the default, as in the paper's text");
        }
        if self.max_nodes == 0 || self.max_states == 0 {
            return wrong(
                "`max_nodes` and `max_states` are at least 1",
                "1000000 and 100000 are the defaults",
            );
        }
        if self.exact && !self.behaviour {
            return wrong(
                "`exact` compares behaviour, and `behaviour = false` leaves it out",
                "leave one of the two out",
            );
        }
        Ok(())
    }

    pub(crate) fn hde(&self) -> HdeOptions {
        HdeOptions {
            k: NonZeroUsize::new(self.k).unwrap_or(NonZeroUsize::MIN),
            rule: self.rule.into(),
            semantics: self.semantics.into(),
            max_nodes: self.max_nodes,
            ..HdeOptions::default()
        }
    }

    pub(crate) fn exact_limits(&self) -> EquivalenceLimits {
        EquivalenceLimits { max_pairs: self.max_states, ..EquivalenceLimits::default() }
    }
}
