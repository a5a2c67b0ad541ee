//! Kills evaluations with SIGKILL at random moments. Prints a row per kill, and fails if a result was lost or
//! a request repeated.

use crate::paths::absolute;
use planforge_testkit::survival::{Survival, Survivor};
use std::path::PathBuf;
use std::time::Instant;

#[derive(clap::Args)]
pub(crate) struct SurvivalArgs {
    #[arg(long, default_value = "target/debug/planforge")]
    planforge: PathBuf,
    /// The folder with the example suites `garden` and `parcels`.
    #[arg(long, default_value = "examples/suites")]
    suites: PathBuf,
    /// Number of kills. Each evaluation is killed until it is done; then a new one starts.
    #[arg(long, default_value_t = 50)]
    kills: usize,
    /// Kills of one evaluation, at most.
    #[arg(long, default_value_t = 10)]
    most: usize,
    /// Seed of the random moments.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Prints a line a kill and the sums.
pub(crate) fn run(args: &SurvivalArgs) -> Result<(), String> {
    let (planforge, suites) = (absolute(&args.planforge)?, absolute(&args.suites)?);
    let survival =
        Survival { planforge: &planforge, suites: &suites, seeds: "1,2", tasks: 3, most_kills: args.most };
    println!("| evaluation | killed | after ms | at the server | in flight |\n|---|---|---|---|---|");
    let started = Instant::now();
    let mut all: Vec<Survivor> = Vec::new();
    survival
        .run(args.kills, args.seed, |survivor| {
            for kill in &survivor.kills {
                let (age, moment) = (kill.age.as_millis(), kill.moment);
                println!(
                    "| {} | {moment:?} | {age} | {} | {} |",
                    all.len() + 1,
                    kill.at_server,
                    kill.in_flight
                );
            }
            all.push(survivor.clone());
        })
        .map_err(|e| e.to_string())?;
    let sum = |of: fn(&Survivor) -> usize| all.iter().map(of).sum::<usize>();
    let kills = sum(|s| s.kills.len());
    let in_flight = sum(|s| s.kills.iter().map(|k| k.in_flight).sum());
    let (requests, uninterrupted) = (sum(|s| s.requests), sum(|s| s.uninterrupted));
    println!("\n| evaluations | kills | requests without kills | in flight at kills | requests | seconds |");
    println!("|---|---|---|---|---|---|");
    println!(
        "| {} | {kills} | {uninterrupted} | {in_flight} | {requests} | {:.0} |",
        all.len(),
        started.elapsed().as_secs_f64()
    );
    let wrong: Vec<String> = all
        .iter()
        .enumerate()
        .flat_map(|(n, s)| s.violations.iter().map(move |v| format!("evaluation {}: {v}", n + 1)))
        .collect();
    if wrong.is_empty() {
        println!("\nEvery evaluation came to the bytes of the uninterrupted one.");
        return Ok(());
    }
    Err(wrong.join("\n"))
}
