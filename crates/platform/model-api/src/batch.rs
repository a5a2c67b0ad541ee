//! Batch files: the pending requests of a run or an evaluation as files that any batch service, agent or
//! person can answer, and the answers.
//!
//! A folder has `requests-0001.jsonl`, `requests-0002.jsonl`, ... (one file per wave and model, in the format
//! of OpenAI's Batch API; the bodies are those of the interface that `url` names) and `answers/*.jsonl`. A request is in one request file; it is written again only
//! after every earlier answer was a temporary error.

mod answers;
mod codes;
mod folder;
mod line;
mod redact;
mod requests;
mod written;

pub use answers::BatchReplies;
pub use codes::{CODES, io_failure};
pub use folder::{BatchFolder, failure_name};
pub use line::{AnswerLine, MAX_LINE_BYTES, read_answer};
pub use redact::redact_line;
pub use requests::{
    CHAT_URL, MAX_FILE_BYTES, MAX_FILE_REQUESTS, MESSAGES_URL, RESPONSES_URL, RequestFile, Wave, custom_id,
};
pub use written::WrittenFile;
