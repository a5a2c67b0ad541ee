//! Patterns for the texts of seven suites of our own (`examples/suites`), one file a suite.

mod barman;
mod blocks;
mod floortile;
mod grippers;
mod storage;
mod termes;
mod tyres;

use super::patterns::Pattern;

/// Suites and their patterns.
pub(crate) const SUITES: [(&str, &[Pattern]); 7] = [
    ("barman", barman::PATTERNS),
    ("blocks", blocks::PATTERNS),
    ("floortile", floortile::PATTERNS),
    ("grippers", grippers::PATTERNS),
    ("storage", storage::PATTERNS),
    ("termes", termes::PATTERNS),
    ("tyres", tyres::PATTERNS),
];
