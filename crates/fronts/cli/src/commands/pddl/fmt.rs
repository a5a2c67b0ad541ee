//! `planforge pddl fmt`: one layout for PDDL files.

use crate::context::Context;
use crate::exit::Exit;
use clap::Args;
use planforge_app::diagnostics::{Diagnostic, SourceMap};
use planforge_app::pddl::format::{FormatRequest, MAX_TEXT_BYTES, format};
use planforge_app::{Error, Source};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Lay out PDDL files in one style; comments and order stay.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge pddl fmt domain.pddl p01.pddl
  planforge pddl fmt --check domain.pddl p01.pddl
  planforge pddl fmt - < domain.pddl > laid-out.pddl")]
pub(crate) struct FmtArgs {
    /// Domain and problem files, which are changed in place; `-` formats standard input to standard output.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Change nothing; list the files that formatting would change.
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(context: &Context, args: &FmtArgs) -> Exit {
    let from_stdin = args.files.iter().any(|file| file == Path::new("-"));
    if from_stdin && args.files.len() > 1 {
        let help = "format the files in a command of their own";
        return context.print_error(&Error::usage("`-` cannot be combined with files", Some(help)));
    }
    let mut worst = Exit::Good;
    let mut different = Vec::new();
    for file in &args.files {
        let source = if from_stdin { standard_input() } else { Ok(Source::File(file.clone())) };
        let formatted =
            source.and_then(|source| format(&context.app, &FormatRequest { source, check: args.check }));
        match formatted {
            Ok(result) => {
                if from_stdin && !args.check {
                    context.output.result(&result.text);
                }
                different.extend(result.changed.then_some(file));
            }
            Err(error) => worst = worst.max(context.print_error(&error)),
        }
    }
    if args.check {
        let list: String = different.iter().map(|file| format!("{}\n", file.display())).collect();
        context.output.result(&list);
    }
    if !from_stdin || args.check {
        let done = if args.check { "would change" } else { "changed" };
        context.output.note(&format!("{} of {} files {done}", different.len(), args.files.len()));
    }
    if args.check && !different.is_empty() { worst.max(Exit::Negative) } else { worst }
}

fn standard_input() -> Result<Source, Error> {
    let name = "standard input";
    let mut bytes = Vec::new();
    // One byte more than is allowed, so that the reader refuses a longer text.
    let most = MAX_TEXT_BYTES as u64 + 1;
    match std::io::stdin().lock().take(most).read_to_end(&mut bytes) {
        Ok(_) => Ok(Source::Bytes { name: name.to_owned(), bytes }),
        Err(error) => {
            let message = format!("{name} cannot be read: {error}");
            let diagnostic = Diagnostic::error("cli.unreadable-file", message);
            Err(Error::findings(Exit::Input, vec![diagnostic], SourceMap::single(name, "")))
        }
    }
}
