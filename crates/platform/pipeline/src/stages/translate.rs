//! `do = "translate"`: makes children of each candidate by asking a translator.

mod check;
mod config;
mod run;

pub use config::{Artefact, TranslateStage};

use super::definition::{KindFacts, StageDefinition, Writes};
use super::plugin_use::PluginUse;
use crate::bound::{BeamBound, BoundWalk};
use crate::front::stage_checker::{StageChecker, StageTable};
use crate::run::beam::Entry;
use crate::run::context::{Context, TaskRun};
use crate::run::path::label_without_round;
use crate::run::step::StageResult;
use planforge_contract::{Candidate, Failure};
use planforge_diagnostics::Diagnostic;
use planforge_plugin_sdk::feedback as phrases;

impl StageDefinition for TranslateStage {
    fn facts() -> KindFacts {
        KindFacts { gives_feedback: true, groups: true, ..KindFacts::PLAIN }
    }

    fn parse(
        checker: &mut StageChecker<'_>,
        table: &mut StageTable<'_, '_>,
        out: &mut Vec<Diagnostic>,
    ) -> (Self, Vec<String>) {
        (check::parse(checker, table, out), Vec::new())
    }

    fn plugin(&self) -> Option<PluginUse<'_>> {
        Some(PluginUse { stage: &self.label, id: &self.plugin, options: &self.options, roles: &self.roles })
    }

    fn feedback_labels(&self) -> &[String] {
        &self.feedback
    }

    fn writes(&self) -> Option<Writes> {
        Some(Writes::Candidate)
    }

    fn makes_children(&self) -> bool {
        true
    }

    fn bound(&self, walk: &mut BoundWalk<'_>, beam: BeamBound, times: u64) -> BeamBound {
        let n = u64::from(self.n);
        if let Some(plugin) = self.plugin() {
            walk.calls(&plugin, n.saturating_mul(1 + u64::from(self.resample)), beam, times);
        }
        let width = beam.width.saturating_mul(n);
        walk.made.insert(self.label.clone(), width);
        BeamBound { width, before: beam.before + 1 }
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

    fn feedback(&self, entry: &Entry, _shown: &Candidate) -> Vec<String> {
        let written = entry.written.iter().rev().find(|w| label_without_round(&w.stage) == self.label);
        written.and_then(|written| phrases::reply(&written.diagnostics)).into_iter().collect()
    }
}
