//! Takes secret values out of everything that is written or shown.

use aho_corasick::{AhoCorasick, MatchKind};
use planforge_contract::{Failure, ProviderFailure};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use std::borrow::Cow;

/// The replacement of a secret.
pub const REDACTED: &str = "[redacted]";

/// Shorter values are not searched for, since they occur in ordinary text (local servers often use a key such
/// as `x` or `EMPTY`). [`Redactor::too_short`] counts them, so that the caller can warn.
pub const MIN_SECRET_BYTES: usize = 8;

/// Replaces every known secret in each form in which it can leak: plain, reversed, JSON-escaped (once and twice, with
/// and without `\u` and `\/`), URL-encoded, HTML-escaped, hexadecimal, and base64 at each of the three alignments (standard
/// and URL-safe alphabet, padded or not). Upper and lower case of ASCII letters do not count in any form.
///
/// Not covered are: parts of a secret (but [`Redactor::cut_text`] finds beginnings at the end of a text), a secret that is
/// spread over several texts, line breaks or separators inside a form, two encodings after one another (but JSON twice),
/// other encodings (base32, ASCII codes in decimal), compressed and encrypted text.
#[derive(Default)]
pub struct Redactor {
    matcher: Option<AhoCorasick>,
    forms: Vec<Vec<u8>>,
    too_short: usize,
}

impl std::fmt::Debug for Redactor {
    // Automaton and forms hold the secrets; they must not reach a log.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redactor").field("forms", &self.forms.len()).finish_non_exhaustive()
    }
}

impl Redactor {
    /// A redactor for these values.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a SecretString>) -> Self {
        let mut forms: Vec<Vec<u8>> = Vec::new();
        let mut too_short = 0;
        for secret in secrets {
            let secret = secret.expose_secret();
            if secret.len() >= MIN_SECRET_BYTES {
                forms.extend(forms_of(secret));
            } else if !secret.is_empty() {
                too_short += 1;
            }
        }
        forms.sort();
        forms.dedup();
        // Building fails only for automata far larger than any set of keys gives.
        let matcher = if forms.is_empty() {
            None
        } else {
            AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostLongest)
                .ascii_case_insensitive(true)
                .build(&forms)
                .ok()
        };
        Self { matcher, forms, too_short }
    }

    /// True if there are no secrets to replace.
    pub fn is_empty(&self) -> bool {
        self.matcher.is_none()
    }

    /// Number of non-empty values that are too short to search for (below [`MIN_SECRET_BYTES`]).
    pub fn too_short(&self) -> usize {
        self.too_short
    }

    /// True if the text has a secret in one of its forms.
    pub fn is_secret_in(&self, text: &str) -> bool {
        self.matcher.as_ref().is_some_and(|matcher| matcher.is_match(text))
    }

    /// The bytes without secrets.
    pub fn bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        match &self.matcher {
            Some(matcher) if matcher.is_match(bytes) => {
                let mut out = Vec::with_capacity(bytes.len());
                matcher.replace_all_with_bytes(bytes, &mut out, |_, _, out| {
                    out.extend_from_slice(REDACTED.as_bytes());
                    true
                });
                Cow::Owned(out)
            }
            _ => Cow::Borrowed(bytes),
        }
    }

    /// The text without secrets.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.bytes(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            // Matches begin and end between characters, so this loses nothing.
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
        }
    }

    /// A text that somebody may have cut off, without secrets: one that was cut through ends with its beginning.
    pub fn cut_text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let clean = self.text(text);
        let end = clean.trim_end_matches(['.', '\u{2026}', ' ']);
        let begins = |form: &Vec<u8>| {
            let most = form.len().saturating_sub(1).min(end.len());
            let ends = |length: &usize| {
                let tail = end.as_bytes().get(end.len() - length..).unwrap_or_default();
                tail.eq_ignore_ascii_case(form.get(..*length).unwrap_or_default())
            };
            (MIN_SECRET_BYTES..=most).rev().find(ends)
        };
        match self.forms.iter().filter_map(begins).max() {
            // A form begins with a whole character, so the text can be cut there.
            Some(length) => {
                Cow::Owned(format!("{}{REDACTED}", end.get(..end.len() - length).unwrap_or_default()))
            }
            None => clean,
        }
    }

    /// Takes the secrets out of every string of a JSON value, keys included. Returns true if there was one.
    pub fn value(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => {
                let Cow::Owned(clean) = self.text(text) else { return false };
                *text = clean;
                true
            }
            Value::Array(items) => items.iter_mut().fold(false, |found, item| self.value(item) | found),
            Value::Object(map) => {
                let in_values = map.values_mut().fold(false, |found, item| self.value(item) | found);
                let in_keys = map.keys().any(|key| self.is_secret_in(key));
                if in_keys {
                    let clean = |(key, item): (String, Value)| (self.text(&key).into_owned(), item);
                    *map = std::mem::take(map).into_iter().map(clean).collect();
                }
                in_values | in_keys
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }

    /// A failure without secrets.
    pub fn failure(&self, mut failure: Failure) -> Failure {
        failure.message = self.cut_text(&failure.message).into_owned();
        failure.place = failure.place.map(|p| self.text(&p).into_owned());
        failure.help = failure.help.map(|h| self.text(&h).into_owned());
        failure
    }

    /// A provider's failure without secrets.
    pub fn provider_failure(&self, mut failure: ProviderFailure) -> ProviderFailure {
        failure.message = self.cut_text(&failure.message).into_owned();
        failure
    }
}

fn forms_of(secret: &str) -> Vec<Vec<u8>> {
    let mut texts = vec![secret.to_owned()];
    let once = json_escaped(secret);
    let ascii: String = once.chars().flat_map(json_ascii).collect();
    for form in [&once, &ascii] {
        texts.push(form.clone());
        texts.push(form.replace('/', "\\/"));
        texts.push(json_escaped(form));
    }
    let encoded = url_encoded(secret);
    texts.push(encoded.replace("%20", "+"));
    texts.push(encoded);
    texts.push(html_escaped(secret));
    texts.push(secret.chars().rev().collect());
    texts.push(secret.bytes().map(|byte| format!("{byte:02x}")).collect());
    for offset in 0..3 {
        let standard = base64_core(secret.as_bytes(), offset);
        texts.push(standard.replace('+', "-").replace('/', "_"));
        texts.push(standard.replace('/', "\\/"));
        texts.push(standard);
    }
    texts.into_iter().map(String::into_bytes).collect()
}

fn json_escaped(text: &str) -> String {
    let quoted = Value::String(text.to_owned()).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// As an error page shows it.
fn html_escaped(text: &str) -> String {
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    escaped.replace('"', "&quot;").replace('\'', "&#39;")
}

fn json_ascii(c: char) -> Vec<char> {
    if c.is_ascii() {
        return vec![c];
    }
    let mut units = [0; 2];
    c.encode_utf16(&mut units)
        .iter()
        .flat_map(|u| format!("\\u{u:04x}").chars().collect::<Vec<_>>())
        .collect()
}

fn url_encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(byte as char),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// The characters of a base64 text that depend only on `secret`, which begins at `offset` modulo 3.
fn base64_core(secret: &[u8], offset: usize) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bits = |i: usize| secret.get(i / 8).is_some_and(|byte| byte >> (7 - i % 8) & 1 == 1);
    // The first whole sextet inside the secret begins at the next multiple of 6 bits of the whole text.
    let skip = (6 - offset * 8 % 6) % 6;
    (skip..)
        .step_by(6)
        .take_while(|start| start + 6 <= secret.len() * 8)
        .map(|start| {
            let sextet = (start..start + 6).fold(0, |acc, i| acc << 1 | usize::from(bits(i)));
            ALPHABET[sextet] as char
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redactor(secret: &str) -> Redactor {
        Redactor::new([&SecretString::from(secret)])
    }

    #[test]
    fn every_form_of_a_secret_is_taken_out() {
        let secret = "s3cr\"et/key+\u{e9}=";
        let r = redactor(secret);
        let json = serde_json::to_string(&secret).unwrap();
        let twice = serde_json::to_string(&json).unwrap();
        for text in [
            format!("a {secret} b"),
            format!("a {json} b"),
            format!("a {twice} b"),
            "a s3cr%22et%2Fkey%2B%C3%A9%3D b".to_owned(),
            "a s3cr%22et%2fkey%2b%c3%a9%3d b".to_owned(),
            "a s3cr\\\"et/key+\\u00e9= b".to_owned(),
            "a s3cr&quot;et/key+\u{e9}= b".to_owned(),
        ] {
            let clean = r.text(&text).into_owned();
            assert!(clean.contains(REDACTED), "{text} -> {clean}");
            assert!(!clean.contains("key"), "{text} -> {clean}");
            assert!(clean.starts_with("a ") && clean.ends_with(" b"), "{clean}");
        }
    }

    #[test]
    fn base64_is_found_at_each_alignment() {
        // `printf '%s' 'PREFIXsk-live-0123456789' | base64`, with prefixes of 0, 1 and 2 characters.
        let r = redactor("sk-live-0123456789");
        for encoded in
            ["c2stbGl2ZS0wMTIzNDU2Nzg5", "OnNrLWxpdmUtMDEyMzQ1Njc4OQ==", "dTpzay1saXZlLTAxMjM0NTY3ODk="]
        {
            let clean = r.text(encoded).into_owned();
            assert!(clean.contains(REDACTED), "{encoded} -> {clean}");
            assert!(clean.len() < REDACTED.len() + 8, "{encoded} -> {clean}");
        }
    }

    #[test]
    fn hexadecimal_reversed_and_changed_case_are_found() {
        let secret = "sk-Live/0123456789+ab?";
        let r = redactor(secret);
        let hex: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
        let reversed: String = secret.chars().rev().collect();
        let base64 = "c2stTGl2ZS8wMTIzNDU2Nzg5K2FiPw";
        for form in [
            hex.to_uppercase(),
            hex,
            reversed,
            secret.to_uppercase(),
            secret.to_lowercase(),
            base64.to_owned(),
            format!("{base64}=="),
            base64.replace('+', "-").replace('/', "_"),
        ] {
            let clean = r.text(&format!("a {form} b")).into_owned();
            assert!(clean.starts_with("a [redacted]") && clean.ends_with(" b"), "{form} -> {clean}");
            assert!(clean.len() <= "a [redacted]xx== b".len(), "{form} -> {clean}");
        }
    }

    #[test]
    fn a_secret_that_was_cut_through_is_taken_out_too() {
        let r = redactor("sk-live-0123456789");
        for (text, clean) in [
            ("wrong key: sk-live-01234...", "wrong key: [redacted]"),
            ("wrong key: sk-live-012345678", "wrong key: [redacted]"),
            ("wrong key: c2stbGl2ZS0wMTIzN\u{2026}", "wrong key: [redacted]"),
            ("wrong key: sk-live-0123456789.", "wrong key: [redacted]."),
            ("what the model said: sk-li...", "what the model said: sk-li..."),
            ("nothing here...", "nothing here..."),
        ] {
            assert_eq!(r.cut_text(text), clean);
        }
    }

    #[test]
    fn values_and_failures_are_cleaned_and_debug_shows_nothing() {
        let r = redactor("hunter2-hunter2");
        let mut value = serde_json::json!({"x hunter2-hunter2": ["hunter2-hunter2", 1]});
        assert!(r.is_secret_in("a HUNTER2-hunter2 b") && !r.is_secret_in("hunter2"));
        assert!(r.value(&mut value));
        assert_eq!(value, serde_json::json!({"x [redacted]": ["[redacted]", 1]}));
        assert!(!r.value(&mut value), "nothing is left to take out");
        assert!(!format!("{r:?}").contains("hunter2"));
    }

    #[test]
    fn short_values_are_counted_not_searched() {
        let r = redactor("EMPTY");
        assert_eq!(r.text("EMPTY"), "EMPTY");
        assert_eq!(r.too_short(), 1);
        assert_eq!(Redactor::new([&SecretString::from("")]).too_short(), 0);
    }
}
