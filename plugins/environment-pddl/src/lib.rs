//! `environment-pddl`: the environment of a task whose reference domain and problem are PDDL. It lists
//! applicable actions, takes random walks, executes sequences, judges plans and describes states. Reasons
//! that depend on its model go to verifiers only.
//!
//! * Walks are uniform over the applicable ground actions of each state, or prefer those executed least. A walk ends at a state without
//!   applicable actions. The same seed gives the same walks on every machine. Walk `i` does not depend on the
//!   number of walks after it; uniform walks depend on no other walk.
//! * An action without effect counts as applicable if its precondition holds, as in STRIPS.
//! * A state is described by the facts and numbers that actions can change, including facts without arguments. If the next action is
//!   named, facts about its objects that do not hold or never change are described too, and first. The suite's sentences
//!   word them; the option `sentences` takes precedence.
//! * Calls keep nothing that an answer depends on; the most recent tasks stay prepared.

mod codes;
mod execute;
mod options;
mod state;
mod world;

pub use codes::CODES;
pub use options::{FactWording, PddlEnvironmentOptions};

use planforge_plugin_common::judging::Deadline;
use planforge_plugin_sdk::prelude::*;
use planforge_plugin_sdk::wording::Wording;

pub struct PddlEnvironment {
    options: PddlEnvironmentOptions,
    /// Sentences of the options, which take precedence over those of the suite.
    wording: Wording,
    worlds: world::Cache,
}

impl Plugin for PddlEnvironment {
    type Options = PddlEnvironmentOptions;

    fn about() -> About {
        About::new("Simulates the reference domain and problem of a task").reference_model()
    }

    fn create(options: PddlEnvironmentOptions, _secrets: &Secrets) -> Result<Self, Failure> {
        let wording = Wording::new(&options.wording());
        Ok(Self { options, wording, worlds: world::Cache::default() })
    }
}

impl PddlEnvironment {
    fn budget<'h>(&self, host: &'h dyn Host) -> Deadline<'h> {
        self.options.limits.deadline(host, 1)
    }
}

impl Environment for PddlEnvironment {
    fn describe(&self, _host: &dyn Host, task: &EnvironmentOpen) -> Result<EnvironmentInfo, Failure> {
        let world = self.worlds.open(task)?;
        Ok(EnvironmentInfo { interface: world.interface(), model: self.options.model.then(|| task.clone()) })
    }

    fn walks(&self, host: &dyn Host, task: &EnvironmentOpen, spec: &WalkSpec) -> Result<Walks, Failure> {
        execute::walks(&mut self.budget(host), &*self.worlds.open(task)?, spec)
    }

    fn execute(
        &self,
        host: &dyn Host,
        task: &EnvironmentOpen,
        sequences: &Sequences,
    ) -> Result<ExecutionReport, Failure> {
        execute::execute(&mut self.budget(host), &*self.worlds.open(task)?, &sequences.sequences)
    }

    fn validate(
        &self,
        host: &dyn Host,
        task: &EnvironmentOpen,
        plan: &EnvironmentPlan,
    ) -> Result<EnvironmentVerdict, Failure> {
        execute::judge(&mut self.budget(host), &*self.worlds.open(task)?, &plan.steps)
    }

    fn describe_state(
        &self,
        host: &dyn Host,
        task: &EnvironmentOpen,
        query: &StateQuery,
    ) -> Result<StateDescription, Failure> {
        let wording = self.wording.or(&task.sentences);
        state::describe(&mut self.budget(host), &*self.worlds.open(task)?, &wording, query)
    }
}

planforge_plugin_sdk::bundle_plugin!(Environment, PddlEnvironment);

#[cfg(test)]
mod tests;
