//! Separates lines of program from prose, headings and bullets.

use super::signature::Signature;
use crate::names::{fold_spelling, mangle};
use crate::steps::count_steps;
use crate::syntax::lexer::{Kind, Token};
use std::collections::BTreeSet;

/// The kind of the text that starts at a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineKind {
    /// A statement after that many tokens of a bullet or number.
    Statement(usize),
    /// Something else: the rest of the line is left out.
    Prose,
}

/// Folded names of a signature, to tell statements from prose.
pub(super) struct KnownWords {
    folded: BTreeSet<String>,
}

impl KnownWords {
    pub(super) fn of(signature: &Signature) -> Self {
        let heads = ["object", "cardinality", "init", "goal", "metric", "map"];
        Self { folded: heads.into_iter().chain(signature.all_predicates()).map(fold_spelling).collect() }
    }

    fn contains(&self, name: &str) -> bool {
        self.folded.contains(&fold_spelling(name))
    }
}

/// True if there is no space between two tokens.
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

/// Number of tokens of the name at the beginning, hyphens included: 3 for `on-table`.
pub(super) fn name_length(tokens: &[Token]) -> usize {
    let mut length = 1;
    count_steps(1);
    while let [last, minus, part, ..] = &tokens[length - 1..] {
        let is_part = matches!(part.kind, Kind::Name(_) | Kind::Number(_) | Kind::Variable(_));
        if minus.kind != Kind::Minus || !is_part || !touch(last, minus) || !touch(minus, part) {
            break;
        }
        count_steps(1);
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
    Some((mangle(&parts), length))
}

/// Classifies the rest of a line. Inside a code fence, unknown text counts as a broken statement rather than
/// prose.
pub(super) fn classify(tokens: &[Token], words: &KnownWords, fenced: bool) -> LineKind {
    let skipped = bullet(tokens, words);
    if is_statement(&tokens[skipped..], words, fenced) {
        LineKind::Statement(skipped)
    } else {
        LineKind::Prose
    }
}

/// The tokens of `- `, `* `, `1. `, `2) `, `Goal: ` and opening back-ticks.
fn bullet(tokens: &[Token], words: &KnownWords) -> usize {
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
                    || open.kind == Kind::Open && word(call).is_some_and(|word| words.contains(word))) =>
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

fn is_statement(tokens: &[Token], words: &KnownWords, fenced: bool) -> bool {
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
            Some((name, length)) => is_statement_with_name(tokens, words, fenced, &name, length),
            None => calls(0),
        },
    }
}

/// The same for tokens that begin with a name.
fn is_statement_with_name(
    tokens: &[Token],
    words: &KnownWords,
    fenced: bool,
    name: &str,
    length: usize,
) -> bool {
    let known = words.contains(name);
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

/// True if the tokens contain a call of a known predicate: its name directly followed by `(`.
fn calls_known(tokens: &[Token], words: &KnownWords) -> bool {
    tokens.windows(2).any(|pair| {
        pair[1].kind == Kind::Open
            && touch(&pair[0], &pair[1])
            && word(&pair[0]).is_some_and(|w| words.contains(w))
    })
}

/// True if two words are adjacent outside all parentheses.
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
