//! Starting the binary, and the scripted replies that several modules share.

use planforge_testkit::{Scripted, ScriptedRequest, ScriptedServer, table};
use serde_json::Value;
use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Only stops a test that hangs; no test measures wall time.
const PATIENCE: Duration = Duration::from_secs(300);

/// The folder of the checkout.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").canonicalize().unwrap()
}

/// A shipped pipeline file.
pub(crate) fn pipeline(name: &str) -> PathBuf {
    root().join("configs/pipelines").join(name)
}

/// An example task or, with an empty stem, its suite.
pub(crate) fn example(suite: &str, stem: &str) -> PathBuf {
    root().join("examples/suites").join(suite).join(stem)
}

/// The text of a file of an example suite.
pub(crate) fn example_text(suite: &str, file: &str) -> String {
    std::fs::read_to_string(example(suite, file)).unwrap()
}

/// The binary without the environment variables of the person who runs the tests.
pub(crate) fn planforge() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_planforge"));
    for variable in
        ["PLANFORGE_PLUGINS", "NO_COLOR", "COLUMNS", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"]
    {
        command.env_remove(variable);
    }
    let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
    command.env("XDG_CACHE_HOME", temporary.join("cache")).env("XDG_CONFIG_HOME", temporary.join("config"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The output and exit code of a process.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) exit: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// Waits for the end. Neither a panic nor a signal nor a hang is ever right.
    pub(crate) fn wait(mut child: Child) -> Self {
        let reader = |mut pipe: Box<dyn Read + Send>| {
            std::thread::spawn(move || {
                let mut bytes = Vec::new();
                pipe.read_to_end(&mut bytes).unwrap();
                String::from_utf8(bytes).expect("planforge prints UTF-8")
            })
        };
        let stdout = reader(Box::new(child.stdout.take().unwrap()));
        let stderr = reader(Box::new(child.stderr.take().unwrap()));
        let started = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if started.elapsed() > PATIENCE {
                child.kill().unwrap();
                panic!("hangs: {}\n{}", stdout.join().unwrap(), stderr.join().unwrap());
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let (stdout, stderr) = (stdout.join().unwrap(), stderr.join().unwrap());
        let exit = status.code().unwrap_or_else(|| panic!("ended by a signal: {status}\n{stderr}"));
        assert!(exit != 39 && exit != 101 && !stderr.contains("panicked"), "a panic ({exit}):\n{stderr}");
        Self { exit, stdout, stderr }
    }

    /// The result as JSON; the exit code must be the expected one.
    pub(crate) fn json(&self, exit: i32) -> Value {
        self.expect(exit);
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("no JSON: {e}\n{}", self.stdout))
    }

    /// The exit code must be that one.
    pub(crate) fn expect(&self, exit: i32) -> &Self {
        assert_eq!(self.exit, exit, "\n--- stdout\n{}\n--- stderr\n{}", self.stdout, self.stderr);
        self
    }

    /// Asserts that standard error contains all of these.
    pub(crate) fn says(&self, words: &[&str]) -> &Self {
        for word in words {
            assert!(self.stderr.contains(word), "`{word}` is missing:\n{}", self.stderr);
        }
        self
    }
}

/// Runs it to its end.
pub(crate) fn ran<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Ran {
    Ran::wait(planforge().args(args).spawn().unwrap())
}

/// Sends a signal to a process that a test started.
pub(crate) fn signal(child: &Child, name: &str) {
    let status = Command::new("sh").arg("-c").arg(format!("kill -{name} {}", child.id())).status().unwrap();
    assert!(status.success());
}

/// Waits until a condition holds, and gives up after a long time.
pub(crate) fn wait_for_condition(what: &str, mut condition: impl FnMut() -> bool) {
    let started = Instant::now();
    while !condition() {
        if started.elapsed() > PATIENCE {
            panic!("gave up waiting for {what}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until a condition of a running process holds.
pub(crate) fn wait_until(child: &mut Child, what: &str, condition: impl Fn(&Child) -> bool) {
    wait_for_condition(what, || {
        let holds = condition(child);
        assert!(holds || child.try_wait().unwrap().is_none(), "ended before {what}");
        holds
    });
}

/// Waits until the server has got so many requests.
pub(crate) fn wait_for(server: &ScriptedServer, requests: usize, child: &mut Child) {
    wait_until(child, &format!("{requests} requests"), |_| server.count() >= requests);
}

/// Waits until the process has a handler for Ctrl-C.
pub(crate) fn wait_until_interruptible(child: &mut Child) {
    wait_until(child, "signal handler", |child| {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        caught.is_some_and(|mask| u64::from_str_radix(mask.trim(), 16).unwrap() & 0b10 != 0)
    });
}

/// A `planforge run` of a shipped pipeline, to be completed.
pub(crate) struct Run {
    command: Command,
    pub(crate) runs: tempfile::TempDir,
}

impl Run {
    /// A run against that endpoint into a temporary folder, with one attempt for each request.
    pub(crate) fn new(pipeline_name: &str, base_url: &str) -> Self {
        let runs = tempfile::tempdir().unwrap();
        let mut command = planforge();
        command.arg("run").arg(pipeline(pipeline_name)).arg("--runs").arg(runs.path().join("runs"));
        Self { command, runs }.set("llm.main.base_url", base_url).set("llm.main.max_attempts", "1")
    }

    /// A run with the given command, into that folder.
    pub(crate) fn of(command: Command, runs: tempfile::TempDir) -> Self {
        Self { command, runs }
    }

    pub(crate) fn set(self, key: &str, value: &str) -> Self {
        self.arg("--set").arg(format!("{key}={value}"))
    }

    pub(crate) fn task(self, suite: &str, stem: &str) -> Self {
        self.arg("--task").arg(example(suite, stem))
    }

    pub(crate) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.command.arg(arg);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    pub(crate) fn spawn(&mut self) -> Child {
        self.command.spawn().unwrap()
    }

    pub(crate) fn go(&mut self) -> Ran {
        Ran::wait(self.spawn())
    }

    /// The run folders that were made.
    pub(crate) fn folders(&self) -> Vec<PathBuf> {
        let Ok(entries) = std::fs::read_dir(self.runs.path().join("runs")) else { return Vec::new() };
        let mut folders: Vec<_> = entries.map(|e| e.unwrap().path()).collect();
        folders.sort();
        folders
    }

    /// The one run folder.
    pub(crate) fn folder(&self) -> PathBuf {
        let folders = self.folders();
        assert_eq!(folders.len(), 1, "{folders:?}");
        folders[0].clone()
    }
}

/// Every file below a folder.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

/// The events of a kind in a run's journal, in order.
pub(crate) fn events(run: &Path, kind: &str) -> Vec<Value> {
    let mut files = files(&run.join("events"));
    files.sort();
    let lines: Vec<String> = files.iter().map(|f| std::fs::read_to_string(f).unwrap()).collect();
    let events =
        lines.iter().flat_map(|text| text.lines()).filter_map(|l| serde_json::from_str::<Value>(l).ok());
    events.filter(|event| event["event"] == kind).collect()
}

/// The assessments of a stage, in the order in which they were made.
pub(crate) fn assessments(run: &Path, stage: &str) -> Vec<Value> {
    let of_stage = events(run, "assessed").into_iter().filter(|event| event["stage"] == stage);
    of_stage.map(|event| blob(run, event["assessment"].as_str().unwrap())).collect()
}

/// The JSON blob of a run with this id.
pub(crate) fn blob(run: &Path, id: &str) -> Value {
    let path = files(&run.join("blobs"))
        .into_iter()
        .find(|f| f.file_name().is_some_and(|n| n.to_string_lossy().starts_with(id)));
    serde_json::from_slice(&std::fs::read(path.unwrap()).unwrap()).unwrap()
}

/// The verdict of the n-th task of a report.
pub(crate) fn verdict(report: &Value, task: usize) -> &str {
    report["tasks"][task]["verdict"]["verdict"].as_str().unwrap_or("none")
}

/// PDDL as a model wraps it.
pub(crate) fn fenced(pddl: &str) -> String {
    format!("Here is the problem:\n\n```pddl\n{pddl}\n```\n")
}

/// The right reply for the parcels task in the request.
pub(crate) fn right_reply(request: &ScriptedRequest) -> Scripted {
    let question = request.question();
    for stem in ["p01", "p02", "p03", "p04"] {
        if question.contains(example_text("parcels", &format!("{stem}.nl")).trim()) {
            return Scripted::replies(&[&fenced(&example_text("parcels", &format!("{stem}.pddl")))]);
        }
    }
    Scripted::error(400, "scripted", "the script does not know this task")
}

/// A server that always answers with that text.
pub(crate) fn saying(text: &str) -> ScriptedServer {
    let text = text.to_owned();
    ScriptedServer::matching(move |_| Scripted::replies(&[&text])).unwrap()
}

/// The (n*n - 1)-puzzle with its tiles in reverse order: no planner proves a shortest plan for n = 5 in a moment.
pub(crate) fn sliding_puzzle(n: usize) -> (String, String) {
    let domain = "(define (domain sliding)
  (:requirements :strips :typing)
  (:types tile cell)
  (:predicates (on ?t - tile ?c - cell) (blank ?c - cell) (beside ?a ?b - cell))
  (:action slide
    :parameters (?t - tile ?from ?to - cell)
    :precondition (and (on ?t ?from) (blank ?to) (beside ?from ?to))
    :effect (and (on ?t ?to) (blank ?from) (not (on ?t ?from)) (not (blank ?to)))))
";
    let cell = |x: usize, y: usize| format!("c{x}-{y}");
    let cells: Vec<String> = (0..n * n).map(|i| cell(i % n, i / n)).collect();
    let tiles: Vec<String> = (1..n * n).map(|i| format!("t{i}")).collect();
    let mut init = format!("(blank {})", cells[0]);
    for y in 0..n {
        for x in 0..n {
            for (x2, y2) in [(x + 1, y), (x, y + 1)] {
                if x2 < n && y2 < n {
                    let (a, b) = (cell(x, y), cell(x2, y2));
                    init.push_str(&format!(" (beside {a} {b}) (beside {b} {a})"));
                }
            }
        }
    }
    let mut goal = String::new();
    for (i, tile) in tiles.iter().enumerate() {
        init.push_str(&format!(" (on {tile} {})", cells[n * n - 1 - i]));
        goal.push_str(&format!(" (on {tile} {})", cells[i + 1]));
    }
    let problem = format!(
        "(define (problem reversed) (:domain sliding) (:objects {} - tile {} - cell) (:init {init}) (:goal (and{goal})))",
        tiles.join(" "),
        cells.join(" ")
    );
    (domain.to_owned(), problem)
}

/// A shipped pipeline whose models are the simulated one, which holds these suites and has these options.
pub(crate) fn simulated(folder: &Path, name: &str, suites: &[PathBuf], options: &str) -> PathBuf {
    let text = std::fs::read_to_string(pipeline(&format!("{name}.toml"))).unwrap();
    // Its paths are relative to where it was.
    let text = text.replace("../../examples/suites", &example("", "").display().to_string());
    let (before, rest) = text.split_once("[llm.main]\n").unwrap();
    let (_, after) = rest.split_once("\n[").unwrap();
    let suites: Vec<String> = suites.iter().map(|s| format!("{:?}", s.display().to_string())).collect();
    let model = format!(
        "[llm.main]\nuse = \"provider-noisy-oracle\"\nmodel = \"noisy-oracle\"\nsuites = [{}]\n{options}\n",
        suites.join(", ")
    );
    let file = folder.join(format!("{name}.toml"));
    std::fs::write(&file, format!("{before}{model}\n[{after}")).unwrap();
    file
}

/// A pipeline whose simulated model holds the garden and parcels suites. `head` is the [given] part.
pub(crate) fn noisy_oracle(errors: u32, head: &str, stages: &str) -> String {
    let suites = ["garden", "parcels"].map(|suite| format!("{:?}", example(suite, "").display().to_string()));
    let model = table!("llm.main" use = "provider-noisy-oracle" model = "noisy-oracle");
    let environment = table!("environment" use = "environment-pddl");
    let suites = suites.join(", ");
    format!("schema = 1\n{head}{model}suites = [{suites}]\nerrors = {errors}\n{environment}{stages}")
}
