//! A conversation with a program, one line a message, with a limit on lines.

use crate::ending::{Ending, Finished, Stream};
use crate::process::{Pipes, Process, spawn};
use crate::spec::{CommandSpec, Limits};
use std::io::{BufRead, BufReader, Read, Write};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

/// The longest time between two checks of `cancelled`.
const TICK: Duration = Duration::from_millis(20);
/// The most unread lines; further output blocks the program.
const AHEAD: usize = 16;

/// A program that answers lines. Dropping it kills everything that it started.
#[derive(Debug)]
pub struct Session {
    process: Option<Process>,
    lines: Receiver<Event>,
    input: Sender<String>,
    limits: Limits,
}

#[derive(Debug)]
enum Event {
    Read(Line),
    /// It wrote too much to its standard error.
    Overflow,
}

/// The reason why there is no line. The program has been killed, except after silence or an interruption,
/// where the caller decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// No line arrived in time.
    Silent(Duration),
    /// The caller wished to stop.
    Cancelled,
    /// It ended or was ended.
    Ended(Finished),
    /// It ended in the middle of a line, which began like this.
    EndedInLine(String, Finished),
    /// The line is not UTF-8; bytes that are not were replaced.
    NotUtf8(String),
}

impl Session {
    /// Starts a program. [`Limits::wall`] is not used: each answer has its deadline.
    ///
    /// # Errors
    /// [`Ending::CouldNotStart`].
    pub fn start(spec: &CommandSpec, limits: &Limits) -> Result<Self, Finished> {
        let (events, lines) = mpsc::sync_channel(AHEAD);
        let overflow = events.clone();
        let (process, Pipes { mut input, output }) =
            Process::start(spec, limits, move |_| drop(overflow.send(Event::Overflow)))?;
        let most = limits.output_bytes;
        spawn("lines", move || {
            let mut output = BufReader::new(output);
            loop {
                let line = read_line(&mut output, most);
                let last = !matches!(line, Line::Whole(_));
                if events.send(Event::Read(line)).is_err() || last {
                    return;
                }
            }
        })?;
        let (sender, messages) = mpsc::channel::<String>();
        // From a separate thread, so that a program that does not read cannot hold the caller up.
        spawn("input", move || {
            for message in messages {
                if input.write_all(message.as_bytes()).and_then(|()| input.flush()).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self { process: Some(process), lines, input: sender, limits: limits.clone() })
    }

    /// Sends one line; the line break is added. A program that has ended is noticed at the next [`Session::receive`].
    pub fn send(&self, line: &str) {
        if let Some(process) = &self.process {
            process.recount_errors();
        }
        let _ = self.input.send(format!("{line}\n"));
    }

    /// The next line, without its line break.
    ///
    /// # Errors
    /// Reason why there is none.
    pub fn receive(&mut self, wait: Duration, cancelled: &dyn Fn() -> bool) -> Result<String, Trouble> {
        let until = Instant::now() + wait;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left.min(TICK)) {
                Ok(Event::Read(Line::Whole(bytes))) => {
                    return String::from_utf8(bytes)
                        .map_err(|e| Trouble::NotUtf8(String::from_utf8_lossy(e.as_bytes()).into_owned()));
                }
                Ok(Event::Read(Line::Unfinished(bytes))) => {
                    let line = String::from_utf8_lossy(&bytes).into_owned();
                    return Err(Trouble::EndedInLine(line, self.end(Process::death)));
                }
                Ok(Event::Read(Line::TooLong)) => {
                    return Err(self.too_much(Stream::Output, self.limits.output_bytes));
                }
                Ok(Event::Overflow) => return Err(self.too_much(Stream::Error, self.limits.error_bytes)),
                Ok(Event::Read(Line::Closed)) | Err(RecvTimeoutError::Disconnected) => {
                    return Err(Trouble::Ended(self.end(Process::death)));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            if Instant::now() >= until {
                return Err(Trouble::Silent(wait));
            }
            if cancelled() {
                return Err(Trouble::Cancelled);
            }
        }
    }

    /// Returns an unread line, if one is waiting.
    pub fn has_more(&self) -> Option<String> {
        match self.lines.try_recv() {
            Ok(Event::Read(Line::Whole(bytes) | Line::Unfinished(bytes))) => {
                Some(String::from_utf8_lossy(&bytes).into_owned())
            }
            _ => None,
        }
    }

    pub fn is_alive(&mut self) -> bool {
        self.process.as_mut().is_some_and(|process| !process.has_ended())
    }

    pub fn id(&self) -> Option<u32> {
        self.process.as_ref().map(Process::id)
    }

    /// The end of what it wrote to its standard error so far.
    pub fn error_tail(&self) -> String {
        self.process.as_ref().map(Process::error_tail).unwrap_or_default()
    }

    /// Kills the program and returns its ending.
    pub fn stop(mut self, because: Ending) -> Finished {
        self.end(|process| process.stop(because))
    }

    fn too_much(&mut self, stream: Stream, most: u64) -> Trouble {
        Trouble::Ended(self.end(|process| process.stop_for(Ending::OutputLimit(stream, most))))
    }

    fn end(&mut self, how: impl FnOnce(Process) -> Finished) -> Finished {
        match self.process.take() {
            Some(process) => how(process),
            None => Finished::not_started("it has ended before"),
        }
    }
}

/// A line of output, or what there is instead.
#[derive(Debug)]
pub enum Line {
    /// Without its line break.
    Whole(Vec<u8>),
    /// The output ended in the middle of it.
    Unfinished(Vec<u8>),
    /// It is longer than the limit; the rest was not read.
    TooLong,
    /// The output is closed.
    Closed,
}

/// Reads the next line of at most `most` bytes.
pub fn read_line(output: &mut impl BufRead, most: u64) -> Line {
    let mut line = Vec::new();
    let read = output.by_ref().take(most.saturating_add(1)).read_until(b'\n', &mut line);
    match (read, line.last()) {
        (Err(_) | Ok(0), _) => Line::Closed,
        (Ok(_), Some(b'\n')) => {
            line.pop();
            if line.last() == Some(&b'\r') {
                line.pop();
            }
            Line::Whole(line)
        }
        (Ok(count), _) if count as u64 > most => Line::TooLong,
        (Ok(_), _) => Line::Unfinished(line),
    }
}
