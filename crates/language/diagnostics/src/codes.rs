//! Explanations for `planforge explain CODE`. Each crate lists its codes in a `CODES` table; the binary
//! chains the tables.

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
