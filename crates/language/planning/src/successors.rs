//! Applicable operators of a state, found through a tree over preconditions instead of by trying each.

use crate::bits;
use crate::task::{Condition, Fact};
use rustc_hash::FxHashMap;

/// A tree whose edges are facts and whose nodes list operators. An operator hangs at the path of its positive preconditions,
/// the rarest first: few true facts then lead far.
#[derive(Debug, Clone)]
pub(crate) struct SuccessorGenerator {
    /// Child of the root by fact, or `NONE`.
    roots: Vec<u32>,
    nodes: Vec<Node>,
    child_facts: Vec<Fact>,
    child_nodes: Vec<u32>,
    operators: Vec<u32>,
    /// Per operator: negative and numeric conditions left to test.
    rest: Vec<Option<Box<Condition>>>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Node {
    operators: (u32, u32),
    children: (u32, u32),
}

const NONE: u32 = u32::MAX;

#[derive(Default)]
struct Building {
    operators: Vec<u32>,
    children: Vec<(Fact, u32)>,
    by_fact: FxHashMap<Fact, u32>,
}

impl SuccessorGenerator {
    /// The generator of operators with these preconditions.
    pub(crate) fn new<'a>(conditions: impl Iterator<Item = &'a Condition> + Clone, facts: usize) -> Self {
        let mut frequency = vec![0u32; facts];
        for condition in conditions.clone() {
            condition.positive.iter().for_each(|&f| frequency[f as usize] += 1);
        }
        let mut tree = vec![Building::default()];
        let mut rest = Vec::new();
        for (number, condition) in conditions.enumerate() {
            let mut path = condition.positive.to_vec();
            path.sort_by_key(|&f| (frequency[f as usize], f));
            let mut node = 0;
            for fact in path {
                let fresh = tree.len() as u32;
                let child = *tree[node].by_fact.entry(fact).or_insert(fresh);
                if child == fresh {
                    tree[node].children.push((fact, child));
                    tree.push(Building::default());
                }
                node = child as usize;
            }
            tree[node].operators.push(number as u32);
            let simple = condition.negative.is_empty() && condition.numeric.is_empty();
            rest.push(
                (!simple).then(|| Box::new(Condition { positive: Box::default(), ..condition.clone() })),
            );
        }
        Self::flatten(&tree, rest, facts)
    }

    fn flatten(tree: &[Building], rest: Vec<Option<Box<Condition>>>, facts: usize) -> Self {
        let mut generator = SuccessorGenerator {
            roots: vec![NONE; facts],
            nodes: Vec::with_capacity(tree.len()),
            child_facts: Vec::new(),
            child_nodes: Vec::new(),
            operators: Vec::new(),
            rest,
        };
        for building in tree {
            let operators = generator.operators.len() as u32;
            let children = generator.child_facts.len() as u32;
            generator.operators.extend(&building.operators);
            generator.child_facts.extend(building.children.iter().map(|c| c.0));
            generator.child_nodes.extend(building.children.iter().map(|c| c.1));
            generator.nodes.push(Node {
                operators: (operators, generator.operators.len() as u32),
                children: (children, generator.child_facts.len() as u32),
            });
        }
        for &(fact, node) in &tree[0].children {
            generator.roots[fact as usize] = node;
        }
        generator.nodes[0].children = (0, 0);
        generator
    }

    /// Calls `f` with each applicable operator.
    #[inline]
    pub(crate) fn for_each(
        &self,
        facts: &[u64],
        numbers: &[planforge_pddl::Number],
        f: &mut impl FnMut(u32),
    ) {
        self.visit(0, facts, numbers, f);
        for (i, &word) in facts.iter().enumerate() {
            let mut left = word;
            while left != 0 {
                let fact = (i as u32) << 6 | left.trailing_zeros();
                left &= left - 1;
                let node = self.roots[fact as usize];
                if node != NONE {
                    self.visit(node, facts, numbers, f);
                }
            }
        }
    }

    fn visit(&self, node: u32, facts: &[u64], numbers: &[planforge_pddl::Number], f: &mut impl FnMut(u32)) {
        let node = self.nodes[node as usize];
        for &operator in &self.operators[node.operators.0 as usize..node.operators.1 as usize] {
            match &self.rest[operator as usize] {
                Some(condition) if !condition.holds(facts, numbers) => {}
                _ => f(operator),
            }
        }
        for child in node.children.0 as usize..node.children.1 as usize {
            if bits::get(facts, self.child_facts[child]) {
                self.visit(self.child_nodes[child], facts, numbers, f);
            }
        }
    }
}
