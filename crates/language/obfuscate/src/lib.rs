//! Suites under other names: what a model may have read of a domain is taken away, and what the domain means stays.
//!
//! Models know the benchmark domains by heart. The same task under other names tells memory from reasoning (PlanBench's "Mystery
//! Blocksworld"). A [`Disguise`] belongs to a suite and a seed: it renames domains, problems, knowledge and texts in one way, and puts
//! declarations, facts and conditions in another order. The [`Renaming`] is the way back.
//!
//! What is exchanged are the words that names are made of: `stands-on`, `on-table` and `block1` have `stand`, `table` and `block`, and so
//! `stands on`, `the table` and `Blocks` of the texts go with them in the same form. Function words (`on`, `at`, `not`) stay everywhere.

mod disguise;
mod lexicon;
mod options;
mod order;
mod program;
mod renaming;
mod text;
mod words;

pub use disguise::{Disguise, Sources};
pub use options::{Kind, Names, Options};
pub use renaming::{Back, Renaming};
