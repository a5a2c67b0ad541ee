//! The stages of a run's pipeline: their order, and those that only measure.

use planforge_record::RunManifest;

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
