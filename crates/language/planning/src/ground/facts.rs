//! Selects the ground atoms that become facts of the task: reachable, and neither static nor always true.

use super::table::Table;
use crate::lifted::{LiftedAtom, LiftedTask};
use crate::task::{Atom, Fact, NumExpr, NumVar, ObjectId, Symbols};
use planforge_pddl::Number;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

const ALWAYS: u32 = u32::MAX;

/// Value of a ground atom: constant or a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FactRef {
    /// True in every reachable state.
    Always,
    /// False in every reachable state.
    Never,
    /// The atom is a fact of the task.
    Fact(Fact),
}

/// Numbering of facts and numeric variables.
pub(crate) struct Facts {
    tables: Vec<Table>,
    /// For each predicate's row its fact, or `ALWAYS`.
    numbers: Vec<Vec<u32>>,
    pub(crate) atoms: Vec<Atom>,
    pub(crate) basic: usize,
    variables: FxHashMap<Atom, NumVar>,
    pub(crate) variable_terms: Vec<Atom>,
    values: FxHashMap<Atom, Number>,
    function_fluent: Vec<bool>,
    predicates: u32,
    invented: u32,
}

impl Facts {
    /// Numbers the reachable atoms of fluent predicates: first those that operators change, then the derived
    /// ones. `deletable` is true for each row of each predicate that some effect deletes.
    pub(crate) fn new(task: &LiftedTask, tables: Vec<Table>, deletable: &[Vec<bool>]) -> Self {
        let mut facts = Facts {
            tables,
            numbers: Vec::new(),
            atoms: Vec::new(),
            basic: 0,
            variables: FxHashMap::default(),
            variable_terms: Vec::new(),
            values: task.init_numbers.iter().cloned().collect(),
            function_fluent: task.function_fluent.clone(),
            predicates: task.predicates.len() as u32,
            invented: 0,
        };
        facts.numbers = facts.tables.iter().map(|t| vec![ALWAYS; t.len()]).collect();
        let mut initial: Vec<Vec<bool>> = facts.tables.iter().map(|t| vec![false; t.len()]).collect();
        for atom in &task.init {
            if let Some(row) = facts.tables[atom.predicate as usize].find(&atom.args) {
                initial[atom.predicate as usize][row as usize] = true;
            }
        }
        for derived in [false, true] {
            for (p, predicate) in task.predicates.iter().enumerate() {
                if !predicate.fluent || predicate.derived != derived {
                    continue;
                }
                for row in 0..facts.tables[p].len() {
                    if !derived && initial[p][row] && !deletable[p][row] {
                        continue;
                    }
                    facts.numbers[p][row] = facts.atoms.len() as u32;
                    let args = facts.tables[p].row(row as u32).into();
                    facts.atoms.push(Atom { predicate: p as u32, args });
                }
            }
            if !derived {
                facts.basic = facts.atoms.len();
            }
        }
        facts
    }

    /// Looks up an atom under a binding.
    pub(crate) fn lookup(&self, atom: &LiftedAtom, binding: &[ObjectId]) -> FactRef {
        let mut cells = SmallVec::<[ObjectId; 8]>::new();
        cells.extend(atom.args.iter().map(|t| t.object(binding)));
        self.find(atom.predicate, &cells)
    }

    /// Looks up a ground atom.
    pub(crate) fn find(&self, predicate: u32, cells: &[ObjectId]) -> FactRef {
        match self.tables[predicate as usize].find(cells) {
            None => FactRef::Never,
            Some(row) => match self.numbers[predicate as usize][row as usize] {
                ALWAYS => FactRef::Always,
                fact => FactRef::Fact(fact),
            },
        }
    }

    /// A new derived fact.
    pub(crate) fn invent(&mut self) -> Fact {
        let fact = self.atoms.len() as Fact;
        self.atoms.push(Atom { predicate: self.predicates + self.invented, args: Box::default() });
        self.invented += 1;
        fact
    }

    /// Names of the invented predicates, after the declared ones.
    pub(crate) fn name_invented(&self, symbols: &mut Symbols) {
        symbols.predicates.extend((0..self.invented).map(|i| format!("@some-of-{i}")));
    }

    /// A function term: its value where nothing changes it, else its variable.
    pub(crate) fn function(&mut self, term: &Atom) -> NumExpr {
        if !self.function_fluent[term.predicate as usize] {
            return NumExpr::Constant(self.values.get(term).copied().unwrap_or(Number::UNDEFINED));
        }
        NumExpr::Variable(self.variable(term))
    }

    /// Sets the cost counter to 0 if neither the problem nor an action sets it, as validation does before it computes the
    /// metric. Conditions must be ground already: in them such a counter has no value.
    pub(crate) fn start_cost_counter(&mut self, task: &LiftedTask) {
        let functions = 0..self.function_fluent.len() as u32;
        for predicate in functions.filter(|&f| task.counts_from_zero(f) && !self.function_fluent[f as usize])
        {
            self.values.entry(Atom { predicate, args: Box::default() }).or_insert(Number::ZERO);
        }
    }

    /// The variable of a function term.
    pub(crate) fn variable(&mut self, term: &Atom) -> NumVar {
        if let Some(&variable) = self.variables.get(term) {
            return variable;
        }
        let variable = self.variable_terms.len() as NumVar;
        self.variables.insert(term.clone(), variable);
        self.variable_terms.push(term.clone());
        variable
    }

    /// Initial value of a variable.
    pub(crate) fn initial_number(&self, variable: NumVar) -> Number {
        let term = &self.variable_terms[variable as usize];
        self.values.get(term).copied().unwrap_or(Number::UNDEFINED)
    }

    /// Initial values of the variables.
    pub(crate) fn initial_numbers(&self) -> Vec<Number> {
        self.variable_terms.iter().map(|t| self.values.get(t).copied().unwrap_or(Number::UNDEFINED)).collect()
    }
}
