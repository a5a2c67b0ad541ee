//! Mutations of texts: single bytes, tokens, and ranges.

use planforge_pddl::random::Random;

/// Tokens that mutations insert.
const TOKENS: [&str; 34] = [
    "(",
    ")",
    "and",
    "or",
    "not",
    "imply",
    "when",
    "forall",
    "exists",
    "=",
    "-",
    "+",
    "/",
    "*",
    ">=",
    "increase",
    "assign",
    "scale-down",
    "either",
    "object",
    "?x",
    ":goal",
    ":init",
    ":action",
    ":derived",
    ":metric",
    ":durative-action",
    "at start",
    "preference",
    "total-cost",
    "1e308",
    "0.0000000000001",
    "99999999999999999999999999999999999999999",
    "é",
];

/// A text with one to four mutations. Bytes that are not UTF-8 are replaced, as readers of files do.
pub(crate) fn mutate(text: &str, random: &mut Random) -> String {
    let mut text = text.to_owned();
    for _ in 0..=random.below(4) {
        text = if random.chance(0.4) { mutate_bytes(&text, random) } else { mutate_tokens(&text, random) };
    }
    text
}

fn mutate_bytes(text: &str, random: &mut Random) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let at = random.below(bytes.len() as u64) as usize;
    let end = (at + random.below(40) as usize).min(bytes.len());
    match random.below(5) {
        _ if bytes.is_empty() => bytes.push(b'('),
        0 => bytes[at] ^= 1 << random.below(8),
        1 => bytes[at] = random.below(256) as u8,
        2 => drop(bytes.drain(at..end)),
        3 => bytes.truncate(at),
        _ => {
            let range = bytes[at..end].to_vec();
            let to = random.below(bytes.len() as u64) as usize;
            bytes.splice(to..to, range);
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn mutate_tokens(text: &str, random: &mut Random) -> String {
    let spaced = text.replace('(', " ( ").replace(')', " ) ");
    let mut tokens: Vec<&str> = spaced.split_whitespace().collect();
    if tokens.is_empty() {
        return "(".to_owned();
    }
    let position = |random: &mut Random, tokens: &[&str]| random.below(tokens.len() as u64) as usize;
    let (at, other) = (position(random, &tokens), position(random, &tokens));
    let foreign = random.pick(&TOKENS).copied().unwrap_or("(");
    match random.below(7) {
        0 => tokens.swap(at, other),
        1 => drop(tokens.remove(at)),
        2 => tokens[at] = foreign,
        3 => tokens[at] = tokens[other],
        4 => tokens.insert(at, foreign),
        // A whole expression is repeated elsewhere, or dropped.
        5 => {
            let range: Vec<&str> = tokens[expression(&tokens, at)].to_vec();
            tokens.splice(other..other, range);
        }
        _ => drop(tokens.drain(expression(&tokens, at))),
    }
    tokens.join(" ")
}

/// The range of the first expression at or after a token, to its closing parenthesis.
fn expression(tokens: &[&str], at: usize) -> std::ops::Range<usize> {
    let Some(start) = (at..tokens.len()).find(|&i| tokens[i] == "(") else { return at..at + 1 };
    let mut depth = 0usize;
    for (i, token) in tokens.iter().enumerate().skip(start) {
        match *token {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return start..i + 1;
        }
    }
    start..tokens.len()
}
