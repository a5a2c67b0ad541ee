//! Which lines of a reply are program and which are prose, headings and bullets.

use super::signature::Signature;
use crate::names::{folded, mangled};
use crate::syntax::lexer::{Kind, Token};
use std::collections::BTreeSet;

/// What begins at a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line {
    /// A statement, behind that many tokens of a bullet or number.
    Statement(usize),
    /// Something else: the rest of the line is left out.
    Prose,
}

/// The words that a signature knows, to tell statements from prose.
pub(super) struct Words {
    folded: BTreeSet<String>,
}

impl Words {
    pub(super) fn of(signature: &Signature) -> Self {
        let heads = ["object", "cardinality", "init", "goal", "metric", "map"];
        Self { folded: heads.into_iter().chain(signature.all_predicates()).map(folded).collect() }
    }

    fn know(&self, name: &str) -> bool {
        self.folded.contains(&folded(name))
    }
}

/// Whether no space stands between two tokens.
pub(super) fn touch(one: &Token, other: &Token) -> bool {
    one.span.end == other.span.start
}

/// The word of a name or variable.
pub(super) fn word(token: &Token) -> Option<&str> {
    match &token.kind {
        Kind::Name(text) | Kind::Variable(text) => Some(text),
        _ => None,
    }
}

/// How many tokens belong to the name at the beginning, hyphens included: `on-table` has three.
pub(super) fn name_length(tokens: &[Token]) -> usize {
    let mut length = 1;
    while let [last, minus, part, ..] = &tokens[length - 1..] {
        let is_part = matches!(part.kind, Kind::Name(_) | Kind::Number(_) | Kind::Variable(_));
        if minus.kind != Kind::Minus || !is_part || !touch(last, minus) || !touch(minus, part) {
            break;
        }
        length += 2;
    }
    length
}

/// The name at the beginning as it would be known.
fn name_at(tokens: &[Token]) -> Option<(String, usize)> {
    let first = tokens.first()?;
    word(first)?;
    let length = name_length(tokens);
    let parts: String = tokens[..length].iter().map(|token| token.kind.show()).collect();
    Some((mangled(&parts), length))
}

/// What begins with these tokens, which are the rest of a line. Inside a code fence what looks odd is rather a broken statement.
pub(super) fn classify(tokens: &[Token], words: &Words, fenced: bool) -> Line {
    let skipped = bullet(tokens, words);
    if is_statement(&tokens[skipped..], words, fenced) { Line::Statement(skipped) } else { Line::Prose }
}

/// The tokens of `- `, `* `, `1. `, `2) `, `Goal: ` and opening back-ticks.
fn bullet(tokens: &[Token], words: &Words) -> usize {
    let mut skipped = match tokens {
        [mark, next, ..]
            if matches!(mark.kind, Kind::Minus | Kind::Star | Kind::Plus) && !touch(mark, next) =>
        {
            1
        }
        [number, mark, next, ..]
            if matches!(number.kind, Kind::Number(_))
                && matches!(mark.kind, Kind::Dot | Kind::Close)
                && (word(next).is_some() || is_tick(next)) =>
        {
            2
        }
        [label, colon, call, open, ..]
            if word(label).is_some()
                && colon.kind == Kind::Colon
                && (is_tick(call)
                    || open.kind == Kind::Open && word(call).is_some_and(|word| words.know(word))) =>
        {
            2
        }
        _ => 0,
    };
    while tokens.get(skipped).is_some_and(is_tick) {
        skipped += 1;
    }
    skipped
}

fn is_tick(token: &Token) -> bool {
    matches!(&token.kind, Kind::Odd(text) if text == "`" || text == "\u{2022}")
}

fn is_statement(tokens: &[Token], words: &Words, fenced: bool) -> bool {
    let Some(first) = tokens.first() else { return false };
    let calls = |from: usize| calls_known(&tokens[from..], words);
    match &first.kind {
        Kind::If | Kind::OpenBrace => true,
        Kind::Hash(_) => true,
        Kind::Number(_) if matches!(tokens.get(1), Some(t) if t.kind == Kind::OpenBrace) => true,
        Kind::Odd(text) if text == "#" || text == "/" => false,
        // Comments of other languages: `//`, `;`, `--`.
        Kind::Slash | Kind::Semicolon => false,
        Kind::Minus if matches!(tokens.get(1), Some(t) if t.kind == Kind::Minus) => false,
        _ => match name_at(tokens) {
            Some((name, length)) => named(tokens, words, fenced, &name, length),
            None => calls(0),
        },
    }
}

/// The same for tokens that begin with a name.
fn named(tokens: &[Token], words: &Words, fenced: bool, name: &str, length: usize) -> bool {
    let known = words.know(name);
    let is_name = matches!(tokens[0].kind, Kind::Name(_));
    let Some(next) = tokens.get(length) else { return known || (fenced && is_name && tokens.len() > 1) };
    match &next.kind {
        Kind::Open => known || fenced || !has_sentence(&tokens[length..]),
        Kind::If => true,
        Kind::Dot => known || (fenced && is_name),
        // `init on(a, b)` has lost something; `The word on(a, b) means` is a sentence.
        Kind::Name(_) | Kind::Variable(_) => {
            known && tokens.get(length + 1).is_some_and(|open| open.kind == Kind::Open && touch(next, open))
        }
        _ => calls_known(&tokens[length..], words),
    }
}

/// Whether a known predicate is called: its name with `(` directly behind.
fn calls_known(tokens: &[Token], words: &Words) -> bool {
    tokens.windows(2).any(|pair| {
        pair[1].kind == Kind::Open
            && touch(&pair[0], &pair[1])
            && word(&pair[0]).is_some_and(|w| words.know(w))
    })
}

/// Whether two words stand side by side outside all parentheses.
fn has_sentence(tokens: &[Token]) -> bool {
    let mut depth = 0usize;
    tokens.windows(2).any(|pair| {
        match pair[0].kind {
            Kind::Open => depth += 1,
            Kind::Close => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && word(&pair[0]).is_some() && word(&pair[1]).is_some()
    })
}
