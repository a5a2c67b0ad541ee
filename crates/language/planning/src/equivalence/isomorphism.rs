//! Search for an isomorphism of two problems: refine, choose a pair in the smallest class that leaves a
//! choice, and repeat. Choices that tell the problems apart are undone, part by part.
//!
//! Colour refinement puts nodes in classes, which split until every node of a class has the same edges into every class. Both
//! problems are refined together, so that a class holds what could correspond; they differ as soon as a class holds more
//! of one than of the other.

use super::graph::{Graph, Node};
use crate::resources::{Poll, ResourceLimits, ScopedLimits, StopReason, check_memory};
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

/// Estimated bytes of a node in the graph, in the partition and in its copies.
const PARTITION_BYTES: u64 = 400;

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
    let resources = &mut ScopedLimits::new(resources);
    let bytes = PARTITION_BYTES * graph.colours.len() as u64;
    if let Err(reason) = check_memory(resources.charge(bytes)) {
        return IsomorphismOutcome::Limit { choices: 0, stopped: Some(reason) };
    }
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

/// Classes of nodes. Cheap to copy, for backtracking.
#[derive(Debug, Clone)]
struct Partition {
    class_of: Vec<u32>,
    /// Nodes, those of a class together.
    order: Vec<Node>,
    position: Vec<u32>,
    /// By class: where it starts, how many nodes it has, how many of them are the first problem's.
    start: Vec<u32>,
    len: Vec<u32>,
    of_first: Vec<u32>,
}

impl Partition {
    /// The classes by colour, not yet refined.
    pub(super) fn new(graph: &Graph) -> Self {
        let mut order: Vec<Node> = (0..graph.len() as Node).collect();
        order.sort_by_key(|&n| graph.colours[n as usize]);
        let mut partition = Self {
            class_of: vec![0; order.len()],
            position: vec![0; order.len()],
            start: Vec::new(),
            len: Vec::new(),
            of_first: Vec::new(),
            order,
        };
        for (at, &node) in partition.order.iter().enumerate() {
            let colour = graph.colours[node as usize];
            if at == 0 || graph.colours[partition.order[at - 1] as usize] != colour {
                partition.start.push(at as u32);
                partition.len.push(0);
                partition.of_first.push(0);
            }
            let class = partition.start.len() - 1;
            partition.class_of[node as usize] = class as u32;
            partition.position[node as usize] = at as u32;
            partition.len[class] += 1;
            partition.of_first[class] += u32::from(node < graph.split);
        }
        partition
    }

    fn classes(&self) -> usize {
        self.start.len()
    }

    pub(super) fn members(&self, class: u32) -> &[Node] {
        let start = self.start[class as usize] as usize;
        &self.order[start..start + self.len[class as usize] as usize]
    }

    /// Returns true if every class has as many nodes of the first problem as of the second.
    fn is_balanced(&self) -> bool {
        (0..self.classes()).all(|c| self.len[c] == 2 * self.of_first[c])
    }

    /// The smallest class in which a choice is left; `None` where every class is a pair.
    fn smallest_open_class(&self) -> Option<u32> {
        (0..self.classes() as u32).filter(|&c| self.len[c as usize] > 2).min_by_key(|&c| self.len[c as usize])
    }

    pub(super) fn class_of(&self, node: Node) -> u32 {
        self.class_of[node as usize]
    }

    /// Returns true if a choice is left for the node.
    pub(super) fn is_open(&self, node: Node) -> bool {
        self.len[self.class_of[node as usize] as usize] > 2
    }

    /// Counts the nodes of a part by class.
    pub(super) fn kind(&self, part: &[Node]) -> Vec<(u32, u32)> {
        let mut classes: Vec<u32> = part.iter().map(|&n| self.class_of(n)).collect();
        classes.sort_unstable();
        classes.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u32)).collect()
    }

    /// Moves a pair of nodes into a new class. Returns that class.
    fn single_out(&mut self, graph: &Graph, a: Node, b: Node) -> u32 {
        let class = self.class_of[a as usize];
        self.split(graph, class, &[vec![a, b]])[0]
    }

    /// Refines until stable, starting with the given classes. Returns false as soon as the problems are told
    /// apart.
    fn refine(&mut self, graph: &Graph, mut queue: Vec<u32>) -> bool {
        let mut queued = vec![false; graph.len().max(self.classes())];
        queue.iter().for_each(|&c| queued[c as usize] = true);
        let mut sums: FxHashMap<Node, u64> = FxHashMap::default();
        while let Some(splitter) = queue.pop() {
            queued[splitter as usize] = false;
            sums.clear();
            for &node in self.members(splitter) {
                for &(label, other) in &graph.edges[node as usize] {
                    let sum = sums.entry(other).or_insert(0);
                    *sum = sum.wrapping_add(mix(label));
                }
            }
            for (class, groups) in self.groups(&sums) {
                let made = self.split(graph, class, &groups);
                if made.iter().chain([&class]).any(|&c| !self.class_is_balanced(c)) {
                    return false;
                }
                self.enqueue(class, &made, &mut queue, &mut queued);
            }
        }
        true
    }

    /// By class, its members with a sum, grouped by that sum; in an order that does not depend on hashing.
    fn groups(&self, sums: &FxHashMap<Node, u64>) -> Vec<(u32, Vec<Vec<Node>>)> {
        let mut touched: Vec<(u32, u64, Node)> =
            sums.iter().map(|(&node, &sum)| (self.class_of[node as usize], sum, node)).collect();
        touched.sort_unstable();
        touched
            .chunk_by(|a, b| a.0 == b.0)
            .map(|of_class| {
                let groups: Vec<Vec<Node>> = of_class
                    .chunk_by(|a, b| a.1 == b.1)
                    .map(|group| group.iter().map(|&(_, _, node)| node).collect())
                    .collect();
                (of_class[0].0, groups)
            })
            // A class that is touched alike as a whole stays whole.
            .filter(|(class, groups)| groups.len() > 1 || groups[0].len() < self.members(*class).len())
            .collect()
    }

    /// Takes the groups out of a class, each into a new one; what is left, or the last group, keeps the class.
    fn split(&mut self, graph: &Graph, class: u32, groups: &[Vec<Node>]) -> Vec<u32> {
        let total: usize = groups.iter().map(Vec::len).sum();
        let whole = total == self.members(class).len();
        let moved = if whole { &groups[..groups.len() - 1] } else { groups };
        let mut made = Vec::with_capacity(moved.len());
        for group in moved {
            let fresh = self.start.len() as u32;
            let end = self.start[class as usize] + self.len[class as usize];
            let (mut at, mut of_first) = (end, 0);
            for &node in group {
                at -= 1;
                self.swap(node, at);
                self.class_of[node as usize] = fresh;
                of_first += u32::from(node < graph.split);
            }
            self.start.push(at);
            self.len.push(group.len() as u32);
            self.of_first.push(of_first);
            self.len[class as usize] -= group.len() as u32;
            self.of_first[class as usize] -= of_first;
            made.push(fresh);
        }
        made
    }

    fn swap(&mut self, node: Node, to: u32) {
        let from = self.position[node as usize];
        let other = self.order[to as usize];
        self.order.swap(from as usize, to as usize);
        self.position[node as usize] = to;
        self.position[other as usize] = from;
    }

    fn class_is_balanced(&self, class: u32) -> bool {
        self.len[class as usize] == 2 * self.of_first[class as usize]
    }

    /// Queues every part of a split class but the largest; all of them if the class was already queued.
    fn enqueue(&self, class: u32, made: &[u32], queue: &mut Vec<u32>, queued: &mut [bool]) {
        let waiting = queued[class as usize];
        let parts = || made.iter().copied().chain([class]);
        let largest = parts().max_by_key(|&c| self.len[c as usize]);
        for part in parts() {
            if !queued[part as usize] && (waiting || Some(part) != largest) {
                queued[part as usize] = true;
                queue.push(part);
            }
        }
    }
}

/// Spreads a label over 64 bits, so that sums of labels tell multisets apart. Where two sums meet by chance, a class stays
/// whole that could be split: the search then does what refinement did not.
fn mix(label: u32) -> u64 {
    let mut z = u64::from(label).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
