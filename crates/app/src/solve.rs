//! A plan from a text alone, in a folder that keeps everything: the text, the PDDL that the model wrote, the plan, and the run.
//!
//! The folder is a suite with one task. What the model wrote lies in `answer`, so that it is never taken for a reference.

use crate::context::Context;
use crate::error::Error;
use crate::files::{read_named_text, read_text, unreadable, unwritable, write};
use crate::inputs::Source;
use crate::limits::RequestLimits;
use crate::pddl::Sentences;
use crate::pddl::tell::{TellRequest, TellResult, TellSubject, tell};
use crate::pipelines::shipped::SHIPPED_PIPELINES;
use crate::run::{ModelChoice, PipelineSource, RunRequest, RunResult, RunStorage, run};
use crate::status::Status;
use planforge_contract::{FailureClass, PlanOutcome};
use planforge_diagnostics::{Diagnostic, SourceId};
use planforge_record::TaskVerdict;
use serde::{Serialize, Serializer};
use std::path::{Path, PathBuf};

/// The name of the task in its folder.
const TASK: &str = "task";

/// The folder of the runs in it.
const RUNS: &str = "runs";

/// A task in words.
#[derive(Debug, Clone, Default)]
pub struct SolveRequest {
    /// The text, or the path of its file.
    pub text: String,
    /// A domain in PDDL. The model then writes the problem alone.
    pub domain: Option<PathBuf>,
    /// A file with the rules in words, if they are not in the text.
    pub rules: Option<PathBuf>,
    /// The folder that is made. Without it, the name of the text's file without its ending, or `task`.
    pub folder: Option<PathBuf>,
    /// The model that answers.
    pub model: ModelChoice,
    /// Keys of the pipeline `solve` that are changed, as `KEY=VALUE`.
    pub set: Vec<String>,
    /// A cassette or run folder that all replies are taken from.
    pub replay: Option<PathBuf>,
    /// A cassette that the replies are written into.
    pub record: Option<PathBuf>,
}

/// The answer to a task in words. Its JSON form is that of the run, with `folder` and `words`.
#[derive(Debug, Clone)]
pub struct SolveResult {
    /// The folder of the task.
    pub folder: PathBuf,
    /// The run, with one task.
    pub run: RunResult,
    /// The plan in sentences; absent where there is none.
    pub words: Option<String>,
}

impl SolveResult {
    /// Good if there is a plan or PDDL without a plan, else the status of the verdict.
    pub fn status(&self) -> Status {
        self.run.status(true)
    }

    /// True if the requests to the model failed.
    pub fn lacks_model(&self) -> bool {
        let verdict = self.run.report.tasks.first().and_then(|task| task.verdict.as_ref());
        matches!(verdict, Some(TaskVerdict::Failed { failure, .. }) if failure.class == FailureClass::Provider)
    }
}

impl Serialize for SolveResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Document<'r> {
            folder: String,
            #[serde(skip_serializing_if = "Option::is_none")]
            words: Option<&'r String>,
            #[serde(flatten)]
            run: &'r RunResult,
        }
        let folder = self.folder.display().to_string();
        Document { folder, words: self.words.as_ref(), run: &self.run }.serialize(serializer)
    }
}

/// Solves a task in words: the model writes PDDL, which is repaired until it has a plan, and the plan is executed in that PDDL.
///
/// # Errors
/// A text that is missing, empty, or PDDL; a folder that exists; everything that [`run`] refuses.
pub fn solve(context: &Context, request: &SolveRequest) -> Result<SolveResult, Error> {
    let (text, stem) = task_text(context, &request.text)?;
    let rules = request.rules.as_ref().map(|path| read_text(&context.path(path))).transpose()?;
    let domain = request.domain.as_ref().map(|path| read_text(&context.path(path))).transpose()?;
    let shown = request.folder.clone().unwrap_or_else(|| PathBuf::from(&stem));
    let folder = context.path(&shown);
    let texts = [
        ("task.nl", Some(text)),
        ("domain.nl", rules),
        ("domain.pddl", domain.clone()),
        ("suite.toml", Some(format!("schema = 1\nname = {:?}\n", suite_name(&stem)))),
    ];
    if folder.exists() && !is_unanswered(&folder, &texts) {
        let message = format!("{} exists already", shown.display());
        return Err(Error::usage(message, Some("name another folder with --out, or remove this one")));
    }
    let is_new = !folder.exists();
    for (file, text) in &texts {
        if let Some(text) = text {
            write(&folder.join(file), text.as_bytes())?;
        }
    }
    let result = run(context, &run_request(request, &folder, domain.is_some()));
    if result.is_err() && is_new && !folder.join(RUNS).exists() {
        // The request was refused: nothing but these files is in the folder.
        std::fs::remove_dir_all(&folder).map_err(|e| unwritable(&folder, &e))?;
    }
    let result = result?;
    let words = write_answer(context, &folder, domain.as_deref(), &result)?;
    Ok(SolveResult { folder: shown, run: result, words })
}

/// True if the folder has exactly these texts and no answer: an earlier attempt had no plan.
fn is_unanswered(folder: &Path, texts: &[(&str, Option<String>)]) -> bool {
    let is_same = |(file, text): &(&str, Option<String>)| {
        let path = folder.join(file);
        match text {
            Some(text) => read_named_text(&path).is_ok_and(|existing| existing == *text),
            None => !path.exists(),
        }
    };
    texts.iter().all(is_same) && !folder.join("answer").exists()
}

/// The text and a name for its folder.
fn task_text(context: &Context, given: &str) -> Result<(String, String), Error> {
    let path = context.path(Path::new(given));
    let (text, stem) = match path.is_file() {
        true => {
            let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or(TASK);
            // A file without an ending has the path of its folder.
            let stem = if path.extension().is_some() { stem.to_owned() } else { format!("{stem}-task") };
            (read_text(&path)?, stem)
        }
        false if given.split_whitespace().nth(1).is_some() => (given.to_owned(), TASK.to_owned()),
        false => {
            let diagnostic = Diagnostic::error(
                "solve.no-text",
                format!("`{given}` is neither a file nor a text of several words"),
            );
            let help = "check the path, or write the task itself in quotes: planforge solve \"There are three rooms ...\"";
            return Err(unreadable(&path, diagnostic.help(help)));
        }
    };
    let found = planforge_pddl::find_pddl(&text, SourceId(0));
    if found.domains.iter().chain(&found.problems).any(|block| block.has_sections) {
        let diagnostic = Diagnostic::error("solve.pddl", "the text holds PDDL, not a task in words");
        let help =
            "plan with `planforge pddl plan DOMAIN PROBLEM`; a domain for a task in words goes to --domain";
        return Err(unreadable(&path, diagnostic.help(help)));
    }
    Ok((text, stem))
}

/// A name that a suite may have.
fn suite_name(stem: &str) -> String {
    stem.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '-' }).collect()
}

fn run_request(request: &SolveRequest, folder: &Path, has_domain: bool) -> RunRequest {
    let shipped = SHIPPED_PIPELINES.iter().find(|pipeline| pipeline.name == "solve");
    let mut set: Vec<String> = Vec::new();
    if has_domain {
        set.push("given.domain=true".to_owned());
    }
    set.extend(request.set.iter().cloned());
    RunRequest {
        pipeline: PipelineSource::Text {
            name: "solve.toml".to_owned(),
            text: shipped.map_or("", |pipeline| pipeline.text).to_owned(),
        },
        tasks: vec![folder.join(TASK)],
        model: request.model.clone(),
        set,
        replay: request.replay.clone(),
        record: request.record.clone(),
        storage: RunStorage::Folder(folder.join(RUNS)),
        jobs: 1,
        ..RunRequest::default()
    }
}

/// Writes what the model wrote, and the plan as PDDL and in sentences. Returns the sentences.
fn write_answer(
    context: &Context,
    folder: &Path,
    given_domain: Option<&str>,
    result: &RunResult,
) -> Result<Option<String>, Error> {
    let Some(task) = result.report.tasks.first() else { return Ok(None) };
    let Some(candidate) = &task.candidate else { return Ok(None) };
    let answer = folder.join("answer");
    let domain = match given_domain {
        Some(_) => folder.join("domain.pddl"),
        None => answer.join("domain.pddl"),
    };
    let written = [
        (&domain, candidate.domain.as_ref().filter(|_| given_domain.is_none())),
        (&answer.join("problem.pddl"), candidate.problem.as_ref()),
    ];
    for (path, text) in written {
        if let Some(text) = text {
            write(path, text.as_bytes())?;
        }
    }
    let plan = candidate.plan.as_ref().and_then(PlanOutcome::best);
    let (Some(TaskVerdict::Planned { .. }), Some(plan)) = (&task.verdict, plan) else { return Ok(None) };
    let text = plan.to_ipc();
    write(&answer.join("plan"), text.as_bytes())?;
    let told = tell(
        context,
        &TellRequest {
            domain: Source::File(domain),
            subject: TellSubject::Plan {
                problem: Source::File(answer.join("problem.pddl")),
                plan: Source::text("plan", text),
            },
            sentences: Sentences::default(),
            limits: RequestLimits::default(),
        },
    );
    let told = match told {
        Ok(TellResult::Plan { told, .. }) => told,
        Ok(TellResult::Differences(_)) => return Ok(None),
        Err(error) => {
            context.warn(format!("the plan is not told in sentences: {error}"));
            return Ok(None);
        }
    };
    let words = told.to_string();
    write(&answer.join("plan.txt"), words.as_bytes())?;
    Ok(Some(words))
}
