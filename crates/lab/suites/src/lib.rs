//! Suites as material to work on: tasks made from a seed, tasks told in other words, templates made from the reference, and everything that is wrong
//! with a folder in one list, and published descriptions of actions as suites. Reading suites is `planforge-pipeline`'s; nothing here writes a file.

pub mod check;
mod codes;
pub mod generate;
pub mod import_actions;
mod mention;
pub mod obfuscate;
pub mod paraphrase;
pub mod template;

pub use codes::CODES;
