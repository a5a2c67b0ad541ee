//! Finds calls in a text: statement by statement in code, anywhere in prose.

use super::literal::{Fault, Fuel, LiteralReader, add_json_calls};
use super::{Argument, CallsOfReply, Functions, REPLY, Value, bind, is_parameter};
use crate::codes;
use planforge_diagnostics::{Diagnostic, Span};
use std::collections::BTreeMap;
use std::ops::Range;

/// Most names that are kept for use in calls.
const MAX_VARIABLES: usize = 64;

/// Most letters of an unreadable call in a message.
const MAX_EXCERPT: usize = 60;

/// Reads one reply; names set in an earlier block hold in later ones.
pub(super) struct Scanner<'a> {
    text: &'a str,
    functions: Functions,
    fuel: &'a mut Fuel,
    variables: BTreeMap<String, Value>,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str, functions: Functions, fuel: &'a mut Fuel) -> Self {
        Self { text, functions, fuel, variables: BTreeMap::new() }
    }

    fn reader(&mut self, at: usize, end: usize) -> LiteralReader<'_> {
        LiteralReader { text: self.text, at, end, fuel: self.fuel, variables: &self.variables }
    }

    /// Reads the statements of a code block.
    pub(super) fn code(&mut self, range: Range<usize>, calls: &mut CallsOfReply) {
        let mut at = range.start;
        let mut line_begins = true;
        let mut json_fault = false;
        while let Some(c) = self.text.get(at..range.end).and_then(|rest| rest.chars().next()) {
            let first = line_begins;
            line_begins = c == '\n' || (first && c.is_whitespace());
            at = match c {
                '#' => self.line_end(at, range.end),
                '"' | '\'' => self.after_string(at, range.end),
                '[' | '{' if first => self.json(at, range.end, calls, &mut json_fault),
                _ if c.is_alphabetic() || c == '_' => self.word(at, range.end, first, calls),
                _ => at + c.len_utf8(),
            };
        }
    }

    /// Reads the calls in running text.
    pub(super) fn prose(&mut self, range: Range<usize>, calls: &mut CallsOfReply) {
        let mut at = range.start;
        let mut json_fault = false;
        while let Some(rest) = self.text.get(at..range.end) {
            let Some(c) = rest.chars().next() else { return };
            at = match c {
                '[' | '{' => self.json(at, range.end, calls, &mut json_fault),
                _ if c.is_alphabetic() || c == '_' => {
                    let word = self.reader(at, range.end).word().to_owned();
                    match self.functions.contains(&word) && self.is_call(at + word.len(), range.end) {
                        true => self.mention(at, &word, range.end, calls),
                        false => at + word.len(),
                    }
                }
                _ => at + c.len_utf8(),
            };
        }
    }

    fn line_end(&self, at: usize, end: usize) -> usize {
        self.text.get(at..end).and_then(|rest| rest.find('\n')).map_or(end, |n| at + n)
    }

    /// The position after an unused string, or after the quote if it is not a string.
    fn after_string(&mut self, at: usize, end: usize) -> usize {
        let mut reader = self.reader(at, end);
        match reader.string() {
            Ok(_) => reader.at,
            Err(_) => at + 1,
        }
    }

    fn is_call(&mut self, at: usize, end: usize) -> bool {
        self.text.get(at..end).is_some_and(|rest| rest.trim_start_matches([' ', '\t']).starts_with('('))
    }

    /// A word of code: a call, an assignment, or nothing of interest.
    fn word(&mut self, at: usize, end: usize, first: bool, calls: &mut CallsOfReply) -> usize {
        let word = self.reader(at, end).word().to_owned();
        let after = at + word.len();
        if matches!(word.as_str(), "def" | "class" | "import" | "from") && first {
            // A definition is not a call.
            return self.line_end(at, end).min(self.after_header(after, end));
        }
        if self.is_call(after, end) {
            if self.functions.contains(&word) {
                return self.call(at, &word, end, calls);
            }
            if first && self.functions.resemble(&word) {
                let message = format!("there is no function `{word}`");
                let help = self.functions.help();
                let span = Span::new(at as u32, after as u32);
                calls.refuse(Diagnostic::error(codes::EDIT_FUNCTION, message).at(REPLY, span, "").help(help));
            }
            return after;
        }
        if first { self.assignment(after, &word, end) } else { after }
    }

    /// Past the name in `def NAME`.
    fn after_header(&mut self, at: usize, end: usize) -> usize {
        let mut reader = self.reader(at, end);
        reader.skip_blank();
        reader.at + reader.word().len()
    }

    /// `NAME = LITERAL` and `NAME += LITERAL` set a name. Any other change makes it unknown.
    fn assignment(&mut self, after: usize, name: &str, end: usize) -> usize {
        let rest = self.text.get(after..end).unwrap_or_default();
        let trimmed = rest.trim_start_matches([' ', '\t']);
        // `name: List[str] = ...`
        let trimmed = match trimmed.strip_prefix(':') {
            Some(annotation) => annotation
                .find(['=', '\n'])
                .and_then(|n| annotation.get(n..))
                .filter(|rest| rest.starts_with('='))
                .unwrap_or(trimmed),
            None => trimmed,
        };
        let start = after + (rest.len() - trimmed.len());
        let adds = trimmed.starts_with("+=");
        let sets = trimmed.starts_with('=') && !trimmed.starts_with("==");
        if !adds && !sets {
            if trimmed.starts_with(['.', '[', '-', '*']) {
                self.variables.remove(name);
            }
            return after;
        }
        let mut reader = self.reader(start + if adds { 2 } else { 1 }, end);
        let value = reader.value(0);
        let stop = reader.at;
        let old = self.variables.remove(name);
        let new = match (adds, old, value) {
            (false, _, Ok(value)) => Some(value),
            (true, Some(Value::List(mut a, from)), Ok(Value::List(b, to))) => {
                a.extend(b);
                Some(Value::List(a, from.to(to)))
            }
            (true, Some(Value::Text(a)), Ok(Value::Text(b))) => Some(Value::Text(a.join(&b))),
            _ => None,
        };
        match new {
            Some(value) if self.variables.len() < MAX_VARIABLES => {
                self.variables.insert(name.to_owned(), value);
                stop
            }
            _ => start + 1,
        }
    }

    /// Reads a call in code. An unreadable one is refused; a copy of the interface is not a call.
    fn call(&mut self, at: usize, function: &str, end: usize, calls: &mut CallsOfReply) -> usize {
        match self.arguments(at + function.len(), end) {
            Ok((arguments, stop)) => {
                bind(function, arguments, Span::new(at as u32, stop as u32), calls);
                stop
            }
            Err(Refusal::Declaration) => at + function.len(),
            Err(Refusal::Fault(fault)) => {
                calls.refuse(unreadable(&format!("`{}`", self.excerpt(at, end)), &fault));
                at + function.len()
            }
        }
    }

    /// A call in prose, unless it only talks about the function: `modify_action(name, pre, eff)`.
    fn mention(&mut self, at: usize, function: &str, end: usize, calls: &mut CallsOfReply) -> usize {
        let after = at + function.len();
        let inside = self.text.get(after..end).and_then(|rest| rest.find('(')).map_or(end, |n| after + n + 1);
        let mut reader = self.reader(inside, end);
        reader.skip_blank();
        let word = reader.word();
        let is_keyword = is_parameter(function, word);
        let is_variable = reader.variables.contains_key(word);
        let begins = reader.peek().is_some_and(|c| matches!(c, '"' | '\'' | '[' | '(' | '{'));
        let assigned = is_keyword && {
            let behind = reader.at + word.len();
            reader.text.get(behind..end).is_some_and(|rest| rest.trim_start().starts_with('='))
        };
        match begins || assigned || is_variable {
            true => self.call(at, function, end, calls),
            false => after,
        }
    }

    /// The arguments after a function's name, and the end of the call.
    fn arguments(&mut self, at: usize, end: usize) -> Result<(Vec<Argument>, usize), Refusal> {
        let mut reader = self.reader(at, end);
        reader.skip_blank();
        reader.at += 1;
        let mut arguments = Vec::new();
        loop {
            reader.skip_blank();
            if reader.peek() == Some(')') {
                return Ok((arguments, reader.at + 1));
            }
            let word = reader.word().to_owned();
            let behind = reader.text.get(reader.at + word.len()..end).unwrap_or_default().trim_start();
            if !word.is_empty() && behind.starts_with(':') {
                return Err(Refusal::Declaration);
            }
            let keyword =
                (!word.is_empty() && behind.starts_with('=') && !behind.starts_with("==")).then(|| {
                    reader.at = end - behind.len() + 1;
                    word
                });
            let value = reader.value(0).map_err(Refusal::Fault)?;
            arguments.push((keyword, value));
            reader.skip_blank();
            match reader.peek() {
                Some(',') => reader.at += 1,
                Some(')') => {}
                _ => return reader.fault("`,` or `)` is wanted here").map_err(Refusal::Fault),
            }
        }
    }

    /// The first characters at a position, on one line: messages for models have no lines and columns.
    fn excerpt(&self, at: usize, end: usize) -> String {
        let rest = self.text.get(at..end).unwrap_or_default();
        let words: Vec<&str> = rest.split_whitespace().take(MAX_EXCERPT).collect();
        let line = words.join(" ");
        let shown: String = line.chars().take(MAX_EXCERPT).collect();
        if shown.len() < line.len() { format!("{shown}...") } else { shown }
    }

    /// Calls written as JSON at this place.
    fn json(&mut self, at: usize, end: usize, calls: &mut CallsOfReply, reported: &mut bool) -> usize {
        let mut reader = self.reader(at, end);
        match reader.value(0) {
            Ok(value) => {
                let stop = reader.at;
                add_json_calls(&value, self.functions, self.fuel, calls);
                stop
            }
            Err(fault) => {
                let seen = self.text.get(at..fault.at.max(at)).unwrap_or_default();
                if !*reported && is_json(self.functions, seen) {
                    *reported = true;
                    calls.refuse(unreadable(&format!("the JSON `{}`", self.excerpt(at, end)), &fault));
                }
                at + 1
            }
        }
    }
}

enum Refusal {
    /// The interface itself, `modify_action(action_name: str, ...)`.
    Declaration,
    Fault(Fault),
}

/// True if a text has a function's name in quotes, as JSON does.
fn is_json(functions: Functions, seen: &str) -> bool {
    functions.names().iter().any(|name| seen.contains(&format!("\"{name}\"")))
}

fn unreadable(what: &str, fault: &Fault) -> Diagnostic {
    Diagnostic::error(codes::EDIT_FORM, format!("{what} cannot be read: {}", fault.message))
        .at(REPLY, Span::empty(fault.at as u32), "")
        .help("arguments are strings in quotes and lists of such strings")
}
