//! Pending requests: answers collected before a run continues, and batch files of the requests that remain
//! after it.

use crate::context::Context;
use crate::error::Error;
use crate::status::Status;
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
    /// Reads the answers that are in a run's or an evaluation's folder, and takes up those in `given` files.
    ///
    /// # Errors
    /// Everything wrong with them; then nothing is run.
    pub(crate) fn collect_answers(
        context: &Context,
        folder: &Path,
        given: &[PathBuf],
        redactor: &Redactor,
    ) -> Result<Self, Error> {
        let folder = BatchFolder::of(folder);
        match folder.read_replies(given, redactor) {
            Ok(answers_read) => {
                context.findings(answers_read.warnings(), &SourceMap::default());
                Ok(Self { folder, answers_read: Arc::new(answers_read) })
            }
            Err(wrong) => Err(Error::findings(Status::Input, wrong, SourceMap::default())),
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
    ) -> Result<Wave, Error> {
        let wave = self.folder.write(pending, &self.answers_read, redactor)?;
        context.findings(&wave.warnings(), &SourceMap::default());
        Ok(wave)
    }

    /// The folder for answers.
    pub(crate) fn answers_folder(&self) -> PathBuf {
        self.folder.answers()
    }

    /// The folder of the run or evaluation, and the one for answers.
    pub(crate) fn folders(&self) -> (PathBuf, PathBuf) {
        let of = self.folder.path().parent().map(Path::to_owned).unwrap_or_default();
        (of, self.answers_folder())
    }
}
