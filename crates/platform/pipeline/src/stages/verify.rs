//! `do = "verify"`: gives each candidate an assessment.

mod check;
mod config;
mod run;

pub use config::VerifyStage;

use super::definition::{KindFacts, StageDefinition};
use super::plugin_use::PluginUse;
use crate::bound::{BeamBound, BoundWalk};
use crate::front::stage_checker::{StageChecker, StageTable};
use crate::run::beam::Entry;
use crate::run::context::{Context, TaskRun};
use crate::run::step::StageResult;
use planforge_contract::{Candidate, Decision, Failure, UndecidedReason};
use planforge_diagnostics::Diagnostic;
use planforge_record::TaskVerdict;

impl StageDefinition for VerifyStage {
    fn facts() -> KindFacts {
        KindFacts { judges: true, gives_feedback: true, ..KindFacts::PLAIN }
    }

    fn parse(
        checker: &mut StageChecker<'_>,
        table: &mut StageTable<'_, '_>,
        out: &mut Vec<Diagnostic>,
    ) -> (Self, Vec<String>) {
        check::parse(checker, table, out)
    }

    fn plugin(&self) -> Option<PluginUse<'_>> {
        Some(PluginUse { stage: &self.label, id: &self.plugin, options: &self.options, roles: &self.roles })
    }

    fn feedback_labels(&self) -> &[String] {
        &self.feedback
    }

    fn decides(&self) -> bool {
        !self.measure
    }

    fn bound(&self, walk: &mut BoundWalk<'_>, beam: BeamBound, times: u64) -> BeamBound {
        if let Some(plugin) = self.plugin() {
            walk.calls(&plugin, 1, beam, times);
        }
        beam
    }

    fn run(
        &self,
        context: &Context<'_>,
        task: &TaskRun<'_>,
        round: Option<u32>,
        beam: Vec<Entry>,
    ) -> Result<StageResult, Failure> {
        run::run(context, task, self, round, beam)
    }

    fn needs_whole_beam(&self, context: &Context<'_>) -> bool {
        run::judges_together(context, self)
    }

    fn objection(&self, entry: &Entry) -> Option<TaskVerdict> {
        let stage = self.label.clone();
        let undecided = |stage, message| Some(TaskVerdict::Undecided { stage, message });
        let Some(assessment) = entry.candidate.assessments.get(&stage) else {
            return undecided(stage, "it was not judged".to_owned());
        };
        match &assessment.decision {
            Decision::Accepted => None,
            Decision::Rejected => Some(TaskVerdict::Rejected { stage, message: assessment.summary.clone() }),
            Decision::Undecided { reason, message } => {
                undecided(stage, format!("{}: {message}", reason_text(*reason)))
            }
            Decision::NotComparable { message } => undecided(stage, format!("not comparable: {message}")),
        }
    }

    fn rejects(&self, entry: &Entry) -> bool {
        let assessment = entry.candidate.assessments.get(&self.label);
        !self.measure && assessment.is_some_and(|assessment| assessment.decision == Decision::Rejected)
    }

    fn feedback(&self, _entry: &Entry, shown: &Candidate) -> Vec<String> {
        shown.assessments.get(&self.label).map(|assessment| assessment.feedback.clone()).unwrap_or_default()
    }
}

const fn reason_text(reason: UndecidedReason) -> &'static str {
    match reason {
        UndecidedReason::Limit => "a limit was reached",
        UndecidedReason::Unsupported => "unsupported",
        UndecidedReason::MissingInput => "nothing to judge",
    }
}
