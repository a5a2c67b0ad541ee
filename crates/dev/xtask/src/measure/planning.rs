//! Whole-process planning times of ours against Fast Downward on every task of a suite.

use super::task_files::{find_tasks, plan_steps, planner_command, run_command, with_declared_constants};
use crate::paths::{absolute, path_text, site_packages};
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub(crate) struct PlanningArgs {
    #[arg(long, default_value = "../shared/suites/llm-p")]
    suite: PathBuf,
    /// A Python environment with `up-fast-downward` installed.
    #[arg(long)]
    venv: PathBuf,
    /// The `planforge` binary, built with `--release`.
    #[arg(long, default_value = "target/release/planforge")]
    planforge: PathBuf,
    /// A* with LM-cut on both sides instead of greedy search and lama-first.
    #[arg(long)]
    optimal: bool,
    /// Seconds per task for each side.
    #[arg(long, default_value_t = 60)]
    time_limit: u32,
}

pub(crate) fn run(args: &PlanningArgs) -> Result<(), String> {
    let planner = planner_command(&args.planforge, args.optimal, args.time_limit)?;
    let driver = site_packages(&args.venv)?.join("up_fast_downward/downward/fast-downward.py");
    let python = args.venv.join("bin/python");
    let fast_downward =
        ["timeout".to_owned(), args.time_limit.to_string(), path_text(python), path_text(driver)];
    let search = if args.optimal { ["--search", "astar(lmcut())"] } else { ["--alias", "lama-first"] };
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    let search = search.map(str::to_owned);
    let table = compare_planners(&absolute(&args.suite)?, &planner, &fast_downward, &search, scratch.path());
    print!("{}", table.map_err(|e| e.to_string())?);
    Ok(())
}

/// Whole-process wall time of both planners on every task, as a table with totals over the tasks both solve.
fn compare_planners(
    suite: &Path,
    planner: &[String],
    fast_downward: &[String],
    search: &[String],
    scratch: &Path,
) -> std::io::Result<String> {
    let mut table = String::from("task | ours s | steps | Fast Downward s | solved\n");
    let (mut ours_total, mut theirs_total, mut both) = (0.0, 0.0, 0);
    for task in find_tasks(suite)? {
        let (_, text, ours) = run_command(planner, &[&task.domain, &task.problem], scratch)?;
        let found = plan_steps(&text).len();
        let solved = found > 0 || text.contains("; cost = 0");
        let plan = scratch.join("fd.plan");
        let _ = std::fs::remove_file(&plan);
        let mut command = fast_downward.to_vec();
        command.extend(["--plan-file".to_owned(), plan.display().to_string()]);
        // An alias stands before the files, a search configuration after them.
        let (before, after): (&[String], &[String]) =
            if search.first().is_some_and(|s| s == "--alias") { (search, &[]) } else { (&[], search) };
        command.extend(before.iter().cloned());
        let (domain, problem) = with_declared_constants(&task, scratch)?;
        command.extend([domain.display().to_string(), problem.display().to_string()]);
        command.extend(after.iter().cloned());
        let (code, _, theirs) = run_command(&command, &[], scratch)?;
        let theirs_solved = code == Some(0) && plan.is_file();
        if solved && theirs_solved {
            ours_total += ours;
            theirs_total += theirs;
            both += 1;
        }
        let who = match (solved, theirs_solved) {
            (true, true) => "both",
            (true, false) => "ours only",
            (false, true) => "theirs only",
            (false, false) => "neither",
        };
        table.push_str(&format!("{} | {ours:.3} | {found} | {theirs:.3} | {who}\n", task.name));
    }
    let ratio = ours_total / theirs_total;
    table.push_str(&format!(
        "{both} solved by both: ours {ours_total:.2} s, theirs {theirs_total:.2} s, ratio {ratio:.3}\n"
    ));
    Ok(table)
}
