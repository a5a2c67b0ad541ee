//! A plan with its states, step by step: the changes of each action, the failing step with the reason, the
//! parts of the goal that hold, and pictures.
//!
//! Only changes are kept: a state is the one before it without deleted and with added atoms, so a plan costs
//! its changes and not its states. Every name is kept once, in a table of the plan. Omissions by limits are
//! counted.

use crate::picture::Painter;
use planforge_diagnostics::{Diagnostic, SourceId};
use planforge_pddl::{Number, parse_domain, parse_problem};
use planforge_planning::task::{Atom, Symbols};
use planforge_planning::{
    CountingLimits, FailedCondition, GoalAlong, ResourceLimits, StopReason, TraceStep, ValidationDecision,
    ValidationReport, Validator, normalize, parse_plan,
};
use planforge_plugin_common::telling::{ToldPlan, tell_plan};
use planforge_plugin_sdk::wording::Wording;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Limits on the execution of a plan in a report: some seconds. They count, so a report is the same on every machine.
pub(crate) const REPORT_LIMITS: CountingLimits = CountingLimits { polls: 2_000_000, bytes: 1 << 30 };

/// Limits on the kept part of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatesLimits {
    /// The most steps.
    pub steps: usize,
    /// The most atoms and values of the initial state together.
    pub atoms: usize,
    /// The most pictures, the initial state's included; 0 for none.
    pub pictures: usize,
    /// The most bytes of all pictures of a plan.
    pub picture_bytes: usize,
}

impl Default for StatesLimits {
    fn default() -> Self {
        Self { steps: 1_000, atoms: 5_000, pictures: 200, picture_bytes: 4 << 20 }
    }
}

impl StatesLimits {
    /// The same without pictures: what a candidate has that the verdict is not about.
    #[must_use]
    pub const fn without_pictures(self) -> Self {
        Self { pictures: 0, ..self }
    }
}

/// A place in [`PlanStates::names`].
pub type NameId = u32;

/// The result of executing a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlanVerdict {
    /// Every step is applicable and the goal holds at the end.
    Valid,
    /// A step is not applicable or cannot be read, or the goal does not hold at the end.
    Invalid,
    /// The task or the plan has constructs that are not executed here.
    Unsupported,
    /// A limit ended the execution.
    LimitReached,
    /// Domain and problem cannot be read or do not fit each other, so the plan cannot be judged.
    Unreadable,
}

/// A plan with its states.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlanStates {
    /// The result of executing it.
    pub verdict: PlanVerdict,
    /// Atoms, function terms, actions and parts of the goal as PDDL; everything below names them by their place.
    pub names: Vec<String>,
    /// The initial state, sorted; derived atoms are not part of states.
    pub initial: Vec<NameId>,
    /// Numeric function terms with their initial values; values that are not finite are absent.
    pub initial_numbers: Vec<(NameId, Option<f64>)>,
    /// Atoms and values of the initial state that a limit left out.
    pub initial_left_out: usize,
    /// The steps that were executed.
    pub steps: Vec<StepStates>,
    /// Executed steps that a limit left out.
    pub steps_left_out: usize,
    /// Steps of the plan, whether they were executed or not.
    pub steps_in_plan: usize,
    /// The failing step, if execution stopped before the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failing: Option<FailingState>,
    /// The parts of the goal.
    pub goal: Vec<NameId>,
    /// Those that hold initially, by their places in `goal`.
    pub goal_initially: Vec<u32>,
    /// Parts of the goal that do not hold at the end, and why: sentences.
    pub missing: Vec<String>,
    /// The metric's value after the steps executed; absent where it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// Findings of reading domain, problem and plan, and of executing: `code: message`.
    pub findings: Vec<String>,
    /// Pictures by the number of steps executed before; states that look like the one before are left out.
    pub pictures: Vec<StatePicture>,
    /// The steps, their changes and the refusal in sentences, if a wording was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_words: Option<ToldPlan>,
    /// States beyond the limits that have no picture.
    pub pictures_left_out: usize,
    /// The reason why pictures are drawn from the domain and not by a template.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub picture_note: Option<String>,
    /// The limit that ended the execution.
    #[serde(skip)]
    pub stopped: Option<StopReason>,
}

/// A step that was executed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StepStates {
    /// The ground action.
    pub action: NameId,
    /// Atoms that became true.
    pub added: Vec<NameId>,
    /// Atoms that became false.
    pub deleted: Vec<NameId>,
    /// Numeric function terms that changed, with their new values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub numbers: Vec<(NameId, Option<f64>)>,
    /// Parts of the goal that hold from here on, by their places in `goal`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub goal_gained: Vec<u32>,
    /// Parts of the goal that no longer hold.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub goal_lost: Vec<u32>,
}

/// The first step that could not be executed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FailingState {
    /// Its number in the plan, from 0.
    pub index: usize,
    /// The step as the plan has it.
    pub text: String,
    /// The conditions that did not hold; empty where the step itself could not be read.
    pub conditions: Vec<UnmetCondition>,
}

/// A condition that did not hold.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UnmetCondition {
    /// The condition as PDDL.
    pub needs: String,
    /// The unmet condition.
    pub why: String,
    /// The change that would meet it.
    pub remedy: String,
}

/// A picture of a state.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StatePicture {
    /// Steps executed before.
    pub step: usize,
    /// The `<svg>` element; its style is [`crate::picture::STYLE`].
    pub svg: String,
    /// Atoms and function terms that it does not show.
    pub undrawn: Vec<NameId>,
    /// Things that it leaves out because there are too many.
    pub left_out: usize,
}

/// The texts of a plan and of its task, as somebody wrote them.
#[derive(Debug, Clone, Copy)]
pub struct PlanTexts<'a> {
    pub domain: &'a str,
    pub problem: &'a str,
    /// The plan file; steps that a planner gave are joined by line ends.
    pub plan: &'a str,
    /// The suite's picture.toml; without it, pictures are drawn from the domain.
    pub picture: Option<&'a str>,
    /// The wording of facts; without it there are no sentences.
    pub wording: Option<&'a Wording>,
}

/// Executes a plan and keeps its states. The work ends at the limits of `resources`, what is kept at `limits`.
pub fn plan_states(
    texts: PlanTexts<'_>,
    limits: &StatesLimits,
    resources: &mut dyn ResourceLimits,
) -> PlanStates {
    let (domain_source, problem_source, plan_source) = (SourceId(0), SourceId(1), SourceId(2));
    let domain = parse_domain(texts.domain, domain_source);
    let problem = parse_problem(texts.problem, problem_source);
    let read = domain.diagnostics.iter().chain(&problem.diagnostics).filter(|d| d.is_error());
    let mut states = PlanStates { findings: read.map(finding).collect(), ..nothing() };
    if !states.findings.is_empty() {
        return states;
    }
    let lifted = match normalize(&domain.value, &problem.value) {
        Ok(lifted) => lifted,
        Err(found) => {
            states.findings.extend(found.iter().filter(|d| d.is_error()).map(finding));
            return states;
        }
    };
    let validator = Validator::new(lifted);
    let report = validator.validate(&parse_plan(texts.plan, plan_source), resources);
    states.findings.extend(report.diagnostics.iter().map(finding));
    states.verdict = match report.decision {
        ValidationDecision::Valid => PlanVerdict::Valid,
        ValidationDecision::Invalid => PlanVerdict::Invalid,
        ValidationDecision::Unsupported(_) => PlanVerdict::Unsupported,
        ValidationDecision::LimitReached(_) => PlanVerdict::LimitReached,
    };
    if let ValidationDecision::LimitReached(reason) = report.decision {
        states.stopped = Some(reason);
    }
    states.in_words = texts.wording.map(|wording| {
        let mut told = tell_plan(&report, wording);
        told.steps.truncate(limits.steps);
        told
    });
    let mut writer = Writer { symbols: &report.symbols, ids: HashMap::new(), states };
    writer.write(&report, &validator, limits, resources);
    if limits.pictures > 0 {
        let (painter, why) =
            Painter::of_text(texts.picture, &domain.value, &problem.value, report.symbols.clone());
        writer.states.picture_note = why.map(|why| why.to_string());
        writer.pictures(&report, &validator, &painter, limits);
    }
    writer.states
}

fn nothing() -> PlanStates {
    PlanStates {
        verdict: PlanVerdict::Unreadable,
        names: Vec::new(),
        initial: Vec::new(),
        initial_numbers: Vec::new(),
        initial_left_out: 0,
        steps: Vec::new(),
        steps_left_out: 0,
        steps_in_plan: 0,
        failing: None,
        goal: Vec::new(),
        goal_initially: Vec::new(),
        missing: Vec::new(),
        cost: None,
        findings: Vec::new(),
        pictures: Vec::new(),
        in_words: None,
        pictures_left_out: 0,
        picture_note: None,
        stopped: None,
    }
}

fn finding(diagnostic: &Diagnostic) -> String {
    format!("{}: {}", diagnostic.code, diagnostic.message)
}

/// Names things by numbers as they come.
struct Writer<'a> {
    symbols: &'a Symbols,
    ids: HashMap<String, NameId>,
    states: PlanStates,
}

impl Writer<'_> {
    fn name(&mut self, text: String) -> NameId {
        if let Some(id) = self.ids.get(&text) {
            return *id;
        }
        let id = NameId::try_from(self.states.names.len()).unwrap_or(NameId::MAX);
        self.states.names.push(text.clone());
        self.ids.insert(text, id);
        id
    }

    fn atoms(&mut self, atoms: &[Atom]) -> Vec<NameId> {
        atoms.iter().map(|atom| self.name(self.symbols.atom(atom))).collect()
    }

    fn numbers(&mut self, numbers: &[(Atom, f64)]) -> Vec<(NameId, Option<f64>)> {
        let finite = |value: f64| value.is_finite().then_some(value);
        numbers
            .iter()
            .map(|(term, value)| (self.name(self.symbols.function_term(term)), finite(*value)))
            .collect()
    }

    fn write(
        &mut self,
        report: &ValidationReport,
        validator: &Validator,
        limits: &StatesLimits,
        resources: &mut dyn ResourceLimits,
    ) {
        let numbers = floats(&validator.task().init_numbers);
        let kept = report.initial.len().min(limits.atoms);
        let kept_numbers = numbers.len().min(limits.atoms - kept);
        self.states.initial = self.atoms(&report.initial[..kept]);
        self.states.initial_numbers = self.numbers(&numbers[..kept_numbers]);
        self.states.initial_left_out = report.initial.len() + numbers.len() - kept - kept_numbers;
        let trace = &report.trace[..report.trace.len().min(limits.steps)];
        // The goal of a task that is not executed may be unreadable too.
        let along = match report.decision {
            ValidationDecision::Unsupported(_) | ValidationDecision::LimitReached(_) => nothing_along(),
            _ => match validator.goal_along(trace, resources) {
                Ok(along) => along,
                Err(reason) => {
                    self.states
                        .findings
                        .push(format!("plan.limit: {reason} ended the search for goals that hold"));
                    nothing_along()
                }
            },
        };
        self.states.goal = along.parts.iter().map(|part| self.name(part.clone())).collect();
        let all_open = vec![false; along.parts.len()];
        let initially = along.holds.first().unwrap_or(&all_open);
        self.states.goal_initially = changed_indices(&all_open, initially, true);
        for (step, around) in trace.iter().zip(along.holds.windows(2)) {
            let written = StepStates {
                action: self.name(self.symbols.step(&step.action)),
                added: self.atoms(&step.added),
                deleted: self.atoms(&step.deleted),
                numbers: self.numbers(&floats(&step.numbers)),
                goal_gained: changed_indices(&around[0], &around[1], true),
                goal_lost: changed_indices(&around[0], &around[1], false),
            };
            self.states.steps.push(written);
        }
        self.states.steps_left_out = report.trace.len() - trace.len();
        self.states.steps_in_plan = report.steps;
        self.states.failing = report.failing_step.as_ref().map(|failing| FailingState {
            index: failing.index,
            text: failing.text.clone(),
            conditions: failing.conditions.iter().map(unmet).collect(),
        });
        self.states.missing =
            report.missing_goals.iter().map(|missing| format!("{}: {}", missing.text, missing.why)).collect();
        self.states.cost = report.cost.filter(|cost| cost.is_finite());
    }

    fn pictures(
        &mut self,
        report: &ValidationReport,
        validator: &Validator,
        painter: &Painter,
        limits: &StatesLimits,
    ) {
        let mut walk = Walk::new(report, &validator.task().init_numbers);
        let executed = self.states.steps.len();
        let mut bytes = 0;
        let mut last = String::new();
        for step in 0..=executed {
            if step > 0 {
                walk.step(&report.trace[step - 1]);
            }
            if self.states.pictures.len() >= limits.pictures || bytes >= limits.picture_bytes {
                self.states.pictures_left_out = executed + 1 - step;
                break;
            }
            let (atoms, numbers) = walk.state();
            let picture = painter.draw(&atoms, &numbers, "state");
            if picture.svg == last {
                continue;
            }
            bytes += picture.svg.len();
            let undrawn: Vec<Atom> = picture.undrawn.iter().map(|at| atoms[*at].clone()).collect();
            let mut undrawn = self.atoms(&undrawn);
            let terms: Vec<(Atom, f64)> =
                picture.undrawn_numbers.iter().map(|at| numbers[*at].clone()).collect();
            undrawn.extend(self.numbers(&terms).into_iter().map(|(id, _)| id));
            last.clone_from(&picture.svg);
            self.states.pictures.push(StatePicture {
                step,
                svg: picture.svg,
                undrawn,
                left_out: picture.left_out,
            });
        }
    }
}

fn nothing_along() -> GoalAlong {
    GoalAlong { parts: Vec::new(), holds: Vec::new() }
}

/// Values as pages show them.
fn floats(numbers: &[(Atom, Number)]) -> Vec<(Atom, f64)> {
    numbers.iter().map(|(term, value)| (term.clone(), value.to_f64())).collect()
}

/// Places at which two lists differ in this direction.
fn changed_indices(before: &[bool], after: &[bool], now: bool) -> Vec<u32> {
    let pairs = (0..).zip(before.iter().zip(after));
    pairs.filter(|(_, (before, after))| before != after && **after == now).map(|(at, _)| at).collect()
}

fn unmet(condition: &FailedCondition) -> UnmetCondition {
    UnmetCondition {
        needs: condition.text.clone(),
        why: condition.why.clone(),
        remedy: condition.remedy.clone(),
    }
}

/// A state that follows the steps.
pub(crate) struct Walk {
    atoms: BTreeSet<Atom>,
    numbers: BTreeMap<Atom, f64>,
}

impl Walk {
    pub(crate) fn new(report: &ValidationReport, numbers: &[(Atom, Number)]) -> Self {
        Self {
            atoms: report.initial.iter().cloned().collect(),
            numbers: floats(numbers).into_iter().collect(),
        }
    }

    pub(crate) fn step(&mut self, step: &TraceStep) {
        for atom in &step.deleted {
            self.atoms.remove(atom);
        }
        self.atoms.extend(step.added.iter().cloned());
        self.numbers.extend(floats(&step.numbers));
    }

    pub(crate) fn state(&self) -> (Vec<Atom>, Vec<(Atom, f64)>) {
        let numbers = self.numbers.iter().map(|(term, value)| (term.clone(), *value));
        (self.atoms.iter().cloned().collect(), numbers.collect())
    }
}
