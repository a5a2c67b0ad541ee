//! Encodings in which the key may leak.

use super::KEY;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD_NO_PAD;
use serde_json::json;

/// All bytes but letters, digits and `-` as `%XX`.
pub(super) fn percent_encode(text: &str) -> String {
    text.bytes()
        .map(|b| {
            if b.is_ascii_alphanumeric() || b == b'-' { (b as char).to_string() } else { format!("%{b:02X}") }
        })
        .collect()
}

pub(super) fn quotes_as_entities(text: &str) -> String {
    text.replace('"', "&quot;")
}

pub(super) fn to_base64(text: &str) -> String {
    BASE64_STANDARD_NO_PAD.encode(text)
}

/// The beginning of the key in every form in which it may leak. Parts of the key begin the same way in most forms.
pub(super) fn key_prefixes() -> Vec<String> {
    let escaped = json!(KEY).to_string();
    let forms = [
        KEY.to_owned(),
        escaped.trim_matches('"').to_owned(),
        percent_encode(KEY),
        to_base64(KEY),
        quotes_as_entities(KEY),
        KEY.chars().map(|c| format!("\\u{:04x}", c as u32)).collect(),
    ];
    forms.into_iter().map(|form| form.chars().take(14).collect()).collect()
}
