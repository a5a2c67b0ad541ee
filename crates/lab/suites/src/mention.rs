//! Mentions of objects in texts.

/// The objects that a text never mentions, in order.
pub(crate) fn find_unmentioned<'a>(text: &str, objects: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let text = text.to_lowercase();
    objects.into_iter().filter(|object| !mentions(&text, &object.to_lowercase())).collect()
}

/// True if a lower-case text has the lower-case name as a word. A text may write `room 1` or `room-1` for
/// `room1`, and a blank for a dash or an underscore.
fn mentions(text: &str, name: &str) -> bool {
    let spaced = name.replace(['-', '_'], " ");
    let split = split_number(&spaced);
    occurs(text, name) || occurs(text, &spaced) || split.is_some_and(|s| occurs(text, &s))
}

/// `room1` as `room 1`; `None` without a number at the end.
fn split_number(name: &str) -> Option<String> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = name.get(stem.len()..).filter(|n| !n.is_empty() && !stem.is_empty())?;
    let stem = stem.trim_end();
    Some(format!("{stem} {number}"))
}

fn occurs(text: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    text.match_indices(word).any(|(at, found)| {
        let before = text.get(..at).and_then(|t| t.chars().next_back());
        let mut after = text.get(at + found.len()..).unwrap_or_default().chars();
        // A dash after the name belongs to it only where the word goes on: `block-1`, and not `block - red`.
        let next = after.next();
        let goes_on = match next {
            Some('-') => after.next().is_some_and(char::is_alphanumeric),
            Some(c) => part(c),
            None => false,
        };
        !before.is_some_and(part) && !goes_on
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words_and_not_parts_of_words() {
        let text = "Robot 1 is in Room-A, next to pos-1-2 and block12. The tray2 holds a-b.";
        let names =
            ["robot1", "room-a", "pos-1-2", "pos-1", "block1", "block12", "tray2", "ray2", "b", "a_b"];
        assert_eq!(find_unmentioned(text, names), ["pos-1", "block1", "ray2", "b", "a_b"]);
    }
}
