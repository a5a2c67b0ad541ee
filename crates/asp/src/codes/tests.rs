//! Every code is explained, and every explanation's example triggers its code.

use super::*;
use crate::syntax;
use planforge_diagnostics::{Diagnostic, SourceId};
use std::collections::BTreeSet;

const SOURCE: SourceId = SourceId(0);

/// The examples that are too long to be written out.
fn written_out(code: &str, example: &str) -> String {
    match code {
        TOO_LARGE => " ".repeat(syntax::MAX_BYTES + 1),
        TOO_MANY_FINDINGS => "p(,). ".repeat(300),
        TOO_DEEP => format!("p({}", "(".repeat(1000)),
        _ => example.to_owned(),
    }
}

fn findings(code: &str, text: &str) -> Vec<Diagnostic> {
    if code == TYPOGRAPHY {
        let lexed = syntax::lexer::lex(text, 0..text.len(), true);
        return lexed.findings.iter().map(|(f, span)| syntax::of_finding(*f, *span, text, SOURCE)).collect();
    }
    syntax::parse(text, SOURCE).diagnostics
}

#[test]
fn every_example_gets_its_code() {
    for (code, example) in EXAMPLES {
        let found = findings(code, &written_out(code, example));
        assert!(found.iter().any(|d| d.code == *code), "{code}: {found:?}");
    }
}

#[test]
fn codes_are_named_once_and_explained() {
    let codes: BTreeSet<&str> = CODES.iter().map(|info| info.code).collect();
    assert_eq!(codes.len(), CODES.len());
    for info in CODES {
        assert!(info.code.starts_with("asp.") && !info.title.ends_with('.'), "{}", info.code);
    }
}
