//! `--set key=value`: changes to the tree before it is checked, so that a bad value is reported like one in the file.

use super::reader::{error_at, with_help};
use super::tree::{Key, Node, ParsedToml, SourcePlace, Table, Value, parse};
use crate::suggest::help_for;
use planforge_diagnostics::{Diagnostic, SourceId, Span};
use planforge_llm::HOST_KEYS;
use serde::{Deserialize, Serialize};

/// A `--set` that was applied, as the record keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Override {
    /// The dotted path, as written.
    pub key: String,
    /// The value that was set.
    pub value: serde_json::Value,
}

/// Applies one argument. `source` is the argument's own text.
pub(super) fn apply(
    root: &mut Table,
    argument: &str,
    source: SourceId,
    out: &mut Vec<Diagnostic>,
) -> Option<Override> {
    let whole = SourcePlace { source, span: Span::new(0, length(argument)) };
    let Some((path, text)) = argument.split_once('=') else {
        out.push(
            error_at("pipeline.override", format!("`{argument}` has no `=`"), whole)
                .help("write --set KEY=VALUE, for example --set llm.main.model=gpt-4o"),
        );
        return None;
    };
    let segments = segments(path, source);
    if let Some(empty) = segments.iter().find(|s| s.name.is_empty()) {
        out.push(error_at("pipeline.override", "a part of the key is empty", empty.place));
        return None;
    }
    let start = length(path) + 1;
    let place = SourcePlace { source, span: Span::new(start, start + length(text)) };
    let mut node = value(text, place);
    move_to(&mut node, place);
    let json = node.to_json();
    if let [llm, name, last] = segments.as_slice()
        && llm.name == "llm"
        && last.name == "use"
    {
        drop_options_of_file(root, &name.name);
    }
    match set(root, &segments, node) {
        Ok(()) => Some(Override { key: path.to_owned(), value: json }),
        Err(diagnostic) => {
            out.push(*diagnostic);
            None
        }
    }
}

/// Removes what the file says about the provider of a model table, because another one is named: its options, the price and
/// the further fields of its requests. Options of other arguments stay.
fn drop_options_of_file(root: &mut Table, name: &str) {
    let mut table = root;
    for part in ["llm", name] {
        match table.get_mut(part).map(|node| &mut node.value) {
            Some(Value::Table(inner)) => table = inner,
            _ => return,
        }
    }
    table.entries.retain(|(key, node)| {
        let of_host = HOST_KEYS.contains(&key.name.as_str()) && !matches!(&*key.name, "price" | "extra_body");
        of_host || node.place.source != SourceId(0)
    });
}

fn length(text: &str) -> u32 {
    u32::try_from(text.len()).unwrap_or(u32::MAX)
}

fn segments(path: &str, source: SourceId) -> Vec<Key> {
    let mut at = 0;
    path.split('.')
        .map(|name| {
            let place = SourcePlace { source, span: Span::new(at, at + length(name)) };
            at += length(name) + 1;
            Key { name: name.trim().to_owned(), place }
        })
        .collect()
}

/// The text as a TOML value, else as the string that it is.
fn value(text: &str, place: SourcePlace) -> Node {
    let ParsedToml { mut root, errors } = parse(&format!("v = {text}\n"), place.source);
    if errors.is_empty()
        && root.entries.len() == 1
        && let Some((_, node)) = root.entries.pop()
    {
        return node;
    }
    Node { place, value: Value::String(text.to_owned()) }
}

/// Inside a value every place is that of the whole value: the parsed text was not the argument itself.
fn move_to(node: &mut Node, place: SourcePlace) {
    node.place = place;
    match &mut node.value {
        Value::Array(items) => items.iter_mut().for_each(|item| move_to(item, place)),
        Value::Table(table) => table.entries.iter_mut().for_each(|(key, item)| {
            key.place = place;
            move_to(item, place);
        }),
        _ => {}
    }
}

fn set(table: &mut Table, path: &[Key], value: Node) -> Result<(), Box<Diagnostic>> {
    let Some((first, rest)) = path.split_first() else { return Ok(()) };
    if table.get(&first.name).is_none() {
        let node = if rest.is_empty() {
            value
        } else {
            // An array is never made by a path: its elements need more than one value.
            if first.name == "stage" {
                return Err(Box::new(error_at(
                    "pipeline.override",
                    "the file has no stages to change",
                    first.place,
                )));
            }
            let mut inner = Table::default();
            set(&mut inner, rest, value)?;
            Node { place: first.place, value: Value::Table(inner) }
        };
        table.entries.push((first.clone(), node));
        return Ok(());
    }
    match table.get_mut(&first.name) {
        Some(node) => set_in(node, first, rest, value),
        None => Ok(()),
    }
}

fn set_in(node: &mut Node, at: &Key, rest: &[Key], value: Node) -> Result<(), Box<Diagnostic>> {
    let Some((next, after)) = rest.split_first() else {
        *node = value;
        return Ok(());
    };
    let kind = node.kind();
    match &mut node.value {
        Value::Table(table) => set(table, rest, value),
        Value::Array(items) => {
            let index = element(items, next)?;
            match items.get_mut(index) {
                Some(item) => set_in(item, next, after, value),
                None => Ok(()),
            }
        }
        _ => {
            let message = format!("`{}` is {kind}, so it has no `{}`", at.name, next.name);
            Err(Box::new(error_at("pipeline.override", message, next.place)))
        }
    }
}

/// An element by its position from 0, or by its label.
fn element(items: &[Node], key: &Key) -> Result<usize, Box<Diagnostic>> {
    let labels: Vec<(usize, &str)> = items
        .iter()
        .enumerate()
        .filter_map(|(i, item)| match item.as_table()?.get("label").map(|n| &n.value) {
            Some(Value::String(label)) => Some((i, label.as_str())),
            _ => None,
        })
        .collect();
    if let Some((index, _)) = labels.iter().find(|(_, label)| *label == key.name) {
        return Ok(*index);
    }
    if let Ok(index) = key.name.parse::<usize>() {
        if index < items.len() {
            return Ok(index);
        }
        let message = format!("there is no element {index}; there are {}, counted from 0", items.len());
        return Err(Box::new(error_at("pipeline.override", message, key.place)));
    }
    let names: Vec<&str> = labels.iter().map(|(_, label)| *label).collect();
    let message = format!("there is no stage with the label `{}`", key.name);
    Err(Box::new(with_help(
        error_at("pipeline.override", message, key.place),
        help_for(&key.name, &names, "labels"),
    )))
}
