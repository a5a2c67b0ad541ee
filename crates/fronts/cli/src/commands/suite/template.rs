//! `planforge suite template`: the files that show an interface and objects, and nothing else of the reference.

use super::files::{Files, counted};
use crate::context::Context;
use crate::exit::Exit;
use clap::Args;
use planforge_diagnostics::Diagnostic;
use planforge_pipeline::load_suite;
use planforge_suites::template::templates;
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
    let loaded = load_suite(&args.suite);
    context.output.diagnostics(&loaded.diagnostics, &loaded.sources);
    let Some(suite) = loaded.suite else { return Exit::Input };
    let files = templates(&suite);
    if files.is_empty() {
        let message = format!("{} has no reference to make templates from", args.suite.display());
        let diagnostic =
            Diagnostic::error("generate.no-domain", message).help("add domain.pddl and NAME.pddl");
        context.output.diagnostics(&[diagnostic], &Default::default());
        return Exit::Input;
    }
    let folder = args.out.as_deref().unwrap_or(&args.suite);
    match Files::new(folder, files).write(context, args.force) {
        Ok(entries) if args.json => {
            context.output.json(&serde_json::json!({ "suite": suite.name, "files": entries }));
            Exit::Good
        }
        Ok(entries) => {
            context.output.result(&format!("{}: {}\n", folder.display(), counted(&entries)));
            Exit::Good
        }
        Err(exit) => exit,
    }
}
