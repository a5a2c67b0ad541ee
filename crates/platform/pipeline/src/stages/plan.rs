//! `do = "plan"`: asks a planner for a plan of each candidate.

use super::Stage;
use super::bound::{BeamBound, BoundWalk};
use super::checker::{StageChecker, StageTable, small};
use super::interface::{KindFacts, StageContext, StageDefinition, StageResult, Writes, no_instance};
use crate::beam::{Entry, StageOutcome, call_path, candidate_path, label_in_round};
use crate::calls::{PluginUse, cancelled_failure};
use crate::plugins::{check_feedback_is_used, read_options, read_plugin};
use crate::reader::TableReader;
use crate::services::StageInstance;
use planforge_contract::{
    Candidate, CandidatePatch, Failure, JsonObject, LineageStep, PlanLimits, PlanOutcome, PlanRequest,
    PluginKind, ReportedDiagnostic, ReportedSeverity,
};
use planforge_diagnostics::Diagnostic;
use planforge_llm::{RoleModels, derive_u64};
use planforge_plugin_sdk::feedback::{self as phrases, NoPlan};
use planforge_record::{Event, TaskVerdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `do = "plan"`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanStage {
    /// The stage's name, unique in the file.
    #[schemars(regex(pattern = "^[a-z][a-z0-9_-]{0,63}$"))]
    pub label: String,
    /// The id of a planner plugin.
    #[serde(rename = "use")]
    pub plugin: String,
    /// Role -> who takes it: the name of an `[llm.NAME]` table, names in an order, or names with weights.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub roles: BTreeMap<String, RoleModels>,
    #[serde(default, skip_serializing_if = "JsonObject::is_empty")]
    pub options: JsonObject,
    /// Limits of the search for one candidate.
    #[serde(default)]
    pub limits: PlanStageLimits,
    /// Plans for rejected candidates too.
    #[serde(default)]
    pub plan_rejected: bool,
    /// Number of plans of each candidate. With more than one, each is a child of its own; one whose planner
    /// breaks is left out.
    #[serde(default = "crate::stages::one", skip_serializing_if = "crate::stages::is_one")]
    #[schemars(range(min = 1, max = 1000))]
    pub n: u32,
    /// Labels of the stages whose feedback the planner gets, as in a translate stage. The planner then also
    /// gets the candidate's current plan and rewrites it: the new plan is a child, and results about the old
    /// one do not count for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub feedback: Vec<String>,
}

impl Default for PlanStage {
    fn default() -> Self {
        Self {
            label: String::new(),
            plugin: String::new(),
            roles: BTreeMap::new(),
            options: JsonObject::new(),
            limits: PlanStageLimits::default(),
            plan_rejected: false,
            n: 1,
            feedback: Vec::new(),
        }
    }
}

impl PlanStage {
    /// True if its plans are children of the candidate; else the plan is added to the candidate itself.
    pub fn makes_children(&self) -> bool {
        self.n > 1 || self.rewrites()
    }
    /// True if it rewrites the candidate's plan.
    pub fn rewrites(&self) -> bool {
        !self.feedback.is_empty()
    }
}

/// Limits of one planner call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PlanStageLimits {
    /// Seconds of wall time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.001, max = 1000000.0))]
    pub time_s: Option<f64>,
    /// Megabytes (of 1024 * 1024 bytes) of memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 16_777_216))]
    pub memory_mb: Option<u64>,
    /// Expanded nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub nodes: Option<u64>,
}

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
        let StageTable { reader, label, .. } = table;
        let (plugin, info) = read_plugin(reader, PluginKind::Planner, checker.catalogue, out);
        let options = read_options(reader, info.as_ref(), checker.catalogue, out);
        let roles = checker.read_roles(reader, (info.as_ref(), &options), out);
        let stage = PlanStage {
            label: label.value.clone(),
            plugin,
            roles,
            options,
            limits: plan_limits(reader, out),
            plan_rejected: reader.boolean("plan_rejected", out).unwrap_or(false),
            n: small(reader.integer("n", 1..=1000, out), 1),
            feedback: checker.read_feedback(reader, out),
        };
        check_feedback_is_used(reader, info.as_ref(), &stage.feedback, out);
        checker.note_writer(&label.value, &stage.roles);
        (stage, METRICS.map(str::to_owned).to_vec())
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
        context: &StageContext<'_>,
        round: Option<u32>,
        beam: Vec<Entry>,
    ) -> Result<StageResult, Failure> {
        let label = label_in_round(&self.label, round);
        let planning = Planning { context, stage: self, round, label };
        if self.makes_children() { planning.children(beam) } else { planning.same(beam) }
    }

    fn objection(&self, entry: &Entry) -> Option<TaskVerdict> {
        let stage = self.label.clone();
        let message = match entry.outcome(&stage) {
            Some(StageOutcome::Planned(outcome)) => return objection_of(outcome, stage),
            Some(StageOutcome::Missing(Some(why)) | StageOutcome::NothingToPlan(why)) => why.clone(),
            _ => "it was not planned for".to_owned(),
        };
        Some(TaskVerdict::Undecided { stage, message })
    }

    /// A model that plans has answered; a critic's unusable reply says nothing about the candidate.
    fn unusable_reply_is_answer(&self) -> bool {
        true
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

fn plan_limits(reader: &mut TableReader<'_>, out: &mut Vec<Diagnostic>) -> PlanStageLimits {
    let Some((table, node)) = reader.table("limits", out) else { return PlanStageLimits::default() };
    let mut inner = TableReader::new(table, node.place, format!("`limits` of {}", reader.what));
    let limits = PlanStageLimits {
        time_s: inner.number("time_s", 0.001..=1e6, out),
        memory_mb: inner.integer("memory_mb", 1..=16_777_216, out),
        nodes: inner.integer("nodes", 1..=i64::MAX, out),
    };
    inner.finish("pipeline.unknown-stage-key", out);
    limits
}

/// The result of one request to a planner.
enum PlannerResult {
    Outcome(PlanOutcome),
    Skipped,
    Unasked(String),
    Broke(Failure),
}

/// A plan stage at work.
struct Planning<'a> {
    context: &'a StageContext<'a>,
    stage: &'a PlanStage,
    round: Option<u32>,
    /// The stage's label in paths.
    label: String,
}

impl Planning<'_> {
    /// The plan is added to the candidate.
    fn same(&self, beam: Vec<Entry>) -> Result<StageResult, Failure> {
        let results = self.context.run.pool.map(&beam, |entry| {
            self.skip_reason(entry).unwrap_or_else(|| self.ask(entry, &entry.candidate.lineage))
        });
        let mut step = StageResult::default();
        for (mut entry, planned) in beam.into_iter().zip(results) {
            match planned {
                PlannerResult::Outcome(outcome) => {
                    self.record_plan(&mut entry, outcome, &mut step)?;
                }
                PlannerResult::Broke(failure) => {
                    let path = self.context.path_of(&self.label, &entry);
                    if step.broke(self.context, path, &failure)? {
                        continue;
                    }
                    entry.record(&self.stage.label, StageOutcome::Failed(failure));
                }
                unasked => self.record_skip(&mut entry, unasked, &mut step),
            }
            step.beam.push(entry);
        }
        Ok(step)
    }

    /// Each plan is a child of the candidate. A sample that breaks is in the record and not in the beam, as in translate stages.
    fn children(&self, beam: Vec<Entry>) -> Result<StageResult, Failure> {
        let unasked: Vec<Option<PlannerResult>> = beam.iter().map(|entry| self.skip_reason(entry)).collect();
        let samples = |(index, unasked): (usize, &Option<PlannerResult>)| {
            let n = if unasked.is_some() { 0 } else { self.stage.n };
            (0..n).map(move |sample| (index, sample))
        };
        let questions: Vec<(usize, u32)> = unasked.iter().enumerate().flat_map(samples).collect();
        let lineage = |entry: &Entry, sample: u32| {
            let mut lineage = entry.candidate.lineage.clone();
            lineage.push(LineageStep { stage: self.label.clone(), sample });
            lineage
        };
        let results = self.context.run.pool.map(&questions, |(index, sample)| match beam.get(*index) {
            Some(entry) => self.ask(entry, &lineage(entry, *sample)),
            None => PlannerResult::Skipped,
        });
        let mut results = questions.iter().zip(results).peekable();
        let mut step = StageResult::default();
        for (index, (parent, unasked)) in beam.into_iter().zip(unasked).enumerate() {
            if let Some(unasked) = unasked {
                let mut entry = parent;
                self.record_skip(&mut entry, unasked, &mut step);
                step.beam.push(entry);
                continue;
            }
            while let Some(((_, sample), planned)) = results.next_if(|((of, _), _)| *of == index) {
                let lineage = lineage(&parent, *sample);
                match planned {
                    PlannerResult::Outcome(outcome) => {
                        let mut child = self.child(&parent, lineage);
                        child.candidate.plan = Some(outcome.clone());
                        self.context.record_candidate(&child, &CandidatePatch::default())?;
                        self.record_plan(&mut child, outcome, &mut step)?;
                        step.beam.push(child);
                    }
                    PlannerResult::Broke(failure) => {
                        let path = candidate_path(self.context.name(), &lineage);
                        let _ = step.broke(self.context, path, &failure)?;
                    }
                    PlannerResult::Skipped | PlannerResult::Unasked(_) => {}
                }
            }
        }
        Ok(step)
    }

    /// The reason for not asking the planner about a candidate; none if it is asked.
    fn skip_reason(&self, entry: &Entry) -> Option<PlannerResult> {
        let (info, _) = self.context.run.services.instances.stages.get(&self.stage.label)?;
        if !self.stage.plan_rejected
            && self.context.is_rejected(entry, |stage| self.replaces_result(entry, stage))
        {
            return Some(PlannerResult::Skipped);
        }
        // A planner that asks a model reads the task's text; every other needs the PDDL.
        if !info.roles.is_empty() {
            return None;
        }
        let missing = match (&entry.candidate.domain, &entry.candidate.problem) {
            (Some(_), Some(_)) => return None,
            (None, Some(_)) => "the candidate has no domain",
            (Some(_), None) => "the candidate has no problem",
            (None, None) => "the candidate has neither domain nor problem",
        };
        Some(PlannerResult::Unasked(missing.to_owned()))
    }

    /// One question. The lineage is that of the candidate that has the plan.
    fn ask(&self, entry: &Entry, lineage: &[LineageStep]) -> PlannerResult {
        let (context, stage) = (self.context, self.stage);
        let Some((info, StageInstance::Planner(planner))) =
            context.run.services.instances.stages.get(&stage.label)
        else {
            return PlannerResult::Broke(no_instance(&stage.label));
        };
        if context.run.stopping() {
            return PlannerResult::Broke(cancelled_failure());
        }
        let candidate = &entry.candidate;
        let path = call_path(self.context.name(), &self.label, lineage);
        let mut request = PlanRequest {
            domain: candidate.domain.clone().unwrap_or_default(),
            problem: candidate.problem.clone().unwrap_or_default(),
            limits: limits(stage),
            k: 1,
            seed: derive_u64(context.run.seed, "plan", &path),
            task: self.context.task.view(entry),
            ..PlanRequest::default()
        };
        if stage.rewrites() {
            request.previous = candidate.plan.as_ref().and_then(PlanOutcome::best).cloned();
            request.feedback = context.writer_feedback(&stage.feedback, entry);
        }
        let mut call = context.call(info, &stage.label, path);
        call.asked.push(stage.label.clone());
        match call.ask_planner(planner.as_ref(), &request) {
            Ok(outcome) => PlannerResult::Outcome(outcome),
            Err(failure) => PlannerResult::Broke(failure),
        }
    }

    /// The stages of the round before this one; none where it does not write the plan anew.
    fn before_in_round(&self) -> impl Iterator<Item = &Stage> {
        let around = self.round.and_then(|_| self.context.around(&self.stage.label));
        let inner = around.filter(|_| self.stage.rewrites()).into_iter().flat_map(Stage::inner);
        inner.take_while(|stage| stage.label() != self.stage.label)
    }

    /// True if this stage writes anew what an earlier stage judged: its rejection is a reason to ask the planner.
    fn replaces_result(&self, entry: &Entry, of: &Stage) -> bool {
        let mut before = self.context.all_stages().take_while(|s| s.label() != self.stage.label);
        let judged_plan = entry.is_about_plan(of.label()) && before.any(|stage| stage.label() == of.label());
        self.stage.rewrites()
            && (judged_plan || self.before_in_round().any(|stage| stage.label() == of.label()))
    }

    /// The candidate with another plan.
    fn child(&self, parent: &Entry, lineage: Vec<LineageStep>) -> Entry {
        let mut child = parent.clone();
        child.candidate.lineage = lineage;
        child.unusable.clear();
        if self.stage.rewrites() {
            child.advance_plan();
            // They judged the old plan, even where there was none.
            for stage in self.before_in_round() {
                child.remove_result(stage.label());
            }
        }
        child
    }

    fn record_plan(
        &self,
        entry: &mut Entry,
        outcome: PlanOutcome,
        step: &mut StageResult,
    ) -> Result<(), Failure> {
        self.context.run.recorder.event(Event::Planned {
            task: self.context.name().to_owned(),
            stage: self.stage.label.clone(),
            path: self.context.candidate_path(entry),
            outcome: self.context.run.recorder.blob(&outcome)?,
            name: outcome.name().to_owned(),
        })?;
        step.count(outcome.name());
        entry.add_plan(outcome.clone());
        entry.record(&self.stage.label, StageOutcome::Planned(outcome));
        Ok(())
    }

    /// Notes that the planner was not asked.
    fn record_skip(&self, entry: &mut Entry, unasked: PlannerResult, step: &mut StageResult) {
        let (count, outcome) = match unasked {
            PlannerResult::Unasked(why) => ("missing-input", StageOutcome::NothingToPlan(why)),
            _ => {
                let why = "a verify stage had rejected the candidate".to_owned();
                ("skipped", StageOutcome::Missing(Some(why)))
            }
        };
        step.count(count);
        entry.record(&self.stage.label, outcome);
    }
}

fn limits(stage: &PlanStage) -> PlanLimits {
    let limits = &stage.limits;
    PlanLimits {
        // The checker keeps seconds between a millisecond and a million.
        time_ms: limits.time_s.map(|s| (s * 1000.0).round() as u64),
        memory_bytes: limits.memory_mb.map(|mb| mb.saturating_mul(1 << 20)),
        nodes: limits.nodes,
    }
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
