//! The result of one attack, and the table of all of them.

use std::collections::BTreeMap;

/// One row of the table.
#[derive(Debug, Default)]
pub(crate) struct Row {
    /// Cases that agreed, or that ended as they must.
    pub(crate) agreed: usize,
    /// Differences with a named reason.
    pub(crate) explained: BTreeMap<String, usize>,
    /// Differences without a reason, each with what is needed to repeat it.
    pub(crate) unexplained: Vec<String>,
    /// Reason why the attack was not run.
    pub(crate) not_run: Option<String>,
    /// Counts that show that the cases are worth comparing.
    pub(crate) counts: BTreeMap<&'static str, usize>,
}

impl Row {
    /// A row of an attack that needs something that is not there.
    pub(crate) fn not_run(reason: &str) -> Self {
        Self { not_run: Some(reason.to_owned()), ..Self::default() }
    }

    pub(crate) fn explain(&mut self, reason: &str) {
        *self.explained.entry(reason.to_owned()).or_default() += 1;
    }

    pub(crate) fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    /// Records one case: an empty list of differences is agreement.
    pub(crate) fn record(&mut self, case: &str, differences: &[String]) {
        if differences.is_empty() {
            self.agreed += 1;
        } else {
            self.unexplained.push(format!("{case}: {}", differences.join("; ")));
        }
    }

    /// All cases: agreed, explained and unexplained.
    pub(crate) fn cases(&self) -> usize {
        self.agreed + self.explained.values().sum::<usize>() + self.unexplained.len()
    }

    /// The row as a line of a Markdown table.
    pub(crate) fn line(&self, name: &str) -> String {
        if let Some(reason) = &self.not_run {
            return format!("| {name} | not run: {reason} | | | |");
        }
        let explained: usize = self.explained.values().sum();
        let unexplained = self.unexplained.len();
        format!("| {name} | {} | {} | {explained} | {unexplained} |", self.cases(), self.agreed)
    }

    /// The reasons, the counts and the first unexplained cases, one a line.
    pub(crate) fn details(&self, name: &str) -> Vec<String> {
        let mut lines: Vec<String> =
            self.explained.iter().map(|(reason, n)| format!("{name}: explained {n}: {reason}")).collect();
        if !self.counts.is_empty() {
            let counts: Vec<String> = self.counts.iter().map(|(what, n)| format!("{n} {what}")).collect();
            lines.push(format!("{name}: {}", counts.join(", ")));
        }
        lines.extend(self.unexplained.iter().take(SHOWN).map(|case| format!("{name}: UNEXPLAINED {case}")));
        lines
    }
}

/// Most unexplained cases printed for a row.
const SHOWN: usize = 10;

/// Head of the table.
pub(crate) const HEAD: &str =
    "| attack | cases | agreed | explained | unexplained |\n|---|---:|---:|---:|---:|";
