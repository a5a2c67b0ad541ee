//! The same programs in PyPI's `clingo`, in a process of its own.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

pub(super) struct Peer {
    child: Child,
    answers: BufReader<std::process::ChildStdout>,
}

impl Peer {
    pub(super) fn start(venv: &Path) -> Result<Self, String> {
        let mut child = Command::new(venv.join("bin/python"))
            .args(["-c", include_str!("../measure_inference.py")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| format!("{}: {e}", venv.display()))?;
        let answers = child.stdout.take().ok_or("no output of the peer")?;
        Ok(Self { child, answers: BufReader::new(answers) })
    }

    /// Milliseconds to ground and solve these programs one after the other and to read their atoms, the median of the repeats.
    pub(super) fn ask(&mut self, programs: &[String], repeats: usize) -> Result<f64, String> {
        let input = self.child.stdin.as_mut().ok_or("no input of the peer")?;
        writeln!(input, "{}", json!({"programs": programs, "repeats": repeats}))
            .map_err(|e| e.to_string())?;
        let mut line = String::new();
        self.answers.read_line(&mut line).map_err(|e| e.to_string())?;
        let answer: Value =
            serde_json::from_str(&line).map_err(|e| format!("the peer answered {line:?}: {e}"))?;
        answer["ms"].as_f64().ok_or_else(|| format!("the peer answered {line:?}"))
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
