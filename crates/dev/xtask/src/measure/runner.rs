//! Cost of the runner for each candidate: `planforge run` of one best-of-N stage against a server that answers at once, for several N.
//!
//! Each run is a separate process with a new run folder, so that wall time, processor time and peak memory are those of a user. A
//! line fitted over N takes start and end of the process apart from what a candidate costs. The same runs are then replayed: without
//! a server, so that what is left is the runner, the record, and reading the domains.

use crate::process::{Cost, run_measured};
use planforge_testkit::{Scripted, ScriptedServer, model, stage, toml};
use serde_json::json;
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

pub(crate) fn run(args: &RunnerArgs) -> Result<(), String> {
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
