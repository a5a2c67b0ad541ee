//! Names: written in any case, compared in one.

use planforge_diagnostics::Span;
use std::borrow::Borrow;
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
