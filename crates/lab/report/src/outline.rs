//! The shape of a run, read from its journal and small enough for memory. The documents that it refers to are
//! read one by one later, when their pages are written.

mod paths;
mod records;

pub(crate) use paths::{natural, round_of, stage_label};
pub(crate) use records::{
    CallOutline, EffectOutline, LogLine, MadeOutline, Pull, Retry, RoundOutline, Selection, Session, Spent,
};

use planforge_contract::{Failure, Usage};
use planforge_record::{Event, SamplePath, TaskVerdict};
use std::collections::{BTreeMap, HashMap};

/// A run.
#[derive(Default)]
pub(crate) struct Outline {
    pub(crate) tasks: Vec<TaskOutline>,
    pub(crate) sessions: Vec<Session>,
    pub(crate) logs: Vec<LogLine>,
    at: HashMap<String, usize>,
}

/// One task.
#[derive(Default)]
pub(crate) struct TaskOutline {
    pub(crate) name: String,
    /// True if work on it began.
    pub(crate) begun: bool,
    pub(crate) verdict: Option<TaskVerdict>,
    /// Labels of stages without rounds, in the order in which they came first.
    pub(crate) stages: Vec<String>,
    pub(crate) candidates: Vec<MadeOutline>,
    pub(crate) failed: Vec<(SamplePath, Failure)>,
    pub(crate) selections: Vec<Selection>,
    pub(crate) rounds: Vec<RoundOutline>,
    pub(crate) pulls: Vec<Pull>,
    pub(crate) spent: Vec<Spent>,
    pub(crate) calls: Vec<CallOutline>,
    pub(crate) effects: Vec<EffectOutline>,
    pub(crate) retries: HashMap<SamplePath, Vec<Retry>>,
    at: HashMap<SamplePath, usize>,
    /// The place of each entry, by the key that identifies repeated events.
    known: HashMap<(Kind, String), usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Call,
    Failed,
    Pull,
    Round,
}

/// The kind of an effect that holds the failure of a request to a model.
const BROKEN: &str = "llm.complete";

/// Replaces the entry with the same key, or appends it.
fn put_once<T>(known: &mut HashMap<(Kind, String), usize>, all: &mut Vec<T>, kind: (Kind, String), thing: T) {
    let at = *known.entry(kind).or_insert(all.len());
    match all.get_mut(at) {
        Some(old) => *old = thing,
        None => all.push(thing),
    }
}

impl Outline {
    /// Creates an outline with these tasks in this order.
    pub(crate) fn new<'a>(tasks: impl Iterator<Item = &'a str>) -> Self {
        let mut outline = Self::default();
        for task in tasks {
            outline.of(task);
        }
        outline
    }

    /// Candidates and rounds in an order of their own; calls stay in the order in which they were answered.
    pub(crate) fn sort(&mut self) {
        for task in &mut self.tasks {
            // What a candidate was made from has fewer indices, so parents come before their children.
            let steps =
                |path: &str| path.rsplit('/').next().map_or(0, |indices| indices.matches('.').count());
            task.candidates
                .sort_by(|a, b| steps(&a.path).cmp(&steps(&b.path)).then_with(|| natural(&a.path, &b.path)));
            task.failed.sort_by(|a, b| natural(&a.0, &b.0));
            task.rounds.sort_by(|a, b| {
                natural(&a.root, &b.root).then_with(|| a.stage.cmp(&b.stage)).then(a.round.cmp(&b.round))
            });
            task.pulls.sort_by(|a, b| a.stage.cmp(&b.stage).then(a.pull.cmp(&b.pull)));
            // Indices change here, so nothing may be recorded later.
            task.at = HashMap::new();
            task.known = HashMap::new();
        }
    }

    fn of(&mut self, task: &str) -> &mut TaskOutline {
        let at = match self.at.get(task) {
            Some(at) => *at,
            None => {
                self.at.insert(task.to_owned(), self.tasks.len());
                self.tasks.push(TaskOutline { name: task.to_owned(), ..TaskOutline::default() });
                self.tasks.len() - 1
            }
        };
        &mut self.tasks[at]
    }

    /// The task that a path begins with.
    fn at(&mut self, path: &str) -> &mut TaskOutline {
        self.of(path.split('/').next().unwrap_or_default())
    }

    /// Takes the next event.
    pub(crate) fn take(&mut self, event: &Event) {
        match event {
            Event::SessionStarted { at, mode } => {
                let session = Session { mode: mode.clone(), began: at.clone(), ended: None, state: None };
                self.sessions.push(session);
            }
            Event::SessionFinished { at, state } => {
                if let Some(session) = self.sessions.last_mut() {
                    session.ended = Some(at.clone());
                    session.state = Some(state.clone());
                }
            }
            Event::Log { plugin, level, message } => {
                let line = LogLine { plugin: plugin.clone(), level: level.clone(), message: message.clone() };
                if !self.logs.contains(&line) {
                    self.logs.push(line);
                }
            }
            Event::ReportSaved { .. } => {}
            Event::TaskStarted { task } => self.of(task).begun = true,
            Event::StageStarted { task, stage, .. } => self.of(task).stage(stage),
            Event::TaskFinished { task, verdict } => self.of(task).verdict = Some(verdict.clone()),
            Event::Completion { .. } | Event::Retry { .. } | Event::Effect { .. } => self.take_request(event),
            Event::CandidateMade { task, path, candidate, patch } => {
                self.of(task).add_candidate(path, candidate, patch);
            }
            Event::SampleFailed { task, path, failure } => {
                let task = self.of(task);
                let broken = (path.clone(), failure.clone());
                put_once(&mut task.known, &mut task.failed, (Kind::Failed, path.clone()), broken);
            }
            Event::Assessed { task, stage, path, assessment, decision } => {
                let word = (stage.clone(), assessment.clone(), decision.clone());
                self.of(task).said(path, stage, word, |made| &mut made.assessed);
            }
            Event::Planned { task, stage, path, outcome, name } => {
                let word = (stage.clone(), outcome.clone(), name.clone());
                self.of(task).said(path, stage, word, |made| &mut made.planned);
            }
            Event::Selected { .. }
            | Event::RoundFinished { .. }
            | Event::BudgetPulled { .. }
            | Event::BudgetSpent { .. } => self.take_decision(event),
        }
    }

    fn take_request(&mut self, event: &Event) {
        match event {
            Event::Completion {
                key,
                path,
                role,
                llm,
                request,
                result,
                failure,
                usage,
                attempts,
                elapsed_ms,
            } => {
                let call = CallOutline {
                    key: key.clone(),
                    path: path.clone(),
                    role: role.clone(),
                    llm: llm.clone(),
                    request: Some(request.clone()),
                    result: result.clone(),
                    failure: failure.clone(),
                    broken: None,
                    usage: *usage,
                    attempts: *attempts,
                    elapsed_ms: *elapsed_ms,
                };
                // Where a key was recorded more than once, the last record counts.
                let task = self.at(path);
                put_once(&mut task.known, &mut task.calls, (Kind::Call, key.clone()), call);
            }
            Event::Retry { path, attempt, failure, wait_ms } => {
                let retry = Retry { attempt: *attempt, failure: failure.clone(), wait_ms: *wait_ms };
                self.at(path).retries.entry(path.clone()).or_default().push(retry);
            }
            Event::Effect { key, path, call, result, elapsed_ms, .. } if call == BROKEN => {
                let task = self.at(path);
                let kind = (Kind::Call, key.clone());
                if !task.known.contains_key(&kind) {
                    let call = CallOutline {
                        key: key.clone(),
                        path: path.clone(),
                        role: String::new(),
                        llm: String::new(),
                        request: None,
                        result: None,
                        failure: None,
                        broken: Some(result.clone()),
                        usage: Usage::default(),
                        attempts: 0,
                        elapsed_ms: *elapsed_ms,
                    };
                    put_once(&mut task.known, &mut task.calls, kind, call);
                }
            }
            Event::Effect { path, call, elapsed_ms, .. } => {
                let effect = EffectOutline { call: call.clone(), elapsed_ms: *elapsed_ms };
                self.at(path).effects.push(effect);
            }
            _ => {}
        }
    }

    fn take_decision(&mut self, event: &Event) {
        match event {
            Event::Selected { task, stage, kept, groups } => {
                let selection =
                    Selection { stage: stage.clone(), kept: kept.clone(), groups: groups.clone() };
                let known = &mut self.of(task).selections;
                if !known.contains(&selection) {
                    known.push(selection);
                }
            }
            Event::RoundFinished { task, stage, path, round, best, value, accepted, best_so_far, .. } => {
                let task = self.of(task);
                let kind = (Kind::Round, format!("{stage} {round} {path}"));
                let ended = RoundOutline {
                    stage: stage.clone(),
                    root: path.clone(),
                    round: *round,
                    best: best.clone(),
                    value: *value,
                    accepted: *accepted,
                    best_so_far: best_so_far.clone(),
                };
                put_once(&mut task.known, &mut task.rounds, kind, ended);
            }
            Event::BudgetPulled {
                task,
                stage,
                pull,
                arm,
                made,
                value,
                reward,
                accepted,
                cost,
                spent,
                best,
                best_value,
            } => {
                let task = self.of(task);
                let kind = (Kind::Pull, format!("{stage} {pull}"));
                let pulled = Pull {
                    stage: stage.clone(),
                    pull: *pull,
                    arm: arm.clone(),
                    made: made.clone(),
                    value: *value,
                    reward: *reward,
                    accepted: *accepted,
                    cost: *cost,
                    spent: *spent,
                    best: best.clone(),
                    best_value: *best_value,
                };
                put_once(&mut task.known, &mut task.pulls, kind, pulled);
            }
            Event::BudgetSpent { task, stage, end, pulls, spent, best } => {
                let ends = &mut self.of(task).spent;
                ends.retain(|known| known.stage != *stage);
                ends.push(Spent {
                    stage: stage.clone(),
                    end: *end,
                    pulls: *pulls,
                    spent: *spent,
                    best: best.clone(),
                });
            }
            _ => {}
        }
    }
}

impl TaskOutline {
    fn stage(&mut self, label: &str) {
        let label = stage_label(label);
        if !self.stages.iter().any(|known| known == label) {
            self.stages.push(label.to_owned());
        }
    }

    fn add_candidate(&mut self, path: &str, candidate: &str, patch: &str) {
        let at = *self.at.entry(path.to_owned()).or_insert(self.candidates.len());
        match self.candidates.get_mut(at) {
            // A resumed run records it again; earlier assessments still count.
            Some(known) => (known.candidate, known.patch) = (candidate.to_owned(), patch.to_owned()),
            None => self.candidates.push(MadeOutline {
                path: path.to_owned(),
                candidate: candidate.to_owned(),
                patch: patch.to_owned(),
                assessed: Vec::new(),
                planned: Vec::new(),
            }),
        }
    }

    fn said(
        &mut self,
        path: &str,
        stage: &str,
        word: (String, String, String),
        of: impl Fn(&mut MadeOutline) -> &mut Vec<(String, String, String)>,
    ) {
        self.stage(stage);
        if let Some(made) = self.at.get(path).and_then(|at| self.candidates.get_mut(*at)) {
            let words = of(made);
            words.retain(|known| *known != word);
            words.push(word);
        }
    }

    /// Costs by call.
    pub(crate) fn effects_by_call(&self) -> BTreeMap<&str, (u64, u64)> {
        let mut sums = BTreeMap::new();
        for effect in &self.effects {
            let sum: &mut (u64, u64) = sums.entry(effect.call.as_str()).or_default();
            sum.0 += 1;
            sum.1 += effect.elapsed_ms;
        }
        sums
    }
}
