//! A plan by the bundled classical planner, over the same plugin boundary as in pipelines.

use super::Sentences;
use crate::catalogue::registry;
use crate::context::Context;
use crate::error::Error;
use crate::events::{Event, Notice};
use crate::inputs::{Findings, Inputs, Source};
use crate::limits::{RequestLimits, WorkLimits};
use crate::progress::WorkProgress;
use crate::status::{Status, of_limit};
use planforge_contract::api::{Host, LogLevel};
use planforge_contract::{CreateRequest, Failure, FailureClass, JsonObject, PlanLimits};
pub use planforge_contract::{PlanDocument, PlanOutcome};
pub use planforge_pddl::ast::MetricDirection;
pub use planforge_planning::PreferenceResult;
use planforge_planning::{ValidationOptions, normalize};
pub use planforge_plugin_common::judging::reports::PlanReport;
use planforge_plugin_common::judging::reports::PreferenceVerdict;
use planforge_plugin_common::judging::{NamedText, limit_outcome};
pub use planforge_plugin_common::telling::ToldPlan;
use planforge_plugin_common::telling::tell_plan;
use planforge_plugin_host::Instance;
use serde::{Serialize, Serializer};
use std::sync::Arc;
use std::time::Duration;

/// A task to plan for.
#[derive(Debug, Clone)]
pub struct PlanRequest {
    /// The domain.
    pub domain: Source,
    /// The problem.
    pub problem: Source,
    /// The kind of search.
    pub search: PlanSearch,
    /// The sentences, if the plan is told too.
    pub in_words: Option<Sentences>,
    /// Limits on the search.
    pub limits: RequestLimits,
    /// Most search nodes.
    pub nodes: Option<u64>,
    /// Most threads of the search, 1 or 2, which do not change the plans; two if it is not given.
    pub threads: Option<u32>,
    /// True to send each better plan as [`Event::Plan`] when it is found. Only for [`PlanSearch::Best`].
    pub report_plans: bool,
}

/// A kind of search.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum PlanSearch {
    /// The best plan until the limit on time or nodes, or in ten seconds after the first one if there is neither. Better plans
    /// are notices.
    #[default]
    Best,
    /// The first plan.
    First,
    /// A cheapest plan, proven (A* with LM-cut).
    Optimal,
    /// The cheapest distinct plans, in order.
    TopK {
        /// Their number.
        k: u32,
        /// Only plans that cost at most this many times the lowest cost.
        quality: Option<f64>,
        /// Whether ground actions that change nothing may be steps: `strips` or `ground-no-ops-dropped`.
        semantics: Option<String>,
    },
}

/// The result of the search. Its JSON form is [`PlanResult::report`].
#[derive(Debug, Clone)]
pub struct PlanResult {
    /// The planner's result; `None` if the texts cannot be used.
    pub outcome: Option<PlanOutcome>,
    /// The best plan in sentences, if that was requested.
    pub told: Option<ToldPlan>,
    /// Preferences of the task with their violations by the best plan.
    pub preferences: Vec<PreferenceResult>,
    /// Errors and warnings about the texts.
    pub findings: Findings,
    /// The direction of the problem's metric; `None` if it has none. Not part of the JSON form.
    pub metric: Option<MetricDirection>,
    /// Negative for texts with errors and for a proof that there is no plan, else the limit that ended the search.
    pub status: Status,
}

impl PlanResult {
    /// The plans, best first.
    pub fn plans(&self) -> &[PlanDocument] {
        self.outcome.as_ref().map_or(&[], plans_of)
    }

    /// The result as a document.
    pub fn report(&self) -> PlanReport {
        let found = self.findings.reported();
        let report = match &self.outcome {
            Some(outcome) => PlanReport::new(outcome.clone(), found),
            None => PlanReport::new(PlanOutcome::Unreadable { diagnostics: found }, Vec::new()),
        };
        PlanReport { preferences: PreferenceVerdict::all(&self.preferences), ..report }
    }
}

impl Serialize for PlanResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.report().serialize(serializer)
    }
}

/// The plugin that plans.
const PLANNER: &str = "planner-classical";

/// Searches a plan.
///
/// # Errors
/// The planner cannot be created, or broke.
pub fn plan(context: &Context, request: &PlanRequest) -> Result<PlanResult, Error> {
    let limits = request.limits.start(context);
    let mut inputs = Inputs::read(context, &request.domain, Some(&request.problem));
    let status = inputs.status();
    if status != Status::Good {
        return Ok(PlanResult {
            outcome: None,
            told: None,
            preferences: Vec::new(),
            findings: inputs.into_findings_of_result(),
            metric: None,
            status,
        });
    }
    let outcome = match call_planner(context, request, &inputs, &limits) {
        Ok(outcome) => outcome,
        Err(failure) => {
            let Findings { diagnostics, sources } = inputs.into_findings_of_result();
            let findings = (!diagnostics.is_empty()).then(|| Error::findings(status, diagnostics, sources));
            let failed = Error::from(failure);
            let status = failed.status;
            let error = Error::join(findings.into_iter().chain([failed]));
            return Err(error.unwrap_or_else(|| Error::of_status(status)).with_status(status));
        }
    };
    let findings = inputs.texts.diagnostics.clone();
    let best = plans_of(&outcome).first().map(PlanDocument::to_ipc);
    let is_executed = request.in_words.is_some() || has_preferences(&inputs);
    let validated = best.filter(|_| is_executed).and_then(|plan| {
        let (source, _) = inputs.texts.add(NamedText::new("plan", plan.as_str()));
        let options = ValidationOptions { time: true, ..ValidationOptions::default() };
        // The search may have used all the time, and its plan is reported all the same.
        let mut own = WorkLimits::cancelled_by(Arc::default(), 10.0, request.limits.memory_bytes);
        inputs.texts.validate_plan(source, &plan, &options, &mut own)
    });
    let told = validated.as_ref().zip(request.in_words.as_ref()).map(|(validated, sentences)| {
        tell_plan(validated, &sentences.read(context, &request.domain, &mut inputs))
    });
    let preferences = validated.map(|validated| validated.preferences).unwrap_or_default();
    // Findings about the texts, not those of telling the plan.
    inputs.texts.diagnostics = findings;
    let status = status_of(&outcome);
    let metric = inputs.texts.problem.as_ref().and_then(|p| p.metric.as_ref()).map(|m| m.direction);
    let findings = inputs.into_findings_of_result();
    Ok(PlanResult { outcome: Some(outcome), told, preferences, findings, metric, status })
}

/// Returns true if the task has preferences, so that a plan is executed to report them.
fn has_preferences(inputs: &Inputs) -> bool {
    let (Some(domain), Some(problem)) = (&inputs.texts.domain, &inputs.texts.problem) else { return false };
    normalize(domain, problem).is_ok_and(|task| !task.extension.preferences.is_empty())
}

/// The plans, best first.
fn plans_of(outcome: &PlanOutcome) -> &[PlanDocument] {
    match outcome {
        PlanOutcome::Plan { plans, .. } | PlanOutcome::LimitReached { plans, .. } => plans,
        _ => &[],
    }
}

fn status_of(outcome: &PlanOutcome) -> Status {
    match outcome {
        PlanOutcome::Plan { .. } => Status::Good,
        PlanOutcome::ProvenUnsolvable { .. } | PlanOutcome::Unreadable { .. } => Status::Negative,
        PlanOutcome::Exhausted { .. } => Status::Exhausted,
        PlanOutcome::LimitReached { limit, .. } => of_limit(*limit),
        PlanOutcome::Unsupported { .. } => Status::Undecided,
    }
}

/// Calls the planner with the texts that were checked.
fn call_planner(
    context: &Context,
    request: &PlanRequest,
    inputs: &Inputs,
    limits: &WorkLimits,
) -> Result<PlanOutcome, Failure> {
    let k = match request.search {
        PlanSearch::TopK { k, .. } => k,
        PlanSearch::Best | PlanSearch::First | PlanSearch::Optimal => 1,
    };
    let asked = planforge_contract::PlanRequest {
        domain: inputs.text(0).to_owned(),
        problem: inputs.text(1).to_owned(),
        limits: PlanLimits {
            time_ms: request.limits.seconds.map(|s| (s * 1000.0).ceil() as u64),
            memory_bytes: Some(request.limits.memory_bytes),
            nodes: request.nodes,
        },
        k,
        ..planforge_contract::PlanRequest::default()
    };
    let create = CreateRequest { options: options(request), ..CreateRequest::default() };
    let Instance::Planner(planner) = registry(context).create(PLANNER, create)? else {
        let message = format!("`{PLANNER}` on the search path is not a planner");
        return Err(Failure::new(FailureClass::Plugin, "plugin.kind", message));
    };
    let host = PlanHost {
        context: context.clone(),
        progress: context.start_work("nodes", None),
        limits: limits.clone(),
    };
    planner.plan(&host, &asked).or_else(limit_outcome)
}

/// The options of the planner.
fn options(request: &PlanRequest) -> JsonObject {
    let search = &request.search;
    let name = match search {
        PlanSearch::Best => "anytime",
        PlanSearch::First => "greedy",
        PlanSearch::Optimal => "astar",
        PlanSearch::TopK { .. } => "top-k",
    };
    let mut options = JsonObject::from_iter([("search".to_owned(), name.into())]);
    if request.report_plans {
        options.insert("report_plans".to_owned(), true.into());
    }
    options.extend(request.threads.map(|threads| ("threads".to_owned(), threads.into())));
    if let PlanSearch::TopK { quality, semantics, .. } = search {
        options.extend(quality.map(|quality| ("quality".to_owned(), quality.into())));
        options.extend(semantics.as_deref().map(|semantics| ("semantics".to_owned(), semantics.into())));
    }
    options
}

/// The planner's host: notices, progress, cancellation, time.
struct PlanHost {
    context: Context,
    progress: WorkProgress,
    limits: WorkLimits,
}

/// Time that the planner gets to answer after its own limit, also on a busy machine.
const HOST_MARGIN: Duration = Duration::from_secs(10);

impl Host for PlanHost {
    fn log(&self, level: LogLevel, message: &str) {
        if level == LogLevel::Debug
            && let Ok(plan) = serde_json::from_str(message)
        {
            return self.context.send(&Event::Plan(&plan));
        }
        self.context.send(&Event::Notice(&Notice::Planner(message.to_owned())));
    }
    fn progress(&self, done: u64, total: u64, what: &str) {
        self.progress.set_with_message(done, (total > 0).then_some(total), what);
    }
    fn cancelled(&self) -> bool {
        self.limits.is_interrupted()
    }
    fn remaining_ms(&self) -> Option<u64> {
        self.limits.remaining().map(|left| (left + HOST_MARGIN).as_millis() as u64)
    }
}
