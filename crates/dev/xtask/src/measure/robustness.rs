//! Runs whose server misbehaves, evaluations that are killed at random moments, and evaluations on disks that are full or read-only, as
//! the tables of docs/reference/robustness.md.

use crate::programs::absolute;
use planforge_plugin_sdk::testing::ServiceInterface;
use planforge_testkit::misbehaviour::{self, Experiment};
use planforge_testkit::survival::{Survival, Survivor};
use std::path::{Path, PathBuf};
use std::time::Instant;

#[derive(clap::Args)]
pub(crate) struct RobustnessArgs {
    #[arg(long, default_value = "target/debug/planforge")]
    planforge: PathBuf,
    /// Seconds until a request counts as unanswered, where a case is about that.
    #[arg(long, default_value_t = 60.0)]
    timeout_s: f64,
    /// Only the cases whose name holds this.
    #[arg(long, default_value = "")]
    only: String,
}

/// Prints a line a case; an error where something is not as it should be.
pub(crate) fn measure_robustness(args: &RobustnessArgs) -> Result<(), String> {
    let planforge = absolute(&args.planforge)?;
    let pipeline = absolute(Path::new("configs/pipelines/llm-p.toml"))?;
    let suite = absolute(Path::new("examples/suites/parcels"))?;
    let interface = ServiceInterface::ChatCompletions;
    let place = Experiment {
        interface,
        planforge: &planforge,
        pipeline: &pipeline,
        suite: &suite,
        timeout_s: args.timeout_s,
    };
    println!("| the server's answer | verdict | code | in the record | requests | exit | s | peak MB |");
    println!("|---|---|---|---|---|---|---|---|");
    let mut wrong = Vec::new();
    for case in
        misbehaviour::all_misbehaviours(interface).into_iter().filter(|case| case.name.contains(&args.only))
    {
        let name = case.name;
        let found = misbehaviour::run_misbehaviour(&place, case).map_err(|e| format!("{name}: {e}"))?;
        let mut recorded: Vec<String> =
            found.retried.iter().map(|class| format!("retry ({class})")).collect();
        recorded.push(match found.ended.as_str() {
            "" => "completion".to_owned(),
            class => format!("completion ({class})"),
        });
        println!(
            "| {name} | {} | {} | {} | {} | {} | {:.1} | {:.0} |",
            found.verdicts.get(1).map_or("", String::as_str),
            found.code,
            recorded.join(", "),
            found.requests,
            found.exit,
            found.time.as_secs_f64(),
            found.peak_mb
        );
        wrong.extend(found.violations.iter().map(|violation| format!("{name}: {violation}")));
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

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
pub(crate) fn measure_survival(args: &SurvivalArgs) -> Result<(), String> {
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
pub(crate) fn measure_disks(args: &DisksArgs) -> Result<(), String> {
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
