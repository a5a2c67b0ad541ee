//! The reasons that servers state for the end of a reply, and what they mean. One table serves all interfaces.

use planforge_contract::{FinishReason, ProviderFailure, ProviderFailureClass, Reply};

/// Meaning of a stated reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FinishMeaning {
    /// The reply ended in a way that the protocol has.
    Ended(FinishReason),
    /// The server broke down; a later request may be answered.
    Outage,
    /// A reason without an entry, as the server wrote it.
    Unknown(String),
    /// The server stated none.
    Unstated,
}

const STOP: FinishMeaning = FinishMeaning::Ended(FinishReason::Stop);
const LENGTH: FinishMeaning = FinishMeaning::Ended(FinishReason::Length);
const REFUSED: FinishMeaning = FinishMeaning::Ended(FinishReason::ContentFilter);

/// The reasons, in lower case and with `_` between words.
const REASONS: &[(&[&str], FinishMeaning)] = &[
    (
        &[
            "stop",
            "eos",
            "eos_token",
            "end_turn",
            "stop_sequence",
            "tool_calls",
            "tool_use",
            "function_call",
            "complete",
            "completed",
        ],
        STOP,
    ),
    (
        &[
            "length",
            "max_tokens",
            "max_output_tokens",
            "max_completion_tokens",
            "max_length",
            "model_length",
            "token_limit",
            "context_window_exceeded",
            "context_length_exceeded",
            "model_context_window_exceeded",
        ],
        LENGTH,
    ),
    (
        &[
            "content_filter",
            "content_filtered",
            "content_policy_violation",
            "guardrail_intervened",
            "moderation",
            "sensitive",
            "safety",
            "image_safety",
            "blocked",
            "blocklist",
            "prohibited_content",
            "recitation",
            "language",
            "spii",
            "refusal",
            "refused",
        ],
        REFUSED,
    ),
    (
        &[
            "insufficient_system_resource",
            "network_error",
            "overloaded",
            "overloaded_error",
            "server_error",
            "internal_error",
            "internal_server_error",
            "service_unavailable",
            "unavailable",
            "engine_overloaded",
            "error",
            "timeout",
            "abort",
            "aborted",
        ],
        FinishMeaning::Outage,
    ),
    // The protobuf default of Gemini, and what templates print for a missing value.
    (&["", "null", "none", "finish_reason_unspecified"], FinishMeaning::Unstated),
];

/// Longest part of an unknown reason that is kept, in characters.
const MOST_CHARACTERS: usize = 100;

/// Returns the meaning of a reason. Case does not matter, and neither do `-` and spaces for `_`.
pub fn meaning_of_finish(reason: Option<&str>) -> FinishMeaning {
    let Some(reason) = reason.map(str::trim) else { return FinishMeaning::Unstated };
    let key: String = reason
        .chars()
        .take(MOST_CHARACTERS)
        .map(|c| if matches!(c, '-' | ' ') { '_' } else { c.to_ascii_lowercase() })
        .collect();
    let entry = REASONS.iter().find(|(reasons, _)| reasons.contains(&key.as_str()));
    match entry {
        Some((_, meaning)) => meaning.clone(),
        None => FinishMeaning::Unknown(reason.chars().take(MOST_CHARACTERS).collect()),
    }
}

impl FinishMeaning {
    /// The reason in the protocol's terms. [`FinishMeaning::Outage`] is no end of a reply and has none.
    pub const fn finish(&self) -> FinishReason {
        match self {
            Self::Ended(finish) => *finish,
            Self::Outage | Self::Unknown(_) | Self::Unstated => FinishReason::Other,
        }
    }

    /// Adds an unknown reason to a reply.
    pub fn note(self, reply: Reply) -> Reply {
        match self {
            Self::Unknown(reason) if reply.finish == FinishReason::Other => {
                Reply { stated_finish: Some(reason), ..reply }
            }
            _ => reply,
        }
    }
}

/// The failure of an answer that an outage ended. `reason` is the server's word for it.
pub fn outage(reason: &str) -> ProviderFailure {
    let reason: String = reason.chars().take(MOST_CHARACTERS).collect();
    ProviderFailure {
        class: ProviderFailureClass::Server,
        status: Some(200),
        retry_after_ms: None,
        usage: None,
        message: format!("the server ended the reply with `{reason}`, an outage"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_reason_has_one_meaning_whatever_its_spelling() {
        let all: Vec<&str> = REASONS.iter().flat_map(|(reasons, _)| reasons.iter().copied()).collect();
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "a reason stands twice");
        let unknown = |reason: &str| FinishMeaning::Unknown(reason.to_owned());
        for (reason, meaning) in [
            ("stop", STOP),
            ("end_turn", STOP),
            ("STOP", STOP),
            ("MAX_TOKENS", LENGTH),
            ("model_context_window_exceeded", LENGTH),
            ("content-filter", REFUSED),
            ("sensitive", REFUSED),
            ("SAFETY", REFUSED),
            ("blocked", REFUSED),
            ("insufficient_system_resource", FinishMeaning::Outage),
            ("network_error", FinishMeaning::Outage),
            ("Overloaded", FinishMeaning::Outage),
            ("", FinishMeaning::Unstated),
            ("null", FinishMeaning::Unstated),
            ("pause_turn", unknown("pause_turn")),
            ("MALFORMED_FUNCTION_CALL", unknown("MALFORMED_FUNCTION_CALL")),
        ] {
            assert_eq!(meaning_of_finish(Some(reason)), meaning, "{reason}");
        }
        assert_eq!(meaning_of_finish(None), FinishMeaning::Unstated);
        let long = "x".repeat(10_000);
        assert_eq!(meaning_of_finish(Some(&long)), unknown(&long[..MOST_CHARACTERS]));
    }
}
