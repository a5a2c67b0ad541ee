//! `planforge runs rounds`: what a refine stage did to a candidate, from the run folder: each round's critique, what it made of the candidate,
//! and what changed (test-time-scaling paper, Table 3).

use crate::args::run_argument;
use crate::context::Context;
use crate::exit::Exit;
use clap::Args;
use planforge_app::contract::{CritiqueFinding, FindingSeverity};
use planforge_app::diagnostics::render::escape;
use planforge_app::runs::{
    ActionChange, ActionClass, RefineRound, Refinement, Rounds, RoundsRequest, StageFeedback, rounds,
};
use planforge_app::table::{Align, Table};
use std::path::PathBuf;

/// Show the rounds of refinement: critique, changes, each action before and after.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge runs rounds runs/20261121-101500-bon-ivml
  planforge runs rounds runs/20261121-101500-bon-ivml --task p01 --action stack
  planforge runs rounds evaluation/cells/blocks/bon-ivml/42 --markdown

Exits with 10 where no round changed the action that is named.")]
pub(crate) struct RoundsArgs {
    /// A run folder.
    #[arg(value_parser = run_argument())]
    pub(crate) run: PathBuf,
    /// Only this task: `blocks.p01`, or `p01`.
    #[arg(long)]
    pub(crate) task: Option<String>,
    /// Only this action.
    #[arg(long, value_name = "NAME")]
    pub(crate) action: Option<String>,
    /// Print one JSON object instead of text.
    #[arg(long, conflicts_with = "markdown")]
    pub(crate) json: bool,
    /// Print a Markdown table: an action's text, the action before, the critique and the action after.
    #[arg(long)]
    pub(crate) markdown: bool,
}

pub(crate) fn run(context: &Context, args: &RoundsArgs) -> Exit {
    let request =
        RoundsRequest { run: args.run.clone(), task: args.task.clone(), action: args.action.clone() };
    context.show(rounds(&context.app, &request), |result| {
        let (output, shown) = (&context.output, &result.rounds);
        if args.json {
            output.json(&result);
        }
        match &args.action {
            Some(action) if !result.has_action => output
                .note(&format!("no round changed an action `{}`, and no critique names it", escape(action))),
            _ if args.json => {}
            _ if args.markdown => output.result(&table(shown).markdown()),
            action => output.result(&text(shown, action.is_some())),
        }
        result.status()
    })
}

/// A row an action and round, as in the paper.
fn table(shown: &Rounds) -> Table {
    let columns = ["task", "round", "text", "before", "critique", "after"];
    let mut table = Table::new(columns.map(|name| (name, Align::Left)));
    for (task, candidate) in shown.tasks.iter().flat_map(|t| t.candidates.iter().map(move |c| (&t.task, c))) {
        for round in &candidate.rounds {
            for action in &round.actions {
                let mut notes: Vec<String> = action.findings.iter().map(finding).collect();
                // The feedback begins with the class.
                if let Some(class) = &action.class {
                    notes.push(class.told.clone().unwrap_or_else(|| words(class)));
                }
                if let (Some(_), Some(after)) = (&action.class, &action.class_after) {
                    notes.push(format!("after the round: {}", words(after)));
                }
                let cell = |text: &str| in_cell(text);
                table.row([
                    cell(task),
                    round.round.to_string(),
                    cell(action.text.as_deref().unwrap_or("-")),
                    code(action.before.as_deref()),
                    cell(if notes.is_empty() { "-".to_owned() } else { notes.join("; ") }.as_str()),
                    code(action.after.as_deref().filter(|_| round.made.is_some())),
                ]);
            }
        }
    }
    table
}

/// One line: a cell of a Markdown table cannot hold several.
fn in_cell(text: &str) -> String {
    escape(&text.split_whitespace().collect::<Vec<_>>().join(" ")).replace('<', "&lt;")
}

fn code(text: Option<&str>) -> String {
    let Some(text) = text else { return "-".to_owned() };
    let line = escape(&text.split_whitespace().collect::<Vec<_>>().join(" ")).replace('`', "'");
    format!("`{line}`")
}

fn text(shown: &Rounds, actions_alone: bool) -> String {
    let candidates = || shown.tasks.iter().flat_map(|task| &task.candidates);
    let mut out = format!(
        "{} refined {} of {}.\n\n",
        many(candidates().map(|candidate| candidate.rounds.len()).sum(), "round"),
        many(candidates().count(), "candidate"),
        many(shown.tasks.len(), "task")
    );
    for (task, candidate) in shown.tasks.iter().flat_map(|t| t.candidates.iter().map(move |c| (&t.task, c))) {
        let rounds = many(candidate.rounds.len(), "round");
        let (path, stage) = (escape(&candidate.initial.path), escape(&candidate.stage));
        out += &format!("=== {}: {path} in `{stage}`, {rounds}\n", escape(task));
        if !actions_alone {
            initial(&mut out, candidate);
        }
        for round in &candidate.rounds {
            one_round(&mut out, round, actions_alone);
        }
        out += "\n";
    }
    out
}

fn many(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

fn initial(out: &mut String, candidate: &Refinement) {
    let initial = &candidate.initial;
    block(out, "Thought T_0", initial.thought.as_deref().unwrap_or("(none)"));
    block(out, "D_0", &initial.pddl);
}

fn one_round(out: &mut String, round: &RefineRound, actions_alone: bool) {
    let number = round.round;
    *out += &format!("\n--- round {number}\n");
    if !actions_alone {
        for feedback in &round.said {
            push_feedback(out, feedback, number);
        }
    }
    match &round.made {
        None => *out += "No reply of this round could be used; the candidate stays as it is.\n",
        Some(_) if round.differences.is_empty() && !actions_alone => {
            *out += "Nothing changed but spaces, comments and the order of things, if anything did.\n";
        }
        Some(_) => {}
    }
    for action in &round.actions {
        self::action(out, action, number);
    }
    if let Some(made) = round.made.as_ref().filter(|_| !actions_alone) {
        if !round.differences.is_empty() {
            block(out, "What changed", &round.differences.join("\n"));
        }
        block(out, &format!("Thought T_{number}"), made.thought.as_deref().unwrap_or("(none)"));
        if !round.diff.is_empty() {
            block(out, &format!("D_{} to D_{number}", number - 1), &round.diff);
        }
    }
}

fn push_feedback(out: &mut String, feedback: &StageFeedback, number: u32) {
    let summary = escape(feedback.summary.trim_end_matches('.'));
    let title = format!("F_{number} ({}: {}) {summary}", escape(&feedback.stage), feedback.decision);
    match &feedback.critique {
        Some(critique) if !critique.findings.is_empty() => {
            let lines: Vec<String> = critique.findings.iter().map(finding).collect();
            block(out, &title, &lines.join("\n"));
        }
        Some(critique) => block(out, &title, &critique.reply),
        None => block(out, &title, &feedback.feedback.join("\n")),
    }
}

fn finding(finding: &CritiqueFinding) -> String {
    let severity = match finding.severity {
        FindingSeverity::Error => "error",
        FindingSeverity::Warning => "warning",
    };
    let place = if finding.place.is_empty() { String::new() } else { format!(" at {}", finding.place) };
    let change = if finding.change.is_empty() { String::new() } else { format!(" -> {}", finding.change) };
    format!("{severity}{place}: {}{change}", finding.finding)
}

fn action(out: &mut String, action: &ActionChange, number: u32) {
    *out += &format!("Action {}\n", escape(&action.action));
    if let Some(text) = &action.text {
        block(out, "  Text", text);
    }
    for one in &action.findings {
        block(out, "  Critique", &finding(one));
    }
    if let Some(class) = &action.class {
        let mut classes = words(class);
        if let Some(after) = &action.class_after {
            classes += &format!(", and after the round {}", words(after));
        }
        block(out, "  Result class", &classes);
        if let Some(feedback) = &class.told {
            block(out, "  Feedback about the class", feedback);
        }
    }
    let before = action.before.as_deref().unwrap_or("(not there)");
    block(out, &format!("  Before (D_{})", number - 1), before);
    if action.before != action.after {
        block(out, &format!("  After (D_{number})"), action.after.as_deref().unwrap_or("(not there)"));
    } else {
        *out += "  It stays as it is.\n";
    }
}

/// For example `different domain (NPApp)`.
fn words(class: &ActionClass) -> String {
    format!("{} ({})", class.group, class.class)
}

/// A title and an indented text; control characters are escaped.
fn block(out: &mut String, title: &str, text: &str) {
    let indent = " ".repeat(title.len() - title.trim_start().len() + 4);
    *out += &format!("{title}:\n");
    for line in text.lines() {
        *out += &format!("{indent}{}\n", escape(line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use planforge_app::runs::{RefinedTask, Version};

    fn one_round_of_one_action() -> Rounds {
        let version =
            |path: &str, pddl: &str| Version { path: path.to_owned(), thought: None, pddl: pddl.to_owned() };
        let action = ActionChange {
            action: "stack".to_owned(),
            text: Some("The arm can stack\u{1b}[31m a block.".to_owned()),
            before: Some("(:action stack\n  :effect (clear ?b))".to_owned()),
            after: Some("(:action stack\n  :effect (not (clear ?b)))".to_owned()),
            findings: vec![CritiqueFinding {
                finding: "clears | the block".to_owned(),
                ..CritiqueFinding::default()
            }],
            differences: vec!["action stack: effect (clear ?b) removed".to_owned()],
            class: Some(ActionClass {
                class: "NPApp".to_owned(),
                group: "different domain".to_owned(),
                told: Some("Action `stack`: it allows a plan that is wrong".to_owned()),
            }),
            class_after: None,
        };
        let round = RefineRound {
            round: 1,
            from: "s.p01/domain/0".to_owned(),
            said: Vec::new(),
            made: Some(version("s.p01/update#1/0.0", "b")),
            differences: action.differences.clone(),
            diff: "-a\n+b\n".to_owned(),
            actions: vec![action],
        };
        let nothing = RefineRound {
            round: 2,
            made: None,
            differences: Vec::new(),
            diff: String::new(),
            actions: Vec::new(),
            ..round.clone()
        };
        let refined = Refinement {
            stage: "ivml".to_owned(),
            initial: version("s.p01/domain/0", "a"),
            rounds: vec![round, nothing],
        };
        Rounds { schema: 1, tasks: vec![RefinedTask { task: "s.p01".to_owned(), candidates: vec![refined] }] }
    }

    #[test]
    fn rounds_are_shown_with_control_characters_escaped() {
        let text = text(&one_round_of_one_action(), false);
        assert!(!text.contains('\u{1b}'), "{text}");
        for part in [
            "2 rounds",
            "--- round 1",
            "Critique",
            "After (D_1)",
            "different domain (NPApp)",
            "it allows a plan that is wrong",
            "(not (clear ?b))",
            "D_0 to D_1",
            "stays as it is",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn the_markdown_table_has_a_line_an_action() {
        let table = table(&one_round_of_one_action()).markdown();
        assert_eq!(table.lines().count(), 3, "{table}");
        let row = table.lines().nth(2).unwrap();
        assert!(
            row.contains("clears \\| the block")
                && row.contains("`(:action stack :effect (not (clear ?b)))`"),
            "{row}"
        );
        assert!(!row.contains('\u{1b}'));
    }
}
