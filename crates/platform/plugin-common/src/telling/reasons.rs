//! The reasons of a plan's steps: the later step that needs what a step changes.

use super::plan::ToldPlan;
use super::words::{PlanWords, fill};
use planforge_pddl::ast::{Action, Atom as AtomPattern, Condition, Domain};
use planforge_planning::task::{Atom, Symbols};
use planforge_planning::{TraceStep, ValidationReport};
use std::collections::BTreeMap;

/// A fact, and whether a step makes it true or false.
type Change<'r> = (&'r Atom, bool);

/// Adds the reasons that are not obvious: the next step needs none of the changes, no change is a part of the goal, and a later step
/// needs one. Only facts and negated facts of a conjunction count as needs.
pub fn add_reasons(
    told: &mut ToldPlan,
    report: &ValidationReport,
    domain: &Domain,
    goal: Option<&Condition>,
    words: &PlanWords,
) {
    let needs: Vec<Needs<'_>> =
        report.trace.iter().map(|step| Needs::of(step, domain, &report.symbols)).collect();
    let wanted = Needs::of_condition(goal, &BTreeMap::new(), &report.symbols);
    for (at, step) in report.trace.iter().enumerate() {
        let added = step.added.iter().map(|atom| (atom, true));
        let changes: Vec<Change<'_>> = added.chain(step.deleted.iter().map(|atom| (atom, false))).collect();
        let is_obvious = |needs: &Needs<'_>| changes.iter().any(|change| needs.has(change));
        if is_obvious(&wanted) || needs.get(at + 1).is_none_or(is_obvious) {
            continue;
        }
        let user = changes.iter().filter_map(|change| used_by(at, *change, &report.trace, &needs)).min();
        if let Some(user) = user {
            let needing = &told.steps[user];
            let reason = fill(words.so_that, &[&needing.number, &needing.action]);
            told.steps[at].reason = Some(reason);
        }
    }
}

/// The first later step that needs the change, if it is still there.
fn used_by(at: usize, change: Change<'_>, trace: &[TraceStep], needs: &[Needs<'_>]) -> Option<usize> {
    let (atom, holds) = change;
    for later in at + 1..trace.len() {
        if needs[later].has(&change) {
            return Some(later);
        }
        let undone = if holds { &trace[later].deleted } else { &trace[later].added };
        if undone.contains(atom) {
            return None;
        }
    }
    None
}

/// The facts that a step needs, as PDDL, each with the value that it needs.
struct Needs<'s> {
    facts: Vec<(String, bool)>,
    symbols: &'s Symbols,
}

impl<'s> Needs<'s> {
    fn of(step: &TraceStep, domain: &Domain, symbols: &'s Symbols) -> Self {
        let name = &symbols.actions[step.action.action as usize];
        let schema = domain.actions.iter().find(|action| action.name.key() == name.to_lowercase());
        let objects: Vec<&str> =
            step.action.args.iter().map(|object| symbols.objects[*object as usize].as_str()).collect();
        let Some(Action { parameters, precondition, .. }) = schema else {
            return Self { facts: Vec::new(), symbols };
        };
        let names = parameters.iter().map(|parameter| parameter.name.key().to_owned());
        let binding = names.zip(objects.iter().map(|object| object.to_lowercase())).collect();
        Self::of_condition(precondition.as_ref(), &binding, symbols)
    }

    fn of_condition(
        condition: Option<&Condition>,
        binding: &BTreeMap<String, String>,
        symbols: &'s Symbols,
    ) -> Self {
        let mut facts = Vec::new();
        if let Some(condition) = condition {
            collect(condition, binding, &mut facts);
        }
        Self { facts, symbols }
    }

    fn has(&self, (atom, holds): &Change<'_>) -> bool {
        let objects = atom.args.iter().map(|object| self.symbols.objects[*object as usize].to_lowercase());
        let predicate = self.symbols.predicates[atom.predicate as usize].to_lowercase();
        let text = fact(&predicate, objects);
        self.facts.iter().any(|(needed, value)| *needed == text && value == holds)
    }
}

fn collect(condition: &Condition, binding: &BTreeMap<String, String>, facts: &mut Vec<(String, bool)>) {
    let ground = |atom: &AtomPattern| {
        let objects = atom.args.iter().map(|term| {
            let name = term.name().key();
            binding.get(name).cloned().unwrap_or_else(|| name.to_owned())
        });
        fact(atom.predicate.key(), objects)
    };
    match condition {
        Condition::And(parts, _) => parts.iter().for_each(|part| collect(part, binding, facts)),
        Condition::Atom(atom) => facts.push((ground(atom), true)),
        Condition::Not(inner, _) => {
            if let Condition::Atom(atom) = inner.as_ref() {
                facts.push((ground(atom), false));
            }
        }
        _ => {}
    }
}

fn fact(predicate: &str, objects: impl Iterator<Item = String>) -> String {
    objects.fold(predicate.to_owned(), |fact, object| fact + " " + &object)
}
