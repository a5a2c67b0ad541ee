//! Evaluations on disks that are full and on one that is read-only, as the tables of docs/reference/robustness.md. Mounts a small tmpfs, so it needs root.

use crate::paths::absolute;
use planforge_testkit::survival::Survival;
use std::path::PathBuf;

#[derive(clap::Args)]
pub(crate) struct DisksArgs {
    #[arg(long, default_value = "target/debug/planforge")]
    planforge: PathBuf,
    /// The folder with the example suites `garden` and `parcels`.
    #[arg(long, default_value = "examples/suites")]
    suites: PathBuf,
    /// Sizes of the disks, in kilobytes.
    #[arg(long, value_delimiter = ',', default_value = "20,100,300,600,1000,1500,2000,64000")]
    sizes: Vec<usize>,
}

/// Prints both tables; an error where something was lost or is not clear.
pub(crate) fn run(args: &DisksArgs) -> Result<(), String> {
    let (planforge, suites) = (absolute(&args.planforge)?, absolute(&args.suites)?);
    let survival = Survival { planforge: &planforge, suites: &suites, seeds: "1,2", tasks: 3, most_kills: 0 };
    let mut wrong: Vec<String> = Vec::new();
    println!(
        "| disk | exit | answers recorded | answers lost | after making room | what it says |\n|---|---|---|---|---|---|"
    );
    let filled = survival.fill(&args.sizes, |filled| {
        let outcome = if filled.violations.is_empty() { "the same bytes" } else { "wrong" };
        println!(
            "| {} kB | {} | {} | {} | {outcome} | {} |",
            filled.kilobytes, filled.exit, filled.recorded, filled.lost, filled.error
        );
        wrong.extend(filled.violations.iter().map(|v| format!("{} kB: {v}", filled.kilobytes)));
    });
    filled.map_err(|e| e.to_string())?;
    println!("\n| on a read-only disk | exit | what it says |\n|---|---|---|");
    let refused = survival.read_only(|refused| {
        println!("| {} | {} | {} |", refused.what, refused.exit, refused.error);
        wrong.extend(refused.violations.iter().map(|v| format!("{}: {v}", refused.what)));
    });
    refused.map_err(|e| e.to_string())?;
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}
