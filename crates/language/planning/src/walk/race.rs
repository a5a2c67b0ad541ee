//! Selects the candidate with the highest walk score, with few walks.
//!
//! Walks are drawn round-robin, one block for each candidate: for every problem and direction one walk of
//! each length. A block's share of executable walks is an observation whose mean is the one-sided score, so a
//! [`ConfidenceSequence`] bounds that score at any time. The level is divided among all candidates and
//! directions (union bound): with the stated confidence all bounds hold, and so do the eliminations and the
//! decision.

use super::interval::{ConfidenceSequence, ScoreInterval};
use super::model::Model;
use super::sample::{DeadEnds, DrawOutcome, Trial, WalkPolicy, Walker};
use super::{WalkDirection, WalkScore, harmonic_mean};
use crate::resources::{ResourceLimits, StopReason};
use planforge_pddl::random::Random;

const DIRECTIONS: [WalkDirection; 2] =
    [WalkDirection::ReferenceToCandidate, WalkDirection::CandidateToReference];

/// One problem of a candidate.
#[derive(Debug, Clone, Copy)]
pub struct ModelPair<'m> {
    /// The reference model of the problem.
    pub reference: &'m Model,
    /// The candidate model of the problem.
    pub candidate: &'m Model,
}

/// Options of a race.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RaceSpec {
    /// Longest walk, in steps, at least 1.
    pub t_max: u32,
    /// Seed of all random choices.
    pub seed: u64,
    /// Treatment of dead ends.
    pub dead_ends: DeadEnds,
    /// The probability that every bound holds throughout, for example 0.95.
    pub confidence: f64,
    /// Candidates within this distance of the best count as best; 0 requires a strict winner, which equal
    /// candidates never give.
    pub tolerance: f64,
    /// Most walks, all candidates and directions together.
    pub max_walks: u64,
}

/// A candidate in the race.
#[derive(Debug, Clone)]
pub struct CandidateState {
    /// The bounds of its reference-to-candidate and candidate-to-reference scores; `None` where a direction is not defined,
    /// and then the candidate is not in the race.
    sequences: Option<[ConfidenceSequence; 2]>,
    /// Number of observed blocks.
    pub blocks: u64,
    /// After how many blocks it was out.
    pub eliminated_at: Option<u64>,
    /// Bounds of the score at the last update.
    pub interval: ScoreInterval,
    /// The score that the walks so far give; `None` where it is not defined or no walk was drawn.
    pub estimate: Option<f64>,
    /// Bounds of each direction at the last update, reference to candidate first.
    pub directions: [ScoreInterval; 2],
}

/// Result of a race.
#[derive(Debug, Clone)]
pub struct RaceResult {
    /// The candidate with the highest score as far as is known; `None` where no candidate has a score.
    pub winner: Option<usize>,
    /// True if the bounds decide the race (within the tolerance). Otherwise a limit ended it.
    pub decided: bool,
    /// Walks drawn in all.
    pub walks: u64,
    /// The resource limit that ended the race, if one did.
    pub stopped: Option<StopReason>,
    /// The candidates in the order given.
    pub candidates: Vec<CandidateState>,
}

/// The bounds of a race without its walks: for environments that are no [`Model`].
#[derive(Debug, Clone)]
pub struct Racer {
    candidates: Vec<CandidateState>,
    tolerance: f64,
}

impl Racer {
    /// A race of so many candidates.
    pub fn new(candidates: usize, confidence: f64, tolerance: f64) -> Self {
        let alpha = (1.0 - confidence) / (2 * candidates.max(1)) as f64;
        let state = CandidateState {
            sequences: Some([ConfidenceSequence::new(alpha), ConfidenceSequence::new(alpha)]),
            blocks: 0,
            eliminated_at: None,
            interval: ScoreInterval::UNIT,
            estimate: None,
            directions: [ScoreInterval::UNIT; 2],
        };
        Racer { candidates: vec![state; candidates], tolerance }
    }

    /// Takes a candidate out because a direction of it is not defined.
    pub fn exclude(&mut self, candidate: usize) {
        let state = &mut self.candidates[candidate];
        state.sequences = None;
        state.estimate = None;
    }

    /// Takes a block: for each direction (reference to candidate first) bounds of the share of executable walks, equal where
    /// every walk could be drawn.
    pub fn observe(&mut self, candidate: usize, block: [(f64, f64); 2]) {
        let state = &mut self.candidates[candidate];
        let Some(sequences) = &mut state.sequences else { return };
        for (sequence, (low, high)) in sequences.iter_mut().zip(block) {
            sequence.observe_between(low, high);
        }
        state.blocks += 1;
        if let [Some(a), Some(b)] = [&sequences[0], &sequences[1]].map(ConfidenceSequence::mean) {
            state.estimate = Some(harmonic_mean(a, b));
        }
    }

    /// The candidates still in the race.
    pub fn running(&self) -> Vec<usize> {
        let running = |c: &CandidateState| c.sequences.is_some() && c.eliminated_at.is_none();
        (0..self.candidates.len()).filter(|&i| running(&self.candidates[i])).collect()
    }

    /// Updates all bounds and eliminates candidates that cannot be best any more. Returns true if the best is
    /// decided.
    pub fn look(&mut self) -> bool {
        let running = self.running();
        for &i in &running {
            let state = &mut self.candidates[i];
            let Some(sequences) = &mut state.sequences else { continue };
            state.directions = sequences.each_mut().map(ConfidenceSequence::interval);
            state.interval = WalkScore::interval(state.directions[0], state.directions[1]);
        }
        let highest = running.iter().map(|&i| self.candidates[i].interval.low).fold(0.0, f64::max);
        for &i in &running {
            let state = &mut self.candidates[i];
            if state.interval.high < highest {
                state.eliminated_at = Some(state.blocks);
            }
        }
        let Some(leader) = self.leader() else { return true };
        let floor = self.candidates[leader].interval.low + self.tolerance;
        self.running().iter().all(|&i| i == leader || self.candidates[i].interval.high <= floor)
    }

    /// The running candidate with the highest lower bound, then the highest estimate, then the first.
    pub fn leader(&self) -> Option<usize> {
        let key = |i: usize| (self.candidates[i].interval.low, self.candidates[i].estimate.unwrap_or(-1.0));
        self.running().into_iter().reduce(|best, i| if key(i) > key(best) { i } else { best })
    }

    /// The candidates in the order given.
    pub fn candidates(&self) -> &[CandidateState] {
        &self.candidates
    }
}

/// Races candidates, each given by its pair of models for every problem.
pub fn race(
    candidates: &[Vec<ModelPair<'_>>],
    spec: &RaceSpec,
    resources: &mut dyn ResourceLimits,
) -> RaceResult {
    let mut racer = Racer::new(candidates.len(), spec.confidence, spec.tolerance);
    let mut walks = 0;
    let outcome = run(candidates, spec, &mut racer, &mut walks, resources);
    let (decided, stopped) = match outcome {
        Ok(decided) => (decided, None),
        Err(reason) => (false, Some(reason)),
    };
    RaceResult {
        winner: racer.leader(),
        decided: decided && racer.leader().is_some(),
        walks,
        stopped,
        candidates: racer.candidates,
    }
}

fn run(
    candidates: &[Vec<ModelPair<'_>>],
    spec: &RaceSpec,
    racer: &mut Racer,
    walks: &mut u64,
    resources: &mut dyn ResourceLimits,
) -> Result<bool, StopReason> {
    let mut arms = Vec::new();
    for (i, pairs) in candidates.iter().enumerate() {
        let arm = Arm::new(pairs, spec, resources)?;
        if arm.is_none() {
            racer.exclude(i);
        }
        arms.push(arm);
    }
    let (mut block, mut next_look) = (0u64, 1u64);
    loop {
        let running = racer.running();
        let wanted: u64 = running.iter().filter_map(|&i| arms[i].as_ref()).map(Arm::walks_per_block).sum();
        let last = *walks + wanted > spec.max_walks;
        // Updating the bounds costs as much as a few walks, so updates become rarer. Any schedule is valid.
        if last || block >= next_look {
            next_look = block + 1 + block / 20;
            let decided = racer.look();
            if decided || last {
                return Ok(decided);
            }
            continue;
        }
        for i in running {
            let Some(arm) = &mut arms[i] else { continue };
            let seen = arm.block(block, spec, resources)?;
            *walks += arm.walks_per_block();
            racer.observe(i, seen);
        }
        block += 1;
    }
}

/// Walk generators of one candidate.
struct Arm<'m> {
    /// For each direction its problems.
    sides: [Vec<Lane<'m>>; 2],
}

/// One problem and direction.
struct Lane<'m> {
    walker: Walker<'m>,
    trial: Trial<'m>,
    /// Lengths that have walks.
    lengths: Vec<u32>,
    seed: u64,
}

impl<'m> Arm<'m> {
    /// `None` where a direction of a problem is not defined.
    fn new(
        pairs: &[ModelPair<'m>],
        spec: &RaceSpec,
        resources: &mut dyn ResourceLimits,
    ) -> Result<Option<Self>, StopReason> {
        let mut sides = [Vec::new(), Vec::new()];
        for (problem, pair) in pairs.iter().enumerate() {
            for (side, direction) in DIRECTIONS.into_iter().enumerate() {
                let (source, target) = direction.models(pair.reference, pair.candidate);
                let seed = Random::stream(spec.seed, (2 * problem + side) as u64).next_u64();
                let Some(walker) = Walker::new(source, WalkPolicy::Uniform, resources)? else {
                    return Ok(None);
                };
                let trial = Trial::new(source, target);
                let mut lane = Lane { walker, trial, lengths: Vec::new(), seed };
                lane.probe(spec, resources)?;
                sides[side].push(lane);
            }
        }
        Ok(if pairs.is_empty() { None } else { Some(Arm { sides }) })
    }

    fn walks_per_block(&self) -> u64 {
        self.sides.iter().flatten().map(|lane| lane.lengths.len() as u64).sum()
    }

    /// Bounds of the share of executable walks of one block, by direction.
    fn block(
        &mut self,
        block: u64,
        spec: &RaceSpec,
        resources: &mut dyn ResourceLimits,
    ) -> Result<[(f64, f64); 2], StopReason> {
        let mut seen = [(0.0, 0.0); 2];
        for (lanes, seen) in self.sides.iter_mut().zip(&mut seen) {
            let problems = lanes.len() as f64;
            for lane in lanes {
                let (executable, unknown) = lane.block(block, spec, resources)?;
                let share = 1.0 / (problems * lane.lengths.len() as f64);
                seen.0 += f64::from(executable) * share;
                seen.1 += f64::from(executable + unknown) * share;
            }
            *seen = (seen.0.min(1.0), seen.1.min(1.0));
        }
        Ok(seen)
    }
}

impl Lane<'_> {
    /// Finds the lengths that have walks, with walks of their own, so that the blocks are independent of it.
    fn probe(&mut self, spec: &RaceSpec, resources: &mut dyn ResourceLimits) -> Result<(), StopReason> {
        for length in 1..=spec.t_max.max(1) {
            let mut random = Random::stream(self.seed, u64::MAX - u64::from(length));
            if self.walker.draw(length, spec.dead_ends, &mut random, resources)? != DrawOutcome::GivenUp {
                self.lengths.push(length);
            }
        }
        Ok(())
    }

    /// Walks executable and walks that could not be drawn, one a length.
    fn block(
        &mut self,
        block: u64,
        spec: &RaceSpec,
        resources: &mut dyn ResourceLimits,
    ) -> Result<(u32, u32), StopReason> {
        let (mut executable, mut unknown) = (0, 0);
        for (i, &length) in self.lengths.iter().enumerate() {
            let mut random = Random::stream(self.seed, block * self.lengths.len() as u64 + i as u64);
            match self.walker.draw(length, spec.dead_ends, &mut random, resources)? {
                DrawOutcome::GivenUp => unknown += 1,
                DrawOutcome::Complete | DrawOutcome::DeadEnd => {
                    let refused = self.trial.refused_at(&self.walker.walk, resources)?;
                    executable += u32::from(refused.is_none());
                }
            }
        }
        Ok((executable, unknown))
    }
}
