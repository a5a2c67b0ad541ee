//! Cost of a report of many candidates: a run of the real runner with a simulated model, its report in a
//! separate process, and that report in a headless browser.

use crate::browser::{Browser, BrowserPrograms};
use crate::paths::absolute;
use crate::process::{Cost, run_measured};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(clap::Args)]
pub(crate) struct ReportArgs {
    #[arg(long, default_value = "target/release/planforge")]
    planforge: PathBuf,
    /// The suite whose first task is worked on.
    #[arg(long, default_value = "examples/suites/blocks")]
    suite: PathBuf,
    /// Number of candidates, in thousands: a thousand samples, each refined in as many rounds as needed.
    #[arg(long, default_value_t = 10)]
    thousands: u32,
    /// A run that is there already, instead of a new one.
    #[arg(long)]
    run: Option<PathBuf>,
    /// Folder for the run and the report; by default a temporary folder.
    #[arg(long)]
    out: Option<PathBuf>,
    /// Number of times to open the report, each in a new browser. The shortest time of each kind counts.
    #[arg(long, default_value_t = 3)]
    repeat: u32,
    #[command(flatten)]
    programs: BrowserPrograms,
}

pub(crate) fn run(args: &ReportArgs) -> Result<(), String> {
    let temporary = tempfile::tempdir().map_err(|e| e.to_string())?;
    let out = args.out.clone().unwrap_or_else(|| temporary.path().to_owned());
    fs::create_dir_all(&out).map_err(|e| format!("{}: {e}", out.display()))?;
    let run = match &args.run {
        Some(run) => run.clone(),
        None => make_run(args, &out)?,
    };
    let report = out.join("report.html");
    let mut command = Command::new(&args.planforge);
    command.arg("report").arg(&run).arg("--out").arg(&report);
    let built = process(command, "planforge report")?;
    let (candidates, calls) = count_contents(&report)?;
    let bytes = fs::metadata(&report).map_err(|e| e.to_string())?.len();
    println!("| candidates | calls | run folder MB | report MB | built in s | processor s | peak MB |");
    println!("|---|---|---|---|---|---|---|");
    println!(
        "| {candidates} | {calls} | {:.0} | {:.1} | {:.1} | {:.1} | {:.0} |\n",
        size(&run) as f64 / 1e6,
        bytes as f64 / 1e6,
        built.wall_ms / 1000.0,
        built.cpu_ms / 1000.0,
        built.peak_kb / 1024.0
    );
    let mut least = vec![f64::INFINITY; SHOWN.len()];
    for _ in 0..args.repeat.max(1) {
        for (least, value) in least.iter_mut().zip(open_report(&args.programs, &report)?) {
            *least = least.min(value);
        }
    }
    println!("| in the browser | |\n|---|---|");
    for (what, value) in SHOWN.iter().zip(least) {
        println!("| {what} | {value:.0} |");
    }
    Ok(())
}

/// A run of the real runner with a simulated model.
fn make_run(args: &ReportArgs, out: &Path) -> Result<PathBuf, String> {
    let suite = absolute(&args.suite)?;
    let rounds = args.thousands.saturating_sub(1).max(1);
    let pipeline = format!(
        "schema = 1\n[given]\ninterface = true\nproblem = true\n[llm.main]\nuse = \"provider-noisy-oracle\"\nmodel = \"simulated\"\n\
         temperature = 0.7\nsuites = [{suite:?}]\nerrors = 2\nerror_count = \"poisson\"\ncharacters_per_token = 4\n\
         price = {{ prompt = 1.0, completion = 4.0 }}\ncritic = {{ finds = 0.6, false_findings = 0.05 }}\n\
         [environment]\nuse = \"environment-pddl\"\n\
         [[stage]]\ndo = \"translate\"\nlabel = \"domain\"\nuse = \"translator-thought\"\nn = 1000\nroles = {{ writer = \"main\" }}\n\
         options = {{ artefact = \"domain\", template = true }}\n\
         [[stage]]\ndo = \"refine\"\nlabel = \"rounds\"\nrounds = {rounds}\nkeep = \"last\"\nstop = \"never\"\n\
         [[stage.round]]\ndo = \"verify\"\nlabel = \"critique\"\nuse = \"verifier-critique\"\nroles = {{ critic = \"main\" }}\n\
         options = {{ of = \"domain\" }}\n\
         [[stage.round]]\ndo = \"translate\"\nlabel = \"update\"\nuse = \"translator-thought\"\nroles = {{ writer = \"main\" }}\n\
         options = {{ mode = \"update\", template = true }}\nfeedback = [\"critique\"]\n\
         [[stage]]\ndo = \"verify\"\nlabel = \"pddl\"\nuse = \"verifier-val\"\noptions = {{ what = \"pddl\" }}\n\
         [[stage]]\ndo = \"select\"\nlabel = \"best\"\nby = \"pddl.errors\"\norder = \"lowest\"\nkeep = 10\n\
         [[stage]]\ndo = \"plan\"\nlabel = \"plan\"\nuse = \"planner-classical\"\noptions = {{ search = \"greedy\" }}\n\
         [[stage]]\ndo = \"verify\"\nlabel = \"environment\"\nuse = \"verifier-val\"\n\
         options = {{ what = \"plan\", against = \"environment\" }}\n"
    );
    let file = out.join("many.toml");
    fs::write(&file, pipeline).map_err(|e| format!("{}: {e}", file.display()))?;
    let runs = out.join("runs");
    let mut command = Command::new(&args.planforge);
    command.arg("run").arg(&file).arg("--task").arg(suite.join("p01")).arg("--runs").arg(&runs);
    command.args(["--jobs", "4"]);
    let ran = process(command, "planforge run")?;
    println!(
        "the run took {:.0} s, {:.0} s of them on a processor\n",
        ran.wall_ms / 1000.0,
        ran.cpu_ms / 1000.0
    );
    let mut made = fs::read_dir(&runs).map_err(|e| e.to_string())?;
    let made = made.next().ok_or("the run left no folder")?.map_err(|e| e.to_string())?;
    Ok(made.path())
}

/// Runs a command to its end.
fn process(mut command: Command, what: &str) -> Result<Cost, String> {
    let (cost, status) = run_measured(&mut command).map_err(|e| format!("{what}: {e}"))?;
    if status.success() { Ok(cost) } else { Err(format!("{what} ended with {status}")) }
}

/// Numbers of candidates and calls in a report.
fn count_contents(report: &Path) -> Result<(u64, u64), String> {
    let html = fs::read_to_string(report).map_err(|e| format!("{}: {e}", report.display()))?;
    let index = html.split_once("id=\"index\">").and_then(|(_, rest)| rest.split_once("</script>"));
    let (index, _) = index.ok_or("the report has no index")?;
    let index: Value = serde_json::from_str(index).map_err(|e| e.to_string())?;
    let cells = index["cells"].as_array().ok_or("the report has no runs")?;
    let sum = |key: &str| cells.iter().filter_map(|cell| cell[key].as_u64()).sum();
    Ok((sum("candidates"), sum("calls")))
}

fn size(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let of = |entry: fs::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => size(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    };
    entries.flatten().map(of).sum()
}

/// The measured steps, in order.
const SHOWN: [&str; 9] = [
    "first table, ms after the file was opened",
    "whole file read, ms",
    "task with all its candidates, ms after the click",
    "to the middle of the list, ms",
    "filter over all candidates, ms",
    "candidate with its domain, ms after the click",
    "search over all prompts and replies for a word that none has, ms",
    "search for a word that most have, ms",
    "memory of the page, MB",
];

/// Waits frame by frame for an element on the page, and returns the time.
const UNTIL: &str = "const frame = () => new Promise((done) => requestAnimationFrame(done));
    const until = async (go, there) => {
      const began = performance.now();
      go();
      while (!there()) {
        if (performance.now() - began > 60000) throw new Error('not there after a minute');
        await frame();
      }
      return performance.now() - began;
    };";

const MEASURE: &str = "
    await until(() => {}, () => document.querySelector('main table a'));
    const shown = performance.getEntriesByType('mark').find((mark) => mark.name.startsWith('shown'));
    const loaded = performance.getEntriesByType('navigation')[0].loadEventEnd;
    const task = document.querySelector('main table a');
    const opened = await until(() => task.click(), () => document.querySelector('.line'));
    const list = document.querySelector('.list');
    const middle = list.firstElementChild.offsetHeight / 2;
    const at = (line) => Math.abs(parseFloat(line.style.top) - middle) < 200;
    const scrolled = await until(() => { list.scrollTop = middle; }, () => [...document.querySelectorAll('.line')].some(at));
    const filter = document.querySelector('.side input[type=search]');
    const status = document.querySelector('.side [role=status]');
    const filtered = await until(
      () => { filter.value = '999'; filter.dispatchEvent(new Event('input')); },
      () => status.textContent.includes(' of '),
    );
    filter.value = ''; filter.dispatchEvent(new Event('input'));
    await until(() => { list.scrollTop = middle; }, () => [...document.querySelectorAll('.line')].some(at));
    const line = [...document.querySelectorAll('.line')].find(at);
    document.querySelectorAll('.pddl-line').forEach((line) => line.remove());
    const candidate = await until(() => line.click(), () => document.querySelector('.pddl-line'));
    const search = async (word) => {
      performance.clearMeasures('search');
      await until(() => { location.hash = `#search=${word}`; }, () => performance.getEntriesByName('search').length);
      return performance.getEntriesByName('search')[0].duration;
    };
    const rare = await search('no-such-word');
    const often = await search('define');
    return [shown.startTime, loaded, opened, scrolled, filtered, candidate, rare, often, performance.memory.usedJSHeapSize / 1e6];";

fn open_report(programs: &BrowserPrograms, report: &Path) -> Result<Vec<f64>, String> {
    let browser = Browser::start(programs)?;
    browser.look(1200, 900, false)?;
    let report = absolute(report)?;
    browser.open(&format!("file://{}", report.display()))?;
    let measured = browser.run(&format!("return (async () => {{{UNTIL}{MEASURE}}})()"), &[json!(null)])?;
    let complaints = browser.complaints()?;
    if !complaints.is_empty() {
        return Err(complaints.join("\n"));
    }
    let values = measured.as_array().ok_or("the page measured nothing")?;
    Ok(values.iter().map(|value| value.as_f64().unwrap_or(f64::INFINITY)).collect())
}
