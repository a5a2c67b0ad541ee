//! Heuristic domain equivalence (Oswald et al. 2024, section 3): the cheapest plans of some problems, found
//! in either domain, are executed in the other.
//!
//! Equivalent domains pass. Domains that pass may still differ, because only finitely many plans are
//! compared. [`domains`](super::domains) decides the question that this estimates. This module computes the
//! paper's measure, under its definition or with the rules of its code ([`HdeRule`]), with one exception: a
//! limit leaves the answer open, where the code takes it for "no plan".
//!
//! A [`HdeReference`] is prepared once and compared with any number of candidates. Plans are found under
//! [`HdeOptions::semantics`] (the paper's planner has no ground no-ops) and executed with VAL's semantics, so
//! a ground no-op in a plan of the other domain is a step like any other.

use super::{
    ComparedSide,
    domains::{ComparableModel, NotCompared, facts_before_last, failed_conditions, model},
};
use crate::ground::GroundLimits;
use crate::resources::{ResourceLimits, StopReason};
use crate::search::SearchStatistics;
use crate::task::Unsupported;
use crate::top_k::{TopKEnd, TopKOptions, TopKOutcome, top_k_of};
use crate::unsolvable::Explanation;
use crate::walk::{
    GroundingMethod, Model, ModelError, ModelOptions, NamedStep, Refusal, Semantics, execute_steps,
};
use planforge_pddl::ast::{Domain, Problem};
use std::num::NonZeroUsize;

/// Rule for comparing the two lists of plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum HdeRule {
    /// The paper's definition: every plan of either list must be a plan of the other domain. For each problem
    /// all new plans are executed before the old ones.
    #[default]
    Definition,
    /// The paper's code: lists of different lengths are a difference by themselves (counted as an old plan that fails), and the
    /// lists are gone through in pairs, the new plan of each pair first.
    ReferenceCode,
}

/// Options of the measure and its limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HdeOptions {
    /// Plans of each problem.
    pub k: NonZeroUsize,
    /// Rule for comparing the lists of plans.
    pub rule: HdeRule,
    /// Legal ground actions of plans.
    pub semantics: Semantics,
    /// Most search nodes for the plans of one problem in one domain: visited states, plus stored suffixes of
    /// plans.
    pub max_nodes: u64,
    /// Caps on grounding each model.
    pub ground: GroundLimits,
}

impl Default for HdeOptions {
    /// 100 plans as in the paper's code (its text has 10), the definition, without ground no-ops, a million
    /// search nodes.
    fn default() -> Self {
        HdeOptions {
            k: NonZeroUsize::MIN.saturating_add(99),
            rule: HdeRule::default(),
            semantics: Semantics::GroundNoOpsDropped,
            max_nodes: 1_000_000,
            ground: GroundLimits::default(),
        }
    }
}

impl HdeOptions {
    const fn model_options(&self) -> ModelOptions {
        ModelOptions { semantics: Semantics::Strips, method: GroundingMethod::Ground, ground: self.ground }
    }
}

/// A domain, and the plans of some problems in it.
#[derive(Debug)]
pub struct HdeReference {
    options: HdeOptions,
    problems: Vec<Prepared>,
    statistics: SearchStatistics,
}

/// One problem in the reference domain.
#[derive(Debug)]
struct Prepared {
    problem: Problem,
    model: Model,
    plans: Plans,
}

/// Plans in order, with the limit that ended the list, if any.
#[derive(Debug)]
struct Plans {
    list: Vec<Vec<NamedStep>>,
    stopped: Option<StopReason>,
}

/// Error of a reference problem.
#[derive(Debug, Clone)]
pub struct HdeReferenceError {
    /// The problem's place in the list, from 0.
    pub problem: usize,
    /// The reason.
    pub why: HdeReferenceErrorKind,
}

/// Reason why a problem cannot be a reference.
#[derive(Debug, Clone)]
pub enum HdeReferenceErrorKind {
    /// The domain and the problem are not a model.
    Model(ModelError),
    /// The measure is defined over solvable problems, and this one has no plan.
    Unsolvable(Box<Explanation>),
    /// A limit ended the search before the first plan.
    Limit(StopReason),
}

impl std::fmt::Display for HdeReferenceErrorKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            HdeReferenceErrorKind::Model(error) => error.fmt(f),
            HdeReferenceErrorKind::Unsolvable(_) => f.write_str("the problem has no plan"),
            HdeReferenceErrorKind::Limit(reason) => write!(f, "{reason} was reached before the first plan"),
        }
    }
}

impl std::fmt::Display for HdeReferenceError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "problem {}: {}", self.problem + 1, self.why)
    }
}

impl std::error::Error for HdeReferenceError {}

/// Comparison of two domains.
#[derive(Debug, Clone)]
pub struct HdeResult {
    /// The result.
    pub outcome: HdeOutcome,
    /// By problem, the plans found in the reference and in the candidate. It ends with the problem that shows a difference.
    pub plans: Vec<[usize; 2]>,
    /// Plans that were executed in the other domain and are plans there too.
    pub shared: usize,
    /// The searches for the candidate's plans, together.
    pub statistics: SearchStatistics,
}

impl HdeResult {
    /// Before the first problem.
    fn new() -> Self {
        let statistics = SearchStatistics::default();
        HdeResult { outcome: HdeOutcome::Equivalent, plans: Vec::new(), shared: 0, statistics }
    }
}

/// Result of a comparison.
#[derive(Debug, Clone)]
pub enum HdeOutcome {
    /// All compared plans are plans of both domains.
    Equivalent,
    /// A difference; the problem's place in the list, from 0.
    Different {
        /// The problem that shows it.
        problem: usize,
        /// The difference.
        difference: HdeDifference,
    },
    /// No difference was found, and a limit left plans out.
    Undecided {
        /// The first problem with plans left out, by its place in the list.
        problem: usize,
        /// In which domain: [`ComparedSide::First`] is the reference.
        side: ComparedSide,
        /// The limit that was reached.
        stopped: StopReason,
    },
}

/// Evidence that two domains differ.
#[derive(Debug, Clone)]
pub enum HdeDifference {
    /// The problem has no plan in the candidate: proven, never a limit.
    NoPlan(Box<Explanation>),
    /// A plan of the candidate is none of the reference.
    NewPlanFails(FailingPlan),
    /// A plan of the reference is none of the candidate.
    OldPlanFails(FailingPlan),
    /// Only under [`HdeRule::ReferenceCode`]: the domains have different numbers of plans.
    Number {
        /// Plans found in the reference.
        reference: usize,
        /// Plans found in the candidate.
        candidate: usize,
    },
}

/// The paper's classes of different domains (Table 1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum HdeClass {
    /// No plan was found in the new domain.
    NoPlan,
    /// A new plan could not be applied in the original domain.
    NPApp,
    /// An original plan could not be applied in the new domain.
    OPApp,
}

impl HdeDifference {
    /// The class that it counts under; different numbers of plans count as in the paper's code.
    pub const fn class(&self) -> HdeClass {
        match self {
            HdeDifference::NoPlan(_) => HdeClass::NoPlan,
            HdeDifference::NewPlanFails(_) => HdeClass::NPApp,
            HdeDifference::OldPlanFails(_) | HdeDifference::Number { .. } => HdeClass::OPApp,
        }
    }
}

/// A plan of one domain that is none of the other.
#[derive(Debug, Clone, PartialEq)]
pub struct FailingPlan {
    /// Its place among the plans of its domain, from 0.
    pub rank: usize,
    /// The plan's steps.
    pub steps: Vec<NamedStep>,
    /// The first step that the other domain refuses, from 0, and why; `None` where it executes all and the goal does not hold.
    pub failing: Option<(usize, Refusal)>,
    /// The parts of the precondition, or of the goal, that do not hold there, as PDDL and why.
    pub conditions: Vec<String>,
    /// Facts about the failing step's objects in the state before it, in the domain that refuses it, as PDDL;
    /// empty if every step is executed.
    pub facts: Vec<String>,
}

impl HdeReference {
    /// Finds the plans of the problems in the reference domain.
    ///
    /// # Errors
    /// The first unusable problem, as [`HdeReferenceError`]. A limit after the first plan is not an error:
    /// comparisons that would need the missing plans stay open.
    pub fn new(
        domain: &Domain,
        problems: &[&Problem],
        options: &HdeOptions,
        resources: &mut dyn ResourceLimits,
    ) -> Result<Self, HdeReferenceError> {
        let mut prepared = Vec::with_capacity(problems.len());
        let mut statistics = SearchStatistics::default();
        for (number, &problem) in problems.iter().enumerate() {
            let found = Prepared::new(domain, problem, options, resources, &mut statistics);
            prepared.push(found.map_err(|why| HdeReferenceError { problem: number, why })?);
        }
        Ok(HdeReference { options: *options, problems: prepared, statistics })
    }

    /// The searches for the plans of all problems, together.
    pub fn statistics(&self) -> SearchStatistics {
        self.statistics
    }

    /// The plans of a problem in the reference, in order.
    pub fn plans(&self, problem: usize) -> &[Vec<NamedStep>] {
        self.problems.get(problem).map_or(&[], |p| p.plans.list.as_slice())
    }

    /// Returns true if every problem has an object of that name, given in lower case.
    pub(crate) fn has_object(&self, key: &str) -> bool {
        self.problems().all(|problem| problem.objects.iter().any(|object| object.name.is(key)))
    }

    /// Returns the problems, in the order given.
    pub(crate) fn problems(&self) -> impl Iterator<Item = &Problem> {
        self.problems.iter().map(|p| &p.problem)
    }

    /// Compares a candidate, on the reference's own problems.
    ///
    /// # Errors
    /// The candidate with one of the problems is not a model; [`NotCompared::side`] is always
    /// [`ComparedSide::Second`].
    pub fn compare(
        &self,
        candidate: &Domain,
        resources: &mut dyn ResourceLimits,
    ) -> Result<HdeResult, NotCompared> {
        let own: Vec<&Problem> = self.problems().collect();
        self.compare_on(candidate, &own, resources)
    }

    /// Compares a candidate that has its own version of the problems: one for each of the reference's, in the
    /// same order.
    ///
    /// # Errors
    /// See [`HdeReference::compare`].
    pub fn compare_on(
        &self,
        candidate: &Domain,
        problems: &[&Problem],
        resources: &mut dyn ResourceLimits,
    ) -> Result<HdeResult, NotCompared> {
        let mut hde = HdeResult::new();
        for (number, problem) in problems.iter().enumerate().take(self.problems.len()) {
            let new =
                model(ComparedSide::Second, candidate, problem, &self.options.model_options(), resources)?;
            if self.add(&mut hde, number, &new, resources)? {
                break;
            }
        }
        Ok(hde)
    }

    /// Compares a candidate whose models of the problems are ready, in the same order.
    ///
    /// # Errors
    /// The candidate has constructs that the search for plans does not handle.
    pub fn compare_models(
        &self,
        candidates: &[&ComparableModel],
        resources: &mut dyn ResourceLimits,
    ) -> Result<HdeResult, NotCompared> {
        let mut hde = HdeResult::new();
        for (number, new) in candidates.iter().enumerate() {
            if self.add(&mut hde, number, new.model(), resources)? {
                break;
            }
        }
        Ok(hde)
    }

    /// Adds one problem to a comparison; whether it shows a difference.
    fn add(
        &self,
        hde: &mut HdeResult,
        number: usize,
        new: &Model,
        resources: &mut dyn ResourceLimits,
    ) -> Result<bool, NotCompared> {
        let Some(old) = self.problems.get(number) else { return Ok(true) };
        let (plans, unsolvable) = match search(new, &self.options, resources, &mut hde.statistics) {
            PlanSearch::Plans(plans) => (plans, None),
            PlanSearch::Unsolvable(explanation) => (Plans::none(), Some(explanation)),
            PlanSearch::Limit(reason) => (Plans { stopped: Some(reason), ..Plans::none() }, None),
            PlanSearch::Unsupported(list) => {
                return Err(NotCompared { side: ComparedSide::Second, error: ModelError::Unsupported(list) });
            }
        };
        hde.plans.push([old.plans.list.len(), plans.list.len()]);
        let difference = match unsolvable {
            Some(explanation) => Some(HdeDifference::NoPlan(explanation)),
            None => match self.cross_check(old, [new, &old.model], &plans, &mut hde.shared, resources) {
                Ok(difference) => difference,
                Err(reason) => {
                    let (side, stopped) = (ComparedSide::Second, reason);
                    hde.outcome = HdeOutcome::Undecided { problem: number, side, stopped };
                    return Ok(false);
                }
            },
        };
        if let Some(difference) = difference {
            hde.outcome = HdeOutcome::Different { problem: number, difference };
            return Ok(true);
        }
        let open = [(ComparedSide::First, old.plans.stopped), (ComparedSide::Second, plans.stopped)];
        if let HdeOutcome::Equivalent = hde.outcome
            && let Some((side, stopped)) = open.into_iter().find_map(|(s, r)| Some((s, r?)))
        {
            hde.outcome = HdeOutcome::Undecided { problem: number, side, stopped };
        }
        Ok(false)
    }

    /// The first difference in the plans of one problem, in the order of the rule.
    fn cross_check(
        &self,
        old: &Prepared,
        [new_model, old_model]: [&Model; 2],
        new: &Plans,
        shared: &mut usize,
        resources: &mut dyn ResourceLimits,
    ) -> Result<Option<HdeDifference>, StopReason> {
        let mut holds = |plans: &Plans, rank: usize, model: &Model| match plans.list.get(rank) {
            Some(plan) => {
                let fails = failing(rank, plan, model, resources)?;
                *shared += usize::from(fails.is_none());
                Ok::<_, StopReason>(fails)
            }
            None => Ok(None),
        };
        let (new_count, old_count) = (new.list.len(), old.plans.list.len());
        match self.options.rule {
            HdeRule::Definition => {
                for rank in 0..new_count {
                    if let Some(found) = holds(new, rank, old_model)? {
                        return Ok(Some(HdeDifference::NewPlanFails(found)));
                    }
                }
                for rank in 0..old_count {
                    if let Some(found) = holds(&old.plans, rank, new_model)? {
                        return Ok(Some(HdeDifference::OldPlanFails(found)));
                    }
                }
            }
            HdeRule::ReferenceCode => {
                let all = new.stopped.is_none() && old.plans.stopped.is_none();
                if all && new_count != old_count {
                    return Ok(Some(HdeDifference::Number { reference: old_count, candidate: new_count }));
                }
                for rank in 0..new_count.min(old_count) {
                    if let Some(found) = holds(new, rank, old_model)? {
                        return Ok(Some(HdeDifference::NewPlanFails(found)));
                    }
                    if let Some(found) = holds(&old.plans, rank, new_model)? {
                        return Ok(Some(HdeDifference::OldPlanFails(found)));
                    }
                }
            }
        }
        Ok(None)
    }
}

impl Prepared {
    fn new(
        domain: &Domain,
        problem: &Problem,
        options: &HdeOptions,
        resources: &mut dyn ResourceLimits,
        statistics: &mut SearchStatistics,
    ) -> Result<Self, HdeReferenceErrorKind> {
        let model = model(ComparedSide::First, domain, problem, &options.model_options(), resources)
            .map_err(|not| HdeReferenceErrorKind::Model(not.error))?;
        let plans = match search(&model, options, resources, statistics) {
            PlanSearch::Plans(plans) => plans,
            PlanSearch::Unsolvable(explanation) => {
                return Err(HdeReferenceErrorKind::Unsolvable(explanation));
            }
            PlanSearch::Limit(reason) => return Err(HdeReferenceErrorKind::Limit(reason)),
            PlanSearch::Unsupported(list) => {
                return Err(HdeReferenceErrorKind::Model(ModelError::Unsupported(list)));
            }
        };
        Ok(Prepared { problem: problem.clone(), model, plans })
    }
}

impl Plans {
    const fn none() -> Self {
        Plans { list: Vec::new(), stopped: None }
    }
}

/// Result of a search for plans.
enum PlanSearch {
    Plans(Plans),
    Unsolvable(Box<Explanation>),
    Limit(StopReason),
    Unsupported(Vec<Unsupported>),
}

fn search(
    model: &Model,
    options: &HdeOptions,
    resources: &mut dyn ResourceLimits,
    statistics: &mut SearchStatistics,
) -> PlanSearch {
    // Models are always grounded here.
    let Some(simulator) = model.simulator() else { return PlanSearch::Limit(StopReason::Grounding) };
    let wanted = TopKOptions {
        semantics: options.semantics,
        max_nodes: options.max_nodes,
        ground: options.ground,
        ..TopKOptions::new(options.k)
    };
    let result = top_k_of(model.lifted(), simulator.task(), &wanted, resources);
    *statistics += result.statistics;
    match result.outcome {
        TopKOutcome::Plans { plans, end } => {
            let symbols = &model.lifted().symbols;
            let step = |action: &crate::task::GroundAction| NamedStep {
                name: symbols.actions[action.action as usize].clone(),
                args: action.args.iter().map(|&o| symbols.objects[o as usize].clone()).collect(),
            };
            let list = plans.iter().map(|plan| plan.steps.iter().map(step).collect()).collect();
            let stopped = match end {
                TopKEnd::LimitReached(reason) => Some(reason),
                TopKEnd::Enough | TopKEnd::NoMore => None,
            };
            PlanSearch::Plans(Plans { list, stopped })
        }
        TopKOutcome::ProvenUnsolvable(explanation) => PlanSearch::Unsolvable(Box::new(explanation)),
        TopKOutcome::LimitReached(reason) => PlanSearch::Limit(reason),
        TopKOutcome::Unsupported(list) => PlanSearch::Unsupported(list),
    }
}

/// Returns why a plan of the other domain is not a plan of this one; `None` if it is.
///
/// # Errors
/// The limit that was reached before that was decided.
fn failing(
    rank: usize,
    steps: &[NamedStep],
    model: &Model,
    resources: &mut dyn ResourceLimits,
) -> Result<Option<FailingPlan>, StopReason> {
    let replayed = execute_steps(model, steps, resources)?;
    let goal = || model.simulator().is_some_and(|s| s.is_goal(&replayed.state));
    if replayed.refusal.is_none() && goal() {
        return Ok(None);
    }
    let executed = &steps[..steps.len().min(replayed.executed + 1)];
    let conditions = match &replayed.refusal {
        None | Some(Refusal::NotApplicable) => failed_conditions(model, executed, resources),
        Some(_) => Vec::new(),
    };
    let facts = match &replayed.refusal {
        Some(Refusal::NotApplicable) => facts_before_last(model, executed, resources),
        _ => Vec::new(),
    };
    let failing = replayed.refusal.map(|why| (replayed.executed, why));
    Ok(Some(FailingPlan { rank, steps: steps.to_vec(), failing, conditions, facts }))
}
