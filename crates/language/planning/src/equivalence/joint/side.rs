//! One reading as a ground task, and the first layers of its execution tree.
//!
//! The tree is described without names: the hash of a node is made of the hashes of its successors and of whether the goal holds. Two
//! readings that are the same under any renaming have equal hashes at the root, for every depth.

use super::JointLimits;
use crate::equivalence::ComparedSide;
use crate::equivalence::domains::reduced_task;
use crate::equivalence::domains::{ComparableModel, EquivalenceLimits, NotCompared, comparable};
use crate::resources::{ResourceLimits, StopReason, check};
use crate::simulate::{Simulator, State};
use crate::task::{GroundAction, GroundTask};
use crate::walk::{Model, ModelError};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Layers of the execution tree that are looked at.
const MOST_LAYERS: usize = 12;
/// Approximate bytes of an explored state with its edges.
const BYTES_PER_STATE: u64 = 512;

/// One reading, ready to be compared.
pub(super) struct Side {
    model: Arc<ComparableModel>,
    /// Action schemas, by number.
    pub(super) schemas: Vec<SchemaNames>,
    /// Without the facts that nothing depends on.
    pub(super) simulator: Simulator,
    /// Ground actions by schema; those of a definition that an earlier one of the same name hides are left out.
    pub(super) by_schema: Vec<Vec<u32>>,
    layers: Vec<Layer>,
}

/// An action schema in names.
#[derive(Debug, Clone)]
pub(super) struct SchemaNames {
    pub(super) name: String,
    /// Parameters, with question marks.
    pub(super) parameters: Vec<String>,
}

/// The states that sequences of one length lead to.
struct Layer {
    /// Number of sequences that lead to the state, modulo 2^64.
    count: Vec<u64>,
    goal: Vec<bool>,
    /// State, ground action, and state of the next layer.
    edges: Vec<(u32, u32, u32)>,
}

impl Side {
    pub(super) fn new(
        side: ComparedSide,
        reading: super::Reading<'_>,
        limits: &JointLimits,
        resources: &mut dyn ResourceLimits,
    ) -> Result<Self, NotCompared> {
        let options = EquivalenceLimits {
            semantics: limits.semantics,
            ground: limits.ground,
            ..EquivalenceLimits::default()
        };
        let model = comparable(side, reading.domain, reading.problem, &options, resources)?;
        let stopped = |reason| NotCompared { side, error: ModelError::Limit(reason) };
        let Some(full) = model.model().simulator() else { return Err(stopped(StopReason::Grounding)) };
        let simulator = Simulator::new(Arc::new(reduced_task(full.task())));
        let names = model.model().schema_names();
        let mut by_schema = vec![Vec::new(); names.len()];
        for (action, ground) in simulator.task().actions.iter().enumerate() {
            let schema = ground.action as usize;
            if model.model().find_schema(&names[schema]) == Some(ground.action) {
                by_schema[schema].push(action as u32);
            }
        }
        let layers = explore(&simulator, limits.max_explored, resources).map_err(stopped)?;
        let lifted = model.model().lifted();
        let schemas = names.iter().zip(&lifted.schemas).map(|(name, schema)| SchemaNames {
            name: name.clone(),
            parameters: schema.variables.iter().map(|variable| variable.name.clone()).collect(),
        });
        let schemas = schemas.collect();
        Ok(Side { model: Arc::new(model), schemas, simulator, by_schema, layers })
    }

    /// The side with other schemas and ground actions. Numbers of schemas are then not those of the model.
    pub(super) fn with_actions(
        &self,
        schemas: Vec<SchemaNames>,
        by_schema: Vec<Vec<u32>>,
        task: &GroundTask,
        max_explored: u64,
        resources: &mut dyn ResourceLimits,
    ) -> Result<Self, StopReason> {
        let simulator = Simulator::new(Arc::new(reduced_task(task)));
        let layers = explore(&simulator, max_explored, resources)?;
        Ok(Side { model: Arc::clone(&self.model), schemas, simulator, by_schema, layers })
    }

    pub(super) fn model(&self) -> &Model {
        self.model.model()
    }

    pub(super) fn task(&self) -> &GroundTask {
        self.simulator.task()
    }

    pub(super) fn action(&self, action: u32) -> &GroundAction {
        &self.task().actions[action as usize]
    }

    pub(super) fn objects(&self) -> &[String] {
        &self.model().lifted().symbols.objects
    }

    pub(super) fn arity(&self, schema: usize) -> usize {
        self.schemas[schema].parameters.len()
    }

    /// Longest sequences that were all executed.
    pub(super) fn depth(&self) -> usize {
        self.layers.len() - 1
    }

    /// Hash of the execution tree to this depth.
    pub(super) fn tree_hash(&self, depth: usize) -> u64 {
        self.node_hashes(depth)[0][0]
    }

    /// By layer and state, the hash of the tree below it.
    fn node_hashes(&self, depth: usize) -> Vec<Vec<u64>> {
        let mut hashes: Vec<Vec<u64>> = Vec::with_capacity(depth + 1);
        for (below, layer) in self.layers[..=depth].iter().rev().enumerate() {
            let mut sums = vec![0u64; layer.count.len()];
            if below > 0 {
                let next = &hashes[below - 1];
                for &(state, _, to) in &layer.edges {
                    let sum = &mut sums[state as usize];
                    *sum = sum.wrapping_add(mix(1, next[to as usize]));
                }
            }
            let goals = layer.goal.iter();
            hashes.push(
                sums.into_iter().zip(goals).map(|(sum, &goal)| mix(2 + u64::from(goal), sum)).collect(),
            );
        }
        hashes.reverse();
        hashes
    }

    /// By ground action, a hash of the places that it has in the execution tree to this depth.
    pub(super) fn tree_features(&self, depth: usize) -> Vec<u64> {
        let hashes = self.node_hashes(depth);
        let mut features = vec![0u64; self.task().actions.len()];
        for (place, layer) in self.layers[..depth].iter().enumerate() {
            for &(state, action, to) in &layer.edges {
                let times = mix(place as u64, hashes[place + 1][to as usize]);
                let feature = &mut features[action as usize];
                *feature = feature.wrapping_add(layer.count[state as usize].wrapping_mul(times));
            }
        }
        features
    }

    /// Returns true if no explored state allows two ground actions of the schema that differ in the other parameters alone.
    pub(super) fn is_determined_by_state(&self, schema: usize, kept: &[usize]) -> bool {
        let mut seen: FxHashMap<Vec<u32>, u32> = FxHashMap::default();
        let mut state_seen = u32::MAX;
        for layer in &self.layers {
            for &(state, action, _) in &layer.edges {
                let ground = self.action(action);
                if ground.action as usize != schema {
                    continue;
                }
                if state != state_seen {
                    seen.clear();
                    state_seen = state;
                }
                let key = kept.iter().map(|&k| ground.args[k]).collect();
                if seen.insert(key, action).is_some_and(|other| other != action) {
                    return false;
                }
            }
            state_seen = u32::MAX;
        }
        true
    }

    /// Number of combinations of values that the kept parameters have in the ground actions of the schema.
    pub(super) fn count_values(&self, schema: usize, kept: &[usize]) -> usize {
        let key = |&a: &u32| kept.iter().map(|&k| self.action(a).args[k]).collect::<Vec<u32>>();
        self.by_schema[schema].iter().map(key).collect::<rustc_hash::FxHashSet<Vec<u32>>>().len()
    }
}

/// Executes all sequences up to a length; layers beyond `max_steps` executed steps are left out, but never the first.
fn explore(
    simulator: &Simulator,
    max_steps: u64,
    resources: &mut dyn ResourceLimits,
) -> Result<Vec<Layer>, StopReason> {
    let initial = simulator.initial();
    let mut layers =
        vec![Layer { count: vec![1], goal: vec![simulator.is_goal(&initial)], edges: Vec::new() }];
    let mut states = vec![initial];
    let (mut steps, mut applicable) = (0, Vec::new());
    while layers.len() <= MOST_LAYERS {
        let mut next: Vec<State> = Vec::new();
        let mut known: FxHashMap<Vec<u64>, u32> = FxHashMap::default();
        let mut layer = Layer { count: Vec::new(), goal: Vec::new(), edges: Vec::new() };
        let mut edges = Vec::new();
        let before = layers.len() - 1;
        for (number, state) in states.iter().enumerate() {
            check(resources.poll())?;
            simulator.applicable_into(state, &mut applicable);
            steps += applicable.len() as u64;
            if before > 0 && steps > max_steps {
                return Ok(layers);
            }
            for &action in &applicable {
                let Some(reached) = simulator.successor(state, action) else { continue };
                let fresh = next.len() as u32;
                let to = *known.entry(packed(&reached)).or_insert(fresh);
                if to == fresh {
                    layer.goal.push(simulator.is_goal(&reached));
                    layer.count.push(0);
                    next.push(reached);
                }
                let sequences = layers[before].count[number];
                layer.count[to as usize] = layer.count[to as usize].wrapping_add(sequences);
                edges.push((number as u32, action, to));
            }
        }
        layers[before].edges = edges;
        layers.push(layer);
        if next.is_empty() {
            break;
        }
        check(resources.charge(next.len() as u64 * BYTES_PER_STATE))?;
        states = next;
    }
    Ok(layers)
}

/// A state as words.
pub(super) fn packed(state: &State) -> Vec<u64> {
    let mut words = state.facts.to_vec();
    words.extend(state.numbers.iter().flat_map(|n| n.to_words()));
    words
}

/// Mixes two words. Sums of mixed words are hashes of multisets.
#[inline]
pub(super) const fn mix(a: u64, b: u64) -> u64 {
    let mut x = a.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(b).wrapping_add(0x632b_e59b_d9b4_e019);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
