//! The child process behind [`planforge_contract::api::Host::worker`].
//!
//! The host starts its own executable as `planforge worker --bundled ID | --library PATH`, in a process group of its own.
//! The child sets its resource limits, then reads: frames of a little-endian `u32` length and that many bytes of JSON.
//! The first frame is a `create-request`, every further one an input as a JSON string; each input is answered by one
//! frame, `{"ok": text}` or `{"failure": ...}`. With `"describe"` as the first frame the child answers with the plugin's
//! `plugin-info` and makes no instance. A child that met a limit, the host's or the plugin's own, is killed and
//! replaced at the next question.

use crate::limits::TICK;
use crate::registry::{Registry, RegistrySettings};
use nix::sys::resource::{Resource, setrlimit};
use planforge_child::{CommandSpec, Ending, Environment, Limits, Pipes, Process};
use planforge_contract::api::{Host, NoHost};
use planforge_contract::{CreateRequest, Failure, FailureClass, Outcome, PluginInfo, decode, encode};
use planforge_plugin_abi::BundledPlugin;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::ChildStdin;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The plugin that a child loads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkerSource {
    /// The one linked in under that id.
    Bundled(String),
    /// A library.
    Library(PathBuf),
}

/// Settings of child processes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerSettings {
    /// The `planforge` executable.
    pub executable: PathBuf,
    /// Arguments before the worker's own: `worker`.
    pub arguments: Vec<String>,
    /// Milliseconds of wall time for one input; the call's own deadline holds too.
    pub time_ms: u64,
    /// Bytes of address space of the child.
    pub memory_bytes: u64,
    /// Most bytes of one answer.
    pub output_bytes: u32,
}

impl WorkerSettings {
    /// 60 seconds, 2 GiB, 64 MiB of output.
    pub fn new(executable: PathBuf) -> Self {
        Self {
            executable,
            arguments: vec!["worker".to_owned()],
            time_ms: 60_000,
            memory_bytes: 2 << 30,
            output_bytes: 64 << 20,
        }
    }
}

/// The child of one instance, started when it is first needed and kept.
pub(crate) struct Worker {
    settings: WorkerSettings,
    source: WorkerSource,
    create: CreateRequest,
    child: Mutex<Option<Child>>,
}

impl Worker {
    pub(crate) fn new(settings: WorkerSettings, source: WorkerSource, create: CreateRequest) -> Self {
        Self { settings, source, create, child: Mutex::new(None) }
    }

    /// One input, one answer. Questions of several calls wait for one another.
    pub(crate) fn ask(&self, host: &dyn Host, input: &str) -> Result<String, Failure> {
        let mut slot = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        let mut child = match slot.take() {
            Some(child) => child,
            None => {
                let first = encode(&self.create)
                    .map_err(|e| Failure::new(FailureClass::Request, "plugin.document", e))?;
                Child::start(&self.settings, &self.source, first.into_bytes())?
            }
        };
        let answer = self.exchange(host, &mut child, input);
        match answer?.into_result() {
            // The child's instance must not be used again, so the child ends. This side's instance is still usable.
            Err(failure) if failure.code == "plugin.panic" => {
                Err(Failure { code: "host.worker-panic".into(), ..failure })
            }
            // A plugin that met its own limit may have left a running thread in the child; dropping the child ends it.
            Err(failure) if failure.class == FailureClass::Limit => Err(failure),
            // Children that broke otherwise were dropped above, because their state is unknown.
            answer => {
                *slot = Some(child);
                answer
            }
        }
    }

    fn exchange(&self, host: &dyn Host, child: &mut Child, input: &str) -> Result<Outcome<String>, Failure> {
        let time = host.remaining_ms().map_or(self.settings.time_ms, |left| left.min(self.settings.time_ms));
        let deadline = Instant::now() + Duration::from_millis(time);
        child.send(input)?;
        loop {
            if let Some(answer) =
                child.receive(TICK.min(deadline.saturating_duration_since(Instant::now())))?
            {
                return Ok(answer);
            }
            if Instant::now() >= deadline {
                let text = format!("the child process did not answer within {time} ms and was killed");
                return Err(Failure::new(FailureClass::Limit, "host.worker-limit", text));
            }
            if host.cancelled() {
                let text = "the run was interrupted while a child process worked";
                return Err(Failure::new(FailureClass::Cancelled, "host.cancelled", text));
            }
        }
    }
}

/// The first frame that asks for a description.
pub(crate) const DESCRIBE: &str = "\"describe\"";

/// Takes a library through the gates to describe() in a child, so that none of its code runs in this process. The child
/// gets [`USUAL_VARIABLES`](planforge_child::USUAL_VARIABLES) alone: loading a library runs its constructors, and the plugin
/// may never be used.
pub(crate) fn describe_apart(settings: &WorkerSettings, path: &Path) -> Result<PluginInfo, Failure> {
    let source = WorkerSource::Library(path.to_owned());
    let mut child = Child::start_apart(settings, &source, DESCRIBE.as_bytes().to_vec())?;
    let Some(answer) = child.receive(Duration::from_millis(settings.time_ms))? else {
        let text = format!("{} was not described within {} ms", path.display(), settings.time_ms);
        return Err(Failure::new(FailureClass::Limit, "host.worker-limit", text));
    };
    decode(&answer.into_result()?)
        .map_err(|e| Failure::new(FailureClass::Plugin, "plugin.describe", e.to_string()))
}

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
    fn start_apart(
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

/// Writes one frame.
///
/// A frame is a little-endian `u32` length and that many bytes.
fn write_frame(out: &mut impl Write, body: &[u8]) -> std::io::Result<()> {
    let length =
        u32::try_from(body.len()).map_err(|_| std::io::Error::other("a frame holds less than 4 GiB"))?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(body)?;
    out.flush()
}

/// Reads one frame; `None` at the end of the input.
fn read_frame(input: &mut impl Read, most: u32) -> std::io::Result<Option<Vec<u8>>> {
    let mut header = [0; 4];
    match input.read_exact(&mut header) {
        Err(e) if e.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(None),
        other => other?,
    }
    let length = u32::from_le_bytes(header);
    if length > most {
        let text = format!("a frame of {length} bytes, where at most {most} are taken");
        return Err(std::io::Error::new(std::io::ErrorKind::FileTooLarge, text));
    }
    let mut body = vec![0; length as usize];
    input.read_exact(&mut body)?;
    Ok(Some(body))
}

/// Most bytes of one input.
const INPUT_BYTES: u32 = 256 << 20;

/// The whole of `planforge worker`: sets the limits of this process, loads one plugin, answers until the input ends.
///
/// # Errors
/// The limits cannot be set, the plugin does not pass its gates, or the streams break. The caller prints it to standard
/// error, from where the host takes it.
pub fn worker_main(
    source: &WorkerSource,
    memory_bytes: u64,
    bundled: &[&'static BundledPlugin],
    mut input: impl Read,
    mut output: impl Write,
) -> Result<(), Failure> {
    let system =
        |e: &dyn std::fmt::Display| Failure::new(FailureClass::System, "host.worker-died", e.to_string());
    // Before anything is read: what comes in may be what breaks the limits.
    setrlimit(Resource::RLIMIT_AS, memory_bytes, memory_bytes).map_err(|e| system(&e))?;
    setrlimit(Resource::RLIMIT_CORE, 0, 0).map_err(|e| system(&e))?;
    let loaded = load(source, bundled);
    let Some(first) = read_frame(&mut input, INPUT_BYTES).map_err(|e| system(&e))? else { return Ok(()) };
    let text = String::from_utf8(first).map_err(|e| system(&e))?;
    let mut answer = |answer: Outcome<String>| {
        let body = serde_json::to_vec(&answer).map_err(|e| system(&e))?;
        write_frame(&mut output, &body).map_err(|e| system(&e))
    };
    if text == DESCRIBE {
        let info = loaded.and_then(|(registry, id)| registry.info(&id));
        return answer(info.and_then(|i| encode(i.as_ref()).map_err(|e| system(&e))).into());
    }
    let (registry, id) = loaded?;
    let create: CreateRequest = decode(&text).map_err(|e| system(&e))?;
    let core = registry.create_core(&id, &create)?;
    while let Some(body) = read_frame(&mut input, INPUT_BYTES).map_err(|e| system(&e))? {
        let text: String = serde_json::from_slice(&body).map_err(|e| system(&e))?;
        // A worker has no host services: its input is complete.
        answer(core.call(&NoHost, "work", vec![text], None).into())?;
    }
    Ok(())
}

fn load(source: &WorkerSource, bundled: &[&'static BundledPlugin]) -> Result<(Registry, String), Failure> {
    match source {
        WorkerSource::Bundled(id) => {
            Ok((Registry::new(bundled, &[], RegistrySettings::of_child()), id.clone()))
        }
        WorkerSource::Library(path) => {
            let registry = Registry::new(&[], std::slice::from_ref(path), RegistrySettings::of_child());
            let id = registry.only_id()?;
            Ok((registry, id))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_back_and_a_large_one_is_not_read() {
        let mut bytes = Vec::new();
        write_frame(&mut bytes, b"one").unwrap();
        write_frame(&mut bytes, b"").unwrap();
        let mut input = bytes.as_slice();
        assert_eq!(read_frame(&mut input, 3).unwrap().as_deref(), Some(&b"one"[..]));
        assert_eq!(read_frame(&mut input, 3).unwrap().as_deref(), Some(&b""[..]));
        assert_eq!(read_frame(&mut input, 3).unwrap(), None);
        let error = read_frame(&mut bytes.as_slice(), 2).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::FileTooLarge);
    }
}
