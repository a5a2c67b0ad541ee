//! The services that a run uses, and its tasks.

use crate::config::Texts;
use crate::config::{DescriptionClass, Pipeline};
use crate::suite::{
    Suite, SuiteTask, action_examples, disguise_suite, further_problems, load_suite_with, suites_below,
    task_view,
};
use planforge_contract::api::{Environment, Planner, Translator, Verifier};
use planforge_contract::{ActionExample, EnvironmentOpen, PluginInfo, PluginKind, TaskView};
use planforge_diagnostics::{Diagnostic, SourceId};
use planforge_llm::{Llm, Mode};
use planforge_obfuscate::Renaming;
use planforge_pddl::parse_domain;
use planforge_record::{Event, Journal, Lookup};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// A plugin instance of a stage.
#[derive(Clone)]
pub enum StageInstance {
    /// Of a translate stage.
    Translator(Arc<dyn Translator>),
    /// Of a verify stage.
    Verifier(Arc<dyn Verifier>),
    /// Of a plan stage.
    Planner(Arc<dyn Planner>),
}

/// The instances of a pipeline, one for each stage that uses a plugin.
#[derive(Clone, Default)]
pub struct Instances {
    /// By the stage's label.
    pub stages: BTreeMap<String, (PluginInfo, StageInstance)>,
    /// The environment, where the pipeline has one.
    pub environment: Option<(PluginInfo, Arc<dyn Environment>)>,
}

/// Progress of a run, for display.
#[derive(Debug)]
pub enum Progress<'a> {
    /// An event that the runner recorded, or found recorded by an earlier session.
    Event(&'a Event),
    /// A plugin reports the progress of a call.
    Call {
        /// The call's sample path.
        path: &'a str,
        done: u64,
        /// Steps in all; 0 where that is not known.
        total: u64,
        /// Name of the current step.
        what: &'a str,
    },
    /// A call of a plugin begins or ends.
    Work {
        /// The call's sample path.
        path: &'a str,
        plugin: &'a str,
        /// The kind of the plugin.
        kind: PluginKind,
        /// True at the start, false at the end of the call.
        begins: bool,
    },
}

/// Callback for progress. Called from many threads.
pub type RunObserver = Arc<dyn Fn(&Progress<'_>) + Send + Sync>;

/// The services that a run uses.
#[derive(Clone)]
pub struct Services {
    pub instances: Instances,
    /// The language models, over the same journal.
    pub llm: Arc<Llm>,
    /// The record of the run; an existing one is resumed.
    pub journal: Arc<dyn Journal>,
    /// Further records to search: the run that is replayed, cassettes. Unused in [`Mode::Live`].
    pub sources: Vec<Arc<dyn Lookup>>,
    /// The reaction to an outcome that the record does not hold.
    pub mode: Mode,
    /// Most plugin calls at a time; 0 means the pipeline's number, else 1.
    pub jobs: usize,
    /// Returns true once the run is interrupted.
    pub cancelled: Arc<dyn Fn() -> bool + Send + Sync>,
    pub observer: Option<RunObserver>,
    /// Time of day as RFC 3339 in UTC, for the record alone.
    pub now: Arc<dyn Fn() -> String + Send + Sync>,
}

/// A task to work on: all that a run needs of its suite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunTask {
    /// Its name in events and sample paths: `SUITE.STEM`.
    pub name: String,
    /// The parts that translators may see.
    pub view: TaskView,
    /// The reference, for the environment alone.
    pub reference: EnvironmentOpen,
    /// The suite's `picture.toml`, for drawings in reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picture: Option<String>,
    /// The names that replace the suite's own, if it is obfuscated. Results are reported under the suite's
    /// own names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renaming: Option<Renaming>,
}

/// The tasks of the suites under what the pipeline is given, in order. `folder` is the pipeline file's own: a suite that the
/// file names for its in-context example is read relative to it.
///
/// # Errors
/// Everything that is given and not there or withheld, `suite.duplicate-task` where two suites have one name,
/// `suite.example` where the example's suite cannot be used, and `suite.no-lead` where the lead task of a `fan_out` stage is
/// not among several tasks of a suite.
pub fn run_tasks(
    pipeline: &Pipeline,
    suites: &[Suite],
    folder: &Path,
) -> Result<Vec<RunTask>, Vec<Diagnostic>> {
    let mut tasks: Vec<RunTask> = Vec::new();
    let example = match pipeline.given.example_suite() {
        Some(path) => {
            let read = example(&folder.join(path), Texts::Required).map_err(|wrong| vec![*wrong])?;
            Some(under_other_names(pipeline, read)?)
        }
        None => None,
    };
    let pool = action_pool(pipeline, folder)?;
    let mut found: Vec<Diagnostic> =
        pipeline.stages.iter().flat_map(|stage| stage.definition().check_suites(suites)).collect();
    let suites = disguise_suites(pipeline, suites)?;
    for suite in &suites {
        for task in &suite.tasks {
            let name = format!("{}.{}", suite.name, task.stem);
            if tasks.iter().any(|t| t.name == name) {
                let message = format!("there are two tasks `{name}`");
                found.push(
                    Diagnostic::error("suite.duplicate-task", message)
                        .help("name each task once, and give suites different names in their suite.toml"),
                );
                continue;
            }
            let suite = &*suite.of_task(task);
            match task_view(suite, task, &pipeline.given, example.as_ref()) {
                Ok(mut view) => {
                    if pipeline.given.actions.is_some() {
                        let others = pool
                            .iter()
                            .filter(|other| !other.is_of(suite))
                            .flat_map(|o| o.actions.iter().cloned());
                        view.materials.actions.examples = Some(others.collect());
                    }
                    match reference(pipeline, suite, task) {
                        Ok(reference) => {
                            let renaming = renaming(suite, task, &reference);
                            let picture = suite.picture.clone();
                            tasks.push(RunTask { name, view, reference, picture, renaming });
                        }
                        Err(wrong) => found.push(*wrong),
                    }
                }
                Err(wrong) => found.extend(wrong),
            }
        }
    }
    found.dedup();
    if found.is_empty() { Ok(tasks) } else { Err(found) }
}

/// Gives the suites the names that `[obfuscate]` asks for; without it they keep their own.
///
/// # Errors
/// `suite.disguise` for each suite that cannot be renamed.
pub fn disguise_suites(pipeline: &Pipeline, suites: &[Suite]) -> Result<Vec<Suite>, Vec<Diagnostic>> {
    let mut found = Vec::new();
    let mut new = Vec::new();
    for suite in suites {
        match under_other_names(pipeline, suite.clone()) {
            Ok(suite) => new.push(suite),
            Err(wrong) => found.extend(wrong),
        }
    }
    if found.is_empty() { Ok(new) } else { Err(found) }
}

fn under_other_names(pipeline: &Pipeline, suite: Suite) -> Result<Suite, Vec<Diagnostic>> {
    match pipeline.disguise() {
        Some(options) => disguise_suite(&suite, &options),
        None => Ok(suite),
    }
}

/// The names that a task's documents have.
fn renaming(suite: &Suite, task: &SuiteTask, reference: &EnvironmentOpen) -> Option<Renaming> {
    let disguise = &suite.disguise.as_ref()?.names;
    let domains = suite.reference_domain.iter().chain(&reference.domain);
    let example = suite.example.as_ref().and_then(|example| example.problem.as_ref());
    let problems = task.reference_problem.iter().chain(&reference.problems).chain(example);
    Some(disguise.renaming_of(domains.map(String::as_str), problems.map(String::as_str)))
}

/// A suite whose actions may be shown as examples.
struct ExampleSuite {
    name: String,
    /// As its own PDDL calls it, in lower case; empty where there is none.
    domain: String,
    /// Its actions as its own PDDL has them.
    own: Vec<String>,
    actions: Vec<ActionExample>,
}

impl ExampleSuite {
    fn new(suite: &Suite, class: DescriptionClass) -> Self {
        let original = suite.original();
        Self {
            name: suite.name.clone(),
            domain: domain_name(original),
            own: actions_of(original),
            actions: action_examples(suite, class),
        }
    }

    /// True if its actions would show those of a suite: it is that suite or, under another name, has its
    /// domain's name or one of its actions.
    fn is_of(&self, suite: &Suite) -> bool {
        let suite = suite.original();
        let own = actions_of(suite);
        let shown = |action: &String| own.iter().any(|own| own.eq_ignore_ascii_case(action));
        self.name.eq_ignore_ascii_case(&suite.name)
            || (!self.domain.is_empty() && self.domain == domain_name(suite))
            || self.own.iter().any(shown)
    }
}

fn actions_of(suite: &Suite) -> Vec<String> {
    action_examples(suite, DescriptionClass::Base).into_iter().map(|example| example.pddl).collect()
}

/// In lower case; empty where there is none.
fn domain_name(suite: &Suite) -> String {
    let Some(text) = &suite.reference_domain else { return String::new() };
    let domain = parse_domain(text, SourceId(0)).value;
    domain.name.map(|name| name.key().to_owned()).unwrap_or_default()
}

/// The suites whose actions may be shown as examples, in the order of the file.
fn action_pool(pipeline: &Pipeline, folder: &Path) -> Result<Vec<ExampleSuite>, Vec<Diagnostic>> {
    let given = &pipeline.given;
    let Some(class) = given.actions else { return Ok(Vec::new()) };
    let mut pool = Vec::new();
    let mut found = Vec::new();
    let mut taken = BTreeSet::new();
    for path in given.action_examples.iter().flat_map(|path| suites_below(&folder.join(path))) {
        // A suite that is named by itself and with others would be drawn from twice as often.
        if !taken.insert(path.canonicalize().unwrap_or_else(|_| path.clone())) {
            continue;
        }
        match example(&path, Texts::Optional) {
            Ok(suite) => match under_other_names(pipeline, suite) {
                Ok(suite) => pool.push(ExampleSuite::new(&suite, class)),
                Err(wrong) => found.extend(wrong),
            },
            Err(wrong) => found.push(*wrong),
        }
    }
    if found.is_empty() { Ok(pool) } else { Err(found) }
}

/// A suite that in-context examples come from. Examples of actions are PDDL with descriptions that can be made, so they need no texts.
fn example(path: &Path, texts: Texts) -> Result<Suite, Box<Diagnostic>> {
    let shown = path.display();
    let help = "`example` and `action_examples` of [given] name folders of suites with a domain.pddl, relative to the pipeline file; `action_examples` \
                also folders that hold such suites";
    let wrong = |why: String| Box::new(Diagnostic::error("suite.example", why).help(help));
    let loaded = load_suite_with(path, texts);
    let Some(suite) = loaded.suite else {
        let first = loaded.diagnostics.iter().find(|d| d.is_error());
        let why = first.map_or_else(String::new, |d| d.message.clone());
        return Err(wrong(format!("the in-context example's suite {shown} cannot be read: {why}")));
    };
    if let Some(part) = suite.withheld.first() {
        return Err(wrong(format!("suite {shown} withholds its {part}, and an in-context example shows it")));
    }
    if suite.reference_domain.is_none() {
        return Err(wrong(format!("the in-context example's suite {shown} has no domain.pddl")));
    }
    Ok(suite)
}

fn reference(
    pipeline: &Pipeline,
    suite: &Suite,
    task: &SuiteTask,
) -> Result<EnvironmentOpen, Box<Diagnostic>> {
    let problems = pipeline.environment.as_ref().map_or(1, |environment| environment.problems);
    Ok(EnvironmentOpen {
        suite: suite.name.clone(),
        task: task.stem.clone(),
        domain: suite.validation_domain.clone().or_else(|| suite.reference_domain.clone()),
        problem: task.reference_problem.clone(),
        problems: further_problems(suite, task, problems.saturating_sub(1) as usize)?,
        sentences: suite.sentences.clone(),
    })
}
