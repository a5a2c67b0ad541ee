//! A running program with its pipes, and a program run to its end.

use crate::ending::{Ending, Finished, Stream, Tail, ending_of};
use crate::guard::{self, Guard};
use crate::spec::{CommandSpec, Limits};
use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Sets the limit (KiB of address space) and becomes the program. The words after the first are the command.
const UNDER_LIMIT: &str = "ulimit -c 0; ulimit -v \"$1\" || exit 125; shift; exec \"$@\"";

/// Time that a program gets to end after it closed its output.
const DEATH: Duration = Duration::from_secs(1);
/// Time to wait for the standard error of an ended program.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// Time between two checks of a program.
const LOOK: Duration = Duration::from_millis(5);

/// The two ends for the caller. Standard error is drained by the [`Process`].
#[derive(Debug)]
pub struct Pipes {
    pub input: ChildStdin,
    pub output: ChildStdout,
}

/// A running program. Dropping it kills everything that it started.
#[derive(Debug)]
pub struct Process {
    child: Child,
    mark: String,
    guard: Guard,
    errors: Tail,
    /// Closed once all of standard error was read.
    errors_closed: Receiver<()>,
    memory_bytes: Option<u64>,
    error_bytes: u64,
    started: Instant,
    ended: Option<ExitStatus>,
}

impl Process {
    /// Starts a program. `overflow` is called from a thread when it writes too much to its standard error.
    ///
    /// # Errors
    /// [`Ending::CouldNotStart`].
    pub fn start(
        spec: &CommandSpec,
        limits: &Limits,
        overflow: impl Fn(Stream) + Send + 'static,
    ) -> Result<(Self, Pipes), Finished> {
        let (whole, variables) = spec.variables();
        let program = spec.resolve(&variables).map_err(Finished::not_started)?;
        let mut command = match memory_kib(limits)? {
            Some(kib) => {
                let mut shell = Command::new("/bin/sh");
                shell.arg("-c").arg(UNDER_LIMIT).arg("planforge").arg(kib).arg(&program);
                shell
            }
            None => Command::new(&program),
        };
        if !whole {
            command.env_clear();
        }
        let mark = guard::new_mark();
        command.args(&spec.arguments).envs(variables).env(guard::MARK, &mark);
        if let Some(folder) = &spec.folder {
            command.current_dir(folder);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let no_guard = |e: std::io::Error| {
            Finished::not_started(format!("the shell that ends it with planforge could not be started: {e}"))
        };
        let mut guard = Guard::start(&mark).map_err(no_guard)?;
        let mut child = command.spawn().map_err(|e| Finished::not_started(e.to_string()))?;
        let guarded = guard.set_group(child.id());
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (errors_open, errors_closed) = mpsc::channel::<()>();
        let process = Self {
            child,
            mark,
            guard,
            errors: Tail::default(),
            errors_closed,
            memory_bytes: limits.memory_bytes,
            error_bytes: limits.error_bytes,
            started: Instant::now(),
            ended: None,
        };
        guarded.map_err(no_guard)?;
        let (Some(input), Some(output), Some(stderr)) = pipes else {
            return Err(Finished::not_started("its pipes are missing"));
        };
        let (tail, keep, most) = (process.errors.clone(), limits.error_tail_bytes, limits.error_bytes);
        spawn("errors", move || {
            tail.drain(stderr, keep, most, overflow);
            drop(errors_open);
        })?;
        Ok((process, Pipes { input, output }))
    }

    /// Its id, which is that of its process group too.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The end of what it wrote to its standard error so far.
    pub fn error_tail(&self) -> String {
        self.errors.text()
    }

    /// Resets the count of bytes on standard error, for conversations of several hours.
    pub fn recount_errors(&self) {
        self.errors.recount();
    }

    /// True if the program has ended. Does not reap it, so that its id stays reserved until its group is
    /// killed.
    pub fn has_ended(&mut self) -> bool {
        self.ended.is_some() || self.peek()
    }

    #[cfg(target_os = "linux")]
    fn peek(&mut self) -> bool {
        use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
        let Ok(id) = i32::try_from(self.child.id()) else { return true };
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        !matches!(waitid(Id::Pid(nix::unistd::Pid::from_raw(id)), flags), Ok(WaitStatus::StillAlive))
    }

    #[cfg(not(target_os = "linux"))]
    fn peek(&mut self) -> bool {
        match self.child.try_wait() {
            Ok(None) => false,
            Ok(Some(status)) => {
                self.ended = Some(status);
                true
            }
            Err(_) => true,
        }
    }

    /// Returns the ending of a program that closed its output. Kills it if it does not end within a second.
    pub fn death(self) -> Finished {
        self.settle(DEATH)
    }

    /// Kills the program. The ending is `because`, unless the program had ended before.
    pub fn stop(mut self, because: Ending) -> Finished {
        if self.has_ended() { self.settle(Duration::ZERO) } else { self.finish(because) }
    }

    /// Kills it for a reason that holds even if it has ended meanwhile: what it wrote was too much.
    pub fn stop_for(self, because: Ending) -> Finished {
        self.finish(because)
    }

    fn settle(mut self, patience: Duration) -> Finished {
        let until = Instant::now() + patience;
        while !self.has_ended() {
            if Instant::now() >= until {
                let because = if self.errors.has_overflowed() {
                    Ending::OutputLimit(Stream::Error, self.error_bytes)
                } else {
                    Ending::ClosedOutput
                };
                return self.finish(because);
            }
            std::thread::sleep(LOOK);
        }
        // Read the end of its standard error before killing the processes that it left.
        let status = self.end();
        let _ = self.errors_closed.recv_timeout(LAST_WORDS);
        let ending = match status {
            _ if self.errors.has_overflowed() => Ending::OutputLimit(Stream::Error, self.error_bytes),
            Ok(status) => ending_of(status, &self.errors.text(), self.memory_bytes),
            Err(why) => Ending::Lost(why),
        };
        self.to_finished(ending)
    }

    fn finish(mut self, ending: Ending) -> Finished {
        // The status is that of our own signal.
        let _ = self.end();
        let _ = self.errors_closed.recv_timeout(LAST_WORDS);
        self.to_finished(ending)
    }

    fn to_finished(&self, ending: Ending) -> Finished {
        Finished { ending, output: Vec::new(), error_tail: self.errors.text(), wall: self.started.elapsed() }
    }

    /// Ends the whole tree, then takes the status, in this order: until then the id cannot belong to another.
    fn end(&mut self) -> Result<ExitStatus, String> {
        if let Some(status) = self.ended {
            return Ok(status);
        }
        guard::end(self.child.id(), &self.mark);
        self.guard.dismiss();
        let status = self.child.wait().map_err(|e| e.to_string())?;
        self.ended = Some(status);
        Ok(status)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

/// The limit as the shell takes it. A limit that the caller is under itself stays where it is lower.
fn memory_kib(limits: &Limits) -> Result<Option<OsString>, Finished> {
    use nix::sys::resource::{Resource, getrlimit};
    let Some(bytes) = limits.memory_bytes else { return Ok(None) };
    let (_, hard) = getrlimit(Resource::RLIMIT_AS).map_err(|e| Finished::not_started(e.to_string()))?;
    Ok(Some((bytes.min(hard) / 1024).to_string().into()))
}

/// A thread for a pipe.
pub(crate) fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), Finished> {
    let thread = std::thread::Builder::new().name(format!("planforge-child-{name}")).spawn(work);
    thread
        .map(drop)
        .map_err(|e| Finished::not_started(format!("a thread for its pipes could not be started: {e}")))
}

/// The longest time between two checks of the deadline and of `cancelled`.
const TICK: Duration = Duration::from_millis(20);
/// Time to wait for the rest of an ended program's output.
const REST: Duration = Duration::from_secs(2);

enum Event {
    /// All of standard output, which is closed.
    Output(Vec<u8>),
    /// The stream exceeded its limit.
    Overflow(Stream),
}

/// Runs a program until it ends or reaches a limit. Calls `cancelled` every few milliseconds.
///
/// Returns the standard output so far even if the program was killed, such as a planner's best plan.
pub fn run(spec: &CommandSpec, limits: &Limits, cancelled: &dyn Fn() -> bool) -> Finished {
    let (events, happened) = mpsc::channel();
    let overflow = events.clone();
    let started = Process::start(spec, limits, move |stream| drop(overflow.send(Event::Overflow(stream))));
    let (mut process, pipes) = match started {
        Ok(started) => started,
        Err(finished) => return finished,
    };
    if let Err(finished) = attend(pipes, spec.input.clone(), limits.output_bytes, events) {
        return finished;
    }
    let deadline = limits.wall.map(|wall| (wall, Instant::now() + wall));
    let mut output = None;
    let mut tick = Duration::from_millis(1);
    let because = loop {
        match happened.recv_timeout(tick) {
            Ok(Event::Output(all)) => output = Some(all),
            Ok(Event::Overflow(stream)) => break Some(too_much(stream, limits)),
            Err(RecvTimeoutError::Timeout) => tick = TICK.min(tick * 2),
            // Both pipes are closed; the program may live on until its time is over.
            Err(RecvTimeoutError::Disconnected) => std::thread::sleep(tick),
        }
        if process.has_ended() {
            break None;
        }
        if let Some((wall, at)) = deadline
            && Instant::now() >= at
        {
            break Some(Ending::TimedOut(wall));
        }
        if cancelled() {
            break Some(Ending::Cancelled);
        }
    };
    let mut finished = match because {
        Some(because @ Ending::OutputLimit(..)) => process.stop_for(because),
        Some(because) => process.stop(because),
        None => process.death(),
    };
    // The pipes close with the tree, so that what is left of them comes at once.
    let until = Instant::now() + REST;
    while output.is_none() {
        match happened.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(Event::Output(all)) => output = Some(all),
            // An earlier ending stands, except that of a program that got away with writing too much.
            Ok(Event::Overflow(stream)) if matches!(finished.ending, Ending::Exited(_)) => {
                finished.ending = too_much(stream, limits);
            }
            Ok(Event::Overflow(_)) => {}
            Err(_) => break,
        }
    }
    finished.output = output.unwrap_or_default();
    finished
}

fn too_much(stream: Stream, limits: &Limits) -> Ending {
    let most = match stream {
        Stream::Output => limits.output_bytes,
        Stream::Error => limits.error_bytes,
    };
    Ending::OutputLimit(stream, most)
}

/// Feeds and drains the pipes.
fn attend(pipes: Pipes, text: Vec<u8>, most: u64, events: mpsc::Sender<Event>) -> Result<(), Finished> {
    let Pipes { mut input, output } = pipes;
    // A program that does not read all of its input is free not to.
    spawn("input", move || drop(input.write_all(&text)))?;
    spawn("output", move || {
        let mut all = Vec::new();
        let read = output.take(most.saturating_add(1)).read_to_end(&mut all);
        let over = read.is_ok() && all.len() as u64 > most;
        if over {
            all.truncate(usize::try_from(most).unwrap_or(usize::MAX));
            let _ = events.send(Event::Overflow(Stream::Output));
        }
        let _ = events.send(Event::Output(all));
    })
}
