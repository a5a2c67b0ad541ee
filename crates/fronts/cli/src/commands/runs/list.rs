//! `planforge runs`: a list of run folders with their results.

use crate::context::Context;
use crate::exit::Exit;
use crate::outcome::{WITHOUT_ANSWER, counts};
use crate::run_names::{RUNS, StoredRun, stored_runs};
use clap::Args;
use planforge_evaluate::results::TaskOutcome;
use planforge_evaluate::{Align, Table};
use planforge_record::{RunFolder, TaskVerdict};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Folder of the runs to list.
    #[arg(long, value_name = "DIR", default_value = RUNS)]
    runs: PathBuf,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct ListedRun {
    run: String,
    created_at: String,
    pipeline: String,
    tasks: usize,
    /// Absent if the run has no report: it is in progress or was stopped.
    solved: Option<usize>,
    /// Tasks without an answer, such as `1 undecided, 2 failed`.
    #[serde(skip)]
    others: Option<String>,
    in_progress: bool,
}

/// The part of `report.json` that the list shows.
#[derive(Deserialize)]
struct ReportedTasks {
    tasks: Vec<ReportedTask>,
}

#[derive(Deserialize)]
struct ReportedTask {
    verdict: Option<TaskVerdict>,
}

pub(super) fn run(context: &Context, args: &ListArgs) -> Exit {
    let runs: Vec<ListedRun> = stored_runs(&args.runs).iter().map(listed).collect();
    if args.json {
        context.output.json(&serde_json::json!({ "runs": runs }));
    } else if runs.is_empty() {
        context.output.result(&format!("There are no runs in {}.\n", args.runs.display()));
    } else {
        let mut table = Table::new(["run", "date", "pipeline", "result"].map(|name| (name, Align::Left)));
        runs.iter().for_each(|run| {
            // To the minute: `2026-11-24 04:10`.
            let date = run.created_at.chars().take(16).collect::<String>().replace('T', " ");
            table.row([run.run.clone(), date, run.pipeline.clone(), run.result()])
        });
        context.output.result(&table.text());
    }
    Exit::Good
}

fn listed(run: &StoredRun) -> ListedRun {
    let StoredRun { folder, manifest } = run;
    let outcomes = outcomes(folder);
    let solved = |all: &Vec<TaskOutcome>| all.iter().filter(|one| **one == TaskOutcome::Solved).count();
    ListedRun {
        run: folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        created_at: manifest.created_at.clone(),
        pipeline: Path::new(&manifest.config.path)
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
        tasks: manifest.tasks.len(),
        solved: outcomes.as_ref().map(solved),
        others: outcomes.as_deref().and_then(|all| counts(all, &WITHOUT_ANSWER)),
        in_progress: RunFolder::is_in_progress(folder).unwrap_or(false),
    }
}

/// The results of the tasks in `report.json`.
fn outcomes(folder: &Path) -> Option<Vec<TaskOutcome>> {
    let text = std::fs::read(folder.join("report.json")).ok()?;
    let report: ReportedTasks = serde_json::from_slice(&text).ok()?;
    Some(report.tasks.iter().map(|task| TaskOutcome::of(task.verdict.as_ref())).collect())
}

impl ListedRun {
    fn result(&self) -> String {
        match (self.solved, self.in_progress) {
            (_, true) => "in progress".to_owned(),
            (Some(solved), false) => {
                let others = self.others.as_ref().map_or_else(String::new, |others| format!(", {others}"));
                format!("{solved} of {} solved{others}", self.tasks)
            }
            (None, false) => "unfinished".to_owned(),
        }
    }
}
