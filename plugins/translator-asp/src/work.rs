//! The child process: a job in, its answer sets out. What may never end ends here, under the limits of the child and of the job.

use crate::{Limits, codes};
use nix::sys::resource::{UsageWho, getrusage};
use planforge_asp::names::Naming;
use planforge_asp::stages::{self, Run, RunAnswers};
use planforge_asp::syntax::ast::Term;
use planforge_clingo::{Error, MessageKind, Symbol};
use planforge_contract::api::Host;
use planforge_contract::{Failure, FailureClass};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

/// Time that an interrupted search may take to stop.
const GRACE: Duration = Duration::from_millis(500);
/// Interval of the memory checks. clingo fills some megabytes in that time.
const LOOK: Duration = Duration::from_millis(10);
/// Stack of the thread that solves: terms may be nested as deep as the reader lets them.
const STACK: usize = 64 << 20;
/// Most remarks that are handed back.
const MOST_REMARKS: usize = 50;

/// The input of the child process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Question {
    pub(crate) job: stages::SolveJob,
    /// Solves [`stages::SolveJob::plain`] alone, without stages, for an optimal answer set.
    #[serde(default)]
    pub(crate) direct: bool,
    pub(crate) time_ms: u64,
    /// Most that this process may have held, in megabytes.
    pub(crate) memory_mb: u32,
    /// Most bytes of all atoms of one run of the reasoner.
    pub(crate) answer_bytes: u64,
}

/// The output of the child process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Solved {
    /// The answer sets; none if the program is wrong.
    pub(crate) reply: Option<stages::SolveResult>,
    /// The errors, and further remarks of clingo.
    pub(crate) remarks: Vec<Remark>,
}

/// A message of the reasoner about a program.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Remark {
    /// The text of clingo.
    pub(crate) text: String,
    /// The line of the program that it is about; empty if it has no place.
    pub(crate) line: String,
}

impl Question {
    /// A question under the limits of the stage.
    pub(crate) fn new(limits: &Limits, job: stages::SolveJob) -> Self {
        Self {
            job,
            direct: false,
            time_ms: (limits.time_s * 1000.0).ceil() as u64,
            memory_mb: limits.memory_mb,
            answer_bytes: u64::from(limits.answer_kb) << 10,
        }
    }
}

/// Asks the host's child process.
pub(crate) fn ask_child(host: &dyn Host, question: &Question) -> Result<Solved, Failure> {
    let input = serde_json::to_string(question).map_err(|e| document(&e))?;
    let output = host.worker(&input)?;
    serde_json::from_str(&output).map_err(|e| document(&e))
}

/// Answers a question, as text.
pub(crate) fn work(input: &str) -> Result<String, Failure> {
    let question: Question = serde_json::from_str(input).map_err(|e| document(&e))?;
    serde_json::to_string(&in_time(question)?).map_err(|e| document(&e))
}

fn document(error: &serde_json::Error) -> Failure {
    Failure::new(FailureClass::Plugin, codes::JOB, format!("a document of the child process: {error}"))
}

/// Solves in a thread, because grounding cannot be interrupted. If it is too slow, the host learns of the
/// limit and ends this process.
fn in_time(question: Question) -> Result<Solved, Failure> {
    let time = Duration::from_millis(question.time_ms);
    let most_mb = question.memory_mb;
    let stop = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&stop);
    let (send, receive) = mpsc::channel();
    let run = move || drop(send.send(answer(&question, &|| asked.load(Ordering::Relaxed))));
    let thread = std::thread::Builder::new().name("clingo".to_owned()).stack_size(STACK);
    thread.spawn(run).map_err(|e| {
        Failure::new(FailureClass::System, codes::JOB, format!("no thread for the reasoner: {e}"))
    })?;
    let deadline = Instant::now() + time;
    loop {
        match receive.recv_timeout(LOOK.min(deadline.saturating_duration_since(Instant::now()))) {
            Ok(answer) => return answer,
            Err(RecvTimeoutError::Disconnected) => {
                let message = "the reasoner's thread ended without an answer";
                return Err(Failure::new(FailureClass::Plugin, codes::JOB, message));
            }
            // The host ends this process, and the thread with it.
            Err(RecvTimeoutError::Timeout) if held_mb().is_some_and(|held| held > u64::from(most_mb)) => {
                let message = format!("the reasoner took more than {most_mb} MB of memory");
                return Err(size_limit(message));
            }
            Err(RecvTimeoutError::Timeout) if Instant::now() >= deadline => {
                stop.store(true, Ordering::Relaxed);
                // The search ends then; its partial result is late and incomplete.
                drop(receive.recv_timeout(GRACE));
                return Err(time_limit(time));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// Peak memory of this process in megabytes; `None` if the system does not report it.
fn held_mb() -> Option<u64> {
    let kilobytes = getrusage(UsageWho::RUSAGE_SELF).ok()?.max_rss();
    u64::try_from(kilobytes).ok().map(|held| held >> 10)
}

/// The failure of a job that was not done in that time.
fn time_limit(time: Duration) -> Failure {
    let message = format!("the program was not solved within {} ms", time.as_millis());
    Failure::new(FailureClass::Limit, codes::TIME, message)
        .help("write rules that end, or raise `limits.time_s` of the stage")
}

fn size_limit(message: String) -> Failure {
    Failure::new(FailureClass::Limit, codes::SIZE, message)
        .help("write what the text says and no more, or raise the `limits` of the stage")
}

/// The reason for a missing answer.
enum Stop {
    Broke(Failure),
    Wrong(Vec<Remark>),
}

fn answer(question: &Question, stop: &dyn Fn() -> bool) -> Result<Solved, Failure> {
    let mut remarks = BTreeSet::new();
    let mut reasoner = |run: Run<'_>| solve(question, run, stop, &mut remarks);
    let solved = match question.direct {
        true => solve_directly(&question.job, &mut reasoner),
        false => stages::solve(&question.job, &mut reasoner),
    };
    match solved {
        Ok(reply) => {
            let remarks = remarks.into_iter().take(MOST_REMARKS).collect();
            Ok(Solved { reply: Some(reply), remarks })
        }
        Err(Stop::Wrong(remarks)) => Ok(Solved { reply: None, remarks }),
        Err(Stop::Broke(failure)) => Err(failure),
    }
}

/// The optimal answer set of a program without stages.
fn solve_directly(
    job: &stages::SolveJob,
    reasoner: &mut dyn FnMut(Run<'_>) -> Result<RunAnswers, Stop>,
) -> Result<stages::SolveResult, Stop> {
    let run = Run { program: &job.plain, models: 1, optimise: true, naming: &job.naming };
    let RunAnswers { answers, complete } = reasoner(run)?;
    let outcome = if answers.is_empty() { stages::Outcome::NoAnswer } else { stages::Outcome::Solved };
    Ok(stages::SolveResult { outcome, answers, complete, objects_differ: false, runs: 1 })
}

/// One run of the reasoner.
fn solve(
    question: &Question,
    run: Run<'_>,
    stop: &dyn Fn() -> bool,
    remarks: &mut BTreeSet<Remark>,
) -> Result<RunAnswers, Stop> {
    let functions = |name: &str, arguments: &[Symbol]| call(run.naming, name, arguments);
    let answer = planforge_clingo::solve(&planforge_clingo::SolveRequest {
        program: run.program,
        models: run.models,
        project: false,
        optimise: run.optimise,
        functions: &functions,
        stop: Some(stop),
    });
    let line = |line: u32| {
        let line = run.program.lines().nth(line.saturating_sub(1) as usize);
        line.unwrap_or_default().chars().take(300).collect::<String>()
    };
    let remark = |message: &planforge_clingo::Message| Remark {
        text: message.text.clone(),
        line: message.place.map_or_else(String::new, |place| line(place.line)),
    };
    let placed = |text: String, place: planforge_clingo::MessagePlace| {
        Err(Stop::Wrong(vec![Remark { text, line: line(place.line) }]))
    };
    let answer = match answer {
        Ok(answer) => answer,
        Err(Error::Program { messages, .. }) => {
            return Err(Stop::Wrong(messages.iter().map(remark).collect()));
        }
        Err(Error::Refused { what, place }) => return placed(format!("{what} is not allowed"), place),
        Err(Error::Function { name, place, message, .. }) => {
            return placed(format!("@{name}: {message}"), place);
        }
        Err(Error::Memory) => {
            let message = "the program takes more memory than the child process may have";
            return Err(Stop::Broke(size_limit(message.to_owned())));
        }
        Err(Error::Clingo(message)) => {
            let message = format!("the reasoner broke: {message}");
            return Err(Stop::Broke(Failure::new(FailureClass::Plugin, codes::REASONER, message)));
        }
    };
    // The result of an interrupted search is late: its caller has given up.
    if answer.stopped {
        return Err(Stop::Broke(time_limit(Duration::from_millis(question.time_ms))));
    }
    // Underivable atoms are not reported: most texts use few of the atoms in the rules.
    remarks.extend(answer.messages.iter().filter(|m| m.kind != MessageKind::AtomUndefined).map(remark));
    let mut bytes = 0;
    let mut answers = Vec::with_capacity(answer.models.len());
    for model in answer.models {
        let mut atoms = Vec::with_capacity(model.len());
        for atom in model {
            let atom = atom.to_string();
            bytes += atom.len() as u64;
            if bytes > question.answer_bytes {
                let most = question.answer_bytes;
                return Err(Stop::Broke(size_limit(format!(
                    "the answer has more than {most} bytes of atoms"
                ))));
            }
            atoms.push(atom);
        }
        answers.push(atoms);
    }
    Ok(RunAnswers { answers, complete: answer.complete })
}

/// The trusted functions of the library, over the reasoner's values.
fn call(naming: &Naming, name: &str, arguments: &[Symbol]) -> Option<Result<Vec<Symbol>, String>> {
    let arguments: Result<Vec<Term>, String> = arguments.iter().map(term).collect();
    let result = match arguments {
        Ok(arguments) => naming.call(name, &arguments)?,
        Err(error) => Err(error),
    };
    Some(result.and_then(|term| Ok(vec![symbol(&term)?])))
}

fn term(symbol: &Symbol) -> Result<Term, String> {
    Ok(match symbol {
        Symbol::Number(number) => Term::Number(i64::from(*number)),
        Symbol::Text(text) => Term::Text(text.clone()),
        Symbol::Function { name, arguments } => Term::Function {
            name: name.clone(),
            arguments: arguments.iter().map(term).collect::<Result<_, _>>()?,
        },
        other => return Err(format!("takes no {other}")),
    })
}

fn symbol(term: &Term) -> Result<Symbol, String> {
    Ok(match term {
        Term::Number(number) => {
            Symbol::Number(i32::try_from(*number).map_err(|_| format!("{number} has more than 32 bits"))?)
        }
        Term::Text(text) => Symbol::Text(text.clone()),
        Term::Function { name, arguments } => Symbol::Function {
            name: name.clone(),
            arguments: arguments.iter().map(symbol).collect::<Result<_, _>>()?,
        },
        other => return Err(format!("gives {other}, which is no value")),
    })
}
