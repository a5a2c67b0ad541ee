//! What a pipeline file may set: how often the simulated writer errs, and how well it repairs.

use crate::codes;
use planforge_contract::{Failure, FailureClass, SuiteReference};
use planforge_pddl::mutate::MutationKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A suite whose reference the oracle holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Suite {
    /// The path of the suite's folder, as a pipeline file says it; the host puts the reference in its place.
    Path(String),
    /// The reference, put there by the host.
    Reference(SuiteReference),
}

/// How often a mistake is of each kind, relative to the others; 0 means never.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Kinds {
    /// A precondition or effect is left out.
    pub omission: f64,
    /// A well-typed literal too many.
    pub addition: f64,
    /// Two arguments of a literal in each other's place.
    pub swapped_arguments: f64,
    /// A variable in another's place.
    pub replaced_argument: f64,
    /// A literal negated.
    pub negation: f64,
    /// Another predicate with the same arguments.
    pub retarget: f64,
}

impl Default for Kinds {
    fn default() -> Self {
        Self {
            omission: 3.0,
            addition: 1.0,
            swapped_arguments: 0.5,
            replaced_argument: 0.5,
            negation: 0.0,
            retarget: 0.0,
        }
    }
}

impl Kinds {
    pub(crate) fn weights(&self) -> [(MutationKind, f64); 6] {
        [
            (MutationKind::Omission, self.omission),
            (MutationKind::Addition, self.addition),
            (MutationKind::SwappedArguments, self.swapped_arguments),
            (MutationKind::ReplacedArgument, self.replaced_argument),
            (MutationKind::Negation, self.negation),
            (MutationKind::Retarget, self.retarget),
        ]
    }
}

/// Options of `provider-noisy-oracle`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// The suites it can write: paths of their folders. A task of another suite is refused.
    pub suites: Vec<Suite>,
    /// Mistakes in the first domain that it writes for a candidate: this many, or as many as the domain has room for.
    pub errors: u32,
    /// How often a mistake is of each kind, relative to the others.
    pub kinds: Kinds,
    /// Probability that a problem written before there are predicates has lost one argument of one predicate, everywhere. Every domain
    /// written for that problem keeps to it, so only another problem mends it.
    pub predicate_argument: f64,
    /// Facts of the initial state that a written problem leaves out or gets an argument of wrong. No edit of the domain mends them.
    pub problem_errors: u32,
    /// Probability that a mistake in an action that the feedback names is repaired in a reply; each mistake on its own.
    pub repair_named: f64,
    /// Probability that a mistake in any other action is repaired in a reply; each mistake on its own.
    pub repair_unnamed: f64,
    /// Probability that an action without mistakes gets one in a reply that revises; each action on its own.
    pub damage: f64,
    /// How many characters count as one token in the usage that replies state. Left out: no usage is stated, as no model has counted.
    pub characters_per_token: Option<u32>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            suites: Vec::new(),
            errors: 3,
            kinds: Kinds::default(),
            predicate_argument: 0.2,
            problem_errors: 0,
            repair_named: 0.5,
            repair_unnamed: 0.1,
            damage: 0.05,
            characters_per_token: None,
        }
    }
}

impl Options {
    /// What the schema cannot say, all at once.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let mut wrong = Vec::new();
        let probabilities = [
            ("predicate_argument", self.predicate_argument),
            ("repair_named", self.repair_named),
            ("repair_unnamed", self.repair_unnamed),
            ("damage", self.damage),
        ];
        for (name, value) in probabilities {
            if !(0.0..=1.0).contains(&value) {
                wrong.push(format!("`{name}` is a probability, so from 0 to 1, and not {value}"));
            }
        }
        for (kind, weight) in self.kinds.weights() {
            if !weight.is_finite() || weight < 0.0 {
                wrong.push(format!("the weight of `{kind}` in `kinds` must be 0 or more, and is {weight}"));
            }
        }
        if self.errors > 0 && self.kinds.weights().iter().all(|(_, weight)| *weight == 0.0) {
            wrong.push(
                "`kinds` gives every kind of mistake the weight 0, and `errors` asks for some".to_owned(),
            );
        }
        if self.characters_per_token == Some(0) {
            wrong.push("`characters_per_token` must be 1 or more".to_owned());
        }
        if self.suites.is_empty() {
            wrong.push("`suites` is empty, so there is nothing that it could write".to_owned());
        }
        if wrong.is_empty() {
            return Ok(());
        }
        Err(Failure::new(FailureClass::Request, codes::OPTIONS, wrong.join("; ")).help(
            "list the suites' folders in `suites`, and see `planforge plugins show provider-noisy-oracle`",
        ))
    }
}
