//! Run folders that are written by hand, and reports taken apart again.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests; each test file uses some of them"
)]

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{
    BufferQueue, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use planforge_contract::{
    Assessment, Candidate, CandidatePatch, CompletionResult, LineageStep, Replies, Reply, Usage,
};
use planforge_record::{
    CompletionRecord, ConfigText, Event, Journal as _, Redactor, RunFolder, RunManifest, TaskUse,
};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A run that is being written.
pub(crate) struct Evidence {
    pub(crate) run: RunFolder,
}

impl Evidence {
    /// A run with these tasks below a folder.
    pub(crate) fn new(runs: &Path, id: &str, tasks: &[&str], redactor: Redactor) -> Self {
        let manifest = RunManifest {
            schema: RunManifest::SCHEMA,
            id: id.to_owned(),
            planforge: "0.1.0".to_owned(),
            created_at: "2026-11-21T10:00:00Z".to_owned(),
            config: ConfigText::new(
                "pipelines/method.toml",
                "[llm.main]\nprice = { prompt = 1.0, completion = 2.0 }\n",
            ),
            models: BTreeMap::from([("main".to_owned(), "some-model".to_owned())]),
            seed: 7,
            tasks: tasks
                .iter()
                .map(|name| TaskUse {
                    name: (*name).to_owned(),
                    suite: "nowhere/suite".to_owned(),
                    task: name.rsplit('.').next().unwrap().to_owned(),
                    ..TaskUse::default_for_tests()
                })
                .collect(),
            ..RunManifest::default()
        };
        Self { run: RunFolder::create(runs, manifest, Arc::new(redactor)).unwrap() }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.run.path().to_owned()
    }

    pub(crate) fn blob(&self, document: &impl serde::Serialize) -> String {
        self.run.put_json(&serde_json::to_value(document).unwrap()).unwrap()
    }

    pub(crate) fn event(&self, event: &Event) {
        self.run.append(event).unwrap();
    }

    /// A candidate of this descent, `label/sample label/sample`.
    pub(crate) fn made(&self, task: &str, descent: &str, candidate: Candidate, reply: &str) -> String {
        let lineage: Vec<LineageStep> = descent
            .split(' ')
            .map(|step| {
                let (stage, sample) = step.rsplit_once('/').unwrap();
                LineageStep { stage: stage.to_owned(), sample: sample.parse().unwrap() }
            })
            .collect();
        let indices: Vec<String> = lineage.iter().map(|step| step.sample.to_string()).collect();
        let path = format!("{task}/{}/{}", lineage.last().unwrap().stage, indices.join("."));
        let patch = CandidatePatch {
            domain: candidate.domain.clone(),
            raw_reply: reply.to_owned(),
            ..CandidatePatch::default()
        };
        let candidate = Candidate { lineage, ..candidate };
        self.event(&Event::CandidateMade {
            task: task.to_owned(),
            path: path.clone(),
            candidate: self.blob(&candidate),
            patch: self.blob(&patch),
        });
        path
    }

    pub(crate) fn assessed(&self, task: &str, stage: &str, path: &str, assessment: &Assessment) {
        self.event(&Event::Assessed {
            task: task.to_owned(),
            stage: stage.to_owned(),
            path: path.to_owned(),
            assessment: self.blob(assessment),
            decision: assessment.decision.name().to_owned(),
        });
    }

    /// A question that was answered with these replies.
    pub(crate) fn call(&self, path: &str, prompt: &str, replies: &[&str], usage: Usage) {
        let replies: Vec<Reply> = replies
            .iter()
            .map(|content| Reply::new(*content, planforge_contract::FinishReason::Stop))
            .collect();
        let n = replies.len();
        let result = CompletionResult::Replies(Replies {
            replies,
            usage,
            model: "served".to_owned(),
            raw: String::new(),
        });
        self.completion(path, prompt, n, Some(result), None, usage);
    }

    pub(crate) fn completion(
        &self,
        path: &str,
        prompt: &str,
        n: usize,
        result: Option<CompletionResult>,
        failure: Option<planforge_contract::ProviderFailure>,
        usage: Usage,
    ) {
        let request = json!({
            "model": "some-model",
            "messages": [{"role": "system", "content": "You write PDDL."}, {"role": "user", "content": prompt}],
            "sampling": {"n": n, "seed": 5, "temperature": 0.7},
            "extra": {"grammar": "g"},
        });
        let record = CompletionRecord {
            key: format!("{}:{path}", planforge_record::sha256_hex(request.to_string().as_bytes())),
            path: path.to_owned(),
            role: "writer".to_owned(),
            llm: "main".to_owned(),
            request,
            result,
            failure,
            usage,
            attempts: 2,
            elapsed_ms: 1500,
        };
        self.run.record_completion(&record).unwrap();
    }
}

trait ForTests {
    fn default_for_tests() -> Self;
}

impl ForTests for TaskUse {
    fn default_for_tests() -> Self {
        Self {
            name: String::new(),
            suite: String::new(),
            task: String::new(),
            sha256: String::new(),
            add_on: None,
        }
    }
}

/// The report of a folder.
pub(crate) fn report(folder: &Path) -> (Page, planforge_report::Written) {
    let mut bytes = Vec::new();
    let written = planforge_report::write(&[folder.to_owned()], &mut |_, _| {}, &mut bytes).unwrap();
    assert_eq!(written.bytes, bytes.len() as u64);
    (Page::parse(String::from_utf8(bytes).unwrap()), written)
}

/// An element as a browser's tokenizer sees it.
#[derive(Debug, Clone)]
pub(crate) struct Element {
    pub(crate) name: String,
    pub(crate) attributes: BTreeMap<String, String>,
    /// Text inside a script, style or title element.
    pub(crate) text: String,
}

/// A report taken apart.
pub(crate) struct Page {
    pub(crate) html: String,
    pub(crate) elements: Vec<Element>,
    /// Text outside of scripts and styles.
    pub(crate) text: String,
    pub(crate) index: Value,
    texts: Vec<Value>,
    pages: Vec<Value>,
}

#[derive(Default)]
struct Sink {
    elements: RefCell<Vec<Element>>,
    text: RefCell<String>,
    raw: RefCell<bool>,
}

impl TokenSink for Sink {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        match token {
            Token::TagToken(tag) if tag.kind == TagKind::StartTag => {
                let attributes =
                    tag.attrs.iter().map(|a| (a.name.local.to_string(), a.value.to_string())).collect();
                let name = tag.name.to_string();
                let raw = match name.as_str() {
                    "script" => Some(RawKind::ScriptData),
                    "style" => Some(RawKind::Rawtext),
                    "title" => Some(RawKind::Rcdata),
                    _ => None,
                };
                self.elements.borrow_mut().push(Element { name, attributes, text: String::new() });
                *self.raw.borrow_mut() = raw.is_some();
                if let Some(kind) = raw {
                    return TokenSinkResult::RawData(kind);
                }
            }
            Token::TagToken(_) => *self.raw.borrow_mut() = false,
            Token::CharacterTokens(text) => {
                if *self.raw.borrow() {
                    self.elements.borrow_mut().last_mut().unwrap().text.push_str(&text);
                } else {
                    self.text.borrow_mut().push_str(&text);
                }
            }
            Token::CommentToken(text) => panic!("a comment: {text}"),
            Token::ParseError(error) => panic!("not well-formed: {error}"),
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

/// The values of a store whose chunks begin where `index` says.
fn unpacked(store: &str, index: &Value, chunk: impl Fn(&str) -> Vec<u8>) -> Vec<Value> {
    let mut values = Vec::new();
    for (number, first) in index[format!("{store}_chunks")].as_array().unwrap().iter().enumerate() {
        assert_eq!(first, values.len(), "where chunk {number} begins");
        let mut json = String::new();
        GzDecoder::new(chunk(&format!("{store}-{number}")).as_slice()).read_to_string(&mut json).unwrap();
        values.extend(serde_json::from_str::<Vec<Value>>(&json).unwrap());
    }
    values
}

impl Page {
    pub(crate) fn parse(html: String) -> Self {
        let tokenizer = Tokenizer::new(
            Sink::default(),
            TokenizerOpts { exact_errors: false, ..TokenizerOpts::default() },
        );
        let input = BufferQueue::default();
        input.push_back(StrTendril::from(html.as_str()));
        let _ = tokenizer.feed(&input);
        tokenizer.end();
        let elements = tokenizer.sink.elements.take();
        let text = tokenizer.sink.text.take();
        let by_id = |id: &str| elements.iter().find(|e| e.attributes.get("id").is_some_and(|own| own == id));
        let index: Value = serde_json::from_str(&by_id("index").unwrap().text).unwrap();
        let chunk = |name: &str| STANDARD.decode(&by_id(name).unwrap().text).unwrap();
        let (texts, pages) = (unpacked("text", &index, chunk), unpacked("page", &index, chunk));
        Self { html, elements, text, index, texts, pages }
    }

    /// The parts of a report that are there so far; `chunks` has the places of their chunks.
    pub(crate) fn of_parts(contents: &planforge_report::Contents, chunks: &Value) -> Self {
        let chunk = |name: &str| contents.chunk(name).unwrap().unwrap();
        let (texts, pages) = (unpacked("text", chunks, chunk), unpacked("page", chunks, chunk));
        let index = serde_json::from_str(contents.index()).unwrap();
        Self { html: String::new(), elements: Vec::new(), text: String::new(), index, texts, pages }
    }

    pub(crate) fn of(&self, name: &str) -> Vec<&Element> {
        self.elements.iter().filter(|e| e.name == name).collect()
    }

    pub(crate) fn text(&self, number: &Value) -> &str {
        self.texts[usize::try_from(number.as_u64().unwrap()).unwrap()].as_str().unwrap()
    }

    pub(crate) fn page(&self, number: &Value) -> &Value {
        &self.pages[usize::try_from(number.as_u64().unwrap()).unwrap()]
    }

    /// The page of a cell's task.
    pub(crate) fn task(&self, cell: usize, task: usize) -> &Value {
        self.page(&self.page(&self.index["cells"][cell]["page"])["tasks"][task]["page"])
    }

    /// The page of a node of a task's tree.
    pub(crate) fn node(&self, task: &Value, place: usize) -> &Value {
        self.page(&task["tree"]["page"][place])
    }

    /// The page of a call.
    pub(crate) fn call(&self, task: &Value, place: usize) -> &Value {
        self.page(&task["calls"]["page"][place])
    }

    /// Everything in the file, unpacked.
    pub(crate) fn everything(&self) -> String {
        format!("{}{}{}", self.html, Value::from(self.texts.clone()), Value::from(self.pages.clone()))
    }
}
