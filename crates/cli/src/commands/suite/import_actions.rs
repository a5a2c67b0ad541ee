//! `planforge suite import-actions`: the domain-generators paper's data as suites.

use super::files::{Entry, Files, counted};
use crate::args::SuiteImportActionsArgs;
use crate::commands::Context;
use crate::exit::Exit;
use planforge_diagnostics::render::escape;
use planforge_suites::import_actions::{Imported, ImportedSuite, import_actions};
use std::fmt::Write as _;

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
    let width = suites.iter().map(|s| s.name.chars().count()).max().unwrap_or(0).max(5);
    let mut out = format!("{:width$}  actions  texts  predicates  problems\n", "suite");
    for suite in suites {
        let _ = writeln!(
            out,
            "{:width$}  {:>7}  {:>5}  {:>10}  {:>8}",
            escape(&suite.name),
            suite.actions,
            suite.texts,
            suite.predicates,
            suite.problems
        );
    }
    let _ = writeln!(
        out,
        "{}: {} suites with {} actions, {} texts and {} problems; files: {}",
        args.out.display(),
        suites.len(),
        sum(|s| s.actions),
        sum(|s| s.texts),
        sum(|s| s.problems),
        counted(entries)
    );
    context.output.result(&out);
}
