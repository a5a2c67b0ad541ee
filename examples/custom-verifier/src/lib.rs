//! A verifier with rules of its own: how often a plan may use an action.
//!
//! It shows the whole of a plugin: options with documentation and nested tables, a metric, feedback for the model, and the
//! difference between a rejection (a rule is broken) and "undecided" (there is no plan to judge).
#![forbid(unsafe_code)]

use planforge_plugin_sdk::prelude::*;

/// How often one action may be used.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(crate = "planforge_plugin_sdk::serde", deny_unknown_fields)]
#[schemars(crate = "planforge_plugin_sdk::schemars")]
pub struct Limit {
    /// The action's name; case does not matter, as in PDDL.
    pub action: String,
    /// Most uses in one plan.
    pub most: usize,
}

/// The options table of the pipeline file.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(crate = "planforge_plugin_sdk::serde", deny_unknown_fields, default)]
#[schemars(crate = "planforge_plugin_sdk::schemars")]
pub struct Options {
    /// The rules; a plan must keep all of them.
    pub limits: Vec<Limit>,
}

/// The verifier.
#[derive(Debug)]
pub struct UseLimits(Options);

impl Plugin for UseLimits {
    type Options = Options;

    fn about() -> About {
        About::new("Rejects plans that use an action more often than a rule allows")
            .metric("broken_rules", "rules that the plan breaks")
            // Result tables count a plan that breaks a rule as not valid.
            .measures(Measure::PlanValidity)
    }

    fn create(options: Options, _secrets: &Secrets) -> Result<Self, Failure> {
        // A schema cannot say this, so it is checked here: two rules for one action would contradict each other.
        let mut seen = std::collections::BTreeSet::new();
        for limit in &options.limits {
            if !seen.insert(limit.action.to_lowercase()) {
                let text = format!("`{}` has more than one limit", limit.action);
                return Err(
                    Failure::new(FailureClass::Request, "custom.two-limits", text).help("keep one of them")
                );
            }
        }
        Ok(Self(options))
    }
}

impl UseLimits {
    fn judge(&self, candidate: &Candidate) -> Assessment {
        let Some(plan) = candidate.plan.as_ref().and_then(PlanOutcome::best) else {
            let message = "the candidate has no plan".to_owned();
            return Assessment::new(
                Decision::Undecided { reason: UndecidedReason::MissingInput, message },
                "there is no plan to judge",
            );
        };
        let broken: Vec<String> = self.0.limits.iter().filter_map(|limit| broken_rule(limit, plan)).collect();
        let decision = if broken.is_empty() { Decision::Accepted } else { Decision::Rejected };
        let summary = if broken.is_empty() { "every rule is kept".to_owned() } else { broken.join("\n") };
        let mut assessment = Assessment::new(decision, summary);
        assessment.metrics.insert("broken_rules".to_owned(), broken.len() as f64);
        assessment.feedback = broken;
        assessment
    }
}

/// What to say where the plan uses the action too often.
fn broken_rule(limit: &Limit, plan: &PlanDocument) -> Option<String> {
    let name =
        |step: &str| step.trim_start_matches('(').split([' ', ')']).next().unwrap_or_default().to_lowercase();
    let uses = plan.steps.iter().filter(|step| name(step) == limit.action.to_lowercase()).count();
    (uses > limit.most).then(|| {
        format!("The plan uses `{}` {uses} times; at most {} are allowed.", limit.action, limit.most)
    })
}

impl Verifier for UseLimits {
    fn verify(&self, _host: &dyn Host, request: &VerifyRequest) -> Result<VerifyResponse, Failure> {
        let results = request.candidates.iter().map(|candidate| Outcome::Ok(self.judge(candidate)));
        Ok(VerifyResponse { results: results.collect() })
    }
}

planforge_plugin_sdk::export_plugin!(Verifier, UseLimits);
