//! The diagnostic codes of this crate.

use planforge_diagnostics::{CodeInfo, code_table};

/// Every diagnostic code of this crate, each with an example that triggers it and a remedy.
pub const CODES: &[CodeInfo] = code_table!("codes.md");

pub(crate) const TOO_LARGE: &str = "asp.too-large";
pub(crate) const TOO_MANY_FINDINGS: &str = "asp.too-many-findings";
pub(crate) const TOO_DEEP: &str = "asp.too-deep";
pub(crate) const UNEXPECTED: &str = "asp.unexpected";
pub(crate) const MISSING_DOT: &str = "asp.missing-dot";
pub(crate) const UNCLOSED: &str = "asp.unclosed";
pub(crate) const NUMBER: &str = "asp.number";
pub(crate) const CHARACTER: &str = "asp.character";
pub(crate) const FOREIGN_NAME: &str = "asp.foreign-name";
pub(crate) const TYPOGRAPHY: &str = "asp.typography";
pub(crate) const CLASSICAL_NEGATION: &str = "asp.classical-negation";
pub(crate) const UNSUPPORTED: &str = "asp.unsupported";

/// Codes of representations.
pub(crate) mod reader {
    pub(crate) const PROSE: &str = "ir.prose";
    pub(crate) const SEVERAL_BLOCKS: &str = "ir.several-blocks";
    pub(crate) const MARKUP: &str = "ir.markup";
    pub(crate) const LOST_DOT: &str = "ir.lost-dot";
    pub(crate) const LOST_PARENTHESIS: &str = "ir.lost-parenthesis";
    pub(crate) const EXTRA_PARENTHESIS: &str = "ir.extra-parenthesis";
    pub(crate) const SIGN: &str = "ir.sign";
    pub(crate) const NAME: &str = "ir.name";
    pub(crate) const NAME_COLLISION: &str = "ir.name-collision";
    pub(crate) const NEGATIVE: &str = "ir.negative-goal";
    pub(crate) const NUMBER_FACT: &str = "ir.number-fact";
    pub(crate) const NUMBER_NAME: &str = "ir.number-name";
    pub(crate) const BARE: &str = "ir.bare-predicate";
    pub(crate) const TYPE_AS_PREDICATE: &str = "ir.type-as-predicate";
    pub(crate) const SPLIT: &str = "ir.several-facts";
    pub(crate) const NO_PROGRAM: &str = "ir.no-program";
    pub(crate) const CUT_OFF: &str = "ir.cut-off";
    pub(crate) const TOO_MANY_STATEMENTS: &str = "ir.too-many-statements";
    pub(crate) const DIRECTIVE: &str = "ir.directive";
    pub(crate) const EXTERNAL: &str = "ir.external-function";
    pub(crate) const UNKNOWN_PREDICATE: &str = "ir.unknown-predicate";
    pub(crate) const ARITY: &str = "ir.arity";
    pub(crate) const UNKNOWN_TYPE: &str = "ir.unknown-type";
    pub(crate) const UNSAFE: &str = "ir.unsafe-variable";
    pub(crate) const CHOICE: &str = "ir.choice";
    pub(crate) const CONSTRAINT: &str = "ir.constraint";
    pub(crate) const FRAGMENT: &str = "ir.not-in-the-representation";
    pub(crate) const OR: &str = "ir.or";
    pub(crate) const GROWTH: &str = "ir.growth";
    pub(crate) const INTERVAL: &str = "ir.interval";
    pub(crate) const TOO_MANY_ATOMS: &str = "ir.too-many-atoms";
    pub(crate) const UNSTRATIFIED: &str = "ir.negation-in-a-circle";
}

/// Codes of knowledge files, programs and answers.
pub(crate) mod program {
    pub(crate) const DECLARATION: &str = "asp.declaration";
    pub(crate) const SHADOWED: &str = "asp.shadowed";
    pub(crate) const DECLARED_TWICE: &str = "asp.declared-twice";
    pub(crate) const UNKNOWN_ARGUMENT_TYPE: &str = "asp.unknown-argument-type";
    pub(crate) const KNOWLEDGE_NAME: &str = "asp.knowledge-name";
    pub(crate) const ASSEMBLED_DIRECTIVE: &str = "asp.directive";
    pub(crate) const TOO_MANY: &str = "asp.more-than-counted";
    pub(crate) const TWO_COUNTS: &str = "asp.two-counts";
    pub(crate) const NO_COUNT: &str = "asp.no-count";
    pub(crate) const MAP_SIZES: &str = "asp.map-sizes";
    pub(crate) const MAP_PREDICATE: &str = "asp.map-predicate";
    pub(crate) const GRID: &str = "asp.grid-place";
    pub(crate) const CONSTRAINT: &str = "asp.constraint";
    pub(crate) const CONFLICT: &str = "asp.conflict";
    pub(crate) const NO_ANSWER: &str = "asp.no-answer";
    pub(crate) const AMBIGUOUS: &str = "asp.ambiguous";
    pub(crate) const SEVERAL: &str = "asp.several-answers";
    pub(crate) const TOO_MANY_OBJECTS: &str = "asp.too-many-objects";
    pub(crate) const UNSETTLED: &str = "asp.unsettled";
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax;
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
            reader::TOO_MANY_STATEMENTS => "init(clean(a)).\n".repeat(crate::reader::MAX_STATEMENTS + 1),
            _ => example.to_owned(),
        }
    }

    fn findings(code: &str, text: &str) -> Vec<Diagnostic> {
        if code == TYPOGRAPHY {
            let lexed = syntax::lexer::lex(text, 0..text.len(), true);
            return lexed
                .findings
                .iter()
                .map(|(f, span)| syntax::of_finding(*f, *span, text, SOURCE))
                .collect();
        }
        if !code.starts_with("ir.") {
            return syntax::parse(text, SOURCE).diagnostics;
        }
        let domain = parse_domain(DOMAIN, SOURCE).value;
        let knowledge = syntax::parse("ir_prefix(level, n).", SOURCE);
        let mut signature = crate::reader::Signature::new(
            &domain,
            &crate::read_knowledge(&knowledge.program, &domain, SOURCE).0,
        );
        signature.ir_predicates.insert("max_height".to_owned(), vec!["number".to_owned()]);
        let tile = ["container", "shot"].map(str::to_owned).to_vec();
        signature.ir_predicates.insert("at".to_owned(), tile);
        crate::reader::read(text, SOURCE, &signature).diagnostics()
    }

    #[test]
    fn every_example_gets_its_code() {
        let mut tested = 0;
        for CodeInfo { code, explanation, .. } in CODES {
            let Some((_, rest)) = explanation.split_once("\n\nExample:\n\n    ") else { continue };
            let (example, _) = rest.rsplit_once("\n\n").unwrap();
            let found = findings(code, &written_out(code, example));
            assert!(found.iter().any(|d| d.code == *code), "{code}: {found:?}");
            tested += 1;
        }
        assert!(tested > 40, "{tested}");
    }

    #[test]
    fn codes_are_named_once_and_explained() {
        let codes: BTreeSet<&str> = CODES.iter().map(|info| info.code).collect();
        assert_eq!(codes.len(), CODES.len());
        for info in CODES {
            assert!(info.code.starts_with("asp.") || info.code.starts_with("ir."), "{}", info.code);
            assert!(!info.title.ends_with('.') && !info.explanation.is_empty(), "{}", info.code);
        }
    }
}
