//! `planforge evaluate`: suites x pipelines x seeds, each cell a run folder of its own, all of them in one table.
//!
//! A cell that has its `report.json` is finished and is only read; one that has a `run.json` is resumed, also where something
//! broke in it. So an evaluation can be stopped at any moment and nothing is paid for twice.

mod tables;

use self::tables::Tables;
use super::Context;
use super::run::{Run, add_on, cassette, exit_of, tasks_of};
use crate::args::EvaluateArgs;
use crate::exit::Exit;
use crate::inputs::read_text;
use crate::session::{self, Sources, broke, document};
use planforge_contract::{Failure, FailureClass, TaskVerdict};
use planforge_diagnostics::{Diagnostic, SourceId, SourceMap};
use planforge_evaluate::evaluation::{
    CellClasses, CellKey, CellResult, ClassStages, Evaluation, Judges, Matrix, class_figures, curve_files,
    curves, parse_seeds,
};
use planforge_evaluate::history::History;
use planforge_llm::Mode;
use planforge_pipeline::{
    RunReport, RunState, RunTask, StageKind, Suite, TaskReport, Texts, load_suite_with,
};
use planforge_record::{Lookup, Redactor, RunFolder, RunManifest, TaskUse};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is evaluated, in the output folder.
const MATRIX: &str = "matrix.json";
/// What came of it, in the output folder.
const EVALUATION: &str = "evaluation.json";
/// What a finished cell came to, in its run folder.
const REPORT: &str = "report.json";

pub(crate) fn run(context: &Context, args: &EvaluateArgs) -> Exit {
    match evaluate(context, args) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn evaluate(context: &Context, args: &EvaluateArgs) -> Result<Exit, Exit> {
    let matrix = matrix(context, args)?;
    let pipelines = pipelines(context, args, &matrix)?;
    let suites = suites(context, &matrix, &pipelines)?;
    let work = Work { context, args, matrix: &matrix };
    for pipeline in &pipelines {
        // Before anything is run: a suite that lacks what a pipeline is given is found now.
        let checked = work.check(pipeline, matrix.seeds.first().copied().unwrap_or_default())?;
        tasks_of(context, &checked, suites.clone())?;
    }
    let text = serde_json::to_string_pretty(&from_anywhere(&matrix))
        .map_err(|e| unwritable(context, &args.out, &e))?;
    write(context, &args.out.join(MATRIX), (text + "\n").as_bytes())?;
    let (cells, exit) = work.cells(&suites, &pipelines);
    let judges = pipelines.iter().map(|p| (p.name.clone(), p.judges.clone())).collect();
    let evaluation = Evaluation::new(matrix.seeds.clone(), &judges, cells);
    let tables = Tables::new(context, args, &evaluation)?;
    for file in tables.files(&evaluation).map_err(|failure| broke(context, &failure))? {
        write(context, &args.out.join(&file.name), file.contents.as_bytes())?;
    }
    if let Some(folder) = &args.curves {
        let curves = curves(&evaluation);
        if curves.is_empty() {
            context.output.note("warning: --curves: no task has samples or rounds, so there are no curves");
        }
        for file in curve_files(&curves).map_err(|failure| broke(context, &failure))? {
            write(context, &folder.join(&file.name), file.contents.as_bytes())?;
        }
    }
    if let Some(folder) = &args.figures {
        let figures = class_figures(&tables.classes).map_err(|failure| broke(context, &failure))?;
        for note in &figures.notes {
            context.output.note(&format!("warning: --figures: {note}"));
        }
        for file in figures.files {
            write(context, &folder.join(&file.name), file.contents.as_bytes())?;
        }
    }
    tables.print(context, args, &evaluation);
    let out = args.out.display();
    context.output.note(&format!("tables and run folders are in {out}"));
    if exit == Exit::Interrupted {
        context.output.note(&format!("interrupted; go on with `planforge evaluate --resume --out {out}`"));
    }
    Ok(exit)
}

/// What is to be evaluated: from the file, from the command line, or from the evaluation that is resumed.
fn matrix(context: &Context, args: &EvaluateArgs) -> Result<Matrix, Exit> {
    let stored = args.out.join(MATRIX);
    if stored.exists() && !args.resume {
        context.output.note(&format!("error: {} holds an evaluation already", args.out.display()));
        context.output.note("help: go on with it with --resume, or name another folder with --out");
        return Err(Exit::Usage);
    }
    let input = |path: &Path| {
        read_text(path).map_err(|diagnostic| {
            let name = path.display().to_string();
            context.output.diagnostics(&[*diagnostic], &SourceMap::single(name, ""));
            Exit::Input
        })
    };
    let matrix = if let Some(path) = &args.matrix {
        let folder = path.parent().unwrap_or(Path::new(""));
        Matrix::parse(&input(path)?, &path.display().to_string(), folder).map_err(|(found, sources)| {
            context.output.diagnostics(&found, &sources);
            Exit::Input
        })?
    } else if args.suite.is_empty() && args.resume {
        document(context, &stored)?
    } else {
        let seeds = parse_seeds(args.seeds.as_deref().unwrap_or("42-45")).map_err(|message| {
            context.output.note(&format!("error: --seeds: {message}"));
            Exit::Usage
        })?;
        Matrix {
            suites: args.suite.clone(),
            pipelines: args.pipeline.clone(),
            seeds,
            tasks: args.tasks,
            set: args.overrides.clone(),
            add_ons: args.add_on.clone(),
        }
    };
    matrix.check().map_err(|found| {
        context.output.diagnostics(&found, &SourceMap::default());
        Exit::Usage
    })?;
    Ok(matrix)
}

/// The matrix with absolute paths: it may be resumed from another working directory.
fn from_anywhere(matrix: &Matrix) -> Matrix {
    let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
    Matrix {
        suites: matrix.suites.iter().map(absolute).collect(),
        pipelines: matrix.pipelines.iter().map(absolute).collect(),
        add_ons: matrix.add_ons.iter().map(absolute).collect(),
        ..matrix.clone()
    }
}

/// Reads the suites and keeps the tasks that are wanted. They need no texts where no pipeline is given any.
fn suites(context: &Context, matrix: &Matrix, pipelines: &[PipelineFile]) -> Result<Vec<Suite>, Exit> {
    let required = pipelines.iter().any(|pipeline| pipeline.texts == Texts::Required);
    let texts = if required { Texts::Required } else { Texts::Optional };
    let mut suites: Vec<Suite> = Vec::new();
    let mut good = true;
    for folder in &matrix.suites {
        let loaded = load_suite_with(folder, texts);
        context.output.diagnostics(&loaded.diagnostics, &loaded.sources);
        let Some(mut suite) = loaded.suite else {
            good = false;
            continue;
        };
        if suites.iter().any(|known| known.name == suite.name) {
            let message = format!("two suites have the name `{}`; rows are told apart by it", suite.name);
            let twice = Diagnostic::error("evaluate.matrix", message).help("name each suite once");
            context.output.diagnostics(&[twice], &SourceMap::default());
            good = false;
        }
        suite.tasks.truncate(matrix.tasks.unwrap_or(usize::MAX));
        suites.push(suite);
    }
    if !good {
        return Err(Exit::Input);
    }
    add_on(context, &matrix.add_ons, &mut suites)?;
    Ok(suites)
}

/// A column.
struct PipelineFile {
    name: String,
    path: PathBuf,
    text: String,
    judges: Judges,
    texts: Texts,
}

/// Reads and checks the pipelines; the mistakes of all of them are printed.
fn pipelines(context: &Context, args: &EvaluateArgs, matrix: &Matrix) -> Result<Vec<PipelineFile>, Exit> {
    let mut read: Vec<PipelineFile> = Vec::new();
    let mut bad = None;
    for (path, name) in matrix.pipelines.iter().zip(matrix.pipeline_names()) {
        let shown = path.display().to_string();
        let checked = read_text(path)
            .map_err(|diagnostic| {
                context.output.diagnostics(&[*diagnostic], &SourceMap::single(shown.clone(), ""));
                Exit::Input
            })
            .and_then(|text| Ok((session::check(context, &text, &shown, &matrix.set)?, text)));
        match checked {
            Ok((checked, text)) => {
                let simulated = |id: &str| {
                    checked
                        .registry
                        .info(id)
                        .is_ok_and(|info| info.capabilities.iter().any(|c| c == "simulated"))
                };
                let mut judges = Judges::of(&checked.pipeline.config, simulated);
                if let Some(label) = &args.accuracy_by {
                    judges.equivalent = verify_stage(&checked.pipeline.config, label);
                }
                if let Some(label) = &args.classes_by {
                    judges.classes = ClassStages::of(&checked.pipeline.config, Some(label));
                }
                let texts = checked.pipeline.config.given.texts();
                read.push(PipelineFile { name, path: path.clone(), text, judges, texts });
            }
            Err(exit) => bad = Some(exit),
        }
    }
    if let Some(exit) = bad {
        return Err(exit);
    }
    if let Some(label) =
        args.accuracy_by.as_ref().filter(|_| read.iter().all(|p| p.judges.equivalent.is_none()))
    {
        context.output.note(&format!("error: --accuracy-by: no pipeline has a verify stage `{label}`"));
        return Err(Exit::Usage);
    }
    let classified = |p: &PipelineFile| p.judges.classes.is_some();
    if let Some(label) = args.classes_by.as_ref().filter(|_| !read.iter().any(classified)) {
        context
            .output
            .note(&format!("error: --classes-by: no pipeline has a stage `{label}` of verifier-classes"));
        return Err(Exit::Usage);
    }
    Ok(read)
}

fn verify_stage(pipeline: &planforge_pipeline::Pipeline, label: &str) -> Option<String> {
    let stage = pipeline.all_stages().find(|s| s.label() == label && s.kind() == StageKind::Verify);
    stage.map(|stage| stage.label().to_owned())
}

/// What all cells share.
struct Work<'a> {
    context: &'a Context,
    args: &'a EvaluateArgs,
    matrix: &'a Matrix,
}

impl Work<'_> {
    /// Every cell in the order of the table. After an interruption or an error the rest is not run; what is finished already is
    /// read all the same, so that the table shows it.
    fn cells(&self, suites: &[Suite], pipelines: &[PipelineFile]) -> (Vec<CellResult>, Exit) {
        let mut results = Vec::new();
        let mut exit = Exit::Good;
        let mut stopped = false;
        let total = suites.len() * pipelines.len() * self.matrix.seeds.len();
        for (suite, pipeline) in suites.iter().flat_map(|s| pipelines.iter().map(move |p| (s, p))) {
            for &seed in &self.matrix.seeds {
                let key = CellKey {
                    suite: suite.name.clone(),
                    pipeline: pipeline.name.clone(),
                    model: String::new(),
                    seed,
                };
                let title = format!("{}/{total} {} {} {seed}", results.len() + 1, key.suite, key.pipeline);
                let cell = Cell { work: self, suite, pipeline, seed, title };
                match cell.report(stopped) {
                    Ok(Some(report)) => {
                        // The first thing that kept a cell from a verdict is how the command ends; an interruption outranks it.
                        let ended = exit_of(&report, None);
                        if exit == Exit::Good || ended == Exit::Interrupted {
                            exit = ended;
                        }
                        stopped |= report.state == RunState::Interrupted;
                        let result = CellResult::of(key, &report, &pipeline.judges);
                        results.push(cell.with_history(result));
                    }
                    Ok(None) => results.push(CellResult::unfinished(key, &cell.stems(), &pipeline.judges)),
                    Err(broken) => {
                        exit = broken;
                        stopped = true;
                        results.push(CellResult::unfinished(key, &cell.stems(), &pipeline.judges));
                    }
                }
            }
        }
        (results, exit)
    }

    fn overrides(&self, seed: u64) -> Vec<String> {
        self.matrix.set.iter().cloned().chain([format!("seed={seed}")]).collect()
    }

    fn check(&self, pipeline: &PipelineFile, seed: u64) -> Result<session::Checked, Exit> {
        let name = pipeline.path.display().to_string();
        session::check(self.context, &pipeline.text, &name, &self.overrides(seed))
    }
}

/// One run.
struct Cell<'a> {
    work: &'a Work<'a>,
    suite: &'a Suite,
    pipeline: &'a PipelineFile,
    seed: u64,
    title: String,
}

impl Cell<'_> {
    fn stems(&self) -> Vec<String> {
        self.suite.tasks.iter().map(|task| task.stem.clone()).collect()
    }

    /// What only the journal tells. A journal that cannot be read leaves these figures out of the tables, and says so.
    fn with_history(&self, result: CellResult) -> CellResult {
        let context = self.work.context;
        let folder = self.folder();
        let judges = &self.pipeline.judges;
        let read = RunFolder::open(&folder, Arc::default()).map_err(Failure::from).and_then(|run| {
            let Some(stages) = &judges.classes else {
                return Ok(result.clone().with_history(&History::read(&run)?, judges));
            };
            // One after the other: neither keeps the evidence of classes.
            let classes = CellClasses::read(&run, stages, &self.actions())?;
            let history = History::read_without(&run, &stages.all)?;
            Ok(CellResult { classes: Some(classes), ..result.clone().with_history(&history, judges) })
        });
        match read {
            Ok(result) => result,
            Err(failure) => {
                let shown = folder.display();
                context.output.note(&format!("warning: {shown}: no figures from its journal: {failure}"));
                result
            }
        }
    }

    /// The actions of the reference domain.
    fn actions(&self) -> Vec<String> {
        let domain = self.suite.reference_domain.as_deref().unwrap_or_default();
        let domain = planforge_pddl::parse_domain(domain, SourceId(0)).value;
        domain.actions.iter().map(|action| action.name.to_string()).collect()
    }

    fn folder(&self) -> PathBuf {
        let cells = self.work.args.out.join("cells");
        cells.join(&self.suite.name).join(&self.pipeline.name).join(self.seed.to_string())
    }

    /// What the cell came to; it is run where that is needed and nothing has stopped the evaluation.
    fn report(&self, stopped: bool) -> Result<Option<RunReport>, Exit> {
        let context = self.work.context;
        let folder = self.folder();
        let known = folder.join("run.json").exists();
        if stopped && !known {
            return Ok(None);
        }
        let checked = self.work.check(self.pipeline, self.seed)?;
        let tasks = tasks_of(context, &checked, vec![self.suite.clone()])?;
        if known {
            self.is_the_same(&folder, &checked, &tasks)?;
            if let Some(report) = self.finished(&folder)? {
                return Ok(Some(report));
            }
            if stopped {
                return Ok(None);
            }
        }
        let mode = match (&self.work.args.replay, &self.work.args.record) {
            (Some(_), _) => Mode::Replay,
            (None, Some(_)) => Mode::Record,
            (None, None) => Mode::Live,
        };
        let (prepared, redactor) = session::instantiate(context, &checked, mode)?;
        let sources = Sources { mode, lookups: self.lookups(&redactor)? };
        let opened = if known {
            RunFolder::resume(&folder, Arc::clone(&redactor))
        } else {
            let overrides = self.work.overrides(self.seed);
            let manifest = session::manifest(&checked, &prepared, &overrides, None, &tasks);
            let manifest = manifest.map_err(|failure| broke(context, &failure))?;
            leave_nothing_half(&folder);
            let runs = folder.parent().unwrap_or(Path::new("")).to_owned();
            RunFolder::create(
                &runs,
                RunManifest { id: self.seed.to_string(), ..manifest },
                Arc::clone(&redactor),
            )
        };
        let opened = opened.map_err(|e| broke(context, &Failure::from(e)))?;
        for warning in opened.warnings() {
            context.output.note(&format!("warning: {}", warning.message));
        }
        let run = Run {
            context,
            checked: &checked,
            folder: Arc::new(opened),
            jobs: self.work.args.jobs,
            title: self.title.clone(),
        };
        let tasks: Vec<RunTask> = tasks.into_iter().map(|(task, _)| task).collect();
        let report = run.go(prepared, Arc::clone(&redactor), sources, &tasks)?.report;
        if let Some(folder) = &self.work.args.record {
            std::fs::create_dir_all(folder).map_err(|e| unwritable(context, folder, &e))?;
            run.export(&self.cassette(folder), &redactor)?;
        }
        // What broke is tried again by the next --resume, which finds everything else in the journal.
        let broke = |task: &TaskReport| matches!(task.verdict, Some(TaskVerdict::Failed { .. }));
        if report.state == RunState::Finished && !report.tasks.iter().any(broke) {
            self.keep(&folder, &report, &redactor)?;
        }
        Ok(Some(report))
    }

    /// The cell's cassette in a folder of them.
    fn cassette(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}.{}.{}.jsonl", self.suite.name, self.pipeline.name, self.seed))
    }

    /// Where answers are looked up beside the run's own journal. A recording that is there already is completed, not paid for again.
    fn lookups(&self, redactor: &Arc<Redactor>) -> Result<Vec<Arc<dyn Lookup>>, Exit> {
        let args = self.work.args;
        let paths = match (&args.replay, &args.record) {
            (Some(folder), _) => {
                let found = self.cassettes(folder);
                // Opening what is not there says so.
                if found.is_empty() { vec![self.cassette(folder)] } else { found }
            }
            (None, Some(folder)) => self.cassettes(folder),
            (None, None) => Vec::new(),
        };
        paths.iter().map(|path| cassette(self.work.context, path, redactor)).collect()
    }

    /// The cassettes in a folder that may answer the cell's questions, plain or compressed: its own first, then those of other pipelines
    /// over the same suite and seed, for a pipeline that goes on where another ends asks the same questions until then.
    fn cassettes(&self, folder: &Path) -> Vec<PathBuf> {
        let ends = [format!(".{}.jsonl", self.seed), format!(".{}.jsonl.gz", self.seed)];
        let begin = format!("{}.", self.suite.name);
        let own = format!("{begin}{}.", self.pipeline.name);
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| name.starts_with(&begin) && ends.iter().any(|end| name.ends_with(end)))
            .collect();
        names.sort_by_key(|name| (!name.starts_with(&own), name.clone()));
        names.into_iter().map(|name| folder.join(name)).collect()
    }

    /// A cell of another experiment must not stand in this table.
    fn is_the_same(
        &self,
        folder: &Path,
        checked: &session::Checked,
        tasks: &[(RunTask, TaskUse)],
    ) -> Result<(), Exit> {
        let context = self.work.context;
        let stored =
            RunFolder::open(folder, Arc::default()).map_err(|e| broke(context, &Failure::from(e)))?;
        let manifest = stored.manifest();
        let source = &checked.pipeline.source;
        let add_ons = |uses: &mut dyn Iterator<Item = &TaskUse>| -> Vec<BTreeMap<String, String>> {
            uses.map(|used| used.add_on.clone().unwrap_or_default().files).collect()
        };
        let other_add_on =
            add_ons(&mut manifest.tasks.iter()) != add_ons(&mut tasks.iter().map(|(_, used)| used));
        let digests = |uses: &mut dyn Iterator<Item = &TaskUse>| -> Vec<(String, String)> {
            uses.map(|used| (used.task.clone(), used.sha256.clone())).collect()
        };
        let other = [
            ("the pipeline's text", manifest.config.text != *source),
            ("the overrides", manifest.overrides != self.work.overrides(self.seed)),
            ("the add-on", other_add_on),
            (
                "the tasks",
                !other_add_on
                    && digests(&mut manifest.tasks.iter())
                        != digests(&mut tasks.iter().map(|(_, used)| used)),
            ),
        ];
        let other: Vec<&str> = other.iter().filter(|(_, differs)| *differs).map(|(what, _)| *what).collect();
        if other.is_empty() {
            return Ok(());
        }
        let message = format!("{} was made with other inputs: {}", folder.display(), other.join(", "));
        let failure = Failure::new(FailureClass::Request, "evaluate.other", message);
        Err(broke(context, &failure.help("name another folder with --out, or undo the change")))
    }

    /// The report of a cell that was run to its end.
    fn finished(&self, folder: &Path) -> Result<Option<RunReport>, Exit> {
        let path = folder.join(REPORT);
        let Ok(bytes) = std::fs::read(&path) else { return Ok(None) };
        let report: RunReport = serde_json::from_slice(&bytes).map_err(|e| {
            let message = format!("{}: {e}", path.display());
            let failure = Failure::new(FailureClass::System, "record.corrupt", message);
            broke(self.work.context, &failure.help("remove this file: the run beside it gives it again"))
        })?;
        Ok(Some(report))
    }

    /// Keeps the report beside the run that gave it.
    fn keep(&self, folder: &Path, report: &RunReport, redactor: &Redactor) -> Result<(), Exit> {
        let path = folder.join(REPORT);
        let context = self.work.context;
        let text = serde_json::to_vec_pretty(report).map_err(|e| unwritable(context, &path, &e))?;
        write(context, &path, &redactor.bytes(&text))
    }
}

/// What a process left that was killed before its run had a manifest: empty folders, in the way of a new run. Anything else
/// stays, and then the run's own error says so.
fn leave_nothing_half(folder: &Path) {
    for path in [folder.join("events"), folder.join("blobs"), folder.to_owned()] {
        drop(std::fs::remove_dir(path));
    }
}

/// Writes a file whole or not at all.
fn write(context: &Context, path: &Path, bytes: &[u8]) -> Result<(), Exit> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let write = || -> std::io::Result<()> {
        std::fs::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        std::io::Write::write_all(&mut file, bytes)?;
        file.persist(path).map(drop).map_err(|e| e.error)
    };
    write().map_err(|e| unwritable(context, path, &e))
}

fn unwritable(context: &Context, path: &Path, error: &dyn std::fmt::Display) -> Exit {
    let message = format!("{} cannot be written: {error}", path.display());
    broke(context, &Failure::new(FailureClass::System, "record.io", message))
}
