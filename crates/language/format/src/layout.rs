//! Writes nested lists within a width.

use crate::tree::{Content, List, Node};

/// Columns that a line may take before a list is broken.
const WIDTH: usize = 80;

/// Columns of one level of indentation.
const STEP: usize = 2;

/// The text of the nodes.
pub(crate) fn write(nodes: &[Node<'_>]) -> String {
    let mut writer = Writer::default();
    for node in nodes {
        writer.below(node, 0, true, 0);
    }
    writer.out.push('\n');
    writer.out
}

/// The way in which a list that does not fit on one line is broken.
#[derive(Clone, Copy, PartialEq)]
enum Style {
    /// `(define (domain NAME)`, then its sections, always broken.
    Definition,
    /// A schema's name, then a line for each field, always broken.
    Schema,
    /// Typed names, a line for each type.
    TypedNames,
    /// A line for each list, and with it the words that follow.
    Entries,
    /// Conditions and effects: the words in front and, unless it is a conjunction, the first list stay on the line.
    Nested,
}

impl Style {
    fn of(list: &List<'_>) -> Self {
        let head = list.head().unwrap_or_default().to_ascii_lowercase();
        match head.as_str() {
            "define" => Self::Definition,
            ":action" | ":durative-action" | ":axiom" => Self::Schema,
            ":types" | ":constants" | ":objects" => Self::TypedNames,
            ":predicates" | ":functions" | ":init" => Self::Entries,
            _ => Self::Nested,
        }
    }

    /// True if a list that fits on one line is written there.
    fn may_be_flat(self, list: &List<'_>) -> bool {
        match self {
            Self::Definition | Self::Schema => false,
            Self::TypedNames => list.items.iter().filter(|item| item.word() == Some("-")).count() <= 1,
            Self::Entries => list.items.iter().filter(|item| item.is_list()).count() <= 1,
            Self::Nested => true,
        }
    }
}

#[derive(Default)]
struct Writer {
    out: String,
    column: usize,
    /// True after a comment: nothing more fits on the line.
    line_is_full: bool,
}

impl Writer {
    fn push(&mut self, text: &str) {
        self.out.push_str(text);
        self.column += text.chars().count();
    }

    fn new_line(&mut self, indent: usize, blank: bool) {
        if !self.out.is_empty() {
            self.out.push_str(if blank { "\n\n" } else { "\n" });
        }
        self.out.extend(std::iter::repeat_n(' ', indent));
        self.column = indent;
        self.line_is_full = false;
    }

    /// The node on a line below; a comment beside a token stays there. `closing` parentheses follow it.
    fn below(&mut self, node: &Node<'_>, indent: usize, keep_blank: bool, closing: usize) {
        match node.content {
            Content::Comment(text) if node.same_line && !self.out.is_empty() => self.comment_beside(text),
            _ => {
                self.new_line(indent, keep_blank && node.blank_before);
                self.node(node, indent, closing);
            }
        }
    }

    /// The node on this line after a space; on the next one if a comment fills this one.
    fn beside(&mut self, node: &Node<'_>, line_indent: usize, closing: usize) {
        match node.content {
            Content::Comment(text) if node.same_line => self.comment_beside(text),
            Content::Comment(_) => self.below(node, line_indent + STEP, false, closing),
            _ if self.line_is_full => self.below(node, line_indent + STEP, false, closing),
            _ => {
                if !self.out.ends_with('(') {
                    self.push(" ");
                }
                self.node(node, line_indent, closing);
            }
        }
    }

    fn comment_beside(&mut self, text: &str) {
        self.push(" ");
        self.push(text);
        self.line_is_full = true;
    }

    fn node(&mut self, node: &Node<'_>, line_indent: usize, closing: usize) {
        match &node.content {
            Content::Word(word) => self.push(word),
            Content::Comment(text) => {
                self.push(text);
                self.line_is_full = true;
            }
            Content::List(list) => self.list(list, line_indent, closing),
        }
    }

    /// A list that begins at this column of a line with that indentation.
    fn list(&mut self, list: &List<'_>, line_indent: usize, closing: usize) {
        let style = Style::of(list);
        let fits = list.width.is_some_and(|width| self.column + width + closing <= WIDTH);
        self.push("(");
        if fits && style.may_be_flat(list) {
            list.items.iter().for_each(|item| self.beside(item, line_indent, 0));
        } else {
            self.broken(list, style, line_indent, closing + 1);
        }
        if self.line_is_full {
            self.new_line(line_indent, false);
        }
        self.push(")");
    }

    fn broken(&mut self, list: &List<'_>, style: Style, line_indent: usize, closing: usize) {
        let indent = line_indent + STEP;
        let first_line = first_line(list, style);
        let filled = style == Style::Nested && !list.items.iter().any(Node::is_list);
        let mut group_starts = true;
        for (index, item) in list.items.iter().enumerate() {
            let closing = if index + 1 == list.items.len() { closing } else { 0 };
            let is_comment = matches!(item.content, Content::Comment(_));
            let breaks = index >= first_line
                && match style {
                    _ if is_comment || filled => false,
                    Style::Definition | Style::Nested => true,
                    Style::Schema => item.word().is_some_and(|word| word.starts_with(':')),
                    Style::TypedNames => group_starts,
                    Style::Entries => item.is_list(),
                };
            if style == Style::TypedNames && index >= first_line && !is_comment {
                let after_dash = index > 0 && list.items[index - 1].word() == Some("-");
                group_starts = after_dash;
            }
            let wraps =
                item.word().is_some_and(|word| self.column + 1 + word.chars().count() + closing > WIDTH);
            let keep_blank = style == Style::Definition || index > first_line;
            match item.content {
                Content::Comment(_) if !item.same_line => self.below(item, indent, keep_blank, closing),
                _ if breaks => self.below(item, indent, keep_blank, closing),
                Content::Word(_) if wraps && index > 0 => self.below(item, indent + STEP, false, closing),
                _ if index < first_line || filled => self.beside(item, line_indent, closing),
                _ => self.beside(item, indent, closing),
            }
        }
    }
}

/// The number of items that stay on the first line of a broken list.
fn first_line(list: &List<'_>, style: Style) -> usize {
    let words = list.items.iter().take_while(|item| item.word().is_some()).count();
    let conjunction =
        list.head().is_some_and(|w| w.eq_ignore_ascii_case("and") || w.eq_ignore_ascii_case("or"));
    match style {
        Style::TypedNames | Style::Entries => words.min(1),
        Style::Schema => {
            let field = |item: &Node<'_>| item.word().is_some_and(|word| word.starts_with(':'));
            list.items.iter().skip(1).position(field).map_or(list.items.len(), |place| place + 1)
        }
        Style::Nested if conjunction || words == 0 => words,
        Style::Definition | Style::Nested => (words + 1).min(list.items.len()),
    }
}
