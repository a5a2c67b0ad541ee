//! Mistakes of a written problem that no change of the domain repairs.

use planforge_contract::{CandidatePatch, Failure, FailureClass, Outcome, ReportedSeverity, TaskView};
use planforge_diagnostics::{Diagnostic, SourceId};
use planforge_pddl::ast::{Domain, Problem};
use planforge_pddl::{NameKind, VisitNames, parse_domain, parse_problem};
use planforge_plugin_sdk::checked::{Texts, check};
use std::collections::BTreeSet;

/// The reason for asking for a sample again: the reply could not be used, or the written problem cannot be
/// right under any domain. Without a domain the names and types of its facts are not checked.
pub(crate) fn of_sample(
    task: &TaskView,
    domain: Option<&str>,
    outcome: &Outcome<CandidatePatch>,
) -> Option<String> {
    let patch = match outcome {
        Outcome::Ok(patch) => patch,
        Outcome::Failure(Failure { class: FailureClass::Reply, message, .. }) => {
            return Some(message.clone());
        }
        Outcome::Failure(_) => return None,
    };
    let text = patch.problem.as_deref()?;
    let domain = patch.domain.as_deref().or(domain).or(task.given.domain.as_deref());
    of_problem(task, domain, text).or_else(|| {
        let checked = check(Texts { domain, problem: Some(text) }, "");
        let errors = || checked.diagnostics.iter().filter(|d| d.severity == ReportedSeverity::Error);
        // Under a domain with mistakes every problem may have some.
        let is_usable = domain.is_some() && !errors().any(|error| error.file == "domain");
        errors().next().filter(|_| is_usable).map(|error| error.message.clone())
    })
}

/// The mistake of a problem that no domain repairs: it cannot be read, its goal is empty, or it names an undeclared object.
pub(crate) fn of_problem(task: &TaskView, domain: Option<&str>, text: &str) -> Option<String> {
    let parsed = parse_problem(text, SourceId(1));
    if let Some(error) = parsed.diagnostics.into_iter().find(Diagnostic::is_error) {
        return Some(error.message);
    }
    match &parsed.value.goal {
        Some(goal) if goal.is_empty() => return Some("the goal is empty".to_owned()),
        Some(_) | None => {}
    }
    let domain = domain.map(|text| parse_domain(text, SourceId(0)).value);
    undeclared_object(task, domain.as_ref(), parsed.value)
}

/// The first object of a fact or of the goal that is declared nowhere: not in the problem, the given interface or the domain.
fn undeclared_object(task: &TaskView, domain: Option<&Domain>, mut problem: Problem) -> Option<String> {
    let mut known: BTreeSet<String> =
        problem.objects.iter().map(|object| object.name.key().to_owned()).collect();
    let given = task.action_interface.iter().flat_map(|interface| &interface.objects);
    known.extend(given.map(|object| object.name.to_lowercase()));
    let constants = domain.iter().flat_map(|domain| &domain.constants);
    known.extend(constants.map(|constant| constant.name.key().to_owned()));
    let mut unknown = None;
    problem.visit_names(&mut |kind, name| {
        if kind == NameKind::Object && unknown.is_none() && !known.contains(name.key()) {
            unknown = Some(format!("the object `{name}` is not declared"));
        }
    });
    unknown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn defect(domain: Option<&str>, problem: &str) -> Option<String> {
        let patch = CandidatePatch { problem: Some(problem.to_owned()), ..CandidatePatch::default() };
        of_sample(&TaskView::default(), domain, &Outcome::Ok(patch))
    }

    #[test]
    fn a_problem_is_asked_for_again_for_what_no_domain_repairs() {
        let good = "(define (problem p) (:domain d) (:objects a) (:init (on a)) (:goal (not (on a))))";
        assert_eq!(defect(None, good), None);
        let undeclared = good.replace("(:goal (not (on a)))", "(:goal (on b))");
        assert_eq!(defect(None, &undeclared).unwrap(), "the object `b` is not declared");
        assert_eq!(defect(None, &good.replace("(not (on a))", "(and)")).unwrap(), "the goal is empty");
        assert!(defect(None, &good.replace("(:goal (not (on a)))", "")).is_some());
        assert!(defect(None, "(define (problem p) (:init (on a").is_some());
        // With a domain its names count, unless it has mistakes of its own.
        let domain = "(define (domain d) (:requirements :negative-preconditions) (:predicates (on ?x)))";
        let other = good.replace("(on a)", "(off a)");
        assert_eq!((defect(Some(domain), good), defect(Some(domain), &other).is_some()), (None, true));
        let broken = domain.replace("(on ?x)", "(on ?x - nothing)");
        assert_eq!((defect(Some(&broken), good), defect(Some(&broken), &other)), (None, None));
        let refused = |class| Outcome::Failure(Failure::new(class, "reply.no-pddl", "the reply has no PDDL"));
        let task = TaskView::default();
        assert!(of_sample(&task, None, &refused(FailureClass::Reply)).is_some());
        assert_eq!(of_sample(&task, None, &refused(FailureClass::Provider)), None);
        assert_eq!(of_sample(&task, None, &Outcome::Ok(CandidatePatch::default())), None);
    }
}
