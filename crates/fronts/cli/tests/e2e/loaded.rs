//! Bundled and loaded are the same thing: a run whose plugins come from libraries ends as the bundled one does.

use super::support::{Ran, Run, planforge, right_reply};
use planforge_testkit::ScriptedServer;
use planforge_testkit::plugins::library;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// A folder with the libraries of these crates.
fn plugin_dir(crates: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in crates {
        let library = library(name).unwrap();
        fs::copy(&library, folder.path().join(library.file_name().unwrap())).unwrap();
    }
    folder
}

fn manifest(run: &Run) -> Value {
    serde_json::from_str(&fs::read_to_string(run.folder().join("run.json")).unwrap()).unwrap()
}

#[test]
fn verifier_and_planner_from_libraries_give_the_same_run() {
    let server = ScriptedServer::matching(right_reply).unwrap();
    let start = || Run::new("llm-p.toml", &server.base_url()).task("parcels", "p01").arg("--json");
    let bundled = start().go();
    bundled.expect(0);
    let folder = plugin_dir(&["planforge_verifier_val", "planforge_planner_classical"]);
    let isolated = start().arg("--plugin-dir").arg(folder.path()).arg("--isolate-plugins").go();
    assert_eq!(isolated.expect(0).stdout, bundled.stdout);
    let mut run = start().arg("--plugin-dir").arg(folder.path());
    let loaded = run.go();
    assert_eq!(loaded.expect(0).stdout, bundled.stdout);
    let mut from_library = 0;
    for plugin in manifest(&run)["plugins"].as_array().unwrap() {
        let origin = plugin["origin"].as_str().unwrap();
        if ["verifier-val", "planner-classical"].contains(&plugin["id"].as_str().unwrap()) {
            assert!(Path::new(origin).starts_with(folder.path()), "{plugin}");
            assert_eq!(plugin["sha256"].as_str().unwrap().len(), 64, "{plugin}");
            from_library += 1;
        } else {
            assert_eq!(origin, "bundled");
        }
    }
    assert_eq!(from_library, 2);
    // The record does not care where its plugins came from.
    let replayed = Ran::wait(planforge().arg("replay").arg(run.folder()).arg("--json").spawn().unwrap());
    assert_eq!(replayed.expect(0).stdout, bundled.stdout);
}

#[test]
fn provider_and_translator_from_libraries_give_the_same_run() {
    let server = ScriptedServer::matching(right_reply).unwrap();
    let start = || Run::new("llm-p.toml", &server.base_url()).task("parcels", "p02").arg("--json");
    let bundled = start().go();
    let crates = ["planforge_provider_openai", "planforge_translator_direct", "planforge_environment_pddl"];
    let folder = plugin_dir(&crates);
    bundled.expect(0);
    let loaded = || start().env("PLANFORGE_PLUGINS", folder.path().to_str().unwrap());
    for mut run in [loaded(), loaded().arg("--isolate-plugins")] {
        assert_eq!(run.go().expect(0).stdout, bundled.stdout);
    }
    assert_eq!(server.count(), 3);
}

#[test]
fn a_library_shadows_the_bundled_plugin_and_the_list_says_so() {
    let folder = plugin_dir(&["planforge_verifier_val"]);
    let list = |dir: &Path| {
        let mut command = planforge();
        command.args(["plugins", "list", "--json", "--plugin-dir"]).arg(dir);
        Ran::wait(command.spawn().unwrap())
    };
    let report = list(folder.path()).json(0);
    let entries: Vec<&Value> =
        report["plugins"].as_array().unwrap().iter().filter(|p| p["id"] == "verifier-val").collect();
    assert_eq!(entries.len(), 2, "{report}");
    let (loaded, bundled) = match entries[0]["origin"] == "bundled" {
        true => (entries[1], entries[0]),
        false => (entries[0], entries[1]),
    };
    assert_eq!((&loaded["shadowed"], &bundled["shadowed"]), (&false.into(), &true.into()));
    assert_eq!(loaded["sha256"].as_str().unwrap().len(), 64);
    // The working directory is no search path.
    let here = planforge().args(["plugins", "list"]).current_dir(folder.path()).spawn().unwrap();
    let here = Ran::wait(here);
    assert!(!here.expect(0).stdout.contains(".so"), "{}", here.stdout);
}
