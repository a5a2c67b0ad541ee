//! The score of two models (Definition 1, Eq. 2): computed while that fits, else sampled.

use crate::options::{Mode, Policy, Settings};
use planforge_pddl::random::Random;
use planforge_planning::walk::{
    self, Counterexample, CounterexampleLimits, DirectionSample, ExactDirection, ExactError, FailingWalk,
    Model, SchemaCount, ScoreInterval, TaskDirections, WalkDirection, WalkScore, interval,
};
use planforge_planning::{Poll, ResourceLimits, StopReason};

/// Both directions, reference to candidate first.
pub const DIRECTIONS: [WalkDirection; 2] =
    [WalkDirection::ReferenceToCandidate, WalkDirection::CandidateToReference];

/// One direction of one problem.
#[derive(Debug, Clone, PartialEq)]
pub enum DirectionMeasure {
    /// The source has no applicable action initially.
    Undefined,
    /// The expected share.
    Exact(ExactDirection),
    /// The share of drawn walks.
    Sampled(Box<DirectionSample>),
}

impl DirectionMeasure {
    pub fn score(&self) -> Option<f64> {
        match self {
            DirectionMeasure::Undefined => None,
            DirectionMeasure::Exact(exact) => exact.score(),
            DirectionMeasure::Sampled(sample) => sample.score(),
        }
    }

    /// Walks drawn; 0 where none were needed.
    pub fn walks(&self) -> u64 {
        match self {
            DirectionMeasure::Sampled(sample) => sample.lengths.iter().map(|l| u64::from(l.walks)).sum(),
            _ => 0,
        }
    }

    /// Lengths without any walk of the source.
    pub fn left_out(&self) -> Vec<u32> {
        match self {
            DirectionMeasure::Undefined => Vec::new(),
            DirectionMeasure::Exact(exact) => {
                exact.lengths.iter().filter(|l| l.probability.is_none()).map(|l| l.length).collect()
            }
            DirectionMeasure::Sampled(sample) => sample.left_out().collect(),
        }
    }
}

/// Both directions of one problem, reference to candidate first.
pub type Problem = [DirectionMeasure; 2];

/// The comparison of two domains over their problems.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The results of each problem; at least one.
    pub problems: Vec<Problem>,
    /// The score of Eq. 2.
    pub score: WalkScore,
    /// True if the score was computed and not sampled.
    pub exact: bool,
    /// The interval of the score at the confidence of the settings; `None` if it is undefined or walks are
    /// not independent.
    pub interval: Option<ScoreInterval>,
    /// The interval of each direction, at a level at which both hold together.
    pub directions: [Option<ScoreInterval>; 2],
}

impl Measured {
    pub fn of(problems: Vec<Problem>, settings: &Settings) -> Self {
        let one = |p: &Problem| TaskDirections {
            reference_to_candidate: p[0].score(),
            candidate_to_reference: p[1].score(),
        };
        let score = WalkScore::combine(&problems.iter().map(one).collect::<Vec<_>>());
        let exact = problems.iter().flatten().any(|m| matches!(m, DirectionMeasure::Exact(_)));
        let scores = [score.reference_to_candidate, score.candidate_to_reference];
        let directions = [0, 1].map(|d| match (exact, scores[d], settings.policy) {
            (_, None, _) | (false, _, Policy::CoverageGuided) => None,
            (true, Some(s), _) => Some(ScoreInterval { low: s, high: s }),
            (false, Some(_), Policy::Uniform) => {
                let sampled = problems.iter().filter_map(|p| match &p[d] {
                    DirectionMeasure::Sampled(sample) => Some(&**sample),
                    _ => None,
                });
                let alpha = (1.0 - settings.confidence) / 2.0;
                Some(interval::direction_interval(&interval::strata(sampled), alpha))
            }
        });
        let interval = match (score.score, directions) {
            (Some(_), [Some(a), Some(b)]) => Some(WalkScore::interval(a, b)),
            _ => None,
        };
        Self { problems, score, exact, interval, directions }
    }

    /// Walks drawn, all problems and directions together.
    pub fn walks(&self) -> u64 {
        self.problems.iter().flatten().map(DirectionMeasure::walks).sum()
    }

    /// The numbers of trials and refusals of each action of a direction over all problems; expected steps if
    /// the score was computed.
    pub fn actions(&self, direction: usize) -> Vec<Action> {
        let mut all: Vec<Action> = Vec::new();
        let mut add = |name: &str, tried: f64, refused: f64| match all.iter_mut().find(|a| a.name == name) {
            Some(known) => {
                known.tried += tried;
                known.refused += refused;
            }
            None => all.push(Action { name: name.to_owned(), tried, refused }),
        };
        for problem in &self.problems {
            match &problem[direction] {
                DirectionMeasure::Undefined => {}
                DirectionMeasure::Exact(exact) => {
                    exact.schemas.iter().for_each(|s| add(&s.name, s.tried, s.refused))
                }
                DirectionMeasure::Sampled(sample) => sample
                    .schemas
                    .iter()
                    .for_each(|s: &SchemaCount| add(&s.name, s.tried as f64, s.refused as f64)),
            }
        }
        all
    }
}

/// An action of one direction.
#[derive(Debug, Clone, PartialEq)]
pub struct Action {
    /// Its name in the source.
    pub name: String,
    /// Steps tried on the target: counted, or expected on a walk of the longest length.
    pub tried: f64,
    /// Steps refused there: counted, or the probability that a walk fails at this action.
    pub refused: f64,
}

/// The part that exceeds a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TooLarge {
    /// More pairs of states than allowed.
    Pairs(ExactError),
    /// More bytes of states and steps than allowed.
    Bytes(u64),
}

/// The reason for a missing score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoScore {
    /// The score was to be computed, and does not fit.
    TooLarge(TooLarge),
    /// A limit or an interruption.
    Stopped(StopReason),
}

impl std::fmt::Display for NoScore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TooLarge(TooLarge::Pairs(error)) => write!(f, "the exact score does not fit: {error}"),
            Self::TooLarge(TooLarge::Bytes(bytes)) => {
                write!(
                    f,
                    "the exact score does not fit: walks reach states and steps of more than {} MB",
                    bytes >> 20
                )
            }
            Self::Stopped(reason) => write!(f, "{reason} was reached"),
        }
    }
}

/// Compares pairs of models (reference, candidate), one a problem.
///
/// # Errors
/// See [`NoScore`].
pub fn models(
    pairs: &[(&Model, &Model)],
    settings: &Settings,
    seed: u64,
    budget: &mut dyn ResourceLimits,
) -> Result<Measured, NoScore> {
    let exact_allowed = settings.policy == Policy::Uniform && settings.mode != Mode::Sampled;
    if exact_allowed {
        match exact(pairs, settings, budget) {
            Ok(problems) => return Ok(Measured::of(problems, settings)),
            Err(NoScore::TooLarge(_)) if settings.mode == Mode::Auto => {}
            Err(error) => return Err(error),
        }
    }
    let mut problems = Vec::with_capacity(pairs.len());
    for (number, (reference, candidate)) in pairs.iter().enumerate() {
        let mut sample = |d: usize| {
            let (source, target) = DIRECTIONS[d].models(*reference, *candidate);
            let spec = settings.sample_spec(seed_of(seed, number, d));
            match walk::sample_direction(source, target, &spec, budget) {
                Ok(Some(sample)) => Ok(DirectionMeasure::Sampled(Box::new(sample))),
                Ok(None) => Ok(DirectionMeasure::Undefined),
                Err(reason) => Err(NoScore::Stopped(reason)),
            }
        };
        problems.push([sample(0)?, sample(1)?]);
    }
    Ok(Measured::of(problems, settings))
}

/// The seed of one problem and direction.
pub(crate) fn seed_of(seed: u64, problem: usize, direction: usize) -> u64 {
    Random::stream(seed, (2 * problem + direction) as u64).next_u64()
}

/// All problems, or none: a mean of computed and sampled scores would have no interval.
fn exact(
    pairs: &[(&Model, &Model)],
    settings: &Settings,
    budget: &mut dyn ResourceLimits,
) -> Result<Vec<Problem>, NoScore> {
    let mut capped = Capped::new(budget, settings.exact_bytes);
    let outcome = exact_within(pairs, settings, &mut capped);
    outcome.map_err(|error| match error {
        ExactError::Stopped(_) if capped.full => NoScore::TooLarge(TooLarge::Bytes(settings.exact_bytes)),
        ExactError::Stopped(reason) => NoScore::Stopped(reason),
        pairs @ ExactError::Pairs { .. } => NoScore::TooLarge(TooLarge::Pairs(pairs)),
    })
}

fn exact_within(
    pairs: &[(&Model, &Model)],
    settings: &Settings,
    budget: &mut dyn ResourceLimits,
) -> Result<Vec<Problem>, ExactError> {
    let mut problems = Vec::with_capacity(pairs.len());
    for (reference, candidate) in pairs {
        let mut one = |direction: WalkDirection| {
            let (source, target) = direction.models(*reference, *candidate);
            let dead_ends = settings.walk_dead_ends();
            let found = walk::exact_direction(
                source,
                target,
                settings.t_max,
                dead_ends,
                settings.exact_pairs,
                budget,
            )?;
            Ok::<_, ExactError>(found.map_or(DirectionMeasure::Undefined, DirectionMeasure::Exact))
        };
        problems.push([one(DIRECTIONS[0])?, one(DIRECTIONS[1])?]);
    }
    Ok(problems)
}

/// The shortest failing walk of either direction up to the longest walk that counts; [`walk::CounterexampleOutcome::None`] proves that the score
/// is 1.
pub fn shortest_failing(
    reference: &Model,
    candidate: &Model,
    settings: &Settings,
    problem: Option<&Problem>,
    budget: &mut dyn ResourceLimits,
) -> walk::CounterexampleOutcome {
    let sampled = sampled_walks(problem, |sample| sample.shortest_failing.as_slice());
    let mut capped = Capped::new(budget, settings.exact_bytes);
    let search = walk::counterexample(reference, candidate, search_limits(settings), &sampled, &mut capped);
    match search {
        // The plugin's own cap is not a limit of the call: the search just ends.
        walk::CounterexampleOutcome::LimitReached { searched, .. } if capped.full => {
            walk::CounterexampleOutcome::LimitReached { searched, reason: None }
        }
        search => search,
    }
}

/// A minimal failing walk of each direction and refused action, found in the same way.
pub(crate) fn each_failing(
    reference: &Model,
    candidate: &Model,
    settings: &Settings,
    problem: Option<&Problem>,
    budget: &mut dyn ResourceLimits,
) -> Vec<Counterexample> {
    let sampled = sampled_walks(problem, |sample| &sample.failing_by_schema);
    let mut capped = Capped::new(budget, settings.exact_bytes);
    walk::counterexamples(reference, candidate, search_limits(settings), &sampled, &mut capped)
}

fn search_limits(settings: &Settings) -> CounterexampleLimits {
    CounterexampleLimits { max_pairs: settings.exact_pairs, max_length: Some(settings.t_max) }
}

/// Failing walks of the samples of a problem, each with its direction.
fn sampled_walks<'p>(
    problem: Option<&'p Problem>,
    walks: impl Fn(&'p DirectionSample) -> &'p [FailingWalk],
) -> Vec<(WalkDirection, &'p FailingWalk)> {
    let mut sampled = Vec::new();
    for (direction, measure) in DIRECTIONS.into_iter().zip(problem.into_iter().flatten()) {
        if let DirectionMeasure::Sampled(sample) = measure {
            sampled.extend(walks(sample).iter().map(|walk| (direction, walk)));
        }
    }
    sampled
}

/// A budget with an additional cap on bytes. Charges depend on the models alone, so it ends the work at the
/// same point on every machine.
pub(crate) struct Capped<'b> {
    inner: &'b mut dyn ResourceLimits,
    left: u64,
    /// True once the cap is reached.
    pub(crate) full: bool,
}

impl<'b> Capped<'b> {
    pub(crate) fn new(inner: &'b mut dyn ResourceLimits, bytes: u64) -> Self {
        Self { inner, left: bytes, full: false }
    }
}

impl ResourceLimits for Capped<'_> {
    fn poll(&mut self) -> Poll {
        self.inner.poll()
    }

    fn charge(&mut self, bytes: u64) -> Poll {
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                self.inner.charge(bytes)
            }
            None => {
                self.full = true;
                Poll::Stop(StopReason::Memory)
            }
        }
    }
    fn release(&mut self, bytes: u64) {
        self.left = self.left.saturating_add(bytes);
        self.inner.release(bytes);
    }
    fn bytes_left(&self) -> u64 {
        self.left.min(self.inner.bytes_left())
    }
}
