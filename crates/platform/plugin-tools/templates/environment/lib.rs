//! {{NAME}}: an environment with one lamp. Walks, executions and verdicts are derived from single steps.
#![forbid(unsafe_code)]

use planforge_plugin_sdk::prelude::*;

/// The options table of the pipeline file. Doc comments are what users read; unknown keys are errors.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(crate = "planforge_plugin_sdk::serde", deny_unknown_fields, default)]
#[schemars(crate = "planforge_plugin_sdk::schemars")]
pub struct Options {
    /// True if the lamp is lit in the initial state.
    pub lit: bool,
}

/// The environment.
#[derive(Debug)]
pub struct NewPlugin(Options);

impl Plugin for NewPlugin {
    type Options = Options;
    fn about() -> About {
        About::new("One lamp that can be switched on and off; the goal is that it is lit")
    }
    fn create(options: Options, _secrets: &Secrets) -> Result<Self, Failure> {
        Ok(Self(options))
    }
}

impl StepEnvironment for NewPlugin {
    type State = bool;

    fn interface(&self, _task: &EnvironmentOpen) -> Result<ActionInterface, Failure> {
        let action = |name: &str| ActionSignature { name: name.to_owned(), parameters: vec![] };
        Ok(ActionInterface { actions: vec![action("switch-on"), action("switch-off")], ..ActionInterface::default() })
    }
    fn reset(&self, _task: &EnvironmentOpen) -> Result<bool, Failure> {
        Ok(self.0.lit)
    }
    fn actions(&self, lit: &bool) -> Result<Vec<String>, Failure> {
        Ok(vec![if *lit { "(switch-off)" } else { "(switch-on)" }.to_owned()])
    }
    fn step(&self, lit: &mut bool, action: &str) -> Result<Result<(), String>, Failure> {
        let wanted = match action {
            "(switch-on)" => true,
            "(switch-off)" => false,
            other => return Ok(Err(format!("there is no action {other}"))),
        };
        if *lit == wanted {
            return Ok(Err(format!("the lamp is {} already", if wanted { "lit" } else { "dark" })));
        }
        *lit = wanted;
        Ok(Ok(()))
    }
    fn missing(&self, lit: &bool) -> Result<Vec<String>, Failure> {
        Ok(if *lit { vec![] } else { vec!["the lamp is not lit".to_owned()] })
    }
    fn describe(&self, lit: &bool) -> Result<StateDescription, Failure> {
        let sentence = format!("The lamp is {}.", if *lit { "lit" } else { "dark" });
        Ok(StateDescription { sentences: vec![sentence], atoms: if *lit { vec!["(lit)".to_owned()] } else { vec![] } })
    }
}

planforge_plugin_sdk::export_plugin!(Environment, Stepwise<NewPlugin>);
