//! The provenance of the parts of a problem as a document of the contract (translate-infer-compile paper,
//! section 3.3).

use planforge_asp::answer::ExplainedAnswer;
use planforge_asp::compile::{Compiled, Section};
use planforge_asp::derivations::Idle;
use planforge_asp::program::{Origin, Table};
use planforge_contract::{
    IdleReason, IdleRule, Inference, InferenceRule, InferredAtom, InferredEntry, ProblemSection, RuleOrigin,
};
use std::collections::{BTreeMap, BTreeSet};

/// The derivations of everything that a problem consists of, and the lines of the representation that change nothing of it.
pub(crate) fn inference(answer: &ExplainedAnswer<'_>, compiled: &Compiled) -> Inference {
    let derivations = &answer.derivations;
    let table = derivations.table();
    let parts: BTreeSet<u32> =
        compiled.entries.iter().flat_map(|entry| entry.atoms.iter().copied()).collect();
    let mut derived = BTreeMap::new();
    let mut open: Vec<u32> = parts.iter().copied().collect();
    while let Some(atom) = open.pop() {
        if derived.contains_key(&atom) {
            continue;
        }
        if let Some(derivation) = derivations.derivation(atom) {
            open.extend(derivation.premises.iter().copied());
            derived.insert(atom, derivation);
        }
    }
    let idle = derivations.idle(&|atom| parts.contains(&atom));
    let lines = (0u32..).zip(&table.rules).filter(|(_, rule)| rule.origin == Origin::Text).map(|(at, _)| at);
    let used = derived.values().map(|derivation| derivation.rule);
    let rules: BTreeSet<u32> = lines.chain(used).chain(idle.iter().map(|(rule, _)| *rule)).collect();
    let rule_at = Positions::of(rules.iter().copied());
    let atom_at = Positions::of(derived.keys().copied());
    let atoms = derived.iter().map(|(atom, derivation)| InferredAtom {
        atom: derivations.term(*atom).map(|term| term.to_string()).unwrap_or_default(),
        rule: rule_at.of_one(derivation.rule),
        premises: atom_at.of_all(&derivation.premises),
        absent: derivation.absent.clone(),
        others: derivation.others,
    });
    let entries = compiled.entries.iter().map(|entry| InferredEntry {
        section: section(entry.section),
        pddl: entry.pddl.clone(),
        atoms: atom_at.of_all(&entry.atoms),
    });
    Inference {
        atoms: atoms.collect(),
        entries: entries.collect(),
        idle: idle
            .iter()
            .map(|(rule, why)| IdleRule { rule: rule_at.of_one(*rule), reason: reason(*why) })
            .collect(),
        rules: rules.iter().map(|at| rule(table, *at)).collect(),
    }
}

/// Positions in a list that leaves numbers out.
struct Positions(BTreeMap<u32, u32>);

impl Positions {
    fn of(numbers: impl Iterator<Item = u32>) -> Self {
        Self(numbers.zip(0u32..).collect())
    }
    fn of_one(&self, number: u32) -> u32 {
        self.0.get(&number).copied().unwrap_or(u32::MAX)
    }
    fn of_all(&self, numbers: &[u32]) -> Vec<u32> {
        numbers.iter().filter_map(|number| self.0.get(number).copied()).collect()
    }
}

fn rule(table: &Table, at: u32) -> InferenceRule {
    let entry = &table.rules[at as usize];
    let place = table.place(at);
    InferenceRule {
        origin: match entry.origin {
            Origin::Text => RuleOrigin::Text,
            Origin::Knowledge => RuleOrigin::Knowledge,
            Origin::Domain => RuleOrigin::Domain,
            Origin::Library => RuleOrigin::Library,
        },
        source: table.source_name(at).to_owned(),
        line: place.line,
        column: place.column,
        text: entry.written.to_string(),
    }
}

const fn section(section: Section) -> ProblemSection {
    match section {
        Section::Objects => ProblemSection::Objects,
        Section::Init => ProblemSection::Init,
        Section::Goal => ProblemSection::Goal,
        Section::Metric => ProblemSection::Metric,
    }
}

const fn reason(idle: Idle) -> IdleReason {
    match idle {
        Idle::NeverApplies => IdleReason::NeverApplies,
        Idle::Follows => IdleReason::Follows,
        Idle::NotCompiled => IdleReason::NotCompiled,
    }
}
