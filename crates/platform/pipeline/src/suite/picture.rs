//! `picture.toml`: the drawing of states of a suite's domain. Data alone: facts that make stacks, grids,
//! groups and marks, and the look of objects by type. Another crate draws it; here the file is read and
//! checked against a domain: a candidate may have other predicates than the reference that it was written for.

use crate::reader::{At, Node, SourcePlace, Table, TableReader, Value, error_at, help_for, parse, with_help};
use planforge_diagnostics::{Diagnostic, SourceId, Span};
use planforge_pddl::ast::Domain;
use std::collections::{BTreeMap, BTreeSet};

/// The schema number of picture templates that this version reads.
pub const PICTURE_SCHEMA: u32 = 1;

/// The drawing of states. Names are in lower case, as PDDL compares them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PictureTemplate {
    pub stacks: Vec<StackSpec>,
    /// Cells with rows and columns, and things in them.
    pub grids: Vec<GridSpec>,
    /// Places without coordinates, and things in them.
    pub groups: Vec<GroupSpec>,
    /// Words on things, and below the picture.
    pub marks: Vec<MarkSpec>,
    /// The look of objects by type.
    pub looks: Vec<LookSpec>,
}

/// Objects that stand on each other: `[[stack]]`.
#[derive(Debug, Clone, PartialEq)]
pub struct StackSpec {
    /// Facts with `?above` and `?below`.
    pub on: Vec<Pattern>,
    /// Facts that place `?what` at the bottom.
    pub bottom: Vec<Pattern>,
    /// Facts that take `?what` out of every stack.
    pub held: Vec<Pattern>,
}

/// Cells with rows and columns: `[[grid]]`.
#[derive(Debug, Clone, PartialEq)]
pub struct GridSpec {
    /// Types of the cells.
    pub cells: Vec<TypeName>,
    /// The places of cells.
    pub coordinates: Coordinates,
    /// Facts of `?what` is in `?cell`.
    pub at: Vec<Pattern>,
    /// Facts of `?cell` has `?colour`.
    pub fill: Vec<Pattern>,
    /// Facts of `?cell` has the height `?n`, or a numeric function of `?cell`.
    pub height: Option<Height>,
}

/// The places of cells.
#[derive(Debug, Clone, PartialEq)]
pub enum Coordinates {
    /// Row and column are part of the cell's name.
    Name(NamePattern),
    /// Facts that place `?to` on a side of `?from`.
    Neighbours(Vec<(Direction, Pattern)>),
}

/// The side of `?from` on which `?to` lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Right,
    Left,
    Up,
    Down,
}

/// A name with numbers in it: texts, and `{row}` and `{col}` between them.
#[derive(Debug, Clone, PartialEq)]
pub struct NamePattern {
    /// Its parts, in order.
    pub parts: Vec<NamePart>,
    /// True if rows are counted upwards.
    pub rows_up: bool,
}

/// A part of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NamePart {
    /// These letters, in lower case.
    Text(String),
    /// Digits of the row.
    Row,
    /// Digits of the column.
    Column,
}

impl NamePattern {
    /// Row and column of a name in lower case; 0 for the one that the pattern does not have.
    pub fn read(&self, name: &str) -> Option<(i64, i64)> {
        let (mut row, mut column, mut rest) = (0, 0, name);
        for part in &self.parts {
            match part {
                NamePart::Text(text) => rest = rest.strip_prefix(text.as_str())?,
                NamePart::Row | NamePart::Column => {
                    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
                    let number = rest.get(..digits)?.parse::<i32>().ok()?;
                    rest = rest.get(digits..)?;
                    *(if *part == NamePart::Row { &mut row } else { &mut column }) = i64::from(number);
                }
            }
        }
        rest.is_empty().then_some((row, column))
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Height {
    /// A fact of `?cell` and `?n`, an object whose name ends in the number.
    Fact(Pattern),
    Number(Pattern),
}

/// Places without coordinates: `[[group]]`.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupSpec {
    /// Types of the places. A place that is in another is drawn there.
    pub places: Vec<TypeName>,
    /// Facts of `?what` is in `?place`.
    pub inside: Vec<Pattern>,
    /// Title of a place that is not an object. All facts of `inside` are then in one place, and have no
    /// `?place`.
    pub title: Option<String>,
}

/// Words on a thing, or below the picture: `[[mark]]`.
#[derive(Debug, Clone, PartialEq)]
pub struct MarkSpec {
    /// The fact, or the numeric function. It is a mark on `?of`, where it has that.
    pub fact: Pattern,
    /// True for a numeric function.
    pub numeric: bool,
    /// The words: texts, and `{x}` for the argument `?x` and `{value}` for a function's value.
    pub text: String,
    pub colour: Option<Colour>,
}

/// The look of objects of a type: `[types.NAME]`.
#[derive(Debug, Clone, PartialEq)]
pub struct LookSpec {
    pub type_name: TypeName,
    /// A sign before the name.
    pub glyph: Option<String>,
    pub colour: Option<Colour>,
}

/// A type, in lower case.
#[derive(Debug, Clone, PartialEq)]
pub struct TypeName {
    pub name: String,
    /// The file that names it.
    pub source: SourceId,
    /// Its place in the file.
    pub span: Span,
}

/// A fact with variables: `stands-on ?above ?below`, with or without parentheses.
#[derive(Debug, Clone, PartialEq)]
pub struct Pattern {
    /// The predicate or function, in lower case.
    pub name: String,
    pub slots: Vec<Slot>,
    /// The file that contains it.
    pub source: SourceId,
    /// Its place in the file.
    pub span: Span,
}

/// An argument of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Slot {
    /// `?x`, without the question mark; the same object wherever it stands.
    Variable(String),
    /// That object, in lower case.
    Object(String),
    /// `_`: any object.
    Any,
}

impl Pattern {
    /// Position of the first occurrence of a variable.
    pub fn position(&self, variable: &str) -> Option<usize> {
        self.slots.iter().position(|slot| matches!(slot, Slot::Variable(name) if name == variable))
    }

    /// The variable of that name, else the first that there is.
    pub fn position_or_first(&self, variable: &str) -> Option<usize> {
        let first = || self.slots.iter().position(|slot| matches!(slot, Slot::Variable(_)));
        self.position(variable).or_else(first)
    }

    /// True if arguments, in lower case, match this pattern.
    pub fn matches<'a>(&self, argument: impl Fn(usize) -> Option<&'a str>, count: usize) -> bool {
        count == self.slots.len()
            && self.slots.iter().enumerate().all(|(at, slot)| match slot {
                Slot::Any => true,
                Slot::Object(name) => argument(at) == Some(name.as_str()),
                Slot::Variable(name) => match self.position(name) {
                    Some(first) if first < at => argument(first) == argument(at),
                    _ => true,
                },
            })
    }
}

/// A colour that can be told from the others, also in grey or by colour-blind readers (after Okabe and Ito).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Colour {
    Blue,
    Orange,
    Green,
    Red,
    Purple,
    Sky,
    Yellow,
    Grey,
}

impl Colour {
    /// All of them with their names in templates.
    pub const ALL: [(&'static str, Self); 8] = [
        ("blue", Self::Blue),
        ("orange", Self::Orange),
        ("green", Self::Green),
        ("red", Self::Red),
        ("purple", Self::Purple),
        ("sky", Self::Sky),
        ("yellow", Self::Yellow),
        ("grey", Self::Grey),
    ];
}

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

/// The declarations of a domain, in lower case.
struct Declared {
    predicates: BTreeMap<String, usize>,
    functions: BTreeMap<String, usize>,
    derived: BTreeSet<String>,
    types: BTreeSet<String>,
}

impl Declared {
    fn of(domain: &Domain) -> Self {
        let key = |name: &planforge_pddl::Name| name.key().to_owned();
        let mut types: BTreeSet<String> = domain.types.iter().map(|entry| key(&entry.name)).collect();
        let parents = domain.types.iter().filter_map(|entry| entry.ty.as_ref());
        types.extend(parents.flat_map(|ty| &ty.alternatives).map(key));
        types.insert("object".to_owned());
        Self {
            predicates: domain.predicates.iter().map(|p| (key(&p.name), p.parameters.len())).collect(),
            functions: domain.functions.iter().map(|f| (key(&f.name), f.parameters.len())).collect(),
            derived: domain.derived.iter().map(|rule| key(&rule.predicate)).collect(),
            types,
        }
    }
}

impl PictureTemplate {
    /// Everything that keeps the template from drawing states of this domain (`suite.picture`); nothing where it fits.
    pub fn fit(&self, domain: &Domain) -> Vec<Diagnostic> {
        let declared = Declared::of(domain);
        let mut found = Vec::new();
        for pattern in self.fact_patterns() {
            fact(pattern, &declared, &mut found);
        }
        for pattern in self.number_patterns() {
            number(pattern, &declared, &mut found);
        }
        for name in self.type_names().filter(|name| !declared.types.contains(&name.name)) {
            let names: Vec<&str> = declared.types.iter().map(String::as_str).collect();
            let message = format!("the domain has no type `{}`", name.name);
            let unknown = Diagnostic::error(CODE, message).at(name.source, name.span, "");
            found.push(with_help(unknown, help_for(&name.name, &names, "its types are")));
        }
        // As the file has them; and a pattern may be wrong in two ways.
        found.sort_by_key(|d| d.labels.first().map(|label| label.span.start));
        found
    }

    /// The patterns over predicates.
    fn fact_patterns(&self) -> impl Iterator<Item = &Pattern> {
        let stacks = self.stacks.iter().flat_map(|s| s.on.iter().chain(&s.bottom).chain(&s.held));
        let cells = self.grids.iter().flat_map(|grid| {
            let neighbours = match &grid.coordinates {
                Coordinates::Neighbours(list) => list.as_slice(),
                Coordinates::Name(_) => &[],
            };
            let height = match &grid.height {
                Some(Height::Fact(pattern)) => Some(pattern),
                _ => None,
            };
            neighbours.iter().map(|(_, pattern)| pattern).chain(&grid.at).chain(&grid.fill).chain(height)
        });
        let groups = self.groups.iter().flat_map(|group| &group.inside);
        let marks = self.marks.iter().filter(|mark| !mark.numeric).map(|mark| &mark.fact);
        stacks.chain(cells).chain(groups).chain(marks)
    }

    /// The patterns over numeric functions.
    fn number_patterns(&self) -> impl Iterator<Item = &Pattern> {
        let heights = self.grids.iter().filter_map(|grid| match &grid.height {
            Some(Height::Number(pattern)) => Some(pattern),
            _ => None,
        });
        heights.chain(self.marks.iter().filter(|mark| mark.numeric).map(|mark| &mark.fact))
    }

    fn type_names(&self) -> impl Iterator<Item = &TypeName> {
        let cells = self.grids.iter().flat_map(|grid| &grid.cells);
        let places = self.groups.iter().flat_map(|group| &group.places);
        cells.chain(places).chain(self.looks.iter().map(|look| &look.type_name))
    }
}

fn fact(pattern: &Pattern, declared: &Declared, out: &mut Vec<Diagnostic>) {
    if declared.derived.contains(&pattern.name) {
        let message =
            format!("`{}` is a derived predicate, and states are drawn from their basic facts", pattern.name);
        out.push(Diagnostic::error(CODE, message).at(pattern.source, pattern.span, ""));
        return;
    }
    arity("predicate", pattern, &declared.predicates, out);
}

fn number(pattern: &Pattern, declared: &Declared, out: &mut Vec<Diagnostic>) {
    arity("function", pattern, &declared.functions, out);
}

fn arity(kind: &str, pattern: &Pattern, known: &BTreeMap<String, usize>, out: &mut Vec<Diagnostic>) {
    let Some(&arity) = known.get(&pattern.name) else {
        let names: Vec<&str> = known.keys().map(String::as_str).collect();
        let message = format!("the domain has no {kind} `{}`", pattern.name);
        let unknown = Diagnostic::error(CODE, message).at(pattern.source, pattern.span, "");
        out.push(with_help(unknown, help_for(&pattern.name, &names, &format!("{kind}s"))));
        return;
    };
    if arity != pattern.slots.len() {
        let message = format!(
            "{kind} `{}` has {arity} argument(s) in the domain, and {} here",
            pattern.name,
            pattern.slots.len()
        );
        let wrong = Diagnostic::error(CODE, message).at(pattern.source, pattern.span, "");
        out.push(wrong.help("`_` is an argument that the picture does not show"));
    }
}
