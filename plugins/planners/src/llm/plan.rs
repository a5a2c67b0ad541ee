//! The flow of one call: question, reply, plan.

use crate::llm::claims;
use crate::llm::codes;
use crate::llm::options::LlmPlannerOptions;
use crate::llm::prompt::Prompts;
use crate::llm::read::{self, KnownActions};
use planforge_contract::api::{Host, LogLevel};
use planforge_contract::{
    CompletionRequest, Failure, FailureClass, Message, PlanDocument, PlanOutcome, PlanRequest,
    ReportedDiagnostic, ReportedSeverity, Sampling, SearchStatistics, Tags,
};
use planforge_diagnostics::SourceId;

/// The role that plans.
pub(crate) const ROLE: &str = "planner";

/// Requests a plan and reads it.
pub(crate) fn run(
    host: &dyn Host,
    options: &LlmPlannerOptions,
    prompts: &Prompts,
    request: &PlanRequest,
) -> Result<PlanOutcome, Failure> {
    if request.k > 1 {
        return Ok(PlanOutcome::Unsupported { diagnostics: vec![several_plans(request.k)] });
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
    ReportedDiagnostic {
        code: codes::SEVERAL_REPLIES.to_owned(),
        severity: ReportedSeverity::Error,
        message: format!("{k} plans were asked for, and a language model is asked for one"),
        file: String::new(),
        line: 0,
        column: 0,
        start: 0,
        end: 0,
        help: vec!["set `k = 1`, or use a planner for top-k planning".to_owned()],
    }
}
