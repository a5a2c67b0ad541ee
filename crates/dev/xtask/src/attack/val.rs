//! Verdicts of VAL on plans.

use super::context::Context;
use super::tasks::Task;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) struct Judgement {
    /// `None` if VAL gave no verdict.
    pub(crate) valid: Option<bool>,
    /// Everything that VAL printed.
    pub(crate) output: String,
}

/// VAL with the files of one task.
pub(crate) struct Val<'c> {
    validate: &'c Path,
    domain: PathBuf,
    problem: PathBuf,
    plan: PathBuf,
}

impl<'c> Val<'c> {
    /// Writes the files of a task. `None` if VAL is not installed.
    pub(crate) fn new(context: &'c Context, task: &Task) -> Result<Option<Self>, String> {
        let Some(validate) = &context.val else { return Ok(None) };
        let [domain, problem, plan] =
            ["val-domain.pddl", "val-problem.pddl", "val-plan"].map(|name| context.scratch.join(name));
        write(&domain, &task.domain_text)?;
        write(&problem, &task.problem_text)?;
        Ok(Some(Self { validate, domain, problem, plan }))
    }

    pub(crate) fn judge(&self, plan: &[String]) -> Result<Judgement, String> {
        write(&self.plan, &(plan.join("\n") + "\n"))?;
        let output = Command::new(self.validate).args([&self.domain, &self.problem, &self.plan]).output();
        let output = output.map_err(|e| format!("{}: {e}", self.validate.display()))?;
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        let output = String::from_utf8_lossy(&output.stdout).into_owned();
        // A step that does not fit the declared types is an error of type-checking, once the plan is being checked.
        let refused = ["Plan failed", "Plan invalid", "Bad plan", "Bad operator", "Goal not satisfied"];
        let valid = match output.split_once("Checking plan: ") {
            Some((_, section)) if section.contains("Plan valid") => Some(true),
            Some((_, section)) if refused.iter().any(|words| section.contains(words)) => Some(false),
            Some(_) if error.contains("Error in type-checking") => Some(false),
            _ => None,
        };
        Ok(Judgement { valid, output: output + &error })
    }
}

fn write(file: &Path, text: &str) -> Result<(), String> {
    fs::write(file, text).map_err(|e| format!("{}: {e}", file.display()))
}
