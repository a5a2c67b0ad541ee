//! A running program: its process, and the calls that wait for its answers.

use super::wire::{self, Message};
use crate::limits::TICK;
use planforge_child::{CommandSpec, Ending, Limits, Line, Pipes, Process, Stream, read_line};
use planforge_contract::api::LogLevel;
use planforge_contract::{Failure, FailureClass};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufReader, Read, Write};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The host of one call, as the program meets it.
pub(crate) trait CallHost: Sync {
    /// Answers a question with a document in its envelope.
    fn ask(&self, question: &str, inputs: &[String]) -> Result<String, Failure>;
    fn log(&self, level: LogLevel, message: &str);
    fn progress(&self, done: u64, total: u64, what: &str);
    /// True if the run is being interrupted.
    fn is_cancelled(&self) -> bool;
    /// True if the call's result is not needed any more.
    fn is_given_up(&self) -> bool;
    /// Says that the call begins or ends to wait for other calls of its program; that time is not its own.
    fn set_queued(&self, is_queued: bool);
    /// Milliseconds until the call is given up; `None` without a deadline.
    fn remaining_ms(&self) -> Option<u64>;
}

pub(super) struct Connection {
    id: String,
    /// `None` after the end.
    peer: Mutex<Option<Peer>>,
    /// `None` after the end, which closes the program's input.
    input: Mutex<Option<Sender<String>>>,
    calls: Mutex<Calls>,
    output_bytes: u64,
}

#[derive(Default)]
struct Calls {
    next: u64,
    open: BTreeMap<u64, Sender<FromProgram>>,
    end: Option<End>,
}

/// What the host exchanges messages with.
enum Peer {
    Process(Process),
    /// A program in this process. Its input is closed when it is not needed any more; a call that it works on continues.
    Lent,
}

/// The input and the output of a program in this process.
pub type LentStreams = (Box<dyn Write + Send>, Box<dyn Read + Send>);

/// The end of the program.
#[derive(Clone)]
struct End {
    failure: Failure,
    /// The call that is the cause, if one is: the only one, or the one that did not end in time.
    cause: Option<u64>,
}

enum FromProgram {
    Answer(Result<Value, Failure>),
    Question(Value, Result<(&'static str, Vec<String>), String>),
    Log(LogLevel, String),
    Progress(u64, u64, String),
}

/// The reason why a call has no result.
pub(super) enum NoResult {
    /// The program answered with this failure, or it ended because of this call.
    Failed(Failure),
    /// The program ended, and several calls may be the cause.
    Ended(Failure),
    /// The program ended because of another call, or before this one was sent.
    EndedBefore(Failure),
}

impl From<NoResult> for Failure {
    fn from(no_result: NoResult) -> Self {
        match no_result {
            NoResult::Failed(failure) | NoResult::Ended(failure) | NoResult::EndedBefore(failure) => failure,
        }
    }
}

impl Connection {
    pub(super) fn start(id: &str, command: &CommandSpec, limits: &Limits) -> Result<Arc<Self>, Failure> {
        let not_started = |finished: planforge_child::Finished| {
            let text = format!("the program of `{id}` ({}) {}", command.text(), finished.ending);
            Failure::new(FailureClass::System, "plugin.program", text)
                .help("check `command` in its plugin.toml, and that the program is installed")
        };
        let (started, ready) = mpsc::channel::<Arc<Self>>();
        let overflow = move |stream: Stream| {
            if let Ok(connection) = ready.recv() {
                connection.end_for_output(stream);
            }
        };
        let (process, Pipes { input, output }) =
            Process::start(command, limits, overflow).map_err(not_started)?;
        let connection = Self::over(id, Peer::Process(process), (input, output), limits.output_bytes)?;
        drop(started.send(Arc::clone(&connection)));
        Ok(connection)
    }

    /// The connection to a program that has started in this process.
    pub(super) fn lent(id: &str, streams: LentStreams, output_bytes: u64) -> Result<Arc<Self>, Failure> {
        Self::over(id, Peer::Lent, streams, output_bytes)
    }

    fn over(
        id: &str,
        peer: Peer,
        (mut to_program, output): (impl Write + Send + 'static, impl Read + Send + 'static),
        output_bytes: u64,
    ) -> Result<Arc<Self>, Failure> {
        let (input, lines) = mpsc::channel::<String>();
        let connection = Arc::new(Self {
            id: id.to_owned(),
            peer: Mutex::new(Some(peer)),
            input: Mutex::new(Some(input)),
            calls: Mutex::default(),
            output_bytes,
        });
        // From a separate thread, so that a program that does not read cannot hold the host up.
        thread("input", move || {
            for line in lines {
                if to_program.write_all(line.as_bytes()).and_then(|()| to_program.flush()).is_err() {
                    return;
                }
            }
        })?;
        let reader = Arc::clone(&connection);
        thread("output", move || reader.read(output))?;
        Ok(connection)
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_open(&self) -> bool {
        self.calls().end.is_none()
    }

    fn has_ended(&self) -> bool {
        match &mut *self.peer.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(Peer::Process(process)) => process.has_ended(),
            Some(Peer::Lent) | None => false,
        }
    }

    fn is_lent(&self) -> bool {
        matches!(*self.peer.lock().unwrap_or_else(PoisonError::into_inner), Some(Peer::Lent))
    }

    /// Takes what the host exchanges messages with, and closes its input.
    fn take_peer(&self) -> Option<Peer> {
        drop(self.input.lock().unwrap_or_else(PoisonError::into_inner).take());
        self.peer.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Passes messages on to the calls that they belong to, until the program ends.
    fn read(&self, output: impl Read) {
        let mut output = BufReader::new(output);
        loop {
            let message = match read_line(&mut output, self.output_bytes) {
                Line::Whole(line) => Message::read(&line),
                Line::TooLong => return self.end_for_output(Stream::Output),
                Line::Unfinished(_) | Line::Closed => return self.end(None, Process::death),
            };
            match message {
                Ok(message) => self.pass_on(message),
                Err(why) => {
                    let failure =
                        self.failure(FailureClass::Plugin, "plugin.document", &format!("wrote {why}"));
                    return self.end_with(None, failure);
                }
            }
        }
    }

    fn pass_on(&self, message: Message) {
        let mut calls = self.calls();
        let (call, event, question) = match message {
            Message::Answer { id, result } => {
                // A call that was given up is not open any more.
                if let Some(waiting) = calls.open.remove(&id) {
                    drop(waiting.send(FromProgram::Answer(result)));
                }
                return;
            }
            Message::Question { call, id, question } => {
                (call, FromProgram::Question(id.clone(), question), Some(id))
            }
            Message::Log { call, level, message } => (call, FromProgram::Log(level, message), None),
            Message::Progress { call, done, total, what } => {
                (call, FromProgram::Progress(done, total, what), None)
            }
        };
        let is_passed = calls.open.get(&call).is_some_and(|waiting| waiting.send(event).is_ok());
        drop(calls);
        if let Some(id) = question.filter(|_| !is_passed) {
            let gone = Failure::new(FailureClass::Cancelled, "host.gone", "there is no such call");
            self.send(wire::answer(&id, &Err(gone)));
        }
    }

    fn send(&self, mut line: String) {
        if let Some(Peer::Process(process)) = &*self.peer.lock().unwrap_or_else(PoisonError::into_inner) {
            process.recount_errors();
        }
        line.push('\n');
        // A program that has ended is noticed by the reader.
        if let Some(input) = &*self.input.lock().unwrap_or_else(PoisonError::into_inner) {
            let _ = input.send(line);
        }
    }

    /// Sends a request and waits for its result. `params` is the inside of a JSON object.
    pub(super) fn call(
        &self,
        method: &str,
        params: &str,
        host: Option<&dyn CallHost>,
        deadline: Option<Instant>,
    ) -> Result<Value, NoResult> {
        let (sender, receiver) = mpsc::channel();
        let id = {
            let mut calls = self.calls();
            if let Some(end) = &calls.end {
                return Err(NoResult::EndedBefore(end.failure.clone()));
            }
            calls.next += 1;
            let id = calls.next;
            calls.open.insert(id, sender);
            id
        };
        self.send(wire::request(id, method, params));
        self.wait(id, method, &receiver, host, deadline)
    }

    fn wait(
        &self,
        id: u64,
        method: &str,
        receiver: &Receiver<FromProgram>,
        host: Option<&dyn CallHost>,
        deadline: Option<Instant>,
    ) -> Result<Value, NoResult> {
        std::thread::scope(|scope| {
            let mut is_cancel_sent = false;
            let mut had_ended = false;
            loop {
                match receiver.recv_timeout(TICK) {
                    Ok(FromProgram::Answer(result)) => {
                        return result.map_err(|failure| {
                            // The host's own program answers so; its instance is not usable any more.
                            if matches!(failure.code.as_str(), "plugin.panic" | "plugin.deadline") {
                                self.end_with(Some(id), failure.clone());
                            }
                            NoResult::Failed(failure)
                        });
                    }
                    Ok(FromProgram::Question(question, asked)) => {
                        // A separate thread, so that a program can ask several questions at a time.
                        scope.spawn(move || self.send(wire::answer(&question, &answer(host, asked))));
                    }
                    Ok(FromProgram::Log(level, message)) => match host {
                        Some(host) => host.log(level, &message),
                        None => tracing::info!(plugin = %self.id, "{message}"),
                    },
                    Ok(FromProgram::Progress(done, total, what)) => {
                        if let Some(host) = host {
                            host.progress(done, total, &what);
                        }
                    }
                    Err(RecvTimeoutError::Disconnected) => return Err(self.no_result(id)),
                    Err(RecvTimeoutError::Timeout) => {
                        // What it started may keep its output open. The reader gets one tick for its last lines.
                        if had_ended {
                            self.end(None, Process::death);
                        }
                        had_ended = self.has_ended();
                    }
                }
                if host.is_some_and(CallHost::is_cancelled) && !is_cancel_sent {
                    is_cancel_sent = true;
                    self.send(wire::cancel(id));
                }
                let is_late = deadline.is_some_and(|at| Instant::now() >= at);
                if is_late || host.is_some_and(CallHost::is_given_up) {
                    let end = if self.is_lent() { "; its connection is closed" } else { " and was ended" };
                    let what = format!("did not answer `{method}` in time{end}");
                    let failure = self.failure(FailureClass::Limit, "plugin.deadline", &what);
                    self.end_with(Some(id), failure.clone());
                    return Err(NoResult::Failed(failure));
                }
            }
        })
    }

    /// The reason why the call has no result, after the program's end.
    fn no_result(&self, id: u64) -> NoResult {
        let calls = self.calls();
        match &calls.end {
            Some(End { failure, cause }) => match cause {
                Some(cause) if *cause == id => NoResult::Failed(failure.clone()),
                Some(_) => NoResult::EndedBefore(failure.clone()),
                None => NoResult::Ended(failure.clone()),
            },
            None => NoResult::Failed(self.failure(FailureClass::Plugin, "plugin.program", "lost the call")),
        }
    }

    fn failure(&self, class: FailureClass, code: &str, what: &str) -> Failure {
        Failure::new(class, code, format!("the program of `{}` {what}", self.id))
    }

    fn end_for_output(&self, stream: Stream) {
        let most = self.output_bytes >> 20;
        let what = match stream {
            Stream::Output => format!("wrote a line of more than {most} MB and was ended"),
            Stream::Error => "wrote too much to its standard error and was ended".to_owned(),
        };
        self.end_with(None, self.failure(FailureClass::Plugin, "plugin.reply-size", &what));
    }

    /// Ends the program for that reason.
    fn end_with(&self, cause: Option<u64>, failure: Failure) {
        self.close_calls(cause, failure);
        if let Some(Peer::Process(process)) = self.take_peer() {
            drop(process.stop_for(Ending::Cancelled));
        }
    }

    /// Ends the program and says how it ended by itself.
    fn end(&self, cause: Option<u64>, how: impl FnOnce(Process) -> planforge_child::Finished) {
        let finished = match self.take_peer() {
            Some(Peer::Process(process)) => how(process),
            Some(Peer::Lent) => {
                let failure = self.failure(FailureClass::Plugin, "plugin.program", "closed its output");
                return self.close_calls(cause, failure);
            }
            None => return,
        };
        let class = match finished.ending {
            Ending::Memory(_) => FailureClass::Limit,
            _ => FailureClass::Plugin,
        };
        self.close_calls(cause, self.failure(class, "plugin.program", &finished.account()));
    }

    fn close_calls(&self, cause: Option<u64>, failure: Failure) {
        let mut calls = self.calls();
        let only = calls.open.keys().next().copied().filter(|_| calls.open.len() == 1);
        calls.end.get_or_insert(End { failure, cause: cause.or(only) });
        calls.open.clear();
    }

    /// Ends the program because it is not needed any more.
    pub(super) fn close(&self) {
        self.end_with(None, self.failure(FailureClass::Cancelled, "plugin.program", "was ended"));
    }

    /// Asks the program to end an instance, without waiting.
    pub(super) fn notify_close(&self, instance: u64) {
        let mut calls = self.calls();
        calls.next += 1;
        let id = calls.next;
        drop(calls);
        self.send(wire::request(id, wire::CLOSE, &format!(r#""instance":{instance}"#)));
    }
}

fn answer(
    host: Option<&dyn CallHost>,
    asked: Result<(&'static str, Vec<String>), String>,
) -> Result<String, Failure> {
    let (question, inputs) = asked.map_err(|why| Failure::new(FailureClass::Plugin, "plugin.method", why))?;
    let text = host.ok_or_else(|| Failure::forbidden(question))?.ask(question, &inputs)?;
    Ok(wire::answer_body(question, text))
}

fn thread(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), Failure> {
    let thread = std::thread::Builder::new().name(format!("planforge-program-{name}")).spawn(work);
    thread.map(drop).map_err(|e| {
        Failure::new(FailureClass::System, "plugin.threads", format!("no thread for a program's pipes: {e}"))
    })
}
