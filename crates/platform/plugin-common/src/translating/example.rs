//! In-context examples from the materials of a task.

use crate::translating::codes::NO_EXAMPLE;
use planforge_contract::{Failure, FailureClass, TaskView};

/// A material with the name that messages have for it.
pub type NamedMaterial<'a> = (&'static str, &'a Option<String>);

/// A material without blanks around it; `None` if it is absent or blank.
pub fn material(text: &Option<String>) -> Option<&str> {
    text.as_deref().map(str::trim).filter(|text| !text.is_empty())
}

/// The two halves of an example. `wanted`: `false` returns none, `true` requires one, left out returns what the task has.
///
/// # Errors
/// Class `Request`: a required half is missing, or the suite has an answer without its question.
pub fn example_pair<'a>(
    task: &TaskView,
    (question, question_text): NamedMaterial<'a>,
    (answer, answer_text): NamedMaterial<'a>,
    wanted: Option<bool>,
) -> Result<Option<(&'a str, &'a str)>, Failure> {
    if wanted == Some(false) {
        return Ok(None);
    }
    match (material(question_text), material(answer_text)) {
        (Some(question), Some(answer)) => Ok(Some((question, answer))),
        // A text alone is not a mistake in the suite: other methods show other answers to it.
        (_, None) if wanted.is_none() => Ok(None),
        (found, _) => {
            let lost = if found.is_none() { question } else { answer };
            let help = format!("add `{question}` and `{answer}` to the suite, or set `example = false`");
            Err(missing_example(task, lost).help(help))
        }
    }
}

/// The failure of an example without the material `lost`.
pub fn missing_example(task: &TaskView, lost: &str) -> Failure {
    let message = format!("suite `{}` has no material `{lost}` for the in-context example", task.suite);
    Failure::new(FailureClass::Request, NO_EXAMPLE, message)
}
