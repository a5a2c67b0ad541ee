//! Names in the order in which people count: `shot2` before `shot10`.

use std::cmp::Ordering;

/// Compares texts piece by piece, digits by their value, everything else byte by byte. A total order: texts that count the same, such
/// as `b1` and `b01`, are in the order of their bytes.
pub fn natural(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a.as_bytes(), b.as_bytes());
    while let (Some(x), Some(y)) = (left.first(), right.first()) {
        if x.is_ascii_digit() && y.is_ascii_digit() {
            let (p, q) = (digits(&mut left), digits(&mut right));
            match p.len().cmp(&q.len()).then_with(|| p.cmp(q)) {
                Ordering::Equal => {}
                unequal => return unequal,
            }
        } else {
            match x.cmp(y) {
                Ordering::Equal => (left, right) = (&left[1..], &right[1..]),
                unequal => return unequal,
            }
        }
    }
    // One of those that count the same has to come first.
    left.len().cmp(&right.len()).then_with(|| a.cmp(b))
}

/// Takes the digits in front away and gives them without leading zeros.
fn digits<'a>(text: &mut &'a [u8]) -> &'a [u8] {
    let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    *text = rest;
    let zeros = number.iter().take_while(|byte| **byte == b'0').count();
    &number[zeros..]
}

#[cfg(test)]
mod tests {
    use super::natural;

    #[test]
    fn numbers_in_names_are_numbers() {
        let mut names = ["p10", "p2", "p1-10", "p1-9", "s5-0", "p1", "p", "p01", "a_2_10", "a_2_9", "a_10_1"];
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(
            names,
            ["a_2_9", "a_2_10", "a_10_1", "p", "p01", "p1", "p1-9", "p1-10", "p2", "p10", "s5-0"]
        );
        let long = ["9".repeat(40), format!("1{}", "0".repeat(40))];
        assert!(natural(&long[0], &long[1]).is_lt(), "no number is too long");
    }
}
