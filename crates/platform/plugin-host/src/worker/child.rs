//! The host's end of a child process.

use super::{WorkerSettings, WorkerSource};
use crate::worker::{read_frame, write_frame};
use planforge_child::{CommandSpec, Ending, Environment, Limits, Pipes, Process};
use planforge_contract::{Failure, FailureClass, Outcome};
use std::collections::BTreeMap;
use std::process::ChildStdin;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

type AnswerReceiver = Receiver<std::io::Result<Option<Vec<u8>>>>;

/// A running child. Dropping it kills its process group.
pub(super) struct Child {
    /// Gone once it has died.
    process: Option<Process>,
    input: Sender<Vec<u8>>,
    answers: AnswerReceiver,
    memory_bytes: u64,
}

fn system(what: &str, error: &dyn std::fmt::Display) -> Failure {
    Failure::new(FailureClass::System, "host.worker-died", format!("{what}: {error}"))
}

/// The command of a child. It runs our own program and loads a plugin that this process would trust fully, so
/// it inherits the whole environment.
fn command(settings: &WorkerSettings, source: &WorkerSource) -> CommandSpec {
    let mut spec = apart(settings, source);
    spec.environment = Environment::Whole { set: without_backtrace() };
    spec
}

/// A backtrace would push the message out of the kept tail.
fn without_backtrace() -> BTreeMap<String, String> {
    BTreeMap::from([("RUST_BACKTRACE".into(), "0".into())])
}

/// The command of a child that loads a plugin without being trusted with the environment.
fn apart(settings: &WorkerSettings, source: &WorkerSource) -> CommandSpec {
    let mut spec = CommandSpec::new(&settings.executable).arguments(&settings.arguments);
    spec = match source {
        WorkerSource::Bundled(id) => spec.arguments(["--bundled", id]),
        WorkerSource::Library(path) => spec.arguments(["--library".as_ref(), path.as_os_str()]),
    };
    spec = spec.arguments(["--memory-bytes".to_owned(), settings.memory_bytes.to_string()]);
    if let Environment::Only { set, .. } = &mut spec.environment {
        set.extend(without_backtrace());
    }
    spec
}

impl Child {
    pub(super) fn start(
        settings: &WorkerSettings,
        source: &WorkerSource,
        first: Vec<u8>,
    ) -> Result<Self, Failure> {
        Self::run(settings, &command(settings, source), first)
    }

    /// As [`Child::start`], without the environment of this process.
    pub(super) fn start_apart(
        settings: &WorkerSettings,
        source: &WorkerSource,
        first: Vec<u8>,
    ) -> Result<Self, Failure> {
        Self::run(settings, &apart(settings, source), first)
    }

    fn run(settings: &WorkerSettings, command: &CommandSpec, first: Vec<u8>) -> Result<Self, Failure> {
        let what = format!("the child process {} did not start", settings.executable.display());
        // It sets its limit of memory itself, before it reads anything, and may write for the whole run.
        let limits = Limits { error_bytes: u64::MAX, ..Limits::default() };
        let (process, Pipes { input: stdin, output: mut stdout }) =
            Process::start(command, &limits, |_| {}).map_err(|finished| system(&what, &finished.ending))?;
        let (answer, answers) = mpsc::channel();
        let most = settings.output_bytes;
        let reader = move || loop {
            let frame = read_frame(&mut stdout, most);
            let last = !matches!(frame, Ok(Some(_)));
            if answer.send(frame).is_err() || last {
                return;
            }
        };
        spawn("reader", reader)?;
        let (input, inputs) = mpsc::channel();
        spawn("writer", move || write_all(stdin, &inputs))?;
        let child = Self { process: Some(process), input, answers, memory_bytes: settings.memory_bytes };
        child.frame(first)?;
        Ok(child)
    }

    fn frame(&self, body: Vec<u8>) -> Result<(), Failure> {
        self.input.send(body).map_err(|e| system("the child process reads no more", &e))
    }

    pub(super) fn send(&self, input: &str) -> Result<(), Failure> {
        self.frame(serde_json::to_vec(input).map_err(|e| system("an input", &e))?)
    }

    /// The next answer, if one comes in time.
    pub(super) fn receive(&mut self, wait: Duration) -> Result<Option<Outcome<String>>, Failure> {
        match self.answers.recv_timeout(wait) {
            Ok(Ok(Some(body))) => serde_json::from_slice(&body).map(Some).map_err(|e| {
                Failure::new(FailureClass::Plugin, "plugin.document", format!("a child's answer: {e}"))
            }),
            Ok(Err(e)) if e.kind() == std::io::ErrorKind::FileTooLarge => Err(Failure::new(
                FailureClass::Limit,
                "host.worker-limit",
                format!("the child process wrote {e}"),
            )),
            Ok(_) | Err(RecvTimeoutError::Disconnected) => Err(self.death()),
            Err(RecvTimeoutError::Timeout) => Ok(None),
        }
    }

    /// The failure for a child that stopped writing. A child that closed its output and still runs is killed.
    fn death(&mut self) -> Failure {
        let Some(process) = self.process.take() else {
            return system("the child process", &"has ended before");
        };
        let finished = process.death();
        let text = format!(
            "the child process {}, under a limit of {} bytes of memory",
            finished.account(),
            self.memory_bytes
        );
        // Rust aborts where no memory is left, and so do most allocators of foreign code. A stack is memory with a limit too:
        // what is nested too deep for it was too large.
        let killed = finished.ending == Ending::Signal(9);
        if finished.says_no_memory() || finished.says_no_stack() || killed {
            return Failure::new(FailureClass::Limit, "host.worker-memory", text);
        }
        Failure::new(FailureClass::System, "host.worker-died", text)
    }
}

fn spawn(name: &str, f: impl FnOnce() + Send + 'static) -> Result<(), Failure> {
    let thread = std::thread::Builder::new().name(format!("planforge-worker-{name}")).spawn(f);
    thread.map(drop).map_err(|e| system("no thread for the child process", &e))
}

/// Writes from a separate thread, so that a child that does not read cannot block the host.
fn write_all(mut stdin: ChildStdin, inputs: &Receiver<Vec<u8>>) {
    for body in inputs {
        if write_frame(&mut stdin, &body).is_err() {
            return;
        }
    }
}
