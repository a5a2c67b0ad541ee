//! A state that is executed without grounding: atoms by predicate, numbers by function term, derived atoms on demand.

use crate::lifted::{DerivedRule, Formula, LiftedAtom, LiftedExpr, LiftedTask, Term, Variable};
use crate::task::ObjectId;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::ops::Deref;

/// Arguments of an atom.
pub(crate) type Args = SmallVec<[ObjectId; 6]>;

/// A state of a task that is borrowed or shared.
#[derive(Debug, Clone)]
pub(crate) struct World<T> {
    task: T,
    facts: Vec<FxHashSet<Args>>,
    numbers: FxHashMap<(u32, Args), f64>,
    /// Steps executed so far.
    pub(crate) steps: usize,
    /// True if `facts` contains the derived atoms of the current state.
    closed: bool,
}

/// The arguments of an atom under a binding.
pub(crate) fn args_of(atom: &LiftedAtom, binding: &[ObjectId]) -> Args {
    atom.args.iter().map(|t| t.object(binding)).collect()
}

impl<T: Deref<Target = LiftedTask>> World<T> {
    pub(crate) fn initial(task: T) -> Self {
        let mut facts = vec![FxHashSet::default(); task.predicates.len()];
        for atom in &task.init {
            facts[atom.predicate as usize].insert(Args::from_slice(&atom.args));
        }
        let numbers =
            task.init_numbers.iter().map(|(t, v)| ((t.predicate, Args::from_slice(&t.args)), *v)).collect();
        let mut world = World { facts, numbers, steps: 0, closed: false, task };
        world.close();
        world
    }

    /// The atoms of a predicate that hold.
    pub(crate) fn rows(&self, predicate: u32) -> &FxHashSet<Args> {
        &self.facts[predicate as usize]
    }

    pub(crate) fn contains(&self, predicate: u32, args: &Args) -> bool {
        self.facts[predicate as usize].contains(args)
    }

    pub(crate) fn insert(&mut self, predicate: u32, args: Args) -> bool {
        self.closed = false;
        self.facts[predicate as usize].insert(args)
    }

    pub(crate) fn remove(&mut self, predicate: u32, args: &Args) -> bool {
        self.closed = false;
        self.facts[predicate as usize].remove(args)
    }

    pub(crate) fn number(&self, function: u32, args: &Args) -> f64 {
        self.numbers.get(&(function, args.clone())).copied().unwrap_or(f64::NAN)
    }

    pub(crate) fn set_number(&mut self, function: u32, args: Args, value: f64) {
        self.closed = false;
        self.numbers.insert((function, args), value);
    }

    /// Returns true if a condition holds.
    pub(crate) fn holds(&self, formula: &Formula, binding: &mut [ObjectId]) -> bool {
        match formula {
            Formula::And(parts) => parts.iter().all(|p| self.holds(p, binding)),
            Formula::Or(parts, _) => parts.iter().any(|p| self.holds(p, binding)),
            Formula::Literal { atom, negated, .. } => {
                self.contains(atom.predicate, &args_of(atom, binding)) != *negated
            }
            Formula::Equal { left, right, negated, .. } => {
                (left.object(binding) == right.object(binding)) != *negated
            }
            Formula::Compare { comparison, left, right, .. } => {
                comparison.holds(self.value(left, binding), self.value(right, binding))
            }
            Formula::Exists(variables, body, _) => {
                any_binding(variables, binding, &mut |b| self.holds(body, b))
            }
            Formula::Forall(variables, body, _) => {
                !any_binding(variables, binding, &mut |b| !self.holds(body, b))
            }
        }
    }

    /// The value of an expression, NaN where undefined.
    pub(crate) fn value(&self, expr: &LiftedExpr, binding: &[ObjectId]) -> f64 {
        match expr {
            LiftedExpr::Constant(c) => *c,
            LiftedExpr::Steps => self.steps as f64,
            LiftedExpr::Function(term) => self.number(term.predicate, &args_of(term, binding)),
            LiftedExpr::Binary(op, sides) => {
                op.apply(self.value(&sides.0, binding), self.value(&sides.1, binding))
            }
        }
    }

    /// Derives atoms by the rules, stratum by stratum. Does nothing for tasks without rules.
    pub(crate) fn close(&mut self) {
        if self.closed || self.task.rules.is_empty() {
            self.closed = true;
            return;
        }
        for rule in &self.task.rules {
            self.facts[rule.predicate as usize].clear();
        }
        let rules = &self.task.rules;
        let mut start = 0;
        while start < rules.len() {
            let end = start + rules[start..].iter().take_while(|r| r.stratum == rules[start].stratum).count();
            loop {
                let mut found = Vec::new();
                for rule in &rules[start..end] {
                    self.consequences(rule, &mut found);
                }
                let mut changed = false;
                for (predicate, args) in found {
                    changed |= self.facts[predicate as usize].insert(args);
                }
                if !changed {
                    break;
                }
            }
            start = end;
        }
        self.closed = true;
    }

    /// Heads of a rule that are not known yet.
    fn consequences(&self, rule: &DerivedRule, found: &mut Vec<(u32, Args)>) {
        let guards: Vec<&LiftedAtom> = match &rule.body {
            Formula::And(parts) => parts.iter().filter_map(positive).collect(),
            single => positive(single).into_iter().collect(),
        };
        let mut binding = vec![ObjectId::MAX; rule.slots];
        self.join(rule, &guards, &mut binding, found);
    }

    /// Binds the rule's variables through the positive atoms of its body, then the rest over the objects.
    fn join(
        &self,
        rule: &DerivedRule,
        guards: &[&LiftedAtom],
        binding: &mut [ObjectId],
        found: &mut Vec<(u32, Args)>,
    ) {
        let own = |slot: u32| (slot as usize) < rule.variables.len();
        let open = |t: &Term, b: &[ObjectId]| matches!(t, Term::Slot(s) if b[*s as usize] == ObjectId::MAX);
        let Some((guard, rest)) = guards.split_first() else {
            let free = rule.variables.iter().find(|v| binding[v.slot as usize] == ObjectId::MAX);
            if let Some(variable) = free {
                for &object in variable.objects.iter() {
                    binding[variable.slot as usize] = object;
                    self.join(rule, guards, binding, found);
                }
                binding[variable.slot as usize] = ObjectId::MAX;
                return;
            }
            let args: Args = rule.variables.iter().map(|v| binding[v.slot as usize]).collect();
            if !self.contains(rule.predicate, &args) && self.holds(&rule.body, binding) {
                found.push((rule.predicate, args));
            }
            return;
        };
        if !guard.args.iter().any(|t| open(t, binding)) {
            if self.contains(guard.predicate, &args_of(guard, binding)) {
                self.join(rule, rest, binding, found);
            }
            return;
        }
        for row in &self.facts[guard.predicate as usize] {
            let mut bound: SmallVec<[u32; 6]> = SmallVec::new();
            let fits = guard.args.iter().zip(row).all(|(term, &object)| match term {
                Term::Slot(slot) if binding[*slot as usize] == ObjectId::MAX => {
                    binding[*slot as usize] = object;
                    bound.push(*slot);
                    own(*slot) && rule.variables[*slot as usize].objects.binary_search(&object).is_ok()
                }
                _ => term.object(binding) == object,
            });
            if fits {
                self.join(rule, rest, binding, found);
            }
            bound.iter().for_each(|&slot| binding[slot as usize] = ObjectId::MAX);
        }
    }
}

fn positive(formula: &Formula) -> Option<&LiftedAtom> {
    match formula {
        Formula::Literal { atom, negated: false, .. } => Some(atom),
        _ => None,
    }
}

/// Returns true if `test` holds for some binding of the variables.
pub(crate) fn any_binding(
    variables: &[Variable],
    binding: &mut [ObjectId],
    test: &mut impl FnMut(&mut [ObjectId]) -> bool,
) -> bool {
    let Some((first, rest)) = variables.split_first() else { return test(binding) };
    for &object in first.objects.iter() {
        binding[first.slot as usize] = object;
        if any_binding(rest, binding, test) {
            return true;
        }
    }
    false
}
