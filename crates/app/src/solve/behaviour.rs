//! The behaviour of a domain with a problem: what can be done, when the task is done, and the shortest difference from another one.

use crate::context::Context;
use crate::limits::{RequestLimits, WorkLimits};
use crate::question::Statement;
use planforge_diagnostics::{Diagnostic, SourceId};
use planforge_pddl::ast::{Action, Domain, Problem};
use planforge_pddl::{
    TaskSources, check_domain, check_problem, parse_domain, parse_problem, print_domain, print_problem,
};
use planforge_planning::equivalence::ComparedSide;
use planforge_planning::equivalence::domains::{
    Behaviour, DifferenceKind, EquivalenceLimits, compare_domains,
};
use planforge_planning::equivalence::joint::common::{CommonPlan, common_plan};
use planforge_planning::equivalence::joint::follow::{Followed, Standing, follow};
use planforge_planning::equivalence::joint::{
    JointLimits, JointRenaming, OneSided, Reading, ReadingVerdict, Witness, WitnessKind, compare_equal_names,
    compare_readings,
};
use planforge_planning::walk::{self, ModelOptions, NamedStep};
use planforge_planning::{
    Algorithm, PlanOptions, SearchOutcome, ValidationDecision, ValidationOptions, ValidationReport,
    Validator, normalize, parse_plan,
};
use planforge_plugin_common::reading::{Part, sources};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cell::OnceCell;
use std::collections::BTreeSet;

/// Seconds for one comparison, and for one plan.
const SECONDS: f64 = 5.0;

/// Most pairs of states of one comparison.
const MOST_PAIRS: u64 = 300_000;

/// Most nodes of one search.
const MOST_NODES: u64 = 2_000_000;

/// A domain and a problem that fit together.
#[derive(Debug, Clone)]
pub(super) struct Model {
    pub(super) domain_text: String,
    pub(super) problem_text: String,
    pub(super) domain: Domain,
    pub(super) problem: Problem,
    /// The plan, once it was searched for.
    plan: OnceCell<Found>,
}

impl Model {
    /// Reads both texts.
    ///
    /// # Errors
    /// The first mistake, as a clause.
    pub(super) fn read(domain_text: &str, problem_text: &str) -> Result<Self, String> {
        let first = |diagnostics: &[Diagnostic]| {
            diagnostics.iter().find(|found| found.is_error()).map(|found| found.message.clone())
        };
        let domain = parse_domain(domain_text, SourceId(0));
        let problem = parse_problem(problem_text, SourceId(1));
        if let Some(mistake) = first(&domain.diagnostics).or_else(|| first(&problem.diagnostics)) {
            return Err(mistake);
        }
        let (domain, problem) = (domain.value, problem.value);
        let of_domain = check_domain(&domain, SourceId(0));
        let of_problem = check_problem(&domain, &problem, TaskSources::default());
        if let Some(mistake) = first(&of_domain).or_else(|| first(&of_problem)) {
            return Err(mistake);
        }
        normalize(&domain, &problem)
            .map_err(|found| first(&found).unwrap_or_else(|| "the PDDL has a mistake".to_owned()))?;
        let (domain_text, problem_text) = (domain_text.to_owned(), problem_text.to_owned());
        Ok(Self { domain_text, problem_text, domain, problem, plan: OnceCell::new() })
    }

    fn reading(&self) -> Reading<'_> {
        Reading { domain: &self.domain, problem: &self.problem }
    }

    /// How far steps of another model can be followed in this one, which may divide the actions otherwise. `None` at a limit.
    pub(super) fn follow(
        &self,
        steps: &[String],
        of: &Self,
        standing: Standing,
        context: &Context,
    ) -> Option<Followed> {
        let limits = &mut limits(context);
        let model = walk::Model::new(&self.domain, &self.problem, &ModelOptions::default(), limits).ok()?;
        let steps: Vec<NamedStep> = steps.iter().map(|step| NamedStep::parse(step)).collect::<Option<_>>()?;
        follow(&model, &steps, of.reading(), standing, limits).ok()
    }

    /// The names of all objects, in lower case.
    fn objects(&self) -> BTreeSet<String> {
        let all = self.problem.objects.iter().chain(&self.domain.constants);
        all.map(|object| object.name.key().to_owned()).collect()
    }

    /// The names of the objects that a sentence of the text mentions, in lower case.
    pub(super) fn objects_of_sentences(&self) -> BTreeSet<String> {
        let parts = sources(&self.domain_text, &self.problem_text).into_iter();
        let objects = parts.filter(|part| part.part == Part::Object && !part.sentences.is_empty());
        objects.filter_map(|part| Some(part.text.split_whitespace().next()?.to_lowercase())).collect()
    }

    /// A cheapest plan that is valid in both models, by the costs of this one. `None` if there is none, or at a limit.
    pub(super) fn common_plan(
        &self,
        other: &Self,
        translation: &Translation,
        context: &Context,
    ) -> Option<[Vec<String>; 2]> {
        let bounds = JointLimits::default();
        let limits = &mut limits(context);
        let renaming = match &translation.renaming {
            Some(renaming) => (**renaming).clone(),
            None => compare_equal_names(self.reading(), other.reading(), &bounds, limits).ok()?.0,
        };
        let others = [(other.reading(), &renaming)];
        let found = common_plan(self.reading(), &others, Algorithm::AStar, MOST_NODES, &bounds, limits);
        let Ok(CommonPlan::Plan { steps, .. }) = found else { return None };
        let mut sides = steps.iter().map(|steps| steps.iter().map(NamedStep::to_string).collect());
        Some([sides.next()?, sides.next()?])
    }

    /// True if both have the same PDDL, comments and layout aside.
    fn is_copy_of(&self, other: &Self) -> bool {
        print_domain(&self.domain) == print_domain(&other.domain)
            && print_problem(&self.problem) == print_problem(&other.problem)
    }

    /// True if both have the same objects, and the same actions with as many parameters: then names mean the same.
    fn has_names_of(&self, other: &Self) -> bool {
        let actions = |model: &Self| -> BTreeSet<(String, usize)> {
            let of = |action: &Action| (action.name.key().to_owned(), action.parameters.len());
            model.domain.actions.iter().map(of).collect()
        };
        self.objects() == other.objects() && actions(self) == actions(other)
    }

    /// True if the model has the actions and objects of these steps.
    pub(super) fn has_steps(&self, steps: &[String]) -> bool {
        let objects = self.objects();
        let has = |step: &String| {
            let step = NamedStep::parse(step);
            step.is_some_and(|step| {
                let is_action = |action: &Action| action.name.key() == step.name.to_lowercase();
                self.domain.actions.iter().any(is_action)
                    && step.args.iter().all(|object| objects.contains(&object.to_lowercase()))
            })
        };
        steps.iter().all(has)
    }

    /// Executes steps. `None` if the task has constructs that are not executed, or at a limit.
    pub(super) fn execute(&self, steps: &[String], context: &Context) -> Option<ValidationReport> {
        self.validate(steps, false, context)
    }

    /// As [`Model::execute`]; `with_time`: also steps with times.
    pub(super) fn validate(
        &self,
        steps: &[String],
        with_time: bool,
        context: &Context,
    ) -> Option<ValidationReport> {
        let task = normalize(&self.domain, &self.problem).ok()?;
        let plan = parse_plan(&steps.join("\n"), SourceId(2));
        let options = ValidationOptions { time: with_time, ..ValidationOptions::default() };
        let report = Validator::new(task).validate_with(&plan, &options, &mut limits(context));
        match report.decision {
            ValidationDecision::Valid | ValidationDecision::Invalid => Some(report),
            ValidationDecision::Unsupported(_) | ValidationDecision::LimitReached(_) => None,
        }
    }

    /// A plan: a cheapest one if the search ends in time, else the best one found until the limit.
    pub(super) fn plan(&self, context: &Context) -> &Found {
        self.plan.get_or_init(|| self.search(context))
    }

    fn search(&self, context: &Context) -> Found {
        let search = |algorithm| {
            let options = PlanOptions { algorithm, max_nodes: MOST_NODES, ..PlanOptions::default() };
            planforge_planning::plan(&self.domain, &self.problem, &options, &mut limits(context))
        };
        let mut found = Found::Open;
        for algorithm in [Algorithm::AStar, Algorithm::Anytime] {
            let Ok(result) = search(algorithm) else { return Found::Open };
            match result.outcome {
                SearchOutcome::Plan(plan) => {
                    return Found::Plan { steps: plan.lines(), cost: plan.cost, optimal: plan.optimal };
                }
                SearchOutcome::ProvenUnsolvable(explanation) => {
                    found = Found::Unsolvable(explanation.text());
                    break;
                }
                SearchOutcome::Exhausted | SearchOutcome::LimitReached(_) | SearchOutcome::Unsupported(_) => {
                }
            }
        }
        found
    }

    /// The cost of steps as a plan; `None` if they are not a plan, or if that is not known.
    pub(super) fn cost_of(&self, steps: &[String], context: &Context) -> Option<f64> {
        let report = self.execute(steps, context)?;
        report.is_valid().then(|| report.cost.unwrap_or(steps.len() as f64))
    }
}

/// The result of a search for a plan.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Found {
    Plan {
        /// Lines of a plan file, with times in a task with time.
        steps: Vec<String>,
        cost: Option<f64>,
        optimal: bool,
    },
    /// The reason, as text.
    Unsolvable(String),
    Open,
}

impl Found {
    /// The steps and their cost.
    pub(super) fn steps(&self) -> Option<(&[String], f64)> {
        match self {
            Self::Plan { steps, cost, .. } => Some((steps, cost.unwrap_or(steps.len() as f64))),
            Self::Unsolvable(_) | Self::Open => None,
        }
    }
}

fn limits(context: &Context) -> WorkLimits {
    RequestLimits::seconds(Some(SECONDS)).start(context)
}

/// A statement about behaviour that an answer decides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BehaviourTest {
    /// Steps from the start, as PDDL: `(take robot ball)`.
    pub steps: Vec<String>,
    /// What is stated about them.
    pub states: Statement,
}

impl BehaviourTest {
    /// The test in the names of the second model; `None` if it has no such step.
    pub(super) fn to_second(&self, translation: &Translation) -> Option<Self> {
        Some(Self { steps: translation.to_second(&self.steps)?, states: self.states })
    }

    /// As [`BehaviourTest::holds`]; `None`, too, if the model lacks an action or object of the steps.
    pub(super) fn holds_if_named(&self, model: &Model, context: &Context) -> Option<bool> {
        model.has_steps(&self.steps).then(|| self.holds(model, context)).flatten()
    }

    /// Whether the statement is true of a model; `None` if that is not known.
    pub(super) fn holds(&self, model: &Model, context: &Context) -> Option<bool> {
        let report = model.execute(&self.steps, context)?;
        let is_executed = report.failing_step.is_none() && report.trace.len() == self.steps.len();
        Some(match self.states {
            Statement::Possible => is_executed,
            Statement::Done => is_executed && report.is_valid(),
        })
    }
}

/// The comparison of two models.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Comparison {
    /// Proved: both allow the same sequences, and are done after the same ones.
    Same,
    /// The same for all sequences of at most so many steps.
    SameUpTo(u32),
    /// The shortest sequence that only one of them allows, and the shortest one that only the other allows, if it is known.
    Different(Difference, Option<Difference>),
    /// Not compared; the reason, as a clause.
    Open(String),
}

/// The shortest difference of two models.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Difference {
    pub(super) test: BehaviourTest,
    /// True if the test holds in the first model.
    pub(super) holds_in_first: bool,
    /// The conditions that do not hold where the test does not.
    pub(super) conditions: Vec<String>,
    /// The steps in the names of the model in which the test holds.
    pub(super) own_steps: Vec<String>,
}

/// The names of one model in another one.
#[derive(Debug, Clone, Default)]
pub(super) struct Translation {
    /// `None`: both use the same names.
    renaming: Option<Box<JointRenaming>>,
}

impl Translation {
    /// True if both use the same names.
    pub(super) const fn is_identity(&self) -> bool {
        self.renaming.is_none()
    }

    /// Steps of the first model in the names of the second; `None` if it has no such step.
    pub(super) fn to_second(&self, steps: &[String]) -> Option<Vec<String>> {
        self.translate(steps, JointRenaming::second_step)
    }

    /// Steps of the second model in the names of the first; `None` if it has no such step.
    pub(super) fn to_first(&self, steps: &[String]) -> Option<Vec<String>> {
        self.translate(steps, JointRenaming::first_step)
    }

    fn translate(
        &self,
        steps: &[String],
        step: impl Fn(&JointRenaming, &NamedStep) -> Option<NamedStep>,
    ) -> Option<Vec<String>> {
        let Some(renaming) = &self.renaming else { return Some(steps.to_vec()) };
        steps.iter().map(|text| Some(step(renaming, &NamedStep::parse(text)?)?.to_string())).collect()
    }
}

/// Compares two models under the best renaming of everything.
pub(super) fn compare(first: &Model, second: &Model, context: &Context) -> (Comparison, Translation) {
    // This holds for actions with durations too, whose behaviour is not compared.
    if first.is_copy_of(second) {
        return (Comparison::Same, Translation::default());
    }
    if first.has_names_of(second) {
        return (compare_named(first, second, context), Translation::default());
    }
    let compared = compare_readings(first.reading(), second.reading(), &bounds(), &mut limits(context));
    match compared {
        Ok(compared) => {
            let comparison = of_verdict(compared.verdict);
            (comparison, Translation { renaming: Some(Box::new(compared.renaming)) })
        }
        Err(not_compared) => (Comparison::Open(not_compared.error.to_string()), Translation::default()),
    }
}

/// Compares a model with one that was made of it: names mean the same.
pub(super) fn compare_changed(
    model: &Model,
    changed: &Model,
    context: &Context,
) -> (Comparison, Translation) {
    if model.has_names_of(changed) {
        return (compare_named(model, changed, context), Translation::default());
    }
    match compare_equal_names(model.reading(), changed.reading(), &bounds(), &mut limits(context)) {
        Ok((renaming, verdict)) => (of_verdict(verdict), Translation { renaming: Some(Box::new(renaming)) }),
        Err(not_compared) => (Comparison::Open(not_compared.error.to_string()), Translation::default()),
    }
}

/// The shortest sequence that only the first of two models allows, and that only the second allows, where the same names mean the same.
pub(super) fn shortest_differences(first: &Model, second: &Model, context: &Context) -> Vec<Difference> {
    let compared = compare_equal_names(first.reading(), second.reading(), &bounds(), &mut limits(context));
    let Ok((_, ReadingVerdict::Different { first_only, second_only })) = compared else { return Vec::new() };
    differences(first_only, second_only)
}

/// The sequences that only one side allows, the shortest first.
fn differences(first_only: OneSided, second_only: OneSided) -> Vec<Difference> {
    let sides = [(first_only, true), (second_only, false)];
    let found = sides.into_iter().filter_map(|(side, in_first)| Some(of_witness(side.shortest()?, in_first)));
    let mut found: Vec<Difference> = found.collect();
    found.sort_by_key(|difference| difference.own_steps.len());
    found
}

fn bounds() -> JointLimits {
    JointLimits { max_pairs: MOST_PAIRS, ..JointLimits::default() }
}

fn of_verdict(verdict: ReadingVerdict) -> Comparison {
    match verdict {
        ReadingVerdict::Same => Comparison::Same,
        ReadingVerdict::SameUpTo { steps, .. } => Comparison::SameUpTo(steps),
        ReadingVerdict::Different { first_only, second_only } => {
            let mut found = differences(first_only, second_only).into_iter();
            match found.next() {
                Some(shortest) => Comparison::Different(shortest, found.next()),
                None => Comparison::Open("they differ, and no steps were found that show it".to_owned()),
            }
        }
    }
}

/// The difference that a sequence shows, in the names of the first model as far as it has them.
fn of_witness(witness: Witness, holds_in_first: bool) -> Difference {
    let steps = match (holds_in_first, witness.other_steps.len() == witness.steps.len()) {
        (true, _) | (false, false) => &witness.steps,
        (false, true) => &witness.other_steps,
    };
    let states = match witness.kind {
        WitnessKind::Refused => Statement::Possible,
        WitnessKind::Goal => Statement::Done,
    };
    let own_steps = witness.steps.iter().map(NamedStep::to_string).collect();
    let test = BehaviourTest { steps: steps.iter().map(NamedStep::to_string).collect(), states };
    Difference { test, holds_in_first, conditions: witness.conditions, own_steps }
}

/// Compares two models that use the same names.
fn compare_named(first: &Model, second: &Model, context: &Context) -> Comparison {
    let bounds = EquivalenceLimits { max_pairs: MOST_PAIRS, ..EquivalenceLimits::default() };
    let compared = compare_domains(
        [&first.domain, &second.domain],
        [&first.problem, &second.problem],
        &bounds,
        &mut limits(context),
    );
    match compared.map(|compared| compared.behaviour) {
        Ok(Behaviour::Equal { .. }) => Comparison::Same,
        Ok(Behaviour::EqualUpTo { steps, .. }) => Comparison::SameUpTo(steps),
        Ok(Behaviour::Different(difference)) => {
            let steps: Vec<String> = difference.steps.iter().map(NamedStep::to_string).collect();
            let (states, holds_in_first, conditions) = match difference.kind {
                DifferenceKind::Refused { by, conditions, .. } => {
                    (Statement::Possible, by == ComparedSide::Second, conditions)
                }
                DifferenceKind::Goal { holds_in, conditions } => {
                    (Statement::Done, holds_in == ComparedSide::First, conditions)
                }
            };
            let own_steps = steps.clone();
            let test = BehaviourTest { steps, states };
            Comparison::Different(Difference { test, holds_in_first, conditions, own_steps }, None)
        }
        Err(not_compared) => Comparison::Open(not_compared.error.to_string()),
    }
}

/// Steps in words: `pick up robot ball`.
pub(super) fn in_words(steps: &[String]) -> Vec<String> {
    let one = |step: &String| {
        let inner = step.trim_start_matches('(').trim_end_matches(')');
        let (name, arguments) = inner.split_once(' ').unwrap_or((inner, ""));
        let name = name.replace(['-', '_'], " ");
        match arguments.is_empty() {
            true => name,
            false => format!("{name} ({})", arguments.split(' ').collect::<Vec<_>>().join(", ")),
        }
    };
    steps.iter().map(one).collect()
}
