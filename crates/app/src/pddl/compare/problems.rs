//! Two problems: the same but for the names of their objects, or what is different.

use super::findings_once;
use crate::context::Context;
use crate::error::Error;
use crate::inputs::{Findings, Inputs, Source};
use crate::limits::RequestLimits;
use crate::status::{Status, of_stop};
use planforge_planning::equivalence::goals::{GoalEquivalence, GoalLimits, GoalOutcome, equivalent_goals};
use planforge_planning::equivalence::{ProblemEquivalence, equivalent_problems};
use planforge_plugin_common::judging::problems;
pub use planforge_plugin_common::judging::reports::{
    AddedGoalFacts, EquivalentDifference, EquivalentReport, EquivalentWitness,
};
use serde::Serialize;

/// Two problems of one domain.
#[derive(Debug, Clone)]
pub struct ProblemsRequest {
    /// The domain of both.
    pub domain: Source,
    /// The first problem; missing facts refer to it.
    pub first: Source,
    /// The second problem; extra facts refer to it.
    pub second: Source,
    /// The comparison of goals.
    pub level: EquivalenceLevel,
    /// Most pairs of objects to try.
    pub max_choices: u64,
    /// Most states that are visited to compare goals.
    pub max_states: u64,
    /// Limits on the work.
    pub limits: RequestLimits,
}

/// The comparison of goals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EquivalenceLevel {
    /// As written.
    #[default]
    Syntactic,
    /// By the reachable states that satisfy them.
    Goals,
}

/// The comparison. Its JSON form is the report.
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub struct ProblemsResult {
    /// The result as a document.
    pub report: EquivalentReport,
    /// Findings about each problem with the domain, if a text cannot be used: nothing was compared then.
    #[serde(skip)]
    pub unusable: Option<[Findings; 2]>,
    /// Negative if the problems differ, else what left it undecided.
    #[serde(skip)]
    pub status: Status,
}

/// Compares two problems: initial state, numbers, goal and metric under one renaming of the objects within their types.
///
/// # Errors
/// None: texts that cannot be used leave the question undecided.
pub fn problems(context: &Context, request: &ProblemsRequest) -> Result<ProblemsResult, Error> {
    let read = [&request.first, &request.second]
        .map(|problem| Inputs::read(context, &request.domain, Some(problem)));
    let [first, second] = &read;
    // A damaged problem is not compared: its readable part would be compared instead.
    let damaged = read.iter().any(|r| r.unreadable || r.has_errors());
    let (Some(domain), Some(a), Some(b), false) =
        (&first.texts.domain, &first.texts.problem, &second.texts.problem, damaged)
    else {
        return Ok(unusable(read));
    };
    let mut limits = request.limits.start(context);
    let (status, report) = match request.level {
        EquivalenceLevel::Syntactic => {
            syntactic_result(equivalent_problems(domain, a, b, request.max_choices, &mut limits))
        }
        EquivalenceLevel::Goals => {
            let goal_limits = GoalLimits {
                max_choices: request.max_choices,
                max_states: request.max_states,
                ..GoalLimits::default()
            };
            goals_result(equivalent_goals(domain, a, b, &goal_limits, &mut limits))
        }
    };
    Ok(ProblemsResult { report, unusable: None, status })
}

/// The result of comparing the problems as written.
fn syntactic_result(result: ProblemEquivalence) -> (Status, EquivalentReport) {
    let (status, report) = match result {
        ProblemEquivalence::Equal { renaming } => equal_result(renaming),
        ProblemEquivalence::Different(found) => {
            let (listed, renaming) = problems::difference(found);
            let report = EquivalentReport { difference: Some(listed), renaming, ..empty_report("different") };
            (Status::Negative, report)
        }
        ProblemEquivalence::Undecided { choices, stopped } => {
            let reason = stopped.map_or_else(|| "the limit on pairs".to_owned(), |reason| reason.to_string());
            let reason = format!("{reason} was reached after {choices} pairs of objects were tried");
            undecided_result(stopped.map_or(Status::NodeLimit, of_stop), reason)
        }
    };
    (status, EquivalentReport { level: Some("syntactic".to_owned()), ..report })
}

/// The result of comparing by goal states.
fn goals_result(result: GoalEquivalence) -> (Status, EquivalentReport) {
    let [first, second] = result.added;
    let (status, report) = match result.outcome {
        GoalOutcome::Equal { renaming } => equal_result(renaming),
        GoalOutcome::Different { difference: found, witness } => {
            let (listed, renaming) = problems::difference(found);
            let report = EquivalentReport {
                renaming,
                difference: Some(listed),
                witness: witness.map(problems::witness),
                ..empty_report("different")
            };
            (Status::Negative, report)
        }
        GoalOutcome::Undecided { why, stopped, .. } => {
            undecided_result(stopped.map_or(Status::Undecided, of_stop), why)
        }
    };
    let added = (!first.is_empty() || !second.is_empty()).then_some(AddedGoalFacts { first, second });
    (status, EquivalentReport { level: Some("goals".to_owned()), added_goal_facts: added, ..report })
}

fn equal_result(renaming: Vec<(String, String)>) -> (Status, EquivalentReport) {
    (Status::Good, EquivalentReport { equivalent: true, renaming, ..empty_report("equal") })
}

fn undecided_result(status: Status, reason: String) -> (Status, EquivalentReport) {
    (status, EquivalentReport { reason: Some(reason), ..empty_report("undecided") })
}

/// A report with nothing but its decision.
fn empty_report(decision: &str) -> EquivalentReport {
    EquivalentReport {
        equivalent: false,
        decision: decision.to_owned(),
        renaming: Vec::new(),
        difference: None,
        level: None,
        added_goal_facts: None,
        witness: None,
        reason: None,
        diagnostics: Vec::new(),
    }
}

/// The findings of the texts; in the report, those of the domain once.
fn unusable(read: [Inputs; 2]) -> ProblemsResult {
    let (diagnostics, _) = findings_once(&read);
    let status = if read.iter().any(|r| r.unreadable) { Status::Input } else { Status::Undecided };
    let report = EquivalentReport { diagnostics, ..empty_report("undecided") };
    ProblemsResult { report, unusable: Some(read.map(Inputs::into_findings)), status }
}
