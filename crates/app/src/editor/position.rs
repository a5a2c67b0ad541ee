//! Byte offsets and positions in UTF-16, and the parameters of editor requests. Answers are built as JSON where they are made.

use planforge_diagnostics::Span;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Places of lines and of characters outside ASCII, so that a position is found without reading its line: generated files may be one
/// line. Lines end with LF, CR LF or CR.
#[derive(Debug, Clone, Default)]
pub struct LineIndex {
    /// Offsets of the starts of the lines.
    starts: Vec<usize>,
    /// Characters of more than one byte.
    wide: Vec<WideCharacter>,
}

#[derive(Debug, Clone, Copy)]
struct WideCharacter {
    /// Its offset in bytes.
    offset: usize,
    /// Its offset in UTF-16 code units.
    units: usize,
}

impl WideCharacter {
    /// Offset and code units of its end.
    fn end(self, text: &str) -> (usize, usize) {
        let c = text.get(self.offset..).and_then(|rest| rest.chars().next()).unwrap_or('?');
        (self.offset + c.len_utf8(), self.units + c.len_utf16())
    }
}

impl LineIndex {
    pub fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let ends = |at: usize| bytes[at] == b'\n' || bytes[at] == b'\r' && bytes.get(at + 1) != Some(&b'\n');
        let starts = (0..bytes.len()).filter(|at| ends(*at)).map(|at| at + 1);
        let mut index = Self { starts: std::iter::once(0).chain(starts).collect(), wide: Vec::new() };
        if !text.is_ascii() {
            let mut units = 0;
            for (offset, c) in text.char_indices() {
                if !c.is_ascii() {
                    index.wide.push(WideCharacter { offset, units });
                }
                units += c.len_utf16();
            }
        }
        index
    }

    /// Code units before an offset, which is the start of a character.
    fn units(&self, text: &str, offset: usize) -> usize {
        let before = self.wide.partition_point(|wide| wide.offset < offset);
        let Some(wide) = before.checked_sub(1).and_then(|last| self.wide.get(last)) else { return offset };
        let (end, units) = wide.end(text);
        units + offset.saturating_sub(end)
    }

    /// The offset of a position. A position behind the end of its line, or of the text, is that end; one inside a surrogate pair is
    /// the start of its character.
    pub fn offset(&self, text: &str, position: Position) -> usize {
        let line = position.line as usize;
        let Some(&start) = self.starts.get(line) else { return text.len() };
        let next = self.starts.get(line + 1).copied().unwrap_or(text.len());
        let end = start + text.get(start..next).unwrap_or_default().trim_end_matches(['\n', '\r']).len();
        let wanted = self.units(text, start) + position.character as usize;
        let before = self.wide.partition_point(|wide| wide.units < wanted);
        let offset = match before.checked_sub(1).and_then(|last| self.wide.get(last)) {
            None => wanted,
            Some(wide) => match wide.end(text) {
                (_, units) if wanted < units => wide.offset,
                (end, units) => end + (wanted - units),
            },
        };
        offset.min(end)
    }

    /// The position of an offset; of the nearest character before, if it is inside one.
    pub fn position(&self, text: &str, offset: usize) -> Position {
        let offset = text.floor_char_boundary(offset);
        let line = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        let start = self.starts.get(line).copied().unwrap_or_default();
        let character = self.units(text, offset) - self.units(text, start);
        Position { line: to_u32(line), character: to_u32(character) }
    }

    pub fn range(&self, text: &str, span: Span) -> Range {
        Range { start: self.position(text, span.start as usize), end: self.position(text, span.end as usize) }
    }

    /// The range of the whole text.
    pub fn whole(&self, text: &str) -> Range {
        Range { start: Position::default(), end: self.position(text, text.len()) }
    }
}

fn to_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// A place as a line and UTF-16 code units from its start, both from 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Position {
    pub line: u32,
    pub character: u32,
}

/// A half-open range.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Range {
    pub start: Position,
    pub end: Position,
}

#[derive(Debug, Deserialize)]
pub struct DocumentId {
    pub uri: String,
}

#[derive(Debug, Deserialize)]
pub struct OpenedDocument {
    pub uri: String,
    #[serde(default)]
    pub version: Option<i64>,
    pub text: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenParams {
    pub text_document: OpenedDocument,
}

#[derive(Debug, Deserialize)]
pub struct VersionedId {
    pub uri: String,
    #[serde(default)]
    pub version: Option<i64>,
}

/// A replaced range; without one, the text is the whole document.
#[derive(Debug, Deserialize)]
pub struct ContentChange {
    #[serde(default)]
    pub range: Option<Range>,
    pub text: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangeParams {
    pub text_document: VersionedId,
    pub content_changes: Vec<ContentChange>,
}

/// Parameters of every request about a document. Each request reads the fields that it has.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DocumentParams {
    pub text_document: DocumentId,
    #[serde(default)]
    pub position: Position,
    #[serde(default)]
    pub range: Range,
    #[serde(default)]
    pub new_name: String,
    #[serde(default)]
    pub context: RequestContext,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestContext {
    #[serde(default)]
    pub include_declaration: bool,
}

#[derive(Debug, Deserialize)]
pub struct CommandParams {
    pub command: String,
    #[serde(default)]
    pub arguments: Vec<Value>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_utf16_code_units() {
        // One unit: a, ü. Two units: 🚚.
        let text = "aü🚚b\r\nc\rd\n\n🚚";
        let index = LineIndex::new(text);
        let places = [
            (0, 0, 0),
            (1, 0, 1),
            (3, 0, 2),
            (7, 0, 4),
            (8, 0, 5),
            (10, 1, 0),
            (12, 2, 0),
            (14, 3, 0),
            (15, 4, 0),
            (19, 4, 2),
        ];
        for (offset, line, character) in places {
            let position = Position { line, character };
            assert_eq!(index.position(text, offset), position, "{offset}");
            assert_eq!(index.offset(text, position), offset, "{position:?}");
        }
    }

    #[test]
    fn positions_agree_with_counting_in_texts_of_all_kinds() {
        let text = "é(🚚🚚)\r\n漢字 🚚a\n\r🚚\n".repeat(3);
        let index = LineIndex::new(&text);
        for (offset, _) in text.char_indices() {
            let position = index.position(&text, offset);
            let start = index.offset(&text, Position { character: 0, ..position });
            assert_eq!(position.character as usize, text[start..offset].encode_utf16().count(), "{offset}");
        }
    }

    #[test]
    fn positions_outside_the_text_are_clamped() {
        let text = "a🚚\r\nb";
        let index = LineIndex::new(text);
        for (line, character, offset) in [(0, 2, 1), (0, 9, 5), (1, 5, 8), (7, 0, 8), (u32::MAX, u32::MAX, 8)]
        {
            assert_eq!(index.offset(text, Position { line, character }), offset, "{line} {character}");
        }
        assert_eq!(index.position(text, 3), Position { line: 0, character: 1 }, "inside a character");
        assert_eq!(index.position(text, 99), Position { line: 1, character: 1 });
    }
}
