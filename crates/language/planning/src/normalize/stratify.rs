//! Strata of derived predicates: a rule may use a derived predicate negatively only from a lower stratum.

use super::Normalizer;
use crate::lifted::DerivedRule;
use crate::task::SourcePlace;
use planforge_diagnostics::Span;

/// Numbers the strata, or reports the rules that go through their own negation.
pub(crate) fn stratify(rules: &mut [DerivedRule], normalizer: &mut Normalizer) {
    let derived: Vec<bool> = normalizer.tables.predicates.iter().map(|p| p.derived).collect();
    // Edges head -> used derived predicate.
    let mut edges: Vec<(u32, u32, bool, Span)> = Vec::new();
    for rule in rules.iter() {
        rule.body.for_each_literal(&mut |atom, negated, span| {
            if derived[atom.predicate as usize] {
                edges.push((rule.predicate, atom.predicate, negated, span));
            }
        });
    }
    let mut faults = false;
    for &(head, used, negated, span) in &edges {
        if negated && depends_on(used, head, &edges) {
            faults = true;
            let names = &normalizer.tables.symbols.predicates;
            let (head, used) = (&names[head as usize], &names[used as usize]);
            let message =
                format!("{head} is derived through the negation of {used}, which depends on {head} again");
            let help = "a derived predicate may not depend on its own negation: break the cycle";
            normalizer.error("planning.not-stratifiable", message, SourcePlace::domain(span), help);
        }
    }
    if faults {
        return;
    }
    let mut stratum = vec![0u32; derived.len()];
    loop {
        let mut changed = false;
        for &(head, used, negated, _) in &edges {
            let least = stratum[used as usize] + u32::from(negated);
            if stratum[head as usize] < least {
                stratum[head as usize] = least;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    for rule in rules {
        rule.stratum = stratum[rule.predicate as usize];
    }
}

/// Returns true if `from` is `to` or depends on it, directly or not.
fn depends_on(from: u32, to: u32, edges: &[(u32, u32, bool, Span)]) -> bool {
    let mut seen = vec![from];
    let mut next = 0;
    while next < seen.len() {
        let current = seen[next];
        if current == to {
            return true;
        }
        for &(head, used, _, _) in edges {
            if head == current && !seen.contains(&used) {
                seen.push(used);
            }
        }
        next += 1;
    }
    false
}
