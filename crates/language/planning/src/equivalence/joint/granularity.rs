//! Recognises readings that may differ in granularity alone: one action of one reading is a sequence of two actions of the other.
//!
//! The two actions of the finer reading are replaced by their sequences, where the first makes a condition of the second true. Operators
//! are composed exactly. A difference in granularity is reported if no difference to the coarser reading is then found, and if the goal
//! can be reached in both original readings or in neither. It is not proved that nothing else differs: sequences with a step between the
//! two actions are not compared. Only operators without conditional and numeric effects are composed.

use super::JointLimits;
use super::search::{CandidateVerdict, search};
use super::side::{SchemaNames, Side};
use crate::equivalence::ComparedSide;
use crate::resources::{ResourceLimits, StopReason, check};
use crate::search::{Algorithm, Outcome, run_search};
use crate::task::{Condition, Fact, GroundAction, GroundTask, Operator};

/// Most sequences of two ground actions that are composed.
const MOST_SEQUENCES: usize = 20_000;
/// Most pairs of ground actions that are looked at for them.
const MOST_PAIRS: usize = 1_000_000;

/// A difference in granularity, for sequences in which the two actions always follow each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Granularity {
    /// The reading with the two actions.
    pub finer: ComparedSide,
    /// The two actions in their order, by name.
    pub sequence: [String; 2],
    /// The action of the other reading that stands for them; `None` if no one of its actions is the partner of all sequences.
    pub action: Option<String>,
}

/// Searches a replacement of two actions by one. `None` if there is none, or a limit ended the search.
pub(super) fn find(
    sides: [&Side; 2],
    limits: &JointLimits,
    resources: &mut dyn ResourceLimits,
) -> Option<Granularity> {
    let counts = sides.map(|side| side.by_schema.iter().filter(|list| !list.is_empty()).count());
    let finer = match counts {
        [a, b] if a == b + 1 => 0,
        [a, b] if b == a + 1 => 1,
        _ => return None,
    };
    let solvable = |side: &Side, resources: &mut dyn ResourceLimits| -> Option<bool> {
        if side.task().goal_unreachable || side.task().numeric_condition.is_some() {
            return side.task().numeric_condition.is_none().then_some(false);
        }
        match run_search(side.task(), Algorithm::Greedy, limits.max_pairs, resources).outcome {
            Outcome::Plan(_) => Some(true),
            Outcome::Unsolvable => Some(false),
            Outcome::Stopped(_) => None,
        }
    };
    let schemas = sides[finer].by_schema.len();
    for first in 0..schemas {
        for second in (0..schemas).filter(|&second| second != first) {
            let composed = compose(sides[finer], [first, second], limits, resources).ok()?;
            let Some(composed) = composed else { continue };
            let coarser = sides[1 - finer];
            let both = if finer == 0 { [&composed, coarser] } else { [coarser, &composed] };
            let depth = composed.depth().min(coarser.depth());
            if (0..=depth).any(|d| composed.tree_hash(d) != coarser.tree_hash(d)) {
                continue;
            }
            let found = search(both, limits, resources).ok()?;
            if found.best.verdict == CandidateVerdict::Different {
                continue;
            }
            if solvable(sides[0], resources)? != solvable(sides[1], resources)? {
                return None;
            }
            let place = first.min(second);
            let partner = found.best.mapping.schemas.iter().enumerate().find_map(|(a, pair)| {
                let b = pair.as_ref()?.second;
                match finer {
                    0 => (a == place).then_some(b),
                    _ => (b == place).then_some(a),
                }
            });
            let name = |schema: usize| sides[finer].schemas[schema].name.clone();
            return Some(Granularity {
                finer: if finer == 0 { ComparedSide::First } else { ComparedSide::Second },
                sequence: [name(first), name(second)],
                action: partner.map(|schema| coarser.schemas[schema].name.clone()),
            });
        }
    }
    None
}

/// The side with sequences of two schemas instead of both; the sequences have the place of the smaller number. `None` if there are no
/// such sequences or if they cannot be composed.
fn compose(
    side: &Side,
    schemas: [usize; 2],
    limits: &JointLimits,
    resources: &mut dyn ResourceLimits,
) -> Result<Option<Side>, StopReason> {
    let task = side.task();
    let mut schema_of = vec![None; task.actions.len()];
    for (schema, list) in side.by_schema.iter().enumerate() {
        list.iter().for_each(|&action| schema_of[action as usize] = Some(schema));
    }
    let of = |schema: usize| -> Option<Vec<&Operator>> {
        let own = task.operators.iter().filter(|o| schema_of[o.action as usize] == Some(schema));
        own.map(|o| is_simple(o).then_some(o)).collect()
    };
    let (Some(first), Some(second)) = (of(schemas[0]), of(schemas[1])) else { return Ok(None) };
    if first.len() * second.len() > MOST_PAIRS {
        return Ok(None);
    }
    let mut sequences: Vec<(Vec<u32>, Operator)> = Vec::new();
    for a in &first {
        check(resources.poll())?;
        for b in &second {
            if let Some(operator) = compose_operators(a, b) {
                let args = [&*side.action(a.action).args, &*side.action(b.action).args].concat();
                sequences.push((args, operator));
            }
        }
        if sequences.len() > MOST_SEQUENCES {
            return Ok(None);
        }
    }
    if sequences.is_empty() {
        return Ok(None);
    }
    let count = sequences[0].0.len();
    // A parameter that always equals an earlier one is left out.
    let is_new = |&k: &usize| !(0..k).any(|j| sequences.iter().all(|(args, _)| args[j] == args[k]));
    let kept: Vec<usize> = (0..count).filter(is_new).collect();
    let names: Vec<String> =
        schemas.iter().flat_map(|&s| side.schemas[s].parameters.iter().cloned()).collect();
    let (place, removed) = (schemas[0].min(schemas[1]), schemas[0].max(schemas[1]));
    let mut own_names = side.schemas.clone();
    let mut by_schema = side.by_schema.clone();
    own_names[place] = SchemaNames {
        name: format!("{} {}", side.schemas[schemas[0]].name, side.schemas[schemas[1]].name),
        parameters: kept.iter().map(|&k| names[k].clone()).collect(),
    };
    by_schema[place].clear();
    own_names.remove(removed);
    by_schema.remove(removed);
    let mut composed: GroundTask = task.clone();
    composed.operators.retain(|o| {
        schema_of[o.action as usize].is_some_and(|schema| schema != schemas[0] && schema != schemas[1])
    });
    let mut known = rustc_hash::FxHashMap::default();
    for (args, mut operator) in sequences {
        let args: Box<[u32]> = kept.iter().map(|&k| args[k]).collect();
        let fresh = composed.actions.len() as u32;
        let action = *known.entry(args.clone()).or_insert(fresh);
        if action == fresh {
            composed.actions.push(GroundAction { action: place as u32, args });
            by_schema[place].push(action);
        }
        operator.action = action;
        composed.operators.push(operator);
    }
    for (schema, list) in by_schema.iter().enumerate() {
        list.iter().for_each(|&action| composed.actions[action as usize].action = schema as u32);
    }
    side.with_actions(own_names, by_schema, &composed, limits.max_explored, resources).map(Some)
}

fn is_simple(operator: &Operator) -> bool {
    operator.conditional.is_empty()
        && operator.numeric.is_empty()
        && operator.precondition.numeric.is_empty()
        && !operator.partial
}

/// The operator that executes both, one after the other. `None` if the first makes nothing true that the second needs, or makes the
/// second inapplicable.
fn compose_operators(a: &Operator, b: &Operator) -> Option<Operator> {
    let has = |list: &[Fact], fact: &Fact| list.binary_search(fact).is_ok();
    let (own, next) = (&a.precondition, &b.precondition);
    let is_link =
        next.positive.iter().any(|f| has(&a.add, f)) || next.negative.iter().any(|f| has(&a.delete, f));
    let is_blocked =
        next.positive.iter().any(|f| has(&a.delete, f)) || next.negative.iter().any(|f| has(&a.add, f));
    if !is_link || is_blocked {
        return None;
    }
    let joined = |own: &[Fact], more: &[Fact], without: &[Fact]| -> Box<[Fact]> {
        let mut list: Vec<Fact> = own.to_vec();
        list.extend(more.iter().filter(|f| !has(without, f)));
        list.sort_unstable();
        list.dedup();
        list.into()
    };
    let positive = joined(&own.positive, &next.positive, &a.add);
    let negative = joined(&own.negative, &next.negative, &a.delete);
    if positive.iter().any(|f| has(&negative, f)) {
        return None;
    }
    // What the second undoes of the first has no effect.
    Some(Operator {
        action: a.action,
        precondition: Condition { positive, negative, numeric: Box::default() },
        add: joined(&b.add, &a.add, &b.delete),
        delete: joined(&b.delete, &a.delete, &b.add),
        conditional: Box::default(),
        numeric: Box::default(),
        metric: Box::default(),
        partial: false,
        cost: a.cost.saturating_add(b.cost),
    })
}
