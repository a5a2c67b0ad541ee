//! Facts that two different problems do not share, under the best correspondence of objects that was found.

use super::graph::{Fact, Graph, Node, ProblemNodes};
use super::isomorphism::rounds;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// Rounds of refinement by which objects are compared.
const ROUNDS: usize = 4;
/// Rounds of refinement for compound facts: the depth to which conditions are told apart.
const DEPTH: usize = 16;
/// Most facts compared to improve a correspondence.
const LOOKS: usize = 20_000;

/// Most pairs of objects compared by their colour. Beyond them objects correspond by their names alone: time and memory grow with the
/// number of pairs.
const MOST_PAIRS: usize = 4_000_000;

/// Difference of two problems.
#[derive(Debug, Clone, PartialEq)]
pub struct ProblemDifference {
    /// Objects of the first that have no counterpart of their type.
    pub missing_objects: Vec<String>,
    /// Objects of the second that have none.
    pub extra_objects: Vec<String>,
    /// Facts of the first that the second lacks, in the first's names: `init (at a b)`, `goal (on b c)`.
    pub missing_facts: Vec<String>,
    /// Facts of the second that the first lacks, in the second's names.
    pub extra_facts: Vec<String>,
    /// The correspondence of objects used: (object of the first, object of the second).
    pub renaming: Vec<(String, String)>,
    /// True if counting facts of a kind proves that no correspondence leaves fewer facts over. False if that
    /// is unknown.
    pub minimal: bool,
}

/// Objects or facts of a kind that a summary names before it counts the rest.
const NAMED: usize = 3;

impl ProblemDifference {
    /// The difference in one line. `kinds` are words for missing objects, extra objects, missing facts and extra facts; three of each kind are
    /// named.
    pub fn summary(&self, kinds: [&str; 4]) -> String {
        let lists = [&self.missing_objects, &self.extra_objects, &self.missing_facts, &self.extra_facts];
        let part = |(kind, items): (&str, &Vec<String>)| match items.len() {
            0 => None,
            n if n > NAMED => Some(format!("{kind} {} and {} more", items[..NAMED].join(", "), n - NAMED)),
            _ => Some(format!("{kind} {}", items.join(", "))),
        };
        kinds.into_iter().zip(lists).filter_map(part).collect::<Vec<_>>().join("; ")
    }
}

/// Returns the difference under the best of two correspondences: objects of the same name, and objects of
/// similar colour.
pub(super) fn difference(graph: &Graph) -> ProblemDifference {
    let matcher = Matcher::new(graph);
    let by_name = matcher.improve(matcher.by_name());
    if matcher.colours[0].len().saturating_mul(matcher.colours[1].len()) > MOST_PAIRS {
        return matcher.tell(graph, &by_name);
    }
    let by_look = matcher.improve(matcher.by_look());
    let best = if matcher.count_shared_facts(&by_look) > matcher.count_shared_facts(&by_name) {
        by_look
    } else {
        by_name
    };
    matcher.tell(graph, &best)
}

/// By object of the first, its counterpart (both by index), `None` where it has none.
type Match = Vec<Option<usize>>;

/// Objects by their colour, in this order.
fn by_colour(objects: impl Iterator<Item = usize>, colours: &[u32]) -> FxHashMap<u32, Vec<usize>> {
    let mut lists: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
    for object in objects {
        lists.entry(colours[object]).or_default().push(object);
    }
    lists
}

struct Matcher<'g> {
    graph: &'g Graph,
    first: &'g ProblemNodes,
    second: &'g ProblemNodes,
    /// Colours of the objects.
    colours: [Vec<u32>; 2],
    /// Literals and numbers as a shape and the objects in it, in order of their places; by index into [`ProblemNodes::facts`].
    facts: [Vec<Option<Flat>>; 2],
    /// Facts of the first by object.
    of_object: Vec<Vec<usize>>,
    /// Facts of the second.
    known: FxHashSet<Flat>,
}

/// A literal or number without its objects, as a number that both sides share, and its objects by index.
type Flat = (u64, SmallVec<[usize; 4]>);

impl<'g> Matcher<'g> {
    fn new(graph: &'g Graph) -> Self {
        let colours =
            |side: &ProblemNodes| side.objects.iter().map(|(n, _)| graph.colours[*n as usize]).collect();
        let mut shapes = FxHashMap::default();
        let mut flat = |side: &ProblemNodes| -> Vec<Option<Flat>> {
            let index: FxHashMap<Node, usize> =
                side.objects.iter().enumerate().map(|(i, (n, _))| (*n, i)).collect();
            let one = |fact: &Fact| fact.flat.then(|| flat_fact(graph, fact.node, &index, &mut shapes));
            side.facts.iter().map(one).collect()
        };
        let facts = [flat(&graph.first), flat(&graph.second)];
        let mut of_object = vec![Vec::new(); graph.first.objects.len()];
        for (i, fact) in facts[0].iter().enumerate() {
            fact.iter().flat_map(|f| &f.1).for_each(|&o| of_object[o].push(i));
        }
        Self {
            graph,
            first: &graph.first,
            second: &graph.second,
            colours: [colours(&graph.first), colours(&graph.second)],
            known: facts[1].iter().flatten().cloned().collect(),
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

    /// Matches objects that refinement tells apart last, the most similar first.
    fn by_look(&self) -> Match {
        let rounds = rounds(self.graph, ROUNDS);
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

    /// Gives each object the first free one of its wishes, then any free object of its type.
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
        let mut free = by_colour((0..taken.len()).rev().filter(|&j| !taken[j]), &self.colours[1]);
        for (i, counterpart) in image.iter_mut().enumerate() {
            if counterpart.is_none() {
                *counterpart = free.get_mut(&self.colours[0][i]).and_then(Vec::pop);
            }
        }
        image
    }

    fn is_shared(&self, fact: usize, image: &Match) -> bool {
        let Some((shape, objects)) = &self.facts[0][fact] else { return false };
        let there: Option<SmallVec<[usize; 4]>> = objects.iter().map(|&o| image[o]).collect();
        there.is_some_and(|objects| self.known.contains(&(*shape, objects)))
    }

    fn count_shared_facts(&self, image: &Match) -> usize {
        (0..self.facts[0].len()).filter(|&f| self.is_shared(f, image)).count()
    }

    /// Exchanges counterparts of one type as long as more facts are shared.
    fn improve(&self, mut image: Match) -> Match {
        let objects = image.len();
        let alike = by_colour(0..objects, &self.colours[0]);
        let mut left = LOOKS;
        let mut better = true;
        while better {
            better = false;
            for i in 0..objects {
                let alike = &alike[&self.colours[0][i]];
                for &j in &alike[alike.partition_point(|&j| j <= i)..] {
                    if left == 0 {
                        return image;
                    }
                    if image[i] == image[j] {
                        continue;
                    }
                    left = left.saturating_sub(2 * (self.of_object[i].len() + self.of_object[j].len()) + 1);
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
        let of_j =
            self.of_object[j].iter().filter(|f| !self.facts[0][**f].iter().any(|flat| flat.1.contains(&i)));
        self.of_object[i].iter().chain(of_j).filter(|&&f| self.is_shared(f, image)).count()
    }

    fn tell(&self, graph: &Graph, image: &Match) -> ProblemDifference {
        let mut matched: FxHashSet<Flat> = FxHashSet::default();
        for (f, fact) in self.facts[0].iter().enumerate() {
            if let Some((shape, objects)) = fact
                && self.is_shared(f, image)
            {
                matched.insert((*shape, objects.iter().filter_map(|&o| image[o]).collect()));
            }
        }
        let [compound_first, compound_second] = self.compound(image);
        let missing = |f: &usize| !self.is_shared(*f, image) && !compound_first.contains(f);
        let extra = |f: &usize| match &self.facts[1][*f] {
            Some(flat) => !matched.contains(flat),
            None => !compound_second.contains(f),
        };
        let texts = |side: &ProblemNodes, left: Vec<usize>| -> Vec<String> {
            left.into_iter().map(|f| side.facts[f].text.clone()).collect()
        };
        let missing_facts = texts(self.first, (0..self.facts[0].len()).filter(missing).collect());
        let extra_facts = texts(self.second, (0..self.facts[1].len()).filter(extra).collect());
        let used: FxHashSet<usize> = image.iter().flatten().copied().collect();
        let alone = |i: &usize| image[*i].is_none();
        let name = |side: &ProblemNodes, i: usize| side.objects[i].1.clone();
        ProblemDifference {
            missing_objects: (0..image.len()).filter(alone).map(|i| name(self.first, i)).collect(),
            extra_objects: (0..self.second.objects.len())
                .filter(|j| !used.contains(j))
                .map(|j| name(self.second, j))
                .collect(),
            minimal: missing_facts.len() + extra_facts.len() == self.least(),
            missing_facts,
            extra_facts,
            renaming: graph.renaming(&self.nodes(image)),
        }
    }

    /// A correspondence by node.
    fn nodes(&self, image: &Match) -> Vec<Node> {
        let mut nodes = vec![Node::MAX; self.graph.split as usize];
        for (i, j) in image.iter().enumerate() {
            if let Some(j) = j {
                nodes[self.first.objects[i].0 as usize] = self.second.objects[*j].0;
            }
        }
        nodes
    }

    /// Returns the compound facts of each side that the other has too, under a correspondence: those that
    /// refinement of their parts cannot tell apart, if every object is told apart from all but its
    /// counterpart.
    fn compound(&self, image: &Match) -> [FxHashSet<usize>; 2] {
        let mut shared = [FxHashSet::default(), FxHashSet::default()];
        let compound =
            |side: usize| (0..self.facts[side].len()).filter(move |&f| self.facts[side][f].is_none());
        if compound(0).next().is_none() || compound(1).next().is_none() {
            return shared;
        }
        let beyond = self.graph.len() as u64;
        let mut colours: Vec<u64> = self.graph.colours.iter().map(|&c| beyond + u64::from(c)).collect();
        for (node, &other) in self.nodes(image).iter().enumerate() {
            if other != Node::MAX {
                colours[node] = node as u64;
                colours[other as usize] = node as u64;
            }
        }
        let roots: Vec<(usize, usize)> =
            [0, 1].into_iter().flat_map(|side| compound(side).map(move |f| (side, f))).collect();
        let sides = [self.first, self.second];
        let looks = self.looks(roots.iter().map(|&(side, f)| sides[side].facts[f].node), &colours);
        let mut theirs: FxHashMap<u64, Vec<usize>> = FxHashMap::default();
        for (&(side, f), &look) in roots.iter().zip(&looks) {
            if side == 1 {
                theirs.entry(look).or_default().push(f);
            }
        }
        for (&(side, f), look) in roots.iter().zip(&looks) {
            if side == 0
                && let Some(other) = theirs.get_mut(look).and_then(Vec::pop)
            {
                shared[0].insert(f);
                shared[1].insert(other);
            }
        }
        shared
    }

    /// Returns a hash of each node's structure below it.
    fn looks(&self, roots: impl Iterator<Item = Node>, colours: &[u64]) -> Vec<u64> {
        let cones: Vec<Vec<Node>> = roots.map(|root| self.below(root)).collect();
        let mut now: Vec<FxHashMap<Node, u64>> =
            cones.iter().map(|cone| cone.iter().map(|&n| (n, colours[n as usize])).collect()).collect();
        for _ in 0..DEPTH {
            let mut numbers: FxHashMap<(u64, Vec<(u32, u64)>), u64> = FxHashMap::default();
            let mut look = |cone: &FxHashMap<Node, u64>, node: Node| {
                let edges = self.graph.edges[node as usize].iter();
                let mut around: Vec<(u32, u64)> =
                    edges.filter_map(|(label, n)| Some((*label, *cone.get(n)?))).collect();
                around.sort_unstable();
                let fresh = numbers.len() as u64;
                *numbers.entry((cone[&node], around)).or_insert(fresh)
            };
            now = cones
                .iter()
                .zip(&now)
                .map(|(cone, now)| cone.iter().map(|&n| (n, look(now, n))).collect())
                .collect();
        }
        cones.iter().zip(&now).map(|(cone, now)| now[&cone[0]]).collect()
    }

    /// A node, first, and all that is below it.
    fn below(&self, root: Node) -> Vec<Node> {
        let mut seen: FxHashSet<Node> = FxHashSet::from_iter([root]);
        let mut cone = vec![root];
        let mut at = 0;
        while let Some(&node) = cone.get(at) {
            at += 1;
            // Edges to parts have even labels; odd ones lead to the parent.
            for &(label, next) in &self.graph.edges[node as usize] {
                if label % 2 == 0 && seen.insert(next) {
                    cone.push(next);
                }
            }
        }
        cone
    }

    /// Facts that no correspondence can match. By kind, those that one side has more of; where that is none and no object is
    /// without a counterpart, one of each side, since the problems are known to differ.
    fn least(&self) -> usize {
        let mut counts: FxHashMap<u64, i64> = FxHashMap::default();
        self.facts[0].iter().flatten().for_each(|(shape, _)| *counts.entry(*shape).or_default() += 1);
        self.facts[1].iter().flatten().for_each(|(shape, _)| *counts.entry(*shape).or_default() -= 1);
        let compound = |side: usize| self.facts[side].iter().filter(|f| f.is_none()).count();
        let uneven = counts.values().map(|c| c.unsigned_abs() as usize).sum::<usize>()
            + compound(0).abs_diff(compound(1));
        let mut objects = self.colours.clone();
        objects.iter_mut().for_each(|list| list.sort_unstable());
        if uneven == 0 && objects[0] == objects[1] { 2 } else { uneven }
    }
}

/// Returns a fact over objects alone, as numbers.
fn flat_fact(
    graph: &Graph,
    fact: Node,
    objects: &FxHashMap<Node, usize>,
    shapes: &mut FxHashMap<Vec<(u32, u32)>, u64>,
) -> Flat {
    let mut below: Vec<(u32, Node)> =
        graph.edges[fact as usize].iter().copied().filter(|(label, _)| label % 2 == 0).collect();
    below.sort_unstable();
    let mut shape = vec![(u32::MAX, graph.colours[fact as usize])];
    shape.extend(below.iter().map(|&(label, n)| (label, graph.colours[n as usize])));
    let fresh = shapes.len() as u64;
    let shape = *shapes.entry(shape).or_insert(fresh);
    (shape, below.iter().filter_map(|(_, n)| objects.get(n).copied()).collect())
}
