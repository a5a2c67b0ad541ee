//! Relevant and irrelevant changes, and reported differences; enumeration of all renamings; symmetric
//! problems.
//!
//! Against the definition: every renaming tried, on small random problems.
//!
//! Problems with many symmetries, and graphs that refinement alone cannot tell apart. The tests bound the
//! number of pairs tried, never the time.

use super::*;
use crate::resources::Unlimited;
use planforge_diagnostics::SourceId;
use planforge_pddl::random::Random;
use planforge_pddl::{parse_domain, parse_problem};
use std::collections::BTreeSet;

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

fn different(result: ProblemEquivalence) -> ProblemDifference {
    match result {
        ProblemEquivalence::Different(difference) => difference,
        other => panic!("{other:?}"),
    }
}

#[test]
fn objects_may_have_any_name_within_their_type() {
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
        (
            "(exists (?x ?y - box) (on ?x ?y))",
            "(exists (?v - box) (not (forall (?u - box) (not (on ?u ?v)))))",
        ),
        ("(or (on a b) (or (clear a) (clear b)))", "(or (clear b) (not (not (on a b))) (clear a) (clear b))"),
        ("(not (imply (clear a) (on a b)))", "(and (not (on a b)) (and (clear a)))"),
        (
            "(forall (?x - box) (or (clear ?x) (on ?x a)))",
            "(forall (?x - box) (imply (not (on ?x b)) (clear ?x)))",
        ),
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
        ("(forall (?x - box) (on ?x a))", "(forall (?x - box) (on a ?x))"),
        ("(exists (?x - (either box place)) (= ?x a))", "(exists (?x - box) (= ?x a))"),
    ] {
        assert!(!is_equal(&compare(&goal(a), &goal(b))), "{a} {b}");
    }
}

#[test]
fn only_the_differing_condition_is_reported() {
    let goal = |goal: &str| problem("a b - box", "(on a b)", goal);
    let difference = different(compare(
        &goal("(and (or (clear a) (on b a)) (or (clear b) (on b a)))"),
        &goal("(and (or (clear a) (clear b)) (or (on b a) (clear a)))"),
    ));
    assert_eq!((difference.missing_facts.len(), difference.extra_facts.len()), (1, 1));
    assert!(difference.minimal);
}

#[test]
fn types_of_objects_are_kept() {
    let objects = |list: &str| problem(list, "(near p q)", "(near q p)");
    assert!(is_equal(&compare(
        &objects("p - (either box place) q - place"),
        &objects("q - place p - (either place box)")
    )));
    assert!(!is_equal(&compare(&objects("p - (either box place) q - place"), &objects("p q - place"))));
    assert!(is_equal(&compare(&objects("p q - object"), &objects("p q"))));
}

#[test]
fn a_goal_that_is_missing_is_not_the_empty_one() {
    let empty = problem("a - box", "(clear a)", "(and)");
    let none = empty.replace("(:goal (and))", "");
    assert!(is_equal(&compare(&none, &none)));
    assert_eq!(different(compare(&empty, &none)).extra_facts, ["no goal"]);
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
fn a_difference_uses_both_problems_names_and_reports_whether_it_is_minimal() {
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

#[test]
fn a_limit_leaves_the_question_open() {
    let ring: Vec<(usize, usize)> = (0..30).map(|i| (i, (i + 1) % 30)).collect();
    let text = graph_problem(30, &ring, |i| format!("n{i}"));
    let domain = parse_domain(DOMAIN, SourceId(0)).value;
    let problem = parse_problem(&text, SourceId(1)).value;
    let result = equivalent_problems(&domain, &problem, &problem, 0, &mut Unlimited);
    assert!(matches!(result, ProblemEquivalence::Undecided { .. }), "{result:?}");
}

/// A fact: its text with `{}` for objects' numbers, and the objects.
type Fact = (&'static str, Vec<usize>);

/// Predicates of the problems, with the types of their arguments: 0 a box, 1 a place.
const KINDS: [(&str, &[usize]); 11] = [
    ("init (on {} {})", &[0, 0]),
    ("init (clear {})", &[0]),
    ("init (at {} {})", &[0, 1]),
    ("init (at {} dock)", &[0]),
    ("init (near {} {})", &[1, 1]),
    ("init (= (weight {}) 2)", &[0]),
    ("init (= (weight {}) 3)", &[0]),
    ("goal (on {} {})", &[0, 0]),
    ("goal (at {} {})", &[0, 1]),
    ("goal (not (clear {}))", &[0]),
    ("goal (near {} {})", &[1, 1]),
];

/// Objects by type, and facts over them.
#[derive(Clone)]
struct Small {
    count: [usize; 2],
    facts: BTreeSet<Fact>,
}

impl Small {
    fn random(random: &mut Random) -> Self {
        let count = [1 + random.below(4) as usize, 1 + random.below(3) as usize];
        let mut small = Self { count, facts: BTreeSet::new() };
        for _ in 0..random.below(9) {
            let fact = small.fact(random);
            small.facts.insert(fact);
        }
        small
    }

    fn fact(&self, random: &mut Random) -> Fact {
        let (text, types) = KINDS[random.below(KINDS.len() as u64) as usize];
        (text, types.iter().map(|&t| random.below(self.count[t] as u64) as usize).collect())
    }

    fn rename(&self, renaming: &[Vec<usize>; 2]) -> BTreeSet<Fact> {
        let types = |text: &str| KINDS.iter().find(|k| k.0 == text).unwrap().1;
        self.facts
            .iter()
            .map(|(text, objects)| {
                (*text, objects.iter().zip(types(text)).map(|(&o, &t)| renaming[t][o]).collect())
            })
            .collect()
    }

    fn text(&self, prefixes: [&str; 2]) -> String {
        let names = |t: usize| (0..self.count[t]).map(|i| format!("{}{i} ", prefixes[t])).collect::<String>();
        let section = |kind: &str| -> String {
            let of_kind = self.facts.iter().filter(|f| f.0.starts_with(kind));
            of_kind.map(|fact| format_fact(fact, prefixes)[kind.len()..].to_owned()).collect()
        };
        let objects = format!("{} - box {} - place", names(0), names(1));
        problem(&objects, &section("init"), &format!("(and {})", section("goal")))
    }
}

fn format_fact((text, objects): &Fact, prefixes: [&str; 2]) -> String {
    let types = KINDS.iter().find(|k| k.0 == *text).unwrap().1;
    objects.iter().zip(types).fold((*text).to_owned(), |text, (object, &t)| {
        text.replacen("{}", &format!("{}{object}", prefixes[t]), 1)
    })
}

fn permutations(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![Vec::new()];
    }
    let smaller = permutations(n - 1);
    let insert = |p: &Vec<usize>, at: usize| {
        let mut p = p.clone();
        p.insert(at, n - 1);
        p
    };
    smaller.iter().flat_map(|p| (0..n).map(move |at| insert(p, at))).collect()
}

/// The fewest facts that any renaming leaves over.
fn fewest(a: &Small, b: &Small) -> usize {
    let places = permutations(a.count[1]);
    permutations(a.count[0])
        .iter()
        .flat_map(|boxes| places.iter().map(move |places| [boxes.clone(), places.clone()]))
        .map(|renaming| a.rename(&renaming).symmetric_difference(&b.facts).count())
        .min()
        .unwrap()
}

fn shuffle(n: usize, random: &mut Random) -> Vec<usize> {
    let mut all = permutations(n);
    all.swap_remove(random.below(all.len() as u64) as usize)
}

/// Counts the facts that a renaming leaves over.
fn left_over(a: &Small, b: &Small, renaming: &[(String, String)]) -> usize {
    let mut by_type = [vec![usize::MAX; a.count[0]], vec![usize::MAX; a.count[1]]];
    for (from, to) in renaming {
        let t = usize::from(from.starts_with('p'));
        by_type[t][from[1..].parse::<usize>().unwrap()] = to[1..].parse().unwrap();
    }
    a.rename(&by_type).symmetric_difference(&b.facts).count()
}

#[test]
fn the_answer_equals_that_of_all_renamings() {
    let mut random = Random::stream(20_25, 0);
    let (mut equal, mut minimal, mut unshown) = (0, 0, 0);
    for _ in 0..1500 {
        let a = Small::random(&mut random);
        let renaming = [shuffle(a.count[0], &mut random), shuffle(a.count[1], &mut random)];
        let mut b = Small { count: a.count, facts: a.rename(&renaming) };
        for _ in 0..random.below(3) {
            let fact = b.fact(&mut random);
            if !b.facts.remove(&fact) {
                b.facts.insert(fact);
            }
        }
        let fewest = fewest(&a, &b);
        match compare(&a.text(["b", "p"]), &b.text(["x", "y"])) {
            ProblemEquivalence::Equal { renaming } => {
                assert_eq!(fewest, 0);
                assert_eq!(left_over(&a, &b, &renaming), 0, "the renaming is one");
                equal += 1;
            }
            ProblemEquivalence::Different(found) => {
                let told = found.missing_facts.len() + found.extra_facts.len();
                assert!(fewest > 0 && told >= fewest);
                assert_eq!(told, left_over(&a, &b, &found.renaming), "what is told is what is left over");
                if found.minimal {
                    assert_eq!(told, fewest, "{} {}", a.text(["b", "p"]), b.text(["x", "y"]));
                }
                minimal += usize::from(found.minimal);
                unshown += usize::from(!found.minimal && told == fewest);
            }
            ProblemEquivalence::Undecided { .. } => panic!("no limit was set"),
        }
    }
    assert!(
        equal > 300 && minimal > 300,
        "{equal} equal, {minimal} minimal, {unshown} minimal and not shown"
    );
}

#[test]
fn another_number_of_objects_is_a_difference() {
    let mut random = Random::stream(7, 0);
    for _ in 0..50 {
        let a = Small::random(&mut random);
        let b = Small { count: [a.count[0] + 1, a.count[1]], ..a.clone() };
        let difference = different(compare(&a.text(["b", "p"]), &b.text(["b", "p"])));
        assert_eq!((difference.missing_objects.len(), difference.extra_objects.len()), (0, 1));
        assert_eq!((difference.missing_facts.len(), difference.extra_facts.len()), (0, 0));
        assert!(difference.minimal);
    }
}

type Edges = Vec<(usize, usize)>;

/// A problem over one symmetric relation.
fn graph_problem(nodes: usize, edges: &[(usize, usize)], name: impl Fn(usize) -> String) -> String {
    let objects: String = (0..nodes).map(|i| name(i) + " ").collect();
    let init: String =
        edges.iter().map(|&(a, b)| format!("(near {0} {1}) (near {1} {0}) ", name(a), name(b))).collect();
    problem(&format!("{objects} - place"), &init, "(and)")
}

fn shuffled_order(nodes: usize, seed: u64) -> Vec<usize> {
    let mut random = Random::stream(seed, 0);
    let mut order: Vec<usize> = (0..nodes).collect();
    for i in (1..nodes).rev() {
        order.swap(i, random.below(i as u64 + 1) as usize);
    }
    order
}

/// Compares two graphs, the second renamed at random, within so many pairs.
fn compare_graphs(nodes: usize, a: &[(usize, usize)], b: &[(usize, usize)], max_choices: u64) -> bool {
    let order = shuffled_order(nodes, 7);
    let first = graph_problem(nodes, a, |i| format!("n{i}"));
    let mut reversed = b.to_vec();
    reversed.reverse();
    let second = graph_problem(nodes, &reversed, |i| format!("m{}", order[i]));
    let domain = parse_domain(DOMAIN, SourceId(0)).value;
    let read = |text: &str| parse_problem(text, SourceId(1)).value;
    match equivalent_problems(&domain, &read(&first), &read(&second), max_choices, &mut Unlimited) {
        ProblemEquivalence::Equal { .. } => true,
        ProblemEquivalence::Different(_) => false,
        undecided => panic!("{nodes} nodes: {undecided:?}"),
    }
}

/// The graph is itself under a random renaming, and no longer with an edge replaced by a loop or left out.
fn both_ways(nodes: usize, edges: &[(usize, usize)], max_choices: u64) {
    assert!(compare_graphs(nodes, edges, edges, max_choices));
    let mut changed = edges.to_vec();
    changed[0].1 = changed[0].0;
    assert!(!compare_graphs(nodes, edges, &changed, 0));
    assert!(!compare_graphs(nodes, edges, &edges[1..], 0));
}

fn grid(side: usize) -> Edges {
    let cell = |r: usize, c: usize| side * r + c;
    let mut edges = Vec::new();
    for r in 0..side {
        for c in 0..side {
            edges.extend((c + 1 < side).then(|| (cell(r, c), cell(r, c + 1))));
            edges.extend((r + 1 < side).then(|| (cell(r, c), cell(r + 1, c))));
        }
    }
    edges
}

fn paley(q: usize) -> Edges {
    let square = |d: usize| (1..q).any(|x| x * x % q == d % q);
    (0..q).flat_map(|a| (a + 1..q).map(move |b| (a, b))).filter(|&(a, b)| square(b - a)).collect()
}

fn pairs_of(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(move |a| (a + 1..n).map(move |b| (a, b)))
}

fn rook() -> Edges {
    pairs_of(16).filter(|&(a, b)| a / 4 == b / 4 || a % 4 == b % 4).collect()
}

fn shrikhande() -> Edges {
    pairs_of(16)
        .filter(|&(a, b)| {
            let d = ((b / 4 + 4 - a / 4) % 4, (b % 4 + 4 - a % 4) % 4);
            [(0, 1), (0, 3), (1, 0), (3, 0), (1, 1), (3, 3)].contains(&d)
        })
        .collect()
}

/// Graphs side by side.
fn beside(graphs: &[(usize, Edges)]) -> (usize, Edges) {
    let (mut nodes, mut edges) = (0, Vec::new());
    for (n, graph) in graphs {
        edges.extend(graph.iter().map(|&(a, b)| (a + nodes, b + nodes)));
        nodes += n;
    }
    (nodes, edges)
}

#[test]
fn each_object_that_can_be_exchanged_costs_one_choice() {
    both_ways(200, &[(0, 1)], 200);
    let pairs: Edges = (0..100).map(|i| (2 * i, 2 * i + 1)).collect();
    both_ways(200, &pairs, 200);
    let ring: Edges = (0..60).map(|i| (i, (i + 1) % 60)).collect();
    both_ways(60, &ring, 2);
    both_ways(400, &grid(20), 3);
    // Everything is next to everything: the facts distinguish nothing.
    both_ways(40, &pairs_of(40).collect::<Edges>(), 40);
}

#[test]
fn strongly_regular_graphs_are_told_apart() {
    both_ways(29, &paley(29), 40);
    both_ways(16, &rook(), 20);
    both_ways(16, &shrikhande(), 20);
    assert_eq!((rook().len(), shrikhande().len()), (48, 48));
    // Two choices tell them apart, one does not: any of 16 nodes, then any of one of its classes.
    assert!(!compare_graphs(16, &rook(), &shrikhande(), 16 * 16));
    // Two edges exchanged, so that every node keeps its degree.
    let mut exchanged = paley(29);
    let (i, j) = exchangeable(&exchanged);
    let (a, b) = (exchanged[i], exchanged[j]);
    exchanged[i] = (a.0, b.1);
    exchanged[j] = (b.0, a.1);
    assert!(!compare_graphs(29, &paley(29), &exchanged, 29 * 29));
}

#[test]
fn a_local_fault_in_a_symmetric_graph_is_found() {
    // With a choice on the side where all nodes are alike, it comes up late, and each of many choices seems to fit.
    let rooks: Edges = pairs_of(64).filter(|&(a, b)| a / 8 == b / 8 || a % 8 == b % 8).collect();
    let mut exchanged = rooks.clone();
    let (i, j) = exchangeable(&exchanged);
    let (a, b) = (exchanged[i], exchanged[j]);
    exchanged[i] = (a.0, b.1);
    exchanged[j] = (b.0, a.1);
    assert!(!compare_graphs(64, &rooks, &exchanged, 500));
}

/// Two edges that can exchange their ends.
fn exchangeable(edges: &[(usize, usize)]) -> (usize, usize) {
    let has = |a: usize, b: usize| a == b || edges.contains(&(a, b)) || edges.contains(&(b, a));
    pairs_of(edges.len())
        .find(|&(i, j)| !has(edges[i].0, edges[j].1) && !has(edges[j].0, edges[i].1))
        .unwrap()
}

#[test]
fn disconnected_parts_are_settled_one_by_one() {
    // The fault is in the last of many similar parts: undoing the others would never end.
    let all_rooks = beside(&vec![(16, rook()); 8]);
    for place in [0, 4, 7] {
        let mut parts = vec![(16, rook()); 8];
        parts[place] = (16, shrikhande());
        let one_other = beside(&parts);
        assert!(!compare_graphs(128, &all_rooks.1, &one_other.1, 2_000));
        let mut moved = parts.clone();
        moved.rotate_left(3);
        assert!(compare_graphs(128, &one_other.1, &beside(&moved).1, 4_000));
    }
    // As many nodes of as many neighbours, in other parts.
    let hexagon: Edges = (0..6).map(|i| (i, (i + 1) % 6)).collect();
    let triangle: Edges = vec![(0, 1), (1, 2), (0, 2)];
    let hexagons = beside(&[(6, hexagon.clone()), (6, hexagon.clone())]);
    let mixed = beside(&[(3, triangle.clone()), (6, hexagon), (3, triangle)]);
    assert!(!compare_graphs(12, &hexagons.1, &mixed.1, 100));
}
