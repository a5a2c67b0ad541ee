//! The host's end of a child process.

use super::{WorkerSettings, WorkerSource, read_frame, write_frame};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use planforge_contract::{Failure, FailureClass, Outcome};
use std::collections::VecDeque;
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How much of what the child wrote to its standard error is shown.
const ERROR_TAIL_BYTES: usize = 2048;

/// How long a child that closed its output may take to end: a hundred times ten milliseconds.
const DEATH_TICKS: u32 = 100;
const DEATH_TICK: Duration = Duration::from_millis(10);
/// How long the end of an ended child's standard error is waited for.
const LAST_WORDS: Duration = Duration::from_secs(1);

type Answers = Receiver<std::io::Result<Option<Vec<u8>>>>;
type Tail = Arc<Mutex<VecDeque<u8>>>;

/// A running child. Dropping it kills its process group.
pub(super) struct Child {
    process: std::process::Child,
    input: Sender<Vec<u8>>,
    answers: Answers,
    errors: Tail,
    /// Closed once everything that the child wrote to its standard error has been read.
    errors_closed: Receiver<()>,
    memory_bytes: u64,
}

fn system(what: &str, error: &dyn std::fmt::Display) -> Failure {
    Failure::new(FailureClass::System, "host.worker-died", format!("{what}: {error}"))
}

impl Child {
    pub(super) fn start(
        settings: &WorkerSettings,
        source: &WorkerSource,
        first: Vec<u8>,
    ) -> Result<Self, Failure> {
        let mut command = Command::new(&settings.executable);
        command.args(&settings.arguments);
        match source {
            WorkerSource::Bundled(id) => command.arg("--bundled").arg(id),
            WorkerSource::Library(path) => command.arg("--library").arg(path),
        };
        command.arg("--memory-bytes").arg(settings.memory_bytes.to_string());
        // A backtrace would push the message itself out of the tail that is kept.
        command.env("RUST_BACKTRACE", "0");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let what = format!("the child process {} did not start", settings.executable.display());
        let mut process = command.spawn().map_err(|e| system(&what, &e))?;
        let (Some(stdin), Some(mut stdout), Some(stderr)) =
            (process.stdin.take(), process.stdout.take(), process.stderr.take())
        else {
            return Err(system(&what, &"its pipes are missing"));
        };
        let (answer, answers) = mpsc::channel();
        let most = settings.output_bytes;
        let reader = move || loop {
            let frame = read_frame(&mut stdout, most);
            let last = !matches!(frame, Ok(Some(_)));
            if answer.send(frame).is_err() || last {
                return;
            }
        };
        let errors = Tail::default();
        let tail = Arc::clone(&errors);
        spawn("reader", reader)?;
        let (errors_open, errors_closed) = mpsc::channel::<()>();
        let keep = move || {
            keep_tail(stderr, &tail);
            drop(errors_open);
        };
        spawn("errors", keep)?;
        let (input, inputs) = mpsc::channel();
        spawn("writer", move || write_all(stdin, &inputs))?;
        let child =
            Self { process, input, answers, errors, errors_closed, memory_bytes: settings.memory_bytes };
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

    /// Why the child writes no more. One that closed its output and lives on is not waited for.
    fn death(&mut self) -> Failure {
        let mut status = None;
        for _ in 0..DEATH_TICKS {
            match self.process.try_wait() {
                Ok(Some(ended)) => {
                    status = Some(ended);
                    break;
                }
                Ok(None) => std::thread::sleep(DEATH_TICK),
                Err(e) => return system("the child process was lost", &e),
            }
        }
        let Some(status) = status else {
            return system("the child process", &"closed its output and did not end");
        };
        // What it said last may still be on its way; a grandchild may hold the stream open, so the wait is bounded.
        let _ = self.errors_closed.recv_timeout(LAST_WORDS);
        let tail: Vec<u8> =
            self.errors.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect();
        let tail = String::from_utf8_lossy(&tail);
        let said = if tail.trim().is_empty() { String::new() } else { format!("; it said: {}", tail.trim()) };
        let text =
            format!("the child process ended ({status}) under a limit of {} bytes{said}", self.memory_bytes);
        // Rust aborts where no memory is left, and so do most allocators of foreign code.
        let starved = tail.contains("memory allocation of") || tail.contains("bad_alloc");
        let killed =
            matches!(status.signal(), Some(s) if s == Signal::SIGXCPU as i32 || s == Signal::SIGKILL as i32);
        if starved || killed {
            return Failure::new(FailureClass::Limit, "host.worker-limit", text);
        }
        Failure::new(FailureClass::System, "host.worker-died", text)
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if let Ok(id) = i32::try_from(self.process.id()) {
            // It fails where the group is gone already, which is what is wanted.
            let _ = killpg(Pid::from_raw(id), Signal::SIGKILL);
        }
        drop(self.process.wait());
    }
}

fn spawn(name: &str, f: impl FnOnce() + Send + 'static) -> Result<(), Failure> {
    let thread = std::thread::Builder::new().name(format!("planforge-worker-{name}")).spawn(f);
    thread.map(drop).map_err(|e| system("no thread for the child process", &e))
}

/// Writes from a thread of its own, so that a child that does not read cannot hold the host up.
fn write_all(mut stdin: ChildStdin, inputs: &Receiver<Vec<u8>>) {
    for body in inputs {
        if write_frame(&mut stdin, &body).is_err() {
            return;
        }
    }
}

fn keep_tail(mut stream: impl Read, tail: &Mutex<VecDeque<u8>>) {
    let mut buffer = [0; 1024];
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.extend(&buffer[..count]);
        let surplus = tail.len().saturating_sub(ERROR_TAIL_BYTES);
        tail.drain(..surplus);
    }
}
