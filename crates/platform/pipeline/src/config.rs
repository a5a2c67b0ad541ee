//! A checked pipeline as plain data. The JSON schema that editors use is derived from these types.

use crate::stages::{Stage, all_stages};
use crate::suite::GivenSpec;
use planforge_contract::{JsonObject, Price};
use planforge_obfuscate::{DisguiseOptions, NameGroup, NameStyle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The schema number of pipeline files that this version reads.
pub const PIPELINE_SCHEMA: u32 = 1;

/// A planforge pipeline: stages over a beam of candidates, and the models that they ask.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pipeline {
    /// Version of this file format.
    #[schemars(range(min = 1, max = 1))]
    pub schema: u32,
    /// One line about the method.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// Every random choice of a run derives from this.
    #[serde(default)]
    pub seed: u64,
    /// Declares that feedback to a model may contain results of the environment. Without it such feedback is
    /// withheld.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<FeedbackSource>,
    /// Parts of the suite's reference that the method is given. All others are withheld.
    #[serde(default)]
    pub given: GivenSpec,
    /// Runs the suites under other names and in another order, so that what a model has read of them does not help it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub obfuscate: Option<ObfuscateTable>,
    /// Limits of the run.
    #[serde(default)]
    pub limits: RunLimits,
    /// The language models, by the name that `roles` uses.
    #[serde(default)]
    pub llm: BTreeMap<String, LlmTable>,
    /// The environment that executes actions. The host opens it with the task's reference; this file never
    /// names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<EnvironmentTable>,
    /// The stages, in order.
    #[serde(rename = "stage")]
    #[schemars(length(min = 1))]
    pub stages: Vec<Stage>,
}

/// Sources of feedback beside the verifiers' own reading of the candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FeedbackSource {
    /// The environment, which knows the reference.
    Environment,
}

/// Limits of a run. What is left out is not limited by the file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RunLimits {
    /// Most plugin calls at a time; the command line can override it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1024))]
    pub jobs: Option<u32>,
    /// Seconds after which a plugin call is given up as a failure. Left out: 600 seconds without an answer or progress end a call;
    /// a call that reports progress, or that waits for a model, the environment or a planner, goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.001, max = 1000000.0))]
    pub call_deadline_s: Option<f64>,
}

/// One language model: the provider, the host's settings, and the provider's own options.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LlmTable {
    /// The id of a provider plugin.
    #[serde(rename = "use")]
    pub plugin: String,
    /// The host's settings (such as `model` and `temperature`) and the provider's options.
    #[serde(flatten)]
    pub settings: JsonObject,
}

impl LlmTable {
    /// The provider's options.
    pub fn provider_options(&self) -> JsonObject {
        planforge_llm::split_table(&self.settings).1
    }

    /// The stated prices.
    pub(crate) fn price(&self) -> Price {
        let price = self.settings.get("price").cloned();
        price.and_then(|price| serde_json::from_value(price).ok()).unwrap_or_default()
    }
}

/// The environment of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EnvironmentTable {
    /// The id of an environment plugin.
    #[serde(rename = "use")]
    pub plugin: String,
    /// Number of reference problems in the environment's model: the task's own first, then others of the
    /// suite in order, at most all of them. Verifiers of domains compare over all of them.
    #[serde(default = "crate::stages::one", skip_serializing_if = "crate::stages::is_one")]
    #[schemars(range(min = 1, max = 100))]
    pub problems: u32,
    /// The plugin's options.
    #[serde(default, skip_serializing_if = "JsonObject::is_empty")]
    pub options: JsonObject,
}

impl Pipeline {
    /// All stages in the order of the file, each refine and budget stage followed by the stages inside of it.
    pub fn all_stages(&self) -> impl Iterator<Item = &Stage> {
        all_stages(&self.stages)
    }
    /// The refine or budget stage that contains the stage with that label.
    pub fn around(&self, label: &str) -> Option<&Stage> {
        self.stages.iter().find(|stage| stage.inner().any(|inner| inner.label() == label))
    }
    /// The stage with that label, inside another stage or not.
    pub fn stage(&self, label: &str) -> Option<&Stage> {
        self.all_stages().find(|stage| stage.label() == label)
    }
}

/// The JSON schema of pipeline files, as `planforge check --schema` prints it.
pub fn pipeline_schema() -> serde_json::Value {
    let mut schema = schemars::schema_for!(Pipeline);
    schema.insert("title".to_owned(), "planforge pipeline".into());
    let mut schema = schema.to_value();
    // A model's table holds the host's keys, which are known here, beside the provider's options, which are not.
    let host = schemars::SchemaGenerator::default()
        .into_root_schema_for::<planforge_llm::ModelSettings>()
        .to_value();
    let table = schema.pointer_mut("/$defs/LlmTable").and_then(serde_json::Value::as_object_mut);
    if let (Some(table), Some(properties), Some(required)) =
        (table, host.get("properties"), host.get("required"))
    {
        table.insert("properties".to_owned(), properties.clone());
        table.insert("required".to_owned(), required.clone());
    }
    let defs = host.get("$defs").and_then(serde_json::Value::as_object);
    if let (Some(defs), Some(all)) =
        (defs, schema.get_mut("$defs").and_then(serde_json::Value::as_object_mut))
    {
        all.extend(defs.clone());
    }
    schema
}

/// The obfuscation of suites before tasks are made of them; results are reported under the original names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ObfuscateTable {
    /// `random` names are made up, `misleading` ones come from another setting, and with `original` only the order changes.
    pub names: NameStyle,
    /// Kinds of names to exchange; all by default.
    #[serde(default = "all", skip_serializing_if = "is_all")]
    #[schemars(length(min = 1))]
    pub what: Vec<NameGroup>,
    /// Uses the new names in the texts too.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub texts: bool,
    /// Shuffles declarations, facts, conditions and effects.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub reorder: bool,
    /// Names and order derive from this and the suite's name; from the seed of the run where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

impl Pipeline {
    /// The options for obfuscating suites; none without `[obfuscate]`.
    pub fn disguise(&self) -> Option<DisguiseOptions> {
        let table = self.obfuscate.as_ref()?;
        Some(DisguiseOptions {
            names: table.names,
            what: table.what.iter().copied().collect(),
            texts: table.texts,
            reorder: table.reorder,
            seed: table.seed.unwrap_or(self.seed),
        })
    }
}

fn all() -> Vec<NameGroup> {
    NameGroup::ALL.to_vec()
}

fn is_all(what: &[NameGroup]) -> bool {
    NameGroup::ALL.iter().all(|kind| what.contains(kind))
}

const fn yes() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
const fn is_yes(flag: &bool) -> bool {
    *flag
}
