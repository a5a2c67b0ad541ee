//! Exact comparison of the behaviour of two domains on given problems: a breadth-first search over pairs of
//! states (one of each model) that the same sequence of ground actions leads to.
//!
//! Two models *differ* if there is a sequence of ground actions that one executes and the other refuses, or
//! after which the goal holds in one and not in the other; or, for a problem with a metric, if an action that
//! both execute adds another amount to it. Ground actions match by name and by the position of their
//! arguments, without regard to case. Names of parameters, the order and repetition of conditions, facts that
//! nothing depends on, and actions that are never applicable make no difference. States are never compared
//! with each other, so the two models may be over different predicates.
//!
//! The reported difference is the first by length, then by the names of its actions. If there is none, either
//! every pair was visited, and the models are equal over the whole reachable space of this problem, or a
//! limit ended the search, and they are equal for every sequence up to a length. Equality over all problems
//! is not decided: no finite set of problems shows it.
//!
//! Facts that no condition, rule or goal depends on are left out of the states. Models whose ground tasks are
//! then identical are equal without a search. Cost: pairs times applicable actions, each pair packed into
//! bits.
//!
//! An [`ExactReference`] has several problems and is compared with any number of candidates.

mod product;

use super::ComparedSide;
use crate::ground::GroundLimits;
use crate::plan_file::parse_plan;
use crate::resources::{ResourceLimits, StopReason};
use crate::task::{GroundTask, SourcePlace, TaskText, Unsupported};
use crate::validate::{FailedCondition, ValidationDecision, Validator};
use crate::walk::{
    GroundingMethod, Model, ModelError, ModelOptions, NamedStep, Refusal, Semantics, execute_steps,
};
use planforge_pddl::ast::{Domain, Problem};
use product::{Both, End, ProductResult, Ready, search};

/// Limits of a comparison, and which ground actions are legal in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EquivalenceLimits {
    /// Legal ground actions. Under [`Semantics::GroundNoOpsDropped`] each model drops its own no-ops.
    pub semantics: Semantics,
    /// Most pairs of states in memory for one problem, checked before each expansion.
    pub max_pairs: u64,
    /// Longest sequence tried, in actions; `None` for any length.
    pub max_depth: Option<u32>,
    /// Caps on grounding each model.
    pub ground: GroundLimits,
}

impl Default for EquivalenceLimits {
    /// STRIPS semantics, a million pairs, any length.
    fn default() -> Self {
        EquivalenceLimits {
            semantics: Semantics::Strips,
            max_pairs: 1_000_000,
            max_depth: None,
            ground: GroundLimits::default(),
        }
    }
}

/// Comparison of two domains on one problem.
#[derive(Debug, Clone, PartialEq)]
pub struct DomainComparison {
    /// Comparison of executable sequences and goals.
    pub behaviour: Behaviour,
    /// Comparison of the steps' costs.
    pub costs: Costs,
    /// Pairs of states that were met; 0 where no search was needed.
    pub pairs: u64,
}

/// Comparison of two models by the sequences they execute and by their goals.
#[derive(Debug, Clone, PartialEq)]
pub enum Behaviour {
    /// Every sequence of ground actions is executed by both or refused by both, and leads to the goal in both or in neither.
    Equal {
        /// Both are the same ground task; nothing was searched.
        same_model: bool,
    },
    /// That holds for all sequences of at most this many steps; longer ones were not all tried.
    EqualUpTo {
        /// Length of the longest sequences that were all tried.
        steps: u32,
        /// The limit that ended the search.
        end: SearchEnd,
    },
    /// It does not hold.
    Different(BehaviourDifference),
}

/// Limit that ended a search early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchEnd {
    /// The limit [`EquivalenceLimits::max_pairs`].
    Pairs,
    /// The limit [`EquivalenceLimits::max_depth`].
    Depth,
    /// A resource limit.
    Stopped(StopReason),
}

/// The first difference in behaviour, by length and then by name.
#[derive(Debug, Clone, PartialEq)]
pub struct BehaviourDifference {
    /// The sequence, in lower case. A refused step is the last one.
    pub steps: Vec<NamedStep>,
    /// Kind of the difference.
    pub kind: DifferenceKind,
}

/// Kinds of differences in behaviour.
#[derive(Debug, Clone, PartialEq)]
pub enum DifferenceKind {
    /// One executes the whole sequence, the other all but its last step.
    Refused {
        /// The side that refuses.
        by: ComparedSide,
        /// The reason for the refusal.
        refusal: Refusal,
        /// If the precondition fails: its parts that do not hold, as PDDL with the reason, in the names of
        /// the refusing side.
        conditions: Vec<String>,
    },
    /// Both execute the sequence, and the goal then holds on one side only.
    Goal {
        /// In which one it holds.
        holds_in: ComparedSide,
        /// Parts of the other's goal that do not hold, as PDDL and why.
        conditions: Vec<String>,
    },
}

/// Comparison of two models by the amounts that their steps add to the metric.
#[derive(Debug, Clone, PartialEq)]
pub enum Costs {
    /// The problem has no metric.
    NotAsked,
    /// Every step that was executed in both costs the same.
    Equal,
    /// A step has different costs.
    Different(CostDifference),
    /// They were not compared.
    NotCompared {
        /// The side where a cost is not a constant of the ground action.
        side: ComparedSide,
        /// The kind of cost there, as a noun phrase.
        what: String,
    },
}

/// The first step whose cost differs.
#[derive(Debug, Clone, PartialEq)]
pub struct CostDifference {
    /// The sequence, in lower case; it is the last step whose cost differs.
    pub steps: Vec<NamedStep>,
    /// Amount added to the metric on the first and on the second side (negated if more is better).
    pub costs: [f64; 2],
}

/// Overall result of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparisonVerdict {
    /// Equal in everything, over the whole reachable space of the problem.
    Equal,
    /// Different in behaviour or cost.
    Different,
    /// No difference was found, and not everything was compared.
    Open,
}

impl DomainComparison {
    /// The verdict on this problem.
    pub fn verdict(&self) -> ComparisonVerdict {
        match (&self.behaviour, &self.costs) {
            (Behaviour::Different(_), _) | (_, Costs::Different(_)) => ComparisonVerdict::Different,
            (Behaviour::EqualUpTo { .. }, _) | (_, Costs::NotCompared { .. }) => ComparisonVerdict::Open,
            (Behaviour::Equal { .. }, Costs::NotAsked | Costs::Equal) => ComparisonVerdict::Equal,
        }
    }

    /// The number of steps after which a difference shows, in behaviour or else in cost.
    pub fn shown_after(&self) -> Option<usize> {
        match (&self.behaviour, &self.costs) {
            (Behaviour::Different(found), _) => Some(found.steps.len()),
            (_, Costs::Different(found)) => Some(found.steps.len()),
            _ => None,
        }
    }
}

/// Error of a comparison: a model could not be built, or a limit ended the search for the reason of a refusal.
#[derive(Debug, Clone)]
pub struct NotCompared {
    /// The side whose model failed or refuses.
    pub side: ComparedSide,
    /// The error.
    pub error: ModelError,
}

/// Compares two domains on one problem, written once for each (the same text for both if both declare the
/// names it uses).
///
/// # Errors
/// A domain and its problem are not a model: errors, unsupported constructs, or a limit on grounding. Or a limit ended the
/// search for the reason of a refusal.
pub fn compare_domains(
    domains: [&Domain; 2],
    problems: [&Problem; 2],
    limits: &EquivalenceLimits,
    resources: &mut dyn ResourceLimits,
) -> Result<DomainComparison, NotCompared> {
    let options = limits.model_options();
    let first = ComparableModel(model(ComparedSide::First, domains[0], problems[0], &options, resources)?);
    let second = ComparableModel(model(ComparedSide::Second, domains[1], problems[1], &options, resources)?);
    compare_models([&first, &second], limits, resources)
}

/// Prepares one side's model for comparisons with several others by [`compare_models`]; see
/// [`compare_domains`].
///
/// # Errors
/// See [`compare_domains`].
pub fn comparable(
    side: ComparedSide,
    domain: &Domain,
    problem: &Problem,
    limits: &EquivalenceLimits,
    resources: &mut dyn ResourceLimits,
) -> Result<ComparableModel, NotCompared> {
    model(side, domain, problem, &limits.model_options(), resources).map(ComparableModel)
}

/// A domain and a problem that were found to be comparable, ready for any number of comparisons.
#[derive(Debug)]
pub struct ComparableModel(Model);

impl ComparableModel {
    /// The model that is compared.
    pub const fn model(&self) -> &Model {
        &self.0
    }
}

/// Compares two prepared models; see [`compare_domains`]. The limits on semantics and grounding already apply
/// to the models.
///
/// # Errors
/// See [`compare_domains`].
pub fn compare_models(
    sides: [&ComparableModel; 2],
    limits: &EquivalenceLimits,
    resources: &mut dyn ResourceLimits,
) -> Result<DomainComparison, NotCompared> {
    let models = sides.map(ComparableModel::model);
    let Some(both) = Both::new(models) else {
        // Comparable models are always grounded.
        let error = ModelError::Limit(StopReason::Grounding);
        return Err(NotCompared { side: ComparedSide::First, error });
    };
    let priced = both.sides.iter().any(|s| s.priced);
    let open = [ComparedSide::First, ComparedSide::Second].into_iter().zip(&both.sides).find_map(open_costs);
    if open.is_none() && product::same(&both.sides[0], &both.sides[1], priced) {
        let costs = if priced { Costs::Equal } else { Costs::NotAsked };
        return Ok(DomainComparison { behaviour: Behaviour::Equal { same_model: true }, costs, pairs: 0 });
    }
    let seen = search(&both, priced && open.is_none(), limits, resources);
    build_comparison(models, &both, priced, open, seen, resources)
}

/// The whole answer over several problems: different where one is, equal where all are.
pub fn overall_verdict<'c>(comparisons: impl IntoIterator<Item = &'c DomainComparison>) -> ComparisonVerdict {
    let mut verdict = ComparisonVerdict::Equal;
    for comparison in comparisons {
        match comparison.verdict() {
            ComparisonVerdict::Different => return ComparisonVerdict::Different,
            ComparisonVerdict::Open => verdict = ComparisonVerdict::Open,
            ComparisonVerdict::Equal => {}
        }
    }
    verdict
}

impl EquivalenceLimits {
    const fn model_options(&self) -> ModelOptions {
        ModelOptions { semantics: self.semantics, method: GroundingMethod::Ground, ground: self.ground }
    }
}

/// One side's model; an action whose ground actions a plan does not name one by one is refused.
pub(super) fn model(
    side: ComparedSide,
    domain: &Domain,
    problem: &Problem,
    options: &ModelOptions,
    resources: &mut dyn ResourceLimits,
) -> Result<Model, NotCompared> {
    let model =
        Model::new(domain, problem, options, resources).map_err(|error| NotCompared { side, error })?;
    // A plan names the parameters alone: which of several steps it means would be a guess.
    let hidden = model.lifted().schemas.iter().find(|s| s.variables.len() != s.parameters);
    match hidden {
        Some(schema) => {
            let what = "an action with :vars".to_owned();
            let unsupported =
                Unsupported { what, place: SourcePlace { text: TaskText::Domain, span: schema.span } };
            Err(NotCompared { side, error: ModelError::Unsupported(vec![unsupported]) })
        }
        None => Ok(model),
    }
}

fn open_costs((side, ready): (ComparedSide, &Ready)) -> Option<Costs> {
    let what = ready.cost_unsupported.clone()?;
    Some(Costs::NotCompared { side, what })
}

fn build_comparison(
    models: [&Model; 2],
    both: &Both,
    priced: bool,
    open: Option<Costs>,
    seen: ProductResult,
    resources: &mut dyn ResourceLimits,
) -> Result<DomainComparison, NotCompared> {
    let named =
        |path: &[u32]| path.iter().map(|&a| both.steps[a as usize].clone()).collect::<Vec<NamedStep>>();
    let costs = match (seen.cost, open) {
        (Some(path), _) => {
            let last = path.last().copied().unwrap_or_default() as usize;
            let costs = both.sides.each_ref().map(|s| s.simulator.cost(s.action[last]).to_f64());
            Costs::Different(CostDifference { steps: named(&path), costs })
        }
        (None, Some(open)) => open,
        (None, None) if priced => Costs::Equal,
        (None, None) => Costs::NotAsked,
    };
    let of = |side: ComparedSide| models[usize::from(side == ComparedSide::Second)];
    let behaviour = match seen.end {
        End::Whole => Behaviour::Equal { same_model: false },
        End::Limit(steps, end) => Behaviour::EqualUpTo { steps, end },
        End::Refused(path, by) => {
            let steps = named(&path);
            let kind = explain_refusal(of(by), by, &steps, resources)
                .map_err(|reason| NotCompared { side: by, error: ModelError::Limit(reason) })?;
            Behaviour::Different(BehaviourDifference { steps, kind })
        }
        End::Goal(path, holds_in) => {
            let steps = named(&path);
            let conditions = failed_conditions(of(holds_in.other()), &steps, resources);
            let kind = DifferenceKind::Goal { holds_in, conditions };
            Behaviour::Different(BehaviourDifference { steps, kind })
        }
    };
    Ok(DomainComparison { behaviour, costs, pairs: seen.pairs })
}

fn explain_refusal(
    model: &Model,
    by: ComparedSide,
    steps: &[NamedStep],
    resources: &mut dyn ResourceLimits,
) -> Result<DifferenceKind, StopReason> {
    let executed = execute_steps(model, steps, resources)?;
    let refusal = executed.refusal.unwrap_or(Refusal::NotApplicable);
    let conditions = match refusal {
        Refusal::NotApplicable => failed_conditions(model, steps, resources),
        _ => Vec::new(),
    };
    Ok(DifferenceKind::Refused { by, refusal, conditions })
}

/// The task without the facts that neither an applicable action nor the goal can depend on. Facts and actions keep their numbers.
pub(super) fn reduced_task(task: &GroundTask) -> GroundTask {
    product::reduce_task(task).0
}

/// The conditions that keep a model from executing a sequence or, where it executes all of it, its goal from holding. None if a limit
/// ended the work.
pub(super) fn failed_conditions(
    model: &Model,
    steps: &[NamedStep],
    resources: &mut dyn ResourceLimits,
) -> Vec<String> {
    let report = validate_steps(model, steps, resources);
    let conditions = report.failing_step.map_or(report.missing_goals, |step| step.conditions);
    let told = |c: FailedCondition| match c.why.starts_with(&c.text) {
        true => c.why,
        false => format!("{}: {}", c.text, c.why),
    };
    conditions.into_iter().map(told).collect()
}

/// Returns the facts about the last step's objects, and the facts without arguments, in the state before that
/// step, as PDDL. Includes static facts, but not derived ones. None if a limit ended the work.
pub(super) fn facts_before_last(
    model: &Model,
    steps: &[NamedStep],
    resources: &mut dyn ResourceLimits,
) -> Vec<String> {
    let Some((last, before)) = steps.split_last() else { return Vec::new() };
    let symbols = &model.lifted().symbols;
    let named = |object: &u32| {
        let name = symbols.objects.get(*object as usize);
        name.is_some_and(|name| last.args.iter().any(|arg| arg.eq_ignore_ascii_case(name)))
    };
    let declared = |atom: &crate::task::Atom| {
        let predicate = symbols.predicates.get(atom.predicate as usize);
        predicate.is_some_and(|name| !name.starts_with('@'))
    };
    let report = validate_steps(model, before, resources);
    if let ValidationDecision::LimitReached(_) = report.decision {
        return Vec::new();
    }
    let facts: std::collections::BTreeSet<String> = report
        .state_after(before.len())
        .into_iter()
        .filter(|atom| declared(atom) && atom.args.iter().all(named))
        .map(|atom| symbols.atom(&atom))
        .collect();
    facts.into_iter().collect()
}

fn validate_steps(
    model: &Model,
    steps: &[NamedStep],
    resources: &mut dyn ResourceLimits,
) -> crate::validate::ValidationReport {
    let text: String = steps.iter().map(|s| format!("{s}\n")).collect();
    Validator::new(model.lifted().clone()).validate(&parse_plan(&text, TaskText::Plan.source()), resources)
}

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
