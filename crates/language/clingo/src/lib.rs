//! clingo as a library of safe calls: a program in, its answer sets or the reason that it has none out.
//!
//! The one crate beside the binary boundary that calls foreign code; all of it is in `ffi`. What a caller must know:
//!
//! * Solving can be stopped ([`Job::stop`]), **grounding cannot**: `p(X+1) :- p(X).` takes all memory there is. Programs that
//!   others wrote are solved in a worker process under limits of time and memory.
//! * `#include`, `#script` and `#theory` are refused before clingo sees the text, so no program reads a file. Everything else of the
//!   language is let through: which of it a model may write is the reader's decision, not this crate's.
//! * clingo keeps every name, string and term that it ever saw until the process ends. A long-lived process grows with the distinct
//!   terms of all its programs.
//! * Several threads may call [`solve`]; one of them grounds at a time, since clingo has one place for external functions.
//! * Nothing is configured globally. One program gives one answer: one thread, a fixed seed, atoms and answer sets sorted.

mod directives;
mod ffi;
mod message;
mod symbol;

pub use message::{Kind, Message, Place};
pub use symbol::Symbol;

use std::ffi::CString;
use std::fmt;

/// External functions: what `@name(arguments)` in a program stands for.
///
/// `None` says that there is no such function, which ends the job with [`Error::Function`]; so does `Some(Err(..))` and a panic.
/// `Some(Ok(values))` puts each of the values in the place of the call: none makes the rule's instance disappear.
/// Must not call [`solve`] (that ends the inner job with an error). Called while grounding, with equal arguments perhaps several times, in an order that is clingo's.
pub type Functions<'a> = dyn Fn(&str, &[Symbol]) -> Option<Result<Vec<Symbol>, String>> + 'a;

/// One program and what to find of it. `Job { models: 0, ..Job::new(text) }` finds all its answer sets.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// The program, in the language of gringo. Positions in messages are of this text.
    pub program: &'a str,
    /// Most answer sets to find, 0 for all.
    pub models: u32,
    /// Answer sets that show the same atoms count as one.
    pub project: bool,
    /// Only answer sets that are optimal by the program's `#minimize`, `#maximize` and `:~`. Otherwise these have no effect.
    pub optimise: bool,
    /// The external functions.
    pub functions: &'a Functions<'a>,
    /// Asked some 50 times a second while solving (never while grounding): true ends the search with what was found.
    pub stop: Option<&'a dyn Fn() -> bool>,
}

impl<'a> Job<'a> {
    /// The first answer set of a program without external functions.
    pub fn new(program: &'a str) -> Self {
        Self { program, models: 1, project: false, optimise: false, functions: &|_, _| None, stop: None }
    }
}

impl fmt::Debug for Job<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job")
            .field("program", &self.program)
            .field("models", &self.models)
            .field("project", &self.project)
            .field("optimise", &self.optimise)
            .field("stop", &self.stop.is_some())
            .finish_non_exhaustive()
    }
}

/// What was found of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The shown atoms of each answer set: sorted, as is the list. Optimal ones only where that was asked for.
    pub models: Vec<Vec<Symbol>>,
    /// The search ended by itself: there is no other answer set. With no models: the program has none (unsatisfiable).
    /// False where [`Job::models`] or [`Job::stop`] ended the search: others may exist.
    pub complete: bool,
    /// [`Job::stop`] ended the search.
    pub stopped: bool,
    /// The cost of every model of an optimisation, the highest priority first; empty in a program without costs.
    pub cost: Vec<i64>,
    /// What clingo remarked, in its order: undefined operations, atoms that no rule derives.
    pub messages: Vec<Message>,
    /// How many further messages were left out of `messages`.
    pub omitted: u64,
}

/// Why a program was not solved. None of these says anything about its answer sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// The text has what this crate does not let through; clingo did not see it.
    Refused {
        /// What stands there: `#include`.
        what: String,
        /// Where.
        place: Place,
    },
    /// Syntax errors, unsafe variables: clingo's messages, those of kind [`Kind::Error`] among them.
    Program {
        /// In clingo's order.
        messages: Vec<Message>,
        /// How many further messages were left out.
        omitted: u64,
    },
    /// An external function is unknown, failed or panicked.
    Function {
        /// Its name, without `@`.
        name: String,
        /// What it was called with.
        arguments: Vec<Symbol>,
        /// Where the program calls it.
        place: Place,
        /// What is wrong.
        message: String,
    },
    /// clingo got no more memory.
    Memory,
    /// Anything else, in clingo's words.
    Clingo(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { what, place } => write!(f, "{place}: {what} is not allowed in a program"),
            Self::Program { messages, omitted } => {
                for (i, message) in messages.iter().enumerate() {
                    write!(f, "{}{message}", if i > 0 { "\n" } else { "" })?;
                }
                if *omitted > 0 {
                    write!(f, "\nand {omitted} more messages")?;
                }
                Ok(())
            }
            Self::Function { name, place, message, .. } => write!(f, "{place}: @{name}: {message}"),
            Self::Memory => f.write_str("clingo ran out of memory"),
            Self::Clingo(message) => write!(f, "clingo: {message}"),
        }
    }
}

impl std::error::Error for Error {}

/// Grounds and solves a program.
///
/// # Errors
/// Everything in [`Error`]. A program without answer sets is not one: it gives no models, and `complete`.
pub fn solve(job: &Job<'_>) -> Result<Answer, Error> {
    directives::check(job.program)?;
    let program = CString::new(job.program).map_err(|nul| Error::Refused {
        what: "a NUL character".to_owned(),
        place: Place::of(job.program, nul.nul_position()),
    })?;
    ffi::solve(&program, job)
}

/// The version of clingo that is linked in: major, minor, revision.
pub fn version() -> (i32, i32, i32) {
    ffi::version()
}
