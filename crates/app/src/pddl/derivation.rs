//! The derivation of a part of an inferred problem as JSON: the atom, the rule that made it, the premises of the rule, down to the
//! lines of the intermediate representation (translate-infer-compile paper, section 3.3).

use planforge_contract::{IdleRule, Inference, InferredAtom, InferredEntry, ProblemSection};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The section as the command line and JSON call it.
pub fn section_name(section: ProblemSection) -> &'static str {
    match section {
        ProblemSection::Objects => "objects",
        ProblemSection::Init => "init",
        ProblemSection::Goal => "goal",
        ProblemSection::Metric => "metric",
    }
}

/// A part of a problem as JSON: the atoms of its derivation, with indices into this list and the rules
/// inline.
pub fn entry_json(inference: &Inference, entry: &InferredEntry) -> Value {
    let mut place: BTreeMap<u32, usize> = BTreeMap::new();
    let mut order = Vec::new();
    let mut rest: Vec<u32> = entry.atoms.iter().rev().copied().collect();
    while let Some(index) = rest.pop() {
        let Some(atom) = inference.atoms.get(index as usize) else { continue };
        if place.contains_key(&index) {
            continue;
        }
        place.insert(index, order.len());
        order.push(atom);
        rest.extend(atom.premises.iter().rev());
    }
    let indices = |of: &[u32]| of.iter().filter_map(|index| place.get(index).copied()).collect::<Vec<_>>();
    let atoms: Vec<Value> = order
        .iter()
        .map(|InferredAtom { atom, rule, premises, absent, others }| {
            json!({
                "atom": atom,
                "rule": inference.rules.get(*rule as usize),
                "premises": indices(premises),
                "absent": absent,
                "others": others,
            })
        })
        .collect();
    json!({
        "section": section_name(entry.section),
        "pddl": entry.pddl,
        "from": indices(&entry.atoms),
        "atoms": atoms,
    })
}

/// The lines without effect as JSON.
pub fn idle_json(inference: &Inference) -> Value {
    let one = |IdleRule { rule, reason }: &IdleRule| json!({"rule": inference.rules.get(*rule as usize), "reason": reason});
    inference.idle.iter().map(one).collect()
}
