//! Two models of one task by exploration walks. What `verifier-ew` measures in a pipeline, measured on texts.

use crate::context::Context;
use crate::error::Error;
use crate::inputs::{Findings, Inputs, Source};
use crate::limits::{RequestLimits, WorkLimits};
use crate::status::{Status, of_stop};
use crate::walk_comparison::{NoComparison, WalkComparison, compare_walks};
use planforge_pddl::ast::{Domain, Problem};
use planforge_planning::equivalence::interface::{
    DomainWithProblems, Interface, NoInterface, match_interface,
};
use planforge_planning::task::Unsupported;
use planforge_planning::walk::{Counterexample, Model, ModelError, NamedStep, WalkDirection};
use planforge_planning::{StopReason, ValidationDecision, Validator, normalize, parse_plan};
pub use planforge_plugin_common::judging::Semantics;
use planforge_plugin_common::judging::domains::interface;
pub use planforge_plugin_common::judging::reports::{EwReport, MatchedInterface};
use planforge_verifier_ew::Settings;
pub use planforge_verifier_ew::measure::Action as WalkAction;
use planforge_verifier_ew::measure::NoScore;
use planforge_verifier_ew::report::summary;
pub use planforge_verifier_ew::{DeadEnds, Form, Mode, Policy, WalkVerifierOptions};
use serde::Serialize;

/// Two models of the same problems.
#[derive(Debug, Clone)]
pub struct WalksRequest {
    /// The reference's domain.
    pub reference: Source,
    /// The candidate's domain.
    pub candidate: Source,
    /// Problems, each as the reference and as the candidate have it; at least one. Each direction is averaged over all problems
    /// first (Eq. 2).
    pub problems: Vec<[Source; 2]>,
    /// The walks.
    pub options: WalkVerifierOptions,
    /// True if a renaming of the candidate's actions, parameters and types is searched, and walked in under the reference's names.
    pub match_interface: bool,
    /// Seed of sampled walks.
    pub seed: u64,
    /// Limits on the work.
    pub limits: RequestLimits,
}

/// The comparison, or the reason why there is none. Its JSON form is the report.
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub struct WalksResult {
    /// The result as a document.
    pub report: EwReport,
    /// What was compared.
    #[serde(skip)]
    pub comparison: Result<WalksCompared, WalksNotCompared>,
    /// Negative for a score below 1 and for a candidate with errors, else what left it undecided.
    #[serde(skip)]
    pub status: Status,
}

/// What was compared, for people.
#[derive(Debug, Clone)]
pub struct WalksCompared {
    /// The score and both directions in sentences.
    pub summary: String,
    /// The renaming of the candidate's actions, if one was requested.
    pub renaming: Option<MatchedInterface>,
    /// True if the score was computed and not sampled.
    pub exact: bool,
    /// Steps by action of each direction: reference to candidate, candidate to reference.
    pub actions: [Vec<WalkAction>; 2],
    /// The shortest failing walk.
    pub failing: Option<FailingWalk>,
}

/// The reason why there is no score.
#[derive(Debug, Clone)]
pub struct WalksNotCompared {
    /// The reason as a line.
    pub message: String,
    /// Findings about the texts of one side, if they are the reason.
    pub findings: Findings,
}

/// A walk that one model executes and the other refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailingWalk {
    /// Number of the problem, from 1, if there are several.
    pub problem: Option<usize>,
    /// The side that executes all of it: `reference` or `candidate`.
    pub source: &'static str,
    /// The side that refuses the last step.
    pub refuser: &'static str,
    /// True if it is proven shortest.
    pub shortest: bool,
    /// The steps.
    pub steps: Vec<String>,
    /// The refusal as a clause.
    pub refusal: String,
    /// What the last step needs, and why it does not hold: clauses.
    pub conditions: Vec<[String; 2]>,
    /// The limit that ended the search for these conditions.
    pub stopped: Option<String>,
}

/// Most choices that are tried for a renaming of actions.
const MAX_CHOICES: u64 = 1_000_000;

/// The reason why there is no score, and the status.
struct NotCompared {
    status: Status,
    message: String,
    findings: Findings,
}

/// Compares two models by exploration walks.
///
/// # Errors
/// Options that contradict each other. Texts that cannot be used leave the score undefined.
pub fn walks(context: &Context, request: &WalksRequest) -> Result<WalksResult, Error> {
    let settings = request
        .options
        .clone()
        .settings()
        .map_err(|failure| Error::from(failure).with_status(Status::Usage))?;
    let progress = context.start_work("walks", None);
    progress.set_message("walking");
    let mut limits = request.limits.start(context);
    let compared = compare(context, request, &settings, &mut limits);
    Ok(match compared {
        Ok(compared) => compared.result(request, &settings, &mut limits),
        Err(NotCompared { status, message, findings }) => {
            let report = undecided_report(&message, &findings, &settings);
            WalksResult { report, comparison: Err(WalksNotCompared { message, findings }), status }
        }
    })
}

type Pairs = Vec<(Model, Model)>;

/// A comparison with its models, and the renaming of the candidate's actions, if requested.
struct Compared {
    walks: WalkComparison,
    pairs: Pairs,
    renaming: Option<Interface>,
}

impl Compared {
    fn result(self, request: &WalksRequest, settings: &Settings, limits: &mut WorkLimits) -> WalksResult {
        let Self { walks, pairs, renaming } = self;
        let renaming = renaming.as_ref().map(interface);
        let mut report = walks.report(settings, request.seed);
        if let Some(renaming) = &renaming {
            report.details["interface"] = serde_json::json!(renaming);
        }
        let measured = &walks.measured;
        let status = match measured.score.score {
            _ if measured.score.reference_undefined > 0 => Status::Undecided,
            Some(1.0) if walks.failing.is_none() => Status::Good,
            _ => Status::Negative,
        };
        let failing = walks.failing.as_ref().and_then(|(number, found)| {
            let problem = (pairs.len() > 1).then_some(number + 1);
            Some(failing_walk(found, pairs.get(*number)?, problem, limits))
        });
        let compared = WalksCompared {
            summary: summary(measured, settings, walks.failing.is_some(), walks.proven),
            renaming,
            exact: measured.exact,
            actions: [measured.actions(0), measured.actions(1)],
            failing,
        };
        WalksResult { report, comparison: Ok(compared), status }
    }
}

fn compare(
    context: &Context,
    request: &WalksRequest,
    settings: &Settings,
    limits: &mut WorkLimits,
) -> Result<Compared, NotCompared> {
    let renamed = if request.match_interface { match_interfaces(context, request, limits)? } else { None };
    let other = renamed.as_ref().map(|(domain, _)| domain);
    let mut pairs: Pairs = Vec::with_capacity(request.problems.len());
    for [problem, problem2] in &request.problems {
        let sides = [(&request.reference, problem), (&request.candidate, problem2)];
        let reference = read_model(context, sides[0], settings, limits, None)?;
        let candidate = read_model(context, sides[1], settings, limits, Some(other))?;
        pairs.push((reference, candidate));
    }
    let borrowed: Vec<(&Model, &Model)> = pairs.iter().map(|(r, c)| (r, c)).collect();
    let walks = compare_walks(&borrowed, settings, request.seed, limits).map_err(|error| match error {
        NoComparison::Score(NoScore::Stopped(reason)) => limit_reached(reason, "the walks"),
        NoComparison::Search(reason) => limit_reached(reason, "the search"),
        NoComparison::Score(error @ NoScore::TooLarge(_)) => NotCompared {
            status: Status::NodeLimit,
            message: format!(
                "{error}; raise --exact-pairs or --exact-memory, or leave out --exact to sample"
            ),
            findings: Findings::default(),
        },
    })?;
    Ok(Compared { walks, pairs, renaming: renamed.map(|r| r.1) })
}

/// The candidate's domain under the reference's names. `None` if a text has errors, which are reported when
/// it is read for its model.
fn match_interfaces(
    context: &Context,
    request: &WalksRequest,
    limits: &mut WorkLimits,
) -> Result<Option<(Domain, Interface)>, NotCompared> {
    let read = |domain: &Source, problem: &Source| Inputs::read(context, domain, Some(problem));
    let read: Vec<[Inputs; 2]> = request
        .problems
        .iter()
        .map(|[a, b]| [read(&request.reference, a), read(&request.candidate, b)])
        .collect();
    if read.iter().flatten().any(|r| r.unreadable || r.has_errors()) {
        return Ok(None);
    }
    let of =
        |side: usize| read.iter().filter_map(|r| r[side].texts.problem.as_ref()).collect::<Vec<&Problem>>();
    let domains = read.first().and_then(|[a, b]| Some((a.texts.domain.as_ref()?, b.texts.domain.as_ref()?)));
    let Some((reference, candidate)) = domains else { return Ok(None) };
    let sides = DomainWithProblems { domain: reference, problems: &of(0) };
    let other = DomainWithProblems { domain: candidate, problems: &of(1) };
    match match_interface(sides, other, MAX_CHOICES, limits) {
        Ok(found) => Ok(Some((found.rewrite(reference, candidate), found))),
        Err(not) => Err(NotCompared {
            status: match not {
                NoInterface::Limit { stopped, .. } => stopped.map_or(Status::NodeLimit, of_stop),
                NoInterface::None(_) => Status::Undecided,
            },
            message: format!("not comparable: {not}"),
            findings: Findings::default(),
        }),
    }
}

/// Reads one side and builds its model. For the candidate (`Some`), the renamed domain is used if there is one.
fn read_model(
    context: &Context,
    (domain, problem): (&Source, &Source),
    settings: &Settings,
    limits: &mut WorkLimits,
    candidate: Option<Option<&Domain>>,
) -> Result<Model, NotCompared> {
    let reference = candidate.is_none();
    let mut inputs = Inputs::read(context, domain, Some(problem));
    if let Some(Some(renamed)) = candidate {
        inputs.texts.domain = Some(renamed.clone());
    }
    let unreadable = inputs.unreadable;
    let model = match (&inputs.texts.domain, &inputs.texts.problem, unreadable || inputs.has_errors()) {
        (Some(domain), Some(problem), false) => {
            Some(Model::new(domain, problem, &settings.model_options(), limits))
        }
        _ => None,
    };
    if let Some(Err(ModelError::Invalid(found))) = &model {
        inputs.texts.diagnostics.extend(found.iter().cloned());
    }
    let side = if reference { "reference" } else { "candidate" };
    match model {
        Some(Ok(model)) => Ok(model),
        Some(Err(ModelError::Unsupported(constructs))) => Err(NotCompared {
            status: Status::Undecided,
            message: format!(
                "walks do not execute {}, which the {side} uses",
                Unsupported::names(&constructs).join(", ")
            ),
            findings: inputs.into_findings(),
        }),
        Some(Err(ModelError::Limit(reason))) => {
            let task = inputs.texts.domain.as_ref().zip(inputs.texts.problem.as_ref());
            // After an interrupt, size is not the reason.
            let task = task.filter(|_| reason != StopReason::Cancelled);
            let task = task.and_then(|(domain, problem)| normalize(domain, problem).ok());
            let largest = task.map(|task| format!(": {}", task.largest_construct())).unwrap_or_default();
            Err(limit_reached(reason, &format!("grounding the {side}{largest}")))
        }
        // What is wrong with the candidate is a verdict about it; a reference that is wrong is a wrong input.
        Some(Err(ModelError::Invalid(_))) | None => Err(NotCompared {
            status: if reference || unreadable { Status::Input } else { Status::Negative },
            message: format!("the {side} cannot be used, so no walk was taken"),
            findings: inputs.into_findings(),
        }),
    }
}

fn limit_reached(reason: StopReason, what: &str) -> NotCompared {
    let message = format!("{reason} ended {what}");
    NotCompared { status: of_stop(reason), message, findings: Findings::default() }
}

fn undecided_report(message: &str, findings: &Findings, settings: &Settings) -> EwReport {
    EwReport {
        score: None,
        reference_to_candidate: None,
        candidate_to_reference: None,
        interval: None,
        mode: if settings.mode == Mode::Exact { "exact" } else { "sampled" }.to_owned(),
        details: serde_json::json!({ "undecided": message, "diagnostics": findings.reported() }),
    }
}

/// The steps of the walk, the side that refuses the last one, and the violated conditions.
fn failing_walk(
    found: &Counterexample,
    (reference, candidate): &(Model, Model),
    problem: Option<usize>,
    limits: &mut WorkLimits,
) -> FailingWalk {
    let (source, target, refuser) = match found.direction {
        WalkDirection::ReferenceToCandidate => ("reference", candidate, "candidate"),
        WalkDirection::CandidateToReference => ("candidate", reference, "reference"),
    };
    let steps: Vec<String> =
        found.walk.prefix.iter().chain([&found.walk.action]).map(NamedStep::to_string).collect();
    let validator = Validator::new(target.lifted().clone());
    let plan = parse_plan(&steps.join("\n"), planforge_diagnostics::SourceId(2));
    let report = validator.validate(&plan, limits);
    let conditions = report.failing_step.iter().flat_map(|f| &f.conditions);
    let stopped = match report.decision {
        ValidationDecision::LimitReached(reason) => Some(reason.to_string()),
        _ => None,
    };
    FailingWalk {
        problem,
        source,
        refuser,
        shortest: found.shortest,
        refusal: found.walk.refusal.to_string(),
        conditions: conditions.map(|c| [c.remedy.clone(), c.why.clone()]).collect(),
        stopped,
        steps,
    }
}
