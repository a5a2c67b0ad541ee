//! The reference page of the tools, from their own descriptions.

use crate::server::McpServer;
use rmcp::model::{JsonObject, Tool};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;

const OPENING: &str = "<!-- Generated from the tools: `UPDATE_PAGES=1 cargo test -p planforge-mcp reference_page`. Do not edit. -->

# MCP tools

`planforge serve mcp` offers these tools to agents; [Use planforge from an agent](../how-to/use-from-an-agent.md) says how a client starts it.
A negative verdict is an answer. An error means that nothing was judged: its message says what to change.
";

/// The page docs/reference/mcp-tools.md.
pub fn reference_page() -> String {
    let mut out = OPENING.to_owned();
    let mut shown = BTreeMap::new();
    for tool in McpServer::tools() {
        push_tool(&mut out, &tool, &mut shown);
    }
    out
}

/// Fields of objects that the page has, as text without their prefix, each with the tool and the field that have them.
type Shown = BTreeMap<String, String>;

fn push_tool(out: &mut String, tool: &Tool, shown: &mut Shown) {
    let description = tool.description.as_deref().unwrap_or_default();
    let _ = write!(out, "\n## {}\n\n{}\n", tool.name, one_line(description));
    push_object(out, "Arguments", &tool.input_schema, &tool.name, shown);
    if let Some(answer) = &tool.output_schema {
        push_object(out, "Answer", answer, &tool.name, shown);
    }
}

/// A table of an object's fields, with those of the objects among them.
fn push_object(out: &mut String, title: &str, schema: &JsonObject, tool: &str, shown: &mut Shown) {
    let _ = write!(out, "\n**{title}**\n\n| field | type | |\n|---|---|---|\n");
    push_fields(out, "", schema, schema, 0, (tool, shown));
}

fn push_fields(
    out: &mut String,
    prefix: &str,
    schema: &JsonObject,
    root: &JsonObject,
    depth: usize,
    (tool, shown): (&str, &mut Shown),
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
        let text = one_line(text.and_then(Value::as_str).unwrap_or_default());
        let items = field.get("items").map(|items| (format!("{prefix}{name}[]."), resolve(items, root)));
        let (inner_prefix, inner) = items.unwrap_or_else(|| (format!("{prefix}{name}."), target));
        let mut inner_rows = String::new();
        if depth < 3
            && let Some(inner_fields) = inner.as_object()
        {
            push_fields(&mut inner_rows, &inner_prefix, inner_fields, root, depth + 1, (tool, shown));
            for choice in inner_fields.get("oneOf").and_then(Value::as_array).into_iter().flatten() {
                if let Some(choice) = choice.as_object() {
                    push_fields(&mut inner_rows, &inner_prefix, choice, root, depth + 1, (tool, shown));
                }
            }
        }
        let mut text = text.replace('|', "\\|");
        // Fields that the page has already are named, not repeated.
        let same = inner_rows.replace(&inner_prefix, "");
        match shown.get(&same) {
            _ if inner_rows.is_empty() => {}
            Some(place) => {
                inner_rows.clear();
                let _ = write!(text, " Fields as in {place}.");
            }
            None => {
                let place = format!("`{}` of [{tool}](#{tool})", inner_prefix.trim_end_matches('.'));
                shown.insert(same, place);
            }
        }
        let kind = type_of(field, root);
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
