//! `verifier-val`: reads and checks a candidate's PDDL, and executes its plan step by step.
//!
//! | `what` | `against` | judges |
//! |---|---|---|
//! | `auto` | | the plan if the candidate has one, else the PDDL |
//! | `pddl` | | domain and problem; errors reject, warnings do not |
//! | `domain` | | the domain alone |
//! | `plan` | `candidate` | the plan by the candidate's own domain and problem |
//! | `plan` | `environment` | the plan by the task's environment, which rejects plans that are valid only for a wrongly written problem |
//!
//! The environment knows its own names only. If it refuses a plan and the candidate's writer was not given
//! the names of objects or actions, the plan is judged again under the renaming that makes the candidate's
//! problem the reference (or matches the actions). So a right problem that calls a level `level1` and not
//! `l1` is accepted.
//!
//! A missing plan leaves the candidate undecided, and so does a construct that validation does not execute:
//! neither is a rejection. The feedback is ready for a prompt: it quotes the line, the facts and the needed
//! change. If the planner found no plan, it explains why the goal is unreachable. Against the environment it
//! names the failing step and the state before it in the environment's words. It gives no reasons, because
//! the reference is withheld; these are in the evidence.
//!
//! With `backend = "val"` an installed VAL decides about plans on the candidate's own files. A crash of it,
//! or an unreadable answer, leaves the candidate undecided.
//!
//! With `parser = "val"` VAL's program `Parser` decides about the PDDL, and planforge's decision is a metric.
//! It accepts texts that it reads without an error; a crash of it is a failure. Evidence: `val` with
//! `errors`, `warnings` and the first `findings`.
//!
//! A written domain in which no action has an effect is empty: it is rejected, whatever the parser decides,
//! with the metric `empty`.
//!
//! With `claims = true` a model's claims about its plan are compared with the facts: see `claims.rs`.
//! Evidence: `claims`.
//!
//! Evidence (candidate): `initial`, `trace` (for each step `step`, `added`, `deleted`, `numbers`),
//! `failing_step`, `missing_goals`, cut at 1000 atoms and 500 steps. Evidence (environment): `executed`,
//! `reasons`, `diagnostics`, and `renaming` with `objects`, `interface` and `steps` where the plan is accepted under
//! other names.

mod claims;
mod environment;
mod judge;
mod options;
mod parser;
mod renaming;
mod unplanned;
mod val;

pub use codes::CODES;
pub use options::{Against, Backend, PddlParser, PlanVerifierOptions, What};

use planforge_plugin_sdk::prelude::*;

#[derive(Debug)]
pub struct ValVerifier {
    options: PlanVerifierOptions,
}

impl Plugin for ValVerifier {
    type Options = PlanVerifierOptions;

    fn about() -> About {
        let about = About::new("Checks PDDL and validates plans step by step")
            .environment_where("against", "environment")
            .external_where("backend", "val")
            .external_where("parser", "val")
            .command(CommandOption::new("val_command").only_where("backend", "val"))
            .command(CommandOption::new("parser_command").only_where("parser", "val"))
            .measures(Measure::PlanValidity)
            .metric("errors", "errors found in the domain, the problem and the plan")
            .metric("clean", "1 / (1 + errors): the higher the better, for a choice that takes the highest")
            .metric("warnings", "warnings found in the domain and the problem")
            .metric(
                "empty",
                "1 where the written domain can be read and no action has an effect; absent otherwise",
            )
            .metric("val_accepts", "1 where VAL's Parser accepts the PDDL, else 0 (parser = \"val\")")
            .metric(
                "front_end_accepts",
                "1 where planforge finds no error in the PDDL, else 0 (parser = \"val\")",
            )
            .metric("val_errors", "errors that VAL's Parser counts (parser = \"val\")")
            .metric("val_warnings", "warnings that VAL's Parser counts (parser = \"val\")")
            .metric("steps", "steps of the plan")
            .metric("executed", "steps executed before the first that failed")
            .metric("cost", "cost of a valid plan, by the problem's metric or else its steps");
        claims::METRICS.into_iter().fold(about, |about, (name, what)| about.metric(name, what))
    }

    fn create(options: PlanVerifierOptions, _secrets: &Secrets) -> Result<Self, Failure> {
        if options.backend == Backend::Val && options.against == Against::Environment {
            let message = "`backend = \"val\"` judges by the candidate's files, not in an environment";
            return Err(Failure::new(FailureClass::Request, codes::OPTIONS, message)
                .help("take `backend` out, or set `against = \"candidate\"`"));
        }
        if options.parser == PddlParser::Val && !matches!(options.what, What::Pddl | What::Domain) {
            let message = "`parser = \"val\"` judges PDDL, and this stage may judge a plan";
            return Err(Failure::new(FailureClass::Request, codes::OPTIONS, message)
                .help("take `parser` out, or set `what = \"pddl\"` or `what = \"domain\"`"));
        }
        claims::check_options(&options)?;
        Ok(Self { options })
    }
}

impl Verifier for ValVerifier {
    fn verify(&self, host: &dyn Host, request: &VerifyRequest) -> Result<VerifyResponse, Failure> {
        let total = request.candidates.len() as u64;
        let mut results = Vec::with_capacity(request.candidates.len());
        for candidate in &request.candidates {
            results.push(judge::judge(host, &self.options, &request.task, candidate).into());
            host.progress(results.len() as u64, total, "candidates");
        }
        Ok(VerifyResponse { results })
    }
}

planforge_plugin_sdk::bundle_plugin!(Verifier, ValVerifier);

/// The codes of this plugin's diagnostics and failures.
mod codes {
    use planforge_diagnostics::{CodeInfo, code_table};

    pub(crate) const REFUSED: &str = "verify.environment-refused";
    pub(crate) const GOAL: &str = "verify.environment-goal";
    pub(crate) const VIOLATION: &str = "verify.environment-constraint";
    pub(crate) const ANSWER: &str = "verify.environment-answer";
    pub(crate) const VAL: &str = "verify.val";
    pub(crate) const VAL_BROKE: &str = "verify.val-broke";
    pub(crate) const OPTIONS: &str = "verify.options";
    pub(crate) const CLAIMED_STATE: &str = "verify.claimed-state";
    pub(crate) const CLAIMED_GOAL: &str = "verify.claimed-goal";
    pub(crate) const CLAIMED_VALIDITY: &str = "verify.claimed-validity";
    pub(crate) const CLAIMED_COST: &str = "verify.claimed-cost";
    pub(crate) const NOT_OPTIMAL: &str = "verify.not-optimal";
    pub(crate) const EMPTY: &str = "verify.empty-domain";
    pub(crate) const CANCELLED: &str = "verify.cancelled";

    /// Codes of a reference that is not shown.
    pub(crate) const SHOWN: planforge_plugin_common::judging::reference::Codes =
        planforge_plugin_common::judging::reference::Codes {
            answer: ANSWER,
            nothing: ANSWER,
            unreadable: ANSWER,
        };

    /// Explanations of the codes.
    pub static CODES: &[CodeInfo] = code_table!("codes.md");
}

#[cfg(test)]
mod tests;
