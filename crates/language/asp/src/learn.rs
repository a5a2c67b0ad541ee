//! Learns the rules of a knowledge file from representations and their reference problems.
//!
//! A rule concludes one predicate, or the type of an object, from at most [`LearnLimits::max_conditions`] conditions. Conditions are
//! facts of the initial state and of the goal, types, neighbours in a declared grid, the order of objects that are only counted,
//! `X != Y`, and negation as failure of facts; one variable may be in conditions alone. Shorter rules come first. There are no
//! aggregates. Where no rules with variables do, facts that hold in every example become rules about the objects that they name.
//!
//! The reasoner finds which candidates conclude nothing but facts of the references, and the cheapest set of those that concludes
//! every missing fact. A condition is about facts that the representations give or that rules learned before conclude completely, so
//! the result is stratified and has one answer set. Only the conclusion's own predicate may recur, without negation.

mod candidates;
mod relations;
#[cfg(test)]
mod tests;

pub use relations::Example;

use crate::declarations::GRID;
use crate::names::mangle;
use crate::syntax::ast::{Atom, Head, Literal, Program, StatementKind, Term, function};
use candidates::{Candidate, Judged, Level};
use planforge_pddl::TypeHierarchy;
use planforge_pddl::ast::Domain;
use relations::{Conclusion, Relations};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Candidates that one run of the reasoner judges.
const CHUNK: usize = 1000;

/// Limits of the language of rules and of the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LearnLimits {
    /// Most conditions of a rule, apart from the types of its variables.
    pub max_conditions: u32,
    /// Most candidates for one conclusion.
    pub max_candidates: u32,
}

impl Default for LearnLimits {
    fn default() -> Self {
        Self { max_conditions: 2, max_candidates: 50_000 }
    }
}

/// A learned rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LearnedRule {
    /// As a knowledge file has it.
    pub rule: String,
    /// Missing facts of the examples that it concludes.
    pub concludes: usize,
}

/// Missing facts of one predicate that no tried set of rules concludes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnexplainedFacts {
    /// `init(clear)`, or `object(shot)` for a type.
    pub conclusion: String,
    pub missing: usize,
    /// The first missing fact, with the index of its example.
    pub fact: String,
    pub example: usize,
    /// Those of the missing facts that some candidate concludes without a wrong fact.
    pub explained: usize,
}

/// Result of learning.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Learned {
    pub rules: Vec<LearnedRule>,
    pub unexplained: Vec<UnexplainedFacts>,
    /// Parts of the search that a limit left out.
    pub cut: Vec<String>,
    /// Number of candidates that the reasoner judged.
    pub candidates: u64,
}

/// Learns rules. `reasoner` returns the atoms of an optimal answer set of a program; `stopped` is asked before each of its runs, and true ends the
/// search with the rules learned so far.
///
/// # Errors
/// Those of the reasoner.
pub fn learn<E>(
    examples: &[Example],
    limits: LearnLimits,
    reasoner: &mut dyn FnMut(&str) -> Result<Vec<String>, E>,
    stopped: &mut dyn FnMut() -> bool,
) -> Result<Learned, E> {
    let relations = Relations::of(examples);
    let mut search = Search {
        relations,
        limits,
        reasoner,
        stopped,
        has_stopped: false,
        cut: BTreeSet::new(),
        candidates: 0,
    };
    let mut open = search.relations.incomplete();
    let mut rules = Vec::new();
    let mut conditions = 0;
    while conditions <= limits.max_conditions && !open.is_empty() && !search.has_stopped {
        let mut learned = None;
        for (at, relation) in open.iter().enumerate() {
            let conclusion = search.relations.conclusion(*relation);
            if let Some(found) = search.rules_for(&conclusion, conditions)? {
                learned = Some((at, found));
                break;
            }
        }
        match learned {
            Some((at, found)) => {
                search.relations.complete(open.remove(at));
                rules.extend(found);
                // The facts that are complete now may be conditions of short rules.
                conditions = 0;
            }
            None => conditions += 1,
        }
    }
    let mut unexplained = Vec::new();
    for relation in open {
        let conclusion = search.relations.conclusion(relation);
        match search.relations.constant_rules(&conclusion) {
            Some(found) => {
                rules.extend(found.into_iter().map(|rule| LearnedRule { rule, concludes: examples.len() }))
            }
            None => unexplained.push(search.unexplained(&conclusion)?),
        }
    }
    if search.has_stopped {
        search.cut.insert("the search ended at its limit of time".to_owned());
    }
    let Search { cut, candidates, .. } = search;
    Ok(Learned { rules, unexplained, cut: cut.into_iter().collect(), candidates })
}

struct Search<'a, E> {
    relations: Relations,
    limits: LearnLimits,
    reasoner: &'a mut dyn FnMut(&str) -> Result<Vec<String>, E>,
    stopped: &'a mut dyn FnMut() -> bool,
    has_stopped: bool,
    cut: BTreeSet<String>,
    candidates: u64,
}

impl<E> Search<'_, E> {
    /// The cheapest rules of so many conditions that conclude all missing facts.
    fn rules_for(&mut self, conclusion: &Conclusion, conditions: u32) -> Result<Option<Vec<LearnedRule>>, E> {
        let good = self.good(conclusion, conditions)?;
        let covered: BTreeSet<usize> = good.iter().flat_map(|(_, covers)| covers.iter().copied()).collect();
        if covered.len() < conclusion.missing.len() || conclusion.missing.is_empty() {
            return Ok(None);
        }
        let costs: Vec<(u32, &BTreeSet<usize>)> =
            good.iter().map(|(rule, covers)| (rule.cost(conclusion, &self.relations), covers)).collect();
        let program = candidates::selection(&costs, conclusion.missing.len());
        let Some(atoms) = self.run(&program)? else { return Ok(None) };
        let chosen = candidates::chosen(&atoms);
        let rules = chosen.iter().filter_map(|index| good.get(*index)).map(|(rule, covers)| LearnedRule {
            rule: rule.text(conclusion, &self.relations),
            concludes: covers.len(),
        });
        Ok(Some(rules.collect()))
    }

    /// The candidates of up to so many conditions that conclude missing facts and no wrong ones, with the facts.
    fn good(
        &mut self,
        conclusion: &Conclusion,
        conditions: u32,
    ) -> Result<Vec<(Candidate, BTreeSet<usize>)>, E> {
        let mut good = Vec::new();
        // The representations lack objects of the missing facts.
        if conclusion.types.contains(&None) {
            return Ok(good);
        }
        let mut level = Level::first();
        let mut left = self.limits.max_candidates as usize;
        for size in 0..=conditions {
            if level.rules.len() > left {
                self.cut.insert(format!(
                    "rules of {size} conditions for {}: {} of {} were not tried",
                    self.relations.name(conclusion.relation),
                    level.rules.len() - left,
                    level.rules.len()
                ));
                level.rules.truncate(left);
            }
            left -= level.rules.len();
            let Some(judged) = self.judge(conclusion, &level.rules)? else { break };
            let found = level.rules.iter().zip(&judged).filter(|(_, judged)| !judged.covers.is_empty());
            good.extend(found.map(|(rule, judged)| (rule.clone(), judged.covers.clone())));
            if size < conditions {
                let open = |judged: &Judged| judged.live && judged.wrong;
                let open: Vec<bool> = judged.iter().map(open).collect();
                level = candidates::next(&level, &open, conclusion, &self.relations);
            }
        }
        Ok(good)
    }

    /// Judges candidates; `None` if the search was stopped.
    fn judge(&mut self, conclusion: &Conclusion, rules: &[Candidate]) -> Result<Option<Vec<Judged>>, E> {
        let mut all = Vec::with_capacity(rules.len());
        for chunk in rules.chunks(CHUNK) {
            let program = candidates::coverage(&self.relations, conclusion, chunk);
            let Some(atoms) = self.run(&program)? else { return Ok(None) };
            all.extend(candidates::judgements(&atoms, chunk.len()));
            self.candidates += chunk.len() as u64;
        }
        Ok(Some(all))
    }

    /// The atoms of an answer; `None` if the search was stopped.
    fn run(&mut self, program: &str) -> Result<Option<Vec<String>>, E> {
        self.has_stopped = self.has_stopped || (self.stopped)();
        if self.has_stopped {
            return Ok(None);
        }
        (self.reasoner)(program).map(Some)
    }

    fn unexplained(&mut self, conclusion: &Conclusion) -> Result<UnexplainedFacts, E> {
        let good = self.good(conclusion, self.limits.max_conditions)?;
        let explained: BTreeSet<usize> = good.iter().flat_map(|(_, covers)| covers.iter().copied()).collect();
        let (example, arguments) = conclusion.missing.first().cloned().unwrap_or_default();
        Ok(UnexplainedFacts {
            conclusion: self.relations.name(conclusion.relation),
            missing: conclusion.missing.len(),
            fact: self.relations.form(conclusion.relation).write(&arguments),
            example,
            explained: explained.len(),
        })
    }
}

// The declarations that representations need: their types and predicates that the domain lacks.

/// Declarations for the names of representations that the domain lacks, without descriptions. `type_of`: type of an object of the
/// reference problems.
pub fn declarations(
    domain: &Domain,
    programs: &[Program],
    type_of: &dyn Fn(&str) -> Option<String>,
) -> Vec<String> {
    let types = TypeHierarchy::of(domain);
    let mut reader = Reader {
        types: types.names().map(|name| mangle(name.key())).collect(),
        predicates: domain.predicates.iter().map(|p| mangle(p.name.key())).collect(),
        type_of,
        new_types: BTreeSet::new(),
        new_predicates: BTreeMap::new(),
    };
    for program in programs {
        program.statements.iter().for_each(|statement| {
            if let StatementKind::Rule(rule) = &statement.kind {
                let head = match &rule.head {
                    Head::Atom(atom) => Some(atom),
                    _ => None,
                };
                let body = rule.body.iter().filter_map(|literal| match literal {
                    Literal::Atom { atom, .. } => Some(atom),
                    _ => None,
                });
                head.into_iter().chain(body).for_each(|atom| reader.atom(atom));
            }
        });
    }
    reader.finish()
}

/// The types that a representation counts without naming one of their objects. `objects`: objects with their types.
pub fn counted(program: &Program, objects: &BTreeSet<(String, String)>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut mentioned = BTreeSet::new();
    for statement in &program.statements {
        let StatementKind::Rule(rule) = &statement.kind else { continue };
        let Head::Atom(head) = &rule.head else { continue };
        match (head.name.as_str(), head.arguments.as_slice()) {
            ("cardinality", [ty, _]) => found.extend(ty.as_constant().map(str::to_owned)),
            _ => head.arguments.iter().for_each(|term| constants(term, &mut mentioned)),
        }
    }
    found.retain(|ty| !objects.iter().any(|(object, of)| of == ty && mentioned.contains(object)));
    found
}

fn constants(term: &Term, found: &mut BTreeSet<String>) {
    match term {
        Term::Function { name, arguments } if arguments.is_empty() => drop(found.insert(name.clone())),
        Term::Function { arguments, .. } => arguments.iter().for_each(|term| constants(term, found)),
        _ => {}
    }
}

struct Reader<'a> {
    types: BTreeSet<String>,
    predicates: BTreeSet<String>,
    type_of: &'a dyn Fn(&str) -> Option<String>,
    new_types: BTreeSet<String>,
    /// Argument types by name and number of arguments; `None` where nothing shows the type.
    new_predicates: BTreeMap<(String, usize), Vec<Option<String>>>,
}

impl Reader<'_> {
    fn atom(&mut self, atom: &Atom) {
        match (atom.name.as_str(), atom.arguments.as_slice()) {
            ("cardinality", [ty, _]) | ("object", [_, ty]) => self.ty(ty),
            ("init" | "goal", [Term::Function { name, arguments }]) => self.fact(name, arguments),
            _ => {}
        }
    }

    fn ty(&mut self, ty: &Term) {
        if let Some(name) = ty.as_constant().filter(|name| !self.types.contains(*name)) {
            self.new_types.insert(name.to_owned());
        }
    }

    fn fact(&mut self, name: &str, arguments: &[Term]) {
        match (name, arguments) {
            ("neg" | "not", [Term::Function { name, arguments }]) => self.fact(name, arguments),
            ("map", [from, Term::Function { name, .. }, to]) => {
                self.ty(from);
                self.ty(to);
                let types = [from, to].map(|ty| ty.as_constant().map(str::to_owned));
                self.predicate(name, types.to_vec());
            }
            ("value" | "compare" | "", _) => {}
            _ => {
                let types = arguments.iter().enumerate().map(|(at, term)| match term {
                    Term::Number(_) => Some(number_type(name, arguments.len(), at).to_owned()),
                    term => (self.type_of)(term.as_constant()?),
                });
                let types = types.collect();
                self.predicate(name, types);
            }
        }
    }

    fn predicate(&mut self, name: &str, types: Vec<Option<String>>) {
        if self.predicates.contains(name) {
            return;
        }
        let key = (name.to_owned(), types.len());
        let known = self.new_predicates.entry(key).or_insert_with(|| vec![None; types.len()]);
        for (known, ty) in known.iter_mut().zip(types) {
            *known = known.take().or(ty);
        }
    }

    fn finish(self) -> Vec<String> {
        let types = self.new_types.iter().map(|ty| format!("ir_type({ty}, \"\")."));
        let predicates = self.new_predicates.iter().map(|((name, _), types)| {
            let types = types.iter().map(|ty| function(ty.as_deref().unwrap_or("object"), Vec::new()));
            format!("ir_predicate({}, \"\").", function(name, types.collect()))
        });
        types.chain(predicates).collect()
    }
}

/// The type of a number: the first arguments of a grid are its row and column.
fn number_type(name: &str, arguments: usize, at: usize) -> &'static str {
    match (name.ends_with(GRID) && arguments == 3, at) {
        (true, 0) => "row",
        (true, 1) => "column",
        _ => "number",
    }
}
