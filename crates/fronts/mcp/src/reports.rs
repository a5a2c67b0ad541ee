//! Reports of runs, kept for the connection.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// Most reports that are kept.
const MOST_REPORTS: usize = 20;

/// The URI of reports, before their number.
pub(crate) const REPORTS: &str = "planforge://runs/";

/// The newest reports, with their numbers.
#[derive(Debug, Default)]
pub(crate) struct Reports(Mutex<(u64, VecDeque<(u64, String)>)>);

impl Reports {
    /// Keeps a report and returns its URI.
    pub(crate) fn add(&self, text: String) -> String {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.0 += 1;
        let number = kept.0;
        kept.1.push_back((number, text));
        if kept.1.len() > MOST_REPORTS {
            kept.1.pop_front();
        }
        format!("{REPORTS}{number}")
    }

    /// The URIs of the kept reports, oldest first.
    pub(crate) fn uris(&self) -> Vec<String> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.1.iter().map(|(number, _)| format!("{REPORTS}{number}")).collect()
    }

    /// A report by its number in text.
    pub(crate) fn get(&self, number: &str) -> Option<String> {
        let number: u64 = number.parse().ok()?;
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.1.iter().find(|(kept, _)| *kept == number).map(|(_, text)| text.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_reports_are_kept() {
        let reports = Reports::default();
        let uris: Vec<String> = (0..25).map(|n| reports.add(n.to_string())).collect();
        assert_eq!(reports.uris(), uris[5..]);
        assert_eq!(reports.get("25").as_deref(), Some("24"));
        assert_eq!(reports.get("1"), None);
        assert_eq!(reports.get("x"), None);
    }
}
