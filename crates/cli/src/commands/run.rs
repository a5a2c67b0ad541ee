//! `planforge run`: a pipeline over tasks, recorded as it goes; and its resumption.

use super::dry_run::{self, DryRun};
use super::explain_plan::{self, Told};
use super::{Context, outcome};
use crate::args::{FailOn, RunArgs};
use crate::batch::Batch;
use crate::exit::{Exit, of_failure, of_limit};
use crate::files::{unwritable, write};
use crate::inputs::read_text;
use crate::prepare::Prepared;
use crate::progress::RunBar;
use crate::session::{self, Checked, Sources, broke};
use planforge_batch::Wave;
use planforge_contract::api::NoHost;
use planforge_contract::{Failure, FailureClass, Outcome, PlanOutcome, TaskVerdict};
use planforge_diagnostics::{Diagnostic, SourceMap};
use planforge_evaluate::evaluation::CellKey;
use planforge_llm::{CallWatch, Mode, PendingQuestion};
use planforge_pipeline::{
    CheckedPipeline, RunObserver, RunReport, RunState, RunTask, Services, Suite, TaskReport, apply_add_ons,
    describe_tasks, disguise_suites, load_suite_with, load_task_with, needs_description, run_tasks,
};
use planforge_record::{
    Cassette, CassetteHeader, Journal, Lookup, MemoryJournal, RecordError, Redactor, RunFolder, RunManifest,
    TaskUse, export_cassette, sha256_hex,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a finished run came to, in its folder.
pub(crate) const REPORT: &str = "report.json";

pub(crate) fn run(context: &Context, args: &RunArgs) -> Exit {
    let context = &context.showing(&args.progress);
    let outcome = match &args.resume {
        Some(folder) => resume(context, args, folder),
        None => start(context, args),
    };
    match outcome {
        Ok(exit) | Err(exit) => exit,
    }
}

fn start(context: &Context, args: &RunArgs) -> Result<Exit, Exit> {
    let path = args.pipeline.clone().unwrap_or_default();
    let name = path.display().to_string();
    let text = read_text(&path).map_err(|diagnostic| {
        context.output.diagnostics(&[*diagnostic], &SourceMap::single(name.clone(), ""));
        Exit::Input
    })?;
    let overrides = overrides(args);
    let checked = session::check(context, &text, &name, &overrides)?;
    explainer_is_there(context, &checked, args.explain_plan.as_deref())?;
    let tasks = tasks(context, &checked, &args.task, &args.suite, &args.add_on)?;
    let mode = match (&args.replay, &args.record) {
        (Some(_), _) => Mode::Replay,
        (None, Some(_)) => Mode::Record,
        (None, None) => Mode::Live,
    };
    let found = |redactor: &Arc<Redactor>| lookups(context, args, redactor);
    if args.dry.dry_run {
        let tasks: Vec<RunTask> = tasks.into_iter().map(|(task, _)| task).collect();
        return dry(context, args, &checked, &tasks, (args.explain_plan.as_deref(), None), found);
    }
    let new = New {
        overrides: &overrides,
        explainer: args.explain_plan.as_deref(),
        runs: &args.runs,
        jobs: args.jobs,
        mode,
    };
    let (ended, run, redactor) = new.run(context, &checked, &tasks, found)?;
    let tasks: Vec<RunTask> = tasks.into_iter().map(|(t, _)| t).collect();
    if let Some(cassette) = &args.record {
        run.export(cassette, &redactor)?;
    }
    run.keep(&ended.report, &redactor)?;
    let batch = Batch::bring(context, run.folder.path(), &[], &redactor)?;
    finish(context, args, &ended, &tasks, &run.folder, (&batch, &redactor))
}

/// A run is paid for before its plans are told, so a name that is nobody's is found first.
fn explainer_is_there(context: &Context, checked: &Checked, name: Option<&str>) -> Result<(), Exit> {
    let models = &checked.pipeline.config.llm;
    let Some(name) = name.filter(|name| !models.contains_key(*name)) else { return Ok(()) };
    let known: Vec<String> = models.keys().map(|known| format!("`{known}`")).collect();
    context.output.note(&format!("error: --explain-plan: there is no model `{name}` in the pipeline file"));
    context.output.note(&format!("help: its models are {}", known.join(", ")));
    Err(Exit::Usage)
}

/// Makes the run's folder. Of runs that start in the same millisecond the later ones get a number behind their name.
fn folder(runs: &Path, manifest: RunManifest, redactor: &Arc<Redactor>) -> Result<RunFolder, RecordError> {
    let id = manifest.id.clone();
    let mut number = 1;
    loop {
        let id = if number == 1 { id.clone() } else { format!("{id}-{number}") };
        let made = RunFolder::create(runs, RunManifest { id, ..manifest.clone() }, Arc::clone(redactor));
        match made {
            Err(error) if error.code == "record.exists" && number < 1000 => number += 1,
            made => return made,
        }
    }
}

/// `--seed N` is `--set seed=N`: one way to say it, so that a recorded run says it too.
fn overrides(args: &RunArgs) -> Vec<String> {
    args.overrides.iter().cloned().chain(args.seed.map(|seed| format!("seed={seed}"))).collect()
}

fn resume(context: &Context, args: &RunArgs, folder: &Path) -> Result<Exit, Exit> {
    let failed = |e: planforge_record::RecordError| broke(context, &Failure::from(e));
    // Read once without secrets to learn the pipeline, then again with the redactor that its secrets give.
    let manifest = RunFolder::open(folder, Arc::default()).map_err(failed)?.manifest().clone();
    let checked = session::check(context, &manifest.config.text, &manifest.config.path, &manifest.overrides)?;
    let tasks = session::stored_tasks(&manifest).map_err(|failure| broke(context, &failure))?;
    if args.dry.dry_run {
        let explainer = session::stored_explainer(&manifest);
        let of = (explainer.as_deref(), Some(folder));
        return dry(context, args, &checked, &tasks, of, |_| Ok(Vec::new()));
    }
    let (prepared, redactor) = session::instantiate(context, &checked, Mode::Live)?;
    // Before anything is written: answers that cannot be used leave the run as it is.
    let batch = Batch::bring(context, folder, &args.answers, &redactor)?;
    let opened = RunFolder::resume(folder, Arc::clone(&redactor)).map_err(failed)?;
    for warning in opened.warnings() {
        context.output.note(&format!("warning: {}", warning.message));
    }
    let run =
        Run { context, checked: &checked, folder: Arc::new(opened), jobs: args.jobs, title: String::new() };
    let sources = Sources {
        mode: Mode::Live,
        lookups: Vec::new(),
        answers: Some(batch.answers()),
        failures_stand: false,
    };
    let ended = run.go(prepared, Arc::clone(&redactor), sources, &tasks)?;
    run.keep(&ended.report, &redactor)?;
    finish(context, args, &ended, &tasks, &run.folder, (&batch, &redactor))
}

/// What a run would ask, printed; nobody is asked. `of`: the model that tells plans, and the folder of a run that is resumed.
fn dry(
    context: &Context,
    args: &RunArgs,
    checked: &Checked,
    tasks: &[RunTask],
    (explainer, folder): (Option<&str>, Option<&Path>),
    cassettes: impl FnOnce(&Arc<Redactor>) -> Result<Vec<Arc<dyn Lookup>>, Exit>,
) -> Result<Exit, Exit> {
    let pipeline = Path::new(&checked.pipeline.name).file_stem();
    let key = CellKey {
        suite: String::new(),
        pipeline: pipeline.map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default(),
        model: String::new(),
        seed: checked.pipeline.config.seed,
    };
    let dry = DryRun { context, checked, tasks, explainer, jobs: args.jobs, title: String::new() };
    let facts = dry.facts(&key, folder, cassettes)?;
    dry_run::print(context, &facts, &args.dry, args.json);
    Ok(Exit::Good)
}

/// What a run came to, and its plans in plain language where that was asked for.
pub(crate) struct Ended {
    pub(crate) report: RunReport,
    pub(crate) told: Told,
    /// What waits for an answer.
    pub(crate) pending: Vec<PendingQuestion>,
}

/// How a run is executed here; none of it changes what comes out.
pub(crate) struct Execution {
    pub(crate) jobs: u32,
    pub(crate) observer: Option<RunObserver>,
    pub(crate) watch: Option<CallWatch>,
}

/// Runs or re-runs what a manifest describes.
pub(crate) fn execute(
    pipeline: &CheckedPipeline,
    manifest: &RunManifest,
    services: &Services,
    tasks: &[RunTask],
) -> Result<Ended, Failure> {
    let mut report = planforge_pipeline::run(pipeline, tasks, services)?;
    let told = match session::stored_explainer(manifest) {
        Some(model) if report.state == RunState::Finished => {
            explain_plan::tell(services, &model, &mut report, tasks)
        }
        _ => Told::new(),
    };
    Ok(Ended { pending: services.llm.pending(), ..under_own_names(report, told, tasks) })
}

/// What came out of suites under other names, told under their own: nobody but a model reads the others.
fn under_own_names(mut report: RunReport, mut told: Told, tasks: &[RunTask]) -> Ended {
    for task in tasks {
        if let (Some(renaming), Some(Outcome::Ok(words))) = (&task.renaming, told.get_mut(&task.name)) {
            *words = renaming.back([]).text(words);
        }
    }
    report.undisguise(tasks);
    Ended { report, told, pending: Vec::new() }
}

/// A run that begins.
pub(crate) struct New<'a> {
    pub(crate) overrides: &'a [String],
    /// The model that tells plans in plain language.
    pub(crate) explainer: Option<&'a str>,
    /// Where run folders are made.
    pub(crate) runs: &'a Path,
    pub(crate) jobs: u32,
    pub(crate) mode: Mode,
}

impl New<'_> {
    /// Runs a checked pipeline on tasks from beginning to end, in a folder of its own.
    pub(crate) fn run<'c>(
        &self,
        context: &'c Context,
        checked: &'c Checked,
        tasks: &[(RunTask, TaskUse)],
        lookups: impl FnOnce(&Arc<Redactor>) -> Result<Vec<Arc<dyn Lookup>>, Exit>,
    ) -> Result<(Ended, Run<'c>, Arc<Redactor>), Exit> {
        let (prepared, redactor) = session::instantiate(context, checked, self.mode)?;
        let lookups = lookups(&redactor)?;
        let manifest = session::manifest(checked, &prepared, self.overrides, self.explainer, tasks)
            .map_err(|f| broke(context, &f))?;
        let folder = folder(self.runs, manifest, &redactor).map_err(|e| broke(context, &Failure::from(e)))?;
        let run = Run { context, checked, folder: Arc::new(folder), jobs: self.jobs, title: String::new() };
        let tasks: Vec<RunTask> = tasks.iter().map(|(task, _)| task.clone()).collect();
        let sources = Sources { mode: self.mode, lookups, answers: None, failures_stand: false };
        let ended = run.go(prepared, Arc::clone(&redactor), sources, &tasks)?;
        Ok((ended, run, redactor))
    }
}

/// A run under way: where it is written, and with how many jobs.
pub(crate) struct Run<'a> {
    pub(crate) context: &'a Context,
    pub(crate) checked: &'a Checked,
    pub(crate) folder: Arc<RunFolder>,
    pub(crate) jobs: u32,
    /// Stands before the progress bar; empty for a run of its own.
    pub(crate) title: String,
}

impl Run<'_> {
    /// Runs the tasks to their end, or to where the person stops it.
    pub(crate) fn go(
        &self,
        prepared: Prepared,
        redactor: Arc<Redactor>,
        sources: Sources,
        tasks: &[RunTask],
    ) -> Result<Ended, Exit> {
        // What an earlier session came to is not the last word any more.
        let report = self.folder.path().join(REPORT);
        if let Err(error) = std::fs::remove_file(&report)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            return Err(unwritable(self.context, &report, &error));
        }
        let bar = RunBar::new(&self.context.output, tasks.len(), &self.title);
        let secrets = Arc::clone(&redactor);
        let journal: Arc<dyn Journal> = Arc::clone(&self.folder) as Arc<dyn Journal>;
        let manifest = self.folder.manifest();
        let execution =
            Execution { jobs: self.jobs, observer: Some(bar.observer()), watch: Some(bar.watch()) };
        let ended = session::services(prepared, redactor, sources, journal, manifest.seed, execution)
            .and_then(|services| execute(&self.checked.pipeline, manifest, &services, tasks))
            .and_then(|ended| Ok(Ended { report: without_secrets(ended.report, &secrets)?, ..ended }));
        bar.finish();
        ended.map_err(|failure| broke(self.context, &failure))
    }

    /// Keeps the report of a finished run beside its record, also where something broke: whoever finds one finds the last word. A run that is
    /// resumed takes it away first.
    pub(crate) fn keep(&self, report: &RunReport, redactor: &Redactor) -> Result<(), Exit> {
        if report.state != RunState::Finished {
            return Ok(());
        }
        let path = self.folder.path().join(REPORT);
        let text = serde_json::to_vec_pretty(report).map_err(|e| unwritable(self.context, &path, &e))?;
        write(self.context, &path, &redactor.bytes(&text))
    }

    /// Writes the replies of the run as a cassette file. The header never holds a URL, which may hold a key.
    pub(crate) fn export(&self, path: &Path, redactor: &Redactor) -> Result<(), Exit> {
        let manifest = self.folder.manifest();
        let config = &self.checked.pipeline.config;
        let mut providers: Vec<String> = config.llm.values().map(|t| t.plugin.clone()).collect();
        providers.dedup();
        let header = CassetteHeader {
            planforge_cassette: CassetteHeader::VERSION,
            models: manifest.models.values().cloned().collect(),
            endpoint: providers.join(", "),
            date: manifest.created_at.chars().take(10).collect(),
            planforge: manifest.planforge.clone(),
            parameters: parameters(config),
            picked: BTreeMap::new(),
            note: String::new(),
        };
        export_cassette(self.folder.as_ref(), &header, path, redactor)
            .map_err(|e| broke(self.context, &Failure::from(e)))
    }
}

/// What plugins said of their failures may hold what they were given; tables, terminals and files are made of the report.
fn without_secrets(report: RunReport, redactor: &Redactor) -> Result<RunReport, Failure> {
    if redactor.is_empty() {
        return Ok(report);
    }
    let no_form = |e: serde_json::Error| {
        Failure::new(FailureClass::System, "record.io", format!("the report has no JSON form: {e}"))
    };
    let told = serde_json::to_value(&report).map_err(no_form)?;
    let mut clean = told.clone();
    redactor.value(&mut clean);
    if clean == told { Ok(report) } else { serde_json::from_value(clean).map_err(no_form) }
}

/// What was the same for all requests of a model, for a person who reads the cassette.
fn parameters(config: &planforge_pipeline::Pipeline) -> BTreeMap<String, serde_json::Value> {
    let mut parameters = BTreeMap::from([("seed".to_owned(), config.seed.into())]);
    for (name, table) in &config.llm {
        for key in ["temperature", "top_p", "max_tokens", "stop", "seed"] {
            if let Some(value) = table.settings.get(key) {
                parameters.insert(format!("{name}.{key}"), value.clone());
            }
        }
    }
    parameters
}

fn lookups(
    context: &Context,
    args: &RunArgs,
    redactor: &Arc<Redactor>,
) -> Result<Vec<Arc<dyn Lookup>>, Exit> {
    let path = match (&args.replay, &args.record) {
        (Some(path), _) => path,
        // A recording that is there already is completed, not paid for again.
        (None, Some(path)) if path.exists() => path,
        _ => return Ok(Vec::new()),
    };
    Ok(vec![cassette(context, path, redactor)?])
}

/// A cassette, or a run folder as one.
pub(crate) fn cassette(
    context: &Context,
    path: &Path,
    redactor: &Arc<Redactor>,
) -> Result<Arc<dyn Lookup>, Exit> {
    let cassette =
        Cassette::open(path, Arc::clone(redactor)).map_err(|e| broke(context, &Failure::from(e)))?;
    for warning in cassette.warnings() {
        context.output.note(&format!("warning: {}", warning.message));
    }
    Ok(Arc::new(cassette))
}

/// Reads the suites and tasks that the command line names; everything wrong with them is printed.
fn tasks(
    context: &Context,
    checked: &Checked,
    tasks: &[PathBuf],
    suites: &[PathBuf],
    add_ons: &[PathBuf],
) -> Result<Vec<(RunTask, TaskUse)>, Exit> {
    if tasks.is_empty() && suites.is_empty() {
        context.output.note("error: no task is named");
        context.output.note("help: name one with --task DIR/STEM, or all of a suite with --suite DIR");
        return Err(Exit::Usage);
    }
    let texts = checked.pipeline.config.given.texts();
    let loaded = tasks
        .iter()
        .map(|t| load_task_with(t, texts))
        .chain(suites.iter().map(|s| load_suite_with(s, texts)));
    let mut found = Vec::new();
    let mut bad = false;
    for loaded in loaded {
        context.output.diagnostics(&loaded.diagnostics, &loaded.sources);
        match loaded.suite {
            Some(suite) => found.push(suite),
            None => bad = true,
        }
    }
    if bad {
        return Err(Exit::Input);
    }
    add_on(context, add_ons, &mut found)?;
    tasks_of(context, checked, found)
}

/// Puts add-ons over suites; everything wrong with them is printed.
pub(crate) fn add_on(context: &Context, folders: &[PathBuf], suites: &mut [Suite]) -> Result<(), Exit> {
    let mut sources = SourceMap::default();
    let found = apply_add_ons(folders, suites, &mut sources);
    context.output.diagnostics(&found, &sources);
    if found.iter().any(Diagnostic::is_error) { Err(Exit::Input) } else { Ok(()) }
}

/// The tasks of suites under what a pipeline is given, and what `run.json` says of them. Of a suite without PDDL the pipeline's
/// environment tells the interface and the objects.
pub(crate) fn tasks_of(
    context: &Context,
    checked: &Checked,
    mut suites: Vec<Suite>,
) -> Result<Vec<(RunTask, TaskUse)>, Exit> {
    let given = &checked.pipeline.config.given;
    if needs_description(&suites, given)
        && let Some(environment) = session::environment(context, checked)?
    {
        // Nothing is recorded yet, and an interrupt ends the process.
        describe_tasks(&mut suites, given, environment.as_ref(), &NoHost).map_err(|f| broke(context, &f))?;
    }
    let suites = disguise_suites(&checked.pipeline.config, &suites).map_err(|diagnostics| {
        context.output.diagnostics(&diagnostics, &SourceMap::default());
        Exit::Input
    })?;
    let uses: Vec<TaskUse> = suites
        .iter()
        .flat_map(|suite| {
            suite.tasks.iter().map(|task| TaskUse {
                name: format!("{}.{}", suite.name, task.stem),
                suite: suite.folder.display().to_string(),
                task: task.stem.clone(),
                sha256: suite.digest(task),
                add_on: suite.add_on.clone(),
            })
        })
        .collect();
    match run_tasks(&checked.pipeline.config, &suites, checked.pipeline.folder()) {
        Ok(tasks) => Ok(tasks.into_iter().zip(uses).map(with_example).collect()),
        Err(diagnostics) => {
            context.output.diagnostics(&diagnostics, &SourceMap::default());
            Err(Exit::Input)
        }
    }
}

/// What a run is told apart by covers in-context examples that other suites give, actions and predicates in words where they are given, and
/// further problems of the suite that verifiers compare over.
fn with_example((task, mut used): (RunTask, TaskUse)) -> (RunTask, TaskUse) {
    let in_words = ["actions", "predicates.declared"];
    let covered = |name: &str| name.starts_with("example.") || in_words.contains(&name);
    let example: Vec<_> = task.view.materials.iter().filter(|(name, _)| covered(name)).collect();
    if !example.is_empty() {
        // Pairs of texts always have a JSON form.
        let text = serde_json::to_string(&(&used.sha256, example)).unwrap_or_default();
        used.sha256 = sha256_hex(text.as_bytes());
    }
    if !task.reference.problems.is_empty() {
        let text = serde_json::to_string(&(&used.sha256, &task.reference.problems)).unwrap_or_default();
        used.sha256 = sha256_hex(text.as_bytes());
    }
    (task, used)
}

fn finish(
    context: &Context,
    args: &RunArgs,
    ended: &Ended,
    tasks: &[RunTask],
    folder: &RunFolder,
    (batch, redactor): (&Batch, &Redactor),
) -> Result<Exit, Exit> {
    let path = folder.path().display();
    // Where the person stopped it, what else would wait is not known yet.
    let wave = match ended.report.state {
        RunState::Interrupted => None,
        RunState::Finished | RunState::Parked => Some(batch.left(context, &ended.pending, redactor)?),
    };
    let waits = wave.filter(|wave| wave.pending > 0);
    print(context, ended, tasks, args.json, waits.as_ref());
    for line in outcome::moved(&ended.report) {
        context.output.note(&line);
    }
    let again = match &waits {
        Some(_) => String::new(),
        None => format!("; `planforge replay {path}` gives the same verdicts"),
    };
    context.output.note(&format!("the run is in {path}{again}"));
    let command = format!("planforge run --resume {path}");
    match &waits {
        Some(wave) => batch.tell(context, wave, &command),
        None if ended.report.state == RunState::Finished => {}
        None => context.output.note(&format!("{}; go on with `{command}`", ended.report.state.name())),
    }
    if !args.json {
        context.output.note(&format!("`planforge report {path}` shows it as one HTML file"));
    }
    Ok(exit_of(&ended.report, args.fail_on))
}

/// The report on standard output, with what waits.
pub(crate) fn print(context: &Context, ended: &Ended, tasks: &[RunTask], json: bool, waits: Option<&Wave>) {
    if json {
        let mut value = outcome::json(&ended.report, &ended.told);
        if let Some(wave) = waits {
            value["pending"] = serde_json::json!(wave);
        }
        context.output.json(&value);
    } else {
        let own = |task: &RunTask| match &task.renaming {
            Some(renaming) => renaming.back([]).text(&task.view.task_text),
            None => task.view.task_text.clone(),
        };
        let texts: Vec<String> = tasks.iter().map(own).collect();
        context.output.result(&outcome::text(&ended.report, &texts, &ended.told));
    }
}

/// 0 when every task reached a verdict; otherwise what kept the first one from it.
pub(crate) fn exit_of(report: &RunReport, fail_on: Option<FailOn>) -> Exit {
    match report.state {
        RunState::Finished => {}
        RunState::Interrupted => return Exit::Interrupted,
        RunState::Parked => return Exit::Pending,
    }
    let mut negative = false;
    for task in &report.tasks {
        match &task.verdict {
            Some(TaskVerdict::Accepted) => {}
            Some(TaskVerdict::Rejected { .. } | TaskVerdict::Unsolvable { .. }) => negative = true,
            Some(TaskVerdict::Undecided { .. }) => return undecided(task),
            Some(TaskVerdict::Failed { failure, .. }) => return of_failure(failure),
            None => return Exit::Interrupted,
        }
    }
    if negative && fail_on == Some(FailOn::Negative) { Exit::Negative } else { Exit::Good }
}

/// What kept a task from a verdict, where that is a cap or a planner's limit.
fn undecided(task: &TaskReport) -> Exit {
    let failures = task.stages.iter().flat_map(|stage| &stage.failed).map(|failed| &failed.failure);
    if failures.into_iter().any(|failure| failure.class == FailureClass::Budget) {
        return Exit::Budget;
    }
    match task.candidate.as_ref().and_then(|candidate| candidate.plan.as_ref()) {
        Some(PlanOutcome::LimitReached { limit, .. }) => of_limit(*limit),
        Some(PlanOutcome::Exhausted { .. }) => Exit::Exhausted,
        _ => Exit::Undecided,
    }
}

/// A recorded run again, looking into its own record alone. Changes nothing on disk.
pub(crate) fn again(context: &Context, folder: RunFolder, jobs: u32) -> Result<(Ended, Vec<RunTask>), Exit> {
    let manifest: RunManifest = folder.manifest().clone();
    for warning in folder.warnings() {
        context.output.note(&format!("warning: {}", warning.message));
    }
    let checked = session::check(context, &manifest.config.text, &manifest.config.path, &manifest.overrides)?;
    let failed = |failure: Failure| broke(context, &failure);
    let tasks = session::stored_tasks(&manifest).map_err(failed)?;
    let (prepared, redactor) = session::instantiate(context, &checked, Mode::Replay)?;
    let lookups = vec![Arc::new(folder) as Arc<dyn Lookup>];
    let sources = Sources { mode: Mode::Replay, lookups, answers: None, failures_stand: false };
    // What the re-execution would write goes to memory.
    let journal = Arc::new(MemoryJournal::new(Arc::clone(&redactor)));
    let bar = RunBar::new(&context.output, tasks.len(), "");
    let execution = Execution { jobs, observer: Some(bar.observer()), watch: Some(bar.watch()) };
    let ended = session::services(prepared, redactor, sources, journal, manifest.seed, execution)
        .and_then(|services| execute(&checked.pipeline, &manifest, &services, &tasks));
    bar.finish();
    Ok((ended.map_err(failed)?, tasks))
}

#[cfg(test)]
mod tests {
    use super::*;
    use secrecy::SecretString;

    #[test]
    fn what_a_plugin_says_of_its_failure_holds_no_secret_in_the_report() {
        let failure = Failure::new(FailureClass::Plugin, "plugin.failed", "401 for sk-live-0123456789");
        let verdict = Some(TaskVerdict::Failed { stage: "plan".to_owned(), failure });
        let task = TaskReport { stem: "p01".to_owned(), verdict, ..TaskReport::default() };
        let report =
            RunReport { schema: 1, state: RunState::Finished, tasks: vec![task], prices: BTreeMap::new() };
        let redactor = Redactor::new([&SecretString::from("sk-live-0123456789")]);
        let clean = without_secrets(report, &redactor).unwrap();
        let text = serde_json::to_string(&clean).unwrap();
        assert!(!text.contains("0123456789") && text.contains("401 for [redacted]"), "{text}");
        assert_eq!(clean.tasks[0].stem, "p01");
    }
}
