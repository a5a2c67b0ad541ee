//! Walks one by one, for an environment that can only be tried (the paper's Assumption 1) and for races: the environment draws
//! its walks itself, and they are executed on the candidate's model; the candidate's are tried by the environment. Each
//! direction is one crossing, and one more for every round of redraws.

use crate::environment::{EnvironmentClient, refusal};
use crate::measure::{DirectionMeasure, Problem, seed_of};
use crate::options::{DeadEnds, Policy, Settings};
use planforge_contract::{ActionInterface, Failure, WalkPolicy, WalkSpec};
use planforge_planning::walk::{
    self, Counterexample, DirectionSample, FailingWalk, LengthSample, Model, NamedStep, Refusal, SchemaCount,
    WalkDirection,
};
use planforge_planning::{Poll, ResourceLimits, StopReason};
use std::collections::BTreeMap;

/// Most rounds in which walks that met a dead end are drawn again.
const MOST_ROUNDS: u32 = 100;
/// Number of draws without a walk of a length after which none is assumed to exist.
const FRUITLESS: u64 = 1000;

/// The walks of one side: number `k` has length `k mod t_max + 1`; `None` where none could be drawn.
#[derive(Debug, Clone)]
pub(crate) struct Drawn {
    pub(crate) walks: Vec<Option<Vec<NamedStep>>>,
    /// Walks rejected because of a dead end, by length.
    rejected: Vec<u64>,
    steps: u64,
}

/// The access to the reference.
#[derive(Clone, Copy)]
pub(crate) enum Means<'a> {
    /// Through the environment, which has this interface.
    EnvironmentClient(EnvironmentClient<'a>, &'a ActionInterface),
    /// In process: a race counts walks alike on both kinds of environment.
    Model(&'a Model),
}

/// Draws walks and tries them, walk by walk.
#[derive(Clone, Copy)]
pub(crate) struct Trials<'a> {
    pub(crate) means: Means<'a>,
    pub(crate) settings: &'a Settings,
}

/// The reason for the end of a comparison.
pub(crate) enum Ended {
    /// The environment broke, or gave a strange answer.
    Failed(Failure),
    Stopped(StopReason),
}

impl From<Failure> for Ended {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<StopReason> for Ended {
    fn from(reason: StopReason) -> Self {
        Self::Stopped(reason)
    }
}

impl Trials<'_> {
    fn length(&self, k: usize) -> u32 {
        k as u32 % self.settings.t_max + 1
    }

    /// The reference's walks, the same for all candidates of a request; `None` if it has no applicable action initially.
    pub(crate) fn draw(&self, seed: u64, budget: &mut dyn ResourceLimits) -> Result<Option<Drawn>, Ended> {
        match self.means {
            Means::Model(model) => self.draw_model(model, seed_of(seed, 0, 0), budget),
            Means::EnvironmentClient(asked, _) => self.draw_asked(asked, seed_of(seed, 0, 0), budget),
        }
    }

    fn draw_asked(
        &self,
        asked: EnvironmentClient<'_>,
        seed: u64,
        budget: &mut dyn ResourceLimits,
    ) -> Result<Option<Drawn>, Ended> {
        let settings = self.settings;
        let total = settings.t_max as usize * settings.walks as usize;
        let mut drawn =
            Drawn { walks: vec![None; total], rejected: vec![0; settings.t_max as usize], steps: 0 };
        let mut open: Vec<usize> = (0..total).collect();
        for round in 0..=MOST_ROUNDS {
            if let planforge_planning::Poll::Stop(reason) = budget.poll() {
                return Err(Ended::Stopped(reason));
            }
            let spec = WalkSpec {
                lengths: open.iter().map(|&k| self.length(k)).collect(),
                seed: seed_of(seed, round as usize, 0),
                policy: match settings.policy {
                    Policy::Uniform => WalkPolicy::Uniform,
                    Policy::CoverageGuided => WalkPolicy::CoverageGuided,
                },
            };
            let walks = asked.walks(spec)?;
            if round == 0 && walks.iter().all(Vec::is_empty) {
                return Ok(None);
            }
            for (k, walk) in open.iter().zip(walks) {
                drawn.steps += walk.len() as u64;
                let whole = walk.len() == self.length(*k) as usize;
                if whole || settings.dead_ends == DeadEnds::Truncate {
                    drawn.walks[*k] = Some(walk);
                } else {
                    drawn.rejected[self.length(*k) as usize - 1] += 1;
                }
            }
            open.retain(|&k| drawn.walks[k].is_none());
            let found: Vec<bool> = (1..=settings.t_max).map(|length| drawn.has(length)).collect();
            open.retain(|&k| {
                let slot = self.length(k) as usize - 1;
                found[slot] || drawn.rejected[slot] < FRUITLESS
            });
            if open.is_empty() {
                break;
            }
        }
        Ok(Some(drawn))
    }

    /// Both directions for one candidate.
    pub(crate) fn measure(
        &self,
        drawn: Option<&Drawn>,
        candidate: &Model,
        seed: u64,
        budget: &mut dyn ResourceLimits,
    ) -> Result<Problem, Ended> {
        let reference = match drawn {
            None => DirectionMeasure::Undefined,
            Some(drawn) => {
                let ends = all_on_candidate(candidate, &drawn.walks, budget)?;
                DirectionMeasure::Sampled(Box::new(self.sample(drawn, &ends, self.names())))
            }
        };
        let own = match self.draw_candidate(candidate, seed, budget)? {
            None => DirectionMeasure::Undefined,
            Some(drawn) => {
                let ends = self.try_all(&drawn.walks, budget)?;
                DirectionMeasure::Sampled(Box::new(self.sample(
                    &drawn,
                    &ends,
                    candidate.schema_names().to_vec(),
                )))
            }
        };
        Ok([reference, own])
    }

    /// The names of the reference's actions.
    pub(crate) fn names(&self) -> Vec<String> {
        match self.means {
            Means::EnvironmentClient(_, interface) => {
                interface.actions.iter().map(|a| a.name.clone()).collect()
            }
            Means::Model(model) => model.schema_names().to_vec(),
        }
    }

    /// The candidate's own walks.
    pub(crate) fn draw_candidate(
        &self,
        candidate: &Model,
        seed: u64,
        budget: &mut dyn ResourceLimits,
    ) -> Result<Option<Drawn>, Ended> {
        self.draw_model(candidate, seed_of(seed, 0, 1), budget)
    }

    fn draw_model(
        &self,
        model: &Model,
        seed: u64,
        budget: &mut dyn ResourceLimits,
    ) -> Result<Option<Drawn>, Ended> {
        let walks = walk::sample_walks(model, &self.settings.sample_spec(seed), budget)?;
        Ok(walks.map(|walks| Drawn {
            steps: walks.iter().flatten().map(|w| w.len() as u64).sum(),
            walks,
            rejected: vec![0; self.settings.t_max as usize],
        }))
    }

    /// Tries walks of the candidate on the reference: in the environment each different one once, all in one crossing.
    pub(crate) fn try_all(
        &self,
        walks: &[Option<Vec<NamedStep>>],
        budget: &mut dyn ResourceLimits,
    ) -> Result<Vec<Option<End>>, Ended> {
        let (asked, interface) = match self.means {
            Means::EnvironmentClient(asked, interface) => (asked, interface),
            Means::Model(model) => return Ok(all_on_candidate(model, walks, budget)?),
        };
        let mut numbers: BTreeMap<&[NamedStep], usize> = BTreeMap::new();
        let mut different: Vec<Vec<NamedStep>> = Vec::new();
        for walk in walks.iter().flatten() {
            numbers.entry(walk).or_insert_with(|| {
                different.push(walk.clone());
                different.len() - 1
            });
        }
        let executed = asked.execute(&different)?;
        let end = |walk: &Vec<NamedStep>| {
            let done = numbers.get(walk.as_slice()).and_then(|&n| executed.get(n)).copied();
            let done = done.unwrap_or(walk.len());
            End { executed: done, refusal: walk.get(done).map(|step| refusal(interface, step)) }
        };
        Ok(walks.iter().map(|walk| walk.as_ref().map(end)).collect())
    }

    /// The walks of one direction with their ends, in the form of sampling from models.
    pub(crate) fn sample(&self, drawn: &Drawn, ends: &[Option<End>], names: Vec<String>) -> DirectionSample {
        let mut lengths: Vec<LengthSample> = (1..=self.settings.t_max)
            .map(|length| LengthSample {
                length,
                walks: 0,
                executable: 0,
                rejected: drawn.rejected[length as usize - 1],
                given_up: 0,
            })
            .collect();
        let mut schemas: Vec<SchemaCount> =
            names.into_iter().map(|name| SchemaCount { name, tried: 0, refused: 0 }).collect();
        let (mut first, mut shortest) = (None, None::<FailingWalk>);
        let mut by_schema: Vec<FailingWalk> = Vec::new();
        for (k, (walk, end)) in drawn.walks.iter().zip(ends).enumerate() {
            let length = &mut lengths[k % self.settings.t_max as usize];
            let (Some(walk), Some(end)) = (walk, end) else {
                length.given_up += 1;
                continue;
            };
            length.walks += 1;
            length.executable += u32::from(end.refusal.is_none());
            for (i, step) in walk.iter().enumerate().take(end.executed + 1) {
                let known = schemas.iter().position(|s| s.name.eq_ignore_ascii_case(&step.name));
                let at = known.unwrap_or_else(|| {
                    schemas.push(SchemaCount { name: step.name.clone(), tried: 0, refused: 0 });
                    schemas.len() - 1
                });
                schemas[at].tried += 1;
                schemas[at].refused += u64::from(i == end.executed);
            }
            let Some(failing) = end.failing(walk) else { continue };
            if shortest.as_ref().is_none_or(|s| failing.len() < s.len()) {
                shortest = Some(failing.clone());
            }
            let is_same = |w: &&mut FailingWalk| w.action.name.eq_ignore_ascii_case(&failing.action.name);
            match by_schema.iter_mut().find(is_same) {
                Some(known) if known.len() <= failing.len() => {}
                Some(known) => known.clone_from(&failing),
                None => by_schema.push(failing.clone()),
            }
            first.get_or_insert(failing);
        }
        DirectionSample {
            lengths,
            schemas,
            first_failing: first,
            shortest_failing: shortest,
            failing_by_schema: by_schema,
            steps: drawn.steps,
        }
    }

    /// The shortest failing walk among those drawn, without the steps that it fails without. At equal length the candidate's
    /// own walk comes first, as in the paper's code.
    pub(crate) fn counterexample(
        &self,
        candidate: &Model,
        problem: &Problem,
        budget: &mut dyn ResourceLimits,
    ) -> Result<Option<Counterexample>, Failure> {
        let shortest =
            self.minimal(candidate, problem, |s| s.shortest_failing.as_slice(), |_, _| true, budget)?;
        Ok(shortest.into_iter().next())
    }

    /// A minimal failing walk of each direction and refused action, from the shortest that was drawn; the shortest first.
    pub(crate) fn each_counterexample(
        &self,
        candidate: &Model,
        problem: &Problem,
        budget: &mut dyn ResourceLimits,
    ) -> Result<Vec<Counterexample>, Failure> {
        self.minimal(
            candidate,
            problem,
            |s| &s.failing_by_schema,
            |walk, shorter| walk.action == shorter.action,
            budget,
        )
    }

    /// Failing walks of the samples without the steps that are not needed, the shortest first. A shorter walk has to be `like` the drawn
    /// one.
    fn minimal(
        &self,
        candidate: &Model,
        problem: &Problem,
        walks: impl Fn(&DirectionSample) -> &[FailingWalk],
        like: fn(&FailingWalk, &FailingWalk) -> bool,
        budget: &mut dyn ResourceLimits,
    ) -> Result<Vec<Counterexample>, Failure> {
        let mut found = Vec::new();
        let Means::EnvironmentClient(asked, interface) = self.means else { return Ok(found) };
        let sides = [WalkDirection::CandidateToReference, WalkDirection::ReferenceToCandidate];
        for (direction, measure) in sides.into_iter().zip(problem.iter().rev()) {
            let DirectionMeasure::Sampled(sample) = measure else { continue };
            for walk in walks(sample) {
                let walk = minimise(asked, interface, candidate, direction, walk.clone(), like, budget)?;
                let shortest = walk.len() == 1;
                found.push(Counterexample { direction, walk, shortest });
            }
        }
        found.sort_by_key(|c| c.walk.len());
        Ok(found)
    }
}

impl Drawn {
    /// The first `count` walks.
    pub(crate) fn first(&self, count: usize) -> Self {
        let walks: Vec<_> = self.walks.iter().take(count).cloned().collect();
        Self { walks, ..self.clone() }
    }

    /// True if there is a walk of that length.
    pub(crate) fn has(&self, length: u32) -> bool {
        let t_max = self.rejected.len();
        self.walks.iter().skip(length as usize - 1).step_by(t_max).any(Option::is_some)
    }
}

/// The end of a walk on the other side.
#[derive(Debug, Clone)]
pub(crate) struct End {
    executed: usize,
    pub(crate) refusal: Option<Refusal>,
}

impl End {
    fn failing(&self, walk: &[NamedStep]) -> Option<FailingWalk> {
        let refusal = self.refusal.clone()?;
        let action = walk.get(self.executed)?.clone();
        Some(FailingWalk { prefix: walk[..self.executed].to_vec(), action, refusal })
    }
}

fn on_candidate(
    candidate: &Model,
    walk: &[NamedStep],
    budget: &mut dyn ResourceLimits,
) -> Result<End, StopReason> {
    if let Poll::Stop(reason) = budget.poll() {
        return Err(reason);
    }
    let replay = walk::execute_steps(candidate, walk, budget)?;
    Ok(End { executed: replay.executed, refusal: replay.refusal })
}

/// The ends of walks on a model; `None` for those that were not drawn.
pub(crate) fn all_on_candidate(
    candidate: &Model,
    walks: &[Option<Vec<NamedStep>>],
    budget: &mut dyn ResourceLimits,
) -> Result<Vec<Option<End>>, StopReason> {
    walks.iter().map(|w| w.as_ref().map(|w| on_candidate(candidate, w, budget)).transpose()).collect()
}

/// Drops one step after the other as long as the walk stays a failing one; one crossing a round. Ends early at a limit.
fn minimise(
    asked: EnvironmentClient<'_>,
    interface: &ActionInterface,
    candidate: &Model,
    direction: WalkDirection,
    drawn: FailingWalk,
    like: fn(&FailingWalk, &FailingWalk) -> bool,
    budget: &mut dyn ResourceLimits,
) -> Result<FailingWalk, Failure> {
    let mut best = drawn.clone();
    loop {
        let shorter: Vec<Vec<NamedStep>> = (0..best.prefix.len())
            .map(|dropped| {
                let kept = best.prefix.iter().enumerate().filter(|(i, _)| *i != dropped);
                kept.map(|(_, step)| step).chain([&best.action]).cloned().collect()
            })
            .collect();
        let executed = asked.execute(&shorter)?;
        let smaller = shorter.iter().zip(executed).find_map(|(walk, in_environment)| {
            let own = on_candidate(candidate, walk, budget).ok()?;
            let failing = match direction {
                WalkDirection::CandidateToReference if own.executed > in_environment => {
                    let step = walk.get(in_environment)?;
                    let end = End { executed: in_environment, refusal: Some(refusal(interface, step)) };
                    end.failing(walk)
                }
                WalkDirection::ReferenceToCandidate if in_environment > own.executed => own.failing(walk),
                _ => None,
            };
            failing.filter(|shorter| like(&drawn, shorter))
        });
        match smaller {
            Some(smaller) => best = smaller,
            None => return Ok(best),
        }
    }
}
