//! The nearest valid name to one that is not known.

/// The nearest of the names, if one is near enough to have been meant.
pub(crate) fn nearest<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = name.to_lowercase();
    let limit = (wanted.chars().count() / 3).max(1);
    names
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&wanted, &candidate.to_lowercase()), candidate))
        // A name that only lacks or repeats a part (`val` for `verifier-val`) is as good as a near miss.
        .map(|(d, c)| {
            if wanted.len() >= 3 && c.len() >= 3 && (c.contains(&wanted) || wanted.contains(c)) {
                (d.min(limit), c)
            } else {
                (d, c)
            }
        })
        .filter(|(distance, _)| *distance <= limit)
        .min()
        .map(|(_, candidate)| candidate)
}

/// "did you mean `x`?", else the list of all names, else nothing.
pub(crate) fn help_for(name: &str, names: &[&str], what: &str) -> Option<String> {
    if let Some(near) = nearest(name, names.iter().copied()) {
        return Some(format!("did you mean `{near}`?"));
    }
    if names.is_empty() {
        return Some(format!("there are no {what}"));
    }
    let list: Vec<String> = names.iter().take(20).map(|n| format!("`{n}`")).collect();
    let more = if names.len() > 20 { ", ..." } else { "" };
    Some(format!("{what}: {}{more}", list.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_misses_are_found_and_far_ones_are_not() {
        assert_eq!(nearest("trnaslate", ["translate", "verify"]), Some("translate"));
        assert_eq!(nearest("val", ["verifier-val", "verifier-ew"]), Some("verifier-val"));
        assert_eq!(nearest("zebra", ["translate", "verify"]), None);
        assert_eq!(help_for("zebra", &["a", "b"], "kinds").as_deref(), Some("kinds: `a`, `b`"));
        assert_eq!(help_for("zebra", &[], "kinds").as_deref(), Some("there are no kinds"));
    }
}
