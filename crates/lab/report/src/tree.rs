//! The lineage of a task's candidates as a tree, written column by column: ten thousand of them are some hundred kilobytes, and report.js
//! draws only the lines that are in sight.

use crate::candidates::{Node, own};
use crate::documents::Tree;
use crate::outline::{RoundOutline, Selection, natural, round_of, stage_label};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The nodes of a task in the order of the tree.
pub(crate) struct Laid {
    pub(crate) tree: Tree,
    at: HashMap<String, usize>,
}

impl Laid {
    /// The place of a candidate.
    pub(crate) fn place(&self, path: &str) -> Option<usize> {
        self.at.get(path).copied()
    }
}

/// Orders nodes, parents before their children and children by round and sample, and stores them column by
/// column.
pub(crate) fn lay(task: &str, mut nodes: Vec<Node>) -> Laid {
    nodes.sort_by(|a, b| natural(&a.path, &b.path));
    let parents = parents(task, &nodes);
    let order = order(&nodes, &parents);
    let mut place_of = vec![0; nodes.len()];
    for (place, index) in order.iter().enumerate() {
        place_of[*index] = place;
    }
    let mut tree = Tree::default();
    let mut labels: HashMap<String, u32> = HashMap::new();
    let mut at = HashMap::new();
    for (place, index) in order.iter().enumerate() {
        let node = &mut nodes[*index];
        let label = *labels.entry(node.label.clone()).or_insert_with(|| {
            tree.labels.push(node.label.clone());
            u32::try_from(tree.labels.len() - 1).unwrap_or(u32::MAX)
        });
        tree.label.push(label);
        tree.sample.push(node.sample);
        tree.parent.push(parents[*index].map_or(-1, |parent| signed(place_of[parent])));
        if parents[*index].is_none()
            && let Some((above, _)) = own(task, &node.path).1.rsplit_once('.')
        {
            tree.start.insert(place, above.to_owned());
        }
        tree.page.push(node.page.map_or(-1, i64::from));
        if let Some(failure) = node.failure.take() {
            tree.failed.insert(place, failure);
        }
        if !node.calls.is_empty() {
            tree.failed_calls.insert(place, std::mem::take(&mut node.calls));
        }
        if let Some(planned) = node.planned {
            tree.planned.insert(place, planned.to_owned());
        }
        at.insert(node.path.clone(), place);
    }
    judgements(&mut tree, &nodes, &order);
    Laid { tree, at }
}

fn signed(place: usize) -> i64 {
    i64::try_from(place).unwrap_or(i64::MAX)
}

/// The assessments of stages, as columns over all nodes.
fn judgements(tree: &mut Tree, nodes: &[Node], order: &[usize]) {
    let (mut stages, mut metrics) = (BTreeMap::new(), BTreeMap::new());
    for node in nodes {
        for stage in node.decisions.keys() {
            stages.entry(stage.clone()).or_insert_with(String::new);
        }
        for metric in node.metrics.keys() {
            metrics.entry(metric.clone()).or_insert_with(Vec::new);
        }
    }
    for node in order.iter().map(|index| &nodes[*index]) {
        for (stage, column) in &mut stages {
            column.push(match node.decisions.get(stage) {
                None => '-',
                Some(&"not-comparable") => 'c',
                Some(decision) => decision.chars().next().unwrap_or('-'),
            });
        }
        for (metric, column) in &mut metrics {
            column.push(node.metrics.get(metric).copied().filter(|value| value.is_finite()));
        }
    }
    (tree.decisions, tree.metrics) = (stages, metrics);
}

/// By node, the index of its parent. That of a sample that broke is the candidate of its indices that was made last before it.
fn parents(task: &str, nodes: &[Node]) -> Vec<Option<usize>> {
    let mut by_path = HashMap::new();
    let mut by_indices: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, node) in nodes.iter().enumerate().filter(|(_, node)| node.failure.is_none()) {
        by_path.insert(node.path.as_str(), index);
        by_indices.entry(own(task, &node.path).1).or_default().push(index);
    }
    let guessed = |node: &Node| {
        let (above, _) = own(task, &node.path).1.rsplit_once('.')?;
        let round = round_of(&node.label);
        let before = |index: &&usize| {
            let made = &nodes[**index].label;
            stage_label(made) != stage_label(&node.label) || round_of(made) < round
        };
        let fitting = by_indices.get(above)?.iter().filter(before);
        fitting.max_by_key(|index| round_of(&nodes[**index].label)).copied()
    };
    nodes
        .iter()
        .map(|node| match &node.parent {
            Some(path) => by_path.get(path.as_str()).copied(),
            None if node.failure.is_some() => guessed(node),
            None => None,
        })
        .collect()
}

/// Indices of nodes, parents before children.
fn order(nodes: &[Node], parents: &[Option<usize>]) -> Vec<usize> {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    let mut roots = Vec::new();
    for (index, parent) in parents.iter().enumerate() {
        match parent {
            Some(parent) => children[*parent].push(index),
            None => roots.push(index),
        }
    }
    let by_round = |index: &usize| (round_of(&nodes[*index].label), *index);
    roots.sort_by_key(by_round);
    let mut order = Vec::with_capacity(nodes.len());
    let mut open: Vec<usize> = roots.into_iter().rev().collect();
    while let Some(index) = open.pop() {
        order.push(index);
        let mut own = std::mem::take(&mut children[index]);
        own.sort_by_key(by_round);
        open.extend(own.into_iter().rev());
    }
    order
}

impl Laid {
    /// Marks what stages kept, dropped and called the best.
    pub(crate) fn decide(&mut self, selections: &[Selection], rounds: &[RoundOutline]) {
        for selection in selections {
            let kept: Vec<usize> = selection.kept.iter().filter_map(|path| self.place(path)).collect();
            // Who else was there is not recorded. Those that the same stages made as the ones that were kept were.
            let alike: HashSet<String> =
                kept.iter().map(|place| stage_label(self.label(*place)).to_owned()).collect();
            let dropped = (0..self.tree.label.len()).filter(|place| {
                alike.contains(stage_label(self.label(*place)))
                    && !kept.contains(place)
                    && !self.tree.failed.contains_key(place)
            });
            let dropped = dropped.collect();
            self.tree.dropped.insert(selection.stage.clone(), dropped);
            self.tree.kept.insert(selection.stage.clone(), kept);
            let by = selection.groups.first().map(|group| group.by.clone());
            self.tree.by = by.or_else(|| self.tree.by.take());
        }
        let best = rounds.iter().filter_map(|round| self.place(round.best.as_ref()?));
        self.tree.best = best.collect();
        self.tree.best.sort_unstable();
        self.tree.best.dedup();
    }

    fn label(&self, place: usize) -> &str {
        self.tree.label.get(place).and_then(|label| self.tree.labels.get(*label as usize)).map_or("", |l| l)
    }
}
