//! Lists and atoms laid out within a width.

use std::fmt::Write;

/// Columns a line may take before a list is broken.
const WIDTH: usize = 100;

/// A list or an atom to print.
#[derive(Debug, Clone)]
pub(super) enum Doc {
    /// A single word.
    Word(String),
    /// A list and the columns it takes on one line.
    List(Vec<Doc>, usize),
}

impl Doc {
    pub(super) fn word(text: impl Into<String>) -> Self {
        Doc::Word(text.into())
    }

    pub(super) fn list(items: Vec<Doc>) -> Self {
        let inner: usize = items.iter().map(Doc::width).sum();
        let width = inner + items.len().saturating_sub(1) + 2;
        Doc::List(items, width)
    }

    /// Creates `(head items...)`.
    pub(super) fn with_head(head: &str, items: impl IntoIterator<Item = Doc>) -> Self {
        Doc::list(std::iter::once(Doc::word(head)).chain(items).collect())
    }

    fn width(&self) -> usize {
        match self {
            Doc::Word(word) => word.chars().count(),
            Doc::List(_, width) => *width,
        }
    }

    /// Formats the document on one line.
    pub(super) fn flat(&self) -> String {
        let mut out = String::with_capacity(self.width());
        self.write_flat(&mut out);
        out
    }

    fn write_flat(&self, out: &mut String) {
        match self {
            Doc::Word(word) => out.push_str(word),
            Doc::List(items, _) => {
                out.push('(');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(' ');
                    }
                    item.write_flat(out);
                }
                out.push(')');
            }
        }
    }

    /// From column `column` on, broken where it does not fit.
    pub(super) fn write(&self, column: usize, out: &mut String) {
        let Doc::List(items, width) = self else { return self.write_flat(out) };
        if column + width <= WIDTH {
            return self.write_flat(out);
        }
        out.push('(');
        // The words in front stay on the first line, as does a quantifier's list of variables.
        let words = items.iter().take_while(|item| matches!(item, Doc::Word(_))).count();
        let conjunction = matches!(items.first(), Some(Doc::Word(w)) if w == "and" || w == "or");
        let kept =
            if conjunction || words == 0 { words } else { (words + 1).min(items.len() - 1).max(words) };
        let mut at = column + 1;
        for (index, item) in items.iter().enumerate() {
            if index > 0 && index < kept {
                out.push(' ');
                at += 1;
            } else if index > 0 {
                let _ = write!(out, "\n{:1$}", "", column + 2);
                at = column + 2;
            }
            item.write(at, out);
            at += item.width();
        }
        out.push(')');
    }
}
