//! The negative control: a change of a text must give another problem, or none.

use super::change::{Change, changes};
use super::outcome::{self, Outcome};
use super::tasks::TextTask;

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
pub(crate) fn original(task: &TextTask, convert: Converter<'_>) -> Result<String, String> {
    convert(&task.text)?.map_err(|problems| format!("{} {}: {}", task.suite, task.stem, problems.join("; ")))
}

/// The result of a change.
///
/// # Errors
/// A change that leaves the representation the same.
pub(crate) fn judge(
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
