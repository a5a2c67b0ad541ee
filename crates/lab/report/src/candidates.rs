//! The page of each candidate, and its node in the tree of candidates.

use crate::calls::Calls;
use crate::changes::{Changes, DiffOf, changes};
use crate::chunks::{Stores, document};
use crate::documents::{AssessmentView, CandidatePage, PageId, Pddl, PlanView, StepsView};
use crate::outline::{MadeOutline, round_of, stage_label};
use crate::source::Showing;
use crate::states::{PlanTexts, REPORT_LIMITS, StatesLimits, plan_states};
use planforge_contract::{
    Assessment, Candidate, CandidatePatch, Decision, Failure, PlanDocument, PlanOutcome,
};
use planforge_record::{RunFolder, SamplePath};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// Evidence beyond this many bytes stays in the run folder: of some verifiers it is far larger than all the rest.
const MOST_EVIDENCE: usize = 64 * 1024;
/// Of top-k planning the best of the plans are shown.
const MOST_PLANS: usize = 10;
/// Of so many candidates of a task the plans are executed state by state; that of the answer always is.
const MOST_STATES: usize = 200;
/// Of so many the states are drawn.
const MOST_DRAWN: usize = 20;

/// The PDDL of a candidate, shared where a child has its parent's.
type DomainAndProblem = (Option<Arc<str>>, Option<Arc<str>>);

/// A node of the tree.
pub(crate) struct Node {
    pub(crate) path: SamplePath,
    pub(crate) label: String,
    pub(crate) sample: u32,
    /// The path of its parent; absent for one that the task itself led to.
    pub(crate) parent: Option<SamplePath>,
    pub(crate) page: Option<PageId>,
    pub(crate) failure: Option<Failure>,
    pub(crate) decisions: BTreeMap<String, &'static str>,
    pub(crate) metrics: BTreeMap<String, f64>,
    pub(crate) planned: Option<&'static str>,
    /// Calls, of a sample that broke.
    pub(crate) calls: Vec<u32>,
}

/// Writes candidates of one task.
pub(crate) struct Candidates<'a> {
    pub(crate) run: &'a RunFolder,
    pub(crate) task: &'a str,
    pub(crate) calls: &'a Calls,
    /// By label without round, the labels of stages that judge or plan.
    about: HashMap<String, Vec<String>>,
    /// By indices, the rounds in which candidates of these indices were made.
    made_in: HashMap<String, Vec<u32>>,
    /// The path of the candidate that the verdict is about.
    answer: Option<&'a str>,
    showing: &'a Showing,
    /// Domain and problem of candidates that were written, for what is made from them.
    texts: HashMap<SamplePath, DomainAndProblem>,
    /// Candidates of which the states of a plan were written.
    with_states: usize,
}

impl<'a> Candidates<'a> {
    pub(crate) fn new(
        run: &'a RunFolder,
        task: &'a str,
        calls: &'a Calls,
        made: &[MadeOutline],
        failed: &[(SamplePath, Failure)],
        answer: Option<&'a str>,
        showing: &'a Showing,
    ) -> Self {
        let paths = made.iter().map(|m| &m.path).chain(failed.iter().map(|(path, _)| path));
        let mut writers = HashSet::new();
        let mut made_in: HashMap<String, Vec<u32>> = HashMap::new();
        for path in paths {
            let (label, indices) = own(task, path);
            writers.insert(stage_label(label).to_owned());
            made_in.entry(indices.to_owned()).or_default().push(round_of(label));
        }
        let mut about: HashMap<String, Vec<String>> = HashMap::new();
        for label in calls.stages() {
            if !writers.contains(stage_label(label)) {
                about.entry(stage_label(label).to_owned()).or_default().push(label.to_owned());
            }
        }
        Self { run, task, calls, about, made_in, answer, showing, texts: HashMap::new(), with_states: 0 }
    }

    /// Writes a candidate's page.
    pub(crate) fn write(&mut self, made: &MadeOutline, stores: &mut Stores) -> Result<Node, Failure> {
        let (label, indices) = own(self.task, &made.path);
        let mut unreadable = Vec::new();
        let mut read = Reading { run: self.run, unreadable: &mut unreadable };
        let candidate: Candidate = read.document(&made.candidate);
        let patch: CandidatePatch = read.document(&made.patch);
        let mut node = Node {
            path: made.path.clone(),
            label: label.to_owned(),
            sample: indices.rsplit('.').next().and_then(|sample| sample.parse().ok()).unwrap_or(0),
            parent: parent(self.task, &candidate, label, indices),
            page: None,
            failure: None,
            decisions: BTreeMap::new(),
            metrics: BTreeMap::new(),
            planned: None,
            calls: Vec::new(),
        };
        if let Some(likelihood) = candidate.log_likelihood {
            node.metrics.insert("candidate.log_likelihood".to_owned(), likelihood);
        }
        let mut assessments = Vec::new();
        for (stage, blob, _) in &made.assessed {
            if let Some(assessment) = read.optional::<Assessment>(blob) {
                node.decisions.insert(stage.clone(), assessment.decision.name());
                for (metric, value) in &assessment.metrics {
                    node.metrics.insert(format!("{stage}.{metric}"), *value);
                }
                assessments.push(assessment_view(stage, assessment, stores)?);
            }
        }
        let mut outcomes: Vec<(String, PlanOutcome)> = Vec::new();
        for (stage, blob, _) in &made.planned {
            outcomes.extend(read.optional(blob).map(|outcome| (stage.clone(), outcome)));
        }
        if let Some(plan) = &candidate.plan
            && !outcomes.iter().any(|(_, outcome)| outcome == plan)
        {
            outcomes.insert(0, (stage_label(label).to_owned(), plan.clone()));
        }
        node.planned = outcomes.last().map(|(_, outcome)| outcome.name());
        let reply = if patch.raw_reply.is_empty() { None } else { Some(stores.text(&patch.raw_reply)?) };
        let mut said: HashSet<u32> = reply.into_iter().collect();
        for message in &patch.messages {
            said.insert(stores.text(&message.content)?);
        }
        let (domain_changes, problem_changes) =
            self.changed(&made.path, node.parent.as_deref(), &candidate, &patch);
        let mut plans: Vec<PlanView> =
            outcomes.iter().map(|(stage, outcome)| plan_view(stage, outcome)).collect();
        self.states(&made.path, &candidate, &mut plans, stores)?;
        let page = CandidatePage {
            path: made.path.clone(),
            domain_changes,
            problem_changes,
            domain: pddl(candidate.domain.as_deref(), patch.domain.is_some(), stores)?,
            problem: pddl(candidate.problem.as_deref(), patch.problem.is_some(), stores)?,
            texts: BTreeMap::from(candidate.texts.clone())
                .into_iter()
                .map(|(name, text)| Ok((name, stores.text(&text)?)))
                .collect::<Result<_, Failure>>()?,
            thought: candidate.thought.as_deref().map(|text| stores.text(text)).transpose()?,
            log_likelihood: candidate.log_likelihood,
            tokens: candidate.tokens,
            edits: candidate.edits,
            reply,
            fixes: patch.fixes,
            diagnostics: patch.diagnostics,
            conversation: stores.turns(&candidate.conversation)?,
            assessments,
            plans,
            wrote: self.calls.that_wrote(&own_path(self.task, &made.path), &said),
            about: self.about(indices, round_of(label)),
            lineage: candidate.lineage,
            unreadable,
        };
        stores.unreadable += page.unreadable.len();
        node.page = Some(stores.page(&page)?);
        Ok(node)
    }

    /// Changes of a candidate's reply to its parent.
    fn changed(
        &mut self,
        path: &str,
        parent: Option<&str>,
        candidate: &Candidate,
        patch: &CandidatePatch,
    ) -> (Option<Changes>, Option<Changes>) {
        let before = parent.and_then(|parent| self.texts.get(parent)).cloned().unwrap_or_default();
        let changed = |of, wrote: bool, before: Option<&Arc<str>>, after: Option<&String>| {
            let (before, after) = before.zip(after.filter(|_| wrote))?;
            Some(changes(of, before, after))
        };
        let found = (
            changed(DiffOf::Domains, patch.domain.is_some(), before.0.as_ref(), candidate.domain.as_ref()),
            changed(DiffOf::Problems, patch.problem.is_some(), before.1.as_ref(), candidate.problem.as_ref()),
        );
        // What was not written anew is the parent's own text, kept once.
        let kept = |text: Option<&String>, before: Option<Arc<str>>| match (text, before) {
            (Some(text), Some(before)) if **text == *before => Some(before),
            (Some(text), _) => Some(Arc::from(text.as_str())),
            (None, _) => None,
        };
        let texts = (kept(candidate.domain.as_ref(), before.0), kept(candidate.problem.as_ref(), before.1));
        self.texts.insert(path.to_owned(), texts);
        found
    }

    /// Executes the best plan of each stage in the candidate's own domain and problem; equal plans once.
    fn states(
        &mut self,
        path: &str,
        candidate: &Candidate,
        plans: &mut [PlanView],
        stores: &mut Stores,
    ) -> Result<(), Failure> {
        let (Some(domain), Some(problem)) = (&candidate.domain, &candidate.problem) else { return Ok(()) };
        let is_answer = self.answer == Some(path);
        if plans.iter().all(|plan| plan.plans.is_empty()) || (self.with_states >= MOST_STATES && !is_answer) {
            return Ok(());
        }
        self.with_states += 1;
        let limits = StatesLimits::default();
        let drawn = is_answer || self.with_states <= MOST_DRAWN;
        let limits = if drawn { limits } else { limits.without_pictures() };
        let mut known: Vec<(String, PageId)> = Vec::new();
        for view in plans {
            let Some(best) = view.plans.first() else { continue };
            let plan = best.steps.join("\n");
            let page = match known.iter().find(|(steps, _)| *steps == plan) {
                Some((_, page)) => *page,
                None => {
                    let Showing { picture, wording } = self.showing;
                    let (picture, wording) = (picture.as_deref(), Some(wording));
                    let texts = PlanTexts { domain, problem, plan: &plan, picture, wording };
                    let page = stores.page(&plan_states(texts, &limits, &mut REPORT_LIMITS.clone()))?;
                    known.push((plan, page));
                    page
                }
            };
            view.states = Some(page);
        }
        Ok(())
    }

    /// The node of a failed sample; absent if the path is that of a call on a candidate.
    pub(crate) fn broken(&self, path: &str, failure: &Failure) -> Node {
        let (label, indices) = own(self.task, path);
        Node {
            path: path.to_owned(),
            label: label.to_owned(),
            sample: indices.rsplit('.').next().and_then(|sample| sample.parse().ok()).unwrap_or(0),
            parent: None,
            page: None,
            failure: Some(failure.clone()),
            decisions: BTreeMap::new(),
            metrics: BTreeMap::new(),
            planned: None,
            calls: self.calls.that_wrote(&own_path(self.task, path), &HashSet::new()),
        }
    }

    /// The calls about a candidate: made at stages that write nothing, under its indices. Candidates of two pulls of a budget may have the
    /// same indices; a call is about the one that was made last before it.
    fn about(&self, indices: &str, round: u32) -> Vec<u32> {
        let next = self.made_in.get(indices).and_then(|rounds| rounds.iter().filter(|r| **r > round).min());
        let is_own = |label: &&String| {
            let at = round_of(label);
            at == 0 || (at >= round && next.is_none_or(|next| at < *next))
        };
        let sites: Vec<String> = self.about.values().flatten().filter(is_own).cloned().collect();
        self.calls.about(indices, &sites)
    }
}

/// Reads documents and keeps what could not be read.
struct Reading<'a> {
    run: &'a RunFolder,
    unreadable: &'a mut Vec<String>,
}

impl Reading<'_> {
    fn optional<T: serde::de::DeserializeOwned>(&mut self, blob: &str) -> Option<T> {
        document(self.run, blob).map_err(|why| self.unreadable.push(why)).ok()
    }

    fn document<T: serde::de::DeserializeOwned + Default>(&mut self, blob: &str) -> T {
        self.optional(blob).unwrap_or_default()
    }
}

/// Label with round, and indices, of a candidate's path.
pub(crate) fn own<'p>(task: &str, path: &'p str) -> (&'p str, &'p str) {
    let own = path.strip_prefix(task).and_then(|path| path.strip_prefix('/')).unwrap_or(path);
    let (label, rest) = own.split_once('/').unwrap_or((own, ""));
    (label, rest.split('/').next().unwrap_or_default())
}

fn own_path(task: &str, path: &str) -> String {
    let (label, indices) = own(task, path);
    format!("{label}/{indices}")
}

/// The path of a candidate's parent from its descent; from the indices alone if that could not be read.
fn parent(task: &str, candidate: &Candidate, label: &str, indices: &str) -> Option<SamplePath> {
    let (_, ancestors) = candidate.lineage.split_last()?;
    let last = ancestors.last()?;
    debug_assert!(candidate.lineage.last().is_some_and(|step| step.stage == label), "{label}");
    let (above, _) = indices.rsplit_once('.')?;
    Some(format!("{task}/{}/{above}", last.stage))
}

fn pddl(text: Option<&str>, written: bool, stores: &mut Stores) -> Result<Option<Pddl>, Failure> {
    text.map(|text| Ok(Pddl { text: stores.text(text)?, written })).transpose()
}

fn assessment_view(
    stage: &str,
    assessment: Assessment,
    stores: &mut Stores,
) -> Result<AssessmentView, Failure> {
    let message = match &assessment.decision {
        Decision::Undecided { message, .. } | Decision::NotComparable { message } => message.clone(),
        Decision::Accepted | Decision::Rejected => String::new(),
    };
    let (mut evidence, mut evidence_bytes) = (None, None);
    if !assessment.evidence.is_null() {
        let text = assessment.evidence.to_string();
        if text.len() <= MOST_EVIDENCE {
            evidence = Some(stores.text(&text)?);
        } else {
            evidence_bytes = Some(text.len());
        }
    }
    Ok(AssessmentView {
        stage: stage.to_owned(),
        decision: assessment.decision.name(),
        message,
        summary: assessment.summary,
        metrics: assessment.metrics,
        diagnostics: assessment.diagnostics,
        feedback: assessment.feedback.iter().map(|text| stores.text(text)).collect::<Result<_, _>>()?,
        evidence,
        evidence_bytes,
    })
}

fn plan_view(stage: &str, outcome: &PlanOutcome) -> PlanView {
    let mut view = PlanView {
        stage: stage.to_owned(),
        outcome: outcome.name(),
        plans: Vec::new(),
        found: 0,
        optimal: false,
        statistics: serde_json::Value::Null,
        explanation: Vec::new(),
        diagnostics: Vec::new(),
        states: None,
    };
    let mut found = |plans: &[PlanDocument]| {
        view.found = plans.len();
        let shown = plans.iter().take(MOST_PLANS);
        view.plans = shown.map(|p| StepsView { steps: p.timed_steps(), cost: p.cost }).collect();
    };
    let statistics = match outcome {
        PlanOutcome::Plan { plans, optimal, statistics } => {
            found(plans);
            view.optimal = *optimal;
            Some(statistics)
        }
        PlanOutcome::ProvenUnsolvable { explanation, statistics }
        | PlanOutcome::Exhausted { explanation, statistics } => {
            view.explanation.clone_from(explanation);
            Some(statistics)
        }
        PlanOutcome::LimitReached { message, plans, statistics, .. } => {
            found(plans);
            view.explanation = vec![message.clone()];
            Some(statistics)
        }
        PlanOutcome::Unsupported { diagnostics } | PlanOutcome::Unreadable { diagnostics } => {
            view.diagnostics.clone_from(diagnostics);
            None
        }
    };
    view.statistics = statistics.and_then(|s| serde_json::to_value(s).ok()).unwrap_or_default();
    view
}
