//! Tokens of a text to statements, where parentheses and dots were lost. Models write one statement a line, so a line that begins like
//! a statement ends the one before.

use super::report::Report;
use super::signature::Signature;
use crate::codes::reader as code;
use crate::names::{fold_spelling, mangle};
use crate::syntax::ast::Relation;
use crate::syntax::count_steps;
use crate::syntax::lexer::{Kind, Token};
use planforge_diagnostics::{Severity, Span};
use std::collections::BTreeSet;

/// The tokens of one statement, its dot included.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub(super) tokens: Vec<Token>,
    pub(super) span: Span,
}

/// The pieces of a text.
#[derive(Debug, Default)]
pub(super) struct CutText {
    pub(super) drafts: Vec<Draft>,
    /// Lines that are not program.
    pub(super) prose: Vec<Span>,
}

/// The most tokens that decide whether a line is a statement.
const AHEAD: usize = 256;

/// Cuts tokens into statements.
pub(super) struct Cutter<'a> {
    tokens: &'a [Token],
    /// For each token one past the last token of its line.
    line_ends: Vec<usize>,
    signature: &'a Signature,
    words: &'a KnownWords,
    fenced: bool,
    /// True if more text follows these tokens, so that they are not cut off by the end of the reply.
    closed: bool,
    at: usize,
    cut: CutText,
}

impl<'a> Cutter<'a> {
    pub(super) fn new(
        text: &str,
        tokens: &'a [Token],
        signature: &'a Signature,
        words: &'a KnownWords,
        fenced: bool,
        closed: bool,
    ) -> Self {
        let mut line_ends = vec![tokens.len(); tokens.len()];
        for at in (1..tokens.len()).rev() {
            let between = tokens[at - 1].span.end as usize..tokens[at].span.start as usize;
            let breaks = text.as_bytes()[between].contains(&b'\n');
            line_ends[at - 1] = if breaks { at } else { line_ends[at] };
        }
        Self { tokens, line_ends, signature, words, fenced, closed, at: 0, cut: CutText::default() }
    }

    /// Cuts the whole text.
    pub(super) fn run(mut self, report: &mut Report) -> CutText {
        while self.at < self.tokens.len() {
            let end = self.line_end(self.at);
            match classify(self.ahead(self.at), self.words, self.fenced) {
                LineKind::Prose => {
                    let span = self.tokens[self.at].span.to(self.tokens[end - 1].span);
                    self.cut.prose.push(span);
                    self.at = end;
                }
                LineKind::Statement(skipped) => {
                    if skipped > 0 {
                        let span = self.tokens[self.at].span.to(self.tokens[self.at + skipped - 1].span);
                        report.repair(
                            Severity::Advice,
                            code::MARKUP,
                            "a mark of a list or of code before a statement is left out".to_owned(),
                            span,
                            "",
                        );
                    }
                    self.at += skipped;
                    self.statement(report);
                }
            }
        }
        self.cut
    }

    /// One past the last token of the line of the token `at`.
    fn line_end(&self, at: usize) -> usize {
        self.line_ends[at]
    }

    /// True if the token `at` is the first of its line.
    fn begins_line(&self, at: usize) -> bool {
        at == 0 || self.line_ends[at - 1] == at
    }

    /// The first tokens of the line from `at` on: enough to judge it, however long it is.
    fn ahead(&self, at: usize) -> &'a [Token] {
        let end = self.line_end(at).min(at + AHEAD);
        count_steps(end - at);
        &self.tokens[at..end]
    }

    fn statement(&mut self, report: &mut Report) {
        let mut draft = OpenStatement { start: self.at, ..OpenStatement::default() };
        loop {
            let Some(token) = self.tokens.get(self.at) else { return self.end_of_text(draft, report) };
            if self.ends_before(&draft, token) {
                return self.lost_dot(draft, report);
            }
            match &token.kind {
                Kind::Dots if draft.frames.is_empty() && !self.goes_on(self.at + 1) => {
                    let message = "`..` is read as the dot at the end of the statement".to_owned();
                    report.repair(Severity::Advice, code::LOST_DOT, message, token.span, ".");
                    draft.out.push(Token { kind: Kind::Dot, span: token.span });
                    return self.finish(draft);
                }
                Kind::Dot if self.decimal(&mut draft) => continue,
                Kind::Dot => {
                    draft.close_all(report);
                    draft.push(token);
                    return self.finish(draft);
                }
                Kind::Comma | Kind::Semicolon if self.ends_fact(&draft) || self.ends_open_fact(&draft) => {
                    draft.close_all(report);
                    return self.dot_for(draft, token, report);
                }
                _ => self.token(&mut draft, token, report),
            }
            self.at += 1;
        }
    }

    /// A token inside a statement.
    fn token(&mut self, draft: &mut OpenStatement, token: &Token, report: &mut Report) {
        let outside = draft.frames.is_empty();
        match &token.kind {
            Kind::Open | Kind::OpenBrace => self.open(draft, token),
            Kind::Close => self.close(draft, token, report),
            Kind::CloseBrace => self.close_brace(draft, token, report),
            Kind::If => draft.begin_body(token.span, report),
            Kind::Comma => self.comma(draft, token, report),
            Kind::Semicolon if draft.in_body && outside => {
                let message = "`;` between conditions may mean `and` or `or`".to_owned();
                let help = "write a rule for each way if `or` is meant, and a comma if `and` is meant";
                report.refuse(code::OR, message, token.span, help);
                draft.given_up = true;
                draft.push(token);
            }
            Kind::Colon if outside && !draft.in_body && !draft.is_directive() => {
                let message = "`:` behind a head is read as `:-`".to_owned();
                report.repair(Severity::Warning, code::SIGN, message, token.span, ":-");
                draft.begin_body(token.span, report);
            }
            Kind::Relation(Relation::Less) if self.is_arrow(draft, token) => {
                let span = token.span.to(self.tokens[self.at + 1].span);
                report.repair(Severity::Warning, code::SIGN, "`<-` is read as `:-`".to_owned(), span, ":-");
                draft.begin_body(span, report);
                self.at += 1;
            }
            Kind::Odd(text) if text == "`" => {
                let message = "a back-tick is left out".to_owned();
                report.repair(Severity::Advice, code::MARKUP, message, token.span, "");
            }
            kind if draft.in_body && outside && is_and(kind) && draft.ends_literal() => {
                let message = format!("`{}` is read as the comma between conditions", kind.show());
                report.repair(Severity::Advice, code::SIGN, message, token.span, ",");
                draft.out.push(Token { kind: Kind::Comma, span: token.span });
            }
            _ => draft.push(token),
        }
    }

    /// True if a statement without a dot ends before this token.
    fn ends_before(&self, draft: &OpenStatement, token: &Token) -> bool {
        let Some(last) = draft.out.last() else { return false };
        let new_line = self.at > draft.start && self.begins_line(self.at);
        if new_line {
            let begins = !continues(&token.kind)
                && classify(self.ahead(self.at), self.words, self.fenced) != LineKind::Prose
                || is_bullet(self.tokens, self.at);
            // A statement that is whole ends, whatever comes; one that is not ends where another begins.
            return match wants_more(&last.kind) {
                true => begins && (self.begins_rule(draft) || draft.is_directive()),
                false => !continues(&token.kind),
            };
        }
        // `init(a) init(b)`: two facts on a line.
        draft.frames.is_empty()
            && !draft.in_body
            && matches!(last.kind, Kind::Close)
            && matches!(token.kind, Kind::Name(_) | Kind::Variable(_))
    }

    /// True if a line after an unfinished statement is a new statement: both have a `:-`, or the line begins
    /// with a word that is never inside parentheses.
    fn begins_rule(&self, draft: &OpenStatement) -> bool {
        let is_head = word(&self.tokens[self.at]).is_some_and(stands_alone);
        if !draft.frames.is_empty() && is_head {
            return true;
        }
        let mut statement = self.ahead(self.at).iter().take_while(|token| token.kind != Kind::Dot);
        draft.in_body && statement.any(|token| token.kind == Kind::If)
    }

    /// True if the statement may continue with the token `at` on the same line.
    fn goes_on(&self, at: usize) -> bool {
        at < self.tokens.len() && !self.begins_line(at)
    }

    fn open(&self, draft: &mut OpenStatement, token: &Token) {
        let name = draft.out.last().filter(|last| touch(last, token)).and_then(word).map(mangle);
        let arity = name.as_deref().and_then(|name| match name {
            "init" | "goal" => Some(1),
            "object" | "cardinality" => Some(2),
            name => self.signature.arity(name),
        });
        draft.frames.push(Frame { is_brace: token.kind == Kind::OpenBrace, arity, commas: 0 });
        draft.push(token);
    }

    fn close(&self, draft: &mut OpenStatement, token: &Token, report: &mut Report) {
        match draft.frames.last() {
            Some(frame) if !frame.is_brace => {
                draft.frames.pop();
                draft.push(token);
            }
            _ => {
                let message = "a closing parenthesis without an opening one is left out".to_owned();
                report.repair(Severity::Warning, code::EXTRA_PARENTHESIS, message, token.span, "");
            }
        }
    }

    fn close_brace(&self, draft: &mut OpenStatement, token: &Token, report: &mut Report) {
        if draft.frames.iter().any(|frame| frame.is_brace) {
            while draft.frames.last().is_some_and(|frame| !frame.is_brace) {
                draft.close_one(report);
            }
            draft.frames.pop();
        }
        draft.push(token);
    }

    /// Reads `1.5` as a text where a number may have decimals. Its dot does not end the statement.
    fn decimal(&mut self, draft: &mut OpenStatement) -> bool {
        let (Some(before), Some(after)) = (draft.out.last(), self.tokens.get(self.at + 1)) else {
            return false;
        };
        let (Kind::Number(whole), Kind::Number(_)) = (&before.kind, &after.kind) else { return false };
        let dot = &self.tokens[self.at];
        if !touch(before, dot) || !touch(dot, after) || draft.frames.is_empty() {
            return false;
        }
        // Leading zeros of the decimals count, so they are taken as they stand.
        let digits = after.span.end - after.span.start;
        let Kind::Number(decimals) = &after.kind else { return false };
        let text = format!("{whole}.{decimals:0width$}", width = digits as usize);
        let mut span = before.span.to(after.span);
        let mut text = text;
        draft.out.pop();
        if let [.., sign, minus] = draft.out.as_slice()
            && minus.kind == Kind::Minus
            && matches!(sign.kind, Kind::Relation(_) | Kind::Comma | Kind::Open)
        {
            span = minus.span.to(span);
            text.insert(0, '-');
            draft.out.pop();
        }
        draft.out.push(Token { kind: Kind::Text(text), span });
        self.at += 2;
        true
    }

    /// A comma inside a statement. If a condition follows and the arguments are complete, parentheses are
    /// missing.
    fn comma(&self, draft: &mut OpenStatement, token: &Token, report: &mut Report) {
        let next = self.tokens.get(self.at + 1).map(|t| &t.kind);
        let after = self.tokens.get(self.at + 2).map(|t| &t.kind);
        let begins_literal = matches!(next, Some(Kind::Not))
            || matches!(next, Some(Kind::Name(_))) && matches!(after, Some(Kind::Open));
        let full = draft.frames.last().is_some_and(|f| f.arity.is_some_and(|arity| f.commas + 1 >= arity));
        let in_call = !draft.frames.iter().any(|frame| frame.is_brace);
        if draft.in_body && in_call && begins_literal && full {
            draft.close_all(report);
        }
        if let Some(frame) = draft.frames.last_mut() {
            frame.commas += 1;
        }
        draft.push(token);
    }

    /// True if a comma or semicolon stands for the dot of a fact: no `:-` follows before the next dot or the
    /// end of the next line.
    fn ends_fact(&self, draft: &OpenStatement) -> bool {
        if draft.in_body || !draft.frames.is_empty() {
            return false;
        }
        let Some(next) = self.tokens.get(self.at + 1) else { return true };
        if !matches!(next.kind, Kind::Name(_) | Kind::Variable(_)) {
            return false;
        }
        let statement = self.ahead(self.at + 1).iter().take_while(|token| token.kind != Kind::Dot);
        !statement.into_iter().any(|token| matches!(token.kind, Kind::If | Kind::Colon))
    }

    /// Like [`Self::ends_fact`] for a fact with missing parentheses: the next word is never inside
    /// parentheses.
    fn ends_open_fact(&self, draft: &OpenStatement) -> bool {
        let next = self.tokens.get(self.at + 1).and_then(word);
        let is_call = self.tokens.get(self.at + 2).is_some_and(|open| open.kind == Kind::Open);
        !draft.in_body && !draft.frames.is_empty() && is_call && next.is_some_and(stands_alone)
    }

    fn dot_for(&mut self, mut draft: OpenStatement, token: &Token, report: &mut Report) {
        let message = format!("`{}` between two facts is read as a dot", token.kind.show());
        report.repair(Severity::Warning, code::LOST_DOT, message, token.span, ".");
        draft.out.push(Token { kind: Kind::Dot, span: token.span });
        self.finish(draft);
    }

    fn is_arrow(&self, draft: &OpenStatement, token: &Token) -> bool {
        let next = self.tokens.get(self.at + 1);
        !draft.in_body && next.is_some_and(|minus| minus.kind == Kind::Minus && touch(token, minus))
    }

    /// The statement ends without a dot, where another begins.
    fn lost_dot(&mut self, mut draft: OpenStatement, report: &mut Report) {
        draft.close_all(report);
        if draft.out.last().is_some_and(|last| last.kind == Kind::Comma) {
            draft.out.pop();
        }
        let at = Span::empty(draft.end());
        if draft.out.last().is_some_and(|last| last.kind == Kind::If) {
            let help = "write a condition behind `:-`, or a fact without it";
            return report.refuse(code::CUT_OFF, "this statement ends at its `:-`".to_owned(), at, help);
        }
        report.repair(
            Severity::Warning,
            code::LOST_DOT,
            "this statement has lost its dot".to_owned(),
            at,
            ".",
        );
        draft.out.push(Token { kind: Kind::Dot, span: at });
        // The token at hand begins the next statement.
        self.push_draft(draft);
    }

    fn end_of_text(&mut self, draft: OpenStatement, report: &mut Report) {
        let Some(first) = draft.out.first() else { return };
        let unfinished = draft.out.last().is_some_and(|last| wants_more(&last.kind));
        if !self.closed && (unfinished || !draft.frames.is_empty()) {
            let span = first.span.to(Span::empty(draft.end()));
            report.refuse(
                code::CUT_OFF,
                "the text ends in the middle of this statement".to_owned(),
                span,
                "ask for the rest, or for a shorter text; the limit on the length of replies may be too low",
            );
            return;
        }
        self.lost_dot(draft, report);
    }

    fn finish(&mut self, draft: OpenStatement) {
        self.at += 1;
        self.push_draft(draft);
    }

    fn push_draft(&mut self, draft: OpenStatement) {
        let (Some(first), Some(last)) = (draft.out.first(), draft.out.last()) else { return };
        if draft.out.len() > 1 && !draft.given_up {
            let span = first.span.to(last.span);
            self.cut.drafts.push(Draft { tokens: draft.out, span });
        }
    }
}

/// True for words of the representation that are never inside another predicate.
fn stands_alone(word: &str) -> bool {
    matches!(word, "init" | "goal" | "object" | "cardinality")
}

/// True if such a token at the beginning of a line continues the previous statement.
fn continues(kind: &Kind) -> bool {
    use Kind::{
        Backslash, Close, CloseBrace, Colon, Comma, Dot, Dots, If, Power, Relation, Semicolon, Slash,
    };
    matches!(
        kind,
        If | Comma
            | Close
            | CloseBrace
            | Relation(_)
            | Semicolon
            | Colon
            | Dot
            | Dots
            | Slash
            | Backslash
            | Power
    )
}

/// True if the token is a list marker.
fn is_bullet(tokens: &[Token], at: usize) -> bool {
    matches!(tokens[at].kind, Kind::Minus | Kind::Star | Kind::Plus)
        && tokens.get(at + 1).is_some_and(|next| !touch(&tokens[at], next))
}

/// `and`, `&` and their kin between conditions.
fn is_and(kind: &Kind) -> bool {
    match kind {
        Kind::Name(text) => text == "and",
        Kind::Odd(text) => matches!(text.as_str(), "&" | "\u{2227}"),
        _ => false,
    }
}

// A statement whose end has not been found yet, with its open parentheses and braces.

/// An open parenthesis or brace.
pub(super) struct Frame {
    pub(super) is_brace: bool,
    /// Number of arguments of its predicate, if known.
    pub(super) arity: Option<usize>,
    pub(super) commas: usize,
}

/// A statement while its tokens come in.
#[derive(Default)]
pub(super) struct OpenStatement {
    pub(super) out: Vec<Token>,
    pub(super) frames: Vec<Frame>,
    pub(super) in_body: bool,
    /// True if the statement was refused.
    pub(super) given_up: bool,
    /// The index of its first token.
    pub(super) start: usize,
}

impl OpenStatement {
    pub(super) fn push(&mut self, token: &Token) {
        self.out.push(token.clone());
    }

    /// Adds `:-` for a sign at `span`.
    pub(super) fn begin_body(&mut self, span: Span, report: &mut Report) {
        self.close_all(report);
        self.in_body = true;
        self.out.push(Token { kind: Kind::If, span });
    }

    /// True for a directive outside all parentheses. Directives are refused, so one without its dot must not
    /// swallow the next line.
    pub(super) fn is_directive(&self) -> bool {
        self.frames.is_empty() && self.out.first().is_some_and(|first| matches!(first.kind, Kind::Hash(_)))
    }

    /// End of its last token.
    pub(super) fn end(&self) -> u32 {
        self.out.last().map_or(0, |token| token.span.end)
    }

    /// True if a condition may end after these tokens.
    pub(super) fn ends_literal(&self) -> bool {
        self.out.last().is_some_and(|last| !wants_more(&last.kind))
    }

    pub(super) fn close_one(&mut self, report: &mut Report) {
        let Some(frame) = self.frames.pop() else { return };
        let (kind, sign) = if frame.is_brace { (Kind::CloseBrace, "}") } else { (Kind::Close, ")") };
        let span = Span::empty(self.end());
        report.repair(
            Severity::Warning,
            code::LOST_PARENTHESIS,
            format!("a lost `{sign}` is added"),
            span,
            sign,
        );
        self.out.push(Token { kind, span });
    }

    pub(super) fn close_all(&mut self, report: &mut Report) {
        while !self.frames.is_empty() {
            self.close_one(report);
        }
    }
}

/// True if a statement cannot end after such a token.
pub(super) fn wants_more(kind: &Kind) -> bool {
    use Kind::{
        At, Backslash, Colon, Comma, Dots, If, Minus, Not, Open, OpenBrace, Plus, Power, Relation, Semicolon,
        Slash, Star,
    };
    matches!(
        kind,
        Comma
            | If
            | Open
            | OpenBrace
            | Colon
            | Semicolon
            | Not
            | At
            | Relation(_)
            | Plus
            | Minus
            | Star
            | Power
            | Slash
            | Backslash
            | Dots
    )
}

// Separates lines of program from prose, headings and bullets.

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
