//! `run`: a pipeline on a text or on tasks of a suite.

use crate::answers::{client_failure, file_failure, use_case_failure, wrong_arguments};
use crate::call::{Call, CallTexts, TextArgument};
use crate::folders::{temporary_failure, temporary_folder};
use crate::limits::{CallLimits, LimitArguments};
use crate::roots::{Roots, copy_suite, normalized};
use crate::tools::ToolKind;
use planforge_app::contract::{Candidate, Failure, PlanDocument, PlanOutcome};
use planforge_app::record::TaskVerdict;
use planforge_app::run::{
    ModelChoice, PipelineSource, RunRequest, RunResult, RunState, RunStorage, TaskReport, run,
};
use planforge_app::{Context, SHIPPED_PIPELINES};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) struct Run;

/// A pipeline and what it runs on.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunArguments {
    /// The pipeline.
    pipeline: PipelineArgument,
    /// The tasks.
    on: TasksArgument,
    /// The model: `client` for the client's own (the default if the client offers it), `file` for those of the pipeline file, or a
    /// value of `planforge run --model` such as `openai:gpt-5`, in the place of the table `main`.
    model: Option<String>,
    /// The run's seed.
    seed: Option<u64>,
    #[serde(default)]
    limits: LimitArguments,
}

/// A pipeline: one that comes with planforge, or a file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum PipelineArgument {
    /// Name of a pipeline that comes with planforge, such as `llm-p`; the resources `planforge://pipelines/NAME` are their texts.
    Name(String),
    /// A pipeline file, as TOML. It may name no other file.
    Text(String),
    /// A pipeline file under a root of the client.
    Path(String),
}

/// A text, or a suite.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum TasksArgument {
    /// One task in plain language.
    Task(OwnTask),
    /// Tasks of a suite.
    Suite(SuiteTasks),
}

/// A task in plain language. Without a reference nothing judges what the model wrote: its verdict is `planned` or `written` at best.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OwnTask {
    /// The domain in plain language.
    domain_text: String,
    /// The task in plain language.
    text: String,
    /// The domain as PDDL: pipelines such as `llm-p` need it.
    domain: Option<TextArgument>,
    /// The reference problem, which only the environment sees.
    problem: Option<TextArgument>,
}

/// Tasks of a suite under a root of the client.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SuiteTasks {
    /// The suite's folder.
    folder: String,
    /// The tasks, such as `p03`; left out: all.
    #[serde(default)]
    tasks: Vec<String>,
}

/// The result of a run.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RunAnswer {
    /// finished or interrupted.
    state: String,
    /// The tasks, in order.
    tasks: Vec<TaskRunAnswer>,
    /// The resource with the whole report; the server keeps the newest 20.
    pub(crate) report: String,
}

/// The result of one task.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TaskRunAnswer {
    /// The task's name.
    task: String,
    /// accepted, rejected, unsolvable, undecided, unusable or failed; without a reference planned (with a plan that is valid in the PDDL
    /// of the model) or written (without one) in the place of accepted; absent if the run was interrupted before.
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<String>,
    /// The reason of a verdict other than accepted, with its stage; of planned and written, the stages that did not judge.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// The domain, given or written.
    #[serde(skip_serializing_if = "Option::is_none")]
    domain: Option<String>,
    /// The problem, given or written.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    /// The plan in IPC form.
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<String>,
    /// Requests to models that were answered.
    requests: u64,
}

impl ToolKind for Run {
    type Arguments = RunArguments;
    type Answer = RunAnswer;
    const NAME: &'static str = "run";
    const TITLE: &'static str = "Run a pipeline";
    const DESCRIPTION: &'static str = "Runs a planforge pipeline (such as LLM+P) on a task in plain language, or on tasks of a suite: a model writes \
         PDDL, which is checked, planned for and validated. The client's own model answers the questions if it offers sampling. Programs \
         and servers that need the user's consent are refused.";
    const OPEN_WORLD: bool = true;

    fn call(call: &Call, arguments: RunArguments) -> Result<RunAnswer, Failure> {
        let limits = CallLimits::new(arguments.limits)?;
        let texts = call.texts(&limits);
        let model = model(call, arguments.model.as_deref())?;
        // Exists until the run is over.
        let folder = temporary_folder()?;
        let (place, text) = pipeline(&texts, &arguments.pipeline)?;
        let copies = Arc::new(Copies::new(&texts, &place, folder.path().join("root"))?);
        let own = matches!(arguments.on, TasksArgument::Task(_));
        let (tasks, suites) = tasks(call, &texts, &arguments.on, folder.path())?;
        let admitted = Arc::clone(&copies);
        let request = RunRequest {
            pipeline: PipelineSource::Text { name: copies.pipeline.display().to_string(), text },
            tasks,
            suites,
            model,
            seed: arguments.seed,
            storage: RunStorage::Memory {
                front: "serve mcp",
                admit_path: Arc::new(move |path| admitted.admit(path)),
            },
            jobs: JOBS,
            ..RunRequest::default()
        };
        let timer = call.cancel_after(&limits);
        let result =
            run(&call.context, &request).map_err(|error| copies.name_places(use_case_failure(&error)))?;
        drop(timer);
        // A run that was interrupted at the end of its time has a report.
        if !limits.is_over() {
            call.check_cancelled()?;
        }
        let state = match result.report.state {
            RunState::Interrupted => "interrupted",
            state => state.name(),
        };
        Ok(RunAnswer {
            state: state.to_owned(),
            tasks: result.report.tasks.iter().map(|task| task_answer(task, own)).collect(),
            report: keep(call, &result)?,
        })
    }
}

/// Requests and plugin calls in parallel.
const JOBS: u32 = 4;

/// Keeps the report as a resource.
fn keep(call: &Call, result: &RunResult) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(result)
        .map_err(|error| wrong_arguments(format!("the report has no JSON form: {error}")))?;
    Ok(call.session.reports.add(text))
}

/// The model that a call names: `client`, `file`, or a value of `--model`. Without a name, that of the client if it offers one.
pub(super) fn model(call: &Call, name: Option<&str>) -> Result<ModelChoice, Failure> {
    let offers = call.client.capabilities.sampling.is_some();
    match name {
        None | Some("client") if offers => Ok(ModelChoice::Client),
        Some("client") => Err(client_failure("this client offers no model (sampling)")
            .help("name a model in `model`, or `file` for those of the pipeline file")),
        None | Some("file") => Ok(ModelChoice::OfFile),
        Some(name) => Ok(ModelChoice::Named(name.to_owned())),
    }
}

/// The tasks of a run as stems of files, or as the folder of a suite: copies in `folder`.
fn tasks(
    call: &Call,
    texts: &CallTexts<'_>,
    on: &TasksArgument,
    folder: &Path,
) -> Result<(Vec<PathBuf>, Vec<PathBuf>), Failure> {
    let suite = match on {
        TasksArgument::Task(task) => {
            return Ok((Vec::new(), vec![write_task(&call.context, texts, task, folder)?]));
        }
        TasksArgument::Suite(suite) => suite,
    };
    if suite.tasks.iter().any(|stem| stem.contains(['/', '\\']) || stem.starts_with('.')) {
        return Err(wrong_arguments("a task is the stem of its files, such as `p03`"));
    }
    let suites = folder.join("suite");
    std::fs::create_dir(&suites).map_err(|error| temporary_failure(&error))?;
    let copied = copy_suite(&call.context, texts.roots()?, &suite.folder, &suites)?.copy;
    Ok(match suite.tasks.is_empty() {
        true => (Vec::new(), vec![copied]),
        false => (suite.tasks.iter().map(|stem| copied.join(stem)).collect(), Vec::new()),
    })
}

/// Path and text of the pipeline; only that of a file is absolute.
fn pipeline(texts: &CallTexts<'_>, argument: &PipelineArgument) -> Result<(PathBuf, String), Failure> {
    match argument {
        PipelineArgument::Name(name) => {
            let Some(found) = SHIPPED_PIPELINES.iter().find(|pipeline| pipeline.name == name) else {
                let names: Vec<&str> = SHIPPED_PIPELINES.iter().map(|pipeline| pipeline.name).collect();
                let failure = wrong_arguments(format!("there is no pipeline `{name}`"));
                return Err(failure.help(format!("known are {}", names.join(", "))));
            };
            Ok((format!("{name}.toml").into(), found.text.to_owned()))
        }
        PipelineArgument::Text(text) => Ok(("pipeline.toml".into(), texts.text(text)?)),
        PipelineArgument::Path(path) => texts.file(path),
    }
}

/// Copies of the files that a pipeline names, at the same places below a folder as below the root of the client.
#[derive(Debug, Default)]
struct Copies {
    roots: Roots,
    /// The root that has the pipeline file; empty if the pipeline is not a file.
    root: PathBuf,
    folder: PathBuf,
    /// The place of the pipeline file among the copies; the name of one that is not a file.
    pipeline: PathBuf,
}

impl Copies {
    fn new(texts: &CallTexts<'_>, pipeline: &Path, folder: PathBuf) -> Result<Self, Failure> {
        let mut copies = Self { folder, pipeline: pipeline.to_owned(), ..Self::default() };
        if pipeline.is_absolute() {
            copies.roots.clone_from(texts.roots()?);
            if let Some(root) = copies.roots.folders().iter().find(|root| pipeline.starts_with(root)) {
                copies.root.clone_from(root);
                copies.pipeline = copies.folder.join(pipeline.strip_prefix(root).unwrap_or(pipeline));
                // Paths with `..` need the folder of the pipeline file.
                make_parent(&copies.pipeline)?;
            }
        }
        Ok(copies)
    }

    /// Copies the file or folder whose copy a pipeline names.
    fn admit(&self, path: &Path) -> Result<(), Failure> {
        let copy = normalized(path);
        let Ok(below) = copy.strip_prefix(&self.folder) else {
            let why = "the pipeline names it, and is not a file under a root that has this file too";
            return Err(file_failure(&path.display().to_string(), why)
                .help("give the pipeline as {\"path\": ...}, with paths relative to it"));
        };
        make_parent(&copy)?;
        self.roots.copy(&self.root.join(below).display().to_string(), &copy)
    }

    /// A failure with the places below the root instead of those of the copies.
    fn name_places(&self, mut failure: Failure) -> Failure {
        let [copies, root] = [&self.folder, &self.root].map(|folder| folder.display().to_string());
        failure.message = failure.message.replace(&copies, &root);
        failure
    }
}

fn make_parent(path: &Path) -> Result<(), Failure> {
    path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(|error| temporary_failure(&error))
}

/// Writes a task as a suite of one task.
fn write_task(
    context: &Context,
    texts: &CallTexts<'_>,
    task: &OwnTask,
    folder: &Path,
) -> Result<PathBuf, Failure> {
    let folder = folder.join("task");
    std::fs::create_dir(&folder).map_err(|error| temporary_failure(&error))?;
    let write = |name: &str, text: &str| {
        std::fs::write(folder.join(name), text).map_err(|error| temporary_failure(&error))
    };
    write("domain.nl", &texts.text(&task.domain_text)?)?;
    write("task.nl", &texts.text(&task.text)?)?;
    for (name, argument) in [("domain.pddl", &task.domain), ("task.pddl", &task.problem)] {
        let Some(argument) = argument else { continue };
        let source = texts.read(name, argument)?;
        match source.read_pddl(context) {
            Ok(read) => write(name, &read.text)?,
            Err(found) if found.code == "pddl.empty" => write(name, "")?,
            Err(_) => return Err(file_failure(&source.name(), "it is empty or not a text")),
        }
    }
    Ok(folder)
}

fn reason_of(verdict: &TaskVerdict) -> Option<String> {
    if let Some(reason) = verdict.not_judged_reason() {
        return Some(reason);
    }
    let value = serde_json::to_value(verdict).ok()?;
    let message = value.get("message").or_else(|| value.pointer("/failure/message"))?.as_str()?;
    let stage = value.get("stage").and_then(|stage| stage.as_str()).unwrap_or_default();
    Some(format!("{stage}: {message}"))
}

fn task_answer(task: &TaskReport, own: bool) -> TaskRunAnswer {
    let candidate = task.candidate.as_ref();
    let text = |of: fn(&Candidate) -> &Option<String>| candidate.and_then(|candidate| of(candidate).clone());
    let plan = match candidate.and_then(|candidate| candidate.plan.as_ref()) {
        Some(PlanOutcome::Plan { plans, .. }) => plans.first().map(PlanDocument::to_ipc),
        _ => None,
    };
    TaskRunAnswer {
        task: if own { task.stem.clone() } else { task.task.clone() },
        verdict: task.verdict.as_ref().map(|verdict| verdict.name().to_owned()),
        reason: task.verdict.as_ref().and_then(reason_of),
        domain: text(|candidate| &candidate.domain),
        problem: text(|candidate| &candidate.problem),
        plan,
        requests: task.usage.values().map(|usage| usage.calls).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_of_a_task_without_a_reference_names_the_stages_that_did_not_judge() {
        let not_judged = vec!["environment".to_owned()];
        assert_eq!(
            reason_of(&TaskVerdict::Planned { not_judged }).unwrap(),
            "not judged by `environment`: this task has no reference"
        );
        let written = TaskVerdict::Written { not_judged: Vec::new() };
        assert_eq!(reason_of(&written).unwrap(), "not judged: this task has no reference");
        assert_eq!(reason_of(&TaskVerdict::Accepted), None);
    }
}
