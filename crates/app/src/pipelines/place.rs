//! Places of plugins and their options in a pipeline file, for messages.

use planforge_diagnostics::render::escape;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use std::fmt;
use toml::de::{DeTable, DeValue, ValueDeserializer};

/// The place of a plugin in a pipeline.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum PluginPlace {
    /// The model table of that name.
    Model(String),
    Environment,
    /// The stage of that label.
    Stage(String),
}

impl fmt::Display for PluginPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Model(name) => write!(f, "[llm.{}]", escape(name)),
            Self::Environment => f.write_str("[environment]"),
            Self::Stage(label) => write!(f, "stage `{}`", escape(label)),
        }
    }
}

impl Serialize for PluginPlace {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl PluginPlace {
    /// File, line and table of an option with that value, for the pipeline in the file of that name and text. No line if the
    /// value is not that of the file, but of `--set`, a matrix or the plugin's default.
    pub(crate) fn of_option(
        &self,
        (name, text): (&str, &str),
        option: &str,
        value: Option<&Value>,
    ) -> String {
        let line = value.and_then(|value| self.line_number(text, option, value));
        let line = line.map(|line| format!(":{line}")).unwrap_or_default();
        format!("{}{line}: {self}", escape(name))
    }

    /// The line of the pipeline file that has the option with that value.
    fn line_number(&self, file: &str, option: &str, value: &Value) -> Option<usize> {
        let root = DeTable::parse(file).ok()?.into_inner();
        let (option, found) = self.options(&root)?.get_key_value(option)?;
        let found = Value::deserialize(ValueDeserializer::from(found.clone())).ok()?;
        if found != *value {
            return None;
        }
        Some(file.get(..option.span().start)?.matches('\n').count() + 1)
    }

    /// The options of the plugin in a pipeline file. Those of a model are its table.
    fn options<'t, 'f>(&self, root: &'t DeTable<'f>) -> Option<&'t DeTable<'f>> {
        match self {
            Self::Model(name) => root.get("llm")?.get_ref().get(name.as_str())?.get_ref().as_table(),
            Self::Environment => root.get("environment")?.get_ref().get("options")?.get_ref().as_table(),
            Self::Stage(label) => stage_options(root.get("stage")?.get_ref(), label),
        }
    }
}

/// Stages may hold stages.
fn stage_options<'t, 'f>(value: &'t DeValue<'f>, label: &str) -> Option<&'t DeTable<'f>> {
    match value {
        DeValue::Array(items) => items.iter().find_map(|item| stage_options(item.get_ref(), label)),
        DeValue::Table(table) => match table.get("label").and_then(|label| label.get_ref().as_str()) {
            Some(found) if found == label => table.get("options")?.get_ref().as_table(),
            _ => table.values().find_map(|value| stage_options(value.get_ref(), label)),
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_line_of_an_option_is_found_in_every_kind_of_table() {
        let file = "schema = 1\n[llm.main]\nuse = \"a\"\ncommand = [\"x\"]\n[environment]\nuse = \"b\"\n\
                    [environment.options]\ncwd = \".\"\ncommand = [\"y\"]\n[[stage]]\ndo = \"refine\"\nlabel = \"r\"\n\
                    [[stage.round]]\nlabel = \"val\"\noptions = { val_command = [\"z\"] }\n";
        let stage = |label: &str, option: &str| {
            PluginPlace::Stage(label.to_owned()).line_number(file, option, &json!(["z"]))
        };
        assert_eq!(PluginPlace::Environment.line_number(file, "command", &json!(["y"])), Some(9));
        let model = PluginPlace::Model("main".to_owned());
        let of_option =
            |name: &str, option: &str, value: Value| model.of_option((name, file), option, Some(&value));
        assert_eq!(of_option("a\u{1b}.toml", "command", json!(["x"])), "a\u{241b}.toml:4: [llm.main]");
        assert_eq!(of_option("a.toml", "command", json!(["other"])), "a.toml: [llm.main]");
        assert_eq!(of_option("a.toml", "proxy", json!("x")), "a.toml: [llm.main]");
        assert_eq!(model.of_option(("a.toml", file), "command", None), "a.toml: [llm.main]");
        assert_eq!(stage("val", "val_command"), Some(15));
        assert_eq!((stage("val", "command"), stage("other", "command")), (None, None));
    }

    #[test]
    fn names_of_a_file_do_not_steer_the_terminal() {
        let name = "x]\n\u{1b}[2Jtheirs.toml:1: [llm.main".to_owned();
        for place in [PluginPlace::Model(name.clone()), PluginPlace::Stage(name)] {
            let shown = place.of_option(("a.toml", ""), "base_url", None);
            assert!(!shown.contains(['\n', '\u{1b}']), "{shown}");
        }
    }
}
