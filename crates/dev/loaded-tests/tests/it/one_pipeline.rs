//! One verifier four times on one pipeline: bundled, from its library, the library in a child process, and as a program in Python.

use planforge_contract::{
    CreateRequest, EnvironmentOpen, Given, JsonObject, PluginInfo, PluginKind, TaskView,
};
use planforge_llm::{Llm, LlmOptions, Mode};
use planforge_pipeline::{
    Catalogue, CatalogueError, Instances, OptionProblem, RunReport, RunTask, Services, StageInstance, check,
};
use planforge_plugin_host::{Instance, PluginSource, Registry, RegistrySettings, WorkerSettings};
use planforge_plugin_tools::scaffold::scaffold_python;
use planforge_record::{Event, Journal, Lookup, MemoryJournal, comparable_events};
use planforge_testkit::plugins::library;
use planforge_testkit::{stage, table, toml};
use std::path::Path;
use std::sync::Arc;

const PIPELINE: &str = concat!(
    toml!(schema = 1),
    table!("given" domain = true problem = true),
    stage!(plan "plan" use = "planner-classical"),
    stage!(verify "short" use = "short-plans" options = { most_steps = 8 }),
);

#[allow(unreachable_pub)]
#[rustfmt::skip]
#[path = "../../../../platform/plugin-tools/templates/verifier/lib.rs"]
mod short_plans;
planforge_plugin_sdk::bundle_plugin!("planforge_short_plans", Verifier, short_plans::NewPlugin);

/// The plugins of a registry, for the check of the pipeline. Options are checked when an instance is created.
struct Known<'r>(&'r Registry);

impl Catalogue for Known<'_> {
    fn ids(&self) -> Vec<String> {
        self.0.ids()
    }
    fn info(&self, id: &str) -> Result<PluginInfo, CatalogueError> {
        self.0.info(id).map(|info| (*info).clone()).map_err(|_| CatalogueError::Unknown)
    }
    fn check_options(&self, _: &str, _: &JsonObject) -> Vec<OptionProblem> {
        Vec::new()
    }
}

fn tasks() -> Vec<RunTask> {
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/suites/parcels");
    let read = |file: &str| Some(std::fs::read_to_string(suite.join(file)).unwrap());
    let task = |stem: &str| {
        let (domain, problem) = (read("domain.pddl"), read(&format!("{stem}.pddl")));
        let given = Given { domain: domain.clone(), problem: problem.clone() };
        let (suite, task) = ("parcels".to_owned(), stem.to_owned());
        RunTask {
            name: format!("parcels.{stem}"),
            view: TaskView { suite: suite.clone(), task: task.clone(), given, ..TaskView::default() },
            reference: EnvironmentOpen { suite, task, domain, problem, ..EnvironmentOpen::default() },
            picture: None,
            renaming: None,
            not_given: Vec::new(),
        }
    };
    ["p01", "p02", "p03", "p04"].map(task).into()
}

/// Runs the pipeline with the plugins of the registry, or replays a run with them.
fn run(registry: &Registry, recorded: Option<&Arc<MemoryJournal>>) -> (RunReport, Arc<MemoryJournal>) {
    let checked = check(PIPELINE, "one.toml", &Known(registry), &[]);
    let pipeline = checked.pipeline.unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
    let mut instances = Instances::default();
    for stage in pipeline.config.all_stages() {
        let (id, options) = stage.plugin().unwrap();
        let request = CreateRequest { options: options.clone(), ..CreateRequest::default() };
        let instance = match registry.create(id, request).unwrap() {
            Instance::Planner(planner) => StageInstance::Planner(planner),
            Instance::Verifier(verifier) => StageInstance::Verifier(verifier),
            other => panic!("{other:?}"),
        };
        let info = PluginInfo::clone(&registry.info(id).unwrap());
        instances.stages.insert(stage.label().to_owned(), (info, instance));
    }
    let journal = Arc::new(MemoryJournal::default());
    let mode = if recorded.is_some() { Mode::Replay } else { Mode::Live };
    let sources: Vec<Arc<dyn Lookup>> =
        recorded.into_iter().map(|journal| Arc::clone(journal) as Arc<dyn Lookup>).collect();
    let mut options = LlmOptions::new(Arc::clone(&journal) as _);
    (options.mode, options.cassettes) = (mode, sources.clone());
    let services = Services {
        instances,
        llm: Arc::new(Llm::new(options).unwrap()),
        journal: Arc::clone(&journal) as _,
        sources,
        mode,
        jobs: 4,
        cancelled: Arc::new(|| false),
        observer: None,
        now: Arc::new(String::new),
    };
    (planforge_pipeline::run(&pipeline, &tasks(), &services).unwrap(), journal)
}

/// The contents of a journal without times, and without the events that tell a replay from a run.
fn story(journal: &MemoryJournal) -> String {
    let is_session =
        |event: &Event| matches!(event, Event::SessionStarted { .. } | Event::SessionFinished { .. });
    let events: Vec<Event> = journal.events().into_iter().filter(|event| !is_session(event)).collect();
    comparable_events(&events)
}

#[test]
fn one_verifier_gives_the_same_run_and_replay_in_every_form() {
    let folder = tempfile::tempdir().unwrap();
    scaffold_python("verifier", "short-plans", folder.path()).unwrap();
    let program = folder.path().join("short-plans");
    let library = library("planforge_short_plans").unwrap();
    let planner = &planforge_planners::classical::PLANFORGE_PLUGIN;
    let settings = |isolate_libraries| RegistrySettings {
        worker: Some(WorkerSettings::new(env!("CARGO_BIN_EXE_planforge-test-worker").into())),
        isolate_libraries,
        ..RegistrySettings::default()
    };
    let loaded = |isolated| Registry::new(&[planner], std::slice::from_ref(&library), settings(isolated));
    let bundled = Registry::new(&[planner, &PLANFORGE_PLUGIN], &[], settings(false));
    let python = Registry::new(&[planner], std::slice::from_ref(&program), settings(false));
    let forms = [bundled, loaded(false), loaded(true), python];
    let sources = forms.each_ref().map(|registry| match registry.source("short-plans").unwrap() {
        PluginSource::Bundled => "bundled",
        PluginSource::Library { .. } => "library",
        PluginSource::Program { .. } => "program",
        PluginSource::Lent { .. } => "lent",
    });
    assert_eq!(sources, ["bundled", "library", "library", "program"]);

    let (expected, journal) = run(&forms[0], None);
    let verdicts: Vec<&str> =
        expected.tasks.iter().map(|task| task.verdict.as_ref().unwrap().name()).collect();
    assert!(verdicts.contains(&"accepted") && verdicts.contains(&"rejected"), "{verdicts:?}");
    let (report_text, journal_text) = (serde_json::to_string(&expected).unwrap(), story(&journal));
    for registry in &forms {
        assert_eq!(registry.info("short-plans").unwrap().kind, PluginKind::Verifier);
        let (report, journal) = run(registry, None);
        assert_eq!(serde_json::to_string(&report).unwrap(), report_text);
        assert_eq!(story(&journal), journal_text);
        let (replayed, again) = run(registry, Some(&journal));
        assert_eq!(serde_json::to_string(&replayed).unwrap(), report_text);
        assert_eq!(story(&again), journal_text);
    }
}
