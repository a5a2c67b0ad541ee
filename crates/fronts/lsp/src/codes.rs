//! Diagnostic codes of the language server.

use planforge_diagnostics::CodeInfo;

/// The codes, for `planforge explain`.
pub const CODES: &[CodeInfo] = &[CodeInfo {
    code: "lsp.no-domain",
    title: "no file beside a problem defines its domain",
    explanation: "The language server looks for the domain that a problem names in the problem's folder and in the folder above: in \
                  domain-STEM.pddl, in domain.pddl, in other files and in open documents.\n\n    \
                  (define (problem p) (:domain blocks) ...)\n\nWithout it, the problem is checked alone: types, predicates and the \
                  arguments of facts are not.",
}];
