//! TOML as a tree in which everything has its place, and typed reading of one table, with ranges, unknown keys and near names.

use planforge_contract::JsonObject;
use planforge_diagnostics::{Diagnostic, SourceId, Span};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use toml::de::{DeTable, DeValue};

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

/// A place in the file or in a `--set` argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct SourcePlace {
    pub(crate) source: SourceId,
    pub(crate) span: Span,
}

/// A key of a table.
#[derive(Debug, Clone)]
pub(crate) struct Key {
    pub(crate) name: String,
    pub(crate) place: SourcePlace,
}

/// A table's entries, in the order of their places.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    pub(crate) entries: Vec<(Key, Node)>,
}

impl Table {
    pub(crate) fn get(&self, name: &str) -> Option<&Node> {
        self.entry(name).map(|(_, node)| node)
    }
    pub(crate) fn entry(&self, name: &str) -> Option<&(Key, Node)> {
        self.entries.iter().find(|(key, _)| key.name == name)
    }
    pub(crate) fn get_mut(&mut self, name: &str) -> Option<&mut Node> {
        self.entries.iter_mut().find(|(key, _)| key.name == name).map(|(_, node)| node)
    }
}

#[derive(Debug, Clone)]
pub(crate) enum Value {
    String(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    /// As written; no key of a pipeline file takes one.
    Datetime(String),
    Array(Vec<Node>),
    Table(Table),
}

/// A value and its place. A table under a header has the place of that header.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) place: SourcePlace,
    pub(crate) value: Value,
}

impl Node {
    /// Its type, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self.value {
            Value::String(_) => "a string",
            Value::Integer(_) => "an integer",
            Value::Float(_) => "a number",
            Value::Boolean(_) => "true or false",
            Value::Datetime(_) => "a date",
            Value::Array(_) => "an array",
            Value::Table(_) => "a table",
        }
    }

    pub(crate) fn as_table(&self) -> Option<&Table> {
        match &self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The same value as JSON.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        use serde_json::Value as Json;
        match &self.value {
            Value::String(s) | Value::Datetime(s) => Json::String(s.clone()),
            Value::Integer(i) => Json::from(*i),
            Value::Float(f) => Json::from(*f),
            Value::Boolean(b) => Json::Bool(*b),
            Value::Array(items) => Json::Array(items.iter().map(Node::to_json).collect()),
            Value::Table(table) => {
                Json::Object(table.entries.iter().map(|(k, v)| (k.name.clone(), v.to_json())).collect())
            }
        }
    }
}

/// A parsed text: the tree that could be read, and what was wrong with the rest.
pub(crate) struct ParsedToml {
    pub(crate) root: Table,
    pub(crate) errors: Vec<Diagnostic>,
}

/// Reads a TOML text; after a syntax error the rest of the text is read all the same.
pub(crate) fn parse(text: &str, source: SourceId) -> ParsedToml {
    let (table, syntax) = DeTable::parse_recoverable(text);
    let mut converter = Converter { source, errors: Vec::new() };
    for error in syntax {
        let span = error.span().map_or(Span::empty(0), |r| Span::new(clamp(r.start), clamp(r.end)));
        converter.errors.push(
            Diagnostic::error("pipeline.syntax", format!("not TOML: {}", error.message()))
                .at(source, span, ""),
        );
    }
    let root = converter.table(table.get_ref());
    ParsedToml { root, errors: converter.errors }
}

fn clamp(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}

struct Converter {
    source: SourceId,
    errors: Vec<Diagnostic>,
}

impl Converter {
    fn place(&self, range: std::ops::Range<usize>) -> SourcePlace {
        SourcePlace { source: self.source, span: Span::new(clamp(range.start), clamp(range.end)) }
    }

    fn table(&mut self, table: &DeTable<'_>) -> Table {
        let mut entries: Vec<(Key, Node)> = table
            .iter()
            .map(|(key, value)| {
                let place = self.place(key.span());
                let node = self.node(value.get_ref(), self.place(value.span()));
                (Key { name: key.get_ref().to_string(), place }, node)
            })
            .collect();
        // The parser keeps keys in alphabetical order; findings follow the text.
        entries.sort_by_key(|(key, _)| key.place.span.start);
        Table { entries }
    }

    fn node(&mut self, value: &DeValue<'_>, place: SourcePlace) -> Node {
        let value = match value {
            DeValue::String(s) => Value::String(s.to_string()),
            DeValue::Integer(i) => {
                let digits = i.as_str();
                Value::Integer(i64::from_str_radix(digits, i.radix()).unwrap_or_else(|_| {
                    self.bad_number(place, "this integer does not fit into 64 bits");
                    0
                }))
            }
            DeValue::Float(f) => {
                // A cap or price that is not finite would have no effect. Most keys accept 1, so no second error follows.
                let number = f.as_str().parse().ok().filter(|number: &f64| number.is_finite());
                Value::Float(number.unwrap_or_else(|| {
                    self.bad_number(place, "this is not a finite number");
                    1.0
                }))
            }
            DeValue::Boolean(b) => Value::Boolean(*b),
            DeValue::Datetime(d) => Value::Datetime(d.to_string()),
            DeValue::Array(items) => Value::Array(
                items.iter().map(|item| self.node(item.get_ref(), self.place(item.span()))).collect(),
            ),
            DeValue::Table(table) => Value::Table(self.table(table)),
        };
        Node { place, value }
    }

    fn bad_number(&mut self, place: SourcePlace, message: &str) {
        self.errors.push(Diagnostic::error("pipeline.type", message).at(place.source, place.span, ""));
    }
}

/// Follows a JSON pointer as far as possible. Returns the place of the value or, if `of_key` is set, of the
/// key.
pub(crate) fn locate(root: &Node, pointer: &str, of_key: bool) -> SourcePlace {
    let mut node = root;
    let mut place = root.place;
    for segment in pointer.split('/').skip(1) {
        let segment = segment.replace("~1", "/").replace("~0", "~");
        let next = match &node.value {
            Value::Table(table) => table
                .entry(&segment)
                .map(|(key, value)| (value, if of_key { key.place } else { value.place })),
            Value::Array(items) => {
                segment.parse::<usize>().ok().and_then(|i| items.get(i)).map(|item| (item, item.place))
            }
            _ => None,
        };
        let Some((value, at)) = next else { break };
        node = value;
        place = at;
    }
    place
}

/// The nearest of the names, if one is near enough to have been meant.
pub(crate) fn nearest<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = name.to_lowercase();
    let limit = (wanted.chars().count() / 3).max(1);
    names
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&wanted, &candidate.to_lowercase()), candidate))
        // A name that only lacks or repeats a part (`val` for `verifier-val`) is as good as a near miss.
        .map(|(d, c)| {
            if wanted.len() >= 3 && c.len() >= 3 && (c.contains(&wanted) || wanted.contains(c)) {
                (d.min(limit), c)
            } else {
                (d, c)
            }
        })
        .filter(|(distance, _)| *distance <= limit)
        .min()
        .map(|(_, candidate)| candidate)
}

/// "did you mean `x`?", else the list of all names, else nothing.
pub(crate) fn help_for(name: &str, names: &[&str], what: &str) -> Option<String> {
    if let Some(near) = nearest(name, names.iter().copied()) {
        return Some(format!("did you mean `{near}`?"));
    }
    if names.is_empty() {
        return Some(format!("there are no {what}"));
    }
    let list: Vec<String> = names.iter().take(20).map(|n| format!("`{n}`")).collect();
    let more = if names.len() > 20 { ", ..." } else { "" };
    Some(format!("{what}: {}{more}", list.join(", ")))
}

#[cfg(test)]
mod tree_tests {
    use super::*;

    #[test]
    fn numbers_that_are_not_finite_are_refused() {
        for number in ["nan", "-nan", "inf", "-inf", "1e999"] {
            let parsed = parse(&format!("max_cost_usd = {number}"), SourceId(0));
            assert_eq!(parsed.errors.len(), 1, "{number}");
            assert_eq!(parsed.errors[0].message, "this is not a finite number");
        }
        assert!(parse("max_cost_usd = 1e300", SourceId(0)).errors.is_empty());
    }

    #[test]
    fn reads_on_after_syntax_errors() {
        let text = "schema = 1\nseed = \n[llm.main]\nuse = \"x\"\n[[stage]\ndo = \"verify\"\n[[stage]]\ndo = \"plan\nlabel = \"a\"\n";
        let parsed = parse(text, SourceId(0));
        assert!(parsed.errors.len() >= 3);
        assert!(parsed.root.get("llm").is_some());
    }
}

#[cfg(test)]
mod suggest_tests {
    use super::*;

    #[test]
    fn near_misses_are_found_and_far_ones_are_not() {
        assert_eq!(nearest("trnaslate", ["translate", "verify"]), Some("translate"));
        assert_eq!(nearest("val", ["verifier-val", "verifier-ew"]), Some("verifier-val"));
        assert_eq!(nearest("zebra", ["translate", "verify"]), None);
        assert_eq!(help_for("zebra", &["a", "b"], "kinds").as_deref(), Some("kinds: `a`, `b`"));
        assert_eq!(help_for("zebra", &[], "kinds").as_deref(), Some("there are no kinds"));
    }
}
