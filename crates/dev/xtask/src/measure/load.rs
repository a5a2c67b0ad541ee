//! Many tasks and samples against a server that answers at once: calls per second, processor time per call,
//! peak memory; and their growth with tasks, samples and jobs.
//!
//! The server is another process (`cargo xtask load-server`), so its work does not count. Each run is a
//! separate process.

use crate::paths::absolute;
mod peers;
pub(crate) mod server;

use crate::process::{Cost, run_measured};
use peers::PeerLoad;
use server::Interface;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

#[derive(clap::Args)]
pub(crate) struct LoadArgs {
    #[arg(long, default_value = "target/debug/planforge")]
    planforge: PathBuf,
    /// Numbers of tasks.
    #[arg(long, value_delimiter = ',', default_value = "1000")]
    tasks: Vec<usize>,
    /// Numbers of samples per task, one request each.
    #[arg(long, value_delimiter = ',', default_value = "8")]
    samples: Vec<u32>,
    /// Numbers of concurrent requests and plugin calls.
    #[arg(long, value_delimiter = ',', default_value = "8,32,128")]
    jobs: Vec<u32>,
    /// Interfaces of the model, one after the other.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "chat")]
    interface: Vec<Interface>,
    /// Milliseconds until the server answers.
    #[arg(long, default_value_t = 0)]
    delay_ms: u64,
    /// Requests a second that the server admits; it answers others with status 429. Prints the part of them that is
    /// served and the part of requests that is refused, with the first number of jobs and the first interface.
    #[arg(long, value_delimiter = ',')]
    admit: Vec<f64>,
    /// Seconds that are counted for `--admit`, from ten seconds after the first request.
    #[arg(long, default_value_t = 30.0)]
    seconds: f64,
    /// Processing of each reply.
    #[arg(long, value_enum, default_value_t = ReplyProcessing::Whole)]
    work: ReplyProcessing,
    /// Also read each finished run again: a resume that finds everything there, and a replay.
    #[arg(long)]
    again: bool,
    /// A Python environment with `inspect-ai` and `openai`, to send the same number of requests through
    /// inspect_ai.
    #[arg(long)]
    inspect: Option<PathBuf>,
    /// A folder with `promptfoo` in its node_modules, to send the same number of requests through it.
    #[arg(long)]
    promptfoo: Option<PathBuf>,
    /// Folder for suites and runs; by default a temporary folder.
    #[arg(long)]
    folder: Option<PathBuf>,
}

impl Interface {
    /// The name in options.
    fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Responses => "responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        }
    }

    /// The lines of a model table that name provider and address.
    fn table(self, address: &str) -> String {
        let (plugin, path, more) = match self {
            Self::Chat => ("provider-openai", "/v1", "interface = \"chat\"\n"),
            Self::Responses => ("provider-openai", "/v1", "interface = \"responses\"\n"),
            Self::Anthropic => ("provider-anthropic", "/v1", "max_tokens = 1024\n"),
            Self::Gemini => ("provider-gemini", "/v1beta", ""),
        };
        format!("use = \"{plugin}\"\nbase_url = \"http://{address}{path}\"\n{more}")
    }
}

/// Processing of a reply.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ReplyProcessing {
    /// Extract the PDDL and record it.
    Ask,
    /// It is also read and checked, planned for, and its plan is held against the environment.
    Whole,
}

pub(crate) fn run(args: &LoadArgs) -> Result<(), String> {
    let planforge = absolute(&args.planforge)?;
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    let folder = args.folder.clone().unwrap_or_else(|| scratch.path().to_owned());
    if !args.admit.is_empty() {
        return admit(args, &planforge, &folder);
    }
    println!(
        "| interface | tasks | samples | jobs | what | s | calls a second | processor ms a call | peak MB | run folder MB |"
    );
    println!("|---|---:|---:|---:|---|---:|---:|---:|---:|---:|");
    for &tasks in &args.tasks {
        let suite = folder.join(format!("lights-{tasks}"));
        write_suite(&suite, tasks).map_err(|e| format!("{}: {e}", suite.display()))?;
        for &samples in &args.samples {
            for &jobs in &args.jobs {
                for &interface in &args.interface {
                    let (planforge, folder, suite) = (planforge.as_path(), folder.as_path(), suite.as_path());
                    Case { planforge, folder, suite, tasks, samples, jobs, interface, args }.run()?;
                }
            }
        }
    }
    Ok(())
}

/// Runs against servers that admit so many requests a second.
fn admit(args: &LoadArgs, planforge: &Path, folder: &Path) -> Result<(), String> {
    println!("| admitted a second (R) | jobs | s counted | served, part of R | answered 429 |");
    println!("|---:|---:|---:|---:|---:|");
    let jobs = args.jobs.first().copied().unwrap_or(32);
    let interface = args.interface.first().copied().unwrap_or(Interface::Chat);
    for &rate in &args.admit {
        let tasks = (rate * (server::START + args.seconds + 3.0)).ceil() as usize;
        let suite = folder.join(format!("lights-{tasks}"));
        write_suite(&suite, tasks).map_err(|e| format!("{}: {e}", suite.display()))?;
        let server = Server::start(args.delay_ms, Some((rate, args.seconds)))?;
        let case = Case { planforge, folder, suite: &suite, tasks, samples: 1, jobs, interface, args };
        let runs = tempfile::tempdir_in(folder).map_err(|e| e.to_string())?.keep();
        let pipeline = runs.join("load.toml");
        let text = case.pipeline_text(&server.address);
        fs::write(&pipeline, text).map_err(|e| e.to_string())?;
        let mut command = Command::new(planforge);
        command.arg("run").arg(&pipeline).arg("--suite").arg(&suite).arg("--runs").arg(runs.join("runs"));
        case.run_planforge(command)?;
        let (_, counted) = server.stop()?;
        let numbers: Vec<f64> = counted.split(' ').filter_map(|number| number.parse().ok()).collect();
        let [admitted, refused] = numbers[..] else { return Err(format!("the server's counts: {counted}")) };
        println!(
            "| {rate} | {jobs} | {} | {:.1} % | {:.1} % |",
            args.seconds,
            100.0 * admitted / (rate * args.seconds),
            100.0 * refused / (admitted + refused)
        );
    }
    Ok(())
}

struct Case<'a> {
    planforge: &'a Path,
    folder: &'a Path,
    suite: &'a Path,
    tasks: usize,
    samples: u32,
    jobs: u32,
    interface: Interface,
    args: &'a LoadArgs,
}

impl Case<'_> {
    fn run(&self) -> Result<(), String> {
        let server = Server::start(self.args.delay_ms, None)?;
        // Kept until the end: where many files were just deleted, making new ones is slow.
        let runs = tempfile::tempdir_in(self.folder).map_err(|e| e.to_string())?.keep();
        let pipeline = runs.join("load.toml");
        let text = self.pipeline_text(&server.address);
        fs::write(&pipeline, text).map_err(|e| e.to_string())?;
        let out = runs.join("runs");
        let mut command = Command::new(self.planforge);
        command.arg("run").arg(&pipeline).arg("--suite").arg(self.suite).arg("--runs").arg(&out);
        let cost = self.run_planforge(command)?;
        let calls = self.tasks as u64 * u64::from(self.samples);
        let (answered, _) = server.stop()?;
        if answered != calls {
            return Err(format!("{answered} requests, and {calls} questions"));
        }
        let mut made = fs::read_dir(&out).map_err(|e| e.to_string())?;
        let run = made.next().ok_or("there is no run folder")?.map_err(|e| e.to_string())?.path();
        self.row("run", cost, &run)?;
        self.peers(&runs)?;
        if self.args.again {
            for (name, word) in [("resume", "--resume"), ("replay", "")] {
                let mut command = Command::new(self.planforge);
                match word {
                    "" => command.arg("replay").arg(&run),
                    word => command.arg("run").arg(word).arg(&run),
                };
                let cost = self.run_planforge(command)?;
                self.row(name, cost, &run)?;
            }
        }
        Ok(())
    }

    fn peers(&self, folder: &Path) -> Result<(), String> {
        let Self { interface, tasks, samples, jobs, .. } = *self;
        let peers = [("inspect_ai", &self.args.inspect), ("promptfoo", &self.args.promptfoo)];
        for (name, place) in peers {
            let Some(place) = place else { continue };
            let place = absolute(place)?;
            let server = Server::start(self.args.delay_ms, None)?;
            let load = PeerLoad { folder, address: &server.address, interface, tasks, samples, jobs };
            let command = match name {
                "inspect_ai" => peers::inspect(&place, load),
                _ => peers::promptfoo(&place, load),
            };
            let (cost, status) =
                run_measured(&mut command.map_err(|e| e.to_string())?).map_err(|e| e.to_string())?;
            let (calls, _) = server.stop()?;
            if !status.success() || calls != tasks as u64 * u64::from(samples) {
                return Err(format!("{name} ended with {status} after {calls} requests"));
            }
            let left = folder.join(if name == "inspect_ai" { "inspect-logs" } else { "promptfoo-state" });
            self.row(name, cost, &left)?;
        }
        Ok(())
    }

    fn run_planforge(&self, mut command: Command) -> Result<Cost, String> {
        command.args(["--json", "--jobs", &self.jobs.to_string()]).env("LOAD_TEST_KEY", "sk-load-0123456789");
        let (cost, status) = run_measured(&mut command).map_err(|e| e.to_string())?;
        if status.success() { Ok(cost) } else { Err(format!("planforge ended with {status}")) }
    }

    fn pipeline_text(&self, address: &str) -> String {
        let Self { samples, jobs, interface, .. } = *self;
        let ask = format!(
            "schema = 1\n[given]\ndomain = true\n[llm.main]\n{}model = \"load\"\napi_key_env = \"LOAD_TEST_KEY\"\nn_per_request = 1\n\
             max_concurrency = {jobs}\n[environment]\nuse = \"environment-pddl\"\n[[stage]]\ndo = \"translate\"\nlabel = \"problem\"\n\
             use = \"translator-direct\"\nn = {samples}\nroles = {{ writer = \"main\" }}\noptions = {{ mode = \"problem\" }}\n",
            interface.table(address)
        );
        let judge = "[[stage]]\ndo = \"verify\"\nlabel = \"pddl\"\nuse = \"verifier-val\"\noptions = { what = \"pddl\" }\n\
            [[stage]]\ndo = \"plan\"\nlabel = \"plan\"\nuse = \"planner-classical\"\n\
            [[stage]]\ndo = \"verify\"\nlabel = \"environment\"\nuse = \"verifier-val\"\noptions = { what = \"plan\", against = \"environment\" }\n";
        match self.args.work {
            ReplyProcessing::Ask => ask,
            ReplyProcessing::Whole => ask + judge,
        }
    }

    fn row(&self, what: &str, cost: Cost, run: &Path) -> Result<(), String> {
        let calls = self.tasks as f64 * f64::from(self.samples);
        let Self { tasks, samples, jobs, .. } = self;
        println!(
            "| {} | {tasks} | {samples} | {jobs} | {what} | {:.1} | {:.0} | {:.2} | {:.0} | {:.0} |",
            self.interface.name(),
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
    /// `127.0.0.1:PORT`.
    pub(crate) address: String,
}

impl Server {
    /// Starts it. `admit`: requests admitted a second, and the seconds in which they are counted.
    pub(crate) fn start(delay_ms: u64, admit: Option<(f64, f64)>) -> Result<Self, String> {
        let own = std::env::current_exe().map_err(|e| e.to_string())?;
        let mut command = Command::new(own);
        command.args(["load-server", "--delay-ms", &delay_ms.to_string()]);
        if let Some((rate, seconds)) = admit {
            command.args(["--admit", &rate.to_string(), "--seconds", &seconds.to_string()]);
        }
        let mut process =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(|e| e.to_string())?;
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

    /// Ends it. Returns the number of requests that it answered, and its line of counts with `--admit`.
    pub(crate) fn stop(mut self) -> Result<(u64, String), String> {
        drop(self.process.stdin.take());
        let count = self.line()?.parse().map_err(|e| format!("the server's count: {e}"))?;
        let counted = self.line()?;
        self.process.wait().map_err(|e| e.to_string())?;
        Ok((count, counted))
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
