//! Checks that a program follows the protocol, for `planforge plugins try-environment`.

use crate::conversation::{Conversation, Question};
use crate::explore::Explorer;
use crate::interface::Interface;
use crate::protocol::{Method, Reset, Stepped, Validated};
use crate::{ProcessEnvironmentOptions, codes};
use planforge_contract::api::Host;
use planforge_contract::{EnvironmentOpen, Failure, FailureClass, ProgressTimer, StateQuery, WalkSpec};
use serde::Serialize;
use serde_json::Value;
use std::time::Instant;

/// The outcome of one check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// As it must be.
    Pass,
    /// Not as it must be.
    Fail,
    /// There was nothing to check: the program does not offer the method, or an earlier check failed.
    Skipped,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    pub name: String,
    pub status: Status,
    /// The observation behind the status.
    pub detail: String,
}

/// All checks of a program.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CheckReport {
    pub command: String,
    /// Every check, in order.
    pub checks: Vec<Check>,
    /// Milliseconds from the start to the first answer.
    pub start_ms: f64,
    /// Milliseconds that one answer took on average: method -> time.
    pub answer_ms: Vec<(String, f64)>,
}

impl CheckReport {
    /// True if no check failed.
    pub fn conforms(&self) -> bool {
        self.checks.iter().all(|c| c.status != Status::Fail)
    }
}

/// Lengths of the walks that the checks go along.
const LENGTHS: [u32; 8] = [1, 2, 3, 4, 5, 6, 8, 10];
/// Most states in which every ground action is tried.
const STATES: usize = 12;
/// Most ground actions that are tried in each of them.
const GROUND: u64 = 400;
/// Number of timed calls of a method.
const TIMED: u32 = 20;

type Outcome = Result<(Status, String), Failure>;

/// Tries a program on a task.
///
/// # Errors
/// The program cannot be started, or the check was interrupted.
pub fn check(
    options: &ProcessEnvironmentOptions,
    task: &EnvironmentOpen,
    host: &dyn Host,
) -> Result<CheckReport, Failure> {
    let timer = ProgressTimer::new(host, "seconds of the check");
    let mut checker = Checker { options, task, timer: &timer, checks: Vec::new() };
    let mut report = CheckReport {
        command: options.spec().text(),
        checks: Vec::new(),
        start_ms: 0.0,
        answer_ms: Vec::new(),
    };
    let started = Instant::now();
    let mut conversation = Conversation::start(options)?;
    let said = conversation.ask(&timer, options, task, Question::new(Method::Describe));
    report.start_ms = started.elapsed().as_secs_f64() * 1e3;
    let interface = match said {
        Ok(said) => {
            checker.add("describe is answered", Status::Pass, format!("in {:.0} ms", report.start_ms));
            Interface::of(&said)
        }
        Err(failure) => {
            checker.broke("describe is answered", failure)?;
            report.checks = checker.checks;
            return Ok(report);
        }
    };
    drop(conversation);
    match interface {
        Err(why) => checker.add("the description makes sense", Status::Fail, why),
        Ok(interface) => {
            let public = &interface.public;
            let methods: Vec<&str> = interface.methods.iter().map(|m| m.name()).collect();
            let (actions, objects) = (public.actions.len(), public.objects.len());
            let detail = format!("{actions} actions, {objects} objects; methods: {}", methods.join(", "));
            checker.add("the description makes sense", Status::Pass, detail);
            checker.all(&interface)?;
            report.answer_ms = checker.times(&interface);
        }
    }
    report.checks = checker.checks;
    Ok(report)
}

struct Checker<'a> {
    options: &'a ProcessEnvironmentOptions,
    task: &'a EnvironmentOpen,
    timer: &'a ProgressTimer<'a>,
    checks: Vec<Check>,
}

impl Checker<'_> {
    fn add(&mut self, name: &str, status: Status, detail: String) {
        self.checks.push(Check { name: name.to_owned(), status, detail });
    }

    /// Records a failure as a failed check, unless the program is not its cause.
    fn broke(&mut self, name: &str, failure: Failure) -> Result<(), Failure> {
        if failure.class == FailureClass::Cancelled
            || [codes::START, codes::STOPPED].contains(&failure.code.as_str())
        {
            return Err(failure);
        }
        self.add(name, Status::Fail, format!("[{}] {}", failure.code, failure.message));
        Ok(())
    }

    /// Runs one check with a fresh copy of the program.
    fn one(
        &mut self,
        name: &str,
        interface: &Interface,
        needs: &[Method],
        work: impl FnOnce(&mut Explorer<'_>) -> Outcome,
    ) -> Result<(), Failure> {
        if let Some(missing) = needs.iter().find(|m| !interface.can(**m)) {
            self.add(name, Status::Skipped, format!("the program does not offer `{}`", missing.name()));
            return Ok(());
        }
        let mut conversation = Conversation::start(self.options)?;
        let mut explorer = Explorer::new(self.timer, self.options, self.task, interface, &mut conversation);
        match work(&mut explorer) {
            Ok((status, detail)) => self.add(name, status, detail),
            Err(failure) => self.broke(name, failure)?,
        }
        Ok(())
    }

    fn all(&mut self, interface: &Interface) -> Result<(), Failure> {
        use Method::{Actions, Step};
        let mut walks = Vec::new();
        self.one("walks can be taken", interface, &[], |e| {
            walks = e.walks(&WalkSpec { lengths: LENGTHS.to_vec(), seed: 1, ..WalkSpec::default() })?;
            let steps: usize = walks.iter().map(Vec::len).sum();
            if steps == 0 {
                return fail("no action can be executed in the initial state");
            }
            pass(format!("{} walks, {steps} steps", walks.len()))
        })?;
        let walks = &walks;
        self.one("actions lists what step executes", interface, &[Actions, Step], |e| {
            listed_is_tried(e, walks)
        })?;
        if !walks.is_empty() {
            self.along(interface, walks)?;
        }
        for (name, action) in strange_actions(interface) {
            self.one(&format!("{name} is refused"), interface, &[], |e| check_refusal(e, &action))?;
        }
        Ok(())
    }

    /// The checks that go along walks; without any there is nothing that they could show.
    fn along(&mut self, interface: &Interface, walks: &[Vec<String>]) -> Result<(), Failure> {
        use Method::{DescribeState, Execute, Step};
        self.one("reset leads to the same state", interface, &[], |e| same_start(e, walks))?;
        self.one("another copy executes the same", interface, &[], |e| same_elsewhere(e, walks))?;
        self.one("a refused step changes nothing", interface, &[Step], |e| {
            refusal_changes_nothing(e, walks)
        })?;
        self.one("execute goes as far as step", interface, &[Execute, Step], |e| execute_as_step(e, walks))?;
        self.one("validate executes the same", interface, &[], |e| validate_as_execute(e, walks))?;
        self.one("describe_state tells states", interface, &[DescribeState], |e| states(e, walks))?;
        Ok(())
    }

    /// Mean times of answers; none if the program broke before.
    fn times(&mut self, interface: &Interface) -> Vec<(String, f64)> {
        let mut times = Vec::new();
        let Ok(mut conversation) = Conversation::start(self.options) else { return times };
        let mut ask = |method: Method| {
            conversation.ask::<Value>(self.timer, self.options, self.task, Question::new(method))
        };
        // The first answer holds the start.
        if ask(Method::Describe).is_err() {
            return times;
        }
        for method in [Method::Reset, Method::Actions] {
            let begun = Instant::now();
            if interface.can(method) && (0..TIMED).all(|_| ask(method).is_ok()) {
                let mean = begun.elapsed().as_secs_f64() * 1e3 / f64::from(TIMED);
                times.push((method.name().to_owned(), mean));
            }
        }
        times
    }
}

fn pass(detail: impl Into<String>) -> Outcome {
    Ok((Status::Pass, detail.into()))
}

fn fail(detail: impl Into<String>) -> Outcome {
    Ok((Status::Fail, detail.into()))
}

fn skip(detail: &str) -> Outcome {
    Ok((Status::Skipped, detail.to_owned()))
}

/// All answers of the program about a state.
fn look(e: &mut Explorer<'_>, behind: &[String]) -> Result<(Vec<String>, Value), Failure> {
    let mut actions = Vec::new();
    if e.interface.can(Method::Actions) {
        e.reset()?;
        actions = e.list_applicable(behind)?;
        actions.sort_unstable();
    } else if e.interface.ground(GROUND).is_ok() {
        actions = e.try_every_action(behind)?;
    }
    let mut told = Value::Null;
    if e.interface.can(Method::DescribeState) {
        told = e.ask(Question::new(Method::DescribeState).with("actions", Value::from(behind.to_vec())))?;
    }
    Ok((actions, told))
}

fn same_start(e: &mut Explorer<'_>, walks: &[Vec<String>]) -> Outcome {
    let first = look(e, &[])?;
    for walk in walks {
        // In between the program is somewhere else.
        e.execute(std::slice::from_ref(walk))?;
        if first != look(e, &[])? {
            let text = "reset leads to a state with another description or other actions than the first time";
            return fail(format!("after {walk:?}, {text}"));
        }
    }
    pass(format!("after each of {} walks", walks.len()))
}

fn same_elsewhere(e: &mut Explorer<'_>, walks: &[Vec<String>]) -> Outcome {
    let executions = e.execute(walks)?;
    for (walk, execution) in walks.iter().zip(executions) {
        if let Some(why) = execution.refusal {
            let number = execution.executed as usize;
            return fail(format!(
                "one copy executed {} after {number} steps, another refuses it: {why}",
                walk[number]
            ));
        }
    }
    pass(format!("{} walks again", walks.len()))
}

/// The states that walks go through, each once.
fn states_on(walks: &[Vec<String>]) -> Vec<Vec<String>> {
    let mut all: Vec<Vec<String>> =
        walks.iter().flat_map(|w| (0..=w.len()).map(|n| w[..n].to_vec())).collect();
    all.push(Vec::new());
    all.sort_by_key(|s| (s.len(), s.clone()));
    all.dedup();
    all.truncate(STATES);
    all
}

fn listed_is_tried(e: &mut Explorer<'_>, walks: &[Vec<String>]) -> Outcome {
    let ground = e.interface.ground(GROUND).ok();
    let states = states_on(walks);
    for behind in &states {
        let listed = e.list_applicable(behind)?;
        let tried = ground.as_ref().unwrap_or(&listed);
        for action in tried {
            e.go_to(behind)?;
            let executed = e.step(action)?;
            match (listed.contains(action), executed) {
                (true, Err(why)) => {
                    return fail(format!("after {behind:?}: {action} is listed and refused: {why}"));
                }
                (false, Ok(())) => {
                    return fail(format!("after {behind:?}: {action} is executed and not listed"));
                }
                _ => {}
            }
        }
    }
    let tried = match &ground {
        Some(ground) => format!("all {} ground actions", ground.len()),
        None => format!("the listed ones only, for there are more than {GROUND} ground actions,"),
    };
    pass(format!("{tried} in {} states", states.len()))
}

fn refusal_changes_nothing(e: &mut Explorer<'_>, walks: &[Vec<String>]) -> Outcome {
    // Actions that exist and may not be applicable, beside one that does not exist.
    let mut candidates = e.interface.ground(GROUND).unwrap_or_default();
    candidates.push(NO_ACTION.to_owned());
    let (mut refusals, mut walked) = (0, 0);
    for walk in walks {
        e.reset()?;
        for (place, action) in walk.iter().enumerate() {
            for other in candidates.iter().skip(place % 3).step_by(3) {
                if e.step(other)?.is_ok() {
                    e.go_to(&walk[..place])?;
                } else {
                    refusals += 1;
                }
            }
            walked += 1;
            if let Err(why) = e.step(action)? {
                let text =
                    format!("after {:?} and refused steps, {action} is refused: {why}", &walk[..place]);
                return fail(text);
            }
        }
    }
    if refusals == 0 {
        return skip("nothing was refused");
    }
    pass(format!("{refusals} refusals along {walked} steps"))
}

fn execute_as_step(e: &mut Explorer<'_>, walks: &[Vec<String>]) -> Outcome {
    let mut sequences = walks.to_vec();
    // Walks that go on with the steps of another one, and so are refused somewhere or not.
    sequences.extend(walks.iter().zip(walks.iter().rev()).map(|(a, b)| [&a[..], &b[..]].concat()));
    let at_once = e.execute(&sequences)?;
    for (sequence, execution) in sequences.iter().zip(at_once) {
        let by_steps = e.execute_by_steps(sequence)?;
        if by_steps.executed != execution.executed {
            let (a, b) = (execution.executed, by_steps.executed);
            return fail(format!("execute goes {a} steps into {sequence:?}, step goes {b}"));
        }
    }
    pass(format!("{} sequences", sequences.len()))
}

fn validate_as_execute(e: &mut Explorer<'_>, walks: &[Vec<String>]) -> Outcome {
    let mut plans = walks.to_vec();
    plans.push(Vec::new());
    plans.extend(walks.iter().map(|w| w.iter().rev().cloned().collect()));
    let executions = e.execute(&plans)?;
    let mut valid = 0;
    for (plan, execution) in plans.iter().zip(executions) {
        let plan_value = Value::from(plan.clone());
        let verdict: Validated = e.ask(Question::new(Method::Validate).with("plan", plan_value))?;
        if verdict.executed != execution.executed {
            let (a, b) = (verdict.executed, execution.executed);
            return fail(format!("validate executes {a} steps of {plan:?}, and {b} can be executed"));
        }
        if verdict.valid && execution.refusal.is_some() {
            return fail(format!("validate calls {plan:?} valid, and not all of it can be executed"));
        }
        valid += u32::from(verdict.valid);
    }
    pass(format!("{} plans, {valid} of them valid", plans.len()))
}

fn states(e: &mut Explorer<'_>, walks: &[Vec<String>]) -> Outcome {
    let states = states_on(walks);
    let mut sentences = 0;
    for behind in &states {
        let query = StateQuery { actions: behind.clone(), focus: walks.iter().flatten().next().cloned() };
        let state = e.describe_state(&query)?;
        if state.sentences.is_empty() && state.atoms.is_empty() {
            return fail(format!("the state after {behind:?} has no description"));
        }
        if let Some(bad) = state.sentences.iter().find(|s| s.trim().is_empty() || s.contains('\n')) {
            return fail(format!("after {behind:?}: {bad:?} is not a sentence in one line"));
        }
        if let Some(bad) = state.atoms.iter().find(|a| crate::interface::words(a).is_none()) {
            return fail(format!("after {behind:?}: {bad:?} is not an atom such as (at van home)"));
        }
        if e.describe_state(&query)? != state {
            return fail(format!("the state after {behind:?} has another description the second time"));
        }
        sentences += state.sentences.len();
    }
    pass(format!("{} states, {sentences} sentences", states.len()))
}

const NO_ACTION: &str = "(no-such-action-here)";

/// Actions that are none, and what is wrong with them.
fn strange_actions(interface: &Interface) -> Vec<(&'static str, String)> {
    let mut strange = vec![("an unknown action", NO_ACTION.to_owned())];
    if let Some(action) = interface.public.actions.first() {
        let more = " no-such-object-here".repeat(action.parameters.len() + 1);
        strange.push(("an action with too many arguments", format!("({}{more})", action.name)));
    }
    if let Some(action) = interface.public.actions.iter().find(|a| !a.parameters.is_empty()) {
        let unknown = " no-such-object-here".repeat(action.parameters.len());
        strange.push(("an unknown object", format!("({}{unknown})", action.name)));
    }
    strange
}

fn check_refusal(e: &mut Explorer<'_>, action: &str) -> Outcome {
    let sequence = vec![action.to_owned()];
    if e.interface.can(Method::Step) {
        let _: Reset = e.ask(Question::new(Method::Reset))?;
        let stepped: Stepped = e.ask(Question::new(Method::Step).with("action", action))?;
        if stepped.executed {
            return fail(format!("step executes {action}"));
        }
    }
    if e.interface.can(Method::Execute)
        && e.execute(std::slice::from_ref(&sequence))?.iter().any(|x| x.executed > 0)
    {
        return fail(format!("execute executes {action}"));
    }
    let verdict: Validated = e.ask(Question::new(Method::Validate).with("plan", Value::from(sequence)))?;
    if verdict.valid || verdict.executed > 0 {
        return fail(format!("validate executes {action}"));
    }
    pass("and the program goes on")
}
