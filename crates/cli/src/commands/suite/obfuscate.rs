//! `planforge suite obfuscate`: a suite under other names as a folder of its own.

use super::files::{Files, counted};
use crate::args::SuiteObfuscateArgs;
use crate::commands::Context;
use crate::exit::Exit;
use planforge_diagnostics::render::escape;
use planforge_diagnostics::{Diagnostic, SourceMap};
use planforge_obfuscate::{Kind, Options, Renaming};
use planforge_pipeline::{Suite, Texts, disguised, load_suite_with};
use planforge_suites::obfuscate::{MAPPING, files};
use std::fmt::Write as _;

pub(crate) fn run(context: &Context, args: &SuiteObfuscateArgs) -> Exit {
    let loaded = load_suite_with(&args.suite, Texts::Optional);
    context.output.diagnostics(&loaded.diagnostics, &loaded.sources);
    let Some(suite) = loaded.suite else { return Exit::Input };
    let what =
        if args.what.is_empty() { Kind::ALL.into() } else { args.what.iter().map(|kind| kind.0).collect() };
    let options = Options {
        names: args.names.0,
        what,
        texts: !args.keep_texts,
        reorder: !args.keep_order,
        seed: args.seed,
    };
    let new = match disguised(&suite, &options) {
        Ok(new) => new,
        Err(found) => {
            context.output.diagnostics(&found, &SourceMap::default());
            return Exit::Input;
        }
    };
    if is_inside(&args.suite, &args.out) {
        let message = format!("{} is the suite's own folder", args.out.display());
        let wrong = Diagnostic::error("cli.file-exists", message).help("name another folder with --out");
        context.output.diagnostics(&[wrong], &SourceMap::default());
        return Exit::Input;
    }
    match Files::new(&args.out, files(&new, args.name.as_deref())).write(context, args.force) {
        Ok(entries) => {
            let renaming = new.disguise.as_ref().map(|disguise| disguise.names.renaming());
            if args.json {
                context.output.json(&serde_json::json!({
                    "folder": args.out.display().to_string(), "suite": suite.name, "tasks": suite.tasks.len(),
                    "renaming": renaming, "files": entries,
                }));
            } else if let Some(renaming) = renaming {
                let files = counted(&entries);
                context.output.result(&report(args, &suite, renaming, &files));
            }
            Exit::Good
        }
        Err(exit) => exit,
    }
}

/// Names would be exchanged for names of the same folder.
fn is_inside(suite: &std::path::Path, out: &std::path::Path) -> bool {
    out.canonicalize().ok().is_some_and(|out| suite.canonicalize().ok() == Some(out))
}

fn report(args: &SuiteObfuscateArgs, suite: &Suite, renaming: &Renaming, files: &str) -> String {
    let mut out = String::new();
    let width = renaming.names.keys().map(|name| name.chars().count()).max().unwrap_or(0);
    for (name, new) in &renaming.names {
        let _ = writeln!(out, "{:width$}  {}", escape(name), escape(new));
    }
    for (what, names) in
        [("left in texts, where they are words of the language", &renaming.left), ("kept", &renaming.kept)]
    {
        if !names.is_empty() {
            let _ = writeln!(out, "{what}: {}", escape(&names.join(", ")));
        }
    }
    let _ = writeln!(
        out,
        "{}: suite {} under {} names, {} exchanged, {} tasks; files: {files}; the way back is in {MAPPING}",
        args.out.display(),
        escape(&suite.name),
        renaming.style.name(),
        renaming.names.len(),
        suite.tasks.len(),
    );
    out
}
