//! Feedback for language models about their PDDL and plans. All verifiers use the same wording: the attempt,
//! the step or the line, the state, one way to correct it. Plugins pass their findings; the sentences are
//! here.
//!
//! The texts reveal of an environment only what the caller passes: which steps it executes and refuses, and
//! states in the environment's own words.

#[cfg(feature = "pddl")]
mod pddl;

#[cfg(feature = "pddl")]
pub use pddl::{no_effect, not_edited, not_shared, pddl, reply, unusable};

use planforge_contract::{ReportedDiagnostic, ReportedSeverity, StateDescription};
use std::fmt::Write as _;

/// Most errors, conditions or reasons in one text: a model corrects a few better than a hundred, and the rest
/// are mostly consequences.
const MOST: usize = 10;

/// Most sentences about a state.
const MOST_SENTENCES: usize = 40;

/// A condition of the candidate's own PDDL that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmet {
    /// A change that would make it true, as a clause after "It needs".
    pub remedy: String,
    /// The present state, as a clause after "Instead".
    pub why: String,
    /// The line that requires it.
    pub quote: Option<Quote>,
}

/// Writes each condition that does not hold, a remedy, and its line.
fn unmet(list: &[Unmet], out: &mut String) {
    for one in list.iter().take(MOST) {
        let _ = write!(out, "\n\nIt needs {}. Instead {}.", one.remedy, one.why);
        if let Some(quote) = &one.quote
            && !quote.text.is_empty()
        {
            let _ = write!(
                out,
                "\nThis is asked for in line {} of the {}:\n    {}",
                quote.line, quote.file, quote.text
            );
        }
    }
    more(list.len(), out);
}

/// Writes the number of omitted entries.
fn more(found: usize, out: &mut String) {
    if found > MOST {
        let _ = write!(out, "\n\nThere are {} more.", found - MOST);
    }
}

/// The state of the environment before step `number` (from 1), or at the end of a plan.
fn state(before: Option<usize>, state: Option<&StateDescription>, out: &mut String) {
    let Some(state) = state else { return };
    let told = if state.sentences.is_empty() { &state.atoms } else { &state.sentences };
    if told.is_empty() {
        return;
    }
    let _ = match before {
        Some(1) => write!(out, "\n\nThe initial state of the environment:"),
        Some(number) => write!(out, "\n\nThe state of the environment before step {number}:"),
        None => write!(out, "\n\nThe state of the environment at the end:"),
    };
    for sentence in told.iter().take(MOST_SENTENCES) {
        let _ = write!(out, "\n- {}", sentence.trim());
    }
    if told.len() > MOST_SENTENCES {
        let _ = write!(out, "\n- and {} more.", told.len() - MOST_SENTENCES);
    }
}

/// Makes a sentence of a clause.
fn sentence(clause: &str) -> String {
    let mut letters = clause.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    let stop = if clause.ends_with(['.', '?', '!']) { "" } else { "." };
    format!("{first}{}{stop}", letters.as_str())
}

/// A step that cannot be executed by the candidate's own PDDL. `number` is from 1.
pub fn step(number: usize, step: &str, conditions: &[Unmet]) -> String {
    let mut out = format!("Step {number} of the plan, {step}, cannot be executed in the state before it.");
    unmet(conditions, &mut out);
    out
}

/// A plan that can be executed and misses the goal, by the candidate's own PDDL.
pub fn goal_missed(goals: &[Unmet]) -> String {
    let mut out = "The plan can be executed, and the goal does not hold at its end.".to_owned();
    unmet(goals, &mut out);
    out
}

/// Lines of a plan that are not steps of the domain, below a first sentence.
pub fn lines(opening: String, found: &[ReportedDiagnostic]) -> String {
    let mut out = opening;
    let errors = found.iter().filter(|d| d.severity == ReportedSeverity::Error && d.file == "plan");
    for error in errors.take(MOST) {
        let _ = write!(out, "\n\nLine {}: {}.", error.line, error.message);
        for help in &error.help {
            let _ = write!(out, "\n{}", sentence(help));
        }
    }
    out
}

/// A plan that was tried in the task's environment. The withheld model is not revealed.
#[derive(Debug, Clone, Copy)]
pub struct Environment<'a> {
    /// The steps, as `(name object ...)`.
    pub steps: &'a [String],
    /// Number of executed steps; all of them if only the goal is missed.
    pub executed: usize,
    /// The state after these, as the environment describes it.
    pub state: Option<&'a StateDescription>,
    /// True if there is PDDL that may be at fault.
    pub written: bool,
}

impl Environment<'_> {
    /// The feedback text.
    pub fn text(&self) -> String {
        let failing = self.steps.get(self.executed);
        let what = match (failing, self.steps.len()) {
            (Some(step), _) => format!("Step {}, {step}, cannot be executed there.", self.executed + 1),
            (None, 0) => "It has no steps, and the goal of the task does not hold in the end.".to_owned(),
            (None, 1) => {
                "Its step was executed, and the goal of the task does not hold in the end.".to_owned()
            }
            (None, n) => {
                format!("All {n} steps were executed, and the goal of the task does not hold in the end.")
            }
        };
        let fault =
            if self.written { " So the domain, the problem or the plan does not fit the task." } else { "" };
        let mut out = format!("The plan was tried in the environment of the task. {what}{fault}");
        if failing.is_some() && self.executed > 0 {
            let _ = write!(out, "\n\nThe steps up to there:");
            for step in self.steps.iter().take(self.executed + 1) {
                let _ = write!(out, "\n    {step}");
            }
        }
        state(failing.map(|_| self.executed + 1), self.state, &mut out);
        out
    }
}

/// The reason why there is no plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoPlan<'a> {
    /// The goal is out of reach even if nothing that became true ever became false; the reasons explain it.
    Unreachable,
    /// The search proved that there is none.
    Proven,
    /// The planner exhausted its search.
    Exhausted,
    /// The planner was stopped; its words.
    Limit(&'a str),
    /// The planner does not handle these constructs.
    Unsupported(&'a str),
}

/// Feedback without a plan to judge: the planner's outcome and, as far as known, the reasons why the goal is
/// out of reach. A reason is a clause with its line.
pub fn no_plan(why: NoPlan<'_>, reasons: &[(String, Option<Quote>)]) -> String {
    let mut out = match why {
        NoPlan::Unreachable => "By the domain and the problem there is no plan; this is proven.".to_owned(),
        NoPlan::Proven => "By the domain and the problem there is no plan; this is proven. Every state that the actions lead to \
was looked at, and the goal holds in none of them: an action's precondition asks for too much, an effect is wrong or missing, or the \
initial state or the goal is wrong."
            .to_owned(),
        NoPlan::Exhausted => {
            "The planner found no plan for the domain and the problem, which proves nothing.".to_owned()
        }
        NoPlan::Limit(message) => format!(
            "The planner was stopped before it found a plan for the domain and the problem: {}.",
            message.trim_end_matches('.')
        ),
        NoPlan::Unsupported(message) => {
            format!("The planner does not plan with {}.", message.trim_end_matches('.'))
        }
    };
    for (reason, quote) in reasons.iter().take(MOST) {
        let _ = write!(out, "\n\n{}", sentence(reason));
        if let Some(quote) = quote
            && !quote.text.is_empty()
        {
            let _ = write!(out, "\nLine {} of the {}:\n    {}", quote.line, quote.file, quote.text);
        }
    }
    more(reasons.len(), &mut out);
    out
}

/// A line of the candidate's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quote {
    /// `domain`, `problem` or `plan`.
    pub file: String,
    /// Line number, from 1.
    pub line: u32,
    /// The line without indentation; empty where there is nothing to show.
    pub text: String,
}

/// Most steps of a plan before the one that fails, and most facts about it.
const MOST_STEPS: usize = 40;

/// A fault of an action.
#[derive(Debug, Clone)]
pub enum ActionFault<'a> {
    /// The text holds no action.
    Nothing,
    /// The text cannot be read, or does not fit the domain: what was found, the finding that decides first, with places in `text`.
    Text {
        /// The findings.
        found: &'a [ReportedDiagnostic],
        /// The action's text.
        text: &'a str,
    },
    /// A problem has no plan any more; reasons, as clauses.
    NoPlan(&'a [String]),
    /// A plan that one of the two domains makes possible is none of the other.
    Plan(FailingActionPlan<'a>),
    /// The limits were reached before the action's behaviour was decided.
    Open,
    /// A problem has other plans: so many, where so many are right.
    Number {
        /// Plans with the action.
        with: usize,
        /// Plans there should be.
        right: usize,
    },
}

/// A plan that shows that an action does something else than it should.
#[derive(Debug, Clone, Copy)]
pub struct FailingActionPlan<'a> {
    /// The steps as `(name object ...)`.
    pub steps: &'a [String],
    /// True if the action allows an invalid plan; false if it does not allow a valid one.
    pub allowed: bool,
    /// The step that fails, from 0; `None` where only the goal is missed.
    pub failing: Option<usize>,
    /// Conditions of the model's own action, or of the goal, that do not hold there.
    pub conditions: &'a [String],
    /// Facts about the failing step's objects before it.
    pub facts: &'a [String],
}

/// The entry on an action. `class` is the paper's word with its primary class, such as `semantic error (TError)`; `what` says it in a
/// clause.
pub fn action(name: &str, class: &str, what: &str, fault: &ActionFault<'_>) -> String {
    let mut out = format!("Action `{name}`: {class}: {}.", what.trim_end_matches('.'));
    match fault {
        ActionFault::Nothing => {}
        ActionFault::Open => out.push_str("\nIf it is right, write it again as it is."),
        ActionFault::Text { found, text } => findings(found, text, &mut out),
        ActionFault::NoPlan(reasons) => {
            for reason in reasons.iter().take(MOST) {
                // A reason may begin with a name, which must not be capitalised.
                let _ = write!(out, "\n- {}.", reason.trim_end_matches('.'));
            }
            more(reasons.len(), &mut out);
        }
        ActionFault::Plan(plan) => failing(plan, name, &mut out),
        ActionFault::Number { with, right } => {
            let _ = write!(out, "\nA problem has {with} plans with it and should have {right}.");
        }
    }
    out
}

fn findings(found: &[ReportedDiagnostic], text: &str, out: &mut String) {
    for one in found.iter().take(MOST) {
        let line = one.line.checked_sub(1).and_then(|line| text.lines().nth(line as usize));
        match line.map(str::trim).filter(|line| !line.is_empty()) {
            Some(line) => {
                let line: String = line.chars().take(200).collect();
                let _ = write!(out, "\nLine {}: {}\n    {line}", one.line, sentence(&one.message));
            }
            None => {
                let _ = write!(out, "\n{}", sentence(&one.message));
            }
        }
        // An action's writer declares nothing.
        for help in one.help.iter().filter(|help| !help.starts_with("declare")) {
            let _ = write!(out, "\n{}", sentence(help));
        }
    }
    more(found.len(), out);
}

fn failing(plan: &FailingActionPlan<'_>, name: &str, out: &mut String) {
    let _ = match plan.allowed {
        true => write!(out, "\nBy the action as it is written this is a plan, and in truth it is none:"),
        false => write!(out, "\nThis is a plan in truth, and by the action as it is written it is none:"),
    };
    let shown = plan.failing.map_or(plan.steps.len(), |step| step + 1).min(plan.steps.len());
    // The last steps matter most.
    let skipped = shown.saturating_sub(MOST_STEPS);
    if skipped > 0 {
        let _ = write!(out, "\n    ({skipped} steps before)");
    }
    for (index, step) in plan.steps.iter().enumerate().take(shown).skip(skipped) {
        let mark = match plan.failing {
            Some(failing) if failing == index => "    <- cannot be executed",
            _ => "",
        };
        let _ = write!(out, "\n    {}. {step}{mark}", index + 1);
    }
    if plan.steps.is_empty() {
        let _ = write!(out, "\n    (no steps)");
    }
    match plan.failing {
        None => {
            let _ = write!(out, "\nAll steps can be executed, and the goal does not hold at the end.");
        }
        Some(step) => facts(plan, step, out),
    }
    for condition in plan.conditions.iter().take(MOST) {
        let _ = write!(out, "\n- {}", sentence(condition));
    }
    more(plan.conditions.len(), out);
    let _ = write!(out, "\n{}", guess(plan, name));
}

fn facts(plan: &FailingActionPlan<'_>, step: usize, out: &mut String) {
    let where_ = if plan.allowed { "In truth this" } else { "By the action as it is written, this" };
    let _ = match plan.facts {
        [] => write!(out, "\n{where_} holds of its objects before step {}: nothing.", step + 1),
        facts => {
            let told = facts.iter().take(MOST_STEPS).map(String::as_str).collect::<Vec<_>>().join(" ");
            write!(out, "\n{where_} holds of its objects before step {}: {told}", step + 1)
        }
    };
    if !plan.conditions.is_empty() {
        let _ = write!(out, "\nWhat does not hold there:");
    }
}

/// A guess at the fault.
fn guess(plan: &FailingActionPlan<'_>, name: &str) -> String {
    let own = |step: &String| {
        let first = step.trim_start_matches(['(', ' ']).split([' ', ')']).next().unwrap_or_default();
        first.eq_ignore_ascii_case(name)
    };
    let itself = plan.failing.and_then(|step| plan.steps.get(step)).is_some_and(own);
    match (plan.allowed, itself) {
        (true, true) => {
            format!(
                "So `{name}` lacks a condition, makes something true that should stay false, or leaves something true."
            )
        }
        (true, false) => {
            format!("So `{name}` lacks a condition, or its effect says too much or too little.")
        }
        (false, true) => {
            format!(
                "So `{name}` asks for too much, or its effect makes something false that should stay true."
            )
        }
        (false, false) => {
            format!(
                "So the effect of `{name}` lacks something, or makes something false that should stay true."
            )
        }
    }
}

/// The side that refuses the last action of a failing walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusedBy {
    /// The environment refuses what the candidate's domain and problem allow.
    Environment,
    /// The candidate's domain and problem refuse what the environment executes.
    Candidate,
}

/// The reason for the refusal, as far as the model may see it: always from its own PDDL, never from a
/// withheld reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// The environment refuses it; its reasons are withheld.
    Withheld,
    /// Conditions of the candidate's own PDDL that do not hold.
    Conditions(Vec<Unmet>),
    /// The side has no such action.
    NoAction(String),
    /// The side's action takes another number of arguments.
    Arity {
        /// The action.
        action: String,
        /// Arguments that it takes there.
        takes: usize,
        /// Arguments that it was given.
        given: usize,
    },
    /// The side has no such object.
    NoObject(String),
    /// The side's action does not take an object of that type.
    WrongType {
        /// The object.
        object: String,
        /// Its type there.
        is: String,
        /// The type of the parameter.
        asked: String,
    },
    /// The action would change nothing, and such steps are not legal in this comparison.
    NoEffect,
}

/// A walk that one side executes to its end and the other up to the last action.
#[derive(Debug, Clone)]
pub struct FailingWalk<'a> {
    /// The actions as `(name object ...)`; the last one is refused.
    pub steps: &'a [String],
    /// The refusing side.
    pub by: RefusedBy,
    /// The reason for the refusal.
    pub why: &'a Refused,
    /// The state of the environment before the refused action.
    pub state: Option<&'a StateDescription>,
}

/// The text for a failing walk.
pub fn walk(failing: &FailingWalk<'_>) -> String {
    let number = failing.steps.len();
    let last = failing.steps.last().map_or("", String::as_str);
    let name = name_of(last);
    let by_environment = failing.by == RefusedBy::Environment;
    let mut out = match (by_environment, number) {
        (true, 1) => {
            format!("By the domain and the problem, {last} can be executed in the initial state. The environment refuses it.")
        }
        (false, 1) => {
            format!("The environment executes {last} in the initial state. The domain and the problem do not allow it.")
        }
        (true, _) => "These actions were executed one after the other. By the domain and the problem all of them can be \
executed. The environment refuses the last one."
            .to_owned(),
        (false, _) => "These actions were executed one after the other. The environment executes all of them. The domain and \
the problem do not allow the last one."
            .to_owned(),
    };
    if number > 1 {
        for (index, step) in failing.steps.iter().enumerate() {
            let mark = match (index + 1 == number, by_environment) {
                (true, true) => "    <- refused by the environment",
                (true, false) => "    <- not allowed by the domain and the problem",
                (false, _) => "",
            };
            let _ = write!(out, "\n    {}. {step}{mark}", index + 1);
        }
    }
    reason(failing, name, &mut out);
    state(Some(number), failing.state, &mut out);
    out
}

/// The side that is probably wrong: single changes of each were tried, and these sides have one that removes the failure and contradicts
/// nothing that was tried in the environment.
pub fn blame(domain: bool, problem: bool) -> String {
    let text = match (domain, problem) {
        (true, true) => {
            "there is a change of the domain that does, and a change of the problem. So either of them may be wrong."
        }
        (true, false) => {
            "there is a change of the domain that does, and no change of the problem. So the domain is probably wrong."
        }
        (false, true) => {
            "there is a change of the problem that does, and no change of the domain. So the problem is probably wrong."
        }
        (false, false) => {
            "there is none of the domain and none of the problem. So more than one thing is wrong."
        }
    };
    format!(
        "Single changes were tried that remove this failure and contradict no other actions that were tried in the environment: {text}"
    )
}

/// The text before several failing walks, of which at most `shown` follow; `None` for one.
pub fn several(found: usize, shown: usize) -> Option<String> {
    if found < 2 {
        return None;
    }
    let mut out = format!(
        "The domain and the problem differ from the environment in {found} ways. Each is shown by a sequence of actions that begins in \
the initial state. Repair all of them."
    );
    if found > shown {
        let _ = write!(out, " Here are the {shown} shortest.");
    }
    Some(out)
}

/// Writes the reason for the refusal and the likely fault.
fn reason(failing: &FailingWalk<'_>, name: &str, out: &mut String) {
    let first = failing.steps.len() == 1;
    match failing.why {
        Refused::Withheld => {
            let before = if first { "" } else { "an effect of an action before it is wrong, " };
            let _ = write!(
                out,
                "\n\nSo the precondition of `{name}` lacks a condition, {before}or the initial state is wrong."
            );
        }
        Refused::Conditions(conditions) => {
            if !first {
                let _ = write!(
                    out,
                    "\n\nSo the precondition of `{name}` asks for too much, an effect of an action before it is wrong, or the \
initial state is wrong."
                );
            } else {
                let _ = write!(
                    out,
                    "\n\nSo the precondition of `{name}` asks for too much, or the initial state is wrong."
                );
            }
            unmet(conditions, out);
        }
        other => {
            let side = match failing.by {
                RefusedBy::Environment => "The environment",
                RefusedBy::Candidate => match other {
                    Refused::NoObject(_) => "The problem",
                    _ => "The domain",
                },
            };
            let _ = write!(out, "\n\n{}", lacks(side, other));
        }
    }
}

/// The missing item of a side, as a sentence.
fn lacks(side: &str, why: &Refused) -> String {
    match why {
        Refused::NoAction(name) => format!("{side} has no action `{name}`."),
        Refused::Arity { action, takes, given } => {
            let arguments = if *takes == 1 { "argument" } else { "arguments" };
            format!("In {} `{action}` takes {takes} {arguments}, not {given}.", lower(side))
        }
        Refused::NoObject(name) => format!("{side} has no object `{name}`."),
        Refused::WrongType { object, is, asked } => {
            format!("In {} `{object}` is of type `{is}`, and type `{asked}` is asked for.", lower(side))
        }
        Refused::NoEffect => {
            format!("In {} the action would change nothing there, and such steps do not count.", lower(side))
        }
        Refused::Withheld | Refused::Conditions(_) => String::new(),
    }
}

/// `The domain` within a sentence.
fn lower(side: &str) -> String {
    side.replacen("The", "the", 1)
}

/// Feedback if the candidate's PDDL executes no action in the initial state. `possible` is an action that the
/// environment executes there, if one is known, with the PDDL's reasons for refusing it and the environment's
/// initial state.
pub fn no_first_action(possible: Option<(&str, &[Unmet])>, initial: Option<&StateDescription>) -> String {
    let mut out =
        "By the domain and the problem, no action at all can be executed in the initial state.".to_owned();
    if let Some((action, conditions)) = possible {
        let _ = write!(out, " The environment executes {action} there, for example.");
        unmet(conditions, &mut out);
    }
    state(Some(1), initial, &mut out);
    out
}

/// The name of `(name object ...)`.
fn name_of(step: &str) -> &str {
    step.trim_start_matches(['(', ' ']).split([' ', ')']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests;
