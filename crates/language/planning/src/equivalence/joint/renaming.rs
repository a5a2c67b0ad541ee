//! The joint renaming of two readings, in names.

use super::refine::similarity;
use super::side::Side;
use super::{Mapping, SchemaPair};
use crate::walk::NamedStep;
use std::collections::{BTreeMap, BTreeSet};

/// A renaming between two readings. Names are as written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JointRenaming {
    /// Objects and constants of the first with their partners.
    pub objects: Vec<(String, String)>,
    /// Objects of the first and of the second without a partner.
    pub objects_alone: [Vec<String>; 2],
    /// Types that have the same objects under the renaming.
    pub types: Vec<(String, String)>,
    /// Predicates that hold of the same objects in the initial state and in the reachable facts.
    pub predicates: Vec<(String, String)>,
    /// Actions with their partners.
    pub actions: Vec<JointAction>,
    /// Actions of the first and of the second without a partner.
    pub actions_alone: [Vec<String>; 2],
    /// By side, the full step for the kept arguments of an action that has parameters alone; `None` where the state decides.
    full_steps: [BTreeMap<NamedStep, Option<NamedStep>>; 2],
}

/// Two actions that mean the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JointAction {
    /// Name in the first.
    pub first: String,
    /// Name in the second.
    pub second: String,
    /// Zero-based positions of corresponding parameters in the first and the second.
    pub parameters: Vec<(usize, usize)>,
    /// Parameters of the first and of the second without a partner, by name. Their values follow from the others or from the state.
    pub parameters_alone: [Vec<String>; 2],
}

impl JointRenaming {
    pub(super) fn new(sides: [&Side; 2], mapping: &Mapping) -> Self {
        let [first, second] = sides;
        let mut renaming = JointRenaming::default();
        let mut taken = vec![false; second.objects().len()];
        for (a, partner) in mapping.objects.iter().enumerate() {
            let name = first.objects()[a].clone();
            match partner {
                Some(b) => {
                    taken[*b as usize] = true;
                    renaming.objects.push((name, second.objects()[*b as usize].clone()));
                }
                None => renaming.objects_alone[0].push(name),
            }
        }
        let alone = second.objects().iter().zip(&taken).filter(|(_, taken)| !**taken);
        renaming.objects_alone[1] = alone.map(|(name, _)| name.clone()).collect();
        let mut paired = BTreeSet::new();
        for (a, pair) in mapping.schemas.iter().enumerate() {
            match pair {
                Some(pair) => {
                    paired.insert(pair.second);
                    renaming.push_action(sides, a, pair);
                }
                None => renaming.actions_alone[0].push(first.schemas[a].name.clone()),
            }
        }
        let schemas = second.schemas.iter().enumerate();
        renaming.actions_alone[1] =
            schemas.filter(|(b, _)| !paired.contains(b)).map(|(_, schema)| schema.name.clone()).collect();
        let partner = |object: u32| mapping.objects[object as usize];
        renaming.types = pair_extensions(&types(first, &partner), &types(second, &Some));
        renaming.predicates = pair_extensions(&predicates(first, &partner), &predicates(second, &Some));
        renaming
    }

    fn push_action(&mut self, sides: [&Side; 2], first: usize, pair: &SchemaPair) {
        let schemas = [first, pair.second];
        let kept: [Vec<usize>; 2] =
            [pair.parameters.iter().map(|p| p.0).collect(), pair.parameters.iter().map(|p| p.1).collect()];
        let alone = [0, 1].map(|side: usize| {
            let parameters = sides[side].schemas[schemas[side]].parameters.iter();
            let alone = parameters.enumerate().filter(|(place, _)| !kept[side].contains(place));
            alone.map(|(_, name)| name.clone()).collect::<Vec<String>>()
        });
        for side in 0..2 {
            if alone[side].is_empty() {
                continue;
            }
            for &action in &sides[side].by_schema[schemas[side]] {
                let full = lower(&sides[side].model().step(action));
                let args = kept[side].iter().map(|&place| full.args[place].clone()).collect();
                let key = NamedStep { name: full.name.clone(), args };
                let steps = self.full_steps[side].entry(key);
                steps.and_modify(|known| *known = None).or_insert(Some(full));
            }
        }
        let name = |side: usize| sides[side].schemas[schemas[side]].name.clone();
        self.actions.push(JointAction {
            first: name(0),
            second: name(1),
            parameters: pair.parameters.clone(),
            parameters_alone: alone,
        });
    }

    /// A step of the first reading as the second names it, in lower case. `None` if the second has no such ground action, or if the
    /// value of one of its parameters depends on the state.
    pub fn second_step(&self, step: &NamedStep) -> Option<NamedStep> {
        self.translate(step, 0)
    }

    /// A step of the second reading as the first names it; see [`JointRenaming::second_step`].
    pub fn first_step(&self, step: &NamedStep) -> Option<NamedStep> {
        self.translate(step, 1)
    }

    fn translate(&self, step: &NamedStep, from: usize) -> Option<NamedStep> {
        let names = |pair: [&String; 2]| (pair[from].to_lowercase(), pair[1 - from].to_lowercase());
        let wanted = step.name.to_lowercase();
        let action = self.actions.iter().find(|a| names([&a.first, &a.second]).0 == wanted)?;
        if step.args.len() != action.parameters.len() + action.parameters_alone[from].len() {
            return None;
        }
        let mut args = Vec::with_capacity(action.parameters.len());
        for &(first, second) in &action.parameters {
            let [own, other] = if from == 0 { [first, second] } else { [second, first] };
            let object = step.args.get(own)?.to_lowercase();
            let partner = self.objects.iter().map(|(a, b)| names([a, b])).find(|pair| pair.0 == object)?.1;
            args.push((other, partner));
        }
        let name = names([&action.first, &action.second]).1;
        if action.parameters_alone[1 - from].is_empty() {
            args.sort_unstable();
            return Some(NamedStep { name, args: args.into_iter().map(|a| a.1).collect() });
        }
        let kept = NamedStep { name, args: args.into_iter().map(|a| a.1).collect() };
        self.full_steps[1 - from].get(&kept).cloned().flatten()
    }

    /// The renaming in the numbers of two sides.
    pub(super) fn mapping(&self, sides: [&Side; 2]) -> Mapping {
        let place = |names: &[String], name: &str| names.iter().position(|n| n.eq_ignore_ascii_case(name));
        let [first, second] = sides;
        let mut objects = vec![None; first.objects().len()];
        for (a, b) in &self.objects {
            if let Some(a) = place(first.objects(), a) {
                objects[a] = place(second.objects(), b).map(|b| b as u32);
            }
        }
        let mut schemas = vec![None; first.by_schema.len()];
        for action in &self.actions {
            let names = [first.model().schema_names(), second.model().schema_names()];
            if let (Some(a), Some(b)) = (place(names[0], &action.first), place(names[1], &action.second)) {
                schemas[a] = Some(SchemaPair { second: b, parameters: action.parameters.clone() });
            }
        }
        Mapping { objects, schemas }
    }
}

fn lower(step: &NamedStep) -> NamedStep {
    NamedStep { name: step.name.to_lowercase(), args: step.args.iter().map(|a| a.to_lowercase()).collect() }
}

/// Lists of objects in the numbers of the second side, by name; those with an object that has no partner are left out.
type Extensions = BTreeMap<String, BTreeSet<Vec<u32>>>;

/// The objects of the types that parameters of actions have.
fn types(side: &Side, partner: &dyn Fn(u32) -> Option<u32>) -> Extensions {
    let mut extensions = Extensions::new();
    for variable in side.model().lifted().schemas.iter().flat_map(|s| &s.variables) {
        let objects = variable.objects.iter().map(|&o| partner(o).map(|o| vec![o]));
        if let Some(objects) = objects.collect::<Option<BTreeSet<Vec<u32>>>>() {
            extensions.insert(variable.type_name.clone(), objects);
        }
    }
    extensions
}

/// The atoms of each declared predicate that hold initially or can change.
fn predicates(side: &Side, partner: &dyn Fn(u32) -> Option<u32>) -> Extensions {
    let lifted = side.model().lifted();
    let mut extensions: BTreeMap<u32, Option<BTreeSet<Vec<u32>>>> = BTreeMap::new();
    for atom in lifted.init.iter().chain(&side.task().facts) {
        let objects = atom.args.iter().map(|&o| partner(o)).collect::<Option<Vec<u32>>>();
        let known = extensions.entry(atom.predicate).or_insert_with(|| Some(BTreeSet::new()));
        match (known.as_mut(), objects) {
            (Some(set), Some(objects)) => {
                set.insert(objects);
            }
            _ => *known = None,
        }
    }
    let named = extensions.into_iter().filter_map(|(predicate, set)| {
        let name = lifted.symbols.predicates.get(predicate as usize)?;
        (!name.starts_with(['@', '='])).then_some((name.clone(), set?))
    });
    named.collect()
}

/// Pairs equal extensions; of several, those of the most similar names.
fn pair_extensions(first: &Extensions, second: &Extensions) -> Vec<(String, String)> {
    let mut ranked: Vec<(u32, &String, &String)> = Vec::new();
    for (a, objects) in first {
        for (b, _) in second.iter().filter(|(_, other)| *other == objects && !objects.is_empty()) {
            ranked.push((similarity(a, b), a, b));
        }
    }
    ranked.sort_by_key(|&(alike, a, b)| (std::cmp::Reverse(alike), a, b));
    let mut pairs: Vec<(String, String)> = Vec::new();
    for (_, a, b) in ranked {
        if !pairs.iter().any(|pair| pair.0 == *a || pair.1 == *b) {
            pairs.push((a.clone(), b.clone()));
        }
    }
    pairs.sort();
    pairs
}

/// The mapping of equal names; parameters correspond by their names, or by their places if a name has no partner.
pub(super) fn equal_names([first, second]: [&Side; 2]) -> Mapping {
    let place =
        |names: &[String], name: &str| names.iter().position(|other| other.eq_ignore_ascii_case(name));
    let objects = first.objects().iter().map(|name| place(second.objects(), name).map(|at| at as u32));
    let variables = |side: &Side, schema: usize| -> Vec<String> {
        let all = &side.model().lifted().schemas[schema].variables;
        all.iter().map(|variable| variable.name.clone()).collect()
    };
    let schemas = first.model().schema_names().iter().enumerate().map(|(schema, name)| {
        let partner = place(second.model().schema_names(), name)?;
        let (own, other) = (variables(first, schema), variables(second, partner));
        let by_name: Vec<(usize, usize)> =
            own.iter().enumerate().filter_map(|(at, name)| Some((at, place(&other, name)?))).collect();
        let shorter = own.len().min(other.len());
        let parameters = match by_name.len() == shorter {
            true => by_name,
            false => (0..shorter).map(|at| (at, at)).collect(),
        };
        Some(SchemaPair { second: partner, parameters })
    });
    Mapping { objects: objects.collect(), schemas: schemas.collect() }
}
