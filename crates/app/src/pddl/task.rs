//! A domain and a problem that are read once, for many plans and walks.

use super::validate::{self, ValidateResult};
use crate::context::Context;
use crate::error::Error;
use crate::inputs::{Findings, Inputs, Source};
use crate::limits::{RequestLimits, WorkLimits};
use crate::status::{Status, of_stop};
use planforge_diagnostics::Diagnostic;
use planforge_planning::task::Atom;
use planforge_planning::walk::{
    ActionId, DeadEnds, Model, ModelError, ModelOptions, NamedStep, SampleSpec, WalkPolicy, sample_walks,
};
use planforge_planning::{
    Poll, ResourceLimits, StopReason, ValidationOptions, Validator, normalize, parse_plan,
};
use planforge_plugin_common::judging::TaskTexts;
use std::collections::{HashMap, HashSet};
use std::num::NonZeroU32;
use std::sync::OnceLock;

/// A domain and a problem without errors.
pub struct Task {
    /// The domain is source 0, the problem source 1.
    findings: Findings,
    validator: Validator,
    /// Built by the first sample.
    model: OnceLock<Model>,
}

/// States at the ends of random walks, as tables. A row is a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampledStates {
    /// The facts of the columns of `values`, sorted by name: those that can change, by delete relaxation. Of a task that is too large to be
    /// grounded, those that hold in one of the states.
    pub facts: Vec<String>,
    /// By state and fact, row by row: 1 if the fact holds, else 0.
    pub values: Vec<u8>,
    /// The ground actions of the walks, in the order of their first use.
    pub actions: Vec<String>,
    /// By state and step, row by row: the index of the action in `actions`, or -1 after the last step. A row has the length of the longest walk.
    pub walks: Vec<i32>,
    /// By state: 1 if the goal holds, else 0. Its length is the number of states.
    pub goals: Vec<u8>,
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
                let validator = Validator::new(task);
                return Ok(Self { findings, validator, model: OnceLock::new() });
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

    /// Draws random walks from the initial state and returns the state at the end of each. No states if no action is applicable in the initial
    /// state.
    ///
    /// # Errors
    /// Constructs that are not executed; a limit.
    pub fn sample_states(
        &self,
        context: &Context,
        request: &SampleRequest,
        limits: &RequestLimits,
    ) -> Result<SampledStates, Error> {
        let mut limits = limits.start(context);
        let model = match self.model.get() {
            Some(model) => model,
            None => {
                let task = self.validator.task().clone();
                let built = Model::from_lifted(task, &ModelOptions::default(), &mut limits)
                    .map_err(|error| self.no_model(error))?;
                self.model.get_or_init(|| built)
            }
        };
        sample(model, request, &mut limits).map_err(stopped)
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
) -> Result<SampledStates, StopReason> {
    let longest = request.longest.get();
    let spec = SampleSpec {
        t_max: longest,
        walks_per_length: request.states.div_ceil(longest),
        seed: request.seed,
        dead_ends: DeadEnds::Truncate,
        policy: WalkPolicy::Uniform,
    };
    let drawn = sample_walks(model, &spec, limits)?.unwrap_or_default();
    let drawn: Vec<Vec<NamedStep>> = drawn.into_iter().flatten().take(request.states as usize).collect();
    let width = drawn.iter().map(Vec::len).max().unwrap_or(0);
    charge(limits, drawn.len() * width * size_of::<i32>())?;
    let (mut actions, mut walks, mut goals) = (Vec::new(), Vec::new(), Vec::new());
    let mut numbers: HashMap<ActionId, i32> = HashMap::new();
    let mut holding: Vec<Vec<Atom>> = Vec::new();
    for walk in &drawn {
        let mut state = model.initial();
        let end = walks.len() + width;
        for step in walk {
            // The walk was drawn in this model.
            let Ok(Some(action)) = model.resolve(step) else { continue };
            model.apply(&mut state, action, limits)?;
            walks.push(*numbers.entry(action).or_insert_with(|| {
                actions.push(step.to_string());
                actions.len() as i32 - 1
            }));
        }
        walks.resize(end, -1);
        goals.push(u8::from(model.is_goal(&state, limits)?));
        holding.push(model.atoms(&state));
    }
    let changing: Vec<&Atom> = match model.facts() {
        Some(facts) => facts.iter().collect(),
        None => holding.iter().flatten().collect::<HashSet<_>>().into_iter().collect(),
    };
    let named = changing.into_iter().map(|fact| (model.lifted().symbols.atom(fact), fact));
    let mut columns: Vec<(String, &Atom)> = named.collect();
    columns.sort_unstable_by(|one, other| one.0.cmp(&other.0));
    let column_of: HashMap<&Atom, usize> = columns.iter().enumerate().map(|(n, one)| (one.1, n)).collect();
    charge(limits, columns.len() * holding.len())?;
    let mut values = vec![0; columns.len() * holding.len()];
    for (row, atoms) in holding.iter().enumerate() {
        for column in atoms.iter().filter_map(|atom| column_of.get(atom)) {
            values[row * columns.len() + column] = 1;
        }
    }
    let facts = columns.into_iter().map(|(name, _)| name).collect();
    Ok(SampledStates { facts, values, actions, walks, goals })
}

/// Counts memory that is about to be used.
fn charge(limits: &mut WorkLimits, bytes: usize) -> Result<(), StopReason> {
    match limits.charge(bytes as u64) {
        Poll::Continue => Ok(()),
        Poll::Stop(reason) => Err(reason),
    }
}
