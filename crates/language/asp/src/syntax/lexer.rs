//! Splits text into tokens. Every character belongs to a token, white space or a comment. Other text becomes
//! [`Kind::Odd`] with a [`Finding`].

use super::ast::Relation;
use super::count_steps;
use planforge_diagnostics::Span;

/// The kind of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `shot1`: begins with a lower-case letter, after underscores.
    Name(String),
    /// `X`: begins with an upper-case letter, after underscores.
    Variable(String),
    /// `_`.
    Anonymous,
    /// `42`.
    Number(i64),
    /// `"text"` without quotes and escapes.
    Text(String),
    /// `not`.
    Not,
    /// `#count`, without the hash sign.
    Hash(String),
    /// `@`.
    At,
    /// `(`.
    Open,
    /// `)`.
    Close,
    /// `{`.
    OpenBrace,
    /// `}`.
    CloseBrace,
    /// `[`.
    OpenBracket,
    /// `]`.
    CloseBracket,
    Comma,
    Semicolon,
    Colon,
    /// `:-`.
    If,
    Dot,
    /// `..`.
    Dots,
    /// `=`, `<=` and the others.
    Relation(Relation),
    Plus,
    Minus,
    /// `*`.
    Star,
    /// `**`.
    Power,
    /// `/`.
    Slash,
    /// `\`.
    Backslash,
    /// Any other word or character, described by a finding.
    Odd(String),
}

impl Kind {
    /// The token as a person would write it.
    pub(crate) fn show(&self) -> String {
        match self {
            Self::Name(text) | Self::Variable(text) | Self::Odd(text) => text.clone(),
            Self::Number(number) => number.to_string(),
            Self::Text(text) => format!("\"{text}\""),
            Self::Hash(text) => format!("#{text}"),
            Self::Relation(relation) => relation.to_string(),
            other => other.fixed_text().to_owned(),
        }
    }

    /// The text of a token that is always the same.
    fn fixed_text(&self) -> &'static str {
        match self {
            Self::Anonymous => "_",
            Self::Not => "not",
            Self::At => "@",
            Self::Open => "(",
            Self::Close => ")",
            Self::OpenBrace => "{",
            Self::CloseBrace => "}",
            Self::OpenBracket => "[",
            Self::CloseBracket => "]",
            Self::Comma => ",",
            Self::Semicolon => ";",
            Self::Colon => ":",
            Self::If => ":-",
            Self::Dot => ".",
            Self::Dots => "..",
            Self::Plus => "+",
            Self::Minus => "-",
            Self::Star => "*",
            Self::Power => "**",
            Self::Slash => "/",
            Self::Backslash => "\\",
            _ => "",
        }
    }
}

/// A token and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) span: Span,
}

/// The reason why a piece of text is not a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Finding {
    /// A string that its line does not close.
    OpenText,
    /// A `%*` that nothing closes.
    OpenComment,
    /// A number that clingo cannot hold.
    LargeNumber,
    /// A word with letters outside ASCII.
    ForeignName,
    Character,
    /// A typographic quote, dash or space, read as the plain one.
    Typography,
}

/// Result of the lexer.
#[derive(Debug, Default)]
pub(crate) struct Lexed {
    /// The tokens in order.
    pub(crate) tokens: Vec<Token>,
    /// Findings in the order of the text.
    pub(crate) findings: Vec<(Finding, Span)>,
}

/// The largest number that clingo holds.
pub(crate) const MAX_NUMBER: i64 = i32::MAX as i64;

/// Cuts `text[range]` into tokens; spans are in `text`. A tolerant lexer reads typographic quotes, dashes and spaces as the
/// plain ones, with a finding for each.
pub(crate) fn lex(text: &str, range: std::ops::Range<usize>, tolerant: bool) -> Lexed {
    let mut lexer = Lexer { text: &text[..range.end], at: range.start, tolerant, out: Lexed::default() };
    while let Some((c, width)) = lexer.peek() {
        lexer.token(c, width);
    }
    lexer.out
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    tolerant: bool,
    out: Lexed,
}

/// The plain character for a typographic one.
fn plain(c: char) -> Option<char> {
    Some(match c {
        '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{ff02}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe63}' | '\u{ff0d}' => '-',
        '\u{a0}' | '\u{2000}'..='\u{200b}' | '\u{202f}' | '\u{3000}' | '\u{feff}' => ' ',
        '\u{ff08}' => '(',
        '\u{ff09}' => ')',
        '\u{ff0c}' => ',',
        '\u{ff0e}' | '\u{3002}' => '.',
        '\u{2264}' | '\u{2265}' | '\u{2260}' => c,
        _ => return None,
    })
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

impl Lexer<'_> {
    /// The next character, plain where the lexer is tolerant, and how many bytes it takes.
    fn peek(&self) -> Option<(char, usize)> {
        let c = self.text.get(self.at..)?.chars().next()?;
        let read = if self.tolerant && !c.is_ascii() { plain(c).unwrap_or(c) } else { c };
        Some((read, c.len_utf8()))
    }

    fn bump(&mut self, width: usize) {
        if self.tolerant && width > 1 {
            let c = self.text[self.at..].chars().next();
            if c.and_then(plain).is_some() {
                let span = Span::new(self.at as u32, (self.at + width) as u32);
                self.out.findings.push((Finding::Typography, span));
            }
        }
        self.at += width;
    }

    fn span(&self, start: usize) -> Span {
        Span::new(start as u32, self.at as u32)
    }

    fn push(&mut self, kind: Kind, start: usize) {
        let span = self.span(start);
        self.out.tokens.push(Token { kind, span });
    }

    fn odd(&mut self, finding: Finding, start: usize) {
        let span = self.span(start);
        self.out.findings.push((finding, span));
        self.push(Kind::Odd(self.text[start..self.at].to_owned()), start);
    }

    /// Consumes the next character if it is `wanted`.
    fn eat(&mut self, wanted: char) -> bool {
        match self.peek() {
            Some((c, width)) if c == wanted => {
                self.bump(width);
                true
            }
            _ => false,
        }
    }

    fn token(&mut self, c: char, width: usize) {
        let start = self.at;
        count_steps(1);
        match c {
            c if c.is_whitespace() || c == '\u{feff}' => self.bump(width),
            '%' => self.comment(start),
            '"' => self.string(start),
            '#' => self.hash(start),
            c if c.is_ascii_digit() => self.number(start),
            c if is_word(c) => self.word(start),
            _ => {
                self.bump(width);
                match self.punctuation(c) {
                    Some(kind) => self.push(kind, start),
                    None => self.odd(Finding::Character, start),
                }
            }
        }
    }

    /// The token that begins with `c`, which is already consumed.
    fn punctuation(&mut self, c: char) -> Option<Kind> {
        Some(match c {
            '@' => Kind::At,
            '(' => Kind::Open,
            ')' => Kind::Close,
            '{' => Kind::OpenBrace,
            '}' => Kind::CloseBrace,
            '[' => Kind::OpenBracket,
            ']' => Kind::CloseBracket,
            ',' => Kind::Comma,
            ';' => Kind::Semicolon,
            ':' if self.eat('-') => Kind::If,
            ':' => Kind::Colon,
            '.' if self.eat('.') => Kind::Dots,
            '.' => Kind::Dot,
            '=' if self.eat('=') => Kind::Relation(Relation::Equal),
            '=' if self.tolerant && self.eat('<') => Kind::Relation(Relation::LessEqual),
            '=' => Kind::Relation(Relation::Equal),
            '!' if self.eat('=') => Kind::Relation(Relation::NotEqual),
            '<' if self.eat('=') => Kind::Relation(Relation::LessEqual),
            '<' if self.eat('>') => Kind::Relation(Relation::NotEqual),
            '<' => Kind::Relation(Relation::Less),
            '>' if self.eat('=') => Kind::Relation(Relation::GreaterEqual),
            '>' => Kind::Relation(Relation::Greater),
            '\u{2264}' if self.tolerant => Kind::Relation(Relation::LessEqual),
            '\u{2265}' if self.tolerant => Kind::Relation(Relation::GreaterEqual),
            '\u{2260}' if self.tolerant => Kind::Relation(Relation::NotEqual),
            '+' => Kind::Plus,
            '-' => Kind::Minus,
            '*' if self.eat('*') => Kind::Power,
            '*' => Kind::Star,
            '/' => Kind::Slash,
            '\\' => Kind::Backslash,
            _ => return None,
        })
    }

    /// `%` to the end of the line, or `%*` to its `*%`; the latter nest.
    fn comment(&mut self, start: usize) {
        let bytes = self.text.as_bytes();
        if bytes.get(start + 1) != Some(&b'*') {
            self.at = self.text[start..].find('\n').map_or(self.text.len(), |n| start + n);
            return;
        }
        let (mut depth, mut at) = (1usize, start + 2);
        while depth > 0 && at < bytes.len() {
            match (bytes[at], bytes.get(at + 1)) {
                (b'%', Some(b'*')) => (depth, at) = (depth + 1, at + 2),
                (b'*', Some(b'%')) => (depth, at) = (depth - 1, at + 2),
                _ => at += 1,
            }
        }
        count_steps(at - start);
        if depth > 0 {
            // The rest of a text is a lot to lose: only this line is taken as the comment.
            self.at = self.text[start..].find('\n').map_or(self.text.len(), |n| start + n);
            let span = Span::new(start as u32, start as u32 + 2);
            self.out.findings.push((Finding::OpenComment, span));
            self.out.tokens.push(Token { kind: Kind::Odd("%*".to_owned()), span });
            return;
        }
        self.at = at;
    }

    fn string(&mut self, start: usize) {
        let mut text = String::new();
        let (_, width) = self.peek().unwrap_or((' ', 1));
        self.bump(width);
        while let Some((c, width)) = self.peek() {
            match c {
                '\n' => break,
                '"' => {
                    self.bump(width);
                    self.push(Kind::Text(text), start);
                    return;
                }
                '\\' => {
                    self.at += width;
                    let Some((escaped, width)) = self.peek() else { break };
                    self.at += width;
                    text.push(if escaped == 'n' { '\n' } else { escaped });
                }
                _ => {
                    text.push_str(&self.text[self.at..self.at + width]);
                    self.at += width;
                }
            }
        }
        count_steps(self.at - start);
        // The dot at the end of the line more likely ends the statement than the text.
        let read = self.text[start..self.at].trim_end();
        if read.len() > 1 && read.ends_with('.') {
            self.at = start + read.len() - 1;
        }
        self.odd(Finding::OpenText, start);
    }

    /// `#name`. A script is one token up to its `#end`, since it is in another language. Without an `#end`, a
    /// tolerant lexer takes only the line, so that mistakes in later lines are reported too.
    fn hash(&mut self, start: usize) {
        let rest = &self.text[start + 1..];
        let mut length = rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
        if &rest[..length] == "sum" && rest[length..].starts_with('+') {
            length += 1;
        }
        let name = rest[..length].to_owned();
        self.at = start + 1 + length;
        if name.is_empty() {
            return self.odd(Finding::Character, start);
        }
        if name == "script" {
            let rest = &self.text[self.at..];
            let line = rest.find('\n').filter(|_| self.tolerant).unwrap_or(rest.len());
            let end = rest.find("#end");
            count_steps(end.unwrap_or(rest.len()));
            self.at += end.map_or(line, |n| n + "#end".len());
        }
        self.push(Kind::Hash(name), start);
    }

    fn number(&mut self, start: usize) {
        let length = self.text[start..].bytes().take_while(u8::is_ascii_digit).count();
        self.at = start + length;
        match self.text[start..self.at].parse::<i64>() {
            Ok(number) if number <= MAX_NUMBER => self.push(Kind::Number(number), start),
            _ => self.odd(Finding::LargeNumber, start),
        }
    }

    fn word(&mut self, start: usize) {
        let rest = &self.text[start..];
        let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        self.at = start + length;
        let word = &rest[..length];
        if !word.is_ascii() {
            return self.odd(Finding::ForeignName, start);
        }
        let kind = match word.bytes().find(|b| *b != b'_') {
            None if word.len() == 1 => Kind::Anonymous,
            Some(first) if first.is_ascii_lowercase() && word == "not" => Kind::Not,
            Some(first) if first.is_ascii_lowercase() => Kind::Name(word.to_owned()),
            Some(first) if first.is_ascii_uppercase() => Kind::Variable(word.to_owned()),
            _ => return self.odd(Finding::Character, start),
        };
        self.push(kind, start);
    }
}
