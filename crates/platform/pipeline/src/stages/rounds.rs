//! Shared by refine and budget stages: stages in a row inside a round or a pull, the comparison of their candidates, parts to forget,
//! and mistakes of a written problem that no change of the domain repairs.

use super::interface::{StageContext, Writes};
use super::{Stage, StageKind};
use crate::beam::{Entry, candidate_path};
use crate::reader::TableReader;
use crate::report::{FailedSample, StageReport};
use planforge_contract::{CandidatePatch, Failure, FailureClass, Outcome, ReportedSeverity, TaskView};
use planforge_diagnostics::{Diagnostic, SourceId};
use planforge_pddl::ast::{Domain, Problem};
use planforge_pddl::{NameKind, VisitNames, parse_domain, parse_problem};
use planforge_plugin_sdk::checked::{Texts, check};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// The result of stages in a row.
pub(crate) struct Series {
    pub(crate) end: SeriesEnd,
    /// Of the stages that were run, in their order.
    pub(crate) reports: Vec<StageReport>,
    pub(crate) failed: Vec<FailedSample>,
}

/// The end of stages in a row.
pub(crate) enum SeriesEnd {
    /// All were run, and this is left.
    Candidates(Vec<Entry>),
    /// No sample had a result, for these reasons.
    NoCandidates(Vec<String>),
    /// The caller had enough before a stage.
    Enough,
    /// A reply is deferred: the result is not known before it is there.
    Parked,
    Interrupted,
}

/// Runs stages under the number of their round or pull. `enough` is called before each stage, as long as no
/// reply is deferred; it returns true if the stage is not needed.
pub(crate) fn run_series<'s>(
    context: &StageContext<'_>,
    number: u32,
    stages: impl IntoIterator<Item = &'s Stage>,
    beam: Vec<Entry>,
    enough: impl Fn(&Stage, &[Entry]) -> bool,
) -> Result<Series, Failure> {
    let mut series = Series { end: SeriesEnd::Interrupted, reports: Vec::new(), failed: Vec::new() };
    let (mut beam, mut parked) = (beam, false);
    for stage in stages {
        if context.run.stopping() {
            return Ok(series);
        }
        if parked && stage.definition().needs_whole_beam(context.run) {
            return Ok(Series { end: SeriesEnd::Parked, ..series });
        }
        if !parked && enough(stage, &beam) {
            return Ok(Series { end: SeriesEnd::Enough, ..series });
        }
        let entered = beam.len();
        let step = context.run_stage(stage, Some(number), beam)?;
        parked |= step.parked;
        series.reports.push(StageReport {
            entered,
            left: step.beam.len(),
            outcomes: step.outcomes,
            compared: step.compared,
            failed: step.failed.clone(),
            ..report(stage)
        });
        series.failed.extend(step.failed.iter().cloned());
        if step.interrupted {
            return Ok(series);
        }
        if step.beam.is_empty() {
            let end = if parked { SeriesEnd::Parked } else { SeriesEnd::NoCandidates(reasons(&step.failed)) };
            return Ok(Series { end, ..series });
        }
        beam = step.beam;
    }
    let end = if parked { SeriesEnd::Parked } else { SeriesEnd::Candidates(beam) };
    Ok(Series { end, ..series })
}

/// The report of a stage that was not run yet.
pub(crate) fn report(stage: &Stage) -> StageReport {
    StageReport {
        label: stage.label().to_owned(),
        kind: stage.kind().name().to_owned(),
        measure: stage.kind() == StageKind::Verify && !stage.definition().decides(),
        entered: 0,
        left: 0,
        outcomes: BTreeMap::new(),
        compared: BTreeMap::new(),
        failed: Vec::new(),
        budget: None,
    }
}

/// Adds reports to those of the same stages.
pub(crate) fn add_all(all: &mut [StageReport], of: Vec<StageReport>) {
    for one in of {
        if let Some(all) = all.iter_mut().find(|all| all.label == one.label) {
            add(all, one);
        }
    }
}

fn add(all: &mut StageReport, one: StageReport) {
    all.entered += one.entered;
    all.left += one.left;
    for (outcome, count) in one.outcomes {
        *all.outcomes.entry(outcome).or_insert(0) += count;
    }
    for (by, groups) in one.compared {
        *all.compared.entry(by).or_insert(0) += groups;
    }
    all.failed.extend(one.failed);
}

/// The mistakes in replies, each once: the diagnostics of a failure if it has some, else its message. Other
/// failures contain nothing that a model could use.
fn reasons(failed: &[FailedSample]) -> Vec<String> {
    let mut reasons: Vec<String> = Vec::new();
    for FailedSample { failure, .. } in failed.iter().filter(|f| f.failure.class == FailureClass::Reply) {
        let mistakes = failure.diagnostics.iter().filter(|d| d.severity == ReportedSeverity::Error);
        let mut found: Vec<&String> = mistakes.map(|d| &d.message).collect();
        if found.is_empty() {
            found.push(&failure.message);
        }
        for reason in found {
            if !reasons.contains(reason) {
                reasons.push(reason.clone());
            }
        }
    }
    reasons
}

/// The position of the stage of a round that writes: the first that writes candidates or, where there is none, the first that writes plans.
pub(crate) fn writer_of(round: &[Stage]) -> Option<usize> {
    let first = |what| round.iter().position(|stage| stage.definition().writes() == Some(what));
    first(Writes::Candidate).or_else(|| first(Writes::Plan))
}

/// The better end of a metric.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// The highest value is the best.
    #[default]
    Highest,
    /// The lowest value is the best.
    Lowest,
}

impl Order {
    /// True for the default.
    pub const fn is_highest(&self) -> bool {
        matches!(self, Self::Highest)
    }

    /// Compares two values so that the better one comes first; a missing value comes last.
    pub(crate) fn compare(self, a: Option<f64>, b: Option<f64>) -> Ordering {
        match (a, b) {
            (Some(a), Some(b)) => match self {
                Self::Highest => b.total_cmp(&a),
                Self::Lowest => a.total_cmp(&b),
            },
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => Ordering::Equal,
        }
    }
}

/// The words in a pipeline file.
pub(crate) const ORDERS: [(&str, Order); 2] = [("highest", Order::Highest), ("lowest", Order::Lowest)];

/// A candidate with the results that refine and budget stages compare.
#[derive(Clone)]
pub(crate) struct Rated {
    pub(crate) entry: Entry,
    /// True if the stages that judge it accepted it.
    pub(crate) accepted: bool,
    /// The metric, as it was measured.
    pub(crate) value: Option<f64>,
}

impl Rated {
    /// Orders accepted candidates first, then by the metric.
    pub(crate) fn compare(&self, other: &Self, order: Order) -> Ordering {
        other.accepted.cmp(&self.accepted).then_with(|| order.compare(self.value, other.value))
    }

    /// The candidate's path in the record.
    pub(crate) fn path(&self, task: &str) -> String {
        candidate_path(task, &self.entry.candidate.lineage)
    }
}

/// The reason for asking for a sample again: the reply could not be used, or the written problem cannot be
/// right under any domain. Without a domain the names and types of its facts are not checked.
pub(crate) fn sample_defect(
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
    problem_defect(task, domain, text).or_else(|| {
        let checked = check(Texts { domain, problem: Some(text) }, "");
        let errors = || checked.diagnostics.iter().filter(|d| d.severity == ReportedSeverity::Error);
        // Under a domain with mistakes every problem may have some.
        let is_usable = domain.is_some() && !errors().any(|error| error.file == "domain");
        errors().next().filter(|_| is_usable).map(|error| error.message.clone())
    })
}

/// The mistake of a problem that no domain repairs: it cannot be read, its goal is empty, or it names an undeclared object.
pub(crate) fn problem_defect(task: &TaskView, domain: Option<&str>, text: &str) -> Option<String> {
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

/// Parts of a candidate that a refine stage can remove.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Forget {
    /// The domain, and with it all results about the candidate.
    Domain,
    /// The problem, and with it all results about the candidate.
    Problem,
    /// The conversation so far.
    Conversation,
}

/// The candidate without some parts, and without results about them.
pub(crate) fn forget(parts: &[Forget], entry: Entry) -> Entry {
    let forgets = |what| parts.contains(&what);
    let mut left = entry;
    if forgets(Forget::Domain) || forgets(Forget::Problem) {
        left.advance_texts(forgets(Forget::Domain), forgets(Forget::Problem));
        left.unusable.clear();
        left.conversations.clear();
        let candidate = &mut left.candidate;
        candidate.edits = None;
        if forgets(Forget::Domain) {
            candidate.domain = None;
        }
        if forgets(Forget::Problem) {
            candidate.problem = None;
            candidate.inference = None;
        }
    }
    if forgets(Forget::Conversation) {
        left.candidate.conversation.clear();
    }
    left
}

/// Reads the key `forget`.
pub(crate) fn parse_forget(reader: &mut TableReader<'_>, out: &mut Vec<Diagnostic>) -> Vec<Forget> {
    let words =
        [("domain", Forget::Domain), ("problem", Forget::Problem), ("conversation", Forget::Conversation)];
    reader.words("forget", &words, out)
}

#[cfg(test)]
mod series_tests {
    use super::*;
    use planforge_contract::ReportedDiagnostic;

    #[test]
    fn each_mistake_found_in_a_reply_is_a_reason_of_its_own() {
        let finding = |severity, message: &str| ReportedDiagnostic {
            code: "test.found".into(),
            severity,
            message: message.into(),
            file: "ir".into(),
            line: 1,
            column: 1,
            start: 0,
            end: 1,
            help: vec![],
        };
        let found = vec![
            finding(ReportedSeverity::Error, "no such predicate"),
            finding(ReportedSeverity::Advice, "a dot was added"),
            finding(ReportedSeverity::Error, "no such type"),
        ];
        let failed = |class, found| {
            let failure = Failure::new(class, "test.failed", "the text cannot be used").diagnostics(found);
            FailedSample { path: String::new(), failure }
        };
        let samples = [
            failed(FailureClass::Reply, found.clone()),
            failed(FailureClass::Reply, found),
            failed(FailureClass::Reply, Vec::new()),
            failed(FailureClass::Limit, Vec::new()),
        ];
        assert_eq!(reasons(&samples), ["no such predicate", "no such type", "the text cannot be used"]);
    }
}

#[cfg(test)]
mod defect_tests {
    use super::*;

    fn defect(domain: Option<&str>, problem: &str) -> Option<String> {
        let patch = CandidatePatch { problem: Some(problem.to_owned()), ..CandidatePatch::default() };
        sample_defect(&TaskView::default(), domain, &Outcome::Ok(patch))
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
        assert!(sample_defect(&task, None, &refused(FailureClass::Reply)).is_some());
        assert_eq!(sample_defect(&task, None, &refused(FailureClass::Provider)), None);
        assert_eq!(sample_defect(&task, None, &Outcome::Ok(CandidatePatch::default())), None);
    }
}
