//! `planner-llm`: a language model (role `planner`) writes the plan, with or without reasoning first.
//!
//! The question holds the domain and the problem as PDDL, else their texts and the action interface. The plan
//! is read strictly from the last code block tagged `plan` (accepted forms: `llm/read.rs` and `planforge explain
//! planner.unreadable-step`). A reply without a readable plan is a failure of the planner and says nothing
//! about the task. A readable plan is not assumed to be valid: a verify stage judges it.
//!
//! [`explain_request`] and [`explanation`] serve `--explain-plan`: a model explains a validated plan in plain
//! language.

mod claims;
mod prompt;
mod read;

/// The codes of this plugin's failures.
mod codes {
    use planforge_diagnostics::{CodeInfo, code_table};

    pub(crate) const NO_TEXT: &str = "planner.no-text";
    pub(crate) const NO_EXAMPLE: &str = "planner.no-example";
    pub(crate) const TEMPLATE: &str = "planner.prompt-template";
    pub(crate) const CUT_OFF: &str = "planner.cut-off";
    pub(crate) const FILTERED: &str = "planner.filtered";
    pub(crate) const NO_PLAN: &str = "planner.no-plan";
    pub(crate) const NO_REPLY: &str = "planner.no-reply";
    pub(crate) const UNREADABLE_STEP: &str = "planner.unreadable-step";
    pub(crate) const SCATTERED_PLAN: &str = "planner.scattered-plan";
    pub(crate) const SEVERAL_REPLIES: &str = "planner.llm-several-plans";
    pub(crate) const DURATIVE_ACTIONS: &str = "planner.llm-durative-actions";
    pub(crate) const NOTHING_TO_EXPLAIN: &str = "planner.nothing-to-explain";
    pub(crate) const NO_EXPLANATION: &str = "planner.no-explanation";

    /// Explanations of the codes.
    pub static CODES: &[CodeInfo] = code_table!("llm/codes.md");
}

#[cfg(test)]
mod tests;

pub use codes::CODES;
pub use prompt::{EXPLAINER, explain_request, explanation};

use planforge_contract::api::{Host, LogLevel};
use planforge_contract::{
    CompletionRequest, Failure, FailureClass, Message, PlanDocument, PlanOutcome, PlanRequest,
    ReportedDiagnostic, ReportedSeverity, Sampling, SearchStatistics, Tags,
};
use planforge_diagnostics::SourceId;
use planforge_plugin_sdk::prelude::*;
use prompt::Prompts;
use read::KnownActions;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug)]
pub struct LlmPlanner {
    options: LlmPlannerOptions,
    prompts: prompt::Prompts,
}

impl Plugin for LlmPlanner {
    type Options = LlmPlannerOptions;

    fn about() -> About {
        About::new("A language model writes the plan by itself").role(ROLE, "writes the plan").requests(1)
    }

    fn create(options: LlmPlannerOptions, _secrets: &Secrets) -> Result<Self, Failure> {
        Ok(Self { options, prompts: prompt::Prompts::new()? })
    }
}

impl Planner for LlmPlanner {
    fn plan(&self, host: &dyn Host, request: &PlanRequest) -> Result<PlanOutcome, Failure> {
        run(host, &self.options, &self.prompts, request)
    }
}

planforge_plugin_sdk::bundle_plugin!("planforge_planner_llm", Planner, LlmPlanner);

/// Options of `planner-llm`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LlmPlannerOptions {
    /// Asks the model to reason step by step before it writes the plan.
    pub chain_of_thought: bool,
    /// Repeats the rules of the actions after the task (test-time-scaling paper, section 4.6): from the
    /// domain's text or, if the domain is given as PDDL, its conditions and effects in words.
    pub rules: bool,
    /// Asks the model to check each step against the rules, to state the facts after it, and to claim the
    /// plan's cost, validity and optimality (Appendix F). The claims are kept beside the plan. Takes
    /// precedence over `chain_of_thought`.
    pub check_steps: bool,
    /// Shows the in-context example (`example.text` and `example.plan` of the suite). Left out: if the suite
    /// has one. `true`: a suite without one is an error.
    pub example: Option<bool>,
    /// Replaces the system text. An empty text omits the system turn.
    pub system: Option<String>,
}

/// The role that plans.
const ROLE: &str = "planner";

/// Requests a plan and reads it.
fn run(
    host: &dyn Host,
    options: &LlmPlannerOptions,
    prompts: &Prompts,
    request: &PlanRequest,
) -> Result<PlanOutcome, Failure> {
    if request.k > 1 {
        return Ok(PlanOutcome::Unsupported { diagnostics: vec![several_plans(request.k)] });
    }
    if !planforge_pddl::parse_domain(&request.domain, SourceId(0)).value.durative_actions.is_empty() {
        return Ok(PlanOutcome::Unsupported { diagnostics: vec![durative_actions()] });
    }
    let mut messages = Vec::new();
    let system = prompts.system(options)?;
    if !system.is_empty() {
        messages.push(Message::system(system));
    }
    messages.push(Message::user(prompts.plan(options, request)?));
    let completion = CompletionRequest {
        messages,
        sampling: Sampling { n: Some(1), ..Sampling::default() },
        tags: Tags::of(&request.task, "plan"),
        ..CompletionRequest::default()
    };
    let replies = host.complete(ROLE, completion)?;
    let Some(reply) = replies.replies.first() else {
        return Err(Failure::new(
            FailureClass::Provider,
            codes::NO_REPLY,
            "the host answered without a reply",
        ));
    };
    let actions = known_actions(request);
    let steps = match options.check_steps {
        true => read::checked_plan(reply, &actions)?,
        false => read::plan(reply, &actions)?,
    };
    if steps.is_empty() {
        host.log(LogLevel::Info, "the reply holds an empty plan");
    }
    let claims = options.check_steps.then(|| {
        let read = claims::read(&reply.content);
        read.remarks.iter().for_each(|remark| host.log(LogLevel::Info, remark));
        read.claims
    });
    Ok(PlanOutcome::Plan {
        plans: vec![PlanDocument { steps, claims, ..PlanDocument::default() }],
        optimal: false,
        statistics: SearchStatistics { search: "language model".to_owned(), ..SearchStatistics::default() },
    })
}

/// The actions that a step without parentheses may name: the domain's, else the interface's.
fn known_actions(request: &PlanRequest) -> Vec<KnownActions> {
    if !request.domain.trim().is_empty() {
        let domain = planforge_pddl::parse_domain(&request.domain, SourceId(0)).value;
        return domain
            .actions
            .iter()
            .map(|a| KnownActions { name: a.name.key().to_owned(), arity: a.parameters.len() })
            .collect();
    }
    let interface = request.task.action_interface.iter().flat_map(|i| &i.actions);
    interface.map(|a| KnownActions { name: a.name.to_lowercase(), arity: a.parameters.len() }).collect()
}

fn several_plans(k: u32) -> ReportedDiagnostic {
    let message = format!("{k} plans were asked for, and a language model is asked for one");
    unsupported(codes::SEVERAL_REPLIES, message, "set `k = 1`, or use a planner for top-k planning")
}

fn durative_actions() -> ReportedDiagnostic {
    let message = "the domain has durative actions, and this planner reads no times from replies".to_owned();
    unsupported(codes::DURATIVE_ACTIONS, message, "use `planner-classical`, which plans with time")
}

fn unsupported(code: &str, message: String, help: &str) -> ReportedDiagnostic {
    ReportedDiagnostic {
        code: code.to_owned(),
        severity: ReportedSeverity::Error,
        message,
        file: String::new(),
        line: 0,
        column: 0,
        start: 0,
        end: 0,
        help: vec![help.to_owned()],
    }
}
