//! `do = "plan"`: asks a planner for a plan of each candidate.

mod check;
mod config;
mod run;

pub use config::{PlanStage, PlanStageLimits};

use super::definition::{KindFacts, StageDefinition, Writes};
use super::plugin_use::PluginUse;
use crate::bound::{BeamBound, BoundWalk};
use crate::front::stage_checker::{StageChecker, StageTable};
use crate::run::beam::{Entry, StageOutcome};
use crate::run::context::{Context, TaskRun};
use crate::run::step::StageResult;
use planforge_contract::{Candidate, Failure, PlanOutcome, ReportedDiagnostic, ReportedSeverity};
use planforge_diagnostics::Diagnostic;
use planforge_plugin_sdk::feedback::{self as phrases, NoPlan};
use planforge_record::TaskVerdict;

/// The metrics of a plan stage.
const METRICS: [&str; 2] = ["cost", "steps"];

impl StageDefinition for PlanStage {
    fn facts() -> KindFacts {
        KindFacts { judges: true, unbounded_metrics: true, gives_feedback: true, ..KindFacts::PLAIN }
    }

    fn parse(
        checker: &mut StageChecker<'_>,
        table: &mut StageTable<'_, '_>,
        out: &mut Vec<Diagnostic>,
    ) -> (Self, Vec<String>) {
        (check::parse(checker, table, out), METRICS.map(str::to_owned).to_vec())
    }

    fn plugin(&self) -> Option<PluginUse<'_>> {
        Some(PluginUse { stage: &self.label, id: &self.plugin, options: &self.options, roles: &self.roles })
    }

    fn feedback_labels(&self) -> &[String] {
        &self.feedback
    }

    fn writes(&self) -> Option<Writes> {
        self.rewrites().then_some(Writes::Plan)
    }

    fn makes_children(&self) -> bool {
        Self::makes_children(self)
    }

    fn decides(&self) -> bool {
        true
    }

    fn misplaced_before_writer(&self) -> Option<&'static str> {
        let why =
            "a plan stage with `n` or `feedback` makes candidates of its own before the stage that writes";
        Self::makes_children(self).then_some(why)
    }

    fn bound(&self, walk: &mut BoundWalk<'_>, beam: BeamBound, times: u64) -> BeamBound {
        let makes_children = Self::makes_children(self);
        let n = if makes_children { u64::from(self.n) } else { 1 };
        // Each plan is a call of its own.
        let calls = BeamBound { width: beam.width.saturating_mul(n), ..beam };
        if let Some(plugin) = self.plugin() {
            walk.calls(&plugin, 1, calls, times);
        }
        walk.made.insert(self.label.clone(), calls.width);
        BeamBound { width: calls.width, before: beam.before + u64::from(makes_children) }
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

    fn objection(&self, entry: &Entry) -> Option<TaskVerdict> {
        let stage = self.label.clone();
        let message = match entry.outcome(&stage) {
            Some(StageOutcome::Planned(outcome)) => return objection_of(outcome, stage),
            Some(StageOutcome::Missing(Some(why))) => why.clone(),
            _ => "it was not planned for".to_owned(),
        };
        Some(TaskVerdict::Undecided { stage, message })
    }

    /// A planner has only the candidate's own texts, so nothing of it depends on the environment.
    fn feedback(&self, entry: &Entry, _shown: &Candidate) -> Vec<String> {
        entry.plan_outcome(&self.label).and_then(explain_missing_plan).into_iter().collect()
    }
}

fn objection_of(outcome: &PlanOutcome, stage: String) -> Option<TaskVerdict> {
    // Warnings and advice may come before the error that decides.
    let first = |diagnostics: &[ReportedDiagnostic], other: &str| {
        let error = diagnostics.iter().find(|d| d.severity == ReportedSeverity::Error);
        error.or(diagnostics.first()).map_or_else(|| other.to_owned(), |d| d.message.clone())
    };
    Some(match outcome {
        PlanOutcome::Plan { .. } => return None,
        PlanOutcome::ProvenUnsolvable { explanation, .. } => {
            TaskVerdict::Unsolvable { stage, message: explanation.join("; ") }
        }
        PlanOutcome::Exhausted { explanation, .. } => {
            let why =
                if explanation.is_empty() { "no plan was found".to_owned() } else { explanation.join("; ") };
            TaskVerdict::Undecided { stage, message: why }
        }
        PlanOutcome::LimitReached { message, .. } => {
            TaskVerdict::Undecided { stage, message: message.clone() }
        }
        PlanOutcome::Unsupported { diagnostics } => TaskVerdict::Undecided {
            stage,
            message: first(diagnostics, "the planner does not support this task"),
        },
        // The planner shows where the candidate's text is wrong: that is a judgement about the candidate.
        PlanOutcome::Unreadable { diagnostics } => {
            TaskVerdict::Rejected { stage, message: first(diagnostics, "the planner cannot read this task") }
        }
    })
}

/// Explains to a model why there is no plan; none where there is one.
fn explain_missing_plan(outcome: &PlanOutcome) -> Option<String> {
    let clauses = |explanation: &[String]| -> Vec<_> {
        explanation.iter().map(|clause| (clause.clone(), None)).collect()
    };
    Some(match outcome {
        PlanOutcome::Plan { .. } => return None,
        PlanOutcome::ProvenUnsolvable { explanation, .. } => match explanation.is_empty() {
            true => phrases::no_plan(NoPlan::Proven, &[]),
            false => phrases::no_plan(NoPlan::Unreachable, &clauses(explanation)),
        },
        PlanOutcome::Exhausted { explanation, .. } => {
            phrases::no_plan(NoPlan::Exhausted, &clauses(explanation))
        }
        PlanOutcome::LimitReached { message, .. } => phrases::no_plan(NoPlan::Limit(message), &[]),
        PlanOutcome::Unsupported { diagnostics } => {
            let constructs: Vec<&str> = diagnostics.iter().map(|d| d.message.as_str()).collect();
            phrases::no_plan(NoPlan::Unsupported(&constructs.join("; ")), &[])
        }
        PlanOutcome::Unreadable { diagnostics } => {
            phrases::lines("The planner cannot read the domain and the problem.".to_owned(), diagnostics)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use planforge_contract::{LimitKind, PlanDocument, SearchStatistics};
    use planforge_diagnostics::SourceMap;

    #[test]
    fn an_unreadable_text_is_rejected_with_its_first_error() {
        let finding = |severity: fn(&'static str, &'static str) -> Diagnostic, message| {
            ReportedDiagnostic::of(&severity("x.y", message), &SourceMap::default())
        };
        let diagnostics = vec![
            finding(Diagnostic::advice, "a requirement is not needed"),
            finding(Diagnostic::warning, "a predicate is never used"),
            finding(Diagnostic::error, "no type `place` is declared"),
        ];
        let rejected = objection_of(&PlanOutcome::Unreadable { diagnostics }, "plan".to_owned());
        let message = "no type `place` is declared".to_owned();
        assert_eq!(rejected, Some(TaskVerdict::Rejected { stage: "plan".to_owned(), message }));
    }

    #[test]
    fn every_outcome_without_a_plan_is_told_and_none_as_another() {
        let statistics = SearchStatistics::default;
        let why = || vec!["(lit c) can never hold".to_owned()];
        let outcomes = [
            PlanOutcome::ProvenUnsolvable { explanation: why(), statistics: statistics() },
            PlanOutcome::ProvenUnsolvable { explanation: Vec::new(), statistics: statistics() },
            PlanOutcome::Exhausted { explanation: why(), statistics: statistics() },
            PlanOutcome::LimitReached {
                limit: LimitKind::Nodes,
                message: "1000 nodes were expanded".into(),
                plans: Vec::new(),
                statistics: statistics(),
            },
            PlanOutcome::Unsupported { diagnostics: Vec::new() },
            PlanOutcome::Unreadable { diagnostics: Vec::new() },
        ];
        let told: Vec<String> =
            outcomes.iter().map(|outcome| explain_missing_plan(outcome).unwrap()).collect();
        assert!(
            told[0].contains("this is proven") && told[0].contains("(lit c) can never hold."),
            "{told:#?}"
        );
        assert!(told[1].contains("Every state"), "{told:#?}");
        assert!(told[2].contains("proves nothing") && told[2].contains("(lit c)"), "{told:#?}");
        assert!(told[3].contains("1000 nodes"), "{told:#?}");
        let distinct: std::collections::BTreeSet<&String> = told.iter().collect();
        assert_eq!(distinct.len(), told.len(), "{told:#?}");
        let plans = vec![PlanDocument::default()];
        assert_eq!(
            explain_missing_plan(&PlanOutcome::Plan { plans, optimal: false, statistics: statistics() }),
            None
        );
    }
}
