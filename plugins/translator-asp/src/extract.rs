//! The answers to the first two of the three generic questions, as facts of the intermediate representation
//! (translate-infer-compile paper, section 4.2).
//!
//! If objects lie in rows and columns and only those are stated, their number is width times height. A number
//! 0 and `null` mean that the text states none. An object that the text names is an `object(NAME, TYPE).`
//! fact, in the order of the answer.

use crate::codes;
use crate::vocabulary::Vocabulary;
use planforge_diagnostics::{Diagnostic, SourceId, Span};
use planforge_plugin_sdk::loose::{Kind, Unreadable, Value, find};
use std::collections::BTreeSet;

/// Most objects in one answer; longer lists are refused.
const MOST_OBJECTS: usize = 10_000;

/// The entries of an answer, with findings about unusable ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Extracted<T> {
    /// In the order of the answer.
    pub(crate) entries: Vec<T>,
    /// Findings about the reply.
    pub(crate) diagnostics: Vec<Diagnostic>,
}

struct Extractor<'a, T> {
    vocabulary: &'a Vocabulary,
    found: Extracted<T>,
}

/// The number of objects of each type.
pub(crate) fn cardinalities(
    reply: &str,
    vocabulary: &Vocabulary,
) -> Result<Extracted<(String, u64)>, Unreadable> {
    let value = find(reply)?;
    let mut extractor = Extractor::new(vocabulary);
    for (name, at, value) in entries(&value, &["count", "number", "cardinality"])? {
        let Some(name) = extractor.known_type(name, at) else { continue };
        if let Some(count) = extractor.count(&name, value) {
            extractor.found.entries.push((name, count));
        }
    }
    Ok(extractor.found)
}

/// The named objects: pairs of object and type.
pub(crate) fn objects(
    reply: &str,
    vocabulary: &Vocabulary,
) -> Result<Extracted<(String, String)>, Unreadable> {
    let value = find(reply)?;
    let mut extractor = Extractor::new(vocabulary);
    let mut seen = BTreeSet::new();
    for (name, at, value) in entries(&value, &["objects", "instances", "names"])? {
        let Some(name) = extractor.known_type(name, at) else { continue };
        for object in extractor.names(value) {
            if seen.insert((object.clone(), name.clone())) {
                extractor.found.entries.push((object, name.clone()));
            }
        }
    }
    if extractor.found.entries.len() > MOST_OBJECTS {
        let message = format!("the answer names more than {MOST_OBJECTS} objects");
        return Err(Unreadable { at: 0, message });
    }
    Ok(extractor.found)
}

/// The entries of `{"table": 2}`, and of `[{"type": "table", "count": 2}]`.
fn entries<'v>(value: &'v Value, keys: &[&str]) -> Result<Vec<(&'v str, usize, &'v Value)>, Unreadable> {
    let wrong = |at: usize, kind: &Kind| {
        Err(Unreadable {
            at,
            message: format!("an object from types to values is missing; this is {}", kind.name()),
        })
    };
    match &value.kind {
        Kind::Object(entries) => Ok(entries.iter().map(|e| (e.key.as_str(), e.at, &e.value)).collect()),
        Kind::List(list) => {
            let mut found = Vec::new();
            for item in list {
                let Kind::Object(fields) = &item.kind else { return wrong(item.at, &item.kind) };
                let name = fields.iter().find_map(|f| match (&f.value.kind, f.key.as_str()) {
                    (Kind::Text(name), "type") => Some((name.as_str(), f.value.at)),
                    _ => None,
                });
                // Rows and columns stand beside the type itself.
                let value = fields.iter().find(|f| keys.contains(&f.key.as_str())).map_or(item, |f| &f.value);
                let Some((name, at)) = name else { return wrong(item.at, &item.kind) };
                found.push((name, at, value));
            }
            Ok(found)
        }
        kind => wrong(value.at, kind),
    }
}

impl<'a, T> Extractor<'a, T> {
    fn new(vocabulary: &'a Vocabulary) -> Self {
        Self { vocabulary, found: Extracted { entries: Vec::new(), diagnostics: Vec::new() } }
    }

    fn say(&mut self, code: &'static str, message: String, at: usize, help: &str) {
        let at = u32::try_from(at).unwrap_or(u32::MAX);
        let diagnostic = Diagnostic::warning(code, message).at(SourceId(0), Span::empty(at), "");
        self.found.diagnostics.push(diagnostic.help(help));
    }

    fn known_type(&mut self, written: &str, at: usize) -> Option<String> {
        let name = constant(written).unwrap_or_default();
        if self.vocabulary.types.iter().any(|t| t.name == name) {
            return Some(name);
        }
        let message = format!("the domain has no type `{written}`; what is said of it is left out");
        let names: Vec<&str> = self.vocabulary.types.iter().map(|t| t.name.as_str()).collect();
        self.say(codes::TYPE, message, at, &format!("the types are {}", names.join(", ")));
        None
    }

    fn count(&mut self, name: &str, value: &Value) -> Option<u64> {
        let count = match &value.kind {
            Kind::Object(fields) => {
                let mut field = |key: &str| {
                    let field = fields.iter().find(|f| f.key.eq_ignore_ascii_case(key))?;
                    self.number(name, &field.value)
                };
                let (count, width, height) = (field("count"), field("width"), field("height"));
                let product = width.zip(height).and_then(|(w, h)| w.checked_mul(h));
                if let (Some(count), Some(product)) = (count, product)
                    && count != product
                {
                    let message = format!(
                        "the answer counts {count} of `{name}` in rows and columns of {product}; {count} is taken"
                    );
                    self.say(codes::COUNT, message, value.at, "look it up in the text");
                }
                count.or(product)
            }
            _ => self.number(name, value),
        };
        count.filter(|count| *count > 0)
    }

    fn number(&mut self, name: &str, value: &Value) -> Option<u64> {
        let number = match &value.kind {
            Kind::Null => return None,
            Kind::Number(number) => Some(*number),
            Kind::Text(text) => text.trim().parse::<f64>().ok(),
            _ => None,
        };
        match number {
            // Numbers of the reasoner have 32 bits.
            Some(n) if n >= 0.0 && n.fract() == 0.0 && n <= f64::from(i32::MAX) => Some(n as u64),
            _ => {
                let message = format!("the number of `{name}` is not a whole number; it is left out");
                self.say(codes::COUNT, message, value.at, "look it up in the text");
                None
            }
        }
    }

    /// The names in a list; a single name may stand without a list.
    fn names(&mut self, value: &Value) -> Vec<String> {
        match &value.kind {
            Kind::List(list) => list.iter().flat_map(|item| self.names(item)).collect(),
            Kind::Text(text) => match constant(text) {
                Some(name) => vec![name],
                None => {
                    let message = format!("`{text}` cannot be made a name; it is left out");
                    let help = "names begin with a letter and are made of a-z, 0-9 and `_`";
                    self.say(codes::NAME, message, value.at, help);
                    Vec::new()
                }
            },
            Kind::Object(fields) => {
                // Models add descriptions: {"name": "pot_1", ...}.
                let name = fields.iter().find(|f| ["name", "id", "object"].contains(&f.key.as_str()));
                name.map_or_else(Vec::new, |f| self.names(&f.value))
            }
            Kind::Null => Vec::new(),
            kind => {
                let message = format!("a name is missing; this is {}, which is left out", kind.name());
                self.say(codes::NAME, message, value.at, "give each type a list of names");
                Vec::new()
            }
        }
    }
}

/// A mention as a name: in lower case, with `_` for spaces and hyphens. `None` if the result is not a name.
pub(crate) fn constant(mention: &str) -> Option<String> {
    let plain: String = mention
        .trim()
        .chars()
        .flat_map(char::to_lowercase)
        .map(|c| if c.is_whitespace() || matches!(c, '-' | '\u{2010}'..='\u{2014}') { '_' } else { c })
        .collect();
    let first = plain.trim_start_matches('_').chars().next();
    let good = first.is_some_and(|c| c.is_ascii_lowercase())
        && plain.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    good.then_some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::TypeEntry;

    fn vocabulary() -> Vocabulary {
        let types = ["table", "cell", "kid", "tea_cup"];
        let types = types.map(|name| TypeEntry { name: name.to_owned(), description: None }).to_vec();
        Vocabulary { types, ..Vocabulary::default() }
    }

    fn counted(reply: &str) -> (Vec<(String, u64)>, Vec<String>) {
        let found = cardinalities(reply, &vocabulary()).unwrap();
        (found.entries, found.diagnostics.into_iter().map(|d| d.message).collect())
    }

    fn of(entries: &[(&str, u64)]) -> Vec<(String, u64)> {
        entries.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect()
    }

    #[test]
    fn a_python_style_table_of_counts_is_read() {
        let reply =
            "{'table': 2, 'cell': {'count': 8, 'width': 4, 'height': 2}, 'Tea-Cup': '3', 'kid': None}";
        assert_eq!(counted(reply), (of(&[("table", 2), ("cell", 8), ("tea_cup", 3)]), vec![]));
        let rows = "[{'type': 'table', 'count': 2}, {'type': 'cell', 'width': 3, 'height': 2}]";
        assert_eq!(counted(rows), (of(&[("table", 2), ("cell", 6)]), vec![]));
    }

    #[test]
    fn a_number_that_is_no_number_of_objects_is_left_out_and_told() {
        let (entries, told) =
            counted("{'table': 2.5, 'cell': {'count': 7, 'width': 4, 'height': 2}, 'kid': 0}");
        assert_eq!(entries, of(&[("cell", 7)]));
        assert!(told[0].contains("`table` is not a whole number"), "{told:?}");
        assert!(told[1].contains("counts 7 of `cell` in rows and columns of 8; 7 is taken"), "{told:?}");
        let (entries, told) = counted("{'spoon': 2, 'kid': -1, 'table': 1e30, 'cell': [1]}");
        assert_eq!((entries.len(), told.len()), (0, 4), "{told:?}");
        assert!(told[0].contains("no type `spoon`"), "{told:?}");
        assert!(cardinalities("{'table': 1", &vocabulary()).is_err());
        assert!(cardinalities("[1, 2]", &vocabulary()).unwrap_err().message.contains("this is a number"));
    }

    #[test]
    fn singular_mentions_become_names() {
        let named =
            [("Table 1", "table_1"), ("tile-0-3", "tile_0_3"), ("Glass House", "glass_house"), ("_a", "_a")];
        for (mention, name) in named {
            assert_eq!(constant(mention).as_deref(), Some(name));
        }
        for mention in ["", "1st", "caf\u{e9}", "a.b", "__", "x(y)"] {
            assert_eq!(constant(mention), None, "{mention}");
        }
    }

    #[test]
    fn lists_of_objects_are_pairs_of_object_and_type_without_repetition() {
        let reply = "{'table': ['Table 1', 'table_1', {'name': 'table-2'}], 'kid': [], 'cell': 'cell 3', 'tea_cup': ['2nd', 7]}";
        let found = objects(reply, &vocabulary()).unwrap();
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        let wanted = [pair("table_1", "table"), pair("table_2", "table"), pair("cell_3", "cell")];
        assert_eq!(found.entries, wanted);
        assert_eq!(found.diagnostics.len(), 2, "{:?}", found.diagnostics);
        let many: Vec<String> = (0..=MOST_OBJECTS).map(|i| format!("'t{i}'")).collect();
        assert!(objects(&format!("{{'table': [{}]}}", many.join(",")), &vocabulary()).is_err());
    }
}
