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

mod execute;
mod state;
mod world;

use planforge_contract::Sentences;
use planforge_plugin_common::judging::{Deadline, JudgingLimits};
use planforge_plugin_sdk::prelude::*;
use planforge_plugin_sdk::wording::Wording;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub use codes::CODES;

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

/// The codes of this plugin's failures.
mod codes {
    use planforge_diagnostics::{CodeInfo, code_table};

    pub(crate) const NO_REFERENCE: &str = "environment.no-reference";
    pub(crate) const UNREADABLE: &str = "environment.unreadable";
    pub(crate) const UNSUPPORTED: &str = "environment.unsupported";
    pub(crate) const TOO_LARGE: &str = "environment.too-large";
    pub(crate) const STOPPED: &str = "environment.stopped";
    pub(crate) const NOT_EXECUTABLE: &str = "environment.not-executable";

    /// Explanations of the codes.
    pub static CODES: &[CodeInfo] = code_table!("codes.md");
}

#[cfg(test)]
mod tests;

/// Options of `environment-pddl`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PddlEnvironmentOptions {
    /// Lets verifiers read the reference model, so that they can compute exactly. With
    /// `false` the environment is a black box that can only be tried.
    pub model: bool,
    /// Wording of facts: predicate or function name -> sentence, with `{1}`, `{2}`, ... for its arguments and
    /// `{value}` for a function's value; or `{ yes = "...", no = "..." }`, with the second for a fact that
    /// does not hold. These sentences take precedence over the suite's. Facts without a sentence are
    /// described by their name.
    pub sentences: BTreeMap<String, FactWording>,
    /// Limits on each call: walks, executions, the judgement of a plan, the description of a state.
    pub limits: JudgingLimits,
}

/// The wording of one predicate or function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum FactWording {
    /// The sentence for a true fact.
    Yes(String),
    /// The sentences for a true and a false fact.
    Both(Sentences),
}

impl PddlEnvironmentOptions {
    /// The sentences in one form.
    pub(crate) fn wording(&self) -> BTreeMap<String, Sentences> {
        let one = |told: &FactWording| match told {
            FactWording::Yes(yes) => Sentences { yes: yes.clone(), no: String::new() },
            FactWording::Both(both) => both.clone(),
        };
        self.sentences.iter().map(|(name, told)| (name.clone(), one(told))).collect()
    }
}

impl Default for PddlEnvironmentOptions {
    fn default() -> Self {
        Self { model: true, sentences: BTreeMap::new(), limits: JudgingLimits::default() }
    }
}
