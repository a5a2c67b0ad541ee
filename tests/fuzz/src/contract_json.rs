//! Every document that may cross a plugin's boundary, be stored in a run folder or be printed by a command.

use planforge_contract::{Document, DocumentVisitor, decode, encode};

/// Reads a text as each document and counts those that it can be read as.
struct Reader<'a> {
    text: &'a str,
    count: usize,
}

impl DocumentVisitor for Reader<'_> {
    /// A value that was read can be written; the written text reads as the same value and is written the same.
    fn visit<T: Document + PartialEq + std::fmt::Debug>(&mut self) {
        let body: T = match decode(self.text) {
            Ok(body) => body,
            Err(error) => return assert!(!error.to_string().is_empty()),
        };
        let written = encode(&body).expect("a value read from JSON can be written as JSON");
        let again: T = decode(&written).expect("a written document can be read");
        assert_eq!(again, body, "`{}` reads differently after writing", T::NAME);
        assert_eq!(encode(&again).as_ref(), Ok(&written), "`{}` is written differently", T::NAME);
        self.count += 1;
    }
}

/// Reads a text as each document. It is at most one of them.
pub fn contract_json(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let mut reader = Reader { text, count: 0 };
    planforge_contract::visit_documents(&mut reader);
    planforge_record::visit_documents(&mut reader);
    planforge_plugin_common::judging::reports::visit_documents(&mut reader);
    assert!(reader.count <= 1, "one text reads as several documents");
}
