//! Environments that can only be reset and stepped: walks, executions and verdicts are derived from that.

use crate::walking::Coverage;
use crate::{About, Plugin, Secrets};
use planforge_contract::api::{Environment, Host};
use planforge_contract::{
    ActionInterface, EnvironmentInfo, EnvironmentOpen, EnvironmentPlan, EnvironmentVerdict, Execution,
    ExecutionReport, Failure, FailureClass, Sequences, StateDescription, StateQuery, WalkPolicy, WalkSpec,
    Walks,
};
use planforge_pddl::random::Random;

/// The minimal interface of an environment. [`Stepwise`] makes the whole [`Environment`] of it:
/// `export_plugin!(Environment, Stepwise<MyEnvironment>);`.
pub trait StepEnvironment: Send + Sync {
    /// Everything that changes with a step.
    type State;
    /// Actions and objects of the task.
    ///
    /// # Errors
    /// The environment cannot be opened on this task.
    fn interface(&self, task: &EnvironmentOpen) -> Result<ActionInterface, Failure>;
    /// The initial state.
    ///
    /// # Errors
    /// As [`StepEnvironment::interface`].
    fn reset(&self, task: &EnvironmentOpen) -> Result<Self::State, Failure>;
    /// The applicable ground actions as `(name object ...)`, in an order that is the same every time.
    ///
    /// # Errors
    /// The environment broke.
    fn actions(&self, state: &Self::State) -> Result<Vec<String>, Failure>;
    /// Executes one action, or returns the reason for its refusal (`Ok(Err(reason))`) and leaves the state as
    /// it was.
    ///
    /// # Errors
    /// The environment broke.
    fn step(&self, state: &mut Self::State, action: &str) -> Result<Result<(), String>, Failure>;
    /// The parts of the goal that do not hold, one sentence each; empty if the goal holds.
    ///
    /// # Errors
    /// The environment broke.
    fn missing(&self, state: &Self::State) -> Result<Vec<String>, Failure>;
    /// The state in words.
    ///
    /// # Errors
    /// The environment broke.
    fn describe(&self, state: &Self::State) -> Result<StateDescription, Failure>;
    /// The state in words before an action is tried: what does not hold of the action's objects is worth telling too. By
    /// default [`StepEnvironment::describe`].
    ///
    /// # Errors
    /// The environment broke.
    fn describe_before(&self, state: &Self::State, action: &str) -> Result<StateDescription, Failure> {
        let _ = action;
        self.describe(state)
    }
}

/// An [`Environment`] derived from [`StepEnvironment`].
#[derive(Debug, Clone, Copy, Default)]
pub struct Stepwise<E>(pub E);

impl<E: StepEnvironment + Plugin> Plugin for Stepwise<E> {
    type Options = E::Options;
    fn about() -> About {
        E::about()
    }
    fn create(options: Self::Options, secrets: &Secrets) -> Result<Self, Failure> {
        E::create(options, secrets).map(Self)
    }
}

impl<E: StepEnvironment> Stepwise<E> {
    /// The state after the longest executable prefix, its length, and why the next action was refused.
    fn run(&self, task: &EnvironmentOpen, actions: &[String]) -> Result<(E::State, Execution), Failure> {
        let mut state = self.0.reset(task)?;
        let mut executed = 0;
        for action in actions {
            if let Err(reason) = self.0.step(&mut state, action)? {
                return Ok((state, Execution { executed, refusal: Some(reason) }));
            }
            executed += 1;
        }
        Ok((state, Execution { executed, refusal: None }))
    }

    fn walk(
        &self,
        task: &EnvironmentOpen,
        length: u32,
        policy: WalkPolicy,
        mut random: Random,
        executed: &mut Coverage,
    ) -> Result<Vec<String>, Failure> {
        let mut state = self.0.reset(task)?;
        let mut walk = Vec::new();
        for _ in 0..length {
            let actions = self.0.actions(&state)?;
            let Some(action) = executed.choose(&mut random, policy, &actions) else {
                break;
            };
            if let Err(reason) = self.0.step(&mut state, action)? {
                let message =
                    format!("the environment listed {action} as applicable and refused it: {reason}");
                return Err(Failure::new(FailureClass::Plugin, "plugin.environment", message));
            }
            walk.push(action.clone());
        }
        Ok(walk)
    }
}

impl<E: StepEnvironment> Environment for Stepwise<E> {
    fn describe(&self, _host: &dyn Host, task: &EnvironmentOpen) -> Result<EnvironmentInfo, Failure> {
        let interface = self.0.interface(task)?;
        Ok(EnvironmentInfo { interface, model: None })
    }

    fn walks(&self, host: &dyn Host, task: &EnvironmentOpen, spec: &WalkSpec) -> Result<Walks, Failure> {
        let mut walks = Vec::with_capacity(spec.lengths.len());
        let mut executed = Coverage::default();
        for (index, length) in spec.lengths.iter().enumerate() {
            if host.cancelled() {
                return Err(Failure::new(
                    FailureClass::Cancelled,
                    "host.cancelled",
                    "the run was interrupted",
                ));
            }
            let random = Random::stream(spec.seed, index as u64);
            walks.push(self.walk(task, *length, spec.policy, random, &mut executed)?);
            host.progress(index as u64 + 1, spec.lengths.len() as u64, "walks");
        }
        Ok(Walks { walks })
    }

    fn execute(
        &self,
        host: &dyn Host,
        task: &EnvironmentOpen,
        sequences: &Sequences,
    ) -> Result<ExecutionReport, Failure> {
        let total = sequences.sequences.len() as u64;
        let executions = sequences.sequences.iter().zip(1..).map(|(sequence, number)| {
            let (_, execution) = self.run(task, sequence)?;
            host.progress(number, total, "sequences");
            Ok(execution)
        });
        Ok(ExecutionReport { executions: executions.collect::<Result<_, Failure>>()? })
    }

    fn validate(
        &self,
        _host: &dyn Host,
        task: &EnvironmentOpen,
        plan: &EnvironmentPlan,
    ) -> Result<EnvironmentVerdict, Failure> {
        let (state, execution) = self.run(task, &plan.steps)?;
        let reasons = match execution.refusal {
            Some(reason) => vec![reason],
            None => self.0.missing(&state)?,
        };
        let valid = reasons.is_empty();
        Ok(EnvironmentVerdict {
            valid,
            executed: execution.executed,
            reasons,
            ..EnvironmentVerdict::default()
        })
    }

    fn describe_state(
        &self,
        _host: &dyn Host,
        task: &EnvironmentOpen,
        query: &StateQuery,
    ) -> Result<StateDescription, Failure> {
        let (state, execution) = self.run(task, &query.actions)?;
        match (execution.refusal, &query.focus) {
            (None, None) => self.0.describe(&state),
            (None, Some(next)) => self.0.describe_before(&state, next),
            (Some(reason), _) => Err(Failure::new(
                FailureClass::Request,
                "plugin.environment",
                format!("step {} of the sequence cannot be executed: {reason}", execution.executed + 1),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestHost;

    /// A counter from 0 to 3: `(up)` and `(down)`; the goal is 2.
    struct Counter;
    impl StepEnvironment for Counter {
        type State = u32;
        fn interface(&self, _: &EnvironmentOpen) -> Result<ActionInterface, Failure> {
            Ok(ActionInterface::default())
        }
        fn reset(&self, _: &EnvironmentOpen) -> Result<u32, Failure> {
            Ok(0)
        }
        fn actions(&self, state: &u32) -> Result<Vec<String>, Failure> {
            let mut all = Vec::new();
            if *state < 3 {
                all.push("(up)".to_owned());
            }
            if *state > 0 {
                all.push("(down)".to_owned());
            }
            Ok(all)
        }
        fn step(&self, state: &mut u32, action: &str) -> Result<Result<(), String>, Failure> {
            match (action, *state) {
                ("(up)", 0..3) => *state += 1,
                ("(down)", 1..) => *state -= 1,
                _ => return Ok(Err(format!("{action} at {state}"))),
            }
            Ok(Ok(()))
        }
        fn missing(&self, state: &u32) -> Result<Vec<String>, Failure> {
            Ok(if *state == 2 { vec![] } else { vec![format!("the counter is {state}, not 2")] })
        }
        fn describe(&self, state: &u32) -> Result<StateDescription, Failure> {
            Ok(StateDescription { sentences: vec![format!("The counter is {state}.")], atoms: vec![] })
        }
    }

    fn strings(words: &[&str]) -> Vec<String> {
        words.iter().map(|w| (*w).to_owned()).collect()
    }

    #[test]
    fn walks_are_executable_repeatable_and_use_their_seed() {
        let (env, host, task) = (Stepwise(Counter), TestHost::new(), EnvironmentOpen::default());
        let spec = WalkSpec { lengths: vec![5; 20], seed: 7, ..WalkSpec::default() };
        let walks = env.walks(&host, &task, &spec).unwrap();
        assert_eq!(walks, env.walks(&host, &task, &spec).unwrap());
        assert_ne!(walks, env.walks(&host, &task, &WalkSpec { seed: 8, ..spec }).unwrap());
        let first = walks.walks[0].clone();
        assert!(walks.walks.iter().any(|w| *w != first), "every walk has a stream of its own");
        let report = env.execute(&host, &task, &Sequences { sequences: walks.walks }).unwrap();
        assert!(report.executions.iter().all(|e| e.executed == 5 && e.refusal.is_none()));
    }

    #[test]
    fn coverage_guided_walks_turn_to_what_was_executed_least() {
        let (env, host, task) = (Stepwise(Counter), TestHost::new(), EnvironmentOpen::default());
        let count = |policy, step: &str| {
            let spec =
                WalkSpec { lengths: vec![1; 10].into_iter().chain([4; 200]).collect(), seed: 3, policy };
            let walks = env.walks(&host, &task, &spec).unwrap().walks;
            walks.iter().flatten().filter(|a| *a == step).count()
        };
        let ratio = |policy| count(policy, "(up)") as f64 / count(policy, "(down)") as f64;
        // Every walk begins with `(up)`, and uniform choice goes on upwards as often as down.
        assert!(ratio(WalkPolicy::CoverageGuided) < ratio(WalkPolicy::Uniform), "the rarer step catches up");
        assert!(count(WalkPolicy::CoverageGuided, "(up)") > 0);
    }

    #[test]
    fn a_plan_is_refused_at_its_step_or_for_its_goal() {
        let (env, host, task) = (Stepwise(Counter), TestHost::new(), EnvironmentOpen::default());
        let judge =
            |steps: &[&str]| env.validate(&host, &task, &EnvironmentPlan { steps: strings(steps) }).unwrap();
        assert!(judge(&["(up)", "(up)"]).valid);
        let short = judge(&["(up)"]);
        assert!(!short.valid && short.executed == 1 && short.reasons == ["the counter is 1, not 2"]);
        let refused = judge(&["(up)", "(down)", "(down)"]);
        assert!(!refused.valid && refused.executed == 2 && refused.reasons == ["(down) at 0"]);
        let query = StateQuery { actions: strings(&["(down)"]), ..StateQuery::default() };
        assert!(env.describe_state(&host, &task, &query).unwrap_err().message.contains("step 1"));
    }
}
