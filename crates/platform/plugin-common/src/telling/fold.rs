//! Repeated steps of a plan: `Steps 5 to 12: the same with b2 and b3 instead of b1.`

/// A step: its action with its objects, and what it changes, a sentence each. A step with a reason is not repeated.
#[derive(Clone, Copy)]
pub(super) struct ToldStep<'s> {
    pub(super) action: &'s str,
    pub(super) changes: &'s [String],
    pub(super) has_reason: bool,
}

/// Most steps of a part that repeats.
const MOST_STEPS: usize = 8;

/// A part of a plan whose next parts are the same with another object.
pub(super) struct Repeated {
    /// Steps of the part.
    pub(super) steps: usize,
    /// The object of the part that the others stand for.
    pub(super) object: String,
    /// The objects of the parts after it, in their order.
    pub(super) objects: Vec<String>,
}

/// The repetition that begins at the first of some steps, if it shortens them: the longest one.
pub(super) fn repeated(steps: &[ToldStep<'_>]) -> Option<Repeated> {
    let of_length = |length: usize| {
        let mut parts = steps.chunks_exact(length);
        let first = parts.next()?;
        let mut old: Option<String> = None;
        let mut objects: Vec<String> = Vec::new();
        for part in parts {
            let Some((from, to)) = other_object(first, part) else { break };
            if objects.contains(&to) || old.as_ref().is_some_and(|old| *old != from) {
                break;
            }
            old = Some(from);
            objects.push(to);
        }
        // One line for a single step would not be shorter.
        let object = old.filter(|_| objects.len() * length >= 2)?;
        Some(Repeated { steps: length, object, objects })
    };
    (1..=MOST_STEPS.min(steps.len() / 2))
        .filter_map(of_length)
        .max_by_key(|found| found.steps * found.objects.len())
}

/// The object of the first part and the one that stands for it everywhere in the other.
fn other_object(first: &[ToldStep<'_>], other: &[ToldStep<'_>]) -> Option<(String, String)> {
    let mut pair: Option<(String, String)> = None;
    for (one, two) in first.iter().zip(other) {
        let (before, after): (Vec<&str>, Vec<&str>) =
            (one.action.split(' ').collect(), two.action.split(' ').collect());
        if before.len() != after.len() || before[0] != after[0] {
            return None;
        }
        for (from, to) in before.iter().zip(&after).filter(|(from, to)| from != to) {
            match &pair {
                Some((known, with)) if known == from && with == to => {}
                Some(_) => return None,
                None => pair = Some(((*from).to_owned(), (*to).to_owned())),
            }
        }
    }
    let (from, to) = pair?;
    let is_same = |(one, two): (&ToldStep<'_>, &ToldStep<'_>)| {
        !one.has_reason
            && !two.has_reason
            && replaced(one.action, &from, &to) == two.action
            && one.changes.iter().map(|change| replaced(change, &from, &to)).eq(two.changes.iter().cloned())
    };
    first.iter().zip(other).all(is_same).then_some((from, to))
}

/// The text with a name in the place of another one, where it is a word.
fn replaced(text: &str, from: &str, to: &str) -> String {
    let is_inner = |c: char| c.is_alphanumeric() || ['-', '_'].contains(&c);
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(from) {
        let (before, after) = (&rest[..at], &rest[at + from.len()..]);
        let is_word =
            !before.chars().next_back().is_some_and(is_inner) && !after.chars().next().is_some_and(is_inner);
        out.push_str(before);
        out.push_str(if is_word { to } else { from });
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The repetition at the first of some steps, each an action and a change: its length, object and other objects.
    fn found(steps: &[(&'static str, &'static str)]) -> Option<(usize, String, Vec<String>)> {
        found_with_reason(steps, None)
    }

    /// As [`found`], with a reason at one of the steps.
    fn found_with_reason(
        steps: &[(&'static str, &'static str)],
        reason_at: Option<usize>,
    ) -> Option<(usize, String, Vec<String>)> {
        let changes: Vec<[String; 1]> = steps.iter().map(|(_, change)| [(*change).to_owned()]).collect();
        let told = steps.iter().zip(&changes).enumerate().map(|(at, ((action, _), changes))| ToldStep {
            action,
            changes,
            has_reason: reason_at == Some(at),
        });
        repeated(&told.collect::<Vec<_>>()).map(|found| (found.steps, found.object, found.objects))
    }

    #[test]
    fn parts_that_differ_in_one_object_are_the_same_for_it() {
        let steps = [
            ("take b1 hall", "b1 is held."),
            ("drop b1 hall", "b1 is free."),
            ("take b2 hall", "b2 is held."),
            ("drop b2 hall", "b2 is free."),
            ("take b3 hall", "b3 is held."),
            ("drop b3 hall", "b3 is free."),
            ("walk hall", "it is dark."),
        ];
        assert_eq!(found(&steps), Some((2, "b1".to_owned(), vec!["b2".to_owned(), "b3".to_owned()])));
        assert_eq!((found_with_reason(&steps, Some(0)), found_with_reason(&steps, Some(3))), (None, None));
        let shorter = Some((2, "b1".to_owned(), vec!["b2".to_owned()]));
        assert_eq!(found_with_reason(&steps, Some(4)), shorter);
        assert_eq!((found(&steps[1..2]), found(&steps[5..])), (None, None));
    }

    #[test]
    fn parts_with_other_changes_or_two_objects_are_told() {
        for second in [("drop b2 yard", "b2 is free."), ("drop b2 hall", "b2 is free. It rains.")] {
            let first = ("drop b1 hall", "b1 is free.");
            assert_eq!(found(&[("take b1", ""), first, ("take b2", ""), second]), None);
        }
        assert_eq!(found(&[("take b1", "b1 is held."), ("take b2", "b2 is held.")]), None);
        // A name within another one is not that name.
        assert_eq!(replaced("b1 is by b10 and b1-x.", "b1", "c"), "c is by b10 and b1-x.");
    }
}
