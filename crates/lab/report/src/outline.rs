//! The shape of a run, read from its journal and small enough for memory. The documents that it refers to are
//! read one by one later, when their pages are written.

use planforge_contract::{Failure, ProviderFailure};
use planforge_record::{
    BudgetCost, BudgetEnd, CompletionEvent, Event, SamplePath, SelectedGroup, TaskVerdict,
};
use serde::Serialize;
use std::cmp::Ordering;
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
            Event::Completion(_) | Event::Retry { .. } | Event::Effect { .. } => self.take_request(event),
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
            Event::Completion(record) => {
                // Where a key was recorded more than once, the last record counts.
                let task = self.at(&record.path);
                let call = CallOutline { record: record.clone(), broken: None };
                put_once(&mut task.known, &mut task.calls, (Kind::Call, record.key.clone()), call);
            }
            Event::Retry { path, attempt, failure, wait_ms } => {
                let retry = Retry { attempt: *attempt, failure: failure.clone(), wait_ms: *wait_ms };
                self.at(path).retries.entry(path.clone()).or_default().push(retry);
            }
            Event::Effect { key, path, call, result, elapsed_ms, .. } if call == BROKEN => {
                let task = self.at(path);
                let kind = (Kind::Call, key.clone());
                if !task.known.contains_key(&kind) {
                    let (key, path, elapsed_ms) = (key.clone(), path.clone(), *elapsed_ms);
                    let record = CompletionEvent { key, path, elapsed_ms, ..CompletionEvent::default() };
                    let call = CallOutline { record, broken: Some(result.clone()) };
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

/// The label of a stage without its round.
pub(crate) fn stage_label(label: &str) -> &str {
    label.split_once('#').map_or(label, |(label, _)| label)
}

/// The round or pull of a stage's label; 0 where it has none.
pub(crate) fn round_of(label: &str) -> u32 {
    label.split_once('#').and_then(|(_, round)| round.parse().ok()).unwrap_or(0)
}

/// Compares paths so that numbers in them count as numbers: `edit#2` before `edit#10`.
pub(crate) fn natural(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a.as_bytes(), b.as_bytes());
    while let (Some(x), Some(y)) = (a.first(), b.first()) {
        let order = if x.is_ascii_digit() && y.is_ascii_digit() {
            let (m, n) = (digits(a), digits(b));
            let (left, right) = (trim_zeros(&a[..m]), trim_zeros(&b[..n]));
            let order = left.len().cmp(&right.len()).then_with(|| left.cmp(right)).then(m.cmp(&n));
            (a, b) = (&a[m..], &b[n..]);
            order
        } else {
            (a, b) = (&a[1..], &b[1..]);
            x.cmp(y)
        };
        if order != Ordering::Equal {
            return order;
        }
    }
    a.len().cmp(&b.len())
}

pub(crate) fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

pub(crate) fn trim_zeros(digits: &[u8]) -> &[u8] {
    let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
    &digits[zeros..]
}

/// A process that worked on the run.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Session {
    pub(crate) mode: String,
    pub(crate) began: String,
    /// The time and state of its end; absent if it was killed or still runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ended: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) state: Option<String>,
}

/// A message of a plugin or the host.
#[derive(Debug, Clone, Serialize, PartialEq)]
pub(crate) struct LogLine {
    pub(crate) plugin: String,
    pub(crate) level: String,
    pub(crate) message: String,
}

/// A candidate.
pub(crate) struct MadeOutline {
    pub(crate) path: SamplePath,
    pub(crate) candidate: String,
    pub(crate) patch: String,
    /// Stage, blob and decision, in the order in which they were given; the same word twice is one.
    pub(crate) assessed: Vec<(String, String, String)>,
    /// Stage, blob and outcome.
    pub(crate) planned: Vec<(String, String, String)>,
}

/// The candidates that a select stage kept.
#[derive(Debug, Clone, Serialize, PartialEq)]
pub(crate) struct Selection {
    pub(crate) stage: String,
    pub(crate) kept: Vec<SamplePath>,
    pub(crate) groups: Vec<SelectedGroup>,
}

/// A round of a refine stage.
#[derive(Debug, Clone, Serialize, PartialEq)]
pub(crate) struct RoundOutline {
    pub(crate) stage: String,
    pub(crate) root: SamplePath,
    pub(crate) round: u32,
    pub(crate) best: Option<SamplePath>,
    pub(crate) value: Option<f64>,
    pub(crate) accepted: bool,
    pub(crate) best_so_far: Option<SamplePath>,
}

/// A pull of a budget stage.
#[derive(Debug, Clone, Serialize, PartialEq)]
pub(crate) struct Pull {
    pub(crate) stage: String,
    pub(crate) pull: u32,
    pub(crate) arm: String,
    pub(crate) made: Vec<SamplePath>,
    pub(crate) value: Option<f64>,
    pub(crate) reward: f64,
    pub(crate) accepted: bool,
    pub(crate) cost: BudgetCost,
    pub(crate) spent: BudgetCost,
    pub(crate) best: Option<SamplePath>,
    pub(crate) best_value: Option<f64>,
}

/// The end of a budget stage.
#[derive(Debug, Clone, Serialize, PartialEq)]
pub(crate) struct Spent {
    pub(crate) stage: String,
    pub(crate) end: BudgetEnd,
    pub(crate) pulls: u32,
    pub(crate) spent: BudgetCost,
    pub(crate) best: Option<SamplePath>,
}

/// A question to a model.
pub(crate) struct CallOutline {
    /// Without documents if the question ended before it was recorded with its request.
    pub(crate) record: CompletionEvent,
    /// The blob with the failure of a question that ended without the server's word: a cap, a deadline, a plugin that broke.
    pub(crate) broken: Option<String>,
}

/// A planner's, verifier's or other program's answer that was recorded.
pub(crate) struct EffectOutline {
    pub(crate) call: String,
    pub(crate) elapsed_ms: u64,
}

/// An attempt that failed and was made again.
#[derive(Debug, Clone, Serialize, PartialEq)]
pub(crate) struct Retry {
    pub(crate) attempt: u32,
    pub(crate) failure: ProviderFailure,
    pub(crate) wait_ms: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_paths_count_as_numbers() {
        let mut paths =
            ["s.p01/edit#10/0", "s.p01/edit#2/10.1", "s.p01/edit#2/9", "s.p01/edit#2/10", "s.p01/edit/0"];
        paths.sort_by(|a, b| natural(a, b));
        assert_eq!(
            paths,
            ["s.p01/edit#2/9", "s.p01/edit#2/10", "s.p01/edit#2/10.1", "s.p01/edit#10/0", "s.p01/edit/0"]
        );
        assert_eq!(natural("a01", "a1"), Ordering::Greater);
        assert_eq!(natural("a1", "a1"), Ordering::Equal);
    }
}
