//! Mutants of reference domains and problems, drawn kind by kind.

use super::CalibrationSpec;
use crate::study::{StudySuite, stream};
use planforge_pddl::mutate::{
    Mutation, MutationKind, ProblemMutant, ProblemPart, RewriteKind, all_mutations, problem_mutants,
    random_mutations, random_rewrite,
};
use planforge_pddl::random::Random;
use planforge_pddl::{print_domain, print_problem};
use serde::{Deserialize, Serialize};
use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::str::FromStr;

/// Draws without a new mutant after which a kind counts as used up.
const TRIES: usize = 50;

/// The operation that makes a mutant. Its label comes from the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum MutantKind {
    Mistake(MutationKind),
    /// One mistake in a problem, with the reference's domain.
    Problem(ProblemPart),
    /// One rewrite that means the same.
    Rewrite(RewriteKind),
}

impl MutantKind {
    /// Every kind, mistakes first. A predicate that loses an argument is none of them: the problem files would not fit any more.
    pub fn all() -> Vec<Self> {
        let mistakes = MutationKind::ALL.into_iter().filter(|k| *k != MutationKind::PredicateArgument);
        let problems = [ProblemPart::Init, ProblemPart::Goal].map(Self::Problem);
        let rewrites = RewriteKind::ALL.into_iter().map(Self::Rewrite);
        mistakes.map(Self::Mistake).chain(rewrites).chain(problems).collect()
    }

    /// The kinds that are drawn where none are named: all of domains.
    pub fn defaults() -> Vec<Self> {
        Self::all().into_iter().filter(|kind| !matches!(kind, Self::Problem(_))).collect()
    }

    /// The kind's name in tables and options.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mistake(kind) => kind.as_str(),
            Self::Problem(ProblemPart::Init) => "wrong-init",
            Self::Problem(ProblemPart::Goal) => "wrong-goal",
            Self::Rewrite(kind) => kind.as_str(),
        }
    }

    /// True if it is a rewrite.
    pub fn is_rewrite(self) -> bool {
        matches!(self, Self::Rewrite(_))
    }
}

impl fmt::Display for MutantKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for MutantKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::all().into_iter().find(|kind| kind.as_str() == text).ok_or_else(|| {
            let known: Vec<&str> = Self::all().into_iter().map(Self::as_str).collect();
            format!("unknown kind `{text}`; the kinds are {}", known.join(", "))
        })
    }
}

impl TryFrom<String> for MutantKind {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<MutantKind> for String {
    fn from(kind: MutantKind) -> Self {
        kind.as_str().to_owned()
    }
}

/// A reference domain, or one of its problems, with one thing changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mutant {
    /// Index of its suite.
    pub suite: usize,
    /// Its number in the suite, from 0.
    pub number: usize,
    /// The kind of the mutant.
    pub kind: MutantKind,
    /// The change, in words.
    pub change: String,
    /// The changed text: the domain or, where `problem` is given, that problem.
    pub text: String,
    /// Index of the changed problem; the domain is then the reference's. `None` if the domain is changed.
    pub problem: Option<usize>,
}

/// Draws the mutants of suites: `spec.mutants` in all, shared out evenly, no text of a suite twice. Mistakes
/// and rewrites take turns, as do the kinds of each, so that equal and different mutants are both frequent. A
/// kind without more mutants in a suite is skipped, so there may be fewer than requested.
///
/// Draws depend on the seed, the suite's name and its share alone.
pub fn mutants(suites: &[StudySuite], spec: &CalibrationSpec) -> Vec<Mutant> {
    let mut all = Vec::new();
    for (index, suite) in suites.iter().enumerate() {
        let share = spec.mutants / suites.len() + usize::from(index < spec.mutants % suites.len());
        of_suite(index, suite, share, spec, &mut all);
    }
    all
}

fn of_suite(index: usize, suite: &StudySuite, share: usize, spec: &CalibrationSpec, all: &mut Vec<Mutant>) {
    let mut sides = [false, true].map(|rewrites| Side::new(suite, spec, rewrites));
    let mut seen = HashSet::from([print_domain(&suite.domain)]);
    let mut number = 0;
    while number < share {
        let before = number;
        for side in &mut sides {
            if number == share {
                break;
            }
            let Some((kind, drawn)) = side.next(&mut seen) else { continue };
            let Drawn { change, text, problem } = drawn;
            all.push(Mutant { suite: index, number, kind, change, text, problem });
            number += 1;
        }
        if number == before {
            break;
        }
    }
}

/// Kinds that take turns.
struct Side<'a> {
    draws: VecDeque<Draw<'a>>,
}

impl<'a> Side<'a> {
    fn new(suite: &'a StudySuite, spec: &CalibrationSpec, rewrites: bool) -> Self {
        let place = |kind: MutantKind| MutantKind::all().iter().position(|k| *k == kind).unwrap_or(0) as u64;
        let mut kinds: Vec<MutantKind> =
            spec.kinds.iter().copied().filter(|k| k.is_rewrite() == rewrites).collect();
        // In an order of the suite's own: a small share is then one of some kinds here and of others there.
        let count = kinds.len();
        stream(spec.seed, &suite.name, &[u64::MAX, u64::from(rewrites)]).shuffle_front(&mut kinds, count);
        let draw = |kind| Draw::new(suite, kind, stream(spec.seed, &suite.name, &[place(kind)]));
        Self { draws: kinds.into_iter().map(draw).collect() }
    }

    /// The next mutant of the kind whose turn it is, or of the first after it that has one left.
    fn next(&mut self, seen: &mut HashSet<String>) -> Option<(MutantKind, Drawn)> {
        while let Some(mut draw) = self.draws.pop_front() {
            if let Some(drawn) = draw.next(seen) {
                let kind = draw.kind;
                self.draws.push_back(draw);
                return Some((kind, drawn));
            }
        }
        None
    }
}

/// A change, in words, and the changed text.
struct Drawn {
    change: String,
    text: String,
    problem: Option<usize>,
}

/// The mutants of one kind and suite, one after the other.
struct Draw<'a> {
    suite: &'a StudySuite,
    kind: MutantKind,
    random: Random,
    /// Mistakes that can be listed, in random order; the last is the next.
    listed: Vec<Mutation>,
    /// Mistakes in problems, with the problem's index, in the same order.
    problems: Vec<(usize, ProblemMutant)>,
}

impl<'a> Draw<'a> {
    fn new(suite: &'a StudySuite, kind: MutantKind, mut random: Random) -> Self {
        let mut listed = match kind {
            // There are too many to list.
            MutantKind::Mistake(MutationKind::Addition) | MutantKind::Rewrite(_) | MutantKind::Problem(_) => {
                Vec::new()
            }
            MutantKind::Mistake(kind) => all_mutations(&suite.domain, kind),
        };
        let count = listed.len();
        random.shuffle_front(&mut listed, count);
        let mut problems: Vec<(usize, ProblemMutant)> = Vec::new();
        if let MutantKind::Problem(part) = kind {
            for (index, task) in suite.tasks.iter().enumerate() {
                let all = problem_mutants(&suite.domain, &task.problem, part);
                problems.extend(all.into_iter().map(|mutant| (index, mutant)));
            }
            let count = problems.len();
            random.shuffle_front(&mut problems, count);
        }
        Draw { suite, kind, random, listed, problems }
    }

    /// Returns the next mutant; absent if there are no more.
    fn next(&mut self, seen: &mut HashSet<String>) -> Option<Drawn> {
        for _ in 0..TRIES {
            let drawn = self.draw()?;
            if seen.insert(drawn.text.clone()) {
                return Some(drawn);
            }
        }
        None
    }

    fn draw(&mut self) -> Option<Drawn> {
        let domain = &self.suite.domain;
        let of_domain = |change: String, text| Drawn { change, text, problem: None };
        match self.kind {
            MutantKind::Rewrite(kind) => {
                let rewrite = random_rewrite(domain, kind, &mut self.random)?;
                Some(of_domain(rewrite.to_string(), print_domain(&rewrite.domain)))
            }
            MutantKind::Mistake(kind) => {
                let mutation = match kind {
                    MutationKind::Addition => {
                        random_mutations(domain, &[(kind, 1.0)], 1, &mut self.random).pop()?
                    }
                    _ => self.listed.pop()?,
                };
                Some(of_domain(mutation.to_string(), print_domain(&mutation.apply(domain))))
            }
            MutantKind::Problem(_) => {
                let (index, mutant) = self.problems.pop()?;
                let change = format!("{}, {mutant}", self.suite.tasks.get(index)?.stem);
                Some(Drawn { change, text: print_problem(&mutant.problem), problem: Some(index) })
            }
        }
    }
}
