//! Use cases as a front calls them: several in one process, cancelled at any event, with fronts that fail.

// Helpers outside of #[test] are no production code either.
#![allow(clippy::unwrap_used)]

mod consent;
mod reference_pages;
mod runs;
mod tasks;
