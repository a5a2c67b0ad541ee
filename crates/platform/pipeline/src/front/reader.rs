//! Reads the entries of one table with types and ranges, and reports unknown keys.

use super::tree::{Key, Node, SourcePlace, Table, Value};
use crate::suggest::help_for;
use planforge_contract::JsonObject;
use planforge_diagnostics::Diagnostic;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// A value with its place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct At<T> {
    pub(crate) value: T,
    pub(crate) place: SourcePlace,
}

/// An error at a place.
pub(crate) fn error_at(code: &'static str, message: impl Into<String>, place: SourcePlace) -> Diagnostic {
    Diagnostic::error(code, message).at(place.source, place.span, "")
}

/// Adds a help line where there is one.
pub(crate) fn with_help(diagnostic: Diagnostic, help: Option<String>) -> Diagnostic {
    match help {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}

/// One table being read.
pub(crate) struct TableReader<'a> {
    table: &'a Table,
    /// The table's header, at which missing keys are reported.
    pub(crate) place: SourcePlace,
    /// Name of the table in messages, such as: stage `ew`.
    pub(crate) what: String,
    known: Vec<&'static str>,
}

impl<'a> TableReader<'a> {
    pub(crate) fn new(table: &'a Table, place: SourcePlace, what: impl Into<String>) -> Self {
        Self { table, place, what: what.into(), known: Vec::new() }
    }

    pub(crate) fn node(&mut self, key: &'static str) -> Option<&'a Node> {
        if !self.known.contains(&key) {
            self.known.push(key);
        }
        self.table.get(key)
    }

    fn wrong_type(&self, key: &str, node: &Node, wanted: &str, out: &mut Vec<Diagnostic>) {
        let message = format!("`{key}` of {} must be {wanted}, not {}", self.what, node.kind());
        out.push(error_at("pipeline.type", message, node.place));
    }

    /// Reports a field that must be there.
    pub(crate) fn missing(&self, key: &str, example: &str, out: &mut Vec<Diagnostic>) {
        let message = format!("{} has no `{key}`", self.what);
        out.push(
            error_at("pipeline.missing-field", message, self.place).help(format!("add `{key} = {example}`")),
        );
    }

    pub(crate) fn string(&mut self, key: &'static str, out: &mut Vec<Diagnostic>) -> Option<At<String>> {
        let node = self.node(key)?;
        match &node.value {
            Value::String(s) => Some(At { value: s.clone(), place: node.place }),
            _ => {
                self.wrong_type(key, node, "a string", out);
                None
            }
        }
    }

    pub(crate) fn boolean(&mut self, key: &'static str, out: &mut Vec<Diagnostic>) -> Option<bool> {
        let node = self.node(key)?;
        match node.value {
            Value::Boolean(b) => Some(b),
            _ => {
                self.wrong_type(key, node, "true or false", out);
                None
            }
        }
    }

    pub(crate) fn integer(
        &mut self,
        key: &'static str,
        range: RangeInclusive<i64>,
        out: &mut Vec<Diagnostic>,
    ) -> Option<u64> {
        let node = self.node(key)?;
        match node.value {
            Value::Integer(i) if range.contains(&i) => u64::try_from(i).ok(),
            Value::Integer(i) => {
                self.out_of_range(
                    key,
                    &i.to_string(),
                    &format!("{} to {}", range.start(), range.end()),
                    node,
                    out,
                );
                None
            }
            _ => {
                self.wrong_type(key, node, "an integer", out);
                None
            }
        }
    }

    pub(crate) fn number(
        &mut self,
        key: &'static str,
        range: RangeInclusive<f64>,
        out: &mut Vec<Diagnostic>,
    ) -> Option<f64> {
        let node = self.node(key)?;
        let number = match node.value {
            Value::Float(f) => f,
            Value::Integer(i) => i as f64,
            _ => {
                self.wrong_type(key, node, "a number", out);
                return None;
            }
        };
        if range.contains(&number) {
            return Some(number);
        }
        self.out_of_range(
            key,
            &number.to_string(),
            &format!("{} to {}", range.start(), range.end()),
            node,
            out,
        );
        None
    }

    fn out_of_range(&self, key: &str, found: &str, range: &str, node: &Node, out: &mut Vec<Diagnostic>) {
        let message = format!("`{key}` of {} is {found}, which is not in the range {range}", self.what);
        out.push(error_at("pipeline.range", message, node.place));
    }

    /// One of a few words.
    pub(crate) fn word<T: Copy>(
        &mut self,
        key: &'static str,
        words: &[(&'static str, T)],
        out: &mut Vec<Diagnostic>,
    ) -> Option<T> {
        let found = self.string(key, out)?;
        self.one_of(key, words, &found, "cannot be", out)
    }

    /// Some of a few words.
    pub(crate) fn words<T: Copy>(
        &mut self,
        key: &'static str,
        words: &[(&'static str, T)],
        out: &mut Vec<Diagnostic>,
    ) -> Vec<T> {
        let found = self.strings(key, out);
        found.iter().filter_map(|one| self.one_of(key, words, one, "cannot hold", out)).collect()
    }

    fn one_of<T: Copy>(
        &self,
        key: &str,
        words: &[(&'static str, T)],
        found: &At<String>,
        cannot: &str,
        out: &mut Vec<Diagnostic>,
    ) -> Option<T> {
        if let Some((_, value)) = words.iter().find(|(word, _)| *word == found.value) {
            return Some(*value);
        }
        let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let message = format!("`{key}` of {} {cannot} `{}`", self.what, found.value);
        let help = help_for(&found.value, &names, "it can be");
        out.push(with_help(error_at("pipeline.value", message, found.place), help));
        None
    }

    pub(crate) fn strings(&mut self, key: &'static str, out: &mut Vec<Diagnostic>) -> Vec<At<String>> {
        let Some(node) = self.node(key) else { return Vec::new() };
        let Value::Array(items) = &node.value else {
            self.wrong_type(key, node, "an array of strings", out);
            return Vec::new();
        };
        let mut strings = Vec::new();
        for item in items {
            match &item.value {
                Value::String(s) => strings.push(At { value: s.clone(), place: item.place }),
                _ => self.wrong_type(key, item, "an array of strings", out),
            }
        }
        strings
    }

    /// One string, or several in an array.
    pub(crate) fn string_or_strings(
        &mut self,
        key: &'static str,
        out: &mut Vec<Diagnostic>,
    ) -> Vec<At<String>> {
        match self.node(key) {
            Some(Node { value: Value::String(s), place }) => vec![At { value: s.clone(), place: *place }],
            Some(Node { value: Value::Array(_), .. }) => self.strings(key, out),
            Some(other) => {
                self.wrong_type(key, other, "a string or an array of strings", out);
                Vec::new()
            }
            None => Vec::new(),
        }
    }

    /// A table of strings, each with the places of key and value.
    pub(crate) fn string_map(
        &mut self,
        key: &'static str,
        out: &mut Vec<Diagnostic>,
    ) -> Vec<(&'a Key, At<String>)> {
        let Some(node) = self.node(key) else { return Vec::new() };
        let Value::Table(table) = &node.value else {
            self.wrong_type(key, node, "a table of strings", out);
            return Vec::new();
        };
        let mut entries = Vec::new();
        for (name, item) in &table.entries {
            match &item.value {
                Value::String(s) => entries.push((name, At { value: s.clone(), place: item.place })),
                _ => self.wrong_type(&format!("{key}.{}", name.name), item, "a string", out),
            }
        }
        entries
    }

    pub(crate) fn table(
        &mut self,
        key: &'static str,
        out: &mut Vec<Diagnostic>,
    ) -> Option<(&'a Table, &'a Node)> {
        let node = self.node(key)?;
        match &node.value {
            Value::Table(table) => Some((table, node)),
            _ => {
                self.wrong_type(key, node, "a table", out);
                None
            }
        }
    }

    /// Reports every unknown key.
    pub(crate) fn finish(self, code: &'static str, out: &mut Vec<Diagnostic>) {
        for (key, _) in &self.table.entries {
            if self.known.contains(&key.name.as_str()) {
                continue;
            }
            let message = format!("{} has no key `{}`", self.what, key.name);
            let help = help_for(&key.name, &self.known, "its keys are");
            out.push(with_help(error_at(code, message, key.place), help));
        }
    }
}

/// Map entries as a plain map.
pub(crate) fn plain(entries: &[(&Key, At<String>)]) -> BTreeMap<String, String> {
    entries.iter().map(|(key, at)| (key.name.clone(), at.value.clone())).collect()
}

/// A table as a JSON object.
pub(crate) fn json_object(table: &Table) -> JsonObject {
    table.entries.iter().map(|(key, node)| (key.name.clone(), node.to_json())).collect()
}
