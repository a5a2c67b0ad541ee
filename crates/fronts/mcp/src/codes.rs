//! Diagnostic codes of this crate.

use planforge_contract::{Failure, FailureClass};
use planforge_diagnostics::CodeInfo;

/// Every code, with its explanation.
pub const CODES: &[CodeInfo] = &[
    CodeInfo {
        code: "mcp.arguments",
        title: "the arguments of a tool call cannot be used",
        explanation: "An argument is missing, unknown, of the wrong type, or above its ceiling. The message names it, and the tool's \
                      input schema describes all of them:\n\n    {\"domain\": {\"text\": \"(define (domain d) ...)\"}}\n    \
                      {\"domain\": {\"path\": \"blocks/domain.pddl\"}, \"limits\": {\"seconds\": 60}}\n\nNothing was judged.",
    },
    CodeInfo {
        code: "mcp.file",
        title: "a file named in a tool call cannot be read",
        explanation: "Tools read files only under the roots that the client grants (MCP roots). A path is relative to a root, or begins with \
                      one. `..`, symbolic links, and files that are not regular files are refused:\n\n    {\"path\": \
                      \"../other/domain.pddl\"}\n\nGrant the folder in the client, or pass the text itself.",
    },
    CodeInfo {
        code: "mcp.input-size",
        title: "the texts of a tool call are too large",
        explanation: "The texts of one call together exceed the limit `input_mb`. Raise it up to its ceiling:\n\n    \
                      {\"limits\": {\"input_mb\": 64}}",
    },
    CodeInfo {
        code: "mcp.cancelled",
        title: "a tool call was cancelled",
        explanation: "The client cancelled the call, or closed the connection. The call has no result.",
    },
    CodeInfo {
        code: "mcp.server",
        title: "the MCP server cannot start, or its client broke the protocol",
        explanation: "The port is taken, the token cannot be read or is shorter than 16 bytes, or the client's first message is not one \
                      of the protocol:\n\n    planforge serve mcp --http 80\n\nThe message says which.",
    },
    CodeInfo {
        code: "mcp.client",
        title: "the client cannot do what a tool call needs of it",
        explanation: "Files need a client that lists its roots, and pipelines on the client's own model need a client with sampling. This \
                      client declares neither, or refused the request. Pass texts instead of paths, or name another model.",
    },
];

/// A mistake in the arguments of a call.
pub(crate) fn wrong_arguments(message: impl Into<String>) -> Failure {
    Failure::new(FailureClass::Request, "mcp.arguments", message)
}

/// The failure of a cancelled call.
pub(crate) fn cancelled() -> Failure {
    Failure::new(FailureClass::Cancelled, "mcp.cancelled", "the call was cancelled")
}

/// The failure of a file that is not read.
pub(crate) fn file_failure(path: &str, why: &str) -> Failure {
    let message = format!("`{path}` cannot be read: {why}");
    Failure::new(FailureClass::Request, "mcp.file", message)
        .help("name a file under a root that the client grants, or pass the text itself")
}

/// The failure of a client that cannot do what the call needs.
pub(crate) fn client_failure(message: impl Into<String>) -> Failure {
    Failure::new(FailureClass::Request, "mcp.client", message)
}
