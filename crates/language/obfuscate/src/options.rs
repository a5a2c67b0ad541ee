//! Options of a disguise, and the texts of a suite that it is made for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The kind of new names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NameStyle {
    /// Invented words without meaning.
    Random,
    /// Words of another setting, which suggest another domain.
    Misleading,
    /// The names stay; only the order may change.
    Original,
}

impl NameStyle {
    /// The word in files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Misleading => "misleading",
            Self::Original => "original",
        }
    }
    pub const ALL: [Self; 3] = [Self::Random, Self::Misleading, Self::Original];
}

/// Kinds of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NameGroup {
    /// Domains, problems and preferences.
    Domain,
    /// Types.
    Types,
    /// Predicates.
    Predicates,
    /// Numeric functions.
    Functions,
    /// Action schemas.
    Actions,
    /// Objects of problems.
    Objects,
    /// Constants of the domain.
    Constants,
    /// Parameters and other variables.
    Parameters,
}

impl NameGroup {
    pub const ALL: [Self; 8] = [
        Self::Domain,
        Self::Types,
        Self::Predicates,
        Self::Functions,
        Self::Actions,
        Self::Objects,
        Self::Constants,
        Self::Parameters,
    ];
    /// The word in files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Domain => "domain",
            Self::Types => "types",
            Self::Predicates => "predicates",
            Self::Functions => "functions",
            Self::Actions => "actions",
            Self::Objects => "objects",
            Self::Constants => "constants",
            Self::Parameters => "parameters",
        }
    }
}

/// Options of a disguise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DisguiseOptions {
    /// The kind of new names.
    pub names: NameStyle,
    /// Kinds of names to replace. A name of several kinds is replaced if one of them is listed.
    pub what: BTreeSet<NameGroup>,
    /// True to use the new names in texts too.
    pub texts: bool,
    /// True to reorder declarations, facts and conditions.
    pub reorder: bool,
    /// New names and order depend only on the seed and the suite.
    pub seed: u64,
}

impl DisguiseOptions {
    /// Replaces every name, and reorders everything.
    pub fn all(names: NameStyle, seed: u64) -> Self {
        Self { names, what: NameGroup::ALL.into(), texts: true, reorder: true, seed }
    }
}

/// The documents of a suite. All names and words are collected before the first is replaced.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    pub suite: String,
    /// Every domain of it.
    pub domains: Vec<String>,
    /// Every problem of it.
    pub problems: Vec<String>,
    /// Every text in plain language.
    pub texts: Vec<String>,
}
