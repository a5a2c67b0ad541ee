//! `planforge evaluate --dry-run`: what every cell would ask.

use super::Work;
use super::cell::Cell;
use super::columns::ColumnFile;
use crate::commands::dry_run::DryRun;
use crate::commands::run::tasks_of;
use crate::exit::Exit;
use planforge_evaluate::estimate::CellFacts;
use planforge_pipeline::{RunTask, Suite};

impl Work<'_> {
    /// What there is to know of every cell, in the order of the table.
    pub(super) fn facts(&self, suites: &[Suite], columns: &[ColumnFile]) -> Result<Vec<CellFacts>, Exit> {
        let total = suites.len() * columns.len() * self.matrix.seeds.len();
        let mut facts = Vec::with_capacity(total);
        for (suite, column) in suites.iter().flat_map(|s| columns.iter().map(move |c| (s, c))) {
            for &seed in &self.matrix.seeds {
                let key = column.key(&suite.name, seed);
                let title = format!("{}/{total} {} {} {seed}", facts.len() + 1, key.suite, column.name);
                facts.push(Cell { work: self, suite, column, key, title }.facts()?);
            }
        }
        Ok(facts)
    }
}

impl Cell<'_> {
    /// What there is to know of the cell without asking anybody.
    fn facts(&self) -> Result<CellFacts, Exit> {
        let context = self.work.context;
        let folder = self.folder();
        let checked = self.work.check(self.column, self.key.seed)?;
        let tasks = tasks_of(context, &checked, vec![self.suite.clone()])?;
        let known = folder.join("run.json").exists();
        if known {
            self.is_the_same(&folder, &checked, &tasks)?;
        }
        let report = if known { self.finished(&folder)? } else { None };
        let tasks: Vec<RunTask> = tasks.into_iter().map(|(task, _)| task).collect();
        let dry = DryRun {
            context,
            checked: &checked,
            tasks: &tasks,
            explainer: None,
            jobs: self.work.args.jobs,
            title: self.title.clone(),
        };
        if let Some(report) = report {
            return Ok(dry.finished(self.key.clone(), &report));
        }
        let run = known.then_some(folder.as_path());
        let facts = dry.facts(&self.key, run, |redactor| self.lookups(redactor))?;
        // A cell has the tasks of one suite.
        facts.into_iter().next().ok_or(Exit::Input)
    }
}
