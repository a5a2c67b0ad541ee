//! Suggestions for misspelt names.

/// The name that was probably meant: close in edits, relative to its length.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let most = (name.chars().count() / 3).max(1);
    known
        .map(|k| (strsim::damerau_levenshtein(&name.to_lowercase(), &k.to_lowercase()), k))
        .filter(|(distance, _)| *distance <= most)
        .min()
        .map(|(_, k)| k.to_owned())
}
