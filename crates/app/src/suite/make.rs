//! Suites from other material: generated tasks, templates, other names, imported data.

use super::files::{Entry, Files};
use super::template_renderer;
use crate::context::Context;
use crate::error::Error;
use crate::limits::WorkLimits;
use crate::status::Status;
use planforge_diagnostics::{Diagnostic, SourceMap};
use planforge_pddl::MAX_TEXT_BYTES;
use planforge_pipeline::{
    GenerateSpec, LoadedSuite, Suite, Texts, disguise_suite, load_suite, load_suite_with, load_without_tasks,
};
use planforge_record::read_regular_text;
use planforge_suites::generate::{GenerationError, Generator, Instance, Limits, Rung};
use planforge_suites::import_actions::ImportedSuite;
use planforge_suites::obfuscate::files as obfuscated_files;
use planforge_suites::template;
use serde::{Serialize, Serializer};
use serde_json::json;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

pub use planforge_obfuscate::{DisguiseOptions, NameGroup, NameStyle, Renaming};
pub use planforge_suites::ladder::{Axes, Axis};
pub use planforge_suites::obfuscate::MAPPING;

/// The suite, or what is wrong with it. Warnings are sent.
fn readable(context: &Context, loaded: LoadedSuite) -> Result<Suite, Error> {
    match loaded.suite {
        Some(suite) => {
            context.findings(&loaded.diagnostics, &loaded.sources);
            Ok(suite)
        }
        None => Err(Error::findings(Status::Input, loaded.diagnostics, loaded.sources)),
    }
}

fn refused(diagnostic: Diagnostic) -> Error {
    Error::findings(Status::Input, vec![diagnostic], SourceMap::default())
}

/// Tasks from a seed.
#[derive(Debug, Clone, Default)]
pub struct GenerateRequest {
    /// The suite's folder, with domain.nl, domain.pddl and generator.jinja.
    pub suite: PathBuf,
    /// Number of tasks. Without this and the next two, `[generate]` of suite.toml counts.
    pub tasks: Option<u32>,
    /// The seed of all of them.
    pub seed: Option<u64>,
    /// The number of the first task.
    pub from: Option<u32>,
    /// True to make the in-context example too.
    pub example: bool,
    /// Folder of a separate suite.
    pub out: Option<PathBuf>,
    /// True to replace files that are there with other content.
    pub force: bool,
    /// Search nodes for solving a task; harder draws are skipped.
    pub nodes: u64,
    /// Sizes of tasks of the ladder, in objects; empty for tasks whose size follows their number.
    pub sizes: Vec<u32>,
    /// The axes of the ladder; each makes all sizes. Empty for the plain text alone.
    pub axes: Vec<Axes>,
}

/// The generated tasks.
#[derive(Debug, Clone, Serialize)]
pub struct GenerateResult {
    /// The folder that was written into.
    pub folder: String,
    /// The seed.
    pub seed: u64,
    /// The tasks.
    pub tasks: Vec<GeneratedTask>,
    /// The files.
    pub files: Vec<Entry>,
}

/// A generated task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GeneratedTask {
    /// Stem of its files.
    pub stem: String,
    /// Steps of the plan that solves it.
    pub plan_steps: usize,
    /// Why earlier draws were given up.
    pub redrawn: Vec<String>,
}

/// Generates tasks with the suite's generator.jinja. The same seed gives the same tasks everywhere.
///
/// # Errors
/// A suite that cannot be read, mistakes in the template, or files that are there.
pub fn generate(context: &Context, request: &GenerateRequest) -> Result<GenerateResult, Error> {
    let source = context.path(&request.suite);
    let suite = readable(context, load_without_tasks(&source))?;
    let spec = generate_spec(request, &suite);
    let instances = instances(context, request, &suite, spec)?;
    let folder = request.out.as_ref().map_or_else(|| source.clone(), |out| context.path(out));
    let mut files =
        if same_folder(&folder, &source) { Vec::new() } else { domain_files(&suite, spec, &instances) };
    files.extend(instances.iter().flat_map(instance_files));
    let files = Files::new(&folder, files).write(request.force)?;
    let tasks = instances.into_iter().map(|instance| GeneratedTask {
        plan_steps: instance.plan.lines().count(),
        stem: instance.stem,
        redrawn: instance.redrawn,
    });
    Ok(GenerateResult {
        folder: folder.display().to_string(),
        seed: spec.seed,
        tasks: tasks.collect(),
        files,
    })
}

/// The tasks to generate, by the request or else by the suite's manifest.
fn generate_spec(request: &GenerateRequest, suite: &Suite) -> GenerateSpec {
    let asked = request.tasks.is_some() || request.seed.is_some() || request.from.is_some();
    let own = suite.generate.unwrap_or(GenerateSpec { seed: 1, first: 1, tasks: 5, example: true });
    GenerateSpec {
        seed: request.seed.unwrap_or(own.seed),
        first: request.from.unwrap_or(own.first),
        tasks: request.tasks.unwrap_or(own.tasks),
        example: request.example || (own.example && !asked),
    }
}

fn instances(
    context: &Context,
    request: &GenerateRequest,
    suite: &Suite,
    spec: GenerateSpec,
) -> Result<Vec<Instance>, Error> {
    let failed = |none: GenerationError| {
        let stopped = none.diagnostics.iter().any(|d| d.code == "generate.stopped");
        let status = if stopped { Status::Interrupted } else { Status::Negative };
        Error::findings(status, none.diagnostics, none.sources)
    };
    let generator = Generator::new(suite, template_renderer(context)?).map_err(failed)?;
    let limits = Limits { nodes: request.nodes, ..Limits::default() };
    let example = spec.example.then_some(0);
    let numbers: Vec<u32> = match request.sizes.as_slice() {
        [] => example.into_iter().chain(spec.first..spec.first + spec.tasks).collect(),
        _ => example.into_iter().collect(),
    };
    let rungs = rungs(request, spec);
    let progress = context.start_work("tasks", Some((numbers.len() + rungs.len()) as u64));
    let mut instances = Vec::new();
    for index in numbers {
        // Never ended by the clock, so that a seed means the same tasks everywhere.
        let mut budget = WorkLimits::new(&context.cancellation, None);
        instances.push(generator.instance(spec.seed, index, &limits, &mut budget).map_err(failed)?);
        progress.advance();
    }
    for rung in rungs {
        let mut budget = WorkLimits::new(&context.cancellation, None);
        instances.push(generator.rung(spec.seed, &rung, &limits, &mut budget).map_err(failed)?);
        progress.advance();
    }
    Ok(instances)
}

/// All sizes for each axis, with the requested number of tasks for each.
fn rungs(request: &GenerateRequest, spec: GenerateSpec) -> Vec<Rung> {
    let plain = [Axes::default()];
    let axes = if request.axes.is_empty() { plain.as_slice() } else { &request.axes };
    let mut rungs = Vec::new();
    for axes in axes {
        for size in &request.sizes {
            let first = request.from.unwrap_or(1);
            let numbers = first..first + spec.tasks;
            rungs.extend(numbers.map(|number| Rung { size: *size, axes: axes.clone(), number }));
        }
    }
    rungs
}

fn same_folder(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// Files of the suite that a separate suite gets, if they exist.
const BESIDE_TASKS: [&str; 8] = [
    "actions.toml",
    "domain_brief.nl",
    "ladder.toml",
    "knowledge.lp",
    "picture.toml",
    "reading.toml",
    "sentences.toml",
    "wordings.jinja",
];

/// The domain files that make a separate suite of the tasks.
fn domain_files(suite: &Suite, spec: GenerateSpec, instances: &[Instance]) -> Vec<(String, String)> {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let mut manifest = format!("schema = 1\nname = {}\n", quoted(&suite.name));
    for (key, value) in [("title", &suite.title), ("licence", &suite.licence)] {
        if !value.is_empty() {
            let _ = writeln!(manifest, "{key} = {}", quoted(value));
        }
    }
    let GenerateSpec { seed, first, tasks, example } = spec;
    let _ = write!(
        manifest,
        "\n[generate]\nseed = {seed}\nfirst = {first}\ntasks = {tasks}\nexample = {example}\n"
    );
    let mut section = |name: &str, entries: Vec<(&str, String)>| {
        if !entries.is_empty() {
            let _ = write!(manifest, "\n[{name}]\n");
        }
        entries.iter().for_each(|(stem, value)| {
            let _ = writeln!(manifest, "{stem} = {}", quoted(value));
        });
    };
    let of_rung = |instance: &Instance| instance.axes.as_ref().map(ToString::to_string);
    section("axes", instances.iter().filter_map(|i| Some((i.stem.as_str(), of_rung(i)?))).collect());
    section("gaps", instances.iter().filter_map(|i| Some((i.stem.as_str(), i.gap.clone()?))).collect());
    let mut files = vec![("suite.toml".to_owned(), manifest)];
    let mut copy = |name: &str, text: Option<String>| {
        files.extend(text.map(|text| (name.to_owned(), text)));
    };
    copy("domain.nl", Some(suite.domain_text.clone()));
    copy("domain_template.pddl", suite.reference_domain.as_deref().map(template::of_domain));
    copy("domain.pddl", suite.reference_domain.clone());
    copy("generator.jinja", suite.generator.clone());
    // Levels are for small tasks with texts of their own; their proof takes long for hundreds of objects. Texts of the ladder are read otherwise.
    let is_ladder = instances.iter().any(|instance| instance.axes.is_some());
    for file in BESIDE_TASKS
        .into_iter()
        .filter(|file| !(is_ladder && matches!(*file, "reading.toml" | "wordings.jinja")))
    {
        copy(file, read_regular_text(&suite.folder.join(file), MAX_TEXT_BYTES as u64).ok());
    }
    files
}

fn instance_files(instance: &Instance) -> Vec<(String, String)> {
    let stem = &instance.stem;
    let mut files = vec![
        (format!("{stem}.nl"), instance.text.clone()),
        (format!("{stem}.pddl"), instance.problem.clone()),
        (template::problem_file(stem), template::of_problem(&instance.problem)),
    ];
    if stem == "p_example" {
        files.push((format!("{stem}.sol"), instance.plan.clone()));
    }
    files
}

/// Templates that show an interface and objects, and nothing else of the reference.
#[derive(Debug, Clone, Serialize)]
pub struct TemplateResult {
    /// Name of the suite.
    pub suite: String,
    /// The files.
    pub files: Vec<Entry>,
    /// The folder that was written into.
    #[serde(skip)]
    pub folder: PathBuf,
}

/// Writes the templates of a suite into its folder, or into `out`.
///
/// # Errors
/// A suite that cannot be read or has no reference, or files that are there.
pub fn templates(
    context: &Context,
    suite: &Path,
    out: Option<&Path>,
    force: bool,
) -> Result<TemplateResult, Error> {
    let source = context.path(suite);
    let loaded = readable(context, load_suite(&source))?;
    let files = template::templates(&loaded);
    if files.is_empty() {
        let message = format!("{} has no reference to make templates from", suite.display());
        return Err(refused(
            Diagnostic::error("generate.no-domain", message).help("add domain.pddl and NAME.pddl"),
        ));
    }
    let folder = out.map_or(source, |out| context.path(out));
    let files = Files::new(&folder, files).write(force)?;
    Ok(TemplateResult { suite: loaded.name, files, folder })
}

/// A suite to write under other names.
#[derive(Debug, Clone)]
pub struct ObfuscateRequest {
    /// The suite's folder.
    pub suite: PathBuf,
    /// The folder that the new suite is written into.
    pub out: PathBuf,
    /// Names, order and seed.
    pub options: DisguiseOptions,
    /// The new suite's name; `None` for the old one.
    pub name: Option<String>,
    /// True to replace files that are there with other content.
    pub force: bool,
}

/// The written suite.
#[derive(Debug, Clone, Serialize)]
pub struct ObfuscateResult {
    /// Its folder.
    pub folder: String,
    /// Name of the old suite.
    pub suite: String,
    /// Number of tasks.
    pub tasks: usize,
    /// The names that were exchanged.
    pub renaming: Option<Renaming>,
    /// The files.
    pub files: Vec<Entry>,
}

/// Renames and reorders a suite, so that a model cannot use what it has read about its domain.
///
/// # Errors
/// A suite that cannot be read, or files that are there.
pub fn obfuscate(context: &Context, request: &ObfuscateRequest) -> Result<ObfuscateResult, Error> {
    let (source, out) = (context.path(&request.suite), context.path(&request.out));
    let suite = readable(context, load_suite_with(&source, Texts::Optional))?;
    let new = disguise_suite(&suite, &request.options)
        .map_err(|found| Error::findings(Status::Input, found, SourceMap::default()))?;
    // Names would be exchanged for names of the same folder.
    if same_folder(&source, &out) {
        let message = format!("{} is the suite's own folder", request.out.display());
        return Err(refused(
            Diagnostic::error("cli.file-exists", message).help("name another folder with --out"),
        ));
    }
    let files = Files::new(&out, obfuscated_files(&new, request.name.as_deref())).write(request.force)?;
    Ok(ObfuscateResult {
        folder: request.out.display().to_string(),
        tasks: suite.tasks.len(),
        suite: suite.name,
        renaming: new.disguise.as_ref().map(|disguise| disguise.names.renaming().clone()),
        files,
    })
}

/// The domain-generators paper's data as suites.
#[derive(Debug, Clone)]
pub struct ImportResult {
    /// The folder with a folder for each suite.
    pub folder: PathBuf,
    /// The suites.
    pub suites: Vec<ImportedSuite>,
    /// What was left out, and why.
    pub left_out: Vec<String>,
    /// Number of findings about the data.
    pub warnings: usize,
    /// The files.
    pub files: Vec<Entry>,
}

impl Serialize for ImportResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let suite = |s: &ImportedSuite| {
            json!({
                "suite": s.name, "actions": s.actions, "texts": s.texts, "predicates": s.predicates,
                "problems": s.problems,
            })
        };
        let suites: Vec<_> = self.suites.iter().map(suite).collect();
        let folder = self.folder.display().to_string();
        json!({
            "folder": folder, "suites": suites, "left_out": self.left_out, "warnings": self.warnings,
            "files": self.files,
        })
        .serialize(serializer)
    }
}

/// Imports the domain-generators paper's data into `out/NAME` for each domain.
///
/// # Errors
/// Data that cannot be read, or files that are there; then nothing is written.
pub fn import_actions(
    context: &Context,
    folder: &Path,
    out: &Path,
    force: bool,
) -> Result<ImportResult, Error> {
    let imported = planforge_suites::import_actions::import_actions(&context.path(folder));
    if imported.suites.is_empty() {
        return Err(Error::findings(Status::Input, imported.diagnostics, imported.sources));
    }
    context.findings(&imported.diagnostics, &imported.sources);
    // All folders in one list, so that a file that is in the way keeps every suite from being written.
    let file = |suite: &ImportedSuite, (name, text): &(String, String)| {
        (format!("{}/{name}", suite.name), text.clone())
    };
    let files =
        imported.suites.iter().flat_map(|suite| suite.files.iter().map(move |f| file(suite, f))).collect();
    let files = Files::new(&context.path(out), files).write(force)?;
    Ok(ImportResult {
        folder: out.to_owned(),
        suites: imported.suites,
        left_out: imported.left_out,
        warnings: imported.diagnostics.len(),
        files,
    })
}
