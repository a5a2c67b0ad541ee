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

/// How many mistakes the first domains have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ErrorCount {
    /// `errors` in each.
    #[default]
    Fixed,
    /// Drawn for each from a Poisson distribution whose mean is `errors`, so that samples differ in how good they are.
    Poisson,
}

/// How a simulated critic judges the domain or problem that it is shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Critic {
    /// Probability that a mistake is found, each on its own.
    pub finds: f64,
    /// Probability that it objects to an action without mistakes (to the facts of a problem without mistakes), each on its own.
    pub false_findings: f64,
    /// Whether it answers in a numbered list of sentences; otherwise in JSON.
    pub prose: bool,
}

impl Default for Critic {
    fn default() -> Self {
        Self { finds: 0.5, false_findings: 0.05, prose: false }
    }
}

/// How simulated log-probabilities of tokens are drawn. They are no model's: their sum over a reply is `mean` times its tokens, less
/// `per_mistake` for each mistake in it, plus normal noise of the standard deviation `spread`; every token has an equal share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Likelihood {
    /// Log-probability (natural) of a token where nothing is wrong; 0 or less.
    pub mean: f64,
    /// Standard deviation of the sum over a reply, in nats; 0 or more.
    pub spread: f64,
    /// How much a mistake takes from the sum, in nats; 0 where likelihood tells nothing.
    pub per_mistake: f64,
}

impl Default for Likelihood {
    fn default() -> Self {
        Self { mean: -0.15, spread: 2.0, per_mistake: 1.0 }
    }
}

/// How a simulated writer of single actions errs. An action that is written for the first time has mistakes of the `kinds`, as a domain has,
/// and at most one mistake of form, which keeps it from being part of its domain: these are probabilities that exclude each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Actions {
    /// Mistakes of the `kinds` on average; how many it is in an action is drawn from a Poisson distribution.
    pub errors: f64,
    /// Probability that the reply holds no action at all.
    pub no_action: f64,
    /// Probability that its last parenthesis is missing.
    pub broken_text: f64,
    /// Probability that an argument of a literal has a type annotation, which is no PDDL.
    pub typed_argument: f64,
    /// Probability that a parameter has a type that is not declared.
    pub wrong_type: f64,
    /// Probability that a literal lacks its last argument.
    pub wrong_arity: f64,
    /// Probability that the action has another name.
    pub wrong_name: f64,
    /// Probability that a precondition is negated: that what the action makes true does not hold yet.
    pub negated_precondition: f64,
    /// Where predicates may be proposed: probability that a predicate which is listed is proposed again under another name, each that
    /// the action has on its own. In the last question, which asks for such pairs, each is seen with the probability `repair_named`.
    pub synonym: f64,
}

impl Default for Actions {
    fn default() -> Self {
        Self {
            errors: 0.7,
            no_action: 0.01,
            broken_text: 0.02,
            typed_argument: 0.05,
            wrong_type: 0.04,
            wrong_arity: 0.1,
            wrong_name: 0.01,
            negated_precondition: 0.02,
            synonym: 0.1,
        }
    }
}

impl Actions {
    fn forms(&self) -> [(&'static str, f64); 7] {
        [
            ("actions.no_action", self.no_action),
            ("actions.broken_text", self.broken_text),
            ("actions.typed_argument", self.typed_argument),
            ("actions.wrong_type", self.wrong_type),
            ("actions.wrong_arity", self.wrong_arity),
            ("actions.wrong_name", self.wrong_name),
            ("actions.negated_precondition", self.negated_precondition),
        ]
    }
}

/// Most mistakes of an action on average: an average that a Poisson distribution is drawn from one by one.
const MOST_ERRORS: f64 = 100.0;

/// Options of `provider-noisy-oracle`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// The suites it can write: paths of their folders. A task of another suite is refused.
    pub suites: Vec<Suite>,
    /// Mistakes in the first domain that it writes for a candidate: this many, or as many as the domain has room for.
    pub errors: u32,
    /// Whether each first domain has `errors` mistakes (`fixed`), or as many on average (`poisson`).
    pub error_count: ErrorCount,
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
    /// The simulated critic, for questions about what is wrong with a domain or a problem.
    pub critic: Critic,
    /// The simulated writer of single actions.
    pub actions: Actions,
    /// The log-probabilities of tokens that are returned where they are asked for. Left out: none, as many servers do. A token is
    /// `characters_per_token` characters, or 4.
    pub likelihood: Option<Likelihood>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            suites: Vec::new(),
            errors: 3,
            error_count: ErrorCount::default(),
            kinds: Kinds::default(),
            predicate_argument: 0.2,
            problem_errors: 0,
            repair_named: 0.5,
            repair_unnamed: 0.1,
            damage: 0.05,
            characters_per_token: None,
            critic: Critic::default(),
            actions: Actions::default(),
            likelihood: None,
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
            ("critic.finds", self.critic.finds),
            ("critic.false_findings", self.critic.false_findings),
            ("actions.synonym", self.actions.synonym),
        ];
        let forms = self.actions.forms();
        for (name, value) in probabilities.into_iter().chain(forms) {
            if !(0.0..=1.0).contains(&value) {
                wrong.push(format!("`{name}` is a probability, so from 0 to 1, and not {value}"));
            }
        }
        let together: f64 = forms.iter().map(|(_, p)| p).sum();
        if together > 1.0 + 1e-9 {
            wrong.push(format!("the mistakes of form in `actions` exclude each other, and their probabilities add up to {together}"));
        }
        if !(0.0..=MOST_ERRORS).contains(&self.actions.errors) {
            wrong.push(format!(
                "`actions.errors` is from 0 to {MOST_ERRORS}, and not {}",
                self.actions.errors
            ));
        }
        for (kind, weight) in self.kinds.weights() {
            if !weight.is_finite() || weight < 0.0 {
                wrong.push(format!("the weight of `{kind}` in `kinds` must be 0 or more, and is {weight}"));
            }
        }
        // Who asks for no mistakes of domains need not know of the rate for actions.
        let of_actions = self.actions != Actions::default() && self.actions.errors > 0.0;
        if (self.errors > 0 || of_actions) && self.kinds.weights().iter().all(|(_, weight)| *weight == 0.0) {
            wrong.push(
                "`kinds` gives every kind of mistake the weight 0, and `errors` or `actions.errors` asks for some".to_owned(),
            );
        }
        if let Some(Likelihood { mean, spread, per_mistake }) = &self.likelihood {
            if !mean.is_finite() || *mean > 0.0 {
                wrong.push(format!("`likelihood.mean` is a log-probability, so 0 or less, and not {mean}"));
            }
            for (name, value) in [("spread", spread), ("per_mistake", per_mistake)] {
                if !value.is_finite() || *value < 0.0 {
                    wrong.push(format!("`likelihood.{name}` must be 0 or more, and is {value}"));
                }
            }
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
