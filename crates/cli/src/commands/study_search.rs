//! `planforge study search`: pipelines against each other with a simulated model, at the same number of replies.

use super::Context;
use super::study::{watched, write};
use crate::args::{SearchArgs, StudyFiles};
use crate::exit::Exit;
use crate::inputs::read_text;
use crate::prepare::Prepared;
use crate::session::{self, Checked, broke};
use planforge_contract::{Decision, Event, Failure, FailureClass};
use planforge_diagnostics::{Diagnostic, SourceMap};
use planforge_evaluate::study::search::{SearchRun, SearchStudy};
use planforge_evaluate::study::{Watch, run_all};
use planforge_llm::{Llm, LlmOptions, Mode};
use planforge_pipeline::{RunReport, RunTask, Services, Suite, load_suite, run_tasks};
use planforge_record::{Journal, MemoryJournal, Redactor};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The stage that judges what a strategy returned.
pub(crate) const FINAL: &str = "final";

/// A pipeline with a simulated model, ready to run.
pub(crate) struct Strategy {
    name: String,
    checked: Checked,
    prepared: Prepared,
    redactor: Arc<Redactor>,
    pub(crate) tasks: Vec<RunTask>,
}

pub(crate) fn run(context: &Context, args: &SearchArgs) -> Result<(), Exit> {
    let files = &args.files;
    let (seeds, tasks) = if files.quick { (2, 1) } else { (10, 1) };
    let (seeds, tasks) = (args.seeds.unwrap_or(seeds) as u64, args.tasks.unwrap_or(tasks));
    let suites = suites(context, files, tasks)?;
    let mut strategies = Vec::new();
    for path in &args.strategies {
        strategies.push(strategy(context, path, &[], &suites)?);
    }
    let mut work = Vec::new();
    for strategy in &strategies {
        for task in &strategy.tasks {
            work.extend((0..seeds).map(|index| (strategy, task, files.seed + index)));
        }
    }
    let runs = watched(context, files, |threads, watch| {
        run_all(&work, threads, watch, |(strategy, task, seed)| strategy.run(task, *seed, watch))
    })?;
    let runs = runs.into_iter().collect::<Result<Vec<SearchRun>, Failure>>();
    let runs = runs.map_err(|failure| broke(context, &failure))?;
    let names: Vec<String> = strategies.iter().map(|s| s.name.clone()).collect();
    let study = SearchStudy::new(planforge_provider_noisy_oracle::MODEL, &names, runs, files.seed);
    let artefacts = study.artefacts().map_err(|failure| broke(context, &failure))?;
    if files.json {
        context.output.json(&study);
    } else {
        context.output.result(&study.table().text());
    }
    write(context, &files.out, &artefacts)
}

/// The suites with their first tasks.
pub(crate) fn suites(context: &Context, files: &StudyFiles, tasks: usize) -> Result<Vec<Suite>, Exit> {
    let mut suites = Vec::new();
    let mut bad = false;
    for path in files.suites.iter().flat_map(|path| folders(path)) {
        let loaded = load_suite(&path);
        match loaded.suite {
            // Warnings of suites that are not wanted, or all over again, would only hide the figures.
            Some(mut suite) => {
                suite.tasks.truncate(tasks);
                suites.push(suite);
            }
            None => {
                context.output.diagnostics(&loaded.diagnostics, &loaded.sources);
                bad = true;
            }
        }
    }
    let unknown = |name: &&String| suites.iter().all(|s| s.name != **name);
    let unknown: Vec<&String> = files.only.iter().filter(unknown).collect();
    for name in &unknown {
        context.output.note(&format!("error: --only: there is no suite `{name}`"));
    }
    if !unknown.is_empty() {
        let known: Vec<&str> = suites.iter().map(|s| s.name.as_str()).collect();
        context.output.note(&format!("help: the suites are {}", known.join(", ")));
        return Err(Exit::Usage);
    }
    suites.retain(|suite| files.only.is_empty() || files.only.contains(&suite.name));
    if bad || suites.is_empty() {
        let missing = Diagnostic::error("study.no-suite", "there is no suite to study")
            .help("a suite is a folder with domain.pddl and problems beside it");
        context.output.diagnostics(&[missing], &SourceMap::default());
        return Err(Exit::Input);
    }
    Ok(suites)
}

/// The suite in a folder, or the suites in its folders, by name.
pub(crate) fn folders(path: &Path) -> Vec<PathBuf> {
    if path.join("domain.pddl").is_file() {
        return vec![path.to_owned()];
    }
    let entries = std::fs::read_dir(path).map(|list| list.flatten().map(|e| e.path()).collect());
    let mut folders: Vec<PathBuf> = entries.unwrap_or_default();
    folders.retain(|folder| folder.join("domain.pddl").is_file());
    folders.sort();
    folders
}

/// Reads, checks and prepares a pipeline.
pub(crate) fn strategy(
    context: &Context,
    path: &Path,
    overrides: &[String],
    suites: &[Suite],
) -> Result<Strategy, Exit> {
    let file = path.display().to_string();
    let text = read_text(path).map_err(|diagnostic| {
        context.output.diagnostics(&[*diagnostic], &SourceMap::single(file.clone(), ""));
        Exit::Input
    })?;
    let mut checked = session::check(context, &text, &file, overrides)?;
    for table in checked.pipeline.config.llm.values() {
        let info = checked.registry.info(&table.plugin).map_err(|failure| broke(context, &failure))?;
        if !info.capabilities.simulated {
            let message = format!("`{}` in {file} asks a real model", table.plugin);
            let help = "use `provider-noisy-oracle` in every [llm] table";
            return Err(unfit(context, "study.real-model", message, help));
        }
    }
    give_suites(context, &mut checked, suites)?;
    let pipeline = &checked.pipeline;
    if !pipeline.config.stages.iter().any(|stage| stage.label() == FINAL) {
        let message = format!("{file} has no stage with the label `{FINAL}`");
        let help = "end it with a verify stage of `verifier-ew` with that label";
        return Err(unfit(context, "study.no-final", message, help));
    }
    let tasks =
        run_tasks(&checked.pipeline.config, suites, checked.pipeline.folder()).map_err(|diagnostics| {
            context.output.diagnostics(&diagnostics, &SourceMap::default());
            Exit::Input
        })?;
    let (prepared, redactor) = session::instantiate(context, &checked, Mode::Live)?;
    let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(Strategy { name, checked, prepared, redactor, tasks })
}

/// A simulated model that lists no suites of its own holds those of the study.
pub(crate) fn give_suites(context: &Context, checked: &mut Checked, suites: &[Suite]) -> Result<(), Exit> {
    let Checked { registry, pipeline } = checked;
    for table in pipeline.config.llm.values_mut() {
        let info = registry.info(&table.plugin).map_err(|failure| broke(context, &failure))?;
        if info.capabilities.simulated {
            for option in &info.suites {
                table.settings.entry(option.clone()).or_insert_with(|| folders_of(suites));
            }
        }
    }
    Ok(())
}

/// A pipeline without mistakes that is no strategy of this study.
fn unfit(context: &Context, code: &str, message: String, help: &str) -> Exit {
    broke(context, &Failure::new(FailureClass::Request, code, message).help(help));
    Exit::Pipeline
}

/// The folders of the suites, to be found from wherever a pipeline file lies.
fn folders_of(suites: &[Suite]) -> Value {
    let absolute = |s: &Suite| s.folder.canonicalize().unwrap_or_else(|_| s.folder.clone());
    Value::Array(suites.iter().map(|s| absolute(s).display().to_string().into()).collect())
}

impl Strategy {
    /// Runs the pipeline on one task, recorded in memory alone.
    pub(crate) fn execute(&self, task: &RunTask, seed: u64, watch: &Watch) -> Result<Executed, Failure> {
        let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new(Arc::clone(&self.redactor)));
        let flag = watch.flag();
        let cancelled: Arc<dyn Fn() -> bool + Send + Sync> =
            Arc::new(move || flag.load(std::sync::atomic::Ordering::SeqCst));
        let mut options = LlmOptions::new(Arc::clone(&journal));
        options.roles.clone_from(&self.prepared.roles);
        options.run_seed = seed;
        options.redactor = Arc::clone(&self.redactor);
        options.cancelled = Arc::clone(&cancelled);
        let services = Services {
            instances: self.prepared.instances.clone(),
            llm: Arc::new(Llm::new(options)?),
            journal: Arc::clone(&journal),
            sources: Vec::new(),
            mode: Mode::Live,
            jobs: 1,
            cancelled,
            observer: None,
            now: Arc::new(String::new),
        };
        let mut pipeline = self.checked.pipeline.clone();
        pipeline.config.seed = seed;
        let report = planforge_pipeline::run(&pipeline, std::slice::from_ref(task), &services)?;
        Ok((report, journal))
    }

    fn run(&self, task: &RunTask, seed: u64, watch: &Watch) -> Result<SearchRun, Failure> {
        let (report, journal) = self.execute(task, seed, watch)?;
        let ended = report.tasks.first();
        let judged = ended.and_then(|t| t.candidate.as_ref()).and_then(|c| c.assessments.get(FINAL));
        let effort = Effort::of(journal.as_ref())?;
        Ok(SearchRun {
            strategy: self.name.clone(),
            suite: task.view.suite.clone(),
            task: task.view.task.clone(),
            seed,
            verdict: ended.and_then(|t| t.verdict.as_ref()).map_or("none", |v| v.name()).to_owned(),
            solved: judged.is_some_and(|a| a.decision == Decision::Accepted),
            score: judged.and_then(|a| a.metrics.get("score")).copied().unwrap_or(0.0),
            replies: effort.replies,
            requests: effort.requests,
            walks: effort.walks,
        })
    }
}

/// A run's report and its record.
pub(crate) type Executed = (RunReport, Arc<dyn Journal>);

/// What a run took, as its record says it.
#[derive(Default)]
struct Effort {
    replies: u64,
    requests: u64,
    walks: u64,
}

impl Effort {
    fn of(journal: &dyn Journal) -> Result<Self, Failure> {
        let mut effort = Self::default();
        let document = |id: &str| -> Result<Value, Failure> {
            let bytes = journal.get(id).map_err(Failure::from)?;
            serde_json::from_slice(&bytes)
                .map_err(|e| Failure::new(FailureClass::System, "record.corrupt", e.to_string()))
        };
        for event in journal.events() {
            match event {
                Event::Completion { result: Some(result), .. } => {
                    effort.requests += 1;
                    let replies = document(&result)?;
                    effort.replies += replies["replies"].as_array().map_or(0, Vec::len) as u64;
                }
                Event::Assessed { stage, assessment, .. } if stage != FINAL => {
                    effort.walks += document(&assessment)?["metrics"]["walks"].as_f64().unwrap_or(0.0) as u64;
                }
                _ => {}
            }
        }
        Ok(effort)
    }
}
