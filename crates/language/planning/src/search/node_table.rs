//! Visited states, packed in one arena with a hash index, with the parent and action of each.

/// Number of a state in the table.
pub(crate) type StateId = u32;

/// No state, no operator.
pub(crate) const NONE: u32 = u32::MAX;

/// Set of visited states.
pub(crate) struct NodeTable {
    words: usize,
    arena: Vec<u64>,
    slots: Vec<StateId>,
    parents: Vec<(StateId, u32)>,
}

impl NodeTable {
    /// An empty table of states of `words` words.
    pub(crate) fn new(words: usize) -> Self {
        NodeTable { words, arena: Vec::new(), slots: vec![NONE; 1024], parents: Vec::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.parents.len()
    }

    #[inline]
    pub(crate) fn state(&self, id: StateId) -> &[u64] {
        let start = id as usize * self.words;
        &self.arena[start..start + self.words]
    }

    /// The state before and the operator that led here; [`NONE`] for the initial state.
    #[inline]
    pub(crate) fn parent(&self, id: StateId) -> (StateId, u32) {
        self.parents[id as usize]
    }

    pub(crate) fn set_parent(&mut self, id: StateId, parent: StateId, operator: u32) {
        self.parents[id as usize] = (parent, operator);
    }

    #[inline]
    fn hash(state: &[u64]) -> usize {
        let mut hash = 0xcbf2_9ce4_8422_2325u64;
        for &word in state {
            hash = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            hash ^= hash >> 29;
        }
        (hash ^ (hash >> 32)) as usize
    }

    /// The number of a state and whether it is new.
    pub(crate) fn insert(&mut self, state: &[u64], parent: StateId, operator: u32) -> (StateId, bool) {
        if self.parents.len() * 2 >= self.slots.len() {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        let mut slot = Self::hash(state) & mask;
        loop {
            let id = self.slots[slot];
            if id == NONE {
                let id = self.parents.len() as StateId;
                self.slots[slot] = id;
                self.arena.extend_from_slice(state);
                self.parents.push((parent, operator));
                return (id, true);
            }
            if self.state(id) == state {
                return (id, false);
            }
            slot = (slot + 1) & mask;
        }
    }

    fn grow(&mut self) {
        let size = self.slots.len() * 4;
        let mask = size - 1;
        let mut slots = vec![NONE; size];
        for id in 0..self.parents.len() as StateId {
            let mut slot = Self::hash(self.state(id)) & mask;
            while slots[slot] != NONE {
                slot = (slot + 1) & mask;
            }
            slots[slot] = id;
        }
        self.slots = slots;
    }

    /// Operators from the initial state to `id`.
    pub(crate) fn path(&self, id: StateId) -> Vec<u32> {
        let mut path = Vec::new();
        let mut current = self.parent(id);
        while current.1 != NONE {
            path.push(current.1);
            current = self.parent(current.0);
        }
        path.reverse();
        path
    }

    /// Bytes that one more state takes, about.
    pub(crate) fn bytes_per_state(&self) -> u64 {
        8 * self.words as u64 + 8 + 10
    }
}
