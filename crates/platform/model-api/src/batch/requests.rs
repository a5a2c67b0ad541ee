//! Request files.

use planforge_contract::{Failure, FailureClass};
use planforge_diagnostics::Diagnostic;
use planforge_llm::PendingRequest;
use planforge_record::{Redactor, canonical_json, sha256_hex};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Most requests in one file, as OpenAI's Batch API takes it.
pub const MAX_FILE_REQUESTS: usize = 50_000;
/// Most bytes of one file, as OpenAI's Batch API takes it.
pub const MAX_FILE_BYTES: usize = 200_000_000;
/// The path of OpenAI's interface in a request file.
pub const CHAT_URL: &str = "/v1/chat/completions";
/// The path of OpenAI's interface Responses in a request file.
pub const RESPONSES_URL: &str = "/v1/responses";
/// The path of Anthropic's interface in a request file.
pub const MESSAGES_URL: &str = "/v1/messages";
/// The ticket of a provider whose requests Anthropic's interface answers.
const MESSAGES_TICKET: &str = "messages";
/// The ticket of a provider whose requests OpenAI's interface Responses answers.
const RESPONSES_TICKET: &str = "responses";
/// Unknown answers that are named one by one.
const UNKNOWN_SHOWN: usize = 10;
/// Hexadecimal digits of a `custom_id`: 160 bits. Services take 64 characters of letters, digits, `-` and `_`.
const DIGITS: usize = 40;

/// The id of a request in batch files. It depends only on the request and its place in the run, so it is the
/// same in every wave, and cells of an evaluation with the same request, place and seed share it.
pub fn custom_id(key: &str, body: &Value) -> String {
    let digest = sha256_hex(format!("{key}\n{}", canonical_json(body)).as_bytes());
    format!("pf-{}", digest.get(..DIGITS).unwrap_or_default())
}

/// A request file that was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RequestFile {
    pub path: PathBuf,
    pub model: String,
    pub requests: usize,
}

/// Summary of the pending requests after a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Wave {
    /// Questions without an answer, each once.
    pub pending: usize,
    /// Requests written for the first time.
    pub new: usize,
    /// Requests written again after temporary errors.
    pub again: usize,
    /// Of those, in request files of earlier waves and not answered yet.
    pub open: usize,
    /// Temporary errors by their codes.
    pub failed: BTreeMap<String, usize>,
    /// Files written.
    pub files: Vec<RequestFile>,
    /// Answers to unknown requests: `custom_id` and place.
    pub unknown: Vec<(String, String)>,
}

impl Wave {
    /// Findings about the answers in the folder.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        let shown = |(id, place): &(String, String)| format!("`{id}` ({place})");
        let first: Vec<String> = self.unknown.iter().take(UNKNOWN_SHOWN).map(shown).collect();
        let more = match self.unknown.len().saturating_sub(UNKNOWN_SHOWN) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let message = match self.unknown.len() {
            0 => return Vec::new(),
            1 => format!("1 answer belongs to an unknown request: {}", first.join(", ")),
            count => {
                format!("{count} answers belong to unknown requests: {}{more}", first.join(", "))
            }
        };
        vec![Diagnostic::warning("batch.unknown-id", message).help("do they belong to another run?")]
    }
}

/// A line of a request file.
#[derive(Serialize)]
struct Request<'a> {
    custom_id: &'a str,
    method: &'static str,
    url: &'static str,
    body: &'a Value,
}

/// The fields read from a line of a request file.
#[derive(Deserialize)]
struct RequestLine {
    custom_id: String,
}

/// Number of occurrences of each request in request files.
#[derive(Debug, Default)]
pub(crate) struct Ledger(BTreeMap<String, usize>);

impl Ledger {
    /// Counts the requests of a file's text. Skips an incomplete last line, since such a file was never used.
    pub(crate) fn read(&mut self, text: &str) {
        for asked in text.lines().filter_map(|line| serde_json::from_str::<RequestLine>(line).ok()) {
            self.add(&asked.custom_id);
        }
    }

    /// Counts one more occurrence of a request and returns their number.
    pub(crate) fn add(&mut self, id: &str) -> usize {
        let times = self.0.entry(id.to_owned()).or_insert(0);
        *times += 1;
        *times
    }

    pub(crate) fn times(&self, id: &str) -> usize {
        self.0.get(id).copied().unwrap_or(0)
    }

    pub(crate) fn has(&self, id: &str) -> bool {
        self.0.contains_key(id)
    }
}

/// Requests by id, in order of arrival.
#[derive(Default)]
pub(crate) struct Questions<'a> {
    pub(crate) all: Vec<(String, &'a PendingRequest)>,
    known: BTreeMap<String, usize>,
}

impl<'a> Questions<'a> {
    /// Adds a question, unless it is there.
    ///
    /// # Errors
    /// `batch.collision` where another one is called the same.
    pub(crate) fn add(&mut self, id: String, question: &'a PendingRequest) -> Result<(), Failure> {
        let Some(known) = self.known.get(&id).and_then(|at| self.all.get(*at)) else {
            self.known.insert(id.clone(), self.all.len());
            self.all.push((id, question));
            return Ok(());
        };
        if known.1.key == question.key && known.1.body == question.body {
            return Ok(());
        }
        let (a, b) = (&known.1.path, &question.path);
        let message = format!("the requests at `{a}` and `{b}` would both have the name `{id}`");
        Err(Failure::new(FailureClass::System, "batch.collision", message))
    }
}

/// The text of one file to write.
#[derive(Debug, Default)]
pub(crate) struct Part {
    pub(crate) model: String,
    /// Counts from 1 for each model.
    pub(crate) number: usize,
    pub(crate) text: String,
    pub(crate) requests: usize,
}

/// Divides requests into files: one model and interface each, and no more than a service takes.
pub(crate) fn parts(
    questions: &[(String, &PendingRequest)],
    redactor: &Redactor,
    most: (usize, usize),
) -> Result<Vec<Part>, Failure> {
    let (most_requests, most_bytes) = most;
    let mut models: BTreeMap<(&str, &str), Vec<Part>> = BTreeMap::new();
    for (id, question) in questions {
        let mut body = question.body.clone();
        redactor.value(&mut body);
        let url = match question.ticket.as_str() {
            MESSAGES_TICKET => MESSAGES_URL,
            RESPONSES_TICKET => RESPONSES_URL,
            _ => CHAT_URL,
        };
        let request = Request { custom_id: id, method: "POST", url, body: &body };
        let mut line = serde_json::to_string(&request).map_err(|e| {
            Failure::new(FailureClass::System, "batch.io", format!("a request has no JSON form: {e}"))
        })?;
        line.push('\n');
        if line.len() > most_bytes {
            let mb = most_bytes / 1_000_000;
            let message = format!(
                "the request at `{}` alone is longer than the {mb} MB that a file may have",
                question.path
            );
            return Err(Failure::new(FailureClass::Request, "batch.too-large", message));
        }
        let files = models.entry((&question.model, url)).or_default();
        let full = |part: &Part| part.requests >= most_requests || part.text.len() + line.len() > most_bytes;
        if files.last().is_none_or(full) {
            let number = files.len() + 1;
            files.push(Part { model: question.model.clone(), number, ..Part::default() });
        }
        if let Some(part) = files.last_mut() {
            part.text.push_str(&line);
            part.requests += 1;
        }
    }
    Ok(models.into_values().flatten().collect())
}

/// The names of a wave's files: `requests-0001.jsonl`, with the model where there are several, with a part where a model has several.
pub(crate) fn names(wave: u32, parts: &[Part]) -> Vec<String> {
    let several = parts.iter().any(|part| part.model != parts.first().map_or("", |first| &first.model));
    let mut names: Vec<String> = Vec::new();
    for part in parts {
        let model = if several { format!(".{}", file_word(&part.model)) } else { String::new() };
        let number = if part.number > 1 { format!(".part-{}", part.number) } else { String::new() };
        let mut name = format!("requests-{wave:04}{model}{number}.jsonl");
        let mut other = 2;
        // Two models may differ in characters alone that no file name takes.
        while names.contains(&name) {
            name = format!("requests-{wave:04}{model}-{other}{number}.jsonl");
            other += 1;
        }
        names.push(name);
    }
    names
}

fn file_word(model: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let word: String = model.chars().take(60).map(|c| if plain(c) { c } else { '-' }).collect();
    word.trim_matches('.').to_owned()
}

/// The wave of a request file; `None` for other files.
pub(crate) fn wave_of(path: &Path) -> Option<u32> {
    let name = path.file_name()?.to_str()?;
    let digits: String = name.strip_prefix("requests-")?.chars().take_while(char::is_ascii_digit).collect();
    let wave = digits.parse().ok()?;
    name.ends_with(".jsonl").then_some(wave)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
mod tests {
    use super::*;
    use serde_json::json;

    fn question(key: &str) -> PendingRequest {
        PendingRequest {
            key: key.into(),
            path: key.into(),
            role: String::new(),
            llm: String::new(),
            model: "m".into(),
            body: json!({"text": "x".repeat(50)}),
            ticket: String::new(),
            failed: None,
        }
    }

    #[test]
    fn a_file_holds_no_more_than_a_service_takes() {
        let all: Vec<PendingRequest> = (0..7).map(|i| question(&i.to_string())).collect();
        let asked: Vec<(String, &PendingRequest)> = all.iter().map(|q| (q.key.clone(), q)).collect();
        let sizes = |most| -> Vec<usize> {
            parts(&asked, &Redactor::default(), most).unwrap().iter().map(|part| part.requests).collect()
        };
        assert_eq!(sizes((3, 1_000_000)), [3, 3, 1]);
        let line = parts(&asked, &Redactor::default(), (1, 1_000_000)).unwrap()[0].text.len();
        assert_eq!(sizes((100, 2 * line)), [2, 2, 2, 1]);
        let files = parts(&asked, &Redactor::default(), (3, 1_000_000)).unwrap();
        let wanted = ["requests-0012.jsonl", "requests-0012.part-2.jsonl", "requests-0012.part-3.jsonl"];
        assert_eq!(names(12, &files), wanted);
        assert!(names(12, &files).iter().all(|name| wave_of(Path::new(name)) == Some(12)));
        let refused = parts(&asked, &Redactor::default(), (3, line - 1)).unwrap_err();
        assert_eq!(refused.code, "batch.too-large");
    }

    #[test]
    fn the_ticket_decides_about_the_interface_and_an_interface_has_its_own_file() {
        let asked = [("a", ""), ("b", MESSAGES_TICKET), ("c", RESPONSES_TICKET)];
        let asked = asked.map(|(key, ticket)| PendingRequest { ticket: ticket.into(), ..question(key) });
        let all: Vec<(String, &PendingRequest)> = asked.iter().map(|q| (q.key.clone(), q)).collect();
        let files = parts(&all, &Redactor::default(), (9, 1_000_000)).unwrap();
        let urls: Vec<Value> = files
            .iter()
            .map(|part| serde_json::from_str::<Value>(&part.text).unwrap()["url"].clone())
            .collect();
        assert_eq!(urls, [CHAT_URL, MESSAGES_URL, RESPONSES_URL]);
        let wanted = ["requests-0001.jsonl", "requests-0001-2.jsonl", "requests-0001-3.jsonl"];
        assert_eq!(names(1, &files), wanted);
    }

    #[test]
    fn two_questions_of_one_name_are_an_error_and_the_same_one_is_not() {
        let (a, b) = (question("a"), question("b"));
        let mut questions = Questions::default();
        questions.add("id".into(), &a).unwrap();
        questions.add("id".into(), &a).unwrap();
        assert_eq!(questions.all.len(), 1);
        assert_eq!(questions.add("id".into(), &b).unwrap_err().code, "batch.collision");
    }
}
