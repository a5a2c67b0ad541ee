//! Runs against a server that misbehaves on the request of one task.

mod cases;
mod encoding;

pub use cases::all_misbehaviours;

use crate::scripted::{Scripted, ScriptedRequest, ScriptedServer};
use encoding::key_prefixes;
use planforge_plugin_sdk::testing::ServiceInterface;
use serde_json::Value;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The key that a run has and nothing that it leaves may hold.
pub const KEY: &str = "sk-loopback/0123456789+abcdef\"ghij";

/// The tasks of a run; the second one's question is the one that is answered badly.
const TASKS: [&str; 3] = ["p01", "p02", "p03"];

/// The most requests for one reply.
const ATTEMPTS: usize = 3;

/// The expected outcome of the task with the bad reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// As if nothing had been; so many requests were tried again for a failure of that class.
    Recovers(u32, &'static str),
    /// It fails with this code after so many requests; the last failure has that class (empty if an unusable
    /// reply arrived).
    Fails(&'static str, &'static str, usize),
    /// The answer was good after all.
    Accepted,
}

/// One way to misbehave.
pub struct Misbehaviour {
    /// Description.
    pub name: &'static str,
    pub expected: Expected,
    /// Further settings of the run, `KEY=VALUE`.
    pub set: &'static [&'static str],
    /// The shortest wait before a retry that the run may record, in milliseconds.
    pub waits_ms: u64,
    /// Number of bad replies before the right one.
    times: usize,
    /// The bad replies end only by the client's timeout.
    times_out: bool,
    /// The answer holds the key; then the run's page is made and searched too.
    tells_key: bool,
    answer: Box<AnswerFunction>,
}

/// Makes the reply from the request, the right reply, and the base URL of a server that must not get a
/// request.
type AnswerFunction = dyn Fn(&ScriptedRequest, &str, &str) -> Scripted + Send + Sync;

impl std::fmt::Debug for Misbehaviour {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Misbehaviour").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Misbehaviour {
    fn new(
        name: &'static str,
        expected: Expected,
        answer: impl Fn(&ScriptedRequest, &str, &str) -> Scripted + Send + Sync + 'static,
    ) -> Self {
        let times = match expected {
            Expected::Recovers(times, _) => times as usize,
            Expected::Fails(..) | Expected::Accepted => usize::MAX,
        };
        Self {
            name,
            expected,
            set: &[],
            waits_ms: 0,
            times,
            times_out: false,
            tells_key: false,
            answer: Box::new(answer),
        }
    }
    fn times_out(mut self) -> Self {
        self.times_out = true;
        self
    }
    fn set(mut self, set: &'static [&'static str]) -> Self {
        self.set = set;
        self
    }
    fn waits_ms(mut self, ms: u64) -> Self {
        self.waits_ms = ms;
        self
    }
}

/// Files and settings of an experiment.
#[derive(Debug)]
pub struct Experiment<'a> {
    /// The interface of the server.
    pub interface: ServiceInterface,
    pub planforge: &'a Path,
    pub pipeline: &'a Path,
    pub suite: &'a Path,
    /// Seconds until a request counts as unanswered, where a case is about that. The others wait for minutes.
    pub timeout_s: f64,
}

/// The outcome of a run.
#[derive(Debug, Clone)]
pub struct MisbehaviourOutcome {
    pub exit: i32,
    /// The verdicts of the tasks.
    pub verdicts: Vec<String>,
    /// The code of the failure of the task whose question was answered badly; empty where it did not fail.
    pub code: String,
    /// The classes of the failures that were tried again, in order.
    pub retried: Vec<String>,
    /// The recorded waits before these tries, in milliseconds.
    pub waits_ms: Vec<u64>,
    /// The class of the failure that ended the question; empty where a reply did.
    pub ended: String,
    /// Number of requests.
    pub requests: usize,
    /// Wall time of the run.
    pub time: Duration,
    /// The most memory that the process ever held, in megabytes.
    pub peak_mb: f64,
    /// Deviations from the expected outcome.
    pub violations: Vec<String>,
}

/// Seconds in which a request is answered on any machine.
const PATIENCE_S: f64 = 300.0;

/// Makes a run whose server misbehaves that way.
///
/// # Errors
/// The experiment cannot be made.
pub fn run_misbehaviour(experiment: &Experiment<'_>, case: Misbehaviour) -> io::Result<MisbehaviourOutcome> {
    let tasks: Vec<(String, String)> = TASKS
        .iter()
        .map(|stem| {
            let text = fs::read_to_string(experiment.suite.join(format!("{stem}.nl")))?;
            let problem = fs::read_to_string(experiment.suite.join(format!("{stem}.pddl")))?;
            Ok((text.trim().to_owned(), format!("```pddl\n{problem}\n```\n")))
        })
        .collect::<io::Result<_>>()?;
    let bystander =
        ScriptedServer::matching(|_| Scripted::error(500, "", "this server must not get requests"))?;
    let elsewhere = bystander.base_url();
    let Misbehaviour { expected, waits_ms, set, times, times_out, answer, tells_key, .. } = case;
    let timeout_s = if times_out { experiment.timeout_s } else { PATIENCE_S };
    let interface = experiment.interface;
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&asked);
    let server = ScriptedServer::matching(move |request| {
        let question = interface.question(request);
        let task = tasks.iter().position(|(text, _)| question.contains(text.as_str()));
        let Some((task, (_, right))) = task.and_then(|task| Some((task, tasks.get(task)?))) else {
            return Scripted::error(400, "scripted", "the script does not know this task");
        };
        if task == 1 && counter.fetch_add(1, Ordering::SeqCst) < times {
            return answer(request, right, &elsewhere);
        }
        interface.text(right)
    })?;
    let scratch = tempfile::tempdir()?;
    let started = Instant::now();
    let ended = run_planforge(experiment, &server.base_url(), timeout_s, set, scratch.path())?;
    let time = started.elapsed();
    let mut found = read_outcome(&ended, scratch.path())?;
    (found.requests, found.time) = (asked.load(Ordering::SeqCst), time);
    if bystander.count() > 0 {
        found.violations.push("another host got a request".to_owned());
    }
    if let Some(waited) = found.waits_ms.iter().find(|waited| **waited < waits_ms) {
        found.violations.push(format!("a retry waited {waited} ms, not at least {waits_ms} ms"));
    }
    found.check_against(expected);
    if tells_key {
        report_page(experiment, scratch.path())?;
    }
    found.violations.extend(find_leaks(scratch.path())?);
    Ok(found)
}

/// Exit code and peak memory of the process.
struct ProcessEnd {
    exit: i32,
    peak_mb: f64,
}

/// Runs `planforge`. Standard output and standard error go to files next to the run.
fn run_planforge(
    experiment: &Experiment<'_>,
    base_url: &str,
    timeout_s: f64,
    set: &[&str],
    scratch: &Path,
) -> io::Result<ProcessEnd> {
    let mut command = Command::new(experiment.planforge);
    command
        .arg("run")
        .arg(experiment.pipeline)
        .arg("--runs")
        .arg(scratch.join("runs"))
        .args(["--json", "--jobs", "1"]);
    for stem in TASKS {
        command.arg("--task").arg(experiment.suite.join(stem));
    }
    let (provider, further): (&str, &[&str]) = match experiment.interface {
        ServiceInterface::ChatCompletions => ("provider-openai", &[]),
        ServiceInterface::Responses => ("provider-openai", &["interface=responses"]),
        ServiceInterface::Messages => ("provider-anthropic", &[]),
        ServiceInterface::GenerateContent => ("provider-gemini", &[]),
    };
    let settings = [
        format!("use={provider}"),
        format!("base_url={base_url}"),
        "api_key_env=LOOPBACK_KEY".to_owned(),
        format!("max_attempts={ATTEMPTS}"),
        "backoff_ms=20".to_owned(),
        "max_backoff_ms=5000".to_owned(),
        format!("timeout_s={timeout_s}"),
    ];
    for setting in settings.into_iter().chain(further.iter().map(|setting| (*setting).to_owned())) {
        command.arg("--set").arg(format!("llm.main.{setting}"));
    }
    for setting in set {
        command.arg("--set").arg(setting);
    }
    let file = |name: &str| fs::File::create(scratch.join(name));
    command.env("LOOPBACK_KEY", KEY).stdin(Stdio::null()).stdout(file("stdout")?).stderr(file("stderr")?);
    let mut child = command.spawn()?;
    let mut peak_mb = 0.0;
    loop {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kb = peak.and_then(|kb| kb.split_whitespace().next()?.parse::<f64>().ok());
        peak_mb = kb.map_or(peak_mb, |kb| kb / 1024.0);
        if let Some(status) = child.try_wait()? {
            return Ok(ProcessEnd { exit: status.code().unwrap_or(-1), peak_mb });
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Reads the output and the journal of the run.
fn read_outcome(ended: &ProcessEnd, scratch: &Path) -> io::Result<MisbehaviourOutcome> {
    let stdout = fs::read_to_string(scratch.join("stdout"))?;
    let report: Value = serde_json::from_str(&stdout).unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let tasks = report["tasks"].as_array().cloned().unwrap_or_default();
    let mut found = MisbehaviourOutcome {
        exit: ended.exit,
        verdicts: tasks.iter().map(|task| text(&task["verdict"]["verdict"])).collect(),
        code: text(&report["tasks"][1]["verdict"]["failure"]["code"]),
        retried: Vec::new(),
        waits_ms: Vec::new(),
        ended: String::new(),
        requests: 0,
        time: Duration::ZERO,
        peak_mb: ended.peak_mb,
        violations: Vec::new(),
    };
    for file in files(&scratch.join("runs"))? {
        if file.extension().is_some_and(|e| e == "jsonl") {
            for line in fs::read_to_string(file)?.lines() {
                let event: Value = serde_json::from_str(line).unwrap_or_default();
                if !text(&event["path"]).contains(".p02") {
                    continue;
                }
                match event["event"].as_str() {
                    Some("retry") => {
                        found.retried.push(text(&event["failure"]["class"]));
                        found.waits_ms.extend(event["wait_ms"].as_u64());
                    }
                    Some("completion") => found.ended = text(&event["failure"]["class"]),
                    _ => {}
                }
            }
        }
    }
    Ok(found)
}

impl MisbehaviourOutcome {
    fn check_against(&mut self, expected: Expected) {
        let others_accepted =
            [0, 2].iter().all(|task| self.verdicts.get(*task).is_some_and(|v| v == "accepted"));
        if !others_accepted {
            self.violations.push(format!("the other tasks were affected: {:?}", self.verdicts));
        }
        let own = self.verdicts.get(1).map_or("", String::as_str);
        let (exit, verdict, code, ended, requests) = match expected {
            Expected::Recovers(times, _) => (0, "accepted", "", "", times as usize + 1),
            Expected::Accepted => (0, "accepted", "", "", 1),
            Expected::Fails(code, class, requests) if code.starts_with("reply.") => {
                (11, "unusable", code, class, requests)
            }
            Expected::Fails(code, class, requests) => (34, "failed", code, class, requests),
        };
        let retried: Vec<&str> = match expected {
            Expected::Recovers(times, class) => vec![class; times as usize],
            Expected::Fails(_, class, requests) => vec![class; requests - 1],
            Expected::Accepted => Vec::new(),
        };
        let wanted = (exit, verdict, code, ended, requests, &retried);
        let retried: Vec<&str> = self.retried.iter().map(String::as_str).collect();
        let is = (self.exit, own, self.code.as_str(), self.ended.as_str(), self.requests, &retried);
        if is != wanted {
            self.violations.push(format!("{is:?}, not {wanted:?}"));
        }
    }
}

/// The run as a page, which must not hold the key either.
fn report_page(experiment: &Experiment<'_>, scratch: &Path) -> io::Result<()> {
    for run in fs::read_dir(scratch.join("runs"))? {
        let status = Command::new(experiment.planforge)
            .arg("report")
            .arg(run?.path())
            .arg("--out")
            .arg(scratch.join("report.html"))
            .stdin(Stdio::null())
            .stdout(fs::File::create(scratch.join("report.stdout"))?)
            .stderr(fs::File::create(scratch.join("report.stderr"))?)
            .status()?;
        if !status.success() {
            return Err(io::Error::other(format!("planforge report: {status}")));
        }
    }
    Ok(())
}

/// Every file that contains a form of the key.
fn find_leaks(folder: &Path) -> io::Result<Vec<String>> {
    let forms = key_prefixes();
    let mut found = Vec::new();
    let files = files(folder)?;
    if files.len() < 5 {
        found.push(format!("only {} files were searched", files.len()));
    }
    for file in files {
        let bytes = fs::read(&file)?;
        let text = String::from_utf8_lossy(&bytes);
        for form in forms.iter().filter(|form| text.contains(form.as_str())) {
            found.push(format!("{} holds the key: {form}...", file.display()));
        }
    }
    Ok(found)
}

fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { files.extend(self::files(&path)?) } else { files.push(path) }
    }
    Ok(files)
}
