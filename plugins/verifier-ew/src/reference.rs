//! The reference side: the environment, by its model if it shows one.

use crate::codes;
use crate::environment::EnvironmentClient;
use crate::goals;
use crate::options::Settings;
use crate::trials::{Ended, Means, Trials};
use planforge_contract::{ActionInterface, EnvironmentInfo, Failure, FailureClass};
use planforge_diagnostics::SourceId;
use planforge_pddl::ast;
use planforge_pddl::{parse_domain, parse_problem};
use planforge_planning::walk::{GoalPlan, Model, ModelError};
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
