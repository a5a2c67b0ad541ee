//! Settings of the client.

use serde::Deserialize;
use serde_json::Value;

/// Settings of the client, in `initializationOptions`.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Settings {
    /// Seconds after which planning and validating from a lens end.
    pub(crate) time_limit_seconds: f64,
}

/// The highest time limit that a client can set.
const MAX_SECONDS: f64 = 3600.0;

impl Default for Settings {
    fn default() -> Self {
        Self { time_limit_seconds: 30.0 }
    }
}

impl Settings {
    /// The settings of a client; what cannot be read has its default.
    pub(crate) fn of(options: &Value) -> Self {
        let settings: Self = Self::deserialize(options).unwrap_or_default();
        let seconds = settings.time_limit_seconds;
        let seconds = if seconds.is_finite() && seconds > 0.0 {
            seconds.min(MAX_SECONDS)
        } else {
            Self::default().time_limit_seconds
        };
        Self { time_limit_seconds: seconds }
    }
}
