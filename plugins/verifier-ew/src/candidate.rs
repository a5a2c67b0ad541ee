//! A candidate read and made ready to walk in, or settled because it cannot be.

use crate::codes;
use crate::options::{InterfaceOption, Settings};
use crate::rating::{CandidateState, interruption_failure, limit_assessment, rejected_assessment};
use crate::reference::{Reference, without_effect};
use planforge_contract::{
    Assessment, Candidate, Decision, Failure, Given, ReportedSeverity, TypedName, UndecidedReason,
};
use planforge_diagnostics::{Diagnostic, SourceId};
use planforge_pddl::Name;
use planforge_pddl::ast::Domain;
use planforge_planning::equivalence::interface::{
    DomainWithProblems as Sides, Interface, NoInterface, match_interface,
};
use planforge_planning::task::Unsupported;
use planforge_planning::walk::{Model, ModelError};
use planforge_planning::{ResourceLimits, StopReason};
use planforge_plugin_sdk::checked::{Checked, Texts, check};
use planforge_plugin_sdk::feedback;

/// Most choices that are tried for a renaming of actions.
const MAX_CHOICES: u64 = 1_000_000;

/// A candidate that can be walked in.
pub(crate) struct Ready {
    pub(crate) checked: Checked,
    pub(crate) model: Model,
    /// The renaming of its actions, if one is searched.
    pub(crate) renaming: Option<Interface>,
}

/// The result of reading a candidate.
pub(crate) enum ReadCandidate {
    Ready(Box<Ready>),
    /// There is nothing to compare, and this is what is known.
    Settled(Box<Assessment>),
}

/// Reads a candidate. Faults are found in the order of the rating table, the worst first.
pub(crate) fn read(
    candidate: &Candidate,
    given: &Given,
    reference: &Reference<'_>,
    settings: &Settings,
    budget: &mut dyn ResourceLimits,
) -> Result<ReadCandidate, Failure> {
    let settled = |assessment| Ok(ReadCandidate::Settled(Box::new(assessment)));
    if let Some(standing) = CandidateState::of_edits(candidate.edits, settings.ratings) {
        return settled(not_edited(candidate, standing, settings));
    }
    let texts = Texts::of(candidate, given);
    if texts.domain.is_none() || texts.problem.is_none() {
        let what = if texts.domain.is_none() { "domain" } else { "problem" };
        let message = format!("no walk can be taken: the candidate has no {what}");
        let reason = UndecidedReason::MissingInput;
        return settled(Assessment::new(Decision::Undecided { reason, message: message.clone() }, message));
    }
    let mut checked = check(texts, "");
    let renaming = match settings.interface {
        InterfaceOption::Matched if checked.count(ReportedSeverity::Error) == 0 => {
            match rename_candidate(&mut checked, reference, settings, budget)? {
                Ok(renaming) => renaming,
                Err(assessment) => return settled(*assessment),
            }
        }
        InterfaceOption::Matched | InterfaceOption::Exact => None,
    };
    let idle = idle_actions(&checked, reference);
    if !idle.is_empty() {
        return settled(no_effect(checked, &idle, settings));
    }
    if checked.count(ReportedSeverity::Error) > 0 {
        return settled(invalid(checked, settings));
    }
    let (Some(domain), Some(problem)) = (&checked.domain, &checked.problem) else {
        return settled(invalid(checked, settings));
    };
    match Model::new(domain, problem, &settings.model_options(), budget) {
        Ok(model) => match not_shared(&model, reference) {
            Some((what, wanted)) => settled(nothing_in_common(what, &wanted, settings)),
            None => Ok(ReadCandidate::Ready(Box::new(Ready { checked, model, renaming }))),
        },
        Err(ModelError::Invalid(found)) => {
            let found = checked.report(&found);
            checked.diagnostics.extend(found);
            settled(invalid(checked, settings))
        }
        Err(ModelError::Unsupported(constructs)) => {
            let message = format!("walks do not execute {}", Unsupported::names(&constructs).join(", "));
            let reason = UndecidedReason::Unsupported;
            settled(Assessment::new(Decision::Undecided { reason, message: message.clone() }, message))
        }
        Err(ModelError::Limit(StopReason::Cancelled)) => Err(interruption_failure()),
        Err(ModelError::Limit(reason)) => {
            settled(limit_assessment(format!("{reason} ended the grounding of the candidate")))
        }
    }
}

/// Renames the candidate's domain to the environment's names. Leaves it unchanged if there is no renaming and some action has the
/// environment's name: others are then actions that one side does not have. Returns the assessment for a candidate without either.
///
/// # Errors
/// The run was interrupted.
fn rename_candidate(
    checked: &mut Checked,
    reference: &Reference<'_>,
    settings: &Settings,
    budget: &mut dyn ResourceLimits,
) -> Result<Result<Option<Interface>, Box<Assessment>>, Failure> {
    let undecided_assessment = |reason, message: String| {
        Box::new(Assessment::new(Decision::Undecided { reason, message: message.clone() }, message))
    };
    let (Some(domain), Some(problem)) = (&checked.domain, &checked.problem) else {
        let summary = "No walk was taken: the PDDL cannot be read.";
        return Ok(Err(Box::new(rejected_assessment(summary, CandidateState::Invalid, settings))));
    };
    let Some(shown) = &reference.shown else {
        let message = "actions are matched only with an environment that shows its reference model; set \
                       `interface = \"exact\"`";
        return Ok(Err(undecided_assessment(UndecidedReason::Unsupported, message.to_owned())));
    };
    let own = Sides { domain: &shown.domain, problems: &[&shown.problem] };
    let found = match_interface(own, Sides { domain, problems: &[problem] }, MAX_CHOICES, budget);
    Ok(match found {
        Ok(found) => {
            checked.domain = Some(found.rewrite(&shown.domain, domain));
            Ok(Some(found))
        }
        Err(NoInterface::None(_)) if shares_action(&shown.domain, domain) => Ok(None),
        Err(NoInterface::None(why)) => {
            let message = format!("its actions cannot be matched with the environment's: {why}");
            let mut assessment = rejected_assessment(message.clone(), CandidateState::Invalid, settings);
            assessment.decision = Decision::NotComparable { message: message.clone() };
            let found = [Diagnostic::error(codes::NOT_SHARED, message)];
            assessment.diagnostics = check(Texts::default(), "").report(&found);
            Err(Box::new(assessment))
        }
        Err(NoInterface::Limit { stopped: Some(StopReason::Cancelled), .. }) => {
            return Err(interruption_failure());
        }
        Err(limit @ NoInterface::Limit { .. }) => {
            Err(undecided_assessment(UndecidedReason::Limit, limit.to_string()))
        }
    })
}

fn shares_action(reference: &Domain, candidate: &Domain) -> bool {
    let has = |name: &Name| reference.actions.iter().any(|action| action.name == *name);
    candidate.actions.iter().any(|action| has(&action.name))
}

fn not_edited(candidate: &Candidate, standing: CandidateState, settings: &Settings) -> Assessment {
    let edits = candidate.edits.unwrap_or_default();
    let summary = match standing {
        CandidateState::NothingEdited => "The reply changed nothing, so there is nothing new to compare.",
        _ => "The edits that the reply asks for were refused, so there is nothing new to compare.",
    };
    let mut assessment = rejected_assessment(summary, standing, settings);
    assessment.feedback = feedback::not_edited(edits).into_iter().collect();
    let message = match standing {
        CandidateState::NothingEdited => "the reply has no edit of the domain".to_owned(),
        _ => format!("{} edits of the reply were refused", edits.refused),
    };
    assessment.diagnostics =
        check(Texts::default(), "").report(&[Diagnostic::error(codes::NOT_EDITED, message)]);
    assessment
}

/// Actions without effects that are not known to be like that in the environment. If the text around them has errors,
/// their effects may only not have been understood.
fn idle_actions(checked: &Checked, reference: &Reference<'_>) -> Vec<(String, planforge_diagnostics::Span)> {
    let Some(domain) = &checked.domain else { return Vec::new() };
    let broken = |span: planforge_diagnostics::Span| {
        checked.diagnostics.iter().any(|d| {
            d.severity == ReportedSeverity::Error
                && d.file == "domain"
                && (span.start..=span.end).contains(&d.start)
        })
    };
    without_effect(domain)
        .filter(|a| !broken(a.span))
        .filter(|a| !reference.has_no_effect(a.name.as_str()))
        .map(|a| (a.name.to_string(), a.span))
        .collect()
}

fn no_effect(
    checked: Checked,
    idle: &[(String, planforge_diagnostics::Span)],
    settings: &Settings,
) -> Assessment {
    let names: Vec<String> = idle.iter().map(|(name, _)| name.clone()).collect();
    let summary = format!("No walk was taken: {} without effects: {}.", count(idle.len()), names.join(", "));
    let mut assessment = rejected_assessment(summary, CandidateState::NoEffect, settings);
    let found: Vec<Diagnostic> = idle
        .iter()
        .map(|(name, span)| {
            Diagnostic::error(codes::NO_EFFECT, format!("the action {name} has no effect"))
                .at(SourceId(0), *span, "")
                .help("say which atoms it makes true and which false")
        })
        .collect();
    assessment.feedback = vec![feedback::no_effect(&names)];
    assessment.feedback.extend(texts_wrong(&checked));
    let found = checked.report(&found);
    assessment.diagnostics = checked.diagnostics;
    assessment.diagnostics.extend(found);
    assessment
}

fn count(actions: usize) -> String {
    if actions == 1 { "1 action is".to_owned() } else { format!("{actions} actions are") }
}

fn texts_wrong(checked: &Checked) -> Vec<String> {
    ["domain", "problem"].into_iter().filter_map(|what| feedback::pddl(checked, what)).collect()
}

fn invalid(checked: Checked, settings: &Settings) -> Assessment {
    let errors = checked.count(ReportedSeverity::Error);
    let errors = if errors == 1 { "1 error".to_owned() } else { format!("{errors} errors") };
    let summary = format!("No walk was taken: the PDDL has {errors}.");
    let mut assessment = rejected_assessment(summary, CandidateState::Invalid, settings);
    assessment.feedback = texts_wrong(&checked);
    assessment.diagnostics = checked.diagnostics;
    assessment
}

/// The part of the environment's interface that is wholly missing, with the wanted names.
fn not_shared(model: &Model, reference: &Reference<'_>) -> Option<(&'static str, Vec<String>)> {
    let in_list = |own: &[String], wanted: &str| own.iter().any(|o| o.eq_ignore_ascii_case(wanted));
    let interface = &reference.interface;
    let typed = |p: &TypedName, mark: &str| format!("{mark}{} - {}", p.name, p.type_name);
    if !interface.actions.is_empty()
        && !interface.actions.iter().any(|a| in_list(model.schema_names(), &a.name))
    {
        let wanted = interface.actions.iter().map(|a| {
            let parameters: Vec<String> = a.parameters.iter().map(|p| typed(p, "?")).collect();
            format!("{} ({})", a.name, parameters.join(" "))
        });
        return Some(("action", wanted.collect()));
    }
    let objects = &model.lifted().symbols.objects;
    if !interface.objects.is_empty() && !interface.objects.iter().any(|o| in_list(objects, &o.name)) {
        return Some(("object", interface.objects.iter().map(|o| typed(o, "")).collect()));
    }
    None
}

/// The metric's precondition does not hold: no verdict about the candidate's walks, and still a rank.
fn nothing_in_common(what: &str, wanted: &[String], settings: &Settings) -> Assessment {
    let message = format!("candidate and environment share no {what}, which the metric needs");
    let mut assessment = rejected_assessment(message.clone(), CandidateState::Invalid, settings);
    assessment.decision = Decision::NotComparable { message: message.clone() };
    assessment.feedback = vec![feedback::not_shared(what, wanted)];
    assessment.diagnostics =
        check(Texts::default(), "").report(&[Diagnostic::error(codes::NOT_SHARED, message)]);
    assessment
}
