//! The same stages with PyPI's `clingo`, in a process of its own, as the reasoner.

use planforge_asp::stages::{Found, Job, Outcome, Run, solve};
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

    /// Milliseconds that the peer's reasoner takes for all programs of a job.
    pub(super) fn infer(&mut self, job: &Job) -> Result<f64, String> {
        let prefixes = serde_json::to_value(&job.naming).map_err(|e| e.to_string())?["prefixes"].clone();
        let mut ms = 0.0;
        let reply = solve(job, &mut |run| self.run(run, &prefixes, &mut ms))?;
        if reply.outcome == Outcome::Solved {
            return Ok(ms);
        }
        Err(format!("the peer's reasoner came to {:?}", reply.outcome))
    }

    fn run(&mut self, run: Run<'_>, prefixes: &Value, ms: &mut f64) -> Result<Found, String> {
        let input = self.child.stdin.as_mut().ok_or("no input of the peer")?;
        let request = json!({
            "program": run.program, "models": run.models, "optimise": run.optimise, "prefixes": prefixes,
        });
        writeln!(input, "{request}").map_err(|e| e.to_string())?;
        let mut line = String::new();
        self.answers.read_line(&mut line).map_err(|e| e.to_string())?;
        let wrong = |e: &dyn std::fmt::Display| format!("the peer answered {line:?}: {e}");
        let answer: Value = serde_json::from_str(&line).map_err(|e| wrong(&e))?;
        *ms += answer["ms"].as_f64().ok_or_else(|| wrong(&"no time"))?;
        let answers = serde_json::from_value(answer["answers"].clone()).map_err(|e| wrong(&e))?;
        Ok(Found { answers, complete: answer["complete"] == true })
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
