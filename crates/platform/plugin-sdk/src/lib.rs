//! Everything that the author of a plugin needs.
//!
//! A plugin is a crate with `crate-type = ["cdylib", "rlib"]` that implements two traits for one type, [`Plugin`] (what
//! it is, its options) and the trait of its kind ([`Provider`], [`Translator`], [`Verifier`], [`Planner`],
//! [`Environment`]), and exports it with one line:
//!
//! ```
//! use planforge_plugin_sdk::prelude::*;
//!
//! /// Options are a struct; the doc comments are what users read, and unknown keys are errors.
//! #[derive(Deserialize, JsonSchema)]
//! #[serde(crate = "planforge_plugin_sdk::serde", deny_unknown_fields, default)]
//! #[schemars(crate = "planforge_plugin_sdk::schemars")]
//! struct Options {
//!     /// Longest plan accepted, in steps.
//!     most: usize,
//! }
//! impl Default for Options {
//!     fn default() -> Self {
//!         Self { most: 10 }
//!     }
//! }
//!
//! struct Short(Options);
//!
//! impl Plugin for Short {
//!     type Options = Options;
//!     fn about() -> About {
//!         About::new("Accepts plans that are short").metric("length", "steps of the plan")
//!     }
//!     fn create(options: Options, _secrets: &Secrets) -> Result<Self, Failure> {
//!         Ok(Self(options))
//!     }
//! }
//!
//! impl Verifier for Short {
//!     fn verify(&self, _host: &dyn Host, request: &VerifyRequest) -> Result<VerifyResponse, Failure> {
//!         let judge = |c: &Candidate| match c.plan.as_ref().and_then(PlanOutcome::best) {
//!             Some(plan) if plan.steps.len() <= self.0.most => Assessment::new(Decision::Accepted, "short"),
//!             Some(_) => Assessment::new(Decision::Rejected, "long"),
//!             None => Assessment::new(
//!                 Decision::Undecided { reason: UndecidedReason::MissingInput, message: "no plan".into() },
//!                 "no plan",
//!             ),
//!         };
//!         Ok(VerifyResponse { results: request.candidates.iter().map(|c| Outcome::Ok(judge(c))).collect() })
//!     }
//! }
//!
//! planforge_plugin_sdk::export_plugin!(Verifier, Short);
//! # fn main() {}
//! ```
//!
//! Rules the host holds every plugin to: calls come from several threads at once; nothing is kept between calls; a panic
//! becomes a [`planforge_contract::Failure`] and ends the instance; language models, environments and planners are reached through [`Host`]
//! alone. [`testing::TestHost`] lets a plugin be tested without loading it.
//!
//! The features `pddl` (reading PDDL in candidates and replies, environments that are written step by step) and `prompts` (templates) are on by
//! default.

#![warn(missing_docs)]

mod about;
#[cfg(feature = "pddl")]
pub mod checked;
mod export;
pub mod feedback;
pub mod guard;
pub mod kinds;
pub mod loose;
#[cfg(feature = "prompts")]
pub mod prompt;
#[cfg(feature = "pddl")]
pub mod reply;
pub mod rights;
#[cfg(feature = "pddl")]
pub mod stepwise;
pub mod testing;
#[cfg(feature = "pddl")]
pub mod walking;
pub mod wording;

pub use about::{About, Plugin, Secrets};
#[doc(hidden)]
pub use export::Crate;
pub use planforge_contract as contract;
pub use planforge_contract::ProgressTimer;
pub use planforge_contract::api::{
    Environment, EnvironmentAnswer, EnvironmentCall, Host, LogLevel, Planner, Provider, Translator, Verifier,
};
pub use planforge_plugin_abi::{BundledPlugin, EPOCH};
pub use schemars;
pub use serde;
pub use serde_json;
#[cfg(feature = "pddl")]
pub use stepwise::{StepEnvironment, Stepwise};

/// Everything a plugin usually names.
pub mod prelude {
    pub use crate::{
        About, Environment, EnvironmentAnswer, EnvironmentCall, Host, LogLevel, Planner, Plugin, Provider,
        Secrets, Translator, Verifier,
    };
    #[cfg(feature = "pddl")]
    pub use crate::{StepEnvironment, Stepwise};
    pub use planforge_contract::{
        ActionDescription, ActionExample, ActionInterface, ActionMaterials, ActionReconstructionError,
        ActionSignature, AppliedFix, Applies, Assessment, Candidate, CandidatePatch, Capabilities,
        ClaimedState, Classification, CommandOption, CompletionRequest, CompletionResult, CreateRequest,
        Critique, CritiqueFinding, Decision, Declared, DomainDifference, Edits, EnvironmentInfo,
        EnvironmentOpen, EnvironmentPlan, EnvironmentVerdict, ExactAnswer, ExampleMaterials, Execution,
        ExecutionReport, FailingDomainPlan, Failure, FailureClass, FindingSeverity, FinishReason, FixPolicy,
        Given, HeuristicEquivalence, IdleReason, IdleRule, Inference, InferenceRule, InferredAtom,
        InferredEntry, JsonObject, LeadMaterials, LimitKind, LineageStep, Materials, Measure, Message,
        OptionCondition, Outcome, PlanClaims, PlanDocument, PlanLimits, PlanOutcome, PlanRequest, PluginInfo,
        PluginKind, PredicateDescription, ProblemSection, ProviderFailure, ProviderFailureClass, Replies,
        Reply, ReportedDiagnostic, ReportedSeverity, RequestBound, RequestCount, ResultClasses, RuleOrigin,
        Sampling, SearchStatistics, Sentences, Sequences, Speaker, StateDescription, StateQuery,
        SuiteMaterials, SuiteReference, Tags, TaskView, TemplateMaterials, TokenLogprob, TranslateRequest,
        TranslateResponse, TypedName, UndecidedReason, Usage, VerifyRequest, VerifyResponse, WalkPolicy,
        WalkSpec, Walks, WrittenTexts,
    };
    pub use schemars::JsonSchema;
    pub use serde::{Deserialize, Serialize};
}

/// Expansion of [`export_plugin!`] and [`bundle_plugin!`]; not for use by hand.
#[doc(hidden)]
pub mod __private {
    pub use crate::export::{describe, header};
    pub use planforge_plugin_abi::{BundledPlugin, EPOCH, Header};
}
