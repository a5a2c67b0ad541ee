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
    /// Comparisons, by problem.
    pub Vec<Result<DomainComparison, NotCompared>>,
);

impl ExactReference {
    /// Builds the models of the reference.
    ///
    /// # Errors
    /// The first problem that is not a model with this domain; [`NotCompared::side`] is always
    /// [`ComparedSide::First`].
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

    /// Returns the number of problems.
    pub const fn problems(&self) -> usize {
        self.problems.len()
    }

    /// Compares a candidate on the reference's problems. Stops at the first difference, at the first problem
    /// that is not a model with the candidate, and if the caller cancels.
    pub fn compare(&self, candidate: &Domain, resources: &mut dyn ResourceLimits) -> Comparisons {
        let mut all = Vec::with_capacity(self.problems.len());
        for (own, problem) in &self.problems {
            let compared = comparable(ComparedSide::Second, candidate, problem, &self.limits, resources)
                .and_then(|other| compare_models([own, &other], &self.limits, resources));
            let last = match &compared {
                Ok(found) => found.verdict() == ComparisonVerdict::Different || was_cancelled(found),
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
    /// Returns the decisive comparison with its problem's index: the one that differs, otherwise a failed
    /// one, otherwise an open one, otherwise the first. `None` if there are no comparisons.
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

    /// Returns the overall result.
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

    /// Returns the length up to which all sequences behave the same on all problems. `None` unless the result
    /// is open and every problem was compared.
    pub fn equal_up_to(&self) -> Option<u32> {
        let steps = self.0.iter().map(|outcome| match outcome {
            Ok(DomainComparison { behaviour: Behaviour::EqualUpTo { steps, .. }, .. }) => Some(*steps),
            Ok(_) => Some(u32::MAX),
            Err(_) => None,
        });
        let least = steps.collect::<Option<Vec<u32>>>()?.into_iter().min()?;
        (self.verdict() == ComparisonVerdict::Open && least < u32::MAX).then_some(least)
    }

    /// Returns true if the caller cancelled the comparisons.
    pub fn is_cancelled(&self) -> bool {
        self.0.iter().any(|outcome| match outcome {
            Ok(comparison) => was_cancelled(comparison),
            Err(not) => matches!(not.error, ModelError::Limit(StopReason::Cancelled)),
        })
    }
}

fn was_cancelled(comparison: &DomainComparison) -> bool {
    matches!(
        comparison.behaviour,
        Behaviour::EqualUpTo { end: SearchEnd::Stopped(StopReason::Cancelled), .. }
    )
}
