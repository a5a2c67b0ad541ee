//! Texts from PDDL (exploration-walk paper, Appendix C).
//!
//! The first task without a text is run first, with other suites' texts as examples. It also writes the
//! domain's text, the sentences and the descriptions of types. The other tasks then use it as a model, so
//! that all tasks of a suite have the same style.

use super::files::{Entry, Files};
use crate::context::Context;
use crate::error::Error;
use crate::events::Notice;
use crate::files::read_text;
use crate::pipelines::loaded::{LoadedPipeline, check_pipeline, require_immediate_answers};
use crate::running::recorded::NewRun;
use crate::status::{Status, of_report};
use planforge_contract::{
    EnvironmentOpen, Failure, FailureClass, Given, LeadMaterials, Materials, ReportedDiagnostic,
    ReportedSeverity, Sentences, SuiteMaterials, TaskView,
};
use planforge_diagnostics::render::escape;
use planforge_diagnostics::{Diagnostic, SourceId, SourceMap};
use planforge_llm::Mode;
use planforge_pipeline::{
    LoadedSuite, RunReport, RunState, RunTask, Suite, SuiteTask, TaskReport, load_leniently,
};
use planforge_record::TaskUse;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A suite whose missing texts a model writes.
#[derive(Debug, Clone, Default)]
pub struct DescribeRequest {
    /// The suite's folder, with domain.pddl and a problem for each task.
    pub suite: PathBuf,
    /// The pipeline file: stages of `translator-describe`.
    pub pipeline: PathBuf,
    /// Suites whose texts are in-context examples; empty for planforge's own.
    pub examples: Vec<PathBuf>,
    /// Keys of the pipeline file that are changed, as `KEY=VALUE`.
    pub set: Vec<String>,
    /// Folder for the texts; `None` for the suite's.
    pub out: Option<PathBuf>,
    /// True to rewrite existing texts too.
    pub force: bool,
    /// Cassettes or run folders that every reply is taken from.
    pub replay: Vec<PathBuf>,
    /// Folder for run folders.
    pub runs: PathBuf,
    /// Tasks in parallel.
    pub jobs: u32,
}

/// The written texts.
#[derive(Debug, Clone, Serialize)]
pub struct DescribeResult {
    /// Name of the suite.
    pub suite: String,
    /// True if no text is missing and nothing broke.
    pub complete: bool,
    /// The files.
    pub files: Vec<Entry>,
    /// Stems of the tasks that still have no text.
    pub without_text: Vec<String>,
    /// Good if no text is missing; else what kept one from being written.
    #[serde(skip)]
    pub status: Status,
}

/// The file that holds the sentences and what the types are.
const SENTENCES_FILE: &str = "sentences.toml";
/// The names of the texts, as `translator-describe` gives them.
const DOMAIN_TEXT: &str = "domain-text";
const TASK_TEXT: &str = "task-text";
const SENTENCES: &str = "sentences";
const TYPES: &str = "types";

/// Lets a model write the missing texts of a suite: domain, facts, types, tasks.
///
/// # Errors
/// As of a run; a suite without PDDL, or a pipeline that does not give it.
pub fn describe(context: &Context, request: &DescribeRequest) -> Result<DescribeResult, Error> {
    let suite = suite(context, request)?;
    let checked = pipeline(context, request)?;
    let folders: Vec<PathBuf> = request.examples.iter().map(|folder| context.path(folder)).collect();
    let examples = example_suites(&folders, &suite.name)?;
    let mut work = Describer {
        context,
        args: request,
        checked: &checked,
        suite: &suite,
        examples,
        texts: SuiteTexts::of(&suite, request.force),
    };
    let mut status = Status::Good;
    let mut open = work.texts.open(&suite);
    // Where every task has its text and the domain lacks one, the first task still carries the questions.
    let lead = open.first().copied().or(suite.tasks.iter().find(|t| t.reference_problem.is_some()));
    if let Some(lead) = lead.filter(|_| !work.texts.is_complete(&suite)) {
        status = status.max(work.phase(&[lead])?);
        open.retain(|task| task.stem != lead.stem);
    }
    if !open.is_empty() && work.texts.tasks.values().any(|text| !text.is_empty()) {
        status = status.max(work.phase(&open)?);
    }
    let files = work.write()?;
    if !work.texts.is_complete(&suite) {
        // What came was not what was asked for, which is the model's, not the command's, doing.
        status = status.max(Status::Unusable);
    }
    let without_text = work.texts.open(&suite).iter().map(|task| task.stem.clone()).collect();
    Ok(DescribeResult {
        complete: status == Status::Good,
        suite: suite.name.clone(),
        files,
        without_text,
        status,
    })
}

fn suite(context: &Context, args: &DescribeRequest) -> Result<Suite, Error> {
    let LoadedSuite { suite, diagnostics, sources } = load_leniently(&context.path(&args.suite));
    // What is missing is what this command is there for.
    let errors: Vec<_> = diagnostics.into_iter().filter(Diagnostic::is_error).collect();
    let Some(suite) = suite.filter(|_| errors.is_empty()) else {
        return Err(Error::findings(Status::Input, errors, sources));
    };
    if suite.reference_domain.is_none() || suite.tasks.iter().all(|t| t.reference_problem.is_none()) {
        let message = format!("{} has no domain.pddl with problems to describe", args.suite.display());
        let diagnostic = Diagnostic::error("cli.nothing-to-describe", message);
        return Err(Error::findings(Status::Input, vec![diagnostic], SourceMap::default()));
    }
    Ok(suite)
}

fn pipeline(context: &Context, args: &DescribeRequest) -> Result<LoadedPipeline, Error> {
    let path = context.path(&args.pipeline);
    let name = path.display().to_string();
    let text = read_text(&path)?;
    let checked = check_pipeline(context, &text, &name, &args.set)?;
    require_immediate_answers(&checked, "planforge suite describe")?;
    let given = &checked.pipeline.config.given;
    if !given.domain || !given.problem {
        let message = format!("{name} does not give the domain and the problem, which are to be described");
        let diagnostic = Diagnostic::error("cli.nothing-to-describe", message)
            .help("add `[given]` with `domain = true` and `problem = true`");
        return Err(Error::findings(Status::Pipeline, vec![diagnostic], SourceMap::default()));
    }
    Ok(checked)
}

/// The texts so far: those of the suite that stay, and those that were written. An empty one is to be written.
struct SuiteTexts {
    domain: String,
    sentences: String,
    types: String,
    tasks: BTreeMap<String, String>,
}

impl SuiteTexts {
    fn of(suite: &Suite, force: bool) -> Self {
        let kept = |text: &str| if force { String::new() } else { text.to_owned() };
        let tasks = suite.tasks.iter().map(|task| (task.stem.clone(), kept(&task.text))).collect();
        let sentences = if force { String::new() } else { json(&suite.sentences) };
        let types = if force { String::new() } else { json(&suite.types) };
        Self { domain: kept(&suite.domain_text), sentences, types, tasks }
    }

    /// The tasks with a problem and without a text.
    fn open<'s>(&self, suite: &'s Suite) -> Vec<&'s SuiteTask> {
        let silent = |stem: &str| self.tasks.get(stem).is_none_or(String::is_empty);
        suite.tasks.iter().filter(|t| t.reference_problem.is_some() && silent(&t.stem)).collect()
    }

    fn is_complete(&self, suite: &Suite) -> bool {
        !self.domain.is_empty()
            && !self.sentences.is_empty()
            && (!self.types.is_empty() || !has_types(suite))
            && self.open(suite).is_empty()
    }
}

fn has_types(suite: &Suite) -> bool {
    let domain = suite.reference_domain.as_deref().unwrap_or_default();
    let types = planforge_pddl::parse_domain(domain, SourceId(0)).value.types;
    types.iter().any(|ty| !ty.name.is("object"))
}

fn json<T: serde::Serialize>(texts: &BTreeMap<String, T>) -> String {
    match texts.is_empty() {
        true => String::new(),
        false => serde_json::to_string(texts).unwrap_or_default(),
    }
}

/// Entries of a text that is a JSON object, as [`json`] writes it, or TOML with a table of that name, as the translator writes it.
fn read_table<T: serde::de::DeserializeOwned>(text: &str, table: &str) -> BTreeMap<String, T> {
    let of_toml = || toml::from_str::<BTreeMap<String, BTreeMap<String, T>>>(text).ok()?.remove(table);
    serde_json::from_str(text).ok().or_else(of_toml).unwrap_or_default()
}

struct Describer<'a> {
    context: &'a Context,
    args: &'a DescribeRequest,
    checked: &'a LoadedPipeline,
    suite: &'a Suite,
    examples: Vec<SuiteMaterials>,
    texts: SuiteTexts,
}

impl Describer<'_> {
    /// Runs the pipeline over some tasks and collects its texts.
    fn phase(&mut self, tasks: &[&SuiteTask]) -> Result<Status, Error> {
        let tasks: Vec<(RunTask, TaskUse)> =
            tasks.iter().map(|task| (self.task(task), self.task_use(task))).collect();
        let mode = if self.args.replay.is_empty() { Mode::Live } else { Mode::Replay };
        let new = NewRun {
            overrides: &self.args.set,
            explainer: None,
            runs: &self.context.path(&self.args.runs),
            jobs: self.args.jobs,
            mode,
            cassettes: &self.args.replay.iter().map(|path| self.context.path(path)).collect::<Vec<_>>(),
        };
        let (ended, run, _) = new.run(self.context, self.checked, &tasks)?;
        let path = run.folder.path().display().to_string();
        self.context.note(Notice::Remark(format!("the requests and replies are in {path}")));
        let report = ended.report;
        if report.state != RunState::Finished {
            let note = format!(
                "{}; go on with `planforge run --resume {path}`, then describe again with `--replay {path}`",
                report.state.name()
            );
            self.context.note(Notice::Remark(note));
        }
        report.tasks.iter().for_each(|task| self.take(task));
        Ok(self.judge(&report))
    }

    /// The sentences that stay, under the name by which `translator-describe` finds them.
    fn kept_sentences(&self) -> BTreeMap<String, String> {
        let sentences = &self.texts.sentences;
        (!sentences.is_empty()).then(|| (SENTENCES.to_owned(), sentences.clone())).into_iter().collect()
    }

    fn task(&self, task: &SuiteTask) -> RunTask {
        let lead = match self.lead(task) {
            Some((problem, text)) => LeadMaterials { text: Some(text), problem: Some(problem) },
            None => LeadMaterials::default(),
        };
        let materials = Materials {
            suites: self.examples.clone(),
            other: self.kept_sentences(),
            types: read_table(&self.texts.types, TYPES),
            lead,
            ..Materials::default()
        };
        let view = TaskView {
            suite: self.suite.name.clone(),
            task: task.stem.clone(),
            domain_text: self.texts.domain.clone(),
            task_text: self.texts.tasks.get(&task.stem).cloned().unwrap_or_default(),
            given: Given {
                domain: self.suite.reference_domain.clone(),
                problem: task.reference_problem.clone(),
            },
            action_interface: None,
            materials,
        };
        RunTask {
            name: format!("{}.{}", self.suite.name, task.stem),
            view,
            reference: EnvironmentOpen::default(),
            picture: None,
            renaming: None,
            not_given: Vec::new(),
        }
    }

    /// A task of this suite that has its text: the example for the others.
    fn lead(&self, asked: &SuiteTask) -> Option<(String, String)> {
        self.suite.tasks.iter().filter(|task| task.stem != asked.stem).find_map(|task| {
            let text = self.texts.tasks.get(&task.stem).filter(|text| !text.is_empty())?;
            Some((task.reference_problem.clone()?, text.clone()))
        })
    }

    fn task_use(&self, task: &SuiteTask) -> TaskUse {
        TaskUse {
            name: format!("{}.{}", self.suite.name, task.stem),
            suite: self.suite.folder.display().to_string(),
            task: task.stem.clone(),
            sha256: self.suite.digest(task),
            add_on: None,
        }
    }

    fn take(&mut self, report: &TaskReport) {
        for written in &report.written {
            for found in &written.diagnostics {
                self.context.note(Notice::Remark(diagnostic_line(&report.stem, found)));
            }
        }
        for stage in &report.stages {
            for failed in &stage.failed {
                let line = format!("error: {}, {}: {}", report.stem, stage.label, failed.failure);
                self.context.note(Notice::Remark(escape(&line)));
            }
        }
        let Some(candidate) = &report.candidate else { return };
        for (name, text) in &candidate.texts.named {
            match name.as_str() {
                DOMAIN_TEXT => self.texts.domain.clone_from(text),
                SENTENCES => self.texts.sentences.clone_from(text),
                TYPES => self.texts.types.clone_from(text),
                TASK_TEXT => drop(self.texts.tasks.insert(report.stem.clone(), text.clone())),
                _ => {}
            }
        }
    }

    /// The status of missing texts. The verdicts do not count, as nothing is verified here.
    fn judge(&self, report: &RunReport) -> Status {
        match report.tasks.iter().all(|task| task.candidate.is_some()) && report.state == RunState::Finished {
            true => Status::Good,
            false => of_report(report, false),
        }
    }

    /// Writes what is new.
    fn write(&self) -> Result<Vec<Entry>, Error> {
        let mut files = Vec::new();
        let mut add = |name: String, text: &str, old: &str| {
            if !text.is_empty() && text != old {
                files.push((name, text.to_owned()));
            }
        };
        add("domain.nl".to_owned(), &self.texts.domain, &self.suite.domain_text);
        let texts = self.sentences_file()?;
        add(SENTENCES_FILE.to_owned(), &texts, "");
        for task in &self.suite.tasks {
            let text = self.texts.tasks.get(&task.stem).map_or("", String::as_str);
            add(format!("{}.nl", task.stem), text, &task.text);
        }
        let folder = self.context.path(self.args.out.as_deref().unwrap_or(&self.args.suite));
        // What is added to this file leaves all that a person wrote in it.
        Files::new(&folder, files).completing(SENTENCES_FILE).write(self.args.force)
    }

    /// The new text of `sentences.toml`. Existing parts keep their wording in the file. Empty if nothing is
    /// new.
    fn sentences_file(&self) -> Result<String, Error> {
        let new = |texts: &String, kept: String| Some(texts.clone()).filter(|t| !t.is_empty() && *t != kept);
        let sentences = new(&self.texts.sentences, json(&self.suite.sentences));
        let types = new(&self.texts.types, json(&self.suite.types));
        let path = self.suite.folder.join(SENTENCES_FILE);
        let file = || match path.exists() {
            false => Ok(String::new()),
            true => read_text(&path),
        };
        let both = |first: String, second: String| match first.trim().is_empty() {
            true => second,
            false => format!("{}\n\n{second}", first.trim_end()),
        };
        Ok(match (sentences, types) {
            (None, None) => String::new(),
            (Some(sentences), Some(types)) => both(types, sentences),
            (None, Some(types)) => both(file()?, types),
            (Some(sentences), None) => both(file()?, sentences),
        })
    }
}

fn diagnostic_line(stem: &str, found: &ReportedDiagnostic) -> String {
    let severity = match found.severity {
        ReportedSeverity::Error => "error",
        ReportedSeverity::Warning => "warning",
        ReportedSeverity::Advice => "advice",
    };
    escape(&format!("{severity}: {stem}: {} [{}]", found.message, found.code))
}

macro_rules! own {
    ($name:literal) => {
        Texts {
            name: $name,
            domain: include_str!(concat!("../../../../examples/suites/", $name, "/domain.pddl")),
            domain_text: include_str!(concat!("../../../../examples/suites/", $name, "/domain.nl")),
            problem: include_str!(concat!("../../../../examples/suites/", $name, "/p_example.pddl")),
            text: include_str!(concat!("../../../../examples/suites/", $name, "/p_example.nl")),
            sentences: include_str!(concat!("../../../../examples/suites/", $name, "/sentences.toml")),
        }
    };
}

/// The files of one of our suites.
struct Texts {
    name: &'static str,
    domain: &'static str,
    domain_text: &'static str,
    problem: &'static str,
    text: &'static str,
    sentences: &'static str,
}

/// Suites as unlike each other as those that the paper chose (Appendix C), in the order in which they are shown.
const OWN: [Texts; 3] = [own!("grippers"), own!("childsnack"), own!("termes")];

/// The example suites for `translator-describe`. A suite of the described one's name is left out: its texts are what is to be written.
fn example_suites(folders: &[PathBuf], described: &str) -> Result<Vec<SuiteMaterials>, Error> {
    let mut suites = if folders.is_empty() { own(described)? } else { read_examples(folders, described)? };
    suites.truncate(Materials::MAX_SUITES);
    Ok(suites)
}

fn own(described: &str) -> Result<Vec<SuiteMaterials>, Error> {
    let folder = tempfile::tempdir().map_err(|error| {
        Failure::new(FailureClass::System, "record.io", format!("no folder for temporary files: {error}"))
    })?;
    let mut folders = Vec::new();
    for suite in OWN {
        let path = folder.path().join(suite.name);
        let files = [
            ("domain.pddl", suite.domain),
            ("domain.nl", suite.domain_text),
            ("p_example.pddl", suite.problem),
            ("p_example.nl", suite.text),
            ("sentences.toml", suite.sentences),
        ];
        let written = std::fs::create_dir(&path)
            .and_then(|()| files.iter().try_for_each(|(name, text)| std::fs::write(path.join(name), text)));
        written.map_err(|error| {
            let message = format!("temporary files cannot be written: {error}");
            Failure::new(FailureClass::System, "record.io", message)
        })?;
        folders.push(path);
    }
    read_examples(&folders, described)
}

fn read_examples(folders: &[PathBuf], described: &str) -> Result<Vec<SuiteMaterials>, Error> {
    let mut examples = Vec::new();
    for folder in folders {
        let LoadedSuite { suite, diagnostics, sources } = load_leniently(folder);
        let errors: Vec<_> = diagnostics.into_iter().filter(|d| d.is_error()).collect();
        let Some(suite) = suite.filter(|_| errors.is_empty()) else {
            return Err(Error::findings(Status::Input, errors, sources));
        };
        if suite.name == described {
            continue;
        }
        let solved = suite.example.as_ref().map(|e| (e.problem.clone(), e.text.clone()));
        let first = suite.tasks.first().map(|t| (t.reference_problem.clone(), t.text.clone()));
        let (problem, text) = solved.or(first).unwrap_or_default();
        let types = types(&suite);
        let present = |text: String| Some(text).filter(|text| !text.is_empty());
        examples.push(SuiteMaterials {
            domain: suite.reference_domain.and_then(present),
            domain_text: present(suite.domain_text),
            problem: problem.and_then(present),
            text: present(text),
            sentences: present(sentences_json(&suite.sentences)),
            types: present(types),
        });
    }
    Ok(examples)
}

/// Descriptions in the format requested of a model: of every type, or none.
fn types(suite: &Suite) -> String {
    let domain = suite.reference_domain.as_deref().unwrap_or_default();
    let declared = planforge_pddl::parse_domain(domain, SourceId(0)).value.types;
    let all = declared.iter().all(|ty| suite.types.contains_key(&ty.name.as_str().to_ascii_lowercase()));
    match suite.types.is_empty() || !all {
        true => String::new(),
        false => serde_json::to_string_pretty(&suite.types).unwrap_or_default(),
    }
}

/// Sentences in the format requested of a model.
fn sentences_json(sentences: &BTreeMap<String, Sentences>) -> String {
    let complete: BTreeMap<_, _> = sentences.iter().filter(|(_, s)| !s.no.is_empty()).collect();
    match complete.is_empty() {
        true => String::new(),
        false => serde_json::to_string_pretty(&complete).unwrap_or_default(),
    }
}
