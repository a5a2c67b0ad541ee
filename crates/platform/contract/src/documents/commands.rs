//! Options that hold a command, so that the host can ask for the user's consent before a plugin starts a program.

use super::capabilities::option_value;
use crate::{JsonObject, OptionCondition};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An option that holds a command, which the plugin starts as a process.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommandOption {
    /// The option: a list of words, the program first.
    pub option: String,
    /// Further options that reach the program, such as arguments and the names of variables that it inherits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<String>,
    /// The option with the environment variables that are set for the program, as a table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variables: Option<String>,
    /// The option with the folder that the program is started in, which is among the `folders` of the plugin too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// The programs that are started if the option is left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<UsualProgram>,
    /// The uses in which the command is started; absent for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<OptionCondition>,
}

/// A program that is started if no command is given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UsualProgram {
    /// The uses in which it is started.
    pub condition: OptionCondition,
    /// The program's name on the search path.
    pub program: String,
}

impl CommandOption {
    /// A command in that option.
    pub fn new(option: &str) -> Self {
        Self { option: option.to_owned(), ..Self::default() }
    }

    /// Adds an option that reaches the program too.
    #[must_use]
    pub fn setting(mut self, option: &str) -> Self {
        self.settings.push(option.to_owned());
        self
    }

    /// Sets the option with the program's environment variables.
    #[must_use]
    pub fn variables(mut self, option: &str) -> Self {
        self.variables = Some(option.to_owned());
        self
    }

    /// Sets the option with the program's folder.
    #[must_use]
    pub fn folder(mut self, option: &str) -> Self {
        self.folder = Some(option.to_owned());
        self
    }

    /// Adds a program that is started if the command is left out and another option has that value.
    #[must_use]
    pub fn usual_program(mut self, option: &str, value: &str, program: &str) -> Self {
        let condition = OptionCondition::new(option, &[value]);
        self.programs.push(UsualProgram { condition, program: program.to_owned() });
        self
    }

    /// The command is started only if an option has that value.
    #[must_use]
    pub fn only_where(mut self, option: &str, value: &str) -> Self {
        self.condition = Some(OptionCondition::new(option, &[value]));
        self
    }

    /// The command that a plugin with this options schema and these options starts, if it starts one.
    pub(super) fn started<'i>(&'i self, schema: &Value, options: &JsonObject) -> Option<StartedCommand<'i>> {
        if self.condition.as_ref().is_some_and(|condition| !condition.holds(schema, options)) {
            return None;
        }
        let mut words: Vec<String> = match option_value(schema, options, &self.option) {
            Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            _ => Vec::new(),
        };
        let mut usual = self.programs.iter();
        if words.is_empty()
            && let Some(usual) = usual.find(|usual| usual.condition.holds(schema, options))
        {
            words.push(usual.program.clone());
        }
        let others = self.settings.iter().chain(&self.variables).chain(&self.folder);
        let is_named = |name: &&String| {
            let default = option_value(schema, &JsonObject::new(), name);
            options.get(*name).is_some_and(|value| Some(value) != default.as_ref())
        };
        let named = std::iter::once(&self.option).chain(others).filter(is_named);
        let named = named.filter_map(|name| Some((name.clone(), options.get(name)?.clone()))).collect();
        Some(StartedCommand { declared: self, words, named })
    }
}

/// A command that a plugin starts.
#[derive(Debug, Clone, PartialEq)]
pub struct StartedCommand<'i> {
    /// Its declaration.
    pub declared: &'i CommandOption,
    /// The program and the words after it.
    pub words: Vec<String>,
    /// The options of the command that are given and are not the plugin's own defaults. Empty if the plugin starts its usual
    /// program in the usual way.
    pub named: JsonObject,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn started(command: &CommandOption, options: Value) -> Option<(Vec<String>, Vec<String>)> {
        let schema = json!({"properties": {"command": {"default": ["Validate"]}, "env": {"default": {}}}});
        let started = command.started(&schema, options.as_object().unwrap())?;
        Some((started.words, started.named.keys().cloned().collect()))
    }

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn a_default_command_is_started_and_not_named() {
        let command = CommandOption::new("command").setting("arguments").variables("env");
        let usual = Some((words(&["Validate"]), vec![]));
        assert_eq!(started(&command, json!({})), usual);
        assert_eq!(started(&command, json!({"command": ["Validate"], "env": {}, "other": 1})), usual);
        let named = json!({"command": ["sh", "-c"], "env": {"PATH": "/x"}, "arguments": ["y"]});
        let names = words(&["arguments", "command", "env"]);
        assert_eq!(started(&command, named), Some((words(&["sh", "-c"]), names)));
        let preload = json!({"env": {"LD_PRELOAD": "./x.so"}});
        assert_eq!(started(&command, preload), Some((words(&["Validate"]), words(&["env"]))));
    }

    #[test]
    fn a_command_is_started_where_its_condition_holds_and_has_its_usual_program() {
        let command = CommandOption::new("program").usual_program("preset", "one", "one.py");
        let command = command.only_where("by", "val");
        assert_eq!(started(&command, json!({"preset": "one"})), None);
        assert_eq!(
            started(&command, json!({"preset": "one", "by": "val"})),
            Some((words(&["one.py"]), vec![]))
        );
    }
}
