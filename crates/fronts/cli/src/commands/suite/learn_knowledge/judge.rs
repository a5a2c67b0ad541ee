//! Problems inferred with a knowledge file, compared with the references.

use crate::commands::suite::inferred::{Comparison, InferredComparer};
use planforge_contract::Failure;
use planforge_diagnostics::render::escape;
use planforge_evaluate::{Align, Table};
use planforge_pipeline::SuiteTask;
use planforge_translator_asp::LearnResult;
use serde::Serialize;
use std::fmt::Write as _;

/// The part of a task in learning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum TaskRole {
    Learned,
    HeldBack,
}

/// The results of one task; empty without a representation.
#[derive(Debug, Clone, Serialize)]
pub(super) struct TaskResult {
    task: String,
    role: TaskRole,
    /// With the declarations alone.
    without_rules: Option<Comparison>,
    /// With the learned knowledge file.
    learned: Option<Comparison>,
    /// With the suite's own knowledge file.
    own_file: Option<Comparison>,
}

/// The result of the command.
#[derive(Debug, Clone, Serialize)]
pub(super) struct KnowledgeReport {
    pub(super) suite: String,
    /// The origin of the representations.
    pub(super) representations: String,
    /// The learned file.
    pub(super) knowledge: String,
    #[serde(flatten)]
    pub(super) result: LearnResult,
    pub(super) tasks: Vec<TaskResult>,
}

/// Infers and compares.
pub(super) struct Judge<'a> {
    pub(super) comparer: InferredComparer<'a>,
}

impl Judge<'_> {
    pub(super) fn task(
        &self,
        task: &SuiteTask,
        role: TaskRole,
        representation: Option<&str>,
        knowledge: &str,
        result: &LearnResult,
    ) -> Result<TaskResult, Failure> {
        let declarations = result.declarations.join("\n");
        let compare = |knowledge: Option<&str>| {
            let (Some(representation), Some(knowledge)) = (representation, knowledge) else {
                return Ok(None);
            };
            self.comparer.compare(task, representation, Some(knowledge)).map(Some)
        };
        Ok(TaskResult {
            task: task.stem.clone(),
            role,
            without_rules: compare(Some(&declarations))?,
            learned: compare(Some(knowledge))?,
            own_file: compare(self.comparer.suite.knowledge.as_deref())?,
        })
    }
}

impl KnowledgeReport {
    /// The held-back tasks with a representation.
    fn held_back(&self) -> impl Iterator<Item = &TaskResult> {
        self.tasks.iter().filter(|task| task.role == TaskRole::HeldBack && task.learned.is_some())
    }

    pub(super) fn all_held_back_are_equivalent(&self) -> bool {
        self.held_back().all(|task| task.learned == Some(Comparison::Equivalent))
    }

    pub(super) fn text(&self) -> String {
        let good = |of: fn(&TaskResult) -> &Option<Comparison>| {
            self.held_back().filter(|task| *of(task) == Some(Comparison::Equivalent)).count()
        };
        let own_file = match self.tasks.iter().any(|task| task.own_file.is_some()) {
            true => format!(", {} with the suite's knowledge file", good(|task| &task.own_file)),
            false => String::new(),
        };
        let mut out = format!(
            "{}: {} of {} held-back tasks are equivalent to their reference with the learned rules, {} without rules{own_file}\n",
            escape(&self.suite),
            good(|task| &task.learned),
            self.held_back().count(),
            good(|task| &task.without_rules),
        );
        let _ = writeln!(out, "representations: {}\n\n{}", self.representations, self.knowledge);
        let words =
            |comparison: &Option<Comparison>| comparison.as_ref().map_or("-", Comparison::word).to_owned();
        let columns = ["task", "role", "without rules", "learned rules", "suite's file"];
        let mut table = Table::new(columns.map(|name| (name, Align::Left)));
        for task in &self.tasks {
            let role = if task.role == TaskRole::Learned { "learned from" } else { "held back" };
            table.row([
                escape(&task.task).to_string(),
                role.to_owned(),
                words(&task.without_rules),
                words(&task.learned),
                words(&task.own_file),
            ]);
        }
        out.push_str(&table.text());
        self.push_failures(&mut out);
        out
    }

    fn push_failures(&self, out: &mut String) {
        let learned = &self.result.learned;
        for task in &self.tasks {
            if let Some(Comparison::Different(why) | Comparison::Refused(why)) = &task.learned {
                let _ = writeln!(out, "\n{}: {}", escape(&task.task), escape(why));
            }
        }
        for pair in &self.result.pairs {
            if let Some(why) = &pair.refused {
                let _ = writeln!(out, "\n{} was not used: {}", escape(&pair.name), escape(why));
            }
            if !pair.contradicted.is_empty() {
                let first = escape(&pair.contradicted[0]);
                let count = pair.contradicted.len();
                let _ = writeln!(
                    out,
                    "\n{}: {count} facts of its representation are not in the reference, such as {first}",
                    escape(&pair.name)
                );
            }
        }
        for open in &learned.unexplained {
            let _ = writeln!(
                out,
                "\nno rules for {}: {} facts missing, {} of them explained; for example {}",
                open.conclusion, open.missing, open.explained, open.fact
            );
        }
        for cut in &learned.cut {
            let _ = writeln!(out, "\nnot tried: {cut}");
        }
        let _ = writeln!(out, "\n{} rules tried", learned.candidates);
    }
}
