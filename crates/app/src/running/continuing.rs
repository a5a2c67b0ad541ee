//! Runs that continue later: the command that goes on after a cap, a failure of a model's server, or a planner's time limit; answers collected before a
//! run continues, and batch files of the requests that remain.

use crate::context::Context;
use crate::error::Error;
use crate::running::manifest::stored_cassettes;
use crate::status::Status;
use planforge_contract::{Failure, FailureClass, LimitKind, PlanOutcome};
use planforge_diagnostics::SourceMap;
use planforge_llm::PendingRequest;
use planforge_model_api::batch::{BatchFolder, BatchReplies, Wave};
use planforge_pipeline::{Pipeline, RunReport, Stage, TaskReport};
use planforge_record::{Redactor, RunFolder, TaskVerdict};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The most seconds that `time_s` of a stage's limits can be.
const MOST_SECONDS: f64 = 1e6;

/// The hint at the end of a finished run in this folder, if another session or run can get further.
pub(crate) fn ending_hint(report: &RunReport, pipeline: &Pipeline, folder: &RunFolder) -> Option<String> {
    // Failures in the record of a replay are final; it can begin again for nothing.
    let is_replay = !stored_cassettes(folder.manifest()).is_empty();
    let folder = folder.path().display();
    let command = format!("planforge run --resume {folder}");
    let stages = report.tasks.iter().flat_map(|task| &task.stages);
    let samples = stages.flat_map(|stage| &stage.failed).map(|failed| &failed.failure);
    let verdicts = report.tasks.iter().filter_map(|task| match &task.verdict {
        Some(TaskVerdict::Failed { failure, .. }) => Some(failure),
        _ => None,
    });
    let failures: Vec<&Failure> = samples.chain(verdicts).filter(|_| !is_replay).collect();
    let mut raised: Vec<String> =
        failures.iter().filter_map(|failure| raised_cap(failure, pipeline)).collect();
    raised.sort();
    raised.dedup();
    if !raised.is_empty() {
        return Some(format!(
            "a cap was reached; go on with twice as much: `{command} --set {}`; nothing is paid for twice",
            raised.join(" --set ")
        ));
    }
    let Some(failed) = failures.into_iter().find(|failure| failure.class == FailureClass::Provider) else {
        let raised = report.tasks.iter().find_map(|task| raised_time_limit(task, pipeline))?;
        return Some(format!(
            "a planner reached its time limit; the command of this run with `--replay {folder} --set {raised}` takes the \
             recorded replies and plans for twice as long"
        ));
    };
    let what = match failed.code.as_str() {
        "llm.authentication" => "once the key is right",
        "llm.bad-request" | "llm.malformed" => "once the cause is gone",
        _ => "once the server answers",
    };
    Some(format!(
        "requests failed; {what}, `{command}` sends them again (`--set llm.NAME.base_url=...` asks another server)"
    ))
}

/// `stage.LABEL.limits.time_s=VALUE` with twice the time limit that left a task undecided. None for stages inside others.
fn raised_time_limit(task: &TaskReport, pipeline: &Pipeline) -> Option<String> {
    let Some(TaskVerdict::Undecided { stage: label, .. }) = &task.verdict else { return None };
    let plan = task.candidate.as_ref()?.plan.as_ref()?;
    if !matches!(plan, PlanOutcome::LimitReached { limit: LimitKind::Time, .. }) {
        return None;
    }
    let limit = pipeline.stages.iter().find_map(|stage| match stage {
        Stage::Plan(stage) if stage.label == *label => stage.limits.time_s,
        _ => None,
    })?;
    (limit < MOST_SECONDS).then(|| format!("stage.{label}.limits.time_s={}", (limit * 2.0).min(MOST_SECONDS)))
}

/// `llm.NAME.KEY=VALUE` with twice the value of the cap that was reached.
fn raised_cap(failure: &Failure, pipeline: &Pipeline) -> Option<String> {
    if failure.code != "llm.budget" {
        return None;
    }
    // The message is "the cap `KEY` of `NAME` is reached: ...".
    let mut names = failure.message.split('`').skip(1).step_by(2);
    let (key, name) = (names.next()?, names.next()?);
    let value = pipeline.llm.get(name)?.settings.get(key)?;
    let twice = match value.as_u64() {
        Some(value) => value.saturating_mul(2).max(1).to_string(),
        None => (value.as_f64()? * 2.0).to_string(),
    };
    Some(format!("llm.{name}.{key}={twice}"))
}

/// The answers to a run's or an evaluation's questions.
pub(crate) struct Batch {
    folder: BatchFolder,
    answers_read: Arc<BatchReplies>,
}

impl Batch {
    /// Reads the answers that are in a run's or an evaluation's folder, and takes up those in `given` files.
    ///
    /// # Errors
    /// Everything wrong with them; then nothing is run.
    pub(crate) fn collect_answers(
        context: &Context,
        folder: &Path,
        given: &[PathBuf],
        redactor: &Redactor,
    ) -> Result<Self, Error> {
        let folder = BatchFolder::of(folder);
        match folder.read_replies(given, redactor) {
            Ok(answers_read) => {
                context.findings(answers_read.warnings(), &SourceMap::default());
                Ok(Self { folder, answers_read: Arc::new(answers_read) })
            }
            Err(wrong) => Err(Error::findings(Status::Input, wrong, SourceMap::default())),
        }
    }

    /// The collected answers, for a run to look up.
    pub(crate) fn answers(&self) -> Arc<BatchReplies> {
        Arc::clone(&self.answers_read)
    }

    /// Writes pending requests that are not yet in a request file.
    pub(crate) fn write_requests(
        &self,
        context: &Context,
        pending: &[PendingRequest],
        redactor: &Redactor,
    ) -> Result<Wave, Error> {
        let wave = self.folder.write(pending, &self.answers_read, redactor)?;
        context.findings(&wave.warnings(), &SourceMap::default());
        Ok(wave)
    }

    /// The folder for answers.
    pub(crate) fn answers_folder(&self) -> PathBuf {
        self.folder.answers()
    }

    /// The folder of the run or evaluation, and the one for answers.
    pub(crate) fn folders(&self) -> (PathBuf, PathBuf) {
        let of = self.folder.path().parent().map(Path::to_owned).unwrap_or_default();
        (of, self.answers_folder())
    }
}
