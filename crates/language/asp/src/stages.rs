//! How a program is solved: in stages, each one a run of the reasoner.
//!
//! Which objects a text counts and does not name is known when everything else is, and what pairs the third shot with the third level
//! has to know all of both. Said in one program, that is a search through choices with as many answer sets as there are ways to name
//! what is interchangeable. So the first stage finds the objects that are named; each further one is given the objects that were missing and
//! the order of all, until nothing is missing any more and nothing changes. Every stage is a program without choices, unless the knowledge
//! file has some, and takes no search. Where plain rules tell beforehand what the stages will come to ([`Job::guess`]), the first one is given
//! that and is the last, if its answer bears it out.
//!
//! [`solve`] does the stages and is given the reasoner as a function, so that it can run in another process than the rest.

mod objects;

use crate::naming::Naming;
pub(crate) use objects::Census;
pub use objects::Given;
use objects::census;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Runs of the reasoner with different objects before it is said that they do not settle.
const MOST_STAGES: u32 = 16;

/// What the reasoner is given: a document that crosses to the process it runs in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// The program.
    pub plain: String,
    /// The program with a twin for every rule.
    pub recorded: String,
    /// What makes violated constraints forbidden.
    pub hard: String,
    /// What makes violated constraints as few as possible.
    pub relaxed: String,
    /// What objects without a name are called.
    pub naming: Naming,
    /// Names that they must not get.
    pub taken: BTreeSet<String>,
    /// Those among them that the text says something of.
    pub mentioned: BTreeSet<String>,
    /// The types above each type of the domain.
    pub above: BTreeMap<String, BTreeSet<String>>,
    /// For each type those whose objects bring objects of it, and have to be complete before.
    pub feeds: BTreeMap<String, BTreeSet<String>>,
    /// Types whose objects are put in order.
    pub ranked: BTreeSet<String>,
    /// The objects of every type are put in order.
    pub ranks_all: bool,
    /// What the stages will come to in all likelihood; the first one is given it, and has to bear it out.
    pub guess: Option<Given>,
    /// Most answer sets to look at.
    pub max_answers: u32,
    /// Most objects to make.
    pub max_objects: u32,
}

impl Default for Job {
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
    /// The program.
    pub program: &'a str,
    /// Most answer sets to find.
    pub models: u32,
    /// Whether to find an optimal one.
    pub optimise: bool,
    /// What `@id` means.
    pub naming: &'a Naming,
}

/// What one run found: the atoms of each answer set, as text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Found {
    /// The answer sets.
    pub answers: Vec<Vec<String>>,
    /// There are no others.
    pub complete: bool,
}

/// What the stages came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// There are answer sets, and all objects that they ask for.
    Solved,
    /// Only with violated constraints: there is one answer set, with as few as possible.
    Violated,
    /// None, even with the constraints left out: rules deny each other.
    NoAnswer,
    /// A type has more objects than are made.
    TooManyObjects {
        /// The type.
        ty: String,
        /// How many are missing.
        missing: i64,
    },
    /// The objects kept changing from stage to stage.
    Unsettled,
}

/// The answer to a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// How it ended.
    pub outcome: Outcome,
    /// The atoms of each answer set, with the twins.
    pub answers: Vec<Vec<String>>,
    /// There are no other answer sets.
    pub complete: bool,
    /// Answer sets after the first ask for other objects than it does.
    pub objects_differ: bool,
    /// Runs of the reasoner.
    pub runs: u32,
}

/// Solves a job. `reasoner` runs one program.
///
/// # Errors
/// What the reasoner says of a program that it cannot run.
pub fn solve<E>(job: &Job, reasoner: &mut dyn FnMut(Run<'_>) -> Result<Found, E>) -> Result<Reply, E> {
    let mut solver = Solver { job, reasoner, runs: 0 };
    solver.solve()
}

struct Solver<'a, E> {
    job: &'a Job,
    reasoner: &'a mut dyn FnMut(Run<'_>) -> Result<Found, E>,
    runs: u32,
}

impl<E> Solver<'_, E> {
    fn solve(&mut self) -> Result<Reply, E> {
        if let Some(guess) = &self.job.guess
            && let Some(reply) = self.stages(guess.clone(), true, true)?
        {
            return Ok(reply);
        }
        // Nothing is given to the first stage, so it is only worth recording where nothing can be missing.
        let record = !self.asks_for_objects();
        let reply = self.stages(Given::default(), record, false)?;
        Ok(reply.unwrap_or_else(|| self.reply(Outcome::Unsettled, Found::default())))
    }

    /// The stages from what is given to the first one; none where a guess was wrong.
    fn stages(&mut self, mut given: Given, mut record: bool, guessed: bool) -> Result<Option<Reply>, E> {
        let made = if guessed { given.generated.clone() } else { Vec::new() };
        for _ in 0..MOST_STAGES {
            let (outcome, found) = self.stage(&given, record)?;
            let Some(first) = found.answers.first() else {
                return Ok((!guessed).then(|| self.reply(outcome, found)));
            };
            let census = census(first);
            if made.iter().any(|(ty, ..)| !census.bears_out(ty)) {
                return Ok(None);
            }
            let next = match self.job.next(&given, &census) {
                Ok(next) => next,
                Err(outcome) => return Ok((!guessed).then(|| self.reply(outcome, Found::default()))),
            };
            if record && next == given {
                let same = |answer: &Vec<String>| {
                    self.job.next(&given, &objects::census(answer)).as_ref() == Ok(&given)
                };
                let objects_differ = !found.answers.iter().skip(1).all(same);
                return Ok(Some(Reply { objects_differ, ..self.reply(outcome, found) }));
            }
            (given, record) = (next, true);
        }
        Ok(None)
    }

    fn reply(&self, outcome: Outcome, found: Found) -> Reply {
        let Found { answers, complete } = found;
        Reply { outcome, answers, complete, objects_differ: false, runs: self.runs }
    }

    fn asks_for_objects(&self) -> bool {
        let mentions = |word: &str| self.job.plain.contains(word);
        mentions("generated(") || mentions("index(") || mentions("amount(")
    }

    fn run(&mut self, program: &str, models: u32, optimise: bool) -> Result<Found, E> {
        self.runs += 1;
        (self.reasoner)(Run { program, models, optimise, naming: &self.job.naming })
    }

    /// One stage: the program with its constraints only watched. A program with several answer sets is solved again with the constraints
    /// in force, and one that then has none a third time with as few violations as possible.
    fn stage(&mut self, given: &Given, record: bool) -> Result<(Outcome, Found), E> {
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
