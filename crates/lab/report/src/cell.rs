//! One run: its own page and a page for each of its tasks.

use crate::calls::{Calls, add, total};
use crate::candidates::{Candidates, own};
use crate::chunks::Stores;
use crate::curve::svg;
use crate::documents::{Account, CellEntry, CellPage, Counts, CurveView, TaskEntry, TaskPage};
use crate::metrics::{FileStages, Metrics};
use crate::outline::{Outline, TaskOutline};
use crate::prices::Prices;
use crate::source::{CellSource, Showing, SuiteTexts};
use crate::tree::lay;
use planforge_contract::Failure;
use planforge_evaluate::results::{TaskOutcome, verdict_reason};
use planforge_record::{RunFolder, RunManifest, TaskVerdict};
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

/// Writes the pages of a cell and returns its entry.
pub(crate) fn write(
    cell: &CellSource,
    stores: &mut Stores,
    texts: &mut SuiteTexts,
    warnings: &mut Vec<String>,
) -> Result<CellEntry, Failure> {
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
        return Ok(entry);
    };
    let run = RunFolder::open(folder, Arc::default())?;
    let shown = folder.display();
    warnings.extend(run.warnings().iter().map(|warning| format!("{shown}: {}", warning.message)));
    let manifest = run.manifest();
    entry.simulated = manifest.settings.contains_key(crate::SIMULATED);
    let mut outline = Outline::new(manifest.tasks.iter().map(|used| used.name.as_str()));
    run.each_event(|event| outline.take(event));
    outline.sort();
    let prices = Prices::of_run(manifest);
    let answers = answers(&run, warnings)?;
    let mut page = CellPage {
        id: manifest.id.clone(),
        created_at: manifest.created_at.clone(),
        planforge: manifest.planforge.clone(),
        config_path: manifest.config.path.clone(),
        config: stores.text(&manifest.config.text)?,
        overrides: manifest.overrides.clone(),
        models: models(manifest),
        plugins: manifest.plugins.iter().map(|p| format!("{} {} ({})", p.id, p.version, p.origin)).collect(),
        sessions: std::mem::take(&mut outline.sessions),
        logs: std::mem::take(&mut outline.logs),
        tasks: Vec::new(),
        by_model: BTreeMap::new(),
        by_stage: BTreeMap::new(),
        effects: BTreeMap::new(),
    };
    for task in &outline.tasks {
        let used = manifest.tasks.iter().find(|used| used.name == task.name);
        let told = used.map(|used| texts.of(Path::new(&used.suite), &used.task)).unwrap_or_default();
        let showing = used.map(|used| texts.showing(Path::new(&used.suite))).unwrap_or_default();
        let answer = answers.get(&task.name).map(String::as_str);
        let mut work = TaskWork { run: &run, task, prices: &prices, answer, page: &mut page };
        let mut line = work.write(told, &showing, stores)?;
        let stem = used.map_or(task.name.as_str(), |used| used.task.as_str());
        let (outcome, why) = match cell.outcome(stem) {
            // The evaluation's tables may be older than the run.
            Some((outcome, why)) if outcome != TaskOutcome::Unfinished || task.verdict.is_none() => {
                (outcome, why.to_owned())
            }
            // Without an evaluation that names the deciding stage, the verdict counts.
            _ => {
                let unfinished = || "the run has not come to its end".to_owned();
                let verdict = task.verdict.as_ref();
                (TaskOutcome::of(verdict), verdict.map_or_else(unfinished, verdict_reason))
            }
        };
        line.outcome = outcome.name();
        line.why = why;
        count(&mut entry.counts, outcome);
        entry.candidates += line.candidates;
        entry.calls += task.calls.len();
        add(&mut entry.tokens, &line.account);
        page.tasks.push(line);
    }
    entry.state =
        if outline.tasks.iter().all(|task| task.verdict.is_some()) { "finished" } else { "unfinished" };
    entry.page = Some(stores.page(&page)?);
    match std::mem::take(&mut stores.unreadable) {
        0 => {}
        1 => warnings.push(format!("{shown}: 1 document cannot be read; its page has the reason")),
        n => warnings.push(format!("{shown}: {n} documents cannot be read; their pages have the reasons")),
    }
    Ok(entry)
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

/// A task whose pages are being written.
struct TaskWork<'a> {
    run: &'a RunFolder,
    task: &'a TaskOutline,
    prices: &'a Prices,
    /// The path of the candidate that the verdict is about.
    answer: Option<&'a str>,
    page: &'a mut CellPage,
}

impl TaskWork<'_> {
    fn write(
        &mut self,
        told: Vec<(String, String)>,
        showing: &Showing,
        stores: &mut Stores,
    ) -> Result<TaskEntry, Failure> {
        let task = self.task;
        let calls = Calls::write(self.run, task, self.prices, stores)?;
        let mut candidates = Candidates::new(
            self.run,
            &task.name,
            &calls,
            &task.candidates,
            &task.failed,
            self.answer,
            showing,
        );
        let mut nodes = Vec::new();
        for made in &task.candidates {
            nodes.push(candidates.write(made, stores)?);
        }
        let (samples, broken) = self.broken();
        nodes.extend(samples.into_iter().map(|(path, failure)| candidates.broken(path, failure)));
        let mut laid = lay(&task.name, nodes);
        laid.decide(&task.selections, &task.rounds);
        laid.tree.answer = self.answer.and_then(|path| laid.place(path));
        let metrics = Metrics::of_file(&self.run.manifest().config.text);
        let file = FileStages::of_run(self.run.manifest());
        laid.tree.by = laid.tree.by.take().or_else(|| metrics.first(&laid.tree));
        let curves = metrics.curves(&task.name, &laid.tree);
        for (model, account) in &calls.by_model {
            add(self.page.by_model.entry(model.clone()).or_default(), account);
        }
        for (stage, account) in &calls.by_stage {
            add(self.page.by_stage.entry(stage.clone()).or_default(), account);
        }
        let effects: BTreeMap<String, (u64, u64)> =
            task.effects_by_call().into_iter().map(|(call, sum)| (call.to_owned(), sum)).collect();
        for (call, (count, ms)) in &effects {
            let sum = self.page.effects.entry(call.clone()).or_default();
            *sum = (sum.0 + count, sum.1 + ms);
        }
        let account: Account = total(calls.by_model.values());
        let page = TaskPage {
            task: task.name.clone(),
            verdict: task.verdict.clone(),
            texts: told
                .into_iter()
                .map(|(name, text)| Ok((name, stores.text(&text)?)))
                .collect::<Result<_, Failure>>()?,
            stages: file.sorted(&task.stages),
            measured: file.measured,
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
            by_model: calls.by_model,
            by_stage: calls.by_stage,
            calls: calls.list,
            effects,
        };
        Ok(TaskEntry {
            task: task.name.clone(),
            outcome: "unfinished",
            verdict: task.verdict.as_ref().map(TaskVerdict::name),
            why: String::new(),
            candidates: task.candidates.len(),
            failed: task.failed.len(),
            account,
            page: stores.page(&page)?,
        })
    }

    /// Failures: of samples, and of calls on existing candidates.
    #[expect(clippy::type_complexity, reason = "two lists of the same kind")]
    fn broken(&self) -> (Vec<(&str, &Failure)>, Vec<(String, Failure)>) {
        let task = self.task;
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
}
