//! Hostile texts: each ends in a diagnostic after work that grows linearly with the length.

use super::*;
use crate::steps::steps_of;
use crate::syntax::MAX_DIAGNOSTICS;

/// The codes of a text's refusals, each once.
fn refusal_codes(text: &str) -> Vec<String> {
    let mut codes: Vec<String> = reading(text).refusals.iter().map(|d| d.code.to_string()).collect();
    codes.dedup();
    codes
}

#[test]
fn ten_megabytes_are_refused_unread() {
    let text = "init(clean(shot1)).\n".repeat(500_000);
    let signature = signature();
    assert_eq!(steps_of(|| drop(read(&text, SOURCE, &signature))), 0);
    let reading = read(&text, SOURCE, &signature);
    assert_eq!(reading.refusals.len(), 1);
    assert_eq!(reading.refusals[0].code, "asp.too-large");
    assert!(reading.text.is_empty());
}

#[test]
fn too_many_statements_are_refused() {
    let text = "init(clean(shot1)).\n".repeat(MAX_STATEMENTS + 1);
    assert_eq!(refusal_codes(&text), ["ir.too-many-statements"]);
    assert!(reading(&"init(clean(shot1)).\n".repeat(MAX_STATEMENTS)).is_complete());
}

/// A directive without its end affects only its own line: mistakes in later lines are reported too.
#[test]
fn mistakes_behind_an_open_directive_are_told() {
    let directives = [
        "#script(python)",
        "#script (lua) function f() end",
        "#include <incmode>",
        "#include \"tasks.lp\"",
        "#show clean/1",
        "#const n = 3",
        "#external init(clean(shot1)) :",
        "#program base",
    ];
    for directive in directives {
        for (before, after) in [("", ""), ("```\n", "\n```")] {
            let text = format!("{before}{directive}\ninit(cleen(shot1)).\ngoal(clean(shot1, shot2)).{after}");
            assert_eq!(
                refusal_codes(&text),
                ["ir.directive", "ir.unknown-predicate", "ir.arity"],
                "{}",
                print_reading(&text)
            );
        }
    }
    let closed = "#script (lua)\ninit(cleen(shot1)).\n#end.\ngoal(clean(shot1, shot2)).";
    assert_eq!(refusal_codes(closed), ["ir.directive", "ir.arity"], "{}", print_reading(closed));
}

/// Diagnostics stay short for long names.
#[test]
fn long_names_are_not_quoted() {
    let name = "a".repeat(100_000);
    let texts = [
        format!("init(clean(\"{name} b\"))."),
        format!("init({name}(shot1))."),
        format!("#{name} x."),
        format!("object({name}, shot). object(shot1, {name}). cardinality({name}, 3)."),
        format!("init(clean(X)) :- object(X{name}, shot)."),
        format!("init(clean({}b)).", "a-".repeat(4_000)),
        format!("init(clean({}b{})).", "f(".repeat(60), ")".repeat(60)),
        format!("init({}(shot1)).", "wrong_".repeat(30)),
        format!("init(clean(shot1)) :- {} < 3.", vec!["abcdefghij"; 2_000].join(" + ")),
    ];
    for text in texts {
        let reading = reading(&text);
        assert!(!reading.is_complete());
        for told in reading.diagnostics() {
            let title = told.fix.map_or(0, |fix| fix.title.len());
            let said = told.message.len() + told.help.iter().map(String::len).sum::<usize>() + title;
            assert!(said < 1200, "{}: {said} bytes", told.code);
        }
    }
    assert!(reading(&format!("object({}, shot).", "a".repeat(MAX_NAME))).is_complete());
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

/// Pieces that tempt a reader to scan repeatedly.
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
fn work_grows_linearly_with_the_length() {
    const BYTES: usize = 8_000;
    for piece in PIECES {
        let steps = |bytes: usize| {
            let text = piece.repeat(bytes / piece.len());
            steps_of(|| {
                let reading = reading(&text);
                assert!(!reading.refusals.is_empty() || !reading.program.statements.is_empty(), "{piece:?}");
            })
        };
        let (once, twice) = (steps(BYTES), steps(2 * BYTES));
        assert!(
            twice <= 2 * once + once / 4 + 1_000,
            "{piece:?}: {once} steps, and {twice} for twice the length"
        );
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
        assert_eq!(refusal_codes(&text)[0], "asp.too-deep", "{}", &text[..40]);
    }
}

#[test]
fn a_statement_without_end_is_refused() {
    let objects = "object(X, shot), ".repeat(5_000);
    assert_eq!(
        refusal_codes(&format!("init(clean(X)) :- {objects}object(X, shot).")),
        ["ir.not-in-the-representation"]
    );
}

#[test]
fn chains_of_rules_do_not_hide_their_size() {
    let chain = |conditions: usize| {
        let objects: Vec<String> = (0..conditions).map(|n| format!("object(X{n}, shot)")).collect();
        format!("cardinality(shot, 1000).\ninit(clean(X0)) :- {}.", objects.join(", "))
    };
    assert!(refusal_codes(&chain(1)).is_empty());
    for conditions in [2, 3, 90] {
        assert_eq!(refusal_codes(&chain(conditions)), ["ir.too-many-atoms"]);
    }
    assert_eq!(refusal_codes(&chain(101)), ["ir.not-in-the-representation"]);
    let rules: String = (0..400).map(|n| format!("init(floor_grid({n}, 1..1000, t)).\n")).collect();
    assert_eq!(refusal_codes(&rules), ["ir.too-many-atoms"]);
    let growing = "init(max_height(1)). init(max_height(X)) :- cardinality(level, X). cardinality(level, X) :- cardinality(shot, X).
        cardinality(shot, X + 1) :- init(max_height(X)).";
    assert_eq!(refusal_codes(growing), ["ir.growth"]);
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
