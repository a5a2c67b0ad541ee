//! The programs that judge candidates and choose rules, and their answers.

use super::candidates::{Candidate, Condition, head_text, variable};
use super::relations::{Conclusion, Relations};
use crate::syntax::ast::Term;
use crate::syntax::parse_ground_term;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The judgement of one candidate.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Judged {
    /// It concludes a missing fact.
    pub(super) live: bool,
    /// It concludes a fact that no reference has.
    pub(super) wrong: bool,
    /// The missing facts that it concludes, by index; empty if it is wrong.
    pub(super) covers: BTreeSet<usize>,
}

/// The program whose answer says which candidates conclude missing and wrong facts.
pub(super) fn coverage(relations: &Relations, conclusion: &Conclusion, rules: &[Candidate]) -> String {
    let mut out = format!("t(0..{}).\n", relations.examples.saturating_sub(1));
    let head = conclusion.relation;
    for example in 0..relations.examples {
        for relation in relations.usable(head) {
            for tuple in relations.wanted(relation, example) {
                let name = if relation == head { "right" } else { "holds" };
                let _ = writeln!(out, "{name}({example}, {}).", relations.form(relation).write(tuple));
            }
        }
        for tuple in relations.given(head, example) {
            let _ = writeln!(out, "given({example}, {}).", relations.form(head).write(tuple));
        }
    }
    for (index, (example, tuple)) in conclusion.missing.iter().enumerate() {
        let _ = writeln!(out, "missing({example}, {}, {index}).", relations.form(head).write(tuple));
    }
    for (index, rule) in rules.iter().enumerate() {
        push_rule(&mut out, index, rule, conclusion, relations);
    }
    out.push_str(
        "live(R) :- derived(R, T, F), missing(T, F, _).\n\
         wrong(R) :- derived(R, T, F), not right(T, F).\n\
         covers(R, I) :- derived(R, T, F), missing(T, F, I), not wrong(R).\n\
         #show live/1.\n#show wrong/1.\n#show covers/2.\n",
    );
    out
}

/// `derived(INDEX, T, HEAD) :- ...`. Conditions on the conclusion's own relation are about given and derived facts alone.
fn push_rule(
    out: &mut String,
    index: usize,
    rule: &Candidate,
    conclusion: &Conclusion,
    relations: &Relations,
) {
    let mut body = vec!["t(T)".to_owned()];
    for (at, ty) in conclusion.types.iter().enumerate() {
        body.extend(ty.map(|ty| format!("holds(T, {})", relations.form(ty).write(&[variable(at)]))));
    }
    let mut recurs = false;
    for condition in &rule.conditions {
        body.push(match condition {
            Condition::Different(..) => condition.text(relations),
            Condition::Atom { relation, negated, .. } => {
                let own = *relation == conclusion.relation;
                recurs |= own;
                let not = if *negated { "not " } else { "" };
                let from = if own { format!("own({index}, T, ") } else { "holds(T, ".to_owned() };
                format!("{not}{from}{})", condition.atom_text(relations))
            }
        });
    }
    let _ =
        writeln!(out, "derived({index}, T, {}) :- {}.", head_text(conclusion, relations), body.join(", "));
    if recurs {
        let _ = writeln!(
            out,
            "own({index}, T, F) :- given(T, F).\nown({index}, T, F) :- derived({index}, T, F)."
        );
    }
}

/// The judgements of so many candidates.
pub(super) fn judgements(atoms: &[String], count: usize) -> Vec<Judged> {
    let mut judged = vec![Judged::default(); count];
    for (name, numbers) in atoms.iter().filter_map(|atom| call(atom)) {
        let Some(entry) = numbers.first().and_then(|index| judged.get_mut(*index)) else { continue };
        match (name.as_str(), numbers.as_slice()) {
            ("live", _) => entry.live = true,
            ("wrong", _) => entry.wrong = true,
            ("covers", [_, fact]) => drop(entry.covers.insert(*fact)),
            _ => {}
        }
    }
    judged
}

/// The program whose optimal answer is the cheapest set of rules that concludes all missing facts. Of rules that conclude the same
/// ones the cheapest takes part, and of these the first. `rules`: costs and concluded facts.
pub(super) fn selection(rules: &[(u32, &BTreeSet<usize>)], missing: usize) -> String {
    let mut best: BTreeMap<&BTreeSet<usize>, (u32, usize)> = BTreeMap::new();
    for (index, (cost, covers)) in rules.iter().enumerate() {
        let entry = best.entry(covers).or_insert((*cost, index));
        *entry = (*entry).min((*cost, index));
    }
    let mut out = format!("missing(0..{}).\n", missing.saturating_sub(1));
    for (covers, (cost, index)) in best {
        let _ = writeln!(out, "cost({index}, {cost}).");
        for fact in covers {
            let _ = writeln!(out, "covers({index}, {fact}).");
        }
    }
    out.push_str(
        "{ use(R) } :- cost(R, _).\n\
         :- missing(I), not use(R) : covers(R, I).\n\
         #minimize { C@2, R : use(R), cost(R, C) }.\n\
         #minimize { R@1, R : use(R) }.\n\
         #show use/1.\n",
    );
    out
}

/// The indices of the chosen rules.
pub(super) fn chosen(atoms: &[String]) -> Vec<usize> {
    let calls = atoms.iter().filter_map(|atom| call(atom));
    let mut found: Vec<usize> =
        calls.filter(|(name, _)| name == "use").filter_map(|(_, numbers)| numbers.first().copied()).collect();
    found.sort_unstable();
    found
}

/// An atom whose arguments are numbers.
fn call(atom: &str) -> Option<(String, Vec<usize>)> {
    let Term::Function { name, arguments } = parse_ground_term(atom)? else { return None };
    let number = |term: &Term| match term {
        Term::Number(number) => usize::try_from(*number).ok(),
        _ => None,
    };
    Some((name, arguments.iter().map(number).collect::<Option<_>>()?))
}
