//! Walking with and without grounding: the same ground actions in every state met.

use crate::support::{Features, random_task};
use planforge_planning::walk::{
    DeadEnds, GroundingMethod, Model, ModelError, ModelOptions, NamedStep, Refusal, SampleSpec, Semantics,
    exact_direction, execute_steps, sample_direction,
};
use planforge_planning::{GroundLimits, State, StopReason, Unlimited};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn model(texts: (&str, &str), semantics: Semantics, method: GroundingMethod) -> Result<Model, ModelError> {
    let options = ModelOptions { semantics, method, ..ModelOptions::default() };
    Model::from_texts(texts.0, texts.1, &options, &mut Unlimited)
}

fn atoms(model: &Model, state: &State, tracked: &BTreeSet<String>) -> BTreeSet<String> {
    let symbols = &model.lifted().symbols;
    let all = model.atoms(state).into_iter().map(|a| symbols.atom(&a));
    all.filter(|a| tracked.contains(a)).collect()
}

/// Walks both state spaces side by side; how many states were compared.
fn same_space(name: &str, texts: (&str, &str), semantics: Semantics, most: usize) -> usize {
    let ground = model(texts, semantics, GroundingMethod::Ground).unwrap_or_else(|e| panic!("{name}: {e}"));
    let lifted = model(texts, semantics, GroundingMethod::Lifted).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert!(ground.simulator().is_some() && lifted.simulator().is_none());
    let task = ground.simulator().unwrap().task();
    let tracked: BTreeSet<String> =
        task.facts[..task.basic_facts].iter().map(|a| task.symbols.atom(a)).collect();
    let named = |m: &Model, s: &State| -> BTreeMap<String, u32> {
        let all = m.applicable(s, &mut Unlimited).unwrap();
        let names: BTreeMap<String, u32> = all.iter().map(|&a| (m.step(a).to_string(), a)).collect();
        assert_eq!(all.len(), names.len(), "{name}: an action is listed twice");
        names
    };
    let mut open = std::collections::VecDeque::from([(ground.initial(), lifted.initial())]);
    let (mut seen, mut compared) = (BTreeSet::new(), 0);
    while let Some((one, two)) = open.pop_front() {
        let facts = atoms(&ground, &one, &tracked);
        assert_eq!(facts, atoms(&lifted, &two, &tracked), "{name}: states differ\n{}\n{}", texts.0, texts.1);
        let numbers: Vec<u64> = one.numbers().iter().flat_map(|n| n.to_words()).collect();
        if compared >= most || !seen.insert((facts, numbers)) {
            continue;
        }
        compared += 1;
        let (first, second) = (named(&ground, &one), named(&lifted, &two));
        let keys = |m: &BTreeMap<String, u32>| m.keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(&first), keys(&second), "{name}: applicable\n{}\n{}", texts.0, texts.1);
        for (step, action) in first {
            let mut next = (one.clone(), two.clone());
            assert!(
                ground.apply(&mut next.0, action, &mut Unlimited).unwrap()
                    && lifted.apply(&mut next.1, second[&step], &mut Unlimited).unwrap(),
                "{name}"
            );
            open.push_back(next);
        }
    }
    compared
}

#[test]
fn both_methods_agree_on_random_tasks() {
    let all = [
        Features { adl: false, derived: false, costs: true },
        Features { adl: true, derived: false, costs: true },
        Features { adl: true, derived: true, costs: false },
    ];
    let mut compared = 0;
    for seed in 0..150 {
        for features in all {
            let (domain, problem) = random_task(seed, features);
            compared += same_space(&format!("seed {seed}"), (&domain, &problem), Semantics::Strips, 40);
        }
    }
    assert!(compared > 3000, "{compared}");
}

const TANKS: (&str, &str) = (
    "(define (domain tanks) (:requirements :adl :numeric-fluents) (:types tank pump - thing valve - object)
 (:constants main - tank)
 (:predicates (open ?v - valve) (joined ?a ?b - (either tank pump)) (seen ?x - (either tank valve)))
 (:functions (level ?t - tank) (size ?t - tank) (used) (total-cost))
 (:action turn :parameters (?v - valve) :precondition () :effect (and (when (open ?v) (not (open ?v)))
   (when (not (open ?v)) (open ?v)) (increase (total-cost) 1)))
 (:action pour :parameters (?a ?b - tank)
  :precondition (and (not (= ?a ?b)) (joined ?a ?b) (> (level ?a) 0) (<= (+ (level ?b) 1) (size ?b))
   (or (forall (?v - valve) (open ?v)) (exists (?v - valve ?t - tank) (and (open ?v) (seen ?v) (= ?t main) (seen ?t)))))
  :effect (and (decrease (level ?a) 1) (increase (level ?b) 1) (increase (used) 2)))
 (:action look :parameters (?x - (either tank valve)) :precondition (or (= ?x main) (seen main) (>= (used) 2)) :effect (seen ?x)))",
    "(define (problem one) (:domain tanks) (:objects t1 t2 - tank p - pump v w - valve)
 (:init (open v) (joined main t1) (joined t1 t2) (joined t2 main) (= (level main) 2) (= (level t1) 0) (= (level t2) 0)
  (= (size main) 3) (= (size t1) 1) (= (size t2) 2) (= (used) 0) (= (total-cost) 0))
 (:goal (= (level t2) 2)) (:metric minimize (total-cost)))",
);

const GRID: (&str, &str) = (
    "(define (domain grid) (:requirements :typing :negative-preconditions) (:types cell)
 (:predicates (at ?c - cell) (next ?a ?b - cell) (wall ?c - cell) (marked ?c - cell) (bright))
 (:action go :parameters (?a ?b - cell) :precondition (and (next ?a ?b) (at ?a) (not (wall ?b)))
  :effect (and (at ?b) (not (at ?a))))
 (:action mark :parameters (?c - cell) :precondition (at ?c) :effect (and (marked ?c) (at ?c) (not (wall ?c))))
 (:action stay :parameters (?c - cell) :precondition (at ?c) :effect (and (at ?c) (bright)))
 (:action far :parameters (?a ?b ?c - cell) :precondition (and (at ?a) (marked ?c)) :effect (and (not (at ?a)) (at ?b))))",
    "(define (problem one) (:domain grid) (:objects a b c - cell)
 (:init (at a) (next a b) (next b c) (next c a) (next a a) (bright)) (:goal (at c)))",
);

#[test]
fn both_methods_agree_on_numbers_constants_and_no_ops() {
    for semantics in [Semantics::Strips, Semantics::GroundNoOpsDropped] {
        assert!(same_space("tanks", TANKS, semantics, 400) >= 100);
        assert!(same_space("grid", GRID, semantics, 400) >= 20);
    }
    let lifted = model(GRID, Semantics::GroundNoOpsDropped, GroundingMethod::Lifted).unwrap();
    let refusal = |text: &str| {
        execute_steps(&lifted, &[NamedStep::parse(text).unwrap()], &mut Unlimited).unwrap().refusal
    };
    assert_eq!(refusal("(go a a)"), Some(Refusal::NoEffect));
    assert_eq!(refusal("(stay a)"), Some(Refusal::NoEffect));
    assert_eq!(refusal("(go b c)"), Some(Refusal::NotApplicable));
    assert_eq!(refusal("(go a b)"), None);
}

#[test]
fn exact_mode_and_sampling_give_the_same_without_grounding() {
    let changed = (&*GRID.0.replace("(not (wall ?b))", "(not (marked ?b))"), GRID.1);
    let make = |method| {
        let of = |texts| model(texts, Semantics::Strips, method).unwrap();
        (of(GRID), of(changed))
    };
    let (ground, lifted) = (make(GroundingMethod::Ground), make(GroundingMethod::Lifted));
    let exact = |(a, b): &(Model, Model)| {
        let exact = exact_direction(a, b, 8, DeadEnds::CONDITION, 100_000, &mut Unlimited).unwrap().unwrap();
        (exact.score().unwrap(), exact.pairs)
    };
    let (one, two) = (exact(&ground), exact(&lifted));
    assert!((one.0 - two.0).abs() < 1e-12 && one.1 == two.1 && one.0 < 1.0, "{one:?} {two:?}");
    let spec = SampleSpec { walks_per_length: 500, ..SampleSpec::reference_code(1) };
    let sampled = sample_direction(&lifted.0, &lifted.1, &spec, &mut Unlimited).unwrap().unwrap();
    let truncated = exact_direction(&ground.0, &ground.1, 10, DeadEnds::Truncate, 100_000, &mut Unlimited);
    let expected = truncated.unwrap().unwrap().score().unwrap();
    assert!((sampled.score().unwrap() - expected).abs() < 0.05);
    // A walk does not depend on those drawn before it.
    let again = SampleSpec { walks_per_length: 1, ..spec };
    let few = planforge_planning::walk::sample_walks(&lifted.0, &again, &mut Unlimited).unwrap().unwrap();
    let many = planforge_planning::walk::sample_walks(&lifted.0, &spec, &mut Unlimited).unwrap().unwrap();
    assert_eq!(few, many[..10]);
}

#[test]
fn tasks_too_large_to_ground_can_be_walked() {
    let cells: Vec<String> = (0..300).map(|i| format!("c{i}")).collect();
    let next: Vec<String> = (0..300).map(|i| format!("(next c{i} c{})", (i + 1) % 300)).collect();
    let problem = format!(
        "(define (problem big) (:domain grid) (:objects {} - cell) (:init (at c0) {}) (:goal (at c7)))",
        cells.join(" "),
        next.join(" ")
    );
    // `far` alone has 27 million ground actions.
    let big = model((GRID.0, &problem), Semantics::Strips, GroundingMethod::Auto).unwrap();
    assert!(big.simulator().is_none() && big.action_count().is_none());
    let spec = SampleSpec::reference_code(1);
    let sampled = sample_direction(&big, &big, &spec, &mut Unlimited).unwrap().unwrap();
    assert_eq!((sampled.score(), sampled.steps), (Some(1.0), 275));
    let ground = GroundLimits { instances: 100, ..GroundLimits::default() };
    let capped = ModelOptions { method: GroundingMethod::Lifted, ground, ..ModelOptions::default() };
    let capped = Model::from_texts(GRID.0, &problem, &capped, &mut Unlimited).unwrap();
    let stopped = sample_direction(&capped, &capped, &spec, &mut Unlimited);
    assert_eq!(stopped, Err(StopReason::Grounding));
    let small = model(GRID, Semantics::Strips, GroundingMethod::Auto).unwrap();
    assert!(small.simulator().is_some());
}

#[test]
fn hidden_variables_need_grounding() {
    let domain = "(define (domain h) (:predicates (p ?x) (q ?x)) (:action a :parameters (?x) :vars (?y)
 :precondition (and (p ?x) (p ?y)) :effect (q ?y)))";
    let problem = "(define (problem h) (:domain h) (:objects a b) (:init (p a) (p b)) (:goal (q a)))";
    let refused = model((domain, problem), Semantics::Strips, GroundingMethod::Lifted);
    assert!(matches!(refused, Err(ModelError::Unsupported(_))));
    assert!(model((domain, problem), Semantics::Strips, GroundingMethod::Auto).is_ok());
}

fn domains(folder: &Path, out: &mut Vec<(PathBuf, PathBuf)>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.map(|e| e.unwrap().path()).collect();
    paths.sort();
    let domain = folder.join("domain.pddl");
    let problem = paths.iter().find(|p| {
        let name = p.file_name().unwrap().to_string_lossy();
        name.ends_with(".pddl") && !name.contains("domain") && !name.contains("template")
    });
    if let (true, Some(problem)) = (domain.is_file(), problem) {
        out.push((domain, problem.clone()));
    }
    paths.iter().filter(|p| p.is_dir()).for_each(|p| domains(p, out));
}

/// The states of one task of every domain there is.
#[test]
fn both_methods_agree_on_suites() {
    let root = crate::support::repository();
    let shared = root.join("../shared/suites");
    let mut all = Vec::new();
    domains(&root.join("examples/suites"), &mut all);
    assert!(all.len() >= 2);
    if shared.is_dir() {
        domains(&shared.join("llm-p"), &mut all);
        domains(&shared.join("classical"), &mut all);
    } else {
        println!("skipped: ../shared/suites is not there");
    }
    for (domain, problem) in all {
        let texts = (std::fs::read_to_string(&domain).unwrap(), std::fs::read_to_string(&problem).unwrap());
        let texts = (&*texts.0, &*texts.1);
        let limits = GroundLimits { instances: 8_000, ..GroundLimits::default() };
        let small =
            ModelOptions { method: GroundingMethod::Ground, ground: limits, ..ModelOptions::default() };
        if Model::from_texts(texts.0, texts.1, &small, &mut Unlimited).is_err() {
            continue;
        }
        for semantics in [Semantics::Strips, Semantics::GroundNoOpsDropped] {
            same_space(&domain.display().to_string(), texts, semantics, 25);
        }
    }
}

#[test]
fn both_methods_know_which_effects_have_values() {
    let domain = "(define (domain d) (:requirements :strips :typing :numeric-fluents) (:types place) (:predicates (g) (p))
 (:functions (v) (t) (w ?x - place) (all ?x - place) (total-cost))
 (:action set :parameters () :effect (and (p) (assign (v) 3)))
 (:action unset :parameters () :effect (and (p) (assign (v) 0)))
 (:action divide :parameters () :effect (and (g) (assign (t) (/ 6 (v)))))
 (:action give :parameters (?x - place) :effect (and (p) (assign (w ?x) 1)))
 (:action take :parameters (?x - place) :effect (and (g) (increase (total-cost) (+ (w ?x) (all ?x)))))
 (:action raise :parameters (?x - place) :effect (and (p) (assign (all ?x) (v)))))";
    let problem = "(define (problem x) (:domain d) (:objects a b - place)
 (:init (= (v) 0) (= (t) 0) (= (w a) 2) (= (all a) 1) (= (all b) 1)) (:goal (g)))";
    assert!(same_space("values", (domain, problem), Semantics::Strips, 40) >= 8);
}
