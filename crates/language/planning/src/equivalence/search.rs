//! Search for an isomorphism of two problems: refine, choose a pair in the smallest class that leaves a
//! choice, and repeat. Choices that tell the problems apart are undone, part by part.

use super::graph::{Graph, Node};
use super::partition::Partition;
use crate::resources::{Poll, ResourceLimits, StopReason};
use rustc_hash::{FxHashMap, FxHashSet};

/// Result of the search for an isomorphism.
pub(super) enum IsomorphismOutcome {
    /// By node of the first problem, the node of the second that corresponds.
    Isomorphism(Vec<Node>),
    /// No isomorphism exists.
    None,
    /// It was ended before.
    Limit {
        /// Number of pairs tried.
        choices: u64,
        /// The budget's reason; `None` where it was the limit on choices.
        stopped: Option<StopReason>,
    },
}

/// Deepest nesting of parts within parts; see [`IsomorphismSearch::settle`].
const MAX_DEPTH: u32 = 500;

/// Largest class of which all nodes are compared before parts are.
const MAX_LOOK: usize = 256;

/// The resource limit that ended a search; `None` is the limit on choices.
type Stopped = Option<StopReason>;

/// Searches for an isomorphism, trying at most `max_choices` pairs.
///
/// The first attempt never backtracks: a choice that does not fail at once is kept. For almost every problem
/// that is the whole search, with one choice for each interchangeable object. If it ends in a contradiction,
/// the search restarts and settles disconnected parts one by one. Parts are isomorphic or not, independently
/// of the others, so a part that fits is never undone.
pub(super) fn find(
    graph: &Graph,
    max_choices: u64,
    resources: &mut dyn ResourceLimits,
) -> IsomorphismOutcome {
    let mut partition = Partition::new(graph);
    if !partition.is_balanced() || !partition.refine(graph, (0..partition.classes() as u32).collect()) {
        return IsomorphismOutcome::None;
    }
    let mut search = IsomorphismSearch { graph, choices: 0, max_choices, resources };
    let found = match search.straight(partition.clone()) {
        Ok(Straight::Settled(found)) => Ok(Some(found)),
        Ok(Straight::None) => Ok(None),
        Ok(Straight::Contradiction) => search.part_by_part(partition),
        Err(stopped) => Err(stopped),
    };
    let choices = search.choices;
    match found {
        Err(stopped) => IsomorphismOutcome::Limit { choices, stopped },
        Ok(None) => IsomorphismOutcome::None,
        Ok(Some(partition)) => {
            let image = image(graph, &partition);
            if holds(graph, &image) {
                return IsomorphismOutcome::Isomorphism(image);
            }
            // Two hashes of refinement collided, so the result proves nothing.
            IsomorphismOutcome::Limit { choices, stopped: None }
        }
    }
}

/// Result of the attempt without backtracking.
enum Straight {
    Settled(Partition),
    /// The first choice has no counterpart, so there is no isomorphism.
    None,
    /// A later choice has none: an earlier one may be at fault.
    Contradiction,
}

struct IsomorphismSearch<'a> {
    graph: &'a Graph,
    choices: u64,
    max_choices: u64,
    resources: &'a mut dyn ResourceLimits,
}

impl IsomorphismSearch<'_> {
    /// Tries a pair. Returns the refined partition, or `None` if the two are told apart.
    fn choose(
        &mut self,
        partition: &Partition,
        first: Node,
        second: Node,
    ) -> Result<Option<Partition>, Stopped> {
        if self.choices >= self.max_choices {
            return Err(None);
        }
        self.choices += 1;
        if let Poll::Stop(reason) = self.resources.poll() {
            return Err(Some(reason));
        }
        let mut next = partition.clone();
        let class = next.single_out(self.graph, first, second);
        Ok(next.refine(self.graph, vec![class]).then_some(next))
    }

    fn straight(&mut self, mut partition: Partition) -> Result<Straight, Stopped> {
        let mut first_choice = true;
        while let Some(class) = partition.smallest_open_class() {
            // Any of the first's nodes will do, for each has to correspond to one of the second's. The lowest, so that
            // the answer does not depend on the history of the classes.
            let members = partition.members(class);
            let first = members.iter().copied().min().unwrap_or_default();
            let mut theirs: Vec<Node> = members.iter().copied().filter(|&n| n >= self.graph.split).collect();
            theirs.sort_unstable();
            let mut next = None;
            for second in theirs {
                next = self.choose(&partition, first, second)?;
                if next.is_some() {
                    break;
                }
            }
            match next {
                Some(next) => partition = next,
                None if first_choice => return Ok(Straight::None),
                None => return Ok(Straight::Contradiction),
            }
            first_choice = false;
        }
        Ok(Straight::Settled(partition))
    }

    /// Looks ahead once over the whole graph, for a local fault, then settles part by part.
    fn part_by_part(&mut self, partition: Partition) -> Result<Option<Partition>, Stopped> {
        let split = self.graph.split;
        let members =
            partition.smallest_open_class().map(|class| partition.members(class)).unwrap_or_default();
        let (mut ours, mut theirs): (Vec<Node>, Vec<Node>) = members.iter().partition(|&&n| n < split);
        ours.sort_unstable();
        theirs.sort_unstable();
        if ours.len() <= MAX_LOOK && self.look_ahead(&partition, &ours, &theirs)?.is_none() {
            return Ok(None);
        }
        let open = |n: &Node| partition.is_open(*n);
        let ours: Vec<Node> = (0..split).filter(open).collect();
        let theirs: Vec<Node> = (split..self.graph.len() as Node).filter(open).collect();
        self.settle(partition, &ours, &theirs, 0)
    }

    /// Pairs off all open nodes of a part of either problem; `None` where that is impossible. The parts must be closed: no edge
    /// leads from an open node inside to one outside.
    fn settle(
        &mut self,
        mut partition: Partition,
        ours: &[Node],
        theirs: &[Node],
        depth: u32,
    ) -> Result<Option<Partition>, Stopped> {
        if depth > MAX_DEPTH {
            return Err(None);
        }
        let (ours, mut theirs) =
            (self.connected_parts(&partition, ours), self.connected_parts(&partition, theirs));
        if ours.len() != theirs.len() {
            return Ok(None);
        }
        for part in ours {
            let kind = partition.kind(&part);
            let mut fitting = None;
            for (i, other) in theirs.iter().enumerate() {
                if partition.kind(other) != kind {
                    continue;
                }
                if let Some(next) = self.pair(&partition, &part, other, depth)? {
                    fitting = Some((i, next));
                    break;
                }
            }
            let Some((i, next)) = fitting else { return Ok(None) };
            theirs.swap_remove(i);
            partition = next;
        }
        Ok(Some(partition))
    }

    /// Matches two connected parts. If the first candidate left by refinement fails later, all remaining
    /// candidates are examined before one is followed; see [`IsomorphismSearch::look_ahead`].
    fn pair(
        &mut self,
        partition: &Partition,
        part: &[Node],
        other: &[Node],
        depth: u32,
    ) -> Result<Option<Partition>, Stopped> {
        let Some(&(class, _)) = partition.kind(part).iter().min_by_key(|(class, count)| (*count, *class))
        else {
            return Ok(Some(partition.clone()));
        };
        let within = |part: &[Node]| -> Vec<Node> {
            let mut nodes: Vec<Node> =
                part.iter().copied().filter(|&n| partition.class_of(n) == class).collect();
            nodes.sort_unstable();
            nodes
        };
        let (ours, theirs) = (within(part), within(other));
        for (i, &second) in theirs.iter().enumerate() {
            let Some(next) = self.choose(partition, ours[0], second)? else { continue };
            if let Some(settled) = self.settle(next, part, other, depth + 1)? {
                return Ok(Some(settled));
            }
            let left = &theirs[i + 1..];
            if left.is_empty() {
                break;
            }
            let Some((first, candidates)) = self.look_ahead(partition, &ours, &theirs)? else {
                return Ok(None);
            };
            for candidate in candidates.into_iter().filter(|c| first != ours[0] || left.contains(c)) {
                if let Some(next) = self.choose(partition, first, candidate)?
                    && let Some(settled) = self.settle(next, part, other, depth + 1)?
                {
                    return Ok(Some(settled));
                }
            }
            return Ok(None);
        }
        Ok(None)
    }

    /// Groups the nodes of both sides by the partition that singling them out gives. A node and its
    /// counterpart are in one group, so groups have as many nodes of one side as of the other. Returns the
    /// smallest group: one of our nodes, and all of theirs. Returns `None` if the groups show that there is
    /// no isomorphism.
    ///
    /// A node near a fault has a separate group, whichever side it is on. With only one of our nodes chosen,
    /// the fault might not appear before nearly everything is matched.
    fn look_ahead(
        &mut self,
        partition: &Partition,
        ours: &[Node],
        theirs: &[Node],
    ) -> Result<Option<(Node, Vec<Node>)>, Stopped> {
        // That two nodes pass for counterparts is an equivalence on the nodes of both sides.
        let mut groups: Vec<(usize, Node, Vec<Node>)> = Vec::new();
        'ours: for &first in ours {
            for (count, _, of_theirs) in &mut groups {
                if self.choose(partition, first, of_theirs[0])?.is_some() {
                    *count += 1;
                    continue 'ours;
                }
            }
            let grouped = |n: &Node| groups.iter().any(|(_, _, of_theirs)| of_theirs.contains(n));
            let mut fitting = None;
            for &second in theirs.iter().filter(|n| !grouped(n)) {
                if self.choose(partition, first, second)?.is_some() {
                    fitting = Some(second);
                    break;
                }
            }
            let Some(second) = fitting else { return Ok(None) };
            groups.push((1, first, vec![second]));
        }
        'theirs: for &second in theirs {
            for (_, first, of_theirs) in &mut groups {
                if of_theirs[0] == second {
                    continue 'theirs;
                }
                if self.choose(partition, *first, second)?.is_some() {
                    of_theirs.push(second);
                    continue 'theirs;
                }
            }
            return Ok(None);
        }
        if groups.iter().any(|(count, _, of_theirs)| *count != of_theirs.len()) {
            return Ok(None);
        }
        Ok(groups.into_iter().min_by_key(|g| g.0).map(|(_, first, of_theirs)| (first, of_theirs)))
    }

    /// The connected parts of the open ones among `nodes`, by edges between open nodes.
    fn connected_parts(&self, partition: &Partition, nodes: &[Node]) -> Vec<Vec<Node>> {
        let mut seen: FxHashSet<Node> = FxHashSet::default();
        let mut parts = Vec::new();
        for &start in nodes {
            if !partition.is_open(start) || !seen.insert(start) {
                continue;
            }
            let mut part = vec![start];
            let mut at = 0;
            while let Some(&node) = part.get(at) {
                at += 1;
                for &(_, next) in &self.graph.edges[node as usize] {
                    if partition.is_open(next) && seen.insert(next) {
                        part.push(next);
                    }
                }
            }
            parts.push(part);
        }
        parts
    }
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

/// Returns true if the correspondence keeps colours and edges. Every positive answer is checked by this.
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

/// Returns, for each round, the colour that refinement gives to each node of either problem. Colours are
/// comparable between problems.
pub(super) fn rounds(graph: &Graph, rounds: usize) -> Vec<Vec<u64>> {
    let mut all: Vec<Vec<u64>> = vec![graph.colours.iter().map(|&c| u64::from(c)).collect()];
    for round in 0..rounds {
        let now = &all[round];
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
        all.push(next);
    }
    all
}
