//! A candidate's domain, problem or both, compared with a reference in every way that the limits allow.

use crate::context::Context;
use crate::error::Error;
use crate::inputs::{Inputs, Source};
use crate::limits::{RequestLimits, WorkLimits};
use crate::pddl::Sentences;
use crate::walk_comparison::{NoComparison, compare_walks};
use planforge_contract::ReportedDiagnostic;
use planforge_pddl::ast::{Domain, Problem};
use planforge_planning::equivalence::domains::{EquivalenceLimits, compare_domains};
use planforge_planning::equivalence::{ProblemEquivalence, equivalent_problems};
use planforge_planning::walk::Model;
pub use planforge_plugin_common::judging::reports::{
    ComparedProblem, DomainCostDifference, EquivalentDifference, EwReport,
};
use planforge_plugin_common::judging::{domains, problems};
use planforge_plugin_common::telling::tell_differences;
use planforge_verifier_ew::WalkVerifierOptions;
use serde::Serialize;

/// Two models of one task.
#[derive(Debug, Clone)]
pub struct ModelsRequest {
    /// The reference's domain.
    pub domain: Source,
    /// The reference's problem.
    pub problem: Source,
    /// The candidate's domain; without it the reference's.
    pub candidate_domain: Option<Source>,
    /// The candidate's problem; without it the reference's.
    pub candidate_problem: Option<Source>,
    /// The sentences for facts in differences of the domains.
    pub sentences: Sentences,
    /// Seed of sampled walks.
    pub seed: u64,
    /// Most pairs of states, and most pairs of objects.
    pub nodes: u64,
    /// Limits on all comparisons together; the first gets at most half of the time.
    pub limits: RequestLimits,
}

/// The comparison of two models.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ModelsResult {
    /// equal, different, or undecided. Of the behaviour if the candidate has a domain, else of the problems.
    pub decision: &'static str,
    /// Exploration walk score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub walks: Option<EwReport>,
    /// Behaviour of the two models: what each can execute, and where the goal holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub behaviour: Option<ComparedProblem>,
    /// Equivalence of the problems up to the names of their objects, if the candidate has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problems: Option<ComparedNames>,
    /// Differences between the definitions of the two domains, a sentence each.
    pub in_words: Vec<String>,
    /// Reasons why a part is missing.
    pub not_compared: Vec<String>,
    /// Findings about the texts.
    pub diagnostics: Vec<ReportedDiagnostic>,
}

/// Two problems up to the names of their objects.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ComparedNames {
    /// equal, different or undecided.
    pub decision: &'static str,
    /// Pairs of the reference's and the candidate's name.
    pub renaming: Vec<(String, String)>,
    /// Objects and facts that only one problem has: `missing` in the candidate, `extra` in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<EquivalentDifference>,
}

/// Compares two models.
///
/// # Errors
/// The candidate has neither a domain nor a problem. Texts that cannot be used leave the decision open.
pub fn models(context: &Context, request: &ModelsRequest) -> Result<ModelsResult, Error> {
    if request.candidate_domain.is_none() && request.candidate_problem.is_none() {
        return Err(Error::usage("the candidate has neither a domain nor a problem", None));
    }
    let mut limits = request.limits.start(context);
    let read = |domain: &Source, problem: &Source| {
        let mut inputs = Inputs::read(context, domain, Some(problem));
        inputs.texts.check_task();
        inputs
    };
    let mut first = read(&request.domain, &request.problem);
    let second = read(
        request.candidate_domain.as_ref().unwrap_or(&request.domain),
        request.candidate_problem.as_ref().unwrap_or(&request.problem),
    );
    let usable = !first.has_errors() && !second.has_errors();
    let wording = request.sentences.read(context, &request.domain, &mut first);
    let reported = |inputs: &Inputs| -> Vec<ReportedDiagnostic> {
        let texts = &inputs.texts;
        texts.diagnostics.iter().map(|d| ReportedDiagnostic::of(d, &texts.sources)).collect()
    };
    let diagnostics = [reported(&first), reported(&second)].concat();
    let mut result = ModelsResult { decision: "undecided", diagnostics, ..Default::default() };
    let (Some(a), Some(b), true) = (model_of(&first), model_of(&second), usable) else {
        result.not_compared.push("a text has errors, so nothing was compared".to_owned());
        return Ok(result);
    };
    result.in_words = tell_differences(a.0, b.0, ("the reference", "the candidate"), &wording);
    compare(request, [a, b], &mut limits, &mut result);
    if let (None, Some(problems)) = (&request.candidate_domain, &result.problems) {
        result.decision = problems.decision;
    }
    Ok(result)
}

type TaskModel<'t> = (&'t Domain, &'t Problem);

fn model_of(inputs: &Inputs) -> Option<TaskModel<'_>> {
    inputs.texts.domain.as_ref().zip(inputs.texts.problem.as_ref())
}

/// Adds every comparison that the limits allow.
fn compare(
    request: &ModelsRequest,
    [a, b]: [TaskModel<'_>; 2],
    limits: &mut WorkLimits,
    result: &mut ModelsResult,
) {
    let search = EquivalenceLimits { max_pairs: request.nodes, ..EquivalenceLimits::default() };
    // A search that ends at its limit leaves time for the walks.
    let outcome = compare_domains([a.0, b.0], [a.1, b.1], &search, &mut limits.half());
    let shown = domains::to_compared_problem("", &outcome);
    result.decision = match shown.decision.as_str() {
        "equal" => "equal",
        "different" => "different",
        _ => "undecided",
    };
    result.behaviour = Some(shown);
    if request.candidate_problem.is_some() {
        let found = equivalent_problems(a.0, a.1, b.1, request.nodes, limits);
        result.problems = Some(names(found, &mut result.not_compared));
    }
    match walk_score(a, b, request.seed, limits) {
        Ok(report) => result.walks = Some(report),
        Err(why) => result.not_compared.push(format!("walk score: {why}")),
    }
}

fn names(found: ProblemEquivalence, not_compared: &mut Vec<String>) -> ComparedNames {
    match found {
        ProblemEquivalence::Equal { renaming } => {
            ComparedNames { decision: "equal", renaming, difference: None }
        }
        ProblemEquivalence::Different(found) => {
            let (difference, renaming) = problems::difference(found);
            ComparedNames { decision: "different", renaming, difference: Some(difference) }
        }
        ProblemEquivalence::Undecided { choices, stopped } => {
            let reason = stopped.map_or_else(|| "the limit on pairs".to_owned(), |reason| reason.to_string());
            not_compared.push(format!("problems: {reason} was reached after {choices} pairs of objects"));
            ComparedNames { decision: "undecided", ..Default::default() }
        }
    }
}

/// The score with the default options, or the reason why there is none.
fn walk_score(
    reference: TaskModel<'_>,
    candidate: TaskModel<'_>,
    seed: u64,
    limits: &mut WorkLimits,
) -> Result<EwReport, String> {
    let settings = WalkVerifierOptions::default().settings().map_err(|failure| failure.message)?;
    let mut model = |side: &str, (domain, problem): TaskModel<'_>| {
        Model::new(domain, problem, &settings.model_options(), limits)
            .map_err(|error| format!("{side}: {error}"))
    };
    let (reference, candidate) = (model("the reference", reference)?, model("the candidate", candidate)?);
    let compared = compare_walks(&[(&reference, &candidate)], &settings, seed, limits);
    let compared = compared.map_err(|error| match error {
        NoComparison::Score(error) => format!("the walks: {error}"),
        NoComparison::Search(reason) => format!("the search for a failing walk: {reason}"),
    })?;
    Ok(compared.report(&settings, seed))
}
