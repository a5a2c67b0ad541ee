//! Ground formulas: negation, the value after an operator, and disjuncts.

use crate::bits;
use crate::ground::{Ground, junction};
use crate::task::{Condition, Fact, Operator};

/// Literals that hold together: facts, and true for each that is negated.
pub(super) type Literals = Vec<(Fact, bool)>;

/// The negation of a formula.
pub(super) fn negation(formula: &Ground) -> Ground {
    match formula {
        Ground::True => Ground::False,
        Ground::False => Ground::True,
        Ground::Literal(fact, negated) => Ground::Literal(*fact, !negated),
        // Comparisons are derived facts before.
        Ground::Number(comparison) => Ground::Number(comparison.clone()),
        Ground::And(parts) => junction(parts.iter().map(negation).collect(), false),
        Ground::Or(parts) => junction(parts.iter().map(negation).collect(), true),
    }
}

pub(super) fn all(parts: impl IntoIterator<Item = Ground>) -> Ground {
    combine(parts, true)
}

pub(super) fn any(parts: impl IntoIterator<Item = Ground>) -> Ground {
    combine(parts, false)
}

fn combine(parts: impl IntoIterator<Item = Ground>, conjunction: bool) -> Ground {
    let mut kept = Vec::new();
    for part in parts {
        match part {
            Ground::False if conjunction => return part,
            Ground::True if !conjunction => return part,
            part => kept.push(part),
        }
    }
    junction(kept, conjunction)
}

/// The formula with each literal replaced.
pub(super) fn replace(formula: &Ground, value: &mut dyn FnMut(Fact, bool) -> Ground) -> Ground {
    match formula {
        Ground::True | Ground::False | Ground::Number(_) => formula.clone(),
        Ground::Literal(fact, negated) => value(*fact, *negated),
        Ground::And(parts) => all(parts.iter().map(|part| replace(part, value)).collect::<Vec<_>>()),
        Ground::Or(parts) => any(parts.iter().map(|part| replace(part, value)).collect::<Vec<_>>()),
    }
}

/// Calls `f` with each fact of a formula.
pub(super) fn for_each_fact(formula: &Ground, f: &mut dyn FnMut(Fact)) {
    formula.for_each_leaf(&mut |leaf| {
        if let Ground::Literal(fact, _) = leaf {
            f(*fact);
        }
    });
}

/// Returns true if the formula compares numbers.
pub(super) fn has_comparison(formula: &Ground) -> bool {
    let mut found = false;
    formula.for_each_leaf(&mut |leaf| found |= matches!(leaf, Ground::Number(_)));
    found
}

/// Estimated bytes of a formula.
pub(super) fn bytes(formula: &Ground) -> u64 {
    let mut leaves = 0;
    formula.for_each_leaf(&mut |_| leaves += 1);
    // A list of parts has room for more than it has.
    2 * leaves * size_of::<Ground>() as u64
}

/// Returns true if the formula holds in a state.
pub(super) fn holds(formula: &Ground, state: &[u64]) -> bool {
    match formula {
        Ground::True => true,
        Ground::False | Ground::Number(_) => false,
        Ground::Literal(fact, negated) => bits::get(state, *fact) != *negated,
        Ground::And(parts) => parts.iter().all(|part| holds(part, state)),
        Ground::Or(parts) => parts.iter().any(|part| holds(part, state)),
    }
}

/// The formula in a state where the condition holds.
pub(super) fn under(formula: &Ground, condition: &Condition) -> Ground {
    replace(formula, &mut |fact, negated| literal_under(fact, negated, condition))
}

fn literal_under(fact: Fact, negated: bool, condition: &Condition) -> Ground {
    let truth = |holds: bool| if holds == negated { Ground::False } else { Ground::True };
    if condition.positive.binary_search(&fact).is_ok() {
        truth(true)
    } else if condition.negative.binary_search(&fact).is_ok() {
        truth(false)
    } else {
        Ground::Literal(fact, negated)
    }
}

/// The condition on the state before an operator that makes the formula true after it. The facts of the formula are basic.
pub(super) fn before(formula: &Ground, operator: &Operator) -> Ground {
    replace(formula, &mut |fact, negated| {
        let own = literal_before(fact, operator);
        if negated { negation(&own) } else { own }
    })
}

fn literal_before(fact: Fact, operator: &Operator) -> Ground {
    let has = |list: &[Fact]| list.contains(&fact);
    if has(&operator.add) {
        return Ground::True;
    }
    let as_formula = |condition: &Condition| under(&of_condition(condition), &operator.precondition);
    let added = operator.conditional.iter().filter(|e| has(&e.add)).map(|e| as_formula(&e.condition));
    let deleted = operator.conditional.iter().filter(|e| has(&e.delete)).map(|e| as_formula(&e.condition));
    let stays = if has(&operator.delete) {
        Ground::False
    } else {
        let deleted = any(deleted.collect::<Vec<_>>());
        all([literal_under(fact, false, &operator.precondition), negation(&deleted)])
    };
    any(added.chain([stays]).collect::<Vec<_>>())
}

/// The condition as a formula.
pub(super) fn of_condition(condition: &Condition) -> Ground {
    let positive = condition.positive.iter().map(|&fact| Ground::Literal(fact, false));
    junction(
        positive.chain(condition.negative.iter().map(|&fact| Ground::Literal(fact, true))).collect(),
        true,
    )
}

/// The disjuncts of a formula, each sorted and without contradiction; `None` if they are more than `most`.
pub(super) fn disjuncts(formula: &Ground, most: usize) -> Option<Vec<Literals>> {
    let found = match formula {
        Ground::True => vec![Vec::new()],
        Ground::False | Ground::Number(_) => Vec::new(),
        Ground::Literal(fact, negated) => vec![vec![(*fact, *negated)]],
        Ground::Or(parts) => {
            let mut found = Vec::new();
            for part in parts {
                found.extend(disjuncts(part, most)?);
                if found.len() > most {
                    return None;
                }
            }
            found
        }
        Ground::And(parts) => {
            let mut found = vec![Vec::new()];
            for part in parts {
                let choices = disjuncts(part, most)?;
                if found.len() * choices.len() > most {
                    return None;
                }
                found =
                    found.iter().flat_map(|one| choices.iter().filter_map(|two| merge(one, two))).collect();
            }
            found
        }
    };
    Some(found)
}

/// Both lists of literals; `None` if they contradict each other.
pub(super) fn merge(one: &[(Fact, bool)], two: &[(Fact, bool)]) -> Option<Literals> {
    let mut merged = [one, two].concat();
    merged.sort_unstable();
    merged.dedup();
    (!merged.windows(2).any(|pair| pair[0].0 == pair[1].0)).then_some(merged)
}

/// The condition with more literals; `None` if they contradict each other.
pub(super) fn with_literals(condition: &Condition, literals: &[(Fact, bool)]) -> Option<Condition> {
    let own = condition.positive.iter().map(|&fact| (fact, false));
    let own: Literals = own.chain(condition.negative.iter().map(|&fact| (fact, true))).collect();
    let merged = merge(&own, literals)?;
    let side = |wanted| merged.iter().filter(|(_, negated)| *negated == wanted).map(|l| l.0).collect();
    Some(Condition { positive: side(false), negative: side(true), numeric: condition.numeric.clone() })
}
