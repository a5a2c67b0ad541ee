//! Optional capabilities of a plugin, and upper bounds on the requests that one of its calls makes to models.

use crate::JsonObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};
use std::collections::BTreeMap;
use std::ops::{Add, Mul};

/// Optional capabilities of a plugin. All are off by default; each applies to the kinds that its comment names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Capabilities {
    /// Provider: replies come from a simulation, not from a language model. Reports mark such results.
    #[serde(skip_serializing_if = "is_false")]
    pub simulated: bool,
    /// Provider: replies may arrive in a later session (batch interfaces).
    #[serde(skip_serializing_if = "is_false")]
    pub deferred: bool,
    /// Provider: one request may ask for several replies (`n` of an OpenAI-compatible server), unless `lacks` says otherwise.
    #[serde(skip_serializing_if = "is_false")]
    pub several_replies: bool,
    /// Provider: the settings of a request that the service lacks. A check refuses pipelines that need them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub lacks: BTreeMap<RequestSetting, Applies>,
    /// Provider: the highest temperature that the service accepts; absent if it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub highest_temperature: Option<Number>,
    /// Provider: the service enforces the grammar of a request ([`Constraint`](crate::Constraint)).
    #[serde(skip_serializing_if = "Applies::is_never")]
    pub enforces_grammars: Applies,
    /// Plugins with roles: requires a grammar in its requests, so the models must be of a provider that enforces it.
    #[serde(skip_serializing_if = "Applies::is_never")]
    pub requires_grammar: Applies,
    /// Plugins with roles: requests token log-probabilities, so the models must be of a provider that returns them.
    #[serde(skip_serializing_if = "Applies::is_never")]
    pub logprobs: Applies,
    /// Translator: calls [`Host::worker`](crate::api::Host::worker), which is otherwise refused. Planners always may.
    #[serde(skip_serializing_if = "is_false")]
    pub worker: bool,
    /// Translator: writes domains alone, so a problem that no domain repairs is not passed on to it in rounds.
    #[serde(skip_serializing_if = "Applies::is_never")]
    pub domain_only: Applies,
    /// Environment: simulates the reference that it is opened with, so the names in that reference may be exchanged.
    #[serde(skip_serializing_if = "is_false")]
    pub reference_model: bool,
    /// Verifier: asks the task's environment, so the pipeline must have one.
    #[serde(skip_serializing_if = "Applies::is_never")]
    pub environment: Applies,
    /// Verifier: compares several candidates in one call, so the host passes all that it has.
    #[serde(skip_serializing_if = "Applies::is_never")]
    pub together: Applies,
    /// Any kind: results come from an external program, so the host journals them and replays the journalled ones.
    #[serde(skip_serializing_if = "Applies::is_never")]
    pub external: Applies,
    /// Plugins with roles: upper bounds on the requests of one call. The first bound whose condition holds counts; a pipeline with a
    /// plugin that has roles and no such bound has no bound.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<RequestBound>,
}

const fn is_false(flag: &bool) -> bool {
    !*flag
}

/// A setting of a request that a service may lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RequestSetting {
    /// Several replies to one request (`n`). The host repeats the request instead.
    Replies,
    /// The seed. It is not sent, so a repeated request may get another reply.
    Seed,
    /// Texts that end a reply. A request that has some is refused.
    Stop,
    /// Token log-probabilities. A request for them is refused.
    Logprobs,
}

/// The uses of a plugin for which a capability holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Applies {
    /// For no use.
    #[default]
    Never,
    /// For every use.
    Always,
    /// For uses whose options meet at least one of these conditions.
    Where(Vec<OptionCondition>),
}

impl Applies {
    /// True for [`Applies::Never`].
    pub const fn is_never(&self) -> bool {
        matches!(self, Self::Never)
    }

    /// True if the capability holds for a plugin with this options schema and these options; an option that is left out has its schema's default.
    pub fn holds(&self, schema: &Value, options: &JsonObject) -> bool {
        match self {
            Self::Never => false,
            Self::Always => true,
            Self::Where(conditions) => conditions.iter().any(|condition| condition.holds(schema, options)),
        }
    }
}

/// A condition on one option of a plugin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OptionCondition {
    /// The option's name.
    pub option: String,
    /// The values that meet the condition. A value that is not a string is written as JSON: `true`, `1`.
    pub values: Vec<String>,
    /// Further conditions that must be met too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub and: Vec<OptionCondition>,
}

impl OptionCondition {
    /// A condition that any of these values meets.
    pub fn new(option: &str, values: &[&str]) -> Self {
        let values = values.iter().map(|value| (*value).to_owned()).collect();
        Self { option: option.to_owned(), values, and: Vec::new() }
    }

    /// The same condition, met only where another one is met too.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.and.push(other);
        self
    }

    /// True if the option has one of the values and all further conditions hold, by the plugin's options schema and its options; an option that is left out has its schema's default.
    pub fn holds(&self, schema: &Value, options: &JsonObject) -> bool {
        let Some(value) = option_value(schema, options, &self.option) else { return false };
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        self.values.contains(&text) && self.and.iter().all(|other| other.holds(schema, options))
    }
}

/// The value of an option: the given one, else the default in the options schema, else `None`.
pub(super) fn option_value(schema: &Value, options: &JsonObject, name: &str) -> Option<Value> {
    let default = || schema.get("properties")?.get(name)?.get("default").cloned();
    options.get(name).cloned().or_else(default)
}

/// An upper bound on the requests that one call makes to models.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RequestBound {
    /// The number of requests.
    pub count: RequestCount,
    /// The uses that it holds for; absent for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<OptionCondition>,
}

/// A number of requests as an expression, written with `+` and `*`: `Samples * Actions * 2 + Samples`.
///
/// A request asks for one reply, except those of `RequestCount::for_all_samples`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RequestCount {
    /// A constant.
    Number(u64),
    /// The samples that a translate stage asks for; 1 in other stages.
    Samples,
    /// The actions of the task.
    Actions,
    /// The value of an option, which is a whole number.
    Option(String),
    /// So many requests, each of which asks for the replies of all samples at once.
    ForAllSamples(u64),
    /// The product of all parts.
    Product(Vec<RequestCount>),
    /// The sum of all parts.
    Sum(Vec<RequestCount>),
}

impl RequestCount {
    /// The value of an option, which is a whole number.
    pub fn option(name: &str) -> Self {
        Self::Option(name.to_owned())
    }
}

impl From<u64> for RequestCount {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl<T: Into<RequestCount>> Add<T> for RequestCount {
    type Output = Self;
    fn add(self, other: T) -> Self {
        let mut parts = match self {
            Self::Sum(parts) => parts,
            part => vec![part],
        };
        parts.push(other.into());
        Self::Sum(parts)
    }
}

impl<T: Into<RequestCount>> Mul<T> for RequestCount {
    type Output = Self;
    fn mul(self, other: T) -> Self {
        let mut factors = match self {
            Self::Product(factors) => factors,
            factor => vec![factor],
        };
        factors.push(other.into());
        Self::Product(factors)
    }
}
