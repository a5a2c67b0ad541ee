//! Open lists: buckets by key, first in first out within one.

use std::collections::{BTreeMap, VecDeque};

/// Entries by a key, the smallest key first.
#[derive(Debug)]
pub(crate) struct BucketQueue<T> {
    buckets: Vec<VecDeque<T>>,
    /// Keys beyond the buckets: rare and large.
    far: BTreeMap<u32, VecDeque<T>>,
    lowest: usize,
    len: usize,
}

/// Keys below this have a bucket of their own.
const NEAR: usize = 4096;

impl<T> BucketQueue<T> {
    pub(crate) fn new() -> Self {
        BucketQueue { buckets: Vec::new(), far: BTreeMap::new(), lowest: 0, len: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn push(&mut self, key: u32, entry: T) {
        self.len += 1;
        let near = key as usize;
        if near >= NEAR {
            self.far.entry(key).or_default().push_back(entry);
            return;
        }
        if near >= self.buckets.len() {
            self.buckets.resize_with(near + 1, VecDeque::new);
        }
        self.buckets[near].push_back(entry);
        self.lowest = self.lowest.min(near);
    }

    pub(crate) fn pop(&mut self) -> Option<T> {
        while self.lowest < self.buckets.len() {
            if let Some(entry) = self.buckets[self.lowest].pop_front() {
                self.len -= 1;
                return Some(entry);
            }
            self.lowest += 1;
        }
        let mut first = self.far.first_entry()?;
        let entry = first.get_mut().pop_front();
        if first.get().is_empty() {
            first.remove();
        }
        self.len -= usize::from(entry.is_some());
        entry
    }
}
