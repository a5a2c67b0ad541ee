//! The parts of a picture, their sizes, and their positions inside each other.

use planforge_pipeline::Colour;
use planforge_planning::task::ObjectId;

/// Height of a line of names and of words, in pixels.
pub(super) const LINE: f64 = 15.0;
pub(super) const WORDS_LINE: f64 = 14.0;
/// Room around what is in a box, and between boxes.
pub(super) const PADDING: f64 = 5.0;
pub(super) const GAP: f64 = 6.0;
/// Width that a character takes at most on average: of names, and of words.
const CHARACTER: f64 = 7.0;
const WORDS_CHARACTER: f64 = 6.1;
/// The most characters of a name that are shown; the title has the whole name.
pub(super) const MOST_OF_A_NAME: usize = 22;
/// The most characters of words on a thing.
pub(super) const MOST_OF_WORDS: usize = 34;
/// The greatest width of a row before things wrap to a second one; and inside a thing.
const WIDEST: f64 = 680.0;
const WIDEST_INSIDE: f64 = 360.0;
const WORDS_WIDTH: f64 = 120.0;
const CELL: (f64, f64) = (48.0, 42.0);

/// Something with a size. Places are relative to its upper left corner.
#[derive(Debug)]
pub(super) struct Shape<'n> {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) form: Form<'n>,
}

/// The content of a shape.
#[derive(Debug)]
pub(super) enum Form<'n> {
    Thing {
        thing: &'n Thing,
        /// The words on it, line by line, with the place of each.
        words: Vec<(f64, f64, &'n Mark)>,
        inside: Vec<(f64, f64, Shape<'n>)>,
    },
    Pile {
        base: Box<Shape<'n>>,
        tops: Vec<(f64, f64, Shape<'n>)>,
    },
    More(usize),
}

/// A part of the sheet with its place.
#[derive(Debug)]
pub(super) struct Placed<'n> {
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) block: Block<'n>,
}

/// Place and size of a cell, the cell, and what is in it.
type PlacedCell<'n> = ((f64, f64), (f64, f64), &'n Cell, Shape<'n>);

/// See [`Part`].
#[derive(Debug)]
pub(super) enum Block<'n> {
    Row { title: Option<&'n str>, shapes: Vec<(f64, f64, Shape<'n>)>, table: bool },
    Grid(Vec<PlacedCell<'n>>),
    Words(Vec<(f64, f64, &'n Mark)>),
}

/// Places every part of a sheet; with the width and height of all.
pub(super) fn place(sheet: &Sheet) -> (Vec<Placed<'_>>, f64, f64) {
    let (mut y, mut width) = (GAP, 0.0f64);
    let mut placed = Vec::new();
    for part in &sheet.parts {
        let (block, w, h) = match part {
            Part::Row { title, nodes, table } => row(title.as_deref(), nodes, *table),
            Part::Grid { cells, .. } => grid(cells),
            Part::Words(marks) => {
                let (words, w, h) = words(marks, WIDEST);
                (Block::Words(words), w, h)
            }
        };
        placed.push(Placed { y, width: w, height: h, block });
        (y, width) = (y + h + 2.0 * GAP, width.max(w));
    }
    (placed, width + 2.0 * GAP, y)
}

fn row<'n>(title: Option<&'n str>, nodes: &'n [Node], table: bool) -> (Block<'n>, f64, f64) {
    let shapes: Vec<Shape<'n>> = nodes.iter().map(shape).collect();
    let left = title.map_or(0.0, |title| name_width(title) + GAP);
    let (mut shapes, w, h) = flow(shapes, WIDEST - left, (true, table));
    shapes.iter_mut().for_each(|(x, ..)| *x += left);
    // The line of a table and the words beside it need room of their own.
    let h = h.max(if title.is_some() { LINE + 2.0 * PADDING } else { 0.0 }) + if table { 3.0 } else { 0.0 };
    (Block::Row { title, shapes, table }, if table { (left + w).max(60.0) } else { left + w }, h)
}

fn grid(cells: &[Cell]) -> (Block<'_>, f64, f64) {
    let shapes: Vec<Shape<'_>> = cells.iter().map(|cell| thing(&cell.thing, cell.height.is_some())).collect();
    let width = shapes.iter().map(|s| s.width).fold(CELL.0, f64::max);
    let height = shapes.iter().map(|s| s.height).fold(CELL.1, f64::max);
    let (columns, rows) =
        cells.iter().fold((0, 0), |(c, r), cell| (c.max(cell.column + 1), r.max(cell.row + 1)));
    // Cells are alike; but in a single column, such as the floors of a house, each is as high as it needs to be.
    let mut heights = vec![if columns > 1 { height } else { CELL.1 }; rows];
    for (cell, shape) in cells.iter().zip(&shapes) {
        heights[cell.row] = heights[cell.row].max(shape.height);
    }
    let tops: Vec<f64> = heights
        .iter()
        .scan(0.0, |y, height| {
            let top = *y;
            *y += height;
            Some(top)
        })
        .collect();
    let all = heights.iter().sum();
    let cells = cells.iter().zip(shapes).map(|(cell, shape)| {
        let place = (cell.column as f64 * width, tops[cell.row]);
        (place, (width, heights[cell.row]), cell, shape)
    });
    (Block::Grid(cells.collect()), columns as f64 * width, all)
}

fn shape(node: &Node) -> Shape<'_> {
    match node {
        Node::Thing(one) => thing(one, false),
        Node::Pile(base, tops) => pile(thing(base, false), tops),
        Node::More(count) => Shape {
            width: name_width(&more_text(*count)) + 2.0 * PADDING,
            height: LINE + 2.0 * PADDING,
            form: Form::More(*count),
        },
    }
}

/// The note about omitted things.
pub(super) fn more_text(count: usize) -> String {
    format!("and {count} more")
}

fn thing(one: &Thing, badge: bool) -> Shape<'_> {
    let label = name_width(&one.label) + if badge { 3.0 * CHARACTER } else { 0.0 };
    let inside: Vec<Shape<'_>> = one.inside.iter().map(shape).collect();
    let (mut inside, inner, inner_height) = flow(inside, WIDEST_INSIDE, (false, false));
    let (mut marks, marks_width, marks_height) = words(&one.marks, WORDS_WIDTH.max(inner));
    let top = PADDING + LINE;
    marks.iter_mut().for_each(|(x, y, _)| (*x, *y) = (*x + PADDING, *y + top));
    let below = top + marks_height + if inside.is_empty() { 0.0 } else { 2.0 };
    inside.iter_mut().for_each(|(x, y, _)| (*x, *y) = (*x + PADDING, *y + below));
    Shape {
        width: label.max(inner).max(marks_width) + 2.0 * PADDING,
        height: below + inner_height + PADDING,
        form: Form::Thing { thing: one, words: marks, inside },
    }
}

/// A base with the things on it, side by side if there are several. A tower has the width of its widest
/// thing.
fn pile<'n>(base: Shape<'n>, tops: &'n [Node]) -> Shape<'n> {
    let shapes: Vec<Shape<'n>> = tops.iter().map(shape).collect();
    let gaps = GAP * (shapes.len().saturating_sub(1)) as f64;
    let on_top: f64 = shapes.iter().map(|s| s.width).sum::<f64>() + gaps;
    let high = shapes.iter().map(|s| s.height).fold(0.0, f64::max);
    let width = base.width.max(on_top);
    let single = shapes.len() == 1;
    let mut x = if single { 0.0 } else { (width - on_top) / 2.0 };
    let mut placed = Vec::new();
    for mut shape in shapes {
        if single {
            widen(&mut shape, width);
        }
        let (w, h) = (shape.width, shape.height);
        placed.push((x, high - h, shape));
        x += w + GAP;
    }
    let height = high + base.height;
    let mut base = base;
    widen(&mut base, width);
    Shape { width, height, form: Form::Pile { base: Box::new(base), tops: placed } }
}

fn widen(shape: &mut Shape<'_>, width: f64) {
    shape.width = width;
    if let Form::Pile { base, tops } = &mut shape.form {
        widen(base, width);
        let on_top: f64 =
            tops.last().map_or(0.0, |(x, _, last)| x + last.width) - tops.first().map_or(0.0, |t| t.0);
        if let [(_, _, only)] = tops.as_mut_slice() {
            widen(only, width);
        } else if let Some(first) = tops.first().map(|t| t.0) {
            let shift = (width - on_top) / 2.0 - first;
            tops.iter_mut().for_each(|(x, ..)| *x += shift);
        }
    }
}

/// Things in rows; about as wide as high, where the width is not fixed.
fn flow(
    shapes: Vec<Shape<'_>>,
    widest: f64,
    (fixed, on_a_line): (bool, bool),
) -> (Vec<(f64, f64, Shape<'_>)>, f64, f64) {
    let area: f64 = shapes.iter().map(|s| (s.width + GAP) * (s.height + GAP)).sum();
    let single = shapes.iter().map(|s| s.width).fold(0.0, f64::max);
    // Parts of a picture keep their width, so that from state to state things stay where they are.
    let wanted = if fixed { widest } else { (area * 2.5).sqrt() };
    let limit = wanted.min(widest).max(single);
    let mut rows: Vec<Vec<Shape<'_>>> = Vec::new();
    let mut at = f64::INFINITY;
    for shape in shapes {
        if at + shape.width > limit {
            rows.push(Vec::new());
            at = 0.0;
        }
        at += shape.width + GAP;
        if let Some(row) = rows.last_mut() {
            row.push(shape);
        }
    }
    let (mut placed, mut y, mut width) = (Vec::new(), 0.0, 0.0f64);
    for row in rows {
        let high = row.iter().map(|s| s.height).fold(0.0, f64::max);
        let mut x = 0.0;
        for shape in row {
            let (w, top) = (shape.width, if on_a_line { high - shape.height } else { 0.0 });
            placed.push((x, y + top, shape));
            x += w + GAP;
        }
        width = width.max(x - GAP);
        y += high + GAP;
    }
    let height = if placed.is_empty() { 0.0 } else { y - GAP };
    (placed, width, height)
}

/// Words beside each other, in lines.
fn words(marks: &[Mark], widest: f64) -> (Vec<(f64, f64, &Mark)>, f64, f64) {
    let (mut x, mut y, mut width) = (0.0, 0.0, 0.0f64);
    let mut placed = Vec::new();
    for mark in marks {
        let wide = mark_width(mark);
        if x > 0.0 && x + wide > widest {
            (x, y) = (0.0, y + WORDS_LINE);
        }
        placed.push((x, y, mark));
        x += wide + 3.0;
        width = width.max(x - 3.0);
    }
    let height = if placed.is_empty() { 0.0 } else { y + WORDS_LINE };
    (placed, width, height)
}

/// The width of a mark with its margin.
pub(super) fn mark_width(mark: &Mark) -> f64 {
    units(&shorten(&mark.text, MOST_OF_WORDS)) * WORDS_CHARACTER + 6.0
}

pub(super) fn name_width(name: &str) -> f64 {
    units(&shorten(name, MOST_OF_A_NAME)) * CHARACTER
}

/// Characters of normal width that a text is as wide as.
fn units(text: &str) -> f64 {
    text.chars().map(|c| if c.is_ascii() { 1.0 } else { 2.0 }).sum()
}

/// At most so many characters; a name that is cut ends in an ellipsis.
pub(super) fn shorten(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(['\u{2026}']).collect()
}

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
