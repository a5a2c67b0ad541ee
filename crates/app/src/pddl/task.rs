//! A domain and a problem that are read once, for many plans and walks.

use super::validate::{self, ValidateResult};
use crate::context::Context;
use crate::error::Error;
use crate::inputs::{Findings, Inputs, Source};
use crate::limits::{RequestLimits, WorkLimits};
use crate::status::{Status, of_stop};
use planforge_diagnostics::Diagnostic;
use planforge_planning::walk::{
    DeadEnds, Model, ModelError, ModelOptions, SampleSpec, WalkPolicy, sample_walks,
};
use planforge_planning::{StopReason, ValidationOptions, Validator, normalize, parse_plan};
use planforge_plugin_common::judging::TaskTexts;
use serde::Serialize;
use std::num::NonZeroU32;

/// A domain and a problem without errors.
pub struct Task {
    /// The domain is source 0, the problem source 1.
    findings: Findings,
    validator: Validator,
}

/// A state at the end of a random walk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SampledState {
    /// The atoms that hold, without those that no action changes, sorted by name.
    pub atoms: Vec<String>,
    /// The steps from the initial state.
    pub steps: Vec<String>,
    /// True if the goal holds.
    pub is_goal: bool,
}

/// Random walks from the initial state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SampleRequest {
    /// Number of states.
    pub states: u32,
    /// Longest walk in steps. Walk `k` takes `k mod longest + 1` steps, fewer in a dead end.
    pub longest: NonZeroU32,
    /// Seed of the choices.
    pub seed: u64,
}

impl Task {
    /// Reads a domain and a problem.
    ///
    /// # Errors
    /// The findings, if a text cannot be used.
    pub fn read(context: &Context, domain: &Source, problem: &Source) -> Result<Self, Error> {
        let inputs = Inputs::read(context, domain, Some(problem));
        let status = inputs.status();
        let read = inputs.texts.domain.as_ref().zip(inputs.texts.problem.as_ref());
        let task =
            read.filter(|_| status == Status::Good).map(|(domain, problem)| normalize(domain, problem));
        let (status, wrong) = match task {
            Some(Ok(task)) => {
                let findings = inputs.into_findings();
                return Ok(Self { findings, validator: Validator::new(task) });
            }
            Some(Err(diagnostics)) => (Status::Negative, diagnostics),
            None => (status, Vec::new()),
        };
        let Findings { mut diagnostics, sources } = inputs.into_findings();
        diagnostics.extend(wrong);
        Err(Error::findings(status, diagnostics, sources))
    }

    /// Warnings and remarks about the texts.
    pub fn findings(&self) -> &Findings {
        &self.findings
    }

    /// Executes a plan step by step. The result is that of [`validate::validate`].
    pub fn validate(&self, context: &Context, plan: &Source, limits: &RequestLimits) -> ValidateResult {
        let mut limits = limits.start(context);
        let Findings { diagnostics, sources } = self.findings.clone();
        let mut inputs =
            Inputs { texts: TaskTexts { sources, diagnostics, ..TaskTexts::default() }, unreadable: false };
        let (source, text) = inputs.load_plan(context, plan);
        let validation = text.filter(|_| !inputs.unreadable).and_then(|text| {
            let plan = parse_plan(&text, source);
            if plan.diagnostics.iter().any(Diagnostic::is_error) {
                inputs.texts.diagnostics.extend(plan.diagnostics);
                return None;
            }
            let options = ValidationOptions { time: true, ..ValidationOptions::default() };
            let report = self.validator.validate_with(&plan, &options, &mut limits);
            inputs.texts.diagnostics.extend(report.diagnostics.iter().cloned());
            Some(report)
        });
        validate::result_of_plan(inputs, validation)
    }

    /// Draws random walks from the initial state and returns the state at the end of each. Empty if no action is applicable in the initial
    /// state.
    ///
    /// # Errors
    /// Constructs that are not executed; a limit.
    pub fn sample_states(
        &self,
        context: &Context,
        request: &SampleRequest,
        limits: &RequestLimits,
    ) -> Result<Vec<SampledState>, Error> {
        let mut limits = limits.start(context);
        let task = self.validator.task().clone();
        let model = Model::from_lifted(task, &ModelOptions::default(), &mut limits)
            .map_err(|error| self.no_model(error))?;
        sample(&model, request, &mut limits).map_err(stopped)
    }

    fn no_model(&self, error: ModelError) -> Error {
        match error {
            ModelError::Limit(reason) => stopped(reason),
            ModelError::Invalid(diagnostics) => {
                Error::findings(Status::Negative, diagnostics, self.findings.sources.clone())
            }
            error @ ModelError::Unsupported(_) => {
                let diagnostic = Diagnostic::error("planning.unsupported", error.to_string());
                Error::findings(Status::Undecided, vec![diagnostic], self.findings.sources.clone())
            }
        }
    }
}

fn stopped(reason: StopReason) -> Error {
    let diagnostic = Diagnostic::error("plan.limit", format!("{reason} was reached"));
    Error::findings(of_stop(reason), vec![diagnostic], Default::default())
}

fn sample(
    model: &Model,
    request: &SampleRequest,
    limits: &mut WorkLimits,
) -> Result<Vec<SampledState>, StopReason> {
    let spec = SampleSpec {
        t_max: request.longest.get(),
        walks_per_length: request.states.div_ceil(request.longest.get()),
        seed: request.seed,
        dead_ends: DeadEnds::Truncate,
        policy: WalkPolicy::Uniform,
    };
    let walks = sample_walks(model, &spec, limits)?.unwrap_or_default();
    let mut states = Vec::new();
    for walk in walks.into_iter().flatten().take(request.states as usize) {
        let mut state = model.initial();
        for step in &walk {
            // The walk was drawn in this model.
            if let Ok(Some(action)) = model.resolve(step) {
                model.apply(&mut state, action, limits)?;
            }
        }
        let symbols = &model.lifted().symbols;
        let mut atoms: Vec<String> = model.atoms(&state).iter().map(|atom| symbols.atom(atom)).collect();
        atoms.sort_unstable();
        states.push(SampledState {
            is_goal: model.is_goal(&state, limits)?,
            atoms,
            steps: walk.iter().map(ToString::to_string).collect(),
        });
    }
    Ok(states)
}
