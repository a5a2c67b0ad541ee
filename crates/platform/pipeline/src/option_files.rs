//! Options that name a file or a suite: the host reads it and gives the plugin its text, for plugins open no files.

use crate::config::Texts;
use crate::suite::{Suite, disguise_suite, load_suite_with};
use planforge_contract::{Failure, FailureClass, JsonObject, PluginInfo, SuiteReference};
use planforge_diagnostics::Diagnostic;
use planforge_obfuscate::DisguiseOptions;
use serde_json::Value;
use std::io::Read;
use std::path::Path;

/// The capability of providers that answer by themselves and may therefore hold a reference.
const SIMULATED: &str = "simulated";

/// Largest file that an option may name, in bytes.
pub const MAX_OPTION_FILE_BYTES: u64 = 4 << 20;

/// Replaces the path of every file in the options by its text, and every suite folder by the suite's
/// reference. Paths are relative to `folder`, the pipeline file's own. With a `disguise` the references have
/// the names of the run's own suites.
///
/// # Errors
/// `pipeline.file`, one for each file that does not exist, is too large, or is not UTF-8; `pipeline.suite`
/// for each suite that cannot be read or lacks a reference, and for a plugin that asks for suites and is not
/// declared `simulated`.
pub fn inline_files(
    info: &PluginInfo,
    options: &JsonObject,
    folder: &Path,
    disguise: Option<&DisguiseOptions>,
) -> Result<JsonObject, Vec<Failure>> {
    let mut options = options.clone();
    let mut failures = Vec::new();
    for name in &info.files {
        let Some(Value::String(path)) = options.get(name) else { continue };
        match text(&folder.join(path)) {
            Ok(text) => drop(options.insert(name.clone(), Value::String(text))),
            Err(why) => {
                let message = format!("`{name}` of `{}`: {} {why}", info.id, folder.join(path).display());
                failures.push(Failure::new(FailureClass::System, "pipeline.file", message));
            }
        }
    }
    for name in &info.suites {
        let Some(value) = options.get(name).cloned() else { continue };
        match references(info, name, &value, folder, disguise) {
            Ok(references) => drop(options.insert(name.clone(), references)),
            Err(wrong) => failures.extend(wrong),
        }
    }
    for name in &info.folders {
        let below = options.get(name).and_then(Value::as_str).unwrap_or_default();
        let path = match folder.join(below) {
            path if path.as_os_str().is_empty() => ".".into(),
            path => path,
        };
        options.insert(name.clone(), Value::String(path.display().to_string()));
    }
    if failures.is_empty() { Ok(options) } else { Err(failures) }
}

/// The references of the suites that an option lists.
fn references(
    info: &PluginInfo,
    name: &str,
    value: &Value,
    folder: &Path,
    disguise: Option<&DisguiseOptions>,
) -> Result<Value, Vec<Failure>> {
    let failure = |why: String| {
        let message = format!("`{name}` of `{}`: {why}", info.id);
        Failure::new(FailureClass::System, "pipeline.suite", message)
    };
    if !info.capabilities.simulated {
        let why = format!("a suite's reference goes to providers declared `{SIMULATED}` alone");
        return Err(vec![failure(why)]);
    }
    let paths = value.as_array().map(|items| items.iter().map(Value::as_str).collect::<Option<Vec<&str>>>());
    let Some(paths) = paths.flatten() else {
        return Err(vec![failure("a list of suite folders is wanted".to_owned())]);
    };
    let mut found: Vec<SuiteReference> = Vec::new();
    let mut failures = Vec::new();
    for path in paths {
        let path = folder.join(path);
        match reference(&path, disguise) {
            Ok(suite) if found.iter().any(|other| other.name == suite.name) => {
                failures.push(failure(format!("there are two suites `{}`", suite.name)));
            }
            Ok(suite) => found.push(suite),
            Err(why) => failures.push(failure(format!("{}: {why}", path.display()))),
        }
    }
    if !failures.is_empty() {
        return Err(failures);
    }
    serde_json::to_value(found).map_err(|e| vec![failure(e.to_string())])
}

/// The part of a suite that a simulated model is given.
fn reference(path: &Path, disguise: Option<&DisguiseOptions>) -> Result<SuiteReference, String> {
    // A plugin is given the reference and no texts, so suites without any will do.
    let loaded = load_suite_with(path, Texts::Optional);
    let told = |found: &[Diagnostic]| {
        let errors = found.iter().filter(|d| d.is_error());
        errors.map(|d: &Diagnostic| d.message.to_string()).collect::<Vec<_>>().join("; ")
    };
    let Some(mut suite) = loaded.suite else { return Err(told(&loaded.diagnostics)) };
    if let Some(options) = disguise {
        // A task without a problem is none that the plugin could be asked about.
        suite.tasks.retain(|task| task.reference_problem.is_some());
        suite = disguise_suite(&suite, options).map_err(|found| told(&found))?;
    }
    let Suite { name, reference_domain, tasks, .. } = suite;
    let Some(domain) = reference_domain else {
        return Err("the suite has no domain.pddl".to_owned());
    };
    let problems = tasks.into_iter().filter_map(|task| Some((task.stem, task.reference_problem?))).collect();
    Ok(SuiteReference { name, domain, problems })
}

fn text(path: &Path) -> Result<String, String> {
    let unreadable = |e: std::io::Error| format!("cannot be read: {e}");
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(unreadable)?;
    file.take(MAX_OPTION_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_OPTION_FILE_BYTES {
        return Err(format!("is larger than {MAX_OPTION_FILE_BYTES} bytes"));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(error) if path.extension().is_some_and(|ending| ending == "pddl") => {
            let name = path.display().to_string();
            let read = planforge_pddl::read_pddl_bytes(&name, error.as_bytes());
            read.map(|read| read.text).map_err(|_| "is not UTF-8".to_owned())
        }
        Err(_) => Err("is not UTF-8".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use planforge_contract::{Capabilities, PluginKind};
    use serde_json::json;

    fn info() -> PluginInfo {
        PluginInfo {
            id: "x".into(),
            kind: PluginKind::Provider,
            version: String::new(),
            contract: 1,
            about: String::new(),
            capabilities: Capabilities::default(),
            roles: vec![],
            metrics: vec![],
            measures: vec![],
            options_schema: json!({}),
            secrets: vec![],
            files: vec!["a".into(), "b".into()],
            folders: vec![],
            suites: vec![],
            servers: vec![],
            commands: Vec::new(),
            max_concurrency: 0,
        }
    }

    #[test]
    fn folders_are_resolved_beside_the_pipeline_which_is_the_default() {
        let info = PluginInfo { files: vec![], folders: vec!["f".into()], ..info() };
        let resolved = |options: Value, folder: &str| {
            let done = inline_files(&info, options.as_object().unwrap(), Path::new(folder), None).unwrap();
            done["f"].as_str().unwrap().trim_end_matches('/').to_owned()
        };
        assert_eq!(resolved(json!({"f": "sub"}), "conf"), "conf/sub");
        assert_eq!(resolved(json!({"f": "/abs"}), "conf"), "/abs");
        assert_eq!(resolved(json!({}), "conf"), "conf");
        assert_eq!(resolved(json!({}), ""), ".");
    }

    #[test]
    fn files_are_read_beside_the_pipeline_and_their_faults_are_named() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("good.pem"), "text").unwrap();
        std::fs::write(folder.path().join("binary"), [0xff, 0xfe]).unwrap();
        let info = info();
        let inline = |options: Value| inline_files(&info, options.as_object().unwrap(), folder.path(), None);
        let done = inline(json!({"a": "good.pem", "c": "good.pem"})).unwrap();
        assert_eq!(Value::from(done), json!({"a": "text", "c": "good.pem"}));
        let wrong = inline(json!({"a": "gone", "b": "binary"})).unwrap_err();
        assert_eq!(wrong.len(), 2);
        assert!(wrong.iter().all(|f| f.code == "pipeline.file"));
        assert!(wrong[0].message.contains("gone") && wrong[1].message.contains("UTF-8"));
    }
    #[test]
    fn the_reference_of_a_suite_goes_to_simulated_providers_alone() {
        let folder = tempfile::tempdir().unwrap();
        let suite = folder.path().join("toys");
        std::fs::create_dir(&suite).unwrap();
        for (name, text) in [
            ("domain.nl", "Toys."),
            ("domain.pddl", "(define (domain toys))"),
            ("p01.nl", "A toy."),
            ("p01.pddl", "(define (problem p01) (:domain toys) (:init) (:goal (and)))"),
            ("p02.nl", "Another toy."),
        ] {
            std::fs::write(suite.join(name), text).unwrap();
        }
        let mut info = info();
        info.suites = vec!["suites".into()];
        let inline = |info: &PluginInfo, options: Value| {
            inline_files(info, options.as_object().unwrap(), folder.path(), None)
        };
        let refused = inline(&info, json!({"suites": ["toys"]})).unwrap_err();
        assert!(refused[0].message.contains("`simulated` alone"), "{}", refused[0].message);
        info.capabilities.simulated = true;
        let done = inline(&info, json!({"suites": ["toys"]})).unwrap();
        let found: Vec<SuiteReference> = serde_json::from_value(done["suites"].clone()).unwrap();
        assert_eq!((found[0].name.as_str(), found[0].domain.as_str()), ("toys", "(define (domain toys))"));
        assert_eq!(found[0].problems.keys().collect::<Vec<_>>(), ["p01"]);
        let wrong = inline(&info, json!({"suites": ["toys", "gone", "toys"]})).unwrap_err();
        assert_eq!(wrong.len(), 2, "{wrong:?}");
        assert!(wrong.iter().all(|f| f.code == "pipeline.suite"));
        assert_eq!(inline(&info, json!({"suites": "toys"})).unwrap_err().len(), 1);
    }
}
