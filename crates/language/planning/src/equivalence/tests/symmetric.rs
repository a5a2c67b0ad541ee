//! Problems with many symmetries, and graphs that refinement alone cannot tell apart. The tests bound the
//! number of pairs tried, never the time.

use super::*;
use planforge_pddl::random::Random;

type Edges = Vec<(usize, usize)>;

/// A problem over one symmetric relation.
pub(super) fn graph_problem(
    nodes: usize,
    edges: &[(usize, usize)],
    name: impl Fn(usize) -> String,
) -> String {
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
