//! Properties of the reader for random texts.

use super::*;
use crate::syntax::parse;
use planforge_diagnostics::{apply_fixes, render};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// Pieces of texts as models write them, right and wrong.
fn piece() -> impl Strategy<Value = String> {
    let words = prop_oneof![
        Just("init("),
        Just("goal("),
        Just("object("),
        Just("cardinality("),
        Just("clean("),
        Just("holding("),
        Just("floor_grid("),
        Just("map("),
        Just("shot1"),
        Just("left"),
        Just("X"),
        Just("Y"),
        Just("_"),
        Just("tile-0-1"),
        Just("Tile1"),
        Just("shot"),
        Just("not "),
        Just("-"),
        Just("N-1"),
        Just("1"),
        Just("1..3"),
        Just("total_cost = 0"),
        Just("lights_out"),
        Just("\"left\""),
        Just("#count { X : object(X, shot) }"),
        Just("on-table("),
        Just("neg("),
        Just("value("),
        Just("2.5"),
        Just("and"),
    ];
    let signs = prop_oneof![
        4 => Just(")"), 3 => Just(", "), 3 => Just(".\n"), 2 => Just(" :- "), 1 => Just("\n"), 1 => Just(" "), 1 => Just("("), 1 => Just("="),
        1 => Just("```\n"), 1 => Just("% note\n"), 1 => Just("Here it is:\n"), 1 => Just("- "), 1 => Just("`"), 1 => Just("\u{201c}"),
        1 => Just("</think>"), 1 => Just("%* "), 1 => Just("#show "),
    ];
    prop_oneof![words.prop_map(str::to_owned), signs.prop_map(str::to_owned)]
}

/// Whole statements, some of them good.
fn statement() -> impl Strategy<Value = String> {
    let object = prop_oneof![Just("shot1"), Just("tile-1-2"), Just("B1"), Just("tray"), Just("\"a\"")];
    prop_oneof![
        object.clone().prop_map(|o| format!("init(clean({o})).\n")),
        object.clone().prop_map(|o| format!("goal(not clean({o})\n")),
        object.clone().prop_map(|o| format!("goal(painted({o}, white)), goal(clean({o}))\n")),
        (0..5i64).prop_map(|n| format!("cardinality(shot, {n}).\n")),
        (0..5i64, object).prop_map(|(n, o)| format!("floor_grid({n}, {n}, {o}).\n")),
        Just("init(clean(X) :- object(X, shot), not empty(X).\n".to_owned()),
        Just("init(max_height(N)) :- N = #count { X : object(X, shot) }.\n".to_owned()),
        Just("init(total_cost = 0), init(fuel(Robot1) = 1.5).\n".to_owned()),
        Just("init(floor_grid(N, N-1, t)) :- N = 1..3.\n".to_owned()),
        Just("Some words in between.\n".to_owned()),
    ]
}

fn text() -> impl Strategy<Value = String> {
    let pieces = proptest::collection::vec(prop_oneof![3 => piece(), 2 => statement()], 0..25);
    prop_oneof![4 => pieces.prop_map(|pieces| pieces.concat()), 1 => "\\PC{0,80}"]
}

/// The invariants of one reading.
fn check(text: &str) {
    let signature = signature();
    let reading = read(text, SOURCE, &signature);
    let sources = SourceMap::single("reply", text);
    for told in reading.diagnostics() {
        for label in &told.labels {
            assert!(text.get(label.span.range()).is_some(), "{told:?}");
        }
        assert!(!told.is_error() || !told.help.is_empty(), "no way out of {told:?}");
        let _ = render::text(&told, &sources, false);
    }
    assert!(reading.repairs.iter().all(|told| !told.is_error()));
    assert!(reading.refusals.iter().all(Diagnostic::is_error));

    // What is let through is a program of the strict language, a line for each statement.
    let parsed = parse(&reading.text, SOURCE);
    assert_eq!(parsed.diagnostics, [], "{}", reading.text);
    assert_eq!(parsed.program.statements.len(), reading.program.statements.len());
    assert_eq!(reading.lines.len(), reading.text.lines().count());
    for (statement, line) in reading.program.statements.iter().zip(&reading.lines) {
        assert!(text.get(statement.span.range()).is_some());
        assert_eq!(sources.get(SOURCE).unwrap().line_column(statement.span.start).line, *line);
    }

    // Reading it again repairs nothing.
    if !reading.text.is_empty() {
        let again = read(&reading.text, SOURCE, &signature);
        assert_eq!(again.text, reading.text, "of {text:?}");
        assert_eq!(again.diagnostics(), [], "{}\nof {text:?}", reading.text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    #[test]
    fn every_text_keeps_the_invariants(text in text()) {
        check(&text);
    }

    /// Applying the fixes of all repairs does not change the reading.
    #[test]
    fn fixes_say_what_was_understood(statements in proptest::collection::vec(statement(), 1..8)) {
        let text = statements.concat();
        let reading = super::reading(&text);
        let fixes: Vec<_> = reading.repairs.iter().filter_map(|told| told.fix.clone()).collect();
        let fixed = apply_fixes(&text, SOURCE, &fixes);
        prop_assert_eq!(&fixed.skipped, &[], "{}", text);
        prop_assert_eq!(super::reading(&fixed.text).text, reading.text, "{} -> {}", text, fixed.text);
    }
}
