//! Tokens as nested lists, with what the layout needs of the space between them.

use crate::tokens::{TokenKind, tokens};

/// A word, a comment or a list.
#[derive(Debug)]
pub(crate) struct Node<'t> {
    pub(crate) content: Content<'t>,
    /// True if a blank line precedes it.
    pub(crate) blank_before: bool,
    /// True if it begins on the line where the token before ends.
    pub(crate) same_line: bool,
}

#[derive(Debug)]
pub(crate) enum Content<'t> {
    Word(&'t str),
    Comment(&'t str),
    List(List<'t>),
}

/// The parts of a list.
#[derive(Debug, Default)]
pub(crate) struct List<'t> {
    pub(crate) items: Vec<Node<'t>>,
    /// Columns that the list takes on one line; `None` if a comment in it rules that out.
    pub(crate) width: Option<usize>,
}

impl<'t> Node<'t> {
    pub(crate) fn width(&self) -> Option<usize> {
        match &self.content {
            Content::Word(word) => Some(word.chars().count()),
            Content::Comment(_) => None,
            Content::List(list) => list.width,
        }
    }

    pub(crate) fn word(&self) -> Option<&'t str> {
        match self.content {
            Content::Word(word) => Some(word),
            _ => None,
        }
    }

    pub(crate) fn is_list(&self) -> bool {
        matches!(self.content, Content::List(_))
    }
}

impl<'t> List<'t> {
    fn new(items: Vec<Node<'t>>) -> Self {
        let inner: Option<usize> = items.iter().map(Node::width).sum();
        let spaces = items.len().saturating_sub(1);
        Self { width: inner.map(|inner| inner + spaces + 2), items }
    }

    /// The first word, if nothing precedes it.
    pub(crate) fn head(&self) -> Option<&'t str> {
        self.items.first().and_then(Node::word)
    }
}

/// The nodes outside every list. Parentheses match, as the reader found no error.
pub(crate) fn build(text: &str) -> Vec<Node<'_>> {
    let mut open = Vec::new();
    let mut items = Vec::new();
    for token in tokens(text) {
        let (blank_before, same_line) = (token.lines_before > 1, token.lines_before == 0);
        let node = |content| Node { content, blank_before, same_line };
        match token.kind {
            TokenKind::Open => {
                open.push((std::mem::take(&mut items), blank_before, same_line));
            }
            TokenKind::Close => {
                let Some((outer, blank_before, same_line)) = open.pop() else { continue };
                let list = List::new(std::mem::replace(&mut items, outer));
                items.push(Node { content: Content::List(list), blank_before, same_line });
            }
            TokenKind::Word => items.push(node(Content::Word(token.text))),
            TokenKind::Comment => items.push(node(Content::Comment(token.text.trim_end()))),
        }
    }
    items
}
