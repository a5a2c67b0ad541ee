//! A safe wrapper of clingo: takes a program and returns its answer sets, or an error.
//!
//! This crate and `plugin-abi` are the only ones that call foreign code; all of it is in `ffi`. Notes for
//! callers:
//!
//! * Solving can be stopped ([`SolveRequest::stop`]), **grounding cannot**: `p(X+1) :- p(X).` uses all memory. Solve untrusted programs in a worker process with limits of time and memory.
//! * `#include`, `#script` and `#theory` are refused before clingo runs, so no program reads a file. The rest of the language is allowed; callers restrict it further.
//! * clingo keeps every name, string and term until the process ends. A long-lived process grows with the distinct terms of all its programs.
//! * Several threads may call [`solve`]; one of them grounds at a time, since clingo has one global slot for external functions.
//! * There is no global configuration. Results are deterministic: one thread, a fixed seed, sorted atoms and answer sets.

mod directives;
mod ffi;
mod message;
mod symbol;

pub use message::{Message, MessageKind, MessagePlace};
pub use symbol::Symbol;

use std::ffi::CString;
use std::fmt;

/// External functions: the values of `@name(arguments)` in a program.
///
/// `None` (no such function), `Some(Err(..))` and a panic end the job with [`Error::Function`].
/// `Some(Ok(values))` replaces the call by each of the values; without values the rule's instance disappears.
/// Must not call [`solve`], which would end the inner job with an error. Called while grounding, perhaps
/// several times with equal arguments, in clingo's order.
pub type Functions<'a> = dyn Fn(&str, &[Symbol]) -> Option<Result<Vec<Symbol>, String>> + 'a;

/// One program and what to find of it. `SolveRequest { models: 0, ..SolveRequest::new(text) }` finds all its answer sets.
#[derive(Clone, Copy)]
pub struct SolveRequest<'a> {
    /// The program, in the language of gringo. Positions in messages are of this text.
    pub program: &'a str,
    /// Most answer sets to find, 0 for all.
    pub models: u32,
    /// AnswerSets sets that show the same atoms count as one.
    pub project: bool,
    /// Only answer sets that are optimal by the program's `#minimize`, `#maximize` and `:~`. Otherwise these have no effect.
    pub optimise: bool,
    pub functions: &'a Functions<'a>,
    /// Called some 50 times a second while solving (never while grounding); true ends the search with the
    /// answer sets found so far.
    pub stop: Option<&'a dyn Fn() -> bool>,
}

impl<'a> SolveRequest<'a> {
    /// The first answer set of a program without external functions.
    pub fn new(program: &'a str) -> Self {
        Self { program, models: 1, project: false, optimise: false, functions: &|_, _| None, stop: None }
    }
}

impl fmt::Debug for SolveRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SolveRequest")
            .field("program", &self.program)
            .field("models", &self.models)
            .field("project", &self.project)
            .field("optimise", &self.optimise)
            .field("stop", &self.stop.is_some())
            .finish_non_exhaustive()
    }
}

/// Result of solving a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerSets {
    /// The shown atoms of each answer set, both sorted. With [`SolveRequest::optimise`], only optimal answer
    /// sets.
    pub models: Vec<Vec<Symbol>>,
    /// True if there are no other answer sets; without models, the program is then unsatisfiable. False if
    /// [`SolveRequest::models`] or [`SolveRequest::stop`] ended the search.
    pub complete: bool,
    /// [`SolveRequest::stop`] ended the search.
    pub stopped: bool,
    /// The cost of every model of an optimisation, the highest priority first; empty in a program without costs.
    pub cost: Vec<i64>,
    /// clingo's warnings in order: undefined operations, atoms that no rule derives.
    pub messages: Vec<Message>,
    /// Number of further messages, left out of `messages`.
    pub omitted: u64,
}

/// The reason why a program was not solved. An error does not mean that there are no answer sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// The text has a directive that this crate refuses.
    Refused {
        /// The directive, such as `#include`.
        what: String,
        place: MessagePlace,
    },
    /// Syntax errors, unsafe variables: clingo's messages, those of kind [`MessageKind::Error`] among them.
    Program {
        messages: Vec<Message>,
        /// Number of further messages, left out.
        omitted: u64,
    },
    /// An external function is unknown, failed or panicked.
    Function {
        /// Its name, without `@`.
        name: String,
        arguments: Vec<Symbol>,
        /// MessagePlace of the call in the program.
        place: MessagePlace,
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
pub fn solve(job: &SolveRequest<'_>) -> Result<AnswerSets, Error> {
    directives::check(job.program)?;
    let program = CString::new(job.program).map_err(|nul| Error::Refused {
        what: "a NUL character".to_owned(),
        place: MessagePlace::of(job.program, nul.nul_position()),
    })?;
    ffi::solve(&program, job)
}

/// The version of clingo that is linked in: major, minor, revision.
pub fn version() -> (i32, i32, i32) {
    ffi::version()
}
