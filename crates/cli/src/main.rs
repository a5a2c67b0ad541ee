//! The `planforge` binary: the only crate that prints, reads the environment or exits.

mod args;
mod batch;
mod bundled;
mod calendar;
mod catalogue;
mod cause;
mod changes;
mod check_models;
mod codes;
mod commands;
mod consent;
mod context;
mod derivation;
#[cfg(test)]
mod document_commands;
mod dry_run;
mod ending_hint;
mod environment;
mod execution;
mod exit;
mod explain_plan;
mod files;
mod inference;
mod inputs;
mod interrupt;
mod limits;
mod manifest;
mod model_choice;
mod outcome;
mod output;
mod pipeline;
mod prepare;
mod prices;
mod programs;
mod progress;
mod recorded_run;
#[cfg(test)]
mod reference_pages;
mod renamed;
mod run_names;
mod shipped_pipelines;
mod tasks;
mod user_config;
mod walk_comparison;

use commands::command_line::Cli;
use context::Context;
use exit::Exit;
use nix::sys::signal::{SigSet, Signal};
use output::{ColourChoice, Output};
use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let output = Output::new(ColourChoice::Auto, asks_for_json(&arguments));
    // Blocked, the signal leaves a file that grows beyond `ulimit -f` as an error of the write.
    if let Err(error) = SigSet::from(Signal::SIGXFSZ).thread_block() {
        output.note(&format!("warning: the signal SIGXFSZ cannot be blocked: {error}"));
    }
    let exit = std::panic::catch_unwind(|| run(arguments, &output)).unwrap_or_else(|_| {
        // The panic hook has already printed the message and its place.
        output.note("This is a bug in planforge. Please report it with the lines above.");
        Exit::Panic
    });
    output.complete_json(exit);
    if let Some(failure) = output.standard_output_failure() {
        output.failure(&failure);
        return exit.max(Exit::System).into();
    }
    exit.into()
}

fn run(arguments: Vec<OsString>, output: &Output) -> Exit {
    let arguments = renamed::current_arguments(arguments, |warning| output.note(warning));
    let cli = match Cli::parse_from_arguments(arguments) {
        Ok(cli) => cli,
        Err(error) => return print_parse_error(output, &error),
    };
    let output = output.with_colour(cli.color).with_all_errors(cli.all);
    if output.owes_json() {
        interrupt::print_json_at_interrupt(output.clone());
    }
    // Warnings of the libraries, such as a cache that cannot be written. A second subscriber is impossible here.
    drop(
        tracing_subscriber::fmt()
            .with_max_level(tracing_subscriber::filter::LevelFilter::WARN)
            .with_writer(std::io::stderr)
            .with_ansi(output.colour)
            .without_time()
            .try_init(),
    );
    let search_path = environment::plugin_search_path(&cli.plugin_dir);
    let (isolate_plugins, allowed_hosts, allow_commands) =
        (cli.isolate_plugins, cli.allow_host, cli.allow_commands);
    let context = Context { output, search_path, isolate_plugins, allowed_hosts, allow_commands };
    cli.command.run(&context)
}

/// True if `--json` is among the options. It takes no value in any command, and no option takes it as a value.
fn asks_for_json(arguments: &[OsString]) -> bool {
    arguments.iter().skip(1).take_while(|argument| *argument != "--").any(|argument| argument == "--json")
}

/// Help and version are results; everything else is a usage error.
fn print_parse_error(output: &Output, error: &clap::Error) -> Exit {
    drop(error.print());
    if error.use_stderr() {
        let message = error.to_string();
        let message = message.strip_prefix("error: ").unwrap_or(&message).trim_end();
        output.record_usage_error(message.to_owned(), None);
        return Exit::Usage;
    }
    output.owes_no_json();
    Exit::Good
}
