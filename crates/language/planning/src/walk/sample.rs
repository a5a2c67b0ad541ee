//! Walks drawn at random from one model and executed on another.

use super::model::{FailingWalk, Link, Model};
use super::{ActionId, NamedStep};
use crate::resources::{ResourceLimits, StopReason, check};
use crate::simulate::State;
use planforge_pddl::random::Random;

/// Treatment of a walk that reaches a state without applicable actions before its last step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeadEnds {
    /// Definition 1: walks have exactly their length. A walk that meets a dead end is rejected and drawn again, at most
    /// this many times; then it is given up. A length without any walk is left out of the mean and reported.
    Condition {
        /// Most redraws of one walk.
        redraws: u32,
    },
    /// As the paper's own code: the walk ends there.
    Truncate,
}

impl DeadEnds {
    /// Definition 1 with the redraws that suffice wherever one walk in a hundred survives.
    pub const CONDITION: DeadEnds = DeadEnds::Condition { redraws: 1000 };
}

/// Distribution of the steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum WalkPolicy {
    /// Uniformly among the applicable ground actions, as Definition 1 has it.
    #[default]
    Uniform,
    /// Seldom executed ones are likelier: first an action schema with weight 1/(1 + times executed so far), then a
    /// ground action of it with weight 1/(1 + times executed so far). Every applicable action keeps a positive
    /// probability, so a score below 1 still means a difference and 1 is still what equal models get; but the score is an estimate
    /// under another distribution, and walks depend on those drawn before, so it has no confidence interval.
    CoverageGuided,
}

/// Options of sampling walks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SampleSpec {
    /// Longest walk, in steps, at least 1. Walk number `k` has length `k mod t_max + 1`.
    pub t_max: u32,
    /// Walks of each length.
    pub walks_per_length: u32,
    /// Seed of every walk's random choices, together with its number. Use a different one for each direction
    /// and problem.
    pub seed: u64,
    /// Treatment of dead ends.
    pub dead_ends: DeadEnds,
    /// Distribution of the steps.
    pub policy: WalkPolicy,
}

impl SampleSpec {
    /// One direction as the paper's own code draws it: 50 walks, lengths cycling 1 to 10, truncated at dead ends. With
    /// [`Semantics::GroundNoOpsDropped`](super::Semantics::GroundNoOpsDropped) models it is the walk score as that code defines it.
    pub fn reference_code(seed: u64) -> Self {
        SampleSpec {
            t_max: 10,
            walks_per_length: 5,
            seed,
            dead_ends: DeadEnds::Truncate,
            policy: WalkPolicy::Uniform,
        }
    }
}

/// The walks of one length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LengthSample {
    /// Their length (under [`DeadEnds::Truncate`] the most steps they take).
    pub length: u32,
    /// Number of walks drawn.
    pub walks: u32,
    /// Those that the target executes to the end.
    pub executable: u32,
    /// Walks rejected because of a dead end.
    pub rejected: u64,
    /// Walks given up after the redraws allowed. With `walks` 0 the length is left out.
    pub given_up: u32,
}

/// Executions of a schema's actions on the target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaCount {
    /// The schema's name in the source.
    pub name: String,
    /// Steps tried on the target.
    pub tried: u64,
    /// Number of steps that the target refused.
    pub refused: u64,
}

/// The walks of one direction.
#[derive(Debug, Clone, PartialEq)]
pub struct DirectionSample {
    /// By length, ascending from 1.
    pub lengths: Vec<LengthSample>,
    /// By action schema of the source, in the domain's order.
    pub schemas: Vec<SchemaCount>,
    /// The failing walk drawn first.
    pub first_failing: Option<FailingWalk>,
    /// A failing walk whose refused step comes earliest.
    pub shortest_failing: Option<FailingWalk>,
    /// The same for each refused action schema, in the order in which they were first refused.
    pub failing_by_schema: Vec<FailingWalk>,
    /// Steps walked in the source, those of rejected walks included.
    pub steps: u64,
}

impl DirectionSample {
    /// The one-sided score: the share of executable walks of each length, averaged over the lengths that have walks.
    pub fn score(&self) -> Option<f64> {
        score(&self.lengths)
    }

    /// The lengths that have no walk.
    pub fn left_out(&self) -> impl Iterator<Item = u32> + '_ {
        self.lengths.iter().filter(|l| l.walks == 0).map(|l| l.length)
    }
}

fn score(lengths: &[LengthSample]) -> Option<f64> {
    let (mut sum, mut counted) = (0.0, 0u32);
    for length in lengths.iter().filter(|l| l.walks > 0) {
        sum += f64::from(length.executable) / f64::from(length.walks);
        counted += 1;
    }
    (counted > 0).then(|| sum / f64::from(counted))
}

/// Estimated bytes of a walk that is kept, apart from its steps.
const WALK_BYTES: u64 = 64;
/// Estimated bytes of a step with its names.
const NAMED_STEP_BYTES: u64 = 128;

/// Result of drawing one walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DrawOutcome {
    /// It has its length.
    Complete,
    /// It ends at a dead end.
    DeadEnd,
    /// Every draw ended at a dead end; there is no walk.
    GivenUp,
}

/// Draws walks of one model.
#[derive(Debug)]
pub(crate) struct Walker<'m> {
    model: &'m Model,
    initial: State,
    state: State,
    applicable: Vec<ActionId>,
    /// The walk drawn last.
    pub(crate) walk: Vec<ActionId>,
    /// Steps walked so far, those of rejected walks included.
    pub(crate) steps: u64,
    rejected: u64,
    coverage: Option<Coverage>,
}

impl<'m> Walker<'m> {
    /// Returns `None` if the initial state has no applicable action, so that there are no walks.
    pub(crate) fn new(
        model: &'m Model,
        policy: WalkPolicy,
        resources: &mut dyn ResourceLimits,
    ) -> Result<Option<Self>, StopReason> {
        let initial = model.initial();
        let mut applicable = Vec::new();
        model.applicable_into(&initial, &mut applicable, resources)?;
        let coverage = (policy == WalkPolicy::CoverageGuided).then(|| Coverage::new(model));
        Ok((!applicable.is_empty()).then(|| Walker {
            model,
            state: initial.clone(),
            initial,
            applicable,
            walk: Vec::new(),
            steps: 0,
            rejected: 0,
            coverage,
        }))
    }

    /// Draws a walk into [`Walker::walk`].
    pub(crate) fn draw(
        &mut self,
        length: u32,
        dead_ends: DeadEnds,
        random: &mut Random,
        resources: &mut dyn ResourceLimits,
    ) -> Result<DrawOutcome, StopReason> {
        let mut redraws = 0;
        loop {
            check(resources.poll())?;
            if self.try_once(length, random, resources)? {
                return Ok(DrawOutcome::Complete);
            }
            match dead_ends {
                DeadEnds::Truncate => return Ok(DrawOutcome::DeadEnd),
                DeadEnds::Condition { redraws: most } => {
                    self.rejected += 1;
                    if redraws >= most {
                        self.walk.clear();
                        return Ok(DrawOutcome::GivenUp);
                    }
                    redraws += 1;
                }
            }
        }
    }

    /// Draws a walk once. Returns true if it reached its length.
    fn try_once(
        &mut self,
        length: u32,
        random: &mut Random,
        resources: &mut dyn ResourceLimits,
    ) -> Result<bool, StopReason> {
        self.walk.clear();
        self.state.clone_from(&self.initial);
        for _ in 0..length {
            self.model.applicable_into(&self.state, &mut self.applicable, resources)?;
            if self.applicable.is_empty() {
                return Ok(false);
            }
            let action = match &mut self.coverage {
                None => self.applicable[random.below(self.applicable.len() as u64) as usize],
                Some(coverage) => coverage.choose(self.model, &self.applicable, random),
            };
            self.model.apply(&mut self.state, action, resources)?;
            self.walk.push(action);
            self.steps += 1;
        }
        Ok(true)
    }
}

/// Numbers of executions of schemas and ground actions.
#[derive(Debug)]
struct Coverage {
    schemas: Vec<u32>,
    actions: Vec<u32>,
    /// True for each schema that has an action in the current state.
    present: Vec<bool>,
}

impl Coverage {
    fn new(model: &Model) -> Self {
        let schemas = model.schema_names().len();
        Coverage { schemas: vec![0; schemas], actions: Vec::new(), present: vec![false; schemas] }
    }

    /// Chooses an action by [`WalkPolicy::CoverageGuided`]. `applicable` must not be empty.
    fn choose(&mut self, model: &Model, applicable: &[ActionId], random: &mut Random) -> ActionId {
        self.present.fill(false);
        applicable.iter().for_each(|&a| self.present[model.schema_of(a)] = true);
        let present = (0..self.schemas.len()).filter(|&s| self.present[s]);
        let schema = pick(present, |&s| self.schemas[s], random).unwrap_or(0);
        let own = applicable.iter().copied().filter(|&a| model.schema_of(a) == schema);
        let times = |&a: &ActionId| self.actions.get(a as usize).copied().unwrap_or(0);
        let action = pick(own, times, random).unwrap_or(applicable[0]);
        self.actions.resize(self.actions.len().max(action as usize + 1), 0);
        self.schemas[schema] += 1;
        self.actions[action as usize] += 1;
        action
    }
}

/// One of the items, each with weight 1/(1 + its count).
fn pick<T>(
    items: impl Iterator<Item = T> + Clone,
    count: impl Fn(&T) -> u32,
    random: &mut Random,
) -> Option<T> {
    let weight = |item: &T| 1.0 / (1.0 + f64::from(count(item)));
    let total: f64 = items.clone().map(|i| weight(&i)).sum();
    let mut left = random.unit() * total;
    let mut last = None;
    for item in items {
        left -= weight(&item);
        last = Some(item);
        if left < 0.0 {
            break;
        }
    }
    last
}

/// Draws walks of `source` and executes them on `target` (the one-sided score of Definition 1). `Ok(None)` if
/// the source has no applicable action initially: the direction is not defined.
///
/// # Errors
/// The resource limit that was reached; limits are polled before every walk.
pub fn sample_direction(
    source: &Model,
    target: &Model,
    spec: &SampleSpec,
    resources: &mut dyn ResourceLimits,
) -> Result<Option<DirectionSample>, StopReason> {
    let Some(mut sampler) = DirectionSampler::new(source, target, spec, resources)? else { return Ok(None) };
    sampler.draw_to(u64::from(spec.t_max.max(1)) * u64::from(spec.walks_per_length), resources)?;
    Ok(Some(sampler.finish()))
}

/// [`sample_direction`] in steps: the walks drawn so far are at any time those that a sample of so many walks has.
#[derive(Debug)]
pub struct DirectionSampler<'m> {
    spec: SampleSpec,
    walker: Walker<'m>,
    trial: Trial<'m>,
    lengths: Vec<LengthSample>,
    first: Option<FailingWalk>,
    shortest: Option<FailingWalk>,
    /// The shortest of each refused schema of the source, with the schema.
    by_schema: Vec<(usize, FailingWalk)>,
    drawn: u64,
}

impl<'m> DirectionSampler<'m> {
    /// Before the first walk. `Ok(None)` where the source has no applicable action initially. How many walks there are in all does not
    /// matter here.
    ///
    /// # Errors
    /// The limit that was reached.
    pub fn new(
        source: &'m Model,
        target: &'m Model,
        spec: &SampleSpec,
        resources: &mut dyn ResourceLimits,
    ) -> Result<Option<Self>, StopReason> {
        let Some(walker) = Walker::new(source, spec.policy, resources)? else { return Ok(None) };
        let none = |length| LengthSample { length, walks: 0, executable: 0, rejected: 0, given_up: 0 };
        Ok(Some(DirectionSampler {
            spec: *spec,
            walker,
            trial: Trial::new(source, target),
            lengths: (1..=spec.t_max.max(1)).map(none).collect(),
            first: None,
            shortest: None,
            by_schema: Vec::new(),
            drawn: 0,
        }))
    }

    /// Draws walks until there are `total` of them, including those given up.
    ///
    /// # Errors
    /// The resource limit that was reached; limits are polled before every walk.
    pub fn draw_to(&mut self, total: u64, resources: &mut dyn ResourceLimits) -> Result<(), StopReason> {
        while self.drawn < total {
            self.draw(self.drawn, resources)?;
            self.drawn += 1;
        }
        Ok(())
    }

    /// Returns the share of executable walks so far, averaged over lengths; see [`DirectionSample::score`].
    pub fn score(&self) -> Option<f64> {
        score(&self.lengths)
    }

    fn draw(&mut self, k: u64, resources: &mut dyn ResourceLimits) -> Result<(), StopReason> {
        let (walker, trial) = (&mut self.walker, &mut self.trial);
        let length = &mut self.lengths[(k % u64::from(self.spec.t_max.max(1))) as usize];
        if length.walks == 0 && length.given_up > 0 {
            return Ok(());
        }
        let mut random = Random::stream(self.spec.seed, k);
        let rejected = walker.rejected;
        let walked = walker.draw(length.length, self.spec.dead_ends, &mut random, resources)?;
        length.rejected += walker.rejected - rejected;
        if walked == DrawOutcome::GivenUp {
            length.given_up += 1;
            return Ok(());
        }
        length.walks += 1;
        let Some(at) = trial.refused_at(&walker.walk, resources)? else {
            length.executable += 1;
            return Ok(());
        };
        let schema = trial.link.source.schema_of(walker.walk[at]);
        let known = self.by_schema.iter_mut().find(|(of, _)| *of == schema);
        if known.as_ref().is_some_and(|(_, walk)| walk.len() <= at + 1) {
            return Ok(());
        }
        let failing = trial.link.failing(&walker.walk[..=at], &trial.state, resources)?;
        let Some(failing) = failing else { return Ok(()) };
        if self.first.is_none() {
            self.first = Some(failing.clone());
        }
        if self.shortest.as_ref().is_none_or(|s| at + 1 < s.len()) {
            self.shortest = Some(failing.clone());
        }
        match known {
            Some((_, walk)) => *walk = failing,
            None => self.by_schema.push((schema, failing)),
        }
        Ok(())
    }

    /// Returns the results of all walks.
    pub fn finish(self) -> DirectionSample {
        DirectionSample {
            lengths: self.lengths,
            schemas: self.trial.counts(),
            first_failing: self.first,
            shortest_failing: self.shortest,
            failing_by_schema: self.by_schema.into_iter().map(|(_, walk)| walk).collect(),
            steps: self.walker.steps,
        }
    }
}

/// Executes walks of a source on a target and counts what is refused.
#[derive(Debug)]
pub(crate) struct Trial<'m> {
    pub(crate) link: Link<'m>,
    initial: State,
    /// The target's state where the last walk ended or was refused.
    pub(crate) state: State,
    tried: Vec<u64>,
    refused: Vec<u64>,
}

impl<'m> Trial<'m> {
    pub(crate) fn new(source: &'m Model, target: &'m Model) -> Self {
        let initial = target.initial();
        let schemas = source.schema_names().len();
        Trial {
            link: Link::new(source, target),
            state: initial.clone(),
            initial,
            tried: vec![0; schemas],
            refused: vec![0; schemas],
        }
    }

    /// The index of the step that the target refuses, `None` where it executes the walk.
    pub(crate) fn refused_at(
        &mut self,
        walk: &[ActionId],
        resources: &mut dyn ResourceLimits,
    ) -> Result<Option<usize>, StopReason> {
        self.state.clone_from(&self.initial);
        for (i, &action) in walk.iter().enumerate() {
            let schema = self.link.source.schema_of(action);
            self.tried[schema] += 1;
            let executed = match self.link.action(action) {
                Some(own) => self.link.target.apply(&mut self.state, own, resources)?,
                None => false,
            };
            if !executed {
                self.refused[schema] += 1;
                return Ok(Some(i));
            }
        }
        Ok(None)
    }

    fn counts(&self) -> Vec<SchemaCount> {
        let names = self.link.source.schema_names();
        names
            .iter()
            .zip(self.tried.iter().zip(&self.refused))
            .map(|(name, (&tried, &refused))| SchemaCount { name: name.clone(), tried, refused })
            .collect()
    }
}

/// Draws walks of one model by name, for a target that is no [`Model`]: walk `k` is the one that [`sample_direction`] executes.
/// Walks given up are `None`. `Ok(None)` where the initial state has no applicable action.
///
/// # Errors
/// The budget's stop.
pub fn sample_walks(
    model: &Model,
    spec: &SampleSpec,
    resources: &mut dyn ResourceLimits,
) -> Result<Option<Vec<Option<Vec<NamedStep>>>>, StopReason> {
    let Some(mut walker) = Walker::new(model, spec.policy, resources)? else { return Ok(None) };
    let t_max = u64::from(spec.t_max.max(1));
    let mut out = Vec::new();
    let mut none = vec![false; t_max as usize];
    let mut some = none.clone();
    for k in 0..t_max * u64::from(spec.walks_per_length) {
        let slot = (k % t_max) as usize;
        if none[slot] && !some[slot] {
            out.push(None);
            continue;
        }
        let mut random = Random::stream(spec.seed, k);
        let walked = walker.draw(slot as u32 + 1, spec.dead_ends, &mut random, resources)?;
        let given_up = walked == DrawOutcome::GivenUp;
        none[slot] |= given_up;
        some[slot] |= !given_up;
        check(resources.charge(WALK_BYTES + NAMED_STEP_BYTES * walker.walk.len() as u64))?;
        out.push((!given_up).then(|| walker.walk.iter().map(|&a| model.step(a)).collect()));
    }
    Ok(Some(out))
}
