//! Applying every safe fix until nothing is left to apply.

use crate::extract::BlockKind;
use crate::{check_domain, parse_domain, parse_problem};
use planforge_diagnostics::{Diagnostic, Fix, SourceId, apply_fixes};

/// Rounds after which fixing stops. One round repairs everything that can be seen at once; a second sees what the first
/// uncovered.
const MAX_ROUNDS: usize = 8;

/// A text and the fixes that made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fixed {
    /// The text with all fixes applied.
    pub text: String,
    /// The fixes, in the order they were applied. The spans of each are those of the text at its time.
    pub fixes: Vec<Fix>,
}

/// Applies the machine-applicable fixes of a domain or problem until it has none left.
///
/// Fixes of parentheses never change what the tolerant reader makes of the text: it reads the same tree before and after.
/// Undeclared requirements are added to a domain; a problem's depend on its domain and are left alone.
pub fn fix_all(text: &str, kind: BlockKind) -> Fixed {
    let source = SourceId(0);
    let mut fixed = Fixed { text: text.to_owned(), fixes: Vec::new() };
    for _ in 0..MAX_ROUNDS {
        let fixes: Vec<Fix> = findings(&fixed.text, kind, source).into_iter().filter_map(|d| d.fix).collect();
        if fixes.is_empty() {
            break;
        }
        let done = apply_fixes(&fixed.text, source, &fixes);
        if done.applied.is_empty() {
            break;
        }
        fixed.text = done.text;
        fixed.fixes.extend(done.applied.into_iter().filter_map(|index| fixes.get(index).cloned()));
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
