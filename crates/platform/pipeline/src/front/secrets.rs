//! Finds keys written into a file that should only name an environment variable, and hides them from every message.

use super::reader::error_at;
use super::tree::{Node, SourcePlace, Table, Value};
use planforge_contract::is_harmless_header;
use planforge_diagnostics::{Diagnostic, SourceId, Span};

/// True if a text can be the name of an environment variable.
pub(super) fn is_variable_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Beginnings of keys that services hand out.
const KEY_PREFIXES: [&str; 12] =
    ["sk-", "sk_", "pk-", "ghp_", "gho_", "github_pat_", "hf_", "gsk_", "xoxb-", "AKIA", "AIza", "Bearer "];

/// True if a text looks like a key: a known prefix and enough characters after it, or a long run of mixed
/// characters.
pub(super) fn looks_like_key(text: &str) -> bool {
    let text = text.trim();
    if KEY_PREFIXES.iter().any(|p| text.len() >= p.len() + 8 && text.starts_with(p)) {
        return true;
    }
    let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    let digits = text.chars().filter(char::is_ascii_digit).count();
    let upper = text.chars().filter(char::is_ascii_uppercase).count();
    let lower = text.chars().filter(char::is_ascii_lowercase).count();
    plain && text.len() >= 32 && digits >= 4 && lower >= 4 && (upper >= 4 || digits >= 8)
}

/// Reports every value in the file that looks like a key, and returns their places so that the text can be hidden.
pub(super) fn find(root: &Table, out: &mut Vec<Diagnostic>) -> Vec<SourcePlace> {
    let mut places = Vec::new();
    secret_headers(root, out, &mut places);
    walk(root, out, &mut places);
    places
}

/// Reports the headers of model tables whose values may be keys. Services choose the names of such headers freely, so
/// every header counts that is not known to be harmless.
fn secret_headers(root: &Table, out: &mut Vec<Diagnostic>, places: &mut Vec<SourcePlace>) {
    let models = root.get("llm").and_then(Node::as_table).into_iter().flat_map(|models| &models.entries);
    for (model, node) in models {
        let headers = node.as_table().and_then(|table| table.get("headers")).and_then(Node::as_table);
        for (name, node) in headers.into_iter().flat_map(|headers| &headers.entries) {
            if !matches!(node.value, Value::String(_)) || is_harmless_header(&name.name) {
                continue;
            }
            let name = &name.name;
            let message = format!("the header `{name}` may carry a key; pipeline files hold no secrets");
            out.push(error_at("pipeline.literal-secret", message, node.place).help(format!(
                "put the value into an environment variable and write the variable's name: \
                 llm.{}.headers_env.{name} = \"VARIABLE\"",
                model.name
            )));
            places.push(node.place);
        }
    }
}

fn walk(table: &Table, out: &mut Vec<Diagnostic>, places: &mut Vec<SourcePlace>) {
    for (key, node) in &table.entries {
        visit(&key.name, node, out, places);
    }
}

fn visit(key: &str, node: &Node, out: &mut Vec<Diagnostic>, places: &mut Vec<SourcePlace>) {
    match &node.value {
        Value::String(text) if looks_like_key(text) && !places.contains(&node.place) => {
            let message = format!("the value of `{key}` looks like a key; pipeline files hold no secrets");
            out.push(error_at("pipeline.literal-secret", message, node.place).help(
                "put the key into an environment variable and write the variable's name, for example api_key_env = \"OPENAI_API_KEY\"",
            ));
            places.push(node.place);
        }
        Value::Array(items) => items.iter().for_each(|item| visit(key, item, out, places)),
        Value::Table(table) => walk(table, out, places),
        _ => {}
    }
}

/// The text with possible keys hidden on the lines of these syntax errors, which a tree of the text may lack.
pub fn hide_keys_near_errors(text: &str, errors: &[Span]) -> String {
    hide(text, &find_near_errors(text, errors))
}

/// Places of possible keys on the lines of syntax errors.
pub(super) fn find_near_errors(text: &str, errors: &[Span]) -> Vec<SourcePlace> {
    let mut places = Vec::new();
    let (mut start, mut in_headers) = (0, false);
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        if line.trim_start().starts_with('[') {
            let name = line.trim().trim_start_matches('[').split(']').next().unwrap_or_default();
            in_headers = name.rsplit('.').next().is_some_and(|last| last.trim() == "headers");
        }
        if errors.iter().any(|span| span.start as usize <= end && span.end as usize >= start) {
            let keys = find_in_line(line, in_headers).into_iter();
            places.extend(keys.map(|key| SourcePlace {
                source: SourceId(0),
                span: Span::new(offset(start + key.start), offset(start + key.end)),
            }));
        }
        start = end;
    }
    places
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// Ranges of possible keys in a line that may not be TOML. After the name of a secret, everything counts.
fn find_in_line(line: &str, mut in_headers: bool) -> Vec<std::ops::Range<usize>> {
    let is_part = |c: char| !c.is_whitespace() && !"\"'=,[]{}()#;".contains(c);
    let mut keys = Vec::new();
    let mut at = 0;
    while let Some(start) = line[at..].find(is_part).map(|found| at + found) {
        let end = line[start..].find(|c| !is_part(c)).map_or(line.len(), |found| start + found);
        let word = &line[start..end];
        let after = line[end..].trim_start_matches(['"', '\'']).trim_start();
        let name = word.rsplit('.').next().unwrap_or_default();
        in_headers |= word.split('.').any(|part| part == "headers");
        let is_secret_header = in_headers && name != "headers" && !is_harmless_header(name);
        if looks_like_key(word) {
            keys.push(start..end);
        } else if after.starts_with('=') && (is_secret_header || is_name_of_secret(word)) {
            keys.push(line.len() - after.len() + 1..line.len());
            break;
        } else if word == "Bearer" {
            keys.push(end..line.len());
            break;
        }
        at = end;
    }
    keys
}

/// True for keys like `api_key` and `X-Auth-Token`, not for `max_tokens` and `api_key_env`.
fn is_name_of_secret(key: &str) -> bool {
    const NAMES: [&str; 7] = ["apikey", "key", "token", "secret", "password", "credentials", "authorization"];
    let last = key.rsplit(['.', '_', '-']).next().unwrap_or_default();
    !key.contains("_env") && NAMES.iter().any(|name| last.eq_ignore_ascii_case(name))
}

/// The text with the bytes of those places replaced by stars; length and line ends stay.
pub(super) fn hide(text: &str, places: &[SourcePlace]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for place in places {
        if let Some(slice) = bytes.get_mut(place.span.range()) {
            slice.iter_mut().filter(|b| !b.is_ascii_whitespace() && **b != b'"').for_each(|b| *b = b'*');
        }
    }
    // Whole values are replaced, so no character is cut in two.
    String::from_utf8(bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_on_lines_with_syntax_errors_are_hidden_and_other_values_are_not() {
        let hidden = |line: &str| hide_keys_near_errors(line, &[Span::new(0, offset(line.len()))]);
        for (line, shown) in [
            ("api_key = \"sk-abcdefgh12345678", "api_key = \"*******************"),
            ("api_key_env = sk-abcdefgh12345678 # mine", "api_key_env = ******************* # mine"),
            ("api_key = 'hunter 2", "api_key = ******* *"),
            (
                "headers = { Accept = \"x/y\", X-Team = \"blue\" \"red\" }",
                "headers = { Accept = \"x/y\", X-Team = \"****\" \"***\" *",
            ),
            ("[llm.main.headers]\nX-Team = \"blue", "[llm.main.headers]\nX-Team = \"****"),
            ("llm.main.headers.\"X-Team\" = \"blue", "llm.main.headers.\"X-Team\" = \"****"),
            ("note = \"Bearer abc def", "note = \"Bearer *** ***"),
            ("max_tokens = 20 48", "max_tokens = 20 48"),
            ("api_key_env = \"MY_KEY", "api_key_env = \"MY_KEY"),
            ("é = é sk-abcdefgh12345678é", "é = é *********************"),
        ] {
            assert_eq!(hidden(line), shown);
        }
        let text = "api_key = \"hunter2\"\nmodel = \n";
        assert_eq!(
            hide_keys_near_errors(text, &[Span::new(28, 29)]),
            text,
            "only lines with errors are shown"
        );
    }

    #[test]
    fn tells_keys_from_names() {
        for key in ["sk-abcdefgh12345678", "hf_abcdefghijkl", "AbCd0123456789EfGh0123456789IjKl0123"] {
            assert!(looks_like_key(key), "{key}");
        }
        for name in [
            "OPENAI_API_KEY",
            "gpt-4o",
            "https://api.openai.com/v1",
            "sk-",
            "qwen2.5-coder-1.5b-instruct-q4_k_m",
        ] {
            assert!(!looks_like_key(name), "{name}");
        }
        assert!(is_variable_name("MY_KEY_2") && !is_variable_name("2X") && !is_variable_name("a b"));
    }
}
