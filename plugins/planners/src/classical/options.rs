//! The options of the plugin.

use planforge_plugin_common::judging::Semantics;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The search algorithm.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Search {
    /// Greedy best-first search with h_FF and preferred operators: fast, plans of any cost.
    #[default]
    Greedy,
    /// A* with LM-cut: a plan proven cheapest. Where LM-cut does not apply the search is blind, which the
    /// statistics report.
    Astar,
    /// Breadth-first search: a plan of fewest steps, for small tasks.
    Bfs,
    /// The cheapest plans in order, by cost, then length, then the names of the steps; as many as the plan
    /// stage's `k`. It is used for every `k` above 1, whatever this option is.
    #[serde(rename = "top-k")]
    TopK,
}

/// Options of `planner-classical`. The lower of these limits and those of the plan stage counts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ClassicalPlannerOptions {
    /// The search algorithm: `greedy`, `astar`, `bfs` or `top-k`.
    pub search: Search,
    /// With several plans: how many times the lowest cost a plan may cost, from 1 up. Without it plans may cost anything.
    #[schemars(range(min = 1.0))]
    pub quality: Option<f64>,
    /// With several plans: `strips` or `ground-no-ops-dropped`.
    pub semantics: Semantics,
    /// Most seconds of wall time.
    pub time_limit_s: Option<u32>,
    /// Most mebibytes of memory, as the search accounts for its tables.
    pub memory_limit_mb: Option<u32>,
    /// Most search nodes.
    pub node_limit: Option<u64>,
}
