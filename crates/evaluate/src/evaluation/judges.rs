//! Which stages of a pipeline decide what a table says about it.

use planforge_pipeline::{Pipeline, Stage};
use serde::{Deserialize, Serialize};

/// The stages that decide, and what the pipeline may ask at most.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judges {
    /// The verify stage that says whether a task is solved: the last one that judges plans against the environment, else the last
    /// that judges plans. Without one the task's verdict counts.
    pub solved_by: Option<String>,
    /// The stage that measures exploration walks: the last one of `verifier-ew`.
    pub walk: Option<String>,
    /// The paper's bound on replies; absent where the pipeline refines nothing.
    pub bound: Option<Bound>,
}

/// What `n_p n_d c_max + N` is made of (paper, Appendix B.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bound {
    /// Problem candidates that are refined.
    pub problems: u64,
    /// Domain candidates of a round.
    pub domains: u64,
    /// Rounds.
    pub rounds: u64,
}

impl Bound {
    /// The bound for a suite of so many tasks.
    pub fn replies(&self, tasks: usize) -> u64 {
        self.problems * self.domains * self.rounds + tasks as u64
    }
}

impl Judges {
    /// Finds them.
    pub fn of(pipeline: &Pipeline) -> Self {
        let option = |stage: &&Stage, name: &str, value: &str| {
            stage
                .plugin()
                .is_some_and(|(_, options)| options.get(name).and_then(|v| v.as_str()) == Some(value))
        };
        let label = |stage: &Stage| stage.label().to_owned();
        let verify = || pipeline.stages.iter().rev().filter(|stage| matches!(stage, Stage::Verify(_)));
        let plans = || verify().filter(|stage| option(stage, "what", "plan"));
        Self {
            solved_by: plans()
                .find(|stage| option(stage, "against", "environment"))
                .or_else(|| plans().next())
                .map(label),
            walk: verify().find(|stage| stage.plugin().is_some_and(|(id, _)| id == "verifier-ew")).map(label),
            bound: None,
        }
    }
}
