//! Plan files as planners, VAL and language models write them: one step a line, `(name arg arg)`, with comments,
//! time stamps, durations, numbering, and parentheses or not.

use planforge_diagnostics::{Diagnostic, SourceId, Span};
use planforge_pddl::Number;
use std::cmp::Ordering;

/// A word and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanToken {
    /// Text of the token, unchanged.
    pub text: String,
    /// Bytes in the plan file.
    pub span: Span,
}

/// A step as written in a plan file; names are not resolved.
#[derive(Debug, Clone, PartialEq)]
pub struct FileStep {
    /// Name of the action.
    pub name: PlanToken,
    /// Names of the objects.
    pub args: Vec<PlanToken>,
    /// The step from its first to its last byte, without time and duration.
    pub span: Span,
    /// The time before the colon.
    pub time: Option<Number>,
    /// The duration in brackets after the step.
    pub duration: Option<Number>,
    /// True if the step has no parentheses. It may then be prose.
    pub bare: bool,
}

/// A plan file that was read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PlanFile {
    /// The steps in order: of the times where the file has them, else of the lines.
    pub steps: Vec<FileStep>,
    /// Errors for unreadable text and warnings for doubtful text.
    pub diagnostics: Vec<Diagnostic>,
    /// Steps after the first [`MAX_PLAN_STEPS`]. They are only counted, so that such a plan cannot be judged.
    pub omitted: usize,
}

/// Most steps that are read.
pub const MAX_PLAN_STEPS: usize = 500_000;

/// Most lines without a step that are reported one by one.
const MAX_GARBAGE: usize = 1000;

/// Reads a plan file. Never fails: what it cannot read is a diagnostic.
pub fn parse_plan(text: &str, source: SourceId) -> PlanFile {
    let mut reader = PlanReader { text, source, file: PlanFile::default(), garbage: 0 };
    // A byte order mark is not part of the first step, but spans count it.
    let mut start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    for line in text[start..].split_inclusive('\n') {
        reader.line(start, start + line.trim_end_matches(['\n', '\r']).len());
        start += line.len();
    }
    let more = reader.garbage.saturating_sub(MAX_GARBAGE);
    let mut file = reader.file;
    if more > 0 {
        let message = format!("{more} more lines are not plan steps");
        file.diagnostics.push(
            Diagnostic::error("plan.garbage", message)
                .at(source, Span::empty(text.len() as u32), "")
                .help("remove the text around the plan"),
        );
    }
    let timed = file.steps.iter().filter(|s| s.time.is_some()).count();
    if timed > 0 && timed < file.steps.len() {
        if let Some(step) = file.steps.iter().find(|s| s.time.is_none()) {
            file.diagnostics.push(
                Diagnostic::warning("plan.mixed-times", "some steps have a time and some have none")
                    .at(source, step.span, "this one has none")
                    .help("the steps are taken in the order of the lines"),
            );
        }
    } else if timed > 0 {
        let time = |step: &FileStep| step.time.unwrap_or(Number::ZERO);
        let exact = file.steps.iter().all(|step| !time(step).is_inexact());
        file.steps.sort_by(|a, b| {
            let (a, b) = (time(a), time(b));
            // Exact and inexact numbers together have no total order.
            if exact { a.compare(b).unwrap_or(Ordering::Equal) } else { a.to_f64().total_cmp(&b.to_f64()) }
        });
    }
    file
}

struct PlanReader<'a> {
    text: &'a str,
    source: SourceId,
    file: PlanFile,
    /// Lines that are not plan steps.
    garbage: usize,
}

impl PlanReader<'_> {
    fn garbage(&mut self, start: usize, end: usize, message: &str) {
        self.garbage += 1;
        if self.garbage > MAX_GARBAGE {
            return;
        }
        self.file.diagnostics.push(
            Diagnostic::error("plan.garbage", message)
                .at(self.source, span(start, end), "not a plan step")
                .help("write one step a line: (action argument ...)"),
        );
    }

    /// One line: its steps, if it has any.
    fn line(&mut self, start: usize, end: usize) {
        let line = &self.text[start..end];
        // `[D:1.0; C:0.1]` is a duration and a cost.
        let mut inside = false;
        let comment = line.bytes().position(|byte| {
            inside = byte == b'[' || inside && byte != b']';
            byte == b';' && !inside
        });
        let end = start + comment.unwrap_or(line.len());
        let (mut at, end) = trim(self.text, start, end);
        if at == end || self.text[at..end].starts_with("```") {
            return;
        }
        let time = self.take_prefix(&mut at, end);
        let (first, _) = trim(self.text, at, end);
        at = first;
        if at == end {
            self.garbage(first.min(end.saturating_sub(1)), end, "a time or number without a step");
            return;
        }
        if self.text.as_bytes()[at] != b'(' {
            let (end, duration) = self.trailing_duration(at, end);
            self.bare(at, end, time, duration);
            return;
        }
        let mut time = time;
        while at < end {
            if self.text.as_bytes()[at] != b'(' {
                self.garbage(at, end, "text after a step");
                return;
            }
            let close = self.text[at..end].find(')').map(|i| at + i);
            let inner_end = close.unwrap_or(end);
            if let Some(open) = self.text[at + 1..inner_end].find('(') {
                self.garbage(at, at + 1 + open, "an opening parenthesis inside a step");
                return;
            }
            if close.is_none() {
                self.file.diagnostics.push(
                    Diagnostic::warning("plan.parenthesis", "the step's closing parenthesis is missing")
                        .at(self.source, span(at, end), "")
                        .help("the step is taken to end with the line"),
                );
            }
            let step_end = close.map_or(end, |c| c + 1);
            let words = self.words(at + 1, inner_end);
            let (next, _) = trim(self.text, step_end, end);
            let (duration, next) = self.duration(next, end);
            self.step(words, span(at, step_end), time.take(), duration, false);
            at = next;
        }
    }

    /// Reads `12.5:`, `12:`, `12.` or a bullet before a step.
    fn take_prefix(&mut self, at: &mut usize, end: usize) -> Option<Number> {
        let rest = &self.text[*at..end];
        if let Some(bullet) = rest.strip_prefix("- ").or_else(|| rest.strip_prefix("* ")) {
            *at = end - bullet.len();
        }
        let rest = &self.text[*at..end];
        let rest =
            if rest.get(..5).is_some_and(|w| w.eq_ignore_ascii_case("step ")) { &rest[5..] } else { rest };
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        if digits == 0 {
            return None;
        }
        let number = &rest[..digits];
        let after = &rest[digits..];
        if let Some(step) = after.trim_start().strip_prefix(':') {
            *at = end - step.len();
            return Number::parse(number);
        }
        // A list number such as `3.` or `3)`; not a time.
        if let Some(step) = after.strip_prefix(')') {
            *at = end - step.len();
        } else if number.ends_with('.') {
            *at = end - after.len();
        }
        None
    }

    /// `[1.0]` after a step, and where the rest begins.
    fn duration(&mut self, at: usize, end: usize) -> (Option<Number>, usize) {
        let rest = &self.text[at..end];
        let Some(inner) = rest.strip_prefix('[') else { return (None, at) };
        let Some(close) = inner.find(']') else {
            self.garbage(at, end, "a duration without its closing bracket");
            return (None, end);
        };
        let value = inner[..close]
            .trim()
            .trim_start_matches("D:")
            .split(';')
            .next()
            .and_then(|v| Number::parse(v.trim()).filter(|v| !v.is_undefined()));
        if value.is_none() {
            self.garbage(at, at + close + 2, "a duration that is no number");
        }
        (value, trim(self.text, at + close + 2, end).0)
    }

    /// The end of a step without parentheses and the duration after it.
    fn trailing_duration(&mut self, at: usize, end: usize) -> (usize, Option<Number>) {
        let text = &self.text[at..end];
        match text.rfind('[').filter(|&open| open > 0 && text.ends_with(']')) {
            Some(open) => (trim(self.text, at, at + open).1, self.duration(at + open, end).0),
            None => (end, None),
        }
    }

    /// `name arg arg` or `name(arg, arg)`.
    fn bare(&mut self, at: usize, end: usize, time: Option<Number>, duration: Option<Number>) {
        let text = &self.text[at..end];
        let call = text.find('(').filter(|&open| {
            text.ends_with(')') && open > 0 && !text[..open].trim_end().contains(char::is_whitespace)
        });
        let words = match call {
            Some(open) if !text[open + 1..text.len() - 1].contains(['(', ')']) => {
                let mut words = self.words(at, at + open);
                words.extend(self.words(at + open + 1, end - 1));
                words
            }
            _ if text.contains(['(', ')', '[', ']']) => {
                self.garbage(at, end, "this line is not a plan step");
                return;
            }
            _ => self.words(at, end),
        };
        self.step(words, span(at, end), time, duration, true);
    }

    /// Words separated by white space or commas.
    fn words(&self, start: usize, end: usize) -> Vec<PlanToken> {
        let mut words = Vec::new();
        let mut at = start;
        for piece in self.text[start..end].split(|c: char| c.is_whitespace() || c == ',') {
            if !piece.is_empty() {
                words.push(PlanToken { text: piece.to_owned(), span: span(at, at + piece.len()) });
            }
            at += piece.len();
            at += self.text[at..].chars().next().map_or(0, char::len_utf8);
        }
        words
    }

    fn step(
        &mut self,
        words: Vec<PlanToken>,
        span: Span,
        time: Option<Number>,
        duration: Option<Number>,
        bare: bool,
    ) {
        if self.file.steps.len() == MAX_PLAN_STEPS {
            self.file.omitted += 1;
            return;
        }
        let mut words = words.into_iter();
        match words.next() {
            Some(name) => {
                self.file.steps.push(FileStep { name, args: words.collect(), span, time, duration, bare });
            }
            None => self.garbage(span.start as usize, span.end as usize, "a step without an action"),
        }
    }
}

fn span(start: usize, end: usize) -> Span {
    Span::new(start as u32, end.max(start) as u32)
}

/// The range without white space at its ends.
fn trim(text: &str, start: usize, end: usize) -> (usize, usize) {
    let inner = &text[start..end];
    let left = inner.len() - inner.trim_start().len();
    (start + left, (start + left) + inner.trim().len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_beyond_the_limit_are_counted_and_lines_without_a_step_are_reported_once_after_the_first() {
        let file = parse_plan(&"(a)\n".repeat(MAX_PLAN_STEPS + 3), SourceId(0));
        assert_eq!((file.steps.len(), file.omitted, file.diagnostics.len()), (MAX_PLAN_STEPS, 3, 0));
        let file = parse_plan(&"(a (b\n".repeat(MAX_GARBAGE + 3), SourceId(0));
        assert_eq!(file.diagnostics.len(), MAX_GARBAGE + 1);
        assert_eq!(file.diagnostics[MAX_GARBAGE].message, "3 more lines are not plan steps");
    }

    #[test]
    fn a_byte_order_mark_is_not_part_of_the_first_step() {
        let file = parse_plan("\u{feff}(switch hall)\n", SourceId(0));
        assert_eq!(file.diagnostics, vec![]);
        assert_eq!(file.steps.len(), 1);
        assert_eq!(file.steps[0].span, Span::new(3, 16));
    }
}
