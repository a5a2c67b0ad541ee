//! The rules that hold for every domain (paper, section 3.1), as files that people read and the reasoner runs.

use crate::syntax::ast::{Program, Rule, StatementKind};
use crate::syntax::parse;
use planforge_diagnostics::{Diagnostic, SourceId, Span};
use std::sync::LazyLock;

/// One file of the library.
#[derive(Debug)]
pub struct LibraryFile {
    /// File name, such as `cardinality.lp`.
    pub name: &'static str,
    pub text: &'static str,
    pub program: Program,
    /// Rules for the atoms that the stages pass in, with their places in the file.
    pub given: Vec<(Rule, Span)>,
    /// Mistakes in the file. A test holds that there are none.
    pub diagnostics: Vec<Diagnostic>,
}

/// The files of the library, in the order in which a program has them.
pub fn files() -> &'static [LibraryFile] {
    static FILES: LazyLock<Vec<LibraryFile>> = LazyLock::new(|| {
        [
            ("objects.lp", include_str!("../library/objects.lp")),
            ("cardinality.lp", include_str!("../library/cardinality.lp")),
            ("bijection.lp", include_str!("../library/bijection.lp")),
            ("sequence.lp", include_str!("../library/sequence.lp")),
            ("grid.lp", include_str!("../library/grid.lp")),
        ]
        .into_iter()
        .map(|(name, text)| {
            let parsed = parse(text, SourceId::default());
            let given = GIVEN.iter().filter(|(file, ..)| *file == name).filter_map(|(_, head, rule)| {
                let start = text.find(head)? as u32;
                let statement = parse(rule, SourceId::default()).program.statements.into_iter().next()?;
                let StatementKind::Rule(rule) = statement.kind else { return None };
                Some((rule, Span::new(start, start + head.len() as u32)))
            });
            LibraryFile {
                name,
                text,
                program: parsed.program,
                given: given.collect(),
                diagnostics: parsed.diagnostics,
            }
        })
        .collect()
    });
    &FILES
}

/// The atoms that the stages pass in: file, words of the comment that describes them, and the rule that they
/// follow.
const GIVEN: &[(&str, &str, &str)] = &[
    ("objects.lp", "generated(T, I, N)", "generated(T, I, N) :- missing(T, K), cardinality(T, N), I = 1..K."),
    ("sequence.lp", "index(T, I, X)", "index(T, I, X) :- object(X, T)."),
    ("sequence.lp", "amount(T, N)", "amount(T, N) :- N = #count { X : object(X, T) }."),
];

/// Predicates of the library and of the representation, with their numbers of arguments. A predicate of the
/// domain with the same name is meant only inside `init` and `goal`.
pub const WORDS: &[(&str, usize)] = &[
    ("object", 2),
    ("cardinality", 2),
    ("init", 1),
    ("goal", 1),
    ("metric", 2),
    ("conflict", 1),
    ("missing", 2),
    ("generated", 3),
    ("index", 3),
    ("amount", 2),
    ("first", 2),
    ("last", 2),
    ("follows", 3),
    ("mapped", 4),
    ("pair", 4),
    ("grid", 4),
    ("next_row", 3),
    ("next_column", 3),
    ("adjacent", 3),
];

/// True if `name` with that many arguments is one of [`WORDS`].
pub fn is_word(name: &str, arguments: usize) -> bool {
    WORDS.contains(&(name, arguments))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::ast::Head;

    #[test]
    fn every_file_is_read_without_a_finding() {
        for file in files() {
            assert_eq!(file.diagnostics, [], "{}", file.name);
            assert!(!file.program.statements.is_empty(), "{}", file.name);
        }
        assert_eq!(files().iter().map(|file| file.given.len()).sum::<usize>(), GIVEN.len());
    }

    #[test]
    fn every_head_is_a_word_of_the_library() {
        for file in files() {
            for statement in &file.program.statements {
                let StatementKind::Rule(rule) = &statement.kind else { panic!("{}: a directive", file.name) };
                let Head::Atom(head) = &rule.head else { panic!("{}: {rule} has no atom", file.name) };
                assert!(is_word(&head.name, head.arguments.len()), "{}: {head}", file.name);
            }
        }
    }
}
