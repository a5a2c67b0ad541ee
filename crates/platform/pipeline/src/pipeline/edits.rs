//! Changes to the tree before it is checked, so that a bad value is reported like one in the file: `--set key=value`, and options
//! that have moved to the stage.

use crate::reader::{Key, Node, ParsedToml, SourcePlace, Table, Value, error_at, help_for, parse, with_help};
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
pub(super) fn apply_override(
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

/// One row: stages with `use = plugin` and the options `when` use the plugin `to`.
struct MovedOptions {
    plugin: &'static str,
    /// Options with their values; `None` for an option that is left out. They are removed.
    when: &'static [(&'static str, Option<&'static str>)],
    to: &'static str,
    /// Options of the new form.
    set: &'static [(&'static str, &'static str)],
    /// Options that are removed if they have this value, which had no effect.
    without_effect: &'static [(&'static str, &'static str)],
}

const NO_EXAMPLE_NO_REASON: &[(&str, &str)] = &[("example", "false"), ("reason", "false")];

const MOVED: &[MovedOptions] = &[
    MovedOptions {
        plugin: "translator-direct",
        when: &[("mode", Some("edit"))],
        to: "translator-edit",
        set: &[],
        without_effect: &[("template", "true"), ("template", "false"), ("form", "plain")],
    },
    MovedOptions {
        plugin: "translator-direct",
        when: &[("mode", Some("update"))],
        to: "translator-thought",
        set: &[("mode", "update")],
        without_effect: NO_EXAMPLE_NO_REASON,
    },
    MovedOptions {
        plugin: "translator-direct",
        when: &[("form", Some("thought")), ("mode", Some("domain"))],
        to: "translator-thought",
        set: &[("artefact", "domain")],
        without_effect: NO_EXAMPLE_NO_REASON,
    },
    MovedOptions {
        plugin: "translator-direct",
        when: &[("form", Some("thought")), ("mode", Some("problem"))],
        to: "translator-thought",
        set: &[("artefact", "problem")],
        without_effect: NO_EXAMPLE_NO_REASON,
    },
    MovedOptions {
        plugin: "translator-direct",
        when: &[("form", Some("thought")), ("mode", None)],
        to: "translator-thought",
        set: &[("artefact", "problem")],
        without_effect: NO_EXAMPLE_NO_REASON,
    },
    MovedOptions {
        plugin: "translator-direct",
        when: &[("form", Some("plain"))],
        to: "translator-direct",
        set: &[],
        without_effect: &[],
    },
];

/// Rewrites every stage that uses an old form, with a warning each.
pub(super) fn apply_moves(table: &mut Table, out: &mut Vec<Diagnostic>) {
    out.extend(rewrite(table));
    for (_, node) in &mut table.entries {
        apply_to_value(&mut node.value, out);
    }
}

fn apply_to_value(value: &mut Value, out: &mut Vec<Diagnostic>) {
    match value {
        Value::Table(table) => apply_moves(table, out),
        Value::Array(items) => items.iter_mut().for_each(|item| apply_to_value(&mut item.value, out)),
        _ => {}
    }
}

fn rewrite(stage: &mut Table) -> Option<Diagnostic> {
    let place = stage.get("use")?.place;
    let options = stage.get("options")?;
    let row = MOVED.iter().find(|row| {
        let is_as = |(name, value): &(&str, Option<&str>)| option(options, name).as_deref() == *value;
        option_text(stage.get("use")).as_deref() == Some(row.plugin) && row.when.iter().all(is_as)
    })?;
    let node = stage.get_mut("options")?;
    let options_place = node.place;
    let Value::Table(options) = &mut node.value else { return None };
    options.entries.retain(|(key, node)| {
        let text = option_text(Some(node));
        let without_effect = row
            .without_effect
            .iter()
            .any(|(name, value)| key.name == *name && text.as_deref() == Some(value));
        !without_effect && !row.when.iter().any(|(name, _)| key.name == *name)
    });
    let set = row.set.iter().map(|(name, value)| {
        let value = Node { place: options_place, value: Value::String((*value).to_owned()) };
        (Key { name: (*name).to_owned(), place: options_place }, value)
    });
    options.entries.splice(0..0, set);
    let written: Vec<String> =
        options.entries.iter().map(|(key, node)| format!("{} = {}", key.name, node.to_json())).collect();
    stage.get_mut("use")?.value = Value::String(row.to.to_owned());
    let old = row.when.iter().filter_map(|(name, value)| Some(format!("`{name} = \"{}\"`", (*value)?)));
    let old = old.collect::<Vec<_>>().join(" and ");
    let message = format!("`{}` with {old} is an old form", row.plugin);
    let help = match written.is_empty() {
        true => format!("write `use = \"{}\"` without `options`", row.to),
        false => format!("write `use = \"{}\"` with `options = {{ {} }}`", row.to, written.join(", ")),
    };
    Some(Diagnostic::warning("pipeline.moved-option", message).at(place.source, place.span, "").help(help))
}

fn option(options: &Node, name: &str) -> Option<String> {
    option_text(options.as_table()?.get(name))
}

/// A string, or a Boolean as `true` or `false`.
fn option_text(node: Option<&Node>) -> Option<String> {
    match &node?.value {
        Value::String(text) => Some(text.clone()),
        Value::Boolean(flag) => Some(flag.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::parse;
    use planforge_diagnostics::SourceId;

    /// The stage after rewriting as JSON, and the help of its warning.
    fn rewritten(options: &str) -> (serde_json::Value, Option<String>) {
        let text = format!("[[stage]]\nuse = \"translator-direct\"\noptions = {{ {options} }}\n");
        let mut root = parse(&text, SourceId(0)).root;
        let mut found = Vec::new();
        apply_moves(&mut root, &mut found);
        let stage = match &root.get("stage").unwrap().value {
            Value::Array(items) => items[0].to_json(),
            _ => unreachable!("a stage is an array"),
        };
        (stage, found.pop().map(|d| d.help[0].to_string()))
    }

    #[test]
    fn old_forms_become_the_plugins_that_took_them_over() {
        for (old, plugin, new) in [
            ("mode = \"edit\"", "translator-edit", serde_json::json!({})),
            (
                "mode = \"edit\", template = true, reason = false",
                "translator-edit",
                serde_json::json!({"reason": false}),
            ),
            (
                "mode = \"update\", artefact = \"problem\", example = false",
                "translator-thought",
                serde_json::json!({"mode": "update", "artefact": "problem"}),
            ),
            (
                "mode = \"domain\", form = \"thought\", template = true",
                "translator-thought",
                serde_json::json!({"artefact": "domain", "template": true}),
            ),
            ("form = \"thought\"", "translator-thought", serde_json::json!({"artefact": "problem"})),
            ("mode = \"both\", form = \"plain\"", "translator-direct", serde_json::json!({"mode": "both"})),
        ] {
            let (stage, help) = rewritten(old);
            assert_eq!((&stage["use"], &stage["options"]), (&plugin.into(), &new), "{old}");
            assert!(help.unwrap().contains(plugin), "{old}");
        }
    }

    #[test]
    fn current_forms_and_bad_combinations_are_left_to_the_plugin() {
        for options in [
            "mode = \"domain\", template = true",
            "mode = \"both\", form = \"thought\"",
            "mode = \"problem\", artefact = \"domain\"",
        ] {
            let (stage, help) = rewritten(options);
            assert_eq!((stage["use"].as_str(), help), (Some("translator-direct"), None), "{options}");
        }
        // The options that the edits never had stay, so that the plugin refuses them.
        let (stage, _) = rewritten("mode = \"edit\", form = \"thought\", artefact = \"domain\"");
        assert_eq!(stage["options"], serde_json::json!({"form": "thought", "artefact": "domain"}));
    }

    #[test]
    fn stages_inside_rounds_are_rewritten_too() {
        let text = "[[stage]]\ndo = \"refine\"\n[[stage.round]]\nuse = \"translator-direct\"\n\
                    options = { mode = \"edit\" }\n";
        let mut root = parse(text, SourceId(0)).root;
        let mut found = Vec::new();
        apply_moves(&mut root, &mut found);
        assert_eq!(found.len(), 1);
        let at = found[0].primary().unwrap().span;
        assert_eq!(&text[at.start as usize..at.end as usize], "\"translator-direct\"");
    }
}
