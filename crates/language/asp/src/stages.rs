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

mod objects;

use crate::naming::Naming;
pub(crate) use objects::Census;
pub use objects::StageInput;
use objects::census;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

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
            let census = census(first);
            if made.iter().any(|(ty, ..)| !census.bears_out(ty)) {
                return Ok(None);
            }
            let next = match self.job.next(&given, &census) {
                Ok(next) => next,
                Err(outcome) => return Ok((!guessed).then(|| self.reply(outcome, RunAnswers::default()))),
            };
            if record && next == given {
                let same = |answer: &Vec<String>| {
                    self.job.next(&given, &objects::census(answer)).as_ref() == Ok(&given)
                };
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
