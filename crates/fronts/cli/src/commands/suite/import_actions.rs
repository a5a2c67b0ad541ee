//! `planforge suite import-actions`: the domain-generators paper's data as suites.

use super::files::{Entry, Files, counted};
use crate::context::Context;
use crate::exit::Exit;
use clap::Args;
use planforge_diagnostics::render::escape;
use planforge_evaluate::{Align, Table};
use planforge_suites::import_actions::{Imported, ImportedSuite, import_actions};
use std::path::PathBuf;

/// Import the domain-generators paper's data as suites.
#[derive(Debug, Args)]
#[command(
    after_help = "FOLDER has domainNL/*.csv, pddl-problems/ and predicate-descriptions/. The domain's PDDL file counts; where a table writes an action otherwise, it is said how. Nothing is written where something is wrong.

Examples:
  planforge suite import-actions action-descriptions --out /tmp/actions9
  planforge run configs/pipelines/actions.toml --task /tmp/actions9/gripper/p01 --set 'given.action_examples=[\"/tmp/actions9\"]'"
)]
pub(crate) struct SuiteImportActionsArgs {
    /// The folder with the data.
    pub(crate) folder: PathBuf,
    /// The folder that the suites are written into: DIR/NAME for each domain.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Replace files that are there with other content.
    #[arg(long)]
    pub(crate) force: bool,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(context: &Context, args: &SuiteImportActionsArgs) -> Exit {
    let imported = import_actions(&args.folder);
    context.output.diagnostics(&imported.diagnostics, &imported.sources);
    if imported.suites.is_empty() {
        return Exit::Input;
    }
    // All folders in one list, so that a file that is in the way keeps every suite from being written.
    let file = |suite: &ImportedSuite, (name, text): &(String, String)| {
        (format!("{}/{name}", suite.name), text.clone())
    };
    let files =
        imported.suites.iter().flat_map(|suite| suite.files.iter().map(move |f| file(suite, f))).collect();
    match Files::new(&args.out, files).write(context, args.force) {
        Ok(entries) => {
            report(context, args, &imported, &entries);
            Exit::Good
        }
        Err(exit) => exit,
    }
}

fn report(context: &Context, args: &SuiteImportActionsArgs, imported: &Imported, entries: &[Entry]) {
    let suites = &imported.suites;
    let sum = |of: fn(&ImportedSuite) -> usize| suites.iter().map(of).sum::<usize>();
    if args.json {
        let list: Vec<_> = suites
            .iter()
            .map(|s| {
                serde_json::json!({
                    "suite": s.name, "actions": s.actions, "texts": s.texts, "predicates": s.predicates,
                    "problems": s.problems,
                })
            })
            .collect();
        context.output.json(&serde_json::json!({
            "folder": args.out.display().to_string(), "suites": list, "left_out": imported.left_out,
            "warnings": imported.diagnostics.len(), "files": entries,
        }));
        return;
    }
    let numbers = ["actions", "texts", "predicates", "problems"].map(|name| (name, Align::Right));
    let mut table = Table::new([("suite", Align::Left)].into_iter().chain(numbers));
    for suite in suites {
        let counts = [suite.actions, suite.texts, suite.predicates, suite.problems];
        table.row([escape(&suite.name).to_string()].into_iter().chain(counts.map(|n| n.to_string())));
    }
    context.output.result(&format!(
        "{}: {} suites with {} actions, {} texts and {} problems; files: {}\n\n{}",
        args.out.display(),
        suites.len(),
        sum(|s| s.actions),
        sum(|s| s.texts),
        sum(|s| s.problems),
        counted(entries),
        table.text()
    ));
}
