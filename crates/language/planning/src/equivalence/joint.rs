//! Comparison of two readings of one text that use names of their own.
//!
//! A reading is a domain and a problem. Two readings are the same if a renaming exists under which the same sequences of ground actions
//! are executable and the goal holds after the same sequences. The renaming covers objects, actions with the order of their parameters,
//! and parameters that only one reading has, where the other parameters (or the state) determine their values. States and predicates
//! are not compared, so that `handempty` and `not (holding ?x)` may mean the same.
//!
//! The search proposes renamings by colour refinement of both ground tasks and of the first layers of both execution
//! trees. Names break ties, and one group of candidates pairs similar names first. Each proposal is judged: proved equal by
//! the ground tasks, or searched over pairs of states. The first that shows no difference counts. If all show one, the one with the
//! longest first difference counts, then the one with the most ground actions in common. [`ReadingComparison::differs_under_all`] is a
//! proof that no renaming makes them the same.
//!
//! If they differ, [`ReadingComparison::granularity`] says whether they are the same if two actions of one reading always follow each
//! other and count as one. Sequences with a step between the two are not compared.
//!
//! [`common`] searches a plan that is valid in several readings.

pub mod common;
pub mod follow;
mod granularity;
mod judge;
mod refine;
mod renaming;
mod search;
mod side;

pub use granularity::Granularity;
pub use renaming::{JointAction, JointRenaming};

use super::ComparedSide;
use super::domains::{NotCompared, SearchEnd, failed_conditions};
use crate::ground::GroundLimits;
use crate::resources::{ResourceLimits, ScopedLimits, StopReason};
use crate::walk::{ModelError, NamedStep, Semantics};
use judge::{End, Found, Keys, Wanted, judge};
use planforge_pddl::ast::{Domain, Problem};
use search::CandidateVerdict;
use side::Side;

/// One reading of a text.
#[derive(Debug, Clone, Copy)]
pub struct Reading<'t> {
    /// The domain.
    pub domain: &'t Domain,
    /// The problem.
    pub problem: &'t Problem,
}

/// Limits of a comparison of readings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JointLimits {
    /// Legal ground actions.
    pub semantics: Semantics,
    /// Most pairs of states in memory while one renaming is judged.
    pub max_pairs: u64,
    /// Longest sequence tried, in actions; `None` for any length.
    pub max_depth: Option<u32>,
    /// Most decisions between nodes that refinement does not separate in the whole search, and most exchanges of two objects, parameters
    /// or actions.
    pub max_choices: u64,
    /// Most steps executed to describe the first layers of one execution tree.
    pub max_explored: u64,
    /// Caps on grounding each reading.
    pub ground: GroundLimits,
}

impl Default for JointLimits {
    /// STRIPS semantics, 20,000 pairs, any length, 1,000 choices and 20,000 explored steps.
    fn default() -> Self {
        JointLimits {
            semantics: Semantics::Strips,
            max_pairs: 20_000,
            max_depth: None,
            max_choices: 1_000,
            max_explored: 20_000,
            ground: GroundLimits::default(),
        }
    }
}

/// Comparison of two readings under the best renaming that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadingComparison {
    /// The renaming that the verdict is under.
    pub renaming: JointRenaming,
    /// The verdict.
    pub verdict: ReadingVerdict,
    /// If they differ: two actions of one reading that, if they always follow each other, are one of the other.
    pub granularity: Option<Granularity>,
    /// True if the execution trees of the readings differ even without names: no renaming makes the readings the same.
    pub differs_under_all: bool,
    /// Renamings that were judged.
    pub judged: usize,
    /// Limit that ended the search for renamings early.
    pub stopped: Option<StopReason>,
    /// Pairs of states that were met, over all judged renamings.
    pub pairs: u64,
}

/// Verdict on two readings under one renaming.
#[derive(Debug, Clone, PartialEq)]
pub enum ReadingVerdict {
    /// Proved on the whole reachable space of both problems.
    Same,
    /// No sequence of at most this many steps shows a difference. A limit ended the comparison, or the search for a renaming.
    SameUpTo {
        /// Length up to which all sequences were tried.
        steps: u32,
        /// The limit.
        end: SearchEnd,
    },
    /// Sequences differ. Without a sequence in either direction, it is proved that some differ and a limit ended the search for them, or
    /// a state allows two actions of one reading for one action of the other.
    Different {
        /// Shortest sequence that only the first reading allows, or after which only its goal holds.
        first_only: OneSided,
        /// The same for the second reading.
        second_only: OneSided,
    },
}

/// Shortest sequence that only one of two readings allows.
#[derive(Debug, Clone, PartialEq)]
pub enum OneSided {
    /// The sequence.
    Shortest(Witness),
    /// Proved: there is none.
    None,
    /// A limit ended the search, or a state allows two actions of one reading for one action of the other.
    NotFound {
        /// Length up to which all sequences were tried.
        steps: u32,
        /// The limit.
        end: SearchEnd,
    },
}

impl OneSided {
    /// The sequence, if one was found.
    pub fn shortest(self) -> Option<Witness> {
        match self {
            OneSided::Shortest(witness) => Some(witness),
            OneSided::None | OneSided::NotFound { .. } => None,
        }
    }
}

/// A sequence on which two readings differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Witness {
    /// The steps in the names of the reading that allows them.
    pub steps: Vec<NamedStep>,
    /// The steps in the names of the other reading. The last one is missing if the other reading has no such ground action.
    pub other_steps: Vec<NamedStep>,
    /// Kind of the difference.
    pub kind: WitnessKind,
    /// Conditions of the other reading that do not hold, as PDDL with the reason, in its names.
    pub conditions: Vec<String>,
}

/// Error of [`compare_readings`].
#[derive(Debug, Clone)]
pub struct ReadingsNotCompared {
    /// The side whose reading could not be used; `None` if both could.
    pub side: Option<ComparedSide>,
    /// The error.
    pub error: ReadingsError,
}

/// Kinds of errors of a comparison of readings.
#[derive(Debug, Clone)]
pub enum ReadingsError {
    /// A reading is not a model, or a limit ended its grounding.
    Model(ModelError),
    /// A limit ended the search for a renaming before one was judged. [`StopReason::Nodes`] is the limit on choices.
    Renaming(StopReason),
}

impl std::fmt::Display for ReadingsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ReadingsError::Model(error) => write!(f, "{error}"),
            ReadingsError::Renaming(StopReason::Nodes) => {
                f.write_str("the limit on choices ended the search for a renaming before one was judged")
            }
            ReadingsError::Renaming(reason) => {
                write!(f, "{reason} ended the search for a renaming before one was judged")
            }
        }
    }
}

impl std::error::Error for ReadingsError {}

impl From<NotCompared> for ReadingsNotCompared {
    fn from(not_compared: NotCompared) -> Self {
        let NotCompared { side, error } = not_compared;
        ReadingsNotCompared { side: Some(side), error: ReadingsError::Model(error) }
    }
}

/// Kinds of one-sided sequences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WitnessKind {
    /// The other reading refuses the last step.
    Refused,
    /// Both execute the sequence. The goal then holds in this reading only.
    Goal,
}

impl ReadingComparison {
    /// Length of the shortest sequence on which the readings differ; `None` if they do not.
    pub fn shortest_difference(&self) -> Option<usize> {
        let ReadingVerdict::Different { first_only, second_only } = &self.verdict else { return None };
        let length = |found: &OneSided| match found {
            OneSided::Shortest(witness) => Some(witness.steps.len()),
            OneSided::None | OneSided::NotFound { .. } => None,
        };
        [first_only, second_only].into_iter().filter_map(length).min()
    }
}

/// Compares two readings.
///
/// # Errors
/// A reading is not a model: errors, unsupported constructs, or a limit on grounding. Or a limit ended the work before any renaming was
/// judged.
pub fn compare_readings(
    first: Reading<'_>,
    second: Reading<'_>,
    limits: &JointLimits,
    resources: &mut dyn ResourceLimits,
) -> Result<ReadingComparison, ReadingsNotCompared> {
    let mut scoped = ScopedLimits::new(resources);
    let a = Side::new(ComparedSide::First, first, limits, &mut scoped)?;
    let b = Side::new(ComparedSide::Second, second, limits, &mut scoped)?;
    let sides = [&a, &b];
    let searched = search::search(sides, limits, &mut scoped)
        .map_err(|reason| ReadingsNotCompared { side: None, error: ReadingsError::Renaming(reason) })?;
    let mut pairs = searched.pairs;
    // A search that a limit on time or memory ended may have missed the renaming that makes them the same.
    let interrupted =
        searched.stopped.filter(|&reason| reason != StopReason::Nodes && !searched.differs_under_all);
    let verdict = match searched.best.verdict {
        CandidateVerdict::Same => ReadingVerdict::Same,
        CandidateVerdict::SameUpTo(steps, end) if searched.differs_under_all => {
            let not_found = || OneSided::NotFound { steps, end };
            ReadingVerdict::Different { first_only: not_found(), second_only: not_found() }
        }
        CandidateVerdict::SameUpTo(steps, end) => ReadingVerdict::SameUpTo { steps, end },
        CandidateVerdict::Different => match interrupted {
            // The goals agree initially: otherwise the readings would differ under all renamings.
            Some(reason) => ReadingVerdict::SameUpTo { steps: 0, end: SearchEnd::Stopped(reason) },
            None => {
                let keys = Keys::new(sides, &searched.best.mapping);
                let judged =
                    judge(sides, &keys, Wanted::Both, limits.max_pairs, limits.max_depth, &mut scoped);
                pairs += judged.pairs;
                let [first_only, second_only] = one_sided(sides, &keys, &judged, &mut scoped);
                ReadingVerdict::Different { first_only, second_only }
            }
        },
    };
    let granularity = match &verdict {
        ReadingVerdict::Different { .. } => granularity::find(sides, limits, &mut scoped),
        ReadingVerdict::Same | ReadingVerdict::SameUpTo { .. } => None,
    };
    Ok(ReadingComparison {
        renaming: JointRenaming::new(sides, &searched.best.mapping),
        verdict,
        granularity,
        differs_under_all: searched.differs_under_all,
        judged: searched.judged,
        stopped: searched.stopped,
        pairs,
    })
}

/// Compares two readings of the same names: objects and actions of equal names are partners, and parameters by their names.
///
/// # Errors
/// A reading is not a model: errors, unsupported constructs, or a limit on grounding.
pub fn compare_equal_names(
    first: Reading<'_>,
    second: Reading<'_>,
    limits: &JointLimits,
    resources: &mut dyn ResourceLimits,
) -> Result<(JointRenaming, ReadingVerdict), NotCompared> {
    let limits = JointLimits { max_explored: 0, ..*limits };
    let a = Side::new(ComparedSide::First, first, &limits, resources)?;
    let b = Side::new(ComparedSide::Second, second, &limits, resources)?;
    let sides = [&a, &b];
    let mapping = renaming::equal_names(sides);
    let keys = Keys::new(sides, &mapping);
    let judged = judge(sides, &keys, Wanted::Both, limits.max_pairs, limits.max_depth, resources);
    let verdict = match (&judged.only, judged.end) {
        ([None, None], End::Limit(end)) => ReadingVerdict::SameUpTo { steps: judged.compared, end },
        ([None, None], End::Whole | End::Found) => ReadingVerdict::Same,
        _ => {
            let [first_only, second_only] = one_sided(sides, &keys, &judged, resources);
            ReadingVerdict::Different { first_only, second_only }
        }
    };
    Ok((JointRenaming::new(sides, &mapping), verdict))
}

/// The shortest sequences that only one side allows.
fn one_sided(
    sides: [&Side; 2],
    keys: &Keys,
    judged: &judge::Judged,
    resources: &mut dyn ResourceLimits,
) -> [OneSided; 2] {
    [0, 1].map(|side: usize| match (&judged.only[side], judged.end) {
        (Some(found), _) => OneSided::Shortest(witness(sides, keys, side, found, resources)),
        (None, End::Limit(end)) => OneSided::NotFound { steps: judged.compared, end },
        // Longer sequences were not tried.
        (None, End::Ambiguous) => OneSided::NotFound { steps: judged.compared, end: SearchEnd::Depth },
        (None, End::Whole | End::Found) => OneSided::None,
    })
}

/// Most ground actions of one key whose failed conditions are compared.
const MOST_PARTNERS: usize = 100;

/// A one-sided sequence in the names of both sides. Of several refused ground actions that stand for the last step, the one with the
/// fewest failed conditions is shown.
fn witness(
    sides: [&Side; 2],
    keys: &Keys,
    side: usize,
    found: &Found,
    resources: &mut dyn ResourceLimits,
) -> Witness {
    let name = |side: usize, action: u32| sides[side].model().step(action);
    let other = 1 - side;
    let mut steps: Vec<NamedStep> = found.steps.iter().map(|step| name(side, step[side])).collect();
    let mut other_steps: Vec<NamedStep> = found.steps.iter().map(|step| name(other, step[other])).collect();
    let Some(last) = found.last else {
        let conditions = failed_conditions(sides[other].model(), &other_steps, resources);
        return Witness { steps, other_steps, kind: WitnessKind::Goal, conditions };
    };
    steps.push(name(side, last));
    let key = keys.of[side][last as usize];
    let partners = (0u32..).zip(&keys.of[other]).filter(|(_, own)| **own == key).map(|(action, _)| action);
    let tried = partners.take(MOST_PARTNERS).map(|action| {
        let refused = [other_steps.as_slice(), &[name(other, action)]].concat();
        let conditions = failed_conditions(sides[other].model(), &refused, resources);
        (refused, conditions)
    });
    // No conditions are listed if a limit ended the work.
    let fewest = tried.min_by_key(|(_, conditions)| (conditions.is_empty(), conditions.len()));
    let mut conditions = Vec::new();
    if let Some(fewest) = fewest {
        (other_steps, conditions) = fewest;
    }
    Witness { steps, other_steps, kind: WitnessKind::Refused, conditions }
}

/// A renaming in numbers: from the first side to the second.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Mapping {
    /// By object of the first side.
    objects: Vec<Option<u32>>,
    /// By schema of the first side.
    schemas: Vec<Option<SchemaPair>>,
}

/// The partner of a schema of the first side.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct SchemaPair {
    second: usize,
    /// Positions of parameters in the first and the second; parameters without a partner are left out.
    parameters: Vec<(usize, usize)>,
}

impl Mapping {
    /// The renaming with the partners of a schema's parameters in another order.
    fn with_reordered_parameters(&self, schema: usize, order: &[usize]) -> Self {
        let mut mapping = self.clone();
        if let Some(pair) = &mut mapping.schemas[schema] {
            let partners: Vec<usize> = pair.parameters.iter().map(|p| p.1).collect();
            for (parameter, &place) in pair.parameters.iter_mut().zip(order) {
                parameter.1 = partners[place];
            }
        }
        mapping
    }

    /// The renaming with the partners of two schemas exchanged; `None` if they have other numbers of parameters.
    fn with_swapped_schemas(&self, a: usize, b: usize) -> Option<Self> {
        let [x, y] = [self.schemas[a].as_ref()?, self.schemas[b].as_ref()?];
        if x.parameters.len() != y.parameters.len() {
            return None;
        }
        let joined = |own: &SchemaPair, other: &SchemaPair| SchemaPair {
            second: other.second,
            parameters: own.parameters.iter().zip(&other.parameters).map(|(p, q)| (p.0, q.1)).collect(),
        };
        let mut mapping = self.clone();
        mapping.schemas[a] = Some(joined(x, y));
        mapping.schemas[b] = Some(joined(y, x));
        Some(mapping)
    }
}
