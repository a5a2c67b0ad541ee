//! Every plugin of the workspace does what every plugin must, linked in and from its library.

use crate::bundled::PLUGINS;
use planforge_testkit::plugins::conformance;
use std::collections::BTreeSet;
use std::path::Path;

#[test]
fn every_folder_in_plugins_is_tested_here() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../plugins");
    let folders: BTreeSet<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.join("Cargo.toml").is_file())
        .map(|p| p.file_name().unwrap().to_string_lossy().into_owned())
        .filter(|name| name != "provider-local") // its own package tests it, with llama.cpp
        .collect();
    let tested: BTreeSet<String> = PLUGINS.iter().map(|p| p.id()).collect();
    assert_eq!(folders, tested);
}

#[test]
fn every_plugin_conforms_bundled_and_loaded() {
    let mut wrong = Vec::new();
    for &plugin in PLUGINS {
        let violations = conformance(plugin).err().unwrap_or_default();
        wrong.extend(violations.into_iter().map(|v| format!("{}: {v}", plugin.id())));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
