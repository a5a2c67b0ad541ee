//! Projects from `planforge plugins new --sdk`, and the example, build, load and pass their own tests without an edit.
//!
//! The new crates are built by the cargo that runs this test, offline, against the workspace's own lock file, profile and target
//! folder, so that what is built already is not built again.

use planforge_plugin_tools::scaffold::scaffold;
use planforge_testkit::outside::{cargo, copy_crate, keep_in_target};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").canonicalize().unwrap()
}

/// The number of tests that pass in a crate or workspace, and no test fails.
fn passed_tests(folder: &Path, name: &str) -> usize {
    let kept = keep_in_target(folder, name).unwrap();
    passed(&cargo(&root(), &kept, &["test", "--workspace"]).unwrap_or_else(|output| panic!("{output}")))
}

fn passed(output: &str) -> usize {
    let lines = output.lines().filter_map(|l| l.strip_prefix("test result: ok. "));
    lines.filter_map(|l| l.split(' ').next()?.parse::<usize>().ok()).sum()
}

#[test]
fn a_new_plugin_of_every_kind_in_a_workspace_s_plugins_folder_passes_its_own_test() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = "[workspace]\nresolver = \"3\"\nmembers = [\"plugins/*\"]\n";
    std::fs::write(folder.path().join("Cargo.toml"), manifest).unwrap();
    let kinds = ["provider", "translator", "verifier", "planner", "environment"];
    for kind in kinds {
        scaffold(kind, &format!("{kind}-inside"), &folder.path().join("plugins"), Some(&root())).unwrap();
    }
    assert_eq!(passed_tests(folder.path(), "workspace"), 2 * kinds.len());
}

#[test]
fn the_example_outside_the_workspace_passes_its_own_test() {
    let folder = tempfile::tempdir().unwrap();
    copy_crate(&root(), "examples/custom-verifier", folder.path()).unwrap();
    assert_eq!(passed_tests(folder.path(), "custom-verifier"), 3);
}
