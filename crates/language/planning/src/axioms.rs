//! Derived facts of a state: axioms evaluated stratum by stratum.

use crate::bits;
use crate::csr::Csr;
use crate::task::{Fact, GroundTask};

/// The axioms of a task, ready to evaluate.
#[derive(Debug, Clone)]
pub(crate) struct AxiomEvaluator {
    axioms: Vec<Compiled>,
    /// Index of each stratum's first axiom in `axioms`, then the number of axioms.
    strata: Vec<usize>,
    /// For each derived fact, counted from the first derived one, the axioms of its stratum that depend on
    /// it.
    watchers: Csr,
    basic: usize,
    facts: usize,
}

#[derive(Debug, Clone)]
struct Compiled {
    head: Fact,
    /// The literals that no axiom of the stratum can change any more.
    fixed: crate::task::Condition,
    /// Number of unmet body literals that are facts of the same stratum.
    open: u32,
}

impl AxiomEvaluator {
    pub(crate) fn new(task: &GroundTask) -> Self {
        let mut stratum_of = vec![u32::MAX; task.facts.len()];
        for axiom in &task.axioms {
            stratum_of[axiom.head as usize] = axiom.stratum;
        }
        let mut axioms = Vec::new();
        let mut strata = vec![0];
        let mut needs = Csr::new();
        for (i, axiom) in task.axioms.iter().enumerate() {
            if i > 0 && task.axioms[i - 1].stratum != axiom.stratum {
                strata.push(i);
            }
            let own = |f: &&Fact| stratum_of[**f as usize] == axiom.stratum;
            let open: Vec<u32> =
                axiom.condition.positive.iter().filter(own).map(|f| f - task.basic_facts as u32).collect();
            let mut fixed = axiom.condition.clone();
            fixed.positive = axiom.condition.positive.iter().filter(|f| !own(f)).copied().collect();
            needs.push_row(&open);
            axioms.push(Compiled { head: axiom.head, fixed, open: open.len() as u32 });
        }
        strata.push(axioms.len());
        let watchers = needs.transpose(task.facts.len() - task.basic_facts);
        AxiomEvaluator { axioms, strata, watchers, basic: task.basic_facts, facts: task.facts.len() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.basic == self.facts
    }

    /// Sets the derived facts to what follows from the basic ones.
    pub(crate) fn close(&self, facts: &mut [u64], numbers: &[planforge_pddl::Number]) {
        if self.is_empty() {
            return;
        }
        (self.basic..self.facts).for_each(|f| bits::clear(facts, f as u32));
        let mut open = vec![u32::MAX; self.axioms.len()];
        let mut queue = Vec::new();
        for range in self.strata.windows(2) {
            let stratum = range[0]..range[1];
            for (axiom, left) in self.axioms[stratum.clone()].iter().zip(&mut open[stratum]) {
                if axiom.fixed.holds(facts, numbers) {
                    *left = axiom.open;
                    if *left == 0 {
                        queue.push(axiom.head);
                    }
                }
            }
            while let Some(head) = queue.pop() {
                if bits::get(facts, head) {
                    continue;
                }
                bits::set(facts, head);
                for &axiom in self.watchers.row(head as usize - self.basic) {
                    let axiom = axiom as usize;
                    if open[axiom] != u32::MAX {
                        open[axiom] -= 1;
                        if open[axiom] == 0 {
                            queue.push(self.axioms[axiom].head);
                        }
                    }
                }
            }
        }
    }
}
