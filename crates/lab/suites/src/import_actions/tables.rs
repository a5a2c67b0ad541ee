//! The tables: one row for each action, with what it does in words.

use super::{Import, LAYOUT_HELP, Text, span};
use crate::codes;
use csv::{ReaderBuilder, StringRecord};
use planforge_diagnostics::{Diagnostic, SourceId, Span};

/// Subject of a text (domain-generators paper, section 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    Base,
    Flipped,
    Random,
}

/// The classes and their tables.
pub(super) const CLASSES: [(Class, &str); 3] =
    [(Class::Base, "Base-HC.csv"), (Class::Flipped, "Flipped-HC.csv"), (Class::Random, "Rand-HC.csv")];

/// The columns to read. `preds` is a summary of the text.
const COLUMNS: [&str; 4] = ["domain", "action", "pddl", "NL"];

#[derive(Debug)]
pub(super) struct Row {
    pub(super) class: Class,
    pub(super) domain: String,
    pub(super) action: String,
    /// The action as PDDL.
    pub(super) pddl: String,
    /// Text of the last column.
    pub(super) text: String,
    pub(super) source: SourceId,
    place: Span,
}

impl Row {
    pub(super) fn error(&self, code: &'static str, message: String) -> Diagnostic {
        Diagnostic::error(code, message).at(self.source, self.place, "")
    }

    pub(super) fn warning(&self, code: &'static str, message: String) -> Diagnostic {
        Diagnostic::warning(code, message).at(self.source, self.place, "")
    }
}

impl Import<'_> {
    /// The rows of all tables. The first table is needed; without the others, texts of their class are made.
    pub(super) fn tables(&mut self) -> Vec<Row> {
        let mut rows = Vec::new();
        for (class, file) in CLASSES {
            let path = format!("domainNL/{file}");
            match self.text(&path) {
                Some(table) => rows.extend(self.table(class, &table)),
                None if class == Class::Base => {
                    let message = format!("{} is not there", self.display_path(&path));
                    self.found.push(Diagnostic::error(codes::LAYOUT, message).help(LAYOUT_HELP));
                }
                None => {}
            }
        }
        rows
    }

    fn table(&mut self, class: Class, table: &Text) -> Vec<Row> {
        let mut reader = ReaderBuilder::new().from_reader(table.text.as_bytes());
        let header = match reader.headers() {
            Ok(header) => header.clone(),
            Err(error) => {
                self.found.push(unreadable(&error, table));
                return Vec::new();
            }
        };
        let column = |name: &str| header.iter().position(|h| h.trim().eq_ignore_ascii_case(name));
        let [Some(domain), Some(action), Some(pddl), Some(words)] = COLUMNS.map(column) else {
            let missing: Vec<&str> = COLUMNS.into_iter().filter(|name| column(name).is_none()).collect();
            let message = format!("the table has no column {}", missing.join(", "));
            let wrong =
                Diagnostic::error(codes::TABLE, message).at(table.source, first_line(&table.text, 0), "");
            self.found.push(wrong.help("its first line is `domain,action,pddl,preds,NL`"));
            return Vec::new();
        };
        let mut rows = Vec::new();
        for record in reader.records() {
            let record = match record {
                Ok(record) => record,
                Err(error) => {
                    self.found.push(unreadable(&error, table));
                    continue;
                }
            };
            let field = |index| record.get(index).unwrap_or_default();
            let row = Row {
                class,
                domain: field(domain).trim().to_owned(),
                action: field(action).trim().to_owned(),
                pddl: field(pddl).to_owned(),
                text: field(words).to_owned(),
                source: table.source,
                place: place(&record, table),
            };
            if row.text.trim().is_empty() {
                let message = format!("the row of action `{}` has no text", row.action);
                self.found.push(
                    row.error(codes::ROW, message).help("write it into the column NL, or leave the row out"),
                );
                continue;
            }
            rows.push(row);
        }
        rows
    }
}

fn place(record: &StringRecord, table: &Text) -> Span {
    let start = record.position().map_or(0, |p| usize::try_from(p.byte()).unwrap_or(usize::MAX));
    first_line(&table.text, start)
}

/// The line that begins at a byte, behind line ends.
fn first_line(text: &str, start: usize) -> Span {
    let rest = text.get(start..).unwrap_or_default();
    let skipped = rest.len() - rest.trim_start_matches(['\r', '\n']).len();
    let line = rest.get(skipped..).and_then(|rest| rest.lines().next()).unwrap_or_default();
    span(start + skipped, line.len())
}

fn unreadable(error: &csv::Error, table: &Text) -> Diagnostic {
    let wrong = Diagnostic::error(codes::TABLE, format!("the table cannot be read: {}", why(error)));
    let start = error.position().map_or(0, |p| usize::try_from(p.byte()).unwrap_or(usize::MAX));
    wrong
        .at(table.source, first_line(&table.text, start), "")
        .help("a field with commas, quotes or line ends stands in quotes, and a quote in it is written twice")
}

fn why(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("the row has {len} fields and the first line {expected_len}")
        }
        _ => error.to_string(),
    }
}
