//! The grammar of loose JSON.

use super::{Entry, Kind, Unreadable, Value};

/// Deepest nesting.
const MOST_DEPTH: usize = 32;

/// A place in a reply, from which a value is read.
pub(super) struct ValueReader<'a> {
    text: &'a str,
    /// The next byte.
    pub(super) at: usize,
    /// True for [`salvage`](super::salvage).
    forgiving: bool,
    /// For `forgiving` only: true if the text ended within the value.
    pub(super) ended: bool,
}

impl<'a> ValueReader<'a> {
    pub(super) const fn new(text: &'a str, at: usize, forgiving: bool) -> Self {
        Self { text, at, forgiving, ended: false }
    }

    /// Reads the value at this place, and stops behind it.
    pub(super) fn read(&mut self) -> Result<Value, Unreadable> {
        self.value(0)
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn broke<T>(&self, message: impl Into<String>) -> Result<T, Unreadable> {
        Err(Unreadable { at: self.at, message: message.into() })
    }

    /// True at the end of the text, which a forgiving reader takes for the end of everything that is open.
    fn at_end(&mut self) -> bool {
        let end = self.forgiving && self.rest().is_empty();
        self.ended |= end;
        end
    }

    /// White space and comments.
    fn skip(&mut self) {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start().len();
            let rest = rest.trim_start();
            self.at += blank;
            if !rest.starts_with('#') && !rest.starts_with("//") {
                return;
            }
            self.at += rest.find('\n').unwrap_or(rest.len());
        }
    }

    fn take(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c);
        if found {
            self.at += c.len_utf8();
        }
        found
    }

    fn value(&mut self, depth: usize) -> Result<Value, Unreadable> {
        if depth > MOST_DEPTH {
            return self.broke(format!("values are nested deeper than {MOST_DEPTH}"));
        }
        self.skip();
        let at = self.at;
        let kind = match self.peek() {
            None if self.at_end() => Kind::Null,
            None => return self.broke("the reply ends in the middle of a value"),
            Some('{') => self.braces(depth)?,
            Some('[') => Kind::List(self.list(']', depth)?),
            Some('(') => Kind::List(self.list(')', depth)?),
            Some(c) if closing(c).is_some() => Kind::Text(self.text()?),
            Some(_) => self.word()?,
        };
        Ok(Value { at, kind })
    }

    fn list(&mut self, end: char, depth: usize) -> Result<Vec<Value>, Unreadable> {
        self.at += 1;
        let mut values = Vec::new();
        loop {
            self.skip();
            if self.take(end) || self.at_end() {
                return Ok(values);
            }
            values.push(self.value(depth + 1)?);
            self.separator(end)?;
        }
    }

    /// A comma, or the end, which is left standing.
    fn separator(&mut self, end: char) -> Result<(), Unreadable> {
        self.skip();
        let starts = |c: char| closing(c).is_some() || matches!(c, '{' | '[');
        let next = self.peek();
        match self.take(',')
            || next == Some(end)
            || self.at_end()
            || (self.forgiving && next.is_some_and(starts))
        {
            true => Ok(()),
            false => self.broke(format!("`,` or `{end}` is missing")),
        }
    }

    /// An object; or a set, as Python writes it.
    fn braces(&mut self, depth: usize) -> Result<Kind, Unreadable> {
        self.at += 1;
        let mut entries = Vec::new();
        let mut values = Vec::new();
        loop {
            self.skip();
            if self.take('}') || self.at_end() {
                break;
            }
            let first = self.value(depth + 1)?;
            self.skip();
            match (self.take(':'), first.kind) {
                (true, Kind::Text(key)) if values.is_empty() => {
                    entries.push(Entry { key, at: first.at, value: self.value(depth + 1)? });
                }
                (false, kind) if entries.is_empty() && !self.ended => {
                    values.push(Value { at: first.at, kind });
                }
                // A key that the reply ends behind, or what is left of a text with a quote in it.
                (false, _) if self.forgiving => {}
                _ => return self.broke("`key: value` is missing"),
            }
            self.separator('}')?;
        }
        Ok(if values.is_empty() { Kind::Object(entries) } else { Kind::List(values) })
    }

    fn text(&mut self) -> Result<String, Unreadable> {
        let start = self.at;
        let Some(end) = self.peek().and_then(closing) else { return self.broke("a quote is missing") };
        self.at += self.peek().map_or(0, char::len_utf8);
        let mut text = String::new();
        while let Some(c) = self.peek() {
            self.at += c.len_utf8();
            match c {
                _ if c == end && (!self.forgiving || self.closes()) => return Ok(text),
                '\n' if !self.forgiving => break,
                '\\' => text.push(self.escaped()),
                _ => text.push(c),
            }
        }
        if self.at_end() {
            return Ok(text);
        }
        Err(Unreadable { at: start, message: "this text is never closed".to_owned() })
    }

    /// True if the quote before this place ends its text, judged by what follows it: a mark, or on another
    /// line the next value.
    fn closes(&self) -> bool {
        let rest = self.rest();
        let next = rest.trim_start();
        let gap = &rest[..rest.len() - next.len()];
        next.chars().next().is_none_or(|c| match c {
            ',' | ':' | '}' | ']' | ')' => true,
            _ => gap.contains('\n') && (closing(c).is_some() || matches!(c, '{' | '[')),
        })
    }

    fn escaped(&mut self) -> char {
        let Some(c) = self.peek() else { return '\\' };
        self.at += c.len_utf8();
        match c {
            'n' => '\n',
            't' => '\t',
            'u' => {
                let code = self.rest().get(..4).and_then(|hex| u32::from_str_radix(hex, 16).ok());
                match code.and_then(char::from_u32) {
                    Some(c) => {
                        self.at += 4;
                        c
                    }
                    None => 'u',
                }
            }
            other => other,
        }
    }

    /// A number, a word of JSON or Python, or a text without quotes.
    fn word(&mut self) -> Result<Kind, Unreadable> {
        let rest = self.rest();
        let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '+');
        let word = &rest[..rest.find(|c| !part(c)).unwrap_or(rest.len())];
        let Some(first) = word.chars().next() else {
            return self.broke(format!("`{}` starts no value", self.peek().unwrap_or(' ')));
        };
        let kind = match word {
            "null" | "None" => Kind::Null,
            "true" | "True" => Kind::Boolean(true),
            "false" | "False" => Kind::Boolean(false),
            _ if first.is_alphabetic() || first == '_' => Kind::Text(word.to_owned()),
            _ => match word.parse::<f64>() {
                Ok(number) if number.is_finite() => Kind::Number(number),
                _ => return self.broke(format!("`{word}` is neither a number nor a name")),
            },
        };
        self.at += word.len();
        Ok(kind)
    }
}

/// The quote that closes what this one opens.
const fn closing(open: char) -> Option<char> {
    match open {
        '"' | '\'' | '`' => Some(open),
        '\u{201c}' => Some('\u{201d}'),
        '\u{2018}' => Some('\u{2019}'),
        _ => None,
    }
}
