//! `planner-classical`: grounds the task and searches its states in process.
//!
//! | `search` | finds | proves cheapest |
//! |---|---|---|
//! | `greedy` | a plan, quickly | no |
//! | `anytime` | a plan as `greedy`, then better ones until a limit | if it ends before the limit |
//! | `astar` | a cheapest plan, with LM-cut; blind where LM-cut does not apply, which the statistics report | yes |
//! | `bfs` | a plan with the fewest steps | if steps are the cost |
//! | `top-k`, or `k` above 1 | the `k` cheapest distinct plans in order, fewer only if there are no others | yes |
//!
//! Numeric conditions are searched with a relaxation of the numbers, `astar` and `bfs` then without a heuristic; `top-k` refuses them.
//!
//! `anytime` reports each better plan as a message of the call, and gives the best one at its limit with the bound that is proven. With
//! `report_plans` each plan, the first one included, is also a debug message: the document of the plan as JSON.
//!
//! A task with durative actions or timed initial literals gets a plan with times by `greedy` and `anytime`; the others refuse it.
//!
//! A task with errors is `unreadable`, a construct that the searches do not handle is `unsupported`, and a
//! limit (of the stage, of the options, of the host's deadline, or an interrupt) is `limit-reached`. None of
//! these is a statement about solvability. A task proven to have no plan comes with an explanation by delete
//! relaxation.

/// The codes of this plugin's diagnostics.
mod codes {
    use planforge_diagnostics::{CodeInfo, code_table};

    pub(crate) const UNSUPPORTED: &str = "planner.unsupported";

    /// Explanations of the codes.
    pub static CODES: &[CodeInfo] = code_table!("classical/codes.md");
}

#[cfg(test)]
mod tests;

pub use codes::CODES;

use planforge_contract::api::{Host, LogLevel};
use planforge_contract::{
    LimitKind, PlanDocument, PlanLimits, PlanOutcome, PlanRequest, ReportedDiagnostic, SearchStatistics,
    StepTimes,
};
use planforge_diagnostics::{Diagnostic, SourceMap};
use planforge_pddl::ast::{Domain, Problem};
use planforge_pddl::{Number, read_task};
use planforge_planning::task::Unsupported;
use planforge_planning::{
    Algorithm, Explanation, Plan, PlanOptions, PlanResult, Poll, QualityBound, ResourceLimits, SearchPart,
    StopReason, TopKEnd, TopKOptions, TopKOutcome, normalize,
};
use planforge_plugin_common::judging::{Deadline, Semantics};
use planforge_plugin_sdk::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

/// Supported requirements besides `:strips`.
pub const SUPPORTS: [&str; 15] = [
    ":typing",
    ":negative-preconditions",
    ":disjunctive-preconditions",
    ":equality",
    ":existential-preconditions",
    ":universal-preconditions",
    ":conditional-effects",
    ":action-costs",
    ":derived-predicates",
    ":numeric-fluents",
    ":durative-actions",
    ":duration-inequalities",
    ":timed-initial-literals",
    ":preferences",
    ":constraints",
];

#[derive(Debug)]
pub struct ClassicalPlanner {
    options: ClassicalPlannerOptions,
}

impl Plugin for ClassicalPlanner {
    type Options = ClassicalPlannerOptions;

    fn about() -> About {
        About::new(
            "Grounding and state-space search: greedy, anytime, A* with LM-cut, breadth-first, the k cheapest plans",
        )
    }

    fn create(options: ClassicalPlannerOptions, _secrets: &Secrets) -> Result<Self, Failure> {
        Ok(Self { options })
    }
}

impl Planner for ClassicalPlanner {
    fn plan(&self, host: &dyn Host, request: &PlanRequest) -> Result<PlanOutcome, Failure> {
        Ok(run(host, &self.options, request))
    }
}

planforge_plugin_sdk::bundle_plugin!("planforge_planner_classical", Planner, ClassicalPlanner);

/// Reads the task and searches for a plan.
fn run(host: &dyn Host, options: &ClassicalPlannerOptions, request: &PlanRequest) -> PlanOutcome {
    let mut sources = SourceMap::default();
    sources.add("domain", request.domain.as_str());
    sources.add("problem", request.problem.as_str());
    let (domain, problem) = match read_task(&request.domain, &request.problem) {
        Ok(task) => task,
        Err(errors) => return PlanOutcome::Unreadable { diagnostics: report(&errors, &sources) },
    };
    let limits = limits(options, request.limits);
    let Some(algorithm) = algorithm(options.search).filter(|_| request.k <= 1) else {
        let mut budget = CallBudget::new(host, &limits);
        let found = run_top_k(&domain, &problem, options, (request.k, limits.nodes), &mut budget, &sources);
        return name_largest(found, &domain, &problem);
    };
    let plan_options = PlanOptions {
        algorithm,
        max_nodes: limits.nodes.unwrap_or(PlanOptions::default().max_nodes),
        ..PlanOptions::default()
    };
    let start = Instant::now();
    let improve_until = Cell::new(None);
    let threads = options.threads.unwrap_or(THREADS);
    let mut budget =
        CallBudget { improve_until: Some(&improve_until), threads, ..CallBudget::new(host, &limits) };
    let mut first = true;
    let mut on_plan = |plan: &Plan, method: &'static str| {
        if options.report_plans
            && let Ok(document) = serde_json::to_string(&document(plan))
        {
            host.log(LogLevel::Debug, &document);
        }
        if std::mem::take(&mut first) {
            let most = options.improvement(&limits);
            improve_until.set(most.and_then(|most| Instant::now().checked_add(most)));
        } else {
            let seconds = start.elapsed().as_secs_f64();
            host.log(LogLevel::Info, &format!("{} after {seconds:.1} s, by {method}", size(plan)));
        }
    };
    let result =
        planforge_planning::plan_with_progress(&domain, &problem, &plan_options, &mut budget, &mut on_plan);
    match result {
        Ok(result) => {
            if let Some(note) = &result.note {
                host.log(LogLevel::Info, note);
            }
            // Breadth-first search finds the fewest steps, which is the least cost only if steps are the cost.
            let steps_count = options.search != Search::Bfs || problem.metric.is_none();
            name_largest(outcome(result, steps_count, &sources), &domain, &problem)
        }
        Err(errors) => PlanOutcome::Unreadable { diagnostics: report(&errors, &sources) },
    }
}

/// The cost of a plan, and its length where it differs.
fn size(plan: &Plan) -> String {
    let steps = plan.steps.len();
    let steps = format!("{steps} step{}", if steps == 1 { "" } else { "s" });
    if let Some(makespan) = plan.makespan() {
        let cost = plan.cost.filter(|&cost| cost != makespan.to_f64());
        let cost = cost.map(|cost| format!("cost {cost}, ")).unwrap_or_default();
        return format!("{cost}makespan {makespan} ({steps})");
    }
    match plan.cost.filter(|&cost| cost != plan.steps.len() as f64) {
        Some(cost) => format!("cost {cost} ({steps})"),
        None => steps,
    }
}

/// Adds the construct with the most combinations of objects to the message of a limit on grounding.
fn name_largest(outcome: PlanOutcome, domain: &Domain, problem: &Problem) -> PlanOutcome {
    match outcome {
        PlanOutcome::LimitReached { limit: limit @ LimitKind::Grounding, message, plans, statistics } => {
            let largest = normalize(domain, problem).map(|task| format!("; {}", task.largest_construct()));
            let message = message + &largest.unwrap_or_default();
            PlanOutcome::LimitReached { limit, message, plans, statistics }
        }
        outcome => outcome,
    }
}

/// The lower limits of the request and the options.
fn limits(options: &ClassicalPlannerOptions, request: PlanLimits) -> PlanLimits {
    fn lower(a: Option<u64>, b: Option<u64>) -> Option<u64> {
        a.into_iter().chain(b).min()
    }
    PlanLimits {
        time_ms: lower(request.time_ms, options.time_limit_s.map(|s| u64::from(s) * 1000)),
        memory_bytes: lower(request.memory_bytes, options.memory_limit_mb.map(|m| u64::from(m) << 20)),
        nodes: lower(request.nodes, options.node_limit),
    }
}

/// The search for one plan; `None` for the search for several.
const fn algorithm(search: Search) -> Option<Algorithm> {
    match search {
        Search::Greedy => Some(Algorithm::Greedy),
        Search::Anytime => Some(Algorithm::Anytime),
        Search::Astar => Some(Algorithm::AStar),
        Search::Bfs => Some(Algorithm::BreadthFirst),
        Search::TopK => None,
    }
}

fn outcome(result: PlanResult, steps_count: bool, sources: &SourceMap) -> PlanOutcome {
    let statistics = statistics(&result);
    match result.outcome {
        planforge_planning::SearchOutcome::Plan(plan) => PlanOutcome::Plan {
            optimal: plan.optimal && steps_count,
            plans: vec![document(&plan)],
            statistics,
        },
        planforge_planning::SearchOutcome::ProvenUnsolvable(why) => {
            let explanation = explain(&why, sources);
            PlanOutcome::ProvenUnsolvable { explanation, statistics }
        }
        planforge_planning::SearchOutcome::Exhausted => {
            let what = format!("{} ended without a plan or a proof", result.method);
            PlanOutcome::Exhausted { explanation: vec![what], statistics }
        }
        planforge_planning::SearchOutcome::LimitReached(reason) => PlanOutcome::LimitReached {
            limit: limit_kind(reason),
            message: format!("{reason} was reached before a plan was found"),
            plans: Vec::new(),
            statistics,
        },
        planforge_planning::SearchOutcome::Unsupported(constructs) => {
            let diagnostics: Vec<Diagnostic> = constructs.iter().map(unsupported_diagnostic).collect();
            PlanOutcome::Unsupported { diagnostics: report(&diagnostics, sources) }
        }
    }
}

fn document(plan: &Plan) -> PlanDocument {
    let times = plan
        .times
        .iter()
        .map(|times| StepTimes { start: times.start.to_f64(), duration: times.duration.map(Number::to_f64) });
    PlanDocument {
        steps: plan.step_texts(),
        times: times.collect(),
        cost: plan.cost,
        bound: plan.bound,
        ..PlanDocument::default()
    }
}

fn statistics(result: &PlanResult) -> SearchStatistics {
    let counts = result.statistics;
    SearchStatistics {
        expanded: Some(counts.expanded),
        evaluated: Some(counts.evaluated),
        generated: Some(counts.generated),
        ground_actions: Some(result.ground_size.0 as u64),
        search: match &result.note {
            Some(note) => format!("{} ({note})", result.method),
            None => result.method.to_owned(),
        },
    }
}

/// Searches for the `k` cheapest plans and keeps at most `nodes` states and partial plans. A limit before the
/// last plan returns the limit with the plans found. An answer with fewer plans than `k` means that there are
/// no others.
fn run_top_k(
    domain: &Domain,
    problem: &Problem,
    options: &ClassicalPlannerOptions,
    (k, nodes): (u32, Option<u64>),
    budget: &mut CallBudget<'_>,
    sources: &SourceMap,
) -> PlanOutcome {
    let wanted = NonZeroUsize::new(k as usize).unwrap_or(NonZeroUsize::MIN);
    let defaults = TopKOptions::new(wanted);
    let top_k_options = TopKOptions {
        quality: options.quality.map(QualityBound::Times),
        semantics: options.semantics.into(),
        max_nodes: nodes.unwrap_or(defaults.max_nodes),
        ..defaults
    };
    let result = match planforge_planning::top_k(domain, problem, &top_k_options, budget) {
        Ok(result) => result,
        Err(errors) => return PlanOutcome::Unreadable { diagnostics: report(&errors, sources) },
    };
    let statistics = SearchStatistics {
        expanded: Some(result.statistics.expanded),
        evaluated: Some(result.statistics.evaluated),
        generated: Some(result.statistics.generated),
        ground_actions: Some(result.ground_size.0 as u64),
        search: result.method.to_owned(),
    };
    let limit = |reason: StopReason, plans: Vec<PlanDocument>, statistics| {
        let rest = if plans.is_empty() { "" } else { "; they are the cheapest, and there may be others" };
        let found = format!("{} of {wanted} plans had been found", plans.len());
        let message = format!("{reason} was reached when {found}{rest}");
        PlanOutcome::LimitReached { limit: limit_kind(reason), message, plans, statistics }
    };
    let documents = |plans: &[Plan]| -> Vec<PlanDocument> { plans.iter().map(document).collect() };
    match result.outcome {
        TopKOutcome::Plans { plans, end: TopKEnd::LimitReached(reason) } => {
            limit(reason, documents(&plans), statistics)
        }
        TopKOutcome::Plans { plans, end: TopKEnd::Enough | TopKEnd::NoMore } => {
            PlanOutcome::Plan { plans: documents(&plans), optimal: true, statistics }
        }
        TopKOutcome::ProvenUnsolvable(why) => {
            PlanOutcome::ProvenUnsolvable { explanation: explain(&why, sources), statistics }
        }
        TopKOutcome::LimitReached(reason) => limit(reason, Vec::new(), statistics),
        TopKOutcome::Unsupported(constructs) => {
            let diagnostics: Vec<Diagnostic> = constructs.iter().map(unsupported_diagnostic).collect();
            PlanOutcome::Unsupported { diagnostics: report(&diagnostics, sources) }
        }
    }
}

/// The search algorithm.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Search {
    /// Greedy best-first search with h_FF and preferred operators: fast, plans of any cost.
    #[default]
    Greedy,
    /// The greedy search, then better plans: parts of the plan are planned anew, and weighted A* restarts. It ends at a limit, or with a proof
    /// that no plan is cheaper. Which plans it finds in turn is always the same; a limit on time decides how far it gets, a limit on
    /// nodes is the same on every machine.
    Anytime,
    /// A* with LM-cut: a plan proven cheapest. Where LM-cut does not apply the search is blind, which the
    /// statistics report.
    Astar,
    /// Breadth-first search: a plan of fewest steps, for small tasks.
    Bfs,
    /// The cheapest plans in order, by cost, then length, then the names of the steps; as many as the plan
    /// stage's `k`. It is used for every `k` above 1, whatever this option is.
    #[serde(rename = "top-k")]
    TopK,
}

/// Options of `planner-classical`. The lower of these limits and those of the plan stage counts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ClassicalPlannerOptions {
    /// The search algorithm: `greedy`, `anytime`, `astar`, `bfs` or `top-k`.
    pub search: Search,
    /// With `anytime`: most seconds after the first plan. Without it, improvement ends at the limit on time or nodes, and after ten
    /// seconds if there is neither.
    pub improve_s: Option<u32>,
    /// With `anytime`: true to report each plan when it is found, as a debug message with the plan in JSON.
    pub report_plans: bool,
    /// With several plans: how many times the lowest cost a plan may cost, from 1 up. Without it plans may cost anything.
    #[schemars(range(min = 1.0))]
    pub quality: Option<f64>,
    /// With several plans: `strips` or `ground-no-ops-dropped`.
    pub semantics: Semantics,
    /// With `greedy` and `anytime`: most threads, 1 or 2, of searches that work side by side once a task takes long. Without it two. They
    /// work in rounds of counted work and exchange plans between rounds only, so the plans and their order do not depend on the number
    /// of threads.
    #[schemars(range(min = 1, max = 2))]
    pub threads: Option<u32>,
    /// Most seconds of wall time, whatever the number of threads.
    pub time_limit_s: Option<u32>,
    /// Most mebibytes of memory, as the search accounts for its tables.
    pub memory_limit_mb: Option<u32>,
    /// Most search nodes. With `anytime` as many again may be generated after the first plan.
    pub node_limit: Option<u64>,
}

/// Threads where the options have no number.
const THREADS: u32 = 2;

/// Seconds of improvement where nothing limits it.
const IMPROVE_S: u32 = 10;

impl ClassicalPlannerOptions {
    /// The time for improvement after the first plan, if it has a limit of its own.
    fn improvement(&self, limits: &PlanLimits) -> Option<Duration> {
        let unlimited = limits.time_ms.is_none() && limits.nodes.is_none();
        let seconds = self.improve_s.or(unlimited.then_some(IMPROVE_S));
        seconds.map(|seconds| Duration::from_secs(seconds.into()))
    }
}

/// One sentence a reason, each with its place; before them that the whole space was searched, if nothing else shows that there is no plan.
fn explain(why: &Explanation, sources: &SourceMap) -> Vec<String> {
    let place = |reason: &planforge_planning::Reason| {
        let file = sources.get(reason.place.text.source())?;
        let at = file.line_column(reason.place.span.start);
        Some(format!(" ({}:{}:{})", file.name, at.line, at.column))
    };
    let reasons = why.reasons.iter().map(|r| format!("{}{}.", r.message, place(r).unwrap_or_default()));
    why.headline().into_iter().chain(reasons).collect()
}

const fn limit_kind(reason: StopReason) -> LimitKind {
    match reason {
        StopReason::Time => LimitKind::Time,
        StopReason::Memory => LimitKind::Memory,
        StopReason::Nodes => LimitKind::Nodes,
        StopReason::Grounding => LimitKind::Grounding,
        StopReason::Cancelled => LimitKind::Cancelled,
    }
}

fn unsupported_diagnostic(construct: &Unsupported) -> Diagnostic {
    Diagnostic::error(codes::UNSUPPORTED, format!("this planner does not plan with {}", construct.what))
        .at(construct.place.text.source(), construct.place.span, "")
        .help("validation may still work on a plan found by another planner")
}

fn report(diagnostics: &[Diagnostic], sources: &SourceMap) -> Vec<ReportedDiagnostic> {
    diagnostics.iter().map(|d| ReportedDiagnostic::of(d, sources)).collect()
}

/// Ends a search at the request's limits, the host's deadline or an interrupt.
struct CallBudget<'a> {
    deadline: Deadline<'a>,
    charged: u64,
    memory: Option<u64>,
    /// The end of improvement, set with the first plan.
    improve_until: Option<&'a Cell<Option<Instant>>>,
    threads: u32,
}

impl<'a> CallBudget<'a> {
    pub(crate) fn new(host: &'a dyn Host, limits: &PlanLimits) -> Self {
        let deadline = Deadline::within(host, limits.time_ms.map(Duration::from_millis));
        Self { deadline, charged: 0, memory: limits.memory_bytes, improve_until: None, threads: 1 }
    }
}

impl ResourceLimits for CallBudget<'_> {
    fn poll(&mut self) -> Poll {
        let until = self.improve_until.and_then(Cell::get);
        match self.deadline.poll() {
            Poll::Continue if until.is_some_and(|until| Instant::now() >= until) => {
                Poll::Stop(StopReason::Time)
            }
            poll => poll,
        }
    }

    fn charge(&mut self, bytes: u64) -> Poll {
        let charged = self.charged.saturating_add(bytes);
        // A search that the limit ends has not used the bytes: others may go on without them.
        if self.memory.is_some_and(|most| charged > most) {
            return Poll::Stop(StopReason::Memory);
        }
        self.charged = charged;
        self.poll()
    }
    fn release(&mut self, bytes: u64) {
        self.charged = self.charged.saturating_sub(bytes);
    }
    fn bytes_left(&self) -> u64 {
        self.memory.map_or(u64::MAX, |most| most.saturating_sub(self.charged))
    }
    fn run_side_by_side(&mut self, first: SearchPart<'_>, second: SearchPart<'_>) -> bool {
        if self.threads < 2 {
            return false;
        }
        let mut other = self.deadline.for_thread(self.improve_until.and_then(Cell::get));
        std::thread::scope(|scope| {
            // The same stack as the host's threads of calls.
            let thread = std::thread::Builder::new().name("planner".to_owned()).stack_size(16 << 20);
            // A system without another thread gets the same result on one.
            let Ok(thread) = thread.spawn_scoped(scope, move || second(&mut other)) else { return false };
            first(self);
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            true
        })
    }
}
