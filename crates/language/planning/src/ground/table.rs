//! Relations of the reachability engine: rows without duplicates, and indexes on some of their columns.

use crate::task::ObjectId;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::Hasher;

const NONE: u32 = u32::MAX;

/// The rows of one predicate in the order they were found.
#[derive(Debug, Default)]
pub(crate) struct Table {
    arity: usize,
    cells: Vec<ObjectId>,
    count: u32,
    /// Rows below this are visible to joins.
    pub(crate) visible: u32,
    first: FxHashMap<u64, u32>,
    next: Vec<u32>,
    indexes: Vec<Index>,
}

/// Rows by the values in some columns.
#[derive(Debug, Default)]
struct Index {
    columns: Vec<usize>,
    first: FxHashMap<u64, u32>,
    next: Vec<u32>,
}

fn hash(values: impl Iterator<Item = ObjectId>) -> u64 {
    let mut hasher = FxHasher::default();
    values.for_each(|v| hasher.write_u32(v));
    hasher.finish()
}

impl Table {
    pub(crate) fn new(arity: usize) -> Self {
        Table { arity, ..Table::default() }
    }

    pub(crate) fn len(&self) -> usize {
        self.count as usize
    }

    pub(crate) fn row(&self, row: u32) -> &[ObjectId] {
        let start = row as usize * self.arity;
        &self.cells[start..start + self.arity]
    }

    /// The number of a row with these cells.
    pub(crate) fn find(&self, cells: &[ObjectId]) -> Option<u32> {
        let mut row = *self.first.get(&hash(cells.iter().copied()))?;
        while row != NONE {
            if self.row(row) == cells {
                return Some(row);
            }
            row = self.next[row as usize];
        }
        None
    }

    /// Adds a row; `None` where it was there already.
    pub(crate) fn insert(&mut self, cells: &[ObjectId]) -> Option<u32> {
        if self.find(cells).is_some() {
            return None;
        }
        let row = self.count;
        self.cells.extend_from_slice(cells);
        self.count += 1;
        let previous = self.first.insert(hash(cells.iter().copied()), row).unwrap_or(NONE);
        self.next.push(previous);
        Some(row)
    }

    /// The number of an index on these columns, made where it is missing. Only before any row is shown.
    pub(crate) fn index_on(&mut self, columns: Vec<usize>) -> usize {
        if let Some(found) = self.indexes.iter().position(|i| i.columns == columns) {
            return found;
        }
        self.indexes.push(Index { columns, ..Index::default() });
        self.indexes.len() - 1
    }

    /// Makes the next row visible to joins.
    pub(crate) fn show_next(&mut self) {
        let row = self.visible;
        self.visible += 1;
        let start = row as usize * self.arity;
        let cells = &self.cells[start..start + self.arity];
        for index in &mut self.indexes {
            let key = hash(index.columns.iter().map(|&c| cells[c]));
            let previous = index.first.insert(key, row).unwrap_or(NONE);
            index.next.push(previous);
        }
    }

    /// Visible rows that may have these values in the index's columns (a hash collision gives others too), latest first.
    pub(crate) fn candidates(
        &self,
        index: usize,
        values: impl Iterator<Item = ObjectId>,
    ) -> impl Iterator<Item = u32> + '_ {
        let index = &self.indexes[index];
        let mut row = index.first.get(&hash(values)).copied().unwrap_or(NONE);
        std::iter::from_fn(move || {
            let current = row;
            row = *index.next.get(current as usize)?;
            Some(current)
        })
    }

    /// Different values in a column.
    pub(crate) fn distinct(&self, column: usize) -> usize {
        let mut values: Vec<ObjectId> = (0..self.count).map(|r| self.row(r)[column]).collect();
        values.sort_unstable();
        values.dedup();
        values.len()
    }

    pub(crate) fn bytes_per_row(&self) -> u64 {
        4 * self.arity as u64 + 24 + 20 * self.indexes.len() as u64
    }
}
