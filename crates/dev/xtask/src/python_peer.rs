//! A Python process that answers one JSON document per line.

use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

pub(crate) struct PythonPeer {
    child: Child,
    answers: BufReader<ChildStdout>,
}

impl PythonPeer {
    /// Starts a script with the interpreter of a virtual environment.
    pub(crate) fn start(venv: &Path, script: &str) -> Result<Self, String> {
        let mut child = Command::new(venv.join("bin/python"))
            .args(["-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| format!("{}: {e}", venv.display()))?;
        let answers = child.stdout.take().ok_or("the peer has no output")?;
        Ok(Self { child, answers: BufReader::new(answers) })
    }

    /// Sends a request and reads the answer.
    pub(crate) fn ask(&mut self, request: &Value) -> Result<Value, String> {
        let input = self.child.stdin.as_mut().ok_or("the peer has no input")?;
        writeln!(input, "{request}").map_err(|e| e.to_string())?;
        let mut line = String::new();
        self.answers.read_line(&mut line).map_err(|e| e.to_string())?;
        serde_json::from_str(&line).map_err(|e| format!("the peer answered {line:?}: {e}"))
    }
}

impl Drop for PythonPeer {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
