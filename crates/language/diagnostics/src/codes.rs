//! What `planforge explain CODE` knows. Each crate lists its codes in a `CODES` table; the binary chains the tables.

/// The long explanation of one diagnostic code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodeInfo {
    /// The code, `area.name`.
    pub code: &'static str,
    /// One line.
    pub title: &'static str,
    /// What it means, an example that triggers it, and the way out. Plain text, several lines.
    pub explanation: &'static str,
}

/// The entry of that code in any of the tables.
pub fn find_code<'a>(tables: &[&'a [CodeInfo]], code: &str) -> Option<&'a CodeInfo> {
    tables.iter().flat_map(|t| t.iter()).find(|c| c.code == code)
}
