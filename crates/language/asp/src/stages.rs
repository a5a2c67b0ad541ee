//! Solves a program in stages; each stage is a run of the reasoner.
//!
//! The objects that a text counts without naming them depend on everything else. In one program that would be
//! a search through choices, with as many answer sets as there are ways to name interchangeable objects. So
//! the first stage finds the named objects. Each further stage gets the missing objects and the order of all,
//! until no object is missing. No stage has choices, unless the knowledge file has some. If plain rules
//! predict the result ([`SolveJob::guess`]), the first stage gets the prediction and is also the last if its
//! answer confirms it.
//!
//! [`solve`] runs the stages with the reasoner as a function, so the reasoner can run in another process.

use crate::names::Naming;
use crate::syntax::ast::{Term, constant, function};
use crate::syntax::parse_ground_term;
use planforge_pddl::natural;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The most stages with changing objects.
const MOST_STAGES: u32 = 16;

/// The input of the reasoner's process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SolveJob {
    /// The program without records of applied rules.
    pub plain: String,
    /// The program with a twin for every rule.
    pub recorded: String,
    /// Rules that forbid violated constraints.
    pub hard: String,
    /// Rules that minimise violated constraints.
    pub relaxed: String,
    /// Names for objects that the text only counts.
    pub naming: Naming,
    /// Names that they must not get.
    pub taken: BTreeSet<String>,
    /// Those constants that occur in facts of a state.
    pub mentioned: BTreeSet<String>,
    /// The types above each type of the domain.
    pub above: BTreeMap<String, BTreeSet<String>>,
    /// For each type those whose objects bring objects of it, and have to be complete before.
    pub feeds: BTreeMap<String, BTreeSet<String>>,
    /// Types whose objects are put in order.
    pub ranked: BTreeSet<String>,
    /// The objects of every type are put in order.
    pub ranks_all: bool,
    /// The predicted result of the stages, passed to the first one, which has to confirm it.
    pub guess: Option<StageInput>,
    /// The most answer sets to read.
    pub max_answers: u32,
    /// Most objects to make.
    pub max_objects: u32,
}

impl Default for SolveJob {
    fn default() -> Self {
        Self {
            plain: String::new(),
            recorded: String::new(),
            hard: String::new(),
            relaxed: String::new(),
            naming: Naming::default(),
            taken: BTreeSet::new(),
            mentioned: BTreeSet::new(),
            above: BTreeMap::new(),
            feeds: BTreeMap::new(),
            ranked: BTreeSet::new(),
            ranks_all: false,
            guess: None,
            max_answers: 16,
            max_objects: 10_000,
        }
    }
}

/// One run of the reasoner.
#[derive(Debug, Clone, Copy)]
pub struct Run<'a> {
    pub program: &'a str,
    /// Most answer sets to find.
    pub models: u32,
    /// True to find an optimal answer set.
    pub optimise: bool,
    /// Naming for the external function `@id`.
    pub naming: &'a Naming,
}

/// Result of one run: the atoms of each answer set, as text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunAnswers {
    pub answers: Vec<Vec<String>>,
    /// True if there are no other answer sets.
    pub complete: bool,
}

/// The outcome of the stages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// There are answer sets, and no object is missing.
    Solved,
    /// Only with violated constraints: there is one answer set, with as few as possible.
    Violated,
    /// None, even with the constraints left out: rules deny each other.
    NoAnswer,
    /// A type has more objects than are made.
    TooManyObjects {
        ty: String,
        /// Number of missing objects.
        missing: i64,
    },
    /// The objects kept changing from stage to stage.
    Unsettled,
}

/// The answer to a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SolveResult {
    pub outcome: Outcome,
    /// The atoms of each answer set, with the twins.
    pub answers: Vec<Vec<String>>,
    /// True if there are no other answer sets.
    pub complete: bool,
    /// True if later answer sets require other objects than the first.
    pub objects_differ: bool,
    /// Runs of the reasoner.
    pub runs: u32,
}

/// Solves a job. `reasoner` runs one program.
///
/// # Errors
/// The reasoner's error for a program that it cannot run.
pub fn solve<E>(
    job: &SolveJob,
    reasoner: &mut dyn FnMut(Run<'_>) -> Result<RunAnswers, E>,
) -> Result<SolveResult, E> {
    let mut solver = Solver { job, reasoner, runs: 0 };
    solver.solve()
}

struct Solver<'a, E> {
    job: &'a SolveJob,
    reasoner: &'a mut dyn FnMut(Run<'_>) -> Result<RunAnswers, E>,
    runs: u32,
}

impl<E> Solver<'_, E> {
    fn solve(&mut self) -> Result<SolveResult, E> {
        if let Some(guess) = &self.job.guess
            && let Some(reply) = self.stages(guess.clone(), true, true)?
        {
            return Ok(reply);
        }
        // Nothing is given to the first stage, so it is only worth recording where nothing can be missing.
        let record = !self.asks_for_objects();
        let reply = self.stages(StageInput::default(), record, false)?;
        Ok(reply.unwrap_or_else(|| self.reply(Outcome::Unsettled, RunAnswers::default())))
    }

    /// The stages from what is given to the first one; none where a guess was wrong.
    fn stages(
        &mut self,
        mut given: StageInput,
        mut record: bool,
        guessed: bool,
    ) -> Result<Option<SolveResult>, E> {
        let made = if guessed { given.generated.clone() } else { Vec::new() };
        for _ in 0..MOST_STAGES {
            let (outcome, found) = self.stage(&given, record)?;
            let Some(first) = found.answers.first() else {
                return Ok((!guessed).then(|| self.reply(outcome, found)));
            };
            let census = take_census(first);
            if made.iter().any(|(ty, ..)| !census.bears_out(ty)) {
                return Ok(None);
            }
            let next = match self.job.next(&given, &census) {
                Ok(next) => next,
                Err(outcome) => return Ok((!guessed).then(|| self.reply(outcome, RunAnswers::default()))),
            };
            if record && next == given {
                let same =
                    |answer: &Vec<String>| self.job.next(&given, &take_census(answer)).as_ref() == Ok(&given);
                let objects_differ = !found.answers.iter().skip(1).all(same);
                return Ok(Some(SolveResult { objects_differ, ..self.reply(outcome, found) }));
            }
            (given, record) = (next, true);
        }
        Ok(None)
    }

    fn reply(&self, outcome: Outcome, found: RunAnswers) -> SolveResult {
        let RunAnswers { answers, complete } = found;
        SolveResult { outcome, answers, complete, objects_differ: false, runs: self.runs }
    }

    fn asks_for_objects(&self) -> bool {
        let mentions = |word: &str| self.job.plain.contains(word);
        mentions("generated(") || mentions("index(") || mentions("amount(")
    }

    fn run(&mut self, program: &str, models: u32, optimise: bool) -> Result<RunAnswers, E> {
        self.runs += 1;
        (self.reasoner)(Run { program, models, optimise, naming: &self.job.naming })
    }

    /// Runs one stage with constraints that are only recorded. A program with several answer sets is solved
    /// again with hard constraints; if that has no answer, a third time with as few violations as possible.
    fn stage(&mut self, given: &StageInput, record: bool) -> Result<(Outcome, RunAnswers), E> {
        let mut program = if record { self.job.recorded.clone() } else { self.job.plain.clone() };
        given.write(&mut program);
        let found = self.run(&program, 2, false)?;
        match found.answers.as_slice() {
            [] => return Ok((Outcome::NoAnswer, found)),
            [only] if found.complete => {
                let violated = only.iter().any(|atom| atom.starts_with("_bad"));
                return Ok((if violated { Outcome::Violated } else { Outcome::Solved }, found));
            }
            _ => {}
        }
        let found = self.run(&format!("{program}{}", self.job.hard), self.job.max_answers, false)?;
        if !found.answers.is_empty() {
            return Ok((Outcome::Solved, found));
        }
        let found = self.run(&format!("{program}{}", self.job.relaxed), 1, true)?;
        Ok((Outcome::Violated, found))
    }
}

// Objects that exist and objects that are missing, with their names: the data that one stage passes to the
// next.

/// Input of a stage.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageInput {
    /// Objects to make: type, index, how many there are to be.
    pub(crate) generated: Vec<(String, i64, i64)>,
    /// The objects of ranked types, in order.
    pub(crate) ranks: BTreeMap<String, Vec<String>>,
}

/// Statements of an answer set about objects.
#[derive(Debug, Default)]
pub(crate) struct Census {
    /// The objects of each type.
    pub(crate) members: BTreeMap<String, Vec<String>>,
    /// Number of missing objects by type.
    pub(crate) missing: BTreeMap<String, i64>,
    pub(crate) counts: BTreeMap<String, i64>,
    /// Types that maps pair.
    pub(crate) mapped: BTreeSet<String>,
}

impl Census {
    /// True if a type has no more objects than are counted, so that every made object was needed.
    fn bears_out(&self, ty: &str) -> bool {
        let there = self.members.get(ty).map_or(0, Vec::len);
        self.counts.get(ty).is_some_and(|count| there as i64 <= *count)
    }
}

impl StageInput {
    /// The facts that a stage is given.
    pub(crate) fn atoms(&self) -> impl Iterator<Item = Term> {
        let generated = self.generated.iter().map(|(ty, index, count)| {
            function("generated", vec![constant(ty), Term::Number(*index), Term::Number(*count)])
        });
        let ranks = self.ranks.iter().flat_map(|(ty, names)| {
            let amount = function("amount", vec![constant(ty), Term::Number(names.len() as i64)]);
            let index = (1..).zip(names).map(|(index, name)| {
                // A row is an object by its number.
                let object = name.parse().map_or_else(|_| constant(name), Term::Number);
                function("index", vec![constant(ty), Term::Number(index), object])
            });
            std::iter::once(amount).chain(index)
        });
        generated.chain(ranks)
    }

    /// The same as a part of a program.
    fn write(&self, program: &mut String) {
        for atom in self.atoms() {
            // Writing to a string cannot fail.
            let _ = writeln!(program, "{atom}.");
        }
    }
}

impl SolveJob {
    /// The input of the next stage after an answer.
    pub(crate) fn next(&self, given: &StageInput, census: &Census) -> Result<StageInput, Outcome> {
        let mut next = StageInput { generated: given.generated.clone(), ranks: BTreeMap::new() };
        let mut members = census.members.clone();
        let due: Vec<(&String, i64)> = census
            .missing
            .iter()
            .filter(|(ty, _)| !census.missing.keys().any(|other| self.comes_before(other, ty)))
            .map(|(ty, missing)| (ty, *missing))
            .collect();
        for (ty, missing) in due {
            if missing > i64::from(self.max_objects) - next.generated.len() as i64 {
                return Err(Outcome::TooManyObjects { ty: ty.clone(), missing });
            }
            self.make(ty, missing, census, &mut next.generated, &mut members);
        }
        let ranked = self.ranked.iter().chain(&census.mapped);
        let all: Vec<&String> = if self.ranks_all { members.keys().collect() } else { Vec::new() };
        for ty in ranked.chain(all) {
            let mut names = members.get(ty).cloned().unwrap_or_default();
            names.sort_by(|a, b| natural(a, b));
            names.dedup();
            next.ranks.insert(ty.clone(), names);
        }
        Ok(next)
    }

    /// True if the objects of the type `first` must be complete before the missing objects of `then` are
    /// known.
    fn comes_before(&self, first: &str, then: &str) -> bool {
        first != then && self.leads(first, then) && !self.leads(then, first)
    }

    fn leads(&self, from: &str, to: &str) -> bool {
        let mut reached: BTreeSet<&str> = BTreeSet::from([to]);
        let mut open = vec![to];
        while let Some(ty) = open.pop() {
            for feeder in self.feeds.get(ty).into_iter().flatten() {
                if reached.insert(feeder) {
                    open.push(feeder);
                }
            }
        }
        reached.contains(from)
    }

    /// Makes objects of a type. A name of the type's form that the text uses in a compatible way becomes the
    /// name of a counted object: a text with shot1 and three shots means one of the three. The others get the
    /// lowest free indices.
    fn make(
        &self,
        ty: &str,
        missing: i64,
        census: &Census,
        generated: &mut Vec<(String, i64, i64)>,
        members: &mut BTreeMap<String, Vec<String>>,
    ) {
        let naming = &self.naming;
        let total = census.counts.get(ty).copied().unwrap_or(missing);
        let mut types: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (of, names) in &census.members {
            names.iter().for_each(|name| types.entry(name).or_default().push(of));
        }
        let made: BTreeSet<String> = generated.iter().map(|(ty, index, _)| naming.name(ty, *index)).collect();
        let may_be = |name: &str| {
            let known = types.get(name).map(Vec::as_slice).unwrap_or_default();
            !made.contains(name) && known.iter().all(|of| self.is_above(of, ty))
        };
        let mentioned = types.keys().copied().chain(self.mentioned.iter().map(String::as_str));
        let meant: BTreeSet<i64> =
            mentioned.filter(|name| may_be(name)).filter_map(|name| naming.index(ty, name)).collect();
        let is_free = |index: &i64| {
            let name = naming.name(ty, *index);
            !types.contains_key(name.as_str()) && !made.contains(&name) && !self.taken.contains(&name)
        };
        let others = usize::try_from(missing).unwrap_or(0).saturating_sub(meant.len());
        let free: Vec<i64> = (naming.first(ty)..).filter(is_free).take(others).collect();
        for index in meant.into_iter().chain(free) {
            generated.push((ty.to_owned(), index, total));
            for above in self.above.get(ty).into_iter().flatten().map(String::as_str).chain([ty]) {
                members.entry(above.to_owned()).or_default().push(naming.name(ty, index));
            }
        }
    }

    /// True if every object of the type `below` is also of the different type `above`.
    fn is_above(&self, above: &str, below: &str) -> bool {
        above == "object"
            || self.above.get(below).is_some_and(|all| all.contains(above))
            || (above != below && self.leads(below, above))
    }
}

/// Counts the objects of an answer.
fn take_census(answer: &[String]) -> Census {
    let mut census = Census::default();
    for atom in answer {
        let name = atom.split('(').next().unwrap_or_default();
        if !["object", "missing", "mapped", "cardinality"].contains(&name) {
            continue;
        }
        let Some(Term::Function { arguments, .. }) = parse_ground_term(atom) else { continue };
        match (name, arguments.as_slice()) {
            ("object", [object, ty]) => {
                census.members.entry(ty.to_string()).or_default().push(object.to_string());
            }
            ("missing", [ty, Term::Number(missing)]) => drop(census.missing.insert(ty.to_string(), *missing)),
            ("cardinality", [ty, Term::Number(count)]) => drop(census.counts.insert(ty.to_string(), *count)),
            ("mapped", [_, first, _, second]) => {
                census.mapped.extend([first.to_string(), second.to_string()])
            }
            _ => {}
        }
    }
    census
}
