//! The parts of a picture before their layout.

use planforge_pipeline::Colour;
use planforge_planning::task::ObjectId;

/// A thing with its words and what is in it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Thing {
    /// The object that it is, where it is one.
    pub(super) object: Option<ObjectId>,
    /// Its glyph and name.
    pub(super) label: String,
    /// The colour of its type.
    pub(super) colour: Option<Colour>,
    /// Words on it, each with its colour.
    pub(super) marks: Vec<Mark>,
    /// The things inside it.
    pub(super) inside: Vec<Node>,
    /// True if it is a place, which is there to hold things.
    pub(super) place: bool,
}

/// Words on a thing.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mark {
    pub(super) text: String,
    pub(super) colour: Option<Colour>,
}

/// A thing, a pile, or what is left out.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    /// A thing by itself.
    Thing(Thing),
    /// A thing with others on it.
    Pile(Thing, Vec<Node>),
    /// So many more that are not drawn.
    More(usize),
}

/// A cell of a grid.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Cell {
    pub(super) row: usize,
    pub(super) column: usize,
    pub(super) thing: Thing,
    /// Its filling.
    pub(super) fill: Option<Fill>,
    /// Its height: the number, if there is one, and the words.
    pub(super) height: Option<(Option<f64>, String)>,
}

/// The colour of a cell: by its name, or from the palette.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fill {
    pub(super) name: String,
    pub(super) paint: FillPaint,
}

/// See [`Fill`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FillPaint {
    /// Red, green and blue, because the object is called so.
    Named(u8, u8, u8),
    /// A colour of the palette.
    Palette(Colour),
}

/// A part of a picture; parts are drawn below each other.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Part {
    /// Things beside each other, on a table where they are piles.
    Row {
        /// Words in front of it.
        title: Option<String>,
        /// The things.
        nodes: Vec<Node>,
        /// True if there is a line below: what they stand on.
        table: bool,
    },
    /// Cells in rows and columns.
    Grid {
        rows: usize,
        columns: usize,
        cells: Vec<Cell>,
    },
    Words(Vec<Mark>),
}

/// A whole picture.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Sheet {
    pub(super) parts: Vec<Part>,
    /// Things that are not drawn.
    pub(super) left_out: usize,
}
