use super::*;
use crate::budget::Unlimited;
use planforge_diagnostics::SourceId;
use planforge_pddl::{parse_domain, parse_problem, random::Random};
use std::time::Instant;

const DOMAIN: &str = "(define (domain shelf) (:requirements :strips :typing)
  (:types box place) (:constants dock - place)
  (:predicates (on ?a ?b - box) (at ?b - box ?p - place) (clear ?b - box) (near ?p ?q - place))
  (:functions (weight ?b - box)))";

fn compare_in(domain: &str, a: &str, b: &str) -> ProblemEquivalence {
    let domain = parse_domain(domain, SourceId(0)).value;
    let read = |text: &str| parse_problem(text, SourceId(1)).value;
    equivalent_problems(&domain, &read(a), &read(b), 100_000, &mut Unlimited)
}

fn problem(objects: &str, init: &str, goal: &str) -> String {
    format!("(define (problem p) (:domain shelf) (:objects {objects}) (:init {init}) (:goal {goal}))")
}

fn compare(a: &str, b: &str) -> ProblemEquivalence {
    compare_in(DOMAIN, a, b)
}

fn is_equal(result: &ProblemEquivalence) -> bool {
    matches!(result, ProblemEquivalence::Equal { .. })
}

fn different(result: ProblemEquivalence) -> Difference {
    match result {
        ProblemEquivalence::Different(difference) => difference,
        other => panic!("{other:?}"),
    }
}

#[test]
fn objects_may_be_called_anything_within_their_type() {
    let a = problem("a b - box p - place", "(on a b) (at b p) (near p dock)", "(and (on b a))");
    let b = problem("q - place y x - box", "(near q dock) (at x q) (on y x) (on y x)", "(on x y)");
    let ProblemEquivalence::Equal { renaming } = compare(&a, &b) else { panic!("they are the same") };
    let pairs: Vec<(&str, &str)> = renaming.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    assert_eq!(pairs, [("a", "y"), ("b", "x"), ("p", "q")]);
    let other_type = b.replace("y x - box", "y - box x - place");
    assert!(!is_equal(&compare(&a, &other_type)));
}

#[test]
fn initial_state_and_goal_are_renamed_alike() {
    let a = problem("a b - box", "(clear a)", "(at a dock)");
    let b = problem("a b - box", "(clear a)", "(at b dock)");
    let difference = different(compare(&a, &b));
    assert_eq!(difference.missing_facts.len() + difference.extra_facts.len(), 2);
}

#[test]
fn constants_and_names_in_actions_stand_for_themselves() {
    let a = problem("a - box p - place", "(at a dock)", "(at a p)");
    let b = problem("a - box p - place", "(at a p)", "(at a dock)");
    assert!(!is_equal(&compare(&a, &b)));
    let domain = "(define (domain tools) (:predicates (have ?x) (done))
      (:action use :parameters () :precondition (have jack) :effect (done)))";
    let with = |x: &str| {
        format!("(define (problem p) (:domain tools) (:objects jack pump) (:init (have {x})) (:goal (done)))")
    };
    assert!(!is_equal(&compare_in(domain, &with("jack"), &with("pump"))));
    assert!(is_equal(&compare_in(domain, &with("pump"), &with("pump").replace("pump", "wrench"))));
}

#[test]
fn goals_are_compared_as_formulas() {
    let goal = |goal: &str| problem("a b - box", "(clear a) (clear b)", goal);
    let same = [
        ("(and (on a b) (not (clear a)))", "(and (not (clear b)) (on b a) (on b a))"),
        ("(or (on a b) (clear a))", "(or (clear b) (on b a))"),
        ("(imply (clear a) (on a b))", "(or (on b a) (not (clear b)))"),
        ("(not (and (clear a) (on a b)))", "(or (not (on a b)) (not (clear a)))"),
        ("(forall (?x - box) (clear ?x))", "(forall (?y - box) (clear ?y))"),
        ("(exists (?x ?y - box) (on ?x ?y))", "(exists (?v ?u - box) (on ?u ?v))"),
    ];
    for (a, b) in same {
        assert!(is_equal(&compare(&goal(a), &goal(b))), "{a} {b}");
    }
    for (a, b) in [
        ("(on a b)", "(not (on a b))"),
        ("(or (on a b) (clear a))", "(and (on a b) (clear a))"),
        ("(or (on a b) (clear a))", "(or (on a b) (clear b))"),
        ("(exists (?x ?y - box) (on ?x ?y))", "(exists (?x - box) (on ?x ?x))"),
        ("(forall (?x - box) (clear ?x))", "(exists (?x - box) (clear ?x))"),
    ] {
        assert!(!is_equal(&compare(&goal(a), &goal(b))), "{a} {b}");
    }
}

#[test]
fn numbers_and_the_metric_count() {
    let with = |weight: u32, metric: &str| {
        problem("a b - box", &format!("(= (weight a) {weight}) (= (weight b) 2)"), "(clear a)")
            .replace("(:goal", &format!("{metric} (:goal"))
    };
    let least = "(:metric minimize (total-cost))";
    assert!(is_equal(&compare(&with(3, least), &with(3, least))));
    assert_eq!(different(compare(&with(3, least), &with(4, least))).missing_facts, ["init (= (weight a) 3)"]);
    assert!(!is_equal(&compare(&with(3, least), &with(3, ""))));
    assert!(!is_equal(&compare(&with(3, least), &with(3, &least.replace("minimize", "maximize")))));
}

#[test]
fn a_difference_is_told_in_both_problems_names_and_called_minimal_where_it_is() {
    let a = problem("a b c - box", "(on a b) (on b c) (clear a)", "(on c a)");
    let b = problem("x y z - box", "(on x y) (on y z) (clear x) (clear y)", "(on z x)");
    let difference = different(compare(&a, &b));
    assert_eq!(
        (difference.missing_facts.len(), &difference.extra_facts),
        (0, &vec!["init (clear y)".to_owned()])
    );
    assert!(difference.minimal);
    let fewer = problem("x y - box", "(on x y) (clear x)", "(on y x)");
    let difference = different(compare(&a, &fewer));
    assert_eq!(difference.missing_objects.len(), 1);
}

/// A problem over one symmetric relation.
fn graph_problem(nodes: usize, edges: &[(usize, usize)], name: impl Fn(usize) -> String) -> String {
    let objects: String = (0..nodes).map(|i| name(i) + " ").collect();
    let init: String =
        edges.iter().map(|&(a, b)| format!("(near {0} {1}) (near {1} {0}) ", name(a), name(b))).collect();
    problem(&format!("{objects} - place"), &init, "(and)")
}

fn shuffled(nodes: usize, seed: u64) -> Vec<usize> {
    let mut random = Random::stream(seed, 0);
    let mut order: Vec<usize> = (0..nodes).collect();
    for i in (1..nodes).rev() {
        order.swap(i, random.below(i as u64 + 1) as usize);
    }
    order
}

/// The graph against a random renaming of itself, and against one with an edge replaced by a loop.
fn both_ways(nodes: usize, edges: &[(usize, usize)]) {
    let plain = graph_problem(nodes, edges, |i| format!("n{i}"));
    let order = shuffled(nodes, 7);
    let mut renamed: Vec<(usize, usize)> = edges.to_vec();
    renamed.reverse();
    let start = Instant::now();
    assert!(is_equal(&compare(&plain, &graph_problem(nodes, &renamed, |i| format!("m{}", order[i])))));
    renamed[0].1 = renamed[0].0;
    let mutant = compare(&plain, &graph_problem(nodes, &renamed, |i| format!("m{}", order[i])));
    assert!(matches!(mutant, ProblemEquivalence::Different(_)));
    assert!(start.elapsed().as_secs() < 5, "{nodes} nodes took {:?}", start.elapsed());
}

#[test]
fn symmetric_cases_are_decided() {
    both_ways(200, &[(0, 1)]);
    let pairs: Vec<(usize, usize)> = (0..100).map(|i| (2 * i, 2 * i + 1)).collect();
    both_ways(200, &pairs);
    let ring: Vec<(usize, usize)> = (0..60).map(|i| (i, (i + 1) % 60)).collect();
    both_ways(60, &ring);
    let cell = |r: usize, c: usize| 20 * r + c;
    let mut grid: Vec<(usize, usize)> = Vec::new();
    for r in 0..20 {
        for c in 0..20 {
            grid.extend((c + 1 < 20).then(|| (cell(r, c), cell(r, c + 1))));
            grid.extend((r + 1 < 20).then(|| (cell(r, c), cell(r + 1, c))));
        }
    }
    both_ways(400, &grid);
    let square = |q: usize, d: usize| (1..q).any(|x| x * x % q == d % q);
    let paley: Vec<(usize, usize)> =
        (0..29).flat_map(|a| (a + 1..29).map(move |b| (a, b))).filter(|&(a, b)| square(29, b - a)).collect();
    both_ways(29, &paley);
}

#[test]
fn strongly_regular_graphs_with_the_same_parameters_are_told_apart() {
    let pairs = || (0..16).flat_map(|a| (a + 1..16).map(move |b| (a, b)));
    let (row, column) = (|n: usize| n / 4, |n: usize| n % 4);
    let rook: Vec<(usize, usize)> =
        pairs().filter(|&(a, b)| row(a) == row(b) || column(a) == column(b)).collect();
    let shrikhande: Vec<(usize, usize)> = pairs()
        .filter(|&(a, b)| {
            let d = ((row(b) + 4 - row(a)) % 4, (column(b) + 4 - column(a)) % 4);
            [(0, 1), (0, 3), (1, 0), (3, 0), (1, 1), (3, 3)].contains(&d)
        })
        .collect();
    assert_eq!((rook.len(), shrikhande.len()), (48, 48));
    let problem = |edges: &[(usize, usize)]| graph_problem(16, edges, |i| format!("n{i}"));
    assert!(matches!(compare(&problem(&rook), &problem(&shrikhande)), ProblemEquivalence::Different(_)));
    both_ways(16, &rook);
    both_ways(16, &shrikhande);
}

#[test]
fn a_limit_leaves_the_question_open() {
    let ring: Vec<(usize, usize)> = (0..30).map(|i| (i, (i + 1) % 30)).collect();
    let text = graph_problem(30, &ring, |i| format!("n{i}"));
    let domain = parse_domain(DOMAIN, SourceId(0)).value;
    let problem = parse_problem(&text, SourceId(1)).value;
    let result = equivalent_problems(&domain, &problem, &problem, 0, &mut Unlimited);
    assert!(matches!(result, ProblemEquivalence::Undecided { .. }), "{result:?}");
}
