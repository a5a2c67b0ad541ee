//! Lists and ranges of seeds.

/// Reads `42`, `42-45` or `1,3,42-45`.
///
/// # Errors
/// The mistake, in words.
pub fn parse_seeds(text: &str) -> Result<Vec<u64>, String> {
    let wrong = |part: &str| format!("`{part}` is neither a seed nor a range of seeds such as 42-45");
    let mut seeds = Vec::new();
    for part in text.split(',').map(str::trim) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        match (first.trim().parse::<u64>(), last.trim().parse::<u64>()) {
            (Ok(first), Ok(last)) if first <= last && last - first < 1000 => seeds.extend(first..=last),
            (Ok(first), Ok(last)) if first <= last => {
                return Err(format!("`{part}` is more than 1000 seeds"));
            }
            _ => return Err(wrong(part)),
        }
    }
    Ok(seeds)
}
