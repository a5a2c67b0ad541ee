//! Batch files: the questions of a run or an evaluation that wait for answers, as files that any batch service, agent or person can
//! answer, and what they brought.
//!
//! A folder has `requests-0001.jsonl`, `requests-0002.jsonl`, ... (a file a wave and model, in the format of OpenAI's Batch API) and
//! `answers/*.jsonl`. A question stands in one request file once; it is written again only where every time that it was asked came
//! to an error that may pass.

mod answers;
mod codes;
mod folder;
mod line;
mod requests;

pub use answers::Brought;
pub use codes::CODES;
pub use folder::BatchFolder;
pub use line::MAX_LINE_BYTES;
pub use requests::{MAX_FILE_BYTES, MAX_FILE_REQUESTS, RequestFile, Wave, custom_id};
