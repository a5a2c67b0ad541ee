//! The rules of ARCHITECTURE.md, one test each. A rule that changes changes here and there.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

struct Package {
    folder: PathBuf,
    manifest: toml::Table,
}

impl Package {
    fn dependencies(&self, section: &str) -> BTreeSet<String> {
        self.manifest
            .get(section)
            .and_then(|s| s.as_table())
            .map(|t| t.keys().cloned().collect())
            .unwrap_or_default()
    }
}

/// Every package of the workspace by its name without `planforge-`.
fn packages() -> BTreeMap<String, Package> {
    let mut found = BTreeMap::new();
    for group in ["crates", "plugins", "tests"] {
        for entry in fs::read_dir(root().join(group)).unwrap() {
            let folder = entry.unwrap().path();
            if folder.ends_with("tests/fuzz") {
                continue; // not a member: its own workspace, for cargo-fuzz
            }
            let Ok(text) = fs::read_to_string(folder.join("Cargo.toml")) else { continue };
            let manifest: toml::Table = toml::from_str(&text).unwrap();
            let name =
                manifest["package"]["name"].as_str().unwrap().trim_start_matches("planforge-").to_owned();
            found.insert(name, Package { folder, manifest });
        }
    }
    assert!(found.len() > 15, "found only {:?}", found.keys());
    found
}

fn rust_files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && path.file_name().is_some_and(|n| n != "target") {
            rust_files(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

/// Which of our own crates each library may depend on. What is not listed may not be added without a reason in
/// ARCHITECTURE.md.
const ALLOWED: &[(&str, &[&str])] = &[
    ("child", &[]),
    ("diagnostics", &[]),
    ("pddl", &["diagnostics"]),
    ("planning", &["diagnostics", "pddl"]),
    ("contract", &["diagnostics"]),
    ("plugin-abi", &[]),
    ("plugin-sdk", &["contract", "diagnostics", "pddl", "plugin-abi"]),
    ("plugin-host", &["child", "contract", "diagnostics", "plugin-abi", "plugin-sdk"]),
    ("record", &["contract", "diagnostics"]),
    ("llm", &["contract", "diagnostics", "record"]),
    ("pipeline", &["contract", "diagnostics", "llm", "pddl", "plugin-sdk", "record"]),
    ("evaluate", &["contract", "diagnostics", "pddl", "pipeline", "planning", "record"]),
    ("suites", &["contract", "diagnostics", "pddl", "pipeline", "planning"]),
    ("provider-noisy-oracle", &["contract", "diagnostics", "pddl", "plugin-sdk"]),
    ("provider-openai", &["contract", "diagnostics", "plugin-sdk"]),
    ("translator-direct", &["contract", "diagnostics", "pddl", "plugin-sdk"]),
    ("verifier-ew", &["contract", "diagnostics", "pddl", "planning", "plugin-sdk"]),
    ("verifier-val", &["contract", "diagnostics", "pddl", "planning", "plugin-sdk"]),
