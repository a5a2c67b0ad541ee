//! The table as files: CSV, Markdown, text and JSON.

use super::table::{ClassRow, Classes, rows};
use crate::artefact::Artefact;
use crate::results::Counts;
use crate::table::{Align, Table};
use planforge_contract::Failure;

impl Classes {
    /// The files that hold it.
    ///
    /// # Errors
    /// `study.plot`: the document has no JSON form.
    pub fn artefacts(&self) -> Result<Vec<Artefact>, Failure> {
        let mut files = Artefact::of_table("classes", [self.csv(), self.markdown(), self.text()], self)?;
        if self.columns.iter().any(|column| !column.suspects.is_empty()) {
            files.push(Artefact::new(
                "classes_suspects.csv",
                self.suspects(usize::MAX, |_| true, |column| self.name(column)).csv(),
            ));
        }
        Ok(files)
    }

    /// One line for each class, over all, by domain, by action, by round, and for whole domains.
    pub fn csv(&self) -> String {
        let header = [
            "model",
            "method",
            "pipeline",
            "description",
            "simulated",
            "size_b",
            "scope",
            "suite",
            "action",
            "round",
            "class",
            "sum",
            "replies",
            "count",
            "percent",
            "prompts_low",
            "prompts_high",
            "trials_low",
            "trials_high",
            "bootstrap_low",
            "bootstrap_high",
        ];
        let mut table = Table::new(header.map(|name| (name, Align::Left)));
        for column in &self.columns {
            let mut put = |scope: &str, suite: &str, action: &str, round: &str, rows: &[ClassRow]| {
                let all: u64 = rows.iter().filter(|row| row.sum).map(|row| row.count).sum();
                for row in rows {
                    let mut line = vec![column.model.clone(), column.method.clone(), column.pipeline.clone()];
                    line.extend([
                        column.description.clone().unwrap_or_default(),
                        column.simulated.to_string(),
                    ]);
                    line.push(column.size.map_or(String::new(), |size| size.to_string()));
                    line.extend([scope, suite, action, round, row.name].map(str::to_owned));
                    line.extend([row.sum.to_string(), all.to_string(), row.count.to_string()]);
                    let four = |value: f64| format!("{value:.4}");
                    line.extend([row.percent, row.prompts.low, row.prompts.high].map(four));
                    // One action alone does not generalise to others.
                    let trials = (scope != "action").then_some(row.actions);
                    line.extend([trials, row.bootstrap].into_iter().flat_map(|interval| {
                        [interval.map(|i| i.low), interval.map(|i| i.high)]
                            .map(|end| end.map_or(String::new(), four))
                    }));
                    table.row(line);
                }
            };
            put("all", "", "", "", &column.rows);
            put("by-position", "", "", "", &column.positional);
            for suite in &column.suites {
                let clusters: Vec<&Counts> = suite.actions.iter().map(|tally| &tally.counts).collect();
                put("suite", &suite.suite, "", "", &rows(&clusters));
                for tally in &suite.actions {
                    put("action", &suite.suite, &tally.action, "", &rows(&[&tally.counts]));
                }
            }
            for (round, rows) in column.rounds.iter().enumerate() {
                put("round", "", "", &round.to_string(), rows);
            }
            put("whole", "", "", "", &column.whole);
        }
        table.csv()
    }
}
