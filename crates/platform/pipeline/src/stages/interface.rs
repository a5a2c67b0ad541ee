//! What the kinds of stages and the runner see of each other: the trait of a kind, the runner as a stage at work sees it, and the
//! verdicts that results give.

use super::bound::{BeamBound, BoundWalk};
use super::checker::{StageChecker, StageTable};
use super::{Stage, all_stages};
use crate::beam::{Entry, StageOutcome, call_path, candidate_path, label_in_round};
use crate::calls::{PluginCall, PluginUse, RunContext, TaskRun};
use crate::reader::Node;
use crate::report::{BudgetReport, FailedSample, RunState, StageReport};
use crate::services::RunTask;
use crate::suite::Suite;
use planforge_contract::{
    Candidate, CandidatePatch, Decision, Failure, FailureClass, PluginInfo, UndecidedReason,
};
use planforge_diagnostics::{Diagnostic, SourceId};
use planforge_pddl::read_task;
use planforge_planning::{CountingLimits, ValidationDecision, parse_plan, validate};
use planforge_plugin_sdk::feedback as phrases;
use planforge_record::{Event, TaskVerdict};
use std::collections::BTreeMap;

/// Facts about a kind that the checks of other stages depend on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KindFacts {
    /// The table must have a `label`.
    pub(crate) needs_label: bool,
    /// The stage judges candidates: it has metrics, and can be a judge of a budget stage.
    pub(crate) judges: bool,
    /// Its metrics are not between 0 and 1.
    pub(crate) unbounded_metrics: bool,
    /// Other stages can name it in `feedback`.
    pub(crate) gives_feedback: bool,
    /// Select stages can group by its samples.
    pub(crate) groups: bool,
    /// Keys of the lists of stages inside.
    pub(crate) lists: &'static [&'static str],
    /// Advice on where to put the stage, for a kind that may not stand inside another stage.
    pub(crate) outside_rounds: Option<&'static str>,
}

impl KindFacts {
    /// A kind that other stages cannot refer to.
    pub(crate) const PLAIN: Self = Self {
        needs_label: true,
        judges: false,
        unbounded_metrics: false,
        gives_feedback: false,
        groups: false,
        lists: &[],
        outside_rounds: None,
    };
}

/// The artefacts that a stage writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Writes {
    /// Domain or problem.
    Candidate,
    /// The plan.
    Plan,
}

/// One kind of stage. It is implemented by the kind's table.
pub(crate) trait StageDefinition {
    /// Facts about the kind.
    fn facts() -> KindFacts
    where
        Self: Sized;

    /// Reads and checks a table. Returns the stage and the names of its metrics.
    fn parse(
        checker: &mut StageChecker<'_>,
        table: &mut StageTable<'_, '_>,
        out: &mut Vec<Diagnostic>,
    ) -> (Self, Vec<String>)
    where
        Self: Sized;

    /// Checks the stages of a file together. `items` are their tables, those that could not be read included.
    fn check_file(_stages: &[Stage], _items: &[Node], _out: &mut Vec<Diagnostic>)
    where
        Self: Sized,
    {
    }

    /// Checks the suites of a run.
    fn check_suites(&self, _suites: &[Suite]) -> Vec<Diagnostic> {
        Vec::new()
    }

    /// The plugin that the stage itself calls.
    fn plugin(&self) -> Option<PluginUse<'_>> {
        None
    }

    /// All stages inside, in the order in which they run. Judges stand behind everything that writes.
    fn inner(&self) -> Vec<&Stage> {
        Vec::new()
    }

    /// The stages inside that judge: those of a round, or the judges of a budget stage.
    fn inner_judges(&self) -> &[Stage] {
        &[]
    }

    /// Labels of the stages whose feedback it passes on.
    fn feedback_labels(&self) -> &[String] {
        &[]
    }

    /// The artefacts that it writes as the writer of a round.
    fn writes(&self) -> Option<Writes> {
        None
    }

    /// True if it makes new candidates.
    fn makes_children(&self) -> bool {
        false
    }

    /// True if the verdict on a candidate depends on its result.
    fn decides(&self) -> bool {
        false
    }

    /// The reason why it may not stand before the writer of a round.
    fn misplaced_before_writer(&self) -> Option<&'static str> {
        None
    }

    /// Adds the most requests of `times` runs over a beam to the walk. Returns the beam after it.
    fn bound(&self, _walk: &mut BoundWalk<'_>, beam: BeamBound, _times: u64) -> BeamBound {
        beam
    }

    /// Runs it over a beam. Inside a refine or budget stage `round` is the number of the round or pull, from 1; it is part of every path.
    fn run(
        &self,
        context: &StageContext<'_>,
        round: Option<u32>,
        beam: Vec<Entry>,
    ) -> Result<StageResult, Failure>;

    /// The decision on when tasks start, for a kind that makes it.
    fn task_starts(&self) -> Option<&dyn TaskStarts> {
        None
    }

    /// True if it must wait for all candidates of the beam.
    fn needs_whole_beam(&self, _run: &RunContext<'_>) -> bool {
        false
    }

    /// The verdict that it has against a candidate; none if it accepts it. Called only where it [decides](Self::decides) and did not fail.
    fn objection(&self, _entry: &Entry) -> Option<TaskVerdict> {
        None
    }

    /// True if an unusable reply of its model is an answer about the candidate.
    fn unusable_reply_is_answer(&self) -> bool {
        false
    }

    /// True if it rejected the candidate, so that planners need not be asked about it.
    fn rejects(&self, _entry: &Entry) -> bool {
        false
    }

    /// Its feedback on a candidate. `shown` is the candidate as plugins that ask models may see it.
    fn feedback(&self, _entry: &Entry, _shown: &Candidate) -> Vec<String> {
        Vec::new()
    }
}

/// The result of a stage.
#[derive(Default)]
pub(crate) struct StageResult {
    pub(crate) beam: Vec<Entry>,
    pub(crate) outcomes: BTreeMap<String, usize>,
    pub(crate) failed: Vec<FailedSample>,
    /// Number of groups of a select stage by the metric that they were compared by.
    pub(crate) compared: BTreeMap<String, usize>,
    /// A call was interrupted: the task has no verdict in this session.
    pub(crate) interrupted: bool,
    /// A candidate waits for a deferred reply.
    pub(crate) parked: bool,
    /// Reports of the stages inside a refine or budget stage, all candidates and rounds together.
    pub(crate) inner: Vec<StageReport>,
    /// The report of a budget stage.
    pub(crate) budget: Option<BudgetReport>,
}

impl StageResult {
    pub(crate) fn count(&mut self, outcome: &str) {
        *self.outcomes.entry(outcome.to_owned()).or_insert(0) += 1;
    }

    /// Records a broken call. Returns true if the call was only deferred or interrupted, which means nothing
    /// for the candidate.
    pub(crate) fn broke(
        &mut self,
        context: &StageContext<'_>,
        path: String,
        failure: &Failure,
    ) -> Result<bool, Failure> {
        if failure.is_deferred() {
            self.parked = true;
            return Ok(true);
        }
        // Whatever breaks once the run is being interrupted may have broken because of that.
        if failure.class == FailureClass::Cancelled || context.run.stopping() {
            self.interrupted = true;
            return Ok(true);
        }
        context.run.recorder.event(Event::SampleFailed {
            task: context.name().to_owned(),
            path: path.clone(),
            failure: failure.clone(),
        })?;
        self.count("failed");
        self.failed.push(FailedSample { path, failure: failure.clone() });
        Ok(false)
    }
}

/// The failure for a stage without a plugin instance, which is a mistake of the caller of [`crate::run()`].
pub(crate) fn no_instance(label: &str) -> Failure {
    Failure::new(
        FailureClass::Request,
        "pipeline.no-instance",
        format!("stage `{label}` has no plugin instance of its kind"),
    )
}

/// The start of a task after the lead of its group.
#[derive(Clone)]
pub(crate) enum Start {
    /// A child of each of these.
    From(Vec<Entry>),
    /// It ends with this verdict.
    Ended(TaskVerdict),
    /// It does not start in this session: the lead task was interrupted or waits for replies.
    Waits(RunState),
}

/// Decides when tasks start: the first task of a group runs alone up to the stage, and the others start from its result.
pub(crate) trait TaskStarts: Sync {
    /// The indices of the tasks in groups, the lead first in each.
    fn groups(&self, tasks: &[RunTask]) -> Vec<Vec<usize>>;

    /// The start of the other tasks of a group from the candidates of its lead.
    fn start_from(&self, lead: &RunTask, beam: &[Entry]) -> Start;

    /// The start of the other tasks of a group if the lead has ended.
    fn start_without(&self, lead: &RunTask, verdict: Option<&TaskVerdict>, state: RunState) -> Start;
}

/// A task of a run as its stages see it.
pub(crate) struct StageContext<'a> {
    pub(crate) run: &'a RunContext<'a>,
    pub(crate) task: TaskRun<'a>,
    /// The stages of the pipeline, without those inside others.
    stages: &'a [Stage],
}

impl<'a> StageContext<'a> {
    pub(crate) fn new(run: &'a RunContext<'a>, stages: &'a [Stage], task: &'a RunTask) -> Self {
        Self { run, task: TaskRun::new(task), stages }
    }

    /// The same task with its own usage. Both share the replies and the moves between tables.
    pub(crate) fn with_own_usage(&self) -> Self {
        Self { run: self.run, task: self.task.with_own_usage(), stages: self.stages }
    }

    /// The task's name in the record.
    pub(crate) fn name(&self) -> &'a str {
        &self.task.task.name
    }

    /// The path of a stage's call on a candidate.
    pub(crate) fn path_of(&self, stage: &str, entry: &Entry) -> String {
        call_path(self.name(), stage, &entry.candidate.lineage)
    }

    /// The path of a candidate in the record.
    pub(crate) fn candidate_path(&self, entry: &Entry) -> String {
        candidate_path(self.name(), &entry.candidate.lineage)
    }

    /// A call of a stage's plugin.
    pub(crate) fn call<'c>(&'c self, info: &'c PluginInfo, stage: &'c str, path: String) -> PluginCall<'c> {
        PluginCall::new(self.run, &self.task, info, stage, path)
    }

    /// Runs a stage over a beam. Inside a refine or budget stage `round` counts from 1; it is part of every path.
    pub(crate) fn run_stage(
        &self,
        stage: &Stage,
        round: Option<u32>,
        beam: Vec<Entry>,
    ) -> Result<StageResult, Failure> {
        self.run.recorder.event(Event::StageStarted {
            task: self.name().to_owned(),
            stage: label_in_round(stage.label(), round),
            candidates: u32::try_from(beam.len()).unwrap_or(u32::MAX),
        })?;
        stage.definition().run(self, round, beam)
    }

    /// Records that a candidate was made by a patch.
    pub(crate) fn record_candidate(&self, entry: &Entry, patch: &CandidatePatch) -> Result<(), Failure> {
        let recorder = &self.run.recorder;
        recorder.event(Event::CandidateMade {
            task: self.name().to_owned(),
            path: self.candidate_path(entry),
            candidate: recorder.blob(&entry.candidate)?,
            patch: recorder.blob(patch)?,
        })
    }

    /// The feedback of the stages with these labels on the candidate, in that order.
    pub(crate) fn feedback<'l>(
        &self,
        labels: impl IntoIterator<Item = &'l String>,
        entry: &Entry,
    ) -> Vec<String> {
        let mut labels = labels.into_iter().peekable();
        if labels.peek().is_none() {
            return Vec::new();
        }
        let candidate = self.run.visible_candidate(entry);
        let stage = |label: &String| self.all_stages().find(|stage| stage.label() == label);
        labels.filter_map(stage).flat_map(|stage| stage.definition().feedback(entry, &candidate)).collect()
    }

    /// As [`Self::feedback`], for a stage that writes: with the reasons why the last replies could not be used.
    pub(crate) fn writer_feedback<'l>(
        &self,
        labels: impl IntoIterator<Item = &'l String>,
        entry: &Entry,
    ) -> Vec<String> {
        let mut feedback = self.feedback(labels, entry);
        if !entry.unusable.is_empty() {
            feedback.push(phrases::unusable(&entry.unusable));
        }
        feedback
    }

    /// The stages of the pipeline, each refine and budget stage followed by the stages inside of it.
    pub(crate) fn all_stages(&self) -> impl Iterator<Item = &'a Stage> {
        all_stages(self.stages)
    }

    /// The refine or budget stage that contains the stage with that label.
    pub(crate) fn around(&self, label: &str) -> Option<&'a Stage> {
        self.stages.iter().find(|stage| stage.inner().any(|inner| inner.label() == label))
    }

    /// The verdict on a candidate after all stages. A candidate to which no stage objects is not accepted if a deciding stage was skipped, or if the
    /// task has no reference and no environment accepted it.
    pub(crate) fn verdict(&self, entry: &Entry) -> TaskVerdict {
        let mut verdict = verdict_of(self.all_stages(), entry);
        let is_undecided = matches!(verdict, TaskVerdict::Undecided { .. });
        if !is_undecided && verdict != TaskVerdict::Accepted {
            return verdict;
        }
        let reference = &self.task.task.reference;
        let exists = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.trim().is_empty());
        let has_reference = exists(&reference.domain) && exists(&reference.problem);
        let decides =
            |stage: &&Stage| stage.definition().decides() && entry.has_current_result(stage.label());
        let by_environment = |stage: &Stage| entry.is_from_environment(stage.label());
        let is_judged = has_reference || self.all_stages().filter(decides).any(by_environment);
        if is_judged && !self.all_stages().filter(decides).any(|stage| is_skipped(stage, entry)) {
            return verdict;
        }
        // Without a problem, for example, there is no plan to judge: that is no doubt about the domain.
        if is_undecided && !entry.written.is_empty() {
            verdict = verdict_of(self.all_stages().filter(|stage| !lacks_input(stage, entry)), entry);
        }
        if verdict != TaskVerdict::Accepted {
            return verdict;
        }
        let skipped = self.all_stages().filter(|stage| is_skipped(stage, entry));
        let not_judged: Vec<String> = skipped.map(|stage| stage.label().to_owned()).collect();
        match has_valid_plan(&entry.candidate) {
            true => TaskVerdict::Planned { not_judged },
            false => TaskVerdict::Written { not_judged },
        }
    }

    /// True if the method itself accepts a candidate: at least one verify stage accepted it, and no stage objects. Stages that measure do
    /// not count. Assessments that depend on the environment count only with `feedback = "environment"`, which makes the environment
    /// part of the method. So the reference never chooses.
    pub(crate) fn is_accepted_by_method(&self, entry: &Entry) -> bool {
        let environment = self.run.environment_feedback;
        let counts = |stage: &&Stage| {
            let label = stage.label();
            stage.definition().decides()
                && entry.has_current_result(label)
                && (environment || !entry.is_from_environment(label))
        };
        let mut accepted = false;
        self.all_stages().filter(counts).all(|stage| {
            accepted |= matches!(entry.outcome(stage.label()), Some(StageOutcome::Assessed { .. }));
            objection(stage, entry).is_none()
        }) && accepted
    }

    /// The place of a candidate among those that are left at the end, the best first, chosen without the reference: by the place that the
    /// last select or budget stage gave it, then by the verdict of the method's own stages. Assessments that depend on the
    /// environment count only if they were made inside a refine or budget stage with `feedback = "environment"`.
    pub(crate) fn place_at_end(&self, entry: &Entry) -> (usize, u8) {
        let environment = self.run.environment_feedback;
        let is_own = |stage: &&Stage| {
            let label = stage.label();
            !entry.is_from_environment(label) || (environment && self.around(label).is_some())
        };
        (entry.place, rank(&verdict_of(self.all_stages().filter(is_own), entry)))
    }

    /// True if a stage, except those, rejected the candidate as it is now.
    pub(crate) fn is_rejected(&self, entry: &Entry, except: impl Fn(&Stage) -> bool) -> bool {
        let rejects =
            |stage: &Stage| entry.has_current_result(stage.label()) && stage.definition().rejects(entry);
        self.all_stages().any(|stage| rejects(stage) && !except(stage))
    }
}

/// The place of a verdict in the order by which the best candidate is chosen, the best first.
pub(crate) const fn rank(verdict: &TaskVerdict) -> u8 {
    match verdict {
        TaskVerdict::Accepted | TaskVerdict::Planned { .. } | TaskVerdict::Written { .. } => 0,
        TaskVerdict::Rejected { .. } => 1,
        TaskVerdict::Unsolvable { .. } => 2,
        TaskVerdict::Undecided { .. } => 3,
        TaskVerdict::Unusable { .. } => 4,
        TaskVerdict::Failed { .. } => 5,
    }
}

/// The verdict on a candidate after these stages, by their results about its current versions: a rejection by any stage counts first, then
/// a proof that there is no plan, then the first stage that did not accept.
pub(crate) fn verdict_of<'a>(stages: impl IntoIterator<Item = &'a Stage>, entry: &Entry) -> TaskVerdict {
    let current = stages.into_iter().filter(|stage| entry.has_current_result(stage.label()));
    let found: Vec<TaskVerdict> = current.filter_map(|stage| objection(stage, entry)).collect();
    let first = |wanted: u8| found.iter().find(|verdict| rank(verdict) == wanted);
    first(1).or_else(|| first(2)).or_else(|| found.first()).cloned().unwrap_or(TaskVerdict::Accepted)
}

/// True if the stage was skipped, because the task has no reference.
pub(crate) fn is_skipped(stage: &Stage, entry: &Entry) -> bool {
    matches!(entry.outcome(stage.label()), Some(StageOutcome::NotJudged))
}

/// False if all stages that decide were skipped, so that nothing judged the candidate.
pub(crate) fn has_judge<'a>(stages: impl IntoIterator<Item = &'a Stage>, entry: &Entry) -> bool {
    let deciding = stages.into_iter().filter(|stage| stage.definition().decides());
    let skipped: Vec<bool> = deciding.map(|stage| is_skipped(stage, entry)).collect();
    skipped.is_empty() || skipped.contains(&false)
}

/// True if the stage had nothing to judge: the candidate has no problem, or no plan.
fn lacks_input(stage: &Stage, entry: &Entry) -> bool {
    let Candidate { problem, plan, .. } = &entry.candidate;
    let is_complete = problem.is_some() && plan.as_ref().is_some_and(|plan| plan.best().is_some());
    match entry.outcome(stage.label()) {
        Some(StageOutcome::NothingToPlan(_)) => true,
        Some(StageOutcome::Assessed { .. }) if !is_complete => {
            let assessment = entry.candidate.assessments.get(stage.label());
            let decision = assessment.map(|assessment| &assessment.decision);
            matches!(decision, Some(Decision::Undecided { reason: UndecidedReason::MissingInput, .. }))
        }
        _ => false,
    }
}

/// Limits on executing a plan once. They count, so that a replay has the same verdict.
const PLAN_CHECK: CountingLimits = CountingLimits { polls: 10_000_000, bytes: 1 << 30 };

/// True if the candidate has a plan, and the plan is valid in the candidate's own PDDL.
fn has_valid_plan(candidate: &Candidate) -> bool {
    let Candidate { domain: Some(domain), problem: Some(problem), plan: Some(plan), .. } = candidate else {
        return false;
    };
    let (Some(plan), Ok((domain, problem))) = (plan.best(), read_task(domain, problem)) else { return false };
    let plan = parse_plan(&plan.to_ipc(), SourceId(2));
    let report = validate(&domain, &problem, &plan, &mut PLAN_CHECK.clone());
    report.is_ok_and(|report| report.decision == ValidationDecision::Valid)
}

/// The verdict of one stage against a candidate; none if it accepts it or does not decide.
pub(crate) fn objection(stage: &Stage, entry: &Entry) -> Option<TaskVerdict> {
    let definition = stage.definition();
    if !definition.decides() {
        return None;
    }
    match entry.outcome(stage.label()) {
        Some(StageOutcome::Failed(failure)) => {
            let (label, failure) = (stage.label().to_owned(), failure.clone());
            let is_answer = failure.class == FailureClass::Reply && definition.unusable_reply_is_answer();
            Some(match is_answer {
                true => TaskVerdict::Unusable { stage: label, failure },
                false => TaskVerdict::Failed { stage: label, failure },
            })
        }
        _ => definition.objection(entry),
    }
}
