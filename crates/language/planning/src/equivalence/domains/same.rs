//! Equality of two ground tasks up to the order of their parts, which makes a search unnecessary.

use super::ready::Ready;
use crate::task::{Condition, Fact, GroundTask, NumExpr, NumVar};
use planforge_pddl::Number;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Returns true if both have the same relevant facts, by name, and the same operators, rules, goal and
/// initial values over them. Sound and cheap, but incomplete: models that differ and still behave alike are
/// not recognised.
pub(super) fn same(first: &Ready, second: &Ready, priced: bool) -> bool {
    let Some(numbers) = numbers_by_name(first) else { return false };
    match (form(first, &numbers, priced), form(second, &numbers, priced)) {
        (Some(a), Some(b)) => a == b,
        _ => false,
    }
}

/// A fact's name to its number in the first task; `None` where two facts have one name.
fn numbers_by_name(ready: &Ready) -> Option<FxHashMap<String, u32>> {
    let mut numbers = FxHashMap::default();
    for (fact, name) in named_facts(ready) {
        if numbers.insert(name, fact).is_some() {
            return None;
        }
    }
    Some(numbers)
}

fn named_facts(ready: &Ready) -> impl Iterator<Item = (Fact, String)> {
    let task = ready.simulator.task();
    let of = move |(f, atom)| (f as Fact, task.symbols.atom(atom).to_lowercase());
    task.facts.iter().enumerate().filter(|(f, _)| ready.relevant[*f]).map(of)
}

/// A condition over common numbers.
type Literals = (Vec<u32>, Vec<u32>, Vec<String>);

/// One operator over common numbers.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct NamedRule {
    action: u32,
    when: Literals,
    add: Vec<u32>,
    delete: Vec<u32>,
    conditional: Vec<(Literals, Vec<u32>, Vec<u32>)>,
    /// In the order written, for that is how they take place.
    numeric: Vec<String>,
    /// Numerator and denominator.
    cost: (i128, i128),
}

/// A task over common indices, in canonical order.
#[derive(PartialEq, Eq)]
struct Form {
    rules: Vec<NamedRule>,
    axioms: Vec<(u32, u32, Literals)>,
    init: Vec<u32>,
    numbers: BTreeMap<String, Number>,
    /// `None` where the goal cannot be reached.
    goal: Option<Literals>,
}

struct Names<'t> {
    task: &'t GroundTask,
    /// By fact; `u32::MAX` for those that do not matter.
    common: Vec<u32>,
}

/// `None` where the task has a fact that matters and that the first task does not have, or two of one name.
fn form(ready: &Ready, numbers: &FxHashMap<String, u32>, priced: bool) -> Option<Form> {
    let task: &GroundTask = ready.simulator.task();
    let mut common = vec![u32::MAX; task.facts.len()];
    let mut met = vec![false; common.len().max(numbers.len())];
    for (fact, name) in named_facts(ready) {
        let number = *numbers.get(&name)?;
        if met.len() <= number as usize {
            met.resize(number as usize + 1, false);
        }
        if std::mem::replace(&mut met[number as usize], true) {
            return None;
        }
        common[fact as usize] = number;
    }
    let names = Names { task, common };
    let mut rules = Vec::with_capacity(task.operators.len());
    for (number, operator) in task.operators.iter().enumerate() {
        let action = ready.rank[operator.action as usize];
        if action != super::ready::NONE {
            rules.push(names.rule(number, action, priced));
        }
    }
    rules.sort_unstable();
    rules.dedup();
    let axioms = task.axioms.iter();
    let mut axioms: Vec<_> =
        axioms.map(|a| (a.stratum, names.common[a.head as usize], names.literals(&a.condition))).collect();
    axioms.sort_unstable();
    axioms.dedup();
    let defined = |(v, n): (usize, &Number)| (names.variable(v as NumVar), *n);
    Some(Form {
        rules,
        axioms,
        init: names.list(&task.init),
        numbers: task
            .init_numbers
            .iter()
            .enumerate()
            .filter(|(_, n)| !n.is_undefined())
            .map(defined)
            .collect(),
        goal: (!task.goal_unreachable).then(|| names.literals(&task.goal)),
    })
}

impl Names<'_> {
    fn list(&self, facts: &[Fact]) -> Vec<u32> {
        let mut list: Vec<u32> = facts.iter().map(|&f| self.common[f as usize]).collect();
        list.sort_unstable();
        list.dedup();
        list
    }

    fn rule(&self, number: usize, action: u32, priced: bool) -> NamedRule {
        let operator = &self.task.operators[number];
        let own = &operator.precondition;
        // An atom that holds already is not an effect, unless another effect of the step could undo it.
        let plain = operator.conditional.is_empty();
        let new = |list: &[Fact], held: &[Fact]| -> Vec<Fact> {
            list.iter().copied().filter(|f| !plain || held.binary_search(f).is_err()).collect()
        };
        let effects = operator.conditional.iter();
        let mut conditional: Vec<_> =
            effects.map(|e| (self.literals(&e.condition), self.list(&e.add), self.list(&e.delete))).collect();
        conditional.sort_unstable();
        conditional.dedup();
        let numeric = operator.numeric.iter().map(|e| {
            let (positive, negative, numbers) = self.literals(&e.condition);
            let value = self.expression(&e.value);
            let how = e.op.as_str();
            format!("{positive:?} {negative:?} {numbers:?} {how} {} {value}", self.variable(e.variable))
        });
        NamedRule {
            action,
            when: self.literals(own),
            add: self.list(&new(&operator.add, &own.positive)),
            delete: self.list(&new(&operator.delete, &own.negative)),
            conditional,
            numeric: numeric.collect(),
            cost: match priced {
                true => Number::fraction(i128::from(operator.cost), i128::from(self.task.cost_scale))
                    .parts()
                    .unwrap_or_default(),
                false => (0, 1),
            },
        }
    }

    fn literals(&self, condition: &Condition) -> Literals {
        let compared = condition.numeric.iter().map(|c| {
            format!("{} {} {}", self.expression(&c.left), c.comparison.as_str(), self.expression(&c.right))
        });
        let mut numeric: Vec<String> = compared.collect();
        numeric.sort_unstable();
        numeric.dedup();
        (self.list(&condition.positive), self.list(&condition.negative), numeric)
    }

    fn variable(&self, variable: NumVar) -> String {
        self.task.symbols.function_term(&self.task.variables[variable as usize]).to_lowercase()
    }

    fn expression(&self, expression: &NumExpr) -> String {
        match expression {
            NumExpr::Constant(c) => format!("{c:?}"),
            NumExpr::Variable(v) => self.variable(*v),
            NumExpr::Steps => "steps".to_owned(),
            NumExpr::Binary(op, sides) => {
                format!("({} {} {})", op.as_str(), self.expression(&sides.0), self.expression(&sides.1))
            }
        }
    }
}
