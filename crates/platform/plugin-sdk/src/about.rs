//! A plugin's description of itself, and its creation.

use planforge_contract::{
    Applies, Capabilities, CommandOption, Declared, Failure, Measure, OptionCondition, RequestBound,
    RequestCount, RequestSetting,
};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Number;
use std::collections::BTreeMap;

/// A type that can be exported as a plugin; it also implements the trait of its kind.
pub trait Plugin: Sized + Send + Sync + 'static {
    /// The options table of the pipeline file. Derive `Deserialize` and `JsonSchema` with
    /// `#[serde(deny_unknown_fields)]`; doc comments are the user documentation. Use `()`-like empty structs for none.
    type Options: DeserializeOwned + JsonSchema;

    /// The plugin's description. The SDK adds id, version and options schema.
    fn about() -> About;

    /// Creates an instance. `options` have passed the schema; conditions that a schema cannot express are
    /// checked here.
    ///
    /// # Errors
    /// Class `Request` for options that contradict each other, `System` for something that the machine lacks.
    fn create(options: Self::Options, secrets: &Secrets) -> Result<Self, Failure>;
}

/// The parts of [`planforge_contract::PluginInfo`] that the author writes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct About {
    pub(crate) about: String,
    pub(crate) capabilities: Capabilities,
    pub(crate) roles: Vec<Declared>,
    pub(crate) metrics: Vec<Declared>,
    pub(crate) measures: Vec<Measure>,
    pub(crate) secrets: Vec<String>,
    pub(crate) servers: Vec<String>,
    pub(crate) files: Vec<String>,
    pub(crate) folders: Vec<String>,
    pub(crate) suites: Vec<String>,
    pub(crate) commands: Vec<CommandOption>,
    pub(crate) max_concurrency: u32,
}

impl About {
    /// One line for `planforge plugins list`.
    pub fn new(about: &str) -> Self {
        Self { about: about.to_owned(), ..Self::default() }
    }
    /// Declares a provider's replies as simulated.
    #[must_use]
    pub const fn simulated(mut self) -> Self {
        self.capabilities.simulated = true;
        self
    }
    /// Declares that a provider's replies may arrive in a later session.
    #[must_use]
    pub const fn deferred(mut self) -> Self {
        self.capabilities.deferred = true;
        self
    }
    /// Declares that one request to this provider may ask for several replies.
    #[must_use]
    pub const fn several_replies(mut self) -> Self {
        self.capabilities.several_replies = true;
        self
    }
    /// Declares that a provider's service lacks a setting of requests.
    #[must_use]
    pub fn lacks(mut self, setting: RequestSetting) -> Self {
        self.capabilities.lacks.insert(setting, Applies::Always);
        self
    }
    /// Declares that a provider's service lacks a setting of requests where one of these conditions holds.
    #[must_use]
    pub fn lacks_where(mut self, setting: RequestSetting, conditions: &[OptionCondition]) -> Self {
        self.capabilities.lacks.insert(setting, Applies::Where(conditions.to_vec()));
        self
    }
    /// Declares the highest temperature that a provider's service accepts.
    #[must_use]
    pub fn highest_temperature(mut self, highest: f64) -> Self {
        self.capabilities.highest_temperature = Number::from_f64(highest);
        self
    }
    /// Declares that the plugin requests token log-probabilities if the option has this value.
    #[must_use]
    pub fn logprobs_where(mut self, option: &str, value: &str) -> Self {
        add_condition(&mut self.capabilities.logprobs, option, value);
        self
    }
    /// Declares that a provider enforces the grammar of every request.
    #[must_use]
    pub fn enforces_grammars(mut self) -> Self {
        self.capabilities.enforces_grammars = Applies::Always;
        self
    }
    /// Declares that a provider's service enforces the grammar of a request where one of these conditions holds.
    #[must_use]
    pub fn enforces_grammars_where(mut self, conditions: &[OptionCondition]) -> Self {
        self.capabilities.enforces_grammars = Applies::Where(conditions.to_vec());
        self
    }
    /// Declares that the plugin requires a grammar in its requests if the option has this value.
    #[must_use]
    pub fn requires_grammar_where(mut self, option: &str, value: &str) -> Self {
        add_condition(&mut self.capabilities.requires_grammar, option, value);
        self
    }
    /// Declares that a translator calls [`crate::Host::worker`].
    #[must_use]
    pub const fn worker(mut self) -> Self {
        self.capabilities.worker = true;
        self
    }
    /// Declares that an environment simulates the reference that it is opened with.
    #[must_use]
    pub const fn reference_model(mut self) -> Self {
        self.capabilities.reference_model = true;
        self
    }
    /// Declares that a verifier asks the task's environment.
    #[must_use]
    pub fn environment(mut self) -> Self {
        self.capabilities.environment = Applies::Always;
        self
    }
    /// Declares that a verifier asks the task's environment if the option has this value.
    #[must_use]
    pub fn environment_where(mut self, option: &str, value: &str) -> Self {
        add_condition(&mut self.capabilities.environment, option, value);
        self
    }
    /// Declares that a verifier compares several candidates in one call.
    #[must_use]
    pub fn together(mut self) -> Self {
        self.capabilities.together = Applies::Always;
        self
    }
    /// Declares that a verifier compares several candidates in one call if the option has this value.
    #[must_use]
    pub fn together_where(mut self, option: &str, value: &str) -> Self {
        add_condition(&mut self.capabilities.together, option, value);
        self
    }
    /// Declares that a translator never changes the problem if the option has this value.
    #[must_use]
    pub fn domain_only_where(mut self, option: &str, value: &str) -> Self {
        add_condition(&mut self.capabilities.domain_only, option, value);
        self
    }
    /// Declares that results come from an external program; the host journals them for replay.
    #[must_use]
    pub fn external(mut self) -> Self {
        self.capabilities.external = Applies::Always;
        self
    }
    /// Declares that results come from an external program if the option has this value.
    #[must_use]
    pub fn external_where(mut self, option: &str, value: &str) -> Self {
        add_condition(&mut self.capabilities.external, option, value);
        self
    }
    /// Declares an upper bound on the requests of one call: `requests(Samples * Actions + Samples)`. The first declared bound whose
    /// condition holds counts, so this one comes after those of [`About::requests_where`].
    #[must_use]
    pub fn requests(mut self, count: impl Into<RequestCount>) -> Self {
        self.capabilities.requests.push(RequestBound { count: count.into(), condition: None });
        self
    }
    /// Declares an upper bound on the requests of one call if the option has one of these values.
    #[must_use]
    pub fn requests_where(self, option: &str, values: &[&str], count: impl Into<RequestCount>) -> Self {
        self.requests_if(OptionCondition::new(option, values), count)
    }
    /// Declares an upper bound on the requests of one call if the condition holds.
    #[must_use]
    pub fn requests_if(mut self, condition: OptionCondition, count: impl Into<RequestCount>) -> Self {
        let condition = Some(condition);
        self.capabilities.requests.push(RequestBound { count: count.into(), condition });
        self
    }
    /// Declares a language-model role that the plugin uses.
    #[must_use]
    pub fn role(mut self, name: &str, about: &str) -> Self {
        self.roles.push(Declared::new(name, about));
        self
    }
    /// A metric of its assessments.
    #[must_use]
    pub fn metric(mut self, name: &str, about: &str) -> Self {
        self.metrics.push(Declared::new(name, about));
        self
    }
    /// A standard quantity that its assessments hold, for result tables.
    #[must_use]
    pub fn measures(mut self, measure: Measure) -> Self {
        self.measures.push(measure);
        self
    }
    /// An option that holds the name of an environment variable, or a table of such names; the values come in [`Secrets`].
    #[must_use]
    pub fn secret(mut self, option: &str) -> Self {
        self.secrets.push(option.to_owned());
        self
    }
    /// An option that holds the URL of a server that gets the secrets; the host asks for the user's consent first.
    #[must_use]
    pub fn server(mut self, option: &str) -> Self {
        self.servers.push(option.to_owned());
        self
    }
    /// An option that holds a path; the host puts the file's text in its place.
    #[must_use]
    pub fn file(mut self, option: &str) -> Self {
        self.files.push(option.to_owned());
        self
    }
    /// An option that holds the path of a folder for a program outside; the host resolves it, by default to the pipeline file's.
    #[must_use]
    pub fn folder(mut self, option: &str) -> Self {
        self.folders.push(option.to_owned());
        self
    }
    /// An option that holds a list of paths of suite folders; the host puts a list of
    /// [`planforge_contract::SuiteReference`] in its place. For providers declared `simulated` alone.
    #[must_use]
    pub fn suites(mut self, option: &str) -> Self {
        self.suites.push(option.to_owned());
        self
    }
    /// An option that holds a command; the host asks for the user's consent before an instance is created.
    #[must_use]
    pub fn command(mut self, command: CommandOption) -> Self {
        self.commands.push(command);
        self
    }
    /// Number of calls that one instance takes at a time; 0, the default, means any number.
    #[must_use]
    pub fn max_concurrency(mut self, calls: u32) -> Self {
        self.max_concurrency = calls;
        self
    }
}

/// Adds one more case in which a capability holds.
fn add_condition(applies: &mut Applies, option: &str, value: &str) {
    let condition = OptionCondition::new(option, &[value]);
    match applies {
        Applies::Never => *applies = Applies::Where(vec![condition]),
        Applies::Always => {}
        Applies::Where(conditions) => conditions.push(condition),
    }
}

/// Secret values by the name of the option that named their environment variable. Never printed by `{:?}`.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secrets(BTreeMap<String, String>);

impl Secrets {
    /// The value for an option, or for `OPTION.KEY` of a table; `None` where the option is absent or its variable is not set.
    pub fn get(&self, option: &str) -> Option<&str> {
        self.0.get(option).map(String::as_str)
    }
}

impl From<BTreeMap<String, String>> for Secrets {
    fn from(values: BTreeMap<String, String>) -> Self {
        Self(values)
    }
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
