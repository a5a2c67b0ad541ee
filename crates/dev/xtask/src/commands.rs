//! The registry of commands: help, arguments and entry point of each.

use crate::{
    attack, grammars, long_tests, mcp_client, measure, packaged_sdk, record_demo, report_screenshots,
    simulate_cluster, tic_reference,
};

macro_rules! commands {
    ($($(#[$help:meta])* $name:ident($args:ty) => $run:path;)*) => {
        #[derive(clap::Subcommand)]
        pub(crate) enum Command { $($(#[$help])* $name($args)),* }

        impl Command {
            pub(crate) fn run(&self) -> Result<(), String> {
                match self { $(Self::$name(args) => $run(args)),* }
            }
        }
    };
}

commands! {
    /// Reading: files accepted and MB/s, ours against VAL's Parser and Fast Downward's reader.
    MeasureReading(measure::reading::ReadingArgs) => measure::reading::run;
    /// The paper's criterion: IPC domains that VAL's Parser and planforge accept, and the reasons for differences.
    MeasureParser(measure::parser::ParserArgs) => measure::parser::run;
    /// Planning: whole processes of ours against Fast Downward on every task of a suite folder.
    MeasurePlanning(measure::planning::PlanningArgs) => measure::planning::run;
    /// Validation: verdicts and times of ours against VAL on plans and on mutations of them.
    MeasureValidation(measure::validation::ValidationArgs) => measure::validation::run;
    /// Validation of long plans over a transitive closure: times of ours against VAL.
    MeasureTowers(measure::towers::TowersArgs) => measure::towers::run;
    /// Exploration walks: the score of the paper's own code, ours against pymimir, or checks of the scores.
    MeasureWalks(measure::walks::WalksArgs) => measure::walks::run;
    /// Inference: from an intermediate representation to a problem, with a fresh and a kept child process, and PyPI's clingo.
    MeasureInference(measure::inference::InferenceArgs) => measure::inference::run;
    /// Equivalence of problems: times on renamings and mutants of every suite's problems and on symmetric worst cases.
    MeasureEquivalence(measure::equivalence::EquivalenceArgs) => measure::equivalence::run;
    /// Result classes: mutants of every action against their classes by construction, the exact comparison, and VAL.
    MeasureClasses(measure::classes::ClassesArgs) => measure::classes::run;
    /// Final verdicts of the shipped pipelines against the exact comparison, on simulated replies.
    MeasureVerdicts(measure::verdicts::VerdictsArgs) => measure::verdicts::run;
    /// Top-k planning: plans and times of ours against K*.
    MeasureTopK(measure::top_k::TopKArgs) => measure::top_k::run;
    /// The runner: time and memory that `planforge run` adds per candidate, with a server that answers at once.
    MeasureRunner(measure::runner::RunnerArgs) => measure::runner::run;
    /// Load: many tasks and samples against a server that answers at once.
    MeasureLoad(measure::load::LoadArgs) => measure::load::run;
    /// The server that `measure-load` starts.
    LoadServer(measure::load::server::LoadServerArgs) => measure::load::server::run;
    /// Plugin calls: time and memory of one verifier in Rust, bundled, from its library, isolated and in Python, and calls at once.
    MeasurePluginCalls(measure::plugin_calls::PluginCallsArgs) => measure::plugin_calls::run;
    /// Robustness: outcomes of runs whose server misbehaves in every known way.
    MeasureRobustness(measure::robustness::RobustnessArgs) => measure::robustness::run;
    /// Grammars: references accepted and mutants rejected by llguidance, and the time to compile.
    Grammars(grammars::GrammarsArgs) => grammars::run;
    /// Disks: evaluations on disks that are full or read-only. Needs root.
    MeasureDisks(measure::disks::DisksArgs) => measure::disks::run;
    /// Reports: size, time to build and time to open for many candidates.
    MeasureReport(measure::report::ReportArgs) => measure::report::run;
    /// Shards: an evaluation of many cells with a simulated model, dry, in shards, merged and in one process.
    MeasureShards(measure::shards::ShardsArgs) => measure::shards::run;
    /// Simulates evaluations on a cluster: hours, refusals and dollars by calls and workers.
    SimulateCluster(simulate_cluster::SimulateClusterArgs) => simulate_cluster::run;
    /// Survival: evaluations killed with SIGKILL at random moments end with the same bytes and repeat no request.
    MeasureSurvival(measure::survival::SurvivalArgs) => measure::survival::run;
    /// Dry runs of the shipped pipelines against the requests that they then send to a simulated model.
    MeasureEstimates(measure::estimates::EstimatesArgs) => measure::estimates::run;
    /// Differential tests, mutated texts, pathological sizes, kills, full disks and changed runs, in one table.
    Attack(attack::AttackArgs) => attack::run;
    /// Checks that take too long for `cargo test`: time of reading against length, and the ignored tests of planning.
    LongTests(long_tests::LongTestsArgs) => long_tests::run;
    /// The official Python SDK against `planforge mcp`: every tool, a repair, hostile calls, 1,000 calls, and times; those of the
    /// language server too.
    McpClient(mcp_client::McpClientArgs) => mcp_client::run;
    /// Packs the crates that authors of plugins need, and builds a new verifier against the packages.
    PackagedSdk(packaged_sdk::PackagedSdkArgs) => packaged_sdk::run;
    /// Record the demo's cassette from a live model, or send the same requests again and compare.
    RecordDemo(record_demo::RecordDemoArgs) => record_demo::run;
    /// Screenshots of a report in a headless browser, wide and narrow, light and dark, with checks of each page.
    ReportScreenshots(report_screenshots::ReportScreenshotsArgs) => report_screenshots::run;
    /// Texts converted by patterns, inferred, compiled and compared with the reference (translate-infer-compile).
    TicReference(tic_reference::TicReferenceArgs) => tic_reference::run;
    /// The child process of `tic-reference`: converts the one text in the working directory.
    #[command(hide = true)]
    TicConvert(tic_reference::ConverterArgs) => tic_reference::run_converter;
}
