//! One reference domain with several problems, ready to be compared with any number of candidates.

use super::{
    Behaviour, ComparableModel, ComparedSide, ComparisonVerdict, DomainComparison, EquivalenceLimits,
    NotCompared, SearchEnd, comparable, compare_models,
};
use crate::resources::{ResourceLimits, StopReason};
use crate::walk::ModelError;
use planforge_pddl::ast::{Domain, Problem};

/// The reference with each of its problems.
#[derive(Debug)]
pub struct ExactReference {
    limits: EquivalenceLimits,
    problems: Vec<(ComparableModel, Problem)>,
}

/// A candidate's comparisons in the order of the problems, up to the first that shows a difference.
#[derive(Debug, Clone)]
pub struct Comparisons(
    /// By problem.
    pub Vec<Result<DomainComparison, NotCompared>>,
);

impl ExactReference {
    /// Makes the models of the reference.
    ///
    /// # Errors
    /// The first problem that is no model with this domain; [`NotCompared::side`] is always [`ComparedSide::First`].
    pub fn new(
        domain: &Domain,
        problems: &[&Problem],
        limits: &EquivalenceLimits,
        resources: &mut dyn ResourceLimits,
    ) -> Result<Self, NotCompared> {
        let mut ready = |problem: &&Problem| {
            comparable(ComparedSide::First, domain, problem, limits, resources)
                .map(|model| (model, (*problem).clone()))
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
    pub fn compare(&self, candidate: &Domain, resources: &mut dyn ResourceLimits) -> Comparisons {
        let mut all = Vec::with_capacity(self.problems.len());
        for (own, problem) in &self.problems {
            let compared = comparable(ComparedSide::Second, candidate, problem, &self.limits, resources)
                .and_then(|other| compare_models([own, &other], &self.limits, resources));
            let last = match &compared {
                Ok(found) => found.verdict() == ComparisonVerdict::Different || cancelled(found),
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
    pub fn decisive(&self) -> Option<(usize, &Result<DomainComparison, NotCompared>)> {
        let rank = |outcome: &Result<DomainComparison, NotCompared>| match outcome
            .as_ref()
            .map(DomainComparison::verdict)
        {
            Ok(ComparisonVerdict::Different) => 0,
            Err(_) => 1,
            Ok(ComparisonVerdict::Open) => 2,
            Ok(ComparisonVerdict::Equal) => 3,
        };
        self.0.iter().enumerate().min_by_key(|(place, outcome)| (rank(outcome), *place))
    }

    /// What they come to together.
    pub fn verdict(&self) -> ComparisonVerdict {
        match self.decisive() {
            Some((_, Ok(comparison))) => comparison.verdict(),
            Some((_, Err(_))) | None => ComparisonVerdict::Open,
        }
    }

    /// Pairs of states that were met, over all problems.
    pub fn pairs(&self) -> u64 {
        self.0.iter().flatten().map(|comparison| comparison.pairs).sum()
    }

    /// Where they are open and every problem was compared: all sequences of at most this many steps behave the same on all of them.
    pub fn equal_up_to(&self) -> Option<u32> {
        let steps = self.0.iter().map(|outcome| match outcome {
            Ok(DomainComparison { behaviour: Behaviour::EqualUpTo { steps, .. }, .. }) => Some(*steps),
            Ok(_) => Some(u32::MAX),
            Err(_) => None,
        });
        let least = steps.collect::<Option<Vec<u32>>>()?.into_iter().min()?;
        (self.verdict() == ComparisonVerdict::Open && least < u32::MAX).then_some(least)
    }

    /// Whether the caller cancelled before they were done.
    pub fn is_cancelled(&self) -> bool {
        self.0.iter().any(|outcome| match outcome {
            Ok(comparison) => cancelled(comparison),
            Err(not) => matches!(not.error, ModelError::Limit(StopReason::Cancelled)),
        })
    }
}

fn cancelled(comparison: &DomainComparison) -> bool {
    matches!(
        comparison.behaviour,
        Behaviour::EqualUpTo { end: SearchEnd::Stopped(StopReason::Cancelled), .. }
    )
}
