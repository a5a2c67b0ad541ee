//! Download of results into a file of answers.

use crate::batch::{MAX_LINE_BYTES, WrittenFile, failure_name, io_failure, read_answer, redact_line};
use crate::batch_services::calls::Calls;
use crate::batch_services::service_batch::ServiceBatch;
use planforge_contract::{Failure, FailureClass};
use planforge_llm::ArrivedResult;
use serde::Serialize;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Unknown requests that are named one by one.
const UNKNOWN_SHOWN: usize = 10;

/// The results of a batch, as they were downloaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FetchedResults {
    /// The file of answers.
    pub answers: PathBuf,
    /// Requests with a reply.
    pub replies: usize,
    /// Requests with an error, by its class.
    pub failed: BTreeMap<String, usize>,
    /// Requests without a line, which get an error that may pass.
    pub missing: usize,
    /// Number of lines about requests that the file does not have, and the first of them.
    pub unknown: (usize, Vec<String>),
}

/// Downloads the results of a batch that has ended into the folder of answers.
///
/// # Errors
/// `batch.service`, `batch.results`, `batch.io`. Then the folder is unchanged.
pub(crate) fn fetch_results(
    calls: &Calls<'_>,
    batch: &ServiceBatch,
    file: &WrittenFile,
    answers: &Path,
) -> Result<FetchedResults, Failure> {
    fs::create_dir_all(answers).map_err(|e| io_failure(answers, "write", &e))?;
    let mut lines = calls.retried(|_| {
        let mut lines = ResultLines::new(calls, batch, file, answers)?;
        for path in &batch.results {
            if let Err(failure) = calls.download_once(path, &mut |piece| lines.push(piece))? {
                return Ok(Err(failure));
            }
            lines.end_line()?;
        }
        Ok(Ok(lines))
    })?;
    if lines.count < batch.least_lines {
        let (count, least) = (lines.count, batch.least_lines);
        return Err(lines.wrong(&format!("{count} results arrived, and the service counts {least}")));
    }
    if lines.count > 0 && lines.seen.is_empty() {
        return Err(lines.wrong("no result belongs to a request of the file"));
    }
    lines.add_missing()?;
    lines.keep()
}

/// The lines of a download, written as they come.
struct ResultLines<'a> {
    calls: &'a Calls<'a>,
    batch: &'a ServiceBatch,
    file: &'a WrittenFile,
    ids: BTreeSet<&'a str>,
    seen: BTreeSet<&'a str>,
    line: Vec<u8>,
    count: u64,
    out: BufWriter<NamedTempFile>,
    results: FetchedResults,
}

impl<'a> ResultLines<'a> {
    fn new(
        calls: &'a Calls<'a>,
        batch: &'a ServiceBatch,
        file: &'a WrittenFile,
        folder: &Path,
    ) -> Result<Self, Failure> {
        let answers = folder.join(format!("{}.jsonl", batch.id));
        let out = NamedTempFile::new_in(folder).map_err(|e| io_failure(&answers, "write", &e))?;
        Ok(Self {
            calls,
            batch,
            file,
            ids: file.ids.iter().map(String::as_str).collect(),
            seen: BTreeSet::new(),
            line: Vec::new(),
            count: 0,
            out: BufWriter::new(out),
            results: FetchedResults {
                answers,
                replies: 0,
                failed: BTreeMap::new(),
                missing: 0,
                unknown: (0, Vec::new()),
            },
        })
    }

    /// Adds a piece of a file of results.
    fn push(&mut self, piece: &[u8]) -> Result<(), Failure> {
        let mut rest = piece;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let (line, after) = rest.split_at(end);
            self.extend_line(line)?;
            self.end_line()?;
            rest = after.get(1..).unwrap_or_default();
        }
        self.extend_line(rest)
    }

    fn extend_line(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.line.extend_from_slice(bytes);
        if self.line.len() > MAX_LINE_BYTES {
            return Err(self.wrong(&format!("result {} is longer than 64 MB", self.count + 1)));
        }
        Ok(())
    }

    /// Checks and writes the line that is complete now.
    fn end_line(&mut self) -> Result<(), Failure> {
        let bytes = std::mem::take(&mut self.line);
        let unreadable = |lines: &Self, why: &dyn std::fmt::Display| {
            lines.wrong(&format!("result {} cannot be read: {why}", lines.count + 1))
        };
        let text = String::from_utf8(bytes).map_err(|_| unreadable(self, &"it is not UTF-8"))?;
        let text = text.trim();
        if text.is_empty() {
            return Ok(());
        }
        let answer = read_answer(text).map_err(|why| unreadable(self, &why))?;
        self.count += 1;
        match self.ids.get(answer.id.as_str()) {
            Some(id) => {
                self.seen.insert(id);
                match &answer.arrived {
                    ArrivedResult::Body(_) => self.results.replies += 1,
                    ArrivedResult::Failure(failure) => {
                        *self.results.failed.entry(failure_name(failure)).or_insert(0) += 1;
                    }
                }
            }
            None => {
                let (count, shown) = &mut self.results.unknown;
                *count += 1;
                if shown.len() < UNKNOWN_SHOWN {
                    shown.push(self.calls.redactor.text(&answer.id).into_owned());
                }
            }
        }
        let clean = redact_line(self.calls.redactor, text);
        // Two batches may end with the same error of one request, which are two errors: the batch tells them apart.
        match clean.strip_prefix('{').filter(|_| matches!(answer.arrived, ArrivedResult::Failure(_))) {
            Some(rest) => self.write(&format!("{{\"batch\":\"{}\",{rest}", self.batch.id)),
            None => self.write(&clean),
        }
    }

    /// Adds an error for each request without a line, so that it is asked again.
    fn add_missing(&mut self) -> Result<(), Failure> {
        let progress = &self.batch.progress;
        let reason = match progress.errors.first() {
            Some(error) => error.clone(),
            None => "the service returned no result".to_owned(),
        };
        let message = format!("batch {} ({}): {reason}", self.batch.id, progress.status);
        let file = self.file;
        for id in file.ids.iter().filter(|id| !self.seen.contains(id.as_str())).collect::<Vec<_>>() {
            self.results.missing += 1;
            let error = json!({"code": "no_result", "message": message});
            self.write(
                &json!({"batch": self.batch.id, "custom_id": id, "response": null, "error": error})
                    .to_string(),
            )?;
        }
        Ok(())
    }

    fn write(&mut self, line: &str) -> Result<(), Failure> {
        let written = self.out.write_all(line.as_bytes()).and_then(|()| self.out.write_all(b"\n"));
        written.map_err(|e| io_failure(&self.results.answers, "write", &e))
    }

    /// Gives the complete file its name.
    fn keep(self) -> Result<FetchedResults, Failure> {
        let path = self.results.answers.clone();
        let failed = |e: &dyn std::fmt::Display| io_failure(&path, "write", e);
        let file = self.out.into_inner().map_err(|e| failed(&e))?;
        file.as_file().sync_all().map_err(|e| failed(&e))?;
        file.persist(&path).map_err(|e| failed(&e.error))?;
        Ok(self.results)
    }

    fn wrong(&self, what: &str) -> Failure {
        let message = format!("batch {} of {}: {what}", self.batch.id, self.file.name);
        let help = "fetch again; if that does not help, remove the file's entry from batch/submitted.json to submit it again";
        self.calls.redactor.failure(Failure::new(FailureClass::Provider, "batch.results", message).help(help))
    }
}
