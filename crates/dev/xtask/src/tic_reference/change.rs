//! Seeded changes of one name or one number of a text.

use super::ir::NUMBERS;
use planforge_pddl::random::Random;
use regex::Regex;

/// A text with one word changed.
pub(crate) struct Change {
    pub(crate) text: String,
    /// The line with the change, before and after, the word in bold.
    pub(crate) before: String,
    pub(crate) after: String,
}

/// Names without a number, in groups of interchangeable members.
const WORDS: [&[&str]; 3] = [&["white", "black"], &["red", "blue"], &["jack", "pump", "wrench"]];

/// All changes in an order that the seed fixes: a name becomes another of its kind that the text has, a number one more.
///
/// # Errors
/// Never in practice: the expression for words is fixed.
pub(crate) fn changes(text: &str, seed: u64) -> Result<Vec<Change>, String> {
    let word = Regex::new(r"[\w-]+").map_err(|e| e.to_string())?;
    let mut names: Vec<&str> = word.find_iter(text).map(|m| m.as_str()).filter(|w| is_name(w)).collect();
    names.sort_unstable();
    names.dedup();
    let mut changes = Vec::new();
    let mut before = "";
    for found in word.find_iter(text) {
        for instead in alternatives(found.as_str(), before, &names) {
            changes.push(change(text, found.range(), &instead));
        }
        before = found.as_str();
    }
    let count = changes.len();
    Random::new(seed).shuffle_front(&mut changes, count);
    Ok(changes)
}

/// A letter first and a digit somewhere: `b2`, `tile_0-1`.
fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_lowercase()) && word.contains(|c: char| c.is_ascii_digit())
}

/// A name with its digits left out.
fn kind(name: &str) -> String {
    name.chars().filter(|c| !c.is_ascii_digit()).collect()
}

fn alternatives(word: &str, before: &str, names: &[&str]) -> Vec<String> {
    if let Ok(number) = word.parse::<u32>() {
        return vec![(number + 1).to_string()];
    }
    // "the one before it" counts nothing.
    let counts = &NUMBERS[1..];
    if let Some(at) = counts.iter().position(|n| *n == word).filter(|_| !before.eq_ignore_ascii_case("the")) {
        return counts.get(at + 1).map(|n| (*n).to_owned()).into_iter().collect();
    }
    if let Some(group) = WORDS.iter().find(|g| g.contains(&word)) {
        return group.iter().filter(|w| **w != word).map(|w| (*w).to_owned()).collect();
    }
    if !is_name(word) {
        return Vec::new();
    }
    let of_its_kind = names.iter().filter(|n| **n != word && kind(n) == kind(word));
    of_its_kind.map(|n| (*n).to_owned()).collect()
}

fn change(text: &str, at: std::ops::Range<usize>, instead: &str) -> Change {
    let start = text[..at.start].rfind('\n').map_or(0, |i| i + 1);
    let end = text[at.end..].find('\n').map_or(text.len(), |i| at.end + i);
    let quote = |word: &str| {
        let (from, to) = excerpt(text, start, end, &at);
        format!("{}**{word}**{}", text[from..at.start].trim_start(), text[at.end..to].trim_end())
    };
    Change {
        text: format!("{}{instead}{}", &text[..at.start], &text[at.end..]),
        before: quote(&text[at.clone()]),
        after: quote(instead),
    }
}

/// The sentence around a word, within its line: long lists are cut at `;`.
fn excerpt(text: &str, start: usize, end: usize, at: &std::ops::Range<usize>) -> (usize, usize) {
    let from = text[start..at.start].rfind(['.', ';']).map_or(start, |i| start + i + 1);
    let to = text[at.end..end].find(['.', ';']).map_or(end, |i| at.end + i);
    (from, to)
}
