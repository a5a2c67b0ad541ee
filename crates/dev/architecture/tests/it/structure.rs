//! The rules of docs/reference/invariants.md, section Structure, one test each.

use crate::root;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

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

    fn uses_feature(&self, dependency: &str, feature: &str) -> bool {
        let features = &self.manifest["dependencies"][dependency].get("features");
        features.and_then(|f| f.as_array()).is_some_and(|f| f.iter().any(|f| f.as_str() == Some(feature)))
    }
}

/// The folders of packages and the layer of each. A package may depend on its own layer and on those before it.
/// `crates` itself holds the application layer.
const LAYERS: &[&str] =
    &["crates/language", "crates/platform", "plugins", "crates/lab", "crates", "crates/fronts", "crates/dev"];

/// Every package of the workspace by its name without `planforge-`.
fn packages() -> BTreeMap<String, Package> {
    let mut found = BTreeMap::new();
    for layer in LAYERS {
        for entry in fs::read_dir(root().join(layer)).unwrap() {
            let folder = entry.unwrap().path();
            if folder.ends_with("plugins/provider-local") {
                continue; // not a member: an own workspace, for llama.cpp
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

/// The crates of `platform` that plugins may use. Everything else there belongs to the host.
const FOR_PLUGINS: &[&str] = &["child", "contract", "model-api", "plugin-abi", "plugin-common", "plugin-sdk"];

/// The layer of a package as an index of [`LAYERS`].
fn layer(package: &Package) -> usize {
    let folder = package.folder.parent().unwrap().strip_prefix(root()).unwrap();
    LAYERS.iter().position(|layer| Path::new(layer) == folder).unwrap()
}

#[test]
fn packages_depend_only_on_their_own_layer_and_lower_ones() {
    let packages = packages();
    for (name, package) in &packages {
        for dependency in package.dependencies("dependencies") {
            let Some(own) = dependency.strip_prefix("planforge-") else { continue };
            let target = &packages[own];
            assert!(layer(target) <= layer(package), "{name} depends on {own}, which is in a higher layer");
            if LAYERS[layer(package)] == "plugins" && LAYERS[layer(target)] == "crates/platform" {
                assert!(!package.uses_feature(&dependency, "batch"), "{name} uses the host's part of {own}");
                assert!(
                    FOR_PLUGINS.contains(&own),
                    "the plugin {name} depends on {own}, which belongs to the host"
                );
            }
        }
    }
}

#[test]
fn the_plugin_protocol_does_not_depend_on_the_language_crates() {
    let packages = packages();
    for (name, allowed) in
        [("contract", &["diagnostics"][..]), ("plugin-abi", &[]), ("child", &[]), ("clingo", &[])]
    {
        for dependency in packages[name].dependencies("dependencies") {
            if let Some(own) = dependency.strip_prefix("planforge-") {
                assert!(allowed.contains(&own), "{name} may not depend on {own}");
            }
        }
    }
}

#[test]
fn only_plugin_abi_names_abi_stable_and_libloading() {
    for (name, package) in packages() {
        // The frozen fixtures in loaded-tests hold their own copies of an epoch, which must not change with the original.
        if ["plugin-abi", "clingo", "loaded-tests"].contains(&name.as_str()) {
            continue;
        }
        for section in ["dependencies", "dev-dependencies"] {
            let dependencies = package.dependencies(section);
            for forbidden in ["abi_stable", "libloading"] {
                assert!(!dependencies.contains(forbidden), "{name} names {forbidden}");
            }
        }
    }
}

#[test]
fn only_plugin_abi_and_clingo_are_unsafe() {
    for (name, package) in packages() {
        if ["plugin-abi", "clingo"].contains(&name.as_str()) {
            continue;
        }
        let mut files = Vec::new();
        rust_files(&package.folder.join("src"), &mut files);
        for file in files {
            let text = fs::read_to_string(&file).unwrap();
            // The word is put together so that this test does not find itself.
            let allowance = ["allow(", "unsafe_code"].concat();
            assert!(!text.contains(&allowance), "{} allows unsafe code", file.display());
        }
    }
}

#[test]
fn only_the_application_layer_and_test_crates_know_the_plugins() {
    let packages = packages();
    let plugins: BTreeSet<String> = packages
        .iter()
        .filter(|(_, p)| p.folder.parent().unwrap().ends_with("plugins"))
        .map(|(name, _)| format!("planforge-{name}"))
        .collect();
    for (name, package) in &packages {
        for dependency in package.dependencies("dependencies") {
            assert!(
                !plugins.contains(&dependency) || name == "app",
                "{name} depends on the plugin {dependency}"
            );
        }
    }
}

#[test]
fn fronts_know_only_the_application_layer() {
    for (name, package) in packages() {
        if !package.folder.parent().unwrap().ends_with("crates/fronts") {
            continue;
        }
        for dependency in package.dependencies("dependencies") {
            let Some(own) = dependency.strip_prefix("planforge-") else { continue };
            // The command `serve` starts the servers. The Python package contains the command.
            let is_part = match name.as_str() {
                "cli" => ["mcp", "lsp", "page"].contains(&own),
                "python" => own == "cli",
                _ => false,
            };
            assert!(own == "app" || is_part, "the front {name} depends on {own}");
        }
    }
}

#[test]
fn only_the_command_serve_knows_the_other_fronts() {
    let src = root().join("crates/fronts/cli/src");
    let serve = src.join("commands/serve.rs");
    let mut files = Vec::new();
    rust_files(&src, &mut files);
    assert!(files.len() > 20);
    for file in files.iter().filter(|file| **file != serve) {
        let text = fs::read_to_string(file).unwrap();
        for server in ["planforge_mcp", "planforge_lsp", "planforge_page"] {
            assert!(!text.contains(server), "{} names {server}", file.display());
        }
    }
}

#[test]
fn of_the_command_the_python_package_knows_only_the_function_that_runs_it() {
    let mut files = Vec::new();
    rust_files(&root().join("crates/fronts/python/src"), &mut files);
    let names = files.iter().flat_map(|file| {
        let text = fs::read_to_string(file).unwrap();
        let lines = text.lines().filter(|line| line.contains("planforge_cli")).map(|l| l.trim().to_owned());
        lines.collect::<Vec<_>>()
    });
    assert_eq!(names.collect::<Vec<_>>(), ["use planforge_cli::{Installation, run_command};"]);
}

#[test]
fn the_application_layer_reads_no_environment_and_has_no_state_of_the_process() {
    let mut files = Vec::new();
    rust_files(&root().join("crates/app/src"), &mut files);
    assert!(files.len() > 20);
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        // Splitting a path reads nothing, and constants are part of the build.
        let text = text.replace("std::env::split_paths", "").replace("std::env::consts::", "");
        for forbidden in ["std::env::", "std::process::exit", "set_current_dir", "println!", "static mut"] {
            assert!(!text.contains(forbidden), "{} uses `{forbidden}`", file.display());
        }
    }
}

#[test]
fn every_plugin_folder_is_bundled() {
    let bundled = fs::read_to_string(root().join("crates/app/src/bundled.rs")).unwrap();
    let explained = fs::read_to_string(root().join("crates/app/src/codes.rs")).unwrap();
    let mut plugins = 0;
    for entry in fs::read_dir(root().join("plugins")).unwrap() {
        let folder = entry.unwrap().path();
        let crate_name =
            format!("planforge_{}", folder.file_name().unwrap().to_str().unwrap().replace('-', "_"));
        let mut files = Vec::new();
        rust_files(&folder.join("src"), &mut files);
        for file in files {
            let plugin = fs::read_to_string(&file).unwrap();
            if !plugin.contains("bundle_plugin!(") {
                continue; // provider-local, which has llama.cpp, is built apart
            }
            // A plugin is the root of its crate, or a module there.
            let path = match file.file_stem().unwrap().to_str().unwrap() {
                "lib" => crate_name.clone(),
                module => format!("{crate_name}::{module}"),
            };
            let line = format!("&{path}::PLANFORGE_PLUGIN");
            assert!(bundled.contains(&line), "crates/app/src/bundled.rs has no line `{line}`");
            if plugin.contains("CODES") {
                assert!(explained.contains(&format!("{path}::CODES")), "`explain` does not know {path}");
            }
            plugins += 1;
        }
    }
    assert_eq!(bundled.matches("::PLANFORGE_PLUGIN").count(), plugins);
}

#[test]
fn folder_name_is_crate_name() {
    for (name, package) in packages() {
        assert_eq!(package.folder.file_name().unwrap().to_str().unwrap(), name);
    }
}

#[test]
fn only_providers_their_http_the_servers_and_testkit_use_tokio() {
    for (name, package) in packages() {
        if name.starts_with("provider-") || ["model-api", "mcp", "page", "testkit"].contains(&name.as_str()) {
            continue;
        }
        assert!(!package.dependencies("dependencies").contains("tokio"), "{name} depends on tokio");
    }
}

#[test]
fn every_crate_takes_the_workspace_lints() {
    for (name, package) in packages() {
        let lints =
            package.manifest.get("lints").and_then(|l| l.get("workspace")).and_then(toml::Value::as_bool);
        assert_eq!(lints, Some(true), "{name} does not take the workspace's lints");
    }
}

#[test]
fn panics_unwind_in_every_profile() {
    let manifest: toml::Table =
        toml::from_str(&fs::read_to_string(root().join("Cargo.toml")).unwrap()).unwrap();
    for profile in ["dev", "release"] {
        assert_eq!(manifest["profile"][profile]["panic"].as_str(), Some("unwind"), "profile {profile}");
    }
}

#[test]
fn every_rule_is_written_down() {
    let text = fs::read_to_string(root().join("docs/reference/invariants.md")).unwrap();
    let source = fs::read_to_string(root().join("crates/dev/architecture/tests/it/structure.rs")).unwrap();
    for line in source.lines() {
        if let Some(name) = line.strip_prefix("fn ").and_then(|l| l.strip_suffix("() {")) {
            assert!(
                text.contains(&format!("`{name}`")),
                "docs/reference/invariants.md does not name the test `{name}`"
            );
        }
    }
}

#[test]
fn every_test_that_is_named_exists() {
    let text = fs::read_to_string(root().join("docs/reference/invariants.md")).unwrap();
    let mut files = Vec::new();
    rust_files(&root().join("crates"), &mut files);
    rust_files(&root().join("plugins"), &mut files);
    let sources: String = files.iter().map(|f| fs::read_to_string(f).unwrap()).collect();
    // Names of tests are the only long words with underscores between backquotes.
    let named = text.split('`').skip(1).step_by(2).filter(|w| w.matches('_').count() > 2 && !w.contains(' '));
    let mut count = 0;
    for name in named {
        // A test of random values takes them as arguments.
        assert!(sources.contains(&format!("fn {name}(")), "there is no test `{name}`");
        count += 1;
    }
    assert!(count > 15, "only {count} tests are named");
}
