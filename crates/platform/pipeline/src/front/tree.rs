//! TOML as a tree in which every key and value has its place, so that findings can point at it.

use planforge_diagnostics::{Diagnostic, SourceId, Span};
use toml::de::{DeTable, DeValue};

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

#[cfg(test)]
mod tests {
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
