//! One running copy of the program, with its requests and answers.

use crate::protocol::{Method, Reply, Request, read};
use crate::{ProcessEnvironmentOptions, codes};
use planforge_child::{Ending, Finished, Session, Trouble};
use planforge_contract::{EnvironmentOpen, Failure, FailureClass, ProgressTimer};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Most characters of an unexpected answer in a message.
const SHOWN: usize = 300;

/// A question to the program, as far as it differs from one to the next.
pub(crate) struct Question {
    pub(crate) method: Method,
    pub(crate) parameters: Map<String, Value>,
}

impl Question {
    pub(crate) fn new(method: Method) -> Self {
        Self { method, parameters: Map::new() }
    }

    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.parameters.insert(name.to_owned(), value.into());
        self
    }
}

/// A running copy of the program.
pub(crate) struct Conversation {
    session: Option<Session>,
    /// The command, for messages.
    text: String,
    next: u64,
}

impl Conversation {
    pub(crate) fn start(options: &ProcessEnvironmentOptions) -> Result<Self, Failure> {
        let spec = options.spec();
        let text = spec.text();
        match Session::start(&spec, &options.limits()) {
            Ok(session) => Ok(Self { session: Some(session), text, next: 1 }),
            Err(finished) => Err(Failure::new(
                FailureClass::System,
                codes::START,
                format!("the environment's program `{text}` {}", finished.ending),
            )
            .help("check `command` and `cwd` of the environment")),
        }
    }

    /// True while the process runs.
    fn is_alive(&mut self) -> bool {
        self.session.as_mut().is_some_and(Session::is_alive)
    }

    /// Sends a request and reads the answer. A failure ends the program.
    pub(crate) fn ask<T: DeserializeOwned>(
        &mut self,
        timer: &ProgressTimer<'_>,
        options: &ProcessEnvironmentOptions,
        task: &EnvironmentOpen,
        question: Question,
    ) -> Result<T, Failure> {
        let id = self.next;
        self.next += 1;
        let method = question.method;
        let request =
            Request { id, method, suite: &task.suite, task: &task.task, parameters: question.parameters };
        let line = serde_json::to_string(&request)
            .map_err(|e| Failure::new(FailureClass::Request, codes::PROTOCOL, e.to_string()))?;
        let own = options.patience(id == 1);
        // Many quick answers are long work, too.
        timer.tick();
        let left = timer.host().remaining_ms().map_or(own, Duration::from_millis);
        let answer = self.exchange(&line, own.min(left), &|| timer.is_cancelled());
        let request_text = || request_text(&self.text, method, &line);
        let answer = match answer {
            Ok(answer) => answer,
            Err(Unanswered::Trouble(Trouble::Silent(_))) if left < own => {
                drop(self.session.take());
                let text =
                    format!("{}, took longer than the host's deadline allows; it was killed", request_text());
                return Err(Failure::new(FailureClass::Limit, codes::STOPPED, text));
            }
            Err(unanswered) => {
                let mut failure = failure(unanswered, self.session.take(), options);
                failure.message = format!("{}, {}", request_text(), failure.message);
                return Err(failure);
            }
        };
        match read(&answer, id) {
            Ok(Reply::Result(result)) => Ok(result),
            Ok(Reply::Error(message)) => {
                drop(self.session.take());
                let text = format!("{}, reported an error: {}", request_text(), clip(&message));
                Err(Failure::new(FailureClass::System, codes::ERROR, text).help(codes::CHECK))
            }
            Err(why) => Err(self.broke(&format!("{}: the answer {why}", request_text()), Some(&answer))),
        }
    }

    fn exchange(
        &mut self,
        line: &str,
        wait: Duration,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<String, Unanswered> {
        let Some(session) = &mut self.session else { return Err(Unanswered::Gone) };
        if let Some(early) = session.has_more() {
            return Err(Unanswered::NotAsked(early));
        }
        session.send(line);
        session.receive(wait, cancelled).map_err(Unanswered::Trouble)
    }

    /// The failure of a program that violated the protocol. It is ended, and the message quotes its last
    /// output.
    fn broke(&mut self, what: &str, answer: Option<&str>) -> Failure {
        let said = self.session.take().map(|s| s.stop(Ending::Cancelled).error_tail).unwrap_or_default();
        let came = answer.map(|a| format!("; it was: {}", clip(a))).unwrap_or_default();
        let text = format!("{what}{came}{}", last_words(&said));
        Failure::new(FailureClass::System, codes::PROTOCOL, text)
            .help(codes::or_check("PROTOCOL.md of environment-process says what an answer must hold"))
    }

    /// As [`Conversation::broke`], for what is in form and cannot be.
    pub(crate) fn contradicts(&mut self, what: &str) -> Failure {
        drop(self.session.take());
        Failure::new(
            FailureClass::System,
            codes::CONTRADICTION,
            format!("the environment's program `{}` {what}", self.text),
        )
        .help(codes::or_check(
            "its reset must always lead to the same state, and its actions must be deterministic",
        ))
    }

    /// As [`Conversation::broke`], for a description.
    pub(crate) fn misdescribes(&mut self, what: &str) -> Failure {
        let text = format!("the environment's program `{}` describes itself wrongly: {what}", self.text);
        self.broke(&text, None)
    }
}

/// The reason for a missing answer.
enum Unanswered {
    Trouble(Trouble),
    /// A line without a request.
    NotAsked(String),
    /// The program was ended before.
    Gone,
}

/// The failure, its message without the beginning.
fn failure(why: Unanswered, session: Option<Session>, options: &ProcessEnvironmentOptions) -> Failure {
    let said =
        |session: Option<Session>, because| session.map(|s| s.stop(because).error_tail).unwrap_or_default();
    match why {
        Unanswered::Trouble(Trouble::Silent(wait)) => {
            let said = said(session, Ending::TimedOut(wait));
            let text =
                format!("did not answer within {} s and was killed{}", wait.as_secs_f64(), last_words(&said));
            Failure::new(FailureClass::Limit, codes::SILENT, text).help(codes::or_check(
                "does it flush its output after each answer? Else raise `timeout_s` or `start_timeout_s`",
            ))
        }
        Unanswered::Trouble(Trouble::Cancelled) => {
            drop(session);
            Failure::new(
                FailureClass::Cancelled,
                codes::STOPPED,
                "was killed because the run was interrupted",
            )
        }
        Unanswered::Trouble(Trouble::Ended(finished)) => exit_failure(&finished, options, None),
        Unanswered::Trouble(Trouble::EndedInLine(begun, finished)) => {
            exit_failure(&finished, options, Some(&begun))
        }
        Unanswered::Trouble(Trouble::NotUtf8(text)) => {
            let said = said(session, Ending::Cancelled);
            let text =
                format!("answered with bytes that are not UTF-8: {}{}", clip(&text), last_words(&said));
            Failure::new(FailureClass::System, codes::PROTOCOL, text).help(codes::CHECK)
        }
        Unanswered::NotAsked(line) => {
            let said = said(session, Ending::Cancelled);
            let text = format!("had written a line without a request: {}{}", clip(&line), last_words(&said));
            Failure::new(FailureClass::System, codes::PROTOCOL, text).help(codes::or_check(
                "standard output is for answers alone; messages belong on standard error",
            ))
        }
        Unanswered::Gone => Failure::new(FailureClass::System, codes::DIED, "had been ended before"),
    }
}

fn exit_failure(finished: &Finished, options: &ProcessEnvironmentOptions, begun: Option<&str>) -> Failure {
    let middle = begun.map(|b| format!(" in the middle of an answer, {},", clip(b))).unwrap_or_default();
    let text = format!("did not answer: it{middle} {}", finished.account());
    let (class, code, help) = match &finished.ending {
        Ending::Memory(_) => {
            let way = format!("raise `memory_mb` (now {}) where it is right to need more", options.memory_mb);
            (FailureClass::Limit, codes::LIMIT, codes::or_check(&way))
        }
        Ending::OutputLimit(..) => {
            let way = "`answer_kb` and `errors_kb` are the limits; an answer ends with a line break";
            (FailureClass::Limit, codes::LIMIT, codes::or_check(way))
        }
        _ => (FailureClass::System, codes::DIED, codes::CHECK.to_owned()),
    };
    Failure::new(class, code, text).help(help)
}

/// The request for a message: the environment's program `x`, asked `step` ({...})
fn request_text(text: &str, method: Method, line: &str) -> String {
    format!("the environment's program `{text}`, asked `{}` ({})", method.name(), clip(line))
}

fn last_words(said: &str) -> String {
    match said.trim() {
        "" => String::new(),
        said => format!("; it said: {said}"),
    }
}

fn clip(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(SHOWN) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}...", &text[..end]),
    }
}

/// Interval at which the host's cancellation is checked.
const TICK: Duration = Duration::from_millis(20);

#[derive(Default)]
struct Shelf {
    idle: Vec<Conversation>,
    running: u32,
}

/// The copies of one instance. Dropping it ends them.
#[derive(Default)]
pub(crate) struct Pool {
    shelf: Mutex<Shelf>,
    freed: Condvar,
}

impl Pool {
    /// Works with a copy, waiting for one if all are in use. A copy is kept if the work succeeded.
    pub(crate) fn with<T>(
        &self,
        timer: &ProgressTimer<'_>,
        options: &ProcessEnvironmentOptions,
        work: impl FnOnce(&mut Conversation) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut place = self.place(timer, options)?;
        let conversation = match &mut place.conversation {
            Some(idle) => idle,
            empty => empty.insert(Conversation::start(options)?),
        };
        let result = work(conversation);
        if result.is_err() {
            place.conversation = None;
        }
        result
    }

    fn place(
        &self,
        timer: &ProgressTimer<'_>,
        options: &ProcessEnvironmentOptions,
    ) -> Result<CopyLease<'_>, Failure> {
        let until = timer.host().remaining_ms().map(|left| Instant::now() + Duration::from_millis(left));
        let mut shelf = self.lock();
        loop {
            if shelf.running < options.processes.max(1) {
                shelf.running += 1;
                let mut place = CopyLease { pool: self, conversation: None };
                // A copy that ended while idle is not a failure: a new one replaces it.
                while let Some(mut idle) = shelf.idle.pop() {
                    if idle.is_alive() {
                        place.conversation = Some(idle);
                        break;
                    }
                }
                return Ok(place);
            }
            shelf = self.freed.wait_timeout(shelf, TICK).unwrap_or_else(PoisonError::into_inner).0;
            if timer.is_cancelled() {
                let text =
                    "the run was interrupted while all copies of the environment's program were in use";
                return Err(Failure::new(FailureClass::Cancelled, codes::STOPPED, text));
            }
            if until.is_some_and(|until| Instant::now() >= until) {
                let text =
                    "the host's deadline passed while all copies of the environment's program were in use";
                return Err(Failure::new(FailureClass::Limit, codes::STOPPED, text)
                    .help("raise `processes`, how many may run at a time"));
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to have one copy running; given back in any case, a panic included.
struct CopyLease<'p> {
    pool: &'p Pool,
    conversation: Option<Conversation>,
}

impl Drop for CopyLease<'_> {
    fn drop(&mut self) {
        // A copy that was used while its work panicked may be in the middle of anything.
        let kept = self.conversation.take().filter(|_| !std::thread::panicking());
        let mut shelf = self.pool.lock();
        shelf.running -= 1;
        shelf.idle.extend(kept);
        drop(shelf);
        self.pool.freed.notify_one();
    }
}
