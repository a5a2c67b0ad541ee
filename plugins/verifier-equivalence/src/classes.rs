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

mod action_feedback;
mod codes;
mod frame;
mod judge;
mod options;
mod report;
mod requested;

pub use codes::CODES;
pub use options::{BadPrecondition, ClassVerifierOptions};

use judge::ActionJudge;
use planforge_plugin_sdk::prelude::*;

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

#[cfg(test)]
mod tests;
