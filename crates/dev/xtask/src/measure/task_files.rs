//! Tasks of a suite in the layout of LLM+P (`SUITE/DOMAIN/domain.pddl`, `pNN.pddl`), and commands that plan or validate them.

use crate::paths::{absolute, path_text};
use planforge_diagnostics::SourceId;
use planforge_pddl::ast::Section;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// One task of a suite.
pub(super) struct TaskFiles {
    pub(super) name: String,
    pub(super) domain: PathBuf,
    pub(super) problem: PathBuf,
}

/// The tasks of a suite folder, sorted.
pub(super) fn find_tasks(suite: &Path) -> std::io::Result<Vec<TaskFiles>> {
    let mut tasks = Vec::new();
    for entry in std::fs::read_dir(suite)? {
        let folder = entry?.path();
        let domain = folder.join("domain.pddl");
        if !domain.is_file() {
            continue;
        }
        for file in std::fs::read_dir(&folder)? {
            let problem = file?.path();
            let stem = problem.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
            let numbered =
                stem.len() > 1 && stem.starts_with('p') && stem[1..].bytes().all(|b| b.is_ascii_digit());
            if numbered && problem.extension().is_some_and(|e| e == "pddl") {
                let folder = folder.file_name().map(|f| f.to_string_lossy().into_owned()).unwrap_or_default();
                tasks.push(TaskFiles { name: format!("{folder} {stem}"), domain: domain.clone(), problem });
            }
        }
    }
    tasks.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(tasks)
}

/// A copy of a task for readers that refuse undeclared constants of a domain (tyreworld): they are declared
/// in the domain and removed from the problem's objects. Returns the original paths if nothing is undeclared.
pub(super) fn with_declared_constants(
    task: &TaskFiles,
    folder: &Path,
) -> std::io::Result<(PathBuf, PathBuf)> {
    let (domain_text, problem_text) =
        (std::fs::read_to_string(&task.domain)?, std::fs::read_to_string(&task.problem)?);
    let domain = planforge_pddl::parse_domain(&domain_text, SourceId(0)).value;
    let problem = planforge_pddl::parse_problem(&problem_text, SourceId(1)).value;
    let undeclared: Vec<String> = planforge_pddl::check_domain(&domain, SourceId(0))
        .iter()
        .filter(|d| d.code == "pddl.undeclared-constant")
        .filter_map(|d| d.primary())
        .map(|label| domain_text[label.span.range()].to_lowercase())
        .collect();
    let section = |sections: &[Section], keyword: &str| {
        sections.iter().find(|s| s.keyword.key() == keyword).map(|s| s.span)
    };
    let places = (section(&domain.sections, ":types"), section(&problem.sections, ":objects"));
    let (false, (Some(types), Some(objects))) = (undeclared.is_empty(), places) else {
        return Ok((task.domain.clone(), task.problem.clone()));
    };
    let list = |constants: bool| -> String {
        let chosen =
            problem.objects.iter().filter(|o| undeclared.iter().any(|u| u == o.name.key()) == constants);
        chosen
            .map(|o| {
                let ty = o.ty.as_ref().map(|t| format!(" - {}", &problem_text[t.span.range()]));
                format!(" {}{}", o.name, ty.unwrap_or_default())
            })
            .collect()
    };
    let mut domain_copy = domain_text.clone();
    domain_copy.insert_str(types.end as usize, &format!("\n(:constants{})", list(true)));
    let mut problem_copy = problem_text.clone();
    problem_copy.replace_range(objects.range(), &format!("(:objects{})", list(false)));
    let paths = (folder.join("declared-domain.pddl"), folder.join("declared-problem.pddl"));
    std::fs::write(&paths.0, domain_copy)?;
    std::fs::write(&paths.1, problem_copy)?;
    Ok(paths)
}

/// Runs a command; its exit code, what it printed (standard error after standard output) and seconds of wall time.
pub(super) fn run_command(
    command: &[String],
    args: &[&Path],
    folder: &Path,
) -> std::io::Result<(Option<i32>, String, f64)> {
    let Some((program, first)) = command.split_first() else {
        return Err(std::io::Error::other("no command given"));
    };
    let start = Instant::now();
    let output =
        Command::new(program).args(first).args(args).current_dir(folder).stdin(Stdio::null()).output()?;
    let seconds = start.elapsed().as_secs_f64();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    Ok((output.status.code(), text.into_owned(), seconds))
}

/// The steps of an IPC plan.
pub(super) fn plan_steps(text: &str) -> Vec<String> {
    text.lines().filter(|l| l.starts_with('(')).map(str::to_owned).collect()
}

/// The command that plans with our binary, under `timeout` so that it cannot block the measurement.
pub(super) fn planner_command(planforge: &Path, optimal: bool, seconds: u32) -> Result<Vec<String>, String> {
    let binary = path_text(absolute(planforge)?);
    let mut command =
        vec!["timeout".to_owned(), (seconds + 5).to_string(), binary, "pddl".to_owned(), "plan".to_owned()];
    command.extend(["--time-limit".to_owned(), seconds.to_string()]);
    if optimal {
        command.push("--optimal".to_owned());
    }
    Ok(command)
}
