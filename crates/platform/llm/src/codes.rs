//! The codes of this crate.

use planforge_diagnostics::CodeInfo;

macro_rules! codes {
    ($($code:literal, $title:literal, $text:literal;)*) => {
        /// Every code that this crate gives.
        pub const CODES: &[CodeInfo] = &[$(CodeInfo { code: $code, title: $title, explanation: $text }),*];
    };
}

codes! {
    "llm.config", "a value of an [llm.NAME] table makes no sense",
    "A key has the right type and an impossible value, for example `top_p = 0` or `max_concurrency = 0`, or a cap on\n\
     cost stands without both prices: a price that is not given is unknown, never 0, so such a cap could not hold.\n\
     All of them are listed at once.";
    "llm.unknown-model", "there is no such [llm.NAME] table",
    "A role points to a table that the pipeline file does not have. The message lists the tables there are.";
    "llm.empty-request", "a plugin asked nothing",
    "A plugin sent a request without a message or for 0 replies. This is a fault of the plugin.";
    "llm.no-provider", "nobody to ask",
    "A question was found in no record and the table has no provider, as in a run made for replay only.";
    "llm.no-reply", "the server answered without a reply",
    "The server said that all went well and sent an empty list of choices. Some servers do so when a filter holds\n\
     everything back. The raw body is in the record.";
    "llm.connection", "the connection to the server failed",
    "No connection could be made, it was dropped, or only half a body arrived, `max_attempts` times in a row with growing\n\
     waits between. Check that the server runs and that `base_url` is right, then resume the run: answered questions\n\
     are not asked again.";
    "llm.timeout", "the server did not answer in time",
    "The provider's time limit for one request ran out on every attempt. Slow local models need a larger `timeout_s`, or\n\
     a smaller `max_tokens`.";
    "llm.rate-limited", "the server refuses so many requests (429)",
    "Every attempt was refused with status 429, though the waits grew and Retry-After was honoured up to\n\
     `max_backoff_ms`. Lower `max_concurrency`, set `requests_per_minute`, or resume later. Some servers also say 429 when\n\
     the account has no credit left; their words are in the message.";
    "llm.server", "the server failed (408 or 5xx)",
    "Every attempt ended with a status that means trouble on the server's side. Resume the run later.";
    "llm.authentication", "the server refuses the key (401 or 403)",
    "The key is wrong, expired, or may not use this model. It is never tried again. `api_key_env` names the environment\n\
     variable that holds the key; the key itself appears in no file and no message.";
    "llm.not-found", "the server has no such model or path (404, or a redirect)",
    "Check `model` against the server's list of models, and `base_url`, which usually ends in /v1. A server that redirects is not\n\
     followed, because the key would go to whoever it names: give the new address as `base_url` where it is right.";
    "llm.bad-request", "the server refuses the request",
    "The server understood the request and refuses it (400, 422 and the like), so asking again would not help. Often a field\n\
     of `extra_body`, or a sampling parameter that this model does not take (see the provider's option `omit`).";
    "llm.context-overflow", "the conversation is longer than the model's context",
    "The server refused the request because prompt and reply do not fit the model's context. Nothing is ever cut off\n\
     silently. Choose a model with a longer context, lower `max_tokens`, or a pipeline that carries less history.";
    "llm.malformed", "the server's answer is not a completion",
    "The server answered with status 200 and a body that is not a chat completion, usually because `base_url` points to\n\
     something else (a web page, another API).";
    "llm.budget", "a cap on calls, tokens or cost is reached",
    "`max_calls`, `max_total_tokens` or `max_cost_usd` of the table would be passed by the next request. Requests reserve\n\
     their share before they are sent, so concurrent ones cannot overshoot together. Answers found in the run's record\n\
     count too. Where the role has another table, that one is asked instead. Raise the cap and resume the run: nothing is\n\
     paid for twice.";
    "llm.resting", "a table is left out for a while",
    "The last questions that this table was asked all failed after their retries (`rest_after` of them in a row: no connection,\n\
     no answer in time, key refused, no quota left, server trouble), and the role has another table. So that not every question\n\
     waits for the same retries, it is left out for `rest_s` seconds; then one question tries again. The last table of a list\n\
     is always asked. That it was left out is in the record, so a replay asks in the same order.";
    "llm.cancelled", "the run was interrupted",
    "The run was interrupted while a question waited or was in flight. It is asked again on resume.";
    "llm.pending", "the answer comes later",
    "In batch mode a question that is in no record parks its candidate; the run goes on with the others and is resumed when\n\
     the answers are there.";
    "llm.replay-miss", "replay asks for something that was not recorded",
    "Replay never asks a model. It looked for exactly this request at exactly this place of the run and found neither in\n\
     the record. The message shows the nearest recorded request: the same place with another text (as a diff), the same\n\
     text at another place, or the closest place.\n\
     Usual causes: another seed or another order of stages than in the recording, a changed prompt template, an override that\n\
     changes model or sampling.";
}

#[cfg(test)]
mod tests {
    use super::CODES;
    use std::collections::BTreeSet;

    /// Every code that stands in quotes in this crate's sources.
    fn quoted_codes() -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src")).unwrap() {
            let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
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
