//! `compare`: two domains by their behaviour, and two problems up to the names of their objects.

use crate::answers::{Findings, MOST_TOLD};
use crate::call::{Call, CallTexts, TextArgument};
use crate::limits::{CallLimits, LimitArguments};
use crate::tool::ToolKind;
use planforge_contract::{DomainDifference, Failure, ReportedDiagnostic};
use planforge_pddl::ast::{Domain, Problem};
use planforge_planning::equivalence::domains::{EquivalenceLimits, compare_domains};
use planforge_planning::equivalence::{ProblemEquivalence, equivalent_problems};
use planforge_plugin_common::judging::reports::{DomainCostDifference, EquivalentDifference, EwReport};
use planforge_plugin_common::judging::{TaskTexts, domains, problems};
use planforge_plugin_common::telling::tell_differences;
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
        let mut limits = call.limits(arguments.limits)?;
        let reader = call.texts(&limits);
        let CompareArguments { reference, candidate, .. } = &arguments;
        if candidate.domain.is_none() && candidate.problem.is_none() {
            return Err(crate::codes::wrong_arguments("the candidate has neither a domain nor a problem"));
        }
        let mut first = model(&reader, "reference", &reference.domain, &reference.problem)?;
        let domain = candidate.domain.as_ref().unwrap_or(&reference.domain);
        let problem = candidate.problem.as_ref().unwrap_or(&reference.problem);
        let second = model(&reader, "candidate", domain, problem)?;
        let usable = !first.has_errors() && !second.has_errors();
        let wording = reader.wording(&reference.domain, &mut first);
        let mut reported: Vec<ReportedDiagnostic> = Vec::new();
        for texts in [&first, &second] {
            let found = texts.diagnostics.iter().map(|d| ReportedDiagnostic::of(d, &texts.sources));
            reported.extend(found);
        }
        let mut answer = CompareAnswer {
            decision: "undecided",
            findings: Findings::of_reported(reported),
            ..Default::default()
        };
        let (Some(a), Some(b), true) = (pair(&first), pair(&second), usable) else {
            answer.not_compared.push("a text has errors, so nothing was compared".to_owned());
            return Ok(answer);
        };
        answer.in_words = tell_differences(a.0, b.0, ("the reference", "the candidate"), &wording);
        answer.in_words.truncate(MOST_TOLD);
        compare(call, [a, b], candidate.problem.is_some(), arguments.seed, &mut limits, &mut answer);
        if let (None, Some(problems)) = (&candidate.domain, &answer.problems) {
            answer.decision = problems.decision;
        }
        call.check_cancelled()?;
        Ok(answer)
    }
}

fn model(
    reader: &CallTexts<'_>,
    side: &str,
    domain: &TextArgument,
    problem: &TextArgument,
) -> Result<TaskTexts, Failure> {
    let domain = reader.read(&format!("{side} domain"), domain)?;
    let problem = reader.read(&format!("{side} problem"), problem)?;
    let mut texts = TaskTexts::read(domain, Some(problem));
    texts.check_task();
    Ok(texts)
}

fn pair(texts: &TaskTexts) -> Option<(&Domain, &Problem)> {
    texts.domain.as_ref().zip(texts.problem.as_ref())
}

/// Adds every comparison that the limits allow.
fn compare(
    call: &Call,
    [a, b]: [(&Domain, &Problem); 2],
    own_problem: bool,
    seed: u64,
    limits: &mut CallLimits,
    answer: &mut CompareAnswer,
) {
    let search = EquivalenceLimits { max_pairs: limits.nodes, ..EquivalenceLimits::default() };
    // A search that ends at its limit leaves time for the walks.
    let outcome = compare_domains([a.0, b.0], [a.1, b.1], &search, &mut limits.half());
    let shown = domains::to_compared_problem("", &outcome);
    answer.decision = match shown.decision.as_str() {
        "equal" => "equal",
        "different" => "different",
        _ => "undecided",
    };
    answer.behaviour = Some(BehaviourAnswer {
        decision: shown.decision,
        difference: shown.difference,
        cost_difference: shown.cost_difference,
        equal_up_to: shown.equal_up_to,
        reason: shown.reason,
    });
    if own_problem {
        let found = problem_answer(equivalent_problems(a.0, a.1, b.1, limits.nodes, limits), answer);
        answer.problems = Some(found);
    }
    match call.backend.compare_walks(a, b, seed, limits) {
        Ok(EwReport { score, reference_to_candidate, candidate_to_reference, mode, .. }) => {
            answer.walks = Some(WalkAnswer { score, reference_to_candidate, candidate_to_reference, mode });
        }
        Err(failure) => answer.not_compared.push(format!("walk score: {}", failure.message)),
    }
}

fn problem_answer(found: ProblemEquivalence, answer: &mut CompareAnswer) -> ProblemsAnswer {
    match found {
        ProblemEquivalence::Equal { renaming } => {
            ProblemsAnswer { decision: "equal", renaming, difference: None }
        }
        ProblemEquivalence::Different(found) => {
            let (difference, renaming) = problems::difference(found);
            ProblemsAnswer { decision: "different", renaming, difference: Some(difference) }
        }
        ProblemEquivalence::Undecided { choices, stopped } => {
            let reason = stopped.map_or_else(|| "the limit on pairs".to_owned(), |reason| reason.to_string());
            answer
                .not_compared
                .push(format!("problems: {reason} was reached after {choices} pairs of objects"));
            ProblemsAnswer { decision: "undecided", ..Default::default() }
        }
    }
}
