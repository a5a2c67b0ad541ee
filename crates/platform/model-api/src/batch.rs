//! Batch files: the pending requests of a run or an evaluation as files that any batch service, agent or
//! person can answer, and the answers.
//!
//! A folder has `requests-0001.jsonl`, `requests-0002.jsonl`, ... (one file per wave and model, in the format
//! of OpenAI's Batch API; the bodies are those of the interface that `url` names) and `answers/*.jsonl`. A request is in one request file; it is written again only
//! after every earlier answer was a temporary error.

mod answers;
mod requests;

use planforge_contract::{Failure, FailureClass, ProviderFailure};
use planforge_diagnostics::{CodeInfo, Diagnostic, code_table, skip_byte_order_mark};
use planforge_llm::PendingRequest;
use planforge_record::{MAX_RECORD_BYTES, Redactor, read_regular, read_regular_text};
use requests::{Ledger, Part, Questions, names, parts, wave_of};
use serde::Deserialize;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

pub use answers::{AnswerLine, BatchReplies, MAX_LINE_BYTES, read_answer, redact_line};
pub use requests::{
    CHAT_URL, MAX_FILE_BYTES, MAX_FILE_REQUESTS, MESSAGES_URL, RESPONSES_URL, RequestFile, Wave, custom_id,
};

/// `RUN/batch`, or `OUT/batch` of an evaluation.
#[derive(Debug, Clone)]
pub struct BatchFolder {
    root: PathBuf,
}

impl BatchFolder {
    /// The folder `batch` in that one. Nothing is made before something is written.
    pub fn of(folder: &Path) -> Self {
        Self { root: folder.join("batch") }
    }

    /// The folder of answer files.
    pub fn answers(&self) -> PathBuf {
        self.root.join("answers")
    }

    /// The folder of request files.
    pub fn path(&self) -> &Path {
        &self.root
    }

    /// The request files, in the order in which they were written.
    ///
    /// # Errors
    /// `batch.io`, `batch.changed`.
    pub fn written(&self, replies: &BatchReplies) -> Result<Vec<WrittenFile>, Failure> {
        let mut ledger = Ledger::default();
        let files = jsonl(&self.root).map_err(|e| io_failure(&self.root, "read", &e))?;
        let files = files.iter().filter(|path| wave_of(path).is_some());
        files.map(|path| WrittenFile::read(path, &mut ledger, replies)).collect()
    }

    /// Reads all answers in the folder, and those in `given` files, which are copied into the folder if all
    /// of them can be used.
    ///
    /// # Errors
    /// Every malformed line, every request with two different answers, and every file that cannot be read or
    /// copied. Then nothing is copied.
    pub fn read_replies(
        &self,
        given: &[PathBuf],
        redactor: &Redactor,
    ) -> Result<BatchReplies, Vec<Diagnostic>> {
        let mut replies = BatchReplies::default();
        let here = jsonl(&self.answers()).map_err(|e| vec![unreadable(&self.answers(), &e)])?;
        let mut copies = Vec::new();
        let mut wrong = Vec::new();
        for path in given {
            match read_regular(path, MAX_RECORD_BYTES) {
                Ok(bytes) => copies.push((path, redactor.bytes(&bytes).into_owned())),
                Err(e) => wrong.push(unreadable(path, &e)),
            }
        }
        // A file that has grown since takes the place of what was kept of it.
        let grown = |kept: &Path| {
            let known = read_regular(kept, MAX_RECORD_BYTES).unwrap_or_default();
            copies
                .iter()
                .any(|(path, bytes)| path.file_name() == kept.file_name() && bytes.starts_with(&known))
        };
        for path in here.iter().filter(|path| !grown(path)) {
            replies.read(path, redactor);
        }
        for (path, _) in &copies {
            replies.read(path, redactor);
        }
        wrong.extend(replies.take_errors());
        if wrong.is_empty() {
            let kept = copies.iter().map(|(path, bytes)| self.keep(path, bytes));
            wrong.extend(kept.filter_map(|kept| kept.err().map(|wrong| *wrong)));
        }
        if wrong.is_empty() { Ok(replies) } else { Err(wrong) }
    }

    /// Keeps a file of answers under its name; under another one where another file has it.
    fn keep(&self, path: &Path, bytes: &[u8]) -> Result<(), Box<Diagnostic>> {
        let folder = self.answers();
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        for number in 1_u32.. {
            let name = if number == 1 { format!("{stem}.jsonl") } else { format!("{stem}-{number}.jsonl") };
            let target = folder.join(name);
            match read_regular(&target, MAX_RECORD_BYTES) {
                Ok(known) if known == bytes => return Ok(()),
                // The file itself, or what was there of it before.
                Ok(known) if bytes.starts_with(&known) => {}
                Ok(_) => continue,
                Err(e) if e.kind() == ErrorKind::NotFound => {}
                Err(e) => return Err(Box::new(unreadable(&target, &e))),
            }
            let written =
                whole(&folder, bytes).and_then(|file| file.persist(&target).map(drop).map_err(|e| e.error));
            return written.map_err(|e| {
                let what = format!("{} cannot be written: {e}", target.display());
                Box::new(Diagnostic::error("batch.io", what))
            });
        }
        Ok(())
    }

    /// Writes the pending requests that are not in a file yet, and returns a summary of all pending requests.
    ///
    /// # Errors
    /// `batch.io`, `batch.collision`, `batch.too-large`.
    pub fn write(
        &self,
        pending: &[PendingRequest],
        replies: &BatchReplies,
        redactor: &Redactor,
    ) -> Result<Wave, Failure> {
        let (ledger, last) = self.ledger()?;
        let mut questions = Questions::default();
        for question in pending {
            questions.add(custom_id(&question.key, &question.body), question)?;
        }
        let mut wave = Wave { pending: questions.all.len(), ..Wave::default() };
        let mut asked = Vec::new();
        for (id, question) in questions.all {
            if let Some(failure) = &question.failed {
                *wave.failed.entry(failure_name(failure)).or_insert(0) += 1;
            }
            let (times, passed) = (ledger.times(&id), replies.temporary_errors(&id));
            match (times, passed) {
                (0, _) => wave.new += 1,
                (times, passed) if passed >= times => wave.again += 1,
                _ => {
                    wave.open += 1;
                    continue;
                }
            }
            asked.push((id, question));
        }
        let parts = parts(&asked, redactor, (MAX_FILE_REQUESTS, MAX_FILE_BYTES))?;
        wave.files = self.files(last + 1, parts)?;
        wave.unknown = replies.unknown(|id| ledger.has(id));
        Ok(wave)
    }

    /// Counts how often each request was written, and returns the last wave.
    fn ledger(&self) -> Result<(Ledger, u32), Failure> {
        let mut ledger = Ledger::default();
        let mut last = 0;
        for path in jsonl(&self.root).map_err(|e| io_failure(&self.root, "read", &e))? {
            let Some(wave) = wave_of(&path) else { continue };
            last = last.max(wave);
            let bytes = read_regular(&path, MAX_RECORD_BYTES).map_err(|e| io_failure(&path, "read", &e))?;
            ledger.read(&String::from_utf8_lossy(&bytes));
        }
        Ok((ledger, last))
    }

    /// Writes the files of a wave. Uses the next wave's number if another process has just written a file of
    /// that name.
    fn files(&self, wave: u32, parts: Vec<Part>) -> Result<Vec<RequestFile>, Failure> {
        let mut files = Vec::new();
        let mut wave = wave;
        for at in 0..parts.len() {
            while let Some((part, name)) = parts.get(at).zip(names(wave, &parts).into_iter().nth(at)) {
                let path = self.root.join(name);
                let file =
                    whole(&self.root, part.text.as_bytes()).map_err(|e| io_failure(&path, "write", &e))?;
                match file.persist_noclobber(&path) {
                    Ok(_) => {
                        files.push(RequestFile { path, model: part.model.clone(), requests: part.requests });
                        break;
                    }
                    Err(e) if e.error.kind() == ErrorKind::AlreadyExists => wave += 1,
                    Err(e) => return Err(io_failure(&path, "write", &e.error)),
                }
            }
        }
        Ok(files)
    }
}

/// The key under which an error is counted.
pub fn failure_name(failure: &ProviderFailure) -> String {
    let class = serde_json::to_value(failure.class).ok();
    let class = class.as_ref().and_then(|class| class.as_str()).unwrap_or("error").to_owned();
    match failure.status {
        Some(status) => format!("{class} ({status})"),
        None => class,
    }
}

/// A file with these bytes that has no name yet.
fn whole(folder: &Path, bytes: &[u8]) -> std::io::Result<tempfile::NamedTempFile> {
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    Ok(file)
}

/// The `.jsonl` files of a folder, sorted by name; empty if there is no folder.
fn jsonl(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        // Below a file there is no folder either; whoever means to write there is told so.
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(Vec::new()),
        Err(e) => return Err(e),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|end| end == "jsonl") && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn unreadable(path: &Path, error: &dyn std::fmt::Display) -> Diagnostic {
    Diagnostic::error("batch.io", format!("{} cannot be read: {error}", path.display()))
}

/// A request file in the folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenFile {
    pub path: PathBuf,
    /// Name of the file.
    pub name: String,
    /// The interface that all requests are for, such as `/v1/chat/completions`.
    pub url: String,
    /// The model of all requests.
    pub model: String,
    /// The `custom_id` of each request, in order.
    pub ids: Vec<String>,
    /// Number of requests without an answer.
    pub open: usize,
}

/// The fields read from a line.
#[derive(Deserialize)]
struct RequestLine {
    custom_id: String,
    url: String,
    body: RequestBody,
}

#[derive(Deserialize)]
struct RequestBody {
    model: String,
}

impl WrittenFile {
    /// Reads a file. `ledger` counts how often earlier files contain each request.
    pub(crate) fn read(path: &Path, ledger: &mut Ledger, replies: &BatchReplies) -> Result<Self, Failure> {
        let text = read_regular_text(path, MAX_RECORD_BYTES).map_err(|e| io_failure(path, "read", &e))?;
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let mut file = Self {
            path: path.to_owned(),
            name,
            url: String::new(),
            model: String::new(),
            ids: Vec::new(),
            open: 0,
        };
        for (index, line) in skip_byte_order_mark(&text).lines().enumerate() {
            let changed = |why: &dyn std::fmt::Display| {
                let message = format!("{}:{}: {why}", path.display(), index + 1);
                Failure::new(FailureClass::Request, "batch.changed", message)
            };
            let request: RequestLine = serde_json::from_str(line).map_err(|e| changed(&e))?;
            if index == 0 {
                (file.url, file.model) = (request.url, request.body.model);
            } else if (&file.url, &file.model) != (&request.url, &request.body.model) {
                return Err(changed(&"a file has requests of one interface and model"));
            }
            let times = ledger.add(&request.custom_id);
            file.open += usize::from(!replies.is_answered(&request.custom_id, times));
            file.ids.push(request.custom_id);
        }
        Ok(file)
    }
}

/// Every code that this module gives.
pub const CODES: &[CodeInfo] = code_table!("batch/codes.md");

/// `batch.io`: `what` is what could not be done with the file.
pub fn io_failure(path: &Path, what: &str, error: &dyn std::fmt::Display) -> Failure {
    let message = format!("cannot {what} {}: {error}", path.display());
    Failure::new(FailureClass::System, "batch.io", message)
}
