//! Derived facts: what follows from the basic facts of a state, computed anew or from the state before.

use crate::bits;
use crate::csr::Csr;
use crate::task::{Condition, Fact, GroundTask};
use planforge_pddl::Number;

/// The axioms of a task, ready to evaluate. Facts that depend on each other are one component, and a component comes after those that it
/// depends on.
#[derive(Debug, Clone)]
pub(crate) struct AxiomEvaluator {
    /// By component.
    axioms: Vec<Compiled>,
    components: Vec<Component>,
    /// Derived facts by component.
    heads: Vec<Fact>,
    /// Fact to the other components whose axioms mention it.
    affected: Csr,
    /// For each derived fact, counted from the first derived one, the axioms of its component that depend on it.
    watchers: Csr,
    basic: usize,
    facts: usize,
}

#[derive(Debug, Clone)]
struct Compiled {
    head: Fact,
    /// The literals that the component does not derive.
    fixed: Condition,
    /// Number of body literals that the component derives.
    open: u32,
}

/// Ends of the axioms and heads of a component, which begin where those of the component before it end.
#[derive(Debug, Clone, Copy)]
struct Component {
    axioms: usize,
    heads: usize,
    is_recursive: bool,
}

impl AxiomEvaluator {
    pub(crate) fn new(task: &GroundTask) -> Self {
        let (basic, facts) = (task.basic_facts, task.facts.len());
        let count = facts - basic;
        let body =
            |c: &Condition| -> Vec<Fact> { c.positive.iter().chain(c.negative.iter()).copied().collect() };
        let mut needs = vec![Vec::new(); count];
        for axiom in &task.axioms {
            let derived = body(&axiom.condition).into_iter().filter(|&f| f as usize >= basic);
            needs[axiom.head as usize - basic].extend(derived.map(|f| f - basic as u32));
        }
        let component_of = components(&Csr::from_rows(needs.iter().map(Vec::as_slice)));
        let of = |fact: Fact| (fact as usize).checked_sub(basic).map(|d| component_of[d]);
        let mut order: Vec<usize> = (0..task.axioms.len()).collect();
        order.sort_by_key(|&a| of(task.axioms[a].head));
        let mut heads: Vec<Fact> = (basic as Fact..facts as Fact).collect();
        heads.sort_by_key(|&f| of(f));
        let total = component_of.iter().max().map_or(0, |&last| last as usize + 1);
        let mut ends = vec![Component { axioms: 0, heads: 0, is_recursive: false }; total];
        for &head in &heads {
            of(head).into_iter().for_each(|c| ends[c as usize].heads += 1);
        }
        let mut mentions = vec![Vec::new(); total];
        let (mut axioms, mut own) = (Vec::new(), Csr::new());
        for axiom in order.into_iter().map(|a| &task.axioms[a]) {
            let component = of(axiom.head);
            let Some(c) = component.map(|c| c as usize) else { continue };
            let is_own = |f: &Fact| of(*f) == component;
            let open: Vec<u32> =
                axiom.condition.positive.iter().filter(|f| is_own(f)).map(|f| f - basic as u32).collect();
            mentions[c].extend(body(&axiom.condition).into_iter().filter(|f| !is_own(f)));
            let positive = axiom.condition.positive.iter().filter(|f| !is_own(f)).copied().collect();
            own.push_row(&open);
            ends[c].axioms += 1;
            ends[c].is_recursive |= !open.is_empty();
            let fixed = Condition { positive, ..axiom.condition.clone() };
            axioms.push(Compiled { head: axiom.head, fixed, open: open.len() as u32 });
        }
        for c in 1..total {
            ends[c].axioms += ends[c - 1].axioms;
            ends[c].heads += ends[c - 1].heads;
        }
        for list in &mut mentions {
            list.sort_unstable();
            list.dedup();
        }
        AxiomEvaluator {
            axioms,
            components: ends,
            heads,
            affected: Csr::from_rows(mentions.iter().map(Vec::as_slice)).transpose(facts),
            watchers: own.transpose(count),
            basic,
            facts,
        }
    }

    /// Sets the derived facts to what follows from the basic ones.
    pub(crate) fn close(&self, facts: &mut [u64], numbers: &[Number]) {
        (self.basic..self.facts).for_each(|f| bits::clear(facts, f as u32));
        (0..self.components.len()).for_each(|c| self.derive(c, facts, numbers));
    }

    /// [`Self::close`] of a state that has the derived facts of `before`, a closed state. Components without a change in what they
    /// depend on are left alone.
    pub(crate) fn update(&self, before: &[u64], facts: &mut [u64]) {
        if self.components.is_empty() {
            return;
        }
        let mut open = smallvec::SmallVec::<[u64; 16]>::from_elem(0, bits::words_for(self.components.len()));
        for (w, (old, new)) in before.iter().zip(facts.iter()).enumerate() {
            for bit in bits::ones(&[old ^ new]) {
                let fact = w << 6 | bit as usize;
                self.affected.row(fact).iter().for_each(|&c| bits::set(&mut open, c));
            }
        }
        // What a component affects comes after it.
        let mut w = 0;
        while w < open.len() {
            if open[w] == 0 {
                w += 1;
                continue;
            }
            let c = w << 6 | open[w].trailing_zeros() as usize;
            open[w] &= open[w] - 1;
            self.derive(c, facts, &[]);
            for &head in self.heads_of(c) {
                if bits::get(before, head) != bits::get(facts, head) {
                    self.affected.row(head as usize).iter().for_each(|&next| bits::set(&mut open, next));
                }
            }
        }
    }

    fn heads_of(&self, c: usize) -> &[Fact] {
        let start = c.checked_sub(1).map_or(0, |b| self.components[b].heads);
        &self.heads[start..self.components[c].heads]
    }

    /// Sets the facts of a component.
    fn derive(&self, c: usize, facts: &mut [u64], numbers: &[Number]) {
        let start = c.checked_sub(1).map_or(0, |b| self.components[b].axioms);
        let axioms = &self.axioms[start..self.components[c].axioms];
        self.heads_of(c).iter().for_each(|&head| bits::clear(facts, head));
        if !self.components[c].is_recursive {
            if let Some(axiom) = axioms.iter().find(|axiom| axiom.fixed.holds(facts, numbers)) {
                bits::set(facts, axiom.head);
            }
            return;
        }
        let mut queue = Vec::new();
        let mut open = Vec::with_capacity(axioms.len());
        for axiom in axioms {
            let holds = axiom.fixed.holds(facts, numbers);
            open.push(if holds { axiom.open } else { u32::MAX });
            if holds && axiom.open == 0 {
                queue.push(axiom.head);
            }
        }
        while let Some(head) = queue.pop() {
            if bits::get(facts, head) {
                continue;
            }
            bits::set(facts, head);
            for &axiom in self.watchers.row(head as usize - self.basic) {
                let left = &mut open[axiom as usize - start];
                if *left != u32::MAX {
                    *left -= 1;
                    if *left == 0 {
                        queue.push(self.axioms[axiom as usize].head);
                    }
                }
            }
        }
    }
}

/// The strongly connected component of each node, numbered so that a component comes after those that it needs.
fn components(needs: &Csr) -> Vec<u32> {
    let nodes = needs.len();
    let used_by = needs.transpose(nodes);
    let mut order = Vec::with_capacity(nodes);
    let mut seen = vec![false; nodes];
    let mut stack = Vec::new();
    for root in 0..nodes as u32 {
        if std::mem::replace(&mut seen[root as usize], true) {
            continue;
        }
        stack.push((root, 0));
        while let Some((node, edge)) = stack.last_mut() {
            match used_by.row(*node as usize).get(*edge) {
                Some(&next) => {
                    *edge += 1;
                    if !std::mem::replace(&mut seen[next as usize], true) {
                        stack.push((next, 0));
                    }
                }
                None => {
                    order.push(*node);
                    stack.pop();
                }
            }
        }
    }
    let mut component = vec![u32::MAX; nodes];
    let mut count = 0;
    let mut stack = Vec::new();
    for &root in order.iter().rev() {
        if component[root as usize] != u32::MAX {
            continue;
        }
        component[root as usize] = count;
        stack.push(root);
        while let Some(node) = stack.pop() {
            for &before in needs.row(node as usize) {
                if component[before as usize] == u32::MAX {
                    component[before as usize] = count;
                    stack.push(before);
                }
            }
        }
        count += 1;
    }
    component
}
