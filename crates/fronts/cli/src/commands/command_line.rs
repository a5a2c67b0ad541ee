//! The command line as a whole: global options, and help that groups the commands under headings.

use super::{Command, HEADINGS};
use crate::output::ColourChoice;
use clap::{CommandFactory, FromArgMatches, Parser};
use std::ffi::OsString;
use std::path::PathBuf;

/// Turn a task in words into a plan, and say what the plan rests on.
#[derive(Debug, Parser)]
#[command(name = "planforge", version, after_help = crate::exit::help())]
pub(crate) struct Cli {
    /// Colours on standard error.
    #[arg(long, value_enum, default_value_t = ColourChoice::Auto, global = true, value_name = "WHEN")]
    pub(crate) color: ColourChoice,
    /// A folder with plugins (libraries, or folders with a `plugin.toml`); repeatable. Also: the environment variable PLANFORGE_PLUGINS (separated by colons) and
    /// the folder `plugins` beside the executable. Never the working directory.
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) plugin_dir: Vec<PathBuf>,
    /// Run plugin libraries in a child process each: a crash or an endless loop ends the call alone. Each call takes longer.
    #[arg(long, global = true)]
    pub(crate) isolate_plugins: bool,
    /// A server or proxy that may get the requests and keys that a pipeline file sends there, such as `llm.example.org` or
    /// `http://10.0.0.1:8000`; repeatable. Allowed without it are the service that a key is for, loopback addresses without a
    /// key or typed with --set, and the servers in `planforge/allow.toml` of the configuration folder.
    #[arg(long, global = true, value_name = "HOST")]
    pub(crate) allow_host: Vec<String>,
    /// Trust the certificate file (`ca_file`) of a pipeline file that has this SHA-256, which `planforge check` prints;
    /// repeatable.
    #[arg(long, global = true, value_name = "SHA256")]
    pub(crate) allow_ca: Vec<String>,
    /// Start the programs that pipeline files name (`command` of planner-external and environment-process, and the like). Allowed
    /// without it are the commands in `planforge/allow.toml` of the configuration folder.
    #[arg(long, global = true)]
    pub(crate) allow_commands: bool,
    /// The values of `--set`, of whichever command.
    #[arg(skip)]
    pub(crate) typed_settings: Vec<String>,
    /// Print every error, also those of the same cause.
    #[arg(long, global = true)]
    pub(crate) all: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    pub(crate) fn parse_from_arguments(arguments: Vec<OsString>) -> Result<Self, clap::Error> {
        let mut command = grouped_command();
        let matches = command.try_get_matches_from_mut(arguments)?;
        let cli = Self::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
        Ok(Self { typed_settings: typed_settings(&matches), ..cli })
    }
}

/// The values of `--set` of a command or its subcommand.
fn typed_settings(matches: &clap::ArgMatches) -> Vec<String> {
    let values = ["set", "overrides"].into_iter().filter_map(|id| matches.try_get_many::<String>(id).ok()?);
    let own = values.flatten().cloned();
    own.chain(matches.subcommand().map(|(_, below)| typed_settings(below)).unwrap_or_default()).collect()
}

/// Returns the whole command line, with the commands of `planforge --help` under their headings.
pub(crate) fn grouped_command() -> clap::Command {
    let command = Cli::command();
    let groups = command_groups(&command);
    // The closing brace of a placeholder is the only brace that a template may have.
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}Options:\n{{options}}{{after-help}}"
    ))
}

fn command_groups(command: &clap::Command) -> String {
    let names = || HEADINGS.iter().flat_map(|(_, names)| *names);
    let width = names().map(|name| name.len()).max().unwrap_or_default();
    let mut groups = String::new();
    for (heading, names) in HEADINGS.iter().filter(|(_, names)| !names.is_empty()) {
        groups += &format!("{heading}:\n");
        for name in *names {
            let about = command.find_subcommand(name).and_then(clap::Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            groups += &format!("  {name:width$}  {about}\n");
        }
        groups.push('\n');
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_command_line_is_consistent() {
        grouped_command().debug_assert();
    }

    #[test]
    fn the_settings_that_are_typed_are_found_in_every_command() {
        for command in ["run p.toml", "check p.toml", "evaluate --out x --pipeline p --suite s"] {
            let words = format!("planforge {command} --set a=1 --set b=2");
            let words = words.split(' ').map(OsString::from).collect();
            assert_eq!(Cli::parse_from_arguments(words).unwrap().typed_settings, ["a=1", "b=2"], "{command}");
        }
    }

    #[test]
    fn every_visible_command_is_under_one_heading_with_a_short_description() {
        let listed: Vec<&str> = HEADINGS.iter().flat_map(|(_, names)| *names).copied().collect();
        let command = Cli::command();
        let visible: BTreeSet<&str> =
            command.get_subcommands().filter(|c| !c.is_hide_set()).map(clap::Command::get_name).collect();
        assert_eq!(listed.len(), visible.len());
        assert_eq!(listed.iter().copied().collect::<BTreeSet<_>>(), visible);
        for line in command_groups(&command).lines() {
            assert!(line.chars().count() <= 100 && !line.trim().contains(['{', '}']), "{line}");
        }
    }
}
