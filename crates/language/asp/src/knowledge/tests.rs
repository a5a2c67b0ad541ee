#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

use crate::knowledge::read_knowledge;
use crate::syntax::parse;
use planforge_diagnostics::SourceId;
use std::path::Path;

const DOMAIN: &str = "(define (domain d) (:requirements :typing) (:types shelf trolley book) (:predicates (next-to ?a ?b - shelf) \
    (on ?b - book ?s - shelf) (has-space ?s - shelf)))";
const GRID: &str = "ir_type(rack, \"a rack\"). ir_predicate(shelf_grid(row, column, shelf), \"a grid\").\n";

/// Diagnostics for a knowledge file of the domain above: code, message and first help.
fn diagnostics_of(rules: &str) -> Vec<String> {
    let domain = planforge_pddl::parse_domain(DOMAIN, SourceId(0)).value;
    let parsed = parse(&format!("{GRID}{rules}"), SourceId(1));
    assert_eq!(parsed.diagnostics, []);
    let (_, found) = read_knowledge(&parsed.program, &domain, SourceId(1));
    found.into_iter().map(|d| format!("{} {}: {}", d.code, d.message, d.help[0])).collect()
}

#[test]
fn names_that_are_known_are_let_through() {
    let good = "init(next_to(A, B)) :- adjacent(shelf, A, B). init(has_space(S)) :- object(S, shelf), not init(on(_, S)).\n\
        full(S) :- on(_, S). goal(neg(has_space(S))) :- full(S). object(R, shelf) :- object(R, rack).\n\
        :- cardinality(shelf, N), N != #count { R, C : grid(shelf, R, C, _) }.\n\
        init(next_to(B, A)) :- follows(shelf, A, B), index(T, I, A), T != book, I > 1. goal(F) :- init(F), full(s1).\n\
        init(map(book, on, shelf)) :- cardinality(book, 3). init(value(total_cost, 0)). metric(minimize, total_cost).\n\
        conflict(crowded(S)) :- on(B, S), on(C, S), B < C. object(@id(shelf, I), shelf) :- I = 1..3.";
    assert_eq!(diagnostics_of(good), Vec::<String>::new());
}

#[test]
fn directives_are_told_beside_other_mistakes() {
    let found = diagnostics_of("#const n = 3. init(has_spaces(a1)).");
    let codes: Vec<&str> = found.iter().filter_map(|told| told.split(' ').next()).collect();
    assert_eq!(codes, ["asp.directive", "asp.knowledge-name"], "{found:?}");
}

#[test]
fn names_that_nothing_has_are_told_with_what_is_near() {
    let cases = [
        ("init(has_room(a1)).", "nothing has or derives the predicate `has_room`: "),
        (
            "init(has_spaces(a1)).",
            "nothing has or derives the predicate `has_spaces`: Did you mean `has_space`?",
        ),
        (
            "init(has_space(S)) :- object(S, shelf), not taken(S).",
            "nothing has or derives the predicate `taken`: The predicates are has_space, next_to, on, shelf_grid. A ",
        ),
        (
            "init(next_to(A, B)) :- adjacent(shelves, A, B).",
            "there is no grid `shelves`: The grids are shelf. A grid is declared as ir_predicate(shelves_grid(",
        ),
        ("object(X, rak) :- object(X, rack).", "there is no type `rak`: Did you mean `rack`?"),
        ("goal(on(X)) :- object(X, book).", "`on` takes 2 arguments, not 1: "),
        ("init(has-space(a1)).", "`has-space(a1)` inside `init` is no fact: "),
        ("init(map(book, onto, shelf)).", "nothing has or derives the predicate `onto`: "),
        (":- cardinality(books, N), N > 3.", "there is no type `books`: Did you mean `book`?"),
        (
            ":- 3 < #count { S : inti(has_space(S)) }.",
            "nothing has or derives the predicate `inti`: Did you mean `init`?",
        ),
    ];
    for (rule, expected) in cases {
        let found = diagnostics_of(rule);
        let [only] = found.as_slice() else { panic!("{rule}: {found:?}") };
        let only = only.replace("has - space", "has-space");
        assert!(only.starts_with(&format!("asp.knowledge-name {expected}")), "{rule}: {only}");
    }
}

#[test]
fn a_variable_that_nothing_binds_is_told_before_anything_is_solved() {
    let [found] = diagnostics_of("init(has_space(S)) :- not init(on(_, S)).").try_into().unwrap();
    assert!(found.starts_with("ir.unsafe-variable nothing says what `S` ranges over: "), "{found}");
}

#[test]
fn our_knowledge_files_have_no_such_name() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/suites");
    let mut files = 0;
    for folder in std::fs::read_dir(examples).unwrap().map(|entry| entry.unwrap().path()) {
        let read = |name: &str| std::fs::read_to_string(folder.join(name));
        let (Ok(knowledge), Ok(domain)) = (read("knowledge.lp"), read("domain.pddl")) else { continue };
        let parsed = parse(&knowledge, SourceId(1));
        let domain = planforge_pddl::parse_domain(&domain, SourceId(0)).value;
        let (_, found) = read_knowledge(&parsed.program, &domain, SourceId(1));
        assert_eq!((parsed.diagnostics, found), (Vec::new(), Vec::new()), "{}", folder.display());
        files += 1;
    }
    assert!(files >= 7);
}
