//! "Did you mean": the nearest of the names that would have been right.

/// Most names compared for a suggestion. Comparing with every object of a huge problem would take longer than
/// reading it.
const MOST_COMPARED: usize = 2000;

/// The nearest known name, if it is near enough to be a slip: at most a third of the letters differ.
pub fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    // Comparing words takes time in the product of their lengths.
    if word.len() > 64 {
        return None;
    }
    let bare = |text: &str| text.trim_start_matches([':', '?']).replace('_', "-");
    let wanted = bare(&word);
    known
        .take(MOST_COMPARED)
        .filter(|candidate| candidate.len() <= 64)
        .filter_map(|candidate| {
            let distance = strsim::osa_distance(&wanted, &bare(&candidate.to_lowercase()));
            let longest = wanted.chars().count().max(candidate.chars().count());
            (distance * 3 <= longest).then_some((distance, candidate))
        })
        .min_by_key(|(distance, candidate)| (*distance, candidate.len().abs_diff(wanted.len())))
        .map(|(_, candidate)| candidate)
}
