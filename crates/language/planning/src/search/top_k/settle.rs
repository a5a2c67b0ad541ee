//! Makes all bounds exact at once.
//!
//! Examining candidates raises bounds step by step. Around a cycle that leads nowhere, or that costs next to
//! nothing, this could take very long or not end. So after many examinations without result, the minimum
//! weight of each state's next suffix is computed over the expanded states: shortest paths, backwards, from
//! listed suffixes and from the bounds of unexpanded states. The next examination then expands a state or
//! lists a suffix.

use super::super::cost::Cost;
use super::super::node_table::NONE;
use super::super::watch::LimitWatch;
use super::Weight;
use super::suffixes::{Candidate, Suffixes};
use crate::resources::StopReason;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A candidate whose weight depends on the next suffix of another state that is expanded too.
#[derive(Clone, Copy)]
struct Dependent<C> {
    /// Place of the state that has the candidate.
    place: u32,
    /// Cost of its step.
    cost: C,
}

impl<C: Cost> Suffixes<'_, '_, C> {
    /// Sets the bounds of all expanded states, and what their candidates weigh, to the exact values.
    pub(super) fn settle(&mut self, watch: &mut LimitWatch<'_>) -> Result<(), StopReason> {
        let mut weights = vec![Weight::INFINITE; self.opened.len()];
        let mut queue = BinaryHeap::new();
        let mut start = vec![0u32; self.opened.len() + 1];
        self.for_each(|suffixes, place, candidate| match suffixes.depends_on(candidate) {
            Some(on) => start[on as usize + 1] += 1,
            None => {
                weights[place] =
                    weights[place].min(suffixes.weight(candidate).0.max(suffixes.bound_at(place)))
            }
        });
        for i in 1..start.len() {
            start[i] += start[i - 1];
        }
        let count = start.last().copied().unwrap_or(0) as usize;
        let bytes = (count * size_of::<Dependent<C>>() + weights.len() * 40) as u64;
        watch.charge(bytes.saturating_sub(self.settle_bytes))?;
        self.settle_bytes = self.settle_bytes.max(bytes);
        let mut dependents = vec![Dependent { place: 0, cost: C::default() }; count];
        let mut next = start.clone();
        self.for_each(|suffixes, place, candidate| {
            if let Some(on) = suffixes.depends_on(candidate) {
                let cost = suffixes.edges[candidate.edge as usize].cost;
                dependents[next[on as usize] as usize] = Dependent { place: place as u32, cost };
                next[on as usize] += 1;
            }
        });
        for (place, &weight) in weights.iter().enumerate().filter(|(_, w)| **w != Weight::INFINITE) {
            queue.push(Reverse((weight, place as u32)));
        }
        while let Some(Reverse((weight, place))) = queue.pop() {
            let p = place as usize;
            if weights[p] < weight {
                continue;
            }
            for dependent in &dependents[start[p] as usize..start[p + 1] as usize] {
                let through =
                    weight.with_step(dependent.cost.into()).max(self.bound_at(dependent.place as usize));
                let known = &mut weights[dependent.place as usize];
                if through < *known {
                    *known = through;
                    queue.push(Reverse((through, dependent.place)));
                }
            }
        }
        watch.poll()?;
        for (opened, &weight) in self.opened.iter().zip(&weights) {
            self.bounds[opened.state as usize] = weight;
        }
        for (place, &weight) in weights.iter().enumerate() {
            let mut candidates = std::mem::take(&mut self.opened[place].candidates).into_vec();
            candidates.iter_mut().for_each(|c| c.0.weight = self.weight(c.0).0.max(weight));
            candidates.retain(|c| c.0.weight != Weight::INFINITE);
            self.opened[place].candidates = BinaryHeap::from(candidates);
        }
        Ok(())
    }

    /// Returns the lower bound on the next suffix of an expanded state. Exact values are not lower.
    fn bound_at(&self, place: usize) -> Weight<C::Total> {
        self.bounds[self.opened[place].state as usize]
    }

    /// Calls `f` with the place of each expanded state and each of its candidates.
    fn for_each(&self, mut f: impl FnMut(&Self, usize, Candidate<C::Total>)) {
        for (place, opened) in self.opened.iter().enumerate() {
            opened.candidates.iter().for_each(|candidate| f(self, place, candidate.0));
        }
    }

    /// The place of the expanded state on whose next suffix a candidate's weight depends.
    fn depends_on(&self, candidate: Candidate<C::Total>) -> Option<u32> {
        if candidate.edge == NONE {
            return None;
        }
        let to = self.edges[candidate.edge as usize].to;
        let place = self.place[to as usize];
        (place != NONE && self.listed_suffix(to, candidate.nth).is_none()).then_some(place)
    }
}
