//! `picture.toml`: the drawing of states of a suite's domain. Data alone: facts that make stacks, grids,
//! groups and marks, and the look of objects by type. Another crate draws it; here the file is read and
//! checked against a domain.

mod fit;
mod read;

pub use read::read_picture;

use planforge_diagnostics::{SourceId, Span};

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
