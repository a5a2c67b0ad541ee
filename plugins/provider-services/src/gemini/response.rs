//! Reading of a response body of status 200.

use planforge_contract::{
    CompletionResult, FinishReason, ProviderFailure, Replies, Reply, TokenLogprob, Usage,
};
use planforge_model_api::chat_completions::{argument_text, malformed_failure, parse_body, read_error};
use planforge_model_api::finish::{FinishMeaning, meaning_of_finish, outage};
use serde_json::Value;

/// Reads the candidates. Parts that are marked as thoughts are the thought of the reply.
pub(crate) fn read(bytes: &[u8]) -> CompletionResult {
    let body = match parse_body(bytes) {
        Ok(body) => body,
        Err(failure) => return CompletionResult::ProviderFailure(failure),
    };
    // The tokens of an answer that cannot be used are billed too.
    let failed =
        |failure: ProviderFailure| CompletionResult::ProviderFailure(failure.with_usage(read_usage(&body)));
    if let Some(failure) = read_error(&body) {
        return failed(failure);
    }
    let candidates = body.get("candidates").and_then(Value::as_array);
    let mut replies = Vec::new();
    let mut outages = None;
    for candidate in candidates.into_iter().flatten() {
        let reason = candidate.get("finishReason").and_then(Value::as_str);
        match meaning_of_finish(reason) {
            FinishMeaning::Outage => {
                outages.get_or_insert_with(|| outage(reason.unwrap_or_default()));
            }
            meaning => replies.push(read_candidate(candidate, meaning)),
        }
    }
    // The host asks again for the candidates that an outage ended.
    if let Some(failure) = outages.filter(|_| replies.is_empty()) {
        return failed(failure);
    }
    if replies.is_empty() {
        let stated = body.get("promptFeedback").and_then(|feedback| {
            ["blockReasonMessage", "blockReason"].iter().find_map(|field| feedback.get(field)?.as_str())
        });
        let Some(reason) = stated else {
            let why = "it has neither `candidates` nor a reason why the prompt was blocked";
            return failed(malformed_failure(200, why, bytes));
        };
        replies.push(Reply::refused(reason));
    }
    CompletionResult::Replies(Replies {
        replies,
        usage: read_usage(&body),
        model: body.get("modelVersion").and_then(Value::as_str).unwrap_or_default().to_owned(),
        raw: String::from_utf8_lossy(bytes).into_owned(),
    })
}

fn read_usage(body: &Value) -> Usage {
    let tokens =
        |name: &str| body.get("usageMetadata").and_then(|usage| usage.get(name)).and_then(Value::as_u64);
    // Reasoning is charged as output and counted apart from the candidates.
    let written = [tokens("candidatesTokenCount"), tokens("thoughtsTokenCount")];
    Usage {
        prompt_tokens: tokens("promptTokenCount"),
        completion_tokens: written.iter().any(Option::is_some).then(|| written.iter().flatten().sum()),
        cached_tokens: tokens("cachedContentTokenCount"),
        reasoning_tokens: tokens("thoughtsTokenCount"),
        ..Usage::default()
    }
}

fn read_candidate(candidate: &Value, meaning: FinishMeaning) -> Reply {
    let parts = candidate.pointer("/content/parts").and_then(Value::as_array);
    let is_thought = |part: &&Value| part.get("thought").and_then(Value::as_bool) == Some(true);
    let (thoughts, spoken): (Vec<&Value>, Vec<&Value>) = parts.into_iter().flatten().partition(is_thought);
    let (texts, calls): (Vec<&Value>, Vec<&Value>) =
        spoken.into_iter().partition(|part| part.get("text").is_some());
    let joined = |parts: &[&Value]| -> String {
        parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect()
    };
    let text = joined(&texts);
    let thought = Some(joined(&thoughts)).filter(|text| !text.is_empty());
    let content = match text.is_empty() {
        false => text,
        true => {
            let arguments = calls.iter().filter_map(|part| part.pointer("/functionCall/args"));
            arguments.map(argument_text).collect::<Vec<_>>().join("\n")
        }
    };
    let stated = |field: &str| candidate.get(field).and_then(Value::as_str);
    let finish = meaning.finish();
    let chosen = candidate.pointer("/logprobsResult/chosenCandidates").and_then(Value::as_array);
    let logprobs = chosen.and_then(|tokens| tokens.iter().map(read_token).collect());
    let reply = match stated("finishMessage").or_else(|| stated("finishReason")) {
        Some(reason) if content.is_empty() && finish == FinishReason::ContentFilter => Reply::refused(reason),
        _ => Reply::new(content, finish),
    };
    meaning.note(Reply { logprobs, thought, ..reply })
}

fn read_token(token: &Value) -> Option<TokenLogprob> {
    let text = token.get("token")?.as_str()?.to_owned();
    Some(TokenLogprob { token: text, logprob: token.get("logProbability")?.as_f64()? })
}
