//! The calls in a model's reply: `add_or_update_predicates([...])` and `modify_action(name, preconditions, effects)`, the refinement
//! interface of the exploration-walk paper (Appendix B.3), and the functions that edit the problem, which the paper does not have.
//!
//! They are parsed, never executed: as Python text or as JSON, in code blocks or in prose. If a code block holds a call, calls outside of all
//! blocks are talk about calls and do not count.

mod literal;
mod scan;

use crate::codes;
use planforge_diagnostics::{Diagnostic, SourceId, Span};

/// Reads every call of these functions in a reply.
pub(crate) fn read_calls(reply: &str, functions: Functions) -> CallsOfReply {
    let mut calls = CallsOfReply::default();
    if reply.len() > MAX_REPLY {
        let message = format!("the reply has {} bytes; at most {MAX_REPLY} are read", reply.len());
        calls.refused.push(Diagnostic::error(codes::EDIT_LIMIT, message));
        return calls;
    }
    let mut fuel = literal::Fuel::for_text(reply.len());
    let mut scanner = scan::Scanner::new(reply, functions, &mut fuel);
    let blocks = planforge_pddl::extract::code_blocks(reply);
    for block in &blocks {
        scanner.code(block.clone(), &mut calls);
    }
    let mut outside = CallsOfReply::default();
    let mut from = 0;
    for block in &blocks {
        scanner.prose(from..block.start, &mut outside);
        from = block.end;
    }
    scanner.prose(from..reply.len(), &mut outside);
    if calls.is_empty() {
        return outside;
    }
    if !outside.calls.is_empty() {
        let message = "calls outside of the code blocks are not made, because a block has some";
        calls.notes.push(Diagnostic::advice(codes::EDIT_OUTSIDE, message));
    }
    calls
}

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
    fn resemble(self, word: &str) -> bool {
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
const MAX_REPLY: usize = 1 << 20;
/// Most calls that are read; further ones are refused together.
const MAX_CALLS: usize = 256;
/// Most strings in one argument.
const MAX_STRINGS: usize = 1024;

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
type Argument = (Option<String>, Value);

/// The parameters of the functions, in order, each with the other names that are understood.
const OF_PREDICATES: [&[&str]; 1] = [&["predicates", "new_predicates", "predicate"]];
const OF_ACTION: [&[&str]; 4] = [
    &["action_name", "name", "action"],
    &["new_preconditions", "preconditions", "precondition", "new_precondition", "pre"],
    &["new_effects", "effects", "effect", "new_effect", "eff"],
    // Not a parameter of the function: read so that a changed signature is reported as such.
    &["parameters", "new_parameters", "params"],
];
const OF_PROBLEM: [&[&str]; 2] = [&["add", "added", "new"], &["remove", "removed", "delete"]];
/// Most arguments without a keyword.
const POSITIONAL: usize = 3;

/// True for the names of parameters of a function.
fn is_parameter(function: &str, word: &str) -> bool {
    match function {
        PREDICATES | ACTION => OF_PREDICATES.iter().chain(&OF_ACTION).any(|names| names.contains(&word)),
        _ => OF_PROBLEM.iter().any(|names| names.contains(&word)),
    }
}

/// Adds the call, or a refusal if the arguments do not fit.
fn bind(function: &str, arguments: Vec<Argument>, span: Span, calls: &mut CallsOfReply) {
    let outcome = match function {
        PREDICATES => predicates(arguments, span),
        OBJECTS => problem(ProblemPart::Objects, arguments, span),
        INIT => problem(ProblemPart::Init, arguments, span),
        GOAL => problem(ProblemPart::Goal, arguments, span),
        _ => action(arguments, span).map(Call::Action),
    };
    match outcome {
        Ok(call) => calls.add(call, span),
        Err(diagnostic) => calls.refuse(*diagnostic),
    }
}

type Bound<T> = Result<T, Box<Diagnostic>>;

fn wrong<T>(function: &str, span: Span, message: impl std::fmt::Display) -> Bound<T> {
    let help = match function {
        PREDICATES => format!("call it as {PREDICATES}([\"(name ?x - type)\", ...])"),
        OBJECTS => format!("call it as {OBJECTS}([\"added - type\", ...], [\"removed\", ...])"),
        INIT | GOAL => format!("call it as {function}([\"(added)\", ...], [\"(removed)\", ...])"),
        _ => format!("call it as {ACTION}(\"name\", [\"(precondition)\", ...], [\"(effect)\", ...])"),
    };
    let diagnostic = Diagnostic::error(codes::EDIT_FORM, format!("`{function}`: {message}"));
    Err(Box::new(diagnostic.at(REPLY, span, "").help(help)))
}

/// Assigns the arguments to the parameters.
fn assign<const N: usize>(
    function: &str,
    parameters: &[&[&str]; N],
    arguments: Vec<Argument>,
    span: Span,
) -> Bound<[Option<Value>; N]> {
    let mut values = [const { None }; N];
    for (position, (keyword, value)) in arguments.into_iter().enumerate() {
        let place = value.span();
        let slot = match &keyword {
            None if position < N.min(POSITIONAL) => position,
            None => return wrong(function, place, format!("argument {} is one too many", position + 1)),
            Some(word) => match parameters.iter().position(|names| names.contains(&word.as_str())) {
                Some(slot) => slot,
                None => return wrong(function, place, format!("there is no parameter `{word}`")),
            },
        };
        match values.get_mut(slot) {
            Some(free @ None) => *free = Some(value),
            _ => {
                let name = parameters.get(slot).and_then(|names| names.first()).unwrap_or(&"?");
                return wrong(function, span, format!("`{name}` is given twice"));
            }
        }
    }
    Ok(values)
}

fn predicates(arguments: Vec<Argument>, span: Span) -> Bound<Call> {
    let [given] = assign(PREDICATES, &OF_PREDICATES, arguments, span)?;
    match given {
        Some(value) => Ok(Call::Predicates { items: strings(PREDICATES, value)? }),
        None => wrong(PREDICATES, span, "the list of predicates is missing"),
    }
}

fn action(arguments: Vec<Argument>, span: Span) -> Bound<ActionCall> {
    let [name, preconditions, effects, parameters] = assign(ACTION, &OF_ACTION, arguments, span)?;
    let name = match name {
        Some(Value::Text(name)) => name,
        Some(other) => return wrong(ACTION, other.span(), "the action's name must be a string"),
        None => return wrong(ACTION, span, "the action's name is missing"),
    };
    let list = |value: Option<Value>| match value {
        None | Some(Value::None(_)) => Ok(None),
        Some(value) => strings(ACTION, value).map(Some),
    };
    let call = ActionCall {
        name,
        parameters: list(parameters)?,
        preconditions: list(preconditions)?,
        effects: list(effects)?,
        span,
    };
    if call.preconditions.is_none() && call.effects.is_none() {
        return wrong(ACTION, span, "neither preconditions nor effects are given");
    }
    Ok(call)
}

fn problem(part: ProblemPart, arguments: Vec<Argument>, span: Span) -> Bound<Call> {
    let function = part.function();
    let given = assign(function, &OF_PROBLEM, arguments, span)?;
    let [add, remove] = given.map(|value| match value {
        None | Some(Value::None(_)) => Ok(Vec::new()),
        Some(value) => strings(function, value),
    });
    let call = ProblemCall { part, add: add?, remove: remove?, span };
    if call.add.is_empty() && call.remove.is_empty() {
        return wrong(function, span, "nothing is added or removed");
    }
    Ok(Call::Problem(call))
}

/// The strings of an argument: one, those of a nested list, or the keys of a dictionary whose values describe them.
fn strings(function: &str, value: Value) -> Bound<Vec<Text>> {
    fn collect(function: &str, value: Value, out: &mut Vec<Text>) -> Bound<()> {
        match value {
            Value::Text(text) => out.push(text),
            Value::List(items, _) => {
                return items.into_iter().try_for_each(|item| collect(function, item, out));
            }
            Value::Map(entries, _)
                if entries.iter().all(|(k, v)| k.value.contains('(') && matches!(v, Value::Text(_))) =>
            {
                out.extend(entries.into_iter().map(|(key, _)| key));
            }
            Value::Map(_, span) | Value::None(span) | Value::Other(span) => {
                return wrong(function, span, "this is no string");
            }
        }
        Ok(())
    }
    let span = value.span();
    let mut out = Vec::new();
    collect(function, value, &mut out)?;
    if out.len() > MAX_STRINGS {
        return wrong(function, span, format!("{} strings are more than {MAX_STRINGS}", out.len()));
    }
    Ok(out)
}

#[cfg(test)]
mod tests;
