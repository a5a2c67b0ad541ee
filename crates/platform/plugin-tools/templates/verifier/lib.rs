//! {{NAME}}: a verifier that accepts plans of at most so many steps.
#![forbid(unsafe_code)]

use planforge_plugin_sdk::prelude::*;

/// The options table of the pipeline file. Doc comments are what users read; unknown keys are errors.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(crate = "planforge_plugin_sdk::serde", deny_unknown_fields, default)]
#[schemars(crate = "planforge_plugin_sdk::schemars")]
pub struct Options {
    /// Longest plan that is accepted, in steps.
    pub most_steps: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { most_steps: 20 }
    }
}

/// The verifier.
#[derive(Debug)]
pub struct NewPlugin(Options);

impl Plugin for NewPlugin {
    type Options = Options;
    fn about() -> About {
        About::new("Accepts plans of at most so many steps").metric("steps", "steps of the plan")
    }
    fn create(options: Options, _secrets: &Secrets) -> Result<Self, Failure> {
        Ok(Self(options))
    }
}

impl NewPlugin {
    fn judge(&self, candidate: &Candidate) -> Assessment {
        let Some(plan) = candidate.plan.as_ref().and_then(PlanOutcome::best) else {
            let message = "the candidate has no plan".to_owned();
            let decision = Decision::Undecided { reason: UndecidedReason::MissingInput, message };
            return Assessment::new(decision, "no plan");
        };
        let steps = plan.steps.len();
        let short = steps <= self.0.most_steps;
        let decision = if short { Decision::Accepted } else { Decision::Rejected };
        let mut assessment = Assessment::new(decision, format!("{steps} steps, at most {}", self.0.most_steps));
        assessment.metrics.insert("steps".to_owned(), steps as f64);
        if !short {
            assessment.feedback.push(format!("The plan has {steps} steps; find one of at most {}.", self.0.most_steps));
        }
        assessment
    }
}

impl Verifier for NewPlugin {
    fn verify(&self, _host: &dyn Host, request: &VerifyRequest) -> Result<VerifyResponse, Failure> {
        Ok(VerifyResponse { results: request.candidates.iter().map(|c| Outcome::Ok(self.judge(c))).collect() })
    }
}

planforge_plugin_sdk::export_plugin!(Verifier, NewPlugin);
