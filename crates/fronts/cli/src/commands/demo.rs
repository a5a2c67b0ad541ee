//! `planforge demo`: a task in words, on recorded replies of a model.

use super::solve::{question_text, terminal, text_of};
use crate::context::Context;
use crate::exit::Exit;
use clap::Args;
use planforge_app::Question;
use planforge_app::demo::demo;
use planforge_app::diagnostics::render::escape;
use std::fmt::Write as _;

/// Show the way from a text to a plan, on recorded replies of a model.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  planforge demo\n  planforge demo --model local:weights/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
)]
pub(crate) struct DemoArgs {
    /// Ask this model in the place of the recorded one, as in `planforge solve`; the questions are then yours.
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(context: &Context, args: &DemoArgs) -> Exit {
    let mut app = context.app.clone();
    if args.model.is_some() {
        app.questions = terminal();
    }
    context.show(demo(&app, args.model.as_deref()), |result| {
        if args.json {
            context.output.json(&result);
            return result.solved.status();
        }
        let lines: Vec<String> = result.text.lines().map(escape).collect();
        let mut text = format!("The text:\n\n{}\n", lines.join("\n"));
        // Questions of a live model were on the terminal already.
        for asked in result.dialogue.iter().filter(|_| args.model.is_none()) {
            let question = Question { text: asked.question.clone(), choices: asked.choices.clone(), ..Question::default() };
            // Writing to a text cannot fail.
            let _ = writeln!(text, "{}> {}  (recorded)", question_text(&question), escape(&asked.answer));
        }
        let _ = write!(text, "\n{}", text_of(&result.solved));
        context.output.result(&text);
        context.output.note("your own task: planforge solve my-task.txt --model openai:NAME (or anthropic:NAME, gemini:NAME, local:FILE.gguf)");
        result.solved.status()
    })
}
