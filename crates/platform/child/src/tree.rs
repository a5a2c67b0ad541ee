//! The end of everything that a program started.

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// The variable that marks a program and what it starts.
pub(crate) const MARK: &str = "PLANFORGE_CHILD";

/// Number of searches for marked processes: one may start another while the first are killed.
const PASSES: u32 = 8;

/// A mark that no other program has.
pub(crate) fn new_mark() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{}-{}-{count}", std::process::id(), since.as_nanos())
}

/// Kills the group, which must still have its leader (running, or ended and not yet waited for), and the marked.
pub(crate) fn end(leader: u32, mark: &str) {
    if let Ok(id) = i32::try_from(leader) {
        // It fails where nothing of the group is left, which is what is wanted.
        let _ = killpg(Pid::from_raw(id), Signal::SIGKILL);
    }
    for _ in 0..PASSES {
        let marked = find_marked(mark);
        if marked.is_empty() {
            return;
        }
        for id in marked {
            let _ = kill(Pid::from_raw(id), Signal::SIGKILL);
        }
    }
}

/// Processes with that mark in the environment they were started with. One that has ended has none any more.
#[cfg(target_os = "linux")]
fn find_marked(mark: &str) -> Vec<i32> {
    let entry = format!("{MARK}={mark}");
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    let ids = processes.filter_map(|p| p.ok()?.file_name().to_str()?.parse::<i32>().ok());
    ids.filter(|id| {
        let environment = std::fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        environment.split(|b| *b == 0).any(|e| e == entry.as_bytes())
    })
    .collect()
}

#[cfg(not(target_os = "linux"))]
fn find_marked(_mark: &str) -> Vec<i32> {
    Vec::new()
}
