//! `verifier-ew`: the similarity of a candidate's behaviour to the task's environment, by exploration walks
//! (Mahdavi et al. 2024, Definition 1 and Eq. 2).
//!
//! The walks of each side are executed on the other, for lengths 1 to `t_max`; the score is the harmonic mean
//! of both shares.
//!
//! | the environment | method |
//! |---|---|
//! | shows its reference model | both models in process: computed by dynamic programming while it fits `exact_pairs` and `exact_memory_mb`, else sampled |
//! | can only be tried | its own walks are executed on the candidate's model, and it tries the candidate's walks; each is one request |
//!
//! A candidate is accepted if its score is 1, with the certainty stated (`certainty` in the evidence:
//! `exact`, `proven` by a search that found no failing walk, or `all-walks`); below 1 it is rejected. In mode
//! `auto` a candidate that executes every sampled walk is still rejected if the search for a shortest failing
//! walk finds one. An action, object or arity that the other side lacks is a refusal like any other. If no
//! action or no object is shared, or the environment has no first action, the two are not comparable. Limits,
//! missing texts and constructs that walks do not execute leave a candidate undecided.
//!
//! With `interface = "matched"` a renaming of the candidate's actions, parameters and types is searched
//! first, and walks use the environment's names; without a renaming the two are not comparable. The evidence
//! has it as `interface`.
//!
//! The metric `rating` ranks broken candidates too (Appendix B.3), so that a refine stage has a best one in
//! every round:
//!
//! | | `paper` | `reference-code` |
//! |---|---|---|
//! | score 1 and the candidate's plan is valid in the environment | 1 | 2 |
//! | a score | 0 to 1 | 0 to 1 |
//! | no action can be executed initially | -1 | -1 |
//! | errors in the PDDL, or nothing in common with the environment | -2 | -3 |
//! | an action without effects (that has some in the environment, as far as that is known) | -3 | -4 |
//! | edits were requested, none could be applied (`reference-code`: one was refused) | -4 | -5 |
//! | edits were requested, there were none | -5 | -6 |
//!
//! Walks seldom reach a goal, so the score is 1 for a problem whose goal alone is wrong. `ratings = "with-goals"` compares the goals too:
//! on walks that follow a side's plan and then up to `t_max` uniform steps, `goal_agreement` is the share on which both goals hold
//! among those on which one does, as the harmonic mean of both directions (see [`goals`]). It is computed while that fits
//! `exact_pairs`, else sampled. The rating of a candidate with a score is then the mean of both, and it is accepted only if both are
//! 1.
//!
//! The feedback is the shortest failing walk of either direction (with `failing_walks = "each"` a minimal one for each direction and refused
//! action): the side and the action that it refuses,
//! the reason if the candidate's own text refuses it, and the state of the environment before that action, in
//! the environment's words. Conditions of a withheld reference are never revealed. Evidence: see
//! [`report::details`].

mod candidate;
mod environment;
pub mod goals;
mod judge;
pub mod measure;
mod options;
mod race;
mod rating;
mod reference;
pub mod report;
mod trials;
mod walk_feedback;

pub use codes::CODES;
pub use options::{
    DeadEnds, FailingWalks, Form, InterfaceOption, Mode, Policy, Ratings, Settings, WalkVerifierOptions,
};

use planforge_plugin_sdk::prelude::*;

#[derive(Debug)]
pub struct EwVerifier {
    settings: Settings,
    references: reference::Cache,
}

impl Plugin for EwVerifier {
    type Options = WalkVerifierOptions;

    fn about() -> About {
        About::new("Compares candidates with the environment by exploration walks")
            .environment()
            .together_where("racing", "true")
            .measures(Measure::WalkScore)
            .metric("score", "harmonic mean of both directions, 0 to 1")
            .metric("rating", "the score, or a negative rank for a candidate that has none (Appendix B.3)")
            .metric("reference_to_candidate", "share of the environment's walks that the candidate executes")
            .metric("candidate_to_reference", "share of the candidate's walks that the environment executes")
            .metric("low", "lower bound of the score at the stated confidence")
            .metric("high", "upper bound of the score at the stated confidence")
            .metric("walks", "walks drawn")
            .metric("goal_agreement", "share of the walks to either goal on which both goals hold, 0 to 1 (ratings = \"with-goals\")")
            .metric("goal_low", "lower bound of the goal agreement at the stated confidence")
            .metric("goal_high", "upper bound of the goal agreement at the stated confidence")
    }

    fn create(options: WalkVerifierOptions, _secrets: &Secrets) -> Result<Self, Failure> {
        Ok(Self { settings: options.settings()?, references: reference::Cache::default() })
    }
}

impl Verifier for EwVerifier {
    fn verify(&self, host: &dyn Host, request: &VerifyRequest) -> Result<VerifyResponse, Failure> {
        Ok(VerifyResponse { results: judge::judge(host, &self.settings, &self.references, request)? })
    }
}

planforge_plugin_sdk::bundle_plugin!(Verifier, EwVerifier);

/// The codes of this plugin's diagnostics and failures.
mod codes {
    use planforge_diagnostics::{CodeInfo, code_table};

    pub(crate) const OPTIONS: &str = "ew.options";
    pub(crate) const ANSWER: &str = "ew.environment-answer";
    pub(crate) const REFERENCE: &str = "ew.reference";
    pub(crate) const CANCELLED: &str = "ew.cancelled";
    pub(crate) const STOPPED: &str = "ew.stopped";
    pub(crate) const REFUSED_BY_ENVIRONMENT: &str = "ew.refused-by-environment";
    pub(crate) const REFUSED_BY_CANDIDATE: &str = "ew.refused-by-candidate";
    pub(crate) const NO_FIRST_ACTION: &str = "ew.no-first-action";
    pub(crate) const NO_EFFECT: &str = "ew.no-effect";
    pub(crate) const NOT_EDITED: &str = "ew.not-edited";
    pub(crate) const NOT_SHARED: &str = "ew.not-shared";

    /// Explanations of the codes.
    pub static CODES: &[CodeInfo] = code_table!("codes.md");
}

#[cfg(test)]
mod tests;
