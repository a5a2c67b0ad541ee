//! `planforge suite generate`: tasks from a seed.

use super::files::{Entry, Files, counted};
use crate::context::Context;
use crate::exit::Exit;
use crate::limits::WorkLimits;
use clap::Args;
use planforge_diagnostics::render::escape;
use planforge_pipeline::{GenerateSpec, Suite, load_without_tasks};
use planforge_suites::generate::{GenerationError, Generator, Instance, Limits};
use planforge_suites::template;
use std::fmt::Write as _;
use std::path::Path;
use std::path::PathBuf;

/// Generate tasks from a seed with the suite's generator.jinja.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge suite generate examples/suites/grippers
  planforge suite generate examples/suites/grippers --tasks 10 --seed 7 --out /tmp/grippers")]
pub(crate) struct SuiteGenerateArgs {
    /// The suite's folder, with domain.nl, domain.pddl and generator.jinja.
    pub(crate) suite: PathBuf,
    /// Number of tasks. Without this and the next two options, `[generate]` of suite.toml counts.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=9999))]
    pub(crate) tasks: Option<u32>,
    /// The seed of all of them.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// The number of the first task; sizes grow with it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=9999))]
    pub(crate) from: Option<u32>,
    /// Also make the in-context example, with a plan.
    #[arg(long)]
    pub(crate) example: bool,
    /// Write a separate suite into this folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Replace files that are there with other content.
    #[arg(long)]
    pub(crate) force: bool,
    /// Limit: search nodes for solving a task; harder draws are skipped.
    #[arg(long, value_name = "N", default_value_t = 200_000)]
    pub(crate) nodes: u64,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(context: &Context, args: &SuiteGenerateArgs) -> Exit {
    let loaded = load_without_tasks(&args.suite);
    context.output.diagnostics(&loaded.diagnostics, &loaded.sources);
    let Some(suite) = loaded.suite else { return Exit::Input };
    let spec = generate_spec(args, &suite);
    let instances = match instances(context, args, &suite, spec) {
        Ok(instances) => instances,
        Err(exit) => return exit,
    };
    let folder = args.out.as_deref().unwrap_or(&args.suite);
    let mut files = if same_folder(folder, &args.suite) { Vec::new() } else { domain_files(&suite, spec) };
    files.extend(instances.iter().flat_map(instance_files));
    match Files::new(folder, files).write(context, args.force) {
        Ok(entries) => {
            report(context, args, folder, spec, &instances, &entries);
            Exit::Good
        }
        Err(exit) => exit,
    }
}

/// The tasks to generate, by the options or else by the suite's manifest.
fn generate_spec(args: &SuiteGenerateArgs, suite: &Suite) -> GenerateSpec {
    let asked = args.tasks.is_some() || args.seed.is_some() || args.from.is_some();
    let own = suite.generate.unwrap_or(GenerateSpec { seed: 1, first: 1, tasks: 5, example: true });
    GenerateSpec {
        seed: args.seed.unwrap_or(own.seed),
        first: args.from.unwrap_or(own.first),
        tasks: args.tasks.unwrap_or(own.tasks),
        example: args.example || (own.example && !asked),
    }
}

fn instances(
    context: &Context,
    args: &SuiteGenerateArgs,
    suite: &Suite,
    spec: GenerateSpec,
) -> Result<Vec<Instance>, Exit> {
    let failed = |none: GenerationError| {
        context.output.diagnostics(&none.diagnostics, &none.sources);
        let stopped = none.diagnostics.iter().any(|d| d.code == "generate.stopped");
        if stopped { Exit::Interrupted } else { Exit::Negative }
    };
    let generator = Generator::new(suite, super::template_renderer(context)?).map_err(failed)?;
    let limits = Limits { nodes: args.nodes, ..Limits::default() };
    let example = spec.example.then_some(0);
    let numbers: Vec<u32> = example.into_iter().chain(spec.first..spec.first + spec.tasks).collect();
    let bar = crate::progress::counting(&context.output, numbers.len(), "tasks");
    let mut instances = Vec::new();
    for index in numbers {
        // Never ended by the clock, so that a seed means the same tasks everywhere.
        let mut budget = WorkLimits::new(None);
        let instance = generator.instance(spec.seed, index, &limits, &mut budget).map_err(failed)?;
        bar.inc(1);
        instances.push(instance);
    }
    bar.finish_and_clear();
    Ok(instances)
}

fn same_folder(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// Files of the suite that a separate suite gets, if they exist.
const BESIDE_TASKS: [&str; 6] =
    ["actions.toml", "domain_brief.nl", "knowledge.lp", "picture.toml", "sentences.toml", "wordings.jinja"];

/// The domain files that make a separate suite of the tasks.
fn domain_files(suite: &Suite, spec: GenerateSpec) -> Vec<(String, String)> {
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
    let mut files = vec![("suite.toml".to_owned(), manifest)];
    let mut copy = |name: &str, text: Option<String>| {
        files.extend(text.map(|text| (name.to_owned(), text)));
    };
    copy("domain.nl", Some(suite.domain_text.clone()));
    copy("domain_template.pddl", suite.reference_domain.as_deref().map(template::of_domain));
    copy("domain.pddl", suite.reference_domain.clone());
    copy("generator.jinja", suite.generator.clone());
    for file in BESIDE_TASKS {
        copy(file, std::fs::read_to_string(suite.folder.join(file)).ok());
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

fn report(
    context: &Context,
    args: &SuiteGenerateArgs,
    folder: &Path,
    spec: GenerateSpec,
    instances: &[Instance],
    entries: &[Entry],
) {
    let steps = |i: &Instance| i.plan.lines().count();
    if args.json {
        let tasks: Vec<_> = instances
            .iter()
            .map(|i| serde_json::json!({ "stem": i.stem, "plan_steps": steps(i), "redrawn": i.redrawn }))
            .collect();
        context.output.json(&serde_json::json!({
            "folder": folder.display().to_string(), "seed": spec.seed, "tasks": tasks, "files": entries,
        }));
        return;
    }
    let mut out = format!("{}: {} from seed {}\n", folder.display(), counted(entries), spec.seed);
    for instance in instances {
        let redrawn = match instance.redrawn.last() {
            None => String::new(),
            Some(why) => format!(", draw {} (before it: {})", instance.redrawn.len() + 1, escape(why)),
        };
        let _ = writeln!(out, "{}: a plan of {} steps{redrawn}", instance.stem, steps(instance));
    }
    context.output.result(&out);
}
