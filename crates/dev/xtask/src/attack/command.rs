//! Calls of the `planforge` binary.

use super::context::Context;
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The end of a process.
pub(crate) enum Ended {
    /// Exit code and standard error.
    Code(i32, String),
    Signal,
    /// It was ended here after a long wait.
    TooLate,
}

/// A process that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs `planforge` and gives how it ended.
pub(crate) fn run_planforge(context: &Context, args: &[&str]) -> Result<Ended, String> {
    output_of_planforge(context, args).map(|(ended, _)| ended)
}

/// Runs `planforge` and gives how it ended, and its standard output.
pub(crate) fn output_of_planforge(context: &Context, args: &[&str]) -> Result<(Ended, String), String> {
    let failed = |e: std::io::Error| format!("{}: {e}", context.planforge.display());
    let mut command = Command::new(&context.planforge);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(failed)?;
    let readers = [
        child.stdout.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>),
        child.stderr.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>),
    ]
    .map(|pipe| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            if let Some(mut pipe) = pipe {
                // What was read before an error is enough for a report.
                drop(pipe.read_to_end(&mut bytes));
            }
            String::from_utf8_lossy(&bytes).into_owned()
        })
    });
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            break Some(status);
        }
        if started.elapsed() > PATIENCE {
            child.kill().map_err(failed)?;
            child.wait().map_err(failed)?;
            break None;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let [stdout, stderr] = readers.map(|reader| reader.join().unwrap_or_default());
    let ended = match status.map(|status| status.code()) {
        Some(Some(code)) => Ended::Code(code, stderr.chars().take(300).collect()),
        Some(None) => Ended::Signal,
        None => Ended::TooLate,
    };
    Ok((ended, stdout))
}
