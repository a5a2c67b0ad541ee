//! Facts as models write them: `(on a b)`, `not (on a b)`, `on(a, b)`, several with separators between them, or sentences.

use planforge_contract::ClaimedState;

/// Adds the facts of a text to a state: atoms as literals, everything else as sentences.
pub(crate) fn read(text: &str, into: &mut ClaimedState) {
    for piece in text.split([';', '\n']) {
        let piece = trim_marks(piece);
        if piece.is_empty() {
            continue;
        }
        match literals(piece) {
            Some(literals) => into.literals.extend(literals),
            None => into.sentences.extend(sentences(piece)),
        }
    }
}

/// Without bullets, wrappers and marks of emphasis.
fn trim_marks(piece: &str) -> &str {
    let piece = piece.trim().trim_start_matches(['-', '*', '•', '>', ' ']);
    piece.trim_matches(|c: char| c.is_whitespace() || "`{}[],.*".contains(c))
}

/// The sentences of a text without atoms.
fn sentences(piece: &str) -> Vec<String> {
    let parts = piece.split(". ").map(trim_marks).filter(|s| s.chars().any(char::is_alphabetic));
    parts.map(|s| s.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// The literals that a text consists of; `None` if it holds anything else.
fn literals(text: &str) -> Option<Vec<String>> {
    let mut out = Vec::new();
    let mut rest = text;
    loop {
        rest = separators(rest);
        if rest.is_empty() {
            return (!out.is_empty()).then_some(out);
        }
        let (negated, after) = negation(rest);
        rest = one(after, negated, &mut out)?;
    }
}

/// Skips commas, `and` and white space.
fn separators(mut rest: &str) -> &str {
    loop {
        let next = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',' || c == '&' || c == '∧');
        let next = match word(next) {
            Some(("and", after)) => after,
            _ => next,
        };
        if next.len() == rest.len() {
            return rest;
        }
        rest = next;
    }
}

/// The word in letters at the beginning, where white space or a parenthesis follows.
fn word(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| c.is_whitespace() || c == '(')?;
    Some((&text[..end], &text[end..])).filter(|(w, _)| !w.is_empty())
}

fn negation(text: &str) -> (bool, &str) {
    if let Some(rest) = text.strip_prefix(['¬', '!', '~']) {
        return (true, rest.trim_start());
    }
    match word(text) {
        Some((w, rest)) if w.eq_ignore_ascii_case("not") => (true, rest.trim_start()),
        _ => (false, text),
    }
}

/// One literal, or a conjunction in parentheses; what follows it.
fn one<'a>(text: &'a str, negated: bool, out: &mut Vec<String>) -> Option<&'a str> {
    if let Some(inner) = text.strip_prefix('(') {
        let close = closing(inner)?;
        let body = inner[..close].trim();
        let rest = &inner[close + 1..];
        match word(body) {
            Some((w, parts)) if w.eq_ignore_ascii_case("and") && !negated => out.extend(literals(parts)?),
            Some((w, part)) if w.eq_ignore_ascii_case("not") && !negated => {
                let part = part.trim_start();
                let after = one(part, true, out)?;
                if !after.trim().is_empty() {
                    return None;
                }
            }
            _ => out.push(atom(&body.split_whitespace().collect::<Vec<_>>(), negated)?),
        }
        return Some(rest);
    }
    // `on(a, b)`; a name without parentheses may be any word of a sentence.
    let open = text.find('(')?;
    let close = open + 1 + closing(&text[open + 1..])?;
    let mut words = vec![text[..open].trim_end()];
    words.extend(text[open + 1..close].split([',', ' ']).map(str::trim).filter(|w| !w.is_empty()));
    out.push(atom(&words, negated)?);
    Some(&text[close + 1..])
}

/// The position of the parenthesis that closes one opened before this text.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return Some(at),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

fn atom(words: &[&str], negated: bool) -> Option<String> {
    let is_name = |w: &&str| {
        w.chars().next().is_some_and(|c| c.is_alphanumeric() || c == '_')
            && w.chars().all(|c| c.is_alphanumeric() || "-_+@#/=<>!$%&*~^.".contains(c))
    };
    if words.is_empty() || !words.iter().all(is_name) {
        return None;
    }
    let atom = format!("({})", words.join(" "));
    Some(if negated { format!("(not {atom})") } else { atom })
}
