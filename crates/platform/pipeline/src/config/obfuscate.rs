//! `[obfuscate]`: the suites under other names.

use super::Pipeline;
use planforge_obfuscate::{DisguiseOptions, NameGroup, NameStyle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
