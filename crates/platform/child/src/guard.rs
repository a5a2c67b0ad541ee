//! Ends a program when its caller is killed.

use crate::tree;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

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
        command.arg("-c").arg(SCRIPT).arg("planforge-guard").arg(format!("{}={mark}", tree::MARK));
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
