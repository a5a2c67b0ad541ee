//! Tokens of a text to statements, where parentheses and dots were lost. Models write one statement a line, so a line that begins like
//! a statement ends the one before.

use super::codes as code;
use super::lines::{Line, Words, classify, touch, word};
use super::report::Report;
use super::signature::Signature;
use crate::names::mangled;
use crate::syntax::ast::Relation;
use crate::syntax::lexer::{Kind, Token};
use planforge_diagnostics::{Severity, Span};

/// The tokens of one statement, its dot included.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub(super) tokens: Vec<Token>,
    pub(super) span: Span,
}

/// What a piece of text was cut into.
#[derive(Debug, Default)]
pub(super) struct Cut {
    pub(super) drafts: Vec<Draft>,
    /// Lines that are no program.
    pub(super) prose: Vec<Span>,
}

/// Tokens looked at to judge a line.
const AHEAD: usize = 256;

/// An open parenthesis or brace.
struct Frame {
    is_brace: bool,
    /// How many arguments its predicate has, where it is known.
    arity: Option<usize>,
    commas: usize,
}

/// Cuts tokens into statements.
pub(super) struct Cutter<'a> {
    tokens: &'a [Token],
    /// For each token one past the last token of its line.
    line_ends: Vec<usize>,
    signature: &'a Signature,
    words: &'a Words,
    fenced: bool,
    /// Whether the text goes on behind these tokens, so that it was not cut off here.
    closed: bool,
    at: usize,
    cut: Cut,
}

impl<'a> Cutter<'a> {
    pub(super) fn new(
        text: &str,
        tokens: &'a [Token],
        signature: &'a Signature,
        words: &'a Words,
        fenced: bool,
        closed: bool,
    ) -> Self {
        let mut line_ends = vec![tokens.len(); tokens.len()];
        for at in (1..tokens.len()).rev() {
            let between = tokens[at - 1].span.end as usize..tokens[at].span.start as usize;
            let breaks = text.as_bytes()[between].contains(&b'\n');
            line_ends[at - 1] = if breaks { at } else { line_ends[at] };
        }
        Self { tokens, line_ends, signature, words, fenced, closed, at: 0, cut: Cut::default() }
    }

    /// All statements.
    pub(super) fn run(mut self, report: &mut Report) -> Cut {
        while self.at < self.tokens.len() {
            let end = self.line_end(self.at);
            match classify(self.ahead(self.at), self.words, self.fenced) {
                Line::Prose => {
                    let span = self.tokens[self.at].span.to(self.tokens[end - 1].span);
                    self.cut.prose.push(span);
                    self.at = end;
                }
                Line::Statement(skipped) => {
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

    /// Whether a line begins at the token `at`.
    fn begins_line(&self, at: usize) -> bool {
        at == 0 || self.line_ends[at - 1] == at
    }

    /// The first tokens of the line from `at` on: enough to judge it, however long it is.
    fn ahead(&self, at: usize) -> &'a [Token] {
        &self.tokens[at..self.line_end(at).min(at + AHEAD)]
    }

    fn statement(&mut self, report: &mut Report) {
        let mut draft = Building { start: self.at, ..Building::default() };
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
    fn token(&mut self, draft: &mut Building, token: &Token, report: &mut Report) {
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

    /// Whether a statement ends before this token, without a dot.
    fn ends_before(&self, draft: &Building, token: &Token) -> bool {
        let Some(last) = draft.out.last() else { return false };
        let new_line = self.at > draft.start && self.begins_line(self.at);
        if new_line {
            let begins = !continues(&token.kind)
                && classify(self.ahead(self.at), self.words, self.fenced) != Line::Prose
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

    /// Whether a line after an unfinished one is a statement of its own: it has a `:-`, and so had the unfinished one, or it begins with a
    /// word that stands in no parentheses.
    fn begins_rule(&self, draft: &Building) -> bool {
        let is_head = word(&self.tokens[self.at]).is_some_and(stands_alone);
        if !draft.frames.is_empty() && is_head {
            return true;
        }
        let mut statement = self.ahead(self.at).iter().take_while(|token| token.kind != Kind::Dot);
        draft.in_body && statement.any(|token| token.kind == Kind::If)
    }

    /// Whether the statement may go on at that token on the same line.
    fn goes_on(&self, at: usize) -> bool {
        at < self.tokens.len() && !self.begins_line(at)
    }

    fn open(&self, draft: &mut Building, token: &Token) {
        let name = draft.out.last().filter(|last| touch(last, token)).and_then(word).map(mangled);
        let arity = name.as_deref().and_then(|name| match name {
            "init" | "goal" => Some(1),
            "object" | "cardinality" => Some(2),
            name => self.signature.arity(name),
        });
        draft.frames.push(Frame { is_brace: token.kind == Kind::OpenBrace, arity, commas: 0 });
        draft.push(token);
    }

    fn close(&self, draft: &mut Building, token: &Token, report: &mut Report) {
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

    fn close_brace(&self, draft: &mut Building, token: &Token, report: &mut Report) {
        if draft.frames.iter().any(|frame| frame.is_brace) {
            while draft.frames.last().is_some_and(|frame| !frame.is_brace) {
                draft.close_one(report);
            }
            draft.frames.pop();
        }
        draft.push(token);
    }

    /// `1.5` is no end of a statement; where numbers may have decimals they are texts.
    fn decimal(&mut self, draft: &mut Building) -> bool {
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

    /// A comma inside a statement. Where a condition begins behind it and the arguments are complete, parentheses were lost.
    fn comma(&self, draft: &mut Building, token: &Token, report: &mut Report) {
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

    /// Whether a comma or semicolon here stands for the dot of a fact: no `:-` comes before the next dot or the end of the next line.
    fn ends_fact(&self, draft: &Building) -> bool {
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

    /// The same inside a fact that has lost its parentheses: what follows is a word that stands in none.
    fn ends_open_fact(&self, draft: &Building) -> bool {
        let next = self.tokens.get(self.at + 1).and_then(word);
        let is_call = self.tokens.get(self.at + 2).is_some_and(|open| open.kind == Kind::Open);
        !draft.in_body && !draft.frames.is_empty() && is_call && next.is_some_and(stands_alone)
    }

    fn dot_for(&mut self, mut draft: Building, token: &Token, report: &mut Report) {
        let message = format!("`{}` between two facts is read as a dot", token.kind.show());
        report.repair(Severity::Warning, code::LOST_DOT, message, token.span, ".");
        draft.out.push(Token { kind: Kind::Dot, span: token.span });
        self.finish(draft);
    }

    fn is_arrow(&self, draft: &Building, token: &Token) -> bool {
        let next = self.tokens.get(self.at + 1);
        !draft.in_body && next.is_some_and(|minus| minus.kind == Kind::Minus && touch(token, minus))
    }

    /// The statement ends without a dot, where another begins.
    fn lost_dot(&mut self, mut draft: Building, report: &mut Report) {
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

    fn end_of_text(&mut self, draft: Building, report: &mut Report) {
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

    fn finish(&mut self, draft: Building) {
        self.at += 1;
        self.push_draft(draft);
    }

    fn push_draft(&mut self, draft: Building) {
        let (Some(first), Some(last)) = (draft.out.first(), draft.out.last()) else { return };
        if draft.out.len() > 1 && !draft.given_up {
            let span = first.span.to(last.span);
            self.cut.drafts.push(Draft { tokens: draft.out, span });
        }
    }
}

/// A statement while its tokens come in.
#[derive(Default)]
struct Building {
    out: Vec<Token>,
    frames: Vec<Frame>,
    in_body: bool,
    /// Whether it was refused already.
    given_up: bool,
    /// The index of its first token.
    start: usize,
}

impl Building {
    fn push(&mut self, token: &Token) {
        self.out.push(token.clone());
    }

    /// `:-`, or what stands for it at `span`.
    fn begin_body(&mut self, span: Span, report: &mut Report) {
        self.close_all(report);
        self.in_body = true;
        self.out.push(Token { kind: Kind::If, span });
    }

    /// Whether it is a directive outside all parentheses. None is taken, so one that has lost its dot must not take the next line with it.
    fn is_directive(&self) -> bool {
        self.frames.is_empty() && self.out.first().is_some_and(|first| matches!(first.kind, Kind::Hash(_)))
    }

    /// Where its last token ends.
    fn end(&self) -> u32 {
        self.out.last().map_or(0, |token| token.span.end)
    }

    /// Whether the tokens so far may end a condition.
    fn ends_literal(&self) -> bool {
        self.out.last().is_some_and(|last| !wants_more(&last.kind))
    }

    fn close_one(&mut self, report: &mut Report) {
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

    fn close_all(&mut self, report: &mut Report) {
        while !self.frames.is_empty() {
            self.close_one(report);
        }
    }
}

/// Words of the representation that stand inside no other.
fn stands_alone(word: &str) -> bool {
    matches!(word, "init" | "goal" | "object" | "cardinality")
}

/// Whether a statement cannot end behind such a token.
fn wants_more(kind: &Kind) -> bool {
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

/// Whether such a token at the beginning of a line goes on with the statement before it.
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

/// Whether the token is a mark of a list.
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
