//! A statement whose end has not been found yet, with its open parentheses and braces.

use super::report::Report;
use crate::codes::reader as code;
use crate::syntax::lexer::{Kind, Token};
use planforge_diagnostics::{Severity, Span};

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
