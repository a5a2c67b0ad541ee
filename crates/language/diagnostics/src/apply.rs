//! Applying fixes to the text they were made for.

use crate::{Fix, SourceId};
use serde::Serialize;

/// The reason why a fix was not applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FixError {
    /// It changes bytes that an earlier fix of the list changes too.
    Overlap {
        /// The position of that earlier fix in the list.
        with: usize,
    },
    /// A span ends beyond the text or cuts a character in two.
    OutOfRange,
    /// It changes another source.
    OtherSource,
}

impl std::fmt::Display for FixError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Overlap { with } => write!(f, "overlaps fix {with}"),
            Self::OutOfRange => f.write_str("does not fit the text"),
            Self::OtherSource => f.write_str("changes another source"),
        }
    }
}

impl std::error::Error for FixError {}

/// The outcome of [`apply_fixes`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    pub text: String,
    /// Positions, in the list given, of the fixes that were applied.
    pub applied: Vec<usize>,
    /// Positions of those that were not, and why. None is applied in part.
    pub skipped: Vec<(usize, FixError)>,
}

/// Applies fixes that were made for `text`, which is the source `source`.
///
/// Earlier fixes win over later ones that overlap them. Insertions at one place do not overlap; they are
/// applied in order.
pub fn apply_fixes(text: &str, source: SourceId, fixes: &[Fix]) -> Applied {
    let mut taken: Vec<(usize, usize, usize, &str)> = Vec::new();
    let (mut applied, mut skipped) = (Vec::new(), Vec::new());
    for (index, fix) in fixes.iter().enumerate() {
        match edits_of(text, source, index, fix, &taken) {
            Ok(edits) => {
                taken.extend(edits);
                applied.push(index);
            }
            Err(error) => skipped.push((index, error)),
        }
    }
    // The sort is stable, so insertions at one place keep the order of the list.
    taken.sort_by_key(|(start, end, ..)| (*start, *end));
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for (start, end, _, replacement) in taken {
        out.push_str(&text[copied..start]);
        out.push_str(replacement);
        copied = end;
    }
    out.push_str(&text[copied..]);
    Applied { text: out, applied, skipped }
}

/// A fix's edits as (start, end, fix, replacement), if none of them conflicts with the edits in `taken`.
fn edits_of<'a>(
    text: &str,
    source: SourceId,
    index: usize,
    fix: &'a Fix,
    taken: &[(usize, usize, usize, &'a str)],
) -> Result<Vec<(usize, usize, usize, &'a str)>, FixError> {
    let mut edits: Vec<(usize, usize, usize, &str)> = Vec::with_capacity(fix.edits.len());
    for edit in &fix.edits {
        if edit.source != source {
            return Err(FixError::OtherSource);
        }
        let (start, end) = (edit.span.start as usize, edit.span.end as usize);
        if start > end || text.get(start..end).is_none() {
            return Err(FixError::OutOfRange);
        }
        let overlaps = |&&(s, e, ..): &&(usize, usize, usize, &str)| {
            // Two ranges with a byte in common, or an insertion strictly inside a range.
            start < e && s < end
        };
        if let Some((_, _, with, _)) = taken.iter().chain(&edits).find(overlaps) {
            return Err(FixError::Overlap { with: *with });
        }
        edits.push((start, end, index, edit.replacement.as_str()));
    }
    Ok(edits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Edit, Span};

    fn fix(edits: &[(u32, u32, &str)]) -> Fix {
        let edits = edits.iter().map(|(start, end, text)| Edit {
            source: SourceId(0),
            span: Span::new(*start, *end),
            replacement: (*text).to_owned(),
        });
        Fix { title: "change".to_owned(), edits: edits.collect() }
    }

    #[test]
    fn edits_are_made_in_the_order_of_the_text() {
        let fixes = [fix(&[(4, 5, "E")]), fix(&[(0, 1, "A"), (2, 2, "+")])];
        let done = apply_fixes("abcdef", SourceId(0), &fixes);
        assert_eq!(done.text, "Ab+cdEf");
        assert_eq!(done.applied, [0, 1]);
        assert!(done.skipped.is_empty());
    }

    #[test]
    fn of_two_overlapping_fixes_the_first_is_made_and_the_other_not_even_in_part() {
        let fixes = [fix(&[(1, 4, "X")]), fix(&[(0, 1, "A"), (3, 5, "Y")]), fix(&[(4, 4, "|")])];
        let done = apply_fixes("abcdef", SourceId(0), &fixes);
        assert_eq!(done.text, "aX|ef");
        assert_eq!(done.skipped, [(1, FixError::Overlap { with: 0 })]);
    }

    #[test]
    fn insertions_at_one_place_keep_their_order() {
        let done = apply_fixes("ab", SourceId(0), &[fix(&[(1, 1, "1")]), fix(&[(1, 1, "2")])]);
        assert_eq!(done.text, "a12b");
    }

    #[test]
    fn fixes_that_do_not_fit_are_refused() {
        let mut foreign = fix(&[(0, 1, "")]);
        foreign.edits[0].source = SourceId(7);
        let fixes = [fix(&[(2, 9, "")]), fix(&[(1, 1, "x")]), foreign];
        let done = apply_fixes("ä", SourceId(0), &fixes);
        assert_eq!(done.text, "ä");
        let errors: Vec<FixError> = done.skipped.iter().map(|(_, e)| *e).collect();
        assert_eq!(errors, [FixError::OutOfRange, FixError::OutOfRange, FixError::OtherSource]);
    }
}
