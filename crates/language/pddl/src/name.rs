//! Names: written in any case, compared in one. [`natural`] orders them as people count: `shot2` before `shot10`.

use planforge_diagnostics::Span;
use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A PDDL name: it keeps its case, but compares, orders and hashes without regard to case.
///
/// Cloning is one reference count. Two names are equal if their [`Name::key`]s are, whatever their spans.
/// `HashMap<Name, _>` accepts the lower-case key as a `&str`.
#[derive(Clone)]
pub struct Name {
    text: Arc<NameText>,
    /// Place in the source; empty for a name that was not read from a text.
    pub span: Span,
}

#[derive(Debug)]
struct NameText {
    written: Box<str>,
    /// Lower case, absent when the name was written so.
    key: Option<Box<str>>,
}

impl Name {
    /// A name over that span.
    pub fn new(written: &str, span: Span) -> Self {
        let key = written
            .bytes()
            .any(|b| b.is_ascii_uppercase() || !b.is_ascii())
            .then(|| written.to_lowercase())
            .filter(|key| key != written)
            .map(Into::into);
        Self { text: Arc::new(NameText { written: written.into(), key }), span }
    }

    /// Creates a name that has no place in a text.
    pub fn synthetic(written: &str) -> Self {
        Self::new(written, Span::default())
    }

    /// The same name at another place; shares the text.
    #[must_use]
    pub fn at(&self, span: Span) -> Self {
        Self { text: Arc::clone(&self.text), span }
    }

    /// The text as written. Variables keep their question mark, requirements their colon.
    pub fn as_str(&self) -> &str {
        &self.text.written
    }

    /// The lower-case text: what equality, order and hashing go by.
    pub fn key(&self) -> &str {
        self.text.key.as_deref().unwrap_or(&self.text.written)
    }

    /// Returns true if the name equals `key` without regard to case. `key` must be lower case.
    pub fn is(&self, key: &str) -> bool {
        self.key() == key
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.text, &other.text) || self.key() == other.key()
    }
}
impl Eq for Name {}
impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}
impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Name {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(other.key())
    }
}
impl Borrow<str> for Name {
    fn borrow(&self) -> &str {
        self.key()
    }
}
impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.as_str())
    }
}

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
