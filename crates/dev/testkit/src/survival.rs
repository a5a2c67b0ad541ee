//! Evaluations that are killed at random moments. Their files must equal those of an uninterrupted
//! evaluation, for at most as many requests plus those in flight at each kill.

use crate::canned::{CannedModel, mix};
use crate::scripted::ScriptedServer;
use crate::{model, planned_and_validated, round, stage, table, toml};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

/// Problems under the given domain.
const GIVEN: &str = concat!(
    toml!(schema = 1),
    table!("given" domain = true),
    model!(main "canned" base_url = "BASE_URL" max_concurrency = 4),
    table!("environment" use = "environment-pddl"),
    stage!(translate "problem" use = "translator-direct" n = 2 roles = { writer = "main" } options = { mode = "problem" }),
    stage!(verify "pddl" use = "verifier-val" options = { what = "pddl" }),
    planned_and_validated!(),
);

/// Problem and domain, two domains a round, two rounds, measured by walks.
const REFINED: &str = concat!(
    toml!(schema = 1 feedback = "environment"),
    table!("given" interface = true objects = true),
    model!(main "canned" base_url = "BASE_URL" max_concurrency = 4),
    table!("environment" use = "environment-pddl"),
    stage!(translate "problem" use = "translator-direct" roles = { writer = "main" } options = { mode = "problem" }),
    stage!(refine "refine" rounds = 2 by = "ew.rating"),
    round!(translate "edit" use = "translator-edit" n = 2 roles = { writer = "main" } feedback = ["edit", "ew"]),
    round!(verify "ew" use = "verifier-ew"),
    planned_and_validated!(),
);

/// The most requests at the same time: `max_concurrency` of the pipelines above.
pub(crate) const SIDE_BY_SIDE: usize = 4;

/// A process that does not end in this time hangs.
const PATIENCE: Duration = Duration::from_secs(300);

/// The moment of a kill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Moment {
    /// So many milliseconds after its start.
    After(u64),
    /// As soon as the process has sent so many requests and one of them is not answered.
    WhileAsking(usize),
    /// As soon as a run folder is being made.
    MakingFolder,
    /// As soon as a cell is finished and its report is written.
    FinishedCell,
    /// As soon as the first table is written.
    WritingTables,
}

/// The circumstances of one kill.
#[derive(Debug, Clone)]
pub struct Kill {
    pub moment: Moment,
    /// Age of the process.
    pub age: Duration,
    /// Requests that the server was working on.
    pub at_server: usize,
    /// Requests that were sent and whose answers are in no journal: the calls in flight.
    pub in_flight: usize,
}

/// The outcome of one evaluation that was killed until it was done.
#[derive(Debug, Clone)]
pub struct Survivor {
    /// Its kills, in order.
    pub kills: Vec<Kill>,
    /// All requests that were sent for it.
    pub requests: usize,
    /// Number of requests of an uninterrupted evaluation.
    pub uninterrupted: usize,
    /// Deviations from the expected outcome.
    pub violations: Vec<String>,
}

/// The experiment: what is evaluated, and with which binary.
#[derive(Debug)]
pub struct Survival<'a> {
    pub planforge: &'a Path,
    /// The folder with the example suites.
    pub suites: &'a Path,
    /// The runs' seeds, such as `1,2`.
    pub seeds: &'a str,
    /// At most so many tasks of each suite.
    pub tasks: usize,
    /// Kills of one evaluation, at most.
    pub most_kills: usize,
}

/// The result of an uninterrupted evaluation.
pub(crate) struct Whole {
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    pub(crate) requests: usize,
    time: Duration,
}

impl Survival<'_> {
    /// Kills evaluations until there were so many kills, and gives each to `tell` once it is done.
    ///
    /// # Errors
    /// The experiment itself cannot be made: the binary does not start, or the uninterrupted evaluation fails.
    pub fn run(&self, kills: usize, seed: u64, mut tell: impl FnMut(&Survivor)) -> io::Result<()> {
        let scratch = tempfile::tempdir()?;
        let model = CannedModel::new(self.suites, 40)?;
        let server = ScriptedServer::matching(move |request| model.answer(request))?;
        write_pipelines(scratch.path(), &server)?;
        let whole = self.whole(scratch.path(), &server)?;
        let mut done = 0;
        let mut random = seed;
        for number in 0.. {
            if done >= kills {
                break;
            }
            let most = self.most_kills.min(kills - done);
            let out = scratch.path().join(format!("killed-{number}"));
            let survivor = self.run_until_killed(&out, &server, &whole, most, &mut random)?;
            done += survivor.kills.len();
            tell(&survivor);
            fs::remove_dir_all(&out)?;
        }
        Ok(())
    }

    pub(crate) fn command(&self, out: &Path, pipelines: &Path) -> Command {
        let mut command = Command::new(self.planforge);
        command.arg("evaluate").arg("--out").arg(out).args(["--jobs", "4"]);
        if out.join("matrix.json").exists() {
            command.arg("--resume");
        } else {
            for suite in crate::canned::SUITES {
                command.arg("--suite").arg(self.suites.join(suite));
            }
            for pipeline in ["given.toml", "refined.toml"] {
                command.arg("--pipeline").arg(pipelines.join(pipeline));
            }
            command.args(["--seeds", self.seeds, "--tasks", &self.tasks.to_string()]);
        }
        let log = pipelines.join("stderr");
        let log = fs::OpenOptions::new().create(true).append(true).open(log);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log.map_or_else(|_| Stdio::null(), Stdio::from));
        command
    }

    /// Runs it to its end. The answer is its exit code.
    pub(crate) fn to_the_end(&self, out: &Path, pipelines: &Path) -> io::Result<i32> {
        let mut child = self.command(out, pipelines).spawn()?;
        let started = Instant::now();
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(status.code().unwrap_or(-1));
            }
            if started.elapsed() > PATIENCE {
                child.kill()?;
                child.wait()?;
                return Err(io::Error::other("planforge hangs"));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub(crate) fn whole(&self, scratch: &Path, server: &ScriptedServer) -> io::Result<Whole> {
        let out = scratch.join("whole");
        let before = server.count();
        let started = Instant::now();
        let exit = self.to_the_end(&out, scratch)?;
        if exit != 0 {
            let errors = fs::read_to_string(scratch.join("stderr")).unwrap_or_default();
            return Err(io::Error::other(format!(
                "the uninterrupted evaluation ends with {exit}:\n{errors}"
            )));
        }
        let (time, requests) = (started.elapsed(), server.count() - before);
        let recorded = completions(&out)?;
        if recorded != requests {
            return Err(io::Error::other(format!("{requests} requests, and {recorded} of them recorded")));
        }
        Ok(Whole { files: results(&out)?, requests, time })
    }

    /// One evaluation, killed until it is done or was killed often enough, and then run to its end.
    fn run_until_killed(
        &self,
        out: &Path,
        server: &ScriptedServer,
        whole: &Whole,
        most: usize,
        random: &mut u64,
    ) -> io::Result<Survivor> {
        let scratch = out.parent().unwrap_or(Path::new(""));
        let before = server.count();
        let mut survivor = Survivor {
            kills: Vec::new(),
            requests: 0,
            uninterrupted: whole.requests,
            violations: Vec::new(),
        };
        let mut lost = 0;
        while survivor.kills.len() < most {
            *random = random.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let moment = moment(mix(*random), whole.time);
            let mut child = self.command(out, scratch).spawn()?;
            let Some((age, at_server)) = kill_at(&mut child, moment, out, server)? else { break };
            let in_flight = (server.count() - before).saturating_sub(completions(out)? + lost);
            lost += in_flight;
            if in_flight > SIDE_BY_SIDE {
                survivor
                    .violations
                    .push(format!("{in_flight} calls in flight, at most {SIDE_BY_SIDE} are side by side"));
            }
            survivor.kills.push(Kill { moment, age, at_server, in_flight });
        }
        let exit = self.to_the_end(out, scratch)?;
        if exit != 0 {
            let errors = fs::read_to_string(scratch.join("stderr")).unwrap_or_default();
            survivor.violations.push(format!("exit {exit}: {errors}"));
        }
        survivor.requests = server.count() - before;
        if survivor.requests > whole.requests + lost {
            let more = survivor.requests - whole.requests;
            survivor.violations.push(format!("{more} requests too many, and {lost} calls were in flight"));
        }
        let recorded = completions(out)?;
        if recorded != whole.requests {
            survivor.violations.push(format!("{recorded} answers recorded, not {}", whole.requests));
        }
        survivor.violations.extend(differences(&whole.files, &results(out)?));
        Ok(survivor)
    }
}

/// Writes the pipelines' files.
pub(crate) fn write_pipelines(folder: &Path, server: &ScriptedServer) -> io::Result<()> {
    for (name, text) in [("given.toml", GIVEN), ("refined.toml", REFINED)] {
        fs::write(folder.join(name), text.replace("BASE_URL", &server.base_url()))?;
    }
    Ok(())
}

/// Half of them while requests are in flight or at a named moment, the others anywhere in the time that the whole takes.
fn moment(draw: u64, whole: Duration) -> Moment {
    match draw % 9 {
        0 => Moment::MakingFolder,
        1 => Moment::FinishedCell,
        2 => Moment::WritingTables,
        3 | 4 => Moment::WhileAsking((draw >> 8) as usize % 16 + 1),
        _ => Moment::After((draw >> 8) % u64::try_from(whole.as_millis()).unwrap_or(u64::MAX).max(1)),
    }
}

/// Kills a process at its moment; nothing where it ended before. Gives its age and the requests that the server was working on.
fn kill_at(
    child: &mut Child,
    moment: Moment,
    out: &Path,
    server: &ScriptedServer,
) -> io::Result<Option<(Duration, usize)>> {
    let reports = count_files(&out.join("cells"), "report.json")?;
    let (started, start, before) = (Instant::now(), SystemTime::now(), server.count());
    loop {
        if child.try_wait()?.is_some() {
            return Ok(None);
        }
        let now = match moment {
            Moment::WhileAsking(requests) => server.count() - before >= requests && server.in_flight() > 0,
            Moment::After(ms) => started.elapsed() >= Duration::from_millis(ms),
            Moment::MakingFolder => is_making(&out.join("cells"))?,
            Moment::FinishedCell => count_files(&out.join("cells"), "report.json")? > reports,
            Moment::WritingTables => tables_since(out, start),
        };
        if now {
            // SIGKILL: no handler, no destructor, nothing is flushed.
            child.kill()?;
            let at_server = server.in_flight();
            let age = started.elapsed();
            child.wait()?;
            // A request whose bytes were sent before the kill may still be on its way to the server's counter.
            std::thread::sleep(Duration::from_millis(30));
            return Ok(Some((age, at_server)));
        }
        if started.elapsed() > PATIENCE {
            child.kill()?;
            return Err(io::Error::other("planforge hangs"));
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// True if a table was written after `start`.
fn tables_since(out: &Path, start: SystemTime) -> bool {
    let is_new = |entry: &fs::DirEntry| {
        let written = entry.metadata().and_then(|file| file.modified());
        entry.file_name() != "matrix.json" && entry.path().is_file() && written.is_ok_and(|at| at > start)
    };
    fs::read_dir(out).is_ok_and(|entries| entries.filter_map(Result::ok).any(|entry| is_new(&entry)))
}

/// True if a run folder is unfinished and has its temporary name.
fn is_making(cells: &Path) -> io::Result<bool> {
    let mut found = false;
    walk(cells, &mut |path| {
        found |= path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(".making"));
    })?;
    Ok(found)
}

fn count_files(folder: &Path, name: &str) -> io::Result<usize> {
    let mut count = 0;
    walk(folder, &mut |path| count += usize::from(path.file_name().is_some_and(|n| n == name)))?;
    Ok(count)
}

/// Everything below a folder but what runs hold. What goes away meanwhile is not there.
fn walk(folder: &Path, each: &mut impl FnMut(&Path)) -> io::Result<()> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    for entry in entries {
        let path = entry?.path();
        each(&path);
        let inside = ["events", "blobs", "spool"].iter().any(|name| path.ends_with(name));
        if path.is_dir() && !inside {
            walk(&path, each)?;
        }
    }
    Ok(())
}

/// Number of replies in the journals of all cells.
pub(crate) fn completions(out: &Path) -> io::Result<usize> {
    let mut runs: Vec<PathBuf> = Vec::new();
    walk(&out.join("cells"), &mut |path| {
        if path.ends_with("run.json") {
            runs.push(path.with_file_name("events"));
        }
    })?;
    let mut count = 0;
    for folder in runs {
        for entry in fs::read_dir(folder)? {
            let bytes = fs::read(entry?.path())?;
            // A torn last line is no answer.
            let whole = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
            let lines = bytes[..whole].split(|b| *b == b'\n');
            count += lines.filter(|line| line.starts_with(br#"{"event":"completion""#)).count();
        }
    }
    Ok(count)
}

/// Every table, and every cell's report, by its path in the evaluation's folder; stated times are left out.
///
/// # Errors
/// The folder cannot be read.
pub fn results(out: &Path) -> io::Result<BTreeMap<String, Vec<u8>>> {
    let mut files = BTreeMap::new();
    let mut paths = Vec::new();
    walk(out, &mut |path| paths.push(path.to_owned()))?;
    for path in paths {
        let name = path.strip_prefix(out).unwrap_or(&path).display().to_string();
        let hidden = name.split('/').any(|part| part.starts_with('.'));
        // The manifest has the time at which the run began, and the hashes are those of files with times.
        let has_times = name.ends_with("run.json") || name == "SHA256SUMS";
        if path.is_file() && !hidden && !has_times {
            let text = fs::read_to_string(&path)?;
            files.insert(name, without_times(&path, text).into_bytes());
        }
    }
    Ok(files)
}

/// JSON fields with times.
const TIMES: [&str; 2] = ["seconds", "elapsed_ms"];

/// A table without its times. Everything else is compared byte by byte.
fn without_times(path: &Path, text: String) -> String {
    let is = |extension: &str| path.extension().is_some_and(|e| e == extension);
    if is("json") || is("jsonl") {
        let lines: Vec<&str> = if is("json") { vec![text.as_str()] } else { text.lines().collect() };
        let clean = |line: &&str| {
            serde_json::from_str::<Value>(line)
                .map_or_else(|_| (*line).to_owned(), |value| timeless(value).to_string())
        };
        return lines.iter().map(clean).collect::<Vec<_>>().join("\n");
    }
    let header: Vec<&str> = text.lines().next().unwrap_or_default().split(',').collect();
    match header.iter().position(|column| TIMES.contains(column)) {
        // What stands before the times holds no comma: names, numbers and words of ours.
        Some(column) if is("csv") => {
            let without = |line: &str| {
                let cells = line.splitn(column + 2, ',').enumerate().filter(|(number, _)| *number != column);
                cells.map(|(_, cell)| cell).collect::<Vec<_>>().join(",")
            };
            text.lines().map(without).collect::<Vec<_>>().join("\n")
        }
        _ => text,
    }
}

fn timeless(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.into_iter().filter(|(key, _)| !TIMES.contains(&key.as_str()));
            kept.map(|(key, value)| (key, timeless(value))).collect()
        }
        Value::Array(items) => items.into_iter().map(timeless).collect(),
        other => other,
    }
}

/// Names of files that differ between two evaluations.
pub fn differences(whole: &BTreeMap<String, Vec<u8>>, other: &BTreeMap<String, Vec<u8>>) -> Vec<String> {
    let missing =
        whole.keys().filter(|name| !other.contains_key(*name)).map(|name| format!("{name} is missing"));
    let more =
        other.keys().filter(|name| !whole.contains_key(*name)).map(|name| format!("{name} is too much"));
    let differ = whole.iter().filter(|(name, bytes)| other.get(*name).is_some_and(|o| o != *bytes));
    missing.chain(more).chain(differ.map(|(name, _)| format!("{name} differs"))).collect()
}
