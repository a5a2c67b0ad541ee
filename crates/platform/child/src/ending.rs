//! Outcomes of programs, and the last bytes of their streams.

use nix::sys::signal::Signal;
use std::collections::VecDeque;
use std::fmt;
use std::io::Read;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// An output stream of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    Output,
    Error,
}

impl fmt::Display for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Output => "standard output",
            Self::Error => "standard error",
        })
    }
}

/// The reason why a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// By itself, with this code.
    Exited(i32),
    /// By a signal that was not sent from here.
    Signal(i32),
    /// Its time was over; it was killed.
    TimedOut(Duration),
    /// The program reached its memory limit (bytes), as far as can be detected: it died by a `SIGKILL` that
    /// this crate did not send, or it failed and reported that memory was exhausted.
    Memory(u64),
    /// It wrote more than its limit (bytes) to a stream; it was killed.
    OutputLimit(Stream, u64),
    /// The caller gave up; it was killed.
    Cancelled,
    /// It closed its output, did not end, and was killed.
    ClosedOutput,
    /// The program could not be started.
    CouldNotStart(String),
    /// The operating system does not report the process.
    Lost(String),
}

impl Ending {
    /// True if the program exited with code 0.
    pub fn is_success(&self) -> bool {
        *self == Self::Exited(0)
    }
}

impl fmt::Display for Ending {
    /// Completes a sentence about "the program": `ended with exit code 3`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(code) => write!(f, "ended with exit code {code}"),
            Self::Signal(number) => match Signal::try_from(*number) {
                Ok(signal) => write!(f, "was ended by signal {number} ({signal})"),
                Err(_) => write!(f, "was ended by signal {number}"),
            },
            Self::TimedOut(time) => write!(f, "was killed after its limit of {} s", time.as_secs_f64()),
            Self::Memory(bytes) => write!(f, "ran out of memory under its limit of {}", bytes_text(*bytes)),
            Self::OutputLimit(stream, bytes) => {
                write!(f, "was killed after writing more than {} to its {stream}", bytes_text(*bytes))
            }
            Self::Cancelled => f.write_str("was killed because the run was interrupted"),
            Self::ClosedOutput => f.write_str("closed its standard output, did not end and was killed"),
            Self::CouldNotStart(why) => write!(f, "could not be started: {why}"),
            Self::Lost(why) => write!(f, "was lost: {why}"),
        }
    }
}

/// `2 GiB`, `1500 bytes`: the largest unit that divides the number.
fn bytes_text(bytes: u64) -> String {
    for (shift, unit) in [(30, "GiB"), (20, "MiB"), (10, "KiB")] {
        if bytes >= 1 << shift && bytes.is_multiple_of(1 << shift) {
            return format!("{} {unit}", bytes >> shift);
        }
    }
    format!("{bytes} bytes")
}

/// A program that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    pub ending: Ending,
    /// Standard output up to the limit. Empty for a session, whose lines were received.
    pub output: Vec<u8>,
    /// The end of what it wrote to its standard error, as text; bytes that are not UTF-8 are replaced.
    pub error_tail: String,
    /// From start to end.
    pub wall: Duration,
}

impl Finished {
    /// A program that never ran.
    pub(crate) fn not_started(why: impl Into<String>) -> Self {
        Self {
            ending: Ending::CouldNotStart(why.into()),
            output: Vec::new(),
            error_tail: String::new(),
            wall: Duration::ZERO,
        }
    }

    /// True if its last message reports exhausted memory, for programs with a limit of their own.
    pub fn says_no_memory(&self) -> bool {
        reports_no_memory(&self.error_tail)
    }

    /// True if a full thread stack ended it, by the message of Rust's run-time system (also for C++ on its
    /// threads).
    pub fn says_no_stack(&self) -> bool {
        self.error_tail.contains("has overflowed its stack")
    }

    /// The outcome and the last message: `ended with exit code 1; it said: no such file`.
    pub fn account(&self) -> String {
        match self.error_tail.trim() {
            "" => self.ending.to_string(),
            errors => format!("{}; it said: {errors}", self.ending),
        }
    }
}

/// The ending for an exit status of a program that this crate did not stop.
pub(crate) fn ending_of(status: ExitStatus, errors: &str, memory: Option<u64>) -> Ending {
    use std::os::unix::process::ExitStatusExt;
    let ending = match (status.code(), status.signal()) {
        (Some(code), _) => Ending::Exited(code),
        (None, Some(signal)) => Ending::Signal(signal),
        (None, None) => Ending::Lost(status.to_string()),
    };
    match memory {
        Some(limit) if !status.success() && (reports_no_memory(errors) || ending == Ending::Signal(9)) => {
            Ending::Memory(limit)
        }
        _ => ending,
    }
}

/// True for messages about failed allocations of Rust, C++, Python, the C library, the JVM and Go.
fn reports_no_memory(errors: &str) -> bool {
    const SIGNS: [&str; 7] = [
        "memory allocation of",
        "bad_alloc",
        "MemoryError",
        "Cannot allocate memory",
        "OutOfMemoryError",
        "out of memory",
        "cannot allocate memory",
    ];
    SIGNS.iter().any(|sign| errors.contains(sign))
}

#[derive(Debug, Default)]
struct KeptBytes {
    bytes: VecDeque<u8>,
    /// Number of bytes since the last reset.
    count: u64,
    overflowed: bool,
}

/// The end of a program's standard error, filled by the thread that drains it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tail(Arc<Mutex<KeptBytes>>);

impl Tail {
    /// Reads to the end, or past the limit: then the stream is dropped, so that the program meets a closed pipe.
    pub(crate) fn drain(&self, mut stream: impl Read, keep: usize, most: u64, overflow: impl Fn(Stream)) {
        let mut buffer = [0; 8192];
        while let Ok(count @ 1..) = stream.read(&mut buffer) {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            kept.bytes.extend(&buffer[..count]);
            let surplus = kept.bytes.len().saturating_sub(keep);
            kept.bytes.drain(..surplus);
            kept.count = kept.count.saturating_add(count as u64);
            if kept.count > most {
                kept.overflowed = true;
                drop(kept);
                overflow(Stream::Error);
                return;
            }
        }
    }

    /// Counts from nothing again.
    pub(crate) fn recount(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).count = 0;
    }

    pub(crate) fn text(&self) -> String {
        let bytes: Vec<u8> =
            self.0.lock().unwrap_or_else(PoisonError::into_inner).bytes.iter().copied().collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    pub(crate) fn has_overflowed(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).overflowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;

    #[test]
    fn an_ending_depends_on_status_error_text_and_memory_limit() {
        let exit = |code: i32| ExitStatus::from_raw(code << 8);
        assert_eq!(ending_of(exit(0), "MemoryError is a word", Some(1)), Ending::Exited(0));
        assert_eq!(ending_of(exit(1), "MemoryError", Some(5)), Ending::Memory(5));
        assert_eq!(ending_of(exit(1), "MemoryError", None), Ending::Exited(1));
        assert_eq!(ending_of(ExitStatus::from_raw(9), "", Some(5)), Ending::Memory(5));
        assert_eq!(ending_of(ExitStatus::from_raw(9), "", None), Ending::Signal(9));
        assert_eq!(ending_of(ExitStatus::from_raw(11), "", Some(5)), Ending::Signal(11));
    }

    #[test]
    fn endings_are_printed_in_words() {
        assert_eq!(Ending::Signal(11).to_string(), "was ended by signal 11 (SIGSEGV)");
        assert_eq!(Ending::Memory(2 << 30).to_string(), "ran out of memory under its limit of 2 GiB");
        assert_eq!(
            Ending::OutputLimit(Stream::Error, 1500).to_string(),
            "was killed after writing more than 1500 bytes to its standard error"
        );
        assert_eq!(
            Ending::TimedOut(Duration::from_millis(1500)).to_string(),
            "was killed after its limit of 1.5 s"
        );
    }
}
