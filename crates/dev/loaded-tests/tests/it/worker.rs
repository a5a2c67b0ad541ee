//! Child processes: answers come back, limits are limits, and a child that broke is replaced.

use planforge_contract::api::Planner;
use planforge_contract::{CreateRequest, Failure, FailureClass, PlanOutcome, PlanRequest, TaskView};
use planforge_plugin_host::{
    BundledPlugin, CallLimits, Instance, Registry, RegistrySettings, WorkerSettings,
};
use planforge_plugin_sdk::testing::TestHost;
use planforge_testkit::plugins::library;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;

fn planner(change: impl FnOnce(&mut WorkerSettings)) -> Arc<dyn Planner> {
    planner_of(&[&planforge_loaded_tests::PLANFORGE_PLUGIN], &[], change)
}

fn planner_of(
    bundled: &[&'static BundledPlugin],
    search_path: &[PathBuf],
    change: impl FnOnce(&mut WorkerSettings),
) -> Arc<dyn Planner> {
    let mut worker = WorkerSettings::new(env!("CARGO_BIN_EXE_planforge-test-worker").into());
    change(&mut worker);
    let settings = RegistrySettings { worker: Some(worker), ..RegistrySettings::default() };
    let registry = Registry::new(bundled, search_path, settings);
    match registry.create("loaded-tests", CreateRequest::default()).unwrap() {
        Instance::Planner(planner) => planner,
        other => panic!("{other:?}"),
    }
}

fn ask(planner: &dyn Planner, text: &str) -> Result<String, Failure> {
    let task = TaskView { task_text: text.to_owned(), ..TaskView::default() };
    let request = PlanRequest { task, k: 1, ..PlanRequest::default() };
    match planner.plan(&TestHost::new().remaining_ms(120_000), &request)? {
        PlanOutcome::Exhausted { mut explanation, .. } => Ok(explanation.remove(0)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn one_child_answers_many_inputs() {
    let planner = planner(|_| ());
    assert_eq!(ask(planner.as_ref(), "shout").unwrap(), "SHOUT");
    let first = ask(planner.as_ref(), "process").unwrap();
    assert_ne!(first, std::process::id().to_string());
    assert_eq!(ask(planner.as_ref(), "fail").unwrap_err().code, "test.fail");
    assert_eq!(ask(planner.as_ref(), "process").unwrap(), first);
}

#[test]
fn the_child_of_a_loaded_plugin_loads_the_same_library() {
    let planner = planner_of(&[], &[library("planforge_loaded_tests").unwrap()], |_| ());
    assert_eq!(ask(planner.as_ref(), "shout").unwrap(), "SHOUT");
}

#[test]
fn a_library_is_described_in_a_child_and_remembered_by_its_hash() {
    let folder = tempfile::tempdir().unwrap();
    let registry = |executable: &str| {
        let settings = RegistrySettings {
            worker: Some(WorkerSettings::new(executable.into())),
            describe_cache: Some(folder.path().join("described")),
            ..RegistrySettings::default()
        };
        Registry::new(&[], &[library("planforge_loaded_tests").unwrap()], settings)
    };
    let nowhere = registry("/nowhere/planforge").info_apart("loaded-tests").unwrap_err();
    assert_eq!(nowhere.code, "host.worker-died");
    let apart = registry(env!("CARGO_BIN_EXE_planforge-test-worker")).info_apart("loaded-tests").unwrap();
    // The second time no child is needed.
    assert_eq!(registry("/nowhere/planforge").info_apart("loaded-tests").unwrap(), apart);
    assert_eq!(registry("/nowhere/planforge").info("loaded-tests").unwrap(), apart);
}

#[test]
fn a_list_of_plugins_loads_no_library_into_this_process() {
    let folder = tempfile::tempdir().unwrap();
    let library = library("planforge_loaded_tests").unwrap();
    // A name that no other test loads.
    let copy = folder.path().join("unloaded").with_extension(std::env::consts::DLL_EXTENSION);
    std::fs::copy(&library, &copy).unwrap();
    let list = |executable: PathBuf, create_ms: u64| {
        let limits = CallLimits { create_ms, ..CallLimits::default() };
        let worker = Some(WorkerSettings::new(executable));
        let settings = RegistrySettings { limits, worker, ..RegistrySettings::default() };
        Registry::new(&[], std::slice::from_ref(&copy), settings).list().remove(0).info
    };
    let described = list(env!("CARGO_BIN_EXE_planforge-test-worker").into(), 30_000).unwrap();
    assert_eq!(described.id, "loaded-tests");
    let loaded = std::fs::read_to_string("/proc/self/maps").unwrap();
    assert!(!loaded.contains(&copy.display().to_string()), "the list loaded the library");

    // A constructor that never returns looks like this to the host.
    let hanging = folder.path().join("hanging");
    std::fs::write(&hanging, "#!/bin/sh\nexec sleep 1000\n").unwrap();
    std::fs::set_permissions(&hanging, std::fs::Permissions::from_mode(0o755)).unwrap();
    let failure = list(hanging, 50).unwrap_err();
    assert_eq!(failure.code, "host.worker-limit");
    assert!(failure.message.contains("was not described within 50 ms"), "{failure}");
}

#[test]
fn a_gate_that_is_shut_in_the_child_is_told_as_if_it_were_here() {
    let settings = RegistrySettings {
        worker: Some(WorkerSettings::new(env!("CARGO_BIN_EXE_planforge-test-worker").into())),
        ..RegistrySettings::default()
    };
    let registry = Registry::new(&[], &[library("planforge_misbehave_layout").unwrap()], settings);
    assert_eq!(registry.info_apart("misbehave-layout").unwrap_err().code, "plugin.layout");
}

#[test]
fn a_host_without_worker_settings_says_so() {
    let registry =
        Registry::new(&[&planforge_loaded_tests::PLANFORGE_PLUGIN], &[], RegistrySettings::default());
    let Instance::Planner(planner) = registry.create("loaded-tests", CreateRequest::default()).unwrap()
    else {
        panic!("a planner");
    };
    assert_eq!(ask(planner.as_ref(), "x").unwrap_err().code, "host.no-worker");
}

#[test]
fn a_panic_in_the_child_is_told_with_its_place() {
    let planner = planner(|_| ());
    let failure = ask(planner.as_ref(), "panic").unwrap_err();
    assert_eq!((failure.class, failure.code.as_str()), (FailureClass::Plugin, "host.worker-panic"));
    assert!(failure.message.contains("panic in work"), "{failure}");
    assert!(failure.place.as_deref().unwrap().contains("loaded-tests/src/lib.rs:"), "{failure}");
    assert_eq!(ask(planner.as_ref(), "again").unwrap(), "AGAIN");
}

#[test]
fn time_memory_and_output_are_limits_and_the_child_is_replaced() {
    let faults = [
        ("hang", "host.worker-limit", "within 5000 ms"),
        ("memory", "host.worker-memory", "memory allocation of"),
        ("stack", "host.worker-memory", "overflowed its stack"),
        ("output", "host.worker-limit", "1048"),
    ];
    for (fault, code, says) in faults {
        let planner = planner(|w| {
            if fault == "hang" {
                w.time_ms = 5_000;
            }
            w.output_bytes = 100_000;
        });
        let first = ask(planner.as_ref(), "process").unwrap();
        let failure = ask(planner.as_ref(), fault).unwrap_err();
        assert_eq!((failure.class, failure.code.as_str()), (FailureClass::Limit, code), "{failure}");
        assert!(failure.message.contains(says), "{fault}: {failure}");
        assert_ne!(ask(planner.as_ref(), "process").unwrap(), first);
    }
}

#[test]
fn a_limit_that_the_plugin_met_in_the_child_ends_it_too() {
    let planner = planner(|_| ());
    let first = ask(planner.as_ref(), "process").unwrap();
    let failure = ask(planner.as_ref(), "give up").unwrap_err();
    assert_eq!((failure.class, failure.code.as_str()), (FailureClass::Limit, "test.limit"));
    assert_ne!(ask(planner.as_ref(), "process").unwrap(), first);
}

#[test]
fn a_child_that_leaves_is_a_failure_with_its_status() {
    let failure = ask(planner(|_| ()).as_ref(), "exit").unwrap_err();
    assert_eq!((failure.class, failure.code.as_str()), (FailureClass::System, "host.worker-died"));
    assert!(failure.message.contains("exit code 7"), "{failure}");
}

#[test]
fn an_executable_that_is_missing_or_no_worker_is_named() {
    let failure = ask(planner(|w| w.executable = "/nowhere/planforge".into()).as_ref(), "x").unwrap_err();
    assert!(
        failure.code == "host.worker-died" && failure.message.contains("/nowhere/planforge"),
        "{failure}"
    );
    let failure = ask(planner(|w| w.arguments = vec!["wrong".into()]).as_ref(), "x").unwrap_err();
    assert!(
        failure.code == "host.worker-died" && failure.message.contains("unexpected arguments"),
        "{failure}"
    );
}
