//! Join orders: for each rule and each atom that can trigger it, the order of the other atoms and the index
//! used for each, the most selective first.

use super::table::Table;
use crate::lifted::{LiftedAtom, Term, Variable};
use crate::task::ObjectId;
use std::sync::Arc;

/// A rule: for every binding of `variables` with all of `body` reached and all of `checks` true, `heads` are reached.
#[derive(Debug)]
pub(crate) struct JoinRule<'a> {
    /// Size of a binding.
    pub(crate) slots: usize,
    /// All variables, in the order a firing lists them.
    pub(crate) variables: Vec<&'a Variable>,
    pub(crate) body: Vec<LiftedAtom>,
    pub(crate) checks: Vec<Check>,
    pub(crate) heads: Vec<LiftedAtom>,
}

/// A test on a binding.
#[derive(Debug, Clone)]
pub(crate) enum Check {
    /// The terms are the same object, or differ.
    Equal { left: Term, right: Term, negated: bool },
    /// The atom, of a static predicate, does not hold.
    Absent(LiftedAtom),
}

/// Relation between a cell of a row and the binding.
#[derive(Debug, Clone)]
pub(crate) enum Match {
    /// It must be this.
    Same(Term),
    /// It becomes the slot's object, which must be in the set.
    Bind(u32, Arc<[u64]>),
}

/// The next atom of a join.
#[derive(Debug)]
pub(crate) struct JoinStep {
    pub(crate) predicate: u32,
    pub(crate) index: usize,
    pub(crate) key: Vec<Term>,
    pub(crate) matches: Vec<Match>,
    pub(crate) checks: Vec<Check>,
    /// True if the trigger's row was already used here: the atom precedes the trigger in the rule.
    pub(crate) exclude_trigger: bool,
}

/// A variable that no atom binds.
#[derive(Debug)]
pub(crate) struct FreeVariable {
    pub(crate) slot: u32,
    pub(crate) objects: Arc<[ObjectId]>,
    pub(crate) checks: Vec<Check>,
}

/// Join plan of a rule for one trigger.
#[derive(Debug)]
pub(crate) struct JoinPlan {
    pub(crate) rule: u32,
    pub(crate) trigger: Vec<Match>,
    pub(crate) first_checks: Vec<Check>,
    pub(crate) steps: Vec<JoinStep>,
    pub(crate) free: Vec<FreeVariable>,
}

/// All join plans.
#[derive(Debug)]
pub(crate) struct Engines {
    /// Rules without a fluent atom: joined once.
    pub(crate) initial: Vec<JoinPlan>,
    /// For each predicate the plans that one of its atoms triggers.
    pub(crate) triggered: Vec<Vec<JoinPlan>>,
}

/// Properties of the predicates that are known before the fixpoint.
pub(crate) struct PlanInput<'a> {
    pub(crate) fluent: &'a [bool],
    /// Objects each argument ranges over.
    pub(crate) domains: &'a [Vec<usize>],
    /// Number of objects.
    pub(crate) objects: usize,
}

/// Plans the joins of all rules and makes the indexes they need.
pub(crate) fn plan_joins(rules: &[JoinRule<'_>], tables: &mut [Table], input: &PlanInput<'_>) -> Engines {
    let estimates = Estimates::new(tables, input);
    let mut engines = Engines { initial: Vec::new(), triggered: tables.iter().map(|_| Vec::new()).collect() };
    for (number, rule) in rules.iter().enumerate() {
        let triggers: Vec<usize> =
            (0..rule.body.len()).filter(|&i| input.fluent[rule.body[i].predicate as usize]).collect();
        if triggers.is_empty() {
            engines.initial.push(Planner::new(number, rule, tables, &estimates).plan(None));
        }
        for trigger in triggers {
            let plan = Planner::new(number, rule, tables, &estimates).plan(Some(trigger));
            engines.triggered[rule.body[trigger].predicate as usize].push(plan);
        }
    }
    engines
}

/// Expected numbers of rows and values.
struct Estimates {
    rows: Vec<f64>,
    distinct: Vec<Vec<f64>>,
    object_words: usize,
}

impl Estimates {
    fn new(tables: &[Table], input: &PlanInput<'_>) -> Self {
        let mut rows = Vec::new();
        let mut distinct = Vec::new();
        for (i, table) in tables.iter().enumerate() {
            let domain = &input.domains[i];
            if input.fluent[i] {
                rows.push(domain.iter().map(|&d| d.max(1) as f64).product());
                distinct.push(domain.iter().map(|&d| d.max(1) as f64).collect());
            } else {
                rows.push(table.len() as f64);
                distinct.push((0..domain.len()).map(|c| table.distinct(c).max(1) as f64).collect());
            }
        }
        Estimates { rows, distinct, object_words: crate::bits::words_for(input.objects) }
    }
}

/// Planning of one join.
struct Planner<'p, 'a> {
    number: usize,
    rule: &'p JoinRule<'a>,
    tables: &'p mut [Table],
    estimates: &'p Estimates,
    bound: Vec<bool>,
    checks: Vec<Check>,
}

impl<'p, 'a> Planner<'p, 'a> {
    fn new(number: usize, rule: &'p JoinRule<'a>, tables: &'p mut [Table], estimates: &'p Estimates) -> Self {
        let bound = vec![false; rule.slots];
        Planner { number, rule, tables, estimates, bound, checks: rule.checks.clone() }
    }

    fn plan(mut self, trigger: Option<usize>) -> JoinPlan {
        let trigger_matches = trigger.map(|t| self.matches(&self.rule.body[t])).unwrap_or_default();
        let first_checks = self.ready_checks();
        let mut open: Vec<usize> = (0..self.rule.body.len()).filter(|i| Some(*i) != trigger).collect();
        let mut steps = Vec::new();
        while !open.is_empty() {
            let best = self.most_selective(&open);
            let atom = &self.rule.body[open[best]];
            let columns: Vec<usize> = (0..atom.args.len()).filter(|&c| self.is_bound(atom.args[c])).collect();
            let key = columns.iter().map(|&c| atom.args[c]).collect();
            let index = self.tables[atom.predicate as usize].index_on(columns);
            let matches = self.matches(atom);
            let exclude_trigger =
                trigger.is_some_and(|t| open[best] < t && self.rule.body[t].predicate == atom.predicate);
            let checks = self.ready_checks();
            steps.push(JoinStep { predicate: atom.predicate, index, key, matches, checks, exclude_trigger });
            open.remove(best);
        }
        let mut free = Vec::new();
        for variable in &self.rule.variables {
            if !self.bound[variable.slot as usize] {
                self.bound[variable.slot as usize] = true;
                let checks = self.ready_checks();
                free.push(FreeVariable {
                    slot: variable.slot,
                    objects: Arc::clone(&variable.objects),
                    checks,
                });
            }
        }
        JoinPlan { rule: self.number as u32, trigger: trigger_matches, first_checks, steps, free }
    }

    fn is_bound(&self, term: Term) -> bool {
        match term {
            Term::Slot(slot) => self.bound[slot as usize],
            Term::Object(_) => true,
        }
    }

    /// Position in `open` of the atom expected to match fewest rows.
    fn most_selective(&self, open: &[usize]) -> usize {
        let expected = |i: usize| {
            let atom = &self.rule.body[i];
            let p = atom.predicate as usize;
            let mut rows = self.estimates.rows[p];
            for (column, &term) in atom.args.iter().enumerate() {
                if self.is_bound(term) {
                    rows /= self.estimates.distinct[p][column];
                }
            }
            rows
        };
        (0..open.len()).min_by(|&a, &b| expected(open[a]).total_cmp(&expected(open[b]))).unwrap_or(0)
    }

    /// Relates the atom's cells to the binding, then marks its variables as bound.
    fn matches(&mut self, atom: &LiftedAtom) -> Vec<Match> {
        atom.args
            .iter()
            .map(|&term| match term {
                Term::Slot(slot) if !self.bound[slot as usize] => {
                    self.bound[slot as usize] = true;
                    Match::Bind(slot, self.allowed_objects(slot))
                }
                _ => Match::Same(term),
            })
            .collect()
    }

    fn allowed_objects(&self, slot: u32) -> Arc<[u64]> {
        let objects = self.rule.variables.iter().find(|v| v.slot == slot).map(|v| &v.objects);
        let mut set = vec![0u64; self.estimates.object_words];
        for &object in objects.into_iter().flat_map(|o| o.iter()) {
            crate::bits::set(&mut set, object);
        }
        set.into()
    }

    fn ready_checks(&mut self) -> Vec<Check> {
        let bound = &self.bound;
        let is_bound = |t: &Term| match t {
            Term::Slot(slot) => bound[*slot as usize],
            Term::Object(_) => true,
        };
        let ready = |c: &Check| match c {
            Check::Equal { left, right, .. } => is_bound(left) && is_bound(right),
            Check::Absent(atom) => atom.args.iter().all(is_bound),
        };
        let (now, later) = std::mem::take(&mut self.checks).into_iter().partition(ready);
        self.checks = later;
        now
    }
}
