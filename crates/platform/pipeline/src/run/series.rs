//! Stages in a row over a beam, inside a round or a pull.

use super::beam::Entry;
use super::context::{Context, TaskRun};
use super::report::{FailedSample, StageReport};
use super::step;
use crate::stages::{Stage, StageKind};
use planforge_contract::{Failure, FailureClass, ReportedSeverity};
use std::collections::BTreeMap;

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
    Left(Vec<Entry>),
    /// No sample had a result, for these reasons.
    Lost(Vec<String>),
    /// The caller had enough before a stage.
    Enough,
    /// A reply is deferred: the result is not known before it is there.
    Parked,
    Interrupted,
}

/// Runs stages under the number of their round or pull. `enough` is called before each stage, as long as no
/// reply is deferred; it returns true if the stage is not needed.
pub(crate) fn run<'s>(
    context: &Context<'_>,
    task: &TaskRun<'_>,
    number: u32,
    stages: impl IntoIterator<Item = &'s Stage>,
    beam: Vec<Entry>,
    enough: impl Fn(&Stage, &[Entry]) -> bool,
) -> Result<Series, Failure> {
    let mut series = Series { end: SeriesEnd::Interrupted, reports: Vec::new(), failed: Vec::new() };
    let (mut beam, mut parked) = (beam, false);
    for stage in stages {
        if context.stopping() {
            return Ok(series);
        }
        if parked && stage.definition().needs_whole_beam(context) {
            return Ok(Series { end: SeriesEnd::Parked, ..series });
        }
        if !parked && enough(stage, &beam) {
            return Ok(Series { end: SeriesEnd::Enough, ..series });
        }
        let entered = beam.len();
        let step = step::run(context, task, stage, Some(number), beam)?;
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
            let end = if parked { SeriesEnd::Parked } else { SeriesEnd::Lost(reasons(&step.failed)) };
            return Ok(Series { end, ..series });
        }
        beam = step.beam;
    }
    let end = if parked { SeriesEnd::Parked } else { SeriesEnd::Left(beam) };
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

#[cfg(test)]
mod tests {
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
