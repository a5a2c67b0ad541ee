//! Top-k planning against K*: the same number of plans, and the same plans, at every cost; and what the two whole commands take.
//!
//! K* plans over the Fast Downward translator's task, which has no ground no-ops, so it is compared under
//! `ground-no-ops-dropped`. The last cost of either list is left out: k cuts it somewhere. Under `strips` there may be more plans, and each of
//! them must have a step that changes nothing.

use planforge_diagnostics::SourceId;
use planforge_pddl::ast::{Domain, Problem};
use planforge_pddl::{parse_domain, parse_problem};
use planforge_planning::walk::{Model, ModelOptions, Refusal, Semantics, Step, replay};
use planforge_planning::{TopKOptions, TopKOutcome, Unlimited, Validator, normalize, parse_plan, top_k};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// What to measure.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Folders of suites, each with a domain.pddl and problems.
    #[arg(long, num_args = 1.., default_values = ["examples/suites"])]
    suites: Vec<PathBuf>,
    /// A Python environment with `kstar-planner` installed.
    #[arg(long)]
    venv: PathBuf,
    /// The `planforge` binary, built with `--release`.
    #[arg(long, default_value = "target/release/planforge")]
    planforge: PathBuf,
    /// Plans of each task.
    #[arg(long, default_value = "100")]
    k: NonZeroUsize,
    /// The first problems of each suite.
    #[arg(long, default_value_t = 2)]
    problems: usize,
    /// Seconds a task for each side.
    #[arg(long, default_value_t = 30)]
    time_limit: u32,
}

/// A courier whose letters are signed for nothing; roads cost.
const COURIER: &str = "(define (domain courier) (:requirements :typing :action-costs) (:types town letter)
  (:predicates (at ?t - town) (road ?a ?b - town) (for ?l - letter ?t - town) (done ?l - letter) (open ?l - letter) (signed ?l - letter))
  (:functions (total-cost) - number (far ?a ?b - town) - number)
  (:action ride :parameters (?a ?b - town) :precondition (and (at ?a) (road ?a ?b))
    :effect (and (not (at ?a)) (at ?b) (increase (total-cost) (far ?a ?b))))
  (:action hand-over :parameters (?l - letter ?t - town) :precondition (and (at ?t) (for ?l ?t) (open ?l))
    :effect (and (not (open ?l)) (done ?l) (increase (total-cost) 1)))
  (:action sign :parameters (?l - letter) :precondition (done ?l)
    :effect (and (not (done ?l)) (signed ?l) (increase (total-cost) 0))))";

/// Towns on a ring, a letter for each of the first.
fn courier(towns: usize, letters: usize) -> String {
    let ring = |i: usize| (i % towns, (i + 1) % towns);
    let roads = (0..towns).map(ring).flat_map(|(a, b)| [(a, b), (b, a)]);
    let roads: String =
        roads.map(|(a, b)| format!("(road t{a} t{b}) (= (far t{a} t{b}) {}) ", 1 + (a + b) % 3)).collect();
    let list = |mark: &str, count: usize| (0..count).map(|i| format!("{mark}{i} ")).collect::<String>();
    let facts: String =
        (0..letters).map(|i| format!("(for l{i} t{}) (open l{i}) ", (i + 1) % towns)).collect();
    let goals: String = (0..letters).map(|i| format!("(signed l{i}) ")).collect();
    format!(
        "(define (problem ring) (:domain courier) (:objects {}- town {}- letter)
           (:init (at t0) {roads}{facts}(= (total-cost) 0)) (:goal (and {goals})) (:metric minimize (total-cost)))",
        list("t", towns),
        list("l", letters)
    )
}

struct Task {
    name: String,
    domain: PathBuf,
    problem: PathBuf,
}

/// Plans by cost.
type Layers = BTreeMap<u64, Vec<Vec<String>>>;

/// Prints the table and what differs.
pub(crate) fn run(options: &Options) -> Result<(), String> {
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    let binary =
        options.planforge.canonicalize().map_err(|e| format!("{}: {e}", options.planforge.display()))?;
    let tasks = tasks(options, scratch.path())?;
    println!(
        "| task | costs compared | plans compared | same as K* | surplus under strips | with a no-op each | zero-cost or loops | ours s | K* s |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let (mut differ, mut special, mut compared, mut ratios) = (0, 0, 0, Vec::new());
    for task in &tasks {
        let (ours, own_seconds) = ours(&binary, task, options)?;
        let (peer, peer_seconds) = kstar(task, options, scratch.path())?;
        let read = |path: &Path| std::fs::read_to_string(path).map_err(|e| e.to_string());
        let domain = parse_domain(&read(&task.domain)?, SourceId(0)).value;
        let problem = parse_problem(&read(&task.problem)?, SourceId(1)).value;
        let checked = check(&domain, &problem, &ours).map_err(|e| format!("{}: {e}", task.name))?;
        let surplus =
            surplus(&domain, &problem, &ours, options.k).map_err(|e| format!("{}: {e}", task.name))?;
        let common = whole(&ours).min(whole(&peer));
        let below = |layers: &Layers| -> BTreeMap<u64, BTreeSet<Vec<String>>> {
            layers.range(..common).map(|(&c, p)| (c, p.iter().cloned().collect())).collect()
        };
        let (a, b) = (below(&ours), below(&peer));
        compared += usize::from(!a.is_empty() || !b.is_empty());
        differ += usize::from(a != b);
        special += usize::from(checked);
        ratios.push(own_seconds / peer_seconds);
        println!(
            "| {} | {} | {} | {} | {} | {} | {} | {own_seconds:.3} | {peer_seconds:.3} |",
            task.name,
            a.len(),
            a.values().map(BTreeSet::len).sum::<usize>(),
            if a == b { "yes" } else { "NO" },
            surplus.0,
            if surplus.1 { "yes" } else { "NO" },
            if checked { "yes" } else { "" },
        );
        differ += usize::from(!surplus.1);
    }
    ratios.sort_by(f64::total_cmp);
    println!(
        "\n{} tasks, {compared} with a cost that both have whole; {special} with zero-cost actions or plans that come back to a state; {differ} differences; our time over K*'s: median \
         {:.2}, highest {:.2}",
        tasks.len(),
        ratios.get(ratios.len() / 2).copied().unwrap_or(f64::NAN),
        ratios.last().copied().unwrap_or(f64::NAN)
    );
    if differ > 0 { Err(format!("{differ} differences")) } else { Ok(()) }
}

/// Suites' first problems, and six tasks with actions that cost nothing.
fn tasks(options: &Options, scratch: &Path) -> Result<Vec<Task>, String> {
    let mut tasks = Vec::new();
    for folder in &options.suites {
        let entries = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let mut suites: Vec<PathBuf> = entries.filter_map(|e| e.ok().map(|e| e.path())).collect();
        suites.sort();
        for suite in suites {
            for number in 1..=options.problems {
                let (domain, problem) = (suite.join("domain.pddl"), suite.join(format!("p{number:02}.pddl")));
                if domain.is_file() && problem.is_file() {
                    let name =
                        format!("{} p{number:02}", suite.file_name().unwrap_or_default().to_string_lossy());
                    tasks.push(Task { name, domain, problem });
                }
            }
        }
    }
    let domain = scratch.join("domain.pddl");
    std::fs::write(&domain, COURIER).map_err(|e| e.to_string())?;
    for (towns, letters) in [(3, 1), (3, 2), (4, 2), (5, 2), (4, 3), (6, 3)] {
        let problem = scratch.join(format!("courier-{towns}-{letters}.pddl"));
        std::fs::write(&problem, courier(towns, letters)).map_err(|e| e.to_string())?;
        tasks.push(Task { name: format!("courier {towns} {letters}"), domain: domain.clone(), problem });
    }
    Ok(tasks)
}

/// The whole command of ours.
fn ours(binary: &Path, task: &Task, options: &Options) -> Result<(Layers, f64), String> {
    let mut command = Command::new(binary);
    command.arg("plan").arg(&task.domain).arg(&task.problem);
    command.args(["--top-k", &options.k.to_string(), "--semantics", "ground-no-ops-dropped", "--json"]);
    command.args(["--time-limit", &options.time_limit.to_string()]);
    let start = Instant::now();
    let output = command.output().map_err(|e| e.to_string())?;
    let seconds = start.elapsed().as_secs_f64();
    let value: serde_json::Value = serde_json::from_slice(&output.stdout)
        .map_err(|e| format!("{}: {e}: {}", task.name, String::from_utf8_lossy(&output.stderr)))?;
    Ok((layers(&value["plans"], "steps"), seconds))
}

/// The whole command of K*, as the domain-generators paper's code calls it.
fn kstar(task: &Task, options: &Options, scratch: &Path) -> Result<(Layers, f64), String> {
    // K* reads its options in lower case, so the file is named from the working directory.
    let out = scratch.join("plans.json");
    // A missing file is what was meant.
    let _ = std::fs::remove_file(&out);
    let path = |p: &Path| p.canonicalize().map_err(|e| format!("{}: {e}", p.display()));
    let mut command = Command::new(path(&options.venv.join("bin"))?.join("python"));
    command.current_dir(scratch).args(["-B", "-m", "kstar_planner.driver.main"]);
    command.arg("--overall-time-limit").arg(format!("{}s", options.time_limit));
    command
        .arg(path(&task.domain)?)
        .arg(path(&task.problem)?)
        .arg("--search")
        .arg(format!("kstar(lmcut(),k={},dump_plan_files=false,json_file_to_dump=plans.json)", options.k));
    let start = Instant::now();
    let output = command.output().map_err(|e| e.to_string())?;
    let seconds = start.elapsed().as_secs_f64();
    // A list that a limit cut short is none: what of it is whole is not known.
    let timed_out = [Some(21), Some(22), Some(23), Some(24), Some(247)].contains(&output.status.code());
    let text = std::fs::read_to_string(&out).unwrap_or_default();
    if timed_out || text.is_empty() {
        return if timed_out {
            Ok((Layers::new(), seconds))
        } else {
            Err(format!("{}: K* wrote no plans: {}", task.name, String::from_utf8_lossy(&output.stdout)))
        };
    }
    let value: serde_json::Value = serde_json::from_str(&text).map_err(|e| e.to_string())?;
    Ok((layers(&value["plans"], "actions"), seconds))
}

fn layers(plans: &serde_json::Value, steps: &str) -> Layers {
    let mut layers = Layers::new();
    for plan in plans.as_array().into_iter().flatten() {
        let word = |s: &serde_json::Value| {
            let text = s.as_str().unwrap_or_default().to_lowercase();
            format!("({})", text.trim_matches(['(', ')']))
        };
        let steps = plan[steps].as_array().into_iter().flatten().map(word).collect();
        layers.entry(plan["cost"].as_f64().unwrap_or(f64::NAN) as u64).or_default().push(steps);
    }
    layers
}

/// The cost from which on plans may be missing.
fn whole(layers: &Layers) -> u64 {
    layers.keys().next_back().copied().unwrap_or(0)
}

/// Every plan is valid and none is there twice; whether an action costs nothing or a plan comes back to a state.
fn check(domain: &Domain, problem: &Problem, found: &Layers) -> Result<bool, String> {
    let lifted = normalize(domain, problem).map_err(|_| "the task has errors")?;
    let model = Model::from_lifted(lifted.clone(), &ModelOptions::default(), &mut Unlimited)
        .map_err(|e| e.to_string())?;
    let validator = Validator::new(lifted);
    let (mut seen, mut special) = (BTreeSet::new(), false);
    for (cost, plan) in found.iter().flat_map(|(c, plans)| plans.iter().map(move |p| (c, p))) {
        let report = validator.validate(&parse_plan(&plan.join("\n"), SourceId(2)));
        if !report.is_valid() || report.cost != Some(*cost as f64) {
            return Err(format!("not a plan of cost {cost}: {}", plan.join(" ")));
        }
        if !seen.insert(plan.clone()) {
            return Err(format!("twice: {}", plan.join(" ")));
        }
        let steps: Vec<Step> = plan.iter().filter_map(|s| Step::parse(s)).collect();
        let states: BTreeSet<Vec<u64>> =
            (0..=steps.len()).map(|n| replay(&model, &steps[..n]).state.bits().to_vec()).collect();
        special |= states.len() <= steps.len() || *cost < plan.len() as u64;
    }
    Ok(special)
}

/// Plans under `strips` that K* does not have, among the costs that both lists have whole; and whether each has a step that changes
/// nothing, and none but these is missing.
fn surplus(
    domain: &Domain,
    problem: &Problem,
    dropped: &Layers,
    k: NonZeroUsize,
) -> Result<(usize, bool), String> {
    let options = TopKOptions::new(k.saturating_mul(NonZeroUsize::MIN.saturating_add(9)));
    let result = top_k(domain, problem, &options, &mut Unlimited).map_err(|_| "the task has errors")?;
    let TopKOutcome::Plans { plans, .. } = result.outcome else {
        return Err("no plans under strips".to_owned());
    };
    let options = ModelOptions { semantics: Semantics::GroundNoOpsDropped, ..ModelOptions::default() };
    let model = Model::new(domain, problem, &options, &mut Unlimited).map_err(|e| e.to_string())?;
    let cost = |plan: &planforge_planning::Plan| plan.cost.unwrap_or(f64::NAN) as u64;
    let common = whole(dropped).min(plans.last().map_or(0, cost));
    let mut known: BTreeSet<&Vec<String>> = dropped.range(..common).flat_map(|(_, plans)| plans).collect();
    let (mut surplus, mut right) = (0, true);
    for plan in plans.iter().filter(|p| cost(p) < common) {
        let texts: Vec<String> = plan.step_texts().iter().map(|s| s.to_lowercase()).collect();
        let steps: Vec<Step> = texts.iter().filter_map(|s| Step::parse(s)).collect();
        if !known.remove(&texts) {
            surplus += 1;
            right &= replay(&model, &steps).refusal == Some(Refusal::NoEffect);
        }
    }
    Ok((surplus, right && known.is_empty()))
}
