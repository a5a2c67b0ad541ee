//! `environment-pddl`: the environment of a task whose reference domain and problem are PDDL. It says what can be done,
//! takes random walks, tries sequences, judges plans and tells states; it never says why in terms of its model except to
//! verifiers.
//!
//! * Walks are uniform over the applicable ground actions of each state, or turn to those executed least; a walk that meets a
//!   state without any ends there. The same seed gives the same walks on every machine, and walk `i` does not depend on how many
//!   come after it; uniform ones depend on no other walk.
//! * An action that changes nothing counts as applicable where its precondition holds, as in STRIPS.
//! * A state is told as the facts that actions can change, those without arguments included, and the numbers that they can
//!   change. Where the action that comes next is named, what does not hold of its objects is told too, facts that nothing
//!   changes included. The suite's sentences word them; the option `sentences` goes before these.
//! * Calls keep nothing that an answer could depend on; the last few tasks stay prepared.

mod codes;
mod execute;
mod options;
mod state;
mod world;

pub use codes::CODES;
pub use options::{Options, Told};

use planforge_plugin_sdk::prelude::*;
use planforge_plugin_sdk::wording::Wording;

/// The plugin.
pub struct PddlEnvironment {
    options: Options,
    /// What the options say of sentences; it goes before the suite's.
    wording: Wording,
    worlds: world::Cache,
}

impl Plugin for PddlEnvironment {
    type Options = Options;

    fn about() -> About {
        About::new("Simulates the reference domain and problem of a task").reference_model()
    }

    fn create(options: Options, _secrets: &Secrets) -> Result<Self, Failure> {
        let wording = Wording::new(&options.wording());
        Ok(Self { options, wording, worlds: world::Cache::default() })
    }
}

impl Environment for PddlEnvironment {
    fn describe(&self, _host: &dyn Host, task: &EnvironmentOpen) -> Result<EnvironmentInfo, Failure> {
        let world = self.worlds.open(task)?;
        Ok(EnvironmentInfo { interface: world.interface(), model: self.options.model.then(|| task.clone()) })
    }

    fn walks(&self, host: &dyn Host, task: &EnvironmentOpen, spec: &WalkSpec) -> Result<Walks, Failure> {
        execute::walks(host, &*self.worlds.open(task)?, spec)
    }

    fn execute(
        &self,
        host: &dyn Host,
        task: &EnvironmentOpen,
        sequences: &Sequences,
    ) -> Result<ExecutionReport, Failure> {
        execute::execute(host, &*self.worlds.open(task)?, &sequences.sequences)
    }

    fn validate(
        &self,
        _host: &dyn Host,
        task: &EnvironmentOpen,
        plan: &EnvironmentPlan,
    ) -> Result<EnvironmentVerdict, Failure> {
        execute::judge(&*self.worlds.open(task)?, &plan.steps)
    }

    fn describe_state(
        &self,
        _host: &dyn Host,
        task: &EnvironmentOpen,
        query: &StateQuery,
    ) -> Result<StateDescription, Failure> {
        state::describe(&*self.worlds.open(task)?, &self.wording.or(&task.sentences), query)
    }
}

planforge_plugin_sdk::export_plugin!(Environment, PddlEnvironment);

#[cfg(test)]
mod tests;
