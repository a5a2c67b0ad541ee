//! Facts about plugins for the checker, and what of a file depends on them: kinds, options, files that options name, and keys that
//! should not be written down. The host's registry implements [`Catalogue`]; tests use plain data.

use crate::reader::{
    At, Node, SourcePlace, Table, TableReader, Value, error_at, help_for, json_object, locate, with_help,
};
use crate::suite::{Suite, Texts, disguise_suite, load_suite_with};
use planforge_contract::{
    Failure, FailureClass, JsonObject, PluginInfo, PluginKind, Price, SuiteReference, is_harmless_header,
};
use planforge_diagnostics::{Diagnostic, SourceId, Span, skip_byte_order_mark};
use planforge_obfuscate::DisguiseOptions;
use planforge_record::read_regular;
use serde_json::Value as Json;
use std::path::Path;

/// Reasons for missing facts about a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CatalogueError {
    /// There is no plugin of that id.
    Unknown,
    /// There is one, but it did not pass the load gates.
    Unavailable {
        /// The gate's code.
        code: String,
        /// A message for people.
        message: String,
    },
}

/// Kinds of mistakes in an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionProblemKind {
    /// The plugin has no option of that name.
    Unknown,
    /// The plugin needs an option that is not there.
    Missing,
    /// The value does not fit.
    Invalid,
}

/// One finding about a plugin's options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionProblem {
    /// JSON pointer to the value; for an unknown option to that option, for a missing one to the object that lacks it.
    pub pointer: String,
    pub kind: OptionProblemKind,
    /// One sentence without a full stop.
    pub message: String,
    /// One action to take.
    pub help: Option<String>,
}

/// Facts about plugins, without instances of them.
pub trait Catalogue {
    /// The ids of all plugins.
    fn ids(&self) -> Vec<String>;
    /// The plugin's description of itself.
    ///
    /// # Errors
    /// [`CatalogueError`]: unknown, or refused by a load gate.
    fn info(&self, id: &str) -> Result<PluginInfo, CatalogueError>;
    /// Checks options against the plugin's schema; empty for an unknown plugin.
    fn check_options(&self, id: &str, options: &JsonObject) -> Vec<OptionProblem>;
    /// The listed price of the model table `[llm.NAME]`, which states none.
    fn price(&self, _name: &str, _info: &PluginInfo, _settings: &JsonObject) -> Option<Price> {
        None
    }
}

/// Reads `use` and checks that the plugin exists and has the right kind.
pub(crate) fn read_plugin(
    reader: &mut TableReader<'_>,
    kind: PluginKind,
    catalogue: &dyn Catalogue,
    out: &mut Vec<Diagnostic>,
) -> (String, Option<PluginInfo>) {
    let had = reader.node("use").is_some();
    let Some(id) = reader.string("use", out) else {
        if !had {
            reader.missing("use", &format!("\"{}\"", example(kind, catalogue)), out);
        }
        return (String::new(), None);
    };
    let info = match catalogue.info(&id.value) {
        Ok(info) => info,
        Err(CatalogueError::Unknown) => {
            out.push(unknown_plugin(&id, kind, catalogue));
            return (id.value, None);
        }
        Err(CatalogueError::Unavailable { code, message }) => {
            let text = format!("plugin `{}` cannot be loaded: {message}", id.value);
            let help = format!("`planforge explain {code}` says more");
            out.push(error_at("pipeline.plugin-unavailable", text, id.place).help(help));
            return (id.value, None);
        }
    };
    if info.kind != kind {
        let text = format!("{} needs a {kind}, and `{}` is a {}", reader.what, id.value, info.kind);
        let names = of_kind(kind, catalogue);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let help = help_for(&id.value, &names, &format!("plugins of kind {kind}"));
        out.push(with_help(error_at("pipeline.plugin-kind", text, id.place), help));
        return (id.value, None);
    }
    (id.value, Some(info))
}

fn of_kind(kind: PluginKind, catalogue: &dyn Catalogue) -> Vec<String> {
    catalogue.ids().into_iter().filter(|id| catalogue.info(id).is_ok_and(|info| info.kind == kind)).collect()
}

fn example(kind: PluginKind, catalogue: &dyn Catalogue) -> String {
    of_kind(kind, catalogue).into_iter().next().unwrap_or_else(|| format!("{kind}-..."))
}

fn unknown_plugin(id: &At<String>, kind: PluginKind, catalogue: &dyn Catalogue) -> Diagnostic {
    let ids = of_kind(kind, catalogue);
    let names: Vec<&str> = ids.iter().map(String::as_str).collect();
    // The one plugin of planforge that is built apart.
    let help = match &*id.value {
        "provider-local" => Some(
            "build it with `cargo build --release --manifest-path plugins/provider-local/Cargo.toml` and name the folder of its library \
             with `--plugin-dir`; docs/how-to/local-model.md has the steps"
                .to_owned(),
        ),
        name => help_for(name, &names, &format!("plugins of kind {kind}")),
    };
    with_help(
        error_at("pipeline.unknown-plugin", format!("there is no plugin `{}`", id.value), id.place),
        help,
    )
    .help("`planforge plugins list` shows all plugins and where they were looked for")
}

/// `options`, checked against the plugin's schema.
pub(crate) fn read_options(
    reader: &mut TableReader<'_>,
    info: Option<&PluginInfo>,
    catalogue: &dyn Catalogue,
    out: &mut Vec<Diagnostic>,
) -> JsonObject {
    let empty = Node { place: reader.place, value: Value::Table(Table::default()) };
    let (table, node) = match reader.table("options", out) {
        Some((table, node)) => (json_object(table), node),
        None => (JsonObject::new(), &empty),
    };
    if let Some(info) = info {
        option_problems(info, &table, node, catalogue, out);
    }
    table
}

/// Turns the host's findings about options into diagnostics at their places.
pub(crate) fn option_problems(
    info: &PluginInfo,
    options: &JsonObject,
    node: &Node,
    catalogue: &dyn Catalogue,
    out: &mut Vec<Diagnostic>,
) {
    for OptionProblem { pointer, kind, message, help } in catalogue.check_options(&info.id, options) {
        let code = match kind {
            OptionProblemKind::Unknown => "pipeline.unknown-option",
            OptionProblemKind::Missing => "pipeline.missing-option",
            OptionProblemKind::Invalid => "pipeline.option",
        };
        let place: SourcePlace = locate(node, &pointer, kind == OptionProblemKind::Unknown);
        let text = format!("options of `{}`: {message}", info.id);
        out.push(with_help(error_at(code, text, place), help));
    }
    for name in &info.secrets {
        secret_option(name, node, out);
    }
}

/// A secret option holds the name of an environment variable, or a table of such names.
fn secret_option(name: &str, node: &Node, out: &mut Vec<Diagnostic>) {
    let Some(found) = node.as_table().and_then(|table| table.get(name)) else { return };
    if let Value::Table(table) = &found.value {
        table
            .entries
            .iter()
            .for_each(|(key, node)| variable_name(&format!("{name}.{}", key.name), node, out));
    } else {
        variable_name(name, found, out);
    }
}

fn variable_name(name: &str, node: &Node, out: &mut Vec<Diagnostic>) {
    let Value::String(value) = &node.value else { return };
    // What looks like a key is reported for the whole file at once; here it is enough to see that it is no name.
    if !is_variable_name(value) && !looks_like_key(value) {
        let text = format!("`{name}` must hold the name of an environment variable: letters, digits and `_`");
        out.push(error_at("pipeline.secret-name", text, node.place).help("for example OPENAI_API_KEY"));
    }
}

/// Warns where a plugin is given feedback and asks no model, which could use it.
pub(crate) fn check_feedback_is_used(
    reader: &mut TableReader<'_>,
    info: Option<&PluginInfo>,
    feedback: &[String],
    out: &mut Vec<Diagnostic>,
) {
    let Some(info) = info.filter(|info| info.roles.is_empty() && !feedback.is_empty()) else { return };
    let place = reader.node("feedback").map_or(reader.place, |node| node.place);
    let message = format!("`{}` asks no model, which could heed the feedback", info.id);
    let warning = Diagnostic::warning("pipeline.unheard", message).at(place.source, place.span, "");
    out.push(warning.help("name the feedback in a stage whose plugin asks a model, or take it out"));
}

/// True if a text can be the name of an environment variable.
pub(crate) fn is_variable_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Beginnings of keys that services hand out.
const KEY_PREFIXES: [&str; 12] =
    ["sk-", "sk_", "pk-", "ghp_", "gho_", "github_pat_", "hf_", "gsk_", "xoxb-", "AKIA", "AIza", "Bearer "];

/// True if a text looks like a key: a known prefix and enough characters after it, or a long run of mixed
/// characters.
pub(crate) fn looks_like_key(text: &str) -> bool {
    let text = text.trim();
    if KEY_PREFIXES.iter().any(|p| text.len() >= p.len() + 8 && text.starts_with(p)) {
        return true;
    }
    let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    let digits = text.chars().filter(char::is_ascii_digit).count();
    let upper = text.chars().filter(char::is_ascii_uppercase).count();
    let lower = text.chars().filter(char::is_ascii_lowercase).count();
    plain && text.len() >= 32 && digits >= 4 && lower >= 4 && (upper >= 4 || digits >= 8)
}

/// Reports every value in the file that looks like a key, and returns their places so that the text can be hidden.
pub(crate) fn find_keys(root: &Table, out: &mut Vec<Diagnostic>) -> Vec<SourcePlace> {
    let mut places = Vec::new();
    secret_headers(root, out, &mut places);
    walk(root, out, &mut places);
    places
}

/// Reports the headers of model tables whose values may be keys. Services choose the names of such headers freely, so
/// every header counts that is not known to be harmless.
fn secret_headers(root: &Table, out: &mut Vec<Diagnostic>, places: &mut Vec<SourcePlace>) {
    let models = root.get("llm").and_then(Node::as_table).into_iter().flat_map(|models| &models.entries);
    for (model, node) in models {
        let headers = node.as_table().and_then(|table| table.get("headers")).and_then(Node::as_table);
        for (name, node) in headers.into_iter().flat_map(|headers| &headers.entries) {
            if !matches!(node.value, Value::String(_)) || is_harmless_header(&name.name) {
                continue;
            }
            let name = &name.name;
            let message = format!("the header `{name}` may carry a key; pipeline files hold no secrets");
            out.push(error_at("pipeline.literal-secret", message, node.place).help(format!(
                "put the value into an environment variable and write the variable's name: \
                 llm.{}.headers_env.{name} = \"VARIABLE\"",
                model.name
            )));
            places.push(node.place);
        }
    }
}

fn walk(table: &Table, out: &mut Vec<Diagnostic>, places: &mut Vec<SourcePlace>) {
    for (key, node) in &table.entries {
        visit(&key.name, node, out, places);
    }
}

fn visit(key: &str, node: &Node, out: &mut Vec<Diagnostic>, places: &mut Vec<SourcePlace>) {
    match &node.value {
        Value::String(text) if looks_like_key(text) && !places.contains(&node.place) => {
            let message = format!("the value of `{key}` looks like a key; pipeline files hold no secrets");
            out.push(error_at("pipeline.literal-secret", message, node.place).help(
                "put the key into an environment variable and write the variable's name, for example api_key_env = \"OPENAI_API_KEY\"",
            ));
            places.push(node.place);
        }
        Value::Array(items) => items.iter().for_each(|item| visit(key, item, out, places)),
        Value::Table(table) => walk(table, out, places),
        _ => {}
    }
}

/// The text with possible keys hidden on the lines of these syntax errors, which a tree of the text may lack.
pub fn hide_keys_near_errors(text: &str, errors: &[Span]) -> String {
    hide(text, &find_near_errors(text, errors))
}

/// Places of possible keys on the lines of syntax errors.
pub(crate) fn find_near_errors(text: &str, errors: &[Span]) -> Vec<SourcePlace> {
    let mut places = Vec::new();
    let (mut start, mut in_headers) = (0, false);
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        if line.trim_start().starts_with('[') {
            let name = line.trim().trim_start_matches('[').split(']').next().unwrap_or_default();
            in_headers = name.rsplit('.').next().is_some_and(|last| last.trim() == "headers");
        }
        if errors.iter().any(|span| span.start as usize <= end && span.end as usize >= start) {
            let keys = find_in_line(line, in_headers).into_iter();
            places.extend(keys.map(|key| SourcePlace {
                source: SourceId(0),
                span: Span::new(offset(start + key.start), offset(start + key.end)),
            }));
        }
        start = end;
    }
    places
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// Ranges of possible keys in a line that may not be TOML. After the name of a secret, everything counts.
fn find_in_line(line: &str, mut in_headers: bool) -> Vec<std::ops::Range<usize>> {
    let is_part = |c: char| !c.is_whitespace() && !"\"'=,[]{}()#;".contains(c);
    let mut keys = Vec::new();
    let mut at = 0;
    while let Some(start) = line[at..].find(is_part).map(|found| at + found) {
        let end = line[start..].find(|c| !is_part(c)).map_or(line.len(), |found| start + found);
        let word = &line[start..end];
        let after = line[end..].trim_start_matches(['"', '\'']).trim_start();
        let name = word.rsplit('.').next().unwrap_or_default();
        in_headers |= word.split('.').any(|part| part == "headers");
        let is_secret_header = in_headers && name != "headers" && !is_harmless_header(name);
        if looks_like_key(word) {
            keys.push(start..end);
        } else if after.starts_with('=') && (is_secret_header || is_name_of_secret(word)) {
            keys.push(line.len() - after.len() + 1..line.len());
            break;
        } else if word == "Bearer" {
            keys.push(end..line.len());
            break;
        }
        at = end;
    }
    keys
}

/// True for keys like `api_key` and `X-Auth-Token`, not for `max_tokens` and `api_key_env`.
fn is_name_of_secret(key: &str) -> bool {
    const NAMES: [&str; 7] = ["apikey", "key", "token", "secret", "password", "credentials", "authorization"];
    let last = key.rsplit(['.', '_', '-']).next().unwrap_or_default();
    !key.contains("_env") && NAMES.iter().any(|name| last.eq_ignore_ascii_case(name))
}

/// The text with the bytes of those places replaced by stars; length and line ends stay.
pub(crate) fn hide(text: &str, places: &[SourcePlace]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for place in places {
        if let Some(slice) = bytes.get_mut(place.span.range()) {
            slice.iter_mut().filter(|b| !b.is_ascii_whitespace() && **b != b'"').for_each(|b| *b = b'*');
        }
    }
    // Whole values are replaced, so no character is cut in two.
    String::from_utf8(bytes).unwrap_or_default()
}

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
        let Some(Json::String(path)) = options.get(name) else { continue };
        match text(&folder.join(path)) {
            Ok(text) => drop(options.insert(name.clone(), Json::String(text))),
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
        let below = options.get(name).and_then(Json::as_str).unwrap_or_default();
        let path = match folder.join(below) {
            path if path.as_os_str().is_empty() => ".".into(),
            path => path,
        };
        options.insert(name.clone(), Json::String(path.display().to_string()));
    }
    if failures.is_empty() { Ok(options) } else { Err(failures) }
}

/// The references of the suites that an option lists.
fn references(
    info: &PluginInfo,
    name: &str,
    value: &Json,
    folder: &Path,
    disguise: Option<&DisguiseOptions>,
) -> Result<Json, Vec<Failure>> {
    let failure = |why: String| {
        let message = format!("`{name}` of `{}`: {why}", info.id);
        Failure::new(FailureClass::System, "pipeline.suite", message)
    };
    if !info.capabilities.simulated {
        let why = format!("a suite's reference goes to providers declared `{SIMULATED}` alone");
        return Err(vec![failure(why)]);
    }
    let paths = value.as_array().map(|items| items.iter().map(Json::as_str).collect::<Option<Vec<&str>>>());
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
    let bytes =
        read_regular(path, MAX_OPTION_FILE_BYTES).map_err(|error| format!("cannot be read: {error}"))?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(skip_byte_order_mark(&text).to_owned()),
        Err(error) if path.extension().is_some_and(|ending| ending == "pddl") => {
            let name = path.display().to_string();
            let read = planforge_pddl::read_pddl_bytes(&name, error.as_bytes());
            read.map(|read| read.text).map_err(|_| "is not UTF-8".to_owned())
        }
        Err(_) => Err("is not UTF-8".to_owned()),
    }
}

#[cfg(test)]
mod secrets_tests {
    use super::*;

    #[test]
    fn keys_on_lines_with_syntax_errors_are_hidden_and_other_values_are_not() {
        let hidden = |line: &str| hide_keys_near_errors(line, &[Span::new(0, offset(line.len()))]);
        for (line, shown) in [
            ("api_key = \"sk-abcdefgh12345678", "api_key = \"*******************"),
            ("api_key_env = sk-abcdefgh12345678 # mine", "api_key_env = ******************* # mine"),
            ("api_key = 'hunter 2", "api_key = ******* *"),
            (
                "headers = { Accept = \"x/y\", X-Team = \"blue\" \"red\" }",
                "headers = { Accept = \"x/y\", X-Team = \"****\" \"***\" *",
            ),
            ("[llm.main.headers]\nX-Team = \"blue", "[llm.main.headers]\nX-Team = \"****"),
            ("llm.main.headers.\"X-Team\" = \"blue", "llm.main.headers.\"X-Team\" = \"****"),
            ("note = \"Bearer abc def", "note = \"Bearer *** ***"),
            ("max_tokens = 20 48", "max_tokens = 20 48"),
            ("api_key_env = \"MY_KEY", "api_key_env = \"MY_KEY"),
            ("é = é sk-abcdefgh12345678é", "é = é *********************"),
        ] {
            assert_eq!(hidden(line), shown);
        }
        let text = "api_key = \"hunter2\"\nmodel = \n";
        assert_eq!(
            hide_keys_near_errors(text, &[Span::new(28, 29)]),
            text,
            "only lines with errors are shown"
        );
    }

    #[test]
    fn tells_keys_from_names() {
        for key in ["sk-abcdefgh12345678", "hf_abcdefghijkl", "AbCd0123456789EfGh0123456789IjKl0123"] {
            assert!(looks_like_key(key), "{key}");
        }
        for name in [
            "OPENAI_API_KEY",
            "gpt-4o",
            "https://api.openai.com/v1",
            "sk-",
            "qwen2.5-coder-1.5b-instruct-q4_k_m",
        ] {
            assert!(!looks_like_key(name), "{name}");
        }
        assert!(is_variable_name("MY_KEY_2") && !is_variable_name("2X") && !is_variable_name("a b"));
    }
}

#[cfg(test)]
mod option_files_tests {
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
        let resolved = |options: Json, folder: &str| {
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
        let inline = |options: Json| inline_files(&info, options.as_object().unwrap(), folder.path(), None);
        let done = inline(json!({"a": "good.pem", "c": "good.pem"})).unwrap();
        assert_eq!(Json::from(done), json!({"a": "text", "c": "good.pem"}));
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
        let inline = |info: &PluginInfo, options: Json| {
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
