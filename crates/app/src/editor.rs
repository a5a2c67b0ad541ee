//! Documents in an editor: PDDL, pipelines, sentences and knowledge files, with diagnostics, navigation, completion, fixes and commands.
//! Positions are in UTF-16; answers have the shape of the language server protocol.

mod analysis;
mod check;
mod completion;
mod hover;
mod lenses;
mod navigation;
mod occurrences;
mod position;
mod workspace;

pub use check::{DOMAIN_SOURCE, MOST_DIAGNOSTICS, code_actions, diagnostic, findings, format};
pub use completion::completion;
pub use hover::hover;
pub use lenses::{COMMANDS, Work, lenses};
pub use navigation::{definition, highlights, outline, prepare_rename, references, rename};
pub use position::{
    ChangeParams, CommandParams, ContentChange, DocumentId, DocumentParams, OpenParams, OpenedDocument,
    Position, Range, RequestContext, VersionedId,
};
pub use workspace::{Document, Workspace};

use crate::catalogue::registry;
use crate::check::check_text;
use crate::context::Context;
use crate::error::Error;
use crate::limits::WorkLimits;
use crate::pipelines::prices::Prices;
use planforge_diagnostics::{Diagnostic, SourceId};
use planforge_planning::ResourceLimits;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Checks a pipeline file: its text and name to its findings, with spans in source 0.
pub type CheckPipeline<'a> = dyn Fn(&str, &str) -> Vec<Diagnostic> + 'a;

/// Makes the limits of a command from seconds and a flag that cancels it.
pub type MakeLimits<'a> = dyn Fn(f64, Arc<AtomicBool>) -> Box<dyn ResourceLimits> + Sync + 'a;

/// What an editor's server needs besides the documents.
pub struct Services<'a> {
    /// The check of pipeline files.
    pub check_pipeline: &'a CheckPipeline<'a>,
    /// The limits of commands.
    pub limits: &'a MakeLimits<'a>,
}

/// The most bytes that planning from an editor may use.
const MOST_BYTES: u64 = 1 << 30;

/// The limits of a command: seconds, and a flag that cancels it.
pub fn limits(seconds: f64, cancelled: Arc<AtomicBool>) -> Box<dyn ResourceLimits> {
    Box::new(WorkLimits::cancelled_by(cancelled, seconds, MOST_BYTES))
}

/// A check of pipeline files with the plugins and prices of this moment.
///
/// # Errors
/// A list of prices that cannot be read.
pub fn pipeline_check(context: &Context) -> Result<impl Fn(&str, &str) -> Vec<Diagnostic> + use<>, Error> {
    let (context, registry, prices) = (context.clone(), registry(context), Prices::listed(context)?);
    Ok(move |text: &str, name: &str| {
        let (checked, _) = check_text(&context, &registry, &prices, (text, name), &[]);
        let in_text = |d: &Diagnostic| d.primary().is_none_or(|label| label.source == SourceId(0));
        checked.diagnostics.into_iter().filter(in_text).collect()
    })
}
