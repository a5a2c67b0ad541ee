//! Commands for people who work on planforge: measurements against other programs, and checks.
#![allow(clippy::print_stdout, reason = "a command's tables go to standard output")]

mod checks;
/// Measurements, most of them against other programs. Each prints the table that a document quotes.
mod measure {
    pub(crate) mod equivalence;
    pub(crate) mod load;
    pub(crate) mod planning;
    pub(crate) mod python;
    pub(crate) mod quality;
    pub(crate) mod reading;
    pub(crate) mod robustness;
    pub(crate) mod solve;
    pub(crate) mod top_k;
    pub(crate) mod walks;
}
mod programs;
mod report;
mod results;

use clap::Parser;
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Measurements and checks")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    match Cli::parse().command.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            println!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

macro_rules! commands {
    ($($(#[$help:meta])* $name:ident($args:ty) => $run:path;)*) => {
        #[derive(clap::Subcommand)]
        enum Command { $($(#[$help])* $name($args)),* }

        impl Command {
            fn run(&self) -> Result<(), String> {
                match self { $(Self::$name(args) => $run(args)),* }
            }
        }
    };
}

commands! {
    /// Reading: files accepted and MB/s, ours against VAL's Parser and Fast Downward's reader.
    MeasureReading(measure::reading::ReadingArgs) => measure::reading::measure_reading;
    /// The paper's criterion: IPC domains that VAL's Parser and planforge accept, and the reasons for differences.
    MeasureParser(measure::reading::ParserArgs) => measure::reading::measure_parser;
    /// Planning: whole processes of ours against Fast Downward on every task of a suite folder.
    MeasurePlanning(measure::planning::PlanningArgs) => measure::planning::measure_planning;
    /// Coverage and cost of plans on the competitions' benchmarks, ours against Fast Downward, with the same processor time.
    MeasureQuality(measure::quality::QualityArgs) => measure::quality::measure_quality;
    /// Validation: verdicts and times of ours against VAL on plans and on mutations of them.
    MeasureValidation(measure::planning::ValidationArgs) => measure::planning::measure_validation;
    /// Validation of long plans over a transitive closure: times of ours against VAL.
    MeasureTowers(measure::planning::TowersArgs) => measure::planning::measure_towers;
    /// Exploration walks: the score of the paper's own code, ours against pymimir; or growth with objects.
    MeasureWalks(measure::walks::WalksArgs) => measure::walks::run;
    /// Equivalence of problems: times on renamings and mutants of every suite's problems and on symmetric worst cases.
    MeasureEquivalence(measure::equivalence::EquivalenceArgs) => measure::equivalence::run;
    /// Trust: texts with known gaps, solved with an author who knows the reference: gaps found, questions asked, answers that are right.
    MeasureSolve(measure::solve::SolveArgs) => measure::solve::measure_solve;
    /// Top-k planning: plans and times of ours against K*.
    MeasureTopK(measure::top_k::TopKArgs) => measure::top_k::run;
    /// The Python package: the time of many validations against Rust, and the time and memory of an import.
    MeasurePython(measure::python::PythonArgs) => measure::python::measure_python;
    /// Load: many tasks and samples against a server that answers at once.
    MeasureLoad(measure::load::LoadArgs) => measure::load::measure_load;
    /// The server that `measure-load` starts.
    LoadServer(measure::load::LoadServerArgs) => measure::load::run_load_server;
    /// Robustness: outcomes of runs whose server misbehaves in every known way.
    MeasureRobustness(measure::robustness::RobustnessArgs) => measure::robustness::measure_robustness;
    /// Grammars: references accepted and mutants rejected by llguidance, and the time to compile.
    Grammars(checks::GrammarsArgs) => checks::count_grammars;
    /// Disks: evaluations on disks that are full or read-only. Needs root.
    MeasureDisks(measure::robustness::DisksArgs) => measure::robustness::measure_disks;
    /// Writes docs/results.md and its picture: what the recordings in the repository show about methods.
    Results(results::ResultsArgs) => results::write_results;
    /// Reports: size, time to build and time to open for many candidates.
    MeasureReport(report::ReportArgs) => report::measure_report;
    /// Survival: evaluations killed with SIGKILL at random moments end with the same bytes and repeat no request.
    MeasureSurvival(measure::robustness::SurvivalArgs) => measure::robustness::measure_survival;
    /// Checks that take too long for `cargo test`: time of reading against length, and the ignored tests of planning.
    LongTests(checks::LongTestsArgs) => checks::run_long_tests;
    /// The official Python SDK against `planforge mcp`: every tool, a repair, hostile calls, 1,000 calls, and times; those of the
    /// language server too.
    McpClient(checks::McpClientArgs) => checks::run_mcp_client;
    /// Packs the crates that authors of plugins need, and tests a new plugin of each kind with the sources of the SDK that are in the program.
    PackagedSdk(checks::PackagedSdkArgs) => checks::check_packaged_sdk;
    /// Screenshots of a report in a headless browser, wide and narrow, light and dark, with checks of each page.
    ReportScreenshots(report::ReportScreenshotsArgs) => report::take_screenshots;
}
