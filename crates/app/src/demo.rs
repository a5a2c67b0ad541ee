//! A task in words from text to plan, with questions, on replies that were recorded from a model or on those of another one. Everything else
//! is in the binary, so it works anywhere, without key and network.

use crate::context::Context;
use crate::error::Error;
use crate::inputs::Source;
use crate::question::Question;
use crate::run::ModelChoice;
use crate::solve::{SolveRequest, SolveResult, solve};
use planforge_contract::{Failure, FailureClass};
use serde::Serialize;
use std::sync::{Arc, Mutex, PoisonError};

/// The text of the demo.
pub const TEXT: &str = include_str!("../../../examples/demo/bakery.txt");
const CASSETTE: &str = include_str!("../../../examples/demo/bakery.jsonl");

/// The model whose replies are recorded.
const RECORDED: &str = "batch:frontier";

/// The author's answers: words of the question, and the beginning of the choice.
const ANSWERS: [(&str, &str); 2] = [("two cakes", "no:"), ("icing bag empty", "yes:")];

/// What the demo shows.
#[derive(Debug, Clone, Serialize)]
pub struct DemoResult {
    /// The text.
    pub text: &'static str,
    /// The questions that were asked, with their answers.
    pub dialogue: Vec<Asked>,
    /// The answer to the text.
    pub solved: SolveResult,
}

/// A question of the demo.
#[derive(Debug, Clone, Serialize)]
pub struct Asked {
    /// The question.
    pub question: String,
    /// The choices.
    pub choices: Vec<String>,
    /// The answer of the recorded author, or of the user.
    pub answer: String,
}

/// Runs the demo. `model` answers in the place of the recorded one, and the user in the place of the recorded author.
///
/// # Errors
/// As of [`solve`].
pub fn demo(context: &Context, model: Option<&str>) -> Result<DemoResult, Error> {
    let folder = tempfile::tempdir().map_err(|error| system(&error))?;
    let dialogue: Arc<Mutex<Vec<Asked>>> = Arc::default();
    let (seen, user) = (Arc::clone(&dialogue), context.questions.clone());
    let is_recorded = model.is_none();
    let answer = move |question: &Question| {
        let answer = match &user {
            _ if is_recorded => recorded_answer(question),
            Some(user) => user.answer(question)?,
            None => return None,
        };
        let Question { text, choices, .. } = question.clone();
        let asked = Asked { question: text, choices, answer: answer.clone() };
        seen.lock().unwrap_or_else(PoisonError::into_inner).push(asked);
        Some(answer)
    };
    let ask = is_recorded || context.questions.is_some();
    let context = Context { questions: Some(Arc::new(answer)), ..context.clone() };
    let request = SolveRequest {
        text: Some(Source::text("task", TEXT)),
        folder: Some(folder.path().join("bakery")),
        models: model.map(|model| ModelChoice::Named(model.to_owned())).into_iter().collect(),
        ask,
        ..SolveRequest::default()
    };
    let solved = if is_recorded { solve_recorded(&context, request)? } else { solve(&context, &request)? };
    let dialogue = dialogue.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Ok(DemoResult { text: TEXT, dialogue, solved })
}

/// Solves the text of the demo on the recorded replies. The questions go to the user.
///
/// # Errors
/// Another text; as of [`solve`].
pub fn solve_recorded(context: &Context, request: SolveRequest) -> Result<SolveResult, Error> {
    if request.continued.is_some() {
        // The runs of its folder have the replies.
        return solve(context, &SolveRequest { models: Vec::new(), ..request });
    }
    if !matches!(&request.text, Some(Source::Text { text, .. }) if text.trim() == TEXT.trim()) {
        let help = "take the text of the demo as it is, or name another model";
        return Err(Error::usage("the recorded model knows the text of the demo alone", Some(help)));
    }
    let place = tempfile::tempdir().map_err(|error| system(&error))?;
    let cassette = place.path().join("bakery.jsonl");
    std::fs::write(&cassette, CASSETTE).map_err(|error| system(&error))?;
    let text = Some(Source::text("task", TEXT));
    let models = vec![ModelChoice::Named(RECORDED.to_owned())];
    solve(context, &SolveRequest { text, models, replay: Some(cassette), ..request })
}

fn system(error: &std::io::Error) -> Failure {
    Failure::new(FailureClass::System, "record.io", error.to_string())
}

/// The recorded author's answer; that it is unknown where another question is asked.
fn recorded_answer(question: &Question) -> String {
    let known = ANSWERS.iter().find(|(words, _)| question.text.contains(words));
    let is_meant = |choice: &String| known.is_some_and(|(_, beginning)| choice.starts_with(beginning));
    let choice = question.choices.iter().position(is_meant);
    choice.map_or("unknown".to_owned(), |at| (at + 1).to_string())
}
