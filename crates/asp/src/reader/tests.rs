//! Broken texts and what becomes of them.

use super::*;
use planforge_diagnostics::{SourceMap, render};
use planforge_pddl::parse_domain;

const SOURCE: SourceId = SourceId(0);

/// A domain of bars and floors, written for these tests.
const DOMAIN: &str = "(define (domain bar)
  (:requirements :typing :action-costs)
  (:types hand level beverage dispenser container - object ingredient cocktail - beverage shot shaker - container robot tile colour)
  (:constants left right - hand)
  (:predicates (on-table ?c - container) (clean ?c - container) (empty ?c - container) (holding ?h - hand ?c - container)
    (hand-empty ?h - hand) (dispenses ?d - dispenser ?i - ingredient) (contains ?c - container ?b - beverage)
    (part1 ?c - cocktail ?i - ingredient) (robot-at ?r - robot ?t - tile) (painted ?t - tile ?c - colour) (lights_out))
  (:functions (total-cost) - number (fuel ?r - robot) - number))";

fn signature() -> Signature {
    let domain = parse_domain(DOMAIN, SOURCE);
    assert!(!domain.diagnostics.iter().any(Diagnostic::is_error));
    let mut signature = Signature::new(&domain.value, &Default::default());
    signature.ir_types.extend(["row", "column", "left_hand"].map(str::to_owned));
    let grid = ["row", "column", "tile"].map(str::to_owned).to_vec();
    signature.ir_predicates.insert("floor_grid".to_owned(), grid);
    signature.ir_predicates.insert("max_height".to_owned(), vec!["number".to_owned()]);
    signature
}

fn reading(text: &str) -> Reading {
    read(text, SOURCE, &signature())
}

/// The text as understood, then every diagnostic as people see it.
fn shown(text: &str) -> String {
    let reading = reading(text);
    let sources = SourceMap::single("reply", text);
    let told =
        reading.diagnostics().iter().map(|d| render::text(d, &sources, false)).collect::<Vec<_>>().join("\n");
    format!("{}\n{told}", reading.text)
}

#[test]
fn a_reply_in_all_its_disorder_is_understood() {
    let text = "Sure! Here it is:\n```prolog\ncardinality(shot, 5)\n- init(Clean(X) :- object(X, shot).\n\
        init(hand-empty(Right)), init(handempty(left))\ngoal(not clean(shot1))).\n```\nDone.";
    let expected = "cardinality(shot, 5).\ninit(clean(X)) :- object(X, shot).\ninit(hand_empty(right)).\n\
        init(hand_empty(left)).\ngoal(neg(clean(shot1))).\n";
    let reading = reading(text);
    assert_eq!(reading.text, expected, "{}", shown(text));
    assert!(reading.is_complete());
    assert_eq!(reading.lines, [3, 4, 5, 5, 6]);
}
