//! JSON as models write it: in prose or a code block, with Python's quotes and words, trailing commas, comments, bare keys.
//!
//! [`find`] takes one value and says what is wrong where it cannot be read. [`salvage`] takes whatever can be read, of replies that break
//! off too, for texts where half of a value is better than none.

mod reader;

use reader::ValueReader;
use std::ops::Range;

/// The longest reply that is looked through, in bytes.
pub const MOST_BYTES: usize = 1 << 20;
/// Most opening brackets tried, so that a reply of nothing else ends.
const MOST_STARTS: usize = 64;

/// A value and where it starts.
#[derive(Debug, Clone, PartialEq)]
pub struct Value {
    /// Byte in the reply.
    pub at: usize,
    /// Kind and content of the value.
    pub kind: Kind,
}

/// Kinds of values, with their content.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// `null`, `None`.
    Null,
    /// `true`, `True`.
    Boolean(bool),
    /// A finite number.
    Number(f64),
    /// In quotes of any kind, or a bare word.
    Text(String),
    /// A list, tuple or set.
    List(Vec<Value>),
    /// Keys in their order; a key may stand twice.
    Object(Vec<Entry>),
}

/// One entry of an object.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Byte at which the key starts.
    pub at: usize,
    /// The key's value.
    pub value: Value,
}

/// The reason why no value could be read: the mistake of the attempt that came furthest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// Byte in the reply.
    pub at: usize,
    /// The mistake as a clause.
    pub message: String,
}

/// Result of [`salvage`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Salvaged {
    /// Objects and lists in the order of the reply, each with the bytes it takes up. None lies within another.
    pub values: Vec<(Range<usize>, Value)>,
    /// True if the reply ends within the last of them.
    pub cut_off: bool,
}

impl Kind {
    /// The kind's name, for messages.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Boolean(_) => "a truth value",
            Self::Number(_) => "a number",
            Self::Text(_) => "a text",
            Self::List(_) => "a list",
            Self::Object(_) => "an object",
        }
    }
}

/// Finds the object or list in a reply: in a code block if one holds any, else in the text. Text around it is
/// ignored.
///
/// # Errors
/// There is none, or none can be read: the mistake of the attempt that came furthest.
pub fn find(reply: &str) -> Result<Value, Unreadable> {
    if reply.len() > MOST_BYTES {
        let message = format!("the reply has {} bytes; at most {MOST_BYTES} are read", reply.len());
        return Err(Unreadable { at: 0, message });
    }
    let mut furthest: Option<Unreadable> = None;
    let whole = [(0, reply.len())];
    let mut starts = 0;
    'parts: for (from, to) in blocks(reply).into_iter().chain(whole) {
        let part = &reply[..to];
        let mut at = from;
        while let Some(start) = part[at..].find(['{', '[']).map(|i| at + i) {
            starts += 1;
            match ValueReader::new(part, start, false).read() {
                Ok(value) => return Ok(value),
                Err(error) if furthest.as_ref().is_none_or(|f| error.at > f.at) => furthest = Some(error),
                Err(_) => {}
            }
            if starts >= MOST_STARTS {
                break 'parts;
            }
            at = start + 1;
        }
    }
    let nothing = || Unreadable { at: 0, message: "there is no `{` in the reply".to_owned() };
    Err(furthest.unwrap_or_else(nothing))
}

/// Every object and list of a reply that can be read, wherever it stands. As [`find`], and in addition a text may hold line ends and
/// quotes that are not escaped (it ends with a quote before `,`, `:`, `}`, `]`, or the end), a comma at the end of a line may be missing, and what the end of the
/// reply breaks off counts as far as it goes. Of a reply longer than [`MOST_BYTES`] the rest is not looked at.
pub fn salvage(reply: &str) -> Salvaged {
    let end = (0..=reply.len().min(MOST_BYTES)).rev().find(|at| reply.is_char_boundary(*at)).unwrap_or(0);
    let text = &reply[..end];
    let fences = code_blocks(text);
    let mut found = Salvaged::default();
    let mut at = 0;
    for _ in 0..MOST_STARTS {
        let Some(start) = text[at..].find(['{', '[']).map(|i| at + i) else { break };
        let part = fences
            .iter()
            .find(|(from, to)| (*from..*to).contains(&start))
            .map_or(text, |(_, to)| &text[..*to]);
        let mut reader = ValueReader::new(part, start, true);
        match reader.read() {
            Ok(value) => {
                at = reader.at.max(start + 1);
                found.cut_off = reader.ended;
                found.values.push((start..reader.at, value));
            }
            Err(_) => at = start + 1,
        }
    }
    found
}

/// The insides of the code blocks.
fn blocks(reply: &str) -> Vec<(usize, usize)> {
    let mut marks = reply.match_indices("```").map(|(at, _)| at);
    let mut found = Vec::new();
    while let (Some(open), Some(close)) = (marks.next(), marks.next()) {
        found.push((open + 3, close));
    }
    found
}

/// The insides of the code blocks whose fences stand at the beginning of a line. One that is not closed reaches to the end.
fn code_blocks(text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut open = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with("```") {
            match open.take() {
                Some(from) => found.push((from, at)),
                None => open = Some(at + line.len()),
            }
        }
        at += line.len();
    }
    found.extend(open.map(|from| (from, text.len())));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn to_text(value: &Value) -> String {
        match &value.kind {
            Kind::Null => "null".into(),
            Kind::Boolean(b) => b.to_string(),
            Kind::Number(n) => n.to_string(),
            Kind::Text(t) => format!("{t:?}"),
            Kind::List(l) => format!("[{}]", l.iter().map(to_text).collect::<Vec<_>>().join(",")),
            Kind::Object(o) => {
                let entries: Vec<_> =
                    o.iter().map(|e| format!("{:?}:{}", e.key, to_text(&e.value))).collect();
                format!("{{{}}}", entries.join(","))
            }
        }
    }

    fn read(reply: &str) -> String {
        match find(reply) {
            Ok(value) => to_text(&value),
            Err(error) => format!("{}: {}", error.at, error.message),
        }
    }

    #[test]
    fn json_and_python_read_the_same() {
        let wanted = r#"{"table":2,"cell":{"count":8,"width":3},"named":["a b","c"],"no":null,"yes":true}"#;
        let forms = [
            r#"{"table": 2, "cell": {"count": 8, "width": 3}, "named": ["a b", "c"], "no": null, "yes": true}"#,
            "{'table': 2, 'cell': {'count': 8, 'width': 3,}, 'named': ['a b', 'c',], 'no': None, 'yes': True,}",
            "{table: 2, cell: {count: 8, width: 3}, named: ('a b', c), no: None, yes: true} // done",
            "{\u{201c}table\u{201d}: 2, # two\n `cell`: {'count': 8.0, 'width': 3}, 'named': {'a b', 'c'}, no: null, yes: True}",
        ];
        for form in forms {
            assert_eq!(read(form), wanted, "{form}");
        }
    }

    #[test]
    fn prose_around_it_and_code_blocks_are_no_hindrance() {
        assert_eq!(read("The set {1, of [2 things:\n```json\n{'a': 1}\n```\nand {'b': 2}"), r#"{"a":1}"#);
        assert_eq!(read("Answer: {'a': 1}. That is it {"), r#"{"a":1}"#);
        assert_eq!(read("```python\ncounts = {'a': 1}\n```"), r#"{"a":1}"#);
        assert_eq!(read("``` {'a': 1}"), r#"{"a":1}"#);
        assert_eq!(read(r"{'it\'s': 'a\n\u00e9\x'}"), "{\"it's\":\"a\\néx\"}");
    }

    #[test]
    fn the_mistake_that_was_met_last_is_told() {
        assert_eq!(read("no json"), "0: there is no `{` in the reply");
        assert_eq!(read("{'a': 1 'b': 2}"), "8: `,` or `}` is missing");
        assert_eq!(read("{'a': [1, 2"), "11: `,` or `]` is missing");
        assert_eq!(read("{'a': 'open\n}"), "6: this text is never closed");
        assert_eq!(read("{'a': 1x}"), "6: `1x` is neither a number nor a name");
        assert_eq!(read("{1: 2}"), "3: `key: value` is missing");
        assert_eq!(read("{'a':"), "5: the reply ends in the middle of a value");
        assert_eq!(read("{'a': %}"), "6: `%` starts no value");
    }

    fn salvage_as_text(reply: &str) -> (String, bool) {
        let found = salvage(reply);
        (found.values.iter().map(|(_, value)| to_text(value)).collect::<Vec<_>>().join(" "), found.cut_off)
    }

    #[test]
    fn what_breaks_off_counts_as_far_as_it_goes() {
        let whole = [
            "{'a': [{'b': \"c\"}, {'b': \"d",
            "{'a': [{'b': \"c\"}, {'b': \"d\"",
            "{'a': [{'b': \"c\"}, {'b': 'd'}, {'e",
        ];
        for reply in &whole[..2] {
            assert_eq!(salvage_as_text(reply), (r#"{"a":[{"b":"c"},{"b":"d"}]}"#.into(), true), "{reply}");
        }
        assert_eq!(salvage_as_text(whole[2]), (r#"{"a":[{"b":"c"},{"b":"d"},{}]}"#.into(), true));
        assert_eq!(salvage_as_text("{'a': 1, 'b':"), (r#"{"a":1,"b":null}"#.into(), true));
        assert_eq!(salvage_as_text("```json\n[{'a': 1},\n```\nThat is all."), (r#"[{"a":1}]"#.into(), true));
        assert_eq!(salvage_as_text("{'a': 1}, {'b': 2}"), (r#"{"a":1} {"b":2}"#.into(), false));
    }

    #[test]
    fn quotes_and_line_ends_within_a_text_do_not_end_it() {
        assert_eq!(
            salvage_as_text("{\"a\": \"use \"at\" there\", \"b\": 'it's'}").0,
            r#"{"a":"use \"at\" there","b":"it's"}"#
        );
        assert_eq!(salvage_as_text("{'a': 'one\ntwo'\n 'b': 2}").0, "{\"a\":\"one\\ntwo\",\"b\":2}");
        assert_eq!(
            salvage_as_text("{'a': \"the \"x\", \"y\" and z\", 'b': 2}").0,
            "{\"a\":\"the \\\"x\",\"b\":2}"
        );
    }

    #[test]
    fn hostile_replies_end() {
        assert!(read(&"[".repeat(100_000)).contains("nested deeper than 32"));
        assert!(read(&"{'a':".repeat(100_000)).contains("nested deeper than 32"));
        assert!(read(&"x".repeat(MOST_BYTES + 1)).contains("at most 1048576 are read"));
        for reply in ["```{".repeat(200_000), "```{'".repeat(200_000), "{é'\u{201c}".to_owned()] {
            assert!(find(&reply).is_err());
            salvage(&reply);
        }
        for reply in ["[".repeat(100_000), "{'a':".repeat(100_000), "{\"a\": \" \"".repeat(50_000)] {
            salvage(&reply);
        }
    }

    fn json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i32>().prop_map(Into::into),
            "[ -~\u{e9}]{0,8}".prop_map(serde_json::Value::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
                prop::collection::btree_map("[a-z\"']{1,4}", inner, 0..4)
                    .prop_map(|entries| serde_json::Value::Object(entries.into_iter().collect())),
            ]
        })
    }

    /// As serde_json has it.
    fn plain(value: &Value) -> serde_json::Value {
        match &value.kind {
            Kind::Null => serde_json::Value::Null,
            Kind::Boolean(b) => (*b).into(),
            Kind::Number(n) => (*n as i64).into(),
            Kind::Text(text) => text.as_str().into(),
            Kind::List(values) => values.iter().map(plain).collect(),
            Kind::Object(entries) => entries.iter().map(|e| (e.key.clone(), plain(&e.value))).collect(),
        }
    }

    proptest! {
        #[test]
        fn json_is_read_as_what_it_says(value in json(), before in "[a-z .]{0,9}") {
            let object = serde_json::json!({ "value": value });
            let text = format!("{before}{object:#}");
            let read = find(&text).map(|value| plain(&value));
            prop_assert_eq!(read, Ok(object));
        }

        #[test]
        fn any_reply_is_read_or_refused(reply in "[\\[\\]{}()'\",:#/a1 \n`\u{201c}\u{201d}\\\\]{0,60}") {
            if let Err(unreadable) = find(&reply) {
                prop_assert!(unreadable.at <= reply.len() && reply.is_char_boundary(unreadable.at));
            }
            let mut end = 0;
            for (range, _) in salvage(&reply).values {
                prop_assert!(end <= range.start && range.start < range.end && range.end <= reply.len());
                end = range.end;
            }
        }
    }
}
