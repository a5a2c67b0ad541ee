//! Walking, executing, judging and describing, by questions to the program.

use crate::conversation::{Conversation, Question};
use crate::interface::Interface;
use crate::protocol::{Applicable, Executions, Method, Reset, State, Stepped, Validated};
use crate::{ProcessEnvironmentOptions, codes};
use planforge_contract::{
    EnvironmentOpen, EnvironmentVerdict, Execution, Failure, FailureClass, ProgressTimer, StateDescription,
    StateQuery, WalkSpec,
};
use planforge_pddl::random::Random;
use planforge_plugin_sdk::walking::Coverage;
use planforge_plugin_sdk::wording::Wording;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// Most actions in the sequences of one `execute`, so that an answer comes in the time of some answers.
const BATCH: usize = 2000;
/// Most states whose applicable actions are remembered during one call.
const REMEMBERED: usize = 20_000;

/// One call's talk with the program.
pub(crate) struct Explorer<'a> {
    pub(crate) timer: &'a ProgressTimer<'a>,
    pub(crate) options: &'a ProcessEnvironmentOptions,
    pub(crate) task: &'a EnvironmentOpen,
    pub(crate) interface: &'a Interface,
    pub(crate) conversation: &'a mut Conversation,
    /// The actions that led to the state the program is in; `None` where that is not known.
    at: Option<Vec<String>>,
    /// Actions from the initial state -> the applicable ones there.
    applicable: HashMap<Vec<String>, Arc<Vec<String>>>,
    /// Every ground action, if they have to be tried.
    ground: Option<Arc<Vec<String>>>,
}

impl<'a> Explorer<'a> {
    pub(crate) fn new(
        timer: &'a ProgressTimer<'a>,
        options: &'a ProcessEnvironmentOptions,
        task: &'a EnvironmentOpen,
        interface: &'a Interface,
        conversation: &'a mut Conversation,
    ) -> Self {
        Self {
            timer,
            options,
            task,
            interface,
            conversation,
            at: None,
            applicable: HashMap::new(),
            ground: None,
        }
    }

    pub(crate) fn ask<T: serde::de::DeserializeOwned>(&mut self, question: Question) -> Result<T, Failure> {
        self.conversation.ask(self.timer, self.options, self.task, question)
    }

    /// Starts from the initial state.
    pub(crate) fn reset(&mut self) -> Result<(), Failure> {
        self.at = None;
        let _: Reset = self.ask(Question::new(Method::Reset))?;
        self.at = Some(Vec::new());
        Ok(())
    }

    /// Tries one action, in the program's spelling, in the state it is in.
    pub(crate) fn step(&mut self, action: &str) -> Result<Result<(), String>, Failure> {
        let stepped: Stepped = self.ask(Question::new(Method::Step).with("action", action))?;
        if stepped.executed {
            if let Some(at) = &mut self.at {
                at.push(action.to_owned());
            }
            return Ok(Ok(()));
        }
        Ok(Err(stepped.refusal.unwrap_or_else(|| format!("{action} is refused"))))
    }

    /// Moves the program to the state behind actions that it has executed before.
    pub(crate) fn go_to(&mut self, wanted: &[String]) -> Result<(), Failure> {
        let ahead = self.at.as_ref().is_some_and(|at| wanted.starts_with(at));
        if !ahead {
            self.reset()?;
        }
        let done = self.at.as_ref().map_or(0, Vec::len);
        for action in &wanted[done..] {
            if let Err(why) = self.step(action)? {
                let what = format!("executed {action} before and refuses it in the same place now: {why}");
                return Err(self.conversation.contradicts(&what));
            }
        }
        Ok(())
    }

    /// The distinct applicable actions behind a sequence that it has executed before, sorted.
    pub(crate) fn applicable(&mut self, behind: &[String]) -> Result<Arc<Vec<String>>, Failure> {
        if let Some(known) = self.applicable.get(behind) {
            return Ok(Arc::clone(known));
        }
        let mut found = if self.interface.can(Method::Actions) {
            self.list_applicable(behind)?
        } else {
            self.try_every_action(behind)?
        };
        found.sort_unstable();
        found.dedup();
        let found = Arc::new(found);
        if self.applicable.len() < REMEMBERED {
            self.applicable.insert(behind.to_vec(), Arc::clone(&found));
        }
        Ok(found)
    }

    /// Asks the program for its list of applicable actions.
    pub(crate) fn list_applicable(&mut self, behind: &[String]) -> Result<Vec<String>, Failure> {
        self.go_to(behind)?;
        let Applicable { actions } = self.ask(Question::new(Method::Actions))?;
        let spelled: Result<Vec<String>, String> = actions.iter().map(|a| self.interface.spell(a)).collect();
        spelled.map_err(|why| {
            self.conversation.contradicts(&format!("lists an action that it does not describe: {why}"))
        })
    }

    /// Tries every ground action and returns those that the program executes.
    pub(crate) fn try_every_action(&mut self, behind: &[String]) -> Result<Vec<String>, Failure> {
        let ground = self.ground()?;
        if self.interface.can(Method::Execute) {
            let behind_then =
                |action: &String| -> Vec<String> { behind.iter().chain([action]).cloned().collect() };
            let sequences: Vec<Vec<String>> = ground.iter().map(behind_then).collect();
            let executions = self.execute(&sequences)?;
            if let Some(short) = executions.iter().find(|e| (e.executed as usize) < behind.len()) {
                let what = format!(
                    "executed {} before and refuses it in the same place now",
                    behind[short.executed as usize]
                );
                return Err(self.conversation.contradicts(&what));
            }
            let good = |e: &Execution| e.executed as usize == behind.len() + 1;
            return Ok(ground
                .iter()
                .zip(&executions)
                .filter(|(_, e)| good(e))
                .map(|(a, _)| a.clone())
                .collect());
        }
        let mut found = Vec::new();
        for action in ground.iter() {
            // A refused step leaves the state as it was; an executed one is taken back by going there again.
            self.go_to(behind)?;
            if self.step(action)?.is_ok() {
                found.push(action.clone());
            }
        }
        Ok(found)
    }

    pub(crate) fn ground(&mut self) -> Result<Arc<Vec<String>>, Failure> {
        if let Some(ground) = &self.ground {
            return Ok(Arc::clone(ground));
        }
        let most = self.options.max_ground_actions;
        let ground = self.interface.ground(most).map_err(|all| {
            let text = format!(
                "the environment's program does not list applicable actions, and there are {all} ground actions to try in every \
state, more than {most}"
            );
            Failure::new(FailureClass::Limit, codes::TOO_MANY, text)
                .help("let the program answer `actions`, give its parameters narrower types, or raise `max_ground_actions`")
        })?;
        Ok(Arc::clone(self.ground.insert(Arc::new(ground))))
    }

    /// The walks of a spec.
    pub(crate) fn walks(&mut self, spec: &WalkSpec) -> Result<Vec<Vec<String>>, Failure> {
        let mut walks = Vec::with_capacity(spec.lengths.len());
        let mut executed = Coverage::default();
        for (index, length) in spec.lengths.iter().enumerate() {
            let mut random = Random::stream(spec.seed, index as u64);
            let mut walk: Vec<String> = Vec::new();
            for _ in 0..*length {
                let actions = self.applicable(&walk)?;
                let Some(action) = executed.choose(&mut random, spec.policy, &actions) else { break };
                if self.interface.can(Method::Actions) {
                    self.execute_listed(&walk, action)?;
                }
                walk.push(action.clone());
            }
            walks.push(walk);
            self.timer.host().progress(index as u64 + 1, spec.lengths.len() as u64, "walks");
        }
        Ok(walks)
    }

    /// Executes a listed action. A refusal is a failure of the program: otherwise the candidate would be
    /// blamed for the wrong list.
    fn execute_listed(&mut self, walk: &[String], action: &str) -> Result<(), Failure> {
        let after: Vec<String> = walk.iter().map(String::as_str).chain([action]).map(str::to_owned).collect();
        if self.applicable.contains_key(&after) {
            return Ok(()); // An earlier walk went there.
        }
        self.go_to(walk)?;
        match self.step(action)? {
            Ok(()) => Ok(()),
            Err(why) => {
                let what =
                    format!("listed {action} as applicable after {} steps and refuses it: {why}", walk.len());
                Err(self.conversation.contradicts(&what))
            }
        }
    }

    /// Executes sequences in the program's spelling, each from the initial state, up to the first refused
    /// step.
    pub(crate) fn execute(&mut self, sequences: &[Vec<String>]) -> Result<Vec<Execution>, Failure> {
        if !self.interface.can(Method::Execute) {
            return sequences.iter().map(|s| self.execute_by_steps(s)).collect();
        }
        let mut executions = Vec::with_capacity(sequences.len());
        let mut rest = sequences;
        while !rest.is_empty() {
            let mut actions = 0;
            let fit = rest.iter().take_while(|s| {
                actions += s.len() + 1;
                actions <= BATCH
            });
            let (now, later) = rest.split_at(fit.count().max(1));
            executions.extend(self.execute_batch(now)?);
            rest = later;
            self.timer.host().progress(executions.len() as u64, sequences.len() as u64, "sequences");
        }
        Ok(executions)
    }

    fn execute_batch(&mut self, sequences: &[Vec<String>]) -> Result<Vec<Execution>, Failure> {
        self.at = None;
        let Executions { executions } =
            self.ask(Question::new(Method::Execute).with("sequences", Value::from(sequences.to_vec())))?;
        if executions.len() != sequences.len() {
            let what = format!("answered {} sequences with {} results", sequences.len(), executions.len());
            return Err(self.conversation.contradicts(&what));
        }
        for (sequence, e) in sequences.iter().zip(&executions) {
            if e.executed as usize > sequence.len() {
                let what = format!("claims to have executed {} of {} steps", e.executed, sequence.len());
                return Err(self.conversation.contradicts(&what));
            }
        }
        let plain = |(sequence, e): (&Vec<String>, crate::protocol::Executed)| Execution {
            executed: e.executed,
            refusal: sequence
                .get(e.executed as usize)
                .map(|action| e.refusal.unwrap_or_else(|| format!("{action} is refused"))),
        };
        Ok(sequences.iter().zip(executions).map(plain).collect())
    }

    pub(crate) fn execute_by_steps(&mut self, sequence: &[String]) -> Result<Execution, Failure> {
        self.reset()?;
        for (done, action) in sequence.iter().enumerate() {
            if let Err(why) = self.step(action)? {
                return Ok(Execution { executed: done as u32, refusal: Some(why) });
            }
        }
        Ok(Execution { executed: sequence.len() as u32, refusal: None })
    }

    /// Executes sequences in any spelling. An action that is not described is refused without a request.
    pub(crate) fn execute_any(&mut self, sequences: &[Vec<String>]) -> Result<Vec<Execution>, Failure> {
        let spelled: Vec<Spelled> = sequences.iter().map(|s| Spelled::of(self.interface, s)).collect();
        let good: Vec<Vec<String>> = spelled.iter().map(|s| s.actions.clone()).collect();
        let executions = self.execute(&good)?;
        Ok(spelled.into_iter().zip(executions).map(|(s, e)| s.refuse(e)).collect())
    }

    /// The program's verdict on a plan.
    pub(crate) fn validate(&mut self, steps: &[String]) -> Result<EnvironmentVerdict, Failure> {
        let spelled = Spelled::of(self.interface, steps);
        if spelled.refusal.is_some() {
            let execution = self.execute(std::slice::from_ref(&spelled.actions))?.pop().unwrap_or_default();
            let Execution { executed, refusal } = spelled.refuse(execution);
            let reasons = refusal.into_iter().collect();
            return Ok(EnvironmentVerdict { executed, reasons, ..EnvironmentVerdict::default() });
        }
        self.at = None;
        let plan = Value::from(spelled.actions);
        let verdict: Validated = self.ask(Question::new(Method::Validate).with("plan", plan))?;
        let all = verdict.executed as usize == steps.len();
        if verdict.executed as usize > steps.len() || verdict.valid && !all {
            let what = format!(
                "calls a plan of {} steps {} after executing {} of them",
                steps.len(),
                if verdict.valid { "valid" } else { "invalid" },
                verdict.executed
            );
            return Err(self.conversation.contradicts(&what));
        }
        let mut reasons = if verdict.valid { Vec::new() } else { verdict.reasons };
        if reasons.is_empty() && !verdict.valid {
            reasons.push(if all {
                "the goal is not reached at the end".to_owned()
            } else {
                format!("step {} {} is refused", verdict.executed + 1, steps[verdict.executed as usize])
            });
        }
        Ok(EnvironmentVerdict {
            valid: verdict.valid,
            executed: verdict.executed,
            reasons,
            ..EnvironmentVerdict::default()
        })
    }

    /// The state behind a sequence; empty if the program cannot describe states.
    pub(crate) fn describe_state(&mut self, query: &StateQuery) -> Result<StateDescription, Failure> {
        let spelled = Spelled::of(self.interface, &query.actions);
        let execution = self.execute(std::slice::from_ref(&spelled.actions))?.pop().unwrap_or_default();
        if let Execution { executed, refusal: Some(why) } = spelled.clone().refuse(execution) {
            let number = executed as usize + 1;
            let text = format!("step {number} of the sequence cannot be executed: {why}");
            return Err(Failure::new(FailureClass::Request, codes::NOT_EXECUTABLE, text));
        }
        if !self.interface.can(Method::DescribeState) {
            return Ok(StateDescription::default());
        }
        self.at = None;
        let mut question = Question::new(Method::DescribeState).with("actions", Value::from(spelled.actions));
        if let Some(focus) = query.focus.as_deref().and_then(|f| self.interface.spell(f).ok()) {
            question = question.with("focus", focus);
        }
        let State { mut sentences, atoms } = self.ask(question)?;
        if sentences.is_empty() {
            // The suite may have sentences for atoms that the program does not describe.
            let wording = Wording::new(&self.task.sentences);
            let told = |words: Vec<&str>| wording.fact(words[0], &words[1..], true);
            sentences = atoms.iter().filter_map(|a| crate::interface::words(a).map(told)).collect();
        }
        Ok(StateDescription { sentences, atoms })
    }
}

/// A sequence in the program's spelling, up to the first action that is not described.
#[derive(Clone)]
struct Spelled {
    actions: Vec<String>,
    refusal: Option<String>,
}

impl Spelled {
    fn of(interface: &Interface, sequence: &[String]) -> Self {
        let mut actions = Vec::with_capacity(sequence.len());
        for action in sequence {
            match interface.spell(action) {
                Ok(spelled) => actions.push(spelled),
                Err(why) => return Self { actions, refusal: Some(why) },
            }
        }
        Self { actions, refusal: None }
    }

    /// Extends the execution of the described part of a sequence to the whole sequence.
    fn refuse(self, execution: Execution) -> Execution {
        match self.refusal {
            Some(why) if execution.refusal.is_none() => Execution { refusal: Some(why), ..execution },
            _ => execution,
        }
    }
}
