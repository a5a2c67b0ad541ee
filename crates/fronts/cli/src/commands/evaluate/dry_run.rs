//! `planforge evaluate --dry-run`: the requests of every cell.

use super::cell::Cell;
use super::outcomes::count_failures;
use super::work::EvaluationSetup;
use crate::dry_run::DryRun;
use crate::exit::Exit;
use crate::recorded_run::read_report;
use crate::tasks::tasks_of;
use planforge_contract::Failure;
use planforge_evaluate::estimate::CellFacts;
use planforge_pipeline::RunReport;
use planforge_record::RunFolder;
use std::collections::BTreeSet;
use std::sync::Arc;

impl EvaluationSetup<'_> {
    /// The facts of every selected cell, in the order of the table.
    pub(super) fn facts(&self) -> Result<Vec<CellFacts>, Exit> {
        self.plan().iter().filter(|cell| cell.selected).map(Cell::facts).collect()
    }
}

impl Cell<'_> {
    /// The facts of the cell, without sending a request.
    fn facts(&self) -> Result<CellFacts, Exit> {
        let context = self.work.context;
        let folder = self.folder();
        let checked = self.work.check(self.column, self.key.seed)?;
        let tasks = tasks_of(context, &checked, vec![self.suite.clone()])?;
        let known = folder.join("run.json").exists();
        let mut report = None;
        if known {
            let failed = |failure: Failure| context.print_failure(&failure);
            let stored = RunFolder::open(&folder, Arc::default()).map_err(|e| failed(Failure::from(e)))?;
            self.check_inputs(&stored, &checked, &tasks)?;
            report = read_report(context, &stored).map_err(failed)?;
        }
        let running = self.work.running.as_ref();
        let retried =
            |report: &RunReport| running.is_some_and(|r| r.retry) && count_failures(report) != (0, 0);
        let report = report.filter(|report| !retried(report));
        let tasks = self.tasks_to_run(&checked.pipeline.config, &BTreeSet::new(), tasks);
        let dry = DryRun {
            context,
            checked: &checked,
            tasks: &tasks,
            explainer: None,
            jobs: running.map_or(1, |running| u32::try_from(running.jobs).unwrap_or(u32::MAX)),
            title: self.title.clone(),
        };
        if let Some(report) = report {
            return Ok(dry.finished_facts(self.key.clone(), &report));
        }
        let run = known.then_some(folder.as_path());
        let cassettes = running.map(|running| self.cassettes_of(running)).unwrap_or_default();
        let facts = dry.facts(&self.key, run, &cassettes)?;
        // A cell has the tasks of one suite.
        facts.into_iter().next().ok_or(Exit::Input)
    }
}
