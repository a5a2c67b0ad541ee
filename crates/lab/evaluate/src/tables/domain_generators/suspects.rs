//! Replies that are equivalent by their plans and not known to be equal.

use super::table::{ClassColumn, Classes, ListedSuspect};
use crate::results::{ExactResult, Reading};
use crate::table::{Align, Table};

impl Classes {
    /// True unless the action's text equals the reference's; known differences are always listed.
    pub(super) fn is_worth_a_look(&self, listed: &ListedSuspect) -> bool {
        listed.suspect.exact == ExactResult::Different || listed.suspect.error(self.reading) != Some(0)
    }

    /// Equivalent by plans and not known to be equal, over all columns.
    pub(super) fn suspects(
        &self,
        most: usize,
        wanted: impl Fn(&ListedSuspect) -> bool,
        name: impl Fn(&ClassColumn) -> String,
    ) -> Table {
        let mut listed: Vec<(&ClassColumn, &ListedSuspect)> = self
            .columns
            .iter()
            .flat_map(|column| column.suspects.iter().map(move |one| (column, one)))
            .filter(|(_, listed)| wanted(listed))
            .collect();
        listed.sort_by_key(|(_, one)| {
            (one.suspect.exact, std::cmp::Reverse(one.suspect.error(self.reading).unwrap_or(0)))
        });
        let header = [
            "method",
            "domain",
            "action",
            "exactly",
            "ARE name",
            "ARE position",
            "ARE least",
            "replies",
            "seed",
            "shortest difference",
            "reply",
        ];
        let mut table = Table::new(header.map(|name| (name, Align::Left)));
        for (column, one) in listed.into_iter().take(most) {
            let suspect = &one.suspect;
            let error = |reading| suspect.error(reading).map_or("-".to_owned(), |error| error.to_string());
            let [by_name, by_position, least] = Reading::ALL.map(error);
            let difference = suspect.difference.as_ref().map_or("-".to_owned(), |difference| {
                format!("{} ({}, {} one)", difference.steps.join(" "), difference.kind, difference.by)
            });
            table.row([
                name(column),
                one.suite.clone(),
                suspect.action.clone(),
                suspect.exact.name().to_owned(),
                by_name,
                by_position,
                least,
                suspect.times.to_string(),
                one.seed.to_string(),
                difference,
                suspect.path.clone(),
            ]);
        }
        table
    }
}
