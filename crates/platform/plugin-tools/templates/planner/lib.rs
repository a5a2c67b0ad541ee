//! {{NAME}}: a planner that asks a language model for the steps. Nothing is proven; a verifier judges the plan.
#![forbid(unsafe_code)]

use planforge_plugin_sdk::prelude::*;

/// The options table of the pipeline file. Doc comments are what users read; unknown keys are errors.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(crate = "planforge_plugin_sdk::serde", deny_unknown_fields, default)]
#[schemars(crate = "planforge_plugin_sdk::schemars")]
pub struct Options {
    /// Instructions put before the task.
    pub instructions: String,
}

/// The planner.
#[derive(Debug)]
pub struct NewPlugin(Options);

impl Plugin for NewPlugin {
    type Options = Options;
    fn about() -> About {
        About::new("Asks a language model for the steps").role("planner", "writes the plan")
    }
    fn create(options: Options, _secrets: &Secrets) -> Result<Self, Failure> {
        Ok(Self(options))
    }
}

impl Planner for NewPlugin {
    fn plan(&self, host: &dyn Host, request: &PlanRequest) -> Result<PlanOutcome, Failure> {
        let text = format!(
            "{}\n{}\n\n{}\n\nWrite a plan, one action a line, as (name object ...).",
            self.0.instructions, request.domain, request.problem
        );
        let asked = CompletionRequest { messages: vec![Message::user(text)], ..CompletionRequest::default() };
        let replies = host.complete("planner", asked)?.replies;
        let is_step = |line: &&str| line.starts_with('(') && line.ends_with(')');
        let lines = replies.iter().flat_map(|r| r.content.lines());
        let steps: Vec<String> = lines.map(str::trim).filter(is_step).map(str::to_owned).collect();
        if steps.is_empty() {
            let explanation = vec!["the reply holds no line that is an action".to_owned()];
            return Ok(PlanOutcome::Exhausted { explanation, statistics: SearchStatistics::default() });
        }
        let plans = vec![PlanDocument { steps, ..PlanDocument::default() }];
        Ok(PlanOutcome::Plan { plans, optimal: false, statistics: SearchStatistics::default() })
    }
}

planforge_plugin_sdk::export_plugin!(Planner, NewPlugin);
