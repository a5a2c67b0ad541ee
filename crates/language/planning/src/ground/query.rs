//! Conditions as joins: each disjunct becomes a list of positive atoms to join, cheap checks, and what is left for later.

use crate::lifted::{Formula, LiftedAtom, Variable};

/// Disjuncts beyond this stay formulas and are split after grounding.
const MAX_DISJUNCTS: usize = 16;

/// One disjunct of a condition.
#[derive(Debug, Clone, Default)]
pub(crate) struct Query<'a> {
    /// Existential variables, bound like parameters.
    pub(crate) variables: Vec<&'a Variable>,
    /// The positive atoms.
    pub(crate) atoms: Vec<&'a LiftedAtom>,
    /// The same as formulas.
    pub(crate) literals: Vec<&'a Formula>,
    /// Negative literals and (in)equalities: [`Formula::Literal`] and [`Formula::Equal`] only.
    pub(crate) checks: Vec<&'a Formula>,
    /// Parts that only instantiation can expand.
    pub(crate) rest: Vec<&'a Formula>,
}

impl<'a> Query<'a> {
    fn merge(&self, other: &Query<'a>) -> Query<'a> {
        let mut all = self.clone();
        all.variables.extend(&other.variables);
        all.atoms.extend(&other.atoms);
        all.literals.extend(&other.literals);
        all.checks.extend(&other.checks);
        all.rest.extend(&other.rest);
        all
    }
}

/// The disjuncts of a condition. With `split` unset there is exactly one, and disjunctions and existential parts are in
/// its `rest`: for effects that may take place only once, however many ways their condition holds.
pub(crate) fn queries(formula: &Formula, split: bool) -> Vec<Query<'_>> {
    match formula {
        Formula::And(parts) => {
            let mut all = vec![Query::default()];
            for part in parts {
                let choices = queries(part, split);
                if choices.len() > 1 && all.len() * choices.len() > MAX_DISJUNCTS {
                    all.iter_mut().for_each(|q| q.rest.push(part));
                } else {
                    all = all.iter().flat_map(|q| choices.iter().map(move |c| q.merge(c))).collect();
                }
            }
            all
        }
        Formula::Or(parts, _) if split => {
            let all: Vec<Query<'_>> = parts.iter().flat_map(|p| queries(p, split)).collect();
            if all.len() > MAX_DISJUNCTS {
                vec![Query { rest: vec![formula], ..Query::default() }]
            } else {
                all
            }
        }
        Formula::Exists(variables, body, _) if split => {
            let mut all = queries(body, split);
            for query in &mut all {
                query.variables.extend(variables);
            }
            all
        }
        Formula::Literal { atom, negated: false, .. } => {
            vec![Query { atoms: vec![atom], literals: vec![formula], ..Query::default() }]
        }
        Formula::Literal { .. } | Formula::Equal { .. } => {
            vec![Query { checks: vec![formula], ..Query::default() }]
        }
        Formula::Or(..) | Formula::Exists(..) | Formula::Forall(..) | Formula::Compare { .. } => {
            vec![Query { rest: vec![formula], ..Query::default() }]
        }
    }
}
