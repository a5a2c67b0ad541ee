//! The reference side: the environment, by its model if it shows one.

use crate::trials::{Ended, Means, Trials};
use crate::{Settings, codes, goals};
use planforge_contract::api::{EnvironmentAnswer, EnvironmentCall, Host};
use planforge_contract::{
    ActionInterface, EnvironmentInfo, EnvironmentPlan, Execution, Failure, FailureClass, Sequences,
    StateDescription, StateQuery, WalkSpec,
};
use planforge_diagnostics::SourceId;
use planforge_pddl::{ast, parse_domain, parse_problem};
use planforge_planning::walk::{GoalPlan, Model, ModelError, NamedStep, Refusal};
use planforge_planning::{ResourceLimits, StopReason};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Most cached reference models. A run asks about one task at a time, or about those of one fan-out.
const KEPT: usize = 16;

/// The environment of the request, described once for all candidates.
pub(crate) struct Reference<'a> {
    pub(crate) asked: EnvironmentClient<'a>,
    pub(crate) interface: ActionInterface,
    /// Its model, if it shows one.
    pub(crate) shown: Option<Arc<ReferenceModel>>,
}

/// The model that an environment shows.
#[derive(Debug)]
pub(crate) struct ReferenceModel {
    pub(crate) model: Model,
    /// The domain that the model was built from.
    pub(crate) domain: ast::Domain,
    pub(crate) problem: ast::Problem,
    /// Actions without effects: there a candidate's need none either.
    without_effect: Vec<String>,
    /// The plan that goal walks begin with, once it was searched.
    goal_plan: Mutex<Option<GoalPlan>>,
}

/// Models by their whole texts, so that the next candidates of a task need not ground it again. No answer depends on it.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    kept: Mutex<VecDeque<(String, String, Arc<ReferenceModel>)>>,
}

impl Cache {
    fn open(
        &self,
        domain: &str,
        problem: &str,
        settings: &Settings,
        budget: &mut dyn ResourceLimits,
    ) -> Result<Arc<ReferenceModel>, Ended> {
        let found =
            self.lock().iter().find(|(d, p, _)| p == problem && d == domain).map(|k| Arc::clone(&k.2));
        if let Some(shown) = found {
            return Ok(shown);
        }
        // Opened outside the lock: two calls may do the same work once, but none waits for another task's.
        let shown = Arc::new(ReferenceModel::open(domain, problem, settings, budget)?);
        let mut kept = self.lock();
        if kept.len() >= KEPT {
            kept.pop_front();
        }
        kept.push_back((domain.to_owned(), problem.to_owned(), Arc::clone(&shown)));
        Ok(shown)
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(String, String, Arc<ReferenceModel>)>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ReferenceModel {
    fn open(
        domain: &str,
        problem: &str,
        settings: &Settings,
        budget: &mut dyn ResourceLimits,
    ) -> Result<Self, Ended> {
        let domain = parse_domain(domain, SourceId(0));
        let problem = parse_problem(problem, SourceId(1));
        let found: Vec<_> = [domain.diagnostics, problem.diagnostics].concat();
        if let Some(error) = found.iter().find(|d| d.is_error()) {
            return Err(Ended::Failed(unusable(&error.message)));
        }
        match Model::new(&domain.value, &problem.value, &settings.model_options(), budget) {
            Ok(model) => {
                let without_effect = without_effect(&domain.value).map(|a| a.name.to_string()).collect();
                Ok(Self {
                    model,
                    without_effect,
                    domain: domain.value,
                    problem: problem.value,
                    goal_plan: Mutex::default(),
                })
            }
            Err(ModelError::Limit(reason)) => Err(Ended::Stopped(reason)),
            Err(error) => Err(Ended::Failed(unusable(&error.to_string()))),
        }
    }

    /// The plan to the reference's goal, searched once.
    pub(crate) fn goal_plan(
        &self,
        settings: &Settings,
        budget: &mut dyn ResourceLimits,
    ) -> Result<GoalPlan, StopReason> {
        let mut known = self.goal_plan.lock().unwrap_or_else(PoisonError::into_inner);
        match &*known {
            Some(plan) => Ok(plan.clone()),
            None => {
                let plan = goals::plan(&self.model, settings, budget)?;
                *known = Some(plan.clone());
                Ok(plan)
            }
        }
    }
}

impl<'a> Reference<'a> {
    pub(crate) fn open(
        asked: EnvironmentClient<'a>,
        cache: &Cache,
        settings: &Settings,
        budget: &mut dyn ResourceLimits,
    ) -> Result<Self, Ended> {
        let EnvironmentInfo { interface, model, .. } = asked.describe()?;
        let texts = model.and_then(|open| open.domain.zip(open.problem));
        let shown = match texts {
            Some((domain, problem)) => Some(cache.open(&domain, &problem, settings, budget)?),
            None => None,
        };
        Ok(Self { asked, interface, shown })
    }

    /// The model, if the environment shows one.
    pub(crate) fn model(&self) -> Option<&Model> {
        self.shown.as_ref().map(|shown| &shown.model)
    }

    /// True if its action of that name is known to have no effect.
    pub(crate) fn has_no_effect(&self, action: &str) -> bool {
        self.shown.iter().flat_map(|s| &s.without_effect).any(|a| a.eq_ignore_ascii_case(action))
    }

    /// Drawing and trying walks one by one.
    pub(crate) fn trials<'s>(&'s self, settings: &'s Settings) -> Trials<'s> {
        let means = match self.model() {
            Some(model) => Means::Model(model),
            None => Means::EnvironmentClient(self.asked, &self.interface),
        };
        Trials { means, settings }
    }
}

fn unusable(why: &str) -> Failure {
    let message = format!("the environment's model cannot be used: {why}");
    Failure::new(FailureClass::Request, codes::REFERENCE, message)
        .help("the reference belongs to the suite: check it with `planforge pddl validate`")
}

/// The actions without any effect in the text.
pub(crate) fn without_effect(domain: &ast::Domain) -> impl Iterator<Item = &ast::Action> {
    fn empty(effect: &ast::Effect) -> bool {
        match effect {
            ast::Effect::And(parts, _) => parts.iter().all(empty),
            ast::Effect::Forall(quantified) => empty(&quantified.body),
            ast::Effect::When(_, effect, _) | ast::Effect::Timed(_, effect, _) => empty(effect),
            ast::Effect::Add(_) | ast::Effect::Delete(..) | ast::Effect::Assign(_) => false,
        }
    }
    domain.actions.iter().filter(|a| a.effect.as_ref().is_none_or(empty))
}

/// Sends requests to the environment through the host.
#[derive(Clone, Copy)]
pub(crate) struct EnvironmentClient<'a> {
    host: &'a dyn Host,
}

impl<'a> EnvironmentClient<'a> {
    pub(crate) fn new(host: &'a dyn Host) -> Self {
        Self { host }
    }

    pub(crate) fn describe(&self) -> Result<EnvironmentInfo, Failure> {
        match self.host.environment(EnvironmentCall::Describe)? {
            EnvironmentAnswer::Describe(info) => Ok(info),
            _ => Err(strange("was asked what can be done and answered something else")),
        }
    }

    /// Requests walks; none is longer than requested.
    pub(crate) fn walks(&self, spec: WalkSpec) -> Result<Vec<Vec<NamedStep>>, Failure> {
        let lengths = spec.lengths.clone();
        let EnvironmentAnswer::Walks(answer) = self.host.environment(EnvironmentCall::Walks(spec))? else {
            return Err(strange("was asked for walks and answered something else"));
        };
        if answer.walks.len() != lengths.len() {
            let message = format!("was asked for {} walks and gave {}", lengths.len(), answer.walks.len());
            return Err(strange(&message));
        }
        let mut walks = Vec::with_capacity(lengths.len());
        for (walk, length) in answer.walks.iter().zip(lengths) {
            if walk.len() > length as usize {
                let message =
                    format!("was asked for a walk of {length} steps and gave one of {}", walk.len());
                return Err(strange(&message));
            }
            let steps: Option<Vec<NamedStep>> = walk.iter().map(|text| NamedStep::parse(text)).collect();
            walks.push(steps.ok_or_else(|| strange("gave a walk with a step that has no name"))?);
        }
        Ok(walks)
    }

    /// Executes each sequence up to its first refused step.
    pub(crate) fn execute(&self, sequences: &[Vec<NamedStep>]) -> Result<Vec<usize>, Failure> {
        if sequences.is_empty() {
            return Ok(Vec::new());
        }
        let texts = sequences.iter().map(|s| s.iter().map(NamedStep::to_string).collect()).collect();
        let call = EnvironmentCall::Execute(Sequences { sequences: texts });
        let EnvironmentAnswer::Execute(report) = self.host.environment(call)? else {
            return Err(strange("was asked to try sequences and answered something else"));
        };
        if report.executions.len() != sequences.len() {
            let message = format!(
                "was asked to try {} sequences and answered about {}",
                sequences.len(),
                report.executions.len()
            );
            return Err(strange(&message));
        }
        let one = |(execution, sequence): (&Execution, &Vec<NamedStep>)| match execution.executed as usize {
            executed if executed <= sequence.len() => Ok(executed),
            executed => Err(strange(&format!("executed {executed} of {} steps", sequence.len()))),
        };
        report.executions.iter().zip(sequences).map(one).collect()
    }

    /// The state before an action.
    pub(crate) fn state(
        &self,
        prefix: &[NamedStep],
        next: Option<&NamedStep>,
    ) -> Result<StateDescription, Failure> {
        let query = StateQuery {
            actions: prefix.iter().map(NamedStep::to_string).collect(),
            focus: next.map(NamedStep::to_string),
        };
        match self.host.environment(EnvironmentCall::DescribeState(query))? {
            EnvironmentAnswer::DescribeState(state) => Ok(state),
            _ => Err(strange("was asked to describe a state and answered something else")),
        }
    }

    /// True if a plan is executable and reaches the goal.
    pub(crate) fn accepts(&self, steps: &[String]) -> Result<bool, Failure> {
        match self.host.environment(EnvironmentCall::Validate(EnvironmentPlan { steps: steps.to_vec() }))? {
            EnvironmentAnswer::Validate(verdict) => Ok(verdict.valid),
            _ => Err(strange("was asked to judge a plan and answered something else")),
        }
    }
}

fn strange(what: &str) -> Failure {
    Failure::new(FailureClass::Plugin, codes::ANSWER, format!("the environment {what}"))
}

/// The reason why an environment refuses a step, as far as its interface shows it.
pub(crate) fn refusal(interface: &ActionInterface, step: &NamedStep) -> Refusal {
    let same = |a: &str, b: &str| a.eq_ignore_ascii_case(b);
    let Some(action) = interface.actions.iter().find(|a| same(&a.name, &step.name)) else {
        return Refusal::UnknownAction { name: step.name.clone() };
    };
    if action.parameters.len() != step.args.len() {
        let (expected, given) = (action.parameters.len(), step.args.len());
        return Refusal::Arity { name: step.name.clone(), expected, given };
    }
    let unknown = step.args.iter().find(|arg| !interface.objects.iter().any(|o| same(&o.name, arg)));
    match unknown {
        Some(name) if !interface.objects.is_empty() => Refusal::UnknownObject { name: name.clone() },
        _ => Refusal::NotApplicable,
    }
}
