//! Texts made to break a reader: each ends in a diagnostic, in time that grows with the length alone.

use super::*;
use crate::syntax::MAX_DIAGNOSTICS;
use std::time::Instant;

/// The codes of a text's refusals, each once.
fn refused(text: &str) -> Vec<String> {
    let mut codes: Vec<String> = reading(text).refusals.iter().map(|d| d.code.to_string()).collect();
    codes.dedup();
    codes
}

#[test]
fn ten_megabytes_are_refused_unread() {
    let text = "init(clean(shot1)).\n".repeat(500_000);
    let start = Instant::now();
    let reading = reading(&text);
    assert_eq!(reading.refusals.len(), 1);
    assert_eq!(reading.refusals[0].code, "asp.too-large");
    assert!(reading.text.is_empty());
    assert!(start.elapsed().as_millis() < 500, "{:?}", start.elapsed());
}

#[test]
fn too_many_statements_are_refused() {
    let text = "init(clean(shot1)).\n".repeat(MAX_STATEMENTS + 1);
    assert_eq!(refused(&text), ["ir.too-many-statements"]);
    assert!(reading(&"init(clean(shot1)).\n".repeat(MAX_STATEMENTS)).is_complete());
}

#[test]
fn findings_are_counted_beyond_what_is_shown() {
    let text: String =
        (0..5000).map(|n| format!("init(wrong{n}(shot1)).\ninit(Clean(shot{n})).\n")).collect();
    let reading = reading(&text);
    assert_eq!(reading.refusals.len(), MAX_DIAGNOSTICS + 1);
    assert!(reading.refusals.iter().all(Diagnostic::is_error));
    assert_eq!(reading.repairs.len(), MAX_DIAGNOSTICS + 1);
    assert!(!reading.repairs.iter().any(Diagnostic::is_error));
}

/// Pieces that invite a reader to look again and again.
const PIECES: &[&str] = &[
    "(",
    ")",
    "init(",
    "init(clean(",
    "init(clean(shot1)), ",
    "init(clean(shot1)) ",
    "a, ",
    "a\n",
    "goal(not ",
    "not ",
    "- ",
    "-",
    "- - ",
    "X-",
    "a-",
    "`",
    "```\n",
    "```\ninit(clean(a)).\n```\n",
    "%*",
    "%* ",
    "*%",
    "\"",
    "\"\n",
    "#",
    "#script ",
    "#end",
    ".",
    "..",
    ". .",
    ":-",
    ":- ",
    "init(clean(X)) :- ",
    "init(clean(X)) :- object(X, shot), ",
    "init(clean(X)) :- X = 1 + ",
    "{",
    "init(max_height(N)) :- N = #count { ",
    "\u{201c}",
    "\u{2013}",
    "caf\u{e9} ",
    "a(\n",
    "init(clean(shot1)),\n",
    "init(a = ",
    "1.5 ",
    "init(total_cost = 1.5)",
    "and ",
    "init(x(a) and ",
    "<think>",
    "</think>",
    "The word ",
    "init on(a, b). ",
    "init(init(",
    "goal(neg(",
    "init(clean(Abc-Def-1)).",
    "2) ",
    "\n\n",
    "; ",
    "1..",
    "init(clean(\"shot",
    "</think>\n```\n",
    "1 + ",
    "2 ** ",
    "init(max_height(1 + ",
];

#[test]
fn time_grows_with_the_length_alone() {
    const BYTES: usize = 40_000;
    for piece in PIECES {
        let text = piece.repeat(BYTES / piece.len());
        let start = Instant::now();
        let reading = reading(&text);
        let whole = start.elapsed();
        // Unoptimised, the slowest of these takes a tenth of a second; what is quadratic takes minutes.
        assert!(whole.as_secs() < 10, "{piece:?} takes {whole:?}");
        assert!(!reading.refusals.is_empty() || !reading.program.statements.is_empty(), "{piece:?}");
    }
}

#[test]
fn deep_terms_are_refused_and_not_followed() {
    for text in [
        format!("init(clean({}a{})).", "f(".repeat(3_000), ")".repeat(3_000)),
        format!("init(max_height({}1{})).", "(".repeat(3_000), ")".repeat(3_000)),
        format!("init(max_height(1{})).", " + 1".repeat(3_000)),
        format!("init(max_height({}1)).", "-".repeat(3_000)),
    ] {
        assert_eq!(refused(&text)[0], "asp.too-deep", "{}", &text[..40]);
    }
}

#[test]
fn a_statement_without_end_is_refused() {
    let objects = "object(X, shot), ".repeat(5_000);
    assert_eq!(
        refused(&format!("init(clean(X)) :- {objects}object(X, shot).")),
        ["ir.not-in-the-representation"]
    );
}

#[test]
fn chains_of_rules_do_not_hide_their_size() {
    let chain = |conditions: usize| {
        let objects: Vec<String> = (0..conditions).map(|n| format!("object(X{n}, shot)")).collect();
        format!("cardinality(shot, 1000).\ninit(clean(X0)) :- {}.", objects.join(", "))
    };
    assert!(refused(&chain(1)).is_empty());
    for conditions in [2, 3, 90] {
        assert_eq!(refused(&chain(conditions)), ["ir.too-many-atoms"]);
    }
    assert_eq!(refused(&chain(101)), ["ir.not-in-the-representation"]);
    let rules: String = (0..400).map(|n| format!("init(floor_grid({n}, 1..1000, t)).\n")).collect();
    assert_eq!(refused(&rules), ["ir.too-many-atoms"]);
    let growing = "init(max_height(1)). init(max_height(X)) :- cardinality(level, X). cardinality(level, X) :- cardinality(shot, X).
        cardinality(shot, X + 1) :- init(max_height(X)).";
    assert_eq!(refused(growing), ["ir.growth"]);
}

#[test]
fn a_long_chain_of_dependencies_is_followed_without_recursion() {
    let mut signature = signature();
    for n in 0..5_000 {
        signature.predicates.insert(format!("p{n}"), 1);
    }
    let text: String = (1..5_000).map(|n| format!("init(p{n}(X)) :- init(p{}(X)).\n", n - 1)).collect();
    let found = read(&format!("{text}init(p0(a))."), SOURCE, &signature);
    assert_eq!(found.refusals, []);
    let found = read(&format!("{text}init(p0(X)) :- init(p4999(X)), not init(p7(X))."), SOURCE, &signature);
    assert_eq!(found.refusals.len(), 1);
    assert_eq!(found.refusals[0].code, "ir.negation-in-a-circle");
}
