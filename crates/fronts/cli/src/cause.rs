//! Errors of the same cause are printed once, with the number of those left out.

use std::collections::HashMap;
use std::hash::Hash;

/// The first item of each cause, in order, with the number of later items of the same cause. With `all`,
/// every item is its own cause.
pub(crate) fn first_of_each<T, K: Eq + Hash>(
    items: impl IntoIterator<Item = T>,
    all: bool,
    cause: impl Fn(&T) -> K,
) -> Vec<(T, usize)> {
    let mut firsts: Vec<(T, usize)> = Vec::new();
    let mut places: HashMap<K, usize> = HashMap::new();
    for item in items {
        if all {
            firsts.push((item, 0));
            continue;
        }
        let place = *places.entry(cause(&item)).or_insert(firsts.len());
        match firsts.get_mut(place) {
            Some((_, more)) => *more += 1,
            None => firsts.push((item, 0)),
        }
    }
    firsts
}

/// The line about errors left out, if there are any.
pub(crate) fn more_line(more: usize) -> Option<String> {
    (more > 0).then(|| format!("and {more} more of the same cause (--all shows them)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_one_cause_are_counted_with_the_first_of_them() {
        let errors = [("arity", 1), ("type", 2), ("arity", 3), ("arity", 4)];
        let folded = first_of_each(errors, false, |(code, _)| *code);
        assert_eq!(folded, [(("arity", 1), 2), (("type", 2), 0)]);
        assert_eq!(first_of_each(errors, true, |(code, _)| *code).len(), 4);
        assert_eq!(more_line(0), None);
        assert_eq!(more_line(2).as_deref(), Some("and 2 more of the same cause (--all shows them)"));
    }
}
