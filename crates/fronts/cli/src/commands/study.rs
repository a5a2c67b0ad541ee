//! `planforge study`: experiments without a language model, over suites of PDDL files.

mod ew_correlation;
mod omissions;
mod scaling;

use crate::context::Context;
use crate::exit::Exit;
use clap::{Args, Subcommand};
use planforge_app::Error;
use planforge_app::study::{StudyResult, WrittenFiles};
use serde::Serialize;
use std::path::PathBuf;

/// Run experiments without a language model: CSV, tables and figures.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge study omissions --suites examples/suites --out study/omissions --quick
  planforge study ew-correlation --suites suites/classical examples/suites --out study/ew-correlation")]
pub(crate) struct StudyArgs {
    #[command(subcommand)]
    pub(crate) command: StudyCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StudyCommand {
    Omissions(omissions::OmissionsArgs),
    EwCorrelation(ew_correlation::EwCorrelationArgs),
    Scaling(scaling::ScalingArgs),
}

/// Arguments of every study.
#[derive(Debug, Args)]
pub(crate) struct StudyFiles {
    /// Suites: folders with domain.pddl and problems, or folders of such folders.
    #[arg(long, value_name = "DIR", num_args = 1.., required = true)]
    pub(crate) suites: Vec<PathBuf>,
    /// Only the suites of these names.
    #[arg(long, value_name = "NAME", num_args = 1..)]
    pub(crate) only: Vec<String>,
    /// Folder for the files; created if missing.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// A smaller study, under two minutes; explicit options take precedence.
    #[arg(long)]
    pub(crate) quick: bool,
    /// The seed of all random choices.
    #[arg(long, value_name = "N", default_value_t = 42)]
    pub(crate) seed: u64,
    /// Threads; all cores where it is not given. It changes the time and nothing else.
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) jobs: Option<u32>,
    /// Print the study as one JSON object instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(context: &Context, args: &StudyArgs) -> Exit {
    match &args.command {
        StudyCommand::Omissions(args) => omissions::run(context, args),
        StudyCommand::EwCorrelation(args) => ew_correlation::run(context, args),
        StudyCommand::Scaling(args) => scaling::run(context, args),
    }
}

impl StudyFiles {
    fn request(&self) -> planforge_app::study::StudyFiles {
        planforge_app::study::StudyFiles {
            suites: self.suites.clone(),
            only: self.only.clone(),
            out: self.out.clone(),
            seed: self.seed,
            jobs: self.jobs,
        }
    }

    /// Prints a study, and where its files are.
    fn print<T: Serialize>(
        &self,
        context: &Context,
        result: Result<StudyResult<T>, Error>,
        text: impl FnOnce(&T) -> String,
    ) -> Exit {
        context.show(result, |result| {
            match self.json {
                true => context.output.json(&result),
                false => context.output.result(&text(&result.study)),
            }
            print_written(context, &result.written);
            Exit::Good
        })
    }
}

fn print_written(context: &Context, written: &WrittenFiles) {
    context.output.note(&format!("{} are in {}", written.names.join(", "), written.folder.display()));
}
