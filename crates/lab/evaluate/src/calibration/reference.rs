//! The work on a suite's reference that all mutants share: models, plans and walks.

use super::CalibrationSpec;
use crate::study::{StudyBudget, StudySuite, Watch, run_all, stream};
use planforge_contract::{Failure, FailureClass};
use planforge_pddl::ast::Problem;
use planforge_planning::equivalence::ComparedSide;
use planforge_planning::equivalence::domains::{ComparableModel, EquivalenceLimits, comparable};
use planforge_planning::equivalence::hde;
use planforge_planning::walk::{DeadEnds, DrawnWalks, GoalPlan, Model, SampleSpec, WalkPolicy, goal_plan};
use planforge_planning::{
    PlanFile, PlanOptions, SearchOutcome, StopReason, Validator, parse_plan, plan_model,
};
use std::num::NonZeroUsize;

/// A suite's reference, ready to compare mutants with.
#[derive(Debug)]
pub struct ReferenceSuite<'s> {
    pub suite: &'s StudySuite,
    /// Its problems, in order.
    pub(super) problems: Vec<ReferenceProblem>,
    /// Heuristic domain equivalence over all problems, or the reason why it is unavailable.
    pub(super) hde: Result<hde::HdeReference, String>,
}

/// A problem of the reference.
pub(super) struct ReferenceProblem {
    pub(super) problem: Problem,
    pub(super) model: ComparableModel,
    pub(super) validator: Validator,
    /// A plan; otherwise why there is none.
    pub(super) plan: Result<PlanFile, String>,
    /// The plan that goal walks begin with, or the limit that was reached.
    pub(super) goal_plan: Result<GoalPlan, StopReason>,
}

impl std::fmt::Debug for ReferenceProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReferenceProblem").field("plan", &self.plan.is_ok()).finish_non_exhaustive()
    }
}

/// Prepares the references of suites, several at a time.
///
/// # Errors
/// `calibrate.reference`: a reference domain and its problem have no model within the limits.
/// `study.cancelled`, `study.threads`.
pub fn references<'s>(
    suites: &'s [StudySuite],
    spec: &CalibrationSpec,
    threads: usize,
    watch: &Watch,
) -> Result<Vec<ReferenceSuite<'s>>, Failure> {
    let suites: Vec<&'s StudySuite> = suites.iter().collect();
    run_all(&suites, threads, watch, |&suite| reference(suite, spec, watch))?.into_iter().collect()
}

fn reference<'s>(
    suite: &'s StudySuite,
    spec: &CalibrationSpec,
    watch: &Watch,
) -> Result<ReferenceSuite<'s>, Failure> {
    let mut problems = Vec::new();
    for task in &suite.tasks {
        let mut budget = StudyBudget::new(watch, spec.max_bytes);
        let limits = label_limits(spec);
        let model = comparable(ComparedSide::First, &suite.domain, &task.problem, &limits, &mut budget).map_err(|no| {
            let message = format!("{} with {} cannot be compared with anything: {}", suite.name, task.stem, no.error);
            let help = "name other problems with `--problems`, leave the suite out with `--only`, or raise `--max-instances`";
            Failure::new(FailureClass::Request, "calibrate.reference", message).help(help)
        })?;
        let plan = plan_of(model.model(), spec, watch);
        let validator = Validator::new(model.model().lifted().clone());
        let goal_plan =
            goal_plan(model.model(), spec.max_nodes, &mut StudyBudget::new(watch, spec.max_bytes));
        problems.push(ReferenceProblem { problem: task.problem.clone(), model, validator, plan, goal_plan });
    }
    let own: Vec<&Problem> = suite.tasks.iter().map(|t| &t.problem).collect();
    let mut budget = StudyBudget::new(watch, spec.max_bytes);
    let hde = hde::HdeReference::new(&suite.domain, &own, &hde_options(spec), &mut budget);
    Ok(ReferenceSuite { suite, problems, hde: hde.map_err(|no| format!("of the reference, {no}")) })
}

/// A plan of a model, or why there is none.
fn plan_of(model: &Model, spec: &CalibrationSpec, watch: &Watch) -> Result<PlanFile, String> {
    let mut budget = StudyBudget::new(watch, spec.max_bytes);
    match plan_model(model, &plan_options(spec), &mut budget).map(|result| result.outcome) {
        Some(SearchOutcome::Plan(plan)) => Ok(plan_file(&plan)),
        Some(SearchOutcome::LimitReached(reason)) => {
            Err(format!("{reason} was reached before a plan of the reference"))
        }
        _ => Err("no plan of the reference was found".to_owned()),
    }
}

/// A plan as a validator reads it.
pub(super) fn plan_file(plan: &planforge_planning::Plan) -> PlanFile {
    let source = planforge_planning::task::TaskText::Plan.source();
    parse_plan(&plan.to_string(), source)
}

/// The walks of every problem's reference, borrowed from it; `None` where no action is applicable initially.
pub(super) fn walks<'r>(
    reference: &'r ReferenceSuite<'_>,
    spec: &CalibrationSpec,
    watch: &Watch,
) -> Vec<Result<Option<DrawnWalks<'r>>, String>> {
    let most = u64::from(spec.walks.iter().copied().max().unwrap_or(0));
    let draw = |(number, problem): (usize, &'r ReferenceProblem)| {
        let mut budget = StudyBudget::new(watch, spec.max_bytes);
        let seed = stream(spec.seed, &reference.suite.name, &[1 << 32, number as u64]).next_u64();
        DrawnWalks::draw(problem.model.model(), &walk_spec(spec, seed), most, &mut budget)
            .map_err(|reason| format!("{reason} was reached before the reference's walks were drawn"))
    };
    reference.problems.iter().enumerate().map(draw).collect()
}

/// The paper's Definition 1: walks of exactly their length, each step uniform over the applicable actions.
pub(super) fn walk_spec(spec: &CalibrationSpec, seed: u64) -> SampleSpec {
    SampleSpec {
        t_max: spec.t_max,
        walks_per_length: 1,
        seed,
        dead_ends: DeadEnds::CONDITION,
        policy: WalkPolicy::Uniform,
    }
}

/// The limits of the label's comparison.
pub(super) fn label_limits(spec: &CalibrationSpec) -> EquivalenceLimits {
    EquivalenceLimits { max_pairs: spec.max_pairs, ground: spec.ground(), ..EquivalenceLimits::default() }
}

pub(super) fn plan_options(spec: &CalibrationSpec) -> PlanOptions {
    PlanOptions { max_nodes: spec.max_nodes, ground: spec.ground(), ..PlanOptions::default() }
}

fn hde_options(spec: &CalibrationSpec) -> hde::HdeOptions {
    hde::HdeOptions {
        k: NonZeroUsize::new(spec.hde_plans).unwrap_or(NonZeroUsize::MIN),
        max_nodes: spec.max_nodes,
        ground: spec.ground(),
        ..hde::HdeOptions::default()
    }
}
