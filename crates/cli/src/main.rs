//! The `planforge` binary: the only crate that prints, reads the environment or exits.

mod args;
mod batch;
mod bundled;
mod catalogue;
mod codes;
mod commands;
mod environment;
mod exit;
mod files;
mod inputs;
mod limits;
mod output;
mod prepare;
mod progress;
#[cfg(test)]
mod reference_pages;
mod session;
mod waiting;

use args::{Cli, Command};
use clap::Parser;
use exit::Exit;
use output::Output;
use std::process::ExitCode;

fn main() -> ExitCode {
    let outcome = std::panic::catch_unwind(run);
    // The panic hook has printed message and place already.
    outcome
        .unwrap_or_else(|_| {
            Output::new(args::Colour::Auto)
                .note("This is a bug in planforge. Please report it with the lines above.");
            Exit::Panic
        })
        .into()
}

fn run() -> Exit {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are results; everything else is a usage error.
            let exit = if error.use_stderr() { Exit::Usage } else { Exit::Good };
            drop(error.print());
            return exit;
        }
    };
    let output = Output::new(cli.color);
    // Warnings of the libraries, such as a cache that cannot be written. A second subscriber is impossible here.
    drop(
        tracing_subscriber::fmt()
            .with_max_level(tracing_subscriber::filter::LevelFilter::WARN)
            .with_writer(std::io::stderr)
            .with_ansi(output.colour)
            .without_time()
            .try_init(),
    );
    let context = commands::Context { output, search_path: environment::plugin_search_path(&cli.plugin_dir) };
    match cli.command {
        Command::Demo(args) => commands::demo::run(&context, &args),
        Command::Run(args) => commands::run::run(&context, &args),
        Command::Replay(args) => commands::replay::run(&context, &args),
        Command::Check(args) => commands::check::run(&context, &args),
        Command::Plan(args) => commands::plan::run(&context, &args),
        Command::Validate(args) => commands::validate::run(&context, &args),
        Command::Graph(args) => commands::graph::run(&context, &args),
        Command::Picture(args) => commands::picture::run(&context, &args),
        Command::Ew(args) => commands::ew::run(&context, &args),
        Command::Plugins(args) => commands::plugins::run(&context, &args),
        Command::Equivalent(args) => commands::equivalent::run(&context, &args),
        Command::Infer(args) => commands::infer::run(&context, &args),
        Command::Doctor(args) => commands::doctor::run(&context, &args),
        Command::Environment(args) => commands::environment::run(&context, &args),
        Command::Explain(args) => commands::explain::run(&context, &args),
        Command::ExplainFact(args) => commands::explain_fact::run(&context, &args),
        Command::Report(args) => commands::report::run(&context, &args),
        Command::Rounds(args) => commands::rounds::run(&context, &args),
        Command::Evaluate(args) => commands::evaluate::run(&context, &args),
        Command::Merge(args) => commands::evaluate::merge(&context, &args),
        Command::Compare(args) => commands::compare::run(&context, &args),
        Command::Calibrate(args) => commands::calibrate::run(&context, &args),
        Command::Study(args) => commands::study::run(&context, &args),
        Command::Schema(args) => commands::schema::run(&context, &args),
        Command::Suite(args) => commands::suite::run(&context, &args.command),
        Command::Worker(args) => commands::worker::run(&context, &args),
    }
}
