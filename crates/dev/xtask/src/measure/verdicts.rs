//! Final verdicts of the shipped pipelines against the exact comparison, on replies of the simulated model, right ones and wrong ones.

use super::task_files::run_command;
use crate::paths::{absolute, path_text};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub(crate) struct VerdictsArgs {
    /// The `planforge` binary.
    #[arg(long, default_value = "target/debug/planforge")]
    planforge: PathBuf,
    /// The pipelines, by the names of their files.
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "llm-p,tic-ic,tic-g3,tic-g1,pd-chain,pd-tree,pd-tree-joint,bon,bon-clusters,bon-ivml,ivml-single,actions-whole"
    )]
    pipelines: Vec<String>,
    /// Suites below `examples/suites`.
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "barman,blocks,floortile,grippers,storage,termes,tyres"
    )]
    suites: Vec<String>,
    /// Tasks of each suite.
    #[arg(long, default_value_t = 2)]
    tasks: u32,
    #[arg(long, default_value = "1-3")]
    seeds: String,
}

/// Counts of tasks, by what the exact comparison and the pipeline say of what was written last.
#[derive(Default)]
struct Counts {
    equal: u32,
    equal_refused: u32,
    different: u32,
    different_solved: u32,
    /// Of those, plans that the reference does not execute: nothing explains them.
    wrong_plans: u32,
    /// The exact comparison or the pipeline reached no answer.
    open: u32,
    /// Nothing usable was written, or PDDL with errors, and the task is not solved.
    unreadable: u32,
    /// Tasks whose verdict is wrong and that nothing explains.
    unexplained: Vec<String>,
}

/// Prints the table; an error if a verdict is wrong and the plan does not explain it.
pub(crate) fn run(args: &VerdictsArgs) -> Result<(), String> {
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    println!(
        "| pipeline | first replies | equal to the reference | of them not solved | different | of them solved \
         | with a wrong plan | unreadable | open |\n\
         |---|---|---:|---:|---:|---:|---:|---:|---:|"
    );
    let mut unexplained = Vec::new();
    for name in &args.pipelines {
        for (replies, errors) in [("no mistake", 0), ("one mistake", 1)] {
            let out = scratch.path().join(format!("{name}-{errors}"));
            evaluate(args, name, errors, &out)?;
            let found = count(args, &out, scratch.path())?;
            println!(
                "| {name} | {replies} | {} | {} | {} | {} | {} | {} | {} |",
                found.equal,
                found.equal_refused,
                found.different,
                found.different_solved,
                found.wrong_plans,
                found.unreadable,
                found.open
            );
            unexplained.extend(found.unexplained);
        }
    }
    if unexplained.is_empty() {
        return Ok(());
    }
    Err(format!("final verdicts that are wrong, and no plan explains them:\n{}", unexplained.join("\n")))
}

/// Evaluates a shipped pipeline whose model is the simulated one.
fn evaluate(args: &VerdictsArgs, name: &str, errors: u32, out: &Path) -> Result<(), String> {
    let file = format!("configs/pipelines/{name}.toml");
    let text = fs::read_to_string(&file).map_err(|e| format!("{file}: {e}"))?;
    let parts =
        text.split_once("[llm.main]\n").and_then(|(head, rest)| Some((head, rest.split_once("\n[")?.1)));
    let (head, stages) = parts.ok_or_else(|| format!("{file} has no [llm.main]"))?;
    let suites = absolute(Path::new("examples/suites"))?;
    // A pipeline is not tried on the suite of its in-context example.
    let example = |suite: &&String| text.contains(&format!("example = \"../../examples/suites/{suite}\""));
    let asked = args.suites.iter().filter(|suite| !example(suite));
    let folders: Vec<String> = asked.map(|suite| path_text(suites.join(suite))).collect();
    let simulated = format!(
        "{head}[llm.main]\nuse = \"provider-noisy-oracle\"\nmodel = \"noisy-oracle\"\nsuites = {folders:?}\n\
         errors = {errors}\nproblem_errors = {errors}\nlikelihood = {{}}\n\
         actions = {{ errors = {errors}, no_action = 0, broken_text = 0, typed_argument = 0, wrong_type = 0, wrong_arity = 0, \
         wrong_name = 0, negated_precondition = 0 }}\n\n[{stages}"
    )
    // The simulated model does not write repairs of representations.
    .replace("repair_rounds = 2", "repair_rounds = 0")
    .replace("../../examples/suites", &path_text(&suites));
    let folder = out.with_extension("pipeline");
    let pipeline = folder.join(format!("{name}.toml"));
    fs::create_dir_all(&folder).and_then(|()| fs::write(&pipeline, simulated)).map_err(|e| e.to_string())?;
    let mut command = vec![path_text(absolute(&args.planforge)?), "evaluate".to_owned()];
    for suite in folders {
        command.extend(["--suite".to_owned(), suite]);
    }
    let tasks = args.tasks.to_string();
    command.extend(["--seeds", &args.seeds, "--tasks", &tasks, "--out"].map(str::to_owned));
    command.extend([path_text(out), "--pipeline".to_owned(), path_text(&pipeline)]);
    let (exit, said, _) = run_command(&command, &[], Path::new(".")).map_err(|e| e.to_string())?;
    match exit {
        Some(0) => Ok(()),
        other => Err(format!("{name}: exit {other:?}\n{said}")),
    }
}

fn count(args: &VerdictsArgs, out: &Path, scratch: &Path) -> Result<Counts, String> {
    let mut counts = Counts::default();
    let planforge = path_text(absolute(&args.planforge)?);
    for report in reports(&out.join("cells")).map_err(|e| e.to_string())? {
        let text = fs::read_to_string(&report).map_err(|e| e.to_string())?;
        let report: Value = serde_json::from_str(&text).map_err(|e| e.to_string())?;
        for task in report["tasks"].as_array().into_iter().flatten() {
            let (Some(suite), Some(stem)) = (task["suite"].as_str(), task["stem"].as_str()) else { continue };
            if task["verdict"]["verdict"] == "unusable" {
                counts.unreadable += 1;
                continue;
            }
            let suite = absolute(&Path::new("examples/suites").join(suite))?;
            let (domain, problem) = (suite.join("domain.pddl"), suite.join(format!("{stem}.pddl")));
            let written = |key: &str, reference: &Path| -> Result<PathBuf, String> {
                let Some(text) = task["candidate"][key].as_str() else { return Ok(reference.to_owned()) };
                let file = scratch.join(format!("{key}.pddl"));
                fs::write(&file, text).map(|()| file).map_err(|e| e.to_string())
            };
            let (written_domain, written_problem) =
                (written("domain", &domain)?, written("problem", &problem)?);
            let mut command =
                [planforge.as_str(), "pddl", "equivalent", "domain"].map(str::to_owned).to_vec();
            command.extend([&domain, &written_domain].map(path_text));
            command.extend(["--problems".to_owned(), path_text(&problem)]);
            command.extend(["--second-problems".to_owned(), path_text(&written_problem)]);
            let (exact, ..) = run_command(&command, &[], scratch).map_err(|e| e.to_string())?;
            let solved = match task["verdict"]["verdict"].as_str() {
                Some("accepted") => Some(true),
                Some("rejected" | "unsolvable") => Some(false),
                _ => None,
            };
            let mut unexplained = |what: &str| {
                counts.unexplained.push(format!("{}.{stem}: {what}: {}", suite.display(), task["verdict"]));
            };
            match (exact, solved) {
                (Some(0), Some(solved)) => {
                    counts.equal += 1;
                    if !solved {
                        counts.equal_refused += 1;
                        unexplained("equal to the reference and not solved");
                    }
                }
                (Some(10), Some(solved)) => {
                    counts.different += 1;
                    counts.different_solved += u32::from(solved);
                    if solved && !executes(task, &planforge, &domain, &problem, scratch)? {
                        counts.wrong_plans += 1;
                        unexplained("solved with a plan that is not valid in the reference");
                    }
                }
                (Some(20), Some(false)) => counts.unreadable += 1,
                _ => counts.open += 1,
            }
        }
    }
    Ok(counts)
}

/// True if the task's plan is valid in the reference.
fn executes(
    task: &Value,
    planforge: &str,
    domain: &Path,
    problem: &Path,
    scratch: &Path,
) -> Result<bool, String> {
    let steps = task["candidate"]["plan"]["plans"][0]["steps"].as_array().into_iter().flatten();
    let plan: String = steps.filter_map(Value::as_str).map(|step| format!("{step}\n")).collect();
    let file = scratch.join("final.plan");
    fs::write(&file, plan).map_err(|e| e.to_string())?;
    let command = [planforge, "pddl", "validate"].map(str::to_owned);
    let (exit, ..) = run_command(&command, &[domain, problem, &file], scratch).map_err(|e| e.to_string())?;
    Ok(exit == Some(0))
}

/// The reports of all runs below a folder.
fn reports(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        match path.join("report.json") {
            report if report.is_file() => found.push(report),
            _ if path.is_dir() => found.extend(reports(&path)?),
            _ => {}
        }
    }
    Ok(found)
}
