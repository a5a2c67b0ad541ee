//! The stages of a run's pipeline, and the metrics by which it chooses, over rounds or samples.

use crate::curve::{CandidateDecision, Curve, ScoredCandidate};
use crate::documents::Tree;
use crate::outline::round_of;
use planforge_record::RunManifest;

/// The most curves of a task.
const MOST_CURVES: usize = 4;

/// The metrics by which stages of a pipeline file compare candidates, in the order of the file, each with
/// true if low values are good.
pub(crate) struct Metrics(Vec<(String, bool)>);

impl Metrics {
    /// Reads them from a pipeline file: every table with `by`, and its `order`.
    pub(crate) fn of_file(text: &str) -> Self {
        let mut found = Vec::new();
        if let Ok(file) = text.parse::<toml::Table>() {
            collect(&file, &mut found);
        }
        Self(found)
    }

    /// The first of them that candidates have.
    pub(crate) fn first(&self, tree: &Tree) -> Option<String> {
        self.0.iter().map(|(metric, _)| metric).find(|metric| tree.metrics.contains_key(*metric)).cloned()
    }

    /// Curves of what the pipeline chooses by, and of walk scores, as far as they have more than one place.
    pub(crate) fn curves(&self, task: &str, tree: &Tree) -> Vec<Curve> {
        let mut names: Vec<&String> = tree.by.iter().chain(self.0.iter().map(|(metric, _)| metric)).collect();
        names.extend(tree.metrics.keys().filter(|metric| metric.ends_with(".score")));
        let mut curves: Vec<Curve> = Vec::new();
        for metric in names {
            if curves.len() < MOST_CURVES && !curves.iter().any(|curve| curve.metric == *metric) {
                curves.extend(self.curve(task, tree, metric));
            }
        }
        curves
    }

    fn curve(&self, task: &str, tree: &Tree, metric: &str) -> Option<Curve> {
        let values = tree.metrics.get(metric)?;
        let label = |place: usize| {
            tree.label
                .get(place)
                .and_then(|label| tree.labels.get(*label as usize))
                .map_or("", String::as_str)
        };
        let over = if tree.labels.iter().any(|label| round_of(label) > 0) { "round" } else { "sample" };
        let stage = metric.split_once('.').map_or("", |(stage, _)| stage);
        let letters = tree.decisions.get(stage).map(|column| column.as_bytes());
        let mut scored = Vec::new();
        for (place, value) in values.iter().enumerate().filter(|(place, _)| !tree.failed.contains_key(place))
        {
            let sample = tree.sample.get(place).copied().unwrap_or_default();
            scored.push(ScoredCandidate {
                path: format!("{task}/{}", label(place)),
                at: if over == "round" { round_of(label(place)) } else { sample + 1 },
                value: *value,
                judged: CandidateDecision::of(letters.and_then(|column| match column.get(place)? {
                    b'a' => Some("accepted"),
                    b'r' => Some("rejected"),
                    b'u' => Some("undecided"),
                    b'c' => Some("not-comparable"),
                    _ => None,
                })),
                answer: tree.answer == Some(place),
            });
        }
        let lowest = self.0.iter().any(|(known, lowest)| known == metric && *lowest);
        Some(Curve::new(metric, over, lowest, scored)).filter(Curve::is_worth_drawing)
    }
}

fn collect(table: &toml::Table, found: &mut Vec<(String, bool)>) {
    if let Some(metric) = table.get("by").and_then(toml::Value::as_str)
        && !found.iter().any(|(known, _)| known == metric)
    {
        let order = table.get("order").and_then(toml::Value::as_str);
        found.push((metric.to_owned(), order == Some("lowest")));
    }
    for value in table.values() {
        match value {
            toml::Value::Table(table) => collect(table, found),
            toml::Value::Array(items) => {
                items.iter().filter_map(toml::Value::as_table).for_each(|table| collect(table, found));
            }
            _ => {}
        }
    }
}

/// Labels of stages in the order of the pipeline file.
#[derive(Default)]
pub(crate) struct FileStages {
    labels: Vec<String>,
    /// Labels of stages with `measure = true`, which do not count for the verdict.
    pub(crate) measured: Vec<String>,
}

impl FileStages {
    /// Reads the pipeline file of a run and its overrides.
    pub(crate) fn of_run(manifest: &RunManifest) -> Self {
        Self::of(&manifest.config.text, manifest.all_overrides())
    }

    fn of(file: &str, overrides: impl IntoIterator<Item = String>) -> Self {
        let mut found = Self::default();
        if let Ok(file) = file.parse::<toml::Table>() {
            found.collect(&file);
        }
        for line in overrides {
            let Some((key, value)) = line.split_once('=') else { continue };
            let label = key.trim().strip_prefix("stage.").and_then(|key| key.strip_suffix(".measure"));
            let Some(label) = label.and_then(|key| key.rsplit('.').next()) else { continue };
            found.measured.retain(|known| known != label);
            if value.trim() == "true" {
                found.measured.push(label.to_owned());
            }
        }
        found
    }

    fn collect(&mut self, table: &toml::Table) {
        if let Some(label) = table.get("label").and_then(toml::Value::as_str) {
            self.labels.push(label.to_owned());
            if table.get("measure").and_then(toml::Value::as_bool) == Some(true) {
                self.measured.push(label.to_owned());
            }
        }
        for value in table.values() {
            match value {
                toml::Value::Table(table) => self.collect(table),
                toml::Value::Array(items) => {
                    items.iter().filter_map(toml::Value::as_table).for_each(|table| self.collect(table));
                }
                _ => {}
            }
        }
    }

    /// Labels in the order of the file; those that it does not name follow.
    pub(crate) fn sorted(&self, stages: &[String]) -> Vec<String> {
        let place = |label: &String| self.labels.iter().position(|known| known == label);
        let mut sorted = stages.to_vec();
        sorted.sort_by_key(|label| place(label).unwrap_or(usize::MAX));
        sorted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn metrics_of_a_pipeline_are_drawn_in_their_direction() {
        let file = "[[stage]]\ndo = \"select\"\nby = \"critique.errors\"\norder = \"lowest\"\n[[stage]]\ndo = \"refine\"\nby = \"ew.score\"\n";
        let metrics = Metrics::of_file(file);
        let tree = Tree {
            labels: vec!["domain".into(), "edit#1".into()],
            label: vec![0, 1, 1],
            sample: vec![0, 0, 1],
            parent: vec![-1, 0, 0],
            decisions: BTreeMap::from([("critique".to_owned(), "ra-".to_owned())]),
            metrics: BTreeMap::from([
                ("critique.errors".to_owned(), vec![Some(3.0), Some(1.0), None]),
                ("other.score".to_owned(), vec![None, Some(0.5), Some(0.25)]),
            ]),
            ..Tree::default()
        };
        assert_eq!(metrics.first(&tree).as_deref(), Some("critique.errors"));
        let curves = metrics.curves("s.p01", &tree);
        assert_eq!(curves.len(), 1, "scores of one round alone are no curve");
        assert_eq!((curves[0].over, curves[0].lowest, curves[0].without), ("round", true, 1));
        assert_eq!(curves[0].best, [(0, 3.0), (1, 1.0)]);
        assert_eq!(curves[0].points[0].judged, CandidateDecision::Rejected);
    }
}

#[cfg(test)]
mod stages_tests {
    use super::*;

    #[test]
    fn stages_are_in_the_order_of_the_file_and_overrides_count() {
        let file = "[[stage]]\nlabel = \"write\"\n[[stage]]\ndo = \"refine\"\nlabel = \"rounds\"\n[[stage.round]]\nlabel = \"critique\"\n\
                    [[stage]]\nlabel = \"ew\"\nmeasure = true\n[[stage]]\nlabel = \"same\"\nmeasure = true\n";
        let overrides = ["stage.ew.measure=false", "stage.rounds.round.critique.measure = true", "seed=1"];
        let stages = FileStages::of(file, overrides.map(str::to_owned));
        assert_eq!(stages.measured, ["same", "critique"]);
        let seen = ["other", "same", "critique", "write"].map(str::to_owned);
        assert_eq!(stages.sorted(&seen), ["write", "critique", "same", "other"]);
    }
}
