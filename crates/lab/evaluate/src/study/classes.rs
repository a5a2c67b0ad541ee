//! Result classes (action-by-action paper, section 3) against an independent reference: mutants of every
//! action of a suite, classified.
//!
//! A mutant with a flaw by construction must get the class of that flaw. For the others an exact comparison
//! decides equality on the suite's problems, and the comparison by the k cheapest plans ([`hde`]) stands
//! beside it. Every plan that such a verdict rests on is listed ([`Witness`]), so that another program can
//! judge it; [`Unseen`] gives the reason where plans do not show a difference.
//!
//! Draws depend on the seed, the suite's name and the action's place; limits are counts.

mod judge;
mod setup;
mod tables;
#[cfg(test)]
mod tests;
mod unseen;

pub use tables::{behaviour, by_class, by_kind, by_mistake, misjudged, rows, unseen_reasons};
pub use unseen::Unseen;

use super::engine::run_all;
use super::stream::stream;
use super::suites::StudySuite;
use super::watch::Watch;
use judge::ActionJudge;
use planforge_contract::Failure;
use planforge_pddl::mutate::action::{ActionMutant, action_mutants};
use planforge_planning::equivalence::ComparedSide;
use planforge_planning::equivalence::domains::ComparisonVerdict;
use planforge_planning::equivalence::hde;
use planforge_planning::result_class::ResultClass;
use planforge_planning::walk::NamedStep;
use std::num::NonZeroUsize;

/// The actions to judge, and limits as counts.
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
    /// True if it is a plan of the true domain, and of the one with the mutant in it.
    pub valid: [bool; 2],
}

/// A difference by the exact comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct ExactDifference {
    /// The problem's place in the suite, from 0.
    pub problem: usize,
    /// The shortest sequence that shows it.
    pub steps: Vec<NamedStep>,
    /// The domain that executes all of it or reaches the goal; the other does not. Absent if only costs
    /// differ.
    pub executed_by: Option<ComparedSide>,
}

/// The result of an exact comparison over all problems of the suite.
#[derive(Debug, Clone, PartialEq)]
pub enum Exact {
    /// Equal over the whole reachable space of every problem.
    Equal,
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

/// The behaviour of a mutant without a flaw.
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
    /// The reason why plans do not show the difference, where there is one and they do not.
    pub unseen: Option<Unseen>,
}

/// A mutant and what became of it.
#[derive(Debug, Clone)]
pub struct JudgedMutant {
    /// Index of the suite.
    pub suite: usize,
    /// Index of the action in its domain.
    pub action: usize,
    pub mutant: ActionMutant,
    pub class: ResultClass,
    /// The first finding, or the reason why there is no decision.
    pub finding: Option<String>,
    /// The behaviour, for mutants without a flaw by construction.
    pub behaves: Option<Behaves>,
}

impl JudgedMutant {
    /// True if the class is not the one that the mutant has by construction. A mutant without a flaw may have
    /// any class of behaviour.
    pub fn is_misjudged(&self) -> bool {
        match self.mutant.flaw {
            Some(flaw) => self.class != ResultClass::from(flaw),
            None => self.behaves.is_none(),
        }
    }

    /// True if plans call different what is exactly equal.
    pub fn contradicts(&self) -> bool {
        let different = [ResultClass::NoPlan, ResultClass::NPApp, ResultClass::OPApp];
        self.behaves.as_ref().is_some_and(|b| {
            b.exact == Exact::Equal && b.classes.iter().any(|class| different.contains(class))
        })
    }
}

/// The judged mutants of suites.
#[derive(Debug, Clone, Default)]
pub struct Classes {
    /// Every mutant, by suite, action and draw.
    pub judged: Vec<JudgedMutant>,
    /// Suites whose own domain is not a reference within the limits, by name, with the reason.
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
        let judge = match ActionJudge::new(suite, spec, watch) {
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
            run_all(&drawn, threads, watch, |(action, mutant)| judge.judge_mutant(index, *action, mutant))?;
        classes.judged.extend(judged);
    }
    Ok(classes)
}

/// Options of the heuristic comparison.
fn hde_options(spec: &ClassesSpec, k: NonZeroUsize, rule: hde::HdeRule) -> hde::HdeOptions {
    hde::HdeOptions { k, rule, max_nodes: spec.max_nodes, ..hde::HdeOptions::default() }
}
