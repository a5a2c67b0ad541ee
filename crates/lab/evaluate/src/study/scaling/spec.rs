//! The sweeps of the study: a TOML file of `[[sweep]]` tables.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The sweeps of a study: a TOML file of `[[sweep]]` tables.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScalingSpec {
    /// The sweeps, in the order of tables and legends.
    #[serde(rename = "sweep")]
    pub sweeps: Vec<Sweep>,
}

/// One line of a figure: a pipeline at several values of one key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sweep {
    /// Its name in tables and legends.
    pub label: String,
    /// The kind of its values, which selects its figure.
    pub of: Swept,
    /// The pipeline file, relative to the spec.
    pub pipeline: String,
    /// The key that takes the values, as `--set` names it.
    pub key: String,
    /// The values, ascending.
    pub values: Vec<u64>,
    /// Further `KEY=VALUE`, the same at every value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<String>,
    /// The pipeline for the value 0, if the swept pipeline cannot have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zero: Option<Zero>,
}

/// The point of a sweep at 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Zero {
    /// The pipeline file, relative to the spec.
    pub pipeline: String,
    /// `KEY=VALUE`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<String>,
}

/// The kind of a sweep's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Swept {
    /// Numbers of samples, N (Fig. 3).
    Samples,
    /// Numbers of rounds, T (Fig. 4 and 5).
    Rounds,
    Budget,
}

impl Swept {
    /// Below the x axis.
    pub(super) const fn axis(self) -> &'static str {
        match self {
            Self::Samples => "N, samples",
            Self::Rounds => "T, rounds",
            Self::Budget => "budget, thousand tokens",
        }
    }
    /// Above a panel.
    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Samples => "Fixed N",
            Self::Rounds => "Fixed T",
            Self::Budget => "Budget",
        }
    }
    /// In the table.
    pub(super) const fn letter(self) -> &'static str {
        match self {
            Self::Samples => "N",
            Self::Rounds => "T",
            Self::Budget => "B",
        }
    }
}

/// One value of a sweep, to be run.
#[derive(Debug, Clone, PartialEq)]
pub struct PointSpec {
    /// The sweep's label.
    pub sweep: String,
    pub value: u64,
    /// The pipeline file, relative to the spec.
    pub pipeline: String,
    /// `KEY=VALUE`.
    pub set: Vec<String>,
}

impl ScalingSpec {
    /// Reads a specification.
    ///
    /// # Errors
    /// Invalid TOML, an unknown table, or every mistake that no run would show, one sentence each.
    pub fn read(text: &str) -> Result<Self, Vec<String>> {
        let spec: Self = toml::from_str(text).map_err(|error| vec![error.to_string()])?;
        spec.check().map(|()| spec)
    }

    fn check(&self) -> Result<(), Vec<String>> {
        let mut wrong = Vec::new();
        let mut labels = BTreeSet::new();
        for sweep in &self.sweeps {
            let label = &sweep.label;
            if !labels.insert(label) {
                wrong.push(format!("two sweeps are called `{label}`"));
            }
            if sweep.values.is_empty() && sweep.zero.is_none() {
                wrong.push(format!("the sweep `{label}` has no values"));
            }
            let ascends = sweep.values.is_sorted_by(|a, b| a < b);
            if !ascends || (sweep.zero.is_some() && sweep.values.first() == Some(&0)) {
                wrong.push(format!("the values of `{label}` must ascend, each once"));
            }
        }
        if self.sweeps.is_empty() {
            wrong.push("no [[sweep]] table".to_owned());
        }
        if wrong.is_empty() { Ok(()) } else { Err(wrong) }
    }

    /// All values of all sweeps, in order.
    pub fn points(&self) -> Vec<PointSpec> {
        self.sweeps.iter().flat_map(Sweep::points).collect()
    }
}

impl Sweep {
    pub(super) fn points(&self) -> Vec<PointSpec> {
        let zero = self.zero.iter().map(|zero| (0, &zero.pipeline, zero.set.clone()));
        let values = self.values.iter().map(|value| {
            let swept = format!("{}={value}", self.key);
            (*value, &self.pipeline, self.set.iter().cloned().chain([swept]).collect())
        });
        let all = zero.chain(values);
        all.map(|(value, pipeline, set)| PointSpec {
            sweep: self.label.clone(),
            value,
            pipeline: pipeline.clone(),
            set,
        })
        .collect()
    }
}
