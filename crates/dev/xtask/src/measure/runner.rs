//! Cost of the runner for each candidate: `planforge run` of one best-of-N stage against a server that answers at once, for several N.
//!
//! Each run is a separate process with a new run folder, so that wall time, processor time and peak memory are those of a user. A
//! line fitted over N takes start and end of the process apart from what a candidate costs. The same runs are then replayed: without
//! a server, so that what is left is the runner, the record, and reading the domains.
//!
//! `measure-shards` plans an evaluation of many cells with a simulated model dry, runs it in shards that each have a folder, and merges them.
//! `measure-estimates` compares the estimates of `planforge evaluate --dry-run` for the shipped pipelines with the requests that they then
//! send to a simulated model.

use crate::programs::{Cost, absolute, path_text, run_measured};
use planforge_evaluate::{Align, Table};
use planforge_testkit::survival::results;
use planforge_testkit::{Scripted, ScriptedServer, model, planned_and_validated, stage, table, toml};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(clap::Args)]
pub(crate) struct RunnerArgs {
    /// The `planforge` binary, built with `--release`.
    #[arg(long, default_value = "target/release/planforge")]
    planforge: PathBuf,
    /// Numbers of candidates, at least two.
    #[arg(long, value_delimiter = ',', default_value = "16,64,256,1000")]
    n: Vec<u32>,
    /// Number of concurrent plugin calls and requests.
    #[arg(long, default_value_t = 4)]
    jobs: u32,
    /// Repetitions of each run; the least of each figure counts, to reduce noise.
    #[arg(long, default_value_t = 3)]
    repeat: u32,
}

/// Source of the replies of a run.
#[derive(Clone, Copy)]
enum Source<'a> {
    Server(&'a ScriptedServer),
    Replay(&'a Path),
}

pub(crate) fn measure_runner(args: &RunnerArgs) -> Result<(), String> {
    if args.n.len() < 2 {
        return Err("--n needs at least two numbers: a line is fitted over them".to_owned());
    }
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    suite(folder.path())?;
    println!("| replies from | N | ms | processor ms | peak MB |\n|---|---|---|---|---|");
    let mut fits = Vec::new();
    for (name, whole) in [("a server, one a request", false), ("a server, N a request", true)] {
        let server = server(whole).map_err(|e| e.to_string())?;
        let (mut live, mut replayed) = (Vec::new(), Vec::new());
        for &n in &args.n {
            let (cost, run) = least(args, folder.path(), n, Source::Server(&server))?;
            row(name, n, cost);
            live.push((f64::from(n), cost));
            let (cost, _) = least(args, folder.path(), n, Source::Replay(&run))?;
            row("its record", n, cost);
            replayed.push((f64::from(n), cost));
        }
        fits.push((name, live));
        fits.push(("its record", replayed));
    }
    println!("\n| replies from | ms a candidate | processor ms a candidate | kB a candidate | MB at N = 0 |");
    println!("|---|---|---|---|---|");
    for (name, points) in fits {
        let fit = |of: fn(&Cost) -> f64| line(points.iter().map(|(n, cost)| (*n, of(cost))));
        let ((wall, _), (cpu, _)) = (fit(|c| c.wall_ms), fit(|c| c.cpu_ms));
        let (memory, start) = fit(|c| c.peak_kb);
        println!("| {name} | {wall:.3} | {cpu:.3} | {memory:.1} | {:.1} |", start / 1024.0);
    }
    Ok(())
}

fn row(name: &str, n: u32, cost: Cost) {
    let Cost { wall_ms, cpu_ms, peak_kb } = cost;
    println!("| {name} | {n} | {wall_ms:.0} | {cpu_ms:.0} | {:.1} |", peak_kb / 1024.0);
}

/// Slope and intercept of the line of least squares.
fn line(points: impl Iterator<Item = (f64, f64)> + Clone) -> (f64, f64) {
    let count = points.clone().count() as f64;
    let mean = |of: fn((f64, f64)) -> f64| points.clone().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let over: f64 = points.clone().map(|p| (p.0 - x) * (p.1 - y)).sum();
    let slope = over / points.clone().map(|p| (p.0 - x).powi(2)).sum::<f64>();
    (slope, y - slope * x)
}

const DOMAIN: &str = "(define (domain lights) (:requirements :strips) (:predicates (lit ?r) (dark ?r))\n\
    (:action switch :parameters (?r) :precondition (dark ?r) :effect (and (lit ?r) (not (dark ?r)))))";

/// A task, and the pipeline that writes N domains for it.
fn suite(folder: &Path) -> Result<(), String> {
    let problem =
        "(define (problem p01) (:domain lights) (:objects hall) (:init (dark hall)) (:goal (lit hall)))";
    let pipeline = concat!(
        toml!(schema = 1),
        model!(main "scripted-model" max_concurrency = 64),
        stage!(translate "domain" use = "translator-direct" roles = { writer = "main" } options = { mode = "domain" }),
        stage!(select "best" by = "candidate.log_likelihood"),
    );
    let files = [
        ("lights/domain.nl", "A light in a dark room can be switched on."),
        ("lights/domain.pddl", DOMAIN),
        ("lights/p01.nl", "The hall is dark. Switch on its light."),
        ("lights/p01.pddl", problem),
        ("pipeline.toml", pipeline),
    ];
    fs::create_dir_all(folder.join("lights")).map_err(|e| e.to_string())?;
    for (name, text) in files {
        fs::write(folder.join(name), text).map_err(|e| format!("{name}: {e}"))?;
    }
    Ok(())
}

/// A server that answers at once, each time with another domain: one reply per request, or as many as
/// requested.
fn server(whole: bool) -> std::io::Result<ScriptedServer> {
    ScriptedServer::matching(move |request| {
        let asked = request.json()["n"].as_u64().filter(|_| whole).unwrap_or(1);
        let choice = |index: u64| {
            let text = format!("```pddl\n; {}.{index}\n{DOMAIN}\n```", request.number);
            let token = json!({"token": "x", "logprob": -0.5, "bytes": null, "top_logprobs": []});
            json!({"index": index, "finish_reason": "stop", "message": {"role": "assistant", "content": text},
                "logprobs": {"content": [token]}})
        };
        let choices: Vec<_> = (0..asked).map(choice).collect();
        let usage = json!({"prompt_tokens": 10, "completion_tokens": asked, "total_tokens": 10 + asked});
        let body = json!({"id": "scripted", "object": "chat.completion", "model": "scripted-model",
            "choices": choices, "usage": usage});
        Scripted::raw(200, body.to_string())
    })
}

/// The least cost of some runs, and the folder of the last one.
fn least(args: &RunnerArgs, folder: &Path, n: u32, source: Source<'_>) -> Result<(Cost, PathBuf), String> {
    let mut least: Option<Cost> = None;
    let mut last = PathBuf::new();
    for _ in 0..args.repeat.max(1) {
        let runs = tempfile::tempdir_in(folder).map_err(|e| e.to_string())?.keep();
        let cost = process(args, folder, &runs, n, source)?;
        least = Some(least.map_or(cost, |least| least.least(cost)));
        let mut made = fs::read_dir(&runs).map_err(|e| e.to_string())?;
        let made = made.next().ok_or("the run left no folder")?.map_err(|e| e.to_string())?;
        last = made.path();
    }
    least.map(|cost| (cost, last)).ok_or_else(|| "no run was made".to_owned())
}

/// One process from start to end.
fn process(
    args: &RunnerArgs,
    folder: &Path,
    runs: &Path,
    n: u32,
    source: Source<'_>,
) -> Result<Cost, String> {
    let mut command = Command::new(&args.planforge);
    command.arg("run").arg(folder.join("pipeline.toml"));
    command.arg("--task").arg(folder.join("lights/p01")).arg("--runs").arg(runs);
    command.args(["--jobs", &args.jobs.to_string(), "--set", &format!("stage.domain.n={n}")]);
    match source {
        Source::Server(server) => {
            command.args(["--set", &format!("llm.main.base_url={}", server.base_url())]);
        }
        Source::Replay(run) => {
            command.arg("--replay").arg(run);
        }
    }
    let (cost, status) =
        run_measured(&mut command).map_err(|e| format!("{}: {e}", args.planforge.display()))?;
    if !status.success() {
        return Err(format!("the run with n = {n} ended with {status}"));
    }
    Ok(cost)
}

#[derive(clap::Args)]
pub(crate) struct ShardsArgs {
    #[arg(long, default_value = "target/debug/planforge")]
    planforge: PathBuf,
    /// The folder with the example suites `garden` and `parcels`.
    #[arg(long, default_value = "examples/suites")]
    suites: PathBuf,
    /// Numbers of shards.
    #[arg(long, value_delimiter = ',', default_value = "10,100,1000")]
    shards: Vec<usize>,
    /// Cells of a shard, of one task each.
    #[arg(long, default_value_t = 10)]
    cells: usize,
    /// Up to so many cells are also run in one process, whose tables must be those of the merge.
    #[arg(long, default_value_t = 1000)]
    whole: usize,
    /// Folder for the runs; by default a temporary folder.
    #[arg(long)]
    folder: Option<PathBuf>,
}

const PIPELINE: &str = concat!(
    toml!(schema = 1),
    table!("given" domain = true),
    table!("llm.main" use = "provider-noisy-oracle" model = "noisy-oracle" suites = SUITES),
    table!("environment" use = "environment-pddl"),
    stage!(translate "problem" use = "translator-direct" roles = { writer = "main" } options = { mode = "problem" }),
    stage!(verify "same" use = "verifier-equivalence" measure = true),
    planned_and_validated!(),
);

/// Columns: two pipelines with a model that makes 0 to 4 errors.
const COLUMNS: usize = 10;

pub(crate) fn measure_shards(args: &ShardsArgs) -> Result<(), String> {
    let planforge = absolute(&args.planforge)?;
    let suites = ["garden", "parcels"].map(|suite| absolute(&args.suites.join(suite)).map(path_text));
    let suites = suites.into_iter().collect::<Result<Vec<_>, _>>()?;
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    let folder = args.folder.clone().unwrap_or_else(|| scratch.path().to_owned());
    println!("| cells | shards | what | s | wall ms a cell | processor ms a cell | peak MB |");
    println!("|---:|---:|---|---:|---:|---:|---:|");
    for &shards in &args.shards {
        let folder = folder.join(format!("shards-{shards}"));
        let cells = shards * args.cells;
        let seeds = cells.div_ceil(suites.len() * COLUMNS);
        write_matrix(&folder, &suites, seeds).map_err(|e| format!("{}: {e}", folder.display()))?;
        let cells = seeds * suites.len() * COLUMNS;
        Experiment { planforge: &planforge, folder: &folder, shards, cells }.run(cells <= args.whole)?;
    }
    Ok(())
}

fn write_matrix(folder: &Path, suites: &[String], seeds: usize) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    for name in ["one.toml", "two.toml"] {
        fs::write(folder.join(name), PIPELINE.replace("SUITES", &format!("{suites:?}")))?;
    }
    let models: String = (0..COLUMNS / 2)
        .map(|n| format!("[matrix.models.errors-{n}]\nset = [\"llm.main.problem_errors={n}\"]\n"))
        .collect();
    let matrix = format!(
        "schema = 1\n[matrix]\nsuites = {suites:?}\npipelines = [\"one.toml\", \"two.toml\"]\nseeds = \"1-{seeds}\"\ntasks = 1\n{models}"
    );
    fs::write(folder.join("matrix.toml"), matrix)
}

struct Experiment<'a> {
    planforge: &'a Path,
    folder: &'a Path,
    shards: usize,
    cells: usize,
}

impl Experiment<'_> {
    fn run(&self, in_one_process: bool) -> Result<(), String> {
        let (matrix, whole) = (self.folder.join("matrix.toml"), self.folder.join("whole"));
        let evaluate =
            |out: &Path| self.command(&["--matrix", &path_text(&matrix), "--out", &path_text(out)]);
        let into_whole = path_text(&whole);
        let cost = self.cost(evaluate(&whole).arg("--dry-run"))?;
        self.row("dry run", cost);
        let parts: Vec<PathBuf> = (1..=self.shards).map(|n| self.folder.join(format!("part-{n}"))).collect();
        let mut sum = Cost { wall_ms: 0.0, cpu_ms: 0.0, peak_kb: 0.0 };
        for (index, part) in parts.iter().enumerate() {
            let cost =
                self.cost(evaluate(part).args(["--shard", &format!("{}/{}", index + 1, self.shards)]))?;
            sum.wall_ms += cost.wall_ms;
            sum.cpu_ms += cost.cpu_ms;
            sum.peak_kb = sum.peak_kb.max(cost.peak_kb);
        }
        self.row("shards, one after the other", sum);
        let mut merge = self.command(&["merge", "--into", &into_whole]);
        let cost = self.cost(merge.args(&parts))?;
        self.row("merge of all folders into one", cost);
        let cost = self.cost(&mut self.command(&["merge", &into_whole]))?;
        self.row("merge of a shared folder", cost);
        if in_one_process {
            let merged = results(&whole).map_err(|e| e.to_string())?;
            fs::rename(&whole, self.folder.join("merged")).map_err(|e| e.to_string())?;
            let cost = self.cost(&mut evaluate(&whole))?;
            self.row("one process", cost);
            if results(&whole).map_err(|e| e.to_string())? != merged {
                return Err(format!("{} and merged beside it differ", whole.display()));
            }
        }
        Ok(())
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(self.planforge);
        command.arg("evaluate").args(args);
        command
    }

    fn cost(&self, command: &mut Command) -> Result<Cost, String> {
        let (cost, status) = run_measured(command).map_err(|e| e.to_string())?;
        if status.success() { Ok(cost) } else { Err(format!("{command:?} ended with {status}")) }
    }

    fn row(&self, what: &str, cost: Cost) {
        let cells = self.cells as f64;
        println!(
            "| {} | {} | {what} | {:.1} | {:.1} | {:.1} | {:.0} |",
            self.cells,
            self.shards,
            cost.wall_ms / 1000.0,
            cost.wall_ms / cells,
            cost.cpu_ms / cells,
            cost.peak_kb / 1024.0
        );
    }
}

#[derive(clap::Args)]
pub(crate) struct EstimatesArgs {
    #[arg(long, default_value = "target/debug/planforge")]
    planforge: PathBuf,
    #[arg(long, default_value = "examples/suites/blocks")]
    suite: PathBuf,
    /// The suite of pipelines whose in-context example is the first one.
    #[arg(long, default_value = "examples/suites/garden")]
    other: PathBuf,
    /// The folder of pipelines.
    #[arg(long, default_value = "configs/pipelines")]
    pipelines: PathBuf,
    /// Tasks of the suite.
    #[arg(long, default_value_t = 2)]
    tasks: u32,
    /// Assumed tokens of a reply.
    #[arg(long, default_value_t = 400)]
    reply_tokens: u64,
}

/// Prints a row per pipeline. Fails if a pipeline sent more requests than estimated.
pub(crate) fn measure_estimates(args: &EstimatesArgs) -> Result<(), String> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(&args.pipelines)
        .map_err(|e| format!("{}: {e}", args.pipelines.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    let words = ["pipeline"].map(|name| (name, Align::Left));
    let numbers = [
        "calls now",
        "~tokens in",
        "calls",
        "calls <=",
        "replies",
        "replies <=",
        "tokens in",
        "~tokens in <=",
        "tokens out",
        "~tokens out <=",
    ];
    let mut table = Table::new(words.into_iter().chain(numbers.map(|name| (name, Align::Right))));
    let mut more = Vec::new();
    for file in &files {
        match one(args, file, &args.suite).or_else(|_| one(args, file, &args.other)) {
            Ok(row) => {
                if row.calls > row.most_calls || row.replies > row.most_replies {
                    more.push(row.pipeline.clone());
                }
                table.row(row.cells());
            }
            Err(why) => println!("{}: {why}", file.display()),
        }
    }
    print!("{}", table.markdown());
    match more.is_empty() {
        true => Ok(()),
        false => Err(format!("more was requested than the dry run predicted: {}", more.join(", "))),
    }
}

struct Row {
    pipeline: String,
    now: [u64; 2],
    calls: u64,
    most_calls: u64,
    replies: u64,
    most_replies: u64,
    tokens: [u64; 2],
    estimated: [u64; 2],
}

impl Row {
    fn cells(self) -> Vec<String> {
        let numbers = [
            self.now[0],
            self.now[1],
            self.calls,
            self.most_calls,
            self.replies,
            self.most_replies,
            self.tokens[0],
            self.estimated[0],
            self.tokens[1],
            self.estimated[1],
        ];
        std::iter::once(self.pipeline).chain(numbers.map(|number| number.to_string())).collect()
    }
}

fn one(args: &EstimatesArgs, file: &Path, suite: &Path) -> Result<Row, String> {
    let (suite, planforge) = (absolute(suite)?, absolute(&args.planforge)?);
    let place = tempfile::tempdir().map_err(|e| e.to_string())?;
    let name = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let pipeline = place.path().join(file.file_name().unwrap_or_default());
    let text = std::fs::read_to_string(file).map_err(|e| e.to_string())?;
    let suites = suite.parent().unwrap_or(&suite);
    std::fs::write(&pipeline, with_simulated_model(&text, &suite, suites)?).map_err(|e| e.to_string())?;
    let out = place.path().join("out");
    let evaluate = |more: &[&str]| {
        let mut command = Command::new(&planforge);
        command.args([
            "evaluate",
            "--suite",
            &path_text(&suite),
            "--pipeline",
            &path_text(&pipeline),
            "--seeds",
            "7",
        ]);
        command.args(["--tasks", &args.tasks.to_string(), "--out", &path_text(&out)]).args(more);
        command.output().map_err(|e| e.to_string())
    };
    let reply = args.reply_tokens.to_string();
    let dry = evaluate(&["--dry-run", "--reply-tokens", &reply, "--json"])?;
    if !dry.status.success() {
        return Err(String::from_utf8_lossy(&dry.stderr).lines().next().unwrap_or_default().to_owned());
    }
    let dry: Value = serde_json::from_slice(&dry.stdout).map_err(|e| e.to_string())?;
    let cell = &dry["cells"][0];
    evaluate(&[])?;
    let real = std::fs::read(out.join("evaluation.json")).map_err(|e| e.to_string())?;
    let real: Value = serde_json::from_slice(&real).map_err(|e| e.to_string())?;
    let usage = &real["cells"][0]["usage"];
    let asked = |key: &str| usage[key].as_u64().unwrap_or(0);
    let bound = |when: &str, key: &str| cell[when][key].as_u64().ok_or(format!("no bound on {key}"));
    Ok(Row {
        pipeline: name,
        now: [bound("now", "calls")?, bound("now", "estimated_prompt_tokens")?],
        calls: asked("calls") + asked("failed"),
        most_calls: bound("most", "calls")?,
        replies: asked("replies"),
        most_replies: bound("most", "replies")?,
        // The simulated model counts no tokens; the host estimates them from the same texts.
        tokens: [
            asked("prompt_tokens") + asked("estimated_prompt_tokens"),
            asked("completion_tokens") + asked("estimated_completion_tokens"),
        ],
        estimated: [bound("most", "estimated_prompt_tokens")?, bound("most", "estimated_completion_tokens")?],
    })
}

/// The pipeline with the simulated model instead of its own, and with absolute paths.
fn with_simulated_model(text: &str, suite: &Path, suites: &Path) -> Result<String, String> {
    let text = text.replace("../../examples/suites", &path_text(suites));
    let (before, rest) = text.split_once("[llm.main]\n").ok_or("the pipeline has no table [llm.main]")?;
    let (_, after) = rest.split_once("\n[").ok_or("nothing stands behind [llm.main]")?;
    let suite = path_text(suite);
    Ok(format!(
        "{before}[llm.main]\nuse = \"provider-noisy-oracle\"\nmodel = \"noisy-oracle\"\nsuites = [{suite:?}]\nerrors = 1\n\n[{after}"
    ))
}
