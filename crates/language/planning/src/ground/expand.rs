//! Instantiates formulas under a binding: quantifiers are expanded over the objects, static and unreachable
//! atoms are replaced by their truth values, the rest is converted to disjunctive normal form. If that grows,
//! a disjunction becomes a derived fact.
//!
//! [`Facts`] selects the ground atoms that become facts of the task: reachable, and neither static nor always true.

use super::join::Table;
use crate::lifted::{Formula, LiftedAtom, LiftedExpr, LiftedTask, Variable};
use crate::resources::{ResourceLimits, StopReason, check};
use crate::task::{Atom, Axiom, Condition, Fact, NumCondition, NumExpr, NumVar, ObjectId, Symbols};
use planforge_pddl::Number;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Disjuncts beyond this become derived facts.
const MAX_DISJUNCTS: usize = 12;

/// A simplified ground formula.
#[derive(Debug, Clone)]
pub(crate) enum Ground {
    True,
    False,
    Literal(Fact, bool),
    Number(NumCondition),
    And(Vec<Ground>),
    Or(Vec<Ground>),
}

impl Ground {
    /// Calls `f` with each part of the formula that has no parts.
    pub(crate) fn for_each_leaf(&self, f: &mut dyn FnMut(&Ground)) {
        match self {
            Ground::And(parts) | Ground::Or(parts) => parts.iter().for_each(|part| part.for_each_leaf(f)),
            Ground::True | Ground::False | Ground::Literal(..) | Ground::Number(_) => f(self),
        }
    }
}

/// A conjunction under construction.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Conjunction {
    pub(crate) literals: Vec<(Fact, bool)>,
    pub(crate) numeric: Vec<NumCondition>,
}

impl Conjunction {
    /// Sorts; `None` where it contradicts itself.
    pub(crate) fn into_condition(mut self) -> Option<Condition> {
        self.literals.sort_unstable();
        self.literals.dedup();
        if self.literals.windows(2).any(|w| w[0].0 == w[1].0) {
            return None;
        }
        let side = |negated| self.literals.iter().filter(|l| l.1 == negated).map(|l| l.0).collect();
        Some(Condition { positive: side(false), negative: side(true), numeric: self.numeric.into() })
    }

    fn merge(&self, other: &Conjunction) -> Conjunction {
        let mut all = self.clone();
        all.literals.extend(&other.literals);
        all.numeric.extend(other.numeric.iter().cloned());
        all
    }
}

/// Disjuncts as sorted lists of positive and negative facts.
type Key = Vec<(Vec<Fact>, Vec<Fact>)>;

/// Expands formulas against what was reached; collects the derived facts it invents.
pub(crate) struct Expander<'f> {
    pub(crate) facts: &'f mut Facts,
    pub(crate) axioms: Vec<Axiom>,
    invented: FxHashMap<Key, FxHashMap<u32, Fact>>,
    parts: usize,
    cap: usize,
    /// Parts before the formula under way, and the most of one formula that the limits were charged for.
    start: usize,
    charged: usize,
}

/// Parts between two polls.
const PARTS: usize = 1024;

impl<'f> Expander<'f> {
    pub(crate) fn new(facts: &'f mut Facts, cap: usize) -> Self {
        Expander {
            facts,
            axioms: Vec::new(),
            invented: FxHashMap::default(),
            parts: 0,
            cap,
            start: 0,
            charged: 0,
        }
    }

    /// Starts a formula. The parts of the one before are not held any more.
    pub(crate) fn start(&mut self) {
        self.start = self.parts;
    }

    /// The formula under a binding, simplified.
    pub(crate) fn expand(
        &mut self,
        formula: &Formula,
        binding: &mut [ObjectId],
        resources: &mut dyn ResourceLimits,
    ) -> Result<Ground, StopReason> {
        self.parts += 1;
        if self.parts > self.cap {
            return Err(StopReason::Grounding);
        }
        if self.parts.is_multiple_of(PARTS) {
            check(resources.poll())?;
            let own = self.parts - self.start;
            if own > self.charged {
                let bytes = (own - self.charged) * size_of::<Ground>();
                self.charged = own;
                check(resources.charge(bytes as u64))?;
            }
        }
        Ok(match formula {
            Formula::And(parts) => self.junction(parts, true, binding, resources)?,
            Formula::Or(parts, _) => self.junction(parts, false, binding, resources)?,
            Formula::Literal { atom, negated, .. } => match self.facts.lookup(atom, binding) {
                FactRef::Always if *negated => Ground::False,
                FactRef::Always => Ground::True,
                FactRef::Never if *negated => Ground::True,
                FactRef::Never => Ground::False,
                FactRef::Fact(fact) => Ground::Literal(fact, *negated),
            },
            Formula::Equal { left, right, negated, .. } => {
                truth((left.object(binding) == right.object(binding)) != *negated)
            }
            Formula::Compare { comparison, left, right, span } => {
                let (left, right) = (self.number(left, binding), self.number(right, binding));
                match (&left, &right) {
                    (NumExpr::Constant(a), NumExpr::Constant(b)) => truth(comparison.holds(*a, *b)),
                    _ => Ground::Number(NumCondition { comparison: *comparison, left, right, span: *span }),
                }
            }
            Formula::Exists(variables, ..) | Formula::Forall(variables, ..)
                if variables.len() > super::MAX_VARIABLES =>
            {
                return Err(StopReason::Grounding);
            }
            Formula::Exists(variables, body, _) => {
                let mut parts = Vec::new();
                self.expand_quantifier(variables, body, false, binding, &mut parts, resources)?;
                junction(parts, false)
            }
            Formula::Forall(variables, body, _) => {
                let mut parts = Vec::new();
                self.expand_quantifier(variables, body, true, binding, &mut parts, resources)?;
                junction(parts, true)
            }
        })
    }

    fn junction(
        &mut self,
        parts: &[Formula],
        conjunction: bool,
        binding: &mut [ObjectId],
        resources: &mut dyn ResourceLimits,
    ) -> Result<Ground, StopReason> {
        let mut done = Vec::with_capacity(parts.len());
        for part in parts {
            let ground = self.expand(part, binding, resources)?;
            if decides(&ground, conjunction) {
                return Ok(ground);
            }
            done.push(ground);
        }
        Ok(junction(done, conjunction))
    }

    fn expand_quantifier(
        &mut self,
        variables: &[Variable],
        body: &Formula,
        conjunction: bool,
        binding: &mut [ObjectId],
        parts: &mut Vec<Ground>,
        resources: &mut dyn ResourceLimits,
    ) -> Result<bool, StopReason> {
        let Some((first, rest)) = variables.split_first() else {
            let ground = self.expand(body, binding, resources)?;
            let decided = decides(&ground, conjunction);
            if decided {
                parts.clear();
            }
            parts.push(ground);
            return Ok(decided);
        };
        for &object in first.objects.iter() {
            binding[first.slot as usize] = object;
            if self.expand_quantifier(rest, body, conjunction, binding, parts, resources)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The expression under a binding; functions that nothing changes are replaced by their value.
    pub(crate) fn number(&mut self, expr: &LiftedExpr, binding: &[ObjectId]) -> NumExpr {
        match expr {
            LiftedExpr::Constant(c) => NumExpr::Constant(*c),
            LiftedExpr::Steps => NumExpr::Steps,
            // Search refuses tasks with durations, and violations are weighed apart from the metric.
            LiftedExpr::Duration | LiftedExpr::Violations(_) => NumExpr::Constant(Number::UNDEFINED),
            LiftedExpr::Function(term) => self.facts.function(&term.instantiate(binding)),
            LiftedExpr::Binary(op, sides) => {
                let (left, right) = (self.number(&sides.0, binding), self.number(&sides.1, binding));
                match (&left, &right) {
                    (NumExpr::Constant(a), NumExpr::Constant(b)) => NumExpr::Constant(op.apply(*a, *b)),
                    _ => NumExpr::Binary(*op, Box::new((left, right))),
                }
            }
        }
    }

    /// The disjuncts of a ground formula. `stratum` is that of the derived facts invented for it.
    pub(crate) fn disjuncts(&mut self, ground: &Ground, stratum: u32) -> Vec<Conjunction> {
        match ground {
            Ground::True => vec![Conjunction::default()],
            Ground::False => vec![],
            Ground::Literal(fact, negated) => {
                vec![Conjunction { literals: vec![(*fact, *negated)], numeric: vec![] }]
            }
            Ground::Number(c) => vec![Conjunction { literals: vec![], numeric: vec![c.clone()] }],
            Ground::Or(parts) => {
                let all: Vec<Conjunction> = parts.iter().flat_map(|p| self.disjuncts(p, stratum)).collect();
                if all.len() > MAX_DISJUNCTS { vec![self.invent(all, stratum)] } else { all }
            }
            Ground::And(parts) => {
                // Most conjunctions have literals alone: those are one disjunct at once.
                let mut plain = Conjunction::default();
                plain.literals.reserve_exact(parts.len());
                let mut others = Vec::new();
                for part in parts {
                    match part {
                        Ground::Literal(fact, negated) => plain.literals.push((*fact, *negated)),
                        Ground::Number(condition) => plain.numeric.push(condition.clone()),
                        other => others.push(other),
                    }
                }
                let mut all = vec![plain];
                for part in others {
                    let mut choices = self.disjuncts(part, stratum);
                    if choices.len() > 1 && all.len() * choices.len() > MAX_DISJUNCTS {
                        choices = vec![self.invent(choices, stratum)];
                    }
                    all = all.iter().flat_map(|a| choices.iter().map(move |c| a.merge(c))).collect();
                }
                all
            }
        }
    }

    /// The formula as exactly one conjunction, `None` where it is false.
    pub(crate) fn single(&mut self, ground: &Ground, stratum: u32) -> Option<Conjunction> {
        let mut all = self.disjuncts(ground, stratum);
        match all.len() {
            0 => None,
            1 => all.pop(),
            _ => Some(self.invent(all, stratum)),
        }
    }

    /// A derived fact that holds where one of the conjunctions does.
    fn invent(&mut self, mut choices: Vec<Conjunction>, stratum: u32) -> Conjunction {
        for choice in &mut choices {
            choice.literals.sort_unstable();
            choice.literals.dedup();
        }
        // Numeric conditions are not part of the key, so conjunctions that have any are never shared.
        let shared = choices.iter().all(|c| c.numeric.is_empty());
        let mut key: Key = choices
            .iter()
            .map(|c| c.literals.iter().partition::<Vec<(Fact, bool)>, _>(|l| !l.1))
            .map(|(p, n)| (p.iter().map(|l| l.0).collect(), n.iter().map(|l| l.0).collect()))
            .collect();
        key.sort();
        if shared && let Some(fact) = self.invented.get(&key).and_then(|by| by.get(&stratum)) {
            return Conjunction { literals: vec![(*fact, false)], numeric: vec![] };
        }
        let head = self.facts.invent();
        for choice in choices {
            if let Some(condition) = choice.into_condition() {
                self.axioms.push(Axiom { head, condition, stratum });
            }
        }
        if shared {
            self.invented.entry(key).or_default().insert(stratum, head);
        }
        Conjunction { literals: vec![(head, false)], numeric: vec![] }
    }
}

fn truth(holds: bool) -> Ground {
    if holds { Ground::True } else { Ground::False }
}

/// Returns true if one part determines a conjunction (or disjunction).
fn decides(part: &Ground, conjunction: bool) -> bool {
    if conjunction { matches!(part, Ground::False) } else { matches!(part, Ground::True) }
}

/// A conjunction or disjunction, simplified.
pub(crate) fn junction(parts: Vec<Ground>, conjunction: bool) -> Ground {
    let mut flat = Vec::with_capacity(parts.len());
    for part in parts {
        match part {
            Ground::True if conjunction => {}
            Ground::False if !conjunction => {}
            Ground::True | Ground::False => return part,
            Ground::And(inner) if conjunction => flat.extend(inner),
            Ground::Or(inner) if !conjunction => flat.extend(inner),
            other => flat.push(other),
        }
    }
    match flat.len() {
        0 => truth(conjunction),
        1 => flat.pop().unwrap_or(Ground::True),
        _ if conjunction => Ground::And(flat),
        _ => Ground::Or(flat),
    }
}

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
    fn invent(&mut self) -> Fact {
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
