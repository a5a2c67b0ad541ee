//! A plan under the environment's names, for a candidate whose writer was not given them: a text may count
//! objects without naming them, and a problem does not name its actions.
//!
//! Objects are renamed only if the candidate's problem is the reference under that renaming. Actions are
//! renamed by the best match of both domains. The environment judges the renamed plan, so that a wrong match
//! accepts nothing wrong.

use crate::codes;
use crate::options::PlanVerifierOptions;
use planforge_contract::api::Host;
use planforge_contract::{Candidate, Failure, FailureClass, PlanDocument, TaskView};
use planforge_diagnostics::{Diagnostic, SourceId};
use planforge_pddl::ast::{Domain, Problem};
use planforge_pddl::{Parsed, parse_domain, parse_problem};
use planforge_planning::StopReason;
use planforge_planning::equivalence::interface::{
    DomainWithProblems, Interface, NoInterface, match_interface,
};
use planforge_planning::equivalence::{ProblemEquivalence, equivalent_problems};
use planforge_planning::walk::NamedStep;
use planforge_plugin_common::judging::{Deadline, NotShown, Reference, domains};
use serde_json::json;
use std::collections::BTreeMap;

/// Objects of the reference, each with its counterpart.
type ObjectPairs = Vec<(String, String)>;

/// Most choices of the search for a renaming.
const MAX_CHOICES: u64 = 1_000_000;

/// The result of the search for a renaming.
pub(crate) enum Renaming {
    /// The environment's names were given, or there are no others. Contains the reason why the reference
    /// cannot be compared, if that is the reason.
    None(Option<String>),
    /// A limit ended the search.
    Limit(String),
    Found(Box<RenamedPlan>),
}

/// A plan under other names.
pub(crate) struct RenamedPlan {
    pub(crate) plan: PlanDocument,
    /// Number of objects and of actions with another name or order of parameters.
    pub(crate) renamed: (usize, usize),
    pub(crate) evidence: serde_json::Value,
}

/// Searches names of the environment for a plan.
///
/// # Errors
/// The run was interrupted.
pub(crate) fn find(
    host: &dyn Host,
    options: &PlanVerifierOptions,
    task: &TaskView,
    candidate: &Candidate,
    plan: &PlanDocument,
) -> Result<Renaming, Failure> {
    let interface = task.action_interface.as_ref();
    let written = |text: &Option<String>, given: &Option<String>| {
        text.clone().filter(|text| !text.trim().is_empty() && Some(text) != given.as_ref())
    };
    let domain = written(&candidate.domain, &task.given.domain)
        .filter(|_| interface.is_none_or(|given| given.actions.is_empty()));
    let problem = written(&candidate.problem, &task.given.problem)
        .filter(|_| interface.is_none_or(|given| given.objects.is_empty()));
    if domain.is_none() && problem.is_none() {
        return Ok(Renaming::None(None));
    }
    let reference = match Reference::open(host) {
        Ok(reference) => reference,
        Err(NotShown::Host(failure)) if failure.class == FailureClass::Cancelled => return Err(failure),
        Err(not) => return Ok(Renaming::None(Some(not.failure(&codes::SHOWN).message))),
    };
    let (domain, problem) = (
        domain.map(|text| parse_domain(&text, SourceId(0))),
        problem.map(|text| parse_problem(&text, SourceId(1))),
    );
    let broken = |found: &[Diagnostic]| found.iter().any(Diagnostic::is_error);
    if domain.as_ref().is_some_and(|d| broken(&d.diagnostics))
        || problem.as_ref().is_some_and(|p| broken(&p.diagnostics))
    {
        return Ok(Renaming::None(None));
    }
    // The suite's own domain, which the reference problem was written for; the environment may judge by another one.
    let given = task.given.domain.as_deref().map(|text| parse_domain(text, SourceId(0)));
    let given = given.filter(|given| !broken(&given.diagnostics)).map(|given| given.value);
    let over = given.filter(|_| domain.is_none()).unwrap_or_else(|| reference.domain.clone());
    let mut deadline = options.limits.deadline(host, 1);
    let actions = match match_actions(&reference, domain.as_ref(), problem.as_ref(), &mut deadline) {
        Ok(actions) => actions,
        Err(NoInterface::None(_)) => return Ok(Renaming::None(None)),
        Err(NoInterface::Limit { stopped: Some(StopReason::Cancelled), .. }) => {
            return Err(Failure::new(FailureClass::Cancelled, codes::CANCELLED, "the run was interrupted"));
        }
        Err(limit @ NoInterface::Limit { .. }) => return Ok(Renaming::Limit(limit.to_string())),
    };
    let objects = match match_objects(&mut deadline, &over, &reference.problem, problem.as_ref())? {
        Ok(Some(objects)) => objects,
        Ok(None) => return Ok(Renaming::None(None)),
        Err(limit) => return Ok(Renaming::Limit(limit)),
    };
    Ok(rename(plan, actions.as_ref(), &objects)
        .map_or(Renaming::None(None), |found| Renaming::Found(Box::new(found))))
}

/// The reference's actions by the candidate's; `None` if the candidate has no domain of its own.
fn match_actions(
    reference: &Reference,
    domain: Option<&Parsed<Domain>>,
    problem: Option<&Parsed<Problem>>,
    deadline: &mut Deadline<'_>,
) -> Result<Option<Interface>, NoInterface> {
    let Some(domain) = domain else { return Ok(None) };
    let own = DomainWithProblems { domain: &reference.domain, problems: &[&reference.problem] };
    let problems: Vec<&Problem> = problem.iter().map(|problem| &problem.value).collect();
    let other = DomainWithProblems { domain: &domain.value, problems: &problems };
    match_interface(own, other, MAX_CHOICES, deadline).map(Some)
}

/// Matches the objects of the reference. Empty without a problem of the candidate's own,
/// `None` if that is another problem; the inner error is the limit that ended the comparison.
fn match_objects(
    deadline: &mut Deadline<'_>,
    domain: &Domain,
    reference: &Problem,
    problem: Option<&Parsed<Problem>>,
) -> Result<Result<Option<ObjectPairs>, String>, Failure> {
    let Some(problem) = problem else { return Ok(Ok(Some(Vec::new()))) };
    Ok(match equivalent_problems(domain, reference, &problem.value, MAX_CHOICES, deadline) {
        ProblemEquivalence::Equal { renaming } => Ok(Some(renaming)),
        ProblemEquivalence::Different(_) => Ok(None),
        ProblemEquivalence::Undecided { stopped: Some(StopReason::Cancelled), .. } => {
            return Err(Failure::new(FailureClass::Cancelled, codes::CANCELLED, "the run was interrupted"));
        }
        ProblemEquivalence::Undecided { choices, stopped } => {
            let by = stopped.map(|reason| format!(" by {reason}")).unwrap_or_default();
            Err(format!(
                "the comparison with the reference problem was ended{by} after {choices} pairs of objects"
            ))
        }
    })
}

/// The plan under the reference's names; `None` if it is the same plan or has a step without a counterpart.
fn rename(
    plan: &PlanDocument,
    actions: Option<&Interface>,
    objects: &[(String, String)],
) -> Option<RenamedPlan> {
    let differ = |pair: &&(String, String)| !pair.0.eq_ignore_ascii_case(&pair.1);
    let renamed_objects: Vec<&(String, String)> = objects.iter().filter(differ).collect();
    let actions = actions.filter(|actions| !actions.is_identity());
    if renamed_objects.is_empty() && actions.is_none() {
        return None;
    }
    let names: BTreeMap<String, &String> =
        renamed_objects.iter().map(|(own, other)| (other.to_lowercase(), own)).collect();
    let step = |text: &String| {
        let step = NamedStep::parse(text)?;
        let mut step = match actions {
            Some(actions) => actions.reference_step(&step)?,
            None => step,
        };
        for arg in &mut step.args {
            if let Some(own) = names.get(&arg.to_lowercase()) {
                (*own).clone_into(arg);
            }
        }
        Some(step.to_string())
    };
    let steps: Vec<String> = plan.steps.iter().map(step).collect::<Option<_>>()?;
    let shown = actions.map(domains::interface);
    Some(RenamedPlan {
        plan: PlanDocument { steps: steps.clone(), ..plan.clone() },
        renamed: (renamed_objects.len(), actions.map_or(0, Interface::renamed_actions)),
        evidence: json!({ "objects": renamed_objects, "interface": shown, "steps": steps }),
    })
}
