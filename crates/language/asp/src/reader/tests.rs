//! Broken texts and their readings.

mod hostile;
mod properties;
mod table;

use super::*;
use planforge_diagnostics::SourceMap;
use planforge_pddl::parse_domain;
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
