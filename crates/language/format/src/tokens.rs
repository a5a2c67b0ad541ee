//! Words, parentheses and comments of a text with their places.

use std::ops::Range;

/// Kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// `(`
    Open,
    /// `)`
    Close,
    /// A name, keyword, number or operator.
    Word,
    /// From `;` to the end of the line.
    Comment,
}

/// A token of a PDDL text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'t> {
    /// Kind of the token.
    pub kind: TokenKind,
    /// The token as written; a comment without its line end.
    pub text: &'t str,
    /// Byte offset of its first character.
    pub start: usize,
    /// Line ends between the token before and this one.
    pub lines_before: usize,
}

impl Token<'_> {
    /// The token's bytes in the text.
    pub fn range(&self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }
}

/// The tokens of a text, in order. Every text has tokens, readable or not; everything but white space and a byte order mark at the
/// start is part of one.
pub fn tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
    let mut pos = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    std::iter::from_fn(move || {
        let rest = text.get(pos..)?;
        let trimmed = rest.trim_start();
        let space = &rest[..rest.len() - trimmed.len()];
        let start = pos + space.len();
        let (kind, length) = match trimmed.as_bytes().first()? {
            b'(' => (TokenKind::Open, 1),
            b')' => (TokenKind::Close, 1),
            b';' => (TokenKind::Comment, trimmed.find(['\n']).unwrap_or(trimmed.len())),
            _ => {
                let ends = |c: char| c.is_whitespace() || matches!(c, '(' | ')' | ';');
                (TokenKind::Word, trimmed.find(ends).unwrap_or(trimmed.len()))
            }
        };
        pos = start + length;
        let lines_before = space.bytes().filter(|b| *b == b'\n').count();
        Some(Token { kind, text: &trimmed[..length], start, lines_before })
    })
}
