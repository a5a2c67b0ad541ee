//! Explosive inputs: small texts whose cost multiplies, through every command and tool that reads them. Each row runs in a child
//! with one gigabyte of address space and ten seconds of processor time, and ends with a verdict or a named limit.

mod inputs;
mod servers;

use crate::support::planforge;
use inputs::all_rows;
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;

/// One command on explosive files.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    /// Names, with folders, and texts.
    pub(crate) files: Vec<(&'static str, String)>,
    /// Arguments, separated by spaces.
    pub(crate) arguments: &'static str,
    /// The accepted ends.
    pub(crate) ends: &'static [End],
}

/// An exit code, and a text that the output must then contain.
pub(crate) type End = (i32, &'static str);

/// Good, or a negative verdict.
pub(crate) const VERDICT: &[End] = &[(0, ""), (10, "")];

/// A verdict, or one of the limits that the arguments set.
pub(crate) const VERDICT_OR_LIMIT: &[End] =
    &[(0, ""), (10, ""), (20, ""), (21, "time limit"), (22, "memory limit"), (23, "limit on")];

/// The binary under one gigabyte of address space and ten seconds of processor time; its children inherit both.
pub(crate) fn planforge_under_limits<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Command {
    let bare = planforge();
    let mut command = Command::new("sh");
    command.arg("-c").arg("ulimit -c 0; ulimit -v 1048576; ulimit -t 10; exec \"$0\" \"$@\"");
    command.arg(bare.get_program()).args(arguments);
    for (name, value) in bare.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Reason why a row ended in none of the accepted ways.
fn run_row(row: &Row) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    for (name, text) in &row.files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).map_err(|e| e.to_string())?;
        std::fs::write(path, text).map_err(|e| e.to_string())?;
    }
    let mut command = planforge_under_limits(row.arguments.split(' '));
    let output = command.current_dir(folder.path()).output().map_err(|e| e.to_string())?;
    judge(&output, row.ends)
}

fn judge(output: &Output, ends: &[End]) -> Result<(), String> {
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    // What a process ends with stands at its end, behind the findings about its files.
    let shown = || {
        let tail = text.char_indices().rev().nth(400).map_or(0, |(at, _)| at);
        format!("{}\n{}", output.status, &text[tail..])
    };
    let Some(exit) = output.status.code() else { return Err(format!("ended by a signal: {}", shown())) };
    if text.contains("panicked") {
        return Err(format!("panicked: {}", shown()));
    }
    match ends.iter().any(|(code, named)| *code == exit && text.contains(named)) {
        true => Ok(()),
        false => Err(format!("accepted are {ends:?}: {}", shown())),
    }
}

#[test]
fn every_explosive_input_ends_with_a_verdict_or_a_named_limit() {
    let rows = all_rows();
    let count = rows.len();
    assert!(count >= 30, "{count} rows");
    let rows = Mutex::new(rows);
    let wrong: Mutex<Vec<String>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some(row) = rows.lock().unwrap().pop() else { break };
                    if let Err(reason) = run_row(&row) {
                        wrong.lock().unwrap().push(format!("{}: {}: {reason}", row.name, row.arguments));
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of {count} rows:\n\n{}", wrong.len(), wrong.join("\n\n"));
}

#[test]
fn a_signal_a_panic_and_a_limit_without_its_name_are_not_accepted() {
    let run = |script: &str| Command::new("sh").args(["-c", script]).output().unwrap();
    assert!(judge(&run("kill -9 $$"), VERDICT_OR_LIMIT).unwrap_err().contains("signal"));
    assert!(judge(&run("echo panicked; exit 10"), VERDICT_OR_LIMIT).unwrap_err().contains("panicked"));
    assert!(judge(&run("echo stopped; exit 21"), VERDICT_OR_LIMIT).is_err());
    assert_eq!(judge(&run("echo 'the time limit was reached'; exit 21"), VERDICT_OR_LIMIT), Ok(()));
}
