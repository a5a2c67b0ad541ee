//! `planforge solve`: a plan from a text alone.

use crate::args::ProgressArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::outcome::report_text;
use clap::{Args, ValueEnum};
use planforge_app::diagnostics::render::escape;
use planforge_app::run::ModelChoice;
use planforge_app::solve::{
    Answers, PointStatus, SolveEnd, SolveRequest, SolveResult, choice_of, file_or_words, solve,
};
use planforge_app::{Question, Questions, Source};
use std::fmt::Write as _;
use std::io::{BufRead, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;

/// Plan a task that is described in words.
///
/// Models read the text several times and write PDDL. The readings are compared step by step. Where they differ, or where the text leaves
/// something open and the plan depends on it, you are asked. The first line says what the plan rests on. The text, the readings, the
/// questions with their answers, and the plan are kept in a folder, which is a suite.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge solve robot.txt --model openai:gpt-5
  planforge solve \"There are three rooms in a row. The robot is in the first ...\"
  planforge solve delivery.txt --domain vans.pddl
  planforge solve delivery.txt --rules rules.txt --out tuesday
  planforge solve robot.txt --model openai:gpt-5 --model anthropic:claude-sonnet-4-5
  planforge solve --continue robot --say \"the robot cannot open doors\"
  planforge solve --continue robot --answers robot/questions.toml")]
pub(crate) struct SolveArgs {
    /// A file with the task in words, or the words themselves.
    #[arg(required_unless_present = "continued", conflicts_with = "continued")]
    text: Option<String>,
    /// Go on in the folder of a task. Nothing is paid twice.
    #[arg(long = "continue", value_name = "DIR", conflicts_with_all = ["domain", "rules", "out"])]
    continued: Option<PathBuf>,
    /// Add a statement to the text, which is then read anew.
    #[arg(long, value_name = "WORDS", requires = "continued")]
    say: Option<String>,
    /// A domain in PDDL: the model then writes the problem alone.
    #[arg(long, value_name = "FILE")]
    domain: Option<PathBuf>,
    /// A file with the rules in words, if the text does not contain them.
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    /// The folder to make. Left out: the name of the text's file without its ending, or `task`.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// A model that reads the text, as of `planforge run`; several share the readings.
    #[arg(long, value_name = "MODEL")]
    model: Vec<String>,
    /// Override a key of the pipeline `solve`, such as `llm.main.max_tokens=8192`.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Number of independent readings; three if it is left out.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=20))]
    readings: Option<u32>,
    /// Most questions. Further open points are assumed and printed.
    #[arg(long, value_name = "N", default_value_t = 3)]
    questions: usize,
    /// Where questions go. `auto`: to the terminal; without one they are written to questions.toml, and the exit code is 27.
    #[arg(long, value_name = "WHERE", default_value = "auto")]
    ask: Ask,
    /// A file of answers: the questions.toml of the task's folder, completed.
    #[arg(long, value_name = "FILE")]
    answers: Option<PathBuf>,
    /// Take every reply from this cassette or run folder; send no request.
    #[arg(long, value_name = "CASSETTE")]
    replay: Option<PathBuf>,
    /// Also write the replies into a cassette file.
    #[arg(long, value_name = "CASSETTE")]
    record: Option<PathBuf>,
    #[command(flatten)]
    progress: ProgressArgs,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

/// Where questions go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Ask {
    Auto,
    Never,
}

pub(crate) fn run(context: &Context, args: &SolveArgs) -> Exit {
    let context = &context.with_progress(args.progress.display());
    let mut app = context.app.clone();
    if args.ask == Ask::Auto {
        app.questions = terminal();
    }
    let text = args.text.as_deref().map(|text| file_or_words(&app, text)).transpose();
    let request = |text| SolveRequest {
        text,
        continued: args.continued.clone(),
        say: args.say.clone(),
        domain: args.domain.clone().map(Source::File),
        rules: args.rules.clone().map(Source::File),
        folder: args.out.clone(),
        models: args.model.iter().cloned().map(ModelChoice::Named).collect(),
        readings: args.readings,
        questions: args.questions,
        ask: args.ask == Ask::Auto,
        answers: args.answers.clone().map(Answers::File),
        set: args.set.clone(),
        replay: args.replay.clone(),
        record: args.record.clone(),
    };
    let solved = text.and_then(|text| solve(&app, &request(text)));
    context.show(solved, |result| print(context, args, &result))
}

fn print(context: &Context, args: &SolveArgs, result: &SolveResult) -> Exit {
    if args.json {
        context.output.json(result);
    } else {
        context.output.result(&text_of(result));
    }
    let folder = result.folder.display();
    match result.end {
        SolveEnd::Planned | SolveEnd::Unsolvable | SolveEnd::NoPlanFound => context.output.note(&format!(
            "everything is in {folder}; correct it with `planforge solve --continue {folder} --say \"...\"`"
        )),
        SolveEnd::NeedsAnswers => context.output.note(&format!(
            "write the answers into {folder}/questions.toml, then: planforge solve --continue {folder}"
        )),
        SolveEnd::Unfinished => {
            let waiting = result.runs.iter().filter(|run| run.pending.is_some());
            let replies = waiting.filter_map(|run| run.answers.as_ref());
            for answers in replies {
                context.output.note(&format!("replies go to {}", answers.display()));
            }
            context.output.note(&format!("go on with `planforge solve --continue {folder}`"));
        }
        SolveEnd::NotATask | SolveEnd::Failed => {
            context.output.note(&format!("the text and the runs are in {folder}"));
        }
    }
    result.runs.iter().filter_map(|run| run.hint.as_ref()).for_each(|hint| context.output.note(hint));
    if result.lacks_model() && args.model.is_empty() {
        context.output.note(
            "name a model with --model, such as openai:NAME, anthropic:NAME or local:FILE.gguf; `planforge demo` needs none",
        );
    } else if result.end == SolveEnd::Failed && !result.lacks_model() {
        context.output.note(
            "try another model (--model), more repairs (--set stage.repair.rounds=6), or give the domain in PDDL (--domain FILE)",
        );
    }
    result.status()
}

/// The result as text. Everything that a model wrote is escaped.
pub(super) fn text_of(result: &SolveResult) -> String {
    let mut out = format!("{}\n", escape(&result.line));
    let mut section = |title: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            let lines: Vec<String> = lines.iter().map(|line| format!("  {}", escape(line))).collect();
            // Writing to a text cannot fail.
            let _ = write!(out, "\n{title}:\n{}\n", lines.join("\n"));
        }
    };
    let plan: Vec<String> = match &result.words {
        Some(words) => words.lines().map(str::to_owned).collect(),
        None => result.plan.clone(),
    };
    section("Plan", plan);
    section("There would be a plan if", result.solvable_if.clone());
    section("Changes", result.changes.clone());
    let points = |status| {
        let of = result.points.iter().filter(move |point| point.status == status);
        of.map(|point| {
            let follows = point.follows.checked_sub(1).and_then(|at| point.choices.get(at));
            let waits =
                if point.status == PointStatus::Open { "" } else { follows.map_or("", String::as_str) };
            format!("{} {waits}", point.question).trim_end().to_owned()
        })
        .collect()
    };
    section("Open questions", points(PointStatus::Open));
    section("Answered", points(PointStatus::Answered));
    section("Decided by a sentence of the text", points(PointStatus::DecidedByText));
    section("Assumed", points(PointStatus::Assumed));
    section("The same plan either way", points(PointStatus::EitherWay));
    if let Some(trust) = &result.trust {
        let unused = trust.unused_sentences.iter();
        section(
            "Sentences that are not used",
            unused.map(|one| format!("[{}] {}", one.number, one.text)).collect(),
        );
        section("Parts that no sentence states", trust.assumed_parts.clone());
        section("Remarks", trust.left_out.iter().chain(&trust.remarks).cloned().collect());
    }
    if result.end == SolveEnd::Failed {
        for run in &result.runs {
            out.push('\n');
            out.push_str(&report_text(&run.report, &run.task_texts, &run.explained_plans, false));
        }
    }
    out
}

/// The person at the terminal, if there is one.
pub(super) fn terminal() -> Option<Arc<dyn Questions>> {
    let has_terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    has_terminal.then(|| Arc::new(Terminal) as Arc<dyn Questions>)
}

/// Asks on the terminal.
struct Terminal;

impl Questions for Terminal {
    fn answer(&self, question: &Question) -> Option<String> {
        ask(question, &mut std::io::stdin().lock(), &mut std::io::stderr())
    }
}

/// The question with its numbered choices.
pub(super) fn question_text(question: &Question) -> String {
    let mut shown = format!("\n{}\n", escape(&question.text));
    for (number, choice) in question.choices.iter().enumerate() {
        // Writing to a text cannot fail.
        let _ = writeln!(shown, "  {}  {}", number + 1, escape(choice));
    }
    shown
}

/// Prints the question with its choices and reads the answer: a number, or words. `None` at the end of the input.
fn ask(question: &Question, input: &mut dyn BufRead, output: &mut dyn Write) -> Option<String> {
    output.write_all(question_text(question).as_bytes()).ok()?;
    let mut read = |prompt: &str| {
        let mut line = String::new();
        write!(output, "{prompt}").and_then(|()| output.flush()).ok()?;
        (input.read_line(&mut line).ok()? > 0).then(|| line.trim().to_owned())
    };
    loop {
        match read("> ")?.as_str() {
            "" => {}
            answer
                if question.own_words.is_some()
                    && choice_of(answer, &question.choices) == question.own_words =>
            {
                let words = read("what is true instead? ")?;
                if !words.is_empty() {
                    return Some(words);
                }
            }
            answer => return Some(answer.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_that_is_not_told_in_sentences_is_shown_as_pddl() {
        let mut result = SolveResult {
            line: "planned: 1 step.".to_owned(),
            end: SolveEnd::Planned,
            folder: PathBuf::from("goats"),
            domain: String::new(),
            problem: String::new(),
            plan: vec!["(row west east)".to_owned()],
            words: None,
            optimal: false,
            points: Vec::new(),
            trust: None,
            solvable_if: Vec::new(),
            changes: Vec::new(),
            requests: 0,
            tokens: 0,
            runs: Vec::new(),
        };
        assert_eq!(text_of(&result), "planned: 1 step.\n\nPlan:\n  (row west east)\n");
        result.words = Some("1. row west east: Nothing changes.\n".to_owned());
        assert_eq!(text_of(&result), "planned: 1 step.\n\nPlan:\n  1. row west east: Nothing changes.\n");
    }

    #[test]
    fn a_question_takes_a_number_or_words_and_repeats_after_an_empty_line() {
        let question = Question {
            text: "May it carry two?".to_owned(),
            choices: vec!["yes".into(), "no".into()],
            ..Question::default()
        };
        let with_words = ["yes", "no", "either", "none of these (type what is true)"].map(str::to_owned);
        let with_words = Question { choices: with_words.to_vec(), own_words: Some(4), ..question.clone() };
        let mut shown = Vec::new();
        for (typed, answer) in [
            ("1\n", Some("1")),
            ("\n2\n", Some("2")),
            ("only small ones\n", Some("only small ones")),
            ("", None),
        ] {
            shown.clear();
            assert_eq!(ask(&question, &mut typed.as_bytes(), &mut shown).as_deref(), answer, "{typed:?}");
        }
        for typed in ["4\nthree at most\n", "none\n\n4\nthree at most\n"] {
            assert_eq!(ask(&with_words, &mut typed.as_bytes(), &mut shown).as_deref(), Some("three at most"));
        }
        assert_eq!(ask(&question, &mut "4\n".as_bytes(), &mut shown).as_deref(), Some("4"));
        let mut shown = Vec::new();
        ask(&question, &mut "1\n".as_bytes(), &mut shown);
        assert_eq!(String::from_utf8(shown).unwrap(), "\nMay it carry two?\n  1  yes\n  2  no\n> ");
    }
}
