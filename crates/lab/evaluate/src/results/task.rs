//! The result of one task: its outcome, its answer to one question, its success over samples and rounds, and counts from the run's journal.

use super::judges::Judges;
use crate::history::{History, MadeCandidate, TaskHistory};
use planforge_contract::{Decision, Failure, FailureClass};
use planforge_diagnostics::{Diagnostic, Severity, SourceId};
use planforge_pddl::{TaskSources, check_domain, check_problem, parse_domain, parse_problem};
use planforge_pipeline::{Cost, TaskReport, TaskUsage};
use planforge_planning::walk::harmonic_mean;
use planforge_record::TaskVerdict;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// One task of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskResult {
    /// The task's stem.
    pub task: String,
    /// The outcome.
    pub outcome: TaskOutcome,
    /// The reason why it is not solved, for a person; empty where it is.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// The run's own verdict, in the word of reports; absent where there is none yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// The stage that the verdict comes from; absent where every stage accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    /// Verdicts on all candidates that were left at the end, if there were several: verdict -> number.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub candidates: BTreeMap<String, usize>,
    /// Use of models.
    #[serde(default)]
    pub usage: TaskUsage,
    /// Equality of its problem with the reference problem; absent if no stage compares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<ProblemOutcome>,
    /// Validity of its problem as PDDL; absent if no stage checks it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid: Option<ProblemOutcome>,
    /// True if its plan is a plan of the reference under other names: the problem is the reference under a
    /// renaming, and the plan is right for it. The environment has the reference's names alone and may have
    /// rejected it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub solved_renamed: bool,
    /// Share of the reference's walks that the written model executes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_to_candidate: Option<f64>,
    /// Share of the written model's walks that the reference executes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidate_to_reference: Option<f64>,
    /// Answers about the written domain.
    #[serde(default, skip_serializing_if = "DomainOutcome::is_empty")]
    pub domain: DomainOutcome,
    /// True if its domain was written from another task of the suite.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub held_back: bool,
    /// The plans that were judged, where the run's journal was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plans: Option<PlanTries>,
    /// Success over samples and rounds, where the run's journal was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curve: Option<TaskCurve>,
    /// The known cost; absent if it was not computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// Seconds of its questions to models, one after another, where the run's journal was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// The cost of its valid plan, if the reference asks for the smallest one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_cost: Option<PlanCost>,
    /// The steps of its valid plan without times, a line each, until its cost is computed.
    #[serde(skip)]
    pub(crate) plan: Option<String>,
}

impl TaskResult {
    /// The result of a task that no run has reached.
    pub fn unfinished(task: &str, judges: &Judges) -> Self {
        let unfinished = |label: &Option<String>| label.as_ref().map(|_| ProblemOutcome::Unfinished);
        Self {
            task: task.to_owned(),
            outcome: TaskOutcome::Unfinished,
            why: String::new(),
            verdict: None,
            stage: None,
            candidates: BTreeMap::new(),
            usage: TaskUsage::default(),
            problem: unfinished(&judges.equivalent),
            valid: unfinished(&judges.valid),
            solved_renamed: false,
            reference_to_candidate: None,
            candidate_to_reference: None,
            domain: DomainOutcome {
                val: unfinished(&judges.val),
                front_end: unfinished(&judges.reads),
                walk: unfinished(&judges.walk),
                same: unfinished(&judges.same_domain),
                empty: false,
            },
            held_back: false,
            plans: None,
            curve: None,
            cost: Some(Cost::default()),
            seconds: None,
            plan_cost: None,
            plan: None,
        }
    }

    /// The number of candidates that were left at the end and the number of those that are accepted, if there were several. With an
    /// accepted one the task counts for pass@k.
    pub fn accepted_candidates(&self) -> Option<(usize, usize)> {
        let all = self.candidates.values().sum();
        (all > 0).then(|| (all, self.candidates.get("accepted").copied().unwrap_or(0)))
    }

    /// US dollars for all its requests; absent if a part is unknown.
    pub fn cost_usd(&self) -> Option<f64> {
        self.cost?.usd()
    }
}

/// The cost of a valid plan in the reference.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PlanCost {
    /// The value of the reference's metric after the plan.
    pub cost: f64,
    /// The least cost of a plan that the planner found within its limits; absent if it found none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best: Option<f64>,
    /// True if it is proven that no plan costs less than `best`.
    pub proven: bool,
}

impl PlanCost {
    /// `cost 22, the best is 19`.
    pub fn words(&self) -> String {
        match (self.best, self.proven) {
            (Some(best), true) => format!("cost {}, the best is {best}", self.cost),
            (Some(best), false) => format!("cost {}, the best that was found is {best}", self.cost),
            (None, _) => format!("cost {}, the best is not known", self.cost),
        }
    }

    /// True if no plan costs less; `None` if that is not known.
    pub fn is_best(&self) -> Option<bool> {
        match self.best {
            Some(best) if self.cost > best => Some(false),
            Some(_) if self.proven => Some(true),
            _ => None,
        }
    }
}

pub(super) fn task_result(task: &TaskReport, judges: &Judges) -> TaskResult {
    let (outcome, why) = outcome(task, judges);
    let mut usage = TaskUsage::default();
    task.usage.values().for_each(|model| usage.add(model));
    let directions = walk_directions(task, judges);
    let plan = task.candidate.as_ref().and_then(|candidate| candidate.plan.as_ref()?.best());
    let plan = plan.filter(|plan| outcome == TaskOutcome::Solved && plan.times.is_empty());
    TaskResult {
        task: task.stem.clone(),
        outcome,
        why,
        verdict: task.verdict.as_ref().map(|verdict| verdict.name().to_owned()),
        stage: task.verdict.as_ref().and_then(|verdict| stage_of(verdict).map(str::to_owned)),
        candidates: task.candidates.clone(),
        usage,
        problem: problem(task, judges.equivalent.as_ref()),
        valid: problem(task, judges.valid.as_ref()),
        solved_renamed: [&judges.equivalent, &judges.own_plan]
            .iter()
            .all(|label| problem(task, label.as_ref()) == Some(ProblemOutcome::Equivalent)),
        reference_to_candidate: directions.map(|d| d.0),
        candidate_to_reference: directions.map(|d| d.1),
        domain: domain(task, judges, directions),
        held_back: is_held_back(task, judges),
        plans: None,
        curve: None,
        cost: None,
        seconds: None,
        plan_cost: None,
        plan: plan.map(|plan| plan.steps.join("\n")),
    }
}

fn stage_of(verdict: &TaskVerdict) -> Option<&str> {
    match verdict {
        TaskVerdict::Accepted | TaskVerdict::Planned { .. } | TaskVerdict::Written { .. } => None,
        TaskVerdict::Rejected { stage, .. }
        | TaskVerdict::Unsolvable { stage, .. }
        | TaskVerdict::Undecided { stage, .. }
        | TaskVerdict::Unusable { stage, .. }
        | TaskVerdict::Failed { stage, .. } => Some(stage),
    }
}

/// The answers of the stages about the surviving candidate's domain.
fn domain(task: &TaskReport, judges: &Judges, directions: Option<(f64, f64)>) -> DomainOutcome {
    let yes = |is: bool| if is { ProblemOutcome::Equivalent } else { ProblemOutcome::Different };
    let said = |label: &Option<String>| {
        task.candidate.as_ref().and_then(|candidate| candidate.assessments.get(label.as_ref()?))
    };
    let known = |outcome: Option<ProblemOutcome>, by_metric: Option<bool>| {
        // A stage that judges otherwise (a threshold, VAL in the own reader's place) has the figure among its metrics.
        outcome.map(|outcome| by_metric.filter(|_| task.verdict.is_some()).map_or(outcome, yes))
    };
    let own = said(&judges.reads).and_then(|assessment| {
        let metric = |name: &str| assessment.metrics.get(name).copied();
        metric("front_end_accepts")
            .map(|accepts| accepts > 0.5)
            .or(metric("errors").map(|errors| errors < 0.5))
    });
    let (val, front_end) =
        (problem(task, judges.val.as_ref()), known(problem(task, judges.reads.as_ref()), own));
    let accepted = || [val, front_end].contains(&Some(ProblemOutcome::Equivalent));
    let said_empty = [&judges.val, &judges.reads]
        .into_iter()
        .filter_map(said)
        .any(|assessment| assessment.metrics.get("empty").is_some_and(|empty| *empty > 0.5));
    // A recorded answer of VAL may be older than the metric, so the text decides too.
    let empty = said_empty || accepted() && written_without_effects(task);
    let parsed = |outcome: Option<ProblemOutcome>| match outcome {
        Some(ProblemOutcome::Equivalent) if empty => Some(ProblemOutcome::Different),
        other => other,
    };
    DomainOutcome {
        val: parsed(val),
        front_end: parsed(front_end),
        empty,
        walk: known(problem(task, judges.walk.as_ref()), directions.map(|d| harmonic_mean(d.0, d.1) >= 1.0)),
        same: problem(task, judges.same_domain.as_ref()),
    }
}

/// True if the task started behind the fan-out stage, with the domain of another task, or ended there because that task left none.
fn is_held_back(task: &TaskReport, judges: &Judges) -> bool {
    let Some(fan_out) = &judges.fan_out else { return false };
    task.stages.first().map_or(task.verdict.is_some(), |first| first.label == *fan_out)
}

/// True if the surviving candidate has a domain, and none of its actions has an effect.
fn written_without_effects(task: &TaskReport) -> bool {
    let text = task.candidate.as_ref().and_then(|candidate| candidate.domain.as_deref());
    text.is_some_and(is_empty_domain)
}

/// The decision of the judging stage on the surviving candidate; without one, the outcome of the task's
/// verdict.
fn outcome(task: &TaskReport, judges: &Judges) -> (TaskOutcome, String) {
    let assessments = task.candidate.as_ref().map(|candidate| &candidate.assessments);
    let judged = judges.solved_by.as_ref().and_then(|label| assessments?.get(label));
    let decision = judged.map(|assessment| &assessment.decision);
    match (decision, &task.verdict) {
        (_, None) => (TaskOutcome::Unfinished, String::new()),
        // The judging stage executed the plan in the PDDL that the model wrote.
        (_, Some(verdict @ (TaskVerdict::Planned { .. } | TaskVerdict::Written { .. }))) => {
            of_verdict(verdict, judges)
        }
        (Some(Decision::Accepted), _) => (TaskOutcome::Solved, String::new()),
        (Some(Decision::Rejected), _) => {
            (TaskOutcome::NotSolved, judged.map(|a| a.summary.clone()).unwrap_or_default())
        }
        // The verdict names the missing input of the judgement, for example a plan.
        (Some(Decision::Undecided { .. } | Decision::NotComparable { .. }) | None, Some(verdict)) => {
            of_verdict(verdict, judges)
        }
    }
}

fn of_verdict(verdict: &TaskVerdict, judges: &Judges) -> (TaskOutcome, String) {
    match verdict {
        // Every stage accepted, but without a decision of the judging stage the plan is unproven.
        TaskVerdict::Accepted if judges.solved_by.is_some() => {
            (TaskOutcome::Undecided, "no stage judged the plan".to_owned())
        }
        _ => (TaskOutcome::of(Some(verdict)), verdict_reason(verdict)),
    }
}

/// The reason for a verdict, with the stage that gave it; empty for an accepted task.
pub fn verdict_reason(verdict: &TaskVerdict) -> String {
    match verdict {
        TaskVerdict::Accepted => String::new(),
        TaskVerdict::Planned { .. } | TaskVerdict::Written { .. } => {
            format!("{}; the task has no reference that could judge it", verdict.name())
        }
        TaskVerdict::Rejected { stage, message }
        | TaskVerdict::Unsolvable { stage, message }
        | TaskVerdict::Undecided { stage, message } => {
            format!("{} at `{stage}`: {message}", verdict.name())
        }
        TaskVerdict::Unusable { stage, failure } => format!("no usable reply at `{stage}`: {failure}"),
        TaskVerdict::Failed { stage, failure } => format!("failed at `{stage}`: {failure}"),
    }
}

/// The answer of a stage about the surviving candidate's problem; absent without such a stage.
fn problem(task: &TaskReport, label: Option<&String>) -> Option<ProblemOutcome> {
    let label = label?;
    let Some(verdict) = &task.verdict else { return Some(ProblemOutcome::Unfinished) };
    let unusable = |failure: &Failure| failure.class == FailureClass::Reply;
    let assessment = task.candidate.as_ref().and_then(|candidate| candidate.assessments.get(label));
    Some(match (assessment.map(|assessment| &assessment.decision), verdict) {
        (Some(Decision::Accepted), _) => ProblemOutcome::Equivalent,
        (Some(Decision::Rejected), _) => ProblemOutcome::Different,
        (Some(Decision::NotComparable { .. }), _) => ProblemOutcome::NotComparable,
        (Some(Decision::Undecided { .. }), _) => ProblemOutcome::Undecided,
        // A record of an earlier version: no sample of the task could be used.
        (None, TaskVerdict::Failed { failure, .. }) if task.candidate.is_none() && unusable(failure) => {
            ProblemOutcome::Missing
        }
        (None, TaskVerdict::Unusable { .. }) => ProblemOutcome::Missing,
        (None, TaskVerdict::Failed { .. }) => ProblemOutcome::Failed,
        // A measurement that broke decides nothing, and the task goes on.
        (None, _) if task.stages.iter().any(|stage| stage.label == *label && !stage.failed.is_empty()) => {
            ProblemOutcome::Failed
        }
        (None, _) => ProblemOutcome::Undecided,
    })
}

/// Both directions of the walk metric for the surviving candidate.
fn walk_directions(task: &TaskReport, judges: &Judges) -> Option<(f64, f64)> {
    let assessments = &task.candidate.as_ref()?.assessments;
    let metrics = &assessments.get(judges.walk.as_ref()?)?.metrics;
    Some((*metrics.get("reference_to_candidate")?, *metrics.get("candidate_to_reference")?))
}

/// The outcome of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TaskOutcome {
    /// The plan was found valid (in the environment, where the pipeline asks it).
    Solved,
    /// There is a verdict, and it is negative.
    NotSolved,
    /// Open because of a limit, an unsupported construct or a missing input.
    Undecided,
    /// No stage objects, and the task has no reference that could judge it.
    NotJudged,
    /// Something broke.
    Failed,
    /// The run has not reached it.
    Unfinished,
}

impl TaskOutcome {
    /// The outcome for a verdict; a task without one is unfinished.
    pub const fn of(verdict: Option<&TaskVerdict>) -> Self {
        match verdict {
            None => Self::Unfinished,
            Some(TaskVerdict::Accepted) => Self::Solved,
            Some(TaskVerdict::Planned { .. } | TaskVerdict::Written { .. }) => Self::NotJudged,
            Some(
                TaskVerdict::Rejected { .. } | TaskVerdict::Unsolvable { .. } | TaskVerdict::Unusable { .. },
            ) => Self::NotSolved,
            Some(TaskVerdict::Undecided { .. }) => Self::Undecided,
            Some(TaskVerdict::Failed { .. }) => Self::Failed,
        }
    }

    /// False for a task that did not end or that nothing judged: it counts neither for nor against a method.
    pub const fn is_judged(self) -> bool {
        !matches!(self, Self::Unfinished | Self::NotJudged)
    }

    /// The word used in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Solved => "solved",
            Self::NotSolved => "not solved",
            Self::Undecided => "undecided",
            Self::NotJudged => "not judged",
            Self::Failed => "failed",
            Self::Unfinished => "unfinished",
        }
    }
}

/// The answer to one question about a task's problem, such as equality with the reference or validity as
/// PDDL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProblemOutcome {
    /// Yes.
    Equivalent,
    /// No.
    Different,
    /// No reply held a problem. This is an answer, not a breakage: the same reply would come again.
    Missing,
    /// Open because of a limit or an unsupported construct.
    Undecided,
    /// The question does not apply, because the candidate's domain differs.
    NotComparable,
    /// Something broke.
    Failed,
    /// The run has not reached it.
    Unfinished,
}

impl ProblemOutcome {
    pub const ALL: [Self; 7] = [
        Self::Equivalent,
        Self::Different,
        Self::Missing,
        Self::Undecided,
        Self::NotComparable,
        Self::Failed,
        Self::Unfinished,
    ];

    /// The word used in tables of equivalence.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Equivalent => "equivalent",
            Self::Different => "different",
            Self::Missing => "no problem",
            Self::Undecided => "undecided",
            Self::NotComparable => "not comparable",
            Self::Failed => "failed",
            Self::Unfinished => "unfinished",
        }
    }
}

/// Answers about the domain that was written for a task (test-time-scaling paper, Table 2). In each,
/// `Equivalent` is yes, `Different` is no, and `Missing` means that no reply held a domain.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DomainOutcome {
    /// Acceptance by VAL's Parser, the paper's criterion; absent if no stage uses VAL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub val: Option<ProblemOutcome>,
    /// Acceptance by planforge's reader; absent if no stage checks it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub front_end: Option<ProblemOutcome>,
    /// `Equivalent` for a walk score of 1; absent if no stage walks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub walk: Option<ProblemOutcome>,
    /// Equality with the reference domain; absent if no stage compares domains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same: Option<ProblemOutcome>,
    /// True if a parser accepts the domain and no action has an effect: a copy of the given interface, for
    /// example. The answers of parsers are then no.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub empty: bool,
}

impl DomainOutcome {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The answer of a task for a share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CountsAs {
    For,
    Against,
    Open(OpenReason),
}

/// The reason why nobody knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OpenReason {
    /// A limit, an unsupported construct, a missing input.
    Undecided,
    /// The question makes no sense for what was written.
    NotComparable,
    /// Something broke.
    Failed,
    /// It was not run to an end.
    Unfinished,
}

impl OpenReason {
    /// All of them, with the letter and the word that tables have for each.
    pub(crate) const ALL: [(Self, &'static str, &'static str); 4] = [
        (Self::Undecided, "u", "undecided"),
        (Self::NotComparable, "c", "not comparable"),
        (Self::Failed, "f", "failed"),
        (Self::Unfinished, "o", "not run"),
    ];
}

pub(crate) fn counts_as(outcome: Option<ProblemOutcome>) -> CountsAs {
    match outcome {
        Some(ProblemOutcome::Equivalent) => CountsAs::For,
        Some(ProblemOutcome::Different | ProblemOutcome::Missing) => CountsAs::Against,
        Some(ProblemOutcome::NotComparable) => CountsAs::Open(OpenReason::NotComparable),
        Some(ProblemOutcome::Failed) => CountsAs::Open(OpenReason::Failed),
        Some(ProblemOutcome::Unfinished) => CountsAs::Open(OpenReason::Unfinished),
        Some(ProblemOutcome::Undecided) | None => CountsAs::Open(OpenReason::Undecided),
    }
}

pub(crate) fn counts_as_solved(task: &TaskResult) -> CountsAs {
    match task.outcome {
        TaskOutcome::Solved => CountsAs::For,
        // The environment has the reference's names alone.
        _ if task.solved_renamed => CountsAs::For,
        TaskOutcome::NotSolved => CountsAs::Against,
        // Without a problem there is nothing to solve, and asking again brings the same reply.
        _ if task.problem == Some(ProblemOutcome::Missing) => CountsAs::Against,
        TaskOutcome::Undecided | TaskOutcome::NotJudged => CountsAs::Open(OpenReason::Undecided),
        TaskOutcome::Failed => CountsAs::Open(OpenReason::Failed),
        TaskOutcome::Unfinished => CountsAs::Open(OpenReason::Unfinished),
    }
}

/// The replies of the stages that write PDDL, over all tasks of a cell: first samples and updates alike.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replies {
    /// Replies that came.
    pub replies: u64,
    /// Those that held PDDL: it could be taken out of the reply, and has what a domain or problem has.
    pub parsed: u64,
    /// Those whose PDDL has no error for planforge's reader.
    pub clean: u64,
    /// Errors in all that held PDDL.
    pub errors: u64,
    /// Warnings in all that held PDDL.
    pub warnings: u64,
}

impl Replies {
    /// Counts; nothing where the pipeline has no writer.
    pub(super) fn of(history: &History, judges: &Judges) -> Option<Self> {
        if judges.writers.is_empty() {
            return None;
        }
        let mut sum = Self::default();
        for task in &history.tasks {
            let written = |made: &&MadeCandidate| {
                judges.writers.contains(&made.stage) && !made.patch.raw_reply.is_empty()
            };
            for made in task.candidates.iter().filter(written) {
                sum.replies += 1;
                let Some((errors, warnings)) = findings(made) else { continue };
                sum.parsed += 1;
                sum.clean += u64::from(errors == 0);
                sum.errors += errors;
                sum.warnings += warnings;
            }
            // Unusable replies count; other failures are not replies.
            let unusable = |(path, failure): &&(String, planforge_contract::Failure)| {
                failure.class == FailureClass::Reply
                    && stage_of_path(path, &task.task)
                        .is_some_and(|stage| judges.writers.iter().any(|w| w == stage))
            };
            sum.replies += task.failed.iter().filter(unusable).count() as u64;
        }
        Some(sum)
    }

    /// Adds another.
    pub fn add(&mut self, other: &Self) {
        self.replies += other.replies;
        self.parsed += other.parsed;
        self.clean += other.clean;
        self.errors += other.errors;
        self.warnings += other.warnings;
    }
}

/// The stage in a sample path, without its round.
fn stage_of_path<'a>(path: &'a str, task: &str) -> Option<&'a str> {
    let stage = path.strip_prefix(task)?.strip_prefix('/')?.split('/').next()?;
    Some(stage.split_once('#').map_or(stage, |(label, _)| label))
}

/// Errors and warnings in what a reply wrote; nothing where it wrote no PDDL.
pub(super) fn findings(made: &MadeCandidate) -> Option<(u64, u64)> {
    let ids = TaskSources::default();
    let text = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
    let (new_domain, new_problem) = (text(&made.patch.domain), text(&made.patch.problem));
    if new_domain.is_none() && new_problem.is_none() {
        return None;
    }
    let domain = text(&made.candidate.domain).map(|text| parse_domain(&text, ids.domain));
    let mut found: Vec<Diagnostic> = Vec::new();
    if let Some(domain) = domain.as_ref().filter(|_| new_domain.is_some()) {
        found.extend(domain.diagnostics.iter().cloned());
        found.extend(check_domain(&domain.value, ids.domain));
    }
    if let Some(text) = &new_problem {
        let problem = parse_problem(text, ids.problem);
        found.extend(problem.diagnostics.iter().cloned());
        if let Some(domain) = &domain {
            found.extend(check_problem(&domain.value, &problem.value, ids));
        }
    }
    let count = |severity| found.iter().filter(|d| d.severity == severity).count() as u64;
    Some((count(Severity::Error), count(Severity::Warning)))
}

/// The metrics of `verifier-val` that count as classes of failure (test-time-scaling paper, section 4.6), with the words for tables.
pub const PLAN_FAILURES: [(&str, &str); 4] = [
    ("rule_violation", "rule violation"),
    ("wrong_state", "wrong state"),
    ("wrong_goal_claim", "wrong goal claim"),
    ("wrong_self_evaluation", "wrong self-evaluation"),
];

/// The plans of a task that a stage judged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanTries {
    /// Plans that were judged.
    pub plans: u64,
    /// Plans that were accepted: with one of them the task counts for Pass@k.
    pub valid: u64,
    /// Plans of each class of failure, by the metric's name. A plan may be of several.
    pub failures: BTreeMap<String, u64>,
}

impl PlanTries {
    /// Counts; nothing where no plan was judged.
    pub(super) fn of(task: &TaskHistory, judges: &Judges) -> Option<Self> {
        let label = judges.solved_by.as_ref()?;
        let mut tries = Self::default();
        for assessments in task.candidates.iter().map(|made| &made.assessments).chain([&task.start]) {
            match assessments.get(label).map(|assessment| &assessment.decision) {
                Some(Decision::Accepted) => tries.valid += 1,
                Some(Decision::Rejected) => {}
                _ => continue,
            }
            tries.plans += 1;
            for (name, _) in PLAN_FAILURES {
                let said = assessments.values().filter_map(|assessment| assessment.metrics.get(name));
                if said.fold(0.0_f64, |most, value| most.max(*value)) > 0.0 {
                    *tries.failures.entry(name.to_owned()).or_default() += 1;
                }
            }
        }
        (tries.plans > 0).then_some(tries)
    }
}

/// Returns true if the text is a domain and no action has an effect.
pub(super) fn is_empty_domain(text: &str) -> bool {
    let domain = parse_domain(text, SourceId(0)).value;
    domain.name.is_some() && domain.is_without_effects()
}

/// Marks of a candidate. planforge's own reader marks every candidate; the other marks exist where a stage
/// judged it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct CandidateMarks {
    /// 1 where planforge finds no error in it; the share of such candidates where several are refined.
    pub front_end: f64,
    /// The same for VAL's Parser.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub val: Option<f64>,
    /// The same for a walk score of 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub walk: Option<f64>,
    /// The same for being the reference domain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same: Option<f64>,
    /// The same for being the reference problem up to the names of objects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_problem: Option<f64>,
}

/// A task's success over samples and rounds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TaskCurve {
    /// For N = 1, 2, ...: the candidate that ranks first among the first N samples. Unusable samples count as
    /// samples.
    pub best_of: Vec<CandidateMarks>,
    /// For N = 1, 2, ...: whether any of the first N samples is accepted by planforge's reader. What ranking can reach at most.
    pub any_of: Vec<bool>,
    /// For N = 1, 2, ...: the share of pairs of a sample that is the reference and one that is not, among the first N, in which the former
    /// ranks higher; a tie is half. Absent where there is no such pair.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ranking: Vec<Option<f64>>,
    /// For T = 0, 1, ...: the candidates that are refined, after T rounds.
    pub after: Vec<CandidateMarks>,
}

impl CandidateMarks {
    fn of(made: &MadeCandidate, judges: &Judges) -> Self {
        let one = |yes: bool| if yes { 1.0 } else { 0.0 };
        let said = |label: &Option<String>| made.assessments.get(label.as_ref()?);
        let decided = |decision: &Decision| match decision {
            Decision::Accepted => Some(1.0),
            Decision::Rejected => Some(0.0),
            Decision::Undecided { .. } | Decision::NotComparable { .. } => None,
        };
        let walk = said(&judges.walk).and_then(|walk| {
            let metric = |name: &str| walk.metrics.get(name).copied();
            Some(harmonic_mean(metric("reference_to_candidate")?, metric("candidate_to_reference")?))
        });
        // A copy of the interface has no errors and is not a success.
        let empty = made.patch.domain.as_deref().is_some_and(is_empty_domain);
        let val = said(&judges.val).and_then(|val| val.metrics.get("val_accepts")).copied();
        Self {
            front_end: one(!empty && findings(made).is_some_and(|(errors, _)| errors == 0)),
            val: val.map(|accepts| if empty { 0.0 } else { accepts }),
            walk: walk.map(|score| one(score >= 1.0)),
            same: said(&judges.same_domain).and_then(|same| decided(&same.decision)),
            same_problem: said(&judges.equivalent).and_then(|same| decided(&same.decision)),
        }
    }

    /// The mean; a figure that some member lacks is left out.
    fn mean(all: &[Self]) -> Self {
        let n = all.len().max(1) as f64;
        let of = |pick: fn(&Self) -> Option<f64>| {
            let values: Vec<f64> = all.iter().filter_map(pick).collect();
            (values.len() == all.len() && !all.is_empty()).then(|| values.iter().sum::<f64>() / n)
        };
        Self {
            front_end: all.iter().map(|m| m.front_end).sum::<f64>() / n,
            val: of(|m| m.val),
            walk: of(|m| m.walk),
            same: of(|m| m.same),
            same_problem: of(|m| m.same_problem),
        }
    }
}

impl TaskCurve {
    /// Reads a task; nothing where it has neither samples nor rounds.
    pub(crate) fn of(task: &TaskHistory, judges: &Judges) -> Option<Self> {
        let mut curve = over_samples(task, judges);
        let lines = task.lines();
        let last = lines.iter().flat_map(|line| line.rounds.iter().map(|(number, _)| *number)).max();
        let after = |rounds: u32| {
            let marks: Vec<CandidateMarks> = lines
                .iter()
                .filter_map(|line| Some(CandidateMarks::of(line.after(rounds)?, judges)))
                .collect();
            CandidateMarks::mean(&marks)
        };
        curve.after = last.map(|last| (0..=last).map(after).collect()).unwrap_or_default();
        (!curve.best_of.is_empty() || !curve.after.is_empty()).then_some(curve)
    }
}

/// The curves over the first N samples of the first writer outside refinement.
fn over_samples(task: &TaskHistory, judges: &Judges) -> TaskCurve {
    let Some(writer) = judges.writers.iter().find(|writer| {
        task.candidates
            .iter()
            .any(|made| made.stage == **writer && made.round == 0 && made.candidate.lineage.len() == 1)
    }) else {
        return TaskCurve::default();
    };
    let sampled =
        |made: &&MadeCandidate| made.stage == *writer && made.round == 0 && made.candidate.lineage.len() == 1;
    let sample = |made: &MadeCandidate| made.candidate.lineage.first().map_or(0, |step| step.sample);
    let mut samples: Vec<(u32, &MadeCandidate)> =
        task.candidates.iter().filter(sampled).map(|m| (sample(m), m)).collect();
    samples.sort_by_key(|(number, _)| *number);
    // A sample that broke has the number of its place in its path.
    let prefix = format!("{}/{writer}/", task.task);
    let broke = task.failed.iter().filter_map(|(path, _)| path.strip_prefix(&prefix)?.parse::<u32>().ok());
    let count = samples.iter().map(|(number, _)| *number).chain(broke).max().map_or(0, |last| last + 1);
    let marks: Vec<(u32, &MadeCandidate, CandidateMarks)> =
        samples.into_iter().map(|(number, made)| (number, made, CandidateMarks::of(made, judges))).collect();
    let first = |n: u32| marks.iter().filter(move |(number, ..)| *number < n);
    let best = |n: u32| {
        let group: Vec<&MadeCandidate> = first(n).map(|(_, made, _)| *made).collect();
        let at = best_index(&group, judges);
        at.and_then(|at| first(n).nth(at)).map(|(.., marks)| *marks).unwrap_or_default()
    };
    let any = |n: u32| first(n).any(|(.., marks)| marks.front_end > 0.5);
    let ranking = |n: u32| {
        let group: Vec<_> = first(n).map(|(_, made, marks)| (*made, *marks)).collect();
        ranks_right(&group, judges)
    };
    TaskCurve {
        best_of: (1..=count).map(best).collect(),
        any_of: (1..=count).map(any).collect(),
        ranking: (1..=count).map(ranking).collect(),
        after: Vec::new(),
    }
}

/// See [`TaskCurve::ranking`].
fn ranks_right(group: &[(&MadeCandidate, CandidateMarks)], judges: &Judges) -> Option<f64> {
    let made: Vec<&MadeCandidate> = group.iter().map(|(made, _)| *made).collect();
    let ranks = rank_values(&made, judges)?;
    let of = |wanted: f64| {
        let same = group.iter().map(|(_, marks)| marks.same.or(marks.same_problem));
        let wanted = same.zip(&ranks).filter(|(same, _)| *same == Some(wanted));
        wanted.map(|(_, rank)| *rank).collect::<Vec<Option<f64>>>()
    };
    let (right, wrong) = (of(1.0), of(0.0));
    let pairs = right.iter().flat_map(|right| wrong.iter().map(move |wrong| right.partial_cmp(wrong)));
    let wins: Vec<f64> = pairs
        .map(|order| match order {
            Some(Ordering::Greater) => 1.0,
            Some(Ordering::Less) => 0.0,
            Some(Ordering::Equal) | None => 0.5,
        })
        .collect();
    (!wins.is_empty()).then(|| wins.iter().sum::<f64>() / wins.len() as f64)
}

/// The index of the candidate that ranks first. Ties go to the earlier.
fn best_index(group: &[&MadeCandidate], judges: &Judges) -> Option<usize> {
    let ranks = rank_values(group, judges).unwrap_or_else(|| vec![None; group.len()]);
    let better = |at: usize, best: usize| ranks.get(at) > ranks.get(best);
    (0..group.len()).reduce(|best, at| if better(at, best) { at } else { best })
}

/// The values by which a select stage ranks, higher ones first: of the first metric that all candidates have, else of the last, where a
/// candidate without a value comes last.
fn rank_values(group: &[&MadeCandidate], judges: &Judges) -> Option<Vec<Option<f64>>> {
    let sign = if judges.ranked_low { -1.0 } else { 1.0 };
    let values = |metric: &String| -> Vec<Option<f64>> {
        group.iter().map(|made| value(made, metric).map(|value| sign * value)).collect()
    };
    let mut all = judges.ranked_by.iter().map(values);
    let complete = all.clone().find(|values| values.iter().all(Option::is_some));
    complete.or(all.next_back())
}

fn value(made: &MadeCandidate, metric: &str) -> Option<f64> {
    let candidate = &made.candidate;
    match metric.split_once('.')? {
        ("candidate", "log_likelihood") => candidate.log_likelihood,
        ("candidate", "mean_log_likelihood") => {
            let tokens = candidate.tokens.filter(|tokens| *tokens > 0)?;
            Some(candidate.log_likelihood? / tokens as f64)
        }
        (stage, name) => made.assessments.get(stage)?.metrics.get(name).copied(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::tests::JournalBuilder;
    use planforge_contract::Assessment;

    const GOOD: &str = "(define (domain d) (:predicates (p)) (:action a :parameters () :precondition (p) :effect (not (p))))";

    #[test]
    fn replies_are_counted_by_what_can_be_read_of_them() {
        let journal = JournalBuilder::new();
        journal.made("s.p01", "domain/0", GOOD, None);
        journal.made("s.p01", "domain/1", &GOOD.replace("(not (p))", "(not (q))"), None);
        journal.made("s.p01", "domain/0 update#1/0", GOOD, None);
        journal.failed("s.p01", "s.p01/domain/2", FailureClass::Reply);
        journal.failed("s.p01", "s.p01/update#2/0.0.1", FailureClass::Reply);
        // A server that is down gave no reply, and a critic writes no PDDL.
        journal.failed("s.p01", "s.p01/domain/3", FailureClass::Provider);
        journal.failed("s.p01", "s.p01/critique/0", FailureClass::Reply);
        let history = History::read(&journal.0).unwrap();
        let judges = Judges { writers: vec!["domain".to_owned(), "update".to_owned()], ..Judges::default() };
        let replies = Replies::of(&history, &judges).unwrap();
        assert_eq!((replies.replies, replies.parsed, replies.clean), (5, 3, 2));
        assert!(replies.errors >= 1);
        assert_eq!(Replies::of(&history, &Judges::default()), None);
    }

    #[test]
    fn plans_are_counted_with_their_failures() {
        let journal = JournalBuilder::new();
        let judged = |descent: &str, decision, metrics: &[(&str, f64)]| {
            let path = journal.made("s.p01", descent, GOOD, None);
            let mut assessment = Assessment::new(decision, "");
            assessment.metrics = metrics.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
            journal.assessed("s.p01", "valid", &path, &assessment);
        };
        judged("plan/0", Decision::Accepted, &[("rule_violation", 0.0)]);
        judged("plan/1", Decision::Rejected, &[("rule_violation", 1.0), ("wrong_state", 3.0)]);
        judged("plan/2", Decision::NotComparable { message: String::new() }, &[]);
        // A pipeline that asks for one plan makes no candidate: its start is judged.
        let mut single = Assessment::new(Decision::Rejected, "");
        single.metrics.insert("wrong_goal_claim".to_owned(), 1.0);
        journal.assessed("s.p02", "valid", "s.p02/start/-", &single);
        let history = History::read(&journal.0).unwrap();
        let judges = Judges { solved_by: Some("valid".to_owned()), ..Judges::default() };
        let one = PlanTries::of(history.task("p02").unwrap(), &judges).unwrap();
        assert_eq!((one.plans, one.valid, one.failures["wrong_goal_claim"]), (1, 0, 1));
        let tries = PlanTries::of(&history.tasks[0], &judges).unwrap();
        assert_eq!((tries.plans, tries.valid), (2, 1));
        assert_eq!(tries.failures["wrong_state"], 1);
        assert!(!tries.failures.contains_key("wrong_goal_claim"));
    }
}
