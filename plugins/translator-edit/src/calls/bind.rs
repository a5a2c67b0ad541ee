//! Builds a call from a function's name and arguments.

use super::call::{
    ACTION, ActionCall, Argument, Call, CallsOfReply, GOAL, INIT, MAX_STRINGS, OBJECTS, PREDICATES,
    ProblemCall, ProblemPart, REPLY, Text, Value,
};
use crate::codes;
use planforge_diagnostics::{Diagnostic, Span};

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
pub(super) fn is_parameter(function: &str, word: &str) -> bool {
    match function {
        PREDICATES | ACTION => OF_PREDICATES.iter().chain(&OF_ACTION).any(|names| names.contains(&word)),
        _ => OF_PROBLEM.iter().any(|names| names.contains(&word)),
    }
}

/// Adds the call, or a refusal if the arguments do not fit.
pub(super) fn bind(function: &str, arguments: Vec<Argument>, span: Span, calls: &mut CallsOfReply) {
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
