//! The facts of one state, found by patterns, those of them that a picture shows, and the places of a grid's cells: by their names, or by their
//! neighbours.

use super::Painter;
use planforge_pipeline::{Coordinates, Direction, GridSpec, Pattern};
use planforge_planning::task::{Atom, ObjectId};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

/// Rows or columns beyond which gaps are closed: a cell called `r1000000c1` makes no grid of a million rows.
const MOST_GAPS: i64 = 60;

/// Cells with their places.
#[derive(Debug, Default)]
pub(super) struct Placed {
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// Cell, row, column; rows from above.
    pub(super) cells: Vec<(ObjectId, usize, usize)>,
    /// Cells without a place: their names have no place, or another cell is there.
    pub(super) elsewhere: Vec<ObjectId>,
}

pub(super) fn place(painter: &Painter, scene: &mut Scene<'_>, grid: &GridSpec) -> Placed {
    let cells = painter.objects_of(&grid.cells);
    let found: HashMap<ObjectId, (i64, i64)> = match &grid.coordinates {
        Coordinates::Name(pattern) => {
            let read = |id: &ObjectId| {
                let (row, column) = pattern.read(&painter.object(*id)?.key)?;
                Some((*id, (if pattern.rows_up { -row } else { row }, column)))
            };
            cells.iter().filter_map(read).collect()
        }
        Coordinates::Neighbours(sides) => by_neighbours(&cells, sides, scene),
    };
    arrange(&cells, &found)
}

/// Gives rows and columns numbers from 0; the second cell at a place has none.
fn arrange(cells: &[ObjectId], found: &HashMap<ObjectId, (i64, i64)>) -> Placed {
    let rows = ranks(found.values().map(|(row, _)| *row).collect());
    let columns = ranks(found.values().map(|(_, column)| *column).collect());
    let mut placed = Placed {
        rows: rows.values().max().map_or(0, |last| last + 1),
        columns: columns.values().max().map_or(0, |last| last + 1),
        ..Placed::default()
    };
    let mut taken = HashSet::new();
    for cell in cells {
        let place = found.get(cell).and_then(|(row, column)| Some((*rows.get(row)?, *columns.get(column)?)));
        match place.filter(|place| taken.insert(*place)) {
            Some((row, column)) => placed.cells.push((*cell, row, column)),
            None => placed.elsewhere.push(*cell),
        }
    }
    placed
}

/// Numbers from 0 for coordinates. Gaps stay, for they may be walls, unless they are too wide.
fn ranks(mut values: Vec<i64>) -> BTreeMap<i64, usize> {
    values.sort_unstable();
    values.dedup();
    let first = values.first().copied().unwrap_or_default();
    let wide = values.last().is_some_and(|last| last - first >= MOST_GAPS.max(values.len() as i64 * 2));
    let rank = |(at, value): (usize, &i64)| {
        let rank = if wide { at } else { usize::try_from(value - first).unwrap_or(at) };
        (*value, rank)
    };
    values.iter().enumerate().map(rank).collect()
}

/// Walks from cell to cell. Contradictions to earlier places are not drawn; separate parts are drawn beside
/// each other.
fn by_neighbours(
    cells: &[ObjectId],
    sides: &[(Direction, Pattern)],
    scene: &mut Scene<'_>,
) -> HashMap<ObjectId, (i64, i64)> {
    let mut edges = Vec::new();
    for (side, pattern) in sides {
        let (rows, columns) = match side {
            Direction::Right => (0, 1),
            Direction::Left => (0, -1),
            Direction::Up => (-1, 0),
            Direction::Down => (1, 0),
        };
        for (shown, args) in scene.facts(pattern) {
            if let (Some(from), Some(to)) = (argument(pattern, "from", args), argument(pattern, "to", args)) {
                edges.push((shown, from, to, rows, columns));
            }
        }
    }
    let own: HashSet<ObjectId> = cells.iter().copied().collect();
    let mut beside: HashMap<ObjectId, Vec<(ObjectId, i64, i64)>> = HashMap::new();
    for (_, from, to, rows, columns) in
        edges.iter().filter(|edge| own.contains(&edge.1) && own.contains(&edge.2))
    {
        beside.entry(*from).or_default().push((*to, *rows, *columns));
        beside.entry(*to).or_default().push((*from, -rows, -columns));
    }
    let mut found: HashMap<ObjectId, (i64, i64)> = HashMap::new();
    let mut right = 0;
    for start in cells {
        if found.contains_key(start) {
            continue;
        }
        let part = component(*start, &beside);
        let left = part.iter().map(|(_, (_, column))| *column).min().unwrap_or_default();
        let top = part.iter().map(|(_, (row, _))| *row).min().unwrap_or_default();
        let width = part.iter().map(|(_, (_, column))| column - left).max().unwrap_or_default();
        found
            .extend(part.into_iter().map(|(cell, (row, column))| (cell, (row - top, column - left + right))));
        right += width + 2;
    }
    for (shown, from, to, rows, columns) in edges {
        if let (Some(a), Some(b)) = (found.get(&from), found.get(&to))
            && (b.0 - a.0, b.1 - a.1) == (rows, columns)
        {
            scene.show(shown);
        }
    }
    found
}

type Beside = HashMap<ObjectId, Vec<(ObjectId, i64, i64)>>;

/// All cells that are reached from one, with their places as seen from it.
fn component(start: ObjectId, beside: &Beside) -> Vec<(ObjectId, (i64, i64))> {
    let mut part = vec![(start, (0, 0))];
    let mut known = HashSet::from([start]);
    let mut open = VecDeque::from([(start, (0, 0))]);
    while let Some((cell, (row, column))) = open.pop_front() {
        for (next, rows, columns) in beside.get(&cell).into_iter().flatten() {
            if known.insert(*next) {
                let place = (row + rows, column + columns);
                part.push((*next, place));
                open.push_back((*next, place));
            }
        }
    }
    part
}

/// A state to be drawn.
pub(super) struct Scene<'a> {
    painter: &'a Painter,
    atoms: &'a [Atom],
    numbers: &'a [(Atom, f64)],
    by_predicate: HashMap<u32, Vec<usize>>,
    drawn: Vec<bool>,
    drawn_numbers: Vec<bool>,
}

/// A fact, or a value, that a picture may show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ShownFact {
    /// An atom, by its number.
    Atom(usize),
    /// A value, by its number.
    Number(usize),
}

impl<'a> Scene<'a> {
    pub(super) fn new(painter: &'a Painter, atoms: &'a [Atom], numbers: &'a [(Atom, f64)]) -> Self {
        let mut by_predicate: HashMap<u32, Vec<usize>> = HashMap::new();
        for (at, atom) in atoms.iter().enumerate() {
            by_predicate.entry(atom.predicate).or_default().push(at);
        }
        Self {
            painter,
            atoms,
            numbers,
            by_predicate,
            drawn: vec![false; atoms.len()],
            drawn_numbers: vec![false; numbers.len()],
        }
    }

    /// The atoms of a pattern, in the order of the state.
    pub(super) fn facts(&self, pattern: &Pattern) -> Vec<(ShownFact, &'a [ObjectId])> {
        let predicate = self.painter.predicates.get(&pattern.name);
        let numbers =
            predicate.and_then(|id| self.by_predicate.get(id)).map(Vec::as_slice).unwrap_or_default();
        let found = numbers.iter().map(|at| (ShownFact::Atom(*at), &*self.atoms[*at].args));
        found.filter(|(_, args)| self.fits(pattern, args)).collect()
    }

    /// The values of a pattern over a numeric function.
    pub(super) fn values(&self, pattern: &Pattern) -> Vec<(ShownFact, &'a [ObjectId], f64)> {
        let Some(function) = self.painter.functions.get(&pattern.name) else { return Vec::new() };
        let all = self.numbers.iter().enumerate().filter(|(_, (term, _))| term.predicate == *function);
        let found = all.map(|(at, (term, value))| (ShownFact::Number(at), &*term.args, *value));
        found.filter(|(_, args, _)| self.fits(pattern, args)).collect()
    }

    fn fits(&self, pattern: &Pattern, args: &[ObjectId]) -> bool {
        let key = |at: usize| Some(self.painter.object(*args.get(at)?)?.key.as_str());
        pattern.matches(key, args.len())
    }

    pub(super) fn show(&mut self, what: ShownFact) {
        match what {
            ShownFact::Atom(at) => self.drawn[at] = true,
            ShownFact::Number(at) => self.drawn_numbers[at] = true,
        }
    }

    pub(super) fn undrawn(&self) -> Vec<usize> {
        without(&self.drawn)
    }

    pub(super) fn undrawn_numbers(&self) -> Vec<usize> {
        without(&self.drawn_numbers)
    }
}

fn without(drawn: &[bool]) -> Vec<usize> {
    drawn.iter().enumerate().filter(|(_, drawn)| !**drawn).map(|(at, _)| at).collect()
}

/// The object for a variable of a pattern in the arguments of a fact.
pub(super) fn argument(pattern: &Pattern, variable: &str, args: &[ObjectId]) -> Option<ObjectId> {
    args.get(pattern.position(variable)?).copied()
}

/// The same for `?what`, or for the first variable where none is called so.
pub(super) fn argument_or_first(pattern: &Pattern, args: &[ObjectId]) -> Option<ObjectId> {
    args.get(pattern.position_or_first("what")?).copied()
}
