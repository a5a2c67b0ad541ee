//! Two models made ready for the comparison: reduced to what matters, their ground actions numbered alike.

use super::reduce::reduce_task;
use crate::lifted::Metric;
use crate::simulate::Simulator;
use crate::walk::{Model, NamedStep};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Marks an action that one side does not have.
pub(super) const NONE: u32 = u32::MAX;

/// One side's model with the projections that the comparison needs.
pub(super) struct Ready {
    pub(super) simulator: Simulator,
    /// By fact, whether it matters.
    pub(super) relevant: Vec<bool>,
    /// By action of the model, its common number.
    pub(super) rank: Vec<u32>,
    /// By common number, the model's action.
    pub(super) action: Vec<u32>,
    /// True if the problem has a metric.
    pub(super) priced: bool,
    /// Why the cost of an action is not a constant, as a noun phrase.
    pub(super) cost_unsupported: Option<String>,
}

/// Both models, and the ground actions of either in the order in which they are tried: by name, then by arguments.
pub(super) struct Both {
    pub(super) sides: [Ready; 2],
    pub(super) steps: Vec<NamedStep>,
}

impl Both {
    /// `None` where a model is not grounded.
    pub(super) fn new(models: [&Model; 2]) -> Option<Self> {
        let [first, second] = [models[0].simulator()?, models[1].simulator()?];
        let keys = [keys(models[0], first), keys(models[1], second)];
        let mut steps: Vec<NamedStep> = keys.iter().flatten().flatten().cloned().collect();
        steps.sort_unstable();
        steps.dedup();
        let numbers: FxHashMap<&NamedStep, u32> = steps.iter().zip(0..).collect();
        let sides =
            [(models[0], first, &keys[0]), (models[1], second, &keys[1])].map(|(model, simulator, keys)| {
                let rank: Vec<u32> = keys.iter().map(|k| k.as_ref().map_or(NONE, |k| numbers[k])).collect();
                let mut action = vec![NONE; steps.len()];
                rank.iter().zip(0..).filter(|(r, _)| **r != NONE).for_each(|(&r, a)| action[r as usize] = a);
                let (task, relevant) = reduce_task(simulator.task());
                let cost_unsupported = task.cost_unsupported.as_ref().map(|u| u.what.clone());
                let priced = matches!(model.lifted().metric, Metric::Value { .. });
                Ready {
                    simulator: Simulator::new(Arc::new(task)),
                    relevant,
                    rank,
                    action,
                    priced,
                    cost_unsupported,
                }
            });
        Some(Both { sides, steps })
    }
}

/// The names of a model's ground actions in lower case; none for those of a definition that an earlier one of the same name hides.
fn keys(model: &Model, simulator: &Simulator) -> Vec<Option<NamedStep>> {
    let lower = |name: &String| name.to_lowercase();
    let schemas = model.schema_names().iter().zip(0u32..);
    let hidden: Vec<bool> = schemas.map(|(name, number)| model.find_schema(name) != Some(number)).collect();
    (0..simulator.task().actions.len() as u32)
        .map(|action| {
            let step = || model.step(action);
            (!hidden[model.schema_of(action)]).then(step).map(|step| NamedStep {
                name: lower(&step.name),
                args: step.args.iter().map(lower).collect(),
            })
        })
        .collect()
}
