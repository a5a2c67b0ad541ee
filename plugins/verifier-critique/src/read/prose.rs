//! Critiques in plain language: numbered and bulleted lists, labelled fields, headings, running text.

use super::ReplyContent;
use super::words::{ReviewLexicon, Tone};
use planforge_contract::CritiqueFinding;

/// A label in front of a text, as in `Suggestion: add it`.
enum Label {
    Finding,
    Place,
    Severity,
    Change,
    Verdict,
}

/// An item of a list, or a paragraph.
struct Item<'a> {
    heading: &'a str,
    lines: Vec<&'a str>,
}

pub(super) fn read(words: &ReviewLexicon, text: &str) -> ReplyContent {
    let mut said = ReplyContent::default();
    let mut approved = false;
    for item in items(words, text) {
        approved |= take(words, &item, &mut said);
    }
    if said.verdict.is_none() && approved {
        said.verdict = Some(true);
    }
    said
}

/// The items of a text: a bullet, a number or a blank line begins one. Code blocks are left out, a text in PDDL too.
fn items<'a>(words: &ReviewLexicon, text: &'a str) -> Vec<Item<'a>> {
    let mut items: Vec<Item<'a>> = Vec::new();
    let mut heading = "";
    let mut fenced = false;
    let mut open = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            open = false;
            continue;
        }
        let bare = line.trim();
        if fenced || bare.is_empty() {
            open &= fenced;
            continue;
        }
        if let Some(title) = title(bare) {
            match (words.tone(title), strip_bullet(bare) == bare) {
                // `1. **Missing precondition**` begins a finding; `Some things are wrong:` is not a place.
                (Tone::Objects, false) => {}
                (tone, _) => {
                    heading = if tone == Tone::Objects { "" } else { title };
                    open = false;
                    continue;
                }
            }
        }
        let content = strip_bullet(bare);
        // A line with a label of a field goes with the item above it.
        let continues = open || items.last().is_some_and(|i| !i.lines.is_empty() && is_field(content));
        match items.last_mut() {
            Some(item) if continues && (content == bare || is_field(content)) => item.lines.push(content),
            _ => items.push(Item { heading, lines: vec![content] }),
        }
        open = true;
    }
    items
}

/// A heading: `## Logic`, `**Action move**`, `Action move:`; without its marks.
fn title(line: &str) -> Option<&str> {
    let marks: &[char] = &['#', '*', '_', ' ', ':', '`'];
    let numbered = strip_bullet(line);
    let heads = line.starts_with('#')
        || (numbered.starts_with("**")
            && numbered.trim_end_matches([':', ' ']).ends_with("**")
            && numbered.matches("**").count() == 2)
        || (line.ends_with(':') && line.split_whitespace().count() <= 6);
    let bare = numbered.trim_matches(marks);
    (heads && !bare.is_empty() && !bare.contains(". ")).then_some(bare)
}

/// A line without its number or bullet.
fn strip_bullet(line: &str) -> &str {
    let line = line.trim_start_matches('>').trim_start();
    for mark in ["- ", "* ", "+ ", "\u{2022} ", "\u{2013} "] {
        if let Some(rest) = line.strip_prefix(mark) {
            return rest.trim_start();
        }
    }
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    match (rest.len() < line.len(), rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "))) {
        (true, Some(rest)) => rest.trim_start(),
        _ => line,
    }
}

/// The label of a line, and the text behind it.
fn label(line: &str) -> Option<(Label, &str)> {
    let (head, rest) = line.split_once(':')?;
    let head = head.trim_matches(['*', '_', ' ', '`']).to_lowercase();
    let label = match head.as_str() {
        "finding" | "issue" | "error" | "problem" | "mistake" | "description" => Label::Finding,
        "place" | "location" | "where" | "line" | "action" => Label::Place,
        "severity" | "level" => Label::Severity,
        "change" | "suggested change" | "suggestion" | "fix" | "suggested fix" | "correction"
        | "recommendation" | "solution" | "what to do" | "to do" => Label::Change,
        "approves" | "approve" | "approved" | "verdict" | "decision" | "conclusion" => Label::Verdict,
        _ => return None,
    };
    Some((label, rest.trim_start_matches(['*', '_', ' ']).trim()))
}

/// True if a line belongs to the finding above it.
fn is_field(line: &str) -> bool {
    matches!(label(line), Some((Label::Severity | Label::Change, _)))
        || matches!(label(line), Some((Label::Place, rest)) if rest.split_whitespace().count() <= 4)
}

/// Takes the findings of an item. Returns true if it approves of the whole.
fn take(words: &ReviewLexicon, item: &Item<'_>, said: &mut ReplyContent) -> bool {
    let mut one = CritiqueFinding { place: item.heading.to_owned(), ..CritiqueFinding::default() };
    let mut stated = None;
    let mut text: Vec<&str> = Vec::new();
    let mut labelled = false;
    for line in &item.lines {
        match label(line) {
            Some((Label::Finding, rest)) => {
                text.push(rest);
                labelled = true;
            }
            Some((Label::Place, rest)) => one.place = rest.trim_matches(['*', '`', ' ']).to_owned(),
            Some((Label::Severity, rest)) => stated = Some(words.severity(rest)),
            Some((Label::Change, rest)) => one.change = rest.to_owned(),
            Some((Label::Verdict, rest)) => said.verdict = words.verdict(rest).or(said.verdict),
            // Text after a change continues it.
            None if !one.change.is_empty() => one.change = format!("{} {line}", one.change),
            None => text.push(line),
        }
    }
    let text = text.join(" ");
    let (objections, approves) = objections(words, &text);
    let is_pddl = text.starts_with("(define") || text.starts_with("(:");
    let found = match () {
        () if is_pddl => String::new(),
        () if labelled && words.tone(&text) != Tone::Approves && !words.is_nothing(&text) => text,
        () if !objections.is_empty() => objections,
        // A change without a finding is both.
        () if !one.change.is_empty() && !words.is_nothing(&one.change) => std::mem::take(&mut one.change),
        () => String::new(),
    };
    if found.is_empty() {
        return approves;
    }
    one.severity = stated.unwrap_or_else(|| words.weight(&found));
    one.finding = found;
    said.findings.push(one);
    approves
}

/// From the first sentence of a text that objects to the last one; and whether a sentence approves of the whole.
fn objections(words: &ReviewLexicon, text: &str) -> (String, bool) {
    let sentences = sentences(text);
    let tones: Vec<Tone> = sentences.iter().map(|s| words.tone(s)).collect();
    let first = tones.iter().position(|t| *t == Tone::Objects);
    let last = tones.iter().rposition(|t| *t == Tone::Objects);
    let approves = sentences.iter().zip(&tones).any(|(s, t)| *t == Tone::Approves && words.is_overall(s));
    match (first, last) {
        (Some(first), Some(last)) => (sentences[first..=last].join(" "), approves),
        _ => (String::new(), approves),
    }
}

/// The sentences of a text. A stop within a name or a number ends none.
fn sentences(text: &str) -> Vec<&str> {
    let mut all = Vec::new();
    let mut from = 0;
    let ends = text.match_indices(['.', '!', '?']);
    for (at, mark) in ends {
        let rest = &text[at + mark.len()..];
        if rest.starts_with(char::is_whitespace) || rest.is_empty() {
            all.push(text[from..at + mark.len()].trim());
            from = at + mark.len();
        }
    }
    all.push(text[from..].trim());
    all.retain(|s| !s.is_empty());
    all
}
