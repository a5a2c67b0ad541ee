//! The data of a report, in pieces that a browser unpacks one by one: a store is a list of JSON values, cut
//! into chunks of some hundred kilobytes, each compressed with gzip. In the one-file report a chunk is base64 in a separate
//! script element; a page that a server answers gets the same bytes one by one. A value's name is its place in the list, so that a page refers to a text by one number;
//! equal texts are kept once. Also the destinations of pages and texts while a report is built, and the source of a record's documents.

use crate::documents::{Firsts, PageId, TextId, Turn};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use planforge_contract::{Failure, FailureClass, Message, Speaker};
use planforge_record::{Journal as _, RunFolder};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write};

/// From how many bytes of JSON on a chunk is full. Small enough to be unpacked in a few milliseconds, large enough to compress well.
const FULL: usize = 192 * 1024;

/// The chunks of a report, in a temporary file.
pub(crate) struct Spool {
    file: File,
    places: Vec<Place>,
}

/// Place of a chunk in the file.
struct Place {
    name: String,
    start: u64,
    bytes: usize,
}

impl Spool {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self { file: tempfile::tempfile()?, places: Vec::new() })
    }

    /// Appends one chunk, compressed with gzip.
    fn chunk(&mut self, store: &str, number: usize, json: &[u8]) -> io::Result<()> {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        gzip.write_all(json)?;
        let packed = gzip.finish()?;
        let start = self.places.last().map_or(0, |last| last.start + last.bytes as u64);
        self.file.seek(SeekFrom::Start(start))?;
        self.file.write_all(&packed)?;
        self.places.push(Place { name: format!("{store}-{number}"), start, bytes: packed.len() });
        Ok(())
    }

    /// Writes every chunk as a script element. Base64 has no character that could end the element.
    fn write_elements(&self, out: &mut dyn Write) -> io::Result<()> {
        for place in &self.places {
            let packed = STANDARD.encode(self.read(place)?);
            let name = &place.name;
            writeln!(out, "<script type=\"application/octet-stream\" id=\"{name}\">{packed}</script>")?;
        }
        Ok(())
    }

    /// The chunk of this name (`text-0`), compressed with gzip. `None` if there is no such chunk.
    fn get(&self, name: &str) -> Result<Option<Vec<u8>>, Failure> {
        let Some(place) = self.places.iter().find(|place| place.name == name) else { return Ok(None) };
        self.read(place).map(Some).map_err(|error| {
            let message = format!("the part `{name}` of the report cannot be read: {error}");
            Failure::new(FailureClass::System, "report.io", message)
                .help("open the report again; TMPDIR is where its parts wait")
        })
    }

    fn read(&self, place: &Place) -> io::Result<Vec<u8>> {
        let mut file = &self.file;
        file.seek(SeekFrom::Start(place.start))?;
        let mut bytes = vec![0; place.bytes];
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

/// One list of values.
pub(crate) struct Store {
    name: &'static str,
    /// The values of the open chunk, with commas between them.
    open: Vec<u8>,
    count: u32,
    /// The number of the first value of each chunk, the open one included.
    firsts: Vec<u32>,
    /// The texts in the store, by hash.
    known: HashMap<[u8; 32], u32>,
}

impl Store {
    pub(crate) fn new(name: &'static str) -> Self {
        Self { name, open: Vec::new(), count: 0, firsts: vec![0], known: HashMap::new() }
    }

    /// Adds a value and returns its number.
    pub(crate) fn push(&mut self, spool: &mut Spool, value: &impl Serialize) -> io::Result<u32> {
        self.open.push(if self.open.is_empty() { b'[' } else { b',' });
        serde_json::to_writer(&mut self.open, value)?;
        let number = self.count;
        self.count += 1;
        if self.open.len() >= FULL {
            self.close(spool)?;
        }
        Ok(number)
    }

    /// Adds a text, where it is not there yet, and returns its number.
    pub(crate) fn text(&mut self, spool: &mut Spool, text: &str) -> io::Result<u32> {
        let hash: [u8; 32] = Sha256::digest(text.as_bytes()).into();
        if let Some(number) = self.known.get(&hash) {
            return Ok(*number);
        }
        let number = self.push(spool, &text)?;
        self.known.insert(hash, number);
        Ok(number)
    }

    /// Closes the open chunk and returns the number of the first value of each chunk.
    pub(crate) fn flush(&mut self, spool: &mut Spool) -> io::Result<Vec<u32>> {
        if !self.open.is_empty() {
            self.close(spool)?;
        }
        Ok(self.firsts[..self.firsts.len() - 1].to_vec())
    }

    fn close(&mut self, spool: &mut Spool) -> io::Result<()> {
        self.open.push(b']');
        if let Err(error) = spool.chunk(self.name, self.firsts.len() - 1, &self.open) {
            // The chunk stays open, and further values follow.
            self.open.pop();
            return Err(error);
        }
        self.open.clear();
        self.firsts.push(self.count);
        Ok(())
    }
}

/// The texts and pages of a report.
pub(crate) struct Stores {
    spool: Spool,
    texts: Store,
    pages: Store,
    /// Documents of the run at hand that could not be read.
    pub(crate) unreadable: usize,
}

impl Stores {
    pub(crate) fn new() -> Result<Self, Failure> {
        let spool = Spool::new().map_err(|e| broken(&e))?;
        Ok(Self { spool, texts: Store::new("text"), pages: Store::new("page"), unreadable: 0 })
    }

    pub(crate) fn text(&mut self, text: &str) -> Result<TextId, Failure> {
        self.texts.text(&mut self.spool, text).map_err(|e| broken(&e))
    }

    pub(crate) fn page(&mut self, page: &impl Serialize) -> Result<PageId, Failure> {
        self.pages.push(&mut self.spool, page).map_err(|e| broken(&e))
    }

    pub(crate) fn turns(&mut self, messages: &[Message]) -> Result<Vec<Turn>, Failure> {
        messages.iter().map(|m| Ok(Turn { role: speaker(m.role), text: self.text(&m.content)? })).collect()
    }

    /// Closes the open chunks, so that everything that was added can be read.
    pub(crate) fn flush(&mut self) -> Result<Firsts, Failure> {
        let text_chunks = self.texts.flush(&mut self.spool).map_err(|e| broken(&e))?;
        let page_chunks = self.pages.flush(&mut self.spool).map_err(|e| broken(&e))?;
        Ok(Firsts { text_chunks, page_chunks })
    }

    /// A chunk that is closed, compressed with gzip. `None` if there is no such chunk.
    pub(crate) fn chunk(&self, name: &str) -> Result<Option<Vec<u8>>, Failure> {
        self.spool.get(name)
    }

    /// Writes every closed chunk as a script element.
    pub(crate) fn write_elements(&self, out: &mut dyn Write) -> io::Result<()> {
        self.spool.write_elements(out)
    }
}

/// The report cannot be written.
pub(crate) fn broken(error: &io::Error) -> Failure {
    Failure::new(FailureClass::System, "report.io", format!("the report cannot be written: {error}"))
        .help("make room on the disk, or name another place with --out; TMPDIR is where its parts wait")
}

pub(crate) const fn speaker(speaker: Speaker) -> &'static str {
    match speaker {
        Speaker::System => "system",
        Speaker::User => "user",
        Speaker::Assistant => "assistant",
    }
}

/// A document of the record.
///
/// # Errors
/// Reason why the artefact cannot be read.
pub(crate) fn document<T: DeserializeOwned>(run: &RunFolder, blob: &str) -> Result<T, String> {
    let bytes = run.get(blob).map_err(|error| error.to_string())?;
    planforge_contract::read_json(&bytes)
        .map_err(|error| format!("blob {blob} does not hold the document that the journal names: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::read::GzDecoder;

    fn unpacked(html: &str) -> Vec<Vec<serde_json::Value>> {
        let bodies = html.lines().map(|line| {
            let body = line.split_once('>').unwrap().1.strip_suffix("</script>").unwrap();
            let mut json = String::new();
            GzDecoder::new(STANDARD.decode(body).unwrap().as_slice()).read_to_string(&mut json).unwrap();
            serde_json::from_str(&json).unwrap()
        });
        bodies.collect()
    }

    #[test]
    fn values_are_found_by_their_numbers_and_equal_texts_are_kept_once() {
        let mut spool = Spool::new().unwrap();
        let mut store = Store::new("text");
        let long = "</script><!--\u{2028}".repeat(20_000);
        let numbers: Vec<u32> =
            ["a", &long, "b", "a", &long].iter().map(|t| store.text(&mut spool, t).unwrap()).collect();
        assert_eq!(numbers, [0, 1, 2, 0, 1]);
        assert_eq!(store.flush(&mut spool).unwrap(), [0, 2]);
        let mut html = Vec::new();
        spool.write_elements(&mut html).unwrap();
        let chunks = unpacked(&String::from_utf8(html).unwrap());
        assert_eq!(chunks[0], ["a", &long]);
        assert_eq!(chunks[1], ["b"]);
        let mut json = String::new();
        let single = spool.get("text-1").unwrap().unwrap();
        GzDecoder::new(single.as_slice()).read_to_string(&mut json).unwrap();
        assert_eq!(json, "[\"b\"]");
        assert_eq!(spool.get("text-2").unwrap(), None);
        // A value that is added later stands in a further chunk, and the chunks before it stay as they are.
        assert_eq!(store.text(&mut spool, "c").unwrap(), 3);
        assert_eq!(store.flush(&mut spool).unwrap(), [0, 2, 3]);
        assert_eq!(store.flush(&mut spool).unwrap(), [0, 2, 3]);
        assert!(spool.get("text-2").unwrap().is_some());
        assert_eq!(spool.get("text-1").unwrap().unwrap(), single);
        spool.file.set_len(0).unwrap();
        let failure = spool.get("text-1").unwrap_err();
        assert_eq!(failure.code, "report.io");
        assert!(failure.message.starts_with("the part `text-1` of the report cannot be read"), "{failure:?}");
        assert!(Store::new("page").flush(&mut Spool::new().unwrap()).unwrap().is_empty());
    }
}
