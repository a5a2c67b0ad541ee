//! An isomorphism of the two problems: refine, choose a pair in the smallest class that leaves a choice, go on; take back a
//! choice that tells the problems apart.

use super::graph::{Graph, Node};
use super::partition::Partition;
use crate::budget::{Budget, Poll, StopReason};
use rustc_hash::FxHashMap;

/// What the search came to.
pub(super) enum Found {
    /// By node of the first problem, the node of the second that corresponds.
    Isomorphism(Vec<Node>),
    /// There is none.
    None,
    /// It was ended before.
    Limit {
        /// Pairs tried.
        choices: u64,
        /// The budget's reason; `None` where it was the limit on choices.
        stopped: Option<StopReason>,
    },
}

/// A choice made: which class, which of the first's nodes, which of the second's are left to try.
struct Choice {
    before: Partition,
    first: Node,
    rest: Vec<Node>,
}

/// Looks for an isomorphism, trying at most `max_choices` pairs.
pub(super) fn find(graph: &Graph, max_choices: u64, budget: &mut dyn Budget) -> Found {
    let mut partition = Partition::new(graph);
    if !partition.balanced() || !partition.refine(graph, (0..partition.classes() as u32).collect()) {
        return Found::None;
    }
    let mut stack: Vec<Choice> = Vec::new();
    let mut choices = 0u64;
    loop {
        let Some(class) = partition.undecided() else {
            let image = image(graph, &partition);
            if holds(graph, &image) {
                return Found::Isomorphism(image);
            }
            // Refinement passed what is none only where two sums met by chance; the next choice is tried.
            match back(graph, &mut stack, &mut choices, max_choices, budget) {
                Ok(Some(next)) => partition = next,
                Ok(None) => return Found::None,
                Err(stopped) => return Found::Limit { choices, stopped },
            }
            continue;
        };
        let (ours, theirs): (Vec<Node>, Vec<Node>) =
            partition.members(class).iter().partition(|&&n| n < graph.split);
        // Any of the first's nodes will do, for each has to correspond to one of the second's. The lowest, so that
        // the answer does not depend on the history of the classes.
        let first = ours.into_iter().min().unwrap_or_default();
        let mut rest = theirs;
        rest.sort_unstable_by(|a, b| b.cmp(a));
        stack.push(Choice { before: partition, first, rest });
        match back(graph, &mut stack, &mut choices, max_choices, budget) {
            Ok(Some(next)) => partition = next,
            Ok(None) => return Found::None,
            Err(stopped) => return Found::Limit { choices, stopped },
        }
    }
}

/// Tries what is left of the last choices; the refined partition of the first that is not told apart, `None` where all
/// are used up.
fn back(
    graph: &Graph,
    stack: &mut Vec<Choice>,
    choices: &mut u64,
    max_choices: u64,
    budget: &mut dyn Budget,
) -> Result<Option<Partition>, Option<StopReason>> {
    while let Some(choice) = stack.last_mut() {
        let Some(second) = choice.rest.pop() else {
            stack.pop();
            continue;
        };
        if *choices >= max_choices {
            return Err(None);
        }
        *choices += 1;
        if let Poll::Stop(reason) = budget.poll() {
            return Err(Some(reason));
        }
        let mut next = choice.before.clone();
        let class = next.single_out(graph, choice.first, second);
        if next.refine(graph, vec![class]) {
            return Ok(Some(next));
        }
    }
    Ok(None)
}

/// The correspondence that pairs of nodes spell out.
fn image(graph: &Graph, partition: &Partition) -> Vec<Node> {
    let mut image = vec![Node::MAX; graph.split as usize];
    for class in 0..partition.classes() as u32 {
        if let [a, b] = *partition.members(class) {
            image[a.min(b) as usize] = a.max(b);
        }
    }
    image
}

/// Whether the correspondence keeps colours and edges: what an answer rests on.
fn holds(graph: &Graph, image: &[Node]) -> bool {
    let sorted = |edges: &mut Vec<(u32, Node)>| edges.sort_unstable();
    image.iter().enumerate().all(|(node, &other)| {
        let Some(theirs) = graph.edges.get(other as usize) else { return false };
        let mut ours: Vec<(u32, Node)> =
            graph.edges[node].iter().map(|&(label, n)| (label, image[n as usize])).collect();
        let mut theirs = theirs.clone();
        sorted(&mut ours);
        sorted(&mut theirs);
        ours == theirs && graph.colours[node] == graph.colours[other as usize]
    })
}

/// How alike nodes are: by round, the colour that refinement would give a node of either problem, as numbers that both share.
pub(super) fn rounds(graph: &Graph, rounds: usize) -> Vec<Vec<u64>> {
    let mut now: Vec<u64> = graph.colours.iter().map(|&c| u64::from(c)).collect();
    let mut all = vec![now.clone()];
    for _ in 0..rounds {
        let mut numbers: FxHashMap<(u64, Vec<(u32, u64)>), u64> = FxHashMap::default();
        let next: Vec<u64> = (0..graph.len())
            .map(|node| {
                let mut around: Vec<(u32, u64)> =
                    graph.edges[node].iter().map(|&(label, n)| (label, now[n as usize])).collect();
                around.sort_unstable();
                let fresh = numbers.len() as u64;
                *numbers.entry((now[node], around)).or_insert(fresh)
            })
            .collect();
        all.push(next.clone());
        now = next;
    }
    all
}
