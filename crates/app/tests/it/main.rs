//! Use cases as a front calls them: several in one process, cancelled at any event, with fronts that fail.

mod runs;
