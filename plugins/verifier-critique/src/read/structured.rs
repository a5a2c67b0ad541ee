//! Critiques in JSON with any names of keys.

use super::ReplyContent;
use super::words::{ReviewLexicon, Tone};
use planforge_contract::{CritiqueFinding, FindingSeverity};
use planforge_plugin_sdk::loose::{Entry, Kind, Salvaged, Value};

/// Keys that lists of findings have, in whole or in part.
const LISTS: [&str; 13] = [
    "finding",
    "error",
    "issue",
    "problem",
    "mistake",
    "grammar",
    "logic",
    "thought",
    "feedback",
    "critique",
    "comment",
    "suggestion",
    "warning",
];
/// Keys that state a verdict.
const VERDICTS: [&str; 16] = [
    "approves",
    "approve",
    "approved",
    "approval",
    "accept",
    "accepts",
    "accepted",
    "correct",
    "is_correct",
    "valid",
    "is_valid",
    "ok",
    "passes",
    "verdict",
    "decision",
    "status",
];
/// Keys of a finding, best first.
const FINDING: [&str; 12] = [
    "finding",
    "issue",
    "error",
    "mistake",
    "problem",
    "description",
    "message",
    "what",
    "detail",
    "details",
    "explanation",
    "text",
];
const PLACE: [&str; 8] = ["place", "where", "location", "step", "action", "line", "element", "predicate"];
const SEVERITY: [&str; 4] = ["severity", "level", "importance", "priority"];
const CHANGE: [&str; 10] = [
    "change",
    "suggested_change",
    "suggestion",
    "suggested_fix",
    "fix",
    "correction",
    "recommendation",
    "solution",
    "replacement",
    "to_do",
];

/// Reads the JSON of a reply. `None` if none of it can be a critique.
pub(super) fn read(words: &ReviewLexicon, found: &Salvaged) -> Option<ReplyContent> {
    let mut said = ReplyContent::default();
    let mut any = false;
    for (_, value) in &found.values {
        any |= match &value.kind {
            Kind::Object(entries) => object(words, entries, &mut said),
            Kind::List(values) => list(words, values, "", &mut said),
            _ => false,
        };
    }
    any.then_some(said)
}

/// The text around the JSON.
pub(super) fn around(text: &str, found: &Salvaged) -> String {
    let mut out = String::new();
    let mut at = 0;
    for (range, _) in &found.values {
        out.push_str(&text[at..range.start]);
        out.push('\n');
        at = range.end;
    }
    out.push_str(&text[at..]);
    // The rest of the block's fence.
    out.lines().filter(|line| !line.trim_start().starts_with("```")).collect::<Vec<_>>().join("\n")
}

/// Reads a critique or a single finding. Returns false for other objects.
fn object(words: &ReviewLexicon, entries: &[Entry], said: &mut ReplyContent) -> bool {
    let mut any = false;
    for entry in entries {
        let key = plain(&entry.key);
        match &entry.value.kind {
            Kind::List(values) if LISTS.iter().any(|l| key.contains(l)) => {
                list(words, values, "", said);
                any = true;
            }
            Kind::Boolean(verdict) if VERDICTS.contains(&key.as_str()) => {
                said.verdict = Some(*verdict);
                any = true;
            }
            Kind::Text(text) if VERDICTS.contains(&key.as_str()) => {
                if let Some(verdict) = words.verdict(text) {
                    said.verdict = Some(verdict);
                    any = true;
                }
            }
            // A nested part of the critique, as `{"critique": {...}}`.
            Kind::Object(inner) if LISTS.iter().any(|l| key.contains(l)) => any |= object(words, inner, said),
            _ => {}
        }
    }
    any || finding(words, entries, said)
}

/// Findings in a list. Whether it holds any, or is empty.
fn list(words: &ReviewLexicon, values: &[Value], place: &str, said: &mut ReplyContent) -> bool {
    let mut any = values.is_empty();
    for value in values {
        any |= match &value.kind {
            Kind::Object(entries) => object(words, entries, said),
            Kind::Text(text) => {
                let one =
                    CritiqueFinding { place: place.to_owned(), finding: text.clone(), ..Default::default() };
                add(words, one, false, said);
                true
            }
            Kind::List(inner) => list(words, inner, place, said),
            _ => false,
        };
    }
    any
}

/// One finding. Whether the object is one.
fn finding(words: &ReviewLexicon, entries: &[Entry], said: &mut ReplyContent) -> bool {
    let get = |keys: &'static [&'static str]| {
        keys.iter().find_map(|key| {
            let entry = entries.iter().find(|e| plain(&e.key) == *key)?;
            to_text(&entry.value).filter(|t| !t.trim().is_empty()).map(|text| (*key, text))
        })
    };
    let change = get(&CHANGE).map(|(_, text)| text).unwrap_or_default();
    let Some(text) =
        get(&FINDING).map(|(_, text)| text).or_else(|| (!change.is_empty()).then(|| change.clone()))
    else {
        return false;
    };
    let place = match get(&PLACE) {
        // `{"action": "move"}`, `{"line": 12}`: the key names the kind of place.
        Some((key @ ("action" | "line" | "predicate" | "step"), text))
            if !text.to_lowercase().contains(key) =>
        {
            format!("{key} {text}")
        }
        Some((_, text)) => text,
        None => String::new(),
    };
    let stated = get(&SEVERITY).map(|(_, text)| words.severity(&text));
    let one = CritiqueFinding {
        change: if change == text { String::new() } else { change },
        finding: text,
        place,
        action: None,
        severity: stated.unwrap_or(FindingSeverity::Error),
    };
    add(words, one, stated.is_some(), said);
    true
}

/// Adds a finding, unless it states that there is none or repeats the form of the question.
fn add(words: &ReviewLexicon, mut one: CritiqueFinding, stated: bool, said: &mut ReplyContent) {
    if words.is_echo(&one) {
        said.echoes += 1;
        return;
    }
    match words.tone(&one.finding) {
        Tone::Approves if one.change.is_empty() || words.is_nothing(&one.change) => {
            said.verdict = said.verdict.or(words.is_overall(&one.finding).then_some(true));
            return;
        }
        Tone::Nothing => return,
        _ => {}
    }
    if !stated {
        one.severity = words.weight(&one.finding);
    }
    if words.is_nothing(&one.change) {
        one.change.clear();
    }
    said.findings.push(one);
}

/// A key without case, blanks and hyphens.
fn plain(key: &str) -> String {
    key.trim().to_lowercase().replace([' ', '-'], "_")
}

/// A value as text; of a list its texts.
fn to_text(value: &Value) -> Option<String> {
    match &value.kind {
        Kind::Text(text) => Some(text.clone()),
        Kind::Number(number) => Some(number.to_string()),
        Kind::List(values) => {
            let texts: Vec<String> = values.iter().filter_map(to_text).collect();
            (!texts.is_empty()).then(|| texts.join(" "))
        }
        Kind::Null | Kind::Boolean(_) | Kind::Object(_) => None,
    }
}
