//! What `planforge plugins new` writes builds, loads and passes its own test with no edit anywhere; so does the example.
//!
//! The new crates are built by the cargo that runs this test, offline, against the workspace's own lock file and target
//! folder, so that what is built already is not built again.
#![allow(clippy::unwrap_used, clippy::panic)] // A test may break where it stands; helpers of tests too.

use planforge_plugin_host::scaffold::scaffold;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// The builds share a target folder; one at a time is faster than waiting for one another's locks.
static ONE_BUILD: Mutex<()> = Mutex::new(());

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").canonicalize().unwrap()
}

/// `cargo test` of a crate or workspace, with the settings that let its dependencies be the ones already built.
fn cargo_test(folder: &Path) -> String {
    let _one = ONE_BUILD.lock().unwrap_or_else(PoisonError::into_inner);
    let test = std::env::current_exe().unwrap();
    let target = test.ancestors().nth(3).unwrap();
    let lock = folder.join("Cargo.lock");
    std::fs::copy(root().join("Cargo.lock"), &lock).unwrap();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["test", "--offline", "--workspace"]).current_dir(folder).env("CARGO_TARGET_DIR", target);
    for setting in [
        "profile.dev.debug=\"line-tables-only\"",
        "profile.dev.package.planforge-pddl.opt-level=3",
        "profile.dev.package.sha2.opt-level=3",
    ] {
        cargo.args(["--config", setting]);
    }
    // What cargo sets for this test is about this package.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("CARGO_PKG_") || name == "CARGO_MANIFEST_DIR" {
            cargo.env_remove(name);
        }
    }
    let output = cargo.output().unwrap();
    let _ = std::fs::remove_file(lock);
    let text =
        format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{text}");
    text
}

fn passed(output: &str) -> usize {
    let lines = output.lines().filter_map(|l| l.strip_prefix("test result: ok. "));
    lines.filter_map(|l| l.split(' ').next()?.parse::<usize>().ok()).sum()
}

#[test]
fn a_new_plugin_outside_the_workspace_passes_its_own_test() {
    let folder = tempfile::tempdir().unwrap();
    let files = scaffold("verifier", "verifier-outside", folder.path(), &root()).unwrap();
    assert_eq!(files.len(), 3);
    assert_eq!(passed(&cargo_test(&folder.path().join("verifier-outside"))), 2);
}

#[test]
fn a_new_plugin_of_every_kind_in_a_workspace_s_plugins_folder_passes_its_own_test() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = "[workspace]\nresolver = \"3\"\nmembers = [\"plugins/*\"]\n";
    std::fs::write(folder.path().join("Cargo.toml"), manifest).unwrap();
    let kinds = ["provider", "translator", "verifier", "planner", "environment"];
    for kind in kinds {
        scaffold(kind, &format!("{kind}-inside"), &folder.path().join("plugins"), &root()).unwrap();
    }
    assert_eq!(passed(&cargo_test(folder.path())), 2 * kinds.len());
}

#[test]
fn the_example_outside_the_workspace_passes_its_own_test() {
    assert_eq!(passed(&cargo_test(&root().join("examples/custom-verifier"))), 3);
}
