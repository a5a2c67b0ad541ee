//! The workspace's table printer: text for a terminal, Markdown and CSV.

use comfy_table::{CellAlignment, ColumnConstraint, ContentLineStyle, TableStyle, Width};
use std::borrow::Cow;

/// The most display columns of a line of text, unless a single word is longer.
const TEXT_WIDTH: usize = 80;
/// Spaces between two columns of text.
const GAP: u16 = 2;

/// The alignment of a column's cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Align {
    /// For words.
    #[default]
    Left,
    /// For numbers.
    Right,
}

/// A table with a header; every row has as many cells as the header.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    header: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Creates a table without rows.
    pub fn new<S: Into<String>>(columns: impl IntoIterator<Item = (S, Align)>) -> Self {
        Self {
            header: columns.into_iter().map(|(name, align)| (name.into(), align)).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row. Missing cells are empty; cells beyond the header are dropped.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        let mut row: Vec<String> = cells.into_iter().map(Into::into).collect();
        row.resize(self.header.len(), String::new());
        self.rows.push(row);
    }

    pub fn header(&self) -> impl Iterator<Item = &str> {
        self.header.iter().map(|(name, _)| name.as_str())
    }

    pub fn rows(&self) -> &[Vec<String>] {
        &self.rows
    }

    /// True if the table has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Columns separated by two spaces, with an underlined header, for a terminal of 80 columns. Long headers and cells of words continue
    /// on the next line. If that does not suffice, each row becomes its first cell and a list of the others.
    pub fn text(&self) -> String {
        match self.text_widths() {
            Err(_) if self.header.len() > 2 => {
                let list = self.list();
                let (Ok(widths) | Err(widths)) = list.text_widths();
                list.text_of(&widths)
            }
            Ok(widths) | Err(widths) => self.text_of(&widths),
        }
    }

    fn text_of(&self, widths: &[u16]) -> String {
        let rule = |width, _| "-".repeat(width);
        self.layout(comfy_table::presets::NOTHING, (0, GAP), visible, rule, Some(widths))
    }

    /// The widths of columns in a text of [`TEXT_WIDTH`]; the error has the least widths, which are too wide. Headers are split first, then
    /// words of cells. Numbers are never split.
    fn text_widths(&self) -> Result<Vec<u16>, Vec<u16>> {
        let total = |widths: &[u16]| -> usize {
            let gaps = usize::from(GAP) * widths.len().saturating_sub(1);
            widths.iter().copied().map(usize::from).sum::<usize>() + gaps
        };
        let mut widths = self.content_widths(false, false);
        for least in [self.content_widths(true, false), self.content_widths(true, true)] {
            while total(&widths) > TEXT_WIDTH {
                let can_shrink = widths.iter_mut().zip(&least).filter(|(width, least)| **width > **least);
                let Some(widest) = can_shrink.map(|(width, _)| width).max() else { break };
                *widest -= 1;
            }
        }
        if total(&widths) <= TEXT_WIDTH { Ok(widths) } else { Err(widths) }
    }

    /// The display widths of columns: of whole headers and cells, or of their longest word.
    fn content_widths(&self, split_headers: bool, split_words: bool) -> Vec<u16> {
        let form = |text: &str, is_split: bool| match is_split {
            true => visible(text).replace(' ', "\n"),
            false => visible(text),
        };
        let mut table = comfy_table::Table::new();
        table.add_row(self.header.iter().map(|(name, _)| form(name, split_headers)));
        for row in &self.rows {
            let cells = row.iter().zip(&self.header);
            table.add_row(cells.map(|(cell, (_, align))| form(cell, split_words && *align == Align::Left)));
        }
        table.column_max_content_widths()
    }

    /// A table of two columns: the first one, and a list of the other cells with their columns' names.
    fn list(&self) -> Self {
        let names: Vec<&str> = self.header.iter().map(|(name, _)| name.as_str()).collect();
        let mut list = Self::new(names.iter().take(1).chain([&""]).map(|name| (*name, Align::Left)));
        for row in &self.rows {
            let others = names.iter().zip(row).skip(1).filter(|(_, cell)| !cell.is_empty());
            let others: Vec<String> = others.map(|(name, cell)| format!("{name}: {cell}")).collect();
            list.row(row.iter().take(1).cloned().chain([others.join("; ")]));
        }
        list
    }

    /// A Markdown table, padded so that it reads well as text too.
    pub fn markdown(&self) -> String {
        let style = TableStyle::new().content_lines(ContentLineStyle::new('|', '|', '|'));
        let rule = |width: usize, align| match align {
            Align::Left => "-".repeat(width.max(3)),
            Align::Right => "-".repeat(width.max(3) - 1) + ":",
        };
        self.layout(style, (1, 1), |cell| marked_up(&visible(cell)), rule, None)
    }

    /// Pads columns by display width, with `rule(width, align)` below the header. Cells wider than their column in `widths` continue on the
    /// next line.
    fn layout(
        &self,
        style: TableStyle,
        padding: (u16, u16),
        cell: impl Fn(&str) -> String,
        rule: impl Fn(usize, Align) -> String,
        widths: Option<&[u16]>,
    ) -> String {
        let mut table = comfy_table::Table::new();
        table.load_style(style);
        let header: Vec<String> = self.header.iter().map(|(name, _)| cell(name)).collect();
        let rows: Vec<Vec<String>> =
            self.rows.iter().map(|row| row.iter().map(|text| cell(text)).collect()).collect();
        // The rule is a row, so its widths come from a table that has all other rows.
        table.add_row(&header).add_rows(&rows);
        let rule_widths = widths.map_or_else(|| table.column_max_content_widths(), <[u16]>::to_vec);
        let rules = self.header.iter().zip(rule_widths).map(|((_, align), width)| rule(width.into(), *align));
        let mut table = comfy_table::Table::new();
        table.load_style(style).add_row(&header).add_row(rules).add_rows(&rows);
        for (at, (column, (_, align))) in table.column_iter_mut().zip(&self.header).enumerate() {
            if let Some(width) = widths.and_then(|widths| widths.get(at)) {
                let width = Width::Fixed(width.saturating_add(padding.0 + padding.1));
                column.set_constraint(ColumnConstraint::Absolute(width));
            }
            column.set_padding(padding).set_cell_alignment(match align {
                Align::Left => CellAlignment::Left,
                Align::Right => CellAlignment::Right,
            });
        }
        table.trim_fmt() + "\n"
    }

    /// RFC 4180 with line feeds. An apostrophe precedes cells that a spreadsheet would read as formulas.
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
}

/// Escapes a cell for Markdown. `<` needs no escape inside code.
pub(crate) fn marked_up(text: &str) -> String {
    let text = text.replace('|', "\\|");
    let code =
        text.len() > 1 && text.starts_with('`') && text.ends_with('`') && text.matches('`').count() == 2;
    if code { text } else { text.replace('<', "\\<") }
}

/// Escapes a cell for CSV. Names and reasons come from models, and a spreadsheet computes cells that start like a formula: an apostrophe
/// turns them into text. Numbers and a single dash stay as they are.
fn inert(cell: &str) -> Cow<'_, str> {
    let formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
    if formula && cell != "-" && cell.parse::<f64>().is_err() {
        Cow::Owned(format!("'{cell}"))
    } else {
        Cow::Borrowed(cell)
    }
}

/// Replaces characters that move the cursor or change the text direction. Names come from models, servers and files.
pub(crate) fn visible(text: &str) -> String {
    let moves = |c: char| c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().map(|c| if moves(c) { '\u{fffd}' } else { c }).collect()
}

/// Prose in lines of at most 80 display columns, unless a single word is longer. Lines of tables, which have two spaces between columns, stay.
pub fn wrapped(text: &str) -> String {
    let line = |line: &str| {
        let mut words = comfy_table::Table::new();
        words.add_row([line.replace(' ', "\n")]);
        let longest = words.column_max_content_widths().into_iter().max().unwrap_or_default();
        let width = Width::Fixed(longest.max(TEXT_WIDTH as u16));
        let mut table = comfy_table::Table::new();
        table.load_style(comfy_table::presets::NOTHING).add_row([line]);
        for column in table.column_iter_mut() {
            column.set_padding((0, 0)).set_constraint(ColumnConstraint::Absolute(width));
        }
        table.trim_fmt()
    };
    let lines = text.lines().map(|own| match own.len() <= TEXT_WIDTH || own.contains("  ") {
        true => own.to_owned() + "\n",
        false => line(own) + "\n",
    });
    lines.collect()
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
    fn prose_is_wrapped_and_tables_are_not() {
        let words = ["solved"; 13].join(" ");
        assert_eq!(wrapped(&words), format!("{}\n{}\n", ["solved"; 11].join(" "), "solved solved"));
        let row = format!("suite  {}", "a".repeat(100));
        let path = format!("see {}", "b".repeat(100));
        assert_eq!(wrapped(&format!("{row}\n\n{path}")), format!("{row}\n\nsee\n{}\n", "b".repeat(100)));
    }

    #[test]
    fn columns_of_wide_characters_are_aligned() {
        let mut table = Table::new([("操作", Align::Left), ("数量", Align::Right)]);
        table.row(["移动", "7"]);
        table.row(["load-truck", "10"]);
        assert_eq!(table.text(), "操作        数量\n----------  ----\n移动           7\nload-truck    10\n");
        assert_eq!(
            table.markdown(),
            "| 操作       | 数量 |\n| ---------- | ---: |\n| 移动       |    7 |\n| load-truck |   10 |\n"
        );
    }

    #[test]
    fn a_table_that_is_too_wide_for_a_terminal_has_shorter_columns_or_becomes_a_list() {
        let mut long =
            Table::new([("option", Align::Left), ("mean seconds", Align::Right), ("meaning", Align::Left)]);
        long.row(["most_steps", "-1 to 12.5", &["a plan of more steps is rejected"; 5].join(" ")]);
        assert_eq!(
            long.text(),
            "option            mean  meaning\n\
             \x20              seconds\n\
             ----------  ----------  --------------------------------------------------------\n\
             most_steps  -1 to 12.5  a plan of more steps is rejected a plan of more steps is\n\
             \x20                       rejected a plan of more steps is rejected a plan of more\n\
             \x20                       steps is rejected a plan of more steps is rejected\n"
        );
        let names = (1..=9).map(|number| format!("method-{number}"));
        let columns = names.map(|name| (name, Align::Right));
        let mut wide = Table::new([("suite".to_owned(), Align::Left)].into_iter().chain(columns));
        wide.row(["parcels"].into_iter().chain(["0.25"; 8]).map(str::to_owned));
        assert_eq!(
            wide.text(),
            "suite\n\
             -------  -----------------------------------------------------------------------\n\
             parcels  method-1: 0.25; method-2: 0.25; method-3: 0.25; method-4: 0.25;\n\
             \x20        method-5: 0.25; method-6: 0.25; method-7: 0.25; method-8: 0.25\n"
        );
        assert!(
            wide.markdown().starts_with("| suite   | method-1 |")
                && wide.csv().starts_with("suite,method-1,")
        );
        let word = "x".repeat(100);
        let mut unbreakable = Table::new(["path", "name"].map(|name| (name, Align::Left)));
        unbreakable.row([&word, "a"]);
        assert!(unbreakable.text().contains(&format!("\n{word}  a\n")), "{}", unbreakable.text());
    }

    #[test]
    fn names_from_models_are_printed_as_text() {
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
    fn csv_cells_are_never_formulas() {
        let mut table = Table::new([("name", Align::Left), ("value", Align::Right)]);
        for (name, value) in
            [("=1+1", "-0.5"), ("@SUM(A1)", "+2.5e3"), ("-2+3", "-"), ("+a", "-inf"), ("\t=1", "7")]
        {
            table.row([name, value]);
        }
        assert_eq!(table.csv(), "name,value\n'=1+1,-0.5\n'@SUM(A1),+2.5e3\n'-2+3,-\n'+a,-inf\n'\t=1,7\n");
    }

    #[test]
    fn text_markdown_and_csv_hold_the_same_cells() {
        assert_eq!(
            table().text(),
            "domain    score\n--------  -----\nparcels     0.5\na|b, \"c\"  10.25\nshort\n"
        );
        assert_eq!(
            table().markdown(),
            "| domain    | score |\n| --------- | ----: |\n| parcels   |   0.5 |\n| a\\|b, \"c\" | 10.25 |\n| short     |       |\n"
        );
        assert_eq!(table().csv(), "domain,score\nparcels,0.5\n\"a|b, \"\"c\"\"\",10.25\nshort,\n");
    }
}
