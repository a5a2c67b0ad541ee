//! Forms of JSON documents: one byte sequence for one value with its SHA-256, and pieces of large documents. The documents of one reply repeat its
//! text several times; as a piece it is stored once.

use serde::{Serialize, Serializer};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::borrow::Cow;

/// Bytes from which a blob is large, and from which a string is a piece.
pub(crate) const LARGE: usize = 256 << 10;
/// Deepest JSON in a string in a JSON document: 1 for the body of a server's answer within our record of it.
pub(crate) const MAX_ESCAPES: u32 = 2;

/// A part of a document.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Piece<'a> {
    pub(crate) text: Cow<'a, str>,
    /// Number of times that the text is escaped as a JSON string where it stands in the document.
    pub(crate) escapes: u32,
}

impl Piece<'_> {
    /// The piece as it stands in the document.
    pub(crate) fn in_document(self) -> String {
        (0..self.escapes).fold(self.text.into_owned(), |text, _| escape(&text))
    }
}

/// Splits a text at its long JSON strings. [`Piece::in_document`] of each, in order, is the text, also if it is not JSON.
pub(crate) fn split(text: &str) -> Vec<Piece<'_>> {
    split_at(text, 0)
}

fn split_at(text: &str, escapes: u32) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = 0;
    for (start, end) in long_strings(text) {
        pieces.push(Piece { text: Cow::Borrowed(&text[rest..start]), escapes });
        pieces.extend(split_string(&text[start..end], escapes));
        rest = end;
    }
    pieces.push(Piece { text: Cow::Borrowed(&text[rest..]), escapes });
    pieces.retain(|piece| !piece.text.is_empty());
    pieces
}

/// The pieces of a string without its quotes. JSON inside it is split too, if escaping its pieces gives the same bytes again.
fn split_string(string: &str, escapes: u32) -> Vec<Piece<'_>> {
    let whole = || vec![Piece { text: Cow::Borrowed(string), escapes }];
    if escapes == MAX_ESCAPES || !string.contains("\\\"") {
        return whole();
    }
    let Ok(inner) = serde_json::from_str::<String>(&format!("\"{string}\"")) else { return whole() };
    if long_strings(&inner).next().is_none() || escape(&inner) != string {
        return whole();
    }
    let owned =
        |piece: Piece<'_>| Piece { text: Cow::Owned(piece.text.into_owned()), escapes: piece.escapes };
    split_at(&inner, escapes + 1).into_iter().map(owned).collect()
}

/// Begin and end of the JSON strings of at least [`LARGE`] bytes, without their quotes.
fn long_strings(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + bytes.get(at..)?.iter().position(|byte| *byte == b'"')? + 1;
            let mut end = start;
            while *bytes.get(end)? != b'"' {
                end += if bytes[end] == b'\\' { 2 } else { 1 };
            }
            at = end + 1;
            if end - start >= LARGE {
                return Some((start, end));
            }
        }
    })
}

/// A text as the inside of a JSON string.
fn escape(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted.get(1..quoted.len() - 1).unwrap_or_default().to_owned()
}

/// Compact JSON with the keys of every object sorted by their bytes, independent of the map type.
pub fn canonical_json(value: &Value) -> String {
    // Every value has a text, so the default is not used.
    serde_json::to_string(&Canonical(value)).unwrap_or_default()
}

struct Canonical<'a>(&'a Value);

impl Serialize for Canonical<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Array(items) => serializer.collect_seq(items.iter().map(Canonical)),
            Value::Object(map) => {
                let mut entries: Vec<_> = map.iter().collect();
                entries.sort_by(|a, b| a.0.cmp(b.0));
                serializer.collect_map(entries.into_iter().map(|(key, item)| (key, Canonical(item))))
            }
            scalar => scalar.serialize(serializer),
        }
    }
}

/// SHA-256 as 64 lower-case hexadecimal digits.
pub fn sha256_hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        hex.push(DIGITS[usize::from(byte >> 4)] as char);
        hex.push(DIGITS[usize::from(byte & 15)] as char);
    }
    hex
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn split_and_join(text: &str) -> Vec<Piece<'_>> {
        assert_eq!(split(text).into_iter().map(Piece::in_document).collect::<String>(), text);
        split(text)
    }

    #[test]
    fn the_copies_of_a_reply_in_one_document_are_equal_pieces() {
        let reply = "é \"quoted\"\n\\ line\t".repeat(LARGE / 16);
        let body = json!({"choices": [{"message": {"content": reply, "role": "assistant"}}]}).to_string();
        let document = json!({"raw": body, "replies": [{"content": reply}], "small": "x"}).to_string();
        let pieces = split_and_join(&document);
        let long: Vec<_> = pieces.iter().filter(|piece| piece.text.len() >= LARGE).collect();
        assert_eq!(long.len(), 2);
        assert_eq!(long[0].text, long[1].text);
        assert_eq!((long[0].escapes, long[1].escapes), (1, 0));
    }

    #[test]
    fn every_text_is_the_join_of_its_pieces() {
        let long = "x".repeat(LARGE);
        assert_eq!(split_and_join("").len(), 0);
        assert_eq!(split_and_join("{\"a\": \"b\\\"c\"}").len(), 1);
        for text in [
            format!("\"{long}"),
            format!("\"{long}\\"),
            format!("\"{long}\\\""),
            format!("not JSON \"{long}\" \"{long}\""),
            // Escaped in another way than ours, which cannot be repeated.
            format!("\"{{\\\"\\u0061\\\": \\\"{long}\\\"}}\""),
            format!("\"\\q\\\"{long}\\\"\""),
            json!([json!(json!(json!(long).to_string()).to_string()).to_string()]).to_string(),
        ] {
            split_and_join(&text);
        }
    }
}

#[cfg(test)]
mod canonical_tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_are_sorted_at_every_depth_and_arrays_keep_their_order() {
        let a = json!({"b": [{"z": 1, "a": 0.5}, "x\"y"], "a": null});
        assert_eq!(canonical_json(&a), r#"{"a":null,"b":[{"a":0.5,"z":1},"x\"y"]}"#);
    }

    #[test]
    fn digest_is_the_published_one_for_abc() {
        assert_eq!(sha256_hex(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
