//! Ends a program with everything that it started, also when its caller is killed.

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Waits until its standard input closes, then kills the group in the first line and the processes with the mark.
/// A signal to the caller's terminal must not end it before the caller.
const SCRIPT: &str = r#"
trap '' HUP INT QUIT TERM
cd /
read -r group
read -r rest
if [ -n "$group" ]; then kill -s KILL -- "-$group"; fi
for pass in 1 2 3 4 5 6 7 8; do
    marked=$(grep -lsF "$1" /proc/[0-9]*/environ)
    [ -n "$marked" ] || exit 0
    for file in $marked; do
        id=${file#/proc/}
        kill -s KILL "${id%/environ}"
    done
done
"#;

/// A shell that holds the other end of a pipe. The system closes the pipe however the caller ends, also by
/// `SIGKILL`. The death signal of Linux is not used: it depends on the thread that started the program, and
/// does not reach what the program started.
#[derive(Debug)]
pub(crate) struct Guard(Child);

impl Guard {
    /// Starts the guard of the program that will have this mark.
    pub(crate) fn start(mark: &str) -> std::io::Result<Self> {
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(SCRIPT).arg("planforge-guard").arg(format!("{}={mark}", MARK));
        command.env_clear().env("PATH", "/usr/bin:/bin").process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().map(Self)
    }

    /// Sets the process group to kill.
    pub(crate) fn set_group(&mut self, leader: u32) -> std::io::Result<()> {
        match &mut self.0.stdin {
            Some(input) => writeln!(input, "{leader}"),
            None => Err(std::io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Ends the guard. Call this before the program's id can belong to another program.
    pub(crate) fn dismiss(&mut self) {
        // Both fail only where it has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.dismiss();
    }
}

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
