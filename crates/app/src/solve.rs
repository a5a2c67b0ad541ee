//! A plan from a text alone: readings of the text, the points that it leaves open, and a plan that says what it rests on.
//!
//! The folder of a task keeps everything and is a suite. What the models wrote lies in `answer`, so that it is never taken
//! for a reference. An interrupted task goes on from its folder: runs are read again, answers are found in `questions.toml`.

mod behaviour;
mod dialogue;
mod folder;
mod numbers;
mod phrases;
mod questions;
mod readings;
mod talk;
mod trust;

pub use behaviour::BehaviourTest;
pub use folder::file_or_words;
pub use planforge_plugin_common::reading::{Part, Source as PartSource};
pub use questions::{OpenPoint, PointStatus, choice_of};
pub use trust::{Followed, NumberedSentence, Trust};

use crate::context::Context;
use crate::error::Error;
use crate::inputs::Source;
use crate::run::{ModelChoice, RunResult};
use crate::status::Status;
use behaviour::{Comparison, Found, Model, compare};
use dialogue::{Dialogue, Settings};
use folder::{ANSWER, Folder};
use phrases::{Phrases, of_number};
use planforge_contract::FailureClass;
use planforge_pipeline::RunState;
use planforge_plugin_common::reading::{join_texts, sentences};
use planforge_plugin_common::telling::{add_reasons, fill, tell_differences, tell_plan_in};
use planforge_plugin_sdk::wording::Wording;
use planforge_record::TaskVerdict;
use questions::{choice, said, statements};
use readings::{Readings, Refusal};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use talk::talk;

/// A task in words.
#[derive(Debug, Clone)]
pub struct SolveRequest {
    /// The text. Not read with `continued`.
    pub text: Option<Source>,
    /// The folder of an earlier use, which goes on.
    pub continued: Option<PathBuf>,
    /// A further statement of the author: the text is read anew with it.
    pub say: Option<String>,
    /// A domain in PDDL. The model then writes the problem alone.
    pub domain: Option<Source>,
    /// The rules in words, if they are not in the text.
    pub rules: Option<Source>,
    /// The folder that is made. Without it, the name of the text's file without its ending, or `task`.
    pub folder: Option<PathBuf>,
    /// The models that read the text, in turn. None: the model of the pipeline file, or those of the earlier use.
    pub models: Vec<ModelChoice>,
    /// Number of readings. `None`: that of the earlier use, else three.
    pub readings: Option<u32>,
    /// Most questions.
    pub questions: usize,
    /// False: nobody is asked, and open points are assumed.
    pub ask: bool,
    /// Answers, besides those in the folder.
    pub answers: Option<Answers>,
    /// Keys of the pipeline `solve` that are changed, as `KEY=VALUE`.
    pub set: Vec<String>,
    /// A cassette or run folder that all replies are taken from.
    pub replay: Option<PathBuf>,
    /// A cassette that the replies are written into.
    pub record: Option<PathBuf>,
}

impl Default for SolveRequest {
    /// No text, three readings, at most three questions.
    fn default() -> Self {
        Self {
            text: None,
            continued: None,
            say: None,
            domain: None,
            rules: None,
            folder: None,
            models: Vec::new(),
            readings: None,
            questions: 3,
            ask: true,
            answers: None,
            set: Vec::new(),
            replay: None,
            record: None,
        }
    }
}

/// Answers to the points that a text leaves open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answers {
    /// A file `questions.toml`, in the place of the folder's own.
    File(PathBuf),
    /// Id of a point of the folder -> its answer.
    ById(BTreeMap<String, String>),
}

/// The answer to a task in words.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SolveResult {
    /// What was reached and what it rests on, one line.
    pub line: String,
    /// What was reached.
    pub end: SolveEnd,
    /// The folder of the task.
    pub folder: PathBuf,
    /// The domain that the plan is for, or that the questions are about.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub domain: String,
    /// The problem.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub problem: String,
    /// The plan's steps as PDDL; empty if there is none.
    pub plan: Vec<String>,
    /// The plan in sentences.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
    /// True if it is proved that no plan is cheaper.
    pub optimal: bool,
    /// The points that the text leaves open.
    pub points: Vec<OpenPoint>,
    /// What the answer rests on; absent if no reading can be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trust: Option<Trust>,
    /// Points of which one alone, taken the other way, would make a plan: the question with that side, a sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub solvable_if: Vec<String>,
    /// Differences to the answer before a further statement, a sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
    /// Requests that were answered, in all runs of this version.
    pub requests: u64,
    /// Tokens of these requests and replies, as far as servers counted them.
    pub tokens: u64,
    /// The runs of this version, for what each stage did.
    #[serde(skip)]
    pub runs: Vec<RunResult>,
}

/// What was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SolveEnd {
    /// There is a plan.
    Planned,
    /// The readings have no plan, proved.
    Unsolvable,
    /// No plan was found: a limit was reached, or the PDDL has constructs that are not searched.
    NoPlanFound,
    /// Questions wait for answers in `questions.toml`.
    NeedsAnswers,
    /// Requests wait for replies, or the work was interrupted.
    Unfinished,
    /// The text asks for no plan, or contradicts itself.
    NotATask,
    /// No reading can be used.
    Failed,
}

impl SolveResult {
    /// The status of the end.
    pub fn status(&self) -> Status {
        let of_runs = || self.runs.iter().map(|run| run.status(true)).max().unwrap_or(Status::Undecided);
        match self.end {
            SolveEnd::Planned => Status::Good,
            SolveEnd::Unsolvable => Status::Negative,
            SolveEnd::NoPlanFound => Status::Undecided,
            SolveEnd::NeedsAnswers => Status::NeedsAnswers,
            SolveEnd::NotATask => Status::NotATask,
            SolveEnd::Unfinished | SolveEnd::Failed => match of_runs() {
                Status::Good | Status::Negative => Status::Unusable,
                status => status,
            },
        }
    }

    /// True if the requests to the model failed.
    pub fn lacks_model(&self) -> bool {
        let verdicts =
            self.runs.iter().flat_map(|run| &run.report.tasks).filter_map(|task| task.verdict.as_ref());
        let is_provider = |verdict: &TaskVerdict| matches!(verdict, TaskVerdict::Failed { failure, .. } if failure.class == FailureClass::Provider);
        self.end == SolveEnd::Failed && verdicts.into_iter().any(is_provider)
    }
}

/// Solves a task in words: models read the text several times, the readings are compared, what they leave open is asked about, and the plan
/// says what it rests on.
///
/// # Errors
/// A text that is missing, empty, or PDDL; a folder that exists; answers to another text; everything that [`crate::run::run`] refuses.
pub fn solve(context: &Context, request: &SolveRequest) -> Result<SolveResult, Error> {
    if request.say.is_some() && request.continued.is_none() {
        let help = "name the folder of the task with --continue";
        return Err(Error::usage("--say adds to a task that was solved before", Some(help)));
    }
    let mut folder = Folder::of(context, request)?;
    let answers = folder.answers(context, request.answers.as_ref());
    if answers.is_err() {
        folder.remove_unread()?;
    }
    let mut answers = answers?;
    if let Some(say) = &request.say {
        let mut said = statements(&answers, Phrases::of(&folder.text));
        said.push(say.clone());
        folder.add_version(&said)?;
        answers.clear();
    }
    loop {
        let runs = readings::runs(context, &folder, request);
        if runs.is_err() {
            folder.remove_unread()?;
        }
        let attempt = Attempt { context, folder: &folder, request, runs: runs?, answers: &answers };
        match attempt.end()? {
            Ended::Result(result) => return Ok(*result),
            Ended::Statements(statements) => {
                folder.add_version(&statements)?;
                answers.clear();
            }
        }
    }
}

/// The folder of a task as it is.
#[derive(Debug, Clone, Serialize)]
pub struct TaskView {
    /// The answer to the newest version, or how far it is.
    #[serde(flatten)]
    pub result: SolveResult,
    /// The versions of the text, the oldest first.
    pub versions: Vec<String>,
    /// The rules in words, if they are a text of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules: Option<String>,
    /// Domain and problem of each reading.
    pub readings: Vec<[String; 2]>,
}

/// Reads the folder of a task. Nothing is written, sent or asked: where that is needed, the task is unfinished or needs answers.
///
/// # Errors
/// The folder is not that of a task, or its record cannot be read.
pub fn view(context: &Context, folder: &Path) -> Result<TaskView, Error> {
    let mut request = SolveRequest { continued: Some(folder.to_owned()), ..SolveRequest::default() };
    let context = &Context { questions: None, ..context.without_events() };
    let mut folder = Folder::of(context, &request)?;
    folder.is_read_only = true;
    // An answer that was made without questions rests on assumptions.
    request.ask = !folder.has_answer();
    let answers = folder.answers(context, None)?;
    let runs = readings::recorded_runs(context, &folder)?;
    let is_complete = runs.is_some();
    let attempt = Attempt {
        context,
        folder: &folder,
        request: &request,
        runs: runs.unwrap_or_default(),
        answers: &answers,
    };
    let unfinished = |line: &str| attempt.result(SolveEnd::Unfinished, line.to_owned(), None);
    let result = match is_complete {
        false => unfinished("unfinished: the text is not read to the end."),
        true => {
            let waits =
                unfinished("unfinished: the text waits to be read anew with the words of its author.");
            match attempt.end()? {
                Ended::Result(result) => *result,
                Ended::Statements(_) => waits,
            }
        }
    };
    Ok(TaskView {
        result,
        versions: folder.texts(),
        rules: folder.rules.clone(),
        // Those on the disk may be of the version before.
        readings: if is_complete { folder.readings() } else { Vec::new() },
    })
}

/// The sentences of the newest version of a task's text and of its rules, numbered as [`Trust`] names them. Works while the text is read.
///
/// # Errors
/// The folder is not that of a task, or its text cannot be read.
pub fn sentences_of(context: &Context, folder: &Path) -> Result<Vec<NumberedSentence>, Error> {
    let request = SolveRequest { continued: Some(folder.to_owned()), ..SolveRequest::default() };
    let folder = Folder::of(context, &request)?;
    let text = join_texts(&folder.text, folder.rules.as_deref().unwrap_or_default());
    Ok(sentences(&text).iter().map(trust::numbered).collect())
}

/// One version of the text with its runs.
struct Attempt<'a> {
    context: &'a Context,
    folder: &'a Folder,
    request: &'a SolveRequest,
    runs: Vec<RunResult>,
    answers: &'a [OpenPoint],
}

enum Ended {
    Result(Box<SolveResult>),
    /// The author said what no choice expresses: the text is read anew.
    Statements(Vec<String>),
}

impl Attempt<'_> {
    fn end(self) -> Result<Ended, Error> {
        if let Some(run) = self.runs.iter().find(|run| run.report.state != RunState::Finished) {
            let line = match &run.pending {
                Some(wave) => format!("unfinished: {} requests wait for replies.", wave.pending),
                None => "unfinished: the readings were interrupted.".to_owned(),
            };
            return Ok(Ended::Result(Box::new(self.result(SolveEnd::Unfinished, line, None))));
        }
        let readings = Readings::of(&self.runs);
        let phrases = Phrases::of(&self.folder.text);
        // A reading that takes no action from the text finds none in it, either.
        let invented = readings.usable.iter().filter(|reading| reading.invents_actions()).count();
        let refusing = if readings.refusals.is_empty() { 0 } else { readings.refusals.len() + invented };
        if refusing > (readings.usable.len() - invented).max(readings.left_out.len()) {
            let (refusal, sentence) = &readings.refusals[0];
            let [no_task, contradiction, two_tasks] = phrases.not_a_task;
            let line = match refusal {
                Refusal::NoTask => no_task,
                Refusal::Contradiction => contradiction,
                Refusal::TwoTasks => two_tasks,
            };
            let line = fill(line, &[sentence]);
            return Ok(Ended::Result(Box::new(self.result(SolveEnd::NotATask, line, None))));
        }
        if readings.usable.is_empty() {
            let why = readings.left_out.first().map_or(String::new(), |why| format!(": {why}"));
            let line = format!("failed: none of {} readings can be used{why}.", readings.made);
            return Ok(Ended::Result(Box::new(self.result(SolveEnd::Failed, line, None))));
        }
        self.folder.remove("readings")?;
        for (number, reading) in readings.usable.iter().enumerate() {
            let name = |file: &str| format!("readings/{}/{file}", number + 1);
            self.folder.write(&name("domain.pddl"), &reading.model.domain_text)?;
            self.folder.write(&name("problem.pddl"), &reading.model.problem_text)?;
        }
        let settings = Settings {
            questions: self.request.questions,
            ask: self.request.ask,
            answers: self.answers,
            phrases,
        };
        let mut dialogue = talk(self.context, &readings.usable, &settings);
        if self.context.cancellation.is_cancelled() {
            // A comparison that was interrupted says nothing; the answers count.
            let given = |point: &OpenPoint| !point.answer.trim().is_empty();
            let mut answered: Vec<OpenPoint> = dialogue.points.into_iter().filter(given).collect();
            let is_new = |point: &&OpenPoint| answered.iter().all(|known| known.id != point.id);
            let earlier: Vec<OpenPoint> = self.answers.iter().filter(is_new).cloned().collect();
            answered.extend(earlier);
            self.folder.write_points(&answered)?;
            let line = "unfinished: the dialogue was interrupted; its answers are kept.".to_owned();
            return Ok(Ended::Result(Box::new(self.result(SolveEnd::Unfinished, line, None))));
        }
        for (_, sentence) in &readings.refusals {
            dialogue.remarks.push(format!("one reading says: {sentence}"));
        }
        let sheet: Vec<OpenPoint> = dialogue.points.iter().chain(&dialogue.kept).cloned().collect();
        self.folder.write_points(&sheet)?;
        if !dialogue.statements.is_empty() {
            return Ok(Ended::Statements(dialogue.statements));
        }
        self.answer(&readings, dialogue).map(|result| Ended::Result(Box::new(result)))
    }

    fn answer(self, readings: &Readings, dialogue: Dialogue) -> Result<SolveResult, Error> {
        let text = join_texts(&self.folder.text, self.folder.rules.as_deref().unwrap_or_default());
        let trust = Trust::of(readings, &dialogue, &text);
        let open = dialogue.points.iter().filter(|point| point.status == PointStatus::Open).count();
        let phrases = Phrases::of(&self.folder.text);
        let line = &phrases.line;
        let (end, reached) = match &dialogue.found {
            _ if open > 0 => (SolveEnd::NeedsAnswers, fill(of_number(line.needs_answers, open), &[&open])),
            Found::Plan { steps, .. } => {
                (SolveEnd::Planned, fill(of_number(line.planned, steps.len()), &[&steps.len()]))
            }
            Found::Unsolvable(_) => (SolveEnd::Unsolvable, line.unsolvable.to_owned()),
            Found::Open => (SolveEnd::NoPlanFound, line.no_plan_found.to_owned()),
        };
        let line = format!("{reached} {}", trust.sentence(open > 0, phrases));
        let mut result = self.result(end, line, Some(trust));
        result.points.clone_from(&dialogue.points);
        result.domain.clone_from(&dialogue.model.domain_text);
        result.problem.clone_from(&dialogue.model.problem_text);
        let folder = self.folder;
        let json = serde_json::to_string_pretty(&result.trust).unwrap_or_default();
        folder.write("trust.json", &json)?;
        folder.remove(ANSWER)?;
        if end == SolveEnd::NeedsAnswers {
            return Ok(result);
        }
        let model = &dialogue.model;
        if folder.domain.is_none() {
            folder.write("answer/domain.pddl", &model.domain_text)?;
        }
        folder.write("answer/problem.pddl", &model.problem_text)?;
        if let Found::Plan { steps, optimal, .. } = &dialogue.found {
            let plan = steps.join("\n") + "\n";
            folder.write("answer/plan", &plan)?;
            result.optimal = *optimal;
            result.plan.clone_from(steps);
            result.words = self.words(model, steps, phrases, &dialogue.allowed_by);
            match &result.words {
                Some(words) => folder.write("answer/plan.txt", words)?,
                None => {
                    self.context.warn("the plan is not told in sentences: it was not executed step by step")
                }
            }
        }
        if let Found::Unsolvable(why) = &dialogue.found {
            result.words = Some(why.clone());
            result.solvable_if =
                dialogue.solvable_if.iter().map(|point| said(point, point.follows)).collect();
        }
        result.changes = self.changes(&dialogue);
        Ok(result)
    }

    /// The plan in sentences; `None` if it cannot be executed here.
    fn words(
        &self,
        model: &Model,
        steps: &[String],
        phrases: &Phrases,
        allowed_by: &[(usize, String)],
    ) -> Option<String> {
        let report = model.validate(steps, true, self.context)?;
        let mut told = tell_plan_in(&report, &phrases.wording(&model.domain), &phrases.plan);
        add_reasons(&mut told, &report, &model.domain, model.problem.goal.as_ref(), &phrases.plan);
        for (at, answer) in allowed_by {
            if let Some(step) = told.steps.get_mut(*at) {
                let before = step.reason.take().map(|reason| reason + " ").unwrap_or_default();
                step.reason = Some(before + &fill(phrases.answered, &[answer]));
            }
        }
        let mut words = String::new();
        told.write(&mut words, &phrases.plan).ok()?;
        Some(words)
    }

    /// The differences to the answer of the version before: those of the domains, and the shortest steps that show another behaviour.
    fn changes(&self, dialogue: &Dialogue) -> Vec<String> {
        let earlier = |file| self.folder.earlier_answer(file);
        let domain = earlier("domain.pddl").or_else(|| self.folder.domain.clone());
        let (Some(domain), Some(problem)) = (domain, earlier("problem.pddl")) else { return Vec::new() };
        let Ok(before) = Model::read(&domain, &problem) else { return Vec::new() };
        let named = ("the earlier answer", "the new one");
        let mut changes =
            tell_differences(&before.domain, &dialogue.model.domain, named, &Wording::default());
        match compare(&before, &dialogue.model, self.context).0 {
            Comparison::Same => changes.push("the same steps are possible as before".to_owned()),
            Comparison::SameUpTo(steps) => {
                changes.push(format!(
                    "the same steps are possible as before, as far as {steps} steps were compared"
                ));
            }
            Comparison::Different(difference, _) => {
                let phrases = Phrases::of(&self.folder.text);
                let side =
                    |when, holds| choice(when, holds, &difference.test, &difference.conditions, phrases);
                let holds = difference.holds_in_first;
                changes.push(format!("{}, {}", side("before", holds), side("now", !holds)));
            }
            Comparison::Open(why) => {
                changes.push(format!("the steps were not compared with those before: {why}"))
            }
        }
        changes
    }

    fn result(&self, end: SolveEnd, line: String, trust: Option<Trust>) -> SolveResult {
        let usage =
            || self.runs.iter().flat_map(|run| &run.report.tasks).flat_map(|task| task.usage.values());
        SolveResult {
            line,
            end,
            folder: self.folder.shown.clone(),
            domain: String::new(),
            problem: String::new(),
            plan: Vec::new(),
            words: None,
            optimal: false,
            points: Vec::new(),
            trust,
            solvable_if: Vec::new(),
            changes: Vec::new(),
            requests: usage().map(|usage| usage.calls).sum(),
            tokens: usage().map(|usage| usage.prompt_tokens + usage.completion_tokens).sum(),
            runs: self.runs.clone(),
        }
    }
}

#[cfg(test)]
mod tests;
