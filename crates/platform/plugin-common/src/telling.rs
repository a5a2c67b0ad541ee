//! Plans, refusals and differences between domains in sentences: with the suite's sentences (`sentences.toml`), else from the names.

mod condition;
mod difference;
mod plan;

pub use condition::{condition_clause, effect_clause};
pub use difference::tell_differences;
pub use plan::{Refusal, StepInWords, ToldPlan, UnmetNeed, tell_plan};
