//! A table of texts: aligned for a terminal, as Markdown, as CSV.

use std::borrow::Cow;

/// Which side a column's cells stand on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Align {
    /// Words.
    #[default]
    Left,
    /// Numbers.
    Right,
}

/// A table with a header; every row has as many cells as the header.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    header: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    pub fn new<S: Into<String>>(columns: impl IntoIterator<Item = (S, Align)>) -> Self {
        Self {
            header: columns.into_iter().map(|(name, align)| (name.into(), align)).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row. Missing cells are empty, cells beyond the header are left out.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        let mut row: Vec<String> = cells.into_iter().map(Into::into).collect();
        row.resize(self.header.len(), String::new());
        self.rows.push(row);
    }

    /// Whether it has no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Columns separated by two spaces; the header is underlined.
    pub fn text(&self) -> String {
        let widths = self.widths();
        let rule: Vec<String> = widths.iter().map(|w| "-".repeat(*w)).collect();
        let header: Vec<String> = self.header.iter().map(|(name, _)| name.clone()).collect();
        let lines = [&header, &rule].into_iter().chain(&self.rows);
        lines.map(|row| visible(self.padded(row, &widths).join("  ").trim_end()) + "\n").collect()
    }

    /// A Markdown table, padded so that it reads well as text too.
    pub fn markdown(&self) -> String {
        let widths: Vec<usize> = self.widths().iter().map(|w| (*w).max(3)).collect();
        let escape =
            |row: &[String]| -> Vec<String> { row.iter().map(|cell| marked_up(&visible(cell))).collect() };
        let header: Vec<String> = self.header.iter().map(|(name, _)| name.clone()).collect();
        let rule = self.header.iter().zip(&widths).map(|((_, align), w)| match align {
            Align::Left => "-".repeat(*w),
            Align::Right => "-".repeat(w - 1) + ":",
        });
        let mut rows = vec![self.padded(&escape(&header), &widths), rule.collect()];
        rows.extend(self.rows.iter().map(|row| self.padded(&escape(row), &widths)));
        rows.iter().map(|cells| format!("| {} |\n", cells.join(" | "))).collect()
    }

    /// RFC 4180 with line feeds. Texts that a spreadsheet would take for a formula have an apostrophe before them.
    pub fn csv(&self) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let header: Vec<&String> = self.header.iter().map(|(name, _)| name).collect();
        // Rows have the header's length and memory does not refuse bytes, the only ways in which these can fail.
        drop(writer.write_record(header));
        for row in &self.rows {
            drop(writer.write_record(row.iter().map(|cell| inert(cell).into_owned())));
        }
        writer.into_inner().ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
    }

    fn widths(&self) -> Vec<usize> {
        let width = |text: &String| text.chars().count();
        (0..self.header.len())
            .map(|i| {
                self.rows
                    .iter()
                    .map(|row| width(&row[i]))
                    .chain([width(&self.header[i].0)])
                    .max()
                    .unwrap_or(0)
            })
            .collect()
    }

    fn padded(&self, row: &[String], widths: &[usize]) -> Vec<String> {
        row.iter()
            .zip(&self.header)
            .zip(widths)
            .map(|((cell, (_, align)), width)| match align {
                Align::Left => format!("{cell:<width$}"),
                Align::Right => format!("{cell:>width$}"),
            })
            .collect()
    }
}

/// A cell of Markdown. What begins a tag is text, but for cells of code, where it is text already.
pub(crate) fn marked_up(text: &str) -> String {
    let text = text.replace('|', "\\|");
    let code =
        text.len() > 1 && text.starts_with('`') && text.ends_with('`') && text.matches('`').count() == 2;
    if code { text } else { text.replace('<', "\\<") }
}

/// A cell of CSV. A spreadsheet computes what begins like a formula, and names and reasons come from models: an apostrophe makes it text.
/// Numbers stay numbers, and a dash is a dash.
fn inert(cell: &str) -> Cow<'_, str> {
    let formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
    if formula && cell != "-" && cell.parse::<f64>().is_err() {
        Cow::Owned(format!("'{cell}"))
    } else {
        Cow::Borrowed(cell)
    }
}

/// Names come from models, servers and files: what would move the cursor or turn the direction of a terminal's text is replaced.
pub(crate) fn visible(text: &str) -> String {
    let moves = |c: char| c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().map(|c| if moves(c) { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new([("domain", Align::Left), ("score", Align::Right)]);
        table.row(["parcels", "0.5"]);
        table.row(["a|b, \"c\"", "10.25"]);
        table.row(["short"]);
        table
    }

    #[test]
    fn names_from_elsewhere_are_text() {
        let mut table = Table::new([("a<b", Align::Left)]);
        table.row(["<b>`\u{1b}[31m\u{202e}\n"]);
        table.row(["`(< ?a 1)`"]);
        assert_eq!(table.markdown().lines().count(), 4);
        assert!(!table.text().contains('\u{1b}') && !table.text().contains('\u{202e}'));
        for part in ["a\\<b", "\\<b>`\u{fffd}[31m", "`(< ?a 1)`"] {
            assert!(table.markdown().contains(part), "{part}: {}", table.markdown());
        }
        assert!(table.csv().contains("<b>`\u{1b}[31m"), "files hold what it is");
    }

    #[test]
    fn no_cell_of_a_file_is_a_formula() {
        let mut table = Table::new([("name", Align::Left), ("value", Align::Right)]);
        for (name, value) in
            [("=1+1", "-0.5"), ("@SUM(A1)", "+2.5e3"), ("-2+3", "-"), ("+a", "-inf"), ("\t=1", "7")]
        {
            table.row([name, value]);
        }
        assert_eq!(table.csv(), "name,value\n'=1+1,-0.5\n'@SUM(A1),+2.5e3\n'-2+3,-\n'+a,-inf\n'\t=1,7\n");
    }

    #[test]
    fn the_same_cells_in_three_forms() {
        assert_eq!(
            table().text(),
            "domain    score\n--------  -----\nparcels     0.5\na|b, \"c\"  10.25\nshort\n"
        );
        assert_eq!(
            table().markdown(),
            "| domain   | score |\n| -------- | ----: |\n| parcels  |   0.5 |\n| a\\|b, \"c\" | 10.25 |\n| short    |       |\n"
        );
        assert_eq!(table().csv(), "domain,score\nparcels,0.5\n\"a|b, \"\"c\"\"\",10.25\nshort,\n");
    }
}
