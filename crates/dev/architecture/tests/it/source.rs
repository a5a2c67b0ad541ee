//! A source file reduced to the code that counts: no comments, no literals, no test modules.

/// Replaces comments, string literals and character literals by spaces and drops `#[cfg(test)] mod NAME { ... }`.
pub(crate) fn code_only(text: &str) -> String {
    without_test_modules(&without_comments(text))
}

fn without_comments(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let rest = text.get(at..).unwrap_or_default();
        let end = match byte {
            b'/' if rest.starts_with("//") => at + rest.find('\n').unwrap_or(rest.len()),
            b'/' if rest.starts_with("/*") => at + rest.find("*/").map_or(rest.len(), |end| end + 2),
            b'r' if raw_string(rest).is_some() && !out.ends_with(is_name) => {
                at + raw_string(rest).unwrap_or_default()
            }
            b'"' => at + string(rest),
            b'\'' => at + character(rest),
            _ => at,
        };
        if end > at {
            out.push(' ');
            at = end;
        } else {
            let next = rest.chars().next().unwrap_or(' ');
            out.push(next);
            at += next.len_utf8();
        }
    }
    out
}

/// Returns true for a character of an identifier.
pub(crate) fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The length of a raw string literal at the start of the text.
fn raw_string(text: &str) -> Option<usize> {
    let hashes = text.get(1..)?.bytes().take_while(|b| *b == b'#').count();
    let open = 1 + hashes;
    text.get(open..)?.starts_with('"').then_some(())?;
    let close = format!("\"{}", "#".repeat(hashes));
    let body = text.get(open + 1..)?;
    Some(open + 1 + body.find(&close).map_or(body.len(), |end| end + close.len()))
}

/// The length of a string literal at the start of the text.
fn string(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The length of a character literal at the start of the text; 0 for a lifetime.
fn character(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    match chars.next() {
        Some((_, '\\')) => text.get(3..).and_then(|t| t.find('\'')).map_or(0, |end| end + 4),
        Some(_) => match chars.next() {
            Some((at, '\'')) => at + 1,
            _ => 0,
        },
        None => 0,
    }
}

fn without_test_modules(code: &str) -> String {
    const TEST: &str = "#[cfg(test)]";
    let mut out = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(at) = rest.find(TEST) {
        let (before, behind) = rest.split_at(at);
        out.push_str(before);
        let item = behind.get(TEST.len()..).unwrap_or_default();
        rest = item.get(item_length(item)..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// The length of the item at the start of the text: up to its `;` or its closing brace.
fn item_length(text: &str) -> usize {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            ';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    text.len()
}
