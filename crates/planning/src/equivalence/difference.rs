//! What two problems that are not the same do not share, under the best correspondence of objects that was found.

use super::graph::{Graph, Node, Side};
use super::search::rounds;
use rustc_hash::{FxHashMap, FxHashSet};

/// Rounds of refinement by which objects are compared.
const ROUNDS: usize = 4;
/// Most exchanges that are tried to better a correspondence.
const EXCHANGES: usize = 20_000;

/// How two problems differ.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// Objects of the first that have no counterpart of their type.
    pub missing_objects: Vec<String>,
    /// Objects of the second that have none.
    pub extra_objects: Vec<String>,
    /// Facts of the first that the second lacks, in the first's names: `init (at a b)`, `goal (on b c)`.
    pub missing_facts: Vec<String>,
    /// Facts of the second that the first lacks, in the second's names.
    pub extra_facts: Vec<String>,
    /// The correspondence it is told under: (object of the first, object of the second).
    pub renaming: Vec<(String, String)>,
    /// Whether no correspondence leaves fewer facts over. Shown by counting facts of a kind; where that does not show it, false.
    pub minimal: bool,
}

/// The difference under the best of two correspondences: objects of the same name, and objects that look alike.
pub(super) fn difference(graph: &Graph) -> Difference {
    let matcher = Matcher::new(graph);
    let by_name = matcher.improve(matcher.by_name());
    let by_look = matcher.improve(matcher.by_look(graph));
    let best = if matcher.shared(&by_look) > matcher.shared(&by_name) { by_look } else { by_name };
    matcher.tell(graph, &best)
}

/// By object of the first, its counterpart (both by index), `None` where it has none.
type Match = Vec<Option<usize>>;

struct Matcher<'g> {
    first: &'g Side,
    second: &'g Side,
    /// Colours of the objects.
    colours: [Vec<u32>; 2],
    /// Facts as a shape and the objects in it, in order of their places.
    facts: [Vec<(u64, Vec<usize>)>; 2],
    /// Facts of the first by object.
    of_object: Vec<Vec<usize>>,
    /// Facts of the second.
    known: FxHashSet<(u64, Vec<usize>)>,
}

impl<'g> Matcher<'g> {
    fn new(graph: &'g Graph) -> Self {
        let colours = |side: &Side| side.objects.iter().map(|(n, _)| graph.colours[*n as usize]).collect();
        let mut shapes = FxHashMap::default();
        let mut shape = |side: &Side| -> Vec<(u64, Vec<usize>)> {
            let index: FxHashMap<Node, usize> =
                side.objects.iter().enumerate().map(|(i, (n, _))| (*n, i)).collect();
            side.facts.iter().map(|fact| shape_of(graph, fact.node, &index, &mut shapes)).collect()
        };
        let facts = [shape(&graph.first), shape(&graph.second)];
        let mut of_object = vec![Vec::new(); graph.first.objects.len()];
        for (i, (_, objects)) in facts[0].iter().enumerate() {
            objects.iter().for_each(|&o| of_object[o].push(i));
        }
        Self {
            first: &graph.first,
            second: &graph.second,
            colours: [colours(&graph.first), colours(&graph.second)],
            known: facts[1].iter().cloned().collect(),
            facts,
            of_object,
        }
    }

    /// Objects of the same name and type; the rest of a type in order.
    fn by_name(&self) -> Match {
        let names: FxHashMap<String, usize> =
            self.second.objects.iter().enumerate().map(|(i, (_, name))| (name.to_lowercase(), i)).collect();
        let wish = |i: usize| {
            names.get(&self.first.objects[i].1.to_lowercase()).copied().into_iter().collect::<Vec<_>>()
        };
        self.fill((0..self.colours[0].len()).map(|i| (i, wish(i))).collect())
    }

    /// Objects that refinement tells apart last, the most alike first.
    fn by_look(&self, graph: &Graph) -> Match {
        let rounds = rounds(graph, ROUNDS);
        let alike = |i: usize, j: usize| {
            let (a, b) = (self.first.objects[i].0 as usize, self.second.objects[j].0 as usize);
            rounds.iter().take_while(|round| round[a] == round[b]).count()
        };
        let mut wishes: Vec<(usize, Vec<usize>)> = (0..self.colours[0].len())
            .map(|i| {
                let mut all: Vec<usize> = (0..self.colours[1].len())
                    .filter(|&j| self.colours[0][i] == self.colours[1][j])
                    .collect();
                all.sort_by_key(|&j| std::cmp::Reverse(alike(i, j)));
                (i, all)
            })
            .collect();
        wishes.sort_by_key(|(i, wishes)| std::cmp::Reverse(wishes.first().map_or(0, |&j| alike(*i, j))));
        self.fill(wishes)
    }

    /// Grants each object the first of its wishes that is free, then whatever of its type is left.
    fn fill(&self, wishes: Vec<(usize, Vec<usize>)>) -> Match {
        let mut taken = vec![false; self.colours[1].len()];
        let mut image = vec![None; self.colours[0].len()];
        for (i, wishes) in &wishes {
            let free = |&&j: &&usize| !taken[j] && self.colours[0][*i] == self.colours[1][j];
            if let Some(&j) = wishes.iter().find(free) {
                taken[j] = true;
                image[*i] = Some(j);
            }
        }
        for (i, counterpart) in image.iter_mut().enumerate() {
            let free = |&j: &usize| !taken[j] && self.colours[0][i] == self.colours[1][j];
            if counterpart.is_none()
                && let Some(j) = (0..taken.len()).find(free)
            {
                taken[j] = true;
                *counterpart = Some(j);
            }
        }
        image
    }

    fn is_shared(&self, fact: usize, image: &Match) -> bool {
        let (shape, objects) = &self.facts[0][fact];
        let there: Option<Vec<usize>> = objects.iter().map(|&o| image[o]).collect();
        there.is_some_and(|objects| self.known.contains(&(*shape, objects)))
    }

    fn shared(&self, image: &Match) -> usize {
        (0..self.facts[0].len()).filter(|&f| self.is_shared(f, image)).count()
    }

    /// Exchanges counterparts of one type as long as more facts are shared.
    fn improve(&self, mut image: Match) -> Match {
        let objects = image.len();
        let mut left = EXCHANGES;
        let mut better = true;
        while better && left > 0 {
            better = false;
            for i in 0..objects {
                for j in i + 1..objects {
                    if self.colours[0][i] != self.colours[0][j] || image[i] == image[j] || left == 0 {
                        continue;
                    }
                    left -= 1;
                    let before = self.shared_of(i, j, &image);
                    image.swap(i, j);
                    if self.shared_of(i, j, &image) > before {
                        better = true;
                    } else {
                        image.swap(i, j);
                    }
                }
            }
        }
        image
    }

    fn shared_of(&self, i: usize, j: usize, image: &Match) -> usize {
        let of_j = self.of_object[j].iter().filter(|f| !self.facts[0][**f].1.contains(&i));
        self.of_object[i].iter().chain(of_j).filter(|&&f| self.is_shared(f, image)).count()
    }

    fn tell(&self, graph: &Graph, image: &Match) -> Difference {
        let mut matched: FxHashSet<(u64, Vec<usize>)> = FxHashSet::default();
        let mut missing_facts = Vec::new();
        for (f, (shape, objects)) in self.facts[0].iter().enumerate() {
            if self.is_shared(f, image) {
                matched.insert((*shape, objects.iter().filter_map(|&o| image[o]).collect()));
            } else {
                missing_facts.push(self.first.facts[f].text.clone());
            }
        }
        let extra_facts: Vec<String> = self.facts[1]
            .iter()
            .zip(&self.second.facts)
            .filter(|(fact, _)| !matched.contains(fact))
            .map(|(_, fact)| fact.text.clone())
            .collect();
        let used: FxHashSet<usize> = image.iter().flatten().copied().collect();
        let alone = |i: &usize| image[*i].is_none();
        let name = |side: &Side, i: usize| side.objects[i].1.clone();
        let nodes: Vec<Node> = {
            let mut nodes = vec![Node::MAX; graph.split as usize];
            for (i, j) in image.iter().enumerate() {
                if let Some(j) = j {
                    nodes[self.first.objects[i].0 as usize] = self.second.objects[*j].0;
                }
            }
            nodes
        };
        Difference {
            missing_objects: (0..image.len()).filter(alone).map(|i| name(self.first, i)).collect(),
            extra_objects: (0..self.second.objects.len())
                .filter(|j| !used.contains(j))
                .map(|j| name(self.second, j))
                .collect(),
            minimal: missing_facts.len() + extra_facts.len() == self.least(),
            missing_facts,
            extra_facts,
            renaming: graph.renaming(&nodes),
        }
    }

    /// Facts that no correspondence can match: by kind, those that one side has more of.
    fn least(&self) -> usize {
        let mut counts: FxHashMap<u64, i64> = FxHashMap::default();
        self.facts[0].iter().for_each(|(shape, _)| *counts.entry(*shape).or_default() += 1);
        self.facts[1].iter().for_each(|(shape, _)| *counts.entry(*shape).or_default() -= 1);
        counts.values().map(|c| c.unsigned_abs() as usize).sum()
    }
}

/// A fact without its objects, as a number that both sides share, and its objects in the order of their places.
fn shape_of(
    graph: &Graph,
    fact: Node,
    objects: &FxHashMap<Node, usize>,
    shapes: &mut FxHashMap<Vec<u64>, u64>,
) -> (u64, Vec<usize>) {
    let (mut shape, mut found) = (Vec::new(), Vec::new());
    let mut stack = vec![fact];
    while let Some(node) = stack.pop() {
        if let Some(&object) = objects.get(&node) {
            shape.push(u64::MAX);
            found.push(object);
            continue;
        }
        shape.push(u64::from(graph.colours[node as usize]));
        // Edges down have even labels; an odd one leads to what the node stands in.
        let mut below: Vec<(u32, Node)> =
            graph.edges[node as usize].iter().copied().filter(|(label, _)| label % 2 == 0).collect();
        below.sort_unstable();
        shape.push(below.len() as u64);
        stack.extend(below.into_iter().rev().map(|(_, n)| n));
    }
    let fresh = shapes.len() as u64;
    (*shapes.entry(shape).or_insert(fresh), found)
}
