//! The options of the plugin: error rates and repair rates of the simulated writer.

use crate::codes;
use planforge_contract::{Failure, FailureClass, SuiteReference};
use planforge_pddl::mutate::MutationKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A suite whose reference the oracle holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Suite {
    /// The path of the suite's folder in the pipeline file; the host replaces it by the reference.
    Path(String),
    /// The reference, put there by the host.
    Reference(SuiteReference),
}

/// Relative frequency of each kind of mistake; 0 means never.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Kinds {
    /// A precondition or effect is left out.
    pub omission: f64,
    /// A well-typed literal is added.
    pub addition: f64,
    /// Two arguments of a literal are exchanged.
    pub swapped_arguments: f64,
    /// A variable is replaced by another one.
    pub replaced_argument: f64,
    /// A literal is negated.
    pub negation: f64,
    /// A predicate is replaced by another one, with the same arguments.
    pub retarget: f64,
    /// A number, numeric function, comparison or change of a number is replaced: in an action, or in a problem with `problem_errors`.
    pub number: f64,
    /// A duration or the moment of a condition or effect is replaced, in a problem the time of a timed literal or constraint.
    pub time: f64,
    /// In a problem: a number in the metric is replaced, if there are preferences.
    pub weight: f64,
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
            number: 0.0,
            time: 0.0,
            weight: 0.0,
        }
    }
}

impl Kinds {
    /// The kinds of mistakes in domains.
    pub(crate) fn weights(&self) -> [(MutationKind, f64); 8] {
        [
            (MutationKind::Omission, self.omission),
            (MutationKind::Addition, self.addition),
            (MutationKind::SwappedArguments, self.swapped_arguments),
            (MutationKind::ReplacedArgument, self.replaced_argument),
            (MutationKind::Negation, self.negation),
            (MutationKind::Retarget, self.retarget),
            (MutationKind::Number, self.number),
            (MutationKind::Time, self.time),
        ]
    }

    /// The kinds of mistakes in the numbers, times and weights of problems.
    pub(crate) fn quantities(&self) -> [(MutationKind, f64); 3] {
        [
            (MutationKind::Number, self.number),
            (MutationKind::Time, self.time),
            (MutationKind::Weight, self.weight),
        ]
    }
}

/// The number of mistakes of first domains.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ErrorCount {
    /// Exactly `errors` in each.
    #[default]
    Fixed,
    /// Drawn for each from a Poisson distribution whose mean is `errors`, so that samples differ in how good they are.
    Poisson,
}

/// A simulated critic of the domain or problem that it is shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Critic {
    /// Probability that a mistake is found, each on its own.
    pub finds: f64,
    /// Probability that it objects to an action without mistakes (to the facts of a problem without mistakes), each on its own.
    pub false_findings: f64,
    /// Probability that it gives the right answer to a question about what can be done.
    pub answers: f64,
    /// Answers in a numbered list of sentences instead of JSON.
    pub prose: bool,
}

impl Default for Critic {
    fn default() -> Self {
        Self { finds: 0.5, false_findings: 0.05, answers: 0.8, prose: false }
    }
}

/// Simulated log-probabilities of tokens. Their sum over a reply is `mean` times its tokens, less
/// `per_mistake` for each mistake in it, plus normal noise of the standard deviation `spread`; every token
/// has an equal share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Likelihood {
    /// Log-probability (natural) of a token where nothing is wrong; 0 or less.
    pub mean: f64,
    /// Standard deviation of the sum over a reply, in nats; 0 or more.
    pub spread: f64,
    /// The decrease of the sum for each mistake, in nats; with 0 the likelihood is uninformative.
    pub per_mistake: f64,
}

impl Default for Likelihood {
    fn default() -> Self {
        Self { mean: -0.15, spread: 2.0, per_mistake: 1.0 }
    }
}

/// A simulated writer of single actions. A first version has mistakes of the `kinds`, as a domain has, and at
/// most one mistake of form, with which it cannot be part of its domain. The mistakes of form exclude each
/// other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Actions {
    /// Mistakes of the `kinds` on average; their number in an action is drawn from a Poisson distribution.
    pub errors: f64,
    /// Probability that the reply holds no action.
    pub no_action: f64,
    /// Probability that its last parenthesis is missing.
    pub broken_text: f64,
    /// Probability that an argument of a literal has a type annotation, which PDDL forbids.
    pub typed_argument: f64,
    /// Probability that a parameter has a type that is not declared.
    pub wrong_type: f64,
    /// Probability that a literal lacks its last argument.
    pub wrong_arity: f64,
    /// Probability that the action has another name.
    pub wrong_name: f64,
    /// Probability that a precondition is negated: that what the action makes true does not hold yet.
    pub negated_precondition: f64,
    /// If predicates may be proposed: probability that a listed predicate is proposed again under another
    /// name, for each that the action has. The last request, which asks for such pairs, finds each with
    /// probability `repair_named`.
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
pub struct OracleOptions {
    /// The suites it can write: paths of their folders. A task of another suite is refused.
    pub suites: Vec<Suite>,
    /// Mistakes in the first domain that it writes for a candidate: this many, or as many as the domain has room for.
    pub errors: u32,
    /// The number of mistakes of each first domain.
    pub error_count: ErrorCount,
    /// Relative frequency of each kind of mistake.
    pub kinds: Kinds,
    /// Probability that a problem written before there are predicates lacks one argument of one predicate, everywhere. Every domain
    /// written for that problem lacks it, too, so only another problem repairs it.
    pub predicate_argument: f64,
    /// Mistakes in a written problem: facts of the initial state that are omitted or have a wrong argument (as often as `kinds.omission` and
    /// `kinds.replaced_argument` together), and wrong numbers, times and weights. No edit of the domain repairs them.
    pub problem_errors: u32,
    /// Probability that a mistake in an action that the feedback names is repaired in a reply; each mistake on its own.
    pub repair_named: f64,
    /// Probability that a mistake in any other action is repaired in a reply; each mistake on its own.
    pub repair_unnamed: f64,
    /// Probability that an action without mistakes gets one in a reply that revises; each action on its own.
    pub damage: f64,
    /// Characters of one token in the usage of replies. Left out: replies have no usage.
    pub characters_per_token: Option<u32>,
    /// The simulated critic, for requests about what is wrong with a domain or a problem.
    pub critic: Critic,
    /// The simulated writer of single actions.
    pub actions: Actions,
    /// Log-probabilities of tokens, returned on request. Left out: none, as on many servers. A token has
    /// `characters_per_token` characters, or 4.
    pub likelihood: Option<Likelihood>,
}

impl Default for OracleOptions {
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

impl OracleOptions {
    /// Checks what the schema cannot express, and reports all mistakes at once.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let mut wrong = Vec::new();
        let probabilities = [
            ("predicate_argument", self.predicate_argument),
            ("repair_named", self.repair_named),
            ("repair_unnamed", self.repair_unnamed),
            ("damage", self.damage),
            ("critic.finds", self.critic.finds),
            ("critic.false_findings", self.critic.false_findings),
            ("critic.answers", self.critic.answers),
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
        for (kind, weight) in
            self.kinds.weights().into_iter().chain(self.kinds.quantities().into_iter().skip(2))
        {
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
