//! The shortest walk that one model executes and the other refuses at its last step.

use super::exact::{PAIR_BYTES, Space, StateId};
use super::model::{FailingWalk, Link, Model, execute_steps};
use super::{ActionId, NamedStep, WalkDirection};
use crate::resources::{ResourceLimits, ScopedLimits, StopReason, check};
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
    let search = breadth_first(reference, candidate, limits, Wanted::First, resources);
    if let Some(walk) = search.found.into_iter().next() {
        return CounterexampleOutcome::Found(walk);
    }
    let SearchEnd::Limit(reason) = search.end else { return CounterexampleOutcome::None };
    let searched = search.searched;
    let minimised = sampled.iter().map(|&(direction, walk)| {
        let (source, target) = direction.models(reference, candidate);
        (direction, minimise(source, target, walk, resources))
    });
    match minimised.min_by_key(|(_, walk)| walk.len()) {
        Some((direction, walk)) => {
            let shortest = walk.len() <= searched as usize + 1;
            CounterexampleOutcome::Found(Counterexample { direction, walk, shortest })
        }
        None => CounterexampleOutcome::LimitReached { searched, reason },
    }
}

/// One minimal failing walk for each direction and refused action schema, the shortest first. The first is that of
/// [`counterexample`]. A schema that the search did not see refused within its limits has its shortest walk of `sampled`, without
/// the steps that the same refusal does not need.
pub fn counterexamples(
    reference: &Model,
    candidate: &Model,
    limits: CounterexampleLimits,
    sampled: &[(WalkDirection, &FailingWalk)],
    resources: &mut dyn ResourceLimits,
) -> Vec<Counterexample> {
    let search = breadth_first(reference, candidate, limits, Wanted::EachSchema, resources);
    let mut found = search.found;
    let mut sampled: Vec<_> = sampled.to_vec();
    sampled.sort_by_key(|(_, walk)| walk.len());
    for (direction, walk) in sampled {
        let name = &walk.action.name;
        let is_same =
            |c: &Counterexample| c.direction == direction && c.walk.action.name.eq_ignore_ascii_case(name);
        if !found.iter().any(is_same) {
            let (source, target) = direction.models(reference, candidate);
            let walk =
                minimise_while(source, target, walk, &|shorter| shorter.action == walk.action, resources);
            let shortest = walk.len() <= search.searched as usize + 1;
            found.push(Counterexample { direction, walk, shortest });
        }
    }
    found.sort_by_key(|c| c.walk.len());
    found
}

/// The walks that a search looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// The first of all.
    First,
    /// The first of each direction and refused schema.
    EachSchema,
}

/// The result of a breadth-first search.
struct SearchResult {
    /// In the order in which they were found: the shortest first.
    found: Vec<Counterexample>,
    /// All walks of this many steps were tried.
    searched: u32,
    end: SearchEnd,
}

enum SearchEnd {
    Complete,
    /// The resource limit; `None` for [`CounterexampleLimits`].
    Limit(Option<StopReason>),
}

fn breadth_first(
    reference: &Model,
    candidate: &Model,
    limits: CounterexampleLimits,
    wanted: Wanted,
    resources: &mut dyn ResourceLimits,
) -> SearchResult {
    let mut search = SearchResult { found: Vec::new(), searched: 0, end: SearchEnd::Complete };
    let mut resources = ScopedLimits::new(resources);
    if let Err(reason) = search.run(reference, candidate, limits, wanted, &mut resources) {
        search.end = SearchEnd::Limit(Some(reason));
    }
    search
}

impl SearchResult {
    fn run(
        &mut self,
        reference: &Model,
        candidate: &Model,
        limits: CounterexampleLimits,
        wanted: Wanted,
        resources: &mut dyn ResourceLimits,
    ) -> Result<(), StopReason> {
        let mut sides = Vec::new();
        for direction in [WalkDirection::CandidateToReference, WalkDirection::ReferenceToCandidate] {
            let (source, target) = direction.models(reference, candidate);
            sides.push((direction, Pairs::new(source, target, resources)?));
        }
        let mut left = limits.max_pairs;
        while limits.max_length.is_none_or(|most| self.searched < most) {
            let mut open = false;
            for (direction, pairs) in &mut sides {
                let layer = pairs.next_layer(&mut left, wanted, resources);
                let found = pairs.refused.drain(..);
                self.found.extend(found.map(|walk| Counterexample {
                    direction: *direction,
                    walk,
                    shortest: true,
                }));
                match layer? {
                    _ if wanted == Wanted::First && !self.found.is_empty() => return Ok(()),
                    Layer::Limit => {
                        self.end = SearchEnd::Limit(None);
                        return Ok(());
                    }
                    Layer::Done { more } => open |= more,
                }
            }
            if !open {
                break;
            }
            self.searched += 1;
        }
        Ok(())
    }
}

/// Result of one layer of one direction.
enum Layer {
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
    /// True for each schema of the source that was refused.
    is_refused: Vec<bool>,
    /// Failing walks that were found and not taken yet.
    refused: Vec<FailingWalk>,
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
            is_refused: vec![false; source.schema_names().len()],
            refused: Vec::new(),
        };
        let start = (pairs.source.initial(resources)?, pairs.target.initial(resources)?);
        pairs.numbers.insert(start, 0);
        pairs.met.push((start, 0, 0));
        Ok(pairs)
    }

    fn next_layer(
        &mut self,
        left: &mut usize,
        wanted: Wanted,
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
                    let schema = self.link.source.schema_of(action);
                    if !std::mem::replace(&mut self.is_refused[schema], true) {
                        let walk = walk_to(&self.met, number, action);
                        let state = self.target.state(target);
                        self.refused.extend(self.link.failing(&walk, state, resources)?);
                    }
                    match wanted {
                        Wanted::First => return Ok(Layer::Done { more: false }),
                        Wanted::EachSchema => continue,
                    }
                };
                let fresh = self.met.len();
                if *self.numbers.entry((successor, reached)).or_insert(fresh) == fresh {
                    check(resources.charge(PAIR_BYTES))?;
                    self.met.push(((successor, reached), number, action));
                }
            }
        }
        Ok(Layer::Done { more: self.open < self.met.len() })
    }
}

/// The actions to a pair, then one more.
fn walk_to(met: &[((StateId, StateId), usize, ActionId)], number: usize, last: ActionId) -> Vec<ActionId> {
    let mut walk = vec![last];
    let mut at = number;
    while at != 0 {
        walk.push(met[at].2);
        at = met[at].1;
    }
    walk.reverse();
    walk
}

/// Drops steps of a failing walk as long as it stays one: the source executes all of it, the target refuses
/// the last step. No single step of the result can be dropped, unless a limit ended the work. A walk that does not fail is returned
/// unchanged.
pub fn minimise(
    source: &Model,
    target: &Model,
    walk: &FailingWalk,
    resources: &mut dyn ResourceLimits,
) -> FailingWalk {
    minimise_while(source, target, walk, &|_| true, resources)
}

/// [`minimise`] among the walks that are wanted.
fn minimise_while(
    source: &Model,
    target: &Model,
    walk: &FailingWalk,
    wanted: &dyn Fn(&FailingWalk) -> bool,
    resources: &mut dyn ResourceLimits,
) -> FailingWalk {
    let mut best = walk.clone();
    let mut chunk = best.prefix.len();
    while chunk > 0 {
        let before = best.len();
        let mut start = 0;
        while start < best.prefix.len() {
            let kept = best.prefix[..start].iter().chain(best.prefix.iter().skip(start + chunk));
            let steps: Vec<NamedStep> = kept.chain([&best.action]).cloned().collect();
            // A walk that is not minimal fails all the same.
            let Ok(shorter) = failing(source, target, &steps, resources) else { return best };
            match shorter.filter(|shorter| wanted(shorter)) {
                Some(shorter) if shorter.len() < best.len() => best = shorter,
                _ => start += chunk,
            }
        }
        // Single steps are tried until none can be dropped.
        if chunk > 1 || best.len() == before {
            chunk /= 2;
        }
    }
    best
}

/// The sequence up to the step that the target refuses first, where the source executes that far.
fn failing(
    source: &Model,
    target: &Model,
    steps: &[NamedStep],
    resources: &mut dyn ResourceLimits,
) -> Result<Option<FailingWalk>, StopReason> {
    let on_target = execute_steps(target, steps, resources)?;
    let Some(refusal) = on_target.refusal else { return Ok(None) };
    let Some((prefix, [action, ..])) = steps.split_at_checked(on_target.executed) else { return Ok(None) };
    let on_source = execute_steps(source, &steps[..=prefix.len()], resources)?;
    let is_walk = on_source.refusal.is_none();
    Ok(is_walk.then(|| FailingWalk { prefix: prefix.to_vec(), action: action.clone(), refusal }))
}
