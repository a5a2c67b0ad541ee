//! The side that is right: the environment, by its model where it shows one.

use crate::codes;
use crate::environment::Asked;
use crate::options::Settings;
use crate::trials::{Ended, Means, Trials};
use planforge_contract::{ActionInterface, EnvironmentInfo, Failure, FailureClass};
use planforge_diagnostics::SourceId;
use planforge_pddl::ast;
use planforge_pddl::{parse_domain, parse_problem};
use planforge_planning::Budget;
use planforge_planning::walk::{Model, ModelError};

/// The environment of the request, asked once for all candidates.
pub(crate) struct Reference<'a> {
    pub(crate) asked: Asked<'a>,
    pub(crate) interface: ActionInterface,
    /// Its model, where it shows one.
    pub(crate) model: Option<Model>,
    /// Actions of the model without effects: there a candidate's need none either.
    pub(crate) without_effect: Vec<String>,
}

impl<'a> Reference<'a> {
    pub(crate) fn open(
        asked: Asked<'a>,
        settings: &Settings,
        budget: &mut dyn Budget,
    ) -> Result<Self, Ended> {
        let EnvironmentInfo { interface, model, .. } = asked.describe()?;
        let mut reference = Self { asked, interface, model: None, without_effect: Vec::new() };
        let Some(open) = model else { return Ok(reference) };
        let (Some(domain), Some(problem)) = (&open.domain, &open.problem) else { return Ok(reference) };
        let domain = parse_domain(domain, SourceId(0));
        let problem = parse_problem(problem, SourceId(1));
        let found: Vec<_> = [domain.diagnostics, problem.diagnostics].concat();
        if let Some(error) = found.iter().find(|d| d.is_error()) {
            return Err(Ended::Failed(unusable(&error.message)));
        }
        reference.without_effect = without_effect(&domain.value).map(|a| a.name.to_string()).collect();
        match Model::new(&domain.value, &problem.value, &settings.model_options(), budget) {
            Ok(model) => reference.model = Some(model),
            Err(ModelError::Limit(reason)) => return Err(Ended::Stopped(reason)),
            Err(error) => return Err(Ended::Failed(unusable(&error.to_string()))),
        }
        Ok(reference)
    }

    /// Drawing and trying walks one by one.
    pub(crate) fn trials<'s>(&'s self, settings: &'s Settings) -> Trials<'s> {
        let means = match &self.model {
            Some(model) => Means::Model(model),
            None => Means::Asked(self.asked, &self.interface),
        };
        Trials { means, settings }
    }
}

fn unusable(why: &str) -> Failure {
    let message = format!("the environment's model cannot be used: {why}");
    Failure::new(FailureClass::Request, codes::REFERENCE, message)
        .help("the reference belongs to the suite: check it with `planforge validate`")
}

/// The actions that change nothing as they are written.
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
