//! The task's environment with checked answers: of the right kind and number, or a failure.

use crate::codes;
use planforge_contract::api::{EnvironmentAnswer, EnvironmentCall, Host};
use planforge_contract::{
    ActionInterface, EnvironmentInfo, EnvironmentPlan, Execution, Failure, FailureClass, Sequences,
    StateDescription, StateQuery, WalkSpec,
};
use planforge_planning::walk::{NamedStep, Refusal};

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
