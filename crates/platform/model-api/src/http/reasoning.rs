//! The option `reasoning` of providers.

use crate::http::unsupported;
use planforge_contract::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The amount that a model reasons before it answers: `"none"`, `"low"`, `"medium"`, `"high"`, or a number of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Reasoning {
    /// A level; the service decides about the tokens.
    Level(ReasoningLevel),
    /// Most tokens of the reasoning, at least 1.
    Tokens(u32),
}

impl Reasoning {
    /// The level, for the interfaces of OpenAI.
    ///
    /// # Errors
    /// `provider.unsupported` for a number of tokens.
    pub fn level(self) -> Result<ReasoningLevel, Failure> {
        match self {
            Self::Level(level) => Ok(level),
            Self::Tokens(_) => Err(unsupported(
                "OpenAI's interfaces have no field for a number of reasoning tokens",
                "set `reasoning` to \"none\", \"low\", \"medium\" or \"high\"",
            )),
        }
    }
}

/// Levels of reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReasoningLevel {
    /// No reasoning.
    None,
    /// Little.
    Low,
    /// Between the two.
    Medium,
    /// Much.
    High,
}

impl ReasoningLevel {
    /// The level's name in options and requests.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}
