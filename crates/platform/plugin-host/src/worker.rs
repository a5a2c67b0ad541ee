//! The child process behind [`planforge_contract::api::Host::worker`].
//!
//! The host starts its own executable as `planforge worker --bundled ID | --library PATH`, in a process group of its own.
//! The child sets its resource limits, then reads: frames of a little-endian `u32` length and that many bytes of JSON.
//! The first frame is a `create-request`, every further one an input as a JSON string; each input is answered by one
//! frame, `{"ok": text}` or `{"failure": ...}`. With `"describe"` as the first frame the child answers with the plugin's
//! `plugin-info` and makes no instance. A child that met a limit, the host's or the plugin's own, is killed and
//! replaced at the next question.

mod child;

use crate::limits::TICK;
use child::Child;
use planforge_contract::api::Host;
use planforge_contract::{CreateRequest, Failure, FailureClass, Outcome, PluginInfo, decode, encode};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
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

/// Writes one frame.
pub(crate) fn write_frame(out: &mut impl Write, body: &[u8]) -> std::io::Result<()> {
    let length =
        u32::try_from(body.len()).map_err(|_| std::io::Error::other("a frame holds less than 4 GiB"))?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(body)?;
    out.flush()
}

/// Reads one frame; `None` at the end of the input.
pub(crate) fn read_frame(input: &mut impl Read, most: u32) -> std::io::Result<Option<Vec<u8>>> {
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
