//! One run: its own page and a page for each of its tasks.

use crate::calls::{Accounts, Calls, add, total};
use crate::candidates::{Candidates, own};
use crate::chunks::Stores;
use crate::curve::svg;
use crate::documents::{Account, CellEntry, CellPage, Counts, CurveView, PageId, TaskEntry, TaskPage};
use crate::metrics::{FileStages, Metrics};
use crate::outline::{Outline, TaskOutline};
use crate::prices::Prices;
use crate::source::{CellSource, SuiteTexts};
use crate::tree::lay;
use planforge_contract::Failure;
use planforge_evaluate::results::{TaskOutcome, verdict_reason};
use planforge_record::{RunFolder, RunManifest, TaskUse, TaskVerdict};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The models by table; simulated ones are marked.
fn models(manifest: &RunManifest) -> BTreeMap<String, String> {
    let simulated = manifest.settings.get(crate::SIMULATED).and_then(Value::as_array);
    let is_simulated = |table: &str| simulated.is_some_and(|tables| tables.iter().any(|t| t == table));
    let named = |(table, model): (&String, &String)| {
        let mark = if is_simulated(table) { " (simulated)" } else { "" };
        (table.clone(), format!("{model}{mark}"))
    };
    manifest.models.iter().map(named).collect()
}

/// Whether the pages of tasks are written with the page of their run, or when they are asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskWriting {
    Now,
    Later,
}

/// Writes the page of a cell and returns its entry, with its run if it has one.
pub(crate) fn write(
    cell: &CellSource,
    tasks: TaskWriting,
    stores: &mut Stores,
    texts: &mut SuiteTexts,
    warnings: &mut Vec<String>,
) -> Result<(CellEntry, Option<CellRun>), Failure> {
    let mut entry = CellEntry {
        suite: cell.key.suite.clone(),
        pipeline: cell.key.pipeline.clone(),
        model: cell.key.model.clone(),
        seed: cell.key.seed,
        judged: cell.result.is_some(),
        walk: cell.result.as_ref().and_then(|result| result.walk).map(|walk| walk.score),
        state: "not started",
        ..CellEntry::default()
    };
    let Some(folder) = &cell.folder else {
        let tasks = cell.result.iter().flat_map(|result| &result.tasks);
        tasks.for_each(|task| count(&mut entry.counts, task.outcome));
        if cell.result.is_none() {
            entry.counts.unfinished = cell.planned;
        }
        return Ok((entry, None));
    };
    let shown = folder.display();
    let (run, mut page) = CellRun::open(folder, stores, warnings)?;
    entry.simulated = run.manifest().settings.contains_key(crate::SIMULATED);
    let outcomes = cell.outcomes();
    for (place, task) in run.tasks.iter().enumerate() {
        let (number, accounts) = match tasks {
            TaskWriting::Now => {
                let (number, accounts) = run.write_task(task, place, texts, stores)?;
                (Some(number), accounts)
            }
            TaskWriting::Later => {
                (None, Accounts::of_task(&run.folder, task, &run.prices, &mut stores.unreadable))
            }
        };
        let used = run.used(place, &task.name);
        let stem = used.map_or(task.name.as_str(), |used| used.task.as_str());
        let (outcome, why) = match outcomes.get(stem) {
            // The evaluation's tables may be older than the run.
            Some((outcome, why)) if *outcome != TaskOutcome::Unfinished || task.verdict.is_none() => {
                (*outcome, (*why).to_owned())
            }
            // Without an evaluation that names the deciding stage, the verdict counts.
            _ => {
                let unfinished = || "the run has not come to its end".to_owned();
                let verdict = task.verdict.as_ref();
                (TaskOutcome::of(verdict), verdict.map_or_else(unfinished, verdict_reason))
            }
        };
        count(&mut entry.counts, outcome);
        entry.candidates += task.candidates.len();
        entry.calls += task.calls.len();
        let account = total(accounts.by_model.values());
        add(&mut entry.tokens, &account);
        add_accounts(&mut page.by_model, &accounts.by_model);
        add_accounts(&mut page.by_stage, &accounts.by_stage);
        for (call, (count, ms)) in task.effects_by_call() {
            let sum = page.effects.entry(call.to_owned()).or_default();
            *sum = (sum.0 + count, sum.1 + ms);
        }
        page.tasks.push(TaskEntry {
            task: task.name.clone(),
            outcome: outcome.name(),
            verdict: task.verdict.as_ref().map(TaskVerdict::name),
            why,
            candidates: task.candidates.len(),
            failed: task.failed.len(),
            account,
            page: number,
        });
    }
    entry.state = if run.tasks.iter().all(|task| task.verdict.is_some()) { "finished" } else { "unfinished" };
    entry.page = Some(stores.page(&page)?);
    match std::mem::take(&mut stores.unreadable) {
        0 => {}
        1 => warnings.push(format!("{shown}: 1 document cannot be read; its page has the reason")),
        n => warnings.push(format!("{shown}: {n} documents cannot be read; their pages have the reasons")),
    }
    Ok((entry, Some(run)))
}

fn add_accounts(sums: &mut BTreeMap<String, Account>, accounts: &BTreeMap<String, Account>) {
    for (name, account) in accounts {
        add(sums.entry(name.clone()).or_default(), account);
    }
}

fn count(counts: &mut Counts, outcome: TaskOutcome) {
    *match outcome {
        TaskOutcome::Solved => &mut counts.solved,
        TaskOutcome::NotSolved => &mut counts.not_solved,
        TaskOutcome::Undecided | TaskOutcome::NotJudged => &mut counts.undecided,
        TaskOutcome::Failed => &mut counts.failed,
        TaskOutcome::Unfinished => &mut counts.unfinished,
    } += 1;
}

/// Task -> path of the candidate that its verdict is about, from the report that a finished run leaves.
fn answers(run: &RunFolder, warnings: &mut Vec<String>) -> Result<BTreeMap<String, String>, Failure> {
    #[derive(Deserialize)]
    struct Task {
        task: String,
        #[serde(default)]
        path: Option<String>,
    }
    #[derive(Deserialize)]
    struct Report {
        tasks: Vec<Task>,
    }
    let saved = run.report()?;
    if saved.as_ref().is_some_and(|saved| !saved.is_verified) {
        warnings.push(format!(
            "{} has no recorded hash, so changes to it cannot be noticed",
            run.report_path().display()
        ));
    }
    let report: Option<Report> = saved.and_then(|saved| planforge_contract::read_json(&saved.bytes).ok());
    let tasks = report.into_iter().flat_map(|report| report.tasks);
    Ok(tasks.filter_map(|task| Some((task.task, task.path?))).collect())
}

/// The run of a cell, whose events were read.
pub(crate) struct CellRun {
    folder: RunFolder,
    tasks: Vec<TaskOutline>,
    prices: Prices,
    /// Task -> path of the candidate that its verdict is about.
    answers: BTreeMap<String, String>,
    metrics: Metrics,
    stages: FileStages,
}

impl CellRun {
    /// Reads the events of a run. Its page has no tasks yet.
    fn open(
        folder: &Path,
        stores: &mut Stores,
        warnings: &mut Vec<String>,
    ) -> Result<(Self, CellPage), Failure> {
        let run = RunFolder::open(folder, Arc::default())?;
        let shown = folder.display();
        warnings.extend(run.warnings().iter().map(|warning| format!("{shown}: {}", warning.message)));
        let answers = answers(&run, warnings)?;
        let manifest = run.manifest();
        let mut outline = Outline::new(manifest.tasks.iter().map(|used| used.name.as_str()));
        run.each_event(|event| outline.take(event));
        outline.sort();
        let page = CellPage {
            id: manifest.id.clone(),
            created_at: manifest.created_at.clone(),
            planforge: manifest.planforge.clone(),
            config_path: manifest.config.path.clone(),
            config: stores.text(&manifest.config.text)?,
            overrides: manifest.overrides.clone(),
            models: models(manifest),
            plugins: manifest
                .plugins
                .iter()
                .map(|p| format!("{} {} ({})", p.id, p.version, p.origin))
                .collect(),
            sessions: outline.sessions,
            logs: outline.logs,
            ..CellPage::default()
        };
        let run = Self {
            tasks: outline.tasks,
            prices: Prices::of_run(manifest),
            answers,
            metrics: Metrics::of_file(&manifest.config.text),
            stages: FileStages::of_run(manifest),
            folder: run,
        };
        Ok((run, page))
    }

    fn manifest(&self) -> &RunManifest {
        self.folder.manifest()
    }

    /// The entry of a task in the manifest. Tasks are in the order of the manifest; a name of which it has no entry may stand at their end.
    fn used(&self, place: usize, name: &str) -> Option<&TaskUse> {
        let tasks = &self.manifest().tasks;
        let at_place = tasks.get(place).filter(|used| used.name == name);
        at_place.or_else(|| tasks.iter().find(|used| used.name == name))
    }

    /// Writes the page of the task at this place. `None` if there is no such task.
    pub(crate) fn write_task_at(
        &self,
        place: usize,
        texts: &mut SuiteTexts,
        stores: &mut Stores,
    ) -> Result<Option<PageId>, Failure> {
        let task = self.tasks.get(place);
        task.map(|task| Ok(self.write_task(task, place, texts, stores)?.0)).transpose()
    }

    fn write_task(
        &self,
        task: &TaskOutline,
        place: usize,
        texts: &mut SuiteTexts,
        stores: &mut Stores,
    ) -> Result<(PageId, Accounts), Failure> {
        let used = self.used(place, &task.name);
        let told = used.map(|used| texts.of(Path::new(&used.suite), &used.task)).unwrap_or_default();
        let showing = used.map(|used| texts.showing(Path::new(&used.suite))).unwrap_or_default();
        let answer = self.answers.get(&task.name).map(String::as_str);
        let unreadable_before = stores.unreadable;
        let calls = Calls::write(&self.folder, task, &self.prices, stores)?;
        let mut candidates = Candidates::new(
            &self.folder,
            &task.name,
            &calls,
            &task.candidates,
            &task.failed,
            answer,
            &showing,
        );
        let mut nodes = Vec::new();
        for made in &task.candidates {
            nodes.push(candidates.write(made, stores)?);
        }
        let (samples, broken) = broken(task);
        nodes.extend(samples.into_iter().map(|(path, failure)| candidates.broken(path, failure)));
        let mut laid = lay(&task.name, nodes);
        laid.decide(&task.selections, &task.rounds);
        laid.tree.answer = answer.and_then(|path| laid.place(path));
        laid.tree.by = laid.tree.by.take().or_else(|| self.metrics.first(&laid.tree));
        let curves = self.metrics.curves(&task.name, &laid.tree);
        let accounts = calls.accounts;
        let page = TaskPage {
            task: task.name.clone(),
            verdict: task.verdict.clone(),
            texts: told
                .into_iter()
                .map(|(name, text)| Ok((name, stores.text(&text)?)))
                .collect::<Result<_, Failure>>()?,
            stages: self.stages.sorted(&task.stages),
            measured: self.stages.measured.clone(),
            tree: laid.tree,
            rounds: task.rounds.clone(),
            selections: task.selections.clone(),
            pulls: task.pulls.clone(),
            spent: task.spent.clone(),
            curves: curves
                .iter()
                .map(|curve| {
                    let (metric, over) = (curve.metric.clone(), curve.over);
                    Ok(CurveView { metric, over, svg: stores.text(&svg(curve))? })
                })
                .collect::<Result<_, Failure>>()?,
            broken,
            unreadable: stores.unreadable - unreadable_before,
            by_model: accounts.by_model.clone(),
            by_stage: accounts.by_stage.clone(),
            calls: calls.list,
            effects: task.effects_by_call().into_iter().map(|(call, sum)| (call.to_owned(), sum)).collect(),
        };
        Ok((stores.page(&page)?, accounts))
    }
}

/// Failures: of samples, and of calls on existing candidates.
#[expect(clippy::type_complexity, reason = "two lists of the same kind")]
fn broken(task: &TaskOutline) -> (Vec<(&str, &Failure)>, Vec<(String, Failure)>) {
    let writers: std::collections::HashSet<&str> = task
        .candidates
        .iter()
        .map(|made| crate::outline::stage_label(own(&task.name, &made.path).0))
        .collect();
    let indices: std::collections::HashSet<&str> =
        task.candidates.iter().map(|made| own(&task.name, &made.path).1).collect();
    let (mut samples, mut calls) = (Vec::new(), Vec::new());
    for (path, failure) in &task.failed {
        let (label, at) = own(&task.name, path);
        let writes = writers.contains(crate::outline::stage_label(label));
        let is_candidate = task.candidates.iter().any(|made| made.path == *path);
        if is_candidate || (!writes && indices.contains(at)) {
            calls.push((path.clone(), failure.clone()));
        } else {
            samples.push((path.as_str(), failure));
        }
    }
    (samples, calls)
}
