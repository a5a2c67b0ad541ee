//! Conformance of the plugin, and the checks of `planforge plugins test` with a model.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should stop")]

mod support;

use planforge_plugin_host::conformance::conformance;
use planforge_plugin_host::{Registry, RegistrySettings};
use planforge_plugin_sdk::serde_json::json;
use planforge_plugin_tools::check::{CheckSettings, CheckStatus, check_plugin};
use planforge_provider_local::PLANFORGE_PLUGIN;
use support::TinyModel;

#[test]
fn it_does_what_every_plugin_must() {
    assert_eq!(conformance(&PLANFORGE_PLUGIN), Ok(()));
}

#[test]
fn every_check_of_plugins_passes_with_a_model() {
    let folder = tempfile::tempdir().unwrap();
    // The model's name in the requests of the checks.
    TinyModel::default().write(folder.path(), "scripted");
    std::env::set_current_dir(folder.path()).unwrap();
    let registry = Registry::new(&[&PLANFORGE_PLUGIN], &[], RegistrySettings::default());
    let options = json!({"context": 1024, "threads": 1});
    let settings = CheckSettings { large_bytes: 1 << 20, ..CheckSettings::new(300_000) };
    let report = check_plugin(&registry, "provider-local", options.as_object().unwrap(), settings);
    for check in &report.checks {
        let status = if check.name == "metrics" { CheckStatus::NotApplicable } else { CheckStatus::Passed };
        assert!(check.status == status && check.detail.find("local.model").is_none(), "{check:?}");
    }
    assert!(report.checks.len() > 10);
}
