//! `planforge suite template`: the files that show an interface and objects, and nothing else of the reference.

use crate::context::Context;
use crate::exit::Exit;
use clap::Args;
use planforge_app::suite::{counted, templates};
use std::path::PathBuf;

/// Write the templates that show only a domain's action interface and a task's objects.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  planforge suite template my-suite")]
pub(crate) struct SuiteTemplateArgs {
    /// The suite's folder, with the reference PDDL.
    pub(crate) suite: PathBuf,
    /// Write into this folder instead.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Replace files that are there with other content.
    #[arg(long)]
    pub(crate) force: bool,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(context: &Context, args: &SuiteTemplateArgs) -> Exit {
    let written = templates(&context.app, &args.suite, args.out.as_deref(), args.force);
    context.show(written, |result| {
        match args.json {
            true => context.output.json(&result),
            false => {
                let line = format!("{}: {}\n", result.folder.display(), counted(&result.files));
                context.output.result(&line);
            }
        }
        Exit::Good
    })
}
