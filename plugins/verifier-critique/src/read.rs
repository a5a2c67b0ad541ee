//! Reads a critic's reply as a [`Critique`], as far as possible in any form: JSON of any kind, lists, running
//! text, an approval, nothing. Oddities of a reply are reported as remarks.
//!
//! * A reply with JSON is read from its JSON: its findings, and its stated verdict. The text around it counts only if the JSON has neither.
//! * Any other reply is read as prose: objections in items and sentences are findings, and words of approval are a verdict.
//! * A reply that names an error objects, whatever verdict it states. Without errors the stated verdict counts; without a stated one, findings that
//!   are all warnings are an approval. An objection without a subject is not a verdict.
//! * A reply that was cut off or filtered does not approve.

mod prose;
mod structured;
mod words;

use crate::codes;
use crate::options::Of;
use planforge_contract::{
    Critique, CritiqueFinding, Failure, FindingSeverity, FinishReason, ReportedDiagnostic, ReportedSeverity,
};
use planforge_plugin_sdk::loose;
use std::collections::BTreeSet;
use words::ReviewLexicon;

/// The longest reply that is read, in bytes.
pub(crate) const MOST_BYTES: usize = 64 << 10;
/// Most findings taken from a reply.
const MOST_FINDINGS: usize = 40;
/// Longest field of a finding, in bytes.
const MOST_OF_A_FIELD: usize = 2000;

#[derive(Debug)]
pub struct CritiqueReader {
    words: ReviewLexicon,
}

/// The facts that a reply is compared with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Against<'a> {
    /// The criticised artefact.
    pub of: Of,
    /// The existing actions, in lower case; `None` if they are unknown.
    pub actions: Option<Vec<String>>,
    /// The critic's last reply about the candidate or its ancestor; empty if there is none.
    pub last: &'a str,
}

/// A reply that was read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReadCritique {
    pub critique: Critique,
    /// The remarks of the critique as diagnostics, all of them warnings about the file `reply`.
    pub diagnostics: Vec<ReportedDiagnostic>,
    /// Number of findings that the last critique already had.
    pub repeated: usize,
}

/// The content of a reply in either form, before it is judged.
#[derive(Debug, Default)]
struct ReplyContent {
    findings: Vec<CritiqueFinding>,
    /// The verdict that it states.
    verdict: Option<bool>,
    /// Findings that are the form of the question.
    echoes: usize,
}

impl ReadCritique {
    fn remark(&mut self, code: &'static str, message: String) {
        self.diagnostics.push(ReportedDiagnostic {
            code: code.to_owned(),
            severity: ReportedSeverity::Warning,
            message: message.clone(),
            file: "reply".to_owned(),
            line: 0,
            column: 0,
            start: 0,
            end: 0,
            help: Vec::new(),
        });
        self.critique.remarks.push(message);
    }
}

impl CritiqueReader {
    /// Makes a reader.
    ///
    /// # Errors
    /// Class `Plugin`: a fault of the plugin's own.
    pub fn new() -> Result<Self, Failure> {
        Ok(Self { words: ReviewLexicon::new()? })
    }

    /// Reads a reply, with remarks about oddities. It never fails and takes time linear in the length of the
    /// reply.
    pub fn read(&self, reply: &str, finish: FinishReason, against: &Against<'_>) -> ReadCritique {
        let text = head(reply, MOST_BYTES);
        let mut read = ReadCritique::default();
        if text.len() < reply.len() {
            let message = format!("of {} bytes of the reply the first {} are read", reply.len(), text.len());
            read.remark(codes::LONG, message);
        }
        read.critique.reply = text.to_owned();
        let ended = ending(finish, &mut read);
        let (form, said) = self.read_content(text);
        read.critique.form = form.to_owned();
        if text.trim().is_empty() {
            read.remark(codes::EMPTY, "the reply is empty".to_owned());
        }
        if said.echoes > 0 {
            let message = "the reply repeats the form that the request shows".to_owned();
            read.remark(codes::ECHO, message);
        }
        let verdict = said.verdict;
        read.critique.findings = self.distinct(said.findings, &mut read);
        self.place(&mut read, against);
        self.repetitions(&mut read, against);
        judge(&mut read, verdict, ended);
        read
    }

    /// The content of a reply, with the name of its form.
    fn read_content(&self, text: &str) -> (&'static str, ReplyContent) {
        let found = loose::salvage(text);
        let said = structured::read(&self.words, &found);
        let Some(mut said) = said else { return ("prose", prose::read(&self.words, text)) };
        let around = structured::around(text, &found);
        if said.findings.is_empty() && said.verdict.is_none() {
            let prose = prose::read(&self.words, &around);
            said = ReplyContent { echoes: said.echoes, ..prose };
        }
        let alone = around.chars().filter(|c| c.is_alphanumeric()).count() < 40;
        (if alone { "structured" } else { "mixed" }, said)
    }

    /// The findings, each once, in bounds.
    fn distinct(&self, all: Vec<CritiqueFinding>, read: &mut ReadCritique) -> Vec<CritiqueFinding> {
        let found = all.len();
        let mut seen = BTreeSet::new();
        let mut distinct: Vec<CritiqueFinding> =
            all.into_iter().filter(|f| seen.insert(key(f))).map(in_bounds).collect();
        if distinct.len() < found {
            let message =
                format!("{} of {found} findings say what others of the reply say", found - distinct.len());
            read.remark(codes::LOOP, message);
        }
        if distinct.len() > MOST_FINDINGS {
            let message = format!("of {} findings the first {MOST_FINDINGS} are taken", distinct.len());
            read.remark(codes::MANY, message);
            distinct.truncate(MOST_FINDINGS);
        }
        distinct
    }

    /// Assigns findings to actions, and adds remarks about unknown actions.
    fn place(&self, read: &mut ReadCritique, against: &Against<'_>) {
        let Some(actions) = &against.actions else { return };
        let mut unknown: BTreeSet<String> = BTreeSet::new();
        for finding in &mut read.critique.findings {
            finding.action = self.words.action(finding, actions);
            if finding.action.is_none() {
                unknown
                    .extend(self.words.named_actions(finding).into_iter().filter(|n| !actions.contains(n)));
            }
        }
        if !unknown.is_empty() {
            let names: Vec<String> = unknown.iter().take(8).map(|n| format!("`{n}`")).collect();
            let which = if unknown.len() == 1 {
                "an action that does not exist"
            } else {
                "actions that do not exist"
            };
            read.remark(codes::UNKNOWN_ACTION, format!("the reply speaks of {which}: {}", names.join(", ")));
        }
    }

    /// Counts the findings that the last critique had, and remarks on them.
    fn repetitions(&self, read: &mut ReadCritique, against: &Against<'_>) {
        let last = head(against.last, MOST_BYTES);
        if last.trim().is_empty() || read.critique.reply.trim().is_empty() {
            return;
        }
        let before: BTreeSet<String> = self.read_content(last).1.findings.iter().map(key).collect();
        read.repeated = read.critique.findings.iter().filter(|f| before.contains(&key(f))).count();
        let (repeated, all) = (read.repeated, read.critique.findings.len());
        if normal(last) == normal(&read.critique.reply) {
            read.remark(codes::REPEATED, "the reply repeats the last critique word for word".to_owned());
        } else if repeated > 0 {
            let message = match (repeated == all, all) {
                (true, 1) => "the finding repeats one of the last critique".to_owned(),
                (true, _) => format!("all {all} findings repeat the last critique"),
                (false, _) => format!("{repeated} of {all} findings repeat the last critique"),
            };
            read.remark(codes::REPEATED, message);
        }
    }
}

/// Adds a remark and returns true if the server ended the reply.
fn ending(finish: FinishReason, read: &mut ReadCritique) -> bool {
    match finish {
        FinishReason::Length => {
            read.remark(codes::CUT_OFF, "the server cut the reply off at its token limit".to_owned());
        }
        FinishReason::ContentFilter => {
            read.remark(codes::FILTERED, "the server's content filter ended the reply".to_owned());
        }
        FinishReason::Stop | FinishReason::Other => return false,
    }
    true
}

/// Derives the critic's verdict from its findings and its stated verdict.
fn judge(read: &mut ReadCritique, verdict: Option<bool>, ended: bool) {
    let findings = &read.critique.findings;
    let errors = findings.iter().filter(|f| f.severity == FindingSeverity::Error).count();
    read.critique.approves = match (verdict, errors, findings.len()) {
        (Some(true), 1.., _) => {
            let message = "the reply says that all is right and names what is wrong".to_owned();
            read.remark(codes::CONTRADICTION, message);
            Some(false)
        }
        (_, 1.., _) | (Some(false), _, 1..) => Some(false),
        (Some(false), 0, 0) => {
            let message = "the reply says that something is wrong and not what".to_owned();
            read.remark(codes::NOTHING_NAMED, message);
            None
        }
        _ if ended => None,
        (Some(true), ..) | (None, 0, 1..) => Some(true),
        (None, 0, 0) => None,
    };
}

/// The identity of a finding: its words and place without case and punctuation.
fn key(finding: &CritiqueFinding) -> String {
    format!("{}|{}", normal(&finding.place), normal(&finding.finding))
}

/// Words in lower case with one blank between them.
fn normal(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '-' && c != '_').filter(|w| !w.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

fn in_bounds(finding: CritiqueFinding) -> CritiqueFinding {
    let cut = |text: String| crate::critique_text::cut_to_bytes(text.trim(), MOST_OF_A_FIELD);
    CritiqueFinding {
        finding: cut(finding.finding),
        place: cut(finding.place),
        change: cut(finding.change),
        ..finding
    }
}

/// At most so many bytes, up to the end of a character.
fn head(text: &str, most: usize) -> &str {
    let end = (0..=text.len().min(most)).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    &text[..end]
}

#[cfg(test)]
mod tests;
