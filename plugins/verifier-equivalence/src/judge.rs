//! The assessment of one problem. Differences reveal the reference, so they are never feedback.

use crate::codes;
use crate::{EquivalenceVerifierOptions, Level};
use planforge_contract::api::Host;
use planforge_contract::{Assessment, Candidate, Decision, Failure, FailureClass, Given, UndecidedReason};
use planforge_diagnostics::{Diagnostic, SourceId};
use planforge_pddl::ast::{Domain, Problem};
use planforge_pddl::{ChangeKind, diff_domains, parse_domain, parse_problem};
use planforge_planning::StopReason;
use planforge_planning::equivalence::ComparedSide;
use planforge_planning::equivalence::goals::{GoalEquivalence, GoalLimits, GoalOutcome, equivalent_goals};
use planforge_planning::equivalence::{ProblemDifference, ProblemEquivalence, equivalent_problems};
use planforge_plugin_common::judging::reports::AddedGoalFacts;
use planforge_plugin_common::judging::{Reference, problems};
use planforge_plugin_sdk::checked::{Checked, Texts, check};
use serde_json::json;

/// Most differences that become diagnostics; the evidence has all.
const MOST_DIAGNOSTICS: usize = 50;
/// Most reported differences of two domains.
const MOST_DOMAIN_DIFFERENCES: usize = 20;

pub(crate) fn judge(
    host: &dyn Host,
    options: &EquivalenceVerifierOptions,
    reference: &Reference,
    given: &Given,
    candidate: &Candidate,
) -> Result<Assessment, Failure> {
    if host.cancelled() {
        return Err(interruption_failure());
    }
    let texts = Texts::of(candidate, given);
    let Some(problem_text) = texts.problem else {
        let message = "there is nothing to compare: the candidate has no problem";
        return Ok(undecided_assessment(UndecidedReason::MissingInput, message.to_owned()));
    };
    let checked = check(texts, "");
    if let Some(message) = unreadable(texts) {
        return Ok(broken(checked, &message));
    }
    let problem = parse_problem(problem_text, SourceId(1)).value;
    // The pipeline gives the suite's own domain, which the reference problem was written for too; an environment may judge plans by another
    // one (`domain_validation.pddl`).
    let is_given = candidate.domain.is_none() || candidate.domain == given.domain;
    let domain = match &checked.domain {
        Some(own) if is_given => own,
        Some(own) => match other_domain(&reference.domain, own, &checked) {
            Some(assessment) => return Ok(assessment),
            None => &reference.domain,
        },
        // A problem alone is meant over the only domain there is.
        None => &reference.domain,
    };
    let mut assessment = compare(host, options, (domain, &reference.problem), &problem, &checked)?;
    assessment.diagnostics.splice(0..0, checked.diagnostics);
    Ok(assessment)
}

/// The verdict on two problems over one domain.
fn compare(
    host: &dyn Host,
    options: &EquivalenceVerifierOptions,
    (domain, own): (&Domain, &Problem),
    problem: &Problem,
    checked: &Checked,
) -> Result<Assessment, Failure> {
    let mut budget = options.limits.deadline(host, 1);
    if options.level() == Level::Goals {
        let limits = GoalLimits {
            max_choices: options.max_choices,
            max_states: options.max_states,
            ..GoalLimits::default()
        };
        return by_goals(equivalent_goals(domain, own, problem, &limits, &mut budget), checked);
    }
    match equivalent_problems(domain, own, problem, options.max_choices, &mut budget) {
        ProblemEquivalence::Equal { renaming } => Ok(equal(&renaming)),
        ProblemEquivalence::Different(found) => Ok(different(found, checked)),
        ProblemEquivalence::Undecided { stopped: Some(StopReason::Cancelled), .. } => {
            Err(interruption_failure())
        }
        ProblemEquivalence::Undecided { choices, stopped } => {
            let reason = stopped.map_or_else(|| "`max_choices`".to_owned(), |reason| reason.to_string());
            let message = format!("{reason} ended the comparison after {choices} pairs of objects");
            Ok(undecided_assessment(UndecidedReason::Limit, message))
        }
    }
}

/// The verdict by goal states.
fn by_goals(found: GoalEquivalence, checked: &Checked) -> Result<Assessment, Failure> {
    let [first, second] = found.added;
    let completed = !first.is_empty() || !second.is_empty();
    let mut assessment = match found.outcome {
        GoalOutcome::Equal { renaming } => {
            let mut assessment = equal(&renaming);
            if completed {
                assessment
                    .summary
                    .push_str(" Its goal reads otherwise and is satisfied by the same reachable states.");
            }
            assessment
        }
        GoalOutcome::Different { difference, witness } => {
            let mut assessment = different(difference, checked);
            if let Some(witness) = witness {
                let (own, other) = match witness.satisfies {
                    ComparedSide::First => ("reference's", "candidate's"),
                    ComparedSide::Second => ("candidate's", "reference's"),
                };
                let told = format!(" A reachable state satisfies the {own} goal and not the {other}.");
                assessment.summary.push_str(&told);
                assessment.evidence["witness"] = json!(problems::witness(witness));
            }
            assessment
        }
        GoalOutcome::Undecided { stopped: Some(StopReason::Cancelled), .. } => {
            return Err(interruption_failure());
        }
        GoalOutcome::Undecided { why, unsupported, .. } => {
            let reason = if unsupported { UndecidedReason::Unsupported } else { UndecidedReason::Limit };
            undecided_assessment(reason, format!("the goals were not compared: {why}"))
        }
    };
    if completed {
        assessment.evidence["added_goal_facts"] = json!(AddedGoalFacts { first, second });
    }
    Ok(assessment)
}

/// The run is being interrupted: no verdict.
pub(crate) fn interruption_failure() -> Failure {
    Failure::new(FailureClass::Cancelled, codes::CANCELLED, "the run was interrupted")
}

pub(crate) fn undecided_assessment(reason: UndecidedReason, message: String) -> Assessment {
    Assessment::new(Decision::Undecided { reason, message: message.clone() }, message)
}

/// The first syntax error of either text. Findings beyond syntax do not end the comparison: an undeclared object or a wrong
/// arity is a difference, unless the reference has it too.
fn unreadable(texts: Texts<'_>) -> Option<String> {
    let of_domain = texts.domain.map(|text| parse_domain(text, SourceId(0)).diagnostics);
    let of_problem = texts.problem.map(|text| parse_problem(text, SourceId(1)).diagnostics);
    let mut found = of_domain.into_iter().chain(of_problem).flatten();
    found.find(Diagnostic::is_error).map(|d| d.message)
}

/// The assessment of an unreadable candidate: it is not the reference, which is readable.
fn broken(checked: Checked, message: &str) -> Assessment {
    let summary = format!("The PDDL cannot be read, so it is not the reference: {message}.");
    let mut assessment = Assessment::new(Decision::Rejected, summary);
    assessment.metrics.insert("equivalent".into(), 0.0);
    assessment.diagnostics = checked.diagnostics;
    assessment
}

/// The verdict on a problem with another domain; `None` if the domains are equal.
fn other_domain(reference: &Domain, own: &Domain, checked: &Checked) -> Option<Assessment> {
    let found: Vec<String> = diff_domains(reference, own)
        .iter()
        .filter(|d| says_something_else(d))
        .take(MOST_DOMAIN_DIFFERENCES)
        .map(ToString::to_string)
        .collect();
    let first = found.first()?;
    let message = format!("the candidate's problem is written over another domain ({first})");
    let decision = Decision::NotComparable { message: message.clone() };
    let mut assessment = Assessment::new(decision, message.clone());
    assessment.diagnostics = checked.diagnostics.clone();
    assessment.diagnostics.extend(checked.report(&[Diagnostic::error(codes::OTHER_DOMAIN, message)]));
    assessment.evidence = json!({ "domain": found });
    Some(assessment)
}

/// True if a difference of two domains affects problems: names of the domain and of parameters do not, nor do
/// requirements.
fn says_something_else(difference: &planforge_pddl::DefinitionDifference) -> bool {
    let type_of = |text: &Option<String>| {
        text.as_deref().and_then(|t| t.split_once(" - ")).map(|(_, name)| name.to_lowercase())
    };
    match difference.place.as_str() {
        "domain name" | "requirement" => false,
        place if place.ends_with(": parameter") && difference.change == ChangeKind::Changed => {
            type_of(&difference.before) != type_of(&difference.after)
        }
        _ => true,
    }
}

fn equal(renaming: &[(String, String)]) -> Assessment {
    let renamed = renaming.iter().filter(|(a, b)| !a.eq_ignore_ascii_case(b)).count();
    let summary = match renamed {
        0 => "The problem is the reference.".to_owned(),
        1 => "The problem is the reference, with 1 object renamed.".to_owned(),
        n => format!("The problem is the reference, with {n} objects renamed."),
    };
    let mut assessment = Assessment::new(Decision::Accepted, summary);
    for (name, value) in [("equivalent", 1.0), ("missing", 0.0), ("extra", 0.0)] {
        assessment.metrics.insert(name.into(), value);
    }
    assessment.evidence = json!({ "renaming": renaming });
    assessment
}

fn different(found: ProblemDifference, checked: &Checked) -> Assessment {
    let missing = found.missing_objects.len() + found.missing_facts.len();
    let extra = found.extra_objects.len() + found.extra_facts.len();
    let least = if found.minimal { "at best" } else { "under the best renaming found" };
    let summary = format!("The problem is not the reference: {least}, {missing} missing and {extra} extra.");
    let mut assessment = Assessment::new(Decision::Rejected, summary);
    let figures = [("equivalent", 0.0), ("missing", missing as f64), ("extra", extra as f64)];
    for (name, value) in figures {
        assessment.metrics.insert(name.into(), value);
    }
    assessment.diagnostics = checked.report(&difference_text(&found));
    let (difference, renaming) = problems::difference(found);
    assessment.evidence = json!({ "difference": difference, "renaming": renaming });
    assessment
}

/// The difference as findings, the missing first.
fn difference_text(found: &ProblemDifference) -> Vec<Diagnostic> {
    let missing = |what: &String| {
        Diagnostic::error(
            codes::MISSING,
            format!("the reference has {what}, the candidate's problem has not"),
        )
    };
    let extra = |what: &String| {
        Diagnostic::error(codes::EXTRA, format!("the candidate's problem has {what}, the reference has not"))
    };
    let object = |name: &String| format!("one more object of the type of {name}");
    let missing_objects: Vec<String> = found.missing_objects.iter().map(object).collect();
    let extra_objects: Vec<String> = found.extra_objects.iter().map(object).collect();
    let missing = missing_objects.iter().chain(&found.missing_facts).map(missing);
    let extra = extra_objects.iter().chain(&found.extra_facts).map(extra);
    missing.take(MOST_DIAGNOSTICS).chain(extra.take(MOST_DIAGNOSTICS)).collect()
}
