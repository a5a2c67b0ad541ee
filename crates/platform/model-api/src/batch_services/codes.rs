//! The codes of this module.

use planforge_diagnostics::CodeInfo;

macro_rules! codes {
    ($($code:literal, $title:literal, $text:literal;)*) => {
        /// Every code that this module gives. `batch.changed` and `batch.io` are those of `batch`.
        pub const CODES: &[CodeInfo] = &[$(CodeInfo { code: $code, title: $title, explanation: $text }),*];
    };
}

codes! {
    "batch.service", "a batch service refused a request or did not answer",
    "The message has the service, its address, the status and the service's own words. Errors that may pass (408, 429, 5xx, a lost \
     connection) were tried five times, with the waits that the service asked for. Repeating the command goes on where it stopped: \
     batch/submitted.json says what was sent, and no file is submitted twice.";
    "batch.results", "the results of a batch cannot be used",
    "A line is not a result, is longer than 64 MB, or the results are fewer than the service counts; or none of them belongs to the \
     request file, which happens when the batch in batch/submitted.json is another one. Nothing of the batch is kept.";
    "batch.ambiguous", "an interrupted submission may have created several batches",
    "The connection or the process ended while Anthropic created a batch, so its id is unknown. Anthropic keeps no name that \
     planforge could give a batch; it is found by its time and its number of requests, and there are several of those. Look at \
     them in the service's console, and write the right id into batch/submitted.json.";
    "batch.state", "the record of submitted batches does not fit",
    "batch/submitted.json cannot be read, or it says that a file was submitted to another address than the model table names. Restore \
     the file or the table. Without an entry a file counts as not submitted.";
    "batch.locked", "another process works on the batches of this folder",
    "Two processes that submit at once could submit a file twice, so only one may. `planforge batch status` needs no lock.";
    "batch.interrupted", "the command was interrupted",
    "Batches go on at their service. Repeat the command; what was submitted or downloaded is recorded.";
    "batch.request", "a request to a batch service cannot be built",
    "The request could not be turned into HTTP, so nothing was sent.";
}
