//! Plans, refusals and differences between domains in sentences: with the suite's sentences (`sentences.toml`), else from the names.

mod fold;
mod plan;
mod reasons;
mod words;

pub use plan::{Refusal, StepInWords, ToldPlan, UnmetNeed, tell_plan, tell_plan_in};
pub use reasons::add_reasons;
pub use words::{PlanWords, fill};

use planforge_diagnostics::SourceId;
use planforge_pddl::ast::{Action, Atom, Condition, Domain, Effect, Quantified, Term, TypedName};
use planforge_pddl::{
    ChangeKind, DefinitionDifference, diff_domains, parse_domain, print_condition, print_effect,
};
use planforge_plugin_sdk::wording::{Wording, list};

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

/// A condition as a part of a sentence: `the van is in from`. Numbers, preferences and times are shown as PDDL.
pub fn condition_clause(condition: &Condition, wording: &Wording) -> String {
    let clause = |part: &Condition| condition_clause(part, wording);
    let all = |parts: &[Condition]| parts.iter().map(clause).collect::<Vec<_>>();
    match condition {
        Condition::And(parts, _) if parts.is_empty() => "nothing".to_owned(),
        Condition::And(parts, _) => list(&all(parts)),
        Condition::Or(parts, _) => format!("either {}", all(parts).join(" or ")),
        Condition::Not(inner, _) => match inner.as_ref() {
            Condition::Atom(atom) => fact(atom, false, wording),
            Condition::Equal(a, b, _) => format!("{} is not {}", term(a), term(b)),
            inner => format!("it is not true that {}", clause(inner)),
        },
        Condition::Imply(premise, conclusion, _) => {
            format!("if {}, then {}", clause(premise), clause(conclusion))
        }
        Condition::Forall(quantified) => {
            format!("for every {}, {}", variables(quantified), clause(&quantified.body))
        }
        Condition::Exists(quantified) => {
            format!("for some {}, {}", variables(quantified), clause(&quantified.body))
        }
        Condition::Atom(atom) => fact(atom, true, wording),
        Condition::Equal(a, b, _) => format!("{} is {}", term(a), term(b)),
        Condition::Compare(_)
        | Condition::Preference(_)
        | Condition::Timed(..)
        | Condition::Trajectory(_) => {
            format!("`{}`", print_condition(condition))
        }
    }
}

/// An effect as a part of a sentence: `the van is not in from`. Numbers and times are shown as PDDL.
pub fn effect_clause(effect: &Effect, wording: &Wording) -> String {
    let clause = |part: &Effect| effect_clause(part, wording);
    match effect {
        Effect::And(parts, _) if parts.is_empty() => "nothing changes".to_owned(),
        Effect::And(parts, _) => list(&parts.iter().map(clause).collect::<Vec<_>>()),
        Effect::Forall(quantified) => {
            format!("for every {}, {}", variables(quantified), clause(&quantified.body))
        }
        Effect::When(condition, inner, _) => {
            format!("if {}, then {}", condition_clause(condition, wording), clause(inner))
        }
        Effect::Add(atom) => fact(atom, true, wording),
        Effect::Delete(atom, _) => fact(atom, false, wording),
        Effect::Assign(_) | Effect::Timed(..) => format!("`{}`", print_effect(effect)),
    }
}

fn fact(atom: &Atom, holds: bool, wording: &Wording) -> String {
    let arguments: Vec<&str> = atom.args.iter().map(term).collect();
    wording.clause(atom.predicate.as_str(), &arguments, holds)
}

/// The name of a term without a question mark.
fn term(term: &Term) -> &str {
    term.name().as_str().trim_start_matches('?')
}

/// `town a and parcel p`
fn variables<T>(quantified: &Quantified<T>) -> String {
    let one = |variable: &TypedName| {
        let ty = variable
            .ty
            .as_ref()
            .map(|ty| ty.alternatives.iter().map(|name| name.as_str()).collect::<Vec<_>>());
        let ty = ty.map_or("object".to_owned(), |names| names.join(" or "));
        format!("{ty} {}", variable.name.as_str().trim_start_matches('?'))
    };
    list(&quantified.parameters.iter().map(one).collect::<Vec<_>>())
}
