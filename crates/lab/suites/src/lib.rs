//! Operations on suites: tasks from a seed, paraphrased tasks, templates from the reference, checks of a
//! folder, and import of published descriptions of actions. `planforge-pipeline` reads suites; nothing here
//! writes files.

pub mod check;
pub mod codes;
pub mod generate;
pub mod import_actions;
pub mod ladder;
pub mod obfuscate;
pub mod paraphrase;
pub mod reading;
mod rendering;
pub mod template;

pub use codes::CODES;
pub use rendering::{TemplateRenderer, serve_renderings};
