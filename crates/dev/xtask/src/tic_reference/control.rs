//! The negative control: a change of a text must give another problem, or none.

use super::TextTask;
use super::outcome::{self, Outcome};
use super::patterns::NUMBERS;
use planforge_pddl::random::Random;
use regex::Regex;

/// The result of a change of a text.
pub(crate) enum ChangeResult {
    /// Another problem, or none.
    Heard(Outcome),
    /// Not read: the changed sentence has no known form, so the change shows nothing.
    Unread,
    /// The same problem: a renaming of objects undoes the change.
    Interchangeable,
    /// The same problem with the same names: the text states or implies the changed fact elsewhere as well.
    SaidTwice,
}

/// Converts a text: the representation, or what is not read of it.
pub(crate) type Converter<'a> = &'a mut dyn FnMut(&str) -> Result<Result<String, Vec<String>>, String>;

/// The control of one task.
pub(crate) struct Control {
    /// The first change that made a difference, and which.
    pub(crate) found: Option<(Change, Outcome)>,
    /// Changes before it that make none, or that are none.
    pub(crate) passed_over: Vec<(Change, ChangeResult)>,
}

impl Control {
    /// Tries changes, in an order that the seed fixes, until one makes a difference.
    ///
    /// # Errors
    /// As [`judge`].
    pub(crate) fn of(task: &TextTask, seed: u64, convert: Converter<'_>) -> Result<Self, String> {
        let original = original(task, convert)?;
        let mut control = Self { found: None, passed_over: Vec::new() };
        for change in changes(&task.text, seed ^ place(task))? {
            match judge(task, &original, &change, convert)? {
                ChangeResult::Heard(outcome) => {
                    control.found = Some((change, outcome));
                    break;
                }
                without_difference => control.passed_over.push((change, without_difference)),
            }
        }
        Ok(control)
    }

    /// The rows of the table, those of changes that were passed over first.
    pub(crate) fn rows(&self, task: &TextTask) -> Vec<String> {
        let row = |change: &Change, outcome: &str| {
            format!("| {} | {} | {} | {} | {outcome} |", task.suite, task.stem, change.before, change.after)
        };
        let mut rows: Vec<String> =
            self.passed_over.iter().map(|(c, judged)| row(c, judged.description())).collect();
        rows.push(match &self.found {
            Some((change, outcome)) => row(change, &outcome.to_string()),
            None => format!("| {} | {} | | | **no change makes a difference** |", task.suite, task.stem),
        });
        rows
    }
}

impl ChangeResult {
    fn description(&self) -> &'static str {
        match self {
            Self::Heard(_) => "heard",
            Self::Unread => "not read: no sentence of its form",
            Self::Interchangeable => "nothing: the objects are interchangeable",
            Self::SaidTwice => "nothing: the text says it elsewhere too",
        }
    }
}

/// The representation of the original text.
///
/// # Errors
/// A text that the converter cannot read.
fn original(task: &TextTask, convert: Converter<'_>) -> Result<String, String> {
    convert(&task.text)?.map_err(|problems| format!("{} {}: {}", task.suite, task.stem, problems.join("; ")))
}

/// The result of a change.
///
/// # Errors
/// A change that leaves the representation the same.
fn judge(
    task: &TextTask,
    original: &str,
    change: &Change,
    convert: Converter<'_>,
) -> Result<ChangeResult, String> {
    let changed = match convert(&change.text)? {
        Ok(changed) => changed,
        Err(_) => return Ok(ChangeResult::Unread),
    };
    if changed == original {
        return Err(format!("{} {}: the converter does not see {}", task.suite, task.stem, change.after));
    }
    let outcome = outcome::of(task, &changed, None)?;
    if !outcome.is_equivalent() {
        return Ok(ChangeResult::Heard(outcome));
    }
    let same = outcome::same_names(task, original, &changed)?;
    Ok(if same { ChangeResult::SaidTwice } else { ChangeResult::Interchangeable })
}

/// Totals of all changes of a suite's texts.
#[derive(Default)]
pub(crate) struct Census {
    different: usize,
    refused: usize,
    unread: usize,
    interchangeable: usize,
    said_twice: usize,
    /// One change of each kind that makes no difference.
    examples: Vec<String>,
}

impl Census {
    /// Adds all changes of a task.
    ///
    /// # Errors
    /// As [`judge`].
    pub(crate) fn add(&mut self, task: &TextTask, convert: Converter<'_>) -> Result<(), String> {
        let original = original(task, convert)?;
        for change in changes(&task.text, 0)? {
            let judged = judge(task, &original, &change, convert)?;
            let so_many = match &judged {
                ChangeResult::Heard(Outcome::Different(_)) => &mut self.different,
                ChangeResult::Heard(_) => &mut self.refused,
                ChangeResult::Unread => &mut self.unread,
                ChangeResult::Interchangeable => &mut self.interchangeable,
                ChangeResult::SaidTwice => &mut self.said_twice,
            };
            *so_many += 1;
            if *so_many == 1 && !matches!(judged, ChangeResult::Heard(_)) {
                let place = format!("{} {}", task.suite, task.stem);
                self.examples.push(format!(
                    "{place}: {} -> {}: {}",
                    change.before,
                    change.after,
                    judged.description()
                ));
            }
        }
        Ok(())
    }

    /// Five columns of a table: different, refused, not read, interchangeable, stated elsewhere.
    pub(crate) fn cells(&self) -> String {
        let counts = [self.different, self.refused, self.unread, self.interchangeable, self.said_twice];
        counts.map(|n| n.to_string()).join(" | ")
    }

    /// The examples, as lines.
    pub(crate) fn examples(&self) -> &[String] {
        &self.examples
    }
}

/// A seed for each task, so that tasks get different changes.
fn place(task: &TextTask) -> u64 {
    let bytes = [task.texts, &task.suite, &task.stem].join("/");
    bytes.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, b| (hash ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}

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
