//! Sources by id, and byte offsets turned into lines and columns.

use crate::SourceId;

/// A place as people count: both from 1, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineColumn {
    /// Line, counted from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// The byte-order mark that some programs write before a text in UTF-8.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Returns a text without its byte-order mark. Spans in what is left are offsets in what is left.
pub fn skip_byte_order_mark(text: &str) -> &str {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}

/// As [`skip_byte_order_mark`], for bytes that need not be UTF-8.
pub fn skip_byte_order_mark_bytes(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// A named text.
#[derive(Debug, Clone)]
pub struct SourceFile {
    /// Name for messages: a path, or a description such as `reply 2 of writer`.
    pub name: String,
    pub text: String,
    line_starts: Vec<u32>,
}

impl SourceFile {
    /// A named text with its line index.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        let line_starts = std::iter::once(0)
            .chain(text.bytes().zip(1..).filter(|(b, _)| *b == b'\n').map(|(_, next)| next))
            .collect();
        Self { name: name.into(), text, line_starts }
    }

    /// The line and column of a byte offset; an offset past the end is the end. A byte-order mark has no column.
    pub fn line_column(&self, offset: u32) -> LineColumn {
        let mut offset = (offset as usize).min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.line_starts.partition_point(|s| *s as usize <= offset) - 1;
        let before = &self.text[self.line_starts[line] as usize..offset];
        let before = if line == 0 { skip_byte_order_mark(before) } else { before };
        let column = before.chars().count() as u32 + 1;
        LineColumn { line: line as u32 + 1, column }
    }

    /// The bytes of a line, counted from 1, without its line end; empty past the last line.
    pub fn line_range(&self, line: u32) -> std::ops::Range<usize> {
        let index = line.saturating_sub(1) as usize;
        let Some(&start) = self.line_starts.get(index) else { return self.text.len()..self.text.len() };
        let end = self.line_starts.get(index + 1).map_or(self.text.len(), |next| *next as usize - 1);
        let start = start as usize;
        let end = if self.text[start..end].ends_with('\r') { end - 1 } else { end };
        start..end
    }
}

/// The texts that a list of diagnostics points into.
#[derive(Debug, Clone, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
}

impl SourceMap {
    /// A map with one source, [`SourceId`] 0.
    pub fn single(name: impl Into<String>, text: impl Into<String>) -> Self {
        let mut map = Self::default();
        map.add(name, text);
        map
    }
    /// Adds a source and returns its id.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> SourceId {
        self.files.push(SourceFile::new(name, text));
        SourceId(self.files.len() as u32 - 1)
    }
    /// The source of that id.
    pub fn get(&self, id: SourceId) -> Option<&SourceFile> {
        self.files.get(id.0 as usize)
    }
}
