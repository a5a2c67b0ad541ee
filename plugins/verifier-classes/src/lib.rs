//! `verifier-classes`: the result class of each action that a candidate was asked for (domain-generators paper, section 3).
//!
//! Each action takes the place of the reference's in the reference domain, all others staying true, and gets the first class that applies:
//!
//! | class | primary class | the action |
//! |---|---|---|
//! | NoPDDL, PError, UToken | syntax error | is none; has unmatched parentheses; has something where it cannot stand |
//! | TError, PAError, NError, BPError | semantic error | has a wrong type; a wrong predicate or argument; another name; needs what the domain does not declare |
//! | NoPlan, NPApp, OPApp | different domain | leaves a problem without a plan; allows a plan that is none; forbids one that is |
//! | Equivalent | equivalent | shows no difference in the k cheapest plans of each problem, either way |
//! | Undecided | undecided | was not told within the limits; never taken for NoPlan |
//!
//! The reference is the one that the task's environment shows (capability `model`): the task's problem, and further ones of the suite as
//! `problems` of \[environment\] asks for. The paper has two problems and 10 plans of each.
//!
//! # Which actions
//!
//! Those that the candidate has a text `action.NAME` for, which translator-actions writes for every action that it was asked for, a reply
//! without an action included (NoPDDL); what its option `only` leaves out is not classified. A candidate without such texts is taken to have been
//! asked for all: they are looked for in its domain by name, and one that is missing there is NoPDDL. Places in diagnostics are in the action's own
//! text.
//!
//! With `whole = true` the domain in which every one of these is the written action (the others the reference's) is classified too,
//! which the paper leaves to future work: where an action does not fit, it has the first of their classes in the order of precedence.
//!
//! # Verdict
//!
//! | the candidate | verdict |
//! |---|---|
//! | has every action equivalent, each by itself | accepted |
//! | has one that is in another class | rejected |
//! | has none that is, and some that could not be told; or nothing to judge | undecided |
//! | declares other predicates than the reference | not comparable |
//!
//! The class of the whole domain is a figure (`whole`) and evidence. Evidence is the contract's `ResultClasses`.
//!
//! # Without behaviour
//!
//! With `behaviour = false` nobody looks at plans or at the reference's actions: an action has a class of syntax or meaning, or `Fits`, and is
//! accepted then. It is judged with the declarations that the pipeline gives (material `domain.header`, `actions` in \[given\]), the environment is
//! not asked, and so its feedback does not rest on the environment. Where the pipeline gives none, the environment's domain is taken, and the
//! feedback rests on it.
//!
//! # Feedback
//!
//! One entry for each action in another class than Equivalent, beginning ``Action `NAME`: ``, by which translator-actions writes that action alone
//! anew. It holds what the class needs: the findings with their lines; why there is no plan, as far as that is not what another action
//! needs; or the plan that fails, its step, what holds of the step's objects before it, and the conditions of the written action (never of a
//! true one) or of the goal that do not hold. Of an action that could not be told it says that, so that in a round where nothing else is wrong the
//! others are left alone. Plans are the environment's word, so models hear them only in a pipeline that declares
//! `feedback = "environment"`.

mod asked;
mod codes;
mod frame;
mod judge;
mod options;
mod report;
mod told;

pub use codes::CODES;
pub use options::Options;

use judge::Court;
use planforge_plugin_sdk::prelude::*;

#[derive(Debug)]
pub struct ClassVerifier {
    options: Options,
    references: frame::Cache,
}

impl Plugin for ClassVerifier {
    type Options = Options;

    fn about() -> About {
        About::new("Classifies written actions: syntax error, semantic error, different domain or equivalent")
            .environment()
            .measures(Measure::ResultClass)
            .metric("actions", "actions that were asked for")
            .metric("equivalent", "how many are equivalent")
            .metric("syntax", "how many have a syntax error")
            .metric("semantic", "how many have a semantic error")
            .metric("different", "how many make a different domain")
            .metric("undecided", "how many could not be told")
            .metric("fits", "with `behaviour = false`, how many have neither a syntax nor a semantic error")
            .metric(
                "rating",
                "mean over the actions: 0 syntax error, 1/3 semantic error, 2/3 different or undecided, 1 equivalent or fits",
            )
            .metric("are", "action reconstruction error, by names of variables; absent where an action cannot be read")
            .metric("are_by_position", "the same by positions of parameters")
            .metric("are_least", "the least over bijections between parameters of the same type")
            .metric("whole", "1 where the domain of all written actions is equivalent, else 0; absent where that is undecided or nobody looks")
    }

    fn create(options: Options, _secrets: &Secrets) -> Result<Self, Failure> {
        options.check()?;
        Ok(Self { options, references: frame::Cache::default() })
    }
}

impl Verifier for ClassVerifier {
    fn verify(&self, host: &dyn Host, request: &VerifyRequest) -> Result<VerifyResponse, Failure> {
        let mut court = Court::open(host, &self.options, &self.references, &request.task)?;
        let total = request.candidates.len() as u64;
        let mut results = Vec::with_capacity(request.candidates.len());
        for candidate in &request.candidates {
            results.push(court.judge(candidate).into());
            host.progress(results.len() as u64, total, "candidates");
        }
        Ok(VerifyResponse { results })
    }
}

planforge_plugin_sdk::export_plugin!(Verifier, ClassVerifier);

#[cfg(test)]
mod tests;
