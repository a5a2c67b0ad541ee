//! Diagnostic codes of plugins, for `planforge explain`.

use planforge_diagnostics::{CodeInfo, code_table};

/// The codes `plugin.*`, `options.*` and `host.*`.
pub const CODES: &[CodeInfo] = code_table!("codes.md");

#[cfg(test)]
mod tests {
    #[test]
    fn codes_are_unique() {
        let mut codes: Vec<_> = super::CODES.iter().map(|c| c.code).collect();
        codes.sort_unstable();
        let all = codes.len();
        codes.dedup();
        assert_eq!(codes.len(), all);
    }
}
