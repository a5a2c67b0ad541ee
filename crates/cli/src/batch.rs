//! Pending requests: answers collected before a run continues, and batch files of the requests that remain
//! after it.

use crate::context::Context;
use crate::exit::Exit;
use planforge_diagnostics::SourceMap;
use planforge_llm::PendingRequest;
use planforge_model_api::batch::{BatchFolder, BatchReplies, Wave};
use planforge_record::Redactor;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The answers to a run's or an evaluation's questions.
pub(crate) struct Batch {
    folder: BatchFolder,
    answers_read: Arc<BatchReplies>,
}

impl Batch {
    /// Reads the answers that are in a run's or an evaluation's folder, and takes up those in `given` files. Everything wrong with them is
    /// printed; then nothing is run.
    pub(crate) fn collect_answers(
        context: &Context,
        folder: &Path,
        given: &[PathBuf],
        redactor: &Redactor,
    ) -> Result<Self, Exit> {
        let folder = BatchFolder::of(folder);
        match folder.read_replies(given, redactor) {
            Ok(answers_read) => {
                context.output.diagnostics(answers_read.warnings(), &SourceMap::default());
                Ok(Self { folder, answers_read: Arc::new(answers_read) })
            }
            Err(wrong) => {
                context.output.diagnostics(&wrong, &SourceMap::default());
                Err(Exit::Input)
            }
        }
    }

    /// The collected answers, for a run to look up.
    pub(crate) fn answers(&self) -> Arc<BatchReplies> {
        Arc::clone(&self.answers_read)
    }

    /// Writes pending requests that are not yet in a request file.
    pub(crate) fn write_requests(
        &self,
        context: &Context,
        pending: &[PendingRequest],
        redactor: &Redactor,
    ) -> Result<Wave, Exit> {
        let wave = self.folder.write(pending, &self.answers_read, redactor);
        let wave = wave.map_err(|failure| context.print_failure(&failure))?;
        context.output.diagnostics(&wave.warnings(), &SourceMap::default());
        Ok(wave)
    }

    /// Prints the number of pending requests and the `command` that resumes.
    pub(crate) fn print_pending(&self, context: &Context, wave: &Wave, command: &str) {
        for line in lines(wave) {
            context.output.note(&line);
        }
        let answers = self.folder.answers();
        if let Some(run) = self.folder.path().parent() {
            context.output.note(&format!(
                "`planforge batch submit {}` sends the files to OpenAI's or Anthropic's batch service",
                run.display()
            ));
        }
        context.output.note(&format!(
            "when there are replies, continue with `{command} --answers FILE`, or put them into {} and leave `--answers` out",
            answers.display()
        ));
    }
}

fn lines(wave: &Wave) -> Vec<String> {
    let wait = match wave.pending {
        1 => "1 request waits for its reply".to_owned(),
        count => format!("{count} requests wait for replies"),
    };
    let mut lines = vec![format!(
        "pending: {wait}: {} new, {} sent again, {} open from earlier request files",
        wave.new, wave.again, wave.open
    )];
    for (what, count) in &wave.failed {
        lines.push(format!("  {count} had an error instead of a reply: {what}"));
    }
    for file in &wave.files {
        let requests =
            if file.requests == 1 { "1 request".to_owned() } else { format!("{} requests", file.requests) };
        lines.push(format!("  {requests} to {}: {}", file.model, file.path.display()));
    }
    lines
}
