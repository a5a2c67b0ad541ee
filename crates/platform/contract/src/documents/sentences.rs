//! Sentences of a suite for facts and numbers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Sentences for the atoms of a predicate (paper, Appendix C). `{1}`, `{2}`, ... stand for its arguments, `{value}` for a function's value.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Sentences {
    /// Sentence for an atom that holds, for example `{1} is at {2}.`
    pub yes: String,
    /// Sentence for an atom that does not hold; empty if the suite leaves such atoms out.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub no: String,
}

/// Slots of one sentence.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SentenceSlots {
    /// The highest `{N}`; 0 where there is none.
    pub highest: usize,
    /// True if `{value}` occurs.
    pub value: bool,
}

/// Reads the slots of a sentence.
///
/// # Errors
/// A placeholder that is neither a number from 1 nor `value`, or a brace without its partner.
pub fn sentence_slots(sentence: &str) -> Result<SentenceSlots, String> {
    let mut found = SentenceSlots::default();
    let mut rest = sentence;
    while let Some(at) = rest.find(['{', '}']) {
        let (_, from) = rest.split_at(at);
        let Some(inner) = from.strip_prefix('{').and_then(|r| r.split_once('}')) else {
            return Err("a brace has no partner".to_owned());
        };
        let (slot, after) = inner;
        match slot.parse::<usize>() {
            Ok(number) if number > 0 && !slot.starts_with('+') => found.highest = found.highest.max(number),
            _ if slot == "value" => found.value = true,
            _ => return Err(format!("`{{{slot}}}` is no slot")),
        }
        rest = after;
    }
    Ok(found)
}
