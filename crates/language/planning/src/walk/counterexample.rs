//! The shortest walk that one model executes and the other refuses at its last step.

use super::link::{FailingWalk, Link, execute_steps};
use super::model::Model;
use super::score::WalkDirection;
use super::space::{Space, StateId};
use super::step::{ActionId, NamedStep};
use crate::resources::{ResourceLimits, StopReason};
use rustc_hash::FxHashMap;

/// Caps on the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CounterexampleLimits {
    /// Pairs of states that may be expanded, both directions together.
    pub max_pairs: usize,
    /// Longest walk tried, in steps; `None` for any length.
    pub max_length: Option<u32>,
}

impl Default for CounterexampleLimits {
    /// 100,000 pairs, any length.
    fn default() -> Self {
        CounterexampleLimits { max_pairs: 100_000, max_length: None }
    }
}

/// A failing walk and how good it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counterexample {
    /// The model that the walk is drawn from.
    pub direction: WalkDirection,
    /// The failing walk.
    pub walk: FailingWalk,
    /// True if no failing walk of either direction is shorter: the search was complete up to its length.
    /// Otherwise the walk is a minimised sample.
    pub shortest: bool,
}

/// Result of the search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CounterexampleOutcome {
    /// A failing walk was found.
    Found(Counterexample),
    /// There is none, in either direction and of any length (up to [`CounterexampleLimits::max_length`]): as far as walks tell, the
    /// models behave alike.
    None,
    /// A limit ended the search, and no failing walk was given.
    LimitReached {
        /// Every walk of this many steps is executed by both.
        searched: u32,
        /// The resource limit; `None` for [`CounterexampleLimits`].
        reason: Option<StopReason>,
    },
}

/// Searches both directions breadth-first, in parallel layers. If a limit ends the search, the shortest of
/// `sampled` is minimised and returned. At equal length the candidate's own walk is preferred, as in the
/// paper's code.
pub fn counterexample(
    reference: &Model,
    candidate: &Model,
    limits: CounterexampleLimits,
    sampled: &[(WalkDirection, &FailingWalk)],
    resources: &mut dyn ResourceLimits,
) -> CounterexampleOutcome {
    match breadth_first(reference, candidate, limits, resources) {
        CounterexampleOutcome::LimitReached { searched, reason } => {
            let minimised = sampled.iter().map(|&(direction, walk)| {
                let (source, target) = direction.models(reference, candidate);
                (direction, minimise(source, target, walk))
            });
            match minimised.min_by_key(|(_, walk)| walk.len()) {
                Some((direction, walk)) => {
                    let shortest = walk.len() <= searched as usize + 1;
                    CounterexampleOutcome::Found(Counterexample { direction, walk, shortest })
                }
                None => CounterexampleOutcome::LimitReached { searched, reason },
            }
        }
        done => done,
    }
}

fn breadth_first(
    reference: &Model,
    candidate: &Model,
    limits: CounterexampleLimits,
    resources: &mut dyn ResourceLimits,
) -> CounterexampleOutcome {
    let mut searched = 0;
    match layers(reference, candidate, limits, &mut searched, resources) {
        Ok(search) => search,
        Err(reason) => CounterexampleOutcome::LimitReached { searched, reason: Some(reason) },
    }
}

fn layers(
    reference: &Model,
    candidate: &Model,
    limits: CounterexampleLimits,
    searched: &mut u32,
    resources: &mut dyn ResourceLimits,
) -> Result<CounterexampleOutcome, StopReason> {
    let mut sides = Vec::new();
    for direction in [WalkDirection::CandidateToReference, WalkDirection::ReferenceToCandidate] {
        let (source, target) = direction.models(reference, candidate);
        sides.push((direction, Pairs::new(source, target, resources)?));
    }
    let mut left = limits.max_pairs;
    while limits.max_length.is_none_or(|most| *searched < most) {
        let mut open = false;
        for (direction, pairs) in &mut sides {
            match pairs.next_layer(&mut left, resources)? {
                Layer::Refused(walk) => {
                    let walk = Counterexample { direction: *direction, walk, shortest: true };
                    return Ok(CounterexampleOutcome::Found(walk));
                }
                Layer::Limit => {
                    return Ok(CounterexampleOutcome::LimitReached { searched: *searched, reason: None });
                }
                Layer::Done { more } => open |= more,
            }
        }
        if !open {
            return Ok(CounterexampleOutcome::None);
        }
        *searched += 1;
    }
    Ok(CounterexampleOutcome::None)
}

/// Result of one layer of one direction.
enum Layer {
    Refused(FailingWalk),
    Limit,
    Done { more: bool },
}

/// Breadth-first search over the pairs of one direction.
struct Pairs<'m> {
    source: Space<'m>,
    target: Space<'m>,
    link: Link<'m>,
    numbers: FxHashMap<(StateId, StateId), usize>,
    /// Pairs met, with the pair and the action they were reached by.
    met: Vec<((StateId, StateId), usize, ActionId)>,
    /// The first pair not expanded yet.
    open: usize,
}

impl<'m> Pairs<'m> {
    fn new(
        source: &'m Model,
        target: &'m Model,
        resources: &mut dyn ResourceLimits,
    ) -> Result<Self, StopReason> {
        let mut pairs = Pairs {
            source: Space::new(source),
            target: Space::new(target),
            link: Link::new(source, target),
            numbers: FxHashMap::default(),
            met: Vec::new(),
            open: 0,
        };
        let start = (pairs.source.initial(resources)?, pairs.target.initial(resources)?);
        pairs.numbers.insert(start, 0);
        pairs.met.push((start, 0, 0));
        Ok(pairs)
    }

    fn next_layer(
        &mut self,
        left: &mut usize,
        resources: &mut dyn ResourceLimits,
    ) -> Result<Layer, StopReason> {
        for number in self.open..self.met.len() {
            if *left == 0 {
                return Ok(Layer::Limit);
            }
            *left -= 1;
            self.open = number + 1;
            let (source, target) = self.met[number].0;
            for &(action, successor) in self.source.successors(source, resources)? {
                let reached = match self.link.action(action) {
                    Some(own) => self.target.step(target, own, resources)?,
                    None => None,
                };
                let Some(reached) = reached else {
                    let walk = self.walk_to(number, action);
                    let found = self.link.failing(&walk, self.target.state(target));
                    return Ok(found.map_or(Layer::Limit, Layer::Refused));
                };
                let fresh = self.met.len();
                if *self.numbers.entry((successor, reached)).or_insert(fresh) == fresh {
                    self.met.push(((successor, reached), number, action));
                }
            }
        }
        Ok(Layer::Done { more: self.open < self.met.len() })
    }

    /// The actions to a pair, then one more.
    fn walk_to(&self, number: usize, last: ActionId) -> Vec<ActionId> {
        let mut walk = vec![last];
        let mut at = number;
        while at != 0 {
            walk.push(self.met[at].2);
            at = self.met[at].1;
        }
        walk.reverse();
        walk
    }
}

/// Drops steps of a failing walk as long as it stays one: the source executes all of it, the target refuses
/// the last step. No single step of the result can be dropped. A walk that does not fail is returned
/// unchanged.
pub fn minimise(source: &Model, target: &Model, walk: &FailingWalk) -> FailingWalk {
    let mut best = walk.clone();
    let mut chunk = best.prefix.len();
    while chunk > 0 {
        let mut start = 0;
        while start < best.prefix.len() {
            let kept = best.prefix[..start].iter().chain(best.prefix.iter().skip(start + chunk));
            let steps: Vec<NamedStep> = kept.chain([&best.action]).cloned().collect();
            match failing(source, target, &steps) {
                Some(shorter) if shorter.len() < best.len() => best = shorter,
                _ => start += chunk,
            }
        }
        chunk = if chunk == 1 && shrinks(source, target, &best) { 1 } else { chunk / 2 };
    }
    best
}

/// Returns true if a single step can still be dropped.
fn shrinks(source: &Model, target: &Model, walk: &FailingWalk) -> bool {
    (0..walk.prefix.len()).any(|i| {
        let kept = walk.prefix.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, s)| s);
        let steps: Vec<NamedStep> = kept.chain([&walk.action]).cloned().collect();
        failing(source, target, &steps).is_some()
    })
}

/// The sequence up to the step that the target refuses first, where the source executes that far.
fn failing(source: &Model, target: &Model, steps: &[NamedStep]) -> Option<FailingWalk> {
    let on_target = execute_steps(target, steps);
    let refusal = on_target.refusal?;
    let (prefix, rest) = steps.split_at_checked(on_target.executed)?;
    let action = rest.first()?.clone();
    let on_source = execute_steps(source, &steps[..=prefix.len()]);
    on_source.refusal.is_none().then(|| FailingWalk { prefix: prefix.to_vec(), action, refusal })
}
