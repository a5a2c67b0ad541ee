//! `planforge suite import-actions`: the domain-generators paper's data as suites.

use crate::context::Context;
use crate::exit::Exit;
use clap::Args;
use planforge_app::diagnostics::render::escape;
use planforge_app::suite::{ImportResult, ImportedSuite, counted, import_actions};
use planforge_app::table::{Align, Table};
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
    let imported = import_actions(&context.app, &args.folder, &args.out, args.force);
    context.show(imported, |result| {
        match args.json {
            true => context.output.json(&result),
            false => context.output.result(&text(&result)),
        }
        Exit::Good
    })
}

fn text(result: &ImportResult) -> String {
    let suites = &result.suites;
    let sum = |of: fn(&ImportedSuite) -> usize| suites.iter().map(of).sum::<usize>();
    let numbers = ["actions", "texts", "predicates", "problems"].map(|name| (name, Align::Right));
    let mut table = Table::new([("suite", Align::Left)].into_iter().chain(numbers));
    for suite in suites {
        let counts = [suite.actions, suite.texts, suite.predicates, suite.problems];
        table.row([escape(&suite.name).to_string()].into_iter().chain(counts.map(|n| n.to_string())));
    }
    format!(
        "{}: {} suites with {} actions, {} texts and {} problems; files: {}\n\n{}",
        result.folder.display(),
        suites.len(),
        sum(|s| s.actions),
        sum(|s| s.texts),
        sum(|s| s.problems),
        counted(&result.files),
        table.text()
    )
}
