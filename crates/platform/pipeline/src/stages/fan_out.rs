//! `do = "fan_out"`: the lead task of each suite runs alone up to the stage, the suite's other tasks start from its survivors.

use super::bound::{BeamBound, BoundWalk};
use super::checker::{StageChecker, StageTable};
use super::interface::{KindFacts, StageContext, StageDefinition, StageResult, Start, TaskStarts};
use super::{Stage, StageKind};
use crate::beam::Entry;
use crate::calls::RunContext;
use crate::reader::{Node, Value, error_at};
use crate::report::RunState;
use crate::services::RunTask;
use crate::suite::Suite;
use planforge_contract::{Failure, FailureClass};
use planforge_diagnostics::Diagnostic;
use planforge_record::TaskVerdict;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `do = "fan_out"`: up to here the lead task of each suite runs alone. The suite's other tasks start from
/// its survivors, with their domains and without their problems.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FanOutStage {
    /// The stage's name, unique in the file.
    #[schemars(regex(pattern = "^[a-z][a-z0-9_-]{0,63}$"))]
    pub label: String,
    /// The stem of the lead task, for example `p01`; left out, the first task of the suite. A run of one task of a suite has
    /// that task as its lead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lead: Option<String>,
}

impl StageDefinition for FanOutStage {
    fn facts() -> KindFacts {
        KindFacts { outside_rounds: Some("put it behind the refine stage"), ..KindFacts::PLAIN }
    }

    fn parse(
        _checker: &mut StageChecker<'_>,
        table: &mut StageTable<'_, '_>,
        out: &mut Vec<Diagnostic>,
    ) -> (Self, Vec<String>) {
        let lead = table.reader.string("lead", out).map(|lead| lead.value);
        (Self { label: table.label.value.clone(), lead }, Vec::new())
    }

    fn check_file(stages: &[Stage], items: &[Node], out: &mut Vec<Diagnostic>) {
        let is_fan_out = |item: &&Node| {
            let word = item.as_table().and_then(|table| table.get("do"));
            matches!(word, Some(Node { value: Value::String(word), .. }) if word == StageKind::FanOut.name())
        };
        let mut found = items.iter().filter(is_fan_out);
        let Some(first) = found.next() else { return };
        for again in found {
            let message = "there is a second fan_out stage: the other tasks have started already";
            out.push(
                error_at("pipeline.fan-out", message, again.place)
                    .also(first.place.source, first.place.span, "the first is here")
                    .help("keep one"),
            );
        }
        let behind = stages.iter().skip_while(|stage| stage.kind() != StageKind::FanOut).skip(1);
        if !behind.into_iter().any(|stage| stage.definition().decides()) {
            let message = "nothing behind the fan_out stage judges the tasks";
            let help = "verdicts come from the stages behind it: add a verify or plan stage";
            out.push(error_at("pipeline.fan-out", message, first.place).help(help));
        }
    }

    fn check_suites(&self, suites: &[Suite]) -> Vec<Diagnostic> {
        let Some(lead) = self.lead.as_deref() else { return Vec::new() };
        let mut stems: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for suite in suites {
            stems.entry(&suite.name).or_default().extend(suite.tasks.iter().map(|task| task.stem.as_str()));
        }
        stems.retain(|_, stems| stems.len() > 1 && !stems.contains(&lead));
        let wrong = |(name, stems): (&str, Vec<&str>)| {
            let message =
                format!("the lead task `{lead}` is not among the tasks of suite `{name}` in this run");
            let help = format!("take {lead} into the run, or name one of {} in `lead`", stems.join(", "));
            Diagnostic::error("suite.no-lead", message).help(help)
        };
        stems.into_iter().map(wrong).collect()
    }

    fn bound(&self, walk: &mut BoundWalk<'_>, beam: BeamBound, _times: u64) -> BeamBound {
        // The others start from the survivors' domains, without a conversation; the lead goes on with its own.
        walk.lead = std::mem::take(&mut walk.found);
        beam
    }

    fn run(
        &self,
        _context: &StageContext<'_>,
        _round: Option<u32>,
        mut beam: Vec<Entry>,
    ) -> Result<StageResult, Failure> {
        // Verdicts on the lead's candidates come from the stages behind.
        let mut step = StageResult::default();
        for entry in &mut beam {
            entry.discount_results(|_| false);
            step.count("lead");
        }
        step.beam = beam;
        Ok(step)
    }

    fn task_starts(&self) -> Option<&dyn TaskStarts> {
        Some(self)
    }

    fn needs_whole_beam(&self, _run: &RunContext<'_>) -> bool {
        true
    }
}

impl TaskStarts for FanOutStage {
    /// The tasks of each suite.
    fn groups(&self, tasks: &[RunTask]) -> Vec<Vec<usize>> {
        let mut groups: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, task) in tasks.iter().enumerate() {
            groups.entry(&task.reference.suite).or_default().push(index);
        }
        let is_lead = |index: usize| {
            let stem = tasks.get(index).map(|task| task.view.task.as_str());
            stem.is_some_and(|stem| self.lead.as_deref() == Some(stem))
        };
        let mut groups: Vec<Vec<usize>> = groups.into_values().collect();
        for group in &mut groups {
            // Where the named task is not in the run, its first task leads.
            group.sort_by_key(|index| (!is_lead(*index), *index));
        }
        groups.sort_by_key(|group| group.iter().min().copied());
        groups
    }

    /// Each survivor's domain, with the lead's text and problem as materials.
    fn start_from(&self, lead: &RunTask, beam: &[Entry]) -> Start {
        let start = |entry: &Entry| {
            let mut start = Entry::default();
            start.candidate.domain = Some(entry.candidate.domain.clone()?);
            start.lead.text = Some(lead.view.task_text.clone()).filter(|text| !text.is_empty());
            start.lead.problem.clone_from(&entry.candidate.problem);
            Some(start)
        };
        let starts: Vec<Entry> = beam.iter().filter_map(start).collect();
        if !starts.is_empty() {
            return Start::From(starts);
        }
        let message = format!("no candidate of the lead task `{}` has a domain", lead.name);
        let failure = Failure::new(FailureClass::Reply, "pipeline.lead", message);
        Start::Ended(TaskVerdict::Unusable { stage: self.label.clone(), failure })
    }

    /// The lead's verdict does not apply to the others, so none is rejected for it.
    fn start_without(&self, lead: &RunTask, verdict: Option<&TaskVerdict>, state: RunState) -> Start {
        let stage = self.label.clone();
        let message = format!("the lead task `{}` left no candidate", lead.name);
        let because = |failure: &Failure| {
            Failure::new(failure.class, "pipeline.lead", format!("{message}: {}", failure.message))
        };
        match (state, verdict) {
            (RunState::Finished, Some(TaskVerdict::Failed { failure, .. })) => {
                Start::Ended(TaskVerdict::Failed { stage, failure: because(failure) })
            }
            (RunState::Finished, Some(TaskVerdict::Unusable { failure, .. })) => {
                Start::Ended(TaskVerdict::Unusable { stage, failure: because(failure) })
            }
            (RunState::Finished, _) => Start::Ended(TaskVerdict::Undecided { stage, message }),
            (state, _) => Start::Waits(state),
        }
    }
}
