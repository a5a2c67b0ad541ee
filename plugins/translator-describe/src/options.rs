//! The options of the plugin.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The text to write.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// The domain's text.
    #[default]
    DomainText,
    /// The task's text.
    TaskText,
    /// The sentences of each fact, for true and for false.
    Sentences,
    /// The meaning of each type.
    Types,
}

impl Mode {
    /// The word for it: in the option, in the tags of a request, and as the name of the text that is written.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::DomainText => "domain-text",
            Self::TaskText => "task-text",
            Self::Sentences => "sentences",
            Self::Types => "types",
        }
    }
}

/// Options of `translator-describe`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DescribeOptions {
    /// The text to write: `domain-text`, `task-text`, `sentences` or `types`.
    pub mode: Mode,
    /// Most in-context examples of other domains that are shown. Left out: all that there are.
    pub examples: Option<u32>,
    /// Replaces the system text. An empty text leaves the system turn out.
    pub system: Option<String>,
}
