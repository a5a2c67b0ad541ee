//! The Python package against Rust: the processor time of many validations of one plan, and the time and memory of an import.
//!
//! The wheel in the environment must have the profile of this program (`tools/wheel`, or `tools/wheel --dev`). A plan is given as text: both sides
//! parse it each time.

use planforge_app::pddl::plan::{PlanOutcome, PlanRequest, PlanSearch, plan};
use planforge_app::pddl::task::Task;
use planforge_app::{Context, RequestLimits, Source};
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(clap::Args)]
pub(crate) struct PythonArgs {
    /// A Python environment in which the wheel is installed.
    #[arg(long)]
    venv: PathBuf,
    /// Domain of the plan.
    #[arg(long, default_value = "examples/suites/parcels/domain.pddl")]
    domain: PathBuf,
    /// Problem of the plan.
    #[arg(long, default_value = "examples/suites/parcels/p01.pddl")]
    problem: PathBuf,
    /// Validations in a round.
    #[arg(long, default_value_t = 10_000)]
    plans: u32,
    /// Rounds of each side, in turn, and imports. The table has medians.
    #[arg(long, default_value_t = 20)]
    rounds: usize,
}

/// Prints the seconds of processor time of the validations. Its arguments are domain, problem, plan and number.
const VALIDATE: &str = "
import sys, time
import planforge as pf
task, plan = pf.read(*sys.argv[1:3]), sys.argv[3]
assert task.validate(plan)
start = time.process_time()
for _ in range(int(sys.argv[4])):
    task.validate(plan)
print(time.process_time() - start)
";

/// Prints the milliseconds of an import and the megabytes that the process has more after it.
const IMPORT: &str = "
import time
def megabytes():
    with open('/proc/self/statm') as file:
        return int(file.read().split()[1]) * 4096 / 1e6
before, start = megabytes(), time.perf_counter()
import planforge
ends = [time.perf_counter()]
memory = [megabytes()]
planforge.read
ends.append(time.perf_counter())
memory.append(megabytes())
print(*((end - start) * 1000 for end in ends), *(most - before for most in memory))
";

pub(crate) fn measure_python(args: &PythonArgs) -> Result<(), String> {
    let python = args.venv.join("bin/python");
    let context = Context::default();
    let sources = [&args.domain, &args.problem].map(|path| Source::File(path.clone()));
    let text = first_plan(&context, &sources)?;
    let task = Task::read(&context, &sources[0], &sources[1]).map_err(|error| error.to_string())?;
    let given = Source::text("plan", text.as_str());
    let limits = RequestLimits::seconds(Some(300.0));
    let (mut ours, mut python_side) = (Vec::new(), Vec::new());
    for _ in 0..args.rounds {
        let start = processor_seconds()?;
        for _ in 0..args.plans {
            if task.validate(&context, &given, &limits).decision != "accepted" {
                return Err("the plan is not valid".to_owned());
            }
        }
        ours.push(processor_seconds()? - start);
        let arguments = [args.domain.as_os_str(), args.problem.as_os_str(), text.as_ref()];
        let count = args.plans.to_string();
        let arguments = arguments.into_iter().chain([count.as_ref()]);
        python_side.extend(run(&python, VALIDATE, arguments)?);
    }
    let (ours, python_side) = (median(ours), median(python_side));
    println!("{} validations of a plan of {} steps:", args.plans, text.lines().count());
    println!(
        "  Rust {ours:.3} s, Python {python_side:.3} s of processor time, ratio {:.2}",
        python_side / ours
    );
    let mut imports = Vec::new();
    for _ in 0..args.rounds {
        imports.push(run(&python, IMPORT, [])?);
    }
    let column = |n: usize| median(imports.iter().filter_map(|one| one.get(n).copied()).collect());
    println!(
        "import: {:.1} ms, {:.1} MB; with `read`: {:.1} ms, {:.1} MB",
        column(0),
        column(2),
        column(1),
        column(3)
    );
    Ok(())
}

fn first_plan(context: &Context, sources: &[Source; 2]) -> Result<String, String> {
    let request = PlanRequest {
        domain: sources[0].clone(),
        problem: sources[1].clone(),
        search: PlanSearch::First,
        in_words: None,
        limits: RequestLimits::default(),
        nodes: None,
        threads: None,
        report_plans: false,
    };
    let found = plan(context, &request).map_err(|error| error.to_string())?;
    match found.outcome {
        Some(PlanOutcome::Plan { plans, .. }) if !plans.is_empty() => Ok(plans[0].to_ipc()),
        _ => Err("there is no plan".to_owned()),
    }
}

/// The numbers that a script prints.
fn run<'a>(
    python: &Path,
    script: &str,
    arguments: impl IntoIterator<Item = &'a std::ffi::OsStr>,
) -> Result<Vec<f64>, String> {
    let output = Command::new(python).args(["-c", script]).args(arguments).output();
    let output = output.map_err(|error| format!("{}: {error}", python.display()))?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let numbers: Result<Vec<f64>, _> = printed.split_whitespace().map(str::parse).collect();
    numbers
        .ok()
        .filter(|numbers| output.status.success() && !numbers.is_empty())
        .ok_or_else(|| format!("{}: {printed}{}", python.display(), String::from_utf8_lossy(&output.stderr)))
}

/// Time of the processor that this thread has used.
fn processor_seconds() -> Result<f64, String> {
    let path = "/proc/thread-self/schedstat";
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let nanoseconds: Option<f64> = text.split_whitespace().next().and_then(|first| first.parse().ok());
    Ok(nanoseconds.ok_or_else(|| format!("{path}: no number"))? / 1e9)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
