//! The same stages with PyPI's `clingo` in a separate process as the reasoner.

use crate::python_peer::PythonPeer;
use planforge_asp::stages::{Outcome, Run, RunAnswers, SolveJob, solve};
use serde_json::{Value, json};
use std::path::Path;

pub(super) struct Peer(PythonPeer);

impl Peer {
    pub(super) fn start(venv: &Path) -> Result<Self, String> {
        PythonPeer::start(venv, include_str!("peer.py")).map(Self)
    }

    /// Milliseconds that the peer's reasoner takes for all programs of a job.
    pub(super) fn infer(&mut self, job: &SolveJob) -> Result<f64, String> {
        let prefixes = serde_json::to_value(&job.naming).map_err(|e| e.to_string())?["prefixes"].clone();
        let mut ms = 0.0;
        let reply = solve(job, &mut |run| self.run(run, &prefixes, &mut ms))?;
        if reply.outcome == Outcome::Solved {
            return Ok(ms);
        }
        Err(format!("the peer's reasoner came to {:?}", reply.outcome))
    }

    fn run(&mut self, run: Run<'_>, prefixes: &Value, ms: &mut f64) -> Result<RunAnswers, String> {
        let request = json!({
            "program": run.program, "models": run.models, "optimise": run.optimise, "prefixes": prefixes,
        });
        let answer = self.0.ask(&request)?;
        let wrong = |e: &dyn std::fmt::Display| format!("the peer answered {answer}: {e}");
        *ms += answer["ms"].as_f64().ok_or_else(|| wrong(&"no time"))?;
        let answers = serde_json::from_value(answer["answers"].clone()).map_err(|e| wrong(&e))?;
        Ok(RunAnswers { answers, complete: answer["complete"] == true })
    }
}
