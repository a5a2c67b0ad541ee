//! The library under random counts and names.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

mod common;

use common::{World, atoms, run};
use planforge_asp::answer::read_answers;
use planforge_asp::stages::{Outcome, SolveJob};
use proptest::prelude::*;
use std::collections::BTreeSet;

const BAR: &str = "(define (domain bar) (:requirements :strips :typing)
  (:types glass jug - vessel drink tap)
  (:predicates (clean ?v - vessel) (serves ?t - tap ?d - drink) (holds ?v - vessel ?d - drink))
  (:action rinse :parameters (?v - vessel) :precondition (clean ?v) :effect (clean ?v)))";

fn members(answer: &[String], ty: &str) -> BTreeSet<String> {
    let end = format!(",{ty})");
    let objects = atoms(answer, &["object"]);
    objects.iter().filter_map(|a| a.strip_prefix("object(")?.strip_suffix(&end)).map(str::to_owned).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Named objects are kept, the missing ones get the lowest free names, and there is one answer set. More named ones than
    /// counted are a conflict.
    #[test]
    fn random_counts_and_names_have_one_answer_set(
        glasses in prop::collection::btree_set(1u32..9, 0..5),
        other in prop::collection::btree_set("[a-f]{1,3}", 0..3),
        glass_count in 0u32..9,
        drinks in prop::collection::btree_set(1u32..12, 0..4),
        pairs in 4u32..12,
    ) {
        let named: BTreeSet<String> =
            glasses.iter().map(|i| format!("glass{i}")).chain(other.iter().map(|name| format!("x{name}"))).collect();
        let mut ir = format!("cardinality(glass, {glass_count}). cardinality(drink, {pairs}). cardinality(tap, {pairs}).\n");
        ir += "init(map(tap, serves, drink)). goal(map(tap, serves, drink)). init(clean(X)) :- object(X, glass).\n";
        named.iter().for_each(|name| ir += &format!("object({name}, glass). "));
        drinks.iter().for_each(|i| ir += &format!("init(holds(jug{i}, drink{i})). "));
        let (assembled, reply) = World::new(BAR, "", &ir).solve();
        prop_assert_eq!(&reply.outcome, &Outcome::Solved);
        prop_assert_eq!((reply.answers.len(), reply.complete), (1, true));
        // What is guessed before the reasoner runs saves runs and changes nothing.
        let unguessed = run(&SolveJob { guess: None, ..assembled.job.clone() });
        prop_assert_eq!(&unguessed.answers, &reply.answers);
        prop_assert!(unguessed.runs >= reply.runs || named.len() > glass_count as usize);
        let answer = &reply.answers[0];
        let there = members(answer, "glass");
        if named.len() > glass_count as usize {
            prop_assert_eq!(&there, &named);
            let found = read_answers(&assembled, &reply).unwrap_err();
            prop_assert_eq!(found[0].code.as_ref(), "asp.more-than-counted");
            return Ok(());
        }
        let missing = glass_count as usize - named.len();
        let made = (1..).map(|i| format!("glass{i}")).filter(|name| !named.contains(name)).take(missing);
        prop_assert_eq!(there, named.iter().cloned().chain(made).collect::<BTreeSet<_>>());
        // The i-th tap serves the i-th drink, in numbers and not in letters, before and after.
        let free = (1..).filter(|i| !drinks.contains(i)).take(pairs as usize - drinks.len());
        let all: BTreeSet<u32> = drinks.iter().copied().chain(free).collect();
        for state in ["init", "goal"] {
            let said = atoms(answer, &[state]);
            prop_assert_eq!(said.iter().filter(|atom| atom.contains("(serves(")).count(), pairs as usize);
            for (tap, drink) in (1..).zip(&all) {
                prop_assert!(said.contains(&format!("{state}(serves(tap{tap},drink{drink}))")), "{:?}", said);
            }
        }
        let answers = read_answers(&assembled, &reply).unwrap();
        let derivations = &answers.answers[0].derivations;
        for atom in 0..derivations.len() as u32 {
            let derivation = derivations.derivation(atom);
            prop_assert!(derivation.is_some(), "{:?}", derivations.term(atom));
        }
    }

    /// Results of the reasoner are computed again when its answer is read, so that every atom is derived.
    #[test]
    fn computed_arguments_have_derivations(term in arithmetic(), numbers in prop::collection::btree_set(-9i32..9, 1..4)) {
        let mut knowledge = format!("ir_predicate(size(number), \"\"). init(size({term})) :- number(X), number(Y). ");
        numbers.iter().for_each(|n| knowledge += &format!("number({n}). "));
        let (assembled, reply) = World::new(BAR, &knowledge, "").solve();
        let answers = read_answers(&assembled, &reply).unwrap();
        let derivations = &answers.answers[0].derivations;
        for atom in 0..derivations.len() as u32 {
            prop_assert!(derivations.derivation(atom).is_some(), "{:?}", derivations.term(atom));
        }
    }
}

/// Terms over X and Y with every operation, at most one of them an interval: `((Y..X) + 1..(0..Y))` keeps clingo's solver of bounds
/// busy for hours before it grounds anything, and here is no child process with a time limit around it.
fn arithmetic() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![Just("X".to_owned()), Just("Y".to_owned()), (0i32..5).prop_map(|n| n.to_string())];
    leaf.prop_recursive(3, 12, 2, |inner| {
        let pair = (inner.clone(), inner.clone());
        prop_oneof![
            (pair.clone(), prop_oneof![Just("+"), Just("-"), Just("*"), Just("/"), Just("\\")])
                .prop_map(|((l, r), operator)| format!("({l} {operator} {r})")),
            inner.prop_map(|term| format!("-({term})")),
            pair.prop_map(|(l, r)| format!("({l}..{r})")),
        ]
    })
    .prop_filter("one interval", |term| term.matches("..").count() <= 1)
}
