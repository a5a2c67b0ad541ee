//! Many tasks and samples against a server that answers at once: calls a second, processor time a call, peak memory; and how these grow
//! with tasks, samples and jobs.
//!
//! The server is another process (`cargo xtask load-server`), so that its work is not counted. Each run is a process of its own.

use crate::load_peers;
use crate::process::{Cost, measured};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// What to measure.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The `planforge` binary.
    #[arg(long, default_value = "target/debug/planforge")]
    planforge: PathBuf,
    /// Numbers of tasks.
    #[arg(long, value_delimiter = ',', default_value = "1000")]
    tasks: Vec<usize>,
    /// Numbers of samples a task, each asked for by itself.
    #[arg(long, value_delimiter = ',', default_value = "8")]
    samples: Vec<u32>,
    /// How many requests are side by side, and calls of plugins.
    #[arg(long, value_delimiter = ',', default_value = "8,32,128")]
    jobs: Vec<u32>,
    /// Milliseconds until the server answers.
    #[arg(long, default_value_t = 0)]
    delay_ms: u64,
    /// What is done with each reply.
    #[arg(long, value_enum, default_value_t = Work::Whole)]
    work: Work,
    /// Also read each finished run again: a resume that finds everything there, and a replay.
    #[arg(long)]
    again: bool,
    /// A Python environment with `inspect-ai` and `openai`, to ask the same number of questions through inspect_ai.
    #[arg(long)]
    inspect: Option<PathBuf>,
    /// A folder with `promptfoo` in its node_modules, to ask the same number of questions through it.
    #[arg(long)]
    promptfoo: Option<PathBuf>,
    /// Where the suites and runs go; a folder that is removed at the end, where none is given.
    #[arg(long)]
    folder: Option<PathBuf>,
}

/// How much is done with a reply.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Work {
    /// The PDDL is taken out of it and recorded.
    Ask,
    /// It is also read and checked, planned for, and its plan is held against the environment.
    Whole,
}

/// Prints the table.
pub(crate) fn run(options: &Options) -> Result<(), String> {
    let planforge = options.planforge.canonicalize();
    let planforge = planforge.map_err(|e| format!("{}: {e}", options.planforge.display()))?;
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    let folder = options.folder.clone().unwrap_or_else(|| scratch.path().to_owned());
    println!(
        "| tasks | samples | jobs | what | s | calls a second | processor ms a call | peak MB | run folder MB |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for &tasks in &options.tasks {
        let suite = folder.join(format!("lights-{tasks}"));
        write_suite(&suite, tasks).map_err(|e| format!("{}: {e}", suite.display()))?;
        for &samples in &options.samples {
            for &jobs in &options.jobs {
                let case = Case {
                    planforge: &planforge,
                    folder: &folder,
                    suite: &suite,
                    tasks,
                    samples,
                    jobs,
                    options,
                };
                case.run()?;
            }
        }
    }
    Ok(())
}

/// One measurement.
struct Case<'a> {
    planforge: &'a Path,
    folder: &'a Path,
    suite: &'a Path,
    tasks: usize,
    samples: u32,
    jobs: u32,
    options: &'a Options,
}

impl Case<'_> {
    fn run(&self) -> Result<(), String> {
        let server = Server::start(self.options.delay_ms)?;
        // Kept until the end: where many files were just deleted, making new ones is slow.
        let runs = tempfile::tempdir_in(self.folder).map_err(|e| e.to_string())?.keep();
        let pipeline = runs.join("load.toml");
        let text = pipeline_text(&server.address, self.samples, self.jobs, self.options.work);
        fs::write(&pipeline, text).map_err(|e| e.to_string())?;
        let out = runs.join("runs");
        let mut command = Command::new(self.planforge);
        command.arg("run").arg(&pipeline).arg("--suite").arg(self.suite).arg("--runs").arg(&out);
        let cost = self.measured(command)?;
        let calls = self.tasks as u64 * u64::from(self.samples);
        let answered = server.stop()?;
        if answered != calls {
            return Err(format!("{answered} requests, and {calls} questions"));
        }
        let mut made = fs::read_dir(&out).map_err(|e| e.to_string())?;
        let run = made.next().ok_or("there is no run folder")?.map_err(|e| e.to_string())?.path();
        self.row("run", cost, &run)?;
        self.peers(&runs)?;
        if self.options.again {
            for (name, word) in [("resume", "--resume"), ("replay", "")] {
                let mut command = Command::new(self.planforge);
                match word {
                    "" => command.arg("replay").arg(&run),
                    word => command.arg("run").arg(word).arg(&run),
                };
                let cost = self.measured(command)?;
                self.row(name, cost, &run)?;
            }
        }
        Ok(())
    }

    fn peers(&self, folder: &Path) -> Result<(), String> {
        let Self { tasks, samples, jobs, .. } = *self;
        let peers = [("inspect_ai", &self.options.inspect), ("promptfoo", &self.options.promptfoo)];
        for (name, place) in peers {
            let Some(place) = place else { continue };
            let place = place.canonicalize().map_err(|e| format!("{}: {e}", place.display()))?;
            let server = Server::start(self.options.delay_ms)?;
            let command = match name {
                "inspect_ai" => load_peers::inspect(&place, folder, &server.address, tasks, samples, jobs),
                _ => load_peers::promptfoo(&place, folder, &server.address, tasks, samples, jobs),
            };
            let (cost, status) =
                measured(&mut command.map_err(|e| e.to_string())?).map_err(|e| e.to_string())?;
            let calls = server.stop()?;
            if !status.success() || calls != tasks as u64 * u64::from(samples) {
                return Err(format!("{name} ended with {status} after {calls} requests"));
            }
            let left = folder.join(if name == "inspect_ai" { "inspect-logs" } else { "promptfoo-state" });
            self.row(name, cost, &left)?;
        }
        Ok(())
    }

    fn measured(&self, mut command: Command) -> Result<Cost, String> {
        command.args(["--json", "--jobs", &self.jobs.to_string()]).env("LOAD_TEST_KEY", "sk-load-0123456789");
        let (cost, status) = measured(&mut command).map_err(|e| e.to_string())?;
        if status.success() { Ok(cost) } else { Err(format!("planforge ended with {status}")) }
    }

    fn row(&self, what: &str, cost: Cost, run: &Path) -> Result<(), String> {
        let calls = self.tasks as f64 * f64::from(self.samples);
        let Self { tasks, samples, jobs, .. } = self;
        println!(
            "| {tasks} | {samples} | {jobs} | {what} | {:.1} | {:.0} | {:.2} | {:.0} | {:.0} |",
            cost.wall_ms / 1000.0,
            calls / cost.wall_ms * 1000.0,
            cost.cpu_ms / calls,
            cost.peak_kb / 1024.0,
            bytes(run).map_err(|e| e.to_string())? as f64 / 1e6
        );
        Ok(())
    }
}

fn bytes(path: &Path) -> std::io::Result<u64> {
    let mut sum = 0;
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let file = entry.metadata()?;
        sum += if file.is_dir() { bytes(&entry.path())? } else { file.len() };
    }
    Ok(sum)
}

/// The server as another process.
pub(crate) struct Server {
    process: Child,
    output: BufReader<std::process::ChildStdout>,
    /// Its `127.0.0.1:PORT`.
    pub(crate) address: String,
}

impl Server {
    pub(crate) fn start(delay_ms: u64) -> Result<Self, String> {
        let own = std::env::current_exe().map_err(|e| e.to_string())?;
        let mut process = Command::new(own)
            .args(["load-server", "--delay-ms", &delay_ms.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| e.to_string())?;
        let output = process.stdout.take().ok_or("the server has no output")?;
        let mut server = Self { process, output: BufReader::new(output), address: String::new() };
        server.address = server.line()?;
        Ok(server)
    }

    fn line(&mut self) -> Result<String, String> {
        let mut line = String::new();
        self.output.read_line(&mut line).map_err(|e| e.to_string())?;
        Ok(line.trim().to_owned())
    }

    /// Ends it. The answer is how many requests it got.
    pub(crate) fn stop(mut self) -> Result<u64, String> {
        drop(self.process.stdin.take());
        let count = self.line()?.parse().map_err(|e| format!("the server's count: {e}"))?;
        self.process.wait().map_err(|e| e.to_string())?;
        Ok(count)
    }
}

const DOMAIN: &str = "(define (domain lights)
  (:requirements :strips :typing)
  (:types room)
  (:predicates (lit ?r - room) (dark ?r - room))
  (:action switch
    :parameters (?r - room)
    :precondition (dark ?r)
    :effect (and (lit ?r) (not (dark ?r)))))
";

/// Small tasks, no two the same.
fn write_suite(folder: &Path, tasks: usize) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    fs::write(folder.join("domain.pddl"), DOMAIN)?;
    fs::write(folder.join("domain.nl"), "A light in a dark room can be switched on.\n")?;
    for number in 1..=tasks {
        let rooms = ["hall", "kitchen", "attic"];
        let text = format!(
            "House number {number} has a hall, a kitchen and an attic. All are dark. Switch on every light.\n"
        );
        let facts: Vec<String> = rooms.iter().map(|room| format!("(dark {room})")).collect();
        let goals: Vec<String> = rooms.iter().map(|room| format!("(lit {room})")).collect();
        let problem = format!(
            "(define (problem lights-{number})\n  (:domain lights)\n  (:objects {} - room)\n  (:init {})\n  (:goal (and {})))\n",
            rooms.join(" "),
            facts.join(" "),
            goals.join(" ")
        );
        fs::write(folder.join(format!("p{number:05}.nl")), text)?;
        fs::write(folder.join(format!("p{number:05}.pddl")), problem)?;
    }
    Ok(())
}

fn pipeline_text(address: &str, samples: u32, jobs: u32, work: Work) -> String {
    let ask = format!(
        "schema = 1\n[given]\ndomain = true\n[llm.main]\nuse = \"provider-openai\"\nmodel = \"load\"\nbase_url = \"http://{address}/v1\"\n\
         api_key_env = \"LOAD_TEST_KEY\"\nn_per_request = 1\nmax_concurrency = {jobs}\n[environment]\nuse = \"environment-pddl\"\n[[stage]]\ndo = \"translate\"\n\
         label = \"problem\"\nuse = \"translator-direct\"\nn = {samples}\nroles = {{ writer = \"main\" }}\noptions = {{ mode = \"problem\" }}\n"
    );
    let judge = "[[stage]]\ndo = \"verify\"\nlabel = \"pddl\"\nuse = \"verifier-val\"\noptions = { what = \"pddl\" }\n\
        [[stage]]\ndo = \"plan\"\nlabel = \"plan\"\nuse = \"planner-classical\"\n\
        [[stage]]\ndo = \"verify\"\nlabel = \"environment\"\nuse = \"verifier-val\"\noptions = { what = \"plan\", against = \"environment\" }\n";
    match work {
        Work::Ask => ask,
        Work::Whole => ask + judge,
    }
}
