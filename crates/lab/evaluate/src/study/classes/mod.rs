//! Result classes (action-by-action paper, section 3) against what is known otherwise: mutants of every action of a suite, classified.
//!
//! A mutant with a flaw by construction must come out as that. Of the others an exact comparison says whether they are equal on the
//! suite's problems, and beside it stands what the k cheapest plans say ([`hde`]). Every plan that such a verdict rests on is
//! named ([`Witness`]), so that another program can judge it; where plans do not show a difference that is there, it is said why not
//! ([`Unseen`]).
//!
//! What is drawn depends on the seed, the suite's name and the action's place; limits are counts.

mod judge;
mod tables;
#[cfg(test)]
mod tests;
mod unseen;

pub use tables::{behaviour, by_class, by_kind, by_mistake, misjudged, rows, unseen_reasons};
pub use unseen::Unseen;

use super::{StudySuite, Watch, run_all, stream};
use judge::Judge;
use planforge_contract::Failure;
use planforge_pddl::mutate::action::{ActionMutant, action_mutants};
use planforge_planning::equivalence::ComparedSide;
use planforge_planning::equivalence::domains::ComparisonVerdict;
use planforge_planning::equivalence::hde;
use planforge_planning::result_class::ResultClass;
use planforge_planning::walk::NamedStep;
use std::num::NonZeroUsize;

/// What is judged, and limits as counts.
#[derive(Debug, Clone)]
pub struct ClassesSpec {
    /// Mutants of each action; fewer where an action has no more distinct ones.
    pub mutants: usize,
    /// For the draws.
    pub seed: u64,
    /// Plans of each problem: the first decides the class, the others are compared with it. Never empty.
    pub k: Vec<NonZeroUsize>,
    /// Most search nodes for the plans of one problem in one domain.
    pub max_nodes: u64,
    /// Most pairs of states of an exact comparison.
    pub max_pairs: u64,
    /// Most bytes of one mutant's tables.
    pub max_bytes: u64,
}

/// A plan that a verdict rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Witness {
    /// The problem's place in the suite, from 0.
    pub problem: usize,
    /// The plan.
    pub steps: Vec<NamedStep>,
    /// Whether it is a plan of the true domain, and of the one with the mutant in it.
    pub valid: [bool; 2],
}

/// A difference by the exact comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct ExactDifference {
    /// The problem's place in the suite, from 0.
    pub problem: usize,
    /// The shortest sequence that shows it.
    pub steps: Vec<NamedStep>,
    /// Which domain executes all of it, or reaches the goal; the other does not. Nothing where costs alone differ.
    pub executed_by: Option<ComparedSide>,
}

/// What an exact comparison says over all problems of the suite.
#[derive(Debug, Clone, PartialEq)]
pub enum Exact {
    /// Equal over the whole reachable space of every problem.
    Equal,
    /// Different on one.
    Different(ExactDifference),
    /// A limit was reached without a difference.
    Open,
}

impl Exact {
    /// The verdict without its reason.
    pub const fn verdict(&self) -> ComparisonVerdict {
        match self {
            Exact::Equal => ComparisonVerdict::Equal,
            Exact::Different(_) => ComparisonVerdict::Different,
            Exact::Open => ComparisonVerdict::Open,
        }
    }
}

/// What is known of a mutant in which nothing is wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct Behaves {
    /// The domain with the mutant in it, as text.
    pub domain: String,
    /// By the exact comparison.
    pub exact: Exact,
    /// By the plans of each k of the specification, in its order; the first is the mutant's class.
    pub classes: Vec<ResultClass>,
    /// A plan that the class rests on: the one that one domain lost or gained, or where all agree the cheapest.
    pub witness: Option<Witness>,
    /// By the counting of the paper's code, where the mutant is exactly equal.
    pub counted: Option<ResultClass>,
    /// Why plans do not show the difference, where there is one and they do not.
    pub unseen: Option<Unseen>,
}

/// A mutant and what became of it.
#[derive(Debug, Clone)]
pub struct Judged {
    /// Index of the suite.
    pub suite: usize,
    /// Index of the action in its domain.
    pub action: usize,
    /// The mutant.
    pub mutant: ActionMutant,
    /// Its class.
    pub class: ResultClass,
    /// What is found wrong first, or why nothing could be told.
    pub finding: Option<String>,
    /// Where nothing is wrong by construction.
    pub behaves: Option<Behaves>,
}

impl Judged {
    /// Whether the class is not the one that the mutant has by construction. A mutant without a flaw may have any class of behaviour.
    pub fn misjudged(&self) -> bool {
        match self.mutant.flaw {
            Some(flaw) => self.class != ResultClass::from(flaw),
            None => self.behaves.is_none(),
        }
    }

    /// Whether plans call different what is exactly equal.
    pub fn contradicts(&self) -> bool {
        let different = [ResultClass::NoPlan, ResultClass::NPApp, ResultClass::OPApp];
        self.behaves.as_ref().is_some_and(|b| {
            b.exact == Exact::Equal && b.classes.iter().any(|class| different.contains(class))
        })
    }
}

/// What became of the mutants of some suites.
#[derive(Debug, Clone, Default)]
pub struct Classes {
    /// Every mutant, by suite, action and draw.
    pub judged: Vec<Judged>,
    /// Suites whose own domain is no reference within the limits, by name, and why.
    pub left_out: Vec<(String, String)>,
}

/// Judges every mutant of every action of the suites.
///
/// # Errors
/// `study.cancelled`, `study.threads`.
pub fn run(
    suites: &[StudySuite],
    spec: &ClassesSpec,
    threads: usize,
    watch: &Watch,
) -> Result<Classes, Failure> {
    let mut classes = Classes::default();
    for (index, suite) in suites.iter().enumerate() {
        let judge = match Judge::new(suite, spec, watch) {
            Ok(judge) => judge,
            Err(why) => {
                classes.left_out.push((suite.name.clone(), why));
                continue;
            }
        };
        let drawn = suite.domain.actions.iter().enumerate().flat_map(|(number, action)| {
            let mut random = stream(spec.seed, &suite.name, &[number as u64]);
            let mutants = action_mutants(&suite.domain, action, spec.mutants, &mut random);
            mutants.into_iter().map(move |mutant| (number, mutant))
        });
        let drawn: Vec<(usize, ActionMutant)> = drawn.collect();
        let judged =
            run_all(&drawn, threads, watch, |(action, mutant)| judge.judged(index, *action, mutant))?;
        classes.judged.extend(judged);
    }
    Ok(classes)
}

/// Options of the heuristic comparison.
fn hde_options(spec: &ClassesSpec, k: NonZeroUsize, rule: hde::HdeRule) -> hde::HdeOptions {
    hde::HdeOptions { k, rule, max_nodes: spec.max_nodes, ..hde::HdeOptions::default() }
}
