//! Every plugin of the workspace does what every plugin must, linked in and from its library.

use crate::bundled::PLUGINS;
use planforge_testkit::plugins::conformance;
use std::collections::BTreeSet;
use std::path::Path;

/// The libraries' names of the plugins in a folder of sources.
fn plugins_in(folder: &Path, crate_name: &str, names: &mut BTreeSet<String>) {
    for path in std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()) {
        if path.is_dir() {
            plugins_in(&path, crate_name, names);
        } else if let Some((_, call)) =
            std::fs::read_to_string(&path).unwrap_or_default().split_once("bundle_plugin!(")
        {
            // A plugin that is a module of its crate has a name of its own.
            let own = call.trim_start().strip_prefix('"').and_then(|rest| rest.split('"').next());
            names.insert(own.unwrap_or(crate_name).to_owned());
        }
    }
}

#[test]
fn every_folder_in_plugins_is_tested_here() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../plugins");
    let mut names = BTreeSet::new();
    for path in std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()) {
        let crate_name = path.file_name().unwrap().to_string_lossy().replace('-', "_");
        plugins_in(&path.join("src"), &format!("planforge_{crate_name}"), &mut names);
    }
    let tested: BTreeSet<String> = PLUGINS.iter().map(|p| p.crate_name.to_owned()).collect();
    assert_eq!(names, tested);
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
