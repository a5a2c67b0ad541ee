//! Broken texts and their readings.

use super::*;
use crate::syntax::{MAX_DIAGNOSTICS, parse, steps_of};
use planforge_diagnostics::{SourceMap, apply_fixes, render};
use planforge_pddl::parse_domain;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::fmt::Write;

const SOURCE: SourceId = SourceId(0);

/// A domain of bars and floors, written for these tests.
const DOMAIN: &str = "(define (domain bar)
  (:requirements :typing :numeric-fluents)
  (:types hand level beverage dispenser container robot tile colour - object ingredient cocktail - beverage shot shaker - container)
  (:constants left right - hand)
  (:predicates (on-table ?c - container) (clean ?c - container) (empty ?c - container) (holding ?h - hand ?c - container)
    (hand-empty ?h - hand) (dispenses ?d - dispenser ?i - ingredient) (contains ?c - container ?b - beverage)
    (part1 ?c - cocktail ?i - ingredient) (next ?a ?b - level) (not-inflated ?c - container)
    (robot-at ?r - robot ?t - tile) (painted ?t - tile ?c - colour) (lights_out))
  (:functions (total-cost) - number (fuel ?r - robot) - number)
  (:action wait :parameters () :precondition (and) :effect (lights_out)))";

/// Its knowledge file.
const KNOWLEDGE: &str =
    "ir_type(row, \"a row\"). ir_type(column, \"a column\"). ir_type(left_hand, \"a left hand\").
  ir_predicate(floor_grid(row, column, tile), \"tile T is in row R and column C\").
  ir_predicate(max_height(number), \"nothing is higher\").
  ir_object(tray). ir_prefix(colour, c).";

fn signature() -> Signature {
    let domain = parse_domain(DOMAIN, SOURCE);
    assert_eq!(domain.diagnostics, []);
    let knowledge = crate::syntax::parse(KNOWLEDGE, SOURCE);
    assert_eq!(knowledge.diagnostics, []);
    let (declared, found) = crate::read_knowledge(&knowledge.program, &domain.value, SOURCE);
    assert_eq!(found, []);
    Signature::new(&domain.value, &declared)
}

fn reading(text: &str) -> Reading {
    read(text, SOURCE, &signature())
}

/// The text as it was understood, then each finding with its place, its code and the way out.
fn print_reading(text: &str) -> String {
    let reading = reading(text);
    let mut out = reading.text.clone();
    let sources = SourceMap::single("reply", text);
    for told in reading.diagnostics() {
        let label = told.primary().unwrap();
        let place = sources.get(SOURCE).unwrap().line_column(label.span.start);
        let severity = format!("{:?}", told.severity).to_lowercase();
        let _ = writeln!(out, "  {}:{} {severity} {}: {}", place.line, place.column, told.code, told.message);
        for help in told.help.iter().chain(told.fix.iter().map(|fix| &fix.title)) {
            let _ = writeln!(out, "      {help}");
        }
    }
    out
}

#[test]
fn a_reply_in_all_its_disorder_is_understood() {
    let text = "Sure! Here it is:\n```prolog\ncardinality(shot, 5)\n- init(Clean(X) :- object(X, shot).\n\
        init(hand-empty(Right)), init(handempty(left))\ngoal(not clean(shot1))).\n```\nDone.";
    let expected = "cardinality(shot, 5).\ninit(clean(X)) :- object(X, shot).\ninit(hand_empty(right)).\n\
        init(hand_empty(left)).\ngoal(neg(clean(shot1))).\n";
    let reading = reading(text);
    assert_eq!(reading.text, expected, "{}", print_reading(text));
    assert!(reading.is_complete());
    assert_eq!(reading.lines, [3, 4, 5, 5, 6]);
    let slices: Vec<&str> = reading.program.statements.iter().map(|s| &text[s.span.range()]).collect();
    assert_eq!(slices[0], "cardinality(shot, 5)");
    assert_eq!(slices[1], "init(Clean(X) :- object(X, shot).");
}

#[test]
fn a_number_is_read_as_the_object_that_it_numbers() {
    let text = "object(1, colour). init(painted(tile1, 2)). goal(not painted(tile2, 3)).
        goal(painted(T, 1)) :- init(painted(T, 2)).";
    let expected = "object(c1, colour).\ninit(painted(tile1,c2)).\ngoal(neg(painted(tile2,c3))).\n\
        goal(painted(T,c1)) :- init(painted(T,c2)).\n";
    let found = reading(text);
    let spaceless = |text: &str| text.replace(", ", ",");
    assert_eq!(spaceless(&found.text), spaceless(expected), "{}", print_reading(text));
    assert!(found.is_complete());
    let named =
        found.repairs.iter().filter(|repair| repair.code == crate::codes::reader::NUMBER_NAME).count();
    assert_eq!(named, 5, "{}", print_reading(text));
    // Objects are counted from 1 unless the knowledge file says otherwise, and other types have no numbers.
    for refused in ["init(painted(tile1, 0)).", "init(painted(1, c1)).", "init(next(1, 2))."] {
        assert!(!reading(refused).is_complete(), "{refused}");
    }
}

/// A description as a model would write it well: nothing is repaired and nothing refused.
#[test]
fn a_good_text_is_read_without_a_word() {
    let texts = [
        // A bar.
        "% One shaker, four glasses.
         cardinality(shaker, 1). cardinality(level, 3). cardinality(shot, 4).
         cardinality(dispenser, 3).\n cardinality(ingredient, 3).
         init(clean(X)) :- object(X, shaker).\n init(clean(X)) :- object(X, shot).
         init(on_table(X)) :- object(X, container), not init(holding(_, X)).
         init(hand_empty(left)). init(hand_empty(right)).
         init(map(dispenser, dispenses, ingredient)).
         init(part1(cocktail1, ingredient2)).
         goal(contains(shot1, cocktail1)).",
        // A floor.
        "cardinality(row, 2). cardinality(column, 2).
         init(floor_grid(0, 1, tile_0_1)). init(floor_grid(1, 1, tile_1_1)).
         init(robot_at(robot1, tile_0_1)).
         goal(painted(X, white)) :- init(floor_grid(R, C, X)), (R + C) \\ 2 = 0.
         goal(painted(X, black)) :- init(floor_grid(R, C, X)), (R + C) \\ 2 != 0.
         metric(minimize, total_cost).",
        // Counting and numbers.
        "object(robot1, robot). object(robot2, robot).
         init(max_height(N)) :- N = #count { X : object(X, robot) }.
         init(value(fuel(X), 5)) :- object(X, robot), 1 <= #count { Y : object(Y, robot), Y != X }.
         init(next(X, Y)) :- init(floor_grid(R, _, X)), init(floor_grid(R + 1, _, Y)).
         init(floor_grid(N, 1, tile1)) :- N = 1..3.
         goal(neg(clean(tray))).",
    ];
    for text in texts {
        let reading = reading(text);
        assert_eq!(reading.diagnostics(), [], "{}", print_reading(text));
        let spoken: usize = text
            .lines()
            .filter(|line| !line.trim_start().starts_with('%'))
            .map(|l| l.matches(". ").count() + 1)
            .sum();
        assert_eq!(reading.program.statements.len(), spoken, "{}", reading.text);
        let again = super::tests::reading(&reading.text);
        assert_eq!((&again.text, again.diagnostics()), (&reading.text, Vec::new()));
    }
}

// Many small texts: what is understood, and every finding with its way out, as snapshots.

/// Each text with its reading.
fn table(texts: &[&str]) -> String {
    texts.iter().map(|text| format!("> {}\n{}\n", text.replace('\n', "\n> "), print_reading(text))).collect()
}

macro_rules! table {
    ($name:ident: $($text:literal),* $(,)?) => {
        #[test]
        fn $name() {
            insta::with_settings!({ omit_expression => true }, {
                insta::assert_snapshot!(table(&[$($text),*]));
            });
        }
    };
}

table! { lost_dots_and_parentheses:
    "init(clean(shot1))\ninit(clean(shot2))",
    "init(clean(shot1)) init(clean(shot2)).",
    "init(clean(shot1)), init(clean(shot2)).",
    "init(clean(shot1)),\ninit(clean(shot2)),\ngoal(clean(shot1)).",
    "init(clean(shot1); init(clean(shot2)).",
    "init(clean(shot1), init(clean(shot2).",
    "init(init(clean(shot1))).",
    "init(map(dispenser, dispenses, ingredient).",
    "init(clean(X) :- object(X, shot).",
    "init(clean(X)) :- object(X, shot, not init(empty(X).",
    "init(clean(X)) :-\n    object(X, shot),\n    not init(empty(X)).",
    "init(holding(left,\n    shot1)).",
    "init(clean(X)) :- object(X, shot)\ninit(empty(X)) :- object(X, shot)",
    "init(clean(X)) :- object(X, shot),\ninit(empty(X)) :- object(X, shot).",
    "init(holding(left,\ninit(clean(shot1)).",
    "init(clean(shot1)) :-\ninit(clean(X)) :- object(X, shot).",
    "init(clean(X)) :- object(X, shot),\n  init(empty(X)). init(empty(X)) :- object(X, shot).",
    "goal(clean(shot1))).",
    "goal(not lights_out)).",
    "init(clean(shot1))..\ninit(clean(shot2)).",
    "init(max_height(N)) :- N = #count { X : object(X, shot }.",
}

table! { prose_and_marks:
    "Here is the program:\n\ninit(clean(shot1)).\n\nI hope this helps!",
    "```\ninit(clean(shot1)).\nThat was the initial state.\ngoal(clean(shot1)).\n```",
    "```\ninit(clean(shot1)).\n```\nand the goal\n```prolog\ngoal(clean(shot1)).\n```",
    "init(clean(shot1)).\n```\ngoal(clean(shot1)).\n```",
    "- init(clean(shot1)).\n* init(clean(shot2)).\n1. goal(clean(shot1)).\n2) `goal(clean(shot2)).`",
    "# Initial state\ninit(clean(shot1)). # a clean glass\n// Goal\ngoal(clean(shot1)). // still clean",
    "**Goal**\n### State\n---\ninit(clean(shot1)).",
    "<think>\nMaybe init(clean(shot9)). No.\n</think>\ninit(clean(shot1)).",
    "The shots (all of them) are clean.\ninit(clean(shot1)).",
    "init on(a, b)).\ninit(clean(shot1)).",
    "Note: init(clean(shot2)).",
    "Goal: `goal(clean(shot2)).`",
    "I cannot do that.",
    "",
    "```\n```",
}

table! { goals_and_numbers:
    "goal(not clean(shot1)). goal(not(clean(shot2))). goal(not lights_out). goal(-clean(shot3)). goal(~clean(shot4)).",
    "goal(not clean(X)) :- object(X, shot).",
    "init(not clean(shot1)).",
    "goal(not clean(shot1), clean(shot2)).",
    "goal(clean(shot1), clean(shot2)) :- object(shot1, shot).",
    "goal(and(clean(shot1), not_inflated(shot2))).",
    "init(total_cost = 0). init(fuel(robot1) = 2.50). init(fuel(robot2) = -1.5). goal(fuel(robot1) >= 3).",
    "init(total_cost > 0). goal(total_cost != 0).",
    "init(value(total_cost, 0)). init(value(total-cost, \"many\")). goal(compare(\"~\", total_cost, 0)).",
    "metric(minimize, total_cost). metric(minimize, total-time). metric(smallest, total_cost). metric(minimize, cost).",
    "clean(shot1). lights_out. map(dispenser, dispenses, ingredient).",
    "goal(clean(X)) :- on_table(X), not empty(X).",
    "shot(shot1). init(shaker(shaker1)). init(clean(X)) :- shot(X), not init(shaker(X)). goal(shot(shot2)).",
    "Object(shot1, Shot). init(clean(X)) :- object(X, Shot). init(empty(X)) :- object(X, T), not object(T, shot).",
}

table! { names:
    "init(on-table(tile-0-1)). init(ON_TABLE(shot1)). init(onTable(shot2)). Init(Clean(shot3)).",
    "init(robot_at(robot1, tile_0-1)). init(robot_at(robot2, tile_0_1)).",
    "init(robot_at(Robot1, Tile-0-1)).",
    "init(clean(A)). init(clean(B)). goal(clean(A)).",
    "init(clean(X)).",
    "init(clean(Tray)) :- object(X, shot), init(on_table(X)).",
    "init(clean(Jar)) :- object(X, shot), init(on_table(X)).",
    "init(not-inflated(shot1)). goal(not not-inflated(shot1)).",
    "init(holding(\"left\", \"Shot-1\")).",
    "init(floor_grid(N-1, M - 1, tile1)) :- N = 1..2, M = N+1.",
    "init(clean(shotA)). init(clean(SHOTB)).",
    "init(robot-at(\u{201c}robot1\u{201d}, tile\u{2013}0\u{2013}1)).",
    "init(clean(caf\u{e9})). init(\u{441}lean(shot1)).",
    "init(clean(1st_shot)). init(clean(shot 1)).",
    "goal(painted(X, white)) :- floor_grid(_, N, X), N \u{2264} 3 and not clean(X) & N =< 2.",
    "init(clean(X)) <- object(X, shot). init(empty(X)) : object(X, shot).",
}

table! { refusals:
    "#script (lua) function f() end #end.\ninit(clean(shot1)).",
    "#include \"/etc/passwd\". #show clean/1. #external init(clean(shot1)). #const n = 3.",
    "init(clean(@system(1))). init(clean(X)) :- X = @os(2).",
    "init(cleen(shot1)). hold(left, shot1). init(p(X)) :- q(X).",
    "init(clean(shot1, shot2)). object(shot1). cardinality(shot). init. goal().",
    "cardinality(shots, 3). object(a, glass). init(map(dispensers, dispenses, ingredient)).",
    "init(map(dispenser, clean, ingredient)). init(map(dispenser, gives, ingredient)). init(map(shot, shot)).",
    "init(clean(_)). init(clean(Y)) :- object(X, shot). init(clean(X)) :- not object(X, shot).",
    "init(clean(X)) :- object(X, shot), Y < 3. init(clean(X)) :- object(X, shot), #count { Y : init(clean(Z)) } > 0.",
    "{ init(clean(shot1)) }. 1 { init(clean(X)) : object(X, shot) } 1.",
    ":- init(clean(shot1)). init(clean(shot1)) ; init(clean(shot2)).",
    "init(clean(f(shot1))). init(clean((a, b))). init(clean(3)). init(next(0, 1)). init(clean(\"a b\")).",
    "object(shot1..shot4, shot). init(clean(shot1;shot2)). cardinality(shot, 1..3).",
    "init(clean(X)) :- object(X, shot), #sum { 1 : object(X, shot) } > 0.",
    "init(clean(X)) :- object(X, shot) : init(empty(X)).",
    "init(clean(X)) :- object(X, shot); object(X, shaker).",
    "-clean(shot1). not init(clean(shot1)). init(X) :- goal(X).",
    "init(clean(shot1)) :- total_cost > 3.",
    "init(max_height(X + 1)) :- init(max_height(X)).",
    "init(max_height(Y)) :- init(max_height(X)), Y = X + 1.",
    "init(max_height(X)) :- init(max_height(X + 1)).",
    "init(max_height(X)) :- cardinality(row, X). cardinality(row, X * 2) :- init(max_height(X)).",
    "init(max_height(X..9)) :- init(max_height(X)).",
    "init(clean(X)) :- object(X, shot), not init(clean(X)).",
    "init(clean(X)) :- object(X, shot), not init(empty(X)). init(empty(X)) :- object(X, shot), not init(clean(X)).",
    "init(max_height(N)) :- N = #count { X : init(max_height(X)) }.",
    "init(max_height(9999999999)).",
    "init(clean(shot1)) :- init(clean(shot1)), goal(neg(neg(clean(shot1)))).",
    "init(clean(shot1)).\ngoal(contains(shot1, cock",
    "init(clean(shot1)).\ngoal(contains(shot1,",
    "init(clean(\"shot1)).",
    "init(clean(shot1)) | init(clean(shot2)). init(clean(?x)).",
}

table! { sizes:
    "init(floor_grid(1..10000, 1, t1)).",
    "init(floor_grid(0..10000, 1, t1)).",
    "init(floor_grid(X, Y, t1)) :- X = 1..1000, Y = 1..1000.",
    "init(floor_grid(1..100, 1..100, t1)). init(max_height(X * Y * Z)) :- floor_grid(X, _, _), floor_grid(Y, _, _), floor_grid(Z, _, _).",
    "cardinality(shot, 10001). cardinality(shot, 100 * 1000). cardinality(shaker, 10000).",
    "cardinality(shot, 700). init(holding(X, Y)) :- object(X, shot), object(Y, shot).",
    "cardinality(shot, 400). init(holding(X, Y)) :- object(X, shot), object(Y, shot).",
    "cardinality(shot, 100). init(clean(X)) :- object(X, shot), 3 < #count { Y, Z, W : object(Y, shot), object(Z, shot), object(W, shot) }.",
    "init(max_height(N)) :- N = 1..9000 * 9000.",
    "cardinality(row, 200). init(floor_grid(X, Y, t1)) :- cardinality(row, N), X = 1..N, Y = 1..N, Z = 1..N.",
}

// Hostile texts: each ends in a diagnostic after work that grows linearly with the length.

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

// Properties of the reader for random texts.

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
        let read = reading(&text);
        let fixes: Vec<_> = read.repairs.iter().filter_map(|told| told.fix.clone()).collect();
        let fixed = apply_fixes(&text, SOURCE, &fixes);
        prop_assert_eq!(&fixed.skipped, &[], "{}", text);
        prop_assert_eq!(reading(&fixed.text).text, read.text, "{} -> {}", text, fixed.text);
    }
}
