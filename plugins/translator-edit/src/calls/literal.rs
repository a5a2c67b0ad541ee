//! Literals of Python and JSON: strings, lists, tuples, dictionaries, and names that stand for one of these.
//!
//! Nothing is evaluated except the concatenation of literals with `+` or side by side, and a closing
//! `.strip()`. Depth is limited, and every byte that is read or copied uses up fuel, so the cost is linear in
//! the length of the text.

use crate::calls::{
    ACTION, Argument, CallsOfReply, Functions, PREDICATES, REPLY, Text, Value, bind, is_parameter,
};
use crate::codes;
use planforge_diagnostics::{Diagnostic, Span};
use std::collections::BTreeMap;

/// Deepest nesting of brackets.
const MAX_DEPTH: usize = 32;

/// The reason why a literal is unreadable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) message: String,
    pub(super) at: usize,
}

/// Remaining work for one reply, in bytes read or copied.
#[derive(Debug)]
pub(super) struct Fuel(usize);

impl Fuel {
    pub(super) fn for_text(length: usize) -> Self {
        Self(length.saturating_mul(16).saturating_add(1 << 16))
    }
    fn burn(&mut self, amount: usize) -> bool {
        self.0 = self.0.saturating_sub(amount);
        self.0 > 0
    }
}

/// A position in the text, with the values of names and the remaining fuel.
pub(super) struct LiteralReader<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    pub(super) end: usize,
    pub(super) fuel: &'a mut Fuel,
    pub(super) variables: &'a BTreeMap<String, Value>,
}

type Read<T> = Result<T, Fault>;

impl LiteralReader<'_> {
    pub(super) fn rest(&self) -> &str {
        self.text.get(self.at..self.end).unwrap_or_default()
    }
    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }
    fn take(&mut self, expected: char) -> bool {
        let found = self.peek() == Some(expected);
        if found {
            self.at += expected.len_utf8();
        }
        found
    }
    pub(super) fn fault<T>(&self, message: impl Into<String>) -> Read<T> {
        let message = match self.at >= self.end {
            true => "it is not closed".to_owned(),
            false => message.into(),
        };
        Err(Fault { message, at: self.at.min(self.end) })
    }
    fn span_from(&self, start: usize) -> Span {
        Span::new(start as u32, self.at as u32)
    }

    /// White space, comments and continued lines.
    pub(super) fn skip_blank(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            let mut skip = rest.len() - trimmed.len();
            if trimmed.starts_with('#') {
                skip += trimmed.find('\n').unwrap_or(trimmed.len());
            } else if trimmed.starts_with("\\\n") || trimmed.starts_with("\\\r\n") {
                skip += 1;
            }
            if skip == 0 || !self.fuel.burn(skip) {
                return;
            }
            self.at += skip;
        }
    }

    /// A word of letters, digits and underscores at this place.
    pub(super) fn word(&self) -> &str {
        let rest = self.rest();
        let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        &rest[..length]
    }

    /// A value: terms joined with `+`.
    pub(super) fn value(&mut self, depth: usize) -> Read<Value> {
        let mut left = self.term(depth)?;
        loop {
            let before = self.at;
            self.skip_blank();
            if !self.take('+') {
                self.at = before;
                return Ok(left);
            }
            self.skip_blank();
            let at = self.at;
            let right = self.term(depth)?;
            left = match (left, right) {
                (Value::Text(a), Value::Text(b)) => Value::Text(a.join(&b)),
                (Value::List(mut a, start), Value::List(b, end)) => {
                    a.extend(b);
                    Value::List(a, start.to(end))
                }
                _ => {
                    self.at = at;
                    return self.fault("only strings with strings and lists with lists can be added");
                }
            };
        }
    }

    fn term(&mut self, depth: usize) -> Read<Value> {
        self.skip_blank();
        if depth >= MAX_DEPTH {
            return self.fault(format!("brackets are nested more than {MAX_DEPTH} deep"));
        }
        if !self.fuel.burn(1) {
            return self.fault("reading it takes too long");
        }
        let start = self.at;
        match self.peek() {
            Some('[') => {
                self.at += 1;
                let items = self.items(']', depth)?.0;
                Ok(Value::List(items, self.span_from(start)))
            }
            Some('(') => {
                self.at += 1;
                let (mut items, comma) = self.items(')', depth)?;
                match items.pop() {
                    // Parentheses around one value are no tuple.
                    Some(only) if items.is_empty() && !comma => Ok(only),
                    last => {
                        items.extend(last);
                        Ok(Value::List(items, self.span_from(start)))
                    }
                }
            }
            Some('{') => {
                self.at += 1;
                self.entries(start, depth)
            }
            _ if self.quote_ahead().is_some() => self.strings(),
            Some(c) if c.is_alphabetic() || c == '_' => self.name(start),
            Some(c) if c.is_ascii_digit() || c == '-' => {
                self.at += 1;
                while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '+' | '-')) {
                    self.at += 1;
                }
                Ok(Value::Other(self.span_from(start)))
            }
            _ => self.fault("a string in quotes or a list of them is wanted here"),
        }
    }

    /// Values up to the closing bracket, and true if they have a comma between or behind them.
    fn items(&mut self, close: char, depth: usize) -> Read<(Vec<Value>, bool)> {
        let (mut items, mut comma) = (Vec::new(), false);
        loop {
            self.skip_blank();
            if self.take(close) {
                return Ok((items, comma));
            }
            items.push(self.value(depth + 1)?);
            self.skip_blank();
            if self.take(',') {
                comma = true;
            } else if self.peek() != Some(close) {
                return self.fault(format!("`,` or `{close}` is wanted here"));
            }
        }
    }

    /// The rest of a dictionary, or of a set, which counts as a list.
    fn entries(&mut self, start: usize, depth: usize) -> Read<Value> {
        let (mut entries, mut members) = (Vec::new(), Vec::new());
        loop {
            self.skip_blank();
            if self.take('}') {
                let span = self.span_from(start);
                return Ok(match members.is_empty() {
                    true => Value::Map(entries, span),
                    false => Value::List(members, span),
                });
            }
            let key = self.value(depth + 1)?;
            self.skip_blank();
            let at = self.at;
            match (self.take(':'), key) {
                (true, Value::Text(key)) if members.is_empty() => {
                    entries.push((key, self.value(depth + 1)?));
                }
                (false, member) if entries.is_empty() => members.push(member),
                _ => {
                    self.at = at;
                    return self.fault("a dictionary's keys are strings, each with `:` and a value");
                }
            }
            self.skip_blank();
            if !self.take(',') && self.peek() != Some('}') {
                return self.fault("`,` or `}` is wanted here");
            }
        }
    }

    fn name(&mut self, start: usize) -> Read<Value> {
        let word = self.word().to_owned();
        if let Some(value) = self.variables.get(&word) {
            if !self.fuel.burn(value.size()) {
                return self.fault("reading it takes too long");
            }
            self.at += word.len();
            return Ok(value.clone());
        }
        match word.as_str() {
            "None" | "null" => {
                self.at += word.len();
                Ok(Value::None(self.span_from(start)))
            }
            "True" | "False" | "true" | "false" => {
                self.at += word.len();
                Ok(Value::Other(self.span_from(start)))
            }
            _ => {
                self.fault(format!("`{word}` is no string and no list, and nothing says what it stands for"))
            }
        }
    }

    /// The length of a string's prefix, and whether it is raw or formatted, if a string begins here.
    fn quote_ahead(&self) -> Option<(usize, bool, bool)> {
        let rest = self.rest();
        let length = rest.bytes().take(3).position(|b| matches!(b, b'"' | b'\''))?;
        let prefix = rest.get(..length)?.to_ascii_lowercase();
        matches!(prefix.as_str(), "" | "r" | "u" | "f" | "b" | "rf" | "fr" | "rb" | "br")
            .then(|| (length, prefix.contains('r'), prefix.contains('f')))
    }

    /// Strings side by side, which are one string, and a closing `.strip()`.
    fn strings(&mut self) -> Read<Value> {
        let mut text = self.string()?;
        loop {
            let before = self.at;
            self.skip_blank();
            if self.quote_ahead().is_some() {
                text = text.join(&self.string()?);
            } else if self.rest().starts_with(".strip()") {
                self.at += ".strip()".len();
                text.value = text.value.trim().to_owned();
            } else {
                self.at = before;
                return Ok(Value::Text(text));
            }
        }
    }

    /// A string literal.
    pub(super) fn string(&mut self) -> Read<Text> {
        let start = self.at;
        let Some((prefix, raw, formatted)) = self.quote_ahead() else {
            return self.fault("a string is wanted here");
        };
        let rest = &self.rest()[prefix..];
        let quote = if rest.starts_with('\'') { "'" } else { "\"" };
        let triple = quote.repeat(3);
        let (mark, long) = if rest.starts_with(&triple) { (triple.as_str(), true) } else { (quote, false) };
        let body = &rest[mark.len()..];
        let length = match closing(body, mark, long) {
            Ok(length) => length,
            Err(seen) => {
                self.fuel.burn(seen);
                let message = match long {
                    true => "this string is never closed",
                    false => "this string is not closed on its line",
                };
                return Err(Fault { message: message.to_owned(), at: start });
            }
        };
        let whole = prefix + length + 2 * mark.len();
        let value = if raw { body[..length].to_owned() } else { unescape(&body[..length]) };
        if formatted && value.replace("{{", "").contains('{') {
            return self.fault("what this f-string stands for is not known");
        }
        if !self.fuel.burn(whole) {
            return self.fault("reading it takes too long");
        }
        self.at += whole;
        Ok(Text { value, span: self.span_from(start) })
    }
}

/// The position of a string's closing mark; without one, the position where the search ended. A backslash
/// protects the next character, and a short string ends with its line.
fn closing(body: &str, mark: &str, long: bool) -> Result<usize, usize> {
    let mut escaped = false;
    for (at, byte) in body.bytes().enumerate() {
        if escaped {
            escaped = false;
        } else if byte == b'\\' {
            escaped = true;
        } else if byte == b'\n' && !long {
            return Err(at);
        } else if body.as_bytes().get(at..).is_some_and(|rest| rest.starts_with(mark.as_bytes())) {
            return Ok(at);
        }
    }
    Err(body.len())
}

/// Replaces the escapes that Python and JSON share, and those of either that PDDL may contain. Others stay.
fn unescape(body: &str) -> String {
    let mut out = String::with_capacity(body.len());
    let mut rest = body;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let Some(c) = rest.chars().next() else {
            out.push('\\');
            break;
        };
        let after = &rest[c.len_utf8()..];
        let code = |digits: usize| {
            after.get(..digits).and_then(|hex| u32::from_str_radix(hex, 16).ok()).and_then(char::from_u32)
        };
        let (value, digits) = match c {
            'n' => (Some('\n'), 0),
            't' => (Some('\t'), 0),
            'r' => (Some('\r'), 0),
            '\\' | '\'' | '"' | '/' => (Some(c), 0),
            'u' => (code(4), 4),
            'x' => (code(2), 2),
            _ => (None, 0),
        };
        match value {
            Some(value) => {
                out.push(value);
                rest = &after[digits..];
            }
            None => {
                // A line that ends in a backslash goes on in the next.
                if c != '\n' {
                    out.push('\\');
                    out.push(c);
                }
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

/// Keys that hold a function's name, and those that hold its arguments.
const NAMES: [&str; 5] = ["function", "name", "tool", "function_name", "tool_name"];
const ARGUMENTS: [&str; 6] = ["arguments", "args", "parameters", "params", "kwargs", "input"];

/// Adds every call in a value.
///
/// A call is `{"function": "modify_action", "arguments": {...}}`, alone or in lists, as servers write tool calls (arguments as a text of
/// JSON too), or a dictionary with a function's name as key.
pub(super) fn add_json_calls(value: &Value, functions: Functions, fuel: &mut Fuel, calls: &mut CallsOfReply) {
    Adder { functions, fuel, calls }.walk(value, 0);
}

struct Adder<'a> {
    functions: Functions,
    fuel: &'a mut Fuel,
    calls: &'a mut CallsOfReply,
}

impl Adder<'_> {
    fn walk(&mut self, value: &Value, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        match value {
            Value::List(items, _) => items.iter().for_each(|item| self.walk(item, depth + 1)),
            Value::Map(entries, span) => self.map(entries, *span, depth),
            Value::Text(_) | Value::None(_) | Value::Other(_) => {}
        }
    }

    fn map(&mut self, entries: &[(Text, Value)], span: Span, depth: usize) {
        let Self { functions, fuel, calls } = self;
        let given = entries.iter().find(|(key, _)| ARGUMENTS.contains(&key.value.as_str()));
        let named = entries.iter().find_map(|(key, value)| match value {
            Value::Text(name) if NAMES.contains(&key.value.as_str()) => Some((key, name)),
            _ => None,
        });
        if let Some((key, name)) = named {
            let function = name.value.trim();
            if functions.contains(function) {
                let arguments = match given {
                    Some((_, arguments)) => spread(function, arguments, fuel),
                    None => keywords(entries.iter().filter(|(other, _)| other.span != key.span)),
                };
                bind(function, arguments, span, calls);
                return;
            }
            if given.is_some() {
                let message = format!("there is no function `{function}`");
                let refused = Diagnostic::error(codes::EDIT_FUNCTION, message).at(REPLY, name.span, "");
                calls.refuse(refused.help(functions.help()));
                return;
            }
        }
        for (key, value) in entries {
            match (key.value.as_str(), value) {
                (name, value) if !self.functions.contains(name) => self.walk(value, depth + 1),
                // A list of calls of one function.
                (function, Value::List(items, _))
                    if function != PREDICATES && items.iter().all(|i| matches!(i, Value::Map(..))) =>
                {
                    for item in items {
                        bind(function, spread(function, item, self.fuel), item.span(), self.calls);
                    }
                }
                (function, value) => {
                    bind(function, spread(function, value, self.fuel), value.span(), self.calls);
                }
            }
        }
    }
}

/// The arguments of a call: by name, in order, or the only one of the function that has one parameter.
fn spread(function: &str, value: &Value, fuel: &mut Fuel) -> Vec<Argument> {
    match value {
        Value::Map(entries, _) if function != PREDICATES || is_keywords(entries) => keywords(entries.iter()),
        // `["(p)", "(q)"]` of a function that edits the problem is its first argument.
        Value::List(items, _)
            if function == ACTION
                || (function != PREDICATES && !items.iter().all(|i| matches!(i, Value::Text(_)))) =>
        {
            items.iter().map(|item| (None, item.clone())).collect()
        }
        // `[["(p)", "(q)"]]` is one positional argument; `["(p)", "(q)"]` is the argument itself.
        Value::List(items, _) if items.len() == 1 && matches!(items.first(), Some(Value::List(..))) => {
            items.iter().map(|item| (None, item.clone())).collect()
        }
        Value::Text(text) if text.value.trim_start().starts_with(['{', '[']) => {
            match inner(text, fuel) {
                // A text within a text is not parsed again.
                Some(Value::Text(_)) | None => vec![(None, value.clone())],
                Some(inner) => spread(function, &inner, fuel),
            }
        }
        value => vec![(None, value.clone())],
    }
}

fn is_keywords(entries: &[(Text, Value)]) -> bool {
    entries.iter().any(|(key, _)| is_parameter(PREDICATES, &key.value))
}

fn keywords<'a>(entries: impl Iterator<Item = &'a (Text, Value)>) -> Vec<Argument> {
    entries.map(|(key, value)| (Some(key.value.clone()), value.clone())).collect()
}

/// Parses a text of JSON. All spans in the value are the span of the text.
fn inner(text: &Text, fuel: &mut Fuel) -> Option<Value> {
    let none = BTreeMap::new();
    let mut reader =
        LiteralReader { text: &text.value, at: 0, end: text.value.len(), fuel, variables: &none };
    let mut value = reader.value(0).ok()?;
    reader.skip_blank();
    if reader.at < reader.end {
        return None;
    }
    place(&mut value, text.span);
    Some(value)
}

fn place(value: &mut Value, at: Span) {
    match value {
        Value::Text(text) => text.span = at,
        Value::List(items, span) => {
            *span = at;
            items.iter_mut().for_each(|item| place(item, at));
        }
        Value::Map(entries, span) => {
            *span = at;
            for (key, value) in entries {
                key.span = at;
                place(value, at);
            }
        }
        Value::None(span) | Value::Other(span) => *span = at,
    }
}
