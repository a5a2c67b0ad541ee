//! A pipeline over three tasks, on replies that were recorded from a real model or on those of another one. Everything else is in the
//! binary, so it works anywhere, without key and network.

use crate::context::Context;
use crate::error::Error;
use crate::limits::RequestLimits;
use crate::pipelines::loaded::{check_pipeline, instantiate};
use crate::pipelines::model_choice::{model_table, overrides_of};
use crate::run::{RunResult, result};
use crate::running::execution::{ExecutionSettings, ReplySources, execute, services};
use crate::status::Status;
use planforge_contract::{Failure, FailureClass, Outcome, PlanOutcome};
use planforge_diagnostics::{SourceId, SourceMap};
use planforge_llm::Mode;
use planforge_pipeline::{LoadedSuite, RunReport, Suite, load_task, run_tasks};
use planforge_planning::{parse_plan, validate};
use planforge_plugin_common::telling::tell_plan;
use planforge_plugin_sdk::wording::Wording;
use planforge_record::{Cassette, Lookup, MemoryJournal, RunManifest, TaskVerdict};
use std::path::Path;
use std::sync::Arc;

const PIPELINE: &str = include_str!("../../../configs/pipelines/llm-p.toml");
const CASSETTE: &str = include_str!("../../../examples/demo/llm-p.jsonl");

/// The tasks shown: folder and stem below `examples/suites`.
const TASKS: &[(&str, &str)] = &[("parcels", "p01"), ("parcels", "p02"), ("garden", "p03")];

/// Every file of the two suites that the tasks need.
const FILES: &[(&str, &str)] = &[
    ("garden/suite.toml", include_str!("../../../examples/suites/garden/suite.toml")),
    ("garden/domain.nl", include_str!("../../../examples/suites/garden/domain.nl")),
    ("garden/domain.pddl", include_str!("../../../examples/suites/garden/domain.pddl")),
    ("garden/sentences.toml", include_str!("../../../examples/suites/garden/sentences.toml")),
    ("garden/p_example.nl", include_str!("../../../examples/suites/garden/p_example.nl")),
    ("garden/p_example.pddl", include_str!("../../../examples/suites/garden/p_example.pddl")),
    ("garden/p_example.sol", include_str!("../../../examples/suites/garden/p_example.sol")),
    ("garden/p03.nl", include_str!("../../../examples/suites/garden/p03.nl")),
    ("garden/p03.pddl", include_str!("../../../examples/suites/garden/p03.pddl")),
    ("parcels/suite.toml", include_str!("../../../examples/suites/parcels/suite.toml")),
    ("parcels/domain.nl", include_str!("../../../examples/suites/parcels/domain.nl")),
    ("parcels/domain.pddl", include_str!("../../../examples/suites/parcels/domain.pddl")),
    ("parcels/sentences.toml", include_str!("../../../examples/suites/parcels/sentences.toml")),
    ("parcels/p_example.nl", include_str!("../../../examples/suites/parcels/p_example.nl")),
    ("parcels/p_example.pddl", include_str!("../../../examples/suites/parcels/p_example.pddl")),
    ("parcels/p_example.sol", include_str!("../../../examples/suites/parcels/p_example.sol")),
    ("parcels/p01.nl", include_str!("../../../examples/suites/parcels/p01.nl")),
    ("parcels/p01.pddl", include_str!("../../../examples/suites/parcels/p01.pddl")),
    ("parcels/p02.nl", include_str!("../../../examples/suites/parcels/p02.nl")),
    ("parcels/p02.pddl", include_str!("../../../examples/suites/parcels/p02.pddl")),
];

/// Runs the demo. `model` answers in the place of the recorded one.
///
/// # Errors
/// As of a run.
pub fn demo(context: &Context, model: Option<&str>) -> Result<RunResult, Error> {
    let table = model.map(|name| model_table(context, name)).transpose()?;
    let mode = if table.is_some() { Mode::Live } else { Mode::Replay };
    let overrides: Vec<String> = table.iter().flat_map(overrides_of).collect();
    let checked = check_pipeline(context, PIPELINE, "llm-p.toml", &overrides)?;
    let system = |e: std::io::Error| Failure::new(FailureClass::System, "record.io", e.to_string());
    let folder = tempfile::tempdir().map_err(system)?;
    write_suites(folder.path()).map_err(system)?;
    let mut suites = Vec::new();
    for (suite, stem) in TASKS {
        let LoadedSuite { suite: loaded, diagnostics, sources, .. } =
            load_task(&folder.path().join(suite).join(stem));
        match loaded {
            Some(loaded) => suites.push(loaded),
            None => return Err(Error::findings(Status::Input, diagnostics, sources)),
        }
    }
    let tasks = run_tasks(&checked.pipeline.config, &suites, checked.pipeline.folder())
        .map_err(|found| Error::findings(Status::Input, found, SourceMap::default()))?;
    let (prepared, redactor) = instantiate(context, &checked, mode)?;
    let cassette = Cassette::parse(CASSETTE, Arc::clone(&redactor))?;
    let lookups = vec![Arc::new(cassette) as Arc<dyn Lookup>];
    let sources = ReplySources { mode, lookups, answers: None, failures_are_final: false };
    let journal = Arc::new(MemoryJournal::new(Arc::clone(&redactor)));
    let manifest = RunManifest { seed: checked.pipeline.config.seed, ..RunManifest::default() };
    let progress = context.start_run("", tasks.len());
    let execution =
        ExecutionSettings { jobs: 2, observer: Some(progress.observer()), watch: Some(progress.watch()) };
    let services = services(context, prepared, redactor, sources, journal, manifest.seed, execution)?;
    let mut ended = execute(&checked.pipeline, &manifest, &services, &tasks)?;
    drop(progress);
    let told = first_plan_in_words(context, &ended.report, &suites);
    ended.explained_plans.extend(told.map(|(task, words)| (task, Outcome::Ok(words))));
    Ok(result(ended, &tasks))
}

/// The first accepted plan in the sentences of its suite, with the name of its task.
fn first_plan_in_words(context: &Context, report: &RunReport, suites: &[Suite]) -> Option<(String, String)> {
    let task = report.tasks.iter().find(|task| task.verdict == Some(TaskVerdict::Accepted))?;
    let candidate = task.candidate.as_ref()?;
    let plan = parse_plan(&candidate.plan.as_ref().and_then(PlanOutcome::best)?.to_ipc(), SourceId(2));
    let read = planforge_pddl::read_task(candidate.domain.as_deref()?, candidate.problem.as_deref()?);
    let (domain, problem) = read.ok()?;
    let wording = Wording::new(&suites.iter().find(|suite| suite.name == task.suite)?.sentences);
    let validated = validate(&domain, &problem, &plan, &mut RequestLimits::default().start(context)).ok()?;
    Some((task.task.clone(), tell_plan(&validated, &wording).to_string()))
}

fn write_suites(folder: &Path) -> std::io::Result<()> {
    for (name, text) in FILES {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(path, text)?;
    }
    Ok(())
}
