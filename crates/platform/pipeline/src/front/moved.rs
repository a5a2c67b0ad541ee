//! Plugin options that moved to another plugin. The old form is read as the new one, with a warning.

use super::tree::{Key, Node, Table, Value};
use planforge_diagnostics::Diagnostic;

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
pub(super) fn apply(table: &mut Table, out: &mut Vec<Diagnostic>) {
    out.extend(rewrite(table));
    for (_, node) in &mut table.entries {
        apply_to_value(&mut node.value, out);
    }
}

fn apply_to_value(value: &mut Value, out: &mut Vec<Diagnostic>) {
    match value {
        Value::Table(table) => apply(table, out),
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
    use crate::front::tree::parse;
    use planforge_diagnostics::SourceId;

    /// The stage after rewriting as JSON, and the help of its warning.
    fn rewritten(options: &str) -> (serde_json::Value, Option<String>) {
        let text = format!("[[stage]]\nuse = \"translator-direct\"\noptions = {{ {options} }}\n");
        let mut root = parse(&text, SourceId(0)).root;
        let mut found = Vec::new();
        apply(&mut root, &mut found);
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
        apply(&mut root, &mut found);
        assert_eq!(found.len(), 1);
        let at = found[0].primary().unwrap().span;
        assert_eq!(&text[at.start as usize..at.end as usize], "\"translator-direct\"");
    }
}
