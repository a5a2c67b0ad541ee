//! Help from the text of a server's error: the key of a model table that solves it.
//!
//! The texts are those that the services send, as their references and the reports of users quote them (read in 2026-11). A
//! text that is not in the table keeps the help of its class.

use planforge_contract::{ProviderFailure, ProviderFailureClass};

/// A way to solve an error of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorHint {
    /// One action, for a person.
    pub help: String,
    /// The change of the model table, where one change is enough.
    pub change: Option<TableChange>,
}

/// A change of an `[llm.NAME]` table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableChange {
    /// Sets a key to a TOML value.
    Set(&'static str, &'static str),
    /// Adds a field to the list `omit`.
    Omit(&'static str),
    /// Removes a key.
    Remove(&'static str),
}

/// A known error. `TABLE` and `MODEL` in the help are replaced by the table's header and its model.
struct KnownError {
    /// Phrases in lower case that all occur in the error.
    phrases: &'static [&'static str],
    help: &'static str,
    change: Option<TableChange>,
}

const fn known(phrases: &'static [&'static str], help: &'static str) -> KnownError {
    KnownError { phrases, help, change: None }
}

const fn solved(
    phrases: &'static [&'static str],
    help: &'static str,
    key: &'static str,
    value: &'static str,
) -> KnownError {
    KnownError { phrases, help, change: Some(TableChange::Set(key, value)) }
}

/// The first match counts.
const KNOWN_ERRORS: &[KnownError] = &[
    // OpenAI and Azure, o1 and later (github.com/microsoft/vscode-copilot-release/issues/8065).
    solved(
        &["max_completion_tokens' instead"],
        "set `max_tokens_field = \"max_completion_tokens\"` in TABLE",
        "max_tokens_field",
        "\"max_completion_tokens\"",
    ),
    // vLLM, and OpenAI's older text ("... in the messages, ... in the completion").
    known(
        &["maximum context length", "is too large"],
        "lower `max_tokens` in TABLE, or serve the model with a longer context",
    ),
    known(
        &["maximum context length", "in the completion"],
        "lower `max_tokens` in TABLE, or choose a model with a longer context",
    ),
    // OpenAI: "max_tokens is too large: 100000. This model supports at most 16384 completion tokens".
    known(&["max_tokens", "is too large"], "lower `max_tokens` in TABLE to what the model can write"),
    // Anthropic: "max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens for ...".
    known(
        &["maximum allowed number of output tokens"],
        "lower `max_tokens` in TABLE to what the model can write",
    ),
    // Anthropic (github.com/infiniflow/ragflow/issues/11815).
    known(&["`temperature` and `top_p` cannot both"], "keep one of `temperature` and `top_p` in TABLE"),
    // Anthropic (github.com/MartialBE/one-hub/issues/529).
    solved(
        &["temperature", "may only be set to 1 when thinking is enabled"],
        "set `temperature = 1` in TABLE, or `reasoning = \"none\"`",
        "temperature",
        "1.0",
    ),
    // Anthropic, extended thinking.
    known(
        &["must be greater than", "budget_tokens"],
        "raise `max_tokens` in TABLE above the number of tokens in `reasoning`",
    ),
    known(&["budget_tokens", "1024"], "set `reasoning` in TABLE to a number from 1024 up, or to a level"),
    known(
        &["adaptive thinking is not supported"],
        "set `reasoning` in TABLE to a number of tokens, or remove it",
    ),
    known(
        &["thinking.type.enabled", "not supported"],
        "set `reasoning` in TABLE to a level, such as \"medium\"",
    ),
    // Gemini (github.com/docker/docker-agent/issues/2051, earendil-works/pi/issues/3460, pydantic/pydantic-ai/issues/1967).
    KnownError {
        phrases: &["only works in thinking mode"],
        help: "remove `reasoning` from TABLE, or set it to a level: this model always reasons",
        change: Some(TableChange::Remove("reasoning")),
    },
    KnownError {
        phrases: &["thinking_budget to 0"],
        help: "remove `reasoning` from TABLE, or set it to a level: this model always reasons",
        change: Some(TableChange::Remove("reasoning")),
    },
    KnownError {
        phrases: &["thinking can't be disabled"],
        help: "remove `reasoning` from TABLE, or set it to a level: this model always reasons",
        change: Some(TableChange::Remove("reasoning")),
    },
    // Gemini (github.com/RooCodeInc/Roo-Code/issues/4399).
    known(
        &["thinking budget", "is invalid"],
        "set `reasoning` in TABLE to a number of tokens that the model takes, or to a level",
    ),
    known(&["thinking level is not supported"], "set `reasoning` in TABLE to a number of tokens"),
    // OpenAI (github.com/Pythagora-io/gpt-pilot/issues/340). Gemini sends the same sentence for a rate, without this code.
    known(
        &["insufficient_quota"],
        "the account has no credit left: add credit, or name another model with `--model`",
    ),
    // Anthropic (github.com/anthropics/claude-quickstarts/issues/229).
    known(
        &["credit balance is too low"],
        "the account has no credit left: add credit, or name another model with `--model`",
    ),
    // Gemini answers 400 to a wrong key (github.com/cequence-io/openai-scala-client/issues/109).
    known(&["api key not valid"], "check the value of the variable that `api_key_env` of TABLE names"),
    // Ollama (github.com/ollama/ollama-python/issues/149).
    known(
        &["not found, try pulling it first"],
        "run `ollama pull MODEL` on the server, or correct `model` in TABLE (`ollama list` shows the names)",
    ),
    // OpenAI ("... or you do not have access to it"), vLLM ("The model `x` does not exist.").
    known(
        &["the model", "does not exist"],
        "correct `model` in TABLE; the server knows no `MODEL`, or the key may not use it",
    ),
    // OpenRouter: "x is not a valid model ID".
    known(&["not a valid model id"], "correct `model` in TABLE; the server knows no `MODEL`"),
    // Gemini: "models/x is not found for API version v1beta, or is not supported for generateContent".
    known(
        &["is not found for api version"],
        "correct `model` in TABLE; the server knows no `MODEL`, or it is not a chat model",
    ),
    // Azure.
    known(
        &["deployment for this resource does not exist"],
        "set `model` in TABLE to the name of your deployment, which need not be the model's name",
    ),
    known(
        &["api-version"],
        "set `api_version` in TABLE, or `base_url` to `https://RESOURCE.openai.azure.com/openai/v1`, which needs none",
    ),
    // OpenAI: "This model is only supported in v1/responses and not in v1/chat/completions."
    solved(
        &["only supported in v1/responses"],
        "set `interface = \"responses\"` in TABLE",
        "interface",
        "\"responses\"",
    ),
    // OpenAI (github.com/langbot-app/LangBot/issues/400).
    known(&["not a chat model"], "set `model` in TABLE to a chat model"),
];

/// Phrases of a server that refuses a parameter, in lower case.
const REFUSALS: [&str; 10] = [
    // OpenAI and Azure (github.com/QwenLM/qwen-code/issues/921).
    "unsupported parameter",
    "unsupported value",
    "is not supported with this model",
    // OpenAI, for a name that it does not know.
    "unrecognized request argument",
    "unknown parameter",
    // Anthropic, Mistral.
    "extra inputs are not permitted",
    "is deprecated for this model",
    // Groq, xAI.
    "is not supported by this model",
    "property '",
    // Gemini.
    "is not enabled for",
];

/// Fields of a request: the name in an error, the name in `omit`, the key of the table.
const FIELDS: [(&str, &str, &str); 8] = [
    ("top_logprobs", "top_logprobs", "logprobs"),
    ("logprobs", "logprobs", "logprobs"),
    ("temperature", "temperature", "temperature"),
    ("top_p", "top_p", "top_p"),
    ("seed", "seed", "seed"),
    ("stop", "stop", "stop"),
    ("max_tokens", "max_tokens", "max_tokens"),
    ("n", "n", "n_per_request"),
];

/// Finds the key of an `[llm.NAME]` table that solves the server's error. `provider` is the id of its plugin.
pub fn error_hint(name: &str, provider: &str, model: &str, failure: &ProviderFailure) -> Option<ErrorHint> {
    use ProviderFailureClass as C;
    match failure.class {
        C::RateLimited | C::Authentication | C::NotFound | C::ContextOverflow | C::BadRequest => {}
        C::Connection | C::Timeout | C::Server | C::Malformed => return None,
    }
    let text = failure.message.to_lowercase();
    let table = format!("`[llm.{name}]`");
    let is_match = |known: &&KnownError| known.phrases.iter().all(|phrase| text.contains(phrase));
    if let Some(known) = KNOWN_ERRORS.iter().find(is_match) {
        let help = known.help.replace("TABLE", &table).replace("MODEL", model);
        return Some(ErrorHint { help, change: known.change });
    }
    if !REFUSALS.iter().any(|phrase| text.contains(phrase)) {
        return None;
    }
    let (_, omitted, key) = FIELDS.into_iter().find(|(field, ..)| names_field(&text, field))?;
    // Only bodies of chat completions can leave a field out.
    Some(match provider {
        "provider-openai" | "provider-batch" => ErrorHint {
            help: format!("add \"{omitted}\" to `omit` in {table}: the model takes no `{omitted}`"),
            change: Some(TableChange::Omit(omitted)),
        },
        _ => ErrorHint {
            help: format!("remove `{key}` from {table} and from the stages: the model takes no `{omitted}`"),
            change: Some(TableChange::Remove(key)),
        },
    })
}

/// True if a text in lower case names a field: in quotes, as a part of a path, or at the end of a sentence or before a colon.
fn names_field(text: &str, field: &str) -> bool {
    ["'", "`", "\""].iter().any(|quote| text.contains(&format!("{quote}{field}{quote}")))
        || text.contains(&format!("supplied: {field}"))
        || text.starts_with(&format!("{field}: "))
        || (field == "logprobs" && text.starts_with("logprobs is"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ProviderFailureClass as C;

    fn hint(provider: &str, class: C, message: &str) -> Option<ErrorHint> {
        let failure = ProviderFailure {
            class,
            status: Some(400),
            retry_after_ms: None,
            usage: None,
            message: message.to_owned(),
        };
        error_hint("main", provider, "some-model", &failure)
    }

    /// Every text as a service sends it.
    #[test]
    fn each_known_error_names_the_key_that_solves_it() {
        const OPENAI: &str = "provider-openai";
        const CLAUDE: &str = "provider-anthropic";
        const GEMINI: &str = "provider-gemini";
        for (provider, class, message, help) in [
            (
                OPENAI,
                C::BadRequest,
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead. (unsupported_parameter)",
                "set `max_tokens_field = \"max_completion_tokens\"` in `[llm.main]`",
            ),
            (
                OPENAI,
                C::BadRequest,
                "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported. (unsupported_value)",
                "add \"temperature\" to `omit` in `[llm.main]`",
            ),
            (
                OPENAI,
                C::BadRequest,
                "Unsupported parameter: 'logprobs' is not supported with this model.",
                "add \"logprobs\" to `omit`",
            ),
            (OPENAI, C::BadRequest, "Unrecognized request argument supplied: seed", "add \"seed\" to `omit`"),
            (
                OPENAI,
                C::BadRequest,
                r#"[{"input":1,"loc":["body","seed"],"msg":"Extra inputs are not permitted","type":"extra_forbidden"}]"#,
                "add \"seed\" to `omit`",
            ),
            (
                OPENAI,
                C::BadRequest,
                "max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000. (invalid_value)",
                "lower `max_tokens`",
            ),
            (
                OPENAI,
                C::ContextOverflow,
                "'max_tokens' or 'max_completion_tokens' is too large: 8192. This model's maximum context length is 4096 tokens and your request has 200 input tokens",
                "lower `max_tokens` in `[llm.main]`, or serve",
            ),
            (
                OPENAI,
                C::ContextOverflow,
                "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (1000 in the messages, 8000 in the completion).",
                "lower `max_tokens`",
            ),
            (
                OPENAI,
                C::NotFound,
                "The model `some-model` does not exist or you do not have access to it. (model_not_found)",
                "correct `model` in `[llm.main]`; the server knows no `some-model`",
            ),
            (
                OPENAI,
                C::NotFound,
                "model \"some-model\" not found, try pulling it first (api_error)",
                "`ollama pull some-model`",
            ),
            (OPENAI, C::BadRequest, "some-model is not a valid model ID", "correct `model`"),
            (
                OPENAI,
                C::NotFound,
                "The API deployment for this resource does not exist. (DeploymentNotFound)",
                "the name of your deployment",
            ),
            (
                OPENAI,
                C::BadRequest,
                "Missing required query parameter: api-version",
                "set `api_version` in `[llm.main]`",
            ),
            (
                OPENAI,
                C::NotFound,
                "This model is only supported in v1/responses and not in v1/chat/completions.",
                "`interface = \"responses\"`",
            ),
            (
                OPENAI,
                C::NotFound,
                "This is not a chat model and thus not supported in the v1/chat/completions endpoint. Did you mean to use v1/completions?",
                "chat model",
            ),
            (
                OPENAI,
                C::RateLimited,
                "You exceeded your current quota, please check your plan and billing details. (insufficient_quota)",
                "no credit left",
            ),
            (
                CLAUDE,
                C::BadRequest,
                "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits. (invalid_request_error)",
                "no credit left",
            ),
            (
                CLAUDE,
                C::BadRequest,
                "`temperature` and `top_p` cannot both be specified for this model. Please use only one. (invalid_request_error)",
                "keep one of `temperature` and `top_p`",
            ),
            (
                CLAUDE,
                C::BadRequest,
                "`temperature` may only be set to 1 when thinking is enabled. Please consult our documentation",
                "set `temperature = 1`",
            ),
            (
                CLAUDE,
                C::BadRequest,
                "`temperature` is deprecated for this model. (invalid_request_error)",
                "remove `temperature` from `[llm.main]`",
            ),
            (
                CLAUDE,
                C::BadRequest,
                "max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens for some-model (invalid_request_error)",
                "lower `max_tokens`",
            ),
            (
                CLAUDE,
                C::BadRequest,
                "`max_tokens` must be greater than `thinking.budget_tokens`. (invalid_request_error)",
                "raise `max_tokens`",
            ),
            (
                CLAUDE,
                C::BadRequest,
                "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
                "from 1024 up",
            ),
            (CLAUDE, C::BadRequest, "adaptive thinking is not supported on this model", "a number of tokens"),
            (
                CLAUDE,
                C::BadRequest,
                "\"thinking.type.enabled\" is not supported for this model. Use \"thinking.type.adaptive\" and \"output_config.effort\" to control thinking behavior.",
                "to a level",
            ),
            (
                GEMINI,
                C::BadRequest,
                "Budget 0 is invalid. This model only works in thinking mode.",
                "remove `reasoning`",
            ),
            (
                GEMINI,
                C::BadRequest,
                "Unable to submit request because The model does not support setting thinking_budget to 0",
                "remove `reasoning`",
            ),
            (
                GEMINI,
                C::BadRequest,
                "Unable to submit request because Thinking can't be disabled for this model.",
                "remove `reasoning`",
            ),
            (GEMINI, C::BadRequest, "The thinking budget (52428) is invalid.", "a number of tokens that"),
            (GEMINI, C::BadRequest, "Thinking level is not supported for this model.", "a number of tokens"),
            (GEMINI, C::BadRequest, "API key not valid. Please pass a valid API key.", "`api_key_env`"),
            (
                GEMINI,
                C::NotFound,
                "models/some-model is not found for API version v1beta, or is not supported for generateContent.",
                "correct `model`",
            ),
            (GEMINI, C::BadRequest, "Logprobs is not enabled for models/some-model", "remove `logprobs`"),
        ] {
            let found = hint(provider, class, message).unwrap_or_else(|| panic!("no hint: {message}"));
            assert!(found.help.contains(help), "{message}\n-> {}", found.help);
            assert!(!found.help.contains("TABLE") && !found.help.contains("MODEL"), "{}", found.help);
        }
    }

    #[test]
    fn an_unknown_error_has_no_hint() {
        for (class, message) in [
            (C::BadRequest, "unknown field"),
            (C::BadRequest, "the prompt talks about a 'seed' of a tree"),
            (C::RateLimited, "You exceeded your current quota, please check your plan and billing details."),
            (C::Server, "Unsupported parameter: 'seed' is not supported with this model."),
            (C::NotFound, "page not found"),
        ] {
            assert_eq!(hint("provider-openai", class, message), None, "{message}");
        }
    }
}
