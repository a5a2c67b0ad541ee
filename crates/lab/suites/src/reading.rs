//! Reads the texts of a suite's tasks: `reading.toml` has the sentences of the texts with placeholders, and the facts that each states, in the language of
//! intermediate representations. The reader knows nothing of the problems, so a fact that a text leaves out is missing in what it reads.
//!
//! | placeholder | content |
//! |---|---|
//! | `{a}` | a name |
//! | `{n#}` | a number, in digits or words |
//! | `{b*}` | a list: `x`, `x and y`, `x, y and z`; of names, or of what `item` describes with the other placeholders |
//!
//! `facts` are those of the sentence, `each` those of each item of its list, and `pairs` those of two neighbouring items, `{first}` and `{second}`. There,
//! `{a}` is the name as representations write it, `{b}` an item of the list `{b*}`, `{place}` the number of the item, and `{nth}` the number of sentences
//! of the same form before this one; both count from 0. `{first}` and `{second}` are the first placeholder of the items.

use crate::ladder::number_of_words;
use crate::paraphrase::Sentence;
use regex::{Captures, Regex};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The sentences of a suite's texts.
#[derive(Debug)]
pub struct Reading {
    /// Declarations of predicates that only the read facts have, for the knowledge file.
    pub declare: String,
    forms: Vec<Form>,
}

/// A sentence that is not understood, or that two forms fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    pub sentence: String,
    /// Its place in the text, in bytes.
    pub at: usize,
    pub is_ambiguous: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    declare: String,
    sentence: Vec<FormText>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct FormText {
    text: String,
    item: String,
    facts: String,
    each: String,
    pairs: String,
}

#[derive(Debug)]
struct Form {
    text: FormText,
    sentence: Regex,
    /// The name of the list; its items.
    list: Option<(String, Regex)>,
    numbers: Vec<String>,
}

const NAME: &str = "[A-Za-z][A-Za-z0-9_-]*";

impl Reading {
    /// Reads `reading.toml`.
    ///
    /// # Errors
    /// The mistake, in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let file: File = toml::from_str(text).map_err(|error| error.message().to_owned())?;
        let forms = file.sentence.into_iter().map(Form::new).collect::<Result<_, _>>()?;
        Ok(Self { declare: file.declare, forms })
    }

    /// The sentences of a text with their facts.
    ///
    /// # Errors
    /// The sentences that cannot be read.
    pub fn read(&self, text: &str) -> Result<Vec<Sentence>, Vec<Unread>> {
        let mut before: BTreeMap<usize, usize> = BTreeMap::new();
        let (mut read, mut unread) = (Vec::new(), Vec::new());
        for (start, sentence) in sentences(text) {
            let fitting = self.forms.iter().enumerate();
            let mut found = fitting.filter_map(|(at, form)| {
                Some((at, form.facts(sentence, before.get(&at).copied().unwrap_or_default())?))
            });
            match (found.next(), found.next()) {
                (Some((at, facts)), None) => {
                    *before.entry(at).or_default() += 1;
                    read.push(Sentence { text: format!("{sentence}\n"), facts: Some(facts) });
                }
                (found, _) => unread.push(Unread {
                    sentence: sentence.to_owned(),
                    at: start,
                    is_ambiguous: found.is_some(),
                }),
            }
        }
        if unread.is_empty() { Ok(read) } else { Err(unread) }
    }
}

/// Parts of a text that end with a full stop, with their places in bytes.
fn sentences(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.split_inclusive('\n');
    let parts = lines.flat_map(|line| line.split_inclusive(". ")).scan(0, |end, part| {
        *end += part.len();
        Some((*end - part.trim_start().len(), part.trim()))
    });
    parts.filter(|(_, sentence)| !sentence.is_empty())
}

/// The placeholders of a pattern and the texts between them: name, and `#`, `*` or nothing.
fn placeholders(pattern: &str) -> impl Iterator<Item = (&str, Option<(&str, &str)>)> {
    pattern.split('{').enumerate().flat_map(|(at, part)| {
        let (inside, after) = match at {
            0 => (None, part),
            _ => part.split_once('}').map_or((None, part), |(inside, after)| (Some(inside), after)),
        };
        let name = inside.map(|inside| inside.trim_end_matches(['#', '*']));
        let slot = inside.zip(name).map(|(inside, name)| ("", Some((name, &inside[name.len()..]))));
        slot.into_iter().chain([(after, None)])
    })
}

/// The regular expression of a pattern.
fn expression(pattern: &str) -> Result<Regex, String> {
    let mut expression = "^".to_owned();
    for (text, slot) in placeholders(pattern) {
        expression += &regex::escape(text);
        match slot {
            Some((name, "*")) => expression += &format!("(?<{name}>.+)"),
            Some((name, "#")) => expression += &format!("(?<{name}>[a-z0-9-]+)"),
            Some((name, _)) => expression += &format!("(?<{name}>{NAME})"),
            None => {}
        }
    }
    Regex::new(&(expression + "$")).map_err(|error| format!("`{pattern}`: {error}"))
}

impl Form {
    fn new(text: FormText) -> Result<Self, String> {
        let of_kind = |pattern: &str, wanted: &str| -> Vec<String> {
            let slots = placeholders(pattern).filter_map(|(_, slot)| slot);
            slots.filter(|(_, kind)| *kind == wanted).map(|(name, _)| name.to_owned()).collect()
        };
        let lists = of_kind(&text.text, "*");
        let mut numbers = of_kind(&text.text, "#");
        numbers.extend(of_kind(&text.item, "#"));
        if lists.len() > 1 {
            return Err(format!("`{}` has two lists", text.text));
        }
        if !of_kind(&text.item, "*").is_empty() {
            return Err(format!("`{}`: an item has no list", text.item));
        }
        let item = |name: &String| match text.item.as_str() {
            "" => expression(&format!("{{{name}}}")),
            item => expression(item),
        };
        let list = lists.first().map(|name| Ok::<_, String>((name.clone(), item(name)?))).transpose()?;
        Ok(Self { sentence: expression(&text.text)?, text, list, numbers })
    }

    /// The facts of a sentence of this form; `None` for another sentence. `nth`: sentences of this form before it.
    fn facts(&self, sentence: &str, nth: usize) -> Option<String> {
        let found = self.sentence.captures(sentence)?;
        let mut values = BTreeMap::from([("nth".to_owned(), nth.to_string())]);
        self.add_values(&self.sentence, &found, &mut values)?;
        let mut facts = filled(&self.text.facts, &values) + "\n";
        let Some((list, item)) = &self.list else { return Some(facts) };
        let items = split_list(found.name(list)?.as_str());
        let items: Vec<Captures<'_>> =
            items.into_iter().map(|text| item.captures(text)).collect::<Option<_>>()?;
        for (place, found) in items.iter().enumerate() {
            let mut own = values.clone();
            own.insert("place".to_owned(), place.to_string());
            self.add_values(item, found, &mut own)?;
            facts += &(filled(&self.text.each, &own) + "\n");
        }
        let first_value = |found: &Captures<'_>| {
            let name = item.capture_names().flatten().next()?;
            self.value(name, found.name(name)?.as_str())
        };
        for (first, second) in items.iter().zip(items.iter().skip(1)) {
            let mut own = values.clone();
            own.insert("first".to_owned(), first_value(first)?);
            own.insert("second".to_owned(), first_value(second)?);
            facts += &(filled(&self.text.pairs, &own) + "\n");
        }
        Some(facts)
    }

    /// Adds the contents of placeholders; `None` if a number is not one.
    fn add_values(
        &self,
        of: &Regex,
        found: &Captures<'_>,
        values: &mut BTreeMap<String, String>,
    ) -> Option<()> {
        for name in of.capture_names().flatten() {
            let Some(content) = found.name(name) else { continue };
            values.insert(name.to_owned(), self.value(name, content.as_str())?);
        }
        Some(())
    }

    /// The content of a placeholder as representations write it; `None` if a number is not one.
    fn value(&self, name: &str, content: &str) -> Option<String> {
        match self.numbers.iter().any(|number| number == name) {
            true => Some(content.parse().ok().or_else(|| number_of_words(content))?.to_string()),
            false => Some(in_facts(content)),
        }
    }
}

/// A name as representations write it.
fn in_facts(name: &str) -> String {
    name.to_ascii_lowercase().replace('-', "_")
}

fn filled(facts: &str, values: &BTreeMap<String, String>) -> String {
    values.iter().fold(facts.to_owned(), |facts, (name, value)| facts.replace(&format!("{{{name}}}"), value))
}

/// `x, y and z`.
fn split_list(text: &str) -> Vec<&str> {
    text.split(", ").flat_map(|part| part.split(" and ")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"
declare = "ir_predicate(named(cell), \"named\")."

[[sentence]]
text = "The floor has {n#} cells."
facts = "cardinality(cell, {n})."

[[sentence]]
text = "{a} touches {b*}."
each = "init(adjacent({a}, {b}))."

[[sentence]]
text = "The next row is {t*}."
each = "init(grid({nth}, {place}, {t}))."

[[sentence]]
text = "From low to high, the levels are {l*}."
pairs = "init(above({second}, {first}))."

[[sentence]]
text = "In the end {goals*}."
item = "{c} has height {l}"
each = "goal(height({c}, {l}))."

[[sentence]]
text = "There are {stock*}."
item = "{n#} of {a}"
each = "init(count({a}, {n}))."
pairs = "init(pair({first}, {second}))."
"#;

    fn facts(text: &str) -> Result<Vec<String>, Vec<Unread>> {
        let read = Reading::parse(FILE).unwrap().read(text)?;
        let words = |sentence: Sentence| {
            sentence.facts.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
        };
        Ok(read.into_iter().map(words).collect())
    }

    #[test]
    fn sentences_are_read_to_facts() {
        let text = "The floor has twelve cells. cell0-0 touches cell0-1 and cell1-0.\nThe next row is a and b. The next row is c, d and e.\n\
                    From low to high, the levels are level0, level1 and level2. In the end a has height level1 and b has height level2.\n\
                    There are twelve of x-y and 3 of z.\n";
        assert_eq!(
            facts(text).unwrap(),
            [
                "cardinality(cell, 12).",
                "init(adjacent(cell0_0, cell0_1)). init(adjacent(cell0_0, cell1_0)).",
                "init(grid(0, 0, a)). init(grid(0, 1, b)).",
                "init(grid(1, 0, c)). init(grid(1, 1, d)). init(grid(1, 2, e)).",
                "init(above(level1, level0)). init(above(level2, level1)).",
                "goal(height(a, level1)). goal(height(b, level2)).",
                "init(count(x_y, 12)). init(count(z, 3)). init(pair(12, 3)).",
            ]
        );
    }

    #[test]
    fn other_sentences_are_named() {
        assert_eq!(facts("There are many of x.\n").unwrap_err().len(), 1);
        let unread =
            facts("The floor has many cells. The floor has 4 cells. In the end a is red.\n").unwrap_err();
        let sentences: Vec<&str> = unread.iter().map(|unread| unread.sentence.as_str()).collect();
        assert_eq!(sentences, ["The floor has many cells.", "In the end a is red."]);
        // The place is that of the sentence, not of the first text like it.
        let text = "Is a touches b. a touches?\n a touches\n";
        let places: Vec<usize> = facts(text).unwrap_err().into_iter().map(|unread| unread.at).collect();
        assert_eq!(places, [0, 16, 28]);
        let twice =
            Reading::parse("[[sentence]]\ntext = \"{a} is {b}.\"\n[[sentence]]\ntext = \"{a} is red.\"\n")
                .unwrap();
        assert!(twice.read("x is red.").unwrap_err()[0].is_ambiguous);
        assert!(
            Reading::parse("[[sentence]]\ntext = \"{a*} and {b*}.\"\n").unwrap_err().contains("two lists")
        );
    }
}
