//! Redaction of secrets in a server's replies, in any spelling.

use planforge_contract::Replies;
use planforge_record::Redactor;
use serde_json::Value;
use std::borrow::Cow;

/// Replaces a body in which a secret is spread over several tokens or parts.
const SPLIT_SECRET: &str = "[redacted: the parts of this answer spell a secret]";

/// Removes secrets from replies.
pub(crate) fn redact_replies(redactor: &Redactor, mut replies: Replies) -> Replies {
    if redactor.is_empty() {
        return replies;
    }
    let clean = |text: &mut String| match redactor.text(text) {
        Cow::Owned(cleaned) => {
            *text = cleaned;
            true
        }
        Cow::Borrowed(_) => false,
    };
    let (mut is_found, mut is_split) = (false, false);
    for reply in &mut replies.replies {
        is_found |= clean(&mut reply.content);
        is_found |= reply.thought.as_mut().is_some_and(clean);
        is_found |= reply.refusal.as_mut().is_some_and(clean);
        // A provider keeps the beginning of a long one.
        if let Some(reason) = &mut reply.stated_finish {
            *reason = redactor.cut_text(reason).into_owned();
        }
        let tokens = reply.logprobs.as_deref_mut().unwrap_or_default();
        let whole: String = tokens.iter().map(|t| t.token.as_str()).collect();
        if redactor.is_secret_in(&whole) {
            is_split = true;
            // Log-likelihoods need the numbers alone.
            tokens.iter_mut().for_each(|t| t.token.clear());
        }
    }
    clean(&mut replies.model);
    let in_body = !is_split && (clean(&mut replies.raw) | redact_escaped(redactor, &mut replies.raw));
    // A secret of a reply that is nowhere whole in the body was joined from several parts of it.
    if is_split || is_found && !in_body {
        SPLIT_SECRET.clone_into(&mut replies.raw);
    }
    replies
}

/// A server may escape any character of a JSON text (`\\u002d` for a hyphen), and no list of forms has them all. Returns true if a
/// secret was found.
fn redact_escaped(redactor: &Redactor, body: &mut String) -> bool {
    if body.contains("\\u")
        && let Ok(mut value) = serde_json::from_str::<Value>(body)
        && redactor.value(&mut value)
    {
        *body = value.to_string();
        return true;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use planforge_contract::{FinishReason, Reply, TokenLogprob, Usage};
    use secrecy::SecretString;

    const KEY: &str = "sk-live-0123456789";

    fn redacted_reply(content: &str, tokens: &[&str], raw: &str) -> Replies {
        let token = |t: &&str| TokenLogprob { token: (*t).to_owned(), logprob: -0.5 };
        let logprobs = Some(tokens.iter().map(token).collect());
        let reply = Reply { logprobs, ..Reply::new(content, FinishReason::Stop) };
        let all =
            Replies { replies: vec![reply], usage: Usage::default(), model: "m".into(), raw: raw.to_owned() };
        redact_replies(&Redactor::new([&SecretString::from(KEY)]), all)
    }

    #[test]
    fn a_secret_that_tokens_spell_is_taken_out() {
        let found = redacted_reply(
            KEY,
            &["sk", "-live", "-0123456789"],
            r#"{"tokens":["sk","-live","-0123456789"]}"#,
        );
        let text = serde_json::to_string(&found).unwrap();
        assert!(!text.contains("live") && text.contains("-0.5"), "{text}");
        let kept = redacted_reply("fine", &["fi", "ne"], r#"{"tokens":["fi","ne"]}"#);
        assert_eq!(kept.raw, r#"{"tokens":["fi","ne"]}"#);
        assert_eq!(kept.replies[0].logprobs.as_ref().unwrap()[0].token, "fi");
    }

    #[test]
    fn a_secret_in_a_thought_is_taken_out() {
        let reply =
            Reply { thought: Some(format!("the key is {KEY}")), ..Reply::new("", FinishReason::Stop) };
        let all =
            Replies { replies: vec![reply], usage: Usage::default(), model: "m".into(), raw: "".into() };
        let found = redact_replies(&Redactor::new([&SecretString::from(KEY)]), all);
        assert_eq!(found.replies[0].thought.as_deref(), Some("the key is [redacted]"));
    }

    #[test]
    fn a_secret_in_the_reason_for_the_end_is_taken_out_also_where_it_is_cut_off() {
        let stated = |reason: &str| {
            let reply =
                Reply { stated_finish: Some(reason.to_owned()), ..Reply::new("", FinishReason::Other) };
            let all =
                Replies { replies: vec![reply], usage: Usage::default(), model: "m".into(), raw: "".into() };
            let found = redact_replies(&Redactor::new([&SecretString::from(KEY)]), all);
            found.replies[0].stated_finish.clone().unwrap()
        };
        assert_eq!(stated(KEY), "[redacted]");
        assert_eq!(stated(&format!("bad key {}", &KEY[..KEY.len() - 1])), "bad key [redacted]");
        assert_eq!(stated("full_moon"), "full_moon");
    }

    #[test]
    fn a_secret_that_two_parts_of_a_reply_spell_is_taken_out_with_both_parts() {
        let body = r#"{"content":[{"text":"; sk-live-01"},{"text":"23456789"}]}"#;
        let found = redacted_reply(&format!("; {KEY}"), &[], body);
        assert_eq!((found.replies[0].content.as_str(), found.raw.as_str()), ("; [redacted]", SPLIT_SECRET));
        let body = format!(r#"{{"content":"{KEY}"}}"#);
        assert_eq!(redacted_reply(KEY, &[], &body).raw, r#"{"content":"[redacted]"}"#);
    }

    #[test]
    fn a_secret_that_is_escaped_letter_by_letter_is_taken_out() {
        let spelled: String = KEY.chars().map(|c| format!("\\u{:04x}", c as u32)).collect();
        for body in [format!(r#"{{"echo":"{spelled}"}}"#), r#"{"echo":"sk\u002dlive-0123456789"}"#.to_owned()]
        {
            let found = redacted_reply("fine", &[], &body);
            assert_eq!(found.raw, r#"{"echo":"[redacted]"}"#);
        }
        let body = r#"{"echo":"\u002d"}"#;
        assert_eq!(redacted_reply("fine", &[], body).raw, body, "a body without a secret stays unchanged");
    }
}
