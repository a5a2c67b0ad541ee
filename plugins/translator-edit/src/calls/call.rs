//! Calls, and the literals that their arguments are made of.

use crate::codes;
use planforge_diagnostics::{Diagnostic, SourceId, Span};

/// The reply's id in diagnostics.
pub(crate) const REPLY: SourceId = SourceId(0);

/// The function that declares predicates.
pub(crate) const PREDICATES: &str = "add_or_update_predicates";
/// The function that fills in an action.
pub(crate) const ACTION: &str = "modify_action";
/// The function that adds, retypes and removes objects of the problem.
pub(crate) const OBJECTS: &str = "edit_objects";
/// The function that adds and removes facts and values of the initial state.
pub(crate) const INIT: &str = "edit_initial_state";
/// The function that adds and removes conditions of the goal.
pub(crate) const GOAL: &str = "edit_goal";

/// The functions that a model can call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Functions {
    /// Those that edit the domain.
    Domain,
    /// Those that edit the domain or the problem.
    DomainAndProblem,
}

impl Functions {
    pub(crate) const fn names(self) -> &'static [&'static str] {
        match self {
            Self::Domain => &[PREDICATES, ACTION],
            Self::DomainAndProblem => &[PREDICATES, ACTION, OBJECTS, INIT, GOAL],
        }
    }

    pub(super) fn contains(self, word: &str) -> bool {
        self.names().contains(&word)
    }

    /// True if an unknown name probably means one of the functions.
    pub(super) fn resemble(self, word: &str) -> bool {
        let parts: &[&str] = match self {
            Self::Domain => &["predicate", "action"],
            Self::DomainAndProblem => &["predicate", "action", "object", "init", "goal"],
        };
        parts.iter().any(|part| word.contains(part))
    }

    /// The help for a call of another function.
    pub(super) fn help(self) -> String {
        let names: Vec<String> = self.names().iter().map(|name| format!("`{name}`")).collect();
        let (last, first) = names.split_last().map_or(("", &[][..]), |(last, first)| (last.as_str(), first));
        format!("only {} and {last} can be called", first.join(", "))
    }
}

/// Largest reply that is read, in bytes.
pub(crate) const MAX_REPLY: usize = 1 << 20;
/// Most calls that are read; further ones are refused together.
pub(crate) const MAX_CALLS: usize = 256;
/// Most strings in one argument.
pub(crate) const MAX_STRINGS: usize = 1024;

/// A string of the reply with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Text {
    pub(crate) value: String,
    /// The literal with its quotes.
    pub(crate) span: Span,
}

impl Text {
    pub(super) fn join(self, other: &Self) -> Self {
        Self { value: self.value + &other.value, span: self.span.to(other.span) }
    }
}

/// A literal of Python or JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Text(Text),
    List(Vec<Value>, Span),
    Map(Vec<(Text, Value)>, Span),
    None(Span),
    /// A number or a Boolean.
    Other(Span),
}

impl Value {
    pub(super) fn span(&self) -> Span {
        match self {
            Self::Text(text) => text.span,
            Self::List(_, span) | Self::Map(_, span) | Self::None(span) | Self::Other(span) => *span,
        }
    }
    /// The fuel that copying it takes, in bytes.
    pub(super) fn size(&self) -> usize {
        let inner: usize = match self {
            Self::Text(text) => text.value.len(),
            Self::List(items, _) => items.iter().map(Self::size).sum(),
            Self::Map(entries, _) => entries.iter().map(|(k, v)| k.value.len() + v.size()).sum(),
            Self::None(_) | Self::Other(_) => 0,
        };
        inner + 1
    }
}

/// A call of one of the functions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Call {
    /// `add_or_update_predicates`. Each string holds one declaration or several.
    Predicates {
        items: Vec<Text>,
    },
    Action(ActionCall),
    Problem(ProblemCall),
}

/// A part of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProblemPart {
    Objects,
    Init,
    Goal,
}

impl ProblemPart {
    /// The function that edits it.
    pub(crate) const fn function(self) -> &'static str {
        match self {
            Self::Objects => OBJECTS,
            Self::Init => INIT,
            Self::Goal => GOAL,
        }
    }
}

/// A call of a function that edits the problem. Each string holds one entry or several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProblemCall {
    pub(crate) part: ProblemPart,
    pub(crate) add: Vec<Text>,
    pub(crate) remove: Vec<Text>,
    /// From the function's name to the closing parenthesis.
    pub(crate) span: Span,
}

/// A call of `modify_action`, which fills in an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ActionCall {
    pub(crate) name: Text,
    /// The parameters, if the call names them although the interface fixes them.
    pub(crate) parameters: Option<Vec<Text>>,
    /// `None` leaves the precondition as it is.
    pub(crate) preconditions: Option<Vec<Text>>,
    /// `None` leaves the effect as it is.
    pub(crate) effects: Option<Vec<Text>>,
    /// From the function's name to the closing parenthesis.
    pub(crate) span: Span,
}

/// The calls of a reply.
#[derive(Debug, Default)]
pub(crate) struct CallsOfReply {
    pub(crate) calls: Vec<Call>,
    /// Calls that could not be read; each is a refused edit.
    pub(crate) refused: Vec<Diagnostic>,
    /// Further findings about the reply.
    pub(crate) notes: Vec<Diagnostic>,
}

impl CallsOfReply {
    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty() && self.refused.is_empty()
    }
    pub(super) fn refuse(&mut self, diagnostic: Diagnostic) {
        if self.calls.len() + self.refused.len() < MAX_CALLS {
            self.refused.push(diagnostic);
        } else {
            self.too_many(diagnostic.primary().map_or(Span::empty(0), |l| l.span));
        }
    }
    pub(super) fn add(&mut self, call: Call, span: Span) {
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

/// An argument of a call, with its keyword if it has one.
pub(super) type Argument = (Option<String>, Value);
