//! The codes of this crate.

use planforge_diagnostics::CodeInfo;

macro_rules! codes {
    ($($code:literal, $title:literal, $text:literal;)*) => {
        /// Every code that this crate gives.
        pub const CODES: &[CodeInfo] = &[$(CodeInfo { code: $code, title: $title, explanation: $text }),*];
    };
}

codes! {
    "llm.config", "an invalid value in an [llm.NAME] table",
    "A key has the right type and an invalid value, for example `top_p = 0` or `max_concurrency = 0`, or there is a cap\n\
     on cost without the prices of prompts and completions: a missing price is unknown, not 0, so such a cap could not be\n\
     applied. State `price` in the table, or list the model in ~/.config/planforge/prices.toml.\n\
     All invalid values are listed at once.";
    "llm.unknown-model", "there is no such [llm.NAME] table",
    "A role points to a table that the pipeline file does not have. The message lists the existing tables.";
    "llm.empty-request", "a plugin sent an empty request",
    "A plugin sent a request without a message or for 0 replies. This is a fault of the plugin.";
    "llm.no-provider", "the model table has no provider",
    "The reply to a request is not recorded and the table has no provider, as in a run made for replay only.";
    "llm.no-grammar", "a request requires a grammar that the provider does not enforce",
    "A plugin was told to require a grammar (`grammar = \"require\"`), and the provider of a model table does not declare that its service\n\
     enforces one. Nothing was sent. State in the model table which server it is, such as `grammar = \"llama-cpp\"`, or write\n\
     `grammar = \"prefer\"` in the stage's options.";
    "llm.no-reply", "the server answered without a reply",
    "The server reported success and sent an empty list of choices. Some servers do so when a filter removes\n\
     every reply. The raw body is in the record.";
    "llm.connection", "the connection to the server failed",
    "No connection could be made, it was dropped, or only half a body arrived, `max_attempts` times in a row with growing\n\
     waits between. Check that the server runs and that `base_url` is right, then resume the run: answered requests\n\
     are not sent again.";
    "llm.timeout", "the server did not answer in time",
    "The provider's time limit for one request ran out on every attempt. Slow local models need a larger `timeout_s`, or\n\
     a smaller `max_tokens`.";
    "llm.rate-limited", "the server refuses so many requests (429)",
    "Every attempt was refused with status 429, though the waits grew and Retry-After was honoured up to\n\
     `max_backoff_ms`. Lower `max_concurrency`, set `requests_per_minute`, or resume later. Some servers also say 429 when\n\
     the account has no credit left; their text is in the message.";
    "llm.server", "the server failed (408 or 5xx)",
    "Every attempt ended with a status that reports an error of the server. Resume the run later.";
    "llm.authentication", "the server refuses the key (401 or 403), or its account has no credit left",
    "The key is wrong, expired, or may not use this model. It is not retried. `api_key_env` names the environment\n\
     variable that holds the key; the key itself appears in no file and no message.";
    "llm.not-found", "the server has no such model or path (404, or a redirect)",
    "Check `model` against the server's list of models, and `base_url`, which usually ends in /v1. A server that redirects is not\n\
     followed, because the key would go to the new address. If that address is right, set it as `base_url`.";
    "llm.bad-request", "the server refuses the request",
    "The server understood the request and refuses it (400, 422 and the like), so it is not retried. Often the cause is a field\n\
     of `extra_body`, or a sampling parameter that this model does not take (see the provider's option `omit`).";
    "llm.context-overflow", "the conversation is longer than the model's context",
    "The server refused the request because prompt and reply do not fit the model's context. Nothing is ever cut off\n\
     silently. Choose a model with a longer context, lower `max_tokens`, or a pipeline with shorter conversations.";
    "llm.malformed", "the server's answer is not a completion",
    "The server answered with status 200 and a body that is not a chat completion, usually because `base_url` points to\n\
     something else (a web page, another API).";
    "llm.budget", "a cap on calls, tokens or cost is reached",
    "`max_calls`, `max_total_tokens` or `max_cost_usd` of the table would be passed by the next request. Requests reserve\n\
     their share before they are sent, so concurrent ones cannot overshoot together. Recorded replies of the run\n\
     count too. If the role has another table, that one is asked instead. Raise the cap and resume the run: nothing is\n\
     paid for twice.";
    "llm.limit-too-low", "a cap is not above what is used",
    "`planforge runs limit` sets a cap of a run in progress to a value that its requests have already reached. Choose a higher\n\
     one, or end the run with Ctrl-C; its record can be resumed.";
    "llm.resting", "a model table is paused",
    "The last `rest_after` requests to this table all failed after their retries (no connection, no reply in time, key refused,\n\
     no quota left, server error), and the role has another table. So that not every request waits for the same retries, the\n\
     table is paused for `rest_s` seconds; then one request tries again. The last table of a list is never paused. The pause\n\
     is recorded, so a replay asks the tables in the same order.";
    "llm.cancelled", "the run was interrupted",
    "The run was interrupted while a request waited or was in flight. It is sent again on resume.";
    "llm.pending", "the reply is deferred",
    "In batch mode a request without a recorded reply is deferred and parks its candidate. The run continues with the others\n\
     and is resumed when the replies have arrived.";
    "llm.replay-miss", "a request of a replay is not recorded",
    "Replay never sends a request. The record does not hold this request at this place of the run. The message shows the nearest recorded request: the same place with another text (as a diff), the same\n\
     text at another place, or the closest place.\n\
     Usual causes: another seed or another order of stages than in the recording, a changed prompt template, an override that\n\
     changes model or sampling.";
}

#[cfg(test)]
mod tests {
    use super::CODES;
    use std::collections::BTreeSet;

    /// Every quoted code in this crate's sources.
    fn quoted_codes() -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src")).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                continue;
            }
            let text = std::fs::read_to_string(path).unwrap();
            for part in text.split('"').filter(|p| p.starts_with("llm.")) {
                if part.bytes().all(|b| b.is_ascii_lowercase() || b == b'.' || b == b'-')
                    && part.len() > "llm.".len()
                {
                    found.insert(part.to_owned());
                }
            }
        }
        found
    }

    #[test]
    fn every_code_that_is_given_is_explained_once() {
        let mut quoted = quoted_codes();
        // The name of an effect, not a code.
        quoted.remove("llm.complete");
        let mut explained: Vec<String> = CODES.iter().map(|c| c.code.to_owned()).collect();
        explained.sort();
        assert_eq!(quoted.into_iter().collect::<Vec<_>>(), explained);
        assert!(CODES.iter().all(|c| c.explanation.len() > 60 && !c.title.is_empty()));
    }
}
