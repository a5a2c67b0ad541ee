//! Names in the order in which people count: `shot2` before `shot10`.

use std::cmp::Ordering;

/// Compares texts piece by piece, digits by their value.
pub(crate) fn natural(a: &str, b: &str) -> Ordering {
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
    // `b1` and `b01` count the same; one of them has to come first.
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
