//! The ground terms of a program, as values.

use std::fmt::{self, Write as _};

/// A ground term or atom. The order is by variant, then by content; it is not clingo's.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Symbol {
    /// `#inf`.
    Infimum,
    /// An integer. clingo computes with 32 bits and wraps around silently.
    Number(i32),
    /// A string: its content, without quotes or escapes.
    Text(String),
    /// `name(arguments)`; a constant without arguments, a tuple if the name is empty.
    Function {
        /// A name of the language (`shot5`), or empty.
        name: String,
        arguments: Vec<Symbol>,
    },
    /// A classically negated atom, `-p(X)`: the function that is negated.
    Negated(Box<Symbol>),
    /// `#sup`.
    Supremum,
}

impl Symbol {
    pub fn constant(name: impl Into<String>) -> Self {
        Self::Function { name: name.into(), arguments: Vec::new() }
    }

    /// A function of arguments, or an atom.
    pub fn function(name: impl Into<String>, arguments: impl IntoIterator<Item = Self>) -> Self {
        Self::Function { name: name.into(), arguments: arguments.into_iter().collect() }
    }

    pub fn as_number(&self) -> Option<i32> {
        match self {
            Self::Number(n) => Some(*n),
            _ => None,
        }
    }
}

/// True if the language has this name: underscores and apostrophes, then a lower-case letter, then letters,
/// digits, `_`, `'`.
pub(crate) fn is_name(name: &str) -> bool {
    let rest = name.trim_start_matches(['_', '\'']);
    rest.starts_with(|c: char| c.is_ascii_lowercase())
        && rest.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'\'')
}

/// In the language of clingo, so that the text read as a term gives the symbol again.
impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Infimum => f.write_str("#inf"),
            Self::Supremum => f.write_str("#sup"),
            Self::Number(n) => write!(f, "{n}"),
            Self::Text(text) => {
                f.write_char('"')?;
                for c in text.chars() {
                    match c {
                        '"' => f.write_str("\\\"")?,
                        '\\' => f.write_str("\\\\")?,
                        '\n' => f.write_str("\\n")?,
                        c => f.write_char(c)?,
                    }
                }
                f.write_char('"')
            }
            Self::Negated(symbol) => write!(f, "-{symbol}"),
            Self::Function { name, arguments } => {
                f.write_str(name)?;
                if arguments.is_empty() && !name.is_empty() {
                    return Ok(());
                }
                f.write_char('(')?;
                for (i, argument) in arguments.iter().enumerate() {
                    write!(f, "{}{argument}", if i > 0 { "," } else { "" })?;
                }
                f.write_str(if name.is_empty() && arguments.len() == 1 { ",)" } else { ")" })
            }
        }
    }
}
