//! Rewrites constructs inside `init` and `goal` that the grammar lacks: `goal(not clean(X))`,
//! `init(total_cost = 0)`.

use super::drafts::Draft;
use super::report::Report;
use crate::codes::reader as code;
use crate::steps::count_steps;
use crate::syntax::ast::Relation;
use crate::syntax::lexer::{Kind, Token};
use planforge_diagnostics::Span;
use std::ops::Range;

/// Rewrites the arguments of `init` and `goal` into terms.
pub(super) fn reshape(draft: &mut Draft, report: &mut Report) {
    let tokens = std::mem::take(&mut draft.tokens);
    let closers = closers(&tokens);
    let mut edits = Edits { before: vec![Vec::new(); tokens.len()], dropped: vec![false; tokens.len()] };
    let mut at = 0;
    while at < tokens.len() {
        let Some((state, close)) = state(&tokens, &closers, at) else {
            at += 1;
            continue;
        };
        for argument in arguments(&tokens, at + 2..close) {
            edits.argument(&tokens, &closers, state, argument, report);
        }
        at = close;
    }
    for (at, token) in tokens.into_iter().enumerate() {
        draft.tokens.append(&mut edits.before[at]);
        if !edits.dropped[at] {
            draft.tokens.push(token);
        }
    }
}

/// For each opening parenthesis the index of its partner.
fn closers(tokens: &[Token]) -> Vec<Option<usize>> {
    let mut partners = vec![None; tokens.len()];
    let mut open = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            Kind::Open => open.push(at),
            Kind::Close => {
                if let Some(partner) = open.pop() {
                    partners[partner] = Some(at);
                }
            }
            _ => {}
        }
    }
    partners
}

/// For a token that begins `init(` or `goal(`, the state and the index of the closing parenthesis.
fn state(tokens: &[Token], closers: &[Option<usize>], at: usize) -> Option<(&'static str, usize)> {
    let state = match &tokens[at].kind {
        Kind::Name(name) if name == "init" => "init",
        Kind::Name(name) if name == "goal" => "goal",
        _ => return None,
    };
    closers.get(at + 1).copied().flatten().map(|close| (state, close))
}

/// The pieces of a range between commas outside inner parentheses; none is empty.
fn arguments(tokens: &[Token], range: Range<usize>) -> Vec<Range<usize>> {
    let (mut found, mut depth, mut start) = (Vec::new(), 0usize, range.start);
    count_steps(range.len());
    for at in range.clone() {
        match tokens[at].kind {
            Kind::Open => depth += 1,
            Kind::Close => depth = depth.saturating_sub(1),
            Kind::Comma if depth == 0 => {
                found.push(start..at);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(start..range.end);
    found.retain(|piece| !piece.is_empty());
    found
}

/// Changes to the tokens of one statement.
struct Edits {
    /// Tokens to insert before each token.
    before: Vec<Vec<Token>>,
    /// True for tokens to remove.
    dropped: Vec<bool>,
}

impl Edits {
    fn insert(&mut self, at: usize, kind: Kind, span: Span) {
        self.before[at].push(Token { kind, span });
    }

    fn argument(
        &mut self,
        tokens: &[Token],
        closers: &[Option<usize>],
        state: &str,
        argument: Range<usize>,
        report: &mut Report,
    ) {
        if is_negation(&tokens[argument.clone()]) {
            self.negate(tokens, closers, argument, report);
        } else if let Some(relation) = relation(tokens, argument.clone()) {
            self.compare(tokens, state, argument, relation, report);
        }
    }

    /// `not p(X)` becomes `neg(p(X))`.
    fn negate(
        &mut self,
        tokens: &[Token],
        closers: &[Option<usize>],
        argument: Range<usize>,
        report: &mut Report,
    ) {
        let (sign, last) = (argument.start, argument.end - 1);
        let span = tokens[sign].span.to(tokens[last].span);
        let message = "`not` inside `init` or `goal` is read as a fact that must not hold".to_owned();
        report.note(code::NEGATIVE, message, span);
        let is_wrapped = tokens[sign + 1].kind == Kind::Open && closers[sign + 1] == Some(last);
        self.dropped[sign] = true;
        self.insert(sign, Kind::Name("neg".to_owned()), tokens[sign].span);
        if !is_wrapped {
            self.insert(sign, Kind::Open, Span::empty(tokens[sign].span.end));
            self.insert(last + 1, Kind::Close, Span::empty(tokens[last].span.end));
        }
    }

    /// `total_cost = 0` becomes `value(total_cost, 0)`, and in a goal `compare("=", total_cost, 0)`.
    fn compare(
        &mut self,
        tokens: &[Token],
        state: &str,
        argument: Range<usize>,
        relation: usize,
        report: &mut Report,
    ) {
        let Kind::Relation(sign) = tokens[relation].kind else { return };
        let (first, last) = (argument.start, argument.end - 1);
        let span = tokens[first].span.to(tokens[last].span);
        let is_init = state == "init";
        if sign == Relation::NotEqual || (is_init && sign != Relation::Equal) {
            let message = format!("`{sign}` cannot stand inside `{state}`");
            let help = "say what a function is worth with `init(total_cost = 0)`, and bound it with `goal(fuel(truck1) >= 3)`";
            report.refuse(code::FRAGMENT, message, span, help);
            return;
        }
        let message = format!("the comparison inside `{state}` is read as one of a numeric function");
        report.note(code::NUMBER_FACT, message, span);
        let place = Span::empty(tokens[first].span.start);
        self.insert(first, Kind::Name(if is_init { "value" } else { "compare" }.to_owned()), place);
        self.insert(first, Kind::Open, place);
        if !is_init {
            self.insert(first, Kind::Text(sign.to_string()), place);
            self.insert(first, Kind::Comma, place);
        }
        self.dropped[relation] = true;
        self.insert(relation, Kind::Comma, tokens[relation].span);
        self.insert(last + 1, Kind::Close, Span::empty(tokens[last].span.end));
    }
}

/// True if an argument has a sign of negation before something else.
fn is_negation(argument: &[Token]) -> bool {
    let Some(next) = argument.get(1) else { return false };
    match &argument[0].kind {
        Kind::Not => true,
        Kind::Odd(text) => matches!(text.as_str(), "~" | "\u{ac}" | "!"),
        Kind::Minus => matches!(next.kind, Kind::Name(_)),
        _ => false,
    }
}

/// The relation outside inner parentheses.
fn relation(tokens: &[Token], argument: Range<usize>) -> Option<usize> {
    let mut depth = 0usize;
    let (first, last) = (argument.start, argument.end - 1);
    count_steps(argument.len());
    argument.into_iter().find(|at| {
        match tokens[*at].kind {
            Kind::Open => depth += 1,
            Kind::Close => depth = depth.saturating_sub(1),
            Kind::Relation(_) => return depth == 0 && *at > first && *at < last,
            _ => {}
        }
        false
    })
}
