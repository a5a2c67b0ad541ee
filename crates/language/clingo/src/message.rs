//! Parses clingo's messages into kind, place and text.

use std::fmt;

/// A stretch of the program's text. Lines and columns count from 1, columns in bytes; the end is the first column after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessagePlace {
    /// Line of the first character.
    pub line: u32,
    /// Column of the first character.
    pub column: u32,
    /// Line of the end.
    pub end_line: u32,
    /// Column of the end.
    pub end_column: u32,
}

impl MessagePlace {
    /// The place of one byte of a text.
    pub(crate) fn of(text: &str, offset: usize) -> Self {
        let before = &text.as_bytes()[..offset.min(text.len())];
        let lines = before.iter().filter(|b| **b == b'\n').count();
        let column = before.iter().rev().take_while(|b| **b != b'\n').count() + 1;
        let [line, column] = [lines + 1, column].map(|n| u32::try_from(n).unwrap_or(u32::MAX));
        Self { line, column, end_line: line, end_column: column + 1 }
    }

    /// Reads `1:5`, `1:5-9` or `1:5-2:3`.
    fn read(text: &str) -> Option<Self> {
        let (begin, end) = text.split_once('-').unwrap_or((text, ""));
        let (line, column) = begin.split_once(':')?;
        let (line, column) = (line.parse().ok()?, column.parse().ok()?);
        let (end_line, end_column) = match end.split_once(':') {
            Some((end_line, end_column)) => (end_line.parse().ok()?, end_column.parse().ok()?),
            None if end.is_empty() => (line, column),
            None => (line, end.parse().ok()?),
        };
        Some(Self { line, column, end_line, end_column })
    }
}

impl fmt::Display for MessagePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// The kind of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MessageKind {
    /// The program has an error, such as an unsafe variable, and no answer.
    Error,
    /// An operation is undefined (`1/0`, arithmetic on a name): the instance of the rule was dropped.
    OperationUndefined,
    /// An atom occurs in no rule's head, so it is false.
    AtomUndefined,
    /// The tuple of an aggregate's element has a global variable.
    GlobalVariable,
    Other,
}

/// A message of clingo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub kind: MessageKind,
    /// The place, if the message has one.
    pub place: Option<MessagePlace>,
    /// clingo's words without place and severity, often of two lines.
    pub text: String,
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = self.place {
            write!(f, "{place}: ")?;
        }
        f.write_str(&self.text)
    }
}

/// clingo's name for the given text.
const BLOCK: &str = "<block>:";

impl Message {
    /// Reads `<block>:1:3-6: info: operation undefined:\n  (1/0)\n`.
    pub(crate) fn read(kind: MessageKind, raw: &str) -> Self {
        let raw = raw.trim();
        let placed = raw.strip_prefix(BLOCK).and_then(|rest| {
            let (place, text) = rest.split_once(": ")?;
            Some((MessagePlace::read(place)?, text))
        });
        let (place, text) = placed.map_or((None, raw), |(place, text)| (Some(place), text));
        let text =
            ["error: ", "warning: ", "info: "].iter().find_map(|s| text.strip_prefix(s)).unwrap_or(text);
        Self { kind, place, text: text.trim().to_owned() }
    }
}

/// Collects messages, the first few hundred of each kind: a rule whose thousands of instances are all undefined is one mistake.
#[derive(Debug, Default)]
pub(crate) struct Log {
    messages: Vec<Message>,
    omitted: u64,
}

/// Most messages of one kind that are kept.
const KEPT: usize = 200;

impl Log {
    pub(crate) fn add(&mut self, kind: MessageKind, raw: &str) {
        if self.messages.iter().filter(|m| m.kind == kind).count() < KEPT {
            self.messages.push(Message::read(kind, raw));
        } else {
            self.omitted += 1;
        }
    }

    pub(crate) fn has_error(&self) -> bool {
        self.messages.iter().any(|m| m.kind == MessageKind::Error)
    }

    pub(crate) fn take(&mut self) -> (Vec<Message>, u64) {
        (std::mem::take(&mut self.messages), std::mem::take(&mut self.omitted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_in_all_their_forms() {
        let place = |raw| {
            Message::read(MessageKind::Error, raw).place.map(|p| (p.line, p.column, p.end_line, p.end_column))
        };
        assert_eq!(place("<block>:3:7: error: x"), Some((3, 7, 3, 7)));
        assert_eq!(place("<block>:3:7-9: error: x"), Some((3, 7, 3, 9)));
        assert_eq!(place("<block>:3:7-4:2: error: x"), Some((3, 7, 4, 2)));
        assert_eq!(place("something else: x"), None);
        assert_eq!(Message::read(MessageKind::Error, "something else: x\n").text, "something else: x");
        assert_eq!(Message::read(MessageKind::Other, "<block>:3:7: info: a:\n  b\n").text, "a:\n  b");
    }

    #[test]
    fn many_messages_of_one_kind_do_not_hide_those_of_another() {
        let mut log = Log::default();
        (0..1000).for_each(|_| log.add(MessageKind::AtomUndefined, "<block>:1:1-2: info: a"));
        log.add(MessageKind::OperationUndefined, "<block>:2:1-2: info: b");
        let (messages, omitted) = log.take();
        assert_eq!((messages.len(), omitted), (KEPT + 1, 800));
        assert_eq!(messages.last().map(|m| m.kind), Some(MessageKind::OperationUndefined));
    }
}
