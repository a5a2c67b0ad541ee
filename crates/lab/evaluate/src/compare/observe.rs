//! The sides of a comparison: tasks with their outcomes, costs and samples; with `--by classes`, replies for one action.

use crate::history::{History, MadeCandidate, TaskHistory};
use crate::results::{
    CellClasses, CellKey, CellResult, CellState, Group, Judges, ProblemOutcome, ReplyClass, TaskResult,
};
use planforge_contract::{Decision, Failure, FailureClass, PlanOutcome, Price};
use planforge_pddl::random::Random;
use planforge_pipeline::{Cost, Pipeline, RunReport, Stage, TaskUsage};
use planforge_record::{CompletionEvent, Event, Journal, RunManifest};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// One task of one run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct TaskKey {
    /// The suite's name.
    pub suite: String,
    /// The task's stem in it.
    pub task: String,
    /// The run's seed.
    pub seed: u64,
}

/// The use of models by a task. It comes from the run's record, so it is reproducible; answers from a
/// cassette count like those of a server, with the time of the recording.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct TaskCost {
    /// Questions that were answered.
    pub calls: u64,
    /// Questions that ended without an answer, after all attempts.
    pub unanswered: u64,
    /// Tokens of the questions, where the server counted them.
    pub prompt_tokens: u64,
    /// Tokens of the answers, where the server counted them.
    pub completion_tokens: u64,
    /// Answered questions whose tokens the server did not all count: the sums are then too low, and the task's tokens count as unknown.
    pub unmetered: u64,
    /// Wall time of all questions, one after another, in seconds: attempts, waits between them and waits for a free place included.
    pub waiting_s: f64,
    /// US dollars for the answers whose model has a stated price and whose tokens the server counted.
    pub known_usd: f64,
    /// Questions whose cost is not in that, or only in part.
    pub unpriced: u64,
}

impl TaskCost {
    /// Tokens of questions and answers; nothing where a server did not count them.
    pub fn tokens(&self) -> Option<u64> {
        (self.unmetered == 0).then_some(self.prompt_tokens + self.completion_tokens)
    }

    /// US dollars for all of it; nothing where a part is unknown.
    pub fn usd(&self) -> Option<f64> {
        (self.unpriced == 0).then_some(self.known_usd)
    }

    /// Tokens of the answers alone; nothing where a server did not count them.
    pub fn written(&self) -> Option<u64> {
        (self.unmetered == 0).then_some(self.completion_tokens)
    }
}

/// A task of one side.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    pub key: TaskKey,
    pub result: TaskResult,
    /// SHA-256 over everything that was read of the task; absent where the run's manifest is not there.
    pub sha256: Option<String>,
    /// Steps and cost of the plan that the verdict is about; absent where there is none, or the run's report is not there.
    pub plan: Option<(usize, Option<f64>)>,
    /// Its cost; absent if the run's journal was not read.
    pub cost: Option<TaskCost>,
    /// Its samples.
    pub samples: Vec<SampleGroup>,
}

/// Sessions of one run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Sessions {
    /// Number of sessions.
    pub sessions: usize,
    /// Those that replayed a record. Their times are those of the replay.
    pub replayed: usize,
    /// Those whose end is not in the record: the process was killed. Their time is unknown.
    pub without_end: usize,
    /// Wall time of the others, in seconds (recorded to the second): all tasks of the run, as many at a time as there were jobs.
    pub wall_s: f64,
}

impl Sessions {
    fn of(events: &[Event]) -> Self {
        let mut found = Self::default();
        let mut since: Option<jiff::Timestamp> = None;
        for event in events {
            match event {
                Event::SessionStarted { at, mode } => {
                    found.sessions += 1;
                    found.replayed += usize::from(mode == "replay");
                    found.without_end += usize::from(since.is_some());
                    since = at.parse().ok();
                    found.without_end += usize::from(since.is_none());
                }
                Event::SessionFinished { at, .. } => {
                    if let (Some(start), Ok(end)) = (since.take(), at.parse::<jiff::Timestamp>()) {
                        found.wall_s += end.duration_since(start).as_secs_f64().max(0.0);
                    }
                }
                _ => {}
            }
        }
        found.without_end += usize::from(since.is_some());
        found
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.sessions += other.sessions;
        self.replayed += other.replayed;
        self.without_end += other.without_end;
        self.wall_s += other.wall_s;
    }
}

/// One side of a comparison: the runs of one pipeline.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Observed {
    /// Its name: the path on the command line.
    pub name: String,
    pub pipeline: String,
    /// The stages that decide.
    pub judges: Judges,
    /// The tasks.
    pub observations: Vec<Observation>,
    /// Sessions of all runs.
    pub sessions: Sessions,
    /// Runs that were read.
    pub runs: usize,
    /// Remarks for a reader, for example about unreadable figures.
    pub notes: Vec<String>,
}

/// The parts of a run beside its outcomes.
#[derive(Clone, Copy)]
pub struct RunParts<'a> {
    pub manifest: &'a RunManifest,
    /// Its record.
    pub journal: &'a dyn Journal,
    /// The report; absent if it was not kept because of a failure or an interruption.
    pub report: Option<&'a RunReport>,
}

impl Observed {
    /// A side without tasks yet.
    pub fn new(name: impl Into<String>, pipeline: impl Into<String>, judges: Judges) -> Self {
        Self { name: name.into(), pipeline: pipeline.into(), judges, ..Self::default() }
    }

    /// Adds the tasks of one run (several cells if it has tasks of several suites), with the data of its
    /// record. Without `run` the tasks have no cost and no samples.
    ///
    /// # Errors
    /// `record.*`: a blob is missing, was changed, or holds another document. Nothing is added then.
    pub fn add(&mut self, cells: &[CellResult], run: Option<RunParts<'_>>) -> Result<(), Failure> {
        let Some(run) = run else {
            self.add_outcomes(cells);
            return Ok(());
        };
        // What may fail comes first: a record that cannot be read leaves the side as it was.
        let history = History::read(run.journal)?;
        let events = run.journal.events();
        self.runs += 1;
        self.sessions.add(&Sessions::of(&events));
        let prices = cells.first().map(|cell| cell.prices.clone()).unwrap_or_default();
        let costs = costs(&events, &prices);
        let rejecting = self.rejecting(run.manifest);
        for (cell, task) in cells.iter().flat_map(|cell| cell.tasks.iter().map(move |task| (cell, task))) {
            let name = format!("{}.{}", cell.key.suite, task.task);
            let mut seen = observation(cell, task);
            let used = run.manifest.tasks.iter().find(|used| used.name == name);
            seen.sha256 = used.map(|used| used.sha256.clone());
            seen.cost = Some(costs.get(name.as_str()).copied().unwrap_or_default());
            seen.plan = run.report.and_then(|report| plan(report, &name));
            if let Some(task) = history.tasks.iter().find(|task| task.task == name) {
                seen.samples = groups(task, &self.judges, &rejecting);
            }
            self.observations.push(seen);
        }
        Ok(())
    }

    /// Adds the tasks of one run without costs and samples.
    pub(super) fn add_outcomes(&mut self, cells: &[CellResult]) {
        self.runs += 1;
        let tasks = cells.iter().flat_map(|cell| cell.tasks.iter().map(move |task| (cell, task)));
        self.observations.extend(tasks.map(|(cell, task)| observation(cell, task)));
    }

    /// The verify stages that reject; measuring stages reject nothing. Read from the pipeline's own text,
    /// because a record may be older than the installed plugins.
    fn rejecting(&mut self, manifest: &RunManifest) -> Vec<String> {
        match toml::from_str::<Pipeline>(&manifest.config.text) {
            Ok(pipeline) => {
                let rejecting = |stage: &Stage| match stage {
                    Stage::Verify(stage) if !stage.measure => Some(stage.label.clone()),
                    _ => None,
                };
                pipeline.all_stages().filter_map(rejecting).collect()
            }
            Err(error) => {
                let note = format!(
                    "{}: the pipeline's text cannot be read ({}), so samples that other stages rejected count as open",
                    manifest.config.path,
                    error.message()
                );
                if !self.notes.contains(&note) {
                    self.notes.push(note);
                }
                Vec::new()
            }
        }
    }
}

fn observation(cell: &CellResult, task: &TaskResult) -> Observation {
    let key = TaskKey { suite: cell.key.suite.clone(), task: task.task.clone(), seed: cell.key.seed };
    Observation {
        key,
        result: TaskResult { plans: None, curve: None, ..task.clone() },
        sha256: None,
        plan: None,
        cost: None,
        samples: Vec::new(),
    }
}

fn plan(report: &RunReport, task: &str) -> Option<(usize, Option<f64>)> {
    let task = report.tasks.iter().find(|known| known.task == task)?;
    let plan = task.candidate.as_ref()?.plan.as_ref().and_then(PlanOutcome::best)?;
    Some((plan.steps.len(), plan.cost))
}

/// Costs by task. A request that was sent again after an interruption counts once, as it ended.
fn costs<'e>(events: &'e [Event], prices: &BTreeMap<String, Price>) -> BTreeMap<&'e str, TaskCost> {
    let mut last: BTreeMap<&str, &Event> = BTreeMap::new();
    for event in events {
        if let Event::Completion(CompletionEvent { key, .. }) = event {
            last.insert(key, event);
        }
    }
    let mut costs: BTreeMap<&str, TaskCost> = BTreeMap::new();
    for event in last.values() {
        let Event::Completion(CompletionEvent { path, llm, result, usage, elapsed_ms, .. }) = event else {
            continue;
        };
        let cost = costs.entry(path.split('/').next().unwrap_or_default()).or_default();
        cost.waiting_s += *elapsed_ms as f64 / 1000.0;
        if result.is_none() {
            cost.unanswered += 1;
            cost.unpriced += 1;
            continue;
        }
        let mut counted = TaskUsage::default();
        counted.count(usage, 1);
        let money = Cost::of_model(&counted, prices.get(llm));
        cost.known_usd += money.known_usd;
        cost.unpriced += money.unpriced;
        cost.calls += 1;
        cost.prompt_tokens += usage.prompt_tokens.unwrap_or(0);
        cost.completion_tokens += usage.completion_tokens.unwrap_or(0);
        cost.unmetered += u64::from(!usage.is_metered());
    }
    costs
}

/// The results of a run whose record does not end every task: those tasks are unfinished. A replay of such a
/// run lacks requests that were never sent, which is not a failure of the run.
pub fn unfinished_where_not_ended(mut cell: CellResult, journal: &dyn Journal) -> CellResult {
    let suite = cell.key.suite.clone();
    let events = journal.events();
    let ended = |stem: &str| {
        let name = format!("{suite}.{stem}");
        events.iter().any(|event| matches!(event, Event::TaskFinished { task, .. } if *task == name))
    };
    for task in &mut cell.tasks {
        if !ended(&task.task) {
            let blank = CellResult::unfinished(
                cell.key.clone(),
                std::slice::from_ref(&task.task),
                &Judges::default(),
            );
            if let Some(unfinished) = blank.tasks.into_iter().next() {
                *task = unfinished;
            }
            cell.state = CellState::Unfinished;
        }
    }
    cell
}

impl Observed {
    /// The same side with the replies for each action in place of its tasks. `cells` are its cells, with
    /// their classes. Costs belong to tasks, not to actions, so they are left out.
    ///
    /// # Errors
    /// `compare.not-asked`: no cell has classes.
    pub fn by_action(self, cells: &[CellResult]) -> Result<Self, Failure> {
        let mut runs: Vec<(&CellKey, &CellClasses)> =
            cells.iter().filter_map(|cell| Some((&cell.key, cell.classes.as_ref()?))).collect();
        if runs.is_empty() {
            let message = format!("no stage of {} classifies actions", self.name);
            let help = "add a stage that classifies actions, such as `verifier-classes`; see docs/how-to/write-actions.md";
            return Err(Failure::new(
                planforge_contract::FailureClass::Request,
                "compare.not-asked",
                message,
            )
            .help(help));
        }
        runs.sort_by(|a, b| (&a.0.suite, a.0.seed).cmp(&(&b.0.suite, b.0.seed)));
        let mut replies: BTreeMap<(String, String), Vec<ProblemOutcome>> = BTreeMap::new();
        for (key, classes) in runs {
            for tally in &classes.actions {
                let mut own: Vec<ProblemOutcome> = tally
                    .counts
                    .iter()
                    .flat_map(|(fate, count)| (0..*count).map(move |_| outcome(*fate)))
                    .collect();
                // Which reply of one side meets which of the other is arbitrary; an order by class would not be, where one side has more.
                let count = own.len();
                Random::new(key.seed).shuffle_front(&mut own, count);
                let action = tally.action.to_lowercase();
                replies.entry((key.suite.clone(), action)).or_default().extend(own);
            }
        }
        let of_action = |((suite, action), outcomes): ((String, String), Vec<ProblemOutcome>)| {
            let one = move |(number, outcome): (u64, ProblemOutcome)| {
                action_observation(&suite, &action, number, outcome)
            };
            (1..).zip(outcomes).map(one).collect::<Vec<_>>()
        };
        Ok(Self {
            observations: replies.into_iter().flat_map(of_action).collect(),
            sessions: Default::default(),
            ..self
        })
    }
}

/// The outcome for a reply's class. An unreadable reply, or an action that does not fit the domain, is a no;
/// a reply that never came or could not be judged is open.
const fn outcome(fate: ReplyClass) -> ProblemOutcome {
    match fate.group() {
        Group::Equivalent => ProblemOutcome::Equivalent,
        Group::Syntax | Group::Semantic | Group::Different => ProblemOutcome::Different,
        Group::Undecided | Group::Fits => ProblemOutcome::Undecided,
        Group::Failed => ProblemOutcome::Failed,
    }
}

/// One reply: an action's name in the task's place, its number in the seed's, and its answer in the problem's.
fn action_observation(suite: &str, action: &str, number: u64, outcome: ProblemOutcome) -> Observation {
    Observation {
        key: TaskKey { suite: suite.to_owned(), task: action.to_owned(), seed: number },
        result: TaskResult { problem: Some(outcome), ..TaskResult::unfinished(action, &Judges::default()) },
        sha256: None,
        plan: None,
        cost: None,
        samples: Vec::new(),
    }
}

/// The answer of one stage for one sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SampleAnswer {
    /// It is right.
    Yes,
    /// It is wrong.
    No,
    /// The stage judged the sample without a decision.
    Open,
}

/// One sample.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sample {
    /// Answers of stages, by label.
    pub answers: BTreeMap<String, SampleAnswer>,
    /// Its metrics as `LABEL.NAME`.
    pub values: BTreeMap<String, f64>,
    /// Wrong where the judge itself has no word on it: another stage rejected it, its task was proven to have no plan or could not be read, or
    /// the reply held nothing usable. The last is an answer, not a breakage: the same reply would come again.
    pub wrong: bool,
    /// The reply held nothing usable.
    pub unusable: bool,
    /// Something broke in making it.
    pub broke: bool,
    /// It is word for word another sample of the group, as a server that ignores seeds gives them.
    pub copy: bool,
}

impl Sample {
    /// The answer of a judge; absent if the judge never saw the sample and nothing else settles it.
    pub fn answer(&self, judge: &str) -> Option<SampleAnswer> {
        match self.answers.get(judge) {
            Some(SampleAnswer::Yes) => Some(SampleAnswer::Yes),
            Some(SampleAnswer::No) => Some(SampleAnswer::No),
            _ if self.wrong => Some(SampleAnswer::No),
            _ if self.broke => Some(SampleAnswer::Open),
            said => said.copied(),
        }
    }
}

/// Samples of one question: the children that one stage made of one candidate. Where each candidate has one child, those of the nearest
/// ancestor that has several.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SampleGroup {
    /// The label of the stage.
    pub stage: String,
    pub samples: Vec<Sample>,
}

/// The groups of every stage outside refinement, in the order in which the stages came.
fn groups(task: &TaskHistory, judges: &Judges, rejecting: &[String]) -> Vec<SampleGroup> {
    let mut stages: Vec<&str> = Vec::new();
    for made in task.candidates.iter().filter(|made| outside_rounds(made)) {
        if !stages.contains(&made.stage.as_str()) {
            stages.push(&made.stage);
        }
    }
    let mut writers: BTreeSet<&str> = stages.iter().copied().collect();
    writers.extend(judges.writers.iter().map(String::as_str));
    let of = |stage: &&str| groups_of_stage(task, stage, &writers, rejecting);
    stages.iter().flat_map(of).collect()
}

fn outside_rounds(made: &MadeCandidate) -> bool {
    !made.candidate.lineage.is_empty() && made.candidate.lineage.iter().all(|step| !step.stage.contains('#'))
}

fn numbers(made: &MadeCandidate) -> Vec<u32> {
    made.candidate.lineage.iter().map(|step| step.sample).collect()
}

fn groups_of_stage(
    task: &TaskHistory,
    stage: &str,
    writers: &BTreeSet<&str>,
    rejecting: &[String],
) -> Vec<SampleGroup> {
    let own: Vec<(Vec<u32>, &MadeCandidate)> = task
        .candidates
        .iter()
        .filter(|made| made.stage == stage && outside_rounds(made))
        .map(|made| (numbers(made), made))
        .collect();
    let Some(depth) = own.iter().map(|(numbers, _)| numbers.len()).max() else { return Vec::new() };
    // Unusable samples, of this stage and of those before it.
    let lost: Vec<(Vec<u32>, bool)> = task
        .failed
        .iter()
        .filter_map(|(path, failure)| {
            let (label, place) = path.strip_prefix(&task.task)?.strip_prefix('/')?.split_once('/')?;
            let known = task.candidates.iter().any(|made| made.path == *path);
            let place: Option<Vec<u32>> = place.split('.').map(|number| number.parse().ok()).collect();
            let place = place.filter(|place| !known && writers.contains(label) && place.len() <= depth)?;
            Some((place, failure.class == FailureClass::Reply))
        })
        .collect();
    let shared = branching(depth, &own, &lost);
    let mut groups: BTreeMap<&[u32], SampleGroup> = BTreeMap::new();
    let mut replies: BTreeSet<(&[u32], &str)> = BTreeSet::new();
    for (numbers, made) in &own {
        let key = numbers.get(..shared).unwrap_or_default();
        let mut sample = sample(task, numbers, made, rejecting);
        let reply = made.patch.raw_reply.as_str();
        sample.copy = !reply.is_empty() && !replies.insert((key, reply));
        groups.entry(key).or_default().samples.push(sample);
    }
    for (place, unusable) in lost.iter().filter(|(place, _)| place.len() > shared) {
        let sample = Sample { wrong: *unusable, unusable: *unusable, broke: !unusable, ..Sample::default() };
        groups.entry(place.get(..shared).unwrap_or_default()).or_default().samples.push(sample);
    }
    groups.into_values().map(|group| SampleGroup { stage: stage.to_owned(), ..group }).collect()
}

/// Number of steps of descent the samples of one group share: as many as leave some group with more than one
/// sample.
fn branching(depth: usize, own: &[(Vec<u32>, &MadeCandidate)], lost: &[(Vec<u32>, bool)]) -> usize {
    let several = |shared: usize| {
        let mut seen: BTreeSet<&[u32]> = BTreeSet::new();
        let places = own.iter().map(|(numbers, _)| numbers).chain(lost.iter().map(|(place, _)| place));
        let mut places = places.filter(|place| place.len() > shared);
        places.any(|place| !seen.insert(place.get(..shared).unwrap_or_default()))
    };
    (0..depth).rev().find(|shared| several(*shared)).unwrap_or(depth.saturating_sub(1))
}

fn sample(task: &TaskHistory, numbers: &[u32], made: &MadeCandidate, rejecting: &[String]) -> Sample {
    let mut sample = Sample::default();
    for (label, assessment) in &made.assessments {
        let answer = match assessment.decision {
            Decision::Accepted => SampleAnswer::Yes,
            Decision::Rejected => SampleAnswer::No,
            Decision::Undecided { .. } | Decision::NotComparable { .. } => SampleAnswer::Open,
        };
        sample.wrong |= answer == SampleAnswer::No && rejecting.contains(label);
        sample.answers.insert(label.clone(), answer);
        let values = assessment.metrics.iter().map(|(name, value)| (format!("{label}.{name}"), *value));
        sample.values.extend(values);
    }
    let hopeless = |plan: &PlanOutcome| {
        matches!(plan, PlanOutcome::ProvenUnsolvable { .. } | PlanOutcome::Unreadable { .. })
    };
    sample.wrong |= made.plans.values().any(hopeless);
    // A call on the candidate that broke has the candidate's place behind the stage's label.
    let place: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    let place = place.join(".");
    for (path, _) in &task.failed {
        let of_task = path.strip_prefix(&task.task).and_then(|rest| rest.strip_prefix('/'));
        if let Some((label, _)) = of_task.and_then(|rest| rest.split_once('/')).filter(|(_, at)| *at == place)
            && label != made.stage
        {
            sample.answers.entry(label.to_owned()).or_insert(SampleAnswer::Open);
        }
    }
    sample
}
