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

pub use api::ProgressTimer;
pub use documents::assessment::{
    AppliedFix, Assessment, Critique, CritiqueFinding, Decision, FindingSeverity, ReportedDiagnostic,
    ReportedSeverity, UndecidedReason,
};
pub use documents::candidate::{
    Candidate, CandidatePatch, Edits, FixPolicy, IdleReason, IdleRule, Inference, InferenceRule,
    InferredAtom, InferredEntry, LineageStep, ProblemSection, RuleOrigin, TranslateRequest,
    TranslateResponse, VerifyRequest, VerifyResponse, WrittenTexts,
};
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
    ProviderFailureClass, RateLimits, RateQuota, Replies, Reply, ReplySchema, Sampling, Speaker, Tags,
    TokenLogprob, Usage, is_harmless_header,
};
pub use documents::environment::{
    EnvironmentInfo, EnvironmentOpen, EnvironmentPlan, EnvironmentVerdict, Execution, ExecutionReport,
    Sequences, StateDescription, StateQuery, WalkPolicy, WalkSpec, Walks,
};
pub use documents::failure::{Failure, FailureClass, Outcome};
pub use documents::materials::{
    ActionDescription, ActionExample, ActionInterface, ActionMaterials, ActionSignature, ExampleMaterials,
    Given, LeadMaterials, Materials, PredicateDescription, SentenceSlots, Sentences, SuiteMaterials,
    TaskView, TemplateMaterials, TypedName, sentence_slots,
};
pub use documents::plan::{
    ClaimedState, LimitKind, PlanClaims, PlanDocument, PlanLimits, PlanOutcome, PlanRequest,
    SearchStatistics, StepTimes,
};
pub use documents::plugin::{CreateRequest, Declared, Measure, PluginInfo, PluginKind, SuiteReference};
pub use envelope::{
    DecodeError, Document, DocumentSchemas, DocumentVisitor, Envelope, decode, encode, read_json,
};

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
