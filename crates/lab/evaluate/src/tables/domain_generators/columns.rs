//! Names and sums of columns.

use super::table::{ClassColumn, Classes};
use crate::results::{Group, Histogram, Reading, Tally};
use crate::tables::marked_name;

impl Classes {
    /// A column's name: its model, and the parts that distinguish it from others.
    pub(super) fn name(&self, column: &ClassColumn) -> String {
        let differs = |of: fn(&ClassColumn) -> &str| self.columns.iter().any(|other| of(other) != of(column));
        let description = |c: &ClassColumn| c.description.clone().unwrap_or_default();
        let mut parts = vec![column.model.clone()];
        if column.model.is_empty() || differs(|c| &c.method) {
            parts.push(column.method.clone());
        }
        if self.columns.iter().any(|other| description(other) != description(column)) {
            parts.push(description(column));
        }
        parts.retain(|part| !part.is_empty());
        marked_name(&parts.join(" "), column.simulated)
    }

    /// The domains of all columns, each once.
    pub(super) fn suites(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for suite in self.columns.iter().flat_map(|column| &column.suites) {
            if !names.contains(&suite.suite) {
                names.push(suite.suite.clone());
            }
        }
        names
    }
}

impl ClassColumn {
    pub(super) fn tally(&self, suite: &str, action: &str) -> Option<&Tally> {
        let own = self.suites.iter().find(|own| own.suite == suite)?;
        own.actions.iter().find(|tally| tally.action.eq_ignore_ascii_case(action))
    }

    /// The errors of a primary class over all actions.
    pub(super) fn histogram(&self, reading: Reading, group: Group) -> Histogram {
        let mut all = Histogram::new();
        for tally in self.suites.iter().flat_map(|suite| &suite.actions) {
            for (_, own) in
                tally.errors.get(&reading).into_iter().flatten().filter(|(fate, _)| fate.group() == group)
            {
                own.iter().for_each(|(error, n)| *all.entry(*error).or_default() += n);
            }
        }
        all
    }
}
