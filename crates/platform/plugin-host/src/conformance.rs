//! Plugins in tests: the libraries that `cargo test` built, and what every plugin must do, bundled and loaded.

use crate::{BundledPlugin, Instance, PluginSource, Registry, RegistrySettings};
use planforge_contract::{CreateRequest, JsonObject, PluginInfo};
use serde_json::Value;
use std::path::PathBuf;

/// Path of a plugin's library: in the folder of examples, where `planforge-loaded-tests` builds those of the bundled plugins, or beside
/// the running test, where cargo builds that of the test's package.
///
/// # Errors
/// The library is missing. The test must fail then: skipping it would hide that loading is broken.
pub fn library(crate_name: &str) -> Result<PathBuf, String> {
    let test = std::env::current_exe().map_err(|e| e.to_string())?;
    let folder = test.parent().ok_or("the test has no folder")?;
    let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let file = format!("{prefix}{crate_name}{suffix}");
    let path = folder.with_file_name("examples").join(&file);
    match [path.clone(), folder.join(file)].into_iter().find(|path| path.is_file()) {
        Some(path) => Ok(path),
        None => Err(format!(
            "{} is missing: the crate of a plugin needs the type `cdylib`; `cargo build -p planforge-loaded-tests --example {crate_name}` \
             builds a bundled one",
            path.display()
        )),
    }
}

/// A registry of that one library.
///
/// # Errors
/// As [`library`].
pub fn loaded(crate_name: &str, settings: RegistrySettings) -> Result<Registry, String> {
    Ok(Registry::new(&[], &[library(crate_name)?], settings))
}

/// A plugin both ways: linked in, and from its library.
#[derive(Debug)]
pub struct BothWays {
    pub id: String,
    pub bundled: Registry,
    pub loaded: Registry,
}

/// Makes both registries.
///
/// # Errors
/// As [`library`].
pub fn both_ways(plugin: &'static BundledPlugin) -> Result<BothWays, String> {
    let loaded = loaded(plugin.crate_name, RegistrySettings::default())?;
    Ok(BothWays {
        id: plugin.id(),
        bundled: Registry::new(&[plugin], &[], RegistrySettings::default()),
        loaded,
    })
}

impl BothWays {
    /// Makes an instance each way: bundled, then loaded.
    ///
    /// # Errors
    /// The failure of either, as text.
    pub fn create(&self, request: &CreateRequest) -> Result<[Instance; 2], String> {
        let make =
            |r: &Registry, way: &str| r.create(&self.id, request.clone()).map_err(|e| format!("{way}: {e}"));
        Ok([make(&self.bundled, "bundled")?, make(&self.loaded, "loaded")?])
    }
}

/// Checks the requirements on every plugin, of any kind. Reports all violations.
///
/// # Errors
/// One sentence per violation.
pub fn conformance(plugin: &'static BundledPlugin) -> Result<(), Vec<String>> {
    let both = both_ways(plugin).map_err(|e| vec![e])?;
    let mut wrong = Vec::new();
    let infos = [&both.bundled, &both.loaded].map(|r| r.info(&both.id));
    let [Ok(bundled), Ok(loaded)] = infos else {
        return Err(infos.into_iter().filter_map(|r| r.err().map(|f| f.to_string())).collect());
    };
    if bundled != loaded {
        wrong.push("bundled and loaded describe themselves differently".to_owned());
    }
    if !matches!(both.loaded.source(&both.id), Ok(PluginSource::Library { sha256, .. }) if sha256.len() == 64)
    {
        wrong.push("the loaded one does not come from a library with its SHA-256".to_owned());
    }
    wrong.extend(schema_violations(&bundled));
    let mut unknown = JsonObject::new();
    unknown.insert("no-such-option".to_owned(), Value::Null);
    for (way, registry) in [("bundled", &both.bundled), ("loaded", &both.loaded)] {
        #[cfg(feature = "schemas")]
        match registry.check_options(&both.id, &unknown) {
            Ok(problems)
                if problems.iter().any(|p| p.code == "options.unknown" && p.pointer == "/no-such-option") => {
            }
            Ok(_) => wrong.push(format!("{way}: an unknown option is accepted; use `deny_unknown_fields`")),
            Err(failure) => wrong.push(format!("{way}: {failure}")),
        }
        let request = CreateRequest { options: unknown.clone(), ..CreateRequest::default() };
        match registry.create(&both.id, request) {
            Err(failure) if failure.code == "plugin.options" => {}
            Err(failure) => wrong.push(format!("{way}: an unknown option gives {failure}")),
            Ok(_) => wrong.push(format!("{way}: an instance was made with an unknown option")),
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

fn schema_violations(info: &PluginInfo) -> Vec<String> {
    let properties = info.options_schema.get("properties").and_then(Value::as_object);
    let is_undocumented = |schema: &Value| {
        schema.get("description").and_then(Value::as_str).is_none_or(|text| text.trim().is_empty())
    };
    let undocumented = properties.into_iter().flatten().filter(|(_, schema)| is_undocumented(schema));
    let mut wrong: Vec<String> =
        undocumented.map(|(name, _)| format!("the option `{name}` has no doc comment")).collect();
    wrong.extend(declaration_violations(info));
    wrong
}

/// Mistakes in what a plugin declares of itself, one sentence each.
pub fn declaration_violations(info: &PluginInfo) -> Vec<String> {
    let mut wrong = Vec::new();
    if info.about.trim().is_empty() || info.about.contains('\n') {
        wrong.push("`about` must be one line".to_owned());
    }
    let properties = info.options_schema.get("properties").and_then(Value::as_object);
    let is_option = |name: &String| properties.is_some_and(|properties| properties.contains_key(name));
    let named = [
        ("secret", &info.secrets),
        ("server", &info.servers),
        ("file", &info.files),
        ("folder", &info.folders),
        ("suite", &info.suites),
    ];
    for (what, names) in named {
        for name in names.iter().filter(|name| !is_option(name)) {
            wrong.push(format!("the {what} `{name}` is not an option"));
        }
    }
    for (what, declared) in [("role", &info.roles), ("metric", &info.metrics)] {
        for one in declared.iter().filter(|one| one.about.trim().is_empty()) {
            wrong.push(format!("the {what} `{}` has no description", one.name));
        }
    }
    wrong
}
