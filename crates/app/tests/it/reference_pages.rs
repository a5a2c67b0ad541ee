//! The generated pages of docs/reference: the pipeline file, model tables, and the options of every bundled plugin. The test
//! compares them with the schemas; with `UPDATE_PAGES=1` it writes them.

use planforge_app::check::pipeline_schema;
use planforge_app::contract::PluginInfo;
use planforge_app::plugins::{list, show};
use planforge_app::{Context, Effect, OPTION_ROWS, OptionOwner, PluginSettings};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

const NOTE: &str = "<!-- Generated from the schemas: `UPDATE_PAGES=1 cargo test -p planforge-app reference_pages`. Do not edit. -->";

const TABLE_HEAD: &str = "\n| key | type | default | meaning |\n|---|---|---|---|\n";

/// Writes the tables of one schema. Objects with keys of their own become sections behind the table that mentions them.
struct Writer<'a> {
    definitions: &'a Value,
    /// Definitions that have a section, or a page of their own.
    seen: BTreeSet<String>,
    /// Definitions that still need a section.
    queue: Vec<String>,
    heading: &'static str,
    out: String,
}

impl<'a> Writer<'a> {
    fn new(schema: &'a Value, heading: &'static str) -> Self {
        Self {
            definitions: &schema["$defs"],
            seen: BTreeSet::new(),
            queue: Vec::new(),
            heading,
            out: String::new(),
        }
    }

    /// The name of the definition that a schema refers to.
    fn reference(schema: &Value) -> Option<&str> {
        let direct = schema["$ref"].as_str();
        let optional = || schema["anyOf"].as_array()?.iter().find_map(|one| one["$ref"].as_str());
        direct.or_else(optional)?.strip_prefix("#/$defs/")
    }

    fn definition(&self, name: &str) -> &'a Value {
        &self.definitions[name]
    }

    /// The constants of an enumeration with their descriptions.
    fn values(schema: &Value) -> Option<Vec<(String, String)>> {
        if let Some(values) = schema["enum"].as_array() {
            return Some(values.iter().map(|value| (value.to_string(), String::new())).collect());
        }
        let mut found = Vec::new();
        for one in schema["oneOf"].as_array()? {
            if one.get("const").is_some() {
                found.push((one["const"].to_string(), text(one)));
            } else {
                found.extend(Self::values(one)?);
            }
        }
        Some(found)
    }

    /// The type of a value in words, and what its values mean if it is an enumeration.
    fn kind(&mut self, schema: &Value) -> (String, String) {
        if let Some(name) = Self::reference(schema).map(str::to_owned) {
            let target = self.definition(&name);
            if !target["properties"].is_null() || target["oneOf"][0]["properties"].is_object() {
                if self.seen.insert(name.clone()) {
                    self.queue.push(name.clone());
                }
                return (format!("[{name}](#{})", name.to_lowercase()), String::new());
            }
            return self.kind(target);
        }
        if let Some(values) = Self::values(schema) {
            let names: Vec<String> = values.iter().map(|(value, _)| format!("`{value}`")).collect();
            let meaning = values
                .iter()
                .filter(|(_, meaning)| !meaning.is_empty())
                .fold(String::new(), |all, (value, meaning)| format!("{all} `{value}`: {meaning}"));
            let has_meanings = values.len() > 1 && values.iter().all(|(_, meaning)| !meaning.is_empty());
            let kind = if has_meanings { "string".to_owned() } else { names.join(", ") };
            return (kind, meaning);
        }
        if let Some(any) = schema["anyOf"].as_array() {
            let mut kinds = Vec::new();
            let mut meanings = String::new();
            for one in any.iter().filter(|one| one["type"] != "null") {
                let (kind, meaning) = self.kind(one);
                let described = text(one);
                if !described.is_empty() {
                    let _ = write!(meanings, " {kind}: {described}");
                }
                meanings.push_str(&meaning);
                kinds.push(kind);
            }
            return (kinds.join(" or "), meanings);
        }
        let name = match &schema["type"] {
            Value::Array(names) => names.iter().filter_map(Value::as_str).find(|name| *name != "null"),
            name => name.as_str(),
        };
        match name {
            Some("array") => {
                let (kind, meaning) = self.kind(&schema["items"]);
                (format!("list of {kind}"), meaning)
            }
            Some("object") if schema["additionalProperties"].is_object() => {
                let (kind, meaning) = self.kind(&schema["additionalProperties"]);
                (format!("table of {kind}"), meaning)
            }
            Some("object") => ("table".to_owned(), String::new()),
            Some(name) => (format!("{name}{}", range(schema)), String::new()),
            None => ("any".to_owned(), String::new()),
        }
    }

    /// The keys of an object as a table.
    fn keys(&mut self, schema: &Value) {
        let Some(keys) = schema["properties"].as_object() else { return };
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        self.out.push_str(TABLE_HEAD);
        // The heading of an alternative names its constant.
        for (key, value) in keys.iter().filter(|(_, value)| value.get("const").is_none()) {
            let (kind, meaning) = self.kind(value);
            let default = match &value["default"] {
                Value::Null if required.contains(&key.as_str()) => "required".to_owned(),
                Value::Null | Value::Object(_) => String::new(),
                Value::Array(items) if items.is_empty() => String::new(),
                default => format!("`{default}`"),
            };
            let meaning = format!("{}{meaning}", text(value));
            let _ = writeln!(self.out, "| `{key}` | {kind} | {default} | {} |", meaning.trim());
        }
    }

    /// An object with its description, as one table or, for alternatives, as one table for each.
    fn section(&mut self, schema: &Value) {
        let described = text(schema);
        if !described.is_empty() {
            let _ = writeln!(self.out, "\n{described}");
        }
        self.keys(schema);
        let mut shown_before = Vec::new();
        for one in schema["oneOf"].as_array().into_iter().flatten() {
            let Some(kind) = one["properties"]["do"]["const"].as_str() else { continue };
            let start = self.out.len();
            let _ = writeln!(self.out, "\n{}# `do = \"{kind}\"`", self.heading);
            self.section(one);
            let section = self.out[start..].trim();
            if self.out[..start].contains(section) {
                let place = anchor(section.lines().next().unwrap_or_default());
                shown_before.push(format!("[`{kind}`](#{place})"));
                self.out.truncate(start);
            }
        }
        if !shown_before.is_empty() {
            let _ =
                writeln!(self.out, "\nThese kinds have the same keys as above: {}.", shown_before.join(", "));
        }
    }

    /// Sections for all definitions that the tables so far refer to.
    fn rest(mut self) -> String {
        while !self.queue.is_empty() {
            let name = self.queue.remove(0);
            let _ = writeln!(self.out, "\n{} {name}", self.heading);
            let target = self.definition(&name);
            self.section(target);
        }
        self.out
    }
}

/// A description as one line of a table.
fn text(schema: &Value) -> String {
    let text = schema["description"].as_str().unwrap_or_default();
    text.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .replace("[`", "`")
        .replace("`]", "`")
        .replace('|', "\\|")
}

/// The anchor that GitHub and mdBook give to a heading.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = text.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// The page without options that an earlier section has in the same words. A line behind the table names them with that section.
fn fold_repeated_options(page: &str) -> String {
    let mut sections: BTreeMap<&str, &str> = BTreeMap::new();
    let mut heading = "";
    let mut repeated: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut described: BTreeMap<&str, &str> = BTreeMap::new();
    let mut out = String::new();
    for line in page.lines() {
        if line.starts_with('#') {
            heading = line;
        }
        let is_long_row =
            line.starts_with("| `") && line.matches(" | ").count() >= 3 && line.split(' ').count() >= 15;
        let first = if is_long_row { *sections.entry(line).or_insert(heading) } else { heading };
        if first != heading {
            let key = line.trim_start_matches("| ").split(' ').next().unwrap_or_default();
            repeated.entry(first).or_default().push(key);
            continue;
        }
        if !line.starts_with('|') && !repeated.is_empty() {
            let rows = out.strip_suffix(TABLE_HEAD).map_or(out.len(), str::len);
            out.truncate(rows);
            out.push('\n');
            for (section, keys) in std::mem::take(&mut repeated) {
                let _ = writeln!(out, "As in {}: {}.", link(section), keys.join(", "));
            }
        }
        // The values of an option are described once.
        let first_value = line.find("\"`: ").and_then(|end| line[..end].rfind("`\""));
        let values = first_value.filter(|_| line.starts_with("| `") && line.ends_with(" |"));
        let known = values.map(|at| (at, *described.entry(&line[at..]).or_insert(heading)));
        match known.filter(|(_, first)| *first != heading) {
            Some((at, first)) => {
                let _ = write!(out, "{}Values as in {}. |", &line[..at], link(first));
            }
            None => out.push_str(line),
        }
        out.push('\n');
    }
    out
}

/// A link to the section of a heading.
fn link(heading: &str) -> String {
    let name = heading.trim_start_matches('#').trim();
    let name = if name.contains('`') { name.to_owned() } else { format!("`{name}`") };
    format!("[{name}](#{})", anchor(heading))
}

fn range(schema: &Value) -> String {
    match (&schema["minimum"], &schema["maximum"]) {
        (Value::Null, Value::Null) => String::new(),
        (least, Value::Null) => format!(", at least {least}"),
        (Value::Null, most) => format!(", at most {most}"),
        (least, most) if least == most => format!(", {least}"),
        (least, most) => format!(", {least} to {most}"),
    }
}

fn pipeline_file(schema: &Value) -> String {
    let mut writer = Writer::new(schema, "##");
    writer.seen.insert("LlmTable".to_owned());
    let _ = write!(
        writer.out,
        "# Pipeline files\n\n{NOTE}\n\nA pipeline file is TOML. `planforge check FILE` reports every mistake, `planforge check --schema` prints the \
         JSON schema for\neditors. Model tables have a [page of their own](model-tables.md), and so have [plugins](plugins.md). How stages work \
         together is in\n[samples, feedback and rounds](rounds.md) and [budget stages](budget.md).\n"
    );
    writer.keys(schema);
    fold_repeated_options(&writer.rest().replace("(#llmtable)", "(model-tables.md)"))
}

fn model_tables(schema: &Value) -> String {
    let mut writer = Writer::new(schema, "##");
    writer.seen.insert("LlmTable".to_owned());
    let _ = write!(
        writer.out,
        "# Model tables\n\n{NOTE}\n\nAn `[llm.NAME]` table of a pipeline file. The keys below belong to the host. All other keys are options of the \
         provider\nthat `use` names: [`provider-openai`](plugins.md#provider-openai), [`provider-anthropic`](plugins.md#provider-anthropic),\n\
         [`provider-gemini`](plugins.md#provider-gemini), [`provider-batch`](plugins.md#provider-batch),\n\
         [`provider-noisy-oracle`](plugins.md#provider-noisy-oracle).\n"
    );
    let table = writer.definition("LlmTable");
    writer.keys(table);
    writer.rest()
}

fn plugins(infos: &[PluginInfo]) -> String {
    let mut out = format!(
        "# Plugins\n\n{NOTE}\n\nThe bundled plugins with their options, the roles for which they ask models, and the metrics of verifiers. A select, \
         refine\nor budget stage uses a metric as `LABEL.NAME`. A metric is absent if it was not measured. *Measures* are the standard quantities that \
         [result\ntables](evaluation.md) read.\n"
    );
    let mut shared = BTreeMap::new();
    for info in infos {
        let _ = write!(out, "\n## {}\n\n{}\n", info.id, info.about);
        for role in &info.roles {
            let _ = write!(out, "\nRole `{}`: {}\n", role.name, role.about);
        }
        let mut writer = Writer::new(&info.options_schema, "###");
        writer.keys(&info.options_schema);
        push_sections(&mut out, &writer.rest(), &info.id, &mut shared);
        let measures: Vec<String> =
            info.measures.iter().map(|one| json!(one).to_string().replace('"', "`")).collect();
        if !measures.is_empty() {
            let _ = write!(out, "\nMeasures {}.\n", measures.join(", "));
        }
        if !info.metrics.is_empty() {
            out.push_str("\n| metric | meaning |\n|---|---|\n");
            for metric in &info.metrics {
                let _ = writeln!(out, "| `{}` | {} |", metric.name, metric.about.replace('|', "\\|"));
            }
        }
    }
    out
}

/// Adds a plugin's table and the sections of its types. Two plugins may have types of one name, so headings and links have the plugin's id.
/// A section that an earlier plugin has, word by word, is linked.
fn push_sections(out: &mut String, text: &str, id: &str, shared: &mut BTreeMap<String, String>) {
    let (table, sections) = text.split_once("\n### ").unwrap_or((text, ""));
    let mut page = table.to_owned();
    let mut links = Vec::new();
    for section in sections.split("\n### ").filter(|section| !section.is_empty()) {
        let name = section.lines().next().unwrap_or_default().to_lowercase();
        let own = format!("{id}-{name}");
        // A section that links others is the plugin's own.
        let first = match section.contains("](#") {
            true => own.clone(),
            false => shared.entry(section.to_owned()).or_insert_with(|| own.clone()).clone(),
        };
        if first == own {
            let _ = write!(page, "\n### {id} {section}");
        }
        links.push((format!("](#{name})"), format!("](#{first})")));
    }
    for (link, target) in links {
        page = page.replace(&link, &target);
    }
    out.push_str(&page);
}

/// An effect with the names of the options that have it, and the owners of each list of names.
struct EffectRow {
    effect: Effect,
    options: Vec<(String, Vec<String>)>,
}

/// The effects of options beyond the result, and the consent that covers each.
fn option_effects() -> String {
    let mut out = format!(
        "# Effects of options, and consent\n\n{NOTE}\n\nA file may come from somebody else. The list has what its options can do beyond the \
         result of a run, and the consent\nthat covers it ([how to give it](../how-to/allow-servers-and-programs.md)). What needs consent does not \
         happen without it. Every option that is not listed changes\nonly the result, or the time and memory of its computation. No option names a place \
         to write to: a run writes below `--runs`, an evaluation below `--out`.\nKeys of nested tables have the name of their type.\n\n"
    );
    // Each effect once, in the order of the table, with all options that have it, and their owners.
    let mut effects: Vec<EffectRow> = Vec::new();
    for row in OPTION_ROWS.iter().filter(|row| row.effect != Effect::None) {
        let at = effects.iter().position(|one| one.effect == row.effect).unwrap_or_else(|| {
            effects.push(EffectRow { effect: row.effect, options: Vec::new() });
            effects.len() - 1
        });
        let (owner, names) = (owner_name(row.owner), names(row.options));
        match effects[at].options.iter_mut().find(|(options, _)| *options == names) {
            Some((_, owners)) => owners.push(owner),
            None => effects[at].options.push((names, vec![owner])),
        }
    }
    for EffectRow { effect, options } in effects {
        let options: Vec<String> =
            options.iter().map(|(names, owners)| format!("{names} of {}", owners.join(", "))).collect();
        let (text, consent) = (effect.text(), effect.consent());
        let _ = writeln!(out, "* **{text}**. Consent: {consent}. {}.", options.join("; "));
    }
    out
}

fn names(options: &[&str]) -> String {
    options.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn owner_name(owner: OptionOwner) -> String {
    match owner {
        OptionOwner::Plugin(id) => format!("[`{id}`](plugins.md#{id})"),
        OptionOwner::Pipeline => "[pipeline files](pipeline-file.md)".to_owned(),
        OptionOwner::Matrix => "matrix files".to_owned(),
        OptionOwner::Suite => "`suite.toml`".to_owned(),
        OptionOwner::UserFile(name) => format!("`{name}`"),
    }
}

/// The plugins of `examples/plugins`. One whose program is not on this machine keeps its row of the written page.
fn examples(plugins: &[(String, Option<PluginInfo>)], written: &str) -> String {
    let mut out = "\n## Examples\n\nPrograms in `examples/plugins`, each in a folder of its name. `examples/custom-verifier` is a verifier in \
                   Rust.\n\n| plugin | kind | purpose |\n|---|---|---|\n"
        .to_owned();
    for (id, info) in plugins {
        let start = format!("| `{id}` |");
        match info {
            Some(info) => {
                let _ = writeln!(out, "{start} {} | {} |", info.kind, info.about.replace('|', "\\|"));
            }
            None => {
                out.extend(
                    written.lines().filter(|line| line.starts_with(&start)).map(|line| format!("{line}\n")),
                );
            }
        }
    }
    out
}

/// The plugins of `examples/plugins` by name. One whose program is missing has no description.
fn example_plugins() -> Vec<(String, Option<PluginInfo>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/plugins");
    let plugins = PluginSettings { search_path: vec![folder], ..PluginSettings::default() };
    let context = Context { plugins, ..Context::default() };
    let listed = list(&context).plugins.into_iter().filter(|plugin| plugin.origin != "bundled");
    listed.map(|plugin| (plugin.id.clone(), show(&context, &plugin.id).ok())).collect()
}

#[test]
fn reference_pages_agree_with_the_schemas() {
    let schema = pipeline_schema();
    let context = Context::default();
    let infos: Vec<PluginInfo> =
        list(&context).plugins.iter().map(|plugin| show(&context, &plugin.id).unwrap()).collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference");
    let written = std::fs::read_to_string(folder.join("plugins.md")).unwrap_or_default();
    for (name, page) in [
        ("pipeline-file.md", pipeline_file(&schema)),
        ("model-tables.md", model_tables(&schema)),
        ("plugins.md", fold_repeated_options(&(plugins(&infos) + &examples(&example_plugins(), &written)))),
        ("option-effects.md", option_effects()),
    ] {
        let path = folder.join(name);
        #[allow(clippy::disallowed_methods, reason = "an environment variable makes the test write")]
        if std::env::var_os("UPDATE_PAGES").is_some() {
            std::fs::write(&path, &page).unwrap();
        }
        let written = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            written == page,
            "docs/reference/{name} is stale: run `UPDATE_PAGES=1 cargo test -p planforge-app reference_pages`"
        );
    }
}
