//! Every rule of the compiler, on answers written by hand.

use super::{Compiled, Input, IrOnly, Place, Section, compile};
use crate::CODES;
use crate::Materialized;
use crate::names::spellings;
use crate::syntax::parse_ground_term;
use planforge_diagnostics::{SourceId, Span};
use planforge_pddl::parse_domain;
use proptest::prelude::*;

const BAR: &str = "(define (domain bar)
  (:requirements :strips :typing :action-costs)
  (:types hand container beverage - object shot shaker - container)
  (:constants Left-Hand - hand)
  (:predicates (next-to ?a ?b - container) (clean ?c - container) (contains ?c - container ?b - beverage)
    (hand-empty ?h - hand))
  (:functions (total-cost) (content ?c - container))
  (:action rinse :parameters (?c - container) :precondition (and (hand-empty left-hand))
    :effect (and (clean ?c) (increase (total-cost) 1)))
  (:action pour :parameters (?c - container ?b - beverage) :precondition (clean ?c)
    :effect (and (contains ?c ?b) (not (clean ?c)) (increase (total-cost) 1))))";

/// The answer whose atoms are given as facts of a program.
fn answer(text: &str) -> Materialized {
    let parsed = crate::syntax::parse(text, SourceId(2));
    assert_eq!(parsed.diagnostics, [], "{text}");
    let atom = |statement: &crate::syntax::ast::Statement| {
        parse_ground_term(statement.to_string().trim_end_matches('.')).expect("a ground atom")
    };
    Materialized::of(parsed.program.statements.iter().map(atom))
}

/// Compiles an answer. Each atom's place is its index, as a span.
fn compiled_with(domain: &str, atoms: &str, ir_only: &IrOnly) -> Compiled {
    let domain = parse_domain(domain, SourceId(0)).value;
    let places = |atom: u32| vec![Place { source: SourceId(2), span: Span::new(atom, atom + 1) }];
    let sources = planforge_pddl::TaskSources::default();
    let materialized = answer(atoms);
    compile(&Input {
        domain: &domain,
        materialized: &materialized,
        ir_only,
        name: "p01",
        spellings: &spellings("Shot-7 stands by shot-8 or shot_8."),
        places: &places,
        sources,
    })
}

fn compiled(atoms: &str) -> Compiled {
    let ir_only = IrOnly {
        types: ["glass", "row"].map(str::to_owned).into(),
        predicates: ["shelf_grid".to_owned()].into(),
    };
    compiled_with(BAR, atoms, &ir_only)
}

/// The codes with the first place of each.
fn codes(compiled: &Compiled) -> Vec<(String, Option<u32>)> {
    let place = |d: &planforge_diagnostics::Diagnostic| d.primary().map(|label| label.span.start);
    compiled.diagnostics.iter().map(|d| (d.code.to_string(), place(d))).collect()
}

fn code(compiled: &Compiled) -> (String, Option<u32>) {
    let all = codes(compiled);
    assert_eq!(all.len(), 1, "{:#?}", compiled.diagnostics);
    all.into_iter().next().unwrap_or_default()
}

#[test]
fn objects_are_spelled_as_in_the_text() {
    let compiled =
        compiled("object(shot_7, shot). object(shot_8, shot). init(clean(shot_7)). goal(clean(shot_8)).");
    assert!(compiled.text.contains("shot-7 shot_8 - shot"), "{}", compiled.text);
    assert!(compiled.entries.iter().any(|entry| entry.pddl == "(clean shot-7)"));
}

#[test]
fn a_whole_problem() {
    let compiled = compiled(
        "object(shot10, shot). object(shot10, container). object(shot2, container). object(shot2, shot).
         object(shaker1, shaker). object(gin, beverage). object(shot2, glass). object(3, row).
         init(clean(shot10)). init(clean(shot2)). init(hand_empty(left_hand)). init(next_to(shot2, shot10)).
         init(shelf_grid(1, 2, shot2)). init(map(shot, contains, beverage)).
         init(value(total_cost, 0)). init(value(content(shot10), \"2.5\")).
         goal(contains(shot10, gin)). goal(neg(clean(shot2))). goal(compare(\"<=\", content(shot2), 4)).
         metric(minimize, total_cost). first_level(l0).",
    );
    assert_eq!(
        compiled.text,
        "(define (problem p01)
  (:domain bar)
  (:requirements :negative-preconditions :numeric-fluents)
  (:objects
    gin - beverage
    shot2 shot10 - shot
    shaker1 - shaker)
  (:init
    (next-to shot2 shot10)
    (clean shot2)
    (clean shot10)
    (hand-empty Left-Hand)
    (= (total-cost) 0)
    (= (content shot10) 2.5))
  (:goal (and (not (clean shot2)) (contains shot10 gin) (<= (content shot2) 4)))
  (:metric minimize (total-cost)))
"
    );
    assert_eq!(code(&compiled).0, "pddl.unused-object", "nothing is said of the shaker");
    let told: Vec<(Section, &str, &[u32])> =
        compiled.entries.iter().map(|e| (e.section, e.pddl.as_str(), e.atoms.as_slice())).collect();
    assert_eq!(
        told,
        [
            (Section::Objects, "gin - beverage", [5].as_slice()),
            (Section::Objects, "shot2 - shot", &[3]),
            (Section::Objects, "shot10 - shot", &[0]),
            (Section::Objects, "shaker1 - shaker", &[4]),
            (Section::Init, "(next-to shot2 shot10)", &[11]),
            (Section::Init, "(clean shot2)", &[9]),
            (Section::Init, "(clean shot10)", &[8]),
            (Section::Init, "(hand-empty Left-Hand)", &[10]),
            (Section::Init, "(= (total-cost) 0)", &[14]),
            (Section::Init, "(= (content shot10) 2.5)", &[15]),
            (Section::Goal, "(not (clean shot2))", &[17]),
            (Section::Goal, "(contains shot10 gin)", &[16]),
            (Section::Goal, "(<= (content shot2) 4)", &[18]),
            (Section::Metric, "minimize (total-cost)", &[19]),
        ]
    );
}

/// Enough for a good problem; faults are added to it.
const BASE: &str =
    "object(s1, shot). object(s2, shot). object(gin, beverage). init(clean(s1)). init(clean(s2)).
    init(hand_empty(left_hand)). goal(contains(s1, gin)).";

fn with(more: &str) -> Compiled {
    compiled(&format!("{BASE} {more}"))
}

#[test]
fn the_order_of_the_answer_changes_nothing() {
    let forwards = with("");
    let mut atoms: Vec<&str> = BASE.split_inclusive('.').collect();
    atoms.reverse();
    assert_eq!(forwards.text, compiled(&atoms.join(" ")).text);
    assert!(forwards.problem().is_some());
}

#[test]
fn each_mistake_is_told_with_its_place() {
    let cases: &[(&str, &str)] = &[
        ("object(s3, shots).", "asp.unknown-type"),
        ("init(claen(s1)).", "asp.unknown-predicate"),
        ("goal(claen(s1)).", "asp.unknown-predicate"),
        ("init(contains(s1)).", "asp.arity"),
        ("init(clean(gin)).", "asp.wrong-type"),
        ("init(clean(s3)).", "asp.not-an-object"),
        ("init(clean(3)).", "asp.not-an-object"),
        ("init(clean(f(s1))).", "asp.not-an-object"),
        ("init(5).", "asp.not-a-fact"),
        ("init(\"clean\").", "asp.not-a-fact"),
        ("object(7, shot).", "asp.object-name"),
        ("object(pos(1, 2), shot).", "asp.object-name"),
        ("object(\"the shot\", shot).", "asp.object-name"),
        ("object(gIN, shot).", "asp.name-collision"),
        ("object(s1, beverage).", "asp.several-types"),
        ("object(left_hand, shot).", "asp.constant-type"),
        ("goal(neg(contains(s1, gin))).", "asp.contradictory-goal"),
        ("init(neg(clean(s1))).", "asp.contradictory-init"),
        ("init(value(total_cost, 1)). init(value(total_cost, 2)).", "asp.contradictory-init"),
        ("init(value(total_costs, 1)).", "asp.unknown-function"),
        ("init(value(content(gin), 1)).", "asp.wrong-type"),
        ("init(value(total_cost, \"much\")).", "asp.not-a-number"),
        ("goal(compare(\"!=\", total_cost, 2)).", "asp.not-a-number"),
        ("metric(reduce, total_cost).", "asp.metric"),
        (
            "init(value(total_cost, 0)). metric(minimize, total_cost). metric(maximize, total_cost).",
            "asp.metric",
        ),
        ("metric(minimize, total_cost).", "asp.no-initial-value"),
    ];
    for (atoms, expected) in cases {
        let compiled = with(atoms);
        let (found, place) = code(&compiled);
        assert_eq!(found, *expected, "{atoms}");
        let faulty = *expected != "asp.no-initial-value";
        assert_eq!(compiled.problem().is_none(), faulty, "{atoms}");
        let label = place.expect("a place");
        let first_added = 7;
        let where_both_are = ["asp.contradictory-goal", "asp.contradictory-init", "asp.several-types"];
        assert!(label >= first_added || where_both_are.contains(expected), "{atoms} {label}");
    }
}

#[test]
fn a_mistake_that_a_rule_repeats_is_told_once() {
    let compiled = with("init(claen(s1)). init(claen(s2)). goal(claen(s2)).");
    assert_eq!(code(&compiled).0, "asp.unknown-predicate");
    let diagnostic = &compiled.diagnostics[0];
    assert!(diagnostic.message.contains("and 2 further atoms like it"), "{}", diagnostic.message);
    assert_eq!(diagnostic.help, ["did you mean `clean`?"]);
}

#[test]
fn all_mistakes_at_once_and_nothing_that_only_follows() {
    let compiled = compiled("object(s1, shots). init(clean(s1)). goal(clean(s1)). goal(contain(s1, gin)).");
    let all: Vec<String> = codes(&compiled).into_iter().map(|(code, _)| code).collect();
    assert_eq!(all, ["asp.unknown-type", "asp.unknown-predicate"]);
}

#[test]
fn what_the_representation_alone_has_is_left_out() {
    let compiled =
        with("object(b1, glass). init(shelf_grid(1, 1, s1)). goal(map(shot, contains, beverage)).");
    assert_eq!(codes(&compiled), []);
    assert_eq!(compiled.text, with("").text);
    let named = with("object(b1, glass). init(clean(b1)).");
    assert_eq!(code(&named), ("asp.ir-only-object".to_owned(), Some(8)));
}

#[test]
fn a_problem_without_a_goal_is_not_compiled() {
    let base = BASE.replace("goal(contains(s1, gin)).", "");
    assert_eq!(code(&compiled(&base)), ("asp.empty-goal".to_owned(), None));
    let dropped = format!("{base} goal(map(shot, contains, beverage)).");
    assert_eq!(code(&compiled(&dropped)), ("asp.empty-goal".to_owned(), Some(6)));
    let refused = format!("{base} goal(contains(s1, rum)).");
    assert_eq!(code(&compiled(&refused)).0, "asp.not-an-object");
}

/// `area` has two parents; `both` is the only type below `tool` and `vehicle`; `a` and `b` share two.
const TYPES: &str = "(define (domain types) (:requirements :strips :typing)
  (:types surface place area - object area crate - surface store - area tool vehicle - object both - tool both - vehicle
    a b - object c - a c - b d - a d - b)
  (:predicates (at ?x) (holds ?x - (either crate store)))
  (:action lift :parameters (?x) :precondition (at ?x) :effect (not (at ?x))))";

fn declared(types: &[&str]) -> (Option<String>, Vec<String>) {
    let atoms: String = types.iter().map(|ty| format!("object(x, {ty}). ")).collect();
    let compiled = compiled_with(TYPES, &format!("{atoms} init(at(x)). goal(at(x))."), &IrOnly::default());
    let object = compiled.entries.iter().find(|entry| entry.section == Section::Objects);
    (object.map(|entry| entry.pddl.clone()), codes(&compiled).into_iter().map(|(code, _)| code).collect())
}

#[test]
fn an_object_has_the_most_specific_of_its_types() {
    let cases: &[(&[&str], Option<&str>, &[&str])] = &[
        (&["area"], Some("x - area"), &[]),
        (&["object", "area", "surface"], Some("x - area"), &[]),
        (&["surface", "store", "area", "object"], Some("x - store"), &[]),
        (&["object"], Some("x - object"), &[]),
        (&["tool", "vehicle"], Some("x - both"), &["asp.common-subtype"]),
        (&["tool", "vehicle", "both"], Some("x - both"), &[]),
        (&["a", "b"], None, &["asp.several-types"]),
        (&["crate", "store"], None, &["asp.several-types"]),
        (&["crate", "surface", "tool"], None, &["asp.several-types"]),
    ];
    for (types, object, diagnostics) in cases {
        assert_eq!(
            declared(types),
            (object.map(str::to_owned), diagnostics.iter().map(|d| d.to_string()).collect())
        );
    }
}

#[test]
fn either_takes_each_of_its_types() {
    let atoms = |ty: &str| format!("object(x, {ty}). init(holds(x)). init(at(x)). goal(at(x)).");
    let none = IrOnly::default();
    for good in ["crate", "store"] {
        assert_eq!(codes(&compiled_with(TYPES, &atoms(good), &none)), []);
    }
    assert_eq!(code(&compiled_with(TYPES, &atoms("tool"), &none)).0, "asp.wrong-type");
    // A wider type may be meant; the checks that every problem goes through say so.
    assert_eq!(code(&compiled_with(TYPES, &atoms("surface"), &none)).0, "pddl.wide-type");
}

const UNDECLARED: &str = "(define (domain wheels) (:types tool nut - object)
  (:predicates (have ?x) (tight ?x))
  (:action loosen :parameters (?x - nut) :precondition (and (tight ?x) (have Big-Wrench)) :effect (not (tight ?x))))";

#[test]
fn a_name_that_the_domain_forgot_to_declare_is_an_object_of_the_problem() {
    let atoms = "object(n1, nut). init(tight(n1)). init(have(big_wrench)). goal(neg(tight(n1))).";
    let none = IrOnly::default();
    let told = compiled_with(UNDECLARED, &format!("{atoms} object(big_wrench, tool)."), &none);
    assert!(told.text.contains("\n    Big-Wrench - tool\n    n1 - nut)"), "{}", told.text);
    assert!(told.text.contains("(have Big-Wrench)"), "{}", told.text);
    assert_eq!(codes(&told), []);
    let silent = compiled_with(UNDECLARED, atoms, &none);
    assert!(silent.text.contains("Big-Wrench - object"), "{}", silent.text);
    assert_eq!(code(&silent).0, "asp.undeclared-constant");
    assert!(silent.problem().is_some());
}

#[test]
fn a_domain_without_types_declares_none() {
    let domain = "(define (domain blocks) (:predicates (on ?x ?y) (clear ?x))
      (:action grow :parameters (?x ?y) :precondition (clear ?x) :effect (on ?x ?y)))";
    let ir_only = IrOnly { types: ["block".to_owned()].into(), ..IrOnly::default() };
    let atoms =
        "object(b2, block). object(b2, object). object(b1, object). init(clear(b1)). init(on(b1, b2)).
        goal(on(b2, b1)).";
    let compiled = compiled_with(domain, atoms, &ir_only);
    assert!(compiled.text.contains("(:objects\n    b1 b2)"), "{}", compiled.text);
    assert_eq!(compiled.entries[1].pddl, "b2");
    assert_eq!(compiled.entries[1].atoms, [1]);
    assert_eq!(codes(&compiled), []);
}

#[test]
fn every_code_is_explained() {
    for source in [include_str!("../compile.rs"), include_str!("objects.rs"), include_str!("facts.rs")] {
        for found in source.split("\"asp.").skip(1) {
            let code = format!("asp.{}", found.split('"').next().unwrap_or_default());
            assert!(CODES.iter().any(|info| info.code == code), "{code}");
        }
    }
}

// Random answers: nothing panics, the printed problem has no syntax errors, and the order of atoms does not
// matter.

fn name() -> impl Strategy<Value = String> {
    let names = [
        "s1",
        "s2",
        "s10",
        "gin",
        "hand1",
        "left_hand",
        "sHAKER",
        "shaker",
        "row1",
        "x",
        "3",
        "-1",
        "\"s1\"",
        "\"the shot\"",
        "f(s1)",
        "(s1,s2)",
        "object",
        "n_1",
    ];
    prop::sample::select(names.to_vec()).prop_map(str::to_owned)
}

fn object() -> impl Strategy<Value = String> {
    let types = ["shot", "shaker", "beverage", "hand", "container", "object", "glass", "shots", "4"];
    (name(), prop::sample::select(types.to_vec())).prop_map(|(name, ty)| format!("object({name},{ty})"))
}

fn fact() -> impl Strategy<Value = String> {
    let predicates =
        ["clean", "contains", "next_to", "hand_empty", "claen", "shelf_grid", "map", "value", "content"];
    (prop::sample::select(predicates.to_vec()), prop::collection::vec(name(), 0..3)).prop_map(
        |(predicate, arguments)| match arguments.is_empty() {
            true => predicate.to_owned(),
            false => format!("{predicate}({})", arguments.join(",")),
        },
    )
}

fn atom() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => object(),
        3 => fact().prop_map(|fact| format!("init({fact})")),
        3 => fact().prop_map(|fact| format!("goal({fact})")),
        1 => fact().prop_map(|fact| format!("goal(neg({fact}))")),
        1 => name().prop_map(|name| format!("init({name})")),
        1 => (fact(), name()).prop_map(|(f, n)| format!("init(value({f},{n}))")),
        1 => (fact(), name()).prop_map(|(f, n)| format!("goal(compare(\"<\",{f},{n}))")),
        1 => fact().prop_map(|fact| format!("metric(minimize,{fact})")),
    ]
}

fn compiled_atoms(atoms: &[String]) -> Compiled {
    let ir_only = IrOnly { types: ["glass".to_owned()].into(), predicates: ["shelf_grid".to_owned()].into() };
    compiled_with(BAR, &atoms.iter().map(|atom| format!("{atom}. ")).collect::<String>(), &ir_only)
}

/// Codes of the diagnostics, without counts and places.
fn code_set(compiled: &Compiled) -> Vec<String> {
    let mut codes: Vec<String> = compiled.diagnostics.iter().map(|d| d.code.to_string()).collect();
    codes.sort();
    codes.dedup();
    codes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_answer_is_compiled_or_refused(atoms in prop::collection::vec(atom(), 0..12), turn in 0usize..12) {
        let first = compiled_atoms(&atoms);
        for diagnostic in first.diagnostics.iter().filter(|d| d.code.starts_with("asp.")) {
            prop_assert!(!diagnostic.help.is_empty(), "no way out: {}", diagnostic.message);
        }
        match first.problem() {
            Some(text) => {
                let found = planforge_pddl::read_task(BAR, text);
                prop_assert!(found.is_ok(), "{text}\n{found:#?}");
            }
            None => prop_assert!(first.diagnostics.iter().any(|d| d.is_error() && !d.message.is_empty())),
        }
        let mut turned = atoms.clone();
        turned.rotate_left(turn % atoms.len().max(1));
        let second = compiled_atoms(&turned);
        prop_assert_eq!(first.problem(), second.problem());
        prop_assert_eq!(code_set(&first), code_set(&second));
    }

    #[test]
    fn good_answers_compile(
        shots in prop::collection::btree_set(1u32..30, 1..6),
        clean in prop::collection::btree_set(1u32..30, 0..6),
    ) {
        let mut atoms: Vec<String> = shots.iter().map(|n| format!("object(shot{n},shot)")).collect();
        atoms.push("object(gin,beverage)".to_owned());
        let dirty: Vec<&u32> = shots.intersection(&clean).collect();
        atoms.extend(dirty.iter().map(|n| format!("init(clean(shot{n}))")));
        atoms.extend(shots.iter().map(|n| format!("goal(contains(shot{n},gin))")));
        let compiled = compiled_atoms(&atoms);
        let text = compiled.problem();
        prop_assert!(text.is_some(), "{:#?}", compiled.diagnostics);
        let text = text.unwrap_or_default();
        prop_assert_eq!(text.matches("(clean ").count(), dirty.len());
        prop_assert_eq!(text.matches("(contains ").count(), shots.len());
    }
}
