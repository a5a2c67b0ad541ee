//! The model tables of a role, and their order for each sample.

use crate::key::derive_u64;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// The models of a role: one name, several in order, or several by weight. Names are those of `[llm.NAME]`
/// tables.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum RoleModels {
    /// One model.
    One(String),
    /// The first is asked, then the next if the one before failed after its retries or reached a cap of its
    /// table.
    Order(#[schemars(length(min = 1), extend("uniqueItems" = true))] Vec<String>),
    /// One is drawn for each sample by these weights, from the run's seed and the sample path. If it fails or
    /// reached a cap, the others are asked by descending weight.
    Weights(
        #[schemars(extend("minProperties" = 1, "additionalProperties" = {"type": "number", "exclusiveMinimum": 0}))]
         BTreeMap<String, f64>,
    ),
}

impl RoleModels {
    /// All tables that may be asked: in their order, or by name if weights decide.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let (one, order, weights) = match self {
            Self::One(name) => (Some(name), None, None),
            Self::Order(names) => (None, Some(names), None),
            Self::Weights(weights) => (None, None, Some(weights)),
        };
        let weights = weights.into_iter().flat_map(|weights| weights.keys());
        one.into_iter().chain(order.into_iter().flatten()).chain(weights).map(String::as_str)
    }

    /// Share of all samples that each table is asked for first, as long as none fails: 1 for the first of an
    /// order, 0 for the others.
    pub fn shares(&self) -> Vec<(&str, f64)> {
        match self {
            Self::Weights(weights) => {
                let total: f64 = weights.values().sum();
                weights.iter().map(|(name, weight)| (name.as_str(), *weight / total)).collect()
            }
            _ => self.names().enumerate().map(|(at, name)| (name, if at == 0 { 1.0 } else { 0.0 })).collect(),
        }
    }

    /// True if there is more than one table.
    pub fn has_several(&self) -> bool {
        self.names().nth(1).is_some()
    }

    /// True if samples of one request may come from different models even if none fails.
    pub fn is_mixed(&self) -> bool {
        matches!(self, Self::Weights(weights) if weights.len() > 1)
    }

    /// Order in which tables are asked for the sample at that path, as positions in [`RoleModels::names`].
    pub(crate) fn order(&self, run_seed: u64, path: &str) -> Vec<usize> {
        let Self::Weights(weights) = self else { return (0..self.names().count()).collect() };
        let shares: Vec<f64> = self.shares().into_iter().map(|(_, share)| share).collect();
        let drawn = draw_table(&shares, derive_u64(run_seed, "mix", path));
        let mut order: Vec<usize> = (0..weights.len()).collect();
        order.sort_by(|a, b| {
            let rank = |at: usize| (at != drawn, shares.get(at).map_or(0.0, |share| -share));
            let ((a_drawn, a_share), (b_drawn, b_share)) = (rank(*a), rank(*b));
            a_drawn.cmp(&b_drawn).then(a_share.total_cmp(&b_share))
        });
        order
    }
}

/// The position that 64 random bits fall on.
fn draw_table(shares: &[f64], random: u64) -> usize {
    // The 53 bits that a floating-point number holds exactly.
    let mut left = (random >> 11) as f64 / (1_u64 << 53) as f64;
    for (at, share) in shares.iter().enumerate() {
        if left < *share {
            return at;
        }
        left -= share;
    }
    // Sums of shares may end a hair below 1.
    shares.len().saturating_sub(1)
}

impl From<&str> for RoleModels {
    fn from(name: &str) -> Self {
        Self::One(name.to_owned())
    }
}

/// `main`; `main, then backup`; `main (3) or backup (1)`.
impl fmt::Display for RoleModels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(name) => f.write_str(name),
            Self::Order(names) => f.write_str(&names.join(", then ")),
            Self::Weights(weights) => {
                let each: Vec<String> =
                    weights.iter().map(|(name, weight)| format!("{name} ({weight})")).collect();
                f.write_str(&each.join(" or "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(toml: serde_json::Value) -> RoleModels {
        serde_json::from_value(toml).unwrap()
    }

    #[test]
    fn a_name_a_list_and_weights_are_told_apart() {
        let one = read("main".into());
        let order = read(serde_json::json!(["main", "backup"]));
        let weights = read(serde_json::json!({"main": 3, "backup": 1.0}));
        for (models, names, text) in [
            (&one, vec!["main"], "main"),
            (&order, vec!["main", "backup"], "main, then backup"),
            (&weights, vec!["backup", "main"], "backup (1) or main (3)"),
        ] {
            assert_eq!(models.names().collect::<Vec<_>>(), names);
            assert_eq!(models.to_string(), text);
            assert_eq!(models.shares().iter().map(|(_, share)| share).sum::<f64>(), 1.0);
            assert_eq!(read(serde_json::to_value(models).unwrap()), *models);
        }
        assert_eq!(weights.shares(), [("backup", 0.25), ("main", 0.75)]);
        assert!(weights.is_mixed() && !order.is_mixed() && order.has_several() && !one.has_several());
    }

    #[test]
    fn draws_keep_to_the_weights_and_the_others_follow_by_weight() {
        let models = read(serde_json::json!({"a": 1, "b": 6, "c": 3}));
        let mut first = [0_u32; 3];
        for sample in 0..20_000 {
            let order = models.order(7, &format!("task/write/0/{sample}"));
            first[order[0]] += 1;
            let rest: &[usize] = match order[0] {
                0 => &[1, 2],
                1 => &[2, 0],
                _ => &[1, 0],
            };
            assert_eq!(order[1..], *rest, "heaviest first");
        }
        // Four standard deviations of a binomial draw.
        for (count, share) in first.into_iter().zip([0.1, 0.6, 0.3]) {
            let (mean, deviation) = (20_000.0 * share, (20_000.0_f64 * share * (1.0 - share)).sqrt());
            assert!((f64::from(count) - mean).abs() < 4.0 * deviation, "{count} of {mean}");
        }
        assert_eq!(models.order(7, "x"), models.order(7, "x"));
        assert!((0..50).any(|seed| models.order(seed, "x") != models.order(7, "x")), "seeds draw otherwise");
    }

    #[test]
    fn the_ends_of_a_draw_fall_on_a_table() {
        assert_eq!(draw_table(&[0.25, 0.75], 0), 0);
        assert_eq!(draw_table(&[0.25, 0.75], u64::MAX), 1);
        assert_eq!(draw_table(&[0.1, 0.2, 0.7 - 1e-16], u64::MAX), 2);
        assert_eq!(draw_table(&[1.0], u64::MAX), 0);
    }
}
