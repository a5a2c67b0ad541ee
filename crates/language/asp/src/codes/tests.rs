//! Every code is explained, and every explanation's example triggers its code.

use super::*;
use crate::{reader, syntax};
use planforge_diagnostics::{Diagnostic, SourceId};
use planforge_pddl::parse_domain;
use std::collections::BTreeSet;

const SOURCE: SourceId = SourceId(0);

/// The domain that the reader's examples are for.
const DOMAIN: &str = "(define (domain bar) (:requirements :typing :numeric-fluents) (:types shot container level)
    (:predicates (clean ?s - shot) (empty ?s - shot) (filled ?c - container ?l - level)) (:functions (total_cost)))";

/// The examples that are too long to be written out.
fn written_out(code: &str, example: &str) -> String {
    match code {
        TOO_LARGE => " ".repeat(syntax::MAX_BYTES + 1),
        TOO_MANY_FINDINGS => "p(,). ".repeat(300),
        TOO_DEEP => format!("p({}", "(".repeat(1000)),
        reader::codes::TOO_MANY_STATEMENTS => "init(clean(a)).\n".repeat(reader::MAX_STATEMENTS + 1),
        _ => example.to_owned(),
    }
}

fn findings(code: &str, text: &str) -> Vec<Diagnostic> {
    if code == TYPOGRAPHY {
        let lexed = syntax::lexer::lex(text, 0..text.len(), true);
        return lexed.findings.iter().map(|(f, span)| syntax::of_finding(*f, *span, text, SOURCE)).collect();
    }
    if !code.starts_with("ir.") {
        return syntax::parse(text, SOURCE).diagnostics;
    }
    let domain = parse_domain(DOMAIN, SOURCE).value;
    let knowledge = syntax::parse("ir_prefix(level, n).", SOURCE);
    let mut signature =
        reader::Signature::new(&domain, &crate::read_knowledge(&knowledge.program, &domain, SOURCE).0);
    signature.ir_predicates.insert("max_height".to_owned(), vec!["number".to_owned()]);
    let tile = ["container", "shot"].map(str::to_owned).to_vec();
    signature.ir_predicates.insert("at".to_owned(), tile);
    reader::read(text, SOURCE, &signature).diagnostics()
}

#[test]
fn every_example_gets_its_code() {
    for (code, example) in EXAMPLES.iter().chain(reader::codes::EXAMPLES) {
        let found = findings(code, &written_out(code, example));
        assert!(found.iter().any(|d| d.code == *code), "{code}: {found:?}");
    }
}

#[test]
fn codes_are_named_once_and_explained() {
    let all = || CODES.iter().chain(reader::CODES).chain(crate::compile::CODES).chain(crate::program::CODES);
    let codes: BTreeSet<&str> = all().map(|info| info.code).collect();
    assert_eq!(codes.len(), all().count());
    for info in all() {
        assert!(info.code.starts_with("asp.") || info.code.starts_with("ir."), "{}", info.code);
        assert!(!info.title.ends_with('.') && !info.explanation.is_empty(), "{}", info.code);
    }
}
