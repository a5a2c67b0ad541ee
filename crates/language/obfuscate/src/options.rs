//! What is renamed, and how.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The kind of new names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Names {
    /// Made-up words that mean nothing.
    Random,
    /// Words of another setting, which would make for another domain.
    Misleading,
    /// The names stay; only the order may change.
    Original,
}

impl Names {
    /// The word in files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Misleading => "misleading",
            Self::Original => "original",
        }
    }
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Random, Self::Misleading, Self::Original];
}

/// What names name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Domains, problems and preferences.
    Domain,
    /// Types.
    Types,
    /// Predicates.
    Predicates,
    /// Numeric functions.
    Functions,
    /// Actions.
    Actions,
    /// Objects of problems.
    Objects,
    /// Objects that the domain has.
    Constants,
    /// Parameters and other variables.
    Parameters,
}

impl Kind {
    /// All kinds.
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

/// How a suite is disguised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The kind of new names.
    pub names: Names,
    /// Which names are exchanged. A name that names several things is where one of them is listed.
    pub what: BTreeSet<Kind>,
    /// Whether the texts are told in the new names too.
    pub texts: bool,
    /// Whether declarations, facts and conditions are put in another order.
    pub reorder: bool,
    /// New names and order derive from it, from the suite's name and from nothing else that could differ between two runs.
    pub seed: u64,
}

impl Options {
    /// Everything is exchanged and reordered.
    pub fn all(names: Names, seed: u64) -> Self {
        Self { names, what: Kind::ALL.into(), texts: true, reorder: true, seed }
    }
}
