//! A plan that is valid in several readings at once.
//!
//! The readings become one ground task: all facts beside each other, and one operator for each ground action that all readings have,
//! with all preconditions and effects. The goal is that of all readings together.

use super::judge::Keys;
use super::side::Side;
use super::{JointLimits, JointRenaming, Mapping, Reading};
use crate::equivalence::ComparedSide;
use crate::equivalence::domains::NotCompared;
use crate::resources::{ResourceLimits, StopReason, check};
use crate::search::{Algorithm, Outcome, run_search};
use crate::task::{Axiom, Condition, ConditionalEffect, Fact, GroundTask, Operator};
use crate::walk::{ModelError, NamedStep};
use rustc_hash::FxHashMap;

/// Most operators of the common task.
const MOST_OPERATORS: usize = 1_000_000;

/// Result of [`common_plan`].
#[derive(Debug, Clone, PartialEq)]
pub enum CommonPlan {
    /// A plan that every reading executes and after which every goal holds.
    Plan {
        /// By reading, the steps in its names.
        steps: Vec<Vec<NamedStep>>,
        /// True if no common plan is cheaper by the costs of the first reading.
        optimal: bool,
    },
    /// Proved: no plan is valid in all readings.
    None,
    /// A limit ended the search.
    LimitReached(StopReason),
    /// The readings have a construct that the search does not handle, as a noun phrase.
    Unsupported(String),
}

/// Searches the cheapest plan that is valid in the first reading and, under their renamings from the first, in the others. Costs are
/// those of the first reading. [`Algorithm::Greedy`] finds any plan.
///
/// # Errors
/// A reading is not a model, or a limit ended grounding. [`NotCompared::side`] is the first for the first reading.
pub fn common_plan(
    first: Reading<'_>,
    others: &[(Reading<'_>, &JointRenaming)],
    algorithm: Algorithm,
    max_nodes: u64,
    limits: &JointLimits,
    resources: &mut dyn ResourceLimits,
) -> Result<CommonPlan, NotCompared> {
    // The first layers of the execution trees are not needed here.
    let limits = JointLimits { max_explored: 0, ..*limits };
    let own = Side::new(ComparedSide::First, first, &limits, resources)?;
    let mut sides = vec![own];
    for (reading, _) in others {
        sides.push(Side::new(ComparedSide::Second, *reading, &limits, resources)?);
    }
    let mut mappings = vec![identity(&sides[0])];
    mappings.extend(
        others.iter().zip(&sides[1..]).map(|((_, renaming), side)| renaming.mapping([&sides[0], side])),
    );
    if let Some(what) = sides.iter().find_map(unsupported) {
        return Ok(CommonPlan::Unsupported(what));
    }
    let joined = match join(&sides, &mappings, resources) {
        Ok(Some(joined)) => joined,
        Ok(None) => return Ok(CommonPlan::None),
        Err(reason) => {
            return Err(NotCompared { side: ComparedSide::First, error: ModelError::Limit(reason) });
        }
    };
    if let (Algorithm::AStar, Some(unsupported)) = (algorithm, &joined.task.cost_unsupported) {
        return Ok(CommonPlan::Unsupported(unsupported.what.clone()));
    }
    let found = run_search(&joined.task, algorithm, max_nodes, resources);
    Ok(match &found.outcome {
        Outcome::Plan(operators) => {
            let chosen = operators.iter().map(|&o| &joined.actions[found.task_action(o)]);
            let chosen: Vec<&Vec<u32>> = chosen.collect();
            let steps = sides.iter().enumerate().map(|(number, side)| {
                chosen.iter().map(|actions| side.model().step(actions[number])).collect()
            });
            CommonPlan::Plan { steps: steps.collect(), optimal: algorithm != Algorithm::Greedy }
        }
        Outcome::Unsolvable => CommonPlan::None,
        Outcome::Stopped(reason) => CommonPlan::LimitReached(*reason),
    })
}

/// The renaming of a side to itself.
fn identity(side: &Side) -> Mapping {
    let schemas = (0..side.by_schema.len()).map(|schema| {
        let parameters = (0..side.arity(schema)).map(|p| (p, p)).collect();
        Some(super::SchemaPair { second: schema, parameters })
    });
    Mapping { objects: (0..side.objects().len() as u32).map(Some).collect(), schemas: schemas.collect() }
}

/// The readings as one task.
struct Joined {
    task: GroundTask,
    /// By action of the task, the ground action of each side.
    actions: Vec<Vec<u32>>,
}

/// `None` if delete relaxation shows that a goal cannot be reached.
fn join(
    sides: &[Side],
    mappings: &[Mapping],
    resources: &mut dyn ResourceLimits,
) -> Result<Option<Joined>, StopReason> {
    if sides.iter().any(|s| s.task().goal_unreachable) {
        return Ok(None);
    }
    let shifts = Shifts::new(sides);
    let mut joined: Vec<(Vec<u32>, Operator)> = Vec::new();
    for (number, side) in sides.iter().enumerate() {
        check(resources.poll())?;
        if number == 0 {
            let visible = visible(side);
            let own = side.task().operators.iter().filter(|o| visible[o.action as usize]);
            joined = own.map(|o| (vec![o.action], shifts.operator(0, o))).collect();
            continue;
        }
        let keys = Keys::new([&sides[0], side], &mappings[number]);
        let mut by_key: FxHashMap<u32, Vec<&Operator>> = FxHashMap::default();
        let visible = visible(side);
        for operator in side.task().operators.iter().filter(|o| visible[o.action as usize]) {
            by_key.entry(keys.of[1][operator.action as usize]).or_default().push(operator);
        }
        let mut longer = Vec::new();
        for (actions, operator) in &joined {
            for other in by_key.get(&keys.of[0][actions[0] as usize]).into_iter().flatten() {
                if longer.len() >= MOST_OPERATORS {
                    return Err(StopReason::Grounding);
                }
                check(resources.charge(256))?;
                let mut actions = actions.clone();
                actions.push(other.action);
                longer.push((actions, merge(operator, shifts.operator(number, other))));
            }
        }
        joined = longer;
    }
    let mut task = shifts.task(sides);
    let mut numbers: FxHashMap<Vec<u32>, u32> = FxHashMap::default();
    let mut actions: Vec<Vec<u32>> = Vec::new();
    for (own, mut operator) in joined {
        let number = *numbers.entry(own.clone()).or_insert_with(|| {
            task.actions.push(sides[0].action(own[0]).clone());
            actions.push(own);
            actions.len() as u32 - 1
        });
        operator.action = number;
        task.operators.push(operator);
    }
    Ok(Some(Joined { task, actions }))
}

/// By ground action, whether its definition is not hidden by an earlier one.
fn visible(side: &Side) -> Vec<bool> {
    let mut visible = vec![false; side.task().actions.len()];
    side.by_schema.iter().flatten().for_each(|&action| visible[action as usize] = true);
    visible
}

/// A construct that the search does not handle.
fn unsupported(side: &Side) -> Option<String> {
    let task = side.task();
    if let Some(unsupported) = &task.numeric_condition {
        return Some(unsupported.what.clone());
    }
    let partial = task.operators.iter().any(|o| o.partial);
    partial.then(|| "a numeric effect that may have no value".to_owned())
}

/// Numbers of the facts of each side in the common task: the basic facts of all sides first, then the derived ones.
struct Shifts {
    /// By side, number of basic facts, and the common numbers of its first basic and its first derived fact.
    sides: Vec<[u32; 3]>,
    basic: usize,
}

impl Shifts {
    fn new(sides: &[Side]) -> Self {
        let basic: usize = sides.iter().map(|s| s.task().basic_facts).sum();
        let (mut first, mut derived) = (0, basic as u32);
        let shifts = sides.iter().map(|side| {
            let own = side.task().basic_facts as u32;
            let shift = [own, first, derived];
            first += own;
            derived += side.task().facts.len() as u32 - own;
            shift
        });
        Shifts { sides: shifts.collect(), basic }
    }

    fn fact(&self, side: usize, fact: Fact) -> Fact {
        let [basic, first, derived] = self.sides[side];
        if fact < basic { first + fact } else { derived + fact - basic }
    }

    fn facts(&self, side: usize, facts: &[Fact]) -> Box<[Fact]> {
        facts.iter().map(|&f| self.fact(side, f)).collect()
    }

    fn condition(&self, side: usize, condition: &Condition) -> Condition {
        Condition {
            positive: self.facts(side, &condition.positive),
            negative: self.facts(side, &condition.negative),
            numeric: Box::default(),
        }
    }

    /// An operator over common facts, without its numeric effects: no condition reads them.
    fn operator(&self, side: usize, operator: &Operator) -> Operator {
        let conditional = operator.conditional.iter().map(|effect| ConditionalEffect {
            condition: self.condition(side, &effect.condition),
            add: self.facts(side, &effect.add),
            delete: self.facts(side, &effect.delete),
        });
        Operator {
            action: operator.action,
            precondition: self.condition(side, &operator.precondition),
            add: self.facts(side, &operator.add),
            delete: self.facts(side, &operator.delete),
            conditional: conditional.collect(),
            numeric: Box::default(),
            metric: Box::default(),
            partial: false,
            cost: operator.cost,
        }
    }

    /// The common task without actions and operators. Costs and names are those of the first side.
    fn task(&self, sides: &[Side]) -> GroundTask {
        let first = sides[0].task();
        let all = || sides.iter().map(Side::task).enumerate();
        let basic = all().flat_map(|(_, task)| task.facts[..task.basic_facts].iter().cloned());
        let derived = all().flat_map(|(_, task)| task.facts[task.basic_facts..].iter().cloned());
        let mut axioms: Vec<Axiom> = all()
            .flat_map(|(side, task)| {
                task.axioms.iter().map(move |axiom| Axiom {
                    head: self.fact(side, axiom.head),
                    condition: self.condition(side, &axiom.condition),
                    stratum: axiom.stratum,
                })
            })
            .collect();
        axioms.sort_by_key(|axiom| axiom.stratum);
        let goals = all().map(|(side, task)| self.condition(side, &task.goal));
        GroundTask {
            symbols: first.symbols.clone(),
            basic_facts: self.basic,
            facts: basic.chain(derived).collect(),
            variables: Vec::new(),
            actions: Vec::new(),
            operators: Vec::new(),
            axioms,
            init: all().flat_map(|(side, task)| self.facts(side, &task.init).into_vec()).collect(),
            init_numbers: Vec::new(),
            goal: goals.reduce(|a, b| conjunction(&a, &b)).unwrap_or_default(),
            goal_unreachable: false,
            cost_scale: first.cost_scale,
            metric_start: first.metric_start,
            maximize: first.maximize,
            cost_unsupported: first.cost_unsupported.clone(),
            metric: None,
            numeric_condition: None,
        }
    }
}

fn ascending(a: &[Fact], b: &[Fact]) -> Box<[Fact]> {
    let mut list = [a, b].concat();
    list.sort_unstable();
    list.dedup();
    list.into()
}

fn conjunction(a: &Condition, b: &Condition) -> Condition {
    Condition {
        positive: ascending(&a.positive, &b.positive),
        negative: ascending(&a.negative, &b.negative),
        numeric: Box::default(),
    }
}

/// Both operators at once. Their facts are disjoint.
fn merge(a: &Operator, b: Operator) -> Operator {
    Operator {
        action: a.action,
        precondition: conjunction(&a.precondition, &b.precondition),
        add: ascending(&a.add, &b.add),
        delete: ascending(&a.delete, &b.delete),
        conditional: a.conditional.iter().cloned().chain(b.conditional.into_vec()).collect(),
        numeric: Box::default(),
        metric: Box::default(),
        partial: false,
        cost: a.cost,
    }
}
