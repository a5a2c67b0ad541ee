//! The options of the plugin.

use crate::codes;
use planforge_contract::{Failure, FailureClass};
use planforge_planning::equivalence::domains::EquivalenceLimits;
use planforge_planning::equivalence::hde::HdeOptions;
use planforge_plugin_common::judging::{JudgingLimits, Rule};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;

/// The compared artefact.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum What {
    /// The candidate's problem with the reference problem of the task, over the same domain.
    #[default]
    Problem,
    /// The candidate's domain with the reference domain, on the reference problem of the task.
    Domain,
}

/// The method of comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Problems: as they read, but for the names of objects.
    Syntactic,
    /// Problems: goals by the reachable states that satisfy them, so that a goal fact makes no difference that follows from the others in
    /// every such state; everything else as it reads.
    Goals,
    /// Domains: every sequence of ground actions.
    Exact,
    /// Domains: heuristic domain equivalence, by the cheapest plans of either.
    Hde,
}

/// The required names of the candidate's actions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum InterfaceOption {
    /// Those of the reference, with as many parameters.
    #[default]
    Exact,
    /// Any: a renaming is searched that respects the number and the types of parameters.
    Matched,
}

/// Options of `verifier-equivalence`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EquivalenceVerifierOptions {
    /// The compared artefact: `problem` or `domain`.
    pub what: What,
    /// The method: problems `syntactic` (the default) or by `goals`, domains `exact` (the default) or by
    /// `hde`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<Level>,
    /// Most choices that the search tries, at least 1: pairs of objects of two problems, or parts of a
    /// renaming of actions.
    #[schemars(range(min = 1))]
    pub max_choices: u64,
    /// At level `goals`, most states that are visited if invariants and searches leave the question open; at
    /// level `exact`, most pairs of states.
    pub max_states: u64,
    /// Domains: `exact` or `matched` (a renaming of the candidate's actions, parameters and types is searched).
    pub interface: InterfaceOption,
    /// At level `hde`: plans of the problem, in either domain.
    #[schemars(range(min = 1, max = 100_000))]
    pub k: usize,
    /// At level `hde`: how plans count.
    pub rule: Rule,
    /// At level `hde`: most search nodes for the plans in one domain.
    pub max_nodes: u64,
    /// Limits on each comparison. What they cut is undecided.
    pub limits: JudgingLimits,
}

impl Default for EquivalenceVerifierOptions {
    fn default() -> Self {
        Self {
            what: What::default(),
            level: None,
            max_choices: 1_000_000,
            max_states: 100_000,
            interface: InterfaceOption::default(),
            k: 100,
            rule: Rule::default(),
            max_nodes: 1_000_000,
            limits: JudgingLimits::default(),
        }
    }
}

impl EquivalenceVerifierOptions {
    /// The level, chosen or by default.
    pub fn level(&self) -> Level {
        self.level.unwrap_or(match self.what {
            What::Problem => Level::Syntactic,
            What::Domain => Level::Exact,
        })
    }

    /// Checks what the schema cannot express.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let wrong = |message: &str, help: &str| {
            Err(Failure::new(FailureClass::Request, codes::OPTIONS, message).help(help))
        };
        if self.max_choices == 0 {
            return wrong("`max_choices` is 0", "set it to 1 or more; 1000000 is the default");
        }
        if !(1..=100_000).contains(&self.k) {
            return wrong("`k` is from 1 to 100000", "100 is the default, as in the paper's code");
        }
        match (self.what, self.level()) {
            (What::Problem, Level::Exact | Level::Hde) => {
                wrong("problems are compared at level `syntactic` or `goals`", "or set `what = \"domain\"`")
            }
            (What::Domain, Level::Syntactic | Level::Goals) => {
                wrong("domains are compared at level `exact` or `hde`", "or set `what = \"problem\"`")
            }
            (What::Problem, _) if self.interface == InterfaceOption::Matched => {
                wrong("the actions of a problem's domain are not renamed", "set `what = \"domain\"` for that")
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn domain_limits(&self) -> EquivalenceLimits {
        EquivalenceLimits { max_pairs: self.max_states, ..EquivalenceLimits::default() }
    }

    pub(crate) fn hde(&self) -> HdeOptions {
        HdeOptions {
            k: NonZeroUsize::new(self.k).unwrap_or(NonZeroUsize::MIN),
            rule: self.rule.into(),
            max_nodes: self.max_nodes,
            ..HdeOptions::default()
        }
    }
}
