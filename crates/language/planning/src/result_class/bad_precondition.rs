//! Rules for bad preconditions (BPError).

use planforge_diagnostics::{Diagnostic, SourceId};
use planforge_pddl::ast::{Action, Atom, Condition, Effect};
use planforge_pddl::{print_atom, print_condition};
use std::collections::BTreeSet;

/// The actions that count as having a bad precondition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum BadPreconditionRule {
    /// A construct whose requirement the domain neither declares nor uses itself.
    #[default]
    Requirement,
    /// A negated precondition, whatever the domain declares: the paper's definition.
    Negation,
    /// A delete effect whose atom the precondition does not contain. The paper's planner, K* with LM-cut, stops
    /// there (exit code 34): its translator makes a conditional effect of it. It may accept a delete of an atom
    /// that is in no mutex group, which this rule does not.
    UnguardedDelete,
}

const NEGATED: &str = "class.negated-precondition";
const UNGUARDED: &str = "class.unguarded-delete";

impl BadPreconditionRule {
    /// The codes of findings that are bad preconditions.
    pub(super) const CODES: [&str; 2] = [NEGATED, UNGUARDED];

    /// Findings in an action under this rule; the front end reports undeclared requirements.
    pub(super) fn findings(self, action: &Action, source: SourceId) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        match self {
            Self::Requirement => {}
            Self::Negation => {
                if let Some(condition) = &action.precondition {
                    negations(condition, source, &mut found);
                }
            }
            Self::UnguardedDelete => {
                let mut required = BTreeSet::new();
                if let Some(condition) = &action.precondition {
                    required_atoms(condition, &mut required);
                }
                if let Some(effect) = &action.effect {
                    unguarded_deletes(effect, &required, source, &mut found);
                }
            }
        }
        found
    }
}

fn negations(condition: &Condition, source: SourceId, found: &mut Vec<Diagnostic>) {
    match condition {
        Condition::Not(_, span) => {
            let message = format!("the precondition `{}` is negated", print_condition(condition));
            let help = "require an atom that is true where this one is false";
            found.push(Diagnostic::error(NEGATED, message).at(source, *span, "").help(help));
        }
        Condition::And(parts, _) | Condition::Or(parts, _) => {
            parts.iter().for_each(|part| negations(part, source, found));
        }
        Condition::Imply(a, b, _) => [a, b].into_iter().for_each(|part| negations(part, source, found)),
        Condition::Exists(q) | Condition::Forall(q) => negations(&q.body, source, found),
        _ => {}
    }
}

fn atom_key(atom: &Atom) -> String {
    print_atom(atom).to_lowercase()
}

fn required_atoms(condition: &Condition, atoms: &mut BTreeSet<String>) {
    match condition {
        Condition::And(parts, _) => parts.iter().for_each(|part| required_atoms(part, atoms)),
        Condition::Atom(atom) => {
            atoms.insert(atom_key(atom));
        }
        _ => {}
    }
}

fn unguarded_deletes(
    effect: &Effect,
    required: &BTreeSet<String>,
    source: SourceId,
    found: &mut Vec<Diagnostic>,
) {
    match effect {
        Effect::And(parts, _) => {
            parts.iter().for_each(|part| unguarded_deletes(part, required, source, found));
        }
        Effect::Delete(atom, span) if !required.contains(&atom_key(atom)) => {
            let message =
                format!("`{}` is made false, and the precondition does not contain it", print_atom(atom));
            let help = format!("add `{}` to the precondition", print_atom(atom));
            found.push(Diagnostic::error(UNGUARDED, message).at(source, *span, "").help(help));
        }
        _ => {}
    }
}
