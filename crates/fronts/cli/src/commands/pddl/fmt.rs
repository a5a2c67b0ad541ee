//! `planforge pddl fmt`: one layout for PDDL files.

use crate::context::Context;
use crate::exit::Exit;
use crate::files::{refuse_part_of_run, rewrite};
use crate::inputs::{read_pddl, refused};
use clap::Args;
use planforge_diagnostics::{Diagnostic, Severity, SourceId, SourceMap};
use planforge_format::{FormatError, format_pddl};
use planforge_pddl::PddlText;
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
        return context.usage_error(
            "`-` cannot be combined with files",
            Some("format the files in a command of their own"),
        );
    }
    let mut worst = Exit::Good;
    let mut different = Vec::new();
    for file in &args.files {
        match format_file(context, file, args.check) {
            Ok(true) => different.push(file),
            Ok(false) => {}
            Err(exit) => worst = worst.max(exit),
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

/// Formats one file; true if its text is not in the layout.
fn format_file(context: &Context, path: &Path, check: bool) -> Result<bool, Exit> {
    let from_stdin = path == Path::new("-");
    let name = if from_stdin { "standard input".to_owned() } else { path.display().to_string() };
    let read = if from_stdin { read_stdin(&name) } else { read_pddl(path) };
    let refuse = |diagnostics: &[Diagnostic], text: &str, exit| {
        context.output.diagnostics(diagnostics, &SourceMap::single(&name, text));
        exit
    };
    let text = match read {
        Ok(PddlText { text, warning: None }) => text,
        // The bytes that are not UTF-8 would be lost.
        Ok(PddlText { text, warning: Some(warning) }) => {
            let error = Diagnostic { severity: Severity::Error, ..warning };
            return Err(refuse(&[error], &text, Exit::Input));
        }
        Err(diagnostic) => return Err(refuse(&[*diagnostic], "", Exit::Input)),
    };
    let formatted = match format_pddl(&text, SourceId(0)) {
        Ok(formatted) => formatted,
        Err(FormatError::Unreadable(diagnostics)) => return Err(refuse(&diagnostics, &text, Exit::Negative)),
        Err(error @ FormatError::Changed) => {
            context.output.note(&format!("error: {name}: {error}; nothing was written"));
            context.output.note("help: this is a bug in planforge; please report it with the file");
            return Err(Exit::Panic);
        }
    };
    if from_stdin && !check {
        context.output.result(&formatted);
    } else if formatted != text && !check {
        refuse_part_of_run(path).map_err(|failure| context.print_failure(&failure))?;
        rewrite(context, path, formatted.as_bytes())?;
    }
    Ok(formatted != text)
}

fn read_stdin(name: &str) -> Result<PddlText, Box<Diagnostic>> {
    let mut bytes = Vec::new();
    // One byte more than is allowed, so that the reader refuses a longer text.
    let most = planforge_pddl::MAX_TEXT_BYTES as u64 + 1;
    std::io::stdin().lock().take(most).read_to_end(&mut bytes).map_err(|error| {
        Box::new(Diagnostic::error("cli.unreadable-file", format!("{name} cannot be read: {error}")))
    })?;
    planforge_pddl::read_pddl_bytes(name, &bytes).map_err(|diagnostic| refused(name, diagnostic))
}
