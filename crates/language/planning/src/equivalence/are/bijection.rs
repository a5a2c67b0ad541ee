//! The best bijection between the parameters of two actions: depth first, one parameter of the original after the other, cut off where
//! what is still open cannot make it better than the best so far.

use super::{Element, Part, Shape};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// Most parameters of an action for which bijections are searched: all pairs of parameters are listed.
const MOST_PARAMETERS: usize = 500;

/// The parameters of an element.
type Holes = SmallVec<[usize; 4]>;

/// The bijection with the minimum error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::equivalence) struct Best {
    /// By parameter of the original, the other's.
    pub(in crate::equivalence) parameters: Vec<usize>,
    /// The sum of the weights of the pairs.
    pub(in crate::equivalence) weight: u64,
    /// Elements that are not shared.
    pub(in crate::equivalence) error: usize,
    /// True if no bijection was left out.
    pub(in crate::equivalence) exact: bool,
    /// Number of partial bijections tried.
    pub(in crate::equivalence) choices: u64,
}

/// Bijections between the parameters of two actions: of those with the greatest weight the one that shares most elements, and of
/// those the one that keeps positions, or else the first in the order of places.
pub(in crate::equivalence) struct Bijections {
    /// By parameter of the original, the others that it may be, with the weights.
    options: Vec<Vec<(usize, u32)>>,
    /// True if both have as many parameters, at most [`MOST_PARAMETERS`].
    same_length: bool,
    /// By parameter of the original, its elements whose last parameter it is; only those whose text the other has too.
    complete: Vec<Vec<(u32, Holes)>>,
    /// Number of elements that are shared under every bijection.
    fixed: usize,
    /// Elements of the other.
    other: FxHashSet<(u32, Holes)>,
    /// Number of elements of both.
    elements: usize,
    /// By parameter, the greatest weight that it and those after it can add, and the most elements.
    ahead: Vec<(u64, usize)>,
}

/// A search under way.
struct BijectionSearch<'b> {
    bijections: &'b Bijections,
    map: Vec<usize>,
    taken: Vec<bool>,
    best: Option<((u64, usize), Vec<usize>)>,
    choices: u64,
    max_choices: u64,
}

impl Bijections {
    /// Prepares two actions: which parameters may be the same, and how much that is worth.
    pub(in crate::equivalence) fn new(
        original: &Shape,
        other: &Shape,
        allowed: &dyn Fn(usize, usize) -> bool,
        weight: &dyn Fn(usize, usize) -> u32,
    ) -> Self {
        let mut numbers: FxHashMap<(Part, &str), u32> = FxHashMap::default();
        for element in &other.elements {
            let next = numbers.len() as u32;
            numbers.entry((element.part, element.text.as_str())).or_insert(next);
        }
        let number = |e: &Element| numbers.get(&(e.part, e.text.as_str())).copied();
        let holes = |e: &Element| Holes::from_slice(&e.holes);
        let set = other.elements.iter().filter_map(|e| Some((number(e)?, holes(e)))).collect();
        let count = original.names.len();
        let same_length = count == other.names.len() && count <= MOST_PARAMETERS;
        let others = if same_length { count } else { 0 };
        let (mut complete, mut fixed) = (vec![Vec::new(); count], 0);
        for element in &original.elements {
            let Some(number) = number(element) else { continue };
            match element.holes.iter().max() {
                Some(&last) => complete[last].push((number, holes(element))),
                None => fixed += 1,
            }
        }
        let options: Vec<Vec<(usize, u32)>> = (0..count)
            .map(|i| (0..others).filter(|&j| allowed(i, j)).map(|j| (j, weight(i, j))).collect())
            .collect();
        let mut ahead = vec![(0, 0); count + 1];
        for i in (0..count).rev() {
            let most = options[i].iter().map(|o| u64::from(o.1)).max().unwrap_or(0);
            ahead[i] = (ahead[i + 1].0 + most, ahead[i + 1].1 + complete[i].len());
        }
        Bijections {
            options,
            same_length,
            complete,
            fixed,
            other: set,
            elements: original.elements.len() + other.elements.len(),
            ahead,
        }
    }

    /// The best bijection; `None` where there is none. After `max_choices` the best so far, once there is one.
    pub(in crate::equivalence) fn best(&self, max_choices: u64) -> Option<Best> {
        if !self.same_length || !self.is_possible() {
            return None;
        }
        let count = self.options.len();
        let taken = vec![false; count];
        let mut search = BijectionSearch {
            bijections: self,
            map: Vec::with_capacity(count),
            taken,
            best: None,
            choices: 0,
            max_choices,
        };
        search.positions();
        let exact = search.extend((0, self.fixed));
        let ((weight, shared), parameters) = search.best?;
        let error = self.elements - 2 * shared;
        Some(Best { parameters, weight, error, exact, choices: search.choices })
    }

    /// Returns true if a bijection exists. Without one a search would try every prefix, and the limit on
    /// choices applies only after the first bijection.
    fn is_possible(&self) -> bool {
        let count = self.options.len();
        let mut holders = vec![None; count];
        (0..count).all(|i| self.place(i, &mut holders, &mut vec![false; count]))
    }

    /// Gives a parameter one of the others, which may make the one that holds it move on to another.
    fn place(&self, i: usize, holders: &mut [Option<usize>], tried: &mut [bool]) -> bool {
        let options = self.options[i].iter().map(|option| option.0);
        if let Some(free) = options.clone().find(|&j| holders[j].is_none()) {
            holders[free] = Some(i);
            return true;
        }
        for j in options {
            if std::mem::replace(&mut tried[j], true) {
                continue;
            }
            if holders[j].is_none_or(|holder| self.place(holder, holders, tried)) {
                holders[j] = Some(i);
                return true;
            }
        }
        false
    }

    /// Elements of the original that a parameter completes and that the other has.
    fn count_shared(&self, parameter: usize, map: &[usize]) -> usize {
        let is_shared = |(number, holes): &&(u32, Holes)| {
            let mapped: Holes = holes.iter().map(|&i| map[i]).collect();
            self.other.contains(&(*number, mapped))
        };
        self.complete[parameter].iter().filter(is_shared).count()
    }
}

impl BijectionSearch<'_> {
    /// Takes the bijection that keeps positions for the best so far, where it is one.
    fn positions(&mut self) {
        let mut value = (0, self.bijections.fixed);
        let map: Vec<usize> = (0..self.bijections.options.len()).collect();
        for i in 0..map.len() {
            let Some((_, weight)) = self.bijections.options[i].iter().find(|o| o.0 == i) else { return };
            value = (value.0 + u64::from(*weight), value.1 + self.bijections.count_shared(i, &map));
        }
        self.best = Some((value, map));
    }

    /// Tries everything for the next parameter; whether nothing was left out.
    fn extend(&mut self, value: (u64, usize)) -> bool {
        let next = self.map.len();
        let (weight, shared) = self.bijections.ahead[next];
        let bound = (value.0 + weight, value.1 + shared);
        if self.best.as_ref().is_some_and(|(best, _)| bound <= *best) {
            return true;
        }
        if next == self.bijections.options.len() {
            self.best = Some((value, self.map.clone()));
            return true;
        }
        for &(other, weight) in &self.bijections.options[next] {
            if self.taken[other] {
                continue;
            }
            if self.choices >= self.max_choices && self.best.is_some() {
                return false;
            }
            self.choices += 1;
            self.taken[other] = true;
            self.map.push(other);
            let shared = self.bijections.count_shared(next, &self.map);
            let whole = self.extend((value.0 + u64::from(weight), value.1 + shared));
            self.map.pop();
            self.taken[other] = false;
            if !whole {
                return false;
            }
        }
        true
    }
}
