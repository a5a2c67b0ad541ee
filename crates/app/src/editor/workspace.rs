//! Open documents and the files beside them: a problem finds its domain and a domain its problems, by the domain's name.

use super::analysis::{Analysis, Header, MAX_TEXT_BYTES};
use super::position::{ContentChange, LineIndex};
use planforge_diagnostics::{Diagnostic, skip_byte_order_mark};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::SystemTime;
use url::Url;

/// Most files of a folder that are looked at.
const MAX_FILES: usize = 2_000;

/// Most files that are read for one request.
const MAX_RELATED: usize = 500;

/// Bytes of a file that are read to find out what it defines.
const HEADER_BYTES: u64 = 64 << 10;

/// Most analyses of files on disk that are kept.
const MAX_CACHED: usize = 64;

/// Kind of a document, from its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentKind {
    Pddl,
    /// `knowledge.lp`
    Knowledge,
    /// `sentences.toml`
    Sentences,
    /// Any other TOML file; a pipeline if it has stages.
    Toml,
    Other,
}

impl DocumentKind {
    fn of(uri: &str) -> Self {
        let name = uri.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
        match name.rsplit_once('.').map_or("", |(_, extension)| extension) {
            "pddl" => Self::Pddl,
            "lp" if name == "knowledge.lp" => Self::Knowledge,
            "toml" if name == "sentences.toml" => Self::Sentences,
            "toml" => Self::Toml,
            // A new document without a name.
            "" => Self::Pddl,
            _ => Self::Other,
        }
    }
}

/// A document that the client has open.
#[derive(Debug)]
pub struct Document {
    pub text: String,
    pub index: LineIndex,
    pub version: Option<i64>,
    pub kind: DocumentKind,
    /// True if its diagnostics are older than its text, or than the text of its domain.
    pub is_stale: bool,
    /// Its diagnostics as published.
    pub findings: Vec<Diagnostic>,
    analysis: RefCell<Option<Rc<Analysis>>>,
}

impl Document {
    fn new(uri: &str, mut text: String, version: Option<i64>) -> Self {
        blank_byte_order_mark(&mut text);
        let kind = DocumentKind::of(uri);
        let index = LineIndex::new(&text);
        Self {
            text,
            index,
            version,
            kind,
            is_stale: true,
            findings: Vec::new(),
            analysis: RefCell::default(),
        }
    }

    /// The document as PDDL; `None` if it is of another kind or too large.
    pub fn analysis(&self) -> Option<Rc<Analysis>> {
        if self.kind != DocumentKind::Pddl || self.is_too_large() {
            return None;
        }
        let mut analysis = self.analysis.borrow_mut();
        Some(Rc::clone(analysis.get_or_insert_with(|| Rc::new(Analysis::new(self.text.clone())))))
    }

    pub fn is_too_large(&self) -> bool {
        self.text.len() > MAX_TEXT_BYTES
    }

    pub fn change(&mut self, change: &ContentChange) {
        match change.range {
            None => self.text.clone_from(&change.text),
            Some(range) => {
                let start = self.index.offset(&self.text, range.start);
                let end = self.index.offset(&self.text, range.end).max(start);
                self.text.replace_range(start..end, &change.text);
            }
        }
        blank_byte_order_mark(&mut self.text);
        self.index = LineIndex::new(&self.text);
        self.is_stale = true;
        self.analysis = RefCell::default();
    }
}

/// Replaces a byte-order mark by a space, which is as wide in the positions of the editor.
fn blank_byte_order_mark(text: &mut String) {
    let mark = text.len() - skip_byte_order_mark(text).len();
    if mark > 0 {
        text.replace_range(..mark, " ");
    }
}

/// State of a file when it was read.
type Stamp = (u64, Option<SystemTime>);

/// Open documents and analyses of files beside them.
#[derive(Default)]
pub struct Workspace {
    pub documents: BTreeMap<String, Document>,
    headers: RefCell<BTreeMap<PathBuf, (Stamp, Header)>>,
    files: RefCell<BTreeMap<PathBuf, (Stamp, Rc<Analysis>)>>,
}

/// Definitions that belong together.
pub struct Related {
    /// Each with its URI; the domain first, if there is one.
    pub definitions: Vec<(String, Rc<Analysis>)>,
    /// False if some were left out because there are too many.
    pub is_complete: bool,
}

impl Workspace {
    pub fn open(&mut self, uri: &str, text: String, version: Option<i64>) {
        self.documents.insert(uri.to_owned(), Document::new(uri, text, version));
        self.domain_changed(self.defines_domain(uri), uri);
    }

    pub fn change(&mut self, uri: &str, changes: &[ContentChange], version: Option<i64>) {
        let defined_domain = self.defines_domain(uri);
        let Some(document) = self.documents.get_mut(uri) else { return };
        changes.iter().for_each(|change| document.change(change));
        document.version = version;
        self.domain_changed(defined_domain || self.defines_domain(uri), uri);
    }

    pub fn close(&mut self, uri: &str) {
        let defined_domain = self.defines_domain(uri);
        self.documents.remove(uri);
        self.domain_changed(defined_domain, uri);
    }

    /// Notes that files on disk changed.
    pub fn files_changed(&mut self) {
        self.domain_changed(true, "");
    }

    fn defines_domain(&self, uri: &str) -> bool {
        let document = self.documents.get(uri).filter(|document| document.kind == DocumentKind::Pddl);
        document.is_some_and(|document| !Header::of(&document.text).is_problem)
    }

    /// Marks the documents that may depend on a domain.
    fn domain_changed(&mut self, changed: bool, uri: &str) {
        for (_, document) in self.documents.iter_mut().filter(|(other, _)| changed && *other != uri) {
            document.is_stale |= match document.kind {
                DocumentKind::Pddl => Header::of(&document.text).is_problem,
                DocumentKind::Knowledge | DocumentKind::Sentences => true,
                DocumentKind::Toml | DocumentKind::Other => false,
            };
        }
    }

    /// The domain of a problem or of another file of its folder: named by the problem, else `domain.pddl`.
    pub fn domain_for(&self, uri: &str) -> Option<(String, Rc<Analysis>)> {
        let wanted =
            self.documents.get(uri).and_then(Document::analysis).and_then(|a| a.header.domain.clone());
        let fits = |header: &Header| {
            !header.is_problem && header.domain.is_some() && (wanted.is_none() || header.domain == wanted)
        };
        let Some(path) = path_of(uri) else {
            let open =
                self.documents.iter().filter_map(|(uri, document)| Some((uri.clone(), document.analysis()?)));
            return open.into_iter().find(|(_, analysis)| fits(&analysis.header));
        };
        let folder = path.parent()?;
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let own = format!("domain-{stem}.pddl");
        let rank = |file: &PathBuf| {
            let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let contains = name.to_ascii_lowercase().contains("domain");
            (name != own, name != "domain.pddl", name.contains("_template"), !contains)
        };
        for folder in [Some(folder), folder.parent()].into_iter().flatten() {
            let mut files = self.pddl_files(folder).0;
            files.sort_by_key(|file| (rank(file), file.clone()));
            let found = files
                .iter()
                .find(|file| **file != path && self.header(file).is_some_and(|header| fits(&header)));
            if let Some(found) = found {
                return self.analysis(found);
            }
        }
        None
    }

    /// A definition with its domain and all problems of that domain in its folder and the folders in it.
    pub fn related(&self, uri: &str) -> Related {
        let mut related = Related { definitions: Vec::new(), is_complete: true };
        let Some(own) = self.documents.get(uri).and_then(Document::analysis) else { return related };
        let domain = if own.header.is_problem {
            self.domain_for(uri)
        } else {
            Some((uri.to_owned(), Rc::clone(&own)))
        };
        let name = domain
            .as_ref()
            .map_or_else(|| own.header.domain.clone(), |(_, domain)| domain.header.domain.clone());
        let anchor = domain.as_ref().map_or(uri, |(uri, _)| uri).to_owned();
        related.definitions.extend(domain);
        let (files, is_complete) = path_of(&anchor).map(|path| self.files_around(&path)).unwrap_or_default();
        related.is_complete = is_complete || path_of(&anchor).is_none();
        let open = self
            .documents
            .iter()
            .filter(|(_, document)| document.kind == DocumentKind::Pddl)
            .map(|(uri, _)| uri.clone());
        let open: Vec<String> = open.filter(|open| is_near(open, &anchor)).collect();
        let mut uris: BTreeSet<String> = files
            .iter()
            .filter(|file| self.header(file).is_some_and(|header| header.is_problem && header.domain == name))
            .filter_map(|file| uri_of(file))
            .collect();
        uris.extend(open);
        uris.insert(uri.to_owned());
        for uri in uris {
            if related.definitions.len() > MAX_RELATED {
                related.is_complete = false;
                break;
            }
            let analysis = match self.documents.get(&uri) {
                Some(document) => document.analysis(),
                None => path_of(&uri).and_then(|path| self.analysis(&path)).map(|(_, analysis)| analysis),
            };
            let fits =
                |a: &Rc<Analysis>| a.header.is_problem && a.header.domain == name || Rc::ptr_eq(a, &own);
            let is_new = related.definitions.iter().all(|(known, _)| *known != uri);
            related.definitions.extend(analysis.filter(|a| fits(a) && is_new).map(|a| (uri, a)));
        }
        related
    }

    fn files_around(&self, path: &Path) -> (Vec<PathBuf>, bool) {
        let Some(folder) = path.parent() else { return (Vec::new(), true) };
        let (mut files, mut is_complete) = self.pddl_files(folder);
        let folders = std::fs::read_dir(folder).into_iter().flatten().flatten().take(MAX_FILES);
        for inner in folders.map(|entry| entry.path()).filter(|path| path.is_dir()) {
            let (more, complete) = self.pddl_files(&inner);
            files.extend(more);
            is_complete &= complete && files.len() <= MAX_FILES;
            files.truncate(MAX_FILES);
        }
        (files, is_complete)
    }

    /// The PDDL files of a folder and the new documents there, sorted; false if there are too many.
    fn pddl_files(&self, folder: &Path) -> (Vec<PathBuf>, bool) {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let is_pddl = |path: &PathBuf| path.extension().is_some_and(|e| e.eq_ignore_ascii_case("pddl"));
        let mut files: Vec<PathBuf> = entries.filter(is_pddl).take(MAX_FILES + 1).collect();
        let is_complete = files.len() <= MAX_FILES;
        files.truncate(MAX_FILES);
        let open = self.documents.iter().filter(|(_, document)| document.kind == DocumentKind::Pddl);
        let open = open.filter_map(|(uri, _)| path_of(uri));
        files.extend(open.filter(|path| path.parent() == Some(folder)));
        files.sort();
        files.dedup();
        (files, is_complete)
    }

    /// Names and texts of at most so many problems beside a domain file. Templates of problems are left out.
    pub fn problems_beside(&self, domain: &Path, most: usize) -> Vec<(String, String)> {
        let Some((folder, own)) = domain.parent().zip(self.header(domain)) else { return Vec::new() };
        let problem = |file: PathBuf| {
            let header = self.header(&file)?;
            let name = file.file_name()?.to_str()?.to_owned();
            let fits = header.is_problem && header.domain == own.domain && !name.contains("_template");
            if fits { Some((name, self.text(&file)?)) } else { None }
        };
        self.pddl_files(folder).0.into_iter().filter_map(problem).take(most).collect()
    }

    /// The header of an open document or a file.
    fn header(&self, path: &Path) -> Option<Header> {
        if let Some(document) = uri_of(path).and_then(|uri| self.documents.get(&uri)) {
            return Some(Header::of(&document.text));
        }
        let stamp = stamp(path)?;
        if let Some((_, header)) = self.headers.borrow().get(path).filter(|(known, _)| *known == stamp) {
            return Some(header.clone());
        }
        let mut bytes = Vec::new();
        std::fs::File::open(path).ok()?.take(HEADER_BYTES).read_to_end(&mut bytes).ok()?;
        let header = Header::of(&String::from_utf8_lossy(&bytes));
        let mut headers = self.headers.borrow_mut();
        if headers.len() > 4 * MAX_FILES {
            headers.clear();
        }
        headers.insert(path.to_owned(), (stamp, header.clone()));
        Some(header)
    }

    /// The text of a file of any kind, if it is open or can be read.
    pub fn text(&self, path: &Path) -> Option<String> {
        if let Some(document) = uri_of(path).and_then(|uri| self.documents.get(&uri)) {
            return Some(document.text.clone());
        }
        stamp(path).filter(|(length, _)| *length <= MAX_TEXT_BYTES as u64)?;
        Some(skip_byte_order_mark(&std::fs::read_to_string(path).ok()?).to_owned())
    }

    /// The analysis of an open document or a file, with its URI.
    fn analysis(&self, path: &Path) -> Option<(String, Rc<Analysis>)> {
        let uri = uri_of(path)?;
        if let Some(document) = self.documents.get(&uri) {
            return Some((uri, document.analysis()?));
        }
        let stamp = stamp(path).filter(|(length, _)| *length <= MAX_TEXT_BYTES as u64)?;
        if let Some((_, analysis)) = self.files.borrow().get(path).filter(|(known, _)| *known == stamp) {
            return Some((uri, Rc::clone(analysis)));
        }
        let text = planforge_pddl::read_pddl_bytes(&uri, &std::fs::read(path).ok()?).ok()?.text;
        let analysis = Rc::new(Analysis::new(text));
        let mut files = self.files.borrow_mut();
        if files.len() >= MAX_CACHED {
            files.clear();
        }
        files.insert(path.to_owned(), (stamp, Rc::clone(&analysis)));
        Some((uri, analysis))
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    Some((metadata.len(), metadata.modified().ok()))
}

/// The path of a document; `None` for one that is not a file.
pub(super) fn path_of(uri: &str) -> Option<PathBuf> {
    Url::parse(uri).ok().filter(|url| url.scheme() == "file")?.to_file_path().ok()
}

pub(super) fn uri_of(path: &Path) -> Option<String> {
    Url::from_file_path(path).ok().map(String::from)
}

/// True if both documents are in one folder, or one is in a folder in the other's; new documents are near all.
fn is_near(a: &str, b: &str) -> bool {
    let (Some(a), Some(b)) = (path_of(a), path_of(b)) else { return true };
    let (a, b) = (a.parent(), b.parent());
    a == b || a.and_then(Path::parent) == b || a == b.and_then(Path::parent)
}
