//! `compare`: two domains by their behaviour, and two problems up to the names of their objects.

use crate::answers::{Findings, MOST_TOLD, use_case_failure, wrong_arguments};
use crate::call::{Call, TextArgument};
use crate::limits::{CallLimits, LimitArguments};
use crate::tools::ToolKind;
use planforge_app::contract::{DomainDifference, Failure};
use planforge_app::pddl::compare::models::{
    ComparedNames, ComparedProblem, DomainCostDifference, EquivalentDifference, EwReport, ModelsRequest,
    models,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) struct Compare;

/// Two models of one task.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CompareArguments {
    /// The model that is right.
    reference: ModelArgument,
    /// The model that is compared with it.
    candidate: CandidateArgument,
    /// Seed of sampled walks.
    #[serde(default)]
    seed: u64,
    #[serde(default)]
    limits: LimitArguments,
}

/// A domain and a problem.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ModelArgument {
    /// The domain.
    domain: TextArgument,
    /// The problem.
    problem: TextArgument,
}

/// A domain, a problem, or both; the reference's takes the place of one that is missing.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CandidateArgument {
    /// The domain.
    domain: Option<TextArgument>,
    /// The problem.
    problem: Option<TextArgument>,
}

/// The comparison of two models.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct CompareAnswer {
    /// equal, different, or undecided: a limit was reached, or a text cannot be used. Of the behaviour if the candidate has a domain,
    /// else of the problems.
    decision: &'static str,
    /// Exploration walk score.
    #[serde(skip_serializing_if = "Option::is_none")]
    walks: Option<WalkAnswer>,
    /// Behaviour of the two models: what each can execute, and where the goal holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    behaviour: Option<BehaviourAnswer>,
    /// Equivalence of the problems up to the names of their objects, if the candidate has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    problems: Option<ProblemsAnswer>,
    /// Differences between the definitions of the two domains, a sentence each; at most 200. Facts read as in `sentences.toml`
    /// beside the file of the reference's domain, else by their names.
    in_words: Vec<String>,
    /// Reasons why a part is missing.
    not_compared: Vec<String>,
    #[serde(flatten)]
    findings: Findings,
}

/// Exploration walk score (Definition 1 and Eq. 2 of the exploration-walk paper).
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct WalkAnswer {
    /// Harmonic mean of the two directions, 0 to 1; absent where one is not defined.
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    /// Share of the reference's walks that the candidate can execute.
    #[serde(skip_serializing_if = "Option::is_none")]
    reference_to_candidate: Option<f64>,
    /// Share of the candidate's walks that the reference can execute.
    #[serde(skip_serializing_if = "Option::is_none")]
    candidate_to_reference: Option<f64>,
    /// `exact` or `sampled`.
    mode: String,
}

/// Behaviour of two models. The reference is the first, the candidate the second.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BehaviourAnswer {
    /// equal (over the whole reachable space), different or undecided.
    decision: String,
    /// The shortest sequence of ground actions whose last step only one model executes, or after which the goal holds in only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<DomainDifference>,
    /// The first step that costs something else.
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_difference: Option<DomainCostDifference>,
    /// If undecided: all sequences of at most this many steps behave the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    equal_up_to: Option<u32>,
    /// Reason why it is undecided, as a clause.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// Two problems up to the names of their objects.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct ProblemsAnswer {
    /// equal, different or undecided.
    decision: &'static str,
    /// Pairs of the reference's and the candidate's name.
    renaming: Vec<(String, String)>,
    /// Objects and facts that only one problem has: `missing` in the candidate, `extra` in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<EquivalentDifference>,
}

impl ToolKind for Compare {
    type Arguments = CompareArguments;
    type Answer = CompareAnswer;
    const NAME: &'static str = "compare";
    const TITLE: &'static str = "Compare two models";
    const DESCRIPTION: &'static str = "Compares a candidate's PDDL domain or problem with a reference. Returns the exploration walk score, the \
         shortest sequence of actions that tells the two apart, and whether the problems are the same up to the names of objects. \
         The distinguishing sequence is a counterexample to repair the candidate with.";

    fn call(call: &Call, arguments: CompareArguments) -> Result<CompareAnswer, Failure> {
        let limits = CallLimits::new(arguments.limits)?;
        let CompareArguments { reference, candidate, .. } = &arguments;
        if candidate.domain.is_none() && candidate.problem.is_none() {
            return Err(wrong_arguments("the candidate has neither a domain nor a problem"));
        }
        let texts = call.texts(&limits);
        let request = ModelsRequest {
            domain: texts.read("reference domain", &reference.domain)?,
            problem: texts.read("reference problem", &reference.problem)?,
            candidate_domain: texts.read_if_given("candidate domain", candidate.domain.as_ref())?,
            candidate_problem: texts.read_if_given("candidate problem", candidate.problem.as_ref())?,
            sentences: texts.sentences(&reference.domain),
            seed: arguments.seed,
            nodes: limits.nodes,
            limits: limits.remaining(),
        };
        let mut result = models(&call.context, &request).map_err(|error| use_case_failure(&error))?;
        call.check_cancelled()?;
        result.in_words.truncate(MOST_TOLD);
        Ok(CompareAnswer {
            decision: result.decision,
            walks: result.walks.map(WalkAnswer::from),
            behaviour: result.behaviour.map(BehaviourAnswer::from),
            problems: result.problems.map(ProblemsAnswer::from),
            in_words: result.in_words,
            not_compared: result.not_compared,
            findings: Findings::new(result.diagnostics),
        })
    }
}

impl From<EwReport> for WalkAnswer {
    fn from(report: EwReport) -> Self {
        let EwReport { score, reference_to_candidate, candidate_to_reference, mode, .. } = report;
        Self { score, reference_to_candidate, candidate_to_reference, mode }
    }
}

impl From<ComparedProblem> for BehaviourAnswer {
    fn from(compared: ComparedProblem) -> Self {
        let ComparedProblem { decision, difference, cost_difference, equal_up_to, reason, .. } = compared;
        Self { decision, difference, cost_difference, equal_up_to, reason }
    }
}

impl From<ComparedNames> for ProblemsAnswer {
    fn from(ComparedNames { decision, renaming, difference }: ComparedNames) -> Self {
        Self { decision, renaming, difference }
    }
}
