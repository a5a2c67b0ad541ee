//! Worst cases: many interchangeable objects, and graphs in which all nodes look the same.

use super::{Times, renamings, vary};
use planforge_diagnostics::SourceId;
use planforge_pddl::ast::{Domain, Problem};
use planforge_pddl::random::Random;
use planforge_pddl::{parse_domain, parse_problem};

const DOMAIN: &str =
    "(define (domain graph) (:types node - object) (:predicates (edge ?a ?b - node) (marked ?n - node)))";

type Edges = Vec<(usize, usize)>;

fn problem(nodes: usize, edges: &[(usize, usize)]) -> Problem {
    let objects: String = (0..nodes).map(|i| format!("n{i} ")).collect();
    let init: String = edges.iter().map(|(a, b)| format!("(edge n{a} n{b}) (edge n{b} n{a}) ")).collect();
    let text = format!(
        "(define (problem p) (:domain graph) (:objects {objects} - node) (:init {init}) (:goal (and)))"
    );
    parse_problem(&text, SourceId(1)).value
}

fn pairs(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(move |a| (a + 1..n).map(move |b| (a, b)))
}

fn grid(side: usize) -> Edges {
    pairs(side * side)
        .filter(|&(a, b)| (a / side).abs_diff(b / side) + (a % side).abs_diff(b % side) == 1)
        .collect()
}

fn paley(q: usize) -> Edges {
    let square = |d: usize| (1..q).any(|x| x * x % q == d % q);
    pairs(q).filter(|&(a, b)| square(b - a)).collect()
}

fn rook(side: usize) -> Edges {
    pairs(side * side).filter(|&(a, b)| a / side == b / side || a % side == b % side).collect()
}

fn shrikhande() -> Edges {
    let steps = [(0, 1), (0, 3), (1, 0), (3, 0), (1, 1), (3, 3)];
    pairs(16).filter(|&(a, b)| steps.contains(&((b / 4 + 4 - a / 4) % 4, (b % 4 + 4 - a % 4) % 4))).collect()
}

/// The Latin square graph of a group table: cells, joined where row, column or entry agree.
fn latin(side: usize, entry: impl Fn(usize, usize) -> usize) -> Edges {
    let of = |cell: usize| (cell / side, cell % side, entry(cell / side, cell % side));
    let joined = |&(a, b): &(usize, usize)| {
        let (a, b) = (of(a), of(b));
        a.0 == b.0 || a.1 == b.1 || a.2 == b.2
    };
    pairs(side * side).filter(joined).collect()
}

/// Swaps the ends of two edges, which keeps all degrees.
fn swap_edge_ends(edges: &[(usize, usize)]) -> Edges {
    let mut edges = edges.to_vec();
    let has = |a: usize, b: usize| a == b || edges.contains(&(a, b)) || edges.contains(&(b, a));
    let found =
        pairs(edges.len()).find(|&(i, j)| !has(edges[i].0, edges[j].1) && !has(edges[j].0, edges[i].1));
    if let Some((i, j)) = found {
        let (a, b) = (edges[i], edges[j]);
        edges[i] = (a.0, b.1);
        edges[j] = (b.0, a.1);
    }
    edges
}

fn copies(n: usize, nodes: usize, graph: &[(usize, usize)]) -> Edges {
    (0..n).flat_map(|i| graph.iter().map(move |&(a, b)| (a + i * nodes, b + i * nodes))).collect()
}

pub(super) fn print(seed: u64) {
    let domain = parse_domain(DOMAIN, SourceId(0)).value;
    let eight = copies(8, 16, &rook(4));
    let mut seven = copies(7, 16, &rook(4));
    seven.extend(shrikhande().iter().map(|&(a, b)| (a + 112, b + 112)));
    let klein = latin(8, |a, b| a ^ b);
    let cyclic = latin(8, |a, b| (a + b) % 8);
    let cases: Vec<(&str, usize, Edges, Option<Edges>)> = vec![
        ("200 objects, one edge", 200, vec![(0, 1)], None),
        ("200 objects in pairs", 200, (0..100).map(|i| (2 * i, 2 * i + 1)).collect(), None),
        ("200 objects in a ring", 200, (0..200).map(|i| (i, (i + 1) % 200)).collect(), None),
        ("60 objects, all joined", 60, pairs(60).collect(), None),
        ("grid 20x20", 400, grid(20), None),
        ("rook 4x4, Shrikhande", 16, rook(4), Some(shrikhande())),
        ("8 rooks, 7 and Shrikhande", 128, eight, Some(seven)),
        ("rook 8x8", 64, rook(8), None),
        ("Paley 29", 29, paley(29), None),
        ("Paley 101", 101, paley(101), None),
        ("Latin squares of order 8", 64, klein, Some(cyclic)),
    ];
    println!("\nSymmetric cases; single-fact mutants; two edges exchanged, or against the graph named");
    println!(
        "{:27} | renamings | renamed: median max explained | answers | mutants: median max explained | answers | other: median max explained | answers",
        "case"
    );
    for (name, nodes, edges, other) in cases {
        println!("{}", row(&domain, seed, name, nodes, &edges, other.as_deref()));
    }
}

fn row(
    domain: &Domain,
    seed: u64,
    name: &str,
    nodes: usize,
    edges: &[(usize, usize)],
    other: Option<&[(usize, usize)]>,
) -> String {
    let first = problem(nodes, edges);
    let other = problem(nodes, &other.map_or_else(|| swap_edge_ends(edges), <[_]>::to_vec));
    let [mut renamed, mut mutants, mut others] = [Times::default(), Times::default(), Times::default()];
    for i in 0..5 {
        let mut random = Random::stream(seed, i);
        let same = vary::with_random_names(domain, &first, &mut random);
        renamed.compare(domain, &first, &same);
        mutants.compare(domain, &first, &vary::mutant(&same, &mut random));
        others.compare(domain, &first, &vary::with_random_names(domain, &other, &mut random));
    }
    let power = format!("1e{:.0}", renamings(domain, &first));
    format!("{name:27} | {power:>9} | {} | {} | {}", renamed.cells(), mutants.cells(), others.cells())
}
