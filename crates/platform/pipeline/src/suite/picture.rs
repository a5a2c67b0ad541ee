//! `picture.toml`: how states of a suite's domain are drawn. Data alone: which facts make stacks, grids, groups and marks, and how things
//! of a type look. What draws it is another crate's; here the file is read, and held against a domain.

mod fit;
mod read;

pub use read::read_picture;

use planforge_diagnostics::{SourceId, Span};

/// The schema number of picture templates that this version reads.
pub const PICTURE_SCHEMA: u32 = 1;

/// How states are drawn. Names are in lower case, as PDDL compares them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PictureTemplate {
    /// Things that stand on each other.
    pub stacks: Vec<StackSpec>,
    /// Cells with rows and columns, and things in them.
    pub grids: Vec<GridSpec>,
    /// Places without coordinates, and things in them.
    pub groups: Vec<GroupSpec>,
    /// Words on things, and below the picture.
    pub marks: Vec<MarkSpec>,
    /// How things of a type look.
    pub looks: Vec<LookSpec>,
}

/// Things that stand on each other: `[[stack]]`.
#[derive(Debug, Clone, PartialEq)]
pub struct StackSpec {
    /// Facts with `?above` and `?below`.
    pub on: Vec<Pattern>,
    /// Facts of `?what` stands at the bottom.
    pub bottom: Vec<Pattern>,
    /// Facts of `?what` is held, and stands nowhere.
    pub held: Vec<Pattern>,
}

/// Cells with rows and columns: `[[grid]]`.
#[derive(Debug, Clone, PartialEq)]
pub struct GridSpec {
    /// Types of the cells.
    pub cells: Vec<TypeName>,
    /// Where a cell is.
    pub coordinates: Coordinates,
    /// Facts of `?what` is in `?cell`.
    pub at: Vec<Pattern>,
    /// Facts of `?cell` has `?colour`.
    pub fill: Vec<Pattern>,
    /// Facts of `?cell` has the height `?n`, or a numeric function of `?cell`.
    pub height: Option<Height>,
}

/// Where cells are.
#[derive(Debug, Clone, PartialEq)]
pub enum Coordinates {
    /// Row and column stand in the cell's name.
    Name(NamePattern),
    /// Facts of `?to` lies right of `?from`, and so on.
    Neighbours(Vec<(Side, Pattern)>),
}

/// On which side of `?from` lies `?to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// One column further.
    Right,
    /// One column back.
    Left,
    /// One row up.
    Up,
    /// One row down.
    Down,
}

/// A name with numbers in it: texts, and `{row}` and `{col}` between them.
#[derive(Debug, Clone, PartialEq)]
pub struct NamePattern {
    /// What it is made of, in order.
    pub parts: Vec<NamePart>,
    /// Whether rows are counted upwards.
    pub rows_up: bool,
}

/// A part of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NamePart {
    /// These letters, in lower case.
    Text(String),
    /// The row's digits.
    Row,
    /// The column's digits.
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

/// A height.
#[derive(Debug, Clone, PartialEq)]
pub enum Height {
    /// A fact of `?cell` and `?n`, an object whose name ends in the number.
    Fact(Pattern),
    /// A numeric function.
    Number(Pattern),
}

/// Places without coordinates: `[[group]]`.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupSpec {
    /// Types of the places. A place that is in another is drawn there.
    pub places: Vec<TypeName>,
    /// Facts of `?what` is in `?place`.
    pub inside: Vec<Pattern>,
    /// What the place is called where it is none of the objects: then all facts of `inside` are in one, and have no `?place`.
    pub title: Option<String>,
}

/// Words on a thing, or below the picture: `[[mark]]`.
#[derive(Debug, Clone, PartialEq)]
pub struct MarkSpec {
    /// The fact, or the numeric function. It is a mark on `?of`, where it has that.
    pub fact: Pattern,
    /// Whether it is a numeric function.
    pub numeric: bool,
    /// The words: texts, and `{x}` for the argument `?x` and `{value}` for a function's value.
    pub text: String,
    /// The colour.
    pub colour: Option<Colour>,
}

/// How things of a type look: `[types.NAME]`.
#[derive(Debug, Clone, PartialEq)]
pub struct LookSpec {
    /// The type.
    pub type_name: TypeName,
    /// Stands before the name.
    pub glyph: Option<String>,
    /// The colour.
    pub colour: Option<Colour>,
}

/// A type, in lower case.
#[derive(Debug, Clone, PartialEq)]
pub struct TypeName {
    /// Its name.
    pub name: String,
    /// Where the template names it.
    pub source: SourceId,
    /// Where the template names it.
    pub span: Span,
}

/// A fact with variables: `stands-on ?above ?below`, with or without parentheses.
#[derive(Debug, Clone, PartialEq)]
pub struct Pattern {
    /// The predicate or function, in lower case.
    pub name: String,
    /// The arguments.
    pub slots: Vec<Slot>,
    /// Where it stands.
    pub source: SourceId,
    /// Where it stands.
    pub span: Span,
}

/// An argument of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Slot {
    /// `?x`, without the question mark; the same object wherever it stands.
    Variable(String),
    /// That object, in lower case.
    Object(String),
    /// `_`: whatever it is.
    Any,
}

impl Pattern {
    /// Where a variable stands first.
    pub fn position(&self, variable: &str) -> Option<usize> {
        self.slots.iter().position(|slot| matches!(slot, Slot::Variable(name) if name == variable))
    }

    /// The variable of that name, else the first that there is.
    pub fn position_or_first(&self, variable: &str) -> Option<usize> {
        let first = || self.slots.iter().position(|slot| matches!(slot, Slot::Variable(_)));
        self.position(variable).or_else(first)
    }

    /// Whether arguments, in lower case, are of this pattern.
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
    /// Blue.
    Blue,
    /// Orange.
    Orange,
    /// Bluish green.
    Green,
    /// Vermilion.
    Red,
    /// Reddish purple.
    Purple,
    /// Sky blue.
    Sky,
    /// Yellow.
    Yellow,
    /// Grey.
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
