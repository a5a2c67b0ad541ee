//! Times of inference (translate-infer-compile paper, sections 3.3 and 3.4): from an intermediate
//! representation to a problem, with a fresh child process per task and with one that is kept, compared with
//! grounding and solving by PyPI's `clingo` package.

use crate::paths::absolute;
mod host;
mod peer;

use host::{Jobs, KeptTranslator};
use peer::Peer;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

#[derive(clap::Args)]
pub(crate) struct InferenceArgs {
    /// The folder of domains in LLM+P's layout.
    #[arg(long, default_value = "../shared/suites/llm-p")]
    llm_p: PathBuf,
    /// The folder with a `knowledge.lp` for each domain.
    #[arg(long, default_value = "examples/add-ons/llm-p")]
    add_on: PathBuf,
    /// The folder of intermediate representations: `DOMAIN/pNN.lp`, or `DOMAIN/pNN/pNN.lp` as `tic-reference` writes them.
    #[arg(long)]
    ir: PathBuf,
    /// The `planforge` binary, built with `--release`.
    #[arg(long, default_value = "target/release/planforge")]
    planforge: PathBuf,
    /// The library of `translator-asp`, from `cargo build --release -p planforge-loaded-tests --example planforge_translator_asp`.
    #[arg(long, default_value = "target/release/examples/libplanforge_translator_asp.so")]
    library: PathBuf,
    /// A Python environment with `clingo` installed; without it only our times are printed.
    #[arg(long)]
    venv: Option<PathBuf>,
    /// Measurements of each task; the median counts.
    #[arg(long, default_value_t = 9)]
    repeats: usize,
    /// Tasks p01 to this one.
    #[arg(long, default_value_t = 8)]
    tasks: u32,
}

/// One task with its texts.
pub(super) struct InferenceTask {
    name: String,
    domain: PathBuf,
    knowledge: PathBuf,
    ir: PathBuf,
}

/// Milliseconds of one task, medians over the repeats.
struct Times {
    task: String,
    fresh: f64,
    kept: f64,
    worker: f64,
    peer: Option<f64>,
}

pub(crate) fn run(args: &InferenceArgs) -> Result<(), String> {
    let planforge = absolute(&args.planforge)?;
    let mut peer = args.venv.as_deref().map(Peer::start).transpose()?;
    let mut rows = Vec::new();
    println!(
        "| domain | tasks | fresh, median | fresh, max | kept, median | kept, max | of it reasoner | clingo in Python |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for domain in folders(&args.llm_p)? {
        let tasks = tasks(args, &domain);
        if tasks.is_empty() {
            continue;
        }
        let kept = KeptTranslator::open(&args.library, &planforge)?;
        let times = tasks.iter().map(|task| measure(args, &planforge, &kept, peer.as_mut(), task));
        let times = times.collect::<Result<Vec<_>, _>>()?;
        println!("{}", row(&domain, &times));
        rows.extend(times);
    }
    if rows.is_empty() {
        return Err(format!("no DOMAIN/pNN.lp under {}", args.ir.display()));
    }
    println!("{}", row("all", &rows));
    println!(
        "\nMilliseconds. fresh: the whole process of `planforge pddl infer` with its child process. kept: one call of the"
    );
    println!("plugin whose child process is running. reasoner: the calls of that child, both ways included.");
    let slowest = |key: fn(&Times) -> f64| rows.iter().max_by(|a, b| key(a).total_cmp(&key(b)));
    if let (Some(fresh), Some(kept)) = (slowest(|t| t.fresh), slowest(|t| t.kept)) {
        println!("slowest: {} fresh, {} kept", fresh.task, kept.task);
    }
    Ok(())
}

/// The names of the folders that hold a domain, sorted.
fn folders(suite: &Path) -> Result<Vec<String>, String> {
    let entries = std::fs::read_dir(suite).map_err(|e| format!("{}: {e}", suite.display()))?;
    let mut found: Vec<String> = entries
        .filter_map(|entry| entry.ok().map(|e| e.path()))
        .filter(|path| path.join("domain.pddl").is_file())
        .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
        .collect();
    found.sort();
    Ok(found)
}

/// The tasks of one domain for which there is a representation.
fn tasks(args: &InferenceArgs, domain: &str) -> Vec<InferenceTask> {
    let task = |n: u32| {
        let (folder, stem) = (args.ir.join(domain), format!("p{n:02}"));
        let places = [folder.join(&stem).with_extension("lp"), folder.join(&stem).join(format!("{stem}.lp"))];
        Some(InferenceTask {
            name: format!("{domain} {stem}"),
            domain: args.llm_p.join(domain).join("domain.pddl"),
            knowledge: args.add_on.join(domain).join("knowledge.lp"),
            ir: places.into_iter().find(|place| place.is_file())?,
        })
    };
    (1..=args.tasks).filter_map(task).collect()
}

fn measure(
    args: &InferenceArgs,
    planforge: &Path,
    kept: &KeptTranslator,
    peer: Option<&mut Peer>,
    task: &InferenceTask,
) -> Result<Times, String> {
    let repeats = args.repeats.max(1);
    let fresh = (0..repeats).map(|_| fresh(planforge, task)).collect::<Result<Vec<_>, _>>()?;
    // The first call starts the child, or lets it see the task's names for the first time.
    kept.infer(task)?;
    let calls = (0..repeats).map(|_| kept.infer(task)).collect::<Result<Vec<_>, _>>()?;
    let peer = peer.map(|peer| {
        let jobs = calls.first().map(Jobs::jobs).unwrap_or_default();
        let all = |_| jobs.iter().map(|job| peer.infer(job)).sum::<Result<f64, _>>();
        (0..repeats).map(all).collect::<Result<Vec<_>, _>>().map(median)
    });
    Ok(Times {
        task: task.name.clone(),
        fresh: median(fresh),
        kept: median(calls.iter().map(|c| c.total_ms).collect()),
        worker: median(calls.iter().map(Jobs::worker_ms).collect()),
        peer: peer.transpose()?,
    })
}

/// Milliseconds of a whole process.
fn fresh(planforge: &Path, task: &InferenceTask) -> Result<f64, String> {
    let mut command = Command::new(planforge);
    command.args(["pddl", "infer"]).arg("--domain").arg(&task.domain);
    if task.knowledge.is_file() {
        command.arg("--knowledge").arg(&task.knowledge);
    }
    let start = Instant::now();
    let output = command.arg(&task.ir).stdin(Stdio::null()).output().map_err(|e| e.to_string())?;
    let time = start.elapsed().as_secs_f64() * 1e3;
    if output.status.success() {
        return Ok(time);
    }
    Err(format!("{}: {}\n{}", task.name, output.status, String::from_utf8_lossy(&output.stderr)))
}

pub(super) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn row(name: &str, times: &[Times]) -> String {
    let all = |key: fn(&Times) -> f64| times.iter().map(key).collect::<Vec<_>>();
    let most = |values: Vec<f64>| values.into_iter().fold(f64::NAN, f64::max);
    let peers: Vec<f64> = times.iter().filter_map(|t| t.peer).collect();
    let peer = if peers.is_empty() { "-".to_owned() } else { format!("{:.1}", median(peers)) };
    format!(
        "| {name} | {} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} | {peer} |",
        times.len(),
        median(all(|t| t.fresh)),
        most(all(|t| t.fresh)),
        median(all(|t| t.kept)),
        most(all(|t| t.kept)),
        median(all(|t| t.worker)),
    )
}
