//! The plugin protocol: the documents that plugins and their host exchange, and the traits over them.
//!
//! Documents cross a plugin boundary as UTF-8 JSON in an [`Envelope`], which holds the document's name and its schema number. Unknown
//! fields are ignored, so optional fields can be added without a new schema number; removing a field or changing its meaning raises the
//! number. PDDL crosses as text, never as trees.
//!
//! The traits in [`api`] are implemented twice: by plugins (through the SDK) and by the host's adapters for loaded libraries. A pipeline
//! treats both alike.
//!
//! Events of a journal are in `planforge-record`, reports of commands in `planforge-plugin-common`.

#![warn(missing_docs)]

pub mod api;
mod documents;
mod envelope;
mod headers;
mod progress;
mod schema;

pub use documents::assessment::{Assessment, Decision, UndecidedReason};
pub use documents::candidate::{Candidate, CandidatePatch, Edits, LineageStep, WrittenTexts};
pub use documents::capabilities::{
    Applies, Capabilities, OptionCondition, RequestBound, RequestCount, RequestSetting,
};
pub use documents::classes::{
    ActionReconstructionError, Classification, DomainDifference, ExactAnswer, FailingDomainPlan,
    HeuristicEquivalence, ResultClasses,
};
pub use documents::commands::{CommandOption, StartedCommand, UsualProgram};
pub use documents::completion::{
    CompletionRequest, CompletionResult, Constraint, FinishReason, Message, Price, ProviderFailure,
    ProviderFailureClass, Replies, Reply, ReplySchema, Sampling, Speaker, Tags, TokenLogprob, Usage,
};
pub use documents::critique::{Critique, CritiqueFinding, FindingSeverity};
pub use documents::environment::{
    EnvironmentInfo, EnvironmentOpen, EnvironmentPlan, EnvironmentVerdict, Execution, ExecutionReport,
    Sequences, StateDescription, StateQuery, WalkPolicy, WalkSpec, Walks,
};
pub use documents::failure::{Failure, FailureClass, Outcome};
pub use documents::infer::{
    IdleReason, IdleRule, Inference, InferenceRule, InferredAtom, InferredEntry, ProblemSection, RuleOrigin,
};
pub use documents::materials::{
    ActionDescription, ActionExample, ActionMaterials, ExampleMaterials, LeadMaterials, Materials,
    PredicateDescription, SuiteMaterials, TemplateMaterials,
};
pub use documents::plan::{
    ClaimedState, LimitKind, PlanClaims, PlanDocument, PlanLimits, PlanOutcome, PlanRequest, SearchStatistics,
};
pub use documents::plugin::{CreateRequest, Declared, Measure, PluginInfo, PluginKind, SuiteReference};
pub use documents::rate_limits::{RateLimits, RateQuota};
pub use documents::reported::{AppliedFix, ReportedDiagnostic, ReportedSeverity};
pub use documents::sentences::{SentenceSlots, Sentences, sentence_slots};
pub use documents::task::{ActionInterface, ActionSignature, Given, TaskView, TypedName};
pub use documents::translate::{FixPolicy, TranslateRequest, TranslateResponse};
pub use documents::verify::{VerifyRequest, VerifyResponse};
pub use envelope::{DecodeError, Document, DocumentVisitor, Envelope, decode, encode};
pub use headers::is_harmless_header;
pub use progress::ProgressTimer;
pub use schema::DocumentSchemas;

/// A JSON object with sorted keys, as options and extra fields use it.
pub type JsonObject = serde_json::Map<String, serde_json::Value>;

documents! {
    PluginInfo = "plugin-info" @ 2;
    CreateRequest = "create-request" @ 1;
    Failure = "failure" @ 1;
    CompletionRequest = "completion-request" @ 1;
    CompletionResult = "completion-result" @ 1;
    TranslateRequest = "translate-request" @ 1;
    TranslateResponse = "translate-response" @ 1;
    VerifyRequest = "verify-request" @ 1;
    VerifyResponse = "verify-response" @ 1;
    PlanRequest = "plan-request" @ 1;
    PlanOutcome = "plan-outcome" @ 1;
    EnvironmentOpen = "environment-open" @ 1;
    EnvironmentInfo = "environment-info" @ 1;
    WalkSpec = "walk-spec" @ 1;
    Walks = "walks" @ 1;
    Sequences = "sequences" @ 1;
    ExecutionReport = "execution-report" @ 1;
    EnvironmentPlan = "environment-plan" @ 1;
    EnvironmentVerdict = "environment-verdict" @ 1;
    StateQuery = "state-query" @ 1;
    StateDescription = "state-description" @ 1;
    api::EnvironmentCall = "environment-call" @ 1;
    api::EnvironmentAnswer = "environment-answer" @ 1;
    Inference = "inference" @ 1;
    RateLimits = "rate-limits" @ 1;
}
