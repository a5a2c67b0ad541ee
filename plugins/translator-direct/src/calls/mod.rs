//! The calls in a model's reply: `add_or_update_predicates([...])` and `modify_action(name, preconditions, effects)`, the
//! refinement interface of the exploration-walk paper (Appendix B.3).
//!
//! They are read, never executed: as Python text or as JSON, in code blocks or in prose. Where a code block holds a call,
//! calls outside of all blocks are talk about calls and do not count.

mod bind;
mod json;
mod literal;
mod scan;

use crate::codes;
use planforge_diagnostics::{Diagnostic, SourceId, Span};

/// The reply's id in diagnostics.
pub(crate) const REPLY: SourceId = SourceId(0);

/// The function that declares predicates.
pub(crate) const PREDICATES: &str = "add_or_update_predicates";
/// The function that fills in an action.
pub(crate) const ACTION: &str = "modify_action";

/// Largest reply that is read, in bytes.
pub(crate) const MAX_REPLY: usize = 1 << 20;
/// Most calls that are read; further ones are refused together.
pub(crate) const MAX_CALLS: usize = 256;
/// Most strings in one argument.
pub(crate) const MAX_STRINGS: usize = 1024;

/// A string of the reply and where it stands there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Text {
    pub(crate) value: String,
    /// The literal with its quotes.
    pub(crate) span: Span,
}

impl Text {
    fn joined(self, other: &Self) -> Self {
        Self { value: self.value + &other.value, span: self.span.to(other.span) }
    }
}

/// A literal.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Value {
    Text(Text),
    List(Vec<Value>, Span),
    Map(Vec<(Text, Value)>, Span),
    None(Span),
    /// A number or a truth value.
    Other(Span),
}

impl Value {
    fn span(&self) -> Span {
        match self {
            Self::Text(text) => text.span,
            Self::List(_, span) | Self::Map(_, span) | Self::None(span) | Self::Other(span) => *span,
        }
    }
    /// What copying it costs.
    fn size(&self) -> usize {
        let inner: usize = match self {
            Self::Text(text) => text.value.len(),
            Self::List(items, _) => items.iter().map(Self::size).sum(),
            Self::Map(entries, _) => entries.iter().map(|(k, v)| k.value.len() + v.size()).sum(),
            Self::None(_) | Self::Other(_) => 0,
        };
        inner + 1
    }
}

/// A call with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Call {
    /// Predicates to declare.
    Predicates {
        /// One declaration or several each.
        items: Vec<Text>,
    },
    /// An action to fill in.
    Action(ActionCall),
}

/// `modify_action`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ActionCall {
    pub(crate) name: Text,
    /// The parameters, where the call names them against the interface.
    pub(crate) parameters: Option<Vec<Text>>,
    /// `None` leaves the precondition as it is.
    pub(crate) preconditions: Option<Vec<Text>>,
    /// `None` leaves the effect as it is.
    pub(crate) effects: Option<Vec<Text>>,
    /// From the function's name to the closing parenthesis.
    pub(crate) span: Span,
}

/// What a reply holds.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    /// The calls, in order.
    pub(crate) calls: Vec<Call>,
    /// Calls that could not be read; each is a refused edit.
    pub(crate) refused: Vec<Diagnostic>,
    /// What else there is to say.
    pub(crate) notes: Vec<Diagnostic>,
}

impl Reading {
    fn is_empty(&self) -> bool {
        self.calls.is_empty() && self.refused.is_empty()
    }
    fn refuse(&mut self, diagnostic: Diagnostic) {
        if self.calls.len() + self.refused.len() < MAX_CALLS {
            self.refused.push(diagnostic);
        } else {
            self.too_many(diagnostic.primary().map_or(Span::empty(0), |l| l.span));
        }
    }
    fn add(&mut self, call: Call, span: Span) {
        if self.calls.len() + self.refused.len() < MAX_CALLS {
            self.calls.push(call);
        } else {
            self.too_many(span);
        }
    }
    fn too_many(&mut self, span: Span) {
        if self.refused.last().is_none_or(|d| d.code != codes::EDIT_LIMIT) {
            let message = format!("only the first {MAX_CALLS} calls of a reply are read");
            self.refused.push(Diagnostic::error(codes::EDIT_LIMIT, message).at(REPLY, span, ""));
        }
    }
}

/// Reads every call of a reply.
pub(crate) fn read(reply: &str) -> Reading {
    let mut reading = Reading::default();
    if reply.len() > MAX_REPLY {
        let message = format!("the reply has {} bytes; at most {MAX_REPLY} are read", reply.len());
        reading.refused.push(Diagnostic::error(codes::EDIT_LIMIT, message));
        return reading;
    }
    let mut fuel = literal::Fuel::for_text(reply.len());
    let mut scanner = scan::Scanner::new(reply, &mut fuel);
    let blocks = planforge_pddl::extract::code_blocks(reply);
    for block in &blocks {
        scanner.code(block.clone(), &mut reading);
    }
    let mut outside = Reading::default();
    let mut from = 0;
    for block in &blocks {
        scanner.prose(from..block.start, &mut outside);
        from = block.end;
    }
    scanner.prose(from..reply.len(), &mut outside);
    if reading.is_empty() {
        return outside;
    }
    if !outside.calls.is_empty() {
        let message = "calls outside of the code blocks are not made, because a block has some";
        reading.notes.push(Diagnostic::advice(codes::EDIT_OUTSIDE, message));
    }
    reading
}

#[cfg(test)]
mod tests;
