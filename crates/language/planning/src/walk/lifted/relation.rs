//! The true atoms of one predicate, indexed by some of their columns. Rows are sorted, so that the order in
//! which a join visits them depends on the state alone.

use crate::validate::world::Args;
use rustc_hash::FxHashMap;

/// The indexes of one predicate.
#[derive(Debug, Default)]
pub(crate) struct Relation {
    indexes: Vec<Index>,
}

#[derive(Debug)]
struct Index {
    columns: Vec<usize>,
    rows: FxHashMap<Args, Vec<Args>>,
}

impl Index {
    fn key(&self, row: &Args) -> Args {
        self.columns.iter().map(|&c| row[c]).collect()
    }
}

impl Relation {
    /// The number of the index on these columns, made where it is missing.
    pub(crate) fn index_on(&mut self, columns: Vec<usize>) -> usize {
        if let Some(found) = self.indexes.iter().position(|i| i.columns == columns) {
            return found;
        }
        self.indexes.push(Index { columns, rows: FxHashMap::default() });
        self.indexes.len() - 1
    }

    pub(crate) fn insert(&mut self, row: &Args) {
        for index in &mut self.indexes {
            let rows = index.rows.entry(index.key(row)).or_default();
            if let Err(at) = rows.binary_search(row) {
                rows.insert(at, row.clone());
            }
        }
    }

    pub(crate) fn remove(&mut self, row: &Args) {
        for index in &mut self.indexes {
            let key = index.key(row);
            if let Some(rows) = index.rows.get_mut(&key)
                && let Ok(at) = rows.binary_search(row)
            {
                rows.remove(at);
            }
        }
    }

    /// Replaces all rows.
    pub(crate) fn fill<'r>(&mut self, rows: impl Iterator<Item = &'r Args>) {
        if self.indexes.is_empty() {
            return;
        }
        let mut sorted: Vec<&Args> = rows.collect();
        sorted.sort_unstable();
        for index in &mut self.indexes {
            index.rows.clear();
            for row in &sorted {
                index.rows.entry(index.key(row)).or_default().push((*row).clone());
            }
        }
    }

    /// The rows with these values in the index's columns, ascending.
    pub(crate) fn rows(&self, index: usize, key: &Args) -> &[Args] {
        self.indexes[index].rows.get(key).map_or(&[], Vec::as_slice)
    }
}
