//! `check_plugin` on every plugin of the workspace, on libraries and programs, and on plugins with one fault each.

use crate::bundled::PLUGINS;
use planforge_contract::PluginKind;
use planforge_plugin_host::{CallLimits, Registry, RegistrySettings, WorkerSettings};
use planforge_plugin_tools::check::{Check, CheckSettings, CheckStatus, PluginReport, check_plugin};
use planforge_plugin_tools::scaffold::scaffold_python;
use planforge_testkit::plugins::library;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Only stops a test that hangs.
const PATIENCE_MS: u64 = 300_000;
/// Bytes of the large text, more than those of any other. The tests of `planforge plugins test` use 10 MB.
const LARGE_BYTES: usize = 1 << 20;

fn settings() -> RegistrySettings {
    let worker = WorkerSettings::new(env!("CARGO_BIN_EXE_planforge-test-worker").into());
    let limits = CallLimits { cancel_grace_ms: 300, deadline_grace_ms: 100, ..CallLimits::default() };
    RegistrySettings { worker: Some(worker), limits, ..RegistrySettings::default() }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").canonicalize().unwrap()
}

fn check(registry: &Registry, id: &str, options: Value, timeout_ms: u64) -> PluginReport {
    let settings = CheckSettings { large_bytes: LARGE_BYTES, ..CheckSettings::new(timeout_ms) };
    check_plugin(registry, id, options.as_object().unwrap(), settings)
}

fn text(report: &PluginReport) -> String {
    let line = |check: &Check| format!("{}: {} {}\n", check.name, check.status.name(), check.detail);
    format!("{}\n{}", report.plugin, report.checks.iter().map(line).collect::<String>())
}

/// The options that a bundled plugin cannot do without.
fn needed_options(id: &str) -> Value {
    let suite = root().join("examples/suites/parcels");
    let read = |file: &str| std::fs::read_to_string(suite.join(file)).unwrap();
    match id {
        "environment-process" => {
            json!({"command": ["python3", root().join("examples/environments/jugs.py")]})
        }
        "planner-external" => json!({
            "command": ["sh", "-c", "echo '(switch-on hall)' > \"$0\""], "arguments": ["{plan}"], "validate": false
        }),
        "provider-noisy-oracle" => json!({
            "suites": [{"name": "plugin-check", "domain": read("domain.pddl"), "problems": {"p00": read("p01.pddl")}}]
        }),
        _ => json!({}),
    }
}

fn all_bundled_plugins_pass(kind: PluginKind) {
    let registry = Registry::new(PLUGINS, &[], settings());
    for plugin in PLUGINS.iter().filter(|plugin| registry.info(&plugin.id()).unwrap().kind == kind) {
        let report = check(&registry, &plugin.id(), needed_options(&plugin.id()), PATIENCE_MS);
        assert!(report.is_passed(), "{}", text(&report));
        assert_eq!(report.checks.len(), 14, "{}", text(&report));
        // The sample's replies are PDDL; two plugins ask for answer set programs, or for several replies of their own form.
        // `provider-client` has no client here.
        let is_answered = report.check("request").unwrap().status == CheckStatus::Passed;
        let cannot_answer =
            ["translator-asp", "translator-actions", "provider-client"].contains(&report.plugin.as_str());
        assert!(is_answered || cannot_answer, "{}", text(&report));
    }
}

#[test]
fn bundled_providers_pass() {
    all_bundled_plugins_pass(PluginKind::Provider);
}

#[test]
fn bundled_translators_pass() {
    all_bundled_plugins_pass(PluginKind::Translator);
}

#[test]
fn bundled_verifiers_pass() {
    all_bundled_plugins_pass(PluginKind::Verifier);
}

#[test]
fn bundled_planners_pass() {
    all_bundled_plugins_pass(PluginKind::Planner);
}

#[test]
fn bundled_environments_pass() {
    all_bundled_plugins_pass(PluginKind::Environment);
}

#[test]
fn a_library_passes_in_this_process_and_isolated() {
    let libraries = [library("planforge_verifier_val").unwrap()];
    for isolate_libraries in [false, true] {
        let registry =
            Registry::new(PLUGINS, &libraries, RegistrySettings { isolate_libraries, ..settings() });
        let report = check(&registry, "verifier-val", json!({}), PATIENCE_MS);
        assert!(report.is_passed(), "{}", text(&report));
    }
}

#[test]
fn new_plugins_in_python_pass() {
    let folder = tempfile::tempdir().unwrap();
    for kind in PluginKind::ALL {
        let name = format!("my-{kind}");
        scaffold_python(kind.name(), &name, folder.path()).unwrap();
        let registry = Registry::new(PLUGINS, &[folder.path().join(&name)], settings());
        let report = check(&registry, &name, json!({}), PATIENCE_MS);
        assert!(report.is_passed(), "{}", text(&report));
    }
}

/// The faults of `misbehave-methods`, each with the check that fails and the code of the failure.
const LIBRARY_FAULTS: &[(&str, &str, &str)] = &[
    ("refuse-create", "create", "misbehave.refused"),
    ("panic-create", "create", "plugin.create"),
    ("panic-verify", "request", "plugin.panic"),
    ("bad-json", "request", "plugin.document"),
    ("few-results", "request", "plugin.reply-count"),
    ("huge", "request", "plugin.reply-size"),
    ("forbidden", "request", "host.forbidden"),
    ("abort", "hostile: empty", "plugin.program"),
    ("stack-overflow", "hostile: empty", "plugin.program"),
];

fn assert_fails(report: &PluginReport, name: &str, code: Option<&str>) {
    let failed = report.first_failed().unwrap_or_else(|| panic!("nothing fails: {}", text(report)));
    let found = failed.failure.as_ref().map(|failure| failure.code.as_str());
    assert_eq!((failed.name.as_str(), found), (name, code), "{}", text(report));
}

#[test]
fn each_fault_of_a_library_fails_its_check() {
    let libraries = [library("planforge_misbehave_methods").unwrap()];
    let registry = Registry::new(&[], &libraries, RegistrySettings { isolate_libraries: true, ..settings() });
    let check =
        |fault: &str, timeout_ms| check(&registry, "misbehave-methods", json!({"fault": fault}), timeout_ms);
    for (fault, name, code) in LIBRARY_FAULTS {
        assert_fails(&check(fault, PATIENCE_MS), name, Some(code));
    }
    // Long enough to load the library on a busy machine.
    assert_fails(&check("hang", 5_000), "request", Some("plugin.deadline"));
    let sound = check("none", PATIENCE_MS);
    assert!(sound.is_passed(), "{}", text(&sound));
    assert_fails(&check("no such fault", PATIENCE_MS), "options", Some("plugin.options"));
    let report = self::check(&registry, "not-there", json!({}), 1);
    assert_fails(&report, "description", Some("plugin.unknown"));
    assert_eq!(report.checks.len(), 14);
}

/// A verifier in Python with one fault. The names are those of the checks that fail.
const FAULTY: &str = r#"
import json
import time
import uuid
from planforge_plugin import Verifier, accepted, rejected, run, undecided


class Faulty(Verifier):
    about = ABOUT
    options = OPTIONS
    metrics = {"steps": "steps of the plan"}
    last = ""

    def check(self, host, task, candidate):
        metrics = {}
        summary = "fine"
        text = json.dumps(candidate)
        if FAULT == "metrics":
            metrics = {"sense": 1}
        if FAULT == "determinism":
            summary = str(uuid.uuid4())
        if FAULT == "concurrency":
            type(self).last = task["task"]
            time.sleep(0.02)
            summary = type(self).last
        # The check interrupts its first request alone.
        if FAULT == "cancellation" and task["task"] == "p00" and candidate.get("plan") is None:
            time.sleep(0.2)
            if host.cancelled:
                time.sleep(3600)
        if FAULT == "hostile: empty" and candidate.get("domain") == "":
            raise IndexError("no first character")
        if FAULT == "hostile: 10 MB" and len(text) > 1_000_000:
            time.sleep(3600)
        if FAULT == "hostile: deep nesting":
            depth = max_depth = 0
            for character in text:
                depth += {"(": 1, ")": -1}.get(character, 0)
                max_depth = max(max_depth, depth)
            if max_depth > 1000:
                import os
                os.abort()
        if FAULT == "hostile: invalid PDDL" and "??" in text:
            raise ValueError("unexpected token ??")
        if FAULT == "hostile: control characters" and "\\u0007" in text:
            raise ValueError("control character")
        if FAULT == "hostile: unknown fields" and "planforge-unknown" in candidate:
            return rejected("an unknown field")
        return accepted(summary, metrics=metrics)


if __name__ == "__main__":
    run(Faulty)
"#;

#[test]
fn each_fault_of_a_program_fails_its_check() {
    let folder = tempfile::tempdir().unwrap();
    scaffold_python("verifier", "faulty-check", folder.path()).unwrap();
    let program = folder.path().join("faulty-check");
    let none = "{}";
    let bad_default = r#"{"type": "object", "additionalProperties": False, "properties": {"most": {"type": "integer", "default": "nine"}}}"#;
    let open = r#"{"type": "object", "properties": {"most": {"type": "integer"}}}"#;
    let deadline = Some("plugin.deadline");
    let exception = Some("plugin.exception");
    let cases = [
        ("none", r#""One line""#, none, None, None),
        ("none", r#""Two\nlines""#, none, Some("description"), None),
        ("none", r#""One line""#, bad_default, Some("options"), None),
        ("none", r#""One line""#, open, Some("options"), None),
        ("metrics", r#""One line""#, none, Some("metrics"), None),
        ("determinism", r#""One line""#, none, Some("determinism"), None),
        ("concurrency", r#""One line""#, none, Some("concurrency"), None),
        ("cancellation", r#""One line""#, none, Some("cancellation"), deadline),
        ("hostile: empty", r#""One line""#, none, Some("hostile: empty"), exception),
        ("hostile: 10 MB", r#""One line""#, none, Some("hostile: 10 MB"), deadline),
        ("hostile: invalid PDDL", r#""One line""#, none, Some("hostile: invalid PDDL"), exception),
        (
            "hostile: deep nesting",
            r#""One line""#,
            none,
            Some("hostile: deep nesting"),
            Some("plugin.program"),
        ),
        (
            "hostile: control characters",
            r#""One line""#,
            none,
            Some("hostile: control characters"),
            exception,
        ),
        ("hostile: unknown fields", r#""One line""#, none, Some("hostile: unknown fields"), None),
    ];
    for (fault, about, options, failed, code) in cases {
        let source = FAULTY
            .replace("FAULT", &format!("{fault:?}"))
            .replace("ABOUT", about)
            .replace("OPTIONS", options);
        std::fs::write(program.join("faulty_check.py"), source).unwrap();
        let registry = Registry::new(&[], std::slice::from_ref(&program), settings());
        // A call that hangs is given up; every other ends by itself.
        let timeout_ms = if code == deadline && failed != Some("cancellation") { 5_000 } else { PATIENCE_MS };
        let report = check(&registry, "faulty-check", json!({}), timeout_ms);
        match failed {
            Some(name) => assert_fails(&report, name, code),
            None => assert!(report.is_passed(), "{}", text(&report)),
        }
        let is_alone = report.checks.iter().filter(|one| one.status == CheckStatus::Failed).count() <= 1;
        assert!(is_alone, "{}", text(&report));
    }
}
