//! Options that hold a command, so that the host can ask for the user's consent before a plugin starts a program.

use super::plugin::PluginInfo;
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
    /// The option with the folder that the program is started in, which is among [`PluginInfo::folders`] too.
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
}

/// A command that a plugin starts.
#[derive(Debug, Clone, PartialEq)]
pub struct StartedCommand<'i> {
    /// Its declaration.
    pub declared: &'i CommandOption,
    /// The program and the words behind it.
    pub words: Vec<String>,
    /// The options of the command that are given and are not the plugin's own defaults. Empty if the plugin starts its usual
    /// program in the usual way.
    pub named: JsonObject,
}

impl PluginInfo {
    /// The commands that a plugin with these options starts.
    pub fn started_commands(&self, options: &JsonObject) -> Vec<StartedCommand<'_>> {
        let started = |declared: &CommandOption| {
            let condition = declared.condition.as_ref();
            condition.is_none_or(|condition| condition.holds(&self.options_schema, options))
        };
        self.commands.iter().filter(|declared| started(declared)).map(|d| self.command(d, options)).collect()
    }

    fn command<'i>(&'i self, declared: &'i CommandOption, options: &JsonObject) -> StartedCommand<'i> {
        let given = self.option_value(options, &declared.option);
        let mut words: Vec<String> = match &given {
            Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            _ => Vec::new(),
        };
        let mut usual = declared.programs.iter();
        if words.is_empty()
            && let Some(usual) = usual.find(|usual| usual.condition.holds(&self.options_schema, options))
        {
            words.push(usual.program.clone());
        }
        let others = declared.settings.iter().chain(&declared.variables).chain(&declared.folder);
        let is_named = |name: &&String| {
            let default = self.option_value(&JsonObject::new(), name);
            options.get(*name).is_some_and(|value| Some(value) != default.as_ref())
        };
        let named = std::iter::once(&declared.option).chain(others).filter(is_named);
        let named = named.filter_map(|name| Some((name.clone(), options.get(name)?.clone()))).collect();
        StartedCommand { declared, words, named }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Capabilities, PluginKind};
    use serde_json::json;

    fn info(command: CommandOption) -> PluginInfo {
        PluginInfo {
            id: "x".into(),
            kind: PluginKind::Planner,
            version: String::new(),
            contract: 2,
            about: String::new(),
            capabilities: Capabilities::default(),
            roles: vec![],
            metrics: vec![],
            measures: vec![],
            options_schema: json!({"properties": {"command": {"default": ["Validate"]}, "env": {"default": {}}}}),
            secrets: vec![],
            servers: vec![],
            files: vec![],
            folders: vec![],
            suites: vec![],
            commands: vec![command],
            max_concurrency: 0,
        }
    }

    fn started(command: &CommandOption, options: Value) -> Vec<(Vec<String>, Vec<String>)> {
        let info = info(command.clone());
        let commands = info.started_commands(options.as_object().unwrap());
        commands.into_iter().map(|c| (c.words, c.named.keys().cloned().collect())).collect()
    }

    #[test]
    fn a_default_command_is_started_and_not_named() {
        let command = CommandOption::new("command").setting("arguments").variables("env");
        let words = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
        assert_eq!(started(&command, json!({})), [(words(&["Validate"]), vec![])]);
        assert_eq!(
            started(&command, json!({"command": ["Validate"], "env": {}, "other": 1}))[0].1,
            words(&[])
        );
        let named =
            started(&command, json!({"command": ["sh", "-c"], "env": {"PATH": "/x"}, "arguments": ["y"]}));
        assert_eq!(named, [(words(&["sh", "-c"]), words(&["arguments", "command", "env"]))]);
        assert_eq!(started(&command, json!({"env": {"LD_PRELOAD": "./x.so"}}))[0].1, words(&["env"]));
    }

    #[test]
    fn a_command_is_started_where_its_condition_holds_and_has_its_usual_program() {
        let command =
            CommandOption::new("program").usual_program("preset", "one", "one.py").only_where("by", "val");
        assert_eq!(started(&command, json!({"preset": "one"})), []);
        assert_eq!(
            started(&command, json!({"preset": "one", "by": "val"})),
            [(vec!["one.py".to_owned()], vec![])]
        );
    }
}
