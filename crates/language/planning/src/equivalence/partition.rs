//! Colour refinement: nodes in classes, which split until every node of a class has the same edges into every class.
//!
//! Both problems are refined together, so that a class holds what could correspond; they differ as soon as a class holds more
//! of one than of the other.

use super::graph::{Graph, Node};
use rustc_hash::FxHashMap;

/// Classes of nodes. Cheap to copy, for backtracking.
#[derive(Debug, Clone)]
pub(super) struct Partition {
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

    pub(super) fn classes(&self) -> usize {
        self.start.len()
    }

    pub(super) fn members(&self, class: u32) -> &[Node] {
        let start = self.start[class as usize] as usize;
        &self.order[start..start + self.len[class as usize] as usize]
    }

    /// Returns true if every class has as many nodes of the first problem as of the second.
    pub(super) fn is_balanced(&self) -> bool {
        (0..self.classes()).all(|c| self.len[c] == 2 * self.of_first[c])
    }

    /// The smallest class in which a choice is left; `None` where every class is a pair.
    pub(super) fn smallest_open_class(&self) -> Option<u32> {
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
    pub(super) fn single_out(&mut self, graph: &Graph, a: Node, b: Node) -> u32 {
        let class = self.class_of[a as usize];
        self.split(graph, class, &[vec![a, b]])[0]
    }

    /// Refines until stable, starting with the given classes. Returns false as soon as the problems are told
    /// apart.
    pub(super) fn refine(&mut self, graph: &Graph, mut queue: Vec<u32>) -> bool {
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
