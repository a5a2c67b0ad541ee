//! Derived atoms of a state: rules are evaluated by strata, each atom joined with the others when it is new
//! (semi-naive), and only strata whose inputs changed.

use super::view::View;
use crate::ground::{Query, queries};
use crate::lifted::{DerivedRule, Formula};
use crate::satisfy::{Args, Cut, Search, Substitute, Work};
use crate::task::ObjectId;
use rustc_hash::{FxHashMap, FxHashSet};

/// One disjunct of a rule's body.
struct Disjunct<'r> {
    rule: &'r DerivedRule,
    query: Query<'r>,
    /// The positive atoms as formulas come first in `parts`.
    parts: Vec<(&'r Formula, bool)>,
    /// Parts that are atoms of the same stratum.
    recursive: Vec<(usize, u32)>,
    /// True if such atoms also occur where a join does not see them: below a quantifier or in a long disjunction.
    hidden: bool,
}

/// Brings the derived atoms of `facts` up to date, those of predicates in `skip` aside, which no other rule uses. `changed` marks
/// the predicates whose atoms changed; derived ones are added.
pub(super) fn close(
    rules: &[DerivedRule],
    skip: &[bool],
    facts: &mut [FxHashSet<Args>],
    state: &View<'_>,
    changed: &mut [bool],
    numbers_changed: bool,
    work: &mut Work<'_>,
) -> Result<(), Cut> {
    let mut rest = rules;
    while let Some(first) = rest.first() {
        let end = rest.iter().take_while(|r| r.stratum == first.stratum).count();
        let (stratum, later) = rest.split_at(end);
        rest = later;
        let stratum: Vec<&DerivedRule> =
            stratum.iter().filter(|r| !skip.get(r.predicate as usize).is_some_and(|&skip| skip)).collect();
        let heads: FxHashSet<u32> = stratum.iter().map(|r| r.predicate).collect();
        let mut stale = heads.iter().any(|&p| changed[p as usize]);
        for rule in &stratum {
            rule.body.for_each_literal(&mut |atom, _, _| stale |= changed[atom.predicate as usize]);
            stale |= numbers_changed && rule.body.has_comparison();
        }
        if stale {
            let mut before: Vec<(u32, FxHashSet<Args>)> = Vec::with_capacity(heads.len());
            for &predicate in &heads {
                // Marked until the stratum is complete, so that a cut does not leave half of it as a result.
                changed[predicate as usize] = true;
                before.push((predicate, std::mem::take(&mut facts[predicate as usize])));
            }
            derive_stratum(&stratum, &heads, facts, state, work)?;
            for (predicate, old) in before {
                changed[predicate as usize] = old != facts[predicate as usize];
            }
        }
    }
    Ok(())
}

fn derive_stratum(
    stratum: &[&DerivedRule],
    heads: &FxHashSet<u32>,
    facts: &mut [FxHashSet<Args>],
    state: &View<'_>,
    work: &mut Work<'_>,
) -> Result<(), Cut> {
    let disjuncts: Vec<Disjunct<'_>> = stratum
        .iter()
        .flat_map(|rule| queries(&rule.body, true).into_iter().map(move |query| (*rule, query)))
        .map(|(rule, query)| Disjunct::new(rule, query, heads))
        .collect();
    let mut fresh: FxHashMap<u32, Vec<Args>> = FxHashMap::default();
    let mut found: Vec<(u32, Args)> = Vec::new();
    for disjunct in &disjuncts {
        disjunct.consequences(None, facts, state, &mut found, work)?;
    }
    loop {
        for (predicate, args) in found.drain(..) {
            work.tick()?;
            if facts[predicate as usize].insert(args.clone()) {
                work.charge(64 + 4 * args.len() as u64)?;
                fresh.entry(predicate).or_default().push(args);
            }
        }
        if fresh.is_empty() {
            return Ok(());
        }
        let delta = std::mem::take(&mut fresh);
        for disjunct in &disjuncts {
            if disjunct.hidden {
                disjunct.consequences(None, facts, state, &mut found, work)?;
                continue;
            }
            for &(part, predicate) in &disjunct.recursive {
                if let Some(rows) = delta.get(&predicate) {
                    disjunct.consequences(Some(Substitute { part, rows }), facts, state, &mut found, work)?;
                }
            }
        }
    }
}

impl<'r> Disjunct<'r> {
    fn new(rule: &'r DerivedRule, query: Query<'r>, heads: &FxHashSet<u32>) -> Self {
        let mut parts: Vec<(&'r Formula, bool)> = Vec::new();
        let mut recursive = Vec::new();
        let mut hidden = false;
        for atom in &query.literals {
            if let Formula::Literal { atom, .. } = atom
                && heads.contains(&atom.predicate)
            {
                recursive.push((parts.len(), atom.predicate));
            }
            parts.push((atom, true));
        }
        for part in query.checks.iter().chain(&query.rest) {
            part.for_each_literal(&mut |atom, _, _| hidden |= heads.contains(&atom.predicate));
            parts.push((part, true));
        }
        Disjunct { rule, query, parts, recursive, hidden }
    }

    /// Appends the heads that follow and are not known yet.
    fn consequences(
        &self,
        substitute: Option<Substitute<'_>>,
        facts: &[FxHashSet<Args>],
        state: &View<'_>,
        found: &mut Vec<(u32, Args)>,
        work: &mut Work<'_>,
    ) -> Result<(), Cut> {
        let view = View { facts, ..*state };
        let mut binding = vec![ObjectId::MAX; self.rule.slots];
        let open = self.rule.variables.iter().chain(self.query.variables.iter().copied()).collect();
        let project: Vec<u32> = self.rule.variables.iter().map(|v| v.slot).collect();
        let search = Search::new(open, self.parts.clone(), &project, substitute, &view, &binding);
        search.run(&view, &mut binding, work, &mut |b, _| {
            let args: Args = project.iter().map(|&slot| b[slot as usize]).collect();
            if !facts[self.rule.predicate as usize].contains(&args) {
                found.push((self.rule.predicate, args));
            }
            Ok(true)
        })
    }
}
