//! Changes of a round: two domains or two problems as a structural diff in words and a line diff in hunks.

use planforge_diagnostics::SourceId;
use planforge_pddl::{
    ChangeKind, DefinitionDifference, diff_domains, diff_problems, parse_domain, parse_problem,
};
use serde::Serialize;
use similar::{ChangeTag, TextDiff};

/// Lines of context around a change.
const CONTEXT: usize = 3;
/// The most lines of all hunks together.
const MOST_LINES: usize = 2_000;
/// The most structural changes.
const MOST_CHANGES: usize = 500;
/// Texts beyond this many lines together are not compared line by line.
const MOST_COMPARED: usize = 40_000;

/// The kind of the compared texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffOf {
    /// Two domains.
    Domains,
    /// Two problems.
    Problems,
}

/// The differences between two texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Changes {
    /// True if nothing differs, not even white space.
    pub same: bool,
    /// Changes of meaning: names compare without case; the order of declarations, facts and conjuncts does
    /// not count.
    pub structural: Vec<StructuralChange>,
    /// Structural changes that are not listed.
    pub structural_left_out: usize,
    /// Errors that reading found, `before: ...` and `after: ...`: then the structural changes are those of what could be read.
    pub unreadable: Vec<String>,
    /// Changes of the text.
    pub hunks: Vec<Hunk>,
    /// Lines of hunks that are not listed.
    pub lines_left_out: usize,
    /// Lines that are only in the text after, and only in the one before; the listed ones where some are left out.
    pub inserted: usize,
    /// See `inserted`.
    pub removed: usize,
}

/// One structural change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StructuralChange {
    /// `added`, `removed` or `changed`.
    pub change: &'static str,
    /// In words.
    pub text: String,
}

/// Lines that belong together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Hunk {
    /// The first line's number in the text before, from 1.
    pub before: usize,
    /// The first line's number in the text after, from 1.
    pub after: usize,
    /// ` ` in both, `-` before, `+` after; and the line without its end.
    pub lines: Vec<(char, String)>,
}

/// Compares two texts. Costs are bounded: changes beyond the limits are counted only.
pub fn changes(of: DiffOf, before: &str, after: &str) -> Changes {
    let mut found = Changes {
        same: before == after,
        structural: Vec::new(),
        structural_left_out: 0,
        unreadable: Vec::new(),
        hunks: Vec::new(),
        lines_left_out: 0,
        inserted: 0,
        removed: 0,
    };
    if found.same {
        return found;
    }
    let differences = structural(of, before, after, &mut found.unreadable);
    found.structural_left_out = differences.len().saturating_sub(MOST_CHANGES);
    found.structural = differences.iter().take(MOST_CHANGES).map(in_words).collect();
    lines(before, after, &mut found);
    found
}

fn structural(
    of: DiffOf,
    before: &str,
    after: &str,
    unreadable: &mut Vec<String>,
) -> Vec<DefinitionDifference> {
    let mut told = |side: &str, diagnostics: &[planforge_diagnostics::Diagnostic]| {
        let errors = diagnostics.iter().filter(|d| d.is_error());
        unreadable.extend(errors.map(|d| format!("{side}: {}", d.message)));
    };
    match of {
        DiffOf::Domains => {
            let (a, b) = (parse_domain(before, SourceId(0)), parse_domain(after, SourceId(1)));
            told("before", &a.diagnostics);
            told("after", &b.diagnostics);
            diff_domains(&a.value, &b.value)
        }
        DiffOf::Problems => {
            let (a, b) = (parse_problem(before, SourceId(0)), parse_problem(after, SourceId(1)));
            told("before", &a.diagnostics);
            told("after", &b.diagnostics);
            diff_problems(&a.value, &b.value)
        }
    }
}

fn in_words(difference: &DefinitionDifference) -> StructuralChange {
    let change = match difference.change {
        ChangeKind::Added => "added",
        ChangeKind::Removed => "removed",
        ChangeKind::Changed => "changed",
    };
    StructuralChange { change, text: difference.to_string() }
}

fn lines(before: &str, after: &str, found: &mut Changes) {
    let count = before.lines().count() + after.lines().count();
    if count > MOST_COMPARED {
        found.lines_left_out = count;
        return;
    }
    // No deadline, which would make the result depend on the machine: the bound on the lines is the bound on the work.
    let diff = TextDiff::from_lines(before, after);
    let mut listed = 0;
    for group in diff.grouped_ops(CONTEXT) {
        let Some(first) = group.first() else { continue };
        let mut hunk = Hunk {
            before: first.old_range().start + 1,
            after: first.new_range().start + 1,
            lines: Vec::new(),
        };
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            if listed >= MOST_LINES {
                found.lines_left_out += 1;
                continue;
            }
            let sign = match change.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            };
            found.inserted += usize::from(sign == '+');
            found.removed += usize::from(sign == '-');
            hunk.lines.push((sign, change.value().trim_end_matches(['\n', '\r']).to_owned()));
            listed += 1;
        }
        if !hunk.lines.is_empty() {
            found.hunks.push(hunk);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "(define (domain lamps)\n  (:predicates (lit ?l))\n  (:action on\n    :parameters (?l)\n    :precondition (lit ?l)\n    :effect (lit ?l)))\n";

    #[test]
    fn equal_texts_have_no_changes_and_white_space_changes_no_meaning() {
        assert!(changes(DiffOf::Domains, BEFORE, BEFORE).same);
        let found = changes(DiffOf::Domains, BEFORE, &BEFORE.replace("  (:predicates", "      (:predicates"));
        assert!(!found.same && found.structural.is_empty());
        assert_eq!((found.inserted, found.removed), (1, 1));
    }

    #[test]
    fn changes_are_listed_in_words_and_lines() {
        let after = BEFORE.replace(":precondition (lit ?l)", ":precondition (not (lit ?l))");
        let found = changes(DiffOf::Domains, BEFORE, &after);
        let told: Vec<(&str, &str)> = found.structural.iter().map(|c| (c.change, c.text.as_str())).collect();
        assert_eq!(
            told,
            [
                ("removed", "action on: precondition: (lit ?l) removed"),
                ("added", "action on: precondition: (not (lit ?l)) added")
            ]
        );
        let [hunk] = found.hunks.as_slice() else { panic!("{:?}", found.hunks) };
        assert_eq!((hunk.before, hunk.after), (2, 2));
        let signs: String = hunk.lines.iter().map(|(sign, _)| *sign).collect();
        assert_eq!(signs, "   -+ ");
    }

    #[test]
    fn unreadable_texts_are_named_and_compared_by_lines() {
        let found = changes(DiffOf::Domains, BEFORE, "I cannot help with that.\n");
        assert!(
            found.unreadable.iter().all(|why| why.starts_with("after: ")) && !found.unreadable.is_empty()
        );
        assert_eq!((found.inserted, found.removed), (1, 6));
    }

    #[test]
    fn long_texts_are_cut_and_counted() {
        let text = |word: &str| (0..3_000).map(|i| format!("({word} o{i})\n")).collect::<String>();
        let found = changes(DiffOf::Problems, &text("a"), &text("b"));
        assert_eq!(found.hunks.iter().map(|hunk| hunk.lines.len()).sum::<usize>(), MOST_LINES);
        assert_eq!(found.lines_left_out, 6_000 - MOST_LINES);
        let huge = changes(DiffOf::Problems, &text("a").repeat(20), "");
        assert_eq!((huge.hunks.len(), huge.lines_left_out), (0, 60_000));
    }
}
