//! Structural differences between two domains.

use crate::telling::condition::{condition_clause, effect_clause};
use planforge_diagnostics::SourceId;
use planforge_pddl::ast::{Action, Domain};
use planforge_pddl::{ChangeKind, DefinitionDifference, diff_domains, parse_domain};
use planforge_plugin_sdk::wording::Wording;

/// The differences from the first domain to the second, a sentence each; none if they differ in the order of parts and the names of
/// parameters alone. `first` and `second` are what the sentences call them: `the first domain`.
pub fn tell_differences(
    a: &Domain,
    b: &Domain,
    (first, second): (&str, &str),
    wording: &Wording,
) -> Vec<String> {
    diff_domains(a, b).iter().map(|d| capital(tell_difference(d, (first, second), wording))).collect()
}

/// The sentence with a capital, unless it begins with a name, such as that of a file.
fn capital(sentence: String) -> String {
    match sentence.split_at_checked(1) {
        Some((letter, rest)) if ["in ", "the "].iter().any(|word| sentence.starts_with(word)) => {
            letter.to_uppercase() + rest
        }
        _ => sentence,
    }
}

fn tell_difference(
    difference: &DefinitionDifference,
    (first, second): (&str, &str),
    wording: &Wording,
) -> String {
    let before = difference.before.as_deref().unwrap_or_default();
    let after = difference.after.as_deref().unwrap_or_default();
    let place = difference.place.as_str();
    let Some((schema, part)) = place.split_once(": ") else {
        return match difference.change {
            ChangeKind::Added => format!("{second} has the {place} `{after}`, and {first} has not."),
            ChangeKind::Removed => format!("{first} has the {place} `{before}`, and {second} has not."),
            ChangeKind::Changed => format!("the {place} is `{before}` in {first} and `{after}` in {second}."),
        };
    };
    let clause = |text: &str| match part {
        "effect" => schema_of(text, part).and_then(|a| a.effect).map(|e| effect_clause(&e, wording)),
        "precondition" | "condition" => schema_of(text, "precondition")
            .and_then(|a| a.precondition)
            .map(|c| condition_clause(&c, wording)),
        _ => None,
    };
    match (difference.change, clause(before), clause(after)) {
        (ChangeKind::Removed, Some(clause), _) if part == "effect" => {
            format!("in {first}, {clause} after the {schema}; not in {second}.")
        }
        (ChangeKind::Added, _, Some(clause)) if part == "effect" => {
            format!("in {second}, {clause} after the {schema}; not in {first}.")
        }
        (ChangeKind::Removed, Some(clause), _) => {
            format!("in {first}, the {schema} needs that {clause}; not in {second}.")
        }
        (ChangeKind::Added, _, Some(clause)) => {
            format!("in {second}, the {schema} needs that {clause}; not in {first}.")
        }
        (ChangeKind::Removed, ..) => {
            format!("in {first}, the {schema} has the {part} `{before}`; not in {second}.")
        }
        (ChangeKind::Added, ..) => {
            format!("in {second}, the {schema} has the {part} `{after}`; not in {first}.")
        }
        (ChangeKind::Changed, ..) => {
            format!("the {part} of the {schema} is `{before}` in {first} and `{after}` in {second}.")
        }
    }
}

/// The condition or effect that a difference shows as text.
fn schema_of(text: &str, field: &str) -> Option<Action> {
    let domain = format!("(define (domain d) (:action a :parameters () :{field} {text}))");
    parse_domain(&domain, SourceId(0)).value.actions.pop()
}
