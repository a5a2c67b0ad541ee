//! A plan and what it changes, or the step that fails and why.

use super::fold::{ToldStep, repeated};
use super::words::{PlanWords, fill};
use planforge_diagnostics::Diagnostic;
use planforge_planning::task::{Atom, GroundAction, Symbols, Unsupported};
use planforge_planning::{
    FailedCondition, Phase, PreferenceResult, TraceStep, ValidationDecision, ValidationReport,
};
use planforge_plugin_sdk::wording::{Wording, list, list_with};
use serde::Serialize;
use std::fmt;

/// A validated plan in sentences.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToldPlan {
    /// The result of the validation, one sentence.
    pub verdict: String,
    /// The executed steps, in order.
    pub steps: Vec<StepInWords>,
    /// The preferences that are kept and broken, one sentence; absent without preferences.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wishes: Option<String>,
    /// The step that cannot be executed, or the goal that does not hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Refusal>,
}

/// An executed step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StepInWords {
    /// Its number in the plan, from 1.
    pub number: usize,
    /// The action with its objects: `drive elm fir`.
    pub action: String,
    /// What the step changes, a sentence each.
    pub changes: Vec<String>,
    /// Why it is done, or why it is possible, where that is not obvious: a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The reason why a plan is not valid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// The failing step, from 1; absent if all steps were executed and the goal does not hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<usize>,
    /// The failing action with its objects, or `the goal`.
    pub what: String,
    /// The conditions that do not hold; empty if the step cannot be read.
    pub needs: Vec<UnmetNeed>,
    /// The errors of a step that cannot be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
}

/// A condition that does not hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnmetNeed {
    /// The condition, as a sentence.
    pub need: String,
    /// What is the case instead, as a sentence.
    pub instead: String,
}

/// Puts the validation of a plan into words.
pub fn tell_plan(report: &ValidationReport, wording: &Wording) -> ToldPlan {
    tell_plan_in(report, wording, &PlanWords::ENGLISH)
}

/// As [`tell_plan`], with the verdict about a valid plan in these words.
pub fn tell_plan_in(report: &ValidationReport, wording: &Wording, words: &PlanWords) -> ToldPlan {
    let teller = Teller { report, symbols: &report.symbols, wording, words };
    let steps = report.trace.iter().map(|step| StepInWords {
        number: step.index + 1,
        action: teller.step(step),
        changes: teller.changes(step),
        reason: None,
    });
    let (steps, wishes) = (steps.collect(), wishes(&report.preferences));
    ToldPlan { verdict: teller.verdict(), steps, wishes, refusal: teller.refusal() }
}

/// The preferences in one sentence: `2 of 3 wishes are kept; broken: dry (3 times, cost 15).`
fn wishes(all: &[PreferenceResult]) -> Option<String> {
    let broken = all.iter().filter(|wish| wish.violations > 0).map(|wish| {
        let times = (wish.violations > 1).then(|| format!("{} times", wish.violations));
        let cost = wish.cost.map(|cost| format!("cost {cost}"));
        let about: Vec<String> = times.into_iter().chain(cost).collect();
        let name = wish.name.as_deref().unwrap_or("one without a name");
        if about.is_empty() { name.to_owned() } else { format!("{name} ({})", about.join(", ")) }
    });
    let broken: Vec<String> = broken.collect();
    let (count, kept) = (all.len(), all.len() - broken.len());
    match (count, broken.is_empty()) {
        (0, _) => None,
        (1, true) => Some("The wish is kept.".to_owned()),
        (_, true) => Some(format!("All {count} wishes are kept.")),
        (1, false) => Some(format!("The wish is broken: {}.", list(&broken))),
        (_, false) => {
            let are = if kept == 1 { "is" } else { "are" };
            Some(format!("{kept} of {count} wishes {are} kept; broken: {}.", list(&broken)))
        }
    }
}

/// Returns true if the goal holds and a trajectory constraint is violated.
fn breaks_constraint(report: &ValidationReport) -> bool {
    report.missing_goals.is_empty() && report.diagnostics.iter().any(|d| d.code == "plan.constraint")
}

struct Teller<'a> {
    report: &'a ValidationReport,
    symbols: &'a Symbols,
    wording: &'a Wording,
    words: &'a PlanWords,
}

impl Teller<'_> {
    fn verdict(&self) -> String {
        let report = self.report;
        match &report.decision {
            ValidationDecision::Valid => {
                let steps_count = report.schedule.is_none();
                let cost = report.cost.filter(|cost| !steps_count || *cost != report.trace.len() as f64);
                let cost = cost.map(|cost| fill(self.words.cost, &[&cost])).unwrap_or_default();
                fill(self.words.valid, &[&self.words.count(report.steps), &cost])
            }
            ValidationDecision::Invalid => match &report.failing_step {
                Some(failing) => {
                    let (number, action) = (failing.index + 1, bare(&failing.text));
                    format!("The plan is not valid: step {number}, {action}, cannot be executed.")
                }
                None if breaks_constraint(report) => {
                    format!(
                        "The plan is not valid: after {}, a constraint is violated.",
                        self.words.count(report.steps)
                    )
                }
                None => {
                    format!(
                        "The plan is not valid: after {}, the goal does not hold.",
                        self.words.count(report.steps)
                    )
                }
            },
            ValidationDecision::Unsupported(parts) => {
                let parts = list(&Unsupported::names(parts));
                format!("The plan is not judged: {parts} cannot be executed here.")
            }
            ValidationDecision::LimitReached(reason) => {
                format!("The plan is not judged: {reason} ended the validation.")
            }
        }
    }

    fn changes(&self, step: &TraceStep) -> Vec<String> {
        let added = step.added.iter().map(|atom| self.fact(atom, true));
        let deleted = step.deleted.iter().map(|atom| self.fact(atom, false));
        let numbers = step.numbers.iter().map(|(term, value)| {
            let function = &self.symbols.functions[term.predicate as usize];
            sentence(&self.wording.value(function, &self.objects(&term.args), value.to_f64()))
        });
        added.chain(deleted).chain(numbers).collect()
    }

    fn refusal(&self) -> Option<Refusal> {
        let report = self.report;
        if report.decision != ValidationDecision::Invalid {
            return None;
        }
        let needs = |conditions: &[FailedCondition]| conditions.iter().map(|c| self.need(c)).collect();
        let Some(failing) = &report.failing_step else {
            let needs = needs(&report.missing_goals);
            return Some(Refusal {
                step: None,
                what: if breaks_constraint(report) { "the constraints" } else { "the goal" }.to_owned(),
                needs,
                errors: self.errors(|_| true),
            });
        };
        let unreadable = failing.conditions.is_empty();
        let errors = self.errors(|d| unreadable && !d.code.starts_with("plan.precondition"));
        let needs = needs(&failing.conditions);
        Some(Refusal { step: Some(failing.index + 1), what: bare(&failing.text), needs, errors })
    }

    /// The errors that are not about conditions.
    fn errors(&self, wanted: impl Fn(&Diagnostic) -> bool) -> Vec<String> {
        let about_conditions = |d: &Diagnostic| d.code == "plan.precondition" || d.code == "plan.goal";
        let errors =
            self.report.diagnostics.iter().filter(|d| d.is_error() && !about_conditions(d) && wanted(d));
        errors.map(|d| sentence(&d.message)).collect()
    }

    fn need(&self, condition: &FailedCondition) -> UnmetNeed {
        let Some(atom) = &condition.atom else {
            let why = condition.why.trim_end_matches('.');
            return UnmetNeed { need: format!("`{}`.", condition.text), instead: sentence(why) };
        };
        let since = match condition.changed_by {
            Some(step) => format!(" since step {}", step + 1),
            None => " from the start".to_owned(),
        };
        let instead = self.fact(atom, condition.negated);
        let instead = format!("{}{since}.", instead.trim_end_matches('.'));
        UnmetNeed { need: self.fact(atom, !condition.negated), instead }
    }

    fn fact(&self, atom: &Atom, holds: bool) -> String {
        let predicate = &self.symbols.predicates[atom.predicate as usize];
        sentence(&self.wording.fact(predicate, &self.objects(&atom.args), holds))
    }

    fn objects(&self, objects: &[u32]) -> Vec<&str> {
        objects.iter().map(|object| self.symbols.objects[*object as usize].as_str()).collect()
    }

    /// The action of a step, with its time if it has one: `at 5 mend fuse1 ends`, or by the clock `at 8:05 mend fuse1 ends`.
    fn step(&self, step: &TraceStep) -> String {
        let action = self.action(&step.action);
        let Some((time, phase)) = step.moment else { return action };
        let moment = self.wording.moment(&time.to_string());
        match phase {
            Phase::Whole => format!("{moment} {action}"),
            Phase::Start => format!("{moment} {action} starts"),
            Phase::End => format!("{moment} {action} ends"),
        }
    }

    fn action(&self, action: &GroundAction) -> String {
        bare(&self.symbols.step(action))
    }
}

/// A step as words: `drive elm fir`.
fn bare(step: &str) -> String {
    step.trim_start_matches('(').trim_end_matches(')').to_owned()
}

/// The text with a full stop.
fn sentence(text: &str) -> String {
    let end = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{text}{end}")
}

impl fmt::Display for ToldPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, &PlanWords::ENGLISH)
    }
}

impl ToldPlan {
    /// A line for the verdict and for each step, then the refusal. Parts that repeat with another object are one line.
    ///
    /// # Errors
    /// Those of `f`.
    pub fn write(&self, f: &mut impl fmt::Write, words: &PlanWords) -> fmt::Result {
        writeln!(f, "{}", self.verdict)?;
        let told = self.steps.iter().map(|step| ToldStep {
            action: &step.action,
            changes: &step.changes,
            has_reason: step.reason.is_some(),
        });
        let told: Vec<ToldStep<'_>> = told.collect();
        let mut at = 0;
        while at < self.steps.len() {
            let found = repeated(&told[at..]);
            let shown = found.as_ref().map_or(1, |found| found.steps);
            for StepInWords { number, action, changes, reason } in &self.steps[at..at + shown] {
                let changes =
                    if changes.is_empty() { words.nothing_changes.to_owned() } else { changes.join(" ") };
                let reason = reason.as_ref().map(|reason| format!(" {reason}")).unwrap_or_default();
                writeln!(f, "{number}. {action}: {changes}{reason}")?;
            }
            at += shown;
            if let Some(found) = found {
                let end = at + found.steps * found.objects.len();
                let (first, last) = (self.steps[at].number, self.steps[end - 1].number);
                let objects = list_with(&found.objects, words.and);
                writeln!(f, "{}", fill(words.repeated, &[&first, &last, &objects, &found.object]))?;
                at = end;
            }
        }
        if let Some(wishes) = &self.wishes {
            writeln!(f, "{wishes}")?;
        }
        let Some(refusal) = &self.refusal else { return Ok(()) };
        let what = match refusal.step {
            Some(step) => format!("Step {step}, {},", refusal.what),
            None => "The goal".to_owned(),
        };
        for need in &refusal.needs {
            writeln!(f, "{what} needs: {} But: {}", need.need, need.instead)?;
        }
        for error in &refusal.errors {
            writeln!(f, "{what} is refused: {error}")?;
        }
        Ok(())
    }
}
