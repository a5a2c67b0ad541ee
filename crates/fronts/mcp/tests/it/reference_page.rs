//! The page of the tools, docs/reference/mcp-tools.md, from their own descriptions.

use planforge_mcp::McpServer;
use rmcp::model::{JsonObject, Tool};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;

const OPENING: &str = "<!-- Generated from the tools: `UPDATE_PAGES=1 cargo test -p planforge-mcp reference_page`. Do not edit. -->

# MCP tools

`planforge serve mcp` offers these tools to agents; [Use planforge from an agent](../how-to/use-from-an-agent.md) says how a client starts it.
A negative verdict is an answer. An error means that nothing was judged: its message says what to change. The tools' schemas
describe the inner fields of answers.
";

#[test]
fn the_reference_page_agrees_with_the_tools() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/reference/mcp-tools.md");
    let mut page = OPENING.to_owned();
    let mut shown = BTreeMap::new();
    for tool in McpServer::tools() {
        push_tool(&mut page, &tool, &mut shown);
    }
    #[allow(clippy::disallowed_methods, reason = "an environment variable makes the test write")]
    if std::env::var_os("UPDATE_PAGES").is_some() {
        std::fs::write(path, &page).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        written == page,
        "docs/reference/mcp-tools.md is stale: run `UPDATE_PAGES=1 cargo test -p planforge-mcp reference_page`"
    );
}

/// Fields of objects that the page has, as text without their prefix, each with the tool and the field that have them.
type Shown = BTreeMap<String, String>;

fn push_tool(out: &mut String, tool: &Tool, shown: &mut Shown) {
    let description = tool.description.as_deref().unwrap_or_default();
    let _ = write!(out, "\n## {}\n\n{}\n", tool.name, one_line(description));
    let _ = write!(out, "\n**Arguments**\n\n| field | type | |\n|---|---|---|\n");
    push_fields(out, "", &tool.input_schema, &tool.input_schema, &mut Some((&tool.name, shown)));
    if let Some(answer) = &tool.output_schema {
        let _ = write!(out, "\n**Answer**\n\n| field | type | |\n|---|---|---|\n");
        push_fields(out, "", answer, answer, &mut None);
    }
}

/// Rows of an object's fields. Those of inner objects follow, once on the page, with a place to show them in; else they are named.
fn push_fields(
    out: &mut String,
    prefix: &str,
    schema: &JsonObject,
    root: &JsonObject,
    inner: &mut Option<(&str, &mut Shown)>,
) {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let fields = schema.get("properties").and_then(Value::as_object);
    for (name, field) in fields.into_iter().flatten() {
        let target = resolve(field, root);
        let optional = if required.contains(&name.as_str()) { "" } else { ", optional" };
        let text = field.get("description").or_else(|| target.get("description"));
        let mut text = one_line(text.and_then(Value::as_str).unwrap_or_default()).replace('|', "\\|");
        let items = field.get("items").map(|items| (format!("{prefix}{name}[]."), resolve(items, root)));
        let (inner_prefix, target) = items.unwrap_or_else(|| (format!("{prefix}{name}."), target));
        let choices = target.get("oneOf").and_then(Value::as_array).into_iter().flatten();
        let objects: Vec<&JsonObject> =
            [target].into_iter().chain(choices).filter_map(Value::as_object).collect();
        let kind = type_of(field, root);
        let mut inner_rows = String::new();
        if let Some((tool, shown)) = inner {
            for object in &objects {
                push_fields(&mut inner_rows, &inner_prefix, object, root, &mut Some((tool, shown)));
            }
            let same = inner_rows.replace(&inner_prefix, "");
            if let Some(place) = shown.get(&same).filter(|_| !inner_rows.is_empty()) {
                inner_rows.clear();
                // The type names the fields of a choice.
                if !kind.starts_with("one of ") {
                    let _ = write!(text, " Fields as in {place}.");
                }
            } else {
                shown.insert(same, format!("`{}` of [{tool}](#{tool})", inner_prefix.trim_end_matches('.')));
            }
        } else {
            let names = objects.iter().filter_map(|object| object.get("properties")?.as_object()).flatten();
            let names: Vec<String> = names.map(|(name, _)| format!("`{name}`")).collect();
            if !names.is_empty() {
                let _ = write!(text, " Fields: {}.", names.join(", "));
            }
        }
        let _ = writeln!(out, "| `{prefix}{name}` | {kind}{optional} | {} |", text.trim());
        out.push_str(&inner_rows);
    }
}

/// The schema behind a reference, also an optional one.
fn resolve<'s>(schema: &'s Value, root: &'s JsonObject) -> &'s Value {
    let direct = schema["$ref"].as_str();
    let optional = || schema["anyOf"].as_array()?.iter().find_map(|one| one["$ref"].as_str());
    let Some(name) = direct.or_else(optional).and_then(|path| path.strip_prefix("#/$defs/")) else {
        return schema;
    };
    root.get("$defs").and_then(|definitions| definitions.get(name)).unwrap_or(schema)
}

fn type_of(schema: &Value, root: &JsonObject) -> String {
    let target = resolve(schema, root);
    if let Some(choices) = target["oneOf"].as_array() {
        let names: Vec<String> = choices
            .iter()
            .map(|choice| match choice["properties"].as_object().and_then(|fields| fields.keys().next()) {
                Some(key) => format!("`{key}`"),
                None => format!("`{}`", choice["const"].as_str().unwrap_or_default()),
            })
            .collect();
        return format!("one of {}", names.join(", "));
    }
    if let Some(values) = target["enum"].as_array() {
        let names: Vec<String> =
            values.iter().filter_map(Value::as_str).map(|name| format!("`{name}`")).collect();
        return format!("one of {}", names.join(", "));
    }
    let name = match &target["type"] {
        Value::String(name) => name.as_str(),
        Value::Array(names) => {
            names.iter().filter_map(Value::as_str).find(|name| *name != "null").unwrap_or("any")
        }
        _ => "any",
    };
    match (name, &target["items"]) {
        ("array", items) if !items.is_null() => format!("list of {}", type_of(items, root)),
        (name, _) => name.to_owned(),
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
