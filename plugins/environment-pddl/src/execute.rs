//! Walking, executing and judging, over a world.

use crate::codes;
use crate::world::{World, limit_failure};
use planforge_contract::{
    EnvironmentVerdict, Execution, ExecutionReport, Failure, FailureClass, ReportedDiagnostic, WalkSpec,
    Walks,
};
use planforge_diagnostics::{Diagnostic, SourceId};
use planforge_pddl::random::Random;
use planforge_planning::{
    PlanFile, Poll, ResourceLimits, ValidationDecision, ValidationOptions, ValidationReport, parse_plan,
};
use planforge_plugin_common::judging::Deadline;
use planforge_plugin_sdk::walking::{Choice, choose};

/// The source of the plan, next to domain and problem.
const PLAN: SourceId = SourceId(2);

/// Draws walks of the requested lengths. A walk that reaches a dead end is shorter.
pub(crate) fn walks(budget: &mut Deadline<'_>, world: &World, spec: &WalkSpec) -> Result<Walks, Failure> {
    world.refuse_partial_execution()?;
    let simulator = world.simulator(budget)?;
    let task = simulator.task();
    let mut walks = Vec::with_capacity(spec.lengths.len());
    let (mut applicable, mut choices) = (Vec::new(), Vec::new());
    let mut executed = vec![0u32; task.actions.len()];
    let mut schemas = vec![0u32; task.symbols.actions.len()];
    for (index, &length) in spec.lengths.iter().enumerate() {
        let mut random = Random::stream(spec.seed, index as u64);
        let mut state = simulator.initial();
        let mut walk = Vec::new();
        for _ in 0..length {
            if let Poll::Stop(reason) = budget.poll() {
                return Err(limit_failure(reason));
            }
            simulator.applicable_into(&state, &mut applicable);
            // A seed's walks must not depend on the order in which actions are found.
            applicable.sort_unstable();
            choices.clear();
            choices.extend(applicable.iter().map(|&a| {
                let schema = task.actions[a as usize].action;
                Choice { schema, schema_times: schemas[schema as usize], times: executed[a as usize] }
            }));
            let Some(choice) = choose(&mut random, spec.policy, &choices) else { break };
            let action = applicable[choice];
            executed[action as usize] = executed[action as usize].saturating_add(1);
            let schema = &mut schemas[task.actions[action as usize].action as usize];
            *schema = schema.saturating_add(1);
            simulator.apply(&mut state, action);
            walk.push(task.symbols.step(&task.actions[action as usize]));
        }
        walks.push(walk);
    }
    Ok(Walks { walks })
}

/// Executes each sequence up to its first refused step.
pub(crate) fn execute(
    budget: &mut Deadline<'_>,
    world: &World,
    sequences: &[Vec<String>],
) -> Result<ExecutionReport, Failure> {
    world.refuse_partial_execution()?;
    let mut executions = Vec::with_capacity(sequences.len());
    for sequence in sequences {
        if let Poll::Stop(reason) = budget.poll() {
            return Err(limit_failure(reason));
        }
        let run = Run::of(budget, world, sequence)?;
        executions.push(Execution { executed: run.executed_steps(), refusal: run.refusal() });
    }
    Ok(ExecutionReport { executions })
}

/// Judges a plan: it must be executable and reach the goal, with times and trajectory constraints if the task has them.
pub(crate) fn judge(
    budget: &mut Deadline<'_>,
    world: &World,
    steps: &[String],
) -> Result<EnvironmentVerdict, Failure> {
    let run = Run::of(budget, world, steps)?;
    let mut reasons: Vec<String> = run.refusal().into_iter().collect();
    if reasons.is_empty() {
        let missing = run.report.missing_goals.iter();
        reasons.extend(missing.map(|goal| format!("the goal does not hold at the end: {}", goal.why)));
    }
    let mut violations = Vec::new();
    if reasons.is_empty() && run.report.decision == ValidationDecision::Invalid {
        // A plan that executes and reaches the goal can still violate a trajectory constraint.
        violations.extend(run.report.diagnostics.iter().filter(|d| d.is_error()).map(|d| d.message.clone()));
        reasons.clone_from(&violations);
    }
    let mut sources = world.sources.clone();
    sources.add("plan", run.text.as_str());
    let reported = run.report.diagnostics.iter().filter(|d| d.is_error());
    let diagnostics =
        reported.map(|d| ReportedDiagnostic::of(d, &sources)).filter(|d| d.file == "plan").collect();
    Ok(EnvironmentVerdict {
        valid: run.strange.is_none() && run.report.is_valid(),
        executed: run.executed_steps(),
        reasons,
        violations,
        diagnostics,
    })
}

/// A sequence that was tried.
pub(crate) struct Run {
    text: String,
    pub(crate) report: ValidationReport,
    /// The first entry that is not a step. The entries before it were executed.
    strange: Option<String>,
}

impl Run {
    pub(crate) fn of(budget: &mut Deadline<'_>, world: &World, steps: &[String]) -> Result<Self, Failure> {
        let (text, file, strange) = file_of(steps);
        let options = ValidationOptions { time: true, ..ValidationOptions::default() };
        let report = world.validator.validate_with(&file, &options, budget);
        match &report.decision {
            planforge_planning::ValidationDecision::Unsupported(constructs) => {
                let what: Vec<&str> = constructs.iter().map(|c| c.what.as_str()).collect();
                let message = format!("the simulator does not execute {}", what.join(", "));
                Err(Failure::new(FailureClass::Request, codes::UNSUPPORTED, message))
            }
            planforge_planning::ValidationDecision::LimitReached(reason) => Err(limit_failure(*reason)),
            _ => Ok(Self { text, report, strange }),
        }
    }

    fn executed_steps(&self) -> u32 {
        // By its times, a plan has an entry in the trace for each end of a durative action.
        let steps = match (&self.report.schedule, &self.report.failing_step) {
            (_, Some(failing)) => failing.index,
            (None, None) => self.report.trace.len(),
            (Some(_), None) => self.report.steps,
        };
        steps as u32
    }

    /// The reason why the step after the executed ones was refused.
    pub(crate) fn refusal(&self) -> Option<String> {
        let Some(failing) = &self.report.failing_step else { return self.strange.clone() };
        let number = failing.index + 1;
        if !failing.conditions.is_empty() {
            let whys: Vec<&str> = failing.conditions.iter().map(|c| c.why.as_str()).collect();
            return Some(format!("step {number} {} is not applicable: {}", failing.text, whys.join("; ")));
        }
        // The step itself is at fault: its name, its arity or its arguments. Those findings lie on its line.
        let line = u32::try_from(number).unwrap_or(u32::MAX);
        let mut sources = planforge_diagnostics::SourceMap::default();
        for name in ["domain", "problem"] {
            sources.add(name, "");
        }
        sources.add("plan", self.text.as_str());
        let faults: Vec<String> = self
            .report
            .diagnostics
            .iter()
            .filter(|d| d.is_error())
            .map(|d: &Diagnostic| ReportedDiagnostic::of(d, &sources))
            .filter(|d| d.file == "plan" && d.line == line)
            .map(|d| d.message)
            .collect();
        Some(format!("step {number} {} cannot be done: {}", failing.text, faults.join("; ")))
    }
}

/// The entries as a plan file, one a line, up to the first that is not exactly one step.
fn file_of(steps: &[String]) -> (String, PlanFile, Option<String>) {
    let is_step = |entry: &String| {
        let file = parse_plan(entry, PLAN);
        !entry.contains('\n') && file.steps.len() == 1 && !file.diagnostics.iter().any(Diagnostic::is_error)
    };
    let good = steps.iter().take_while(|entry| is_step(entry)).count();
    let strange =
        steps.get(good).map(|entry| format!("step {} `{}` is not an action", good + 1, entry.trim()));
    let text = steps[..good].join("\n");
    let file = parse_plan(&text, PLAN);
    (text, file, strange)
}
