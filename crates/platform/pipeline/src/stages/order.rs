//! The order of the values of a metric.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// The better end of a metric.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// The highest value is the best.
    #[default]
    Highest,
    /// The lowest value is the best.
    Lowest,
}

impl Order {
    /// True for the default.
    pub const fn is_highest(&self) -> bool {
        matches!(self, Self::Highest)
    }

    /// Compares two values so that the better one comes first; a missing value comes last.
    pub(crate) fn compare(self, a: Option<f64>, b: Option<f64>) -> Ordering {
        match (a, b) {
            (Some(a), Some(b)) => match self {
                Self::Highest => b.total_cmp(&a),
                Self::Lowest => a.total_cmp(&b),
            },
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => Ordering::Equal,
        }
    }
}

/// The words in a pipeline file.
pub(crate) const ORDERS: [(&str, Order); 2] = [("highest", Order::Highest), ("lowest", Order::Lowest)];
