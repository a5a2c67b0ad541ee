//! `planforge suite describe`: texts from PDDL (exploration-walk paper, Appendix C).
//!
//! The first task without a text is run first, with other suites' texts as examples. It also writes the
//! domain's text, the sentences and the descriptions of types. The other tasks then use it as a model, so
//! that all tasks of a suite have the same style.

use super::examples;
use super::files::{Entry, Files, counted};
use crate::context::Context;
use crate::exit::Exit;
use crate::exit::of_report;
use crate::inputs::read_text;
use crate::pipeline::LoadedPipeline;
use crate::pipeline::check_pipeline;
use crate::pipeline::require_immediate_answers;
use crate::recorded_run::NewRun;
use clap::Args;
use planforge_contract::{
    EnvironmentOpen, Given, LeadMaterials, Materials, ReportedDiagnostic, ReportedSeverity, SuiteMaterials,
    TaskView,
};
use planforge_diagnostics::render::escape;
use planforge_diagnostics::{Diagnostic, SourceId, SourceMap};
use planforge_llm::Mode;
use planforge_pipeline::{
    LoadedSuite, RunReport, RunState, RunTask, Suite, SuiteTask, TaskReport, load_leniently,
};
use planforge_record::TaskUse;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Let a model write the missing texts of a suite: domain, facts, tasks.
#[derive(Debug, Args)]
#[command(
    after_help = "The pipeline file says which model; in-context examples are planforge's own suites, or those that --example names.

Examples:
  planforge suite describe my-suite --pipeline configs/pipelines/describe.toml --set llm.main.model=gpt-4o
  planforge suite describe my-suite --pipeline describe.toml --example examples/suites/hiking --out /tmp/texts"
)]
pub(crate) struct SuiteDescribeArgs {
    /// The suite's folder, with domain.pddl and a problem NAME.pddl for each task.
    pub(crate) suite: PathBuf,
    /// The pipeline file: stages of `translator-describe`, such as configs/pipelines/describe.toml.
    #[arg(long, value_name = "FILE")]
    pub(crate) pipeline: PathBuf,
    /// A suite whose texts are shown as an in-context example, instead of planforge's own. May be given several times.
    #[arg(long, value_name = "DIR")]
    pub(crate) example: Vec<PathBuf>,
    /// Override a key of the pipeline file, such as `llm.main.model=gpt-4o`.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) overrides: Vec<String>,
    /// Write the texts into this folder instead.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Rewrite existing texts too.
    #[arg(long)]
    pub(crate) force: bool,
    /// Take every reply from this cassette or run folder; send no request. Repeatable.
    #[arg(long, value_name = "CASSETTE")]
    pub(crate) replay: Vec<PathBuf>,
    /// Folder for run folders.
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(crate) runs: PathBuf,
    /// Tasks in parallel.
    #[arg(long, short, default_value_t = 4, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) jobs: u32,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The file that holds the sentences and what the types are.
const SENTENCES_FILE: &str = "sentences.toml";
/// The names of the texts, as `translator-describe` gives them.
const DOMAIN_TEXT: &str = "domain-text";
const TASK_TEXT: &str = "task-text";
const SENTENCES: &str = "sentences";
const TYPES: &str = "types";

pub(crate) fn run(context: &Context, args: &SuiteDescribeArgs) -> Exit {
    match describe(context, args) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn describe(context: &Context, args: &SuiteDescribeArgs) -> Result<Exit, Exit> {
    let suite = suite(context, args)?;
    let checked = pipeline(context, args)?;
    let examples = examples::suites(context, &args.example, &suite.name)?;
    let mut work = Describer {
        context,
        args,
        checked: &checked,
        suite: &suite,
        examples,
        texts: SuiteTexts::of(&suite, args.force),
    };
    let mut exit = Exit::Good;
    let mut open = work.texts.open(&suite);
    // Where every task has its text and the domain lacks one, the first task still carries the questions.
    let lead = open.first().copied().or(suite.tasks.iter().find(|t| t.reference_problem.is_some()));
    if let Some(lead) = lead.filter(|_| !work.texts.is_complete(&suite)) {
        exit = exit.max(work.phase(&[lead])?);
        open.retain(|task| task.stem != lead.stem);
    }
    if !open.is_empty() && work.texts.tasks.values().any(|text| !text.is_empty()) {
        exit = exit.max(work.phase(&open)?);
    }
    let written = work.write()?;
    if !work.texts.is_complete(&suite) {
        // What came was not what was asked for, which is the model's, not the command's, doing.
        exit = exit.max(Exit::Unusable);
    }
    work.report(&written, exit);
    Ok(exit)
}

fn suite(context: &Context, args: &SuiteDescribeArgs) -> Result<Suite, Exit> {
    let LoadedSuite { suite, diagnostics, sources } = load_leniently(&args.suite);
    // What is missing is what this command is there for.
    let errors: Vec<_> = diagnostics.into_iter().filter(Diagnostic::is_error).collect();
    context.output.diagnostics(&errors, &sources);
    let suite = suite.filter(|_| errors.is_empty()).ok_or(Exit::Input)?;
    if suite.reference_domain.is_none() || suite.tasks.iter().all(|t| t.reference_problem.is_none()) {
        let message = format!("{} has no domain.pddl with problems to describe", args.suite.display());
        let diagnostic = Diagnostic::error("cli.nothing-to-describe", message);
        context.output.diagnostics(&[diagnostic], &SourceMap::default());
        return Err(Exit::Input);
    }
    Ok(suite)
}

fn pipeline(context: &Context, args: &SuiteDescribeArgs) -> Result<LoadedPipeline, Exit> {
    let name = args.pipeline.display().to_string();
    let text = context.read_text(&args.pipeline)?;
    let checked = check_pipeline(context, &text, &name, &args.overrides)?;
    require_immediate_answers(context, &checked, "planforge suite describe")?;
    let given = &checked.pipeline.config.given;
    if !given.domain || !given.problem {
        let message = format!("{name} does not give the domain and the problem, which are to be described");
        let diagnostic = Diagnostic::error("cli.nothing-to-describe", message)
            .help("add `[given]` with `domain = true` and `problem = true`");
        context.output.diagnostics(&[diagnostic], &SourceMap::default());
        return Err(Exit::Pipeline);
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
    args: &'a SuiteDescribeArgs,
    checked: &'a LoadedPipeline,
    suite: &'a Suite,
    examples: Vec<SuiteMaterials>,
    texts: SuiteTexts,
}

impl Describer<'_> {
    /// Runs the pipeline over some tasks and collects its texts.
    fn phase(&mut self, tasks: &[&SuiteTask]) -> Result<Exit, Exit> {
        let tasks: Vec<(RunTask, TaskUse)> =
            tasks.iter().map(|task| (self.task(task), self.task_use(task))).collect();
        let mode = if self.args.replay.is_empty() { Mode::Live } else { Mode::Replay };
        let new = NewRun {
            overrides: &self.args.overrides,
            explainer: None,
            runs: &self.args.runs,
            jobs: self.args.jobs,
            mode,
            cassettes: &self.args.replay,
        };
        let (ended, run, _) = new.run(self.context, self.checked, &tasks)?;
        let path = run.folder.path().display().to_string();
        self.context.output.note(&format!("the requests and replies are in {path}"));
        let report = ended.report;
        if report.state != RunState::Finished {
            let note = format!(
                "{}; go on with `planforge run --resume {path}`, then describe again with `--replay {path}`",
                report.state.name()
            );
            self.context.output.note(&note);
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
                self.context.output.note(&diagnostic_line(&report.stem, found));
            }
        }
        for stage in &report.stages {
            for failed in &stage.failed {
                self.context
                    .output
                    .note(&escape(&format!("error: {}, {}: {}", report.stem, stage.label, failed.failure)));
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

    /// The exit code for missing texts. The verdicts do not count, as nothing is verified here.
    fn judge(&self, report: &RunReport) -> Exit {
        match report.tasks.iter().all(|task| task.candidate.is_some()) && report.state == RunState::Finished {
            true => Exit::Good,
            false => of_report(report, false),
        }
    }

    /// Writes what is new.
    fn write(&self) -> Result<Vec<Entry>, Exit> {
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
        let folder = self.args.out.as_deref().unwrap_or(&self.args.suite);
        // What is added to this file leaves all that a person wrote in it.
        Files::new(folder, files).completing(SENTENCES_FILE).write(self.context, self.args.force)
    }

    /// The new text of `sentences.toml`. Existing parts keep their wording in the file. Empty if nothing is
    /// new.
    fn sentences_file(&self) -> Result<String, Exit> {
        let new = |texts: &String, kept: String| Some(texts.clone()).filter(|t| !t.is_empty() && *t != kept);
        let sentences = new(&self.texts.sentences, json(&self.suite.sentences));
        let types = new(&self.texts.types, json(&self.suite.types));
        let path = self.suite.folder.join(SENTENCES_FILE);
        let file = || match path.exists() {
            false => Ok(String::new()),
            true => read_text(&path).map_err(|diagnostic| {
                let name = path.display().to_string();
                self.context.output.diagnostics(&[*diagnostic], &SourceMap::single(name, ""));
                Exit::Input
            }),
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

    fn report(&self, written: &[Entry], exit: Exit) {
        let silent: Vec<&str> = self.texts.open(self.suite).iter().map(|task| task.stem.as_str()).collect();
        if self.args.json {
            self.context.output.json(&serde_json::json!({
                "suite": self.suite.name, "complete": exit == Exit::Good, "files": written, "without_text": silent,
            }));
            return;
        }
        let what = if written.is_empty() { "nothing to write".to_owned() } else { counted(written) };
        let mut out = format!("{}: {what}\n", self.suite.name);
        if !silent.is_empty() {
            let _ = writeln!(out, "still without a text: {}", silent.join(", "));
        }
        for entry in written {
            let _ = writeln!(out, "{}", entry.file);
        }
        self.context.output.result(&out);
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
