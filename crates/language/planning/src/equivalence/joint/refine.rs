//! Pairs the schemas, parameters and objects of two readings by colour refinement.
//!
//! Nodes are objects, schemas, parameters and ground actions, and in the finest graph also facts. Colours spread along the edges for
//! some rounds, on both sides alike. Nodes that have a colour alone are a pair. Where readings differ, colours agree for the first
//! rounds only: pairs are then made at the latest round at which two nodes agree. A pair gets a colour that no longer changes, so a
//! difference does not spread beyond it, and refinement starts again. Among nodes of one colour the most similar names decide;
//! each such decision is counted as a choice.

use super::side::{Side, mix};
use super::{Mapping, SchemaPair};
use crate::resources::{ResourceLimits, ScopedLimits, StopReason, check};
use crate::task::{Condition, Fact};
use rustc_hash::FxHashMap;

/// Most rounds of one refinement.
const MOST_ROUNDS: usize = 24;
/// Most pairs of names whose similarity is computed for one ranking.
const MOST_RANKED: usize = 100_000;
/// Approximate bytes of a node: its colours in all rounds, and its edges.
const BYTES_PER_NODE: u64 = 8 * MOST_ROUNDS as u64 + 128;

/// What the colours are made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Evidence {
    /// The whole ground task, with facts that carry no names.
    Facts,
    /// The execution tree, and which ground actions make goals true.
    TreeAndGoal,
    /// The execution tree alone, without ground actions that do not occur in it.
    Tree,
    /// Objects of similar names are pairs; then the tree and goals.
    Names,
}

/// Order in which kinds of nodes are paired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PairingOrder {
    /// What refinement separates first, whatever its kind; decisions are made between objects first.
    Together,
    /// All schemas, then all parameters, then all objects.
    SchemasFirst,
}

/// Parameters of each schema that take part, by position.
pub(super) type Kept = Vec<Vec<usize>>;

/// One decision among nodes of one colour that is made otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Deviation {
    /// Zero-based index of the decision.
    pub(super) at: usize,
    /// The candidate that is taken, by similarity; 0 is the most similar.
    pub(super) take: usize,
}

/// Result of [`pair_nodes`].
pub(super) struct Paired {
    pub(super) mapping: Mapping,
    /// Number of candidates of each decision.
    pub(super) decisions: Vec<usize>,
}

/// A side as a coloured graph.
struct Graph {
    objects: usize,
    schemas: usize,
    /// Schema and position of each parameter.
    parameters: Vec<(usize, usize)>,
    seeds: Vec<u64>,
    /// By object, true if it occurs in no argument that takes part.
    idle: Vec<bool>,
    /// Ground action, parameter, object.
    arguments: Vec<[u32; 3]>,
    /// Node, schema, role.
    members: Vec<(u32, u32, u64)>,
    /// Node, fact, role.
    literals: Vec<(u32, u32, u64)>,
}

impl Graph {
    fn new(side: &Side, kept: &Kept, evidence: Evidence, depth: usize) -> Self {
        let (objects, schemas) = (side.objects().len(), side.by_schema.len());
        let parameters: Vec<(usize, usize)> =
            kept.iter().enumerate().flat_map(|(s, list)| list.iter().map(move |&k| (s, k))).collect();
        let place: FxHashMap<(usize, usize), usize> = parameters.iter().copied().zip(0..).collect();
        let mut graph = Graph {
            objects,
            schemas,
            seeds: vec![mix(1, 0); objects],
            idle: vec![true; objects],
            parameters,
            arguments: Vec::new(),
            members: Vec::new(),
            literals: Vec::new(),
        };
        graph.seeds.extend(kept.iter().map(|list| mix(2, list.len() as u64)));
        for (p, &(s, _)) in graph.parameters.iter().enumerate() {
            graph.members.push(((objects + schemas + p) as u32, (objects + s) as u32, 1));
        }
        graph.seeds.extend(graph.parameters.iter().map(|_| mix(3, 0)));
        let features = side.tree_features(depth);
        let goals = goal_flags(side);
        let mut node_of = vec![u32::MAX; side.task().actions.len()];
        for (s, list) in side.by_schema.iter().enumerate() {
            for &action in list {
                let node = graph.seeds.len() as u32;
                node_of[action as usize] = node;
                let args = &side.action(action).args;
                let mut distinct: Vec<u32> = kept[s].iter().map(|&k| args[k]).collect();
                let is_left_out = evidence == Evidence::Tree && features[action as usize] == 0;
                for &k in &kept[s] {
                    graph.idle[args[k] as usize] = false;
                    if !is_left_out {
                        let parameter = (objects + schemas + place[&(s, k)]) as u32;
                        graph.arguments.push([node, parameter, args[k]]);
                    }
                }
                distinct.sort_unstable();
                distinct.dedup();
                let goal = if evidence == Evidence::Tree { 0 } else { goals[action as usize] };
                graph.seeds.push(mix(mix(4, distinct.len() as u64), mix(features[action as usize], goal)));
                if !is_left_out {
                    graph.members.push((node, (objects + s) as u32, 2));
                }
            }
        }
        if evidence == Evidence::Facts {
            graph.add_facts(side, &node_of);
        }
        graph
    }

    /// Adds the relevant facts, with what makes them true and what depends on them.
    fn add_facts(&mut self, side: &Side, node_of: &[u32]) {
        let task = side.task();
        let first = self.seeds.len();
        let mut seeds = vec![mix(5, 0); task.facts.len()];
        task.init.iter().for_each(|&f| seeds[f as usize] = mix(seeds[f as usize], 1));
        if !task.goal_unreachable {
            task.goal.positive.iter().for_each(|&f| seeds[f as usize] = mix(seeds[f as usize], 2));
            task.goal.negative.iter().for_each(|&f| seeds[f as usize] = mix(seeds[f as usize], 3));
        }
        self.seeds.extend(seeds);
        let mut literals = std::mem::take(&mut self.literals);
        let mut push = |node: u32, facts: &[Fact], role: u64| {
            literals.extend(facts.iter().map(|&f| (node, (first + f as usize) as u32, role)));
        };
        let mut condition = |node: u32, condition: &Condition, role: u64| {
            push(node, &condition.positive, role);
            push(node, &condition.negative, role + 1);
        };
        for operator in &task.operators {
            let node = node_of[operator.action as usize];
            if node == u32::MAX {
                continue;
            }
            condition(node, &operator.precondition, 1);
            for effect in &operator.conditional {
                condition(node, &effect.condition, 5);
            }
        }
        let mut axioms = Vec::new();
        for axiom in &task.axioms {
            let node = (self.seeds.len() + axioms.len()) as u32;
            axioms.push(mix(6, u64::from(axiom.stratum)));
            condition(node, &axiom.condition, 9);
        }
        for (number, axiom) in task.axioms.iter().enumerate() {
            push((self.seeds.len() + number) as u32, &[axiom.head], 11);
        }
        for operator in &task.operators {
            let node = node_of[operator.action as usize];
            if node == u32::MAX {
                continue;
            }
            push(node, &operator.add, 3);
            push(node, &operator.delete, 4);
            for effect in &operator.conditional {
                push(node, &effect.add, 7);
                push(node, &effect.delete, 8);
            }
        }
        self.literals = literals;
        self.seeds.extend(axioms);
    }

    fn next(&self, now: &[u64], fixed: &[bool], sums: &mut Vec<u64>) -> Vec<u64> {
        sums.clear();
        sums.resize(now.len(), 0);
        let mut add = |node: u32, value: u64| {
            let sum = &mut sums[node as usize];
            *sum = sum.wrapping_add(value);
        };
        let at = |node: u32| now[node as usize];
        for &[action, parameter, object] in &self.arguments {
            add(action, mix(at(parameter), at(object)));
            add(parameter, mix(at(action), at(object)));
            add(object, mix(at(parameter), at(action)));
        }
        for &(node, schema, role) in &self.members {
            add(node, mix(role, at(schema)));
            add(schema, mix(role + 2, at(node)));
        }
        for &(node, fact, role) in &self.literals {
            add(node, mix(role, at(fact)));
            add(fact, mix(role + 16, at(node)));
        }
        let all = now.iter().zip(sums.iter()).zip(fixed);
        all.map(|((&colour, &sum), &fixed)| if fixed { colour } else { mix(colour, sum) }).collect()
    }
}

/// By ground action, how often it makes a part of the goal true and false.
fn goal_flags(side: &Side) -> Vec<u64> {
    let task = side.task();
    let mut flags = vec![0u64; task.actions.len()];
    if task.goal_unreachable {
        return flags;
    }
    let (wanted, unwanted) = (&task.goal.positive, &task.goal.negative);
    for operator in &task.operators {
        let conditional = operator.conditional.iter();
        let effects = std::iter::once((&operator.add, &operator.delete))
            .chain(conditional.map(|e| (&e.add, &e.delete)));
        for (add, delete) in effects {
            let count = |facts: &[Fact], list: &[Fact]| {
                facts.iter().filter(|f| list.binary_search(f).is_ok()).count() as u64
            };
            let flag = &mut flags[operator.action as usize];
            *flag += count(add, wanted) + count(delete, unwanted);
            *flag += (count(delete, wanted) + count(add, unwanted)) << 32;
        }
    }
    flags
}

/// State of the pairing.
struct Pairing<'g> {
    graphs: [Graph; 2],
    sides: [&'g Side; 2],
    fixed: [Vec<bool>; 2],
    /// By node of the first side, its partner.
    partner: Vec<Option<u32>>,
    /// By node of the second side, its partner.
    back: Vec<Option<u32>>,
    fresh: u64,
    decisions: Vec<usize>,
    deviation: Option<Deviation>,
}

/// The kinds of nodes that are paired, in this order.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Schema,
    Parameter,
    Object,
}

/// Pairs schemas, parameters and objects. `depth` is that of the execution tree; `choices` is reduced by each decision.
pub(super) fn pair_nodes(
    sides: [&Side; 2],
    kept: [&Kept; 2],
    (evidence, order): (Evidence, PairingOrder),
    depth: usize,
    deviation: Option<Deviation>,
    choices: &mut u64,
    resources: &mut dyn ResourceLimits,
) -> Result<Paired, StopReason> {
    let graphs = [0, 1].map(|i: usize| Graph::new(sides[i], kept[i], evidence, depth));
    let sizes = graphs.each_ref().map(|g| g.seeds.len());
    let mut scoped = ScopedLimits::new(resources);
    check(scoped.charge((sizes[0] + sizes[1]) as u64 * BYTES_PER_NODE))?;
    let resources = &mut scoped;
    let mut pairing = Pairing {
        fixed: sizes.map(|n| vec![false; n]),
        partner: vec![None; sizes[0]],
        back: vec![None; sizes[1]],
        graphs,
        sides,
        fresh: 0,
        decisions: Vec::new(),
        deviation,
    };
    if evidence == Evidence::Names {
        pairing.pair_similar_objects();
    }
    let all = [Kind::Schema, Kind::Parameter, Kind::Object];
    match order {
        PairingOrder::Together => while pairing.advance(&all, choices, resources)? {},
        PairingOrder::SchemasFirst => {
            for kind in all {
                while pairing.advance(&[kind], choices, resources)? {}
            }
        }
    }
    pairing.pair_idle_objects();
    Ok(Paired { mapping: pairing.mapping(), decisions: pairing.decisions })
}

impl Pairing<'_> {
    /// Makes the next pairs of these kinds; false if none is left.
    fn advance(
        &mut self,
        kinds: &[Kind],
        choices: &mut u64,
        resources: &mut dyn ResourceLimits,
    ) -> Result<bool, StopReason> {
        let open: Vec<[Vec<u32>; 2]> =
            kinds.iter().map(|&kind| [0, 1].map(|side: usize| self.open(kind, side))).collect();
        if open.iter().all(|sides| sides.iter().any(Vec::is_empty)) {
            return Ok(false);
        }
        let rounds = self.colours(resources)?;
        for colours in rounds.iter().rev() {
            let classes: Vec<Vec<[Vec<u32>; 2]>> =
                kinds.iter().zip(&open).map(|(&kind, open)| self.classes(kind, open, colours)).collect();
            let alone = |class: &&[Vec<u32>; 2]| class.iter().all(|list| list.len() == 1);
            let pairs: Vec<(u32, u32)> =
                classes.iter().flatten().filter(alone).map(|class| (class[0][0], class[1][0])).collect();
            if !pairs.is_empty() {
                pairs.into_iter().for_each(|(first, second)| self.pair(first, second));
                return Ok(true);
            }
            let smallest =
                kinds.iter().zip(&classes).rev().find_map(|(&kind, list)| Some((kind, list.first()?)));
            if let Some((kind, [first, second])) = smallest {
                if *choices == 0 {
                    return Err(StopReason::Nodes);
                }
                *choices -= 1;
                self.decide(kind, first, second);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Nodes of one kind and colour that both sides have, the smallest classes first.
    fn classes(&self, kind: Kind, open: &[Vec<u32>; 2], colours: &[Vec<u64>; 2]) -> Vec<[Vec<u32>; 2]> {
        let mut classes: FxHashMap<(u64, u64), [Vec<u32>; 2]> = FxHashMap::default();
        for (side, nodes) in open.iter().enumerate() {
            for &node in nodes {
                // A parameter belongs to the pair of its schema.
                let owner = self.owner(kind, side, node);
                classes.entry((owner, colours[side][node as usize])).or_default()[side].push(node);
            }
        }
        let mut common: Vec<[Vec<u32>; 2]> =
            classes.into_values().filter(|c| c.iter().all(|list| !list.is_empty())).collect();
        common.sort_unstable_by_key(|c| (c[0].len().max(c[1].len()), c[0].len() + c[1].len(), c[0][0]));
        common
    }

    /// Pairs the most similar names of a class, or what the deviation asks for. In very large classes, the first node of the first side
    /// is paired.
    fn decide(&mut self, kind: Kind, first: &[u32], second: &[u32]) {
        let number = self.decisions.len();
        let first = if first.len() * second.len() > MOST_RANKED { &first[..1] } else { first };
        let mut ranked: Vec<(u32, u32, u32)> = Vec::with_capacity(first.len() * second.len());
        for &a in first {
            for &b in second {
                ranked.push((self.similarity(kind, a, b), a, b));
            }
        }
        ranked.sort_unstable_by_key(|&(alike, a, b)| (std::cmp::Reverse(alike), a, b));
        let (_, a, mut b) = ranked[0];
        let others: Vec<u32> = ranked.iter().filter(|r| r.1 == a).map(|r| r.2).collect();
        if let Some(deviation) = self.deviation
            && deviation.at == number
        {
            b = others.get(deviation.take).copied().unwrap_or(b);
        }
        self.decisions.push(others.len());
        self.pair(a, b);
    }

    fn pair(&mut self, first: u32, second: u32) {
        self.fresh += 1;
        let colour = mix(7, self.fresh);
        for (side, node) in [first, second].into_iter().enumerate() {
            self.fixed[side][node as usize] = true;
            self.graphs[side].seeds[node as usize] = colour;
        }
        self.partner[first as usize] = Some(second);
        self.back[second as usize] = Some(first);
    }

    /// The colours of both sides by round.
    fn colours(&self, resources: &mut dyn ResourceLimits) -> Result<Vec<[Vec<u64>; 2]>, StopReason> {
        let mut rounds = vec![self.graphs.each_ref().map(|g| g.seeds.clone())];
        let (mut sums, mut counts) = (Vec::new(), [0, 0]);
        while rounds.len() <= MOST_ROUNDS {
            check(resources.poll())?;
            let now = &rounds[rounds.len() - 1];
            let next = [0, 1].map(|i: usize| self.graphs[i].next(&now[i], &self.fixed[i], &mut sums));
            let fresh = next.each_ref().map(|colours| {
                let mut sorted = colours.clone();
                sorted.sort_unstable();
                sorted.dedup();
                sorted.len()
            });
            rounds.push(next);
            if fresh == counts {
                break;
            }
            counts = fresh;
        }
        Ok(rounds)
    }

    /// Nodes of the kind without a partner.
    fn open(&self, kind: Kind, side: usize) -> Vec<u32> {
        let graph = &self.graphs[side];
        let range = match kind {
            Kind::Object => 0..graph.objects,
            Kind::Schema => graph.objects..graph.objects + graph.schemas,
            Kind::Parameter => {
                let first = graph.objects + graph.schemas;
                first..first + graph.parameters.len()
            }
        };
        let is_idle = |n: usize| kind == Kind::Object && graph.idle[n];
        let open = range.filter(|&n| !self.fixed[side][n] && !is_idle(n));
        open.map(|n| n as u32).collect()
    }

    /// A number that only nodes which may be partners share.
    fn owner(&self, kind: Kind, side: usize, node: u32) -> u64 {
        if kind != Kind::Parameter {
            return 0;
        }
        let graph = &self.graphs[side];
        let (schema, _) = graph.parameters[node as usize - graph.objects - graph.schemas];
        let schema_node = (graph.objects + schema) as u32;
        let first = if side == 0 {
            self.partner[schema_node as usize].map(|_| schema_node)
        } else {
            self.back[schema_node as usize]
        };
        first.map_or(1 + side as u64, |node| 3 + u64::from(node))
    }

    fn similarity(&self, kind: Kind, first: u32, second: u32) -> u32 {
        let name = |number: usize, node: u32| -> &str {
            let (graph, side) = (&self.graphs[number], self.sides[number]);
            match kind {
                Kind::Object => &side.objects()[node as usize],
                Kind::Schema => &side.schemas[node as usize - graph.objects].name,
                Kind::Parameter => {
                    let (schema, place) = graph.parameters[node as usize - graph.objects - graph.schemas];
                    &side.schemas[schema].parameters[place]
                }
            }
        };
        similarity(name(0, first), name(1, second))
    }

    /// Pairs objects whose names are alike enough, the most similar first.
    fn pair_similar_objects(&mut self) {
        let open = [0, 1].map(|side: usize| self.open(Kind::Object, side));
        self.pair_by_name(&open);
    }

    /// Pairs objects that no ground action names by their names.
    fn pair_idle_objects(&mut self) {
        let idle = [0, 1].map(|side: usize| {
            let idle = &self.graphs[side].idle;
            let open = (0..idle.len()).filter(|&o| idle[o] && !self.fixed[side][o]);
            open.map(|o| o as u32).collect::<Vec<u32>>()
        });
        self.pair_by_name(&idle);
    }

    /// Pairs objects of similar names; of very many objects, only those of equal names.
    fn pair_by_name(&mut self, open: &[Vec<u32>; 2]) {
        if open[0].len() * open[1].len() > MOST_RANKED {
            let name = |side: usize, object: u32| normal_name(&self.sides[side].objects()[object as usize]);
            let mut second: FxHashMap<String, u32> = open[1].iter().map(|&b| (name(1, b), b)).collect();
            let equal = open[0].iter().filter_map(|&a| Some((a, second.remove(&name(0, a))?)));
            let pairs: Vec<(u32, u32)> = equal.collect();
            pairs.into_iter().for_each(|(first, second)| self.pair(first, second));
            return;
        }
        let mut ranked: Vec<(u32, u32, u32)> = Vec::new();
        for &a in &open[0] {
            for &b in &open[1] {
                let alike = self.similarity(Kind::Object, a, b);
                if alike >= ALIKE {
                    ranked.push((alike, a, b));
                }
            }
        }
        ranked.sort_unstable_by_key(|&(alike, a, b)| (std::cmp::Reverse(alike), a, b));
        for (_, a, b) in ranked {
            if !self.fixed[0][a as usize] && !self.fixed[1][b as usize] {
                self.pair(a, b);
            }
        }
    }

    fn mapping(&self) -> Mapping {
        let [first, second] = &self.graphs;
        let objects = self.partner[..first.objects].to_vec();
        let mut schemas: Vec<Option<SchemaPair>> = (0..first.schemas)
            .map(|s| {
                let node = self.partner[first.objects + s]?;
                Some(SchemaPair { second: node as usize - second.objects, parameters: Vec::new() })
            })
            .collect();
        for (p, &(schema, place)) in first.parameters.iter().enumerate() {
            if let Some(partner) = self.partner[first.objects + first.schemas + p]
                && let Some(pair) = &mut schemas[schema]
            {
                let other = second.parameters[partner as usize - second.objects - second.schemas].1;
                pair.parameters.push((place, other));
            }
        }
        Mapping { objects, schemas }
    }
}

/// Names at least this similar are taken for names of one object; 1000 is the same name.
const ALIKE: u32 = 800;

/// A name in lower case, with hyphens for underscores.
fn normal_name(name: &str) -> String {
    name.to_lowercase().replace('_', "-")
}

/// Similarity of two names from 0 to 1000. Different numbers at the end make names less similar.
pub(super) fn similarity(a: &str, b: &str) -> u32 {
    let (a, b) = (normal_name(a), normal_name(b));
    if a == b {
        return 1000;
    }
    let number = |name: &str| -> String {
        let digits: String = name.chars().rev().take_while(char::is_ascii_digit).collect();
        digits.chars().rev().collect()
    };
    let alike = (strsim::jaro_winkler(&a, &b).max(strsim::normalized_levenshtein(&a, &b)) * 799.0) as u32;
    match (number(&a), number(&b)) {
        (x, y) if x.is_empty() && y.is_empty() => (alike + 150).min(999),
        (x, y) if x == y => (alike + 200).min(999),
        _ => alike,
    }
}
