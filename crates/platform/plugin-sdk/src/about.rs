//! What a plugin says about itself and how it is made.

use planforge_contract::{Declared, Failure, Measure};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;

/// A type that can be exported as a plugin; it also implements the trait of its kind.
pub trait Plugin: Sized + Send + Sync + 'static {
    /// The options table of the pipeline file. Derive `Deserialize` and `JsonSchema` with
    /// `#[serde(deny_unknown_fields)]`; doc comments are the user documentation. Use `()`-like empty structs for none.
    type Options: DeserializeOwned + JsonSchema;

    /// What it is. Id, version and options schema are added by the SDK.
    fn about() -> About;

    /// Makes an instance. `options` have passed the schema; what a schema cannot say is checked here.
    ///
    /// # Errors
    /// Class `Request` for options that make no sense together, `System` for what the machine lacks.
    fn create(options: Self::Options, secrets: &Secrets) -> Result<Self, Failure>;
}

/// The parts of [`planforge_contract::PluginInfo`] that the author writes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct About {
    pub(crate) about: String,
    pub(crate) capabilities: Vec<String>,
    pub(crate) roles: Vec<Declared>,
    pub(crate) metrics: Vec<Declared>,
    pub(crate) measures: Vec<Measure>,
    pub(crate) secrets: Vec<String>,
    pub(crate) files: Vec<String>,
    pub(crate) folders: Vec<String>,
    pub(crate) suites: Vec<String>,
    pub(crate) max_concurrency: u32,
}

impl About {
    /// One line for `planforge plugins list`.
    pub fn new(about: &str) -> Self {
        Self { about: about.to_owned(), ..Self::default() }
    }
    /// Something it can do beyond the least: `simulated` or `n` of a provider, `model` or `actions` of an environment,
    /// `external` of anything whose answers come from a program outside (they are kept for replay; `external:OPTION=VALUE` where
    /// that depends on an option),
    /// `worker` of a translator that calls [`crate::Host::worker`].
    #[must_use]
    pub fn capability(mut self, name: &str) -> Self {
        self.capabilities.push(name.to_owned());
        self
    }
    /// A language-model role it asks for.
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
    /// An option that holds the name of an environment variable; its value comes in [`Secrets`].
    #[must_use]
    pub fn secret(mut self, option: &str) -> Self {
        self.secrets.push(option.to_owned());
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
    /// How many calls one instance takes at a time; 0, the default, means any number.
    #[must_use]
    pub fn max_concurrency(mut self, calls: u32) -> Self {
        self.max_concurrency = calls;
        self
    }
}

/// Secret values by the name of the option that named their environment variable. Never printed by `{:?}`.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secrets(BTreeMap<String, String>);

impl Secrets {
    /// The value for an option; `None` where the option is absent or its variable is not set.
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
