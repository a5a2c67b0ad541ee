//! The file as text to the template, with everything that is wrong at its place.

use super::{
    Colour, Coordinates, Direction, GridSpec, GroupSpec, Height, LookSpec, MarkSpec, NamePart, NamePattern,
    PICTURE_SCHEMA, Pattern, PictureTemplate, Slot, StackSpec, TypeName,
};
use crate::front::reader::{At, TableReader, error_at};
use crate::front::tree::{Node, SourcePlace, Table, Value, parse};
use planforge_diagnostics::{Diagnostic, SourceId, Span};
use planforge_pddl::ast::Domain;

/// Every mistake of the file has this code: what is wrong is in the message, and there is one way to learn the keys.
pub(super) const CODE: &str = "suite.picture";

/// The most entries of a kind that a template has.
const MOST: usize = 64;
/// The most characters of words and glyphs.
const MOST_CHARACTERS: usize = 80;

/// Reads a template and, where there is a domain, holds it against that. A template with an error is none.
///
/// All mistakes are added to `out` (`suite.picture`), with their places in `source`.
pub fn read_picture(
    text: &str,
    source: SourceId,
    domain: Option<&Domain>,
    out: &mut Vec<Diagnostic>,
) -> Option<PictureTemplate> {
    let parsed = parse(text, source);
    let mut work = TemplateReader { found: parsed.errors };
    let template = work.template(&parsed.root, source);
    if let Some(domain) = domain {
        work.found.extend(template.fit(domain));
    }
    let usable = !work.found.iter().any(Diagnostic::is_error);
    out.extend(work.found.into_iter().map(|mut d| {
        d.code = CODE.into();
        d
    }));
    usable.then_some(template)
}

struct TemplateReader {
    found: Vec<Diagnostic>,
}

impl TemplateReader {
    fn template(&mut self, root: &Table, source: SourceId) -> PictureTemplate {
        let mut reader = TableReader::new(root, SourcePlace { source, span: Span::empty(0) }, "picture.toml");
        match reader.node("schema") {
            Some(Node { value: Value::Integer(n), .. }) if *n == i64::from(PICTURE_SCHEMA) => {}
            Some(node) => {
                let message =
                    format!("this version reads pictures of schema {PICTURE_SCHEMA}, not {}", node.to_json());
                self.found.push(error_at(CODE, message, node.place));
            }
            None => reader.missing("schema", "1", &mut self.found),
        }
        let mut template = PictureTemplate::default();
        for (table, place) in self.entries(&mut reader, "stack") {
            template.stacks.extend(self.stack(table, place));
        }
        for (table, place) in self.entries(&mut reader, "grid") {
            template.grids.extend(self.grid(table, place));
        }
        for (table, place) in self.entries(&mut reader, "group") {
            template.groups.extend(self.group(table, place));
        }
        for (table, place) in self.entries(&mut reader, "mark") {
            template.marks.extend(self.mark(table, place));
        }
        if let Some((types, _)) = reader.table("types", &mut self.found) {
            for (name, node) in &types.entries {
                let type_name = type_name(&name.name, name.place);
                template.looks.extend(self.look(type_name, node));
            }
        }
        let empty = template.stacks.is_empty() && template.grids.is_empty() && template.groups.is_empty();
        if empty && self.found.is_empty() {
            let message =
                "picture.toml has no [[stack]], no [[grid]] and no [[group]]: there is nothing to draw";
            self.found.push(error_at(CODE, message, reader.place));
        }
        reader.finish(CODE, &mut self.found);
        template
    }

    /// The tables of `[[key]]`, with their places.
    fn entries<'a>(
        &mut self,
        reader: &mut TableReader<'a>,
        key: &'static str,
    ) -> Vec<(&'a Table, SourcePlace)> {
        let Some(node) = reader.node(key) else { return Vec::new() };
        let items = match &node.value {
            Value::Array(items) => items.as_slice(),
            _ => std::slice::from_ref(node),
        };
        if let Some(more) = items.get(MOST) {
            let message = format!("picture.toml has more than {MOST} tables [[{key}]]");
            self.found.push(error_at(CODE, message, more.place));
        }
        let mut tables = Vec::new();
        for item in items.iter().take(MOST) {
            match (&item.value, &node.value) {
                (Value::Table(table), Value::Array(_)) => tables.push((table, item.place)),
                _ => {
                    let message = format!("`{key}` must be written as [[{key}]], not as {}", item.kind());
                    self.found.push(error_at(CODE, message, item.place));
                }
            }
        }
        tables
    }

    fn stack(&mut self, table: &Table, place: SourcePlace) -> Option<StackSpec> {
        let mut reader = TableReader::new(table, place, "[[stack]]");
        let on = self.patterns(&mut reader, "on", &["above", "below"]);
        let bottom = self.patterns_of_one(&mut reader, "bottom");
        let held = self.patterns_of_one(&mut reader, "held");
        if table.get("on").is_none() {
            reader.missing("on", "\"on ?above ?below\"", &mut self.found);
        }
        reader.finish(CODE, &mut self.found);
        (!on.is_empty()).then_some(StackSpec { on, bottom, held })
    }

    fn grid(&mut self, table: &Table, place: SourcePlace) -> Option<GridSpec> {
        let mut reader = TableReader::new(table, place, "[[grid]]");
        let cells = self.types(&mut reader, "cells");
        if table.get("cells").is_none() {
            reader.missing("cells", "\"cell\"", &mut self.found);
        }
        let coordinates = self.coordinates(&mut reader);
        let at = self.patterns(&mut reader, "at", &["what", "cell"]);
        let fill = self.patterns(&mut reader, "fill", &["cell", "colour"]);
        let height = self.height(&mut reader);
        reader.finish(CODE, &mut self.found);
        Some(GridSpec { cells, coordinates: coordinates?, at, fill, height })
    }

    fn coordinates(&mut self, reader: &mut TableReader<'_>) -> Option<Coordinates> {
        let name = reader.string("name", &mut self.found);
        let rows = reader.word("rows", &[("up", true), ("down", false)], &mut self.found);
        let mut neighbours = Vec::new();
        for (key, side) in [
            ("right", Direction::Right),
            ("left", Direction::Left),
            ("up", Direction::Up),
            ("down", Direction::Down),
        ] {
            let found = self.patterns(reader, key, &["from", "to"]);
            neighbours.extend(found.into_iter().map(|pattern| (side, pattern)));
        }
        match (name, neighbours.is_empty()) {
            (Some(name), true) => self.name_pattern(&name, rows.unwrap_or(false)).map(Coordinates::Name),
            (None, false) => Some(Coordinates::Neighbours(neighbours)),
            (Some(name), false) => {
                let message = "a [[grid]] has its coordinates from `name` or from neighbours, not from both";
                self.found.push(error_at(CODE, message, name.place));
                None
            }
            (None, true) => {
                let message = "a [[grid]] must say where its cells are";
                let help = "`name = \"cell{row}-{col}\"`, or neighbours: `right = \"east-of ?to ?from\"` and `up`, `left`, `down`";
                self.found.push(error_at(CODE, message, reader.place).help(help));
                None
            }
        }
    }

    fn name_pattern(&mut self, name: &At<String>, rows_up: bool) -> Option<NamePattern> {
        let mut parts: Vec<NamePart> = Vec::new();
        let mut rest = name.value.as_str();
        let mut wrong = |message: String| {
            let help = "write the cells' names with {row} and {col} for their numbers, each once: \"cell{row}-{col}\"";
            self.found.push(error_at(CODE, message, name.place).help(help));
            None
        };
        while let Some(open) = rest.find('{') {
            let (before, slot) = rest.split_at(open);
            let Some(close) = slot.find('}') else {
                return wrong("`name` has a brace that is not closed".to_owned());
            };
            if !before.is_empty() {
                parts.push(NamePart::Text(before.to_lowercase()));
            }
            let part = match &slot[1..close] {
                "row" => NamePart::Row,
                "col" => NamePart::Column,
                other => return wrong(format!("`name` has a slot {{{other}}}")),
            };
            if parts.contains(&part) {
                return wrong(format!("`name` has {} twice", &slot[..=close]));
            }
            if matches!(parts.last(), Some(NamePart::Row | NamePart::Column)) {
                return wrong("nothing tells the digits of {row} and {col} apart".to_owned());
            }
            parts.push(part);
            rest = &slot[close + 1..];
        }
        if !rest.is_empty() {
            parts.push(NamePart::Text(rest.to_lowercase()));
        }
        if !parts.iter().any(|part| matches!(part, NamePart::Row | NamePart::Column)) {
            return wrong("`name` has neither {row} nor {col}".to_owned());
        }
        Some(NamePattern { parts, rows_up })
    }

    fn height(&mut self, reader: &mut TableReader<'_>) -> Option<Height> {
        let fact = self.patterns(reader, "height", &["cell", "n"]).into_iter().next();
        let number = self.patterns(reader, "height_number", &["cell"]).into_iter().next();
        match (fact, number) {
            (Some(_), Some(number)) => {
                let place = SourcePlace { source: number.source, span: number.span };
                let message = "a [[grid]] has `height` or `height_number`, not both";
                self.found.push(error_at(CODE, message, place));
                None
            }
            (fact, number) => fact.map(Height::Fact).or(number.map(Height::Number)),
        }
    }

    fn group(&mut self, table: &Table, place: SourcePlace) -> Option<GroupSpec> {
        let mut reader = TableReader::new(table, place, "[[group]]");
        let title = reader.string("title", &mut self.found).map(|title| self.words("title", title));
        let places = self.types(&mut reader, "places");
        if title.is_some() == table.get("places").is_some() {
            let message = "a [[group]] has either `places`, the types of its places, or a `title`, the one place that all is in";
            self.found.push(error_at(CODE, message, place));
        }
        let inside = match title {
            Some(_) => self.patterns_of_one(&mut reader, "in"),
            None => self.patterns(&mut reader, "in", &["what", "place"]),
        };
        if title.is_some() && table.get("in").is_none() {
            reader.missing("in", "\"in-hand ?what\"", &mut self.found);
        }
        reader.finish(CODE, &mut self.found);
        Some(GroupSpec { places, inside, title })
    }

    fn mark(&mut self, table: &Table, place: SourcePlace) -> Option<MarkSpec> {
        let mut reader = TableReader::new(table, place, "[[mark]]");
        let fact = self.patterns(&mut reader, "fact", &[]);
        let number = self.patterns(&mut reader, "number", &[]);
        let text = reader.string("text", &mut self.found);
        let colour = reader.word("colour", &Colour::ALL, &mut self.found);
        if table.get("fact").is_some() == table.get("number").is_some() {
            let message = "a [[mark]] has either `fact = \"...\"` or `number = \"...\"`";
            self.found.push(error_at(CODE, message, place));
        }
        reader.finish(CODE, &mut self.found);
        let numeric = fact.is_empty();
        let [fact] = <[Pattern; 1]>::try_from(if numeric { number } else { fact }).ok()?;
        let text = match text {
            Some(text) => {
                self.slots_of(&text, &fact, numeric);
                self.words("text", text)
            }
            None => default_text(&fact, numeric),
        };
        Some(MarkSpec { fact, numeric, text, colour })
    }

    /// Every `{x}` must be a variable of the pattern.
    fn slots_of(&mut self, text: &At<String>, fact: &Pattern, numeric: bool) {
        let mut rest = text.value.as_str();
        while let Some(open) = rest.find('{') {
            let slot = &rest[open + 1..];
            let Some(close) = slot.find('}') else {
                let message = "`text` has a brace that is not closed";
                self.found.push(error_at(CODE, message, text.place));
                return;
            };
            let name = &slot[..close];
            if !(fact.position(name).is_some() || (numeric && name == "value")) {
                let message = format!("`text` has {{{name}}}, and `{}` has no ?{name}", fact.name);
                let help = "{x} is the argument ?x, and {value} is the value of a `number`";
                self.found.push(error_at(CODE, message, text.place).help(help));
            }
            rest = &slot[close + 1..];
        }
    }

    fn look(&mut self, type_name: TypeName, node: &Node) -> Option<LookSpec> {
        let Value::Table(table) = &node.value else {
            let message =
                format!("`{}` of [types] must be a table with `glyph` and `colour`", type_name.name);
            self.found.push(error_at(CODE, message, node.place));
            return None;
        };
        let mut reader = TableReader::new(table, node.place, format!("[types.{}]", type_name.name));
        let glyph = reader.string("glyph", &mut self.found).map(|glyph| self.words("glyph", glyph));
        let colour = reader.word("colour", &Colour::ALL, &mut self.found);
        reader.finish(CODE, &mut self.found);
        Some(LookSpec { type_name, glyph, colour })
    }

    fn words(&mut self, key: &str, at: At<String>) -> String {
        if at.value.trim().is_empty() || at.value.chars().count() > MOST_CHARACTERS {
            let message = format!("`{key}` must have between 1 and {MOST_CHARACTERS} characters");
            self.found.push(error_at(CODE, message, at.place));
        }
        at.value
    }

    fn types(&mut self, reader: &mut TableReader<'_>, key: &'static str) -> Vec<TypeName> {
        let found = reader.string_or_strings(key, &mut self.found);
        found.into_iter().map(|at| type_name(&at.value, at.place)).collect()
    }

    /// Patterns with one variable that counts: `?what`, or the first.
    fn patterns_of_one(&mut self, reader: &mut TableReader<'_>, key: &'static str) -> Vec<Pattern> {
        let found = self.patterns(reader, key, &[]);
        for pattern in &found {
            if pattern.position_or_first("what").is_none() {
                let place = SourcePlace { source: pattern.source, span: pattern.span };
                let message = format!("`{key}` has no variable: `{} ?what`", pattern.name);
                self.found.push(error_at(CODE, message, place));
            }
        }
        found
    }

    /// The patterns of a key, each with these variables.
    fn patterns(&mut self, reader: &mut TableReader<'_>, key: &'static str, needed: &[&str]) -> Vec<Pattern> {
        let found = reader.string_or_strings(key, &mut self.found);
        let mut patterns = Vec::new();
        for at in found {
            let Some(pattern) = self.pattern(key, &at) else { continue };
            let missing: Vec<String> = needed
                .iter()
                .filter(|name| pattern.position(name).is_none())
                .map(|name| format!("?{name}"))
                .collect();
            if missing.is_empty() {
                patterns.push(pattern);
                continue;
            }
            let message = format!("`{key}` of {} has no {}", reader.what, missing.join(" and no "));
            let variables: Vec<String> = needed.iter().map(|name| format!("?{name}")).collect();
            let help = format!(
                "name the arguments that count {}, and the others as you like",
                variables.join(" and ")
            );
            self.found.push(error_at(CODE, message, at.place).help(help));
        }
        patterns
    }

    fn pattern(&mut self, key: &str, at: &At<String>) -> Option<Pattern> {
        let text = at.value.trim();
        let inner = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or(text);
        let mut words = inner.split_whitespace();
        let name = words.next().filter(|name| !name.starts_with('?') && !inner.contains(['(', ')']));
        let Some(name) = name else {
            let message = format!("`{key}` must be one fact, such as \"on ?above ?below\", not \"{text}\"");
            self.found.push(error_at(CODE, message, at.place));
            return None;
        };
        let slots = words.map(|word| match word.strip_prefix('?') {
            Some(variable) => Slot::Variable(variable.to_owned()),
            None if word == "_" => Slot::Any,
            None => Slot::Object(word.to_lowercase()),
        });
        Some(Pattern {
            name: name.to_lowercase(),
            slots: slots.collect(),
            source: at.place.source,
            span: at.place.span,
        })
    }
}

fn type_name(name: &str, place: SourcePlace) -> TypeName {
    TypeName { name: name.to_lowercase(), source: place.source, span: place.span }
}

/// The default text of a mark: the predicate and the arguments other than the marked object.
fn default_text(fact: &Pattern, numeric: bool) -> String {
    let mut text = fact.name.clone();
    for slot in &fact.slots {
        if let Slot::Variable(name) = slot
            && name != "of"
        {
            text.push_str(&format!(" {{{name}}}"));
        }
    }
    if numeric { text + " {value}" } else { text }
}
