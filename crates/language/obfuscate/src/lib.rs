//! Suites under other names: the meaning of a domain stays, everything that a model may remember of it
//! changes.
//!
//! Models know the benchmark domains by heart. The same task under other names separates memory from
//! reasoning (PlanBench's "Mystery Blocksworld"). A [`Disguise`] belongs to a suite and a seed: it renames
//! domains, problems, knowledge and texts consistently, and reorders declarations, facts and conditions. A
//! [`Renaming`] is the way back.
//!
//! The words in names are replaced: `stands-on`, `on-table` and `block1` contain `stand`, `table` and
//! `block`, and so `stands on`, `the table` and `Blocks` in texts change with them in the same form. Function
//! words (`on`, `at`, `not`) stay.

mod disguise;
mod invent;
mod lexicon;
mod options;
mod renaming;
mod text;
mod words;

pub use disguise::Disguise;
pub use options::{DisguiseOptions, NameGroup, NameStyle, Sources};
pub use renaming::{Back, Renaming};
