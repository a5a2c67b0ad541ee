//! Time and memory of a process.

use std::fs;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Time and memory of a process.
#[derive(Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) wall_ms: f64,
    pub(crate) cpu_ms: f64,
    pub(crate) peak_kb: f64,
}

impl Cost {
    pub(crate) fn least(self, other: Self) -> Self {
        Self {
            wall_ms: self.wall_ms.min(other.wall_ms),
            cpu_ms: self.cpu_ms.min(other.cpu_ms),
            peak_kb: self.peak_kb.min(other.peak_kb),
        }
    }
}

/// Runs a command to its end, with its standard output thrown away.
pub(crate) fn run_measured(command: &mut Command) -> std::io::Result<(Cost, ExitStatus)> {
    let start = Instant::now();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let (mut peak_kb, mut cpu_ms) = (0.0, 0.0);
    let status = loop {
        if let Some((peak, cpu)) = usage(child.id()) {
            (peak_kb, cpu_ms) = (peak, cpu);
        }
        match child.try_wait()? {
            Some(status) => break status,
            None => thread::sleep(Duration::from_millis(2)),
        }
    };
    Ok((Cost { wall_ms: start.elapsed().as_secs_f64() * 1000.0, cpu_ms, peak_kb }, status))
}

/// Peak of resident memory in kB, and processor time in milliseconds, of a process, read from /proc. The
/// kernel counts time in hundredths of a second.
fn usage(process: u32) -> Option<(f64, f64)> {
    let peak = status_field(process, "VmHWM:")?;
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name of the program stands in parentheses and may hold anything; the fields behind it are counted from 3.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |field: usize| fields.get(field - 3)?.parse::<f64>().ok();
    Some((peak, (ticks(14)? + ticks(15)?) * 10.0))
}

/// The first number of a line of a process's status.
pub(crate) fn status_field(process: u32, name: &str) -> Option<f64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}
