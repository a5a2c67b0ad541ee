//! `planforge serve lsp`: the language server for editors.

use crate::catalogue::registry;
use crate::commands::check::check_text;
use crate::context::Context;
use crate::exit::Exit;
use crate::limits::WorkLimits;
use crate::prices::Prices;
use clap::Args;
use planforge_diagnostics::{Diagnostic, SourceId};
use planforge_lsp::{ServeError, Services, serve_stdio};
use planforge_planning::ResourceLimits;

/// Serve an editor on standard input and output: PDDL, pipelines, sentences and knowledge files.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge serve lsp

An editor starts it. docs/how-to/edit-pddl.md has the settings for VS Code, Neovim and Helix.")]
pub(crate) struct LspArgs {}

/// The most bytes that planning from an editor may use.
const MOST_BYTES: u64 = 1 << 30;

pub(crate) fn run(context: &Context, _args: &LspArgs) -> Exit {
    let registry = registry(context);
    let prices = match Prices::listed(context) {
        Ok(prices) => prices,
        Err(exit) => return exit,
    };
    let check_pipeline = |text: &str, name: &str| -> Vec<Diagnostic> {
        let checked = check_text(context, &registry, &prices, (text, name), &[]);
        let in_text = |d: &Diagnostic| d.primary().is_none_or(|label| label.source == SourceId(0));
        checked
            .map(|(checked, _)| checked.diagnostics)
            .unwrap_or_default()
            .into_iter()
            .filter(in_text)
            .collect()
    };
    let limits = |seconds: f64, cancelled| -> Box<dyn ResourceLimits> {
        Box::new(WorkLimits::cancelled_by(cancelled, seconds, MOST_BYTES))
    };
    match serve_stdio(&Services { check_pipeline: &check_pipeline, limits: &limits }) {
        Ok(()) => Exit::Good,
        Err(error) => {
            context.output.note(&format!("error: {error}"));
            match error {
                ServeError::Protocol(_) => Exit::Input,
                ServeError::Io(_) => Exit::System,
            }
        }
    }
}
