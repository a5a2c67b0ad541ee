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
mod codes;
mod domains;
mod judge;
mod options;

pub use codes::CODES;
pub use options::{EquivalenceVerifierOptions, InterfaceOption, Level, What};

use domains::DomainJudge;
use planforge_plugin_common::judging::Reference;
use planforge_plugin_sdk::prelude::*;

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

#[cfg(test)]
mod tests;
