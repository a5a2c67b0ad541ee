//! What a pipeline file may set.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How to search.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Search {
    /// Greedy best-first search with h_FF and preferred operators: fast, plans of any cost.
    #[default]
    Greedy,
    /// A* with LM-cut: a plan proven cheapest. Where LM-cut does not apply the search is blind, and the statistics say so.
    Astar,
    /// Breadth-first search: a plan of fewest steps, for small tasks.
    Bfs,
}

/// Options of `planner-classical`. Limits of the plan stage hold beside these; the lower one counts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// How to search: `greedy`, `astar` or `bfs`.
    pub search: Search,
    /// Most seconds of wall time.
    pub time_limit_s: Option<u32>,
    /// Most mebibytes of memory, as the search accounts for its tables.
    pub memory_limit_mb: Option<u32>,
    /// Most nodes.
    pub node_limit: Option<u64>,
}
