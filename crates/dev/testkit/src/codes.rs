//! Diagnostic codes in sources.

use std::collections::BTreeSet;
use std::io::Result;
use std::path::Path;

/// The quoted words in the sources of a folder that read like a code of one of these areas, such as `llm`.
///
/// # Errors
/// A file that cannot be read.
pub fn quoted_codes(folder: &Path, areas: &[&str]) -> Result<BTreeSet<String>> {
    let is_code = |word: &&str| {
        let name = word.split_once('.').filter(|(area, _)| areas.contains(area));
        let is_part =
            |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
        name.is_some_and(|(_, name)| name.split('.').all(is_part))
    };
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(quoted_codes(&path, areas)?);
        } else {
            let text = std::fs::read_to_string(path)?;
            found.extend(text.split('"').filter(is_code).map(str::to_owned));
        }
    }
    Ok(found)
}
