//! Tests of loaded plugins. The examples of this package are the dynamic libraries of the bundled plugins and of the plugins below, so
//! that `cargo test` builds them and no other command does.
//!
//! The library itself is a planner that hands its work to a child process and misbehaves there as its task's text says.

pub mod misbehave_epoch;
pub mod misbehave_methods;

use planforge_plugin_sdk::prelude::*;

/// None.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(crate = "planforge_plugin_sdk::serde", deny_unknown_fields)]
#[schemars(crate = "planforge_plugin_sdk::schemars")]
pub struct Options {}

/// Sends the task's text to its worker and tells the answer as an explanation.
#[derive(Debug)]
pub struct Delegates;

impl Plugin for Delegates {
    type Options = Options;
    fn about() -> About {
        About::new("Hands its work to a child process")
    }
    fn create(_options: Options, _secrets: &Secrets) -> Result<Self, Failure> {
        Ok(Self)
    }
}

impl Planner for Delegates {
    fn plan(&self, host: &dyn Host, request: &PlanRequest) -> Result<PlanOutcome, Failure> {
        let answer = host.worker(&request.task.task_text)?;
        Ok(PlanOutcome::Exhausted { explanation: vec![answer], statistics: SearchStatistics::default() })
    }

    #[allow(clippy::panic, clippy::exit)]
    fn work(&self, input: &str) -> Result<String, Failure> {
        match input {
            "process" => Ok(std::process::id().to_string()),
            "panic" => panic!("panic in work"),
            "hang" => loop {
                std::thread::sleep(std::time::Duration::from_secs(1));
            },
            "memory" => Ok(vec![1_u8; 8 << 30].len().to_string()),
            "stack" => Ok(sum(u64::MAX).to_string()),
            "output" => Ok("x".repeat(1 << 20)),
            "exit" => std::process::exit(7),
            "give up" => Err(Failure::new(FailureClass::Limit, "test.limit", "too much")),
            "fail" => Err(Failure::new(FailureClass::Request, "test.fail", "not this")),
            other => Ok(other.to_uppercase()),
        }
    }
}

/// Takes a piece of stack for each number.
fn sum(n: u64) -> u64 {
    if n == 0 { 0 } else { std::hint::black_box(sum(n - 1)).wrapping_add(n) }
}

planforge_plugin_sdk::bundle_plugin!(Planner, Delegates);
