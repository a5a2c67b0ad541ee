//! Stages, rounds and the order of sample paths.

use std::cmp::Ordering;

/// The label of a stage without its round.
pub(crate) fn stage_label(label: &str) -> &str {
    label.split_once('#').map_or(label, |(label, _)| label)
}

/// The round or pull of a stage's label; 0 where it has none.
pub(crate) fn round_of(label: &str) -> u32 {
    label.split_once('#').and_then(|(_, round)| round.parse().ok()).unwrap_or(0)
}

/// Compares paths so that numbers in them count as numbers: `edit#2` before `edit#10`.
pub(crate) fn natural(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a.as_bytes(), b.as_bytes());
    while let (Some(x), Some(y)) = (a.first(), b.first()) {
        let order = if x.is_ascii_digit() && y.is_ascii_digit() {
            let (m, n) = (digits(a), digits(b));
            let (left, right) = (trim_zeros(&a[..m]), trim_zeros(&b[..n]));
            let order = left.len().cmp(&right.len()).then_with(|| left.cmp(right)).then(m.cmp(&n));
            (a, b) = (&a[m..], &b[n..]);
            order
        } else {
            (a, b) = (&a[1..], &b[1..]);
            x.cmp(y)
        };
        if order != Ordering::Equal {
            return order;
        }
    }
    a.len().cmp(&b.len())
}

pub(crate) fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

pub(crate) fn trim_zeros(digits: &[u8]) -> &[u8] {
    let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
    &digits[zeros..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_paths_count_as_numbers() {
        let mut paths =
            ["s.p01/edit#10/0", "s.p01/edit#2/10.1", "s.p01/edit#2/9", "s.p01/edit#2/10", "s.p01/edit/0"];
        paths.sort_by(|a, b| natural(a, b));
        assert_eq!(
            paths,
            ["s.p01/edit#2/9", "s.p01/edit#2/10", "s.p01/edit#2/10.1", "s.p01/edit#10/0", "s.p01/edit/0"]
        );
        assert_eq!(natural("a01", "a1"), Ordering::Greater);
        assert_eq!(natural("a1", "a1"), Ordering::Equal);
    }
}
