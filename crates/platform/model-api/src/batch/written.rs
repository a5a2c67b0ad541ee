//! Request files that were written.

use crate::batch::answers::BatchReplies;
use crate::batch::codes::io_failure;
use crate::batch::requests::Ledger;
use planforge_contract::{Failure, FailureClass};
use serde::Deserialize;
use std::fs;
use std::path::{Path, PathBuf};

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
        let text = fs::read_to_string(path).map_err(|e| io_failure(path, "read", &e))?;
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let mut file = Self {
            path: path.to_owned(),
            name,
            url: String::new(),
            model: String::new(),
            ids: Vec::new(),
            open: 0,
        };
        for (index, line) in text.lines().enumerate() {
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
