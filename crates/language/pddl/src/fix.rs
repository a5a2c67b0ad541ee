//! Applying every safe fix until nothing is left to apply.

use crate::extract::BlockKind;
use crate::{check_domain, parse_domain, parse_problem};
use planforge_diagnostics::{Diagnostic, Fix, LineColumn, SourceFile, SourceId, apply_fixes};
use std::borrow::Cow;

/// Most rounds of fixing. One round repairs all visible errors; a second repairs the errors that the first
/// uncovered.
const MAX_ROUNDS: usize = 8;

/// A text and the fixes that made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixedText {
    /// The text with all fixes applied.
    pub text: String,
    /// The fixes, in the order they were applied. The spans of each are those of the text at its time.
    pub fixes: Vec<Fix>,
    /// The finding behind each fix, in the same order.
    pub answered: Vec<FixedFinding>,
}

/// The finding that a fix answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixedFinding {
    /// Diagnostic code of the finding.
    pub code: Cow<'static, str>,
    /// Start of the first edit, in the text to which the fix was applied.
    pub at: LineColumn,
}

/// Applies the machine-applicable fixes of a domain or problem until none are left.
///
/// Fixes of parentheses never change the result of the tolerant reader: it reads the same tree before and
/// after. Undeclared requirements are added to a domain. Those of a problem depend on its domain and are not
/// added.
pub fn fix_all(text: &str, kind: BlockKind) -> FixedText {
    let source = SourceId(0);
    let mut fixed = FixedText { text: text.to_owned(), fixes: Vec::new(), answered: Vec::new() };
    for _ in 0..MAX_ROUNDS {
        let (codes, fixes): (Vec<_>, Vec<Fix>) = findings(&fixed.text, kind, source)
            .into_iter()
            .filter_map(|d| d.fix.map(|fix| (d.code, fix)))
            .unzip();
        if fixes.is_empty() {
            break;
        }
        let done = apply_fixes(&fixed.text, source, &fixes);
        if done.applied.is_empty() {
            break;
        }
        let before = SourceFile::new("", std::mem::replace(&mut fixed.text, done.text));
        for (code, fix) in done.applied.into_iter().filter_map(|i| codes.get(i).zip(fixes.get(i))) {
            let start = fix.edits.first().map_or(0, |edit| edit.span.start);
            fixed.answered.push(FixedFinding { code: code.clone(), at: before.line_column(start) });
            fixed.fixes.push(fix.clone());
        }
    }
    fixed
}

/// Findings whose fixes may be applied now: those of the form first, as those of the meaning rest on it.
fn findings(text: &str, kind: BlockKind, source: SourceId) -> Vec<Diagnostic> {
    match kind {
        BlockKind::Domain => {
            let parsed = parse_domain(text, source);
            if parsed.diagnostics.iter().any(|d| d.fix.is_some()) || parsed.has_errors() {
                parsed.diagnostics
            } else {
                check_domain(&parsed.value, source)
            }
        }
        BlockKind::Problem => parse_problem(text, source).diagnostics,
        BlockKind::Other => Vec::new(),
    }
}
