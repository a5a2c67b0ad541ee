//! Explanations for `planforge explain CODE`. Each crate keeps those of its codes in a file `codes.md`, which [`code_table`] reads when the
//! crate is compiled; the application layer chains the tables.

/// The long explanation of one diagnostic code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodeInfo {
    pub code: &'static str,
    pub title: &'static str,
    /// Meaning, an example that triggers the code, and a remedy. Plain text, several lines.
    pub explanation: &'static str,
}

/// The entry of that code in any of the tables.
pub fn find_code<'a>(tables: &[&'a [CodeInfo]], code: &str) -> Option<&'a CodeInfo> {
    tables.iter().flat_map(|t| t.iter()).find(|c| c.code == code)
}

/// The `&'static [CodeInfo]` of a Markdown file beside the source file: each line `## CODE: TITLE` begins an entry, and the text below is its
/// explanation. Headings that follow each other share one. Anything above the first heading is left out.
#[macro_export]
macro_rules! code_table {
    ($file:literal) => {{
        const TEXT: &str = include_str!($file);
        const TABLE: &[$crate::CodeInfo] = &$crate::read_codes::<{ $crate::count_codes(TEXT) }>(TEXT);
        TABLE
    }};
}

/// The number of entries of a text, for [`code_table`].
#[doc(hidden)]
pub const fn count_codes(text: &str) -> usize {
    let (mut count, mut at) = (0, 0);
    while at < text.len() {
        if is_heading(text, at) {
            count += 1;
        }
        at = end_of_line(text, at);
    }
    count
}

/// The entries of a text, for [`code_table`]. A heading without `: ` does not compile.
#[doc(hidden)]
pub const fn read_codes<const N: usize>(text: &'static str) -> [CodeInfo; N] {
    let mut all = [CodeInfo { code: "", title: "", explanation: "" }; N];
    let (mut count, mut at) = (0, 0);
    while at < text.len() {
        let end = end_of_line(text, at);
        if !is_heading(text, at) {
            at = end;
            continue;
        }
        let mut colon = at;
        while !(text.as_bytes()[colon] == b':' && text.as_bytes()[colon + 1] == b' ') {
            colon += 1;
            assert!(colon < end, "a heading has no `: `");
        }
        let mut next = end;
        while next < text.len() && !is_heading(text, next) {
            next = end_of_line(text, next);
        }
        all[count] = CodeInfo {
            code: part(text, at + 3, colon),
            title: part(text, colon + 2, end),
            explanation: part(text, end, next),
        };
        count += 1;
        at = next;
    }
    // Headings without a text share that of the next one.
    while count > 1 {
        count -= 1;
        if all[count - 1].explanation.is_empty() {
            all[count - 1].explanation = all[count].explanation;
        }
    }
    all
}

/// The place behind the end of the line.
const fn end_of_line(text: &str, from: usize) -> usize {
    let mut at = from;
    while at < text.len() && text.as_bytes()[at] != b'\n' {
        at += 1;
    }
    if at < text.len() { at + 1 } else { at }
}

/// True if a line begins at that place and is a heading.
const fn is_heading(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    at + 3 < bytes.len() && bytes[at] == b'#' && bytes[at + 1] == b'#' && bytes[at + 2] == b' '
}

/// The text between two places, without line ends around it.
const fn part(text: &'static str, from: usize, to: usize) -> &'static str {
    let (mut from, mut to) = (from, to);
    while from < to && text.as_bytes()[from] == b'\n' {
        from += 1;
    }
    while from < to && text.as_bytes()[to - 1] == b'\n' {
        to -= 1;
    }
    text.split_at(to).0.split_at(from).1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_entry_by_entry() {
        const TEXT: &str = "Codes.\n\n## a.one: first: with a colon\n\nText.\n\n    ## an example\n\nMore.\n## a.two: second\n## a.three: third\nShared.";
        const TABLE: [CodeInfo; count_codes(TEXT)] = read_codes(TEXT);
        let entries = TABLE.map(|info| (info.code, info.title, info.explanation));
        let expected = [
            ("a.one", "first: with a colon", "Text.\n\n    ## an example\n\nMore."),
            ("a.two", "second", "Shared."),
            ("a.three", "third", "Shared."),
        ];
        assert_eq!(entries, expected);
    }
}
