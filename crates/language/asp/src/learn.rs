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
mod declared;
mod example;
mod programs;
mod relations;
#[cfg(test)]
mod tests;

pub use declared::{counted, declarations};
pub use example::Example;

use candidates::{Candidate, Level};
use programs::Judged;
use relations::{Conclusion, Relations};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

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
        let program = programs::selection(&costs, conclusion.missing.len());
        let Some(atoms) = self.run(&program)? else { return Ok(None) };
        let chosen = programs::chosen(&atoms);
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
            let program = programs::coverage(&self.relations, conclusion, chunk);
            let Some(atoms) = self.run(&program)? else { return Ok(None) };
            all.extend(programs::judgements(&atoms, chunk.len()));
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
