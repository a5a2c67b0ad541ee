//! The `planforge` command: reads arguments and environment, builds the context of the use cases, and prints their results.
//!
//! [`run_command`] is all that is public, with its argument: the binary and the console script of the Python package call it.

mod args;
mod cause;
mod commands;
mod consent;
mod context;
mod derivation;
#[cfg(test)]
mod document_commands;
mod exit;
mod outcome;
mod output;
mod pending;
mod progress;
mod renamed;

use commands::command_line::Cli;
use context::Context;
pub use context::Installation;
use exit::Exit;
use nix::sys::signal::{SigSet, Signal};
use output::Output;
use planforge_app::{Cancellation, PluginSettings};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;

/// Runs the command of this process and returns its exit code. The first argument is the name of the program.
///
/// Reads the environment and the standard streams. The first call of a process handles SIGINT and SIGTERM, and the second signal ends the
/// process; signals do not reach the command of a later call. Call it once in a process.
pub fn run_command(arguments: Vec<OsString>, installation: &Installation) -> u8 {
    let output = Output::new(asks_for_json(&arguments));
    // Blocked, the signal leaves a file that grows beyond `ulimit -f` as an error of the write.
    if let Err(error) = SigSet::from(Signal::SIGXFSZ).thread_block() {
        output.note(&format!("warning: the signal SIGXFSZ cannot be blocked: {error}"));
    }
    let exit = std::panic::catch_unwind(|| run(arguments, installation, &output)).unwrap_or_else(|_| {
        // The panic hook has already printed the message and its place.
        output.note("This is a bug in planforge. Please report it with the lines above.");
        Exit::Panic
    });
    output.complete_json(exit);
    if let Some(failure) = output.standard_output_failure() {
        output.failure(&failure);
        return exit.max(Exit::System) as u8;
    }
    exit as u8
}

fn run(arguments: Vec<OsString>, installation: &Installation, output: &Output) -> Exit {
    let arguments = renamed::current_arguments(arguments, |warning| output.note(warning));
    let cli = match Cli::parse_from_arguments(arguments) {
        Ok(cli) => cli,
        Err(error) => return print_parse_error(output, &error),
    };
    let variables = context::variables();
    let output = output.with_colour(cli.color, variables.get("NO_COLOR")).with_all_errors(cli.all);
    // Warnings of the libraries, such as a cache that cannot be written. A second subscriber is impossible here.
    drop(
        tracing_subscriber::fmt()
            .with_max_level(tracing_subscriber::filter::LevelFilter::WARN)
            .with_writer(std::io::stderr)
            .with_ansi(output.colour)
            .without_time()
            .try_init(),
    );
    match app_context(&cli, variables, installation) {
        Ok(app) => {
            context::cancel_at_interrupt(&app.cancellation, &output);
            cli.command.run(&Context::new(output, app))
        }
        Err(error) => Context::new(output, planforge_app::Context::default()).print_error(&error),
    }
}

/// The context of the use cases.
fn app_context(
    cli: &Cli,
    variables: BTreeMap<String, String>,
    installation: &Installation,
) -> Result<planforge_app::Context, planforge_app::Error> {
    Ok(planforge_app::Context {
        cancellation: Cancellation::default(),
        consent: consent::consent_of(cli)?,
        variables: Arc::new(variables),
        plugins: PluginSettings {
            search_path: context::plugin_search_path(&cli.plugin_dir, installation),
            isolate: cli.isolate_plugins,
            worker: installation.worker.clone(),
            ..PluginSettings::default()
        },
        ..planforge_app::Context::default()
    })
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
