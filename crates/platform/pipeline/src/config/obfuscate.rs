//! `[obfuscate]`: the suites under other names.

use super::Pipeline;
use planforge_obfuscate::{Kind, Names, Options};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How suites are disguised before a task is made of them; what comes out is reported under the original names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ObfuscateTable {
    /// `random` names are made up, `misleading` ones come from another setting, and with `original` only the order changes.
    pub names: Names,
    /// Which names are exchanged: all kinds, unless some are listed.
    #[serde(default = "all", skip_serializing_if = "is_all")]
    #[schemars(length(min = 1))]
    pub what: Vec<Kind>,
    /// Whether the texts are told in the new names too.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub texts: bool,
    /// Whether declarations, facts, conditions and effects are put in another order.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub reorder: bool,
    /// Names and order derive from this and the suite's name; from the seed of the run where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

impl Pipeline {
    /// How the suites of a run are disguised; none where they are not.
    pub fn disguise(&self) -> Option<Options> {
        let table = self.obfuscate.as_ref()?;
        Some(Options {
            names: table.names,
            what: table.what.iter().copied().collect(),
            texts: table.texts,
            reorder: table.reorder,
            seed: table.seed.unwrap_or(self.seed),
        })
    }
}

fn all() -> Vec<Kind> {
    Kind::ALL.to_vec()
}

fn is_all(what: &[Kind]) -> bool {
    Kind::ALL.iter().all(|kind| what.contains(kind))
}

const fn yes() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
const fn is_yes(flag: &bool) -> bool {
    *flag
}
