//! Batch files: the pending requests of a run or an evaluation as files that any batch service, agent or
//! person can answer, and the answers.
//!
//! A folder has `requests-0001.jsonl`, `requests-0002.jsonl`, ... (one file per wave and model, in the format
//! of OpenAI's Batch API) and `answers/*.jsonl`. A request is in one request file; it is written again only
//! after every earlier answer was a temporary error.

mod answers;
mod codes;
mod folder;
mod line;
mod requests;

pub use answers::BatchReplies;
pub use codes::CODES;
pub use folder::BatchFolder;
pub use line::MAX_LINE_BYTES;
pub use requests::{MAX_FILE_BYTES, MAX_FILE_REQUESTS, RequestFile, Wave, custom_id};
