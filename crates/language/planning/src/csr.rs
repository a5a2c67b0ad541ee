//! Lists of numbers, one after the other in memory.

/// Row `i` is a slice of `items`.
#[derive(Debug, Clone)]
pub(crate) struct Csr {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Csr {
    /// Rows in the order given.
    pub(crate) fn from_rows<'a>(rows: impl Iterator<Item = &'a [u32]>) -> Self {
        let mut csr = Csr::new();
        for row in rows {
            csr.push_row(row);
        }
        csr
    }

    /// An empty table to push rows to.
    pub(crate) fn new() -> Self {
        Csr { starts: vec![0], items: Vec::new() }
    }

    pub(crate) fn push_row(&mut self, row: &[u32]) {
        self.items.extend_from_slice(row);
        self.starts.push(self.items.len() as u32);
    }

    /// The table read backwards: row `x` lists, in order, the rows of `self` that contain `x`.
    pub(crate) fn transpose(&self, columns: usize) -> Csr {
        let mut starts = vec![0u32; columns + 1];
        for &item in &self.items {
            starts[item as usize + 1] += 1;
        }
        for i in 0..columns {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut items = vec![0u32; self.items.len()];
        for row in 0..self.len() {
            for &item in self.row(row) {
                items[next[item as usize] as usize] = row as u32;
                next[item as usize] += 1;
            }
        }
        Csr { starts, items }
    }

    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    #[inline]
    pub(crate) fn row(&self, i: usize) -> &[u32] {
        &self.items[self.starts[i] as usize..self.starts[i + 1] as usize]
    }

    pub(crate) fn bytes(&self) -> u64 {
        4 * (self.starts.len() + self.items.len()) as u64
    }
}
