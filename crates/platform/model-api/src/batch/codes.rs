//! The codes of this module.

use planforge_contract::{Failure, FailureClass};
use planforge_diagnostics::CodeInfo;
use std::path::Path;

macro_rules! codes {
    ($($code:literal, $title:literal, $text:literal;)*) => {
        /// Every code that this module gives.
        pub const CODES: &[CodeInfo] = &[$(CodeInfo { code: $code, title: $title, explanation: $text }),*];
    };
}

codes! {
    "batch.line", "a line in a file of answers is malformed",
    "A line is one JSON object in one of two forms: what a batch service writes,\n\n    \
     {\"custom_id\": \"pf-...\", \"response\": {\"status_code\": 200, \"body\": {...}}, \"error\": null}\n\nor what a person or an \
     agent writes,\n\n    {\"custom_id\": \"pf-...\", \"content\": \"the reply\"}\n\nwith `\"contents\": [\"...\", \"...\"]` where a \
     request is for several replies (`n`). A line has at most 64 MB. All mistakes of all files are reported at once. While there is one, \
     nothing runs and no file is kept.";
    "batch.twice", "a request has two different replies",
    "Two lines give the same `custom_id` different replies. The result must not depend on the order of files, so remove one of the two \
     lines that the message names. Two equal lines are not a mistake, and a reply replaces an error for the same request.";
    "batch.torn", "the last line of a file of answers is cut off",
    "The file ends in the middle of a line, as one does that is still being written or downloaded. Every line before it was used. \
     Bring the whole file with --answers once it is complete: it takes the place of what was kept of it.";
    "batch.unknown-id", "an answer to an unknown request",
    "The `custom_id` of a reply is in no request file of this folder, and no request of this session has this name. \
     Usually the file belongs to another run, or an id was changed by hand. The reply is not used.";
    "batch.collision", "two requests would have the same name",
    "The name of a request is 160 bits of a SHA-256 of its content and place. Two equal names have never been seen; change the seed, \
     and please report it.";
    "batch.too-large", "one request is larger than a batch file may be",
    "Batch services take files of at most 200 MB, and one request alone is larger. Choose a pipeline with less history, or with smaller \
     requests.";
    "batch.changed", "a request file is not as planforge wrote it",
    "Request files are written once and then only read. A line is not a request, or its model or interface is another one than in the \
     line before, or the file was changed after its submission began. Restore the file, or remove it and its entry in \
     batch/submitted.json; `planforge run --resume RUN` writes the requests that wait again.";
    "batch.io", "a batch file cannot be read or written",
    "The operating system refused; the message names the file and says why. Waiting requests are written again when the run is \
     resumed.";
}

/// `batch.io`: `what` is what could not be done with the file.
pub fn io_failure(path: &Path, what: &str, error: &dyn std::fmt::Display) -> Failure {
    let message = format!("cannot {what} {}: {error}", path.display());
    Failure::new(FailureClass::System, "batch.io", message)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
mod tests {
    use super::CODES;
    use std::collections::BTreeSet;

    /// Every quoted code in the sources of this module.
    fn codes_in_sources() -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src/batch")).unwrap() {
            let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
            for part in text.split('"').filter(|p| p.starts_with("batch.")) {
                if part.bytes().all(|b| b.is_ascii_lowercase() || b == b'.' || b == b'-')
                    && part.len() > "batch.".len()
                {
                    found.insert(part.to_owned());
                }
            }
        }
        found
    }

    #[test]
    fn every_code_that_is_given_is_explained_once() {
        let mut explained: Vec<String> = CODES.iter().map(|c| c.code.to_owned()).collect();
        explained.sort();
        assert_eq!(codes_in_sources().into_iter().collect::<Vec<_>>(), explained);
        assert!(CODES.iter().all(|c| c.explanation.len() > 60 && !c.title.is_empty()));
    }
}
