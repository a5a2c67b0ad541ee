//! One reference domain with several problems, ready to be compared with any number of candidates.

use super::{
    Behaviour, Comparable, Comparison, DomainLimits, NotCompared, SearchEnd, Side, Verdict, comparable,
    compare_models,
};
use crate::budget::{Budget, StopReason};
use crate::walk::ModelError;
use planforge_pddl::ast::{Domain, Problem};

/// The reference with each of its problems.
#[derive(Debug)]
pub struct ExactReference {
    limits: DomainLimits,
    problems: Vec<(Comparable, Problem)>,
}

/// A candidate's comparisons in the order of the problems, up to the first that shows a difference.
#[derive(Debug, Clone)]
pub struct Comparisons(
    /// By problem.
    pub Vec<Result<Comparison, NotCompared>>,
);

impl ExactReference {
    /// Makes the models of the reference.
    ///
    /// # Errors
    /// The first problem that is no model with this domain; [`NotCompared::side`] is always [`Side::First`].
    pub fn new(
        domain: &Domain,
        problems: &[&Problem],
        limits: &DomainLimits,
        budget: &mut dyn Budget,
    ) -> Result<Self, NotCompared> {
        let mut ready = |problem: &&Problem| {
            comparable(Side::First, domain, problem, limits, budget).map(|model| (model, (*problem).clone()))
        };
        let problems = problems.iter().map(&mut ready).collect::<Result<_, _>>()?;
        Ok(Self { limits: *limits, problems })
    }

    /// How many problems there are.
    pub const fn problems(&self) -> usize {
        self.problems.len()
    }

    /// Compares a candidate on the problems as they stand. Ends with the first difference, with a candidate that is no model of
    /// a problem, and where the caller cancels.
    pub fn compare(&self, candidate: &Domain, budget: &mut dyn Budget) -> Comparisons {
        let mut all = Vec::with_capacity(self.problems.len());
        for (own, problem) in &self.problems {
            let compared = comparable(Side::Second, candidate, problem, &self.limits, budget)
                .and_then(|other| compare_models([own, &other], &self.limits, budget));
            let last = match &compared {
                Ok(found) => found.verdict() == Verdict::Different || cancelled(found),
                Err(not) => {
                    matches!(not.error, ModelError::Invalid(_) | ModelError::Limit(StopReason::Cancelled))
                }
            };
            all.push(compared);
            if last {
                break;
            }
        }
        Comparisons(all)
    }
}

impl Comparisons {
    /// The comparison that decides, with its problem's place from 0: the one that differs, else one that could not be made, else one that is
    /// open, else the first. `None` where there is none at all.
    pub fn decisive(&self) -> Option<(usize, &Result<Comparison, NotCompared>)> {
        let rank = |outcome: &Result<Comparison, NotCompared>| match outcome.as_ref().map(Comparison::verdict)
        {
            Ok(Verdict::Different) => 0,
            Err(_) => 1,
            Ok(Verdict::Open) => 2,
            Ok(Verdict::Equal) => 3,
        };
        self.0.iter().enumerate().min_by_key(|(place, outcome)| (rank(outcome), *place))
    }

    /// What they come to together.
    pub fn verdict(&self) -> Verdict {
        match self.decisive() {
            Some((_, Ok(comparison))) => comparison.verdict(),
            Some((_, Err(_))) | None => Verdict::Open,
        }
    }

    /// Pairs of states that were met, over all problems.
    pub fn pairs(&self) -> u64 {
        self.0.iter().flatten().map(|comparison| comparison.pairs).sum()
    }

    /// Where they are open and every problem was compared: all sequences of at most this many steps behave the same on all of them.
    pub fn equal_up_to(&self) -> Option<u32> {
        let steps = self.0.iter().map(|outcome| match outcome {
            Ok(Comparison { behaviour: Behaviour::EqualUpTo { steps, .. }, .. }) => Some(*steps),
            Ok(_) => Some(u32::MAX),
            Err(_) => None,
        });
        let least = steps.collect::<Option<Vec<u32>>>()?.into_iter().min()?;
        (self.verdict() == Verdict::Open && least < u32::MAX).then_some(least)
    }

    /// Whether the caller cancelled before they were done.
    pub fn is_cancelled(&self) -> bool {
        self.0.iter().any(|outcome| match outcome {
            Ok(comparison) => cancelled(comparison),
            Err(not) => matches!(not.error, ModelError::Limit(StopReason::Cancelled)),
        })
    }
}

fn cancelled(comparison: &Comparison) -> bool {
    matches!(
        comparison.behaviour,
        Behaviour::EqualUpTo { end: SearchEnd::Stopped(StopReason::Cancelled), .. }
    )
}
