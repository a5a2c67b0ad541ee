//! `verifier-classes`: the result class of each requested action of a candidate (domain-generators paper,
//! section 3).
//!
//! Each action replaces the reference's in the reference domain, with all others unchanged, and gets the
//! first class that applies:
//!
//! | class | primary class | the action |
//! |---|---|---|
//! | NoPDDL, PError, UToken | syntax error | is missing; has unmatched parentheses; has an unexpected token |
//! | TError, PAError, NError, BPError | semantic error | has a wrong type; a wrong predicate or argument; another name; needs an undeclared requirement |
//! | NoPlan, NPApp, OPApp | different domain | leaves a problem without a plan; allows an invalid plan; forbids a valid one |
//! | Equivalent | equivalent | shows no difference in the k cheapest plans of each problem, either way |
//! | Undecided | undecided | was not decided within the limits; never counted as NoPlan |
//!
//! The reference is the one that the task's environment shows: the task's problem, and
//! further ones of the suite as `problems` of \[environment\] asks for. The paper has two problems and 10
//! plans of each.
//!
//! The order of an action's parameters is not part of its behaviour: plans are compared up to a bijection
//! between parameters of the same type. The class by position, which is the paper's, stands beside it
//! (`positional`, with the order in `parameters`) if it is another.
//!
//! # Requested actions
//!
//! Requested are the actions for which the candidate has a text `action.NAME`, which translator-actions
//! writes for every action that it asked for, including replies without an action (NoPDDL). Actions that its
//! option `only` leaves out are not classified. For a candidate without such texts all actions are requested:
//! they are taken from its domain by name, and a missing one is NoPDDL. Places in diagnostics are in the
//! action's own text.
//!
//! With `whole = true` the domain in which every requested action is the written one (the others the
//! reference's) is classified too, which the paper leaves to future work: if an action does not fit, the
//! domain has the first of their classes in the order of precedence.
//!
//! # Verdict
//!
//! | the candidate | verdict |
//! |---|---|
//! | has every action equivalent, each by itself | accepted |
//! | has one in another class | rejected |
//! | has none in another class, and some undecided; or nothing to judge | undecided |
//! | declares other predicates than the reference | not comparable |
//!
//! The class of the whole domain is a metric (`whole`) and evidence. Evidence is the contract's
//! `ResultClasses`.
//!
//! # Without behaviour
//!
//! With `behaviour = false` plans and the reference's actions are not compared: an action has a class of
//! syntax or semantics, or `Fits`, and is accepted then. It is judged with the declarations that the pipeline
//! gives (material `domain.header`, `actions` in \[given\]), without the environment, so its feedback does
//! not depend on the environment. Without given declarations the environment's domain is used, and the
//! feedback depends on it.
//!
//! # Feedback
//!
//! One entry for each action in another class than Equivalent, beginning ``Action `NAME`: ``, so that
//! translator-actions writes only that action again. It holds what the class needs: the findings with their
//! lines; the reason why there is no plan, without needs of other actions; or the failing plan, its step, the
//! facts about the step's objects before it, and the unsatisfied conditions of the written action (never of a
//! true one) or of the goal. An entry about an undecided action states that, so that a round without other
//! entries leaves the other actions alone. Plans come from the environment, so models see them only in a
//! pipeline that declares `feedback = "environment"`.

mod frame;
mod judge;

pub use codes::CODES;

use judge::ActionJudge;
use planforge_planning::equivalence::domains::EquivalenceLimits;
use planforge_planning::equivalence::hde::HdeOptions;
use planforge_planning::result_class::BadPreconditionRule;
use planforge_plugin_common::judging::{JudgingLimits, Rule, Semantics};
use planforge_plugin_sdk::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;

#[derive(Debug)]
pub struct ClassVerifier {
    options: ClassVerifierOptions,
    references: frame::Cache,
}

impl Plugin for ClassVerifier {
    type Options = ClassVerifierOptions;

    fn about() -> About {
        About::new("Classifies written actions: syntax error, semantic error, different domain or equivalent")
            .environment()
            .measures(Measure::ResultClass)
            .metric("actions", "actions that were asked for")
            .metric("equivalent", "how many are equivalent")
            .metric("syntax", "how many have a syntax error")
            .metric("semantic", "how many have a semantic error")
            .metric("different", "how many make a different domain")
            .metric("undecided", "actions whose class is undecided")
            .metric("fits", "with `behaviour = false`, how many have neither a syntax nor a semantic error")
            .metric(
                "rating",
                "mean over the actions: 0 syntax error, 1/3 semantic error, 2/3 different or undecided, 1 equivalent or fits",
            )
            .metric("are", "action reconstruction error, by names of variables; absent where an action cannot be read")
            .metric("are_by_position", "the same by positions of parameters")
            .metric("are_least", "the least over bijections between parameters of the same type")
            .metric("whole", "1 where the domain of all written actions is equivalent, else 0; absent if undecided or not compared")
    }

    fn create(options: ClassVerifierOptions, _secrets: &Secrets) -> Result<Self, Failure> {
        options.check()?;
        Ok(Self { options, references: frame::Cache::default() })
    }
}

impl Verifier for ClassVerifier {
    fn verify(&self, host: &dyn Host, request: &VerifyRequest) -> Result<VerifyResponse, Failure> {
        let mut court = ActionJudge::open(host, &self.options, &self.references, &request.task)?;
        let total = request.candidates.len() as u64;
        let mut results = Vec::with_capacity(request.candidates.len());
        for candidate in &request.candidates {
            results.push(court.judge(candidate).into());
            host.progress(results.len() as u64, total, "candidates");
        }
        Ok(VerifyResponse { results })
    }
}

planforge_plugin_sdk::bundle_plugin!("planforge_verifier_classes", Verifier, ClassVerifier);

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
    /// The comparison of plans.
    pub rule: Rule,
    /// The actions that have a bad precondition (BPError).
    pub bad_precondition: BadPrecondition,
    /// The ground actions of plans; the default is that of the paper's planner. Plans are executed under STRIPS semantics.
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

    fn exact_limits(&self) -> EquivalenceLimits {
        EquivalenceLimits { max_pairs: self.max_states, ..EquivalenceLimits::default() }
    }
}

/// The codes of this plugin's diagnostics and failures.
mod codes {
    use planforge_diagnostics::{CodeInfo, code_table};
    use planforge_plugin_common::judging::reference::Codes;

    pub(crate) const OPTIONS: &str = "classes.options";
    pub(crate) const ANSWER: &str = "classes.environment-answer";
    pub(crate) const NO_REFERENCE: &str = "classes.no-reference";
    pub(crate) const REFERENCE: &str = "classes.reference";
    pub(crate) const MATERIAL: &str = "classes.material";
    pub(crate) const CANCELLED: &str = "classes.cancelled";
    pub(crate) const OTHER_PREDICATES: &str = "classes.other-predicates";
    pub(crate) const DIFFERENT: &str = "classes.different";
    pub(crate) const UNDECIDED: &str = "classes.undecided";
    pub(crate) const UNKNOWN_ACTION: &str = "classes.unknown-action";

    /// Of a reference that is not shown.
    pub(crate) const SHOWN: Codes = Codes { answer: ANSWER, nothing: NO_REFERENCE, unreadable: REFERENCE };

    /// Explanations of the codes.
    pub static CODES: &[CodeInfo] = code_table!("classes/codes.md");
}

#[cfg(test)]
mod tests;
