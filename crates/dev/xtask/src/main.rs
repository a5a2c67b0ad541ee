//! Commands for people who work on planforge: measurements against other programs and recording of the demo.
#![allow(clippy::print_stdout, reason = "a command's tables go to standard output")]

mod attack;
mod browser;
mod commands;
mod grammars;
mod long_tests;
mod mcp_client;
mod measure;
mod packaged_sdk;
mod pairs;
mod paths;
mod process;
mod python_peer;
mod record_demo;
mod report_screenshots;
mod simulate_cluster;
mod tic_reference;

use clap::Parser;
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Measurements and recordings")]
struct Cli {
    #[command(subcommand)]
    command: commands::Command,
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
