//! The places of a grid's cells: by their names, or by their neighbours.

use super::Painter;
use super::scene::{Scene, argument};
use planforge_pipeline::{Coordinates, Direction, GridSpec, Pattern};
use planforge_planning::task::ObjectId;
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
