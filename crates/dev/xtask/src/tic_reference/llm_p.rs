//! Patterns for the texts of the seven LLM+P domains, one file a domain.

mod barman;
mod blocksworld;
mod floortile;
mod grippers;
mod storage;
mod termes;
mod tyreworld;

use super::patterns::Pattern;

/// Domains and their patterns.
pub(crate) const DOMAINS: [(&str, &[Pattern]); 7] = [
    ("barman", barman::PATTERNS),
    ("blocksworld", blocksworld::PATTERNS),
    ("floortile", floortile::PATTERNS),
    ("grippers", grippers::PATTERNS),
    ("storage", storage::PATTERNS),
    ("termes", termes::PATTERNS),
    ("tyreworld", tyreworld::PATTERNS),
];
