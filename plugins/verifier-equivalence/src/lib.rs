//! `verifier-equivalence`: decides if a candidate's problem is the task's reference problem up to the names
//! of its objects (translate-infer-compile paper, Appendix D) or, with `what = "domain"`, if its domain
//! behaves as the reference domain.
//!
//! # Problems
//!
//! The reference is the one that the task's environment shows. Objects are exchanged
//! within their type, in initial state, numbers, goal and metric together; names that the domain uses are
//! fixed. Facts and conjuncts count once, in any order.
//!
//! | the candidate's problem | verdict |
//! |---|---|
//! | is the reference under some renaming | accepted |
//! | is another problem, or unreadable | rejected |
//! | is missing, or a limit ended the comparison | undecided |
//! | has a domain that differs from the reference's | not comparable |
//!
//! With `level = "goals"` goals are compared by the reachable states that satisfy them. A goal fact that
//! follows from the others in every such state then makes no difference. A question that stays open within
//! the limits leaves the candidate undecided.
//!
//! Domains are equal if types, constants, predicates, functions, actions and rules are equal up to order,
//! layout and the names of parameters. If the candidate has no domain, problems are compared over the one
//! that the pipeline gives, else over the reference's.
//!
//! # Domains
//!
//! The candidate's domain replaces the reference domain and is compared on the reference problem, and on
//! further problems of the suite if the environment shows any (`problems` of `[environment]`): by every
//! sequence of ground actions (`level = "exact"`), or by the k cheapest plans of either (`level = "hde"`, the
//! domain-generators paper's heuristic domain equivalence).
//!
//! | the candidate's domain | verdict |
//! |---|---|
//! | behaves as the reference on every problem | accepted |
//! | does not, or has errors | rejected |
//! | is missing, or a limit ended the comparison | undecided |
//! | has other actions, or does not declare symbols of the problem | not comparable |
//!
//! With `interface = "matched"` a renaming of its actions, parameters and types is searched first, and the
//! candidate is rewritten with the reference's names. Evidence: `comparison` (a problem's entry in `planforge
//! equivalent domain --json`: the deciding one) and, over several problems, `comparisons` (all, up to the
//! first with a difference); or `heuristic`; `reconstruction_error`; and `interface` with the renaming.
//!
//! # Leaks
//!
//! Every difference reveals the reference, so there is no feedback: summary, diagnostics and evidence are for
//! the record, and hosts keep everything that depends on the environment from models. Evidence: `renaming`
//! (pairs, the reference's name first), and for a difference `difference` (as in `planforge pddl equivalent
//! --json`), at level `goals` also `added_goal_facts` and `witness`; `domain` if the domains differ.

pub mod classes;
pub mod clusters;
mod domains;
mod judge;

pub use codes::CODES;

use domains::DomainJudge;
use planforge_planning::equivalence::domains::EquivalenceLimits;
use planforge_planning::equivalence::hde::HdeOptions;
use planforge_plugin_common::judging::{JudgingLimits, Reference, Rule};
use planforge_plugin_sdk::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;

#[derive(Debug)]
pub struct EquivalenceVerifier {
    options: EquivalenceVerifierOptions,
}

impl Plugin for EquivalenceVerifier {
    type Options = EquivalenceVerifierOptions;

    fn about() -> About {
        About::new("Compares problems, or domains, with the reference up to names")
            .environment()
            .measures(Measure::Equivalence)
            .metric("equivalent", "1 where the problem is the reference under some renaming, or the domain behaves as the reference, else 0")
            .metric("missing", "objects and facts of the reference without a counterpart")
            .metric("extra", "objects and facts of the candidate without a counterpart")
            .metric("depth", "steps of the shortest difference between the domains, or up to which they are equal where that is open")
            .metric("states", "pairs of states that were compared")
            .metric("plans", "plans of both domains, at level `hde`")
            .metric("are", "action reconstruction error of the domain, by names of variables")
            .metric("are_by_position", "the same by positions of parameters")
            .metric("are_least", "the least over bijections between parameters of the same type")
    }

    fn create(options: EquivalenceVerifierOptions, _secrets: &Secrets) -> Result<Self, Failure> {
        options.check()?;
        Ok(Self { options })
    }
}

impl Verifier for EquivalenceVerifier {
    fn verify(&self, host: &dyn Host, request: &VerifyRequest) -> Result<VerifyResponse, Failure> {
        let reference = Reference::open(host).map_err(|not| not.failure(&codes::SHOWN))?;
        let total = request.candidates.len() as u64;
        let mut results = Vec::with_capacity(request.candidates.len());
        let mut court = match self.options.what {
            What::Domain => Some(DomainJudge::open(host, &self.options, &reference)?),
            What::Problem => None,
        };
        for candidate in &request.candidates {
            let judged = match &mut court {
                Some(court) => court.judge(candidate),
                None => judge::judge(host, &self.options, &reference, &request.task.given, candidate),
            };
            results.push(judged.into());
            host.progress(results.len() as u64, total, "candidates");
        }
        Ok(VerifyResponse { results })
    }
}

planforge_plugin_sdk::bundle_plugin!(Verifier, EquivalenceVerifier);

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
    /// The compared artefact.
    pub what: What,
    /// The method. Left out: `syntactic` for problems, `exact` for domains.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<Level>,
    /// Most choices that the search tries, at least 1: pairs of objects of two problems, or parts of a
    /// renaming of actions.
    #[schemars(range(min = 1))]
    pub max_choices: u64,
    /// At level `goals`, most states that are visited if invariants and searches leave the question open; at
    /// level `exact`, most pairs of states.
    pub max_states: u64,
    /// The names that the actions of a candidate's domain must have.
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

/// The codes of this plugin's diagnostics and failures.
mod codes {
    use planforge_diagnostics::{CodeInfo, code_table};

    pub(crate) const OPTIONS: &str = "equivalence.options";
    pub(crate) const ANSWER: &str = "equivalence.environment-answer";
    pub(crate) const NO_REFERENCE: &str = "equivalence.no-reference";
    pub(crate) const REFERENCE: &str = "equivalence.reference";
    pub(crate) const CANCELLED: &str = "equivalence.cancelled";
    pub(crate) const OTHER_DOMAIN: &str = "equivalence.other-domain";
    pub(crate) const MISSING: &str = "equivalence.missing";
    pub(crate) const EXTRA: &str = "equivalence.extra";
    pub(crate) const INTERFACE: &str = "equivalence.interface";
    pub(crate) const BEHAVIOUR: &str = "equivalence.behaviour";

    /// Of a reference that is not shown.
    pub(crate) const SHOWN: planforge_plugin_common::judging::reference::Codes =
        planforge_plugin_common::judging::reference::Codes {
            answer: ANSWER,
            nothing: NO_REFERENCE,
            unreadable: REFERENCE,
        };

    /// Explanations of the codes.
    pub static CODES: &[CodeInfo] = code_table!("codes.md");
}

#[cfg(test)]
mod tests;
