//! Conditions and effects of action schemas as clauses.

use planforge_pddl::ast::{Atom, Condition, Effect, Quantified, Term, TypedName};
use planforge_pddl::{print_condition, print_effect};
use planforge_plugin_sdk::wording::{Wording, list};

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
