//! An estimate as a table for a terminal.

use super::{CellEstimate, Estimate, FutureUse, PaidUse, Progress, Total};
use crate::table::{Align, Table};
use planforge_pipeline::dollars;
use std::collections::BTreeSet;

/// The text for an unknown or unbounded number.
const UNKNOWN: &str = "?";

impl Estimate {
    /// The table, and below it what is not known and what was taken for granted.
    pub fn text(&self) -> String {
        let mut text = self.table().text();
        for note in self.notes() {
            text.push_str(&format!("\n{note}\n"));
        }
        text
    }

    /// A line a cell, and one for all of them.
    pub fn table(&self) -> Table {
        let words = ["suite", "pipeline", "seed", "cell"].map(|name| (name, Align::Left));
        let numbers = [
            "tasks",
            "paid calls",
            "paid",
            "calls now",
            "~tokens in",
            "~cost",
            "calls <=",
            "replies <=",
            "~tokens in <=",
            "~tokens out <=",
            "~cost <=",
        ];
        let mut table = Table::new(words.into_iter().chain(numbers.map(|name| (name, Align::Right))));
        for cell in &self.cells {
            table.row(cell.line());
        }
        if self.cells.len() > 1 {
            table.row(self.total.line());
        }
        table
    }

    /// Remarks beside the figures.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = vec![
            "Certain: replies that are paid for, and calls that can be made now. At most (<=): further calls and replies, by the pipeline \
             file; retries are not included. Estimated (~): tokens and cost."
                .to_owned(),
        ];
        let reply = self.assumptions.reply_tokens;
        notes.push(format!(
            "Estimates: a token for three bytes and 16 a turn; a later request is as long as the longest first one and all replies before \
             it; a reply has {reply} tokens (--reply-tokens), or max_tokens if that is less."
        ));
        let unpriced = self.named(|cell| &cell.unpriced);
        if !unpriced.is_empty() {
            notes.push(format!(
                "price unknown: {} (a key `price = {{ prompt = ..., completion = ... }}` of the table states it; unknown is not free)",
                unpriced.join(", ")
            ));
        }
        let endless = self.named(|cell| &cell.endless);
        if !endless.is_empty() {
            notes.push(format!(
                "replies without a bound on their length: {} (no `max_tokens`)",
                endless.join(", ")
            ));
        } else if let Some(most) = self.total.most.most_completion_tokens.filter(|most| *most > 0) {
            notes.push(format!("Replies cannot be longer than {most} tokens in all (`max_tokens`)."));
        }
        let whys: BTreeSet<&String> = self.cells.iter().flat_map(|cell| &cell.unbounded).collect();
        notes.extend(whys.into_iter().map(|why| format!("no bound on calls: {why}")));
        notes
    }

    fn named(&self, of: fn(&CellEstimate) -> &Vec<String>) -> Vec<String> {
        let name = |cell: &CellEstimate, llm: &String| format!("llm.{llm} of {}", cell.key.column());
        let all: BTreeSet<String> =
            self.cells.iter().flat_map(|cell| of(cell).iter().map(move |llm| name(cell, llm))).collect();
        all.into_iter().collect()
    }
}

impl CellEstimate {
    fn line(&self) -> Vec<String> {
        let key = &self.key;
        let names = [key.suite.clone(), key.column(), key.seed.to_string(), self.progress.name().to_owned()];
        let nothing_left = self.progress == Progress::Finished;
        let figures = figures(&self.paid, &self.now, &self.most, nothing_left);
        names.into_iter().chain([self.tasks.to_string()]).chain(figures).collect()
    }
}

impl Total {
    fn line(&self) -> Vec<String> {
        let names = ["all", "", "", ""].map(str::to_owned);
        let figures = figures(&self.paid, &self.now, &self.most, false);
        names.into_iter().chain([self.tasks.to_string()]).chain(figures).collect()
    }
}

fn figures(paid: &PaidUse, now: &FutureUse, most: &FutureUse, nothing_left: bool) -> Vec<String> {
    let count = |count: Option<u64>| count.map_or(UNKNOWN.to_owned(), |count| count.to_string());
    let usd = |usd: Option<f64>| usd.map_or(UNKNOWN.to_owned(), dollars);
    let spent = if paid.calls == 0 { "-".to_owned() } else { paid.cost.text() };
    let mut figures = vec![paid.calls.to_string(), spent];
    if nothing_left {
        figures.extend(["0", "0", "-", "0", "0", "0", "0", "-"].map(str::to_owned));
        return figures;
    }
    figures.extend([count(now.calls), count(now.estimated_prompt_tokens), usd(now.estimated_usd)]);
    figures.extend([count(most.calls), count(most.replies)]);
    figures.extend([most.estimated_prompt_tokens, most.estimated_completion_tokens].map(count));
    figures.push(usd(most.estimated_usd));
    figures
}
