//! Calls in JSON: `{"function": "modify_action", "arguments": {...}}`, alone or in lists, as servers write
//! tool calls (arguments as a text of JSON too), or a dictionary with a function's name as key.

use super::bind::{bind, is_parameter};
use super::call::{ACTION, Argument, CallsOfReply, Functions, PREDICATES, REPLY, Text, Value};
use super::literal::{Fuel, LiteralReader, MAX_DEPTH};
use crate::codes;
use planforge_diagnostics::{Diagnostic, Span};
use std::collections::BTreeMap;

/// Keys that hold a function's name, and those that hold its arguments.
const NAMES: [&str; 5] = ["function", "name", "tool", "function_name", "tool_name"];
const ARGUMENTS: [&str; 6] = ["arguments", "args", "parameters", "params", "kwargs", "input"];

/// Adds every call in a value.
pub(super) fn add_calls(value: &Value, functions: Functions, fuel: &mut Fuel, calls: &mut CallsOfReply) {
    Adder { functions, fuel, calls }.walk(value, 0);
}

struct Adder<'a> {
    functions: Functions,
    fuel: &'a mut Fuel,
    calls: &'a mut CallsOfReply,
}

impl Adder<'_> {
    fn walk(&mut self, value: &Value, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        match value {
            Value::List(items, _) => items.iter().for_each(|item| self.walk(item, depth + 1)),
            Value::Map(entries, span) => self.map(entries, *span, depth),
            Value::Text(_) | Value::None(_) | Value::Other(_) => {}
        }
    }

    fn map(&mut self, entries: &[(Text, Value)], span: Span, depth: usize) {
        let Self { functions, fuel, calls } = self;
        let given = entries.iter().find(|(key, _)| ARGUMENTS.contains(&key.value.as_str()));
        let named = entries.iter().find_map(|(key, value)| match value {
            Value::Text(name) if NAMES.contains(&key.value.as_str()) => Some((key, name)),
            _ => None,
        });
        if let Some((key, name)) = named {
            let function = name.value.trim();
            if functions.contains(function) {
                let arguments = match given {
                    Some((_, arguments)) => spread(function, arguments, fuel),
                    None => keywords(entries.iter().filter(|(other, _)| other.span != key.span)),
                };
                bind(function, arguments, span, calls);
                return;
            }
            if given.is_some() {
                let message = format!("there is no function `{function}`");
                let refused = Diagnostic::error(codes::EDIT_FUNCTION, message).at(REPLY, name.span, "");
                calls.refuse(refused.help(functions.help()));
                return;
            }
        }
        for (key, value) in entries {
            match (key.value.as_str(), value) {
                (name, value) if !self.functions.contains(name) => self.walk(value, depth + 1),
                // A list of calls of one function.
                (function, Value::List(items, _))
                    if function != PREDICATES && items.iter().all(|i| matches!(i, Value::Map(..))) =>
                {
                    for item in items {
                        bind(function, spread(function, item, self.fuel), item.span(), self.calls);
                    }
                }
                (function, value) => {
                    bind(function, spread(function, value, self.fuel), value.span(), self.calls);
                }
            }
        }
    }
}

/// The arguments of a call: by name, in order, or the only one of the function that has one parameter.
fn spread(function: &str, value: &Value, fuel: &mut Fuel) -> Vec<Argument> {
    match value {
        Value::Map(entries, _) if function != PREDICATES || is_keywords(entries) => keywords(entries.iter()),
        // `["(p)", "(q)"]` of a function that edits the problem is its first argument.
        Value::List(items, _)
            if function == ACTION
                || (function != PREDICATES && !items.iter().all(|i| matches!(i, Value::Text(_)))) =>
        {
            items.iter().map(|item| (None, item.clone())).collect()
        }
        // `[["(p)", "(q)"]]` is one positional argument; `["(p)", "(q)"]` is the argument itself.
        Value::List(items, _) if items.len() == 1 && matches!(items.first(), Some(Value::List(..))) => {
            items.iter().map(|item| (None, item.clone())).collect()
        }
        Value::Text(text) if text.value.trim_start().starts_with(['{', '[']) => {
            match inner(text, fuel) {
                // A text within a text is not parsed again.
                Some(Value::Text(_)) | None => vec![(None, value.clone())],
                Some(inner) => spread(function, &inner, fuel),
            }
        }
        value => vec![(None, value.clone())],
    }
}

fn is_keywords(entries: &[(Text, Value)]) -> bool {
    entries.iter().any(|(key, _)| is_parameter(PREDICATES, &key.value))
}

fn keywords<'a>(entries: impl Iterator<Item = &'a (Text, Value)>) -> Vec<Argument> {
    entries.map(|(key, value)| (Some(key.value.clone()), value.clone())).collect()
}

/// Parses a text of JSON. All spans in the value are the span of the text.
fn inner(text: &Text, fuel: &mut Fuel) -> Option<Value> {
    let none = BTreeMap::new();
    let mut reader =
        LiteralReader { text: &text.value, at: 0, end: text.value.len(), fuel, variables: &none };
    let mut value = reader.value(0).ok()?;
    reader.skip_blank();
    if reader.at < reader.end {
        return None;
    }
    place(&mut value, text.span);
    Some(value)
}

fn place(value: &mut Value, at: Span) {
    match value {
        Value::Text(text) => text.span = at,
        Value::List(items, span) => {
            *span = at;
            items.iter_mut().for_each(|item| place(item, at));
        }
        Value::Map(entries, span) => {
            *span = at;
            for (key, value) in entries {
                key.span = at;
                place(value, at);
            }
        }
        Value::None(span) | Value::Other(span) => *span = at,
    }
}
