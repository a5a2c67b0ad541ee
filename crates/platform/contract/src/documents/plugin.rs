//! Descriptions of plugins, and the creation of instances.

use super::capabilities::option_value;
use super::commands::{CommandOption, StartedCommand};
use crate::{Capabilities, JsonObject, RequestSetting};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The kinds of plugins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PluginKind {
    /// Sends requests to a language model.
    Provider,
    /// Writes PDDL from text.
    Translator,
    /// Judges candidates.
    Verifier,
    /// Finds plans.
    Planner,
    /// Executes actions.
    Environment,
}

impl PluginKind {
    /// All kinds, in the order of the design.
    pub const ALL: [Self; 5] =
        [Self::Provider, Self::Translator, Self::Verifier, Self::Planner, Self::Environment];

    /// The word used in files and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Provider => "provider",
            Self::Translator => "translator",
            Self::Verifier => "verifier",
            Self::Planner => "planner",
            Self::Environment => "environment",
        }
    }
}

impl std::fmt::Display for PluginKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// A named thing a plugin declares, with one line about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Declared {
    /// The name, as pipeline files write it.
    pub name: String,
    /// One line for `planforge plugins list`.
    pub about: String,
}

impl Declared {
    /// A name and one line about it.
    pub fn new(name: &str, about: &str) -> Self {
        Self { name: name.to_owned(), about: about.to_owned() }
    }
}

/// A quantity that a verifier's assessments hold in the standard form that result tables read. Each variant's comment names the parts
/// of an [`Assessment`](crate::Assessment) that the tables read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Agreement of exploration walks with the environment (exploration-walk paper, Definition 1 and Eq. 2): the metrics
    /// `reference_to_candidate` and `candidate_to_reference`, 0 to 1. Tables compute the score from them, as their harmonic mean. An
    /// assessment without both has no score.
    WalkScore,
    /// Validity of plans: the decision, `accepted` for a valid plan and `rejected` for an invalid one. Optional metrics
    /// about the PDDL: `errors` (their number), `front_end_accepts` and `val_accepts` (1 if planforge or VAL accepts it, else 0).
    PlanValidity,
    /// Equality with the reference up to names: the decision, `accepted` for equal and `rejected` for different.
    Equivalence,
    /// A class for every written action: the evidence, a [`ResultClasses`](crate::ResultClasses) as JSON.
    ResultClass,
}

/// A plugin's description of itself: the result of `describe()`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PluginInfo {
    /// The crate name without `planforge-`.
    pub id: String,
    /// Kind of the plugin.
    pub kind: PluginKind,
    /// The crate's version.
    pub version: String,
    /// The ABI epoch that it was built for; see `planforge-plugin-abi`.
    pub contract: u32,
    /// One line about it.
    pub about: String,
    /// Optional capabilities.
    #[serde(default)]
    pub capabilities: Capabilities,
    /// The language-model roles that it uses, for example `writer`.
    #[serde(default)]
    pub roles: Vec<Declared>,
    /// The metrics its assessments hold; `select` names them as `LABEL.NAME`.
    #[serde(default)]
    pub metrics: Vec<Declared>,
    /// The standard quantities that its assessments hold; result tables find their columns by them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measures: Vec<Measure>,
    /// JSON schema of its options.
    pub options_schema: serde_json::Value,
    /// Options that hold the *name* of an environment variable, or a table of such names; the host passes the values in
    /// `CreateRequest.secrets`.
    #[serde(default)]
    pub secrets: Vec<String>,
    /// Options that hold the URL of a server that gets the secrets. The host asks for the user's consent before it passes
    /// them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<String>,
    /// Options that hold a path; the host reads the file and puts its text in the option's place.
    #[serde(default)]
    pub files: Vec<String>,
    /// Options that hold the path of a folder, which the plugin hands on to a program outside. The host puts the path from its
    /// own working folder in its place: relative ones count from the pipeline file, and one that is not given is that file's folder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<String>,
    /// Options that hold a list of paths of suite folders; the host puts a list of [`SuiteReference`] in the option's place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suites: Vec<String>,
    /// Options that hold a command which the plugin starts. The host asks for the user's consent before it creates an instance, if the
    /// pipeline names the command.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<CommandOption>,
    /// Number of calls that one instance takes at a time; 0 means any number.
    #[serde(default)]
    pub max_concurrency: u32,
}

impl PluginInfo {
    /// True if a verifier with these options asks the task's environment.
    pub fn needs_environment(&self, options: &JsonObject) -> bool {
        self.capabilities.environment.holds(&self.options_schema, options)
    }

    /// True if the service of a provider with these options lacks a setting.
    pub fn lacks(&self, setting: RequestSetting, options: &JsonObject) -> bool {
        self.capabilities.lacks.get(&setting).is_some_and(|lack| lack.holds(&self.options_schema, options))
    }

    /// True if a plugin with these options requests token log-probabilities.
    pub fn needs_logprobs(&self, options: &JsonObject) -> bool {
        self.capabilities.logprobs.holds(&self.options_schema, options)
    }

    /// True if a provider with these options enforces the grammar of a request.
    pub fn enforces_grammars(&self, options: &JsonObject) -> bool {
        self.capabilities.enforces_grammars.holds(&self.options_schema, options)
    }

    /// True if a plugin with these options requires a grammar in its requests.
    pub fn requires_grammar(&self, options: &JsonObject) -> bool {
        self.capabilities.requires_grammar.holds(&self.options_schema, options)
    }

    /// True if a verifier with these options compares several candidates in one call.
    pub fn compares_candidates(&self, options: &JsonObject) -> bool {
        self.capabilities.together.holds(&self.options_schema, options)
    }

    /// True if a translator with these options never changes the problem.
    pub fn writes_domain_only(&self, options: &JsonObject) -> bool {
        self.capabilities.domain_only.holds(&self.options_schema, options)
    }

    /// True if results with these options come from an external program.
    pub fn is_external(&self, options: &JsonObject) -> bool {
        self.capabilities.external.holds(&self.options_schema, options)
    }

    /// The environment variables that the options name as secrets: the name in [`CreateRequest::secrets`] -> the variable.
    pub fn secret_variables(&self, options: &JsonObject) -> BTreeMap<String, String> {
        let mut variables = BTreeMap::new();
        for name in &self.secrets {
            match options.get(name) {
                Some(serde_json::Value::String(variable)) => {
                    variables.insert(name.clone(), variable.clone());
                }
                Some(serde_json::Value::Object(table)) => {
                    let named = table.iter().filter_map(|(key, variable)| Some((key, variable.as_str()?)));
                    variables
                        .extend(named.map(|(key, variable)| (format!("{name}.{key}"), variable.to_owned())));
                }
                _ => {}
            }
        }
        variables
    }

    /// The commands that a plugin with these options starts.
    pub fn started_commands(&self, options: &JsonObject) -> Vec<StartedCommand<'_>> {
        self.commands.iter().filter_map(|command| command.started(&self.options_schema, options)).collect()
    }

    /// The value of an option: the given one, else the default in the options schema, else `None`.
    pub fn option_value(&self, options: &JsonObject, name: &str) -> Option<serde_json::Value> {
        option_value(&self.options_schema, options, name)
    }
}

/// The reference of a suite, for plugins that simulate one. Only providers with the capability `simulated`
/// receive it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteReference {
    /// The name of the suite, as in the tags of a request.
    pub name: String,
    /// The reference domain.
    pub domain: String,
    /// Task stem -> reference problem.
    pub problems: BTreeMap<String, String>,
}

/// Arguments for the creation of an instance.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CreateRequest {
    /// The options from the pipeline file, already checked against the schema.
    #[serde(default)]
    pub options: JsonObject,
    /// Option name -> secret value. The values of a table `OPTION` are named `OPTION.KEY`. Never recorded.
    #[serde(default)]
    pub secrets: BTreeMap<String, String>,
}

impl std::fmt::Debug for CreateRequest {
    // Written by hand so that a secret never reaches a log through `{:?}`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CreateRequest")
            .field("options", &self.options)
            .field("secrets", &self.secrets.keys().collect::<Vec<_>>())
            .finish()
    }
}
