//! `planforge runs`: a list of run folders with their results.

use crate::context::Context;
use crate::exit::Exit;
use crate::outcome::{WITHOUT_ANSWER, counts};
use clap::Args;
use planforge_app::runs::{ListedRun, RUNS, list};
use planforge_app::table::{Align, Table};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Folder of the runs to list.
    #[arg(long, value_name = "DIR", default_value = RUNS)]
    runs: PathBuf,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(context: &Context, args: &ListArgs) -> Exit {
    let list = list(&context.app, &args.runs);
    if args.json {
        context.output.json(&list);
    } else if list.runs.is_empty() {
        context.output.result(&format!("There are no runs in {}.\n", args.runs.display()));
    } else {
        let mut table = Table::new(["run", "date", "pipeline", "result"].map(|name| (name, Align::Left)));
        list.runs.iter().for_each(|run| {
            // To the minute: `2026-11-24 04:10`.
            let date = run.created_at.chars().take(16).collect::<String>().replace('T', " ");
            table.row([run.run.clone(), date, run.pipeline.clone(), result(run)])
        });
        context.output.result(&table.text());
    }
    Exit::Good
}

fn result(run: &ListedRun) -> String {
    match (run.solved, run.in_progress) {
        (_, true) => "in progress".to_owned(),
        (Some(solved), false) => {
            let others = counts(&run.outcomes, &WITHOUT_ANSWER);
            let others = others.map_or_else(String::new, |others| format!(", {others}"));
            format!("{solved} of {} solved{others}", run.tasks)
        }
        (None, false) => "unfinished".to_owned(),
    }
}
